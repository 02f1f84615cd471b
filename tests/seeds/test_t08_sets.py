"""T8: a build lists which CPU and which GPU passes may run at once, how long resources live, and what is copied."""

import json

import rgraph as rg


def graph() -> rg.Graph:
    """Two chains on the CPU, three sums on the GPU, and a copy of what they end in."""
    g = rg.Graph("sets")
    ends = []
    for side in ("left", "right"):
        middle, end = g.buffer(f"{side} middle", 64), g.buffer(f"{side} end", 64)
        g.cpu(f"{side} make", lambda views: None, writes=middle)
        g.cpu(f"{side} use", lambda views: None, reads=middle, writes=end)
        ends.append(end)
    for at in range(3):
        total = g.buffer(f"sum {at}", 64)
        g.add_pass(f"sum {at}", queue="compute").storage_read(ends[0], ends[1]).storage_write(total)
        ends.append(total)
    out, kept = g.buffer("out", 64), g.buffer("kept", 64)
    g.add_pass("join", queue="compute").storage_read(*ends[2:]).storage_write(out)
    g.copy("copy", out, kept)
    g.root(kept)
    return g


def sets(plan: rg.Plan, on: str) -> list[list[str]]:
    """Passes of the sets of a side."""
    return [sorted(chosen.passes) for chosen in plan.sets if chosen.on == on]


def test_a_plan_says_what_may_run_at_once_what_lives_how_long_and_what_is_copied():
    g = graph()
    plan = g.bake(rg.Profile.discrete())
    assert sets(plan, "cpu") == [["left make", "right make"], ["left use", "right use"]]
    assert sets(plan, "gpu") == [["sum 0", "sum 1", "sum 2"], ["join"], ["copy"]]
    assert plan.copies == [rg.PlanCopy("copy", "out", "kept")]
    assert plan.check(g) == []
    data = json.loads(plan.to_json())
    lives = {resource["name"]: resource["lifetime"] for resource in data["resources"]}
    names = [chosen["name"] for chosen in data["passes"]]
    assert [names[lives["out"][end]] for end in ("first", "last")] == ["join", "copy"]
    text = str(plan)
    assert "may run at once" in text
    assert "'out' to 'kept'" in text


def test_the_checker_refuses_sets_that_are_too_wide_too_narrow_or_incomplete():
    g = graph()
    plan = g.bake(rg.Profile.discrete())
    data = json.loads(plan.to_json())
    cpu = [chosen for chosen in data["sets"] if chosen["on"] == "cpu"]
    gpu = [chosen for chosen in data["sets"] if chosen["on"] == "gpu"]
    everything = [pass_id for chosen in cpu for pass_id in chosen["passes"]]
    wrong = {
        "too wide": [{"on": "cpu", "passes": everything}, *gpu],
        "too narrow": [*({"on": "cpu", "passes": [pass_id]} for pass_id in everything), *gpu],
        "incomplete": [cpu[0], *gpu],
        "behind a barrier": [*cpu, {"on": "gpu", "passes": [p for chosen in gpu for p in chosen["passes"]]}],
    }
    for what, sets in wrong.items():
        edited = rg.Plan.from_json(json.dumps(data | {"sets": sets}))
        assert any(finding.rule == "sets" for finding in edited.check(g)), what
    assert rg.Plan.from_json(json.dumps(data)).check(g) == []
