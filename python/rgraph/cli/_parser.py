"""How commands read their arguments: argparse with short messages, suggestions, and options that commands share."""

from __future__ import annotations

import argparse
import sys
import textwrap
from typing import TYPE_CHECKING, Any, NoReturn

from rgraph.cli import UsageError
from rgraph.cli._terminal import columns, nearest, say

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Parser",
    "add_patience",
    "add_workers",
    "count",
    "named_file",
    "names",
    "natural",
    "option",
    "pair",
    "planning",
    "positive",
]

_POLICIES = ("auto", "declared", "overlap", "weighted", "exact", "box_tree")
_BUDGETS = ("least", "balanced", "fast")
_SPLITS = ("never", "distance", "always")


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=26, width=columns() - 2)


class Parser(argparse.ArgumentParser):
    """The parser of one command.

    Parameters
    ----------
    name
        The command.
    words
        What it does, in a line.
    more
        What is shown below the options: paragraphs, and indented lines that stay as they are.
    """

    def __init__(self, name: str, words: str, more: str = "") -> None:
        wide = columns() - 2
        # Paragraphs are filled; what is indented stays as it is.
        paragraphs = [part if part.startswith(" ") else textwrap.fill(part, wide) for part in more.split("\n\n")]
        super().__init__(
            prog=f"rgraph {name}",
            description=f"{words[0].upper()}{words[1:]}.",
            epilog="\n\n".join(paragraphs) or None,
            formatter_class=_formatter,
            allow_abbrev=False,
            add_help=False,
            exit_on_error=False,
        )
        self._positionals.title = "arguments"

    def finish(self) -> Parser:
        """Add the options that all commands have; they are shown last."""
        always = self.add_argument_group("everywhere")
        always.add_argument("-h", "--help", action="help", help="print this help")
        always.add_argument(
            "--color",
            default="auto",
            choices=("auto", "always", "never"),
            metavar="WHEN",
            help="auto (on a terminal; default), always or never",
        )
        always.add_argument("-q", "--quiet", action="store_true", help="print neither notes nor progress")
        always.add_argument("--debug", action="store_true", help="print the Python traceback of an error")
        self.usage = " ".join([self.prog, *map(_shown, self._get_positional_actions()), "[OPTION…]"])
        return self

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments.

        Parameters
        ----------
        args, namespace
            As for argparse.

        Raises
        ------
        UsageError
            With what is wrong, and what was probably meant.
        """
        # An argument that is needed is optional for argparse, which names missing ones in a message alone.
        needed = [one for one in self._actions if one.required]
        for one in needed:
            one.required, one.default = False, _MISSING
        try:
            found, rest = self.parse_known_args(args, namespace)
        except argparse.ArgumentError as error:
            message = f"{error.argument_name}: {error.message}" if error.argument_name else error.message
            raise UsageError(message, self._help) from error
        if rest:
            word = rest[0].partition("=")[0]
            if rest[0].startswith("-"):
                raise UsageError(
                    f'there is no option "{rest[0]}"', nearest(word, self._option_string_actions, self._help)
                )
            named = "--input" if "=" in rest[0] and "--input" in self._option_string_actions else ""
            raise UsageError(f'unexpected argument "{rest[0]}"', f"{named} {rest[0]}" if named else self._help)
        missing = [_called(one) for one in needed if getattr(found, one.dest) is _MISSING]
        if missing:
            raise UsageError(f"{', '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing", self._help)
        return found

    def print_help(self, file: Any = None) -> None:
        """Print the help as all output is printed: in UTF-8, whatever the locale.

        Parameters
        ----------
        file
            As for argparse; by default standard output, or standard error where that is closed.
        """
        if file is None and sys.stdout is not None:
            say(self.format_help())
        else:
            super().print_help(sys.stderr if file is None else file)

    def error(self, message: str) -> NoReturn:
        """Raise what argparse finds wrong where it has no error that names the argument.

        Parameters
        ----------
        message
            argparse's own.
        """
        raise UsageError(message, self._help)

    @property
    def _help(self) -> str:
        return f"{self.prog} --help"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(one) for one in action.choices]
            raise UsageError(f'{_called(action)}: there is no "{value}"', nearest(str(value), known))

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return action.type(arg_string) if callable(action.type) else arg_string
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(action, str(error)) from error
        except ValueError as error:
            kind = getattr(action.type, "__name__", "value")
            raise UsageError(f'{_called(action)}: "{arg_string}" is not a {kind}', self._help) from error


_MISSING = object()


def _shown(action: argparse.Action) -> str:
    """An argument in the line of usage: in brackets if it may be left out."""
    words = "|".join(action.choices or ())
    if action.nargs == argparse.OPTIONAL:
        return f"[{action.metavar or words}]"
    return str(action.metavar or f"{{{words}}}")


def _called(action: argparse.Action) -> str:
    return "/".join(action.option_strings) or str(action.metavar or action.dest)


def natural(text: str) -> int:
    """A whole number that is not negative and fits 32 bits.

    Parameters
    ----------
    text
        The text of the argument.
    """
    number = int(text)
    if not 0 <= number < 2**32 - 1:
        raise ValueError(text)
    return number


def budget(text: str) -> str | int:
    """One of the words for memory, or a number of bytes.

    Parameters
    ----------
    text
        The text of the argument.
    """
    if text in _BUDGETS:
        return text
    if not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f'"{text}" is none of {", ".join(_BUDGETS)}, and no number of bytes')
    return int(text)


def names(text: str) -> list[str]:
    """Names between commas, none of them empty.

    Parameters
    ----------
    text
        The text of the argument.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise ValueError(text)
    return parts


names.__name__ = "list of names with commas between"


def count(text: str) -> int:
    """A whole number from 1 on.

    Parameters
    ----------
    text
        The text of the argument.
    """
    number = natural(text)
    if number == 0:
        raise ValueError(text)
    return number


def positive(text: str) -> float:
    """A number that is not negative.

    Parameters
    ----------
    text
        The text of the argument.
    """
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError(text)
    return number


def add_patience(group: argparse._ArgumentGroup) -> None:
    """Add the option for the time without an answer after which a scheduler counts as lost.

    Parameters
    ----------
    group
        Where.
    """
    group.add_argument(
        "--patience",
        type=positive,
        default=30.0,
        metavar="SECONDS",
        help="time without an answer after which the scheduler counts as lost (default: 30)",
    )


def add_workers(parser: argparse.ArgumentParser, do: str) -> None:
    """Add the options that spread a command's work over workers.

    Parameters
    ----------
    parser
        Where.
    do
        What workers do: `"try the graphs"`.
    """
    group = parser.add_argument_group("workers")
    group.add_argument("--workers", type=count, metavar="N", help=f"number of processes that {do} (default: none)")
    group.add_argument("--scheduler", metavar="ADDRESS", help=f"a scheduler of Dask whose workers {do}")
    add_patience(group)


natural.__name__ = "whole number of at least 0"
count.__name__ = "whole number above 0"
positive.__name__ = "number of at least 0"


def pair(text: str) -> tuple[str, str]:
    """What `NAME=VALUE` says.

    Parameters
    ----------
    text
        The text of the argument.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(text)
    return name, value


pair.__name__ = "NAME=VALUE"


def named_file(text: str) -> tuple[str, str]:
    """What `NAME=FILE` says, or `FILE` alone: then the name is empty.

    Parameters
    ----------
    text
        The text of the argument.
    """
    name, equals, value = text.partition("=")
    return (name, value) if equals else ("", text)


def option(parser: argparse._ActionsContainer, *names: str, kind: Callable[[str], Any], **more: Any) -> None:
    """Add an option that may be repeated and again.

    Parameters
    ----------
    parser
        Where.
    names
        Its names.
    kind
        What reads its value.
    more
        As for argparse.
    """
    parser.add_argument(*names, type=kind, action="append", default=[], **more)


def _profile(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--profile",
        default="discrete",
        metavar="NAME|FILE",
        help="the device: minimal, single_queue, discrete (default), or a file of rgraph doctor --profile",
    )
    hidden = argparse.SUPPRESS
    group.add_argument("--device-profile", dest="profile", metavar="NAME|FILE", default=hidden, help=hidden)


def _effort(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--effort",
        type=natural,
        metavar="N",
        help="search effort: 0 fastest, 1 (default) about twice the time, each further level up to four times as much",
    )


def _option(group: argparse._ActionsContainer) -> None:
    option(
        group,
        "--option",
        kind=pair,
        metavar="NAME=VALUE",
        help="an option of the graph file; may be repeated",
    )


def choose_policy(group: argparse._ActionsContainer, default: str | None = None) -> None:
    """Add the option that names a policy.

    Parameters
    ----------
    group
        Where.
    default
        What it is if it is not given.
    """
    note = f" (default: {default})" if default else ""
    group.add_argument(
        "--policy",
        default=default,
        choices=_POLICIES,
        metavar="NAME",
        help=f"policy for the order of passes: {', '.join(_POLICIES)}{note}",
    )


def profile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a graph and its device, without those that say how it is baked.

    Parameters
    ----------
    parser
        Where.
    """
    group = parser.add_argument_group("planning")
    _profile(group)
    _effort(group)
    _option(group)


def planning(parser: argparse.ArgumentParser, *, profile: bool = True) -> None:
    """Add the options that say how a graph is baked.

    Parameters
    ----------
    parser
        Where.
    profile
        Whether the device is chosen too: else it is a real one.
    """
    group = parser.add_argument_group("planning")
    if profile:
        _profile(group)
    choose_policy(group, default="auto")
    group.add_argument(
        "--split",
        default="never",
        choices=_SPLITS,
        metavar="WHERE",
        help=f"barriers to split into events: {', '.join(_SPLITS)} (default: never)",
    )
    _effort(group)
    group.add_argument(
        "--memory",
        type=budget,
        default="balanced",
        metavar="WORD|BYTES",
        help="memory of transients against barrier calls: least, balanced (default), fast, or a limit in bytes",
    )
    group.add_argument(
        "--max-batches",
        type=natural,
        default=256,
        metavar="N",
        help="maximum number of batches (submits) per frame (default: 256)",
    )
    _option(group)
