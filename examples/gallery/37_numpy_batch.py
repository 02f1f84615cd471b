"""A batch of pictures: an array (N, height, width, channels) is an array image, and the result has the same shape."""

import numpy as np

import rgraph as rg

NORMALIZE = """
@group(0) @binding(0) var src: texture_2d_array<f32>;
@group(0) @binding(1) var dst: texture_storage_2d_array<rgba32float, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(src);
    if (any(id.xy >= size)) { return; }
    var least = 1.0e9;
    var most = -1.0e9;
    for (var y = 0u; y < size.y; y++) { for (var x = 0u; x < size.x; x++) {
        let v = textureLoad(src, vec2(x, y), id.z, 0).r;
        least = min(least, v);
        most = max(most, v);
    } }
    let v = (textureLoad(src, id.xy, id.z, 0).r - least) / (most - least);
    textureStore(dst, id.xy, id.z, vec4(v, v * v, 1.0 - v, 1.0));
}"""

random = np.random.default_rng(8)
y, x = np.mgrid[:24, :32] / 10
batch = np.array([np.sin(x * a + b) * np.cos(y * c) * d for a, b, c, d in random.uniform(0.5, 3, (12, 4))])
batch = np.repeat(batch[..., None], 4, axis=-1).astype(np.float32)

g = rg.Graph("batch")
source = g.import_array("batch", batch)
result = g.image("result", like=source)
g.compute("normalize", NORMALIZE, src=source, dst=result, groups=(4, 3, 12))
sheet = g.image("sheet", (128, 72), "rgba8unorm")
SHOW = """
@group(0) @binding(0) var tiles: texture_2d_array<f32>;
@fragment fn fs(@builtin(position) p: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<u32>(p.xy);
    return textureLoad(tiles, at % vec2(32u, 24u), at.x / 32u + at.y / 24u * 4u, 0);
}"""
g.raster("sheet", SHOW, color=sheet, tiles=result)
g.root(result, sheet)

with rg.Device() as device:
    frame = device.run(g)
    values = frame["result"].numpy(copy=True)
    frame["sheet"].save("37_numpy_batch.png")

assert values.shape == batch.shape
least, most = (f(batch[..., 0], axis=(1, 2), keepdims=True) for f in (np.min, np.max))
assert np.abs(values[..., 0] - (batch[..., 0] - least) / (most - least)).max() < 1e-5
