"""`rgraph.formats()` says what the conventions page says, which `tests/gpu` compares with a device."""

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


def test_a_format_of_vertices_is_named_as_one():
    with pytest.raises(rg.GraphError, match='there is no format called "float32x3"') as caught:
        rg.Graph().image("a", (4, 4), "float32x3")  # type: ignore[arg-type]
    assert caught.value.hint == "it is a format of vertices; images have one, two or four channels, as rgba32float"
    with pytest.raises(rg.GraphError) as caught:
        rg.Graph().image("a", (4, 4), "texels")  # type: ignore[arg-type]
    assert "rgraph.formats() lists" in caught.value.hint
