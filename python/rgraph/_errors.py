"""Exceptions: every error of rgraph's own derives from `RgError`."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "BusyError",
    "DeviceError",
    "GraphError",
    "InternalError",
    "Mistake",
    "PlanError",
    "RgError",
    "ShaderError",
    "Side",
]


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
        How to mend it.
    """

    code: str
    message: str
    pass_name: str | None = None
    resource: str | None = None
    sides: tuple[Side, ...] = ()
    hint: str = ""


class RgError(Exception):
    """Base of all errors of rgraph's own."""


class GraphError(RgError, ValueError):
    """Something is wrong with a declaration, a profile, a plan or a file: all of it at once.

    Parameters
    ----------
    message
        Everything that is wrong, as text.
    mistakes
        The same, one by one. The attributes `code`, `pass_name`, `resource`, `hint` and `notes` are those of the first.
    """

    mistakes: tuple[Mistake, ...]

    def __init__(self, message: str, mistakes: tuple[Mistake, ...] = ()) -> None:
        super().__init__(message, mistakes)
        self.mistakes = tuple(mistakes)

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def _first(self) -> Mistake | None:
        return self.mistakes[0] if self.mistakes else None

    @property
    def code(self) -> str | None:
        """Kind of the first mistake, as in `RG-E203`."""
        return self._first.code if self._first else None

    @property
    def pass_name(self) -> str | None:
        """Pass of the first mistake, if one is meant."""
        return self._first.pass_name if self._first else None

    @property
    def resource(self) -> str | None:
        """Resource of the first mistake, if one is meant."""
        return self._first.resource if self._first else None

    @property
    def hint(self) -> str:
        """How to mend the first mistake."""
        return self._first.hint if self._first else ""

    @property
    def notes(self) -> list[str]:
        """Both sides of the first mistake, with their places, as text."""
        return [str(side) for side in self._first.sides] if self._first else []


class PlanError(RgError, ValueError):
    """A plan cannot be run: it ends in a deadlock, or computes different things in different orders of its queues."""


class ShaderError(RgError, ValueError):
    """A shader does not compile, or data does not fit what it reads.

    Parameters
    ----------
    message
        What is wrong, with the source line and a caret under the place, as text.
    code
        Its kind, as in `RG-E301`.
    shader
        The shader's file, or the pass that has it.
    line, column
        Place in the source, from 1, where known.
    pass_name
        The pass that has the shader.
    hint
        How to mend it.
    """

    def __init__(
        self,
        message: str,
        code: str | None = None,
        shader: str | None = None,
        line: int | None = None,
        column: int | None = None,
        pass_name: str | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, code, shader, line, column, pass_name, hint)
        self.code = code
        self.shader = shader
        self.line = line
        self.column = column
        self.pass_name = pass_name
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])


class DeviceError(RgError, RuntimeError):
    """A device is missing, lost, out of memory, or cannot do what is asked.

    Parameters
    ----------
    message
        What happened, as text.
    code
        Its kind, as in `RG-E101`.
    call
        The Vulkan call that failed, if one did.
    result
        What it returned, as in `ERROR_DEVICE_LOST`.
    pass_name
        The pass, if known.
    hint
        What would help.
    """

    def __init__(
        self,
        message: str,
        code: str | None = None,
        call: str | None = None,
        result: str | None = None,
        pass_name: str | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, code, call, result, pass_name, hint)
        self.code = code
        self.call = call
        self.result = result
        self.pass_name = pass_name
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])


class BusyError(RgError, RuntimeError):
    """Something is in use: try again when it is not.

    Parameters
    ----------
    message
        What is in use, and by whom, as text.
    code
        Its kind, as in `RG-E110`.
    hint
        What would help.
    """

    def __init__(self, message: str, code: str | None = None, hint: str = "") -> None:
        super().__init__(message, code, hint)
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])


class InternalError(RgError, RuntimeError):
    """A fault of rgraph's own: the declaration is not to blame. Please report it with the graph that shows it."""
