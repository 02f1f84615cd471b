// Least and most of each channel over a grid of samples, and the mean brightness in the last number.

struct Push { layers: u32 }
var<immediate> push: Push;
@group(0) @binding(0) var source: $texture;
@group(0) @binding(1) var<storage, read_write> measured: array<vec4<f32>, 2>;

const SIDE: u32 = 96u;
var<workgroup> lows: array<vec3<f32>, 256>;
var<workgroup> highs: array<vec3<f32>, 256>;
var<workgroup> sums: array<f32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) me: u32) {
    var low = vec3<f32>(3.0e38);
    var high = vec3<f32>(-3.0e38);
    var sum = 0.0;
    let extent = vec2<u32>(textureDimensions(source).xy);
    for (var i = me; i < SIDE * SIDE; i += 256u) {
        let layer = i % push.layers;
        let at = min(vec2<u32>(i % SIDE, i / SIDE) * extent / SIDE, extent - 1u);
        let value = ($load).xyz;
        if (all(abs(value) < vec3<f32>(1.0e30))) {
            low = min(low, value);
            high = max(high, value);
            sum += max(dot(value, vec3<f32>(0.2126, 0.7152, 0.0722)), 0.0);
        }
    }
    lows[me] = low;
    highs[me] = high;
    sums[me] = sum;
    workgroupBarrier();
    for (var width = 128u; width > 0u; width /= 2u) {
        if (me < width) {
            lows[me] = min(lows[me], lows[me + width]);
            highs[me] = max(highs[me], highs[me + width]);
            sums[me] += sums[me + width];
        }
        workgroupBarrier();
    }
    if (me == 0u) {
        measured[0] = vec4<f32>(lows[0], 0.0);
        measured[1] = vec4<f32>(highs[0], sums[0] / f32(SIDE * SIDE));
    }
}
