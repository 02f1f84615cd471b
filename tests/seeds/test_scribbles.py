"""The scribbles on ordering, row by row: overlap of independent work, stages, weights, occupancy classes."""

import rgraph as rg


def chains(count: int, length: int, *, bytes_each: int = 256, **weights: float) -> rg.Graph:
    """Chains that share nothing, declared one after the other."""
    g = rg.Graph("chains")
    for chain in range(count):
        last = None
        for at in range(length):
            name = f"{chain}.{at}"
            buffer = g.buffer(name, bytes_each)
            one = g.add_pass(f"pass {name}", queue="compute", weight_us=weights.get(f"p{chain}_{at}", 10))
            one.storage_write(buffer)
            if last is not None:
                one.storage_read(last)
            last = buffer
        g.root(last)
    return g


def calls(plan: rg.Plan) -> int:
    return len({one.call for one in plan.barriers})


def test_s01_independent_chains_share_their_barrier_calls() -> None:
    g = chains(8, 8)
    plan = g.bake("single_queue")
    assert plan.check(g) == []
    # Seven dependencies of eight chains are seven calls; one begins the frame.
    assert calls(plan) <= 8
    assert calls(g.bake("single_queue", policy="declared")) > 50, "as declared, each pass waits for the one before it"
    # Large buffers cost memory; the budget says how much a call is worth.
    large = chains(8, 8, bytes_each=32 << 20)
    least, fast = (large.bake("single_queue", memory=budget) for budget in ("least", "fast"))
    assert calls(fast) <= 8 < calls(least)
    assert least.memory.total < fast.memory.total


def test_s02_a_dependency_waits_for_stages_of_its_resource_alone() -> None:
    g = rg.Graph("stages", size=(64, 64))
    shadow, other, out = (g.image(name, format="rgba8unorm") for name in ("shadow", "other", "out"))
    g.add_pass("shadow", queue="compute").storage_write(shadow)
    g.add_pass("other", queue="compute").storage_write(other)
    g.add_pass("light").sampled(shadow, stages=["fragment_shader"]).sampled(other, stages=["vertex_shader"]).color(out)
    g.root(out)
    plan = g.bake("single_queue", split_barriers="never")
    waited = {
        one.resource: set(one.dst_stages)
        for one in plan.barriers
        if one.resource in ("shadow", "other") and one.src_access
    }
    assert waited == {"shadow": {"fragment_shader"}, "other": {"vertex_shader"}}


def four(weights: dict[str, float], queue: str = "compute") -> rg.Graph:
    g = rg.Graph("four")
    for name, weight in weights.items():
        buffer = g.buffer(f"of {name}", 256)
        g.add_pass(name, queue=queue, weight_us=weight).storage_write(buffer)
        g.root(buffer)
    return g


def test_s04_weights_order_the_passes_of_one_queue_heaviest_first() -> None:
    weights = {"a": 50.0, "b": 900.0, "c": 10.0, "d": 400.0}
    plan = four(weights).bake("single_queue", policy="weighted")
    assert plan.pass_names == ["b", "d", "a", "c"]
    # Measured weights of earlier frames decide instead of those declared.
    measured = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    assert four(weights).bake("single_queue", policy="weighted", weights=measured).pass_names == ["d", "c", "b", "a"]
    # And move passes between queues: the heaviest has one of its own.
    for heavy in weights:
        measured = {name: 900.0 if name == heavy else 90.0 for name in weights}
        plan = four(weights, "any").bake("discrete", policy="weighted", weights=measured)
        (alone,) = [one.queue for one in plan.passes if one.name == heavy]
        assert [one.name for one in plan.passes if one.queue == alone] == [heavy]


def test_s05_passes_of_one_occupancy_class_do_not_run_at_once() -> None:
    def plan(**units: str) -> rg.Plan:
        g = rg.Graph("classes")
        for name in ("t0", "t1", "s0", "s1"):
            buffer = g.buffer(f"of {name}", 256)
            g.add_pass(name, queue="any", weight_us=100, unit=units.get(name)).storage_write(buffer)
            g.root(buffer)
        return g.bake("discrete", policy="exact")

    classes = {"t0": "tensor", "t1": "tensor", "s0": "sampler", "s1": "sampler"}
    apart = plan(**classes)
    span = {one.name: (one.start_us, one.start_us + one.duration_us) for one in apart.passes}
    for one, two in (("t0", "t1"), ("s0", "s1")):
        assert span[one][1] <= span[two][0] + 1e-3 or span[two][1] <= span[one][0] + 1e-3
    assert apart.frame_us < 120, "classes run beside each other"
    assert plan(t0="tensor", t1="tensor", s0="tensor", s1="tensor").frame_us > apart.frame_us


def test_s04_a_plan_of_measured_weights_is_checked_with_its_graph() -> None:
    g = four({"a": 50.0, "b": 900.0, "c": 10.0, "d": 400.0})
    plan = g.bake("single_queue", policy="weighted", weights={"a": 1000.0})
    assert plan.pass_names[0] == "a"
    assert plan.check(g) == plan.check() == []
    plan.verify(plan.certificate(g), g)
    g.add_pass("more", side_effects=True)
    assert "wrong_graph" in [one.rule for one in plan.check(g)]
