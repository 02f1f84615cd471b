"""Names of inputs and flags that tasks give, compared with those of the graph before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rgraph._core import Graph
from rgraph.batch._tasks import Task, refuse

__all__ = ["check_names"]


def _check(whose: str, kind: str, given: Iterable[object], known: Iterable[str], otherwise: str) -> None:
    for name in given:
        if isinstance(name, str) and name not in known:
            listed = ", ".join(list(known)[:12])
            message = f'{whose} has {kind} "{name}", and the graph has none of that name'
            raise refuse("RG-E202", message, f"there are {listed}" if listed else otherwise)


def check_names(graph: Graph, tasks: Sequence[Task], inputs: Iterable[object]) -> None:
    """Refuse inputs and flags that the graph does not declare.

    Parameters
    ----------
    graph
        The graph.
    tasks
        Tasks with inputs and flags of their own.
    inputs
        Names of the inputs of all tasks.

    Raises
    ------
    GraphError
        RG-E202, with the names that the graph has.
    """
    declared = graph.to_dict()
    passes = declared["passes"]
    flags = dict.fromkeys(one["conditional"] for one in passes if "conditional" in one)
    resources = {**declared.get("images", {}), **declared.get("buffers", {})}
    # A setup function may declare more.
    open_ended = any("setup" in one for one in passes)
    for whose, names in [("inputs=", inputs), *((f"task {task.key!r}", task.inputs) for task in tasks)]:
        if not open_ended:
            _check(whose, "input", names, resources, "declare one with import_array()")
    for task in tasks:
        _check(f"task {task.key!r}", "flag", task.flags, flags, "declare it: conditional= of a pass")
