"""Temporal anti-aliasing: read what the frame before wrote."""

import rgraph

g = rgraph.Graph("temporal", size=(1280, 720))
lit = g.image("lit", format="rgba16float")
steady = g.image("steady", format="rgba16float")
out = g.import_image("out", format="bgra8unorm", contents="undefined", leave="present_src")

g.add_pass("lighting").color(lit, clear=(0, 0, 0, 1))
g.add_pass("resolve").sampled(lit, steady.previous()).color(steady)
g.add_pass("tonemap").sampled(steady).color(out)

plan = g.bake("single_queue")
print(plan.explain("resolve"))
