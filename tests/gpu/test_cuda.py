"""Tensors of CUDA as inputs and results, against a stand-in for CUDA's driver whose memory is lavapipe's."""

import ctypes as c
import gc
import logging
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened
from gpu.cuda_standin import Foreign, Ordered, StandIn, seen

SIZE = (40, 24)
INVERT = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4<f32>(1.0) - textureLoad(src, id.xy, 0));
}"""
DOUBLE = """
@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&dst) { dst[id.x] = 2.0 * src[id.x]; }
}"""


def texels(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (SIZE[1], SIZE[0], 4), np.uint8)


def descriptors() -> int:
    """Open file descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def lavapipe() -> Iterator[rg.Device]:
    """A device whose memory the stand-in can map; it must stay silent."""
    with opened() as device:
        if not device.info.driver.startswith("llvmpipe"):
            pytest.skip("the stand-in maps lavapipe's memory only")
        yield device
        device.wait_idle()
        assert device.messages == []


@pytest.fixture(params=["timelines", "the host waits"])
def cuda(request: pytest.FixtureRequest, lavapipe: rg.Device) -> Iterator[rg.cuda.Session]:
    """A session of the stand-in."""
    kind = Ordered if request.param == "timelines" else rg.cuda.Session
    with kind(lavapipe, library=StandIn(lavapipe)) as session:
        assert session.shares_timelines is (kind is Ordered)
        yield session


def inverting(cuda: rg.cuda.Session, tensor: object) -> rg.Graph:
    """A graph that exports the inverse of a tensor as "out"."""
    g = rg.Graph("inverting")
    src = cuda.import_tensor(g, "src", tensor)
    dst = g.image("dst", like=src)
    g.compute("invert", INVERT, src=src, dst=dst)
    cuda.export_tensor(g, "out", dst)
    return g


def doubling(cuda: rg.cuda.Session, tensor: object, size: int) -> rg.Graph:
    """A graph that writes twice the numbers of a tensor to the tensor "out", without a copy."""
    g = rg.Graph("doubling")
    src = cuda.import_tensor(g, "src", tensor, as_buffer=True)
    g.compute("double", DOUBLE, src=src, dst=cuda.tensor(g, "out", (size,)), groups=-(-size // 64))
    return g


def test_a_tensor_goes_through_a_graph_and_comes_back_as_a_tensor(cuda: rg.cuda.Session):
    first = Foreign(texels(0))
    g = inverting(cuda, first)
    results = []
    for seed in range(4):
        frame = cuda.device.run(g, inputs={"src": Foreign(texels(seed))} if seed else None)
        assert (list(frame), "out" in frame, frame.keys()) == (["out"], True, ["out"])
        out = frame["out"]
        assert isinstance(out, rg.cuda.Tensor)
        assert (out.name, out.shape, out.dtype, out.__dlpack_device__()) == ("out", (*SIZE[::-1], 4), "uint8", (2, 0))
        assert frame["out"] is out
        assert frame.get("out") is out
        out.wait()
        results.append(out)
    # Each result has memory of its own as long as it is used.
    for seed, out in enumerate(results):
        assert (seen(out) == 255 - texels(seed)).all()
    assert len({out.pointer for out in results}) == 4
    assert first.streams[-1] == cuda._pool.own


def test_memory_of_the_session_is_not_copied_and_other_memory_once(
    cuda: rg.cuda.Session, caplog: pytest.LogCaptureFixture
):
    standin: StandIn = cuda._pool.driver._library
    numbers = np.arange(1000, dtype=np.float32)
    g = doubling(cuda, Foreign(numbers), 1000)
    with caplog.at_level(logging.INFO, "rgraph"):
        out = cuda.device.run(g)["out"]
        cuda.device.run(g)
    assert standin.counts()["cuMemcpyDtoDAsync_v2"] == 2
    assert [record.getMessage().startswith('"src": the tensor lies in its library') for record in caplog.records] == [
        True
    ]
    for power in range(2, 12):
        out.wait()
        out = cuda.device.run(g, inputs={"src": out})["out"]
        out.wait()
        assert (seen(out) == numbers * 2**power).all()
    assert standin.counts()["cuMemcpyDtoDAsync_v2"] == 0
    # What nobody uses any more serves later results: steady work allocates nothing.
    assert len(standin.maps) == 1
    assert len(cuda._pool._free[4000]) <= 3


def test_what_was_left_to_cuda_waits_for_cuda(lavapipe: rg.Device):
    standin = StandIn(lavapipe)
    with Ordered(lavapipe, library=standin) as cuda:
        g = doubling(cuda, Foreign(np.ones(64, np.float32)), 64)
        lavapipe.run(g)
        standin.counts()
        out = lavapipe.run(g)["out"]
        # The run before left the buffer to CUDA, so the copy waits for that; CUDA's signal, which the run waits for.
        copied = [call for call in standin.calls if "Ctx" not in call and "Event" not in call]
        assert copied == [
            "cuWaitExternalSemaphoresAsync",
            "cuMemcpyDtoDAsync_v2",
            "cuSignalExternalSemaphoresAsync",
        ], "CUDA waits for nothing that is not submitted"
        standin.counts()
        pointer = out.pointer
        out.wait(7)
        assert standin.counts()["cuWaitExternalSemaphoresAsync"] == 1
        del out
        gc.collect()
        calls = standin.counts()
        assert (calls["cuEventRecord"], calls["cuSignalExternalSemaphoresAsync"]) == (1, 1), "stream 7 is done with it"
        assert lavapipe.run(g)["out"].pointer == pointer


class _Managed(c.Structure):
    _fields_ = [("data", c.c_uint64), ("device", c.c_int32 * 2), ("ndim", c.c_int32), ("dtype", c.c_uint8 * 4)]
    _fields_ += [("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("offset", c.c_uint64)]


@pytest.mark.parametrize("versioned", [False, True])
def test_capsules_are_as_dlpack_has_them(lavapipe: rg.Device, versioned: bool):
    with rg.cuda.Session(lavapipe, library=StandIn(lavapipe)) as cuda:
        out = lavapipe.run(inverting(cuda, Foreign(texels(3))))["out"]
        for used in (False, True):
            capsule = out.__dlpack__(stream=1, max_version=(1, 0) if versioned else None)
            name = b"dltensor_versioned" if versioned else b"dltensor"
            address = c.pythonapi.PyCapsule_GetPointer
            address.restype, address.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
            start = address(capsule, name)
            view = _Managed.from_address(start + (32 if versioned else 0))
            assert (view.data, list(view.device), view.ndim, list(view.dtype)) == (out.pointer, [2, 0], 3, [1, 8, 1, 0])
            assert (view.shape[:3], view.strides[:3], view.offset) == ([24, 40, 4], [160, 4, 1], 0)
            if used:
                rename = c.pythonapi.PyCapsule_SetName
                rename.argtypes = [c.py_object, c.c_char_p]
                taken = b"used_" + name
                rename(capsule, taken)
                alive = weakref.ref(out)
                del out, capsule
                assert alive() is not None
                deleter = c.cast(start + (16 if versioned else 56), c.POINTER(c.c_void_p))[0]
                c.CFUNCTYPE(None, c.c_void_p)(deleter)(start)
                assert alive() is None
        tensor = lavapipe.run(inverting(cuda, Foreign(texels(3))))["out"]
        for wrong in ({"copy": True}, {"dl_device": (1, 0)}):
            with pytest.raises(BufferError, match="without a copy"):
                tensor.__dlpack__(**wrong)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (7, "is of type int"),
        (np.zeros((4, 4), np.float32), "not in the memory of a CUDA device"),
        (Foreign(np.zeros((4, 4, 3), np.float32)), "of shape .4, 4, 3. and kind float32 is no image"),
        (Foreign(np.zeros(4, np.float32)), "is no image"),
    ],
)
def test_tensors_that_are_no_images_are_refused(cuda: rg.cuda.Session, tensor: object, message: str):
    with pytest.raises(rg.GraphError, match=message) as raised:
        cuda.import_tensor(rg.Graph(), "src", tensor)
    assert raised.value.code == "RG-E320"


def test_tensors_that_do_not_fit_a_run_are_refused(cuda: rg.cuda.Session):
    g = doubling(cuda, Foreign(np.ones(64, np.float32)), 64)
    for tensor, message in (
        (Foreign(np.ones(65, np.float32)), "has shape .65,. and kind float32, and .64,. and float32 are declared"),
        (Foreign(np.ones(64, np.int32)), "kind int32"),
        (Foreign(np.ones(64, np.float32), 3), "is on CUDA device 3, and the graph on 0"),
        (np.ones(64, np.float32), "not in the memory of a CUDA device"),
    ):
        with pytest.raises(rg.GraphError, match=message):
            cuda.device.run(g, inputs={"src": tensor})
    with pytest.raises(rg.GraphError, match='"out" is exported to CUDA'):
        cuda.device.run(g, inputs={"out": Foreign(np.ones(64, np.float32))})
    with (
        opened() as other,
        pytest.raises(rg.DeviceError, match=r"RG-E131 .*belongs to a CUDA session of another device"),
    ):
        other.run(g)
    for source, message in ((rg.Graph().image("d", (4, 4), "depth32float"), "is no tensor"),):
        with pytest.raises(rg.GraphError, match=message):
            cuda.export_tensor(rg.Graph(), "t", source)
    out = cuda.device.run(g)["out"]
    out.wait()
    assert (seen(out) == 2).all()


def test_a_run_that_fails_gives_its_buffers_back(cuda: rg.cuda.Session):
    g = doubling(cuda, Foreign(np.ones(64, np.float32)), 64)
    missing = g.import_buffer("missing", 256)
    g.compute("more", DOUBLE, src=missing, dst=cuda.tensor(g, "more_out", (64,)), groups=1)
    for _ in range(3):
        with pytest.raises(rg.GraphError, match='imported "missing" has nothing bound'):
            cuda.device.run(g)
    frame = cuda.device.run(g, inputs={"missing": np.full(64, 4, np.float32)})
    for name, value in (("out", 2), ("more_out", 8)):
        frame[name].wait()
        assert (seen(frame[name]) == value).all()


CALLS = """cuInit cuDeviceGetCount cuDeviceGet cuDeviceGetUuid cuDevicePrimaryCtxRetain
cuCtxPushCurrent_v2 cuCtxPopCurrent_v2 cuStreamCreate cuImportExternalSemaphore
cuImportExternalMemory cuExternalMemoryGetMappedBuffer cuMemcpyDtoDAsync_v2
cuSignalExternalSemaphoresAsync cuWaitExternalSemaphoresAsync cuEventCreate cuEventRecord
cuStreamWaitEvent cuEventDestroy_v2""".split()  # noqa: SIM905
LAST = """cuCtxPushCurrent_v2 cuCtxSynchronize cuMemFree_v2 cuDestroyExternalMemory cuDestroyExternalSemaphore
cuStreamDestroy_v2 cuDevicePrimaryCtxRelease_v2""".split()  # noqa: SIM905


@pytest.mark.parametrize("call", CALLS)
def test_each_call_that_fails_is_one_clear_error_and_the_next_run_works(lavapipe: rg.Device, call: str):
    standin = StandIn(lavapipe)
    tensor = Foreign(np.ones(64, np.float32))

    def used() -> rg.cuda.Session:
        cuda = Ordered(lavapipe, library=standin)
        out = lavapipe.run(doubling(cuda, tensor, 64))["out"]
        out.wait()
        assert (seen(out) == 2).all()
        return cuda

    used().close()
    gc.collect()
    lavapipe.wait_idle()
    assert not +standin.held, "what was made was given back"
    before = descriptors()
    standin.fails = (call, 0)
    with pytest.raises(rg.DeviceError, match=rf"RG-E121 {call} returned 999 \(CUDA_ERROR_UNKNOWN\)") as raised:
        used()
    assert standin.fails is None
    del raised
    gc.collect()
    lavapipe.wait_idle()
    assert descriptors() <= before
    lost = {"cuCtxPopCurrent_v2": {"current": 1}, "cuEventDestroy_v2": {"event": 1}}
    assert +standin.held == Counter(lost.get(call, {})), "what was made was given back"
    used().close()


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("call", LAST)
def test_each_call_that_fails_at_the_end_is_logged_and_the_others_are_made(
    lavapipe: rg.Device, caplog: pytest.LogCaptureFixture, call: str, at: int
):
    standin = StandIn(lavapipe)
    cuda = Ordered(lavapipe, library=standin)
    out = lavapipe.run(doubling(cuda, Foreign(np.ones(64, np.float32)), 64))["out"]
    out.wait()
    del out
    gc.collect()
    lavapipe.wait_idle()
    made, _ = Counter(standin.held), standin.counts()
    assert +made == Counter(context=1, stream=1, memory=1, address=1, semaphore=2)
    standin.fails = (call, at)
    with caplog.at_level("WARNING", "rgraph"):
        del cuda
        gc.collect()
    happened = standin.fails is None
    standin.fails = None
    logged = [record.getMessage() for record in caplog.records]
    assert len(logged) == happened
    assert all(message.startswith(f"RG-E121 {call} returned 999 (CUDA_ERROR_UNKNOWN)") for message in logged)
    calls = standin.counts()
    wanted = {"cuMemFree_v2": 1, "cuDestroyExternalMemory": 1, "cuDestroyExternalSemaphore": 2, "cuStreamDestroy_v2": 1}
    wanted["cuDevicePrimaryCtxRelease_v2"] = 1
    if call != "cuCtxPushCurrent_v2":
        # Without the context nothing in it can be given back.
        assert {name: calls[name] for name in wanted} == wanted
    assert sum((+standin.held).values()) <= (2 if call == "cuCtxPushCurrent_v2" else 1) * happened


def test_without_cuda_the_error_says_so(lavapipe: rg.Device, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("RGRAPH_CUDA", raising=False)
    monkeypatch.setattr("rgraph.cuda._driver.LIBRARY", "libcuda_that_is_not_there.so.1")
    with pytest.raises(rg.DeviceError, match="RG-E102 no CUDA driver found") as raised:
        rg.cuda.Session(lavapipe)
    assert "through the host" in raised.value.hint
    monkeypatch.setenv("RGRAPH_CUDA", "libc.so.6")
    with pytest.raises(rg.DeviceError, match="RG-E102 the CUDA driver has no cuInit"):
        rg.cuda.Session(lavapipe)
    monkeypatch.setenv("RGRAPH_CUDA", "on")
    with pytest.raises(rg.DeviceError, match="RG-E102 no CUDA driver found"):
        rg.cuda.Session(lavapipe)
    monkeypatch.setenv("RGRAPH_CUDA", "off")
    with pytest.raises(rg.DeviceError, match="RG-E102 CUDA is switched off"):
        rg.cuda.Session(lavapipe)
    standin = StandIn(lavapipe)
    standin.uuids = [bytes(16)] * 2
    with pytest.raises(rg.DeviceError, match=r"RG-E102 CUDA does not know .*: no GPU of its 2 has UUID"):
        rg.cuda.Session(lavapipe, library=standin)


def test_torch_allocates_in_an_arena_of_the_session(cuda: rg.cuda.Session):
    module, standin = c.CDLL(rg._core.__file__), cuda._pool.driver._library
    module.rgraph_cuda_alloc.restype = c.c_void_p
    module.rgraph_cuda_alloc.argtypes = [c.c_ssize_t, c.c_int, c.c_void_p]
    module.rgraph_cuda_free.argtypes = [c.c_void_p, c.c_ssize_t, c.c_int, c.c_void_p]
    arena = cuda._pool.open_arena(1 << 20)
    pointers = [module.rgraph_cuda_alloc(4000, 0, None) for _ in range(2)]
    arrays = [np.frombuffer((c.c_uint8 * 4000).from_address(pointer), np.float32) for pointer in pointers]
    for array in arrays:
        array[:] = np.arange(1000)
    g = doubling(cuda, Foreign(arrays[0]), 1000)
    standin.counts()
    for run in range(4):
        out = cuda.device.run(g, inputs={"src": Foreign(arrays[run % 2])})["out"]
        out.wait()
        assert (seen(out) == 2 * arrays[run % 2]).all()
        assert arena.offset(out.pointer, 4000) is None, "results lie elsewhere"
        arrays[run % 2] += 1
    assert standin.counts()["cuMemcpyDtoDAsync_v2"] == 0
    cuda.close()
    assert module.rgraph_cuda_alloc(1, 0, None) is None, "what follows gets memory of its own session only"
    arrays[0][:] = 7
    for pointer in pointers:
        module.rgraph_cuda_free(pointer, 4000, 0, None)
    with rg.cuda.Session(cuda.device, library=standin) as other:
        other.close()
        assert arena not in rg.cuda._pool._retired


def test_a_closed_session_refuses_runs(lavapipe: rg.Device):
    cuda = rg.cuda.Session(lavapipe, library=StandIn(lavapipe))
    g = doubling(cuda, Foreign(np.ones(64, np.float32)), 64)
    out = lavapipe.run(g)["out"]
    cuda.close()
    cuda.close()
    assert (seen(out) == 2).all(), "memory lives as long as its tensors"
    with pytest.raises(rg.DeviceError, match="RG-E130 the CUDA session is closed"):
        lavapipe.run(g)
