"""G9: a fresh resource is new in each frame: no barrier and no wait orders it after the frame before."""

import numpy as np
import pytest

import rgraph as rg

ADD = """
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&dst)) { dst[id.x] = src[id.x] + 1u; }
}
"""
FRAMES = 12
VALUES = 4096


def frame(fresh: bool) -> rg.Graph:
    """Two queues use an image and a buffer; the last use is on another queue than the first of the next frame."""
    g = rg.Graph("frame", size=(64, 64))
    a = g.image("a", format="rgba8unorm", fresh=fresh)
    b = g.buffer("b", 4096, fresh=fresh)
    out = g.image("out", format="rgba8unorm")
    late = g.buffer("late", 4096)
    g.add_pass("draw").color(a)
    g.add_pass("light", queue="async_compute").sampled(a).storage_write(b)
    g.add_pass("show").storage_read(b).color(out)
    g.add_pass("after", queue="async_compute").sampled(a).storage_write(late)
    g.root(out, late)
    return g


def before(plan: dict) -> int:
    """How many waits for the run before a plan has."""
    return sum(wait.get("frame", 0) == -1 for batch in plan["batches"] for wait in batch["waits"])


def first_source(plan: dict) -> list[str]:
    """The stages that the first transition of image a waits for."""
    calls = [one for batch in plan["batches"] for one in batch["commands"] if one["op"] == "barriers"]
    images = [barrier for call in calls for barrier in call["images"]]
    name = next(one["id"] for one in plan["resources"] if one["name"] == "a")
    return next(one["src_stages"] for one in images if one["resource"] == name)


def test_nothing_in_the_plan_waits_for_the_frame_before():
    transient, fresh = (frame(kind).bake(rg.Profile.discrete()) for kind in (False, True))
    assert before(transient.to_dict()) > 0
    assert before(fresh.to_dict()) == 0
    assert first_source(transient.to_dict()) != []
    assert first_source(fresh.to_dict()) == []
    assert {one["life"] for one in fresh.to_dict()["resources"] if one["name"] in "ab"} == {"fresh"}
    for plan in (transient, fresh):
        assert plan.check() == []


def test_what_is_fresh_is_nothing_else():
    g = rg.Graph("wrong", size=(8, 8))
    with pytest.raises(rg.GraphError, match="only one of imported, persistent, fresh and a history"):
        g.image("both", format="rgba8unorm", persistent=True, fresh=True)
    a = g.image("a", format="rgba8unorm", fresh=True)
    past = a.previous()
    out = g.image("out", format="rgba8unorm")
    g.add_pass("draw").color(a)
    g.add_pass("show").sampled(past).color(out)
    g.root(out)
    with pytest.raises(rg.GraphError, match="is fresh: each frame has other memory"):
        g.bake(rg.Profile.minimal())


def test_frames_in_flight_have_memory_of_their_own(device: rg.Device):
    g = rg.Graph("sums")
    src = g.import_array("src", np.zeros(VALUES, np.uint32), as_buffer=True)
    once, twice = (g.buffer(name, 4 * VALUES, fresh=True) for name in ("once", "twice"))
    g.compute("one", ADD, src=src, dst=once, groups=VALUES // 64)
    g.compute("two", ADD, src=once, dst=twice, groups=VALUES // 64)
    g.root(twice)
    compiled = device.compile(g)
    inputs = [np.arange(VALUES, dtype=np.uint32) + 1000 * turn for turn in range(FRAMES)]
    # All are submitted before one is read.
    frames = [compiled.run(inputs={"src": values}) for values in inputs[:2]]
    for values, run in zip(inputs, frames, strict=False):
        np.testing.assert_array_equal(np.asarray(run["twice"]), values + 2)
    for values in inputs[2:]:
        np.testing.assert_array_equal(np.asarray(compiled.run(inputs={"src": values})["twice"]), values + 2)
    owners = dict(device.memory().owners)
    assert {name for name in owners if name.startswith("once[")} == {"once[0]", "once[1]"}
    assert "once" not in owners
