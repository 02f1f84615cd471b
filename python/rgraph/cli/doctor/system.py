"""What doctor finds without Vulkan: the system, its graphics hardware, other installed packages."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import rgraph

__all__ = ["environment", "extras", "hardware", "install", "system"]

_VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
# Display controllers, and AMD's accelerators without a display.
_CLASSES = {"0x0300": "GPU", "0x0302": "GPU without display", "0x0380": "GPU without display", "0x1200": "accelerator"}
# For each way of installing: the command, then the packages of what may be missing.
_PACKAGES = {
    "apt-get": (
        "apt-get install -y --no-install-recommends",
        {"loader": "libvulkan1", "driver": "mesa-vulkan-drivers", "layer": "vulkan-validationlayers"},
    ),
    "dnf": (
        "dnf install -y",
        {"loader": "vulkan-loader", "driver": "mesa-vulkan-drivers", "layer": "vulkan-validation-layers"},
    ),
    "pacman": (
        "pacman -S --needed",
        {"loader": "vulkan-icd-loader", "driver": "vulkan-swrast", "layer": "vulkan-validation-layers"},
    ),
    "zypper": (
        "zypper install -y",
        {"loader": "libvulkan1", "driver": "libvulkan_lvp", "layer": "vulkan-validationlayers"},
    ),
    "apk": (
        "apk add",
        {"loader": "vulkan-loader", "driver": "mesa-vulkan-swrast", "layer": "vulkan-validation-layers"},
    ),
    "brew": (
        "brew install",
        {"loader": "vulkan-loader", "driver": "molten-vk", "layer": "vulkan-validationlayers"},
    ),
}
_EXTRAS = {
    "numpy": ("arrays of results", "numpy"),
    "pillow": ("JPEG and more", '"rgraph-vulkan[io]"'),
    "OpenEXR": ("EXR pictures", '"rgraph-vulkan[io]"'),
    "imageio-ffmpeg": ("videos", '"rgraph-vulkan[video]"'),
    "distributed": ("batches on a cluster", '"rgraph-vulkan[dask]"'),
    "hypothesis": ("rgraph.testing", '"rgraph-vulkan[test]"'),
}


def install(*what: str) -> str:
    """The line that installs something here.

    Parameters
    ----------
    what
        `loader`, `driver` or `layer`; other words are names of packages.
    """
    for program, (line, packages) in _PACKAGES.items():
        if shutil.which(program):
            root = program == "brew" or getattr(os, "geteuid", lambda: 0)() == 0
            return f"{'' if root else 'sudo '}{line} {' '.join(packages.get(one, one) for one in what)}"
    return "https://vulkan.lunarg.com/sdk/home has loader and layers; a GPU's driver comes from its maker"


def _container() -> str | None:
    """The kind of container that this runs in, if it shows."""
    if Path("/.dockerenv").exists():
        return "docker"
    if Path("/run/.containerenv").exists():
        return "podman"
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if os.environ.get("NVIDIA_VISIBLE_DEVICES"):
        return "container"
    return None


def system() -> dict[str, Any]:
    """Versions of everything beneath rgraph."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        name = f"{platform.system()} {platform.release()}"
    return {
        "rgraph": rgraph.__version__,
        "module": str(Path(rgraph.__file__).parent),
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": name,
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "container": _container(),
    }


def environment() -> dict[str, str]:
    """Variables that change what the loader, its layers or rgraph do."""
    names = sorted(name for name in os.environ if name.startswith(("VK_", "RGRAPH_", "NVIDIA_DRIVER_CAPABILITIES")))
    return {name: os.environ[name] for name in names}


def extras() -> list[dict[str, Any]]:
    """Packages that rgraph makes use of if they are there."""
    out = []
    for name, (use, wanted) in _EXTRAS.items():
        try:
            version: str | None = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = None
        out.append({"name": name, "version": version, "use": use, "fix": f"pip install {wanted}"})
    return out


def _line(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _model(pci: str) -> str | None:
    """What NVIDIA's kernel driver calls the GPU."""
    for line in _line(Path("/proc/driver/nvidia/gpus") / pci / "information").splitlines():
        if line.startswith("Model:"):
            return line.partition(":")[2].strip()
    return None


def hardware() -> list[dict[str, Any]]:
    """GPUs on the PCI bus, with the kernel's driver for each (Linux only)."""
    out = []
    folder = Path("/sys/bus/pci/devices")
    for device in sorted(folder.iterdir()) if folder.is_dir() else []:
        kind = _CLASSES.get(_line(device / "class")[:6])
        vendor = _VENDORS.get(_line(device / "vendor"))
        if not kind or not vendor or (kind == "accelerator" and vendor != "AMD"):
            continue
        driver = device / "driver"
        out.append(
            {
                "pci": device.name,
                "vendor": vendor,
                "id": f"{_line(device / 'vendor')[2:]}:{_line(device / 'device')[2:]}",
                "name": _model(device.name),
                "kind": kind,
                "kernel_driver": driver.resolve().name if driver.exists() else None,
            }
        )
    return out
