//! GLSL as people write it: what is accepted, what it asks for, and how its mistakes are shown.

use std::path::{Path, PathBuf};

use rgraph_ir::access::Usage;
use rgraph_ir::error::Code;
use rgraph_ir::format::Format;
use rgraph_shader::{
    BindingKind, Constants, Dimension, Given, GivenCode, Included, Interface, Kind, Language, Length, Program,
    SampleKind, Scalar, ShaderError, Source, Stage, Type,
};

use crate::common::{fault, glsl};

/// A source of a file.
fn given(path: &Path, text: &str, included: Included) -> Given {
    let code = GivenCode::Text(Language::Glsl, text.to_owned());
    Given { path: Some(path.to_owned()), code, included, stage: None }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/glsl")
}

/// A stage of `glsl/` alone.
fn compile(name: &str) -> Result<Program, ShaderError> {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let kind = if name.ends_with(".comp") { Kind::Compute } else { Kind::Raster };
    Program::of(name, kind, vec![given(&path, &text, Included::default())], None, &Constants::default())
        .map(|program| (*program).clone())
}

fn interface(name: &str) -> Interface {
    compile(name).unwrap_or_else(|fault| panic!("{fault}")).interface.clone()
}

/// Names of bindings, and whether they are read and written.
fn accesses(interface: &Interface) -> Vec<(&str, bool, bool)> {
    interface.bindings.iter().map(|binding| (binding.name.as_str(), binding.reads, binding.writes)).collect()
}

#[test]
fn every_shader_of_the_folder_is_accepted() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| ["vert", "frag", "comp"].iter().any(|suffix| name.ends_with(suffix)))
        .collect();
    names.sort();
    assert!(names.len() >= 48, "{}", names.len());
    let refused: Vec<String> = names.iter().filter_map(|name| Some(compile(name).err()?.to_string())).collect();
    // A stage whose inputs the supplied triangle does not write is a program of two sources.
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn an_image_joined_with_its_sampler_is_one_binding() {
    let (dimension, arrayed, multisampled) = (Dimension::D2, false, false);
    let found = interface("combined_sampler.frag");
    let combined = |sample| BindingKind::Combined { dimension, arrayed, multisampled, sample };
    assert_eq!(accesses(&found), [("picture", true, false)]);
    assert_eq!(found.bindings[0].kind, combined(SampleKind::Float));
    assert_eq!(interface("sampler_parameter.frag").bindings[0].kind, combined(SampleKind::Float));
    let shadow = interface("shadow.frag");
    let kinds: Vec<_> = shadow.bindings.iter().map(|binding| binding.kind).collect();
    let depth = BindingKind::Sampled { dimension, arrayed, multisampled, sample: SampleKind::Depth };
    assert_eq!(kinds, [combined(SampleKind::Depth), depth, BindingKind::Sampler { comparison: true }]);
    assert_eq!(interface("subpass_input.frag").bindings[0].kind, BindingKind::InputAttachment { index: 0 });
}

#[test]
fn atomics_read_and_write_and_qualifiers_narrow_nothing() {
    assert_eq!(accesses(&interface("buffer_atomics.comp")), [("count", true, true), ("other", true, true)]);
    assert_eq!(accesses(&interface("image_atomics.comp")), [("marks", true, true)]);
    assert_eq!(accesses(&interface("image_parameter.comp")), [("target", false, true)]);
    assert_eq!(accesses(&interface("writeonly_buffer.comp")), [("words", false, true)]);
    assert_eq!(accesses(&interface("shared_atomics.comp")), [("count", false, true)]);
    let written = interface("image_without_format.comp").bindings[0].clone();
    let kind = BindingKind::Image { dimension: Dimension::D2, arrayed: false, format: None, sample: SampleKind::Float };
    assert_eq!((written.kind, written.usage()), (kind, Some(Usage::StorageWrite)));
    let BindingKind::Image { format, sample, .. } = interface("image_atomics.comp").bindings[0].kind else { panic!() };
    assert_eq!((format, sample), (Some(Format::R32uint), SampleKind::Uint));
}

#[test]
fn push_data_that_nothing_reads_is_declared_all_the_same() {
    let unused = interface("unused_push.comp");
    assert_eq!((unused.push, unused.unused_push), (None, true));
    let used = interface("buffer_reference.comp");
    let push = used.push.expect("it is read");
    assert_eq!((push.name.as_str(), push.size, used.unused_push), ("push", 12, false));
    let Type::Struct(block) = &push.ty else { panic!("a block") };
    assert_eq!(block.members[0].ty, Type::Scalar(Scalar::U64), "an address is a number");
    let offsets = interface("member_offset.vert").push.expect("it is read");
    let Type::Struct(block) = &offsets.ty else { panic!("a block") };
    let found: Vec<_> = block.members.iter().map(|member| (member.name.as_str(), member.offset)).collect();
    assert_eq!(found, [("place", 16), ("w", 48)]);
}

#[test]
fn specialization_constants_have_their_values() {
    assert_eq!(interface("specialised_workgroup.comp").workgroup, [8, 2, 1]);
    assert_eq!(accesses(&interface("specialised_array.comp")), [("words", false, true)]);
}

#[test]
fn what_passes_between_stages_takes_its_locations() {
    let vertex = std::fs::read_to_string(folder().join("matrix_varying.vert")).unwrap();
    let fragment = |inputs: &str| {
        format!("#version 450\nlayout(location = 0) out vec4 color;\n{inputs}\nvoid main() {{ color = vec4(1.0); }}")
    };
    let both = |inputs: &str| {
        let fragment = fragment(inputs);
        Program::new("both", Kind::Raster, &[glsl(&vertex), glsl(&fragment)], None)
    };
    both("layout(location = 0) in mat3 turn; layout(location = 3) in vec2 after;").expect("they fit");
    let fault = both("layout(location = 1) in vec2 turn;").unwrap_err();
    assert!(fault.message.contains("at location 1 as vec2<f32>"), "{fault}");
}

#[test]
fn the_name_of_a_file_says_its_stage_and_so_does_the_place_in_a_pair() {
    let stages = |program: &Program| program.modules.iter().map(|module| module.stage).collect::<Vec<_>>();
    assert_eq!(stages(&compile("no_position.vert").unwrap()), [Stage::Vertex]);
    let vertex = std::fs::read_to_string(folder().join("no_position.vert")).unwrap();
    let fragment = std::fs::read_to_string(folder().join("const_in.frag")).unwrap();
    let pair = Program::new("pair", Kind::Raster, &[glsl(&vertex), glsl(&fragment)], None).unwrap();
    assert_eq!(stages(&pair), [Stage::Vertex, Stage::Fragment]);
}

#[test]
fn a_workgroup_of_a_negative_size_is_refused() {
    let text = "#version 450\nconst int N = -1;\nlayout(local_size_x = N) in;\nvoid main() {}";
    let fault = fault(Kind::Compute, &[glsl(text)]);
    assert_eq!((fault.code, fault.at), (Code::BadShader, Some((3, 8))), "{fault}");
    assert!(fault.message.starts_with("cannot be negative"), "{fault}");
}

#[test]
fn a_mistake_is_shown_with_its_line_and_carets() {
    let wrong = |text: &str| fault(Kind::Compute, &[glsl(text)]).to_string();
    assert_eq!(
        wrong(
            "#version 450\nlayout(local_size_x = 8) in;\nvoid main() {\n    float x = colour;\n    float y = hue;\n}"
        ),
        "RG-E301 shader \"test\":4:15: undeclared identifier: 'colour'
  4 |     float x = colour;
    |               ^^^^^^"
    );
    let cases = [
        (
            "#version 450\nvoid main() {\n    vec3 größe = vec3(1.0) // the sum\n    + vec2(2.0);\n}",
            "RG-E301 shader \"test\":3:12: unexpected character: 'ö'
  3 |     vec3 größe = vec3(1.0) // the sum
    |            ^",
        ),
        (
            "#version 450\n#define A(\nvoid main() {}",
            "RG-E301 shader \"test\":2:1: bad argument: '#define'\n  2 | #define A(\n    | ^^^^^^^",
        ),
        (
            "#version 450\nuniform float x;\nvoid main() {}",
            "RG-E301 shader \"test\":2:15: not allowed when using GLSL for Vulkan: 'non-opaque uniforms outside a block'
  2 | uniform float x;
    |               ^
  help: put it into a block: `layout(binding = 0) uniform Block { float x; };`",
        ),
        (
            "#version 450\n#line 70\nvoid main() { x; }",
            "RG-E301 shader \"test\":3:15: undeclared identifier: 'x'\n  3 | void main() { x; }\n    |               ^",
        ),
        (
            "#version 450\nvoid main() { int x = 1 }",
            "RG-E301 shader \"test\":2:25: syntax error, unexpected RIGHT_BRACE, expecting COMMA or SEMICOLON
  2 | void main() { int x = 1 }
    |                         ^",
        ),
        ("#version 450\nvoid helper();", "RG-E302 shader \"test\": it has no function main\n  help: add `void main()`"),
        (
            "#version 450\n#include \"gone.glsl\"\nvoid main() { }",
            "RG-E301 shader \"test\":2:1: no file to include: 'gone.glsl'
  2 | #include \"gone.glsl\"
    | ^^^^^^^^
  help: name a file as seen from the shader's, in a graph file below its folder; a shader that is given as text has no folder",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(wrong(text), expected);
    }
    let old = wrong("#version 120\nvoid main() {}");
    assert!(old.starts_with("RG-E301 shader \"test\":1:1: #version: compute shaders require"), "{old}");
}

/// A program of a text in a folder with these files.
fn including(text: &str, files: &[(&str, &str)]) -> Result<Program, ShaderError> {
    let read = |name: &str| Some(files.iter().find(|(known, _)| *known == name)?.1.to_owned());
    let source = given(Path::new("/shaders/blur.comp"), text, Included::find(text, read));
    Program::of("blur.comp", Kind::Compute, vec![source], None, &Constants::default()).map(|program| (*program).clone())
}

const INCLUDES: &str = "#version 450
#include \"common/light.glsl\"
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Data { float x; } data;
void main() { data.x = lit(2.0); }";

#[test]
fn files_are_included_and_errors_in_them_have_their_places() {
    let light =
        "#ifndef LIGHT\n#define LIGHT\n#include \"ambient.glsl\"\nfloat lit(float x) { return x * AMBIENT; }\n#endif";
    let files = |light, ambient| [("common/light.glsl", light), ("common/ambient.glsl", ambient)];
    let whole = including(INCLUDES, &files(light, "#define AMBIENT 0.5")).expect("all is there");
    let other = including(INCLUDES, &files(light, "#define AMBIENT 0.25")).expect("all is there");
    assert_ne!(whole.hash, other.hash, "what is remembered is known by the included texts, too");
    let fault = including(INCLUDES, &files(light, "#define AMBIENT ambient()")).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "RG-E301 shader \"common/light.glsl\":4:33: no matching overloaded function found: 'ambient' (and 1 more)
  4 | float lit(float x) { return x * AMBIENT; }
    |                                 ^^^^^^^"
    );
    let gone = including(INCLUDES, &[("common/light.glsl", light)]).unwrap_err();
    assert!(
        gone.to_string().starts_with("RG-E301 shader \"common/light.glsl\":3:1: no file to include: 'ambient.glsl'")
    );
}

#[test]
fn files_that_include_themselves_end() {
    let twice = "#include \"common/light.glsl\"\n#include \"common/light.glsl\"\n";
    let fault = including(INCLUDES, &[("common/light.glsl", twice)]).unwrap_err();
    assert!(fault.message.starts_with("it is too large"), "{fault}");
    let long = format!("float lit(float x) {{ return x; }}{}", " ".repeat(1 << 20));
    let fault = including(INCLUDES, &[("common/light.glsl", &long)]).unwrap_err();
    assert!(fault.message.contains("more than 1048576 bytes"), "{fault}");
}

#[test]
fn arrays_of_open_length_have_the_length_that_is_bound() {
    let text = "#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform texture2D pictures[];
layout(set = 0, binding = 2) readonly buffer From { float all[]; } sources[];
layout(set = 1, binding = 0, r32f) uniform writeonly image2D out_images[];
void main() {
    for (int at = 0; at < 2; at++)
        imageStore(out_images[at], ivec2(0), texelFetch(pictures[at], ivec2(0), 0) + sources[at].all[at]);
}";
    let source = vec![GivenCode::Text(Language::Glsl, text.to_owned()).into()];
    let open = Program::of("bindless", Kind::Compute, source, None, &Constants::default()).unwrap();
    let counts = |program: &Program| program.interface.bindings.iter().map(|one| one.count).collect::<Vec<_>>();
    // RuntimeDescriptorArray.
    let is_open = |program: &Program| program.modules[0].capabilities().any(|capability| capability == 5302);
    assert_eq!(counts(&open), [0, 0, 0]);
    assert!(is_open(&open));
    assert_eq!(
        accesses(&open.interface),
        [("pictures", true, false), ("sources", true, false), ("out_images", false, true)]
    );
    let length = |group, binding, count| Length { group, binding, count };
    let part = open.with_lengths(vec![length(0, 0, 5)]).unwrap();
    assert_eq!(counts(&part), [5, 0, 0]);
    assert!(is_open(&part));
    let lengths = vec![length(1, 0, 2), length(0, 2, 3), length(0, 0, 5)];
    let closed = open.with_lengths(lengths.clone()).unwrap();
    assert_eq!(counts(&closed), [5, 3, 2]);
    assert!(!is_open(&closed) && closed.hash != open.hash);
    assert_eq!(counts(&open), [0, 0, 0]);
    // The same lengths are the same program, and its code read again has them.
    assert!(closed.shares_code(&open.with_lengths(lengths).unwrap()));
    let bytes: Vec<u8> = closed.modules[0].spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
    let again = Program::new("again", Kind::Compute, &[Source::Spirv(&bytes)], None).unwrap();
    assert_eq!(counts(&again), [5, 3, 2]);
    assert_eq!(accesses(&again.interface), accesses(&open.interface));
}

#[test]
fn buffers_of_texels_are_bindings_of_their_own() {
    let text = "#version 450
layout(local_size_x = 1) in;
layout(binding = 0) uniform isamplerBuffer colours;
layout(binding = 1, rgba8) uniform readonly imageBuffer some;
layout(binding = 2) uniform writeonly uimageBuffer found;
void main() { imageStore(found, 0, uvec4(texelFetch(colours, 1)) + uvec4(imageLoad(some, 2))); }";
    let source = vec![GivenCode::Text(Language::Glsl, text.to_owned()).into()];
    let program = Program::of("texels", Kind::Compute, source, None, &Constants::default()).unwrap();
    let kinds: Vec<_> = program.interface.bindings.iter().map(|one| (one.kind, one.usage())).collect();
    let texels = |storage, format, sample| BindingKind::Texels { storage, format, sample };
    assert_eq!(
        kinds,
        [
            (texels(false, None, SampleKind::Int), Some(Usage::Sampled)),
            (texels(true, Some(Format::Rgba8unorm), SampleKind::Float), Some(Usage::StorageRead)),
            (texels(true, None, SampleKind::Uint), Some(Usage::StorageWrite)),
        ]
    );
}
