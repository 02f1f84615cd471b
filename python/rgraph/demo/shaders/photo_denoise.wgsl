// One level of the edge-avoiding wavelet à trous (Dammertz, Sewtz, Hanika, Lensch, HPG 2010): a B-spline with holes,
// whose samples weigh less the more they differ, in units of the measured noise.

struct Push { step: i32, strength: f32 }
var<immediate> push: Push;
@group(0) @binding(0) var signal: texture_2d<f32>;
@group(0) @binding(1) var<storage, read> noise: array<u32, 4>;
@group(0) @binding(2) var result: texture_storage_2d<rgba16float, write>;

const SPLINE: array<f32, 3> = array<f32, 3>(0.375, 0.25, 0.0625);

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = vec2<i32>(textureDimensions(signal));
    let at = vec2<i32>(id.xy);
    if (any(at >= size)) { return; }
    let here = textureLoad(signal, at, 0);
    let level = vec2<f32>(f32(noise[0]), f32(noise[1])) / (16.0 * max(f32(noise[2]), 1.0));
    // Noise that is left after the levels before.
    let width = push.strength * level * vec2<f32>(2.6, 5.0) + 1e-4;
    var sum = vec3<f32>(0.0);
    var weights = vec2<f32>(0.0);
    for (var y = -2; y <= 2; y++) {
        for (var x = -2; x <= 2; x++) {
            let there = clamp(at + vec2<i32>(x, y) * push.step, vec2<i32>(0), size - 1);
            let other = textureLoad(signal, there, 0).xyz;
            let apart = other - here.xyz;
            let bright = apart.x / width.x;
            let colour = length(apart.yz) / width.y;
            let spline = SPLINE[abs(x)] * SPLINE[abs(y)];
            // Colours end where brightness does.
            let weight = spline * vec2<f32>(exp(-0.5 * bright * bright), exp(-0.5 * (colour * colour + 0.1 * bright * bright)));
            sum += other * weight.xyy;
            weights += weight;
        }
    }
    textureStore(result, id.xy, vec4<f32>(sum / weights.xyy, here.a));
}
