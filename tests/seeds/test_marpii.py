"""MarpII's command graph, row by row: the caller's resources, ownership found by itself, reuse."""

import gc

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE


def commands(plan: rg.Plan) -> list[dict]:
    return [command for batch in plan.to_dict()["batches"] for command in batch["commands"]]


def handed_over(count: int) -> rg.Graph:
    """Buffers that one queue writes and another reads, each owned by one family at a time."""
    g = rg.Graph("handed over")
    out = g.buffer("out", 1 << 16)
    made = [g.buffer(f"made {at}", 1 << 16, sharing="exclusive") for at in range(count)]
    for at, buffer in enumerate(made):
        g.add_pass(f"make {at}", queue="graphics", weight_us=100).storage_write(buffer, stages=["fragment_shader"])
    reader = g.add_pass("use", queue="async_compute", weight_us=100).storage_write(out)
    for buffer in made:
        reader.storage_read(buffer)
    g.root(out)
    return g


def transfers(plan: rg.Plan) -> list[list[tuple[str, int, int]]]:
    """By barrier call: the resources that change their family, from and to."""
    calls = {}
    for one in plan.barriers:
        if one.families is not None and one.families[0] != one.families[1]:
            calls.setdefault(one.call, []).append((one.resource, *one.families))
    return list(calls.values())


def test_m01_resources_of_the_caller_are_used_between_the_callers_own_work(device: rg.Device) -> None:
    """One buffer, used by the caller and by two graphs in turn; its state says how each left it."""
    own = device.buffer("own", 4096)
    lent = device.borrow_resource("numbers", own.handle, 4096, concurrent=True)
    own.write(np.arange(1024, dtype=np.uint32))
    lent.set_state(**{key: value for key, value in own.state.items() if key != "released"})
    g = rg.Graph("doubled")
    numbers = g.import_buffer("numbers", 4096)
    double = """@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
                @compute @workgroup_size(64)
                fn main(@builtin(global_invocation_id) id: vec3<u32>) { numbers[id.x] *= 2u; }"""
    g.compute("double", double, numbers=numbers, groups=16)
    for _ in range(3):
        device.run(g, inputs={"numbers": lent}).wait()
    assert lent.state["stages"] == ["compute_shader"]
    assert lent.state["queue"] == 0
    np.testing.assert_array_equal(np.asarray(lent.read()).view(np.uint32), 8 * np.arange(1024))


def test_m03_transfers_of_a_segment_are_collected_in_one_release_and_one_acquire() -> None:
    g = handed_over(6)
    plan = g.bake("discrete")
    assert plan.check(g) == []
    calls = transfers(plan)
    assert [len(call) for call in calls] == [6, 6], "one release and one acquire, of six resources each"
    # The release is as late as its last writer, the acquire as early as the segment that uses them.
    kinds = [(command["op"], command.get("pass")) for command in commands(plan)]
    names = [one["name"] for one in plan.to_dict()["passes"]]
    order = [names[which] if op == "pass" else op for op, which in kinds]
    assert order[-2:] == ["barriers", "use"]


def test_m04_nobody_declares_a_transfer_of_ownership() -> None:
    g = handed_over(1)
    declared = g.to_dict()
    assert not any("famil" in key for one in declared["passes"] for key in one), "the declaration has no such word"
    released, acquired = transfers(g.bake("discrete"))
    assert released == acquired
    assert released[0][1:] == (0, 1) or released[0][1] != released[0][2]
    assert transfers(g.bake("single_queue")) == [], "one queue needs none"


def test_m06_frames_reuse_command_buffers_and_memory(device: rg.Device) -> None:
    numbers = np.arange(1024, dtype=np.uint32)
    g = rg.Graph("again")
    src, out = g.import_array("src", numbers, as_buffer=True), g.buffer("out", 4096)
    g.compute("scale", SCALE, src=src, dst=out, params={"factor": 2, "offset": 0})
    g.root(out)
    compiled = device.compile(g)
    recorded, held = [], []
    for run in range(40):
        frame = compiled.run(inputs={"src": numbers + run})
        np.testing.assert_array_equal(np.asarray(frame["out"]).view(np.uint32), 2 * (numbers + run))
        recorded.append(frame.report.recorded)
        del frame
        gc.collect()
        held.append(device.memory().live)
    assert not any(recorded[8:]), "a steady graph records once per frame context and binding"
    assert max(held[20:]) <= max(held[:20]), "and its memory does not grow"


DOT = "@fragment fn main() -> @location(0) vec4<f32> { return vec4(1.0); }"


@pytest.mark.parametrize("measure", ["off", "batches", "passes"])
@pytest.mark.parametrize("kind", ["drawn", "history", "persistent", "conditional", "cpu", "function"])
def test_m06_an_unchanged_frame_records_nothing(device: rg.Device, kind: str, measure: str) -> None:
    """Except where a function of the caller's records: it may record something else each time."""
    g = rg.Graph("unchanged", size=(16, 16))
    out = g.image("out", format="rgba8unorm", persistent=kind == "persistent")
    if kind == "history":
        g.copy("keep", out.previous(2), out)
    elif kind == "cpu":
        seen = g.buffer("seen", 64)
        g.clear("clear", out, (0, 0, 0, 0))
        g.fill("fill", seen, 7)
        g.cpu("look", lambda views: None, reads=[seen], writes=[g.buffer("done", 64)])
        g.root("done")
    elif kind == "function":
        g.callback("clear", lambda commands: None, color=out, clear=(0, 0, 0, 0))
    else:
        g.clear("clear", out, (0, 0, 0, 0))
        g.raster("dot", DOT, color=out, load="load", conditional="on" if kind == "conditional" else None)
    g.root(out)
    compiled = device.compile(g)
    recorded = []
    for _ in range(16):
        frame = compiled.run(flags={"on": False} if kind == "conditional" else None, measure=measure)
        frame.wait()
        recorded.append(frame.report.recorded)
    assert recorded[8:] == [kind == "function"] * 8


def test_m07_a_pass_is_made_each_frame_or_kept(device: rg.Device) -> None:
    def graph(factor: int) -> rg.Graph:
        g = rg.Graph("scaled")
        src = g.import_array("src", np.ones(16, np.uint32), as_buffer=True)
        g.compute("scale", SCALE, src=src, dst=g.buffer("out", 64), params={"factor": factor, "offset": 0})
        g.root("out")
        return g

    kept = device.compile(graph(3))
    for factor in (3, 5, 7):
        anew = device.run(graph(factor))["out"].view("uint32").tolist()
        assert anew == [factor] * 16
        assert (
            kept.run(params={("scale", "params"): {"factor": factor, "offset": 0}})["out"].view("uint32").tolist()
            == anew
        )
    device.compile(graph(1), previous=kept).run()
    with pytest.raises(rg.BusyError):
        kept.run()
