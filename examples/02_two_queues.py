"""Ambient occlusion on an async compute queue, while the graphics queue draws shadows."""

import rgraph

g = rgraph.Graph("two queues", size=(1920, 1080))
depth = g.image("depth", format="depth32float")
shadow = g.image("shadow", size=(2048, 2048), format="depth32float")
ao = g.image("ao", format="r8unorm", scale=0.5)
lit = g.image("lit", format="rgba16float")

g.add_pass("depth", weight_us=300).depth(depth, clear=1.0)
g.add_pass("ao", queue="async_compute", weight_us=500).sampled(depth).storage_write(ao)
g.add_pass("shadows", weight_us=600).depth(shadow, clear=1.0)
g.add_pass("lighting", weight_us=700).sampled(depth, shadow, ao).color(lit)
g.root(lit)

for profile in (rgraph.Profile.single_queue(), rgraph.Profile.discrete()):
    plan = g.bake(profile)
    assert plan.check() == []
    print(f"{profile.name}: {plan.frame_us:.0f} microseconds, {len(plan.batches)} batches")
