"""Arrays in and out of runs: inputs, results, formats, imports."""

import numpy as np
import pytest

import rgraph as rg
from gpu.declared import picture, scaled
from gpu.shaders import ADD, COPY


def test_arrays_are_read_when_the_graph_is_run(device: rg.Device):
    values = np.arange(64, dtype=np.uint32)
    g = scaled(values)
    assert np.asarray(device.run(g)["dst"]).view("u4")[1] == 4
    values[1] = 10
    assert np.asarray(device.run(g)["dst"]).view("u4")[1] == 31
    frame = device.run(g, inputs={"src": np.full(64, 2, np.uint32)})
    np.testing.assert_array_equal(np.asarray(frame["dst"]).view("u4"), 7)
    assert np.asarray(device.run(g)["dst"]).view("u4")[1] == 31


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((48, 64, 2), np.uint8), "(48, 64, 4) of uint8 here"),
        (np.zeros((48, 64, 4), np.float32), "(48, 64, 4) of uint8 here"),
        (np.zeros((64, 48, 4), np.uint8), "(48, 64, 4) of uint8 here"),
        (np.zeros((48, 128, 4), np.uint8)[:, ::2], "ascontiguousarray"),
        (np.asfortranarray(np.zeros((48, 64, 4), np.uint8)), "ascontiguousarray"),
        (np.zeros((48, 64, 4), ">u2"), "byte order"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_with_what_would(device: rg.Device, array, words):
    g = rg.Graph()
    photo = g.import_array("photo", picture())
    out = g.image("out", like=photo)
    g.compute("copy", COPY, src=photo, dst=out)
    g.root(out)
    with pytest.raises(rg.GraphError) as caught:
        device.run(g, inputs={"photo": array})
    assert words in str(caught.value)
    with pytest.raises(rg.GraphError, match='did you mean "photo"'):
        device.run(g, inputs={"phot": array})
    np.testing.assert_array_equal(np.asarray(device.run(g, inputs={photo: picture(1)})["out"]), picture(1))


def test_results_are_read_into_given_arrays(device: rg.Device):
    g = rg.Graph()
    photo = g.import_array("photo", picture())
    out = g.image("out", like=photo)
    g.compute("copy", COPY, src=photo, dst=out)
    g.root(out)
    target = np.zeros((48, 64, 4), np.uint8)
    frame = device.run(g, into={"out": target})
    np.testing.assert_array_equal(target, picture())
    np.testing.assert_array_equal(np.asarray(frame["out"]), picture())
    frozen = np.zeros((48, 64, 4), np.uint8)
    frozen.flags.writeable = False
    for wrong, words in (
        (frozen, "cannot be written"),
        (np.zeros((48, 64, 4), np.int8), "of uint8 here"),
        (np.zeros((48, 64), np.uint8), "of uint8 here"),
        (np.zeros((96, 64, 4), np.uint8)[::2], "read into a contiguous array"),
    ):
        with pytest.raises(rg.GraphError, match=words):
            device.run(g, into={"out": wrong})
    with pytest.raises(TypeError):
        device.run(g, into={"out": [1, 2, 3]})


FORMATS = {
    "r8unorm": ("u1", 1),
    "rg8unorm": ("u1", 2),
    "rgba8unorm": ("u1", 4),
    "rgba8unorm-srgb": ("u1", 4),
    "bgra8unorm": ("u1", 4),
    "rgba8snorm": ("i1", 4),
    "rgba8uint": ("u1", 4),
    "r16uint": ("u2", 1),
    "rgba16sint": ("i2", 4),
    "rg16float": ("f2", 2),
    "rgba16float": ("f2", 4),
    "r32float": ("f4", 1),
    "rgba32float": ("f4", 4),
    "r32uint": ("u4", 1),
    "rg32sint": ("i4", 2),
    "rgb10a2unorm": ("u4", 1),
    "rg11b10ufloat": ("u4", 1),
    "rgb9e5ufloat": ("u4", 1),
}


@pytest.mark.parametrize("format_", FORMATS)
def test_formats_have_their_dtypes_and_keep_their_bits(device: rg.Device, format_: str):
    dtype, channels = FORMATS[format_]
    size = 7 * 5 * channels * np.dtype(dtype).itemsize
    bits = np.random.default_rng(3).integers(0, 60, size, np.uint8)
    values = bits.view(dtype).reshape(5, 7, channels)
    g = rg.Graph()
    source = g.import_array("source", values, format=format_)
    out = g.image("out", like=source)
    g.copy("copy", source, out)
    g.root(out)
    result = device.run(g)["out"]
    assert (result.shape, result.dtype, result.format) == ((5, 7, channels), np.dtype(dtype).name, format_)
    assert np.asarray(result).dtype == dtype
    assert np.asarray(result).tobytes() == values.tobytes()


def test_layers_and_volumes_have_an_axis_of_their_own(device: rg.Device):
    values = np.random.default_rng(4).integers(0, 256, (3, 4, 6, 4), np.uint8)
    for volume in (False, True):
        g = rg.Graph()
        source = g.import_array("source", values, volume=volume)
        size = (6, 4, 3) if volume else (6, 4)
        out = g.image("out", size, "rgba8unorm", layers=None if volume else 3)
        g.copy("copy", source, out)
        g.root(out)
        np.testing.assert_array_equal(np.asarray(device.run(g)["out"]), values)


def test_only_what_is_asked_for_is_read_back(device: rg.Device):
    g = scaled(np.arange(4, dtype=np.uint32))
    other = g.buffer("other", 16)
    g.fill("fill", other, 7)
    g.root(other)
    frame = device.run(g, read="other")
    assert list(frame) == frame.keys() == ["other"]
    assert len(frame) == 1
    assert "other" in frame
    assert "dst" not in frame
    with pytest.raises(rg.GraphError, match="was not read back"):
        frame["dst"]
    with pytest.raises(rg.GraphError, match='did you mean "other"'):
        frame["othr"]
    assert set(device.run(g)) == {"dst", "other"}
    assert frame["other"] is frame[other]


def imported_twice() -> rg.Graph:
    """A graph of two imports."""
    g = rg.Graph("imports")
    one, two = g.import_buffer("one", 256), g.import_buffer("two", 256)
    dst = g.buffer("dst", 256)
    g.compute("add", ADD, groups=1, one=one, two=two, dst=dst)
    g.root(dst)
    return g


def test_inputs_hold_for_their_run_only(device: rg.Device):
    values = np.arange(64, dtype=np.uint32)
    owned = device.buffer("owned", 256)
    owned.write(values)
    compiled = device.compile(imported_twice())
    for second in (owned, values):
        frame = compiled.run(inputs={"one": values + 1, "two": second})
        np.testing.assert_array_equal(np.asarray(frame["dst"]).view("u4"), (values + 1) * 1000 + values)
        for inputs in ({}, {"one": values}, {"two": owned}):
            with pytest.raises(rg.GraphError, match="has nothing bound to it in this run") as caught:
                compiled.run(inputs=inputs)
            assert caught.value.code == "RG-E225"
            assert caught.value.resource in {"one", "two"} - set(inputs)


def test_arrays_that_were_imported_are_read_at_each_run(device: rg.Device):
    values = np.arange(64, dtype=np.uint32)
    g = scaled(values)
    for step in range(3):
        values[:] = np.arange(64) + step
        np.testing.assert_array_equal(np.asarray(device.run(g)["dst"]).view("u4"), values * 3 + 1)
    other = values + 50
    np.testing.assert_array_equal(np.asarray(device.run(g, inputs={"src": other})["dst"]).view("u4"), other * 3 + 1)
    np.testing.assert_array_equal(np.asarray(device.run(g)["dst"]).view("u4"), values * 3 + 1)


def test_one_resource_under_two_names_is_refused(device: rg.Device):
    values = np.arange(64, dtype=np.uint32)
    one, two = device.buffer("a", 256), device.buffer("b", 256)
    one.write(values)
    two.write(values * 2)
    compiled = device.compile(imported_twice())
    for _ in range(2):
        with pytest.raises(rg.GraphError, match='imports "one" and "two" are bound to one resource'):
            compiled.run(inputs={"one": one, "two": one})
    for first, second, factors in ((one, two, (1000, 2)), (two, one, (2000, 1)), (one, two, (1000, 2))):
        frame = compiled.run(inputs={"one": first, "two": second})
        np.testing.assert_array_equal(np.asarray(frame["dst"]).view("u4"), values * factors[0] + values * factors[1])


def test_imported_arrays_may_be_shared_by_queues():
    g = rg.Graph()
    g.import_array("src", np.zeros(4, np.uint32), as_buffer=True, sharing="concurrent")
    assert g.to_dict()["buffers"]["src"]["sharing"] == "concurrent"
    with pytest.raises(rg.GraphError, match='did you mean "concurrent"'):
        g.import_array("other", np.zeros(4, np.uint32), as_buffer=True, sharing="concurent")


def test_a_resource_of_another_kind_is_told_in_words(device: rg.Device):
    compiled = device.compile(imported_twice())
    image = device.image("picture", (4, 2), "rgba8unorm", mips=2)
    with pytest.raises(rg.GraphError) as caught:
        compiled.run(inputs={"one": image, "two": np.zeros(64, np.uint32)})
    message = '"one" is a buffer of 256 bytes, and what is given is an image of 4x2 rgba8unorm, 2 mips'
    assert message in str(caught.value)
