"""Uniform or push: a pass gets small data by member names; both kinds change per run, without compiling again."""

import numpy as np

import rgraph as rg

SHADER = """
struct Look { colours: array<vec4<f32>, 3>, count: u32 }
@group(0) @binding(0) var<uniform> look: Look;
struct Push { centre: vec2<f32>, radius: f32 }
var<immediate> push: Push;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let ring = u32(distance(p.xy, push.centre) / push.radius);
    if (ring >= look.count) { return vec4(0.0, 0.0, 0.0, 1.0); }
    return look.colours[ring];
}"""

look = {"colours": [[1, 0, 0, 1], [1, 1, 0, 1], [0, 1, 0, 1]], "count": 3}
g = rg.Graph("uniform", size=(128, 96))
out = g.image("out", format="rgba8unorm")
g.raster("rings", SHADER, color=out, look=look, push={"centre": [64, 48], "radius": 14.0})
g.root(out)

with rg.Device() as device:
    compiled = device.compile(g)
    before = compiled.run()["out"].numpy(copy=True)
    frame = compiled.run(
        params={
            "rings": {"centre": [40, 48], "radius": 14.0},
            ("rings", "look"): {"colours": [[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1]], "count": 2},
        }
    )
    after = frame["out"].numpy(copy=True)
    frame["out"].save("42_uniform_and_push.png")

assert [before[48, 64 + 14 * n + 7, :3].tolist() for n in range(4)] == [
    [255, 0, 0],
    [255, 255, 0],
    [0, 255, 0],
    [0, 0, 0],
]
assert [after[48, 40 + 14 * n + 7, :3].tolist() for n in range(3)] == [[0, 0, 255], [0, 255, 255], [0, 0, 0]]
assert np.abs((before[..., 0] > 0).sum() - np.pi * 28**2) < 60
