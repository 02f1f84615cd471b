"""One pass that draws one image: the smallest frame there is."""

import rgraph

g = rgraph.Graph("triangle", size=(640, 480))
out = g.image("out", format="rgba8unorm")
g.add_pass("draw").color(out, clear=(0, 0, 0, 1))
g.root(out)

plan = g.bake()
print(plan)
