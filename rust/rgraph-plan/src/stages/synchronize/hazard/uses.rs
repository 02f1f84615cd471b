//! Uses of a piece within an epoch, queue by queue, and how they end for those who follow.

use super::{Hazards, Here, Scene};
use crate::access::{Accesses, Stages};
use crate::resource::ResourceId;
use crate::stages::synchronize::epoch::NONE;

/// Entries of a list of what others left, above which uses of one queue are taken together.
const MOST_LEFT: usize = 16;

/// One queue's uses of a piece within an epoch.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// The queue.
    pub queue: u8,
    /// Whether one of them may be switched off.
    pub conditional: bool,
    /// The first one, by position in the linear order.
    pub(super) first: u32,
    /// The last one.
    pub last: u32,
    /// Their stages.
    pub stages: Stages,
    /// Their access kinds.
    pub access: Accesses,
    /// Of those before the step of the last one: stages, and the last of them, if there are any.
    pub(super) outer_stages: Stages,
    pub(super) outer_last: u32,
    /// The barrier that lets them see the piece, [`NONE`] or [`ENTRY`].
    pub(super) barrier: u32,
    /// The same uses by their stages, as a list of [`Part`]s.
    pub(super) parts: u32,
    pub(super) next: u32,
}

/// Uses of equal stages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) last: u32,
    pub(super) stages: Stages,
    pub(super) writes: Accesses,
    pub(super) next: u32,
}

/// How some uses end: per queue, for those who follow.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// The queue.
    pub queue: u8,
    /// The last use there, by position in the linear order.
    pub last: u32,
    /// Stages.
    pub stages: Stages,
    /// Writes among the accesses.
    pub writes: Accesses,
    /// Whether one of them may be switched off.
    pub conditional: bool,
}

impl Hazards {
    /// Uses in a list.
    pub fn uses_of(&self, piece: usize) -> impl Iterator<Item = Used> + '_ {
        self.list(self.states[piece].uses)
    }

    /// Whether a queue wrote a piece before its last uses.
    pub fn is_written_before(&self, piece: usize, queue: u8) -> bool {
        let writes = |used: Used| used.queue == queue && used.access.intersects(Accesses::WRITES);
        self.list(self.states[piece].before).any(writes)
    }

    pub(super) fn push_use(&mut self, here: Here<'_>, barrier: u32, next: u32) -> u32 {
        let Here { queue, at, conditional, touch, .. } = here;
        let (stages, access) = (touch.stages, touch.access);
        let (outer_stages, outer_last) = (Stages::empty(), NONE);
        self.parts.push(Part { last: at, stages, writes: access & Accesses::WRITES, next: NONE });
        let parts = self.parts.len() as u32 - 1;
        self.uses.push(Used {
            parts,
            queue,
            conditional,
            first: at,
            last: at,
            stages,
            access,
            outer_stages,
            outer_last,
            barrier,
            next,
        });
        self.uses.len() as u32 - 1
    }

    /// Adds a use to those of equal stages.
    pub(super) fn add_part(&mut self, of: u32, last: u32, stages: Stages, writes: Accesses) {
        let mut at = self.uses[of as usize].parts;
        while let Some(part) = self.parts.get_mut(at as usize) {
            if part.stages == stages {
                part.last = part.last.max(last);
                part.writes |= writes;
                return;
            }
            at = part.next;
        }
        let next = self.uses[of as usize].parts;
        self.parts.push(Part { last, stages, writes, next });
        self.uses[of as usize].parts = self.parts.len() as u32 - 1;
    }

    /// Adds how the uses of a memory end to those listed from `start` on, one entry a queue.
    pub fn gather_left(&mut self, scene: Scene<'_>, memory: ResourceId, start: usize) {
        let mut left = std::mem::take(&mut self.left);
        self.gather_into(scene, memory, start, &mut left);
        self.left = left;
    }

    /// The same into a list of the caller's.
    pub fn gather_into(&self, scene: Scene<'_>, memory: ResourceId, start: usize, left: &mut Vec<Left>) {
        for piece in scene.frame.facts.pieces.of(memory).range() {
            self.gather_piece(piece, start, left);
        }
    }

    /// Adds how the last uses of a piece end to a list. One entry per queue and stop; from [`MOST_LEFT`] on, per queue.
    pub fn gather_piece(&self, piece: usize, start: usize, left: &mut Vec<Left>) {
        for used in self.uses_of(piece) {
            let Used { queue, conditional, .. } = used;
            let mut at = used.parts;
            while let Some(&Part { last, stages, writes, next }) = self.parts.get(at as usize) {
                at = next;
                let full = left.len() - start >= MOST_LEFT;
                match left[start..].iter_mut().find(|l| l.queue == queue && (full || l.last == last)) {
                    Some(known) => {
                        known.last = known.last.max(last);
                        known.stages |= stages;
                        known.writes |= writes;
                        known.conditional |= conditional;
                    }
                    None => left.push(Left { queue, last, stages, writes, conditional }),
                }
            }
        }
    }
}
