//! What a graph computes, and what a plan computes, in symbols: serial equivalence is that both are equal.
//!
//! A pass writes into each subresource a hash of its name, the frame, the subresource and everything that it reads.
//! [`interpret_graph`] runs the declaration serially, every resource in memory of its own. [`interpret_plan`] runs the
//! plan's batches on shared memory: several frames in flight, passes taken apart into what they do at each stage, in
//! several of the orders that the plan allows. A read gets what the memory holds only if barriers, waits and entries
//! name it; a write under one name destroys what the same bytes held under others. [`disagreement`] compares both.

use rgraph_ir::graph::Graph;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::Plan;

use crate::execute::Executor;
use crate::facts::{Facts, SubresourceUse};
use crate::ids::{DeclaredOf, DeclaredPassId, FlagStates};
use crate::machine::conditions;
pub use crate::outcome::{Fault, Outcome};

/// Flags of the frames that are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flags {
    /// Three frames with every flag on, then every combination (up to 2^6, sampled beyond) twice in a row.
    Changing,
    /// Bit `n` is flag `n`, the same in every frame: three frames, or two more than the longest ring.
    Constant(u64),
}

/// How a plan is run: equal schedules give equal outcomes on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// 0: as listed. Others pick among all orders that the plan allows; in turn what was listed last first, writes
    /// first, any, queue by queue, reads first, some passes last, any.
    pub seed: u64,
    /// Whether up to three frames are in flight at once.
    pub overlapping: bool,
    /// Flags of the frames.
    pub flags: Flags,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { seed: 0, overlapping: true, flags: Flags::Changing }
    }
}

/// Frames that may be in flight at once.
const IN_FLIGHT: usize = 3;

/// Runs a declaration serially, in the order that its meaning demands, for several frames and conditions.
/// O(passes × subresources) per frame.
pub fn interpret_graph(graph: &Graph) -> Outcome {
    interpret_graph_with(graph, Flags::Changing)
}

/// Runs a declaration serially with certain flags.
pub fn interpret_graph_with(graph: &Graph, flags: Flags) -> Outcome {
    let flat = graph.flattened();
    let facts = Facts::new(flat.as_ref().unwrap_or(graph), None);
    crate::meaning::run(&facts, &serial_order(&facts), &frames(&facts, flags), false)
}

/// Runs a plan on symbolic memory under `interleavings` orders of what it leaves open: the first as listed, the others
/// drawn from seeds.
///
/// # Errors
/// If the plan cannot be walked, ends in a deadlock, or computes different things in different orders.
pub fn interpret_plan(graph: &Graph, plan: &Plan, interleavings: u64) -> Result<Outcome, Fault> {
    let flat = graph.flattened();
    let facts = Facts::new(flat.as_ref().unwrap_or(graph), None);
    let declared_of = declared_passes(&facts, plan)?;
    let flags = frames(&facts, Flags::Changing);
    let executor = Executor::new(&facts, plan, &declared_of, flags.len());
    let (first, _) = executor.run(&flags, None, IN_FLIGHT, false)?;
    for seed in 1..interleavings {
        let (again, complaint) = executor.run(&flags, Some(seed), IN_FLIGHT, false)?;
        if let Some(what) = first.difference(&again) {
            let what = explained(what, complaint);
            return Err(Fault::Diverges { seed, what });
        }
    }
    Ok(first)
}

/// Runs a plan on symbolic memory in one order.
///
/// # Errors
/// If the plan cannot be walked or ends in a deadlock.
pub fn interpret_with(graph: &Graph, plan: &Plan, schedule: &Schedule) -> Result<Outcome, Fault> {
    let flat = graph.flattened();
    let facts = Facts::new(flat.as_ref().unwrap_or(graph), None);
    let declared_of = declared_passes(&facts, plan)?;
    let flags = frames(&facts, schedule.flags);
    let executor = Executor::new(&facts, plan, &declared_of, flags.len());
    let window = if schedule.overlapping { IN_FLIGHT } else { 1 };
    Ok(executor.run(&flags, (schedule.seed > 0).then_some(schedule.seed), window, false)?.0)
}

/// Runs a plan under `orders` orders with changing flags, and under one more per combination of constant flags (up to
/// 2^6, sampled beyond); the first thing that it computes otherwise than the declaration means, in words. What each
/// needed pass reads is compared too, whether or not anybody sees what comes of it.
pub fn disagreement(graph: &Graph, plan: &Plan, orders: u64) -> Option<String> {
    let flat = graph.flattened();
    let facts = Facts::new(flat.as_ref().unwrap_or(graph), None);
    let declared_of = match declared_passes(&facts, plan) {
        Ok(declared_of) => declared_of,
        Err(fault) => return Some(fault.to_string()),
    };
    let serial = serial_order(&facts);
    let compare = |executor: &Executor, flags: &[FlagStates], wanted: &Outcome, seed: u64| {
        let seeded = (seed > 0).then_some(seed);
        match executor.run(flags, seeded, if seed == 1 { 1 } else { IN_FLIGHT }, true) {
            Ok((outcome, complaint)) => {
                wanted.difference(&outcome).map(|what| format!("order {seed}: {}", explained(what, complaint)))
            }
            Err(fault) => Some(format!("order {seed}: {fault}")),
        }
    };
    let flags = frames(&facts, Flags::Changing);
    let wanted = crate::meaning::run(&facts, &serial, &flags, true);
    let executor = Executor::new(&facts, plan, &declared_of, flags.len());
    let found = (0..orders).find_map(|seed| compare(&executor, &flags, &wanted, seed));
    let count = facts.graph.flags().len();
    if found.is_some() || count == 0 {
        return found;
    }
    let frames_constant = frames(&facts, Flags::Constant(0)).len();
    let executor = Executor::new(&facts, plan, &declared_of, frames_constant);
    let mut random = crate::random::Random::new(count as u64);
    (0..1 << count.min(6)).find_map(|index: u64| {
        let chosen = if count <= 6 { index } else { random.bits() };
        let flags = frames(&facts, Flags::Constant(chosen));
        let wanted = crate::meaning::run(&facts, &serial, &flags, true);
        compare(&executor, &flags, &wanted, index).map(|what| format!("flags {chosen:b}, {what}"))
    })
}

/// A difference, and what went wrong first.
fn explained(what: String, complaint: Option<String>) -> String {
    complaint.map_or_else(|| what.clone(), |first| format!("{what}; first, {first}"))
}

fn declared_passes(facts: &Facts, plan: &Plan) -> Result<DeclaredOf, Fault> {
    let mut findings = crate::finding::Findings::default();
    if !crate::form::is_well_formed(facts, plan, &mut findings) {
        return Err(Fault::Malformed(findings.into_vec()));
    }
    Ok(crate::structure::passes(facts, plan, &mut findings))
}

/// Flags of each frame: at least as many frames as make every copy of a ring come round.
pub(crate) fn frames(facts: &Facts, flags: Flags) -> Vec<FlagStates> {
    let count = facts.graph.flags().len();
    let mut frames = match flags {
        Flags::Changing => conditions(count),
        Flags::Constant(chosen) => vec![(0..count).map(|flag| chosen >> flag.min(63) & 1 == 1).collect(); 3],
    };
    let ring = facts.ring.iter().copied().max().unwrap_or(1) as usize;
    while frames.len() < ring + 2 {
        frames.push(frames[0].clone());
    }
    frames
}

/// An order of all declared passes that keeps the order of accesses at each subresource. Kahn's algorithm; ties by
/// position.
pub(crate) fn serial_order(facts: &Facts) -> Vec<DeclaredPassId> {
    let count = facts.declared_passes.len();
    let mut after: IdVec<DeclaredPassId, Vec<DeclaredPassId>> = IdVec::filled(Vec::new(), count);
    let mut waits = IdVec::<DeclaredPassId, u32>::filled(0, count);
    let mut edge = |from: DeclaredPassId, to: DeclaredPassId| {
        if from != to {
            after[from].push(to);
            waits[to] += 1;
        }
    };
    let subresources =
        facts.order.iter_ids().flat_map(|(memory, subresources)| subresources.iter().map(move |uses| (memory, uses)));
    for (memory, uses) in subresources {
        // A fallback for another name of the same memory has that name's place.
        let own = |u: &&SubresourceUse| {
            let at = &facts.declared_passes[u.declared].uses[u.at];
            facts.memory[at.resource] != memory || facts.chain[at.resource] == u.key.name
        };
        let uses: Vec<SubresourceUse> = uses.iter().filter(own).copied().collect();
        // Everything since the last write, and that write; unordered groups stand together.
        let (mut writers, mut readers): (Vec<DeclaredPassId>, Vec<DeclaredPassId>) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < uses.len() {
            let group = uses[at].group;
            let end =
                if group.is_none() { at + 1 } else { at + uses[at..].iter().take_while(|u| u.group == group).count() };
            let writes = |at: usize| facts.declared_passes[uses[at].declared].uses[uses[at].at].writes;
            let any = (at..end).any(writes);
            for u in &uses[at..end] {
                writers.iter().for_each(|&writer| edge(writer, u.declared));
                if any {
                    readers.iter().for_each(|&reader| edge(reader, u.declared));
                }
            }
            if any {
                readers.clear();
                writers.clear();
                writers.extend(uses[at..end].iter().map(|u| u.declared));
            } else {
                readers.extend(uses[at..end].iter().map(|u| u.declared));
            }
            at = end;
        }
    }
    let passes = facts.graph.passes().len();
    for (later, earlier) in facts.graph.orderings() {
        if later.index() < passes && earlier.index() < passes {
            edge(DeclaredPassId::new(earlier.index()), DeclaredPassId::new(later.index()));
        }
    }
    let key = |declared: DeclaredPassId| {
        (facts.declared_passes[declared].position, facts.declared_passes[declared].step, declared)
    };
    let mut ready: std::collections::BTreeSet<_> =
        waits.ids().filter(|&declared| waits[declared] == 0).map(key).collect();
    let mut order = Vec::with_capacity(count);
    while let Some((.., declared)) = ready.pop_first() {
        order.push(declared);
        for &next in &after[declared] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.insert(key(next));
            }
        }
    }
    order
}
