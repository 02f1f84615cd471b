//! Passes with attachments: draws, passes that merge, samples and their resolves, layers, aspects, mips, the screen.

use rgraph_ir::access::{Aspects, Layout, Load, PassQueue, ResolveMode, Transfer, Usage};
use rgraph_ir::format::{Format, Numbers};
use rgraph_ir::graph::{Clear, Details, Ranges, Use};
use rgraph_ir::resource::{Imported, Leave, Life};

use super::known::{Known, KnownId, Left, Shape};
use super::pass_builder::PassBuilder;
use super::usages::Work;
use super::{Construct, Maker};

impl Maker {
    /// Colour and depth attachments of one size, and what the draws read.
    pub(super) fn raster(&mut self) {
        let queue = self.queue(Work::Draw);
        let mut builder = self.begin("draw", Work::Draw, queue);
        if self.source.chance(1, 10) {
            self.drawn_flag(&mut builder);
        }
        let target = self.drawn_target();
        for _ in 0..1 + self.source.below(3) {
            self.target(&mut builder, target.size);
        }
        if self.source.chance(1, 2) {
            self.depth_target(&mut builder, target.size);
        }
        let reads = self.source.below(3);
        self.some_reads(&mut builder, reads);
        self.finish_pass(builder);
    }

    /// A colour attachment of that size: one that is there, or a new one.
    fn target(&mut self, builder: &mut PassBuilder, size: [u32; 3]) {
        let flag = builder.flag;
        if self.source.chance(1, 2) {
            let fits =
                |known: &Known| known.shape.is_color() && known.shape.size == size && known.left <= Left::Replacing;
            if let Some(at) = self.find(builder, fits) {
                let mut how = Use::new(Usage::ColorAttachment);
                let known = self.known[at];
                self.drawn_load(&mut how, &known.shape, known.readable(flag) != 0);
                if self.try_put(builder, at, how) {
                    return;
                }
            }
        }
        let shape = Shape::image(self.drawn_color(), size[0], size[1]);
        let at = self.declare(shape);
        let mut how = Use::new(Usage::ColorAttachment);
        self.drawn_load(&mut how, &shape, false);
        self.try_put(builder, at, how);
    }

    /// A depth attachment, written or only tested against.
    fn depth_target(&mut self, builder: &mut PassBuilder, size: [u32; 3]) {
        let flag = builder.flag;
        let fits = |known: &Known| known.shape.is_depth() && known.shape.size == size && known.readable(flag) != 0;
        let choice = self.source.below(4);
        let found = if choice == 0 { None } else { self.find(builder, fits) };
        let Some(at) = found else {
            let shape = Shape::image(self.drawn_depth(), size[0], size[1]);
            let at = self.declare(shape);
            let mut how = Use::new(Usage::DepthStencilAttachment);
            self.drawn_load(&mut how, &shape, false);
            self.try_put(builder, at, how);
            return;
        };
        let mut how = Use::new(if choice == 1 { Usage::DepthStencilAttachment } else { Usage::DepthStencilRead });
        if choice == 1 {
            let shape = self.known[at].shape;
            self.drawn_load(&mut how, &shape, true);
        } else {
            self.drawn_stages(builder, at, &mut how);
        }
        if self.try_put(builder, at, how) && choice == 3 {
            self.try_put(builder, at, Use::new(Usage::Sampled));
        }
    }

    /// A pass that fills targets, one that reads them in place, and further ones on the same targets.
    pub(super) fn merged(&mut self) {
        let target = self.drawn_target();
        let depth = Shape { format: self.drawn_depth(), ..target };
        let [albedo, depth, lit] = [target, depth, target].map(|shape| self.declare(shape));
        let mut builder = self.begin("gbuffer", Work::Draw, PassQueue::Graphics);
        for at in [albedo, depth] {
            let usage = if at == depth { Usage::DepthStencilAttachment } else { Usage::ColorAttachment };
            self.try_put(&mut builder, at, Use { load: Some(Load::Clear), ..Use::new(usage) });
        }
        self.finish_pass(builder);
        let mut builder = self.begin("lighting", Work::Draw, PassQueue::Graphics);
        self.try_put(&mut builder, albedo, Use::new(Usage::InputAttachment));
        let tested = self.source.below(4);
        self.tested(&mut builder, depth, tested);
        self.try_put(&mut builder, lit, Use::new(Usage::ColorAttachment));
        self.finish_pass(builder);
        for _ in 0..self.source.below(3) {
            let mut builder = self.begin("more", Work::Draw, PassQueue::Graphics);
            let choice = self.source.below(5);
            if choice == 4 {
                self.try_put(&mut builder, lit, Use::new(Usage::InputAttachment));
            }
            self.try_put(&mut builder, lit, Use::new(Usage::ColorAttachment));
            self.tested(&mut builder, depth, choice);
            if self.source.chance(1, 3) {
                self.target(&mut builder, target.size);
            }
            self.finish_pass(builder);
        }
    }

    /// A depth image tested against, read in place, or both.
    fn tested(&mut self, builder: &mut PassBuilder, depth: KnownId, choice: usize) {
        if matches!(choice, 1 | 3) {
            self.try_put(builder, depth, Use::new(Usage::DepthStencilRead));
        }
        if matches!(choice, 2 | 3) {
            self.try_put(builder, depth, Use::new(Usage::InputAttachment));
        }
    }

    /// Several samples per texel, resolved at the end of the render pass or by a command, or read as they are.
    pub(super) fn multisampled(&mut self) {
        let mut target = self.drawn_target();
        let odd = self.allows(Construct::OddSamples);
        let samples = if odd { self.source.pick(&[4, 2]) } else { 4 };
        let deep = odd && self.source.chance(1, 3);
        if deep {
            target.format = self.drawn_depth();
        }
        let many = self.declare(Shape { samples, ..target });
        let mut builder = self.begin("msaa", Work::Draw, PassQueue::Graphics);
        let usage = if deep { Usage::DepthStencilAttachment } else { Usage::ColorAttachment };
        self.try_put(&mut builder, many, Use { load: Some(Load::Clear), ..Use::new(usage) });
        let choice = self.source.below(4);
        if choice < 3 && (deep || choice != 2) {
            let one = self.declare(target);
            let modes = resolve_modes(target.format);
            let details = Details {
                resolves: (!odd || !self.source.chance(1, 4)).then(|| self.known[many].id),
                resolve_mode: Some(self.source.pick(modes)),
                ..Details::default()
            };
            self.try_put(&mut builder, one, Use { details, ..Use::new(Usage::ResolveAttachment) });
        }
        if deep && self.source.chance(1, 2) {
            let color = Shape { samples, format: Format::Rgba8unorm, ..target };
            let color = self.declare(color);
            self.try_put(&mut builder, color, Use::new(Usage::ColorAttachment));
        }
        self.finish_pass(builder);
        if choice >= 2 && !deep {
            let one = self.declare(target);
            let mut builder = self.begin("resolve", Work::Draw, PassQueue::Graphics);
            let transfer = Some(Transfer::Resolve);
            self.try_put(&mut builder, many, Use { transfer, ..Use::new(Usage::TransferSrc) });
            self.try_put(&mut builder, one, Use { transfer, ..Use::new(Usage::TransferDst) });
            self.finish_pass(builder);
        }
        if !self.allows(Construct::SampledSamples) {
            self.known[many].left = Left::Nothing;
        }
    }

    /// Layers of an array or cube, each in a pass of its own, of colour or depth.
    pub(super) fn layer_by_layer(&mut self) {
        let mut shape = self.drawn_target();
        let count = self.source.pick(&[2, 3, 6]);
        if self.source.chance(1, 2) {
            shape.format = self.drawn_depth();
        } else if count == 6 {
            (shape.cube, shape.size[1]) = (true, shape.size[0]);
        }
        shape.layers = count;
        let at = self.declare(shape);
        let usage = if shape.is_depth() { Usage::DepthStencilAttachment } else { Usage::ColorAttachment };
        for layer in 0..count.min(4) {
            let mut builder = self.begin("layer", Work::Draw, PassQueue::Graphics);
            let ranges = Ranges { layers: Some([layer, layer + 1]), ..Ranges::default() };
            let mut how = Use { ranges, ..Use::new(usage) };
            self.drawn_load(&mut how, &shape, false);
            self.try_put(&mut builder, at, how);
            self.finish_pass(builder);
        }
    }

    /// Depth and stencil of one image, each used in its own way.
    pub(super) fn apart(&mut self) {
        if !self.allows(Construct::AspectsApart) {
            return self.raster();
        }
        let format = self.source.pick(&[Format::Depth24plusStencil8, Format::Depth32floatStencil8]);
        let target = self.drawn_target();
        let shape = Shape { format, ..target };
        let at = self.declare(shape);
        let mut builder = self.begin("both", Work::Draw, PassQueue::Graphics);
        let mut how = Use::new(Usage::DepthStencilAttachment);
        how.details.clear = Some(Clear::Depth(1.0, Some(1)));
        how.load = Some(Load::Clear);
        self.try_put(&mut builder, at, how);
        self.finish_pass(builder);
        let (one, other) = if self.source.chance(1, 2) {
            (Aspects::STENCIL, Aspects::DEPTH)
        } else {
            (Aspects::DEPTH, Aspects::STENCIL)
        };
        let mut builder = self.begin("apart", Work::Draw, PassQueue::Graphics);
        let usage = self.source.pick(&[Usage::DepthStencilRead, Usage::DepthStencilAttachment]);
        self.try_put(&mut builder, at, Use { aspects: one, ..Use::new(usage) });
        let usage = self.source.pick(&[Usage::Sampled, Usage::DepthStencilRead, Usage::Sampled]);
        self.try_put(&mut builder, at, Use { aspects: other, ..Use::new(usage) });
        self.target(&mut builder, target.size);
        self.finish_pass(builder);
        let queue = self.queue(Work::Dispatch);
        let mut builder = self.begin("look", Work::Dispatch, queue);
        self.try_put(&mut builder, at, Use { aspects: one, ..Use::new(Usage::Sampled) });
        self.some_writes(&mut builder, 1);
        self.finish_pass(builder);
    }

    /// Mips generated at the end of a pass, and a pass that reads some.
    pub(super) fn generated_mips(&mut self) {
        let mut shape = self.drawn_target();
        if !shape.blends() {
            shape.format = Format::Rgba16float;
        }
        if !self.allows(Construct::OddScales) {
            // The last of four levels is more than one texel, whatever the size is divided by.
            shape.size = [128, 128, 1];
        }
        shape.mips = self.source.pick(&[3, 4, 2]);
        shape.layers = self.source.pick(&[1, 1, 2]);
        let at = self.declare(shape);
        let work = self.source.pick(&[Work::Draw, Work::Dispatch]);
        let queue = self.queue(work);
        let mut builder = self.begin("fill", work, queue);
        if self.source.chance(1, 4) {
            self.drawn_flag(&mut builder);
        }
        let usage = match work {
            Work::Draw => Usage::ColorAttachment,
            _ if shape.stores() => Usage::StorageWrite,
            _ => Usage::TransferDst,
        };
        let how = Use { generate_mips: true, ..Use::new(usage) };
        if !self.try_put(&mut builder, at, how) {
            self.try_put(&mut builder, at, Use::new(usage));
        }
        let flag = builder.flag;
        self.finish_pass(builder);
        if self.source.chance(1, 2) {
            let queue = self.queue(Work::Dispatch);
            let mut builder = self.begin("look", Work::Dispatch, queue);
            self.under(&mut builder, flag);
            self.try_put(&mut builder, at, Use::new(Usage::Sampled));
            self.some_writes(&mut builder, 1);
            self.finish_pass(builder);
        }
    }

    /// A swapchain image: drawn to, perhaps read back, presented.
    pub(super) fn presented(&mut self) {
        let mut shape = self.drawn_target();
        shape.format = self.source.pick(&[Format::Bgra8unorm, Format::Rgba8unorm]);
        let imported = Life::Imported(Imported { defined: false, ..Imported::default() });
        let transient = self.allows(Construct::PresentedTransients) && self.source.chance(1, 8);
        let at = self.declare_of(shape, if transient { Life::Transient } else { imported });
        if self.source.chance(1, 2) && !transient {
            let leave = Leave { layout: Some(Layout::PresentSrc), queue: None };
            self.graph.resource_mut(self.known[at].id).leave = Some(leave);
        }
        let mut builder = self.begin("screen", Work::Draw, PassQueue::Graphics);
        let mut how = Use::new(Usage::ColorAttachment);
        self.drawn_load(&mut how, &shape, false);
        self.try_put(&mut builder, at, how);
        self.some_reads(&mut builder, 2);
        self.finish_pass(builder);
        if !self.source.chance(1, 4) {
            let queue = self.source.pick(&[PassQueue::Graphics, PassQueue::Graphics, PassQueue::AsyncCompute]);
            let mut builder = self.begin("present", Work::Draw, queue);
            self.try_put(&mut builder, at, Use::new(Usage::Present));
            self.finish_pass(builder);
            self.known[at].left = Left::Nothing;
        }
    }
}

/// Modes in which a format's samples can become one.
fn resolve_modes(format: Format) -> &'static [ResolveMode] {
    match format.numbers() {
        Numbers::Depth if format.aspects().contains(Aspects::STENCIL) => {
            &[ResolveMode::SampleZero, ResolveMode::Min, ResolveMode::Max]
        }
        Numbers::Depth => &[ResolveMode::SampleZero, ResolveMode::Min, ResolveMode::Max, ResolveMode::Average],
        Numbers::Uint | Numbers::Sint => &[ResolveMode::SampleZero],
        _ => &[ResolveMode::Average],
    }
}
