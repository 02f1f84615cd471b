"""What a run borrows: buffers for tensors that it exports, and tensors that it imports."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from rgraph._core import Device, DeviceResource
from rgraph.cuda._tensor import LEGACY_STREAM, Given, Tensor, mistake

if TYPE_CHECKING:
    from rgraph.cuda._memory import Part, Slot
    from rgraph.cuda._session import Session

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

    def __init__(self, session: Session, name: str, shape: tuple[int, ...], dtype: str, size: int) -> None:
        self.session, self.name, self.shape, self.dtype, self.size = session, name, shape, dtype, size

    def __rgraph_lend__(self, device: Device, given: object) -> ExportLease:
        """A buffer for one run."""
        self.session._check(device, self.name)
        if given is not None:
            hint = "read frame[name] as a tensor; inputs are declared with import_tensor"
            raise mistake("RG-E225", f'"{self.name}" is exported to CUDA, so it takes no input', hint, self.name)
        part = self.session._take(self.size)
        self.session._acquire(part.resource, part.until)
        return ExportLease(self, part)


class ExportLease:
    """The buffer of a tensor during one run."""

    def __init__(self, export: Export, part: Part) -> None:
        self.export, self.part, self.resource = export, part, part.resource

    def ran(self) -> Tensor:
        """The run was submitted: the tensor."""
        export, part = self.export, self.part
        value = export.session._leave(part.slot)
        return Tensor(export.session, part, value, export.name, export.shape, export.dtype)

    def failed(self) -> None:
        """The run was not submitted."""
        part, self.part = self.part, None  # type: ignore[assignment]
        del part


class Import:
    """What `Device.run` asks for a tensor of others."""

    def __init__(self, session: Session, name: str, tensor: Any, shape: tuple[int, ...], dtype: str) -> None:
        self.session, self.name, self.tensor, self.shape, self.dtype = session, name, tensor, shape, dtype

    def __rgraph_lend__(self, device: Device, given: Any) -> ImportLease:
        """The tensor's buffer, or one with a copy."""
        session = self.session
        session._check(device, self.name)
        tensor = self.tensor if given is None else given
        own = int(session._stream.value or 0)
        found = Given.read(tensor, self.name, own)
        session._check_ordinal(found, self.name)
        if (found.shape, found.dtype) != (self.shape, self.dtype):
            message = (
                f'the tensor of "{self.name}" has shape {found.shape} and kind {found.dtype}, '
                f"and {self.shape} and {self.dtype} are declared"
            )
            raise mistake("RG-E320", message, "give a tensor of the declared shape and kind", self.name)
        stream = _stream_of(tensor, session.ordinal)
        with session._lock, session._driver.current(session._context):
            slot = session._find(found)
            part = None
            if slot is None:
                slot, part = self._copied(found, stream)
            until = session._signal()
        session._acquire(slot.resource, until)
        return ImportLease(session, slot, stream, found if part is None else part, part)

    def _copied(self, found: Given, stream: int) -> tuple[Slot, Part]:
        """A buffer with a copy of a tensor, made on the session's stream."""
        session = self.session
        if self.name not in session._noted:
            session._noted.add(self.name)
            note = '"%s": the tensor lies in its library\'s own memory, so each run copies it on the GPU; '
            _log.info(note + "allocate it in the pool of Session.allocator", self.name)
        part = session._take(found.nbytes)
        if part.resource.holder is None:
            session._leave(part.slot)
        # Also if the run before failed as it gave the buffer back: nothing waited then.
        session._wait(part.slot.left, int(session._stream.value or 0))
        session._driver("cuMemcpyDtoDAsync_v2", part.pointer, found.pointer, found.nbytes, session._stream)
        # The tensor may be freed, and its memory used again, behind the copy only.
        session._join(stream, session._stream)
        return part.slot, part


class ImportLease:
    """A tensor of others during one run."""

    def __init__(self, session: Session, slot: Slot, stream: int, keeps: object, part: Part | None) -> None:
        self.session, self.slot, self.stream, self.keeps, self.part = session, slot, stream, keeps, part
        self.resource: DeviceResource = slot.resource

    def _back(self) -> None:
        value = self.session._leave(self.slot)
        if self.part is None:
            # What comes later on the tensor's stream may write it.
            self.session._wait(value, self.stream)
        self.keeps = self.part = None

    def ran(self) -> None:
        """The run was submitted: the tensor is its library's again."""
        self._back()

    def failed(self) -> None:
        """The run was not submitted."""
        self._back()
