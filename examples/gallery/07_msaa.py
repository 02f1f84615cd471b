"""MSAA: each texel has four samples, which the render pass resolves at its end, so edges are smooth."""

import numpy as np

import rgraph as rg

SHADER = """
@vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    let at = array(vec2(-0.9, -0.8), vec2(0.9, -0.5), vec2(-0.3, 0.9));
    return vec4(at[i], 0.0, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return vec4(1.0); }"""

g = rg.Graph("msaa", size=(64, 48))
samples = g.image("samples", format="rgba8unorm", samples=4)
smooth, jagged = g.image("smooth", format="rgba8unorm"), g.image("jagged", format="rgba8unorm")
both = g.image("both", (128, 48), "rgba8unorm")
g.raster("four samples", SHADER, color=samples, resolve=smooth, clear=(0, 0, 0, 1))
g.raster("one sample", SHADER, color=jagged, clear=(0, 0, 0, 1))
SIDE = """
@group(0) @binding(0) var left: texture_2d<f32>;
@group(0) @binding(1) var right: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<i32>(p.xy);
    if (at.x < 64) { return textureLoad(left, at, 0); }
    return textureLoad(right, at - vec2(64, 0), 0);
}"""
g.raster("beside", SIDE, color=both, left=jagged, right=smooth)
g.root(both)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["both"].numpy(copy=True)[..., 0].astype(int)
    frame["both"].save("07_msaa.png")

assert set(np.unique(pixels[:, :64])) == {0, 255}
assert np.abs(np.unique(pixels[:, 64:])[:, None] - np.arange(5) * 63.75).min(axis=1).max() < 1  # quarters
corners = (np.array([[-0.9, -0.8], [0.9, -0.5], [-0.3, 0.9]]) + 1) / 2 * [64, 48]
(ax, ay), (bx, by) = corners[1] - corners[0], corners[2] - corners[0]
assert abs(pixels[:, 64:].sum() / 255 - abs(ax * by - ay * bx) / 2) < 3  # the area of the triangle, in texels
