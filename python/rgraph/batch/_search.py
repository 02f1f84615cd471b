"""The side of a worker of `rgraph.batch.tune`: durations of passes, plans by number, frames of two plans in turn."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import statistics
import tempfile
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph._core import Device, Graph, Plan, Profile
from rgraph._errors import DeviceError
from rgraph.batch._work import NO_DEVICE, device_of, drop_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rgraph._core import Compiled
    from rgraph._records import Tried

__all__ = ["Climb", "Found", "Goal", "Timed", "Weighed", "found", "plan_of", "timed", "weighed"]

_POLICIES = ("auto", "declared", "overlap", "weighted", "box_tree")
_HARDER = (2, 3)
#: Frames whose passes are measured for the weights, after as many that are not.
_WEIGHING = 5
#: Blocks of frames of either plan, in turn, and frames per block.
_BLOCKS, _BLOCK = 9, 12
#: Proposals of one climb.
_STEPS = 48
#: Two standard errors of a median.
_TWO_ERRORS = 2.0 * 1.2533


@dataclass(frozen=True)
class Goal:
    """What is tuned; it travels to each worker once.

    Parameters
    ----------
    graph
        The graph.
    planning
        Options of `Graph.bake`.
    device, validate
        As of `Device`.
    inputs, flags, params
        What the frames get.
    """

    graph: Graph
    planning: Mapping[str, Any]
    device: str | int | None
    validate: bool | None
    inputs: Mapping[str, Any]
    flags: Mapping[str, bool]
    params: Mapping[Any, Any]


class Weighed(NamedTuple):
    """What plans are made for: the same for all workers."""

    profile: str
    """The profile file of the device."""
    device: str | None
    """The device that measured, by name and driver; None: nothing is measured."""
    weights: dict[str, float]
    """Microseconds by pass."""
    queues: dict[str, str]
    """Queues that are opened, by pass."""


class Found(NamedTuple):
    """A plan of the search."""

    number: int
    """Which one: `plan_of` makes it again, on any machine."""
    what: str
    """How it was made."""
    frame_us: float
    """Its modelled frame in microseconds."""
    same: str
    """Equal for plans that do the same work in the same order."""


class Timed(NamedTuple):
    """Frames of a plan and of the first one; or the reason why there are none."""

    us: float = 0.0
    """The median of its frames in microseconds, from frame to frame."""
    first_us: float = 0.0
    """That of the first plan."""
    noise_us: float = 0.0
    """What a difference between the two must exceed."""
    frames: int = 0
    """Its measured frames."""
    refused: str = ""
    """Why the worker measured nothing; empty if it did."""


class Climb:
    """A hill climb over orders and queues: each proposal is a change of the best one so far, which a seed decides.

    Seeds that are odd begin with any permitted order, others with the planner's own.

    Parameters
    ----------
    seed
        Equal seeds propose the same of the same problem.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._anew = seed % 2 == 1
        self._after: dict[str, list[str]] = {}
        self._open: list[tuple[str, list[str]]] = []
        self._best_us = 0.0
        self._best: tuple[list[str], dict[str, str]] = ([], {})
        self._last = self._best

    def __call__(self, problem: dict[str, Any], tried: list[Tried]) -> dict[str, Any] | None:
        """The next proposal, as `propose=` of `Graph.bake` wants it."""
        if not tried:
            self._after = {one["name"]: one["after"] for one in problem["passes"]}
            self._open = [(one["name"], one["queues"]) for one in problem["passes"] if len(one["queues"]) > 1]
            self._best_us, self._best = problem["frame_us"], (list(problem["order"]), dict(problem["queue"]))
        elif tried[-1].frame_us is not None and tried[-1].frame_us < self._best_us:
            self._best_us, self._best = tried[-1].frame_us, self._last
        if len(tried) == _STEPS:
            return None
        order, queue = list(self._best[0]), dict(self._best[1])
        if self._anew and not tried:
            order = self._any_order()
        elif not self._changed(order, queue):
            return None
        self._last = order, queue
        return {"order": order, "queue": queue}

    def _any_order(self) -> list[str]:
        """An order in which each pass comes after those that it depends on."""
        waits = {name: len(after) for name, after in self._after.items()}
        then: dict[str, list[str]] = {name: [] for name in waits}
        for name, after in self._after.items():
            for before in after:
                then[before].append(name)
        ready, order = [name for name, count in waits.items() if count == 0], []
        while ready:
            name = ready.pop(self._random.randrange(len(ready)))
            order.append(name)
            for later in then[name]:
                waits[later] -= 1
                if waits[later] == 0:
                    ready.append(later)
        return order

    def _changed(self, order: list[str], queue: dict[str, str]) -> bool:
        """Move a pass to another place or another queue; whether any can be moved."""
        for _ in range(16):
            if self._open and self._random.random() < 0.5:
                name, permitted = self._random.choice(self._open)
                queue[name] = self._random.choice([one for one in permitted if one != queue[name]])
                return True
            at = self._random.randrange(len(order)) if order else 0
            first, last = self._room(order, at)
            if first < last:
                to = self._random.choice([place for place in range(first, last + 1) if place != at])
                order.insert(to, order.pop(at))
                return True
        return False

    def _room(self, order: list[str], at: int) -> tuple[int, int]:
        """The first and the last place that a pass can have while the others keep their order."""
        if not order:
            return 0, 0
        name, first, last = order[at], at, at
        while first > 0 and order[first - 1] not in self._after[name]:
            first -= 1
        while last + 1 < len(order) and name not in self._after[order[last + 1]]:
            last += 1
        return first, last


@lru_cache(maxsize=4)
def _goal(payload: bytes) -> Goal:
    import pickle

    goal: Goal = pickle.loads(payload)
    return goal


def _named(planning: Mapping[str, Any], queues: Mapping[str, str]) -> list[dict[str, Any]]:
    """Options in place of the caller's own, which come first, and again if queues are opened."""
    own = planning.get("policy", "auto")
    # Efforts of an exact search are something else.
    harder = () if own == "exact" else _HARDER
    effort = planning.get("effort")
    efforts = [{"effort": (1 if effort is None else int(effort)) + more} for more in harder]
    opened: list[dict[str, Any]] = [{}] if queues else []
    return [{}, *opened, *({"policy": policy} for policy in _POLICIES if policy != own), *efforts]


def plan_of(goal: Goal, of: Weighed, number: int) -> tuple[Plan, str]:
    """The plan of a number, and how it was made.

    Parameters
    ----------
    goal
        What is tuned.
    of
        What plans are made for.
    number
        0: as the caller's options and the passes' queues have it; then with opened queues, other policies and efforts;
        then hill climbs, by seed.
    """
    queues = of.queues if number > 0 else {}
    weights = {"passes": [{"pass": name, "us": us} for name, us in of.weights.items()], "queues": queues}
    profile, named = Profile.from_json(of.profile), _named(goal.planning, of.queues)
    if number >= len(named):
        seed = number - len(named) + 1
        return goal.graph.bake(profile, **goal.planning, weights=weights, propose=Climb(seed)), f"climb {seed}"
    changed = named[number]
    what = " ".join(f"{name} {value}" for name, value in changed.items())
    what = what or ("any queue" if number > 0 else "as declared")
    return goal.graph.bake(profile, **{**goal.planning, **changed}, weights=weights), what


def _same(plan: Plan) -> str:
    values = plan.to_dict()
    for name in ("report", "unmerged"):
        values.pop(name)
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def found(payload: bytes, of: Weighed, numbers: Sequence[int]) -> list[Found]:
    """Plans of some numbers, modelled.

    Parameters
    ----------
    payload
        The pickled goal.
    of
        What plans are made for.
    numbers
        Which plans.
    """
    out = []
    for number in numbers:
        plan, what = plan_of(_goal(payload), of, number)
        out.append(Found(number, what, plan.frame_us, _same(plan)))
    return out


def _name(device: Device) -> str:
    return f"{device.info.name}, {device.info.driver}"


def weighed(payload: bytes) -> Weighed | str:
    """Measure the passes of a few frames on the worker's device; a text: why it has none.

    Parameters
    ----------
    payload
        The pickled goal.
    """
    goal = _goal(payload)
    try:
        device = device_of(goal.device, goal.validate)
    except DeviceError as error:
        if error.code not in NO_DEVICE:
            raise
        return str(error).splitlines()[0]
    with _alone(device):
        compiled = device.compile(goal.graph, **goal.planning)
        frames = [_run(compiled, goal, measure=False) for _ in range(_WEIGHING)]
        frames = [_run(compiled, goal, measure=True) for _ in range(_WEIGHING)]
        times: dict[str, list[float]] = {}
        for frame in frames:
            for name, us in frame.report.pass_us.items():
                times.setdefault(name, []).append(us)
    weights = {name: statistics.median(values) for name, values in sorted(times.items())}
    return Weighed(device.profile.to_json(), _name(device), weights, {})


def _run(compiled: Compiled, goal: Goal, *, measure: bool) -> Any:
    inputs, flags, params = dict(goal.inputs) or None, dict(goal.flags) or None, dict(goal.params) or None
    how: Any = "passes" if measure else "off"
    return compiled.run(inputs=inputs, flags=flags, params=params, read=[], measure=how)


@contextlib.contextmanager
def _alone(device: Device) -> Iterator[None]:
    """Within, no other worker of this machine measures on the device."""
    try:
        import fcntl
    except ImportError:  # no POSIX: workers of one device there disturb each other
        yield
        return
    user = os.getuid() if hasattr(os, "getuid") else 0
    path = Path(tempfile.gettempdir()) / f"rgraph-tune-{user}-{device.info.uuid}.lock"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def timed(payload: bytes, of: Weighed, number: int) -> Timed:
    """Measure frames of a plan and of the first one in turn, so that a clock that drifts hits both.

    Parameters
    ----------
    payload
        The pickled goal.
    of
        What plans are made for.
    number
        Which plan.
    """
    goal = _goal(payload)
    try:
        device = device_of(goal.device, goal.validate)
        if _name(device) != of.device:
            return Timed(refused=f"the worker has {_name(device)}")
        with _alone(device):
            both = [device.compile(plan_of(goal, of, one)[0]) for one in (0, number)]
            times: list[list[float]] = [[], []]
            for block in range(_BLOCKS + 1):
                for at, compiled in enumerate(both):
                    start = time.perf_counter()
                    for _ in range(_BLOCK):
                        frame = _run(compiled, goal, measure=False)
                    frame.wait()
                    # The first block of either warms it.
                    if block > 0:
                        times[at].append((time.perf_counter() - start) * 1e6 / _BLOCK)
    except DeviceError as error:
        # The next plan gets another device: this one may be lost.
        drop_device(goal.device, goal.validate)
        return Timed(refused=str(error).splitlines()[0])
    first, own = (statistics.median(values) for values in times)
    errors = [_TWO_ERRORS * statistics.stdev(values) / len(values) ** 0.5 for values in times]
    return Timed(own, first, (errors[0] ** 2 + errors[1] ** 2) ** 0.5, _BLOCKS * _BLOCK)
