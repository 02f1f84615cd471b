"""W3: a plan holds a lower bound of its frame that no plan of any policy beats."""

import json

from hypothesis import given, settings

import rgraph as rg
from rgraph.testing import graphs, profiles

POLICIES = ("auto", "declared", "overlap", "weighted", "exact", "box_tree")


@given(graphs(), profiles())
@settings(max_examples=30, deadline=None)
def test_no_policy_beats_the_bound(graph, profile):
    plans = [graph.bake(profile, policy=policy) for policy in POLICIES]
    assert len({plan.bound_us for plan in plans}) == 1
    assert all(plan.bound_us <= plan.frame_us for plan in plans)


def test_the_bound_is_the_longest_path_or_the_load():
    g = rg.Graph("chain", size=(1024, 1024))
    images = [g.image(name, format="rgba8unorm") for name in "abcd"]
    for at, us in enumerate((100, 200, 300)):
        step = g.add_pass(f"step {at}", queue="compute", weight_us=us).storage_write(images[at])
        if at:
            step.sampled(images[at - 1])
    g.add_pass("beside", queue="compute", weight_us=500).storage_write(images[3])
    g.root(images[2], images[3])
    plan = g.bake("discrete")
    assert plan.critical_path == ["step 0", "step 1", "step 2"]
    assert 600 <= plan.critical_path_us < 650
    assert 1100 <= plan.load_us <= plan.frame_us
    assert plan.bound_us == max(plan.critical_path_us, plan.load_us)
    assert f"bound {plan.bound_us / 1000:.2f} ms" in str(plan)
    assert plan.to_dict()["report"]["bound_us"] == plan.bound_us
    again = rg.Plan.from_json(plan.to_json())
    assert (again.bound_us, again.critical_path) == (plan.bound_us, plan.critical_path)


def test_the_checker_verifies_the_bound_by_its_own_computation():
    g = rg.Graph("chain", size=(64, 64))
    a, b = g.buffer("a", 256), g.buffer("b", 256)
    g.add_pass("first", queue="compute", weight_us=100).storage_write(a)
    g.add_pass("second", queue="compute", weight_us=50).storage_read(a).storage_write(b)
    g.root(b)
    values = g.bake().to_dict()
    assert rg.Plan.from_json(json.dumps(values)).check(g) == []
    for key, wrong in (("bound_us", values["report"]["frame_us"] + 1), ("bound_us", 149.0), ("frame_us", 149.0)):
        changed = {**values, "report": {**values["report"], key: wrong}}
        findings = rg.Plan.from_json(json.dumps(changed)).check(g)
        assert findings, (key, wrong)
        assert {finding.rule for finding in findings} == {"time"}
