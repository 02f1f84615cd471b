"""What commands say: UTF-8 whatever the locale, colours and progress only where a person looks."""

from __future__ import annotations

import math
import os
import re
import sys
import time

# Without the module `typing`, as in `rgraph.cli`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType
    from typing import Self, TextIO

__all__ = [
    "Progress",
    "as_json",
    "columns",
    "complain",
    "figures",
    "fill_closed",
    "folded",
    "listing",
    "nearest",
    "paint",
    "parted",
    "say",
    "setup",
    "size",
    "table",
    "tell",
    "warn",
    "wish",
    "wrapped",
]

_CODES = {"bold": "1", "dim": "2", "red": "1;31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
_WIDEST = 100
_STYLE = re.compile(r"\x1b\[[\d;]*m")
# The styles of `paint`, and characters of names that a terminal obeys, that turn the direction of text (Unicode
# Standard Annex 9, section 2), or that have no width.
_OBEYED = re.compile(
    rf"(\x1b\[(?:0|{'|'.join(_CODES.values())})m)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e]"
    r"|[\u2060\u2066-\u2069\ufeff]"
)


class _State:
    """Whether standard output and standard error have colours, and whether remarks are wanted."""

    out = False
    error = False
    quiet = False


def _colored(stream: TextIO | None, color: str) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return _seen(stream)


def _seen(stream: TextIO | None) -> bool:
    """Whether a person looks at it; a stream that was closed is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def wish(arguments: Sequence[str]) -> str:
    """The last `--color` among arguments that nobody has parsed yet.

    Parameters
    ----------
    arguments
        Arguments of the command.
    """
    color = "auto"
    for at, argument in enumerate(arguments):
        if argument == "--color" and at + 1 < len(arguments):
            color = arguments[at + 1]
        elif argument.startswith("--color="):
            color = argument.removeprefix("--color=")
    return color if color in ("always", "never") else "auto"


def setup(color: str = "auto", *, quiet: bool = False) -> None:
    """Decide about colours and remarks for this process.

    Parameters
    ----------
    color
        `auto` (on a terminal, unless the environment's NO_COLOR is set), `always` or `never`.
    quiet
        Whether remarks and progress are left out.
    """
    _State.out = _colored(sys.stdout, color)
    _State.error = _colored(sys.stderr, color)
    _State.quiet = quiet


def paint(text: str, style: str, *, error: bool = False) -> str:
    """Text in a style, if there are colours.

    Parameters
    ----------
    text
        The text.
    style
        `bold`, `dim`, `red`, `green`, `yellow`, `blue` or `cyan`.
    error
        Whether it is meant for standard error.
    """
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if (_State.error if error else _State.out) else text


def fill_closed() -> None:
    """Put the null device in the place of standard streams that were closed.

    Python has no object for them, and their numbers would go to the next files that are opened: a driver that writes to
    number 1 would write into a picture.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _shown(text: str) -> str:
    """Text whose names a terminal does not obey: their control characters are written as escapes."""
    return _OBEYED.sub(lambda found: found[1] or f"\\u{{{ord(found[0]):x}}}", text)


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    text = text if text.endswith("\n") else f"{text}\n"
    # Files and pipes get the bytes as they are, since they may be data.
    text = _shown(text) if stream.isatty() else text
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
        return
    stream.flush()
    # File names may hold bytes that are no UTF-8: they come out as they went in.
    buffer.write(text.encode("utf-8", "surrogateescape"))
    buffer.flush()


def say(text: str = "") -> None:
    """Write lines to standard output.

    Parameters
    ----------
    text
        The lines, without the last line's end.

    Raises
    ------
    UsageError
        If standard output was closed.
    """
    if sys.stdout is None:
        from rgraph.cli import UsageError

        raise UsageError(
            "standard output is closed", "open it, as with > FILE, or write to a file where there is -o FILE"
        )
    _write(sys.stdout, text)


def tell(text: str) -> None:
    """Write a remark to standard error, unless `--quiet` forbids it.

    A terminal gets lines of its width.

    Parameters
    ----------
    text
        The lines, without the last line's end.
    """
    if _State.quiet:
        return
    if _State.error or _seen(sys.stderr):
        text = "\n".join(part for line in text.splitlines() for part in folded(line, 2))
    _write(sys.stderr, text)


def warn(text: str) -> None:
    """Write a finding to standard error.

    Parameters
    ----------
    text
        The lines, without the last line's end.
    """
    _write(sys.stderr, text)


def complain(message: str, hint: str = "") -> None:
    """Write what is wrong to standard error.

    Parameters
    ----------
    message
        Everything that is wrong; lines of it may begin with a code or with `help:`.
    hint
        How to fix it, ready to type.
    """
    lines = message.splitlines() or [""]
    if hint:
        lines.append(f"  help: {hint}")
    for at, line in enumerate(lines):
        code, space, rest = line.partition(" ")
        inner = line.lstrip()
        if code.startswith("RG-E"):
            lines[at] = f"{paint(code, 'red', error=True)}{space}{paint(rest, 'bold', error=True)}"
        elif inner.startswith("help: "):
            margin = line[: len(line) - len(inner)]
            lines[at] = f"{margin}{paint('help:', 'cyan', error=True)} {inner.removeprefix('help: ')}"
        elif at == 0:
            lines[at] = paint(line, "bold", error=True)
    _write(sys.stderr, f"{paint('rgraph:', 'red', error=True)} " + "\n".join(lines))


def nearest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """The hint for a name that does not exist.

    Parameters
    ----------
    name
        The name that the user gave.
    known
        The names that exist.
    otherwise
        The hint if nothing is near; default: a list of what exists.
    """
    from difflib import get_close_matches

    known = list(known)
    close = get_close_matches(name, known, n=1, cutoff=0.6) or [one for one in known if one.lower() == name.lower()]
    if close:
        return f'did you mean "{close[0]}"?'
    if otherwise or not known:
        return otherwise
    return f"there {'are' if len(known) > 1 else 'is'} {listing(known)}"


def listing(names: Sequence[str], most: int = 12) -> str:
    """Names as one line.

    Parameters
    ----------
    names
        The names.
    most
        Most names in the line.
    """
    more = f", … ({len(names) - most} more)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def as_json(values: object) -> str:
    """Plain data for programs.

    Parameters
    ----------
    values
        The data.
    """
    import json

    return json.dumps(values, indent=2, ensure_ascii=False)


def columns() -> int:
    """Columns that text is fitted into: the terminal's, 40 to 100; 80 where there is none."""
    try:
        wide = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        try:
            wide = os.get_terminal_size(sys.stdout.fileno()).columns
        except (AttributeError, OSError, ValueError):  # it has no number, or was closed
            wide = 80
    return max(40, min(wide or 80, _WIDEST))


def wrapped(text: str, margin: int) -> str:
    """A line as lines of the terminal's width where a person looks at it, or colours are asked for; else as it is.

    Parameters
    ----------
    text
        The line, without its margin.
    margin
        Columns that stand before it, and before its further lines.
    """
    if not (_State.out or _seen(sys.stdout)) or len(text) + margin <= columns():
        return text
    import textwrap

    room = max(columns() - margin, 24)
    lines = textwrap.wrap(
        parted(text, room - 2), room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return f"\n{' ' * margin}".join(lines)


def parted(text: str, room: int) -> str:
    """Text in which names that are wider than a line are in parts, each of which ends with what parts names.

    Parameters
    ----------
    text
        Words with spaces between them.
    room
        Columns of a line.
    """
    words = []
    for whole in text.split(" "):
        word = whole
        while len(word) > room:
            end = max(word.rfind(mark, 0, room) for mark in "/._") + 1 or room
            words.append(word[:end])
            word = word[end:]
        words.append(word)
    return " ".join(words)


def folded(line: str, margin: int) -> list[str]:
    """A line as lines of the terminal's width: cells, which two spaces part, stay whole where they can.

    Parameters
    ----------
    line
        The line, which may have styles.
    margin
        Columns that stand before further lines, where words leave them.
    """
    room = columns()
    if _long(line) <= room:
        return [line]
    start = len(line) - len(line.lstrip(" "))
    longest = max((long for long in map(_long, line.split()) if long <= room), default=0)
    later = " " * max(0, min(margin, room - longest))
    lines = [line[:start]]
    for cell in re.findall(r"(?:\S| \S)+ *", line[start:]):
        whole = cell.rstrip()
        if _long(lines[-1] + whole) > room and _long(later + whole) <= room and lines[-1].strip():
            lines.append(later)
        if _long(lines[-1] + whole) <= room:
            lines[-1] += cell
            continue
        for word in re.findall(r"\S+ *", cell):
            if _long(lines[-1] + word.rstrip()) > room and lines[-1].strip():
                lines.append(later)
            first, *parts = _parts(word, room - len(later))
            lines[-1] += first
            lines += [later + part for part in parts]
    return [one.rstrip() for one in lines]


def _long(text: str) -> int:
    """Columns of a text, which may have styles."""
    return len(_STYLE.sub("", text))


def _parts(word: str, room: int) -> list[str]:
    """A word that is wider than a line as parts, of which only the ends have styles."""
    if _long(word.rstrip()) <= room:
        return [word]
    inner = _STYLE.sub("", word).rstrip()
    before, _, after = word.partition(inner)
    first, *parts = parted(inner, room).split(" ")
    parts = [before + first, *parts]
    parts[-1] += after
    return parts


def figures(line: str, margin: int) -> str:
    """Figures with dots between them as lines of the terminal's width, in which no figure is broken.

    Parameters
    ----------
    line
        The figures, without their margin.
    margin
        Columns that stand before it, and before its further lines.
    """
    whole = "\u00a0"
    kept = " · ".join(figure.replace(" ", whole) for figure in line.split(" · "))
    return wrapped(kept, margin).replace(whole, " ")


def size(count: float) -> str:
    """Bytes as people read them.

    Parameters
    ----------
    count
        Number of bytes.
    """
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            # Halves round up, as they do in listings and in the viewer.
            return f"{count:.0f} B" if unit == "B" else f"{math.floor(count * 10 + 0.5) / 10:.1f} {unit}"
        count /= 1024
    return f"{math.floor(count * 10 + 0.5) / 10:.1f} GiB"


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = (), margin: str = "  ") -> list[str]:
    """Rows as lines with columns under each other.

    Parameters
    ----------
    rows
        The cells; colours come afterwards, since they count as letters.
    right
        Columns that end under each other rather than begin.
    margin
        What each line begins with.
    """
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))] if rows else []
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((margin + "  ".join(cells)).rstrip())
    return lines


class Progress:
    """A bar on a terminal's last line; nothing elsewhere. Use it in a `with` block.

    Parameters
    ----------
    total
        Steps until it is done; None: unknown.
    what
        What a step is.
    """

    def __init__(self, total: int | None, what: str) -> None:
        self._total, self._what, self._done = total, what, 0
        self._shown = not _State.quiet and _seen(sys.stderr)
        self._begin = self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        """Writes to the terminal; one that is gone ends the bar, and not the work that it counts."""
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._shown = False

    def step(self, count: int = 1, note: str = "") -> None:
        """Count steps.

        Parameters
        ----------
        count
            How many were made.
        note
            What else there is to say.
        """
        self._done += count
        now = time.monotonic()
        if not self._shown or (now - self._last < 0.05 and self._done != self._total):
            return
        self._last = now
        rate = self._done / max(now - self._begin, 1e-9)
        text = f"{self._done} {self._what} · {rate:.1f}/s"
        if self._total:
            cells = 24 * self._done // self._total
            text = f"{'━' * cells}{'─' * (24 - cells)} {self._done}/{self._total} {self._what} · {rate:.1f}/s"
            if rate > 0 and self._done < self._total:
                text += f" · {(self._total - self._done) / rate:.0f} s left"
        text = f"{text}  {_shown(note)}" if note else text
        self._write(f"\r{text[: columns() - 1]}\x1b[K")
