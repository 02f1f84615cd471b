"""SSAO: a shader counts the nearer neighbours of each texel in the depth image, and darkens it accordingly."""

import numpy as np

import rgraph as rg

DEPTH = """
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let box = all(abs(uv - 0.5) < vec2(0.2, 0.25)); // a box that stands on a wall, nearer by 0.2
    return vec4(select(0.6, 0.4, box), 0.0, 0.0, 1.0);
}"""
OCCLUSION = """
@group(0) @binding(0) var seen: texture_2d<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let size = vec2<i32>(textureDimensions(seen));
    let here = textureLoad(seen, vec2<i32>(p.xy), 0).r;
    var nearer = 0.0;
    for (var n = 0; n < 64; n++) {
        let angle = f32(n) * 2.39996; // the golden angle spreads samples over a disc
        let offset = sqrt((f32(n) + 0.5) / 64.0) * 10.0 * vec2(cos(angle), sin(angle));
        let at = clamp(vec2<i32>(p.xy + offset), vec2(0), size - 1);
        let difference = here - textureLoad(seen, at, 0).r;
        nearer += f32(difference > 0.02 && difference < 0.5);
    }
    return vec4(vec3(1.0 - nearer / 64.0), 1.0);
}"""

g = rg.Graph("ssao", size=(128, 96))
depth, out = g.image("depth", format="r32float"), g.image("out", format="rgba8unorm")
g.raster("depth", DEPTH, color=depth)
g.raster("occlusion", OCCLUSION, color=out, seen=depth)
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)[..., 0].astype(int)
    frame["out"].save("16_ssao.png")

# The box spans x 38.4 to 89.6 and y 24 to 72. On it and far from it nothing is nearer.
assert (pixels[30:66, 45:83] == 255).all()
assert (pixels[:, :27] == 255).all()
assert (pixels[:12] == 255).all()
beside = pixels[48, 30:38]  # beside a long edge almost half of the disc is nearer, and less the further away
assert abs(beside[-1] / 255 - 0.5) < 0.08
assert (np.diff(beside) <= 0).all()
