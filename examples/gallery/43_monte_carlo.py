"""Monte Carlo: a hash makes random points, atomics count them in any order, and the count gives pi."""

import numpy as np

import rgraph as rg

THROW = """
@group(0) @binding(0) var<storage, read_write> hits: array<atomic<u32>>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
fn hash(x: u32) -> u32 {
    var h = x * 747796405u + 2891336453u;
    h = ((h >> ((h >> 28u) + 4u)) ^ h) * 277803737u;
    return (h >> 22u) ^ h;
}
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var inside = 0u;
    for (var n = 0u; n < 64u; n++) {
        let seed = hash((id.y * 128u + id.x) * 64u + n);
        let p = vec2(f32(seed & 0xffffu), f32(hash(seed) & 0xffffu)) / 65536.0;
        inside += u32(dot(p, p) < 1.0);
    }
    atomicAdd(&hits[0], inside);
    let corner = length(vec2<f32>(id.xy) / vec2(128.0, 96.0));
    textureStore(dst, id.xy, vec4(f32(inside) / 64.0, f32(corner < 1.0) * 0.6, 0.3, 1.0));
}"""

g = rg.Graph("pi", size=(128, 96))
hits = g.buffer("hits", shape=1, dtype="uint32")
out = g.image("out", format="rgba8unorm")
g.fill("zero", hits)
g.compute("throw", THROW, hits=hits, dst=out, groups=(16, 12))
g.root(hits, out)

with rg.Device() as device:
    frame = device.run(g)
    count, pixels = int(frame["hits"].numpy(copy=True)[0]), frame["out"].numpy(copy=True)
    frame["out"].save("43_monte_carlo.png")

throws = 128 * 96 * 64
print(4 * count / throws)
assert abs(4 * count / throws - np.pi) < 0.01  # 5 standard deviations
assert count == np.rint(pixels[..., 0] / 255 * 64).sum()  # what each texel counted is what the atomics added up
