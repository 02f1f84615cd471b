"""Bytes between host and device: MiB/s by size and method, compared with torch's copies where torch finds a GPU.

    python benches/transfers.py [--sizes 1,16,64,256] [--seconds 0.3]

Each figure is the best of a few rounds; a round repeats one transfer for `--seconds` and then waits for the device.
Ways that the installed rgraph does not have are left out, so two versions of it can be compared.
"""

import argparse
import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rgraph as rg

MIB = 1 << 20
Ways = dict[str, tuple[Callable[[], object], float]]
COPY = """
@group(0) @binding(0) var<storage, read> src: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> dst: array<vec4<u32>>;
@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>,
                                      @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < arrayLength(&dst); at += groups.x * 256u) { dst[at] = src[at]; }
}"""


def rate(transfer: Callable[[], object], wait: Callable[[], object], mib: float, seconds: float) -> float:
    """MiB/s of a transfer that is repeated, the last wait included."""
    best = 0.0
    for _ in range(3):
        transfer()
        wait()
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds or count < 2:
            transfer()
            count += 1
        wait()
        best = max(best, count * mib / (time.perf_counter() - start))
    return best


def of_rgraph(device: rg.Device, mib: int) -> Ways:
    """Ways of rgraph by name, each with the MiB that it moves."""
    size = mib * MIB
    array, back = np.ones(size // 4, np.uint32), np.zeros(size // 4, np.uint32)
    buffer = device.buffer("bytes", size)
    buffer.write(array)
    g = rg.Graph("copy")
    src, dst = g.import_buffer("src", size), g.buffer("dst", size=size)
    g.compute("copy", COPY, src=src, dst=dst, groups=1024)
    g.root(dst)
    compiled = device.compile(g)
    frames: list[rg.Frame] = []

    def run(given: Any) -> None:
        frames.append(compiled.run(inputs={"src": given}))
        if len(frames) > 2:
            frames.pop(0)["dst"]

    ways: Ways = {
        "write": (lambda: buffer.write(array), mib),
        "read": (lambda: buffer.read(), mib),
        "graph, up and down": (lambda: run(array), 2.0 * mib),
    }
    if hasattr(device, "array"):
        locked = device.array(size // 4, "uint32")
        locked[:] = 1
        ways |= {
            "read(into=)": (lambda: buffer.read(into=back), mib),
            "write, device.array": (lambda: buffer.write(locked), mib),
            "read(into=), device.array": (lambda: buffer.read(into=locked), mib),
            "graph, up and down, device.array": (lambda: run(locked), 2.0 * mib),
        }
    return ways


def of_torch(mib: int) -> Ways:
    """Ways of torch by name; none where it is not installed or sees no GPU."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    shape = mib * MIB // 4
    there, pageable = torch.ones(shape, device="cuda"), torch.ones(shape)
    pinned = torch.ones(shape, pin_memory=True)
    return {
        "torch pageable, up": (lambda: there.copy_(pageable), mib),
        "torch pageable, down": (lambda: pageable.copy_(there), mib),
        "torch pinned, up": (lambda: there.copy_(pinned), mib),
        "torch pinned, down": (lambda: pinned.copy_(there), mib),
    }


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1,16,64,256", help="MiB, separated by commas")
    parser.add_argument("--seconds", type=float, default=0.3, help="how long a round takes")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    rows: dict[str, list[str]] = {}
    with rg.Device() as device:
        print(f"{device.info.name}, rgraph {rg.__version__}, MiB/s")
        for mib in sizes:
            both = [(of_rgraph(device, mib), device.wait_idle), (of_torch(mib), lambda: None)]
            for ways, wait in both:
                for name, (transfer, moved) in ways.items():
                    rows.setdefault(name, []).append(f"{rate(transfer, wait, moved, options.seconds):,.0f}")
    width = max(map(len, rows))
    print(" " * width, *(f"{size:>9} MiB" for size in sizes))
    for name, rates in rows.items():
        print(f"{name:<{width}}", *(f"{rate:>13}" for rate in rates))


if __name__ == "__main__":
    main()
