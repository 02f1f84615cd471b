"""`rgraph run`, `watch` and `demo` in a window on an X server without a screen."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import rgraph as rg
from gpu import windows
from rgraph.demo._camera import Camera
from rgraph.demo._window import Orbit

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    windows.skip_without_windows()
    with windows.server() as name:
        yield name


def command(display: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DISPLAY": display, "RENDERCANVAS_BACKEND": "glfw"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done


def test_run_shows_a_graph_file(device: rg.Device, display: str):
    del device
    done = command(
        display, "-m", "rgraph", "run", "examples/08_raster.rgraph.json", "--window", "--frames", "5", "--validate"
    )
    assert "5 frames" in done.stderr


def test_watch_shows_edits(device: rg.Device, display: str, tmp_path: Path):
    del device
    shader, graph = tmp_path / "fill.wgsl", tmp_path / "fill.rgraph.json"
    text = """
    @group(0) @binding(0) var out: texture_storage_2d<rgba8unorm, write>;
    @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3u) {
        textureStore(out, id.xy, vec4f(1.0, 0.0, 0.0, 1.0));
    }"""
    shader.write_text(text)
    g = rg.Graph("fill", size=(64, 32))
    g.compute("fill", shader, out=g.image("out", format="rgba8unorm"))
    g.root("out")
    g.save(graph)
    environment = os.environ | {"DISPLAY": display, "RENDERCANVAS_BACKEND": "glfw"}
    with subprocess.Popen(
        [sys.executable, "-m", "rgraph", "watch", str(graph), "--window", "--edits", "1"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stderr is not None
        until = time.monotonic() + 60
        while "shown after" not in watching.stderr.readline():
            assert time.monotonic() < until
        shader.write_text(text.replace("1.0, 0.0, 0.0", "0.0, 0.0, 1.0"))
        rest = watching.communicate(timeout=60)[1]
        assert watching.returncode == 0, rest
        assert "shown after" in rest


def test_demo_runs_in_a_window(device: rg.Device, display: str):
    del device
    done = command(display, "-m", "rgraph", "demo", "--window", "--frames", "2", "--size", "128x72")
    assert "close the window to end" in done.stderr


def test_the_example_of_the_page_runs(device: rg.Device, display: str):
    del device
    command(display, "examples/window.py", "4")


def test_an_orbit_turns_moves_and_goes_nearer():
    start = Camera((3.0, 4.0, 0.0), (0.0, 0.0, 0.0))
    orbit = Orbit(start)
    assert orbit.camera.eye == pytest.approx(start.eye)
    orbit.on({"event_type": "pointer_move", "x": 90, "y": 0})
    assert not orbit.moved
    orbit.on({"event_type": "pointer_down", "x": 0, "y": 0})
    orbit.on({"event_type": "pointer_move", "x": 100, "y": 0})
    assert orbit.camera.eye != pytest.approx(start.eye)
    assert orbit.camera.eye[1] == pytest.approx(4.0)
    orbit.on({"event_type": "pointer_move", "x": 100, "y": 50, "modifiers": ("Shift",)})
    assert orbit.camera.target != start.target
    orbit.on({"event_type": "pointer_up"})
    far = orbit.distance
    orbit.on({"event_type": "wheel", "dy": -300})
    assert orbit.distance < far
    orbit.on({"event_type": "key_down", "key": "r"})
    assert (orbit.camera.target, orbit.camera.eye) == (start.target, pytest.approx(start.eye))
