"""W15: a run goes into every capture that is under way, whoever else captures it."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np

import rgraph as rg

ADD = """
@group(0) @binding(0) var<storage, read_write> sum: array<u32>;
var<immediate> by: u32;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { sum[id.x] += by; }
"""


def adding(name: str = "adding") -> rg.Graph:
    """A sum that grows from run to run."""
    g = rg.Graph(name)
    total = g.buffer("sum", shape=4, dtype="uint32", persistent=True)
    g.compute("add", ADD, sum=total, push=1, groups=1)
    g.root(total)
    return g


def test_run_goes_into_every_capture_that_is_under_way(device: rg.Device, tmp_path: Path) -> None:
    compiled, other = device.compile(adding()), device.compile(adding("other"))
    outer, inner, late = (tmp_path / f"{name}.rcapture" for name in ("outer", "inner", "late"))
    with device.capture(outer, frames=20) as all_runs:
        compiled.run()
        with compiled.capture(inner, frames=20) as some, device.capture(late, frames=2) as two:
            compiled.run(params={"add": 10})
            other.run()
            assert two.done, "the capture of two runs ends with the second one"
            compiled.run(params={"add": 100})
        left = compiled.run()["sum"][0]
    assert (all_runs.frames, some.frames, two.frames, int(left)) == (5, 2, 2, 112)
    for path, graphs in (
        (outer, "adding adding other adding adding"),
        (inner, "adding adding"),
        (late, "adding other"),
    ):
        report = device.replay(path)
        assert report.equal, report.text
        assert report.graphs == tuple(graphs.split())


def test_runs_of_several_threads_are_all_captured(device: rg.Device, tmp_path: Path) -> None:
    path = tmp_path / "threads.rcapture"
    graphs = [device.compile(adding(f"thread {n}")) for n in range(3)]
    left: list[int] = []

    def loop(compiled: rg.Compiled) -> None:
        left.extend(int(np.array(compiled.run()["sum"])[0]) for _ in range(8))

    with device.capture(path, frames=100) as capture:
        threads = [threading.Thread(target=loop, args=(compiled,)) for compiled in graphs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(left) == sorted([*range(1, 9)] * 3)
    assert capture.frames == 24, "no run is left out while another one is captured"
    report = device.replay(path)
    assert report.equal, report.text
