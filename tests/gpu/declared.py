"""Pictures and graphs that several tests run."""

import numpy as np

import rgraph as rg
from gpu.shaders import SCALE


def picture(seed: int = 0, size: tuple[int, int] = (48, 64)) -> np.ndarray:
    """A picture of noise."""
    return np.random.default_rng(seed).integers(0, 256, (*size, 4), np.uint8)


def scaled(values: np.ndarray, **names: object) -> rg.Graph:
    """A graph that scales the values of a buffer."""
    g = rg.Graph("scaled")
    src = g.import_array("src", values, as_buffer=True)
    dst = g.buffer("dst", values.nbytes)
    g.compute("scale", SCALE, src=src, dst=dst, params={"factor": 3, "offset": 1} | names)
    g.root(dst)
    return g
