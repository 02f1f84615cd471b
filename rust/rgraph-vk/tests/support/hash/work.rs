//! Operations as work: dispatches, draws, commands and host functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rgraph_plan::access::{Aspects, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::PassId;
use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::Program;
use rgraph_vk::vertex::VertexFormat;
use rgraph_vk::work::{
    Bound, CallbackError, ClearValue, Compare, Dispatch, Draw, DrawCount, Groups, HostViews, HostWork, Level,
    RasterState, StencilFace, StencilOp, Step, Transfer, VertexBuffer, View, What, Work, Workload,
};

use super::adapt::{BLOCK, BLOCKS};
use super::case::Case;
use super::evaluate::{Arguments, threshold};
use super::operation::{From, How, Mode, Move, PassOperation, Read, Via, pattern_word};
use super::shader::{CONSTANT, Dimension, Library, MOST_READS, Target};
use super::shape::{CELL, Shape, Texels, index};
use super::words::{Class, mix};

/// The bytes of the pattern buffer.
pub fn pattern_bytes() -> Vec<u8> {
    let mut bytes = Vec::new();
    for block in 0..BLOCKS {
        let class = if block < BLOCKS / 2 { Class::Uint } else { Class::Float };
        let word = class.stored(pattern_word(block)).to_le_bytes();
        bytes.extend(word.iter().copied().cycle().take(BLOCK as usize));
    }
    bytes
}

/// Arguments of passes, as the uniform block of their programs.
pub fn argument_bytes(arguments: &Arguments) -> Vec<u8> {
    let mut words = vec![arguments.salt, 0, 0, 0];
    for read in 0..MOST_READS {
        let known = arguments.known.get(read).copied().unwrap_or(0);
        words.extend((0..4).map(|at| (known >> (32 * at)) as u32));
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The work of a case, made again for each compiled graph: host functions count their calls.
pub fn workload(case: &Case, library: &Library) -> Workload {
    let mut workload = Workload::new(case.adapted.graph.clone());
    for operation in case.operations.iter().flatten() {
        let builder = Builder { case, library, operation };
        if let Some(work) = builder.work() {
            workload.works.insert(operation.pass, work);
        }
    }
    workload
}

struct Builder<'a> {
    case: &'a Case,
    library: &'a Library,
    operation: &'a PassOperation,
}

impl Builder<'_> {
    fn resource(&self, at: usize) -> ResourceId {
        self.case.uses(self.operation.pass)[at].resource
    }

    fn shape(&self, at: usize) -> &Shape {
        &self.case.adapted.shapes[index(self.resource(at))]
    }

    fn work(&self) -> Option<Work> {
        let mut steps = Vec::new();
        match self.operation.how {
            How::Host => return Some(self.host()),
            How::Compute => self.dispatches(&mut steps),
            How::Raster { size, half, tested, stencil } => self.draws(size, half, tested, stencil, &mut steps),
            How::Transfer => {}
        }
        self.commands(&mut steps);
        (!steps.is_empty()).then_some(Work::Steps(steps))
    }

    /// The key by which packets are sorted: one for all of a pass, whose own order counts.
    fn key(&self) -> u64 {
        u64::from(self.operation.salt % 5)
    }

    fn arguments(&self) -> Vec<u8> {
        argument_bytes(&self.case.runs[0].arguments[&self.operation.pass.index()])
    }

    fn view(&self, read: &Read) -> View {
        let resource = self.resource(read.at);
        let image = self.shape(read.at).is_image();
        View {
            resource,
            mips: image.then_some(read.mips),
            layers: image.then_some(read.layers),
            aspects: read.aspect,
            range: (!image).then_some(read.bytes),
        }
    }

    fn bound(&self, program: &Program, target: Option<View>) -> Arc<[Bound]> {
        let mut out = Vec::new();
        for (at, binding) in program.interface.bindings.iter().enumerate() {
            let what = match binding.name.as_str() {
                "frame" => What::Data(self.arguments()),
                "goal" => match target {
                    Some(view) => What::Resource(view),
                    None => continue,
                },
                name => {
                    let read = name[1..].parse::<usize>().ok().and_then(|read| self.operation.reads.get(read));
                    let Some(read) = read else { continue };
                    What::Resource(self.view(read))
                }
            };
            out.push(Bound { binding: at as u32, element: 0, what });
        }
        out.into()
    }

    fn dispatches(&self, steps: &mut Vec<Step>) {
        let shape_of = |read: &Read| self.shape(read.at).clone();
        for write in &self.operation.writes {
            let shape = self.shape(write.at);
            let resource = self.resource(write.at);
            let image =
                shape.format.map(|format| (Dimension::of(shape, write.layers), Class::of(format, write.aspect)));
            let constant = write.key.is_multiple_of(8);
            let target = Target { image, mode: write.mode, constant };
            let program = self.library.compute(self.operation, &shape_of, target);
            let cover = match image {
                Some(_) => u32::from(!write.half),
                None => write.cells.iter().fold(0, |cover, (_, local)| cover | 1 << local),
            };
            let view = View {
                resource,
                mips: image.map(|_| [write.mip, write.mip + 1]),
                layers: image.map(|_| write.layers),
                aspects: Aspects::empty(),
                range: (image.is_none()).then_some(write.bytes),
            };
            let groups = match image {
                Some(_) => {
                    let [x, y, z] = shape.level(write.mip);
                    [x.div_ceil(8), y.div_ceil(8), z.max(write.layers[1] - write.layers[0])]
                }
                None => [((write.bytes[1] - write.bytes[0]) / 4).div_ceil(64) as u32, 1, 1],
            };
            // What the constant adds is taken away here.
            let key = write.key ^ (u32::from(constant) * CONSTANT);
            let words = [key, cover, self.operation.loops, write.layers[1] - write.layers[0]];
            let push: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let bound = self.bound(&program, Some(view));
            steps.push(Step::Dispatch(Dispatch {
                program,
                bound,
                push: push.into(),
                groups: Groups::Fixed(groups),
                key: self.key(),
            }));
        }
    }

    fn draws(&self, size: [u32; 2], half: bool, tested: Option<usize>, stencil: u32, steps: &mut Vec<Step>) {
        let shape_of = |read: &Read| self.shape(read.at).clone();
        let uses = self.case.uses(self.operation.pass);
        let is = |usage: Usage| self.operation.writes.iter().filter(move |write| uses[write.at].usage == usage);
        let colors: Vec<Class> = is(Usage::ColorAttachment)
            .map(|write| Class::of(self.shape(write.at).format.unwrap_or(Format::R32uint), write.aspect))
            .collect();
        let depth = is(Usage::DepthStencilAttachment).next();
        let program = self.library.raster(self.operation, &shape_of, &colors, depth.is_some());
        let mut keys = [0; 4];
        for (key, write) in keys.iter_mut().zip(is(Usage::ColorAttachment)) {
            *key = write.key;
        }
        if let Some(write) = depth {
            keys[3] = write.key;
        }
        let has_stencil = uses
            .iter()
            .any(|access| access.usage == Usage::DepthStencilAttachment && access.aspects.contains(Aspects::STENCIL));
        let face = StencilFace {
            compare: Compare::Always,
            fail: StencilOp::Replace,
            depth_fail: StencilOp::Replace,
            pass: StencilOp::Replace,
            reference: stencil,
            read_mask: 0xff,
            write_mask: 0xff,
        };
        let mut vertex_buffers = Vec::new();
        let reads = self.operation.reads.iter().filter(|read| read.via == Via::Vertex);
        for (location, (read, cell)) in
            reads.flat_map(|read| read.cells.iter().map(move |cell| (read, cell))).enumerate()
        {
            vertex_buffers.push(VertexBuffer {
                buffer: self.resource(read.at),
                offset: *cell as u64 * CELL,
                stride: 4,
                per_instance: false,
                attributes: vec![(location as u32, VertexFormat::Uint32, 0)],
            });
        }
        // Thresholds from the last to the first: what passes last stays.
        let passes: &[u32] = if tested.is_some() { &[0, 3, 2, 1] } else { &[0] };
        let bound = self.bound(&program, None);
        let width = if half { size[0] / 2 } else { size[0] };
        for &passed in passes {
            let z = if passed > 0 { (threshold(passed) as f32 + 0.25) / 65535.0 } else { 0.0 };
            let mut words = keys.to_vec();
            words.extend([size[0], size[1], passed, self.operation.loops, z.to_bits()]);
            let mut push: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            push.resize(program.interface.push.as_ref().map_or(0, |push| push.size as usize), 0);
            let compare = if passed > 0 { Compare::GreaterEqual } else { Compare::Always };
            let state = RasterState {
                depth_compare: (depth.is_some() || tested.is_some()).then_some(compare),
                depth_write: depth.is_some(),
                stencil: has_stencil.then_some([face; 2]),
                ..RasterState::default()
            };
            steps.push(Step::Draw(Draw {
                program: program.clone(),
                state: Arc::new(state),
                bound: bound.clone(),
                push: push.into(),
                vertex_buffers: vertex_buffers.clone(),
                index: None,
                count: DrawCount::Direct {
                    vertices: 3,
                    instances: 1,
                    first_vertex: 0,
                    first_instance: 0,
                    vertex_offset: 0,
                },
                viewport: half.then_some([0.0, 0.0, width as f32, size[1] as f32]),
                key: self.key(),
            }));
        }
    }

    fn commands(&self, steps: &mut Vec<Step>) {
        let mut whole = Vec::new();
        for one in &self.operation.moves {
            let to = self.resource(one.to);
            match one.from {
                From::Word(_) | From::Resolve(..) if whole.contains(&one.to) => {}
                From::Word(word) => {
                    whole.push(one.to);
                    steps.push(Step::Transfer(self.fill(one.to, word)));
                }
                From::Resolve(at, _) => {
                    whole.push(one.to);
                    let (from, to) = (Level::of(self.resource(at), 0), Level::of(to, 0));
                    steps.push(Step::Transfer(Transfer::Resolve { from, to }));
                }
                From::Pattern(block, _) => {
                    let Some(pattern) = self.case.adapted.pattern else { continue };
                    self.copy_words(pattern, u64::from(block) * BLOCK, BLOCK, one, steps);
                }
                From::Copy(at, cell) => self.copy(at, cell, one, steps),
            }
        }
    }

    fn fill(&self, to: usize, word: u32) -> Transfer {
        let access = &self.case.uses(self.operation.pass)[to];
        let resource = access.resource;
        match self.shape(to).format {
            None => Transfer::Fill {
                buffer: resource,
                offset: access.bytes[0],
                size: Some(access.bytes[1] - access.bytes[0]),
                word,
            },
            Some(format) => {
                let (mips, layers) = (Some(access.mips), Some(access.layers));
                let value = match format {
                    Format::R32float => ClearValue::Float([word as f32, 0.0, 0.0, 1.0]),
                    _ => ClearValue::Uint([word, 0, 0, 1]),
                };
                Transfer::Clear { image: View { mips, layers, ..View::whole(resource) }, value }
            }
        }
    }

    /// Equal words of a buffer into a cell, as often as it takes.
    fn copy_words(&self, from: ResourceId, offset: u64, length: u64, one: &Move, steps: &mut Vec<Step>) {
        let shape = self.shape(one.to);
        let to = self.resource(one.to);
        if !shape.is_image() {
            let size = Some(CELL.min(length));
            let to_offset = one.cell as u64 * CELL;
            steps.push(Step::Transfer(Transfer::CopyBuffer { from, from_offset: offset, to, to_offset, size }));
            return;
        }
        let spot = shape.spot(one.cell);
        for tile in tiles(shape.texels(spot.mip, spot.half), most_texels(shape.texels(spot.mip, spot.half), length / 4))
        {
            let to = level(to, shape, one.cell, tile);
            steps.push(Step::Transfer(Transfer::BufferToImage { from, offset, to }));
        }
    }

    fn copy(&self, at: usize, cell: usize, one: &Move, steps: &mut Vec<Step>) {
        let (from_shape, to_shape) = (self.shape(at), self.shape(one.to));
        let (from, to) = (self.resource(at), self.resource(one.to));
        if !from_shape.is_image() {
            return self.copy_words(from, cell as u64 * CELL, CELL, one, steps);
        }
        let spot = from_shape.spot(cell);
        let source = from_shape.texels(spot.mip, spot.half);
        if to_shape.is_image() {
            let spot = to_shape.spot(one.cell);
            let target = to_shape.texels(spot.mip, spot.half);
            let most = std::array::from_fn(|axis| source.size[axis].min(target.size[axis]));
            for tile in tiles(target, most) {
                let from = level(from, from_shape, cell, Texels { offset: source.offset, size: tile.size });
                let to = level(to, to_shape, one.cell, tile);
                steps.push(Step::Transfer(Transfer::CopyImage { from, to }));
            }
            return;
        }
        let most = most_texels(source, CELL / 4);
        let part = Texels { offset: source.offset, size: most };
        let bytes = u64::from(part.count()) * 4;
        for number in 0..CELL / bytes {
            let from = level(from, from_shape, cell, part);
            let offset = one.cell as u64 * CELL + number * bytes;
            steps.push(Step::Transfer(Transfer::ImageToBuffer { from, to, offset }));
        }
    }

    fn host(&self) -> Work {
        // A run in which the pass is off does not call it.
        let flag = self.case.adapted.graph.passes()[self.operation.pass].conditional;
        let on = self.case.runs.iter().filter(|run| flag.is_none_or(|flag| run.flags[flag.index()]));
        let arguments = on.map(|run| run.arguments[&self.operation.pass.index()].clone()).collect();
        let uses = self.case.uses(self.operation.pass);
        let ranges = uses.iter().map(|access| (access.resource, access.bytes)).collect();
        Work::Host(Arc::new(HostHash {
            operation: self.operation.clone(),
            ranges,
            arguments,
            calls: AtomicUsize::new(0),
        }))
    }
}

/// A cell's level, and some texels of it.
fn level(image: ResourceId, shape: &Shape, cell: usize, texels: Texels) -> Level {
    let spot = shape.spot(cell);
    Level {
        image,
        mip: spot.mip,
        layers: Some([spot.layer, spot.layer + 1]),
        aspects: Aspects::empty(),
        offset: texels.offset,
        size: Some(texels.size),
    }
}

/// The largest box, row by row, of at most so many texels. All sizes are powers of two.
fn most_texels(of: Texels, most: u64) -> [u32; 3] {
    let most = most as u32;
    let [width, height, depth] = of.size;
    let width = width.min(most);
    let height = height.min(most / width);
    [width, height, depth.min(most / (width * height))]
}

/// A box cut into boxes.
fn tiles(of: Texels, size: [u32; 3]) -> Vec<Texels> {
    let mut out = Vec::new();
    for z in (0..of.size[2]).step_by(size[2] as usize) {
        for y in (0..of.size[1]).step_by(size[1] as usize) {
            for x in (0..of.size[0]).step_by(size[0] as usize) {
                let at = [x, y, z];
                let rest = std::array::from_fn(|axis| size[axis].min(of.size[axis] - at[axis]));
                out.push(Texels { offset: std::array::from_fn(|axis| of.offset[axis] + at[axis]), size: rest });
            }
        }
    }
    out
}

/// A pass on the host: the same fold as in shaders.
struct HostHash {
    operation: PassOperation,
    ranges: Vec<(ResourceId, [u64; 2])>,
    arguments: Vec<Arguments>,
    calls: AtomicUsize,
}

impl HostWork for HostHash {
    fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let Some(arguments) = self.arguments.get(call) else { return Err(format!("called {} times", call + 1).into()) };
        let mut hash = arguments.salt;
        for (read, known) in self.operation.reads.iter().zip(&arguments.known) {
            let (resource, range) = self.ranges[read.at];
            let Some(view) = views.views.iter().find(|view| view.resource == resource && view.range == range) else {
                return Err(format!("pass \"{}\" sees no view of what it reads", self.operation.name).into());
            };
            for (bit, cell) in read.cells.iter().enumerate().filter(|(bit, _)| known >> bit & 1 != 0) {
                let _ = bit;
                let start = (*cell as u64 * CELL - range[0]) as usize;
                let words = view.bytes[start..start + CELL as usize].chunks_exact(4);
                let mut words = words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
                let first = words.next().unwrap_or(0);
                hash = mix(hash, first);
                for other in words.filter(|other| *other != first) {
                    hash = mix(hash, other ^ 1_540_483_477);
                }
            }
        }
        for write in &self.operation.writes {
            let (resource, range) = self.ranges[write.at];
            let view = views.views.iter_mut().find(|view| view.resource == resource && view.range == range);
            let Some(bytes) = view.and_then(|view| view.bytes.writable()) else {
                return Err(format!("pass \"{}\" sees no view of what it writes", self.operation.name).into());
            };
            let hash = mix(hash, write.key);
            for &(cell, local) in &write.cells {
                let start = (cell as u64 * CELL - range[0]) as usize;
                let word = mix(hash, local).to_le_bytes();
                bytes[start..start + CELL as usize].chunks_exact_mut(4).for_each(|to| to.copy_from_slice(&word));
            }
        }
        Ok(())
    }
}

/// Passes whose programs get arguments in each run.
pub fn has_arguments(operation: &PassOperation) -> bool {
    matches!(operation.how, How::Compute | How::Raster { .. })
        && operation.writes.iter().any(|write| write.mode != Mode::Add || !write.cells.is_empty())
}

/// The pass ids of a case that get arguments in each run.
pub fn passes_with_arguments(case: &Case) -> impl Iterator<Item = PassId> + '_ {
    case.operations.iter().flatten().filter(|operation| has_arguments(operation)).map(|operation| operation.pass)
}
