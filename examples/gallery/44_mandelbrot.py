"""Mandelbrot set: one compute pass runs as many workgroups as its image needs."""

import numpy as np

import rgraph as rg

SHADER = """
struct View { centre: vec2<f32>, width: f32 }
var<immediate> view: View;
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = vec2<f32>(textureDimensions(dst));
    let c = view.centre + (vec2<f32>(id.xy) + 0.5 - size / 2.0) * view.width / size.x;
    var z = vec2(0.0);
    var n = 0;
    for (; n < 200 && dot(z, z) < 4.0; n++) { z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c; }
    let t = f32(n) / 8.0;
    let colour = 0.5 + 0.5 * cos(vec3(t, t + 0.6, t + 1.2) + 3.0);
    textureStore(dst, id.xy, vec4(select(colour, vec3(0.0), n == 200), 1.0));
}"""

g = rg.Graph("mandelbrot", size=(128, 96))
out = g.image("out", format="rgba8unorm")
g.compute("iterate", SHADER, dst=out, push={"centre": [-0.6, 0.0], "width": 3.2})
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("44_mandelbrot.png")

y, x = np.mgrid[:96, :128] + 0.5
c = -0.6 + (x - 64) * 3.2 / 128 + 1j * (y - 48) * 3.2 / 128
z = np.zeros_like(c)
for _ in range(200):
    z = np.where(np.abs(z) < 2, z * z + c, z)
inside = np.abs(z) < 2
black = (pixels[..., :3] == 0).all(axis=-1)
assert (black == inside).mean() > 0.995
assert black[48, 64]
assert (pixels == pixels[::-1]).mean() > 0.99  # it is its own mirror image
