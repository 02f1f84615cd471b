"""Particles: a persistent buffer has positions and speeds; each frame moves the particles and draws them as points."""

import numpy as np

import rgraph as rg

MOVE = """
struct Particle { at: vec2<f32>, speed: vec2<f32> }
@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&particles)) { return; }
    particles[id.x].speed.y += 0.001;
    particles[id.x].at += particles[id.x].speed;
}"""
DRAW = """
struct Particle { at: vec2<f32>, speed: vec2<f32> }
@group(0) @binding(0) var<storage, read> particles: array<Particle>;
struct Point { @builtin(position) clip: vec4<f32>, @location(0) colour: vec3<f32> }
@vertex fn vs(@builtin(vertex_index) i: u32) -> Point {
    let p = particles[i];
    return Point(vec4(p.at, 0.0, 1.0), vec3(1.0, 0.3 + p.speed.y * 20.0, 0.1));
}
@fragment fn fs(p: Point) -> @location(0) vec4<f32> { return vec4(p.colour, 1.0); }"""

random = np.random.default_rng(1)
angle, speed = random.uniform(-0.6, 0.6, 2000), random.uniform(0.02, 0.045, 2000)
first = np.stack([0 * angle, 0.8 + 0 * angle, speed * np.sin(angle), -speed * np.cos(angle)], axis=-1).astype(
    np.float32
)

g = rg.Graph("particles", size=(128, 96))
particles = g.buffer("particles", shape=first.shape, dtype="float32", persistent=first)
out = g.image("out", format="rgba8unorm")
g.compute("move", MOVE, particles=particles, groups=32)
g.raster("draw", DRAW, color=out, clear=(0, 0, 0.05, 1), particles=particles, topology="points", vertices=len(first))
g.root(out, particles)

with rg.Device() as device:
    compiled = device.compile(g)
    for _ in range(30):
        frame = compiled.run()
    pixels, state = frame["out"].numpy(copy=True), frame["particles"].numpy(copy=True)
    frame["out"].save("19_particles.png")

# After n steps: at + n speed + g n (n + 1) / 2.
expected = first[:, :2] + 30 * first[:, 2:] + [0, 0.001 * 30 * 31 / 2]
assert np.allclose(state[:, :2], expected, atol=1e-4)
inside = np.abs(expected).max(axis=1) < 0.95
texels = ((expected[inside] + 1) / 2 * [128, 96]).astype(int)
assert (pixels[texels[:, 1], texels[:, 0], 0] > 0).mean() > 0.98
