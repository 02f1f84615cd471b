"""Parts of plans, reports and shaders: named tuples, made by the compiled module."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = [
    "Barrier",
    "Batch",
    "ChaosFinding",
    "ChaosReport",
    "ChaosTrial",
    "CopyPrice",
    "DeviceInfo",
    "DeviceMemory",
    "DevicesCopy",
    "DevicesPart",
    "DomainMemory",
    "Exported",
    "Finding",
    "HeapMemory",
    "Holder",
    "HostSpan",
    "Memory",
    "PassSpan",
    "PassTimes",
    "Placement",
    "PlannedPass",
    "PlannedQueue",
    "Redundant",
    "ReplayDifference",
    "ReplayReport",
    "ShaderBinding",
    "ShaderConstant",
    "ShaderMember",
    "ShaderPush",
    "ShaderReflection",
    "ShaderStage",
    "ShaderVarying",
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
    """A proposal of a hook, judged: see `propose=` of `Graph.bake`."""

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
    """Whether it goes through memory that both devices import; else a CPU copies between two staging memories."""


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
    """Another user who has a shared resource."""

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
    """Bytes by owner, the largest first."""


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


class ShaderMember(NamedTuple):
    """A member of a block of a shader."""

    name: str
    """Its name."""
    type: str
    """Its type as WGSL spells it: `f32`, `vec3<f32>`, `mat4x4<f32>`, `array<Light, 4>`, the name of a struct."""
    offset: int
    """First byte within the block."""
    size: int | None
    """Bytes; None: an array of open length, which takes the rest of the buffer."""
    stride: int | None
    """Of arrays: bytes from element to element; of matrices: from column to column, or from row to row."""
    members: tuple[ShaderMember, ...]
    """Members of a struct, or of the elements of an array; offsets count from its own first byte."""


class ShaderBinding(NamedTuple):
    """A resource or sampler that a shader uses."""

    name: str
    """The variable's name; of a block without instance name, the block's: the keyword that binds it."""
    place: tuple[int, int]
    """Group (descriptor set) and binding."""
    kind: str
    """`uniform`, `storage`, `sampled`, `combined` (an image with its sampler), `image` (storage), `texels` (a buffer of
    texels), `sampler` or `input_attachment`."""
    type: str
    """Of buffers, the type of their data; of others, what may be bound."""
    length: int | None
    """Number of resources: 1, or the length of an array; None: an array of open length."""
    reads: bool
    """Whether any stage reads it."""
    writes: bool
    """Whether any stage writes it. Atomic operations read and write."""
    stages: tuple[str, ...]
    """The stages that use it."""
    size: int | None
    """Bytes of a buffer's data, without a last array of open length."""
    members: tuple[ShaderMember, ...]
    """Members of a buffer's block."""
    sample: str | None
    """Of images, what a texel reads as: `float`, `int`, `uint` or `depth`."""
    format: str | None
    """Of storage images and storage texel buffers, the format that the shader names."""


class ShaderVarying(NamedTuple):
    """A value that enters or leaves a stage."""

    name: str
    """Its name."""
    location: int
    """Its location: of outputs of a fragment stage, the position of the colour target."""
    type: str
    """Its type as WGSL spells it."""


class ShaderStage(NamedTuple):
    """A stage of a shader."""

    stage: str
    """`compute`, `vertex` or `fragment`."""
    entry: str
    """Name of its entry point."""
    inputs: tuple[ShaderVarying, ...]
    """Values that it reads of vertices or of the stage before, by location."""
    outputs: tuple[ShaderVarying, ...]
    """Values that it writes, by location."""


class ShaderPush(NamedTuple):
    """Push data of a shader, over all stages."""

    name: str
    """The variable's name."""
    type: str
    """Its type as WGSL spells it."""
    size: int
    """Bytes, a multiple of 4."""
    members: tuple[ShaderMember, ...]
    """Members of the block."""


class ShaderConstant(NamedTuple):
    """A constant of a shader that takes its value when the pipeline is made."""

    name: str
    """Its name, or its number as text where it has none."""
    id: int | None
    """Its number: `constant_id` of GLSL, `SpecId` of SPIR-V, `@id` of WGSL."""
    type: str
    """Its type, as `u32` or `bool`."""
    default: bool | int | float | None
    """Its value where none is given; None: it has none, or it is computed from other constants."""
    required: bool
    """Whether it has no value unless one is given."""


class ShaderReflection(NamedTuple):
    """What a shader asks for: see `reflect`."""

    stages: tuple[ShaderStage, ...]
    """Its stages, in the order of a pipeline."""
    bindings: tuple[ShaderBinding, ...]
    """What it binds, by group and binding."""
    push: ShaderPush | None
    """Its push data."""
    vertex_inputs: tuple[ShaderVarying, ...]
    """Attributes of vertices, by location."""
    outputs: tuple[ShaderVarying, ...]
    """Colour outputs, by location."""
    workgroup: tuple[int, int, int] | None
    """Invocations of a workgroup in x, y, z, of compute shaders."""
    writes_depth: bool
    """Whether its fragment stage writes the depth itself."""
    unused: tuple[str, ...]
    """Variables that it declares and does not use: they take anything."""
    constants: tuple[ShaderConstant, ...]
    """Constants that `constants=` of a pass gives values: WGSL's `override`, specialization constants."""
