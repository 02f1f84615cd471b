"""Tessellation, geometry and mesh stages: pixels, accesses, and what is refused before a driver sees it."""

import json

import numpy as np
import pytest

import rgraph as rg

POINTS = """#version 450
layout(location = 0) out vec4 tint;
layout(set = 0, binding = 0) readonly buffer Places { vec4 places[]; };
void main() {
    gl_Position = vec4(places[gl_VertexIndex].xy, 0.0, 1.0);
    tint = vec4(0.0, 1.0, float(gl_VertexIndex), 1.0);
}
"""
QUADS = """#version 450
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in vec4 tint[];
layout(location = 0) out vec4 shade;
layout(set = 0, binding = 1) uniform Sizes { vec2 half_size; };
void main() {
    for (int corner = 0; corner < 4; corner++) {
        vec2 side = vec2(corner & 1, corner >> 1) * 2.0 - 1.0;
        gl_Position = gl_in[0].gl_Position + vec4(side * half_size, 0.0, 0.0);
        shade = tint[0];
        EmitVertex();
    }
    EndPrimitive();
}
"""
SHADE = """#version 450
layout(location = 0) in vec4 shade;
layout(location = 0) out vec4 colour;
void main() { colour = shade; }
"""
CORNERS = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0, 0.0, 1.0); }
"""
CONTROL = """#version 450
layout(vertices = 4) out;
layout(location = 0) patch out vec4 tint;
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    for (int i = 0; i < 4; i++) gl_TessLevelOuter[i] = 8.0;
    gl_TessLevelInner[0] = gl_TessLevelInner[1] = 8.0;
    tint = vec4(0.25, 0.5, 0.75, 1.0);
}
"""
EVALUATION = """#version 450
layout(quads, equal_spacing) in;
layout(location = 0) patch in vec4 tint;
layout(location = 0) out vec4 shade;
void main() {
    vec4 top = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_TessCoord.x);
    vec4 bottom = mix(gl_in[2].gl_Position, gl_in[3].gl_Position, gl_TessCoord.x);
    gl_Position = mix(top, bottom, gl_TessCoord.y) * vec4(0.5, 0.5, 1.0, 1.0);
    shade = tint;
}
"""
MESH = """#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1) in;
layout(triangles, max_vertices = 4, max_primitives = 2) out;
layout(location = 0) out vec4 shade[];
layout(set = 0, binding = 0) readonly buffer Places { vec4 places[]; };
void main() {
    SetMeshOutputsEXT(4, 2);
    vec2 centre = places[gl_WorkGroupID.x].xy;
    for (int corner = 0; corner < 4; corner++) {
        gl_MeshVerticesEXT[corner].gl_Position =
            vec4(centre + (vec2(corner & 1, corner >> 1) - 0.5) * 0.5, 0.0, 1.0);
        shade[corner] = vec4(0.0, 1.0, float(gl_WorkGroupID.x), 1.0);
    }
    gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
    gl_PrimitiveTriangleIndicesEXT[1] = uvec3(2, 1, 3);
}
"""
TASK = """#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1) in;
void main() { EmitMeshTasksEXT(2, 1, 1); }
"""


def places() -> np.ndarray:
    return np.array([[-0.5, -0.5, 0, 0], [0.5, 0.5, 0, 0]], np.float32)


def two_squares(image: np.ndarray) -> None:
    """A square in the middle of the top left and of the bottom right quarter, and nothing elsewhere."""
    expected = np.zeros((16, 16, 4), np.uint8)
    expected[2:6, 2:6] = [0, 255, 0, 255]
    expected[10:14, 10:14] = [0, 255, 255, 255]
    np.testing.assert_array_equal(image, expected)


def test_a_geometry_stage_makes_quads_of_points(device: rg.Device) -> None:
    graph = rg.Graph("points")
    buffer = graph.import_array("places", places(), as_buffer=True)
    image = graph.image("picture", (16, 16), "rgba8unorm")
    size = graph.import_array("sizes", np.array([0.25, 0.25], np.float32), as_buffer=True)
    graph.raster(
        "draw",
        (POINTS, QUADS, SHADE),
        color=image,
        clear=(0, 0, 0, 0),
        vertices=2,
        topology="points",
        Places=buffer,
        Sizes=size,
    )
    two_squares(np.asarray(device.run(graph, read=image)["picture"]))
    uses = {use["resource"]: use.get("stages") for use in graph.to_dict()["passes"][0]["accesses"]}
    assert (uses["places"], uses["sizes"]) == (["vertex"], ["geometry"])


def test_tessellation_stages_fill_what_their_patch_covers(device: rg.Device) -> None:
    graph = rg.Graph("patch")
    image = graph.image("picture", (16, 16), "rgba8unorm")
    shader = (CORNERS, CONTROL, EVALUATION, SHADE)
    graph.raster("draw", shader, color=image, clear=(0, 0, 0, 0), vertices=4, patch_vertices=4)
    expected = np.zeros((16, 16, 4), np.uint8)
    expected[4:12, 4:12] = [64, 128, 191, 255]
    picture = device.run(graph, read=image)["picture"]
    np.testing.assert_allclose(np.asarray(picture).astype(int), expected, atol=1)


def test_stages_travel_through_files(device: rg.Device, tmp_path: object) -> None:
    graph = rg.Graph("patch")
    image = graph.image("picture", (16, 16), "rgba8unorm")
    shader = (CORNERS, CONTROL, EVALUATION, SHADE)
    graph.raster("draw", shader, color=image, clear=(0, 0, 0, 0), vertices=4, patch_vertices=4)
    again = rg.Graph.from_json(graph.to_json())
    assert again.hash == graph.hash
    np.testing.assert_array_equal(
        device.run(again, read="picture")["picture"], device.run(graph, read=image)["picture"]
    )


@pytest.mark.parametrize(
    ("shader", "says"),
    [
        ((CORNERS, CONTROL, SHADE), "without an evaluation stage"),
        ((CORNERS, EVALUATION, SHADE), "without a control stage"),
        ((QUADS, SHADE), "no vertex stage"),
        ((TASK, SHADE), "task stage without a mesh stage"),
        ((MESH, QUADS, SHADE), "mesh stage, and stages behind a vertex stage"),
    ],
)
def test_stages_that_make_no_pipeline_are_refused(shader: tuple[str, ...], says: str) -> None:
    graph = rg.Graph("odd")
    image = graph.image("picture", (16, 16), "rgba8unorm")
    with pytest.raises(rg.ShaderError, match=says):
        graph.raster("draw", shader, color=image)


def test_a_geometry_stage_takes_what_is_drawn(device: rg.Device) -> None:
    graph = rg.Graph("points")
    image = graph.image("picture", (16, 16), "rgba8unorm")
    values = {
        "Places": graph.import_array("places", places(), as_buffer=True),
        "Sizes": graph.import_array("sizes", np.ones(2, np.float32), as_buffer=True),
    }
    graph.raster("draw", (POINTS, QUADS, SHADE), color=image, vertices=2, **values)
    with pytest.raises(rg.DeviceError, match="takes points, and is given triangles"):
        device.run(graph, read=image)


def test_mesh_stages_run_where_there_are_some_and_are_refused_elsewhere(device: rg.Device) -> None:
    pictures = []
    for shader, groups in [((MESH, SHADE), 2), ((TASK, MESH, SHADE), (1, 1, 1))]:
        graph = rg.Graph("meshes")
        buffer = graph.import_array("places", places(), as_buffer=True)
        image = graph.image("picture", (16, 16), "rgba8unorm")
        graph.raster("draw", shader, color=image, clear=(0, 0, 0, 0), groups=groups, Places=buffer)
        [use] = [use for use in graph.to_dict()["passes"][0]["accesses"] if use["resource"] == "places"]
        assert use["stages"] == ["mesh"]
        try:
            pictures.append(np.asarray(device.run(graph, read=image)["picture"]))
        except rg.GraphError as error:
            if "VK_EXT_mesh_shader" not in str(error):
                raise
    for picture in pictures:
        two_squares(picture)


def test_indirect_draws_of_mesh_stages_read_workgroups_or_are_refused(device: rg.Device) -> None:
    pictures = []
    for shader, counts in [((MESH, SHADE), [[2, 1, 1]]), ((TASK, MESH, SHADE), [[1, 1, 1]])]:
        graph = rg.Graph("meshes")
        buffer = graph.import_array("places", places(), as_buffer=True)
        arguments = graph.import_array("arguments", np.array(counts, np.uint32), as_buffer=True)
        image = graph.image("picture", (16, 16), "rgba8unorm")
        graph.raster("draw", shader, color=image, clear=(0, 0, 0, 0), indirect=arguments, Places=buffer)
        [use] = [use for use in graph.to_dict()["passes"][0]["accesses"] if use["resource"] == "arguments"]
        assert use["usage"] == "indirect"
        assert "stride" not in json.loads(graph.to_json())["passes"][0]["raster"]
        try:
            pictures.append(np.asarray(device.run(graph, read=image)["picture"]))
        except rg.GraphError as error:
            if "VK_EXT_mesh_shader" not in str(error):
                raise
    for picture in pictures:
        two_squares(picture)


def test_workgroups_and_vertices_are_not_confused(device: rg.Device) -> None:
    graph = rg.Graph("confused")
    image = graph.image("picture", (16, 16), "rgba8unorm")
    graph.raster("draw", "@fragment fn f() -> @location(0) vec4f { return vec4f(1.0); }", color=image, groups=2)
    with pytest.raises(rg.GraphError, match="no mesh stage"):
        device.run(graph, read=image)
