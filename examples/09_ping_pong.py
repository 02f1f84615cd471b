"""Conway's Game of Life: each frame reads what the frame before left."""

import numpy as np

import rgraph as rg

LIFE = """
@group(0) @binding(0) var before: texture_2d<u32>;
@group(0) @binding(1) var seed: texture_2d<u32>;
@group(0) @binding(2) var cells: texture_storage_2d<r32uint, write>;
var<immediate> first: u32;

fn alive(at: vec2<i32>) -> u32 {
    let size = vec2<i32>(textureDimensions(before));
    return textureLoad(before, (at + size) % size, 0).r;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = vec2<i32>(id.xy);
    var around = 0u;
    for (var n = 0; n < 9; n++) { if (n != 4) { around += alive(at + vec2(n % 3 - 1, n / 3 - 1)); } }
    let next = select(0u, 1u, around == 3u || (around == 2u && alive(at) == 1u));
    textureStore(cells, at, vec4(select(next, textureLoad(seed, at, 0).r, first == 1u)));
}"""

glider = np.zeros((16, 16), np.uint32)
glider[1:4, 1:4] = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]

g = rg.Graph("life")
seed = g.import_array("seed", glider)
cells = g.image("cells", (16, 16), "r32uint")
g.compute("step", LIFE, before=cells.previous(), seed=seed, cells=cells, push=1)
g.root(cells)

with rg.Device() as device:
    compiled = device.compile(g)
    for generation in range(9):
        frame = compiled.run(params={"step": int(generation == 0)})
        if generation % 4 == 0:
            field = frame["cells"].numpy(copy=True)[..., 0]
            print(f"generation {generation}: {field.sum()} alive")
            assert np.array_equal(field, np.roll(glider, generation // 4, axis=(0, 1)))
