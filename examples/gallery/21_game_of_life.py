"""Game of life: each frame reads the previous one; a glider gun fires every 30 generations."""

import numpy as np

import rgraph as rg

LIFE = """
@group(0) @binding(0) var before: texture_2d<u32>;
@group(0) @binding(1) var next: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = vec2<i32>(id.xy);
    var around = 0u;
    for (var n = 0; n < 9; n++) { if (n != 4) { around += textureLoad(before, at + vec2(n % 3, n / 3) - 1, 0).r; } }
    let alive = around == 3u || (around == 2u && textureLoad(before, at, 0).r == 1u);
    textureStore(next, id.xy, vec4(u32(alive)));
}"""
SHOW = """
@group(0) @binding(0) var cells: texture_2d<u32>;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let alive = f32(textureLoad(cells, vec2<i32>(uv * vec2(64.0, 48.0)), 0).r);
    return vec4(vec3(0.2, 0.9, 0.5) * alive + 0.04, 1.0);
}"""
GUN = """
........................#...........
......................#.#...........
............##......##............##
...........#...#....##............##
##........#.....#...##..............
##........#...#.##....#.#...........
..........#.....#.......#...........
...........#...#....................
............##......................"""

first = np.zeros((48, 64, 1), np.uint32)
rows = [[int(c == "#") for c in row] for row in GUN.split()]
first[2:11, 2:38, 0] = rows

g = rg.Graph("life", size=(128, 96))
cells = g.image("cells", (64, 48), "r32uint")
out = g.image("out", format="rgba8unorm")
g.compute("step", LIFE, before=cells.previous(first_frame=first), next=cells)
g.raster("show", SHOW, color=out, cells=cells)
g.root(out, cells)

with rg.Device() as device:
    compiled = device.compile(g)
    for _ in range(60):
        frame = compiled.run()
    state = frame["cells"].numpy(copy=True)[..., 0]
    frame["out"].save("21_game_of_life.png")

assert (state[:12, :38] == first[:12, :38, 0]).sum() > 420  # the gun is back after 60 generations
assert state.sum() == first.sum() + 10  # with two gliders of five cells
