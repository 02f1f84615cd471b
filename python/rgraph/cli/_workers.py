"""Workers of commands that spread their work: processes of this machine, or a cluster of Dask."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rgraph.batch._calls import opened
from rgraph.cli import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from rgraph.batch._calls import Workers

__all__ = ["spread"]


@contextmanager
def spread(arguments: argparse.Namespace) -> Iterator[Workers | None]:
    """The workers that arguments mean; None: this process.

    Parameters
    ----------
    arguments
        With what `add_workers` adds.
    """
    if arguments.workers is not None and arguments.scheduler is not None:
        raise UsageError("--workers are processes of this machine, and --scheduler has workers of its own", "give one")
    on = arguments.workers if arguments.scheduler is None else arguments.scheduler
    if on is None:
        yield None
        return
    with opened(on, arguments.patience) as workers:
        yield workers
