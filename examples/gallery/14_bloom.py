"""Bloom: a pyramid of blurred, halved images adds a glow around bright parts."""

import numpy as np

import rgraph as rg
from rgraph import passes

light = np.zeros((96, 128, 4), np.float16)
light[..., 3] = 1
for x, colour in ((24, [30, 6, 3]), (64, [4, 30, 8]), (104, [4, 8, 40])):
    light[44:52, x - 4 : x + 4, :3] = colour

g = rg.Graph("bloom")
lamps = g.import_array("lamps", light)
glow = passes.bloom(g, "glow", lamps, intensity=0.25)
g.root(glow, passes.tone_map(g, "screen", glow, operator="aces"))

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["glow"].numpy(copy=True).astype(float)
    frame["screen"].save("14_bloom.png")

before = light[..., :3].astype(float)
# Around the lamps there is light where there was none, less the further away, in the colour of the lamp.
beside, further = pixels[48, 32, :3], pixels[48, 40, :3]
assert before[48, 32].max() == 0
assert beside[0] > further[0] > 0
assert beside.argmax() == 0
assert pixels[48, 112, :3].argmax() == 2
assert pixels[..., :3].min() >= 0
