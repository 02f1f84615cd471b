//! The schedule of the bake before, for a frame in which nothing changed that decides an order: it is what a search
//! would make again.

use super::{Costs, Csr, Instance, Order, Policy};
use crate::budget::MemoryBudget;

/// A job and the order that was made for it.
#[derive(Default, Debug)]
pub(super) struct Known {
    asked: Option<Asked>,
    preds: Csr,
    users: Csr,
    uses: Csr,
    weight_us: Vec<f32>,
    size: Vec<f32>,
    draws: Vec<bool>,
    queues: Vec<u32>,
    unit: Vec<u16>,
    merges: Vec<(u32, u32)>,
    bytes: Vec<u64>,
    kept: Vec<bool>,
    order: Order,
}

/// The numbers of a job, and how it is searched.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Asked {
    policy: Policy,
    effort: u32,
    measured: bool,
    certain: bool,
    home: u8,
    queue_count: u32,
    memory: MemoryBudget,
    heap: Option<u64>,
    costs: Costs,
}

impl Asked {
    fn new(of: &Instance<'_>, policy: Policy, effort: u32) -> Self {
        // Every field decides the order: `find` compares the slices, and a new field has to be named here.
        let Instance {
            deps: _,
            weight_us: _,
            size: _,
            draws: _,
            queues: _,
            unit: _,
            merges: _,
            bytes: _,
            measured,
            certain,
            home,
            queue_count,
            memory,
            heap,
            costs,
        } = *of;
        Self { policy, effort, measured, certain, home, queue_count, memory, heap, costs }
    }
}

/// Whether two lists have the same bits: zero and minus zero sort apart.
fn same_bits(one: &[f32], other: &[f32]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.to_bits() == other.to_bits())
}

impl Known {
    /// Fills `out` with the order of the job, if it is the one that was kept. O(passes + edges + uses).
    pub(super) fn find(&self, job: &Instance<'_>, policy: Policy, effort: u32, out: &mut Order) -> bool {
        let found = self.asked == Some(Asked::new(job, policy, effort))
            && self.preds == job.deps.preds
            && same_bits(&self.weight_us, job.weight_us)
            && same_bits(&self.size, job.size)
            && self.draws == job.draws
            && self.queues == job.queues
            && self.unit == job.unit
            && self.merges == job.merges
            && self.bytes == job.bytes.bytes
            && self.kept == job.bytes.kept
            && self.users == *job.bytes.users
            && self.uses == *job.bytes.uses;
        if found {
            copy(out, &self.order);
        }
        found
    }

    /// Keeps the order of a job in place of the one before. O(passes + edges + uses).
    pub(super) fn keep(&mut self, job: &Instance<'_>, policy: Policy, effort: u32, order: &Order) {
        self.asked = Some(Asked::new(job, policy, effort));
        self.preds.copy(&job.deps.preds);
        self.users.copy(job.bytes.users);
        self.uses.copy(job.bytes.uses);
        job.weight_us.clone_into(&mut self.weight_us);
        job.size.clone_into(&mut self.size);
        job.draws.clone_into(&mut self.draws);
        job.queues.clone_into(&mut self.queues);
        job.unit.clone_into(&mut self.unit);
        job.merges.clone_into(&mut self.merges);
        job.bytes.bytes.clone_into(&mut self.bytes);
        job.bytes.kept.clone_into(&mut self.kept);
        copy(&mut self.order, order);
    }
}

fn copy(own: &mut Order, order: &Order) {
    order.passes.clone_into(&mut own.passes);
    order.queue.clone_into(&mut own.queue);
    order.why_queue.clone_into(&mut own.why_queue);
    order.start_us.clone_into(&mut own.start_us);
    order.finish_us.clone_into(&mut own.finish_us);
    let Order { frame_us, one_queue_us, policy, optimal, nodes_explored, .. } = *order;
    (own.frame_us, own.one_queue_us, own.policy) = (frame_us, one_queue_us, policy);
    (own.optimal, own.nodes_explored) = (optimal, nodes_explored);
}
