//! What a plan says of passes that may run at once, and of passes that only move bytes.
//!
//! The order of CPU passes is derived independently from the declaration and from bytes in common; that of GPU passes
//! from the plan's barrier calls, events and waits. Functions of one set run on several threads, so a wrong set is a
//! data race.

use std::collections::HashMap;

use rgraph_ir::access::Usage;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Command, EventId, Plan, PlanCopy, PlanPassId, QueueId};

use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::ids::{DeclaredOf, DeclaredPassId, MemoryId, Place, UnorderedGroupId};
use crate::residents::Residents;

/// Checks sets and copies. A plan without sets promises nothing. O(plan + accesses of subresources).
pub(crate) fn sets(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    if plan.sets.is_empty() {
        return;
    }
    membership(plan, findings);
    if ran(plan).any(|(_, cpu)| cpu) {
        Cpu::new(facts, plan).walk(declared_of, findings);
    }
    gpu(plan, findings);
    copies(facts, plan, declared_of, findings);
}

/// Passes that the plan runs, in the order of its batches, with whether they run on the CPU.
fn ran(plan: &Plan) -> impl Iterator<Item = (PlanPassId, bool)> + '_ {
    plan.batches.iter().flat_map(|batch| {
        plan.commands[batch.commands.range()].iter().filter_map(|command| match command {
            Command::Pass { pass, .. } => Some((*pass, batch.queue.is_none())),
            _ => None,
        })
    })
}

/// Each pass that runs is in exactly one set, of its own side.
fn membership(plan: &Plan, findings: &mut Findings) {
    let mut counts = vec![[0u32; 2]; plan.passes.len()];
    for set in &plan.sets {
        plan.set_passes[set.passes.range()].iter().for_each(|pass| counts[pass.index()][usize::from(set.cpu)] += 1);
    }
    for (pass, cpu) in ran(plan) {
        let count = std::mem::take(&mut counts[pass.index()]);
        if count != [u32::from(!cpu), u32::from(cpu)] {
            let name = plan.pass_name(pass);
            let side = if cpu { "CPU" } else { "GPU" };
            let message = format!("pass \"{name}\" of the {side} is in {} sets of it", count[usize::from(cpu)]);
            findings.add(Rule::Sets, Some(name), None, message);
        }
    }
    for pass in plan.passes.ids().filter(|pass| counts[pass.index()] != [0, 0]) {
        let name = plan.pass_name(pass);
        findings.add(Rule::Sets, Some(name), None, format!("pass \"{name}\" is in a set but does not run"));
    }
}

/// A use of a subresource or of bytes.
#[derive(Clone, Copy)]
struct Past {
    group: Option<UnorderedGroupId>,
    writes: bool,
    cpu: bool,
    /// The first set that may come behind it.
    after: u32,
}

/// Walks the passes in plan order. A pass of the GPU passes on the sets that it comes after.
struct Cpu<'a> {
    facts: &'a Facts<'a>,
    plan: &'a Plan,
    set: IdVec<PlanPassId, Option<u32>>,
    /// By memory and subresource.
    past: HashMap<Place, Vec<Past>>,
    /// By memory: the first set behind all its uses.
    behind: IdVec<MemoryId, u32>,
    /// Memories that have some bytes in common. One that was overwritten comes behind all that was there.
    residents: Residents<MemoryId>,
    /// By declared pass: those that `after` puts before it.
    earlier: IdVec<DeclaredPassId, Vec<DeclaredPassId>>,
    /// By declared pass: the first set behind it, once it ran.
    done: IdVec<DeclaredPassId, Option<u32>>,
}

impl<'a> Cpu<'a> {
    fn new(facts: &'a Facts<'a>, plan: &'a Plan) -> Self {
        let of = |memory: MemoryId| Some(facts.memory[memory.first_name()]);
        let residents = Residents::new(facts, plan, facts.memory.len(), of);
        let mut earlier = IdVec::filled(Vec::new(), facts.declared_passes.len());
        for (later, before) in facts.orderings() {
            earlier[later].push(before);
        }
        Self {
            facts,
            plan,
            earlier,
            set: plan.set_of(true),
            past: HashMap::new(),
            behind: IdVec::filled(0, facts.memory.len()),
            residents,
            done: IdVec::filled(None, facts.declared_passes.len()),
        }
    }

    fn walk(&mut self, declared_of: &DeclaredOf, findings: &mut Findings) {
        for (pass, cpu) in ran(self.plan) {
            let Some(declared) = declared_of[pass] else { continue };
            let first = self.first_set(declared, cpu);
            let recorded = self.set[pass].filter(|_| cpu);
            if let Some(recorded) = recorded.filter(|recorded| *recorded != first) {
                let name = self.plan.pass_name(pass);
                let message = match recorded < first {
                    true => {
                        format!(
                            "pass \"{name}\" is in set {recorded} of the CPU, but follows a pass of set {}",
                            first - 1
                        )
                    }
                    false => {
                        format!(
                            "pass \"{name}\" is in set {recorded} of the CPU, but follows no pass of set {}",
                            recorded - 1
                        )
                    }
                };
                findings.add(Rule::Sets, Some(name), None, message);
            }
            self.note(declared, cpu, recorded.unwrap_or(first) + u32::from(cpu));
        }
    }

    /// The uses of a pass, and their accesses. Fallbacks of a use are read as well.
    fn uses(&self, declared: DeclaredPassId, cpu: bool, mut each: impl FnMut(Place, Past)) {
        for (number, at) in self.facts.declared_passes[declared].uses.iter_ids() {
            let memory = self.facts.memory[at.resource];
            if self.facts.frames_ago[at.resource] > 0 {
                continue;
            }
            for &subresource in &at.subresources {
                let group = self.facts.key(at.resource, subresource, declared, number).and_then(|(_, group)| group);
                each(Place { memory, subresource }, Past { group, writes: at.writes, cpu, after: 0 });
            }
            let inputs = at.fallbacks.iter().chain(&at.names).copied();
            // A history is in memory of its own.
            for input in inputs.filter(|&input| self.facts.frames_ago[input] == 0) {
                let memory = self.facts.memory[input];
                for subresource in self.facts.grids[memory].subresources(&at.part) {
                    each(Place { memory, subresource }, Past { group: None, writes: false, cpu, after: 0 });
                }
            }
        }
    }

    fn first_set(&self, declared: DeclaredPassId, cpu: bool) -> u32 {
        let mut first = self.earlier[declared].iter().filter_map(|&before| self.done[before]).max().unwrap_or(0);
        self.uses(declared, cpu, |place, now| {
            let past = self.past.get(&place).map_or(&[][..], Vec::as_slice);
            let meets = |past: &&Past| {
                let commutes = past.group.is_some() && past.group == now.group && !(past.cpu && now.cpu);
                (past.writes || now.writes) && !commutes
            };
            let past_uses = past.iter().filter(meets).map(|past| past.after);
            let bytes = self.residents.around(place.memory).into_iter().map(|other| self.behind[other]);
            first = first.max(past_uses.chain(bytes).max().unwrap_or(0));
        });
        first
    }

    fn note(&mut self, declared: DeclaredPassId, cpu: bool, after: u32) {
        let mut noted = Vec::new();
        self.uses(declared, cpu, |place, now| noted.push((place, now)));
        for (place, now) in noted {
            self.behind[place.memory] = self.behind[place.memory].max(after);
            self.residents.enter(place.memory);
            // All later uses of what was written whole meet that write, or a use behind it.
            if now.writes && now.group.is_none() && self.facts.grids[place.memory].len() == 1 {
                self.residents.supersede(place.memory, |_| false);
            }
            let list = self.past.entry(place).or_default();
            let same = |past: &&mut Past| (past.group, past.writes, past.cpu) == (now.group, now.writes, now.cpu);
            match list.iter_mut().find(same) {
                Some(past) => past.after = past.after.max(after),
                None => list.push(Past { after, ..now }),
            }
        }
        self.done[declared] = Some(after);
    }
}

/// Sets grow along everything by which the plan orders passes of the GPU.
fn gpu(plan: &Plan, findings: &mut Findings) {
    let set = plan.set_of(false);
    let host = QueueId::new(plan.queues.len());
    // By queue: the first set that may come next, and the first one behind all its passes so far.
    let mut lanes = IdVec::filled((0u32, 0u32), plan.queues.len() + 1);
    let mut signals: HashMap<(QueueId, u32), u32> = HashMap::new();
    let mut events: HashMap<EventId, u32> = HashMap::new();
    for batch in &plan.batches {
        let lane = batch.queue.unwrap_or(host);
        for wait in plan.waits[batch.waits.range()].iter().filter(|wait| !wait.previous_run) {
            let from = wait.queue.unwrap_or(host);
            let after = signals.get(&(from, wait.value)).copied().unwrap_or(0);
            lanes[lane].0 = lanes[lane].0.max(after);
        }
        for command in &plan.commands[batch.commands.range()] {
            let (next, behind) = &mut lanes[lane];
            match command {
                Command::Barriers(barriers) if barriers.by_region => {}
                Command::Barriers(_) => *next = (*next).max(*behind),
                Command::SetEvent(event, _) => {
                    events.insert(*event, (*next).max(*behind));
                }
                Command::WaitEvents(event, _) => {
                    *next = (*next).max(events.get(event).copied().unwrap_or(0));
                }
                Command::Pass { pass, .. } if batch.queue.is_some() => {
                    let recorded = set[*pass].unwrap_or(*next);
                    if recorded < *next {
                        let name = plan.pass_name(*pass);
                        let message = format!(
                            "pass \"{name}\" is in set {recorded} of the GPU, but a barrier or wait puts it behind set {}",
                            *next - 1
                        );
                        findings.add(Rule::Sets, Some(name), None, message);
                    }
                    *behind = (*behind).max(recorded.saturating_add(1));
                }
                Command::Pass { .. } | Command::BeginRendering { .. } | Command::EndRendering => {}
            }
        }
        if let Some(value) = batch.signal {
            signals.insert((lane, value), lanes[lane].0.max(lanes[lane].1));
        }
    }
}

/// The copies of a plan are the passes that declare nothing but transfers.
fn copies(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    let mut wanted = Vec::new();
    for (pass, _) in ran(plan) {
        let Some(declared) = declared_of[pass] else { continue };
        let uses = &facts.declared_passes[declared].uses;
        if uses.iter().any(|at| !matches!(at.usage, Usage::TransferSrc | Usage::TransferDst)) {
            continue;
        }
        let side = |usage: Usage| uses.iter().filter(move |at| at.usage == usage).map(|at| at.resource);
        for to in side(Usage::TransferDst) {
            wanted.extend(side(Usage::TransferSrc).map(|from| PlanCopy { pass, from, to }));
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    let mut given = plan.copies.clone();
    given.sort_unstable();
    let names = |copy: &PlanCopy| {
        let [from, to] = [copy.from, copy.to].map(|resource| facts.name(resource).to_owned());
        (plan.pass_name(copy.pass).to_owned(), from, to)
    };
    for copy in wanted.iter().filter(|copy| given.binary_search(copy).is_err()) {
        let (pass, from, to) = names(copy);
        let message = format!("pass \"{pass}\" copies \"{from}\" to \"{to}\", which the plan does not list");
        findings.add(Rule::Copies, Some(&pass), Some(&to), message);
    }
    for copy in given.iter().filter(|copy| wanted.binary_search(copy).is_err()) {
        let (pass, from, to) = names(copy);
        let message = format!("the plan lists a copy of \"{from}\" to \"{to}\" by pass \"{pass}\", which makes none");
        findings.add(Rule::Copies, Some(&pass), Some(&to), message);
    }
}
