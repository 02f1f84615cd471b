"""Rays: structures built, refitted and traced, against intersections computed with numpy.

Run on a device with ray-tracing pipelines; elsewhere the refusal is tested (`tests/test_rays.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rgraph as rg

from .rays import (
    ANY,
    BOX_HIT,
    BOXES,
    CALL,
    CALLER,
    CLOSEST,
    GENERATE,
    INTERSECT,
    MISS,
    NEST_HIT,
    NEST_MISS,
    QUERY,
    RECORD,
    SIZE,
    TRIANGLE,
    cross,
    has_rays,
    hits_box,
    hits_triangle,
    moved,
    rays,
)

pytestmark = pytest.mark.skipif(not has_rays(), reason="no device here traces rays")


def scene(g: rg.Graph, transforms: Any = None, count: int = 1, **structure: Any) -> rg.Buffer:
    vertices = g.import_array("vertices", TRIANGLE, as_buffer=True)
    mesh = g.build_triangles("mesh", vertices, **structure)
    return g.build_instances("scene", [mesh] * count, transforms=transforms)


def picture(g: rg.Graph, world: rg.Buffer, **more: Any) -> rg.Image:
    out = g.image("out", (SIZE, SIZE), "rgba32float")
    g.trace("rays", GENERATE, **({"miss": [MISS], "hit": [CLOSEST]} | more), world=world, result=out)
    g.root(out)
    return out


def checked(g: rg.Graph, device: rg.Device) -> rg.Plan:
    """The plan, which the checker finds nothing wrong with."""
    plan = g.bake(device.profile)
    assert plan.check() == []
    return plan


def test_a_triangle_is_hit_where_numpy_hits_it(device: rg.Device) -> None:
    g = rg.Graph()
    picture(g, scene(g))
    checked(g, device)
    found = np.asarray(device.run(g)["out"])
    hit = hits_triangle(np.eye(4)[:3])
    assert (found[..., 3] == 1).tolist() == hit.tolist()
    assert 0 < hit.sum() < hit.size
    # The barycentric coordinates of the first and the second corner, and the distance.
    u, v = barycentric(np.eye(4)[:3])
    assert np.allclose(found[hit][:, 0], u[hit], atol=1e-4)
    assert np.allclose(found[hit][:, 1], v[hit], atol=1e-4)
    assert np.allclose(found[hit][:, 2], 1.0, atol=1e-5)


def barycentric(transform: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    a, b, c = (TRIANGLE.astype(np.float64) @ transform[:, :3].T + transform[:, 3])[:, :2]
    p = rays()[..., :2]
    area = cross(b - a, c - a)
    return cross(p - a, c - a) / area, cross(b - a, p - a) / area


def test_two_instances_stand_where_their_transforms_put_them(device: rg.Device) -> None:
    transforms = np.stack([moved(-0.5, 0.0), moved(0.5, 0.25)])
    g = rg.Graph()
    picture(g, scene(g, transforms, 2))
    found = np.asarray(device.run(g)["out"])
    first, second = (hits_triangle(one) for one in transforms)
    assert (found[..., 3] > 0).tolist() == (first | second).tolist()
    only = second & ~first
    # A hit's alpha counts instances from 1 on.
    assert (found[only][:, 3] == 2).all()
    assert (found[first & ~second][:, 3] == 1).all()


def test_transforms_of_a_buffer_move_the_instances_of_each_run(device: rg.Device) -> None:
    g = rg.Graph()
    picture(g, scene(g, g.import_array("where", moved(0, 0)[None], as_buffer=True)))
    plan = checked(g, device)
    assert plan is not None
    compiled = device.compile(g)
    for x in (0.0, 0.5, -0.75):
        found = np.asarray(compiled.run(inputs={"where": moved(x, 0.1)[None]})["out"])
        assert (found[..., 3] > 0).tolist() == hits_triangle(moved(x, 0.1)).tolist()


def test_a_refit_follows_positions_across_frames(device: rg.Device) -> None:
    g = rg.Graph()
    picture(g, scene(g, rebuild="anew", refit=True))
    checked(g, device)
    compiled = device.compile(g)
    with pytest.raises(rg.GraphError, match='acceleration structure "mesh", which no run built'):
        compiled.run(flags={"anew": False})
    for step, x in enumerate((0.0, 0.2, 0.4, -0.3)):
        positions = TRIANGLE + np.float32([x, 0, 0])
        frame = compiled.run(inputs={"vertices": positions}, flags={"anew": step == 0})
        hit = hits_triangle(moved(x, 0))
        assert (np.asarray(frame["out"])[..., 3] > 0).tolist() == hit.tolist(), step


def test_a_structure_that_is_built_once_stays(device: rg.Device) -> None:
    g = rg.Graph()
    picture(g, scene(g, rebuild="anew"))
    compiled = device.compile(g)
    for step in range(3):
        positions = TRIANGLE + np.float32([0.3 * step, 0, 0])
        frame = compiled.run(inputs={"vertices": positions}, flags={"anew": step == 0})
        assert (np.asarray(frame["out"])[..., 3] > 0).tolist() == hits_triangle(moved(0, 0)).tolist()


def test_a_structure_stands_in_for_one_whose_build_is_off(device: rg.Device) -> None:
    g = rg.Graph()
    vertices = g.import_array("vertices", TRIANGLE, as_buffer=True)
    aside = g.import_array("aside", TRIANGLE + np.float32([0.4, 0, 0]), as_buffer=True)
    coarse = g.build_triangles("coarse", vertices, rebuild="anew")
    fine = g.build_triangles("fine", aside, conditional="fine", fallback={"fine": coarse})
    picture(g, g.build_instances("scene", [fine]))
    checked(g, device)
    compiled = device.compile(g)
    with pytest.raises(rg.GraphError, match='acceleration structure "coarse", which no run built'):
        compiled.run(flags={"anew": False, "fine": False})
    for anew, on in ((False, True), (True, False), (False, False), (False, True), (True, True)):
        frame = compiled.run(flags={"anew": anew, "fine": on})
        hit = hits_triangle(moved(0.4 if on else 0, 0))
        assert (np.asarray(frame["out"])[..., 3] > 0).tolist() == hit.tolist(), (anew, on)


def test_indices_name_the_corners(device: rg.Device) -> None:
    order = np.array([2, 0, 1], np.uint16)
    corners = TRIANGLE[[1, 2, 0]]
    g = rg.Graph()
    vertices = g.import_array("vertices", corners, as_buffer=True)
    indices = g.import_array("indices", np.append(order, np.uint16(0)), as_buffer=True)
    mesh = g.build_triangles("mesh", vertices, indices=indices[0:6], index_format="uint16")
    picture(g, g.build_instances("scene", [mesh]))
    found = np.asarray(device.run(g)["out"])
    hit = hits_triangle(np.eye(4)[:3])
    assert (found[..., 3] > 0).tolist() == hit.tolist()
    assert np.allclose(found[hit][:, 0], barycentric(np.eye(4)[:3])[0][hit], atol=1e-4)


def test_an_any_hit_shader_leaves_hits_out(device: rg.Device) -> None:
    g = rg.Graph()
    picture(g, scene(g, opaque=False), hit=[{"closest": CLOSEST, "any": ANY}])
    found = np.asarray(device.run(g)["out"])
    # Hits of even columns do not count.
    expected = hits_triangle(np.eye(4)[:3]) & (np.arange(SIZE) % 2 == 1)
    assert (found[..., 3] > 0).tolist() == expected.tolist()


def test_boxes_are_hit_where_their_intersection_shader_says(device: rg.Device) -> None:
    g = rg.Graph()
    boxes = g.build_boxes("boxes", g.import_array("bounds", BOXES, as_buffer=True))
    picture(g, g.build_instances("scene", [boxes]), hit=[{"closest": BOX_HIT, "intersection": INTERSECT}])
    checked(g, device)
    found = np.asarray(device.run(g)["out"])
    assert found[..., 3].tolist() == hits_box().tolist()


def test_callables_are_called_by_their_position(device: rg.Device) -> None:
    g = rg.Graph()
    out = g.image("out", (SIZE, SIZE), "rgba32float")
    g.trace("rays", CALLER, callable=[CALL % 3, CALL % 5], result=out)
    g.root(out)
    found = np.asarray(device.run(g)["out"])
    column = np.arange(SIZE)
    assert (found[..., 0] == np.where(column % 2 == 0, 3, 5) * column).all()


def test_records_of_groups_reach_their_shaders(device: rg.Device) -> None:
    g = rg.Graph()
    world = scene(g)
    records = {"hit": [np.float32([0.25])], "miss": [np.float32([0.75])]}
    miss, hit = RECORD.replace("PAYLOAD", "rayPayloadInEXT"), RECORD.replace("PAYLOAD", "rayPayloadInEXT")
    picture(g, world, miss=[miss], hit=[hit], records=records)
    found = np.asarray(device.run(g)["out"])
    assert (found[..., 0] == np.where(hits_triangle(np.eye(4)[:3]), 0.25, 0.75)).all()


def test_hit_shaders_trace_further_rays(device: rg.Device) -> None:
    g = rg.Graph()
    picture(g, scene(g), miss=[MISS, NEST_MISS], hit=[NEST_HIT], depth=2)
    found = np.asarray(device.run(g)["out"])
    hit = hits_triangle(np.eye(4)[:3])
    assert (found[..., 1] == np.where(hit, 7, 0)).all()
    other = rg.Graph()
    picture(other, scene(other), depth=1000)
    with pytest.raises(rg.GraphError, match="nests traces 1000 deep"):
        device.run(other)


def test_a_query_in_a_compute_shader_sees_what_traces_see(device: rg.Device) -> None:
    if "rayQuery" not in (device.profile.features or ()):
        pytest.skip("the device has no ray queries")
    transforms = np.stack([moved(-0.5, 0.0), moved(0.5, 0.25)])
    g = rg.Graph()
    world = scene(g, transforms, 2)
    out = g.image("out", (SIZE, SIZE), "rgba32float")
    g.compute("queries", QUERY, world=world, result=out)
    g.root(out)
    checked(g, device)
    try:
        found = np.asarray(device.run(g)["out"])
    except rg.GraphError as error:
        # An H200 traces in pipelines alone.
        if "has no rayQuery (VK_KHR_ray_query)" not in str(error):
            raise
        pytest.skip(str(error).splitlines()[0])
    first, second = (hits_triangle(one) for one in transforms)
    assert (found[..., 3] > 0).tolist() == (first | second).tolist()


def test_masks_hide_instances_and_positions_choose_hit_groups(device: rg.Device) -> None:
    g = rg.Graph()
    vertices = g.import_array("vertices", TRIANGLE, as_buffer=True)
    mesh = g.build_triangles("mesh", vertices)
    transforms = [moved(-0.5, 0.0), moved(0.5, 0.0), moved(0.0, 0.5)]
    world = g.build_instances("scene", [mesh] * 3, transforms=transforms, masks=[255, 255, 0], hits=[0, 1, 0])
    other = CLOSEST.replace("float(gl_InstanceCustomIndexEXT + 1)", "100.0")
    picture(g, world, hit=[CLOSEST, other])
    found = np.asarray(device.run(g)["out"])[..., 3]
    first, second = (hits_triangle(one) for one in transforms[:2])
    assert (found > 0).tolist() == (first | second).tolist()
    assert (found[second & ~first] == 100).all()
    assert (found[first & ~second] == 1).all()


def test_a_structure_that_is_too_small_is_refused_with_its_size(device: rg.Device) -> None:
    g = rg.Graph()
    picture(g, scene(g, size=256))
    with pytest.raises(rg.GraphError, match=r'builds [0-9]+ bytes of structure in "mesh", which has 256') as caught:
        device.run(g)
    assert "size=" in str(caught.value)


def test_a_saved_graph_traces_what_the_graph_traced(device: rg.Device, tmp_path: Any) -> None:
    g = rg.Graph()
    picture(g, scene(g, np.stack([moved(0.25, 0.0)])), hit=[{"closest": CLOSEST, "any": ANY}])
    g.save(tmp_path / "rays.rgraph.json")
    again = rg.Graph.load(tmp_path / "rays.rgraph.json")
    assert (np.asarray(device.run(again)["out"]) == np.asarray(device.run(g)["out"])).all()


def test_builds_read_what_stands_in_for_the_output_of_a_pass_that_is_off(device: rg.Device) -> None:
    g = rg.Graph()
    here, there = (
        g.import_array(name, moved(x, 0)[None], as_buffer=True) for name, x in (("here", 0.0), ("there", 0.5))
    )
    plain, better = g.buffer("plain", 48), g.buffer("better", 48)
    g.copy("keep", here, plain)
    g.copy("move", there, better, conditional="on", fallback={better: plain})
    low, high = (g.import_array(name, TRIANGLE * s, as_buffer=True) for name, s in (("low", 0.5), ("high", 1.0)))
    small, large = g.buffer("small", TRIANGLE.nbytes), g.buffer("large", TRIANGLE.nbytes)
    g.copy("shrink", low, small)
    g.copy("grow", high, large, conditional="on", fallback={large: small})
    mesh = g.build_triangles("mesh", large)
    picture(g, g.build_instances("scene", [mesh], transforms=better))
    checked(g, device)
    compiled = device.compile(g)
    for on in (True, False, False, True):
        found = np.asarray(compiled.run(flags={"on": on})["out"])
        transform = moved(0.5, 0) if on else np.diag([0.5, 0.5, 0.5, 1.0])[:3]
        assert (found[..., 3] > 0).tolist() == hits_triangle(transform).tolist(), on
