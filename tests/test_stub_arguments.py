"""What the manual allows has no alarm of type checkers: the stub's types are those of arguments that work."""

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np

import rgraph as rg


def load() -> str:
    return "load"


def draw(g: rg.Graph, out: rg.Image, depth: rg.Image, shader: str) -> None:
    g.raster(
        "draw",
        shader,
        color=out,
        depth=depth,
        clear=lambda: np.zeros(4, np.float32),
        load=load,
        clear_depth=lambda: 1.0,
        load_depth=lambda: "clear",
        viewport=lambda: (0, 0, 8, 8),
    )
    g.callback("record", lambda commands: None, color=out, clear=lambda: (0.0, 0.0, 0.0, 1.0), load=load)
    g.clear("black", out, [0, 0, 0, 1])
    g.add_pass("red").color(out, clear=np.array([1.0, 0.0, 0.0, 1.0]))
    g.raster("both", shader, color=[out, out], clear=[[0, 0, 0, 1], None])
    g.layer("ui", out, depth, clear=lambda: [0.0, 0.0, 0.0, 1.0], clear_depth=lambda: (1.0, 0))


def count(g: rg.Graph, shader: str, size: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> None:
    counts = g.buffer("counts", shape=(size[0], 4), dtype=np.float32)
    g.compute("count", shader, groups=(size[0], 1, 1), counts=counts)


def sums(frame: rg.Frame) -> tuple[int, float, bool]:
    return int(frame["count"]), float(frame["sum"]), bool(frame["found"])


def rows(frame: rg.Frame, g: rg.Graph) -> tuple[list[int], bytes, int]:
    sizes = g.buffer("sizes", shape=3, dtype="uint32").dtype
    lengths = [len(row) for row in frame["picture"] if sizes == "uint32"]
    return lengths, bytes(frame["picture"]), memoryview(frame["picture"]).nbytes
"""


def test_arguments_that_work_have_no_alarm(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    checked = subprocess.run(mypy, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
