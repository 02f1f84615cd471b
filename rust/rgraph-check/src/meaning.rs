//! What a declaration means, run: one job after the other, every resource in memory of its own.

use std::collections::BTreeMap;

use rgraph_ir::access::{Load, Usage};
use rgraph_ir::id::Id;
use rgraph_ir::resource::{Life, ResourceId};

use crate::facts::{Facts, JobUse};
use crate::interpret::{Outcome, Watched, cleared, resolved, symbol, watched, written};

/// Runs jobs in a serial order, frame by frame. `all`: says what every job reads, not only those with side effects.
pub(crate) fn run(facts: &Facts, order: &[usize], flags: &[Vec<bool>], all: bool) -> Outcome {
    let mut memory = Memory::new(facts);
    let watch = watched(facts);
    let mut outcome = Outcome::default();
    for (run, flags) in (0..).zip(flags) {
        let mut seen = BTreeMap::new();
        for &job in order {
            if facts.needed[job] && facts.runs(job, flags) {
                let base = memory.job(facts, job, run, flags);
                if all || facts.jobs[job].pinned {
                    seen.insert(format!("what pass \"{}\" reads", facts.jobs[job].name), Some(base));
                }
            }
        }
        for at in &watch {
            memory.capture(facts, at, run, flags, &mut seen);
        }
        outcome.frames.push(seen);
    }
    outcome
}

/// What a cell holds.
#[derive(Clone, Copy, Default)]
struct Held {
    /// The run that wrote it.
    run: u32,
    symbol: Option<u128>,
    /// The unordered group that adds to it (0: none), and what that found.
    group: u32,
    before: Option<u128>,
}

/// Contents of every copy of every memory.
struct Memory {
    first: Vec<usize>,
    cells: Vec<Vec<Held>>,
}

impl Memory {
    /// What is there before the first frame.
    fn new(facts: &Facts) -> Self {
        let mut first = vec![usize::MAX; facts.memory.len()];
        let mut cells: Vec<Vec<Held>> = Vec::new();
        for (memory, slot) in first.iter_mut().enumerate() {
            if facts.memory[memory] != memory {
                continue;
            }
            *slot = cells.len();
            let there = stays(facts, memory);
            for copy in 0..facts.ring[memory] {
                let start = |cell: usize| Held {
                    symbol: there.then(|| symbol(facts.name(memory), &[u128::from(copy), cell as u128])),
                    ..Held::default()
                };
                cells.push((0..facts.grids[memory].len()).map(start).collect());
            }
        }
        Self { first, cells }
    }

    /// The copy of a resource in a run.
    fn store(&self, facts: &Facts, resource: usize, run: u32) -> usize {
        let memory = facts.memory[resource];
        let ring = facts.ring[memory];
        self.first[memory] + ((run + ring * 64 - facts.frames_ago[resource]) % ring) as usize
    }

    /// What a use of a resource finds in a cell.
    fn read(&self, facts: &Facts, resource: usize, cell: usize, run: u32) -> Option<u128> {
        let memory = facts.memory[resource];
        let ago = facts.frames_ago[resource];
        let held = self.cells[self.store(facts, resource, run)][cell];
        let stays = stays(facts, memory);
        if ago > 0 && run < ago && !stays {
            let zero = match facts.graph.resources()[ResourceId::new(resource)].life {
                Life::History(history) => history.zero_first,
                _ => false,
            };
            return Some(if zero { symbol("zeros", &[]) } else { symbol("whatever was there", &[]) });
        }
        if stays || held.run == run.wrapping_sub(ago) { held.symbol } else { None }
    }

    /// What an unordered read finds: what its group found.
    fn read_in(&self, facts: &Facts, resource: usize, cell: usize, run: u32, group: u32) -> Option<u128> {
        let held = self.cells[self.store(facts, resource, run)][cell];
        if group != 0 && held.group == group && held.run == run {
            return held.before;
        }
        self.read(facts, resource, cell, run)
    }

    /// Runs a job: reads, then writes, then resolves. Returns the hash of the job, its run and all that it read.
    fn job(&mut self, facts: &Facts, job: usize, run: u32, flags: &[bool]) -> u128 {
        let undefined = symbol("undefined", &[]);
        let mut reads = vec![u128::from(run)];
        let group =
            |at: usize, resource: usize, cell: usize| facts.key(resource, cell, job, at).map_or(0, |(_, group)| group);
        for (number, at) in facts.jobs[job].uses.iter().enumerate() {
            if at.unordered && at.writes {
                continue;
            }
            let (resource, cells) = facts.effective_cells(at, flags);
            for cell in cells {
                let group = if at.unordered { group(number, resource, cell) } else { 0 };
                let held = || self.read_in(facts, resource, cell, run, group).unwrap_or(undefined);
                let aspect = facts.grids[facts.memory[resource]].aspect(cell);
                let attachment = matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment);
                if attachment && at.load_of(aspect) == Load::Clear {
                    reads.push(cleared(at.clear));
                } else if at.must_read || at.keeps_aspect(aspect) {
                    reads.push(held());
                }
            }
        }
        let base = symbol(&facts.jobs[job].name, &reads);
        let resolves = |at: &JobUse| at.usage == Usage::ResolveAttachment;
        for last in [false, true] {
            for (number, at) in facts.jobs[job].uses.iter().enumerate() {
                if !at.writes || resolves(at) != last {
                    continue;
                }
                let store = self.store(facts, at.resource, run);
                let samples = self.samples(facts, job, at, run);
                for &cell in &at.cells {
                    let group = if at.unordered { group(number, at.resource, cell) } else { 0 };
                    let new = match last {
                        true => resolved(base, number as u32, cell as u32, &samples),
                        false => written(base, number as u32, cell as u32),
                    };
                    let held = self.read(facts, at.resource, cell, run);
                    let before = self.read_in(facts, at.resource, cell, run, group);
                    // A sum commutes as the writes do.
                    let symbol = match (at.garbage, at.unordered) {
                        (true, _) => None,
                        (_, true) => Some(held.unwrap_or(undefined).wrapping_add(new)),
                        _ => Some(new),
                    };
                    self.cells[store][cell] = Held { run, symbol, group, before };
                }
            }
        }
        base
    }

    /// What a resolve resolves, piece by piece.
    fn samples(&self, facts: &Facts, job: usize, resolve: &JobUse, run: u32) -> Vec<Option<u128>> {
        let uses = facts.jobs[job].uses.iter();
        let of = uses.filter(|at| Some(at.resource) == resolve.resolves && crate::tables::is_attachment(at.usage));
        of.flat_map(|at| at.cells.iter().map(|cell| self.read(facts, at.resource, *cell, run))).collect()
    }

    /// Notes what a piece holds in a run.
    fn capture(
        &self,
        facts: &Facts,
        at: &Watched,
        run: u32,
        flags: &[bool],
        seen: &mut BTreeMap<String, Option<u128>>,
    ) {
        let counts = at.counts(facts, flags);
        seen.insert(at.name.clone(), self.read(facts, at.resource, at.cell, run).filter(|_| counts));
    }
}

/// Whether what a memory holds stays from run to run.
fn stays(facts: &Facts, memory: usize) -> bool {
    let life = facts.graph.resources()[ResourceId::new(memory)].life;
    facts.persistent[memory] || matches!(life, Life::Imported(imported) if imported.defined)
}
