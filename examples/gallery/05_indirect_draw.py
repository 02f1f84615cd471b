"""Indirect draw: a compute pass writes the number of instances into a buffer, and the draw reads it there."""

import rgraph as rg

COUNT = """
struct Draw { vertices: u32, instances: u32, first_vertex: u32, first_instance: u32 }
@group(0) @binding(0) var<storage, read_write> draw: Draw;
var<immediate> most: u32;
@compute @workgroup_size(1) fn main() {
    var primes = 0u; // how many primes there are below `most`
    for (var n = 2u; n < most; n++) {
        var prime = 1u;
        for (var d = 2u; d * d <= n; d++) { if (n % d == 0u) { prime = 0u; } }
        primes += prime;
    }
    draw = Draw(6u, primes, 0u, 0u);
}"""
BARS = """
@vertex fn vs(@builtin(vertex_index) i: u32, @builtin(instance_index) n: u32) -> @builtin(position) vec4<f32> {
    let right = f32(i == 1u || i == 3u || i == 4u);
    let down = f32(i == 2u || i == 4u || i == 5u);
    return vec4((f32(n) * 4.0 + right * 3.0) / 64.0 - 1.0, down * 1.6 - 0.8, 0.0, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return vec4(1.0, 0.7, 0.2, 1.0); }"""

g = rg.Graph("indirect", size=(128, 96))
draw = g.buffer("draw", shape=4, dtype="uint32")
out = g.image("out", format="rgba8unorm")
g.compute("count", COUNT, draw=draw, push=100, groups=1)
g.raster("bars", BARS, color=out, clear=(0, 0, 0, 1), indirect=draw)
g.root(out, draw)

with rg.Device() as device:
    frame = device.run(g)
    pixels, parameters = frame["out"].numpy(copy=True), frame["draw"].numpy(copy=True)
    frame["out"].save("05_indirect_draw.png")

assert parameters.tolist() == [6, 25, 0, 0]  # 25 primes are below 100
bars = pixels[48, 1::4, 0] == 255
assert bars.tolist() == [True] * 25 + [False] * 7
