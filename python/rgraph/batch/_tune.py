"""Faster plans of one graph, searched by many workers and measured by those that have the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rgraph._adapt import Trial, Trials
from rgraph._core import Profile
from rgraph._errors import BatchError
from rgraph._keywords import suggests_keywords
from rgraph.batch._calls import Call, Workers, answers, opened
from rgraph.batch._processes import dumps
from rgraph.batch._search import Found, Goal, Timed, Weighed, found, plan_of, timed, weighed
from rgraph.batch._tasks import refuse
from rgraph.batch._work import forget

if TYPE_CHECKING:
    import os

    from rgraph import Graph
    from rgraph._records import Tried

__all__ = ["tune", "tuned"]

#: Plans that a call searches.
_CHUNK = 2
_OPENED = ("async_compute", "transfer", "compute")


def _profile(of: Profile | str | os.PathLike[str]) -> Profile:
    """A profile, by itself, by the name of a built-in one, or by its file."""
    if isinstance(of, Profile):
        return of
    known: Callable[[], Profile] | None = {
        "discrete": Profile.discrete,
        "minimal": Profile.minimal,
        "single_queue": Profile.single_queue,
    }.get(str(of))
    return Profile.load(of) if known is None else known()


def _declared(goal: Goal, of: Weighed) -> dict[str, float]:
    """Microseconds by pass as declared, or as the planner guesses."""
    out: dict[str, float] = {}

    def look(problem: dict[str, Any], tried: list[Tried]) -> None:
        del tried
        out.update({one["name"]: one["weight_us"] for one in problem["passes"] if one["queues"]})

    goal.graph.bake(Profile.from_json(of.profile), propose=look)
    return out


def _weighed(on: Workers, payload: Any) -> Weighed:
    """What a worker measured, of those that have a device the first one that answers."""
    call = Call(weighed, (payload,), "measured the passes", "run the graph once to see what ends the process")
    reasons: dict[str, None] = {}
    for answer in answers(on, (call for _ in range(2 * on.workers)), retries=2):
        if isinstance(answer, Weighed):
            return answer
        reasons[answer] = None
    hint = 'give profile="discrete", or a profile file, to search by the model alone'
    lines = ["RG-E603 no worker has a device for this graph", *reasons, f"help: {hint}"]
    raise BatchError("\n  ".join(lines), "RG-E603", hint, [*reasons])


def _searched(on: Workers, payload: Any, of: Weighed, plans: int, step: Callable[[int], object]) -> list[Found]:
    """All plans, by number."""

    def calls() -> Iterator[Call]:
        for first in range(0, plans, _CHUNK):
            numbers = list(range(first, min(first + _CHUNK, plans)))
            hint = "rgraph tune without workers searches in its own process"
            yield Call(found, (payload, of, numbers), f"searched plans {numbers[0]} to {numbers[-1]}", hint)

    out: list[Found] = []
    for some in answers(on, calls()):
        out += some
        step(len(some))
    return out


def _timed(on: Workers, payload: Any, of: Weighed, chosen: list[Found], step: Callable[[int], object]) -> list[Timed]:
    """Frames of some plans, in their order."""

    def calls() -> Iterator[Call]:
        for one in chosen:
            hint = "run that plan alone to see what ends the process"
            yield Call(timed, (payload, of, one.number), f'measured plan {one.number} ("{one.what}")', hint)

    out: list[Timed] = []
    for answer in answers(on, calls()):
        out.append(answer)
        step(1)
    return out


def _chosen(all_found: list[Found], trials: int) -> list[Found]:
    """The plans that differ from the first one and from each other, the shortest modelled frames first."""
    seen = {all_found[0].same}
    out: list[Found] = []
    for one in sorted(all_found[1:], key=lambda each: (each.frame_us, each.number)):
        if one.same not in seen and len(out) < trials:
            seen.add(one.same)
            out.append(one)
    return out


def _decided(first: Found, chosen: list[Found], times: list[Timed] | None, margin: float) -> tuple[int, list[Trial]]:
    """The number of the plan that is kept, and what became of each."""
    kept, best, trials = first.number, 1.0, []
    for at, one in enumerate(chosen):
        time = None if times is None else times[at]
        if time is None:
            part, noise, why = one.frame_us / max(first.frame_us, 1e-9), 0.0, "the model"
        elif time.refused:
            trials.append(Trial(1, one.what, one.frame_us, None, None, 0.0, 0, False, time.refused))
            continue
        else:
            part, noise, why = time.us / time.first_us, time.noise_us / time.first_us, "measured"
        keep = part < best - margin - noise
        if keep:
            kept, best = one.number, part
        word = f"{abs(1.0 - part) * 100.0:.1f} % {'shorter' if part < 1.0 else 'longer'} than the first plan: {why}"
        us, first_us, frames = (None, None, 0) if time is None else (time.us, time.first_us, time.frames)
        noise_us = 0.0 if time is None else time.noise_us
        trials.append(Trial(1, one.what, one.frame_us, us, first_us, noise_us, frames, keep, word))
    return kept, trials


def tuned(
    graph: Graph,
    workers: Workers,
    *,
    plans: int,
    trials: int,
    queues: bool,
    step: Callable[[int], object],
    margin: float = 0.01,
    profile: Profile | str | os.PathLike[str] | None = None,
    weights: Mapping[str, float] | None = None,
    planning: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    flags: Mapping[str, bool] | None = None,
    params: Mapping[Any, Any] | None = None,
    device: str | int | None = None,
    validate: bool | None = None,
) -> tuple[Trials, str | None]:
    """What `tune` does, with workers that are there.

    Parameters
    ----------
    graph, plans, trials, queues, margin, profile, weights, planning, inputs, flags, params, device, validate
        As of `tune`.
    workers
        The workers.
    step
        Called with the number of plans that were searched or measured.

    Returns
    -------
    tuple
        The trials, and the device that measured, None if none did.
    """
    for name, value in (("plans", plans), ("trials", trials)):
        if value < 1:
            raise refuse("RG-E213", f"{name}: {value} is out of range", f"give {name}=1 or more")
    if not 0.0 <= margin < 1.0:
        raise refuse("RG-E213", f"margin: {margin} is out of range", "give margin=0 or more, below 1")
    goal = Goal(
        graph, dict(planning or {}), device, validate, dict(inputs or {}), dict(flags or {}), dict(params or {})
    )
    opened_queues = {one.name: "any" for one in graph.passes if one.queue in _OPENED} if queues else {}
    shared = workers.share(dumps(goal))
    try:
        of = _weighed(workers, shared) if profile is None else Weighed(_profile(profile).to_json(), None, {}, {})
        of = of._replace(weights=dict(weights or of.weights or _declared(goal, of)), queues=opened_queues)
        all_found = _searched(workers, shared, of, plans, step)
        chosen = _chosen(all_found, trials)
        times = None if of.device is None else _timed(workers, shared, of, chosen, step)
    finally:
        forget("")
    kept, tried = _decided(all_found[0], chosen, times, margin)
    plan = plan_of(goal, of, kept)[0]
    phase = "modelled" if times is None else "settled"
    return Trials(phase, tried, of.weights, of.queues if kept > 0 else {}, plan), of.device


@suggests_keywords
def tune(
    graph: Graph,
    *,
    on: Any = None,
    plans: int = 64,
    trials: int = 12,
    queues: bool = False,
    margin: float = 0.01,
    profile: Profile | str | os.PathLike[str] | None = None,
    weights: Mapping[str, float] | None = None,
    planning: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    flags: Mapping[str, bool] | None = None,
    params: Mapping[Any, Any] | None = None,
    device: str | int | None = None,
    validate: bool | None = None,
    progress: Callable[[int, int], object] | None = None,
    patience: float = 30.0,
) -> Trials:
    """Search faster plans of a graph on many workers, and measure the best of them where there are devices.

    One worker measures the passes. With these durations the workers bake `plans` plans: the caller's own, other
    policies and efforts, and hill climbs, each of which changes orders and queues at random and keeps the changes that
    make the modelled frame shorter. A plan depends on its number, the durations and the profile, not on its worker.
    The best `trials` of them are measured, each in turn with the first plan on one worker; workers that share a device
    take turns. Plans are compared in the order of their modelled frames, so equal measurements keep the same plan. A
    call whose worker is lost runs again.

    Parameters
    ----------
    graph
        The graph; it must not call functions, unless `on` is a `ThreadPoolExecutor` or None.
    on
        Where, as of `run`.
    plans
        Plans that are searched.
    trials
        Most plans that are measured.
    queues
        Whether passes may leave queues that they name.
    margin
        The part of a frame that a plan must save to be kept, in addition to the noise.
    profile
        The device: no worker opens one, and the modelled frame decides. Default: the device of the workers, which
        measure.
    weights
        Microseconds by pass; default: measured, or where nothing measures, declared or guessed by the planner.
    planning
        Options of `Graph.bake`: `{"memory": "least"}`.
    inputs, flags, params
        What the measured frames get: see `Device.run`.
    device, validate
        As of `Device`; default: the environment of each worker.
    progress
        A function of (done, total): plans searched and measured.
    patience
        Seconds that a scheduler of Dask may be silent or without workers.

    Returns
    -------
    Trials
        A table when it is printed; `Trials.plan` is the plan that is kept.

    Raises
    ------
    GraphError
        If anything is wrong with the declaration, or the graph cannot travel.
    BatchError
        RG-E602 if a call loses each worker that runs it, RG-E603 if no worker or no device is there.

    Examples
    --------
    >>> import rgraph
    >>> from rgraph import batch
    >>> g = rgraph.Graph()
    >>> for name in ("a", "b"):
    ...     image = g.image(name, format="r8unorm")
    ...     _ = g.add_pass(f"draw {name}", weight_us=10).color(image)
    ...     g.root(image)
    >>> batch.tune(g, profile="discrete", plans=8).phase
    'modelled'
    """
    done = 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, plans + (0 if profile is not None else trials))

    with opened(on, patience) as workers:
        return tuned(
            graph,
            workers,
            plans=plans,
            trials=trials,
            queues=queues,
            margin=margin,
            profile=profile,
            weights=weights,
            planning=planning,
            inputs=inputs,
            flags=flags,
            params=params,
            device=device,
            validate=validate,
            step=step,
        )[0]
