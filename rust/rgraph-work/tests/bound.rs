//! Bindings by the names of a shader's variables.

use rgraph_ir::id::Id;
use rgraph_ir::resource::ResourceId;
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_work::{Bound, Sampler, View, What};

const TEXT: &str = "
    @group(0) @binding(3) var src: texture_2d<f32>;
    @group(0) @binding(1) var many: binding_array<texture_2d<f32>, 2>;
    @group(1) @binding(0) var filtered: sampler;
    @group(0) @binding(5) var unused: texture_2d<f32>;
    @group(0) @binding(0) var<storage, read_write> dst: array<f32>;
    @compute @workgroup_size(1) fn main() {
        dst[0] = textureSampleLevel(src, filtered, vec2<f32>(0.5), 0.0).x + textureLoad(many[0], vec2<u32>(0u), 0).x
            + textureLoad(many[1], vec2<u32>(0u), 0).x;
    }";

fn program() -> Program {
    Program::new("mix", Kind::Compute, &[Source::Text(Language::Wgsl, TEXT)], None).expect("a shader")
}

#[test]
fn names_become_positions_and_elements() {
    let (program, id) = (program(), ResourceId::new);
    let list = [
        ("many", What::from(id(1))),
        ("src", id(0).into()),
        ("many", id(2).into()),
        ("unused", id(4).into()),
        ("filtered", What::Sampler(Sampler::default())),
        ("dst", id(3).into()),
    ];
    let bound = Bound::named(&program, list).expect("it has them");
    let names: Vec<_> =
        bound.iter().map(|one| (&*program.interface.bindings[one.binding as usize].name, one.element)).collect();
    assert_eq!(names, [("many", 0), ("src", 0), ("many", 1), ("filtered", 0), ("dst", 0)]);
    assert_eq!(bound[2].what, What::Resource(View::whole(id(2))));
}

#[test]
fn a_name_that_the_shader_lacks_is_refused() {
    let error = Bound::named(&program(), [("sry", ResourceId::new(0))]).unwrap_err().to_string();
    assert!(error.starts_with("RG-E312 ") && error.contains("did you mean \"src\"?"), "{error}");
}
