"""Granite's backend and render graph, row by row, where a row has no file of its own."""

import gc
import itertools

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import COPY, SCALE

FLAT = """
@group(0) @binding(0) var<uniform> color: vec4<f32>;
@fragment fn main() -> @location(0) vec4<f32> { return color; }
"""


def commands(plan: rg.Plan) -> list[dict]:
    return [command for batch in plan.to_dict()["batches"] for command in batch["commands"]]


def image(g: rg.Graph, name: str, **how) -> rg.Image:
    return g.image(name, format="rgba8unorm", **how)


def test_g01_devices_stand_side_by_side_headless_and_name_what_they_cannot_load(device: rg.Device) -> None:
    with rg.Device() as second:
        assert second.info.uuid == device.info.uuid
        assert second.run(filled(3))["out"].view("uint32")[0] == 3
        assert device.run(filled(4))["out"].view("uint32")[0] == 4
        foreign = second.buffer("foreign", 64)
        g = rg.Graph("foreign")
        g.copy("copy", g.import_buffer("in", 64), g.buffer("out", 64))
        g.root("out")
        with pytest.raises(rg.DeviceError) as caught:
            device.run(g, inputs={"in": foreign})
        assert caught.value.code == "RG-E131"
    with pytest.raises(rg.DeviceError) as caught:
        rg.Device(loader="/no/such/loader.so")
    assert caught.value.code == "RG-E101"


def filled(word: int) -> rg.Graph:
    g = rg.Graph("filled")
    g.fill("fill", g.buffer("out", 64), word)
    g.root("out")
    return g


def test_g06_resources_live_as_long_as_anything_uses_them(device: rg.Device) -> None:
    gc.collect()
    device.wait_idle()
    before = device.memory().owners.get("counted")
    assert before is None
    own = device.buffer("counted", 1 << 20)
    own.write(np.full(1 << 18, 6, np.uint32))
    g = rg.Graph("reads")
    g.copy("copy", g.import_buffer("in", 1 << 20), g.buffer("out", 1 << 20))
    g.root("out")
    frame = device.run(g, inputs={"in": own})
    del own
    gc.collect()
    assert (np.asarray(frame["out"]).view(np.uint32) == 6).all(), "the frame keeps it"
    device.run(g, inputs={"in": np.zeros(1 << 18, np.uint32)}).wait()
    device.run(g, inputs={"in": np.zeros(1 << 18, np.uint32)}).wait()
    gc.collect()
    device.wait_idle()
    assert "counted" not in device.memory().owners


def test_g07_frames_in_flight_are_bounded_and_deletion_waits_for_them(own_device: rg.Device) -> None:
    g = rg.Graph("many")
    src, out = g.import_array("src", np.zeros(1 << 16, np.uint32), as_buffer=True), g.buffer("out", 1 << 18)
    g.compute("scale", SCALE, src=src, dst=out, params={"factor": 1, "offset": 1})
    g.root(out)
    frames = []
    for run in range(12):
        compiled = own_device.compile(g)  # dropped while the device still works on it
        frames.append(compiled.run(inputs={"src": np.full(1 << 16, run, np.uint32)}))
        del compiled
    for run, frame in enumerate(frames):
        assert (np.asarray(frame["out"]).view(np.uint32) == run + 1).all()
    own_device.wait_idle()


def test_g08_small_data_goes_along_with_the_pass_and_needs_no_memory_of_its_own(device: rg.Device) -> None:
    g = rg.Graph("data")
    src, out = g.import_array("src", np.arange(64, dtype=np.uint32), as_buffer=True), g.buffer("out", 256)
    g.compute("scale", SCALE, src=src, dst=out, params={"factor": 2, "offset": 0})
    g.root(out)
    compiled = device.compile(g)
    held = []
    for factor in range(2, 30):
        frame = compiled.run(params={("scale", "params"): {"factor": factor, "offset": factor}})
        assert np.asarray(frame["out"]).view(np.uint32)[5] == 6 * factor
        held.append(device.memory().held)
    assert len(set(held[4:])) == 1


def test_g11_sizes_scale_and_a_modified_image_of_another_size_is_scaled_into_it(device: rg.Device) -> None:
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[:2], pixels[2:] = (255, 0, 0, 255), (0, 255, 0, 255)
    g = rg.Graph("scaled", size=(8, 8))
    src = g.import_array("src", pixels)
    small, large = image(g, "small", size=(4, 4)), image(g, "large", size=(8, 8), modifies="small")
    g.compute("copy", COPY, src=src, dst=small)
    g.raster("corner", FLAT, color=large, load="load", viewport=(0, 0, 2, 2), bindings={"color": (0, 0, 1, 1)})
    g.root(large)
    out = device.run(g)["large"].numpy()
    assert out.shape == (8, 8, 4)
    assert out[0, 0].tolist() == [0, 0, 255, 255], "drawn over"
    assert out[0, 7].tolist() == [255, 0, 0, 255], "scaled from the upper half"
    assert out[7, 7].tolist() == [0, 255, 0, 255]
    half = image(g, "half", like="src", scale=0.5)
    assert half.size == (2, 2)


def deferred(order: tuple[str, ...]) -> rg.Graph:
    """The seed's own case: lighting reads what the G-buffer pass drew in place, and samples the shadow map."""
    g = rg.Graph("deferred", size=(256, 256))
    albedo, hdr = image(g, "albedo"), g.image("hdr", format="rgba16float")
    depth = g.image("depth", format="depth32float")
    shadow = g.image("shadow", format="depth32float", size=(512, 512))

    def gbuffer() -> None:
        g.add_pass("gbuffer").color(albedo, hdr, clear=(0, 0, 0, 0)).depth(depth, clear=1.0)

    def shadows() -> None:
        g.add_pass("shadow").depth(shadow, clear=1.0)

    def lighting() -> None:
        one = g.add_pass("lighting").color("hdr", load="load").depth_read("depth").input_attachment("albedo")
        one.sampled("shadow")

    made = {"gbuffer": gbuffer, "shadow": shadows, "lighting": lighting}
    for name in order:
        made[name]()
    g.root(hdr)
    return g


# Lighting adds to what the G-buffer pass drew, so it comes after it in every declaration.
ORDERS = [
    one
    for one in itertools.permutations(("gbuffer", "shadow", "lighting"))
    if one.index("gbuffer") < one.index("lighting")
]


@pytest.mark.parametrize("order", ORDERS)
def test_g12_gbuffer_and_lighting_merge_in_any_declared_order(order: tuple[str, ...]) -> None:
    g = deferred(order)
    plan = g.bake("single_queue")
    assert plan.check(g) == []
    physical = {one.name: one.physical_pass for one in plan.passes}
    assert physical["gbuffer"] == physical["lighting"] != physical["shadow"]
    assert plan.pass_names == ["shadow", "gbuffer", "lighting"], (
        "what lighting waits for is lifted before the render pass"
    )


def test_g13_a_modifying_resource_has_the_memory_of_what_it_modifies_or_is_refused() -> None:
    g = rg.Graph("modify", size=(64, 64))
    first = image(g, "first")
    g.add_pass("make", queue="compute").storage_write(first)
    second = image(g, "second", modifies=first)
    g.add_pass("change", queue="compute").storage_read_write(second)
    g.root(second)
    plan = g.bake("single_queue")
    assert plan.check(g) == []
    places = {one.resource: (one.heap, one.offset, one.size) for one in plan.memory.placements}
    assert places["first"] == places["second"]
    assert plan.memory.total == plan.memory.lower_bound == places["first"][2]
    # Both names in one pass: the old contents are gone when the new ones are there.
    out = image(g, "out")
    g.add_pass("both", queue="compute").sampled(first).sampled(second).storage_write(out)
    g.root(out)
    with pytest.raises(rg.GraphError, match='"both"') as caught:
        g.bake("single_queue")
    assert caught.value.code == "RG-E217"


def test_g14_passes_that_read_in_place_are_subpasses_of_one_render_pass() -> None:
    g = rg.Graph("subpasses", size=(64, 64))
    first, second, out = image(g, "first"), image(g, "second"), image(g, "out")
    g.add_pass("draw").color(first, clear=(0, 0, 0, 0))
    g.add_pass("tone").input_attachment(first).color(second)
    g.add_pass("other size").color(image(g, "small", size=(32, 32)), clear=(0, 0, 0, 0))
    g.add_pass("end", queue="compute").sampled(second).sampled("small").storage_write(out)
    g.root(out)
    plan = g.bake("single_queue")
    assert plan.check(g) == []
    physical = {one.name: one.physical_pass for one in plan.passes}
    assert physical["draw"] == physical["tone"] != physical["other size"]
    passes = {one["name"]: one for one in plan.to_dict()["passes"]}
    assert passes["draw"].get("subpass", 0) + 1 == passes["tone"]["subpass"]


def test_g16_layouts_discards_and_availability_are_of_the_accesses() -> None:
    g = rg.Graph("layouts", size=(64, 64))
    depth, color, out = g.image("depth", format="depth32float"), image(g, "color"), image(g, "out")
    g.add_pass("draw").depth(depth, clear=1.0).color(color, clear=(0, 0, 0, 0))
    g.add_pass("test").depth_read(depth).sampled(depth).color("color", load="load")
    g.add_pass("use", queue="compute").sampled(color).storage_write(out)
    g.add_pass("again", queue="compute").sampled(out).storage_write("color")
    g.root(color, out)
    plan = g.bake("single_queue")
    assert plan.check(g) == []
    layouts = {(one.resource, one.old_layout, one.new_layout) for one in plan.barriers}
    assert ("depth", "depth_stencil_attachment_optimal", "depth_stencil_read_only_optimal") in layouts
    assert ("color", "undefined", "color_attachment_optimal") in layouts, "old contents are dropped"
    assert ("color", "color_attachment_optimal", "shader_read_only_optimal") in layouts
    assert ("out", "undefined", "general") in layouts
    # A write after a read waits, and makes nothing available.
    (after,) = [one for one in plan.barriers if one.resource == "color" and one.before == "again"]
    assert after.src_access == ()


def test_g17_images_that_never_live_at_once_share_bytes(device: rg.Device) -> None:
    g = rg.Graph("chain", size=(128, 128))
    last = g.import_array("src", np.full((128, 128, 4), 9, np.uint8))
    for at in range(9):
        target = image(g, f"i{at}")
        g.compute(f"copy {at}", COPY, src=last, dst=target)
        last = target
    g.root(last)
    plan = g.bake(device.profile)
    assert plan.memory.total <= 0.34 * plan.memory.without_aliasing
    assert plan.memory.total == plan.memory.lower_bound
    compiled = device.compile(plan)
    for run in range(6):
        assert (compiled.run(inputs={"src": np.full((128, 128, 4), run, np.uint8)})["i8"].numpy() == run).all()
    h = rg.Graph("remembered", size=(128, 128))
    now = image(h, "now")
    h.add_pass("make", queue="compute").sampled(now.previous()).storage_write(now)
    h.root(now)
    assert "now" not in {one.resource for one in h.bake(device.profile).memory.placements}, "a history has its own"


def read_by(second: str, **sharing: str) -> rg.Plan:
    """An attachment that the graphics queue and another one read."""
    g = rg.Graph("shared", size=(256, 256))
    color = image(g, "color", **sharing)
    g.add_pass("draw", weight_us=100).color(color, clear=(0, 0, 0, 0))
    for name, queue in (("left", "compute"), ("right", second)):
        target = image(g, f"of {name}")
        g.add_pass(name, queue=queue, weight_us=400).sampled(color).storage_write(target)
        g.root(target)
    return g.bake("discrete")


def test_g18_an_image_is_concurrent_only_where_two_families_need_it_at_once() -> None:
    def sharing(plan: rg.Plan) -> str:
        return next(one["sharing"] for one in plan.to_dict()["resources"] if one["name"] == "color")

    apart, one_queue = read_by("async_compute"), read_by("compute")
    assert (sharing(apart), sharing(one_queue)) == ("concurrent", "exclusive")
    assert apart.frame_us < 700, "both readers run at once"
    assert sharing(read_by("async_compute", sharing="exclusive")) == "exclusive"


def test_g20_a_pass_that_is_off_hands_its_input_on(device: rg.Device) -> None:
    g = rg.Graph("conditional")
    src = g.import_array("src", np.full(64, 5, np.uint32), as_buffer=True)
    effect, out = g.buffer("effect", 256), g.buffer("out", 256)
    more = {"factor": 2, "offset": 0}
    g.compute("effect", SCALE, src=src, dst=effect, params=more, conditional="on", fallback={effect: src})
    g.compute("end", SCALE, src=effect, dst=out, params={"factor": 1, "offset": 1})
    g.root(out)
    compiled = device.compile(g)
    for on in (True, False, True):
        assert np.asarray(compiled.run(flags={"on": on})["out"]).view(np.uint32)[3] == (11 if on else 6)


def test_g22_mips_are_made_at_the_end_of_a_pass_and_samples_are_resolved_in_it(device: rg.Device) -> None:
    g = rg.Graph("mips", size=(16, 16))
    chain = image(g, "chain", mips="full")

    def draw(commands: rg.Commands) -> None:
        commands.draw(FLAT, viewport=(0, 0, 8, 16), bindings={"color": (0, 0, 1, 1)})

    g.callback("draw", draw).color(chain, clear=(1, 0, 0, 1), mips=0, generate_mips=True)
    last = g.image("last", (1, 1), "rgba8unorm")
    many = image(g, "many", samples=4)
    single = image(g, "single")
    g.raster(
        "multisampled",
        FLAT,
        color=many,
        resolve=single,
        clear=(0, 1, 0, 1),
        viewport=(0, 0, 8, 16),
        bindings={"color": (1, 1, 1, 1)},
    )
    g.copy("copy", chain.mip(4), last)
    g.root(last, single)
    frame = device.run(g)
    assert frame["last"].numpy()[0, 0].tolist() == pytest.approx([128, 0, 128, 255], abs=2)
    single = frame["single"].numpy()
    assert single[0, 0].tolist() == [255] * 4
    assert single[0, 15].tolist() == [0, 255, 0, 255]


def test_g23_the_environment_names_what_the_command_shows(tmp_path, monkeypatch, capsys) -> None:
    from rgraph.cli import main

    g = rg.Graph("shown", size=(8, 8))
    g.clear("red", image(g, "red"), (1, 0, 0, 1))
    g.clear("blue", image(g, "blue"), (0, 0, 1, 1))
    g.root("red", "blue")
    g.save(tmp_path / "shown.rgraph.json")
    out = tmp_path / "out.png"
    colors = []
    for name in ("red", "blue"):
        monkeypatch.setenv("RGRAPH_SHOW", name)
        assert main(["run", str(tmp_path / "shown.rgraph.json"), "--output", str(out)]) == 0
        colors.append(out.read_bytes())
    assert colors[0] != colors[1]
    capsys.readouterr()


def test_g24_a_frame_costs_little_on_the_cpu(device: rg.Device) -> None:
    """A whole frame of 64 passes, recorded once, one submit; figures of machines: docs/performance.md."""
    g = rg.Graph("frame")
    last = g.import_array("src", np.arange(64, dtype=np.uint32), as_buffer=True)
    for at in range(64):
        out = g.buffer(f"b{at}", 256)
        g.compute(f"p{at}", SCALE, src=last, dst=out, params={"factor": 1, "offset": 1})
        last = out
    g.root(last)
    compiled = device.compile(g)
    for _run in range(8):
        frame = compiled.run()
        assert np.asarray(frame["b63"]).view(np.uint32)[0] == 64
    assert not frame.report.recorded, "recorded once, submitted again"
    assert {one.name for one in frame.report.host_spans} >= {"submit"}
    assert len(list(compiled.plan.batches)) == 1, "one submit"
