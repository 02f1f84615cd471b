"""Chaos runs: what a graph does not declare is found and named, and what declares all comes out equal."""

import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from gpu import alarms
from rgraph.demo import deferred, fluid, photo

ROOT = Path(__file__).resolve().parents[2]

COPY = """
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x]; }
"""

SET = """
struct Params { word: u32 }
var<immediate> params: Params;
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = params.word; }
"""

ADD_ONE = """
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3<u32>) { words[id.x] += 1u; }
"""


def fill(byte: int, name: str) -> Callable[[dict[str, memoryview]], None]:
    """A function that fills a buffer of 64 bytes."""

    def function(views: dict[str, memoryview]) -> None:
        views[name][:] = bytes([byte]) * 64

    return function


def found(device: rg.Device, g: rg.Graph, **options: int) -> rg.ChaosFinding:
    """The only finding."""
    report = device.chaos(g, **options)
    assert len(report.findings) == 1, str(report)
    return report.findings[0]


def test_a_graph_that_declares_all_gives_the_frame(device: rg.Device):
    g = rg.Graph()
    src = g.import_array("src", np.arange(16, dtype=np.uint32), as_buffer=True)
    a, b, c = (g.buffer(name, 64) for name in "abc")
    g.compute("before", COPY, src=src, dst=a)
    g.cpu("plain", fill(7, "b"), writes=b)
    g.compute("after", COPY, src=a, dst=c)
    g.root(b, c)
    frame = device.run(g, chaos=3)
    np.testing.assert_array_equal(np.asarray(frame["c"]).view(np.uint32), np.arange(16))
    report = device.chaos(g, seeds=3)
    assert report.findings == ()
    assert {trial.differs for trial in report.trials} == {None}
    assert str(report).endswith("trials equal to the reference")


@pytest.mark.parametrize("ordered", [False, True])
def test_order_that_functions_hide_is_found(device: rg.Device, ordered: bool):
    g = rg.Graph()
    state = {"gain": 1}

    def noon(views: dict[str, memoryview]) -> None:
        state["gain"] = 2
        views["sky"][:] = bytes(64)

    def shine(views: dict[str, memoryview]) -> None:
        views["sun"][:] = bytes([state["gain"]]) * 64

    def dusk(views: dict[str, memoryview]) -> None:
        state["gain"] = 3
        views["moon"][:] = bytes(64)

    before = None
    for name, function in (("sky", noon), ("sun", shine), ("moon", dusk)):
        buffer = g.buffer(name, 64)
        order = {"after": before} if ordered and before else {}
        before = g.cpu(function.__name__, function, writes=buffer, **order)
        g.root(buffer)
    if ordered:
        assert device.chaos(g, seeds=8).findings == ()
        return
    with pytest.raises(rg.GraphError, match="nothing declares that order") as caught:
        device.run(g, chaos=1)
    error = caught.value
    assert error.code == "RG-E226"
    other = error.mistakes[0].sides[1].name
    assert "shine" in {error.pass_name, other} <= {"shine", "noon", "dusk"}
    assert f'after="{other}"' in error.hint


def test_array_that_functions_share_and_keep_is_found(device: rg.Device):
    g = rg.Graph()
    kept = np.zeros(64, np.uint8)
    plain, total, out = (g.buffer(name, 64) for name in ("plain", "total", "out"))

    def add(views: dict[str, memoryview]) -> None:
        kept[:] += 1
        views["total"][:] = kept.tobytes()

    g.cpu("plain", fill(1, "plain"), writes=plain)
    g.cpu("add", add, reads=plain, writes=total)
    g.compute("show", COPY, src=total, dst=out)
    g.root(out)
    finding = found(device, g)
    assert (finding.change, finding.pass_name, finding.resource) == ("again", "add", "total")


def test_pass_that_leaves_a_part_unwritten_is_found(device: rg.Device):
    g = rg.Graph()
    words, out = g.buffer("words", 64), g.buffer("out", 64)

    def head(views: dict[str, memoryview]) -> None:
        views["words"][:32] = bytes(32)

    g.cpu("head", head, writes=words)
    g.compute("show", COPY, src=words, dst=out)
    g.root(out)
    finding = found(device, g)
    assert (finding.change, finding.pass_name, finding.other, finding.resource) == ("poison", "show", "head", "words")


def test_culled_function_with_an_effect_outside_is_found(device: rg.Device):
    g = rg.Graph()
    table = {"word": 0}
    lost, out = g.buffer("lost", 64), g.buffer("out", 64)

    def prepare(views: dict[str, memoryview]) -> None:
        table["word"] = 5
        views["lost"][:] = bytes(64)

    def use(views: dict[str, memoryview]) -> None:
        views["out"][:] = bytes([table.get("word", 0)]) * 64
        table["word"] = 0

    prepared = g.cpu("prepare", prepare, writes=lost)
    g.cpu("use", use, writes=out, after=prepared)
    g.root(out)
    finding = found(device, g)
    assert (finding.change, finding.pass_name, finding.resource) == ("culling", "prepare", "out")


def test_recording_that_depends_on_what_another_recorded_is_found(device: rg.Device):
    g = rg.Graph()
    state = {"word": 1}
    first, second, third = (g.buffer(name, 64) for name in ("first", "second", "third"))

    def record(buffer: rg.Buffer, word: int) -> Callable[[rg.Commands], None]:
        def function(commands: rg.Commands) -> None:
            commands.dispatch(SET, dst=buffer, push={"word": state["word"]})
            state["word"] = word

        return function

    for buffer, word in ((first, 2), (second, 3), (third, 1)):
        g.callback(f"fill {buffer.name}", record(buffer, word), writes=buffer, queue="compute")
    g.root(first, second, third)
    finding = found(device, g, seeds=8)
    assert finding.change == "order"
    assert {finding.pass_name, finding.other} <= {"fill first", "fill second", "fill third"}


def test_devices_resources_and_state_are_not_changed(device: rg.Device):
    g = rg.Graph()
    count = g.buffer("count", 64, persistent=True)
    out = g.buffer("out", 64)
    g.compute("add", ADD_ONE, words=count)
    g.compute("show", COPY, src=count, dst=out)
    g.root(out)
    for number in (1, 2, 3):
        frame = device.run(g, chaos=number)
        assert set(np.asarray(frame["out"]).view(np.uint32)) == {number}


def test_what_a_function_raises_in_a_chaos_run_arrives(device: rg.Device):
    g = rg.Graph()
    a = g.buffer("a", 64)

    def function(views: dict[str, memoryview]) -> None:
        raise LookupError(len(views))

    g.cpu("function", function, writes=a)
    g.root(a)
    with pytest.raises(LookupError):
        device.run(g, chaos=1)


class Chaotic:
    """A device that runs each graph in other ways before it runs it, and keeps what was found."""

    def __init__(self, device: rg.Device, graph: object = None) -> None:
        self.device, self.graph, self.findings = device, graph, []

    def __getattr__(self, name: str) -> object:
        return getattr(self.device if self.graph is None else self.graph, name)

    def compile(self, graph: object, **options: object) -> "Chaotic":
        made = Chaotic(self.device, self.device.compile(graph, **options))
        made.findings = self.findings
        return made

    def run(self, *graph: object, **options: object) -> rg.Frame:
        (of,) = graph or (self.graph,)
        of = of.graph if isinstance(of, Chaotic) else of
        given = {name: options[name] for name in ("inputs", "flags", "params") if name in options}
        self.findings += self.device.chaos(of, **given).findings
        return self.device.run(of, **options)

    def __enter__(self) -> "Chaotic":
        return self

    def __exit__(self, *error: object) -> None:
        pass


ON_A_DEVICE = sorted(path for path in (ROOT / "examples").glob("[0-9]*.py") if "Device(" in path.read_text())


@pytest.mark.parametrize("path", ON_A_DEVICE, ids=[path.stem for path in ON_A_DEVICE])
def test_example_comes_out_equal(
    device: rg.Device, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    chaotic = Chaotic(device)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(path)])
    monkeypatch.setattr(rg, "Device", lambda *_, **__: chaotic)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    assert [str(one) for one in chaotic.findings] == []


def test_frames_of_the_demo_come_out_equal(session_device: rg.Device):
    before = len(session_device.messages)
    renderer = deferred.Renderer(Chaotic(session_device), (96, 64), shadow_texels=128)
    renderer.render().wait()
    assert [str(one) for one in renderer.compiled.findings] == []
    plans = [renderer.compiled.plan]
    assert [one for one in session_device.messages[before:] if not alarms.is_false(one, plans)] == []


@pytest.mark.parametrize("name", ["fluid", "photo"])
def test_other_demos_come_out_equal(device: rg.Device, name: str):
    noise = np.random.default_rng(1).integers(0, 255, (48, 64, 3), np.uint8)
    g = fluid.build((96, 64), iterations=4) if name == "fluid" else photo.build(noise)
    report = device.chaos(g)
    assert report.findings == (), str(report)
    assert report.notes == ()
