//! Which jobs must run, and uses that no order can keep.

use rgraph_ir::id::Id;
use rgraph_ir::resource::Life;

use super::{Facts, JobUse, Key};

impl Facts<'_> {
    pub(super) fn find_needed(&mut self) {
        self.needed = vec![false; self.jobs.len()];
        let mut work: Vec<usize> = (0..self.jobs.len()).filter(|&job| self.jobs[job].pinned).collect();
        for (id, resource) in self.graph.resources().iter_ids() {
            let at = id.index();
            let imported = matches!(resource.life, Life::Imported(_));
            if self.graph.roots().contains(&id) || imported {
                let memory = self.memory[at];
                // What leaves with imported memory is what the last of its names left there.
                let last = if imported { u32::MAX } else { self.chain[at] };
                for cell in 0..self.grids[memory].len() {
                    self.writers_before(memory, cell, (last, u32::MAX, u32::MAX), usize::MAX, &mut work);
                }
            }
        }
        while let Some(job) = work.pop() {
            if std::mem::replace(&mut self.needed[job], true) {
                continue;
            }
            for (number, at) in self.jobs[job].uses.iter().enumerate() {
                let mut read = |resource: usize, cells: &[usize]| {
                    let memory = self.memory[resource];
                    for &cell in cells {
                        if !at.must_read && !at.keeps_aspect(self.grids[memory].aspect(cell)) {
                            continue;
                        }
                        if self.frames_ago[resource] > 0 {
                            // An earlier frame made it, maybe the pass that reads it.
                            self.writers_before(memory, cell, (u32::MAX, 0, 0), usize::MAX, &mut work);
                        } else if let Some((key, _)) = self.key(resource, cell, job, number) {
                            self.writers_before(memory, cell, key, job, &mut work);
                        }
                    }
                };
                read(at.resource, &at.cells);
                for input in at.fallbacks.iter().map(|stand_in| stand_in.input) {
                    read(input, &self.grids[self.memory[input]].cells(&at.part));
                }
            }
        }
    }

    /// Adds the jobs whose writes a read of a cell at `key` may see.
    pub(super) fn writers_before(&self, memory: usize, cell: usize, key: Key, reader: usize, work: &mut Vec<usize>) {
        let writers = &self.writers[memory][cell];
        let mut from = key;
        for lap in 0..2 {
            let mut before = writers.partition_point(|u| u.key < from);
            // Who is in an unordered group, or needs one of it, needs all of it.
            let own = writers.iter().find(|u| u.job == reader && u.key == from && u.group != 0).map_or(0, |u| u.group);
            before += writers[before..].iter().take_while(|u| own != 0 && u.group == own).count();
            let mut last_group = None;
            for u in writers[..before].iter().rev().filter(|u| lap > 0 || u.job != reader) {
                if last_group.is_some_and(|group| group == 0 || group != u.group) {
                    return;
                }
                let at = &self.jobs[u.job].uses[u.at];
                work.push(u.job);
                let whole = !at.must_read && !at.keeps_aspect(self.grids[memory].aspect(cell));
                // While it is off, what outlives the frame keeps what it held, whatever readers get meanwhile.
                let falls_back = !self.edged[memory] && self.falls_back(u.job, at.resource);
                let replaces = self.jobs[u.job].flag.is_none() || falls_back;
                if whole && replaces {
                    last_group = Some(u.group);
                }
            }
            if last_group.is_some() {
                return;
            }
            // What persists is what the end of the frame before left.
            if !self.persistent[memory] || lap > 0 {
                return;
            }
            from = (u32::MAX, u32::MAX, u32::MAX);
        }
    }

    /// Pairs of names of one memory that one job uses at a common cell, so that no order keeps both: job, earlier name,
    /// later name.
    pub(crate) fn torn(&self) -> Vec<(usize, usize, usize)> {
        let mut torn = Vec::new();
        for (index, job) in self.jobs.iter().enumerate() {
            for b in job.uses.iter().filter(|b| self.chain[b.resource] > 0 && self.frames_ago[b.resource] == 0) {
                let earlier = job.uses.iter().filter(|a| {
                    self.frames_ago[a.resource] == 0
                        && self.memory[a.resource] == self.memory[b.resource]
                        && self.chain[a.resource] < self.chain[b.resource]
                });
                let meet = |a: &&JobUse| a.cells.iter().any(|cell| b.cells.binary_search(cell).is_ok());
                torn.extend(earlier.filter(meet).map(|a| (index, a.resource, b.resource)));
            }
        }
        torn.dedup();
        torn
    }
}
