//! What layouts and pipelines are known by.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rgraph_shader::{Length, Module, Program};

use ash::vk;
use rgraph_plan::access::Aspects;
use rgraph_plan::format::Format;
use rgraph_work::vertex::VertexFormat;
use rgraph_work::{HitGroup, RasterState, RayGroups, VertexBuffer};

/// How a vertex buffer is read: the buffer itself does not matter.
pub(crate) type VertexKey = (u32, bool, Vec<(u32, VertexFormat, u32)>);

/// The code of a program, compared word by word: a hash of 64 bits is easily made to be another program's.
#[derive(Clone, Debug)]
pub(crate) struct ProgramKey {
    hash: u64,
    modules: Arc<[Module]>,
    /// Lengths of arrays that the code leaves open: layouts have them.
    lengths: Vec<Length>,
}

impl ProgramKey {
    pub(crate) fn new(program: &Program) -> Self {
        Self { hash: program.hash, modules: program.modules.clone(), lengths: program.lengths.clone() }
    }
}

impl PartialEq for ProgramKey {
    fn eq(&self, other: &Self) -> bool {
        let Self { hash, modules, lengths } = self;
        *lengths == other.lengths
            && (Arc::ptr_eq(modules, &other.modules) || (*hash == other.hash && *modules == other.modules))
    }
}

impl Eq for ProgramKey {}

impl Hash for ProgramKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RasterKey {
    program: ProgramKey,
    state: Arc<RasterState>,
    pub targets: Targets,
    pub vertex: Vec<VertexKey>,
}

impl RasterKey {
    pub(crate) fn new(
        program: &Program,
        state: &Arc<RasterState>,
        targets: &Targets,
        buffers: &[VertexBuffer],
    ) -> Self {
        let key = |buffer: &VertexBuffer| (buffer.stride, buffer.per_instance, buffer.attributes.clone());
        let vertex = buffers.iter().map(key).collect();
        Self { program: ProgramKey::new(program), state: state.clone(), targets: targets.clone(), vertex }
    }
}

/// What a raster pipeline draws to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Targets {
    /// Colour formats by shader location; `None`: not written.
    pub colors: Vec<Option<Format>>,
    /// Depth and stencil format.
    pub depth: Option<Format>,
    /// Which of depth and stencil are attached.
    pub depth_aspects: Aspects,
    /// Samples per texel.
    pub samples: u32,
    /// The render pass and subpass, where the pass is part of one; else rendering is dynamic.
    pub subpass: Option<(vk::RenderPass, u32)>,
    /// Aspects of depth and stencil that the pass tests or writes.
    pub depth_tests: Aspects,
    /// Those of them that it writes.
    pub depth_writes: Aspects,
    /// Shader location of each colour output to position among `colors`; empty: the same.
    pub remap: Vec<u32>,
}

/// What a ray-tracing pipeline is known by.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct RayKey {
    pub program: ProgramKey,
    pub miss: Vec<u32>,
    pub hit: Vec<HitGroup>,
    pub callable: Vec<u32>,
    pub depth: u32,
}

impl RayKey {
    pub(crate) fn new(program: &Program, groups: &RayGroups, depth: u32) -> Self {
        let RayGroups { miss, hit, callable, .. } = groups;
        let (miss, hit, callable) = (miss.clone(), hit.clone(), callable.clone());
        Self { program: ProgramKey::new(program), miss, hit, callable, depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rgraph_shader::Stage;
    use std::collections::HashMap;

    #[test]
    fn code_with_other_lengths_is_another_program() {
        let module = Module { stage: Stage::Compute, entry: "main".to_owned(), spirv: vec![1] };
        let modules: Arc<[Module]> = Arc::new([module]);
        let key = |count: u32| {
            let lengths = vec![Length { group: 0, binding: 0, count }];
            ProgramKey { hash: 7, modules: Arc::clone(&modules), lengths }
        };
        assert!(key(2) == key(2) && key(2) != key(3));
    }

    #[test]
    fn programs_of_one_hash_and_other_code_are_two() {
        let key = |entry: &str, word: u32| {
            let module = Module { stage: Stage::Compute, entry: entry.to_owned(), spirv: vec![word] };
            ProgramKey { hash: 7, modules: Arc::new([module]), lengths: Vec::new() }
        };
        let known: HashMap<ProgramKey, u32> = [(key("main", 1), 1), (key("main", 2), 2), (key("other", 1), 3)].into();
        assert_eq!(known.len(), 3);
        assert_eq!((known[&key("main", 1)], known[&key("main", 2)], known[&key("other", 1)]), (1, 2, 3));
    }
}
