//! The steps, and passes that read and write whatever there is.

use rgraph_ir::access::{Load, PassQueue, Stages, Transfer, Usage};
use rgraph_ir::format::Format;
use rgraph_ir::graph::{Clear, Details, Ranges, Use};

use super::known::{KnownId, Left, Shape, What};
use super::pass_builder::PassBuilder;
use super::usages::{Work, reading, writing};
use super::{Construct, Maker};

/// What a step can be; a zero is the first.
const STEPS: [fn(&mut Maker); 40] = [
    Maker::ordinary_draw,
    Maker::ordinary_draw,
    Maker::ordinary_dispatch,
    Maker::ordinary_dispatch,
    Maker::ordinary_dispatch,
    Maker::ordinary_copy,
    Maker::ordinary_copy,
    Maker::raster,
    Maker::raster,
    Maker::raster,
    Maker::host,
    Maker::host,
    Maker::moved,
    Maker::moved,
    Maker::external_use,
    Maker::external_use,
    Maker::merged,
    Maker::merged,
    Maker::multisampled,
    Maker::multisampled,
    Maker::mip_chain,
    Maker::generated_mips,
    Maker::generated_mips,
    Maker::layer_by_layer,
    Maker::apart,
    Maker::history,
    Maker::history,
    Maker::modify,
    Maker::modify,
    Maker::scaled,
    Maker::forward_read,
    Maker::forward_read,
    Maker::early_modifies,
    Maker::pay_or_draw,
    Maker::conditional,
    Maker::conditional,
    Maker::replaceable,
    Maker::commuting,
    Maker::acceleration,
    Maker::presented,
];

impl Maker {
    /// One to four passes of one idea.
    pub(super) fn step(&mut self) {
        if self.late.chance(1, 32) && self.allows(Construct::StencilMasks) {
            return self.stencil();
        }
        let step = self.source.pick(&STEPS);
        step(self);
    }

    fn pay_or_draw(&mut self) {
        if self.debts.is_empty() { self.empty() } else { self.pay() }
    }

    /// A pass without any access.
    fn empty(&mut self) {
        if !self.allows(Construct::EmptyPasses) {
            return self.ordinary_draw();
        }
        let work = self.source.pick(&[Work::Draw, Work::Dispatch, Work::Copy, Work::Host]);
        let queue = self.queue(work);
        let builder = self.begin("empty", work, queue);
        self.finish_pass(builder);
    }

    fn ordinary_draw(&mut self) {
        self.ordinary_pass(Work::Draw);
    }

    fn ordinary_dispatch(&mut self) {
        self.ordinary_pass(Work::Dispatch);
    }

    fn ordinary_copy(&mut self) {
        self.ordinary_pass(Work::Copy);
    }

    /// Reads and writes of whatever there is; zeros: one write of something new.
    fn ordinary_pass(&mut self, work: Work) {
        let queue = self.queue(work);
        let mut builder = self.begin("work", work, queue);
        if self.source.chance(1, 8) {
            self.drawn_flag(&mut builder);
        }
        let reads = self.source.below(4);
        self.some_reads(&mut builder, reads);
        let writes = 1 + self.source.below(2);
        self.some_writes(&mut builder, writes);
        self.finish_pass(builder);
    }

    /// Reads of what holds something.
    pub(super) fn some_reads(&mut self, builder: &mut PassBuilder, count: usize) {
        for _ in 0..count {
            let (flag, work) = (builder.flag, builder.work);
            let multisampled = self.allows(Construct::SampledSamples);
            let images = self.allows(Construct::HostImages);
            let found = self.find(builder, |known| {
                let owed = known.owed.is_some_and(|(_, common)| common != 0);
                (known.readable(flag) != 0 || owed)
                    && (multisampled || known.shape.samples == 1)
                    && (images || work != Work::Host || !known.shape.is_image())
            });
            let Some(at) = found else { return };
            let usages = reading(&self.known[at].shape, work);
            let usage = self.source.pick(&usages);
            let mut how = Use::new(usage);
            self.drawn_stages(builder, at, &mut how);
            if !self.try_put(builder, at, how) && usage != usages[0] {
                self.try_put(builder, at, Use::new(usages[0]));
            }
        }
    }

    /// A write of something that the pass may write, and of something new where the bytes say so or nothing fits.
    pub(super) fn some_writes(&mut self, builder: &mut PassBuilder, count: usize) {
        for _ in 0..count {
            let (work, flag) = (builder.work, builder.flag);
            let again = self.source.chance(1, 2);
            let found = again.then(|| {
                self.find(builder, |known| {
                    known.left <= Left::Replacing && !writing(&known.shape, work, known.readable(flag) != 0).is_empty()
                })
            });
            if let Some(at) = found.flatten()
                && let Some(how) = self.drawn_write(builder, at)
                && self.try_put(builder, at, how)
            {
                continue;
            }
            if flag.is_some() && self.source.chance(1, 2) {
                continue;
            }
            let shape = self.fresh_shape(work);
            let at = self.declare(shape);
            if let Some(how) = self.drawn_write(builder, at)
                && !self.try_put(builder, at, how)
            {
                let plain = if work == Work::Host { Usage::HostWrite } else { Usage::TransferDst };
                self.try_put(builder, at, Use::new(plain));
            }
        }
    }

    fn fresh_shape(&mut self, work: Work) -> Shape {
        let image = work != Work::Host && (work == Work::Draw || self.source.chance(1, 2));
        if !image {
            return self.drawn_buffer();
        }
        if self.source.chance(1, 2) { self.drawn_image() } else { self.drawn_target() }
    }

    /// How a pass may write a resource.
    pub(super) fn drawn_write(&mut self, builder: &PassBuilder, at: KnownId) -> Option<Use> {
        let known = self.known[at];
        let readable = known.readable(builder.flag) != 0;
        let usages = writing(&known.shape, builder.work, readable && known.left == Left::Everything);
        if usages.is_empty() {
            return None;
        }
        let mut how = Use::new(self.source.pick(&usages));
        match how.usage {
            Usage::ColorAttachment | Usage::DepthStencilAttachment => {
                self.drawn_load(&mut how, &known.shape, readable);
            }
            Usage::TransferDst => self.drawn_transfer(&mut how, builder, &known.shape),
            _ => self.drawn_stages(builder, at, &mut how),
        }
        let keeps = matches!(how.usage, Usage::StorageWrite | Usage::TransferDst | Usage::HostWrite);
        if keeps && how.load.is_none() && self.source.chance(1, 4) {
            how.load = Some(Load::Discard);
        }
        if known.left == Left::Replacing && !super::usages::replaces(&how) {
            how.load = Some(Load::Discard);
        }
        Some(how)
    }

    /// What becomes of an attachment's contents.
    pub(super) fn drawn_load(&mut self, how: &mut Use, shape: &Shape, readable: bool) {
        let depth = shape.is_depth();
        match self.source.below(6) {
            1 => {
                how.load = Some(Load::Clear);
                let clear = if depth { Clear::Depth(1.0, None) } else { Clear::Color([0.0, 0.25, 0.5, 1.0]) };
                how.details = Details { clear: Some(clear), ..Details::default() };
            }
            2 => how.load = Some(Load::Clear),
            3 => how.load = Some(Load::Discard),
            4 if readable => how.load = Some(Load::Load),
            5 if depth => {
                let clear = Clear::Depth(0.5, Some(3));
                how.load = Some(Load::Clear);
                how.details = Details { clear: Some(clear), ..Details::default() };
            }
            _ => {}
        }
        let stencil = shape.aspects().bits().count_ones() > 1;
        if stencil && self.source.chance(1, 3) {
            let loads = [Load::Clear, Load::Discard, Load::Load];
            how.stencil_load = Some(self.source.pick(&loads[..if readable { 3 } else { 2 }]));
        }
        if how.details.clear.is_some() && how.load.is_none() {
            how.load = Some(Load::Clear);
        }
    }

    /// Which command writes: a copy, a clear or a fill. Blits and resolves have sources and stand elsewhere.
    fn drawn_transfer(&mut self, how: &mut Use, builder: &PassBuilder, shape: &Shape) {
        let shaders = matches!(builder.work, Work::Draw | Work::Dispatch);
        if !self.source.chance(1, 3) {
            return;
        }
        if !shape.is_image() {
            how.transfer = Some(Transfer::Fill);
        } else if shaders && !shape.is_block() {
            how.transfer = Some(Transfer::Clear);
        }
    }

    /// A pass of the CPU: partial reads and writes of buffers that others use.
    fn host(&mut self) {
        let mut builder = self.begin("host", Work::Host, PassQueue::Cpu);
        if self.source.chance(1, 12) {
            self.drawn_flag(&mut builder);
        }
        let reads = self.source.below(3);
        self.some_reads(&mut builder, reads);
        let writes = self.source.below(3).max(usize::from(reads == 0));
        self.some_writes(&mut builder, writes);
        self.finish_pass(builder);
    }

    /// A copy, blit or resolve with its source.
    fn moved(&mut self) {
        let blit = self.source.chance(1, 2);
        let (work, queue) = if blit {
            (Work::Draw, self.source.pick(&[PassQueue::Graphics, PassQueue::Any]))
        } else {
            (Work::Copy, self.queue(Work::Copy))
        };
        let mut builder = self.begin("move", work, queue);
        let fits = |known: &super::known::Known| {
            known.defined != 0
                && known.owed.is_none()
                && known.shape.samples == 1
                && if blit { known.shape.is_color() } else { known.shape.what != What::Structure }
        };
        let Some(from) = self.find(&builder, fits) else {
            self.some_writes(&mut builder, 1);
            self.finish_pass(builder);
            return;
        };
        let transfer = blit.then_some(Transfer::Blit);
        if self.try_put(&mut builder, from, Use { transfer, ..Use::new(Usage::TransferSrc) }) {
            let source = self.known[from].shape;
            let fits = |known: &super::known::Known| {
                known.left <= Left::Replacing
                    && known.shape.what == source.what
                    && known.shape.samples == 1
                    && known.shape.format == source.format
            };
            let again = self.source.chance(1, 3).then(|| self.find(&builder, fits)).flatten();
            let to = again.filter(|to| *to != from).unwrap_or_else(|| {
                let shape = if blit { Shape { format: source.format, ..self.drawn_target() } } else { source };
                self.declare(shape)
            });
            let load = self.source.chance(1, 2).then_some(Load::Discard);
            self.try_put(&mut builder, to, Use { transfer, load, ..Use::new(Usage::TransferDst) });
        }
        self.finish_pass(builder);
    }

    /// Something of the caller's, or from the frame before, and a pass that uses it.
    fn external_use(&mut self) {
        let at = self.external();
        let mut work = self.source.pick(&[Work::Draw, Work::Dispatch, Work::Copy]);
        let leave = self.graph.resources()[self.known[at].id].leave.is_some_and(|leave| leave.queue.is_some());
        let image = self.known[at].shape.is_image();
        let host = leave && self.allows(Construct::LeaveAfterHost) && (!image || self.allows(Construct::HostImages));
        if self.late.chance(1, 4) && host {
            work = Work::Host;
        }
        let queue = self.queue(work);
        let mut builder = self.begin("outer", work, queue);
        let writes = self.source.chance(1, 2) && self.known[at].left == Left::Everything;
        let how = if writes { self.drawn_write(&builder, at) } else { None };
        match how {
            Some(how) => {
                self.try_put(&mut builder, at, how);
                self.some_reads(&mut builder, 1);
            }
            None => {
                let usages = reading(&self.known[at].shape, work);
                let how = Use::new(self.source.pick(&usages));
                self.try_put(&mut builder, at, how);
                self.some_writes(&mut builder, 1);
            }
        }
        self.finish_pass(builder);
    }

    /// Accesses that commute: writes, reads and both, by passes on several queues.
    fn commuting(&mut self) {
        let image = self.source.chance(1, 4) && self.allows(Construct::UnorderedImages);
        let mut shape = if image { self.drawn_target() } else { self.drawn_buffer() };
        if !shape.stores() {
            shape.format = Format::R32uint;
        }
        let at = self.declare(shape);
        if !self.allows(Construct::UnorderedFirst) || !self.source.chance(1, 3) {
            let mut builder = self.begin("zero", Work::Dispatch, PassQueue::Graphics);
            let transfer = if shape.is_image() { Transfer::Clear } else { Transfer::Fill };
            self.put(&mut builder, at, &Use { transfer: Some(transfer), ..Use::new(Usage::TransferDst) });
            self.finish_pass(builder);
        }
        for number in 0..2 + self.source.below(3) {
            let queue = self.queue(Work::Dispatch);
            let mut builder = self.begin("add", Work::Dispatch, queue);
            let mut usages = vec![Usage::StorageWrite];
            if self.known[at].defined != 0 {
                usages.insert(0, Usage::StorageReadWrite);
                if self.allows(Construct::UnorderedReads) {
                    usages.push(Usage::StorageRead);
                }
            }
            let how = Use { unordered: true, ..Use::new(self.source.pick(&usages)) };
            self.try_put(&mut builder, at, how);
            self.some_reads(&mut builder, 1);
            if number > 0 && self.source.chance(1, 3) {
                self.some_writes(&mut builder, 1);
            }
            self.finish_pass(builder);
        }
    }

    /// An acceleration structure: built, updated, instanced, traced, with scratch memory of builds.
    fn acceleration(&mut self) {
        let scene = self.declare(Shape { what: What::Structure, ..Shape::buffer(4096) });
        let scratch = self.declare(Shape::buffer(4096));
        let queue = self.queue(Work::Dispatch);
        let mut builder = self.begin("build", Work::Dispatch, queue);
        self.try_put(&mut builder, scene, Use::new(Usage::AccelerationBuild));
        self.scratch(&mut builder, scratch);
        let input = self.find(&builder, |known| known.shape.what == What::Buffer && known.defined != 0);
        if let Some(input) = input {
            self.try_put(&mut builder, input, Use::new(Usage::AccelerationInput));
        }
        self.finish_pass(builder);
        for _ in 0..self.source.below(3) {
            let queue = self.queue(Work::Dispatch);
            let mut builder = self.begin("update", Work::Dispatch, queue);
            let usages =
                [Usage::AccelerationUpdate, Usage::AccelerationUpdate, Usage::AccelerationBuild, Usage::TransferSrc];
            let usage = self.source.pick(&usages);
            self.try_put(&mut builder, scene, Use::new(usage));
            if usage == Usage::TransferSrc {
                self.some_writes(&mut builder, 1);
            } else {
                self.scratch(&mut builder, scratch);
            }
            self.finish_pass(builder);
        }
        let queue = self.queue(Work::Dispatch);
        let mut builder = self.begin("trace", Work::Dispatch, queue);
        let mut how = Use::new(Usage::AccelerationRead);
        self.drawn_stages(&builder, scene, &mut how);
        self.try_put(&mut builder, scene, how);
        self.some_writes(&mut builder, 1);
        self.finish_pass(builder);
    }

    fn scratch(&mut self, builder: &mut PassBuilder, at: KnownId) {
        let storage =
            self.allows(Construct::StorageScratch) && builder.queue != PassQueue::Any && self.source.chance(1, 4);
        let how = if storage {
            let stages = Stages::ACCELERATION_STRUCTURE_BUILD;
            Use { stages, load: Some(Load::Discard), ..Use::new(Usage::StorageWrite) }
        } else {
            Use::new(Usage::AccelerationScratch)
        };
        self.try_put(builder, at, how);
    }

    /// Each mip from the one before, in a pass each.
    fn mip_chain(&mut self) {
        let mips = self.source.pick(&[3, 2, 4]);
        let layers = self.source.pick(&[1, 1, 2]);
        let shape = Shape { mips, layers, ..self.drawn_target() };
        let at = self.declare(shape);
        let work = self.source.pick(&[Work::Draw, Work::Dispatch]);
        let queue = self.queue(work);
        for mip in 0..mips {
            let mut builder = self.begin("down", work, queue);
            let ranges = |mip: u32| Ranges { mips: Some([mip, mip + 1]), ..Ranges::default() };
            if mip > 0 {
                self.try_put(&mut builder, at, Use { ranges: ranges(mip - 1), ..Use::new(Usage::Sampled) });
            }
            let usage = match work {
                Work::Draw => Usage::ColorAttachment,
                _ if shape.stores() => Usage::StorageWrite,
                _ => Usage::TransferDst,
            };
            self.try_put(&mut builder, at, Use { ranges: ranges(mip), ..Use::new(usage) });
            self.finish_pass(builder);
        }
    }
}
