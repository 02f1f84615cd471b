"""Graphs that are declared again as before run without being compiled, and those that differ do not."""

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE
from rgraph._core import _counts


def scaled(
    values: object = range(4), *, factor: int = 3, offset: int = 1, passes: int = 1, groups: int = 1
) -> rg.Graph:
    """Passes that follow each other, each of one shader with data of its own."""
    g = rg.Graph("scaled")
    last = g.import_array("src", np.array(values, dtype=np.uint32), as_buffer=True)
    for at in range(passes):
        made = g.buffer(f"b{at}", 16)
        params = {"factor": factor, "offset": offset}
        g.compute(f"p{at}", SCALE, src=last, dst=made, params=params, groups=groups)
        last = made
    g.root(last)
    return g


def counts() -> dict[str, int]:
    """What was done so far; allocations have tests of their own."""
    return {name: count for name, count in _counts().items() if name != "allocations"}


def compiled(work: Callable[[], object]) -> int:
    """How many graphs were compiled by it."""
    before = _counts()["graphs_compiled"]
    work()
    return _counts()["graphs_compiled"] - before


def result(device: rg.Device, graph: rg.Graph) -> list[int]:
    """The words of its one root."""
    frame = device.run(graph)
    (name,) = frame
    return np.asarray(frame[name]).view("u4").ravel().tolist()


def test_an_equal_graph_runs_as_the_one_before_with_its_own_arrays(own_device: rg.Device):
    assert compiled(lambda: result(own_device, scaled())) == 1
    for start in range(5):
        values = range(start, start + 4)
        found: list[int] = []
        assert compiled(lambda values=values, found=found: found.extend(result(own_device, scaled(values)))) == 0
        assert found == [3 * value + 1 for value in values]


def test_two_graphs_that_are_equal_may_take_turns(own_device: rg.Device):
    one, two = scaled([1, 2, 3, 4]), scaled([5, 6, 7, 8])
    first = own_device.run(one)
    for _ in range(3):
        assert compiled(lambda: result(own_device, two)) == 0
        assert result(own_device, two) == [16, 19, 22, 25]
        assert result(own_device, one) == [4, 7, 10, 13]
    assert np.asarray(first["b0"]).view("u4").tolist() == [4, 7, 10, 13], "frames keep what they read"


@pytest.mark.parametrize(
    "other",
    [
        {"factor": 5},
        {"offset": 7},
        {"passes": 2},
        {"groups": 2},
    ],
)
def test_a_graph_that_differs_is_compiled(own_device: rg.Device, other: dict):
    result(own_device, scaled())
    ran = {"factor": 3, "offset": 1, "passes": 1} | other
    found: list[int] = []
    assert compiled(lambda: found.extend(result(own_device, scaled(**other)))) == 1
    expected = [0, 1, 2, 3]
    for _ in range(ran["passes"]):
        expected = [value * ran["factor"] + ran["offset"] for value in expected]
    assert found == expected


def test_another_shader_of_the_same_accesses_is_another_graph(own_device: rg.Device):
    def of(shader: str) -> rg.Graph:
        g = rg.Graph("one")
        data = g.buffer("data", 16)
        g.compute("fill", shader, data=data, groups=1)
        g.root(data)
        return g

    text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n"
    text += "@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = WORDu; }"
    for word in (7, 9, 7):
        assert result(own_device, of(text.replace("WORD", str(word)))) == [word] * 4


def test_values_of_clears_count_bit_by_bit(own_device: rg.Device):
    def cleared(red: float) -> rg.Graph:
        g = rg.Graph("cleared")
        image = g.image("image", (1, 1), "rgba32float")
        g.clear("clear", image, (red, 0.0, 0.0, 0.0))
        g.root(image)
        return g

    for red in (0.0, -0.0, 0.0):
        assert np.signbit(np.asarray(own_device.run(cleared(red))["image"])[0, 0, 0]) == np.signbit(red)


def test_what_lives_from_frame_to_frame_is_each_graphs_own(own_device: rg.Device):
    def counting() -> rg.Graph:
        g = rg.Graph("counting")
        total = g.buffer("total", 16, persistent=True)
        text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n"
        text += "@compute @workgroup_size(1) fn main() { data[0] += 1u; }"
        g.compute("count", text, data=total, groups=1)
        g.root(total)
        return g

    one, two = counting(), counting()
    assert [result(own_device, one)[0] for _ in range(3)] == [1, 2, 3]
    assert [result(own_device, two)[0] for _ in range(2)] == [1, 2]
    assert result(own_device, one)[0] == 4


def test_functions_are_those_of_the_graph_that_runs(own_device: rg.Device):
    def calling(word: int) -> rg.Graph:
        g = rg.Graph("calling")
        out = g.buffer("out", 4)
        g.cpu("write", lambda views: views["out"].__setitem__(slice(None), word.to_bytes(4, "little")), writes=out)
        g.root(out)
        return g

    assert [result(own_device, calling(word)) for word in (3, 4, 5)] == [[3], [4], [5]]


def test_a_device_keeps_no_graph_that_it_ran(own_device: rg.Device):
    array = np.arange(4, dtype=np.uint32)
    graph = scaled(array)
    result(own_device, graph)
    gone = weakref.ref(graph)
    del graph
    gc.collect()
    assert gone() is None
    assert result(own_device, scaled([0, 1, 2, 3])) == [1, 4, 7, 10]


def test_what_is_declared_later_is_seen(own_device: rg.Device):
    graph = scaled()
    assert result(own_device, graph) == [1, 4, 7, 10]
    more = graph.buffer("more", 16)
    graph.compute("again", SCALE, src="b0", dst=more, params={"factor": 2, "offset": 0}, groups=1)
    graph.root(more)
    frame = own_device.run(graph)
    assert np.asarray(frame["more"]).view("u4").tolist() == [2, 8, 14, 20]
    assert result(own_device, scaled()) == [1, 4, 7, 10]


@pytest.mark.parametrize("passes", [16, 256, 2048])
def test_work_is_proportional_to_the_passes(own_device: rg.Device, passes: int):
    own_device.run(scaled(passes=2))
    before = counts()
    graph = scaled(passes=passes)
    declared = counts()
    assert declared == before, "declaring parses no text that is known, and hashes and compares nothing"
    for _ in range(3):
        own_device.run(graph, read=[])
    ran = {name: count - before[name] for name, count in counts().items()}
    nothing = dict.fromkeys(before, 0)
    assert ran == nothing | {"graphs_compiled": 1, "passes_hashed": passes}
    for _ in range(3):
        own_device.run(scaled(passes=passes), read=[])
    again = {name: count - before[name] - ran[name] for name, count in counts().items()}
    assert again == nothing | {"passes_hashed": 3 * passes, "passes_compared": 3 * passes}


def test_a_plan_with_a_pass_that_was_removed_since_is_refused(device: rg.Device):
    g = rg.Graph("removed")
    made, out = g.buffer("made", 16), g.buffer("out", 16, persistent=np.full(4, 3, np.uint32))
    made_by = g.fill("make", made, 7)
    g.copy("copy", made, out)
    g.root(out)
    plan, compiled, both = g.bake(device.profile), device.compile(g), g.bake_devices([device.profile])
    g.remove(made_by)
    with pytest.raises(
        rg.GraphError, match='the plan has pass "make", which was removed from graph "removed"'
    ) as caught:
        device.compile(plan)
    assert "bake the graph again" in str(caught.value)
    with rg.Devices([device]) as devices, pytest.raises(rg.GraphError, match='the plan has pass "make"'):
        devices.compile(both)
    assert np.asarray(compiled.run()["out"]).view(np.uint32).tolist() == [7] * 4, "what is compiled stays"
    g.fill("make", made, 9)
    again = device.run(device.compile(g.bake(device.profile)))
    assert np.asarray(again["out"]).view(np.uint32).tolist() == [9] * 4
