"""W15: every kind of work is captured and replayed bit for bit: rare stages, indirect work, transfers, attachments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import MESH as VERTICES
from gpu.shaders import SCALE
from gpu.test_stages import MESH, POINTS, QUADS, SHADE, TASK, places

FLAT = """
@group(0) @binding(0) var<uniform> color: vec4<f32>;
@vertex fn vs(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.5, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return color; }
"""
KINDS: dict[str, Callable[[rg.Graph], object]] = {}


def kind(declare: Callable[[rg.Graph], object]) -> Callable[[rg.Graph], object]:
    KINDS[declare.__name__] = declare
    return declare


def picture(g: rg.Graph, name: str = "out", size: tuple[int, int] = (16, 16), **how: object) -> rg.Image:
    image = g.image(name, size, "rgba8unorm", **how)
    if "samples" not in how and name == "out":
        g.root(image)
    return image


def numbers(g: rg.Graph, name: str, values: list[int]) -> rg.Buffer:
    return g.import_array(name, np.array(values, np.uint32), as_buffer=True)


@kind
def mesh(g: rg.Graph) -> None:
    given = g.import_array("places", places(), as_buffer=True)
    g.raster("draw", (MESH, SHADE), color=picture(g), clear=(0, 0, 0, 0), groups=2, Places=given)


@kind
def task(g: rg.Graph) -> None:
    given = g.import_array("places", places(), as_buffer=True)
    g.raster("draw", (TASK, MESH, SHADE), color=picture(g), clear=(0, 0, 0, 0), groups=1, Places=given)


@kind
def geometry(g: rg.Graph) -> None:
    given = g.import_array("places", places(), as_buffer=True)
    size = g.import_array("sizes", np.array([0.25, 0.25], np.float32), as_buffer=True)
    shader = (POINTS, QUADS, SHADE)
    bound = {"Places": given, "Sizes": size}
    g.raster("draw", shader, color=picture(g), clear=(0, 0, 0, 0), vertices=2, topology="points", **bound)


@kind
def indexed_instances(g: rg.Graph) -> None:
    corners = np.array([[-1, -1, 0.2, 1, 0, 0, 1], [1, -1, 0.2, 0, 1, 0, 1], [-1, 1, 0.2, 0, 0, 1, 1]], np.float32)
    mesh, index = g.import_array("mesh", corners, as_buffer=True), numbers(g, "index", [0, 1, 2])
    buffers = [{"buffer": mesh, "attributes": ["position", "depth", "colour"], "stride": 28}]
    out = picture(g)
    g.raster("draw", VERTICES, color=out, clear=(0, 0, 0, 0), vertex_buffers=buffers, index=index, instances=2)


@kind
def indirect(g: rg.Graph) -> None:
    draws = numbers(g, "draws", [3, 1, 0, 0])
    g.raster("draw", FLAT, color=picture(g), clear=(0, 0, 0, 0), indirect=draws, bindings={"color": (0, 1, 0, 1)})
    g.root(g.buffer("sums", 256))
    bound = {"src": numbers(g, "src", list(range(64))), "dst": "sums", "params": {"factor": 3, "offset": 1}}
    g.compute("scale", SCALE, groups=numbers(g, "groups", [1, 1, 1]), key=7, **bound)


@kind
def transfers(g: rg.Graph) -> None:
    source = g.import_array("given", np.arange(1024, dtype=np.uint8).reshape(16, 16, 4))
    half, parts = picture(g, "half", (8, 8)), g.buffer("parts", 512)
    g.blit("blit", source, half)
    g.copy("rows", half, parts[0:256])
    g.fill("rest", parts[256:512], 0xABCD)
    g.clear("clear", picture(g), (0.2, 0.4, 0.6, 1.0))
    g.root(half, parts)


@kind
def samples_depth_stencil_mips(g: rg.Graph) -> None:
    many, depth = picture(g, "many", samples=4), g.image("depth", (16, 16), "depth32float-stencil8", samples=4)
    half = {"viewport": (0, 0, 8, 16)}
    stencil = {"compare": "always", "pass": "replace", "reference": 1}
    colors = {"color": many, "depth": depth, "resolve": picture(g)}
    g.raster(
        "mark",
        FLAT,
        clear=(1, 0, 0, 1),
        clear_depth=(1.0, 0),
        stencil=stencil,
        bindings={"color": (0, 1, 0, 1)},
        **half,
        **colors,
    )
    chain = g.image("chain", (16, 16), "rgba8unorm", mips="full")

    def record(commands: rg.Commands) -> None:
        commands.draw(FLAT, viewport=(0, 0, 4, 16), bindings={"color": (0, 0, 1, 1)})

    g.callback("mips", record).color(chain, clear=(1, 1, 0, 1), mips=0, generate_mips=True)
    last = g.image("last", (1, 1), "rgba8unorm")
    g.copy("copy", chain.mip(4), last)
    g.root(last)


@kind
def subpasses(g: rg.Graph) -> None:
    read = """#version 450
    layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
    layout(location = 0) out vec4 color;
    void main() { color = subpassLoad(before).bgra; }"""
    first = picture(g, "first")
    g.raster("draw", FLAT, color=first, clear=(1, 0, 0, 1), viewport=(0, 0, 8, 8), bindings={"color": (0, 1, 0, 1)})
    g.raster("swap", read, color=picture(g), before=first)


@kind
def volumes_layers_and_chosen_memory(g: rg.Graph) -> None:
    volume = g.image("volume", (4, 4, 4), "rgba8unorm")
    layered = g.image("layered", (4, 4), "rgba8unorm", layers=3)
    fill = """
    @group(0) @binding(0) var deep: texture_storage_3d<rgba8unorm, write>;
    @group(0) @binding(1) var flat_: texture_storage_2d_array<rgba8unorm, write>;
    @compute @workgroup_size(4, 4, 1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let color = vec4<f32>(vec3<f32>(id) / 4.0, 1.0);
        textureStore(deep, id, color);
        if (id.z < 3u) { textureStore(flat_, id.xy, id.z, color.bgra); }
    }"""
    g.compute("fill", fill, groups=(1, 1, 4), deep=volume, flat_=layered)
    kept = g.buffer("kept", 64, persistent=True, memory_domain="host")
    add = """@group(0) @binding(0) var<storage, read_write> kept: array<u32>;
             @compute @workgroup_size(16)
             fn main(@builtin(global_invocation_id) id: vec3<u32>) { kept[id.x] += id.x; }"""
    g.compute("add", add, groups=1, kept=kept)
    g.root(volume, layered, kept)


@kind
def packets_fresh_and_late(g: rg.Graph) -> None:
    out, scratch = picture(g), g.image("scratch", (16, 16), "rgba8unorm", fresh=True)
    g.raster("base", FLAT, color=out, clear=(0, 0, 0, 0), bindings={"color": (0.1, 0, 0, 0)})
    for at, key in enumerate((9, 2, 5)):
        color = {"bindings": {"color": (0.1 * at, 0.2, 0, 0)}}
        g.raster(f"add {at}", FLAT, color=out, load="load", blend="add", key=key, unordered=True, **color)
    g.clear("own", scratch, (0, 1, 0, 1))
    g.root(scratch)


@pytest.mark.parametrize("name", KINDS)
def test_w15_work_of_every_kind_is_replayed(device: rg.Device, tmp_path: Path, name: str) -> None:
    g = rg.Graph(name, size=(16, 16))
    KINDS[name](g)
    try:
        compiled = device.compile(g)
    except rg.GraphError as error:
        if name in ("mesh", "task") and "VK_EXT_mesh_shader" in str(error):
            pytest.skip("no mesh shaders on this device")
        raise
    path = tmp_path / "kinds.rcapture"
    with compiled.capture(path, frames=2):
        left = [{root: np.array(frame[root]) for root in frame} for frame in (compiled.run(), compiled.run())]
    assert any(array.any() for array in left[1].values()), "something was drawn"
    for anew in (False, True):
        report = device.replay(path, anew=anew)
        assert report.equal, report.text
        assert len(report.graphs) == 2
