"""`compute_many`: many passes of one shader in one call declare what a loop of `compute` does."""

import pytest

import rgraph as rg
from gpu.shaders import SCALE
from rgraph._core import _counts


def declared(many: bool, count: int = 5) -> rg.Graph:
    """A chain of passes that scale."""
    g = rg.Graph("chain")
    names = ["start", *(f"b{at}" for at in range(count))]
    buffers = {name: g.buffer(name, 64) for name in names}
    g.fill("fill", buffers["start"], 1)
    own = {
        f"p{at}": {
            "src": buffers[names[at]],
            "dst": buffers[names[at + 1]],
            "params": {"factor": at, "offset": 1},
            **({"groups": 2, "weight_us": 3.0} if at == 2 else {}),
        }
        for at in range(count)
    }
    if many:
        passes = g.compute_many(SCALE, own, groups=1, queue="any")
        assert [one.name for one in passes] == list(own)
    else:
        for name, arguments in own.items():
            g.compute(name, SCALE, **{"groups": 1, "queue": "any", **arguments})
    g.root(names[-1])
    return g


def test_many_passes_in_one_call_are_those_of_a_loop():
    rg.set_source_tracking(False)
    try:
        one, many = declared(False), declared(True)
        assert many.hash == one.hash
        assert many.to_json() == one.to_json()
        assert many.bake() == one.bake()
    finally:
        rg.set_source_tracking(True)


def test_pairs_are_taken_as_a_dict_is_and_nothing_is_declared_of_nothing():
    g = rg.Graph()
    src, dst = g.buffer("src", 64), g.buffer("dst", 64)
    arguments = {"src": src, "dst": dst, "params": {"factor": 1, "offset": 0}}
    passes = g.compute_many(SCALE, ((name, arguments) for name in ("a", "b")))
    assert [one.name for one in passes] == ["a", "b"]
    assert g.compute_many("no shader at all", {}) == []


def test_the_shader_is_compiled_once():
    text = SCALE + "// compiled once\n"
    g = rg.Graph()
    src = g.buffer("src", 64)
    before = _counts()["shaders_compiled"]
    own = {f"p{at}": {"dst": g.buffer(f"b{at}", 64)} for at in range(100)}
    g.compute_many(text, own, src=src, params={"factor": 1, "offset": 0})
    assert _counts()["shaders_compiled"] - before == 1


def test_mistakes_name_the_pass_and_its_line():
    g = rg.Graph()
    src, dst = g.buffer("src", 64), g.buffer("dst", 64)
    own = {"good": {"dst": dst}, "bad": {"dts": dst}}
    with pytest.raises(rg.RgError, match='"bad"') as caught:
        g.compute_many(SCALE, own, src=src, params={"factor": 1, "offset": 0})
    assert "dts" in str(caught.value)
    assert "test_compute_many.py" in str(caught.value)
    assert [one["name"] for one in g.to_dict()["passes"]] == ["good"], "those before it stay"
    for wrong in (3, ["a"], {"a": 3}):
        with pytest.raises(TypeError, match="passes is a dict"):
            g.compute_many(SCALE, wrong, src=src, dst=dst)
