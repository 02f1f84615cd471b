"""An executor of processes that are replaced when they are lost.

`concurrent.futures.ProcessPoolExecutor` is broken for good by one lost worker, and imports the program's main module
into each. Here a lost process fails the one call that it ran, the next call starts another process, and workers import
only what calls name. Each has a thread that writes calls to its standard input and reads what it answers, both as
pickles with their length in front.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import IO, Any

from rgraph._numbers import count
from rgraph.batch._tasks import refuse
from rgraph.batch._work import carried, trace

__all__ = ["Processes", "WorkerLost", "dumps", "serve"]

_SERVE = "from rgraph.batch._processes import serve; serve()"


class WorkerLost(BrokenExecutor):
    """The process that ran a call ended before it answered. Other and later calls are not affected."""


def dumps(value: object) -> bytes:
    """Pickle by cloudpickle where that is installed, which also takes functions of the main program.

    Parameters
    ----------
    value
        What travels.

    Raises
    ------
    GraphError
        If it cannot travel; a graph that calls functions cannot.
    """
    try:
        import cloudpickle as by  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        by = pickle
    try:
        data: bytes = by.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        hint = "pip install cloudpickle for functions of the main program, or share them with on=ThreadPoolExecutor(1)"
        raise refuse("RG-E225", f"a batch cannot travel to other processes: {error}", hint) from error
    return data


def _write(stream: IO[bytes], data: bytes) -> None:
    stream.write(len(data).to_bytes(8, "little"))
    stream.write(data)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes | None:
    """One message; None at the end of the stream."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "little")
    data = stream.read(size)
    return data if len(data) == size else None


def serve() -> None:
    """Answer calls until the caller is gone: the main function of a worker."""
    # What calls print goes to standard error: standard output is for answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    calls = sys.stdin.buffer
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        while (data := _read(calls)) is not None:
            try:
                function, arguments, named = pickle.loads(data)
                answer = (True, function(*arguments, **named))
            except (Exception, SystemExit) as error:
                failure = carried(error)
                if place := trace(error):
                    failure.add_note(place)
                answer = (False, failure)
            try:
                sent = dumps(answer)
            except Exception as error:
                cause = error.__cause__ or error
                sent = pickle.dumps((False, pickle.PicklingError(f"the result cannot travel back: {cause}")))
            _write(answers, sent)


MOST_WORKERS = 1024
"""Workers that an executor may have: each has a thread here, of which a process cannot have any number."""


class _Call:
    """A call that waits for a worker."""

    def __init__(self, future: Future[Any], data: bytes) -> None:
        self.future = future
        self.data = data


class _Worker:
    """A process and the thread that speaks with it."""

    def __init__(self, calls: queue.SimpleQueue[_Call | None], environment: dict[str, str] | None) -> None:
        self._calls = calls
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._lock = threading.Lock()
        self.thread = threading.Thread(target=self._speak, name="rgraph batch", daemon=True)
        self.thread.start()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._ended:
                raise WorkerLost("the executor was shut down")
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _SERVE],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=self._environment,
                )
            return self._process

    def _answer(self, call: _Call) -> Any:
        process = self._started()
        assert process.stdin is not None, "a worker's input is a pipe"
        assert process.stdout is not None, "a worker's output is a pipe"
        data = None
        with contextlib.suppress(OSError):
            _write(process.stdin, call.data)
            data = _read(process.stdout)
        if data is not None:
            done, value = pickle.loads(data)
            if done:
                return value
            raise value
        # It closed its output, so it is about to end; with a status of its own, if it gets the time.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
        self._reap(process)
        code = process.returncode
        how = f"signal {-code}" if code is not None and code < 0 else f"status {code}"
        raise WorkerLost(f"worker process {process.pid} ended with {how}")

    def _reap(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _speak(self) -> None:
        while (call := self._calls.get()) is not None:
            if not call.future.set_running_or_notify_cancel():
                continue
            try:
                value = self._answer(call)
            except BaseException as error:
                call.future.set_exception(error)
            else:
                call.future.set_result(value)
        self.end()

    def end(self, *, now: bool = False) -> None:
        """End the process: after its call, or now."""
        with self._lock:
            self._ended = True
            process, self._process = self._process, None
        if process is None:
            return
        if not now and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
        self._reap(process)


class Processes(Executor):
    """Processes of this machine that run calls, each replaced when it is lost.

    Parameters
    ----------
    workers
        How many, up to 1024; default: one per CPU, at most 4.
    devices
        Values of `RGRAPH_DEVICE`, one after the other for each worker: `["0", "1"]` spreads them over two GPUs. One
        value is for all workers.
        Default: the environment's.

    Examples
    --------
    >>> from rgraph import batch
    >>> with batch.Processes(2) as pool:
    ...     pool.submit(len, "abc").result()
    3
    """

    def __init__(self, workers: int | None = None, *, devices: str | int | Sequence[str | int] = ()) -> None:
        wanted = min(os.cpu_count() or 1, 4) if workers is None else count("workers", workers)
        if wanted < 1:
            raise refuse("RG-E213", f"a batch has at least 1 worker, not {wanted}", "give 1 or more")
        if wanted > MOST_WORKERS:
            message = f"{wanted} workers, and a machine runs at most {MOST_WORKERS} of them"
            raise refuse("RG-E213", message, "give about as many as it has CPUs, or the address of a cluster as on=")
        names = [devices] if isinstance(devices, str | int) else list(devices)
        self.workers = wanted
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._closed = False
        self._lock = threading.Lock()
        self._all: list[_Worker] = []
        for at in range(wanted):
            path = os.pathsep.join(one for one in sys.path if one)
            environment = {**os.environ, "PYTHONPATH": path}
            if names:
                environment["RGRAPH_DEVICE"] = str(names[at % len(names)])
            self._all.append(_Worker(self._calls, environment))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a call on the next free worker.

        Parameters
        ----------
        fn, *args, **kwargs
            The call; they and what it returns must be picklable.

        Raises
        ------
        GraphError
            If the call cannot travel.
        """
        future: Future[Any] = Future()
        call = _Call(future, dumps((fn, args, kwargs)))
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._calls.put(call)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers.

        Parameters
        ----------
        wait
            If true, calls are finished first and the processes are gone afterwards; else they end in the background.
        cancel_futures
            If true, calls that wait are cancelled, and processes in the middle of one are killed.
        """
        with self._lock:
            first, self._closed = not self._closed, True
        if cancel_futures:
            with contextlib.suppress(queue.Empty):
                while True:
                    call = self._calls.get_nowait()
                    if call is not None:
                        call.future.cancel()
            first = True
            for worker in self._all:
                worker.end(now=True)
        if first:
            for _ in self._all:
                self._calls.put(None)
        if wait:
            for worker in self._all:
                worker.thread.join()
