//! Bindings by the names of a program's variables, the usual dispatches and draws with them, and what draws read.

use std::sync::Arc;

use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::nearest::nearest;
use rgraph_ir::resource::ResourceId;
use rgraph_shader::Program;

use super::{Bound, Dispatch, Draw, DrawCount, Groups, PushData, RasterState, VertexBuffer, View, What};
use crate::error::WorkError;

impl Bound {
    /// Bindings by the names of the program's variables, for [`Dispatch::new`] and [`Draw::new`]. A name that comes
    /// again is the next element of its array; what the shader declares and does not use is left out. Compiling the
    /// graph compares the rest with the program.
    ///
    /// # Errors
    /// RG-E312 if the program has no variable of a name.
    pub fn named<'a, W: Into<What>>(
        program: &Program,
        list: impl IntoIterator<Item = (&'a str, W)>,
    ) -> Result<Arc<[Self]>, WorkError> {
        let mut bound: Vec<Self> = Vec::new();
        for (name, what) in list {
            let Some((at, _)) = program.interface.find(name) else {
                if program.interface.unused.iter().any(|unused| unused == name) {
                    continue;
                }
                return Err(unknown(program, name));
            };
            let binding = at as u32;
            let element = bound.iter().filter(|one| one.binding == binding).count() as u32;
            bound.push(Self { binding, element, what: what.into() });
        }
        Ok(bound.into())
    }
}

impl Dispatch {
    /// A dispatch without push data, key 0.
    pub fn new(program: Arc<Program>, bound: Arc<[Bound]>, groups: Groups) -> Self {
        Self { program, bound, push: PushData::default(), groups, key: 0 }
    }
}

impl Draw {
    /// A draw of so many vertices and instances, over the whole area: no buffers, no push data, default state, key 0.
    pub fn new(program: Arc<Program>, bound: Arc<[Bound]>, vertices: u32, instances: u32) -> Self {
        Self {
            program,
            state: Arc::new(RasterState::default()),
            bound,
            push: PushData::default(),
            vertex_buffers: Vec::new(),
            index: None,
            count: DrawCount::Direct { vertices, instances, first_vertex: 0, first_instance: 0, vertex_offset: 0 },
            viewport: None,
            key: 0,
        }
    }
}

impl VertexBuffer {
    /// Bytes from the first one to the end of the last element that a draw reads; 0 where indices or a buffer say which
    /// elements it reads. Beyond the buffer robust access reads zeros.
    pub fn bytes_read(&self, count: &DrawCount, indexed: bool) -> u64 {
        let &DrawCount::Direct { vertices, instances, first_vertex, first_instance, .. } = count else { return 0 };
        let (count, first) = if self.per_instance { (instances, first_instance) } else { (vertices, first_vertex) };
        if count == 0 || indexed && !self.per_instance {
            return 0;
        }
        let ends = self.attributes.iter().map(|(_, format, at)| u64::from(*at) + u64::from(format.bytes()));
        let before = u64::from(first) + u64::from(count) - 1;
        ends.max().map_or(0, |end| before * u64::from(self.stride) + end)
    }
}

/// All that the pass accesses of it.
impl From<ResourceId> for What {
    fn from(resource: ResourceId) -> Self {
        Self::Resource(View::whole(resource))
    }
}

fn unknown(program: &Program, name: &str) -> WorkError {
    let known: Vec<_> = program.interface.bindings.iter().map(|binding| binding.name.as_str()).collect();
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "the shader has no bindings".to_owned(),
        None => format!("it has {}", known.join(", ")),
    };
    let message = format!("\"{name}\" is bound, which shader \"{}\" does not have", program.name);
    WorkError::Graph(GraphError::one(Mistake::new(Code::UnknownBinding, message, help)))
}
