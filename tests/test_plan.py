"""Plans: what they tell, and that they are values."""

import gc
import json
import pickle
import threading
import time
from pathlib import Path

import pytest

import rgraph


def frame(profile: rgraph.Profile | str = "discrete", **options: object) -> rgraph.Plan:
    """The example of README, baked."""
    return declared().bake(profile, **options)


def declared() -> rgraph.Graph:
    g = rgraph.Graph("frame", size=(1920, 1080))
    albedo = g.image("albedo", format="rgba8unorm")
    depth = g.image("depth", format="depth32float")
    hdr = g.image("hdr", format="rgba16float")
    out = g.image("out", format="rgba8unorm")
    unseen = g.image("unseen", format="rgba8unorm")
    g.add_pass("gbuffer", queue="graphics").color(albedo, clear=(0, 0, 0, 1)).depth(depth, clear=1.0)
    g.add_pass("lighting", queue="async_compute").sampled(albedo, depth).storage_write(hdr)
    g.add_pass("stray").color(unseen)
    g.add_pass("tonemap", queue="graphics").sampled(hdr).color(out)
    g.root(out)
    return g


def test_passes_stand_in_an_order_in_which_they_may_run_alone():
    plan = frame()
    assert plan.pass_names == ["gbuffer", "lighting", "tonemap"]
    assert [p.queue for p in plan.passes] == ["graphics", "compute", "graphics"]
    assert [p.declared for p in plan.passes] == [0, 1, 3]
    assert all(p.duration_us > 0 for p in plan.passes)
    assert plan.frame_us >= max(p.start_us + p.duration_us for p in plan.passes) * 0.999


def test_culled_passes_are_named_with_the_reason():
    assert list(frame().culled) == ["stray"]
    assert "'unseen'" in frame().culled["stray"]


def test_batches_wait_for_values_that_others_signal():
    plan = frame()
    assert [batch.passes for batch in plan.batches] == [("gbuffer",), ("lighting",), ("tonemap",)]
    for batch in plan.batches:
        for wait in batch.waits:
            assert wait.previous_run or any(b.queue == wait.queue and b.signal == wait.value for b in plan.batches)
    assert sum(batch.barriers for batch in plan.batches) == len({barrier.call for barrier in plan.barriers})


def test_barriers_name_stages_layouts_and_the_pass_behind_them():
    barriers = frame("single_queue").barriers
    (albedo,) = [b for b in barriers if b.resource == "albedo" and b.before == "lighting"]
    assert albedo.src_stages == ("color_attachment_output",)
    assert albedo.src_access == ("color_attachment_write",)
    assert "compute_shader" in albedo.dst_stages
    assert "shader_sampled_read" in albedo.dst_access
    assert (albedo.old_layout, albedo.new_layout) == ("color_attachment_optimal", "shader_read_only_optimal")
    assert albedo.families is None


def test_memory_holds_every_placement_without_overlap_of_what_lives_together():
    memory = frame("single_queue").memory
    names = {placement.resource for placement in memory.placements}
    assert names == {"albedo", "depth", "hdr", "out"}
    assert memory.lower_bound <= memory.total <= memory.without_aliasing
    assert max(placement.offset + placement.size for placement in memory.placements) == memory.total


def test_independent_parts_have_keys_of_their_own():
    g = rgraph.Graph()
    for name in ("a", "b"):
        image = g.image(name, format="rgba8unorm")
        g.add_pass(name).color(image)
        g.root(image)
    parts = g.bake().subgraphs
    assert [(part.passes, part.roots) for part in parts] == [(("a",), ("a",)), (("b",), ("b",))]
    assert parts[0].key != parts[1].key


def test_unchanged_graph_gives_its_plan_again_and_a_changed_one_does_not():
    g = declared()
    plan = g.bake()
    assert g.bake() is plan
    assert g.bake(rgraph.Profile.discrete()) is plan
    other = g.bake("single_queue")
    assert other is not plan
    assert g.bake() is plan
    assert g.bake(policy="declared") is not plan
    g.add_pass("more").color(g.image("more", format="r8unorm"))
    assert g.bake() is not plan


def test_plan_is_a_value(tmp_path: Path):
    plan, again = frame(), frame()
    assert plan == again
    assert plan is not again
    assert hash(plan) == hash(again)
    assert plan.hash == again.hash
    assert plan != frame("single_queue")
    assert plan != "plan"
    with pytest.raises(AttributeError):
        plan.frame_us = 0  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(plan))
    assert copy == plan
    plan.save(tmp_path / "frame.rplan.json")
    read = rgraph.Plan.load(tmp_path / "frame.rplan.json")
    assert read == plan
    assert read.to_dict() == plan.to_dict() == json.loads(plan.to_json())
    assert read.graph_hash == declared().hash


def test_plan_of_a_graph_with_buffers_between_images_fits_the_graph_file():
    g = rgraph.Graph()
    buffer, image = g.buffer("buffer", 1024), g.image("image", format="rgba16float")
    g.add_pass("write", queue="compute").storage_write(buffer)
    g.add_pass("draw").uniform(buffer).color(image)
    g.root(image)
    plan = rgraph.Plan.from_json(g.bake().to_json())
    assert plan.check(rgraph.Graph.from_json(g.to_json())) == []
    assert plan.check(g) == []


def test_save_writes_by_suffix_and_leaves_nothing_else_behind(tmp_path: Path):
    plan = frame()
    for suffix in ("json", "txt", "dot", "html"):
        plan.save(tmp_path / f"plan.{suffix}")
    assert (tmp_path / "plan.txt").read_text() == str(plan)
    assert (tmp_path / "plan.dot").read_text().startswith("digraph")
    assert (tmp_path / "plan.json").read_text() == plan.to_json()
    assert (tmp_path / "plan.html").read_text() == plan.to_html()
    with pytest.raises(rgraph.GraphError, match="suffix"):
        plan.save(tmp_path / "plan.png")
    with pytest.raises(OSError, match="No such file"):
        plan.save(tmp_path / "nowhere" / "plan.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.dot", "plan.html", "plan.json", "plan.txt"]


def test_plan_that_was_read_needs_a_graph_to_be_checked():
    plan = rgraph.Plan.from_json(frame().to_json())
    with pytest.raises(rgraph.GraphError, match=r"(?s)RG-E202.*graph="):
        plan.check()
    assert plan.check(declared()) == []


def test_checker_finds_the_barrier_that_a_plan_lacks():
    values = frame("single_queue").to_dict()
    for batch in values["batches"]:
        batch["commands"] = [command for command in batch["commands"] if command["op"] != "barriers"]
    findings = rgraph.Plan.from_json(json.dumps(values)).check(declared())
    assert findings
    assert all(finding.rule and finding.message for finding in findings)
    assert {finding.resource for finding in findings} >= {"albedo"}


def test_checker_refuses_the_plan_of_another_graph():
    findings = frame().check(rgraph.Graph("other"))
    assert "wrong_graph" in {finding.rule for finding in findings}


def test_explain_names_the_pass_its_queue_and_its_barriers():
    g = declared()
    plan = g.bake()
    text = plan.explain("lighting")
    assert "lighting" in text
    assert "compute" in text
    assert "albedo" in text
    assert plan.explain(g.passes[1]) == text
    with pytest.raises(rgraph.GraphError, match="did you mean 'lighting'"):
        plan.explain("lightning")


def test_diff_is_empty_of_changes_for_equal_plans_and_names_what_differs():
    one, two = frame(), frame("single_queue")
    assert one.diff_dict(frame())["equal"] is True
    assert one.diff_dict(two)["equal"] is False
    assert "lighting" in one.diff(two)


def test_timings_are_there_only_when_asked_for_and_do_not_count():
    timed = frame(timings=True)
    assert set(timed.to_dict()["report"]["bake_us"]) >= {"validate", "schedule", "synchronize"}
    assert "bake_us" not in frame().to_dict()["report"]
    assert timed == frame()


def test_all_mistakes_are_said_at_once():
    g = rgraph.Graph()
    wrong = g.image("wrong")
    g.add_pass("p").sampled(wrong).color("wrnog")
    g.add_pass("q", weight_us=float("nan"))
    g.add_pass("")
    with pytest.raises(rgraph.GraphError) as caught:
        g.bake()
    codes = {mistake.code for mistake in caught.value.mistakes}
    assert codes >= {"RG-E202", "RG-E213", "RG-E219"}


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "fastest"},
        {"split_barriers": "sometimes"},
        {"effort": -1},
        {"effort": 1.5},
        {"memory": "lots"},
        {"memory": -1},
        {"memory": 1.5},
        {"memory": True},
        {"memory": None},
        {"profile": "dicsrete"},
        {"profile": 3},
        {"profile": Path("nowhere.rprofile.json")},
    ],
)
def test_bad_options_are_refused(options: dict):
    with pytest.raises((rgraph.GraphError, TypeError, FileNotFoundError)):
        declared().bake(**options)


def test_every_policy_and_split_gives_a_plan_that_checks_clean():
    for policy in ("auto", "declared", "overlap", "weighted", "exact", "box_tree"):
        for split in ("never", "distance", "always"):
            plan = frame(policy=policy, split_barriers=split)
            assert plan.check(declared()) == []


def side_by_side() -> rgraph.Graph:
    """Eight chains of eight passes, declared one after the other; each pass has an image of 64 KiB."""
    g = rgraph.Graph("side by side", size=(128, 128))
    for one in range(8):
        before = g.image(f"{one}.0", format="rgba8unorm")
        g.add_pass(f"make {one}.0", queue="compute").storage_write(before)
        for at in range(1, 8):
            image = g.image(f"{one}.{at}", format="rgba8unorm")
            g.add_pass(f"make {one}.{at}", queue="compute").sampled(before).storage_write(image)
            before = image
        g.root(before)
    return g


def test_memory_says_how_many_bytes_barrier_calls_are_worth():
    g, image = side_by_side(), 65536
    plans = {memory: g.bake("single_queue", memory=memory) for memory in ("least", "balanced", "fast", 9 * image)}
    calls = {memory: plan.to_dict()["report"]["barriers"] for memory, plan in plans.items()}
    assert calls["balanced"] == calls["fast"] == 8 < calls["least"]
    assert plans["least"].memory.total == 9 * image >= plans[9 * image].memory.total
    assert g.bake("single_queue") is plans["balanced"]
    for memory, plan in plans.items():
        assert plan.memory_budget == memory
        assert rgraph.Plan.from_json(plan.to_json()).memory_budget == memory
        assert plan.check() == []


def test_a_budget_that_no_order_fits_is_noted():
    plan = side_by_side().bake("single_queue", memory=1)
    assert any("no order tried takes less" in note for note in plan.notes)


def chain(length: int) -> rgraph.Graph:
    """Passes that each sample what the one before drew."""
    g = rgraph.Graph("chain", size=(64, 64))
    before = g.image("image0", format="rgba8unorm")
    g.add_pass("pass0").color(before)
    for at in range(1, length):
        image = g.image(f"image{at}", format="rgba8unorm")
        g.add_pass(f"pass{at}").sampled(before).color(image)
        before = image
    g.root(before)
    return g


def test_interpreter_lock_is_released_while_baking():
    # One bake of a large graph, while this thread counts: it gets on only if the lock is free.
    g = chain(20_000)
    count, done = 0, threading.Event()
    plans: list[rgraph.Plan] = []

    def bake() -> None:
        try:
            plans.append(g.bake())
        finally:
            done.set()

    thread = threading.Thread(target=bake)
    thread.start()
    while not done.is_set():
        count += 1
        time.sleep(0)
    thread.join()
    assert count > 10
    assert len(plans[0].pass_names) == 20_000


def test_graph_changed_by_another_thread_while_baking_gives_plans_of_whole_declarations():
    g = declared()
    started = threading.Event()

    def declare() -> None:
        for at in range(2000):
            image = g.image(f"extra{at}", format="r8unorm")
            g.add_pass(f"extra{at}").color(image)
            started.set()

    thread = threading.Thread(target=declare)
    thread.start()
    started.wait()
    while thread.is_alive():
        plan = g.bake()
        assert plan.check() == []
        assert plan.pass_names == ["gbuffer", "lighting", "tonemap"]
    thread.join()
    assert len(g.bake().culled) == 2001


def test_plan_keeps_no_graph_alive():
    import weakref

    g = declared()
    plan, gone = g.bake(), weakref.ref(g)
    del g
    gc.collect()
    assert gone() is None
    assert plan.check() == []


def test_setup_functions_are_called_at_every_bake():
    calls = []
    g = declared()
    g.add_pass("extra", setup=lambda p: calls.append(p.name))
    first = g.bake()
    assert first.culled["extra"]
    assert g.bake() == first
    assert calls == ["extra", "extra"]


def test_bytes_are_reused_from_batch_to_batch_of_several_queues():
    """A chain in which at most two images are alive needs as much however long it is."""

    def chain(length: int) -> rgraph.Plan:
        graph, before = rgraph.Graph("chain", size=(64, 64)), None
        for at in range(length):
            image = graph.image(f"i{at}", format="rgba8unorm")
            compute = at % 3 == 0
            made = graph.add_pass(f"p{at}", queue="async_compute" if compute else "graphics", weight_us=5)
            made = made.storage_write(image) if compute else made.color(image)
            if before is not None:
                made.sampled(before)
            before = image
        graph.root(before)
        return graph.bake(rgraph.Profile.discrete())

    short, long = chain(50), chain(300)
    assert long.check() == []
    assert long.memory.lower_bound == short.memory.lower_bound
    assert long.memory.total == short.memory.total <= 4 * short.memory.lower_bound


def test_certificate_proves_the_plan_and_no_other():
    plan = frame()
    proof = plan.certificate()
    assert proof == frame().certificate() == json.loads(json.dumps(proof))
    plan.verify(proof)
    rgraph.Plan.from_json(plan.to_json()).verify(proof, declared())
    used = {pair["chain"] for pair in proof["pairs"]}
    assert used == set(range(len(proof["chains"])))
    assert {"barrier", "wait"} <= {link["kind"] for link in proof["links"]}
    for strange in (
        proof | {"pairs": proof["pairs"][1:]},
        proof | {"links": []},
        {},
        frame("single_queue").certificate(),
    ):
        with pytest.raises(rgraph.PlanError, match="RG-E505"):
            plan.verify(strange)
    with pytest.raises(rgraph.GraphError, match=r"(?s)RG-E202.*graph="):
        rgraph.Plan.from_json(plan.to_json()).certificate()


def test_plan_without_a_wait_has_no_certificate():
    changed = frame().to_dict()
    changed["batches"][1]["waits"] = []
    with pytest.raises(rgraph.PlanError, match=r'no chain orders .* "albedo"'):
        rgraph.Plan.from_json(json.dumps(changed)).certificate(declared())


EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.rgraph.json"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example_files_have_certificates(file: Path):
    graph = rgraph.Graph.load(file)
    for profile in ("minimal", "single_queue", "discrete"):
        plan = graph.bake(profile)
        plan.verify(plan.certificate())


def test_max_batches_bounds_submits_and_a_note_says_what_that_took():
    g = rgraph.Graph("zigzag", size=(64, 64))
    last = g.import_buffer("first", size=256)
    for at in range(24):
        step, side = g.buffer(f"step{at}", size=256), g.buffer(f"side{at}", size=256)
        g.add_pass(f"step{at}", queue="any").storage_read(last).storage_write(step)
        g.add_pass(f"side{at}", queue="async_compute").storage_read(last).storage_write(side)
        g.root(side)
        last = step
    g.root(last)
    free = g.bake(max_batches=None)
    assert len(g.bake().batches) == len(free.batches) > 8
    plan = g.bake(max_batches=8)
    assert len(plan.batches) <= 8
    (note,) = [note for note in plan.notes if "max_batches" in note]
    assert note.startswith(f"{len(plan.batches)} batches in place of {len(free.batches)}, for max_batches is 8")
    assert plan.check() == []
    with pytest.raises(rgraph.GraphError, match="max_batches is 0"):
        g.bake(max_batches=0)
