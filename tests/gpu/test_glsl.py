"""GLSL as people write it runs on a device."""

from pathlib import Path

import numpy as np
import pytest

import rgraph as rg

MIRROR = """#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D picture;
vec4 at(sampler2D from, vec2 place) { return texture(from, place); }
void main() { color = at(picture, vec2(1.0 - uv.x, uv.y)); }
"""

HISTOGRAM = """#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform texture2D picture;
layout(set = 0, binding = 1) buffer Bins { uint count[256]; } bins;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, textureSize(picture, 0)))) return;
    atomicAdd(bins.count[uint(texelFetch(picture, at, 0).r * 255.0 + 0.5)], 1u);
}
"""


def noise(size: tuple[int, int] = (48, 64)) -> np.ndarray:
    return np.random.default_rng(5).integers(0, 256, (*size, 4), np.uint8)


@pytest.mark.parametrize("sampler", [None, "nearest"])
def test_a_combined_sampler_is_bound_with_its_image(device: rg.Device, tmp_path: Path, sampler: str | None):
    pixels = noise()
    g = rg.Graph("mirror")
    picture = g.import_array("picture", pixels)
    out = g.image("out", like=picture)
    bound = picture if sampler is None else (picture, rg.Sampler(filter=sampler))
    g.raster("mirror", MIRROR, color=out, picture=bound)
    g.root(out)
    frame = device.run(g)
    np.testing.assert_array_equal(np.asarray(frame["out"]), pixels[:, ::-1])
    frame["out"].save(tmp_path / "mirror.png")
    assert (tmp_path / "mirror.png").stat().st_size > 1000


def test_atomics_count_and_are_read_and_written(device: rg.Device):
    pixels = noise()
    g = rg.Graph("histogram")
    picture = g.import_array("picture", pixels)
    bins = g.import_array("bins", np.zeros(256, np.uint32), as_buffer=True)
    g.compute("count", HISTOGRAM, picture=picture, bins=bins, groups=(8, 6))
    g.root(bins)
    (access,) = (a for a in g.to_dict()["passes"][0]["accesses"] if a["resource"] == "bins")
    assert access["usage"] == "storage_read_write"
    counted = np.asarray(device.run(g)["bins"]).view(np.uint32)
    np.testing.assert_array_equal(counted, np.bincount(pixels[..., 0].ravel(), minlength=256))


def test_an_index_beyond_a_buffer_stays_inside_of_it(device: rg.Device):
    text = """#version 450
    layout(local_size_x = 64) in;
    layout(set = 0, binding = 0) buffer Words { uint all[]; } words;
    layout(set = 0, binding = 1) buffer Others { uint all[]; } others;
    void main() { words.all[gl_GlobalInvocationID.x * 4096u] = 7u; others.all[0] = words.all[1u << 20]; }
    """
    g = rg.Graph("beyond")
    words = g.import_array("words", np.zeros(64, np.uint32), as_buffer=True)
    others = g.import_array("others", np.full(64, 3, np.uint32), as_buffer=True)
    g.compute("beyond", text, words=words, others=others, groups=4)
    g.root(words, others)
    frame = device.run(g)
    assert np.asarray(frame["words"]).view(np.uint32)[0] == 7
    np.testing.assert_array_equal(np.asarray(frame["others"]).view(np.uint32)[1:], 3)


def test_files_are_included_and_read_anew(device: rg.Device, tmp_path: Path):
    shader = tmp_path / "fill.comp"
    shader.write_text("""#version 450
#include "parts/level.glsl"
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Data { float all[]; } data;
void main() { data.all[gl_GlobalInvocationID.x] = LEVEL; }
""")
    (tmp_path / "parts").mkdir()
    for level in (0.5, 2.0):
        (tmp_path / "parts" / "level.glsl").write_text(f"#define LEVEL {level}\n")
        g = rg.Graph("fill")
        data = g.import_array("data", np.zeros(4, np.float32), as_buffer=True)
        g.compute("fill", shader, data=data)
        g.root(data)
        assert np.asarray(device.run(g)["data"]).view(np.float32).tolist() == [level] * 4
    g.save(tmp_path / "graphs.rgraph.json")
    (tmp_path / "elsewhere").mkdir()
    g.save(tmp_path / "elsewhere" / "fill.rgraph.json")
    for file in ("graphs.rgraph.json", "elsewhere/fill.rgraph.json"):
        loaded = rg.Graph.load(tmp_path / file)
        assert np.asarray(device.run(loaded)["data"]).view(np.float32).tolist() == [2.0] * 4


def test_files_above_the_shader_are_included_and_a_graph_file_stays_below_its_folder(tmp_path: Path):
    (tmp_path / "shaders" / "lights").mkdir(parents=True)
    (tmp_path / "inc").mkdir()
    shader = tmp_path / "shaders" / "lights" / "fill.comp"
    shader.write_text("""#version 450
#include "../../inc/level.glsl"
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Data { float all[]; } data;
void main() { data.all[gl_GlobalInvocationID.x] = LEVEL; }
""")
    (tmp_path / "inc" / "level.glsl").write_text('#include "../inc/value.glsl"\n#define LEVEL VALUE\n')
    (tmp_path / "inc" / "value.glsl").write_bytes("// größer\n#define VALUE 0.5\n".encode("latin-1"))
    g = rg.Graph("fill")
    g.compute("fill", shader, data=g.buffer("data", 16))
    g.root("data")
    assert [Path(file).relative_to(tmp_path).as_posix() for file in g.files] == [
        "shaders/lights/fill.comp",
        "inc/level.glsl",
        "inc/value.glsl",
    ]
    g.save(tmp_path / "whole.rgraph.json")
    assert '"shader": "shaders/lights/fill.comp"' in (tmp_path / "whole.rgraph.json").read_text()
    loaded = rg.Graph.load(tmp_path / "whole.rgraph.json")
    assert str(tmp_path / "inc" / "value.glsl") in loaded.files
    # Seen from the folder of the shaders, what it includes is out of reach: the file has the whole text.
    g.save(tmp_path / "shaders" / "part.rgraph.json")
    assert rg.Graph.load(tmp_path / "shaders" / "part.rgraph.json").bake() == g.bake()
    text = (tmp_path / "whole.rgraph.json").read_text().replace("shaders/lights", "lights")
    (tmp_path / "shaders" / "whole.rgraph.json").write_text(text)
    with pytest.raises(rg.ShaderError, match=r"no file to include: '\.\./\.\./inc/level\.glsl'") as caught:
        rg.Graph.load(tmp_path / "shaders" / "whole.rgraph.json")
    assert not [file for file in caught.value.files if "inc" in file]


def test_a_device_without_a_feature_refuses_the_shader_by_name(device: rg.Device):
    text = """#version 450
    #extension GL_EXT_buffer_reference : require
    layout(local_size_x = 1) in;
    layout(buffer_reference, std430) buffer Target { float value; };
    layout(push_constant) uniform Push { Target target; } push;
    void main() { push.target.value = 1.0; }
    """
    g = rg.Graph("address")
    g.compute("address", text, groups=1, push={"target": 4096}, side_effects=True)
    with pytest.raises(rg.DeviceError, match="buffer_reference"):
        device.run(g)


def test_push_data_that_nothing_reads_is_forgiven(device: rg.Device):
    text = """#version 450
    layout(local_size_x = 4) in;
    layout(push_constant) uniform Push { vec4 tint; } push;
    layout(set = 0, binding = 0) buffer Data { float all[]; } data;
    void main() { data.all[gl_GlobalInvocationID.x] = 1.0; }
    """
    g = rg.Graph("unused")
    data = g.import_array("data", np.zeros(4, np.float32), as_buffer=True)
    g.compute("fill", text, data=data, push={"tint": (1, 2, 3, 4)})
    g.root(data)
    assert np.asarray(device.run(g)["data"]).view(np.float32).tolist() == [1.0] * 4


def test_a_mistake_has_its_line_and_the_line_of_the_program():
    g = rg.Graph("wrong")
    with pytest.raises(rg.ShaderError) as caught:
        g.raster("mirror", MIRROR.replace("return texture", "return textur"), color=g.image("out", (8, 8)), picture="x")
    text = str(caught.value)
    assert "5:46: no matching overloaded function found: 'textur'" in text
    assert "^^^^^^" in text
    assert "test_glsl.py:" in text


def test_sample_masks_of_wgsl_are_as_vulkan_wants_them(device: rg.Device):
    text = """
    struct Out { @location(0) color: vec4<f32>, @builtin(sample_mask) mask: u32 }
    @fragment fn main(@location(0) uv: vec2<f32>, @builtin(sample_mask) mask: u32) -> Out {
        return Out(vec4(uv.x, f32(mask), 1.0, 1.0), select(0u, mask, uv.y < 0.5));
    }"""
    g = rg.Graph("mask")
    out = g.image("out", (4, 4), "rgba8unorm")
    g.raster("mask", text, color=out, clear=(0, 0, 0, 0))
    g.root(out)
    drawn = np.asarray(device.run(g)["out"])
    assert drawn[:2, :, 1:].min() == 255
    assert drawn[2:].max() == 0


SIZED = {
    "wgsl": """
override SIZE: u32 = 8;
override SCALE: f32 = 1.0;
@id(7) override NEGATE: bool = false;
var<workgroup> kept: array<f32, SIZE * 2>;
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(SIZE) fn main(@builtin(global_invocation_id) id: vec3<u32>,
        @builtin(local_invocation_index) here: u32, @builtin(num_workgroups) groups: vec3<u32>) {
    kept[here + SIZE] = select(1.0, -1.0, NEGATE) * SCALE;
    workgroupBarrier();
    data[id.x] = kept[here + SIZE] * f32(groups.x);
}
""",
    "glsl": """#version 450
layout(constant_id = 0) const uint SIZE = 8;
layout(constant_id = 1) const float SCALE = 1.0;
layout(constant_id = 7) const bool NEGATE = false;
layout(local_size_x_id = 0) in;
shared float kept[SIZE * 2];
layout(set = 0, binding = 0) buffer Data { float all[]; } data;
void main() {
    kept[gl_LocalInvocationIndex + SIZE] = (NEGATE ? -1.0 : 1.0) * SCALE;
    barrier();
    data.all[gl_GlobalInvocationID.x] = kept[gl_LocalInvocationIndex + SIZE] * float(gl_NumWorkGroups.x);
}
""",
}


@pytest.mark.parametrize("language", SIZED)
def test_constants_are_values_of_the_pipeline_and_sizes_of_workgroups_follow(
    device: rg.Device, tmp_path: Path, language: str
):
    g = rg.Graph("sized")
    number: str | int = "SIZE" if language == "wgsl" else 0
    cases = {"a": ({"SIZE": 8}, 8.0), "b": ({"SIZE": np.uint32(16), "SCALE": 0.5}, 2.0)}
    cases["c"] = ({number: 32, 7: True, "SCALE": 3}, -6.0)
    for name, (constants, _) in cases.items():
        buffer = g.buffer(name, 64 * 4)
        g.compute(f"fill {name}", SIZED[language], data=buffer, constants=constants)
        g.root(buffer)
    g.save(tmp_path / "sized.rgraph.json")
    for graph in (g, rg.Graph.load(tmp_path / "sized.rgraph.json"), g.clone()):
        frame = device.run(graph)
        for name, (_, value) in cases.items():
            assert np.frombuffer(frame[name], "f4").tolist() == [value] * 64, name


def test_a_constant_of_both_stages_has_one_value(device: rg.Device):
    vertex = """#version 450
    layout(constant_id = 3) const float SIDE = 0.25;
    void main() { gl_Position = vec4(vec2(gl_VertexIndex % 2, gl_VertexIndex / 2) * 8.0 * SIDE - 1.0, 0.0, 1.0); }"""
    fragment = """#version 450
    layout(constant_id = 9) const float SIDE = 0.5;
    layout(location = 0) out vec4 color;
    void main() { color = vec4(SIDE); }"""
    values = []
    for constants in ({}, {"SIDE": 1.0}, {9: 1.0}):
        g = rg.Graph("sides", size=(2, 2))
        out = g.image("out", format="r32float")
        g.raster("draw", (vertex, fragment), color=out, clear=(0, 0, 0, 0), constants=constants)
        g.root(out)
        values.append(np.asarray(device.run(g)["out"])[0, 0].item())
    assert values == [0.5, 1.0, 1.0]


CLOCK = """#version 450
#extension GL_EXT_shader_realtime_clock : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer Out { uvec2 now; } result;
void main() { result.now = clockRealtime2x32EXT(); }
"""
ATOMIC = """#version 450
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer Out { float sum; } result;
void main() { atomicAdd(result.sum, 1.0); }
"""
RECTANGLE = """#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Out { vec4 texel; } result;
layout(binding = 1) uniform sampler2DRect picture;
void main() { result.texel = texelFetch(picture, ivec2(0)); }
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [(CLOCK, "VK_KHR_shader_clock"), (ATOMIC, "VK_EXT_shader_atomic_float"), (RECTANGLE, "rectangle images")],
    ids=["clock", "atomic", "rectangle"],
)
def test_extensions_that_no_device_of_ours_has_are_refused_by_name(device: rg.Device, text: str, name: str):
    g = rg.Graph("extension")
    more = (
        {"picture": (g.import_array("picture", np.zeros((2, 2, 4), "u1")), rg.Sampler())} if "picture" in text else {}
    )
    g.compute("work", text, bindings={"result": g.buffer("out", 16, persistent=True), **more}, groups=1)
    g.root("out")
    with pytest.raises(rg.DeviceError, match=name) as caught:
        device.run(g)
    assert caught.value.code == "RG-E102"


def test_an_image_and_a_sampler_of_one_binding_are_bound_together(device: rg.Device):
    text = """#version 450
    layout(local_size_x = 1) in;
    layout(binding = 0) uniform texture2D picture;
    layout(binding = 0) uniform sampler smooth_one;
    layout(binding = 1) writeonly buffer Out { vec4 texel; } result;
    void main() { result.texel = textureLod(sampler2D(picture, smooth_one), vec2(0.5), 0.0); }
    """
    texels = np.array([[[0.0] * 4, [1.0] * 4], [[2.0] * 4, [3.0] * 4]], "f4")
    g = rg.Graph("both")
    out = g.buffer("out", shape=4, dtype="float32")
    picture = (g.import_array("picture", texels.astype("f2")), rg.Sampler(filter="linear"))
    g.compute("read", text, picture=picture, result=out, groups=1)
    g.root(out)
    assert device.run(g)["out"].numpy().tolist() == [1.5] * 4


def test_a_uniform_block_with_two_layouts_is_filled_with_bytes(device: rg.Device):
    text = """#version 450
    layout(local_size_x = 1) in;
    layout(binding = 0) uniform Short { float a; } small;
    layout(binding = 0) uniform Long { vec4 b[2]; } large;
    layout(binding = 1) writeonly buffer Out { vec4 sum; } result;
    void main() { result.sum = large.b[1] * small.a; }
    """
    data = np.arange(1, 9, dtype="f4")
    g = rg.Graph("two")
    out = g.buffer("out", shape=4, dtype="float32")
    with pytest.raises(rg.ShaderError, match="RG-E306"):
        g.compute("read", text, small={"a": 2.0}, result=out, groups=1)
    g.compute("read", text, small=data.tobytes(), result=out, groups=1)
    g.root(out)
    assert device.run(g)["out"].numpy().tolist() == (data[4:] * data[0]).tolist()


def test_more_push_data_than_the_device_takes_is_refused_before_the_driver_sees_it(device: rg.Device):
    # The layer reports a layout that is too large, which the fixture refuses.
    shader = """
    #version 450
    layout(local_size_x = 1) in;
    layout(push_constant) uniform Push { vec4 all[1024]; } push;
    layout(set = 0, binding = 0) buffer Out { float value; } result;
    void main() { result.value = push.all[1023].x; }
    """
    g = rg.Graph("pushed")
    result = g.buffer("result", shape=(1,), dtype="float32")
    g.compute("one", shader, result=result, groups=1, push={"all": np.zeros((1024, 4))})
    g.compute("two", shader.replace("1023", "1022"), result=result, groups=1, push={"all": np.zeros((1024, 4))})
    g.root(result)
    with pytest.raises(rg.GraphError, match='RG-E224 pass "one" pushes 16384 bytes, and the device takes') as caught:
        device.run(g)
    assert caught.value.hint == "put the data into a uniform block"
