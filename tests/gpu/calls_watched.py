"""Watched calls of the state machine, and what the machine keeps of those that worked."""

from __future__ import annotations

import faulthandler
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from calls_model import Model

import rgraph as rg

#: Seconds after which a call hangs.
HANGS = 60.0
COUNTS = {"examples": 0, "calls": 0, "frames": 0}
FINE = (rg.RgError, TypeError, ValueError)


class Ran:
    """A frame and the results that it must have."""

    def __init__(self, frame: rg.Frame, results: dict[str, np.ndarray]) -> None:
        self.frame, self.results = frame, results


class Compiled:
    """A compiled graph, the declaration that it was made of, and what persistent buffers hold."""

    def __init__(self, done: rg.Compiled, model: Model, device: rg.Device) -> None:
        self.done, self.model, self.device = done, model, device
        self.state: dict[str, np.ndarray] | None = model.first()


class Watched:
    """Calls that work, or fail with a message, and return in time."""

    def call(self, what: str, call: Callable[[], Any], *, must: bool | None = None, also: tuple[Any, ...] = ()) -> Any:
        """What a call gives, or its error: `must` says which of them it has to be."""
        print(f"  {what}", file=sys.stderr, flush=True)
        COUNTS["calls"] += 1
        faulthandler.dump_traceback_later(HANGS, exit=True)
        value: Any = None
        failed: BaseException | None = None
        try:
            value = call()
        except (*FINE, *also) as error:
            failed = error
        finally:
            faulthandler.cancel_dump_traceback_later()
        if failed is None:
            assert must is not False, f"{what} works"
            return value
        assert str(failed), f"{what}: {type(failed).__name__} without a message"
        assert not isinstance(failed, rg.InternalError), f"{what}: {failed}"
        assert must is not True, f"{what}: {type(failed).__name__}: {failed}"
        return failed
