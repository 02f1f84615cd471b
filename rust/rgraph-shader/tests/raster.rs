//! Programs of several stages: which entry points are taken, what is supplied, what must fit.

use rgraph_ir::access::Stages;
use rgraph_ir::error::Code;
use rgraph_shader::{Kind, Program, Scalar, Source, Stage};

use crate::common::{corpus, fault, glsl, program, wgsl};

const VERTEX: &str = "
struct Between { @builtin(position) at: vec4<f32>, @location(0) uv: vec2<f32>, @location(1) @interpolate(flat) id: u32 }
@vertex fn v(@location(3) position: vec3<f32>) -> Between { return Between(vec4(position, 1.0), position.xy, 1u); }
";

fn fragment(input: &str) -> String {
    format!("@fragment fn f({input}) -> @location(0) vec4<f32> {{ return vec4<f32>(1.0); }}")
}

fn stages(program: &Program) -> Vec<(Stage, &str)> {
    program.modules.iter().map(|module| (module.stage, module.entry.as_str())).collect()
}

#[test]
fn one_text_with_both_stages_gives_both_and_its_bindings_say_which_stage_uses_them() {
    let program = corpus("mesh.wgsl", Kind::Raster);
    assert_eq!(stages(&program), [(Stage::Vertex, "vertex_main"), (Stage::Fragment, "fragment_main")]);
    let interface = &program.interface;
    let stages: Vec<_> = interface.bindings.iter().map(|binding| (binding.name.as_str(), binding.stages)).collect();
    assert_eq!(
        stages,
        [
            ("camera", Stages::VERTEX_SHADER | Stages::FRAGMENT_SHADER),
            ("albedo", Stages::FRAGMENT_SHADER),
            ("smooth_sampler", Stages::FRAGMENT_SHADER)
        ]
    );
    let inputs: Vec<_> =
        interface.vertex_inputs.iter().map(|i| (i.name.as_str(), i.location, i.scalar, i.components)).collect();
    assert_eq!(inputs, [("position", 0, Scalar::F32, 3), ("uv", 1, Scalar::F32, 2), ("id", 2, Scalar::U32, 1)]);
    let outputs: Vec<_> =
        interface.outputs.iter().map(|o| (o.name.as_str(), o.location, o.scalar, o.components)).collect();
    assert_eq!(outputs, [("color", 0, Scalar::F32, 4), ("id", 1, Scalar::U32, 1)]);
    assert!(interface.writes_depth);
    assert_eq!(interface.workgroup, [0; 3]);
}

/// Whether a module has a variable that is decorated `BuiltIn PointSize` (SPIR-V, `OpDecorate` and `OpMemberDecorate`).
fn has_point_size(spirv: &[u32]) -> bool {
    const BUILT_IN_POINT_SIZE: [u32; 2] = [11, 1];
    let mut at = 5;
    while at < spirv.len() {
        let count = (spirv[at] >> 16) as usize;
        let operands = match spirv[at] & 0xffff {
            71 => &spirv[at + 2..at + count],
            72 => &spirv[at + 3..at + count],
            _ => &[],
        };
        if operands == BUILT_IN_POINT_SIZE {
            return true;
        }
        at += count;
    }
    false
}

#[test]
fn vertices_of_wgsl_have_the_size_that_points_need() {
    let program = program(Kind::Raster, &[wgsl(&format!("{VERTEX}{}", fragment("")))]);
    let of: Vec<_> = program.modules.iter().map(|module| (module.stage, has_point_size(&module.spirv))).collect();
    assert_eq!(of, [(Stage::Vertex, true), (Stage::Fragment, false)]);
}

#[test]
fn a_lone_fragment_stage_gets_a_triangle_over_the_whole_picture() {
    for input in ["@location(0) uv: vec2<f32>", "@builtin(position) at: vec4<f32>", ""] {
        let program = program(Kind::Raster, &[wgsl(&fragment(input))]);
        assert_eq!(stages(&program), [(Stage::Vertex, "full_screen"), (Stage::Fragment, "f")]);
        assert!(program.interface.vertex_inputs.is_empty());
    }
    let text = "#version 450
        layout(location = 0) in vec2 uv; layout(location = 0) out vec4 color; void main() { color = vec4(uv, 0, 1); }";
    assert_eq!(
        stages(&program(Kind::Raster, &[glsl(text)])),
        [(Stage::Vertex, "full_screen"), (Stage::Fragment, "main")]
    );
    let fault = fault(Kind::Raster, &[wgsl(&fragment("@location(0) uv: vec3<f32>"))]);
    assert_eq!(
        fault.to_string(),
        "RG-E303 shader \"test\": the fragment stage reads 'uv' at location 0 as vec3<f32>, and the vertex stage writes 'uv' there as vec2<f32>
  help: the supplied vertex stage writes location 0: 'uv' vec2<f32>, (0, 0) at the top left; for others, add a vertex stage"
    );
}

#[test]
fn a_lone_vertex_stage_writes_depth_only() {
    let program = program(Kind::Raster, &[wgsl(VERTEX)]);
    assert_eq!(stages(&program), [(Stage::Vertex, "v")]);
    assert!(program.interface.outputs.is_empty());
}

#[test]
fn two_sources_of_any_languages_make_one_program() {
    let fragment_glsl = "#version 450
        layout(location = 0) in vec2 uv; layout(location = 0) out vec4 color; void main() { color = vec4(uv, 0, 1); }";
    let vertex_glsl = "#version 450
        layout(location = 0) in vec3 position; layout(location = 0) out vec2 uv;
        void main() { uv = position.xy; gl_Position = vec4(position, 1); }";
    assert_eq!(
        stages(&program(Kind::Raster, &[glsl(vertex_glsl), glsl(fragment_glsl)])),
        [(Stage::Vertex, "main"), (Stage::Fragment, "main")]
    );
    assert_eq!(stages(&program(Kind::Raster, &[glsl(fragment_glsl), glsl(vertex_glsl)])).len(), 2);
    assert_eq!(
        stages(&program(Kind::Raster, &[wgsl(VERTEX), glsl(fragment_glsl)])),
        [(Stage::Vertex, "v"), (Stage::Fragment, "main")]
    );
    let six = fault(Kind::Raster, &[wgsl(VERTEX); 6]);
    assert_eq!((six.code, six.message.contains("6 sources")), (Code::EntryPoint, true));
    let three = fault(Kind::Raster, &[wgsl(VERTEX); 3]);
    assert_eq!((three.code, three.message.contains("several vertex entry points")), (Code::EntryPoint, true));
}

#[test]
fn what_a_fragment_stage_reads_the_vertex_stage_must_write_with_the_same_type() {
    let with = |input: &str| format!("{VERTEX}{}", fragment(input));
    program(Kind::Raster, &[wgsl(&with("@location(1) @interpolate(flat) id: u32"))]);
    let missing = fault(Kind::Raster, &[wgsl(&with("@location(2) n: vec3<f32>"))]);
    assert_eq!(
        missing.to_string(),
        "RG-E303 shader \"test\": the fragment stage reads 'n' (vec3<f32>) at location 2, which the vertex stage does not write
  help: the vertex stage writes location 0: 'uv' vec2<f32>, 1: 'id' u32"
    );
    let other = fault(Kind::Raster, &[wgsl(&with("@location(1) @interpolate(flat) id: i32"))]);
    assert!(other.message.contains("as i32, and the vertex stage writes 'id' there as u32"));
}

#[test]
fn entry_points_are_chosen_by_name_where_there_are_several() {
    let two = "@compute @workgroup_size(1) fn down() {} @compute @workgroup_size(2) fn up() {}";
    let choose = |kind, text: &str, entry| Program::new("test", kind, &[wgsl(text)], entry);
    assert_eq!(choose(Kind::Compute, two, Some("up")).unwrap().interface.workgroup, [2, 1, 1]);
    assert_eq!(
        choose(Kind::Compute, two, None).unwrap_err().to_string(),
        "RG-E302 shader \"test\": it has several compute entry points: 'down', 'up'\n  help: choose one with `entry`"
    );
    assert_eq!(
        choose(Kind::Compute, two, Some("left")).unwrap_err().to_string(),
        "RG-E302 shader \"test\": it has no entry point 'left'\n  help: it has 'down' (compute), 'up' (compute)"
    );
    assert_eq!(
        choose(Kind::Raster, two, None).unwrap_err().to_string(),
        "RG-E302 shader \"test\": it has no vertex or fragment entry point\n  help: it has 'down' (compute), 'up' (compute)"
    );
    let raster = format!(
        "{VERTEX}{} @fragment fn g() {{}} @vertex fn w() -> @builtin(position) vec4<f32> {{ return vec4(1.0); }}",
        fragment("")
    );
    assert_eq!(
        stages(&choose(Kind::Raster, &raster, Some("w, g")).unwrap()),
        [(Stage::Vertex, "w"), (Stage::Fragment, "g")]
    );
    assert_eq!(choose(Kind::Raster, &raster, Some("g")).unwrap_err().code, Code::EntryPoint, "which vertex stage?");
}

#[test]
fn a_text_without_entry_points_says_what_to_add() {
    assert_eq!(
        fault(Kind::Compute, &[wgsl("fn helper() {}")]).to_string(),
        "RG-E302 shader \"test\": it has no compute entry point\n  help: mark a function as @compute"
    );
}

#[test]
fn the_stage_of_glsl_is_told_by_a_pragma_or_by_what_only_it_has() {
    let wrong = fault(Kind::Raster, &[glsl("#version 450\nlayout(local_size_x = 8) in; void main() {}")]);
    assert_eq!((wrong.code, wrong.help.as_str()), (Code::EntryPoint, "it has 'main' (compute)"));
    let vertex = "#version 450\n#pragma shader_stage(vertex)\nvoid main() { gl_Position = vec4(1); }";
    assert_eq!(stages(&program(Kind::Raster, &[glsl(vertex)])), [(Stage::Vertex, "main")]);
    let wrong = fault(Kind::Compute, &[glsl(vertex)]);
    assert_eq!((wrong.code, wrong.help.as_str()), (Code::EntryPoint, "it has 'main' (vertex)"));
    let comment =
        "#version 450\n// gl_Position is not set here\nlayout(location = 0) out vec4 c; void main() { c = vec4(1); }";
    assert_eq!(stages(&program(Kind::Raster, &[glsl(comment)]))[1], (Stage::Fragment, "main"));
}

#[test]
fn words_that_one_stage_alone_has_tell_it() {
    let control =
        "#version 450\nlayout(vertices = 3) out; layout(location = 0) in vec2 uv[]; layout(location = 0) out vec2 on[];
        void main() { gl_out[gl_InvocationID].gl_Position = vec4(0); on[gl_InvocationID] = uv[gl_InvocationID]; }";
    let evaluation =
        "#version 450\nlayout(triangles) in; layout(location = 0) in vec2 on[]; layout(location = 0) out vec2 uv;
        void main() { gl_Position = vec4(gl_TessCoord, 1); uv = on[0]; }";
    let geometry = "#version 450\nlayout(triangles) in; layout(points, max_vertices = 1) out;
        layout(location = 0) in vec2 uv[]; layout(location = 0) out vec2 of_point;
        void main() { gl_Position = vec4(0); of_point = uv[2]; EmitVertex(); }";
    let vertex = "#version 450\nlayout(location = 0) out vec2 uv; void main() { gl_Position = vec4(0); uv = vec2(0); }";
    let fragment = "#version 450\nlayout(location = 0) in vec2 of_point; layout(location = 0) out vec4 c;
        void main() { c = vec4(of_point, 0, 1); }";
    let all = [vertex, control, evaluation, geometry, fragment].map(glsl);
    let program = program(Kind::Raster, &all);
    assert_eq!(
        program.modules.iter().map(|module| module.stage).collect::<Vec<_>>(),
        [Stage::Vertex, Stage::TessellationControl, Stage::TessellationEvaluation, Stage::Geometry, Stage::Fragment]
    );
    // Arrays of one value for each vertex are compared without their outermost dimension, and all values by type.
    let other = fragment.replace("vec2 of_point", "vec3 of_point").replace("vec4(of_point, 0, 1)", "vec4(of_point, 1)");
    let wrong = fault(Kind::Raster, &[all[0], all[1], all[2], all[3], glsl(&other)]);
    assert_eq!(wrong.code, Code::StageMismatch, "{wrong}");
}

#[test]
fn a_mesh_stage_takes_the_place_of_the_vertex_stage() {
    let mesh = "#version 460\n#extension GL_EXT_mesh_shader : require
        layout(local_size_x = 1) in; layout(triangles, max_vertices = 3, max_primitives = 1) out;
        layout(location = 0) out vec2 uv[]; layout(location = 1) perprimitiveEXT out flat uint which[];
        void main() { SetMeshOutputsEXT(3, 1); uv[0] = vec2(0); which[0] = 1u; }";
    let fragment = "#version 460\n#extension GL_EXT_mesh_shader : require
        layout(location = 0) in vec2 uv; layout(location = 1) perprimitiveEXT in flat uint which;
        layout(location = 0) out vec4 c; void main() { c = vec4(uv, which, 1); }";
    assert_eq!(
        stages(&program(Kind::Raster, &[glsl(mesh), glsl(fragment)])),
        [(Stage::Mesh, "main"), (Stage::Fragment, "main")]
    );
}

#[test]
fn bindings_of_two_stages_must_agree() {
    let vertex = |binding: &str, use_: &str| {
        format!("{binding} @vertex fn v() -> @builtin(position) vec4<f32> {{ return vec4<f32>({use_}); }}")
    };
    let fragment = |binding: &str, use_: &str| {
        format!("{binding} @fragment fn f() -> @location(0) vec4<f32> {{ return vec4<f32>({use_}); }}")
    };
    let uniform = "@group(0) @binding(0) var<uniform> a: f32;";
    let both = |vertex: &str, fragment: &str| {
        Program::new("test", Kind::Raster, &[wgsl(vertex), wgsl(fragment)], None)
            .map(|program| program.interface.clone())
    };
    let same = both(&vertex(uniform, "a"), &fragment(uniform, "a")).unwrap();
    assert_eq!(same.bindings.len(), 1);
    let clash = |other: &str, use_: &str| both(&vertex(uniform, "a"), &fragment(other, use_)).unwrap_err();
    let fault = clash("@group(0) @binding(0) var<storage> a: f32;", "a");
    assert_eq!(
        fault.to_string(),
        "RG-E304 shader \"test\": 'a' at (0, 0) is not the same in the fragment stage as before it
  help: declare it alike in both stages, or give it another name and binding"
    );
    assert!(clash("@group(0) @binding(0) var<uniform> a: vec2<f32>;", "a.x").message.contains("is not the same"));
    assert!(
        clash("@group(0) @binding(0) var<uniform> b: f32;", "b")
            .message
            .contains("is called 'a' and, in the fragment stage, 'b'")
    );
    assert!(
        clash("@group(1) @binding(0) var<uniform> a: f32;", "a")
            .message
            .contains("two bindings are called 'a': (0, 0) and (1, 0)")
    );
}

#[test]
fn push_data_of_two_stages_is_one_block() {
    let vertex = "#version 450
        layout(push_constant) uniform Push { mat4 turn; } push;
        void main() { gl_Position = push.turn[0]; }";
    let fragment = |block: &str| {
        format!(
            "#version 450
            layout(push_constant) uniform Push {{ {block} }} push;
            layout(location = 0) out vec4 color; void main() {{ color = push.tint; }}"
        )
    };
    let joined = program(Kind::Raster, &[glsl(vertex), glsl(&fragment("mat4 turn; vec4 tint;"))]);
    let push = joined.interface.push.clone().expect("both have some");
    assert_eq!((push.size, push.stages), (80, Stages::VERTEX_SHADER | Stages::FRAGMENT_SHADER));
    let clash = fault(Kind::Raster, &[glsl(vertex), glsl(&fragment("vec4 tint;"))]);
    assert_eq!(clash.code, Code::Unsupported);
    assert!(clash.message.contains("'turn' (mat4x4<f32>, at byte 0) contradicts 'tint' (vec4<f32>, at byte 0)"));
}

#[test]
fn equal_programs_have_equal_hashes_and_others_have_others() {
    let hash = |text: &str| program(Kind::Compute, &[Source::Text(rgraph_shader::Language::Wgsl, text)]).hash;
    let one = "@compute @workgroup_size(1) fn main() {}";
    assert_eq!(hash(one), hash(&format!("// a comment\n{one}")));
    assert_ne!(hash(one), hash("@compute @workgroup_size(2) fn main() {}"));
    assert_ne!(hash(one), hash("@compute @workgroup_size(1) fn other() {}"));
}
