// Ambient occlusion in screen space at half size: obscurance by samples on a spiral, McGuire, Mara, Luebke, "Scalable
// Ambient Obscurance", HPG 2012. Writes openness (1: nothing near) and the distance along the view.

@group(0) @binding(1) var depth: texture_depth_2d;
@group(0) @binding(2) var normal: texture_2d<f32>;
@group(0) @binding(3) var occlusion: texture_storage_2d<rg32float, write>;

const SAMPLES: u32 = 14u;
const TURNS: f32 = 9.0;
const RADIUS: f32 = 0.75;  // metres

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(occlusion);
    if (any(id.xy >= size)) { return; }
    let full = textureDimensions(depth);
    let texel = min(id.xy * 2u, full - 1u);
    let d = textureLoad(depth, texel, 0);
    let ahead = distance_of(d);
    if (d <= 0.0) {
        textureStore(occlusion, id.xy, vec4<f32>(1.0, 1e5, 0.0, 0.0));
        return;
    }
    let place = world_of((vec2<f32>(texel) + 0.5) / vec2<f32>(full), d);
    let n = normalize(textureLoad(normal, texel, 0).xyz);
    let reach = min(RADIUS / (ahead * frame.lens.z) * 0.5 * f32(full.y), 0.25 * f32(full.y));
    let phase = gradient_noise(vec2<f32>(id.xy)) * 2.0 * PI;
    var sum = 0.0;
    for (var i = 0u; i < SAMPLES; i++) {
        let t = (f32(i) + 0.5) / f32(SAMPLES);
        let angle = t * TURNS * 2.0 * PI + phase;
        let at = vec2<i32>(texel) + vec2<i32>(vec2<f32>(cos(angle), sin(angle)) * (t * reach));
        let there = vec2<u32>(clamp(at, vec2<i32>(0), vec2<i32>(full) - 1));
        let other = world_of((vec2<f32>(there) + 0.5) / vec2<f32>(full), textureLoad(depth, there, 0));
        let v = other - place;
        let vv = dot(v, v);
        let f = max(RADIUS * RADIUS - vv, 0.0);
        sum += f * f * f * max((dot(v, n) - 0.012 - 0.0015 * ahead) / (vv + 0.01), 0.0);
    }
    let r2 = RADIUS * RADIUS;
    let open = max(0.0, 1.0 - sum * 2.6 * RADIUS / (r2 * r2 * r2 * f32(SAMPLES)));
    textureStore(occlusion, id.xy, vec4<f32>(open, ahead, 0.0, 0.0));
}
