//! What a graph computes, and what a plan computes, in symbols: serial equivalence is that both are equal.
//!
//! A pass writes into each piece a hash of its name, the piece and everything that it reads. [`interpret_graph`]
//! runs the declaration serially, every resource in memory of its own. [`interpret_plan`] runs the plan's batches on
//! shared memory, where a write under one name destroys what the other names held, with several runs in flight and
//! under several legal interleavings of the queues.

use std::collections::BTreeMap;
use std::fmt;

use rgraph_ir::access::{Load, Usage};
use rgraph_ir::graph::{Clear, Graph};
use rgraph_ir::id::Id;
use rgraph_ir::plan::Plan;
use rgraph_ir::resource::{Life, ResourceId};

use crate::facts::{Facts, JobUse};
use crate::finding::Finding;
use crate::machine::conditions;

/// What somebody outside can see: by frame, the symbols of roots, imported, persistent and remembered resources
/// piece by piece, and of what passes with side effects read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// By frame: name and piece, and its symbol (`None`: undefined).
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

/// Runs a declaration serially, in the order that its meaning demands, for several frames and conditions.
/// O(passes × pieces) a frame.
pub fn interpret_graph(graph: &Graph) -> Outcome {
    let flat = graph.flattened();
    let facts = Facts::new(flat.as_ref().unwrap_or(graph), None);
    let order = serial_order(&facts);
    let mut memory = Memory::new(&facts);
    let watch = watched(&facts);
    let mut outcome = Outcome::default();
    for (run, flags) in frames(&facts).into_iter().enumerate() {
        let run = run as u32;
        let mut seen = BTreeMap::new();
        for &job in &order {
            if facts.needed[job] && facts.runs(job, &flags) {
                let base = memory.job(&facts, job, run, &flags, false, |_, _| {});
                note_job(&facts, job, base, &mut seen);
            }
        }
        for at in &watch {
            memory.capture(&facts, at, run, &mut seen);
        }
        outcome.frames.push(seen);
    }
    outcome
}

/// Runs a plan on symbolic memory under `interleavings` orders of its queues: the first in listed order, the others
/// drawn from seeds.
///
/// # Errors
/// If the plan cannot be walked, ends in a deadlock, or computes different things in different interleavings.
pub fn interpret_plan(graph: &Graph, plan: &Plan, interleavings: u64) -> Result<Outcome, Fault> {
    let flat = graph.flattened();
    let facts = Facts::new(flat.as_ref().unwrap_or(graph), None);
    let mut findings = crate::finding::Findings::default();
    if !crate::structure::is_well_formed(&facts, plan, &mut findings) {
        return Err(Fault::Malformed(findings.into_vec()));
    }
    let job_of = crate::structure::passes(&facts, plan, &mut findings);
    let first = crate::execute::run(&facts, plan, &job_of, None)?;
    for seed in 1..interleavings {
        let again = crate::execute::run(&facts, plan, &job_of, Some(seed))?;
        if let Some(what) = first.difference(&again) {
            return Err(Fault::Diverges { seed, what });
        }
    }
    Ok(first)
}

/// Conditions of each frame: at least as many frames as make every copy of a ring come round.
pub(crate) fn frames(facts: &Facts) -> Vec<Vec<bool>> {
    let mut frames = conditions(facts.graph.flags().len());
    let ring = facts.ring.iter().copied().max().unwrap_or(1) as usize;
    while frames.len() < ring + 2 {
        frames.push(frames[0].clone());
    }
    frames
}

/// A piece whose contents somebody outside sees at the end of a frame.
pub(crate) struct Watched {
    pub resource: usize,
    pub cell: usize,
    name: String,
}

/// Pieces whose contents somebody outside sees, as far as needed work touches them.
pub(crate) fn watched(facts: &Facts) -> Vec<Watched> {
    let mut touched = vec![false; facts.memory.len()];
    for (job, needed) in facts.jobs.iter().zip(&facts.needed) {
        for at in job.uses.iter().filter(|_| *needed) {
            touched[facts.memory[at.resource]] = true;
        }
    }
    let mut watched = Vec::new();
    for resource in (0..facts.memory.len()).filter(|resource| facts.frames_ago[*resource] == 0) {
        let memory = facts.memory[resource];
        let root = facts.graph.roots().contains(&ResourceId::new(resource));
        if !touched[memory] || !root && !facts.edged[memory] {
            continue;
        }
        let grid = &facts.grids[memory];
        // What nobody reads, in this frame or the next, may be left out.
        for cell in (0..grid.len()).filter(|cell| facts.is_kept(memory, *cell)) {
            let name = format!("\"{}\" {}", facts.name(resource), grid.describe(cell)).trim_end().to_owned();
            watched.push(Watched { resource, cell, name });
        }
    }
    watched
}

pub(crate) fn note_job(facts: &Facts, job: usize, base: u128, seen: &mut BTreeMap<String, Option<u128>>) {
    if facts.jobs[job].pinned {
        seen.insert(format!("what pass \"{}\" reads", facts.jobs[job].name), Some(base));
    }
}

/// An order of all jobs that keeps the order of accesses at each cell. Kahn's algorithm; ties by position.
pub(crate) fn serial_order(facts: &Facts) -> Vec<usize> {
    let count = facts.jobs.len();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits = vec![0u32; count];
    let mut edge = |from: usize, to: usize| {
        if from != to {
            after[from].push(to);
            waits[to] += 1;
        }
    };
    for uses in facts.order.iter().flatten() {
        // Everything since the last write, and that write; unordered groups stand together.
        let (mut writers, mut readers): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < uses.len() {
            let group = uses[at].group;
            let end = if group == 0 { at + 1 } else { at + uses[at..].iter().take_while(|u| u.group == group).count() };
            let writes = |at: usize| facts.jobs[uses[at].job].uses[uses[at].at].writes;
            let any = (at..end).any(writes);
            for u in &uses[at..end] {
                writers.iter().for_each(|&writer| edge(writer, u.job));
                if any {
                    readers.iter().for_each(|&reader| edge(reader, u.job));
                }
            }
            if any {
                readers.clear();
                writers.clear();
                writers.extend(uses[at..end].iter().map(|u| u.job));
            } else {
                readers.extend(uses[at..end].iter().map(|u| u.job));
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
    let key = |job: usize| (facts.jobs[job].position, facts.jobs[job].step, job);
    let mut ready: std::collections::BTreeSet<_> = (0..count).filter(|&job| waits[job] == 0).map(key).collect();
    let mut order = Vec::with_capacity(count);
    while let Some((.., job)) = ready.pop_first() {
        order.push(job);
        for &next in &after[job] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.insert(key(next));
            }
        }
    }
    order
}

/// Contents of every copy of every memory.
pub(crate) struct Memory {
    first: Vec<usize>,
    of: Vec<usize>,
    /// By store and cell: the run that wrote it, and the symbol.
    cells: Vec<Vec<Option<(u32, u128)>>>,
}

impl Memory {
    /// What is there before the first frame.
    pub(crate) fn new(facts: &Facts) -> Self {
        let mut first = vec![usize::MAX; facts.memory.len()];
        let mut of = Vec::new();
        let mut cells: Vec<Vec<Option<(u32, u128)>>> = Vec::new();
        for (memory, slot) in first.iter_mut().enumerate() {
            if facts.memory[memory] != memory {
                continue;
            }
            *slot = cells.len();
            let resource = &facts.graph.resources()[ResourceId::new(memory)];
            let there =
                facts.persistent[memory] || matches!(resource.life, Life::Imported(imported) if imported.defined);
            for copy in 0..facts.ring[memory] {
                of.push(memory);
                let start =
                    |cell: usize| there.then(|| (0, symbol(facts.name(memory), &[u128::from(copy), cell as u128])));
                cells.push((0..facts.grids[memory].len()).map(start).collect());
            }
        }
        Self { first, of, cells }
    }

    /// The copy of a resource in a run.
    pub(crate) fn store(&self, facts: &Facts, resource: usize, run: u32) -> usize {
        let memory = facts.memory[resource];
        let ring = facts.ring[memory];
        self.first[memory] + ((run + ring * 64 - facts.frames_ago[resource]) % ring) as usize
    }

    /// The memory that a store is a copy of.
    pub(crate) fn memory_of(&self, store: usize) -> usize {
        self.of[store]
    }

    /// What a use of a resource finds in a cell.
    fn read(&self, facts: &Facts, resource: usize, cell: usize, run: u32) -> Option<u128> {
        let memory = facts.memory[resource];
        let ago = facts.frames_ago[resource];
        let held = self.cells[self.store(facts, resource, run)][cell];
        let base = &facts.graph.resources()[ResourceId::new(memory)];
        let stays = facts.persistent[memory] || matches!(base.life, Life::Imported(imported) if imported.defined);
        if ago > 0 && run < ago && !stays {
            let zero = match facts.graph.resources()[ResourceId::new(resource)].life {
                Life::History(history) => history.zero_first,
                _ => false,
            };
            return Some(if zero { symbol("zeros", &[]) } else { symbol("whatever was there", &[]) });
        }
        held.filter(|(written, _)| stays || *written == run.wrapping_sub(ago)).map(|(_, symbol)| symbol)
    }

    /// Writes or destroys one cell.
    pub(crate) fn set(&mut self, store: usize, cell: usize, run: u32, symbol: Option<u128>) {
        self.cells[store][cell] = symbol.map(|symbol| (run, symbol));
    }

    /// Destroys a whole store.
    pub(crate) fn destroy(&mut self, store: usize) {
        self.cells[store].fill(None);
    }

    /// Runs a job: reads, then writes. `loaded`: attachments hold what their load operations left, so what is in
    /// memory counts instead of what the declaration says. `wrote` is told of every store written, before the write.
    /// Returns the hash of the job and all that it read.
    pub(crate) fn job(
        &mut self,
        facts: &Facts,
        job: usize,
        run: u32,
        flags: &[bool],
        loaded: bool,
        mut wrote: impl FnMut(&mut Self, usize),
    ) -> u128 {
        let undefined = symbol("undefined", &[]);
        let mut reads = Vec::new();
        for at in &facts.jobs[job].uses {
            let (resource, cells) = facts.effective_cells(at, flags);
            for cell in cells {
                if at.unordered {
                    continue;
                }
                let held = || self.read(facts, resource, cell, run).unwrap_or(undefined);
                let aspect = facts.grids[facts.memory[resource]].aspect(cell);
                let attachment = matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment);
                if attachment && at.load_of(aspect) == Load::Clear {
                    reads.push(if loaded { held() } else { cleared(at.clear) });
                } else if at.must_read || at.keeps_aspect(aspect) {
                    reads.push(held());
                }
            }
        }
        let base = symbol(&facts.jobs[job].name, &reads);
        for (number, at) in facts.jobs[job].uses.iter().enumerate().filter(|(_, at)| at.writes) {
            let store = self.store(facts, at.resource, run);
            wrote(self, store);
            for &cell in &at.cells {
                let new = symbol("write", &[base, number as u128, cell as u128]);
                let new = if at.garbage {
                    None
                } else if at.unordered {
                    // A sum commutes as the writes do.
                    Some(self.read(facts, at.resource, cell, run).unwrap_or(undefined).wrapping_add(new))
                } else {
                    Some(new)
                };
                self.set(store, cell, run, new);
            }
        }
        base
    }

    /// Notes what a piece holds in a run.
    pub(crate) fn capture(&self, facts: &Facts, at: &Watched, run: u32, seen: &mut BTreeMap<String, Option<u128>>) {
        seen.insert(at.name.clone(), self.read(facts, at.resource, at.cell, run));
    }
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
pub(crate) fn is_loaded(at: &JobUse) -> bool {
    matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment)
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
