//! The order of the accesses to each cell, load operations that it implies, and what stands in for what is switched off.

use rgraph_ir::access::{Aspects, Load, Usage};
use rgraph_ir::id::Id;
use rgraph_ir::resource::{Life, ResourceId};

use super::{CellUse, FORWARD, Facts, Inserted, StandIn};

impl Facts<'_> {
    pub(super) fn sort_accesses(&mut self) {
        // First writers of each name's cells, for reads that are declared too early.
        let mut first_writer: Vec<Vec<u32>> =
            self.memory.iter().map(|&memory| vec![u32::MAX; self.grids[memory].len()]).collect();
        for job in &self.jobs {
            for at in job.uses.iter().filter(|at| at.writes) {
                for &cell in &at.cells {
                    let first = &mut first_writer[at.resource][cell];
                    *first = (*first).min(job.position);
                }
            }
        }
        let mut order: Vec<Vec<Vec<CellUse>>> = self.grids.iter().map(|grid| vec![Vec::new(); grid.len()]).collect();
        for (index, job) in self.jobs.iter().enumerate() {
            for (number, at) in job.uses.iter().enumerate() {
                if self.frames_ago[at.resource] > 0 {
                    continue;
                }
                let resource = &self.graph.resources()[ResourceId::new(at.resource)];
                let fresh = resource.life == Life::Transient && resource.modifies.is_none();
                // Nothing of the range was written before, and something of it is later: the read comes just after.
                let first = at.cells.iter().map(|&cell| first_writer[at.resource][cell]).min().unwrap_or(u32::MAX);
                for &cell in &at.cells {
                    let chain = self.chain[at.resource];
                    let key = match job.inserted {
                        Some(Inserted::Scaled { from, .. }) if from == at.resource => (chain, u32::MAX, 0),
                        _ if fresh && !at.writes && first != u32::MAX && first > job.position => {
                            (chain, first, FORWARD)
                        }
                        _ => (chain, job.position, job.step),
                    };
                    order[self.memory[at.resource]][cell].push(CellUse { key, job: index, at: number, group: 0 });
                }
            }
        }
        self.find_ordinary(&order);
        let mut group = 0;
        for (cell, uses) in order.iter_mut().flat_map(|cells| cells.iter_mut().enumerate()) {
            uses.sort_by_key(|u| (u.key, u.job, u.at));
            let mut open = false;
            for u in uses {
                let at = &mut self.jobs[u.job].uses[u.at];
                if at.unordered && !open {
                    group += 1;
                }
                open = at.unordered;
                u.group = if open { group } else { 0 };
                if at.keys.is_empty() {
                    at.keys.resize(at.cells.len(), ((0, 0, 0), 0));
                }
                if let Ok(number) = at.cells.binary_search(&cell) {
                    at.keys[number] = (u.key, u.group);
                }
            }
        }
        self.writers = order
            .iter()
            .map(|cells| {
                let only =
                    |uses: &Vec<CellUse>| uses.iter().copied().filter(|u| self.jobs[u.job].uses[u.at].writes).collect();
                cells.iter().map(only).collect()
            })
            .collect();
        self.order = order;
    }

    /// An unordered access that must find contents which only its own group makes is an ordinary one.
    fn find_ordinary(&mut self, order: &[Vec<Vec<CellUse>>]) {
        for (memory, cells) in order.iter().enumerate() {
            let unordered = |u: &CellUse| self.jobs[u.job].uses[u.at].unordered;
            if !cells.iter().flatten().any(unordered) {
                continue;
            }
            let mut list: Vec<(CellUse, usize)> = Vec::new();
            for (cell, uses) in cells.iter().enumerate() {
                list.extend(uses.iter().map(|u| (*u, cell)));
            }
            list.sort_by_key(|(u, cell)| (u.key, u.job, u.at, *cell));
            // By cell: whether something was there before the open group, and whether the group wrote it.
            let mut before = vec![self.filled[memory]; cells.len()];
            let mut within = vec![false; cells.len()];
            let mut first = 0;
            while first < list.len() {
                let (u, _) = list[first];
                let end = first
                    + list[first..]
                        .partition_point(|(other, _)| (other.key, other.job, other.at) == (u.key, u.job, u.at));
                let own = || list[first..end].iter().map(|(_, cell)| *cell);
                let at = &mut self.jobs[u.job].uses[u.at];
                if at.unordered && at.must_read && !own().any(|cell| before[cell]) && own().any(|cell| within[cell]) {
                    at.unordered = false;
                }
                let (unordered, writes) = (at.unordered, at.writes);
                for cell in own() {
                    if !unordered {
                        before[cell] |= std::mem::take(&mut within[cell]) | writes;
                    } else {
                        within[cell] |= writes;
                    }
                }
                first = end;
            }
        }
    }

    /// Load operations that are not said: `discard` where nothing was there, else `load`.
    pub(super) fn find_loads(&mut self) {
        let mut written: Vec<(usize, usize, Aspects)> = Vec::new();
        for (memory, cells) in self.order.iter().enumerate() {
            for (cell, uses) in cells.iter().enumerate() {
                let first = uses.iter().find(|u| self.jobs[u.job].uses[u.at].writes).map(|u| u.key);
                for u in uses {
                    let at = &self.jobs[u.job].uses[u.at];
                    // A name of another size has memory of its own, of which the scaled copy fills mip 0.
                    let modifies = self.chain[at.resource] > 0;
                    let kept = match self.graph.resources()[ResourceId::new(at.resource)].life {
                        Life::Transient => modifies,
                        Life::Imported(imported) => imported.defined || modifies,
                        Life::Persistent | Life::History(_) => true,
                    };
                    if kept || first.is_some_and(|first| first < u.key) {
                        written.push((u.job, u.at, self.grids[memory].aspect(cell)));
                    }
                }
            }
        }
        let graph = self.graph;
        let mut said = vec![Vec::new(); graph.passes().len()];
        for access in graph.accesses() {
            if let Some(job) = self.place(access.pass).filter(|_| access.resource.index() < self.shapes.len()) {
                said[job].push((self.declared_load(access), self.declared_stencil_load(access)));
            }
        }
        for (job, at, aspect) in written {
            let job = &mut self.jobs[job];
            let Some(declared) = job.declared else { continue };
            let (load, stencil_load) = said[declared][at];
            let at = &mut job.uses[at];
            if !matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment) {
                continue;
            }
            if aspect == Aspects::STENCIL {
                at.stencil_load = stencil_load.unwrap_or(Load::Load);
            } else {
                at.load = load.unwrap_or(Load::Load);
            }
        }
        for at in self.jobs.iter_mut().flat_map(|job| &mut job.uses) {
            if matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment) {
                at.keeps = Aspects::empty();
                if at.load == Load::Load {
                    at.keeps |= Aspects::COLOR | Aspects::DEPTH;
                }
                if at.stencil_load == Load::Load {
                    at.keeps |= Aspects::STENCIL;
                }
            }
        }
    }

    pub(super) fn find_fallbacks(&mut self) {
        let mut known = Vec::new();
        for fallback in self.graph.fallbacks() {
            let (output, input) = (fallback.output.index(), fallback.input.index());
            let Some(pass) = self.place(fallback.pass).filter(|_| output.max(input) < self.memory.len()) else {
                continue;
            };
            if let Some(flag) = self.jobs[pass].flag {
                known.push((pass, StandIn { output, flag, input }));
            }
        }
        let mut found = Vec::new();
        for (index, job) in self.jobs.iter().enumerate() {
            for (number, at) in job.uses.iter().enumerate().filter(|(_, at)| at.must_read && !at.writes) {
                let mut outputs = vec![at.resource];
                let mut next = 0;
                while let Some(&output) = outputs.get(next) {
                    next += 1;
                    // Who is under the same flag never reads while it is off.
                    let own = |stand_in: &StandIn| stand_in.output == output && job.flag != Some(stand_in.flag);
                    for &(pass, stand_in) in known.iter().filter(|(_, stand_in)| own(stand_in)) {
                        let after = match output == at.resource {
                            true => self.follows(pass, index, number),
                            false => {
                                let (_, position, step) = self.stand_in_key(output, index, number);
                                (self.jobs[pass].position, 0) < (position, step)
                            }
                        };
                        // The mips that a pass generates are off with it.
                        let own = self.jobs[pass].position == job.position;
                        if after && !own && !outputs.contains(&stand_in.input) {
                            outputs.push(stand_in.input);
                            found.push((index, number, stand_in));
                        }
                    }
                }
            }
        }
        for (job, at, stand_in) in found {
            let input = stand_in.input;
            if self.memory[input] == self.memory[stand_in.output] {
                self.jobs[job].uses[at].names.push(input);
                continue;
            }
            self.jobs[job].uses[at].fallbacks.push(stand_in);
            if self.frames_ago[input] > 0 {
                continue;
            }
            let memory = self.memory[input];
            let key = self.stand_in_key(input, job, at);
            for cell in self.grids[memory].cells(&self.jobs[job].uses[at].part) {
                self.order[memory][cell].push(CellUse { key, job, at, group: 0 });
                self.order[memory][cell].sort_by_key(|u| (u.key, u.job, u.at));
            }
        }
    }

    /// Whether a use comes after what `pass` writes to the same cells.
    fn follows(&self, pass: usize, job: usize, at: usize) -> bool {
        let at_use = &self.jobs[job].uses[at];
        let memory = self.memory[at_use.resource];
        at_use.cells.iter().any(|&cell| {
            let own = self.key(at_use.resource, cell, job, at);
            // The mips that a pass generates are its own.
            let its = |u: &CellUse| self.jobs[u.job].position == self.jobs[pass].position;
            self.writers[memory][cell].iter().any(|u| its(u) && own.is_some_and(|(key, _)| u.key < key))
        })
    }
}
