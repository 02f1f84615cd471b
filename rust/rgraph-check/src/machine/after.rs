//! Declared orderings: `after`, and the order of accesses that no pair of the same bytes shows.

use rgraph_ir::access::Stages;
use rgraph_ir::plan::{PlanPassId, QueueId};
use rgraph_ir::resource::ResourceId;

use super::{Machine, Ordering, Stand, UseOf};
use crate::clock::ordered;
use crate::facts::Key;
use crate::finding::Rule;
use crate::ids::{DeclaredPassId, UnorderedGroupId};
use crate::subresource::AllocationPlace;
use crate::tables::leaves;

impl Machine<'_> {
    /// Whether all that a declared pass does is ordered after all that another one did at a queue and position. Jobs
    /// that access nothing are ordered by their queue, or by any wait behind a signal.
    fn is_after(&self, queue: QueueId, declared: DeclaredPassId, from: Stand, earlier: DeclaredPassId) -> bool {
        let stages = |declared: DeclaredPassId| {
            self.facts.declared_passes[declared].uses.iter().fold(Stages::empty(), |all, at| all | at.stages)
        };
        let [first, second] = [stages(earlier), stages(declared)];
        if from.queue == self.host && queue == self.host {
            return true;
        }
        if first.is_empty() || second.is_empty() {
            return from.queue == queue || self.lanes.follows(queue, from.queue, from.position);
        }
        leaves(second).all(|at| leaves(first).all(|x| ordered(self.lanes.at(queue, at), from.queue, from.position, x)))
    }

    /// Passes that it is declared to come after have run and are ordered before it.
    pub(super) fn check_after(&mut self, queue: QueueId, pass: PlanPassId, declared: DeclaredPassId) {
        self.ran_at[declared] = Some(Stand { queue, position: self.now[queue] });
        let first = self.after.partition_point(|one| one.later < declared);
        for at in first..self.after.len() {
            let Ordering { later, earlier } = self.after[at];
            if later != declared {
                break;
            }
            let in_plan = self.facts.needed[earlier] && self.facts.runs(earlier, &self.flags);
            let holds = match self.ran_at[earlier] {
                Some(from) => self.is_after(queue, declared, from, earlier),
                None => !in_plan,
            };
            if !holds {
                let name = self.plan.pass_name(pass);
                let message = format!(
                    "pass \"{name}\" is declared after \"{}\" but not ordered so",
                    self.facts.declared_passes[earlier].name
                );
                self.findings.add(Rule::Order, Some(name), None, message);
            }
        }
    }

    pub(super) fn check_order(
        &mut self,
        pass: PlanPassId,
        UseOf { declared, number }: UseOf,
        resource: ResourceId,
        AllocationPlace { allocation, subresource }: AllocationPlace,
    ) {
        let facts = self.facts;
        if facts.frames_ago[resource] > 0 {
            return;
        }
        let Some((key, group)) = facts.key(resource, subresource, declared, number) else { return };
        let writes = facts.declared_passes[declared].uses[number].writes;
        let state = &mut self.allocations[allocation].subresources[subresource];
        let last = if writes { state.last_any } else { state.last_write };
        let late = last.filter(|(last, other, earlier)| {
            *last > key && *earlier != declared && !(group.is_some() && group == *other)
        });
        let note = |slot: &mut Option<(Key, Option<UnorderedGroupId>, DeclaredPassId)>| {
            if slot.is_none_or(|(last, ..)| last < key) {
                *slot = Some((key, group, declared));
            }
        };
        note(&mut state.last_any);
        if writes {
            note(&mut state.last_write);
        }
        if let Some((.., earlier)) = late {
            let (name, what) = (self.plan.pass_name(pass), facts.name(resource));
            let message = format!(
                "pass \"{name}\" {} \"{what}\" after pass \"{}\" does, which the declaration puts later",
                if writes { "writes" } else { "reads" },
                facts.declared_passes[earlier].name
            );
            self.findings.add(Rule::Order, Some(name), Some(what), message);
        }
    }
}
