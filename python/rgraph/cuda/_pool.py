"""`Pool`: what a session works on: buffers that the device and CUDA have in common, and their order in time.

Blocks are shared, not resources: each is one allocation of the device, exported and mapped into CUDA's address
space once. Two timelines order the sides, each with one writer: the device signals the one when it leaves a buffer
to CUDA, a stream of the pool's own signals the other. The device submits before CUDA waits, because CUDA loads
kernels lazily and blocks while a stream waits for something that is not submitted. The host waits for neither;
where a driver shares no timelines (lavapipe), it waits for both.
"""

from __future__ import annotations

import contextlib
import ctypes as c
import threading
import weakref
from collections import OrderedDict

from rgraph import _core
from rgraph._core import Device, DeviceResource
from rgraph._errors import DeviceError, GraphError
from rgraph.cuda._driver import NON_BLOCKING, WITHOUT_TIMES, Context, Driver, SemaphoreSignal, SemaphoreWait
from rgraph.cuda._memory import HOLDER, Block, Slot, Timeline

__all__ = ["Part", "Pool"]

BLOCK = 64 << 20
"""Least bytes of a block; what is larger has one of its own."""
MOST_ADOPTED = 64
"""Buffers on memory of others that are kept for the next run with the same tensor."""
MOST_FREE = 1 << 30
"""Bytes of buffers that are kept for later results."""


class Part:
    """A buffer on loan: to a tensor, or to one run. It goes back when nothing uses it."""

    def __init__(self, pool: Pool, slot: Slot, size: int, until: int) -> None:
        self.pool, self.slot, self.size = pool, slot, size
        self.until = until
        """Value of CUDA's timeline after which CUDA is done with it."""
        self.streams: set[int] = set()
        """Streams of CUDA that use it."""

    @property
    def pointer(self) -> int:
        """Address of its first byte for CUDA."""
        return self.slot.pointer

    @property
    def resource(self) -> DeviceResource:
        """The buffer."""
        return self.slot.resource

    def __del__(self) -> None:
        # A device that was lost or closed meanwhile needs nothing back.
        with contextlib.suppress(DeviceError):
            self.pool.give_back(self)


class Pool:
    """Memory and timelines of a device and of CUDA on its GPU, number `ordinal` of CUDA's."""

    def __init__(self, device: Device, driver: Driver, ordinal: int) -> None:
        self.device, self.driver, self.ordinal = device, driver, ordinal
        self.context = Context(driver, ordinal)
        self.lock = threading.RLock()
        self.noted: set[str] = set()
        """Tensors whose copies were noted."""
        self.allocators: list[object] = []
        """What torch allocates with; it calls them as long as it has memory of theirs."""
        self.closed = False
        self._free: dict[int, list[tuple[Slot, int]]] = {}
        self._unknown: list[Slot] = []
        self._adopted: OrderedDict[tuple[int, int], Slot] = OrderedDict()
        self._blocks: list[Block] = []
        self._arenas: list[Block] = []
        """Blocks that torch splits; nothing else lies in them."""
        weakref.finalize(self, _retire, self._arenas).atexit = False
        with driver.current(self.context):
            self.stream = driver.handle("cuStreamCreate", NON_BLOCKING)
            ends = ("cuStreamDestroy_v2", self.stream)
            weakref.finalize(self, driver.end, self.context, ends).atexit = False
            self._vulkan = self._timeline()
            self._cuda = self._timeline() if self._vulkan else None

    def _timeline(self) -> Timeline | None:
        try:
            semaphore = self.device.semaphore(shared=True)
        except DeviceError as error:
            if error.code != "RG-E102":
                raise
            return None
        return Timeline(self.driver, self.context, semaphore, semaphore.export().fd)

    @property
    def shares_timelines(self) -> bool:
        """Whether the sides wait for each other on the GPU; if not, the host waits for both."""
        return self._cuda is not None

    @property
    def own(self) -> int:
        """The handle of the pool's stream."""
        return int(self.stream.value or 0)

    # The sides in time.

    def wait(self, value: int, stream: int) -> None:
        """Let later work on a stream wait until the device left something, by the value of its timeline."""
        if self._vulkan is None or value == 0:
            return
        with self.driver.current(self.context):
            params = SemaphoreWait(value=value)
            handle = c.byref(self._vulkan.imported)
            self.driver("cuWaitExternalSemaphoresAsync", handle, c.byref(params), 1, stream)

    def join(self, follower: c.c_void_p | int, leader: c.c_void_p | int) -> None:
        """Let later work on a stream follow what another one has so far."""
        event = self.driver.handle("cuEventCreate", WITHOUT_TIMES)
        try:
            self.driver("cuEventRecord", event, leader)
            self.driver("cuStreamWaitEvent", follower, event, 0)
        finally:
            self.driver("cuEventDestroy_v2", event)

    def signal(self) -> int:
        """Signal behind all work of the pool's stream; the value. Without timelines the host waits."""
        if self._cuda is None:
            self.driver("cuStreamSynchronize", self.stream)
            return 0
        params = SemaphoreSignal(value=self._cuda.last + 1)
        handle = c.byref(self._cuda.imported)
        self.driver("cuSignalExternalSemaphoresAsync", handle, c.byref(params), 1, self.stream)
        self._cuda.last += 1
        return self._cuda.last

    def leave(self, slot: Slot) -> int:
        """Leave a buffer to CUDA, behind all that the device does with it; the value of its timeline then."""
        with self.lock:
            if self._vulkan is None:
                slot.resource.release(HOLDER)
                return 0
            self._vulkan.last += 1
            slot.resource.release(HOLDER, signal=(self._vulkan.semaphore, self._vulkan.last))
            slot.left = self._vulkan.last
            return slot.left

    def acquire(self, resource: DeviceResource, until: int) -> None:
        """Take a buffer back when CUDA's timeline has a value."""
        if resource.holder is None:
            return
        if self._cuda is not None and until:
            resource.acquire(wait=(self._cuda.semaphore, until))
        else:
            resource.acquire()

    # Memory.

    def _block(self, size: int) -> Block:
        with self.driver.current(self.context):
            return Block(self.device, self.driver, self.context, -(-size // BLOCK) * BLOCK)

    def open_arena(self, size: int) -> Block:
        """A block that `rgraph_cuda_alloc` of the compiled module splits."""
        with self.lock:
            block = self._block(size)
            _core._arena_open(self.ordinal, block.base, block.size)
            self._arenas.append(block)
        return block

    def take(self, size: int) -> Part:
        """A buffer of that many bytes that nothing uses, or that CUDA is about to be done with."""
        with self.lock:
            if self.closed:
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

    def give_back(self, part: Part) -> None:
        with self.lock:
            if self.closed:
                return
            until = part.until
            if part.streams:
                try:
                    with self.driver.current(self.context):
                        for stream in part.streams:
                            self.join(self.stream, stream)
                        until = self.signal()
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

    def find(self, pointer: int, size: int) -> Slot | None:
        """The buffer that those bytes of CUDA's are; None: they are not the pool's."""
        key = (pointer, size)
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
                resource = memory.buffer("CUDA tensor", size, offset=offset, overlap=True, holder=HOLDER)
                self._adopted[key] = slot = Slot(resource, pointer, block)
                if len(self._adopted) > MOST_ADOPTED:
                    self._adopted.popitem(last=False)
                return slot
        return None

    def check(self, device: Device, name: str) -> None:
        """Refuse another device."""
        if device is not self.device:
            hint = "declare the graph with a session of the device that runs it"
            message = f'RG-E131 "{name}" belongs to a CUDA session of another device'
            raise DeviceError(f"{message}\n  help: {hint}", "RG-E131", resource=name, hint=hint)

    def close(self) -> None:
        """Wait for CUDA's work on the pool's memory, and release its unused objects. A second call does nothing."""
        with self.lock:
            if self.closed:
                return
            with self.driver.current(self.context):
                self.driver("cuStreamSynchronize", self.stream)
            self.closed = True
            self._free.clear()
            self._unknown.clear()
            self._adopted.clear()
            self._blocks.clear()
            _retire(self._arenas)


_retired: list[Block] = []
"""Blocks of sessions that ended, where torch still has tensors: nothing reports when those end."""


def _retire(arenas: list[Block]) -> None:
    """Give back blocks that torch split, as soon as it has nothing there."""
    _retired.extend(arenas)
    arenas.clear()
    _retired[:] = [block for block in _retired if not _core._arena_close(block.base)]
