"""Batches on the workers of Dask: anything with a scheduler, from one machine to a cluster."""

from __future__ import annotations

import contextlib
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

from rgraph._errors import BatchError
from rgraph.batch._tasks import refuse
from rgraph.batch._work import Answer, work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rgraph.batch._tasks import Task

__all__ = ["Cluster", "OnDask", "connected", "is_client"]

_EXTRA = 'pip install "rgraph-vulkan[dask]"'
#: Exceptions of calls that did not fail by themselves.
_LOST = ("CancelledError", "FutureCancelledError", "CommClosedError", "ClientClosed", "TimeoutError")
#: Seconds between two looks at the scheduler.
_LOOK = 1.0


def is_client(on: object) -> bool:
    """Whether an object is a `distributed.Client`, without importing Dask.

    Parameters
    ----------
    on
        The object.
    """
    return any(kind.__module__.startswith("distributed.") and kind.__name__ == "Client" for kind in type(on).__mro__)


def _same(payload: bytes) -> bytes:
    return payload


def _work(key: str, payload: bytes, tasks: Sequence[Task]) -> Answer:
    """`work` on a worker of Dask, which answers under its address."""
    from distributed import get_worker

    return work(key, payload, tasks)._replace(worker=get_worker().address)


def connected(address: str, patience: float) -> Any:
    """A client of the scheduler at an address.

    Parameters
    ----------
    address
        As Dask writes it: `"tcp://10.0.0.1:8786"`.
    patience
        Seconds that it may take to answer.

    Raises
    ------
    GraphError
        If Dask is not installed.
    BatchError
        RG-E603 if no scheduler answers.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError as error:
        raise refuse("RG-E225", f'"{address}" names a scheduler, and Dask is not installed', _EXTRA) from error
    try:
        # A client that was made with no port would wait for itself when the process ends.
        with contextlib.suppress(NotImplementedError):
            get_address_host_port(address)
        return Client(  # type: ignore[no-untyped-call]
            address, timeout=patience, set_as_default=False
        )
    except (OSError, TimeoutError, ValueError) as error:
        hint = "start one with: dask scheduler; and workers with: dask worker ADDRESS"
        message = f"RG-E603 no scheduler answers at {address}\n  {error}\n  help: {hint}"
        raise BatchError(message, "RG-E603", hint, [str(error)]) from error


class Cluster:
    """A client of a scheduler.

    A thread looks at the scheduler, so that no call that never returns can hold up the caller.

    Parameters
    ----------
    on
        A client, or the address of a scheduler.
    patience
        Seconds that a scheduler may be silent, or without workers.
    """

    #: What helps where the scheduler is gone.
    _again = "start the scheduler again"

    def __init__(self, on: Any, patience: float) -> None:
        self._own = isinstance(on, str)
        self._client = connected(on, patience) if isinstance(on, str) else on
        self._address = on if isinstance(on, str) else _address(on)
        self._patience = patience
        self._refused: dict[str, str] = {}
        self._threads: dict[str, int] = {}
        self._shared: list[Any] = []
        self._seen = self._staffed = time.monotonic()
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="rgraph batch", daemon=True).start()

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK if self._threads else 0.05):
            with contextlib.suppress(Exception):
                self._threads = self._client.nthreads()
                self._seen = time.monotonic()
                if self._allowed:
                    self._staffed = self._seen

    def share(self, payload: bytes) -> Any:
        """What stands for bytes among the arguments of many calls: the result of a task of their own.

        Dask brings it to each worker once, and makes it again if every worker that had it is lost.
        """
        with warnings.catch_warnings():
            # A graph with large arrays is large, and travels once.
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            self._shared.append(self._client.submit(_same, payload, pure=False))
        return self._shared[-1]

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Send a call to a worker that was not refused; its future."""
        allowed = (self._allowed if self._refused else None) or None
        return self._client.submit(function, *arguments, pure=False, workers=allowed)

    @property
    def _allowed(self) -> list[str]:
        return [one for one in self._threads if one not in self._refused]

    @property
    def workers(self) -> int:
        """Threads of the workers that have a device; 1 until they are known."""
        return max(1, sum(count for one, count in self._threads.items() if one not in self._refused))

    def trouble(self) -> tuple[str, str, str] | None:
        """Code, text and hint, if the batch cannot go on."""
        now = time.monotonic()
        if self._client.status == "closed" or now - self._seen > self._patience:
            return "RG-E603", f"the scheduler at {self._address} is gone", self._again
        if now - self._staffed > self._patience:
            hint = f"start workers with: dask worker {self._address}"
            return "RG-E603", f"the scheduler at {self._address} has no worker for this batch", hint
        return None

    def lost(self, error: BaseException) -> bool | None:
        """Whether an exception of a future means a lost worker, and its call may run again.

        None: Dask has tried that often enough.
        """
        name = type(error).__name__
        if name not in _LOST:
            return None if name == "KilledWorker" else False
        # The calls of a client that loses its scheduler are cancelled; it is gone or back within `patience`.
        while self._client.status not in ("running", "closed") and self.trouble() is None:
            time.sleep(0.1)
        return True

    def close(self, futures: Sequence[Any], *, now: bool = False) -> None:
        """Cancel what is left. It waits for nothing: a scheduler that is gone never answers."""
        del now
        self._closed.set()

        def end() -> None:
            with contextlib.suppress(Exception):
                if futures:
                    self._client.cancel(list(futures), force=True)
            with contextlib.suppress(Exception):
                for one in self._shared:
                    one.release()
                if self._own:
                    self._client.close(timeout=2)

        thread = threading.Thread(target=end, name="rgraph batch", daemon=True)
        thread.start()
        thread.join(5)


class OnDask(Cluster):
    """Workers of Dask, and the job that they keep.

    Parameters
    ----------
    on
        A client, or the address of a scheduler.
    key, payload
        The job.
    patience
        Seconds that a scheduler may be silent, or without workers.
    """

    renewed = True
    _again = "start the scheduler again and run error.remaining"

    def __init__(self, on: Any, key: str, payload: bytes, patience: float) -> None:
        super().__init__(on, patience)
        self._key = key
        self._payload = self.share(payload)

    def submit(self, tasks: Sequence[Task], *, carry: bool = False) -> Any:
        """Send tasks to a worker; the future of their `Answer`."""
        del carry
        return self.call(_work, self._key, self._payload, tasks)

    def refuse(self, worker: str, error: BaseException) -> bool:
        """Send nothing more to a worker without a device; whether others are left."""
        self._refused[worker] = str(error)
        return bool(self._allowed) or not self._threads


def _address(client: Any) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", None) or "its address")
