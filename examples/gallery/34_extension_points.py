"""Extension points: a frame has a point between its scene and its screen where plug-ins add passes."""

import numpy as np

import rgraph as rg

SCENE = """
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> { return vec4(uv.x, 0.4, 1.0 - uv.x, 1.0); }"""
INVERT = """
@fragment fn fs() -> @location(0) vec4<f32> { return vec4(1.0); }"""
DISC = """
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    if (distance(p.xy, vec2(64.0, 48.0)) > 20.0) { discard; }
    return vec4(1.0, 1.0, 1.0, 1.0);
}"""

g = rg.Graph("host", size=(128, 96))
scene, screen = g.image("scene", format="rgba8unorm"), g.image("screen", format="rgba8unorm")
g.raster("scene", SCENE, color=scene)
g.extension_point("after scene")
g.blit("screen", scene, screen)
g.root(screen)


def invert(at: rg.Module) -> None:
    """A plug-in: 1 - what is there, by blending alone."""
    difference = {"color": ("one", "one", "reverse_subtract"), "alpha": ("one", "zero", "add")}
    difference["color"] = ("one", "one", "subtract")
    at.raster("invert", INVERT, color="scene", load="load", blend=difference)


def disc(at: rg.Module) -> None:
    """Another one: a disc over everything that was drawn so far."""
    at.raster("disc", DISC, color="scene", load="load")


for plug_in in (invert, disc):
    plug_in(g.extend("after scene"))
names = g.bake().pass_names
assert [name.split("/")[-1] for name in names] == ["scene", "invert", "disc", "screen"], names

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["screen"].numpy(copy=True).astype(int)
    frame["screen"].save("34_extension_points.png")

x = (np.arange(128) + 0.5) / 128 * 255
assert np.abs(pixels[4, :, 0] - (255 - x)).max() <= 1.5
assert np.abs(pixels[4, :, 2] - x).max() <= 1.5
assert pixels[48, 64].tolist() == [255, 255, 255, 255]
