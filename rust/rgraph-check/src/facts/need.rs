//! Which jobs must run, and uses that no order can keep.

use rgraph_ir::id::Id;
use rgraph_ir::resource::Life;

use super::{CellUse, Facts, Key};

impl Facts<'_> {
    pub(super) fn find_needed(&mut self) {
        self.needed = vec![false; self.jobs.len()];
        let mut work: Vec<usize> = (0..self.jobs.len()).filter(|&job| self.jobs[job].pinned).collect();
        for (id, resource) in self.graph.resources().iter_ids() {
            let at = id.index();
            let imported = matches!(resource.life, Life::Imported(_));
            if self.graph.roots().contains(&id) || imported {
                let memory = self.memory[at];
                for cell in 0..self.grids[memory].len() {
                    self.writers_before(memory, cell, (self.chain[at], u32::MAX, u32::MAX), usize::MAX, &mut work);
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
                            self.writers_before(memory, cell, (u32::MAX, 0, 0), job, &mut work);
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
            for u in writers[..before].iter().rev().filter(|u| u.job != reader) {
                if last_group.is_some_and(|group| group == 0 || group != u.group) {
                    return;
                }
                let at = &self.jobs[u.job].uses[u.at];
                work.push(u.job);
                let whole = !at.must_read && !at.keeps_aspect(self.grids[memory].aspect(cell));
                let replaces = self.jobs[u.job].flag.is_none() || self.falls_back(u.job, at.resource);
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

    /// Uses of two names of one memory in one job that no order keeps apart: job, earlier name, later name.
    pub(crate) fn torn(&self) -> Vec<(usize, usize, usize)> {
        let mut torn = Vec::new();
        for (index, job) in self.jobs.iter().enumerate() {
            let later = job.uses.iter().enumerate().filter(|(_, b)| self.chain[b.resource] > 0);
            for (number, b) in later {
                for (other, a) in job.uses.iter().enumerate() {
                    if self.is_torn(index, [other, number], [a.resource, b.resource]) {
                        torn.push((index, a.resource, b.resource));
                    }
                }
                for stand_in in &b.fallbacks {
                    if self.is_torn(index, [number; 2], [stand_in.input, b.resource]) {
                        torn.push((index, stand_in.input, b.resource));
                    }
                }
            }
        }
        torn.dedup();
        torn
    }

    /// Whether two uses of a job are of an earlier and a later name of a piece, and a write stands between the two.
    fn is_torn(&self, job: usize, at: [usize; 2], of: [usize; 2]) -> bool {
        let memory = self.memory[of[1]];
        let own = [&self.jobs[job].uses[at[0]], &self.jobs[job].uses[at[1]]];
        let frame = of.iter().all(|resource| self.frames_ago[*resource] == 0 && self.memory[*resource] == memory);
        if !frame || self.chain[of[0]] >= self.chain[of[1]] || self.jobs[job].inserted.is_some() {
            return false;
        }
        own[1].cells.iter().any(|&cell| {
            let keys = [self.key(of[0], cell, job, at[0]), self.key(of[1], cell, job, at[1])];
            let [Some((first, _)), Some((last, _))] = keys else { return false };
            let meet = own[0].resource != of[0] || own[0].cells.binary_search(&cell).is_ok();
            let between = |u: &CellUse| {
                u.job != job
                    && first < u.key
                    && u.key < last
                    && !self.falls_back(u.job, self.jobs[u.job].uses[u.at].resource)
            };
            meet && (own[0].writes || own[1].writes || self.writers[memory][cell].iter().any(between))
        })
    }
}
