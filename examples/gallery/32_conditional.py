"""Conditional passes: a flag switches an effect per run, without a new plan; while it is off, readers get its input."""

import numpy as np

import rgraph as rg

SCENE = """
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> { return vec4(uv.x, uv.y, 0.5, 1.0); }"""
GREY = """
@group(0) @binding(0) var src: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let c = textureLoad(src, vec2<i32>(p.xy), 0).rgb;
    return vec4(vec3((c.r + c.g + c.b) / 3.0), 1.0);
}"""
FRAME = """
@group(0) @binding(0) var src: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let edge = min(min(p.x, 128.0 - p.x), min(p.y, 96.0 - p.y));
    return select(textureLoad(src, vec2<i32>(p.xy), 0), vec4(1.0), edge < 3.0);
}"""

g = rg.Graph("conditional", size=(128, 96))
scene, grey, out = (g.image(name, format="rgba8unorm") for name in ("scene", "grey", "out"))
g.raster("scene", SCENE, color=scene)
g.raster("grey", GREY, color=grey, src=scene, conditional="old", fallback={grey: scene})
g.raster("frame", FRAME, color=out, src=grey)
g.root(out)

with rg.Device() as device:
    compiled = device.compile(g)
    old = compiled.run()["out"].numpy(copy=True)
    new = compiled.run(flags={"old": False})
    pixels = new["out"].numpy(copy=True)
    new["out"].save("32_conditional.png")

inner = (slice(3, -3), slice(3, -3))
assert (old[inner][..., 0] == old[inner][..., 2]).all()
assert np.ptp(pixels[inner][..., :3].astype(int), axis=2).max() > 100
means = pixels[inner][..., :3].astype(float).mean(axis=2)
assert np.abs(means - old[inner][..., 0]).max() <= 1
assert (pixels[0] == 255).all()
