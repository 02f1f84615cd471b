//! Frames computed here, serially, in declared order, word by word of every cell: what a driver must arrive at.

use std::collections::BTreeMap;

use rgraph_check::serial::{Operation, OperationKind as What, Serial};
use rgraph_plan::access::{Aspects, Load, Usage};
use rgraph_plan::graph::{Clear, FlagId, Graph, PassId};
use rgraph_plan::id::Id;
use rgraph_plan::resource::{Life, ResourceId};
use rgraph_vk::{Target, TargetChange};

use super::operation::{From, How, Mode, PassOperation, Via, Write, cells, pattern_word};
use super::shape::{Shape, Spot, index};
use super::words::{Class, mix, named};

/// Arguments of a pass in a run.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// What its hash starts from.
    pub salt: u32,
    /// Which cells of each read hold something.
    pub known: Vec<u128>,
}

/// Clear values of a run.
pub type Cleared = BTreeMap<(PassId, Target), Clear>;

/// Draws that reach the left halves of their targets only, and the size of these.
pub type Halved = BTreeMap<PassId, [u32; 2]>;

/// A run: what it is given, and what it must leave.
#[derive(Clone, Debug)]
pub struct Run {
    pub flags: Vec<bool>,
    /// Imported resources that are uploaded, and the version.
    pub uploads: Vec<(ResourceId, u32)>,
    /// Attachments that are cleared to other values, or in the place of a load.
    pub cleared: Cleared,
    /// Draws with another viewport.
    pub halved: Halved,
    /// By pass; of those that are off as well.
    pub arguments: BTreeMap<usize, Arguments>,
    /// Cells of the roots.
    pub roots: Vec<(ResourceId, Vec<Option<u32>>)>,
    /// Whether imported resources that passes write hold nothing undefined.
    pub imports_defined: bool,
}

impl Run {
    /// Its clear values and viewports.
    pub fn targets(&self) -> Vec<(PassId, TargetChange)> {
        let clears = self.cleared.iter().map(|(&(pass, target), &value)| (pass, TargetChange::Clear(target, value)));
        let left = |&[width, height]: &[u32; 2]| [0.0, 0.0, (width / 2) as f32, height as f32];
        clears.chain(self.halved.iter().map(|(pass, size)| (*pass, TargetChange::Viewport(left(size))))).collect()
    }
}

/// The word of a cell of an upload.
pub fn uploaded(resource: ResourceId, cell: usize, version: u32, class: Class) -> u32 {
    class.word(named("upload", &[index(resource) as u32, cell as u32, version]))
}

/// Depth thresholds of draws that are only tested: a quarter, a half, three quarters.
pub fn threshold(step: u32) -> u32 {
    step * 16384
}

/// All contents, and who computes on them.
pub struct Evaluator<'a> {
    pub graph: &'a Graph,
    pub shapes: &'a [Shape],
    pub serial: &'a Serial,
    pub operations: &'a [Option<PassOperation>],
    /// By memory, copy, cell.
    cells: Vec<Vec<Vec<Option<u32>>>>,
    run: u32,
    cleared: Cleared,
    halved: Halved,
}

impl<'a> Evaluator<'a> {
    /// Before the first run.
    pub fn new(
        graph: &'a Graph,
        shapes: &'a [Shape],
        serial: &'a Serial,
        operations: &'a [Option<PassOperation>],
    ) -> Self {
        let cells = graph.resources().iter_ids().map(|(id, resource)| {
            let shape = &shapes[index(id)];
            let start = (resource.life == Life::Persistent).then_some(0);
            let there = |cell: usize| start.filter(|_| shape.is_there(cell));
            vec![(0..shape.cells()).map(there).collect(); serial.copies[index(id)] as usize]
        });
        let cells = cells.collect();
        Self { graph, shapes, serial, operations, cells, run: 0, cleared: Cleared::new(), halved: Halved::new() }
    }

    fn place(&self, resource: ResourceId) -> (usize, usize) {
        let memory = index(self.serial.memory[index(resource)]);
        let copies = self.serial.copies[memory];
        let copy = (self.run + copies * 64 - self.serial.frames_ago[index(resource)]) % copies;
        (memory, copy as usize)
    }

    fn get(&self, resource: ResourceId, cell: usize) -> Option<u32> {
        let (memory, copy) = self.place(resource);
        if let Life::History(history) = self.graph.resources()[resource].life
            && self.run < history.frames
        {
            return (history.zero_first && self.shapes[index(resource)].is_there(cell)).then_some(0);
        }
        self.cells[memory][copy][cell]
    }

    fn set(&mut self, resource: ResourceId, cell: usize, word: Option<u32>) {
        let (memory, copy) = self.place(resource);
        self.cells[memory][copy][cell] = word.filter(|_| self.shapes[index(resource)].is_there(cell));
    }

    /// The next run.
    pub fn run(&mut self, flags: &[bool], uploads: &[(ResourceId, u32)], cleared: Cleared, halved: Halved) -> Run {
        (self.cleared, self.halved) = (cleared, halved);
        for (id, resource) in self.graph.resources().iter_ids() {
            let kept = match resource.life {
                Life::Persistent | Life::History(_) => true,
                Life::Imported(imported) => imported.defined,
                Life::Transient | Life::Fresh => false,
            };
            if !kept && self.serial.memory[index(id)] == id {
                let (memory, copy) = self.place(id);
                self.cells[memory][copy].fill(None);
            }
        }
        for &(id, version) in uploads {
            for cell in 0..self.shapes[index(id)].cells() {
                let shape = &self.shapes[index(id)];
                let word = uploaded(id, cell, version, shape.class(cell));
                // Uploads fill the first mip.
                let filled = !shape.is_image() || shape.spot(cell).mip == 0;
                self.set(id, cell, filled.then_some(word));
            }
        }
        let mut arguments = BTreeMap::new();
        let serial = self.serial;
        for step in &serial.steps {
            let on = step.flag.is_none_or(|flag| flags[flag.index()]);
            match step.what {
                What::Pass(pass) => {
                    let Some(operation) = &self.operations[pass.index()] else { continue };
                    arguments.insert(pass.index(), self.pass(step, operation, flags, on));
                }
                What::Mips { .. } | What::Scaled { .. } if on => self.blit(step),
                _ => {}
            }
        }
        let roots = self.graph.roots().iter().map(|&root| {
            let all = 0..self.shapes[index(root)].cells();
            (root, all.map(|cell| self.get(root, cell)).collect())
        });
        let roots = roots.collect();
        let written = serial.steps.iter().flat_map(|step| &step.uses).filter(|access| access.writes);
        let imports_defined = written.map(|access| access.resource).all(|resource| self.import_is_defined(resource));
        self.run += 1;
        let (cleared, halved) = (self.cleared.clone(), self.halved.clone());
        Run { flags: flags.to_vec(), uploads: uploads.to_vec(), cleared, halved, arguments, roots, imports_defined }
    }

    /// Whether a resource is no name of an imported one, or no part of that is undefined.
    fn import_is_defined(&self, resource: ResourceId) -> bool {
        let imported = self.serial.memory[index(resource)];
        let shape = &self.shapes[index(imported)];
        let mut there = (0..shape.cells()).filter(|&cell| shape.is_there(cell));
        !matches!(self.graph.resources()[imported].life, Life::Imported(_))
            || there.all(|cell| self.get(imported, cell).is_some())
    }

    /// Mips and scaled contents: halves stay halves.
    fn blit(&mut self, step: &Operation) {
        let (from, to) = (&step.uses[0], &step.uses[1]);
        let list = |resource: ResourceId, mips, layers| {
            let shape = &self.shapes[index(resource)];
            cells(shape, mips, layers, [0, 0], shape.aspects[0])
        };
        let pairs: Vec<_> = list(from.resource, from.mips, from.layers)
            .into_iter()
            .zip(list(to.resource, to.mips, to.layers))
            .map(|(a, b)| (b, self.get(from.resource, a)))
            .collect();
        for (cell, word) in pairs {
            self.set(to.resource, cell, word);
        }
    }

    fn pass(&mut self, step: &Operation, operation: &PassOperation, flags: &[bool], on: bool) -> Arguments {
        let salt = mix(operation.salt, self.run);
        let mut hash = salt;
        let mut known = Vec::new();
        // What fragments of the left and of the right half find in input attachments.
        let mut inputs = [Vec::new(), Vec::new()];
        for read in &operation.reads {
            let resource = step.uses[read.at].effective(|flag: FlagId| flags[flag.index()]);
            let mut mask = 0;
            for (bit, &cell) in read.cells.iter().enumerate() {
                if let Some(word) = self.get(resource, cell) {
                    mask |= 1 << bit;
                    if read.via == Via::Input {
                        inputs[bit].push(word);
                    } else {
                        hash = mix(hash, word);
                    }
                }
            }
            known.push(mask);
        }
        let arguments = Arguments { salt, known };
        if !on {
            return arguments;
        }
        let moved: Vec<_> = operation
            .moves
            .iter()
            .map(|one| {
                let word = match one.from {
                    From::Copy(at, cell) | From::Resolve(at, cell) => self.get(step.uses[at].resource, cell),
                    From::Pattern(block, _) => Some(pattern_word(block)),
                    From::Word(word) => Some(word),
                };
                (one.to, one.cell, word)
            })
            .collect();
        self.load(step, operation);
        for write in &operation.writes {
            self.write(step, operation, write, hash, &inputs);
        }
        for (to, cell, word) in moved {
            self.set(step.uses[to].resource, cell, word);
        }
        for access in step.uses.iter().filter(|access| access.usage == Usage::ResolveAttachment) {
            let Some(from) = access.resolves else { continue };
            for cell in cells(&self.shapes[index(access.resource)], access.mips, access.layers, [0, 0], Aspects::COLOR)
            {
                let word = self.get(from, cell);
                self.set(access.resource, cell, word);
            }
        }
        arguments
    }

    /// What is there before a pass writes: load operations, and contents that nobody keeps.
    fn load(&mut self, step: &Operation, operation: &PassOperation) {
        let mut colors = 0;
        for access in step.uses.iter().filter(|access| access.writes && access.usage != Usage::StorageReadWrite) {
            let target = match access.usage {
                Usage::ColorAttachment => Target::Color(colors),
                _ => Target::Depth,
            };
            colors += u32::from(access.usage == Usage::ColorAttachment);
            let shapes = self.shapes;
            let shape = &shapes[index(access.resource)];
            let attachment = matches!(access.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment);
            if !attachment {
                if !access.keeps {
                    let list = cells(shape, access.mips, access.layers, access.bytes, access.aspects);
                    list.into_iter().for_each(|cell| self.set(access.resource, cell, None));
                }
                continue;
            }
            for (at, &aspect) in shape.aspects.iter().enumerate().filter(|(_, one)| access.aspects.contains(**one)) {
                let stencil = aspect == Aspects::STENCIL;
                let declared = if stencil { access.stencil_load } else { access.load };
                let changed = match step.what {
                    What::Pass(pass) => self.cleared.get(&(pass, target)).copied(),
                    _ => None,
                };
                // In the place of a load all is cleared that the pass writes.
                let load = if changed.is_some() && access.load != Load::Clear { Load::Clear } else { declared };
                let loaded = match (load, changed.or(access.clear)) {
                    (Load::Load, _) => None,
                    (Load::Discard, _) => Some(None),
                    (Load::Clear, Some(Clear::Color(color))) => Some(Some(color[0] as u32)),
                    (Load::Clear, Some(Clear::Depth(depth, _))) if !stencil => {
                        Some(Some((depth * 65535.0).round() as u32))
                    }
                    (Load::Clear, Some(Clear::Depth(_, word))) => Some(Some(word.unwrap_or(0))),
                    (Load::Clear, None) => Some(Some(0)),
                };
                for cell in cells(shape, access.mips, access.layers, [0, 0], aspect) {
                    if let Some(word) = loaded {
                        self.set(access.resource, cell, word);
                    }
                }
                if let (true, How::Raster { half, stencil, .. }) = (stencil, operation.how) {
                    let half = half || self.halved.contains_key(&operation.pass);
                    for half in 0..if half { 1 } else { 2 } {
                        let spot = Spot { mip: access.mips[0], layer: access.layers[0], aspect: at, half };
                        self.set(access.resource, shape.cell(spot), Some(stencil));
                    }
                }
            }
        }
    }

    fn write(&mut self, step: &Operation, operation: &PassOperation, write: &Write, hash: u32, inputs: &[Vec<u32>; 2]) {
        let resource = step.uses[write.at].resource;
        let shapes = self.shapes;
        let shape = &shapes[index(resource)];
        let hash = mix(hash, write.key);
        let half = matches!(operation.how, How::Raster { .. }) && self.halved.contains_key(&operation.pass);
        for &(cell, local) in write.cells.iter().filter(|(cell, _)| !half || shape.spot(*cell).half == 0) {
            let class = shape.class(cell);
            let mut new = mix(hash, local);
            let old = self.get(resource, cell);
            let word = match (write.mode, operation.how) {
                (Mode::Add, _) => old.map(|old| old.wrapping_add(new)),
                (Mode::Mix, _) => old.map(|old| class.word(mix(new, old))),
                (Mode::Set, How::Raster { tested, .. }) => {
                    let passed = match tested {
                        Some(at) => self.tested(step, at, shape.spot(cell).half),
                        None => Some(0),
                    };
                    passed.map(|passed| {
                        new = mix(new, passed);
                        new = inputs[shape.spot(cell).half as usize].iter().fold(new, |new, word| mix(new, *word));
                        class.word(new)
                    })
                }
                (Mode::Set, _) => Some(class.word(new)),
            };
            self.set(resource, cell, word);
        }
    }

    /// The first threshold that a depth is not above; 0 if it is above all.
    fn tested(&self, step: &Operation, at: usize, half: u32) -> Option<u32> {
        let access = &step.uses[at];
        let shape = &self.shapes[index(access.resource)];
        let depth = self
            .get(access.resource, shape.cell(Spot { mip: access.mips[0], layer: access.layers[0], aspect: 0, half }))?;
        Some((1..=3).find(|step| depth <= threshold(*step)).unwrap_or(0))
    }
}
