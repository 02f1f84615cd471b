// One level of the result: the detail of the two greys about this level's own brightness, upon the coarser result.

@group(0) @binding(0) var stops: texture_2d<f32>;
@group(0) @binding(1) var fine: texture_2d_array<f32>;
@group(0) @binding(2) var coarse: texture_2d_array<f32>;
@group(0) @binding(3) var below: texture_2d<f32>;
@group(0) @binding(4) var result: texture_storage_2d<r16float, write>;

// Between the texels of the coarser level: texel (2x, 2y) of this one lies on texel (x, y) of that.
fn weights(at: vec2<i32>) -> vec4<f32> {
    let f = vec2<f32>(at & vec2<i32>(1)) * 0.5;
    return vec4<f32>((1.0 - f.x) * (1.0 - f.y), f.x * (1.0 - f.y), (1.0 - f.x) * f.y, f.x * f.y);
}

fn grown(layer: u32, low: vec2<i32>, high: vec2<i32>, w: vec4<f32>) -> f32 {
    return dot(w, vec4<f32>(
        textureLoad(coarse, low, layer, 0).x, textureLoad(coarse, vec2<i32>(high.x, low.y), layer, 0).x,
        textureLoad(coarse, vec2<i32>(low.x, high.y), layer, 0).x, textureLoad(coarse, high, layer, 0).x));
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(result))) { return; }
    let at = vec2<i32>(id.xy);
    let last = vec2<i32>(textureDimensions(below)) - 1;
    let low = min(at / 2, last);
    let high = min(at / 2 + 1, last);
    let w = weights(at);
    let place = clamp((textureLoad(stops, at, 0).x - LOWEST) / (HIGHEST - LOWEST), 0.0, 1.0) * f32(LAYERS - 1u);
    let layer = min(u32(place), LAYERS - 2u);
    let share = place - f32(layer);
    let one = textureLoad(fine, at, layer, 0).x - grown(layer, low, high, w);
    let two = textureLoad(fine, at, layer + 1u, 0).x - grown(layer + 1u, low, high, w);
    let upon = dot(w, vec4<f32>(
        textureLoad(below, low, 0).x, textureLoad(below, vec2<i32>(high.x, low.y), 0).x,
        textureLoad(below, vec2<i32>(low.x, high.y), 0).x, textureLoad(below, high, 0).x));
    textureStore(result, at, vec4<f32>(mix(one, two, share) + upon, 0.0, 0.0, 0.0));
}
