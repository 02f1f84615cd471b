"""Jump flooding: log2(n) passes find the nearest seed of each texel, and from it distances and a Voronoi diagram."""

import numpy as np

import rgraph as rg

FLOOD = """
@group(0) @binding(0) var src: texture_2d<i32>;
@group(0) @binding(1) var dst: texture_storage_2d<rg32sint, write>;
var<immediate> jump: i32;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let here = vec2<i32>(id.xy);
    var best = vec2(-1);
    var least = 1.0e9;
    for (var n = 0; n < 9; n++) {
        let at = here + vec2(n % 3 - 1, n / 3 - 1) * jump;
        if (any(at < vec2(0)) || any(at >= vec2(128, 96))) { continue; }
        let seed = textureLoad(src, at, 0).rg;
        let away = distance(vec2<f32>(seed), vec2<f32>(here));
        if (seed.x >= 0 && away < least) { best = seed; least = away; }
    }
    textureStore(dst, here, vec4(best, 0, 0));
}"""
SHOW = """
@group(0) @binding(0) var nearest: texture_2d<i32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let seed = vec2<f32>(textureLoad(nearest, vec2<i32>(p.xy), 0).rg);
    let colour = 0.5 + 0.5 * sin(vec3(seed.x, seed.y * 1.7, seed.x + seed.y));
    return vec4(colour * (1.0 - distance(seed, floor(p.xy)) / 40.0), 1.0);
}"""

points = np.random.default_rng(9).integers([0, 0], [128, 96], (24, 2))
seeds = np.full((96, 128, 2), -1, np.int32)
seeds[points[:, 1], points[:, 0]] = points

g = rg.Graph("flood", size=(128, 96))
now = g.import_array("seeds", seeds, format="rg32sint")
for jump in (64, 32, 16, 8, 4, 2, 1, 1):
    then = g.image(f"nearest {len(g.passes)}", format="rg32sint")
    g.compute(f"jump {len(g.passes)}", FLOOD, src=now, dst=then, push=jump)
    now = then
out = g.image("out", format="rgba8unorm")
g.raster("show", SHOW, color=out, nearest=now)
g.root(out, now)

with rg.Device() as device:
    frame = device.run(g)
    nearest = frame[now].numpy(copy=True)
    frame["out"].save("46_jump_flood.png")

y, x = np.mgrid[:96, :128]
exact = np.hypot(x[..., None] - points[:, 0], y[..., None] - points[:, 1]).min(axis=-1)
found = np.hypot(x - nearest[..., 0], y - nearest[..., 1])
assert (np.abs(found - exact) < 1e-3).mean() > 0.998
