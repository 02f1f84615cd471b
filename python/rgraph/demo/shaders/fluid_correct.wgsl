// MacCormack's correction: there and back again should end where it began; half of what is missing is given back,
// within the values that were near (Selle, Fedkiw, Kim, Liu, Rossignac, "An Unconditionally Stable MacCormack Method",
// 2008).

@group(0) @binding(2) var forward: texture_2d<f32>;
@group(0) @binding(3) var back: texture_2d<f32>;
@group(0) @binding(4) var result: texture_storage_2d<rg32float, write>;

fn bounded(value: f32, at: vec2<f32>, component: u32) -> f32 {
    let a = four(at);
    let v0 = textureLoad(velocity, a.low, 0)[component];
    let v1 = textureLoad(velocity, vec2<i32>(a.high.x, a.low.y), 0)[component];
    let v2 = textureLoad(velocity, vec2<i32>(a.low.x, a.high.y), 0)[component];
    let v3 = textureLoad(velocity, a.high, 0)[component];
    return clamp(value, min(min(v0, v1), min(v2, v3)), max(max(v0, v1), max(v2, v3)));
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(result))) { return; }
    let at = vec2<f32>(id.xy);
    let was = textureLoad(velocity, id.xy, 0).xy;
    let wanted = textureLoad(forward, id.xy, 0).xy + 0.5 * (was - textureLoad(back, id.xy, 0).xy);
    let x = bounded(wanted.x, origin(at + RIGHTWARDS, moment.step) - RIGHTWARDS, 0u);
    let y = bounded(wanted.y, origin(at + DOWNWARDS, moment.step) - DOWNWARDS, 1u);
    textureStore(result, id.xy, vec4<f32>(x, y, 0.0, 0.0));
}
