"""Shaders in Slang and HLSL, where slangpy is installed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from rgraph import slang

needs_slangpy = pytest.mark.skipif(importlib.util.find_spec("slangpy") is None, reason="needs slangpy")

SCALE = """
struct Params { float gain; uint count; };
StructuredBuffer<float> source;
RWStructuredBuffer<float> result;
[[vk::push_constant]] ConstantBuffer<Params> params;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    if (id.x < params.count) result[id.x] = source[id.x] * params.gain;
}
"""


@needs_slangpy
def test_a_compute_shader_in_slang_runs(device: rg.Device):
    values = np.arange(100, dtype=np.float32)
    g = rg.Graph("slang")
    source = g.import_array("source", values, as_buffer=True)
    result = g.buffer("result", shape=(100,), dtype="float32")
    code = slang.compile(SCALE)
    g.compute("scale", code, source=source, result=result, push={"gain": 2.5, "count": 100}, groups=2)
    g.root(result)
    np.testing.assert_array_equal(np.asarray(device.run(g)["result"]), values * np.float32(2.5))


@needs_slangpy
def test_a_pair_of_stages_in_slang_draws(device: rg.Device, tmp_path: Path):
    (tmp_path / "colors.slang").write_text("public float3 warm(float x) { return float3(x, STRENGTH * x, 0); }\n")
    shader = tmp_path / "draw.slang"
    shader.write_text("""
import colors;
struct Corner { float4 position : SV_Position; float shade : SHADE; };
[shader("vertex")] Corner corner(uint id : SV_VertexID) {
    float2 at = float2((id << 1) & 2, id & 2);
    return Corner(float4(at * 2 - 1, 0, 1), at.x);
}
[shader("fragment")] float4 paint(Corner corner) : SV_Target { return float4(warm(corner.shade), 1); }
""")
    defines = {"STRENGTH": "0.5"}
    vertex = slang.compile(shader, entry="corner", stage="vertex", defines=defines)
    fragment = slang.compile(str(shader), entry="paint", stage="fragment", defines=defines)
    g = rg.Graph("pair", size=(4, 1))
    out = g.image("out", format="rgba32float")
    g.raster("draw", (vertex, fragment), color=out)
    g.root(out)
    x = (np.arange(4) + 0.5) / 4
    expected = np.stack([x, x / 2, np.zeros(4), np.ones(4)], axis=-1)
    np.testing.assert_allclose(np.asarray(device.run(g)["out"])[0], expected, atol=1e-6)


@needs_slangpy
def test_hlsl_with_registers_runs(device: rg.Device, tmp_path: Path):
    shader = tmp_path / "turn.hlsl"
    shader.write_text("""
cbuffer Params : register(b0) { float4x4 turn; float gain; };
Texture2D<float4> picture : register(t0);
SamplerState nearest_ : register(s0);
[[vk::image_format("rgba32f")]] RWTexture2D<float4> dst : register(u0);
[numthreads(8, 8, 1)] void main(uint3 id : SV_DispatchThreadID) {
    dst[id.xy] = mul(turn, picture.SampleLevel(nearest_, (float2(id.xy) + 0.5) / 2, 0)) * gain;
}
""")
    found = rg.reflect(slang.compile(shader))
    assert sorted(one.kind for one in found.bindings) == ["image", "sampled", "sampler", "uniform"]
    turn = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]], np.float32)
    texels = np.random.default_rng(7).random((2, 2, 4), np.float32)
    g = rg.Graph("hlsl")
    picture = g.import_array("picture", texels)
    dst = g.image("dst", like=picture)
    sampler = rg.Sampler(filter="nearest")
    data = {"turn": turn, "gain": 3.0}
    g.compute("turn", slang.compile(shader), Params=data, picture=picture, nearest_=sampler, dst=dst)
    g.root(dst)
    np.testing.assert_allclose(np.asarray(device.run(g)["dst"]), texels @ turn.T * 3, rtol=1e-6)


@needs_slangpy
def test_a_mistake_is_shown_with_its_line():
    with pytest.raises(rg.ShaderError, match=r"undefined identifier 'yy'") as caught:
        slang.compile('[shader("compute")] [numthreads(1, 1, 1)]\nvoid main() { int x = yy; }')
    assert caught.value.code == "RG-E301"
    assert "shader:2:23" in str(caught.value)


@needs_slangpy
def test_stages_and_languages_are_words_that_exist():
    with pytest.raises(ValueError, match="stage is one of vertex"):
        slang.compile(SCALE, stage="pixel")  # type: ignore[arg-type]


def test_without_slangpy_the_command_that_installs_it_is_said():
    text = """
import sys
sys.modules["slangpy"] = None
from importlib import util
find = util.find_spec
util.find_spec = lambda name, *more: None if name == "slangpy" else find(name, *more)
from rgraph import slang
try:
    slang.compile("void main() {}")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == 'Slang\'s compiler is not installed: pip install "rgraph-vulkan[slang]"\n'


@needs_slangpy
def test_an_image_that_is_only_written_needs_no_device_that_reads_it_without_a_format(device: rg.Device):
    code = slang.compile("""
RWTexture2D<float4> picture;
[shader("compute")] [numthreads(2, 2, 1)]
void main(uint3 id : SV_DispatchThreadID) { picture[id.xy] = float4(id.xy, 7, 1); }
""")

    def declared(code: bytes) -> rg.Graph:
        g = rg.Graph("formatless", size=(2, 2))
        picture = g.image("picture", format="rgba32float")
        g.clear("begin", picture, (0, 0, 0, 0))
        g.compute("pass", code, picture=picture, groups=(1, 1, 1))
        g.root(picture)
        return g

    without, needs = declared(code), "shaderStorageImageReadWithoutFormat"
    assert device.run(without)["picture"].numpy()[1, 0].tolist() == [0, 1, 7, 1]
    assert needs not in without.to_json()
    reads = slang.compile("""
RWTexture2D<float4> picture;
[shader("compute")] [numthreads(2, 2, 1)]
void main(uint3 id : SV_DispatchThreadID) { picture[id.xy] = picture[id.xy].yxzw; }
""")
    assert needs in declared(reads).to_json()


@needs_slangpy
def test_names_that_are_no_keywords_are_given_by_a_dict():
    code = slang.compile("""
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint3 id : SV_DispatchThreadID, uniform float gain, uniform RWStructuredBuffer<float> data)
{ data[id.x] = gain * id.x; }
""")
    g = rg.Graph("members")
    with pytest.raises(rg.GraphError, match="RG-E311") as caught:
        g.compute("fill", code, push={"gain": 2}, groups=1)
    assert caught.value.hint == 'give it as **{"entryPointParams.data": …}'
    g = rg.Graph("members")
    data = g.buffer("data", shape=(4,), dtype="float32")
    g.compute("fill", code, push={"gain": 2}, groups=1, **{"entryPointParams.data": data})
    g.root(data)
    assert g.bake().check() == []
