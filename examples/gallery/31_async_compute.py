"""Async compute: a simulation runs at the same time as the drawing, on another queue where the device has one."""

import numpy as np

import rgraph as rg

WAVES = """
@group(0) @binding(0) var heights: texture_storage_2d<r32float, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(heights, id.xy, vec4(sin(f32(id.x) * 0.2) * cos(f32(id.y) * 0.3), 0.0, 0.0, 0.0));
}"""
SKY = """
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    return vec4(0.3, 0.5, 0.5 + 0.5 * uv.y, 1.0);
}"""
BOTH = """
@group(0) @binding(0) var sky: texture_2d<f32>;
@group(0) @binding(1) var heights: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<i32>(p.xy);
    return textureLoad(sky, at, 0) * (0.75 + 0.25 * textureLoad(heights, at, 0).r);
}"""

g = rg.Graph("async", size=(128, 96))
heights, sky = g.image("heights", format="r32float"), g.image("sky", format="rgba8unorm")
out = g.image("out", format="rgba8unorm")
g.compute("waves", WAVES, heights=heights, queue="async_compute", weight_us=300)
g.raster("sky", SKY, color=sky, weight_us=300)
g.raster("both", BOTH, color=out, sky=sky, heights=heights)
g.root(out)

# Planning needs no device: where there are three queues the waves have one of their own, and the frame waits for it.
plan = g.bake("discrete")
assert {p.name: p.queue for p in plan.passes} == {"waves": "compute", "sky": "graphics", "both": "graphics"}
waits = [wait for batch in plan.batches for wait in batch.waits if not wait.previous_run]
assert [wait.queue for wait in waits] == ["compute"]
assert {p.queue for p in g.bake("single_queue").passes} == {"graphics"}

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True).astype(int)
    frame["out"].save("31_async_compute.png")

y, x = np.mgrid[:96, :128]
waves = 0.75 + 0.25 * np.sin(x * 0.2) * np.cos(y * 0.3)
assert np.abs(pixels[..., 0] - 0.3 * 255 * waves).max() <= 2
assert np.abs(pixels[..., 2] - (0.5 + 0.5 * (y + 0.5) / 96) * 255 * waves).max() <= 2
