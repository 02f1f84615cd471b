"""Windows in Python: real ones on an X server without a screen, and pictures where there are none."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from gpu import windows
from rgraph import window


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    windows.skip_without_windows()
    with windows.server() as name:
        yield name


def test_a_graph_is_shown_in_three_lines(device: rg.Device, display: str):
    del device
    output = windows.program(
        """
        def look(number):
            # The server shows a picture some time after it was presented.
            canvas = next(iter(rg.window._OPEN)).canvas
            if at(canvas, 10, 10) == [255, 0, 0] and at(canvas, 50, 10) == [0, 255, 0]:
                print(canvas.get_physical_size())
                canvas.close()

        shown = rg.show(flag(), update=look)
        assert shown.frames > 0 and shown.closed and shown.window.closed, shown.frames
        assert rg.show(flag(), device=shown.device, frames=12).frames == 12
        assert shown.device.messages == [], shown.device.messages
        """,
        display,
    )
    assert output == "(64, 32)\n"


def test_several_windows_follow_their_sizes_and_events(device: rg.Device, display: str):
    del device
    output = windows.program(
        """
        import glfw
        device = rg.Device(windows=True)
        sizes, seen = [], {}

        def look(name, other, colour):
            def update(number):
                viewer = seen[name]
                if number == 4:
                    viewer.canvas.set_logical_size(*other)
                if number > 4 and viewer.window.size == other and at(viewer.canvas, 2, 2) == colour:
                    print(name, viewer.window.size)
                    viewer.close()
            return update

        # Two wide and one high lies between black bars where the window is high.
        for name, size, other, colour in (
            ("one", (64, 32), (128, 64), [255, 0, 0]),
            ("two", (200, 100), (100, 200), [0, 0, 0]),
        ):
            update = look(name, other, colour)
            seen[name] = rg.show(flag(), device=device, size=size, update=update, wait=False, title=name)
            glfw.set_window_pos(seen[name].canvas._window, 300 * (name == "two"), 0)
            seen[name].canvas.add_event_handler(lambda event, name=name: sizes.append(name), "resize")
        rg.window.run()
        assert {"one", "two"} <= set(sizes), sizes
        assert all(one.closed and one.window.closed for one in seen.values())
        assert device.messages == [], device.messages
        """,
        display,
    )
    assert sorted(output.splitlines()) == ["one (128, 64)", "two (100, 200)"]


EDITED = """
import contextlib, io, pathlib, tempfile
rg.window.POLL = 0.0
shader = pathlib.Path(tempfile.mkdtemp()) / "flag.wgsl"
shader.write_text(SHADER)

def write(of):
    shader.write_text(SHADER.replace("0.0, 1.0, 0.0, 1.0)", of))

def build():
    g = rg.Graph("edited", size=(64, 32))
    g.raster("draw", shader, color=g.image("picture", format="rgba8unorm"))
    g.root("picture")
    return g

def steps(*each):
    # One is tried before each frame; it says whether it is done.
    left = list(each)
    def update(number):
        canvas = next(iter(rg.window._OPEN)).canvas
        if not left:
            canvas.close()
        elif left[0](canvas):
            del left[0]
    return update
"""


def test_an_edit_is_shown_and_a_wrong_one_is_said_once(device: rg.Device, display: str):
    del device
    output = windows.program(
        EDITED
        + """
more, printed_by = [], io.StringIO()
wrong = lambda: printed_by.getvalue().count("the last good graph stays")
update = steps(
    lambda canvas: at(canvas, 50, 10) == [0, 255, 0],
    lambda canvas: not write("0.0, 0.0, 1.0, 1.0)"),
    lambda canvas: at(canvas, 50, 10) == [0, 0, 255],
    lambda canvas: not write("wrong"),
    # Frames go on, and the same mistake is not printed again.
    lambda canvas: wrong() and (more.append(at(canvas, 50, 10)) or len(more) == 5),
    lambda canvas: not write("1.0, 0.0, 1.0, 1.0)"),
    lambda canvas: at(canvas, 50, 10) == [255, 0, 255],
)
with contextlib.redirect_stderr(printed_by):
    rg.show(build, update=update, reload=True)
print(more, wrong())
""",
        display,
    )
    assert output == f"{[[0, 0, 255]] * 5} 1\n"


COUNT = """
@group(0) @binding(0) var<storage, read_write> count: array<u32>;
@compute @workgroup_size(1) fn main() { count[0] += 1u; }"""


def edited(monkeypatch: pytest.MonkeyPatch, folder: Path) -> tuple[Path, Callable[[rg.Graph], None]]:
    """A shader that counts, which is watched without a pause, and its pass."""
    monkeypatch.setattr(window, "POLL", 0.0)
    monkeypatch.setattr(window, "SETTLED", 0.0)
    shader = folder / "count.wgsl"
    shader.write_text(COUNT)

    def counting(g: rg.Graph) -> None:
        g.compute("count", shader, groups=1, count=g.buffer("count", 16, persistent=True))
        g.root("count")

    return shader, counting


def test_an_edit_keeps_what_lives_from_frame_to_frame(
    device: rg.Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    shader, counting = edited(monkeypatch, tmp_path)

    def build() -> rg.Graph:
        g = rg.Graph("edited")
        counting(g)
        return g

    graphs = window._Graphs(device, build, "count", True)

    def count() -> int:
        graphs.renewed()
        return int(np.asarray(graphs.run(True, {})["count"]).view(np.uint32).ravel()[0])

    assert [count(), count()] == [1, 2]
    shader.write_text(COUNT.replace("+= 1u", "+= 10u"))
    assert [count(), count()] == [12, 22]
    shader.write_text("wrong")
    assert [count(), count()] == [32, 42]
    shader.write_text(COUNT.replace("+= 1u", "+= 100u"))
    assert [count(), count()] == [142, 242]


def test_an_edit_that_does_not_run_leaves_the_last_good_graph(
    device: rg.Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    shader, counting = edited(monkeypatch, tmp_path)
    declared = {"import": "src", "root": "other"}

    def build() -> rg.Graph:
        g = rg.Graph("edited", size=(4, 4))
        counting(g)
        other = g.image(declared["root"], format="rgba8unorm")
        g.copy("copy", g.import_image(declared["import"], (4, 4), "rgba8unorm"), other)
        g.root(other)
        return g

    graphs = window._Graphs(device, build, "other", True)
    inputs = {"inputs": {"src": np.full((4, 4, 4), 7, np.uint8)}}

    def printed_by(**edit: str) -> str:
        """What an edit prints, in two frames that it leaves alone."""
        declared.update(edit)
        shader.write_text(COUNT + "\n" * len(str(declared)))
        for _ in range(2):
            graphs.renewed()
            assert (np.asarray(graphs.run(True, inputs)["other"]) == 7).all()
        return capsys.readouterr().err

    assert printed_by() == ""
    output = printed_by(**{"import": "elsewhere"})
    assert 'called "src"' in output
    assert output.count("the last good graph stays") == 1
    output = printed_by(**{"import": "src", "root": "gone"})
    assert output.startswith('RG-E202 graph "edited" has no root called "other"\n')
    assert output.endswith("\n  help: there is count, gone\n  the last good graph stays\n")
    declared["root"] = "other"
    assert printed_by(**{"import": "src"}) == ""
    frame = graphs.compiled.run(**inputs, read=["count"])
    assert int(np.asarray(frame["count"]).view(np.uint32).ravel()[0]) == 9


def test_an_error_of_a_frame_closes_its_window_and_is_raised(device: rg.Device, display: str):
    del device
    output = windows.program(
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
    assert output == "enough\nagain\n"


def test_a_native_window_that_goes_first_is_one_clear_error(device: rg.Device, display: str):
    del device
    output = windows.program(
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
    assert output.splitlines() == [
        "shown (64, 32) encoded fifo",
        "RG-E122 <Window closed>",
        'RG-E202 there is no platform called "x12"',
        'RG-E202 there is no present mode called "fast"',
        'RG-E213 platform "x11" needs a window, and the number given is 0',
        'RG-E213 platform "x11" needs a window, and the number given is 0',
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
