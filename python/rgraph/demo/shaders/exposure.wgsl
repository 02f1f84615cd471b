// The exposure for the next pictures: the mean of log luminance between two percentiles, approached as eyes do.

struct Exposure {
    scale: f32,      // light times this is what the tone map gets
    mean: f32,       // log2 of the luminance that is looked at
    wanted: f32,     // where scale is going
    frames: f32,     // number of frames seen
}

@group(0) @binding(1) var<storage, read> histogram: array<u32, 256>;
@group(0) @binding(2) var<storage, read_write> exposure: Exposure;

@compute @workgroup_size(1)
fn main() {
    var all = 0.0;
    for (var i = 1u; i < 256u; i++) { all += f32(histogram[i]); }
    let low = 0.45 * all;
    let high = 0.93 * all;
    var seen = 0.0;
    var sum = 0.0;
    var weight = 0.0;
    for (var i = 1u; i < 256u; i++) {
        let count = f32(histogram[i]);
        let inside = max(0.0, min(seen + count, high) - max(seen, low));
        sum += inside * (LEAST + (f32(i) - 0.5) / 254.0 * RANGE);
        weight += inside;
        seen += count;
    }
    let mean = sum / max(weight, 1.0);
    // Bright scenes stay a little brighter than middle grey, dark ones darker.
    let wanted = 0.25 / exp2(mean) * exp2(0.14 * clamp(mean, -6.0, 6.0));
    let speed = select(1.0 - exp(-frame.lens.w * 1.6), 1.0, exposure.frames < 2.0);
    let old = select(exposure.scale, wanted, exposure.frames < 2.0);
    exposure.scale = exp2(mix(log2(max(old, 1e-6)), log2(max(wanted, 1e-6)), speed));
    exposure.mean = mean;
    exposure.wanted = wanted;
    exposure.frames += 1.0;
}
