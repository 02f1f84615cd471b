"""How a device looks for faster plans while frames run: `adapt=` of `Device.run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph._keywords import suggests_keywords

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rgraph._core import Plan, Report
    from rgraph._records import Tried

__all__ = ["Adapt", "Trial", "Trials"]


class Adapt(NamedTuple):
    """What `adapt=` of `Device.run` and `Compiled.run` may be, where `True` and `"queues"` do not say enough."""

    queues: bool = False
    """Whether passes may leave a queue that they name; without it only passes with `queue="any"` change queues."""
    sample: int = 4
    """One frame in so many is measured while nothing is tried."""
    frames: int = 12
    """Measured frames of each plan that is tried, and as many of the kept one between them."""
    margin: float = 0.01
    """The part of a frame that a plan must save to be kept, in addition to the noise."""
    trials: int = 12
    """Most plans that are tried after a search."""
    background: bool = True
    """Whether plans are searched and compiled by a thread; else the frame that needs them waits."""
    propose: Callable[[dict[str, Any], list[Tried]], Mapping[str, Any] | None] | None = None
    """Proposes orders and queues, as `propose=` of `Graph.bake`; called in the background, with measured durations."""
    times: Callable[[Plan, Report], float | None] | None = None
    """What a frame took in microseconds, by its plan and its report; default: from the call, or the end of the frame
    before, to its last timestamp."""


# Named tuples take no `__new__` in their body.
Adapt.__new__ = suggests_keywords(Adapt.__new__, "Adapt")  # type: ignore[method-assign]


class Trial(NamedTuple):
    """A plan that was tried: see `Device.trials`."""

    round: int
    """Which search found it, from 1 on."""
    what: str
    """What was changed."""
    predicted_us: float | None
    """Its modelled frame in microseconds; None: the search found no plan."""
    measured_us: float | None
    """The median of its measured frames in microseconds, from frame to frame if that decided; None: it did not run."""
    kept_us: float | None
    """The same of the plan that was kept until then."""
    noise_us: float
    """The amount that the difference had to exceed, in addition to the margin."""
    frames: int
    """Its measured frames."""
    kept: bool
    """Whether it stayed."""
    why: str
    """Why, or why not."""


class Trials(NamedTuple):
    """What came of `adapt=`: a table when it is printed."""

    phase: str
    """`"weighing"`, `"searching"`, `"trying"`, `"settled"`, `"blind"` (the device measures nothing), `"off"`, or
    `"modelled"` (of `rgraph.batch.tune` without a device)."""
    trials: list[Trial]
    """The plans that were tried, in order."""
    weights: dict[str, float]
    """Measured microseconds by pass: `weights=` of `Graph.bake`."""
    queues: dict[str, str]
    """Queues that were opened: `"any"` in place of a named one, by pass."""
    plan: Plan
    """The plan that is kept."""

    def to_dict(self) -> dict[str, Any]:
        """Everything but the plan as plain values, of which `weights=` reads durations and queues."""
        passes = [{"pass": name, "us": us} for name, us in self.weights.items()]
        trials = [one._asdict() for one in self.trials]
        return {"phase": self.phase, "plan": self.plan.hash, "passes": passes, "queues": self.queues, "trials": trials}

    def __str__(self) -> str:
        def us(value: float | None) -> str:
            return "-" if value is None else f"{value:.1f}"

        rows = [("plan", "predicted µs", "measured µs", "before µs", "kept", "why")]
        for one in self.trials:
            kept = "yes" if one.kept else "no"
            rows.append((one.what, us(one.predicted_us), us(one.measured_us), us(one.kept_us), kept, one.why))
        wide = [max(len(row[at]) for row in rows) for at in range(6)]
        lines = [
            "  ".join(
                cell.rjust(wide[at]) if 1 <= at <= 3 else cell.ljust(wide[at]) for at, cell in enumerate(row)
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, f"{self.phase}, plans tried: {len(self.trials)}"])
