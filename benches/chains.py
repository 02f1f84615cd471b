"""Independent chains of dispatches on one device: what of the planned overlap arrives, and what measuring takes of it.

Each chain is 40 dispatches over a buffer of its own of 65,536 numbers. Printed are microseconds from frame to frame
with many frames under way, by order, queues and measured times: ``python benches/chains.py [--chains 1,2,4,8]``.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import rgraph as rg
from rgraph.cli.doctor.measure import period

STEPS = 40
NUMBERS = 65536
STEP = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] += 1u; }
"""
WAYS: dict[str, tuple[Callable[[int], Any], dict[str, Any]]] = {
    "declared": (lambda _: "compute", {"policy": "declared"}),
    "overlap": (lambda _: "compute", {"policy": "overlap"}),
    "auto": (lambda _: "compute", {}),
    'queue="any"': (lambda _: "any", {}),
    "every other async": (lambda chain: ("compute", "async_compute")[chain % 2], {}),
    "batches measured": (lambda _: "compute", {"measure": "batches"}),
    "passes measured": (lambda _: "compute", {"measure": "passes"}),
}


def chains(count: int, queue: Callable[[int], Any]) -> rg.Graph:
    """As many chains, declared one after the other."""
    g = rg.Graph("chains")
    for chain in range(count):
        data = g.buffer(f"data{chain}", NUMBERS * 4)
        g.compute(f"zero{chain}", STEP.replace("+= 1u", "= 0u"), data=data, groups=NUMBERS // 64, queue=queue(chain))
        for step in range(1, STEPS):
            g.compute(f"chain{chain} {step}", STEP, data=data, groups=NUMBERS // 64, queue=queue(chain))
        g.root(data)
    return g


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chains", default="1,2,4,8", help="numbers of chains, separated by commas")
    counts = [int(count) for count in parser.parse_args().chains.split(",")]
    with rg.Device() as device:
        print(f"{device.info.name}, rgraph {rg.__version__}, chains of {STEPS} dispatches, µs per frame")
        print(f"{'chains':20}" + "".join(f"{count:>10}" for count in counts))
        for name, (queue, options) in WAYS.items():
            row = []
            for count in counts:
                compiled = device.compile(chains(count, queue), **options)
                row.append(period(device, compiled))
                frame = compiled.run()
                for chain in range(count):
                    assert (np.asarray(frame[f"data{chain}"]).view(np.uint32) == STEPS - 1).all()
            print(f"{name:20}" + "".join(f"{us:10.1f}" for us in row))


if __name__ == "__main__":
    main()
