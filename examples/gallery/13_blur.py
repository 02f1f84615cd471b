"""Blur: the ready-made Gaussian has two passes, and its intermediate image shares memory with others."""

import numpy as np

import rgraph as rg
from rgraph import passes

light = np.zeros((96, 128, 4), np.float32)
light[..., 3] = 1
light[24, 32, :3] = 60.0  # one bright texel
light[60:, 64:, :3] = [0.2, 0.6, 1.0]  # and an edge

g = rg.Graph("blur")
source = g.import_array("light", light)
out = passes.blur(g, "blur", source, radius=12)
shown = g.image("shown", (128, 96), "rgba8unorm")
g.blit("show", out, shown)
g.root(out, shown)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame[out].numpy(copy=True)
    frame["shown"].save("13_blur.png")

# A texel becomes the kernel: the product of two rows of a Gaussian. Sums stay.
row = np.array(passes.gaussian(12, 4.0))  # radius 12, sigma a third of it
kernel = np.concatenate([row[:0:-1], row]) if len(row) == 13 else row
kernel = kernel / kernel.sum()
assert np.allclose(pixels[12:37, 20:45, 0], 60.0 * np.outer(kernel, kernel), atol=0.02)
assert abs(pixels[12:37, 20:45, 1].sum() - 60.0) < 0.3
edge = pixels[85, 40:100, 1]
assert (np.diff(edge) >= -1e-4).all()
assert abs(edge[-1] - 0.6) < 1e-2
