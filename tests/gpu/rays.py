"""Shaders and expectations of the tests of rays: an orthographic camera in front of the plane z = 0."""

from __future__ import annotations

from typing import Any

import numpy as np

import rgraph as rg

SIZE = 32
TRIANGLE = np.float32([[-0.52, -0.51, 0], [0.53, -0.5, 0], [0.01, 0.56, 0]])
BOXES = np.float32([[-0.8, -0.8, -0.1, -0.2, -0.2, 0.1], [0.1, 0.1, -0.1, 0.7, 0.7, 0.1]])

HEAD = """#version 460
#extension GL_EXT_ray_tracing : require
"""
GENERATE = (
    HEAD
    + """
layout(binding = 0) uniform accelerationStructureEXT world;
layout(binding = 1, rgba32f) uniform writeonly image2D result;
layout(location = 0) rayPayloadEXT vec4 color;
void main() {
    vec2 at = (vec2(gl_LaunchIDEXT.xy) + 0.5) / vec2(gl_LaunchSizeEXT.xy) * 2.0 - 1.0;
    color = vec4(-1.0);
    traceRayEXT(world, 0, 0xff, 0, 1, 0, vec3(at, -1.0), 0.0, vec3(0.0, 0.0, 1.0), 10.0, 0);
    imageStore(result, ivec2(gl_LaunchIDEXT.xy), color);
}
"""
)
MISS = HEAD + "layout(location = 0) rayPayloadInEXT vec4 color;\nvoid main() { color = vec4(0.0); }\n"
CLOSEST = (
    HEAD
    + """
layout(location = 0) rayPayloadInEXT vec4 color;
hitAttributeEXT vec2 where;
void main() { color = vec4(where, gl_HitTEXT, float(gl_InstanceCustomIndexEXT + 1)); }
"""
)
ANY = HEAD + "void main() { if (gl_LaunchIDEXT.x % 2u == 0u) ignoreIntersectionEXT; }\n"
INTERSECT = (
    HEAD
    + """
const vec4 BOXES[] = vec4[](vec4(-0.8, -0.8, -0.2, -0.2), vec4(0.1, 0.1, 0.7, 0.7));
void main() {
    // Drivers may ask about rays that pass a box by. This one runs along z, and meets the front of boxes at 0.9.
    vec4 box = BOXES[gl_PrimitiveID];
    vec2 at = gl_WorldRayOriginEXT.xy;
    if (all(greaterThan(at, box.xy)) && all(lessThan(at, box.zw))) reportIntersectionEXT(0.95, 0u);
}
"""
)
BOX_HIT = (
    HEAD
    + """
layout(location = 0) rayPayloadInEXT vec4 color;
void main() { color = vec4(0.0, 0.0, gl_HitTEXT, float(gl_PrimitiveID + 1)); }
"""
)
CALLER = (
    HEAD
    + """
layout(binding = 1, rgba32f) uniform writeonly image2D result;
layout(location = 0) callableDataEXT float number;
void main() {
    number = float(gl_LaunchIDEXT.x);
    executeCallableEXT(gl_LaunchIDEXT.x % 2u, 0);
    imageStore(result, ivec2(gl_LaunchIDEXT.xy), vec4(number));
}
"""
)
CALL = HEAD + "layout(location = 0) callableDataInEXT float number;\nvoid main() { number *= float(%d); }\n"
RECORD = (
    HEAD
    + """
layout(shaderRecordEXT) buffer Own { float value; };
layout(location = 0) PAYLOAD vec4 color;
void main() { color = vec4(value); }
"""
)
NEST_HIT = (
    HEAD
    + """
layout(binding = 0) uniform accelerationStructureEXT world;
layout(location = 0) rayPayloadInEXT vec4 color;
layout(location = 1) rayPayloadEXT float second;
void main() {
    second = 0.0;
    traceRayEXT(world, 0, 0xff, 0, 1, 1, vec3(0.0, 0.0, -5.0), 0.0, vec3(0.0, 0.0, -1.0), 1.0, 1);
    color = vec4(0.0, second, 0.0, 1.0);
}
"""
)
NEST_MISS = HEAD + "layout(location = 1) rayPayloadInEXT float second;\nvoid main() { second = 7.0; }\n"
QUERY = """#version 460
#extension GL_EXT_ray_query : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform accelerationStructureEXT world;
layout(binding = 1, rgba32f) uniform writeonly image2D result;
void main() {
    vec2 at = (vec2(gl_GlobalInvocationID.xy) + 0.5) / vec2(imageSize(result)) * 2.0 - 1.0;
    rayQueryEXT query;
    rayQueryInitializeEXT(query, world, gl_RayFlagsOpaqueEXT, 0xff, vec3(at, -1.0), 0.0, vec3(0.0, 0.0, 1.0), 10.0);
    while (rayQueryProceedEXT(query)) {}
    bool hit = rayQueryGetIntersectionTypeEXT(query, true) == gl_RayQueryCommittedIntersectionTriangleEXT;
    imageStore(result, ivec2(gl_GlobalInvocationID.xy), vec4(hit ? 1.0 : 0.0));
}
"""


def has_rays() -> bool:
    """Whether the device that tests open traces rays and executes what it is given."""
    g = rg.Graph()
    out = g.image("out", (1, 1), "rgba32float")
    g.trace("rays", CALLER, callable=[CALL % 1, CALL % 1], result=out)
    g.root(out)
    try:
        with rg.Device() as device:
            device.compile(g)
            return "mock" not in device.info.name.lower()
    except (rg.DeviceError, rg.GraphError):
        return False


def rays() -> np.ndarray[Any, Any]:
    """Where the camera's rays meet the plane z = 0: SIZE × SIZE × (x, y)."""
    at = (np.arange(SIZE) + 0.5) / SIZE * 2 - 1
    x, y = np.meshgrid(at, at)
    return np.stack([x, y], -1)


def moved(x: float, y: float) -> np.ndarray[Any, Any]:
    """A transform of three rows of four numbers: a translation."""
    return np.float32([[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, 0]])


def cross(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The third coordinate of the cross product of vectors of two."""
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])


def hits_triangle(transform: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Which rays hit the triangle where a transform puts it."""
    corners = (TRIANGLE.astype(np.float64) @ np.float64(transform[:, :3]).T + transform[:, 3])[:, :2]
    at = rays()
    sides = []
    for one, other in zip(corners, np.roll(corners, -1, 0), strict=True):
        sides.append(cross(other - one, at - one))
    return (np.stack(sides) > 0).all(0) | (np.stack(sides) < 0).all(0)


def hits_box() -> np.ndarray[Any, Any]:
    """The number of the box that each ray hits, from 1 on; 0: none."""
    at = rays()
    found = np.zeros((SIZE, SIZE))
    for number, (x, y, _, right, top, _) in enumerate(BOXES.astype(np.float64), 1):
        found[(at[..., 0] > x) & (at[..., 0] < right) & (at[..., 1] > y) & (at[..., 1] < top)] = number
    return found
