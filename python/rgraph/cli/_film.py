"""Files of `rgraph render`: a graph, the tasks that it is run for, and the files that they become."""

from __future__ import annotations

import tomllib
from math import inf, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph import batch
from rgraph._values import place, whole
from rgraph.batch import Task
from rgraph.cli import UsageError
from rgraph.cli._files import is_python, load_graph, plain, python_file
from rgraph.cli._pictures import fit, read, suffix
from rgraph.cli._running import result_names
from rgraph.cli._terminal import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rgraph import Graph

__all__ = ["Film", "load_film"]

_KEYS = ("graph", "frames", "seeds", "sweep", "tiles", "repeat", "fps", "set", "flags", "inputs", "options", "output")
_KINDS = ("frames", "seeds", "sweep", "tiles")
#: Tasks of one file: more fill the memory before the first one runs.
_MOST = 1_000_000


class Film(NamedTuple):
    """What a file says."""

    graph: Graph
    """The graph."""
    tasks: list[Task]
    """What it is run for."""
    inputs: dict[str, Any]
    """Arrays that all tasks share."""
    output: dict[str, str]
    """Templates of files by root, below the file's folder."""


class _File:
    """A file that is read: its tables, and where it is wrong."""

    def __init__(self, path: str) -> None:
        plain(path)
        self.path, self.folder = path, Path(path).parent
        try:
            self.values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: {error}", "it is a TOML file; rgraph render --help shows one") from None
        for key in self.values:
            if key not in _KEYS:
                raise self.wrong(f'there is no key "{key}"', nearest(key, _KEYS))

    def wrong(self, message: str, hint: str = "") -> UsageError:
        """What is wrong, with the file."""
        return UsageError(f"{self.path}: {message}", hint)

    def table(self, key: str) -> dict[str, Any]:
        """A table, empty if there is none; dotted keys that TOML takes apart are joined again."""
        values = self.values.get(key, {})
        if not isinstance(values, dict):
            raise self.wrong(f'"{key}" is a table', f"[{key}]")
        return _joined(values) if key in ("set", "sweep") else values

    def numbers(self, key: str) -> range:
        """How many, or [first, end]."""
        value = self.values[key]
        ends = [0, value] if type(value) is int else value
        if not (isinstance(ends, list) and len(ends) == 2 and all(type(one) is int for one in ends)):
            raise self.wrong(f'"{key}" is a number or [first, end]', f"{key} = 240")
        self.bounded(key, ends[1] - ends[0])
        return range(*ends)

    def bounded(self, key: str, tasks: int) -> None:
        """Refuse a number of tasks that is none, or that no memory holds."""
        if not 0 < tasks <= _MOST:
            raise self.wrong(f'"{key}" makes {tasks} tasks', f"make 1 to {_MOST:,} with one file")

    def pair(self, key: str, name: str, value: Any) -> list[int]:
        """(width, height)."""
        if not (isinstance(value, list) and len(value) == 2 and all(type(one) is int and one > 0 for one in value)):
            raise self.wrong(f'"{name}" of "{key}" is [width, height]', f"{name} = [512, 512]")
        return value

    def number(self, key: str, otherwise: int, *, whole: bool) -> Any:
        """A number above 0."""
        value = self.values.get(key, otherwise)
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 < value < inf:
            raise self.wrong(f'"{key}" is a {"whole " if whole else ""}number above 0', f"{key} = {otherwise}")
        return value


def _joined(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """A table whose keys are dotted names, however they were quoted."""
    out: dict[str, Any] = {}
    for key, value in values.items():
        out |= _joined(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
    return out


def _kinds(file: _File) -> list[Task]:
    """The tasks, without what `set` and the rest say."""
    kinds = [key for key in _KINDS if key in file.values]
    if len(kinds) != 1:
        message = f"{' and '.join(kinds)} at once" if kinds else "no tasks"
        raise file.wrong(message, f"give one of {', '.join(_KINDS)}")
    if kinds == ["sweep"]:
        columns = file.table("sweep")
        if not all(isinstance(column, list) for column in columns.values()):
            raise file.wrong("a sweep has a list for each name", '[sweep] "draw.rough" = [0.1, 0.5]')
        file.bounded("sweep", prod(len(column) for column in columns.values()))
        return batch.sweep(columns)
    if kinds == ["tiles"]:
        tiles = file.table("tiles")
        if set(tiles) != {"size", "tile", "set"}:
            raise file.wrong(
                "tiles are {size, tile, set}", 'tiles = { size = [8192, 8192], tile = [512, 512], set = "draw.origin" }'
            )
        size, tile = (file.pair("tiles", name, tiles[name]) for name in ("size", "tile"))
        if not isinstance(tiles["set"], str):
            raise file.wrong('"set" of "tiles" is PASS.MEMBER', 'set = "draw.origin"')
        file.bounded("tiles", prod(-(-texels // one) for texels, one in zip(size, tile, strict=True)))
        return batch.tiles(size, tile, tiles["set"])
    return [Task(number) for number in file.numbers(kinds[0])]


def _valued(file: _File, value: Any, key: Any) -> Any:
    """A value of `set` for a task."""
    if value in ("@frame", "@seed"):
        return key
    if value == "@time":
        return key / file.number("fps", 60, whole=False)
    return value


def _output(file: _File, graph: Graph) -> dict[str, str]:
    roots = result_names(graph)
    given = file.values.get("output")
    if isinstance(given, str) and len(roots) == 1:
        given = {roots[0]: given}
    if not isinstance(given, dict) or not given:
        raise file.wrong("no output", f'[output] {roots[0] if roots else "NAME"} = "out/{{key:04}}.png"')
    for name, template in given.items():
        if name not in roots:
            raise file.wrong(f'output: "{name}" is no root of "{graph.name}"', nearest(name, roots))
        if not isinstance(template, str):
            raise file.wrong(f'output: "{name}" is no path', f'{name} = "out/{{key:04}}.png"')
        suffix(template)
    return {name: str(file.folder / template) for name, template in given.items()}


def load_film(path: str) -> Film:
    """Read a file.

    Parameters
    ----------
    path
        The TOML file; other files that it names are found from its folder.

    Raises
    ------
    UsageError
        If it is wrong, with what would be right.
    """
    file = _File(path)
    named = file.values.get("graph")
    if not isinstance(named, str):
        raise file.wrong("no graph", 'graph = "frame.rgraph.json"')
    found = (
        str(file.folder / python_file(named)) + named[len(python_file(named)) :]
        if is_python(named)
        else str(file.folder / named)
    )
    graph = load_graph(found, [(name, str(value)) for name, value in file.table("options").items()])
    known = {one.name: one for one in graph.resources}
    inputs = {}
    for name, source in file.table("inputs").items():
        if name not in known:
            raise file.wrong(f'inputs: "{graph.name}" has no image or buffer "{name}"', nearest(name, known))
        if not isinstance(source, str):
            raise file.wrong(f'inputs: "{name}" is no path', f'{name} = "{name}.png"')
        place_of = str(file.folder / source)
        inputs[name] = fit(read(place_of), known[name], place_of)
    declared, values = whole(graph), file.table("set")
    for name in values:
        if place(declared, name) is None:
            raise file.wrong(
                f'set: "{graph.name}" has no pass for "{name}"', nearest(name.rpartition(".")[0], declared)
            )
    repeat, flags = file.number("repeat", 1, whole=True), file.table("flags")
    for name, on in flags.items():
        if not isinstance(on, bool):
            raise file.wrong(f'flags: "{name}" is true or false', f"{name} = true")
    file.number("fps", 60, whole=False)
    if "@time" in values.values() and "frames" not in file.values:
        raise file.wrong('"@time" is for frames', "frames = 240")
    tasks = [
        Task(
            one.key,
            {**one.values, **{name: _valued(file, value, one.key) for name, value in values.items()}},
            {},
            flags,
            repeat,
        )
        for one in _kinds(file)
    ]
    return Film(graph, tasks, inputs, _output(file, graph))
