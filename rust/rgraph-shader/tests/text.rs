//! WGSL and GLSL texts: what they ask for.

use rgraph_ir::access::Usage;
use rgraph_ir::format::Format;
use rgraph_shader::{BindingKind, Dimension, Kind, Language, Program, SampleKind, Source, Type, Value};

use crate::common;

fn wgsl(kind: Kind, text: &str) -> Program {
    Program::new("test", kind, &[Source::Text(Language::Wgsl, text)], None).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn a_buffer_declared_read_write_that_is_only_read_counts_as_read() {
    let program = wgsl(
        Kind::Compute,
        "@group(0) @binding(3) var<storage, read_write> read: array<u32>;
         @group(0) @binding(4) var<storage, read_write> written: array<u32>;
         @group(0) @binding(5) var<storage, read_write> atomic_: atomic<u32>;
         @group(0) @binding(6) var<storage, read_write> asked: array<u32>;
         @group(0) @binding(7) var<storage, read_write> idle: array<u32>;
         @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             written[id.x] = read[id.y] + arrayLength(&asked);
             atomicAdd(&atomic_, 1u);
         }",
    );
    let found: Vec<_> = program
        .interface
        .bindings
        .iter()
        .map(|binding| (binding.name.as_str(), binding.reads, binding.writes))
        .collect();
    assert_eq!(
        found,
        [("read", true, false), ("written", false, true), ("atomic_", true, true), ("asked", false, false)]
    );
    assert!(program.interface.bindings.iter().all(|binding| binding.kind == BindingKind::Storage));
    assert_eq!(program.interface.unused, ["idle"]);
    assert_eq!(program.interface.workgroup, [8, 8, 1]);
}

#[test]
fn subgroups_may_be_enabled_alone_and_beside_others() {
    let body = "@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
        @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            sums[id.x] = subgroupAdd(id.x) + subgroupBroadcastFirst(id.x);
        }";
    let heads = [
        "",
        "enable subgroups;",
        "enable subgroups,;",
        "// enable ä, subgroups\nenable /* ä */ subgroups ;",
        "enable f16, subgroups;",
        "enable subgroups, f16;",
        "diagnostic(off, derivative_uniformity);\nenable f16;\nenable clip_distances,\nsubgroups, f16;",
    ];
    for head in heads {
        let program = wgsl(Kind::Compute, &format!("{head}\n{body}"));
        assert!(program.interface.bindings[0].writes, "{head}");
    }
    let message = wrong(Language::Wgsl, "enable subgroups;\n@compute @workgroup_size(1) fn main() { absent(); }");
    assert!(message.contains("\"blur\":2:41"), "{message}");
    let message = wrong(Language::Wgsl, "enable f16, subgrops;\n@compute @workgroup_size(1) fn main() {}");
    assert!(message.contains("subgrops"), "{message}");
    // Behind declarations it is as wrong as any other directive.
    let message = wrong(Language::Wgsl, "const a = 1;\nenable subgroups;\n@compute @workgroup_size(1) fn main() {}");
    assert!(message.contains("enable"), "{message}");
}

fn glsl(kind: Kind, text: &str) -> Program {
    Program::new("test", kind, &[Source::Text(Language::Glsl, text)], None).unwrap_or_else(|fault| panic!("{fault}"))
}

/// What is wrong with a text, as it is printed.
fn wrong(language: Language, text: &str) -> String {
    let program = Program::new("blur", Kind::Compute, &[Source::Text(language, text)], None);
    program.expect_err("it should not compile").to_string()
}

fn kind(program: &Program, name: &str) -> BindingKind {
    program.interface.find(name).unwrap_or_else(|| panic!("no binding {name}")).1.kind
}

#[test]
fn a_mistake_is_shown_with_its_line_and_carets() {
    let text = "@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;\n\n@compute @workgroup_size(8, 8)\nfn main(@builtin(global_invocation_id) id: vec3<u32>) {\n    textureStore(dst, id.xy, vec4<f32>(1.0, 2.0));\n}\n";
    assert_eq!(
        wrong(Language::Wgsl, text),
        "RG-E301 shader \"blur\":5:30: Constructor expects 4 components, found 2
  5 |     textureStore(dst, id.xy, vec4<f32>(1.0, 2.0));
    |                              ^^^^^^^^^^^^^^^^^^^"
    );
    assert_eq!(
        wrong(Language::Wgsl, "@compute @workgroup_size(1)\nfn main() {\n\tlet größe = 1 + ;\n}"),
        "RG-E301 shader \"blur\":3:18: expected expression, found \";\"
  3 |  let größe = 1 + ;
    |                  ^ expected expression"
    );
    assert_eq!(
        wrong(Language::Glsl, "#version 450\nlayout(local_size_x = 8) in;\nvoid main() {\n    float x = colour;\n}"),
        "RG-E301 shader \"blur\":4:15: undeclared identifier: 'colour'
  4 |     float x = colour;
    |               ^^^^^^"
    );
    assert_eq!(
        wrong(Language::Wgsl, "@group(0) @binding(0) var<uniform> a: array<f32, 4>;\n@compute @workgroup_size(1) fn main() { let x = a[0]; }"),
        "RG-E301 shader \"blur\":1:23: Global variable 'a' is invalid: Alignment requirements for address space Uniform are not met by: The array stride 4 is not a multiple of the required alignment 16
  1 | @group(0) @binding(0) var<uniform> a: array<f32, 4>;
    |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"
    );
}

#[test]
fn places_are_those_of_the_users_text_where_something_was_put_before_it() {
    let text = "@group(0) @binding(0) var t: binding_array<texture_2d<f32>, 4>;\nvar<push_constant> p: f32;\n@compute @workgroup_size(1) fn main() { let x = q; }";
    assert!(
        wrong(Language::Wgsl, text)
            .starts_with("RG-E301 shader \"blur\":3:49: no definition in scope for identifier: `q`")
    );
}

#[test]
fn two_variables_of_one_binding_are_a_clash() {
    let text = "@group(0) @binding(0) var<uniform> a: f32;\n@group(0) @binding(0) var<uniform> b: f32;\n@compute @workgroup_size(1) fn main() { let x = a + b; }";
    let fault = wrong(Language::Wgsl, text);
    assert!(
        fault.starts_with("RG-E304 shader \"blur\":2:23: 'b' has the group and the binding of another variable"),
        "{fault}"
    );
}

#[test]
fn push_data_has_two_spellings_and_a_bare_number_is_a_block_of_one_member() {
    for word in ["push_constant", "immediate"] {
        let text = format!(
            "/* var<push_constant> no: f32; */ var < {word} > strength: f32;
             @group(0) @binding(0) var<storage, read_write> o: array<f32>;
             @compute @workgroup_size(1) fn main() {{ o[0] = strength; }}"
        );
        let push = wgsl(Kind::Compute, &text).interface.push.clone().expect("it has push data");
        assert_eq!((push.name.as_str(), push.size), ("strength", 4));
        let value = Value::Map(vec![("strength".to_owned(), Value::Float(0.7))]);
        assert_eq!(push.ty.pack("test", "push", &value).unwrap(), 0.7_f32.to_le_bytes());
    }
    let text = "var<push_constant> p: f32; @compute @workgroup_size(1) fn main() { let push_constant = p; }";
    assert!(wgsl(Kind::Compute, text).interface.push.is_some(), "a name may be the same word");
    let unused = "var<push_constant> p: f32; @compute @workgroup_size(1) fn main() { }";
    assert_eq!(wgsl(Kind::Compute, unused).interface.push, None);
}

#[test]
fn images_and_samplers_say_what_they_are() {
    let program = common::corpus("lights.wgsl", Kind::Compute);
    let (dimension, arrayed, multisampled) = (Dimension::D2, false, false);
    assert_eq!(
        kind(&program, "source"),
        BindingKind::Sampled { dimension, arrayed, multisampled, sample: SampleKind::Float }
    );
    assert_eq!(
        kind(&program, "shadow"),
        BindingKind::Sampled { dimension, arrayed: true, multisampled, sample: SampleKind::Depth }
    );
    assert_eq!(kind(&program, "linear"), BindingKind::Sampler { comparison: false });
    assert_eq!(kind(&program, "compare"), BindingKind::Sampler { comparison: true });
    let format = Some(Format::Rgba16float);
    assert_eq!(
        kind(&program, "target_image"),
        BindingKind::Image { dimension, arrayed, format, sample: SampleKind::Float }
    );
    let format = Some(Format::R32uint);
    assert_eq!(kind(&program, "counts"), BindingKind::Image { dimension, arrayed, format, sample: SampleKind::Uint });
    let usages: Vec<_> = ["source", "target_image", "counts", "params", "linear", "only_written", "only_asked"]
        .map(|name| program.interface.find(name).and_then(|(_, binding)| binding.usage()))
        .to_vec();
    let (read, write, both) = (Usage::StorageRead, Usage::StorageWrite, Usage::StorageReadWrite);
    let expected = [Some(Usage::Sampled), Some(write), Some(both), Some(Usage::Uniform), None, Some(write), Some(read)];
    assert_eq!(usages, expected);
}

#[test]
fn storage_formats_have_their_names() {
    for name in ["r32float", "rgba8snorm", "rg32uint", "rgba16sint", "rgba32float", "rgb10a2unorm", "rg11b10ufloat"] {
        let text = format!(
            "@group(0) @binding(0) var image: texture_storage_3d<{name}, write>;
             @compute @workgroup_size(1) fn main() {{ _ = textureDimensions(image); }}"
        );
        let BindingKind::Image { dimension: Dimension::D3, format: Some(format), .. } =
            kind(&wgsl(Kind::Compute, &text), "image")
        else {
            panic!("{name} is a storage image");
        };
        assert_eq!(format.name(), name);
    }
}

#[test]
fn an_array_of_images_counts_its_descriptors() {
    let program = common::corpus("arrays.wgsl", Kind::Raster);
    assert_eq!(program.interface.find("images").map(|(_, binding)| binding.count), Some(4));
}

#[test]
fn a_block_of_glsl_without_instance_name_has_the_blocks_name() {
    let program = common::corpus("blocks.comp", Kind::Compute);
    let names: Vec<_> = program
        .interface
        .bindings
        .iter()
        .map(|binding| (binding.name.as_str(), binding.reads, binding.writes))
        .collect();
    assert_eq!(
        names,
        [
            ("Params", true, false),
            ("buf", false, true),
            ("img", false, true),
            ("tex", true, false),
            ("smp", true, false),
            ("given", true, false)
        ]
    );
}

#[test]
fn overrides_have_their_values_and_one_without_a_value_is_an_error() {
    let text = |value: &str| {
        format!(
            "override size: u32{value}; @group(0) @binding(0) var<storage, read_write> o: array<u32>;
             @compute @workgroup_size(size) fn main() {{ o[0] = size; }}"
        )
    };
    assert_eq!(wgsl(Kind::Compute, &text(" = 16")).interface.workgroup, [16, 1, 1]);
    assert!(wrong(Language::Wgsl, &text("")).contains("'size'"));
}

#[test]
fn glsl_says_version_and_wgsl_does_not() {
    assert_eq!(Program::language_of("// GLSL\n  # version 450\nvoid main() {}"), Language::Glsl);
    assert_eq!(Program::language_of("// #version 450\n@compute fn main() {}"), Language::Wgsl);
    assert_eq!(Program::language_of(""), Language::Wgsl);
}

#[test]
fn structs_of_glsl_have_the_strides_of_the_block_they_are_in() {
    let text = |layout: &str, block: &str| {
        format!(
            "#version 450
            struct One {{ float x; }};
            layout({layout}, set = 0, binding = 0) {block} Data {{ One a[3]; }} data;
            layout(std430, set = 0, binding = 1) buffer Out {{ float x; }} o;
            void main() {{ o.x = data.a[1].x; }}"
        )
    };
    for (layout, block, stride) in [("std140", "uniform", 16), ("std430", "readonly buffer", 4)] {
        let program = glsl(Kind::Compute, &text(layout, block));
        let Some(Type::Struct(block)) = &program.interface.find("data").expect("used").1.ty else { panic!("a block") };
        let Type::Array { stride: found, .. } = block.members[0].ty else { panic!("an array") };
        assert_eq!(found, stride, "{layout}");
    }
}

#[test]
fn a_module_lists_the_capabilities_that_it_needs_of_a_device() {
    const FLOAT16: u32 = 9;
    const SHADER: u32 = 1;
    let with = |text: &str| wgsl(Kind::Compute, text).modules[0].capabilities().collect::<Vec<_>>();
    let plain = with("@compute @workgroup_size(1) fn main() {}");
    assert!(plain.contains(&SHADER) && !plain.contains(&FLOAT16));
    assert!(
        with("enable f16; var<private> x: f16; @compute @workgroup_size(1) fn main() { x = 1.0h; }").contains(&FLOAT16)
    );
}

#[test]
fn an_atomic_may_be_indexed_by_what_is_computed() {
    let text = "@group(0) @binding(0) var<storage, read_write> bins: array<atomic<u32>, 64>;
        @group(0) @binding(1) var<storage, read_write> open: array<atomic<u32>>;
        var<workgroup> local: array<atomic<u32>, 64>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            atomicAdd(&local[i], 1u); workgroupBarrier(); atomicAdd(&bins[atomicLoad(&local[63u - i])], 1u); atomicMax(&open[i], i);
        }";
    let program = wgsl(Kind::Compute, text);
    assert!(program.interface.bindings.iter().all(|binding| binding.reads && binding.writes));
}

/// Naga (30) counts the words of push data in 64 bits without a check; devices take 128 to 256 bytes.
#[test]
fn push_data_of_more_than_256_bytes_is_refused_with_its_place() {
    let text = |floats: u32| {
        format!(
            "struct Push {{ all: array<vec4<f32>, {floats}> }}
             var<immediate> push: Push;
             @group(0) @binding(0) var<storage, read_write> out: vec4<f32>;
             @compute @workgroup_size(1) fn main() {{ out = push.all[{}]; }}",
            floats - 1
        )
    };
    assert_eq!(wgsl(Kind::Compute, &text(16)).interface.push.as_ref().map(|push| push.size), Some(256));
    let fault = wrong(Language::Wgsl, &text(17));
    assert!(
        fault.contains("RG-E304") && fault.contains("'push' is push data of 272 bytes; 256 is the most"),
        "{fault}"
    );
    assert!(fault.contains("uniform block") && fault.contains(":2:"), "{fault}");
}
