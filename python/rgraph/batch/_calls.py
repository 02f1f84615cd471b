"""Calls mapped over workers: answers in the order of the calls, calls of lost workers tried again."""

from __future__ import annotations

import os
import queue
from collections import deque
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rgraph._errors import BatchError, GraphError
from rgraph.batch._dask import Cluster, is_client
from rgraph.batch._processes import Processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Call", "Pool", "Workers", "answers", "executor_of", "opened"]

#: Seconds between two looks at workers that report nothing.
_LOOK = 0.2


class Call(NamedTuple):
    """A call for any worker; what it is given and what it returns must be picklable."""

    function: Callable[..., Any]
    """The function."""
    arguments: tuple[Any, ...]
    """Its arguments."""
    what: str
    """What a worker does in it, for messages: `"tried seeds 5 to 68"`."""
    hint: str
    """How to see what loses the workers."""


class Workers(Protocol):
    """Something that runs calls."""

    @property
    def workers(self) -> int: ...
    def call(self, function: Callable[..., Any], *arguments: Any) -> Any: ...
    def share(self, payload: bytes) -> Any: ...
    def trouble(self) -> tuple[str, str, str] | None: ...
    def lost(self, error: BaseException) -> bool | None: ...
    def close(self, futures: Sequence[Any], *, now: bool = False) -> None: ...


class Pool:
    """Any executor of `concurrent.futures`.

    Parameters
    ----------
    executor
        The executor.
    own
        Whether it is shut down with this.
    """

    def __init__(self, executor: Executor, *, own: bool) -> None:
        self._executor, self._own = executor, own
        self.workers = int(
            getattr(executor, "workers", 0) or getattr(executor, "_max_workers", 0) or os.cpu_count() or 1
        )

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Send a call to a worker; its future."""
        return self._executor.submit(function, *arguments)

    def share(self, payload: bytes) -> Any:
        """What stands for bytes among the arguments of many calls: the bytes."""
        return payload

    def trouble(self) -> tuple[str, str, str] | None:
        """Executors report what happens by their futures."""
        return None

    def lost(self, error: BaseException) -> bool | None:
        """Whether an exception of a future means a lost worker."""
        return isinstance(error, BrokenExecutor)

    def close(self, futures: Sequence[Any], *, now: bool = False) -> None:
        """Cancel what is left, and end workers of its own: after their calls, or now."""
        for future in futures:
            future.cancel()
        if self._own:
            self._executor.shutdown(wait=True, cancel_futures=now or bool(futures))


class _Sent:
    """A call on its way."""

    def __init__(self, on: Workers, call: Call) -> None:
        self._on, self._call, self._tries = on, call, 0
        self._landed: queue.SimpleQueue[tuple[BaseException | None, Any]] = queue.SimpleQueue()
        self.future: Any = None
        self._send()

    def _send(self) -> None:
        self._tries += 1
        try:
            self.future = self._on.call(self._call.function, *self._call.arguments)
        except GraphError:
            raise
        except Exception as error:
            self._landed.put((error, None))
            return
        self.future.add_done_callback(self._land)

    def _land(self, future: Any) -> None:
        """On a thread of the executor: answers of Dask travel here, so that no lost one holds up the caller."""
        try:
            error = future.exception()
            self._landed.put((error, None if error is not None else future.result()))
        except BaseException as error:
            self._landed.put((error, None))

    def answer(self, retries: int) -> Any:
        """What the function returned, when it did."""
        while True:
            try:
                error, value = self._landed.get(timeout=_LOOK)
            except queue.Empty:
                if trouble := self._on.trouble():
                    raise _stopped(*trouble) from None
                continue
            if error is None:
                return value
            lost = self._on.lost(error)
            if trouble := self._on.trouble():
                raise _stopped(*trouble) from error
            if lost is False:
                raise error
            if lost is None or self._tries > retries:
                raise _stopped("RG-E602", f"each worker that {self._call.what} was lost", self._call.hint, error)
            self._send()


def _stopped(code: str, text: str, hint: str, cause: BaseException | None = None) -> BatchError:
    lines = [f"{code} {text}", *([str(cause)] if cause is not None else []), f"help: {hint}"]
    error = BatchError("\n  ".join(lines), code, hint, [] if cause is None else [str(cause)])
    error.__cause__ = cause
    return error


def answers(on: Workers, calls: Iterable[Call], *, retries: int = 2) -> Iterator[Any]:
    """Map calls over workers, each with a call in reserve.

    Parameters
    ----------
    on
        The workers.
    calls
        The calls; the next one is asked for when a worker is about to be free.
    retries
        How often a call runs again after its worker was lost.

    Yields
    ------
    Any
        What each function returned, in the order of the calls. What a function raises is raised here.

    Raises
    ------
    BatchError
        RG-E602 if a call loses each worker that runs it, RG-E603 if there are no workers.
    """
    more = iter(calls)
    under_way: deque[_Sent] = deque()
    try:
        while True:
            while len(under_way) < 2 * on.workers and (call := next(more, None)) is not None:
                under_way.append(_Sent(on, call))
            if not under_way:
                return
            yield under_way.popleft().answer(retries)
    finally:
        for sent in under_way:
            if sent.future is not None:
                sent.future.cancel()


def executor_of(on: Any) -> tuple[Executor, bool]:
    """The executor that `on=` means where it is not Dask, and whether it is made here.

    Parameters
    ----------
    on
        None for a thread of this process; a number of local processes; an executor.
    """
    if on is None:
        return ThreadPoolExecutor(1), True
    if hasattr(on, "__index__"):
        return Processes(on), True
    if not callable(getattr(on, "submit", None)):
        raise TypeError("on= is a number of processes, an Executor, a Client of Dask or the address of its scheduler")
    return on, False


@contextmanager
def opened(on: Any, patience: float) -> Iterator[Workers]:
    """Workers by what `on=` may be.

    Parameters
    ----------
    on
        What `executor_of` takes, a client of Dask, or the address of its scheduler.
    patience
        Seconds that a scheduler of Dask may be silent or without workers.
    """
    workers: Workers
    if isinstance(on, str) or is_client(on):
        workers = Cluster(on, patience)
    else:
        executor, own = executor_of(on)
        workers = Pool(executor, own=own)
    try:
        yield workers
    except BaseException:
        workers.close([], now=True)
        raise
    workers.close([])
