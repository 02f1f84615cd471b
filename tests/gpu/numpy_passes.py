"""What ready-made passes should give, in numpy."""

import numpy as np
from hypothesis import HealthCheck, settings

import rgraph as rg

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
_EDGES = {"clamp": "edge", "repeat": "wrap", "mirror": "symmetric", "zero": "constant"}

# Each example declares, plans and compiles a graph of its own: a few say as much as many.
few = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def noise(height: int, width: int, channels: int = 4, seed: int = 0, most: float = 1.0) -> np.ndarray:
    """A picture of floats."""
    return (np.random.default_rng(seed).random((height, width, channels)) * most).astype(np.float32)


def ran(device: rg.Device, g: rg.Graph, *wanted: rg.Resource, **options: object) -> list[np.ndarray]:
    """Copies of what a graph makes."""
    g.root(*wanted)
    frame = device.run(g, **options)
    return [np.array(frame[one]) for one in wanted]


def blurred(picture: np.ndarray, weights: np.ndarray, edge: str = "clamp") -> np.ndarray:
    """A picture under a separable kernel."""
    radius = len(weights) // 2
    picture = picture.astype(np.float64)
    for axis in (0, 1):
        around = [(radius, radius) if axis == at else (0, 0) for at in range(3)]
        wide = np.pad(picture, around, _EDGES[edge])
        length = picture.shape[axis]
        picture = sum(weight * wide.take(range(at, at + length), axis) for at, weight in enumerate(weights))
    return picture


def gaussian(radius: int, sigma: float) -> np.ndarray:
    """A normalised Gaussian."""
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return weights / weights.sum()


def sampled(picture: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A picture between its texels, clamped at its edges; `u` and `v` are 0 … 1."""
    height, width = picture.shape[:2]
    x, y = u * width - 0.5, v * height - 0.5
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = (x - x0)[..., None], (y - y0)[..., None]

    def at(j: np.ndarray, i: np.ndarray) -> np.ndarray:
        return picture[np.clip(j, 0, height - 1), np.clip(i, 0, width - 1)].astype(np.float64)

    upper = at(y0, x0) * (1 - fx) + at(y0, x0 + 1) * fx
    lower = at(y0 + 1, x0) * (1 - fx) + at(y0 + 1, x0 + 1) * fx
    return upper * (1 - fy) + lower * fy


def centres(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """(u, v) of the texels' centres."""
    v, u = np.meshgrid((np.arange(height) + 0.5) / height, (np.arange(width) + 0.5) / width, indexing="ij")
    return u, v


def encoded(linear: np.ndarray) -> np.ndarray:
    """Linear light as sRGB has it."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055)


def decoded(srgb: np.ndarray) -> np.ndarray:
    """SRGB as linear light."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
