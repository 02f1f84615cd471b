//! Runs the batches of a plan on symbolic memory, in one legal interleaving of its queues.

use std::collections::{BTreeMap, BTreeSet};

use rgraph_ir::access::{Aspects, Layout, Load, Store};
use rgraph_ir::id::Id;
use rgraph_ir::plan::{Attachment, Barriers, BatchId, Command, Plan};

use crate::facts::Facts;
use crate::interpret::{Fault, Memory, Outcome, Watched, cleared, frames, is_loaded, note_job, watched};
use crate::random::Random;
use crate::shape::Part;

/// Runs that may be in flight at once.
const IN_FLIGHT: usize = 3;

struct Runner<'a> {
    facts: &'a Facts<'a>,
    plan: &'a Plan,
    job_of: &'a [Option<usize>],
    memory: Memory,
    /// By memory: memories in some of the same bytes.
    overlaps: Vec<Vec<usize>>,
    seen: BTreeMap<u32, BTreeMap<String, Option<u128>>>,
}

/// Runs a plan; without a seed in listed order, run after run.
pub(crate) fn run(facts: &Facts, plan: &Plan, job_of: &[Option<usize>], seed: Option<u64>) -> Result<Outcome, Fault> {
    let mut overlaps = vec![Vec::new(); facts.memory.len()];
    for (a, b) in crate::structure::overlaps(facts, plan) {
        overlaps[a].push(b);
        overlaps[b].push(a);
    }
    let mut runner = Runner { facts, plan, job_of, memory: Memory::new(facts), overlaps, seen: BTreeMap::new() };
    let conditions = frames(facts);
    let watch = watched(facts);
    let (seen_by, by_batch) = runner.touching(&watch);
    let host = plan.queues.len();
    let queues: Vec<Vec<usize>> = (0..=host)
        .map(|queue| {
            let own = |batch: &usize| plan.batches[BatchId::new(*batch)].queue.map_or(host, Id::index) == queue;
            (0..plan.batches.len()).filter(own).collect()
        })
        .collect();
    let runs = conditions.len();
    let mut next = vec![(0usize, 0usize); host + 1];
    let mut signals = vec![vec![0u32; host + 1]; runs];
    let mut left: Vec<Vec<u32>> = vec![seen_by.clone(); runs];
    let mut unfinished = vec![plan.batches.len(); runs];
    let mut random = Random::new(seed.unwrap_or(0));
    if plan.batches.is_empty() {
        unfinished.fill(0);
    }
    for run in 0..runs {
        runner.seen.insert(run as u32, BTreeMap::new());
    }
    while unfinished.iter().any(|count| *count > 0) {
        let mut ready = Vec::new();
        for queue in 0..=host {
            while next[queue].0 < runs && next[queue].1 >= queues[queue].len() {
                next[queue] = (next[queue].0 + 1, 0);
            }
            let (run, at) = next[queue];
            if run >= runs || run >= IN_FLIGHT && unfinished[run - IN_FLIGHT] > 0 {
                continue;
            }
            let batch = queues[queue][at];
            let waits = plan.batches[BatchId::new(batch)].waits.range();
            let met = plan.waits[waits].iter().all(|wait| {
                let from = wait.queue.map_or(host, Id::index);
                match (wait.previous_run, run) {
                    (false, _) => signals[run][from] >= wait.value,
                    (true, 0) => true,
                    (true, _) => signals[run - 1][from] >= wait.value,
                }
            });
            if met {
                ready.push((run, batch, queue));
            }
        }
        ready.sort_unstable();
        let Some(&first) = ready.first() else {
            let heads = (0..=host).filter(|&queue| next[queue].0 < runs).map(|queue| queues[queue][next[queue].1]);
            return Err(Fault::Deadlock { batches: heads.collect() });
        };
        let (run, batch, queue) = if seed.is_some() { *random.pick(&ready) } else { first };
        next[queue].1 += 1;
        runner.batch(BatchId::new(batch), run as u32, &conditions[run]);
        if let Some(value) = plan.batches[BatchId::new(batch)].signal {
            signals[run][queue] = signals[run][queue].max(value);
        }
        for &at in &by_batch[batch] {
            left[run][at] -= 1;
            // A piece of a root holds its contents from its last use to the end of the run; later runs may come first.
            if left[run][at] == 0 {
                runner.capture(&watch[at], run as u32);
            }
        }
        unfinished[run] -= 1;
        if unfinished[run] == 0 {
            for (at, piece) in watch.iter().enumerate().filter(|(at, _)| seed.is_none() || seen_by[*at] == 0) {
                debug_assert_eq!(left[run][at], 0, "every batch of a finished run has run");
                runner.capture(piece, run as u32);
            }
        }
    }
    Ok(Outcome { frames: runner.seen.into_values().collect() })
}

impl Runner<'_> {
    fn capture(&mut self, at: &Watched, run: u32) {
        let seen = self.seen.entry(run).or_default();
        self.memory.capture(self.facts, at, run, seen);
    }

    /// How many batches use each watched piece, and the watched pieces that each batch uses.
    fn touching(&self, watch: &[Watched]) -> (Vec<u32>, Vec<Vec<usize>>) {
        let facts = self.facts;
        let mut pieces: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, piece) in watch.iter().enumerate() {
            pieces.entry((facts.memory[piece.resource], piece.cell)).or_default().push(at);
        }
        let mut counts = vec![0; watch.len()];
        let mut by_batch = Vec::new();
        for batch in &self.plan.batches {
            let mut used = BTreeSet::new();
            let mut touch = |resource: usize, part: &Part| {
                let Some(&memory) = facts.memory.get(resource) else { return };
                for cell in facts.grids[memory].cells(part) {
                    used.extend(pieces.get(&(memory, cell)).into_iter().flatten().copied());
                }
            };
            for command in &self.plan.commands[batch.commands.range()] {
                match command {
                    Command::Pass { pass, .. } => {
                        let Some(job) = self.job_of[pass.index()] else { continue };
                        for at in &facts.jobs[job].uses {
                            touch(at.resource, &at.part);
                            at.fallbacks.iter().for_each(|stand_in| touch(stand_in.input, &at.part));
                        }
                    }
                    Command::Barriers(b) | Command::WaitEvents(_, b) => {
                        for barrier in &self.plan.image_barriers[b.images.range()] {
                            let part = Part::image(barrier.mips, barrier.layers, Aspects::all());
                            touch(barrier.resource.index(), &part);
                        }
                    }
                    _ => {}
                }
            }
            used.iter().for_each(|at| counts[*at] += 1);
            by_batch.push(used.into_iter().collect());
        }
        (counts, by_batch)
    }

    fn batch(&mut self, id: BatchId, run: u32, flags: &[bool]) {
        let commands = self.plan.batches[id].commands.range();
        let mut open: Option<std::ops::Range<usize>> = None;
        for at in commands {
            match &self.plan.commands[at] {
                Command::Barriers(barriers) | Command::WaitEvents(_, barriers) => self.discard(barriers, run),
                Command::SetEvent(..) => {}
                Command::BeginRendering { attachments, .. } => {
                    if self.is_on(at, flags) {
                        open = Some(attachments.range());
                        self.load(at, attachments.range(), run, flags);
                    }
                }
                Command::EndRendering => {
                    if let Some(attachments) = open.take() {
                        self.unload(attachments, run);
                    }
                }
                Command::Pass { pass, .. } => {
                    let Some(job) = self.job_of[pass.index()] else { continue };
                    if !self.facts.runs(job, flags) {
                        continue;
                    }
                    let (facts, overlaps) = (self.facts, &self.overlaps);
                    let rings = &facts.ring;
                    let base = self.memory.job(facts, job, run, flags, open.is_some(), |memory, store| {
                        destroy_aliases(facts, overlaps, rings, memory, store);
                    });
                    note_job(facts, job, base, self.seen.entry(run).or_default());
                }
            }
        }
    }

    /// Whether a pass of the render pass that begins here runs.
    fn is_on(&self, begin: usize, flags: &[bool]) -> bool {
        self.jobs_within(begin).any(|job| self.facts.runs(job, flags))
    }

    fn jobs_within(&self, begin: usize) -> impl Iterator<Item = usize> + '_ {
        let rest = &self.plan.commands[begin + 1..];
        rest.iter().take_while(|command| !matches!(command, Command::EndRendering)).filter_map(
            |command| match command {
                Command::Pass { pass, .. } => self.job_of[pass.index()],
                _ => None,
            },
        )
    }

    fn cells(&self, entry: &Attachment) -> Vec<usize> {
        let Some(&memory) = self.facts.memory.get(entry.resource.index()) else { return Vec::new() };
        let part = Part::image([entry.mip, entry.mip.saturating_add(1)], entry.layers, Aspects::all());
        self.facts.grids[memory].cells(&part)
    }

    /// Load operations: a clear fills, a discard destroys.
    fn load(&mut self, begin: usize, attachments: std::ops::Range<usize>, run: u32, flags: &[bool]) {
        let facts = self.facts;
        let jobs: Vec<usize> = self.jobs_within(begin).filter(|job| facts.runs(*job, flags)).collect();
        for entry in &self.plan.attachments[attachments] {
            let resource = entry.resource.index();
            if entry.input || resource >= facts.memory.len() {
                continue;
            }
            let store = self.memory.store(facts, resource, run);
            for cell in self.cells(entry) {
                let stencil = facts.grids[facts.memory[resource]].aspect(cell) == Aspects::STENCIL;
                let load = entry.stencil.filter(|_| stencil).map_or(entry.load, |(load, _)| load);
                let declared = jobs.iter().flat_map(|job| &facts.jobs[*job].uses).find(|at| {
                    facts.memory[at.resource] == facts.memory[resource]
                        && is_loaded(at)
                        && at.cells.binary_search(&cell).is_ok()
                });
                match (load, declared) {
                    (Load::Load, _) => {}
                    (Load::Discard, _) => self.memory.set(store, cell, run, None),
                    (Load::Clear, declared) => {
                        // What is cleared to nothing in particular may be cleared to anything.
                        let said = declared.and_then(|at| at.clear);
                        let clear = if declared.is_some() && said.is_none() { None } else { entry.clear };
                        self.memory.set(store, cell, run, Some(cleared(clear)));
                    }
                }
            }
        }
    }

    /// Store operations: what is not stored is gone.
    fn unload(&mut self, attachments: std::ops::Range<usize>, run: u32) {
        for entry in &self.plan.attachments[attachments] {
            let resource = entry.resource.index();
            if entry.input || resource >= self.facts.memory.len() {
                continue;
            }
            let store = self.memory.store(self.facts, resource, run);
            for cell in self.cells(entry) {
                let stencil = self.facts.grids[self.facts.memory[resource]].aspect(cell) == Aspects::STENCIL;
                let kept = entry.stencil.filter(|_| stencil).map_or(entry.store, |(_, store)| store);
                if kept == Store::Discard {
                    self.memory.set(store, cell, run, None);
                }
            }
        }
    }

    /// Transitions from `undefined` destroy.
    fn discard(&mut self, barriers: &Barriers, run: u32) {
        for barrier in &self.plan.image_barriers[barriers.images.range()] {
            let resource = barrier.resource.index();
            if barrier.old_layout != Layout::Undefined || resource >= self.facts.memory.len() {
                continue;
            }
            let aspects = if barrier.aspects.is_empty() { Aspects::all() } else { barrier.aspects };
            let part = Part::image(barrier.mips, barrier.layers, aspects);
            let store = self.memory.store(self.facts, resource, run);
            destroy_aliases(self.facts, &self.overlaps, &self.facts.ring, &mut self.memory, store);
            for cell in self.facts.grids[self.facts.memory[resource]].cells(&part) {
                self.memory.set(store, cell, run, None);
            }
        }
    }
}

/// A write under one name destroys what the others in the same bytes held.
fn destroy_aliases(facts: &Facts, overlaps: &[Vec<usize>], rings: &[u32], memory: &mut Memory, store: usize) {
    for &other in &overlaps[memory.memory_of(store)] {
        for copy in 0..rings[other] {
            let store = memory.store(facts, other, copy);
            memory.destroy(store);
        }
    }
}
