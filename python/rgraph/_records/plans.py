"""Parts of plans and what the checker finds in them, as named tuples."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = [
    "Barrier",
    "Batch",
    "CopyPrice",
    "DevicesCopy",
    "DevicesPart",
    "Finding",
    "Memory",
    "PassSet",
    "Placement",
    "PlanCopy",
    "PlannedPass",
    "PlannedQueue",
    "Redundant",
    "Subgraph",
    "Tried",
    "Wait",
]


class PlannedQueue(NamedTuple):
    """A queue that a plan uses."""

    name: str
    """Its name in the profile."""
    family: int
    """Its queue family, the owner of exclusive resources."""


class PlannedPass(NamedTuple):
    """A pass that runs."""

    name: str
    """Its name; the planner names inserted passes."""
    queue: str | None
    """Name of its queue; None: the host."""
    declared: int | None
    """Position in the declaration; None: inserted by the planner."""
    physical_pass: int | None
    """Its render pass; passes with the same number are merged."""
    start_us: float
    """Modelled start in microseconds."""
    duration_us: float
    """Modelled duration in microseconds."""
    owner: int | None
    """For an inserted mip level the declared position of the pass that generates it, else None."""


class Tried(NamedTuple):
    """A proposal of a hook and its result: see `propose=` of `Graph.bake`."""

    frame_us: float | None
    """Modelled time of its frame in microseconds; None: it is not permitted."""
    kept: bool
    """Whether its plan was the best so far."""
    refused: str
    """Why it is not permitted; empty if it is."""


class Wait(NamedTuple):
    """A wait for a value of another queue's timeline semaphore."""

    queue: str | None
    """Name of the queue waited for; None: the host."""
    value: int
    """The timeline value; values count from 1 in each run."""
    stages: tuple[str, ...]
    """The stages that wait."""
    previous_run: bool
    """True if the value is that of the previous run."""


class Batch(NamedTuple):
    """One submit to one queue, or one piece of host work."""

    queue: str | None
    """Name of the queue; None: the host."""
    waits: tuple[Wait, ...]
    """Its waits."""
    passes: tuple[str, ...]
    """Names of its passes, in order."""
    barriers: int
    """Number of its barrier calls, events included."""
    signal: int | None
    """The value of its queue's semaphore once it is done; None if nothing waits for it."""


class Barrier(NamedTuple):
    """One dependency of a barrier call."""

    batch: int
    """Position of its batch in `Plan.batches`."""
    call: int
    """Number of its call in the plan: dependencies of one call share it."""
    op: str
    """`"barriers"`, `"set_event"` or `"wait_events"`."""
    resource: str | None
    """The image or buffer; None: all memory."""
    src_stages: tuple[str, ...]
    """Stages waited for."""
    src_access: tuple[str, ...]
    """Writes made available."""
    dst_stages: tuple[str, ...]
    """Stages that wait."""
    dst_access: tuple[str, ...]
    """Accesses that the writes are made visible to."""
    old_layout: str | None
    """Layout before; None for memory and buffers."""
    new_layout: str | None
    """Layout after."""
    families: tuple[int, int] | None
    """Queue families of an ownership transfer: source and target."""
    before: str | None
    """The next pass of its batch, if there is one."""


class Placement(NamedTuple):
    """Heap, offset and size of a resource."""

    resource: str
    """Its name."""
    heap: int
    """Number of its heap."""
    offset: int
    """First byte."""
    size: int
    """Bytes."""


class Memory(NamedTuple):
    """Memory of transients and roots."""

    total: int
    """Bytes of the placements."""
    without_aliasing: int
    """Bytes without aliasing."""
    lower_bound: int
    """Most bytes alive at once in the plan's own order: no placement can need less."""
    placements: tuple[Placement, ...]
    """The placements of the resources."""


class Subgraph(NamedTuple):
    """A part of the graph that shares nothing with the rest."""

    key: int
    """Equal for equal parts of equal graphs."""
    passes: tuple[str, ...]
    """Names of its passes."""
    roots: tuple[str, ...]
    """Names of its roots."""


class PassSet(NamedTuple):
    """Passes of a plan that may run at once."""

    on: Literal["cpu", "gpu"]
    """The side that they run on."""
    passes: tuple[str, ...]
    """Names of the passes."""


class CopyPrice(NamedTuple):
    """What a copy between devices costs."""

    us: float
    """Microseconds of any copy."""
    gb_s: float
    """Gigabytes per second of a large one."""
    direct: bool
    """Whether no CPU copies."""
    way: Literal["cuda", "host", "staged"]
    """CUDA copies from GPU to GPU; through memory of the host that both devices import; or a CPU copies between two
    staging memories. Of several pairs the slowest way."""


class DevicesPart(NamedTuple):
    """Passes of a plan for several devices that one device runs as one graph."""

    device: int
    """The device, from 0."""
    passes: tuple[str, ...]
    """Names of the passes, in the order in which they run."""


class DevicesCopy(NamedTuple):
    """Contents that one device makes and another one needs."""

    resource: str | None
    """Name of the memory; None: nothing is copied, the receiver only comes later."""
    source: int
    """The device that has them."""
    target: int
    """The device that gets them."""
    bytes: int
    """Bytes per frame."""


class PlanCopy(NamedTuple):
    """A pass of a plan that only moves bytes."""

    pass_name: str
    """Name of the pass."""
    source: str
    """Name of the resource that it reads."""
    target: str
    """Name of the resource that it writes."""


class Finding(NamedTuple):
    """A rule that a plan breaks."""

    rule: str
    """The rule's name."""
    pass_name: str | None
    """The pass, if the rule is about one."""
    resource: str | None
    """The resource, if the rule is about one."""
    message: str
    """One sentence: both sides, and the missing synchronization."""

    def __str__(self) -> str:
        return f"{self.rule}: {self.message}"


class Redundant(NamedTuple):
    """A part of a plan's synchronization whose removal alone keeps the plan right."""

    batch: int
    """Position of the batch."""
    command: int | None
    """Position of the command in the batch; None for a wait."""
    kind: str
    """`wait`, `memory`, `buffer` or `image`."""
    position: int
    """Position among the waits of the batch, or among the command's barriers of that kind."""
    part: str
    """`entry` for all of it, else `source_stage`, `source_access`, `destination_stage` or `destination_access`."""
    word: str | None
    """The stage or access; None for the entry."""
    pass_name: str | None
    """The pass that needs it, if there is one."""
    resource: str | None
    """The resource that it names or protects."""
    message: str
    """One sentence with its place."""

    def __str__(self) -> str:
        return self.message
