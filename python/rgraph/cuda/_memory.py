"""Blocks of memory and timelines that the device and CUDA share, and buffers on loan."""

from __future__ import annotations

import contextlib
import ctypes as c
import os
import weakref
from typing import TYPE_CHECKING

from rgraph._core import DeviceResource, Semaphore
from rgraph._errors import DeviceError
from rgraph.cuda._driver import (
    OPAQUE_FD,
    TIMELINE_FD,
    Context,
    Driver,
    MemoryHandle,
    MemoryRange,
    SemaphoreHandle,
)

if TYPE_CHECKING:
    from rgraph.cuda._session import Session

__all__ = ["BLOCK", "HOLDER", "Block", "Part", "Slot", "Timeline"]

HOLDER = "CUDA"
BLOCK = 64 << 20
"""Least bytes of a block; what is larger has one of its own."""


class Timeline:
    """A timeline semaphore that both sides have."""

    def __init__(self, driver: Driver, context: Context, semaphore: Semaphore, fd: int) -> None:
        self.semaphore = semaphore
        self.last = 0
        handle = SemaphoreHandle(kind=TIMELINE_FD, fd=fd)
        try:
            self.imported = driver.handle("cuImportExternalSemaphore", c.byref(handle))
        except BaseException:
            # A driver that refuses a descriptor leaves it to the caller.
            os.close(fd)
            raise
        # No stream may use it any more, not even to wait.
        ends = (("cuCtxSynchronize",), ("cuDestroyExternalSemaphore", self.imported))
        weakref.finalize(self, driver.end, context, *ends).atexit = False


class Block:
    """A block of shared memory, mapped for CUDA."""

    def __init__(self, session: Session, size: int) -> None:
        driver = session._driver
        self.size = size
        self.memory = session.device.shared_memory(HOLDER, size)
        exported = self.memory.export()
        handle = MemoryHandle(kind=OPAQUE_FD, fd=exported.fd, size=size)
        try:
            imported = driver.handle("cuImportExternalMemory", c.byref(handle))
        except BaseException:
            os.close(exported.fd)
            raise
        base = c.c_uint64()
        try:
            driver("cuExternalMemoryGetMappedBuffer", c.byref(base), imported, c.byref(MemoryRange(size=size)))
        except BaseException:
            driver("cuDestroyExternalMemory", imported)
            raise
        self.base: int = base.value
        # The process's end unmaps by itself, and CUDA may be gone by then.
        # Freeing the address is what unmaps; it waits for work that uses it.
        ends = (("cuMemFree_v2", self.base), ("cuDestroyExternalMemory", imported))
        weakref.finalize(self, driver.end, session._context, *ends).atexit = False

    def offset(self, pointer: int, size: int) -> int | None:
        """Where bytes lie in it; None: elsewhere."""
        inside = self.base <= pointer and pointer + size <= self.base + self.size
        return pointer - self.base if inside else None


class Slot:
    """A buffer of the device, its address for CUDA, and the block that keeps both."""

    def __init__(self, resource: DeviceResource, pointer: int, block: Block) -> None:
        self.resource, self.pointer, self.block = resource, pointer, block
        self.left = 0
        """Value of the device's timeline after which the device is done with it."""


class Part:
    """A buffer on loan: to a tensor, or to one run. It goes back when nothing uses it."""

    def __init__(self, session: Session, slot: Slot, size: int, until: int) -> None:
        self.session, self.slot, self.size = session, slot, size
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
            self.session._give_back(self)
