"""Reaction and diffusion: two chemicals react as in Gray and Scott's model, many steps per frame; numpy checks them."""

import numpy as np

import rgraph as rg

STEP = """
@group(0) @binding(0) var before: texture_2d<f32>;
@group(0) @binding(1) var result: texture_storage_2d<rg32float, write>;
fn at(p: vec2<i32>) -> vec2<f32> { return textureLoad(before, (p + vec2(128, 96)) % vec2(128, 96), 0).rg; }
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = vec2<i32>(id.xy);
    let c = at(p);
    let near = at(p + vec2(1, 0)) + at(p - vec2(1, 0)) + at(p + vec2(0, 1)) + at(p - vec2(0, 1)) - 4.0 * c;
    let made = c.x * c.y * c.y;
    let next = c + vec2(0.2, 0.1) * near + vec2(0.035 * (1.0 - c.x) - made, made - 0.1 * c.y);
    textureStore(result, p, vec4(next, 0.0, 0.0));
}"""
SHOW = """
@group(0) @binding(0) var state: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let c = textureLoad(state, vec2<i32>(p.xy), 0).rg;
    return vec4(c.x, 1.0 - 2.0 * c.y, 1.0 - c.x, 1.0);
}"""

first = np.zeros((96, 128, 2), np.float32)
first[..., 0] = 1
for y, x in np.random.default_rng(3).integers(8, 84, (20, 2)):
    first[y : y + 6, x : x + 6] = [0.4, 0.4]

g = rg.Graph("reaction", size=(128, 96))
state = g.image("state", format="rg32float", persistent=first)
other, out = g.image("other", format="rg32float"), g.image("out", format="rgba8unorm")
for n in range(8):  # sixteen steps per frame, to and fro
    g.compute(f"there {n}", STEP, before=state, result=other)
    g.compute(f"back {n}", STEP, before=other, result=state)
g.raster("show", SHOW, color=out, state=state)
g.root(out, state)

with rg.Device() as device:
    compiled = device.compile(g)
    for _ in range(20):
        frame = compiled.run()
    result = frame["state"].numpy(copy=True)
    frame["out"].save("22_reaction_diffusion.png")

u, v = first[..., 0].astype(np.float64), first[..., 1].astype(np.float64)


def near(c: np.ndarray) -> np.ndarray:
    """The four neighbours less four times the middle."""
    return sum(np.roll(c, step, axis) for axis in (0, 1) for step in (1, -1)) - 4 * c


for _ in range(320):
    made = u * v * v
    u, v = u + 0.2 * near(u) + 0.035 * (1 - u) - made, v + 0.1 * near(v) + made - 0.1 * v
assert np.abs(result[..., 0] - u).max() < 2e-2
assert np.abs(result[..., 1] - v).max() < 2e-2
