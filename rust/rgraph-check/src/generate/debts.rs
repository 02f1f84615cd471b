//! Passes that are declared before what they come after: reads that look forward to the first writer, and uses of a
//! name before those of the resource that it modifies. The pass that is still owed must come before the early ones,
//! so it uses nothing that one of them, or anything after them, used: that is what taint means.

use rgraph_ir::access::{Load, PassQueue, Usage};
use rgraph_ir::graph::{Ranges, Use};
use rgraph_ir::resource::Kind;

use super::known::{Known, KnownId, Left, Shape};
use super::usages::{Work, is_attachment, writing};
use super::{Construct, Maker};

/// A write that is still to be declared.
pub(super) struct Debt {
    /// What is to be written.
    at: KnownId,
    bit: u16,
    /// Whether a name that modifies it was used already.
    below: bool,
}

impl Maker {
    /// Open debts that a use of the resource comes after.
    pub(super) fn tainted(&self, at: KnownId) -> u16 {
        let falls = |at: &KnownId| self.known[*at].falls;
        std::iter::successors(Some(at), falls).fold(0, |taint, at| taint | self.known[at].taint)
    }

    /// Uses of the resource, under all its names, come after the early passes of these debts from now on.
    pub(super) fn taint(&mut self, at: KnownId, bits: u16) {
        let memory = self.known[at].memory;
        for known in self.known.iter_mut().filter(|known| known.memory == memory) {
            known.taint |= bits & !known.owed.map_or(0, |(own, _)| own);
        }
    }

    fn owe(&mut self, at: KnownId, common: u128, below: bool) -> bool {
        let open = self.debts.iter().fold(0, |open, debt| open | debt.bit);
        if open == u16::MAX {
            return false;
        }
        let bit = 1 << open.trailing_ones();
        self.known[at].owed = Some((bit, common));
        self.debts.push(Debt { at, bit, below });
        true
    }

    /// A read of an image or buffer whose writer is declared later.
    pub(super) fn forward_read(&mut self) {
        let shape = match self.source.below(4) {
            0 => self.drawn_buffer(),
            1 => Shape { mips: self.source.pick(&[2, 3]), ..self.drawn_target() },
            2 => Shape { layers: 2, ..self.drawn_target() },
            _ => self.drawn_target(),
        };
        let at = self.declare(shape);
        if !self.owe(at, shape.whole(), false) {
            return;
        }
        for _ in 0..=self.source.below(2) {
            let work = self.source.pick(&[Work::Draw, Work::Dispatch]);
            let queue = self.queue(work);
            let mut builder = self.begin("early", work, queue);
            let mut how = Use::new(if shape.is_image() { Usage::Sampled } else { Usage::StorageRead });
            self.drawn_stages(&builder, at, &mut how);
            if self.try_put(&mut builder, at, how) {
                self.some_writes(&mut builder, 1);
            }
            self.finish_pass(builder);
        }
        if self.source.chance(1, 2) {
            self.pay();
        }
    }

    /// A use of a name whose base is written later in the declaration, and earlier in the order.
    pub(super) fn early_modifies(&mut self) {
        if !self.allows(Construct::EarlyModifies) {
            return self.modify();
        }
        let shape = if self.source.chance(1, 3) { self.drawn_buffer() } else { self.drawn_target() };
        let base = self.declare(shape);
        let above = self.declare_modifying(base);
        if !self.owe(base, 0, true) {
            return;
        }
        self.known[above].defined = shape.whole();
        self.known[above].taint |= self.debts.last().map_or(0, |debt| debt.bit);
        let work = self.source.pick(&[Work::Draw, Work::Dispatch]);
        let queue = self.queue(work);
        let mut builder = self.begin("over", work, queue);
        let how = self.drawn_write(&builder, above);
        if !how.is_some_and(|how| self.try_put(&mut builder, above, how)) {
            let read = Use::new(if shape.is_image() { Usage::Sampled } else { Usage::StorageRead });
            self.try_put(&mut builder, above, read);
        }
        self.some_writes(&mut builder, 1);
        self.finish_pass(builder);
        if self.source.chance(1, 2) {
            self.pay();
        }
    }

    /// Declares a name for the same memory.
    pub(super) fn declare_modifying(&mut self, base: KnownId) -> KnownId {
        let below = self.known[base];
        let mut resource = self.graph.resources()[below.id].clone();
        resource.modifies = Some(below.id);
        (resource.life, resource.leave, resource.memory_domain) = (rgraph_ir::resource::Life::Transient, None, None);
        if self.source.chance(1, 2) {
            match &mut resource.kind {
                Kind::Image(image) => *image = rgraph_ir::resource::Image::default(),
                Kind::Buffer(buffer) => buffer.size = None,
            }
        }
        let name = self.name("modified");
        let id = self.graph.add_resource(&name, resource, None);
        let root = self.source.chance(1, 3);
        self.known.push(Known { id, modifies: true, root, left: Left::Everything, owed: None, ..below })
    }

    /// Declares the pass that the latest debt waits for.
    pub(super) fn pay(&mut self) {
        let Some(Debt { at, bit, below }) = self.debts.pop() else { return };
        let shape = self.known[at].shape;
        let common = self.known[at].owed.map_or(0, |(_, common)| common);
        let work = self.source.pick(&[Work::Draw, Work::Dispatch, Work::Copy]);
        let queue = self.queue(work);
        let mut builder = self.begin("late", work, queue);
        builder.avoid = bit;
        if self.source.chance(1, 2) {
            self.some_reads(&mut builder, 1);
        }
        let usages = writing(&shape, work, false);
        let usage = if usages.is_empty() { Usage::TransferDst } else { self.source.pick(&usages) };
        let mut how = Use::new(usage);
        if self.source.chance(1, 3) {
            how.load = Some(Load::Discard);
        }
        if shape.mips > 1 && shape.blends() && self.allows(Construct::ForwardMips) {
            how.generate_mips = self.source.chance(1, 2);
        }
        let (mut paid, mut input) = (false, None);
        let every = if is_attachment(how.usage) { Ranges::default() } else { every_mip(&shape) };
        for ranges in [Ranges::default(), every] {
            let how = Use { ranges, ..how };
            if !paid
                && (below || self.subresources(at, &how) & common != 0 || how.generate_mips)
                && self.may(&builder, at, &how)
            {
                if self.allows(Construct::ForwardConditional) && !below && self.source.chance(1, 3) {
                    input = self.conditional_payment(&mut builder, at);
                }
                self.put(&mut builder, at, &how);
                paid = true;
            }
        }
        if !paid {
            // The pass that was to be the writer writes nothing then; a copy of its own does.
            builder.avoid = 0;
            self.finish_pass(builder);
            builder = self.begin("late", Work::Copy, PassQueue::Transfer);
            builder.avoid = bit;
            let copy = Use { ranges: every_mip(&shape), ..Use::new(Usage::TransferDst) };
            self.put(&mut builder, at, &copy);
        }
        self.finish_pass(builder);
        if let Some(input) = input {
            self.paid_conditionally(at, input);
        }
        self.known[at].left = self.known[at].left.max(if below { Left::Nothing } else { Left::Everything });
    }

    /// All that waited for the pass comes after what the pass comes after; the debt is no more.
    pub(super) fn settle(&mut self, bit: u16, taint: u16) {
        let spread = |taints: &mut u16, but: u16| {
            if *taints & bit != 0 {
                *taints = (*taints | taint & !but) & !bit;
            }
        };
        for known in self.known.iter_mut() {
            known.owed = known.owed.filter(|(own, _)| *own != bit);
            spread(&mut known.taint, known.owed.map_or(0, |(own, _)| own));
        }
        self.ordinary.iter_mut().for_each(|(_, taints)| spread(taints, 0));
    }
}

/// Every mip of an image, all of a buffer.
fn every_mip(shape: &Shape) -> Ranges {
    Ranges { mips: shape.is_image().then_some([0, shape.mips]), ..Ranges::default() }
}
