"""The demo's frame by policy, memory and queues: whether the default is the fastest of them on this device.

    python benches/policies.py [--sizes 1280x720,3840x2160] [--rounds 7] [--costs FILE]

Each way is compiled of the same declaration, whose passes leave their queue to the planner but where a way names one.
The ways take turns, and printed are microseconds from frame to frame with many under way, the median of all rounds, and
what the default takes of the fastest way's time. `FILE` is what `rgraph doctor --measure --profile FILE` wrote.
"""

import argparse
import statistics
import time
from typing import Any

import rgraph as rg
from rgraph.demo import deferred

FRAMES = 60
#: By name: the queue of passes that any queue may run, and options of `compile`.
WAYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "default": ("any", {}),
    "declared order": ("any", {"policy": "declared"}),
    "overlap": ("any", {"policy": "overlap"}),
    "box tree": ("any", {"policy": "box_tree"}),
    "effort 0": ("any", {"effort": 0}),
    "effort 3": ("any", {"effort": 3}),
    "least memory": ("any", {"memory": "least"}),
    "fast memory": ("any", {"memory": "fast"}),
    "one queue": ("graphics", {}),
    "one queue, declared order": ("graphics", {"policy": "declared"}),
    "async compute": ("async_compute", {}),
}


class Way:
    """The frame as one way compiles it."""

    def __init__(self, device: rg.Device, size: tuple[int, int], queue: Any, options: dict[str, Any]) -> None:
        self.compiled = device.compile(deferred.build(size, beside=queue), **options)
        self.size = size
        self.number = 0
        self.times: list[float] = []

    def frame(self) -> rg.Frame:
        """Run the next frame."""
        values = deferred.constants(self.number, self.size, seconds=self.number / 60, step=1 / 60)
        flags = {deferred.FIRST: self.number == 0}
        self.number += 1
        step = {("exposure/adapt", "time"): 1 / 60}
        return self.compiled.run(inputs={"constants": values}, flags=flags, params=step, read=[])

    def measure(self) -> None:
        """Time many frames that follow each other."""
        self.frame().wait()
        start = time.perf_counter()
        for _ in range(FRAMES - 1):
            self.frame()
        self.frame().wait()
        self.times.append((time.perf_counter() - start) * 1e6 / FRAMES)


def main() -> None:
    """Print one table for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1280x720,3840x2160", help="sizes of the picture, separated by commas")
    parser.add_argument("--rounds", type=int, default=7, help="times that each way is measured")
    parser.add_argument("--costs", help="a profile that rgraph doctor --measure wrote")
    asked = parser.parse_args()
    with rg.Device(costs=asked.costs) as device:
        print(f"{device.info.name}, rgraph {rg.__version__}, the deferred demo, µs per frame")
        for text in asked.sizes.split(","):
            width, height = map(int, text.split("x"))
            ways = {name: Way(device, (width, height), queue, options) for name, (queue, options) in WAYS.items()}
            for _ in range(asked.rounds):
                for way in ways.values():
                    way.measure()
            medians = {name: statistics.median(way.times) for name, way in ways.items()}
            print(f"\n{text}: the default takes {medians['default'] / min(medians.values()):.3f} of the fastest")
            for name, us in sorted(medians.items(), key=lambda one: one[1]):
                plan = ways[name].compiled.plan
                print(f"  {name:28}{us:9.1f}  {len(plan.batches)} batches, {plan.memory.total / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
