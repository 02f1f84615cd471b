"""Devices, their memory, and what runs measured or compared, as named tuples."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "ChaosFinding",
    "ChaosReport",
    "ChaosTrial",
    "DeviceInfo",
    "DeviceMemory",
    "DomainMemory",
    "Exported",
    "HeapMemory",
    "Holder",
    "HostSpan",
    "PassSpan",
    "PassTimes",
    "ReplayDifference",
    "ReplayReport",
]


class DeviceInfo(NamedTuple):
    """A device as its driver describes it."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    """Position in the list of devices: real GPUs before CPU ones."""
    name: str
    """Its name."""
    kind: str
    """`"discrete"`, `"integrated"`, `"virtual"`, `"cpu"` or `"other"`."""
    uuid: str
    """Its UUID."""
    pci: str | None
    """Its place on the PCI bus, if the driver reports it."""
    driver: str
    """Name and version of its driver."""
    api: tuple[int, int, int]
    """Its version of Vulkan."""
    missing: tuple[str, ...]
    """Missing features; empty if it is usable."""
    heaps: tuple[tuple[int, bool], ...]
    """Bytes of each memory heap, and True for device memory."""
    driver_uuid: str
    """UUID of its driver: drivers with equal ones share memory and semaphores."""


class Exported(NamedTuple):
    """A block of memory or a semaphore that was exported: its descriptor, and plain data for the importer."""

    kind: str
    """`"memory"`, `"semaphore"`, or of a binary semaphore `"opaque_fd"` or `"sync_fd"`."""
    fd: int
    """The file descriptor, yours to close; of a `sync_fd` whose signal is over, -1."""
    size: int
    """Bytes of memory."""
    memory_type: int
    """Index of the memory type."""
    device_uuid: str
    """UUID of the device that exported it; only the same can import it, but for a `sync_fd`."""
    driver_uuid: str
    """UUID of its driver."""


class Holder(NamedTuple):
    """Another user that has a shared resource."""

    name: str
    """Its name."""
    until: int | None
    """Value of the semaphore at which it is done; None: `DeviceResource.acquire` takes the resource back."""


class DomainMemory(NamedTuple):
    """Memory of one kind that a device holds."""

    domain: str
    """`"device"`, `"host"`, `"cached host"`, `"device-local host"` or `"lazily allocated"`: what the memory is."""
    held: int
    """Bytes held."""
    live: int
    """Bytes of them in use."""
    blocks: int
    """Number of allocations."""


class HeapMemory(NamedTuple):
    """One of the driver's heaps."""

    size: int
    """Bytes."""
    device_local: bool
    """True for device memory."""
    used: int | None
    """Bytes used by this process, if the driver reports it."""
    budget: int | None
    """Budget of this process in bytes, if the driver reports it."""


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
    """Bytes by owner, the largest first: those in use, and staging blocks that wait to be used again."""


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
    """Number of passes timed together; above 1 the span is this pass's share of their time."""


class PassTimes(NamedTuple):
    """What a pass took in many frames, in microseconds."""

    name: str
    """The pass."""
    queue: str | None
    """Its queue; None: the host."""
    min_us: float
    """Least."""
    median_us: float
    """Median."""
    p99_us: float
    """99th percentile, by nearest rank."""
    max_us: float
    """Largest."""
    group: int
    """How many passes were timed as one at most; above 1 the times are shares."""


class HostSpan(NamedTuple):
    """A span of host work for a frame, in microseconds; `Report.calibrated` gives its origin."""

    name: str
    """`"wait"`, `"upload"`, `"record"`, `"submit"`, or the name of a CPU pass."""
    begin_us: float
    """Its begin; negative: before the frame's first timestamp."""
    end_us: float
    """Its end."""


class ChaosFinding(NamedTuple):
    """An undeclared dependency of results."""

    change: str
    """What shows it: `"again"`, `"poison"`, `"culling"`, `"order"`, `"merging"`, `"queues"`, `"aliasing"`, `"plan"` or
    `"plan on three queues"`."""
    seed: int
    """The seed that reveals it."""
    pass_name: str | None
    """The pass with a different result."""
    other: str | None
    """The pass that it depends on, if there is one."""
    resource: str | None
    """The resource with the difference."""
    message: str
    """The whole message, with places and a fix."""
    hint: str
    """The fix alone."""

    def __str__(self) -> str:
        return self.message


class ChaosTrial(NamedTuple):
    """One permitted variation of a run."""

    seed: int
    """Its seed."""
    change: str
    """The change."""
    differs: str | None
    """The first resource with a difference."""
    skipped: str | None
    """The reason if it could not run on this device."""


class ChaosReport(NamedTuple):
    """Trials and findings of `Device.chaos`."""

    findings: tuple[ChaosFinding, ...]
    """The undeclared dependency, if one was found."""
    trials: tuple[ChaosTrial, ...]
    """The trials in order, up to the first seed with a finding."""
    frames: int
    """Total number of frames."""
    notes: tuple[str, ...]
    """Variations that could not be tried."""
    text: str
    """The report as text."""

    def __str__(self) -> str:
        return self.text


class ReplayDifference(NamedTuple):
    """Bytes that a replay left differently from the capture."""

    frame: int | None
    """Number of the frame, from 0 on; None: contents that outlive the last frame."""
    resource: str
    """The image or buffer."""
    bytes: int
    """Number of bytes that differ."""
    of: int
    """Number of bytes that were compared."""
    first: int
    """The first byte that differs."""


class ReplayReport(NamedTuple):
    """Frames and differences of `Device.replay`."""

    equal: bool
    """Whether all bytes are those of the capture."""
    differences: tuple[ReplayDifference, ...]
    """Where they are not."""
    graphs: tuple[str, ...]
    """The graph of each frame."""
    same_driver: bool
    """Whether device, driver and version are those of the capture."""
    device: str
    """The device of the capture."""
    driver: str
    """Its driver and version."""
    notes: tuple[str, ...]
    """Why captured plans were not taken."""
    text: str
    """The report as text."""

    def __str__(self) -> str:
        return self.text
