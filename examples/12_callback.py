"""A pass whose commands a function records: what it uses is declared, what it does is decided frame by frame."""

import numpy as np

import rgraph as rg

SPOT = """
struct Spot { center: vec2<f32>, radius: f32, light: f32 }
var<immediate> spot: Spot;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    if (distance(uv, spot.center) > spot.radius) { discard; }
    return vec4(spot.light, spot.light, 0.2, 1.0);
}"""

spots = [{"center": (0.25, 0.5), "radius": 0.1, "light": 0.4}, {"center": (0.7, 0.4), "radius": 0.2, "light": 1.0}]


def draw(commands: rg.Commands) -> None:
    """As many draws as there are spots when the frame is recorded."""
    for spot in spots:
        commands.draw(SPOT, push=spot)


g = rg.Graph("spots", size=(128, 128))
out = g.image("out", format="rgba8unorm")
g.callback("spots", draw, color=out, clear=(0, 0, 0, 1))
g.root(out)

with rg.Device() as device:
    pixels = np.array(device.run(g)["out"])
print([int((pixels[..., 0] == level).sum()) for level in (102, 255)], "texels in each spot")
