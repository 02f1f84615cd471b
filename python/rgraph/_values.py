"""Data of passes by dotted names: `PASS.MEMBER` of push data, `PASS.VARIABLE.MEMBER` of a uniform block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rgraph import Graph

__all__ = ["Place", "Whole", "place", "put", "whole"]

#: By pass: the data of each of its uniform blocks by variable, and its push data under an empty name.
Whole = dict[str, dict[str, dict[str, Any]]]
#: A pass, a variable of it (empty: push data), and the path of members within.
Place = tuple[str, str, list[str]]


def whole(graph: Graph) -> Whole:
    """Declared data of all passes.

    Parameters
    ----------
    graph
        The graph.
    """
    out: Whole = {}
    for one in graph.to_dict()["passes"]:
        work = one.get("compute") or one.get("raster") or {}
        bindings = work.get("bindings", {})
        blocks = {
            name: bound["data"] for name, bound in bindings.items() if isinstance(bound, dict) and "data" in bound
        }
        out[one["name"]] = {"": work.get("push", {}), **blocks}
    return out


def place(known: Whole, name: str) -> Place | None:
    """The place that a dotted name means; None if it names no pass.

    Parameters
    ----------
    known
        Declared data, of `whole`.
    name
        `PASS.MEMBER`, `PASS.VARIABLE.MEMBER`, or `PASS` for all of its push data, whose path is empty. Names of passes
        may have dots too, and the longest one counts.
    """
    if name in known:
        return name, "", []
    parts = name.split(".")
    for at in range(len(parts) - 1, 0, -1):
        of, path = ".".join(parts[:at]), parts[at:]
        if of in known:
            block = path.pop(0) if path[0] in known[of] and len(path) > 1 else ""
            return of, block, path
    return None


def put(values: dict[str, Any], path: list[str], new: Any) -> None:
    """Replace one member; inner blocks are copied, not changed.

    Parameters
    ----------
    values
        The block, which is changed.
    path
        Names of members, the outermost first.
    new
        The value.
    """
    for name in path[:-1]:
        inner = values.get(name)
        values[name] = dict(inner) if isinstance(inner, dict) else {}
        values = values[name]
    values[path[-1]] = new
