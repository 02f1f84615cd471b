"""Whole numbers among the arguments of functions that are written in Python."""

from __future__ import annotations

import operator
from typing import Any

from rgraph._core import _mistake

__all__ = ["count"]


def count(name: str, value: Any, least: int | None = None) -> int:
    """A whole number that was given as an argument.

    Parameters
    ----------
    name, value
        The argument.
    least
        The least that it may be.

    Raises
    ------
    GraphError
        RG-E213 if it is a number that is not whole, or too small.
    """
    if isinstance(value, bool):
        raise TypeError(f"{name} is a whole number, not a bool")
    try:
        number = operator.index(value)
    except TypeError:
        if not isinstance(value, float):
            raise TypeError(f"{name} is a whole number, not {type(value).__name__}") from None
        raise _mistake("RG-E213", f"{name} is {value}, and not a whole number", "round it with int()") from None
    if least is not None and number < least:
        raise _mistake("RG-E213", f"{name} is {number}", f"give {least} or more")
    return number
