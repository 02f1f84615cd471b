"""What passes cost in Python: declared with accesses alone, with source lines and without; and with one shader, run.

The first approximates a graph declared again for each frame. Goals: 2 ms without source lines, 3 ms with. The second
declares a chain of dispatches of one WGSL text and runs it, where there is a device: declared again, unchanged,
compiled. Goals: 1.0, 0.3 and 0.03 µs per pass, and 76 µs for one dispatch from its declaration until it is done. Run
with `make bench`, which builds a release module first; a debug build is several times slower.
"""

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import rgraph

PASSES = 1024
SHADER = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&data) { data[id.x] += 1u; }
}
"""


def declare() -> rgraph.Graph:
    """Declare passes that sample the two images before and render to the next."""
    graph = rgraph.Graph("frame")
    images = [graph.image(f"image{at}", format="rgba8unorm") for at in range(PASSES + 2)]
    before, last = images[0], images[1]
    for at in range(PASSES):
        target = images[at + 2]
        graph.add_pass(f"pass{at}").sampled(before, last).color(target)
        before, last = last, target
    return graph


def passes_only() -> float:
    """Seconds that passes and accesses take, images declared before."""
    graph = rgraph.Graph("frame")
    images = [graph.image(f"image{at}", format="rgba8unorm") for at in range(PASSES + 2)]
    names = [f"pass{at}" for at in range(PASSES)]
    start = time.perf_counter()
    before, last = images[0], images[1]
    for name, target in zip(names, images[2:], strict=True):
        graph.add_pass(name).sampled(before, last).color(target)
        before, last = last, target
    return time.perf_counter() - start


def whole() -> float:
    """Seconds that the whole declaration takes, images and names included."""
    start = time.perf_counter()
    declare()
    return time.perf_counter() - start


def chain(names: list[str]) -> rgraph.Graph:
    """Declare dispatches of one shader in one buffer."""
    graph = rgraph.Graph("chain")
    data = graph.buffer("data", 256)
    graph.fill("zero", data, 0)
    for name in names:
        graph.compute(name, SHADER, groups=(1, 1, 1), data=data)
    graph.root(data)
    return graph


def took(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    """Microseconds that something takes, and what it gives."""
    start = clock()
    value = work()
    return (clock() - start) * 1e6, value


def dispatches(device: rgraph.Device, passes: int, runs: int) -> None:
    """Print what a chain costs this thread, per pass: the least of some runs, since others use the machine too."""
    names = [f"p{at}" for at in range(passes)]
    figures: dict[str, list[float]] = {"declared": [], "run anew": [], "run unchanged": [], "run compiled": []}
    for at in range(runs + 1):
        us, graph = took(lambda: chain(names))
        figures["declared"].append(us)
        for name in ("run anew", "run unchanged"):
            us, frame = took(partial(device.run, graph, read=[]), time.thread_time)
            frame.wait()
            # The first run compiles.
            figures[name] += [us] if at else []
    compiled = device.compile(graph)
    for at in range(4 + runs):
        us, frame = took(partial(device.run, compiled, read=[]), time.thread_time)
        frame.wait()
        figures["run compiled"] += [us] if at >= 4 else []
    shown = ", ".join(f"{name} {min(all_us) / passes:.3f}" for name, all_us in figures.items())
    print(f"{passes} dispatches, µs per pass: {shown}")


def one(device: rgraph.Device, runs: int) -> None:
    """Print what one dispatch takes from its declaration until it is done."""
    walls = [took(lambda: device.run(chain(["only"])).wait())[0] for _ in range(runs)]
    print(f"one dispatch, declared, run, waited for: {min(walls):.1f} µs, median {statistics.median(walls):.1f}")


def main(runs: int) -> None:
    """Print the median of so many runs."""
    for tracking in (False, True):
        rgraph.set_source_tracking(tracking)
        for name, measure in (("passes and accesses", passes_only), ("with images and names", whole)):
            measure()
            median = statistics.median(measure() for _ in range(runs))
            lines = "with source lines" if tracking else "without source lines"
            print(f"{PASSES} passes, three accesses each, {lines}, {name}: {median * 1e3:.3f} ms")
    try:
        device = rgraph.Device()
    except rgraph.DeviceError as error:
        print(f"no dispatches: {str(error).splitlines()[0]}")
        return
    with device:
        for passes in (100, PASSES, 16 * PASSES):
            dispatches(device, passes, max(2, runs * 100 // passes))
        one(device, 10 * runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
