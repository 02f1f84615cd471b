"""Histogram, exposure, accumulation and mips against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rgraph as rg
from gpu.numpy_passes import LUMINANCE, centres, decoded, encoded, few, noise, ran, sampled
from rgraph import passes


def counted(picture: np.ndarray, least: float, most: float) -> np.ndarray:
    """256 bins of the logarithm of luminance."""
    luminance = picture[..., :3].astype(np.float64) @ LUMINANCE
    with np.errstate(divide="ignore"):
        share = np.clip((np.log2(luminance) - least) / (most - least), 0, 1)
    bins = np.where(luminance >= 2.0**least, np.minimum(1 + (share * 255).astype(int), 255), 0)
    return np.bincount(bins.ravel(), minlength=256)


@few
@given(st.integers(1, 150), st.integers(1, 150), st.floats(-14, -2), st.floats(1, 16))
def test_histograms_count_every_texel_once(device: rg.Device, width, height, least, stops):
    picture = np.exp2(noise(height, width, most=16, seed=width) - 12).astype(np.float32)
    picture[0, 0] = np.nan
    g = rg.Graph()
    bins = passes.histogram(g, "bins", g.import_array("source", picture), range=(least, least + stops))
    (result,) = ran(device, g, bins)
    picture[0, 0] = 0
    wanted = counted(picture, least, least + stops)
    result = result.view(np.uint32).astype(int)
    assert result.sum() == width * height
    # Texels at a border between two bins may fall on either side.
    assert np.abs(np.cumsum(result) - np.cumsum(wanted)).max() <= 2 + width * height // 2000


def followed(picture: np.ndarray, low: float, high: float) -> float:
    """The mean logarithm between two percentiles of a histogram of -12 to 8."""
    bins = counted(picture, -12, 8)
    edges = np.concatenate([[0], np.cumsum(bins)]) / bins.sum()
    kept = np.maximum(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0)
    middles = -12 + 20 * np.maximum(np.arange(256) - 0.5, 0) / 255
    return float((kept * middles).sum() / kept.sum())


def test_exposure_follows_the_light(device: rg.Device):
    dark, light = noise(60, 70, most=0.2), noise(60, 70, most=6.0, seed=1)
    g = rg.Graph()
    source = g.import_array("source", dark)
    state = passes.exposure(g, "eye", source, low=0.2, high=0.95, key=0.2, speed=(3.0, 1.0), seconds=0.1)
    g.root(state)
    compiled = device.compile(g)
    goal = followed(dark, 0.2, 0.95)
    adapted = goal
    for number, picture in enumerate([dark, light, light, dark, dark], 1):
        goal = followed(picture, 0.2, 0.95)
        adapted += (goal - adapted) * (1 - np.exp(-0.1 * (3.0 if goal > adapted else 1.0)))
        result = np.array(compiled.run(inputs={"source": picture})["eye"]).view(np.float32)
        np.testing.assert_allclose(result, [0.2 * 2**-adapted, goal, adapted, number], rtol=2e-3, atol=2e-3)
    at_once = compiled.run(inputs={"source": light}, params={("eye/adapt", "time"): 1e6})
    assert np.array(at_once["eye"]).view(np.float32)[2] == pytest.approx(followed(light, 0.2, 0.95), abs=2e-3)


def test_exposure_takes_a_histogram_and_keeps_its_limits(device: rg.Device):
    g = rg.Graph()
    source = g.import_array("source", noise(30, 30, most=6.0))
    bins = passes.histogram(g, "bins", source)
    state = g.buffer("state", 16, persistent=True)
    last = passes.exposure(g, "eye", bins, state, limits=(-3.0, -1.0), queue="async_compute")
    assert last.name == "eye/adapt"
    (result,) = ran(device, g, state)
    np.testing.assert_allclose(result.view(np.float32)[[0, 2]], [0.18 * 2, -1.0], rtol=1e-5)


def test_wrong_exposures_are_refused():
    g = rg.Graph(size=(8, 8))
    image, small = g.image("image", format="rgba16float"), g.buffer("small", 16)
    large = g.buffer("large", 2048)
    before = g.hash
    for words, call in (
        ("low is 0.9 and high is 0.5", lambda: passes.exposure(g, "eye", image, low=0.9, high=0.5)),
        ("range is (3, 1)", lambda: passes.exposure(g, "eye", image, range=(3, 1))),
        ('source "small" has 16 bytes', lambda: passes.exposure(g, "eye", small)),
        ('target "large" has 2048 bytes', lambda: passes.exposure(g, "eye", image, large)),
        ('target "small" has 16 bytes', lambda: passes.histogram(g, "bins", image, small)),
        ("has 1024 bytes from 128 on", lambda: passes.histogram(g, "bins", image, large[128:1152])),
        ("target is an image", lambda: passes.histogram(g, "bins", image, "image")),
        ("speed is -1", lambda: passes.exposure(g, "eye", image, speed=(-1, 1))),
    ):
        with pytest.raises(rg.GraphError) as caught:
            call()
        assert words in str(caught.value)
    assert g.hash == before


MATRIX = np.array([[0.25, 0.5, 0.25], [0.5, 0, -0.5], [-0.25, 0.5, -0.25]])


def held(past: np.ndarray, current: np.ndarray, gamma: float | None) -> np.ndarray:
    """The past within the neighbourhood of a frame, in YCoCg; `gamma`: by deviations."""
    wide = np.pad(current[..., :3] @ MATRIX.T, ((1, 1), (1, 1), (0, 0)), "edge")
    around = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (0, 1))
    colour = past[..., :3] @ MATRIX.T
    if gamma is None:
        colour = np.clip(colour, around.min((-1, -2)), around.max((-1, -2)))
    else:
        middle, deviation = around.mean((-1, -2)), gamma * around.std((-1, -2))
        off = colour - middle
        times = np.maximum(np.abs(off / np.maximum(deviation, 1e-6)).max(-1, keepdims=True), 1)
        colour = middle + off / times
    return np.concatenate([colour @ np.linalg.inv(MATRIX).T, past[..., 3:]], -1)


@pytest.mark.parametrize("clamp", ["box", "variance", "none"])
def test_frames_are_mixed_into_those_before(device: rg.Device, clamp: str):
    frames = [noise(12, 17, seed=seed) for seed in range(5)]
    g = rg.Graph()
    source = g.import_array("source", frames[0])
    out = passes.temporal(g, "out", source, blend=0.3, clamp=clamp, gamma=1.1)
    g.root(out)
    compiled = device.compile(g)
    past = frames[0].astype(np.float64)
    for number, frame in enumerate(frames):
        if clamp != "none":
            past = held(past, frame.astype(np.float64), 1.1 if clamp == "variance" else None)
        share = max(0.3, 1 / (number + 1))
        past = past * (1 - share) + frame * share
        result = np.array(compiled.run(inputs={"source": frame})["out"])
        np.testing.assert_allclose(result, past, atol=2e-5)
    again = {("out/mix", "control"): 1, ("out/count", "control"): 1}
    np.testing.assert_array_equal(np.array(compiled.run(params=again)["out"]), frames[0])
    if clamp != "variance":  # noise lies outside of its own neighbourhood's deviations
        result = np.array(compiled.run(inputs={"source": frames[0]})["out"])
        np.testing.assert_allclose(result, frames[0], atol=1e-6)


@pytest.mark.parametrize("filter_", ["linear", "catmull_rom"])
def test_what_moved_is_found_where_it_was(device: rg.Device, filter_: str):
    # A smooth picture that moves by two and a half texels to the right and one up.
    u, v = centres(40, 60)
    shift = np.array([2.5 / 60, -1.0 / 40])

    def seen(du: float, dv: float) -> np.ndarray:
        wave = 0.5 + 0.25 * np.sin(12 * (u - du)) + 0.25 * np.cos(9 * (v - dv))
        return np.stack([wave, wave**2, 1 - wave, wave], -1).astype(np.float32)

    g = rg.Graph()
    source = g.import_array("source", seen(0, 0))
    motion = g.import_array("motion", np.tile(shift.astype(np.float32), (40, 60, 1)))
    out = passes.temporal(g, "out", source, motion=motion, blend=0.1, clamp="none", filter=filter_)
    g.root(out)
    compiled = device.compile(g)
    compiled.run().wait()
    second = seen(*shift)
    result = np.array(compiled.run(inputs={"source": second})["out"])
    inside = np.s_[:-3, 5:]
    np.testing.assert_allclose(result[inside], second[inside], atol=0.02 if filter_ == "linear" else 0.002)
    # What comes into the picture has no past.
    np.testing.assert_array_equal(result[:, :2], second[:, :2])
    past = sampled(seen(0, 0), u - shift[0], v - shift[1])
    if filter_ == "linear":
        np.testing.assert_allclose(result[:-1, 3:], (0.5 * past + 0.5 * second)[:-1, 3:], atol=1e-5)


def test_wrong_accumulations_are_refused():
    g = rg.Graph(size=(8, 8))
    image, small = g.image("image", format="rgba16float"), g.image("small", (4, 4), "rg16float")
    narrow, chain = g.image("narrow", format="r16float"), g.image("chain", format="rgba16float", mips=2)
    before = g.hash
    for words, target, options in (
        ("blend is 0", None, {"blend": 0}),
        ("no clamp 'hull'", None, {"clamp": "hull"}),
        ("no filter 'cubic'", None, {"filter": "cubic"}),
        ("have different sizes", None, {"motion": small}),
        ("has one channel", None, {"motion": narrow}),
        ("is part of an image", chain.mip(0), {}),
        ("source and target are both", image, {}),
    ):
        with pytest.raises(rg.GraphError) as caught:
            passes.temporal(g, "taa", image, target, **options)
        assert words in str(caught.value)
    assert g.hash == before


def by_area(finer: np.ndarray, axis: int) -> np.ndarray:
    """Half as many texels along an axis, each the mean of what it covers."""
    length = finer.shape[axis]
    if length == 1:
        return finer
    half = length // 2
    edges = np.arange(half + 1) * length / half
    cover = np.minimum(edges[1:, None], np.arange(1, length + 1)) - np.maximum(edges[:-1, None], np.arange(length))
    cover = np.maximum(cover, 0)
    return np.moveaxis(np.tensordot(cover / cover.sum(1, keepdims=True), finer, (1, axis)), 0, axis)


@few
@given(st.integers(1, 75), st.integers(1, 75))
def test_mips_of_any_size_are_means_by_area(device: rg.Device, width, height):
    picture = noise(height, width, seed=width)
    g = rg.Graph()
    chain = g.image("chain", (width, height), "rgba32float", mips="full")
    if chain.mip_count == 1:
        return
    g.copy("copy", g.import_array("source", picture), chain)
    last = passes.generate_mips(g, "mips", chain)
    assert last.name == f"mips/mip{chain.mip_count - 1}"
    outs = []
    for level in range(1, chain.mip_count):
        out = g.image(f"out{level}", (max(width >> level, 1), max(height >> level, 1)), "rgba32float")
        g.copy(f"copy{level}", chain.mip(level), out)
        outs.append(out)
    wanted = picture.astype(np.float64)
    for result in ran(device, g, *outs):
        wanted = by_area(by_area(wanted, 0), 1)
        np.testing.assert_allclose(result, wanted, atol=2e-6)
    np.testing.assert_allclose(result[0, 0], picture.mean((0, 1)), atol=2e-6)


def test_mips_of_srgb_are_means_of_light_and_layers_are_apart(device: rg.Device):
    picture = np.random.default_rng(1).integers(0, 256, (2, 10, 6, 4), np.uint8)
    g = rg.Graph()
    chain = g.image("chain", (6, 10), "rgba8unorm-srgb", mips=2, layers=2)
    g.copy("copy", g.import_array("source", picture, srgb=True), chain)
    assert passes.generate_mips(g, "mips", "chain").name == "mips/layer1/mip1"
    out = g.image("out", (3, 5), "rgba8unorm-srgb", layers=2)
    g.copy("out", chain.mip(1), out)
    (result,) = ran(device, g, out)
    light = picture / 255.0
    light[..., :3] = decoded(light[..., :3])
    wanted = light.reshape(2, 5, 2, 3, 2, 4).mean((2, 4))
    wanted[..., :3] = encoded(wanted[..., :3])
    assert np.abs(result - 255 * wanted).max() < 1.6


@pytest.mark.parametrize("base", [-0.5, np.inf, -np.inf])
def test_pyramids_of_extremes(device: rg.Device, base: float):
    values = noise(9, 15, 1) + np.float32(base)
    g = rg.Graph()
    outs = []
    for reduce, function in (("min", np.min), ("max", np.max)):
        chain = g.image(reduce, (15, 9), "r32float", mips="full")
        g.copy(f"copy {reduce}", g.import_array(f"source {reduce}", values), chain)
        passes.generate_mips(g, reduce, chain, reduce=reduce)
        out = g.image(f"{reduce} out", (1, 1), "r32float")
        g.copy(f"out {reduce}", chain.mip(3), out)
        outs.append((out, function(values)))
    for result, (_, wanted) in zip(ran(device, g, *(out for out, _ in outs)), outs, strict=True):
        assert result.item() == wanted


def test_wrong_mips_are_refused():
    g = rg.Graph(size=(8, 8))
    flat, numbers = g.image("flat", format="r8unorm"), g.image("numbers", format="r32uint", mips=2)
    buffer = g.buffer("buffer", 4)
    srgb = g.image("srgb", format="rgba8unorm-srgb", mips=2)
    before = g.hash
    for words, image, options in (
        ('image "flat" has one mip', flat, {}),
        ("wants real numbers", numbers, {}),
        ("no reduce 'sum'", srgb, {"reduce": "sum"}),
        ("cannot be written on queue 'compute'", srgb, {"queue": "compute"}),
        ("image is no image", buffer, {}),
    ):
        with pytest.raises(rg.GraphError) as caught:
            passes.generate_mips(g, "mips", image, **options)
        assert words in str(caught.value)
    assert g.hash == before
