//! What each pass does, cell by cell: read by those who compute it here and by those who make shaders and commands of
//! it.

use rgraph_check::serial::{Operation, OperationKind as What, ResolvedAccess, Serial};
use rgraph_plan::access::{Aspects, Load, PassQueue, Stages, Transfer, Usage};
use rgraph_plan::graph::{Access, Graph, PassId};
use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;

use super::adapt::{Adapted, BLOCKS, copies};
use super::shape::{CELL, Shape, Spot, index};
use super::words::{Class, named};

/// What a pass does.
#[derive(Clone, Debug)]
pub struct PassOperation {
    pub pass: PassId,
    pub name: String,
    pub salt: u32,
    pub how: How,
    /// In the order in which they are folded.
    pub reads: Vec<Read>,
    pub writes: Vec<Write>,
    pub moves: Vec<Move>,
    /// Rounds of work that change nothing, so that a pass takes long.
    pub loops: u32,
    /// Accesses that nothing is done with.
    pub idle: u32,
}

/// By what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Compute,
    Raster {
        /// Of the targets.
        size: [u32; 2],
        /// Only the left half is drawn.
        half: bool,
        /// The access that is tested against and not written.
        tested: Option<usize>,
        /// The reference that stencil is set to.
        stencil: u32,
    },
    Host,
    Transfer,
}

/// Cells that are folded into the hash.
#[derive(Clone, Debug)]
pub struct Read {
    /// Position among the pass's accesses.
    pub at: usize,
    pub via: Via,
    /// In the vertex stage.
    pub vertex: bool,
    pub mips: [u32; 2],
    pub layers: [u32; 2],
    pub bytes: [u64; 2],
    pub aspect: Aspects,
    /// Bit by bit of the mask.
    pub cells: Vec<usize>,
}

/// How a read reaches a shader.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Via {
    Uniform,
    Storage,
    Sampled,
    Image,
    /// Texel by texel: the half that a fragment is in.
    Input,
    Vertex,
    Host,
}

/// One level of an image, or a buffer, that gets hashes.
#[derive(Clone, Debug)]
pub struct Write {
    pub at: usize,
    pub key: u32,
    pub mode: Mode,
    pub mip: u32,
    pub layers: [u32; 2],
    pub bytes: [u64; 2],
    pub aspect: Aspects,
    /// Cells, and what is mixed in for each.
    pub cells: Vec<(usize, u32)>,
    /// Whether right halves are left alone.
    pub half: bool,
}

/// How a write goes with what was there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    Set,
    /// What was there is mixed in.
    Mix,
    /// It is added to what was there.
    Add,
}

/// A cell that a command fills.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub to: usize,
    pub cell: usize,
    pub from: From,
}

/// From where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum From {
    /// Access and cell.
    Copy(usize, usize),
    /// A block of the pattern, of that class.
    Pattern(u32, Class),
    /// `vkCmdFillBuffer` or a clear of the whole access.
    Word(u32),
    /// Samples become one.
    Resolve(usize, usize),
}

/// The word of a block of the pattern.
pub fn pattern_word(block: u32) -> u32 {
    let class = if block < BLOCKS / 2 { Class::Uint } else { Class::Float };
    class.word(named("pattern", &[block]))
}

/// The cells of an access of one aspect, mip by mip, layer by layer, half by half.
pub fn cells(shape: &Shape, mips: [u32; 2], layers: [u32; 2], bytes: [u64; 2], aspect: Aspects) -> Vec<usize> {
    if !shape.is_image() {
        return ((bytes[0] / CELL) as usize..bytes[1].div_ceil(CELL) as usize).collect();
    }
    let aspect = shape.aspects.iter().position(|one| *one == aspect).unwrap_or(0);
    let mut out = Vec::new();
    for mip in mips[0]..mips[1] {
        for layer in layers[0]..layers[1] {
            out.extend([0, 1].map(|half| shape.cell(Spot { mip, layer, aspect, half })));
        }
    }
    out
}

/// The operations of all passes, by pass.
pub fn operations(adapted: &Adapted, serial: &Serial, seed: u64) -> Vec<Option<PassOperation>> {
    let mut operations = vec![None; adapted.graph.passes().len()];
    for step in &serial.steps {
        if let What::Pass(pass) = step.what {
            let accesses: Vec<&Access> = adapted.graph.accesses().iter().filter(|access| access.pass == pass).collect();
            let maker = Maker { graph: &adapted.graph, shapes: &adapted.shapes, accesses, step, pass, seed };
            operations[pass.index()] = Some(maker.operation(adapted.pattern));
        }
    }
    operations
}

struct Maker<'a> {
    graph: &'a Graph,
    shapes: &'a [Shape],
    accesses: Vec<&'a Access>,
    step: &'a Operation,
    pass: PassId,
    seed: u64,
}

impl Maker<'_> {
    fn shape(&self, resource: ResourceId) -> &Shape {
        &self.shapes[index(resource)]
    }

    fn chance(&self, what: &str, at: usize, part: u32, whole: u32) -> bool {
        named(what, &[self.seed as u32, self.pass.index() as u32, at as u32]) % whole < part
    }

    fn operation(&self, pattern: Option<ResourceId>) -> PassOperation {
        let name = self.graph.pass_name(self.pass).to_owned();
        let salt = named(&name, &[]);
        let queue = self.graph.passes()[self.pass].queue;
        let how = self.how(queue, salt);
        let loops = if self.chance("slow", 0, 1, 4) { 40 + salt % 160 } else { 0 };
        let mut operation = PassOperation {
            pass: self.pass,
            name,
            salt,
            how,
            reads: Vec::new(),
            writes: Vec::new(),
            moves: Vec::new(),
            loops,
            idle: 0,
        };
        for (at, access) in self.step.uses.iter().enumerate() {
            self.add_reads(at, access, how, &mut operation);
            self.add_writes(at, access, how, &mut operation);
        }
        // One order for everybody; stages first, and alike reads together, so that programs are shared.
        operation.reads.sort_by_key(|read| (!read.vertex, read.via != Via::Vertex, read.via, read.at));
        self.add_moves(pattern, &mut operation);
        let has = |at: usize| {
            operation.reads.iter().any(|read| read.at == at)
                || operation.writes.iter().any(|write| write.at == at)
                || operation
                    .moves
                    .iter()
                    .any(|one| one.to == at || matches!(one.from, From::Copy(of, _) | From::Resolve(of, _) if of == at))
                || matches!(how, How::Raster { tested, .. } if tested == Some(at))
                || self.step.uses[at].usage == Usage::ResolveAttachment
                || Some(self.step.uses[at].resource) == pattern
        };
        operation.idle = (0..self.step.uses.len()).filter(|at| !has(*at)).count() as u32;
        if operation.how == How::Compute && operation.writes.is_empty() {
            operation.how = How::Transfer;
        }
        operation
    }

    fn how(&self, queue: PassQueue, salt: u32) -> How {
        let attached = |access: &&ResolvedAccess| {
            matches!(access.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment | Usage::DepthStencilRead)
        };
        let mut attachments = self.step.uses.iter().filter(attached);
        if queue == PassQueue::Cpu {
            return How::Host;
        }
        let Some(first) = attachments.next() else { return How::Compute };
        let level = self.shape(first.resource).level(first.mips[0]);
        let keeps = self.step.uses.iter().any(|access| attached(&access) && access.load != Load::Discard);
        How::Raster {
            size: [level[0], level[1]],
            half: keeps && level[0] > 1 && self.chance("half", 0, 1, 3),
            tested: self
                .step
                .uses
                .iter()
                .position(|access| access.usage == Usage::DepthStencilRead && access.aspects.contains(Aspects::DEPTH)),
            stencil: Class::Stencil.word(salt),
        }
    }

    fn add_reads(&self, at: usize, access: &ResolvedAccess, how: How, operation: &mut PassOperation) {
        let shape = self.shape(access.resource);
        let via = match access.usage {
            Usage::HostRead => Via::Host,
            Usage::Uniform => Via::Uniform,
            Usage::Vertex => Via::Vertex,
            Usage::StorageRead if !shape.is_image() => Via::Storage,
            Usage::StorageRead => Via::Image,
            Usage::Sampled => Via::Sampled,
            Usage::InputAttachment => Via::Input,
            _ => return,
        };
        let aspect = if shape.is_image() {
            shape.aspects.iter().copied().find(|aspect| access.aspects.contains(*aspect)).unwrap_or(shape.aspects[0])
        } else {
            Aspects::empty()
        };
        if via == Via::Input {
            // Draws reach the first layer.
            let layers = [access.layers[0], access.layers[0] + 1];
            let cells = cells(shape, access.mips, layers, access.bytes, aspect);
            operation.reads.push(Read {
                at,
                via,
                vertex: false,
                mips: access.mips,
                layers,
                bytes: access.bytes,
                aspect,
                cells,
            });
            return;
        }
        let stages = self.accesses[at].stages;
        let raster = matches!(how, How::Raster { .. });
        let vertex = raster && (stages.contains(Stages::VERTEX_SHADER) || via == Via::Vertex);
        let fragment = !raster || via != Via::Vertex && (stages.is_empty() || stages.contains(Stages::FRAGMENT_SHADER));
        let levels: Vec<[u32; 2]> = match via {
            // A storage image is one level.
            Via::Image => (access.mips[0]..access.mips[1]).map(|mip| [mip, mip + 1]).collect(),
            _ => vec![access.mips],
        };
        for (stage, wanted) in [(true, vertex), (false, fragment)] {
            for &mips in levels.iter().filter(|_| wanted) {
                let (layers, bytes) = (access.layers, access.bytes);
                let cells = cells(shape, mips, layers, bytes, aspect);
                operation.reads.push(Read { at, via, vertex: stage, mips, layers, bytes, aspect, cells });
            }
        }
    }

    fn add_writes(&self, at: usize, access: &ResolvedAccess, how: How, operation: &mut PassOperation) {
        let shape = self.shape(access.resource);
        let key = named(&operation.name, &[at as u32, 1]);
        let mode = match access.usage {
            Usage::StorageWrite | Usage::HostWrite | Usage::ColorAttachment | Usage::DepthStencilAttachment => {
                Mode::Set
            }
            Usage::StorageReadWrite if access.unordered => Mode::Add,
            Usage::StorageReadWrite => Mode::Mix,
            _ => return,
        };
        // Stencil alone gets its reference, which is no write of a shader.
        if access.usage == Usage::DepthStencilAttachment && !access.aspects.contains(Aspects::DEPTH) {
            return;
        }
        let half = match how {
            How::Raster { half, .. } => half,
            _ => access.keeps && mode != Mode::Add && self.chance("part", at, 1, 2),
        };
        let bytes = access.bytes;
        if !shape.is_image() {
            let first = (bytes[0] / CELL) as usize;
            let list = cells(shape, [0, 1], [0, 1], bytes, Aspects::empty());
            // Of buffers, every other cell is left alone.
            let list = list.into_iter().map(|cell| (cell, (cell - first) as u32));
            let list = list.filter(|(_, local)| !half || local % 2 == 0 || list_is_short(bytes)).collect();
            let (mip, layers, aspect) = (0, [0, 1], Aspects::empty());
            operation.writes.push(Write { at, key, mode, mip, layers, bytes, aspect, cells: list, half });
            return;
        }
        let raster = matches!(how, How::Raster { .. });
        let aspect = shape.aspects[0];
        let aspect_at = 0;
        // Draws reach the first layer.
        let layers = if raster { [access.layers[0], access.layers[0] + 1] } else { access.layers };
        for mip in access.mips[0]..access.mips[1] {
            let key = named("level", &[key, mip]);
            let half = half && shape.level(mip)[0] > 1;
            let mut list = Vec::new();
            for layer in layers[0]..layers[1] {
                for side in 0..if half { 1 } else { 2 } {
                    let cell = shape.cell(Spot { mip, layer, aspect: aspect_at, half: side });
                    list.push((cell, (layer - layers[0]) * 2 + side));
                }
            }
            operation.writes.push(Write { at, key, mode, mip, layers, bytes, aspect, cells: list, half });
        }
    }

    fn add_moves(&self, pattern: Option<ResourceId>, operation: &mut PassOperation) {
        let sources: Vec<(usize, &ResolvedAccess)> = self
            .step
            .uses
            .iter()
            .enumerate()
            .filter(|(_, access)| access.usage == Usage::TransferSrc && Some(access.resource) != pattern)
            .collect();
        let mut next = 0;
        for (to, access) in self.step.uses.iter().enumerate().filter(|(_, access)| access.usage == Usage::TransferDst) {
            let shape = self.shape(access.resource);
            let aspect = shape.aspects.first().copied().unwrap_or(Aspects::empty());
            let all = cells(shape, access.mips, access.layers, access.bytes, aspect);
            let class = shape.class(all[0]);
            let kind = self.accesses[to].transfer;
            if matches!(kind, Some(Transfer::Fill | Transfer::Clear)) {
                let word = class.word(named(&operation.name, &[to as u32, 2]));
                operation.moves.extend(all.iter().map(|&cell| Move { to, cell, from: From::Word(word) }));
                continue;
            }
            if kind == Some(Transfer::Resolve) {
                if let Some((at, _)) = sources.first() {
                    operation.moves.extend(all.iter().map(|&cell| Move { to, cell, from: From::Resolve(*at, cell) }));
                }
                continue;
            }
            let mut from: Vec<(usize, usize)> = Vec::new();
            for &(at, access) in &sources {
                let source = self.shape(access.resource);
                if copies(source, shape) {
                    let aspect = source.aspects.first().copied().unwrap_or(Aspects::empty());
                    let list = cells(source, access.mips, access.layers, access.bytes, aspect);
                    from.extend(list.into_iter().filter(|cell| source.is_there(*cell)).map(|cell| (at, cell)));
                }
            }
            let part = access.keeps && self.chance("part", to, 1, 2);
            for (number, &cell) in all.iter().enumerate().filter(|(_, cell)| shape.is_there(**cell)) {
                if part && number % 2 == 1 && all.len() > 1 && number > 1 {
                    continue;
                }
                let from = if from.is_empty() {
                    let half = BLOCKS / 2;
                    let block = named(&operation.name, &[to as u32, cell as u32, 3]) % half;
                    From::Pattern(block + if class == Class::Float { half } else { 0 }, class)
                } else {
                    next += 1;
                    let (at, cell) = from[next % from.len()];
                    From::Copy(at, cell)
                };
                operation.moves.push(Move { to, cell, from });
            }
        }
    }
}

/// Whether a buffer's range has one cell only, which is then always written.
fn list_is_short(bytes: [u64; 2]) -> bool {
    bytes[1] - bytes[0] <= CELL
}
