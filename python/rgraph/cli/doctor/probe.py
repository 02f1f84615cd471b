"""What doctor asks Vulkan, in a process of its own: drivers crash, hang and print.

`python -m rgraph.cli.doctor.probe look [LIBRARY] [LOADER]` describes what a loader sees (having opened a driver's
library first, whose error says what it lacks); `… run INDEX [LOADER]` runs one small graph. Both print JSON.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any

from rgraph import _core
from rgraph._errors import RgError

__all__ = ["main"]

_LOADER = {"win32": "vulkan-1.dll", "darwin": "libvulkan.dylib"}.get(sys.platform, "libvulkan.so.1")


def _loader(path: str) -> dict[str, Any]:
    """Where the loader is and which version of Vulkan it speaks."""
    name = path or _LOADER
    found: dict[str, Any] = {"name": name, "path": None, "version": None, "error": None}
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        return found | {"error": str(error)}
    maps = Path("/proc/self/maps")
    lines = maps.read_text(errors="replace").splitlines() if maps.exists() else []
    file = Path(name).name
    found["path"] = next(
        (line.split(maxsplit=5)[5] for line in lines if Path(line[-4096:]).name.startswith(file)), name
    )
    if hasattr(library, "vkEnumerateInstanceVersion"):
        packed = ctypes.c_uint32()
        if library.vkEnumerateInstanceVersion(ctypes.byref(packed)) == 0:
            version = packed.value
            found["version"] = [version >> 22 & 0x7F, version >> 12 & 0x3FF, version & 0xFFF]
    return found


def _look(library: str, loader: str) -> dict[str, Any]:
    found: dict[str, Any] = {"library_error": None, "error": None, "code": None, "devices": []}
    if library:
        try:
            ctypes.CDLL(library)
        except OSError as error:
            found["library_error"] = str(error)
    found["loader"] = _loader(loader)
    try:
        found["devices"] = [info._asdict() for info in _core.devices(loader=loader or None)]
    except RgError as error:
        found["error"], found["code"] = str(error), getattr(error, "code", None)
    return found


def _run(index: int, loader: str) -> dict[str, Any]:
    """Fill a buffer on the device and read it back; the device's profile and queues."""
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
            "profile": device.profile.to_dict(),
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
    if what == "look":
        values = _look(first, loader)
    else:
        try:
            values = _run(int(first), loader)
        except RgError as error:
            values = {"error": str(error)}
    # Behind whatever a driver printed.
    sys.stdout.write("\n" + json.dumps(values))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
