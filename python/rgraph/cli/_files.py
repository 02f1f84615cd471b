"""Files that commands read and write; `-` is standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgraph._core import Graph, Plan, Profile, _max_file_bytes
from rgraph._errors import GraphError, RgError
from rgraph.cli import UsageError
from rgraph.cli._imports import imported, is_foreign, noted
from rgraph.cli._terminal import nearest

if TYPE_CHECKING:
    import argparse

__all__ = [
    "PROFILES",
    "STANDARD",
    "baked",
    "exists",
    "is_capture",
    "is_plan",
    "is_python",
    "load_graph",
    "load_plan",
    "load_profile",
    "load_values",
    "one_standard",
    "plain",
    "plan_suffix",
    "python_file",
    "value",
]

STANDARD = "-"
SUFFIXES = (".json", ".html", ".svg", ".dot", ".txt")
_LONGER = "split it, or set RGRAPH_MAX_FILE_BYTES to a larger limit"
_NO_GRAPHS = (".rplan.json", ".rdevices.json", ".rprofile.json", ".trace.json", ".png", ".npy", ".html", ".svg", ".dot")
PROFILES = ("minimal", "single_queue", "discrete")


def exists(path: str, *, other: tuple[str, ...] = ()) -> None:
    """See that a file is there.

    Parameters
    ----------
    path
        The file; `-` always is.
    other
        Suffixes of files that cannot be meant.

    Raises
    ------
    UsageError
        If it is not; with a similar file of the same folder as a suggestion.
    """
    file = Path(path)
    if path == STANDARD or file.is_file():
        return
    if file.is_dir():
        raise UsageError(f"{path}: a folder, not a file" if str(path) else "the name of a file is empty")
    if file.exists():  # a pipe
        return
    if not file.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {file.parent}")
    from difflib import get_close_matches

    beside = [entry.name for entry in file.parent.iterdir() if entry.is_file() and not entry.name.endswith(other)]
    # Suffixes such as .rgraph.json are long: without them, names that have nothing else in common are far apart.
    stems = {name: name.partition(".")[0].lower() for name in beside}
    near = get_close_matches(file.name.partition(".")[0].lower(), stems.values(), n=len(stems) or 1, cutoff=0.6)
    meant = [name for name, stem in stems.items() if stem in near]
    raise UsageError(f"{path}: no such file", nearest(file.name, meant, " ").strip())


def plain(path: str) -> None:
    """See that a path is a file of a length that is read: for readers that set no limit themselves.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    UsageError
        If it is a pipe or a device, or longer than the limit of files.
    """
    exists(path)
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"{path}: a pipe or a device, not a file")
    if file.stat().st_size > _max_file_bytes():
        raise UsageError(f"{path}: longer than {_max_file_bytes()} bytes", _LONGER)


def _standard() -> bytes:
    if sys.stdin is None:
        raise UsageError("standard input is closed", "open it, as with < FILE, or give a file")
    data = bytearray()
    while part := sys.stdin.buffer.read(1 << 20):
        data += part
        if len(data) > _max_file_bytes():
            raise UsageError(f"standard input: longer than {_max_file_bytes()} bytes", _LONGER)
    return bytes(data)


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


def value(text: str) -> Any:
    """What an option's value means: on and off, JSON, else the text itself.

    Parameters
    ----------
    text
        The value.
    """
    import json

    if text.lower() in ("on", "yes", "true"):
        return True
    if text.lower() in ("off", "no", "false"):
        return False
    try:
        return json.loads(text)
    except ValueError:
        return text


def is_python(path: str) -> bool:
    """Whether a graph is an object of a Python file.

    Parameters
    ----------
    path
        As in `film.py` and `film.py:graph`.
    """
    return path.endswith(".py") or path.rpartition(":")[0].endswith(".py")


def python_file(path: str) -> str:
    """The file of an object of a Python file.

    Parameters
    ----------
    path
        As in `film.py` and `film.py:graph`.
    """
    return path if path.endswith(".py") else path.rpartition(":")[0]


def _declared(path: str, name: str) -> Graph:
    """The graph that a Python file makes: what `name` is or returns, else the only graph of the file."""
    import runpy

    plain(path)
    folder = str(Path(path).resolve().parent)
    sys.path.insert(0, folder)
    try:
        made = runpy.run_path(path)
        found = made.get(name)
        found = found() if callable(found) else found
    except (Exception, SystemExit) as error:
        if isinstance(error, RgError):
            raise
        trace = error.__traceback__
        while trace and trace.tb_next:
            trace = trace.tb_next
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else path
        raise UsageError(f"{place}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    graphs = {one: value for one, value in made.items() if isinstance(value, Graph)}
    if name and not isinstance(found, Graph):
        fault = f'"{name}" is no graph, and makes none' if name in made else f'there is no "{name}"'
        raise UsageError(f"{path}: {fault}", nearest(name, graphs, "name one: FILE.py:NAME"))
    if not name and not graphs:
        raise UsageError(f"{path}: there is no graph", "it may be made by a function: FILE.py:NAME")
    if not name and len(graphs) > 1:
        raise UsageError(f"{path}: there are several graphs", f"name one, as {path}:{next(iter(graphs))}")
    return found if isinstance(found, Graph) else next(iter(graphs.values()))


def load_graph(path: str, options: list[tuple[str, str]] | None = None) -> Graph:
    """Read a graph file.

    Parameters
    ----------
    path
        The file.
    options
        Options of the file, by name.
    """
    if is_python(path):
        if options:
            raise UsageError("--option is for graph files", "a Python file may take its options from the environment")
        file = python_file(path)
        return _declared(file, path[len(file) + 1 :])
    if is_foreign(path):
        made = imported(path, options or [])
        noted(made)
        return made.graph
    exists(path, other=_NO_GRAPHS)
    read = {name: (text, value(text)) for name, text in options or ()}
    given = {name: new if isinstance(new, bool | int | float | str) else text for name, (text, new) in read.items()}
    try:
        return Graph.from_json(_standard(), options=given) if path == STANDARD else Graph.load(path, options=given)
    except GraphError as error:
        for name in given:
            if f'the graph has no option "{name}"' in str(error):
                raise UsageError(f'{path} has no option "{name}"', error.hint) from None
        raise


def load_plan(path: str) -> Plan:
    """Read a plan file.

    Parameters
    ----------
    path
        The file.
    """
    exists(path)
    return Plan.from_json(_standard()) if path == STANDARD else Plan.load(path)


def load_values(path: str) -> Any:
    """Read a JSON file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    UsageError
        If it is not JSON.
    """
    import json

    if path != STANDARD:
        plain(path)
    try:
        return json.loads(_standard() if path == STANDARD else Path(path).read_bytes())
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error


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
    return load_graph(arguments.graph, arguments.option).bake(
        profile,
        policy=arguments.policy,
        split_barriers=arguments.split,
        effort=arguments.effort,
        memory=arguments.memory,
        max_batches=arguments.max_batches,
        **more,
    )


def dumped(arguments: argparse.Namespace) -> str:
    """Bake the graph that arguments name, and tell what one stage made.

    Parameters
    ----------
    arguments
        With `graph`, `dump` (the stage), and what `planning` adds.

    Returns
    -------
    str
        The text.
    """
    one_standard(arguments.graph, arguments.profile)
    profile = load_profile(arguments.profile)
    return load_graph(arguments.graph, arguments.option).dump(
        arguments.dump,
        profile,
        policy=arguments.policy,
        split_barriers=arguments.split,
        effort=arguments.effort,
        memory=arguments.memory,
        max_batches=arguments.max_batches,
    )


def is_plan(path: str) -> bool:
    """Whether a file is meant to be a plan rather than a graph.

    Parameters
    ----------
    path
        The file.
    """
    return path.endswith((".rplan.json", ".plan.json"))


def is_capture(path: str) -> bool:
    """Whether a file is a capture, by its first bytes.

    Parameters
    ----------
    path
        The file.
    """
    file = Path(path)
    if path == STANDARD or not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(8) == b"RGCAPTUR"


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
        raise UsageError(f"{path}: plans are written to {', '.join(SUFFIXES)} and .trace.json")
    if not file.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {file.parent}")
