"""A graph with rays is not baked for a device without them, by the extension's name; others record the work."""

from collections.abc import Callable

import pytest

import rgraph as rg

from .rays import CLOSEST, GENERATE, MISS, QUERY, SIZE, TRIANGLE, has_rays


def traced(g: rg.Graph) -> None:
    vertices = g.import_array("vertices", TRIANGLE, as_buffer=True)
    world = g.build_instances("scene", [g.build_triangles("mesh", vertices)])
    out = g.image("out", (SIZE, SIZE), "rgba32float")
    g.trace("rays", GENERATE, miss=[MISS], hit=[CLOSEST], world=world, result=out)
    g.root(out)


LACKS_QUERIES = "has no rayQuery (VK_KHR_ray_query)"


def queried(g: rg.Graph) -> None:
    vertices = g.import_array("vertices", TRIANGLE, as_buffer=True)
    world = g.build_instances("scene", [g.build_triangles("mesh", vertices)])
    out = g.image("out", (SIZE, SIZE), "rgba32float")
    g.compute("queries", QUERY, world=world, result=out)
    g.root(out)


@pytest.mark.parametrize("declare", [traced, queried])
def test_rays_are_recorded_or_refused_by_the_name_of_the_extension(
    device: rg.Device, declare: Callable[[rg.Graph], None]
) -> None:
    g = rg.Graph("rays")
    declare(g)
    if has_rays():
        try:
            compiled = device.compile(g)
        except rg.GraphError as error:
            # Devices that trace rays may have no queries of them.
            if declare is not queried or LACKS_QUERIES not in str(error):
                raise
            return
        assert compiled.plan.check() == []
        for _ in range(3):
            compiled.run()
        return
    for refuse in (device.compile, device.run, lambda graph: graph.bake(device.profile)):
        with pytest.raises(rg.GraphError, match=r"needs accelerationStructure \(VK_KHR_acceleration_struct") as caught:
            refuse(g)
        assert caught.value.code == "RG-E227"
        assert device.info.name in str(caught.value)
        assert "test_rays_refused.py:" in str(caught.value)
    if declare is queried:
        assert LACKS_QUERIES.removeprefix("has no ") in str(caught.value)


def test_rays_are_switched_on_where_they_are_wanted():
    g = rg.Graph("rays")
    traced(g)
    with rg.Device(rays=False) as device:
        assert not {"accelerationStructure", "rayQuery", "rayTracingPipeline"} & set(device.profile.features or ())
        with pytest.raises(rg.GraphError, match="needs accelerationStructure") as refused:
            device.compile(g)
        assert refused.value.code == "RG-E227"
    if has_rays():
        with rg.Device(rays=True) as device:
            device.run(g)
        return
    with pytest.raises(rg.DeviceError, match="has no VK_KHR_acceleration_structure") as lacking:
        rg.Device(rays=True)
    assert lacking.value.code == "RG-E102"
