"""T5: a module is a value, declared once and instantiated several times with arguments: in Python and in files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rgraph as rg

ADD = """
struct Push { by: f32 }
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> sum: array<f32>;
var<immediate> push: Push;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    sum[id.x] = given[id.x] + push.by;
}
"""


@rg.module
def adder(m: rg.Module, given: rg.Buffer, *, by: float) -> rg.Buffer:
    """Add a number."""
    result = m.buffer("sum", size=16)
    m.compute("add", ADD, given=given, sum=result, push={"by": by}, groups=1)
    return result


@rg.module
def twice(m: rg.Module, given: rg.Buffer, *, by: float) -> rg.Buffer:
    """Add a number twice: modules in a module."""
    return adder(m, "second", adder(m, "first", given, by=by), by=by)


def test_module_is_declared_once_and_instantiated_with_arguments(device: rg.Device) -> None:
    g = rg.Graph("modules")
    start = g.import_array("start", np.arange(4, dtype=np.float32), as_buffer=True)
    small, large = twice(g, "small", start, by=1.0), twice(g, "large", start, by=100.0)
    chained = adder(g, "chained", large, by=0.5)
    g.root(small, chained)
    names = ["small/first/add", "small/second/add", "large/first/add", "large/second/add", "chained/add"]
    assert sorted(g.bake().pass_names) == sorted(names)
    frame = device.run(g)
    assert np.array(frame[small]).view(np.float32).tolist() == [2, 3, 4, 5]
    assert np.array(frame[chained]).view(np.float32).tolist() == [200.5, 201.5, 202.5, 203.5]
    assert adder.__doc__ == "Add a number."
    assert isinstance(adder, rg.ModuleValue)
    with pytest.raises(rg.GraphError, match="RG-E201"):
        adder(g, "small/first", start, by=3.0)


@pytest.mark.parametrize("into", ["graph", None, rg.Graph, 3])
def test_an_instance_is_made_in_a_graph_or_a_module_of_one(into: object) -> None:
    message = (
        rf"adder\(graph, name, …\) makes an instance in a graph or a module of one, and {type(into).__name__} is none"
    )
    with pytest.raises(TypeError, match=message):
        adder(into, "name", None, by=1.0)  # type: ignore[arg-type]


FILE = {
    "rgraph": 1,
    "name": "values",
    "shaders": {"add": {"wgsl": ADD}},
    "modules": {
        "adder": {
            "options": {"by": 1, "named": False},
            "buffers": {"given": {"size": 16}, "sum": {"size": 16}, "extra": {"size": 16, "if": "named"}},
            "passes": [
                {
                    "name": "add",
                    "compute": {
                        "shader": "add",
                        "groups": 1,
                        "bindings": {"given": "given", "sum": "sum"},
                        "push": {"by": {"option": "by"}},
                    },
                }
            ],
            "roots": ["sum"],
        },
        "twice": {
            "options": {"by": 1},
            "buffers": {"given": {"size": 16}},
            "passes": [
                {"use": "adder", "as": "first", "resources": {"given": "given"}, "with": {"by": {"option": "by"}}},
                {"use": "adder", "as": "second", "resources": {"given": "first/sum"}, "with": {"by": {"option": "by"}}},
            ],
        },
    },
    "buffers": {"start": {"size": 16, "imported": True}},
    "passes": [
        {"use": "twice", "as": "small", "resources": {"given": "start"}},
        {"use": "twice", "as": "large", "resources": {"given": "start"}, "with": {"by": 100}},
        {"use": "adder", "resources": {"given": "large/second/sum"}, "with": {"by": 0.5}},
    ],
}


def test_module_of_a_file_is_declared_once_and_used_with_options_and_resources(device: rg.Device) -> None:
    g = rg.Graph.from_json(json.dumps(FILE, indent=1))
    frame = device.run(g, inputs={"start": np.arange(4, dtype=np.float32)})
    assert np.array(frame["small/second/sum"]).view(np.float32).tolist() == [2, 3, 4, 5]
    assert np.array(frame["adder/sum"]).view(np.float32).tolist() == [200.5, 201.5, 202.5, 203.5]
    again = rg.Graph.from_json(g.to_json())
    assert again.bake() == g.bake()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"use": "ader"}, r'RG-E202.*\n?.*did you mean "adder"'),
        ({"use": "twice", "resources": {"giben": "start"}}, r'RG-E202.*"giben".*\n?.*did you mean "given"'),
        ({"use": "twice", "with": {"bye": 2}}, r'RG-E202.*no option "bye"'),
        ({"use": "self"}, "RG-E204"),
    ],
)
def test_wrong_uses_are_refused_with_their_line(entry: dict[str, object], message: str) -> None:
    own = {"self": {"passes": [{"use": "self", "as": "again"}]}}
    file = {**FILE, "modules": {**FILE["modules"], **own}, "passes": [entry]}  # type: ignore[dict-item]
    with pytest.raises(rg.GraphError, match=message) as caught:
        rg.Graph.from_json(json.dumps(file, indent=1))
    assert "text:" in str(caught.value)
