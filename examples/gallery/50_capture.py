"""Capture: one file holds some runs with their inputs and results; a replay runs them again and compares."""

from pathlib import Path

import numpy as np

import rgraph as rg

STIR = """
@group(0) @binding(0) var before: texture_2d<f32>;
@group(0) @binding(1) var next: texture_storage_2d<rgba8unorm, write>;
var<immediate> turn: f32;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = vec2<f32>(id.xy) - vec2(64.0, 48.0);
    let angle = turn * exp(-dot(p, p) / 900.0);
    let q = vec2(p.x * cos(angle) - p.y * sin(angle), p.x * sin(angle) + p.y * cos(angle)) + vec2(64.0, 48.0);
    let at = clamp(vec2<i32>(round(q)), vec2(0), vec2(127, 95));
    textureStore(next, id.xy, textureLoad(before, at, 0));
}"""

y, x = np.mgrid[:96, :128]
first = np.zeros((96, 128, 4), np.uint8)
first[..., 0], first[..., 1], first[..., 3] = 255 * (x // 16 % 2), 255 * (y // 16 % 2), 255

g = rg.Graph("stir", size=(128, 96))
cup = g.image("cup", format="rgba8unorm")
g.compute("stir", STIR, before=cup.previous(first_frame=first), next=cup, push=0.0)
g.root(cup)

with rg.Device() as device:
    compiled = device.compile(g)
    compiled.run(params={"stir": 0.5}).wait()
    compiled.capture("50_capture.rcapture", frames=3)
    for turn in (0.8, 0.6, 0.4):
        frame = compiled.run(params={"stir": turn})
    stirred = frame["cup"].numpy(copy=True)
    frame["cup"].save("50_capture.png")
    report = device.replay("50_capture.rcapture")

assert Path("50_capture.rcapture").stat().st_size > 0
assert report.equal
assert (stirred[:4, :4] == first[:4, :4]).all()  # far from the spoon nothing moves
assert stirred[48, 64].tolist() == first[48, 64].tolist()  # nor at its middle
assert (stirred[30:66, 40:90] != first[30:66, 40:90]).any(axis=-1).mean() > 0.3
