"""Files that commands read and write; `-` is standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph._core import Graph, Plan, Profile
from rgraph.cli import UsageError
from rgraph.cli._terminal import nearest

if TYPE_CHECKING:
    import argparse

__all__ = [
    "PROFILES",
    "STANDARD",
    "baked",
    "exists",
    "is_plan",
    "load_graph",
    "load_plan",
    "load_profile",
    "one_standard",
    "plan_suffix",
]

STANDARD = "-"
SUFFIXES = (".json", ".dot", ".txt")
PROFILES = ("minimal", "single_queue", "discrete")


def exists(path: str) -> None:
    """See that a file is there.

    Parameters
    ----------
    path
        The file; `-` always is.

    Raises
    ------
    UsageError
        If it is not; with the file beside it that was probably meant.
    """
    file = Path(path)
    if path == STANDARD or file.is_file():
        return
    if file.is_dir():
        raise UsageError(f"{path}: a folder, not a file")
    if file.exists():  # a pipe
        return
    if not file.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {file.parent}")
    beside = [entry.name for entry in file.parent.iterdir() if entry.is_file()]
    raise UsageError(f"{path}: no such file", nearest(file.name, beside, " ").strip())


def _standard() -> bytes:
    return sys.stdin.buffer.read()


def one_standard(*paths: str | None) -> None:
    """See that at most one file is standard input.

    Parameters
    ----------
    paths
        The files.

    Raises
    ------
    UsageError
        If two are.
    """
    if sum(path == STANDARD for path in paths) > 1:
        raise UsageError("only one file can be standard input")


def load_graph(path: str) -> Graph:
    """Read a graph file.

    Parameters
    ----------
    path
        The file.
    """
    exists(path)
    if path == STANDARD:
        return Graph.from_json(_standard())
    return Graph.load(path)


def load_plan(path: str) -> Plan:
    """Read a plan file.

    Parameters
    ----------
    path
        The file.
    """
    exists(path)
    return Plan.from_json(_standard()) if path == STANDARD else Plan.load(path)


def load_profile(name: str) -> Profile | str:
    """A profile by its name, or out of a file.

    Parameters
    ----------
    name
        One of `PROFILES`, or a file.
    """
    if name in PROFILES:
        return name
    if name == STANDARD:
        return Profile.from_json(_standard())
    if not Path(name).exists():
        where = f"neither a file nor one of the profiles {', '.join(PROFILES)}"
        raise UsageError(f"{name}: {where}", nearest(name, PROFILES, "rgraph doctor --profile FILE writes a device's"))
    return Profile.load(name)


def baked(arguments: argparse.Namespace, **more: Any) -> Plan:
    """Bake the graph that arguments name, as they say.

    Parameters
    ----------
    arguments
        With `graph`, and what `planning` adds.
    more
        Further options of `Graph.bake`.
    """
    one_standard(arguments.graph, arguments.profile)
    profile = load_profile(arguments.profile)
    return load_graph(arguments.graph).bake(
        profile, policy=arguments.policy, split_barriers=arguments.split, effort=arguments.effort, **more
    )


def is_plan(path: str) -> bool:
    """Whether a file is meant to be a plan rather than a graph.

    Parameters
    ----------
    path
        The file.
    """
    return path.endswith((".rplan.json", ".plan.json"))


def plan_suffix(path: str) -> None:
    """See that plans can be written to a file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    UsageError
        If they cannot; before anything was done.
    """
    file = Path(path)
    if file.suffix not in SUFFIXES:
        raise UsageError(f"{path}: plans are written to {', '.join(SUFFIXES)}")
    if not file.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {file.parent}")
