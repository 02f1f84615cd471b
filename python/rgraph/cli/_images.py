"""Images of what is compared or shown: out of captures, and out of folders that `rgraph run -o FOLDER` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph._core import Graph, Plan, _capture_graphs, _capture_results, _replay_images, preview
from rgraph._errors import RgError
from rgraph.cli import UsageError
from rgraph.cli._outputs import file_name
from rgraph.cli._pictures import READ, read
from rgraph.cli._terminal import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rgraph import Device, ReplayReport

__all__ = ["Compared", "captured", "compared", "lines", "of_folder", "replayed", "seen"]


class Compared(NamedTuple):
    """An image that two plans have."""

    name: str
    """The image."""
    differs: int
    """Bytes that differ; all of them where the sizes do."""
    bytes: int
    """Bytes of the image after."""


def captured(path: str, nth: int) -> tuple[Plan, Graph, dict[str, Any]]:
    """Plan and graph of a capture, and the images that its last run of the graph left.

    Parameters
    ----------
    path
        The capture.
    nth
        Which of its graphs, from 0.

    Raises
    ------
    UsageError
        If it has fewer.
    """
    plan, graph = _planned(path, nth)
    return plan, graph, {one.name: one for one in _capture_results(path, nth, plan) if seen(one)}


def replayed(device: Device, path: str, nth: int, *, anew: bool) -> tuple[ReplayReport, Plan, Graph, dict[str, Any]]:
    """Run a capture again; also plan and graph of one of its graphs, and every image of that graph's last run.

    Parameters
    ----------
    device
        Where it runs.
    path
        The capture.
    nth
        Which of its graphs, from 0.
    anew
        True to bake the graphs again.

    Raises
    ------
    UsageError
        If it has fewer.
    """
    plan, graph = _planned(path, nth)
    report, images = _replay_images(device, path, nth, plan, anew=anew)
    return report, plan, graph, {one.name: one for one in images if seen(one)}


def _planned(path: str, nth: int) -> tuple[Plan, Graph]:
    """Plan and declaration of a graph of a capture."""
    graphs = _capture_graphs(path)
    if nth >= len(graphs):
        raise UsageError(f"{path}: the capture has {len(graphs)} graphs", "count them from 0")
    _, declared, planned = graphs[nth]
    graph = Graph.from_json(declared)
    return Plan.from_json(planned) if planned is not None else graph.bake(), graph


def seen(array: Any) -> bool:
    """Whether an array of an image can be a picture.

    Parameters
    ----------
    array
        The array.
    """
    if array.format is None:
        return False
    try:
        preview(array, array.format, 1)
    except RgError:
        return False
    return True


def of_folder(folder: str, plan: Plan) -> dict[str, Any]:
    """The images of a plan that have a file in a folder, called as `rgraph run -o FOLDER` calls it.

    Parameters
    ----------
    folder
        The folder.
    plan
        The plan.

    Raises
    ------
    UsageError
        If there is no such folder, none of the plan's images in it, or a broken file.
    """
    if not Path(folder).is_dir():
        raise UsageError(f"{folder}: no such folder", "rgraph run GRAPH -o FOLDER writes one")
    found: dict[str, Any] = {}
    for one in plan.to_dict()["resources"]:
        stem = file_name(one["name"], set())
        files = [file for suffix in READ if (file := Path(folder, stem + suffix)).is_file()]
        if files:
            found[one["name"]] = read(str(files[0])).array()
    if not found:
        raise UsageError(f"{folder}: no file has the name of an image of the plan", "call them NAME.png or NAME.npy")
    return found


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Compared]:
    """Compare the images that two plans have, byte by byte; those that differ most come first.

    Parameters
    ----------
    before, after
        Arrays by image.
    """
    out = []
    for name in before.keys() & after.keys():
        one, two = before[name].tobytes(), after[name].tobytes()
        differs = len(two) if len(one) != len(two) else sum(map(int.__ne__, one, two)) if one != two else 0
        out.append(Compared(name, differs, len(two)))
    return sorted(out, key=lambda one: (-one.differs, one.name))


def lines(found: Sequence[Compared]) -> list[str]:
    """A line for each image that differs, and one for those that are equal.

    Parameters
    ----------
    found
        What `compared` returned.
    """
    rows = [[one.name, f"{one.differs:,} of {one.bytes:,} bytes differ"] for one in found if one.differs]
    equal = sum(not one.differs for one in found)
    unchanged = [f"  {equal} image{'s are' if equal > 1 else ' is'} equal"] if equal else []
    return [*(f"  image {line.strip()}" for line in table(rows)), *unchanged]
