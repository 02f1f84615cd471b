"""Instancing: one draw shows a quad 48 times, and each instance has its own position, size and colour."""

import numpy as np

import rgraph as rg

SHADER = """
struct Point { @builtin(position) clip: vec4<f32>, @location(0) colour: vec3<f32> }
@vertex fn vs(@location(0) corner: vec2<f32>, @location(1) place: vec2<f32>, @location(2) size: f32,
              @location(3) colour: vec3<f32>) -> Point {
    return Point(vec4(place + corner * size * vec2(0.75, 1.0), 0.0, 1.0), colour);
}
@fragment fn fs(p: Point) -> @location(0) vec4<f32> { return vec4(p.colour, 1.0); }"""

quad = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
y, x = np.mgrid[:6, :8]
each = np.stack([(x + 0.5) / 4 - 1, (y + 0.5) / 3 - 1, 0.03 + 0.012 * y, x / 7, y / 5, 1 - x / 7], axis=-1)
each = each.reshape(-1, 6).astype(np.float32)

g = rg.Graph("instances", size=(128, 96))
out = g.image("out", format="rgba8unorm")
g.raster(
    "draw",
    SHADER,
    color=out,
    clear=(0, 0, 0, 1),
    topology="triangle_strip",
    vertices=4,
    instances=len(each),
    vertex_buffers=[
        {"buffer": g.import_array("quad", quad, as_buffer=True), "attributes": ["corner"]},
        {
            "buffer": g.import_array("each", each, as_buffer=True),
            "attributes": ["place", "size", "colour"],
            "per_instance": True,
        },
    ],
)
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("04_instancing.png")

# The middle of each cell of 16 × 16 texels has the colour of its instance; corners of cells are empty.
assert np.abs(pixels[8::16, 8::16, :3].reshape(-1, 3) - 255.0 * each[:, 3:]).max() <= 1
assert (pixels[::16, ::16, :3] == 0).all()
