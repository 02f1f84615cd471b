"""A bloom module with names of its own, and a place where others append."""

import rgraph


def bloom(module: rgraph.Module, source: rgraph.Image, levels: int) -> rgraph.Image:
    """Declare a chain of ever smaller images and the way back up; return the blurred image."""
    down = [source]
    for level in range(1, levels + 1):
        image = module.image(f"down{level}", like=down[-1], scale=0.5, format="rg11b10ufloat")
        module.add_pass(f"down{level}").sampled(down[-1]).color(image)
        down.append(image)
    up = down[-1]
    for level in range(levels - 1, 0, -1):
        image = module.image(f"up{level}", like=down[level], format="rg11b10ufloat")
        module.add_pass(f"up{level}").sampled(up, down[level]).color(image)
        up = image
    return up


g = rgraph.Graph("modules", size=(1920, 1080))
lit = g.image("lit", format="rgba16float")
out = g.image("out", format="rgba8unorm")
g.add_pass("lighting").color(lit, clear=(0, 0, 0, 1))
glow = bloom(g.module("bloom"), lit, levels=4)
g.add_pass("tonemap").sampled(lit, glow).color(out)
g.extension_point("overlay")
g.add_pass("grain").color(out)
g.root(out)

# Somewhere else, later: these passes stand between "tonemap" and "grain".
g.extend("overlay").add_pass("subtitles").color("out")

plan = g.bake()
assert plan.check() == []
print(*plan.pass_names, sep="\n")
