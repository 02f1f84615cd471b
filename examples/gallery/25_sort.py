"""Sort: Batcher's bitonic network sorts one buffer in place, with a pass for each step."""

import numpy as np

import rgraph as rg

STEP = """
@group(0) @binding(0) var<storage, read_write> keys: array<u32>;
struct Step { block: u32, distance: u32 }
var<immediate> step: Step;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let low = (id.x / step.distance) * step.distance * 2u + id.x % step.distance;
    let high = low + step.distance;
    let a = keys[low];
    let b = keys[high];
    if ((a > b) == ((low & step.block) == 0u)) {
        keys[low] = b;
        keys[high] = a;
    }
}"""
SHOW = """
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let height = f32(keys[u32(uv.x * f32(arrayLength(&keys)))]) / 65536.0;
    return vec4(vec3(0.9, 0.3 + 0.6 * uv.x, 0.4) * f32(1.0 - uv.y < height), 1.0);
}"""

COUNT = 4096
keys = np.random.default_rng(6).integers(0, 65536, COUNT, dtype=np.uint32)

g = rg.Graph("sort", size=(128, 96))
unsorted = g.import_array("unsorted", keys, as_buffer=True)
ordered = g.buffer("sorted", shape=COUNT, dtype="uint32")
out = g.image("out", format="rgba8unorm")
g.copy("copy", unsorted, ordered)
block = 2
while block <= COUNT:
    distance = block // 2
    while distance:
        push = {"block": block, "distance": distance}
        g.compute(f"{block}, {distance}", STEP, keys=ordered, push=push, groups=COUNT // 128)
        distance //= 2
    block *= 2
g.raster("show", SHOW, color=out, keys=ordered)
g.root(out, ordered)

with rg.Device() as device:
    frame = device.run(g)
    result, pixels = frame["sorted"].numpy(copy=True), frame["out"].numpy(copy=True)
    frame["out"].save("25_sort.png")

assert (result == np.sort(keys)).all()
assert len(g.passes) == 80
assert (np.diff((pixels[..., 0] > 0).sum(axis=0)) >= 0).all()
