"""Tone mapping: five operators, one per strip, map light from 2^-6 to 2^6 to the range of a screen."""

import numpy as np

import rgraph as rg
from rgraph import passes

stops = np.exp2(np.linspace(-6, 6, 128))
light = np.ones((16, 128, 4), np.float32)
light[..., :3] = stops[:, None] * [1.0, 1.0, 1.0]

g = rg.Graph("tone map")
source = g.import_array("light", light)
strips = [
    passes.tone_map(g, "linear", source, operator="linear", encode=True),
    passes.tone_map(g, "reinhard", source, operator="reinhard", encode=True),
    passes.tone_map(g, "extended", source, operator="reinhard_extended", encode=True),
    passes.tone_map(g, "aces", source, operator="aces", encode=True),
    passes.tone_map(g, "agx", source, operator="agx", encode=True),
]
out = g.image("out", (128, 80), "rgba8unorm")
JOIN = """
@group(0) @binding(0) var strip: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    return textureLoad(strip, vec2<i32>(p.xy) % vec2(128, 16), 0);
}"""
for n, strip in enumerate(strips):
    g.raster(f"join {n}", JOIN, color=out, strip=strip, viewport=(0, 16 * n, 128, 16), load="load" if n else "clear")
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True).astype(int)
    frame["out"].save("15_tone_map.png")


def encoded(light: np.ndarray) -> np.ndarray:
    """SRGB of linear light."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055) * 255


rows = pixels[8::16, :, 0]
# Three steps of 255: `pow` is as exact as the device makes it.
assert np.abs(rows[0] - encoded(np.minimum(stops, 1))).max() <= 3
assert np.abs(rows[1] - encoded(stops / (1 + stops))).max() <= 3
assert (np.diff(rows, axis=1) >= 0).all()  # more light is never darker
assert rows[2:, 0].max() < 60
assert rows[2:, -1].min() > 240
