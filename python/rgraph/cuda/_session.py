"""`Session`: declares what graphs take from CUDA on the same GPU and what they leave there."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

from rgraph import _core
from rgraph._core import Buffer, Device, Format, Image, Module
from rgraph._errors import DeviceError
from rgraph.cuda._driver import Driver
from rgraph.cuda._lease import Export, Import
from rgraph.cuda._pool import Pool
from rgraph.cuda._tensor import Given, mistake, parsed

__all__ = ["Session"]

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

    _kind: type[Pool] = Pool

    def __init__(self, device: Device, *, library: Any = None) -> None:
        self.device: Device = device
        """The device."""
        driver = Driver(library)
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
        self._pool = self._kind(device, driver, self.ordinal)

    @property
    def shares_timelines(self) -> bool:
        """Whether the sides wait for each other on the GPU; if not, the host waits for both."""
        return self._pool.shares_timelines

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

        self._pool.open_arena(size)
        path = str(_core.__file__)
        pluggable = torch.cuda.memory.CUDAPluggableAllocator(path, "rgraph_cuda_alloc", "rgraph_cuda_free")
        self._pool.allocators.append(pluggable)
        return pluggable.allocator()

    def close(self) -> None:
        """Wait for CUDA's work on the session's memory, and release its unused objects. A second call does nothing."""
        self._pool.close()

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
        given.require(self.ordinal, name)
        lender = Import(self._pool, name, tensor, given.shape, given.dtype)
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
        _core._lend(buffer, Export(self._pool, name, tuple(shape), dtype, size))
        return buffer

    def __repr__(self) -> str:
        return (
            f"<Session of {self.device.info.name}, CUDA device {self.ordinal}{', closed' if self._pool.closed else ''}>"
        )


def _texels(name: str, shape: tuple[int, ...], dtype: str) -> tuple[int, int, str]:
    """Height, width and format of a tensor as an image."""
    channels = shape[2] if len(shape) == 3 else 1
    if len(shape) not in (2, 3) or channels not in _CHANNELS or dtype not in _NUMBERS:
        message = f'the tensor of "{name}" of shape {shape} and kind {dtype} is no image'
        hint = "give (height, width) or (height, width, channels) with 1, 2 or 4 channels; or as_buffer=True"
        raise mistake("RG-E320", message, hint, name)
    return shape[0], shape[1], _CHANNELS[channels] + _NUMBERS[dtype]
