//! What a graph computes, and what a plan computes, in symbols: serial equivalence is that both are equal.
//!
//! A pass writes into each subresource a hash of its name, the frame, the subresource and everything that it reads.
//! [`interpret_graph`] runs the declaration serially, every resource in memory of its own. [`interpret_plan`] runs the
//! plan's batches on shared memory: several frames in flight, passes taken apart into what they do at each stage, in
//! several of the orders that the plan allows. A read gets what the memory holds only if barriers, waits and entries
//! name it; a write under one name destroys what the same bytes held under others. [`disagreement`] compares both.

use std::collections::BTreeMap;
use std::fmt;

use rgraph_ir::access::Usage;
use rgraph_ir::graph::{Clear, Graph};
use rgraph_ir::id::Id;
use rgraph_ir::plan::Plan;
use rgraph_ir::resource::ResourceId;

use crate::execute::Executor;
use crate::facts::{DeclaredUse, Facts, SubresourceUse};
use crate::finding::Finding;
use crate::machine::conditions;

/// What somebody outside can see: by frame, the symbols of roots, imported, persistent and remembered resources
/// subresource by subresource, and of what passes with side effects read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// By frame: name and subresource, and its symbol (`None`: undefined).
    pub frames: Vec<BTreeMap<String, Option<u128>>>,
}

impl Outcome {
    /// The first difference in words, or `None` if both are equal.
    pub fn difference(&self, other: &Self) -> Option<String> {
        for (frame, (a, b)) in self.frames.iter().zip(&other.frames).enumerate() {
            for (name, symbol) in a {
                match b.get(name) {
                    Some(same) if same == symbol => {}
                    Some(_) => return Some(format!("{name} differs in frame {frame}")),
                    None => return Some(format!("{name} is missing in frame {frame}")),
                }
            }
            if let Some(name) = b.keys().find(|name| !a.contains_key(*name)) {
                return Some(format!("{name} is additional in frame {frame}"));
            }
        }
        (self.frames.len() != other.frames.len()).then(|| "the numbers of frames differ".to_owned())
    }
}

/// Why a plan computes nothing that could be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// It cannot be walked at all.
    Malformed(Vec<Finding>),
    /// Every queue waits.
    Deadlock {
        /// Batches at the heads of their queues.
        batches: Vec<usize>,
    },
    /// Two legal interleavings of its queues compute different things.
    Diverges {
        /// Seed of the interleaving.
        seed: u64,
        /// What differs.
        what: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(findings) => {
                let first = findings.first().map_or_else(|| "unknown".to_owned(), ToString::to_string);
                write!(f, "the plan cannot be run: {first}")
            }
            Self::Deadlock { batches } => write!(f, "every queue waits, at batches {batches:?}"),
            Self::Diverges { seed, what } => write!(f, "interleaving {seed} computes something else: {what}"),
        }
    }
}

impl std::error::Error for Fault {}

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
    let executor = Executor::new(&facts, plan, &declared_of, flags.len() as u32);
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
    let executor = Executor::new(&facts, plan, &declared_of, flags.len() as u32);
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
    let compare = |executor: &Executor, flags: &[Vec<bool>], wanted: &Outcome, seed: u64| {
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
    let executor = Executor::new(&facts, plan, &declared_of, flags.len() as u32);
    let found = (0..orders).find_map(|seed| compare(&executor, &flags, &wanted, seed));
    let count = facts.graph.flags().len();
    if found.is_some() || count == 0 {
        return found;
    }
    let frames_constant = frames(&facts, Flags::Constant(0)).len() as u32;
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

fn declared_passes(facts: &Facts, plan: &Plan) -> Result<Vec<Option<usize>>, Fault> {
    let mut findings = crate::finding::Findings::default();
    if !crate::structure::is_well_formed(facts, plan, &mut findings) {
        return Err(Fault::Malformed(findings.into_vec()));
    }
    Ok(crate::structure::passes(facts, plan, &mut findings))
}

/// Flags of each frame: at least as many frames as make every copy of a ring come round.
pub(crate) fn frames(facts: &Facts, flags: Flags) -> Vec<Vec<bool>> {
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

/// A subresource whose contents somebody outside sees at the end of a frame.
pub(crate) struct Watched {
    pub resource: usize,
    pub subresource: usize,
    pub name: String,
}

impl Watched {
    /// Whether the subresource holds anything that counts while the flags are so: the output of a pass that is switched
    /// off holds nothing if another resource stands in for it.
    pub(crate) fn counts(&self, facts: &Facts, flags: &[bool]) -> bool {
        let writers = &facts.writers[facts.memory[self.resource]][self.subresource];
        let replaced = |u: &&SubresourceUse| {
            let declared = &facts.declared_passes[u.declared];
            !facts.runs(u.declared, flags) && declared.outputs.contains(&declared.uses[u.at].resource)
        };
        let last = writers.iter().rev().find(|u| facts.runs(u.declared, flags) || replaced(u));
        !last.as_ref().is_some_and(replaced)
    }
}

/// Pieces whose contents somebody outside sees, as far as needed work accesses them.
pub(crate) fn watched(facts: &Facts) -> Vec<Watched> {
    let mut accessed = vec![false; facts.memory.len()];
    for (declared, needed) in facts.declared_passes.iter().zip(&facts.needed) {
        for at in declared.uses.iter().filter(|_| *needed) {
            accessed[facts.memory[at.resource]] = true;
        }
    }
    let mut watched = Vec::new();
    for resource in (0..facts.memory.len()).filter(|resource| facts.frames_ago[*resource] == 0) {
        let memory = facts.memory[resource];
        let root = facts.graph.roots().contains(&ResourceId::new(resource));
        if !accessed[memory] || !root && !facts.edged[memory] {
            continue;
        }
        let grid = &facts.grids[memory];
        // What nobody reads, in this frame or the next, may be left out.
        for subresource in (0..grid.len()).filter(|subresource| facts.is_kept(memory, *subresource)) {
            let name = format!("\"{}\" {}", facts.name(resource), grid.describe(subresource)).trim_end().to_owned();
            watched.push(Watched { resource, subresource, name });
        }
    }
    watched
}

/// An order of all declared passes that keeps the order of accesses at each subresource. Kahn's algorithm; ties by
/// position.
pub(crate) fn serial_order(facts: &Facts) -> Vec<usize> {
    let count = facts.declared_passes.len();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits = vec![0u32; count];
    let mut edge = |from: usize, to: usize| {
        if from != to {
            after[from].push(to);
            waits[to] += 1;
        }
    };
    let subresources = facts
        .order
        .iter()
        .enumerate()
        .flat_map(|(memory, subresources)| subresources.iter().map(move |uses| (memory, uses)));
    for (memory, uses) in subresources {
        // What stands in for another name of the same memory has that name's place.
        let own = |u: &&SubresourceUse| {
            let at = &facts.declared_passes[u.declared].uses[u.at];
            facts.memory[at.resource] != memory || facts.chain[at.resource] == u.key.0
        };
        let uses: Vec<SubresourceUse> = uses.iter().filter(own).copied().collect();
        // Everything since the last write, and that write; unordered groups stand together.
        let (mut writers, mut readers): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < uses.len() {
            let group = uses[at].group;
            let end = if group == 0 { at + 1 } else { at + uses[at..].iter().take_while(|u| u.group == group).count() };
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
            edge(earlier.index(), later.index());
        }
    }
    let key =
        |declared: usize| (facts.declared_passes[declared].position, facts.declared_passes[declared].step, declared);
    let mut ready: std::collections::BTreeSet<_> =
        (0..count).filter(|&declared| waits[declared] == 0).map(key).collect();
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

/// What a clear leaves.
pub(crate) fn cleared(clear: Option<Clear>) -> u128 {
    let words: Vec<u128> = match clear {
        None => Vec::new(),
        Some(Clear::Color(color)) => color.iter().map(|c| u128::from(c.to_bits())).collect(),
        Some(Clear::Depth(depth, stencil)) => {
            vec![u128::from(depth.to_bits()), stencil.map_or(u128::MAX, u128::from)]
        }
    };
    symbol("clear", &words)
}

/// The declared load operation of a use, where it has one.
pub(crate) fn is_loaded(at: &DeclaredUse) -> bool {
    matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment)
}

/// What a use writes into a subresource of a pass that computes `base`.
pub(crate) fn written(base: u128, number: u32, subresource: u32) -> u128 {
    symbol("write", &[base, u128::from(number), u128::from(subresource)])
}

/// What a resolve writes into a subresource, of samples that may be undefined.
pub(crate) fn resolved(base: u128, number: u32, subresource: u32, samples: &[Option<u128>]) -> u128 {
    let undefined = symbol("undefined", &[]);
    let mut parts = vec![base, u128::from(number), u128::from(subresource)];
    parts.extend(samples.iter().map(|sample| sample.unwrap_or(undefined)));
    symbol("resolve", &parts)
}

/// A 128-bit hash of a word and some symbols: two independent 64-bit mixers (the finalizer of SplitMix64).
pub(crate) fn symbol(word: &str, parts: &[u128]) -> u128 {
    let mut lanes = [0x243f_6a88_85a3_08d3u64, 0x1319_8a2e_0370_7344];
    let mut feed = |value: u64| {
        for (lane, odd) in lanes.iter_mut().zip([0x9e37_79b9_7f4a_7c15u64, 0xd1b5_4a32_d192_ed03]) {
            let mut z = lane.rotate_left(23).wrapping_add(value ^ odd).wrapping_mul(odd);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *lane = z ^ (z >> 31);
        }
    };
    for chunk in word.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        feed(u64::from_le_bytes(bytes));
    }
    feed(word.len() as u64);
    for part in parts {
        feed(*part as u64);
        feed((*part >> 64) as u64);
    }
    feed(parts.len() as u64);
    u128::from(lanes[0]) << 64 | u128::from(lanes[1])
}
