"""Two devices: each device does half of the work, and the result of one is an input of the other's graph."""

import numpy as np

import rgraph as rg

TERRAIN = """
@group(0) @binding(0) var heights: texture_storage_2d<r32float, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = vec2<f32>(id.xy) / 16.0;
    textureStore(heights, id.xy, vec4(sin(p.x) + cos(p.y * 1.3) + 0.5 * sin(p.x * 2.0 + p.y), 0.0, 0.0, 0.0));
}"""
SHADE = """
@group(0) @binding(0) var heights: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<i32>(p.xy);
    let slope = textureLoad(heights, min(at + vec2(1, 0), vec2(127, 95)), 0).r - textureLoad(heights, at, 0).r;
    let height = textureLoad(heights, at, 0).r;
    return vec4(vec3(0.35, 0.5, 0.25) * (1.0 + 0.3 * height) + 2.0 * slope, 1.0);
}"""

makes = rg.Graph("terrain", size=(128, 96))
heights = makes.image("heights", format="r32float")
makes.compute("terrain", TERRAIN, heights=heights)
makes.root(heights)

g = rg.Graph("shade", size=(128, 96))
given = g.import_image("heights", format="r32float")
out = g.image("out", format="rgba8unorm")
g.raster("shade", SHADE, color=out, heights=given)
g.root(out)

count = len([one for one in rg.devices() if not one.missing])
with rg.Device(0) as first, rg.Device(min(1, count - 1)) as second:  # the same one twice where there is only one
    terrain = first.run(makes)["heights"]
    frame = second.run(g, inputs={"heights": np.asarray(terrain)})
    values, pixels = terrain.numpy(copy=True)[..., 0], frame["out"].numpy(copy=True)
    frame["out"].save("40_two_devices.png")

y, x = np.mgrid[:96, :128] / 16
expected = np.sin(x) + np.cos(y * 1.3) + 0.5 * np.sin(x * 2 + y)
assert np.abs(values - expected).max() < 1e-3
slope = np.diff(expected, axis=1, append=expected[:, -1:])
green = np.clip(0.5 * (1 + 0.3 * expected) + 2 * slope, 0, 1) * 255
assert np.abs(pixels[..., 1] - green).max() <= 1.5
