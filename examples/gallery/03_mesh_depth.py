"""A mesh with depth: the depth test keeps the nearest faces of a cube, in any order of triangles."""

import numpy as np

import rgraph as rg

SHADER = """
var<immediate> turn: mat4x4<f32>;
struct Point { @builtin(position) clip: vec4<f32>, @location(0) colour: vec3<f32> }
@vertex fn vs(@location(0) at: vec3<f32>, @location(1) colour: vec3<f32>) -> Point {
    let p = turn * vec4(at, 1.0);
    return Point(vec4(p.x * 0.4, p.y * 0.5, p.z * 0.25 + 0.5, 1.0), colour);
}
@fragment fn fs(p: Point) -> @location(0) vec4<f32> { return vec4(p.colour, 1.0); }"""

corners = []
for axis in range(3):
    for side in (-1.0, 1.0):
        face = [[u, v] for u, v in ((-1, -1), (1, -1), (-1, 1), (-1, 1), (1, -1), (1, 1))]
        colour = np.roll([0.9, 0.3, 0.1], axis) * (1.0 if side < 0 else 0.6)
        corners += [[*np.insert(np.array(uv, float), axis, side), *colour] for uv in face]
mesh = np.array(corners, np.float32)

a, b = 0.6, 0.5  # turned around y, then around x; the eye looks along +z, so small depths are near
around_y = np.array([[np.cos(a), 0, np.sin(a), 0], [0, 1, 0, 0], [-np.sin(a), 0, np.cos(a), 0], [0, 0, 0, 1]])
around_x = np.array([[1, 0, 0, 0], [0, np.cos(b), -np.sin(b), 0], [0, np.sin(b), np.cos(b), 0], [0, 0, 0, 1]])
turn = around_x @ around_y

g = rg.Graph("cube", size=(128, 96))
out, depth = g.image("out", format="rgba8unorm"), g.image("depth", format="depth32float")
vertices = g.import_array("mesh", mesh, as_buffer=True)
g.raster(
    "draw", SHADER, color=out, clear=(0.05, 0.05, 0.08, 1), depth=depth, clear_depth=1.0, depth_test="less",
    vertex_buffers=vertices, vertices=len(mesh), push=turn.T,
)  # fmt: skip
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("03_mesh_depth.png")

# The faces that are seen are those on the near side of each axis, and they hide the others entirely.
near = {axis: -np.sign(turn[2, axis]) for axis in range(3)}
expected = np.array([np.roll([0.9, 0.3, 0.1], n) * (1.0 if side < 0 else 0.6) for n, side in near.items()]) * 255
found = np.array(
    [colour[:3] for colour in np.unique(pixels.reshape(-1, 4), axis=0) if tuple(colour[:3]) != (13, 13, 20)]
)
assert len(found) == 3
assert np.abs(found[:, None] - expected[None]).max(axis=2).min(axis=1).max() <= 1
