"""Rays without a device: passes, accesses, hazards, files, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rgraph as rg
from gpu.rays import ANY, BOX_HIT, BOXES, CALL, CALLER, CLOSEST, GENERATE, INTERSECT, MISS, QUERY, TRIANGLE


def declared(**more: Any) -> tuple[rg.Graph, rg.Buffer, rg.Image]:
    """A graph with a structure of two instances of a triangle, and an image."""
    g = rg.Graph("rays", size=(32, 32))
    mesh = g.build_triangles("mesh", g.import_array("vertices", TRIANGLE, as_buffer=True), **more)
    return g, g.build_instances("scene", [mesh, mesh]), g.image("out", format="rgba32float")


def accesses(g: rg.Graph, name: str) -> dict[str, tuple[str, list[str]]]:
    [one] = [one for one in g.to_dict()["passes"] if one["name"] == name]
    return {use["resource"]: (use["usage"], use.get("stages", [])) for use in one["accesses"]}


def test_accesses_follow_from_builds_and_shaders():
    g, scene, out = declared()
    g.trace("rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=scene, result=out)
    g.root(out)
    assert accesses(g, "mesh/build") == {
        "mesh": ("acceleration_build", []),
        "mesh/scratch": ("acceleration_scratch", []),
        "vertices": ("acceleration_input", []),
    }
    assert accesses(g, "scene/records") == {"scene/records": ("transfer_dst", [])}
    assert accesses(g, "scene/build") == {
        "scene": ("acceleration_build", []),
        "scene/scratch": ("acceleration_scratch", []),
        "scene/records": ("acceleration_input", []),
        "mesh": ("acceleration_read", ["acceleration_structure_build"]),
    }
    assert accesses(g, "rays") == {
        "scene": ("acceleration_read", ["ray_tracing"]),
        "out": ("storage_write", ["ray_tracing"]),
    }


def test_a_graph_lists_what_its_passes_need():
    g, scene, out = declared()
    assert g.needs == ["accelerationStructure"]
    g.trace("rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=scene, result=out)
    assert g.needs == ["accelerationStructure", "rayTracingPipeline"]
    g.compute("queries", QUERY, world=scene, result=g.image("seen", format="rgba32float"))
    assert sorted(g.needs) == ["accelerationStructure", "rayQuery", "rayTracingPipeline"]
    assert rg.Graph().needs == []


def test_plans_order_builds_before_traces_and_the_checker_agrees():
    g, scene, out = declared()
    g.trace("rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=scene, result=out)
    g.root(out)
    plan = g.bake()
    order = plan.pass_names
    assert order.index("mesh/build") < order.index("scene/build") < order.index("rays")
    assert order.index("scene/records") < order.index("scene/build")
    assert plan.check() == []
    assert plan.interpret() == g.interpret()
    [barrier] = [
        one
        for batch in plan.to_dict()["batches"]
        for command in batch["commands"]
        for one in command.get("buffers", []) + command.get("memory", [])
        if one["dst_stages"] == ["ray_tracing_shader"] and "acceleration_structure_read" in one["dst_access"]
    ]
    assert barrier["src_stages"] == ["acceleration_structure_build"]
    assert "acceleration_structure_write" in barrier["src_access"]


def test_the_checker_finds_a_trace_that_does_not_wait_for_its_build():
    g, scene, out = declared()
    g.trace("rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=scene, result=out)
    g.root(out)
    values = g.bake().to_dict()
    for batch in values["batches"]:
        for command in batch["commands"]:
            for kind in ("memory", "buffers"):
                command[kind] = [
                    one for one in command.get(kind, []) if one["dst_stages"] != ["ray_tracing_shader"]
                ] or command.get(kind, [])[:0]
                if not command[kind]:
                    del command[kind]
    broken = rg.Plan.from_json(json.dumps(values))
    assert any("rays" in str(finding) for finding in broken.check(g))


def test_queries_read_the_structure_in_their_own_stage():
    g, scene, out = declared()
    g.compute("queries", QUERY, world=scene, result=out)
    assert accesses(g, "queries")["scene"] == ("acceleration_read", ["compute"])


def test_a_refit_reads_and_writes_and_its_build_is_switched():
    g, scene, out = declared(rebuild="moved", refit=True)
    g.trace("rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=scene, result=out)
    g.root(out)
    assert accesses(g, "mesh/refit")["mesh"] == ("acceleration_update", [])
    [build] = [one for one in g.to_dict()["passes"] if one["name"] == "mesh/build"]
    assert build["conditional"] == "moved"
    plan = g.bake()
    assert plan.check() == []
    assert plan.pass_names.index("mesh/build") < plan.pass_names.index("mesh/refit")


def test_any_hit_intersection_and_callable_shaders_fill_their_places():
    g = rg.Graph("rays", size=(32, 32))
    boxes = g.build_boxes("boxes", g.import_array("bounds", BOXES, as_buffer=True), opaque=False)
    scene, out = g.build_instances("scene", [boxes]), g.image("out", format="rgba32float")
    hit = [{"closest": BOX_HIT, "any": ANY, "intersection": INTERSECT}, None, {"any": ANY}]
    g.trace("rays", GENERATE, miss=MISS, hit=hit, callable=CALL % 2, world=scene, result=out, depth=1)
    g.root(out)
    work = json.loads(g.to_json())
    [trace] = [one["trace"] for one in work["passes"] if "trace" in one]
    assert [sorted(group) for group in trace["hit"]] == [["any", "closest", "intersection"], [], ["any"]]
    # A shader that is given twice is one.
    assert trace["hit"][0]["any"] == trace["hit"][2]["any"]
    assert g.bake().check() == []


def test_a_graph_with_rays_is_the_same_after_saving(tmp_path: Path):
    g, scene, out = declared(rebuild="moved", refit=True, opaque=False)
    records = {"hit": [np.float32([1, 2])], "raygen": b"1234"}
    g.trace(
        "rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=scene, result=out, records=records, size=(8, 4), depth=2
    )
    where = g.import_array("where", np.zeros((1, 3, 4), np.float32), as_buffer=True)
    g.build_instances("other", ["mesh"], transforms=where, ids=[7], masks=[1], hits=[3], side_effects=True)
    g.root(out)
    g.save(tmp_path / "rays.rgraph.json")
    again = rg.Graph.load(tmp_path / "rays.rgraph.json")
    assert again.bake() == g.bake()
    again.save(tmp_path / "again.rgraph.json")
    assert (tmp_path / "again.rgraph.json").read_text() == (tmp_path / "rays.rgraph.json").read_text()


def test_a_graph_with_rays_pickles():
    import pickle

    g, scene, out = declared()
    g.trace("rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=scene, result=out)
    g.root(out)
    assert pickle.loads(pickle.dumps(g)).bake() == g.bake()


def test_a_shader_in_another_place_is_refused():
    g, scene, out = declared()
    closest = CLOSEST.replace("#version 460", "#version 460\n#pragma shader_stage(closesthit)")
    with pytest.raises(rg.GraphError, match="has a closest hit shader in the place of a miss shader"):
        g.trace("rays", GENERATE, miss=[closest], hit=[CLOSEST], world=scene, result=out)
    with pytest.raises(rg.ShaderError, match="no ray-tracing entry point"):
        g.trace("rays", "@compute @workgroup_size(1) fn main() {}", world=scene, result=out)
    assert "rays" not in [one.name for one in g.passes]


def test_bindings_of_traces_are_checked():
    g, scene, out = declared()
    with pytest.raises(rg.GraphError, match=r'binds nothing to "world".*an acceleration structure'):
        g.trace("rays", GENERATE, result=out)
    with pytest.raises(rg.GraphError, match="is an acceleration structure, got") as caught:
        g.trace("rays", GENERATE, world=g.buffer("plain", 64), result=out)
    assert "build_instances" in str(caught.value)
    with pytest.raises(TypeError, match="did you mean 'callable'"):
        g.trace("rays", GENERATE, world=scene, result=out, calable=[CALL % 1])


def test_numbers_that_do_not_fit_are_refused():
    g, scene, out = declared()
    with pytest.raises(ValueError, match="no whole number of 12 bytes"):
        g.build_triangles("other", g.buffer("odd", 40))
    with pytest.raises(TypeError, match="refit=True needs rebuild="):
        g.build_triangles("other", "vertices", refit=True)
    with pytest.raises(ValueError, match="transforms has 12 numbers, and 2 instances have 12 each"):
        g.build_instances("more", ["mesh", "mesh"], transforms=np.zeros((1, 3, 4)))
    with pytest.raises(ValueError, match="masks has 256, and the most is 255"):
        g.build_instances("more", ["mesh"], masks=[256])
    with pytest.raises(ValueError, match='records has 2 of "miss", and the trace has 1'):
        g.trace("rays", GENERATE, miss=[MISS], world=scene, result=out, records={"miss": [b"", b""]})
    with pytest.raises(TypeError, match="data of a shader record is bytes"):
        g.trace("rays", GENERATE, miss=[MISS], world=scene, result=out, records={"miss": [5]})
    with pytest.raises(rg.GraphError, match=r"has no size=, and shader .* writes nothing"):
        g.trace("rays", CALLER.replace("imageStore(result", "vec4 x = vec4(number); //"), callable=[CALL % 1])


def test_shaders_of_rays_are_reflected(tmp_path: Path):
    path = tmp_path / "camera.rgen"
    path.write_text(GENERATE)
    found = rg.reflect(path)
    assert [(one.name, one.kind, one.reads, one.writes) for one in found.bindings] == [
        ("world", "acceleration_structure", True, False),
        ("result", "image", False, True),
    ]


@pytest.mark.parametrize("size", ["scratch", {"resource": "scratch"}, {"resource": "scratch", "range": [0, 12]}])
def test_the_number_of_rays_of_a_file_is_no_buffer(size):
    g, scene, out = declared()
    g.trace("rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=scene, result=out)
    g.buffer("scratch", 64)
    g.root(out)
    values = g.to_dict()
    trace = next(one["trace"] for one in values["passes"] if "trace" in one)
    for good in (5, [5, 6], {"cover": "out"}):
        trace["size"] = good
        assert rg.Graph.from_dict(values).passes
    trace["size"] = size
    with pytest.raises(rg.GraphError, match=r"RG-E222 .*trace.size is .*, but must be \[x, y, z\] rays"):
        rg.Graph.from_dict(values)


def profile(*features: str) -> rg.Profile:
    queue = {"name": "all", "family": 0, "capabilities": ["graphics", "compute", "transfer"]}
    return rg.Profile.from_dict({"rprofile": 1, "name": "some", "queues": [queue], "features": list(features)})


def test_a_bake_for_a_profile_without_rays_names_feature_pass_shader_and_line():
    g, scene, out = declared()
    g.trace("rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=scene, result=out)
    g.root(out)
    with pytest.raises(rg.GraphError) as refused:
        g.bake(profile("accelerationStructure", "shaderStorageImageExtendedFormats"))
    message = str(refused.value)
    assert refused.value.code == "RG-E227"
    needs = 'pass "rays" needs rayTracingPipeline (VK_KHR_ray_tracing_pipeline), which profile "some" lacks'
    assert needs in message
    assert 'shader "rays" needs rayTracingPipeline' in message
    assert "test_rays.py:" in message
    with pytest.raises(rg.GraphError, match=r'pass "mesh/build" needs accelerationStructure'):
        g.bake(profile())
    has = profile("accelerationStructure", "rayTracingPipeline", "shaderStorageImageExtendedFormats")
    plan = g.bake(has)
    assert plan.check() == []
    assert plan.to_dict()["device_profile"]["features"] == has.features
    assert rg.Profile.discrete().features is None


def test_ray_queries_are_part_of_the_pass_in_files_and_go_to_the_device_that_has_them():
    g, scene, out = declared()
    g.compute("look", QUERY, world=scene, result=out)
    g.root(out)
    [look] = [one for one in g.to_dict()["passes"] if one["name"] == "look"]
    assert "rayQuery" in look["needs"]
    rays = profile("accelerationStructure", "rayQuery", "shaderStorageImageExtendedFormats")
    fill = profile("accelerationStructure", "shaderStorageImageExtendedFormats")
    for devices, on in (([rays, fill], 0), ([fill, rays], 1)):
        plan = g.bake_devices(devices)
        assert [part.device for part in plan.parts if "look" in part.passes] == [on]
    with pytest.raises(rg.GraphError, match=r'RG-E227 pass "look" needs rayQuery'):
        g.bake_devices([fill, fill])
