//! Which memory an access is of, what it needs of it and leaves in it, and whether it can be copied.

use crate::access::{Aspects, Load, Usage};
use crate::graph::{Access, Graph, PassId, Ranges};
use crate::id::{Id, IdVec};
use crate::plan::{Plan, PlanKind};
use crate::resource::{Life, ResourceId};

/// What a pass does with a memory as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MemoryUse {
    /// The first name of the memory; a history is one by itself.
    pub memory: ResourceId,
    /// Whether it changes contents.
    pub writes: bool,
    /// Whether nothing of the contents before is left.
    pub replaces: bool,
}

/// How contents begin and end in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stay {
    /// Within the frame.
    Frame,
    /// From frame to frame, on one device.
    Carried,
    /// The caller's and only read: each device that reads them has its own.
    Given,
    /// What that memory held in an earlier frame.
    Past(ResourceId),
}

/// The memories of a graph.
#[derive(Debug)]
pub(super) struct Memories {
    /// By resource: the first name of its memory. A history is one by itself.
    pub of: IdVec<ResourceId, ResourceId>,
    /// By memory.
    pub stay: IdVec<ResourceId, Stay>,
    /// By memory: true if it has contents at the start of a frame.
    pub filled: IdVec<ResourceId, bool>,
    /// By memory: bytes of a copy, if it can be copied.
    pub bytes: IdVec<ResourceId, Option<u64>>,
    /// By pass: what it does, each memory once.
    pub uses: IdVec<PassId, Vec<MemoryUse>>,
    /// A pair of resources of different sizes of which one modifies the other.
    pub scaled: Option<[ResourceId; 2]>,
}

impl Memories {
    pub(super) fn new(graph: &Graph, one: &Plan) -> Self {
        let count = graph.resources().len();
        let mut of: IdVec<ResourceId, ResourceId> = graph.resources().ids().collect();
        let mut scaled = None;
        for id in graph.resources().ids() {
            let mut at = id;
            // Validation refuses circles, so a chain has no more names than there are resources.
            while let Some(base) = graph.resources()[at].modifies {
                if !same_size(one.resources[base].kind, one.resources[at].kind) {
                    scaled = scaled.or(Some([base, at]));
                    break;
                }
                at = base;
            }
            of[id] = at;
        }
        let mut stay = IdVec::filled(Stay::Frame, count);
        let mut filled = IdVec::filled(false, count);
        let written = written(graph, one, &of);
        for (id, resource) in graph.resources().iter_ids() {
            let memory = of[id];
            match resource.life {
                Life::Transient | Life::Fresh => {}
                Life::Persistent => (stay[memory], filled[memory]) = (Stay::Carried, true),
                Life::Imported(imported) => {
                    stay[memory] = if written[memory] { Stay::Carried } else { Stay::Given };
                    filled[memory] = imported.defined;
                }
                Life::History(history) => {
                    (stay[id], filled[id]) = (Stay::Past(of[history.of]), true);
                    stay[of[history.of]] = Stay::Carried;
                }
            }
        }
        let bytes = one.resources.iter_ids().take(count).map(|(id, resource)| {
            let structure = graph.resources()[id].as_buffer().is_some_and(|buffer| buffer.acceleration_structure);
            let samples = matches!(resource.kind, PlanKind::Image { samples: 2.., .. });
            (!structure && !samples).then_some(resource.bytes)
        });
        let bytes = bytes.collect();
        let mut memories = Self { of, stay, filled, bytes, uses: IdVec::new(), scaled };
        memories.uses = memories.find_uses(graph, one);
        memories
    }

    fn find_uses(&self, graph: &Graph, one: &Plan) -> IdVec<PassId, Vec<MemoryUse>> {
        let mut uses = IdVec::filled(Vec::<MemoryUse>::new(), graph.passes().len());
        for access in graph.accesses() {
            let memory = self.of[access.resource];
            let writes = access.usage.writes();
            let always = graph.passes()[access.pass].conditional.is_none();
            let kind = one.resources[access.resource].kind;
            let whole = covers_all(kind, graph.ranges_of(access));
            let replaces = always && whole && replaces(access, kind);
            let new = MemoryUse { memory, writes, replaces };
            match uses[access.pass].iter_mut().find(|one| one.memory == memory) {
                // Two accesses of one memory are of two parts of it.
                Some(known) => *known = MemoryUse { memory, writes: known.writes || writes, replaces: false },
                None => uses[access.pass].push(new),
            }
        }
        uses
    }
}

/// By memory: whether a live pass writes it.
fn written(graph: &Graph, one: &Plan, of: &IdVec<ResourceId, ResourceId>) -> IdVec<ResourceId, bool> {
    let mut live = IdVec::filled(false, graph.passes().len());
    for declared in one.live().filter_map(|pass| one.passes[pass].declared) {
        live[PassId::new(declared as usize)] = true;
    }
    let mut written = IdVec::filled(false, graph.resources().len());
    for access in graph.accesses().iter().filter(|access| access.usage.writes() && live[access.pass]) {
        written[of[access.resource]] = true;
    }
    written
}

/// Whether two resources can be one memory under two names.
fn same_size(one: PlanKind, other: PlanKind) -> bool {
    match (one, other) {
        (PlanKind::Image { size, .. }, PlanKind::Image { size: other, .. }) => size == other,
        (PlanKind::Buffer { size }, PlanKind::Buffer { size: other }) => size == other,
        _ => false,
    }
}

/// Whether an access without further ranges is of all there is.
fn covers_all(kind: PlanKind, ranges: Ranges) -> bool {
    ranges == Ranges::default()
        && match kind {
            PlanKind::Image { mips, .. } => mips == 1,
            PlanKind::Buffer { .. } => true,
        }
}

/// Whether the declaration says that old contents are not needed.
fn replaces(access: &Access, kind: PlanKind) -> bool {
    let gone = |load: Option<Load>| matches!(load, Some(Load::Clear | Load::Discard));
    let attachment = matches!(access.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment);
    let written = matches!(access.usage, Usage::StorageWrite | Usage::TransferDst);
    // The load of stencil does not follow that of depth.
    let stencil = !kind.aspects().contains(Aspects::DEPTH | Aspects::STENCIL) || gone(access.stencil_load);
    access.aspects.is_empty() && (attachment || written) && gone(access.load) && stencil
}
