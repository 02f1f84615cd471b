"""Graph files with work: what passes do, read and written; every mistake with its place."""

import json
from pathlib import Path

import pytest

import rgraph as rg

BLUR = """
struct Params { radius: u32, weights: array<vec4<f32>, 2> }
struct Push { gain: f32, tint: vec3<f32> }
var<immediate> push: Push;
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba16float, write>;
@group(0) @binding(2) var smooth_: sampler;
@group(0) @binding(3) var<uniform> params: Params;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let color = textureSampleLevel(src, smooth_, vec2<f32>(id.xy) / 16.0, f32(params.radius));
    textureStore(dst, id.xy, color * push.gain + vec4(push.tint, 1.0) + params.weights[1]);
}
"""
COUNT = """
@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { counts[id.x] = id.x; }
"""
DRAW = """
struct Out { @builtin(position) at: vec4<f32>, @location(0) uv: vec2<f32> }
@group(0) @binding(0) var<uniform> turn: mat4x4<f32>;
@group(0) @binding(1) var color: texture_2d<f32>;
@group(0) @binding(2) var smooth_: sampler;
@vertex fn vertex(@location(0) at: vec2<f32>, @location(1) uv: vec2<f32>) -> Out {
    return Out(turn * vec4<f32>(at, 0.5, 1.0), uv);
}
@fragment fn fragment(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    return textureSample(color, smooth_, uv);
}
"""
WEIGHTS = [[0.1, 0.2, 0.3, 0.4], [1, 2, 3, 4]]
PUSH = {"gain": 0.7, "tint": [1, -2.5, 1e-9]}


def whole() -> rg.Graph:
    """A graph with every kind of work."""
    g = rg.Graph("frame", size=(16, 16))
    source, target = g.image("source", format="rgba8unorm", mips=2), g.image("target", format="rgba16float")
    depth, half = g.image("depth", format="depth24plus-stencil8"), g.image("half", format="rgba16float", size=(8, 8))
    counts, copies = g.buffer("counts", 1024), g.buffer("copies", 512)
    corners, arguments = g.buffer("corners", 256), g.buffer("arguments", 64)
    g.clear("clear", source, (1, 0.5, 0.25, 1))
    g.clear("clear low", source.mip(1), (0, 0, 0, 0))
    smooth = rg.Sampler("nearest", mip="linear", address=("repeat", "mirror"), anisotropy=1, lod=(0, 4))
    bindings = {"src": source, "dst": target, "smooth_": smooth, "params": {"radius": 1, "weights": WEIGHTS}}
    g.module("bloom").compute("blur", BLUR, bindings=bindings, push=PUSH, queue="async_compute", weight_us=40)
    g.compute("count", COUNT, counts=counts[0:512], groups=2, side_effects=True)
    g.fill("words", arguments, 1)
    g.compute("more", COUNT, counts=copies, groups=arguments[16:28], after="count")
    g.fill("corner words", corners[0:128], 0x3F800000)
    blend = {"color": ("source_alpha", "one", "add"), "alpha": ("zero", "one", "max")}
    stencil = ({"compare": "less", "pass": "replace", "reference": 3}, {"fail": "invert", "write_mask": 15})
    identity = [[float(x == y) for x in range(4)] for y in range(4)]
    vertices = {"buffer": corners, "attributes": ["at", ("uv", "rg16float", 8)], "stride": 16, "offset": 32}
    g.raster("draw", DRAW, color=target, load="load", depth=depth, clear_depth=(1, 7), turn=identity,
             bindings={"color": source.mip(0)}, vertex_buffers=vertices, vertices=6, instances=2, blend=[blend],
             write_mask="rgb", cull="back", front="cw", topology="triangle_strip", depth_test="greater",
             depth_bias=(1.5, -0.25), stencil=stencil, viewport=(1, 2, 8, 8))  # fmt: skip
    g.blit("halve", target, half, filter="nearest")
    g.copy("out", half, copies)
    g.copy("part", counts[0:64], copies[64:128])
    g.root(target, half, copies, depth)
    return g


def test_a_graph_with_every_kind_of_work_is_the_same_after_saving(tmp_path: Path):
    g = whole()
    g.save(tmp_path / "frame.rgraph.json")
    h = rg.Graph.load(tmp_path / "frame.rgraph.json")
    assert h.to_json() == g.to_json() == (tmp_path / "frame.rgraph.json").read_text()
    assert h.hash == g.hash
    for profile in ("discrete", "single_queue", "minimal"):
        assert h.bake(profile) == g.bake(profile)
    assert h.files == [str(tmp_path / "frame.rgraph.json")]


def test_data_is_written_as_it_was_given():
    work = {p["name"]: p for p in whole().to_dict()["passes"]}
    blur = work["bloom/blur"]["compute"]
    assert blur["push"] == PUSH
    assert blur["bindings"]["params"] == {"data": {"radius": 1, "weights": WEIGHTS}}
    assert "groups" not in blur  # what is written says how many
    assert work["count"]["compute"]["groups"] == [2, 1, 1]
    assert work["more"]["compute"]["groups"] == {"resource": "arguments", "range": [16, 28]}
    assert work["clear low"]["clear"]["image"] == {"resource": "source", "mip": 1}


def test_data_that_is_no_number_is_written_as_bytes():
    g = rg.Graph(size=(4, 4))
    g.compute("blur", BLUR, bindings={"src": "a", "params": {"radius": 1, "weights": [[float("nan")] * 4] * 2}},
              dst="b", push=PUSH)  # fmt: skip
    g.image("a", format="rgba8unorm"), g.image("b", format="rgba16float")
    text = g.to_json()
    assert "base64" in text
    assert rg.Graph.from_json(text).to_json() == text


MINIMAL = {
    "rgraph": 1,
    "reference_size": [16, 16],
    "images": {"a": {"format": "rgba8unorm", "imported": True}, "b": {"format": "rgba16float"}},
    "buffers": {"n": {"size": 256}},
    "shaders": {"blur": {"wgsl": BLUR.split("\n")}, "count": {"wgsl": COUNT}},
    "samplers": {"near": {"filter": "nearest"}},
    "passes": [],
    "roots": ["b"],
}
BINDINGS = {"src": "a", "dst": "b", "smooth_": "near", "params": {"radius": 0, "weights": WEIGHTS}}
COMPUTE = {"shader": "blur", "bindings": BINDINGS, "push": PUSH}


def read(work: dict, **more: object) -> rg.Graph:
    return rg.Graph.from_dict(MINIMAL | {"passes": [{"name": "blur", **work}]} | more)


def accesses(g: rg.Graph, name: str = "blur") -> list[tuple[str, str]]:
    found = next(p for p in g.to_dict()["passes"] if p["name"] == name)
    return [(access["resource"], access["usage"]) for access in found["accesses"]]


def test_accesses_follow_from_the_shader():
    g = read({"compute": COMPUTE})
    assert accesses(g) == [("a", "sampled"), ("b", "storage_write")]
    assert g.passes[0].queue == "compute"
    assert g.bake().pass_names == ["blur"]


def test_an_access_that_is_said_stands_in_place_of_the_one_that_follows():
    declared = {"resource": "b", "usage": "storage_write", "load": "discard"}
    g = read({"compute": COMPUTE, "accesses": [declared]})
    assert accesses(g) == [("b", "storage_write"), ("a", "sampled")]
    assert g.to_dict()["passes"][0]["accesses"][0] == declared


def test_steps_of_one_pass_are_done_in_a_row():
    g = read({"steps": [{"compute": COMPUTE}, {"fill": {"buffer": "n", "word": -1}}], "queue": "graphics"})
    assert accesses(g) == [("a", "sampled"), ("b", "storage_write"), ("n", "transfer_dst")]
    assert rg.Graph.from_json(g.to_json()).to_json() == g.to_json()


WRONG: list[tuple[dict, str, str, str]] = [
    ({"compute": COMPUTE | {"shader": "blurr"}}, "RG-E202", 'names shader "blurr"', 'did you mean "blur"?'),
    ({"compute": COMPUTE | {"bindings": BINDINGS | {"smooth_": "nera"}}}, "RG-E202", "sampler", '"near"'),
    ({"compute": COMPUTE | {"bindings": BINDINGS | {"src": "aa"}}}, "RG-E202", 'resource "aa"', ""),
    ({"compute": COMPUTE | {"bindings": BINDINGS | {"scr": "a"}}}, "RG-E312", '"scr"', 'did you mean "src"?'),
    ({"compute": COMPUTE | {"bindings": {"src": "a"}}}, "RG-E311", 'nothing to "dst"', ""),
    ({"compute": COMPUTE | {"bindings": BINDINGS | {"src": "n"}}}, "RG-E310", 'got buffer "n"', ""),
    ({"compute": COMPUTE | {"bindings": BINDINGS | {"src": 3}}}, "RG-E310", "plain data (3)", "name an image"),
    ({"compute": COMPUTE | {"group": [1]}}, "RG-E222", "compute.group is not a key", '"groups"'),
    ({"compute": COMPUTE | {"groups": "a"}}, "RG-E218", "is an image", ""),
    ({"compute": COMPUTE | {"groups": [1, 2, 3, 4]}}, "RG-E222", "a list of 4", ""),
    (
        {"compute": {"shader": "count", "bindings": {"counts": {"resource": "n", "range": [8, 8]}}}},
        "RG-E209",
        "empty",
        "",
    ),
    (
        {"compute": {"shader": "count", "bindings": {"counts": {"resource": "n", "mips": [5, 2]}}}},
        "RG-E209",
        "empty",
        "",
    ),
    ({"compute": {"shader": {"wgsl": COUNT, "glsl": ""}}}, "RG-E222", "is no shader", "give one of"),
    ({"compute": {"shader": {"spirv": "???"}}}, "RG-E222", "base 64", ""),
    ({"compute": {"shader": "blur.wgsl"}}, "RG-E222", "has no folder", ""),
    ({"compute": COMPUTE, "fill": {"buffer": "n"}}, "RG-E222", "two things at once", '"steps"'),
    ({"copy": {"from": "a"}}, "RG-E222", 'has no "to"', ""),
    (
        {"copy": {"from": {"resource": "n", "range": [0, 8]}, "to": {"resource": "n", "range": [8, 12]}}},
        "RG-E317",
        "8 bytes to 4",
        "",
    ),
    ({"blit": {"from": "a", "to": "b", "filter": "liner"}}, "RG-E222", "not a filter", '"linear"'),
    ({"clear": {"image": "n", "value": 0}}, "RG-E317", "clears a buffer", ""),
    ({"fill": {"buffer": "n", "word": 1.5}}, "RG-E213", "an integer", ""),
    ({"steps": [{"compute": COMPUTE, "fill": {"buffer": "n"}}]}, "RG-E222", "no single step", ""),
    ({"raster": {"shader": {"wgsl": DRAW}}}, "RG-E315", "draws to nothing", "color"),
]


@pytest.mark.parametrize(("work", "code", "says", "helps"), WRONG, ids=[f"{w[1]} {w[2]}" for w in WRONG])
def test_wrong_work_is_refused_with_its_place(work: dict, code: str, says: str, helps: str):
    with pytest.raises(rg.GraphError) as caught:
        read(work)
    mistake = caught.value.mistakes[0]
    assert mistake.code == code, mistake
    assert says in mistake.message, mistake
    assert helps in mistake.hint, mistake
    assert "text:" in str(caught.value)


def test_a_shader_that_does_not_compile_is_a_shader_error():
    with pytest.raises(rg.ShaderError, match="RG-E301"):
        read({"compute": {"shader": {"wgsl": "fn main( {"}}})


def test_a_function_refuses_to_be_saved_and_may_be_left_out(tmp_path: Path):
    g = whole()
    g.cpu("log", print, reads="copies", side_effects=True)
    with pytest.raises(rg.GraphError, match=r'pass "log" is a function.*\n.*test_graph_files_work\.py') as caught:
        g.save(tmp_path / "frame.rgraph.json")
    assert 'callbacks="skip"' in str(caught.value)
    assert not list(tmp_path.iterdir())
    g.save(tmp_path / "frame.rgraph.json", callbacks="skip")
    assert rg.Graph.load(tmp_path / "frame.rgraph.json").bake() == g.bake()
    with pytest.raises(rg.GraphError, match='did you mean "skip"'):
        g.save(tmp_path / "frame.rgraph.json", callbacks="skipp")


def test_shaders_in_files_below_the_folder_stay_there(tmp_path: Path):
    (tmp_path / "shaders").mkdir()
    file = tmp_path / "shaders" / "count.wgsl"
    file.write_text(COUNT)
    g = rg.Graph()
    n = g.buffer("n", 256)
    g.compute("count", file, counts=n)
    g.root(n)
    assert g.files == [str(file)]
    g.save(tmp_path / "g.rgraph.json")
    assert (
        json.loads((tmp_path / "g.rgraph.json").read_text())["passes"][0]["compute"]["shader"] == "shaders/count.wgsl"
    )
    h = rg.Graph.load(tmp_path / "g.rgraph.json")
    assert h.files == [str(tmp_path / "g.rgraph.json"), str(file)]
    assert h.bake() == g.bake()
    h.save(tmp_path / "shaders" / "h.rgraph.json")
    assert '"shader": "count.wgsl"' in (tmp_path / "shaders" / "h.rgraph.json").read_text()
    (tmp_path / "else").mkdir()
    h.save(tmp_path / "else" / "i.rgraph.json")
    assert COUNT.split("\n") in [
        s["wgsl"] for s in json.loads((tmp_path / "else" / "i.rgraph.json").read_text())["shaders"].values()
    ]
    file.unlink()
    with pytest.raises(rg.GraphError, match=r"count\.wgsl") as caught:
        rg.Graph.load(tmp_path / "g.rgraph.json")
    assert caught.value.files == [str(tmp_path / "g.rgraph.json"), str(file)]


@pytest.mark.parametrize(
    "name", ["/etc/passwd.wgsl", "../out.wgsl", "a/../../out.wgsl", "..\\out.wgsl", "link.wgsl", "C:x.wgsl"]
)
def test_no_file_outside_the_folder_is_read(tmp_path: Path, name: str):
    (tmp_path / "out.wgsl").write_text(COUNT)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "link.wgsl").symlink_to(tmp_path / "out.wgsl")
    values = MINIMAL | {"passes": [{"name": "p", "compute": {"shader": name, "bindings": {"counts": "n"}}}]}
    (folder / "g.rgraph.json").write_text(json.dumps(values))
    with pytest.raises(rg.GraphError, match=r"RG-E222 .*names file"):
        rg.Graph.load(folder / "g.rgraph.json")
    values = MINIMAL | {"passes": [{"include": name.replace(".wgsl", ".rgraph.json")}]}
    (folder / "link.rgraph.json").symlink_to(tmp_path / "out.wgsl")
    (folder / "g.rgraph.json").write_text(json.dumps(values))
    with pytest.raises(rg.GraphError, match=r"RG-E222 .*names file"):
        rg.Graph.load(folder / "g.rgraph.json")
