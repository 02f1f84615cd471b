"""Mistakes in the arguments of ready-made passes, in the form of the declaration's own: message, place and hint."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import NoReturn

from rgraph._core import Resource
from rgraph._errors import GraphError, Mistake, Side
from rgraph._keywords import suggests_keywords as ready_made

__all__ = ["known", "number", "ready_made", "refuse", "whole"]


def refuse(code: str, name: str, message: str, help: str, *resources: tuple[Resource, str]) -> NoReturn:
    """Refuse an argument.

    Parameters
    ----------
    code
        Kind of mistake, as in `RG-E207`.
    name
        Name of the ready-made pass.
    message
        One sentence, without the pass.
    help
        How to fix it, ready to type.
    *resources
        Resources that are meant, each with what it declares that does not fit.

    Raises
    ------
    GraphError
        Always.
    """
    sides = [Side(name, "called here", *_caller())]
    for resource, says in resources:
        sides.append(Side(resource.name, says, *(resource.source or (None, None))))
    message = f'pass "{name}": {message}'
    width = min(max(len(side.name) for side in sides), 32)
    lines = [f"{code} {message}"]
    for side in sides:
        place = f"{side.file}:{side.line}  " if side.file is not None else ""
        lines.append(f"  {side.name:{width}}  {place}{side.says}")
    lines.append(f"  help: {help}")
    meant = resources[0][0].name if resources else None
    raise GraphError("\n".join(lines), (Mistake(code, message, name, meant, tuple(sides), help),))


def _caller() -> tuple[str, int] | tuple[None, None]:
    """File and line of the first frame outside of this package."""
    frame = sys._getframe(1)
    while str(frame.f_globals.get("__name__", "")).split(".")[0] == "rgraph":
        if frame.f_back is None:
            return None, None
        frame = frame.f_back
    path = Path(frame.f_code.co_filename)
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path), frame.f_lineno


def known(name: str, what: str, given: object, words: tuple[str, ...]) -> str:
    """One of some words.

    Raises
    ------
    GraphError
        If it is none of them.
    """
    if isinstance(given, str) and given in words:
        return given
    refuse("RG-E202", name, f"there is no {what} {given!r}", "it is one of " + ", ".join(words))


def number(name: str, what: str, given: object, least: float, most: float = math.inf, *, open: bool = False) -> float:
    """A number within bounds; `open`: the lower one does not count.

    Raises
    ------
    GraphError
        If it is no number, or outside.
    """
    if isinstance(given, int | float) and not isinstance(given, bool):
        inside = least < given <= most if open else least <= given <= most
        if inside and math.isfinite(given):
            return float(given)
    start = f"above {least:g}" if open else f"at least {least:g}"
    end = "" if most == math.inf else f" and at most {most:g}"
    refuse("RG-E213", name, f"{what} is {given!r}", f"give a number, {start}{end}")


def whole(name: str, what: str, given: object, least: int, most: int) -> int:
    """A whole number within bounds.

    Raises
    ------
    GraphError
        If it is no whole number, or outside.
    """
    if isinstance(given, int) and not isinstance(given, bool) and least <= given <= most:
        return given
    refuse("RG-E213", name, f"{what} is {given!r}", f"give a whole number from {least} to {most}")
