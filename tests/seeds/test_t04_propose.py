"""T4: a hook proposes orders and queues; the planner checks them and keeps the shortest modelled frame."""

import pytest

import rgraph as rg


def frame() -> rg.Graph:
    g = rg.Graph("frame", size=(1024, 1024))
    a, b = g.image("a", format="rgba8unorm"), g.image("b", format="rgba8unorm")
    g.add_pass("left", queue="any", weight_us=400).storage_write(a)
    g.add_pass("right", queue="any", weight_us=400).storage_write(b)
    g.root(a, b)
    return g


def test_proposals_are_compared_by_the_modelled_frame():
    seen = []

    def propose(problem, tried):
        seen.append(problem)
        passes = {one["name"]: one for one in problem["passes"]}
        assert passes["left"]["weight_us"] == 400
        assert passes["left"]["after"] == []
        return [
            {"order": ["right", "left"]},
            {"order": ["left", "left"]},
            {"queue": {"left": "transfer"}},
            {"order": ["nobody", "left"]},
            None,
        ][len(tried)]

    own = frame().bake(policy="declared")
    plan = frame().bake(policy="declared", propose=propose)
    assert len(seen) == 5
    assert [one.frame_us is None for one in plan.tried] == [False, True, True, True]
    assert all(one.refused for one in plan.tried[1:])
    assert plan.frame_us == min([own.frame_us, *(one.frame_us for one in plan.tried if one.frame_us is not None)])
    assert seen[0]["frame_us"] == own.frame_us
    assert plan.bound_us <= plan.frame_us
    assert plan.check() == []


def test_what_a_hook_raises_arrives():
    def propose(problem, tried):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        frame().bake(propose=propose)
    with pytest.raises(TypeError, match="propose"):
        frame().bake(propose=3)
    with pytest.raises(TypeError, match="proposal"):
        frame().bake(propose=lambda problem, tried: 3)


def test_names_that_do_not_exist_are_refused_by_name():
    g = frame()
    g.add_pass("unused", queue="any").storage_write(g.buffer("nobody reads it", 64))
    left, right = (one for one in g.passes if one.name != "unused")
    wanted = [
        ({"order": ["right", "nobody"]}, '"nobody" is no pass that runs'),
        ({"order": ["right"]}, 'the order leaves out pass "left"'),
        ({"order": ["unused", "left", "right"]}, '"unused" is no pass that runs'),
        ({"queue": {"unused": "compute"}}, '"unused" is no pass that runs'),
        ({"queue": {"left": "nowhere"}}, 'there is no queue called "nowhere": there are graphics, compute, transfer'),
        ({"order": [right, left], "queue": {left: "compute"}}, ""),
    ]

    def propose(problem, tried):
        assert [one.refused for one in tried] == [why for _, why in wanted[: len(tried)]]
        return wanted[len(tried)][0] if len(tried) < len(wanted) else None

    plan = g.bake("discrete", policy="declared", propose=propose)
    assert [one.refused for one in plan.tried] == [why for _, why in wanted]
    assert plan.check(g) == []
    for unknown in ({"queues": {"left": "compute"}}, {"order": ["left", "right"], "memory": 3}):
        with pytest.raises(TypeError, match="a proposal is"):
            frame().bake(propose=lambda problem, tried, unknown=unknown: unknown)
