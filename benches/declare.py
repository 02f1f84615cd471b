"""Time of declaring 1,024 passes with three accesses each from Python, with source lines and without.

Approximates a frame declared anew each time. Goals: 2 ms without source lines, 3 ms with. Run with `make bench`, which
builds a release module first; a debug build is several times slower.
"""

import statistics
import sys
import time

import rgraph

PASSES = 1024


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


def main(runs: int) -> None:
    """Print the median of so many runs."""
    for tracking in (False, True):
        rgraph.set_source_tracking(tracking)
        for name, measure in (("passes and accesses", passes_only), ("with images and names", whole)):
            measure()
            median = statistics.median(measure() for _ in range(runs))
            lines = "with source lines" if tracking else "without source lines"
            print(f"{PASSES} passes, three accesses each, {lines}, {name}: {median * 1e3:.3f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
