"""A window: a graph runs in it until it is closed, and the pointer moves the light."""

import sys

import rgraph as rg

LIGHT = """
struct Push { at: vec2f }
var<immediate> push: Push;
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4f {
    return vec4f(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let far = distance(at.xy, push.at) / 120.0;
    return vec4f(vec3f(1.0, 0.7, 0.3) / (1.0 + far * far), 1.0);
}"""

g = rg.Graph("light", size=(640, 360))
g.raster("light", LIGHT, color=g.image("picture", format="rgba16float"), push={"at": (320.0, 180.0)})
g.root("picture")

where = [320.0, 180.0]
frames = int(sys.argv[1]) if len(sys.argv) > 1 else None
viewer = rg.show(g, update=lambda number: {"params": {"light": {"at": where}}}, frames=frames, wait=False)


def move(event: dict[str, float]) -> None:
    width, height = viewer.canvas.get_logical_size()
    where[:] = 640.0 * event["x"] / width, 360.0 * event["y"] / height


viewer.canvas.add_event_handler(move, "pointer_move")
viewer.run()
