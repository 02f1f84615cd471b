"""The command `rgraph`: each command is a module of this package, loaded when it is called.

Exit status: 0 success, 1 findings (a wrong graph, plan or run; the message is on standard error), 2 wrong arguments,
3 no device, 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import sys

from rgraph import __version__

# Type checkers know this name; the module `typing` would take a sixth of the time of `rgraph --help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NO_DEVICE", "UsageError", "main"]

# First the commands for a newcomer, then in the order in which a graph needs them: plan, run, check.
_COMMANDS = {
    "Begin here": {
        "doctor": "check the Vulkan installation, and print the commands that fix it",
        "demo": "render a whole frame, develop a photo, stir a fluid",
    },
    "Plan": {
        "bake": "bake a graph file into a plan",
        "import": "convert a libretro shader preset or an O3DE pass into a graph file",
        "explain": "explain the queue, time and barriers of a pass, or an error code",
        "view": "write an HTML page that shows a plan",
        "diff": "compare two plans",
        "what-if": "compare with alternatives: queues, times, fewer passes, less memory",
    },
    "Run": {
        "run": "run a graph: pictures in, pictures out",
        "render": "run a graph for many frames, seeds or tiles, on many workers",
        "watch": "run a graph again whenever one of its files changes",
        "replay": "run captured frames again and compare their bytes",
        "tune": "search for a faster plan by measuring candidates",
        "bench": "measure each pass, and the gain of planning with these times",
    },
    "Check": {
        "check": "check a plan with code independent of the planner",
        "fuzz": "bake random graphs and check their plans",
        "schema": "print the JSON Schema of a file format",
    },
}
_ELSEWHERE = {"what-if": "rgraph.cli.what_if", "demo": "rgraph.demo"}
# Codes of errors: no loader or driver, no device that will do, none of that name, no validation layer, no windows.
NO_DEVICE = ("RG-E101", "RG-E102", "RG-E103", "RG-E106", "RG-E107")


class UsageError(Exception):
    """Wrong arguments on the command line.

    Parameters
    ----------
    message
        What is wrong, in one line.
    hint
        How to fix it, ready to type.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def _help() -> str:
    from rgraph.cli._terminal import paint

    lines = [f"{paint('usage:', 'bold')} rgraph COMMAND [OPTION…]", "", "Plan, run and check render graphs.", ""]
    for title, commands in _COMMANDS.items():
        lines.append(paint(title, "bold"))
        lines += [f"  {paint(f'{name:8}', 'cyan')} {words}" for name, words in commands.items()]
        lines.append("")
    lines += [
        f"{paint('rgraph COMMAND --help', 'cyan')} lists its options. The file - is standard input or output.",
        "Options of every command: --color auto|always|never, --quiet, --debug.",
        "Environment variables: RGRAPH_DEVICE, RGRAPH_SHOW, NO_COLOR.",
        "Exit status: 0 success, 1 findings, 2 wrong usage, 3 no device.",
    ]
    return "\n".join(lines)


def _split(arguments: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """Options before the command, the command, and what follows it."""
    before, rest = [], list(arguments)
    while rest and rest[0].startswith("-"):
        before.append(rest.pop(0))
        if before[-1] == "--color" and rest:
            before.append(rest.pop(0))
    return before, rest[0] if rest else None, rest[1:]


def _dispatch(arguments: Sequence[str]) -> int:
    before, name, rest = _split(arguments)
    from rgraph.cli import _terminal

    _terminal.setup(_terminal.wish(arguments))
    if {"-h", "--help"} & set(before) or (name is None and not before):
        (_terminal.say if before else _terminal.tell)(_help())
        return 0 if before else 2
    if {"-V", "--version"} & set(before):
        _terminal.say(f"rgraph {__version__}")
        return 0
    known = {name: words for commands in _COMMANDS.values() for name, words in commands.items()}
    if name is None:
        raise UsageError("which command?", "rgraph --help lists them")
    if name not in known:
        raise UsageError(f'there is no command "{name}"', _terminal.nearest(name, known, "rgraph --help lists them"))
    from importlib import import_module

    from rgraph.cli._parser import Parser

    module = import_module(_ELSEWHERE.get(name, f"rgraph.cli.{name}"))
    parser = Parser(name, known[name], getattr(module, "MORE", ""))
    module.add_arguments(parser)
    parsed = parser.finish().parse_args([*before, *rest])
    _terminal.setup(parsed.color, quiet=parsed.quiet)
    status: int = module.main(parsed)
    return status


def _gone() -> int:
    """The reader closed the pipe: silence Python's second error at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _failed(error: Exception) -> int:
    """Print an error; returns the exit status."""
    from rgraph._errors import DeviceError, InternalError, RgError
    from rgraph.cli._terminal import complain

    if isinstance(error, UsageError):
        complain(str(error), error.hint)
        return 2
    if isinstance(error, RgError):
        no_device = isinstance(error, DeviceError) and error.code in NO_DEVICE
        complain(str(error), "rgraph doctor says more" if no_device else "")
        return 3 if no_device else 1
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename is not None else ""
        complain(place + (error.strerror or str(error)))
        return 2
    unknown = InternalError(f"{type(error).__name__}: {error}")
    complain(f"a fault of rgraph's own: {unknown}", "please report it with what --debug prints")
    return 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments
        What follows the command's name; default: those of this process.

    Returns
    -------
    int
        The exit status.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    from rgraph.cli._terminal import fill_closed

    fill_closed()
    try:
        status = _dispatch(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return _gone()
    except KeyboardInterrupt:
        return 130
    except SystemExit as leaves:
        # argparse leaves this way after --help.
        return leaves.code if isinstance(leaves.code, int) else 0
    except Exception as error:
        if "--debug" in arguments:
            import traceback

            traceback.print_exc()
        return _failed(error)
    return status
