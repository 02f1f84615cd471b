// Half the size by thirteen samples, as five overlapping boxes of four.
struct Params { size: vec2<u32>, threshold: f32, knee: f32 }
var<immediate> params: Params;
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var smooth_: sampler;

fn at_offset(uv: vec2<f32>, x: f32, y: f32) -> vec3<f32> {
    let texel = 1.0 / vec2<f32>(textureDimensions(source));
    // Infinite and broken colours would spread over everything.
    return clamp(textureSampleLevel(source, smooth_, uv + vec2<f32>(x, y) * texel, 0.0).rgb, vec3<f32>(0.0), vec3<f32>(65504.0));
}

fn luma(colour: vec3<f32>) -> f32 { return dot(colour, vec3<f32>(0.2126, 0.7152, 0.0722)); }

// The mean of a box; Karis weighs each sample by 1 / (1 + luma), so that a single bright one does not flicker.
fn box(a: vec3<f32>, b: vec3<f32>, c: vec3<f32>, d: vec3<f32>) -> vec3<f32> {
    if ($karis) {
        let w = 1.0 / (1.0 + vec4<f32>(luma(a), luma(b), luma(c), luma(d)));
        return (w.x * a + w.y * b + w.z * c + w.w * d) / (w.x + w.y + w.z + w.w);
    }
    return 0.25 * (a + b + c + d);
}

// Nothing below threshold - knee, all above threshold + knee, a parabola between.
fn prefilter(colour: vec3<f32>) -> vec3<f32> {
    if (params.threshold <= 0.0) { return colour; }
    let bright = max(colour.r, max(colour.g, colour.b));
    let soft = clamp(bright - params.threshold + params.knee, 0.0, 2.0 * params.knee);
    let kept = max(soft * soft / (4.0 * params.knee + 1e-5), bright - params.threshold);
    return colour * max(kept, 0.0) / max(bright, 1e-5);
}

fn texel(at: vec2<i32>) -> vec4<f32> {
    let uv = (vec2<f32>(at) + 0.5) / vec2<f32>(params.size);
    let a = at_offset(uv, -2.0, -2.0);
    let b = at_offset(uv, 0.0, -2.0);
    let c = at_offset(uv, 2.0, -2.0);
    let d = at_offset(uv, -2.0, 0.0);
    let e = at_offset(uv, 0.0, 0.0);
    let f = at_offset(uv, 2.0, 0.0);
    let g = at_offset(uv, -2.0, 2.0);
    let h = at_offset(uv, 0.0, 2.0);
    let i = at_offset(uv, 2.0, 2.0);
    let j = at_offset(uv, -1.0, -1.0);
    let k = at_offset(uv, 1.0, -1.0);
    let l = at_offset(uv, -1.0, 1.0);
    let m = at_offset(uv, 1.0, 1.0);
    let middle = 0.5 * box(j, k, l, m);
    let corners = 0.125 * (box(a, b, d, e) + box(b, c, e, f) + box(d, e, g, h) + box(e, f, h, i));
    return vec4<f32>(prefilter(middle + corners), 1.0);
}
