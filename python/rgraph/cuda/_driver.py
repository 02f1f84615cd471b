"""The functions of the CUDA driver that memory and semaphores are shared by, loaded at run time."""

from __future__ import annotations

import ctypes as c
import logging
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rgraph._errors import DeviceError

__all__ = ["Context", "Driver", "MemoryHandle", "MemoryRange", "SemaphoreHandle", "SemaphoreSignal", "SemaphoreWait"]

_log = logging.getLogger("rgraph")

LIBRARY = "libcuda.so.1"
"""The driver's library; the environment's `RGRAPH_CUDA` names another, or is `on` or `off`."""

OPAQUE_FD = 1
TIMELINE_FD = 9
NON_BLOCKING = 1
WITHOUT_TIMES = 2


class MemoryHandle(c.Structure):
    """CUDA_EXTERNAL_MEMORY_HANDLE_DESC, of a file descriptor."""

    _fields_ = [
        ("kind", c.c_int),
        ("fd", c.c_int64),
        ("unused", c.c_int64),
        ("size", c.c_uint64),
        ("flags", c.c_uint),
        ("reserved", c.c_uint * 16),
    ]


class MemoryRange(c.Structure):
    """CUDA_EXTERNAL_MEMORY_BUFFER_DESC."""

    _fields_ = [("offset", c.c_uint64), ("size", c.c_uint64), ("flags", c.c_uint), ("reserved", c.c_uint * 16)]


class SemaphoreHandle(c.Structure):
    """CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, of a file descriptor."""

    _fields_ = [
        ("kind", c.c_int),
        ("fd", c.c_int64),
        ("unused", c.c_int64),
        ("flags", c.c_uint),
        ("reserved", c.c_uint * 16),
    ]


class SemaphoreSignal(c.Structure):
    """CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS of a timeline."""

    _fields_ = [
        ("value", c.c_uint64),
        ("other", c.c_uint64 * 2),
        ("reserved", c.c_uint * 12),
        ("flags", c.c_uint),
        ("more", c.c_uint * 16),
    ]


class SemaphoreWait(c.Structure):
    """CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS of a timeline."""

    _fields_ = [
        ("value", c.c_uint64),
        ("other", c.c_uint64 * 3),
        ("reserved", c.c_uint * 10),
        ("flags", c.c_uint),
        ("more", c.c_uint * 16),
    ]


_HANDLE, _COUNT, _U64 = c.c_void_p, c.c_uint, c.c_uint64
_FUNCTIONS: dict[str, list[Any]] = {
    "cuInit": [_COUNT],
    "cuDeviceGetCount": [c.POINTER(c.c_int)],
    "cuDeviceGet": [c.POINTER(c.c_int), c.c_int],
    "cuDeviceGetUuid": [c.c_char * 16, c.c_int],
    "cuDevicePrimaryCtxRetain": [c.POINTER(_HANDLE), c.c_int],
    "cuDevicePrimaryCtxRelease_v2": [c.c_int],
    "cuCtxPushCurrent_v2": [_HANDLE],
    "cuCtxPopCurrent_v2": [c.POINTER(_HANDLE)],
    "cuCtxSynchronize": [],
    "cuImportExternalMemory": [c.POINTER(_HANDLE), c.POINTER(MemoryHandle)],
    "cuExternalMemoryGetMappedBuffer": [c.POINTER(_U64), _HANDLE, c.POINTER(MemoryRange)],
    "cuDestroyExternalMemory": [_HANDLE],
    "cuMemFree_v2": [_U64],
    "cuImportExternalSemaphore": [c.POINTER(_HANDLE), c.POINTER(SemaphoreHandle)],
    "cuSignalExternalSemaphoresAsync": [c.POINTER(_HANDLE), c.POINTER(SemaphoreSignal), _COUNT, _HANDLE],
    "cuWaitExternalSemaphoresAsync": [c.POINTER(_HANDLE), c.POINTER(SemaphoreWait), _COUNT, _HANDLE],
    "cuDestroyExternalSemaphore": [_HANDLE],
    "cuStreamCreate": [c.POINTER(_HANDLE), _COUNT],
    "cuStreamSynchronize": [_HANDLE],
    "cuStreamWaitEvent": [_HANDLE, _HANDLE, _COUNT],
    "cuStreamDestroy_v2": [_HANDLE],
    "cuEventCreate": [c.POINTER(_HANDLE), _COUNT],
    "cuEventRecord": [_HANDLE, _HANDLE],
    "cuEventDestroy_v2": [_HANDLE],
    "cuMemcpyDtoDAsync_v2": [_U64, _U64, c.c_size_t, _HANDLE],
    "cuGetErrorName": [c.c_int, c.POINTER(c.c_char_p)],
}


def _missing(message: str, hint: str, *notes: str) -> DeviceError:
    text = "\n".join([f"RG-E102 {message}", *(f"  {note}" for note in notes), f"  help: {hint}"])
    return DeviceError(text, "RG-E102", hint=hint, notes=notes)


class Driver:
    """The driver, initialised.

    Parameters
    ----------
    library
        An object with the driver's functions; default: the driver's library.

    Raises
    ------
    DeviceError
        RG-E102 if there is no driver, or it lacks a function; RG-E121 if it has no GPU.
    """

    def __init__(self, library: Any = None) -> None:
        if library is None:
            path = os.environ.get("RGRAPH_CUDA", "")
            if path in ("off", "0"):
                raise _missing("CUDA is switched off", "unset RGRAPH_CUDA, or set it to on")
            path = LIBRARY if path in ("", "on", "1") else path
            try:
                library = c.CDLL(path)
            except OSError as error:
                hint = "install NVIDIA's driver, or exchange arrays through the host: numpy.asarray(frame[name])"
                raise _missing("no CUDA driver found", hint, str(error)) from None
            for name, arguments in _FUNCTIONS.items():
                function = getattr(library, name, None)
                if function is None:
                    raise _missing(f"the CUDA driver has no {name}", "install a driver for CUDA 11.2 or newer", path)
                function.argtypes, function.restype = arguments, c.c_int
            library.cuDeviceGetUuid.argtypes = [c.c_void_p, c.c_int]
        self._library = library
        self("cuInit", 0)

    def __call__(self, name: str, *arguments: Any) -> None:
        """Call a function; a result that is not 0 is an error."""
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            text = c.c_char_p()
            known = self._library.cuGetErrorName(result, c.byref(text)) == 0 and text.value
            word = known.decode() if known else "unknown error"
            hint = "see the errors of the CUDA driver API"
            message = f"RG-E121 {name} returned {result} ({word})"
            raise DeviceError(f"{message}\n  help: {hint}", "RG-E121", hint=hint)

    def devices(self) -> list[tuple[int, bytes]]:
        """Ordinal and UUID of each GPU."""
        count = c.c_int()
        self("cuDeviceGetCount", c.byref(count))
        found = []
        for ordinal in range(count.value):
            device, uuid = c.c_int(), c.create_string_buffer(16)
            self("cuDeviceGet", c.byref(device), ordinal)
            self("cuDeviceGetUuid", uuid, device)
            found.append((ordinal, uuid.raw))
        return found

    @contextmanager
    def current(self, context: Context) -> Iterator[None]:
        """Make a context the thread's."""
        self("cuCtxPushCurrent_v2", context.handle)
        try:
            yield
        finally:
            self("cuCtxPopCurrent_v2", c.byref(c.c_void_p()))

    def handle(self, name: str, *arguments: Any) -> c.c_void_p:
        """Call a function that makes something."""
        made = c.c_void_p()
        self(name, c.byref(made), *arguments)
        return made

    def end(self, context: Context, *calls: tuple[Any, ...]) -> None:
        """Give things back where nobody is left to hear an error: each call is made, and one that fails is logged."""
        try:
            with self.current(context):
                for name, *arguments in calls:
                    self.last(name, *arguments)
        except DeviceError as error:
            # A record of the error itself would keep what its frames have.
            _log.warning("%s", str(error))

    def last(self, name: str, *arguments: Any) -> None:
        """Call a function where nobody is left to hear an error."""
        try:
            self(name, *arguments)
        except DeviceError as error:
            # A record of the error itself would keep what its frames have.
            _log.warning("%s", str(error))


class Context:
    """The context that the runtime's users (torch, cupy, jax) share. It is released when nothing made in it is left."""

    def __init__(self, driver: Driver, ordinal: int) -> None:
        self.handle = driver.handle("cuDevicePrimaryCtxRetain", ordinal)
        # The process's end releases it by itself, and CUDA may be gone by then.
        weakref.finalize(self, driver.last, "cuDevicePrimaryCtxRelease_v2", ordinal).atexit = False
