"""Devices without rays say so when a graph is compiled, with the extension's name; others record the work."""

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
        except rg.DeviceError as error:
            # Devices that trace rays may have no queries of them.
            if declare is not queried or LACKS_QUERIES not in str(error):
                raise
            return
        assert compiled.plan.check() == []
        for _ in range(3):
            compiled.run()
        return
    with pytest.raises(rg.DeviceError, match="has no VK_KHR_acceleration_structure, which pass") as caught:
        device.compile(g)
    assert caught.value.code == "RG-E102"
    assert device.info.name in str(caught.value)
