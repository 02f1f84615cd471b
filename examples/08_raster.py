"""A mesh drawn with vertex buffers and a depth image, then a full-screen pass over it."""

import numpy as np

import rgraph as rg

MESH = """
struct Seen { @builtin(position) position: vec4<f32>, @location(0) color: vec4<f32> }
@vertex fn vs(@location(0) at: vec3<f32>, @location(1) color: vec4<f32>) -> Seen {
    return Seen(vec4(at, 1.0), color);
}
@fragment fn fs(in: Seen) -> @location(0) vec4<f32> { return in.color; }"""

VIGNETTE = """
@group(0) @binding(0) var scene: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let edge = length(uv - 0.5);
    return textureSample(scene, smooth_sampler, uv) * (1.0 - edge * edge);
}"""

corners = np.array(
    [  # x, y, depth, colour: the second triangle is behind the first
        [-0.8, -0.6, 0.2, 1.0, 0.3, 0.2, 1.0],
        [0.6, -0.6, 0.2, 1.0, 0.8, 0.2, 1.0],
        [-0.1, 0.7, 0.2, 1.0, 0.5, 0.6, 1.0],
        [-0.6, 0.6, 0.7, 0.1, 0.3, 0.9, 1.0],
        [0.8, 0.6, 0.7, 0.2, 0.8, 0.9, 1.0],
        [0.1, -0.8, 0.7, 0.4, 0.2, 0.8, 1.0],
    ],
    np.float32,
)

g = rg.Graph("triangles", size=(256, 256))
mesh = g.import_array("mesh", corners, as_buffer=True)
depth = g.image("depth", format="depth32float")
scene = g.image("scene", format="rgba16float")
out = g.image("out", format="rgba8unorm")
g.raster(
    "mesh",
    MESH,
    color=scene,
    clear=(0, 0, 0, 1),
    depth=depth,
    clear_depth=1.0,
    depth_test="less",
    vertex_buffers=mesh,
    vertices=len(corners),
)
g.raster("vignette", VIGNETTE, color=out, scene=scene)
g.root(out)

with rg.Device() as device:
    pixels = np.array(device.run(g)["out"])
print("the middle is", pixels[128, 128].tolist(), "and a corner", pixels[0, 0].tolist())
