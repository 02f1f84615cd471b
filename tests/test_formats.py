"""`rgraph.formats()` says what the conventions page says, which `tests/gpu` compares with a device."""

import pickle

import numpy as np
import pytest

import format_table
import rgraph as rg


def test_every_format_is_there_under_both_names():
    assert sorted((one.name, one.vulkan) for one in rg.formats()) == sorted(format_table.names())


def test_the_rows_are_those_of_the_page():
    plain, blocks = [], []
    for one in rg.formats():
        if one.block != (1, 1):
            width, height = one.block
            blocks.append(f"| `{one.name}` | `{one.vulkan}` | {width}×{height} | {one.channels} |\n")
            continue
        use = {"color": "colour", "depth": "depth", None: ""}[one.attachment]
        cells = [f"`{one.name}`", f"`{one.vulkan}`", f"`{one.dtype}` × {one.channels}", ", ".join(one.shader)]
        cells += ["yes" if one.storage else "", use, "yes" if one.mips else ""]
        plain.append("| " + " | ".join(cells) + " |\n")
    assert format_table.HEAD + "".join(plain) == format_table.shown()
    assert format_table.BLOCK_HEAD + "".join(blocks) == format_table.shown_blocks()


def test_a_format_is_found_by_each_of_its_names_and_stands_for_them():
    for one in rg.formats():
        for name in (one.name, one.vulkan, f"VK_FORMAT_{one.vulkan}", one):
            assert rg.Format(name) == one
        assert (one == one.name, one == one.vulkan, hash(one), str(one)) == (True, False, hash(one.name), one.name)
        assert pickle.loads(pickle.dumps(one)) == one
        assert repr(one) == f'Format("{one.name}")'
    assert len(set(rg.formats())) == len(rg.formats())
    with pytest.raises(rg.GraphError, match=r'RG-E202 .*there is no format called "rgba8unrom"') as caught:
        rg.Format("rgba8unrom")
    assert caught.value.hint == 'did you mean "rgba8unorm"?'
    with pytest.raises(TypeError, match="expected the name of a format or a Format, not int"):
        rg.Format(5)  # type: ignore[arg-type]


def test_bytes_of_texels_are_those_of_components_and_of_arrays():
    size = {"uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "float16": 2, "uint32": 4, "int32": 4, "float32": 4}
    for one in rg.formats():
        assert one.bytes == one.channels * size[one.dtype], one
        assert one.compressed == (one.block != (1, 1)) == (one.numbers == "block"), one
        if one.bits and not one.depth:
            assert one.bytes * 8 == one.components * one.bits, one
    odd = {one.name: one.components for one in rg.formats() if not one.bits and not one.compressed}
    assert odd == {"rgb9e5ufloat": 3, "rgb10a2uint": 4, "rgb10a2unorm": 4, "rg11b10ufloat": 3}
    both = [one.name for one in rg.formats() if one.depth and one.stencil]
    assert both == ["depth24plus-stencil8", "depth32float-stencil8"]
    assert rg.Format("depth32float-stencil8").bytes == 4
    assert [one.name for one in rg.formats() if one.stencil and not one.depth] == ["stencil8"]
    assert all(one.srgb == one.vulkan.replace("_BLOCK", "").endswith("SRGB") for one in rg.formats())


def test_a_format_is_accepted_where_a_name_is():
    texel = rg.Format("R16G16B16A16_SFLOAT")
    g = rg.Graph(size=(8, 8))
    for image in (
        g.image("a", (8, 8), texel),
        g.image("b", format=texel),
        g.import_image("c", (8, 8), texel),
        g.import_array("d", np.zeros((8, 8, 4), np.float16), format=texel),
        rg.passes.blur(g, "blurred", "d", format=texel),
    ):
        made = g.find("blurred") if isinstance(image, rg.Pass) else image
        assert made.format == texel  # type: ignore[union-attr]
    with pytest.raises(TypeError, match="size and format are in each other's place"):
        g.image("e", texel, (8, 8))  # type: ignore[arg-type]


def test_a_format_of_vertices_is_named_as_one():
    with pytest.raises(rg.GraphError, match='there is no format called "float32x3"') as caught:
        rg.Graph().image("a", (4, 4), "float32x3")  # type: ignore[arg-type]
    assert caught.value.hint == "it is a format of vertices; images have one, two or four channels, as rgba32float"
    with pytest.raises(rg.GraphError) as caught:
        rg.Graph().image("a", (4, 4), "texels")  # type: ignore[arg-type]
    assert "rgraph.formats() lists" in caught.value.hint
