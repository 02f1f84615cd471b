"""Rows of the designs from other sides: brute force, generated graphs, what one feature does within another."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from clitool import run
from gpu.shaders import SCALE
from rgraph._core import generate
from seeds.interposed import COMPUTE, GRAPHICS, TRANSFER, Interposer
from seeds.test_g19_events import barriers, commands
from seeds.test_t09_packets import BLUE, GREEN, QUAD, RED, opened
from seeds.test_w13_heap_limit import limited

FLAT = """
@group(0) @binding(0) var<uniform> color: vec4<f32>;
@fragment fn main() -> @location(0) vec4<f32> { return color; }
"""


# S3, W13: all orders, one by one.


def layered(seed: int, count: int) -> tuple[rg.Graph, list[set[int]], list[int]]:
    """Passes that read some buffers before them and write one of their own; all sizes differ."""
    pick = random.Random(seed)
    g, before, sizes = rg.Graph(f"layered {seed}"), list[set[int]](), list[int]()
    for at in range(count):
        reads = set(pick.sample(range(at), min(at, pick.randint(0, 2))))
        sizes.append(65536 * pick.randint(1, 9))
        made = g.add_pass(f"p{at}", queue="compute")
        for one in sorted(reads):
            made.storage_read(f"b{one}")
        made.storage_write(g.buffer(f"b{at}", sizes[-1]))
        before.append(reads)
    read = set().union(*before)
    g.root(*(f"b{at}" for at in range(count) if at not in read))
    return g, before, sizes


def orders(before: list[set[int]]) -> list[tuple[int, ...]]:
    def fits(order: tuple[int, ...]) -> bool:
        return all(before[one] <= set(order[:at]) for at, one in enumerate(order))

    return [order for order in itertools.permutations(range(len(before))) if fits(order)]


def live(order: tuple[int, ...], before: list[set[int]], sizes: list[int]) -> int:
    """Most bytes alive at once; what nobody reads lives to the end."""
    last = {one: at for at, reader in enumerate(order) for one in before[reader]}
    most = 0
    for at in range(len(order)):
        most = max(most, sum(sizes[one] for one in order[: at + 1] if last.get(one, len(order)) >= at))
    return most


@pytest.mark.parametrize("seed", range(12))
def test_w13_a_limit_is_kept_exactly_where_some_order_keeps_it(seed: int) -> None:
    g, before, sizes = layered(seed, 7)
    least = min(live(order, before, sizes) for order in orders(before))
    plan = g.bake(limited(2 * least))
    assert plan.check(g) == []
    with pytest.raises(rg.GraphError, match="every permitted order of the frame needs") as caught:
        g.bake(limited(least - 1))
    assert caught.value.code == "RG-E221"
    assert f"needs {least}" in str(caught.value)
    # Bytes that are free in pieces may fit no resource: that is not called impossible.
    message = ""
    try:
        plan = g.bake(limited(least))
    except rg.GraphError as error:
        message = str(error)
    assert "every permitted order" not in message
    assert message or plan.check(g) == []


@pytest.mark.parametrize("seed", range(6))
def test_s03_the_box_tree_counts_what_brute_force_counts(seed: int) -> None:
    g, before, _ = layered(seed, 7)
    assert g.box_tree().count() == len(orders(before))


# G19: generated graphs.


def test_g19_nine_in_ten_dependencies_of_generated_graphs_are_events() -> None:
    apart = events = 0
    for seed in range(400):
        graph, _ = generate(seed, fewest=8, most=40)
        try:
            plan = graph.bake(rg.Profile.single_queue(), split_barriers="always")
        except rg.GraphError:
            continue  # made for another device
        assert plan.check(graph) == []
        at, place = 0, dict[int, int]()
        for command in commands(plan):
            if command["op"] == "pass":
                place[command["pass"]] = at
                at += 1
            for barrier in barriers(command) if command["op"] in ("barriers", "wait_events") else []:
                begins = barrier["why"].get("from")
                if begins is None or barrier["why"].get("to", -1) in place or begins not in place:
                    continue
                if place[begins] < at - 1:
                    apart += 1
                    events += command["op"] == "wait_events"
    assert apart > 500
    assert events >= 0.9 * apart, f"{events} of {apart}"


# T9: packets next to passes that are culled, and next to some that are off.


def test_t09_culled_passes_are_in_no_packet_and_those_that_are_off_draw_nothing(device: rg.Device) -> None:
    g, out = opened()
    unseen = g.image("unseen", format="rgba32float")
    g.add_pass("clear unseen").color(unseen, clear=(0, 0, 0, 0))
    for name, color, key, low, options in (
        ("last", RED, 9, 0.0, {}),
        ("first", GREEN, 1, 0.0, {}),
        ("switched", BLUE, 11, 0.5, {"conditional": "on"}),
    ):

        def record(commands: rg.Commands, color=color, key=key, low=low) -> None:
            push = {"color": color, "depth": 0.5, "low": low, "high": 1.0}
            commands.draw(QUAD, push=push, vertices=4, topology="triangle_strip", key=key)

        g.callback(name, record, color=out, depth="depth", unordered=True, **options)
        quad = {"push": {"color": color, "depth": 0.5, "low": 0.0, "high": 1.0}, "vertices": 4}
        g.raster(f"{name} unseen", QUAD, color=unseen, topology="triangle_strip", key=key, unordered=True, **quad)
    plan = g.bake("single_queue")
    assert plan.check(g) == []
    assert {name for group in plan.packets for name in group} <= {"last", "first", "switched"}
    compiled = device.compile(g)
    for on in (True, False, True):
        cells = np.array(compiled.run(flags={"on": on})["out"])[0].tolist()
        # Equal depth: the highest key is drawn last.
        assert cells == [list(RED)] * 4 + [list(BLUE if on else RED)] * 4


# G9: fresh resources whose frames are kept, within a history's frame, under a flag.


def test_g09_results_that_are_kept_stay_what_they_were_and_histories_go_on(device: rg.Device) -> None:
    add = """
    @group(0) @binding(0) var<storage, read> past: array<u32>;
    @group(0) @binding(1) var<storage, read> given: array<u32>;
    @group(0) @binding(2) var<storage, read_write> sum: array<u32>;
    @group(0) @binding(3) var<storage, read_write> shown: array<u32>;
    @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let now = past[id.x] + given[id.x];
        sum[id.x] = now;
        shown[id.x] = 1000u * now;
    }
    """
    g = rg.Graph("kept")
    given = g.import_buffer("given", 64)
    total, shown = g.buffer("sum", 64), g.buffer("shown", 64, fresh=True)
    scaled = g.buffer("scaled", 64, fresh=True)
    g.compute("add", add, past=total.previous(), given=given, sum=total, shown=shown, groups=1)
    g.compute(
        "scale",
        SCALE,
        src=shown,
        dst=scaled,
        params={"factor": 2, "offset": 1},
        conditional="scaled",
        fallback={scaled: shown},
    )
    out = g.buffer("out", 64)
    g.copy("out", scaled, out)
    g.root(shown, out)
    plan = g.bake(device.profile)
    assert plan.check(g) == []
    compiled = device.compile(g)
    runs = [
        compiled.run(inputs={"given": np.full(16, at + 1, np.uint32)}, flags={"scaled": at % 2 == 0}) for at in range(7)
    ]
    total_so_far = 0
    for at, frame in enumerate(runs):
        total_so_far += at + 1
        assert np.array(frame["shown"]).view(np.uint32).tolist() == [1000 * total_so_far] * 16
        want = 2000 * total_so_far + 1 if at % 2 == 0 else 1000 * total_so_far
        assert np.array(frame["out"]).view(np.uint32).tolist() == [want] * 16


# T3, T8: exceptions of jobs.


class First(Exception):
    pass


class Second(Exception):
    pass


def test_t03_of_two_exceptions_at_once_one_arrives_and_no_job_is_left(device: rg.Device) -> None:
    before = threading.active_count()
    for turn in range(5):
        g, meet = rg.Graph(), threading.Barrier(2, timeout=10)
        ran = list[str]()

        def fail(views: dict[str, memoryview], kind: type[Exception], meet=meet, turn=turn) -> None:
            meet.wait()
            raise kind(f"turn {turn}")

        for name, kind in (("a", First), ("b", Second)):
            g.cpu(name, lambda views, kind=kind, fail=fail: fail(views, kind), writes=g.buffer(f"{name} out", 64))
        late = g.buffer("late out", 64)
        g.cpu("late", lambda views, ran=ran: ran.append("late"), reads="a out", writes=late)
        g.root("late out", "b out")
        with pytest.raises((First, Second), match=f"turn {turn}"):
            device.run(g)
        assert ran == [], "what follows a failed pass does not run"
    g = rg.Graph()
    g.fill("fill", g.buffer("out", 64), 7)
    g.root("out")
    assert np.asarray(device.run(g)["out"]).view(np.uint32)[0] == 7
    assert threading.active_count() <= before + 8


def test_t03_an_exception_of_one_callback_is_that_of_the_run(device: rg.Device) -> None:
    g = rg.Graph()
    for at in range(12):

        def record(commands: rg.Commands, at: int = at) -> None:
            if at == 7:
                raise First("seven")
            commands.fill(f"b{at}", at)

        g.callback(f"say {at}", record, writes={g.buffer(f"b{at}", 64): "transfer_dst"})
        g.root(f"b{at}")
    for _ in range(3):
        with pytest.raises(First, match="seven"):
            device.run(g)


# M2: images, too.


@pytest.mark.parametrize("released", [True, False])
def test_m02_images_of_another_family_come_over_only_if_they_were_released(
    interposer: Interposer, released: bool
) -> None:
    pixels = np.full((16, 16, 4), 9, np.uint8)
    with interposer.device(families=[GRAPHICS, COMPUTE, TRANSFER]) as device:
        own = device.image("own", (16, 16), "rgba8unorm")
        own.write(pixels)
        device.wait_idle()
        g = rg.Graph("show")
        src = g.import_image("src", (16, 16), "rgba8unorm", sharing="exclusive")
        out = g.image("out", (16, 16), "rgba8unorm")
        g.copy("copy", src, out)
        g.root(out)
        lent = device.borrow_resource("src", own.handle, format="rgba8unorm", size=(16, 16))
        lent.set_state(
            layout=own.state["layout"],
            queue=1,
            family=1,
            stages=["compute_shader"],
            access=["shader_storage_write"],
            released=released,
        )
        interposer.log()
        frame = device.run(g, inputs={"src": lent})
        frame.wait()
        transfers = [line for line in interposer.log() if line.startswith("transfer")]
        assert transfers == (["transfer 1 to 0"] if released else [])
        notes = [note for note in frame.report.notes if "initialised again" in note]
        assert len(notes) == (0 if released else 1)
        # It is the graphics queue's from now on: the next run says nothing.
        interposer.log()
        again = device.run(g, inputs={"src": lent})
        again.wait()
        assert not [line for line in interposer.log() if line.startswith("transfer")]
        assert not [note for note in again.report.notes if "initialised again" in note]


# W6, W8: names that are not there.


def frame() -> rg.Graph:
    g = rg.Graph("frame", size=(64, 64))
    depth, lit = g.image("depth", format="depth32float"), g.image("lit", format="rgba16float")
    g.add_pass("depth", weight_us=300).depth(depth, clear=1.0)
    g.add_pass("lighting", weight_us=200).sampled(depth).color(lit)
    g.root(lit)
    return g


@pytest.mark.parametrize(
    "changes",
    [
        {"queue": {"nobody": "compute"}},
        {"queue": {"lighting": "nowhere"}},
        {"queue": {"": "compute"}},
        {"weights": {"nobody": 1.0}},
        {"weights": {"depth": -1.0}},
        {"weights": {"depth": float("nan")}},
        {"drop": "nobody"},
        {"drop": ["depth", "nobody"]},
        {"drop": [""]},
        {"heap_limit": 0},
        {"heap_limit": -1},
        {"policy": "fastest"},
        {"memory": "most"},
    ],
    ids=str,
)
def test_w06_what_there_is_not_is_refused(changes: dict) -> None:
    with pytest.raises(rg.RgError) as caught:
        frame().bake().what_if(**changes)
    assert caught.value.code in ("RG-E202", "RG-E213", "RG-E221", "RG-E222", "RG-E225", "RG-E211"), str(caught.value)
    assert caught.value.hint or "help" in str(caught.value)


def test_w06_dropping_everything_or_nothing_is_answered() -> None:
    plan = frame().bake()
    assert plan.what_if(drop=[]).plan == plan
    assert plan.what_if().gain_us == 0
    # Without its writers the root is none, and nothing is left to plan.
    with pytest.raises(rg.GraphError, match='RG-E214 graph "frame" has no root: nothing would run'):
        plan.what_if(drop=["depth", "lighting"])


def test_w08_names_of_plans_that_are_not_there_say_which_are(tmp_path: Path) -> None:
    for at in range(5):
        g = frame()
        g.add_pass(f"more {at}", side_effects=True)
        g.save(tmp_path / "frame.rgraph.json")
        assert run("bake", "frame.rgraph.json", "--keep", cwd=tmp_path).returncode == 0
    done = run("diff", "HEAD~3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "more 1" in done.stdout
    assert "more 4" in done.stdout
    same = run("diff", "HEAD~0", "HEAD", cwd=tmp_path)
    assert same.returncode == 0, same.stderr
    assert "equal" in same.stdout
    for name in ("HEAD~5", "HEAD~-1", "HEAD~x", "HEAD~", "HEAD~99999999999999999999", "HEAD^", "head~1"):
        done = run("diff", name, cwd=tmp_path)
        assert done.returncode == 2, (name, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        assert done.stderr.strip()


# W15: one capture over several graphs with flags, functions, carried contents.


def test_w15_flags_functions_and_carried_contents_are_replayed_in_another_process(
    device: rg.Device, tmp_path: Path
) -> None:
    def declared(step: int) -> rg.Graph:
        g = rg.Graph(f"graph {step % 2}", size=(4, 4))
        out = g.image("out", format="rgba32float")
        trail = g.image("trail", format="rgba32float")
        noise = g.buffer("noise", 64)
        total = g.buffer("total", 64, persistent=True)

        def throw(views: dict[str, memoryview]) -> None:
            np.frombuffer(views["noise"], np.uint32)[:] = random.getrandbits(16)

        g.cpu("throw", throw, writes=noise)
        g.compute(
            "sum",
            SCALE.replace("dst[id.x] =", "dst[id.x] +=") if step % 2 else SCALE,
            src=noise,
            dst=total,
            params={"factor": 1, "offset": 0},
        )
        layer = g.layer("scene", out, clear=(0.25, 0, 0, 1))
        fill = FLAT
        layer.draw("plain", fill, key=1, bindings={"color": (1, 0, 0, 1)}, conditional="plain")
        g.raster(
            "mix",
            """
            @group(0) @binding(0) var past: texture_2d<f32>;
            @group(0) @binding(1) var now: texture_2d<f32>;
            @fragment fn main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
                return 0.5 * textureLoad(past, vec2<i32>(at.xy), 0) + textureLoad(now, vec2<i32>(at.xy), 0);
            }""",
            color=trail,
            past=trail.previous(),
            now=out,
        )
        g.root(trail, total)
        return g

    one = declared(0)
    compiled = device.compile(one)
    compiled.run(flags={"plain": True}).wait()
    path = tmp_path / "frames.rcapture"
    left = []
    with compiled.capture(path, frames=4) as capture:
        for plain in (True, False, False, True):
            got = compiled.run(flags={"plain": plain})
            left.append((np.array(got["trail"]), np.array(got["total"])))
    assert capture.done
    assert not np.array_equal(left[0][1], left[1][1]), "the functions' bytes differ from frame to frame"
    report = device.replay(path)
    assert report.equal, report.text
    done = subprocess.run(
        [sys.executable, "-m", "rgraph", "replay", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("equal: 4 frames")


def test_w15_a_run_that_fails_within_a_capture_is_not_in_it(device: rg.Device, tmp_path: Path) -> None:
    g = rg.Graph("fails")
    wrong = [False]

    def fill(views: dict[str, memoryview]) -> None:
        if wrong[0]:
            raise First("wrong")
        np.frombuffer(views["out"], np.uint8)[:] = 3

    g.cpu("fill", fill, writes=g.buffer("out", 64))
    g.root("out")
    compiled = device.compile(g)
    path = tmp_path / "fails.rcapture"
    with compiled.capture(path, frames=5) as capture:
        compiled.run().wait()
        wrong[0] = True
        with pytest.raises(First):
            compiled.run()
        wrong[0] = False
        compiled.run().wait()
    assert capture.frames in (2, 3)
    report = device.replay(path)
    assert report.equal, report.text


# S4, W3: weights on one queue.


def test_s04_the_heaviest_ready_pass_comes_first_and_the_bound_holds() -> None:
    g = rg.Graph("weights")
    for at, weight in enumerate((50, 900, 10, 400)):
        g.add_pass(f"w{weight}", queue="compute", weight_us=weight).storage_write(g.buffer(f"b{at}", 64))
        g.root(f"b{at}")
    plan = g.bake("single_queue", policy="weighted")
    assert plan.pass_names == ["w900", "w400", "w50", "w10"]
    for seed in range(60):
        graph, profile = generate(seed)
        for policy in ("declared", "overlap", "weighted", "box_tree", "auto"):
            plan = graph.bake(profile, policy=policy)
            assert plan.bound_us <= plan.frame_us * (1 + 1e-6), (seed, policy)


# G14: within one render pass nothing is loaded, so a write may come at once behind a change of layout.


@pytest.mark.parametrize("aspects", ["stencil", "depth"])
def test_g14_depth_that_was_tested_is_written_in_the_same_render_pass(device: rg.Device, aspects: str) -> None:
    g = rg.Graph("aspects", size=(16, 16))
    depth, color = g.image("depth", format="depth32float-stencil8"), g.image("color", format="rgba8unorm")
    g.add_pass("one").uses(depth, "depth_stencil_attachment", aspects=aspects)
    g.add_pass("two").color(color).depth_read(depth)
    g.add_pass("three").color(color, load="load").depth(depth)
    g.root(depth, color)
    for profile in (rg.Profile.single_queue(), device.profile):
        plan = g.bake(profile)
        assert plan.check(g) == []
        changes = [
            image
            for command in commands(plan)
            if command["op"] == "barriers" and command.get("by_region")
            for image in command["images"]
            if image["new_layout"] == "depth_stencil_attachment_optimal"
        ]
        assert all("depth_stencil_attachment_write" in image["dst_access"] for image in changes)
        assert changes
