//! WGSL functions that take pointers into buffers and workgroup memory, and storage textures: what they access.

use rgraph_ir::error::Code;
use rgraph_shader::{Kind, Program};

use crate::common::{fault, program, wgsl};

/// A compute program of this text.
fn compute(text: &str) -> Program {
    program(Kind::Compute, &[wgsl(text)])
}

/// Names of bindings, and whether they are read and written.
fn accesses(program: &Program) -> Vec<(&str, bool, bool)> {
    program.interface.bindings.iter().map(|binding| (binding.name.as_str(), binding.reads, binding.writes)).collect()
}

#[test]
fn a_function_reads_and_writes_the_buffers_that_it_is_given() {
    let found = compute(
        "@group(0) @binding(0) var<storage, read> source: array<f32>;
         @group(0) @binding(1) var<storage, read_write> sum: array<f32>;
         @group(0) @binding(2) var<storage, read_write> other: array<f32>;
         @group(0) @binding(3) var<uniform> scale: vec4<f32>;
         fn load(from_: ptr<storage, array<f32>>, at: u32) -> f32 { return (*from_)[at] + f32(arrayLength(from_)); }
         fn store(into: ptr<storage, array<f32>, read_write>, by: ptr<uniform, vec4<f32>>, at: u32, value: f32) {
             (*into)[at] = value * (*by).y;
         }
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             store(&sum, &scale, id.x, load(&source, id.x));
             let late = &other;
             store(late, &scale, id.x, 1.0);
         }",
    );
    assert_eq!(
        accesses(&found),
        [("source", true, false), ("sum", false, true), ("other", false, true), ("scale", true, false)]
    );
}

#[test]
fn pointers_lead_into_variables_through_several_calls() {
    let found = compute(
        "struct Cell { count: atomic<u32>, place: array<vec3<f32>, 4> }
         struct Grid { size: u32, cells: array<Cell> }
         @group(0) @binding(0) var<storage, read_write> grid: Grid;
         @group(0) @binding(1) var<storage, read_write> idle: Grid;
         var<workgroup> shared_: array<array<u32, 8>, 8>;
         fn add(count: ptr<storage, atomic<u32>, read_write>, by: u32) -> u32 { return atomicAdd(count, by); }
         fn cell(one: ptr<storage, Cell, read_write>, at: i32) -> u32 {
             (*one).place[at].y += 1.0;
             return add(&(*one).count, 2u);
         }
         fn row(words: ptr<workgroup, array<u32, 8>>, at: u32) -> u32 {
             var sum = (*words)[at];
             for (var i = 0u; i < 8u; i++) { sum += (*words)[i]; if sum > 40u { return sum; } }
             return sum;
         }
         @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             shared_[id.x][id.y] = id.z;
             workgroupBarrier();
             let found = cell(&grid.cells[id.x + 1u], i32(id.y)) + row(&shared_[id.y], id.x);
             if found > 7u { _ = add(&grid.cells[found].count, grid.size); }
         }",
    );
    assert_eq!(accesses(&found), [("grid", true, true)]);
    assert_eq!(found.interface.unused, ["idle"]);
}

#[test]
fn a_function_that_writes_a_storage_texture_which_it_is_given_writes_it() {
    let found = compute(
        "@group(0) @binding(0) var first: texture_storage_2d<rgba8unorm, write>;
         @group(0) @binding(1) var second: texture_storage_2d<r32float, read_write>;
         @group(0) @binding(2) var third: texture_storage_2d<r32float, read_write>;
         fn put(target_: texture_storage_2d<rgba8unorm, write>, at: vec2<u32>) {
             if all(at < textureDimensions(target_)) { textureStore(target_, at, vec4(1.0)); }
         }
         fn put_single(target_: texture_storage_2d<r32float, read_write>, at: vec2<u32>) {
             textureStore(target_, at, vec4(1.0));
         }
         fn get_single(from_: texture_storage_2d<r32float, read_write>, at: vec2<u32>) -> f32 {
             return textureLoad(from_, at).x;
         }
         @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             put(first, id.xy);
             put_single(second, id.xy + vec2(u32(get_single(third, id.xy))));
         }",
    );
    assert_eq!(accesses(&found), [("first", false, true), ("second", false, true), ("third", true, false)]);
}

#[test]
fn arguments_of_another_type_and_too_many_copies_are_refused_at_their_call() {
    let wrong = fault(
        Kind::Compute,
        &[wgsl(
            "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
fn first(from_: ptr<storage, array<f32>, read_write>) -> f32 { return (*from_)[0]; }
@compute @workgroup_size(1) fn main() { words[0] = u32(first(&words)); }",
        )],
    );
    assert_eq!((wrong.code, wrong.at), (Code::BadShader, Some((3, 63))), "{wrong}");
    assert!(wrong.message.starts_with("argument 'from_' is given something of another type"), "{wrong}");
    // Each function calls the next one with its pointer and with another: twice as many copies each time.
    let mut text = "@group(0) @binding(0) var<storage, read_write> a: array<array<u32, 2>, 64>;\n".to_owned();
    for at in 0..24 {
        let next = at + 1;
        text += &format!(
            "fn f{at}(p: ptr<storage, array<u32, 2>, read_write>, q: ptr<storage, array<u32, 2>, read_write>) -> u32 {{
                 return f{next}(p, &a[{at}]) + f{next}(&a[{next}], q);
             }}\n"
        );
    }
    text += "fn f24(p: ptr<storage, array<u32, 2>, read_write>, q: ptr<storage, array<u32, 2>, read_write>) -> u32 {
                 return (*p)[0] + (*q)[1];
             }
             @compute @workgroup_size(1) fn main() { a[0][0] = f0(&a[1], &a[2]); }";
    let many = fault(Kind::Compute, &[wgsl(&text)]);
    assert_eq!(many.code, Code::BadShader);
    assert!(many.message.contains("instructions") || many.message.contains("too many copies"), "{many}");
}
