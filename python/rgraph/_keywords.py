"""Keyword arguments that a call does not have: refused with the one that was probably meant."""

from __future__ import annotations

from difflib import get_close_matches
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["suggests_keywords"]

P = ParamSpec("P")
R = TypeVar("R")


def suggests_keywords(function: Callable[P, R], called: str | None = None) -> Callable[P, R]:
    """Decorate a function: a keyword that it does not have is refused with the one that was probably meant.

    Parameters
    ----------
    function
        A function without `**` of its own.
    called
        What messages call it; default: its name.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = tuple(name for name in names if name not in ("self", "_cls"))

    @wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        for name in options:
            if name not in names:
                near = get_close_matches(name, known, n=1, cutoff=0.6)
                more = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
                title = called or function.__name__
                raise TypeError(f"{title}() got an unexpected keyword argument {name!r}; {more}")
        return function(*arguments, **options)

    return checked
