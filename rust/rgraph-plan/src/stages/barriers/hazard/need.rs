//! The earlier uses that one use must follow: on its own queue by a barrier, on others behind waits.

use crate::access::{Accesses, Stages};
use crate::plan::PlanPassId;
use crate::resource::ResourceId;
use crate::stages::barriers::call::Source;
use crate::stages::ids::PhysicalId;
use crate::stages::order::schedule::LaneId;

/// Uses on the same queue, the last one in a physical pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Earlier {
    pub(super) last: PhysicalId,
    pub(super) stages: Stages,
    pub(super) writing: Stages,
    pub(super) writes: Accesses,
}

/// Earlier uses that a use must follow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Need {
    /// On its own queue, in earlier physical passes.
    pub(super) stages: Stages,
    pub(super) writes: Accesses,
    /// On its own queue, in its own render pass.
    pub(super) near_stages: Stages,
    pub(super) near_writes: Accesses,
    /// Queues whose work is behind waits, one bit each.
    pub(super) foreign: u32,
    pub(super) conditional: bool,
    /// First physical pass before which a barrier may stand.
    pub(super) earliest: Option<PhysicalId>,
    pub(super) latest_source: Option<PhysicalId>,
    /// The uses of earlier physical passes, those of equal stages together; the last entry takes what is too much.
    pub(super) earlier: [Option<Earlier>; 4],
    pub(super) from: Option<PlanPassId>,
    pub(super) from_resource: Option<ResourceId>,
}

impl Need {
    /// Where it begins on its own queue.
    pub(super) fn source(&self) -> Source {
        let Self { latest_source: physical, foreign, .. } = *self;
        Source { physical, splits: physical.is_some() && foreign == 0, fixed: foreign != 0 }
    }

    /// Adds uses of an earlier physical pass.
    pub(super) fn add(&mut self, more: Earlier) {
        self.stages |= more.stages;
        self.writes |= more.writes;
        let alike = |one: &Option<Earlier>| one.is_none_or(|one| one.stages == more.stages);
        let at = self.earlier.iter().position(alike).unwrap_or(self.earlier.len() - 1);
        let one = self.earlier[at].get_or_insert(more);
        one.last = one.last.max(more.last);
        one.stages |= more.stages;
        one.writing |= more.writing;
        one.writes |= more.writes;
    }

    pub(super) fn foreign_queues(&self) -> impl Iterator<Item = LaneId> + use<> {
        let mut left = self.foreign;
        std::iter::from_fn(move || {
            let queue = LaneId::lowest_of(left);
            let any = left != 0;
            left &= left.wrapping_sub(1);
            any.then_some(queue)
        })
    }
}
