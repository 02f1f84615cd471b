"""A page for a folder of plans, or for two folders: no script, no network, one file, as builds keep them."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from typing import TYPE_CHECKING

from rgraph.cli._folder import FIGURES, Entry, figure, share
from rgraph.cli._summary import ranked

if TYPE_CHECKING:
    from rgraph import Plan

__all__ = ["page"]

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
# Passes of a plan from which on its timeline is left out, and changes that are listed of one plan.
_MOST_PASSES = 1500
_MOST_CHANGES = 120
_SIGNS = {"added": "+", "removed": "−", "moved": "↔", "changed": "~", "equal": "="}
_HEADS = {
    "frame": "Frame (modelled)",
    "memory": "Memory",
    "barrier calls": "Barrier calls",
    "batches": "Submits",
    "passes": "Passes",
}

_SHEET = """\
:root{color-scheme:light dark;--line:light-dark(#d7dce3,#313844);--muted:light-dark(#566070,#a3adbb);
--panel:light-dark(#f5f6f8,#1a1e25);--less:light-dark(#0b6b34,#6fd08c);--more:light-dark(#b3261e,#ff9a91);
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
body{margin:0 auto;max-width:1200px;padding:20px 24px 60px;background:light-dark(#fff,#12151a);
color:light-dark(#171c24,#e7eaf0)}
h1{font-size:20px;margin:0}p{margin:4px 0 16px;color:var(--muted)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:5px 12px 5px 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;font-size:12px;color:var(--muted);white-space:nowrap}td.n,th.n{text-align:right;white-space:nowrap}
td:first-child{overflow-wrap:anywhere;min-width:180px}a{color:inherit}
.less{color:var(--less)}.more{color:var(--more)}.note{color:var(--muted);font-size:12px}
section{margin:34px 0 0;padding-top:12px;border-top:2px solid var(--line)}h2{font-size:16px;margin:0 0 6px;
overflow-wrap:anywhere}h3{font-size:13px;margin:14px 0 2px;overflow-wrap:anywhere}ul{margin:0;padding:0;list-style:none}
li{overflow-wrap:anywhere;padding-left:18px;text-indent:-18px}li b{display:inline-block;width:18px;text-indent:0}
.v{display:inline-block;min-width:76px}summary{cursor:pointer;font-weight:600;padding:4px 0}
figure{margin:8px 0;overflow-x:auto}figcaption{color:var(--muted);font-size:12px}
.share rect{fill:light-dark(#9fc1ef,#2f5f9e)}
@page{size:A4 landscape;margin:10mm}
@media print{*{print-color-adjust:exact;-webkit-print-color-adjust:exact}section{break-inside:avoid}
.wide,figure{overflow:visible}}
"""


def _text(words: str) -> str:
    """Words as HTML, control characters shown."""
    shown = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in words)
    return html.escape(shown) or "(no name)"


def _drawn(plan: Plan) -> tuple[str, str]:
    """The timeline of a plan, and the style sheet that it shares with all others."""
    if len(plan.passes) > _MOST_PASSES:
        return f'<p class="note">{len(plan.passes)} passes: too many for a picture.</p>', ""
    picture = plan.to_svg(view="timeline", width=1150)
    found = _STYLE.search(picture)
    return _STYLE.sub("", picture), found[1] if found else ""


def _cell(entry: Entry, what: str, most: float) -> str:
    """A figure: what it was and is, and by how much it grew; of one folder, with a bar."""
    one = next(one for one in entry.values["figures"] if one["what"] == what)
    before, after = figure(what, one["before"]), figure(what, one["after"])
    grown = share(entry, what)
    if grown and before != after:
        kind = "less" if grown < 0 else "more"
        return f'<td class="n">{before} → {after} <span class="{kind}">{grown:+.1%}</span></td>'
    bar = ""
    if entry.before is entry.after and most > 0:
        wide = 60 * one["after"] / most
        bar = (
            f'<svg class="share" width="62" height="9" aria-hidden="true"><rect width="{wide:.1f}" height="9"/></svg> '
        )
    return f'<td class="n">{bar}<span class="v">{after}</span></td>'


def _table(entries: list[Entry], compared: bool) -> str:
    most = {
        what: max(
            (one["after"] for entry in entries for one in entry.values["figures"] if one["what"] == what), default=0
        )
        for what in FIGURES
    }
    heads = "".join(f'<th class="n" scope="col">{_HEADS[what]}</th>' for what in FIGURES)
    status = '<th scope="col">Change</th>' if compared else ""
    rows = []
    for at, entry in enumerate(entries):
        cells = "".join(_cell(entry, what, most[what]) for what in FIGURES)
        sign = f"<td>{_SIGNS[entry.status]} {entry.status}</td>" if compared else ""
        rows.append(f'<tr><td><a href="#plan{at}">{_text(entry.name)}</a></td>{sign}{cells}</tr>')
    head = f'<tr><th scope="col">Plan</th>{status}{heads}</tr>'
    return f'<div class="wide" tabindex="0" role="region" aria-label="Plans"><table>{head}{"".join(rows)}</table></div>'


def _changes(entry: Entry) -> str:
    """The changes of a plan by pass and resource, the largest first."""
    out, left = [], _MOST_CHANGES
    for (what, name), changes in ranked(entry.values):
        if left <= 0:
            break
        items = []
        for change in changes[:left]:
            before, after = change["before"], change["after"]
            value = f"{before} → {after}" if before is not None and after is not None else after or before or ""
            words = ": ".join(part for part in (change["aspect"], value) if part) or change["kind"]
            items.append(f'<li><b title="{change["kind"]}">{_SIGNS[change["kind"]]}</b>{_text(words)}</li>')
        left -= len(items)
        out.append(f"<h3>{_text(f'{what} {name}' if name else what)}</h3><ul>{''.join(items)}</ul>")
    more = len(entry.values["changes"]) - (_MOST_CHANGES - left)
    if more > 0:
        out.append(f'<p class="note">and {more} more changes: rgraph diff of the two files lists them</p>')
    return "".join(out)


def _section(entry: Entry, at: int, compared: bool) -> tuple[str, str]:
    """The section of one plan: its changes, then its timeline, and the earlier one if that differs."""
    sheet, figures = "", []
    sides: list[tuple[str, Plan | None]] = [("before", entry.before), ("after", entry.after)]
    shown = sides if compared and entry.status != "equal" else sides[1:]
    for words, plan in shown:
        if plan is not None:
            picture, sheet = _drawn(plan)
            caption = f"<figcaption>{words}</figcaption>" if len(shown) > 1 else ""
            figures.append(f"<figure>{caption}{picture}</figure>")
    listed = _changes(entry) if entry.status == "changed" else ""
    body = f"{listed}{''.join(figures)}"
    if entry.status == "equal" and compared:
        body = f"<details><summary>Timeline</summary>{body}</details>"
    return f'<section id="plan{at}"><h2>{_text(entry.name)}</h2>{body}</section>', sheet


def page(title: str, entries: list[Entry], *, compared: bool) -> str:
    """The page.

    Parameters
    ----------
    title
        What it is about.
    entries
        The plans: as `_folder.against` gives them, or each alone.
    compared
        Whether there are two folders.
    """
    counts = {
        status: sum(one.status == status for one in entries) for status in ("changed", "added", "removed", "equal")
    }
    words = ", ".join(f"{count} {status}" for status, count in counts.items() if count) if compared else ""
    sections, sheets = [], [_SHEET]
    for at, entry in enumerate(entries):
        section, sheet = _section(entry, at, compared)
        sections.append(section)
        if sheet and sheet not in sheets:
            sheets.append(sheet)
    style = "".join(sheets)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)} · rgraph</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{_text(title)}</h1>\n<p>{len(entries)} plans{f': {words}' if words else ''}</p>\n"
        f"{_table(entries, compared)}\n{''.join(sections)}\n</main>\n</body>\n</html>\n"
    )
