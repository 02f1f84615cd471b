//! Bindings that no pass can fill: reflection tells of them and of all else, a program is refused with the reason. And
//! those that one descriptor can fill although the shader sees it in several ways.

use rgraph_ir::error::Code;
use rgraph_shader::{
    BindingKind, Constants, Dimension, Given, GivenCode, Interface, Kind, Language, Reflection, SampleKind, Scalar,
    Stage, Type, Value,
};

use crate::common::{fault, glsl, program};

fn reflected(text: &str) -> Interface {
    let given: Given = GivenCode::Text(Language::Glsl, text.to_owned()).into();
    let found = Reflection::of("test", &[given], None, &Constants::default());
    found.unwrap_or_else(|fault| panic!("{fault}")).interface
}

const MIXED: &str = "#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Data { float all[]; } data;
layout(binding = 1) uniform texture2D flat_one;
layout(binding = 1) uniform texture2DMS many;
layout(binding = 2) writeonly buffer Out { vec4 o; } result;
void main() {
    result.o = texelFetch(flat_one, ivec2(0), 0) + texelFetch(many, ivec2(0), 1) + vec4(data.all[0]);
}";

#[test]
fn one_binding_that_is_two_kinds_of_image_is_told_of_with_all_other_bindings() {
    let found = reflected(MIXED);
    let bindings: Vec<_> =
        found.bindings.iter().map(|one| (one.name.as_str(), one.binding, one.reads, one.writes)).collect();
    assert_eq!(bindings, [("data", 0, true, false), ("flat_one", 1, true, false), ("result", 2, false, true)]);
    let [refused] = found.refused.as_slice() else { panic!("{:?}", found.refused) };
    assert_eq!((refused.name.as_str(), refused.group, refused.binding), ("many", Some(0), Some(1)));
    let fault = fault(Kind::Compute, &[glsl(MIXED)]);
    assert_eq!(fault.code, Code::Unsupported);
    assert_eq!(fault.message, "binding (0, 1) is called 'flat_one' and, in the compute stage, 'many'");
    assert_eq!(refused.fault, fault);
}

#[test]
fn storage_images_of_64_bits_are_told_of_with_their_line() {
    let text = "#version 450
#extension GL_EXT_shader_image_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;
layout(binding = 3, r64ui) uniform u64image2D counts;
layout(binding = 4, r32ui) uniform uimage2D small;
void main() { imageAtomicAdd(counts, ivec2(0), 1ul); imageAtomicAdd(small, ivec2(0), 1u); }";
    let found = reflected(text);
    assert_eq!(found.bindings.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["small"]);
    assert_eq!(found.refused[0].name, "counts");
    let fault = fault(Kind::Compute, &[glsl(text)]);
    assert_eq!(fault.at.map(|(line, _)| line), Some(5), "{fault}");
    assert!(fault.message.contains("r64ui") && fault.message.contains("VK_EXT_shader_image_atomic_int64"), "{fault}");
    assert_eq!(found.refused[0].fault, fault);
}

#[test]
fn an_image_and_a_sampler_of_one_binding_are_a_combined_image_sampler() {
    let text = |order: [&str; 2]| {
        format!(
            "#version 450
layout(local_size_x = 1) in;
{}
{}
layout(binding = 1) writeonly buffer Out {{ vec4 o; }} result;
void main() {{ result.o = textureLod(sampler2D(picture, smooth_one), vec2(0.5), 0.0); }}",
            order[0], order[1]
        )
    };
    let lines = ["layout(binding = 0) uniform texture2D picture;", "layout(binding = 0) uniform sampler smooth_one;"];
    for lines in [lines, [lines[1], lines[0]]] {
        let text = text(lines);
        let program = program(Kind::Compute, &[glsl(&text)]);
        let (_, both) = program.interface.find("picture").expect("it is bound");
        let (dimension, arrayed, multisampled) = (Dimension::D2, false, false);
        assert_eq!(both.kind, BindingKind::Combined { dimension, arrayed, multisampled, sample: SampleKind::Float });
        assert_eq!((both.count, both.reads, both.writes), (1, true, false));
        assert_eq!(program.interface.find("smooth_one").map(|(_, one)| one.binding), Some(0));
        assert_eq!(program.interface.bindings.len(), 2);
    }
}

const UNIFORMS: &str = "
layout(binding = 0) uniform Short { float a; } small;
layout(binding = 0) uniform Long { vec4 b[4]; } large;
";

#[test]
fn a_uniform_block_with_two_layouts_takes_bytes() {
    let text = format!(
        "#version 450
layout(local_size_x = 1) in;{UNIFORMS}
layout(binding = 1) writeonly buffer Out {{ vec4 o; }} result;
void main() {{ result.o = large.b[3] * small.a; }}"
    );
    let program = program(Kind::Compute, &[glsl(&text)]);
    for name in ["small", "large"] {
        let (_, block) = program.interface.find(name).expect("it is bound");
        let ty = block.ty.as_ref().expect("it has a layout");
        assert_eq!(*ty, Type::Array { of: Box::new(Type::Scalar(Scalar::U8)), len: Some(64), stride: 1 });
        assert_eq!(ty.pack("test", name, &Value::Bytes(vec![7; 64])).expect("bytes fit"), [7; 64]);
        let member = Value::Map(vec![("a".to_owned(), Value::Float(1.0))]);
        assert!(ty.pack("test", name, &member).is_err(), "a layout was chosen for {name}");
    }
}

#[test]
fn two_layouts_of_a_uniform_block_are_the_same_in_two_stages() {
    let vertex = format!("#version 450{UNIFORMS}void main() {{ gl_Position = large.b[0] * small.a; }}");
    let fragment =
        format!("#version 450{UNIFORMS}layout(location = 0) out vec4 o;\nvoid main() {{ o = large.b[1] * small.a; }}");
    let program = program(Kind::Raster, &[glsl(&vertex), glsl(&fragment)]);
    let [block] = program.interface.bindings.as_slice() else { panic!("{:?}", program.interface.bindings) };
    assert_eq!(block.ty.as_ref().map(Type::size), Some(64));
    assert_eq!(block.stages, Stage::Vertex.stages() | Stage::Fragment.stages());
}

#[test]
fn rectangle_images_are_planes_with_a_capability_of_their_own() {
    let text = "#version 450
layout(binding = 0) uniform sampler2DRect picture;
layout(location = 0) out vec4 o;
void main() { o = texture(picture, gl_FragCoord.xy); }";
    let program = program(Kind::Raster, &[glsl(text)]);
    assert!(matches!(program.interface.bindings[0].kind, BindingKind::Combined { dimension: Dimension::D2, .. }));
    assert!(program.modules.iter().flat_map(|module| module.capabilities()).any(|one| one == 37));
}

#[test]
fn mesh_stages_of_nvidias_extension_are_mesh_stages_with_a_capability_of_their_own() {
    let text = "#version 450
#extension GL_NV_mesh_shader : require
layout(local_size_x = 1) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
layout(binding = 0) buffer Count { uint drawn; };
layout(location = 0) out vec4 tint[];
void main() {
    atomicAdd(drawn, 1u);
    gl_MeshVerticesNV[0].gl_Position = vec4(0.0);
    tint[0] = vec4(1.0);
    gl_PrimitiveCountNV = 0u;
}";
    let fragment = "#version 450
layout(location = 0) in vec4 tint;
layout(location = 0) out vec4 o;
void main() { o = tint; }";
    let given = |path: &str, text: &str| Given {
        path: Some(path.into()),
        code: GivenCode::Text(Language::Glsl, text.to_owned()),
        included: rgraph_shader::Included::default(),
        stage: None,
    };
    let given = vec![given("a.mesh", text), given("a.frag", fragment)];
    let program = rgraph_shader::Program::of("test", Kind::Raster, given, None, &Constants::default())
        .unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(program.modules[0].stage, Stage::Mesh);
    assert!(program.modules[0].capabilities().any(|one| one == 5266));
    let count = &program.interface.bindings[0];
    assert!(count.reads && count.writes);
}
