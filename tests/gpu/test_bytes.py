"""Bytes from Python to the device and back: large arrays, page-locked arrays, and how long their memory lives."""

import gc

import numpy as np
import pytest

import rgraph as rg

COPY = """
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&dst)) { dst[id.x] = src[id.x] + 1u; }
}
"""


def staged(device: rg.Device) -> int:
    """Bytes of staging memory that the device holds."""
    return dict(device.memory().owners).get("staging", 0)


def copied(words: int) -> rg.Graph:
    """A graph that adds one to an imported buffer of so many words."""
    g = rg.Graph("copied")
    src = g.import_buffer("src", 4 * words)
    dst = g.buffer("dst", size=4 * words)
    g.compute("copy", COPY, src=src, dst=dst)
    g.root(dst)
    return g


@pytest.mark.parametrize("size", [64, 3 << 20, (9 << 20) + 4])
def test_frames_with_a_new_array_each_see_their_own(own_device: rg.Device, size: int):
    device = own_device
    g = copied(size // 4)
    rng = np.random.default_rng(size)
    arrays = [rng.integers(0, 1 << 31, size // 4, dtype=np.uint32) for _ in range(5)]
    given = np.empty_like(arrays[0])
    frames = []
    for array in arrays:
        given[:] = array
        frames.append(device.run(g, inputs={"src": given}))
        given[:] = 0
    for array, frame in zip(arrays, frames, strict=True):
        np.testing.assert_array_equal(np.asarray(frame["dst"]).view("u4"), array + 1)
    # One for each frame in flight, so that an upload need not wait for the frame before.
    assert dict(device.memory().owners)["src"] <= 2 * (size + 256)


def test_a_locked_array_is_an_array_of_numpy(device: rg.Device):
    array = device.array((3, 5), "int16")
    assert isinstance(array, np.ndarray)
    assert (array.shape, array.dtype, array.flags.writeable, array.flags.c_contiguous) == ((3, 5), np.int16, True, True)
    assert array.ctypes.data % 64 == 0
    array[:] = 7
    assert array.sum() == 7 * 15
    assert device.array(4).dtype == np.float32
    assert device.array((2, 0, 3)).size == 0
    assert device.array((), np.float64).shape == ()
    assert device.array([2], [("a", "u1"), ("b", "f4")]).dtype.names == ("a", "b")


def test_a_locked_array_needs_no_staging_memory(own_device: rg.Device):
    device = own_device
    image = device.image("i", (1024, 1024), "r32float")
    array, back = device.array((1024, 1024, 1)), device.array((1024, 1024))
    array[:] = np.random.default_rng(1).random((1024, 1024, 1), np.float32)
    expected, before = array.copy(), staged(device)
    image.write(array)
    array[:] = 0
    assert image.read(into=back) is None
    np.testing.assert_array_equal(back[..., None], expected)
    assert staged(device) == before
    # A part of it is as good as the whole.
    half = device.image("half", (1024, 512), "r32float")
    half.write(back[512:])
    np.testing.assert_array_equal(np.asarray(half.read()), expected[512:])


def test_a_run_takes_locked_arrays_and_reads_into_them(device: rg.Device):
    words = 1 << 20
    g = copied(words)
    array, back = device.array(words, "uint32"), device.array(words, "uint32")
    for run in range(4):
        array[:] = np.arange(words, dtype=np.uint32) * (run + 1)
        frame = device.run(g, inputs={"src": array}, into={"dst": back})
        array[:] = 0
        np.testing.assert_array_equal(back, np.arange(words, dtype=np.uint32) * (run + 1) + 1)
        assert np.asarray(frame["dst"]).nbytes == 4 * words


def test_a_view_of_a_locked_array_outlives_array_and_device(own_device: rg.Device):
    view = own_device.array(1 << 20, "uint8")[1000:2000]
    view[:] = 5
    own_device.close()
    gc.collect()
    assert view.sum() == 5000
    with pytest.raises(rg.DeviceError, match="RG-E130"):
        own_device.array(4)


def test_memory_of_a_dropped_array_is_lent_again(own_device: rg.Device):
    held = set()
    for _ in range(20):
        own_device.array(1 << 20)[:] = 1.0
        held.add(own_device.memory().held)
    assert len(held) == 1


def test_a_device_holds_little_for_little_and_few_objects_for_much(own_device: rg.Device):
    g = rg.Graph("little")
    image = g.image("image", (512, 512), "rgba8unorm")
    buffer = g.buffer("buffer", 1 << 20)
    g.clear("paint", image, (1, 0, 0, 1))
    g.fill("fill", buffer, 7)
    g.root(image, buffer)
    frame = own_device.run(g)
    assert np.asarray(frame["image"])[0, 0].tolist() == [255, 0, 0, 255]
    little = own_device.memory()
    assert little.live >= 2 << 20
    assert little.held <= 40 << 20, str(little)
    buffers = [own_device.buffer(f"b{at}", 4 << 20) for at in range(40)]
    much = own_device.memory()
    assert much.live - little.live == 40 * (4 << 20)
    assert much.held - little.held <= 224 << 20, str(much)
    objects = sum(domain.blocks for domain in much.domains) - sum(domain.blocks for domain in little.domains)
    assert objects <= 11, str(much)
    del buffers


def test_arrays_that_cannot_be_are_refused(device: rg.Device):
    with pytest.raises(rg.GraphError, match="Python objects"):
        device.array(3, object)
    with pytest.raises(rg.GraphError, match="no machine has that much"):
        device.array((1 << 40, 1 << 40))
    with pytest.raises((TypeError, rg.GraphError)):
        device.array(-1)
    with pytest.raises(TypeError, match="a shape is"):
        device.array("ten")
    buffer = device.buffer("b", 16)
    with pytest.raises(rg.GraphError, match="cannot be written"):
        buffer.read(into=b"0123456789abcdef")
    with pytest.raises(rg.GraphError, match="has 12 bytes"):
        buffer.read(into=bytearray(12))


def test_reads_into_the_callers_arrays(device: rg.Device):
    buffer, back = device.buffer("b", 9 << 20), np.empty(9 << 18, np.float32)
    data = np.random.default_rng(2).random(9 << 18, np.float32)
    buffer.write(data)
    assert buffer.read(into=back) is None
    np.testing.assert_array_equal(back, data)
    image = device.image("i", (8, 4), "rgba8unorm")
    image.write(np.full((4, 8, 4), 3, np.uint8))
    with pytest.raises(rg.GraphError, match="of uint8 here"):
        image.read(into=np.empty((8, 4, 4), np.uint8))
