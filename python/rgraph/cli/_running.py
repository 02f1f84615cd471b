"""Options shared by commands that run graphs: device, inputs and parameters."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph._core import Device, Graph
from rgraph._errors import GraphError
from rgraph._values import place, put, whole
from rgraph.cli import UsageError
from rgraph.cli._files import load_graph, value
from rgraph.cli._imports import imported, is_foreign, noted
from rgraph.cli._parser import named_file, option, pair
from rgraph.cli._pictures import fit, read
from rgraph.cli._terminal import nearest, warn

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from rgraph import Array, Compiled, Devices
    from rgraph.importers import Imported

__all__ = [
    "Settings",
    "argument_of_times",
    "arguments_of_runs",
    "bound",
    "compiled",
    "described",
    "loaded",
    "opened",
    "result_names",
    "settings",
    "shown",
    "warned",
]


def arguments_of_runs(parser: argparse.ArgumentParser) -> None:
    """Add what says on which device a graph runs, and with what.

    Parameters
    ----------
    parser
        Where.
    """
    group = parser.add_argument_group("running")
    group.add_argument("--device", metavar="DEVICE", help="uuid:…, pci:…, name:… or an index; see rgraph doctor")
    group.add_argument("--validate", action="store_true", help="enable the Khronos validation layer")
    group.add_argument("--costs", metavar="FILE", help="a profile with the device's costs; see rgraph doctor --measure")
    option(
        group,
        "--input",
        kind=named_file,
        metavar="[NAME=]FILE",
        help="contents of an imported image or buffer; NAME may be left out if there is only one image",
    )
    option(
        group,
        "--set",
        kind=pair,
        metavar="PASS.NAME=VALUE",
        help="push data, or PASS.VARIABLE.NAME of a uniform block; @frame and @time change per frame (1/60 s)",
    )
    option(group, "--flag", kind=pair, metavar="NAME=on|off", help="switch conditional passes (default: on)")


class Settings(NamedTuple):
    """What a run gets."""

    inputs: dict[str, Any]
    """Contents of imported resources."""
    flags: dict[str, bool]
    """Whether conditional passes run."""
    params: Callable[[int], dict[Any, Any]]
    """Data of passes, by the frame's number."""


def argument_of_times(group: argparse._ArgumentGroup, where: str) -> None:
    """Add what says how times are measured.

    Parameters
    ----------
    group
        Where it stands.
    where
        What shows the times.
    """
    group.add_argument(
        "--measure",
        choices=("frame", "batches", "passes"),
        default="batches",
        help=f"times of {where}: of each batch, split among its passes; at barrier calls, split among the passes "
        "between two (default); or each pass isolated, which keeps passes from overlapping",
    )


def opened(arguments: argparse.Namespace, graph: Graph | None = None) -> Device:
    """Open the device that arguments mean.

    Parameters
    ----------
    arguments
        With `device` and `validate`.
    graph
        The only graph that runs on it; without acceleration structures there, drivers need not load what they need.
    """
    validate = True if arguments.validate else None
    windows, costs = getattr(arguments, "window", False), getattr(arguments, "costs", None)
    rays = None if graph is None or "accelerationStructure" in graph.needs else False
    return Device(arguments.device, validate=validate, windows=windows, rays=rays, costs=costs)


def compiled(device: Device, graph: Graph, arguments: argparse.Namespace, **more: Any) -> Compiled:
    """Compile a graph as the planning options say.

    Parameters
    ----------
    device, graph
        What and for whom.
    arguments
        With what `planning` adds.
    more
        Further options of `Device.compile`.
    """
    return device.compile(
        graph,
        policy=arguments.policy,
        split_barriers=arguments.split,
        effort=arguments.effort,
        memory=arguments.memory,
        max_batches=arguments.max_batches,
        **more,
    )


def _only_import(graph: Graph) -> str:
    """The image that `--input FILE` without a name means."""
    images = graph.to_dict()["images"]
    names = [name for name, one in images.items() if "imported" in one and "file" not in one]
    if len(names) > 1 and "Original" in names:
        # Presets import their lookup textures too, which have contents.
        return "Original"
    if len(names) != 1:
        known = f"its imported images are {', '.join(names)}" if names else "it imports no image"
        raise UsageError("--input FILE needs the name of an image", f"{known}: use --input NAME=FILE")
    return str(names[0])


def _inputs(graph: Graph, given: list[tuple[str, str]]) -> dict[str, Any]:
    known = {one.name: one for one in graph.resources}
    given = [(name or _only_import(graph), path) for name, path in given]
    seen: set[str] = set()
    for name, path in given:
        if name not in known:
            raise UsageError(f'--input: "{graph.name}" has no image or buffer "{name}"', nearest(name, known))
        if name in seen:
            raise UsageError(f'--input: "{name}" is given twice', "leave one of them out")
        if path in known and not Path(path).exists():
            raise UsageError(f'--input: "{path}" is an image or buffer, not a file', f"--input {path}=FILE")
        seen.add(name)
    return {name: fit(read(path), known[name], path) for name, path in given}


def _flags(graph: Graph, given: list[tuple[str, str]]) -> dict[str, bool]:
    known = {one["conditional"] for one in graph.to_dict()["passes"] if "conditional" in one}
    out = {}
    for name, text in given:
        wanted = value(text)
        if name not in known:
            raise UsageError(f'--flag: "{graph.name}" has no flag "{name}"', nearest(name, sorted(known)))
        if not isinstance(wanted, bool):
            raise UsageError(f'--flag: "{name}" is on or off, not "{text}"')
        out[name] = wanted
    return out


def _params(graph: Graph, given: list[tuple[str, str]]) -> Callable[[int], dict[Any, Any]]:
    """Data of passes by the frame's number: what the graph says, with what is set in its place."""
    known = whole(graph) if given else {}
    fixed: dict[Any, Any] = {}
    counted: list[tuple[Any, list[str], float]] = []
    for name, text in given:
        if "." not in name:
            raise UsageError(f'--set: "{name}" names no pass', "use PASS.NAME=VALUE")
        found = place(known, name)
        if found is None:
            of = name.rpartition(".")[0]
            raise UsageError(f'--set: "{graph.name}" has no pass "{of}"', nearest(of, known))
        of, block, path = found
        target = (of, block) if block else of
        values = fixed.setdefault(target, dict(known[of][block]))
        if text in ("@frame", "@time"):
            counted.append((target, path, 1.0 if text == "@frame" else 1 / 60))
        put(values, path, 0 if text in ("@frame", "@time") else value(text))

    def at(frame: int) -> dict[Any, Any]:
        for target, path, step in counted:
            put(fixed[target], path, frame * step if step != 1.0 else frame)
        return fixed

    return at


def loaded(arguments: argparse.Namespace) -> tuple[Graph, Imported | None]:
    """The graph that arguments name, and its import if it is of another program.

    A preset gets the size of the first picture that is given.

    Parameters
    ----------
    arguments
        With `graph`, `option` and what `arguments_of_runs` adds.
    """
    if not is_foreign(arguments.graph):
        return load_graph(arguments.graph, arguments.option), None
    size = None
    if arguments.input:
        shape = read(arguments.input[0][1]).shape
        size = (shape[1], shape[0]) if len(shape) > 1 else None
    made = imported(arguments.graph, arguments.option, size)
    noted(made)
    return made.graph, made


def settings(graph: Graph, arguments: argparse.Namespace, foreign: Imported | None = None) -> Settings:
    """Read what a run gets.

    Parameters
    ----------
    graph
        The graph.
    arguments
        With what `arguments_of_runs` adds.
    foreign
        The import that the graph comes from, if it is of another program.

    Raises
    ------
    UsageError
        If a name does not exist, or a file does not fit.
    """
    given = _params(graph, arguments.set)
    inputs, flags = _inputs(graph, arguments.input), _flags(graph, arguments.flag)
    if foreign is None:
        return Settings(inputs, flags, given)
    counted = foreign.params
    return Settings(inputs, flags, lambda frame: {**counted(frame), **given(frame)})


def shown(graph: Graph, name: str | None) -> tuple[Graph, str | None]:
    """The graph with another image or buffer as its result: the graph itself stays as it is.

    Parameters
    ----------
    graph
        The graph.
    name
        What to show; None: what the environment's `RGRAPH_SHOW` says, if anything.
    """
    name = name or os.environ.get("RGRAPH_SHOW") or None
    if name is None:
        return graph, None
    known = [one.name for one in graph.resources]
    if name not in known:
        raise UsageError(f'"{graph.name}" has no image or buffer "{name}" to show', nearest(name, known))
    graph = graph.clone()
    graph.root(name)
    return graph, name


@contextmanager
def bound() -> Iterator[None]:
    """Within, a missing input is a wrong call, and the option that gives it is named."""
    try:
        yield
    except GraphError as error:
        if error.code != "RG-E225":
            raise
        message = error.mistakes[0].message
        name = error.resource or (message.split('"')[1] if '"' in message else "NAME")
        raise UsageError(f'imported "{name}" has no contents', f"--input {name}=FILE") from error


def described(values: Array) -> tuple[str, str]:
    """An array's format and shape for people.

    Parameters
    ----------
    values
        What a run left in an image or in a buffer.
    """
    if values.format is None:
        return "buffer", f"{values.nbytes} bytes"
    shape = values.shape
    layers = f"{shape[0]} × " if len(shape) == 4 else ""
    return values.format, f"{layers}{shape[-2]} × {shape[-3]}"


def warned(device: Device | Devices) -> bool:
    """Pass on what the driver and the validation layer say; whether there was anything.

    Parameters
    ----------
    device
        The device, or several.
    """
    messages = list(dict.fromkeys(device.messages))
    for message in messages[:20]:
        warn(message)
    if len(messages) > 20:
        warn(f"… and {len(messages) - 20} messages more")
    return bool(messages)


def result_names(graph: Graph) -> list[str]:
    """Names of the images and buffers that a run hands back.

    Parameters
    ----------
    graph
        The graph.
    """
    names: list[str] = graph.to_dict()["roots"]
    return names
