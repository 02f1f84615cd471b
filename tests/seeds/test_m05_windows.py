"""M5: what runs outside waits for nothing inside: semaphores of others, windows, and what is shown in them."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

import rgraph as rg
from gpu import windows


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    windows.skip_without_windows()
    with windows.server() as name:
        yield name


def test_a_frame_waits_for_a_semaphore_of_others_and_signals_one(device: rg.Device):
    g = rg.Graph("outside", size=(8, 8))
    given = g.import_buffer("given", 16)
    out = g.buffer("out", 16)
    g.copy("copy", given, out)
    g.root(out)
    before, after = device.semaphore(), device.semaphore()
    frame = device.run(g, inputs={"given": bytes(range(16))}, wait=[(before, 3)], signal=[(after, 7)])
    assert not frame.wait(0.05)
    assert after.value == 0
    before.signal(3)
    assert after.wait(7, 20)
    assert frame["out"].tobytes() == bytes(range(16))


def test_frames_go_to_a_window_and_the_window_may_go_at_any_time(device: rg.Device, display: str):
    del device
    printed = windows.program(
        """
        viewer = rg.show(flag(), frames=3)
        print(viewer.frames, viewer.closed)
        try:
            viewer.window.show(viewer.frame, "picture")
        except rg.DeviceError as error:
            print(error.code)
        print(viewer.device.messages)
        """,
        display,
    )
    assert printed.splitlines() == ["3 True", "RG-E122", "[]"]


def test_headless_users_ask_for_no_surface(device: rg.Device):
    del device
    code = (
        "import rgraph as rg\nd = rg.Device()\ntry:\n    d.window(platform='headless')\nexcept rg.DeviceError as e:\n"
    )
    code += "    print(e.code)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "RG-E107\n"
