"""An X server without a screen, for tests of windows, and programs that run on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

#: What programs of these tests begin with: a graph of two colours, and the picture on the screen.
BEGINNING = '''
import os
import numpy as np
import rgraph as rg
from PIL import ImageGrab

SHADER = """
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fragment(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    return select(vec4<f32>(1.0, 0.0, 0.0, 1.0), vec4<f32>(0.0, 1.0, 0.0, 1.0), at.x > 32.0);
}"""

def flag():
    g = rg.Graph("flag", size=(64, 32))
    g.raster("draw", SHADER, color=g.image("picture", format="rgba8unorm"))
    g.root("picture")
    return g

def screen():
    return np.asarray(ImageGrab.grab(xdisplay=os.environ["DISPLAY"]))[:, :, :3]

def at(canvas, x, y):
    import glfw
    left, top = glfw.get_window_pos(canvas._window)
    return screen()[top + y, left + x].tolist()
'''


def skip_without_windows() -> None:
    """Skips with the reason where no window can be opened."""
    missing = [name for name in ("rendercanvas", "glfw", "PIL") if find_spec(name) is None]
    if shutil.which("Xvfb") is None:
        missing.append("Xvfb")
    if missing and os.environ.get("RGRAPH_REQUIRE_WINDOW", "") in ("", "0"):
        pytest.skip(f"no window can be opened: {', '.join(missing)} missing")
    assert not missing, missing


@contextmanager
def server() -> Iterator[str]:
    """The display of a new X server."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        try:
            assert started.stdout is not None
            number = started.stdout.readline().strip()
            assert number, "Xvfb ended at once"
            yield f":{number}"
        finally:
            started.terminate()
            started.wait()


def program(text: str, display: str) -> str:
    """Runs a program whose device must stay silent; what it prints."""
    code = BEGINNING + textwrap.dedent(text)
    environment = os.environ | {"DISPLAY": display, "RENDERCANVAS_BACKEND": "glfw"}
    environment.pop("WAYLAND_DISPLAY", None)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Validation" not in done.stderr
    return done.stdout
