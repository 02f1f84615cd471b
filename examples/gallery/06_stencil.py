"""Stencil: a disc marks texels; one later draw covers only marked texels, another one only the others."""

from typing import Any

import numpy as np

import rgraph as rg

DISC = """
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    if (distance(uv * vec2(128.0, 96.0), vec2(64.0, 48.0)) > 30.0) { discard; }
    return vec4(0.0, 0.0, 0.0, 1.0);
}"""
STRIPES = """
var<immediate> colour: vec4<f32>;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    return colour * select(0.5, 1.0, fract((uv.x + uv.y) * 8.0) < 0.5);
}"""

g = rg.Graph("stencil", size=(128, 96))
out, mask = g.image("out", format="rgba8unorm"), g.image("mask", format="depth32float-stencil8")
always: dict[str, Any] = {"color": out, "depth": mask, "depth_test": "always"}
mark = {"compare": "always", "pass": "replace", "reference": 1}
g.raster("mark", DISC, **always, clear=(0, 0, 0, 1), clear_depth=(1.0, 0), stencil=mark)
g.raster("inside", STRIPES, **always, push=[1, 0.5, 0, 1], stencil={"compare": "equal", "reference": 1})
g.raster("outside", STRIPES, **always, push=[0, 0.3, 1, 1], stencil={"compare": "not_equal", "reference": 1})
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("06_stencil.png")

y, x = np.mgrid[:96, :128] + 0.5
away = np.hypot(x - 64, y - 48)
assert (pixels[away < 29.9, 2] == 0).all()  # orange has no blue
assert (pixels[away > 30.1, 0] == 0).all()  # blue has no red
assert (pixels[..., :3].max(axis=2) > 0).all()
