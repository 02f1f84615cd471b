//! Points at which a plan waits for the other users of imports, and lets them go on.
//!
//! Between two queues a plan orders uses by values that it signals itself; of another user it knows only these points.
//! So each queue that uses such an import waits itself, at every stage of its uses, and signals itself behind them.

use std::collections::HashMap;

use rgraph_ir::access::Stages;
use rgraph_ir::id::Id;
use rgraph_ir::plan::{BatchId, Command, Plan, PlanPassId, QueueId};
use rgraph_ir::resource::{Life, ResourceId};

use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::ids::{DeclaredOf, DeclaredPassId, MemoryId};
use crate::tables::with_later;

/// What happened to an import on a queue so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Stages that have waited for its other user.
    waited: Stages,
    /// The batch that let the other user go on.
    released: Option<BatchId>,
    used: bool,
}

struct Walk<'a> {
    facts: &'a Facts<'a>,
    plan: &'a Plan,
    /// By memory and queue; the host is the number after the last queue.
    seen: HashMap<(MemoryId, QueueId), Seen>,
}

/// Checks the points. O(plan + accesses + points · batches).
pub(crate) fn foreign(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    Walk { facts, plan, seen: HashMap::new() }.walk(declared_of, findings);
}

impl Walk<'_> {
    /// Whether the declaration has the import waited for, and signalled.
    fn demands(&self, memory: MemoryId) -> [bool; 2] {
        match self.facts.graph.resources().get(memory.first_name()).map(|resource| resource.life) {
            Some(Life::Imported(imported)) => [imported.wait, imported.signal],
            _ => [false; 2],
        }
    }

    fn memory(&self, resource: ResourceId) -> MemoryId {
        self.facts.memory.get(resource).copied().unwrap_or(MemoryId::of_first(resource))
    }

    fn walk(mut self, declared_of: &DeclaredOf, findings: &mut Findings) {
        let plan = self.plan;
        for point in &plan.foreign {
            let memory = self.memory(point.resource);
            let [waits, signals] = self.demands(memory);
            let demanded = if point.wait.is_some() { waits } else { signals };
            if !demanded || memory.first_name() != point.resource {
                let name = plan.resource_name(point.resource);
                let message = format!(
                    "batch {} {} the other user of \"{name}\", which is not declared so",
                    point.batch.index(),
                    if point.wait.is_some() { "waits for" } else { "signals" }
                );
                findings.add(Rule::Foreign, None, Some(name), message);
            }
        }
        for (id, batch) in plan.batches.iter_ids() {
            let queue = batch.queue.unwrap_or(QueueId::new(plan.queues.len()));
            for point in plan.foreign.iter().filter(|point| point.batch == id) {
                let seen = self.seen.entry((MemoryId::of_first(point.resource), queue)).or_default();
                seen.waited |= point.wait.unwrap_or_default();
            }
            for command in &plan.commands[batch.commands.range()] {
                match command {
                    Command::Pass { pass, .. } => {
                        if let Some(declared) = declared_of[*pass] {
                            self.pass(queue, *pass, declared, findings);
                        }
                    }
                    Command::Barriers(barriers) | Command::SetEvent(_, barriers) | Command::WaitEvents(_, barriers) => {
                        let buffers = plan.buffer_barriers[barriers.buffers.range()].iter();
                        let images = plan.image_barriers[barriers.images.range()].iter();
                        let images = images.map(|barrier| barrier.resource);
                        for resource in buffers.map(|barrier| barrier.resource).chain(images) {
                            self.access(queue, None, resource, Stages::empty(), findings);
                        }
                    }
                    Command::BeginRendering { .. } | Command::EndRendering => {}
                }
            }
            for point in plan.foreign.iter().filter(|point| point.batch == id && point.wait.is_none()) {
                let seen = self.seen.entry((MemoryId::of_first(point.resource), queue)).or_default();
                seen.released = seen.released.or(Some(id));
            }
        }
        let mut unsignalled: Vec<_> =
            self.seen.iter().filter(|(_, seen)| seen.used && seen.released.is_none()).collect();
        unsignalled.sort_by_key(|(key, _)| **key);
        for ((memory, queue), _) in unsignalled {
            if self.demands(*memory)[1] {
                let name = self.facts.memory_name(*memory);
                let message = format!("no batch on {} signals the other user of \"{name}\"", self.queue_name(*queue));
                findings.add(Rule::Foreign, None, Some(name), message);
            }
        }
    }

    fn pass(&mut self, queue: QueueId, pass: PlanPassId, declared: DeclaredPassId, findings: &mut Findings) {
        let facts = self.facts;
        for at in &facts.declared_passes[declared].uses {
            for resource in std::iter::once(at.resource).chain(at.fallbacks.iter().copied()) {
                self.access(queue, Some(pass), resource, at.stages, findings);
            }
        }
    }

    /// A use by a pass, or by a barrier, whose stages are those of passes.
    fn access(
        &mut self,
        queue: QueueId,
        pass: Option<PlanPassId>,
        resource: ResourceId,
        stages: Stages,
        findings: &mut Findings,
    ) {
        let memory = self.memory(resource);
        let [waits, signals] = self.demands(memory);
        // A history is another memory than the import that it remembers, which the other user has.
        let remembers = self.facts.frames_ago.get(resource).is_some_and(|frames| *frames > 0);
        if remembers || !waits && !signals {
            return;
        }
        let seen = self.seen.entry((memory, queue)).or_default();
        seen.used = true;
        let Seen { waited, released, .. } = *seen;
        let name = self.facts.memory_name(memory);
        let by = pass.map(|pass| self.plan.pass_name(pass));
        let who = by.map_or("a barrier".to_owned(), |by| format!("pass \"{by}\""));
        let missing = stages - with_later(waited);
        if waits && (!missing.is_empty() || waited.is_empty()) {
            let at = missing.names().collect::<Vec<_>>().join(" | ");
            let at = if at.is_empty() { at } else { format!(" at {at}") };
            let message =
                format!("{who} uses \"{name}\"{at} on {} before the wait for its other user", self.queue_name(queue));
            findings.add(Rule::Foreign, by, Some(name), message);
        }
        if let Some(batch) = released.filter(|_| signals) {
            let message = format!(
                "{who} uses \"{name}\" on {} after batch {} signals its other user",
                self.queue_name(queue),
                batch.index()
            );
            findings.add(Rule::Foreign, by, Some(name), message);
        }
    }

    fn queue_name(&self, queue: QueueId) -> String {
        match self.plan.queues.get(queue) {
            Some(plan) => format!("queue {} (\"{}\")", queue.index(), plan.name),
            None => "the host".to_owned(),
        }
    }
}
