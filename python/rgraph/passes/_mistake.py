"""Mistakes in the arguments of ready-made passes, in the form of the declaration's own: message, place and hint."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, NoReturn

from rgraph import _core
from rgraph._core import Resource
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
    sides = [(resource.name, says, resource.source) for resource, says in resources]
    raise _core._mistake(code, message, help, sides[0][0] if sides else None, name, sides)


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


def number(name: str, what: str, given: Any, least: float, most: float = math.inf, *, open: bool = False) -> float:
    """A number within bounds; `open`: the lower one does not count.

    Raises
    ------
    GraphError
        If it is no number, or outside.
    """
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    if is_number:
        inside = least < given <= most if open else least <= given <= most
        if inside and math.isfinite(given):
            return float(given)
    start = f"above {least:g}" if open else f"at least {least:g}"
    end = "" if most == math.inf else f" and at most {most:g}"
    refuse("RG-E213", name, f"{what} is {given!r}", f"give a number, {start}{end}")


def whole(name: str, what: str, given: Any, least: int, most: int) -> int:
    """A whole number within bounds.

    Raises
    ------
    GraphError
        If it is no whole number, or outside.
    """
    is_whole = isinstance(given, Integral) and not isinstance(given, bool)
    if is_whole and least <= given <= most:
        return int(given)
    refuse("RG-E213", name, f"{what} is {given!r}", f"give a whole number from {least} to {most}")
