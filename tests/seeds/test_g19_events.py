"""G19: dependencies with work in between are events, also where a first use stands at the same place."""

import random

import numpy as np

import rgraph as rg
from gpu.shaders import SCALE


def commands(plan: rg.Plan) -> list[dict]:
    """The commands of all batches."""
    return [command for batch in plan.to_dict()["batches"] for command in batch["commands"]]


def barriers(command: dict) -> list[dict]:
    """The barriers of a command."""
    return [barrier for kind in ("memory", "buffers", "images") for barrier in command.get(kind, [])]


def test_a_call_with_a_first_use_is_split_all_the_same():
    g = rg.Graph("first")
    a, b, out = (g.image(name, format="rgba8unorm", size=(16, 16)) for name in ("a", "b", "out"))
    g.add_pass("a", queue="compute").storage_write(a)
    g.add_pass("b", queue="compute").storage_write(b)
    # Reads what was written two passes before, and is the first to use its target.
    g.add_pass("read", queue="compute").sampled(a).storage_write(out)
    g.root(b, out)
    plan = g.bake(rg.Profile.single_queue(), split_barriers="always")
    assert plan.check(g) == []
    ops = [command["op"] for command in commands(plan) if command["op"] != "pass"]
    assert ops.count("set_event") == 1
    assert ops.count("wait_events") == 1
    waited = next(command for command in commands(plan) if command["op"] == "wait_events")
    assert [barrier["why"]["hazard"] for barrier in barriers(waited)] == ["read_after_write"]
    together = [[barrier["why"]["hazard"] for barrier in barriers(c)] for c in commands(plan) if c["op"] == "barriers"]
    assert ["first_use"] in together
    assert "set_event" not in [command["op"] for command in commands(g.bake(rg.Profile.single_queue()))]


def layered(seed: int, count: int = 60) -> rg.Graph:
    """Passes that scale one of the buffers before them; the last ones are kept."""
    pick = random.Random(seed)
    g = rg.Graph(f"layered {seed}")
    made = [g.import_array("src", np.arange(16, dtype=np.uint32), as_buffer=True)]
    for at in range(count):
        out = g.buffer(f"b{at}", 64)
        params = {"factor": 1, "offset": at}
        g.compute(f"p{at}", SCALE, src=pick.choice(made[-12:]), dst=out, params=params)
        made.append(out)
    g.root(*made[-12:])
    return g


def test_nine_in_ten_dependencies_with_work_in_between_are_events():
    apart = events = 0
    for seed in range(20):
        g = layered(seed)
        plan = g.bake(rg.Profile.single_queue(), split_barriers="always", policy="declared")
        assert plan.check(g) == []
        at, place = 0, {}
        for command in commands(plan):
            if command["op"] == "pass":
                place[command["pass"]] = at
                at += 1
            for barrier in barriers(command) if command["op"] in ("barriers", "wait_events") else []:
                begins = barrier["why"].get("from")
                if begins is not None and barrier["why"].get("to", -1) not in place and place[begins] < at - 1:
                    apart += 1
                    events += command["op"] == "wait_events"
    assert apart > 300
    assert events >= 0.9 * apart, f"{events} of {apart}"


def test_events_compute_the_same_and_the_layers_are_silent(device: rg.Device):
    for seed in range(3):
        g = layered(seed, 24)
        whole = device.compile(g).run()
        split = device.compile(g, split_barriers="always").run()
        for at in range(12, 24):
            np.testing.assert_array_equal(np.asarray(split[f"b{at}"]), np.asarray(whole[f"b{at}"]))
