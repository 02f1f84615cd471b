"""Ready-made passes: a bright picture glows, and is brought into the range of a screen."""

import numpy as np

import rgraph as rg
from rgraph import passes

light = np.zeros((180, 320, 4), np.float16)
light[..., 3] = 1.0
light[80:100, 150:170, :3] = [40.0, 20.0, 8.0]  # a lamp, in linear light

g = rg.Graph("glow")
lamp = g.import_array("lamp", light)
glow = passes.bloom(g, "glow", lamp, intensity=0.2)
screen = passes.tone_map(g, "screen", glow, operator="aces")
g.root(screen)

plan = g.bake()
print(f"{len(plan.passes)} passes, memory {plan.memory.total >> 10} KiB of {plan.memory.without_aliasing >> 10} KiB")
with rg.Device() as device:
    pixels = device.run(g)[screen].numpy(copy=True)
print("beside the lamp:", pixels[90, 180].tolist())
