"""Rows W: what rgraph has beyond its seeds, where a row has no file of its own."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

import rgraph as rg
import rgraph.testing as generated
from rgraph._core import generate


def line(count: int = 4) -> rg.Graph:
    g = rg.Graph("line")
    last = None
    for at in range(count):
        buffer = g.buffer(f"b{at}", 4096)
        one = g.add_pass(f"p{at}", queue="compute", weight_us=10).storage_write(buffer)
        if last is not None:
            one.storage_read(last)
        last = buffer
    g.root(last)
    return g


def without(plan: rg.Plan, op: str) -> rg.Plan:
    """The plan without its last command of a kind."""
    data = plan.to_dict()
    for batch in reversed(data["batches"]):
        at = [at for at, command in enumerate(batch["commands"]) if command["op"] == op]
        if at:
            del batch["commands"][at[-1]]
            break
    return rg.Plan.from_json(json.dumps(data))


def test_w01_a_plan_has_a_certificate_and_a_checker_of_its_own() -> None:
    g = line()
    plan = g.bake("single_queue")
    assert plan.check(g) == []
    certificate = plan.certificate(g)
    plan.verify(json.loads(json.dumps(certificate)), g)
    broken = without(plan, "barriers")
    found = broken.check(g)
    assert found
    assert "p3" in str(found[0])
    with pytest.raises(rg.PlanError) as caught:
        broken.verify(certificate, g)
    assert caught.value.code == "RG-E505"


def test_w02_what_could_go_is_listed_by_name() -> None:
    assert line(2).bake("single_queue").minimal() == []
    g = line()
    data = g.bake("single_queue").to_dict()
    barrier = next(
        c for batch in data["batches"] for c in batch["commands"] if c["op"] == "barriers" and c.get("memory")
    )
    barrier["memory"][0]["dst_stages"] = [*barrier["memory"][0]["dst_stages"], "fragment_shader"]
    widened = rg.Plan.from_json(json.dumps(data))
    assert widened.check(g) == []
    words = [
        [one.word for one in plan.minimal(g)].count("fragment_shader") for plan in (g.bake("single_queue"), widened)
    ]
    assert words == [0, 1], "one stage too many is named"


def test_w04_bytes_are_held_against_a_bound_worked_out_apart() -> None:
    for seed in range(25):
        g, profile = generate(seed, fewest=6, most=20)
        plan = g.bake(profile)
        data = plan.to_dict()
        lives = {one["name"]: one["lifetime"] for one in data["resources"]}
        size = {one.resource: one.size for one in plan.memory.placements}
        edges = {one.resource: lives[one.resource] for one in plan.memory.placements if lives[one.resource]}
        most = 0
        for at in range(len(data["passes"])):
            alive = [name for name, life in edges.items() if life["first"] <= at <= life["last"]]
            most = max(most, sum(size[name] for name in alive))
        # A heap that holds buffers and images is a multiple of the granularity between them.
        page = profile.to_dict()["buffer_image_granularity"]
        apart = -(-plan.memory.without_aliasing // page) * page
        assert plan.memory.lower_bound <= plan.memory.total <= apart
        assert plan.memory.lower_bound >= most or len(size) < len(edges)


def test_w07_every_pass_explains_itself() -> None:
    g = line()
    g.add_pass("stray", queue="compute").storage_write(g.buffer("unseen", 64))
    plan = g.bake("single_queue")
    text = plan.explain("p2")
    assert "p2" in text
    assert "b1" in text
    assert "unseen" in plan.explain("stray") or "nothing" in plan.explain("stray")
    with pytest.raises(rg.GraphError) as caught:
        plan.explain("p22")
    assert caught.value.code == "RG-E202"


def test_w09_chaos_finds_what_was_not_declared(device: rg.Device) -> None:
    def graph(honest: bool) -> rg.Graph:
        g = rg.Graph("partly written")
        src = g.import_array("src", np.arange(64, dtype=np.uint32), as_buffer=True)
        part, out = g.buffer("part", 512), g.buffer("out", 512)
        if honest:
            g.fill("zero", part, 0)
            g.copy("copy", src, part[0:256])
        else:
            g.copy("copy", src, part)
        g.copy("show", part, out)
        g.root(out)
        return g

    assert device.chaos(graph(True), seeds=3).findings == ()
    # The second half of what is shown was never written: undefined contents, which differ from run to run.
    (found,) = device.chaos(graph(False), seeds=4).findings
    assert found.resource == "part"
    assert found.hint


def test_w10_plan_and_declaration_compute_the_same_symbols() -> None:
    for seed in range(20):
        g, profile = generate(seed, fewest=4, most=16)
        assert g.bake(profile).interpret(g) == g.interpret()
    g = line()
    assert without(g.bake("single_queue"), "barriers").check(g) != []


@settings(max_examples=25, deadline=None)
@given(generated.graphs(), generated.profiles())
def test_w16_strategies_make_graphs_that_bake_and_hold_every_law(graph: rg.Graph, profile: rg.Profile) -> None:
    plan = graph.bake(profile)
    assert plan.check(graph) == []
    assert plan.interpret(graph) == graph.interpret()


def test_w17_generated_graphs_reach_every_kind_of_synchronization() -> None:
    """Coverage is counted: a kind that no generated graph has is a failure."""
    seen: set[str] = set()
    for seed in range(250):
        g, profile = generate(seed)
        plan = g.bake(profile, split_barriers="always" if seed % 3 == 0 else "never")
        seen |= {f"hazard {why}" for one in plan.to_dict()["batches"] for why in hazards(one)}
        for one in plan.barriers:
            seen.add(one.op)
            seen |= {"ownership"} if one.families and one.families[0] != one.families[1] else set()
            seen |= {"layout"} if one.old_layout != one.new_layout else {"no layout"}
            seen.add("memory" if one.resource is None else "resource")
        for batch in plan.batches:
            seen |= {
                "host" if wait.queue is None else "previous run" if wait.previous_run else "queue"
                for wait in batch.waits
            }
    wanted = {
        f"hazard {name}" for name in ("read_after_write", "write_after_read", "write_after_write", "first_use", "alias")
    }
    wanted |= {"barriers", "set_event", "wait_events", "ownership", "layout", "no layout", "memory", "resource"}
    wanted |= {"queue", "previous run", "host"}
    assert wanted <= seen, wanted - seen


def hazards(batch: dict) -> set[str]:
    """Why the barriers of a batch are there."""
    kinds = ("memory", "buffers", "images")
    barriers = (one for command in batch["commands"] for kind in kinds for one in command.get(kind, []))
    return {one["why"]["hazard"] for one in barriers if "why" in one}
