"""What a run borrows: buffers for tensors that it exports, and tensors that it imports."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from rgraph._core import Device, DeviceResource
from rgraph.cuda._tensor import LEGACY_STREAM, Given, Tensor, mistake

if TYPE_CHECKING:
    from rgraph.cuda._memory import Slot
    from rgraph.cuda._pool import Part, Pool

__all__ = ["Export", "Import"]

_log = logging.getLogger("rgraph")


def _stream_of(tensor: Any, ordinal: int) -> int:
    """The stream that the tensor's library works on now; the default stream where that is not known."""
    library = type(tensor).__module__.partition(".")[0]
    if library == "torch":
        import torch

        return int(torch.cuda.current_stream(ordinal).cuda_stream) or LEGACY_STREAM
    if library == "cupy":
        import cupy

        return int(cupy.cuda.get_current_stream().ptr) or LEGACY_STREAM
    return LEGACY_STREAM


class Export:
    """What `Device.run` asks for the buffer of a tensor."""

    def __init__(self, pool: Pool, name: str, shape: tuple[int, ...], dtype: str, size: int) -> None:
        self.pool, self.name, self.shape, self.dtype, self.size = pool, name, shape, dtype, size

    def __rgraph_lend__(self, device: Device, given: object) -> ExportLease:
        """A buffer for one run."""
        self.pool.check(device, self.name)
        if given is not None:
            hint = "read frame[name] as a tensor; inputs are declared with import_tensor"
            raise mistake("RG-E225", f'"{self.name}" is exported to CUDA, so it takes no input', hint, self.name)
        part = self.pool.take(self.size)
        self.pool.acquire(part.resource, part.until)
        return ExportLease(self, part)


class ExportLease:
    """The buffer of a tensor during one run."""

    def __init__(self, export: Export, part: Part) -> None:
        self.export, self.part, self.resource = export, part, part.resource

    def ran(self) -> Tensor:
        """The run was submitted: the tensor."""
        export, part = self.export, self.part
        value = export.pool.leave(part.slot)
        return Tensor(part, value, export.name, export.shape, export.dtype)

    def failed(self) -> None:
        """The run was not submitted."""
        part, self.part = self.part, None  # type: ignore[assignment]
        del part


class Import:
    """What `Device.run` asks for a tensor of others."""

    def __init__(self, pool: Pool, name: str, tensor: Any, shape: tuple[int, ...], dtype: str) -> None:
        self.pool, self.name, self.tensor, self.shape, self.dtype = pool, name, tensor, shape, dtype

    def __rgraph_lend__(self, device: Device, given: Any) -> ImportLease:
        """The tensor's buffer, or one with a copy."""
        pool = self.pool
        pool.check(device, self.name)
        tensor = self.tensor if given is None else given
        own = pool.own
        found = Given.read(tensor, self.name, own)
        found.require(pool.ordinal, self.name)
        if (found.shape, found.dtype) != (self.shape, self.dtype):
            message = (
                f'the tensor of "{self.name}" has shape {found.shape} and kind {found.dtype}, '
                f"and {self.shape} and {self.dtype} are declared"
            )
            raise mistake("RG-E320", message, "give a tensor of the declared shape and kind", self.name)
        stream = _stream_of(tensor, pool.ordinal)
        with pool.lock, pool.driver.current(pool.context):
            slot = pool.find(found.pointer, found.nbytes)
            part = None
            if slot is None:
                slot, part = self._copied(found, stream)
            until = pool.signal()
        pool.acquire(slot.resource, until)
        return ImportLease(pool, slot, stream, found if part is None else part, part)

    def _copied(self, found: Given, stream: int) -> tuple[Slot, Part]:
        """A buffer with a copy of a tensor, made on the pool's stream."""
        pool = self.pool
        if self.name not in pool.noted:
            pool.noted.add(self.name)
            note = '"%s": the tensor lies in its library\'s own memory, so each run copies it on the GPU; '
            _log.info(note + "allocate it in the pool of Session.allocator", self.name)
        part = pool.take(found.nbytes)
        if part.resource.holder is None:
            pool.leave(part.slot)
        # Also if the run before failed as it gave the buffer back: nothing waited then.
        pool.wait(part.slot.left, pool.own)
        pool.driver("cuMemcpyDtoDAsync_v2", part.pointer, found.pointer, found.nbytes, pool.stream)
        # The tensor may be freed, and its memory used again, behind the copy only.
        pool.join(stream, pool.stream)
        return part.slot, part


class ImportLease:
    """A tensor of others during one run."""

    def __init__(self, pool: Pool, slot: Slot, stream: int, keeps: object, part: Part | None) -> None:
        self.pool, self.slot, self.stream, self.keeps, self.part = pool, slot, stream, keeps, part
        self.resource: DeviceResource = slot.resource

    def _back(self) -> None:
        value = self.pool.leave(self.slot)
        if self.part is None:
            # What comes later on the tensor's stream may write it.
            self.pool.wait(value, self.stream)
        self.keeps = self.part = None

    def ran(self) -> None:
        """The run was submitted: the tensor is its library's again."""
        self._back()

    def failed(self) -> None:
        """The run was not submitted."""
        self._back()
