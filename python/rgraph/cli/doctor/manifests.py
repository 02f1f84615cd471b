"""Manifests of drivers and layers: where the loader looks for them, and what each says.

Source: the Khronos loader's LoaderDriverInterface.md and LoaderLayerInterface.md, "Driver Discovery" and "Layer
Discovery" (Linux; other systems keep theirs in a registry or in bundles, which only the loader reads).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rgraph._core import _read_file
from rgraph._errors import RgError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Manifest", "drivers", "layers"]


@dataclass
class Manifest:
    """A file that names a driver's or a layer's library."""

    path: Path
    """The file."""
    name: str = ""
    """The layer's name; of drivers the file's."""
    library: str = ""
    """What to open: a path, or a name that the system looks up."""
    version: str = ""
    """The version of Vulkan that it says."""
    error: str = ""
    """Why it is of no use."""
    implicit: bool = False
    """Of layers: whether it is there without being asked for."""
    words: str = ""
    """Of layers: the description."""
    devices: list[str] = field(default_factory=list)
    """Of drivers: names of the devices that it shows."""


def _folders(kind: str) -> Iterator[Path]:
    home = Path(os.environ.get("HOME") or "~").expanduser()
    yield Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "vulkan" / kind
    for folder in (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep):
        yield Path(folder) / "vulkan" / kind
    yield Path("/etc/vulkan") / kind
    yield Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share") / "vulkan" / kind
    for folder in (os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(os.pathsep):
        yield Path(folder) / "vulkan" / kind


def _within(path: Path) -> list[Path]:
    """The manifests of a folder, or the file itself."""
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.suffix == ".json")
    return [path]


def _named(variable: str) -> list[Path]:
    """What a variable of the environment names: files, or folders of them."""
    return [file for entry in os.environ.get(variable, "").split(os.pathsep) if entry for file in _within(Path(entry))]


def _files(kind: str, only: str, beside: str) -> list[Path]:
    """Manifests of a kind: those of the variable `only` if it is set, else those of `beside`, then of all folders."""
    if os.environ.get(only):
        return _named(only)
    found = [file for folder in _folders(kind) if folder.is_dir() for file in _within(folder)]
    return list(dict.fromkeys([*_named(beside), *found]))


def _values(manifest: Manifest) -> dict[str, object]:
    """What the file says; empty, with the manifest's error, if it cannot be read."""
    try:
        values = json.loads(_read_file(manifest.path).decode("utf-8"))
    except FileNotFoundError:
        manifest.error = "there is no such file"
    except OSError as error:
        manifest.error = f"cannot be read: {error.strerror}"
    except RgError as error:
        manifest.error = str(error).splitlines()[0]
    except UnicodeDecodeError:
        manifest.error = "is not UTF-8"
    except ValueError as error:
        where = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        manifest.error = f"is not JSON{where}"
    else:
        if isinstance(values, dict):
            return values
        manifest.error = "is not a JSON object"
    return {}


def _place(manifest: Manifest, library_path: object) -> None:
    """Find the library that a manifest names."""
    if not isinstance(library_path, str) or not library_path:
        manifest.error = 'names no library ("library_path")'
        return
    if "/" not in library_path:
        manifest.library = library_path
        return
    library = Path(library_path) if library_path.startswith("/") else manifest.path.parent / library_path
    manifest.library = str(library)
    if not library.exists():
        manifest.error = f"names {library}, which is not there"


def drivers() -> list[Manifest]:
    """Manifests of drivers, in the order in which the loader finds them."""
    only = "VK_DRIVER_FILES" if os.environ.get("VK_DRIVER_FILES") else "VK_ICD_FILENAMES"
    out = []
    for path in _files("icd.d", only, "VK_ADD_DRIVER_FILES"):
        manifest = Manifest(path, path.name)
        values = _values(manifest)
        icd = values.get("ICD")
        if not manifest.error and not isinstance(icd, dict):
            manifest.error = 'is no driver manifest: it has no "ICD"'
        if isinstance(icd, dict):
            manifest.version = str(icd.get("api_version", ""))
            _place(manifest, icd.get("library_path"))
        out.append(manifest)
    return out


def layers() -> list[Manifest]:
    """Manifests of layers: those that are always there, then those to be asked for."""
    out = []
    for kind, only, beside in (
        ("implicit_layer.d", "VK_IMPLICIT_LAYER_PATH", "VK_ADD_IMPLICIT_LAYER_PATH"),
        ("explicit_layer.d", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH"),
    ):
        for path in _files(kind, only, beside):
            first = Manifest(path, path.name, implicit=kind.startswith("implicit"))
            values = _values(first)
            listed = values.get("layers", [values.get("layer")])
            entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
            if first.error or not entries:
                first.error = first.error or 'is no layer manifest: it has no "layer"'
                out.append(first)
            for entry in entries:
                layer = Manifest(path, str(entry.get("name", path.name)), implicit=first.implicit)
                layer.version = str(entry.get("api_version", ""))
                layer.words = str(entry.get("description", ""))
                if "component_layers" not in entry:
                    _place(layer, entry.get("library_path"))
                out.append(layer)
    return out
