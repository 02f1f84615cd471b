"""W15: a replay has the constants and stages of shaders, the flags, imported images, and what callbacks recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import rgraph as rg
from gpu.test_stages import CONTROL, CORNERS, EVALUATION, SHADE

# The value and the workgroup's size come from the caller.
FILL = """
override factor: f32 = 1.0;
override width: u32 = 4;
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(width) fn main(@builtin(local_invocation_index) at: u32) {
    out[at] = factor * textureLoad(picture, vec2<u32>(at, 0u), 0).r;
}
"""
GLSL = """#version 450
layout(local_size_x = 16) in;
layout(constant_id = 3) const float offset = 0.0;
layout(set = 0, binding = 0) buffer Out { float out_[]; };
void main() { out_[gl_LocalInvocationIndex] += offset; }
"""
TINT = """
override red: f32 = 0.0;
@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(red, 0.0, 0.0, 1.0); }
"""


def declared() -> rg.Graph:
    g = rg.Graph("stages")
    g.import_image("given", (16, 1), "r32float")
    g.root(g.buffer("out", 64))
    g.root(g.image("patch", (16, 16), "rgba8unorm"))
    g.root(g.image("tint", (4, 4), "rgba8unorm"))
    g.root(g.image("back", (4, 4), "rgba8unorm"))
    g.compute("fill", FILL, picture="given", out="out", groups=1, constants={"factor": 2.5, "width": 16})
    g.compute("add", GLSL, Out="out", groups=1, constants={3: 0.25}, conditional="added")
    shader = (CORNERS, CONTROL, EVALUATION, SHADE)
    g.raster("draw", shader, color="patch", clear=(0, 0, 0, 0), vertices=4, patch_vertices=4)
    g.raster("paint", TINT, color="tint", constants={"red": 0.6})
    calls = [0]

    def record(commands: rg.Commands) -> None:
        calls[0] += 1
        commands.draw(TINT, constants={"red": 0.2 * calls[0]})

    g.callback("late", record, color="back")
    return g


def test_constants_stages_flags_and_imported_images_are_replayed(device: rg.Device, tmp_path: Path) -> None:
    path = tmp_path / "stages.rcapture"
    compiled = device.compile(declared())
    capture = compiled.capture(path, frames=2)
    left = []
    for frame, added in enumerate((True, False)):
        picture = np.arange(16, dtype=np.float32)[None, :] + frame
        results = compiled.run(inputs={"given": picture}, flags={"added": added})
        out = np.array(results["out"]).view(np.float32)
        np.testing.assert_array_equal(out, 2.5 * picture[0] + (0.25 if added else 0.0))
        assert np.asarray(results["patch"])[8, 8].tolist() != [0, 0, 0, 0]
        assert np.asarray(results["tint"])[0, 0].tolist() == [153, 0, 0, 255]
        left.append(np.asarray(results["back"])[0, 0].tolist())
    assert left == [[51, 0, 0, 255], [102, 0, 0, 255]], "the callback's constants change from run to run"
    assert capture.done
    for anew in (False, True):
        report = device.replay(path, anew=anew)
        assert report.equal, report.text
