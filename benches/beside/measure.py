"""Measure one library in this process: ``python benches/beside/measure.py NAME first|run``; prints JSON."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from libraries import LIBRARIES

MIB = 1 << 20
SIZES = (1, 16, 64, 256)
ROUNDS = 7


def least(work: Callable[[], Any], wait: Callable[[], Any], repeats: int, clock: Callable[[], float]) -> float:
    """Microseconds of one call, the least of some rounds; the wait is outside of them."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = clock()
        for _ in range(repeats):
            work()
        best = min(best, clock() - start)
        wait()
    return best * 1e6 / repeats


def walls(work: Callable[[], Any], wait: Callable[[], Any], repeats: int) -> float:
    """Microseconds of one call until the device is done, of several in a row: the least of some rounds."""

    def batch() -> None:
        for _ in range(repeats):
            work()
        wait()

    return least(batch, lambda: None, 1, time.perf_counter) / repeats


def rate(work: Callable[[], Any], wait: Callable[[], Any], size: int) -> float:
    """MiB/s of a transfer that is repeated for a while, the last wait included: the best of some rounds."""
    best = 0.0
    for _ in range(3):
        work()
        wait()
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < 0.2 or count < 2:
            work()
            count += 1
        wait()
        best = max(best, count * size / MIB / (time.perf_counter() - start))
    return best


def figures(library: Any) -> dict[str, float]:
    """Figures by name; the chains are checked by what they added."""
    out: dict[str, float] = {}
    for passes in (100, 1024):
        repeats = max(2, 800 // passes)
        for way in ("anew", "again"):
            run = getattr(library, way)(passes)
            before = library.check()
            run()
            library.wait()
            assert library.check() - before == passes, (library.name, way, passes)
            out[f"cpu_{way}_{passes}"] = least(run, library.wait, repeats, time.thread_time) / passes
            out[f"wall_{way}_{passes}"] = walls(run, library.wait, repeats) / passes
    one = library.anew(1)

    def whole() -> None:
        one()
        library.wait()

    out["one"] = least(whole, lambda: None, 20, time.perf_counter)
    for way in ("up", "down", "pinned_up", "pinned_down"):
        if make := getattr(library, way, None):
            for mib in SIZES:
                out[f"{way}_{mib}"] = rate(make(mib * MIB), library.wait, mib * MIB)
    return out


def first(name: str) -> dict[str, float]:
    """Milliseconds of the import, of the first chain of 100 on a device, and of all with its opening: once per run."""
    module = {"wgpu-py": "wgpu"}.get(name, name)
    start = time.perf_counter()
    __import__(module)
    imported = time.perf_counter()
    library = LIBRARIES[name]()
    opened = time.perf_counter()
    library.anew(100)()
    library.wait()
    done = time.perf_counter()
    spans = {"import": imported - start, "first_run": done - opened, "first_chain": done - start}
    return {span: seconds * 1e3 for span, seconds in spans.items()}


def main(name: str, what: str) -> None:
    """Print what was measured."""
    if what == "first":
        print(json.dumps({"figures": first(name)}))
        return
    library = LIBRARIES[name]()
    print(
        json.dumps({"version": library.version, "gpu": library.gpu, "says": library.says, "figures": figures(library)})
    )


if __name__ == "__main__":
    main(*sys.argv[1:3])
