"""Read-back: a program reads parts of results and images that are not roots: mips, ranges, without the rest."""

import numpy as np

import rgraph as rg

PAINT = """
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(1) var<storage, read_write> table: array<u32>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4(f32(id.x) / 127.0, f32(id.y) / 63.0, f32((id.x / 8u + id.y / 8u) & 1u), 1.0));
    table[id.y * 128u + id.x] = id.x * id.y;
}"""

g = rg.Graph("read back", size=(128, 64))
picture = g.image("picture", format="rgba8unorm", mips=3)
table = g.buffer("table", shape=(64, 128), dtype="uint32")
g.compute("paint", PAINT, dst=picture.mip(0), table=table, groups=(16, 8))
for level in (1, 2):
    g.blit(f"down {level}", picture.mip(level - 1), picture.mip(level))
g.root(picture, table)

with rg.Device() as device:
    small = picture.mip(2)
    line = table[4 * 128 * 10 : 4 * 128 * 11]
    frame = device.run(g, read=[picture, small, line])
    pixels, little = frame[picture].numpy(copy=True), frame[small].numpy(copy=True)
    numbers = frame[line].numpy(copy=True).view(np.uint32).ravel()
    frame[picture].save("36_read_back.png")

assert numbers.tolist() == [10 * x for x in range(128)]
assert little.shape == (16, 32, 4)
mean = pixels.reshape(16, 4, 32, 4, 4).astype(float).mean(axis=(1, 3))
assert np.abs(little - mean).max() <= 1.5
