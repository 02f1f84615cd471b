"""The demos, small: what they show, what they leave out, what they say."""

import json
import logging
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import PIL.Image
import pytest

import rgraph as rg
from gpu import alarms
from rgraph import demo
from rgraph.cli import UsageError, main
from rgraph.demo import _meshes, _show, deferred, photo

SIZE = (160, 90)
SHADOW = 256


@pytest.fixture(scope="module")
def graph() -> rg.Graph:
    return deferred.build(SIZE, shadow_texels=SHADOW)


@pytest.fixture
def start(session_device: rg.Device) -> Iterator[Callable[[rg.Graph], deferred.Renderer]]:
    """Makes renderers; no frame of theirs may make the driver or a layer complain."""
    before, plans = len(session_device.messages), []

    def made(graph: rg.Graph) -> deferred.Renderer:
        renderer = deferred.Renderer(session_device, SIZE, shadow_texels=SHADOW, graph=graph)
        plans.append(renderer.compiled.plan)
        return renderer

    yield made
    session_device.wait_idle()
    assert [message for message in session_device.messages[before:] if not alarms.is_false(message, plans)] == []


def test_the_frame_is_a_picture_and_says_its_exposure(start, graph: rg.Graph, caplog):
    renderer = start(graph)
    with caplog.at_level(logging.INFO, logger="rgraph.demo"):
        for _ in range(4):
            frame = renderer.render()
            frame.wait()
    picture = np.asarray(frame["frame"])
    assert picture.shape == (90, 160, 4)
    colours = picture[..., :3].astype(float)
    assert 40 < colours.mean() < 200
    assert colours.std() > 25
    assert (picture[..., 3] == 255).all()
    # A sunset: more red than blue, the sun brighter than all.
    assert colours[..., 0].mean() > colours[..., 2].mean()
    assert colours.max() > 240
    output = [record.getMessage() for record in caplog.records]
    assert [line.split(":")[0] for line in output] == ["frame 1", "frame 2", "frame 3", "frame 4"]
    assert frame.report.pass_us["log"] > 0


def test_accumulated_frames_are_steadier_than_single_ones(start, graph: rg.Graph):
    renderer = start(graph)
    pictures = [np.array(renderer.render()["frame"]).astype(float)[..., :3] for _ in range(12)]
    first = np.abs(pictures[1] - pictures[0]).mean()
    last = np.abs(pictures[11] - pictures[10]).mean()
    assert 0 < last < first / 2


def test_open_work_stays_on_the_graphics_queue_without_measured_weights(graph: rg.Graph):
    plan = graph.bake("discrete")
    assert {planned.queue for planned in plan.passes} == {"graphics", None}
    assert plan.one_queue_us is None


def test_the_debug_view_is_left_out_and_async_work_is_on_its_queue(graph: rg.Graph):
    values = json.loads(graph.to_json())
    for one in values["passes"]:
        if one.get("queue") == "any":
            one["queue"] = "async_compute"
    named = rg.Graph.from_dict(values)
    plan = named.bake("discrete")
    assert list(plan.culled) == ["debug_view"]
    assert plan.check() == []
    assert plan.one_queue_us is not None
    queues = {planned.name: planned.queue for planned in plan.passes}
    beside = ("clusters/cull", "ssao/sample", "ssao/across", "ssao/down")
    assert {queues[name] for name in beside} == {"compute"}
    assert queues["lighting"] == queues["gbuffer"] == "graphics"
    assert queues["log"] is None
    # They run at the same time as the shadows: their inputs are ready before.
    (occlusion,) = (batch for batch in plan.batches if "ssao/sample" in batch.passes)
    awaited = {(wait.queue, wait.value) for wait in occlusion.waits if not wait.previous_run}
    before = [batch.passes for batch in plan.batches if (batch.queue, batch.signal) in awaited]
    assert before
    assert not any(name.startswith("shadow/") for passes in before for name in passes)
    # Light, sky and bubbles are one render pass, the picture and what is drawn upon it another.
    merged = {planned.name: planned.physical_pass for planned in plan.passes}
    assert merged["lighting"] == merged["backdrop"] == merged["transparent"]
    assert merged["tonemap"] == merged["overlay"]


@pytest.mark.parametrize("what", ["depth", "normal", "velocity", "shadow", "shadow.layer2", "sky.mip1", "debug_view"])
def test_any_image_can_be_shown(start, graph: rg.Graph, what: str):
    g = graph.clone()
    shown = _show.add(g, what)
    picture = np.asarray(start(g).render(0.1)[shown.name])
    assert picture.shape[1] >= 160
    assert (picture[..., 3] == 255).all()
    assert picture[..., :3].std() > 2


def test_what_is_not_there_is_refused_with_what_is(graph: rg.Graph):
    g = graph.clone()
    for wrong, message, hint in (
        ("normla", 'no image "normla"', 'did you mean "normal"'),
        ("sky.mip9", "no mip9", "mip0 to mip5"),
        ("depth.layer1", "no layer1", "only layer0"),
    ):
        with pytest.raises(UsageError, match=message) as caught:
            _show.add(g, wrong)
        assert hint in caught.value.hint


def command(*arguments: str) -> int:
    return main(["demo", *arguments])


def test_the_command_writes_picture_plan_and_viewer(session_device: rg.Device, tmp_path, capsys):
    picture = tmp_path / "new" / "frame.png"
    assert command("--size", "160x90", "--frames", "2", "--report", "-o", str(picture)) == 0
    output, errors = capsys.readouterr()
    assert not errors.endswith("\n\n"), "no empty line ends it"
    assert len(output.splitlines()) < 24
    assert "left out  debug_view" in output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in output
    plan = rg.Plan.load(picture.with_suffix(".rplan.json"))
    assert "lighting" in plan.pass_names
    assert "▸ lighting" in picture.with_suffix(".txt").read_text(encoding="utf-8")
    page = picture.with_suffix(".html").read_text(encoding="utf-8")
    assert page.count("data:image/png") > 15
    trace = json.loads(picture.with_suffix(".trace.json").read_text(encoding="utf-8"))
    assert "lighting" in {event["name"] for event in trace["traceEvents"]}


# imageio-ffmpeg leaves the pipes of a film that was read to its end to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_the_command_writes_a_video(session_device: rg.Device, tmp_path):
    film = tmp_path / "film.mp4"
    assert command("--size", "128x72", "--frames", "4", "-o", str(film)) == 0
    reader = imageio_ffmpeg.read_frames(str(film))
    about = next(reader)
    pictures = [np.frombuffer(picture, np.uint8).reshape(72, 128, 3) for picture in reader]
    assert about["size"] == (128, 72)
    assert len(pictures) == 4
    assert min(picture.mean() for picture in pictures) > 30
    assert np.abs(pictures[0].astype(int) - pictures[3]).mean() > 0.2


def test_the_command_develops_photos_and_shows_what_lies_between(session_device: rg.Device, tmp_path, monkeypatch):
    given = tmp_path / "photo.jpg"
    random = np.random.default_rng(1).integers(0, 256, (60, 80, 3), np.uint8)
    PIL.Image.fromarray(random).save(given)
    out = tmp_path / "out.jpg"
    assert command("photo", str(given), "-o", str(out), "--film", "silver", "--grain", "0") == 0
    with PIL.Image.open(out) as picture:
        developed = np.asarray(picture).astype(int)
    assert developed.shape == (60, 80, 3)
    assert np.abs(developed[..., 0] - developed[..., 2]).max() <= 4
    monkeypatch.setenv("RGRAPH_SHOW", "stops.mip1")
    assert command("photo", str(given), "-o", str(tmp_path / "stops.png")) == 0
    with PIL.Image.open(tmp_path / "stops.png") as picture:
        # A mip of 40 texels, enlarged by a whole number.
        assert picture.size == (520, 390)


def test_a_photo_of_half_floats_is_developed_as_one_of_floats(tmp_path: Path):
    values = np.random.default_rng(2).random((24, 32, 3), np.float32).astype(np.float16)
    for name, picture in (("half", values), ("single", values.astype(np.float32))):
        np.save(tmp_path / f"{name}.npy", picture)
        assert command("photo", str(tmp_path / f"{name}.npy"), "-o", str(tmp_path / f"{name}.png")) == 0
    assert (tmp_path / "half.png").read_bytes() == (tmp_path / "single.png").read_bytes()


def test_without_a_device_the_plan_is_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VK_DRIVER_FILES", str(tmp_path / "nothing.json"))
    monkeypatch.setenv("VK_ICD_FILENAMES", str(tmp_path / "nothing.json"))
    picture = tmp_path / "frame.png"
    done = subprocess.run(
        [sys.executable, "-m", "rgraph", "demo", "--size", "160x90", "--report", "-o", str(picture)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 3
    assert "RG-E10" in done.stderr
    assert "help:" in done.stderr
    assert "async" not in done.stderr
    assert not picture.exists()
    plan = rg.Plan.load(picture.with_suffix(".rplan.json"))
    assert {planned.queue for planned in plan.passes} == {"graphics", None}
    assert picture.with_suffix(".html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("photo",), "photo needs a picture"),
        (("fluid", "x.png"), "takes no picture"),
        (("fluid", "--grain", "0.5"), "fluid has no --grain"),
        (("photo", "x.png", "--frames", "3"), "photo has no --frames"),
        (("-o", "x.gif"), "x.gif"),
        (("--size", "12"), "WIDTHxHEIGHT"),
        (("--size", "20x20"), "64 to 16384"),
        (("--frames", "0"), "at least 1"),
        (("deferrd",), "deferred"),
        (("photo", "nothing.png", "-o", "x.png"), "no such file"),
        (("--show", "normla"), 'did you mean "normal"?'),
    ],
)
def test_a_wrong_call_is_refused(arguments: tuple[str, ...], words: str, capsys):
    assert command(*arguments) == 2
    assert words in capsys.readouterr().err


def test_the_list_names_demos_and_images(capsys):
    assert tuple(photo.FILMS) == demo.FILMS
    assert command("--list") == 0
    output = capsys.readouterr().out
    for words in ("deferred", "photo", "fluid", "occlusion_smooth", "pressure", "remapped"):
        assert words in output


def test_the_example_is_short_and_renders(session_device: rg.Device, root: Path, tmp_path):
    example = root / "examples" / "deferred.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) < 60
    picture = tmp_path / "small.png"
    done = subprocess.run(
        [sys.executable, str(example), "96x64", str(picture)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.match(r"\d+ passes in \d+ batches on [23] queues\nmemory \d+ MiB", done.stdout)
    with PIL.Image.open(picture) as image:
        assert image.size == (96, 64)


def test_packages_that_are_missing_are_named_before_anything_is_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert command("-o", str(tmp_path / "film.mp4"), "--device", "name:nobody") == 2
    output = capsys.readouterr().err
    assert "imageio_ffmpeg is not installed" in output
    assert 'pip install "rgraph-vulkan[video]"' in output


@pytest.mark.parametrize(
    ("mesh", "height"),
    [
        (_meshes.sphere(12, 6), None),
        (_meshes.torus(0.3, 12, 6), None),
        (_meshes.knot(2, 3, 0.2, 60, 6), None),
        (_meshes.box(0.1), None),
        (_meshes.drum(), 0.0),
        (_meshes.column(), 0.0),
    ],
    ids=["sphere", "torus", "knot", "box", "drum", "column"],
)
def test_meshes_have_no_holes(mesh: _meshes.Mesh, height: float | None):
    edges: Counter = Counter()
    places = [tuple(round(axis, 5) + 0.0 for axis in position) for position in mesh.positions]
    for at in range(0, len(mesh.indices), 3):
        corners = [places[index] for index in mesh.indices[at : at + 3]]
        if len(set(corners)) == 3:
            edges.update(zip(corners, corners[1:] + corners[:1], strict=True))
    # Each edge is passed both ways; only what stands on the ground may be open below.
    single = [edge for edge, count in edges.items() if edges[edge[::-1]] != count]
    assert all(height is not None and start[1] == end[1] == height for start, end in single)
    assert len(edges) > 100


def test_the_graph_file_is_the_frame_without_its_functions(root: Path, tmp_path):
    folder = root / "examples" / "deferred"
    built = deferred.build()
    with pytest.raises(rg.GraphError, match='"overlay" is a function'):
        built.save(tmp_path / "frame.rgraph.json")
    # After a change of the demo: save it like this into examples/deferred.
    built.save(tmp_path / "frame.rgraph.json", callbacks="skip")
    np.save(tmp_path / "constants.npy", np.frombuffer(deferred.constants(0, (1280, 720)), np.float32))
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    floats = ("constants", "vertices", "instances", "lights", "bubbles")
    for name in names:
        if name.endswith(".npy"):
            kind = np.float32 if any(word in name for word in floats) else np.uint32
            ours, theirs = (np.load(place / name).view(kind) for place in (tmp_path, folder))
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
        else:
            assert (tmp_path / name).read_text(encoding="utf-8") == (folder / name).read_text(encoding="utf-8")
    assert rg.Graph.load(folder / "frame.rgraph.json").bake("discrete") == built.bake("discrete")


def test_the_graph_file_renders(session_device: rg.Device, root: Path, tmp_path):
    folder, picture = root / "examples" / "deferred", tmp_path / "frame.png"
    given = ("--input", f"constants={folder / 'constants.npy'}", "--output", f"frame={picture}")
    assert main(["run", str(folder / "frame.rgraph.json"), *given]) == 0
    with PIL.Image.open(picture) as image:
        colours = np.asarray(image.convert("RGB")).astype(float)
    assert colours.shape == (720, 1280, 3)
    assert 40 < colours.mean() < 200
    assert colours.std() > 25
