"""T6, T11: layers of copied graphs and of graphs that replace, targets by name, clear values per run, wrong targets."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rgraph as rg
from seeds.test_t06_t11_layers import FILL, PANE, drawn, opened, pane, row

RED, GREEN, BLUE, BASE = [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [0.25, 0, 0, 1]


def test_targets_are_given_by_name(device: rg.Device) -> None:
    g = rg.Graph("names", size=(8, 1))
    m = g.module("m")
    layer = m.layer("scene", "out", clear=(1, 0, 0, 1))
    m.image("out", format="rgba32float")
    # The name means what it means where the layer was opened.
    g.image("out", format="rgba8unorm")
    g.root("m/out")
    drawn(m, "near", (0, 1, 0, 1), 0, 0.5)
    pane(m.module("inner"), "pane", 5, (0, 0, 1, 0), 0.25, 0.75)
    assert layer.color == ("out",)
    assert g.bake("single_queue").check(g) == []
    cells = np.array(device.run(g)["m/out"])[0].tolist()
    assert cells == [GREEN] * 2 + [[0, 0.5, 1, 0.5]] * 2 + [[0.5, 0, 1, 0.5]] * 2 + [RED] * 2


@pytest.mark.parametrize("copied", [rg.Graph.clone, copy.copy, copy.deepcopy])
def test_a_copy_of_a_graph_has_its_layers(device: rg.Device, copied: Callable[[rg.Graph], rg.Graph]) -> None:
    g, _ = opened()
    drawn(g, "left", (1, 0, 0, 1), 0, 0.5)
    pane(g, "pane", 5, (0, 1, 0, 0), 0, 0.25)
    other = copied(g)
    drawn(other, "right", (0, 0, 1, 1), 0.5, 1, key=1)
    # The demand of the original is that of the copy.
    pane(other, "second", 5, (0, 0, 1, 0), 0.5, 0.75)
    assert sum(name.endswith(".copy") for name in other.bake("single_queue").pass_names) == 1
    with pytest.raises(rg.GraphError, match="RG-E201"):
        other.layer("scene", "out", clear=(0, 0, 0, 1))
    assert [one.name for one in g.passes if one.name in ("right", "second")] == []
    seen = [0.5, 1, 0, 0.5]
    assert row(device, other).tolist() == [seen] * 2 + [RED] * 2 + [[0, 0, 1.5, 0.5]] * 2 + [BLUE] * 2
    assert row(device, g).tolist() == [seen] * 2 + [RED] * 2 + [BASE] * 4


def test_a_graph_that_replaces_opens_a_layer_anew(device: rg.Device) -> None:
    """A cell of a notebook that runs again: with other colours, other keys, another order, without a clear."""
    g = rg.Graph("again", size=(8, 1), replace=True)
    first: rg.Layer | None = None
    for color, key, order in (((0, 1, 0, 1), 3, 1), ((1, 0, 0, 1), 9, 2)):
        out = g.image("out", format="rgba32float")
        layer = g.layer("scene", out, order=order, clear=(0.25, 0, 0, 1))
        first = first or layer
        g.layer("sky", out, order=1 if order == 2 else 5).draw(
            "sky", FILL, push={"color": (0, 0, 1, 1), "low": 0.75, "high": 1}
        )
        drawn(g, "left", color, 0, 0.5, key=key)
        pane(g, "pane", 5, (0, 0, 1, 0), 0.25, 0.75)
        g.root(out)
        assert (first.order, layer.order) == (order, order)
        left = list(color)
        if key == 3:
            want = [left] * 2 + [[0, 0.5, 1, 0.5]] * 2 + [[0.125, 0, 1, 0.5]] * 2 + [BLUE] * 2
        else:
            # It is drawn over the pane, and the sky below all of it.
            want = [left] * 4 + [[0.125, 0, 1, 0.5]] * 2 + [BASE] * 2
        assert row(device, g).tolist() == want
    g.layer("scene", "out", order=2)
    assert "scene" not in g.bake().pass_names


def test_clear_values_of_a_layer_are_functions(device: rg.Device) -> None:
    g = rg.Graph("functions", size=(8, 1))
    out, depth = g.image("out", format="rgba32float"), g.image("depth", format="depth32float")
    values: dict[str, Any] = {"clear": (0, 1, 0, 1), "depth": 1.0}
    layer = g.layer("scene", out, depth, clear=lambda: values["clear"], clear_depth=lambda: values["depth"])
    layer.draw("near", FILL, push={"color": (1, 0, 0, 1), "low": 0, "high": 0.5}, depth_test="less_equal")
    g.root(out)
    compiled = device.compile(g)

    def cells(**how: Any) -> list[list[float]]:
        return np.array(compiled.run(**how)["out"])[0].tolist()

    assert cells() == [RED] * 4 + [GREEN] * 4
    values["clear"] = (0, 0, 1, 1)
    assert cells() == [RED] * 4 + [BLUE] * 4
    assert cells(params={("scene", "clear"): (0.25, 0, 0, 1)}) == [RED] * 4 + [BASE] * 4
    values["depth"] = 2.0
    with pytest.raises(rg.GraphError, match="clears"):
        compiled.run()


def test_what_is_no_target_is_refused_where_the_layer_is_opened() -> None:
    g = rg.Graph("wrong", size=(8, 8))
    out, words = g.image("out", format="rgba8unorm"), g.buffer("words", 64)
    for color, options, message in (
        (3, {}, "not int"),
        (words, {}, "not Buffer"),
        (words[0:4], {}, "not View"),
        ([], {}, "needs color= or depth="),
        ([None], {}, "needs color= or depth="),
        (out, {"clear_depth": 1.0}, "no depth= to be cleared"),
        (None, {"depth": out, "clear": (0, 0, 0, 0)}, "no color= to be cleared"),
    ):
        with pytest.raises(TypeError, match=message):
            g.layer("scene", color, **options)
    with pytest.raises(rg.GraphError, match="RG-E202"):
        g.layer("scene")
    assert g.passes == []


@pytest.mark.parametrize("form", ["depth24plus-stencil8", "depth32float-stencil8", "r32sint", "rgb9e5ufloat"])
def test_what_the_device_cannot_scale_is_refused(device: rg.Device, form: str) -> None:
    """A demand of half the size is a blit, which devices have for some formats only."""
    g = rg.Graph("scaled", size=(4, 4))
    target = g.image("target", format=form)
    if form.startswith("depth"):
        layer = g.layer("scene", None, target, clear_depth=(0.5, 3))
        behind = layer.behind(key=1, target="depth", scale=0.5)
    elif form == "rgb9e5ufloat":
        g.copy("fill", g.import_array("words", np.zeros(16, np.uint32), as_buffer=True), target)
        behind = g.image("small", (2, 2), form)
        g.blit("scale", target, behind)
    else:
        layer = g.layer("scene", target, clear=(7, 0, 0, 1))
        behind = layer.behind(key=1, scale=0.5)
    g.root(behind)
    refused, shape = "", (2, 2)
    try:
        shape = device.run(g)[behind].shape[:2]
    except rg.RgError as error:
        refused = str(error)
    assert shape == (2, 2)
    assert not refused or re.search(r"blits (from|to) .*, which .* cannot", refused), refused


def test_3d_images_are_no_targets(device: rg.Device) -> None:
    g = rg.Graph("volume")
    volume = g.image("volume", (4, 4, 4), "rgba8unorm")
    g.layer("scene", volume, clear=(1, 0, 0, 1)).draw("fill", FILL, push={"color": (1, 0, 0, 1), "low": 0, "high": 1})
    g.root(volume)
    with pytest.raises(rg.GraphError, match='RG-E225 "volume" is a 3D image and an attachment') as caught:
        device.run(g)
    assert "compute pass" in caught.value.hint


def test_a_pane_of_a_copied_layer_reads_what_is_behind_it(device: rg.Device) -> None:
    """A copy of a copy, with a demand in the last one only."""
    g, _ = opened()
    drawn(g, "left", (1, 0, 0, 1), 0, 0.5)
    last = g.clone().clone()
    layer = last.layer("scene")
    layer.draw("pane", PANE, key=1, behind=layer.behind(key=1), push={"tint": (0, 0, 1, 0), "low": 0, "high": 1})
    assert row(device, last).tolist() == [[0.5, 0, 1, 0.5]] * 4 + [[0.125, 0, 1, 0.5]] * 4
