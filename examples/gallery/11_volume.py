"""Volume: a compute pass fills a 3D image with a ball, and a shader adds its density along a ray per texel."""

import numpy as np

import rgraph as rg

BALL = """
@group(0) @binding(0) var density: texture_storage_3d<r32float, write>;
@compute @workgroup_size(4, 4, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let away = distance(vec3<f32>(id) + 0.5, vec3(32.0));
    textureStore(density, id, vec4(f32(away < 24.0), 0.0, 0.0, 0.0));
}"""
MARCH = """
@group(0) @binding(0) var density: texture_3d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    var sum = 0.0;
    for (var z = 0; z < 64; z++) { sum += textureLoad(density, vec3(vec2<i32>(p.xy), z), 0).r; }
    return vec4(vec3(sum / 48.0), 1.0);
}"""

g = rg.Graph("volume", size=(64, 64))
density = g.image("density", (64, 64, 64), "r32float")
out = g.image("out", format="rgba8unorm")
g.compute("ball", BALL, density=density, groups=(16, 16, 16))
g.raster("march", MARCH, color=out, density=density)
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)[..., 0] / 255 * 48
    frame["out"].save("11_volume.png")

# The ray at distance r from the middle is 2 sqrt(24² - r²) long within the ball.
y, x = np.mgrid[:64, :64] + 0.5
length = 2 * np.sqrt(np.maximum(24**2 - (x - 32) ** 2 - (y - 32) ** 2, 0))
assert np.abs(pixels - length).max() < 2.1
assert pixels[0, 0] == 0
