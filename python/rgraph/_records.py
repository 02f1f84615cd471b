"""Parts of a plan: named tuples, made by the compiled module."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "Barrier",
    "Batch",
    "ChaosFinding",
    "ChaosReport",
    "ChaosTrial",
    "DeviceInfo",
    "DeviceMemory",
    "DomainMemory",
    "Finding",
    "HeapMemory",
    "HostSpan",
    "Memory",
    "PassSpan",
    "Placement",
    "PlannedPass",
    "PlannedQueue",
    "Redundant",
    "Subgraph",
    "Wait",
]


class PlannedQueue(NamedTuple):
    """A queue that a plan uses."""

    name: str
    """Its name in the profile."""
    family: int
    """Its family: ownership of resources is a family's."""


class PlannedPass(NamedTuple):
    """A pass that runs."""

    name: str
    """Its name; inserted passes have names of the planner's."""
    queue: str | None
    """Name of its queue; None: the host."""
    declared: int | None
    """Position in the declaration; None: inserted by the planner."""
    physical_pass: int | None
    """The render pass that it is part of; passes of one number were merged."""
    start_us: float
    """Modelled start in microseconds."""
    duration_us: float
    """Modelled duration in microseconds."""
    owner: int | None
    """Of an inserted mip level: position in the declaration of the pass that generates it; otherwise None."""


class Wait(NamedTuple):
    """A wait for a value of another queue's timeline semaphore."""

    queue: str | None
    """Name of the queue waited for; None: the host."""
    value: int
    """The value waited for; it counts from 1 in each run."""
    stages: tuple[str, ...]
    """The stages that wait."""
    previous_run: bool
    """Whether the value is that of the run before."""


class Batch(NamedTuple):
    """One submit to one queue, or one piece of work of the host."""

    queue: str | None
    """Name of the queue; None: the host."""
    waits: tuple[Wait, ...]
    """What it waits for."""
    passes: tuple[str, ...]
    """Names of its passes, in order."""
    barriers: int
    """Number of barrier calls in it, events included."""
    signal: int | None
    """The value that its queue's semaphore has when it is done, if anybody waits for that."""


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
    """Queue families between which ownership passes."""
    before: str | None
    """The pass that it stands before, if one follows in its batch."""


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
    """Where transients and roots are in memory."""

    total: int
    """Bytes that the placements need."""
    without_aliasing: int
    """Bytes that they would need if none shared any."""
    lower_bound: int
    """Most bytes alive at once in the plan's own order: no placement can need less."""
    placements: tuple[Placement, ...]
    """Each resource's place."""


class Subgraph(NamedTuple):
    """A part of the graph that shares nothing with the rest."""

    key: int
    """Equal for equal parts of equal graphs."""
    passes: tuple[str, ...]
    """Names of its passes."""
    roots: tuple[str, ...]
    """Names of its roots."""


class Finding(NamedTuple):
    """A rule that a plan breaks."""

    rule: str
    """The rule's name."""
    pass_name: str | None
    """The pass at which it shows, if one is meant."""
    resource: str | None
    """The resource, if one is meant."""
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
    """The pass that it is for, if one is meant."""
    resource: str | None
    """The resource that it names, or is for."""
    message: str
    """One sentence with its place."""

    def __str__(self) -> str:
        return self.message


class DeviceInfo(NamedTuple):
    """A device as it presents itself."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    """Position in the list of devices: real GPUs before CPU ones."""
    name: str
    """Its name."""
    kind: str
    """`"discrete"`, `"integrated"`, `"virtual"`, `"cpu"` or `"other"`."""
    uuid: str
    """Its UUID."""
    pci: str | None
    """Its place on the PCI bus, where the driver tells."""
    driver: str
    """Name and version of its driver."""
    api: tuple[int, int, int]
    """Its version of Vulkan."""
    missing: tuple[str, ...]
    """What it lacks to be used here."""
    heaps: tuple[tuple[int, bool], ...]
    """Bytes of each memory heap, and whether it is the device's own."""


class DomainMemory(NamedTuple):
    """Memory of one kind that a device holds."""

    domain: str
    """`"device"`, `"host"`, `"cached host"` or `"linked device-host"`."""
    held: int
    """Bytes held."""
    live: int
    """Bytes of them in use."""
    blocks: int
    """In how many pieces."""


class HeapMemory(NamedTuple):
    """One of the driver's heaps."""

    size: int
    """Bytes."""
    device_local: bool
    """Whether it is the device's own."""
    used: int | None
    """Bytes that this process uses of it, where the driver tells."""
    budget: int | None
    """Bytes that this process should stay below, where the driver tells."""


class DeviceMemory(NamedTuple):
    """Memory that a device holds."""

    held: int
    """Bytes held."""
    live: int
    """Bytes of them in use."""
    domains: tuple[DomainMemory, ...]
    """By kind of memory."""
    heaps: tuple[HeapMemory, ...]
    """The driver's heaps."""
    owners: dict[str, int]
    """Bytes by who wanted them, the largest first."""


class PassSpan(NamedTuple):
    """When a pass ran on the GPU, in microseconds from the frame's first timestamp on."""

    name: str
    """The pass."""
    queue: str
    """Name of its queue."""
    begin_us: float
    """Its begin."""
    end_us: float
    """Its end."""
    group: int = 1
    """How many passes were timed as one, this one among them; above 1 the span is its share of their time."""


class HostSpan(NamedTuple):
    """Something that the host did for a frame, in microseconds; `Report.calibrated` says from when on."""

    name: str
    """`"wait"`, `"upload"`, `"record"`, `"submit"`, or the name of a CPU pass."""
    begin_us: float
    """Its begin; negative: before the frame's first timestamp."""
    end_us: float
    """Its end."""


class ChaosFinding(NamedTuple):
    """Something that results depend on and nothing declares."""

    change: str
    """What shows it: `"again"`, `"poison"`, `"culling"`, `"order"`, `"merging"`, `"queues"`, `"aliasing"`, `"plan"` or
    `"plan on three queues"`."""
    seed: int
    """The seed that shows it."""
    pass_name: str | None
    """The pass that computes something else."""
    other: str | None
    """The pass that it depends on, where there is one."""
    resource: str | None
    """The resource through which it shows."""
    message: str
    """All of it, with places and a repair."""
    hint: str
    """The repair alone."""

    def __str__(self) -> str:
        return self.message


class ChaosTrial(NamedTuple):
    """One permitted way in which a graph was run."""

    seed: int
    """Its seed."""
    change: str
    """What it changed."""
    differs: str | None
    """The first resource that came out otherwise."""
    skipped: str | None
    """Why it could not run on this device."""


class ChaosReport(NamedTuple):
    """What `Device.chaos` tried and found."""

    findings: tuple[ChaosFinding, ...]
    """What the graph does not declare."""
    trials: tuple[ChaosTrial, ...]
    """What was tried, in its order; it ends with the first seed that finds something."""
    frames: int
    """Frames that ran in all."""
    notes: tuple[str, ...]
    """What could not be tried."""
    text: str
    """All of it for people."""

    def __str__(self) -> str:
        return self.text
