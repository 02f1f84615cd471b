//! Generated graphs made such that every driver can run them: formats that hold words, small sizes, usages that have
//! a shader or a command. What is declared otherwise than it was generated is counted.

use std::collections::BTreeMap;

use rgraph_check::generate::{Limits, generate};
use rgraph_check::random::Random;
use rgraph_plan::access::{Accesses, Aspects, Layout, Load, MemoryDomain, PassQueue, Stages, Transfer, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Access, Clear, Graph, Pass, PassId, Ranges, Use};
use rgraph_plan::id::Id;
use rgraph_plan::resource::{Axis, Imported, Kind, Life, Resource, ResourceId, Size};

use super::shape::{Shape, index};
use super::words::named;

/// Width and height that relative sizes are relative to; generated graphs have eight times as much.
pub const REFERENCE: u32 = 32;

/// Blocks of equal words in the buffer that transfers copy from where nothing else is declared.
pub const BLOCKS: u32 = 16;

/// Bytes of such a block: the largest level.
pub const BLOCK: u64 = 4 * (REFERENCE * REFERENCE) as u64;

/// A graph that can run.
pub struct Adapted {
    pub graph: Graph,
    pub shapes: Vec<Shape>,
    /// The buffer of [`BLOCKS`].
    pub pattern: Option<ResourceId>,
    /// What is declared otherwise than it was generated, and how often.
    pub changed: BTreeMap<&'static str, u32>,
}

struct Adapter {
    old: Graph,
    new: Graph,
    random: Random,
    shapes: Vec<Shape>,
    float: Vec<bool>,
    /// Resources whose memory has another name.
    shared: Vec<bool>,
    pattern: Option<ResourceId>,
    seen: u32,
    /// Attachments of passes whose draws commute.
    drawn: Vec<ResourceId>,
    /// Whether it is made for SwiftShader.
    swift: bool,
    changed: BTreeMap<&'static str, u32>,
}

/// The graph of a seed. `swift`: made for SwiftShader, which has no depth of 24 bits with stencil, and fetches no level
/// of a view whose number is below that of the view's first mip in its image: there all such levels are one.
pub fn adapt(seed: u64, limits: Limits, swift: bool) -> Adapted {
    let (old, _) = generate(seed, limits);
    let old = old.flattened().unwrap_or(old);
    let mut adapter = Adapter {
        new: Graph::new(old.name(), [REFERENCE; 2]),
        float: floats(&old),
        shared: shared(&old),
        old,
        random: Random::new(seed ^ 0x4a5_4e5),
        shapes: Vec::new(),
        pattern: None,
        seen: 0,
        drawn: Vec::new(),
        swift,
        changed: BTreeMap::new(),
    };
    adapter.resources();
    adapter.shapes = Shape::all(&adapter.new);
    adapter.passes();
    adapter.roots();
    let shapes = Shape::all(&adapter.new);
    Adapted { graph: adapter.new, shapes, pattern: adapter.pattern, changed: adapter.changed }
}

/// Images that have several samples per texel or are scaled by linear blits, and those that share a format with them:
/// what they are resolved to, what modifies them or remembers them, what is read instead of them.
fn floats(graph: &Graph) -> Vec<bool> {
    let mut float: Vec<bool> = graph
        .resources()
        .iter()
        .map(|resource| resource.as_image().is_some_and(|image| image.samples.unwrap_or(1) > 1))
        .collect();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for access in graph.accesses().iter().filter(|access| access.generate_mips) {
        float[index(access.resource)] = true;
    }
    for (id, resource) in graph.resources().iter_ids() {
        // Of another size: what is modified is scaled.
        if let (Some(base), Some(image)) = (resource.modifies, resource.as_image()) {
            let other = graph.resources()[base].as_image().is_some_and(|base| base.size != image.size);
            float[index(id)] |= other;
        }
    }
    for (id, resource) in graph.resources().iter_ids() {
        let base = resource.modifies.or(match resource.life {
            Life::History(history) => Some(history.of),
            _ => None,
        });
        pairs.extend(base.map(|base| (index(id), index(base))));
    }
    pairs.extend(graph.fallbacks().iter().map(|one| (index(one.output), index(one.input))));
    let accesses = graph.accesses();
    for access in accesses {
        pairs.extend(graph.details_of(access).resolves.map(|from| (index(access.resource), index(from))));
        if access.transfer == Some(Transfer::Resolve) && access.usage == Usage::TransferSrc {
            let to = accesses.iter().find(|one| one.pass == access.pass && one.usage == Usage::TransferDst);
            pairs.extend(to.map(|to| (index(access.resource), index(to.resource))));
        }
    }
    let mut more = true;
    while std::mem::take(&mut more) {
        for &(a, b) in &pairs {
            if float[a] != float[b] {
                (float[a], float[b], more) = (true, true, true);
            }
        }
    }
    float
}

/// Resources that modify another or are modified.
fn shared(graph: &Graph) -> Vec<bool> {
    let mut shared = vec![false; graph.resources().len()];
    for (id, resource) in graph.resources().iter_ids() {
        if let Some(base) = resource.modifies {
            (shared[index(id)], shared[index(base)]) = (true, true);
        }
    }
    shared
}

/// Resources whose memory passes of the host use, under any name: not every device has memory of its own that the host
/// sees (RG-E102, RG-E225).
fn of_the_host(graph: &Graph) -> Vec<bool> {
    let memory = |mut id: ResourceId| {
        loop {
            id = match (graph.resources()[id].modifies, graph.resources()[id].life) {
                (Some(base), _) => base,
                (None, Life::History(history)) => history.of,
                (None, _) => return id,
            };
        }
    };
    let uses = graph.accesses().iter().filter(|one| matches!(one.usage, Usage::HostRead | Usage::HostWrite));
    let mut used: Vec<ResourceId> = uses.map(|one| one.resource).collect();
    let mut next = 0;
    while let Some(&one) = used.get(next) {
        next += 1;
        let inputs = graph.fallbacks().iter().filter(|fallback| fallback.output == one).map(|fallback| fallback.input);
        let more: Vec<_> = inputs.filter(|input| !used.contains(input)).collect();
        used.extend(more);
    }
    let mut host = vec![false; graph.resources().len()];
    for id in used {
        host[index(memory(id))] = true;
    }
    graph.resources().ids().map(|id| host[index(memory(id))]).collect()
}

/// Usages that a shader reads through.
pub fn is_shader_read(usage: Usage) -> bool {
    matches!(usage, Usage::Sampled | Usage::StorageRead | Usage::Uniform | Usage::Vertex)
}

fn is_shader_write(usage: Usage) -> bool {
    matches!(usage, Usage::StorageWrite | Usage::StorageReadWrite)
}

impl Adapter {
    fn count(&mut self, what: &'static str) {
        *self.changed.entry(what).or_default() += 1;
    }

    fn resources(&mut self) {
        let old = self.old.clone();
        let host = of_the_host(&old);
        for (id, resource) in old.resources().iter_ids() {
            let mut resource = resource.clone();
            if host[index(id)] && resource.memory_domain == Some(MemoryDomain::Device) {
                self.count("device memory that passes of the host use as the runtime's");
                resource.memory_domain = None;
            }
            match &mut resource.kind {
                Kind::Buffer(buffer) => buffer.acceleration_structure = false,
                Kind::Image(image) => {
                    image.format = image.format.map(|format| self.format(index(id), format));
                    if let Some(size) = &mut image.size {
                        *size = small(*size);
                    }
                }
            }
            self.new.add_resource(old.resource_name(id), resource, None);
        }
    }

    fn format(&mut self, at: usize, format: Format) -> Format {
        match format {
            Format::Depth32float if !self.shared[at] && self.random.chance(1, 3) => Format::Depth16unorm,
            Format::Depth24plusStencil8 if self.swift => {
                self.count("depth of 24 bits as depth of 32");
                Format::Depth32floatStencil8
            }
            depth if depth.is_depth_stencil() => depth,
            _ if self.float[at] => Format::R32float,
            _ => Format::R32uint,
        }
    }

    fn passes(&mut self) {
        let old = self.old.clone();
        for flag in old.flags() {
            self.new.flag(flag);
        }
        let units: Vec<_> = old.units().iter().map(|unit| self.new.unit(unit)).collect();
        for (id, pass) in old.passes().iter_ids() {
            let unit = pass.unit.map(|unit| units[unit.index()]);
            let unordered = pass.unordered && self.commutes(id);
            let pass = Pass { slot: None, unit, unordered, ..pass.clone() };
            let accesses: Vec<_> = old.accesses().iter().filter(|access| access.pass == id).collect();
            let adapted: Vec<_> = accesses.into_iter().map(|access| (access, self.used_as(access))).collect();
            let mut uses: Vec<(ResourceId, Use)> = Vec::new();
            for (at, (access, how)) in adapted.iter().enumerate() {
                if self.is_new(at, &adapted) {
                    uses.push((access.resource, *how));
                } else {
                    self.count("access of mips that a smaller image has not");
                }
            }
            let new = self.new.add_pass(old.pass_name(id), pass.clone(), None);
            self.adapt_pass(new, pass.queue, &mut uses);
            for (resource, how) in uses {
                self.new.access(new, resource, &how, None);
            }
        }
        for &(later, earlier) in old.orderings() {
            self.new.order_after(later, earlier);
        }
        for one in old.fallbacks() {
            self.new.fallback(one.pass, one.output, one.input);
        }
    }

    /// Whether a pass draws to nothing that another pass draws to whose draws commute: these draws depend on their
    /// order.
    fn commutes(&mut self, pass: PassId) -> bool {
        let memory = |mut id: ResourceId| {
            while let Some(base) = self.old.resources()[id].modifies {
                id = base;
            }
            id
        };
        let attached = self.old.accesses().iter().filter(|access| access.pass == pass && access.usage.is_attachment());
        let own: Vec<ResourceId> = attached.map(|access| memory(access.resource)).collect();
        let alone = !own.iter().any(|id| self.drawn.contains(id));
        if alone {
            self.drawn.extend(own);
        } else {
            self.count("draws that commute in their order");
        }
        alone
    }

    /// Whether a use of a pass meets none that it did not meet before: mips that were apart may be one mip of the
    /// smaller image. Reads give way to writes, and writes to those of more mips or to earlier ones.
    fn is_new(&self, at: usize, uses: &[(&Access, Use)]) -> bool {
        let apart = |a: Option<[u32; 2]>, b: Option<[u32; 2]>| match (a, b) {
            (Some(a), Some(b)) => a[1] <= b[0] || b[1] <= a[0],
            _ => false,
        };
        let met = |a: Ranges, b: Ranges| !apart(a.mips, b.mips) && !apart(a.layers, b.layers);
        let (access, how) = uses[at];
        let before = self.old.ranges_of(access);
        let mips = |how: &Use| how.ranges.mips.map_or(u32::MAX, |[first, end]| end - first);
        let gives_way = |(number, (other, one)): (usize, &(&Access, Use))| {
            other.resource == access.resource
                && one.usage.writes()
                && (!how.usage.writes() || (mips(one), at) > (mips(&how), number))
                && met(how.ranges, one.ranges)
                && !met(before, self.old.ranges_of(other))
        };
        !uses.iter().enumerate().any(gives_way)
    }

    /// An access as declared, in ranges of the smaller resource.
    fn used_as(&mut self, access: &Access) -> Use {
        let mut ranges = self.old.ranges_of(access);
        let mips = self.shapes[index(access.resource)].mips;
        if let Some([first, end]) = ranges.mips
            && end > mips
        {
            ranges.mips = Some([first.min(mips - 1), mips]);
        }
        Use {
            usage: access.usage,
            stages: access.stages,
            ranges,
            aspects: access.aspects,
            load: access.load,
            stencil_load: access.stencil_load,
            details: self.old.details_of(access),
            transfer: access.transfer,
            generate_mips: access.generate_mips,
            unordered: access.unordered,
        }
    }

    fn adapt_pass(&mut self, pass: PassId, queue: PassQueue, uses: &mut Vec<(ResourceId, Use)>) {
        let drawn = uses.iter().any(|(_, how)| how.usage.is_attachment() && how.usage.writes());
        for (_, how) in uses.iter_mut().filter(|(_, how)| how.usage == Usage::DepthStencilRead && !drawn) {
            (how.usage, how.stages) = (Usage::Sampled, Stages::empty());
            self.count("depth test of a pass that draws nothing as sampled");
        }
        let raster = uses.iter().any(|(_, how)| how.usage.is_attachment());
        let shaders = !matches!(queue, PassQueue::Transfer | PassQueue::Cpu);
        let is_image = |shapes: &[Shape], resource: ResourceId| shapes[index(resource)].is_image();
        let vertex = |uses: &[(ResourceId, Use)]| uses.iter().any(|(_, how)| how.usage == Usage::Vertex);
        for at in 0..uses.len() {
            let (resource, mut how) = uses[at];
            match how.usage {
                Usage::AccelerationBuild | Usage::AccelerationScratch => {
                    self.count("acceleration structure as storage");
                    (how.usage, how.load) = (Usage::StorageWrite, Some(Load::Discard));
                }
                Usage::AccelerationUpdate => {
                    self.count("acceleration structure as storage");
                    how.usage = Usage::StorageReadWrite;
                }
                Usage::AccelerationInput | Usage::AccelerationRead => {
                    self.count("acceleration structure as storage");
                    (how.usage, how.stages) = (Usage::StorageRead, Stages::empty());
                }
                Usage::Present => {
                    self.count("present as sampled");
                    how.usage = Usage::Sampled;
                }
                Usage::InputAttachment if !self.is_input(resource, uses) => {
                    self.count("input attachment as sampled");
                    how.usage = Usage::Sampled;
                }
                Usage::Sampled if !is_image(&self.shapes, resource) => {
                    self.count("texel buffer as storage");
                    how.usage = Usage::StorageRead;
                }
                Usage::Index if raster && !vertex(uses) => {
                    self.count("index as vertex");
                    how.usage = Usage::Vertex;
                }
                Usage::Index | Usage::Indirect if shaders => {
                    self.count("index, indirect as storage");
                    (how.usage, how.stages) = (Usage::StorageRead, Stages::empty());
                }
                Usage::Vertex if !raster => {
                    self.count("vertex without raster as storage");
                    how.usage = Usage::StorageRead;
                }
                Usage::StorageWrite if how.unordered => {
                    self.count("unordered write as read-write");
                    how.usage = Usage::StorageReadWrite;
                }
                Usage::ColorAttachment | Usage::DepthStencilAttachment => {
                    self.clear_value(pass, at, resource, &mut how)
                }
                _ => {}
            }
            uses[at] = (resource, how);
        }
        if shaders && !raster {
            let reads = uses.iter().any(|(_, how)| is_shader_read(how.usage));
            let writes = uses.iter().any(|(_, how)| is_shader_write(how.usage));
            if reads && !writes {
                match uses.iter_mut().find(|(_, how)| how.usage == Usage::TransferDst) {
                    Some((_, how)) => {
                        (how.usage, how.transfer) = (Usage::StorageWrite, None);
                        self.count("transfer as storage, so that what is sampled goes somewhere");
                    }
                    None => {
                        let seen = self.seen(self.old.passes()[pass].conditional.is_none());
                        uses.push((seen, Use::new(Usage::StorageWrite)));
                    }
                }
            }
        }
        let copies = uses.iter().any(|(_, how)| how.usage == Usage::TransferDst);
        for (resource, how) in uses.iter_mut().filter(|_| shaders && !copies) {
            if how.usage == Usage::TransferSrc {
                self.count("transfer without destination as shader read");
                let image = is_image(&self.shapes, *resource);
                (how.usage, how.transfer) = (if image { Usage::Sampled } else { Usage::StorageRead }, None);
            }
        }
        if queue == PassQueue::Graphics && !raster {
            for (_, how) in uses.iter_mut().filter(|(_, how)| is_shader_read(how.usage) || is_shader_write(how.usage)) {
                how.stages = Stages::COMPUTE_SHADER;
            }
        }
        for (resource, how) in uses.iter_mut().filter(|(_, how)| self.swift && how.usage == Usage::Sampled) {
            let mips = self.shapes[index(*resource)].mips;
            let [first, end] = how.ranges.mips.unwrap_or([0, mips]);
            if first > 0 && end - first > 1 {
                *self.changed.entry("several mips from a later one on as one mip").or_default() += 1;
                how.ranges.mips = Some([first, first + 1]);
            }
        }
        self.one_stage(uses);
        self.adapt_transfers(uses);
    }

    /// Several reads of one resource in a pass are in the same stages: a program's binding fits the first of them.
    fn one_stage(&mut self, uses: &mut [(ResourceId, Use)]) {
        for at in 0..uses.len() {
            let (resource, how) = uses[at];
            let first = uses[..at].iter().find(|(other, one)| *other == resource && is_shader_read(one.usage));
            let stages = first.map(|(_, one)| one.stages).filter(|stages| *stages != how.stages);
            if let Some(stages) = stages.filter(|_| is_shader_read(how.usage)) {
                self.count("reads of one resource in the stages of the first");
                uses[at].1.stages = stages;
            }
        }
    }

    /// Whether programs can load an image as an input attachment.
    fn is_input(&self, image: ResourceId, uses: &[(ResourceId, Use)]) -> bool {
        let shape = &self.shapes[index(image)];
        let color = shape.format.is_some_and(|format| !format.is_depth_stencil());
        color && shape.samples == 1 && uses.iter().filter(|(other, _)| *other == image).count() == 1
    }

    /// A clear value that is a word, if one is declared.
    fn clear_value(&mut self, pass: PassId, at: usize, resource: ResourceId, how: &mut Use) {
        if matches!(how.details.clear, Some(Clear::Color(_))) {
            let word = named(self.old.pass_name(pass), &[at as u32, 77]) >> 16;
            how.details.clear = Some(Clear::Color([f64::from(word), 0.0, 0.0, 0.0]));
        }
        // Half a step of a format of 16 bits would be rounded as a driver likes.
        if let Some(Clear::Depth(depth, stencil)) = how.details.clear {
            how.details.clear = Some(Clear::Depth((depth * 65535.0).ceil() / 65535.0, stencil));
        }
        let shape = &self.shapes[index(resource)];
        if how.load == Some(Load::Clear) && how.details.clear.is_none() && shape.aspects[0] == Aspects::DEPTH {
            how.details.clear = Some(Clear::Depth(0.0, None));
        }
    }

    /// Every copy gets something to copy from.
    fn adapt_transfers(&mut self, uses: &mut Vec<(ResourceId, Use)>) {
        let resolves = uses.iter().any(|(_, how)| how.transfer == Some(Transfer::Resolve));
        if resolves {
            return;
        }
        let mut wanted = Vec::new();
        for (resource, how) in uses.iter_mut().filter(|(_, how)| how.usage == Usage::TransferDst) {
            match how.transfer {
                Some(Transfer::Blit) => {
                    *self.changed.entry("blit as copy").or_default() += 1;
                    how.transfer = None;
                    wanted.push(*resource);
                }
                Some(Transfer::Fill | Transfer::Clear) => {}
                _ => wanted.push(*resource),
            }
        }
        for (_, how) in uses.iter_mut().filter(|(_, how)| how.usage == Usage::TransferSrc) {
            how.transfer = None;
        }
        let fits = |to: ResourceId| {
            uses.iter().any(|(from, how)| {
                how.usage == Usage::TransferSrc && copies(&self.shapes[index(*from)], &self.shapes[index(to)])
            })
        };
        if wanted.into_iter().any(|to| !fits(to)) {
            let pattern = *self.pattern.get_or_insert_with(|| {
                let imported = Imported {
                    stages: Stages::COPY,
                    access: Accesses::TRANSFER_WRITE,
                    layout: None::<Layout>,
                    ..Imported::default()
                };
                let life = Life::Imported(imported);
                let resource = Resource { life, ..Resource::buffer(u64::from(BLOCKS) * BLOCK) };
                self.new.add_resource("pattern", resource, None)
            });
            self.shapes = Shape::all(&self.new);
            uses.push((pattern, Use::new(Usage::TransferSrc)));
        }
    }

    /// A small buffer, read back where it always holds something.
    fn seen(&mut self, root: bool) -> ResourceId {
        self.seen += 1;
        let id = self.new.add_resource(&format!("seen {}", self.seen), Resource::buffer(super::shape::CELL), None);
        if root {
            self.new.root(id);
        }
        self.shapes = Shape::all(&self.new);
        id
    }

    /// Roots as generated, as far as they can be read back; of the others, and of more mips than one, a pass makes a
    /// hash. Some of what outlives the frame is read back too.
    fn roots(&mut self) {
        let old = self.old.clone();
        for &root in old.roots() {
            let shape = self.shapes[index(root)].clone();
            if shape.samples == 1 {
                self.new.root(root);
            } else {
                self.count("root of several samples through a pass");
            }
            if shape.is_image() && (shape.samples > 1 || shape.mips > 1) {
                self.look(root);
            }
        }
        for (id, resource) in old.resources().iter_ids() {
            let outlives = match resource.life {
                Life::Persistent => true,
                Life::Imported(imported) => imported.defined,
                Life::Transient | Life::Fresh | Life::History(_) => false,
            };
            // What another name of the memory is written through is lost as a root.
            let outlives = outlives && !old.resources().iter().any(|other| other.modifies == Some(id));
            let written = self.new.accesses().iter().any(|access| access.resource == id && access.usage.writes());
            if outlives && written && self.random.chance(1, 2) {
                self.new.root(id);
            }
        }
    }

    fn look(&mut self, root: ResourceId) {
        let queue = *self.random.pick(&[PassQueue::Compute, PassQueue::AsyncCompute]);
        let seen = self.seen(true);
        let pass = self.new.add_pass(&format!("look {}", self.seen), Pass::new(queue), None);
        self.new.access(pass, root, &Use::new(Usage::Sampled), None);
        self.new.access(pass, seen, &Use::new(Usage::StorageWrite), None);
    }
}

/// Whether texels of one are copied to the other as they are.
pub fn copies(from: &Shape, to: &Shape) -> bool {
    let plain = |shape: &Shape| shape.samples == 1 && shape.format.is_none_or(|format| !format.is_depth_stencil());
    let float = |shape: &Shape| shape.format == Some(Format::R32float);
    plain(from) && plain(to) && float(from) == float(to)
}

fn small(size: Size) -> Size {
    let eighth = |axis: Axis| match axis {
        Axis::Texels(texels) => Axis::Texels((texels / 8).max(1)),
        scaled => scaled,
    };
    match size.z {
        Some(_) => Size { x: Axis::Texels(8), y: Axis::Texels(8), z: Some(Axis::Texels(4)), ..size },
        None => Size { x: eighth(size.x), y: eighth(size.y), ..size },
    }
}
