//! Bindings by the names of a program's variables, and the usual dispatches and draws with them.

use std::sync::Arc;

use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::nearest::nearest;
use rgraph_ir::resource::ResourceId;
use rgraph_shader::Program;

use super::{Bound, Dispatch, Draw, DrawCount, Groups, PushData, RasterState, View, What};
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
