"""Every row of the designs, asked for what cannot be: one clear error with a code and a way out, and nothing breaks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE
from rgraph._core import generate
from rgraph.importers import slangp

ROOT = Path(__file__).parents[2]
FLAT = """
@group(0) @binding(0) var<uniform> color: vec4<f32>;
@fragment fn main() -> @location(0) vec4<f32> { return color; }
"""
HOSTILE: dict[str, tuple[str, Callable[[rg.Device], object]]] = {}


def hostile(row: str, code: str) -> Callable[[Callable[[rg.Device], object]], Callable[[rg.Device], object]]:
    """What is asked for a row, and the code of the answer."""

    def note(ask: Callable[[rg.Device], object]) -> Callable[[rg.Device], object]:
        assert row not in HOSTILE
        HOSTILE[row] = (code, ask)
        return ask

    return note


def small(**options: Any) -> rg.Graph:
    """A buffer that a pass writes."""
    g = rg.Graph("small", size=(8, 8))
    g.add_pass("write", queue="compute", **options).storage_write(g.buffer("out", 64))
    g.root("out")
    return g


def filled() -> rg.Graph:
    g = rg.Graph("filled")
    g.fill("fill", g.buffer("out", 64), 1)
    g.root("out")
    return g


def picture(g: rg.Graph, name: str, **how: Any) -> rg.Image:
    return g.image(name, format="rgba8unorm", **how)


def edited(change: Callable[[dict[str, Any]], object]) -> rg.Plan:
    """A plan of `small`, changed by hand."""
    data = small().bake("single_queue").to_dict()
    change(data)
    return rg.Plan.from_json(json.dumps(data))


@hostile("I1", "RG-E201")
def _(device):
    g = small()
    g.add_pass("write", queue="compute").storage_write("out")
    g.bake()


@hostile("I2", "RG-E211")
def _(device):
    g = rg.Graph(size=(8, 8))
    g.add_pass("draw", queue="transfer").color(picture(g, "out"))
    g.root("out")
    g.bake("discrete")


@hostile("I3", "RG-E217")
def _(device):
    g = small()
    g.callback("stray", lambda commands: commands.fill("hidden", 1), writes={g.buffer("seen", 64): "transfer_dst"})
    g.buffer("hidden", 64)
    g.root("seen")
    device.run(g)


@hostile("I4", "RG-E214")
def _(device):
    g = rg.Graph()
    g.add_pass("write", queue="compute").storage_write(g.buffer("out", 64))
    g.bake()


@hostile("I5", "RG-E204")
def _(device):
    g = small()
    g.add_pass("one", queue="compute", after=["two"]).storage_read_write("out")
    g.add_pass("two", queue="compute", after=["one"]).storage_read_write("out")
    g.bake()


@hostile("I6", "RG-E202")
def _(device):
    g = small()
    g.root("nobody")
    g.bake()


@hostile("I7", "RG-E202")
def _(device):
    small().bake().explain("nobody")


@hostile("I8", "RG-E211")
def _(device):
    g = rg.Graph(size=(8, 8))
    g.add_pass("draw", queue="async_compute").color(picture(g, "out"))
    g.root("out")
    g.bake("discrete")


@hostile("M1", "RG-E213")
def _(device):
    device.borrow_resource("lent", 0, 64)


@hostile("M2", "RG-E225")
def _(device):
    device.buffer("own", 64).set_state(queue=99)


@hostile("M3", "RG-E211")
def _(device):
    g = small()
    g.import_buffer("in", 64, queue="any")
    g.add_pass("read", queue="compute").storage_read("in").storage_read_write("out")
    g.bake("discrete")


@hostile("M4", "RG-E210")
def _(device):
    g = small()
    g.find("out")
    g.buffer("other", modifies="out", sharing="exclusive")
    g.buffer("third", modifies="other", sharing="concurrent")
    g.add_pass("change", queue="compute").storage_read_write("other")
    g.add_pass("again", queue="compute").storage_read_write("third")
    g.root("third")
    g.bake()


@hostile("M5", "RG-E107")
def _(device):
    device.window(1, platform="headless")


@hostile("M6", "RG-E213")
def _(device):
    rg.Device(frames_in_flight=99)


@hostile("M7", "RG-E403")
def _(device):
    g = rg.Graph("kept")
    kept = g.buffer("kept", 64, persistent=True)
    g.fill("fill", kept, 1)
    g.root(kept)
    first = device.compile(g)
    device.compile(g, previous=first).run()
    first.run()


@hostile("T1", "RG-E202")
def _(device):
    small(setup=lambda one: one.storage_read("nobody")).bake()


@hostile("T2", "RG-E213")
def _(device):
    g = small(setup=lambda one: g.buffer("made", -1))
    g.bake()


@hostile("T3", "RG-E218")
def _(device):
    g = small()
    g.cpu("host", lambda views: None, reads=picture(g, "image"), writes="out")
    g.bake()


@hostile("T4", "RG-E212")
def _(device):
    small(device=7).bake()


@hostile("T5", "RG-E201")
def _(device):
    g = small()
    g.module("part").buffer("own", 64)
    g.module("part").buffer("own", 64)


@hostile("T6", "RG-E202")
def _(device):
    rg.Graph().layer("nobody")


@hostile("T7", "RG-E203")
def _(device):
    g = small()
    g.add_pass("read", queue="compute").storage_read(g.buffer("never", 64)).storage_read_write("out")
    g.bake()


@hostile("T8", "RG-E222")
def _(device):
    edited(lambda data: data.update(sets=[{"on": "cpu", "passes": [99]}]))


@hostile("T9", "RG-E213")
def _(device):
    g = rg.Graph()
    out = g.buffer("out", 256)
    src = g.import_array("src", np.zeros(64, np.uint32), as_buffer=True)
    g.compute("scale", SCALE, src=src, dst=out, params={"factor": 1, "offset": 0}, key=-1)


@hostile("T10", "RG-E222")
def _(device):
    rg.Graph.from_json('{"rgraph": 1, "passes": [{"include": "other.rgraph.json"}]}')


@hostile("T11", "RG-E201")
def _(device):
    g = rg.Graph("layers", size=(8, 8))
    for _ in range(2):
        g.layer("opaque", color=picture(g, f"out{_}"), order=1)


@hostile("S1", "RG-E213")
def _(device):
    small().bake(memory=-1)


@hostile("S2", "RG-E202")
def _(device):
    small().find("out").graph.add_pass("read", queue="compute").storage_read("out", stages=["fragmnet_shader"])


@hostile("S3", "RG-E214")
def _(device):
    rg.Graph().box_tree()


@hostile("S4", "RG-E213")
def _(device):
    small().bake(weights={"write": float("nan")})


@hostile("S5", "RG-E213")
def _(device):
    small(unit="tensor", weight_us=-1).bake()


@hostile("G1", "RG-E101")
def _(device):
    rg.Device(loader="/no/such/loader.so")


@hostile("G2", "RG-E225")
def _(device):
    device.buffer("huge", 1 << 62)


@hostile("G3", "RG-E218")
def _(device):
    g = rg.Graph()
    g.add_pass("write", queue="compute").storage_write(g.buffer("out", 64, memory_domain="cached_host"))
    g.root("out")
    g.bake()


@hostile("G4", "RG-E320")
def _(device):
    device.buffer("own", 64).write(np.zeros(3, np.uint8))


@hostile("G5", "RG-E206")
def _(device):
    g = rg.Graph(size=(8, 8))
    g.add_pass("draw").color(picture(g, "out")).depth(g.image("depth", (4, 4), "depth32float"))
    g.root("out")
    g.bake()


@hostile("G6", "RG-E131")
def _(device):
    with rg.Device() as other:
        g = rg.Graph()
        g.copy("copy", g.import_buffer("in", 64), g.buffer("out", 64))
        g.root("out")
        device.run(g, inputs={"in": other.buffer("in", 64)})


@hostile("G7", "RG-E130")
def _(device):
    other = rg.Device()
    other.close()
    other.run(filled())


@hostile("G8", "RG-E306")
def _(device):
    g = rg.Graph()
    out = g.buffer("out", 256)
    src = g.import_array("src", np.zeros(64, np.uint32), as_buffer=True)
    g.compute("scale", SCALE, src=src, dst=out, params={"factor": 2, "ofset": 0})


@hostile("G9", "RG-E216")
def _(device):
    g = rg.Graph(size=(8, 8))
    fresh = picture(g, "fresh", fresh=True)
    g.add_pass("read", queue="compute").sampled(fresh.previous()).storage_write(fresh)
    g.root(fresh)
    g.bake()


@hostile("G10", "RG-E207")
def _(device):
    g = rg.Graph(size=(8, 8))
    g.add_pass("draw").depth(picture(g, "out"))
    g.root("out")
    g.bake()


@hostile("G11", "RG-E205")
def _(device):
    g = rg.Graph(size=(8, 8))
    g.add_pass("draw").color(picture(g, "out", size=(0, 4)))
    g.root("out")
    g.bake()


@hostile("G12", "RG-E217")
def _(device):
    g = rg.Graph(size=(8, 8))
    out = picture(g, "out")
    g.add_pass("draw").color(out, clear=(0, 0, 0, 0)).sampled(out)
    g.root(out)
    g.bake()


@hostile("G13", "RG-E210")
def _(device):
    g = rg.Graph(size=(8, 8))
    one = picture(g, "one")
    g.add_pass("draw").color(one, clear=(0, 0, 0, 0))
    for name in ("two", "three"):
        g.add_pass(name).color(picture(g, name, modifies=one), load="load")
    g.root("two", "three")
    g.bake()


@hostile("G14", "RG-E206")
def _(device):
    g = rg.Graph(size=(8, 8))
    first = picture(g, "first")
    g.add_pass("draw").color(first, clear=(0, 0, 0, 0))
    g.add_pass("tone").input_attachment(first).color(picture(g, "out", size=(4, 4)))
    g.root("out")
    g.bake()


@hostile("G15", "RG-E225")
def _(device):
    g = rg.Graph(size=(8, 8))
    g.raster("draw", FLAT, color=picture(g, "out"), clear=(0, 0, 0, 0), bindings={"color": (0, 0, 0, 0)})
    g.root("out")
    device.run(g, params={("draw", "viewport"): (0, 0, -1, 4)})


@hostile("G16", "RG-E218")
def _(device):
    g = small()
    g.add_pass("use", queue="compute").uses("out", "color_attachment").storage_write(g.buffer("end", 64))
    g.root("end")
    g.bake()


@hostile("G17", "RG-E222")
def _(device):
    edited(lambda data: data["memory"].update(placements=[{"resource": "nobody", "heap": 0, "offset": 0, "size": 64}]))


@hostile("G18", "RG-E222")
def _(device):
    rg.Graph.from_dict(
        {"rgraph": 1, "buffers": {"out": {"size": 64, "sharing": "everybody"}}, "passes": [], "roots": []}
    )


@hostile("G19", "RG-E202")
def _(device):
    small().bake(split_barriers="sometimes")


@hostile("G20", "RG-E215")
def _(device):
    g = small(conditional="on")
    g.bake()


@hostile("G21", "RG-E213")
def _(device):
    small().bake(max_batches=0)


@hostile("G22", "RG-E208")
def _(device):
    g = rg.Graph(size=(8, 8))
    many = picture(g, "many", samples=3)
    g.add_pass("draw").color(many, clear=(0, 0, 0, 0)).resolve(picture(g, "out"), resolves=many)
    g.root("out")
    g.bake()


@hostile("G23", "RG-E202")
def _(device):
    device.run(filled(), read="nobody")


@hostile("G24", "RG-E225")
def _(device):
    rg.Series(device.run(filled()) for _ in range(2))


@hostile("W1", "RG-E505")
def _(device):
    plan = small().bake("single_queue")
    plan.verify({"certificate": 1}, small())


@hostile("W2", "RG-E222")
def _(device):
    edited(lambda data: data["batches"][0]["commands"].append({"op": "barriers", "memory": [{"why": 3}]})).minimal(
        small()
    )


@hostile("W3", "RG-E220")
def _(device):
    values = rg.Profile.minimal().to_dict()
    values["queues"] = []
    small().bake(rg.Profile.from_dict(values))


@hostile("W4", "RG-E212")
def _(device):
    g = rg.Graph()
    for at in range(4):
        g.add_pass(f"write {at}", queue="compute").storage_write(g.buffer(f"b{at}", 1 << 63))
        g.root(f"b{at}")
    g.bake()


@hostile("W5", "RG-E225")
def _(device):
    small().bake(weights=device.run(filled()).report)


@hostile("W6", "RG-E202")
def _(device):
    small().bake().what_if(drop=["nobody"])


@hostile("W7", "RG-E202")
def _(device):
    small().bake().explain("wriet")


@hostile("W8", "RG-E222")
def _(device):
    rg.Plan.from_json("{}").diff(small().bake())


@hostile("W9", "RG-E202")
def _(device):
    device.chaos(filled(), flags={"nobody": True})


@hostile("W10", "RG-E202")
def _(device):
    g = small()
    g.add_pass("read", queue="compute").storage_read("nobody").storage_read_write("out")
    g.interpret()


@hostile("W11", "RG-E212")
def _(device):
    device.run(small(device=3))


@hostile("W12", "RG-E320")
def _(device):
    g = rg.Graph()
    g.import_array("src", np.zeros((2, 2, 9), np.uint8))


@hostile("W13", "RG-E221")
def _(device):
    values = rg.Profile.minimal().to_dict()
    values["memory"] = [{"type": "device", "heap_size": 16}]
    small().bake(rg.Profile.from_dict(values))


@hostile("W14", "RG-E222")
def _(device):
    slangp("/no/such/preset.slangp")


@hostile("W15", "RG-E222")
def _(device):
    device.replay(ROOT / "README.md")


@hostile("W16", "RG-E213")
def _(device):
    generate(0, fewest=9, most=1)


@hostile("W17", "RG-E504")
def _(device):
    plan = filled().bake(device.profile).to_dict()
    for batch in plan["batches"]:
        batch["commands"] = [command for command in batch["commands"] if command["op"] != "barriers"]
    device.compile(rg.Plan.from_json(json.dumps(plan)), of=filled())


ROWS = re.findall(r"^\| ([A-Z]\d+) \|", (ROOT / "docs/seeds.md").read_text("utf-8"), re.MULTILINE)


def test_every_row_has_a_hostile_probe() -> None:
    assert sorted(HOSTILE) == sorted(ROWS)


@pytest.mark.parametrize("row", HOSTILE)
def test_what_cannot_be_is_one_clear_error(device: rg.Device, row: str) -> None:
    code, ask = HOSTILE[row]
    with pytest.raises(rg.RgError) as caught:
        ask(device)
    error = caught.value
    assert error.code == code, str(error)
    # Mistakes of files are at a place, and say what must be there.
    assert error.hint or code == "RG-E222", "the way out"
    assert code in str(error)
    assert device.run(filled())["out"].view("uint32")[0] == 1, "the device is as it was"
