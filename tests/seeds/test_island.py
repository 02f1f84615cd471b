"""Island's render graph, row by row: rebuilt each frame, culled from the roots, in order, drawn by itself."""

import itertools
import random
import time

import pytest

import rgraph as rg


def chain(g: rg.Graph, prefix: str, count: int, source: rg.Image | None = None) -> rg.Image:
    """Passes that each read the image before them."""
    for at in range(count):
        image = g.image(f"{prefix}{at}", format="rgba8unorm", size=(64, 64))
        one = g.add_pass(f"{prefix} pass {at}", queue="compute").storage_write(image)
        if source is not None:
            one.sampled(source)
        source = image
    assert source is not None
    return source


def test_i01_a_graph_is_declared_and_baked_anew_each_frame_and_costs_little() -> None:
    def frame() -> rg.Plan:
        g = rg.Graph("frame")
        g.root(chain(g, "p", 64))
        return g.bake("single_queue")

    first = frame()
    begin, runs = time.perf_counter(), 20
    plans = [frame() for _ in range(runs)]
    each = (time.perf_counter() - begin) / runs
    assert {plan.hash for plan in plans} == {first.hash}
    assert plans[0] is not first, "each graph is a new one"
    # The probe on an idle machine: 0.24 ms. A frame of 16 ms would be no light thing.
    assert each < 0.1, f"{each * 1e3:.1f} ms for 64 passes"


def test_i02_a_clear_replaces_and_a_load_reads_what_was_there() -> None:
    for load, live in (("clear", ["second"]), ("load", ["first", "second"])):
        g = rg.Graph("loads", size=(8, 8))
        out = g.image("out", format="rgba8unorm")
        g.add_pass("first").color(out, clear=(1, 0, 0, 1))
        g.add_pass("second").color(out, load=load, **({"clear": (0, 0, 0, 1)} if load == "clear" else {}))
        g.root(out)
        assert g.bake("single_queue").pass_names == live
    g = rg.Graph("capability", size=(8, 8))
    g.add_pass("draw", queue="transfer").color(g.image("out", format="rgba8unorm"))
    g.root("out")
    with pytest.raises(rg.GraphError) as caught:
        g.bake("discrete")
    assert caught.value.code == "RG-E211"


def test_i03_callbacks_are_called_of_contributing_passes_with_declared_resources_only(device: rg.Device) -> None:
    called = []
    g = rg.Graph("calls")
    seen, unseen, other = (g.buffer(name, 64) for name in ("seen", "unseen", "other"))

    def fill(commands: rg.Commands) -> None:
        called.append("kept")
        commands.fill(seen, 7)

    g.callback("kept", fill).transfer_dst(seen, transfer="fill")
    g.callback("stray", lambda commands: called.append("stray"), writes={unseen: "transfer_dst"})
    g.root(seen)
    assert device.run(g)["seen"].view("uint32").tolist() == [7] * 16
    assert called == ["kept"]
    g = rg.Graph("undeclared")
    seen, other = g.buffer("seen", 64), g.buffer("other", 64)
    g.callback("fill", lambda commands: commands.fill(other, 7)).transfer_dst(seen, transfer="fill")
    g.root(seen)
    with pytest.raises(rg.GraphError, match="other") as caught:
        device.run(g)
    assert caught.value.code == "RG-E217"


def test_i04_roots_are_written_imports_tagged_resources_and_passes_with_effects() -> None:
    g = rg.Graph("roots", size=(8, 8))
    images = {name: g.image(name, format="rgba8unorm") for name in ("tagged", "effect", "nothing")}
    back = g.import_image("back", (8, 8), "rgba8unorm")
    for name, image in {**images, "back": back}.items():
        g.add_pass(f"to {name}", side_effects=name == "effect").color(image, clear=(0, 0, 0, 0))
    g.root("tagged")
    plan = g.bake("single_queue")
    assert set(plan.pass_names) == {"to tagged", "to effect", "to back"}
    assert list(plan.culled) == ["to nothing"]


def dependencies(g: rg.Graph) -> dict[str, set[str]]:
    """What each pass reads, by the last writer declared before it."""
    writers, out = {}, {}
    for one in g.to_dict()["passes"]:
        reads = [a["resource"] for a in one["accesses"] if a["usage"] in ("sampled", "storage_read")]
        out[one["name"]] = {writers[name] for name in reads}
        writers |= {a["resource"]: one["name"] for a in one["accesses"] if a["usage"] == "storage_write"}
    return out


def test_i05_declared_order_is_submission_order_and_the_filter_keeps_what_contributes() -> None:
    for seed in range(40):
        pick = random.Random(seed)
        g = rg.Graph(f"random {seed}", size=(8, 8))
        made: list[rg.Image] = []
        for at in range(30):
            image = g.image(f"i{at}", format="rgba8unorm")
            one = g.add_pass(f"p{at}", queue="compute").storage_write(image)
            for source in pick.sample(made, min(len(made), pick.randrange(3))):
                one.sampled(source)
            made.append(image)
        roots = pick.sample(range(30), 2)
        g.root(*(f"i{at}" for at in roots))
        needs, live = dependencies(g), {f"p{at}" for at in roots}
        while more := set().union(*(needs[name] for name in live)) - live:
            live |= more
        plan = g.bake("single_queue", policy="declared")
        assert plan.pass_names == [f"p{at}" for at in range(30) if f"p{at}" in live]


def test_i06_parts_that_share_nothing_are_sub_graphs_and_merge_where_they_overlap() -> None:
    g = rg.Graph("parts")
    a, b = chain(g, "a", 3), chain(g, "b", 2)
    g.root(a, b)
    parts = {frozenset(part.passes) for part in g.bake("single_queue").subgraphs}
    assert parts == {frozenset(f"a pass {at}" for at in range(3)), frozenset(f"b pass {at}" for at in range(2))}
    joined = g.image("joined", format="rgba8unorm", size=(64, 64))
    g.add_pass("join", queue="compute").sampled(a).sampled(b).storage_write(joined)
    g.root(joined)
    (whole,) = g.bake("single_queue").subgraphs
    assert len(whole.passes) == 6
    assert set(whole.roots) >= {"joined"}


def test_i07_a_plan_draws_itself_with_what_was_culled() -> None:
    g = rg.Graph("drawn", size=(8, 8))
    g.root(chain(g, "kept", 2))
    chain(g, "lost", 1)
    plan = g.bake("single_queue")
    svg, dot, page = plan.to_svg(view="matrix"), plan.to_dot(g), plan.to_html(g)
    assert svg.startswith("<svg")
    assert dot.startswith("digraph")
    for text in (svg, dot, page):
        assert "kept pass 0" in text
        assert "lost pass 0" in text, "culled passes are shown"


def test_i08_parts_are_put_on_several_queues() -> None:
    g = rg.Graph("queues")
    for part, at in itertools.product("ab", range(3)):
        before = g.find(f"{part}{at - 1}") if at else None
        image = g.image(f"{part}{at}", format="rgba8unorm", size=(64, 64))
        one = g.add_pass(f"{part} pass {at}", queue="any", weight_us=500).storage_write(image)
        if before is not None:
            one.sampled(before)
        g.root(image)
    plan = g.bake("discrete")
    queues = {part: {one.queue for one in plan.passes if one.name.startswith(part)} for part in "ab"}
    assert plan.check(g) == []
    assert len(queues["a"]) == len(queues["b"]) == 1
    assert queues["a"] != queues["b"], "each sub-graph has a queue"
    assert plan.frame_us < 0.6 * plan.one_queue_us
