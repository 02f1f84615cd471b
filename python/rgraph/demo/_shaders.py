"""The demos' shaders: files of the package, put one behind the other."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "shaders"


@cache
def shader(*names: str) -> str:
    """Return the text of `shaders/NAME.wgsl` for each name, joined; what others use comes first."""
    return "\n".join((FOLDER / f"{name}.wgsl").read_text(encoding="utf-8") for name in names)
