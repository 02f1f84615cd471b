//! What a declaration means without a bake: shapes of resources, parts that accesses name, queues of a profile, and
//! whether anything is wrong. Runtimes ask here; the stages are the planner's own.

use crate::error::GraphError;
use crate::feature::Features;
use crate::graph::{Access, Graph, PassId};
use crate::id::{Id, IdVec};
use crate::plan::{Plan, PlanKind};
use crate::profile::Profile;
use crate::resource::ResourceId;
use crate::stages::describe;
use crate::stages::resolve::{Facts, Source, part_of};
use crate::stages::size::{Shape, ShapeScratch, shapes};
use crate::stages::usages::Memories;
use crate::stages::validate::features::implied;
use crate::stages::validate::{ValidateScratch, validate};

pub use crate::stages::resolve::meaning::{Meaning, default_shader_stage, meaning};
pub use crate::stages::resolve::subresource::SubresourceRange;
pub use crate::stages::size::{full_mips, mip_size};
pub use crate::stages::validate::queues::{common_stages, expanded_queues};

/// Kind of every resource, sizes resolved; `None` if a shape is wrong, which a bake reports. O(resources).
pub fn kinds(graph: &Graph, profile: &Profile) -> Option<IdVec<ResourceId, PlanKind>> {
    let (mut sizes, mut problems) = (IdVec::new(), Vec::new());
    shapes(graph, profile, &mut sizes, &mut ShapeScratch::default(), &mut problems);
    (problems.is_empty() && graph.ids_fit()).then(|| sizes.iter().map(|shape| shape.kind).collect())
}

/// Optional features that a device needs for all passes of a graph, its modules flattened: those that passes name,
/// those of their shaders and those of their accesses. O(passes + accesses).
///
/// ```
/// use rgraph_plan::access::Usage;
/// use rgraph_plan::declared::needed_features;
/// use rgraph_plan::feature::Features;
/// use rgraph_plan::prelude::*;
///
/// let mut g = Graph::new("frame", [64, 64]);
/// assert!(needed_features(&g).is_empty());
/// let scene = g.buffer("scene", 256);
/// g.pass("trace", PassQueue::Compute).uses(scene, &Use::new(Usage::AccelerationRead));
/// assert_eq!(needed_features(&g), Features::ACCELERATION_STRUCTURE);
/// ```
pub fn needed_features(graph: &Graph) -> Features {
    let flat = graph.flattened();
    let graph = flat.as_ref().unwrap_or(graph);
    let of_passes = graph.passes().iter().map(|pass| pass.needed_features());
    of_passes.chain(graph.accesses().iter().map(implied)).collect()
}

/// Adds to a plan that was read from a file of an earlier version what such files do not say: memories of resources,
/// what they are made for, flags and fallbacks. Changes no plan that says it ([`Plan::says_memory`]). O(passes +
/// accesses + resources).
///
/// The graph must be valid, and the plan must be one of it, with the graph's ids: the checker says so.
pub fn complete(graph: &Graph, plan: &mut Plan) {
    let flat = graph.flattened();
    let graph = flat.as_ref().unwrap_or(graph);
    if plan.says_memory() {
        return;
    }
    let shapes: IdVec<ResourceId, Shape> = plan.resources.iter().map(|resource| shape(resource.kind)).collect();
    let (mut facts, mut memories) = (Facts::default(), Memories::default());
    facts.find_memories(Source { graph, shapes: &shapes });
    memories.find(graph, &shapes, &facts);
    for (id, planned) in plan.resources.as_vec_mut().iter_mut().enumerate().take(graph.resources().len()) {
        memories.describe((graph, &facts), ResourceId::new(id), planned);
    }
    for pass in plan.passes.iter_mut() {
        let declared = pass.declared.or(pass.owner).map(|at| PassId::new(at as usize));
        pass.flag = declared.and_then(|declared| graph.passes().get(declared)?.conditional);
    }
    describe::flags(graph, &mut IdVec::new(), plan);
}

/// The part of a resource of this kind that an access names or implies.
pub fn part(graph: &Graph, access: &Access, kind: PlanKind) -> SubresourceRange {
    part_of(graph, access, &shape(kind))
}

/// All of a resource of this kind.
pub fn whole(kind: PlanKind) -> SubresourceRange {
    SubresourceRange::whole(&shape(kind))
}

/// A shape for the questions that its bytes do not matter to.
fn shape(kind: PlanKind) -> Shape {
    Shape { kind, bytes: 0, align: 1, aspects: kind.aspects() }
}

/// Checks a graph, its modules flattened, for a profile. O(accesses + resources) without mistakes.
///
/// # Errors
/// [`GraphError`] with every mistake that needs no order of passes.
pub fn check(graph: &Graph, profile: &Profile) -> Result<(), GraphError> {
    let flat = graph.flattened();
    let graph = flat.as_ref().unwrap_or(graph);
    let (mut sizes, mut sized, mut problems) = (IdVec::new(), ShapeScratch::default(), Vec::new());
    shapes(graph, profile, &mut sizes, &mut sized, &mut problems);
    let found = validate(graph, profile, &sizes, &sized, &problems, &mut ValidateScratch::default());
    GraphError::check(found.mistakes)
}
