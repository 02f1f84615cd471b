// One level of the sky's picture for reflections in rough surfaces: the light about a direction, weighed as GGX does
// (Karis, "Real Shading in Unreal Engine 4", 2013).

struct Push { roughness: f32 }
var<immediate> push: Push;
@group(0) @binding(1) var sky: texture_2d<f32>;
@group(0) @binding(2) var sky_sampler: sampler;
@group(0) @binding(3) var target_image: texture_storage_2d<rgba16float, write>;

const SAMPLES: u32 = 48u;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(target_image);
    if (any(id.xy >= size)) { return; }
    let n = sky_direction((vec2<f32>(id.xy) + 0.5) / vec2<f32>(size));
    let up = select(vec3<f32>(0.0, 1.0, 0.0), vec3<f32>(1.0, 0.0, 0.0), abs(n.y) > 0.9);
    let x = normalize(cross(up, n));
    let y = cross(n, x);
    let a = push.roughness * push.roughness;
    var sum = vec4<f32>(0.0);
    for (var i = 0u; i < SAMPLES; i++) {
        let u = vec2<f32>((f32(i) + 0.5) / f32(SAMPLES), fract(f32(i) * 0.618034));
        let c = sqrt((1.0 - u.x) / (1.0 + (a * a - 1.0) * u.x));
        let s = sqrt(max(0.0, 1.0 - c * c));
        let h = normalize(x * (s * cos(2.0 * PI * u.y)) + y * (s * sin(2.0 * PI * u.y)) + n * c);
        let l = 2.0 * dot(n, h) * h - n;
        let weight = dot(n, l);
        if (weight > 0.0) {
            sum += vec4<f32>(textureSampleLevel(sky, sky_sampler, sky_uv(l), 0.0).rgb * weight, weight);
        }
    }
    textureStore(target_image, id.xy, vec4<f32>(sum.rgb / max(sum.w, 1e-4), 1.0));
}
