"""A stand-in for CUDA's driver: its memory is lavapipe's, mapped by the host, and its streams do everything at once."""

import ctypes as c
import mmap
import os
from collections import Counter

import numpy as np

import rgraph as rg
from rgraph import _core
from rgraph.cuda import Session, Tensor
from rgraph.cuda._memory import Timeline
from rgraph.cuda._pool import Pool

DATA = 4096
"""Where the bytes of memory begin in a file that lavapipe exports."""
CODES = {"uint8": (1, 8), "float32": (2, 32), "float16": (2, 16), "int32": (0, 32), "uint16": (1, 16)}


HELD = {
    "cuDevicePrimaryCtxRetain": ("context", 1),
    "cuDevicePrimaryCtxRelease_v2": ("context", -1),
    "cuCtxPushCurrent_v2": ("current", 1),
    "cuCtxPopCurrent_v2": ("current", -1),
    "cuStreamCreate": ("stream", 1),
    "cuStreamDestroy_v2": ("stream", -1),
    "cuEventCreate": ("event", 1),
    "cuEventDestroy_v2": ("event", -1),
    "cuImportExternalMemory": ("memory", 1),
    "cuDestroyExternalMemory": ("memory", -1),
    "cuExternalMemoryGetMappedBuffer": ("address", 1),
    "cuMemFree_v2": ("address", -1),
    "cuImportExternalSemaphore": ("semaphore", 1),
    "cuDestroyExternalSemaphore": ("semaphore", -1),
}
"""Calls that make something, and those that give it back."""


class StandIn:
    """The functions of the driver that `rgraph.cuda` calls, with their arguments."""

    def __init__(self, device: rg.Device, *, gpus: int = 1) -> None:
        self.uuids = [bytes.fromhex(device.info.uuid.replace("-", ""))] * gpus
        self.calls: list[str] = []
        self.fails: tuple[str, int] | None = None
        """A call that fails ("": any), and how many of its name go through before."""
        self.maps: dict[int, tuple[mmap.mmap, int]] = {}
        self.semaphores: dict[int, rg.Semaphore] = {}
        self.shared: dict[int, rg.Semaphore] = {}
        """Timelines by the inode of the descriptor that stands for their export."""
        self.held: Counter[str] = Counter()
        """How many there are of each kind that is given back."""
        self.last = 100

    def counts(self) -> Counter[str]:
        """How often each function was called since the last time that this was asked."""
        calls, self.calls = self.calls, []
        return Counter(calls)

    def __getattribute__(self, name: str) -> object:
        if not name.startswith("cu") or name == "cuGetErrorName":
            return object.__getattribute__(self, name)
        function = object.__getattribute__(self, "_" + name.removesuffix("_v2").removesuffix("Async"))

        def call(*arguments: object) -> int:
            self.calls.append(name)
            if self.fails and self.fails[0] in ("", name):
                self.fails = (self.fails[0], self.fails[1] - 1)
                if self.fails[1] < 0:
                    self.fails = None
                    return 999
            function(*arguments)
            for made, (kind, count) in HELD.items():
                if name == made:
                    self.held[kind] += count
            return 0

        return call

    def export(self, semaphore: rg.Semaphore) -> int:
        """A descriptor that stands for a timeline: lavapipe exports none."""
        fd = os.memfd_create("timeline")
        self.shared[os.fstat(fd).st_ino] = semaphore
        return fd

    def new(self) -> int:
        self.last += 1
        return self.last

    def cuGetErrorName(self, result: int, text: object) -> int:
        text._obj.value = b"CUDA_ERROR_UNKNOWN" if result == 999 else None
        return 0

    def _nothing(self, *arguments: object) -> None:
        """What a driver whose work is done at once has nothing to do for."""

    _cuInit = _cuDevicePrimaryCtxRelease = _cuCtxPushCurrent = _cuCtxPopCurrent = _nothing
    _cuStreamSynchronize = _cuStreamWaitEvent = _cuStreamDestroy = _cuEventRecord = _cuEventDestroy = _nothing
    _cuCtxSynchronize = _nothing

    def _cuImportExternalSemaphore(self, made: object, handle: object) -> None:
        fd = handle._obj.fd
        assert handle._obj.kind == 9
        made._obj.value = self.new()
        self.semaphores[made._obj.value] = self.shared.pop(os.fstat(fd).st_ino)
        os.close(fd)

    def _cuDestroyExternalSemaphore(self, imported: c.c_void_p) -> None:
        del self.semaphores[imported.value]

    def _cuDeviceGetCount(self, count: object) -> None:
        count._obj.value = len(self.uuids)

    def _cuDeviceGet(self, device: object, ordinal: int) -> None:
        device._obj.value = ordinal

    def _cuDeviceGetUuid(self, uuid: c.Array, device: c.c_int) -> None:
        uuid.raw = self.uuids[device.value]

    def _made(self, made: object, *arguments: object) -> None:
        made._obj.value = self.new()

    _cuDevicePrimaryCtxRetain = _cuStreamCreate = _cuEventCreate = _made

    def _cuImportExternalMemory(self, made: object, handle: object) -> None:
        fd, size = handle._obj.fd, handle._obj.size
        assert (handle._obj.kind, os.fstat(fd).st_size >= DATA + size) == (1, True)
        made._obj.value = self.new()
        self.maps[made._obj.value] = (mmap.mmap(fd, DATA + size), size)
        os.close(fd)

    def _cuExternalMemoryGetMappedBuffer(self, base: object, imported: c.c_void_p, wanted: object) -> None:
        mapped, size = self.maps[imported.value]
        assert (wanted._obj.offset, wanted._obj.size) == (0, size)
        base._obj.value = c.addressof(c.c_char.from_buffer(mapped)) + DATA

    def _cuMemFree(self, base: int) -> None:
        pass

    def _cuDestroyExternalMemory(self, imported: c.c_void_p) -> None:
        del self.maps[imported.value]

    def _cuMemcpyDtoD(self, to: int, source: int, size: int, stream: c.c_void_p) -> None:
        c.memmove(to, source, size)

    def _cuSignalExternalSemaphores(self, handle: object, params: object, count: int, stream: object) -> None:
        self.semaphores[handle._obj.value].signal(params._obj.value)

    def _cuWaitExternalSemaphores(self, handle: object, params: object, count: int, stream: object) -> None:
        # What was not submitted would never come.
        assert self.semaphores[handle._obj.value].wait(params._obj.value, 10)


class OrderedPool(Pool):
    """A pool with timelines of the stand-in."""

    def _timeline(self) -> Timeline:
        semaphore = self.device.semaphore()
        return Timeline(self.driver, self.context, semaphore, self.driver._library.export(semaphore))


class Ordered(Session):
    """A session with timelines of the stand-in."""

    _kind = OrderedPool


class Foreign:
    """A tensor of another library, in memory of its own."""

    def __init__(self, array: np.ndarray, ordinal: int = 0, *, contiguous: bool = True) -> None:
        self.array, self.ordinal = array, ordinal
        self.streams: list[int | None] = []
        self.contiguous = contiguous

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self.ordinal)

    def __dlpack__(self, *, stream: int | None = None) -> object:
        self.streams.append(stream)
        code, bits = CODES[self.array.dtype.name]
        pointer = self.array.__array_interface__["data"][0]
        return _core._dlpack_capsule(self, pointer, list(self.array.shape), code, bits, self.ordinal, False)


def seen(tensor: Tensor) -> np.ndarray:
    """A tensor's memory, as CUDA sees it."""
    bytes = (c.c_uint8 * tensor.nbytes).from_address(tensor.pointer)
    return np.frombuffer(bytes, tensor.dtype).reshape(tensor.shape)
