# The compiled part of rgraph. Signatures are kept by hand; `make lint` compares them with the build. Docstrings are those of
# the build: `python tests/stub_docs.py` writes them.
# ruff: noqa: E501
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, Self, SupportsIndex, TypeAlias, final, overload

from typing_extensions import Buffer as CBuffer
from typing_extensions import disjoint_base

from rgraph._adapt import Adapt, Trials
from rgraph._errors import GraphError as _GraphError
from rgraph._layers import Layer
from rgraph._live import LiveView
from rgraph._records import (
    Barrier,
    Batch,
    ChaosReport,
    CopyPrice,
    DeviceInfo,
    DeviceMemory,
    DevicesCopy,
    DevicesPart,
    Exported,
    Finding,
    Holder,
    HostSpan,
    Memory,
    PassSet,
    PassSpan,
    PassTimes,
    PlanCopy,
    PlannedPass,
    PlannedQueue,
    Redundant,
    ReplayReport,
    ShaderReflection,
    Subgraph,
    Tried,
)

class _Arrayed(Protocol):
    """An array of numpy's, which type checkers take for a buffer from Python 3.12 on only."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class _Tensor(Protocol):
    """A tensor of CUDA, for what `rgraph.cuda` imports."""

    def __dlpack_device__(self) -> tuple[Any, Any]: ...

class _Converted(Protocol):
    """What numpy makes an array of: tensors, series."""

    def __array__(self, *args: Any, **options: Any) -> Any: ...

class _Exported(Protocol):
    """What numpy reads through DLPack."""

    def __dlpack__(self, *args: Any, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...

_Memory: TypeAlias = CBuffer | _Arrayed | _Converted | _Exported
#: What `numpy.dtype` takes: a name, a scalar type, a dtype, or fields.
_Dtype: TypeAlias = str | type | Mapping[str, Any] | Sequence[Any] | Any
_FirstFrame: TypeAlias = Literal["zero", "undefined"] | _Memory
#: (width, height) or (width, height, depth), or a dict as in a graph file; also for one axis.
_Size: TypeAlias = Sequence[SupportsIndex | Mapping[str, Any]] | Mapping[str, Any]
_Words: TypeAlias = str | Sequence[str]
_Levels: TypeAlias = int | tuple[int, int]
#: (red, green, blue, alpha), also as a list or an array.
_Color: TypeAlias = Sequence[float] | _Arrayed
_Shader: TypeAlias = str | bytes | PathLike[str]
_Hit: TypeAlias = _Shader | Mapping[str, _Shader] | None
_Part: TypeAlias = Resource | View | str
_Uses: TypeAlias = _Part | Sequence[_Part] | Mapping[Any, str]
_Data: TypeAlias = Mapping[str, Any] | Sequence[Any] | float | _Memory
_Weights: TypeAlias = Report | Mapping[Any, Any] | str | PathLike[str]
_Measure: TypeAlias = Literal["off", "frame", "batches", "passes"]
_PresentMode: TypeAlias = Literal["fifo", "fifo_relaxed", "mailbox", "immediate"]
_Waits: TypeAlias = Sequence[
    tuple["Semaphore", int]
    | tuple["Semaphore", int, Resource | str | Sequence[str] | None]
    | tuple["BinarySemaphore", None]
    | tuple["BinarySemaphore", None, Resource | str | Sequence[str] | None]
    | tuple[int, int | None]
    | tuple[int, int | None, Resource | str | Sequence[str] | None]
]
_Signals: TypeAlias = Sequence[
    tuple["Semaphore", int]
    | tuple["Semaphore", int, Resource | str | None]
    | tuple["BinarySemaphore", None]
    | tuple["BinarySemaphore", None, Resource | str | None]
    | tuple[int, int | None]
    | tuple[int, int | None, Resource | str | None]
]
_Blend: TypeAlias = str | Mapping[str, Sequence[str]]
#: Arguments that a function gives at each run.
_Numbers: TypeAlias = Callable[[], Sequence[float] | _Memory]
_Word: TypeAlias = Callable[[], str]
_Depth: TypeAlias = Callable[[], float | tuple[float, int]]

_Queue: TypeAlias = Literal["graphics", "compute", "async_compute", "transfer", "cpu", "any"]
_Policy: TypeAlias = Literal["auto", "declared", "overlap", "weighted", "exact", "box_tree"]
_Drawing: TypeAlias = Literal["plan", "timeline", "resources", "memory", "matrix"]
_Stage: TypeAlias = Literal["resolve", "cull", "depend", "order", "merge", "queues", "alias", "barriers"]
_Split: TypeAlias = Literal["never", "distance", "always"]
_Load: TypeAlias = Literal["load", "clear", "discard"]
_Filter: TypeAlias = Literal["linear", "nearest"]
_Address: TypeAlias = Literal["clamp", "repeat", "mirror", "border"]
_Border: TypeAlias = Literal["transparent", "black", "white"]
_Compare: TypeAlias = Literal["never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always"]
_Topology: TypeAlias = Literal["points", "lines", "line_strip", "triangles", "triangle_strip"]
_Cull: TypeAlias = Literal["none", "front", "back"]
_Front: TypeAlias = Literal["ccw", "cw"]
_Sharing: TypeAlias = Literal["exclusive", "concurrent"]
_MemoryDomain: TypeAlias = Literal["device", "host", "cached_host", "device_local_host"]
_Contents: TypeAlias = Literal["defined", "undefined"]
_Round: TypeAlias = Literal["down", "up"]
_Resolve: TypeAlias = Literal["average", "sample_zero", "min", "max"]
_Index: TypeAlias = Literal["uint32", "uint16"]
_Callbacks: TypeAlias = Literal["refuse", "skip"]
_Format: TypeAlias = Literal[
    "r8unorm",
    "r8snorm",
    "r8uint",
    "r8sint",
    "r16unorm",
    "r16snorm",
    "r16uint",
    "r16sint",
    "r16float",
    "rg8unorm",
    "rg8snorm",
    "rg8uint",
    "rg8sint",
    "r32uint",
    "r32sint",
    "r32float",
    "rg16unorm",
    "rg16snorm",
    "rg16uint",
    "rg16sint",
    "rg16float",
    "rgba8unorm",
    "rgba8unorm-srgb",
    "rgba8snorm",
    "rgba8uint",
    "rgba8sint",
    "bgra8unorm",
    "bgra8unorm-srgb",
    "rgb9e5ufloat",
    "rgb10a2uint",
    "rgb10a2unorm",
    "rg11b10ufloat",
    "rg32uint",
    "rg32sint",
    "rg32float",
    "rgba16unorm",
    "rgba16snorm",
    "rgba16uint",
    "rgba16sint",
    "rgba16float",
    "rgba32uint",
    "rgba32sint",
    "rgba32float",
    "stencil8",
    "depth16unorm",
    "depth24plus",
    "depth24plus-stencil8",
    "depth32float",
    "depth32float-stencil8",
    "bc1-rgba-unorm",
    "bc1-rgba-unorm-srgb",
    "bc2-rgba-unorm",
    "bc2-rgba-unorm-srgb",
    "bc3-rgba-unorm",
    "bc3-rgba-unorm-srgb",
    "bc4-r-unorm",
    "bc4-r-snorm",
    "bc5-rg-unorm",
    "bc5-rg-snorm",
    "bc6h-rgb-ufloat",
    "bc6h-rgb-float",
    "bc7-rgba-unorm",
    "bc7-rgba-unorm-srgb",
    "etc2-rgb8unorm",
    "etc2-rgb8unorm-srgb",
    "etc2-rgb8a1unorm",
    "etc2-rgb8a1unorm-srgb",
    "etc2-rgba8unorm",
    "etc2-rgba8unorm-srgb",
    "eac-r11unorm",
    "eac-r11snorm",
    "eac-rg11unorm",
    "eac-rg11snorm",
    "astc-4x4-unorm",
    "astc-4x4-unorm-srgb",
    "astc-5x4-unorm",
    "astc-5x4-unorm-srgb",
    "astc-5x5-unorm",
    "astc-5x5-unorm-srgb",
    "astc-6x5-unorm",
    "astc-6x5-unorm-srgb",
    "astc-6x6-unorm",
    "astc-6x6-unorm-srgb",
    "astc-8x5-unorm",
    "astc-8x5-unorm-srgb",
    "astc-8x6-unorm",
    "astc-8x6-unorm-srgb",
    "astc-8x8-unorm",
    "astc-8x8-unorm-srgb",
    "astc-10x5-unorm",
    "astc-10x5-unorm-srgb",
    "astc-10x6-unorm",
    "astc-10x6-unorm-srgb",
    "astc-10x8-unorm",
    "astc-10x8-unorm-srgb",
    "astc-10x10-unorm",
    "astc-10x10-unorm-srgb",
    "astc-12x10-unorm",
    "astc-12x10-unorm-srgb",
    "astc-12x12-unorm",
    "astc-12x12-unorm-srgb",
]

__all__ = [
    "Array",
    "BinarySemaphore",
    "BoxTree",
    "Buffer",
    "Capture",
    "Commands",
    "Compiled",
    "CompiledDevices",
    "Device",
    "DeviceResource",
    "Devices",
    "DevicesPlan",
    "Fence",
    "Format",
    "Frame",
    "Graph",
    "Image",
    "Module",
    "Pass",
    "Plan",
    "Preparation",
    "Profile",
    "Report",
    "Resource",
    "Sampler",
    "Semaphore",
    "Series",
    "SharedMemory",
    "View",
    "WhatIf",
    "Window",
    "__version__",
    "_arena_close",
    "_arena_open",
    "_capture_graphs",
    "_capture_results",
    "_counts",
    "_dlpack_capsule",
    "_drawn",
    "_end",
    "_lend",
    "_max_file_bytes",
    "_mistake",
    "_npy_header",
    "_numpy",
    "_panic",
    "_png_samples",
    "_read_file",
    "_replay_images",
    "_texels",
    "_write_file",
    "codes",
    "devices",
    "diagnose",
    "formats",
    "fuzz",
    "generate",
    "history",
    "preview",
    "reflect",
    "schema",
    "set_source_tracking",
    "shrink",
]

__version__: str

@disjoint_base
class Resource:
    """An image or a buffer of one graph.

    Handles come from `Module.image`, `Module.buffer` and similar methods; another graph refuses them.
    """

    @property
    def name(self) -> str:
        """Full name, with the names of the modules around it."""
    @property
    def graph(self) -> Graph:
        """The graph that it is part of."""
    @property
    def source(self) -> tuple[str, int] | None:
        """(file, line) of its declaration; None if lines are not recorded."""
    def _repr_html_(self) -> str:
        """R."""
    def previous(self, frames: int = 1, name: str | None = None, *, first_frame: _FirstFrame = "zero") -> Self:
        """This resource's contents some frames ago, as a resource of its own.

        Asking again for the same frame gives the same resource.

        Parameters
        ----------
        frames
            How many frames ago, at least 1.
        name
            Name of the history; default: the resource's, `.previous`, and the number of frames above 1.
        first_frame
            Contents of the first frames: `"zero"`, `"undefined"`, or an array, which is copied: of the image's shape
            and dtype, or of as many bytes as the buffer.

        Returns
        -------
        Image or Buffer
            A history: read it like any other resource; nothing can write it.

        Raises
        ------
        GraphError
            If `frames` is out of range. The graph is left unchanged.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Image(Resource):
    """An image of one graph."""

    @property
    def format(self) -> str | None:
        """Texel format, WebGPU's name; None if none is declared."""
    @property
    def size(self) -> tuple[int, int] | tuple[int, int, int]:
        """(width, height), or (width, height, depth) of a 3D image, in texels.

        Raises
        ------
        GraphError
            If the size is relative to an image that is not declared yet.
        """
    @property
    def mip_count(self) -> int:
        """Number of mip levels."""
    @property
    def layer_count(self) -> int:
        """Number of array layers; six for a cube."""
    @property
    def samples(self) -> int:
        """Samples per texel."""
    def mip(self, level: int) -> View:
        """One mip level, to be bound in the image's place.

        Parameters
        ----------
        level
            Which, from 0.
        """
    def mips(self, first: int, end: int) -> View:
        """Some mip levels, to be bound in the image's place.

        Parameters
        ----------
        first, end
            Half-open: `mips(0, 3)` are the first three.
        """
    def layer(self, layer: int) -> View:
        """One array layer, to be bound in the image's place.

        Parameters
        ----------
        layer
            Which, from 0.
        """
    def layers(self, first: int, end: int) -> View:
        """Some array layers, to be bound in the image's place.

        Parameters
        ----------
        first, end
            Half-open.
        """
    def aspects(self, *names: str) -> View:
        """Some aspects, to be bound in the image's place.

        Parameters
        ----------
        *names
            `"color"`, `"depth"`, `"stencil"`.
        """

@final
class Buffer(Resource):
    """A buffer of one graph."""

    @property
    def size(self) -> int:
        """Bytes.

        Raises
        ------
        GraphError
            If the size is that of a buffer that is not declared yet.
        """
    @property
    def dtype(self) -> str | dict[str, Any] | None:
        """What its arrays hold: a name (`"float32"`), or for records a dict that `numpy.dtype` takes. None where it
        declares no dtype: its shaders determine it then.
        """
    def __getitem__(self, slice: slice, /) -> View: ...

@final
class View:
    """Part of an image or a buffer, from `Image.mip`, `Image.layer` and similar methods. It can be bound in place of the
    whole resource. Mips and layers are counted in the resource, also where a part of a view is taken; what the view
    does not have is refused (RG-E209).
    """

    @property
    def resource(self) -> Image | Buffer:
        """The image or buffer that it is part of."""
    @property
    def mip_range(self) -> tuple[int, int] | None:
        """(first, end) of its mip levels, half-open; None: all."""
    @property
    def layer_range(self) -> tuple[int, int] | None:
        """(first, end) of its array layers, half-open; None: all."""
    @property
    def byte_range(self) -> tuple[int, int] | None:
        """(first, end) of its bytes, half-open; None: all."""
    def mip(self, level: int) -> View:
        """One mip level of it.

        Parameters
        ----------
        level
            Which, from 0.
        """
    def mips(self, first: int, end: int) -> View:
        """Some mip levels of it.

        Parameters
        ----------
        first, end
            Half-open.
        """
    def layer(self, layer: int) -> View:
        """One array layer of it.

        Parameters
        ----------
        layer
            Which, from 0.
        """
    def layers(self, first: int, end: int) -> View:
        """Some array layers of it.

        Parameters
        ----------
        first, end
            Half-open.
        """
    def aspects(self, *names: str) -> View:
        """Some aspects of it.

        Parameters
        ----------
        *names
            `"color"`, `"depth"`, `"stencil"`.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Capture:
    """Runs that are captured into one file: made by `Compiled.capture` and `Device.capture`.

    The file is written with the last of the runs; at the end of a `with` block, or by `finish`, with those so far.
    """

    @property
    def path(self) -> Path:
        """Its file."""
    @property
    def frames(self) -> int:
        """Number of runs captured so far."""
    @property
    def done(self) -> bool:
        """Whether the file is written."""
    def finish(self) -> None:
        """End the capture: write the file with the runs so far, if there are any. A second call does nothing.

        Raises
        ------
        GraphError
            RG-E222 if the file cannot be written.
        """
    def __enter__(self) -> Capture: ...
    def __exit__(self, *error: object) -> None: ...

@final
class Series:
    """Times of many frames of one graph: per pass its least, median, 99th percentile and largest, and the frames that took
    far longer than the others. `str(series)` is a table; `plan.to_html(report=series)` shows it.

    Parameters
    ----------
    frames
        Frames, or their reports, of runs with `measure=`; a generator of them keeps no frame. Waits for each.

    Raises
    ------
    GraphError
        RG-E225 if a frame was not measured, or there is none.

    Examples
    --------
    `rg.Series(device.run(graph, measure="passes") for _ in range(300))`
    """

    def __new__(cls, frames: Iterable[Frame | Report]) -> Series: ...
    @property
    def passes(self) -> list[PassTimes]:
        """The passes in the order of their first begin: `PassTimes` records, in microseconds."""
    @property
    def gpu_us(self) -> list[float]:
        """GPU time of each frame in microseconds."""
    @property
    def spikes(self) -> list[int]:
        """Positions of frames that are longer than the median by a tenth and by six median absolute deviations."""
    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, times in microseconds; `weights=` takes it, written as JSON, as it takes a report."""
    def _json(self) -> str:
        """J."""
    def __len__(self) -> int: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str:
        """Table."""

@final
class SharedMemory:
    """A block of device memory that other devices, processes and APIs can use, too.

    Made by `Device.shared_memory` or `Device.import_memory`. Both sides place images and buffers at equal offsets. One
    side uses a resource at a time: `DeviceResource.release` leaves it to the other, `DeviceResource.acquire` takes it
    back.
    """

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def size(self) -> int:
        """Bytes."""
    def image(
        self,
        name: str,
        size: tuple[int, int],
        format: _Format | Format | str,
        *,
        mips: int = 1,
        layers: int = 1,
        offset: int | None = None,
        overlap: bool = False,
        holder: str | None = None,
    ) -> DeviceResource:
        """Make an image in the block. One in an imported block is held by the exporter until `DeviceResource.acquire`.

        Parameters
        ----------
        name
            Its name in reports and messages.
        size
            (width, height) in texels.
        format
            Texel format, as in `Module.image`.
        mips, layers
            Mip levels and array layers.
        offset
            Its first byte in the block; default: the first free bytes. The other side gives `DeviceResource.offset`.
        overlap
            If true, it may share bytes with other resources: the caller keeps their uses apart in time.
        holder
            Name of the user outside of this device that has it at first; default: this device, or the exporter of an
            imported block.

        Returns
        -------
        DeviceResource
            Give it to runs as `inputs={name: resource}`.
        """
    def buffer(
        self, name: str, size: int, *, offset: int | None = None, overlap: bool = False, holder: str | None = None
    ) -> DeviceResource:
        """Make a buffer in the block. One in an imported block is held by the exporter until `DeviceResource.acquire`.

        Parameters
        ----------
        name
            Its name in reports and messages.
        size
            Bytes.
        offset, overlap, holder
            As of `image`.

        Returns
        -------
        DeviceResource
            Give it to runs as `inputs={name: resource}`.
        """
    def export(self) -> Exported:
        """Export the block: a new file descriptor, which is yours to close, and all that an importer must know.

        Send the descriptor to another process with `socket.send_fds`, and the rest as it is. The descriptor and its
        imports keep the memory alive.

        Returns
        -------
        Exported
            For `Device.import_memory`.
        """

@final
class BinarySemaphore:
    """A binary semaphore of a device: one signal, then one wait.

    Made by `Device.binary_semaphore` or `Device.import_binary_semaphore`. Runs take it as `wait=[(semaphore, None)]`
    and `signal=[(semaphore, None)]`; foreign code uses its `handle`.
    """

    @property
    def handle(self) -> int:
        """The `VkSemaphore`."""
    @property
    def device(self) -> Device:
        """The device."""
    def export(self) -> Exported:
        """Export it: a new file descriptor, which is yours to close, and all that an importer must know.

        A `sync_fd` holds the signal submitted last and removes it from this semaphore, as a wait does.

        Returns
        -------
        Exported
            For `Device.import_binary_semaphore`. A `fd` of -1 is a signal that has already happened.

        Raises
        ------
        GraphError
            RG-E225 if it was not made with `shared=`, or a `sync_fd` has no signal.
        """

@final
class Fence:
    """A fence of a device: a run signals it when all of it is done, read-backs included.

    Made by `Device.fence`, and given to a run as `fence=`. Foreign code waits for it by its `handle`.
    """

    @property
    def handle(self) -> int:
        """The `VkFence`."""
    @property
    def device(self) -> Device:
        """The device."""
    @property
    def signalled(self) -> bool:
        """Whether the run that signals it is done."""
    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run that signals it is done.

        Parameters
        ----------
        timeout
            Seconds; `None`: for ever.

        Returns
        -------
        bool
            True once the run is done; False after the timeout, or if no run signals the fence.
        """

@final
class Semaphore:
    """A timeline semaphore of a device: a number that only grows, and that runs wait for and signal.

    Made by `Device.semaphore`. Foreign code waits for it and signals it by its `handle`.
    """

    @property
    def handle(self) -> int:
        """The `VkSemaphore`."""
    @property
    def value(self) -> int:
        """Its current value."""
    @property
    def device(self) -> Device:
        """The device."""
    def export(self) -> Exported:
        """Export the semaphore: a new file descriptor, which is yours to close, and all that an importer must know.

        Returns
        -------
        Exported
            For `Device.import_semaphore`.

        Raises
        ------
        GraphError
            RG-E225 if it was not made with `shared=True`.
        """
    def signal(self, value: int) -> None:
        """Set the value from the host.

        Parameters
        ----------
        value
            Above the value that it has, and below those that runs under way will signal.

        Raises
        ------
        GraphError
            RG-E225 if the value is not in that range.
        """
    def wait(self, value: int, timeout: float | None = None) -> bool:
        """Wait until it has a value.

        Parameters
        ----------
        value
            The value.
        timeout
            Seconds; `None`: for ever.

        Returns
        -------
        bool
            True once it has the value; False after the timeout.
        """

@final
class Window:
    """A native window in which frames of a device are shown: a swapchain on a surface.

    Made by `Device.window`. Close it before the native window goes.
    """

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height in texels; `None` while it is minimised."""
    @property
    def format(self) -> str | None:
        """Texel format; `None` while it is minimised."""
    @property
    def color(self) -> Literal["encoded", "linear", "hdr10", "scrgb"] | None:
        """What values mean: `"encoded"`, `"linear"`, `"hdr10"` or `"scrgb"`; `None` while it is minimised."""
    @property
    def mode(self) -> _PresentMode | None:
        """Present mode, which may be `"fifo"` instead of the requested one; `None` while it is minimised."""
    @property
    def closed(self) -> bool:
        """Whether it was closed."""
    @property
    def device(self) -> Device:
        """The device."""
    def show(self, frame: Frame, name: str | Resource) -> Literal["shown", "minimised", "late"]:
        """Show a root of the latest frame of a graph: it is scaled into the window's next image.

        Parameters
        ----------
        frame
            The frame of a run; no later run of its graph may have begun.
        name
            The root, its name or handle: a 2D image of one sample per texel, neither of integers nor of depth.

        Returns
        -------
        str
            `"shown"`; `"minimised"` for a window without texels; `"late"` if the screen gave no image within a second.

        Raises
        ------
        GraphError
            RG-E225 if it cannot be shown.
        DeviceError
            RG-E122 if the window is closed or its surface is lost.
        """
    def resize(self, width: int, height: int) -> None:
        """Report the new size after a resize event; zeros: it is minimised. For windows of X11 the size that the surface
        reports counts.

        Parameters
        ----------
        width, height
            In texels.
        """
    def pace(self) -> bool:
        """Wait until fewer than `latency` frames are under way: called before input is read, it shortens the time from
        input to screen.

        Returns
        -------
        bool
            False if the device was not done within a second.
        """
    def close(self) -> None:
        """Close it: wait for pending presents and release the native window. A second call does nothing."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

@final
class Format:
    """A texel format: the contents of its texels, their types in arrays and shaders, and the uses of its images.

    It equals its name, and is accepted wherever a format name is: `g.image("a", (4, 4), rgraph.Format("rgba8unorm"))`.

    Parameters
    ----------
    name
        WebGPU's name (`"rgba8unorm"`), or Vulkan's (`"R8G8B8A8_UNORM"`, with or without `VK_FORMAT_`); or a `Format`.

    Raises
    ------
    GraphError
        RG-E202 if there is no such format.

    Examples
    --------
    >>> import rgraph
    >>> format = rgraph.Format("R16G16B16A16_SFLOAT")
    >>> (format.name, format.dtype, format.channels, format.bytes, format.shader)
    ('rgba16float', 'float16', 4, 8, ('f32',))
    """

    def __new__(cls, name: _Format | Format | str) -> Self: ...
    @property
    def name(self) -> str:
        """WebGPU's name."""
    @property
    def vulkan(self) -> str:
        """Vulkan's name, without `VK_FORMAT_`."""
    @property
    def numbers(self) -> Literal["unorm", "snorm", "float", "uint", "sint", "depth", "stencil", "block"]:
        """Type of its components: `"unorm"`, `"snorm"`, `"float"`, `"uint"`, `"sint"`, `"depth"` (with or without
        stencil), `"stencil"`, or `"block"` (compressed).
        """
    @property
    def components(self) -> int:
        """Components of a texel as a shader reads them: 3 of `rg11b10ufloat`, 1 of depth or stencil."""
    @property
    def bits(self) -> int:
        """Bits of each component; 0 if components have different sizes or are compressed. For depth formats, bits of the
        depth.
        """
    @property
    def dtype(self) -> str:
        """Element type of its arrays; packed texels are one `uint32`, compressed blocks are bytes."""
    @property
    def channels(self) -> int:
        """Length of the last axis of its arrays: numbers per texel; of a compressed format, bytes per block."""
    @property
    def bytes(self) -> int:
        """Bytes per texel in arrays and buffers (of depth and stencil together those of the depth); of a compressed
        format, bytes per block.
        """
    @property
    def block(self) -> tuple[int, int]:
        """(width, height) of a compressed block in texels, else (1, 1)."""
    @property
    def compressed(self) -> bool:
        """Whether texels are stored in compressed blocks."""
    @property
    def depth(self) -> bool:
        """Whether it holds depth."""
    @property
    def stencil(self) -> bool:
        """Whether it holds stencil."""
    @property
    def srgb(self) -> bool:
        """Whether stored colours are sRGB encoded; shaders see linear ones."""
    @property
    def shader(self) -> tuple[Literal["f32", "i32", "u32", "depth"], ...]:
        """Types that a shader can read: `f32`, `i32`, `u32`, `depth`. For formats with depth and stencil, those of the
        depth.
        """
    @property
    def storage(self) -> bool:
        """Whether WGSL has it as a storage texture format; a device may lack support."""
    @property
    def attachment(self) -> Literal["color", "depth"] | None:
        """`"color"` or `"depth"` (stencil too), if passes can draw into it; else None."""
    @property
    def mips(self) -> bool:
        """Whether the graph can generate its mips."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Format], tuple[str]]: ...

@final
class Sampler:
    """How an image is sampled: bind it by the name of the shader's sampler.

    A sampler that a pass does not bind is linear and clamps to the edge; a comparison sampler compares less or equal.

    Parameters
    ----------
    filter
        Between texels and mips: `"linear"` or `"nearest"`.
    mag, min, mip
        Filter for magnification, for minification and between mips; default: `filter`.
    address
        Address mode outside the image: `"clamp"`, `"repeat"`, `"mirror"` or `"border"`, one for all axes or one for
        each.
    anisotropy
        Maximum anisotropy; 1: none.
    compare
        The comparison of a shadow sampler: `"less"`, `"less_equal"`, …
    lod
        (minimum, maximum) level of detail.
    border
        Colour outside the image for address mode `"border"`: `"transparent"`, `"black"` or `"white"`.
    """

    def __new__(
        cls,
        filter: _Filter = "linear",
        *,
        mag: _Filter | None = None,
        min: _Filter | None = None,
        mip: _Filter | None = None,
        address: _Address | Sequence[_Address] = "clamp",
        anisotropy: float = 1.0,
        compare: _Compare | None = None,
        lod: tuple[float, float] = (0.0, 1000.0),
        border: _Border = "transparent",
    ) -> Self: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, object]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@disjoint_base
class Module:
    """A part of a graph with names of its own.

    What is declared in a module is called `module/name`; its passes run at the place where the module was declared,
    however late they are declared. Names given as text are looked for in the module first, then in those around it.
    """

    @property
    def name(self) -> str:
        """Its full name, with those of the modules around it."""
    def image(
        self,
        name: str,
        size: _Size | None = None,
        format: _Format | Format | str | None = None,
        *,
        like: Image | str | None = None,
        scale: float | Sequence[float] | None = None,
        round: _Round | None = None,
        layers: int | None = None,
        mips: int | Literal["full"] | None = None,
        samples: int | None = None,
        cube: bool = False,
        modifies: Image | str | None = None,
        history_of: Image | str | None = None,
        frames: int = 1,
        first_frame: _FirstFrame = "zero",
        persistent: bool | _Memory = False,
        fresh: bool = False,
        imported: bool | Mapping[str, Any] | None = None,
        leave: str | Mapping[str, str] | None = None,
        sharing: _Sharing | None = None,
        memory_domain: _MemoryDomain | None = None,
        channels: int | None = None,
    ) -> Image:
        """Declare an image.

        Parameters
        ----------
        name
            Its name among resources.
        size
            (width, height) or (width, height, depth) in texels, or a dict as in a graph file; default: the graph's.
        format
            Texel format, WebGPU's name (`"rgba8unorm"`) or Vulkan's (`"R8G8B8A8_UNORM"`).
        like
            An image: its size, times `scale`, and its format, layers and shape of arrays where these are not given; not
            its mips, samples and whether it is a cube. Or `"reference"`: the graph's reference size.
        scale
            One number, or one for each axis; default 1. Without `like`: of the graph's reference size.
        round
            How a scaled size is rounded: `"down"` (default) or `"up"`; never below 1.
        layers
            Array layers; default 1, or 6 for a cube.
        mips
            Mip levels: a number, or `"full"` for all down to one texel; default 1.
        samples
            Samples per texel; default 1.
        cube
            If true, it is viewed as cubes.
        modifies
            An image whose contents it starts with, in the same memory.
        history_of
            An image whose contents of `frames` frames ago it holds; see also `Resource.previous`.
        frames
            See `history_of`.
        first_frame
            Contents of a history in the first frames: `"zero"`, `"undefined"`, or an array, which is copied.
        persistent
            Keep the contents from frame to frame. An array (copied) is what it holds before the first frame, else
            zeros; format, size and layers are those of the array where they are not given, as in `import_array`.
        fresh
            If true, each frame in flight has memory of its own for it: no barrier and no wait orders its first use
            after the frame before. Costs its bytes once per frame in flight (`frames_in_flight`).
        imported
            The caller's image: True, or a dict of `layout`, `queue`, `stages`, `access` and `contents`; see
            `import_image`.
        leave
            The state to be left in: a layout, or a dict of `layout` and `queue`.
        sharing
            `"exclusive"` or `"concurrent"`; default: the planner's choice.
        memory_domain
            Memory of a persistent or imported resource: `"device"`, `"host"` (coherent), `"cached_host"` (the CPU reads
            it fast) or `"device_local_host"` (device memory that the CPU writes). `compile` and `run` raise on a device
            without it. Default: the runtime's choice. A resource given by `inputs=` stays in its own memory.
        channels
            Number of channels of its arrays: 3 leaves out the fourth one of `rgba8unorm`. Default: all channels of the
            format.

        Returns
        -------
        Image
            A handle to be used in passes of this graph.

        Raises
        ------
        GraphError
            If a word is unknown or a number out of range. The graph is left unchanged. `bake` validates the rest.
        """
    def import_image(
        self,
        name: str,
        size: _Size | None = None,
        format: _Format | Format | str | None = None,
        *,
        layout: str | None = None,
        queue: _Queue | None = None,
        stages: _Words | None = None,
        access: _Words | None = None,
        contents: _Contents = "defined",
        wait: bool = False,
        signal: bool = False,
        layers: int | None = None,
        mips: int | Literal["full"] | None = None,
        samples: int | None = None,
        cube: bool = False,
        leave: str | Mapping[str, str] | None = None,
        sharing: _Sharing | None = None,
        memory_domain: _MemoryDomain | None = None,
    ) -> Image:
        """Declare an image that the caller supplies.

        If it is written, it is a root.

        Parameters
        ----------
        name
            Its name among resources.
        size
            See `image`.
        format
            See `image`.
        layout
            The layout that it arrives in; default: known at submit.
        queue
            The queue that used it last.
        stages
            The stages that used it last, one name or several.
        access
            How they used it, one name or several.
        contents
            `"defined"`, or `"undefined"` where they need not be kept.
        wait
            If true, another user has it between runs, and each run waits for that user's semaphore before the first
            use: `device.run(graph, wait=[(semaphore, value, "name")])`. Passes before that use do not wait.
        signal
            If true, each run may signal the other user behind the last use: `signal=[(semaphore, value, "name")]`.
        layers, mips, samples, cube, leave, sharing, memory_domain
            See `image`.

        Returns
        -------
        Image
            A handle to be used in passes of this graph.
        """
    def buffer(
        self,
        name: str,
        size: int | None = None,
        *,
        shape: SupportsIndex | Sequence[SupportsIndex] | None = None,
        dtype: _Dtype | None = None,
        like: Buffer | str | None = None,
        modifies: Buffer | str | None = None,
        history_of: Buffer | str | None = None,
        frames: int = 1,
        first_frame: _FirstFrame = "zero",
        persistent: bool | _Memory = False,
        fresh: bool = False,
        imported: bool | Mapping[str, Any] | None = None,
        leave: str | Mapping[str, str] | None = None,
        sharing: _Sharing | None = None,
        memory_domain: _MemoryDomain | None = None,
        acceleration_structure: bool = False,
    ) -> Buffer:
        """Declare a buffer.

        Parameters
        ----------
        name
            Its name among resources.
        size
            Bytes; may be left out where `shape`, `like` or an array gives them, or where it modifies or remembers
            another buffer.
        shape
            Shape of its array, an integer or several; needs `dtype`.
        dtype
            Element type: a name (`"float32"`), or what `numpy.dtype` takes, records included. Results have this shape
            and dtype. Default: the type that shaders declare, else bytes. A shader's `array<vec3<f32>>` has 16 bytes
            from element to element: declare no dtype, or four numbers (rows of three are refused, RG-E310).
        like
            A buffer: its size, shape and dtype.
        acceleration_structure
            If true, it holds an acceleration structure.
        modifies, history_of, frames, first_frame, persistent, fresh, imported, leave, sharing, memory_domain
            See `image`; an array of `persistent` may be of any shape and dtype.

        Returns
        -------
        Buffer
            A handle to be used in passes of this graph.

        Raises
        ------
        GraphError
            If size, shape, dtype and array contradict each other. The graph is left unchanged.
        """
    def import_buffer(
        self,
        name: str,
        size: int,
        *,
        queue: _Queue | None = None,
        stages: _Words | None = None,
        access: _Words | None = None,
        contents: _Contents = "defined",
        wait: bool = False,
        signal: bool = False,
        leave: str | Mapping[str, str] | None = None,
        sharing: _Sharing | None = None,
        memory_domain: _MemoryDomain | None = None,
        acceleration_structure: bool = False,
    ) -> Buffer:
        """Declare a buffer that the caller supplies.

        If it is written, it is a root.

        Parameters
        ----------
        name
            Its name among resources.
        size
            Bytes.
        queue, stages, access, contents, wait, signal
            See `import_image`.
        leave, sharing, memory_domain, acceleration_structure
            See `buffer`.

        Returns
        -------
        Buffer
            A handle to be used in passes of this graph.
        """
    def add_pass(
        self,
        name: str,
        *,
        queue: _Queue = "graphics",
        weight_us: float | None = None,
        unit: str | None = None,
        device: int | str | None = None,
        side_effects: bool = False,
        unordered: bool = False,
        conditional: str | None = None,
        fallback: dict[Any, Resource | str] | None = None,
        after: Pass | str | Sequence[Pass | str] | None = None,
        setup: Callable[[Pass], object] | None = None,
        execute: Callable[..., object] | None = None,
    ) -> Pass:
        """Declare a pass.

        Parameters
        ----------
        name
            Its name among passes.
        queue
            `"graphics"`; `"compute"` (on the graphics queue); `"async_compute"` and `"transfer"` (a queue of that kind
            other than graphics, where the device has one); `"cpu"`; `"any"` (the planner picks).
        weight_us
            Duration in microseconds, measured or estimated; default: a static estimate.
        unit
            Label for passes that compete for the same hardware; the planner avoids overlapping them.
        device
            Index of the GPU that it must run on, or `"any"`.
        side_effects
            If true, it runs even if nothing reads its output.
        unordered
            If true, its draws commute with those of other `unordered` passes: in one render pass a run may record them
            in any order, sorted by their keys, then by their bindings.
        conditional
            Name of the flag that switches it on and off.
        fallback
            Resources that readers get while the flag is off: {output: input}, resources or names.
        after
            Passes that must come first, or their names.
        setup
            Called with the pass when the graph is baked, to declare its accesses; if it declares none, the pass is
            culled. Images and buffers that it declares on the graph are part of that bake alone.
        execute
            The work of the pass: called with a `Commands` as in `callback`, or on queue `"cpu"` with views as
            in `cpu`. Kept as `Pass.execute`.

        Returns
        -------
        Pass
            Its methods declare accesses and return it again, so that calls can be chained.

        Raises
        ------
        GraphError
            If a word is unknown or a number out of range. The graph is left unchanged. `bake` validates the rest.
        """
    @overload
    def import_array(
        self,
        name: str,
        array: _Memory,
        *,
        format: _Format | Format | str | None = None,
        srgb: bool = False,
        as_buffer: Literal[False] = False,
        volume: bool = False,
        sharing: _Sharing | None = None,
        memory_domain: _MemoryDomain | None = None,
    ) -> Image:
        """Declare an image (or a buffer) with the contents of an array.

        The graph keeps a reference and reads the array at each run, so later changes are seen; import a copy to keep a
        snapshot. `Device.run` takes another array of the same shape as `inputs={name: array}`.

        Parameters
        ----------
        name
            Its name among resources.
        array
            Any contiguous object with the buffer protocol, of shape (height, width), (height, width, channels) with 1
            to 4 channels, or (layers, height, width, channels). `uint8` gives `rgba8unorm` (`rg8unorm`, `r8unorm`),
            `int8` `rgba8snorm`, wider integers integers (`rgba16uint`), `float16` and `float32` floats. Three channels
            become four, the fourth opaque (its largest normalised value, or 1); `bool` becomes 0 and 255 of `uint8`, so
            that a shader reads 0.0 and 1.0. Results have the array's shape again: (height, width) without an axis of
            channels, three channels without alpha.
        format
            Texel format, if not the default for the array; its texels must have as many bytes. Compressed formats take
            blocks, (rows, columns, bytes) of `uint8`: (2, 3, 8) is 12 × 8 texels of `bc1-rgba-unorm`. If an image ends
            within a block, declare it with `import_image` and give the blocks as `inputs=`.
        srgb
            If true, `uint8` colours are sRGB encoded: `rgba8unorm-srgb`.
        as_buffer
            If true, declare a buffer with the array's bytes instead of an image. Shape and dtype are arbitrary, records
            included, and results have them again. A `bool` is a byte, 0 or 1.
        volume
            If true, an array of shape (depth, height, width, channels) is a 3D image instead of one with layers.
        sharing
            `"concurrent"` (no ownership transfers between queue families) or `"exclusive"`; see `image`.
        memory_domain
            Memory domain of the copy on the device; see `image`.

        Returns
        -------
        Image or Buffer
            A handle to be used in passes of this graph.

        Raises
        ------
        GraphError
            If no image can have such contents. The graph is left unchanged.
        """
    @overload
    def import_array(
        self,
        name: str,
        array: _Memory,
        *,
        format: _Format | Format | str | None = None,
        srgb: bool = False,
        as_buffer: Literal[True],
        volume: bool = False,
        sharing: _Sharing | None = None,
        memory_domain: _MemoryDomain | None = None,
    ) -> Buffer:
        """Declare an image (or a buffer) with the contents of an array.

        The graph keeps a reference and reads the array at each run, so later changes are seen; import a copy to keep a
        snapshot. `Device.run` takes another array of the same shape as `inputs={name: array}`.

        Parameters
        ----------
        name
            Its name among resources.
        array
            Any contiguous object with the buffer protocol, of shape (height, width), (height, width, channels) with 1
            to 4 channels, or (layers, height, width, channels). `uint8` gives `rgba8unorm` (`rg8unorm`, `r8unorm`),
            `int8` `rgba8snorm`, wider integers integers (`rgba16uint`), `float16` and `float32` floats. Three channels
            become four, the fourth opaque (its largest normalised value, or 1); `bool` becomes 0 and 255 of `uint8`, so
            that a shader reads 0.0 and 1.0. Results have the array's shape again: (height, width) without an axis of
            channels, three channels without alpha.
        format
            Texel format, if not the default for the array; its texels must have as many bytes. Compressed formats take
            blocks, (rows, columns, bytes) of `uint8`: (2, 3, 8) is 12 × 8 texels of `bc1-rgba-unorm`. If an image ends
            within a block, declare it with `import_image` and give the blocks as `inputs=`.
        srgb
            If true, `uint8` colours are sRGB encoded: `rgba8unorm-srgb`.
        as_buffer
            If true, declare a buffer with the array's bytes instead of an image. Shape and dtype are arbitrary, records
            included, and results have them again. A `bool` is a byte, 0 or 1.
        volume
            If true, an array of shape (depth, height, width, channels) is a 3D image instead of one with layers.
        sharing
            `"concurrent"` (no ownership transfers between queue families) or `"exclusive"`; see `image`.
        memory_domain
            Memory domain of the copy on the device; see `image`.

        Returns
        -------
        Image or Buffer
            A handle to be used in passes of this graph.

        Raises
        ------
        GraphError
            If no image can have such contents. The graph is left unchanged.
        """
    @overload
    def import_array(
        self,
        name: str,
        array: _Memory,
        *,
        format: _Format | Format | str | None = None,
        srgb: bool = False,
        as_buffer: bool,
        volume: bool = False,
        sharing: _Sharing | None = None,
        memory_domain: _MemoryDomain | None = None,
    ) -> Image | Buffer:
        """Declare an image (or a buffer) with the contents of an array.

        The graph keeps a reference and reads the array at each run, so later changes are seen; import a copy to keep a
        snapshot. `Device.run` takes another array of the same shape as `inputs={name: array}`.

        Parameters
        ----------
        name
            Its name among resources.
        array
            Any contiguous object with the buffer protocol, of shape (height, width), (height, width, channels) with 1
            to 4 channels, or (layers, height, width, channels). `uint8` gives `rgba8unorm` (`rg8unorm`, `r8unorm`),
            `int8` `rgba8snorm`, wider integers integers (`rgba16uint`), `float16` and `float32` floats. Three channels
            become four, the fourth opaque (its largest normalised value, or 1); `bool` becomes 0 and 255 of `uint8`, so
            that a shader reads 0.0 and 1.0. Results have the array's shape again: (height, width) without an axis of
            channels, three channels without alpha.
        format
            Texel format, if not the default for the array; its texels must have as many bytes. Compressed formats take
            blocks, (rows, columns, bytes) of `uint8`: (2, 3, 8) is 12 × 8 texels of `bc1-rgba-unorm`. If an image ends
            within a block, declare it with `import_image` and give the blocks as `inputs=`.
        srgb
            If true, `uint8` colours are sRGB encoded: `rgba8unorm-srgb`.
        as_buffer
            If true, declare a buffer with the array's bytes instead of an image. Shape and dtype are arbitrary, records
            included, and results have them again. A `bool` is a byte, 0 or 1.
        volume
            If true, an array of shape (depth, height, width, channels) is a 3D image instead of one with layers.
        sharing
            `"concurrent"` (no ownership transfers between queue families) or `"exclusive"`; see `image`.
        memory_domain
            Memory domain of the copy on the device; see `image`.

        Returns
        -------
        Image or Buffer
            A handle to be used in passes of this graph.

        Raises
        ------
        GraphError
            If no image can have such contents. The graph is left unchanged.
        """
    def compute_many(
        self,
        shader: _Shader,
        passes: Mapping[str, Mapping[str, Any]] | Iterable[tuple[str, dict[str, Any]]],
        *,
        entry: str | None = None,
        constants: Mapping[str | int, float] | None = None,
        **arguments: Any,
    ) -> list[Pass]:
        """Declare many passes that run one compute shader, in one call: for graphs that are made in a loop.

        Parameters
        ----------
        shader
            See `compute`.
        passes
            Names of passes, each with its own arguments of `compute`: a dict by name, or pairs of name and dict.
        entry, constants
            See `compute`; for all passes.
        **arguments
            Further arguments of `compute` for all passes; those of a pass take precedence.

        Returns
        -------
        list of Pass
            In the order of `passes`.

        Raises
        ------
        ShaderError, GraphError
            As `compute`; passes before the one that fails stay declared.
        """
    def compute(
        self,
        name: str,
        shader: _Shader,
        *,
        groups: SupportsIndex | Sequence[SupportsIndex] | _Part | None = None,
        queue: _Queue = "compute",
        push: _Data | None = None,
        entry: str | None = None,
        constants: Mapping[str | int, float] | None = None,
        key: int = 0,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> Pass:
        """Declare a pass that runs a compute shader.

        The accesses of bound resources follow from the shader. It takes the other keyword arguments of `add_pass`, too:
        `weight_us`, `unit`, `device`, `side_effects`, `unordered`, `conditional`, `fallback`, `after`.

        Parameters
        ----------
        name
            Its name among passes.
        shader
            WGSL or GLSL text, the path of a file (`.wgsl`, `.glsl`, `.comp`, `.spv`), or SPIR-V bytes.
        groups
            Workgroups (x, y, z); or a buffer (or part of one) with three 32-bit counts; default: one invocation for
            each texel of the one image that the shader writes, or for each 32-bit word of the one buffer.
        queue
            See `add_pass`.
        push
            Push data: a dict by member, or the value of the only member.
        entry
            The entry point, where the shader has several.
        constants
            Values of the shader's constants: a dict by name, or by number. Constants are WGSL's `override` and the
            specialization constants of GLSL and SPIR-V; those that are not given keep their defaults. The workgroup
            size may depend on one, and the default of `groups` then does, too.
        key
            Dispatches of a pass are recorded in the order of their keys, and so are those of the passes between two
            barrier calls (`Plan.packets`), equal keys by shader; default 0. If the shader has a variable of that name,
            the argument is its binding.
        bindings
            Bindings as a dict, for variables whose name clashes with an argument (`push`, `groups`, …).
        **variables
            Bindings by the names of the shader's variables: images and buffers, parts of them (`image.mip(2)`,
            `buffer[0:256]`) or names; `Sampler` (one left out is linear); for GLSL's `sampler2D` and its like `(image,
            Sampler(…))`, or the image alone; for texel buffers `(buffer, "r32float")`; a list for an array, of any
            length where the shader leaves it open; for a uniform block also a dict by member, a list, a number or an
            array: small data that is stored with the pass.

        Returns
        -------
        Pass
            Further accesses may be declared on it.

        Raises
        ------
        ShaderError
            If the shader does not compile (with its line), data does not fit its layout, or it has no such constant.
        GraphError
            If a binding is missing, unknown or of the wrong kind. The graph is left unchanged.
        """
    def build_triangles(
        self,
        name: str,
        vertices: _Part,
        *,
        indices: _Part | None = None,
        stride: int = 12,
        index_format: _Index = "uint32",
        opaque: bool = True,
        rebuild: str | None = None,
        refit: bool = False,
        size: int | None = None,
        scratch: int | None = None,
        **options: Any,
    ) -> Buffer:
        """Declare an acceleration structure of triangles, and the pass that builds it.

        The structure is a buffer `name`, built by pass `name/build` with scratch memory `name/scratch`. Without
        `rebuild` each run builds it.

        Parameters
        ----------
        name
            Its name among resources.
        vertices
            Buffer (or part of one) of positions, three 32-bit floats at the begin of each element.
        indices
            Buffer (or part of one) with three indices per triangle, each less than the number of positions; default:
            each three positions are a triangle.
        stride
            Bytes from position to position, a multiple of 4.
        index_format
            `"uint32"` or `"uint16"`.
        opaque
            If true, any-hit shaders are not called.
        rebuild
            Name of a flag: the structure is persistent, and built in the runs that switch the flag on. The first run
            must.
        refit
            If true, the other runs refit it to the positions that moved (pass `name/refit`), which is faster than a
            build; the more they moved, the slower traces become.
        size, scratch
            Bytes of structure and scratch memory; default: 16 KiB and 256 per primitive. If the driver needs more, the
            error has the number.
        **options
            As in `add_pass`.

        Returns
        -------
        Buffer
            The structure, for `build_instances`.

        Raises
        ------
        GraphError
            If a buffer is not declared yet.
        """
    def build_boxes(
        self,
        name: str,
        boxes: _Part,
        *,
        opaque: bool = True,
        rebuild: str | None = None,
        refit: bool = False,
        size: int | None = None,
        scratch: int | None = None,
        **options: Any,
    ) -> Buffer:
        """Declare an acceleration structure of boxes, whose contents an intersection shader finds, and the pass that
        builds it.

        Parameters
        ----------
        name
            Its name among resources.
        boxes
            Buffer (or part of one) of boxes, six 32-bit floats each: the least x, y, z, then the greatest.
        opaque, rebuild, refit, size, scratch
            See `build_triangles`.
        **options
            As in `add_pass`.

        Returns
        -------
        Buffer
            The structure, for `build_instances`.

        Raises
        ------
        GraphError
            If the buffer is not declared yet.
        """
    def build_instances(
        self,
        name: str,
        structures: Resource | str | Sequence[Resource | str],
        *,
        transforms: _Part | Sequence[Any] | _Memory | None = None,
        ids: Sequence[int] | _Memory | None = None,
        masks: Sequence[int] | _Memory | None = None,
        hits: Sequence[int] | _Memory | None = None,
        rebuild: str | None = None,
        refit: bool = False,
        size: int | None = None,
        scratch: int | None = None,
        **options: Any,
    ) -> Buffer:
        """Declare the acceleration structure that shaders trace, made of instances of others, and the passes that build
        it.

        Pass `name/records` writes a record of 64 bytes per instance into buffer `name/records`, pass `name/build`
        builds.

        Parameters
        ----------
        name
            Its name among resources.
        structures
            The structure of each instance: what `build_triangles` and `build_boxes` returned, or names.
        transforms
            Transforms of the instances, three rows of four numbers each: an array, or a buffer (or part of one) of
            32-bit floats that passes or runs may change; default: where their structures are.
        ids
            What shaders read as `gl_InstanceCustomIndexEXT`, less than 2^24; default: 0, 1, …
        masks
            Rays whose mask shares no bit with an instance's miss it; default: 255.
        hits
            Index of the first hit group of each instance; default: 0.
        rebuild, refit, size, scratch
            See `build_triangles`; a refit follows transforms that changed.
        **options
            As in `add_pass`.

        Returns
        -------
        Buffer
            The structure, to be bound to `accelerationStructureEXT` of `trace`, `compute` and `raster`.

        Raises
        ------
        GraphError
            If a buffer is not declared yet.
        """
    def trace(
        self,
        name: str,
        raygen: _Shader,
        *,
        miss: _Shader | Sequence[_Shader] = (),
        hit: _Hit | Sequence[_Hit] = (),
        callable: _Shader | Sequence[_Shader] = (),
        size: int | Sequence[int] | _Part | None = None,
        depth: int = 1,
        queue: _Queue = "compute",
        push: _Data | None = None,
        entry: str | None = None,
        constants: Mapping[str | int, float] | None = None,
        records: Mapping[str, Any] | None = None,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> Pass:
        """Declare a pass that traces rays.

        The accesses of bound resources follow from the shaders, which are GLSL (`#extension GL_EXT_ray_tracing`) or
        SPIR-V: text, paths or bytes as in `compute`. rgraph makes the shader binding table, with a record per shader
        group in the order of the arguments here.

        Parameters
        ----------
        name
            Its name among passes.
        raygen
            The shader that generates the rays.
        miss
            Shaders of rays that hit nothing, in the order of miss indices.
        hit
            Hit groups, in the order of their positions: each a closest-hit shader, None, or a dict with `closest`,
            `any` and `intersection`; the latter makes it one of boxes.
        callable
            Shaders that others call, in the order of their positions.
        size
            Rays (x, y, z), or an image with as many texels; default: a ray for each texel of the one image that the
            shaders write.
        depth
            How deep traces nest: 1 where only `raygen` traces rays.
        queue
            See `add_pass`.
        push, entry, constants
            See `compute`; for all shaders.
        records
            What shaders read as `shaderRecordEXT`: a dict with lists of bytes or arrays, by `raygen`, `miss`, `hit` and
            `callable`.
        bindings
            Bindings as a dict, for variables whose name clashes with an argument (`hit`, `size`, …).
        **variables
            Bindings by the names of the shaders' variables, as in `compute`; to an `accelerationStructureEXT` what
            `build_instances` returned.

        Returns
        -------
        Pass
            Further accesses may be declared on it.

        Raises
        ------
        ShaderError
            If a shader does not compile (with its line).
        GraphError
            If a shader is of another stage, or a binding is missing, unknown or of the wrong kind. The graph is left
            unchanged.
        """
    def raster(
        self,
        name: str,
        shader: _Shader | tuple[_Shader, ...],
        *,
        color: _Part | Sequence[_Part | None] | None = None,
        depth: _Part | None = None,
        vertices: int = 3,
        instances: int = 1,
        push: _Data | None = None,
        entry: str | None = None,
        constants: Mapping[str | int, float] | None = None,
        queue: _Queue = "graphics",
        vertex_buffers: _Part | Mapping[str, Any] | Sequence[_Part | Mapping[str, Any]] | None = None,
        index: _Part | None = None,
        index_format: _Index = "uint32",
        indirect: _Part | None = None,
        draws: int = 1,
        stride: int | None = None,
        groups: SupportsIndex | Sequence[SupportsIndex] | None = None,
        clear: _Color | Sequence[_Color | None] | _Numbers | None = None,
        load: _Load | Sequence[_Load | None] | _Word | None = None,
        clear_depth: float | tuple[float, int] | _Depth | None = None,
        load_depth: _Load | _Word | None = None,
        resolve: _Part | Sequence[_Part | None] | None = None,
        resolve_mode: _Resolve | None = None,
        blend: _Blend | Sequence[_Blend | None] | None = None,
        write_mask: str | Sequence[str | None] | None = None,
        cull: _Cull = "none",
        front: _Front = "ccw",
        topology: _Topology = "triangles",
        patch_vertices: int = 3,
        wireframe: bool = False,
        depth_test: _Compare | None = None,
        depth_write: bool = True,
        depth_bias: tuple[float, float] | None = None,
        stencil: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        alpha_to_coverage: bool = False,
        viewport: Sequence[float] | _Numbers | None = None,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> Pass:
        """Declare a pass that draws.

        The accesses of bound resources follow from the shader. It takes the other keyword arguments of `add_pass`, too:
        `weight_us`, `unit`, `device`, `side_effects`, `unordered`, `conditional`, `fallback`, `after`.

        Parameters
        ----------
        name
            Its name among passes.
        shader
            See `compute`; with a vertex and a fragment stage, or a tuple with a shader for each stage in the order of a
            pipeline: (vertex, fragment), (vertex, geometry, fragment), (vertex, tessellation control, tessellation
            evaluation, fragment), (mesh, fragment), (task, mesh, fragment). Those between are GLSL or SPIR-V.
        color
            Colour targets by location: images, parts of them (`image.mip(1)`) or names. Locations after the last target
            may be None.
        depth
            Depth (and stencil) attachment.
        vertices
            Number of vertices, or of indices if `index` is given; default: 3.
        instances
            Number of instances; default: 1.
        push, entry, constants
            See `compute`.
        queue
            See `add_pass`.
        vertex_buffers
            A buffer with all inputs of the vertex stage one behind the other; a list with a buffer for each input, by
            location; or a list of dicts of `buffer`, `attributes` (names, or (name, format, offset in bytes)), `stride`
            in bytes, `offset` and `per_instance`.
            Formats are WebGPU's vertex formats: `"float32x3"`, `"unorm8x4"`. Where only the name is given, the
            attribute is stored as the shader reads it: a `vec3<f32>` is three floats, 12 bytes, without padding.
        index
            Buffer of indices.
        index_format
            `"uint32"` (default) or `"uint16"`.
        indirect
            Buffer (or part of one) with the parameters of the draws, in Vulkan's layout.
        draws, stride
            Number of draws in `indirect`, and bytes from one to the next; default: 1, packed.
        groups
            (x, y, z) workgroups of a mesh stage, or of the task stage in front of it, instead of vertices; at most
            65,535 on an axis.
        clear
            Clear colour of the targets, or a list with one per target. A function without arguments is called at each
            run; `params` of a run can change the value, too.
        load
            Load operation of the targets: `"clear"`, `"load"` or `"discard"`, or a list with one per target. A function
            returns `"load"` or `"clear"` at each run; the pass is planned as one that loads, which is valid for both.
        clear_depth, load_depth
            The same of `depth`; `clear_depth` is depth or (depth, stencil), 1 and 0 by default.
        resolve
            Images that multisampled targets are resolved to, one for each (or None).
        resolve_mode
            How samples become one: `"average"` (default), `"sample_zero"`, `"min"`, `"max"`.
        blend
            `"alpha"`, `"premultiplied"`, `"add"`, `"multiply"`, or a dict of `color` and `alpha`, each (factor of the
            source, factor of the destination, operation); or a list of one for each target.
        write_mask
            Channels that are written, such as `"rgb"`; or a list with one per target.
        cull
            Faces that are culled: `"none"`, `"front"`, `"back"`.
        front
            Which faces are front faces in the image: `"ccw"` (default) or `"cw"`.
        topology
            `"triangles"`, `"triangle_strip"`, `"lines"`, `"line_strip"`, `"points"`. Tessellation stages take patches.
        patch_vertices
            Vertices of a patch, 1 to 32; default: 3.
        wireframe
            If true, only the edges of triangles are drawn.
        depth_test
            Comparison with `depth`; default: `"less_equal"`.
        depth_write
            If false, depth is tested and not written (`clear_depth` still clears it); neither is stencil if `stencil`
            does not write it.
        depth_bias
            (constant, slope).
        stencil
            Stencil test: a dict of `compare`, `fail`, `depth_fail`, `pass`, `reference`, `read_mask`, `write_mask`; or
            (front, back).
        alpha_to_coverage
            If true, coverage follows from alpha.
        viewport
            (x, y, width, height) in texels, or a function that is called at each run; default: the whole target.
        bindings
            See `compute`.
        **variables
            See `compute`.

        Returns
        -------
        Pass
            Further accesses may be declared on it, and further draws with `Pass.draw`.

        Raises
        ------
        ShaderError
            If the shader does not compile (with its line), or data does not fit its layout.
        GraphError
            If bindings, targets or vertex buffers do not match the shader. The graph is left unchanged.
        """
    def copy(self, name: str, source: _Part, target: _Part, **options: Any) -> Pass:
        """Declare a pass that copies an image or a buffer to another one.

        Further keyword arguments are those of `add_pass`.

        Parameters
        ----------
        name
            Its name among passes.
        source, target
            Images and buffers, parts of them (`image.mip(1)`, `buffer[0:256]`) or names. An image in a buffer is
            tightly packed, row by row. A larger target keeps what the copy does not reach.
        **options
            As in `add_pass`.

        Returns
        -------
        Pass
            Further accesses may be declared on it.
        """
    def blit(self, name: str, source: _Part, target: _Part, *, filter: _Filter = "linear", **options: Any) -> Pass:
        """Declare a pass that blits an image to another one, scaled and converted.

        Parameters
        ----------
        name
            Its name among passes.
        source, target
            Images, parts of them or names.
        filter
            Between texels: `"linear"` or `"nearest"`.
        **options
            As in `add_pass`.

        Returns
        -------
        Pass
            Further accesses may be declared on it.
        """
    def clear(self, name: str, image: _Part, value: _Color | float | tuple[float, int], **options: Any) -> Pass:
        """Declare a pass that clears an image to one value.

        Parameters
        ----------
        name
            Its name among passes.
        image
            Image, part of one (default: mip 0) or name.
        value
            (red, green, blue, alpha), depth, or (depth, stencil).
        **options
            As in `add_pass`.

        Returns
        -------
        Pass
            Further accesses may be declared on it.
        """
    def fill(self, name: str, buffer: _Part, word: int = 0, **options: Any) -> Pass:
        """Declare a pass that fills a buffer with a 32-bit word.

        Parameters
        ----------
        name
            Its name among passes.
        buffer
            Buffer, part of one (in multiples of four bytes) or name.
        word
            A 32-bit number, unsigned or signed; default: 0.
        **options
            As in `add_pass`.

        Returns
        -------
        Pass
            Further accesses may be declared on it.
        """
    def cpu(
        self,
        name: str,
        function: Callable[[dict[str, memoryview]], object],
        *,
        reads: _Uses = (),
        writes: _Uses = (),
        **options: Any,
    ) -> Pass:
        """Declare a pass that is a function on the CPU, which runs while the GPU works.

        The function is called with a dict of views by the buffers' names: memoryviews of bytes (`view.cast("f")`,
        `numpy.frombuffer(view, "f4")`), writable for buffers that it writes; a tuple of views, access by access, of a
        buffer that the pass accesses in several ranges. It runs on a thread of the device once the buffers that it
        reads are written. Waiting for the frame raises its exceptions unchanged. The views are the function's own
        copies: keeping one is harmless, and writing to it later does nothing.

        Parameters
        ----------
        name
            Its name among passes.
        function
            Called once per frame.
        reads, writes
            Buffers, or names; bytes that the function does not write keep their contents. Copy images to a buffer
            first.
        **options
            As in `add_pass`.

        Returns
        -------
        Pass
            Further accesses may be declared on it.
        """
    def callback(
        self,
        name: str,
        function: Callable[[Commands], object],
        *,
        reads: _Uses = (),
        writes: _Uses = (),
        color: _Part | Sequence[_Part | None] | None = None,
        clear: _Color | Sequence[_Color | None] | _Numbers | None = None,
        load: _Load | Sequence[_Load | None] | _Word | None = None,
        depth: _Part | None = None,
        clear_depth: float | tuple[float, int] | _Depth | None = None,
        load_depth: _Load | _Word | None = None,
        depth_write: bool = True,
        resolve: _Part | Sequence[_Part | None] | None = None,
        resolve_mode: _Resolve | None = None,
        **options: Any,
    ) -> Pass:
        """Declare a pass whose commands a function records.

        The function is called with a `Commands` each time that the frame is recorded; it may use only resources that
        the pass declares. `Device.run` raises its exceptions unchanged.

        Parameters
        ----------
        name
            Its name among passes.
        function
            Called with a `Commands`.
        reads, writes
            Resources: images are sampled or written as storage images, buffers are storage buffers. A dict of resource
            and usage, such as {buffer: "index"}, or the methods of the returned pass name other usages.
        color, clear, load, depth, clear_depth, load_depth, depth_write, resolve, resolve_mode
            Attachments, as in `raster`.
        **options
            As in `add_pass`.

        Returns
        -------
        Pass
            Further accesses may be declared on it.
        """
    def root(self, *resources: Resource | str | Sequence[Resource | str]) -> None:
        """Declare roots, resources that are kept for the caller: passes that contribute to a root run.

        Parameters
        ----------
        *resources
            Images and buffers, or their names; lists of them too.
        """
    def find(self, name: str) -> Image | Buffer:
        """Find an image or a buffer by name: in this module, else in the one around it, and so on.

        Parameters
        ----------
        name
            The name, without those of the modules around it.

        Returns
        -------
        Image or Buffer
            Its handle.

        Raises
        ------
        GraphError
            If none of these modules declares it; the message offers the nearest name.
        """
    def module(self, name: str) -> Module:
        """Declare a module: a part of the graph with names of its own, whose passes take this place in the order.

        Parameters
        ----------
        name
            Prefix of the names in it, followed by `/`.

        Returns
        -------
        Module
            Declare in it, now or later: its passes keep the place where it was declared.

        Raises
        ------
        GraphError
            RG-E219 if the name is empty.
        """
    @property
    def _layers(self) -> dict[str, Any]: ...
    def _layer_place(self, name: str, order: int | None = None) -> Module: ...
    def _place(self, numbers: Sequence[int], names: Module, flag: str | None = None) -> Module: ...
    @property
    def _replaces(self) -> bool: ...
    @property
    def _graph(self) -> Graph: ...
    def layer(
        self,
        name: str,
        color: _Part | Sequence[_Part | None] | None = None,
        depth: _Part | None = None,
        *,
        order: int = 0,
        clear: _Color | Sequence[_Color | None] | _Numbers | None = None,
        clear_depth: float | tuple[float, int] | _Depth | None = None,
    ) -> Layer:
        """Open a layer, a pass with attachments to which others add draws; or find one.

        The layers of a module run where its first one is opened, sorted by `order`, those of equal order as they are
        opened. `Layer.draw` adds a pass to it from anywhere, in the order of keys. The planner merges them into one
        render pass; only a demand of `Layer.behind` interrupts it.

        Parameters
        ----------
        name
            Its name: that of the pass that clears its attachments.
        color
            Colour targets by location, as in `raster`. Without any target: the layer of that name which was opened in
            this module or around it.
        depth
            Depth (and stencil) attachment.
        order
            Its position among the layers of this module.
        clear, clear_depth
            Clear values, as in `raster`. Without any, nothing is cleared and the layer has no pass of its own.

        Returns
        -------
        Layer
            Its methods add passes to it.

        Raises
        ------
        GraphError
            RG-E201 if a layer of that name is open already, RG-E202 if none is.
        """
    def extension_point(self, name: str) -> None:
        """Declare an extension point here: a place in the order of passes where other modules append.

        Parameters
        ----------
        name
            Its name, for `extend`.

        Raises
        ------
        GraphError
            If the name is taken or empty. The graph is left unchanged.
        """
    def extend(self, name: str) -> Module:
        """A module whose passes are appended at an extension point.

        Parameters
        ----------
        name
            Name of the extension point as seen from this module, or the full name of one that is declared before the
            graph is baked.

        Returns
        -------
        Module
            Names in it are those of this module; passes take the place of the extension point, in the order of their
            declaration.
        """

@final
class Graph(Module):
    """A render graph: passes, resources, how each pass uses each resource, and the roots that it keeps.

    A graph is the outermost `Module`; passes and resources are declared with the methods it inherits. `bake` reports
    all mistakes of a declaration at once.

    Parameters
    ----------
    name
        Its name in plans and messages.
    size
        The reference size, (width, height) in texels: the size of images declared without one.
    replace
        Whether a declaration of a taken name replaces the earlier one, in its place: for notebooks, whose cells run
        more than once. Default: such a declaration is refused (RG-E201).

    Examples
    --------
    >>> import rgraph
    >>> g = rgraph.Graph("frame", size=(640, 480))
    >>> out = g.image("out", format="rgba8unorm")
    >>> _ = g.add_pass("draw").color(out, clear=(0, 0, 0, 1))
    >>> g.root(out)
    >>> g.bake().pass_names
    ['draw']
    """

    def __new__(
        cls, name: str = "graph", *, size: Sequence[SupportsIndex] = (1920, 1080), replace: bool = False
    ) -> Self: ...
    @property
    def size(self) -> tuple[int, int]:
        """The reference size, (width, height) in texels."""
    @property
    def passes(self) -> list[Pass]:
        """The passes, in the order of their declaration."""
    @property
    def resources(self) -> list[Image | Buffer]:
        """The images and buffers, in the order of their declaration."""
    def remove(self, *things: Pass | Resource | str) -> None:
        """Remove declarations: passes, images and buffers.

        Removed passes and resources are not baked. If a pass still uses a removed resource, `bake` reports it. A name
        that is declared again gets its earlier place in the order, and its handles are valid again.

        Parameters
        ----------
        *things
            Passes and resources, or their full names.

        Raises
        ------
        GraphError
            If there is no such pass or resource, or both a pass and a resource have the name; the graph is then
            unchanged.
        """
    def clone(self) -> Graph:
        """An independent copy of the graph, with the same declaration and work.

        Later declarations in one do not affect the other. Handles of this graph are valid in the copy; handles that the
        copy makes are not valid here. Functions and imported arrays are shared. `copy.copy(graph)` does the same;
        `Graph.copy` declares a pass.

        Returns
        -------
        Graph
            The copy.

        Examples
        --------
        >>> import rgraph
        >>> g = rgraph.Graph()
        >>> out, debug = g.image("out", format="rgba8unorm"), g.image("debug", format="r8unorm")
        >>> _ = g.add_pass("draw").color(out, clear=(0, 0, 0, 1))
        >>> _ = g.add_pass("look").sampled(out).color(debug)
        >>> g.root(out)
        >>> shown = g.clone()
        >>> shown.root(debug)
        >>> (shown.bake().pass_names, g.bake().pass_names)
        (['draw', 'look'], ['draw'])
        """
    def __copy__(self) -> Graph: ...
    def __deepcopy__(self, memo: Any) -> Graph: ...
    @property
    def needs(self) -> list[str]:
        """Optional features that a device needs for all passes, by Vulkan's names: those that passes name, those of their
        shaders and those of their accesses.
        """
    @property
    def hash(self) -> str:
        """Hash of the declaration in hexadecimal, without source lines; functions are not called."""
    def dump(
        self,
        stage: _Stage,
        profile: Profile | str | PathLike[str] | None = None,
        *,
        policy: _Policy = "auto",
        split_barriers: _Split = "never",
        effort: int | None = None,
        memory: str | int = "balanced",
        max_batches: int | None = 256,
    ) -> str:
        """The result of one stage of the bake as text, one line per item.

        Parameters
        ----------
        stage
            `"resolve"` (passes and their accesses of subresources), `"cull"`, `"depend"` (what each live pass follows),
            `"order"` (order and queues), `"merge"` (physical passes and intervals), `"queues"` (batches, waits,
            sharing), `"alias"` (offsets and alias transitions) or `"barriers"` (barrier calls).
        profile, policy, split_barriers, effort, memory, max_batches
            See `bake`.

        Returns
        -------
        str
            The text; its form may change between versions.

        Raises
        ------
        GraphError
            If anything is wrong with the declaration.
        """
    def bake_devices(
        self,
        profiles: Sequence[Profile | str | PathLike[str]],
        *,
        policy: _Policy = "auto",
        split_barriers: _Split = "never",
        effort: int | None = None,
        memory: str | int = "balanced",
        max_batches: int | None = 256,
        weights: _Weights | None = None,
    ) -> DevicesPlan:
        """Plan the graph for several devices: passes without `device=` go where the modelled frame gains most, and
        contents are copied between devices. No device is opened.

        Parameters
        ----------
        profiles
            The devices in order: each a `Profile`, the name of a built-in one, or the path of a profile file. The first
            one gets the passes that gain nothing elsewhere.
        policy, split_barriers, effort, memory, max_batches, weights
            See `bake`; for each part.

        Returns
        -------
        DevicesPlan
            `frame_us` is its modelled frame, `one_device_us` that of the first device alone.

        Raises
        ------
        GraphError
            If anything is wrong with the declaration; RG-E212 if a pass names a device that is not there.
        """
    def bake(
        self,
        profile: Profile | str | PathLike[str] | None = None,
        *,
        policy: _Policy = "auto",
        split_barriers: _Split = "never",
        timings: bool = False,
        effort: int | None = None,
        memory: str | int = "balanced",
        max_batches: int | None = 256,
        weights: _Weights | None = None,
        propose: Callable[[dict[str, Any], list[Tried]], Mapping[str, Any] | None] | None = None,
    ) -> Plan:
        """Plan the frame for a device.

        A declaration that did not change since its last bake with the same profile and options gives the same `Plan`
        object again. The interpreter lock is released while planning; other threads may declare meanwhile, which
        changes the graph and not this plan.

        Parameters
        ----------
        profile
            The device: a `Profile`, the name of a built-in one, or the path of a profile file; default: `discrete`.
        policy
            Policy for the order of passes: `"auto"`, `"declared"`, `"overlap"`, `"weighted"`, `"exact"` or
            `"box_tree"`.
        split_barriers
            Where barriers are split into events: `"never"`, `"distance"` (where there is work between) or `"always"`.
        timings
            If true, the plan has the time of each stage, so it differs from bake to bake.
        effort
            Effort of the search for orders and placements: 0 tries once, 1 (default) takes about twice as long, each
            further step up to four times as long as the one before. For policy `"exact"`: maximum number of partial
            schedules, default 200,000.
        memory
            Bytes of transients that may be spent to save barrier calls. `"least"`: as many as the declared order keeps
            alive. `"balanced"` (default): a sixteenth more, or 16 MiB where that is more. `"fast"`: all bytes of the
            heap. A number: so many bytes, if an order that is tried fits; otherwise as few as any takes, with a note.
        max_batches
            Maximum number of batches of a frame, one submit each; default: 256, None: no limit. To keep it, passes wait
            for more than they need, and leave queues that they do not name; passes stay on queues that they name, even
            if the limit is then missed. A note of the plan names the change.
        weights
            Durations of passes: the `Report` of a measured frame, `{pass: microseconds}`, or the path of a saved
            report.
        propose
            A function that proposes orders and queues: `propose(problem, tried)` returns `{"order": [passes], "queue":
            {pass: queue}}` (what is left out is the planner's own), or None if it has no other proposal. `problem` has
            the passes with durations, permitted queues and dependencies, `tried` the verdicts so far. Each proposal is
            checked and planned; the plan with the shortest modelled frame is returned, with all verdicts in
            `Plan.tried`. At most 256 proposals.

        Returns
        -------
        Plan
            Immutable; it remembers this declaration, so that `Plan.check` needs no argument.

        Raises
        ------
        GraphError
            If anything is wrong with the declaration: `GraphError.mistakes` has all of it. The graph is unchanged.
        """
    def box_tree(self, profile: Profile | str | PathLike[str] | None = None) -> BoxTree:
        """All permitted orders of the passes that run, as a tree of boxes.

        Parameters
        ----------
        profile
            The device: see `bake`.

        Returns
        -------
        BoxTree
            It counts, samples, flattens and prints them.

        Raises
        ------
        GraphError
            If anything is wrong with the declaration.

        Examples
        --------
        >>> import rgraph
        >>> g = rgraph.Graph()
        >>> for name in ("a", "b"):
        ...     image = g.image(name, format="r8unorm")
        ...     _ = g.add_pass(f"draw {name}", weight_us=10).color(image)
        ...     g.root(image)
        >>> g.box_tree().count()
        2
        """
    def interpret(self) -> list[dict[str, str | None]]:
        """Result of the frame by symbolic execution in declared order, without a plan.

        Returns
        -------
        list of dict
            One dict per frame, for some frames in a row and several settings of the flags: {name and subresource:
            symbol} of everything that is visible outside the frame. Equal symbols are equal contents; None is
            undefined.

        Raises
        ------
        GraphError
            If a name in the declaration is unknown.
        """
    def to_json(self, *, callbacks: _Callbacks = "skip") -> str:
        """The graph file as text, with the text of shaders and without arrays, which `save` writes to sidecar files. Setup
        functions are called.

        Parameters
        ----------
        callbacks
            Passes that are functions: `"skip"` leaves out their work, `"refuse"` refuses the graph.

        Raises
        ------
        GraphError
            If a name in the declaration is unknown.
        """
    def to_dict(self) -> dict[str, Any]:
        """The graph file as plain values."""
    def save(self, path: str | PathLike[str], *, callbacks: _Callbacks = "refuse") -> None:
        """Write the graph file, with shaders and the work of its passes: to a temporary file that is then renamed, so that
        readers never see a part of it.

        Shaders and pictures that were read from files below its folder are referred to by name. Other shaders are
        written into it; arrays, initial values of states included, are written to `NAME.RESOURCE.npy` in its folder,
        the initial value of a buffer of records to `NAME.RESOURCE.bin` as bytes.

        Parameters
        ----------
        path
            Where to write; by convention `NAME.rgraph.json`.
        callbacks
            Passes that are functions: `"refuse"` refuses the graph, `"skip"` leaves out their work.

        Raises
        ------
        GraphError
            If a pass is a function, or a name in the declaration is unknown.
        """
    @staticmethod
    def load(path: str | PathLike[str], *, options: Mapping[str, bool | float | str] | None = None) -> Graph:
        """Read a graph file.

        Parameters
        ----------
        path
            The file. Shaders, pictures and files that it includes are found below its folder.
        options
            Values of the options that it declares: {name: bool, number or text}.

        Raises
        ------
        GraphError
            If the file breaks the file format; the message names path and line.
        ShaderError
            If a shader does not compile.
        OSError
            If it cannot be read.
        """
    @property
    def files(self) -> list[str]:
        """Absolute paths of the files that the graph was read from: its own, those that it includes, shaders, pictures.
        For a graph declared in Python: its shaders, and the files that these include.
        """
    @staticmethod
    def from_json(text: str | bytes, *, options: Mapping[str, bool | float | str] | None = None) -> Graph:
        """Read the text of a graph file.

        Parameters
        ----------
        text
            JSON, as `to_json` writes it. It comes from no folder, so it can name no files.
        options
            See `load`.

        Raises
        ------
        GraphError
            If the text breaks the file format.
        """
    @staticmethod
    def from_dict(values: Mapping[str, Any], *, options: Mapping[str, bool | float | str] | None = None) -> Graph:
        """Read a graph file's plain values.

        Parameters
        ----------
        values
            As `to_dict` gives them.
        options
            See `load`.
        """

@final
class Pass:
    """A pass of one graph: its methods declare its accesses.

    Each method takes handles or names of resources and returns the pass, so that calls can be chained. Arguments that a
    method leaves out follow from the usage.
    """

    @property
    def name(self) -> str:
        """Full name, with the names of the modules around it."""
    @property
    def graph(self) -> Graph:
        """The graph that it is declared in; in a setup function, the graph that is baked."""
    @property
    def queue(self) -> str:
        """The queue that it was declared for."""
    @property
    def execute(self) -> Callable[..., object] | None:
        """The function given as `execute=`, or None."""
    def color(
        self,
        *images: Image | str,
        load: _Load | None = None,
        clear: _Color | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        generate_mips: bool = False,
    ) -> Self:
        """Render to colour attachments.

        Parameters
        ----------
        *images
            Images, or their names.
        load
            Load operation: `"clear"`, `"load"` (kept) or `"discard"`.
        clear
            Clear with (red, green, blue, alpha).
        mips
            Mip levels, half-open `(first, end)`, or one level.
        layers
            Array layers, half-open `(first, end)`, or one layer.
        generate_mips
            If true, generate the mips after the written ones at the end of the pass.
        """
    def depth(
        self,
        *images: Image | str,
        load: _Load | None = None,
        clear: float | tuple[float, int] | None = None,
        stencil_load: _Load | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
    ) -> Self:
        """Test and write a depth and stencil attachment.

        Parameters
        ----------
        *images
            Images, or their names.
        load
            See `color`.
        clear
            Clear with depth, or (depth, stencil), 1 and 0 by default.
        stencil_load
            Load operation of the stencil aspect.
        mips, layers
            See `color`.
        aspects
            `"color"`, `"depth"`, `"stencil"`, one or several; default all.
        """
    def depth_read(
        self,
        *images: Image | str,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
    ) -> Self:
        """Test a depth and stencil attachment without writing it.

        Parameters
        ----------
        *images
            Images, or their names.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        """
    def input_attachment(
        self,
        *images: Image | str,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
    ) -> Self:
        """Read the texel under the fragment from attachments.

        Parameters
        ----------
        *images
            Images, or their names.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        """
    def resolve(
        self,
        *images: Image | str,
        resolves: Image | str | None = None,
        mode: _Resolve | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
    ) -> Self:
        """Resolve a multisampled attachment at the end of the render pass.

        Parameters
        ----------
        *images
            Images, or their names.
        resolves
            The attachment whose samples are resolved, or its name.
        mode
            How samples become one: `"average"` (default), `"sample_zero"`, `"min"` or `"max"`.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        """
    def sampled(
        self,
        *resources: Resource | str,
        stages: _Words | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        unordered: bool = False,
    ) -> Self:
        """Sample images, or read uniform texel buffers.

        Parameters
        ----------
        *resources
            Images and buffers, or their names.
        stages
            Shader stages, one name or several; default: what the queue implies (graphics: `fragment`).
        mips, layers
            See `color`.
        aspects
            See `depth`.
        range
            Bytes of a buffer, half-open `(offset, end)`; default all.
        unordered
            If true, it commutes with the other `unordered` accesses of the resource.
        """
    def storage_read(
        self,
        *resources: Resource | str,
        stages: _Words | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        unordered: bool = False,
    ) -> Self:
        """Read storage images or buffers in shaders.

        Parameters
        ----------
        *resources
            Images and buffers, or their names.
        stages
            See `sampled`.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        range, unordered
            See `sampled`.
        """
    def storage_write(
        self,
        *resources: Resource | str,
        stages: _Words | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        load: _Load | None = None,
        unordered: bool = False,
        generate_mips: bool = False,
    ) -> Self:
        """Write storage images or buffers in shaders; texels and bytes that are not written keep their contents, unless
        `load` discards them.

        Parameters
        ----------
        *resources
            Images and buffers, or their names.
        stages
            See `sampled`.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        range
            See `sampled`.
        load
            See `color`.
        unordered
            See `sampled`.
        generate_mips
            See `color`.
        """
    def storage_read_write(
        self,
        *resources: Resource | str,
        stages: _Words | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        unordered: bool = False,
        generate_mips: bool = False,
    ) -> Self:
        """Read and write storage images or buffers in shaders.

        Parameters
        ----------
        *resources
            Images and buffers, or their names.
        stages
            See `sampled`.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        range, unordered
            See `sampled`.
        generate_mips
            See `color`.
        """
    def uniform(
        self,
        *buffers: Buffer | str,
        stages: _Words | None = None,
        range: tuple[int, int] | None = None,
    ) -> Self:
        """Read uniform buffers.

        Parameters
        ----------
        *buffers
            Buffers, or their names.
        stages, range
            See `sampled`.
        """
    def vertex(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self:
        """Read vertices.

        Parameters
        ----------
        *buffers
            Buffers, or their names.
        range
            See `sampled`.
        """
    def index(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self:
        """Read indices.

        Parameters
        ----------
        *buffers
            Buffers, or their names.
        range
            See `sampled`.
        """
    def indirect(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self:
        """Read the parameters of indirect draws or dispatches.

        Parameters
        ----------
        *buffers
            Buffers, or their names.
        range
            See `sampled`.
        """
    def transfer_src(
        self,
        *resources: Resource | str,
        transfer: str | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
    ) -> Self:
        """Copy, blit or resolve from resources.

        Parameters
        ----------
        *resources
            Images and buffers, or their names.
        transfer
            `"copy"` (default), `"blit"` or `"resolve"`.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        range
            See `sampled`.
        """
    def transfer_dst(
        self,
        *resources: Resource | str,
        transfer: str | None = None,
        load: _Load | None = None,
        clear: _Color | float | tuple[float, int] | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        generate_mips: bool = False,
    ) -> Self:
        """Copy, blit, resolve, clear or fill to resources; the rest keeps its contents, unless `load` discards it.

        Parameters
        ----------
        *resources
            Images and buffers, or their names.
        transfer
            `"copy"` (default), `"blit"`, `"clear"`, `"fill"` or `"resolve"`.
        load
            See `color`.
        clear
            The value that `transfer="clear"` writes.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        range
            See `sampled`.
        generate_mips
            See `color`.
        """
    def host_read(
        self,
        *resources: Resource | str,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
    ) -> Self:
        """Read on the CPU.

        Parameters
        ----------
        *resources
            Images and buffers, or their names.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        range
            See `sampled`.
        """
    def host_write(
        self,
        *resources: Resource | str,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        load: _Load | None = None,
    ) -> Self:
        """Write on the CPU.

        Parameters
        ----------
        *resources
            Images and buffers, or their names.
        mips, layers
            See `color`.
        aspects
            See `depth`.
        range
            See `sampled`.
        load
            See `color`.
        """
    def present(self, *images: Image | str, layers: _Levels | None = None) -> Self:
        """Present images on a surface.

        Parameters
        ----------
        *images
            Images, or their names.
        layers
            See `color`.
        """
    def acceleration_input(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self:
        """Read vertices, indices or instances in an acceleration structure build.

        Parameters
        ----------
        *buffers
            Buffers, or their names.
        range
            See `sampled`.
        """
    def acceleration_build(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self:
        """Build acceleration structures, replacing their contents.

        Parameters
        ----------
        *buffers
            Buffers, or their names.
        range
            See `sampled`.
        """
    def acceleration_update(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self:
        """Update acceleration structures in place.

        Parameters
        ----------
        *buffers
            Buffers, or their names.
        range
            See `sampled`.
        """
    def acceleration_scratch(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self:
        """Use buffers as scratch memory of a build.

        Parameters
        ----------
        *buffers
            Buffers, or their names.
        range
            See `sampled`.
        """
    def acceleration_read(
        self,
        *buffers: Buffer | str,
        stages: _Words | None = None,
        range: tuple[int, int] | None = None,
    ) -> Self:
        """Trace or query acceleration structures, or instance them in a build.

        Parameters
        ----------
        *buffers
            Buffers, or their names.
        stages, range
            See `sampled`.
        """
    def copy(self, source: Resource | str, target: Resource | str) -> Self:
        """Copy from one resource to another.

        Parameters
        ----------
        source
            Image or buffer, or its name.
        target
            Image or buffer, or its name.
        """
    def draw(
        self,
        shader: _Shader | tuple[_Shader, ...],
        *,
        vertices: int = 3,
        instances: int = 1,
        push: _Data | None = None,
        entry: str | None = None,
        constants: Mapping[str | int, float] | None = None,
        vertex_buffers: _Part | Mapping[str, Any] | Sequence[_Part | Mapping[str, Any]] | None = None,
        index: _Part | None = None,
        indirect: _Part | None = None,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> Self:
        """Add a draw to a pass that `raster` declared: to the same targets, after its draws so far.

        Each draw has its own shader, data and state, and declares the resources that it reads.

        Parameters
        ----------
        shader, vertices, instances, push, entry, constants, vertex_buffers, index, indirect, bindings, **variables
            As in `Module.raster`, with the same further keyword arguments for blending, culling and tests; and
            `first_vertex`, `first_instance`, `vertex_offset`, and `key`: draws of a pass are sorted by it.

        Returns
        -------
        Pass
            The pass again, so that calls can be chained.

        Raises
        ------
        ShaderError
            If the shader does not compile (with its line), or data does not fit its layout.
        GraphError
            If bindings or vertex buffers do not match the shader. The graph is left unchanged.
        """
    def _per_run(self, functions: dict[str, Callable[[], Any]]) -> Self: ...
    def uses(self, resource: Resource | str, usage: str, **details: Any) -> Self:
        """Declare an access with any usage.

        Parameters
        ----------
        resource
            Image or buffer, or its name.
        usage
            Name of a usage as in graph files, such as `"sampled"`.
        **details
            `stages`, `mips`, `layers`, `aspects`, `range`, `load`, `stencil_load`, `clear`, `generate_mips`,
            `transfer`, `unordered`, `resolves` and `mode`, as in the other methods.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Commands:
    """Records the commands of one pass while its function runs.

    The pass must declare the resources that a call uses, with the same usage.
    """

    @property
    def pass_name(self) -> str:
        """The pass's name."""
    def dispatch(
        self,
        shader: _Shader,
        *,
        groups: SupportsIndex | Sequence[SupportsIndex] | _Part | None = None,
        push: _Data | None = None,
        entry: str | None = None,
        constants: Mapping[str | int, float] | None = None,
        key: int = 0,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> None:
        """Run a compute shader.

        Parameters
        ----------
        shader, groups, push, entry, constants, key, bindings, **variables
            As in `Module.compute`.
        """
    def draw(
        self,
        shader: _Shader | tuple[_Shader, ...],
        *,
        vertices: int = 3,
        instances: int = 1,
        push: _Data | None = None,
        entry: str | None = None,
        constants: Mapping[str | int, float] | None = None,
        vertex_buffers: _Part | Mapping[str, Any] | Sequence[_Part | Mapping[str, Any]] | None = None,
        index: _Part | None = None,
        indirect: _Part | None = None,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> None:
        """Draw into the pass's attachments.

        Parameters
        ----------
        shader, vertices, instances, push, entry, constants, vertex_buffers, index, indirect, bindings, **variables
            As in `Module.raster`, with the same further keyword arguments for blending, culling and tests; and
            `first_vertex`, `first_instance`, `vertex_offset`, and `key`: draws of a pass are sorted by it.
        """
    def copy(self, source: _Part, target: _Part) -> None:
        """Copy an image or a buffer to another one.

        Parameters
        ----------
        source, target
            As in `Module.copy`.
        """
    def blit(self, source: _Part, target: _Part, *, filter: _Filter = "linear") -> None:
        """Blit an image to another one, scaled and converted.

        Parameters
        ----------
        source, target, filter
            As in `Module.blit`.
        """
    def clear(self, image: _Part, value: _Color | float | tuple[float, int]) -> None:
        """Clear an image to one value.

        Parameters
        ----------
        image, value
            As in `Module.clear`.
        """
    def fill(self, buffer: _Part, word: int = 0) -> None:
        """Fill a buffer with a 32-bit word.

        Parameters
        ----------
        buffer, word
            As in `Module.fill`.
        """

@final
class Profile:
    """A device as the planner sees it: queues, limits, memory, costs.

    Immutable. Made by `discrete`, `single_queue` or `minimal`, read from a file, or from plain values.
    """

    @staticmethod
    def discrete() -> Profile:
        """A discrete GPU: graphics, async compute and transfer queues of three families."""
    @staticmethod
    def single_queue() -> Profile:
        """One queue that does everything."""
    @staticmethod
    def minimal() -> Profile:
        """One queue and the least limits that Vulkan 1.3 guarantees."""
    @staticmethod
    def load(path: str | PathLike[str]) -> Profile:
        """Read a profile file.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        GraphError
            If the file breaks the file format; the message names path and line.
        OSError
            If it cannot be read.
        """
    @staticmethod
    def from_json(text: str | bytes) -> Profile:
        """Read the text of a profile file.

        Parameters
        ----------
        text
            JSON, as `to_json` writes it.
        """
    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Profile:
        """Read a profile file's plain values.

        Parameters
        ----------
        values
            As `to_dict` gives them; everything but `rprofile` and `queues` has a default.
        """
    def to_json(self) -> str:
        """The profile file as text."""
    def to_dict(self) -> dict[str, Any]:
        """The profile file as plain values."""
    def save(self, path: str | PathLike[str]) -> None:
        """Write the profile file: to a temporary file that is then renamed.

        Parameters
        ----------
        path
            Where to write; by convention `NAME.rprofile.json`.
        """
    @property
    def name(self) -> str:
        """Its name in plans."""
    @property
    def queues(self) -> list[str]:
        """Names of its queues, in order."""
    @property
    def features(self) -> list[str] | None:
        """Optional features that the device has, by Vulkan's names; `None`: the profile does not list them, and a bake
        refuses no pass because of one.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[[str], Profile], tuple[str]]: ...

@final
class Plan:
    """The decisions of a bake, with reasons: the order and queues of passes, barriers, memory.

    Immutable; comparable, hashable, picklable. `str(plan)` is a listing. Made by `Graph.bake`, or read from a file.
    """

    @staticmethod
    def load(path: str | PathLike[str]) -> Plan:
        """Read a plan file.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        GraphError
            If the file breaks the file format; the message names path and line.
        OSError
            If it cannot be read.
        """
    @staticmethod
    def from_json(text: str | bytes) -> Plan:
        """Read the text of a plan file.

        Parameters
        ----------
        text
            JSON, as `to_json` writes it.
        """
    def to_json(self) -> str:
        """The plan file as text."""
    def to_dict(self) -> dict[str, Any]:
        """The plan file as plain values."""
    def to_dot(self, graph: Graph | None = None) -> str:
        """The plan as a drawing in the DOT language.

        Parameters
        ----------
        graph
            Its graph; default: the graph it was baked from, as it was then.
        """
    def to_html(
        self,
        graph: Graph | None = None,
        *,
        report: Report | Series | Sequence[Any] | None = None,
        images: Mapping[Any, _Memory | Sequence[_Memory]] | None = None,
        findings: Sequence[Finding] | None = None,
        against: Plan | None = None,
        against_images: Mapping[Any, _Memory | Sequence[_Memory]] | None = None,
    ) -> str:
        """The plan as one self-contained HTML page, to open in a browser, keep or send.

        Parameters
        ----------
        graph
            Its graph; default: the graph it was baked from, as it was then. A plan that was read, without a graph,
            shows the accesses that its file lists.
        report
            The `Report` of a run: the timeline shows measured times, if it has any. Or a list of records with `name`,
            `queue`, `begin_us` and `end_us`, in microseconds. Of many frames a `Series`, or a list of their reports.
        images
            Arrays to look at, by name of the image: `{"lit": frame["lit"]}`; of an image with mips a list of arrays,
            the largest first. Images with a side above 256 texels are shown smaller, each texel a mean.
        findings
            Findings of `Plan.check` to show.
        against
            A later plan to compare with; the differences are those of `diff`.
        against_images
            Arrays of the later plan's images: those that both have are shown before, after, and as a difference; the
            others as images of one plan only.
        """
    def _live(self, live: str, series: Series | None, images: Mapping[str, Any], *, data: bool) -> str:
        """L."""
    def to_svg(self, graph: Graph | None = None, *, view: _Drawing = "plan", width: int = 1000) -> str:
        """A still picture of the plan as SVG, for papers and reports: no script, no font, full names.

        Parameters
        ----------
        graph
            Its graph; default: the graph it was baked from, as it was then.
        view
            What it shows: `"plan"` (timeline and matrix), `"timeline"` (passes by queue), `"resources"` (a row per
            resource with its lifetime and accesses), `"memory"` (the heaps), `"matrix"` (passes against resources).
        width
            In pixels, kept within 320 and 20,000. Wider pictures have room for more names.

        Raises
        ------
        GraphError
            If there is no such view.
        """
    def to_trace(self, report: Report | Sequence[Any] | None = None) -> str:
        """A trace in Chrome's JSON format, which Perfetto, speedscope and chrome://tracing read: queues and the host as
        lanes, memory as a counter, semaphores as arrows, barrier calls as instants, lifetimes of resources as spans.

        Parameters
        ----------
        report
            The `Report` of a run, or a list of records with `name`, `queue`, `begin_us` and `end_us`, in microseconds;
            default, and where a run was not measured: modelled times.
        """
    def _repr_html_(self) -> str: ...
    def _repr_svg_(self) -> str: ...
    def _repr_mimebundle_(
        self, include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
    ) -> dict[str, str]: ...
    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan: to a temporary file that is then renamed, so that readers never see a part of it.

        Parameters
        ----------
        path
            The file. Its suffix selects the kind: `.json` the plan file, `.txt` the listing, `.dot` a drawing (of a
            plan that was baked; one that was read knows no graph), `.html` a page to explore it in a browser, `.svg` a
            still picture, `.trace.json` a trace for Perfetto and speedscope.

        Raises
        ------
        GraphError
            If the suffix is none of these.
        OSError
            If the file cannot be written.
        """
    def diff(self, other: Plan) -> str:
        """Differences from another plan, as text.

        Parameters
        ----------
        other
            The plan after the change.
        """
    def diff_dict(self, other: Plan) -> dict[str, Any]:
        """Differences from another plan, as plain values.

        Parameters
        ----------
        other
            The plan after the change.
        """
    def explain(self, name: Pass | str, graph: Graph | None = None) -> str:
        """Why a pass is where it is: its queue, its place in the order, each barrier before it; or why it is culled.

        Parameters
        ----------
        name
            A pass of the plan, or its name.
        graph
            Its graph; default: the graph it was baked from, as it was then.

        Raises
        ------
        GraphError
            If the plan has no such pass; the message offers the nearest name.
        """
    def check(self, graph: Graph | None = None) -> list[Finding]:
        """Check the plan on an abstract machine that shares no code with the planner.

        Parameters
        ----------
        graph
            Its graph; default: the graph it was baked from, as it was then.

        Returns
        -------
        list of Finding
            Every rule that the plan breaks; empty if it is correct.
        """
    def minimal(self, graph: Graph | None = None) -> list[Redundant]:
        """Find redundant barriers, waits, stages and accesses: those without which the plan is correct, too.

        Each is checked with all others in place, so if either of two barriers suffices, both are listed. Quadratic in
        the size of the plan.

        Parameters
        ----------
        graph
            Its graph; default: the graph it was baked from, as it was then.

        Returns
        -------
        list of Redundant
            In plan order; empty if `check` has findings.
        """
    def certificate(self, graph: Graph | None = None) -> dict[str, Any]:
        """Prove that the plan covers every hazard: for each pair of uses the chain of synchronization between them.

        Parameters
        ----------
        graph
            Its graph; default: the graph it was baked from, as it was then.

        Returns
        -------
        dict
            Plain values for JSON, equal for equal plans: `links` (barriers, dependencies of subpasses, waits, entries,
            exits, with their scopes), `accesses` (which parts of memory passes and layout transitions access), `chains`
            (lists of `link` and `run_before`), `pairs` (`earlier`, `later`, `run_before`, `data`, `chain`). Numbers are
            positions in these lists. `data` says whether the chain carries a write, `run_before` whether it begins in
            the run before.

        Raises
        ------
        PlanError
            If a hazard is not covered, or a layout or owner is not what a use needs.
        """
    def verify(self, certificate: Mapping[str, Any], graph: Graph | None = None) -> None:
        """Verify a certificate of any origin: find all hazard pairs, and follow each chain link by link.

        Parameters
        ----------
        certificate
            As `certificate` returns it.
        graph
            Its graph; default: the graph it was baked from, as it was then.

        Raises
        ------
        PlanError
            If it is of another plan, a pair is missing, or a chain does not hold.
        """
    def interpret(self, graph: Graph | None = None, *, interleavings: int = 4) -> list[dict[str, str | None]]:
        """Result of the plan by symbolic execution of its batches on shared memory.

        Parameters
        ----------
        graph
            Its graph; default: the graph it was baked from, as it was then.
        interleavings
            Number of permitted interleavings of its queues that are run; all of them must compute the same.

        Returns
        -------
        list of dict
            Equal to the result of `Graph.interpret` if the plan is correct.

        Raises
        ------
        PlanError
            If the plan cannot be run, or computes different things in different orders.
        """
    @property
    def graph_name(self) -> str:
        """Name of the graph that it is a plan of."""
    @property
    def graph_hash(self) -> str:
        """Hash of the graph that it is a plan of, in hexadecimal: equal to that graph's `hash`."""
    @property
    def profile(self) -> str:
        """Name of the profile that it was baked for."""
    @property
    def pass_names(self) -> list[str]:
        """Names of the passes that run, in an order in which they may run one by one."""
    @property
    def passes(self) -> list[PlannedPass]:
        """The passes that run, in the order of `pass_names`."""
    @property
    def queues(self) -> list[PlannedQueue]:
        """The queues that it is planned for."""
    @property
    def batches(self) -> list[Batch]:
        """The batches, in an order in which they may be submitted."""
    @property
    def barriers(self) -> list[Barrier]:
        """The dependencies of all barrier calls, in the order of submission."""
    @property
    def memory(self) -> Memory:
        """Heaps, and the placements of transients and roots."""
    @property
    def culled(self) -> dict[str, str]:
        """Passes that do not run, and why: {name: reason}."""
    @property
    def subgraphs(self) -> list[Subgraph]:
        """The parts of the graph without a common resource or dependency."""
    @property
    def sets(self) -> list[PassSet]:
        """Passes that may run at once: sets of the CPU, then sets of the GPU, each in the order in which they run.

        Of the CPU: nothing orders two of them, and none writes what another one uses. Of the GPU: no barrier call,
        event or wait of the plan orders two of them; those of one render pass overlap in rasterisation order.
        """
    @property
    def packets(self) -> list[tuple[str, ...]]:
        """Passes whose packets are sorted together in a run: by `key`, then by program, bindings and push data.

        Dispatches between two barrier calls, events or waits of a queue, and draws of one render pass whose passes are
        `unordered`.
        """
    @property
    def copies(self) -> list[PlanCopy]:
        """Passes that only move bytes, one entry for each pair of source and target."""
    @property
    def notes(self) -> list[str]:
        """Requests that could not be met, and declarations that are valid but suspicious."""
    @property
    def frame_us(self) -> float:
        """Modelled time of the frame in microseconds."""
    @property
    def one_queue_us(self) -> float | None:
        """Modelled time in microseconds of the same order on the graphics queue alone; `None` if no other queue is used."""
    @property
    def bound_us(self) -> float | None:
        """Lower bound in microseconds: no plan of the graph for the profile has a shorter modelled frame; `None` in files
        that do not have it.
        """
    @property
    def critical_path(self) -> list[str]:
        """Names of the passes on the longest path through the dependencies, in order."""
    @property
    def critical_path_us(self) -> float | None:
        """Modelled time of the longest path through the dependencies in microseconds; `None` in files that do not have it."""
    @property
    def load_us(self) -> float | None:
        """Maximum load of a set of queues in microseconds: the work of passes that may run on no other queue, per queue
        of the set; `None` in files that do not have it.
        """
    @property
    def tried(self) -> list[Tried]:
        """Verdicts on what `propose=` of `Graph.bake` proposed, in order: `Tried` records."""
    def what_if(
        self,
        *,
        queue: Mapping[Any, _Queue] | None = None,
        weights: _Weights | None = None,
        drop: Pass | str | Sequence[Pass | str] | None = None,
        heap_limit: int | None = None,
        policy: _Policy | None = None,
        memory: str | int | None = None,
        graph: Graph | None = None,
        profile: Profile | str | PathLike[str] | None = None,
    ) -> WhatIf:
        """Plan the frame again under other choices: in milliseconds, without a device.

        Parameters
        ----------
        queue
            Queues of passes: `{"ssao": "async_compute"}`.
        weights
            Durations of passes: a `Report` with GPU times, `{pass: microseconds}`, or the path of a saved report.
        drop
            Passes that are left out. What only they write counts as imported, so its readers stay, and is no root.
        heap_limit
            Size of the heap of transients in bytes.
        policy, memory
            See `Graph.bake`.
        graph
            Its graph; default: the graph it was baked from, as it was then.
        profile
            Its profile; default: the one it was baked for.

        Returns
        -------
        WhatIf
            The new plan with its times, bytes and bounds, the differences, and an upper bound of what other queues
            could gain.

        Raises
        ------
        GraphError
            If the graph has no such pass (the message offers the nearest name), or the changed graph cannot be baked.
        """
    @property
    def policy(self) -> str:
        """The policy that made the order."""
    @property
    def memory_budget(self) -> str | int | None:
        """The memory budget of the bake: a word or a number of bytes; `None` in files that do not have it."""
    @property
    def optimal(self) -> bool:
        """True if the order is proven optimal (policy `"exact"`)."""
    @property
    def hash(self) -> str:
        """Hash of its decisions in hexadecimal, without timings; equal on every machine."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[[str], Plan], tuple[str]]: ...

@final
class Device:
    """A device that runs graphs.

    Opening one loads Vulkan; declaring and baking do not. Use it in a `with` block, or `close` it. It can be used from
    several threads, and a process can have several; a forked process cannot use it.

    Parameters
    ----------
    device
        `"uuid:…"`, `"pci:…"`, `"name:…"` or an index; default: the environment's `RGRAPH_DEVICE`, else the first one,
        real GPUs before CPU ones.
    loader
        Path of the Vulkan loader, or of a driver itself; default: the system's.
    validate
        Whether the Khronos validation layer is enabled; default: the environment's `RGRAPH_VALIDATE`.
    printf
        Whether `debugPrintfEXT` of shaders prints to logger `rgraph.printf`, level `INFO`; needs the validation layer.
        Default: the environment's `RGRAPH_PRINTF`.
    frames_in_flight
        Frames in flight at once, 1 to 8.
    cache
        A file that keeps compiled pipelines between processes; default: none. A damaged file, or one of another driver,
        is ignored with a message.
    queues
        Maximum number of queues of each kind.
    measure
        Default of `measure` for runs: see `run`. A `Compiled` can have a default of its own.
    sample
        Measure one run of a graph in `sample`, starting with its first; default: every run.
    windows
        Whether `window` can be used: enables surfaces and swapchains.
    rays
        Whether acceleration structures, ray queries and ray-tracing pipelines are enabled; default: if the driver
        has them. `False` opens the first device of a process about 200 ms sooner with NVIDIA's driver; passes that need
        them are then refused (RG-E227).
    costs
        A `Profile`, or the path of a file, with the costs of barriers, submits, waits and copies on this device, as
        `rgraph doctor --measure` writes it; its other fields are ignored. Default: the costs of a typical discrete GPU.

    Raises
    ------
    DeviceError
        If there is no driver, or no suitable device: the message lists the devices found.
        RG-E102 if `rays` is true and the device has none.
    """

    def __new__(
        cls,
        device: str | int | None = None,
        *,
        loader: str | PathLike[str] | None = None,
        validate: bool | None = None,
        printf: bool | None = None,
        frames_in_flight: int = 2,
        cache: str | PathLike[str] | None = None,
        queues: int = 1,
        measure: _Measure = "off",
        sample: int = 1,
        windows: bool = False,
        rays: bool | None = None,
        costs: Profile | str | PathLike[str] | None = None,
    ) -> Self: ...
    @property
    def info(self) -> DeviceInfo:
        """Name, kind, UUID, driver."""
    @property
    def profile(self) -> Profile:
        """The device as the planner sees it, for `Graph.bake`."""
    @property
    def messages(self) -> list[str]:
        """Warnings and errors of the driver and of the validation layer so far; they also go to logger `rgraph`."""
    @property
    def closed(self) -> bool:
        """Whether it was closed."""
    def memory(self) -> DeviceMemory:
        """Allocated memory, its part in use, and its owners, in bytes."""
    def compile(
        self,
        graph: Graph | Plan,
        *,
        of: Graph | None = None,
        policy: _Policy = "auto",
        split_barriers: _Split = "never",
        effort: int | None = None,
        memory: str | int = "balanced",
        max_batches: int | None = 256,
        weights: _Weights | None = None,
        measure: _Measure | None = None,
        sample: int | None = None,
        previous: Compiled | None = None,
    ) -> Compiled:
        """Compile a graph: bake it for this device, and make pipelines and memory.

        Parameters
        ----------
        graph
            A `Graph`, or a `Plan` of one.
        of
            The graph of a plan that was read from a file.
        policy, split_barriers, effort, memory, max_batches
            See `Graph.bake`; only for a `Graph`.
        weights
            See `Graph.bake`; for a `Graph`, and for a plan whose graph `of` was baked with them.
        measure, sample
            Default of `measure` and `sample` for its runs: which GPU times they measure, and one run in how many;
            without them, the device's.
        previous
            The `Compiled` that this one replaces. Persistent resources and histories of the same name and shape keep
            their memory and contents; one whose size, format or depth of history changed is reset, and the report has a
            note about it. The first run follows the last one of `previous`, which refuses to run from then on; its
            frames stay valid.

        Returns
        -------
        Compiled
            Can be run any number of times.

        Raises
        ------
        GraphError
            If anything is wrong with the declaration.
        DeviceError
            If the device lacks a feature, or `previous` is of another device.
        BusyError
            If `previous` was replaced before.
        """
    def prepare(
        self,
        graph: Graph | Plan,
        *,
        of: Graph | None = None,
        policy: _Policy = "auto",
        split_barriers: _Split = "never",
        effort: int | None = None,
        memory: str | int = "balanced",
        max_batches: int | None = 256,
        weights: _Weights | None = None,
        measure: _Measure | None = None,
        sample: int | None = None,
        previous: Compiled | None = None,
    ) -> Preparation:
        """Compile a graph in the background, its pipelines on all cores: frames go on meanwhile.

        `run` of the graph then finds it compiled, or waits for the rest; with `wait_pipelines=False` it does not wait.
        Other graphs find the pipelines that they share. Closing the device gives up what is under way.

        Parameters
        ----------
        graph, of, policy, split_barriers, effort, memory, max_batches, weights, measure, sample, previous
            See `compile`. A graph compiled with other options than those of `run` is only available from
            `Preparation.result`.

        Returns
        -------
        Preparation
            Reports its progress, and can be waited for.

        Raises
        ------
        GraphError
            If the declaration cannot be read. Other errors are in `Preparation.error`.
        DeviceError
            If the device is closed or lost, or `previous` is of another device.
        """
    def run(
        self,
        graph: Graph | Plan | Compiled,
        *,
        inputs: Mapping[Any, _Memory | _Tensor | DeviceResource] | None = None,
        into: Mapping[Any, _Memory] | None = None,
        flags: Mapping[str, bool] | None = None,
        params: Mapping[Any, _Data] | None = None,
        read: _Part | Sequence[_Part] | None = None,
        statistics: bool = False,
        measure: _Measure | None = None,
        chaos: int | None = None,
        memory: str | int | None = None,
        wait: _Waits | None = None,
        signal: _Signals | None = None,
        fence: Fence | int | None = None,
        adapt: bool | Literal["queues"] | Adapt | None = None,
        wait_pipelines: bool = True,
    ) -> Frame:
        """Run a frame.

        A graph that did not change since its last run is not compiled again. An equal graph that is declared again is
        recognised by its declaration and work, if it calls no functions and keeps nothing from frame to frame. The call
        returns when the frame is submitted, after the functions of its CPU passes; reading results waits for it.

        Parameters
        ----------
        graph
            A `Graph`, a `Plan` of one, or what `compile` gave.
        inputs
            Arrays for imported resources by name, in place of those of `import_array`; or a `DeviceResource`. For this
            run only, as flags and parameters are; arrays of `import_array` are read again at each run.
        into
            Arrays that roots are read back into, by name; the call then waits for the frame.
        flags
            Conditional passes to run or skip, by flag; default: run.
        params
            New push data by pass: {"compose": {"strength": 0.5}}; and of uniform blocks that were given as data by
            (pass, variable): {("blur", "params"): {…}}. `"clear"`, `"load"`, `"clear_depth"`, `"load_depth"` and
            `"viewport"` in the place of a variable are those arguments of `Module.raster`, for this run:
            {("sky", "clear"): (0, 0, 1, 1)}. A pass that loads may clear, but not the other way round.
        read
            The roots that are read back; default: all.
        statistics
            If true, the report counts vertices, primitives and invocations.
        measure
            Which GPU times the report has. `"off"`: none, and the frame pays for none. `"frame"`: two timestamps per
            batch; each pass gets its share of its batch's time. `"batches"`: timestamps are written at barrier calls,
            so that passes between two of them still overlap; each gets its share of their time. `"passes"`: timestamps
            are written around each pass, which keeps passes from overlapping: the frame may take several times as long.
            Default: as of the `Compiled`, else of the device, whose default is `"off"`.
        chaos
            A seed: before the frame, the graph runs in other permitted ways, and an error names the pass and the
            resource that make a difference; see `chaos`.
        memory
            See `Graph.bake`; for graphs only; plans and compiled graphs have their own. Default: `"balanced"`.
        adapt
            Look for faster plans while frames run. One frame in a few is measured; with these times other orders, and
            queues of passes with `queue="any"`, are searched by a thread. Each plan found is tried for some frames, and
            stays only if they are shorter beyond the noise; all compute the same. `"queues"`: passes may leave queues
            that they name, too. An `rgraph.Adapt` has further options. `trials` lists the results. Later runs without
            `adapt` use the plan that was kept and try nothing.
        wait
            Semaphores that the run waits for: `(semaphore, value)` or `(semaphore, value, third)`. A semaphore is a
            `Semaphore`, a `BinarySemaphore` or a Vulkan handle; the value of a binary one is `None`. With an imported
            resource only passes that use it, and what follows them, wait. With usages or stages (`"sampled"`,
            `["vertex", "fragment"]`) only these stages of the run wait.
        signal
            Semaphores that the run signals when all its passes are done: `(semaphore, value)`. With an imported
            resource that is declared so (`signal=True`), behind its last use.
        fence
            A `Fence`, or a `VkFence` as an integer, unsignalled: the run signals it when all of it is done, read-backs
            included.
        wait_pipelines
            If false, the call never compiles: a graph that is not ready is prepared in the background (see `prepare`).
            Until it is, frames run the graph as it was declared before, if that has the same inputs, results and flags,
            otherwise the call raises. The first frame that needs a pipeline of a callback makes it.

        Returns
        -------
        Frame
            With the roots' contents by name, and a report.

        Raises
        ------
        NotReadyError
            With `wait_pipelines=False`, until the graph is compiled.
        GraphError
            If the declaration is wrong, or an array does not fit: the message has the expected shape.
        DeviceError
            If the device fails.
        """
    def capture(self, path: str | PathLike[str], *, frames: int = 1) -> Capture:
        """Capture the next runs of this device, of all graphs, into one file; see `Compiled.capture`.

        Parameters
        ----------
        path
            The file; it is written with the last of the runs.
        frames
            Number of runs, 1 to 4096.

        Returns
        -------
        Capture
            The capture under way.

        Raises
        ------
        GraphError
            RG-E222 if the path's folder does not exist, or the path is a folder.
        """
    def replay(self, path: str | PathLike[str], *, anew: bool = False) -> ReplayReport:
        """Run a capture on this device and compare its results with the captured ones, byte by byte.

        The captured plans are checked first. If one does not fit this device, the graph is baked for it, and the report
        has a note about it. The file may come from an untrusted source, as graph files may.

        Parameters
        ----------
        path
            A capture file.
        anew
            If true, each graph is baked for this device instead of taking the captured plan.

        Returns
        -------
        ReplayReport
            Whether all bytes are equal, and where they are not.

        Raises
        ------
        GraphError
            RG-E222 if the file is broken.
        PlanError
            RG-E504 if a captured plan is unsound.
        DeviceError
            If the device lacks a feature.
        """
    def view(self, port: int = 0, *, open: bool = False, measure: _Measure = "batches") -> LiveView:
        """Show the device's frames in a browser: the page follows the program and is updated with each new frame.

        The address is one of this machine only. A second view takes the place of the first. `view.close()` and the end
        of the program end it; after `close` of the device it shows the last frames.

        Parameters
        ----------
        port
            Its port; 0: one that is free.
        open
            Whether a browser is opened.
        measure
            Default of `measure` for runs while the view is open.

        Raises
        ------
        GraphError
            RG-E213 if there is no port of that number.
        OSError
            If the port is taken.
        """
    def trials(self, graph: Graph | Plan | Compiled, *, memory: str | int | None = None) -> Trials:
        """The results of `adapt=` for a graph: the plans that were tried, each with what was changed, what was predicted
        and measured, and why it was kept or not; measured times of the passes; and the plan that is kept.

        Parameters
        ----------
        graph, memory
            See `run`.

        Returns
        -------
        Trials
            `print` shows it as a table.
        """

        ...
    def chaos(
        self,
        graph: Graph | Plan | Compiled,
        *,
        seed: int = 1,
        seeds: int = 1,
        frames: int | None = None,
        inputs: Mapping[Any, _Memory | _Tensor | DeviceResource] | None = None,
        flags: Mapping[str, bool] | None = None,
        params: Mapping[Any, _Data] | None = None,
    ) -> ChaosReport:
        """Run a graph in many ways that its declaration permits, and compare the results, bit for bit.

        The reference is the declared order on one queue, with nothing culled, merged or aliased. Other orders, queues,
        stages of the planner, and other values of unwritten memory must make no difference. If they do, some access is
        not declared, and further runs find the pass and the resource. Each run starts from the same state: persistent
        resources and histories as in a first frame, resources of the device as copies. Functions of passes are called
        in each. Roots and imported resources that are written are compared, mip 0 of each. Sums of floats by
        `unordered` accesses are equal only if the order of additions makes no difference.

        Parameters
        ----------
        graph, inputs, flags, params
            See `run`.
        seed
            The first seed; equal seeds make the same trials.
        seeds
            Number of seeds, at least 1; the search ends with the first finding.
        frames
            Frames of each run, at least 1; default: one, or enough to cover contents that pass from frame to frame.

        Returns
        -------
        ChaosReport
            Trials and findings.

        Raises
        ------
        GraphError
            If the declaration is wrong, or an array does not fit; RG-E213 for 0 seeds or frames.
        DeviceError
            If the device fails.
        """
    def image(
        self,
        name: str,
        size: Sequence[int],
        format: _Format | Format | str,
        *,
        mips: int = 1,
        layers: int = 1,
        memory_domain: _MemoryDomain | None = None,
    ) -> DeviceResource:
        """Make an image that belongs to the caller. Its contents are undefined.

        Parameters
        ----------
        name
            Its name in reports and messages.
        size
            (width, height) in texels.
        format
            Texel format, as in `Module.image`.
        mips, layers
            Mip levels and array layers.
        memory_domain
            Its memory, as in `Module.image`; default: the device's.

        Returns
        -------
        DeviceResource
            Give it to runs as `inputs={name: resource}`.

        Raises
        ------
        DeviceError
            RG-E102 if the device cannot make it, or has no such memory for it.
        """
    def buffer(self, name: str, size: int, *, memory_domain: _MemoryDomain | None = None) -> DeviceResource:
        """Make a buffer that belongs to the caller. Its contents are undefined.

        Parameters
        ----------
        name
            Its name in reports and messages.
        size
            Bytes.
        memory_domain
            Its memory domain, as in `Module.image`; default: device memory. If the CPU can access it,
            `DeviceResource.write` copies straight into it, once no run uses it.

        Returns
        -------
        DeviceResource
            Give it to runs as `inputs={name: resource}`.

        Raises
        ------
        DeviceError
            RG-E102 if the device has no such memory.
        """
    def array(self, shape: SupportsIndex | Sequence[SupportsIndex], dtype: Any = "float32") -> Any:
        """Make a page-locked array for transfers: the device copies from it and into it at the rate of the link, without
        the CPU's help.

        It is an ordinary numpy array whose initial values are undefined. Give it, or a view of it in one piece, to
        `DeviceResource.write`, `DeviceResource.read`, or to a run as an input: these return when the array may be
        changed. Its memory lives as long as the array or a view of it, after the device was closed too, and cannot be
        paged out meanwhile: make a few and keep them.

        Parameters
        ----------
        shape
            Number of elements, or a sequence of them, the slowest axis first.
        dtype
            `"float32"`, `numpy.float32`, `numpy.dtype("f4")`, …

        Returns
        -------
        numpy.ndarray
            C-contiguous and aligned to 64 bytes.

        Raises
        ------
        GraphError
            If elements are Python objects, or there are more bytes than a machine has.
        DeviceError
            If the device is closed, or the host has no memory for it.
        """
    def shared_memory(self, name: str, size: int) -> SharedMemory:
        """Allocate a block of device memory that can be exported to other devices, processes and APIs.

        Parameters
        ----------
        name
            Its name in reports and messages.
        size
            Bytes. Share few large blocks: exporting and importing one costs the same at every size.

        Returns
        -------
        SharedMemory
            Make images and buffers in it, and export it.

        Raises
        ------
        DeviceError
            RG-E102 if the driver shares no memory, RG-E110 if there is none left.
        """
    def import_memory(self, name: str, exported: Exported) -> SharedMemory:
        """Import a block of memory that another device, or one of another process, exported.

        Drivers check little: the record must be one of `SharedMemory.export`, with its own descriptor.

        Parameters
        ----------
        name
            Its name in reports and messages.
        exported
            What `SharedMemory.export` returned. In another process: `exported._replace(fd=received)`. The descriptor
            stays yours to close.

        Returns
        -------
        SharedMemory
            Make images and buffers in it, at the exporter's offsets.

        Raises
        ------
        DeviceError
            RG-E131 if another device or driver exported it, RG-E102 if the driver shares no memory.
        GraphError
            RG-E225 if the descriptor is closed or is no memory, or the size is wrong.
        """
    def import_semaphore(self, exported: Exported) -> Semaphore:
        """Import a timeline semaphore that another device, or one of another process, exported: to wait for, not to
        signal.

        Parameters
        ----------
        exported
            What `Semaphore.export` returned. The descriptor stays yours to close.

        Returns
        -------
        Semaphore
            Runs wait for it: `wait=[(semaphore, value)]`.

        Raises
        ------
        DeviceError
            RG-E131 if another device or driver exported it, RG-E102 if the driver shares no timelines.
        GraphError
            RG-E225 if the descriptor is closed or is no semaphore.
        """
    def binary_semaphore(self, *, shared: Literal["opaque_fd", "sync_fd"] | None = None) -> BinarySemaphore:
        """Make a binary semaphore, which one run signals and another one waits for.

        Parameters
        ----------
        shared
            `"opaque_fd"`: it can be exported to the same device and driver, in other processes and APIs too.
            `"sync_fd"`: each signal can be exported once it was submitted. Default: only this device can use it.

        Returns
        -------
        BinarySemaphore
            It is destroyed when nothing that was submitted uses it.

        Raises
        ------
        DeviceError
            RG-E102 if the driver exports no such descriptors.
        """
    def import_binary_semaphore(self, exported: Exported) -> BinarySemaphore:
        """Import a binary semaphore, or one signal of one, that another device, process or API exported.

        Parameters
        ----------
        exported
            What `BinarySemaphore.export` returned. The caller still has to close the descriptor. For a `sync_fd`, -1
            means a signal that has already happened.

        Returns
        -------
        BinarySemaphore
            Runs wait for it: `wait=[(semaphore, None)]`.

        Raises
        ------
        DeviceError
            RG-E131 if another device or driver exported an `opaque_fd`, RG-E102 if the driver takes no such
            descriptors.
        GraphError
            RG-E225 if the descriptor is closed or is no semaphore.
        """
    def fence(self) -> Fence:
        """Make a fence that runs signal: `device.run(graph, fence=fence)`.

        Returns
        -------
        Fence
            It is destroyed when nothing that was submitted uses it.
        """
    def semaphore(self, value: int = 0, *, shared: bool = False) -> Semaphore:
        """Make a timeline semaphore, which runs wait for and signal: `device.run(graph, wait=[(semaphore, 1)])`.

        Parameters
        ----------
        value
            Its initial value.
        shared
            If true, it can be exported to other devices, processes and APIs, which then wait for it.

        Returns
        -------
        Semaphore
            It is destroyed when nothing that was submitted uses it.

        Raises
        ------
        DeviceError
            RG-E102 if it is `shared`, and the driver exports no timeline semaphores.
        """
    def window(
        self,
        window: int = 0,
        *,
        display: int = 0,
        platform: Literal["x11", "xcb", "wayland", "windows", "surface", "headless"] = "x11",
        size: tuple[int, int] = (1280, 720),
        mode: _PresentMode = "fifo",
        latency: int = 2,
        color: Literal["automatic", "encoded", "linear", "hdr10", "scrgb"] = "automatic",
        fit: Literal["contain", "stretch"] = "contain",
        smooth: bool = True,
    ) -> Window:
        """Open a native window of another library, to show frames in it. The device must be one of `Device(windows=True)`.

        Parameters
        ----------
        window
            The window: an X11 id, a `wl_surface`, an `HWND` or a `VkSurfaceKHR`, as a number.
        display
            What it was opened on: a `Display` of Xlib, an `xcb_connection_t` or a `wl_display`, as a number.
        platform
            `"x11"`, `"xcb"`, `"wayland"`, `"windows"`, `"surface"`, or `"headless"`, which is not visible.
        size
            Width and height in texels, where the window has none of its own (Wayland, headless).
        mode
            Present mode: `"fifo"` waits for the screen; `"fifo_relaxed"`, `"mailbox"` and `"immediate"` if the surface
            supports them.
        latency
            Frames under way before the next one waits, 1 to 8.
        color
            Colour space of the values: `"automatic"` (as for saved pictures), `"encoded"`, `"linear"`; `"hdr10"` and
            `"scrgb"` if the surface supports them.
        fit
            `"contain"` shows an image whole, between black bars; `"stretch"` fills the window.
        smooth
            Whether scaled images are filtered.

        Returns
        -------
        Window
            Close it before the native window goes.

        Raises
        ------
        DeviceError
            RG-E107 if the device cannot show it, or was opened without `windows=True`; RG-E122 if the window is gone.
        """
    def borrow_resource(
        self,
        name: str,
        handle: int,
        size: Sequence[int] | int,
        format: _Format | Format | str | None = None,
        *,
        mips: int = 1,
        layers: int = 1,
        concurrent: bool = False,
    ) -> DeviceResource:
        """Use an image or buffer of foreign Vulkan code on this device.

        rgraph cannot check the handle: it must be of this device, match the arguments, have the usage flags that graphs
        need, and outlive the graphs. Its state is unknown until `DeviceResource.set_state` reports it.

        Parameters
        ----------
        name
            Its name in reports and messages.
        handle
            The `VkImage` or `VkBuffer` as an integer.
        size
            (width, height) in texels of an image, or the bytes of a buffer.
        format
            Texel format of an image; None for a buffer.
        mips, layers
            Mip levels and array layers.
        concurrent
            If true, all queue families share it.

        Returns
        -------
        DeviceResource
            Give it to runs as `inputs={name: resource}`.
        """
    @staticmethod
    def borrow(
        instance: int,
        physical_device: int,
        device: int,
        queues: Sequence[tuple[int, int]],
        *,
        loader: str | PathLike[str] | None = None,
        labels: bool = False,
        features: Sequence[str] = (),
        extensions: Sequence[str] = (),
        frames_in_flight: int = 2,
    ) -> Device:
        """Use the caller's Vulkan device instead of opening one.

        Nothing can check the handles: they must be valid, belong together, and outlive the device and all that is made
        of it. The device must have been made with `timelineSemaphore`, `synchronization2`, `dynamicRendering`,
        `maintenance4` and `shaderZeroInitializeWorkgroupMemory`; its queues are not used by others at the same time.
        Closing leaves it to the caller.

        Parameters
        ----------
        instance, physical_device, device
            `VkInstance` (made for Vulkan 1.3), `VkPhysicalDevice` and `VkDevice` as integers.
        queues
            (family, `VkQueue`) of each queue that may be used; the first is the graphics queue.
        loader
            Path of the Vulkan loader that the instance came from; default: the system's.
        labels
            Whether the instance was made with `VK_EXT_debug_utils`.
        features, extensions
            Further features and extensions that the device was made with, by Vulkan's names: `"samplerAnisotropy"`,
            `"VK_KHR_external_memory_fd"`. rgraph uses nothing else.
        frames_in_flight
            As of `Device`.

        Returns
        -------
        Device
            To be closed before the caller's device is destroyed.

        Raises
        ------
        GraphError
            RG-E225 if a feature's name is unknown.
        DeviceError
            RG-E103 if a queue family does not exist.
        """
    def wait_idle(self) -> None:
        """Wait until the device is idle, then destroy what was waiting for that. Ctrl-C ends the wait."""
    def close(self, *, timeout: float | None = 10.0) -> None:
        """Close the device: wait for the GPU, and refuse everything from now on. A second call does
        nothing. Ctrl-C ends the wait; the device is then still open.

        Memory is freed with the last object that needs it: arrays and views of them stay readable. If a function of a
        pass is running, it continues, and its frame fails.

        Parameters
        ----------
        timeout
            Longest wait in seconds while only semaphores that nobody signals keep the device busy; None: no limit. The
            wait for GPU work has no limit.

        Raises
        ------
        BusyError
            RG-E404 after the timeout; the device is then still open. At the end of a `with` block it refuses all
            further calls.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

@final
class DeviceResource:
    """An image or buffer of a device. Several graphs can use it in turn, and Vulkan code of the caller in between.

    Made by `Device.image` and `Device.buffer`; given to a run as `inputs={name: resource}`, bound to an imported image
    or buffer of the same kind. Afterwards it has the contents that the run wrote.
    """

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def handle(self) -> int:
        """Its Vulkan handle as an integer, for the caller's code on the same device."""
    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of its array."""
    @property
    def dtype(self) -> str:
        """Name of the element type of its array."""
    @property
    def state(self) -> dict[str, Any]:
        """Its last use: a dict of `layout`, `stages`, `access`, `queue` and `family` (indices; None: none owns it) and
        `released` (whether the family released it).
        """
    @property
    def offset(self) -> int | None:
        """First byte in its block of shared memory; None: it lies in none."""
    @property
    def holder(self) -> Holder | None:
        """The user outside of this device that has it, and the semaphore value at which that user is done; None: this
        device has it.
        """
    def release(
        self, to: str, *, signal: tuple[Semaphore, int] | None = None, until: tuple[Semaphore, int] | None = None
    ) -> None:
        """Release it to another user, after all work of this device that uses it; images in layout `general`.

        Parameters
        ----------
        to
            The user's name, for messages.
        signal
            `(semaphore, value)`: signalled once the other user may use it. The call then returns at once; by default it
            waits until the device is done.
        until
            `(semaphore, value)`: reached once the other user is done. Runs that use the resource wait for that. By
            default they refuse it until `acquire`.

        Raises
        ------
        GraphError
            If it lies in no shared memory, or another user has it.
        """
    def acquire(self, *, wait: tuple[Semaphore, int] | None = None, discard: bool = False) -> None:
        """Take it back from its holder, which left images in layout `general`.

        Parameters
        ----------
        wait
            `(semaphore, value)`: runs that use it wait for that. By default the holder is done already.
        discard
            If true, drop the contents: none were written yet.

        Raises
        ------
        GraphError
            If no other user has it.
        """
    def set_state(self, **state: Any) -> None:
        """Set the state in which foreign Vulkan code left it.

        The next run of a graph waits for everything submitted to `queue` so far; foreign work on other queues must be
        done. rgraph cannot check that an image is in the given layout: a wrong one is undefined behaviour in the
        driver. An image of the device's own, which foreign code cannot reach, only takes its own layout, or
        `"undefined"` to drop its contents.

        Parameters
        ----------
        **state
            Keys of `state`; without them nothing uses it: layout `"undefined"`, no stages, no access. A resource that
            one queue family owns and another one uses next keeps its contents only with `released=True`, which requires
            that foreign code recorded the release. Otherwise it is initialised again, and the frame has a note about
            it.

        Raises
        ------
        GraphError
            RG-E225 if the device has no such queue or family, or its own image is in another layout.
        """
    def write(self, array: _Memory) -> None:
        """Write an array to it: mip 0 of all layers, or a buffer's bytes.

        Returns when the array may be changed. The device may still be copying; the next use of the resource waits for
        that. After `handle` was read, the call waits for the copy, since foreign code may use the resource next.

        Parameters
        ----------
        array
            Any object with the buffer protocol, of `shape` and `dtype`; for a buffer, any of as many bytes. The device
            copies an array of `Device.array` without the CPU.
        """
    @overload
    def read(self, *, into: None = None) -> Array:
        """Read mip 0 of all layers, or a buffer's bytes; waits for what wrote it.

        Parameters
        ----------
        into
            An array to read into, of `shape` and `dtype`; for a buffer, any of as many bytes. The device fills an array
            of `Device.array` without the CPU.

        Returns
        -------
        Array or None
            The contents as they are now; None if they went `into` an array.
        """
    @overload
    def read(self, *, into: _Memory) -> None:
        """Read mip 0 of all layers, or a buffer's bytes; waits for what wrote it.

        Parameters
        ----------
        into
            An array to read into, of `shape` and `dtype`; for a buffer, any of as many bytes. The device fills an array
            of `Device.array` without the CPU.

        Returns
        -------
        Array or None
            The contents as they are now; None if they went `into` an array.
        """

@final
class Devices:
    """Several devices that run one graph together, numbered from 0.

    Passes without `device=` go where the modelled frame gains most; contents are copied between devices. Use it in a
    `with` block, or `close` it: that closes the devices that it opened.

    Parameters
    ----------
    devices
        A list; each item is an open `Device`, or what `Device` takes: an index, `"uuid:…"`, `"pci:…"`, `"name:…"`. The
        first one gets the passes that gain nothing elsewhere. A GPU may be named twice.
    validate
        Whether the Khronos validation layer is enabled for devices that are opened here; default: the environment's
        `RGRAPH_VALIDATE`.
    measure, sample
        See `Device`.

    Raises
    ------
    DeviceError
        RG-E103 if the list is empty or a device is not there, RG-E130 if one is closed, RG-E131 if one comes twice.
    """

    def __new__(
        cls,
        devices: Sequence[Device | str | int],
        *,
        validate: bool | None = None,
        measure: _Measure = "off",
        sample: int = 1,
    ) -> Self: ...
    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices in order."""
    @property
    def messages(self) -> list[str]:
        """Warnings and errors of the drivers and of the validation layer so far, of all devices."""
    @property
    def profiles(self) -> list[Profile]:
        """Profiles of the devices, with the cost of copies after `measure_copies`, for `Graph.bake_devices`."""
    def measure_copies(self) -> CopyPrice:
        """Measure copies between the devices, and plan with that cost from now on: `copy_us` and `copy_gb_s` of
        `profiles`. The slowest pair of devices counts.

        Returns
        -------
        CopyPrice
            Cost of a copy, and its route.

        Raises
        ------
        DeviceError
            If a device fails, or has no memory for copies of 64 MiB.
        """
    @property
    def closed(self) -> bool:
        """Whether they were closed."""
    def plan(
        self,
        graph: Graph,
        *,
        policy: _Policy = "auto",
        split_barriers: _Split = "never",
        effort: int | None = None,
        memory: str | int = "balanced",
        max_batches: int | None = 256,
        weights: _Weights | None = None,
    ) -> DevicesPlan:
        """Plan a graph for these devices, by their profiles.

        Parameters
        ----------
        graph
            The graph. Passes with `device=` run on that one; others go where they gain most.
        policy, split_barriers, effort, memory, max_batches, weights
            See `Graph.bake`; for each part.

        Returns
        -------
        DevicesPlan
            `frame_us` is its modelled frame, `one_device_us` that of the first device alone.
        """
    def compile(
        self,
        graph: Graph | DevicesPlan,
        *,
        policy: _Policy = "auto",
        split_barriers: _Split = "never",
        effort: int | None = None,
        memory: str | int = "balanced",
        max_batches: int | None = 256,
        weights: _Weights | None = None,
        measure: _Measure | None = None,
        sample: int | None = None,
    ) -> CompiledDevices:
        """Compile a graph: plan it for these devices, and make pipelines and memory for each part.

        Parameters
        ----------
        graph
            A `Graph`, or a `DevicesPlan`; a plan is checked first.
        policy, split_barriers, effort, memory, max_batches, weights
            See `Graph.bake`; only for a `Graph`.
        measure, sample
            Default of `measure` and `sample` for its runs: which GPU times they measure, and one run in how many.

        Returns
        -------
        CompiledDevices
            Can be run any number of times.

        Raises
        ------
        GraphError
            If anything is wrong with the declaration, or a pass names a device that is not there.
        PlanError
            RG-E504 if the checker has a finding for the plan.
        DeviceError
            If a device lacks a feature that its passes need.
        """
    def run(
        self,
        graph: Graph | DevicesPlan | CompiledDevices,
        *,
        inputs: Mapping[Any, _Memory | DeviceResource] | None = None,
        into: Mapping[Any, _Memory] | None = None,
        flags: Mapping[str, bool] | None = None,
        params: Mapping[Any, _Data] | None = None,
        read: _Part | Sequence[_Part] | None = None,
        statistics: bool = False,
        measure: _Measure | None = None,
        memory: str | int | None = None,
    ) -> Frame:
        """Run a frame, and wait until all devices are done.

        What did not change since the last run is not compiled again. If a device is lost, a function fails or Ctrl-C
        comes, all devices stop at their next step, and the call raises that one error.

        Parameters
        ----------
        graph
            A `Graph`, a `DevicesPlan`, or what `compile` gave.
        inputs, into, flags, params, read, statistics, measure, memory
            See `Device.run`. Parts of roots cannot be read.

        Returns
        -------
        Frame
            With the roots' contents by name, and a report.

        Raises
        ------
        GraphError
            If the declaration is wrong, or an array does not fit: the message has the expected shape.
        DeviceError
            If a device fails.
        """
    def close(self) -> None:
        """Refuse everything from now on, and close the devices that were opened here; devices that were given stay open.
        A second call does nothing. Frames stay readable.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def __len__(self) -> int: ...

@final
class CompiledDevices:
    """A graph compiled for several devices: its plan, and pipelines and memory of each part.

    Later declarations in the graph do not change it. Made by `Devices.compile`.
    """

    def _repr_html_(self) -> str:
        """Table of passes, of what runs are given and leave."""
    @property
    def plan(self) -> DevicesPlan:
        """The plan that is run."""
    @property
    def direct_copies(self) -> int:
        """Number of copies per frame without the CPU. The others go through staging memory of each device, with a CPU copy
        in between.
        """
    @property
    def copy_ways(self) -> list[Literal["cuda", "host", "staged"]]:
        """The way of each copy of the plan: `"cuda"` (CUDA copies from GPU to GPU), `"host"` (through memory of the host
        that both devices have imported) or `"staged"` (a CPU copies between staging memories of the two).
        """
    def run(
        self,
        *,
        inputs: Mapping[Any, _Memory | DeviceResource] | None = None,
        into: Mapping[Any, _Memory] | None = None,
        flags: Mapping[str, bool] | None = None,
        params: Mapping[Any, _Data] | None = None,
        read: _Part | Sequence[_Part] | None = None,
        statistics: bool = False,
        measure: _Measure | None = None,
    ) -> Frame:
        """Run a frame, and wait until all devices are done.

        Parameters
        ----------
        inputs, into, flags, params, read, statistics, measure
            See `Device.run`.

        Returns
        -------
        Frame
            With the roots' contents by name, and a report.
        """
    def set(self, state: Resource | str, array: _Memory) -> None:
        """Set the contents of a persistent resource or a history before the next frame: see `Compiled.set`.

        Parameters
        ----------
        state
            An image or a buffer that lives from frame to frame, or its name.
        array
            Of its shape and dtype, or of as many bytes as the buffer.
        """
    def reset(self, *states: Resource | str) -> None:
        """Reset states to their initial contents, for the next frame; see `Compiled.reset`.

        Parameters
        ----------
        *states
            Images and buffers that live from frame to frame, or their names; default: all of them.
        """

@final
class DevicesPlan:
    """The plan of a graph for several devices: passes by device, in parts, and the copies between them.

    Immutable. `str(plan)` is a listing. Made by `Graph.bake_devices` and `Devices.plan`, or read from a file.
    """

    @staticmethod
    def load(path: str | PathLike[str], of: Graph) -> DevicesPlan:
        """Read a plan file of several devices.

        Parameters
        ----------
        path
            The file, `NAME.rdevices.json`.
        of
            Its graph.

        Raises
        ------
        GraphError
            If the file breaks the file format, or is of another graph.
        OSError
            If it cannot be read.
        """
    @staticmethod
    def from_json(text: str | bytes, of: Graph) -> DevicesPlan:
        """Read the text of a plan file of several devices.

        Parameters
        ----------
        text
            JSON, as `to_json` writes it.
        of
            Its graph.
        """
    def to_json(self) -> str:
        """The plan file as text."""
    def to_dict(self) -> dict[str, Any]:
        """The plan file as plain values."""
    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan: to a temporary file that is then renamed.

        Parameters
        ----------
        path
            Where to write: `.json` the plan file, `.txt` the listing.
        """
    def check(self) -> list[Finding]:
        """Check the plan: follow each device's contents, and compare every access, every result, and all that the next
        frame begins with.

        Returns
        -------
        list of Finding
            Every rule that the plan breaks; empty if it is correct.
        """
    @property
    def graph_name(self) -> str:
        """Name of the graph that it is a plan of."""
    @property
    def graph_hash(self) -> str:
        """Hash of the graph that it is a plan of, in hexadecimal: equal to that graph's `hash`."""
    @property
    def profiles(self) -> list[str]:
        """Names of the devices' profiles, by device."""
    @property
    def parts(self) -> list[DevicesPart]:
        """The parts: `DevicesPart` records."""
    @property
    def copies(self) -> list[DevicesCopy]:
        """The copies between devices: `DevicesCopy` records."""
    @property
    def results(self) -> dict[str, int]:
        """The index of the device that each root is read from, by name."""
    @property
    def frame_us(self) -> float:
        """Modelled frame, in microseconds."""
    @property
    def one_device_us(self) -> float:
        """Modelled frame of the first device alone, in microseconds."""
    @property
    def notes(self) -> list[str]:
        """Requests that could not be met, and why."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Compiled:
    """A graph compiled for a device: its plan, pipelines and memory.

    Later declarations in the graph do not change it. Made by `Device.compile`.
    """

    def _repr_html_(self) -> str:
        """Table of passes, of what runs are given and leave."""
    @property
    def plan(self) -> Plan:
        """The plan that is run."""
    def capture(self, path: str | PathLike[str], *, frames: int = 1) -> Capture:
        """Capture the next runs of this graph into one file, which `rgraph replay` and `Device.replay` run anywhere.

        The file has the graph with its shaders, the plan, the inputs, flags, parameters and results of each run, and
        the contents of persistent resources and histories before the first one. It has the steps that callbacks
        recorded and the bytes that functions of `Graph.cpu` wrote instead of these functions. A captured run waits
        until the device is done. It goes into every capture that is under way.

        Parameters
        ----------
        path
            The file; it is written with the last of the runs.
        frames
            Number of runs, 1 to 4096.

        Returns
        -------
        Capture
            The capture under way.

        Raises
        ------
        GraphError
            RG-E222 if the path's folder does not exist, or the path is a folder; RG-E225 if a multisampled image lives
            from run to run.
        """
    def run(
        self,
        *,
        inputs: Mapping[Any, _Memory | _Tensor | DeviceResource] | None = None,
        into: Mapping[Any, _Memory] | None = None,
        flags: Mapping[str, bool] | None = None,
        params: Mapping[Any, _Data] | None = None,
        read: _Part | Sequence[_Part] | None = None,
        statistics: bool = False,
        measure: _Measure | None = None,
        chaos: int | None = None,
        wait: _Waits | None = None,
        signal: _Signals | None = None,
        fence: Fence | int | None = None,
        adapt: bool | Literal["queues"] | Adapt | None = None,
    ) -> Frame:
        """Run a frame.

        Parameters
        ----------
        inputs, into, flags, params, read, statistics, measure, chaos, adapt
            See `Device.run`.
        wait
            Semaphores that the run waits for: `(semaphore, value)` or `(semaphore, value, third)`. A semaphore is a
            `Semaphore`, a `BinarySemaphore` or a Vulkan handle; the value of a binary one is `None`. With an imported
            resource only passes that use it, and what follows them, wait. With usages or stages (`"sampled"`,
            `["vertex", "fragment"]`) only these stages of the run wait.
        signal
            Semaphores that the run signals when all its passes are done: `(semaphore, value)`. With an imported
            resource that is declared so (`signal=True`), behind its last use.
        fence
            A `Fence`, or a `VkFence` as an integer, unsignalled: the run signals it when all of it is done, read-backs
            included.

        Returns
        -------
        Frame
            With the roots' contents by name, and a report.
        """
    def set(self, state: Resource | str, array: _Memory) -> None:
        """Set the contents of a persistent resource or a history before the next frame.

        The array is copied. For an image with a history (`previous()`), all remembered frames get these contents.

        Parameters
        ----------
        state
            An image or a buffer that lives from frame to frame, or its name.
        array
            An array of its shape and dtype; for a buffer, any of as many bytes.

        Raises
        ------
        GraphError
            If it does not live from frame to frame, or the array does not fit.
        """
    def reset(self, *states: Resource | str) -> None:
        """Reset states to their initial contents, for the next frame.

        Parameters
        ----------
        *states
            Images and buffers that live from frame to frame, or their names; default: all of them. Those that were
            declared without an array become zeros.
        """

@final
class Preparation:
    """A graph that is compiled in the background. Made by `Device.prepare`.

    It continues without a reference to this object, and the device keeps the pipelines.
    """

    @property
    def done(self) -> bool:
        """Whether it is over, with a compiled graph or with an error."""
    @property
    def pipelines(self) -> int:
        """Number of pipelines that the graph needs and the device did not have; 0 until the graph is planned. Pipelines
        that callbacks use are unknown until these record.
        """
    @property
    def pipelines_made(self) -> int:
        """Number of them made so far."""
    @property
    def error(self) -> Exception | None:
        """The exception of the first pass that failed, with the file and line of its declaration; None while it is under
        way, and if nothing failed.
        """
    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is over. Ctrl-C ends the wait, not the preparation.

        Parameters
        ----------
        timeout
            Seconds; default: as long as it takes.

        Returns
        -------
        bool
            True once it is over, also with an error; False after the timeout.
        """
    def result(self, timeout: float | None = None) -> Compiled:
        """The compiled graph; waits for it.

        Parameters
        ----------
        timeout
            Seconds; default: as long as it takes.

        Returns
        -------
        Compiled
            The same one each time.

        Raises
        ------
        NotReadyError
            After the timeout.
        GraphError
            If anything is wrong with the declaration.
        DeviceError
            If the device lacks a feature, fails, or was closed meanwhile.
        """

@final
class Frame:
    """A frame that was submitted: its results by name, and how long it took.

    `frame["out"]` waits for the frame; `frame.done` does not, and `frame.wait` takes a timeout. A frame stays readable
    after later frames, and after its device was closed.
    """

    @property
    def done(self) -> bool:
        """Whether it is done.

        Raises
        ------
        DeviceError
            If the device is lost. Exceptions of a CPU pass's function are raised here too.
        """
    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is done. Ctrl-C ends the wait, not the frame.

        Parameters
        ----------
        timeout
            Seconds; default: as long as it takes.

        Returns
        -------
        bool
            True once it is done; False after the timeout.
        """
    @property
    def report(self) -> Report:
        """GPU time by pass, CPU time, memory, barriers and submits; waits for the frame.

        For a frame on several devices it covers all parts. Queues are named with their device, such as `1 compute`; the
        devices have no common clock, so `timeline` is empty, and `gpu_us` is the longest time of a device.
        """
    @property
    def reports(self) -> list[Report]:
        """The report of each part of a frame on several devices, in the order of `DevicesPlan.parts`; of a frame on one
        device its `report` alone.
        """
    def keys(self) -> list[str]:
        """Names of the resources that were read back; where a run read several parts of one resource, the text of each
        part, such as `lit.mip(1).layer(0)` or `words[0:16]`.
        """
    def values(self) -> list[Array]:
        """All results that were read back, in the order of `keys()`; waits for the frame."""
    def items(self) -> list[tuple[str, Array]]:
        """(name, array) pairs of the results that were read back; waits for the frame."""
    def get(self, name: _Part, default: Any = None) -> Any:
        """The array of a root, or `default` if no root of that name was read back; waits for the frame."""
    def __await__(self) -> Generator[Any, None, Frame]: ...
    def __getitem__(self, name: _Part, /) -> Array: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

@final
class Array:
    """The contents of an image or a buffer after a frame: read it with `numpy.asarray(array)` or `memoryview(array)`,
    which copy nothing. It is read-only.

    An image is (height, width, channels), with (layers, …) or (depth, …) in front where it has several; one that was
    imported from (height, width), a batch of one, or (height, width, 3) has that shape again, and so has an image
    `like` it. A buffer has the shape and dtype that it was declared with, or imported from; else the type that shaders
    have for it (`array<vec3<f32>>`: (n, 3) of `float32`; structs are records); else it is bytes. Numbers of images are
    those of the format: `rgba8unorm` and `rgba8unorm-srgb` are `uint8` as they are stored, `rgba16float` is `float16`,
    `depth32float` is `float32`, integers are integers. Packed formats (`rgb10a2unorm`, `rg11b10ufloat`, `rgb9e5ufloat`)
    are one `uint32` per texel; formats with depth and stencil give the depth (`depth24plus`: 24 bits in `uint32`);
    compressed formats give one texel per block, with the block's bytes as channels.

    The memory lives as long as the array or a view of it, after the device was closed too.

    Arithmetic and comparisons are those of numpy and return numpy arrays; pickling or copying it gives a numpy array,
    too.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape, the slowest axis first."""
    @property
    def dtype(self) -> str | dict[str, Any]:
        """Element type, for `numpy.dtype`: a name such as `"uint8"`, or a dict of fields for records."""
    @property
    def format(self) -> str | None:
        """The image's texel format, or None."""
    @property
    def name(self) -> str:
        """Name of the resource."""
    @property
    def nbytes(self) -> int:
        """Number of bytes."""
    def view(self, dtype: _Dtype) -> Array:
        """The same bytes as elements of another type; the length of the last axis changes with the element size.

        Parameters
        ----------
        dtype
            `"float32"`, `numpy.float32`, `numpy.dtype("f4")`, …

        Returns
        -------
        Array
            An array on the same memory.
        """
    def tobytes(self) -> bytes:
        """A copy of its bytes, in C order."""
    def tolist(self) -> list[Any]:
        """Its numbers as nested lists."""
    def numpy(self, *, copy: bool = False, channels: int | None = None) -> Any:
        """The array as a numpy array; numpy is imported only here.

        Parameters
        ----------
        copy
            If true, return a copy, which is writable and does not keep the read-back memory.
        channels
            How many channels of an image; 3 leaves out alpha. Default: all.
        """
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def __rmatmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __floordiv__(self, other: Any, /) -> Any: ...
    def __rfloordiv__(self, other: Any, /) -> Any: ...
    def __mod__(self, other: Any, /) -> Any: ...
    def __rmod__(self, other: Any, /) -> Any: ...
    def __lshift__(self, other: Any, /) -> Any: ...
    def __rlshift__(self, other: Any, /) -> Any: ...
    def __rshift__(self, other: Any, /) -> Any: ...
    def __rrshift__(self, other: Any, /) -> Any: ...
    def __and__(self, other: Any, /) -> Any: ...
    def __rand__(self, other: Any, /) -> Any: ...
    def __or__(self, other: Any, /) -> Any: ...
    def __ror__(self, other: Any, /) -> Any: ...
    def __xor__(self, other: Any, /) -> Any: ...
    def __rxor__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, modulo: Any = None, /) -> Any: ...
    def __rpow__(self, other: Any, modulo: Any = None, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __invert__(self) -> Any: ...
    def __lt__(self, other: Any, /) -> Any: ...
    def __le__(self, other: Any, /) -> Any: ...
    def __gt__(self, other: Any, /) -> Any: ...
    def __ge__(self, other: Any, /) -> Any: ...
    def __eq__(self, other: object, /) -> Any: ...
    def __ne__(self, other: object, /) -> Any: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file; the suffix selects the format.

        `.npy` holds every array. `.png` holds images: 8-bit ones are written as they are, 16-bit integers with 16 bits.
        Floats are clamped to 0 to 1, taken for linear light, and written as 8-bit sRGB (alpha stays linear); depth is
        written as it is, as 16-bit grey. Two channels become red and green. `.exr` (package OpenEXR) holds floats and
        32-bit integers, and 8-bit images as linear light. `.jpg`, `.tif`, `.bmp` and `.webp` (package pillow) hold what
        an 8-bit PNG holds; `.jpg` and `.bmp` without alpha.

        Parameters
        ----------
        path
            Where to write.

        Raises
        ------
        GraphError
            If the suffix is unknown, the format cannot hold the array, or the package is not installed.
        OSError
            If the file cannot be written.
        """
    def _repr_png_(self) -> bytes | None: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class BoxTree:
    """The tree of boxes that represents all permitted orders of a graph's passes. `str(tree)` draws it.

    A sequence runs its parts one after the other, a parallel box in any order, interleaved too; a prime box has
    dependencies that are neither. Immutable. Made by `Graph.box_tree`.
    """

    def count(self) -> int | None:
        """Number of permitted orders; `None` if there are too many to count."""
    def sample(self, seed: int = 0) -> list[str]:
        """A random permitted order: names of passes. Uniform among all orders where these can be counted.

        Parameters
        ----------
        seed
            Equal seeds give equal orders.
        """
    def flatten(self) -> list[str]:
        """The order of the policy `"box_tree"` on one queue: boxes stay together, the heaviest first."""
    @property
    def passes(self) -> list[str]:
        """Names of the passes, in an order in which they may run one by one."""

@final
class WhatIf:
    """The plan of a graph under other choices, and the plan before. `str(answer)` is a table.

    Immutable. Made by `Plan.what_if`.
    """

    @property
    def before(self) -> Plan:
        """The plan before."""
    @property
    def plan(self) -> Plan:
        """The plan under the other choices. It can be compiled and run as any other one."""
    @property
    def notes(self) -> list[str]:
        """The changes and their consequences, as sentences."""
    @property
    def gain_us(self) -> float:
        """How much shorter the modelled frame is, in microseconds; negative: longer."""
    @property
    def one_queue_us(self) -> float | None:
        """Modelled time in microseconds with all work of the device on the graphics queue; `None` if that queue cannot do
        it.
        """
    @property
    def queue_bound_us(self) -> float:
        """Lower bound in microseconds of the modelled frame with every pass on any queue that can do its work."""
    @property
    def queue_gain_us(self) -> float | None:
        """Upper bound in microseconds of what other queues than the graphics queue could gain; `None` if that queue cannot
        do all work.
        """
    @property
    def diff(self) -> str:
        """Differences of the plans, as text."""
    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; times in microseconds, memory in bytes."""

@final
class Report:
    """The costs of a frame: GPU time of each pass, CPU time, memory, barriers, submits. `str(report)` is a table."""

    @property
    def measure(self) -> _Measure:
        """Which GPU times it has: `"off"`, `"frame"`, `"batches"` or `"passes"`, see `Device.run`."""
    @property
    def gpu_us(self) -> float | None:
        """GPU time of the frame in microseconds, from its first pass to its last; None: it was not measured."""
    @property
    def pass_us(self) -> dict[str, float]:
        """GPU time by pass in microseconds, empty if it was not measured; for CPU passes, their time on the host. With
        `measure="batches"`, passes share the time of those that run together.
        """
    @property
    def timeline(self) -> list[PassSpan]:
        """When each pass ran on the GPU, in the order of their begin: `PassSpan` records, in microseconds from the frame's
        first timestamp on; empty if it was not measured. Passes on the CPU are in `host_spans`.
        """
    @property
    def host_spans(self) -> list[HostSpan]:
        """Work of the host for the frame, by begin: `HostSpan` records, named `"wait"`, `"upload"`, `"record"`, `"submit"`
        or by a CPU pass. Spans may nest. Microseconds from the start that `calibrated` explains.
        """
    @property
    def calibrated(self) -> bool:
        """Whether `host_spans` count from the frame's first timestamp on, as `timeline` does (what came before it is
        negative); else from the first host span. True if the driver has calibrated timestamps.
        """
    @property
    def recorded(self) -> bool:
        """Whether command buffers were recorded; False: those of an earlier run were submitted again."""
    @property
    def notes(self) -> list[str]:
        """Requests that could not be met, and declarations that are valid but suspicious."""
    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; times in microseconds, memory in bytes. Times that were not measured are None."""

def devices(*, loader: str | PathLike[str] | None = None) -> list[DeviceInfo]:
    """The devices that exist, usable or not.

    Parameters
    ----------
    loader
        Path of the Vulkan loader, or of a driver itself; default: the system's.

    Returns
    -------
    list of DeviceInfo
        GPUs before CPU implementations; `missing` is the reason why a device cannot be used.

    Raises
    ------
    DeviceError
        If there is no loader or no driver.
    """

def history() -> list[Plan]:
    """The plans of the last bakes of this process, the latest first; a plan that was baked several times is listed once.

    At most 32 bakes are kept, and fewer of large graphs. `rgraph bake --keep` keeps plans on disk.

    Returns
    -------
    list of Plan
        `history()[0].diff(history()[1])` compares the last two.
    """

def formats() -> list[Format]:
    """All texel formats with their arrays, shader types and abilities; a device may lack some of them.

    Returns
    -------
    list of Format
        Compressed ones last.

    Examples
    --------
    >>> import rgraph
    >>> [one.name for one in rgraph.formats() if one.dtype == "float16" and one.storage]
    ['r16float', 'rg16float', 'rgba16float']
    """

def diagnose(*, loader: str | PathLike[str] | None = None) -> dict[str, Any]:
    """The Vulkan installation of this machine: for `rgraph doctor`, and for programs that report missing parts.

    The result lists missing and failing parts; they raise no exception. A crash of a driver ends the process, so
    `rgraph doctor` queries each driver in a process of its own.

    Parameters
    ----------
    loader
        Path of the Vulkan loader, or of a driver itself; default: the system's.

    Returns
    -------
    dict
        Plain values: `"loader"` (path, found, version, error), `"instance"` (error, extensions, messages of the loader
        and of drivers), `"layers"` and `"devices"`: what identifies each, `"queues"`, `"heaps"` with their budget in
        bytes, `"needs"` and `"offers"` (features by name, whether it has them, what wants them), `"refused"`: why it
        cannot be used, or None; and its profile, as `Profile.to_dict` gives it.

    Examples
    --------
    >>> import rgraph
    >>> found = rgraph.diagnose(loader="/no/such/loader.so")
    >>> found["loader"]["found"], found["devices"]
    (False, [])
    """

def fuzz(seed: int, count: int) -> list[tuple[int, str, Graph, Profile, Plan | None]]:
    """Try generated graphs against the laws that every plan obeys.

    Each is baked with a policy and a splitting of barriers chosen by its seed, checked, interpreted, written and read.
    A graph that breaks a law is made as small as it can be while the same law breaks.

    Parameters
    ----------
    seed
        The first seed.
    count
        Number of seeds.

    Returns
    -------
    list of tuple
        For each seed that breaks a law: (seed, what is broken, graph, profile, plan or None).
    """

def generate(seed: int, *, fewest: int = 5, most: int = 40) -> tuple[Graph, Profile]:
    """A random well-formed graph and a profile that it can be baked for: the same for the same seed on every machine.

    Parameters
    ----------
    seed
        0 to 2^64 - 1.
    fewest
        Approximate minimum number of passes.
    most
        Approximate maximum number of passes.

    Returns
    -------
    tuple of Graph and Profile
        Aimed at edge cases: every usage and queue, sub-ranges, histories, conditions, forward reads.
    """

def shrink(text: str, fails: Callable[[str], bool], most: int) -> str:
    """See `rgraph.testing.shrink`: the same over the text of a JSON document."""

def preview(array: _Memory, format: _Format | Format | str | None = None, size: int = 256) -> bytes:
    """A small PNG picture of an array of any kind, of at most `size` texels a side.

    Parameters
    ----------
    array
        Any object with a buffer: (height, width), (height, width, channels) or (layers, height, width, channels).
    format
        The texel format of its numbers; without one, integers of 8 and 16 bits are normalised.
    size
        Longest side of the picture in texels.
    """

def reflect(
    shader: _Shader | tuple[_Shader, ...],
    *,
    entry: str | None = None,
    constants: Mapping[str | int, float] | None = None,
) -> ShaderReflection:
    """Reflect a shader: what it binds, its data with offsets in bytes, its inputs and outputs, its workgroup.

    This needs no device.

    Parameters
    ----------
    shader
        WGSL or GLSL text, the path of a file, SPIR-V bytes; or (vertex, fragment).
    entry
        The entry point, where the shader has several.
    constants
        Values of its constants, as for `Module.compute`: sizes of arrays and of the workgroup may follow from them.
        Constants that have none count as 1 here.

    Returns
    -------
    ShaderReflection
        The interface of the shader. Variables that it declares and does not use are in `unused` alone, those that no
        pass can bind in `refused` with the reason.

    Raises
    ------
    ShaderError
        If the shader does not compile (with its line).

    Examples
    --------
    >>> import rgraph
    >>> found = rgraph.reflect('''
    ... struct Params { radius: i32, scale: f32 }
    ... @group(0) @binding(0) var<uniform> params: Params;
    ... @group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
    ... @compute @workgroup_size(8, 8) fn main() { textureStore(dst, vec2(params.radius), vec4(params.scale)); }''')
    >>> [(binding.name, binding.kind, binding.reads, binding.writes) for binding in found.bindings]
    [('params', 'uniform', True, False), ('dst', 'image', False, True)]
    >>> [(member.name, member.type, member.offset) for member in found.bindings[0].members]
    [('radius', 'i32', 0), ('scale', 'f32', 4)]
    >>> found.workgroup
    (8, 8, 1)
    """

def _arena_close(base: int) -> bool: ...
def _arena_open(device: int, base: int, size: int) -> None: ...
def _counts() -> dict[str, int]: ...
def _dlpack_capsule(
    owner: object, pointer: int, shape: Sequence[int], code: int, bits: int, device: int, versioned: bool
) -> object: ...
def _lend(resource: Resource, lender: object) -> None: ...
def _end() -> None: ...
def _capture_graphs(path: str | PathLike[str]) -> list[tuple[str, str, str | None]]: ...
def _capture_results(path: str | PathLike[str], nth: int, plan: Plan) -> list[Array]: ...
def _max_file_bytes() -> int: ...
def _mistake(
    code: str,
    message: str,
    help: str,
    resource: str | None = None,
    called: str | None = None,
    sides: Sequence[tuple[str, str, tuple[str, int] | None]] = ...,
) -> _GraphError: ...
def _npy_header(data: bytes) -> tuple[list[int], str, int]: ...
def _numpy(what: str, without: str) -> Any: ...
def _panic(message: str) -> None: ...
def _drawn(header: bytes, steps: list[bytes]) -> tuple[Graph, Profile]: ...
def _png_samples(data: bytes) -> tuple[int, int, int, int, bytes]: ...
def _read_file(path: str | PathLike[str]) -> bytes: ...
def _replay_images(
    device: Device, path: str | PathLike[str], nth: int, plan: Plan, *, anew: bool = False
) -> tuple[ReplayReport, list[Array]]: ...
def _texels(array: _Memory, format: _Format | Format | str | None = None, size: int = 256) -> tuple[Any, ...]: ...
def _write_file(path: str | PathLike[str], data: bytes) -> None: ...
def codes() -> list[tuple[str, str, str]]:
    """All error codes: (code, exception class, title)."""

def schema(kind: str) -> str:
    """The JSON Schema of a file format.

    Parameters
    ----------
    kind
        `"graph"`, `"profile"`, `"plan"` or `"devices"`.
    """

def set_source_tracking(on: bool) -> None:
    """Record file and line of every declaration from now on, or stop doing so; for the whole process.

    Parameters
    ----------
    on
        True to record them; at the start true, unless the environment has `RGRAPH_SOURCE=0`.
    """
