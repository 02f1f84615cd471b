"""Tessellation: one patch of four corners becomes a height field, shaded by its slope and viewed from the side."""

import numpy as np

import rgraph as rg

CORNERS = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex & 1, gl_VertexIndex >> 1, 0.0, 1.0); }
"""
CONTROL = """#version 450
layout(vertices = 4) out;
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    for (int i = 0; i < 4; i++) gl_TessLevelOuter[i] = 32.0;
    gl_TessLevelInner[0] = gl_TessLevelInner[1] = 32.0;
}
"""
EVALUATION = """#version 450
layout(quads, equal_spacing) in;
layout(location = 0) out float slope;
void main() {
    vec2 at = mix(gl_in[0].gl_Position.xy, gl_in[3].gl_Position.xy, gl_TessCoord.xy);
    float height = sin(at.x * 9.42477796) * at.y; // one hill and a half, which grow towards the eye
    slope = cos(at.x * 9.42477796) * at.y;
    gl_Position = vec4(at.x * 1.6 - 0.8, at.y - 0.5 - 0.4 * height, 1.0 - at.y, 1.0);
}
"""
SHADE = """#version 450
layout(location = 0) in float slope;
layout(location = 0) out vec4 colour;
void main() { colour = vec4(0.2, 0.6 + 0.4 * slope, 0.3, 1.0); }
"""

g = rg.Graph("terrain", size=(128, 96))
out, depth = g.image("out", format="rgba8unorm"), g.image("depth", format="depth32float")
g.raster(
    "draw", (CORNERS, CONTROL, EVALUATION, SHADE), color=out, clear=(0, 0, 0, 1), vertices=4, patch_vertices=4,
    depth=depth, clear_depth=1.0, depth_test="less_equal",
)  # fmt: skip
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True).astype(int)
    frame["out"].save("51_tessellation.png")

covered = pixels[..., 2] > 0
assert not covered[:, :12].any()  # the patch is 0.8 of the picture wide
assert not covered[:, 116:].any()
x = np.arange(16, 112)
wave = np.sin((x + 0.5 - 12.8) / 102.4 * 3 * np.pi)
lowest = 96 - np.argmax(covered[::-1, x], axis=0)  # the near edge, where it is not hidden
edge = 48 + 48 * (0.5 - 0.4 * wave)
valley = wave < 0.9 / 1.2  # where higher, the edge still is the lowest texel: rows fall by 1 - 0.4 · wave > 0
assert np.abs(lowest - edge)[valley].max() <= 1.5
assert np.abs(pixels[lowest - 2, x, 1] / 255 - 0.6 - 0.4 * np.cos((x - 12.3) / 102.4 * 3 * np.pi)).max() < 0.06
