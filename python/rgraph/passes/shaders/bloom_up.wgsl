// The coarser level under a tent of three by three samples, mixed with this one.
struct Params { size: vec2<u32>, scatter: f32 }
var<immediate> params: Params;
@group(0) @binding(0) var coarse: texture_2d<f32>;
@group(0) @binding(1) var fine: texture_2d<f32>;
@group(0) @binding(2) var smooth_: sampler;

fn tent(uv: vec2<f32>) -> vec3<f32> {
    let texel = 1.0 / vec2<f32>(textureDimensions(coarse));
    var sum = vec3<f32>(0.0);
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let weight = f32((2 - abs(x)) * (2 - abs(y))) / 16.0;
            sum += weight * textureSampleLevel(coarse, smooth_, uv + vec2<f32>(vec2<i32>(x, y)) * texel, 0.0).rgb;
        }
    }
    return sum;
}

fn texel(at: vec2<i32>) -> vec4<f32> {
    let uv = (vec2<f32>(at) + 0.5) / vec2<f32>(params.size);
    return vec4<f32>(mix(textureLoad(fine, at, 0).rgb, tent(uv), params.scatter), 1.0);
}
