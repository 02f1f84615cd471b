"""Windows in Python: real ones on an X server without a screen, and pictures where there are none."""

from collections.abc import Iterator

import numpy as np
import pytest

import rgraph as rg
from gpu import windows


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    windows.skip_without_windows()
    with windows.server() as name:
        yield name


def test_a_graph_is_shown_in_three_lines(device: rg.Device, display: str):
    del device
    said = windows.program(
        """
        def look(number):
            if number == 8:
                canvas = next(iter(rg.window._OPEN)).canvas
                print(at(canvas, 10, 10), at(canvas, 50, 10), canvas.get_physical_size())

        shown = rg.show(flag(), update=look, frames=12)
        assert shown.frames == 12 and shown.closed and shown.window.closed, shown.frames
        assert shown.device.messages == [], shown.device.messages
        """,
        display,
    )
    assert said == "[255, 0, 0] [0, 255, 0] (64, 32)\n"


def test_several_windows_follow_their_sizes_and_events(device: rg.Device, display: str):
    del device
    said = windows.program(
        """
        import glfw
        device = rg.Device(windows=True)
        sizes, seen = [], {}

        def look(name, other):
            def update(number):
                if number == 4:
                    seen[name].canvas.set_logical_size(*other)
                if number == 15:
                    print(name, at(seen[name].canvas, 2, 2), seen[name].window.size)
            return update

        for name, size, other in (("one", (64, 32), (128, 64)), ("two", (200, 100), (100, 200))):
            seen[name] = rg.show(
                flag(), device=device, size=size, update=look(name, other), frames=20, wait=False, title=name
            )
            glfw.set_window_pos(seen[name].canvas._window, 300 * (name == "two"), 0)
            seen[name].canvas.add_event_handler(lambda event, name=name: sizes.append(name), "resize")
        rg.window.run()
        assert {"one", "two"} <= set(sizes), sizes
        assert [one.frames for one in seen.values()] == [20, 20]
        assert device.messages == [], device.messages
        """,
        display,
    )
    # Two wide and one high lies between black bars where the window is high.
    assert sorted(said.splitlines()) == ["one [255, 0, 0] (128, 64)", "two [0, 0, 0] (100, 200)"]


def test_an_edit_is_shown_and_a_wrong_one_is_said_once(device: rg.Device, display: str):
    del device
    said = windows.program(
        """
        import tempfile, pathlib, io, contextlib
        rg.window.POLL = 0.0
        shader = pathlib.Path(tempfile.mkdtemp()) / "flag.wgsl"
        shader.write_text(SHADER)

        def build():
            g = rg.Graph("edited", size=(64, 32))
            g.raster("draw", shader, color=g.image("picture", format="rgba8unorm"))
            g.root("picture")
            return g

        said = io.StringIO()
        def update(number):
            canvas = next(iter(rg.window._OPEN)).canvas
            if number == 3:
                shader.write_text(SHADER.replace("0.0, 1.0, 0.0, 1.0)", "0.0, 0.0, 1.0, 1.0)"))
            if number == 10:
                print(at(canvas, 50, 10))
                shader.write_text("wrong")
            if number == 18:
                print(at(canvas, 50, 10))

        with contextlib.redirect_stderr(said):
            rg.show(build, update=update, frames=20, reload=True)
        print(said.getvalue().count("the last good graph stays"))
        """,
        display,
    )
    assert said.splitlines() == ["[0, 0, 255]", "[0, 0, 255]", "1"]


def test_an_error_of_a_frame_closes_its_window_and_is_raised(device: rg.Device, display: str):
    del device
    said = windows.program(
        """
        def update(number):
            if number == 3:
                raise ValueError("enough")

        try:
            rg.show(flag(), update=update)
        except ValueError as error:
            print(error)
        rg.show(flag(), frames=2)
        print("again")
        """,
        display,
    )
    assert said == "enough\nagain\n"


def test_a_native_window_that_goes_first_is_one_clear_error(device: rg.Device, display: str):
    del device
    said = windows.program(
        """
        import glfw
        glfw.init()
        glfw.window_hint(glfw.CLIENT_API, glfw.NO_API)
        native = glfw.create_window(64, 32, "native", None, None)
        device = rg.Device(windows=True)
        window = device.window(int(glfw.get_x11_window(native)), display=int(glfw.get_x11_display()))
        graph = flag()
        print(window.show(device.run(graph, read=[]), "picture"), window.size, window.color, window.mode)
        window.close()
        window.close()
        try:
            window.show(device.run(graph, read=[]), "picture")
        except rg.DeviceError as error:
            print(error.code, repr(window))
        for words in (dict(platform="x12"), dict(mode="fast"), dict(latency=9), dict()):
            try:
                device.window(**words)
            except (rg.GraphError, ValueError) as error:
                print(str(error).splitlines()[0])
        assert device.messages == [], device.messages
        """,
        display,
    )
    assert said.splitlines() == [
        "shown (64, 32) encoded fifo",
        "RG-E122 <Window closed>",
        'RG-E202 there is no platform called "x12"',
        'RG-E202 there is no present mode called "fast"',
        'platform "x11" needs a window',
        'platform "x11" needs a window',
    ]


def test_without_a_native_window_pictures_are_handed_over(device: rg.Device):
    offscreen = pytest.importorskip("rendercanvas.offscreen")
    g = rg.Graph("half", size=(8, 4))
    light = g.image("light", format="rgba16float")
    g.clear("dim", light, (0.5, 0.0, 0.0, 1.0))
    g.root(light)
    canvas = offscreen.OffscreenRenderCanvas(size=(8, 4), pixel_ratio=1.0)
    viewer = rg.show(g, device=device, canvas=canvas, wait=False)
    picture = np.asarray(canvas.draw())
    assert picture.shape == (4, 8, 4)
    assert picture[0, 0].tolist() == [188, 0, 0, 255]
    assert viewer.window is None
    viewer.close()


@pytest.mark.parametrize("format", ["rgba8unorm", "bgra8unorm", "r8unorm", "rgba16float", "rgba32float", "rgba16unorm"])
def test_a_bitmap_is_what_the_picture_is_saved_as(device: rg.Device, format: str):
    Image = pytest.importorskip("PIL.Image")
    import io

    from rgraph.window import bitmap

    g = rg.Graph("colours", size=(4, 4))
    colours = g.image("colours", format=format)
    g.clear("fill", colours, (0.75, 0.25, 0.5, 1.0))
    g.root(colours)
    array = device.run(g)["colours"]
    saved = np.asarray(Image.open(io.BytesIO(array._repr_png_())).convert("RGBA"))
    found = bitmap(array)
    assert found.dtype == np.uint8
    assert np.abs(found.astype(int) - saved.astype(int)).max() <= 1
