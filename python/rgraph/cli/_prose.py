"""Text of the manual in a terminal: headings, wrapped paragraphs, code that stands apart."""

from __future__ import annotations

import re
import textwrap

from rgraph.cli._terminal import columns, figures, paint, parted, wrapped

__all__ = ["listing", "reasons", "rendered"]

_BOLD = re.compile(r"\*\*(.+?)\*\*")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_MARGIN = 15


def _wrapped(words: str, first: str = "", later: str = "") -> str:
    filled = textwrap.fill(
        parted(words, columns() - len(later)),
        columns(),
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return _BOLD.sub(lambda found: paint(found[1], "bold"), filled)


def rendered(markdown: str) -> str:
    """Markdown as text of a terminal's width: headings bold, code indented, paragraphs and items wrapped.

    Parameters
    ----------
    markdown
        Headings, paragraphs, lists and fenced code.
    """
    out: list[str] = []
    pending: list[str] = []

    def flush() -> None:
        if not pending:
            return
        words = _LINK.sub(r"\1", " ".join(line.strip() for line in pending))
        item = words.startswith(("- ", "* "))
        out.append(_wrapped(words[2:], "- ", "  ") if item else _wrapped(words))
        pending.clear()

    code = False
    for line in markdown.rstrip().splitlines():
        if line.startswith("```"):
            flush()
            if out and out[-1] and (not code or line != "```"):
                out.append("")
            code = not code
        elif code:
            words = line.lstrip()
            margin = 4 + len(line) - len(words)
            out.append(f"{' ' * margin}{wrapped(words, margin)}".rstrip())
        elif line.startswith("#"):
            flush()
            out.append(paint(line.lstrip("# "), "bold"))
        elif not line.strip():
            flush()
            if out and out[-1]:
                out.append("")
        else:
            if line.startswith(("- ", "* ")):
                flush()
            pending.append(line)
    flush()
    return "\n".join(out)


def listing(text: str) -> str:
    """The listing of a plan: headings and names of passes stand out, and lines are as wide as the terminal.

    Parameters
    ----------
    text
        As `str(plan)` gives it.
    """
    out: list[str] = []
    head = True
    for line in text.splitlines():
        words = line.lstrip()
        margin = len(line) - len(words)
        head = head and bool(words)
        if head and margin:
            out.append(f"{' ' * margin}{figures(words, margin)}")
        elif not margin and words:
            out.append(paint(wrapped(words, 0), "bold"))
        elif words.startswith("▸ "):
            out.append(f"{' ' * margin}▸ {paint(wrapped(words[2:], margin + 2), 'cyan')}")
        elif words in ("barriers", "waits", "events") or words.startswith("render pass"):
            out.append(f"{' ' * margin}{paint(words, 'dim')}")
        else:
            out.append(f"{' ' * margin}{wrapped(words, margin)}")
    return "\n".join(out)


def reasons(text: str) -> str:
    """The explanation of a pass: a title, and reasons behind their headings, wrapped to the terminal's width.

    Parameters
    ----------
    text
        As `Plan.explain` gives it: each reason begins in column 15.
    """
    first, *lines = text.splitlines()
    out = [paint(line, "bold") for line in textwrap.wrap(first, columns(), subsequent_indent="  ")]
    for line in lines:
        about, words = line[:_MARGIN], line[_MARGIN:]
        if not about[2:3].strip():
            about, words = " " * _MARGIN, line.strip()
        filled = _wrapped(words, about, " " * _MARGIN)
        out.append(f"{paint(filled[:_MARGIN], 'cyan')}{filled[_MARGIN:]}" if about.strip() else filled)
    return "\n".join(out)
