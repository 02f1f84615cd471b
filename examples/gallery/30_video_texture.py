"""Video as a texture: each run takes the next picture of a video as an input, and draws it on a tilted screen."""

import numpy as np

import rgraph as rg

SHADER = """
@group(0) @binding(0) var film: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
struct Point { @builtin(position) clip: vec4<f32>, @location(0) uv: vec2<f32> }
@vertex fn vs(@builtin(vertex_index) i: u32) -> Point {
    let uv = vec2(f32(i & 1u), f32(i >> 1u));
    let near = 1.0 + 0.8 * uv.x; // the right side is further away
    return Point(vec4((uv - 0.5) * 1.9, 0.0, near), uv);
}
@fragment fn fs(p: Point) -> @location(0) vec4<f32> { return textureSample(film, smooth_sampler, p.uv); }"""


def picture(n: int) -> np.ndarray:
    """A picture of the film: a bar that moves to the right."""
    made = np.full((48, 64, 4), [20, 40, 90, 255], np.uint8)
    made[:, 4 * n : 4 * n + 8, :3] = [255, 200, 40]
    return made


g = rg.Graph("video", size=(128, 96))
film = g.import_image("film", (64, 48), "rgba8unorm")
out = g.image("out", format="rgba8unorm")
g.raster("screen", SHADER, color=out, clear=(0, 0, 0, 1), film=film, topology="triangle_strip", vertices=4)
g.root(out)

seen = []
with rg.Device() as device:
    compiled = device.compile(g)
    for n in range(12):
        frame = compiled.run(inputs={"film": picture(n)})
        bright = np.asarray(frame["out"])[48, :, 0] > 200
        seen.append(float(np.flatnonzero(bright).mean()))
    frame["out"].save("30_video_texture.png")

# Perspective: a point at u of the screen stands at (u - 0.5) 1.9 / (1 + 0.8 u) of the picture's half.
u = (4 * np.arange(12) + 4) / 64
assert np.abs(seen - (64 + 64 * (u - 0.5) * 1.9 / (1 + 0.8 * u))).max() < 1.5
