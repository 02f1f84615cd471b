"""Matplotlib: a result is an array, so matplotlib plots it; here a field and a section through it."""

import matplotlib
import numpy as np

import rgraph as rg

matplotlib.use("agg")
from matplotlib import pyplot

FIELD = """
@group(0) @binding(0) var field: texture_storage_2d<r32float, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = (vec2<f32>(id.xy) - vec2(64.0, 48.0)) / 12.0;
    let x = 3.0 * length(p);
    // `sin` may be off by 2^-11, so the quotient of small numbers is taken from its series.
    let value = select(sin(x) / x, 1.0 - x * x / 6.0, x < 0.5);
    textureStore(field, id.xy, vec4(value, 0.0, 0.0, 0.0));
}"""

g = rg.Graph("field", size=(128, 96))
field = g.image("field", format="r32float")
g.compute("field", FIELD, field=field)
g.root(field)

with rg.Device() as device:
    values = device.run(g)["field"].numpy(copy=True)[..., 0]

figure, (left, right) = pyplot.subplots(1, 2, figsize=(3.2, 1.6), layout="constrained")
left.imshow(values, cmap="viridis")
left.axis("off")
(line,) = right.plot(values[48])
right.tick_params(labelsize=5)
figure.savefig("49_matplotlib.png", dpi=80)

y, x = np.mgrid[:96, :128]
away = np.hypot(x - 64, y - 48) / 12
# WGSL's `sin` may be off by 2^-11 and more beyond π; the series by 5e-4 at 0.5.
assert np.abs(values - np.sinc(3 * away / np.pi)).max() < 1.5e-3
assert (line.get_ydata() == values[48]).all()
