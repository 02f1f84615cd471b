"""Histogram: workgroups count in their own memory and add their counts with atomics, in any order."""

import numpy as np

import rgraph as rg

COUNT = """
@group(0) @binding(0) var photo: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 64>;
var<workgroup> local: array<atomic<u32>, 64>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) n: u32) {
    if (all(id.xy < textureDimensions(photo))) {
        atomicAdd(&local[u32(textureLoad(photo, id.xy, 0).r * 255.0 + 0.5) / 4u], 1u);
    }
    workgroupBarrier();
    atomicAdd(&bins[n], atomicLoad(&local[n]));
}"""
BARS = """
@group(0) @binding(0) var<storage, read> bins: array<u32, 64>;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let height = f32(bins[u32(uv.x * 64.0)]) / 800.0;
    return vec4(select(vec3(0.08), vec3(1.0, 0.75, 0.2), 1.0 - uv.y < height), 1.0);
}"""

random = np.random.default_rng(5)
light = np.concatenate([random.normal(80, 20, 8000), random.normal(190, 12, 4288)])
photo = np.clip(light, 0, 255).astype(np.uint8).reshape(96, 128, 1)

g = rg.Graph("histogram", size=(128, 96))
bins = g.buffer("bins", shape=64, dtype="uint32")
out = g.image("out", format="rgba8unorm")
g.fill("zero", bins)
g.compute("count", COUNT, photo=g.import_array("photo", photo), bins=bins, groups=(16, 12))
g.raster("bars", BARS, color=out, bins=bins)
g.root(out, bins)

with rg.Device() as device:
    frame = device.run(g)
    counts, pixels = frame["bins"].numpy(copy=True), frame["out"].numpy(copy=True)
    frame["out"].save("24_histogram.png")

assert (counts == np.bincount(photo.ravel() // 4, minlength=64)).all()
heights = (pixels[:, ::2, 0] == 255).sum(axis=0)
assert np.abs(heights - np.minimum(counts / 800 * 96, 96)).max() <= 1
