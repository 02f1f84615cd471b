"""What barriers, submits, waits and passes cost on a device: the costs of its profile, from small graphs that run.

The model of a frame (`docs/concepts/schedule.md`) has a term for each. Each is measured as the model uses it, by how
much longer a frame becomes that has more of it, so what all frames have in common does not count.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rgraph._core import Compiled, Device, Graph, Profile, _Queue

__all__ = ["Costs", "measure", "measured_profile", "period", "text"]

FEW, MANY = 64, 256
FEW_HOPS, MANY_HOPS = 16, 64
ROUNDS = 9
WARM_SECONDS = 0.1
STEP = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&data)) { data[id.x] += 1u; }
}
"""
# Arithmetic alone, and enough of it that its start and end do not count.
DISPATCH = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    var word = id.x + id.y * groups.x * 64u;
    for (var i = 0u; i < 2048u; i++) { word = word * 1664525u + 1013904223u; }
    if (word == 0u) { data[0] = 1u; }
}
"""
# As much for each pixel.
DRAW = """
@vertex
fn corner(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment
fn main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    var word = u32(place.x) + u32(place.y) * 8u;
    for (var i = 0u; i < 2048u; i++) { word = word * 1664525u + 1013904223u; }
    return vec4<f32>(f32(word & 255u) / 255.0);
}
"""
PAIRS = 8
LONG_US = 2_000.0
MOST_INVOCATIONS = 1 << 24


class Costs(NamedTuple):
    """What was measured, in microseconds but for the last two; None: the device lacks the queues for it.

    Parameters
    ----------
    barrier_us, submit_us, cross_queue_us, pass_us
        As in a profile file.
    width
        Invocations that fill the device.
    draws_overlap_dispatches
        Whether the device draws while dispatches run that were recorded before, with nothing between them.
    """

    barrier_us: float
    submit_us: float
    cross_queue_us: float | None
    pass_us: float
    width: int
    draws_overlap_dispatches: bool | None


def _steps(count: int, buffers: int, queues: tuple[_Queue, ...]) -> Graph:
    """Dispatches of one workgroup, each on the next of some buffers and queues."""
    from rgraph._core import Graph

    graph = Graph("costs")
    data = [graph.buffer(f"data {at}", 256, persistent=True) for at in range(buffers)]
    for at in range(count):
        graph.compute(f"step {at}", STEP, groups=1, queue=queues[at % len(queues)], data=data[at % buffers])
    graph.root(*data)
    return graph


def period(device: Device, compiled: Compiled) -> float:
    """Microseconds from frame to frame where many follow each other: the least of some rounds.

    Parameters
    ----------
    device
        Where it runs.
    compiled
        What runs.
    """
    device.run(compiled, read=[]).wait()
    start = time.perf_counter()
    device.run(compiled, read=[]).wait()
    frames = max(4, min(200, int(0.01 / (time.perf_counter() - start))))
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(frames - 1):
            device.run(compiled, read=[])
        device.run(compiled, read=[]).wait()
        rounds.append((time.perf_counter() - start) * 1e6 / frames)
    return min(rounds)


def _periods(
    device: Device, counts: tuple[int, int], independent: bool, queues: tuple[_Queue, ...]
) -> tuple[float, float]:
    """A frame's microseconds per dispatch, and what the frame costs besides."""
    few, many = (
        period(device, device.compile(_steps(count, count if independent else 1, queues), split_barriers="never"))
        for count in counts
    )
    slope = max((many - few) / (counts[1] - counts[0]), 0.0)
    return slope, max(few - counts[0] * slope, 0.0)


def _alone(device: Device, graph: Graph) -> float:
    """Microseconds of a pass that others do not overlap: the median of a frame's passes, the least of some frames."""
    compiled = device.compile(graph, measure="passes")
    frames = [device.run(compiled, read=[]).report.pass_us.values() for _ in range(ROUNDS)]
    return min(statistics.median(frame) for frame in frames)


def _width(device: Device) -> int:
    """Invocations that fill the device: as many as it ends in the time that one workgroup takes, where it has many."""
    from rgraph._core import Graph

    times: dict[int, float] = {}
    invocations = 64
    while invocations <= MOST_INVOCATIONS:
        graph = Graph("width")
        data = graph.buffer("data", 256, persistent=True)
        groups = invocations // 64
        for at in range(4):
            graph.compute(f"maths {at}", DISPATCH, groups=(min(groups, 1 << 15), max(groups >> 15, 1), 1), data=data)
        graph.root(data)
        times[invocations] = _alone(device, graph)
        if times[invocations] > min(16.0 * times[64], LONG_US):
            break
        invocations *= 4
    fewer, most = sorted(times)[-2:]
    each = (times[most] - times[fewer]) / (most - fewer)
    return max(int(times[64] / each), 1) if each > 0.0 else most


def _mixed(device: Device, alternately: bool) -> float:
    """Microseconds of a frame of independent draws and dispatches, in turn or the dispatches first."""
    from rgraph._core import Graph

    graph = Graph("mixed")
    kinds = ["dispatch", "draw"] * PAIRS if alternately else ["dispatch"] * PAIRS + ["draw"] * PAIRS
    for at, kind in enumerate(kinds):
        if kind == "draw":
            image = graph.image(f"image {at}", size=(8, 8), format="rgba8unorm")
            graph.raster(f"{kind} {at}", DRAW, color=image, load="discard")
            graph.root(image)
        else:
            data = graph.buffer(f"data {at}", 256, persistent=True)
            graph.compute(f"{kind} {at}", DISPATCH, groups=1, data=data)
            graph.root(data)
    return period(device, device.compile(graph, policy="declared"))


def measure(device: Device) -> Costs:
    """Measure a device, which takes about a second on a GPU that has nothing else to do.

    Parameters
    ----------
    device
        The device.
    """
    steps = _steps(FEW, 1, ("compute",))
    # Clocks rise while the device works.
    warm = time.perf_counter() + WARM_SECONDS
    while time.perf_counter() < warm:
        device.run(steps, read=[])
    alone = _alone(device, steps)
    step, rest = _periods(device, (FEW, MANY), False, ("compute",))
    barrier_us = max(step - alone, 0.0)
    # A frame of n dependent dispatches has n - 1 barrier calls.
    submit_us = rest + barrier_us
    pass_us, _ = _periods(device, (FEW, MANY), True, ("compute",))
    cross = None
    if len(device.profile.queues) > 1 and device.profile.queues[1].startswith("compute"):
        hop, _ = _periods(device, (FEW_HOPS, MANY_HOPS), False, ("compute", "async_compute"))
        cross = max(hop - alone - submit_us, 0.0)
    # Before the first draw: after it lavapipe 22.3.6 writes timestamps of dispatches too early.
    width = _width(device)
    overlap = None
    if "graphics" in device.profile.to_dict()["queues"][0]["capabilities"]:
        # In turn they take as long as one after the other, or hardly longer than a draw and a dispatch.
        overlap = _mixed(device, True) < 2.0 * _mixed(device, False)
    return Costs(barrier_us, submit_us, cross, pass_us, width, overlap)


def measured_profile(profile: Profile, costs: Costs) -> Profile:
    """A profile with costs that were measured.

    Parameters
    ----------
    profile
        The device's.
    costs
        What was measured; what was not keeps its value.
    """
    from rgraph._core import Profile

    known = {name: value for name, value in costs._asdict().items() if value is not None}
    rounded = {name: round(value, 3) if isinstance(value, float) else value for name, value in known.items()}
    return Profile.from_dict({**profile.to_dict(), **rounded})


def text(device: Device, costs: Costs) -> str:
    """Lines that say what was measured.

    Parameters
    ----------
    device
        The device.
    costs
        What was measured.
    """
    words = {
        "barrier_us": ("a barrier call", "µs"),
        "submit_us": ("a submit", "µs"),
        "cross_queue_us": ("a wait for another queue", "µs"),
        "pass_us": ("between the starts of two passes, at least", "µs"),
        "width": ("the device is full with", "invocations"),
        "draws_overlap_dispatches": ("draws and dispatches of a queue overlap", ""),
    }
    lines = [device.info.name]
    for name, value in costs._asdict().items():
        what, unit = words[name]
        if isinstance(value, bool):
            shown = "yes" if value else "no"
        else:
            shown = "not measured" if value is None else f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
        lines.append(f"  {what:44}{shown:>14} {unit if value is not None else ''}".rstrip())
    return "\n".join(lines)
