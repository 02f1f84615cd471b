"""Tasks mapped over workers: their assignment, the order of results, and the loss of a worker."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import queue
import re
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from rgraph._errors import BatchError, GraphError, RgError
from rgraph._keywords import suggests_keywords
from rgraph._numbers import count
from rgraph._values import place, whole
from rgraph.batch._calls import Pool, executor_of
from rgraph.batch._dask import OnDask, is_client
from rgraph.batch._names import check_names
from rgraph.batch._processes import Processes, dumps
from rgraph.batch._tasks import Result, Task, refuse
from rgraph.batch._work import Answer, Job, file_of, forget, keep, work

if TYPE_CHECKING:
    from rgraph import Frame, Graph, Plan

__all__ = ["Results", "run"]

#: Seconds of work that one message to a worker should carry, and most bytes of results that one brings back.
_SECONDS, _BYTES, _MOST = 0.1, 16 << 20, 64
#: Seconds between two looks at workers that report nothing.
_LOOK = 0.2


class _Backend(Protocol):
    """Something that runs chunks of tasks."""

    @property
    def workers(self) -> int: ...
    @property
    def renewed(self) -> bool: ...
    def submit(self, tasks: Sequence[Task], *, carry: bool = False) -> Any: ...
    def refuse(self, worker: str, error: BaseException) -> bool: ...
    def trouble(self) -> tuple[str, str, str] | None: ...
    def lost(self, error: BaseException) -> bool | None: ...
    def close(self, futures: Sequence[Any]) -> None: ...


class _OnExecutor(Pool):
    """Any executor of `concurrent.futures`, and the job that its workers keep.

    The first chunks carry the job; later ones name it, and a worker that does not know it says so and gets it.
    """

    def __init__(self, executor: Executor, key: str, payload: bytes | None, *, own: bool) -> None:
        super().__init__(executor, own=own)
        self._key, self._payload = key, payload
        self._sent = 0
        self.renewed = isinstance(executor, Processes)

    def submit(self, tasks: Sequence[Task], *, carry: bool = False) -> Any:
        """Send tasks to a worker; the future of their `Answer`."""
        carry = carry or self._sent < self.workers
        self._sent += 1
        return self.call(work, self._key, self._payload if carry else None, tasks)

    def refuse(self, worker: str, error: BaseException) -> bool:
        """Executors choose the worker themselves, and theirs are alike."""
        del worker, error
        return False

    def close(self, futures: Sequence[Any], *, now: bool = False) -> None:
        """Cancel what is left, and forget the job."""
        super().close(futures, now=now)
        forget(self._key)


def _roots(graph: Graph) -> list[str]:
    names: list[str] = graph.to_dict()["roots"]
    return names


def _templates(
    graph: Graph, write: str | os.PathLike[str] | Mapping[str, Any] | None, keys: Sequence[Any]
) -> dict[str, str]:
    """Absolute templates of files by root, tried with a key; two tasks never share a file."""
    if write is None:
        return {}
    roots = _roots(graph)
    if not isinstance(write, Mapping):
        if len(roots) != 1:
            raise refuse("RG-E225", f"write= has one file for {len(roots)} roots", "give a dict: {root: file}")
        write = {roots[0]: write}
    out = {}
    for name, template in write.items():
        if name not in roots:
            raise refuse("RG-E202", f'the graph has no root called "{name}" to write', f"there are {', '.join(roots)}")
        if not isinstance(template, str | os.PathLike):
            kind = type(template).__name__
            raise TypeError(f'write= of "{name}" is the path of a file with {{key}}, not {kind}')
        text = str(Path(template).absolute())
        if not Path(template).suffix:
            raise refuse("RG-E225", f"{template}: a name without a suffix", 'use one, as in "out/{key:04}.png"')
        try:
            _check_widths(text)
            files = {file_of(text, key) for key in keys}
        except (KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
            fault = f"there is no field {error}" if isinstance(error, KeyError) else str(error)
            raise refuse("RG-E225", f"{template}: {fault}", 'use {key}, as in "out/{key:04}.png"') from None
        if len(files) < len(keys):
            raise refuse("RG-E225", f"{template} is one file for several tasks", 'use {key}, as in "out/{key}.png"')
        out[name] = text
    return out


def _check_widths(template: str) -> None:
    """Refuse formats of keys that are longer than the name of a file can be: nothing holds the text that they make."""
    for _, _, spec, _ in Formatter().parse(template):
        if spec and ("{" in spec or any(len(width) > 3 for width in re.findall(r"\d+", spec))):
            raise ValueError(f"the format {spec!r} is too wide")


def _checked(graph: Graph, tasks: Iterable[Task]) -> list[Task]:
    """The tasks, with the mistakes that can be found before any runs."""
    if not isinstance(tasks, Iterable):
        hint = "rgraph.batch.frames(…), seeds, sweep and tiles make lists of them"
        raise TypeError(f"tasks are a list of rgraph.batch.Task, not {type(tasks).__name__}\n  help: {hint}")
    out = list(tasks)
    seen: set[Any] = set()
    known = whole(graph)
    for task in out:
        if not isinstance(task, Task):
            raise TypeError(f"a task is a rgraph.batch.Task, not {type(task).__name__}")
        try:
            twice = task.key in seen
        except TypeError:
            kind = type(task.key).__name__
            raise TypeError(f"the key of a task is a number, a text or a tuple of them, not {kind}") from None
        if twice:
            raise refuse("RG-E201", f"two tasks have the key {task.key!r}", "give each a key of its own")
        seen.add(task.key)
        for what in ("values", "inputs", "flags"):
            given = getattr(task, what)
            if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
                raise TypeError(f"{what} of task {task.key!r} is a dict by name, not {given!r:.80}")
        if count(f"frames of task {task.key!r}", task.frames) < 1:
            raise refuse("RG-E213", f"task {task.key!r} runs {task.frames} frames", "give frames=1 or more")
        for name in task.values:
            if place(known, name) is None:
                of = name.rpartition(".")[0] or name
                hint = f"a value is PASS.MEMBER; there are {', '.join(list(known)[:12])}"
                raise refuse("RG-E202", f'task {task.key!r} sets "{name}", and no pass is called "{of}"', hint)
    return out


class _Stop(Exception):
    """The run cannot go on: code, text, hint and cause of its error, which counts what is done once that is known."""

    def __init__(self, code: str, text: str, hint: str, cause: BaseException | None = None) -> None:
        super().__init__(text)
        self.code, self.text, self.hint, self.cause = code, text, hint, cause


class _Stream:
    """The tasks of one run on their way."""

    def __init__(
        self, backend: _Backend, tasks: list[Task], *, ordered: bool, chunk: int | None, retries: int, errors: str
    ) -> None:
        self._backend, self._tasks = backend, tasks
        self._ordered, self._chunk, self._retries, self._raise = ordered, chunk, retries, errors == "raise"
        self._waiting = deque(range(len(tasks)))
        self._tries = [0] * len(tasks)
        self._running: dict[Any, list[int]] = {}
        self._done: queue.SimpleQueue[tuple[Any, BaseException | None, Any]] = queue.SimpleQueue()
        self._ready: dict[int, Result] = {}
        self._given = [False] * len(tasks)
        self._next = 0
        self._answered = False
        self._seconds = self._bytes = 0.0
        self._notes: list[str] = []

    @property
    def running(self) -> list[Any]:
        """Futures that are not done."""
        return list(self._running)

    def _size(self) -> int:
        """How many tasks the next chunk has."""
        if self._chunk is not None:
            return self._chunk
        if not self._answered:
            return 1
        most = min(_SECONDS / max(self._seconds, 1e-6), _BYTES / max(self._bytes, 1.0), _MOST)
        share = len(self._waiting) / (2 * self._backend.workers)
        return max(1, int(min(most, share)))

    def _send(self) -> None:
        """Keep the workers busy, with no more results under way than a caller that takes them slowly can hold."""
        window = self._backend.workers * (2 if self._answered else 1)
        while self._waiting and len(self._running) < window:
            first = self._waiting[0]
            if self._ordered and first > self._next + 2 * window * (self._chunk or _MOST):
                return
            size = 1 if self._tries[first] else self._size()
            chunk = [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]
            self._start(chunk)

    def _start(self, chunk: list[int], *, carry: bool = False) -> None:
        tasks = [self._tasks[at] for at in chunk]
        try:
            future = self._backend.submit(tasks, carry=carry)
        except GraphError:
            raise
        except Exception as error:
            self._exception(chunk, error)
            return
        self._running[future] = chunk
        future.add_done_callback(self._landed)

    def _landed(self, future: Any) -> None:
        """On a thread of the executor: results of Dask travel here, so that no lost one holds up the caller."""
        try:
            error = future.exception()
            self._done.put((future, error, None if error is not None else future.result()))
        except BaseException as error:
            self._done.put((future, error, None))

    def _again(self, chunk: list[int], cause: BaseException, *, last: bool = False) -> None:
        """A worker was lost with these tasks: each runs again, alone."""
        for at in reversed(chunk):
            self._tries[at] += 1
            if self._tries[at] <= self._retries and not (last and len(chunk) == 1):
                self._waiting.appendleft(at)
                continue
            text = f"worker lost while task {self._tasks[at].key!r} ran (try {self._tries[at]}): {cause}"
            hint = "run that task alone to see what ends the process"
            if self._raise:
                raise _Stop("RG-E602", text, hint, cause)
            error = BatchError(f"RG-E602 {text}\n  help: {hint}", "RG-E602", hint, (), [self._tasks[at]])
            self._ready[at] = Result(self._tasks[at].key, error=error)

    def _exception(self, chunk: list[int], error: BaseException) -> None:
        """A future failed: a worker is lost, or what it was sent does not work there."""
        lost = self._backend.lost(error)
        if trouble := self._backend.trouble():
            raise _Stop(*trouble, error)
        if lost is False:
            hint = "workers need the same rgraph-vulkan, and the modules of what was sent"
            if isinstance(error, pickle.PicklingError):
                hint = "return numbers, texts or arrays from then="
            elif isinstance(error, RuntimeError) and "after shutdown" in str(error):
                hint = "the executor was shut down: run inside of its `with`, or give on=4"
            raise _Stop("RG-E601", f"a worker cannot run tasks: {type(error).__name__}: {error}", hint, error)
        if lost and not self._backend.renewed:
            hint = "on=4, or on=rgraph.batch.Processes(4), replaces lost workers; run error.remaining"
            raise _Stop("RG-E602", f"worker lost, and its executor is broken: {error}", hint, error)
        self._again(chunk, error, last=lost is None)

    def _answer(self, chunk: list[int], answer: Answer) -> None:
        if answer.kind == "missing":
            self._start(chunk, carry=True)
        elif answer.kind == "no device":
            assert answer.error is not None, "a worker without a device says why"
            self._notes.append(f"{answer.worker}: {str(answer.error).splitlines()[0]}")
            if not self._backend.refuse(answer.worker, answer.error):
                hint = "install a Vulkan driver there; rgraph doctor on the worker says more"
                raise _Stop("RG-E603", "no worker has a device for this graph", hint, answer.error)
            self._waiting.extendleft(reversed(chunk))
        elif answer.kind == "lost":
            assert answer.error is not None, "a worker that lost its device says how"
            self._again(chunk, answer.error)
        else:
            self._answered = True
            self._results(chunk, answer)

    def _results(self, chunk: list[int], answer: Answer) -> None:
        failed = None
        for at, result in zip(chunk, answer.results, strict=True):
            if result.error is not None and result.error.__traceback__ is None and result._trace:
                result.error.add_note(result._trace)
            if result.error is not None and self._raise:
                failed = failed or result
                continue
            result.worker = answer.worker
            size = sum(array.nbytes for array in result.arrays.values())
            mix = 0.3 if self._seconds else 1.0
            self._seconds += (result.seconds - self._seconds) * mix
            self._bytes += (size - self._bytes) * mix
            self._ready[at] = result
        if failed is not None:
            error = failed.error
            kind = "" if isinstance(error, RgError | RuntimeError) else f"{type(error).__name__}: "
            text = f"task {failed.key!r} failed: {kind}{str(error).partition(chr(10))[0]}"
            raise _Stop("RG-E601", text, 'fix the task and run error.remaining; errors="return" goes on', failed.error)

    def _take(self, *, all: bool = False) -> Iterator[Result]:
        """Results that may be given now: the next ones in order, or all."""
        while self._ready:
            at = self._next if self._ordered and not all else min(self._ready)
            if at not in self._ready:
                return
            self._given[at] = True
            self._next = at + 1
            yield self._ready.pop(at)

    def _step(self) -> None:
        """Send, wait, and take what lands."""
        self._send()
        try:
            future, error, answer = self._done.get(timeout=_LOOK)
        except queue.Empty:
            if trouble := self._backend.trouble():
                raise _Stop(*trouble) from None
            return
        chunk = self._running.pop(future)
        if error is None:
            self._answer(chunk, answer)
        else:
            self._exception(chunk, error)

    def _finished(self) -> None:
        """Take what has landed already, so that nothing that is done is lost with an error."""
        with contextlib.suppress(queue.Empty):
            while True:
                future, error, answer = self._done.get_nowait()
                chunk = self._running.pop(future)
                if error is None and answer.kind == "done":
                    with contextlib.suppress(_Stop):
                        self._results(chunk, answer)

    def results(self) -> Iterator[Result]:
        """All results."""
        try:
            while not all(self._given):
                self._step()
                yield from self._take()
        except _Stop as stop:
            self._finished()
            yield from self._take(all=True)
            left = [task for task, given in zip(self._tasks, self._given, strict=True) if not given]
            notes = [*dict.fromkeys(self._notes)]
            lines = [f"{stop.code} {stop.text}", f"{len(self._tasks) - len(left)} of {len(self._tasks)} tasks are done"]
            message = "\n  ".join([*lines, *notes, f"help: {stop.hint}"])
            raise BatchError(message, stop.code, stop.hint, notes, left) from stop.cause


def _backend(on: Any, job: Job, patience: float) -> _Backend:
    """What runs the tasks, with the job made known to it."""
    if isinstance(on, str) or is_client(on):
        payload = dumps(job)
        return OnDask(on, hashlib.sha256(payload).hexdigest()[:24], payload, patience)
    executor, own = executor_of(on)
    if isinstance(executor, ThreadPoolExecutor):
        key = uuid.uuid4().hex
        keep(key, job, own=True)
        return _OnExecutor(executor, key, None, own=own)
    try:
        payload = dumps(job)
    except GraphError:
        if own:
            executor.shutdown(cancel_futures=True)
        raise
    return _OnExecutor(executor, hashlib.sha256(payload).hexdigest()[:24], payload, own=own)


class Results(Iterator[Result]):
    """The results of a run; an iteration that ends early, or `close`, cancels what is left.

    Parameters
    ----------
    stream, backend
        The tasks, and what runs them.
    total
        How many tasks there are.
    progress
        As of `run`.
    """

    def __init__(
        self, stream: _Stream, backend: _Backend, total: int, progress: bool | Callable[[int, int], object]
    ) -> None:
        self._stream, self._backend, self._total, self._progress = stream, backend, total, progress
        self._open = True
        self._results = self._counted()

    def _counted(self) -> Iterator[Result]:
        from rgraph.cli._terminal import Progress

        bar = Progress(self._total, "tasks") if self._progress is True else None
        with bar or contextlib.nullcontext():
            for done, result in enumerate(self._stream.results(), 1):
                if bar:
                    bar.step()
                elif callable(self._progress):
                    self._progress(done, self._total)
                yield result

    def __next__(self) -> Result:
        if not self._open:
            raise StopIteration
        try:
            return next(self._results)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Cancel what is left."""
        if self._open:
            self._open = False
            self._backend.close(self._stream.running)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _check_types(
    graph: Any,
    plan: Any,
    *,
    read: Any,
    then: Any,
    planning: Any,
    inputs: Any,
    validate: Any,
    progress: Any,
    patience: Any,
) -> None:
    """Refuse arguments that no task could be run with."""
    from rgraph import Graph, Plan

    if not isinstance(graph, Graph):
        raise TypeError(f"a batch runs a Graph, not {type(graph).__name__}")
    if not isinstance(plan, Plan | None):
        raise TypeError(f"plan= is a Plan of the graph, not {type(plan).__name__}")
    if not isinstance(validate, bool | None):
        raise TypeError(f"validate= is a bool, not {type(validate).__name__}")
    if not isinstance(read, Iterable | None):
        raise TypeError(f"read= is the name of a root or a list of names, not {type(read).__name__}")
    if then is not None and not callable(then):
        raise TypeError(f"then= is a function of key and frame, not {type(then).__name__}")
    for name, given in (("planning", planning), ("inputs", inputs)):
        if not isinstance(given, Mapping | None):
            raise TypeError(f"{name}= is a dict by name, not {type(given).__name__}")
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress= is a bool or a function of (done, total), not {type(progress).__name__}")
    if not isinstance(patience, int | float):
        raise TypeError(f"patience= is a number of seconds, not {type(patience).__name__}")
    if not patience >= 0:
        raise refuse("RG-E213", f"patience is {patience} seconds", "give 0 or more")


@suggests_keywords
def run(
    graph: Graph,
    tasks: Iterable[Task],
    *,
    on: int | str | Executor | Any | None = None,
    read: str | Sequence[str] | None = None,
    write: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None = None,
    then: Callable[[Any, Frame], Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    plan: Plan | None = None,
    planning: Mapping[str, Any] | None = None,
    device: str | int | None = None,
    validate: bool | None = None,
    ordered: bool = True,
    chunk: int | None = None,
    retries: int = 3,
    errors: Literal["raise", "return"] = "raise",
    progress: bool | Callable[[int, int], object] = False,
    patience: float = 30.0,
) -> Results:
    """Run a graph once for each task, on threads, processes or the workers of a cluster.

    The call checks names and files, sends the graph, and returns; tasks start with the first `next()`. An iteration
    that ends early cancels what is left.

    Parameters
    ----------
    graph
        The graph. Other processes get a copy: it must not call functions, unless `on` is a `ThreadPoolExecutor`.
    tasks
        What to run, each with a key of its own: see `frames`, `sweep`, `seeds` and `tiles`.
    on
        Where: None for this process; a number of local processes; any `concurrent.futures.Executor`; a client of Dask
        or the address of its scheduler, as `"tcp://10.0.0.1:8786"` (package `rgraph-vulkan[dask]`).
    read
        Roots whose arrays come back; default: all, or none if `write` or `then` is given.
    write
        Files that the worker writes: a path for the only root, or paths by root, with `{key}` or a format of it:
        `"out/{key:04}.png"`. Relative paths count from this process's folder, which workers must see.
    then
        A function of key and frame that the worker calls; its value comes back as `Result.value`.
    inputs
        Arrays for imported resources that all tasks share; they travel once.
    plan
        A plan of the graph for the workers' devices; default: each worker bakes for its own.
    planning
        Options of `Device.compile`: `{"effort": 3}`.
    device, validate
        As of `Device`; default: the environment of each worker.
    ordered
        If true, results come in the order of the tasks; else as they are done.
    chunk
        Tasks per message to a worker; default: as many as take about 0.1 s, at most 64 and 16 MiB of results.
    retries
        How often a task runs again after its worker was lost.
    errors
        `"raise"`: the first task that fails ends the run. `"return"`: its result has the exception as `Result.error`.
    progress
        If true, a bar on a terminal's standard error; or a function of (done, total).
    patience
        Seconds that a scheduler of Dask may be silent or without workers.

    Returns
    -------
    Results
        An iterator of one `Result` for each task.

    Raises
    ------
    GraphError
        If a task, a file or the graph cannot be right: before anything runs.
    BatchError
        If the run cannot go on. Results that were done came first; `BatchError.remaining` are the other tasks.

    Examples
    --------
    >>> import rgraph
    >>> from rgraph import batch
    >>> g = rgraph.Graph("noise", size=(4, 4))
    >>> out = g.image("out", format="r32uint")
    >>> _ = g.compute("fill", '''
    ... var<immediate> seed: u32;
    ... @group(0) @binding(0) var dst: texture_storage_2d<r32uint, write>;
    ... @compute @workgroup_size(4, 4)
    ... fn main(@builtin(global_invocation_id) id: vec3<u32>) { textureStore(dst, id.xy, vec4(seed)); }
    ... ''', dst=out, push=0)
    >>> g.root(out)
    """
    _check_types(
        graph,
        plan,
        read=read,
        then=then,
        planning=planning,
        inputs=inputs,
        validate=validate,
        progress=progress,
        patience=patience,
    )
    if chunk is not None and count("chunk", chunk) < 1:
        raise refuse("RG-E213", f"a chunk has {chunk} tasks", "give chunk=1 or more, or leave it out")
    if count("retries", retries) < 0:
        raise refuse("RG-E213", f"a task runs again {retries} times", "give retries=0 or more")
    if errors not in ("raise", "return"):
        raise refuse("RG-E202", f"there is no handling of errors called {errors!r}", "there are raise, return")
    wanted = [read] if isinstance(read, str) else None if read is None else list(read)
    listed = _checked(graph, tasks)
    check_names(graph, listed, inputs or ())
    files = _templates(graph, write, [task.key for task in listed])
    roots = _roots(graph)
    if wanted is None:
        wanted = [] if files or then else roots
    for name in wanted:
        if name not in roots:
            raise refuse("RG-E202", f'the graph has no root called "{name}"', f"there are {', '.join(roots)}")
    job = Job(graph, plan, dict(planning or {}), device, validate, dict(inputs or {}), wanted, files, then)
    backend = _backend(on, job, patience)
    stream = _Stream(backend, listed, ordered=ordered, chunk=chunk, retries=retries, errors=errors)
    return Results(stream, backend, len(listed), progress)
