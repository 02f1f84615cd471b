"""Windows with wrong arguments, and where no window can be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

import rgraph as rg
from gpu import windows

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A display for windows that nobody sees."""
    windows.skip_without_windows()
    with windows.server() as display:
        yield display


@pytest.mark.parametrize("display", ["", ":97", "nonsense"])
def test_no_display_is_one_error_and_not_the_end_of_the_process(display: str):
    windows.skip_without_windows()
    code = windows.BEGINNING + "try:\n    rg.show(flag())\nexcept rg.DeviceError as error:\n    print(error)"
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment |= {"RENDERCANVAS_BACKEND": "glfw"} | ({"DISPLAY": display} if display else {})
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    where = f"DISPLAY={display}" if display else "neither DISPLAY nor WAYLAND_DISPLAY is set"
    assert done.stdout.startswith(f"RG-E107 no display for windows: {where}\n  help: run it on a desktop")


def test_a_wrong_argument_of_show_is_refused_before_a_window_opens():
    g = rg.Graph("red", size=(8, 8))
    g.clear("fill", g.image("picture", format="rgba8unorm"), (1, 0, 0, 1))
    g.root("picture")
    for wrong, error, message in (
        ({"frames": 0}, rg.GraphError, "RG-E213 frames is 0"),
        ({"frames": 1.5}, rg.GraphError, "RG-E213 frames is 1.5, and not a whole number"),
        ({"frames": "3"}, TypeError, "frames is a whole number, not str"),
        ({"frames": True}, TypeError, "frames is a whole number, not a bool"),
        ({"size": (0, 8)}, rg.GraphError, "RG-E213 width of size is 0"),
        ({"title": 5}, TypeError, "title= is text, not int"),
        ({"fps": 0}, rg.GraphError, "RG-E213 fps is 0"),
        ({"fps": float("nan")}, rg.GraphError, "RG-E213 fps is nan"),
        ({"mode": "FIFO"}, rg.GraphError, "RG-E202 there is no mode called 'FIFO'"),
        ({"update": 5}, TypeError, "update= is a function of the frame's number, not int"),
    ):
        with pytest.raises(error, match=message):
            rg.show(g, **wrong)


def test_what_is_shown_is_a_graph_with_an_image(display: str):
    printed = windows.program(
        """
        empty = rg.Graph("empty")
        for wrong in (5, flag().bake(), lambda: 5, lambda: empty, empty, b"x"):
            try:
                rg.show(wrong, frames=1)
            except (TypeError, rg.GraphError) as error:
                print(str(error).splitlines()[0])
        try:
            rg.show(flag(), "nope", frames=1)
        except rg.GraphError as error:
            print(error.code, error.hint)
        """,
        display,
    )
    assert printed.splitlines() == [
        "show() takes a graph, its path, a function or a compiled graph, not int",
        "show() takes a graph, its path, a function or a compiled graph, not Plan",
        "the function that declares the graph returned int, not a graph",
        'RG-E202 graph "empty" has no image among its roots',
        'RG-E202 graph "empty" has no image among its roots',
        "show() takes a graph, its path, a function or a compiled graph, not bytes",
        "RG-E202 there is picture",
    ]


def test_update_that_returns_no_arguments_closes_the_window(display: str):
    printed = windows.program(
        """
        async def later(number):
            return {}

        for update in (lambda number: 5, later, lambda number: {"nope": 1}):
            try:
                rg.show(flag(), update=update, frames=2)
            except TypeError as error:
                print(error)
        """,
        display,
    )
    assert printed.splitlines()[:2] == [
        "update= returns arguments of Compiled.run as a dict, or None, and returned a int",
        "update= returns arguments of Compiled.run as a dict, or None, and returned a coroutine",
    ]
    assert "nope" in printed.splitlines()[2]


def test_waiting_for_windows_in_a_function_of_a_window_is_refused(display: str):
    printed = windows.program(
        """
        def update(number):
            if number == 0:
                for call in (lambda: rg.show(flag()), lambda: rg.window.run(), lambda: opened[0].run()):
                    try:
                        call()
                    except rg.BusyError as error:
                        print(error)
                opened.append(rg.show(flag(), frames=2, wait=False, device=opened[0].device))

        opened = [rg.show(flag(), frames=3, wait=False)]
        rg.show(flag(), frames=4, update=update, device=opened[0].device)
        print([one.frames for one in opened])
        """,
        display,
    )
    refused = "RG-E402 a function of a window waits for the event loop that waits for it\n  help: pass wait=False: "
    assert printed.count(refused) == 3
    assert printed.splitlines()[-1] == "[3, 2]"


def test_a_native_window_is_given_by_its_number(device: rg.Device):
    for given, missing in (({}, "a window"), ({"window": 5}, "a display"), ({"platform": "wayland"}, "a window")):
        with pytest.raises(rg.GraphError, match=f"RG-E213 platform .* needs {missing}, and the number") as caught:
            device.window(**given)  # type: ignore[arg-type]
        assert "rgraph.show(graph)" in caught.value.hint
