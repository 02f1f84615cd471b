// Light on what the g-buffer holds: the sun through four shadow cascades, the lamps of the texel's cluster, the sky.

@group(0) @binding(1) var depth: texture_depth_2d;
@group(0) @binding(2) var albedo: texture_2d<f32>;
@group(0) @binding(3) var normal: texture_2d<f32>;
@group(0) @binding(4) var material: texture_2d<f32>;
@group(0) @binding(5) var occlusion: texture_2d<f32>;
@group(0) @binding(6) var shadow: texture_depth_2d_array;
@group(0) @binding(9) var shadow_sampler: sampler_comparison;
@group(0) @binding(7) var<storage, read> clusters: array<u32>;
@group(0) @binding(8) var<storage, read> lights: array<Light>;

struct Corner { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }

// A triangle over everything, at infinity: the depth test keeps what has a surface in front of it.
@vertex
fn vs(@builtin(vertex_index) index: u32) -> Corner {
    let uv = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4<f32>(uv * 2.0 - 1.0, 0.0, 1.0), uv);
}

// How much of the sun is seen, 0 to 1: nine comparisons, turned by noise, in the first cascade that holds the place.
fn sunlit(world: vec3<f32>, n: vec3<f32>, ahead: f32, noise: f32) -> f32 {
    if (ahead >= frame.cascade_ends.w) { return 1.0; }
    var cascade = 0;
    // Cascades melt into each other.
    let moved = ahead * (1.0 + 0.1 * (noise - 0.5));
    for (var i = 0; i < 3; i++) { cascade += select(0, 1, moved > frame.cascade_ends[i]); }
    let texel = frame.cascade_texels[cascade];
    let slope = sqrt(max(0.0, 1.0 - pow(dot(n, frame.sun.xyz), 2.0)));
    let at = frame.cascades[cascade] * vec4<f32>(world + n * (texel * (1.2 + 2.2 * slope)), 1.0);
    let uv = at.xy * 0.5 + 0.5;
    let size = vec2<f32>(textureDimensions(shadow).xy);
    // Half-shadows are about as wide in all cascades.
    let radius = clamp(0.035 / texel, 1.2, 9.0);
    var sum = 0.0;
    for (var i = 0; i < 9; i++) {
        let r = sqrt((f32(i) + 0.5) / 9.0) * radius;
        let angle = 2.3999632 * f32(i) + noise * 2.0 * PI;
        let there = uv + vec2<f32>(cos(angle), sin(angle)) * r / size;
        sum += textureSampleCompareLevel(shadow, shadow_sampler, there, cascade, at.z);
    }
    return sum / 9.0;
}

// Openness at full size: the half-size texels about it, by how alike their distances are.
fn openness(texel: vec2<i32>, ahead: f32) -> f32 {
    let size = vec2<i32>(textureDimensions(occlusion));
    let base = (texel - 1) / 2;
    let f = vec2<f32>((texel - 1) - base * 2) * 0.5 + 0.25;
    var sum = vec2<f32>(0.0);
    for (var i = 0; i < 4; i++) {
        let step = vec2<i32>(i & 1, i >> 1u);
        let there = textureLoad(occlusion, clamp(base + step, vec2<i32>(0), size - 1), 0).rg;
        let w = select(1.0 - f, f, step == vec2<i32>(1));
        let weight = w.x * w.y / (0.02 + abs(there.g - ahead) / ahead);
        sum += vec2<f32>(there.r * weight, weight);
    }
    return sum.x / max(sum.y, 1e-6);
}

@fragment
fn fs(in: Corner) -> @location(0) vec4<f32> {
    let texel = vec2<i32>(in.position.xy);
    let d = textureLoad(depth, texel, 0);
    let base = textureLoad(albedo, texel, 0);
    let surface = textureLoad(normal, texel, 0);
    let kind = textureLoad(material, texel, 0);
    let n = normalize(surface.xyz);
    let world = world_of(in.uv, d);
    let ahead = distance_of(d);
    let to_eye = normalize(frame.eye.xyz - world);
    let noise = gradient_noise(in.position.xy);
    let open = openness(texel, ahead) * kind.g;

    var brdf: Brdf;
    let roughness = clamp(surface.w, 0.06, 1.0);
    brdf.diffuse = base.rgb * (1.0 - kind.r);
    brdf.specular = mix(vec3<f32>(0.04), base.rgb, kind.r);
    brdf.alpha = roughness * roughness;
    let nv = clamp(dot(n, to_eye), 1e-3, 1.0);

    var light = vec3<f32>(0.0);
    let sun = max(dot(n, frame.sun.xyz), 0.0);
    if (sun > 0.0) {
        light += shaded(brdf, n, to_eye, frame.sun.xyz, nv) * (sun * sunlight() * sunlit(world, n, ahead, noise));
    }
    let cluster = cluster_of(in.uv, ahead);
    for (var i = 1u; i <= min(clusters[cluster], LIGHTS_EACH); i++) {
        let lamp = lights[clusters[cluster + i]];
        let to_lamp = lamp.place.xyz - world;
        let away2 = dot(to_lamp, to_lamp);
        let l = to_lamp * inverseSqrt(max(away2, 1e-6));
        let nl = dot(n, l);
        // The inverse square, brought to zero at the light's reach (Karis 2013).
        let ends = clamp(1.0 - pow(away2 / (lamp.place.w * lamp.place.w), 2.0), 0.0, 1.0);
        if (nl > 0.0 && ends > 0.0) {
            let falls = ends * ends / (away2 + 0.02);
            light += shaded(brdf, n, to_eye, l, nv) * lamp.colour.rgb * (nl * falls * mix(1.0, open, 0.5));
        }
    }
    light += ambient(brdf, n, to_eye, nv, roughness, open);
    light += base.rgb * (exp2(base.a * 8.0) - 1.0);
    return vec4<f32>(hazed(light, world), 1.0);
}
