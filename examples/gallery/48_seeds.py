"""Many runs: `rgraph.batch` runs one graph with sixteen seeds; the same call works for processes and clusters."""

import numpy as np

import rgraph as rg
from rgraph import batch

PLASMA = """
var<immediate> seed: u32;
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = vec2<f32>(id.xy) / 8.0;
    let s = f32(seed);
    let v = sin(p.x + s) + sin(p.y * 0.7 + 1.3 * s) + sin((p.x + p.y) * 0.5 + 0.3 * s);
    textureStore(dst, id.xy, vec4(0.5 + 0.5 * sin(v * 3.0 + vec3(0.0, 2.0, 4.0)), 1.0));
}"""

g = rg.Graph("plasma", size=(32, 24))
out = g.image("out", format="rgba8unorm")
g.compute("plasma", PLASMA, dst=out, push=0)
g.root(out)

results = list(batch.run(g, batch.seeds(16, "plasma")))  # on=4: processes; on="tcp://…:8786": a cluster
pictures = [result["out"] for result in results]
rows = [np.concatenate(pictures[n : n + 4], axis=1) for n in range(0, 16, 4)]

sheet = rg.Graph("sheet", size=(128, 96))
shown = sheet.image("shown", format="rgba8unorm")
sheet.copy("copy", sheet.import_array("rows", np.concatenate(rows)), shown)
sheet.root(shown)
with rg.Device() as device:
    device.run(sheet)["shown"].save("48_seeds.png")

assert [result.key for result in results] == list(range(16))
y, x = np.mgrid[:24, :32] / 8
for s, picture in enumerate(pictures):
    v = np.sin(x + s) + np.sin(y * 0.7 + 1.3 * s) + np.sin((x + y) * 0.5 + 0.3 * s)
    assert np.abs(picture[..., 1] - 255 * (0.5 + 0.5 * np.sin(3 * v + 2))).max() <= 2
