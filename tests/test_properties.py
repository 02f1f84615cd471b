"""Laws that every plan obeys, over drawn graphs, and over ten thousand generated ones."""

import contextlib
import itertools
import os

import pytest
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st

import rgraph
from rgraph import _core
from rgraph.testing import Edit, edits, generate, graphs, profiles, shrink

# The largest granularity and alignment of drawn profiles: what a placement may lose to it.
GRANULE = 65536
GENERATED = int(os.environ.get("RGRAPH_GRAPHS", "10000"))


@pytest.mark.parametrize("part", range(10))
def test_generated_graphs_break_no_law(part: int):
    # Each is baked, checked, interpreted and compared, baked again, written and read: see `rgraph fuzz`.
    count = GENERATED // 10
    broken = _core.fuzz(1 + part * count, count)
    assert [(seed, law) for seed, law, *_ in broken] == []


@given(graphs(), profiles())
def test_every_plan_checks_clean(graph: rgraph.Graph, profile: rgraph.Profile):
    for policy in ("auto", "declared"):
        assert graph.bake(profile, policy=policy).check() == []


@given(graphs(), profiles(), st.sampled_from(("never", "distance", "always")))
def test_plan_computes_what_the_declaration_says(graph: rgraph.Graph, profile: rgraph.Profile, split: str):
    assert graph.bake(profile, split_barriers=split).interpret() == graph.interpret()


@given(graphs(), profiles(), st.sampled_from(("auto", "overlap", "weighted", "exact")))
def test_baking_twice_gives_equal_plans(graph: rgraph.Graph, profile: rgraph.Profile, policy: str):
    again = rgraph.Graph.from_json(graph.to_json())
    assert again.hash == graph.hash
    effort = 300 if policy == "exact" else 3
    plan = graph.bake(profile, policy=policy, effort=effort)
    assert again.bake(profile, policy=policy, effort=effort) == plan
    assert rgraph.Plan.from_json(plan.to_json()) == plan


@given(graphs(), profiles())
def test_built_in_profiles_take_every_graph(graph: rgraph.Graph, profile: rgraph.Profile):
    for name in ("minimal", "single_queue", "discrete"):
        assert graph.bake(name).check() == []


@given(graphs(), profiles(), st.data())
def test_pass_that_nobody_reads_changes_nothing_but_culled(
    graph: rgraph.Graph, profile: rgraph.Profile, data: st.DataObject
):
    before = graph.bake(profile)
    values = graph.to_dict()
    at = data.draw(st.integers(0, len(values["passes"])))
    values["images"]["stray"] = {"format": "rgba8unorm"}
    values["passes"].insert(at, {"name": "stray", "accesses": [{"resource": "stray", "usage": "color_attachment"}]})
    after = rgraph.Graph.from_dict(values).bake(profile)
    assert after.culled == before.culled | {"stray": after.culled["stray"]}
    assert after.pass_names == before.pass_names
    # Positions of later passes move by one.
    assert [p._replace(declared=None, owner=None) for p in after.passes] == [
        p._replace(declared=None, owner=None) for p in before.passes
    ]
    assert after.batches == before.batches
    assert after.barriers == before.barriers
    assert after.memory == before.memory


def resources_of(p: dict) -> set[str]:
    """Names of what a pass uses."""
    return {access["resource"] for access in p.get("accesses", [])}


@given(graphs(min_passes=3), profiles(), st.data())
def test_swapping_independent_passes_keeps_every_result(
    graph: rgraph.Graph, profile: rgraph.Profile, data: st.DataObject
):
    values = graph.to_dict()
    passes = values["passes"]
    related = {name: {name} for name in [*values["images"], *values["buffers"]]}
    for name, resource in [*values["images"].items(), *values["buffers"].items()]:
        for other in (resource.get("modifies"), resource.get("history_of")):
            if other:
                related[name] |= {other}
                related[other] |= {name}

    def touched(p: dict) -> set[str]:
        names = resources_of(p) | set(p.get("fallback", {})) | set(p.get("fallback", {}).values())
        return {other for name in names for other in related[name]}

    swaps = [
        at
        for at, (a, b) in enumerate(itertools.pairwise(passes))
        if not touched(a) & touched(b)
        and a["name"] not in b.get("after", ())
        and b["name"] not in a.get("after", ())
        # Flags count in the order in which passes name them, and `interpret` lists conditions in that order.
        and not ("conditional" in a and "conditional" in b)
    ]
    assume(swaps)
    at = data.draw(st.sampled_from(swaps))
    passes[at], passes[at + 1] = passes[at + 1], passes[at]
    swapped = rgraph.Graph.from_dict(values)
    assert swapped.interpret() == graph.interpret()
    assert swapped.bake(profile).interpret(swapped) == graph.interpret()


@given(graphs(), profiles(), st.data())
def test_edit_undone_gives_the_first_plan_back(graph: rgraph.Graph, profile: rgraph.Profile, data: st.DataObject):
    first, values = graph.bake(profile), graph.to_dict()
    edit: Edit = data.draw(edits(graph))
    edited = edit.apply(values)
    with contextlib.suppress(rgraph.GraphError):
        assert rgraph.Graph.from_dict(edited).bake(profile).check() == []
    undone = edit.undo(edited)
    assert undone == values
    assert rgraph.Graph.from_dict(undone).bake(profile) == first


QUEUES = (
    {"name": "graphics", "family": 0, "capabilities": ["graphics", "compute", "transfer"]},
    {"name": "compute", "family": 1, "capabilities": ["compute", "transfer"]},
    {"name": "compute2", "family": 1, "capabilities": ["compute", "transfer"]},
)


@given(graphs(min_passes=3), st.integers(0, 20))
def test_no_frame_is_longer_than_all_that_costs_time_in_it(graph: rgraph.Graph, hop: int):
    """Along the longest path through the played plan each pass, wait, barrier call and submit counts once."""
    values = graph.to_dict()
    for p in values["passes"]:
        if p["queue"] in ("compute", "async_compute", "transfer"):
            p["queue"] = "any"
    opened = rgraph.Graph.from_dict(values)
    costs = rgraph.Profile.discrete().to_dict()
    for count in (1, 2, 3):
        profile = {"rprofile": 1, "name": "some", "queues": list(QUEUES[:count]), "cross_queue_us": float(hop)}
        plan = opened.bake(rgraph.Profile.from_dict(profile), policy="weighted")
        waits = sum(len(batch.waits) for batch in plan.batches)
        report = plan.to_dict()["report"]
        calls, submits = report["barriers"] * costs["barrier_us"], report["submits"] * costs["submit_us"]
        passes = sum(p.duration_us for p in plan.passes)
        assert plan.frame_us <= (passes + hop * waits + calls + submits) * (1 + 1e-6)


@given(graphs(), profiles())
def test_memory_lies_between_its_bound_and_no_aliasing(graph: rgraph.Graph, profile: rgraph.Profile):
    memory = graph.bake(profile).memory
    assert memory.lower_bound <= memory.total
    # Less where a resource modifies another in its memory: that is one memory under two names.
    assert memory.without_aliasing <= sum(placement.size for placement in memory.placements)
    assert memory.total <= memory.without_aliasing + GRANULE * len(memory.placements)


def test_drawn_graphs_reach_every_usage_queue_and_kind_of_resource():
    seen: set[str] = set()

    @settings(max_examples=600, deadline=None, database=None, phases=[Phase.generate], derandomize=True)
    @given(graphs())
    def look(graph: rgraph.Graph) -> None:
        text = graph.to_json()
        seen.update(word for word in WANTED if f'"{word}"' in text)

    look()
    assert sorted(WANTED - seen) == []


@pytest.mark.parametrize("word", ["history_of", "generate_mips", "fallback", "modifies", "async_compute"])
def test_what_fails_shrinks_to_few_passes(word: str):
    found = find(
        graphs(),
        lambda graph: f'"{word}"' in graph.to_json(),
        settings=settings(max_examples=2000, deadline=None, database=None, derandomize=True),
    )
    assert len(found.to_dict()["passes"]) <= 3


WANTED = {
    *("color_attachment", "depth_stencil_attachment", "depth_stencil_read", "input_attachment", "resolve_attachment"),
    *("sampled", "storage_read", "storage_write", "storage_read_write", "uniform", "vertex", "index", "indirect"),
    *("transfer_src", "transfer_dst", "host_read", "host_write", "present", "acceleration_input"),
    *("acceleration_build", "acceleration_update", "acceleration_scratch", "acceleration_read"),
    *("graphics", "compute", "async_compute", "transfer", "cpu", "any"),
    *("history_of", "modifies", "imported", "persistent", "leave", "conditional", "fallback", "unordered"),
    *("mips", "layers", "range", "stages", "generate_mips", "samples", "after", "side_effects", "weight_us", "unit"),
}


def test_a_graph_shrinks_to_what_makes_it_fail():
    def waits(smaller: rgraph.Graph) -> bool:
        try:
            return len(smaller.bake(profile).batches) > 1
        except rgraph.GraphError:
            return False

    for seed in itertools.count(1):
        graph, profile = generate(seed)
        if len(graph.passes) > 10 and waits(graph):
            break
    least = shrink(graph, waits)
    assert waits(least)
    assert len(least.passes) == 2

    def breaks(smaller: rgraph.Graph) -> bool:
        raise RuntimeError(smaller.name)

    with pytest.raises(RuntimeError):
        shrink(graph, breaks)


def test_generator_gives_the_same_graph_for_the_same_seed():
    (one, profile), (two, again) = generate(7), generate(7)
    assert one.hash == two.hash
    assert profile == again
    assert generate(8)[0].hash != one.hash
    with pytest.raises(rgraph.GraphError):
        generate(1, fewest=9, most=3)


@pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")
def test_edits_and_shrink_refuse_what_is_no_graph_to_edit():
    for wrong, hint in ((5, "give a graph"), (generate(1), "give the first")):
        for call in (lambda wrong: edits(wrong).example(), lambda wrong: shrink(wrong, bool)):
            with pytest.raises(TypeError, match=rf"takes a graph, not (int|tuple)\n  help: .*{hint}"):
                call(wrong)
    with pytest.raises(TypeError, match="fails is a function of a graph, not int"):
        shrink(generate(1)[0], 5)  # type: ignore[arg-type]
    with pytest.raises(rgraph.GraphError, match='RG-E225 graph "none" has no pass to edit'):
        edits(rgraph.Graph("none")).example()
