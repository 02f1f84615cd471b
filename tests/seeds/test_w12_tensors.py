"""W12: images and buffers of a graph are tensors of torch, cupy and jax on one GPU, without a copy through the host.

Needs an NVIDIA GPU with CUDA's driver and torch; elsewhere `tests/gpu/test_cuda.py` runs the same against a stand-in.
"""

from collections.abc import Iterator

import numpy as np
import pytest

import rgraph as rg

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("torch has no CUDA device", allow_module_level=True)

SHARPEN = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<r32float, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = vec2<i32>(id.xy);
    let last = vec2<i32>(textureDimensions(src)) - 1;
    var sum = 5.0 * textureLoad(src, at, 0).r;
    for (var k = 0; k < 4; k++) {
        let to = at + array(vec2(1, 0), vec2(-1, 0), vec2(0, 1), vec2(0, -1))[k];
        if all(to >= vec2(0)) && all(to <= last) { sum -= textureLoad(src, to, 0).r; }
    }
    textureStore(dst, at, vec4(sum));
}"""
DOUBLE = """
@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { if id.x < arrayLength(&dst) { dst[id.x] = 2.0 * src[id.x]; }
}"""


@pytest.fixture
def cuda() -> Iterator[rg.cuda.Session]:
    with rg.Device() as device:
        try:
            session = rg.cuda.Session(device)
        except rg.DeviceError as error:
            if error.code != "RG-E102":
                raise
            pytest.skip(str(error).splitlines()[0])
        with session:
            yield session
        device.wait_idle()
        assert device.messages == []


def sharpening(cuda: rg.cuda.Session, tensor: torch.Tensor) -> rg.Graph:
    """A linear filter that is its own adjoint: the image outside of its border is zero."""
    g = rg.Graph("sharpen")
    src = cuda.import_tensor(g, "src", tensor)
    dst = g.image("dst", like=src)
    g.compute("sharpen", SHARPEN, src=src, dst=dst)
    cuda.export_tensor(g, "out", dst)
    return g


def reference(x: torch.Tensor) -> torch.Tensor:
    """The same in torch."""
    kernel = torch.tensor([[0.0, -1, 0], [-1, 5, -1], [0, -1, 0]], device=x.device)
    return torch.nn.functional.conv2d(x[None, None], kernel[None, None], padding=1)[0, 0]


def test_torch_fills_and_reads_images(cuda: rg.cuda.Session):
    assert cuda.shares_timelines
    g = sharpening(cuda, torch.zeros(61, 83, device="cuda"))
    held = []
    for seed in range(20):
        torch.manual_seed(seed)
        x = torch.randint(0, 256, (61, 83), device="cuda").float()
        out = torch.from_dlpack(cuda.device.run(g, inputs={"src": x})["out"])
        held.append((reference(x), out))
        x.zero_()
    for expected, out in held:
        assert torch.equal(out, expected)


def test_one_memory_from_torch_to_the_graph_and_back(cuda: rg.cuda.Session):
    pool = torch.cuda.MemPool(cuda.allocator(64 << 20))
    with torch.cuda.use_mem_pool(pool):
        x = torch.arange(1000.0, device="cuda")
    assert any(block.offset(x.data_ptr(), 4000) is not None for block in cuda._pool._arenas)
    g = rg.Graph("double")
    src = cuda.import_tensor(g, "src", x, as_buffer=True)
    g.compute("double", DOUBLE, src=src, dst=cuda.tensor(g, "out", (1000,)), groups=16)
    for _ in range(50):
        result = cuda.device.run(g)["out"]
        out = torch.from_dlpack(result)
        assert out.data_ptr() == result.pointer
        # In place, while the device may still read: later work of the stream waits for the run.
        x.add_(1)
        assert torch.equal(out, 2 * (x - 1))
    # No copy was noted.
    assert cuda._pool.noted == set()


@pytest.mark.parametrize("stream", ["default", "another"])
def test_side_streams_are_ordered(cuda: rg.cuda.Session, stream: str):
    g = sharpening(cuda, torch.zeros(512, 512, device="cuda"))
    with torch.cuda.stream(torch.cuda.default_stream() if stream == "default" else torch.cuda.Stream()):
        for value in range(10):
            x = torch.full((512, 512), 0.0, device="cuda")
            torch.cuda._sleep(2_000_000)
            x.fill_(float(value))
            out = torch.from_dlpack(cuda.device.run(g, inputs={"src": x})["out"])
            assert torch.equal(out, reference(torch.full_like(x, float(value))))


def test_gradients_go_through_a_graph(cuda: rg.cuda.Session):
    g = sharpening(cuda, torch.zeros(24, 40, device="cuda"))

    class Sharpen(torch.autograd.Function):
        """The graph as an operation with a gradient: its own adjoint."""

        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return torch.from_dlpack(cuda.device.run(g, inputs={"src": x.contiguous()})["out"])

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
            return torch.from_dlpack(cuda.device.run(g, inputs={"src": grad.contiguous()})["out"])

    torch.manual_seed(0)
    goal = torch.rand(24, 40, device="cuda")
    x = torch.zeros(24, 40, device="cuda", requires_grad=True)
    y = x.detach().clone().requires_grad_()
    for _ in range(40):
        for image, operation in ((x, Sharpen.apply), (y, reference)):
            loss = (operation(image) - goal).square().sum()
            (gradient,) = torch.autograd.grad(loss, image)
            with torch.no_grad():
                image -= 0.005 * gradient
    torch.testing.assert_close(x, y, rtol=1e-4, atol=1e-5)
    # Smooth parts converge slowly: their eigenvalue is 1, that of the roughest is 9.
    assert loss.item() < 0.4 * goal.square().sum().item()


def test_cupy_and_jax_take_the_same_tensors(cuda: rg.cuda.Session):
    cupy = pytest.importorskip("cupy")
    numbers = np.arange(100, dtype=np.float32)
    g = rg.Graph("double")
    src = cuda.import_tensor(g, "src", cupy.asarray(numbers), as_buffer=True)
    g.compute("double", DOUBLE, src=src, dst=cuda.tensor(g, "out", (100,)), groups=2)
    result = cuda.device.run(g)["out"]
    out = cupy.from_dlpack(result)
    assert out.data.ptr == result.pointer
    assert (cupy.asnumpy(out) == 2 * numbers).all()
    dlpack = pytest.importorskip("jax.dlpack")
    assert (np.asarray(dlpack.from_dlpack(cuda.device.run(g)["out"])) == 2 * numbers).all()


def test_tensors_that_do_not_fit_are_refused(cuda: rg.cuda.Session):
    for tensor, message in (
        (torch.zeros(4, 4), "not in the memory of a CUDA device"),
        (torch.zeros(4, 6, device="cuda").T, "is not contiguous"),
        (torch.zeros(4, 4, 3, device="cuda"), "is no image"),
    ):
        with pytest.raises(rg.GraphError, match=message):
            cuda.import_tensor(rg.Graph(), "x", tensor)
