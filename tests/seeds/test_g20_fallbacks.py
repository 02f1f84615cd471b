"""G20: what reads the output of a pass that is off gets its input, whatever kind of read it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE
from seeds.interposed import Interposer
from seeds.test_g03_memory_domain import DISCRETE

#: What the first pass writes; the conditional one writes twice as much.
ONE, TWO = 3, 6
READERS: dict[str, Callable[[rg.Graph, rg.Buffer], None]] = {}
FLAT = """
@group(0) @binding(0) var<uniform> color: vec4<f32>;
@vertex fn vs(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.5, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return color; }
"""
COUNT = """
@group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>>;
@compute @workgroup_size(1) fn main() { atomicAdd(&out[0], 1u); }
"""
POINT = """
struct Out { @builtin(position) place: vec4<f32>, @location(0) @interpolate(flat) value: u32 }
@vertex fn vs(@builtin(vertex_index) at: u32, @location(0) value: u32) -> Out {
    return Out(vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.5, 1.0), value);
}
@fragment fn fs(in: Out) -> @location(0) vec4<u32> { return vec4<u32>(in.value); }
"""
CORNER = POINT.replace("@location(0) value: u32)", "@builtin(instance_index) value: u32)").replace("at &", "at % 3u &")
CORNER = CORNER.replace("at >> 1u", "(at % 3u) >> 1u").replace("at % 3u & 1u", "(at % 3u) & 1u")


def reader(declare: Callable[[rg.Graph, rg.Buffer], None]) -> Callable[[rg.Graph, rg.Buffer], None]:
    READERS[declare.__name__] = declare
    return declare


@reader
def copied(g: rg.Graph, better: rg.Buffer) -> None:
    g.copy("read", better, "out")


@reader
def copied_in_part(g: rg.Graph, better: rg.Buffer) -> None:
    g.fill("zero", "out", 0)
    g.copy("read", better[0:32], g.find("out")[0:32])


@reader
def copied_by_a_callback(g: rg.Graph, better: rg.Buffer) -> None:
    g.callback(
        "read",
        lambda commands: commands.copy(better, "out"),
        reads={better: "transfer_src"},
        writes={"out": "transfer_dst"},
    )


@reader
def stored(g: rg.Graph, better: rg.Buffer) -> None:
    g.compute("read", SCALE, src=better, dst="out", params={"factor": 1, "offset": 0})


@reader
def on_the_cpu(g: rg.Graph, better: rg.Buffer) -> None:
    def work(views: dict[str, memoryview]) -> None:
        np.frombuffer(views["out"], np.uint32)[:] = np.frombuffer(views["better"], np.uint32)

    g.cpu("read", work, reads=better, writes="out")


@reader
def dispatched(g: rg.Graph, better: rg.Buffer) -> None:
    """3 or 6 workgroups by three axes: the numbers are equal, so 27 or 216 add one each."""
    g.fill("zero", "out", 0)
    g.compute("read", COUNT, out="out", groups=better)


def drawn(g: rg.Graph, **how: object) -> None:
    image = g.image("image", (4, 4), "r32uint")
    g.raster("read", color=image, clear=(0, 0, 0, 0), **how)
    g.copy("show", image, "out")


@reader
def vertices(g: rg.Graph, better: rg.Buffer) -> None:
    drawn(g, shader=POINT, vertices=3, vertex_buffers=[{"buffer": better, "attributes": ["value"], "stride": 4}])


@reader
def drawn_as_often(g: rg.Graph, better: rg.Buffer) -> None:
    """As many vertices as instances: the last instance's number stays."""
    drawn(g, shader=CORNER, indirect=better, draws=1)


WANTED = {
    "copied_in_part": lambda value: [value] * 8 + [0] * 8,
    "dispatched": lambda value: [value**3] + [0] * 15,
    "drawn_as_often": lambda value: [2 * value - 1] * 16,
}


def read_by(name: str) -> rg.Graph:
    g = rg.Graph("fallback")
    src = g.import_buffer("src", 64)
    plain, better, out = (g.buffer(name, 64) for name in ("plain", "better", "out"))
    g.compute("plain", SCALE, src=src, dst=plain, params={"factor": 1, "offset": 0})
    twice = {"factor": 2, "offset": 0}
    g.compute("better", SCALE, src=plain, dst=better, params=twice, conditional="on", fallback={better: plain})
    READERS[name](g, better)
    g.root(out)
    return g


def switched(device: rg.Device, name: str) -> None:
    g = read_by(name)
    assert g.bake(device.profile).check(g) == []
    compiled = device.compile(g)
    for on in (True, False, False, True, False):
        frame = compiled.run(inputs={"src": np.full(16, ONE, np.uint32)}, flags={"on": on})
        value = TWO if on else ONE
        want = WANTED.get(name, lambda value: [value] * 16)(value)
        assert np.array(frame["out"]).view(np.uint32).tolist() == want, on


@pytest.mark.parametrize("name", READERS)
def test_g20_buffers_are_read_through_the_fallback(device: rg.Device, name: str) -> None:
    switched(device, name)


@pytest.mark.parametrize("name", ["on_the_cpu", "copied", "vertices"])
def test_g20_what_stands_in_lies_where_its_reader_can_see_it(interposer: Interposer, name: str) -> None:
    with interposer.device(DISCRETE) as device:
        switched(device, name)


IMAGES: dict[str, Callable[[rg.Graph, rg.Image, rg.Image], object]] = {
    "copied": lambda g, better, out: g.copy("read", better, out),
    "blitted": lambda g, better, out: g.blit("read", better, out, filter="nearest"),
    "through a buffer": lambda g, better, out: (
        g.copy("read", better, g.buffer("between", 1024)),
        g.copy("show", g.find("between"), out),
    ),
    "in part": lambda g, better, out: (g.clear("zero", out, (0, 0, 0, 0)), g.copy("read", better, out)),
    "beside a shader": lambda g, better, out: g.callback(
        "read",
        lambda commands: commands.copy(better, out),
        reads={better: "transfer_src"},
        writes={out: "transfer_dst"},
    ),
}


@pytest.mark.parametrize("chain", [1, 2])
@pytest.mark.parametrize("name", IMAGES)
def test_g20_images_are_copied_through_the_fallback(device: rg.Device, name: str, chain: int) -> None:
    g = rg.Graph("fallback", size=(16, 16))
    image = g.image("image 0", format="rgba8unorm")
    g.raster("draw 0", FLAT, color=image, clear=(0, 0, 0, 0), bindings={"color": (0.2, 0, 0, 1)})
    for at in range(1, chain + 1):
        better = g.image(f"image {at}", format="rgba8unorm")
        color = {"bindings": {"color": (0.2 * (at + 1), 0, 0, 1)}}
        g.raster(
            f"draw {at}",
            FLAT,
            color=better,
            clear=(0, 0, 0, 0),
            conditional=f"flag {at}",
            fallback={better: image},
            **color,
        )
        image = better
    out = g.image("out", format="rgba8unorm")
    IMAGES[name](g, image, out)
    g.root(out)
    assert g.bake(device.profile).check(g) == []
    compiled = device.compile(g)
    for turn in range(8):
        flags = {f"flag {at}": bool(turn >> at - 1 & 1) for at in range(1, chain + 1)}
        shown = max([0] + [at for at in range(1, chain + 1) if flags[f"flag {at}"]])
        got = np.array(compiled.run(flags=flags)["out"])
        assert (got[..., 0] == 51 * (shown + 1)).all(), flags


def shown(root: str) -> rg.Graph:
    """A root that a pass writes only while its flag is on, or a copy of it."""
    g = rg.Graph("shown")
    src, better, out = g.import_buffer("src", 64), g.buffer("better", 64), g.buffer("out", 64)
    twice = {"factor": 2, "offset": 0}
    g.compute("better", SCALE, src=src, dst=better, params=twice, conditional="on", fallback={better: src})
    g.copy("copy", better, out)
    g.root(root)
    return g


def test_g20_a_root_without_contents_is_noted_and_its_copy_has_them(device: rg.Device) -> None:
    note = 'while flag "on" is off, root "better" has no contents'
    assert [one for one in shown("better").bake().notes if note in one]
    g = shown("out")
    assert not [one for one in g.bake().notes if "no contents" in one]
    compiled = device.compile(g)
    for on in (True, False, True, False):
        got = compiled.run(inputs={"src": np.full(16, ONE, np.uint32)}, flags={"on": on})["out"]
        assert np.array(got).view(np.uint32).tolist() == [TWO if on else ONE] * 16


def test_g20_what_modifies_its_fallback_keeps_contents() -> None:
    g = rg.Graph("kept")
    src, plain = g.import_buffer("src", 64), g.buffer("plain", 64)
    g.copy("copy", src, plain)
    better = g.buffer("better", 64, modifies=plain)
    add = SCALE.replace("dst[id.x] =", "dst[id.x] +=")
    once = {"factor": 1, "offset": 0}
    g.compute("add", add, src=src, dst=better, params=once, conditional="on", fallback={better: plain})
    g.root(better)
    assert not [one for one in g.bake().notes if "no contents" in one]


def test_g20_captures_are_equal_where_a_root_had_no_contents(device: rg.Device, tmp_path: Path) -> None:
    """W15: garbage is not compared; what the flag switches on is."""
    g = shown("better")
    compiled = device.compile(g)
    path = tmp_path / "roots.rcapture"
    with compiled.capture(path, frames=4):
        for at, on in enumerate((False, True, False, True)):
            compiled.run(inputs={"src": np.full(16, at + 5, np.uint32)}, flags={"on": on}).wait()
    report = device.replay(path)
    assert report.equal, report.text
    assert "128 bytes compared" in report.text


def test_a_note_of_the_plan_is_in_the_report_once(device: rg.Device):
    g = rg.Graph("empty root")
    plain, better = g.buffer("plain", 64), g.buffer("better", 64)
    g.fill("one", plain, ONE)
    g.fill("two", better, TWO, conditional="on", fallback={better: plain})
    copy = g.buffer("copy", 64)
    g.copy("read", better, copy)
    g.root(better, copy)
    compiled = device.compile(g)
    for on in (False, True):
        notes = compiled.run(flags={"on": on}).report.notes
        assert sum("its fallback is for passes" in note for note in notes) == 1, notes
        assert len(notes) == len(set(notes))
