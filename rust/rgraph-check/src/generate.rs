//! Random well-formed graphs and profiles, aimed at the edges: every usage and queue, sub-ranges, histories,
//! conditions, forward reads, modifies, unordered writes, mips, resolves, imported and persistent resources.
//!
//! The same seed gives the same graph on every machine. Graphs are well-formed by construction: every read comes
//! after a write of what it reads, and what is declared too early depends on nothing that depends on it.

use rgraph_ir::access::{Accesses, Aspects, Layout, Load, PassQueue, ResolveMode, Sharing, Stages, Transfer, Usage};
use rgraph_ir::format::Format;
use rgraph_ir::graph::{Clear, Details, FlagId, Graph, Pass, PassId, Ranges, Use};
use rgraph_ir::id::Id;
use rgraph_ir::profile::{Capabilities, Profile, Queue};
use rgraph_ir::resource::{Buffer, History, Image, Imported, Kind, Leave, Life, Mips, Resource, ResourceId, Size};

use crate::random::Random;

/// How large generated graphs are.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Fewest declared passes, about.
    pub fewest_passes: u32,
    /// Most declared passes, about.
    pub most_passes: u32,
    /// Most flags.
    pub most_flags: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { fewest_passes: 5, most_passes: 40, most_flags: 3 }
    }
}

/// What the generator knows of a resource that it declared.
#[derive(Clone, Copy, Debug)]
struct Known {
    id: ResourceId,
    what: What,
    size: u32,
    mips: u32,
    layers: u32,
    samples: u32,
    /// Mips that hold something, from the first; for buffers 1 if it does.
    defined: u32,
    /// No further write.
    frozen: bool,
    /// No further use.
    closed: bool,
    /// Readable only under this flag.
    flag: Option<FlagId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Color,
    Depth,
    DepthStencil,
    Volume,
    Buffer,
    Acceleration,
}

struct Maker {
    random: Random,
    graph: Graph,
    known: Vec<Known>,
    passes: u32,
    resources: u32,
    /// Resources read before their writer is declared.
    promised: Vec<usize>,
    /// Passes that others may be ordered after.
    ordinary: Vec<PassId>,
    flags: Vec<FlagId>,
}

const SIZES: [u32; 3] = [256, 128, 64];
const BYTES: u64 = 4096;

/// A graph and a profile of a seed.
pub fn generate(seed: u64, limits: Limits) -> (Graph, Profile) {
    let mut random = Random::new(seed ^ 0x5eed_0f9a);
    let profile = profile(&mut random);
    let graph = Graph::new(&format!("generated {seed}"), [SIZES[0], SIZES[0]]);
    let mut maker = Maker {
        random,
        graph,
        known: Vec::new(),
        passes: 0,
        resources: 0,
        promised: Vec::new(),
        ordinary: Vec::new(),
        flags: Vec::new(),
    };
    let spread = u64::from(limits.most_passes.saturating_sub(limits.fewest_passes)) + 1;
    let wanted = limits.fewest_passes + maker.random.below(spread) as u32;
    let flags = maker.random.below(u64::from(limits.most_flags) + 1).min(maker.random.below(4));
    for flag in 0..flags {
        let flag = maker.graph.flag(&format!("flag{flag}"));
        maker.flags.push(flag);
    }
    maker.externals();
    while maker.passes < wanted {
        maker.step();
    }
    maker.finish();
    (maker.graph, profile)
}

/// A profile of one to four queues.
fn profile(random: &mut Random) -> Profile {
    let all = Capabilities::all();
    let compute = Capabilities::COMPUTE | Capabilities::TRANSFER;
    let queue = |name: &str, family: u32, capabilities: Capabilities| Queue {
        name: name.to_owned(),
        family,
        count: 1,
        capabilities,
    };
    let mut queues = vec![queue("graphics", 0, all)];
    match random.below(6) {
        0 => {}
        1 => queues.push(queue("compute", 1, compute)),
        2 => queues.push(queue("second", 0, all)),
        3 => queues.extend([queue("compute", 2, compute), queue("transfer", 1, Capabilities::TRANSFER)]),
        4 => queues.extend([queue("compute", 0, compute), queue("transfer", 1, Capabilities::TRANSFER)]),
        _ => {
            queues.extend([queue("compute", 2, compute), queue("transfer", 1, Capabilities::TRANSFER)]);
            queues[1].count = 2;
        }
    }
    let mut profile = Profile::new("generated", queues);
    profile.buffer_image_granularity = *random.pick(&[1, 64, 1024, 65536]);
    profile.image_alignment = *random.pick(&[256, 4096, 65536]);
    profile.buffer_alignment = *random.pick(&[16, 256]);
    profile
}

impl Maker {
    fn name(&mut self, prefix: &str) -> String {
        self.resources += 1;
        format!("{prefix}{}", self.resources)
    }

    /// Declares an image or buffer of a kind, with nothing in it.
    fn add(&mut self, what: What, life: Life) -> usize {
        let size = SIZES[self.random.below(3) as usize];
        self.add_sized(what, life, size)
    }

    fn add_sized(&mut self, what: What, life: Life, size: u32) -> usize {
        let mut known = Known {
            id: Id::new(0),
            what,
            size,
            mips: 1,
            layers: 1,
            samples: 1,
            defined: 0,
            frozen: false,
            closed: false,
            flag: None,
        };
        let mut resource = match what {
            What::Buffer => Resource::buffer(BYTES),
            What::Acceleration => {
                let mut resource = Resource::buffer(BYTES);
                resource.kind = Kind::Buffer(Buffer { size: Some(BYTES), acceleration_structure: true });
                resource
            }
            _ => {
                let format = match what {
                    What::Depth => Format::Depth32float,
                    What::DepthStencil => {
                        *self.random.pick(&[Format::Depth24plusStencil8, Format::Depth32floatStencil8])
                    }
                    _ => *self.random.pick(&[Format::Rgba8unorm, Format::Rgba16float, Format::R32float]),
                };
                let mut image = Image { format: Some(format), ..Image::default() };
                image.size = Some(match what {
                    What::Volume => Size::volume(16, 16, 16),
                    _ if self.random.chance(1, 3) => {
                        let scale = f64::from(size) / f64::from(SIZES[0]);
                        Size::scaled(None, scale, scale)
                    }
                    _ => Size::absolute(size, size),
                });
                let plain = life == Life::Transient && what != What::Volume;
                if plain && self.random.chance(1, 5) {
                    known.layers = *self.random.pick(&[2, 4]);
                    image.layers = Some(known.layers);
                } else if plain && what == What::Color && self.random.chance(1, 10) {
                    known.layers = 6;
                    image.cube = true;
                }
                if plain && what == What::Color && self.random.chance(1, 4) {
                    known.mips = *self.random.pick(&[2, 3, 4]);
                    image.mips = Some(Mips::Count(known.mips));
                } else if plain && what == What::Color && self.random.chance(1, 12) {
                    known.mips = 32 - size.leading_zeros();
                    image.mips = Some(Mips::Full);
                }
                Resource::image(image)
            }
        };
        resource.life = life;
        if self.random.chance(1, 12) {
            resource.sharing = Some(*self.random.pick(&[Sharing::Exclusive, Sharing::Concurrent]));
        }
        let prefix = match what {
            What::Buffer => "buffer",
            What::Acceleration => "scene",
            What::Depth | What::DepthStencil => "depth",
            What::Volume => "volume",
            What::Color => "image",
        };
        let name = self.name(prefix);
        known.id = self.graph.add_resource(&name, resource, None);
        self.known.push(known);
        self.known.len() - 1
    }

    /// Imported and persistent resources, which hold something from the start.
    fn externals(&mut self) {
        if self.random.chance(1, 2) {
            let layout = *self.random.pick(&[
                None,
                Some(Layout::ShaderReadOnly),
                Some(Layout::General),
                Some(Layout::TransferDst),
            ]);
            let imported = Imported {
                layout,
                queue: self.random.chance(1, 2).then_some(PassQueue::Graphics),
                stages: Stages::COPY,
                access: Accesses::TRANSFER_WRITE,
                defined: true,
            };
            let at = self.add(What::Color, Life::Imported(imported));
            self.known[at].defined = self.known[at].mips;
            self.known[at].frozen = self.random.chance(1, 2);
            if self.random.chance(1, 2) {
                let leave = Leave { layout: Some(Layout::ShaderReadOnly), queue: Some(PassQueue::Graphics) };
                self.graph.resource_mut(self.known[at].id).leave = Some(leave);
            }
        }
        if self.random.chance(1, 3) {
            let at = self.add(What::Buffer, Life::Imported(Imported::default()));
            self.known[at].defined = 1;
        }
        if self.random.chance(1, 4) {
            let imported = Imported { defined: false, ..Imported::default() };
            self.add(What::Color, Life::Imported(imported));
        }
        for _ in 0..self.random.below(3) {
            let what = *self.random.pick(&[What::Color, What::Buffer]);
            let at = self.add(what, Life::Persistent);
            self.known[at].defined = 1;
        }
    }

    fn queue(&mut self) -> PassQueue {
        *self.random.pick(&[
            PassQueue::Graphics,
            PassQueue::Graphics,
            PassQueue::Graphics,
            PassQueue::Compute,
            PassQueue::AsyncCompute,
            PassQueue::AsyncCompute,
            PassQueue::Any,
            PassQueue::Transfer,
            PassQueue::Cpu,
        ])
    }

    fn pass(&mut self, prefix: &str, queue: PassQueue) -> PassId {
        self.passes += 1;
        let mut pass = Pass::new(queue);
        if self.random.chance(1, 4) {
            pass.weight_us = Some(self.random.below(500) as f64);
        }
        if self.random.chance(1, 30) {
            pass.side_effects = true;
        }
        if self.random.chance(1, 8) {
            let unit = *self.random.pick(&["texture", "alu"]);
            pass.unit = Some(self.graph.unit(unit));
        }
        let name = format!("{prefix}{}", self.passes);
        self.graph.add_pass(&name, pass, None)
    }

    fn access(&mut self, pass: PassId, at: usize, how: Use) {
        self.graph.access(pass, self.known[at].id, &how, None);
    }

    /// Something that may be read by a pass under `flag`, not used by it yet.
    fn readable(&mut self, fits: impl Fn(&Known) -> bool, flag: Option<FlagId>, used: &[usize]) -> Option<usize> {
        let list: Vec<usize> = (0..self.known.len())
            .filter(|at| {
                let known = &self.known[*at];
                known.defined > 0
                    && !known.closed
                    && (known.flag.is_none() || known.flag == flag)
                    && !used.contains(at)
                    && fits(known)
            })
            .collect();
        (!list.is_empty()).then(|| *self.random.pick(&list))
    }

    /// One to three passes of one idea.
    fn step(&mut self) {
        match self.random.below(24) {
            0..=4 => self.ordinary_pass(None),
            5..=8 => self.raster(),
            9 => self.bloom(),
            10 => self.shadow(),
            11 => self.multisampled(),
            12 => self.forward_read(),
            13 => self.modify(),
            14 => self.resize(),
            15 => self.conditional(),
            16 => self.commuting(),
            17 => self.acceleration(),
            18 => self.history(),
            19 => self.merge_candidates(),
            20 => self.halves(),
            21 => self.presented(),
            22 => self.conditional_reader(),
            _ => self.mips(),
        }
    }

    /// Reads and writes of whatever there is, on any queue.
    fn ordinary_pass(&mut self, flag: Option<FlagId>) {
        let queue = self.queue();
        let pass = self.pass("work", queue);
        let mut used = Vec::new();
        for _ in 0..self.random.below(4) {
            self.read(pass, queue, flag, &mut used);
        }
        for _ in 0..=self.random.below(2) {
            self.write(pass, queue, &mut used);
        }
        self.order(pass);
    }

    fn order(&mut self, pass: PassId) {
        if self.random.chance(1, 8) && !self.ordinary.is_empty() {
            let earlier = *self.random.pick(&self.ordinary);
            self.graph.order_after(pass, earlier);
        }
        self.ordinary.push(pass);
    }

    fn read(&mut self, pass: PassId, queue: PassQueue, flag: Option<FlagId>, used: &mut Vec<usize>) {
        let single = |known: &Known| known.samples == 1;
        let found = match queue {
            PassQueue::Cpu => self.readable(|known| known.what == What::Buffer, flag, used),
            _ => self.readable(|known| single(known) && known.what != What::Acceleration, flag, used),
        };
        let Some(at) = found else { return };
        let known = self.known[at];
        let buffer = known.what == What::Buffer;
        let usage = match queue {
            PassQueue::Cpu => Usage::HostRead,
            PassQueue::Transfer => Usage::TransferSrc,
            PassQueue::Graphics if buffer => {
                *self.random.pick(&[Usage::Uniform, Usage::Vertex, Usage::Index, Usage::Indirect, Usage::StorageRead])
            }
            _ if buffer => {
                *self.random.pick(&[Usage::Uniform, Usage::Indirect, Usage::StorageRead, Usage::TransferSrc])
            }
            _ if matches!(known.what, What::Depth | What::DepthStencil) => Usage::Sampled,
            _ => *self.random.pick(&[Usage::Sampled, Usage::Sampled, Usage::StorageRead, Usage::TransferSrc]),
        };
        let mut how = Use::new(usage);
        if queue == PassQueue::Graphics && matches!(usage, Usage::Sampled | Usage::Uniform | Usage::StorageRead) {
            how.stages = *self.random.pick(&[
                Stages::empty(),
                Stages::VERTEX_SHADER,
                Stages::VERTEX_SHADER | Stages::FRAGMENT_SHADER,
                Stages::FRAGMENT_SHADER,
            ]);
        }
        if !buffer {
            let first = self.random.below(u64::from(known.defined)) as u32;
            let end = first + 1 + self.random.below(u64::from(known.defined - first)) as u32;
            how.ranges.mips = Some([first, end]);
            if known.layers > 1 && self.random.chance(1, 2) {
                let first = self.random.below(u64::from(known.layers)) as u32;
                how.ranges.layers = Some([first, known.layers]);
            }
            if known.what == What::DepthStencil {
                how.aspects = *self.random.pick(&[Aspects::DEPTH, Aspects::STENCIL]);
            }
        } else if self.random.chance(1, 4) {
            how.ranges.bytes = Some(*self.random.pick(&[[0, 1024], [1024, 4096], [2048, 3072]]));
        }
        used.push(at);
        self.access(pass, at, how);
    }

    /// A write of something new, or of something that may be written again.
    fn write(&mut self, pass: PassId, queue: PassQueue, used: &mut Vec<usize>) {
        let buffers = queue == PassQueue::Cpu || self.random.chance(1, 2);
        let fits = |known: &Known| {
            !known.frozen
                && known.flag.is_none()
                && known.samples == 1
                && if buffers { known.what == What::Buffer } else { matches!(known.what, What::Color | What::Volume) }
        };
        let again = self.random.chance(1, 3).then(|| self.readable(fits, None, used)).flatten();
        let at = again.unwrap_or_else(|| {
            let what = if buffers {
                What::Buffer
            } else if self.random.chance(1, 6) {
                What::Volume
            } else {
                What::Color
            };
            self.add(what, Life::Transient)
        });
        let usage = match queue {
            PassQueue::Cpu => Usage::HostWrite,
            PassQueue::Transfer => Usage::TransferDst,
            _ if again.is_some() && self.random.chance(1, 3) => Usage::StorageReadWrite,
            _ => *self.random.pick(&[Usage::StorageWrite, Usage::StorageWrite, Usage::TransferDst]),
        };
        let mut how = Use::new(usage);
        if usage == Usage::TransferDst && buffers && self.random.chance(1, 3) {
            how.transfer = Some(Transfer::Fill);
        }
        if usage == Usage::TransferDst && queue == PassQueue::Graphics && !buffers && self.random.chance(1, 3) {
            how.transfer = Some(*self.random.pick(&[Transfer::Clear, Transfer::Blit]));
        }
        if usage != Usage::StorageReadWrite && self.random.chance(1, 4) {
            how.load = Some(Load::Discard);
        }
        let known = &mut self.known[at];
        if known.what == What::Color && known.mips > 1 && usage != Usage::StorageReadWrite {
            how.ranges.mips = Some([0, known.mips]);
            known.defined = known.mips;
        }
        known.defined = known.defined.max(1);
        used.push(at);
        self.access(pass, at, how);
    }

    /// Colour and depth attachments, with what they sample.
    fn raster(&mut self) {
        let pass = self.pass("draw", PassQueue::Graphics);
        let mut used = Vec::new();
        for _ in 0..self.random.below(3) {
            self.read(pass, PassQueue::Graphics, None, &mut used);
        }
        let size = SIZES[self.random.below(3) as usize];
        for _ in 0..1 + self.random.below(3) {
            let fits = |known: &Known| {
                known.what == What::Color
                    && known.size == size
                    && known.layers == 1
                    && known.samples == 1
                    && !known.frozen
                    && known.flag.is_none()
            };
            let again = self.random.chance(1, 3).then(|| self.readable(fits, None, &used)).flatten();
            let at = again.unwrap_or_else(|| self.fresh_target(What::Color, size));
            used.push(at);
            let mut how = Use::new(Usage::ColorAttachment);
            self.load(&mut how, again.is_some());
            self.known[at].defined = self.known[at].defined.max(1);
            self.access(pass, at, how);
        }
        if self.random.chance(1, 2) {
            let fits = |known: &Known| {
                matches!(known.what, What::Depth | What::DepthStencil)
                    && known.size == size
                    && known.layers == 1
                    && known.flag.is_none()
            };
            match self.readable(fits, None, &used) {
                Some(at) if self.random.chance(1, 2) => {
                    let both = self.known[at].what == What::Depth && self.random.chance(1, 3);
                    self.access(pass, at, Use::new(Usage::DepthStencilRead));
                    if both {
                        self.access(pass, at, Use::new(Usage::Sampled));
                    }
                }
                Some(at) => {
                    let mut how = Use::new(Usage::DepthStencilAttachment);
                    how.load = Some(Load::Load);
                    self.access(pass, at, how);
                }
                None => {
                    let what = *self.random.pick(&[What::Depth, What::DepthStencil]);
                    let at = self.fresh_target(what, size);
                    let mut how = Use::new(Usage::DepthStencilAttachment);
                    if self.random.chance(2, 3) {
                        how.load = Some(Load::Clear);
                        how.details = Details { clear: Some(Clear::Depth(1.0, None)), ..Details::default() };
                    }
                    self.known[at].defined = 1;
                    self.access(pass, at, how);
                }
            }
        }
        self.order(pass);
    }

    fn load(&mut self, how: &mut Use, again: bool) {
        match self.random.below(4) {
            0 => {
                how.load = Some(Load::Clear);
                let clear = Clear::Color([0.0, 0.25, 0.5, 1.0]);
                how.details = Details { clear: Some(clear), ..Details::default() };
            }
            1 => how.load = Some(Load::Discard),
            2 if again => how.load = Some(Load::Load),
            _ => {}
        }
    }

    /// A transient of one mip and layer.
    fn fresh_target(&mut self, what: What, size: u32) -> usize {
        self.fresh_image(what, size, 1, 1, 1)
    }

    fn fresh_image(&mut self, what: What, size: u32, mips: u32, layers: u32, samples: u32) -> usize {
        let at = self.add_sized(what, Life::Transient, size);
        let known = &mut self.known[at];
        (known.mips, known.layers, known.samples) = (mips, layers, samples);
        if let Kind::Image(image) = &mut self.graph.resource_mut(known.id).kind {
            image.mips = (mips > 1).then_some(Mips::Count(mips));
            image.layers = (layers > 1).then_some(layers);
            image.samples = (samples > 1).then_some(samples);
            image.cube = false;
        }
        at
    }

    /// Gives an image another's format.
    fn same_format(&mut self, at: usize, other: usize) {
        let format = self.graph.resources()[self.known[other].id].as_image().and_then(|image| image.format);
        if let Kind::Image(image) = &mut self.graph.resource_mut(self.known[at].id).kind {
            image.format = format;
        }
    }

    /// Every mip from the one before, read and written in one pass each.
    fn bloom(&mut self) {
        let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::Compute, PassQueue::AsyncCompute]);
        let at = self.fresh_image(What::Color, SIZES[0], 3, 1, 1);
        for mip in 0..3 {
            let pass = self.pass("bloom", queue);
            let write = if queue == PassQueue::Graphics { Usage::ColorAttachment } else { Usage::StorageWrite };
            let mut how = Use::new(write);
            how.ranges.mips = Some([mip, mip + 1]);
            self.access(pass, at, how);
            if mip > 0 {
                let mut how = Use::new(Usage::Sampled);
                how.ranges.mips = Some([mip - 1, mip]);
                self.access(pass, at, how);
            }
            self.order(pass);
            self.known[at].defined = mip + 1;
        }
    }

    /// A depth array, written layer by layer.
    fn shadow(&mut self) {
        let layers = *self.random.pick(&[2, 4]);
        let at = self.fresh_image(What::Depth, SIZES[1], 1, layers, 1);
        for layer in 0..layers {
            let pass = self.pass("shadow", PassQueue::Graphics);
            let mut how = Use::new(Usage::DepthStencilAttachment);
            how.ranges.layers = Some([layer, layer + 1]);
            how.load = Some(Load::Clear);
            how.details = Details { clear: Some(Clear::Depth(1.0, None)), ..Details::default() };
            self.access(pass, at, how);
            self.order(pass);
        }
        self.known[at].defined = 1;
    }

    /// Four samples, resolved at the end of the render pass or by a command.
    fn multisampled(&mut self) {
        let size = SIZES[self.random.below(3) as usize];
        let many = self.fresh_image(What::Color, size, 1, 1, 4);
        let one = self.fresh_image(What::Color, size, 1, 1, 1);
        let id = self.known[many].id;
        self.same_format(one, many);
        let pass = self.pass("msaa", PassQueue::Graphics);
        let mut how = Use::new(Usage::ColorAttachment);
        how.load = Some(Load::Clear);
        self.access(pass, many, how);
        if self.random.chance(2, 3) {
            let mut how = Use::new(Usage::ResolveAttachment);
            how.details =
                Details { resolves: Some(id), resolve_mode: Some(ResolveMode::Average), ..Details::default() };
            self.access(pass, one, how);
        } else {
            let resolve = self.pass("resolve", PassQueue::Graphics);
            let mut from = Use::new(Usage::TransferSrc);
            from.transfer = Some(Transfer::Resolve);
            let mut to = Use::new(Usage::TransferDst);
            to.transfer = Some(Transfer::Resolve);
            self.access(resolve, many, from);
            self.access(resolve, one, to);
        }
        self.known[many].defined = 1;
        self.known[many].frozen = true;
        self.known[one].defined = 1;
        self.order(pass);
    }

    /// A read whose writer is declared later; the writer depends on nothing. It may reach over a mip that is only
    /// written after it.
    fn forward_read(&mut self) {
        let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::Compute, PassQueue::AsyncCompute]);
        let mips = *self.random.pick(&[1, 1, 1, 2]);
        let early = self.fresh_image(What::Color, SIZES[1], mips, 1, 1);
        let pass = self.pass("early", queue);
        self.access(pass, early, Use::new(Usage::Sampled));
        let mut used = vec![early];
        self.write(pass, queue, &mut used);
        self.known[early].frozen = true;
        self.promised.push(early);
        if self.random.chance(1, 2) {
            self.keep_promise();
        }
    }

    fn keep_promise(&mut self) {
        let Some(at) = self.promised.pop() else { return };
        let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::AsyncCompute, PassQueue::Transfer]);
        let usage = match queue {
            PassQueue::Graphics => Usage::ColorAttachment,
            PassQueue::Transfer => Usage::TransferDst,
            _ => Usage::StorageWrite,
        };
        for mip in 0..self.known[at].mips {
            let pass = self.pass("late", queue);
            let mut how = Use::new(usage);
            how.ranges.mips = Some([mip, mip + 1]);
            self.access(pass, at, how);
        }
        self.known[at].defined = self.known[at].mips;
    }

    /// The same memory under a second name.
    fn modify(&mut self) {
        let plain = |known: &Known| {
            known.what == What::Color
                && known.mips == 1
                && known.layers == 1
                && known.samples == 1
                && !known.frozen
                && known.flag.is_none()
        };
        let Some(base) = self.readable(plain, None, &[]) else { return self.ordinary_pass(None) };
        let known = self.known[base];
        let of = self.graph.resources()[known.id].clone();
        let transient = of.life == Life::Transient && of.modifies.is_none();
        if !transient {
            return self.ordinary_pass(None);
        }
        let mut resource = of;
        (resource.modifies, resource.leave) = (Some(known.id), None);
        let name = self.name("modified");
        let id = self.graph.add_resource(&name, resource, None);
        self.known.push(Known { id, ..known });
        let at = self.known.len() - 1;
        self.known[base].closed = true;
        let pass = self.pass("modify", PassQueue::Graphics);
        let mut how =
            Use::new(*self.random.pick(&[Usage::ColorAttachment, Usage::StorageWrite, Usage::StorageReadWrite]));
        if how.usage == Usage::ColorAttachment {
            how.load = Some(Load::Load);
        }
        self.access(pass, at, how);
        self.known[at].defined = 1;
        self.order(pass);
        if self.random.chance(1, 3) {
            // Declared after the write of the second name, but of the first: it comes before.
            let pass = self.pass("first", PassQueue::Graphics);
            self.access(pass, base, Use::new(Usage::Sampled));
            let at = self.add(What::Buffer, Life::Transient);
            self.access(pass, at, Use::new(Usage::StorageWrite));
            self.known[at].defined = 1;
        }
    }

    /// A `modifies` of another size: a scaled blit.
    fn resize(&mut self) {
        let size = SIZES[0];
        let base = self.fresh_image(What::Color, size, 1, 1, 1);
        let pass = self.pass("full", PassQueue::Graphics);
        self.access(pass, base, Use::new(Usage::ColorAttachment));
        self.order(pass);
        let mut resource = self.graph.resources()[self.known[base].id].clone();
        resource.modifies = Some(self.known[base].id);
        if let Kind::Image(image) = &mut resource.kind {
            image.size = Some(Size::absolute(SIZES[2], SIZES[2]));
        }
        let name = self.name("scaled");
        let id = self.graph.add_resource(&name, resource, None);
        let known = Known { id, size: SIZES[2], defined: 1, ..self.known[base] };
        self.known.push(known);
        (self.known[base].closed, self.known[base].defined) = (true, 1);
        let at = self.known.len() - 1;
        let pass = self.pass("small", PassQueue::Graphics);
        let mut how = Use::new(*self.random.pick(&[Usage::ColorAttachment, Usage::StorageReadWrite]));
        if how.usage == Usage::ColorAttachment {
            how.load = Some(Load::Load);
        }
        self.access(pass, at, how);
        self.order(pass);
    }

    fn conditional_pass(&mut self, queue: PassQueue) -> (PassId, Option<FlagId>) {
        let pass = self.pass("maybe", queue);
        let flag = (!self.flags.is_empty()).then(|| *self.random.pick(&self.flags));
        self.graph.pass_mut(pass).conditional = flag;
        self.graph.pass_mut(pass).side_effects = false;
        (pass, flag)
    }

    /// A pass that may be off: over something that is there, or with a fallback.
    fn conditional(&mut self) {
        let plain = |known: &Known| {
            known.what == What::Color
                && known.mips == 1
                && known.layers == 1
                && known.samples == 1
                && known.flag.is_none()
        };
        let Some(input) = self.readable(plain, None, &[]) else { return self.ordinary_pass(None) };
        let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::AsyncCompute]);
        let writes = if queue == PassQueue::Graphics { Usage::ColorAttachment } else { Usage::StorageWrite };
        if self.random.chance(1, 2) && !self.known[input].frozen {
            let (pass, _) = self.conditional_pass(queue);
            self.access(pass, input, Use::new(writes));
            return;
        }
        if self.flags.is_empty() {
            return self.ordinary_pass(None);
        }
        let output = self.fresh_target(What::Color, self.known[input].size);
        self.same_format(output, input);
        let (pass, _) = self.conditional_pass(queue);
        self.access(pass, output, Use::new(writes));
        if self.random.chance(1, 2) {
            self.access(pass, input, Use::new(Usage::Sampled));
        }
        self.graph.fallback(pass, self.known[output].id, self.known[input].id);
        let (known, base) = (self.known[output].id, input);
        self.known[output].closed = true;
        self.known[base].frozen = true;
        for _ in 0..=self.random.below(2) {
            let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::AsyncCompute]);
            let reader = self.pass("either", queue);
            self.graph.access(reader, known, &Use::new(Usage::Sampled), None);
            let mut used = vec![input, output];
            self.write(reader, queue, &mut used);
            self.order(reader);
        }
    }

    /// Writer and reader under one flag.
    fn conditional_reader(&mut self) {
        if self.flags.is_empty() {
            return self.raster();
        }
        let at = self.fresh_target(What::Color, SIZES[1]);
        let (pass, flag) = self.conditional_pass(PassQueue::Graphics);
        self.access(pass, at, Use::new(Usage::ColorAttachment));
        (self.known[at].defined, self.known[at].flag, self.known[at].frozen) = (1, flag, true);
        let plain = |known: &Known| known.what == What::Buffer && !known.frozen && known.flag.is_none();
        let Some(into) = self.readable(plain, None, &[]) else { return };
        let reader = self.pass("also", PassQueue::AsyncCompute);
        self.graph.pass_mut(reader).conditional = flag;
        self.access(reader, at, Use::new(Usage::Sampled));
        self.access(reader, into, Use::new(Usage::StorageReadWrite));
    }

    /// Writes that commute.
    fn commuting(&mut self) {
        let at = self.add(What::Buffer, Life::Transient);
        let pass = self.pass("zero", PassQueue::Graphics);
        let mut how = Use::new(Usage::TransferDst);
        how.transfer = Some(Transfer::Fill);
        self.access(pass, at, how);
        self.order(pass);
        for _ in 0..2 + self.random.below(2) {
            let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::Compute, PassQueue::AsyncCompute]);
            let pass = self.pass("add", queue);
            let mut used = vec![at];
            self.read(pass, queue, None, &mut used);
            let mut how = Use::new(*self.random.pick(&[Usage::StorageReadWrite, Usage::StorageWrite]));
            how.unordered = true;
            self.access(pass, at, how);
            self.order(pass);
        }
        self.known[at].defined = 1;
    }

    /// An acceleration structure, built, updated, traced.
    fn acceleration(&mut self) {
        let input = self.readable(|known| known.what == What::Buffer && known.flag.is_none(), None, &[]);
        let scene = self.add(What::Acceleration, Life::Transient);
        let scratch = self.add(What::Buffer, Life::Transient);
        self.known[scratch].closed = true;
        let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::Compute, PassQueue::AsyncCompute]);
        let build = self.pass("build", queue);
        self.access(build, scene, Use::new(Usage::AccelerationBuild));
        self.access(build, scratch, Use::new(Usage::AccelerationScratch));
        if let Some(input) = input {
            self.access(build, input, Use::new(Usage::AccelerationInput));
        }
        self.order(build);
        if self.random.chance(1, 2) {
            let update = self.pass("update", queue);
            self.access(update, scene, Use::new(Usage::AccelerationUpdate));
            self.access(update, scratch, Use::new(Usage::AccelerationScratch));
            self.order(update);
        }
        let queue = *self.random.pick(&[PassQueue::Compute, PassQueue::AsyncCompute]);
        let trace = self.pass("trace", queue);
        let mut how = Use::new(Usage::AccelerationRead);
        how.stages = *self.random.pick(&[Stages::RAY_TRACING_SHADER, Stages::COMPUTE_SHADER]);
        self.access(trace, scene, how);
        let mut used = vec![scene, scratch];
        self.write(trace, queue, &mut used);
        self.order(trace);
    }

    /// What an image or buffer held some frames ago.
    fn history(&mut self) {
        let buffer = self.random.chance(1, 4);
        let at =
            if buffer { self.add(What::Buffer, Life::Transient) } else { self.fresh_target(What::Color, SIZES[1]) };
        let of = self.known[at].id;
        let kind = match buffer {
            true => Kind::Buffer(Buffer::default()),
            false => Kind::Image(Image::default()),
        };
        let mut readers = Vec::new();
        for frames in 1..=1 + self.random.below(2) as u32 {
            let zero_first = self.random.chance(1, 2);
            let name = self.name("past");
            let mut resource = Resource::buffer(BYTES);
            resource.kind = kind.clone();
            resource.life = Life::History(History { of, frames, zero_first });
            readers.push(self.graph.add_resource(&name, resource, None));
        }
        let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::Compute, PassQueue::AsyncCompute]);
        let apart = self.random.chance(1, 2);
        let pass = self.pass("now", queue);
        let reader = if apart {
            let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::Compute, PassQueue::AsyncCompute]);
            self.pass("before", queue)
        } else {
            pass
        };
        let usage = if buffer || queue != PassQueue::Graphics { Usage::StorageWrite } else { Usage::ColorAttachment };
        self.access(pass, at, Use::new(usage));
        for past in readers {
            let usage = if buffer { Usage::StorageRead } else { Usage::Sampled };
            self.graph.access(reader, past, &Use::new(usage), None);
        }
        if apart {
            let mut used = vec![at];
            let queue = self.graph.passes()[reader].queue;
            self.write(reader, queue, &mut used);
            self.order(reader);
        }
        (self.known[at].defined, self.known[at].frozen) = (1, true);
        self.order(pass);
    }

    /// Raster passes that read each other texel by texel.
    fn merge_candidates(&mut self) {
        let size = SIZES[self.random.below(3) as usize];
        let albedo = self.fresh_target(What::Color, size);
        let depth = self.fresh_target(What::Depth, size);
        let lit = self.fresh_target(What::Color, size);
        let pass = self.pass("gbuffer", PassQueue::Graphics);
        let mut how = Use::new(Usage::ColorAttachment);
        how.load = Some(Load::Clear);
        self.access(pass, albedo, how);
        let mut how = Use::new(Usage::DepthStencilAttachment);
        how.load = Some(Load::Clear);
        self.access(pass, depth, how);
        self.order(pass);
        let pass = self.pass("lighting", PassQueue::Graphics);
        self.access(pass, albedo, Use::new(Usage::InputAttachment));
        if self.random.chance(1, 2) {
            self.access(pass, depth, Use::new(Usage::DepthStencilRead));
        }
        self.access(pass, lit, Use::new(Usage::ColorAttachment));
        self.order(pass);
        if self.random.chance(1, 2) {
            let pass = self.pass("sky", PassQueue::Graphics);
            self.access(pass, depth, Use::new(Usage::DepthStencilRead));
            self.access(pass, lit, Use::new(Usage::ColorAttachment));
            self.order(pass);
        }
        for at in [albedo, depth, lit] {
            self.known[at].defined = 1;
        }
    }

    /// Two halves of a buffer, written apart and read together.
    fn halves(&mut self) {
        let at = self.add(What::Buffer, Life::Transient);
        for half in [[0, BYTES / 2], [BYTES / 2, BYTES]] {
            let queue =
                *self.random.pick(&[PassQueue::Compute, PassQueue::AsyncCompute, PassQueue::Transfer, PassQueue::Cpu]);
            let pass = self.pass("half", queue);
            let mut how = Use::new(match queue {
                PassQueue::Transfer => Usage::TransferDst,
                PassQueue::Cpu => Usage::HostWrite,
                _ => Usage::StorageWrite,
            });
            how.ranges = Ranges { bytes: Some(half), ..Ranges::default() };
            self.access(pass, at, how);
            self.order(pass);
        }
        self.known[at].defined = 1;
    }

    /// A swapchain image, drawn to and presented.
    fn presented(&mut self) {
        let imported = Imported { defined: false, ..Imported::default() };
        let at = self.add_sized(What::Color, Life::Imported(imported), SIZES[0]);
        let pass = self.pass("blit", PassQueue::Graphics);
        let mut used = vec![at];
        self.read(pass, PassQueue::Graphics, None, &mut used);
        let mut how = Use::new(Usage::ColorAttachment);
        how.load = Some(Load::Clear);
        self.access(pass, at, how);
        self.order(pass);
        let pass = self.pass("present", PassQueue::Graphics);
        self.access(pass, at, Use::new(Usage::Present));
        self.order(pass);
        self.known[at].closed = true;
    }

    /// Mips generated at the end of a pass.
    fn mips(&mut self) {
        let queue = *self.random.pick(&[PassQueue::Graphics, PassQueue::Compute, PassQueue::AsyncCompute]);
        let layers = *self.random.pick(&[1, 1, 2]);
        let at = self.fresh_image(What::Color, SIZES[1], 4, layers, 1);
        let (pass, flag) =
            if self.random.chance(1, 4) { self.conditional_pass(queue) } else { (self.pass("fill", queue), None) };
        let mut how = Use::new(if queue == PassQueue::Graphics { Usage::ColorAttachment } else { Usage::StorageWrite });
        how.generate_mips = true;
        self.access(pass, at, how);
        (self.known[at].defined, self.known[at].flag, self.known[at].frozen) = (4, flag, flag.is_some());
        self.order(pass);
    }

    /// Writers that are still owed, and roots.
    fn finish(&mut self) {
        while !self.promised.is_empty() {
            self.keep_promise();
        }
        let transient = |maker: &Self, at: usize| {
            let resource = &maker.graph.resources()[maker.known[at].id];
            resource.life == Life::Transient
                && !maker.known[at].closed
                && maker.known[at].flag.is_none()
                && maker.known[at].defined > 0
        };
        let list: Vec<usize> = (0..self.known.len()).filter(|at| transient(self, *at)).collect();
        for at in &list {
            if self.random.chance(1, 3) {
                self.graph.root(self.known[*at].id);
            }
        }
        if let Some(last) = list.last() {
            self.graph.root(self.known[*last].id);
        } else {
            let at = self.fresh_target(What::Color, SIZES[0]);
            let pass = self.pass("final", PassQueue::Graphics);
            self.access(pass, at, Use::new(Usage::ColorAttachment));
            self.graph.root(self.known[at].id);
        }
    }
}
