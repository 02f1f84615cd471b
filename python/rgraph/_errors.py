"""Exceptions: every error of rgraph's own derives from `RgError` and has a code that `explain` explains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = [
    "BatchError",
    "BusyError",
    "DeviceError",
    "GraphError",
    "InternalError",
    "Mistake",
    "NotReadyError",
    "PlanError",
    "RgError",
    "ShaderError",
    "Side",
    "explain",
]


# What PyO3 notes of an argument that it cannot read.
_ARGUMENT = re.compile(r"while processing '(\w+)'")


class Side(NamedTuple):
    """One side of a mismatch.

    Attributes
    ----------
    name
        Pass or resource.
    says
        What it declares that does not fit.
    file
        File of the declaration, where known.
    line
        Line of the declaration, from 1, where known.
    """

    name: str
    says: str
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}  " if self.file is not None else ""
        return f"{self.name}  {place}{self.says}"


class Mistake(NamedTuple):
    """One mistake in a declaration, a profile or a file.

    Attributes
    ----------
    code
        Its kind, as in `RG-E203`.
    message
        One sentence that names pass and resource.
    pass_name
        The pass, if one is meant.
    resource
        The resource, if one is meant.
    sides
        Both sides of a mismatch, with their places.
    hint
        How to fix it.
    """

    code: str
    message: str
    pass_name: str | None = None
    resource: str | None = None
    sides: tuple[Side, ...] = ()
    hint: str = ""


class RgError(Exception):
    """Base of all errors of rgraph's own.

    Parameters
    ----------
    message
        Everything that is wrong, with its code, as text.
    code
        Its kind, as in `RG-E203`; stable.
    pass_name
        The pass, if one is meant.
    resource
        The resource, if one is meant.
    hint
        How to fix it.
    notes
        Both sides with their places, or what was found, line by line.

    Attributes
    ----------
    files
        The files that were looked at, if a graph file could not be loaded: once one of them changes, it may be worth
        another try.
    """

    def __init__(
        self,
        message: str,
        code: str | None = None,
        pass_name: str | None = None,
        resource: str | None = None,
        hint: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.files: list[str] = []
        self.code = code
        self.pass_name = pass_name
        self.resource = resource
        self.hint = hint
        self.notes = list(notes)

    @property
    def docs(self) -> str | None:
        """Its place in the documentation: `reference/errors.html#rg-e203`."""
        return f"reference/errors.html#{self.code.lower()}" if self.code else None


class GraphError(RgError, ValueError):
    """A declaration, a profile, a file or an input of a run is wrong; it lists all mistakes at once.

    Parameters
    ----------
    message
        Everything that is wrong, as text.
    mistakes
        The same, one by one. The attributes `code`, `pass_name`, `resource`, `hint` and `notes` are those of the first.
    """

    def __init__(self, message: str, mistakes: Sequence[Mistake] = ()) -> None:
        if mistakes:
            first = mistakes[0]
            notes = [str(side) for side in first.sides]
            super().__init__(message, first.code, first.pass_name, first.resource, first.hint, notes)
        else:
            super().__init__(message)
        self.mistakes = tuple(mistakes)

    def add_note(self, note: str, /) -> None:
        """Add a note. That of an argument's number goes into the message, which then begins with the argument's name.

        Parameters
        ----------
        note
            The note.
        """
        argument = _ARGUMENT.fullmatch(note)
        if argument is None or self.code != "RG-E213" or len(self.mistakes) != 1:
            super().add_note(note)
            return
        first = self.mistakes[0]
        if not first.message.startswith(argument[1]):
            message = f"{argument[1]}: {first.message}"
            self.args = (str(self).replace(first.message, message, 1),)
            self.mistakes = (first._replace(message=message),)


class PlanError(RgError, ValueError):
    """A plan cannot run: it is malformed, deadlocks, or its results depend on the order of its queues."""


class ShaderError(RgError, ValueError):
    """A shader does not compile, or data does not match its types.

    Parameters
    ----------
    message
        What is wrong, with the source line and a caret under the place, as text.
    code
        Its kind, as in `RG-E301`.
    pass_name
        The pass that has the shader.
    resource
        Not used.
    hint
        How to fix it.
    notes
        Where the pass is declared, if that is known.
    shader
        The shader's file, or the pass that has it.
    line
        Line of the place in the source, from 1, if known.
    column
        Column of the place in the source, from 1, if known.
    """

    def __init__(
        self,
        message: str,
        code: str | None = None,
        pass_name: str | None = None,
        resource: str | None = None,
        hint: str = "",
        notes: Sequence[str] = (),
        shader: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message, code, pass_name, resource, hint, notes)
        self.shader = shader
        self.line = line
        self.column = column


class DeviceError(RgError, RuntimeError):
    """A device is missing, lost, out of memory, or lacks a feature.

    Parameters
    ----------
    message
        What happened, as text.
    code
        Its kind, as in `RG-E101`.
    pass_name
        The pass, if known.
    resource
        The resource that no memory was left for, or that the device cannot make.
    hint
        The repair.
    notes
        Facts: loader, drivers and devices, or the users of the memory.
    call
        The Vulkan call that failed, if one did.
    result
        What it returned, as in `ERROR_DEVICE_LOST`.
    """

    def __init__(
        self,
        message: str,
        code: str | None = None,
        pass_name: str | None = None,
        resource: str | None = None,
        hint: str = "",
        notes: Sequence[str] = (),
        call: str | None = None,
        result: str | None = None,
    ) -> None:
        super().__init__(message, code, pass_name, resource, hint, notes)
        self.call = call
        self.result = result


class BusyError(RgError, RuntimeError, BufferError):
    """A function would wait for the device that waits for it."""


class NotReadyError(BusyError):
    """A graph is still being compiled, and the frame was asked not to wait for it (`wait_pipelines=False`)."""


class BatchError(RgError, RuntimeError):
    """A batch cannot go on: a task failed, or its workers or its scheduler are gone.

    Parameters
    ----------
    message
        What happened, with how much is done, as text.
    code
        Its kind, as in `RG-E601`.
    hint
        The repair.
    notes
        What workers reported.
    remaining
        The tasks without a result yet: `rgraph.batch.run(graph, error.remaining)` goes on.
    """

    def __init__(
        self,
        message: str,
        code: str | None = None,
        hint: str = "",
        notes: Sequence[str] = (),
        remaining: Sequence[Any] = (),
    ) -> None:
        super().__init__(message, code, None, None, hint, notes)
        self.remaining = list(remaining)


class InternalError(RgError, RuntimeError):
    """A fault of rgraph itself, not of the declaration. Report it with a graph that shows it."""


class _Page(str):
    """A text that a prompt shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def explain(code: str) -> str:
    """Explain the code of an error: its cause, an example, and how to fix it.

    Parameters
    ----------
    code
        `RG-E203`, `E203` or `203`.

    Returns
    -------
    str
        Markdown, which a prompt shows as it is.

    Raises
    ------
    ValueError
        If there is no such code; the message has the nearest one.

    Examples
    --------
    >>> print(explain("RG-E214").splitlines()[0])
    ## RG-E214: No root: no pass would run
    """
    from difflib import get_close_matches
    from importlib.resources import files

    if not isinstance(code, str):
        raise TypeError(f'a code is text, such as "RG-E203", not {type(code).__name__}')
    page = files("rgraph").joinpath("errors.md").read_text(encoding="utf-8")
    starts = {found[1]: found.start() for found in re.finditer(r"^## (RG-E\d{3})\b", page, re.MULTILINE)}
    wanted = f"RG-E{code.upper().removeprefix('RG-').removeprefix('E')}"
    if wanted not in starts:
        near = get_close_matches(wanted, starts, 1)
        raise ValueError(f"there is no error {code!r}" + (f"; did you mean {near[0]}?" if near else ""))
    end = min((start for start in starts.values() if start > starts[wanted]), default=len(page))
    text = page[starts[wanted] : end]
    return _Page(re.sub(r"^\(rg-e\d+\)=\n|<!--.*?-->\n", "", text, flags=re.MULTILINE | re.DOTALL).strip() + "\n")
