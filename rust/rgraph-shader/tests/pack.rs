//! Values into bytes: offsets and strides of the layouts, and what is wrong with values that do not fit.

use rgraph_shader::{Kind, Type, Value};

use crate::common::{corpus, glsl, program, wgsl};

fn ints(values: &[i128]) -> Value {
    Value::List(values.iter().map(|value| Value::Int(*value)).collect())
}

fn map(members: &[(&str, Value)]) -> Value {
    Value::Map(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

fn layout(text: &str, name: &str) -> Type {
    let program = program(Kind::Compute, &[if text.contains("#version") { glsl(text) } else { wgsl(text) }]);
    program.interface.find(name).and_then(|(_, binding)| binding.ty.clone()).expect("a buffer of this name")
}

/// The layout of a uniform of a WGSL type.
fn uniform(ty: &str) -> Type {
    layout(
        &format!(
            "enable f16; {ty} @group(0) @binding(0) var<uniform> v: T; @compute @workgroup_size(1) fn main() {{ var x = v; }}"
        ),
        "v",
    )
}

/// The layout of a storage buffer of a WGSL type.
fn storage(ty: &str) -> Type {
    layout(
        &format!(
            "enable f16; {ty} @group(0) @binding(0) var<storage> v: T; @compute @workgroup_size(1) fn main() {{ _ = &v; }}"
        ),
        "v",
    )
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

fn wrong(ty: &Type, value: &Value) -> String {
    ty.pack("test", "params", value).expect_err("the value does not fit").to_string()
}

#[test]
fn a_vec3_is_padded_to_16_bytes_unless_a_number_follows() {
    let ty = uniform("struct T { a: vec3<f32>, b: f32, c: vec3<f32>, d: vec2<f32> }");
    assert_eq!(ty.size(), 48);
    let value = map(&[("a", ints(&[1, 2, 3])), ("b", Value::Int(4)), ("c", ints(&[5, 6, 7])), ("d", ints(&[8, 9]))]);
    assert_eq!(floats(&ty.pack("test", "params", &value).unwrap()), [1., 2., 3., 4., 5., 6., 7., 0., 8., 9., 0., 0.]);
}

#[test]
fn std140_arrays_have_strides_of_16_and_std430_arrays_do_not() {
    let text = "#version 450
        layout(std140, set = 0, binding = 0) uniform A { float a[2]; float b; } one;
        layout(std430, set = 0, binding = 1) buffer B { float a[2]; float b; float rest[]; } two;
        void main() { two.b = one.b; }";
    let value = [("a", ints(&[1, 2])), ("b", Value::Int(3))];
    assert_eq!(
        floats(&layout(text, "one").pack("test", "one", &map(&value)).unwrap()),
        [1., 0., 0., 0., 2., 0., 0., 0., 3.]
    );
    for (bytes, fits) in [(36, true), (48, true), (32, false), (52, false)] {
        let packed = layout(text, "one").pack("test", "one", &Value::Bytes(vec![1; bytes]));
        assert_eq!(packed.is_ok_and(|packed| packed.len() == 36), fits, "{bytes} bytes");
    }
    let open = [value.as_slice(), &[("rest", ints(&[4, 5, 6]))]].concat();
    assert_eq!(floats(&layout(text, "two").pack("test", "two", &map(&open)).unwrap()), [1., 2., 3., 4., 5., 6.]);
}

#[test]
fn matrices_are_lists_of_columns_each_padded_as_its_vector_is() {
    let three = uniform("alias T = mat2x3<f32>;");
    let value = Value::List(vec![ints(&[1, 2, 3]), ints(&[4, 5, 6])]);
    assert_eq!(floats(&three.pack("test", "m", &value).unwrap()), [1., 2., 3., 0., 4., 5., 6., 0.]);
    let two = uniform("alias T = mat2x2<f32>;");
    let value = Value::List(vec![ints(&[1, 2]), ints(&[3, 4])]);
    assert_eq!(floats(&two.pack("test", "m", &value).unwrap()), [1., 2., 3., 4.]);
    let rows = Type::Matrix { scalar: rgraph_shader::Scalar::F32, columns: 2, rows: 2, stride: 16, row_major: true };
    assert_eq!(floats(&rows.pack("test", "m", &value).unwrap()), [1., 3., 0., 0., 2., 4., 0., 0.]);
}

#[test]
fn nested_structs_in_arrays_lie_at_their_strides() {
    let ty = storage("struct L { p: vec3<f32>, on: u32 } struct T { n: u32, lights: array<L> }");
    let light = |n: i128| map(&[("p", ints(&[n, n, n])), ("on", Value::Bool(true))]);
    let bytes =
        ty.pack("test", "v", &map(&[("n", Value::Int(2)), ("lights", Value::List(vec![light(7), light(8)]))])).unwrap();
    assert_eq!(bytes.len(), 48);
    assert_eq!(floats(&bytes[16..28]), [7.; 3]);
    assert_eq!(floats(&bytes[32..44]), [8.; 3]);
    assert_eq!(bytes[44..48], 1_u32.to_le_bytes());
}

#[test]
fn a_struct_of_one_member_may_be_given_as_that_member() {
    let ty = uniform("struct T { strength: f32 }");
    assert_eq!(ty.pack("test", "v", &Value::Float(0.5)).unwrap(), 0.5_f32.to_le_bytes());
    assert_eq!(ty.pack("test", "v", &map(&[("strength", Value::Float(0.5))])).unwrap(), 0.5_f32.to_le_bytes());
}

#[test]
fn bytes_stand_for_any_part_and_must_have_its_size() {
    let ty = uniform("struct T { a: vec2<f32>, b: vec2<u32> }");
    let half = Value::Bytes(vec![7; 8]);
    assert_eq!(ty.pack("test", "v", &map(&[("a", half.clone()), ("b", half)])).unwrap(), [7; 16]);
    assert_eq!(ty.pack("test", "v", &Value::Bytes(vec![9; 16])).unwrap(), [9; 16]);
    assert_eq!(
        wrong(&ty, &Value::Bytes(vec![9; 12])),
        "RG-E306 shader \"test\": 'params' is T in the shader, and 12 bytes were given\n  help: give 16 bytes"
    );
    let open = storage("alias T = array<vec2<f32>>;");
    assert_eq!(open.pack("test", "v", &Value::Bytes(vec![1; 24])).unwrap(), [1; 24]);
    assert!(wrong(&open, &Value::Bytes(vec![1; 25])).ends_with("give a multiple of 8 bytes"));
}

#[test]
fn numbers_become_what_the_shader_has_if_nothing_is_lost() {
    let u32s = uniform("alias T = u32;");
    assert_eq!(u32s.pack("test", "v", &Value::Float(3.0)).unwrap(), 3_u32.to_le_bytes());
    assert_eq!(u32s.pack("test", "v", &Value::Int(4_294_967_295)).unwrap(), [255; 4]);
    assert!(wrong(&u32s, &Value::Float(0.5)).contains("'params' is u32 in the shader, and 0.5 was given"));
    assert!(wrong(&u32s, &Value::Int(-1)).contains("is u32 in the shader, and -1 was given"));
    assert!(wrong(&u32s, &Value::Float(1e30)).contains("RG-E306"));
    assert!(wrong(&u32s, &Value::Float(f64::NAN)).contains("RG-E306"));
    let f32s = uniform("alias T = f32;");
    assert_eq!(f32s.pack("test", "v", &Value::Int(7)).unwrap(), 7_f32.to_le_bytes());
    assert_eq!(f32s.pack("test", "v", &Value::Float(f64::INFINITY)).unwrap(), f32::INFINITY.to_le_bytes());
    assert!(wrong(&f32s, &Value::Float(1e39)).contains("give a number that f32 can hold"));
    let f16s = uniform("alias T = f16;");
    assert_eq!(f16s.pack("test", "v", &Value::Float(1.0)).unwrap(), 0x3c00_u16.to_le_bytes());
    assert!(wrong(&f16s, &Value::Float(65520.0)).contains("give a number that f16 can hold"));
}

#[test]
fn a_misspelt_member_finds_its_neighbour_and_a_missing_one_is_named() {
    let ty = uniform("struct T { exposure: f32, gamma: f32 }");
    assert_eq!(
        wrong(&ty, &map(&[("exposrue", Value::Int(1)), ("gamma", Value::Int(2))])),
        "RG-E306 shader \"test\": 'params' is T in the shader, which has no member 'exposrue'\n  help: did you mean 'exposure'?"
    );
    assert_eq!(
        wrong(&ty, &map(&[("exposure", Value::Int(1))])),
        "RG-E306 shader \"test\": 'params' is T in the shader, and its member 'gamma' (f32) was not given\n  help: add 'gamma'"
    );
    assert!(wrong(&ty, &map(&[("gamma", Value::Int(1)), ("gamma", Value::Int(2))])).contains("twice"));
    assert!(wrong(&ty, &Value::Int(1)).ends_with("help: give a mapping with exposure, gamma"));
}

#[test]
fn the_path_says_where_in_the_value_the_mistake_is() {
    let (_, params) =
        corpus("lights.wgsl", Kind::Compute).interface.find("params").map(|(at, b)| (at, b.clone())).unwrap();
    let light = |color: Value| map(&[("position", ints(&[0, 0, 0])), ("radius", Value::Int(1)), ("color", color)]);
    let good = light(ints(&[1, 1, 1]));
    let value = map(&[
        ("exposure", Value::Int(1)),
        ("lights", Value::List(vec![good.clone(), good.clone(), good, light(ints(&[1, 2]))])),
        ("turn", Value::Bytes(vec![0; 48])),
        ("tint", ints(&[0, 0])),
    ]);
    assert_eq!(
        wrong(&params.ty.unwrap(), &value),
        "RG-E306 shader \"test\": 'params.lights[3].color' is vec3<f32> in the shader, and a list of 2 was given\n  help: give 3 numbers"
    );
}

#[test]
fn types_are_spelt_as_wgsl_spells_them() {
    for ty in ["f32", "vec3<u32>", "mat4x3<f32>", "array<vec4<f32>, 7>", "vec2<f16>"] {
        assert_eq!(uniform(&format!("alias T = {ty};")).describe(), ty);
    }
    assert_eq!(storage("alias T = array<f32>;").describe(), "array<f32>");
    assert_eq!(storage("struct T { a: f32 }").describe(), "T");
}
