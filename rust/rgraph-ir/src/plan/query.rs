//! Questions to a plan.

use crate::id::{Id, IdVec};
use crate::plan::{Culled, Plan, PlanLife, PlanPassId};
use crate::resource::ResourceId;

impl Plan {
    /// A pass's name.
    pub fn pass_name(&self, pass: PlanPassId) -> &str {
        self.pass_names.get(self.passes[pass].name as usize)
    }

    /// A resource's name.
    pub fn resource_name(&self, resource: ResourceId) -> &str {
        self.resource_names.get(resource.index())
    }

    /// The resource whose memory a resource is in.
    #[inline]
    pub fn memory_of(&self, resource: ResourceId) -> ResourceId {
        self.resources[resource].memory
    }

    /// Whether both names are one memory.
    #[inline]
    pub fn is_same_memory(&self, a: ResourceId, b: ResourceId) -> bool {
        self.memory_of(a) == self.memory_of(b)
    }

    /// Whether a frame begins without contents of a resource's memory.
    pub fn begins_empty(&self, resource: ResourceId) -> bool {
        let life = self.resources[self.memory_of(resource)].life;
        matches!(life, PlanLife::Transient | PlanLife::Fresh | PlanLife::Root)
    }

    /// Whether it says which memories its resources are in and what they are made for. Plan files of earlier versions
    /// do not.
    pub fn says_memory(&self) -> bool {
        self.resources.iter().all(|resource| resource.usages.is_some())
    }

    /// The live pass of that name, or the culled one.
    pub fn find_pass(&self, name: &str) -> Option<PlanPassId> {
        self.passes.ids().find(|&id| self.pass_name(id) == name)
    }

    /// Passes that run, in plan order.
    pub fn live(&self) -> impl Iterator<Item = PlanPassId> {
        self.passes.iter_ids().filter(|(_, pass)| pass.culled.is_none()).map(|(id, _)| id)
    }

    /// The set of each pass of the CPU, or of the GPU, counted from 0 among those of its side; `None` for others.
    pub fn set_of(&self, cpu: bool) -> IdVec<PlanPassId, Option<u32>> {
        let mut of = IdVec::filled(None, self.passes.len());
        for (set, at) in self.sets.iter().filter(|set| set.cpu == cpu).zip(0..) {
            self.set_passes[set.passes.range()].iter().for_each(|&pass| of[pass] = Some(at));
        }
        of
    }

    /// Passes that do not run.
    pub fn culled(&self) -> impl Iterator<Item = (PlanPassId, Culled)> {
        self.passes.iter_ids().filter_map(|(id, pass)| Some((id, pass.culled?)))
    }
}
