"""Arrays of bindings: of a length that the shader has, and of as many elements as are bound."""

import re

import numpy as np
import pytest

import rgraph as rg

PICK = """#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform texture2D textures[];
layout(set = 0, binding = 1) uniform sampler linear_sampler;
layout(push_constant) uniform Push { uint count; } push;
void main() {
    color = vec4(0.0);
    for (uint at = 0; at < push.count; at++)
        if (at == uint(uv.x * float(push.count)))
            color = textureLod(sampler2D(textures[at], linear_sampler), uv, 0.0);
}
"""
PICK_WGSL = """
@group(0) @binding(0) var textures: binding_array<texture_2d<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> at: vec4<u32>;
@compute @workgroup_size(1) fn main() {
    out[0] = textureLoad(textures[at.x], vec2<i32>(0), 0);
    out[1] = textureLoad(textures[at.y], vec2<i32>(0), 0);
    out[2] = textureLoad(textures[at.z], vec2<i32>(0), 0);
    out[3] = textureLoad(textures[at.w], vec2<i32>(0), 0);
}
"""
SCATTER = """#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, r32ui) uniform writeonly uimage2D images[];
layout(set = 0, binding = 1) readonly buffer From { uint values[]; } sources[];
void main() {
    for (int at = 0; at < 4; at++)
        imageStore(images[at], ivec2(0), uvec4(sources[at % 2].values[at]));
}
"""
FIXED = """#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform sampler2D pictures[3];
layout(set = 0, binding = 1) buffer Out { vec4 all[3]; } dst;
void main() {
    for (int at = 0; at < 3; at++) dst.all[at] = texelFetch(pictures[at], ivec2(0), 0);
}
"""


def plain(value: int) -> np.ndarray:
    return np.full((2, 2, 4), value, np.uint8)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_array_of_open_length_has_the_length_that_is_bound(device: rg.Device, count: int):
    g = rg.Graph("bindless")
    images = [g.import_array(f"image{at}", plain(10 + at)) for at in range(count)]
    out = g.image("out", size=(count * 4, 4), format="rgba8unorm")
    g.raster("pick", PICK, color=out, textures=images, push={"count": count})
    g.root(out)
    used = {a["resource"]: a["usage"] for a in g.to_dict()["passes"][0]["accesses"]}
    assert {used[f"image{at}"] for at in range(count)} == {"sampled"}
    picture = np.asarray(device.run(g)["out"])
    assert picture[0, ::4, 0].tolist() == [10 + at for at in range(count)]
    assert g.bake(device.profile).check(graph=g) == []


def test_elements_that_passes_draw_are_waited_for(device: rg.Device):
    g = rg.Graph("drawn")
    images = []
    for at in range(3):
        image = g.image(f"image{at}", size=(2, 2), format="rgba8unorm")
        g.add_pass(f"clear{at}").color(image, clear=(at / 255, 0, 0, 1))
        images.append(image)
    out = g.image("out", size=(12, 4), format="rgba8unorm")
    g.raster("pick", PICK, color=out, bindings={"textures": images}, push={"count": 3})
    g.root(out)
    assert np.asarray(device.run(g)["out"])[0, ::4, 0].tolist() == [0, 1, 2]
    again = rg.Graph.from_json(g.to_json())
    assert np.asarray(device.run(again)["out"])[0, ::4, 0].tolist() == [0, 1, 2]


def test_wgsl_keeps_its_indices_inside_of_the_array(device: rg.Device):
    for count in (2, 3):
        g = rg.Graph("wgsl")
        images = [g.import_array(f"image{at}", plain(51 * at)) for at in range(count)]
        out = g.buffer("out", shape=(4, 4), dtype="float32")
        g.compute("pick", PICK_WGSL, textures=images, at=[0, 1, count - 1, 1000], out=out, groups=(1, 1, 1))
        g.root(out)
        found = np.asarray(device.run(g)["out"]).reshape(4, 4)[:, 0]
        np.testing.assert_allclose(found, [0, 0.2, 0.2 * (count - 1), 0.2 * (count - 1)], atol=1e-6)


NON_UNIFORM = """#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) uniform texture2D pictures[];
layout(set = 0, binding = 1) buffer Out { vec4 all[]; } dst;
void main() {
    uint at = gl_LocalInvocationIndex;
    dst.all[at] = texelFetch(pictures[nonuniformEXT(3 - at)], ivec2(0), 0);
}
"""


def test_indices_that_differ_between_invocations_need_the_feature_and_then_work(device: rg.Device):
    g = rg.Graph("non uniform")
    images = [g.import_array(f"image{at}", plain(51 * at)) for at in range(4)]
    dst = g.buffer("dst", shape=(4, 4), dtype="float32")
    g.compute("pick", NON_UNIFORM, pictures=images, dst=dst, groups=(1, 1, 1))
    g.root(dst)
    refused = None
    try:
        found = np.asarray(device.run(g)["dst"])[:, 0]
    except rg.GraphError as error:
        refused = error
    if refused is None:
        np.testing.assert_allclose(found, [0.6, 0.4, 0.2, 0], atol=1e-6)
    else:
        assert (refused.code, refused.pass_name) == ("RG-E227", "pick")
        lacks = r"has no .*(descriptorIndexing|shaderSampledImageArrayNonUniformIndexing) \(Vulkan 1\.2\)"
        assert re.search(lacks, str(refused))
        assert "test_bindless.py:" in str(refused)
        with pytest.raises(rg.GraphError, match="RG-E227"):
            g.bake(device.profile)


def test_every_element_of_a_written_array_is_written_and_of_a_read_one_read(device: rg.Device):
    g = rg.Graph("scatter")
    images = [g.image(f"image{at}", size=(1, 1), format="r32uint") for at in range(4)]
    values = np.arange(4, dtype=np.uint32)
    sources = [g.import_array(f"from{at}", values + 100 * (at + 1), as_buffer=True) for at in range(2)]
    g.compute("scatter", SCATTER, images=images, sources=sources, groups=(1, 1, 1))
    for image in images:
        g.root(image)
    used = {a["resource"]: a["usage"] for a in g.to_dict()["passes"][0]["accesses"]}
    assert used == {f"image{at}": "storage_write" for at in range(4)} | dict.fromkeys(
        ("from0", "from1"), "storage_read"
    )
    frame = device.run(g)
    assert [int(np.asarray(frame[image.name]).ravel()[0]) for image in images] == [100, 201, 102, 203]


def test_an_array_with_a_length_takes_as_many(device: rg.Device):
    g = rg.Graph("fixed")
    images = [g.import_array(f"image{at}", plain(51 * at)) for at in range(4)]
    dst = g.buffer("dst", shape=(3, 4), dtype="float32")
    g.compute("fixed", FIXED, pictures=[images[0], (images[1], rg.Sampler(filter="nearest")), images[3]], dst=dst)
    g.root(dst)
    np.testing.assert_allclose(np.asarray(device.run(g)["dst"])[:, 0], [0, 0.2, 0.6], atol=1e-6)
    with pytest.raises(rg.GraphError, match=r"binds 4 resources to .pictures.*array of 3"):
        g.compute("many", FIXED, pictures=images, dst=dst)


def test_an_empty_list_is_refused_and_so_are_more_than_the_device_has_room_for(device: rg.Device):
    g = rg.Graph("refused")
    out = g.image("out", size=(4, 4), format="rgba8unorm")
    with pytest.raises(rg.GraphError, match=r'binds no element to "textures"'):
        g.raster("none", PICK, color=out, textures=[], push={"count": 0})
    with pytest.raises(rg.GraphError, match=r'binds nothing to "textures"'):
        g.raster("missing", PICK, color=out, push={"count": 0})
    image = g.import_array("image", plain(1))
    g.raster("many", PICK, color=out, textures=[image] * (1 << 21), push={"count": 1})
    g.root(out)
    with pytest.raises(rg.DeviceError, match=r"has 2097152 sampled images in a stage, and .* allows \d+") as caught:
        device.run(g)
    assert caught.value.code == "RG-E102"


ALIASED = """#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Words { uint all[]; } words;
layout(set = 0, binding = 0) readonly buffer Floats { float all[]; } floats;
void main() { words.all[1] = floats.all[0] == 1.0 ? words.all[0] : 0u; }
"""


@pytest.mark.parametrize("name", ["words", "floats"])
def test_a_binding_has_all_the_names_that_the_shader_gives_it(device: rg.Device, name: str):
    (binding,) = rg.reflect(ALIASED).bindings
    assert (binding.name, binding.reads, binding.writes) == ("words", True, True)
    g = rg.Graph("aliased")
    data = g.import_array("data", np.array([1, 0], np.float32).view(np.uint32), as_buffer=True)
    g.compute("both", ALIASED, bindings={name: data}, groups=(1, 1, 1))
    g.root(data)
    assert g.to_dict()["passes"][0]["accesses"][0]["usage"] == "storage_read_write"
    assert np.asarray(device.run(g)["data"]).view(np.float32).tolist() == [1, 1]
    with pytest.raises(rg.GraphError, match=r'binds "words" and "floats", which are one binding'):
        g.compute("twice", ALIASED, words=data, floats=data, groups=(1, 1, 1))


TEXELS = """#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) uniform samplerBuffer colours;
layout(set = 0, binding = 1) uniform itextureBuffer offsets;
layout(set = 0, binding = 2, r32ui) uniform uimageBuffer counts;
layout(set = 0, binding = 3) writeonly uniform imageBuffer found;
void main() {
    int at = int(gl_LocalInvocationIndex);
    int offset = texelFetch(offsets, at).r;
    imageStore(found, at, texelFetch(colours, at + offset));
    imageAtomicAdd(counts, at % 2, uint(at + 1));
}
"""


def test_texel_buffers_read_and_write_texels_of_a_format(device: rg.Device):
    g = rg.Graph("texels")
    pixels = np.arange(24, dtype=np.uint8).reshape(6, 4) * 10
    colours = g.import_array("colours", pixels, as_buffer=True)
    offsets = g.import_array("offsets", np.array([2, 0, -1, 100], np.int16), as_buffer=True)
    counts = g.import_array("counts", np.array([1000, 2000], np.uint32), as_buffer=True)
    found = g.buffer("found", shape=(4, 4), dtype="float32")
    texels = {"colours": (colours, "rgba8unorm"), "offsets": (offsets, "r16sint"), "found": (found, "rgba32float")}
    g.compute("fetch", TEXELS, counts=counts, **texels, groups=(1, 1, 1))
    g.root(found, counts)
    used = {a["resource"]: a["usage"] for a in g.to_dict()["passes"][0]["accesses"]}
    assert used == {
        "colours": "sampled",
        "offsets": "sampled",
        "counts": "storage_read_write",
        "found": "storage_write",
    }
    inputs = {"colours": pixels, "offsets": np.array([2, 0, -1, 100], np.int16)}
    inputs["counts"] = np.array([1000, 2000], np.uint32)
    for graph in (g, rg.Graph.from_json(g.to_json())):
        frame = device.run(graph, inputs={} if graph is g else inputs)
        # A texel outside of the buffer reads as zero.
        expected = np.array([pixels[2], pixels[1], pixels[1], [0] * 4]) / 255
        got = np.asarray(frame["found"]).view(np.float32).reshape(4, 4)
        np.testing.assert_allclose(got[:3], expected[:3], atol=1e-6)
        np.testing.assert_allclose(got[3, :3], 0)
        assert np.asarray(frame["counts"]).view(np.uint32).tolist() == [1000 + 1 + 3, 2000 + 2 + 4]


def test_a_part_of_a_buffer_is_a_texel_buffer_too(device: rg.Device):
    shader = """#version 450
layout(local_size_x = 4) in;
layout(binding = 0) uniform utextureBuffer source;
layout(binding = 1) buffer Out { uint all[]; } dst;
void main() {
    int at = int(gl_GlobalInvocationID.x);
    dst.all[at] = at < textureSize(source) ? texelFetch(source, at).r : 7u;
}
"""
    g = rg.Graph("part")
    source = g.import_array("source", np.arange(200, dtype=np.uint32), as_buffer=True)
    dst = g.buffer("dst", shape=(8,), dtype="uint32")
    g.compute("copy", shader, source=(source[256:270], "r32uint"), dst=dst, groups=(2, 1, 1))
    g.root(dst)
    # Two bytes of the range are no texel.
    assert np.asarray(device.run(g)["dst"]).tolist() == [64, 65, 66, 7, 7, 7, 7, 7]


@pytest.mark.parametrize(
    ("bound", "says"),
    [
        (lambda b, i: b, "got a buffer without a format"),
        (lambda b, i: (b, "r32uint"), "texel buffer of f32, got a buffer of r32uint"),
        (lambda b, i: (b, "depth32float"), "got a buffer of depth32float"),
        (lambda b, i: (b, "rgba9float"), "no format called"),
        (lambda b, i: (i, "r32float"), "got image"),
    ],
)
def test_a_texel_buffer_has_a_format_that_the_shader_reads(bound, says: str):
    shader = """#version 450
layout(local_size_x = 1) in;
layout(binding = 0) uniform samplerBuffer source;
layout(binding = 1) buffer Out { vec4 all[]; } dst;
void main() { dst.all[0] = texelFetch(source, 0); }
"""
    g = rg.Graph("refused")
    buffer = g.import_array("buffer", np.zeros(4, np.float32), as_buffer=True)
    image = g.import_array("image", np.zeros((1, 1, 4), np.uint8))
    dst = g.buffer("dst", shape=(4,), dtype="float32")
    with pytest.raises(rg.GraphError, match=says):
        g.compute("copy", shader, source=bound(buffer, image), dst=dst)
