"""Persistent state: a sum grows from frame to frame; the host sets it, and resets it to its first value."""

import numpy as np

import rgraph as rg

ADD = """
@group(0) @binding(0) var sum: texture_storage_2d<r32float, read_write>;
var<immediate> frame: u32;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let ring = abs(distance(vec2<f32>(id.xy), vec2(64.0, 48.0)) - f32(frame) * 6.0);
    textureStore(sum, id.xy, textureLoad(sum, id.xy) + vec4(f32(ring < 1.5)));
}"""
SHOW = """
@group(0) @binding(0) var sum: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4(vec3(0.2, 0.8, 1.0) * textureLoad(sum, vec2<i32>(p.xy), 0).r, 1.0);
}"""

g = rg.Graph("state", size=(128, 96))
total = g.image("total", format="r32float", persistent=True)
out = g.image("out", format="rgba8unorm")
g.compute("add", ADD, sum=total, push=0)
g.raster("show", SHOW, color=out, sum=total)
g.root(out, total)


def run(compiled: rg.Compiled, frames: int) -> rg.Frame:
    """Some frames; the last one."""
    for n in range(frames):
        frame = compiled.run(params={"add": n})
    return frame


with rg.Device() as device:
    compiled = device.compile(g)
    frame = run(compiled, 8)
    first = frame["total"].numpy(copy=True)[..., 0]
    frame["out"].save("35_persistent_state.png")
    compiled.set("total", np.full((96, 128, 1), 100, np.float32))
    second = run(compiled, 8)["total"].numpy(copy=True)[..., 0]
    compiled.reset()
    third = run(compiled, 8)["total"].numpy(copy=True)[..., 0]

y, x = np.mgrid[:96, :128]
away = np.hypot(x - 64, y - 48)
expected = sum((np.abs(away - 6 * n) < 1.5).astype(int) for n in range(8))
assert np.abs(first - expected).max() <= 1
assert (first == expected).mean() > 0.999
assert (second == first + 100).all()
assert (third == first).all()
