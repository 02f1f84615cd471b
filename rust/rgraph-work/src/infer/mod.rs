//! What passes say of their work, made into steps, into the accesses that follow from it, and into what shaders ask of
//! the resources that are bound to them. Graph files and Python both come through here.
//!
//! Resources are positions in a table of the caller's: ids of a graph, or of names that nothing has declared yet.

mod bind;
pub mod check;
mod depth;
mod draw;
mod groups;
mod rays;
pub mod transfer;

pub use bind::{Elements, Given, Written, bind, push};
pub use check::{Asks, Check, MOST_LINKS, format_of, like_of, words};
pub use depth::DepthTarget;
pub use depth::writes_stencil;
pub use draw::has_mesh;
pub use draw::{Attribute, Vertices, indirect_bytes, targets, vertex_buffers};
pub use groups::covered;
pub use rays::{RaySources, build, check_groups, instances, structure_bytes};

use std::sync::Arc;

use rgraph_ir::access::{Aspects, Usage};
use rgraph_ir::error::{Code, Mistake};
use rgraph_ir::feature::Features;
use rgraph_ir::graph::{Graph, PassId, Place, Ranges, Use};
use rgraph_ir::resource::ResourceId;
use rgraph_shader::Program;

use crate::work::Bound;

/// A pass in messages.
#[derive(Clone, Copy, Debug)]
pub struct Who<'a> {
    /// Its name.
    pub pass: &'a str,
    /// Where it is declared.
    pub place: Option<&'a Place>,
}

impl<'a> Who<'a> {
    /// The name of a shader of this pass: its own, else the pass's.
    pub fn shader(&self, program: &'a Program) -> &'a str {
        if program.name.is_empty() { self.pass } else { &program.name }
    }

    /// A mistake of this pass; `says` is its side of it.
    pub fn mistake(
        &self,
        code: Code,
        message: impl Into<String>,
        says: impl Into<String>,
        help: impl Into<String>,
    ) -> Mistake {
        Mistake::new(code, message, help).pass(self.pass).side(self.pass, says, self.place.cloned())
    }
}

/// Which part of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccessRange {
    /// Mips, layers and bytes; `None`: all, or what the usage implies.
    pub ranges: Ranges,
    /// Aspects; empty: all, or what the usage implies.
    pub aspects: Aspects,
}

/// How a pass uses a resource.
#[derive(Clone, Debug)]
pub struct Used {
    pub at: ResourceId,
    /// How it is used.
    pub how: Use,
    pub resolves: Option<ResourceId>,
    /// Aspects of a depth-stencil attachment that are tested and not written.
    pub tested: Aspects,
}

/// What the work of a pass needs. One that is cleared keeps its memory for the next pass.
#[derive(Debug, Default)]
pub struct Needs {
    /// How it uses resources.
    pub uses: Vec<Used>,
    /// What its shaders ask of them.
    pub checks: Vec<Check>,
    /// Optional features that its shaders need, by the names of the shaders.
    pub features: Vec<(Arc<str>, Features)>,
    /// What of the last shader's bindings is written.
    pub written: Vec<Written>,
    /// Bindings in the making.
    bound: Vec<Bound>,
}

impl Needs {
    /// Forgets all of it.
    pub fn clear(&mut self) {
        let Self { uses, checks, features, written, bound } = self;
        uses.clear();
        checks.clear();
        features.clear();
        written.clear();
        bound.clear();
    }

    /// Notes a use of part of a resource; uses of the same part are one if they can be.
    pub fn uses(&mut self, at: ResourceId, usage: Usage, part: AccessRange, change: impl FnOnce(&mut Use)) {
        let mut how = Use { ranges: part.ranges, aspects: part.aspects, ..Use::new(usage) };
        change(&mut how);
        let storage = |usage| matches!(usage, Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite);
        for used in &mut self.uses {
            let known = &mut used.how;
            if used.at != at || known.ranges != how.ranges || known.aspects != how.aspects {
                continue;
            }
            let together = match (known.usage, how.usage) {
                (one, two) if one == two => one,
                (one, two) if storage(one) && storage(two) => Usage::StorageReadWrite,
                _ => continue,
            };
            let stages = known.stages | how.stages;
            if (Use { stages, usage: together, ..*known }) == (Use { stages, usage: together, ..how }) {
                (known.stages, known.usage) = (stages, together);
                return;
            }
        }
        self.uses.push(Used { at, how, resolves: None, tested: Aspects::empty() });
    }
}

const DEPTHS: Aspects = Aspects::DEPTH.union(Aspects::STENCIL);

/// Declares an access that follows from work. `tested` are the aspects of a depth-stencil attachment that draws test
/// and do not write: their access only reads.
pub fn access(
    graph: &mut Graph,
    pass: PassId,
    resource: ResourceId,
    mut how: Use,
    tested: Aspects,
    place: Option<Place>,
) {
    // What is sampled of depth and stencil is the depth, unless the view says stencil.
    let is_both = || format_of(graph, resource).is_some_and(|format| format.aspects().contains(DEPTHS));
    if how.usage == Usage::Sampled && how.aspects.is_empty() && is_both() {
        how.aspects = Aspects::DEPTH;
    }
    if how.usage == Usage::DepthStencilAttachment && !tested.is_empty() {
        return depth::access(graph, pass, resource, how, tested, place);
    }
    graph.access(pass, resource, &how, place);
}
