"""Prefix sums, reductions and statistics against numpy."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rgraph as rg
from gpu.numpy_passes import decoded, few, noise, ran
from rgraph import passes


def numbers(dtype: str, count: int, seed: int = 0) -> np.ndarray:
    """Numbers of either sign."""
    rng = np.random.default_rng(seed)
    if dtype == "float32":
        return rng.standard_normal(count).astype(np.float32)
    least, most = (0, 1 << 32) if dtype == "uint32" else (-(1 << 31), 1 << 31)
    return rng.integers(least, most, count, dtype)


@few
@given(
    st.one_of(st.integers(1, 5000), st.sampled_from([2048, 2049, 4096, 65536, 300_001])),
    st.sampled_from(["uint32", "int32", "float32"]),
    st.booleans(),
)
def test_prefix_sums_of_any_length(device: rg.Device, count, dtype, exclusive):
    values = numbers(dtype, count)
    g = rg.Graph()
    source = g.import_array("source", values, as_buffer=True)
    out = passes.prefix_sum(g, "out", source, dtype=dtype, exclusive=exclusive)
    (result,) = ran(device, g, out)
    result = result.view(dtype)
    wanted = np.cumsum(values, dtype=np.float64 if dtype == "float32" else dtype)
    if exclusive:
        wanted = np.concatenate([np.zeros(1, wanted.dtype), wanted[:-1]])
    if dtype == "float32":
        np.testing.assert_allclose(result, wanted, atol=2e-7 * np.abs(values).sum() + 1e-6)
    else:
        np.testing.assert_array_equal(result, wanted)


def test_prefix_sums_over_more_blocks_than_one_workgroup_holds(device: rg.Device):
    # 2049 blocks: the sums of blocks take two rounds of their own.
    values = numbers("uint32", 2048 * 2048 + 1)
    g = rg.Graph()
    out = passes.prefix_sum(g, "out", g.import_array("source", values, as_buffer=True))
    (result,) = ran(device, g, out)
    np.testing.assert_array_equal(result.view(np.uint32), np.cumsum(values, dtype=np.uint32))


def test_parts_of_buffers_are_summed_into_parts(device: rg.Device):
    values = numbers("int32", 640)
    g = rg.Graph()
    source = g.import_array("source", values, as_buffer=True)
    out = g.buffer("out", 4096)
    g.fill("zero", out)
    last = passes.prefix_sum(g, "sum", source[256:1280], out[1024:2048], dtype="int32", queue="async_compute")
    assert last.name == "sum/scan0"
    result = ran(device, g, out)[0].view(np.int32)
    np.testing.assert_array_equal(result[256:512], np.cumsum(values[64:320], dtype=np.int32))
    assert not result[:256].any()
    assert not result[512:].any()


FUNCTIONS = {
    "sum": np.add.reduce,
    "product": np.multiply.reduce,
    "min": np.min,
    "max": np.max,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


@few
@given(st.one_of(st.integers(1, 9000), st.sampled_from([4096, 4097, 100_000])), st.sampled_from(["uint32", "int32"]))
def test_reductions_of_whole_numbers_are_exact(device: rg.Device, count, dtype):
    values = numbers(dtype, count)
    g = rg.Graph()
    source = g.import_array("source", values, as_buffer=True)
    outs = [passes.reduce(g, name, source, operation=name, dtype=dtype) for name in ("sum", "max", "and", "xor")]
    with np.errstate(over="ignore"):
        for name, result in zip(("sum", "max", "and", "xor"), ran(device, g, *outs), strict=True):
            assert result.view(dtype).item() == FUNCTIONS[name](values).astype(dtype)


@pytest.mark.parametrize("operation", ["product", "min", "or"])
def test_the_other_operations(device: rg.Device, operation: str):
    values = numbers("int32", 5000) | 1
    g = rg.Graph()
    out = passes.reduce(g, "out", g.import_array("source", values, as_buffer=True), operation=operation, dtype="int32")
    with np.errstate(over="ignore"):
        assert ran(device, g, out)[0].view(np.int32).item() == FUNCTIONS[operation](values).astype(np.int32)


def test_sums_of_floats_lose_little(device: rg.Device):
    values = np.full(1_000_003, 0.1, np.float32)
    g = rg.Graph()
    source = g.import_array("source", values, as_buffer=True)
    outs = [passes.reduce(g, name, source, operation=name) for name in ("sum", "mean", "max")]
    total, mean, most = (result.view(np.float32).item() for result in ran(device, g, *outs))
    assert total == pytest.approx(float(values.astype(np.float64).sum()), rel=1e-6)
    assert mean == pytest.approx(float(values[0]), rel=1e-6)
    assert most == values[0]


@few
@given(st.integers(1, 200), st.integers(1, 150))
def test_images_are_reduced_channel_by_channel(device: rg.Device, width, height):
    picture = noise(height, width, seed=height) - np.float32(0.5)
    g = rg.Graph()
    source = g.import_array("source", picture)
    outs = [passes.reduce(g, name, source, operation=name) for name in ("mean", "min", "max")]
    mean, least, most = (result.view(np.float32) for result in ran(device, g, *outs))
    np.testing.assert_allclose(mean, picture.mean((0, 1), dtype=np.float64), atol=1e-6)
    np.testing.assert_array_equal(least, picture.min((0, 1)))
    np.testing.assert_array_equal(most, picture.max((0, 1)))


def test_images_of_integers_and_depth_are_reduced_as_such(device: rg.Device):
    values = np.random.default_rng(2).integers(-500, 500, (70, 90, 2), np.int16)
    g = rg.Graph()
    total = passes.reduce(g, "total", g.import_array("source", values))
    bits = passes.reduce(g, "bits", "source", operation="xor")
    flat = g.import_array("flat", np.full((30, 70), 0.25, np.float32))
    depth = passes.blit(g, "depth", flat, format="depth32float")
    far = passes.reduce(g, "far", depth, operation="mean")
    sums, xor, mean = ran(device, g, total, bits, far)
    np.testing.assert_array_equal(sums.view(np.int32)[:2], values.sum((0, 1), dtype=np.int32))
    np.testing.assert_array_equal(xor.view(np.int32)[:2], functools.reduce(np.bitwise_xor, values.reshape(-1, 2)))
    np.testing.assert_allclose(mean.view(np.float32), [0.25, 0, 0, 1])


@few
@given(st.integers(1, 200), st.integers(1, 200), st.floats(-1000, 1000))
def test_statistics_are_those_of_numpy(device: rg.Device, width, height, base):
    picture = noise(height, width, seed=width) + np.float32(base)
    g = rg.Graph()
    out = passes.statistics(g, "out", g.import_array("source", picture))
    (result,) = ran(device, g, out)
    least, most, mean, variance = result.view(np.float32).reshape(4, 4)
    exact = picture.astype(np.float64)
    np.testing.assert_array_equal(least, picture.min((0, 1)))
    np.testing.assert_array_equal(most, picture.max((0, 1)))
    np.testing.assert_allclose(mean, exact.mean((0, 1)), rtol=1e-6, atol=1e-6)
    # The numbers themselves are exact to 2^-24 of the base only.
    np.testing.assert_allclose(variance, exact.var((0, 1)), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 5), (65, 130)])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.finfo(np.float32).max, np.finfo(np.float32).min])
def test_extremes_of_infinite_numbers_are_infinite(device: rg.Device, shape, value):
    values = np.full(shape, value, np.float32)
    g = rg.Graph()
    image = g.import_array("image", values)
    buffer = g.import_array("buffer", values, as_buffer=True)
    outs = [
        passes.reduce(g, f"{word} of {source.name}", source, operation=word)
        for word in ("min", "max")
        for source in (image, buffer)
    ]
    *extremes, statistics = ran(device, g, *outs, passes.statistics(g, "statistics", image))
    assert [one.view(np.float32)[0] for one in extremes] == [value] * 4
    assert statistics.view(np.float32).reshape(4, 4)[:2, 0].tolist() == [value] * 2


def test_statistics_of_large_bright_images_stay_exact(device: rg.Device):
    picture = (noise(1500, 1100, 1) + 4096).astype(np.float32)
    g = rg.Graph()
    out = g.buffer("out", 64)
    assert passes.statistics(g, "stats", g.import_array("source", picture), out).name == "stats/statistics"
    (result,) = ran(device, g, out)
    exact = picture.astype(np.float64)
    _, _, mean, variance = result.view(np.float32).reshape(4, 4)[:, 0]
    assert mean == pytest.approx(exact.mean(), rel=1e-7)
    assert variance == pytest.approx(exact.var(), rel=1e-3)


def test_statistics_of_srgb_are_of_light(device: rg.Device):
    picture = np.random.default_rng(5).integers(0, 256, (33, 20, 4), np.uint8)
    g = rg.Graph()
    out = passes.statistics(g, "out", g.import_array("source", picture, srgb=True))
    (result,) = ran(device, g, out)
    light = decoded(picture[..., :3] / 255.0)
    np.testing.assert_allclose(result.view(np.float32).reshape(4, 4)[2, :3], light.mean((0, 1)), atol=1e-3)


@pytest.mark.parametrize("dtype", ["uint32", "int32", "float32"])
def test_sums_are_of_the_numbers_that_a_buffer_declares(device: rg.Device, dtype: str):
    values = numbers(dtype, 3000)
    g = rg.Graph()
    source = g.import_array("source", values, as_buffer=True)
    sums, least = passes.prefix_sum(g, "sums", source), passes.reduce(g, "least", source[16:12000], operation="min")
    copy = g.buffer("copy", like=source)
    g.copy("keep", source, copy)
    ran_sums, ran_least, last = ran(device, g, sums, least, passes.reduce(g, "last", copy, operation="max"))
    assert ran_sums.dtype == ran_least.dtype == last.dtype == dtype
    assert ran_least == values[4:].min()
    assert last == values.max()
    wanted = np.cumsum(values, dtype=dtype)
    assert np.allclose(ran_sums, wanted, 1e-4, 1e-3) if dtype == "float32" else np.array_equal(ran_sums, wanted)


def test_sums_of_buffers_with_other_numbers_are_refused():
    g = rg.Graph()
    wide = g.import_array("wide", np.arange(8.0), as_buffer=True)
    bytes_ = g.buffer("bytes", shape=16, dtype="uint8")
    with pytest.raises(rg.GraphError, match=r'RG-E207.*source "wide" has float64'):
        passes.reduce(g, "sum", wide)
    with pytest.raises(rg.GraphError, match=r'RG-E207.*source "bytes" has uint8') as caught:
        passes.prefix_sum(g, "sums", bytes_)
    assert 'dtype="uint32"' in caught.value.hint
    passes.prefix_sum(g, "sums", bytes_, dtype="uint32")


def test_wrong_sums_are_refused():
    g = rg.Graph(size=(8, 8))
    image, buffer, odd = g.image("image", format="rgba8unorm"), g.buffer("buffer", 64), g.buffer("odd", 63)
    many, other = g.image("many", format="r32float", samples=4), g.buffer("other", 32)
    before = g.hash
    for words, call in (
        ("has 63 bytes", lambda: passes.prefix_sum(g, "sum", odd)),
        ("have different lengths", lambda: passes.prefix_sum(g, "sum", buffer, other)),
        ("source and target are both", lambda: passes.prefix_sum(g, "sum", buffer, buffer)),
        ("no dtype 'float64'", lambda: passes.prefix_sum(g, "sum", buffer, dtype="float64")),
        ("source is an image", lambda: passes.prefix_sum(g, "sum", image)),
        ("no operation 'median'", lambda: passes.reduce(g, "one", buffer, operation="median")),
        ("xor of real numbers", lambda: passes.reduce(g, "one", image, operation="xor")),
        ("mean of u32 numbers", lambda: passes.reduce(g, "one", buffer, operation="mean", dtype="uint32")),
        ('target "other" has 32 bytes', lambda: passes.reduce(g, "one", buffer, other)),
        ('target "other" has 32 bytes', lambda: passes.statistics(g, "stats", image, other)),
        ("has 4 samples", lambda: passes.statistics(g, "stats", many)),
        ("source is a buffer", lambda: passes.statistics(g, "stats", buffer)),
    ):
        with pytest.raises(rg.GraphError) as caught:
            call()
        assert words in str(caught.value)
    assert g.hash == before
