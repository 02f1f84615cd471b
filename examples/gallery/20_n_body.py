"""N-body: every body attracts every other one; workgroup memory holds one tile of bodies at a time."""

import numpy as np

import rgraph as rg

STEP = """
@group(0) @binding(0) var<storage, read> before: array<vec4<f32>>; // x, y, then their speeds
@group(0) @binding(1) var<storage, read_write> next: array<vec4<f32>>;
var<workgroup> tile: array<vec2<f32>, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var body = before[id.x];
    var pull = vec2(0.0);
    for (var first = 0u; first < arrayLength(&before); first += 64u) {
        tile[local] = before[first + local].xy;
        workgroupBarrier();
        for (var n = 0u; n < 64u; n++) {
            let way = tile[n] - body.xy;
            pull += way / pow(dot(way, way) + 0.003, 1.5);
        }
        workgroupBarrier();
    }
    let speed = body.zw + pull * 0.0000004;
    next[id.x] = vec4(body.xy + speed, speed);
}"""
DRAW = """
@group(0) @binding(0) var<storage, read> bodies: array<vec4<f32>>;
@vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4(bodies[i].xy * vec2(0.75, 1.0), 0.0, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return vec4(0.25, 0.35, 0.6, 1.0); }"""

random = np.random.default_rng(2)
angle, away = random.uniform(0, 2 * np.pi, 512), np.sqrt(random.uniform(0.02, 0.6, 512))
at = np.stack([np.cos(angle), np.sin(angle)], -1) * away[:, None]
first = np.concatenate([at, at[:, ::-1] * [-1, 1] * 0.012], -1).astype(np.float32)
first -= first.mean(axis=0)

g = rg.Graph("bodies", size=(128, 96))
bodies = g.buffer("bodies", shape=first.shape, dtype="float32")
out = g.image("out", format="rgba8unorm")
g.compute("step", STEP, before=bodies.previous(first_frame=first), next=bodies, groups=8)
g.raster("draw", DRAW, color=out, clear=(0, 0, 0, 1), blend="add", bodies=bodies, topology="points", vertices=512)
g.root(out, bodies)

with rg.Device() as device:
    compiled = device.compile(g)
    for _ in range(40):
        frame = compiled.run()
    state = frame["bodies"].numpy(copy=True).astype(float)
    frame["out"].save("20_n_body.png")

# Forces come in pairs: the sum of all speeds, and with it the middle, stays at zero.
assert np.abs(state.mean(axis=0)).max() < 1e-5
moved = np.linalg.norm(state[:, :2] - first[:, :2], axis=1)
assert 0.05 < moved.mean() < 1
