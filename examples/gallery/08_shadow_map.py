"""Shadows: one pass draws depth from the light, and a comparison sampler decides which texels are lit."""

import numpy as np

import rgraph as rg

# The light looks straight down on a floor, and a square hangs half-way: x and y are those of the floor.
OCCLUDER = """
@vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4(vec2(f32(i & 1u), f32(i >> 1u)) * 0.8 - 0.4, 0.5, 1.0);
}
@fragment fn fs() {}"""
FLOOR = """
@group(0) @binding(0) var seen: texture_depth_2d;
@group(0) @binding(1) var compare: sampler_comparison;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let lit = textureSampleCompare(seen, compare, uv + vec2(0.1, 0.05), 0.9); // the sun is a little to the side
    let tile = select(0.8, 1.0, (u32(uv.x * 8.0) + u32(uv.y * 6.0)) % 2u == 0u);
    return vec4(vec3(0.9, 0.8, 0.6) * tile * (0.2 + 0.8 * lit), 1.0);
}"""

g = rg.Graph("shadow", size=(128, 96))
shadow = g.image("shadow", (128, 128), "depth32float")
out = g.image("out", format="rgba8unorm")
g.raster("light", OCCLUDER, depth=shadow, clear_depth=1.0, topology="triangle_strip", vertices=4)
g.raster("floor", FLOOR, color=out, seen=shadow, compare=rg.Sampler(compare="less_equal"))
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True).astype(int)
    frame["out"].save("08_shadow_map.png")

# The square covers uv 0.3 to 0.7; its shadow is moved by (-0.1, -0.05).
y, x = (np.mgrid[:96, :128] + 0.5) / np.array([96, 128]).reshape(2, 1, 1)
shaded = (np.abs(x + 0.1 - 0.5) < 0.19) & (np.abs(y + 0.05 - 0.5) < 0.19)
lit = (np.abs(x + 0.1 - 0.5) > 0.21) | (np.abs(y + 0.05 - 0.5) > 0.21)
assert pixels[shaded, 0].max() <= 0.2 * 0.9 * 255 + 1
assert pixels[lit, 0].min() >= 0.8 * 0.9 * 255 - 1
