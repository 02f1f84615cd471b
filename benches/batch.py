"""Cost of a task of `rgraph.batch` compared with the bare run of its frame: `python benches/batch.py`.

The frame is one dispatch, so that little but the way of the task is measured. Workers are warm: the first pass over the
tasks, with start and compile, is printed apart. Needs `rgraph-vulkan[dask]` for the lines of Dask.
"""

import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

import rgraph as rg
from rgraph import batch

SHADER = """
var<immediate> seed: u32;
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { textureStore(dst, id.xy, vec4(f32(seed & 255u) / 255.0)); }
"""
TASKS, ROUNDS = 240, 3


def frame(width: int, height: int) -> rg.Graph:
    """The graph of one frame."""
    g = rg.Graph("frame", size=(width, height))
    out = g.image("out", format="rgba8unorm")
    g.compute("draw", SHADER, dst=out, push=0)
    g.root(out)
    return g


def bare(graph: rg.Graph) -> float:
    """Microseconds per frame of a loop that runs and copies, as the worker does."""
    with rg.Device() as device:
        done = device.compile(graph)
        times = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            for seed in range(TASKS):
                np.array(done.run(params={"draw": seed})["out"])
            times.append((time.perf_counter() - begin) / TASKS * 1e6)
    return statistics.median(times)


@contextmanager
def dask(workers: int) -> Iterator[object]:
    """A client of a cluster on this machine."""
    import distributed as untyped

    of: Any = untyped
    with (
        of.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        of.Client(cluster) as client,
    ):
        yield client


def main() -> None:
    """Print a table."""
    tasks = batch.seeds(TASKS, "draw")
    for width, height in ((64, 64), (512, 512)):
        graph = frame(width, height)
        print(f"{width}x{height}: bare loop {bare(graph):.0f} µs per frame")
        for name, pool in (
            ("threads(1)", ThreadPoolExecutor(1)),
            ("Processes(1)", batch.Processes(1)),
            ("Processes(2)", batch.Processes(2)),
            ("Dask, 1 process", dask(1)),
            ("Dask, 2 processes", dask(2)),
        ):
            with pool as on:
                for read in ([], ["out"]):
                    times = []
                    for _ in range(ROUNDS + 1):
                        begin = time.perf_counter()
                        for _result in batch.run(graph, tasks, on=on, read=read):
                            pass
                        times.append((time.perf_counter() - begin) / TASKS * 1e6)
                    what = "arrays come back" if read else "nothing comes back"
                    middle = statistics.median(times[1:])
                    print(f"  {name:18} {what:18} {middle:6.0f} µs per task, first {times[0]:.0f}")


if __name__ == "__main__":
    main()
