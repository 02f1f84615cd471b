"""Rates of CUDA's own copies between two GPUs: `devices.py --probe` prints them with those of rgraph.

Both ends are memory of `cuMemCreate` that both GPUs access, as those of rgraph's copies. The host waits by asking the
stream, as rgraph does; `pushed` is by a stream of the source, `pulled` by one of the target.
"""

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PINNED, DEVICE, POSIX_FD, READ_WRITE, NON_BLOCKING, NOT_READY = 1, 1, 1, 3, 1, 600
SMALL = 64 << 10


class Location(ctypes.Structure):
    """`CUmemLocation`."""

    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Kind(ctypes.Structure):
    """`CUmemAllocationProp`."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", Location),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class Access(ctypes.Structure):
    """`CUmemAccessDesc`."""

    _fields_ = (("location", Location), ("flags", ctypes.c_int))


class Cuda:
    """CUDA's driver: each call raises an error by its number."""

    def __init__(self) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)

    def __call__(self, name: str, *given: object) -> None:
        """Call a function."""
        result = getattr(self._driver, name)(*given)
        if result:
            raise OSError(f"{name} returned {result}")

    def is_over(self, stream: ctypes.c_void_p) -> bool:
        """Whether a stream has nothing to do."""
        result = int(self._driver.cuStreamQuery(stream))
        if result not in (0, NOT_READY):
            raise OSError(f"cuStreamQuery returned {result}")
        return result == 0


class Memory:
    """Memory of one GPU that all of them access."""

    def __init__(self, cuda: Cuda, device: int, users: list[int], size: int) -> None:
        kind = Kind(PINNED, POSIX_FD, Location(DEVICE, device), None, (ctypes.c_ubyte * 8)())
        granularity, self._handle, self.address = ctypes.c_size_t(), ctypes.c_uint64(), ctypes.c_uint64()
        cuda("cuMemGetAllocationGranularity", ctypes.byref(granularity), ctypes.byref(kind), 0)
        self._size = ctypes.c_size_t(-(-size // granularity.value) * granularity.value)
        cuda("cuMemCreate", ctypes.byref(self._handle), self._size, ctypes.byref(kind), ctypes.c_uint64(0))
        nothing = ctypes.c_uint64(0)
        cuda("cuMemAddressReserve", ctypes.byref(self.address), self._size, ctypes.c_size_t(0), nothing, nothing)
        cuda("cuMemMap", self.address, self._size, ctypes.c_size_t(0), self._handle, nothing)
        access = (Access * len(users))(*(Access(Location(DEVICE, user), READ_WRITE) for user in users))
        cuda("cuMemSetAccess", self.address, self._size, access, ctypes.c_size_t(len(users)))
        self._cuda = cuda

    def close(self) -> None:
        """Give it back."""
        self._cuda("cuMemUnmap", self.address, self._size)
        self._cuda("cuMemAddressFree", self.address, self._size)
        self._cuda("cuMemRelease", self._handle)


@contextmanager
def context(cuda: Cuda, device: int) -> Iterator[None]:
    """The context of a device that all users of CUDA in the process share."""
    made, popped = ctypes.c_void_p(), ctypes.c_void_p()
    cuda("cuDevicePrimaryCtxRetain", ctypes.byref(made), device)
    cuda("cuCtxPushCurrent_v2", made)
    try:
        yield
    finally:
        cuda("cuCtxPopCurrent_v2", ctypes.byref(popped))
        cuda("cuDevicePrimaryCtxRelease_v2", device)


def microseconds(cuda: Cuda, copy: Callable[[ctypes.c_void_p], None], runs: int) -> float:
    """The median of some copies by a stream of the current context."""
    stream = ctypes.c_void_p()
    cuda("cuStreamCreate", ctypes.byref(stream), NON_BLOCKING)
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        copy(stream)
        while not cuda.is_over(stream):
            pass
        times.append((time.perf_counter() - start) * 1e6)
    cuda("cuStreamDestroy_v2", stream)
    return statistics.median(times[1:])


def device_count(cuda: Cuda) -> int:
    """How many GPUs CUDA has."""
    count = ctypes.c_int()
    cuda("cuDeviceGetCount", ctypes.byref(count))
    return count.value


def rows(sizes: list[int], runs: int) -> list[list[str]]:
    """GB/s of copies from GPU 0 to 1 by size in MiB, and µs of 64 KiB; no row without two GPUs of CUDA."""
    cuda = Cuda()
    if device_count(cuda) < 2:
        return []
    able = ctypes.c_int()
    cuda("cuDeviceCanAccessPeer", ctypes.byref(able), 0, 1)
    found = []
    for name, by in (("pushed", 0), ("pulled", 1)):
        cells = []
        for size in (SMALL, *(mib << 20 for mib in sizes)):
            with context(cuda, 1 - by), context(cuda, by):
                source, target = Memory(cuda, 0, [0, 1], size), Memory(cuda, 1, [0, 1], size)
                length = ctypes.c_size_t(size)

                def copy(
                    stream: ctypes.c_void_p,
                    source: Memory = source,
                    target: Memory = target,
                    length: ctypes.c_size_t = length,
                ) -> None:
                    cuda("cuMemcpyDtoDAsync_v2", target.address, source.address, length, stream)

                us = microseconds(cuda, copy, runs)
                source.close()
                target.close()
            cells.append(f"{us:.0f} µs" if size == SMALL else f"{size / us / 1e3:.3g}")
        found.append([f"CUDA alone, {name}{'' if able.value else ', no peer access'}", *cells])
    return found
