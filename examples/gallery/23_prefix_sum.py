"""Prefix sum: the ready-made scan adds up 100,000 numbers, and a shader draws the sums as a curve."""

import numpy as np

import rgraph as rg
from rgraph import passes

CURVE = """
@group(0) @binding(0) var<storage, read> sums: array<u32>;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let count = arrayLength(&sums);
    let height = f32(sums[u32(uv.x * f32(count))]) / f32(sums[count - 1u]);
    return vec4(select(vec3(0.05, 0.05, 0.1), vec3(0.2, 0.6, 1.0), 1.0 - uv.y < height), 1.0);
}"""

numbers = np.random.default_rng(4).integers(0, 100, 100_000, dtype=np.uint32)
numbers[:50_000] //= 10

g = rg.Graph("sums", size=(128, 96))
source = g.import_array("numbers", numbers, as_buffer=True)
sums = passes.prefix_sum(g, "sums", source)
out = g.image("out", format="rgba8unorm")
g.raster("curve", CURVE, color=out, sums=sums)
g.root(out, sums)

with rg.Device() as device:
    frame = device.run(g)
    result = frame["sums"].numpy(copy=True).view(np.uint32).ravel()
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("23_prefix_sum.png")

assert (result == np.cumsum(numbers, dtype=np.uint32)).all()
heights = (pixels[..., 2] == 255).sum(axis=0)
expected = 96 * result[((np.arange(128) + 0.5) / 128 * len(result)).astype(int)] / result[-1]
assert np.abs(heights - expected).max() <= 1
