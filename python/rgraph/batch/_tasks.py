"""Tasks, their results, and the usual ways to make many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rgraph._core import _mistake, _numpy
from rgraph._errors import GraphError
from rgraph._numbers import count

__all__ = ["Result", "Task", "frames", "join", "seeds", "sweep", "tiles"]


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a graph.

    A task begins as the first frame of its graph does, whatever its worker ran before: persistent resources and
    histories have their first contents.

    Parameters
    ----------
    key
        Its name in results, messages and file names: a number, a text, or a tuple of them.
    values
        Data of passes in the place of what the graph declares: `{"draw.time": 0.5}`. A name is `PASS.MEMBER` of push
        data, `PASS` for all of it, or `PASS.VARIABLE.MEMBER` of a uniform block that was given as data.
    inputs
        Arrays for imported resources, by name.
    flags
        Conditional passes to run or skip, by flag.
    frames
        How many frames it runs in a row; the results are those of the last one.
    """

    key: Any
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    inputs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    flags: Mapping[str, bool] = field(default_factory=dict, hash=False)
    frames: int = 1


@dataclass(slots=True)
class Result:
    """What became of a task: `result["out"]` is the array of a root.

    Parameters
    ----------
    key
        The key of the task.
    arrays
        Contents of roots by name, as numpy arrays.
    files
        Paths of the files that the worker wrote, by root.
    value
        What the function `then` returned.
    error
        Why the task failed; only with `errors="return"`.
    worker
        The process that ran it, as `host:pid`.
    seconds
        Time on the worker.
    """

    key: Any
    arrays: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    value: Any = None
    error: BaseException | None = None
    worker: str = ""
    seconds: float = 0.0
    _trace: str = field(default="", init=False, repr=False, compare=False)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.arrays[name]
        except KeyError:
            if self.error is not None:
                raise self.error from None
            hint = f"there is {', '.join(self.arrays)}" if self.arrays else "name the root in read="
            message = f'the result of task {self.key!r} has no array called "{name}"'
            raise refuse("RG-E202", message, hint) from None


def refuse(code: str, message: str, hint: str) -> GraphError:
    """A mistake of the caller's.

    Parameters
    ----------
    code, message, hint
        As of `Mistake`.
    """
    return _mistake(code, message, hint)


def _numbers(numbers: int | Iterable[int]) -> Iterable[int]:
    return numbers if isinstance(numbers, Iterable) else range(count("the number of tasks", numbers, 0))


def frames(numbers: int | Iterable[int], values: Callable[[int], Mapping[str, Any]] | None = None) -> list[Task]:
    """Tasks for the frames of a film, which do not depend on each other.

    Parameters
    ----------
    numbers
        How many, or their numbers.
    values
        The values of a frame, from its number.

    Returns
    -------
    list of Task
        With the numbers as keys.

    Examples
    --------
    >>> from rgraph import batch
    >>> [task.values for task in batch.frames(2, lambda n: {"draw.time": n / 60})]
    [{'draw.time': 0.0}, {'draw.time': 0.016666666666666666}]
    """
    return [Task(number, values(number) if values else {}) for number in _numbers(numbers)]


def seeds(numbers: int | Iterable[int], name: str) -> list[Task]:
    """Tasks that differ in a seed.

    Parameters
    ----------
    numbers
        How many, from 0, or the seeds.
    name
        The member that takes the seed, as in `Task`.

    Returns
    -------
    list of Task
        With the seeds as keys.
    """
    return [Task(seed, {name: seed}) for seed in _numbers(numbers)]


def sweep(values: Mapping[str, Iterable[Any]]) -> list[Task]:
    """Tasks for every combination of parameters; the last one changes fastest.

    Parameters
    ----------
    values
        The values of each member, by its name as in `Task`.

    Returns
    -------
    list of Task
        The key is the tuple of positions, one per member.

    Examples
    --------
    >>> from rgraph import batch
    >>> [task.key for task in batch.sweep({"draw.rough": [0.1, 0.9], "draw.metal": [0, 1]})]
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    from itertools import product

    if not isinstance(values, Mapping):
        raise TypeError(f"sweep takes a dict of lists, not {type(values).__name__}")
    columns = [list(enumerate(column)) for column in values.values()]
    return [
        Task(tuple(at for at, _ in row), dict(zip(values, (value for _, value in row), strict=True)))
        for row in product(*columns)
    ]


def tiles(size: Sequence[int], tile: Sequence[int], name: str) -> list[Task]:
    """Tasks for the tiles of a picture that is larger than the graph's images.

    Parameters
    ----------
    size
        (width, height) of the whole picture in texels.
    tile
        (width, height) of the graph's result in texels.
    name
        The member that takes the tile's first texel, [x, y], as in `Task`.

    Returns
    -------
    list of Task
        The keys are (x, y) of the first texel; `join` makes the picture.

    Raises
    ------
    GraphError
        If a size is not two positive numbers.
    """
    size, tile = ([count(name, side) for side in both] for name, both in (("size", size), ("tile", tile)))
    if (len(size), len(tile)) != (2, 2) or min(*size, *tile) < 1:
        message = f"no picture has {tuple(size)} texels in tiles of {tuple(tile)}"
        raise refuse("RG-E205", message, "give (width, height) of both, each above 0")
    return [Task((x, y), {name: [x, y]}) for y in range(0, size[1], tile[1]) for x in range(0, size[0], tile[0])]


def join(results: Iterable[Result], size: Sequence[int], name: str) -> Any:
    """One picture of the results of `tiles`.

    Parameters
    ----------
    results
        The results, in any order.
    size
        (width, height) of the whole picture in texels.
    name
        The root.

    Returns
    -------
    numpy.ndarray
        (height, width, channels); tiles at the right and the lower edge are cut.

    Raises
    ------
    GraphError
        If there is no tile.
    """
    _numpy("join", "write={name: path} writes a file per tile without it")
    import numpy as np

    whole = None
    for result in results:
        part = result[name]
        if whole is None:
            whole = np.zeros((size[1], size[0], *part.shape[2:]), part.dtype)
        x, y = result.key
        target = whole[y : y + part.shape[0], x : x + part.shape[1]]
        target[...] = part[: target.shape[0], : target.shape[1]]
    if whole is None:
        raise refuse("RG-E225", "no tile to join", "give the results of batch.run(graph, batch.tiles(…))")
    return whole
