"""T2: a setup function creates resources, reads, writes and opts out."""

import numpy as np
import pytest

import rgraph as rg

FLAT = """
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> { return vec4(1.0, 0.5, 0.0, 1.0); }
"""


def declared(wanted: dict[str, bool]) -> rg.Graph:
    """A pass that creates what the next one reads, and one that may opt out."""
    g = rg.Graph("frame", size=(16, 16))
    out = g.image("out", format="rgba8unorm")
    extra = g.image("extra", format="rgba8unorm")

    def create(p: rg.Pass) -> None:
        p.color(g.image("made", format="rgba8unorm", scale=0.5 if wanted["small"] else 1.0))
        p.storage_write(g.buffer("counts", 256))

    def read(p: rg.Pass) -> None:
        p.sampled("made").storage_read("counts").color(out)

    def maybe(p: rg.Pass) -> None:
        if wanted["extra"]:
            p.color(extra)

    g.add_pass("create", setup=create)
    g.add_pass("read", setup=read)
    g.add_pass("maybe", setup=maybe)
    g.root(out, extra)
    return g


def made(plan: rg.Plan) -> dict[str, object]:
    """The image that the setup function created, as the plan has it."""
    return next(one for one in plan.to_dict()["resources"] if one["name"] == "made")


def test_what_a_setup_function_creates_is_part_of_that_bake():
    wanted = {"small": False, "extra": True}
    g = declared(wanted)
    plan = g.bake(rg.Profile.minimal())
    assert plan.pass_names == ["create", "read", "maybe"]
    assert made(plan)["size"] == [16, 16]
    assert plan.check() == []
    # Each bake calls it again: nothing of the last one is left.
    assert g.bake(rg.Profile.minimal()).hash == plan.hash
    wanted["small"] = True
    assert made(g.bake(rg.Profile.minimal()))["size"] == [8, 8]


def test_a_setup_function_opts_out():
    g = rg.Graph("frame", size=(16, 16))
    out = g.image("out", format="rgba8unorm")
    g.add_pass("draw").color(out)
    g.add_pass("nothing", setup=lambda p: None)
    g.root(out)
    plan = g.bake(rg.Profile.minimal())
    assert plan.pass_names == ["draw"]


def test_two_setup_functions_cannot_create_one_name():
    g = rg.Graph("frame", size=(16, 16))
    g.add_pass("one", setup=lambda p: p.color(g.image("made", format="rgba8unorm")))
    g.add_pass("two", setup=lambda p: p.color(g.image("made", format="rgba8unorm")))
    with pytest.raises(rg.GraphError, match="made"):
        g.bake(rg.Profile.minimal())


def test_a_setup_function_declares_no_passes():
    def setup(p: rg.Pass) -> None:
        g.raster("late", FLAT, color=out)
        p.color(out)

    g = rg.Graph("frame", size=(16, 16))
    out = g.image("out", format="rgba8unorm")
    g.root(out)
    g.add_pass("early", setup=setup)
    for _ in range(2):
        with pytest.raises(rg.GraphError, match=r'RG-E217.*"late".*setup'):
            g.bake(rg.Profile.minimal())
    assert [p.name for p in g.passes] == ["early"]


def test_it_runs(device: rg.Device):
    g = rg.Graph("frame", size=(16, 16))
    out = g.image("out", format="rgba8unorm")
    g.raster("draw", FLAT, color=[out])
    g.add_pass("beside", setup=lambda p: p.color(g.image("made", format="rgba8unorm")), side_effects=True)
    g.root(out)
    np.testing.assert_allclose(np.asarray(device.run(g)["out"])[0, 0], [255, 128, 0, 255], atol=1)
