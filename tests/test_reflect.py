"""`rgraph.reflect`: what a shader asks for."""

from pathlib import Path

import pytest

import rgraph as rg

SCENE = """#version 450
struct Light { vec3 place; float power; };
layout(local_size_x = 8, local_size_y = 4) in;
layout(std140, set = 0, binding = 0) uniform Camera { mat4 view; layout(row_major) mat3 turn; } camera;
layout(std430, set = 0, binding = 1) buffer Lights { uint count; Light all[]; } lights;
layout(set = 1, binding = 0) uniform sampler2D pictures[3];
layout(set = 1, binding = 1, rgba16f) writeonly uniform image2D target;
layout(set = 1, binding = 2) uniform sampler2D idle;
layout(push_constant) uniform Push { vec2 offset; float level; } push;
void main() {
    atomicAdd(lights.count, 1u);
    vec4 at = camera.view * vec4(camera.turn * lights.all[0].place, push.level);
    imageStore(target, ivec2(push.offset), at + textureLod(pictures[1], push.offset, 0.0));
}
"""


def test_bindings_have_their_places_accesses_and_members():
    found = rg.reflect(SCENE)
    assert isinstance(found, rg.ShaderReflection)
    rows = [(b.name, b.place, b.kind, b.length, b.reads, b.writes, b.stages) for b in found.bindings]
    stages = ("compute_shader",)
    assert rows == [
        ("camera", (0, 0), "uniform", 1, True, False, stages),
        ("lights", (0, 1), "storage", 1, True, True, stages),
        ("pictures", (1, 0), "combined", 3, True, False, stages),
        ("target", (1, 1), "image", 1, False, True, stages),
    ]
    camera, lights, pictures, target = found.bindings
    assert [(m.name, m.type, m.offset, m.size, m.stride) for m in camera.members] == [
        ("view", "mat4x4<f32>", 0, 64, 16),
        ("turn", "mat3x3<f32>", 64, 48, 16),
    ]
    count, every = lights.members
    assert (count.type, every.type, every.offset, every.size, every.stride) == ("u32", "array<Light>", 16, None, 16)
    assert [(m.name, m.offset) for m in every.members] == [("place", 0), ("power", 12)]
    assert (lights.size, camera.size) == (16, 112)
    assert (pictures.sample, target.format) == ("float", "rgba16float")
    assert found.unused == ("idle",)
    assert found.workgroup == (8, 4, 1)


def test_push_data_has_members_and_a_size():
    push = rg.reflect(SCENE).push
    assert push is not None
    assert (push.name, push.size) == ("push", 12)
    assert [(m.name, m.type, m.offset) for m in push.members] == [("offset", "vec2<f32>", 0), ("level", "f32", 8)]


def test_a_lone_stage_has_its_inputs_and_outputs(tmp_path: Path):
    path = tmp_path / "mesh.vert"
    path.write_text("""#version 450
    layout(location = 1) in vec2 uv; layout(location = 0) in vec3 position;
    layout(location = 0) out mat2 turn; layout(location = 2) flat out uint id;
    void main() { gl_Position = vec4(position, uv.x); turn = mat2(1.0); id = 3u; }""")
    found = rg.reflect(path)
    assert found.vertex_inputs == (rg.ShaderVarying("position", 0, "vec3<f32>"), rg.ShaderVarying("uv", 1, "vec2<f32>"))
    (stage,) = found.stages
    assert (stage.stage, stage.entry) == ("vertex", "main")
    assert [tuple(out) for out in stage.outputs] == [
        ("turn", 0, "vec2<f32>"),
        ("turn", 1, "vec2<f32>"),
        ("id", 2, "u32"),
    ]
    assert (found.workgroup, found.outputs) == (None, ())


def test_stages_that_do_not_fit_each_other_are_reflected_all_the_same():
    text = """
    @vertex fn vs() -> @builtin(position) vec4<f32> { return vec4<f32>(); }
    @fragment fn fs(@location(3) hue: f32) -> @location(1) vec4<f32> { return vec4(hue); }
    @compute @workgroup_size(2) fn other() {}"""
    found = rg.reflect(text)
    assert [stage.stage for stage in found.stages] == ["vertex", "fragment"]
    assert found.stages[1].inputs == (rg.ShaderVarying("hue", 3, "f32"),)
    assert [out.location for out in found.outputs] == [1]
    assert rg.reflect(text, entry="other").workgroup == (2, 1, 1)


def test_arrays_of_open_length_and_structs_between_stages_are_reflected():
    text = """#version 450
    #extension GL_EXT_nonuniform_qualifier : require
    struct Surface { vec3 normal; vec2 uv[2]; };
    layout(location = 1) in Surface surface;
    layout(location = 0) out vec4 color;
    layout(set = 0, binding = 0) uniform sampler2D pictures[];
    void main() { color = texture(pictures[nonuniformEXT(uint(surface.normal.x))], surface.uv[1]); }"""
    found = rg.reflect(text)
    assert [(b.name, b.length, b.reads) for b in found.bindings] == [("pictures", None, True)]
    assert [(one.location, one.type) for one in found.stages[0].inputs] == [
        (1, "vec3<f32>"),
        (2, "vec2<f32>"),
        (3, "vec2<f32>"),
    ]


def test_small_integers_are_members():
    text = """#version 450
    #extension GL_EXT_shader_explicit_arithmetic_types : require
    #extension GL_EXT_shader_8bit_storage : require
    layout(local_size_x = 1) in;
    layout(set = 0, binding = 0, std430) buffer Small { uint8_t a; int16_t b; u8vec4 c; float16_t d; } small;
    void main() { small.a = uint8_t(small.b); small.c += small.c; small.d = float16_t(1.0); }"""
    (small,) = rg.reflect(text).bindings
    assert [(m.type, m.offset) for m in small.members] == [("u8", 0), ("i16", 2), ("vec4<u8>", 4), ("f16", 8)]


def test_mistakes_are_those_of_shaders():
    with pytest.raises(rg.ShaderError, match="undeclared identifier: 'x'") as caught:
        rg.reflect("#version 450\nvoid main() { x; }")
    assert (caught.value.line, caught.value.column) == (2, 15)
    with pytest.raises(TypeError, match="a shader is its text"):
        rg.reflect(3)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        rg.reflect("no/such/file.frag")


GLSL_CONSTANTS = """#version 450
layout(constant_id = 0) const uint SIZE = 8;
layout(constant_id = 1) const double SCALE = 0.5;
layout(constant_id = 2) const bool NEGATE = true;
layout(constant_id = 3) const int SHIFT = -3;
layout(local_size_x_id = 0, local_size_y_id = 9) in;
layout(set = 0, binding = 0) buffer Data { vec4 first; float all[SIZE * 2 + 4]; } data;
void main() { data.all[0] = float(SCALE) * (NEGATE ? -1.0 : 1.0) * float(SHIFT); }
"""
WGSL_CONSTANTS = """
override SIZE: u32 = 8;
@id(4) override SCALE: f32;
override NEGATE: bool = true;
override HALF: i32 = i32(SIZE / 2);
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(SIZE, HALF) fn main() { data[0] = select(SCALE, -SCALE, NEGATE); }
"""


def test_constants_have_types_numbers_and_defaults():
    found = rg.reflect(GLSL_CONSTANTS)
    rows = [tuple(one) for one in found.constants]
    assert rows == [
        ("9", 9, "u32", 1, False),
        ("NEGATE", 2, "bool", True, False),
        ("SCALE", 1, "f64", 0.5, False),
        ("SHIFT", 3, "i32", -3, False),
        ("SIZE", 0, "u32", 8, False),
    ]
    assert found.bindings[0].members[1].type == "array<f32, 20>"
    other = rg.reflect(GLSL_CONSTANTS, constants={"SIZE": 2, 9: 5})
    assert other.workgroup == (2, 5, 1)
    assert other.bindings[0].members[1].type == "array<f32, 8>"
    found = rg.reflect(WGSL_CONSTANTS, constants={4: 1.5, "SIZE": 16})
    assert found.workgroup == (16, 8, 1)
    assert [tuple(one) for one in found.constants] == [
        ("HALF", None, "i32", None, False),
        ("NEGATE", None, "bool", True, False),
        ("SCALE", 4, "f32", None, True),
        ("SIZE", None, "u32", 8, False),
    ]


@pytest.mark.parametrize("shader", [GLSL_CONSTANTS, WGSL_CONSTANTS])
@pytest.mark.parametrize(
    ("constants", "says"),
    [
        ({"SIZ": 4}, "RG-E308 shader \"shader\": it has no constant 'SIZ'\n  help: did you mean 'SIZE'?"),
        ({77: 4}, "RG-E308 shader \"shader\": it has no constant '77'"),
        ({"SIZE": 1.5}, "'SIZE' is u32 in the shader, and 1.5 was given"),
        ({"SIZE": -1}, "'SIZE' is u32 in the shader, and -1 was given"),
        ({"NEGATE": 2}, "'NEGATE' is bool in the shader, and 2 was given"),
        ({"SCALE": float("nan")}, "RG-E306 shader \"shader\": 'SCALE' is NaN, which is no number"),
    ],
)
def test_wrong_constants_are_refused(shader: str, constants: dict[str | int, float], says: str):
    with pytest.raises(rg.ShaderError) as caught:
        rg.reflect(shader, constants={"SCALE": 1.0} | constants)
    assert says in str(caught.value)


def test_a_constant_has_one_value():
    with pytest.raises(rg.ShaderError, match=r"RG-E306 .*'SCALE' is given twice, by its name and by its number 4"):
        rg.reflect(WGSL_CONSTANTS, constants={"SCALE": 1.0, 4: 2.0})
    assert rg.reflect(WGSL_CONSTANTS, constants={4: 2.0}).workgroup


def test_an_override_without_a_value_is_named_with_its_line():
    g = rg.Graph()
    with pytest.raises(rg.ShaderError, match=r":3:.*override 'SCALE' has no value(.|\n)*constants=\{\"SCALE\": "):
        g.compute("scale", WGSL_CONSTANTS, data=g.buffer("data", 256))
    with pytest.raises(TypeError, match="constants= is a dict of numbers by name, but 'SIZE' is str"):
        rg.reflect(WGSL_CONSTANTS, constants={"SIZE": "8"})  # type: ignore[dict-item]


def test_what_no_pass_can_bind_is_told_of_with_the_reason():
    text = """#version 450
    layout(local_size_x = 1) in;
    layout(binding = 0) uniform texture2D one;
    layout(binding = 0) uniform texture2DMS many;
    layout(binding = 1) buffer Out { vec4 o; } result;
    void main() { result.o = texelFetch(one, ivec2(0), 0) + texelFetch(many, ivec2(0), 0); }
    """
    found = rg.reflect(text)
    assert [one.name for one in found.bindings] == ["one", "result"]
    (refused,) = found.refused
    assert isinstance(refused, rg.ShaderRefusal)
    assert (refused.name, refused.place) == ("many", (0, 0))
    g = rg.Graph()
    with pytest.raises(rg.ShaderError, match="RG-E304") as caught:
        g.compute("read", text, one=g.image("i", (4, 4), "rgba8unorm"), result=g.buffer("b", 16), groups=1)
    assert caught.value.args[0].splitlines()[0].split(": ", 1)[1] in refused.why
    assert not rg.reflect(SCENE).refused


def test_constants_without_a_value_are_required_and_count_as_one():
    text = """
override LENGTH: u32;
@id(7) override GAIN: f32;
override WIDTH: u32 = 4;
var<workgroup> part: array<f32, LENGTH>;
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(WIDTH, LENGTH) fn main() { part[0] = data[0]; data[1] = GAIN * part[0]; }"""
    found = rg.reflect(text)
    rows = [(one.name, one.id, one.type, one.default, one.required) for one in found.constants]
    assert rows == [
        ("GAIN", 7, "f32", None, True),
        ("LENGTH", None, "u32", None, True),
        ("WIDTH", None, "u32", 4, False),
    ]
    assert [(one.name, one.reads, one.writes) for one in found.bindings] == [("data", True, True)]
    assert found.workgroup == (4, 1, 1)
    assert rg.reflect(text, constants={"LENGTH": 3}).workgroup == (4, 3, 1)
    g = rg.Graph()
    with pytest.raises(rg.ShaderError, match=r"override 'LENGTH' has no value|override 'GAIN' has no value"):
        g.compute("scale", text, data=g.buffer("data", 16))


def test_the_first_active_invocation_is_elected():
    text = """
enable subgroups;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {
    if (subgroupElect()) { data[at] = 1u; }
}"""
    assert [(one.name, one.writes) for one in rg.reflect(text).bindings] == [("data", True)]
    with pytest.raises(rg.ShaderError) as caught:
        rg.reflect(text.replace("data[at] = 1u", "data[at] = one"))
    assert ":5:39: " in str(caught.value).splitlines()[0]  # places stay


def test_a_function_of_that_name_is_the_shaders_own():
    text = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
fn subgroupElect() -> bool { return data[1] == 0u; }
@compute @workgroup_size(1) fn main() { if (subgroupElect()) { data[0] = 1u; } }"""
    (binding,) = rg.reflect(text).bindings
    assert binding.reads


def test_external_textures_are_refused_by_name():
    text = """
@group(0) @binding(0) var movie: texture_external;
@fragment fn main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    return textureLoad(movie, vec2<i32>(at.xy));
}"""
    with pytest.raises(rg.ShaderError) as caught:
        rg.reflect(text)
    first, *rest = str(caught.value).splitlines()
    assert first == "RG-E304 shader \"shader\":2:23: 'movie': external textures are not supported"
    assert "  2 | @group(0) @binding(0) var movie: texture_external;" in rest
    assert rest[-1].startswith("  help: use texture_2d<f32>")


def test_a_shader_without_an_entry_point_gets_a_hint_to_type():
    with pytest.raises(rg.ShaderError, match=r"RG-E302 .*no compute, vertex or fragment entry point") as caught:
        rg.reflect("fn helper() {}")
    assert caught.value.hint == "mark a function as @compute"
