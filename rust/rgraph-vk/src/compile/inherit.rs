//! Contents that live from run to run move from a compiled graph to the one compiled after it: by name and shape, with
//! memory, contents and states.

use std::collections::HashMap;
use std::sync::Arc;

use rgraph_plan::access::MemoryDomain;
use rgraph_plan::plan::{PlanKind, PlanLife};
use rgraph_plan::resource::ResourceId;

use crate::compile::compiled_graph::{CompiledGraph, Place};
use crate::frame::copy::described;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::usages::Usages;

/// How a memory that lasts begins, where it is not simply that of the graph before.
#[derive(Clone, Debug)]
pub(crate) enum Begin {
    /// As before a first run.
    Anew,
    /// With the contents of these, which cannot be used as its passes use it.
    Copied(Vec<Arc<PhysicalResource>>),
}

/// A compiled graph whose lasting memories another one takes.
pub(crate) struct Heritage<'a> {
    of: &'a CompiledGraph,
    /// Its declared resources by name; `None`: both are of one declaration.
    names: Option<HashMap<&'a str, ResourceId>>,
}

/// What a memory has to be, to be taken as it is.
pub(crate) struct Wanted<'a> {
    pub name: &'a str,
    pub memory: ResourceId,
    pub kind: PlanKind,
    pub life: PlanLife,
    /// Images or buffers of its ring; 0: it is no ring.
    pub ring: usize,
    pub usages: Usages,
    /// Whether the host uses it.
    pub host: bool,
    /// The memory that the caller chose.
    pub chosen: Option<MemoryDomain>,
}

/// What becomes of it.
pub(crate) enum Found {
    /// It is taken.
    Taken(Place),
    /// It begins otherwise; a note says why, if the graph before had one of that name.
    Begins(Begin, Option<String>),
    /// It does not last, or it is the caller's.
    Nothing,
}

impl<'a> Heritage<'a> {
    /// Of the same declaration: all that lasts suits, since it is used alike in all plans of a declaration and shared
    /// by all queue families.
    pub(crate) fn of_same(of: &'a CompiledGraph) -> Self {
        Self { of, names: None }
    }

    /// Of an earlier declaration: what has the same name.
    pub(crate) fn of_earlier(of: &'a CompiledGraph) -> Self {
        let graph = &of.workload.graph;
        let names = graph.resources().ids().map(|id| (graph.resource_name(id), id)).collect();
        Self { of, names: Some(names) }
    }

    /// What there is for a memory.
    pub(crate) fn find(&self, wanted: &Wanted<'_>) -> Found {
        let of = self.of;
        let place = |declared: ResourceId| &of.places[of.plan.memory_of(declared)];
        let Some(names) = &self.names else {
            let lasts = wanted.life != PlanLife::Fresh;
            return match place(wanted.memory) {
                Place::Fixed(physical) if lasts => Found::Taken(Place::Fixed(physical.clone())),
                Place::Ring(ring) => Found::Taken(Place::Ring(ring.clone())),
                _ => Found::Nothing,
            };
        };
        if wanted.ring == 0 && wanted.life != PlanLife::Persistent {
            return Found::Nothing;
        }
        let Some(&earlier) = names.get(wanted.name) else { return Found::Begins(Begin::Anew, None) };
        let memory = of.plan.memory_of(earlier);
        let physicals = match &of.places[memory] {
            Place::Fixed(physical) if of.plan.resources[memory].life == PlanLife::Persistent => {
                std::slice::from_ref(physical)
            }
            Place::Ring(ring) => ring,
            _ => &[],
        };
        let is_ring = matches!(of.places[memory], Place::Ring(_));
        let anew = |why: String| Found::Begins(Begin::Anew, Some(format!("\"{}\" is reset: {why}", wanted.name)));
        let Some(first) = physicals.first() else {
            return anew("it did not live from run to run before".to_owned());
        };
        if first.kind != wanted.kind {
            return anew(format!("it was {}, and is {}", described(first.kind), described(wanted.kind)));
        }
        if is_ring != (wanted.ring > 0) || is_ring && physicals.len() != wanted.ring {
            let frames = |ring: usize| ring.saturating_sub(1);
            let before = if is_ring { frames(physicals.len()) } else { 0 };
            return anew(format!("{before} of its frames were remembered, and {} are", frames(wanted.ring)));
        }
        if physicals.iter().all(|physical| physical.suits(wanted.usages, wanted.host, wanted.chosen)) {
            return Found::Taken(match is_ring {
                true => Place::Ring(physicals.to_vec()),
                false => Place::Fixed(first.clone()),
            });
        }
        let note = format!("\"{}\" is copied into new memory: its passes use it in new ways", wanted.name);
        Found::Begins(Begin::Copied(physicals.to_vec()), Some(note))
    }
}

impl Place {
    /// The images or buffers that last there.
    pub(crate) fn lasting(&self) -> &[Arc<PhysicalResource>] {
        match self {
            Self::Fixed(physical) => std::slice::from_ref(physical),
            Self::Ring(ring) => ring,
            _ => &[],
        }
    }
}

/// Whether both lists have the same images or buffers.
pub(crate) fn are_same(one: &[Arc<PhysicalResource>], other: &[Arc<PhysicalResource>]) -> bool {
    !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
}
