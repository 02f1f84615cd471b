"""Large frames: what a pass costs at 1,024 and 65,536 passes, from its declaration to its run.

Run with ``python benches/size.py``.

Each row is a step, in microseconds (files and pages: bytes) per pass, and the ratio of the two. The frame is as many
dispatches of one shader, in eight chains over a buffer each; the goal is a ratio of 1. Without a Vulkan device the
steps that need none are measured. The least of some runs counts, since others use the machine too; times of the
interpreter's thread where nothing waits for the device.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import rgraph as rg

SIZES = (1_024, 65_536)
CHAINS = 8
RUNS = {1_024: 9, 65_536: 3}
SHADER = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] += 1u; }
"""


def declared(passes: int) -> rg.Graph:
    """Chains of dispatches, one pass after the other in turn."""
    g = rg.Graph("large")
    chains = [g.buffer(f"chain{at}", 256, persistent=True) for at in range(CHAINS)]
    for at in range(passes):
        g.compute(f"p{at}", SHADER, groups=(1, 1, 1), data=chains[at % CHAINS])
    for chain in chains:
        g.root(chain)
    return g


def in_parts(passes: int) -> rg.Graph:
    """Each pass writes a part of one buffer, and the last one reads all of it."""
    g = rg.Graph("parts")
    whole, out = g.buffer("whole", 64 * passes), g.buffer("out", 64)
    for at in range(passes - 1):
        g.add_pass(f"p{at}", queue="compute").storage_write(whole, range=(64 * at, 64 * at + 64))
    g.add_pass("sum", queue="compute").storage_read(whole, range=(0, 64 * passes - 64)).storage_write(out)
    g.root(out)
    return g


def unordered(passes: int) -> rg.Graph:
    """All passes add to one buffer, in any order."""
    g = rg.Graph("unordered")
    total = g.buffer("total", 64, persistent=True)
    for at in range(passes):
        g.add_pass(f"p{at}", queue="compute").storage_read_write(total, unordered=True)
    g.root(total)
    return g


def least(passes: int, work: Callable[..., Any], *, of: Callable[[], Any] | None = None) -> tuple[float, Any]:
    """Microseconds per pass that something takes, the least of some runs, and what it gives; ``of`` prepares each."""
    best, value = float("inf"), None
    for _ in range(RUNS[passes]):
        given, value = () if of is None else (of(),), None
        start = time.perf_counter()
        value = work(*given)
        best = min(best, (time.perf_counter() - start) * 1e6 / passes)
    return best, value


def ahead(passes: int, folder: Path) -> dict[str, float]:
    """Steps that need no device."""
    figures: dict[str, float] = {}
    anew = partial(declared, passes)
    figures["declare"], g = least(passes, anew)
    figures["bake, effort 0"], _ = least(passes, lambda anew: anew.bake("discrete", effort=0), of=anew)
    figures["bake, default"], plan = least(passes, lambda anew: anew.bake("discrete"), of=anew)
    figures["check"], found = least(passes, lambda: plan.check(g))
    assert not found, found[0]
    for name, shape in (("parts of a buffer", in_parts), ("unordered passes", unordered)):
        other = shape(passes)
        figures[f"bake, {name}"], planned = least(passes, lambda anew: anew.bake("discrete"), of=partial(shape, passes))
        figures[f"check, {name}"], found = least(passes, partial(planned.check, other))
        assert not found, found[0]
    for name, suffix in (("file", "rplan.json"), ("page", "html")):
        path = folder / f"{passes}.{suffix}"
        figures[f"{name}, written"], _ = least(passes, lambda path=path: plan.save(path))
        figures[f"{name}, bytes"] = path.stat().st_size / passes
    figures["file, read"], again = least(passes, lambda: rg.Plan.load(folder / f"{passes}.rplan.json"))
    assert again == plan
    return figures


def on_device(device: rg.Device, passes: int) -> dict[str, float]:
    """Steps on a device."""
    figures: dict[str, float] = {}
    figures["compile, default bake included"], compiled = least(passes, device.compile, of=partial(declared, passes))
    start = time.perf_counter()
    compiled.run().wait()
    figures["first run, waited for"] = (time.perf_counter() - start) * 1e6 / passes
    figures["run again, waited for"], _ = least(passes, lambda: compiled.run().wait())
    return figures


def main() -> int:
    """Print the table."""
    columns: list[dict[str, float]] = []
    try:
        device = rg.Device()
        print(device.profile.name)
    except rg.DeviceError as error:
        device = None
        print(f"no device: {error}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        for passes in SIZES:
            figures = ahead(passes, Path(folder))
            if device is not None:
                figures |= on_device(device, passes)
            columns.append(figures)
    print(f"{'per pass':32}" + "".join(f"{passes:>12,}" for passes in SIZES) + f"{'ratio':>8}")
    for name, small in columns[0].items():
        large = columns[1][name]
        print(f"{name:32}{small:12.3f}{large:12.3f}{large / small:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
