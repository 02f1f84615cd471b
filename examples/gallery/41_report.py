"""Report: a frame reports times of passes, memory, barriers and submits; the plan is saved as a page."""

import rgraph as rg
from rgraph import passes

SCENE = """
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let lamp = f32(distance(uv, vec2(0.3, 0.4)) < 0.05) * 30.0;
    return vec4(vec3(0.02, 0.03, 0.08) + lamp * vec3(1.0, 0.5, 0.2), 1.0);
}"""

g = rg.Graph("report", size=(128, 96))
scene = g.image("scene", format="rgba16float")
g.raster("scene", SCENE, color=scene)
glow = passes.bloom(g, "glow", scene, intensity=0.2)
screen = passes.tone_map(g, "screen", glow)
g.root(screen)

with rg.Device() as device:
    frame = device.run(g, measure="passes")
    report = frame.report
    frame[screen].save("41_report.png")
    pixels = frame[screen].numpy(copy=True)

plan = g.bake(device.profile)
plan.save("41_report.html")
print(report)
assert set(report.pass_us) == set(plan.pass_names)
assert report.gpu_us is not None
assert report.gpu_us >= max(report.pass_us.values()) > 0
assert plan.memory.total < plan.memory.without_aliasing
assert plan.check() == []
assert pixels[38, 38, 0] > 200 > 100 > pixels[90, 120, 0]
