"""A panel of Dear ImGui over a graph: one pass draws what ImGui lists, behind the passes that draw the scene.

Needs `pip install "rgraph-vulkan[window]" imgui-bundle`. An argument is the number of frames.
"""

import ctypes
import sys
from typing import Any

import numpy as np
from imgui_bundle import imgui

import rgraph as rg

SIZE, MOST = (640, 360), 3 * 4096
LIGHT = """
struct Push { radius: f32 }
var<immediate> push: Push;
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4f {
    return vec4f(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return select(vec4f(0.1, 0.1, 0.2, 1.0), vec4f(1.0, 0.7, 0.3, 1.0), distance(at.xy, vec2f(440, 180)) < push.radius);
}"""
PANEL = """
struct Corner { at: vec4f, clip: vec4f, color: vec4f }
struct Out { @builtin(position) at: vec4f, @location(0) uv: vec2f, @location(1) color: vec4f, @location(2) clip: vec4f }
@group(0) @binding(0) var<storage, read> corners: array<Corner>;
@group(0) @binding(1) var font: texture_2d<f32>;
@group(0) @binding(2) var linear: sampler;
@vertex fn vertex(@builtin(vertex_index) at: u32) -> Out {
    let c = corners[at];
    let place = c.at.xy / vec2f(640, 360) * 2.0 - 1.0;
    return Out(vec4f(place, 0.0, 1.0), c.at.zw, c.color, c.clip);
}
@fragment fn fragment(in: Out) -> @location(0) vec4f {
    let texel = textureSample(font, linear, in.uv);
    if any(in.at.xy < in.clip.xy) || any(in.at.xy >= in.clip.zw) { discard; }
    return in.color * texel;
}"""
VERTEX = np.dtype([("at", "f4", 2), ("uv", "f4", 2), ("color", "u1", 4)])

imgui.create_context()
io = imgui.get_io()
io.set_ini_filename(None)
io.display_size = imgui.ImVec2(*SIZE)
io.backend_flags |= imgui.BackendFlags_.renderer_has_textures.value
state = {"radius": 60.0}
corners = np.zeros((MOST, 12), np.float32)


def listed() -> np.ndarray:
    """The panel of a frame: a corner per index, with its place, texel, clip rectangle and colour."""
    io.delta_time = 1 / 60
    imgui.new_frame()
    imgui.set_next_window_pos(imgui.ImVec2(20, 20))
    imgui.set_next_window_size(imgui.ImVec2(240, 80))
    imgui.begin("Light")
    _, state["radius"] = imgui.slider_float("radius", state["radius"], 10.0, 150.0)
    imgui.end()
    imgui.render()
    corners[:] = 0
    end = 0
    for part in imgui.get_draw_data().cmd_lists:
        vertices = np.frombuffer(memory(part.vtx_buffer, imgui.VERTEX_SIZE), VERTEX)
        indices = np.frombuffer(memory(part.idx_buffer, imgui.INDEX_SIZE), f"u{imgui.INDEX_SIZE}")
        for draw in part.cmd_buffer:
            used = vertices[draw.vtx_offset + indices[draw.idx_offset :][: draw.elem_count].astype(int)]
            begin, end = end, end + len(used)
            clip = np.tile([draw.clip_rect.x, draw.clip_rect.y, draw.clip_rect.z, draw.clip_rect.w], (len(used), 1))
            corners[begin:end] = np.hstack([used["at"], used["uv"], clip, used["color"] / 255])
    return corners


def memory(buffer: Any, size: int) -> bytes:
    """The bytes of a buffer of ImGui."""
    return ctypes.string_at(buffer.data_address(), buffer.size() * size)


def font() -> np.ndarray:
    """The texels of the font; ImGui draws letters into it as frames need them."""
    for texture in imgui.get_draw_data().textures:
        texture.set_tex_id(1)
        texture.set_status(imgui.ImTextureStatus.ok)
        texels = np.array(texture.get_pixels_array()).reshape(texture.height, texture.width, -1)
    return texels


listed()
g = rg.Graph("panel over a light", size=SIZE)
picture = g.image("picture", format="rgba8unorm")
g.raster("light", LIGHT, color=picture, push={"radius": state["radius"]})
letters = g.import_array("font", font(), format="rgba8unorm")
places = g.import_array("corners", corners, as_buffer=True)
g.raster(
    "panel", PANEL, color=picture, load="load", blend="alpha", vertices=MOST,
    corners=places, font=letters, linear=rg.Sampler("linear"),
)  # fmt: skip
g.root(picture)


def update(number: int) -> dict[str, object]:
    inputs = {"corners": listed(), "font": font()}
    return {"inputs": inputs, "params": {"light": {"radius": state["radius"]}}}


def pointer(event: dict[str, Any]) -> None:
    """Tell ImGui about the pointer."""
    io.add_mouse_pos_event(event["x"], event["y"])
    if event["event_type"] != "pointer_move":
        io.add_mouse_button_event(0, event["event_type"] == "pointer_down")


viewer = rg.show(g, update=update, frames=int(sys.argv[1]) if len(sys.argv) > 1 else None, wait=False)
viewer.canvas.add_event_handler(pointer, "pointer_move", "pointer_down", "pointer_up")
if __name__ == "__main__":
    viewer.run()
