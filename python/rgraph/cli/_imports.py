"""Files of other programs as the graph of a command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rgraph.cli import UsageError
from rgraph.cli._terminal import warn

if TYPE_CHECKING:
    from rgraph.importers import Imported

__all__ = ["SUFFIXES", "imported", "is_foreign", "noted"]

SUFFIXES = (".slangp", ".pass")
_SIZES = ("size", "viewport")


def is_foreign(path: str) -> bool:
    """Whether a file is of another program, by its suffix.

    Parameters
    ----------
    path
        The file.
    """
    return path.lower().endswith(SUFFIXES)


def _options(given: list[tuple[str, str]]) -> dict[str, Any]:
    """Options as keyword arguments of an importer; what it does not know is a parameter."""
    out: dict[str, Any] = {}
    parameters: dict[str, float] = {}
    for name, text in given:
        if name in _SIZES:
            found = re.fullmatch(r"(\d{1,5})[x×,](\d{1,5})", text)
            if not found:
                raise UsageError(f'--option {name}: "{text}" is no size', f"use {name}=640x480")
            out[name] = (int(found[1]), int(found[2]))
        elif name in ("player", "root"):
            out[name] = text
        else:
            try:
                parameters[name] = float(text)
            except ValueError:
                raise UsageError(f'--option {name}: "{text}" is no number') from None
    if parameters:
        out["parameters"] = parameters
    return out


def imported(path: str, options: list[tuple[str, str]], size: tuple[int, int] | None = None) -> Imported:
    """Import a file.

    Parameters
    ----------
    path
        The file.
    options
        What `--option` gave: arguments of the importer, and parameters of the preset.
    size
        Size of the input in texels, unless an option gives it.
    """
    from rgraph import importers
    from rgraph.cli._files import exists

    exists(path)
    given = _options(options)
    if path.lower().endswith(".pass"):
        unknown = (given.keys() - {"size", "root", "parameters"}) | given.get("parameters", {}).keys()
        if unknown:
            raise UsageError(f"{path} has no option {min(unknown)}", "its options are size and root")
        return importers.o3de(path, **given)
    if size is not None:
        given.setdefault("size", size)
    return importers.slangp(path, **given)


def noted(made: Imported) -> None:
    """Print notes about everything that was not imported.

    Parameters
    ----------
    made
        The import.
    """
    for note in made.notes[:20]:
        warn(note)
    if len(made.notes) > 20:
        warn(f"… and {len(made.notes) - 20} notes more: rgraph import --json")
