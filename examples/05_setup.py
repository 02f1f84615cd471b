"""A pass that decides when the graph is baked what it does, or to do nothing."""

import rgraph

settings = {"fog": True}

g = rgraph.Graph("setup", size=(1280, 720))
lit = g.image("lit", format="rgba16float")
depth = g.image("depth", format="depth32float")


def fog(p: rgraph.Pass) -> None:
    """Declare what fog needs, or nothing where there is none."""
    if settings["fog"]:
        p.sampled(depth).color(lit, load="load")


g.add_pass("draw").color(lit, clear=(0, 0, 0, 1)).depth(depth, clear=1.0)
g.add_pass("fog", setup=fog)
g.root(lit)

print(g.bake().pass_names)
settings["fog"] = False
plan = g.bake()
print(plan.pass_names, plan.culled)
