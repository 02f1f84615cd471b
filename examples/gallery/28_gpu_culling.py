"""Culling on the GPU: a compute pass keeps the discs that overlap a window, and the draw shows only those."""

import numpy as np

import rgraph as rg

CULL = """
struct Draw { vertices: u32, instances: atomic<u32>, first_vertex: u32, first_instance: u32 }
@group(0) @binding(0) var<storage, read> discs: array<vec3<f32>>; // x, y, radius
@group(0) @binding(1) var<storage, read_write> draw: Draw;
@group(0) @binding(2) var<storage, read_write> kept: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&discs)) { return; }
    let disc = discs[id.x];
    let away = max(abs(disc.xy) - vec2(0.5), vec2(0.0)); // from the window of half the picture
    if (dot(away, away) < disc.z * disc.z) { kept[atomicAdd(&draw.instances, 1u)] = id.x; }
}"""
DRAW = """
@group(0) @binding(0) var<storage, read> discs: array<vec3<f32>>;
@group(0) @binding(1) var<storage, read> kept: array<u32>;
struct Point { @builtin(position) clip: vec4<f32>, @location(0) at: vec2<f32>, @location(1) colour: vec3<f32> }
@vertex fn vs(@builtin(vertex_index) i: u32, @builtin(instance_index) n: u32) -> Point {
    let disc = discs[kept[n]];
    let right = f32(i == 1u || i == 4u || i == 5u);
    let corner = vec2(right, f32(i == 2u || i == 3u || i == 5u)) * 2.0 - 1.0;
    let colour = vec3(f32(kept[n] % 7u) / 7.0, f32(kept[n] % 5u) / 5.0, 1.0);
    return Point(vec4(disc.xy + corner * disc.z, 0.0, 1.0), corner, colour);
}
@fragment fn fs(p: Point) -> @location(0) vec4<f32> {
    if (length(p.at) > 1.0) { discard; }
    return vec4(p.colour, 1.0);
}"""

random = np.random.default_rng(7)
discs = np.zeros((3000, 4), np.float32)
discs[:, :2], discs[:, 2] = random.uniform(-2, 2, (3000, 2)), random.uniform(0.01, 0.05, 3000)
first = np.array([6, 0, 0, 0], np.uint32)

g = rg.Graph("culling", size=(96, 96))
source = g.import_array("discs", discs, as_buffer=True)
draw, kept = g.buffer("draw", shape=4, dtype="uint32"), g.buffer("kept", 4 * len(discs))
out = g.image("out", format="rgba8unorm")
g.copy("first", g.import_array("none yet", first, as_buffer=True), draw)
g.compute("cull", CULL, discs=source, draw=draw, kept=kept, groups=47)
g.raster("draw", DRAW, color=out, clear=(0, 0, 0, 1), discs=source, kept=kept, indirect=draw)
g.root(out, draw)

with rg.Device() as device:
    frame = device.run(g)
    drawn, pixels = int(frame["draw"].numpy(copy=True)[1]), frame["out"].numpy(copy=True)
    frame["out"].save("28_gpu_culling.png")

away = np.maximum(np.abs(discs[:, :2]) - 0.5, 0)
assert drawn == ((away**2).sum(axis=1) < discs[:, 2] ** 2).sum()
assert (pixels[:15, :, 2] == 0).all()  # further from the window than any disc is wide
assert (pixels[30:66, 30:66, 2] == 255).mean() > 0.2
