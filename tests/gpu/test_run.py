"""Graphs run on a device and give what numpy gives."""

import numpy as np
import pytest

import rgraph as rg
from gpu.declared import picture, scaled
from gpu.shaders import ADD, COPY, FILL, SCALE

BLUR = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;
@group(0) @binding(2) var dst: texture_storage_2d<rgba16float, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(dst);
    if (any(id.xy >= size)) { return; }
    let uv = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(size);
    textureStore(dst, id.xy, textureSampleLevel(src, linear, uv, 0.0));
}
"""
COMPOSE = """
struct Params { strength: f32 }
var<immediate> params: Params;
@group(0) @binding(0) var blurred: texture_2d<f32>;
@group(0) @binding(1) var original: texture_2d<f32>;
@group(0) @binding(2) var s: sampler;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    return mix(textureSample(original, s, uv), textureSample(blurred, s, uv), params.strength);
}
"""


def test_the_example_of_a_blur(device: rg.Device):
    photo_array = picture()
    g = rg.Graph("blur")
    photo = g.import_array("photo", photo_array)
    half = g.image("half", like=photo, scale=0.5, format="rgba16float")
    out = g.image("out", like=photo)
    g.compute("down", BLUR, src=photo, dst=half)
    g.raster("compose", COMPOSE, color=[out], blurred=half, original=photo, push={"strength": 0.7})
    g.root(out)
    frame = device.run(g)
    result = np.asarray(frame["out"])
    assert (result.shape, result.dtype) == ((48, 64, 4), np.uint8)
    same = np.asarray(device.run(g, params={"compose": 0.0})["out"])
    np.testing.assert_array_equal(same, photo_array)
    means = photo_array.reshape(24, 2, 32, 2, 4).astype(float).mean((1, 3))
    blurred = np.asarray(device.run(g, params={"compose": 1.0})["out"]).astype(float)
    # In the middle of four texels of the small image; there it is what the small image is around.
    small = blurred.reshape(24, 2, 32, 2, 4).mean((1, 3))
    assert abs(small[1:-1, 1:-1].mean() - means[1:-1, 1:-1].mean()) < 1.0
    # The declared strength is back when nobody says another.
    np.testing.assert_array_equal(np.asarray(device.run(g)["out"]), result)


def test_a_buffer_has_the_type_of_its_shader_and_views(device: rg.Device):
    values = np.arange(1000, dtype=np.uint32)
    result = device.run(scaled(values))["dst"]
    assert (result.shape, result.dtype, result.nbytes) == ((1000,), "uint32", 4000)
    np.testing.assert_array_equal(np.asarray(result.view("uint32")), values * 3 + 1)
    np.testing.assert_array_equal(np.asarray(result).view(np.uint32), values * 3 + 1)
    assert result.view(np.uint32).tolist()[:3] == [1, 4, 7]
    assert result.view(np.dtype("<i8")).shape == (500,)
    with pytest.raises(rg.GraphError, match="no whole number"):
        device.run(scaled(np.zeros(3, np.uint32)))["dst"].view("float64")


def test_compiled_graphs_run_many_times_and_give_the_same(device: rg.Device):
    values = np.arange(256, dtype=np.uint32)
    compiled = device.compile(scaled(values))
    assert compiled.plan.pass_names == ["scale"]
    for _ in range(5):
        np.testing.assert_array_equal(np.asarray(compiled.run()["dst"]).view("u4"), values * 3 + 1)
    for factor in (2, 7):
        frame = compiled.run(params={("scale", "params"): {"factor": factor, "offset": 0}})
        np.testing.assert_array_equal(np.asarray(frame["dst"]).view("u4"), values * factor)
    np.testing.assert_array_equal(np.asarray(compiled.run()["dst"]).view("u4"), values * 3 + 1)


def test_uniform_data_of_a_run_reaches_the_block_of_its_name_at_any_binding(device: rg.Device):
    # Bindings 1 and 6 are positions 0 and 1: the second block kept its first data.
    shader = """
    #version 450
    layout(local_size_x = 1) in;
    layout(set = 0, binding = 1) uniform First { uint value; } first;
    layout(set = 0, binding = 6) uniform Second { uint value; } second;
    layout(set = 1, binding = 0) buffer Out { uint values[2]; } result;
    void main() { result.values = uint[](first.value, second.value); }
    """
    g = rg.Graph()
    out = g.buffer("out", shape=2, dtype="uint32")
    g.compute("put", shader, first={"value": 1}, second={"value": 2}, result=out, groups=1)
    g.root(out)
    compiled = device.compile(g)
    assert np.asarray(compiled.run()["out"]).tolist() == [1, 2]
    assert np.asarray(compiled.run(params={("put", "second"): {"value": 7}})["out"]).tolist() == [1, 7]
    assert np.asarray(compiled.run(params={("put", "first"): {"value": 9}})["out"]).tolist() == [9, 2]


def test_plans_run_baked_or_read(device: rg.Device, tmp_path):
    values = np.arange(64, dtype=np.uint32)
    g = scaled(values)
    plan = g.bake(device.profile)
    np.testing.assert_array_equal(np.asarray(device.run(plan)["dst"]).view("u4"), values * 3 + 1)
    plan.save(tmp_path / "p.json")
    read = rg.Plan.load(tmp_path / "p.json")
    with pytest.raises(rg.GraphError, match="of=graph"):
        device.run(read)
    np.testing.assert_array_equal(np.asarray(device.compile(read, of=g).run()["dst"]).view("u4"), values * 3 + 1)
    g.buffer("more", 16)
    with pytest.raises(rg.GraphError, match="as it is declared now"):
        device.compile(read, of=g)


def test_plans_for_more_queues_than_there_are_run(device: rg.Device):
    values = np.arange(64, dtype=np.uint32)
    g = rg.Graph()
    src = g.import_array("src", values, as_buffer=True)
    one, two = g.buffer("one", 256), g.buffer("two", 256)
    g.compute("a", SCALE, src=src, dst=one, params={"factor": 2, "offset": 0}, queue="async_compute")
    g.compute("b", SCALE, src=one, dst=two, params={"factor": 5, "offset": 1})
    g.root(two)
    frame = device.run(g.bake("discrete"))
    np.testing.assert_array_equal(np.asarray(frame["two"]).view("u4"), values * 10 + 1)


def test_transfers_clear_fill_blit_and_copy(device: rg.Device):
    g = rg.Graph()
    photo = g.import_array("photo", picture())
    half = g.image("half", like=photo, scale=0.5)
    g.blit("blit", photo, half, filter="nearest")
    packed = g.buffer("packed", 24 * 32 * 4)
    g.copy("pack", half, packed)
    red = g.image("red", (8, 4), "rgba8unorm")
    g.clear("clear", red, (1.0, 0.0, 0.5, 1.0))
    numbers = g.image("numbers", (8, 4), "r32sint")
    g.clear("count", numbers, (-7, 0, 0, 0))
    filled = g.buffer("filled", 64)
    g.fill("zero", filled)
    g.fill("ones", filled[16:32], -1)
    moved = g.buffer("moved", 16)
    g.copy("move", filled[24:40], moved)
    g.root(half, packed, red, numbers, filled, moved)
    frame = device.run(g)
    assert np.asarray(frame["packed"]).tobytes() == np.asarray(frame["half"]).tobytes()
    corners = {tuple(texel) for texel in picture()[0:2, 0:2].reshape(4, 4).tolist()}
    assert tuple(np.asarray(frame["half"])[0, 0].tolist()) in corners
    assert set(map(tuple, np.asarray(frame["red"]).reshape(-1, 4).tolist())) <= {(255, 0, 128, 255), (255, 0, 127, 255)}
    assert (np.asarray(frame["numbers"]) == -7).all()
    assert np.asarray(frame["filled"]).tolist() == [0] * 16 + [255] * 16 + [0] * 32
    assert np.asarray(frame["moved"]).tolist() == [255] * 8 + [0] * 8


def test_one_invocation_of_each_subgroup_is_elected(device: rg.Device):
    text = """
enable subgroups;
@group(0) @binding(0) var<storage, read_write> counts: array<atomic<u32>, 2>;
@compute @workgroup_size(64)
fn main(@builtin(subgroup_invocation_id) at: u32) {
    if (subgroupElect()) { atomicAdd(&counts[0], 1u); }
    if (at == 0u) { atomicAdd(&counts[1], 1u); }
}"""
    g = rg.Graph()
    counts = g.buffer("counts", shape=2, dtype="uint32")
    g.fill("reset", counts)
    g.compute("count", text, counts=counts, groups=4)
    g.root(counts)
    elected, subgroups = device.run(g)["counts"].tolist()
    assert elected == subgroups >= 4


def test_groups_may_come_from_a_buffer(device: rg.Device):
    g = rg.Graph()
    counts = g.import_array("counts", np.array([9, 1, 1, 1], np.uint32), as_buffer=True)
    out = g.image("out", (16, 8), "rgba8unorm")
    g.clear("clear", out, (0, 0, 0, 0))
    g.compute("some", FILL, dst=out, push=[1, 1, 1, 1], groups=counts[4:16])
    g.root(out)
    result = np.asarray(device.run(g)["out"])
    assert (result[:, :8] == 255).all()
    assert (result[:, 8:] == 0).all()


def test_conditional_passes_are_switched_per_frame(device: rg.Device):
    g = rg.Graph()
    out = g.image("out", (8, 8), "rgba8unorm")
    g.clear("base", out, (0, 0, 0, 1))
    g.compute("paint", FILL, dst=out, push=[1, 1, 1, 1], conditional="paint")
    g.root(out)
    assert np.asarray(device.run(g)["out"])[0, 0, 0] == 255
    assert np.asarray(device.run(g, flags={"paint": False})["out"])[0, 0, 0] == 0
    assert np.asarray(device.run(g)["out"])[0, 0, 0] == 255
    with pytest.raises(rg.GraphError, match='did you mean "paint"'):
        device.run(g, flags={"pant": False})


def test_history_remembers_the_frame_before(device: rg.Device):
    g = rg.Graph()
    seed = g.import_array("seed", np.arange(16, dtype=np.uint32), as_buffer=True)
    total = g.buffer("total", 64)
    add = SCALE.replace("src[id.x] * params.factor", "src[id.x] + old[id.x]").replace(
        "@group(0) @binding(2)", "@group(0) @binding(3) var<storage, read> old: array<u32>;\n@group(0) @binding(2)"
    )
    g.compute("add", add, src=seed, dst=total, old=total.previous(), params={"factor": 1, "offset": 0}, groups=1)
    g.root(total)
    compiled = device.compile(g)
    for n in range(1, 6):
        np.testing.assert_array_equal(np.asarray(compiled.run()["total"]).view("u4"), n * np.arange(16))


def test_the_report_says_what_a_frame_took(device: rg.Device):
    frame = device.run(scaled(np.arange(4, dtype=np.uint32)), statistics=True, measure="passes")
    report = frame.report
    values = report.to_dict()
    assert [p["pass"] for p in values["passes"]] == ["scale"]
    assert values["passes"][0]["us"] > 0
    assert report.pass_us["scale"] == values["passes"][0]["us"]
    assert {"bake_us", "record_us", "submit_us", "barriers", "submits", "transients", "held", "live"} <= set(values)
    assert "scale" in str(report)
    assert frame.wait(1.0)
    assert frame.done
    weighed = device.compile(scaled(np.arange(4, dtype=np.uint32)), weights=report)
    assert weighed.plan.passes[0].duration_us == pytest.approx(report.pass_us["scale"], rel=1e-3)


def test_a_frame_of_an_unchanged_graph_is_submitted_again(device: rg.Device):
    compiled = device.compile(scaled(np.arange(4, dtype=np.uint32)))
    recorded = [compiled.run().report.recorded for _ in range(8)]
    assert recorded[0]
    assert not any(recorded[4:])


def test_memory_says_what_is_held_and_by_whom(device: rg.Device):
    compiled = device.compile(scaled(np.arange(4, dtype=np.uint32)))
    compiled.run().wait()
    memory = device.memory()
    assert memory.held >= memory.live > 0
    assert sum(domain.held for domain in memory.domains) == memory.held
    assert memory.owners


def test_resources_of_the_device_pass_from_graph_to_graph(device: rg.Device):
    picture_, image = picture(5), device.image("shared", (64, 48), "rgba8unorm")
    first, second = rg.Graph("first"), rg.Graph("second")
    for g in (first, second):
        source = g.import_image("source", (64, 48), "rgba8unorm")
        target = g.import_image("target", (64, 48), "rgba8unorm", contents="undefined")
        g.compute("copy", COPY.replace("textureLoad(src, id.xy, 0)", "1.0 - textureLoad(src, id.xy, 0)"), src=source,
                  dst=target)  # fmt: skip
        g.root(target)
    other = device.image("other", (64, 48), "rgba8unorm")
    image.write(picture_)
    assert (image.shape, image.dtype) == ((48, 64, 4), "uint8")
    device.run(first, inputs={"source": image, "target": other})
    device.run(second, inputs={"source": other, "target": image})
    np.testing.assert_array_equal(np.asarray(image.read()), picture_)
    np.testing.assert_array_equal(np.asarray(other.read()), 255 - picture_)
    assert other.state["layout"] != "undefined"
    with pytest.raises(rg.GraphError, match="of uint8 here"):
        image.write(np.zeros((4, 4, 4), np.uint8))
    image.set_state(**image.state)
    image.set_state()
    assert image.state["layout"] == "undefined"
    buffer = device.buffer("buffer", 64)
    buffer.write(np.arange(16, dtype=np.uint32))
    assert np.asarray(buffer.read()).view("u4")[5] == 5


def test_resources_of_another_device_are_refused(device: rg.Device, own_device: rg.Device):
    g = rg.Graph()
    source, out = g.import_image("source", (8, 8), "rgba8unorm"), g.image("out", (8, 8), "rgba8unorm")
    g.compute("copy", COPY, src=source, dst=out)
    g.root(out)
    stranger = own_device.image("stranger", (8, 8), "rgba8unorm")
    stranger.write(np.zeros((8, 8, 4), np.uint8))
    with pytest.raises(rg.DeviceError) as caught:
        device.run(g, inputs={"source": stranger})
    assert caught.value.code == "RG-E131"


def test_copies_of_graphs_run_with_their_own_roots(device: rg.Device):
    values = np.arange(64, dtype=np.uint32)
    g = rg.Graph("shown")
    src = g.import_array("src", values, as_buffer=True)
    middle, last = g.buffer("middle", 256), g.buffer("last", 256)
    g.compute("a", SCALE, src=src, dst=middle, params={"factor": 2, "offset": 0})

    def record(commands: rg.Commands) -> None:
        commands.copy(middle, last)

    g.callback("b", record, reads={middle: "transfer_src"}, writes={last: "transfer_dst"})
    g.root(last)
    shown = g.clone()
    shown.root("middle")
    frame = device.run(shown)
    assert sorted(frame) == ["last", "middle"]
    np.testing.assert_array_equal(np.asarray(frame["middle"]).view("u4"), values * 2)
    np.testing.assert_array_equal(np.asarray(frame[last]).view("u4"), values * 2)
    frame = device.run(g)
    assert list(frame) == ["last"]
    np.testing.assert_array_equal(np.asarray(frame["last"]).view("u4"), values * 2)


MIX = """
@group(0) @binding(0) var small: texture_2d<f32>;
@group(0) @binding(1) var sharp: texture_2d<f32>;
@group(0) @binding(2) var dst: texture_storage_2d<rgba16float, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, textureLoad(small, id.xy / 2u, 0) * 10.0 + textureLoad(sharp, id.xy, 0));
}
"""


@pytest.mark.parametrize(("small", "sharp"), [(1, 0), (0, 1)])
def test_two_mips_of_one_image_are_read_in_one_pass(device: rg.Device, small: int, sharp: int):
    g = rg.Graph()
    mips = g.image("mips", (8, 8), "rgba16float", mips=2)
    g.clear("zero", mips.mip(0), (1, 1, 1, 1))
    g.clear("one", mips.mip(1), (2, 2, 2, 2))
    out = g.image("out", (4, 4), "rgba16float")
    g.compute("mix", MIX, groups=1, small=mips.mip(small), sharp=mips.mip(sharp), dst=out)
    g.root(out)
    wanted = {1: 21, 0: 12}[small]
    np.testing.assert_array_equal(np.asarray(device.run(g)["out"])[:4, :4], wanted)


def test_two_ranges_of_one_buffer_are_read_in_one_pass(device: rg.Device):
    values = np.arange(256, dtype=np.uint32)
    g = rg.Graph()
    src = g.import_array("src", values, as_buffer=True)
    out = g.buffer("out", 256)
    g.compute("add", ADD, groups=1, one=src[512:768], two=src[0:256], dst=out)
    g.root(out)
    np.testing.assert_array_equal(np.asarray(device.run(g)["out"]).view("u4"), values[128:192] * 1000 + values[:64])


def test_functions_clear_and_copy_the_parts_that_they_name(device: rg.Device):
    g = rg.Graph()
    mips = g.image("mips", (4, 4), "r32float", mips=3)
    packed = g.buffer("packed", 1024)

    def paint(commands: rg.Commands) -> None:
        commands.clear(mips.mip(2), (3, 0, 0, 0))
        commands.clear(mips.mip(0), (1, 0, 0, 0))
        commands.clear(mips.mip(1), (2, 0, 0, 0))

    def pack(commands: rg.Commands) -> None:
        for at in (2, 0, 1):
            commands.copy(mips.mip(at), packed[at * 256 : at * 256 + 64])

    painted = g.callback("paint", paint)
    packing = g.callback("pack", pack)
    for at in range(3):
        painted.transfer_dst(mips, transfer="clear", mips=at)
        packing.transfer_src(mips, mips=at).transfer_dst(packed, range=(at * 256, at * 256 + 64))
    g.root(packed)
    words = np.asarray(device.run(g)["packed"]).view("f4").reshape(4, 64)
    assert [words[0, :16].tolist(), words[1, :4].tolist(), words[2, 0]] == [[1.0] * 16, [2.0] * 4, 3.0]


def test_a_clear_of_a_part_that_is_not_declared_is_refused(device: rg.Device):
    g = rg.Graph()
    mips = g.image("mips", (4, 4), "r32float", mips=3)
    g.callback("paint", lambda commands: commands.clear(mips.mip(1), (1, 0, 0, 0))).transfer_dst(
        mips, transfer="clear", mips=0
    )
    g.root(mips)
    message = 'pass "paint" clears mips 1..2 and layers 0..1 of "mips", and declares mips 0..1'
    with pytest.raises(rg.GraphError, match=message):
        device.run(g)


REVERSE = """
struct Pair { one: u32, two: mat2x2<f32> }
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
var<workgroup> tile: array<Pair, 64>;
var<private> own: array<u32, 3>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) at: u32, @builtin(workgroup_id) group: vec3<u32>) {
    own[at % 3u] = src[group.x * 64u + at];
    tile[at].one = own[at % 3u];
    tile[at].two = mat2x2<f32>(1.0, 2.0, 3.0, f32(at));
    workgroupBarrier();
    dst[group.x * 64u + at] = tile[63u - at].one * 100u + u32(tile[63u - at].two[1].y);
}
"""


def test_workgroup_variables_of_any_type_are_shared(device: rg.Device):
    """Under newer layers: no layout decorations on types of workgroup and private variables."""
    values = np.arange(256, dtype=np.uint32)
    g = rg.Graph()
    src = g.import_array("src", values, as_buffer=True)
    dst = g.buffer("dst", values.nbytes)
    g.compute("reverse", REVERSE, groups=4, src=src, dst=dst)
    g.root(dst)
    wanted = values.reshape(4, 64)[:, ::-1] * 100 + np.arange(63, -1, -1)
    np.testing.assert_array_equal(np.asarray(device.run(g)["dst"]).view("u4"), wanted.ravel())


ZEROED = """
@group(0) @binding(0) var<storage, read_write> out: array<u32, 256>;
var<workgroup> numbers: array<u32, 2304>;
var<workgroup> like_out: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var at = i; at < 2304u; at += 256u) { numbers[at] += at; }
    workgroupBarrier();
    out[i] = numbers[2303u - i] + like_out[i];
}
"""


def test_workgroup_variables_begin_with_zeros(device: rg.Device):
    """By the driver: naga's own zeros of this one took lavapipe's compiler 100 seconds."""
    g = rg.Graph()
    out = g.buffer("out", 1024)
    g.compute("zeroed", ZEROED, groups=1, out=out)
    g.root(out)
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(device.run(g)["out"]).view("u4"), 2303 - np.arange(256))


READ_DEPTH = """
@group(0) @binding(0) var depth: texture_depth_2d;
@group(0) @binding(1) var out: texture_storage_2d<r32float, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(out, id.xy, vec4<f32>(textureLoad(depth, id.xy, 0)));
}
"""


def test_depth_that_is_only_cleared_and_sampled_has_the_layouts_of_depth(device: rg.Device):
    g = rg.Graph()
    depth, out = g.image("depth", (8, 8), "depth32float"), g.image("out", (8, 8), "r32float")
    g.clear("clear", depth, 0.5)
    g.compute("read", READ_DEPTH, depth=depth, out=out)
    g.root(out)
    np.testing.assert_array_equal(np.asarray(device.run(g)["out"]), 0.5)
