"""Corners of DLPack and of CUDA's driver: strange tensors, streams and capsules, and each call that may fail."""

import ctypes as c
import gc
import re
from functools import partial

import numpy as np
import pytest

import rgraph as rg
from gpu.cuda_standin import Foreign, Ordered, StandIn, seen
from gpu.test_cuda import DOUBLE, cuda, doubling, lavapipe

__all__ = ["cuda", "lavapipe"]


class View(c.Structure):
    """DLTensor."""

    _fields_ = [("data", c.c_void_p), ("device", c.c_int32 * 2), ("ndim", c.c_int32)]
    _fields_ += [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]
    _fields_ += [("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("offset", c.c_uint64)]


class Strange:
    """A tensor whose capsule is written by hand; nothing owns it but this object."""

    def __init__(
        self,
        array: np.ndarray,
        strides: tuple[int, ...] | None,
        *,
        kind: tuple[int, int, int] = (2, 32, 1),
        offset: int = 0,
        versioned: bool = False,
        device: tuple[int, int] = (2, 0),
    ) -> None:
        self.array, self.device = array, device
        axes = len(array.shape)
        self.shape = (c.c_int64 * axes)(*array.shape)
        self.strides = None if strides is None else (c.c_int64 * axes)(*strides)
        memory = array.__array_interface__["data"][0] - offset
        self.holder = c.create_string_buffer(32 * versioned + c.sizeof(View))
        view = View.from_buffer(self.holder, 32 * versioned)
        view.data, view.device[:], view.ndim = memory, device, axes
        view.code, view.bits, view.lanes = kind
        view.shape, view.offset = c.cast(self.shape, c.POINTER(c.c_int64)), offset
        if self.strides is not None:
            view.strides = c.cast(self.strides, c.POINTER(c.c_int64))
        self.name = b"dltensor_versioned" if versioned else b"dltensor"

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: int | None = None) -> object:
        new = c.pythonapi.PyCapsule_New
        new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
        return new(c.addressof(self.holder), self.name, None)


NUMBERS = np.arange(64, dtype=np.float32)


@pytest.mark.parametrize(
    "tensor",
    [
        Strange(NUMBERS, None),
        Strange(NUMBERS, (1,), versioned=True),
        Strange(NUMBERS, (1,), offset=128),
    ],
    ids=["no strides", "versioned", "offset"],
)
def test_capsules_of_all_kinds_are_read(cuda: rg.cuda.Session, tensor: Strange):
    out = cuda.device.run(doubling(cuda, tensor, 64))["out"]
    out.wait()
    assert (seen(out) == 2 * NUMBERS).all()


def test_strides_of_sides_of_one_mean_nothing(cuda: rg.cuda.Session):
    g = rg.Graph()
    src = cuda.import_tensor(g, "src", Strange(NUMBERS.reshape(1, 64, 1), (7, 1, 99)), as_buffer=True)
    g.compute("double", DOUBLE, src=src, dst=cuda.tensor(g, "out", (64,)), groups=1)
    out = cuda.device.run(g)["out"]
    out.wait()
    assert (seen(out) == 2 * NUMBERS).all()


def test_numbers_of_every_size_arrive_as_they_are(cuda: rg.cuda.Session):
    kinds = {"float16": (2, 16), "bfloat16": (4, 16), "uint16": (1, 16), "bool": (6, 8), "int64": (0, 64)}
    for word in kinds:
        bits = kinds[word][1]
        numbers = np.random.default_rng(3).integers(0, 255, 24 * 8 * bits // 8, np.uint8).view(f"uint{bits}")
        numbers = numbers.reshape(-1, 8)
        g = rg.Graph()
        src = cuda.import_tensor(g, "src", Strange(numbers, None, kind=(*kinds[word], 1)), as_buffer=True)
        cuda.export_tensor(g, "out", src, shape=numbers.shape, dtype=word)
        out = cuda.device.run(g)["out"]
        out.wait()
        assert (out.dtype, out.shape, out.nbytes) == (word, numbers.shape, numbers.nbytes)
        assert bytes((c.c_uint8 * out.nbytes).from_address(out.pointer)) == numbers.tobytes()
        if word in ("bfloat16", "bool", "int64"):
            with pytest.raises(rg.GraphError, match=f"kind {word} is no image"):
                cuda.import_tensor(rg.Graph(), "x", Strange(numbers[:, :1].copy(), None, kind=(*kinds[word], 1)))


def test_half_floats_are_texels(cuda: rg.cuda.Session):
    texels = np.arange(6 * 4, dtype=np.float16).reshape(6, 4)
    g = rg.Graph()
    image = cuda.import_tensor(g, "src", Foreign(texels))
    assert (image.format, image.size) == ("r16float", (4, 6))
    cuda.export_tensor(g, "out", image)
    out = cuda.device.run(g)["out"]
    out.wait()
    assert (out.dtype, seen(out).tolist()) == ("float16", texels.tolist())


class Refusing(Strange):
    """A tensor that its library does not hand out."""

    def __dlpack__(self, *, stream: int | None = None) -> object:
        raise BufferError("conjugated tensors are not exported")


class Taken(Strange):
    """A tensor whose capsule was taken already."""

    def __dlpack__(self, *, stream: int | None = None) -> object:
        return 7


GRID = np.zeros((4, 6), np.float32)


STRANGE: list[tuple[object, str]] = [
    (Strange(GRID, (1, 4)), r"of shape \(4, 6\) is not contiguous: its strides are \(1, 4\)"),
    (Strange(GRID, (12, 2)), r"is not contiguous: its strides are \(12, 2\)"),
    (Strange(GRID, (0, 1)), "is not contiguous"),
    (Strange(GRID, (-6, 1)), "is not contiguous"),
    (Strange(GRID, (6, 1), device=(2, 3)), "is on CUDA device 3, and the graph on 0"),
    (Strange(GRID, (6, 1), device=(3, 0)), "not in the memory of a CUDA device"),
    (Strange(GRID, (6, 1), kind=(2, 32, 4)), "numbers of an unknown kind"),
    (Strange(GRID, (6, 1), kind=(5, 64, 1)), "numbers of an unknown kind"),
    (Strange(GRID, (6, 1), kind=(2, 128, 1)), "float128"),
    (Strange(GRID[:0], (6, 1)), r"of shape \(0, 6\) has no numbers"),
    (Refusing(GRID, (6, 1)), "is not handed out: conjugated tensors are not exported"),
    (Taken(GRID, (6, 1)), "comes as 7, not as a capsule of DLPack"),
]


def test_strange_tensors_are_one_clear_error(cuda: rg.cuda.Session):
    g = doubling(cuda, Foreign(np.ones((4, 6), np.float32)), 24)
    for tensor, message in STRANGE:
        for use in (
            partial(cuda.import_tensor, rg.Graph(), "src", tensor),
            partial(cuda.import_tensor, rg.Graph(), "src", tensor, as_buffer=True),
            partial(cuda.device.run, g, inputs={"src": tensor}),
        ):
            with pytest.raises(rg.GraphError, match=message) as raised:
                use()
            assert raised.value.code == "RG-E320"
            assert raised.value.hint
    out = cuda.device.run(g)["out"]
    out.wait()
    assert (seen(out) == 2).all()


def test_tensors_without_numbers_are_not_declared(cuda: rg.cuda.Session):
    for shape in ((0,), (4, 0), (-1, -1)):
        with pytest.raises(rg.GraphError, match="has no numbers") as raised:
            cuda.tensor(rg.Graph(), "out", shape)
        assert raised.value.code == "RG-E320"


def test_streams_are_as_the_array_api_has_them(lavapipe: rg.Device):
    standin = StandIn(lavapipe)
    with Ordered(lavapipe, library=standin) as cuda:
        out = lavapipe.run(doubling(cuda, Foreign(NUMBERS), 64))["out"]
        standin.counts()
        for stream, waits in ((None, 1), (1, 1), (2, 1), (0x7F00, 1), (-1, 0)):
            out.__dlpack__(stream=stream)
            assert standin.counts()["cuWaitExternalSemaphoresAsync"] == waits
        for stream in (0, -2, 1.5, "1"):
            with pytest.raises(ValueError, match=re.escape(f"stream {stream!r} is none of CUDA's")):
                out.__dlpack__(stream=stream)
        assert standin.counts()["cuWaitExternalSemaphoresAsync"] == 0


def frames(cuda: rg.cuda.Session, g: rg.Graph, tensor: Foreign) -> np.ndarray:
    """A frame of a copied tensor, and one of its result."""
    first = cuda.device.run(g, inputs={"src": tensor})["out"]
    first.wait(7)
    second = cuda.device.run(g, inputs={"src": first})["out"]
    second.wait()
    return seen(second).copy()


@pytest.mark.parametrize("kind", [Ordered, rg.cuda.Session])
def test_any_call_of_a_frame_may_fail_and_the_session_goes_on(lavapipe: rg.Device, kind: type[rg.cuda.Session]):
    standin, tensor = StandIn(lavapipe), Foreign(NUMBERS)
    with kind(lavapipe, library=standin) as cuda:
        g = doubling(cuda, tensor, 64)
        for _ in range(2):
            frames(cuda, g, tensor)
        gc.collect()
        standin.counts()
        frames(cuda, g, tensor)
        gc.collect()
        calls = len(standin.calls)
        # What fails behind the last result fails in a destructor, which is heard by nobody.
        failed: set[str] = set()
        for at in range(calls):
            standin.counts()
            standin.fails = ("", at)
            try:
                frames(cuda, g, tensor)
                gc.collect()
            except rg.DeviceError as error:
                failed.add(" ".join(str(error).split()[:2]))
            standin.fails = None
            assert (frames(cuda, g, tensor) == 4 * NUMBERS).all(), at
        wanted = {"cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuMemcpyDtoDAsync_v2", "cuEventCreate", "cuEventRecord"}
        wanted |= {"cuStreamWaitEvent", "cuEventDestroy_v2"}
        if kind is Ordered:
            wanted |= {"cuSignalExternalSemaphoresAsync", "cuWaitExternalSemaphoresAsync"}
        else:
            wanted.add("cuStreamSynchronize")
        assert failed >= {f"RG-E121 {name}" for name in wanted}
        assert {name.split()[0] for name in failed} == {"RG-E121"}
