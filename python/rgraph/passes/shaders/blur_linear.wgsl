// One direction of a separable Gaussian; a sample between two texels weighs both. Each entry of the kernel is two pairs
// of (distance in texels, weight).
struct Kernel { pairs: array<vec4<f32>, $quads> }
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var smooth_: sampler;
@group(0) @binding(2) var<$space> kernel: Kernel;

fn texel(at: vec2<i32>) -> vec4<f32> {
    let step = vec2<f32>($step) / vec2<f32>(textureDimensions(source));
    let uv = (vec2<f32>(at) + 0.5) / vec2<f32>(textureDimensions(source));
    var sum = vec4<f32>(0.0);
    for (var at = 0u; at < $quads; at++) {
        let pair = kernel.pairs[at];
        sum += pair.y * (textureSampleLevel(source, smooth_, uv + pair.x * step, 0.0)
                       + textureSampleLevel(source, smooth_, uv - pair.x * step, 0.0));
        sum += pair.w * (textureSampleLevel(source, smooth_, uv + pair.z * step, 0.0)
                       + textureSampleLevel(source, smooth_, uv - pair.z * step, 0.0));
    }
    return sum;
}
