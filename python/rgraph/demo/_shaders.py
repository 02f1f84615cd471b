"""The demos' shaders: files of the package, put one behind the other."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "shaders"
_KNOWN: dict[str, str] = {}


def _file(name: str) -> str:
    if name not in _KNOWN:
        _KNOWN[name] = (FOLDER / f"{name}.wgsl").read_text(encoding="utf-8")
    return _KNOWN[name]


def shader(*names: str) -> str:
    """Return the text of `shaders/NAME.wgsl` for each name, joined; what others use comes first."""
    return "\n".join(map(_file, names))
