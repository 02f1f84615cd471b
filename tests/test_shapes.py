"""Images, buffers and views say what they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rgraph as rg


def test_an_image_says_what_was_declared():
    g = rg.Graph(size=(101, 60))
    image = g.image("image", format="rgba16float", mips="full")
    assert (image.size, image.format, image.mip_count) == ((101, 60), "rgba16float", 7)
    assert (image.layer_count, image.samples) == (1, 1)
    assert image.graph is g
    assert image.source is not None
    assert image.source[0].endswith("test_shapes.py")
    assert g.image("cube", (8, 8), "r8unorm", cube=True).layer_count == 6
    assert g.image("volume", (3, 4, 5), "r8unorm").size == (3, 4, 5)
    assert g.image("plain").format is None
    assert g.buffer("buffer", 100).size == 100


def test_what_is_inherited_is_said_too():
    g = rg.Graph()
    a = g.image("a", (101, 61), "rgba16float", mips="full", samples=1, layers=2)
    b = g.module("m").image("b", like=a, scale=0.5, round="up", mips="full")
    assert (b.size, b.format, b.mip_count, b.layer_count) == ((51, 31), "rgba16float", 6, 2)
    for same in (a.previous(), g.image("c", modifies=a)):
        assert (same.size, same.format, same.mip_count, same.layer_count) == ((101, 61), "rgba16float", 7, 2)
    assert g.buffer("d", modifies=g.buffer("e", 12)).previous().size == 12


def test_names_that_come_later_are_said_to_be_missing():
    g = rg.Graph()
    early = g.image("early", like="late", scale=(2, 1))
    for what in ("size", "format", "mip_count"):
        with pytest.raises(rg.GraphError, match='of "early" depends on what nothing declares yet'):
            getattr(early, what)
    g.image("late", (5, 6), "r8unorm")
    assert (early.size, early.format) == ((10, 6), "r8unorm")


def test_views_say_their_ranges():
    g = rg.Graph()
    image, buffer = g.image("image", format="r8unorm", mips=4, layers=3), g.buffer("buffer", 64)
    view = image.mip(2).layers(1, 3)
    assert (view.mip_range, view.layer_range, view.byte_range) == ((2, 3), (1, 3), None)
    assert buffer[16:32].byte_range == (16, 32)


def test_a_view_has_no_part_outside_of_itself():
    g = rg.Graph()
    image = g.image("image", format="depth24plus-stencil8", mips=4, layers=3)
    view = image.mips(1, 3).layers(0, 2)
    assert (view.mip(2).mip_range, view.layer(1).layer_range) == ((2, 3), (1, 2))
    for call, message in (
        (lambda: view.mip(0), "mips 0 to 1 are not in the view, which has mips 1 to 3"),
        (lambda: view.mips(2, 4), "mips 2 to 4 are not"),
        (lambda: view.layer(2), "layers 2 to 3 are not in the view, which has layers 0 to 2"),
        (lambda: image.aspects("depth").aspects("stencil"), "the view has depth alone, not stencil"),
    ):
        with pytest.raises(rg.GraphError, match=f"RG-E209 {message}"):
            call()


def test_resources_are_found_by_name_as_seen_from_a_module():
    g = rg.Graph()
    outer, inner = g.image("image", format="r8unorm"), g.module("m").image("image", format="r8unorm")
    module = g.module("m")
    assert module.find("image") == inner
    assert g.find("image") == outer
    assert g.find("m/image") == inner
    with pytest.raises(rg.GraphError, match='did you mean "image"'):
        module.find("imag")


@given(st.integers(1, 5000), st.integers(1, 5000), st.lists(st.floats(0.01, 3.0), max_size=5), st.booleans())
def test_sizes_are_those_of_the_plan(width: int, height: int, scales: list[float], up: bool):
    g = rg.Graph()
    image = g.image("0", (width, height), "r8unorm")
    for at, scale in enumerate(scales, 1):
        small = max(image.size) * scale < 8000
        image = g.image(str(at), like=image, scale=scale if small else 0.1, round="up" if up else "down", mips="full")
    g.clear("clear", image, (0, 0, 0, 0))
    g.root(image)
    (planned,) = [r for r in g.bake().to_dict()["resources"] if r["name"] == image.name]
    assert (tuple(planned["size"]), planned["mips"]) == (image.size, image.mip_count)
