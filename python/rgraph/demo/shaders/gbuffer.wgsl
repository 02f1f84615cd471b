// Material, normal and motion of what is seen.

struct Varying {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) now: vec3<f32>,     // x, y, w of the place in the picture, without jitter
    @location(3) before: vec3<f32>,  // a frame ago
    @location(4) @interpolate(flat) instance: u32,
}

struct Surface {
    @location(0) albedo: vec4<f32>,    // colour, emission on a scale of powers of two
    @location(1) normal: vec4<f32>,    // world normal, roughness
    @location(2) material: vec4<f32>,  // metallic, occlusion by small cavities
    @location(3) velocity: vec2<f32>,  // motion since the frame before, in texture coordinates
}

@vertex
fn vs(@builtin(vertex_index) index: u32) -> Varying {
    let it = corner(index);
    let now = frame.steady_projection * vec4<f32>(it.world, 1.0);
    let before = frame.previous_projection * vec4<f32>(it.before, 1.0);
    let position = frame.view_projection * vec4<f32>(it.world, 1.0);
    return Varying(position, it.world, it.normal, now.xyw, before.xyw, it.instance);
}

fn value_noise(p: vec2<f32>) -> f32 {
    let cell = floor(p);
    let f = fract(p);
    let w = f * f * (3.0 - 2.0 * f);
    let low = mix(hash21(cell), hash21(cell + vec2<f32>(1.0, 0.0)), w.x);
    let high = mix(hash21(cell + vec2<f32>(0.0, 1.0)), hash21(cell + vec2<f32>(1.0, 1.0)), w.x);
    return mix(low, high, w.y);
}

fn clouded(p: vec2<f32>) -> f32 {
    return 0.5 * value_noise(p) + 0.3 * value_noise(p * 2.3 + 7.1) + 0.2 * value_noise(p * 5.1 + 3.7);
}

// How much of a line of half-width `half` at distance `away` covers a texel as wide as `width`.
fn line(away: f32, half: f32, width: f32) -> f32 {
    let w = max(width, 1e-5);
    return clamp((half - away) / w + 0.5, 0.0, 1.0) * min(1.0, 2.0 * half / w);
}

struct Floor { colour: vec3<f32>, roughness: f32, cavity: f32, tilt: vec2<f32> }

// Slabs in rings about the middle, as wide as they are deep; sand beyond.
fn floor_at(world: vec2<f32>, base: vec3<f32>, width: f32) -> Floor {
    let radius = length(world);
    let deep = 0.8;
    let ring = floor(radius / deep);
    let count = max(6.0, floor(2.0 * PI * (ring + 0.5) * 0.72));
    let around = (atan2(world.y, world.x) / (2.0 * PI) + 0.5 + 0.5 * fract(ring * 0.618) / count) * count;
    let slab = vec2<f32>(ring, floor(around) % count);
    let along = abs(fract(around) - 0.5);
    let arc = 2.0 * PI * max(radius, 0.3) / count;
    let from_side = (0.5 - along) * arc;
    let from_ring = (0.5 - abs(fract(radius / deep) - 0.5)) * deep;
    let joint = max(line(from_side, 0.012, width), line(from_ring, 0.012, width));
    let tone = hash21(slab + 0.5);
    let veins = clouded(world * 1.7 + tone * 37.0);
    let band = select(0.0, 1.0, ring == 5.0 || ring == 12.0);
    var colour = base * (0.62 + 0.36 * tone + 0.3 * (veins - 0.5));
    colour = mix(colour, vec3<f32>(0.10, 0.085, 0.08) * (0.7 + 0.6 * tone), band);
    var roughness = mix(0.24 + 0.3 * tone + 0.25 * (veins - 0.4), 0.16, band);
    let tilt = (vec2<f32>(hash21(slab + 3.1), hash21(slab + 9.7)) - 0.5) * 0.012;
    let sand = smoothstep(15.4, 15.6, radius);
    let dunes = clouded(world * 0.35);
    colour = mix(mix(colour, colour * 0.25, joint), vec3<f32>(0.50, 0.37, 0.25) * (0.75 + 0.5 * dunes), sand);
    roughness = mix(mix(roughness, 0.9, joint), 0.95, sand);
    return Floor(colour, roughness, mix(1.0 - 0.55 * joint, 1.0, sand), tilt * (1.0 - sand));
}

@fragment
fn fs(in: Varying) -> Surface {
    let it = instances[in.instance];
    var colour = it.colour.rgb;
    var roughness = it.colour.a;
    var normal = normalize(in.normal);
    var cavity = 1.0;
    let wide = max(length(dpdx(in.world)), length(dpdy(in.world)));
    if (it.surface.z == 1.0) {
        let ground = floor_at(in.world.xz, colour, wide);
        colour = ground.colour;
        roughness = ground.roughness;
        cavity = ground.cavity;
        normal = normalize(normal + vec3<f32>(ground.tilt.x, 0.0, ground.tilt.y));
    } else if (it.surface.z == 2.0) {
        // Stone: warmer and cooler layers, stains under what protrudes.
        let around = atan2(in.world.z, in.world.x) * 9.0;
        let grain = clouded(vec2<f32>(around, in.world.y * 2.4) + hash21(vec2<f32>(f32(in.instance), 0.3)) * 20.0);
        colour *= 0.82 + 0.36 * grain;
        roughness = clamp(roughness + 0.3 * (grain - 0.5), 0.1, 1.0);
    }
    let now = in.now.xy / in.now.z;
    let before = in.before.xy / in.before.z;
    return Surface(
        vec4<f32>(colour, log2(1.0 + it.surface.y) / 8.0),
        vec4<f32>(normal, roughness),
        vec4<f32>(it.surface.x, cavity, 0.0, 0.0),
        (now - before) * 0.5,
    );
}
