"""A graph whose result tells which values it had, and functions that workers of batches can import."""

import os
import signal
import sys
from pathlib import Path

import numpy as np

import rgraph as rg

SHADER = """
struct P { seed: u32, origin: vec2<u32> }
var<immediate> p: P;
@group(0) @binding(0) var dst: texture_storage_2d<rgba16uint, write>;
@compute @workgroup_size(4, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4(p.seed * 7u + id.x, id.xy + p.origin, 1u));
}"""
COUNT = """
@group(0) @binding(0) var<storage, read_write> count: array<u32>;
@compute @workgroup_size(1) fn main() { count[0] += 1u; }
"""


def seeded() -> rg.Graph:
    """`out` is 8 × 8: seed · 7 + x, x + origin.x, y + origin.y, 1."""
    g = rg.Graph("seeded", size=(8, 8))
    out = g.image("out", format="rgba16uint")
    g.compute("draw", SHADER, dst=out, push={"seed": 0, "origin": [0, 0]})
    g.root(out)
    return g


def is_right(array: np.ndarray, seed: int) -> bool:
    """Whether an array is the result for a seed."""
    y, x = np.indices((8, 8))
    return bool((array == np.stack([seed * 7 + x, x, y, np.ones_like(x)], axis=-1)).all())


def counted() -> rg.Graph:
    """A buffer that lives from frame to frame, and counts them."""
    g = rg.Graph("counted")
    count = g.buffer("count", 4, persistent=True)
    g.compute("step", COUNT, count=count, groups=1)
    g.root(count)
    return g


def dies_once(mark: str, at: int, key: int, frame: rg.Frame) -> int:
    """The seed that a frame shows; ends its process at one key, the first time."""
    if key == at and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    array = np.asarray(frame["out"])
    assert is_right(array, key)
    return int(array[0, 0, 0]) // 7


def dies(key: int, frame: rg.Frame) -> None:
    """Ends its process."""
    del key, frame
    os._exit(7)


def refuses(key: int, frame: rg.Frame) -> int:
    """Fails for one key."""
    del frame
    if key == 5:
        raise ValueError("no five")
    return key


def hide_drivers() -> None:
    """From now on this process finds no driver."""
    os.environ["VK_DRIVER_FILES"] = "/none"


def show_drivers() -> None:
    """From now on this process finds its drivers."""
    os.environ.pop("VK_DRIVER_FILES", None)


class TwoParts(Exception):
    """An exception that pickle takes and cannot make again."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)


def fails(kind: str, *_: object) -> object:
    """Fails in one of the ways in which an answer gets lost on its way back."""
    if kind == "file":
        raise FileNotFoundError(2, "No such file", kind)
    if kind == "two":
        raise TwoParts("one", "two")
    if kind == "exit":
        sys.exit(3)
    if kind == "status":
        os._exit(7)
    return (at for at in kind)
