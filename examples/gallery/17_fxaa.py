"""FXAA in its simplest form: where neighbours differ in brightness, a shader mixes a texel along the edge."""

import numpy as np

import rgraph as rg

SCENE = """
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let inside = p.y > 20.0 + p.x * 0.4 && distance(p.xy, vec2(44.0, 68.0)) > 18.0;
    return vec4(select(vec3(0.1, 0.1, 0.3), vec3(1.0, 0.8, 0.3), inside), 1.0);
}"""
FXAA = """
@group(0) @binding(0) var scene: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
fn luma(at: vec2<f32>) -> f32 { return dot(textureSample(scene, smooth_sampler, at).rgb, vec3(0.3, 0.6, 0.1)); }
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let texel = 1.0 / vec2<f32>(textureDimensions(scene));
    let nw = luma(uv + texel * vec2(-1.0, -1.0)); let ne = luma(uv + texel * vec2(1.0, -1.0));
    let sw = luma(uv + texel * vec2(-1.0, 1.0)); let se = luma(uv + texel * vec2(1.0, 1.0));
    let gradient = vec2((nw + ne) - (sw + se), (nw + sw) - (ne + se));
    let least = min(abs(gradient.x), abs(gradient.y)) + 0.05;
    let along = clamp(vec2(-gradient.x, gradient.y) / least, vec2(-4.0), vec2(4.0));
    let here = textureSample(scene, smooth_sampler, uv);
    let a = textureSample(scene, smooth_sampler, uv + along * texel / 6.0);
    let b = textureSample(scene, smooth_sampler, uv - along * texel / 6.0);
    let most = max(max(nw, ne), max(sw, se));
    let contrast = most - min(min(nw, ne), min(sw, se));
    return select(here, (a + b) / 2.0, contrast > most * 0.125);
}"""

g = rg.Graph("fxaa", size=(128, 96))
scene, out = g.image("scene", format="rgba8unorm"), g.image("out", format="rgba8unorm")
g.raster("scene", SCENE, color=scene)
g.raster("fxaa", FXAA, color=out, scene=scene)
g.root(out, scene)

with rg.Device() as device:
    frame = device.run(g)
    before, after = (frame[name].numpy(copy=True)[..., 0].astype(int) for name in ("scene", "out"))
    frame["out"].save("17_fxaa.png")

assert len(np.unique(before)) == 2  # two colours, and steps between them
assert len(np.unique(after)) >= 5  # and mixtures of them
flat = np.ones_like(before, bool)
for dy in (-1, 0, 1):
    for dx in (-1, 0, 1):
        flat &= np.roll(before, (dy, dx), (0, 1)) == before
assert (after[flat][1:-1] == before[flat][1:-1]).mean() > 0.99  # flat parts stay
assert abs(after.mean() - before.mean()) < 1
