//! Images and buffers of a plan, as an engine makes them.

use ash::vk;
use rgraph_plan::access::Sharing;
use rgraph_plan::graph::Graph;
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::{Plan, PlanKind, PlanLife};
use rgraph_plan::resource::ResourceId;

use crate::compile::pass_table::{PassTable, used_by_batches};
use crate::memory::requirements::{buffer_info, image_info};
use crate::memory::usages::Usages;

/// One of the images or buffers of a [`WalkMemory`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot {
    pub memory: ResourceId,
    /// Which of them, from 0.
    pub index: usize,
}

/// An image or buffer that the engine makes, or several of them that take turns.
#[derive(Clone, Debug)]
pub struct WalkMemory {
    /// Its id: that of its first name in the plan.
    pub memory: ResourceId,
    pub name: String,
    /// Its kind, format and size.
    pub kind: PlanKind,
    /// How long its contents live. Of imported ones the engine has the image or buffer already.
    pub life: PlanLife,
    /// How many there are: several of what is remembered from frame to frame, and of what is fresh in each.
    pub count: usize,
    /// Whether queues of several families share it: what outlives a frame always, others where the plan says so.
    pub concurrent: bool,
    /// Arena and first byte there; `None`: it has memory of its own.
    pub place: Option<(usize, u64)>,
    usages: Usages,
}

/// An arena of memory. Resources whose lives do not overlap have the same bytes of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WalkHeap {
    /// The profile's class of memory.
    pub memory_type: String,
    /// Bytes.
    pub size: u64,
}

impl WalkMemory {
    /// Before there is a plan: what the driver is asked about.
    pub(super) fn wanted(name: &str, kind: PlanKind, usages: Usages) -> Self {
        let memory = ResourceId::new(0);
        let (name, life) = (name.to_owned(), PlanLife::Transient);
        Self { memory, name, kind, life, count: 1, concurrent: true, place: None, usages }
    }

    /// How an image is made; `families` are those of all queues. The default of a buffer.
    pub fn image_info<'a>(&self, families: &'a [u32]) -> vk::ImageCreateInfo<'a> {
        image_info(self.kind, self.usages, self.concurrent && families.len() > 1, families)
    }

    /// How a buffer is made; `families` are those of all queues. The default of an image.
    pub fn buffer_info<'a>(&self, families: &'a [u32]) -> vk::BufferCreateInfo<'a> {
        buffer_info(self.kind, self.usages, self.concurrent && families.len() > 1, families)
    }

    /// Whether it is an image.
    pub fn is_image(&self) -> bool {
        matches!(self.kind, PlanKind::Image { .. })
    }
}

/// Those that a plan uses.
pub(super) fn of(graph: &Graph, plan: &Plan, table: &PassTable, frames: usize) -> Vec<WalkMemory> {
    let mut used = IdVec::filled(false, plan.resources.len());
    used_by_batches(plan, table).into_iter().flatten().for_each(|memory| used[memory] = true);
    let mut rooted = IdVec::filled(false, plan.resources.len());
    graph.roots().iter().for_each(|root| rooted[plan.memory_of(*root)] = true);
    let mut places = IdVec::filled(None, plan.resources.len());
    for placement in &plan.memory.placements {
        places[plan.memory_of(placement.resource)] = Some((placement.heap.index(), placement.offset));
    }
    let ids = plan.resources.ids().filter(|&id| plan.memory_of(id) == id && plan.resources[id].remembers.is_none());
    let ids = ids.filter(|&id| used[id] || plan.resources[id].ring > 1);
    ids.map(|memory| {
        let resource = &plan.resources[memory];
        let within = matches!(resource.life, PlanLife::Transient | PlanLife::Fresh);
        WalkMemory {
            memory,
            name: plan.resource_name(memory).to_owned(),
            kind: resource.kind,
            life: resource.life,
            count: match resource.ring {
                1 if resource.life == PlanLife::Fresh => frames,
                ring => ring as usize,
            },
            concurrent: resource.sharing == Sharing::Concurrent || !within || rooted[memory],
            place: places[memory],
            usages: Usages::planned(resource),
        }
    })
    .collect()
}

/// Its arenas.
pub(super) fn heaps(plan: &Plan) -> Vec<WalkHeap> {
    plan.memory.heaps.iter().map(|heap| WalkHeap { memory_type: heap.memory_type.clone(), size: heap.size }).collect()
}
