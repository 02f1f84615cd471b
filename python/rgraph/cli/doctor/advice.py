"""Faults that `rgraph doctor` finds: the reason of each and the command that fixes it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph.cli.doctor.system import install

if TYPE_CHECKING:
    from rgraph.cli.doctor.manifests import Manifest

__all__ = ["NVIDIA", "Advice", "advise", "manifest_advice"]

# Debian's packages of libraries that drivers need and bare images lack.
_LIBRARIES = {
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libXext.so.6": "libxext6",
    "libxcb.so.1": "libxcb1",
    "libxcb-dri3.so.0": "libxcb-dri3-0",
    "libxcb-present.so.0": "libxcb-present0",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxshmfence.so.1": "libxshmfence1",
    "libwayland-client.so.0": "libwayland-client0",
    "libdrm.so.2": "libdrm2",
    "libexpat.so.1": "libexpat1",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLdispatch.so.0": "libglvnd0",
}
# What NVIDIA's driver opens: itself, and without a display glvnd's EGL.
NVIDIA = ("libGLX_nvidia.so.0", "libEGL.so.1")
_NVIDIA_MANIFEST = (
    "mkdir -p ~/.local/share/vulkan/icd.d && echo '"
    '{"file_format_version": "1.0.0", "ICD": {"library_path": "libGLX_nvidia.so.0", "api_version": "1.3.0"}}'
    "' > ~/.local/share/vulkan/icd.d/nvidia_icd.json"
)


class Advice(NamedTuple):
    """A fault and how to fix it."""

    about: str
    """The driver's, layer's or device's name; `loader`, `drivers` or `hardware`."""
    message: str
    """What and why, in a sentence or two."""
    fix: str
    """The command to type."""


def _owner(path: Path) -> str | None:
    """Debian's package that a file belongs to."""
    if not shutil.which("dpkg"):
        return None
    done = subprocess.run(["dpkg", "-S", str(path)], capture_output=True, text=True, check=False)
    return done.stdout.split(":")[0] if done.returncode == 0 else None


def _named_by(path: Path) -> str | None:
    """The variable of the environment that names a manifest."""
    for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_LAYER_PATH"):
        if any(entry and path.is_relative_to(entry) for entry in os.environ.get(name, "").split(os.pathsep)):
            return name
    return None


def _again(path: Path) -> str:
    """The line that takes a broken manifest out of the way, or brings a whole one."""
    if variable := _named_by(path):
        return f"unset {variable}"
    if package := _owner(path):
        return install("--reinstall", package)
    return f"{'' if os.access(path.parent, os.W_OK) else 'sudo '}rm {path}"


def manifest_advice(manifest: Manifest) -> Advice:
    """What to do about a driver's or a layer's manifest that is of no use.

    Parameters
    ----------
    manifest
        With an error.
    """
    lacks = re.search(r"cannot be opened: ([^\s:]+\.so[.\d]*): cannot open shared object file", manifest.error)
    if lacks and lacks[1] not in manifest.library:
        package = _LIBRARIES.get(lacks[1])
        fix = install(package) if package else f"install the package that has {lacks[1]}"
        return Advice(manifest.name, f"its library needs {lacks[1]}, which is not installed", fix)
    if lacks and "nvidia" in manifest.library.lower():
        return Advice(manifest.name, f"its library {manifest.library} is not installed", _nvidia_library())
    if lacks:
        return Advice(manifest.name, f"its library {manifest.library} is not installed", _again(manifest.path))
    if "ELF class" in manifest.error:
        return Advice(manifest.name, "its library is for another kind of processor", _again(manifest.path))
    return Advice(manifest.name, manifest.error, _again(manifest.path))


def _nvidia_library() -> str:
    """What brings NVIDIA's graphics libraries."""
    capabilities = os.environ.get("NVIDIA_DRIVER_CAPABILITIES")
    if capabilities is not None or Path("/.dockerenv").exists():
        return "start the container with: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all …"
    major = _nvidia_version().partition(".")[0]
    return install(f"libnvidia-gl-{major}") if major else install("nvidia-driver")


def _nvidia_version() -> str:
    """Version of NVIDIA's kernel driver; empty where there is none."""
    try:
        found = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", Path("/proc/driver/nvidia/version").read_text())
    except OSError:
        return ""
    return found[1] if found else ""


def _nvidia(drivers: list[Manifest], missing: list[str]) -> tuple[str, str]:
    """Why an NVIDIA GPU shows no Vulkan device, and what to do; `missing`: which of `NVIDIA` cannot be opened."""
    library, egl = NVIDIA
    capabilities = os.environ.get("NVIDIA_DRIVER_CAPABILITIES")
    ours = [driver for driver in drivers if "nvidia" in driver.library.lower()]
    broken = next((driver for driver in ours if driver.error), None)
    if not _nvidia_version():
        return "the kernel's NVIDIA driver is not loaded", install("nvidia-driver")
    nodes = sorted(Path("/dev").glob("nvidia[0-9]*"))
    if not nodes:
        return "its device file /dev/nvidia0 is not in this container", _nvidia_library()
    if not os.access(nodes[0], os.R_OK | os.W_OK):
        return f"{nodes[0]} may not be opened by this user", f"sudo chmod a+rw {nodes[0]} /dev/nvidiactl"
    if library in missing and capabilities is not None and not {"all", "graphics"} & set(capabilities.split(",")):
        why = f"the container was given the capabilities {capabilities}: compute alone has no Vulkan"
        return why, _nvidia_library()
    if library in missing:
        return "the driver is installed without its graphics half, which has Vulkan", _nvidia_library()
    if not ours:
        return "the driver is there, but no manifest names it to the loader", _NVIDIA_MANIFEST
    if broken:
        return f"{broken.name}: {manifest_advice(broken).message}", manifest_advice(broken).fix
    if egl in missing:
        return f"its driver needs {egl} where there is no display, which is not installed", install(_LIBRARIES[egl])
    if any(Path("/proc/driver/nvidia/capabilities").glob("gpu*/mig/gi*")):
        return "it is divided into MIG instances, which have no Vulkan", "sudo nvidia-smi -mig 0"
    why = "the driver answers without this GPU: kernel module and libraries of two versions, or a vGPU without graphics"
    return why, "nvidia-smi"


def _mesa(gpu: dict[str, Any], drivers: list[Manifest]) -> tuple[str, str]:
    """Why an AMD or Intel GPU shows no Vulkan device, and what to do."""
    ours = {"AMD": ("radeon", "amd"), "Intel": ("intel",)}[gpu["vendor"]]
    if gpu["kernel_driver"] is None:
        return "the kernel has no driver for it", "sudo dmesg | grep -i -e amdgpu -e i915 -e xe"
    nodes = sorted(Path("/dev/dri").glob("renderD*"))
    if not nodes:
        return (
            "its device files /dev/dri/renderD* are not here",
            "start the container with: docker run --device /dev/dri …",
        )
    if not any(os.access(node, os.R_OK | os.W_OK) for node in nodes):
        return f"{nodes[0]} may not be opened by this user", 'sudo usermod -aG render "$USER"'
    if not any(name in driver.name.lower() for driver in drivers for name in ours):
        return "no Vulkan driver for it is installed", install("driver")
    return "its Vulkan driver answers without it: the driver may be older than the GPU", install("--upgrade", "driver")


def _loader(report: dict[str, Any], drivers: list[Manifest]) -> Advice | None:
    loader = report["loader"]
    if loader["found"]:
        return None
    if loader["given"]:
        return Advice("loader", loader["error"].removeprefix("loader: "), "leave --loader out")
    what = ("loader",) if drivers else ("loader", "driver")
    return Advice("loader", f"the Vulkan loader {loader['name']} is not installed", install(*what))


def _devices(report: dict[str, Any]) -> list[Advice]:
    out = []
    for device in report["devices"]:
        missing = [need["name"] for need in device["needs"] if not need["has"]]
        if not device["usable"]:
            why = f"lacks {', '.join(missing)}" if missing else f"is refused: {device['refused']}"
            fix = install("--upgrade", "driver") if device["kind"] == "cpu" else "install a newer driver of its maker"
            out.append(Advice(device["name"], why, fix))
        elif device["ran"]["error"]:
            first = str(device["ran"]["error"]).splitlines()[0]
            out.append(Advice(device["name"], f"could not run a graph: {first}", "rgraph doctor --json has all of it"))
    return out


def _hardware(report: dict[str, Any], drivers: list[Manifest], missing: list[str]) -> list[Advice]:
    out = []
    shown = {device["pci"] for device in report["devices"] if device["pci"]}
    kinds = [device["name"].lower() for device in report["devices"] if device["kind"] != "cpu"]
    for gpu in report["hardware"]:
        if gpu["pci"] in shown or (not shown and any(gpu["vendor"].lower() in name for name in kinds)):
            continue
        why, fix = _nvidia(drivers, missing) if gpu["vendor"] == "NVIDIA" else _mesa(gpu, drivers)
        out.append(
            Advice(gpu["name"] or f"{gpu['vendor']} {gpu['kind']} {gpu['pci']}", f"shows no Vulkan device: {why}", fix)
        )
    return out


def _drivers(report: dict[str, Any], drivers: list[Manifest]) -> Advice | None:
    """Why no driver shows a device, if it is no GPU's affair and no broken manifest's."""
    broken = [driver for driver in drivers if driver.error]
    if report["devices"]:
        return None
    if not drivers:
        return Advice("drivers", "no Vulkan driver is installed", install("driver"))
    if any(driver.devices for driver in drivers):
        # Each driver alone shows its devices, and all together do not.
        first = report["error"] or "it shows no device"
        fix = _again(broken[0].path) if broken else "VK_LOADER_DEBUG=all rgraph doctor --json"
        return Advice("loader", f"a broken manifest keeps it from every driver: {first}", fix)
    if not broken:
        return Advice("drivers", "no driver that is installed fits a device of this machine", install("driver"))
    return None


def advise(report: dict[str, Any], drivers: list[Manifest], layers: list[Manifest], missing: list[str]) -> list[Advice]:
    """Everything that is wrong, the most important first.

    Parameters
    ----------
    report
        What was found.
    drivers, layers
        Manifests, after the drivers were asked.
    missing
        Which of the libraries `NVIDIA` cannot be opened.
    """
    out = [one for one in [_loader(report, drivers)] if one]
    out += [manifest_advice(driver) for driver in drivers if driver.error]
    if report["loader"]["found"]:
        # Where drivers show devices each alone, it is not the hardware's affair.
        alone = not report["devices"] and any(driver.devices for driver in drivers)
        hardware = [] if alone else _hardware(report, drivers, missing)
        out += hardware or [one for one in [_drivers(report, drivers)] if one]
    out += _devices(report)
    if report["devices"] and report["default_error"]:
        out.append(Advice("RGRAPH_DEVICE", report["default_error"], "unset RGRAPH_DEVICE"))
    out += [manifest_advice(layer) for layer in layers if layer.error]
    return out
