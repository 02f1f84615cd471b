"""`rgraph doctor`: list the Vulkan installation of this machine, and the commands that install missing parts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph.cli import UsageError
from rgraph.cli._files import STANDARD
from rgraph.cli._terminal import as_json, say, tell

if TYPE_CHECKING:
    import argparse

__all__ = ["MORE", "add_arguments", "main"]

_LOADER = {"win32": "vulkan-1.dll", "darwin": "libvulkan.dylib"}.get(sys.platform, "libvulkan.so.1")

MORE = """\
Each driver is queried in a process of its own, so a driver that crashes is reported and does no harm. A small graph
runs on every usable device. Exit status: 0 no fault, 1 a fault but a usable device, 3 no usable device.

  rgraph doctor
  rgraph doctor --profile h200.rprofile.json  for rgraph bake elsewhere
  rgraph doctor --measure --profile h200.rprofile.json  with its costs
  rgraph run frame.rgraph.json --costs h200.rprofile.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("--json", action="store_true", help="print JSON with all details")
    parser.add_argument("--profile", metavar="FILE", help="write a device's profile (.rprofile.json; - prints it)")
    parser.add_argument(
        "--measure", action="store_true", help="measure and print the costs of barriers, submits, waits and passes"
    )
    parser.add_argument(
        "--device", metavar="DEVICE", help="the device of --profile and --measure: uuid:…, pci:…, name:… or an index"
    )
    parser.add_argument("--loader", metavar="FILE", default="", help="path of a Vulkan loader or of a driver")


def examine(loader: str) -> dict[str, Any]:
    """Examine loader, drivers, layers and devices; the report as plain data.

    Parameters
    ----------
    loader
        The Vulkan loader's path; empty: the system's.
    """
    from rgraph.cli.doctor import advice, ask, manifests, system

    drivers, layers = manifests.drivers(), manifests.layers()
    answer = ask.ask_all(loader)
    found = answer.get("loader", {"path": loader, "found": True, "version": None, "error": None})
    if found["found"]:
        ask.ask_drivers(drivers, loader)
    devices = answer.get("devices", [])
    ask.run_devices(devices, loader)
    report: dict[str, Any] = {
        "system": system.system(),
        "environment": system.environment(),
        "loader": {**found, "name": Path(found["path"] or _LOADER).name, "given": bool(loader)},
        "drivers": [
            {
                "manifest": str(one.path),
                "library": one.library,
                "version": one.version,
                "error": one.error or None,
                "devices": one.devices,
            }
            for one in drivers
        ],
        "layers": [
            {
                "name": one.name,
                "manifest": str(one.path),
                "version": one.version,
                "implicit": one.implicit,
                "error": one.error or None,
                "description": one.words,
            }
            for one in layers
        ],
        "devices": devices,
        "hardware": system.hardware(),
        "extras": system.extras(),
        "error": f"the loader {answer['error']}" if answer["died"] else answer["instance"]["error"],
        "default_error": ask.ask_default(loader) if devices else None,
        "messages": answer.get("instance", {}).get("messages", []),
    }
    wanted = advice.NVIDIA if any(gpu["vendor"] == "NVIDIA" for gpu in report["hardware"]) else ()
    missing = ask.missing_libraries(*wanted) if wanted else []
    found = advice.advise(report, drivers, layers, missing)
    report["findings"] = [{"about": one.about, "message": one.message, "fix": one.fix} for one in found]
    report["usable"] = any(device["ran"] and not device["ran"]["error"] for device in devices)
    return report


def _write_profile(arguments: argparse.Namespace) -> int:
    """Write a device's profile, or print its costs, or both."""
    from rgraph._core import Device

    path: str | None = arguments.profile
    if path not in (None, STANDARD) and not Path(path).parent.is_dir():
        raise UsageError(f"{path}: there is no folder {Path(path).parent}")
    with Device(arguments.device, loader=arguments.loader or None) as device:
        profile = device.profile
        if arguments.measure:
            from rgraph.cli.doctor import measure

            costs = measure.measure(device)
            profile = measure.measured_profile(profile, costs)
            (say if path is None else tell)(measure.text(device, costs))
        if path == STANDARD:
            say(profile.to_json())
        elif path is not None:
            profile.save(path)
            tell(f"{path}: {device.info.name}, queues {', '.join(profile.queues)}")
    return 0


def main(arguments: argparse.Namespace) -> int:
    """Examine the machine.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    if arguments.profile is not None or arguments.measure:
        return _write_profile(arguments)
    if arguments.device is not None:
        raise UsageError("--device needs --profile or --measure")
    report = examine(arguments.loader)
    if arguments.json:
        say(as_json(report))
    else:
        from rgraph.cli.doctor.text import text

        say(text(report))
    if not report["usable"]:
        return 3
    return 1 if report["findings"] else 0
