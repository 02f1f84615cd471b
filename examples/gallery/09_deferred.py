"""Deferred shading: one pass writes colours and normals of surfaces, and the next one lights each texel once."""

import numpy as np

import rgraph as rg

SPHERES = """
struct Out { @location(0) albedo: vec4<f32>, @location(1) normal: vec4<f32> }
@fragment fn fs(@builtin(position) p: vec4<f32>) -> Out {
    let cell = floor(p.xy / 32.0);
    let at = (p.xy - (cell * 32.0 + 16.0)) / 14.0;
    let inside = 1.0 - dot(at, at);
    if (inside < 0.0) { return Out(vec4(0.0), vec4(0.0)); }
    return Out(vec4(0.3 + 0.2 * cell, 0.9 - 0.2 * cell.x, 1.0), vec4(at, sqrt(inside), 1.0));
}"""
LIGHT = """
@group(0) @binding(0) var albedo: texture_2d<f32>;
@group(0) @binding(1) var normal: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let n = textureLoad(normal, vec2<i32>(p.xy), 0);
    let light = max(dot(n.xyz, normalize(vec3(-1.0, -1.0, 1.0))), 0.0);
    return vec4(textureLoad(albedo, vec2<i32>(p.xy), 0).rgb * light, 1.0);
}"""

g = rg.Graph("deferred", size=(128, 96))
albedo, normal = g.image("albedo", format="rgba8unorm"), g.image("normal", format="rgba16float")
out = g.image("out", format="rgba8unorm")
g.raster("geometry", SPHERES, color=[albedo, normal])
g.raster("lighting", LIGHT, color=out, albedo=albedo, normal=normal)
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True).astype(int)
    frame["out"].save("09_deferred.png")

# Lambert's law at every texel: the cosine between the normal of a sphere and the direction of the light.
y, x = np.mgrid[:96, :128] + 0.5
u, v = (x % 32 - 16) / 14, (y % 32 - 16) / 14
cosine = np.maximum((np.sqrt(np.maximum(1 - u * u - v * v, 0)) - u - v) / np.sqrt(3), 0) * (u * u + v * v < 1)
blue = np.minimum(0.9 - 0.2 * (x // 32), 1) * cosine * 255
assert np.abs(pixels[..., 2] - blue).max() <= 2
assert np.abs(pixels[..., 0] - np.minimum(0.3 + 0.2 * (x // 32), 1) * cosine * 255).max() <= 2
