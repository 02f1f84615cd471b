"""Rays: two tetrahedra, traced by a ray-generation, a miss and a closest-hit shader; the second one turns."""

import math

import numpy as np

import rgraph as rg

HEAD = "#version 460\n#extension GL_EXT_ray_tracing : require\n"
CAMERA = """
layout(binding = 0) uniform accelerationStructureEXT world;
layout(binding = 1, rgba8) uniform writeonly image2D picture;
layout(location = 0) rayPayloadEXT vec3 color;
void main() {
    vec2 at = (vec2(gl_LaunchIDEXT.xy) + 0.5) / vec2(gl_LaunchSizeEXT.xy) * 2.0 - 1.0;
    traceRayEXT(world, gl_RayFlagsOpaqueEXT, 0xff, 0, 1, 0, vec3(0, 0, -3), 0.0, normalize(vec3(at, 1.5)), 9.0, 0);
    imageStore(picture, ivec2(gl_LaunchIDEXT.xy), vec4(color, 1.0));
}"""
SKY = """
layout(location = 0) rayPayloadInEXT vec3 color;
void main() { color = vec3(0.1, 0.2, 0.4) * (1.0 - gl_WorldRayDirectionEXT.y); }"""
SURFACE = """
layout(location = 0) rayPayloadInEXT vec3 color;
hitAttributeEXT vec2 where;
void main() { color = vec3(where, 1.0 - where.x - where.y) / (1 + gl_InstanceCustomIndexEXT); }"""

corners = np.array([[0, -0.6, 0], [-0.5, 0.4, -0.4], [0.5, 0.4, -0.4], [0, 0.4, 0.6]], np.float32)
faces = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], np.uint32)


def places(turn: float) -> np.ndarray:
    """Where the instances are: three rows of four numbers each."""
    c, s = math.cos(turn), math.sin(turn)
    still = [[1, 0, 0, -0.7], [0, 1, 0, 0], [0, 0, 1, 0]]
    turned = [[c, 0, s, 0.7], [0, 1, 0, 0], [-s, 0, c, 0]]
    return np.array([still, turned], np.float32)


g = rg.Graph("rays")
vertices = g.import_array("corners", corners, as_buffer=True)
indices = g.import_array("faces", faces, as_buffer=True)
where = g.import_array("where", places(0), as_buffer=True)
mesh = g.build_triangles("mesh", vertices, indices=indices, rebuild="first")  # built in runs with this flag on
world = g.build_instances("world", [mesh, mesh], transforms=where)  # built in each run
picture = g.image("picture", (320, 180), "rgba8unorm")
g.trace("trace", HEAD + CAMERA, miss=[HEAD + SKY], hit=[HEAD + SURFACE], world=world, picture=picture)
g.root(picture)

print(g.bake())
try:
    with rg.Device() as device:
        compiled = device.compile(g)
        for step in range(3):
            frame = compiled.run(inputs={"where": places(0.4 * step)}, flags={"first": step == 0})
            print("texels that see the second one:", int((frame[picture].numpy()[:, 160:, 0] > 60).sum()))
except (rg.DeviceError, rg.GraphError) as error:
    print(error)
