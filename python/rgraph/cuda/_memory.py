"""Blocks of memory, buffers in them, and timelines that the device and CUDA share."""

from __future__ import annotations

import ctypes as c
import os
import weakref

from rgraph._core import Device, DeviceResource, Semaphore
from rgraph.cuda._driver import (
    OPAQUE_FD,
    TIMELINE_FD,
    Context,
    Driver,
    MemoryHandle,
    MemoryRange,
    SemaphoreHandle,
)

__all__ = ["HOLDER", "Block", "Slot", "Timeline"]

HOLDER = "CUDA"


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

    def __init__(self, device: Device, driver: Driver, context: Context, size: int) -> None:
        self.size = size
        self.memory = device.shared_memory(HOLDER, size)
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
        weakref.finalize(self, driver.end, context, *ends).atexit = False

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
