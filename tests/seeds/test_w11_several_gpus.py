"""T4, W11: passes name another GPU or leave it open; contents are copied, the plan prices them and names its gain."""

import numpy as np
import pytest

import rgraph as rg

TWO = ["discrete", "discrete"]

RAMP = """
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = id.x; }"""

SUM = """
@group(0) @binding(0) var<storage, read> left: array<u32>;
@group(0) @binding(1) var<storage, read> right: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = left[id.x] + 3u * right[id.x]; }"""


def chains(
    *, length: int = 4, us: float = 1000.0, edge: int = 64, joined: bool = True, home: int | None = None
) -> rg.Graph:
    """Two chains of passes that leave their device open, and a pass that joins them."""
    g = rg.Graph("chains", size=(edge, edge))
    ends = []
    for side in ("left", "right"):
        last = None
        for at in range(length):
            made = g.image(f"{side} {at}", format="rgba8unorm")
            one = g.add_pass(f"{side} {at}", queue="compute", weight_us=us, device="any").storage_write(made)
            if last is not None:
                one.sampled(last)
            last = made
        ends.append(last)
    if joined:
        out = g.image("out", format="rgba8unorm")
        join = g.add_pass("join", queue="compute", weight_us=1.0, device=home).storage_write(out)
        join.sampled(ends[0]).sampled(ends[1])
        g.root(out)
    else:
        g.root(*ends)
    return g


def device_of(plan: rg.DevicesPlan) -> dict[str, int]:
    """The device of each pass."""
    return {name: part.device for part in plan.parts for name in part.passes}


def test_open_passes_are_balanced_by_their_weights_and_the_gain_is_named():
    plan = chains().bake_devices(TWO)
    where = device_of(plan)
    for side in ("left", "right"):
        assert len({where[f"{side} {at}"] for at in range(4)}) == 1, "a chain is not torn"
    assert where["left 3"] != where["right 3"]
    assert len(plan.copies) == 1
    assert plan.copies[0].bytes >= 64 * 64 * 4
    assert plan.one_device_us > 1.8 * plan.frame_us
    assert f"{plan.one_device_us / plan.frame_us:.2f} × as fast" in str(plan)
    assert plan.check() == []


def test_a_copy_that_costs_more_than_it_gains_is_not_made():
    plan = chains(us=1.0, edge=4096).bake_devices(TWO)
    assert set(device_of(plan).values()) == {0}
    assert not plan.copies
    assert plan.frame_us == pytest.approx(plan.one_device_us)
    assert plan.notes


def test_a_pass_that_names_its_device_runs_there_whatever_it_costs():
    g = chains(us=1.0, edge=4096, home=0)
    extra = g.image("extra", format="rgba8unorm")
    g.add_pass("there", queue="compute", device=1).storage_write(extra).sampled("left 3")
    g.root(extra)
    plan = g.bake_devices(TWO)
    assert device_of(plan)["there"] == 1
    assert device_of(plan)["join"] == 0
    assert plan.copies
    assert any("left" in str(copy.resource) for copy in plan.copies), "one end of the left chain crosses"
    assert plan.check() == []
    with pytest.raises(rg.GraphError, match='pass "there" runs on device 1, and there is one device') as caught:
        g.bake_devices(["discrete"])
    assert caught.value.code == "RG-E212"


def test_independent_chains_need_no_copy():
    plan = chains(joined=False).bake_devices(TWO)
    assert plan.copies == []
    assert sorted(plan.results.values()) == [0, 1]
    assert plan.one_device_us > 1.8 * plan.frame_us


def test_the_first_device_with_more_work_gives_some_away_by_weights():
    g = chains()
    names = [name for name in device_of(g.bake_devices(TWO)) if name != "join"]
    weights = {name: 4000.0 if name.startswith("left") else 10.0 for name in names}
    plan = g.bake_devices(TWO, weights=weights)
    assert plan.one_device_us < 16000 + 200
    assert plan.frame_us <= plan.one_device_us


def test_two_devices_leave_what_one_leaves(own_device: rg.Device):
    def graph(other: int) -> rg.Graph:
        g = rg.Graph("sum")
        left, right, out = (g.buffer(name, 1024) for name in ("left", "right", "out"))
        g.compute("left", RAMP, dst=left, device=0)
        g.compute("right", RAMP, dst=right, device=other)
        g.compute("sum", SUM, left=left, right=right, dst=out, device=0)
        g.root(out)
        return g

    alone = np.asarray(own_device.run(graph(0))["out"])
    with rg.Device(validate=False) as second, rg.Devices([own_device, second]) as gpus:
        frame = gpus.run(graph(1))
        assert np.array_equal(np.asarray(frame["out"]), alone)
        assert [part.device for part in gpus.plan(graph(1)).parts].count(1) == 1
    assert np.asarray(alone).view("u4").ravel().tolist() == [4 * at for at in range(256)]
