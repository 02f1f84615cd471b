// The overlay's panel: the histogram of brightness, the part that the exposure looks at, and the exposure itself.

@group(0) @binding(1) var<storage, read> histogram: array<u32, 256>;
@group(0) @binding(2) var<storage, read> exposure: vec4<f32>;

// Its range, as in deferred.py: base-2 logarithms of luminance.
const LEAST: f32 = -9.0;
const RANGE: f32 = 16.0;

fn count_at(x: f32) -> f32 {
    let at = clamp(x * 251.0 + 2.0, 1.0, 254.0);
    let low = u32(at);
    var most = 1.0;
    for (var i = 1u; i < 256u; i++) { most = max(most, f32(histogram[i])); }
    let here = mix(f32(histogram[low]), f32(histogram[min(low + 1u, 255u)]), fract(at));
    return sqrt(here / most);
}

// Distance to the edge of a rounded box, in texels.
fn rounded(at: vec2<f32>, half: vec2<f32>, corner: f32) -> f32 {
    let q = abs(at) - half + corner;
    return length(max(q, vec2<f32>(0.0))) + min(max(q.x, q.y), 0.0) - corner;
}

@fragment
fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let texel = abs(vec2<f32>(dpdx(uv.x), dpdy(uv.y)));
    let size = 1.0 / texel;
    let unit = size.y / 64.0;
    let outside = rounded((uv - 0.5) * size, 0.5 * size, 7.0 * unit);
    let cover = clamp(0.5 - outside, 0.0, 1.0);
    var colour = vec4<f32>(0.008, 0.010, 0.016, 0.55);
    let margin = 7.0 * unit * texel;
    let at = (uv - margin) / (1.0 - 2.0 * margin);
    if (all(at >= vec2<f32>(0.0)) && all(at <= vec2<f32>(1.0))) {
        let high = (1.0 - at.y) - count_at(at.x);
        let soft = 1.2 * texel.y;
        let warm = mix(vec3<f32>(0.05, 0.22, 0.42), vec3<f32>(1.0, 0.42, 0.10), smoothstep(0.15, 0.85, at.x));
        colour = mix(colour, vec4<f32>(warm, 0.85), 1.0 - smoothstep(-soft, soft, high));
        // Where the mean is, and where middle grey will be: stops of the histogram, in the middle of its range.
        let mean = (exposure.y - LEAST) / RANGE;
        let near = abs(at.x - mean) * size.x;
        colour = mix(colour, vec4<f32>(1.0, 0.95, 0.85, 0.9), clamp(1.0 * unit - near + 0.5, 0.0, 1.0));
    }
    return vec4<f32>(colour.rgb, colour.a * cover);
}
