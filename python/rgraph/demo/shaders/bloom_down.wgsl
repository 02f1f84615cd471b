// Half the size: thirteen taps that overlap, so that small bright things do not flicker (Jimenez 2014). The first step
// weighs groups by their brightness.

struct Push { first: u32 }
var<push_constant> push: Push;
@group(0) @binding(1) var source: texture_2d<f32>;
@group(0) @binding(2) var linear: sampler;
@group(0) @binding(3) var target_image: texture_storage_2d<rgba16float, write>;

fn tap(uv: vec2<f32>, x: f32, y: f32, texel: vec2<f32>) -> vec3<f32> {
    return textureSampleLevel(source, linear, uv + vec2<f32>(x, y) * texel, 0.0).rgb;
}

fn group(a: vec3<f32>, b: vec3<f32>, c: vec3<f32>, d: vec3<f32>, weight: f32) -> vec4<f32> {
    let mean = (a + b + c + d) * 0.25;
    let w = weight * select(1.0, 1.0 / (1.0 + 0.2126 * mean.r + 0.7152 * mean.g + 0.0722 * mean.b), push.first == 1u);
    return vec4<f32>(mean * w, w);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(target_image);
    if (any(id.xy >= size)) { return; }
    let uv = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(size);
    let t = 1.0 / vec2<f32>(textureDimensions(source));
    let a = tap(uv, -2.0, -2.0, t);
    let b = tap(uv, 0.0, -2.0, t);
    let c = tap(uv, 2.0, -2.0, t);
    let d = tap(uv, -2.0, 0.0, t);
    let e = tap(uv, 0.0, 0.0, t);
    let f = tap(uv, 2.0, 0.0, t);
    let g = tap(uv, -2.0, 2.0, t);
    let h = tap(uv, 0.0, 2.0, t);
    let i = tap(uv, 2.0, 2.0, t);
    let middle = group(tap(uv, -1.0, -1.0, t), tap(uv, 1.0, -1.0, t), tap(uv, -1.0, 1.0, t), tap(uv, 1.0, 1.0, t), 0.5);
    var sum = middle + group(a, b, d, e, 0.125) + group(b, c, e, f, 0.125);
    sum += group(d, e, g, h, 0.125) + group(e, f, h, i, 0.125);
    textureStore(target_image, id.xy, vec4<f32>(min(sum.rgb / sum.w, vec3<f32>(6.0e4)), 1.0));
}
