"""Lines and blending: three draws add Lissajous curves as line strips to one image."""

import numpy as np

import rgraph as rg

SHADER = """
struct Curve { colour: vec4<f32>, a: f32, b: f32 }
var<immediate> curve: Curve;
@vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    let t = f32(i) / 200.0 * 6.2831853;
    return vec4(0.9 * sin(curve.a * t), 0.9 * sin(curve.b * t + 0.5), 0.0, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return curve.colour; }"""
CURVES = [([1, 0, 0, 1], 3.0, 2.0), ([0, 1, 0, 1], 1.0, 2.0), ([0, 0, 1, 1], 5.0, 4.0)]

g = rg.Graph("lines", size=(128, 96))
out = g.image("out", format="rgba8unorm")
for n, (colour, a, b) in enumerate(CURVES):
    g.raster(
        f"curve {n}", SHADER, color=out, topology="line_strip", vertices=201, blend="add",
        push={"colour": colour, "a": a, "b": b}, clear=(0, 0, 0, 1) if n == 0 else None,
    )  # fmt: skip
g.root(out)
assert len({p.physical_pass for p in g.bake().passes}) == 1  # three passes, one render pass

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("47_lines_and_blending.png")

for channel, (_, a, b) in enumerate(CURVES):
    t = np.arange(200) / 200 * 2 * np.pi
    x, y = 64 + 57.6 * np.sin(a * t), 48 + 43.2 * np.sin(b * t + 0.5)
    wide = np.zeros((98, 130), bool)
    for dy in range(3):
        for dx in range(3):
            wide[dy : dy + 96, dx : dx + 128] |= pixels[..., channel] == 255
    assert wide[(y + 1).astype(int), (x + 1).astype(int)].all()  # every point is on a line, or beside one
assert set(np.unique(pixels[..., :3])) == {0, 255}
