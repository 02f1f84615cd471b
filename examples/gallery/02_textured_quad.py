"""A textured quad: a shader samples an array twice, with a linear and with a nearest filter."""

import numpy as np

import rgraph as rg

SHADER = """
@group(0) @binding(0) var tex: texture_2d<f32>;
@group(0) @binding(1) var soft: sampler;
@group(0) @binding(2) var hard: sampler;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let at = vec2(uv.x * 2.0, uv.y);
    if (at.x < 1.0) { return textureSample(tex, hard, at); }
    return textureSample(tex, soft, at - vec2(1.0, 0.0));
}"""

texels = np.array([[[255, 0, 0, 255], [0, 255, 0, 255]], [[0, 0, 255, 255], [255, 255, 0, 255]]], np.uint8)
g = rg.Graph("quad", size=(128, 64))
out = g.image("out", format="rgba8unorm")
g.raster("draw", SHADER, color=out, tex=g.import_array("texels", texels), hard=rg.Sampler("nearest"), soft=rg.Sampler())
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("02_textured_quad.png")

assert (pixels[:32, :32] == texels[0, 0]).all()
assert (pixels[32:, 32:64] == texels[1, 1]).all()
# Between the texels, all four have a quarter each: half red, half green, a quarter blue.
assert abs(pixels[31:33, 95:97, :3].astype(int).mean(axis=(0, 1)) - [127.5, 127.5, 63.75]).max() < 2
