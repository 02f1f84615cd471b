"""Modules: one function declares an effect with names of its own, and a graph uses it twice."""

import numpy as np

import rgraph as rg

SPOTS = """
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let away = distance(fract(p.xy / 32.0), vec2(0.5));
    return vec4(vec3(f32(away < 0.3)), 1.0);
}"""
SHIFT = """
@group(0) @binding(0) var src: texture_2d<f32>;
struct Look { tint: vec4<f32>, by: vec2<i32> }
var<immediate> look: Look;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let at = (vec2<i32>(p.xy) - look.by + vec2(128, 96)) % vec2(128, 96);
    return textureLoad(src, at, 0) * look.tint;
}"""
ADD = """
@group(0) @binding(0) var a: texture_2d<f32>;
@group(0) @binding(1) var b: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    return textureLoad(a, vec2<i32>(p.xy), 0) + textureLoad(b, vec2<i32>(p.xy), 0);
}"""


def shifted(part: rg.Module, source: rg.Image, tint: list[float], by: list[int]) -> rg.Image:
    """An effect: names that it declares are those of its module."""
    result = part.image("result", format="rgba8unorm")
    part.raster("shift", SHIFT, color=result, src=source, push={"tint": tint, "by": by})
    return result


g = rg.Graph("modules", size=(128, 96))
spots, out = g.image("spots", format="rgba8unorm"), g.image("out", format="rgba8unorm")
g.raster("spots", SPOTS, color=spots)
red = shifted(g.module("red"), spots, [1, 0, 0, 1], [6, 0])
blue = shifted(g.module("blue"), spots, [0, 0, 1, 1], [0, 6])
g.raster("add", ADD, color=out, a=red, b=blue)
g.root(out)
assert g.bake().pass_names == ["spots", "red/shift", "blue/shift", "add"]

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("33_modules.png")

y, x = np.mgrid[:96, :128]
spot = np.hypot((x + 0.5) / 32 % 1 - 0.5, (y + 0.5) / 32 % 1 - 0.5) < 0.3
assert (pixels[..., 0] == 255 * np.roll(spot, 6, axis=1)).mean() > 0.999
assert (pixels[..., 2] == 255 * np.roll(spot, 6, axis=0)).mean() > 0.999
assert (pixels[..., 1] == 0).all()
