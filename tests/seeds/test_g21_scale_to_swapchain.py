"""G21: the final image is scaled into the swapchain's, whatever size either has; earlier batches do not wait for it."""

from collections.abc import Iterator

import pytest

import rgraph as rg
from gpu import windows


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    windows.skip_without_windows()
    with windows.server() as name:
        yield name


def test_the_final_image_is_scaled_to_the_window(device: rg.Device, display: str):
    del device
    printed = windows.program(
        """
        def look(number):
            if number == 6:
                canvas = next(iter(rg.window._OPEN)).canvas
                print(at(canvas, 2, 2), at(canvas, 395, 195), at(canvas, 300, 2))

        # The image has 64 x 32 texels, the window 400 x 200.
        shown = rg.show(flag(), size=(400, 200), update=look, frames=9)
        print(shown.window.closed, shown.device.messages)
        """,
        display,
    )
    assert printed.splitlines() == ["[255, 0, 0] [0, 255, 0] [0, 255, 0]", "True []"]


def test_passes_are_batched_whether_or_not_a_window_shows_them(device: rg.Device, display: str):
    del device
    printed = windows.program(
        """
        g = flag()
        for at_pass in range(30):
            g.fill(f"fill{at_pass}", g.buffer(f"words{at_pass}", 64))
            g.root(f"words{at_pass}")
        shown = rg.show(g, "picture", frames=2)
        print(shown.frame.report.to_dict()["submits"])
        """,
        display,
    )
    assert printed == "1\n"
