"""Passes with shaders, declared without a device: what follows from the shader, and what is refused."""

import gc
import json
import weakref
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg

BLUR = """
struct Params { radius: i32, scale: f32 }
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
@group(0) @binding(2) var dst: texture_storage_2d<rgba16float, write>;
@group(0) @binding(3) var<uniform> params: Params;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let uv = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(textureDimensions(dst));
    textureStore(dst, id.xy, params.scale * textureSampleLevel(src, smooth_sampler, uv, f32(params.radius)));
}
"""

SUM = """
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { total[id.x] = total[id.x] + values[id.x]; }
"""

COMPOSE = """
struct Params { strength: f32 }
var<immediate> params: Params;
@group(0) @binding(0) var blurred: texture_2d<f32>;
@group(0) @binding(1) var original: texture_2d<f32>;
@group(0) @binding(2) var s: sampler;
@fragment
fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    return mix(textureSample(original, s, uv), textureSample(blurred, s, uv), params.strength);
}
"""

MESH = """
struct In { @location(0) position: vec2<f32>, @location(1) colour: vec4<f32> }
struct Out { @builtin(position) position: vec4<f32>, @location(0) colour: vec4<f32> }
@vertex fn vs(in: In) -> Out { return Out(vec4<f32>(in.position, 0.0, 1.0), in.colour); }
@fragment fn fs(in: Out) -> @location(0) vec4<f32> { return in.colour; }
"""

GLSL = """#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, rgba8) uniform writeonly image2D dst;
void main() { imageStore(dst, ivec2(gl_GlobalInvocationID.xy), vec4(1.0)); }
"""

PARAMS = {"radius": 2, "scale": 0.5}


def graph_with_images() -> tuple[rg.Graph, rg.Image, rg.Image]:
    g = rg.Graph("g")
    photo = g.import_array("photo", np.zeros((64, 96, 4), np.uint8))
    return g, photo, g.image("half", like=photo, scale=0.5, format="rgba16float")


def accesses(graph: rg.Graph, name: str) -> dict[str, dict]:
    """The accesses of a pass by resource."""
    declared = next(p for p in graph.to_dict()["passes"] if p["name"] == name)["accesses"]
    return {access["resource"]: access for access in declared}


def test_the_example_of_a_blur_is_declared_as_written():
    g, photo, half = graph_with_images()
    out = g.image("out", like=photo)
    g.compute("down", BLUR, src=photo, dst=half, params=PARAMS)
    g.raster("compose", COMPOSE, color=[out], blurred=half, original=photo, push={"strength": 0.7})
    g.root(out)
    plan = g.bake()
    assert plan.pass_names == ["down", "compose"]
    assert plan.check() == []
    images = g.to_dict()["images"]
    assert images["out"]["format"] == "rgba8unorm"
    assert images["photo"] == {"format": "rgba8unorm", "size": [96, 64], "imported": {}}


def test_accesses_come_from_the_shader():
    g, photo, half = graph_with_images()
    g.compute("blur", BLUR, src=photo, dst=half, params=PARAMS)
    used = accesses(g, "blur")
    assert used["photo"] == {"resource": "photo", "usage": "sampled", "stages": ["compute"]}
    assert used["half"]["usage"] == "storage_write"
    out = g.image("out", like=photo)
    g.raster("compose", COMPOSE, color=out, clear=(0, 0, 0, 1), blurred=half, original=photo, push=0.7)
    used = accesses(g, "compose")
    assert used["out"]["usage"] == "color_attachment"
    assert used["out"]["load"] == "clear"
    assert used["half"]["stages"] == ["fragment"]


def test_a_buffer_that_is_read_and_written_is_both():
    g = rg.Graph()
    values, total = g.buffer("values", 256), g.buffer("total", 256)
    g.fill("zero", total)
    g.fill("one", values[0:128], 1)
    g.compute("sum", SUM, values=values, total=total)
    used = accesses(g, "sum")
    assert (used["values"]["usage"], used["total"]["usage"]) == ("storage_read", "storage_read_write")
    assert accesses(g, "one")["values"]["range"] == [0, 128]


def test_parts_of_images_and_buffers_are_bound_by_views():
    g = rg.Graph()
    chain = g.image("chain", (64, 64), "rgba16float", mips=4, layers=2)
    g.compute("down", BLUR, src=chain.mip(0).layer(0), dst=chain.mip(1).layer(1), params=PARAMS)
    declared = g.to_dict()["passes"][0]["accesses"]
    assert [(access["mips"], access["layers"]) for access in declared] == [([0, 1], [0, 1]), ([1, 2], [1, 2])]
    assert chain.mip(1) == chain.mips(1, 2)
    assert chain.mip(1) != chain.mip(2)
    assert len({chain.mip(1), chain.mips(1, 2), chain.layer(0)}) == 2
    assert chain.mip(1).resource == chain
    assert (
        repr(chain.mip(1).layers(0, 2)) == '<View of "chain" 64x64 rgba16float 2 layers 4 mips, mip 1, layers 0 to 2>'
    )
    with pytest.raises(rg.GraphError, match="mips 2 to 2 are none"):
        chain.mips(2, 2)


def test_names_may_be_declared_later_and_are_checked_then():
    g = rg.Graph()
    g.compute("blur", BLUR, src="photo", dst="half", params=PARAMS)
    g.image("photo", (8, 8), "rgba8unorm", imported=True)
    g.image("half", (8, 8), "rgba8unorm")
    g.root("half")
    with pytest.raises(rg.GraphError) as caught:
        g.bake()
    assert caught.value.code == "RG-E310"
    assert caught.value.resource == "half"


def test_modules_see_their_own_names_first():
    g = rg.Graph()
    g.import_array("photo", np.zeros((8, 8, 4), np.uint8))
    m = g.module("m")
    m.image("half", (4, 4), "rgba16float")
    m.compute("blur", BLUR, src="photo", dst="half", params=PARAMS)
    g.root("m/half")
    assert set(accesses(g, "m/blur")) == {"photo", "m/half"}
    assert g.bake().pass_names == ["m/blur"]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"src": "buffer"}, "RG-E310", 'binding "src" of shader "blur" is texture_2d<f32>, got buffer "buffer"'),
        ({"dst": "photo"}, "RG-E310", 'got image "photo" of rgba8unorm'),
        ({"dst": "buffer"}, "RG-E310", 'got buffer "buffer"'),
        ({"src": "ints"}, "RG-E310", 'got image "ints" of rgba8uint'),
        ({"src": "layers"}, "RG-E310", 'got image "layers" of rgba8unorm with 3 layers'),
        ({"src": "volume"}, "RG-E310", "which is a volume"),
        ({"src": "msaa"}, "RG-E310", "with 4 samples"),
        ({"src": 3}, "RG-E310", "got plain data"),
        ({"smooth_sampler": "photo"}, "RG-E310", "rgraph.Sampler"),
        ({"smooth_sampler": rg.Sampler(compare="less")}, "RG-E310", "a sampler that compares"),
        ({"dts": "half"}, "RG-E312", 'did you mean "dst"?'),
        ({"src": None}, "RG-E311", 'binds nothing to "src"'),
        ({"push": 3}, "RG-E313", "has no push data"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(change: dict, code: str, words: str):
    g, _, _ = graph_with_images()
    g.buffer("buffer", 64)
    g.image("ints", (8, 8), "rgba8uint")
    g.image("layers", (8, 8), "rgba8unorm", layers=3)
    g.image("volume", (8, 8, 8), "rgba8unorm")
    g.image("msaa", (8, 8), "rgba8unorm", samples=4)
    before = g.hash
    with pytest.raises(rg.GraphError) as caught:
        g.compute("blur", BLUR, **({"src": "photo", "dst": "half", "params": PARAMS} | change))
    assert caught.value.code == code
    assert words in str(caught.value)
    assert caught.value.pass_name == "blur"
    assert any("test_shader_declare.py:" in note for note in caught.value.notes)
    assert g.hash == before


def test_all_that_is_wrong_with_the_bindings_is_said_at_once():
    g, photo, _ = graph_with_images()
    with pytest.raises(rg.GraphError) as caught:
        g.compute("blur", BLUR, sorc=photo, dst="half")
    assert [m.code for m in caught.value.mistakes] == ["RG-E312", "RG-E311", "RG-E311"]


def test_data_of_a_block_must_fit_its_layout():
    g, photo, half = graph_with_images()
    for params in ({"radius": 2}, {"radius": 2, "scale": "x"}, {"radius": 1.5, "scale": 1.0}, [1, 2, 3], b"123"):
        with pytest.raises((rg.ShaderError, TypeError)):
            g.compute("blur", BLUR, src=photo, dst=half, params=params)
    with pytest.raises(rg.ShaderError, match="did you mean 'scale'") as caught:
        g.compute("blur", BLUR, src=photo, dst=half, params={"radius": 2, "scael": 1.0})
    assert caught.value.pass_name == "blur"
    g.compute("blur", BLUR, src=photo, dst=half, params=b"12345678")


def test_numbers_of_numpy_are_data():
    g, photo, half = graph_with_images()
    params = {"radius": np.int64(2), "scale": np.float32(0.5)}
    g.compute("blur", BLUR, src=photo, dst=half, params=params)


def test_groups_must_be_said_where_they_cannot_be_told():
    other = "@group(0) @binding(4) var other: texture_storage_2d<r32float, write>;\n@group(0) @binding(3)"
    two = BLUR.replace("@group(0) @binding(3)", other)
    two = two.replace("let uv", "textureStore(other, id.xy, vec4<f32>(1.0)); let uv")
    g, photo, half = graph_with_images()
    other = g.image("other", (8, 8), "r32float")
    with pytest.raises(rg.GraphError, match="writes 2 images") as caught:
        g.compute("blur", two, src=photo, dst=half, other=other, params=PARAMS)
    assert caught.value.code == "RG-E314"
    counts = g.import_array("counts", np.array([1, 1, 1], np.uint32), as_buffer=True)
    g.compute("a", two, src=photo, dst=half, other=other, params=PARAMS, groups=(4, 4))
    g.compute("b", two, src=photo, dst=half, other=other, params=PARAMS, groups=counts[0:12])
    assert accesses(g, "b")["counts"]["usage"] == "indirect"


def test_a_shader_may_be_text_or_a_path_or_spirv(tmp_path: Path):
    g = rg.Graph()
    out = g.image("out", (8, 8), "rgba8unorm")
    g.compute("text", GLSL, dst=out)
    path = tmp_path / "shader.comp"
    path.write_text(GLSL)
    g.compute("path", path, dst=out)
    g.compute("name", str(path), dst=out)
    with pytest.raises(FileNotFoundError):
        g.compute("missing", str(tmp_path / "missing.wgsl"), dst=out)
    path.write_text(GLSL.replace("vec4(1.0)", "vec5(1.0)"))
    with pytest.raises(rg.ShaderError) as caught:
        g.compute("wrong", path, dst=out)
    assert caught.value.line == 4
    assert caught.value.shader == str(path)
    assert "^" in str(caught.value)
    with pytest.raises(rg.ShaderError):
        g.compute("bytes", b"no SPIR-V at all", dst=out)
    with pytest.raises(TypeError, match="a shader is its text"):
        g.compute("number", 3, dst=out)


def test_targets_must_be_what_the_fragment_stage_writes():
    g, photo, half = graph_with_images()
    rest = {"blurred": half, "original": photo, "push": 0.5}
    ints = g.image("ints", (8, 8), "rgba8uint")
    for color, code in (([half, half], "RG-E315"), ([], "RG-E315"), ([ints], "RG-E315")):
        with pytest.raises(rg.GraphError) as caught:
            g.raster("compose", COMPOSE, color=color, depth=g.image(f"d{code}{len(color)}{color}", (8, 8)), **rest)
        assert caught.value.code == code
    g.raster("compose", COMPOSE, color=["later", None], clear=[(0, 0, 0, 1), None], **rest)


def test_vertices_are_packed_one_behind_the_other_unless_said_otherwise():
    g = rg.Graph()
    out = g.image("out", (8, 8), "rgba8unorm")
    mesh = g.import_array("mesh", np.zeros((3, 6), np.float32), as_buffer=True)
    g.raster("a", MESH, color=out, clear=(0, 0, 0, 0), vertex_buffers=mesh)
    g.raster(
        "b",
        MESH,
        color=out,
        vertex_buffers=[
            {"buffer": mesh, "attributes": ["position"], "stride": 24},
            {"buffer": mesh, "attributes": [("colour", "rgba32float", 8)], "stride": 24},
        ],
        blend="alpha",
        cull="back",
    )
    assert accesses(g, "a")["mesh"]["usage"] == "vertex"
    with pytest.raises(rg.GraphError, match='no vertex buffer with "colour"') as caught:
        g.raster("c", MESH, color=out, vertex_buffers=[{"buffer": mesh, "attributes": ["position"]}])
    assert caught.value.code == "RG-E316"
    with pytest.raises(rg.GraphError, match='did you mean "colour"'):
        g.raster("c", MESH, color=out, vertex_buffers=[{"buffer": mesh, "attributes": ["color"]}])


@pytest.mark.parametrize("wrong", [{"blend": "alhpa"}, {"cull": "bcak"}, {"topology": "x"}, {"write_mask": "rx"}])
def test_misspelt_words_of_draws_are_graph_errors(wrong: dict):
    g, photo, half = graph_with_images()
    with pytest.raises(rg.GraphError):
        g.raster("c", COMPOSE, color=photo, blurred=half, original=photo, push=1, **wrong)


def test_samples_are_resolved_to_images_beside_their_targets():
    g, photo, half = graph_with_images()
    msaa = g.image("msaa", (8, 8), "rgba8unorm", samples=4)
    out = g.image("out", (8, 8), "rgba8unorm")
    g.raster("c", COMPOSE, color=msaa, resolve=out, clear=(0, 0, 0, 0), blurred=half, original=photo, push=1)
    assert accesses(g, "c")["out"] == {"resource": "out", "usage": "resolve_attachment", "resolves": "msaa"}


@pytest.mark.parametrize(
    ("shape", "dtype", "how", "format_", "size"),
    [
        ((4, 6, 4), "u1", {}, "rgba8unorm", [6, 4]),
        ((4, 6, 4), "u1", {"srgb": True}, "rgba8unorm-srgb", [6, 4]),
        ((4, 6), "u1", {}, "r8unorm", [6, 4]),
        ((4, 6, 1), "f4", {}, "r32float", [6, 4]),
        ((4, 6, 2), "f2", {}, "rg16float", [6, 4]),
        ((4, 6, 4), "u2", {}, "rgba16uint", [6, 4]),
        ((4, 6, 4), "u2", {"format": "rgba16unorm"}, "rgba16unorm", [6, 4]),
        ((4, 6), "u4", {"format": "rgb10a2unorm"}, "rgb10a2unorm", [6, 4]),
        ((4, 6), "f4", {"format": "depth32float"}, "depth32float", [6, 4]),
        ((2, 4, 6, 4), "i1", {"volume": True}, "rgba8snorm", [6, 4, 2]),
    ],
)
def test_arrays_become_images_by_their_shape_and_dtype(shape, dtype, how, format_, size):
    g = rg.Graph()
    g.import_array("a", np.zeros(shape, dtype), **how)
    image = g.to_dict()["images"]["a"]
    assert (image["format"], image["size"]) == (format_, size)


@pytest.mark.parametrize(
    ("array", "how", "words"),
    [
        (np.zeros((4, 6, 8), "u1"), {}, "1 to 4 channels"),
        (np.zeros((4, 6, 4), "f8"), {}, 'array.astype("float32")'),
        (np.zeros((4,), "u1"), {}, "as_buffer=True"),
        (np.zeros((0, 4, 4), "u1"), {}, "at least 1"),
        (np.zeros((4, 8, 4), "u1")[:, ::2], {}, "ascontiguousarray"),
        (np.zeros((4, 4, 4), ">f4"), {}, "byte order"),
        (np.zeros((4, 4, 4), "c8"), {}, "complex64"),
        (np.zeros((4, 4, 4), "f4"), {"format": "rgba8unorm"}, "rgba8unorm is (height, width, 4) of uint8"),
        (np.zeros((4, 4, 2), "u1"), {"srgb": True}, "(height, width, 3 or 4) of uint8"),
        (np.zeros((0,), "u1"), {"as_buffer": True}, "at least one byte"),
    ],
)
def test_arrays_that_are_no_images_are_refused_with_what_would_be_right(array, how, words):
    g = rg.Graph()
    with pytest.raises(rg.GraphError) as caught:
        g.import_array("a", array, **how)
    assert caught.value.code == "RG-E320"
    assert words in str(caught.value)
    assert g.resources == []


def test_what_is_no_array_is_a_type_error():
    with pytest.raises(TypeError, match="is of type list, which has no buffer"):
        rg.Graph().import_array("a", [[1, 2], [3, 4]])


def test_transfers_declare_both_sides():
    g = rg.Graph()
    a, b = g.image("a", (8, 8), "rgba8unorm", mips=2), g.image("b", (4, 4), "rgba8unorm")
    c, d = g.buffer("c", 256), g.buffer("d", 128)
    g.clear("clear", a, (1, 0, 0, 1))
    g.blit("blit", a, b, filter="nearest")
    g.copy("down", b, a.mip(1))
    g.copy("out", b, c)
    g.copy("part", c[0:128], d, queue="transfer")
    assert accesses(g, "clear")["a"]["transfer"] == "clear"
    assert accesses(g, "blit")["b"] == {"resource": "b", "usage": "transfer_dst", "mips": [0, 1], "transfer": "blit"}
    assert accesses(g, "down")["a"]["mips"] == [1, 2]
    assert accesses(g, "part")["c"]["range"] == [0, 128]
    g.root(d)
    assert g.bake().pass_names == ["clear", "blit", "out", "part"]
    for wrong in (
        lambda: g.blit("x", c, b),
        lambda: g.clear("x", c, 1.0),
        lambda: g.fill("x", a),
        lambda: g.clear("x", a, 1.0),
        lambda: g.copy("x", c[0:8], d[0:16]),
        lambda: g.copy("x", "no", d),
    ):
        with pytest.raises(rg.GraphError):
            wrong()
    with pytest.raises(TypeError, match="unexpected keyword argument 'fliter'"):
        g.copy("x", a, b, fliter=3)


def test_functions_declare_what_they_say():
    g = rg.Graph()
    a, b, image = g.buffer("a", 16), g.buffer("b", 16), g.image("image", (8, 8), "rgba8unorm")
    g.cpu("host", print, reads=a, writes=[a, b])
    assert {name: access["usage"] for name, access in accesses(g, "host").items()} == {
        "a": "host_write",
        "b": "host_write",
    }
    g.callback("record", print, reads={a: "index"}, writes=[b], color=image, clear=(0, 0, 0, 0))
    assert {name: access["usage"] for name, access in accesses(g, "record").items()} == {
        "a": "index",
        "b": "storage_write",
        "image": "color_attachment",
    }
    with pytest.raises(rg.GraphError, match="copy it into a buffer first"):
        g.cpu("x", print, reads=image)
    with pytest.raises(TypeError, match="a function"):
        g.cpu("x", 3)


def test_passes_with_shaders_take_what_every_pass_takes():
    g, photo, half = graph_with_images()
    g.compute("blur", BLUR, src=photo, dst=half, params=PARAMS, queue="async_compute", weight_us=7.0, side_effects=True)
    g.compute("again", BLUR, src=photo, dst=half, params=PARAMS, after="blur", conditional="flag")
    first, second = g.to_dict()["passes"]
    assert (first["queue"], first["weight_us"], first["side_effects"]) == ("async_compute", 7, True)
    assert (second["after"], second["conditional"]) == (["blur"], "flag")


def test_bindings_takes_variables_called_like_arguments():
    shader = BLUR.replace("src", "push")
    g, photo, half = graph_with_images()
    g.compute("blur", shader, dst=half, params=PARAMS, bindings={"push": photo})
    assert accesses(g, "blur")["photo"]["usage"] == "sampled"


def test_samplers_are_values():
    assert rg.Sampler() == rg.Sampler("linear", address="clamp")
    assert rg.Sampler("nearest") != rg.Sampler()
    assert len({rg.Sampler("nearest", address="repeat"), rg.Sampler("nearest", address=("repeat",) * 3)}) == 1
    assert repr(rg.Sampler("nearest", address="repeat", compare="less")) == "<Sampler nearest, repeat, less>"
    for wrong in ({"filter": "x"}, {"address": "x"}, {"anisotropy": 0.5}, {"lod": (2, 1)}, {"compare": "x"}):
        with pytest.raises(rg.GraphError):
            rg.Sampler(**wrong)


def test_a_graph_with_functions_and_arrays_is_collected():
    class Big:
        pass

    big = Big()
    seen = weakref.ref(big)
    g = rg.Graph()
    g.buffer("b", 16)
    g.import_array("a", np.zeros((4, 4), np.uint8))

    def function(views: dict, big: Big = big, graph: rg.Graph = g) -> None:
        del views, big, graph

    g.cpu("host", function, writes="b", side_effects=True)
    plan = g.bake()
    assert plan.pass_names == ["host"]
    del big, g, function, plan
    gc.collect()
    assert seen() is None


def test_a_declaration_with_shaders_is_a_plain_graph_file():
    g, photo, half = graph_with_images()
    g.compute("blur", BLUR, src=photo, dst=half, params=PARAMS)
    g.root(half)
    again = rg.Graph.from_json(g.to_json())
    assert json.loads(again.to_json()) == g.to_dict()
    assert again.hash == g.hash


def test_a_vertex_format_that_does_not_exist_is_refused_with_the_nearest():
    g = rg.Graph()
    buffer, out = g.import_buffer("mesh", 64), g.image("out", (4, 4), "rgba8unorm")
    attributes = [("position", "float32x5", 0)]
    with pytest.raises(rg.GraphError, match='no vertex format called "float32x5"') as caught:
        g.raster("draw", CORNERS, color=out, vertex_buffers=[{"buffer": buffer, "attributes": attributes}])
    assert caught.value.hint.startswith('did you mean "float32x')


def test_a_misaligned_vertex_attribute_is_refused_with_both_numbers():
    g = rg.Graph()
    buffer, out = g.import_buffer("mesh", 64), g.image("out", (4, 4), "rgba8unorm")
    for attribute, stride in ((("position", "float32x3", 2), 16), (("position", "float32x3", 0), 13)):
        layout = {"buffer": buffer, "attributes": [attribute], "stride": stride}
        with pytest.raises(rg.GraphError, match="RG-E316") as caught:
            g.raster("draw", CORNERS, color=out, vertex_buffers=[layout])
        assert f"byte {attribute[2]} of {stride} per element" in str(caught.value)
        assert "multiples of 4" in str(caught.value)
    assert g.passes == []


CORNERS = """
@vertex fn corner(@location(0) position: vec3<f32>) -> @builtin(position) vec4<f32> { return vec4(position, 1.0); }
@fragment fn white() -> @location(0) vec4<f32> { return vec4(1.0); }"""


def test_a_slice_of_a_buffer_without_an_end_goes_on_to_that_of_the_buffer():
    g = rg.Graph("slices")
    words = g.buffer("words", 64)
    assert (words[16:], words[:16], words[:]) == (words[16:64], words[0:16], words[0:64])
    later = g.buffer("later", modifies=words)
    assert later[32:] == later[32:64]
    with pytest.raises(rg.GraphError, match="bytes 64 to 64 are none"):
        words[64:]
