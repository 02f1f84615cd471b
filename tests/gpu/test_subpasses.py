"""Render passes with subpasses: the validation layer finds no dependency missing between any two of them."""

from pathlib import Path

import rgraph as rg


def test_every_hazard_between_subpasses_has_a_dependency(device: rg.Device, root: Path):
    """A target drawn in one subpass and again in a later one, with and without an input attachment between."""
    g = rg.Graph.load(root / "tests" / "plans" / "subpasses.rgraph.json")
    plan = g.bake(device.profile)
    assert [p.name for p in plan.passes] == ["gbuffer", "lighting", "sky", "decals"]
    assert plan.check(g) == []
    device.run(g).wait()
