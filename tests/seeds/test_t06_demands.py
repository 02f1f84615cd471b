"""T6, T11: demands at the edges: conditional, of depth, of parts of images, that nobody reads, nested deep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rgraph as rg
from seeds.test_t06_t11_layers import FILL, PANE, drawn, opened, row

COPIED = {
    "images": {"from": {"format": "rgba32float"}, "to": {"format": "rgba32float"}},
    "passes": [{"name": "copy", "copy": {"from": "from", "to": "to"}}],
}


def copies(plan: rg.Plan) -> list[str]:
    return [name for name in plan.pass_names if name.endswith(".copy")]


def test_a_demand_inside_a_conditional_runs_only_with_it(device: rg.Device) -> None:
    """Two panes, one behind the other, each switched by a flag of its own: all four pictures are right."""
    g, _ = opened()
    drawn(g, "opaque", (1, 0, 0, 1), 0, 1, key=0)
    for name, key, tint, low, high in (("near", 10, (0, 1, 0, 0), 0, 0.5), ("far", 20, (0, 0, 1, 0), 0.25, 0.75)):
        m = g.module(name)
        layer = m.layer("scene")
        behind = layer.behind(key=key, conditional=name)
        push = {"tint": tint, "low": low, "high": high}
        layer.draw("pane", PANE, key=key, behind=behind, push=push, conditional=name)
    assert g.bake("single_queue").check(g) == []
    compiled = device.compile(g)
    red = np.array([1, 0, 0, 1])
    for near in (True, False):
        for far in (True, False):
            want = np.tile(red.astype(float), (8, 1))
            if near:
                want[0:4] = 0.5 * want[0:4] + [0, 1, 0, 0]
            if far:
                want[2:6] = 0.5 * want[2:6] + [0, 0, 1, 0]
            frame = compiled.run(flags={"near": near, "far": far}, measure="passes")
            assert np.array(frame["out"])[0].tolist() == want.tolist()
            # What is not asked for in this run is not copied either.
            ran = [name for name in frame.report.pass_us if name.endswith(".copy")]
            assert [name.partition("/")[0] for name in ran] == ["near"] * near + ["far"] * far


def test_a_demand_that_nobody_reads_costs_nothing() -> None:
    def frame(demand: bool) -> rg.Graph:
        g, _ = opened()
        drawn(g, "below", (1, 0, 0, 1), 0, 1, key=0)
        if demand:
            g.layer("scene").behind(key=5)
        drawn(g, "above", (0, 1, 0, 1), 0, 0.5, key=9)
        return g

    plain, demanded = (frame(demand).bake("single_queue") for demand in (False, True))
    assert plain.pass_names == demanded.pass_names
    assert (plain.barriers, plain.memory) == (demanded.barriers, demanded.memory)
    assert len({one.physical_pass for one in demanded.passes}) == 1


def test_demands_with_arguments_that_cannot_be_hashed_have_names_of_their_own(device: rg.Device) -> None:
    @rg.module
    def shown(m: rg.Module, image: rg.Image, *, weights: list[float]) -> rg.Image:
        out = m.image("shown", like=image)
        m.copy("show", image, out)
        return out

    g, _ = opened()
    drawn(g, "opaque", (1, 0, 0, 1), 0, 1)
    layer = g.layer("scene")
    for at in range(3):
        behind = layer.behind(shown, key=1, weights=[1.0 * at])
        layer.draw(
            f"pane {at}", PANE, key=1, behind=behind, push={"tint": (0, 1, 0, 0), "low": at / 4, "high": at / 4 + 0.25}
        )
    # Each of the same key sees what lies below the key: no pane sees another.
    assert row(device, g).tolist() == [[0.5, 1, 0, 0.5]] * 6 + [[1, 0, 0, 1]] * 2


DEPTH = """
struct Push { depth: f32, low: f32, high: f32 }
var<immediate> push: Push;
@vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32(i & 1u), f32(i >> 1u));
    return vec4<f32>(mix(push.low, push.high, corner.x) * 2.0 - 1.0, corner.y * 2.0 - 1.0, push.depth, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return vec4<f32>(push.depth, 0.0, 0.0, 1.0); }
"""
SHOW_DEPTH = """
@group(0) @binding(0) var behind: texture_depth_2d;
@fragment fn main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4<f32>(textureLoad(behind, vec2<i32>(at.xy * SCALE), 0), 1.0, 0.0, 1.0);
}
"""


@pytest.mark.parametrize("scale", [1, 0.5])
def test_depth_behind_is_demanded_like_colour(device: rg.Device, scale: float) -> None:
    g = rg.Graph("depth", size=(8, 2))
    out, depth = g.image("out", format="rgba32float"), g.image("depth", format="depth32float")
    layer = g.layer("scene", out, depth, clear=(0, 0, 0, 0), clear_depth=1.0)
    push = {"depth": 0.25, "low": 0.0, "high": 0.5}
    layer.draw("below", DEPTH, vertices=4, topology="triangle_strip", push=push, key=0)
    behind = layer.behind(key=5, target="depth", scale=scale)
    layer.draw(
        "water",
        SHOW_DEPTH.replace("SCALE", str(float(scale))),
        key=5,
        behind=behind,
        depth_test="always",
        depth_write=False,
    )
    g.root(out)
    assert g.bake("single_queue").check(g) == []
    cells = np.array(device.run(g)["out"])[0]
    assert cells[:, 0].tolist() == [0.25] * 4 + [1.0] * 4
    assert cells[:, 1].tolist() == [1.0] * 8


@pytest.mark.parametrize("part", ["mip", "layer"])
def test_a_layer_on_part_of_an_image_is_copied_as_large_as_the_part(device: rg.Device, part: str) -> None:
    g = rg.Graph("part", size=(16, 2))
    image = g.image("image", format="rgba32float", mips=2, layers=1 if part == "mip" else 2)
    target = image.mip(1) if part == "mip" else image.mip(1).layer(1)
    layer = g.layer("scene", target, clear=(0.25, 0, 0, 1))
    layer.draw("below", FILL, push={"color": (1, 0, 0, 1), "low": 0, "high": 0.5})
    behind = layer.behind(key=1)
    assert behind.size == (8, 1)
    layer.draw("pane", PANE, key=1, behind=behind, push={"tint": (0, 1, 0, 0), "low": 0.25, "high": 0.75})
    out = g.image("out", (8, 1), "rgba32float")
    g.copy("show", target, out)
    g.root(out)
    assert g.bake("single_queue").check(g) == []
    cells = np.array(device.run(g)["out"])[0].tolist()
    assert cells == [[1, 0, 0, 1]] * 2 + [[0.5, 1, 0, 0.5]] * 2 + [[0.125, 1, 0, 0.5]] * 2 + [[0.25, 0, 0, 1]] * 2


def test_several_targets_are_demanded_apart(device: rg.Device) -> None:
    two = """
    struct Out { @location(0) one: vec4<f32>, @location(1) two: vec4<f32> }
    @fragment fn main(@location(0) uv: vec2<f32>) -> Out { return Out(vec4<f32>(1.0), vec4<f32>(2.0)); }
    """
    swap = """
    struct Out { @location(0) one: vec4<f32>, @location(1) two: vec4<f32> }
    @group(0) @binding(0) var a: texture_2d<f32>;
    @group(0) @binding(1) var b: texture_2d<f32>;
    @fragment fn main(@builtin(position) at: vec4<f32>) -> Out {
        return Out(textureLoad(b, vec2<i32>(at.xy), 0), textureLoad(a, vec2<i32>(at.xy), 0));
    }
    """
    g = rg.Graph("targets", size=(4, 1))
    one, other = (g.image(name, format="rgba32float") for name in ("one", "two"))
    layer = g.layer("scene", [one, other], clear=[(0, 0, 0, 0), (9, 9, 9, 9)])
    layer.draw("fill", two)
    layer.draw("swap", swap, key=1, a=layer.behind(key=1), b=layer.behind(key=1, target=1))
    g.root(one, other)
    frame = device.run(g)
    assert (np.array(frame["one"]) == 2).all()
    assert (np.array(frame["two"]) == 1).all()
    for target in (2, -1, "color", "depth", True, 0.0):
        with pytest.raises(rg.GraphError, match=r"RG-E202.*no image as target"):
            layer.behind(key=3, target=target)


def test_modules_on_demand_demand_behind_other_layers(device: rg.Device) -> None:
    """A module made for the glass asks, while it is made, what is behind a key of another layer, and so twice deep."""
    g = rg.Graph("deep", size=(8, 1))
    sky, out = g.image("sky", format="rgba32float"), g.image("out", format="rgba32float")
    g.layer("sky", sky, order=0, clear=(0.5, 0, 0, 1))
    g.layer("sky").draw("clouds", FILL, key=4, push={"color": (0, 0, 1, 1), "low": 0, "high": 0.5})
    g.layer("scene", out, order=1, clear=(0.25, 0, 0, 1))
    g.root(out)

    add = """
    @group(0) @binding(0) var one: texture_2d<f32>;
    @group(0) @binding(1) var two: texture_2d<f32>;
    @fragment fn main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
        let place = vec2<i32>(at.xy);
        return textureLoad(one, place, 0) + textureLoad(two, place, 0);
    }
    """

    @rg.module
    def inner(m: rg.Module, image: rg.Image) -> rg.Image:
        total = m.image("inner", like=image)
        # Below the clouds there is the clear colour alone.
        m.raster("add", add, color=total, one=image, two=m.layer("sky").behind(key=4))
        return total

    @rg.module
    def outer(m: rg.Module, image: rg.Image) -> rg.Image:
        total = m.image("outer", like=image)
        m.raster("add", add, color=total, one=image, two=m.layer("sky").behind(inner, key=9))
        return total

    layer = g.layer("scene")
    layer.draw("pane", PANE, key=1, behind=layer.behind(outer, key=1), push={"tint": (0, 0, 0, 0), "low": 0, "high": 1})
    plan = g.bake("single_queue")
    assert plan.check(g) == []
    # scene 0.25 + sky's picture (blue or 0.5 red) + sky's clear colour, halved.
    want = [[0.5 * (0.25 + 0 + 0.5), 0, 0.5, 1.5]] * 4 + [[0.5 * (0.25 + 0.5 + 0.5), 0, 0, 1.5]] * 4
    assert row(device, g).tolist() == want


def test_wrong_layers_are_one_clear_error() -> None:
    g = rg.Graph("wrong", size=(8, 8))
    one, two = (g.image(name, format="rgba8unorm") for name in ("one", "two"))
    for clear in ([(0, 0, 0, 1)], [(0, 0, 0, 1)] * 3, "red"):
        with pytest.raises((rg.GraphError, TypeError), match=r"clear|colour|number"):
            g.layer("scene", [one, two], clear=clear)
    # A refused layer is not open.
    with pytest.raises(rg.GraphError, match="RG-E202"):
        g.layer("scene")
    g.layer("scene", [one, two], clear=(0, 0, 0, 1))
    for scale in (0, -1, float("nan")):
        wrong = rg.Graph("wrong", size=(8, 8))
        layer = wrong.layer("scene", wrong.image("one", format="rgba8unorm"), clear=(0, 0, 0, 1))

        def demanded(wrong: rg.Graph = wrong, layer: Any = layer, scale: float = scale) -> rg.Plan:
            wrong.root(layer.behind(key=1, scale=scale))
            return wrong.bake()

        with pytest.raises(rg.GraphError, match=r"RG-E2(05|13)"):
            demanded()
    for key in (-1, 2**64, 1.5, True, "a"):
        with pytest.raises(rg.GraphError, match="RG-E213"):
            g.layer("scene").behind(key=key)
    with pytest.raises(rg.GraphError, match="RG-E219"):
        g.layer("", one)


def files(folder: Path) -> Path:
    """A renderer with a layer, and two files of materials, one of which includes the other."""

    def fill(name: str, color: list[float], low: float, high: float) -> dict[str, Any]:
        return {"name": name, "raster": {"shader": "fill", "push": {"color": color, "low": low, "high": high}}}

    leaf = {
        "rgraph": 1,
        "shaders": {"fill": {"wgsl": FILL}},
        "passes": [{"extend": "scene", "key": 2**40, "passes": [fill("leaf", [0, 1, 0, 1], 0, 0.25)]}],
    }
    glass = {
        "extend": "scene",
        "key": 3,
        "images": {"back": {"format": "rgba32float"}},
        "behind": [{"use": "copied", "as": "demand", "resources": {"from": "out", "to": "back"}}],
        "passes": [
            {
                "name": "pane",
                "raster": {
                    "shader": "pane",
                    "bindings": {"behind": "back"},
                    "push": {"tint": [0, 0, 1, 0], "low": 0.5, "high": 1},
                },
            }
        ],
    }
    materials = {
        "rgraph": 1,
        "shaders": {"pane": {"wgsl": PANE}},
        "modules": {"copied": COPIED},
        "passes": [{"include": "leaf.rgraph.json", "as": "leaf"}, glass],
    }
    clear = {"resource": "out", "usage": "color_attachment", "clear": [0.25, 0, 0, 1]}
    base = {
        "rgraph": 1,
        "reference_size": [8, 1],
        "shaders": {"fill": {"wgsl": FILL}},
        "images": {"out": {"format": "rgba32float"}},
        "passes": [
            {"layer": "scene", "order": 1, "accesses": [clear]},
            {"include": "materials.rgraph.json", "as": "materials"},
            {"extend": "scene", "key": 1, "passes": [fill("floor", [1, 0, 0, 1], 0, 1)]},
        ],
        "roots": ["out"],
    }
    for name, values in (("leaf", leaf), ("materials", materials), ("base", base)):
        (folder / f"{name}.rgraph.json").write_text(json.dumps(values))
    return folder / "base.rgraph.json"


def test_materials_in_other_files_add_to_a_layer_and_demand(device: rg.Device, tmp_path: Path) -> None:
    g = rg.Graph.load(files(tmp_path))
    plan = g.bake("single_queue")
    assert plan.check(g) == []
    assert row(device, g).tolist() == [[0, 1, 0, 1]] * 2 + [[1, 0, 0, 1]] * 2 + [[0.5, 0, 1, 0.5]] * 4


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), np.float32(0)])
def test_a_scale_that_no_copy_can_have_is_refused_at_once(scale: float) -> None:
    g, _ = opened()
    with pytest.raises(rg.GraphError, match=r'RG-E213 what is behind layer "scene" is scaled by') as caught:
        g.layer("scene").behind(key=10, scale=scale)
    assert caught.value.hint == "give it a finite number above 0"
    for wrong in ("2", None, True, [1, 1]):
        with pytest.raises(TypeError, match="the scale of what is behind a layer is a number, not"):
            g.layer("scene").behind(key=10, scale=wrong)  # type: ignore[arg-type]
    assert not any("behind" in one.name for one in g.resources)


def test_names_of_nested_demands_grow_by_one_part_per_level() -> None:
    def deeper(levels: int) -> rg.ModuleValue[[rg.Image], rg.Image]:
        @rg.module
        def inner(m: rg.Module, image: rg.Image) -> rg.Image:
            shown = m.image("shown", like=image)
            layer = m.layer("glow", shown, clear=(0, 0, 0, 1))
            m.copy("show", layer.behind(deeper(levels - 1) if levels else None, key=levels), shown)
            return shown

        return inner

    g, _ = opened()
    g.layer("scene").behind(deeper(3), key=9)
    copied = [one.name for one in g.resources if one.name.endswith(".copy")]
    path = ["scene-behind-9", "glow-behind-3", "glow-behind-2", "glow-behind-1", "glow-behind-0"]
    assert copied == [f"{'/'.join(path[:depth])}.copy" for depth in range(1, 6)]


def test_demands_of_layers_that_are_called_alike_have_names_of_their_own() -> None:
    """A module that found the layer around it before it opened one of the same name demands of both."""
    g, out = opened()
    m = g.module("m")
    around = m.layer("scene")
    own = m.layer("scene", m.image("own", like=out), clear=(0, 0, 0, 1))
    seen = [around.behind(key=3), own.behind(key=3), around.behind(key=3, scale=0.5), g.layer("m/scene").behind(key=4)]
    assert [one.name for one in seen] == [
        "m/scene-behind-3.copy",
        "m/scene-behind-3-1.copy",
        "m/scene-behind-3-2.copy",
        "m-scene-behind-4.copy",
    ]


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.uint64, np.array])
def test_integers_of_numpy_are_keys_and_targets(kind: Any) -> None:
    g, _ = opened()
    layer = g.layer("scene")
    behind = layer.behind(key=kind(3), target=kind(0))
    assert behind is layer.behind(key=3)
    layer.draw("pane", PANE, key=kind(3), behind=behind, push={"tint": (0, 1, 0, 0), "low": 0, "high": 1})
    drawn(g, "below", (1, 0, 0, 1), 0, 1, key=kind(2))
    assert g.bake("single_queue").pass_names == ["scene", "below", "scene-behind-3.copy", "pane"]
    for wrong in (np.float64(3), np.bool_(True), np.array([3, 4])):
        with pytest.raises(rg.GraphError, match="RG-E213"):
            layer.behind(key=wrong)
        with pytest.raises((rg.GraphError, TypeError), match=r"RG-E202"):
            layer.behind(key=3, target=wrong)  # type: ignore[arg-type]
