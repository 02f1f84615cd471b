//! Stencil as a mask: what one draw writes, others test, clear or sample by itself.

use rgraph_ir::access::{Aspects, Load, PassQueue, Usage};
use rgraph_ir::format::Format;
use rgraph_ir::graph::{Clear, Details, Use};

use super::known::{KnownId, Shape};
use super::pass_builder::PassBuilder;
use super::usages::Work;
use super::{Construct, Maker};

impl Maker {
    /// A draw that fills depth and stencil, draws that use the two in different ways, and a look at the stencil.
    pub(super) fn stencil(&mut self) {
        let target = self.drawn_target();
        let format = self.source.pick(&[Format::Depth24plusStencil8, Format::Depth32floatStencil8]);
        let [color, mask] = [target, Shape { format, ..target }].map(|shape| self.declare(shape));
        let mut builder = self.begin("mask", Work::Draw, PassQueue::Graphics);
        self.try_put(&mut builder, mask, cleared(Load::Clear, None, 3));
        self.finish_pass(builder);
        for _ in 0..1 + self.source.below(3) {
            let mut builder = self.begin("masked", Work::Draw, PassQueue::Graphics);
            if self.source.chance(1, 8) {
                self.drawn_flag(&mut builder);
            }
            self.masked(&mut builder, mask);
            if self.source.chance(2, 3) {
                self.try_put(&mut builder, color, Use::new(Usage::ColorAttachment));
            }
            self.some_reads(&mut builder, 1);
            self.finish_pass(builder);
        }
        let queue = self.queue(Work::Dispatch);
        let mut builder = self.begin("count", Work::Dispatch, queue);
        self.try_put(&mut builder, mask, Use { aspects: Aspects::STENCIL, ..Use::new(Usage::Sampled) });
        self.some_writes(&mut builder, 1);
        self.finish_pass(builder);
    }

    /// A use of both aspects, or one of each.
    fn masked(&mut self, builder: &mut PassBuilder, mask: KnownId) {
        let of = |usage: Usage, aspects: Aspects| Use { aspects, ..Use::new(usage) };
        let (depth, stencil) = (Aspects::DEPTH, Aspects::STENCIL);
        let apart = self.allows(Construct::AspectsApart);
        let uses: &[Use] = match self.source.below(7) {
            1 => &[cleared(Load::Load, Some(Load::Clear), 7)],
            2 => &[cleared(Load::Discard, Some(Load::Load), 0)],
            3 if apart => &[of(Usage::DepthStencilRead, depth), of(Usage::DepthStencilAttachment, stencil)],
            4 if apart => &[of(Usage::DepthStencilRead, stencil), of(Usage::DepthStencilAttachment, depth)],
            5 if apart => &[of(Usage::DepthStencilRead, depth), of(Usage::Sampled, stencil)],
            6 if apart => &[of(Usage::DepthStencilAttachment, depth), of(Usage::Sampled, stencil)],
            _ => &[Use::new(Usage::DepthStencilRead)],
        };
        for how in uses {
            self.try_put(builder, mask, *how);
        }
    }
}

/// Depth loaded in a way, stencil in the same or in another one, and what stencil is cleared to.
fn cleared(load: Load, stencil_load: Option<Load>, stencil: u32) -> Use {
    let clear = [Some(load), stencil_load].contains(&Some(Load::Clear)).then_some(Clear::Depth(1.0, Some(stencil)));
    let details = Details { clear, ..Details::default() };
    Use { load: Some(load), stencil_load, details, ..Use::new(Usage::DepthStencilAttachment) }
}
