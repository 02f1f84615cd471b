// The mean luminance of a histogram between two percentiles, and an exposure that follows it.
struct Params {
    least: f32,
    most: f32,
    low: f32,
    high: f32,
    key: f32,
    darkest: f32,
    brightest: f32,
    up: f32,
    down: f32,
}
struct Time { seconds: f32 }
struct State { exposure: f32, mean: f32, adapted: f32, frames: f32 }
var<immediate> params: Params;
@group(0) @binding(0) var<storage, read> bins: array<u32, 256>;
@group(0) @binding(1) var<uniform> time: Time;
@group(0) @binding(2) var<storage, read_write> state: State;
var<workgroup> below: array<u32, 256>;
var<workgroup> sums: array<vec2<f32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) index: u32) {
    let count = bins[index];
    below[index] = count;
    workgroupBarrier();
    for (var step = 1u; step < 256u; step <<= 1u) {
        var other = 0u;
        if (index >= step) { other = below[index - step]; }
        workgroupBarrier();
        below[index] += other;
        workgroupBarrier();
    }
    let all = f32(below[255]);
    let end = f32(below[index]);
    let kept = max(min(end, params.high * all) - max(end - f32(count), params.low * all), 0.0);
    // The middle of the bin; black counts as the smallest luminance of the histogram.
    let middle = max(f32(index) - 0.5, 0.0) / 255.0;
    sums[index] = kept * vec2<f32>(params.least + middle * (params.most - params.least), 1.0);
    workgroupBarrier();
    for (var half = 128u; half > 0u; half >>= 1u) {
        if (index < half) { sums[index] += sums[index + half]; }
        workgroupBarrier();
    }
    if (index != 0u) { return; }
    let mean = sums[0].x / max(sums[0].y, 1e-6);
    let goal = clamp(mean, params.darkest, params.brightest);
    var adapted = goal;
    if (state.frames > 0.0) {
        let speed = select(params.down, params.up, goal > state.adapted);
        adapted = state.adapted + (goal - state.adapted) * (1.0 - exp(-max(time.seconds, 0.0) * speed));
    }
    state = State(params.key * exp2(-adapted), mean, adapted, min(state.frames + 1.0, 16777215.0));
}
