"""G10: stencil is written where depth is only tested, each aspect with its own access."""

import numpy as np
import pytest

import rgraph as rg

QUAD = """
struct Out { @builtin(position) position: vec4<f32>, @location(0) color: vec4<f32> }
@vertex fn vertex(@location(0) position: vec3<f32>, @location(1) color: vec4<f32>) -> Out {
    return Out(vec4(position, 1.0), color);
}
@fragment fn fragment(in: Out) -> @location(0) vec4<f32> { return in.color; }
"""
MARK = {"compare": "always", "pass": "replace", "reference": 1}
MARKED = {"compare": "equal", "reference": 1}
STRIP = {"topology": "triangle_strip", "vertices": 4}
RED, GREEN, BLUE = (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)


def quad(left: float, right: float, depth: float, color: tuple) -> np.ndarray:
    corners = [(left, -1), (left, 1), (right, -1), (right, 1)]
    return np.array([(x, y, depth, *color) for x, y in corners], np.float32)


def targets(g: rg.Graph, depth_format: str) -> None:
    g.image("out", (8, 8), "rgba8unorm")
    g.image("depth", (8, 8), depth_format)


QUADS = {
    "wall": quad(-1, 0, 0.5, RED),
    "mask": quad(-1, 1, 0.7, RED),
    "whole": quad(-1, 1, 0.1, GREEN),
    "back": quad(-1, 0.5, 0.9, BLUE),
}


def scene(depth_format: str = "depth32float-stencil8", names: bool = False) -> rg.Graph:
    """Depth 0.5 on the left half; a mask at depth 0.7 passes on the right half only; green where the mask is 1; then
    blue at depth 0.9, which only shows where the mask did not write its depth."""
    g = rg.Graph()
    for name, corners in QUADS.items():
        g.import_array(name, corners, as_buffer=True)
    if not names:
        targets(g, depth_format)
    draw = {"color": "out", "depth": "depth", **STRIP}
    g.raster("wall", QUAD, vertex_buffers="wall", clear=(0, 0, 0, 0), clear_depth=(1.0, 0), **draw)
    g.raster("mask", QUAD, vertex_buffers="mask", write_mask="", depth_write=False, stencil=MARK, **draw)
    lit = {"depth_write": False, "depth_test": "always", "stencil": MARKED}
    g.raster("lit", QUAD, vertex_buffers="whole", **lit, **draw)
    g.raster("back", QUAD, vertex_buffers="back", **draw)
    if names:
        targets(g, depth_format)
    g.root("out")
    return g


def check(out: np.ndarray) -> None:
    assert (out[:, :4] == (255, 0, 0, 255)).all(), "the mask is hidden by the wall"
    assert (out[:, 4:6] == (0, 0, 255, 255)).all(), "the mask wrote no depth"
    assert (out[:, 6:] == (0, 255, 0, 255)).all(), "the mask wrote stencil"


@pytest.mark.parametrize("depth_format", ["depth32float-stencil8", "depth24plus-stencil8"])
@pytest.mark.parametrize("names", [False, True])
def test_stencil_is_written_while_depth_is_only_tested(device: rg.Device, depth_format: str, names: bool):
    check(np.asarray(device.run(scene(depth_format, names))["out"]))


@pytest.mark.parametrize("policy", ["declared", "overlap", "box_tree"])
def test_the_plan_passes_the_checker(device: rg.Device, policy: str):
    plan = scene().bake(device.profile, policy=policy)
    assert plan.check() == []
    declared = [(a["resource"], a["usage"], a.get("aspects")) for a in scene().to_dict()["passes"][1]["accesses"]]
    assert ("depth", "depth_stencil_read", ["depth"]) in declared
    assert ("depth", "depth_stencil_attachment", ["stencil"]) in declared


def test_files_keep_both_accesses(device: rg.Device, tmp_path):
    scene().save(tmp_path / "scene.rgraph.json")
    check(np.asarray(device.run(rg.Graph.load(tmp_path / "scene.rgraph.json"))["out"]))


def test_files_written_by_hand_keep_both_accesses(device: rg.Device):
    data = scene().to_dict()
    mask = data["passes"][1]
    mask["accesses"] = [one for one in mask["accesses"] if one["resource"] not in ("depth", "out")]
    mask["raster"] |= {"color": "out", "depth": "depth", "depth_write": False}
    check(np.asarray(device.run(rg.Graph.from_dict(data), inputs=QUADS)["out"]))


def test_depth_is_sampled_by_the_pass_that_writes_stencil(device: rg.Device):
    """What only the stencil is written of can be sampled at the same time."""
    seen = """
    @group(0) @binding(0) var depth: texture_depth_2d;
    @fragment fn fragment(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
        return vec4(textureLoad(depth, vec2<i32>(at.xy), 0), 0.0, 0.0, 1.0);
    }
    """
    g = rg.Graph()
    out, depth = g.image("out", (8, 8), "rgba8unorm"), g.image("depth", (8, 8), "depth32float-stencil8")
    wall = g.import_array("wall", quad(-1, 0, 0.2, RED), as_buffer=True)
    whole = g.import_array("whole", quad(-1, 1, 0.7, GREEN), as_buffer=True)
    g.raster("wall", QUAD, color=out, depth=depth, vertex_buffers=wall, clear=RED, clear_depth=(1.0, 0), **STRIP)
    g.raster("seen", seen, color=out, depth=depth, depth_write=False, depth_test="always", stencil=MARK,
             bindings={"depth": depth})  # fmt: skip
    g.raster("lit", QUAD, color=out, depth=depth, stencil=MARKED, vertex_buffers=whole, **STRIP)
    g.root(out)
    assert g.bake(device.profile).check() == []
    picture = np.asarray(device.run(g)["out"])
    assert (picture[:, :4] == (51, 0, 0, 255)).all()
    assert (picture[:, 4:] == (0, 255, 0, 255)).all()


def test_a_cleared_depth_is_written_although_draws_do_not_write_it(device: rg.Device):
    g = rg.Graph()
    out, depth = g.image("out", (8, 8), "rgba8unorm"), g.image("depth", (8, 8), "depth32float")
    whole = g.import_array("whole", quad(-1, 1, 0.5, GREEN), as_buffer=True)
    far = g.import_array("far", quad(-1, 1, 0.9, BLUE), as_buffer=True)
    draw = {"color": out, "depth": depth, **STRIP}
    g.raster("near", QUAD, vertex_buffers=whole, clear=RED, clear_depth=0.7, depth_write=False, **draw)
    g.raster("far", QUAD, vertex_buffers=far, **draw)
    g.root(out)
    assert (np.asarray(device.run(g)["out"]) == (0, 255, 0, 255)).all()


def test_a_further_draw_cannot_write_what_its_pass_only_tests(device: rg.Device):
    g = scene()
    whole = g.import_array("more", quad(-1, 1, 0.5, GREEN), as_buffer=True)
    out, depth = g.find("out"), g.find("depth")
    tests = g.raster("tests", QUAD, color=out, depth=depth, depth_write=False, vertex_buffers=whole, **STRIP)
    tests.draw(QUAD, vertex_buffers=whole, stencil=MARK, **STRIP)
    with pytest.raises(rg.GraphError, match="draws with a stencil test that writes"):
        device.run(g)


def test_images_declared_after_their_passes_are_sampled_as_depth():
    seen = """
    @group(0) @binding(0) var depth: texture_depth_2d;
    @fragment fn fragment(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
        return vec4(textureLoad(depth, vec2<i32>(at.xy), 0));
    }
    """
    g = rg.Graph()
    g.raster("seen", seen, color="out", bindings={"depth": "depth"})
    targets(g, "depth32float-stencil8")
    (access,) = [one for one in g.to_dict()["passes"][0]["accesses"] if one["resource"] == "depth"]
    assert (access["usage"], access["aspects"]) == ("sampled", ["depth"])
