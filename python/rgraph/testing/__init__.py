"""Hypothesis strategies for graphs, profiles and edits, and random graphs without hypothesis.

One generator makes all graphs and profiles, here, in `rgraph fuzz` and in the fuzzing of rgraph itself: it turns bytes
into decisions, zero into the simplest. `graphs` and `profiles` draw the bytes, so hypothesis shrinks them; `generate`
takes them from a seed. All graphs are well-formed: every one of them can be baked. Needs the package `hypothesis`.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from rgraph._core import Graph, Profile, _drawn, _mistake, generate
from rgraph._core import shrink as _shrink
from rgraph._errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Edit", "edits", "generate", "graphs", "profiles", "shrink"]

CHUNK = 64
"""Bytes that the generator takes for a step, and for what comes before all steps."""

CHUNKS = st.binary(min_size=CHUNK, max_size=CHUNK)

QUEUES = ("graphics", "compute", "async_compute", "any")
"""Queues that an edit moves a pass to."""


def _check_graph(function: str, graph: object) -> None:
    if not isinstance(graph, Graph):
        hint = (
            "generate() returns a graph and a profile: give the first" if isinstance(graph, tuple) else "give a graph"
        )
        raise TypeError(f"{function}() takes a graph, not {type(graph).__name__}\n  help: {hint}")


def shrink(graph: Graph, fails: Callable[[Graph], bool], *, most: int = 2000) -> Graph:
    """Make a graph smaller while a property stays true.

    Delta debugging over the graph's file (Zeller and Hildebrandt 2002; Misherghi and Su 2006): passes, accesses,
    resources and keys are removed, runs of them first. Functions of passes are left out.

    Parameters
    ----------
    graph
        A graph for which `fails` returns True.
    fails
        The property to keep, such as "the plan has findings". Called with well-formed files only.
    most
        Maximal number of calls.

    Returns
    -------
    Graph
        The smallest graph found; an equal one if nothing can be removed.

    Raises
    ------
    Exception
        Exceptions of `fails`.
    """
    _check_graph("shrink", graph)
    if not callable(fails):
        raise TypeError(f"fails is a function of a graph, not {type(fails).__name__}")

    def holds(text: str) -> bool:
        try:
            smaller = Graph.from_json(text)
        except GraphError:
            return False
        return bool(fails(smaller))

    return Graph.from_json(_shrink(graph.to_json(), holds, most))


@st.composite
def graphs(draw: st.DrawFn, *, min_passes: int = 1, max_passes: int = 12) -> Graph:
    """Draw well-formed graphs.

    They reach every usage, all queues, histories, sub-ranges, conditions with and without a fallback, `modifies` of
    equal and of other size, forward reads, unordered accesses, resolves, generated mips, modules, imported and
    persistent resources.

    Parameters
    ----------
    draw
        Given by hypothesis.
    min_passes
        Minimal number of steps; a step declares one pass, or two to four that belong together.
    max_passes
        Maximal number of steps.

    Returns
    -------
    Graph
        A graph that bakes for every profile of `profiles` and every built-in one.
    """
    steps = draw(st.lists(CHUNKS, min_size=min_passes, max_size=max_passes))
    return _drawn(draw(CHUNKS), steps)[0]


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Draw profiles.

    They have one to four kinds of queue in any order, several of a kind, families shared or not, odd granularities and
    alignments, costs of all sizes, limits down to the least that Vulkan guarantees.

    Parameters
    ----------
    draw
        Given by hypothesis.

    Returns
    -------
    Profile
        A profile that has a queue of all capabilities.
    """
    return _drawn(draw(CHUNKS), [])[1]


@dataclass(frozen=True)
class Edit:
    """A change of a graph file's values that can be undone.

    Attributes
    ----------
    path
        Keys and positions that lead to the value.
    old
        The value before; None: there was none.
    new
        The value after; None: there is none.
    """

    path: tuple[str | int, ...]
    old: Any
    new: Any

    def apply(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values after the edit; `values` stay as they are."""
        return self._with(values, self.new)

    def undo(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values before the edit; `values` stay as they are."""
        return self._with(values, self.old)

    def _with(self, values: dict[str, Any], value: Any) -> dict[str, Any]:
        edited = copy.deepcopy(values)
        at: Any = edited
        for key in self.path[:-1]:
            at = at[key]
        if value is None:
            at.pop(self.path[-1], None)
        else:
            at[self.path[-1]] = copy.deepcopy(value)
        return edited


@st.composite
def edits(draw: st.DrawFn, graph: Graph) -> Edit:
    """Draw edits of a graph; some of them make it invalid.

    Parameters
    ----------
    draw
        Given by hypothesis.
    graph
        The graph to edit.

    Returns
    -------
    Edit
        An edit of the values of `graph.to_dict`.

    Raises
    ------
    GraphError
        If the graph has no pass.
    """
    _check_graph("edits", graph)
    values = graph.to_dict()
    passes = values["passes"]
    if not passes:
        raise _mistake("RG-E225", f'graph "{graph.name}" has no pass to edit', "draw it with min_passes=1 or more")
    at = draw(st.integers(0, len(passes) - 1))
    kind = draw(st.sampled_from(("weight", "queue", "size", "remove", "repeat", "roots", "accesses", "side_effects")))
    path: tuple[str | int, ...]
    new: Any
    if kind == "weight":
        path, new = ("passes", at, "weight_us"), float(draw(st.integers(0, 3000)))
    elif kind == "queue":
        path, new = ("passes", at, "queue"), draw(st.sampled_from(QUEUES))
    elif kind == "size":
        path, new = ("reference_size",), [draw(st.integers(1, 200)), draw(st.integers(1, 200))]
    elif kind == "remove":
        path, new = ("passes",), passes[:at] + passes[at + 1 :]
    elif kind == "repeat":
        path, new = ("passes",), [*passes, passes[at] | {"name": "again"}]
    elif kind == "roots":
        path, new = (
            ("roots",),
            sorted(set(values["roots"]) ^ {draw(st.sampled_from(sorted(values["images"]) or ["no"]))}),
        )
    elif kind == "accesses":
        path, new = ("passes", at, "accesses"), passes[at]["accesses"][1:]
    else:
        path, new = ("passes", at, "side_effects"), True
    old: Any = values
    for key in path:
        old = old.get(key) if isinstance(old, dict) else old[key]
    return Edit(path, json.loads(json.dumps(old)), new)
