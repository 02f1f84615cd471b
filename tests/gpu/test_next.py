"""Graphs that come after others: what lives from frame to frame goes along."""

import numpy as np
import pytest

import rgraph as rg

COUNT = """
@group(0) @binding(0) var<storage, read_write> total: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { total[id.x] += 1u; }
"""

ADD = """
@group(0) @binding(0) var<storage, read> before: array<u32>;
@group(0) @binding(1) var<storage, read_write> now: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { now[id.x] = before[id.x] + 10u; }
"""


def counting(others: int, size: int = 16) -> rg.Graph:
    """Counts runs, adds to a history, and does other things in other numbers."""
    g = rg.Graph("counting")
    for at in range(others):
        g.root(other := g.buffer(f"other{at}", 64))
        g.fill(f"fill{at}", other, at)
    total = g.buffer("total", size, persistent=True)
    g.compute("count", COUNT, total=total, groups=1)
    now = g.buffer("now", 16)
    g.compute("add", ADD, before=now.previous(), now=now, groups=1)
    g.root(total, now)
    return g


def found(frame: rg.Frame) -> tuple[int, int]:
    """The first words of both."""
    return int(frame["total"].view(np.uint32)[0]), int(frame["now"].view(np.uint32)[0])


def test_contents_go_along(device: rg.Device) -> None:
    """Declared again for each frame, with frames in flight that are read at the end."""
    compiled = device.compile(counting(0))
    frames = [device.run(compiled)]
    for at in range(1, 6):
        compiled = device.compile(counting(at % 3), previous=compiled)
        frames.append(device.run(compiled))
    assert [found(frame) for frame in frames] == [(at, 10 * at) for at in range(1, 7)]


def test_another_shape_begins_anew(device: rg.Device) -> None:
    """A note says what does not go along."""
    first = device.compile(counting(0))
    device.run(first).wait()
    wider = device.compile(counting(0, size=32), previous=first)
    frame = device.run(wider)
    assert found(frame) == (1, 20)
    note = '"total" is reset: it was a buffer of 16 bytes, and is a buffer of 32 bytes'
    assert note in frame.report.notes
    with pytest.raises(rg.BusyError, match="RG-E403"):
        device.run(first)
    with pytest.raises(rg.BusyError, match="RG-E403"):
        device.compile(counting(0), previous=first)


def test_a_tuned_graph_hands_over_what_its_last_plan_left(device: rg.Device) -> None:
    """The tuner's graphs take turns; the next one goes on behind the last."""
    tuned = device.compile(counting(2))
    for _ in range(40):
        frame = device.run(tuned, adapt=True)
    assert found(frame) == (40, 400)
    after = device.compile(counting(1), previous=tuned)
    assert found(device.run(after)) == (41, 410)
    with pytest.raises(rg.BusyError, match="RG-E403"):
        device.run(tuned, adapt=True)


def test_plans_go_along_and_other_devices_do_not(device: rg.Device) -> None:
    """A plan of the next graph is checked."""
    first = device.compile(counting(0))
    device.run(first).wait()
    second = device.compile(counting(1).bake(device.profile), previous=first)
    assert found(device.run(second)) == (2, 20)
    with rg.Device() as other, pytest.raises(rg.DeviceError, match="RG-E131"):
        other.compile(counting(0), previous=second)
