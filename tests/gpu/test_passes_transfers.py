"""Clear, copy, blit, upload, download and resolve against numpy."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rgraph as rg
from gpu.numpy_passes import centres, decoded, few, noise, ran, sampled
from rgraph import passes


def test_everything_is_cleared(device: rg.Device):
    g = rg.Graph()
    chain = g.image("chain", (8, 4), "rgba8unorm", mips=3)
    numbers, depth = g.image("numbers", (4, 4), "rg16sint"), g.image("depth", (4, 4), "depth32float")
    words, zeros = g.buffer("words", 64), g.buffer("zeros", 64)
    last, out = g.image("last", (2, 1), "rgba8unorm"), g.image("out", (8, 4), "rgba8unorm")
    assert passes.clear(g, "chain", chain, (1, 0, 0.2, 1)).name == "chain/clear"
    passes.clear(g, "numbers", numbers, (-3, 4, 0, 0))
    passes.clear(g, "depth", "depth", 0.5)
    passes.clear(g, "words", words[16:32], 7)
    passes.clear(g, "zeros", zeros, queue="compute")
    g.copy("last", chain.mip(2), last)
    g.copy("out", chain.mip(0), out)
    got = ran(device, g, last, out, numbers, depth, words, zeros)
    assert (got[0] == (255, 0, 51, 255)).all()
    assert (got[1] == (255, 0, 51, 255)).all()
    assert (got[2] == (-3, 4)).all()
    assert (got[3] == 0.5).all()
    assert got[4].view(np.uint32)[4:8].tolist() == [7] * 4
    assert not got[5].any()
    with pytest.raises(rg.GraphError, match=r"value of a buffer is 0\.5"):
        passes.clear(g, "wrong", words, 0.5)


def test_copies_take_all_mips_and_make_what_they_need(device: rg.Device):
    picture = noise(12, 20)
    g = rg.Graph()
    source = g.import_array("source", picture)
    chain = g.image("chain", like=source, mips=3)
    assert passes.copy(g, "fill", source, chain).name == "fill/copy"
    passes.generate_mips(g, "mips", chain)
    twin = passes.copy(g, "twin", chain)
    assert "twin/mip2" in [one.name for one in g.passes]
    assert isinstance(twin, rg.Image)
    assert (twin.mip_count, twin.size, twin.format) == (3, (20, 12), "rgba32float")
    small = passes.copy(g, "small", twin.mip(2))
    packed = g.buffer("packed", 12 * 20 * 16)
    assert passes.copy(g, "pack", source, packed).name == "pack/copy"
    part = passes.copy(g, "part", packed[320:640])
    a, b, c = ran(device, g, small, packed, part)
    np.testing.assert_allclose(a, picture.reshape(3, 4, 5, 4, 4).mean((1, 3)), atol=1e-6)
    np.testing.assert_array_equal(b.view(np.float32), picture.ravel())
    np.testing.assert_array_equal(c.view(np.float32), picture[1].ravel())


@few
@given(
    st.tuples(st.integers(1, 60), st.integers(1, 60)),
    st.tuples(st.integers(1, 60), st.integers(1, 60)),
    st.sampled_from(["linear", "nearest"]),
)
def test_blits_scale_between_texels(device: rg.Device, size, other, filter_):
    picture = noise(*size, seed=size[0])
    g = rg.Graph()
    source = g.import_array("source", picture)
    half = passes.blit(g, "half", source, format="rgba16float")
    outs = []
    for name, image in (("shader", source), ("transfer", half)):
        out = g.image(name, (other[1], other[0]), "rgba32float")
        assert passes.blit(g, name, image, out, filter=filter_).name == f"{name}/blit"
        outs.append(out)
    u, v = centres(*other)
    if filter_ == "linear":
        wanted = sampled(picture, u, v)
    else:
        # A texel in the middle between two may be either; those are left out.
        x, y = u * size[1], v * size[0]
        wanted = picture[np.minimum(y.astype(int), size[0] - 1), np.minimum(x.astype(int), size[1] - 1)]
        close = (np.abs(x - np.round(x)) < 1e-3) | (np.abs(y - np.round(y)) < 1e-3)
        wanted = np.where(close[..., None], np.nan, wanted)
    for result in ran(device, g, *outs):
        wanted_here = np.where(np.isnan(wanted), result, wanted)
        np.testing.assert_allclose(result, wanted_here, atol=5e-3)


KINDS = {
    "rgba32float": lambda x: x,
    "rgba8unorm": lambda x: np.round(x * 255).astype(np.uint8),
    "rg16sint": lambda x: np.round(x).astype(np.int16)[..., :2],
    "rgba8uint": lambda x: np.round(x).astype(np.uint8),
    "r32uint": lambda x: np.round(x).astype(np.uint32)[..., :1],
    "r16float": lambda x: x.astype(np.float16)[..., :1],
}


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("of", ["rgba32float", "rgba8uint", "depth32float"])
def test_any_kind_of_numbers_becomes_any_other(device: rg.Device, of: str, to: str):
    g = rg.Graph()
    if of == "depth32float":
        source = passes.blit(g, "source", g.import_array("array", np.full((4, 6), 0.75, np.float32)), format=of)
        values = np.tile(np.array([0.75, 0, 0, 1], np.float32), (4, 6, 1))
    elif of == "rgba8uint":
        array = np.random.default_rng(0).integers(0, 2, (4, 6, 4), np.uint8)
        source, values = g.import_array("source", array, format=of), array.astype(np.float32)
    else:
        values = noise(4, 6)
        source = g.import_array("source", values)
    out = passes.blit(g, "out", source, format=to, filter="nearest")
    (result,) = ran(device, g, out)
    wanted = KINDS[to](values).astype(float)
    # What comes of (height, width) has that shape again.
    wanted = wanted[..., 0] if of == "depth32float" and wanted.shape[-1] == 1 else wanted
    np.testing.assert_allclose(result.astype(float), wanted, atol=1.0 if to == "rgba8unorm" else 1e-3)


def test_depth_is_written_by_drawing_and_scaled(device: rg.Device):
    picture = noise(4, 6, 1)
    g = rg.Graph()
    depth = passes.blit(g, "depth", g.import_array("source", picture), format="depth32float")
    small = passes.blit(g, "small", depth, scale=0.5, format="r32float", queue="compute")
    assert small.size == (3, 2)
    near, far = ran(device, g, depth, small)
    np.testing.assert_allclose(near, picture, atol=1e-6)
    np.testing.assert_allclose(far, picture[1::2, 1::2], atol=1e-6)


def test_wrong_copies_and_blits_are_refused():
    g = rg.Graph(size=(8, 8))
    image, small = g.image("image", format="rgba8unorm"), g.image("small", (4, 4), "rgba8unorm")
    narrow, stencil = g.image("narrow", format="r8unorm"), g.image("stencil", format="stencil8")
    srgb = g.image("srgb", format="rgba8unorm-srgb")
    before = g.hash
    for words, call in (
        ("different sizes", lambda: passes.copy(g, "copy", image, small)),
        ("texels of different sizes", lambda: passes.copy(g, "copy", image, narrow)),
        ("of type int", lambda: passes.copy(g, "copy", 3, image)),
        ("stencil cannot be scaled", lambda: passes.blit(g, "blit", stencil, image)),
        ("no filter 'cubic'", lambda: passes.blit(g, "blit", image, small, filter="cubic")),
        ("cannot be written on queue", lambda: passes.blit(g, "blit", image, srgb, queue="compute")),
        ("source is a buffer", lambda: passes.blit(g, "blit", g.buffer("buffer", 4), image)),
    ):
        if "buffer" in words:
            assert g.hash == before
        with pytest.raises(rg.GraphError) as caught:
            call()
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("array", "format_"),
    [
        (np.random.default_rng(1).integers(0, 256, (5, 7, 3), np.uint8), "rgba8unorm"),
        (noise(5, 7, 3), "rgba32float"),
        (noise(5, 7, 3).astype(np.float16), "rgba16float"),
        (noise(5, 7, 4), "rgba32float"),
        (np.random.default_rng(1).integers(0, 256, (5, 7), np.uint8), "r8unorm"),
    ],
)
def test_arrays_become_images_that_can_be_written(device: rg.Device, array, format_):
    g = rg.Graph()
    out = passes.upload(g, "out", array)
    assert (out.format, out.size) == (format_, (7, 5))
    (result,) = ran(device, g, out)
    channels = array.shape[2] if array.ndim == 3 else 1
    np.testing.assert_array_equal(result[..., :channels], array.reshape(5, 7, channels))
    if channels == 3:
        assert (result[..., 3] == (255 if array.dtype == np.uint8 else 1)).all()
    other = np.ascontiguousarray(array[::-1])
    again = np.asarray(device.run(g, inputs={"out/array": other})["out"])
    np.testing.assert_array_equal(again[..., :channels], other.reshape(5, 7, channels))


def test_uploads_of_srgb_keep_their_bits_and_have_targets(device: rg.Device):
    array = np.random.default_rng(1).integers(0, 256, (5, 6, 3), np.uint8)
    g = rg.Graph()
    out = passes.upload(g, "out", array, srgb=True)
    target = g.image("target", (6, 5), "rgba8unorm", mips=2)
    assert passes.upload(g, "into", array, target).name == "into/copy"
    bits = passes.copy(g, "bits", target.mip(0))
    light = passes.blit(g, "light", out, format="rgba32float", filter="nearest")
    a, b, c = ran(device, g, out, bits, light)
    np.testing.assert_array_equal(a[..., :3], array)
    np.testing.assert_array_equal(b[..., :3], array)
    # Devices decode sRGB to half of one of 255 steps, which are the widest next to white.
    np.testing.assert_allclose(c[..., :3], decoded(array / 255), atol=0.5 * 2.4 / 255)


def test_wrong_uploads_are_refused():
    g = rg.Graph()
    small = g.image("small", (4, 4), "rgba8unorm")
    before = g.hash
    for words, call in (
        ("array is of type list", lambda: passes.upload(g, "up", [1, 2])),
        ("is no picture", lambda: passes.upload(g, "up", np.zeros(4))),
        ("cannot be widened", lambda: passes.upload(g, "up", np.zeros((4, 4, 3)))),
        ("cannot be widened", lambda: passes.upload(g, "up", np.zeros((4, 4, 3), np.float32), srgb=True)),
        ("the array is 3 × 4 texels", lambda: passes.upload(g, "up", np.zeros((4, 3, 4), np.uint8), small)),
        ("does not hold rgba32float", lambda: passes.upload(g, "up", np.zeros((4, 4, 3), np.float32), small)),
    ):
        with pytest.raises(rg.GraphError) as caught:
            call()
        assert words in str(caught.value)
    assert g.hash == before


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32"])
def test_what_is_downloaded_has_shape_and_numbers(device: rg.Device, dtype: str):
    array = np.random.default_rng(4).integers(0, 100, (5, 7, 2)).astype(dtype)
    g = rg.Graph()
    seen = []

    def look(view: memoryview) -> None:
        seen.append((threading.current_thread() is threading.main_thread(), view.readonly, np.array(view)))

    source = g.import_array("source", array)
    passes.download(g, "seen", source, look)
    plain = passes.download(g, "plain", source)
    frame = device.run(g)
    frame.wait()
    ((main, readonly, numbers),) = seen
    assert not main
    assert readonly
    np.testing.assert_array_equal(numbers.view(np.float16) if dtype == "float16" else numbers, array)
    np.testing.assert_array_equal(np.asarray(frame[plain]).view(dtype), array.ravel())


def test_depth_packed_formats_and_buffers_are_downloaded(device: rg.Device):
    g = rg.Graph()
    seen = {}
    depth, packed = g.image("depth", (3, 2), "depth32float"), g.image("packed", (3, 2), "rgb10a2unorm")
    buffer = g.buffer("buffer", 8)
    g.clear("a", depth, 0.5)
    g.clear("b", packed, (1, 0, 0, 0))
    g.fill("c", buffer, 9)
    for resource in (depth, packed, buffer):
        passes.download(
            g, f"{resource.name} seen", resource, lambda view, name=resource.name: seen.update({name: np.array(view)})
        )
    device.run(g).wait()
    assert seen["depth"].shape == (2, 3, 1)
    assert (seen["depth"] == 0.5).all()
    assert (seen["packed"] == 1023).all()
    assert seen["buffer"].tobytes() == b"\x09\0\0\0" * 2


SAMPLES = """
@fragment
fn main(@builtin(sample_index) sample: u32, @builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let at = floor(position.xy);
    return vec4<f32>(f32(sample), at.x + f32(sample * sample), at.y, 1.0);
}"""


@pytest.mark.parametrize("mode", ["average", "min", "max", "sample_zero"])
def test_samples_become_one(device: rg.Device, mode: str):
    g = rg.Graph()
    many = g.image("many", (6, 5), "rgba32float", samples=4)
    g.raster("draw", SAMPLES, color=many)
    out = passes.resolve(g, "out", many, mode=mode)
    assert out.samples == 1
    (result,) = ran(device, g, out)
    values = np.array([0.0, 1.0, 2.0, 3.0])
    function = {"average": np.mean, "min": np.min, "max": np.max, "sample_zero": lambda x: x[0]}[mode]
    y, x = np.mgrid[:5, :6]
    wanted = np.stack([np.full((5, 6), function(values)), x + function(values**2), y, np.ones((5, 6))], -1)
    np.testing.assert_allclose(result, wanted, atol=1e-6)


def test_depth_is_resolved(device: rg.Device):
    shader = """
    @vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
        let at = vec2<f32>(vec2<u32>(i & 1u, i >> 1u)) * 4.0 - 1.0;
        return vec4<f32>(at, 0.5, 1.0);
    }
    @fragment fn fs() {}
    """
    g = rg.Graph()
    many = g.image("many", (6, 5), "depth32float", samples=4)
    g.raster("draw", shader, depth=many, clear_depth=1.0)
    far = passes.resolve(g, "far", many, mode="max")
    mean = passes.resolve(g, "mean", many, format="r32float")
    a, b = ran(device, g, far, mean)
    assert (a == 0.5).all()
    assert (b == 0.5).all()


def test_wrong_resolves_are_refused():
    g = rg.Graph(size=(8, 8))
    one, many = g.image("one", format="rgba8unorm"), g.image("many", format="rgba8unorm", samples=4)
    numbers, small = g.image("numbers", format="r32uint", samples=4), g.image("small", (4, 4), "rgba8unorm")
    before = g.hash
    for words, call in (
        ('source "one" has 1 samples', lambda: passes.resolve(g, "resolve", one)),
        ("have different sizes", lambda: passes.resolve(g, "resolve", many, small)),
        ("no mode 'median'", lambda: passes.resolve(g, "resolve", many, mode="median")),
        ("have no average", lambda: passes.resolve(g, "resolve", numbers)),
        ("r32uint cannot become rgba8unorm", lambda: passes.resolve(g, "resolve", numbers, one, mode="max")),
        ('target "many" has 4 samples', lambda: passes.resolve(g, "resolve", many, many)),
    ):
        with pytest.raises(rg.GraphError) as caught:
            call()
        assert words in str(caught.value)
    assert g.hash == before
