"""Frames in flight: eight runs are submitted before the first result is read; each frame keeps its own results."""

import numpy as np

import rgraph as rg

SPIRAL = """
var<immediate> time: f32;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let p = uv - 0.5;
    let wave = sin(20.0 * length(p) + 3.0 * atan2(p.y, p.x) - time);
    return vec4(0.5 + 0.5 * wave, time / 8.0, 0.4, 1.0);
}"""

g = rg.Graph("flight", size=(64, 48))
out = g.image("out", format="rgba8unorm")
g.raster("spiral", SPIRAL, color=out, push=0.0)
g.root(out)

with rg.Device(frames_in_flight=4) as device:
    compiled = device.compile(g)
    frames = [compiled.run(params={"spiral": float(n)}) for n in range(8)]  # returns when submitted
    pictures = [frame["out"].numpy(copy=True) for frame in frames]  # reading waits for its frame alone

sheet = np.concatenate([np.concatenate(pictures[n : n + 4], axis=1) for n in (0, 4)])
for n, picture in enumerate(pictures):
    assert abs(int(picture[0, 0, 1]) - 255 * n / 8) <= 1
    y, x = (np.mgrid[:48, :64] + 0.5) / np.array([48, 64]).reshape(2, 1, 1) - 0.5
    wave = np.sin(20 * np.hypot(x, y) + 3 * np.arctan2(y, x) - n)
    assert np.abs(picture[..., 0] - 255 * (0.5 + 0.5 * wave)).max() < 3

h = rg.Graph("sheet")
h.root(h.blit("keep", h.import_array("sheet", sheet), h.image("shown", (256, 96), "rgba8unorm")) and "shown")
with rg.Device() as device:
    device.run(h)["shown"].save("39_frames_in_flight.png")
