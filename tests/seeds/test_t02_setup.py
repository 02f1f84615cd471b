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


def test_what_a_setup_function_creates_is_filled_copied_and_sampled(device: rg.Device):
    """The work of a pass names it, in the module of the pass."""
    g = rg.Graph("frame", size=(4, 4))
    out, bytes_out = g.image("out", format="rgba8unorm"), g.buffer("bytes", 64)
    m = g.module("m")
    words = {"count": 4}

    def create(p: rg.Pass) -> None:
        p.uses(m.buffer("words", 16 * words["count"]), "transfer_dst", transfer="fill")
        p.uses(m.image("made", (4, 4), "rgba8unorm"), "transfer_dst", transfer="clear")

    def record(commands: rg.Commands) -> None:
        commands.fill("words", words["count"])
        commands.clear("made", (0, 1, 0, 1))

    def use(p: rg.Pass) -> None:
        p.uses("words", "transfer_src").uses("made", "transfer_src")
        p.uses(bytes_out, "transfer_dst", transfer="copy").uses(out, "transfer_dst", transfer="copy")

    def copy(commands: rg.Commands) -> None:
        commands.copy("words", bytes_out)
        commands.copy("made", out)

    m.add_pass("create", setup=create, execute=record)
    m.add_pass("use", setup=use, execute=copy)
    g.root(out, bytes_out)
    frame = device.run(g)
    assert (np.asarray(frame["bytes"]).view(np.uint32) == 4).all()
    assert (np.asarray(frame["out"]) == [0, 255, 0, 255]).all()


def test_a_setup_function_changes_nothing_that_outlives_the_bake():
    def frame(change) -> rg.Graph:
        g = rg.Graph("frame")
        out, other = g.buffer("out", 64), g.buffer("other", 64)
        late = g.add_pass("late", queue="compute").storage_write(other)
        g.add_pass("early", queue="compute", setup=lambda p: change(g, p.storage_write(out), late))
        g.root(out)
        return g

    for change, message in (
        (lambda g, p, late: g.root("other"), "a root is named in a setup function"),
        (lambda g, p, late: g.extension_point("more"), 'extension point "more" is declared in a setup function'),
        (lambda g, p, late: g.remove("late"), "a declaration is taken back in a setup function"),
        (lambda g, p, late: late.storage_read("out"), "an access of another pass is declared in a setup function"),
        (lambda g, p, late: g.bake(), "a setup function bakes, runs or writes the graph"),
        (lambda g, p, late: g.to_json(), "a setup function bakes, runs or writes the graph"),
    ):
        g = frame(change)
        for _ in range(2):
            with pytest.raises(rg.GraphError, match=message) as caught:
                g.bake()
            assert caught.value.code == "RG-E217"
            assert caught.value.hint
    # Declaring on another graph, and baking it, is fine.
    assert frame(lambda g, p, late: small().bake()).bake().pass_names == ["early"]


def small() -> rg.Graph:
    g = rg.Graph("small")
    g.add_pass("write", queue="compute").storage_write(g.buffer("out", 64))
    g.root("out")
    return g
