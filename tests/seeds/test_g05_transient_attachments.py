"""G5, G15: an image that is an attachment of one render pass only is a transient attachment."""

import json

import numpy as np

import rgraph as rg

FLAT = """
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> { return vec4(0.25, 0.5, 0.75, 1.0); }
"""


def drawn(*, read_depth: bool = False) -> rg.Graph:
    """Four samples and depth of one render pass, resolved to a root."""
    g = rg.Graph("drawn", size=(32, 32))
    colour = g.image("colour", format="rgba8unorm", samples=4)
    depth = g.image("depth", format="depth32float", samples=4)
    out = g.image("out", format="rgba8unorm")
    g.raster("draw", FLAT, color=[colour], depth=depth, resolve=[out], depth_test="always")
    if read_depth:
        later = g.image("later", format="rgba8unorm", samples=4)
        g.add_pass("later").depth(depth, load="load").color(later)
        g.root(later)
    g.root(out)
    return g


def transient(plan: rg.Plan) -> set[str]:
    """Names of transient attachments."""
    return {one["name"] for one in plan.to_dict()["resources"] if one.get("transient_attachment")}


def lazy() -> rg.Profile:
    """A device with lazily allocated memory."""
    return rg.Profile.from_dict(rg.Profile.minimal().to_dict() | {"memory": [{"type": "device"}, {"type": "lazy"}]})


def test_what_lives_within_one_render_pass_is_a_transient_attachment():
    plan = drawn().bake(rg.Profile.minimal())
    assert transient(plan) == {"colour", "depth"}
    assert transient(drawn(read_depth=True).bake(rg.Profile.minimal())) == {"colour"}
    attachments = [
        one
        for batch in plan.to_dict()["batches"]
        for command in batch["commands"]
        if command["op"] == "begin_rendering"
        for one in command["attachments"]
    ]
    assert {one["store"] for one in attachments} == {"dont_care"}


def test_transient_attachments_lie_in_lazily_allocated_heaps():
    plan = drawn().bake(lazy())
    memory = plan.to_dict()["memory"]
    heaps = {one["id"]: one["type"] for one in memory["heaps"]}
    names = {one["id"]: one["name"] for one in plan.to_dict()["resources"]}
    where = {names[one["resource"]]: heaps[one["heap"]] for one in memory["placements"]}
    assert where == {"colour": "lazy", "depth": "lazy", "out": "device"}
    assert plan.check() == []


def test_the_checker_refuses_what_tiles_cannot_hold():
    graph = drawn()
    wrong = graph.bake(rg.Profile.minimal()).to_dict()
    for one in wrong["resources"]:
        one["transient_attachment"] = True
    findings = rg.Plan.from_json(json.dumps(wrong)).check(graph)
    assert any("the caller looks at it" in str(finding) for finding in findings)


def test_pixels_are_right(device: rg.Device):
    frame = device.run(drawn())
    np.testing.assert_allclose(np.asarray(frame["out"])[0, 0], [64, 128, 191, 255], atol=1)
