"""The smallest frame that runs: a compute shader writes an image, which comes back as an array and as a PNG file."""

import sys
from pathlib import Path

import numpy as np

import rgraph as rg

RINGS = """
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = vec2<f32>(id.xy) / vec2<f32>(textureDimensions(dst)) - 0.5;
    let light = 0.5 + 0.5 * cos(60.0 * length(at));
    textureStore(dst, id.xy, vec4(light, light * light, 1.0 - light, 1.0));
}"""

g = rg.Graph("rings")
out = g.image("out", (320, 200), "rgba8unorm")
g.compute("rings", RINGS, dst=out)  # runs once for each texel of what it writes
g.root(out)

picture = Path(sys.argv[1] if len(sys.argv) > 1 else "rings.png")
with rg.Device() as device:
    frame = device.run(g)
    pixels = np.array(frame["out"])
    frame["out"].save(picture)
    print(device.info.name, pixels.shape, pixels.mean().round(1))
