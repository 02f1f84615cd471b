"""Plans kept on disk by `rgraph bake --keep`: numbered plan files in one folder, the oldest forgotten first."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rgraph._core import Plan
from rgraph._save import make_folder
from rgraph.cli import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FOLDER", "MOST", "find", "is_kept", "keep", "kept"]

FOLDER = ".rgraph/plans"
# Plans that the folder keeps.
MOST = 64
_FILE = re.compile(r"(\d{6,})-([0-9a-f]{32})\.rplan\.json")
_HEAD = re.compile(r"HEAD(?:~(\d{1,6}))?")
# What is meant as a kept plan.
_LIKE_HEAD = re.compile(r"HEAD(?:[~^@].*)?", re.IGNORECASE | re.DOTALL)


def _folder() -> Path:
    return Path(os.environ.get("RGRAPH_HISTORY", FOLDER))


def _files(folder: Path) -> list[Path]:
    """Kept plans, the latest first."""
    if not folder.is_dir():
        return []
    found = [(int(match[1]), file) for file in folder.iterdir() if (match := _FILE.fullmatch(file.name))]
    return [file for _, file in sorted(found, reverse=True)]


def keep(plan: Plan) -> Path:
    """Keep a plan as the latest one; one that is the latest already is not kept twice.

    Parameters
    ----------
    plan
        The plan.

    Returns
    -------
    Path
        Its file.
    """
    folder = _folder()
    make_folder(folder)
    files = _files(folder)
    if files and files[0].name.endswith(f"-{plan.hash}.rplan.json"):
        return files[0]
    number = int(files[0].name.split("-")[0]) + 1 if files else 1
    file = folder / f"{number:06}-{plan.hash}.rplan.json"
    plan.save(file)
    for old in _files(folder)[MOST:]:
        old.unlink(missing_ok=True)
    return file


def kept() -> Sequence[Path]:
    """Files of the kept plans, the latest first."""
    return _files(_folder())


def is_kept(name: str) -> bool:
    """Whether an argument names a kept plan: `HEAD`, `HEAD~3`.

    Parameters
    ----------
    name
        The argument.
    """
    return _LIKE_HEAD.fullmatch(name) is not None and not Path(name).exists()


def find(name: str) -> Plan:
    """The plan that `HEAD~n` means: n plans of the same graph before the latest one.

    Parameters
    ----------
    name
        `HEAD`, or `HEAD~n`.

    Raises
    ------
    UsageError
        If there are not so many, or the name counts no plans.
    """
    match = _HEAD.fullmatch(name)
    if match is None:
        raise UsageError(f"{name}: no kept plan has this name", "HEAD is the latest, HEAD~1 the one before it")
    back = int(match[1] or 0)
    files = kept()
    if not files:
        raise UsageError(f"{_folder()}: no plan was kept there", "rgraph bake GRAPH --keep keeps one")
    head = Plan.load(files[0])
    number = 0
    for file in files:
        plan = head if file == files[0] else Plan.load(file)
        if plan.graph_name != head.graph_name:
            continue
        if number == back:
            return plan
        number += 1
    raise UsageError(f'{name}: {number} plans of "{head.graph_name}" are kept', f"HEAD~{number - 1} is the oldest")
