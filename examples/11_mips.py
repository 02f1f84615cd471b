"""A chain of mips: made by the graph after the pass that writes the first, and read one by one."""

import numpy as np

import rgraph as rg

PAINT = """
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let light = select(0.0, 1.0, ((id.x ^ id.y) & 1u) == 1u);
    textureStore(dst, id.xy, vec4(light, 0.0, 1.0 - light, 1.0));
}"""

SHOW = """
@group(0) @binding(0) var chain: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(1)
fn main() {
    for (var level = 0; level < 4; level++) {
        textureStore(dst, vec2(level, 0), textureLoad(chain, vec2(0, 0), level));
    }
}"""

g = rg.Graph("mips")
chain = g.image("chain", (64, 64), "rgba8unorm", mips=4)
levels = g.image("levels", (4, 1), "rgba8unorm")
g.compute("paint", PAINT, dst=chain.mip(0))
for level in range(1, 4):
    g.blit(f"down {level}", chain.mip(level - 1), chain.mip(level))
g.compute("show", SHOW, chain=chain, dst=levels, groups=1)
g.root(levels)

# Each blit waits for one mip, not for the image: the plan has a barrier for each.
print(len([barrier for barrier in g.bake().barriers if barrier.resource == "chain"]), "barriers on the chain")
with rg.Device() as device:
    print(np.array(device.run(g)["levels"])[0].tolist())
