//! WGSL and GLSL texts: what they ask for.

use rgraph_shader::{BindingKind, Kind, Language, Program, Source};

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
