"""Mistakes in files of other programs: code, file, line, how to fix it."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from rgraph import _core

__all__ = ["Place", "refuse"]


class Place(NamedTuple):
    """A line of a file."""

    file: str
    """The file, as it was opened."""
    line: int
    """The line, from 1; 0: the file as a whole."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


def refuse(message: str, help: str, place: Place | str | None = None, code: str = "RG-E222") -> NoReturn:
    """Refuse a file.

    Parameters
    ----------
    message
        The fault, in one sentence.
    help
        How to fix it; begins with a verb.
    place
        The file, and the line if it is known.
    code
        Kind of mistake.

    Raises
    ------
    GraphError
        Always.
    """
    message = message if place is None else f"{place}: {message}"
    raise _core._mistake(code, message, help)
