"""Plans that this process did not bake are checked before they run; this cannot be skipped."""

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import rgraph as rg


def graph() -> rg.Graph:
    g = rg.Graph("t", size=(64, 64))
    a, b, c = (g.image(name, format="rgba8unorm") for name in "abc")
    g.clear("white", a, (1, 1, 1, 1))
    g.copy("ab", a, b)
    g.copy("bc", b, c)
    g.root(c)
    return g


def changed(device: rg.Device, g: rg.Graph, change: Callable[[Any], object]) -> rg.Plan:
    values = json.loads(g.bake(device.profile).to_json())
    change(values)
    return rg.Plan.from_json(json.dumps(values))


def test_a_plan_without_a_lifetime_runs_right(device: rg.Device):
    g = graph()
    plan = changed(device, g, lambda values: values["resources"][1].pop("lifetime"))
    assert plan.check(g) == []
    assert set(device.compile(plan, of=g).run()["c"].tobytes()) == {255}


CHANGES: dict[str, Callable[[Any], object]] = {
    "placement": lambda values: values["memory"]["placements"].pop(1),
    "resource": lambda values: values["resources"][1].update(size=[1, 1]),
    "wrong_graph": lambda values: values.update(graph_hash="0" * 32),
    "passes": lambda values: values.update(batches=[]),
    "undefined": lambda values: values["batches"][0]["commands"].reverse(),
}


@pytest.mark.parametrize("rule", CHANGES)
def test_a_plan_with_a_finding_does_not_run(device: rg.Device, rule: str):
    g = graph()
    plan = changed(device, g, CHANGES[rule])
    assert rule in {finding.rule for finding in plan.check(g)}
    with pytest.raises((rg.PlanError, rg.GraphError)) as caught:
        device.compile(plan, of=g)
    assert caught.value.code == ("RG-E222" if rule == "wrong_graph" else "RG-E504")
    # What a refused plan leaves behind does not disturb the graph's own.
    assert set(device.run(g)["c"].tobytes()) == {255}


def test_a_buffer_that_a_file_makes_smaller_does_not_run(device: rg.Device):
    g = rg.Graph("t")
    host = g.buffer("h", 1 << 20)
    g.cpu("host", lambda views: None, writes=host)
    g.root(host)
    plan = changed(device, g, lambda values: values["resources"][0].update(size=0, bytes=0))
    with pytest.raises(rg.PlanError, match=r'"h" is a buffer of 1048576 bytes in the graph and a buffer of 0 bytes'):
        device.compile(plan, of=g)


def test_a_plan_of_this_process_runs_and_its_copy_is_checked(device: rg.Device):
    g = graph()
    plan = g.bake(rg.Profile.discrete())
    assert set(device.run(plan)["c"].tobytes()) == {255}
    again = pickle.loads(pickle.dumps(plan))
    assert set(device.compile(again, of=g).run()["c"].tobytes()) == {255}
