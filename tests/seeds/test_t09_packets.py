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
    quads(g, "commuting", out, unordered=True, quads=[(RED, 0.5, 0, 1, 0)])
    commuting = {one["name"]: one.get("unordered", False) for one in g.to_dict()["passes"]}
    assert commuting == {"clear": False, "commuting": True}


TICKET = """
@group(0) @binding(0) var<storage, read_write> order: array<atomic<u32>, 8>;
var<immediate> me: u32;
@compute @workgroup_size(1) fn main() {
    let place = atomicAdd(&order[0], 1u);
    atomicStore(&order[1u + place], me);
}
"""


def ticketed(keys: dict[str, int]) -> rg.Graph:
    """Dispatches of one pass that each take the next ticket."""
    g = rg.Graph("tickets")
    order = g.buffer("order", 32)
    g.fill("zero", order, 0)

    def record(commands: rg.Commands) -> None:
        for name, key in keys.items():
            commands.dispatch(TICKET, groups=1, push=ord(name), key=key, order=order)

    g.callback("all", record, queue="compute", writes={order: "storage_read_write"})
    g.root(order)
    return g


def test_t09_dispatches_of_a_pass_are_recorded_in_the_order_of_their_keys(device: rg.Device) -> None:
    if device.info.kind != "cpu":
        # Only a driver that runs one dispatch after the other shows the order of recording.
        return
    for keys in ({"a": 3, "b": 1, "c": 2}, {"a": 0, "b": 0, "c": 0}, {"a": 1, "b": 1 << 40, "c": 0}):
        words = np.asarray(device.run(ticketed(keys))["order"]).view(np.uint32).tolist()
        assert words[0] == 3
        assert "".join(map(chr, words[1:4])) == "".join(sorted(keys, key=lambda name: keys[name]))


def test_t09_keys_of_dispatches_are_part_of_the_work_and_of_files(device: rg.Device) -> None:
    number = """
    @group(0) @binding(0) var<storage, read_write> sum: array<u32>;
    @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { sum[id.x] = id.x; }
    """
    g = rg.Graph("keys")
    for at in range(3):
        g.root(g.buffer(f"sum{at}", 16))
        g.compute(f"pass{at}", number, sum=f"sum{at}", groups=1, key=9 - at)
    assert [one["compute"].get("key") for one in g.to_dict()["passes"]] == [9, 8, 7]
    read = rg.Graph.from_json(g.to_json())
    assert read.to_dict() == g.to_dict()
    plan = read.bake("single_queue")
    assert "packets sorted together\n  group 0 'pass0', 'pass1', 'pass2'" in str(plan)
    frame = device.run(read)
    assert all(np.array(frame[f"sum{at}"]).view(np.uint32).tolist() == [0, 1, 2, 3] for at in range(3))
    # A variable of that name is bound, as before there were keys.
    named = number.replace("sum", "key")
    h = rg.Graph("bound")
    h.root(h.buffer("out", 16))
    h.compute("pass", named, key="out", groups=1)
    assert np.array(device.run(h)["out"]).view(np.uint32).tolist() == [0, 1, 2, 3]


def test_t09_values_of_a_run_hold_in_passes_that_are_sorted_together(device: rg.Device) -> None:
    """G15 within T9: a clear, a load and a viewport of a run do not go to a neighbour's draw."""
    fill = "@group(0) @binding(0) var<uniform> color: vec4<f32>;"
    fill += "@fragment fn main() -> @location(0) vec4<f32> { return color; }"
    g = rg.Graph("sorted", size=(8, 1))
    out = g.image("out", format="rgba32float")
    g.raster("one", fill, color=out, clear=(0, 0, 0, 0), blend="add", key=9, unordered=True, bindings={"color": RED})
    g.raster("two", fill, color=out, load="load", blend="add", key=1, unordered=True, bindings={"color": GREEN})
    g.raster("three", fill, color=out, load="load", blend="add", key=5, unordered=True, bindings={"color": BLUE})
    g.root(out)
    compiled = device.compile(g)
    (group,) = compiled.plan.packets
    assert set(group) >= {"two", "three"}

    def pixels(params: dict[Any, Any] | None = None) -> tuple[list[float], list[float]]:
        texels = np.array(compiled.run(params=params)["out"])[0]
        return texels[0].tolist(), texels[7].tolist()

    everything = [1.0, 1.0, 1.0, 3.0]
    assert pixels() == (everything, everything)
    assert pixels({("one", "clear"): (4, 0, 0, 0)}) == ([5.0, 1.0, 1.0, 3.0],) * 2
    assert pixels({("two", "viewport"): (0, 0, 4, 1)}) == (everything, [1.0, 0.0, 1.0, 2.0])
    assert pixels({("three", "load"): "clear"}) == ([0.0, 0.0, 1.0, 1.0],) * 2, "what came before it is gone"
    assert pixels() == (everything, everything)
