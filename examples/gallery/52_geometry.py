"""A geometry stage: each point becomes a quad with a size and a colour of its own."""

import numpy as np

import rgraph as rg

POINTS = """#version 450
layout(location = 0) out vec4 tint;
layout(location = 1) out vec2 extent;
layout(set = 0, binding = 0) readonly buffer Places { vec4 places[]; }; // middle and half a side, in texels
void main() {
    vec4 place = places[gl_VertexIndex];
    gl_Position = vec4(place.xy / vec2(64.0, 48.0) - 1.0, 0.0, 1.0);
    extent = place.zz / vec2(64.0, 48.0);
    tint = vec4(place.xy / vec2(128.0, 96.0), 0.6, 1.0);
}
"""
QUADS = """#version 450
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in vec4 tint[];
layout(location = 1) in vec2 extent[];
layout(location = 0) out vec4 shade;
void main() {
    for (int corner = 0; corner < 4; corner++) {
        vec2 side = vec2(corner & 1, corner >> 1) * 2.0 - 1.0;
        gl_Position = gl_in[0].gl_Position + vec4(side * extent[0], 0.0, 0.0);
        shade = tint[0];
        EmitVertex();
    }
    EndPrimitive();
}
"""
SHADE = """#version 450
layout(location = 0) in vec4 shade;
layout(location = 0) out vec4 colour;
void main() { colour = shade; }
"""

y, x = np.mgrid[8:96:16, 8:128:16]
half = 2 + (x // 16 + y // 16) % 5
places = np.stack([x, y, half, 0 * x], axis=-1).reshape(-1, 4).astype(np.float32)

g = rg.Graph("quads", size=(128, 96))
out = g.image("out", format="rgba8unorm")
points = g.import_array("places", places, as_buffer=True)
shaders, black = (POINTS, QUADS, SHADE), (0, 0, 0, 1)
g.raster("draw", shaders, color=out, clear=black, vertices=len(places), topology="points", Places=points)
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("52_geometry.png")

expected = np.zeros((96, 128, 4))
expected[..., 3] = 255
for px, py, h in places[:, :3].astype(int):
    expected[py - h : py + h, px - h : px + h] = [px / 128 * 255, py / 96 * 255, 0.6 * 255, 255]
assert np.abs(pixels - expected).max() <= 1
