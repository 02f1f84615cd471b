"""What doctor asks Vulkan, in a process of its own: drivers crash, hang and print.

`python -m rgraph.cli.doctor.probe look [LIBRARY] [LOADER]` describes what a loader sees, having opened a driver's
library first, whose error says what it lacks; `… run INDEX [LOADER]` runs one small graph, on the default device if
the index is empty; `… open LIBRARY…` says which libraries cannot be opened. All print JSON.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from typing import Any

from rgraph import _core
from rgraph._errors import RgError

__all__ = ["main"]


def _opened(library: str) -> str | None:
    """Why a library cannot be opened."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return None


def _look(library: str, loader: str) -> dict[str, Any]:
    found: dict[str, Any] = {"library_error": _opened(library) if library else None}
    return found | _core.diagnose(loader=loader or None)


def _run(index: int | None, loader: str) -> dict[str, Any]:
    """Fill a buffer on the device and read it back."""
    begin = time.perf_counter()
    with _core.Device(index, loader=loader or None) as device:
        graph = _core.Graph("doctor")
        words = graph.buffer("words", 1024)
        graph.fill("fill", words, 0x5EED5EED)
        graph.root(words)
        opened = time.perf_counter()
        right = device.run(graph)["words"].tobytes() == (0x5EED5EED).to_bytes(4, sys.byteorder) * 256
        done = time.perf_counter()
        return {
            "error": None if right else "a buffer that was filled came back with other contents",
            "open_ms": (opened - begin) * 1e3,
            "run_ms": (done - opened) * 1e3,
            "messages": device.messages,
        }


def main(arguments: list[str]) -> int:
    """Print what was asked for as JSON.

    Parameters
    ----------
    arguments
        As above.

    Returns
    -------
    int
        0.
    """
    what, first, loader = (*arguments, "", "", "")[:3]
    values: dict[str, Any]
    if what == "look":
        values = _look(first, loader)
    elif what == "open":
        values = {library: _opened(library) for library in arguments[1:]}
    else:
        try:
            values = _run(int(first) if first else None, loader)
        except RgError as error:
            values = {"error": str(error)}
    # Behind whatever a driver printed.
    sys.stdout.write("\n" + json.dumps(values))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
