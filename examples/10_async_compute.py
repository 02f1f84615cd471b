"""The same frame on whatever queues there are; measured times then weigh the passes of a second plan."""

import rgraph as rg

WORK = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba16float, write>;
var<immediate> rounds: u32;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var color = textureLoad(src, id.xy, 0);
    for (var round = 0u; round < rounds; round++) { color = fract(color * 1.7 + 0.3); }
    textureStore(dst, id.xy, color);
}"""

g = rg.Graph("frame", size=(256, 256))
scene, shadow, occlusion = (g.image(name, format="rgba16float") for name in ("scene", "shadow", "occlusion"))
lit, mixed = (g.image(name, like=scene) for name in ("lit", "mixed"))
g.clear("draw", scene, (0.2, 0.4, 0.6, 1.0))
g.compute("occlusion", WORK, src=scene, dst=occlusion, push=40, queue="any", weight_us=500)
g.compute("shadow", WORK, src=scene, dst=shadow, push=80, weight_us=600)
g.blit("lighting", shadow, lit, weight_us=50)
g.compute("mix", WORK, src=occlusion, dst=mixed, push=2, weight_us=50)
g.root(lit, mixed)

for name in ("single_queue", "discrete"):
    plan = g.bake(name)
    queues = {p.name: p.queue for p in plan.passes}
    print(f"{name}: {plan.frame_us:.0f} µs modelled, occlusion on {queues['occlusion']}")

with rg.Device() as device:
    compiled = device.compile(g)
    compiled.run().wait()
    report = compiled.run(read=[], measure="passes").report
    again = device.compile(g, weights=report)
    print(device.info.name, "runs it on", {p.queue for p in again.plan.passes})
    again.run().wait()
