"""Mips: blits make a chain of smaller images, and a shader reads them at a level that grows from left to right."""

import numpy as np

import rgraph as rg

CHECKER = """
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let light = f32((id.x + id.y) & 1u);
    textureStore(dst, id.xy, vec4(light, light * 0.6, 0.2, 1.0));
}"""
SHOW = """
@group(0) @binding(0) var chain: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    return textureSampleLevel(chain, smooth_sampler, uv, floor(uv.x * 4.0));
}"""

g = rg.Graph("mips", size=(128, 64))
chain = g.image("chain", (128, 64), "rgba8unorm", mips=4)
g.compute("checker", CHECKER, dst=chain.mip(0))
for level in range(1, 4):
    g.blit(f"down {level}", chain.mip(level - 1), chain.mip(level))
out = g.image("out", format="rgba8unorm")
g.raster("show", SHOW, color=out, chain=chain, smooth_sampler=rg.Sampler("nearest"))
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True).astype(int)
    frame["out"].save("12_mips.png")

y, x = np.mgrid[:64, :32]
assert (pixels[:, :32, 0] == 255 * ((x + y) & 1)).all()
# Every level above the first is the average of the squares.
assert np.abs(pixels[:, 32:, :3] - 255 * np.array([0.5, 0.3, 0.2])).max() <= 2
