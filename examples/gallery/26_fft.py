"""FFT: one workgroup transforms a row of 128 numbers in its own memory, in Stockham's order, without bit reversal."""

import numpy as np

import rgraph as rg

FFT = """
@group(0) @binding(0) var<storage, read> signal: array<f32>;
@group(0) @binding(1) var<storage, read_write> spectrum: array<vec2<f32>>;
var<workgroup> values: array<array<vec2<f32>, 128>, 2>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) row: vec3<u32>, @builtin(local_invocation_index) n: u32) {
    values[0][n] = vec2(signal[row.x * 128u + n], 0.0);
    values[0][n + 64u] = vec2(signal[row.x * 128u + n + 64u], 0.0);
    var side = 0u;
    for (var span = 1u; span < 128u; span *= 2u) {
        workgroupBarrier();
        let k = n % span;
        let angle = -3.14159265 * f32(k) / f32(span);
        let a = values[side][n];
        let b = values[side][n + 64u];
        let w = vec2(cos(angle), sin(angle));
        let turned = vec2(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
        let to = (n - k) * 2u + k;
        values[1u - side][to] = a + turned;
        values[1u - side][to + span] = a - turned;
        side = 1u - side;
    }
    workgroupBarrier();
    spectrum[row.x * 128u + n] = values[side][n];
    spectrum[row.x * 128u + n + 64u] = values[side][n + 64u];
}"""
SHOW = """
@group(0) @binding(0) var<storage, read> spectrum: array<vec2<f32>>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let power = length(spectrum[u32(p.y) * 128u + (u32(p.x) + 64u) % 128u]);
    return vec4(vec3(0.3, 0.6, 1.0) * log2(1.0 + power) / 6.0, 1.0);
}"""

t = np.arange(128)
rows = [np.sin(2 * np.pi * t * (2 + n / 2) / 128) + 0.5 * np.sin(2 * np.pi * t * (60 - n / 3) / 128) for n in range(96)]
signal = np.array(rows, np.float32)
g = rg.Graph("fft", size=(128, 96))
spectrum = g.buffer("spectrum", shape=(96, 128, 2), dtype="float32")
out = g.image("out", format="rgba8unorm")
g.compute("fft", FFT, signal=g.import_array("signal", signal, as_buffer=True), spectrum=spectrum, groups=96)
g.raster("show", SHOW, color=out, spectrum=spectrum)
g.root(out, spectrum)

with rg.Device() as device:
    frame = device.run(g)
    result = frame["spectrum"].numpy(copy=True)
    frame["out"].save("26_fft.png")
assert np.abs(result[..., 0] + 1j * result[..., 1] - np.fft.fft(signal)).max() < 1e-3
