"""Folders of plans, as builds leave them: the plans of one, or of two against each other, the largest change first."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph.cli import UsageError
from rgraph.cli._files import baked, load_plan
from rgraph.cli._terminal import figures, paint, size

if TYPE_CHECKING:
    from rgraph import Plan

__all__ = ["FIGURES", "Entry", "against", "figure", "lines", "plain_values", "plans", "share"]

_PLANS = (".rplan.json", ".plan.json")
_GRAPHS = ".rgraph.json"
# Figures that people look at first, by their names in differences.
FIGURES = ("frame", "memory", "barrier calls", "batches", "passes")
_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow"), "equal": ("=", "dim")}


@dataclass(frozen=True)
class Entry:
    """A plan of a folder, or the plans of one name in two folders."""

    name: str
    before: Plan | None
    after: Plan | None
    values: dict[str, Any]
    """What `Plan.diff_dict` returns; of a plan that is alone: its difference from itself."""

    @property
    def status(self) -> str:
        """`added`, `removed`, `changed` or `equal`."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "equal" if self.values["equal"] else "changed"

    @property
    def weight(self) -> float:
        """How much changed: the largest share by which a figure differs."""
        return max(abs(share(self, what) or 0.0) for what in FIGURES)


def share(entry: Entry, what: str) -> float | None:
    """By which share a figure grew; None where there is nothing to compare.

    Parameters
    ----------
    entry
        The plans.
    what
        The figure's name.
    """
    one = next(one for one in entry.values["figures"] if one["what"] == what)
    if entry.status in ("added", "removed") or not max(one["before"], one["after"]):
        return None
    return float((one["after"] - one["before"]) / one["before"]) if one["before"] else 1.0


def figure(what: str, value: float) -> str:
    """A figure as people read it.

    Parameters
    ----------
    what
        Its name.
    value
        Microseconds, bytes, or a number.
    """
    if what.startswith("frame"):
        return f"{value / 1000:.2f} ms" if value >= 1000 else f"{value:.1f} µs"
    return size(value) if what.startswith("memory") else f"{value:.0f}"


def plans(folder: str, planning: Namespace | None = None) -> dict[str, Plan]:
    """The plans of a folder and the folders in it, by their path without the suffix.

    Parameters
    ----------
    folder
        The folder.
    planning
        How graph files without a plan in the same folder are baked; None: they are left out.

    Raises
    ------
    UsageError
        If there is no plan.
    """
    root = Path(folder)
    found: dict[str, Plan] = {}
    files = sorted(path for path in root.rglob("*.json") if path.is_file())
    for path in files:
        suffix = next((suffix for suffix in _PLANS if path.name.endswith(suffix)), None)
        if suffix is not None:
            found[path.relative_to(root).as_posix().removesuffix(suffix)] = load_plan(str(path))
    for path in files if planning is not None else ():
        name = path.relative_to(root).as_posix()
        if name.endswith(_GRAPHS) and name.removesuffix(_GRAPHS) not in found:
            found[name.removesuffix(_GRAPHS)] = baked(Namespace(**{**vars(planning), "graph": str(path)}))
    if not found:
        kinds = f"{_PLANS[0]} or {_GRAPHS}" if planning is not None else _PLANS[0]
        raise UsageError(f"{folder}: no file called {kinds} is in it", "rgraph bake GRAPH -o FOLDER/NAME.rplan.json")
    return found


def against(before: dict[str, Plan], after: dict[str, Plan]) -> list[Entry]:
    """The plans of two folders, matched by name: what changed most first, what is equal last.

    Parameters
    ----------
    before, after
        The plans of both.
    """
    entries = []
    for name in dict.fromkeys([*before, *after]):
        first, second = before.get(name), after.get(name)
        left, right = first or second, second or first
        if left is not None and right is not None:
            entries.append(Entry(name, first, second, left.diff_dict(right)))
    ranks = {"changed": 0, "added": 1, "removed": 2, "equal": 3}
    return sorted(entries, key=lambda one: (ranks[one.status], -one.weight, one.name))


def _told(entry: Entry) -> str:
    """The figures of an entry that changed, as `before → after (share)`, and how many changes there are."""
    parts = []
    for what in FIGURES:
        one = next(one for one in entry.values["figures"] if one["what"] == what)
        grown = share(entry, what)
        before, after = figure(what, one["before"]), figure(what, one["after"])
        if grown and before != after:
            parts.append(f"{what} {before} → {after} ({grown:+.1%})")
        elif grown is None and what in FIGURES[:2]:
            parts.append(f"{what} {after}")
    changes = len(entry.values["changes"])
    if entry.status == "changed":
        parts.append(f"{changes} change{'s' if changes > 1 else ''}")
    return " · ".join(parts)


def lines(entries: list[Entry]) -> list[str]:
    """What changed between two folders, a line per plan; equal ones are counted.

    Parameters
    ----------
    entries
        As `against` gives them.
    """
    counts = {status: sum(one.status == status for one in entries) for status in _SIGNS}
    head = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    out = [paint(f"{len(entries)} plans: {head}", "bold")]
    changed = [one for one in entries if one.status != "equal"]
    widest = max((len(one.name) for one in changed), default=0)
    for entry in changed:
        sign, color = _SIGNS[entry.status]
        out.append(f"  {paint(sign, color)} {entry.name:{widest}}  {figures(_told(entry), widest + 6)}")
    return out


def plain_values(entries: list[Entry]) -> dict[str, Any]:
    """The same for programs.

    Parameters
    ----------
    entries
        As `against` gives them.
    """
    listed = [
        {"name": one.name, "status": one.status, "figures": one.values["figures"], "changes": one.values["changes"]}
        for one in entries
    ]
    return {"equal": all(one.status == "equal" for one in entries), "plans": listed}
