"""One graph on two devices of a process: two of the driver's, and the driver's with SwiftShader where that is there."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE
from rgraph._core import _counts

SWIFT = Path(__file__).resolve().parent.parent.parent / ".vulkan" / "libvk_swiftshader.so"
BOTH = ["the driver twice", "the driver and SwiftShader"]

HALF = """
struct Params { add: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var dst: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4<u32>(id.x + 1000u * id.y + params.add));
}"""

JOIN = """
@group(0) @binding(0) var left: texture_2d<u32>;
@group(0) @binding(1) var right: texture_2d<u32>;
@group(0) @binding(2) var dst: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < 32u { textureStore(dst, id.xy, textureLoad(left, id.xy, 0)); }
    else { textureStore(dst, id.xy, textureLoad(right, id.xy - vec2<u32>(32u, 0u), 0) + 7u); }
}"""

SUM = """
@group(0) @binding(0) var<storage, read> before: array<u32>;
@group(0) @binding(1) var<storage, read> src: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&dst) { dst[id.x] = before[id.x] + src[id.x]; }
}"""


def second(kind: str) -> rg.Device:
    """The other device: another one of the driver, or SwiftShader's."""
    if kind == BOTH[0]:
        return rg.Device(validate=False)
    path = SWIFT if SWIFT.exists() else Path("/usr/lib/chromium/libvk_swiftshader.so")
    if not path.exists():
        if os.environ.get("RGRAPH_REQUIRE_SWIFTSHADER") == "1":
            pytest.fail(f"no SwiftShader at {path}")
        pytest.skip("no SwiftShader: scripts/swiftshader.sh brings it")
    return rg.Device(loader=path, validate=False)


@pytest.fixture(params=BOTH)
def gpus(request: pytest.FixtureRequest, own_device: rg.Device) -> Iterator[rg.Devices]:
    """Two devices; neither may complain."""
    with second(request.param) as other, rg.Devices([own_device, other]) as devices:
        yield devices
        assert devices.messages == []


@pytest.fixture
def two(own_device: rg.Device) -> Iterator[rg.Devices]:
    """Two devices of the driver."""
    with second(BOTH[0]) as other, rg.Devices([own_device, other]) as devices:
        yield devices


def halves(left: int = 0, right: int = 1) -> rg.Graph:
    """A frame whose halves are drawn by two devices, and joined by the first."""
    g = rg.Graph("halves", size=(64, 64))
    parts = {name: g.image(name, size=(32, 64), format="r32uint") for name in ("left", "right")}
    out = g.image("out", format="r32uint")
    g.compute("draw left", HALF, dst=parts["left"], params={"add": 0}, device=left)
    g.compute("draw right", HALF, dst=parts["right"], params={"add": 0}, device=right)
    g.compute("join", JOIN, left=parts["left"], right=parts["right"], dst=out, device=0)
    g.root(out)
    return g


def joined(add: int = 0) -> np.ndarray:
    """What the halves become."""
    y, x = np.mgrid[0:64, 0:32].astype(np.uint32)
    return np.concatenate([x + 1000 * y + add, x + 1000 * y + 7], axis=1)


def counting(device: int | str = 1, times: int = 1) -> rg.Graph:
    """A buffer that grows from frame to frame by what device 0 makes of an array."""
    g = rg.Graph("counting")
    src = g.import_array("src", np.arange(16, dtype=np.uint32), as_buffer=True)
    made, total = g.buffer("made", 64), g.buffer("total", 64)
    g.compute("scale", SCALE, src=src, dst=made, params={"factor": times, "offset": 1}, device=0)
    g.compute("add", SUM, before=total.previous(), src=made, dst=total, device=device)
    g.root(total)
    return g


def texels(array: rg.Array) -> np.ndarray:
    return np.asarray(array)[..., 0]


def words(frame: rg.Frame, name: str) -> np.ndarray:
    return np.asarray(frame[name]).view("u4").ravel()


def test_a_frame_in_two_halves_is_equal_to_that_of_one_device(gpus: rg.Devices):
    compiled = gpus.compile(halves())
    plan = compiled.plan
    assert [(part.device, sorted(part.passes)) for part in plan.parts if part.device == 1] == [(1, ["draw right"])]
    assert {copy.resource for copy in plan.copies} == {"right"}
    assert (plan.copies[0].source, plan.copies[0].target) == (1, 0)
    assert plan.copies[0].bytes >= 32 * 64 * 4
    assert plan.results == {"out": 0}
    assert plan.check() == []
    for _ in range(3):
        assert np.array_equal(texels(compiled.run()["out"]), joined())
    alone = gpus.devices[0].run(halves(0, 0))
    assert np.array_equal(texels(alone["out"]), joined())


def test_parameters_flags_and_arrays_of_a_run_reach_the_device_of_their_pass(gpus: rg.Devices):
    compiled = gpus.compile(halves())
    frame = compiled.run(params={("draw left", "params"): {"add": 5}})
    assert np.array_equal(texels(frame["out"]), joined(5))
    assert np.array_equal(texels(compiled.run()["out"]), joined()), "parameters are for one run"
    into = np.zeros((64, 64, 1), np.uint32)
    compiled.run(into={"out": into})
    assert np.array_equal(into[..., 0], joined())
    assert len(compiled.run(read=[])) == 0


def test_contents_that_live_from_frame_to_frame_stay_on_their_device(gpus: rg.Devices):
    compiled = gpus.compile(counting())
    for frame in range(1, 4):
        assert words(compiled.run(), "total").tolist() == [frame * (at + 1) for at in range(16)]
    given = np.full(16, 9, np.uint32)
    assert words(compiled.run(inputs={"src": given}), "total").tolist() == [3 * (at + 1) + 10 for at in range(16)]
    compiled.set("total", np.arange(16, dtype=np.uint32))
    assert words(compiled.run(), "total").tolist() == [at + at + 1 for at in range(16)]
    compiled.reset()
    assert words(compiled.run(), "total").tolist() == [at + 1 for at in range(16)]


def test_run_compiles_a_graph_once_and_again_when_it_changes(two: rg.Devices):
    def compiled(graph: rg.Graph) -> int:
        before = _counts()["graphs_compiled"]
        assert np.array_equal(texels(two.run(graph)["out"]), joined())
        return _counts()["graphs_compiled"] - before

    graph = halves()
    assert [compiled(graph), compiled(graph), compiled(halves())] == [1, 0, 0]
    assert compiled(halves(1, 0)) == 1


def test_reports_have_the_parts_of_all_devices(two: rg.Devices):
    frame = two.run(halves(), measure="passes")
    report = frame.report
    assert set(report.pass_us) == {"draw left", "draw right", "join"}
    assert {one["queue"].split()[0] for one in report.to_dict()["passes"]} == {"0", "1"}
    assert len(frame.reports) == len(two.compile(halves()).plan.parts)
    assert report.gpu_us is not None
    assert report.gpu_us <= sum(part.gpu_us or 0 for part in frame.reports) + 1e-6
    assert report.timeline == []
    assert frame.done
    assert frame.wait(0)
    weighted = two.plan(halves(), weights=report)
    assert weighted.check() == []


def test_plans_are_made_without_devices_and_kept_in_files(two: rg.Devices, tmp_path: Path):
    graph = halves()
    plan = two.plan(graph)
    assert str(plan).startswith("halves: 2 devices, ")
    assert "device 1: " in str(plan)
    path = tmp_path / "halves.rdevices.json"
    plan.save(path)
    again = rg.DevicesPlan.load(path, graph)
    assert again == plan
    assert hash(again) == hash(plan)
    assert rg.DevicesPlan.from_json(plan.to_json(), graph).to_dict() == plan.to_dict()
    assert np.array_equal(texels(two.run(again)["out"]), joined())
    plan.save(tmp_path / "halves.txt")
    assert (tmp_path / "halves.txt").read_text(encoding="utf-8") == str(plan)
    profiles = [device.profile for device in two.devices]
    assert graph.bake_devices(profiles).to_dict()["parts"] == plan.to_dict()["parts"]
    assert (plan.graph_name, plan.graph_hash, len(plan.profiles)) == ("halves", graph.hash, 2)
    assert plan.frame_us > 0
    assert plan.one_device_us > 0


def test_a_plan_that_is_wrong_or_of_another_graph_is_refused(two: rg.Devices):
    graph = halves()
    text = two.plan(graph).to_json()
    with pytest.raises(rg.GraphError, match="not one of graph"):
        rg.DevicesPlan.from_json(text, counting())
    values = rg.DevicesPlan.from_json(text, graph).to_dict()
    values["copies"][0]["resource"] = None
    unsound = rg.DevicesPlan.from_json(json.dumps(values), graph)
    assert unsound.check()
    with pytest.raises(rg.PlanError, match="RG-E504") as caught:
        two.compile(unsound)
    assert caught.value.code == "RG-E504"


def test_devices_that_do_not_fit_are_refused_with_their_codes(two: rg.Devices):
    def code(call) -> str:
        with pytest.raises(rg.RgError) as caught:
            call()
        assert caught.value.hint
        return str(caught.value.code)

    first = two.devices[0]
    assert code(lambda: rg.Devices([])) == "RG-E103"
    assert code(lambda: rg.Devices([0, 99])) == "RG-E103"
    assert code(lambda: rg.Devices([first, first])) == "RG-E131"
    assert code(lambda: two.compile(halves(0, 5))) == "RG-E212"
    assert code(lambda: two.run(first.compile(halves(0, 0)))) == "RG-E131"
    with second(BOTH[0]) as third, rg.Devices([first, third]) as others:
        assert code(lambda: others.run(two.compile(halves()))) == "RG-E131"
    assert code(lambda: rg.Devices([first, third])) == "RG-E130"
    assert not first.closed, "devices that were given stay open"
    plan = two.plan(halves())
    with rg.Devices([first]) as alone:
        assert code(lambda: alone.run(plan)) == "RG-E103"
        assert np.array_equal(texels(alone.run(halves(0, 0))["out"]), joined())
        assert code(lambda: alone.run(halves())) == "RG-E212"
    assert code(lambda: alone.run(halves(0, 0))) == "RG-E130"
    with pytest.raises(TypeError, match="list of devices"):
        rg.Devices(3)
    with pytest.raises(TypeError, match="chaos"):
        two.run(halves(), chaos=1)


def test_a_pass_that_its_device_cannot_run_is_refused_by_name(two: rg.Devices):
    code = """
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
var<workgroup> shared_words: array<u32, 10000000>;
@compute @workgroup_size(1) fn main() { shared_words[words[0]] = 1u; words[1] = shared_words[words[2]]; }"""
    g = rg.Graph("large")
    made = g.buffer("made", 64)
    g.fill("zero", made, device=0)
    g.compute("sort", code, words=made, groups=1, device=1)
    g.root(made)
    with pytest.raises(rg.DeviceError, match='pass "sort"') as caught:
        two.run(g)
    assert caught.value.code == "RG-E102"


def test_a_device_that_closes_ends_runs_with_its_error_and_not_those_of_others(own_device: rg.Device):
    other = second(BOTH[0])
    devices = rg.Devices([own_device, other])
    compiled = devices.compile(halves())
    frame = compiled.run()
    other.close()
    with pytest.raises(rg.DeviceError) as caught:
        compiled.run()
    assert caught.value.code == "RG-E130"
    assert np.array_equal(texels(frame["out"]), joined()), "frames stay readable"
    assert np.array_equal(texels(own_device.run(halves(0, 0))["out"]), joined())
    devices.close()
    devices.close()
    assert devices.closed
    assert "closed" in repr(devices)


def test_an_exception_of_a_function_ends_all_devices_and_the_next_run_works(two: rg.Devices):
    broken = True

    def fill(views: dict) -> None:
        if broken:
            raise ValueError("mine")
        np.frombuffer(views["made"], np.uint32)[:] = 3

    g = rg.Graph("host")
    made, out = g.buffer("made", 64), g.buffer("out", 64)
    g.cpu("fill", fill, writes=made, device=0)
    g.copy("copy", made, out, device=1)
    g.root(out)
    compiled = two.compile(g)
    with pytest.raises(ValueError, match="mine"):
        compiled.run()
    broken = False
    assert words(compiled.run(), "out").tolist() == [3] * 16


def test_a_function_cannot_wait_for_the_devices_that_wait_for_it(two: rg.Devices):
    seen: list[str] = []

    def fill(views: dict) -> None:
        for call in (lambda: two.run(halves()), lambda: two.devices[1].run(halves(0, 0)), two.close):
            with pytest.raises(rg.BusyError) as caught:
                call()
            seen.append(str(caught.value.code))
        np.frombuffer(views["made"], np.uint32)[:] = 1

    g = rg.Graph("host")
    made, out = g.buffer("made", 64), g.buffer("out", 64)
    g.cpu("fill", fill, writes=made, device=0)
    g.copy("copy", made, out, device=1)
    g.root(out)
    assert words(two.run(g), "out").tolist() == [1] * 16
    assert seen == [seen[0]] * 3


def test_names_of_devices_open_them_and_the_end_of_the_block_closes_them():
    with rg.Devices([0, 0], validate=False) as devices:
        assert len(devices) == 2
        assert devices.devices[0] is not devices.devices[1]
        assert np.array_equal(texels(devices.run(halves())["out"]), joined())
    assert all(device.closed for device in devices.devices)
    assert repr(devices).startswith('<Devices "')


def test_parts_of_roots_are_refused(two: rg.Devices):
    g = halves()
    out = next(one for one in g.resources if one.name == "out")
    assert isinstance(out, rg.Image)
    with pytest.raises(rg.GraphError, match="several devices") as caught:
        two.run(g, read=[out.mip(0)])
    assert caught.value.code == "RG-E225"


LARGE = """
struct Params { seed: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {
    let at = id.x + id.y * n.x * 64u;
    if at < arrayLength(&dst) { dst[at] = at * 2654435769u + params.seed; }
}"""


@pytest.mark.parametrize("size", [4, 8 << 20, (8 << 20) + 4, 21_000_004])
def test_contents_of_every_size_cross_piece_by_piece(gpus: rg.Devices, size: int):
    g = rg.Graph("large")
    made, out = g.buffer("made", size), g.buffer("out", size)
    g.compute("make", LARGE, dst=made, params={"seed": 0}, groups=(64, -(-size // 4 // 4096), 1), device=1)
    g.copy("take", made, out, device=0)
    g.root(out)
    compiled = gpus.compile(g)
    assert compiled.direct_copies in (0, 1)
    at = np.arange(size // 4, dtype=np.uint32)
    for seed in (0, 5):
        frame = compiled.run(params={("make", "params"): {"seed": seed}})
        assert np.array_equal(words(frame, "out"), at * np.uint32(2654435769) + np.uint32(seed))


def test_copies_go_through_memory_of_both_devices_where_drivers_import_it(gpus: rg.Devices):
    offered = all("llvmpipe" in one.info.name or "SwiftShader" in one.info.name for one in gpus.devices)
    if not offered:
        pytest.skip("of these drivers alone it is known that they import memory of the host")
    compiled = gpus.compile(halves())
    assert compiled.direct_copies == 1
    assert compiled.copy_ways == ["host"]
    assert "copies between devices: 1 through memory of the host" in compiled.run().report.notes


def test_copies_go_through_memory_of_the_host_where_cuda_is_wanted_and_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RGRAPH_CUDA", "libcuda_that_is_not_there.so.1")
    with rg.Devices([0, 0], validate=False) as devices:
        compiled = devices.compile(halves())
        frame = compiled.run()
        assert np.array_equal(texels(frame["out"]), joined())
        assert "cuda" not in compiled.copy_ways
        why = "CUDA does not copy from device 1 to 0: no CUDA driver found: libcuda_that_is_not_there.so.1"
        assert [note for note in frame.report.notes if note.startswith(why)], frame.report.notes
        assert devices.measure_copies().way == compiled.copy_ways[0]


@pytest.mark.parametrize("size", [64, 80 << 20])
def test_devices_that_send_to_each_other_before_they_receive_do_not_wait_in_a_circle(two: rg.Devices, size: int):
    # More than what slots hold, both ways at once.
    g = rg.Graph("exchange")
    roots = []
    for device, name in enumerate(["left", "right"]):
        made, there = g.buffer(name, size), g.buffer(f"{name} there", size)
        g.fill(f"make {name}", made, device + 1, device=device)
        g.copy(f"take {name}", made, there, device=1 - device)
        g.root(there)
        roots.append(f"{name} there")
    frame = two.run(g)
    for device, name in enumerate(roots):
        assert np.array_equal(words(frame, name), np.full(size // 4, device + 1, np.uint32))


def test_copies_are_measured_into_the_profiles_and_plans_use_that_price(two: rg.Devices, tmp_path: Path):
    before = two.profiles
    price = two.measure_copies()
    assert price.us > 0
    assert price.gb_s > 0
    assert price.direct == (price.way != "staged")
    for old, profile in zip(before, two.profiles, strict=True):
        values = profile.to_dict()
        assert (values["copy_us"], values["copy_gb_s"]) == pytest.approx((price.us, price.gb_s))
        assert {**values, "copy_us": 0, "copy_gb_s": 0} == {**old.to_dict(), "copy_us": 0, "copy_gb_s": 0}
        profile.save(tmp_path / "one.rprofile.json")
    assert two.plan(halves()) == halves().bake_devices(two.profiles)
    assert np.array_equal(texels(two.run(halves())["out"]), joined())
    with rg.Devices([two.devices[0]]) as alone:
        assert alone.measure_copies().direct
