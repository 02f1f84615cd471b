"""T6 and T11: passes in named layers are sorted by key and may demand modules, which cost nothing unless demanded."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rgraph as rg
import rgraph.demo.deferred

# Half a picture, in one colour.
FILL = """
struct Push { color: vec4<f32>, low: f32, high: f32 }
var<immediate> push: Push;
@fragment fn main(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    if (uv.x < push.low || uv.x >= push.high) { discard; }
    return push.color;
}
"""
# What is behind, halved, with some of its own colour.
PANE = """
struct Push { tint: vec4<f32>, low: f32, high: f32 }
var<immediate> push: Push;
@group(0) @binding(0) var behind: texture_2d<f32>;
@fragment fn main(@location(0) uv: vec2<f32>, @builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    if (uv.x < push.low || uv.x >= push.high) { discard; }
    return 0.5 * textureLoad(behind, vec2<i32>(at.xy), 0) + push.tint;
}
"""


def drawn(g: rg.Module, name: str, color: tuple[float, ...], low: float, high: float, **options: Any) -> rg.Pass:
    """A rectangle in a layer that is found by its name."""
    push = {"color": color, "low": low, "high": high}
    return g.layer("scene").draw(name, FILL, push=push, **options)


def pane(g: rg.Module, name: str, key: int, tint: tuple[float, ...], low: float, high: float) -> None:
    """A material elsewhere: it demands what is behind it while it is declared."""
    layer = g.layer("scene")
    behind = layer.behind(key=key)
    layer.draw(name, PANE, key=key, behind=behind, push={"tint": tint, "low": low, "high": high})


def opened() -> tuple[rg.Graph, rg.Image]:
    g = rg.Graph("layers", size=(8, 1))
    out = g.image("out", format="rgba32float")
    g.layer("scene", out, order=1, clear=(0.25, 0, 0, 1))
    g.root(out)
    return g, out


def row(device: rg.Device, g: rg.Graph) -> np.ndarray:
    return np.array(device.run(g)["out"])[0]


def test_passes_from_anywhere_stand_in_a_layer_by_key(device: rg.Device) -> None:
    g, _ = opened()
    module = g.module("elsewhere")
    drawn(module, "last", (0, 0, 1, 1), 0, 0.25, key=2**40)
    drawn(module, "first", (1, 0, 0, 1), 0, 1, key=3)
    drawn(g, "second", (0, 1, 0, 1), 0, 0.5, key=2**33)
    plan = g.bake("single_queue")
    assert plan.pass_names == ["scene", "elsewhere/first", "second", "elsewhere/last"]
    assert len({one.physical_pass for one in plan.passes}) == 1, "one render pass"
    red, green, blue = (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)
    assert row(device, g).tolist() == [list(one) for one in [blue] * 2 + [green] * 2 + [red] * 4]
    assert plan.check(g) == []


def test_layers_stand_by_their_order_and_at_extension_points(device: rg.Device) -> None:
    g = rg.Graph("orders", size=(8, 1))
    out = g.image("out", format="rgba32float")
    g.extension_point("after")
    late = g.layer("late", out, order=7)
    early = g.layer("early", out, order=2, clear=(0, 0, 0, 1))
    late.draw("above", FILL, push={"color": (0, 0, 1, 1), "low": 0, "high": 0.5})
    early.draw("below", FILL, push={"color": (1, 0, 0, 1), "low": 0, "high": 1})
    # What an extension point gets stands there, before the layers.
    g.extend("after").layer("first", out, clear=(9, 9, 9, 9))
    g.root(out)
    assert g.bake().pass_names == ["early", "below", "above"], "the first layer's clear is covered by the second's"
    assert row(device, g)[:, 2].tolist() == [1] * 4 + [0] * 4
    with pytest.raises(rg.GraphError, match="RG-E201"):
        g.layer("late", out)
    with pytest.raises(rg.GraphError, match=r"RG-E202.*glass"):
        g.layer("glass")
    with pytest.raises(rg.GraphError, match="RG-E213"):
        late.draw("wrong", FILL, key=-1)
    with pytest.raises(TypeError, match="color"):
        late.draw("wrong", FILL, color=out)


def test_demands_break_the_render_pass_and_nest(device: rg.Device) -> None:
    g, _ = opened()
    # Declared in the wrong order on purpose: keys count.
    pane(g.module("far"), "pane", 20, (0, 0, 1, 0), 0.25, 0.75)
    drawn(g, "overlay", (8, 8, 8, 8), 0.875, 1, key=30)
    pane(g.module("near"), "pane", 10, (0, 1, 0, 0), 0, 0.5)
    drawn(g, "opaque", (1, 0, 0, 1), 0, 1, key=0)
    plan = g.bake("single_queue")
    copies = [name for name in plan.pass_names if name.endswith(".copy")]
    assert len(copies) == 2
    assert plan.pass_names.index(copies[0]) < plan.pass_names.index("near/pane")
    assert plan.check(g) == []
    attached = [one.physical_pass for one in plan.passes if not one.name.endswith(".copy")]
    assert len(set(attached)) == 3, "two demands make three render passes of one"
    opaque, near = [1, 0, 0, 1], [0.5, 1, 0, 0.5]
    far_near, far = [0.25, 0.5, 1, 0.25], [0.5, 0, 1, 0.5]
    assert row(device, g).tolist() == [near] * 2 + [far_near] * 2 + [far] * 2 + [opaque] + [[8, 8, 8, 8]]


def test_without_demand_nothing_is_copied_and_equal_demands_are_one(device: rg.Device) -> None:
    def frame(demands: int) -> rg.Graph:
        g, _ = opened()
        drawn(g, "opaque", (1, 0, 0, 1), 0, 1, key=0)
        drawn(g, "late", (1, 0, 0, 1), 0.75, 1, key=9)
        for at in range(demands):
            pane(g, f"pane {at}", 5, (0, 1, 0, 0), at / 4, at / 4 + 0.25)
        return g

    plain = frame(0).bake("single_queue")
    assert plain.pass_names == ["scene", "opaque", "late"]
    # The same frame without layers: one pass that clears, two that draw.
    g = rg.Graph("layers", size=(8, 1))
    out = g.image("out", format="rgba32float")
    g.add_pass("scene").color(out, clear=(0.25, 0, 0, 1))
    for name in ("opaque", "late"):
        g.raster(name, FILL, color=out, push={"color": (1, 0, 0, 1), "low": 0, "high": 1})
    g.root(out)
    bare = g.bake("single_queue")
    assert (plain.barriers, plain.memory, len(plain.batches)) == (bare.barriers, bare.memory, len(bare.batches))
    assert sum(name.endswith(".copy") for name in frame(2).bake("single_queue").pass_names) == 1
    assert row(device, frame(2)).tolist() == [[0.5, 1, 0, 0.5]] * 4 + [[1, 0, 0, 1]] * 4


def test_module_on_demand_makes_its_own_of_the_copy(device: rg.Device) -> None:
    @rg.module
    def halved(m: rg.Module, image: rg.Image, *, times: int) -> rg.Image:
        for at in range(times):
            smaller = m.image(f"half {at}", like=image, scale=0.5)
            m.blit(f"halve {at}", image, smaller)
            image = smaller
        return image

    g, _ = opened()
    drawn(g, "left", (4, 0, 0, 1), 0, 0.5)
    layer = g.layer("scene")
    mean = layer.behind(halved, key=1, times=3)
    shader = PANE.replace("vec2<i32>(at.xy)", "vec2<i32>(0, 0)")
    layer.draw("pane", shader, key=1, behind=mean, push={"tint": (0, 1, 0, 0), "low": 0.75, "high": 1})
    cells = row(device, g)
    assert cells[7].tolist() == pytest.approx([0.5 * (4 + 0.25) / 2, 1, 0, 0.5])
    assert cells[5].tolist() == [0.25, 0, 0, 1]


def test_demand_behind_multisampled_targets_is_resolved(device: rg.Device) -> None:
    g = rg.Graph("samples", size=(8, 8))
    many = g.image("many", format="rgba16float", samples=4)
    out = g.image("out", format="rgba16float")
    layer = g.layer("scene", many, clear=(1, 0, 0, 1))
    behind = layer.behind(key=4)
    assert behind.samples == 1
    layer.draw("pane", PANE, key=4, behind=behind, push={"tint": (0, 1, 0, 0), "low": 0, "high": 0.5})
    rg.passes.resolve(g, "show", many, out)
    g.root(out)
    cells = np.array(device.run(g)["out"])[0].astype(float)
    assert cells[0].tolist() == [0.5, 1, 0, 0.5]
    assert cells[7].tolist() == [1, 0, 0, 1]


def test_graph_files_open_layers_add_to_them_and_demand(device: rg.Device) -> None:
    def fill(name: str, color: list[float], low: float, high: float) -> dict[str, Any]:
        return {"name": name, "raster": {"shader": "fill", "push": {"color": color, "low": low, "high": high}}}

    def glass(option: str, key: int, tint: list[float], low: float, high: float) -> dict[str, Any]:
        push = {"tint": tint, "low": low, "high": high}
        raster = {"shader": "pane", "bindings": {"behind": f"{option} back"}, "push": push}
        return {
            "extend": "scene",
            "key": key,
            "if": option,
            "images": {f"{option} back": {"format": "rgba32float"}},
            "behind": [{"use": "copied", "as": option, "resources": {"from": "out", "to": f"{option} back"}}],
            "passes": [{"name": f"{option} pane", "raster": raster}],
        }

    file = {
        "rgraph": 1,
        "reference_size": [8, 1],
        "options": {"far": True, "near": True},
        "shaders": {"fill": {"wgsl": FILL}, "pane": {"wgsl": PANE}},
        "modules": {
            "copied": {
                "images": {"from": {"format": "rgba32float"}, "to": {"format": "rgba32float"}},
                "passes": [{"name": "copy", "copy": {"from": "from", "to": "to"}}],
            }
        },
        "images": {"out": {"format": "rgba32float"}},
        "passes": [
            glass("far", 20, [0, 0, 1, 0], 0.25, 0.75),
            {"extend": "scene", "key": 30, "passes": [fill("overlay", [8, 8, 8, 8], 0.875, 1)]},
            glass("near", 10, [0, 1, 0, 0], 0, 0.5),
            {
                "layer": "scene",
                "order": 3,
                "accesses": [{"resource": "out", "usage": "color_attachment", "clear": [0.25, 0, 0, 1]}],
            },
            {"extend": "scene", "key": 0, "passes": [fill("opaque", [1, 0, 0, 1], 0, 1)]},
        ],
        "roots": ["out"],
    }
    text = json.dumps(file)
    g = rg.Graph.from_json(text)
    opaque, near = [1, 0, 0, 1], [0.5, 1, 0, 0.5]
    far_near, far = [0.25, 0.5, 1, 0.25], [0.5, 0, 1, 0.5]
    assert row(device, g).tolist() == [near] * 2 + [far_near] * 2 + [far] * 2 + [opaque] + [[8, 8, 8, 8]]
    assert rg.Graph.from_json(g.to_json()).bake() == g.bake()
    without = rg.Graph.from_json(text, options={"far": False, "near": False})
    plan = without.bake("single_queue")
    assert plan.pass_names == ["scene", "opaque", "overlay"]
    assert len({one.physical_pass for one in plan.passes}) == 1
    wrong = text.replace('"extend": "scene", "key": 30', '"extend": "scenes", "key": 30')
    with pytest.raises(rg.GraphError, match=r'RG-E202.*\n?.*did you mean "scene"'):
        rg.Graph.from_json(wrong)


def test_frosted_glass_over_the_demos_frame(session_device: rg.Device, root: Path) -> None:
    path = root / "examples" / "frosted_glass.py"
    example = runpy.run_path(str(path))
    size, deferred = (256, 128), rgraph.demo.deferred

    def rendered(graph: rg.Graph) -> np.ndarray:
        constants = deferred.constants(0, size)
        return np.array(session_device.run(graph, inputs={"constants": constants}, flags={"first": True})["frame"])

    bare = rendered(deferred.build(size, shadow_texels=128))
    without = example["build"](size, panes=False, shadow_texels=128)
    assert without.bake().pass_names == deferred.build(size, shadow_texels=128).bake().pass_names
    with_glass = example["build"](size, shadow_texels=128)
    plan = with_glass.bake("discrete")
    assert plan.check() == []
    assert [name for name in plan.pass_names if name.endswith("/pane")] == ["far/pane", "near/pane"]
    seen = rendered(with_glass)
    assert np.array_equal(rendered(without), bare)
    # Beside the panes every bit is the frame's.
    rows, columns = np.arange(128)[:, None] / 128, np.arange(256)[None] / 256

    def inside(low: tuple[float, float], high: tuple[float, float], rim: float = 0) -> np.ndarray:
        across = (columns + 0.5 / 256 >= low[0] + rim) & (columns + 0.5 / 256 < high[0] - rim)
        return across & (rows + 0.5 / 128 >= low[1] + rim) & (rows + 0.5 / 128 < high[1] - rim)

    far, near = inside((0.1, 0.15), (0.55, 0.6)), inside((0.35, 0.3), (0.75, 0.8))
    assert np.array_equal(seen[~(far | near)], bare[~(far | near)])

    # The same blur on its own, of the frame for the far pane and of the frame with that for the near one.
    def frost(picture: np.ndarray) -> np.ndarray:
        g = rg.Graph("frost", size=size)
        source = g.import_array("source", picture, format="rgba8unorm-srgb")
        small = g.image("small", like=source, scale=0.5)
        g.blit("down", source, small)
        soft = rg.passes.blur(g, "soft", small, radius=12)
        wide = g.image("wide", format="rgba32float")
        shader = """
        @group(0) @binding(0) var soft: texture_2d<f32>;
        @group(0) @binding(1) var linear: sampler;
        @fragment fn main(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
            return textureSampleLevel(soft, linear, uv, 0.0);
        }
        """
        g.raster("wide", shader, color=wide, soft=soft)
        g.root(wide)
        return np.array(session_device.run(g)["wide"])[..., :3]

    def stored(linear: np.ndarray) -> np.ndarray:
        linear = np.clip(linear, 0, 1)
        curve = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
        return 255 * curve

    inner = inside((0.1, 0.15), (0.55, 0.6), 0.02) & ~near
    wanted = stored(0.75 * frost(bare) + 0.25)
    assert np.abs(seen[inner][:, :3] - wanted[inner]).max() <= 2
    # What the near pane covers of the far one is known from the far pane alone.
    alone = example["build"](size, panes=False, shadow_texels=128)
    example["glass"](alone.module("far"), "pane", (0.1, 0.15), (0.55, 0.6), key=10)
    behind = rendered(alone)
    inner = inside((0.35, 0.3), (0.75, 0.8), 0.02)
    wanted = stored(0.75 * frost(behind) + 0.25 * np.array([0.6, 0.8, 1.0]))
    assert np.abs(seen[inner][:, :3] - wanted[inner]).max() <= 2
