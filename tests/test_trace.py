"""Traces for Perfetto and speedscope."""

import json
import math
import random
import re
from collections import defaultdict
from pathlib import Path

import pytest

import rgraph as rg


@pytest.fixture(scope="module")
def frame(deferred: Path) -> rg.Plan:
    return rg.Graph.load(deferred).bake(rg.Profile.discrete())


def events(trace: str, phase: str) -> list[dict]:
    return [event for event in json.loads(trace)["traceEvents"] if event["ph"] == phase]


def assert_nested(trace: str) -> None:
    """Slices of one lane follow or hold each other: readers refuse or misdraw the rest."""
    lanes = defaultdict(list)
    for event in events(trace, "X"):
        assert event["dur"] >= 0
        lanes[event["pid"], event["tid"]].append((event["ts"], -event["dur"], event["name"]))
    for lane in lanes.values():
        open_ends: list[float] = []
        for begin, negative, name in sorted(lane):
            while open_ends and open_ends[-1] <= begin + 1e-3:
                open_ends.pop()
            assert not open_ends or begin - negative <= open_ends[-1] + 1e-3, name
            open_ends.append(begin - negative)


def test_modelled_trace_has_every_pass_in_its_lane(frame: rg.Plan):
    trace = frame.to_trace()
    slices = {event["name"]: event for event in events(trace, "X")}
    assert set(slices) == set(frame.pass_names)
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events(trace, "M")}
    for one in frame.passes:
        event = slices[one.name]
        assert (event["ts"], event["dur"]) == pytest.approx((one.start_us, one.duration_us), abs=0.01)
        assert names[event["pid"], event["tid"]] == one.queue
    assert_nested(trace)


def test_memory_counts_up_to_the_bound_and_back(frame: rg.Plan):
    counts = [event["args"]["bytes"] for event in events(frame.to_trace(), "C")]
    assert min(counts) >= 0
    assert max(counts) <= frame.memory.total
    assert max(counts) > frame.memory.lower_bound // 2
    assert counts[-1] == 0


def test_semaphores_flow_from_signal_to_wait(frame: rg.Plan):
    trace = frame.to_trace()
    starts = {event["id"]: event for event in events(trace, "s")}
    ends = {event["id"]: event for event in events(trace, "f")}
    waits = [wait for batch in frame.batches for wait in batch.waits if not wait.previous_run]
    assert len(starts) == len(ends) == len(waits) > 0
    for number, start in starts.items():
        assert ends[number]["bp"] == "e"
        assert start["ts"] <= ends[number]["ts"]
        assert start["tid"] != ends[number]["tid"]


def nanoseconds(event: dict) -> tuple[int, int]:
    """Begin and end as Perfetto's reader has them: begin and duration truncated, each by itself."""
    begin = int(event["ts"] * 1000)
    return begin, begin + int(event.get("dur", 0) * 1000)


@pytest.mark.parametrize("name", ["deferred", "layered"])
def test_flows_bind_to_the_passes_that_signal_and_wait(name: str, deferred: Path):
    if name == "deferred":
        plan = rg.Graph.load(deferred).bake(rg.Profile.discrete())
    else:
        plan = layered(6, 12).bake(rg.Profile.discrete())
    trace = plan.to_trace()
    lanes = defaultdict(list)
    for event in events(trace, "X"):
        lanes[event["pid"], event["tid"]].append((*nanoseconds(event), event["name"]))

    def bound(event: dict) -> list[str]:
        at = int(event["ts"] * 1000)
        return [name for begin, end, name in lanes[event["pid"], event["tid"]] if begin <= at < end]

    pairs = sorted(
        (batches[wait.queue, wait.value].passes[-1], batch.passes[0])
        for batches in [{(batch.queue, batch.signal): batch for batch in plan.batches if batch.signal}]
        for batch in plan.batches
        for wait in batch.waits
        if not wait.previous_run
    )
    ends = {event["id"]: event for event in events(trace, "f")}
    starts = events(trace, "s")
    assert all(start["ts"] <= ends[start["id"]]["ts"] for start in starts)
    assert sorted((*bound(start), *bound(ends[start["id"]])) for start in starts) == pairs
    assert pairs


def layered(layers: int, width: int) -> rg.Graph:
    """Layers of passes that read the layer before, two of three on the compute queue."""
    graph = rg.Graph("layered", size=(256, 256))
    below: list = []
    for layer in range(layers):
        images = []
        for at in range(width):
            image = graph.image(f"i{layer}.{at}", format="rgba16float")
            one = graph.add_pass(f"p{layer}.{at}", queue="async_compute" if at % 3 else "graphics", weight_us=7.3 + at)
            for other in below[at : at + 2]:
                one.sampled(other)
            one.storage_write(image)
            images.append(image)
        below = images
    for image in below:
        graph.root(image)
    return graph


def test_barriers_stand_at_passes_and_say_what_they_are_for(frame: rg.Plan):
    trace = frame.to_trace()
    instants = events(trace, "i")
    assert instants
    edges = {edge for event in events(trace, "X") for edge in (event["ts"], event["ts"] + event["dur"])}
    for event in instants:
        assert event["s"] == "t"
        assert any(abs(event["ts"] - edge) < 1e-6 for edge in edges)
        assert event["args"]["for"]
    shown = " ".join(line for event in instants for line in event["args"]["for"])
    assert "'gbuffer'" in shown


def test_lifetimes_are_spans_from_first_to_last_use(frame: rg.Plan):
    trace = frame.to_trace()
    ends = {event["id"]: event for event in events(trace, "e")}
    begins = events(trace, "b")
    assert len(begins) == len(ends) > 0
    slices = {event["name"]: event for event in events(trace, "X")}
    for event in begins:
        assert event["cat"] == "resource"
        assert event["args"]["bytes"] > 0
        assert event["ts"] in {one["ts"] for one in slices.values()}
        assert ends[event["id"]]["ts"] > event["ts"]


def test_measured_trace_has_the_times_of_the_run(frame: rg.Plan):
    class Report:
        """As `Report` is: passes that overlap on one queue, and the host on its own clock."""

        timeline = (
            rg_span("gbuffer", "graphics", 0.0, 500.0),
            rg_span("shadow0", "graphics", 400.0, 900.0),
            rg_span("ao", "compute", 510.0, 700.0),
        )
        host_spans = (
            {"name": "record", "begin_us": -50.0, "end_us": 20.0},
            {"name": "upload", "begin_us": 10.0, "end_us": 60.0},
        )
        calibrated = False

    trace = frame.to_trace(Report())
    slices = {event["name"]: event for event in events(trace, "X")}
    assert set(slices) == {"gbuffer", "shadow0", "ao", "record", "upload"}
    assert slices["ao"]["dur"] == 190.0
    assert slices["gbuffer"]["tid"] != slices["shadow0"]["tid"]
    assert slices["record"]["pid"] != slices["ao"]["pid"]
    assert "CPU (its own clock)" in {event["args"]["name"] for event in events(trace, "M")}
    assert_nested(trace)


def rg_span(name: str, queue: str, begin: float, end: float) -> dict:
    return {"name": name, "queue": queue, "begin_us": begin, "end_us": end}


def test_records_may_be_a_list_and_are_looked_at(frame: rg.Plan):
    assert len(events(frame.to_trace([rg_span("ao", "compute", 1, 2)]), "X")) == 1
    with pytest.raises(TypeError, match="begin_us"):
        frame.to_trace([{"name": "ao", "queue": None}])
    with pytest.raises(TypeError, match="timeline"):
        frame.to_trace(3)


def test_a_plan_without_times_is_shown_in_order():
    graph = rg.Graph("untimed", size=(8, 8))
    image = graph.image("image", format="rgba8unorm")
    graph.add_pass("one", weight_us=0).color(image)
    graph.root(image)
    assert {event["name"] for event in events(graph.bake().to_trace(), "X")} == {"one"}


def test_trace_is_written_by_suffix(frame: rg.Plan, tmp_path: Path):
    frame.save(tmp_path / "frame.trace.json")
    assert (tmp_path / "frame.trace.json").read_text() == frame.to_trace()
    frame.save(tmp_path / "frame.svg")
    assert (tmp_path / "frame.svg").read_text() == frame.to_svg()


def test_arguments_of_passes_are_never_null(frame: rg.Plan):
    passes = events(frame.to_trace(), "X")
    assert passes
    assert [one["name"] for one in passes if None in one["args"].values()] == []


@pytest.mark.parametrize("width", [600, 900, 1400])
def test_the_axis_of_a_picture_counts_in_round_steps(frame: rg.Plan, width: int):
    drawn = frame.to_svg(view="timeline", width=width)
    texts = re.findall(r">([\d.]+) (µs|ms)</text>", drawn)
    times = [float(number) * {"µs": 1, "ms": 1000}[unit] for number, unit in texts]
    assert len(times) >= 3
    assert times[0] == 0
    step = times[1]
    assert step / 10 ** math.floor(math.log10(step)) == pytest.approx(1) or re.match("[25]", f"{step:.6g}"), step
    assert times == pytest.approx([at * step for at in range(len(times))], rel=1e-3)


def test_pictures_count_one_as_one():
    graph = rg.Graph("one", size=(8, 8))
    image = graph.image("image", format="rgba8unorm")
    graph.add_pass("one").color(image)
    graph.root(image)
    drawn = graph.bake("single_queue").to_svg()
    assert "1 submit ·" in drawn
    assert "1 barrier call ·" in drawn


class Imported:
    """A trace as Perfetto's reader of this format takes it, by its rules.

    Times are truncated to nanoseconds, and events are sorted by them; those of one time keep their order in the file. A
    slice that ends at or before another one's begin is closed by that; one that ends behind the slice which holds it is
    dropped. A flow has the number, category and name of its other end; it begins at the slice that was opened last on
    its thread and is still open, and so does its end with `"bp": "e"`; without such a slice, or without a begin before
    the end, it is dropped. Spans of a number and category begin before they end. Counters have numbers only.
    """

    def __init__(self, trace: str) -> None:
        self.faults: list[str] = []
        self.flows: dict[tuple, list[str]] = {}
        self._stacks: dict[tuple[int, int], list[tuple[int, str]]] = defaultdict(list)
        self._spans: dict[tuple, list[int]] = defaultdict(list)
        self.names: dict[tuple, str] = {}
        all_events = json.loads(trace)["traceEvents"]
        for event in all_events:
            assert {"ph", "pid", "tid", "name"} <= event.keys()
            assert type(event["pid"]) is int
            assert type(event["tid"]) is int
        timed = [event for event in all_events if event["ph"] != "M"]
        for event in [event for event in all_events if event["ph"] == "M"]:
            self.names[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
        for event in sorted(timed, key=lambda event: int(event["ts"] * 1000)):
            getattr(self, f"_{event['ph']}")(event, int(event["ts"] * 1000), (event["pid"], event["tid"]))
        self.faults += [f"{span} does not end" for span, open_ in self._spans.items() if open_]
        self.faults += [f"{flow} does not end" for flow, ends in self.flows.items() if len(ends) != 2]

    def _X(self, event: dict, at: int, lane: tuple[int, int]) -> None:
        if ("thread_name", *lane) not in self.names or ("process_name", lane[0], 0) not in self.names:
            self.faults.append(f"{event['name']} is on a lane without a name")
        stack = self._stacks[lane]
        while stack and stack[-1][0] <= at:
            stack.pop()
        end = at + int(event["dur"] * 1000)
        if stack and end > stack[-1][0]:
            self.faults.append(f"{event['name']} ends behind {stack[-1][1]}: dropped")
        else:
            stack.append((end, event["name"]))

    def _i(self, event: dict, at: int, lane: tuple[int, int]) -> None:
        if event["s"] not in ("g", "p", "t"):
            self.faults.append(f"{event['name']}: no scope")

    def _C(self, event: dict, at: int, lane: tuple[int, int]) -> None:
        if not event["args"] or any(type(value) not in (int, float) for value in event["args"].values()):
            self.faults.append(f"{event['name']}: no number")

    def _s(self, event: dict, at: int, lane: tuple[int, int]) -> None:
        flow = event["id"], event["cat"], event["name"]
        stack = self._stacks[lane]
        if flow in self.flows or type(event["id"]) is not int or not stack:
            self.faults.append(f"{flow} begins nowhere, or twice")
        self.flows[flow] = [stack[-1][1]] if stack else []

    def _f(self, event: dict, at: int, lane: tuple[int, int]) -> None:
        flow = event["id"], event["cat"], event["name"]
        stack = self._stacks[lane]
        if event["bp"] != "e" or flow not in self.flows or not stack:
            self.faults.append(f"{flow} ends nowhere, or before it begins")
            return
        self.flows[flow].append(stack[-1][1])

    def _b(self, event: dict, at: int, lane: tuple[int, int]) -> None:
        self._spans[event["cat"], event["id"], event["name"], event["pid"]].append(at)

    def _e(self, event: dict, at: int, lane: tuple[int, int]) -> None:
        span = self._spans[event["cat"], event["id"], event["name"], event["pid"]]
        if not span or span.pop() > at:
            self.faults.append(f"{event['name']} ends before it begins")


def host_spans(chance: random.Random, begin: float, end: float, depth: int) -> list[dict]:
    """Spans in spans, of which some begin or end with what is around them."""
    out = [{"name": f"span {depth}", "begin_us": begin, "end_us": end}]
    at = begin
    while depth and at < end and chance.random() < 0.8:
        to = chance.choice((end, at + (end - at) * chance.random()))
        out += host_spans(chance, at, to, depth - 1)
        at = to
    return out


def waits_of(plan: rg.Plan) -> list[list[str]]:
    """The last pass before each signal, and the first behind the wait for it."""
    signals = {(batch.queue, batch.signal): batch for batch in plan.batches if batch.signal}
    return sorted(
        [signals[wait.queue, wait.value].passes[-1], batch.passes[0]]
        for batch in plan.batches
        for wait in batch.waits
        if not wait.previous_run
    )


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "plans").glob("*.rgraph.json")), ids=lambda path: path.stem
)
def test_traces_of_plans_are_read_by_the_rules_of_perfetto(path: Path):
    plan = rg.Graph.load(path).bake(rg.Profile.discrete())
    imported = Imported(plan.to_trace())
    assert imported.faults == []
    assert sorted(imported.flows.values()) == waits_of(plan)


@pytest.mark.parametrize("seed", range(6))
def test_measured_traces_are_read_by_the_rules_of_perfetto(frame: rg.Plan, seed: int):
    chance = random.Random(seed)
    plan = layered(4, 9).bake(rg.Profile.discrete()) if seed % 2 else frame
    free: dict[str, float] = defaultdict(float)
    spans = []
    for one in plan.passes:
        if one.queue is None:
            continue
        # Passes of one queue overlap, follow each other without a gap, and take no time, as timestamps have it.
        begin = max(0.0, free[one.queue] - chance.choice((0.0, 0.0, 0.3, 4.7)))
        end = begin + chance.choice((0.0, 0.04, 1.0 / 3, 12.8, 100.0))
        free[one.queue] = max(free[one.queue], end)
        spans.append(rg_span(one.name, one.queue, begin, end))

    class Report:
        timeline = spans
        host_spans = (
            {"name": "record", "begin_us": -50.2, "end_us": 20.0},
            {"name": "upload", "begin_us": 20.0, "end_us": 20.0},
            {"name": "submit", "begin_us": 10.0, "end_us": 60.0},
            *host_spans(chance, 100.0, 900.0, 4),
        )
        calibrated = True

    imported = Imported(plan.to_trace(Report()))
    assert [fault for fault in imported.faults if "dropped" in fault or "lane" in fault] == []
    assert imported.faults == []


def test_the_reader_finds_what_it_is_for(frame: rg.Plan):
    values = json.loads(frame.to_trace())
    slices = [event for event in values["traceEvents"] if event["ph"] == "X"]
    slices[1]["ts"] = slices[0]["ts"] + slices[0]["dur"] / 2
    slices[1]["tid"] = slices[0]["tid"]
    slices[1]["dur"] = slices[0]["dur"]
    ends = [event for event in values["traceEvents"] if event["ph"] == "f"]
    ends[0]["ts"] = -1.0
    faults = " ".join(Imported(json.dumps(values)).faults)
    assert "dropped" in faults
    assert "before it begins" in faults
