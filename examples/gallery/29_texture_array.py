"""Many textures in one binding: each instance selects a layer of an array image by its own index."""

import numpy as np

import rgraph as rg

SHADER = """
@group(0) @binding(0) var tiles: texture_2d_array<f32>;
@group(0) @binding(1) var hard: sampler;
struct Point {
    @builtin(position) clip: vec4<f32>, @location(0) uv: vec2<f32>, @location(1) @interpolate(flat) layer: u32,
}
@vertex fn vs(@builtin(vertex_index) i: u32, @builtin(instance_index) n: u32) -> Point {
    let uv = vec2(f32(i & 1u), f32(i >> 1u));
    let cell = vec2(f32(n % 4u), f32(n / 4u));
    return Point(vec4((cell + uv) / vec2(2.0, 1.5) - 1.0, 0.0, 1.0), uv, (n * 5u) % 12u);
}
@fragment fn fs(p: Point) -> @location(0) vec4<f32> { return textureSample(tiles, hard, p.uv, p.layer); }"""

tiles = np.zeros((12, 8, 8, 4), np.uint8)
tiles[..., 3] = 255
for layer in range(12):
    tiles[layer, ..., :3] = [255 * (layer % 4) // 3, 255 * (layer // 4) // 2, 120]
    tiles[layer, layer % 8, :, :3] = 255  # a white line, lower in each layer

g = rg.Graph("tiles", size=(128, 96))
out = g.image("out", format="rgba8unorm")
layers = g.import_array("tiles", tiles)
g.raster(
    "draw", SHADER, color=out, tiles=layers, hard=rg.Sampler("nearest"),
    topology="triangle_strip", vertices=4, instances=12,
)  # fmt: skip
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("29_texture_array.png")

for n in range(12):
    cell = pixels[n // 4 * 32 : n // 4 * 32 + 32, n % 4 * 32 : n % 4 * 32 + 32]
    assert (cell[2::4, 2::4] == tiles[n * 5 % 12]).all()
