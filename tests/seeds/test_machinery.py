"""The Machinery's render graphs, row by row: setup and execute, forward reads, data-driven layers."""

import json

import numpy as np
import pytest

import rgraph as rg

FLAT = """
struct Push { color: vec4<f32> }
var<immediate> push: Push;
@fragment fn main() -> @location(0) vec4<f32> { return push.color; }
"""


def test_t01_setup_declares_execute_works_and_a_pass_may_opt_out(device: rg.Device) -> None:
    calls = []

    def graph(wanted: bool) -> rg.Graph:
        g = rg.Graph("setup")
        out = g.buffer("out", 64)

        def setup(one: rg.Pass) -> None:
            calls.append("setup")
            if wanted:
                one.uses(out, "transfer_dst", transfer="fill")

        def execute(commands: rg.Commands) -> None:
            calls.append("execute")
            commands.fill(out, 9)

        g.fill("base", out, 1)
        g.add_pass("late", queue="graphics", setup=setup, execute=execute)
        g.root(out)
        return g

    assert device.run(graph(True))["out"].view("uint32")[0] == 9
    assert calls == ["setup", "execute"]
    calls.clear()
    assert device.run(graph(False))["out"].view("uint32")[0] == 1
    assert calls == ["setup"], "a pass without accesses does not run"
    assert graph(False).bake().culled == {"late": graph(False).bake().culled["late"]}


def test_t07_a_read_of_what_is_declared_later_moves_the_writer_before_it() -> None:
    g = rg.Graph("forward", size=(8, 8))
    early, late = g.image("early", format="rgba8unorm"), g.image("late", format="rgba8unorm")
    g.add_pass("reads", queue="compute").sampled("late").storage_write(early)
    g.add_pass("writes", queue="compute").storage_write(late)
    g.root(early)
    plan = g.bake("single_queue", policy="declared")
    assert plan.pass_names == ["writes", "reads"]
    assert plan.check(g) == []


def test_t10_a_layer_of_a_file_changes_the_frame_when_it_changes(device: rg.Device, tmp_path) -> None:
    base, layer = tmp_path / "base.rgraph.json", tmp_path / "layer.rgraph.json"
    shader = {"wgsl": FLAT}
    base.write_text(
        json.dumps(
            {
                "rgraph": 1,
                "images": {"out": {"format": "rgba8unorm", "size": [4, 4]}},
                "passes": [
                    {
                        "name": "sky",
                        "raster": {"shader": shader, "push": {"color": [1, 0, 0, 1]}},
                        "accesses": [{"resource": "out", "usage": "color_attachment", "load": "discard"}],
                    },
                    {"include": "layer.rgraph.json"},
                ],
                "roots": ["out"],
            }
        )
    )

    def colour(text: str) -> list[int]:
        layer.write_text(text)
        return device.run(rg.Graph.load(base))["out"].numpy()[0, 0].tolist()

    nothing = json.dumps({"rgraph": 1, "passes": []})
    green = {
        "name": "grass",
        "raster": {"shader": shader, "push": {"color": [0, 1, 0, 1]}},
        "accesses": [{"resource": "out", "usage": "color_attachment", "load": "load"}],
    }
    assert colour(nothing) == [255, 0, 0, 255]
    assert colour(json.dumps({"rgraph": 1, "images": {}, "passes": [green]})) == [0, 255, 0, 255]
    assert str(layer) in rg.Graph.load(base).files, "`rgraph watch` looks at it"


@pytest.mark.parametrize("order", ["rwz", "wrz", "rzw", "zrw", "rwzy", "rzyw", "wzry"])
def test_t07_what_stands_in_for_an_output_is_read_behind_its_writer_too(device: rg.Device, order: str) -> None:
    """A reader, a switched writer, and writers of the fallback, declared in any order."""
    g = rg.Graph("stands in")
    a, z, out = g.buffer("a", 64), g.buffer("z", 64), g.buffer("out", 64)
    declare = {
        "r": lambda: g.copy("read", a, out),
        "w": lambda: g.fill("write", a, 9, conditional="on", fallback={a: z}),
        "z": lambda: g.fill("first", z, 4),
        "y": lambda: g.fill("second", z[0:32], 5),
    }
    for one in order:
        declare[one]()
    g.root(out, z)
    for profile in (device.profile, "discrete"):
        plan = g.bake(profile)
        assert plan.check(g) == []
        assert plan.interpret(g) == g.interpret()
    compiled = device.compile(g)
    # Where all of it is written before the reader's place, it reads the last contents.
    last = 5 if order in ("rzyw",) else 4
    assert np.asarray(compiled.run(flags={"on": True})["out"]).view("uint32").tolist() == [9] * 16
    assert np.asarray(compiled.run(flags={"on": False})["out"]).view("uint32").tolist() == [last] * 8 + [4] * 8
