"""TAA: each frame is shifted by less than a texel and blended with a history of earlier frames."""

import numpy as np

import rgraph as rg

SCENE = """
var<immediate> jitter: vec2<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let at = p.xy + jitter;
    return vec4(vec3(f32(at.y > 30.25 + at.x * 0.2)), 1.0);
}"""
MIX = """
@group(0) @binding(0) var scene: texture_2d<f32>;
@group(0) @binding(1) var before: texture_2d<f32>;
var<immediate> share: f32;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<i32>(p.xy);
    return mix(textureLoad(before, at, 0), textureLoad(scene, at, 0), share);
}"""

g = rg.Graph("taa", size=(128, 96))
scene, smooth = g.image("scene", format="rgba8unorm"), g.image("smooth", format="rgba16float")
g.raster("scene", SCENE, color=scene, push=[0.0, 0.0])
g.raster("mix", MIX, color=smooth, scene=scene, before=smooth.previous(), push=1.0)
shown = g.image("shown", format="rgba8unorm")
g.blit("show", smooth, shown)
g.root(smooth, shown)

with rg.Device() as device:
    compiled = device.compile(g)
    for n in range(64):
        jitter = [(n * 0.618034) % 1 - 0.5, (n * 0.754878) % 1 - 0.5]
        frame = compiled.run(params={"scene": jitter, "mix": 1 / (n + 1)})
    pixels = frame["smooth"].numpy(copy=True)[..., 0].astype(float)
    frame["shown"].save("18_taa.png")

# The mean of many jittered frames is the share of each texel that is below the line.
y, x = np.mgrid[:96, :128]
fine = (np.arange(16) + 0.5) / 16
share = np.mean([(y + v > 30.25 + (x + u) * 0.2) for u in fine for v in fine], axis=0)
assert np.abs(pixels - share).max() < 0.1
assert np.abs(pixels - share).mean() < 0.01
