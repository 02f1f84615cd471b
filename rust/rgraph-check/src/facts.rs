//! What a declaration means, worked out anew from ARCHITECTURE.md: every pass and every inserted pass as a *job*
//! with the cells that it reads, keeps and writes, the order of the accesses to each cell, and the jobs needed.

use rgraph_ir::access::{Aspects, Load, PassQueue, Stages, Transfer, Usage};
use rgraph_ir::graph::{Access, Clear, Graph, PassId};
use rgraph_ir::id::Id;
use rgraph_ir::plan::Plan;
use rgraph_ir::resource::{Life, ResourceId};

use crate::shape::{Grid, Part, Shape, shapes};
use crate::tables::{Work, default_stages, is_attachment, work};

/// Order of an access to a cell within a frame: position in the chain of names of one memory, position of the pass
/// (from 1), and step within it (0 the pass, then its mips, last the reads that were declared too early).
pub(crate) type Key = (u32, u32, u32);

/// Step of reads that come just after a writer declared later.
const FORWARD: u32 = 1000;

/// One access of a job, resolved.
#[derive(Clone, Debug)]
pub(crate) struct JobUse {
    pub resource: usize,
    pub usage: Usage,
    pub part: Part,
    pub cells: Vec<usize>,
    /// Order and group at each of the cells; no entry for histories.
    pub keys: Vec<(Key, u32)>,
    pub stages: Stages,
    pub transfer: Option<Transfer>,
    /// What it reads must be defined.
    pub must_read: bool,
    /// Aspects (or the bytes, as colour) whose old contents stay where the job does not cover them.
    pub keeps: Aspects,
    pub writes: bool,
    /// Leaves garbage.
    pub garbage: bool,
    pub unordered: bool,
    /// Declared or implied load operations of colour or depth, and of stencil.
    pub load: Load,
    pub stencil_load: Load,
    pub clear: Option<Clear>,
    pub resolves: Option<usize>,
    /// Flags that, while off, make it read another resource, in the order in which they are asked.
    pub fallbacks: Vec<StandIn>,
}

/// While a flag is off, readers of one resource get another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandIn {
    pub output: usize,
    pub flag: usize,
    pub input: usize,
}

impl JobUse {
    /// Whether what was in a cell of this aspect matters to the job.
    pub(crate) fn keeps_aspect(&self, aspect: Aspects) -> bool {
        self.keeps.contains(if aspect.is_empty() { Aspects::COLOR } else { aspect })
    }

    /// The load operation for a cell of this aspect.
    pub(crate) fn load_of(&self, aspect: Aspects) -> Load {
        if aspect == Aspects::STENCIL { self.stencil_load } else { self.load }
    }
}

/// A pass of the declaration, or one that it demands without naming it.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub name: String,
    /// Position in the flattened declaration.
    pub declared: Option<usize>,
    /// What inserted jobs do.
    pub inserted: Option<Inserted>,
    pub position: u32,
    pub step: u32,
    pub uses: Vec<JobUse>,
    /// The flag that switches it.
    pub flag: Option<usize>,
    pub queue: PassQueue,
    /// It runs whether or not anybody reads what it writes.
    pub pinned: bool,
}

/// Work that the declaration demands without naming it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inserted {
    /// Fills one mip level from the one before, at the end of the declared pass `owner`.
    Mips { owner: usize, resource: usize, level: u32 },
    /// Fills a resource from the one of another size that it modifies.
    Scaled { from: usize, to: usize },
}

/// An access to a cell, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellUse {
    pub key: Key,
    pub job: usize,
    pub at: usize,
    /// Neighbouring unordered accesses have one group; 0: none.
    pub group: u32,
}

/// The declaration, worked out.
pub(crate) struct Facts<'g> {
    pub graph: &'g Graph,
    pub shapes: Vec<Shape>,
    /// The first name of the memory that a resource is in; that of what it remembers, for histories.
    pub memory: Vec<usize>,
    /// Position of a name among the names of its memory.
    pub chain: Vec<u32>,
    /// Frames ago, for histories.
    pub frames_ago: Vec<u32>,
    /// By memory: its names, histories aside.
    pub names_of: Vec<Vec<usize>>,
    /// By memory: how many copies take turns.
    pub ring: Vec<u32>,
    /// By memory: its cells.
    pub grids: Vec<Grid>,
    pub jobs: Vec<Job>,
    /// By memory and cell: accesses of this frame's copy, in order.
    pub order: Vec<Vec<Vec<CellUse>>>,
    /// By memory and cell: the writes alone.
    pub writers: Vec<Vec<Vec<CellUse>>>,
    /// By memory: whether it keeps contents from frame to frame by declaration.
    pub persistent: Vec<bool>,
    /// By memory: whether it outlives the frame, so that its first and last states are edges.
    pub edged: Vec<bool>,
    /// By memory: whether it holds something before anything is written.
    pub filled: Vec<bool>,
    /// Jobs that must run.
    pub needed: Vec<bool>,
}

impl<'g> Facts<'g> {
    /// Works out a flattened graph. `plan`'s barriers cut cells too, where one is given.
    pub(crate) fn new(graph: &'g Graph, plan: Option<&Plan>) -> Self {
        let shapes = shapes(graph);
        let count = shapes.len();
        let (memory, chain, scaled) = memories(graph, &shapes);
        let mut frames_ago = vec![0; count];
        let mut ring = vec![1; count];
        let mut memory_of = memory.clone();
        for (id, resource) in graph.resources().iter_ids() {
            if let Life::History(history) = resource.life {
                let at = id.index();
                let base = memory.get(history.of.index()).copied().unwrap_or(at);
                if base != at && history.frames <= 64 {
                    memory_of[at] = base;
                    frames_ago[at] = history.frames.max(1);
                    ring[base] = ring[base].max(history.frames.max(1) + 1);
                }
            }
        }
        let mut names_of = vec![Vec::new(); count];
        for name in (0..count).filter(|name| frames_ago[*name] == 0) {
            names_of[memory_of[name]].push(name);
        }
        let mut persistent = vec![false; count];
        let mut filled = vec![false; count];
        let mut edged: Vec<bool> = ring.iter().map(|copies| *copies > 1).collect();
        for (id, resource) in graph.resources().iter_ids() {
            persistent[memory[id.index()]] |= resource.life == Life::Persistent;
            edged[memory_of[id.index()]] |= resource.life != Life::Transient;
            filled[memory[id.index()]] |= match resource.life {
                Life::Transient | Life::History(_) => false,
                Life::Imported(imported) => imported.defined,
                Life::Persistent => true,
            };
        }
        let mut facts = Self {
            graph,
            shapes,
            memory: memory_of,
            chain,
            frames_ago,
            names_of,
            ring,
            grids: Vec::new(),
            jobs: Vec::new(),
            order: Vec::new(),
            writers: Vec::new(),
            persistent,
            edged,
            filled,
            needed: Vec::new(),
        };
        facts.declare_jobs();
        facts.insert_jobs(&scaled);
        facts.cut(plan);
        facts.sort_accesses();
        facts.find_loads();
        facts.find_fallbacks();
        facts.find_needed();
        facts
    }

    /// All names of a memory, histories aside.
    pub(crate) fn names(&self, memory: usize) -> impl Iterator<Item = usize> + '_ {
        self.names_of[memory].iter().copied()
    }

    pub(crate) fn name(&self, resource: usize) -> &'g str {
        self.graph.resource_name(ResourceId::new(resource))
    }

    /// The resource that a use is of while the flags are so.
    pub(crate) fn effective(&self, at: &JobUse, flags: &[bool]) -> usize {
        // What stands in may itself be the output of a pass that is switched off.
        let mut resource = at.resource;
        for _ in 0..at.fallbacks.len() {
            let off = |stand_in: &&StandIn| stand_in.output == resource && !flags[stand_in.flag];
            let Some(stand_in) = at.fallbacks.iter().find(off) else { break };
            resource = stand_in.input;
        }
        resource
    }

    /// The cells of a use, in the resource that it is of while the flags are so.
    pub(crate) fn effective_cells(&self, at: &JobUse, flags: &[bool]) -> (usize, Vec<usize>) {
        let resource = self.effective(at, flags);
        if resource == at.resource {
            return (resource, at.cells.clone());
        }
        (resource, self.grids[self.memory[resource]].cells(&at.part))
    }

    /// Whether a job runs while the flags are so.
    pub(crate) fn runs(&self, job: usize, flags: &[bool]) -> bool {
        self.jobs[job].flag.is_none_or(|flag| flags[flag])
    }

    /// The order of a job's use at a cell, and the unordered group that it is in.
    pub(crate) fn key(&self, resource: usize, cell: usize, job: usize, at: usize) -> Option<(Key, u32)> {
        let job_use = &self.jobs[job].uses[at];
        if job_use.resource == resource {
            let number = job_use.cells.binary_search(&cell).ok()?;
            return job_use.keys.get(number).copied();
        }
        Some(((self.chain[resource], self.jobs[job].position, self.jobs[job].step), 0))
    }

    /// Whether all work that a cell's contents at the end of a frame come from is needed.
    pub(crate) fn is_kept(&self, memory: usize, cell: usize) -> bool {
        let mut writers = Vec::new();
        self.writers_before(memory, cell, (u32::MAX, u32::MAX, u32::MAX), usize::MAX, &mut writers);
        writers.into_iter().all(|job| self.needed[job])
    }

    /// Whether a use finds contents in a cell while the flags are so: of an earlier writer, or there from the start.
    pub(crate) fn finds(&self, resource: usize, cell: usize, key: Option<(Key, u32)>, flags: &[bool]) -> bool {
        if self.frames_ago[resource] > 0 {
            return true;
        }
        let memory = self.memory[resource];
        let writers = &self.writers[memory][cell];
        let before = key.map_or(writers.len(), |(key, _)| writers.partition_point(|u| u.key < key));
        let last = writers[..before].iter().rev().find(|u| self.runs(u.job, flags));
        last.map_or_else(|| self.filled[memory], |u| !self.jobs[u.job].uses[u.at].garbage)
    }

    fn declare_jobs(&mut self) {
        let graph = self.graph;
        let mut by_pass: Vec<Vec<&Access>> = vec![Vec::new(); graph.passes().len()];
        for access in graph.accesses() {
            if access.resource.index() < self.shapes.len() && access.pass.index() < by_pass.len() {
                by_pass[access.pass.index()].push(access);
            }
        }
        for (id, pass) in graph.passes().iter_ids() {
            let accesses = &by_pass[id.index()];
            let work = work(pass.queue, accesses.iter().map(|access| access.usage));
            let uses: Vec<_> = accesses.iter().map(|access| self.resolve(access, work)).collect();
            let presents = uses.iter().any(|at| at.usage == Usage::Present);
            self.jobs.push(Job {
                name: graph.pass_name(id).to_owned(),
                declared: Some(id.index()),
                inserted: None,
                position: id.index() as u32 + 1,
                step: 0,
                uses,
                flag: pass.conditional.map(Id::index),
                queue: pass.queue,
                pinned: pass.side_effects || presents,
            });
        }
    }

    fn resolve(&self, access: &Access, work: Work) -> JobUse {
        let usage = access.usage;
        let resource = access.resource.index();
        let shape = &self.shapes[resource];
        let said = self.graph.ranges_of(access);
        let details = self.graph.details_of(access);
        let one_mip =
            is_attachment(usage) || matches!(usage, Usage::StorageWrite | Usage::StorageReadWrite | Usage::TransferDst);
        let all_mips = if one_mip { [0, 1] } else { [0, shape.mips] };
        let clamp = |[first, end]: [u32; 2], most: u32| [first.min(most), end.min(most)];
        let part = if shape.is_image() {
            let aspects = if access.aspects.is_empty() { shape.aspects } else { access.aspects & shape.aspects };
            Part::image(
                clamp(said.mips.unwrap_or(all_mips), shape.mips),
                clamp(said.layers.unwrap_or([0, shape.layers]), shape.layers),
                aspects,
            )
        } else {
            let [first, end] = said.bytes.unwrap_or([0, shape.bytes]);
            Part::buffer([first.min(shape.bytes), end.min(shape.bytes)])
        };
        let discards = matches!(access.load, Some(Load::Discard | Load::Clear));
        let partial = matches!(usage, Usage::StorageWrite | Usage::TransferDst | Usage::HostWrite);
        let stages =
            if access.stages.is_empty() { default_stages(usage, work, access.transfer) } else { access.stages };
        JobUse {
            resource,
            usage,
            part,
            cells: Vec::new(),
            keys: Vec::new(),
            stages,
            transfer: access.transfer,
            must_read: matches!(
                usage,
                Usage::DepthStencilRead
                    | Usage::InputAttachment
                    | Usage::Sampled
                    | Usage::StorageRead
                    | Usage::StorageReadWrite
                    | Usage::Uniform
                    | Usage::Vertex
                    | Usage::Index
                    | Usage::Indirect
                    | Usage::TransferSrc
                    | Usage::HostRead
                    | Usage::Present
                    | Usage::AccelerationInput
                    | Usage::AccelerationUpdate
                    | Usage::AccelerationRead
            ),
            keeps: if partial && !discards { Aspects::all() } else { Aspects::empty() },
            writes: writes(usage),
            garbage: usage == Usage::AccelerationScratch,
            unordered: access.unordered,
            load: access.load.unwrap_or(Load::Discard),
            stencil_load: access.stencil_load.unwrap_or(Load::Discard),
            clear: details.clear,
            resolves: details.resolves.map(Id::index),
            fallbacks: Vec::new(),
        }
    }

    fn insert_jobs(&mut self, scaled: &[(usize, usize)]) {
        let blit = |resource: usize, part: Part, writes: bool| JobUse {
            resource,
            usage: if writes { Usage::TransferDst } else { Usage::TransferSrc },
            part,
            cells: Vec::new(),
            keys: Vec::new(),
            stages: Stages::BLIT,
            transfer: Some(Transfer::Blit),
            must_read: !writes,
            keeps: Aspects::empty(),
            writes,
            garbage: false,
            unordered: false,
            load: Load::Discard,
            stencil_load: Load::Discard,
            clear: None,
            resolves: None,
            fallbacks: Vec::new(),
        };
        for access in self.graph.accesses() {
            let (pass, resource) = (access.pass.index(), access.resource.index());
            if !access.generate_mips || pass >= self.graph.passes().len() || resource >= self.shapes.len() {
                continue;
            }
            let declared = &self.graph.passes()[PassId::new(pass)];
            let shape = self.shapes[resource];
            let said = self.graph.ranges_of(access);
            let first = said.mips.map_or(1, |[_, end]| end).max(1);
            let layers = said.layers.unwrap_or([0, shape.layers]);
            let aspects = if access.aspects.is_empty() { shape.aspects } else { access.aspects & shape.aspects };
            for level in first..shape.mips {
                let part = |mip: u32| Part::image([mip, mip + 1], layers.map(|layer| layer.min(shape.layers)), aspects);
                let name = format!("{}/mips/{}.{level}", self.graph.pass_name(access.pass), self.name(resource));
                self.jobs.push(Job {
                    name,
                    declared: None,
                    inserted: Some(Inserted::Mips { owner: pass, resource, level }),
                    position: pass as u32 + 1,
                    step: level,
                    uses: vec![blit(resource, part(level - 1), false), blit(resource, part(level), true)],
                    flag: declared.conditional.map(Id::index),
                    queue: PassQueue::Graphics,
                    pinned: false,
                });
            }
        }
        for &(from, to) in scaled {
            let part = |of: usize| {
                let shape = &self.shapes[of];
                Part::image([0, 1], [0, shape.layers], shape.aspects)
            };
            self.jobs.push(Job {
                name: format!("{} from {}", self.name(to), self.name(from)),
                declared: None,
                inserted: Some(Inserted::Scaled { from, to }),
                position: 0,
                step: 0,
                uses: vec![blit(from, part(from), false), blit(to, part(to), true)],
                flag: None,
                queue: PassQueue::Graphics,
                pinned: false,
            });
        }
    }

    fn cut(&mut self, plan: Option<&Plan>) {
        let mut grids: Vec<_> = self.shapes.iter().map(Grid::new).collect();
        for at in self.jobs.iter().flat_map(|job| &job.uses) {
            grids[self.memory[at.resource]].cut(&at.part);
            for fallback in self.graph.fallbacks() {
                if fallback.output.index() == at.resource && fallback.input.index() < self.memory.len() {
                    grids[self.memory[fallback.input.index()]].cut(&at.part);
                }
            }
        }
        if let Some(plan) = plan {
            let mut cut = |resource: ResourceId, part: Part| {
                if let Some(&memory) = self.memory.get(resource.index()) {
                    grids[memory].cut(&part);
                }
            };
            for barrier in &plan.image_barriers {
                cut(barrier.resource, Part::image(barrier.mips, barrier.layers, Aspects::all()));
            }
            for barrier in &plan.buffer_barriers {
                cut(barrier.resource, Part::buffer(barrier.range));
            }
            for edge in &plan.edges {
                let part = Part { mips: edge.mips, layers: edge.layers, aspects: Aspects::all(), bytes: edge.range };
                cut(edge.resource, part);
            }
        }
        grids.iter_mut().for_each(Grid::finish);
        for job in &mut self.jobs {
            for at in &mut job.uses {
                at.cells = grids[self.memory[at.resource]].cells(&at.part);
            }
        }
        self.grids = grids;
    }

    fn sort_accesses(&mut self) {
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

    /// Load operations that are not said: `discard` where nothing was there, else `load`.
    fn find_loads(&mut self) {
        let mut written: Vec<(usize, usize, Aspects)> = Vec::new();
        for (memory, cells) in self.order.iter().enumerate() {
            for (cell, uses) in cells.iter().enumerate() {
                let first = uses.iter().find(|u| self.jobs[u.job].uses[u.at].writes).map(|u| u.key);
                for u in uses {
                    let at = &self.jobs[u.job].uses[u.at];
                    let resource = &self.graph.resources()[ResourceId::new(at.resource)];
                    let kept = match resource.life {
                        Life::Transient => resource.modifies.is_some(),
                        Life::Imported(imported) => imported.defined || resource.modifies.is_some(),
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
            if access.resource.index() < self.shapes.len() && access.pass.index() < said.len() {
                said[access.pass.index()].push((access.load, access.stencil_load));
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

    fn find_fallbacks(&mut self) {
        let mut known = Vec::new();
        for fallback in self.graph.fallbacks() {
            let (pass, output, input) = (fallback.pass.index(), fallback.output.index(), fallback.input.index());
            if pass >= self.graph.passes().len() || output >= self.memory.len() || input >= self.memory.len() {
                continue;
            }
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
                    for &(pass, stand_in) in known.iter().filter(|(_, stand_in)| stand_in.output == output) {
                        let after = match output == at.resource {
                            true => self.follows(pass, index, number),
                            false => self.jobs[pass].position < job.position,
                        };
                        if after && !outputs.contains(&stand_in.input) {
                            outputs.push(stand_in.input);
                            found.push((index, number, stand_in));
                        }
                    }
                }
            }
        }
        for (job, at, stand_in) in found {
            let input = stand_in.input;
            self.jobs[job].uses[at].fallbacks.push(stand_in);
            if self.frames_ago[input] > 0 {
                continue;
            }
            let memory = self.memory[input];
            let key = (self.chain[input], self.jobs[job].position, self.jobs[job].step);
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
            self.writers[memory][cell].iter().any(|u| u.job == pass && own.is_some_and(|(key, _)| u.key < key))
        })
    }

    fn find_needed(&mut self) {
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
    fn writers_before(&self, memory: usize, cell: usize, key: Key, reader: usize, work: &mut Vec<usize>) {
        let writers = &self.writers[memory][cell];
        let mut from = key;
        for lap in 0..2 {
            let before = writers.partition_point(|u| u.key < from);
            for u in writers[..before].iter().rev().filter(|u| u.job != reader) {
                let job = &self.jobs[u.job];
                let at = &job.uses[u.at];
                work.push(u.job);
                let whole = !at.must_read && !at.keeps_aspect(self.grids[memory].aspect(cell));
                if whole && job.flag.is_none() {
                    return;
                }
            }
            // What persists is what the end of the frame before left.
            if !self.persistent[memory] || lap > 0 {
                return;
            }
            from = (u32::MAX, u32::MAX, u32::MAX);
        }
    }
}

/// Whether a usage writes.
pub(crate) fn writes(usage: Usage) -> bool {
    matches!(
        usage,
        Usage::ColorAttachment
            | Usage::DepthStencilAttachment
            | Usage::ResolveAttachment
            | Usage::StorageWrite
            | Usage::StorageReadWrite
            | Usage::TransferDst
            | Usage::HostWrite
            | Usage::AccelerationBuild
            | Usage::AccelerationUpdate
            | Usage::AccelerationScratch
    )
}

/// Memory and position in its chain of names, for each resource, and `modifies` of another size.
#[allow(clippy::type_complexity, reason = "three parallel results of one walk")]
fn memories(graph: &Graph, shapes: &[Shape]) -> (Vec<usize>, Vec<u32>, Vec<(usize, usize)>) {
    let mut memory: Vec<usize> = (0..shapes.len()).collect();
    let mut chain = vec![0; shapes.len()];
    let mut scaled = Vec::new();
    for (id, resource) in graph.resources().iter_ids() {
        let (mut at, mut steps) = (id.index(), 0);
        while let Some(base) = graph.resources()[ResourceId::new(at)].modifies.map(Id::index) {
            if base >= shapes.len() || shapes[base].size != shapes[at].size || steps > shapes.len() as u32 {
                break;
            }
            at = base;
            steps += 1;
        }
        memory[id.index()] = at;
        chain[id.index()] = steps;
        if let Some(base) = resource.modifies.map(Id::index)
            && base < shapes.len()
            && shapes[base].size != shapes[id.index()].size
        {
            scaled.push((base, id.index()));
        }
    }
    (memory, chain, scaled)
}
