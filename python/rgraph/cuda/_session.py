"""`Session`: a device and CUDA on one GPU, their memory and their order in time.

Blocks are shared, not resources: each is one allocation of the device, exported and mapped into CUDA's address
space once. Two timelines order the sides, each with one writer: the device signals the one when it leaves a buffer
to CUDA, a stream of the session's own signals the other. The device submits before CUDA waits, because CUDA loads
kernels lazily and blocks while a stream waits for something that is not submitted. The host waits for neither;
where a driver shares no timelines (lavapipe), it waits for both.
"""

from __future__ import annotations

import contextlib
import ctypes as c
import math
import threading
import weakref
from collections import OrderedDict
from typing import Any, Literal, overload

from rgraph import _core
from rgraph._core import Buffer, Device, DeviceResource, Format, Image, Module
from rgraph._errors import DeviceError, GraphError
from rgraph.cuda._driver import NON_BLOCKING, WITHOUT_TIMES, Context, Driver, SemaphoreSignal, SemaphoreWait
from rgraph.cuda._lease import Export, Import
from rgraph.cuda._memory import BLOCK, HOLDER, Block, Part, Slot, Timeline
from rgraph.cuda._tensor import Given, mistake, parsed

__all__ = ["Session"]

MOST_ADOPTED = 64
"""Buffers on memory of others that are kept for the next run with the same tensor."""
MOST_FREE = 1 << 30
"""Bytes of buffers that are kept for later results."""

_CHANNELS = {1: "r", 2: "rg", 4: "rgba"}
_NUMBERS = {
    "uint8": "8unorm",
    "int8": "8snorm",
    "uint16": "16uint",
    "int16": "16sint",
    "float16": "16float",
    "uint32": "32uint",
    "int32": "32sint",
    "float32": "32float",
}


class Session:
    """Connects a device with CUDA on the same GPU.

    Parameters
    ----------
    device
        The device; its GPU is found among CUDA's by UUID.
    library
        An object with the functions of CUDA's driver; default: `libcuda.so.1`, or the library that the
        environment's `RGRAPH_CUDA` names.

    Raises
    ------
    DeviceError
        RG-E102 if there is no CUDA driver, `RGRAPH_CUDA` is `off`, CUDA does not know the GPU, or the device shares no
        memory; RG-E121 if CUDA fails.
    """

    def __init__(self, device: Device, *, library: Any = None) -> None:
        self.device: Device = device
        """The device."""
        self._driver = driver = Driver(library)
        uuid = bytes.fromhex(device.info.uuid.replace("-", ""))
        found = driver.devices()
        ordinals = [ordinal for ordinal, known in found if known == uuid]
        if not ordinals:
            hint = "open the GPU with rgraph that CUDA has, or exchange arrays through the host"
            text = (
                f"RG-E102 CUDA does not know {device.info.name}: no GPU of its {len(found)} has UUID {device.info.uuid}"
            )
            raise DeviceError(f"{text}\n  help: {hint}", "RG-E102", hint=hint)
        self.ordinal: int = ordinals[0]
        """CUDA's number of the GPU."""
        self._context = Context(driver, self.ordinal)
        self._lock = threading.RLock()
        self._free: dict[int, list[tuple[Slot, int]]] = {}
        self._unknown: list[Slot] = []
        self._adopted: OrderedDict[tuple[int, int], Slot] = OrderedDict()
        self._blocks: list[Block] = []
        self._arenas: list[Block] = []
        """Blocks that torch splits; nothing else lies in them."""
        weakref.finalize(self, _retire, self._arenas).atexit = False
        self._allocators: list[object] = []
        self._noted: set[str] = set()
        self._closed = False
        with driver.current(self._context):
            self._stream = driver.handle("cuStreamCreate", NON_BLOCKING)
            ends = ("cuStreamDestroy_v2", self._stream)
            weakref.finalize(self, driver.end, self._context, ends).atexit = False
            self._vulkan = self._timeline()
            self._cuda = self._timeline() if self._vulkan else None

    def _timeline(self) -> Timeline | None:
        try:
            semaphore = self.device.semaphore(shared=True)
        except DeviceError as error:
            if error.code != "RG-E102":
                raise
            return None
        return Timeline(self._driver, self._context, semaphore, semaphore.export().fd)

    @property
    def shares_timelines(self) -> bool:
        """Whether the sides wait for each other on the GPU; if not, the host waits for both."""
        return self._cuda is not None

    # The sides in time.

    def _wait(self, value: int, stream: int) -> None:
        """Let later work on a stream wait until the device left something, by the value of its timeline."""
        if self._vulkan is None or value == 0:
            return
        with self._driver.current(self._context):
            params = SemaphoreWait(value=value)
            handle = c.byref(self._vulkan.imported)
            self._driver("cuWaitExternalSemaphoresAsync", handle, c.byref(params), 1, stream)

    def _join(self, follower: c.c_void_p | int, leader: c.c_void_p | int) -> None:
        """Let later work on a stream follow what another one has so far."""
        event = self._driver.handle("cuEventCreate", WITHOUT_TIMES)
        try:
            self._driver("cuEventRecord", event, leader)
            self._driver("cuStreamWaitEvent", follower, event, 0)
        finally:
            self._driver("cuEventDestroy_v2", event)

    def _signal(self) -> int:
        """Signal behind all work of the session's stream; the value. Without timelines the host waits."""
        if self._cuda is None:
            self._driver("cuStreamSynchronize", self._stream)
            return 0
        params = SemaphoreSignal(value=self._cuda.last + 1)
        handle = c.byref(self._cuda.imported)
        self._driver("cuSignalExternalSemaphoresAsync", handle, c.byref(params), 1, self._stream)
        self._cuda.last += 1
        return self._cuda.last

    def _leave(self, slot: Slot) -> int:
        """Leave a buffer to CUDA, behind all that the device does with it; the value of its timeline then."""
        with self._lock:
            if self._vulkan is None:
                slot.resource.release(HOLDER)
                return 0
            self._vulkan.last += 1
            slot.resource.release(HOLDER, signal=(self._vulkan.semaphore, self._vulkan.last))
            slot.left = self._vulkan.last
            return slot.left

    def _acquire(self, resource: DeviceResource, until: int) -> None:
        """Take a buffer back when CUDA's timeline has a value."""
        if resource.holder is None:
            return
        if self._cuda is not None and until:
            resource.acquire(wait=(self._cuda.semaphore, until))
        else:
            resource.acquire()

    # Memory.

    def _block(self, size: int) -> Block:
        with self._driver.current(self._context):
            return Block(self, -(-size // BLOCK) * BLOCK)

    def _arena(self, size: int) -> Block:
        """A block that `rgraph_cuda_alloc` of the compiled module splits."""
        with self._lock:
            block = self._block(size)
            _core._arena_open(self.ordinal, block.base, block.size)
            self._arenas.append(block)
        return block

    def _take(self, size: int) -> Part:
        """A buffer of that many bytes that nothing uses, or that CUDA is about to be done with."""
        with self._lock:
            if self._closed:
                hint = "open a session, or declare the graph again with another one"
                raise DeviceError(f"RG-E130 the CUDA session is closed\n  help: {hint}", "RG-E130", hint=hint)
            if free := self._free.get(size):
                slot, until = free.pop(0)
                return Part(self, slot, size, until)
            for block in self._blocks:
                with contextlib.suppress(GraphError):
                    resource = block.memory.buffer("CUDA tensor", size)
                    return Part(self, Slot(resource, block.base + (resource.offset or 0), block), size, 0)
            block = self._block(size)
            self._blocks.append(block)
            resource = block.memory.buffer("CUDA tensor", size)
            return Part(self, Slot(resource, block.base + (resource.offset or 0), block), size, 0)

    def _give_back(self, part: Part) -> None:
        with self._lock:
            if self._closed:
                return
            until = part.until
            if part.streams:
                try:
                    with self._driver.current(self._context):
                        for stream in part.streams:
                            self._join(self._stream, stream)
                        until = self._signal()
                except DeviceError:
                    # Nothing knows when these streams are done with it, so nobody gets its memory.
                    self._unknown.append(part.slot)
                    raise
            self._free.setdefault(part.size, []).append((part.slot, until))
            kept = sum(size * len(slots) for size, slots in self._free.items())
            if kept > MOST_FREE:
                self._trim()

    def _trim(self) -> None:
        """Give back buffers that CUDA is done with."""
        done = self._cuda.semaphore.value if self._cuda else 0
        self._free = {size: [one for one in slots if one[1] > done] for size, slots in self._free.items()}
        self._free = {size: slots for size, slots in self._free.items() if slots}

    def _find(self, given: Given) -> Slot | None:
        """The buffer that a tensor is; None: its memory is not the session's."""
        key = (given.pointer, given.nbytes)
        if key in self._adopted:
            self._adopted.move_to_end(key)
            return self._adopted[key]
        for block in (*self._arenas, *self._blocks):
            offset = block.offset(*key)
            if offset is None:
                continue
            # The device may ask for more alignment than the tensor has.
            with contextlib.suppress(GraphError):
                memory = block.memory
                resource = memory.buffer("CUDA tensor", key[1], offset=offset, overlap=True, holder=HOLDER)
                self._adopted[key] = slot = Slot(resource, given.pointer, block)
                if len(self._adopted) > MOST_ADOPTED:
                    self._adopted.popitem(last=False)
                return slot
        return None

    def allocator(self, size: int) -> Any:
        """Make an allocator for torch: tensors of its pool are inputs of graphs without a copy.

        >>> pool = torch.cuda.MemPool(cuda.allocator(1 << 30))
        >>> with torch.cuda.use_mem_pool(pool):
        ...     frame = torch.empty(2160, 3840, 4, device="cuda")

        Parameters
        ----------
        size
            Bytes that it has; where they are used up, torch reports that it is out of memory.

        Returns
        -------
        allocator
            For `torch.cuda.MemPool`. The session keeps its memory.
        """
        import torch

        self._arena(size)
        path = str(_core.__file__)
        pluggable = torch.cuda.memory.CUDAPluggableAllocator(path, "rgraph_cuda_alloc", "rgraph_cuda_free")
        self._allocators.append(pluggable)
        return pluggable.allocator()

    def close(self) -> None:
        """Wait for CUDA's work on the session's memory, and release its unused objects. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            with self._driver.current(self._context):
                self._driver("cuStreamSynchronize", self._stream)
            self._closed = True
            self._free.clear()
            self._unknown.clear()
            self._adopted.clear()
            self._blocks.clear()
            _retire(self._arenas)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Declarations.

    @overload
    def import_tensor(
        self,
        g: Module,
        name: str,
        tensor: Any,
        *,
        format: Format | str | None = None,
        as_buffer: Literal[False] = False,
    ) -> Image: ...

    @overload
    def import_tensor(self, g: Module, name: str, tensor: Any, *, as_buffer: Literal[True]) -> Buffer: ...

    def import_tensor(
        self, g: Module, name: str, tensor: Any, *, format: Format | str | None = None, as_buffer: bool = False
    ) -> Image | Buffer:
        """Declare an image (or a buffer) with the contents of a tensor of CUDA's.

        Each run reads the tensor behind the work that its stream has by then; work that comes later waits for the
        run. A tensor in the session's memory is not copied: one that `allocator` has, or what a graph left. Any
        other is copied once on the GPU, with a note to logger `rgraph`. `inputs={name: tensor}` of a run gives
        another tensor of the shape.

        Parameters
        ----------
        g
            Graph or module.
        name
            Name of the buffer that the tensor is. The image is `NAME/image`, the pass that fills it `NAME/upload`.
        tensor
            A contiguous tensor of torch, cupy or jax on the session's GPU: of shape (height, width) or (height, width,
            channels) with 1, 2 or 4 channels; of any shape for a buffer. Its gradient is not followed.
        format
            Another texel format with texels of that many bytes.
        as_buffer
            A buffer with the tensor's bytes instead of an image.

        Returns
        -------
        Image or Buffer
            To be read by passes; a buffer may be written, too.

        Raises
        ------
        GraphError
            RG-E320 if it is no tensor of CUDA's, of another GPU, without numbers, not contiguous, or no image can have
            such contents.
        """
        given = Given.read(tensor, name, -1)
        self._check_ordinal(given, name)
        lender = Import(self, name, tensor, given.shape, given.dtype)
        buffer = g.import_buffer(name, given.nbytes)
        _core._lend(buffer, lender)
        if as_buffer:
            return buffer
        height, width, texel = _texels(name, given.shape, given.dtype)
        image = g.image(f"{name}/image", (width, height), format or texel)
        g.copy(f"{name}/upload", buffer, image)
        return image

    def export_tensor(
        self,
        g: Module,
        name: str,
        source: Image | Buffer,
        *,
        shape: tuple[int, ...] | None = None,
        dtype: str = "uint8",
    ) -> Buffer:
        """Declare that an image or a buffer is copied to a tensor of CUDA's: `frame[name]` is a `Tensor`.

        Parameters
        ----------
        g
            Graph or module.
        name
            Name of the tensor's buffer. The pass that fills it is `NAME/download`.
        source
            An image of a colour format and one layer, or a buffer.
        shape, dtype
            Of a buffer's tensor; default: its bytes. An image is (height, width, channels) of its format's numbers.

        Returns
        -------
        Buffer
            The tensor's buffer.

        Raises
        ------
        GraphError
            RG-E320 if the size is not known yet, or CUDA has no such numbers.
        """
        if isinstance(source, Image):
            known = Format(source.format) if source.format is not None else None
            size = source.size
            if known is None or known.bits == 0 or known.attachment != "color" or size is None or len(size) != 2:
                message = f'"{source.name}" of format {source.format} and size {size} is no tensor'
                hint = "declare width, height and a plain colour format, or copy it to a buffer"
                raise mistake("RG-E320", message, hint, source.name)
            width, height = size
            dtype = known.dtype
            shape = (height, width) if known.channels == 1 else (height, width, known.channels)
        elif shape is None:
            shape = (int(source.size or 0) * 8 // parsed(dtype)[1],)
        buffer = self.tensor(g, name, shape, dtype)
        g.copy(f"{name}/download", source, buffer)
        return buffer

    def tensor(self, g: Module, name: str, shape: tuple[int, ...], dtype: str = "float32") -> Buffer:
        """Declare a buffer that passes write and CUDA reads, without a copy: `frame[name]` is a `Tensor`.

        Parameters
        ----------
        g
            Graph or module.
        name
            Its name.
        shape
            Shape of the tensor.
        dtype
            Kind of its numbers: `"float32"`, `"uint8"`, …

        Returns
        -------
        Buffer
            It holds anything before a pass of the run writes it.

        Raises
        ------
        GraphError
            RG-E320 if it has no numbers, or CUDA has none of that kind.
        """
        size = math.prod(shape) * parsed(dtype)[1] // 8
        if size <= 0 or min(shape, default=1) <= 0:
            message = f'the tensor "{name}" of shape {tuple(shape)} has no numbers'
            raise mistake("RG-E320", message, "declare every side of it as 1 or more", name)
        buffer = g.import_buffer(name, size)
        _core._lend(buffer, Export(self, name, tuple(shape), dtype, size))
        return buffer

    def _check_ordinal(self, given: Given, name: str) -> None:
        """Refuse a tensor of another GPU."""
        if given.ordinal != self.ordinal:
            message = f'the tensor of "{name}" is on CUDA device {given.ordinal}, and the graph on {self.ordinal}'
            raise mistake("RG-E320", message, f'move it there: tensor.to("cuda:{self.ordinal}")', name)

    def _check(self, device: Device, name: str) -> None:
        if device is not self.device:
            hint = "declare the graph with a session of the device that runs it"
            message = f'RG-E131 "{name}" belongs to a CUDA session of another device'
            raise DeviceError(f"{message}\n  help: {hint}", "RG-E131", resource=name, hint=hint)

    def __repr__(self) -> str:
        return f"<Session of {self.device.info.name}, CUDA device {self.ordinal}{', closed' if self._closed else ''}>"


_retired: list[Block] = []
"""Blocks of sessions that ended, where torch still has tensors: nothing reports when those end."""


def _retire(arenas: list[Block]) -> None:
    """Give back blocks that torch split, as soon as it has nothing there."""
    _retired.extend(arenas)
    arenas.clear()
    _retired[:] = [block for block in _retired if not _core._arena_close(block.base)]


def _texels(name: str, shape: tuple[int, ...], dtype: str) -> tuple[int, int, str]:
    """Height, width and format of a tensor as an image."""
    channels = shape[2] if len(shape) == 3 else 1
    if len(shape) not in (2, 3) or channels not in _CHANNELS or dtype not in _NUMBERS:
        message = f'the tensor of "{name}" of shape {shape} and kind {dtype} is no image'
        hint = "give (height, width) or (height, width, channels) with 1, 2 or 4 channels; or as_buffer=True"
        raise mistake("RG-E320", message, hint, name)
    return shape[0], shape[1], _CHANNELS[channels] + _NUMBERS[dtype]
