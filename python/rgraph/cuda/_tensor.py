"""`Tensor`: what a graph left for CUDA; and tensors of others, read through DLPack."""

from __future__ import annotations

import ctypes as c
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph._core import _dlpack_capsule, _mistake
from rgraph._errors import DeviceError, GraphError

if TYPE_CHECKING:
    from rgraph.cuda._pool import Part

__all__ = ["Given", "Tensor", "mistake"]

CUDA = 2
"""DLPack's kind of device."""
LEGACY_STREAM = 1
"""The stream that is meant where none is named."""

# DLPack's codes: signed, unsigned, float, bfloat, bool.
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}
_WORDS = {code: word for word, code in _CODES.items()}


def mistake(code: str, message: str, hint: str, resource: str | None = None) -> GraphError:
    """The error of a wrong argument."""
    return _mistake(code, message, hint, resource)


def parsed(dtype: str) -> tuple[int, int]:
    """DLPack's code and bits of a kind of numbers."""
    word = dtype.rstrip("0123456789")
    bits = dtype[len(word) :]
    if word == "bool" and not bits:
        return _CODES[word], 8
    if word in _CODES and bits in {"8", "16", "32", "64"}:
        return _CODES[word], int(bits)
    raise mistake("RG-E320", f'a tensor has no numbers of kind "{dtype}"', "use float32, float16, uint8 or the like")


_CAPSULES = {b"dltensor": 0, b"dltensor_versioned": 32}
"""Names of capsules, and where the tensor begins in them (DLManagedTensor, DLManagedTensorVersioned)."""


class _Type(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class _View(c.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", c.c_uint64),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("dtype", _Type),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("offset", c.c_uint64),
    ]


def _view(capsule: object) -> _View | None:
    """The tensor of a capsule, of either kind; None: it is no capsule, or was taken."""
    valid, pointer = c.pythonapi.PyCapsule_IsValid, c.pythonapi.PyCapsule_GetPointer
    valid.restype, valid.argtypes = c.c_int, [c.py_object, c.c_char_p]
    pointer.restype, pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    for name, start in _CAPSULES.items():
        if valid(capsule, name):
            return _View.from_address(pointer(capsule, name) + start)
    return None


class Given(NamedTuple):
    """A tensor of another library, as DLPack describes it; `capsule` keeps its memory."""

    pointer: int
    ordinal: int
    shape: tuple[int, ...]
    dtype: str
    capsule: object

    @property
    def nbytes(self) -> int:
        """Bytes of its numbers."""
        return math.prod(self.shape) * parsed(self.dtype)[1] // 8

    @classmethod
    def read(cls, tensor: Any, name: str, stream: int | None) -> Given:
        """Ask a tensor for its memory; work on `stream` follows what wrote it.

        Raises
        ------
        GraphError
            RG-E320 if it is no tensor in CUDA's memory, or not contiguous.
        """
        what = f'the tensor of "{name}"'
        if not hasattr(tensor, "__dlpack_device__"):
            kind = type(tensor).__name__
            raise mistake("RG-E320", f"{what} is of type {kind}", "give a tensor of torch, cupy or jax", name)
        kind, ordinal = tensor.__dlpack_device__()
        if int(kind) != CUDA:
            hint = "move it to the GPU (tensor.cuda()), or use Graph.import_array"
            raise mistake("RG-E320", f"{what} is not in the memory of a CUDA device", hint, name)
        # Gradients end here; functions with gradients of their own are torch.autograd.Function.
        tensor = tensor.detach() if hasattr(tensor, "detach") else tensor
        try:
            capsule = tensor.__dlpack__(stream=stream)
        except DeviceError:
            raise
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            hint = "give a plain tensor: tensor.contiguous(), of a kind that DLPack has"
            raise mistake("RG-E320", f"{what} is not handed out: {error}", hint, name) from error
        view = _view(capsule)
        if view is None:
            hint = "give a tensor that nothing else took meanwhile"
            raise mistake("RG-E320", f"{what} comes as {capsule!r}, not as a capsule of DLPack", hint, name)
        shape = tuple(view.shape[axis] for axis in range(view.ndim))
        if 0 in shape:
            raise mistake("RG-E320", f"{what} of shape {shape} has no numbers", "give a tensor with numbers", name)
        if view.strides:
            strides, dense = [view.strides[axis] for axis in range(view.ndim)], 1
            for size, stride in zip(reversed(shape), reversed(strides), strict=True):
                if size != 1 and stride != dense:
                    message = f"{what} of shape {shape} is not contiguous: its strides are {tuple(strides)}"
                    raise mistake("RG-E320", message, "give tensor.contiguous()", name)
                dense *= size
        word = _WORDS.get(view.dtype.code)
        if word is None or view.dtype.lanes != 1:
            raise mistake("RG-E320", f"{what} has numbers of an unknown kind", "use float32, uint8 or the like", name)
        dtype = word if word == "bool" else f"{word}{view.dtype.bits}"
        return cls(view.data + view.offset, int(ordinal), shape, dtype, capsule)

    def require(self, ordinal: int, name: str) -> None:
        """Refuse a tensor of another GPU than that one.

        Raises
        ------
        GraphError
            RG-E320.
        """
        if self.ordinal != ordinal:
            message = f'the tensor of "{name}" is on CUDA device {self.ordinal}, and the graph on {ordinal}'
            raise mistake("RG-E320", message, f'move it there: tensor.to("cuda:{ordinal}")', name)


class Tensor:
    """What a graph left in CUDA's memory, for `from_dlpack` of torch, cupy and jax.

    The memory is the tensor's as long as it, or anything made of it, is used; later runs write elsewhere. Work of the
    stream that asks for it waits for the frame; the host does not.
    """

    def __init__(self, part: Part, value: int, name: str, shape: tuple[int, ...], dtype: str) -> None:
        self._part, self._value = part, value
        self.name: str = name
        """Name of the resource."""
        self.shape: tuple[int, ...] = shape
        """Its shape."""
        self.dtype: str = dtype
        """Name of the kind of its numbers."""

    @property
    def pointer(self) -> int:
        """Address of its first byte for CUDA; `wait` first."""
        return self._part.pointer

    @property
    def nbytes(self) -> int:
        """Bytes of its numbers."""
        return math.prod(self.shape) * parsed(self.dtype)[1] // 8

    def wait(self, stream: int = LEGACY_STREAM) -> None:
        """Let later work on a stream of CUDA wait for the frame.

        Parameters
        ----------
        stream
            The stream's handle as an integer; 1 is the default stream.
        """
        self._part.pool.wait(self._value, stream)
        self._part.streams.add(stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device: CUDA's kind, and the ordinal."""
        return (CUDA, self._part.pool.ordinal)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """DLPack's capsule: the memory as it is, behind the frame on `stream` (-1: the caller waits itself)."""
        if (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()) or copy:
            raise BufferError("a tensor of CUDA's memory is handed out there, without a copy")
        if stream is not None and (not isinstance(stream, int) or stream < -1 or stream == 0):
            # The array API's rule: 0 could mean the legacy default stream or that of the thread.
            raise ValueError(
                f"stream {stream!r} is none of CUDA's: 1 is the default stream, 2 the thread's, -1 for no wait"
            )
        if stream != -1:
            self.wait(LEGACY_STREAM if stream is None else stream)
        code, bits = parsed(self.dtype)
        versioned = max_version is not None and max_version[0] >= 1
        # The capsule keeps this object, and with it the memory.
        return _dlpack_capsule(self, self.pointer, self.shape, code, bits, self._part.pool.ordinal, versioned)

    def __repr__(self) -> str:
        return f'<Tensor "{self.name}" {self.shape} {self.dtype}>'
