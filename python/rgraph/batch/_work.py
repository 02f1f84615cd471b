"""The side of a worker: graphs that it keeps, and the tasks that it runs with them."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph._core import Device, Frame, Graph, Plan, _numpy
from rgraph._errors import DeviceError, GraphError, RgError
from rgraph._save import make_folder
from rgraph._values import Whole, place, put, whole
from rgraph.batch._tasks import Result, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rgraph import Array, Compiled

__all__ = [
    "NO_DEVICE",
    "Answer",
    "Job",
    "carried",
    "device_of",
    "drop_device",
    "forget",
    "keep",
    "load",
    "trace",
    "work",
]

# Errors that say that a worker has no device for the graph: its driver is missing, too old, or not the one that was
# asked for; or the device lacks what a pass needs.
NO_DEVICE = ("RG-E101", "RG-E102", "RG-E103", "RG-E105", "RG-E106", "RG-E227")
_LOST = "RG-E120"
# Graphs that a worker keeps compiled: more than one program may use the workers of a cluster at once.
_KEPT = 4


@dataclass(frozen=True)
class Job:
    """What all tasks of a run share; it travels to each worker once.

    Parameters
    ----------
    graph
        The graph.
    plan
        A plan of it; None: each worker bakes for its own device.
    planning
        Options of `Device.compile`.
    device, validate
        As of `Device`.
    inputs
        Arrays for imported resources that all tasks share.
    read
        Roots whose arrays travel back.
    write
        Templates of files, by root; `{key}` is the task's.
    then
        Function of key and frame, whose value travels back.
    """

    graph: Graph
    plan: Plan | None
    planning: Mapping[str, Any]
    device: str | int | None
    validate: bool | None
    inputs: Mapping[str, Any]
    read: Sequence[str]
    write: Mapping[str, str]
    then: Callable[[Any, Frame], Any] | None


class Answer(NamedTuple):
    """What a worker answers to a chunk of tasks."""

    kind: str
    """`"done"`, `"missing"` (it does not know the job), `"no device"`, or `"lost"` (its device)."""
    results: list[Result]
    """The results, if it is done."""
    error: BaseException | None
    """Why not."""
    worker: str
    """The process, as `host:pid`."""


def _who() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def file_of(template: str, key: Any) -> str:
    """The path of a result.

    Parameters
    ----------
    template
        With `{key}`, `{key:04}` or, of a key that is a tuple, `{key[0]}`.
    key
        The task's.
    """
    return template.format(key=key)


class _Ready:
    """A job that is compiled in this process. Threads share it: one submits at a time, any number read and write."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._lock = threading.Lock()
        self._device: Device | None = None
        self._compiled: Compiled | None = None
        self._whole: Whole | None = None

    def _open(self) -> Compiled:
        if self._compiled is None:
            job = self.job
            self._device = device_of(job.device, job.validate)
            if job.plan is None:
                self._compiled = self._device.compile(job.graph, **job.planning)
            else:
                self._compiled = self._device.compile(job.plan, of=job.graph)
        return self._compiled

    def drop(self) -> None:
        """Forget the device, so that the next task opens it again."""
        with self._lock:
            if self._device is not None:
                drop_device(self.job.device, self.job.validate)
            self._device = self._compiled = None

    def _params(self, values: Mapping[str, Any]) -> dict[Any, Any]:
        if not values:
            return {}
        if self._whole is None:
            self._whole = whole(self.job.graph)
        out: dict[Any, Any] = {}
        for name, new in values.items():
            found = place(self._whole, name)
            of, block, path = found or (name.rpartition(".")[0], "", [name.rpartition(".")[2]])
            if not path:
                out[of] = new
                continue
            declared = self._whole.get(of, {}).get(block)
            target = (of, block) if block else of
            put(out.setdefault(target, dict(declared) if isinstance(declared, dict) else {}), path, new)
        return out

    def submit(self, task: Task) -> Frame:
        """Submit the frames of a task; the last one."""
        job = self.job
        wanted = [*dict.fromkeys([*job.read, *job.write])] if job.then is None else None
        with self._lock:
            done = self._open()
            done.reset()
            inputs = {**job.inputs, **task.inputs} or None
            params = self._params(task.values) or None
            for _ in range(task.frames - 1):
                done.run(inputs=inputs, params=params, flags=dict(task.flags) or None, read=[])
            return done.run(inputs=inputs, params=params, flags=dict(task.flags) or None, read=wanted)

    def finish(self, task: Task, frame: Frame, began: float) -> Result:
        """Wait for a frame, write its files, and take its arrays."""
        job = self.job
        result = Result(task.key, worker=_who())
        for name, template in job.write.items():
            result.files[name] = _written(file_of(template, task.key), frame[name])
        if job.then is not None:
            result.value = job.then(task.key, frame)
        if job.read:
            _numpy("a batch that reads arrays", "write={name: path} writes files without it")
            import numpy as np

            result.arrays.update({name: np.array(frame[name]) for name in job.read})
        frame.wait()
        result.seconds = time.perf_counter() - began
        return result


def _written(path: str, array: Array) -> str:
    """Write a temporary file in the same folder, then rename it: a lost worker leaves no incomplete file."""
    file = Path(path)
    make_folder(file.parent)
    part = file.with_name(f".{file.stem}.{os.getpid()}{file.suffix}")
    try:
        array.save(part)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return path


_lock = threading.Lock()
_jobs: OrderedDict[str, tuple[int, _Ready]] = OrderedDict()
# Jobs of this process's own batches, which nobody sends again.
_own: set[str] = set()
_devices: dict[tuple[int, str | int | None, bool | None], Device] = {}


def device_of(name: str | int | None, validate: bool | None) -> Device:
    """The device of this process, which its jobs share; a forked child opens its own.

    Parameters
    ----------
    name, validate
        As of `Device`.
    """
    with _lock:
        key = (os.getpid(), name, validate)
        if key not in _devices or _devices[key].closed:
            _devices[key] = Device(name, validate=validate)
        return _devices[key]


def drop_device(name: str | int | None, validate: bool | None) -> None:
    """Forget a device of this process that is of no use any more.

    Parameters
    ----------
    name, validate
        As of `Device`.
    """
    with _lock:
        _devices.pop((os.getpid(), name, validate), None)


def keep(key: str, job: Job, *, own: bool = False) -> None:
    """Make a job known in this process.

    Parameters
    ----------
    key
        Its name.
    job
        The job.
    own
        If true, it stays until it is forgotten; else only the latest few stay.
    """
    with _lock:
        _jobs[key] = (os.getpid(), _Ready(job))
        _jobs.move_to_end(key)
        if own:
            _own.add(key)
        others = [one for one in _jobs if one not in _own]
        for old in others[:-_KEPT]:
            del _jobs[old]


def forget(key: str) -> None:
    """Drop a job, and devices that no job uses any more.

    Parameters
    ----------
    key
        Its name.
    """
    with _lock:
        _own.discard(key)
        _jobs.pop(key, None)
        used = {(pid, ready.job.device, ready.job.validate) for pid, ready in _jobs.values()}
        for one in [one for one in _devices if one not in used]:
            del _devices[one]


def _known(key: str) -> _Ready | None:
    with _lock:
        pid, ready = _jobs.get(key, (0, None))
        if ready is None or pid != os.getpid():
            return None
        _jobs.move_to_end(key)
        return ready


def load(payload: bytes) -> Job:
    """A job of its bytes.

    Parameters
    ----------
    payload
        What `pickle` or `cloudpickle` made.
    """
    import pickle

    job: Job = pickle.loads(payload)
    return job


def carried(error: BaseException) -> BaseException:
    """An exception that survives the way back: one that does not becomes a text.

    Parameters
    ----------
    error
        The exception.
    """
    import pickle

    try:
        again = pickle.loads(pickle.dumps(error))
        if type(again) is type(error) and str(again) == str(error):
            return error
    except Exception:
        pass
    return RuntimeError(f"{type(error).__name__}: {error}")


def trace(error: BaseException) -> str:
    """Where an exception was raised, without the frames of this package: it is lost when the exception is pickled.

    Parameters
    ----------
    error
        The exception.
    """
    import traceback

    here = str(Path(__file__).parent)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(here)]
    return f"in worker {_who()}:\n{''.join(traceback.format_list(frames))}".rstrip() if frames else ""


def _failed(task: Task, error: BaseException) -> Result:
    result = Result(task.key, error=carried(error), worker=_who())
    result._trace = trace(error)
    return result


def _run(ready: _Ready, tasks: Sequence[Task]) -> list[Result]:
    """Run tasks one after the other; the next one is submitted before the results of one are read."""
    results: list[Result] = []

    def finish(task: Task, frame: Frame, began: float) -> None:
        try:
            results.append(ready.finish(task, frame, began))
        except (Exception, SystemExit) as error:
            if isinstance(error, RgError) and error.code == _LOST:
                raise
            results.append(_failed(task, error))

    pending: tuple[Task, Frame, float] | None = None
    for task in tasks:
        began = time.perf_counter()
        try:
            frame = ready.submit(task)
        except (Exception, SystemExit) as error:
            if isinstance(error, (DeviceError, GraphError)) and error.code in (*NO_DEVICE, _LOST):
                raise
            if pending:
                finish(*pending)
                pending = None
            results.append(_failed(task, error))
            continue
        if pending:
            finish(*pending)
        pending = (task, frame, began)
    if pending:
        finish(*pending)
    return results


def work(key: str, payload: bytes | None, tasks: Sequence[Task]) -> Answer:
    """Run tasks with the job that this process keeps.

    Parameters
    ----------
    key
        The job.
    payload
        The job's bytes; None: this process knows it, or answers that it does not.
    tasks
        The tasks.
    """
    ready = _known(key)
    if ready is None:
        if payload is None:
            return Answer("missing", [], None, _who())
        keep(key, load(payload))
        ready = _known(key)
        assert ready is not None, "a job that was just kept is known"
    try:
        return Answer("done", _run(ready, tasks), None, _who())
    except (DeviceError, GraphError) as error:
        if isinstance(error, GraphError) and error.code not in NO_DEVICE:
            raise
        ready.drop()
        return Answer("no device" if error.code in NO_DEVICE else "lost", [], carried(error), _who())
