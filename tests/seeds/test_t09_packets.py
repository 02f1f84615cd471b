"""T9: packets of passes in one render pass are sorted by key where the declaration lets them, and pixels stay equal."""

from __future__ import annotations

from typing import Any

import numpy as np

import rgraph as rg

# A rectangle at a depth, in one colour.
QUAD = """
struct Push { color: vec4<f32>, depth: f32, low: f32, high: f32 }
var<immediate> push: Push;
@vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32(i & 1u), f32(i >> 1u));
    let x = mix(push.low, push.high, corner.x) * 2.0 - 1.0;
    return vec4<f32>(x, corner.y * 2.0 - 1.0, push.depth, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return push.color; }
"""
RED, GREEN, BLUE = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)


def quads(g: rg.Module, name: str, out: rg.Image, *, unordered: bool, quads: list[tuple[Any, ...]]) -> rg.Pass:
    """A pass of rectangles: colour, depth, left, right, key."""

    def record(commands: rg.Commands) -> None:
        for color, depth, low, high, key in quads:
            push = {"color": color, "depth": depth, "low": low, "high": high}
            commands.draw(QUAD, push=push, vertices=4, topology="triangle_strip", key=key)

    return g.callback(name, record, color=out, depth="depth", unordered=unordered)


def row(device: rg.Device, g: rg.Graph) -> list[list[float]]:
    return np.array(device.run(g)["out"])[0].tolist()


def opened() -> tuple[rg.Graph, rg.Image]:
    g = rg.Graph("packets", size=(8, 1))
    out = g.image("out", format="rgba32float")
    g.image("depth", format="depth32float")
    g.add_pass("clear").color(out, clear=(0, 0, 0, 0)).depth("depth", clear=1.0)
    g.root(out)
    return g, out


def test_keys_sort_draws_of_all_passes_that_commute(device: rg.Device) -> None:
    # They do not commute, on purpose: the pixels show the order of recording.
    whole = (0.5, 0.0, 1.0)
    for unordered, color in ((True, RED), (False, GREEN)):
        g, out = opened()
        quads(g, "one", out, unordered=unordered, quads=[(RED, *whole, 9)])
        quads(g, "two", out, unordered=unordered, quads=[(BLUE, *whole, 7), (GREEN, *whole, 8)])
        plan = g.bake("single_queue")
        assert len({one.physical_pass for one in plan.passes}) == 1, "one render pass"
        assert plan.packets == ([("one", "two")] if unordered else [])
        assert plan.check(g) == []
        assert row(device, g) == [list(color)] * 8


def test_opaque_draws_in_any_order_are_one_picture(device: rg.Device) -> None:
    layers = [
        (RED, 0.5, 0.0, 0.5, 3),
        (GREEN, 0.25, 0.25, 0.75, 1),
        (BLUE, 0.75, 0.0, 1.0, 2),
        (GREEN, 0.125, 0.875, 1.0, 0),
    ]
    pictures = []
    for unordered in (False, True):
        g, out = opened()
        for at, quad in enumerate(layers):
            quads(g, f"draw{at}", out, unordered=unordered, quads=[quad])
        assert [len(group) for group in g.bake("single_queue").packets] == ([4] if unordered else [])
        pictures.append(row(device, g))
    assert pictures[0] == pictures[1]
    assert pictures[1] == [list(color) for color in (RED, RED, GREEN, GREEN, GREEN, GREEN, BLUE, GREEN)]


def test_dispatches_between_barriers_are_sorted_and_files_keep_what_is_said(device: rg.Device) -> None:
    shader = """
    @group(0) @binding(0) var<storage, read_write> sum: array<u32>;
    @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { sum[id.x] = id.x * NUMBER; }
    """
    g = rg.Graph("dispatches")
    for at in range(6):
        g.root(g.buffer(f"sum{at}", 16))
        g.compute(f"pass{at}", shader.replace("NUMBER", f"{1 + at % 2}u"), sum=f"sum{at}", groups=1)
    plan = g.bake("single_queue")
    assert plan.packets == [tuple(f"pass{at}" for at in range(6))]
    assert rg.Plan.from_json(plan.to_json()).packets == plan.packets
    frame = device.run(g)
    for at in range(6):
        number = 1 + at % 2
        assert np.array(frame[f"sum{at}"]).view(np.uint32).tolist() == [0, number, 2 * number, 3 * number]

    g, out = opened()
    quads(g, "said", out, unordered=True, quads=[(RED, 0.5, 0, 1, 0)])
    said = {one["name"]: one.get("unordered", False) for one in g.to_dict()["passes"]}
    assert said == {"clear": False, "said": True}
