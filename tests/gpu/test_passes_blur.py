"""Gaussian blur against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rgraph as rg
from gpu.numpy_passes import blurred, decoded, encoded, few, gaussian, noise, ran
from rgraph import passes


@few
@given(
    st.integers(1, 300),
    st.integers(1, 90),
    st.integers(0, 60),
    st.sampled_from(["clamp", "repeat", "mirror", "zero"]),
    st.floats(0.3, 20.0),
)
def test_every_method_is_the_same_convolution(device: rg.Device, width, height, radius, edge, sigma):
    # Samplers repeat whole images only; so does numpy, but not by more than one at a time.
    radius = min(radius, width, height)
    picture = noise(height, width, seed=radius)
    g = rg.Graph()
    source = g.import_array("source", picture)
    outs = [
        passes.blur(g, method, source, radius=radius, sigma=sigma, edge=edge, method=method)
        for method in ("tiled", "linear", "taps")
    ]
    wanted = blurred(picture, gaussian(radius, sigma), edge)
    for method, result in zip(("tiled", "linear", "taps"), ran(device, g, *outs), strict=True):
        # A filter weighs its two texels by 8 bits at least.
        np.testing.assert_allclose(result, wanted, atol=4e-3 if method == "linear" else 2e-6, err_msg=method)


@pytest.mark.parametrize("radius", [0, 1, 69, 141, 280, 300, 5000])
def test_radii_of_any_size(device: rg.Device, radius: int):
    picture = noise(7, 40)
    g = rg.Graph()
    source = g.import_array("source", picture)
    out = passes.blur(g, "out", source, radius=radius)
    (result,) = ran(device, g, out)
    weights = gaussian(radius, max(radius, 1) / 3)
    np.testing.assert_allclose(result, blurred(picture, weights), atol=4e-3)


def test_what_is_outside_of_workgroups_is_not_written(device: rg.Device):
    picture = noise(1, 257)
    g = rg.Graph()
    out = passes.blur(g, "out", g.import_array("source", picture), radius=3, edge="zero")
    np.testing.assert_allclose(ran(device, g, out)[0], blurred(picture, gaussian(3, 1.0), "zero"), atol=1e-6)


def test_srgb_is_blurred_as_light_and_drawn(device: rg.Device):
    picture = np.random.default_rng(3).integers(0, 256, (20, 30, 4), np.uint8)
    g = rg.Graph()
    source = g.import_array("source", picture, srgb=True)
    out = passes.blur(g, "out", source, radius=4)
    (result,) = ran(device, g, out)
    light = picture / 255.0
    light[..., :3] = decoded(light[..., :3])
    wanted = blurred(light, gaussian(4, 4 / 3))
    wanted[..., :3] = encoded(wanted[..., :3])
    assert np.abs(result - wanted * 255).max() < 1.6
    assert device.compile(g).plan.passes[-1].queue == "graphics"


def test_targets_may_be_mips_other_formats_and_the_source(device: rg.Device):
    picture = noise(24, 40)
    g = rg.Graph()
    chain = g.image("chain", (80, 48), "rgba16float", mips=2)
    source = g.import_array("source", picture)
    inside = g.image("inside", like=source)
    g.copy("copy", source, inside)
    assert passes.blur(g, "mip", source, chain.mip(1), radius=2).name == "mip/columns"
    passes.blur(g, "again", "inside", inside, radius=2, queue="async_compute")
    passes.blur(
        g, "drawn", chain.mip(1), g.image("eight", like=source, format="rgba8unorm"), radius=2, queue="graphics"
    )
    again, eight = ran(device, g, inside, g.find("eight"))
    wanted = blurred(picture, gaussian(2, 2 / 3))
    np.testing.assert_allclose(again, wanted, atol=1e-6)
    np.testing.assert_allclose(eight / 255, blurred(wanted, gaussian(2, 2 / 3)), atol=5e-3)


def test_wrong_arguments_are_refused_and_change_nothing():
    g = rg.Graph(size=(64, 48))
    image, small = g.image("image", format="rgba8unorm"), g.image("small", (8, 8), "rgba8unorm")
    depth, volume = g.image("depth", format="depth32float"), g.image("volume", (8, 8, 8), "r8unorm")
    many, layers = g.image("many", format="rgba8unorm", samples=4), g.image("layers", format="r8unorm", layers=2)
    srgb, buffer = g.image("srgb", format="rgba8unorm-srgb"), g.buffer("buffer", 64)
    before = g.hash
    for words, arguments, options in (
        ('source "depth" is of depth32float', (depth,), {}),
        ('source "volume" is a volume', (volume,), {}),
        ('source "many" has 4 samples', (many,), {}),
        ('source "layers" has 2 layers', (layers,), {}),
        ("source is a buffer", (buffer,), {}),
        ('nothing declares "imag"', ("imag",), {}),
        ("have different sizes", (image, small), {}),
        ("radius is -1", (image,), {"radius": -1}),
        ("radius is 1.5", (image,), {"radius": 1.5}),
        ("sigma is 0", (image,), {"sigma": 0}),
        ("there is no edge 'wrap'", (image,), {"edge": "wrap"}),
        ("there is no queue 'gpu'", (image,), {"queue": "gpu"}),
        ("cannot be written on queue 'compute'", (image, srgb), {"queue": "compute"}),
        ("does not fit a workgroup's memory", (image,), {"radius": 400, "method": "tiled"}),
        ('part of "image" that there is not', (image.mip(3),), {}),
    ):
        with pytest.raises(rg.GraphError) as caught:
            passes.blur(g, "blur", *arguments, **options)
        assert words in str(caught.value)
        assert "help: " in str(caught.value) or "RG-E202" in str(caught.value)
    assert g.hash == before


def test_mistakes_name_the_call_and_the_resource():
    g = rg.Graph(size=(64, 48))
    depth = g.image("depth", format="depth32float")
    with pytest.raises(rg.GraphError) as caught:
        passes.blur(g, "soft", depth)
    error = caught.value
    assert (error.code, error.pass_name, error.resource) == ("RG-E207", "soft", "depth")
    assert [side.name for side in error.mistakes[0].sides] == ["soft", "depth"]
    assert all(str(side.file).endswith("test_passes_blur.py") for side in error.mistakes[0].sides)
    assert "rgba16float" in error.hint
