"""What doctor finds by asking: the loader as a whole, each driver alone, each device by running something on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rgraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rgraph.cli.doctor.manifests import Manifest

__all__ = ["ask_all", "ask_default", "ask_drivers", "missing_libraries", "run_devices"]

_SECONDS = 60


def _ask(arguments: Sequence[str], changes: dict[str, str]) -> dict[str, Any]:
    """Ask in a process of its own. If it dies or hangs, `error` says so, and `died` is true."""
    package = str(Path(rgraph.__file__).parent.parent)
    paths = [package, os.environ.get("PYTHONPATH", "")]
    here = {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    command = [sys.executable, "-m", "rgraph.cli.doctor.probe", *arguments]
    try:
        done = subprocess.run(
            command, env={**os.environ, **here, **changes}, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"does not answer within {_SECONDS} seconds", "died": True}
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        return {"error": f"ends the process ({name})", "died": True}
    try:
        values: dict[str, Any] = json.loads(done.stdout.decode("utf-8", "replace").splitlines()[-1])
    except (ValueError, IndexError):
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        return {"error": f"ends the process (status {done.returncode}): {' '.join(last)}", "died": True}
    return {**values, "died": False}


def ask_all(loader: str) -> dict[str, Any]:
    """What `rgraph.diagnose` says as things are; if that dies, `error` says how.

    Parameters
    ----------
    loader
        Its path; empty: the system's.
    """
    return _ask(["look", "", loader], {})


def ask_drivers(drivers: Sequence[Manifest], loader: str) -> None:
    """Ask each driver alone, and note in its manifest what it shows or why it does not.

    Parameters
    ----------
    drivers
        Manifests; those with an error are not asked.
    loader
        The loader's path; empty: the system's.
    """

    def ask(driver: Manifest) -> None:
        alone = {"VK_DRIVER_FILES": str(driver.path), "VK_ICD_FILENAMES": str(driver.path), "VK_ADD_DRIVER_FILES": ""}
        answer = _ask(["look", driver.library, loader], alone)
        if answer["died"]:
            driver.error = f"its library {answer['error']}"
        elif answer["library_error"]:
            driver.error = f"its library cannot be opened: {answer['library_error']}"
        driver.devices = [device["name"] for device in answer.get("devices", [])]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, [driver for driver in drivers if not driver.error]))


def missing_libraries(*libraries: str) -> list[str]:
    """Which of some libraries cannot be opened.

    Parameters
    ----------
    libraries
        Their names, as in `libEGL.so.1`.
    """
    answer = _ask(["open", *libraries], {})
    return list(libraries) if answer["died"] else [library for library in libraries if answer[library]]


def ask_default(loader: str) -> str | None:
    """Why the device that `RGRAPH_DEVICE` means cannot be had.

    Parameters
    ----------
    loader
        The loader's path; empty: the system's.
    """
    if not os.environ.get("RGRAPH_DEVICE"):
        return None
    error = _ask(["run", "", loader], {})["error"]
    return None if error is None else str(error).splitlines()[0]


def run_devices(devices: Sequence[dict[str, Any]], loader: str) -> None:
    """Run something on each usable device; `ran` of each says how that went.

    Parameters
    ----------
    devices
        The devices.
    loader
        The loader's path; empty: the system's.
    """
    for device in devices:
        device["ran"] = _ask(["run", str(device["index"]), loader], {}) if device["usable"] else None
