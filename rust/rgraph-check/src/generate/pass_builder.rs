//! A pass that is being declared: which subresources it uses how, so that no two accesses contradict each other, every
//! read finds contents, and attachments have one size.

use rgraph_ir::access::{Aspects, Load, PassQueue, Stages, Usage};
use rgraph_ir::graph::{Pass, PassId, Ranges, Use};
use rgraph_ir::resource::Life;

use super::known::{KnownId, Left, Shape};
use super::usages::{Class, Work, first_mip_only, is_attachment, reads, replaces, stages};
use super::{Construct, Maker};

/// Most bytes of a uniform access on every device.
const UNIFORM: u64 = 16384;

/// Width, height, layers (one of a volume) and samples of an attachment.
type Extent = (u32, u32, u32, u32);

#[derive(Clone, Copy)]
struct ResolvedAccess {
    usage: Usage,
    unordered: bool,
    /// Whether it throws away any of what was there.
    loses: bool,
    at: KnownId,
    subresources: u128,
    class: Class,
}

/// A pass whose accesses are being declared.
pub(super) struct PassBuilder {
    pub(super) pass: PassId,
    pub(super) queue: PassQueue,
    pub(super) work: Work,
    pub(super) flag: Option<usize>,
    /// Debts that nothing the pass uses may come after.
    pub(super) avoid: u16,
    accesses: Vec<ResolvedAccess>,
    pub(super) taint: u16,
    extent: Option<Extent>,
    samples: Option<u32>,
    colors: u32,
    depth: Option<(KnownId, Ranges)>,
}

impl PassBuilder {
    /// Whether the pass writes these subresources of the resource.
    pub(super) fn writes_all(&self, at: KnownId, subresources: u128) -> bool {
        let written = self.accesses.iter().filter(|access| access.at == at && access.usage.writes());
        written.fold(0, |all, access| all | access.subresources) & subresources == subresources
    }
}

impl Maker {
    /// Begins a pass. Its accesses take effect with [`Maker::finish_pass`].
    pub(super) fn begin(&mut self, prefix: &str, work: Work, queue: PassQueue) -> PassBuilder {
        self.passes += 1;
        let mut pass = Pass::new(queue);
        let odd = self.source.below(256);
        if odd & 3 == 3 {
            pass.weight_us = Some(self.source.below(256) as f64 * 2.0);
        }
        if odd & 12 == 12 && odd & 16 != 0 {
            let unit = self.source.pick(&["texture", "alu"]);
            pass.unit = Some(self.graph.unit(unit));
        }
        pass.side_effects = odd >= 248;
        pass.setup = odd & 0xe0 == 0xa0;
        if odd & 0xe0 == 0x60 {
            pass.device = Some(0);
        }
        if self.limits.devices > 1 {
            let device = self.late.below(self.limits.devices as usize) as u32;
            pass.device = self.late.chance(3, 4).then_some(device);
        }
        pass.unordered = self.commuting && self.late.chance(3, 4);
        let name = format!("{prefix}{}", self.passes);
        PassBuilder {
            pass: self.graph.add_pass(&name, pass, None),
            queue,
            work,
            flag: None,
            avoid: 0,
            accesses: Vec::new(),
            taint: 0,
            extent: None,
            samples: None,
            colors: 0,
            depth: None,
        }
    }

    /// A queue for such a pass; a zero is the graphics queue, the transfer queue for copies.
    pub(super) fn queue(&mut self, work: Work) -> PassQueue {
        use PassQueue::{Any, AsyncCompute, Compute, Cpu, Graphics, Transfer};
        match work {
            Work::Draw => self.source.pick(&[Graphics, Graphics, Graphics, Graphics, Graphics, Any]),
            Work::Dispatch => self.source.pick(&[Compute, AsyncCompute, AsyncCompute, Graphics, Any]),
            Work::Copy => self.source.pick(&[Transfer, Transfer, Graphics, AsyncCompute, Compute, Any]),
            Work::Host => Cpu,
        }
    }

    /// Whether the pass may use the resource at all.
    pub(super) fn usable(&self, builder: &PassBuilder, at: KnownId) -> bool {
        let known = &self.known[at];
        let others = |access: &ResolvedAccess| access.at != at && self.known[access.at].memory == known.memory;
        known.left != Left::Nothing && self.tainted(at) & builder.avoid == 0 && !builder.accesses.iter().any(others)
    }

    /// A resource that fits, the latest for zeros.
    pub(super) fn find(
        &mut self,
        builder: &PassBuilder,
        fits: impl Fn(&super::known::Known) -> bool,
    ) -> Option<KnownId> {
        let list: Vec<KnownId> =
            self.known.ids().rev().filter(|at| fits(&self.known[*at]) && self.usable(builder, *at)).collect();
        (!list.is_empty()).then(|| self.source.pick(&list))
    }

    /// The subresources of an access.
    pub(super) fn subresources(&self, at: KnownId, how: &Use) -> u128 {
        let mut ranges = how.ranges;
        if first_mip_only(how.usage) {
            ranges.mips = ranges.mips.or(Some([0, 1]));
        }
        self.known[at].shape.subresources(&ranges, how.aspects)
    }

    /// Whether the access goes with the others of the pass, and finds the contents that it asks for.
    pub(super) fn may(&self, builder: &PassBuilder, at: KnownId, how: &Use) -> bool {
        let known = &self.known[at];
        let subresources = self.subresources(at, how);
        let class = Class::of(how.usage);
        let meets = |access: &ResolvedAccess| {
            self.known[access.at].memory == known.memory
                && (access.at != at || access.subresources & subresources != 0 && !access.class.may_meet(class))
        };
        let uniform = how.ranges.bytes.is_some_and(|[first, end]| how.usage == Usage::Uniform && end - first > UNIFORM);
        if uniform || subresources == 0 || !self.usable(builder, at) || builder.accesses.iter().any(meets) {
            return false;
        }
        let mut falls = known.falls;
        while let Some(instead) = falls {
            let memory = self.known[instead].memory;
            let meets = |access: &ResolvedAccess| {
                self.known[access.at].memory == memory && (access.at != instead || access.class != Class::Read)
            };
            if builder.accesses.iter().any(meets) {
                return false;
            }
            falls = self.known[instead].falls;
        }
        if self.is_left_out(builder, at, how) {
            return false;
        }
        if let Some((bit, common)) = known.owed
            && builder.avoid != bit
        {
            return !how.usage.writes() && subresources & common != 0 && !how.unordered && !is_attachment(how.usage);
        }
        let readable = known.readable(builder.flag);
        let asks = reads(how);
        let reaches = self.allows(Construct::Undefined) && subresources & readable != 0;
        if asks && subresources & !readable != 0 && !reaches {
            return false;
        }
        if (asks || builder.flag.is_some()) && subresources & known.blocked(builder.flag) != 0 {
            return false;
        }
        let left = match known.left {
            Left::Everything => true,
            Left::Replacing => !how.usage.writes() || replaces(how) && builder.flag.is_none() && !how.unordered,
            Left::Reads => !how.usage.writes(),
            Left::Nothing => false,
        };
        left && (!is_attachment(how.usage) || self.fits_attachments(builder, at, how))
    }

    /// Whether the access would be refused, or be of a construct that is left out.
    fn is_left_out(&self, builder: &PassBuilder, at: KnownId, how: &Use) -> bool {
        let known = &self.known[at];
        let lost = how.load.is_some_and(|load| load != Load::Load);
        let beside = |access: &&ResolvedAccess| access.at == at;
        let class = Class::of(how.usage);
        let subresources = self.subresources(at, how);
        let attached = |usage: Usage| is_attachment(usage) || usage == Usage::InputAttachment;
        let other_part = |access: &ResolvedAccess| {
            attached(access.usage)
                && attached(how.usage)
                && access.subresources & subresources != 0
                && access.subresources != subresources
        };
        // Depth and stencil are written by tests, which come before the shader that reads them in place.
        let cleared = |access: &ResolvedAccess| {
            class == Class::Input && access.class == Class::Attachment && access.loses
                || class == Class::Attachment && access.class == Class::Input && (loses(how) || known.shape.is_depth())
        };
        let in_place = |access: &ResolvedAccess| {
            let pair = [access.usage, how.usage];
            pair.contains(&Usage::InputAttachment) && pair.contains(&Usage::DepthStencilRead)
        };
        let feedback = |access: &ResolvedAccess| {
            matches!((access.class, class), (Class::Input, Class::Attachment) | (Class::Attachment, Class::Input))
        };
        let image = known.shape.is_image();
        let reads = |access: &ResolvedAccess| access.class == Class::Read && class == Class::Read;
        let twice = |access: &ResolvedAccess| !image || access.subresources & subresources != 0 && reads(access);
        let apart = |access: &ResolvedAccess| access.unordered || how.unordered;
        let mut others = builder.accesses.iter().filter(beside);
        let past = matches!(self.graph.resources()[known.id].life, Life::History(_));
        let leave = self.graph.resources()[known.id].leave.is_some_and(|leave| leave.queue.is_some());
        others.clone().any(cleared)
            || others.clone().any(other_part)
            || others.clone().any(twice) && !self.allows(Construct::SeveralUses)
            || others.clone().any(feedback) && !self.allows(Construct::Feedback)
            || others.clone().any(in_place) && !self.allows(Construct::DepthInPlace)
            || others.any(apart) && !self.allows(Construct::UnorderedBeside)
            || known.history && how.usage.writes() && lost && !self.allows(Construct::DiscardRemembered)
            || known.falls.is_some()
                && self.subresources(at, how) != known.shape.whole()
                && !self.allows(Construct::PartialFallback)
            || known.falls.is_some() && matches!(how.usage, Usage::InputAttachment | Usage::DepthStencilRead)
            || known.falls.is_some() && how.usage.writes() && !self.allows(Construct::FallbackReplaced)
            || known.switched && how.usage == Usage::HostWrite && !self.allows(Construct::HostAfterConditional)
            || known.shape.is_depth() && class == Class::Input && !self.allows(Construct::DepthInPlace)
            || self.is_in_part(builder, at, how)
            || self.is_mixed(builder, how) && !self.allows(Construct::MixedWork)
            || known.shape.is_depth() && !self.allows(Construct::DepthCopies) && is_copy(how.usage)
            || past && builder.work == Work::Host && !self.allows(Construct::HostHistories)
            || leave && builder.work == Work::Host && !self.allows(Construct::LeaveAfterHost)
    }

    /// Whether the pass would read in place and attach an image in part: without an aspect that it does not find
    /// either.
    fn is_in_part(&self, builder: &PassBuilder, at: KnownId, how: &Use) -> bool {
        let own = (at, how.usage, self.subresources(at, how));
        let all = || {
            let before = builder.accesses.iter().map(|access| (access.at, access.usage, access.subresources));
            before.chain([own])
        };
        let attached = |usage: Usage| is_attachment(usage) || usage == Usage::InputAttachment;
        let lone = |(at, _, subresources): (KnownId, Usage, u128)| {
            let shape = self.known[at].shape;
            if shape.aspects().bits().count_ones() < 2 {
                return false;
            }
            let found = all().filter(|one| one.0 == at && (attached(one.1) || one.1 == Usage::Sampled));
            let found = found.fold(0, |found, one| found | one.2);
            let plane = shape.mips * shape.layers;
            let whole = (subresources | subresources >> plane) & ((1 << plane) - 1);
            found & (whole | whole << plane) != whole | whole << plane
        };
        all().any(|one| one.1 == Usage::InputAttachment) && all().filter(|one| attached(one.1)).any(lone)
    }

    /// Whether the pass would draw to attachments and also write in another way.
    fn is_mixed(&self, builder: &PassBuilder, how: &Use) -> bool {
        let apart = |usage: Usage| usage.writes() && !is_attachment(usage);
        apart(how.usage) && builder.extent.is_some()
            || is_attachment(how.usage) && builder.accesses.iter().any(|access| apart(access.usage))
    }

    fn fits_attachments(&self, builder: &PassBuilder, at: KnownId, how: &Use) -> bool {
        let own = extent(&self.known[at].shape, how);
        let resolve = how.usage == Usage::ResolveAttachment;
        let volume = self.known[at].shape.volume && !self.allows(Construct::VolumeAttachments);
        let size = builder.extent.is_none_or(|first| (own.0, own.1, own.2) == (first.0, first.1, first.2));
        let samples = if resolve { own.3 == 1 } else { builder.samples.is_none_or(|samples| samples == own.3) };
        let counts = match how.usage {
            Usage::ColorAttachment => builder.colors < 4,
            Usage::DepthStencilAttachment | Usage::DepthStencilRead => {
                builder.depth.is_none_or(|first| first == (at, how.ranges))
            }
            _ => true,
        };
        size && samples && counts && !volume
    }

    /// Declares the access.
    pub(super) fn put(&mut self, builder: &mut PassBuilder, at: KnownId, how: &Use) {
        debug_assert!(self.may(builder, at, how), "{how:?} of {:?} after {:?}", self.known[at], builder.pass);
        let mut subresources = self.subresources(at, how);
        let shape = self.known[at].shape;
        if how.generate_mips {
            let last = [how.ranges.mips.map_or(0, |[first, _]| first), shape.mips];
            subresources |= shape.subresources(&Ranges { mips: Some(last), ..how.ranges }, how.aspects);
        }
        if is_attachment(how.usage) {
            let own = extent(&shape, how);
            builder.extent.get_or_insert(own);
            if how.usage != Usage::ResolveAttachment {
                builder.samples.get_or_insert(own.3);
            }
            match how.usage {
                Usage::ColorAttachment => builder.colors += 1,
                Usage::DepthStencilAttachment | Usage::DepthStencilRead => builder.depth = Some((at, how.ranges)),
                _ => {}
            }
        }
        builder.accesses.push(ResolvedAccess {
            at,
            subresources,
            class: Class::of(how.usage),
            usage: how.usage,
            unordered: how.unordered,
            loses: loses(how) || how.usage == Usage::DepthStencilAttachment,
        });
        builder.taint |= self.tainted(at);
        if let Some((bit, common)) = &mut self.known[at].owed
            && builder.avoid != *bit
        {
            *common &= subresources;
            builder.taint |= *bit;
        }
        let mut falls = self.known[at].falls;
        while let Some(instead) = falls {
            let subresources = self.known[instead].shape.whole();
            builder.accesses.push(ResolvedAccess {
                at: instead,
                subresources,
                class: Class::Read,
                usage: Usage::Sampled,
                unordered: false,
                loses: false,
            });
            falls = self.known[instead].falls;
        }
        self.graph.access(builder.pass, self.known[at].id, how, None);
    }

    /// Declares the access in a range that fits, if there is one: as drawn, else the default one, else one subresource.
    pub(super) fn try_put(&mut self, builder: &mut PassBuilder, at: KnownId, how: Use) -> bool {
        let drawn = self.drawn_range(at, &how);
        let shape = self.known[at].shape;
        let first = self.known[at].readable(builder.flag).trailing_zeros();
        let layer = first / shape.mips % shape.layers;
        let subresource = match shape.is_image() {
            true => Ranges {
                mips: Some([first % shape.mips, first % shape.mips + 1]),
                layers: (shape.layers > 1).then_some([layer, layer + 1]),
                bytes: None,
            },
            false => Ranges { bytes: Some(shape.block(first.min(super::known::BLOCKS - 1))), ..Ranges::default() },
        };
        if how.usage == Usage::InputAttachment && shape.mips > 1 && !self.allows(Construct::InputMips) {
            return false;
        }
        let options = [drawn, Use { ranges: Ranges::default(), ..how }, Use { ranges: subresource, ..how }];
        for how in options {
            if self.may(builder, at, &how) {
                self.put(builder, at, &how);
                return true;
            }
        }
        false
    }

    /// The use with ranges and aspects as the bytes have them; zeros: with those that it has.
    fn drawn_range(&mut self, at: KnownId, how: &Use) -> Use {
        let mut how = *how;
        let shape = self.known[at].shape;
        let choice = self.source.below(8);
        if choice < 4 || how.ranges != Ranges::default() {
            return how;
        }
        if !shape.is_image() {
            let first = self.source.below(8) as u32;
            let end = first + self.source.below(8 - first as usize) as u32;
            how.ranges.bytes = Some([shape.block(first)[0], shape.block(end)[1]]);
            return how;
        }
        if choice != 5 && shape.mips > 1 {
            let first = self.source.below(shape.mips as usize) as u32;
            let more =
                if is_attachment(how.usage) { 0 } else { self.source.below((shape.mips - first) as usize) as u32 };
            how.ranges.mips = Some([first, first + 1 + more]);
        }
        if choice != 4 && shape.layers > 1 {
            let first = self.source.below(shape.layers as usize) as u32;
            let more = self.source.below((shape.layers - first) as usize) as u32;
            how.ranges.layers = Some([first, first + 1 + more]);
        }
        let aspects = shape.aspects();
        let apart = how.usage == Usage::Sampled || self.allows(Construct::AspectsApart);
        if apart && aspects.bits().count_ones() > 1 && how.aspects.is_empty() {
            let whole =
                how.usage == Usage::InputAttachment || is_attachment(how.usage) && !self.allows(Construct::AspectAlone);
            let apart = if whole { [aspects; 3] } else { [Aspects::DEPTH, Aspects::STENCIL, aspects] };
            how.aspects = self.source.pick(&apart);
        }
        how
    }

    /// Stages that the use may name.
    pub(super) fn drawn_stages(&mut self, builder: &PassBuilder, at: KnownId, how: &mut Use) {
        let (image, odd) = (self.known[at].shape.is_image(), self.allows(Construct::OddStages));
        how.stages = self.source.pick(stages(how.usage, builder.work, builder.queue, image, odd));
        let scratch = how.usage.writes() && how.stages.contains(Stages::ACCELERATION_STRUCTURE_BUILD);
        if scratch && !self.allows(Construct::StorageScratch) {
            how.stages = Stages::empty();
        }
    }

    /// The pass is complete: what it writes is written, and debts spread.
    pub(super) fn finish_pass(&mut self, builder: PassBuilder) -> PassId {
        let mut builder = builder;
        let ordered = !builder.accesses.is_empty() || self.allows(Construct::OrderedEmpty);
        if self.source.chance(1, 8) && ordered {
            let list: Vec<(PassId, u16)> =
                self.ordinary.iter().rev().filter(|(_, taint)| taint & builder.avoid == 0).copied().collect();
            if !list.is_empty() {
                let (earlier, taint) = self.source.pick(&list);
                self.graph.order_after(builder.pass, earlier);
                builder.taint |= taint;
            }
        }
        for access in &builder.accesses {
            let known = &mut self.known[access.at];
            if access.usage == Usage::AccelerationScratch {
                known.written |= access.subresources;
                known.defined &= !access.subresources;
            } else if access.usage.writes() {
                known.write(access.subresources, builder.flag);
            }
        }
        for access in builder.accesses.iter().filter(|_| builder.flag.is_some()) {
            self.known[access.at].switched = true;
        }
        for access in &builder.accesses {
            self.taint(access.at, builder.taint);
        }
        self.ordinary.push((builder.pass, builder.taint));
        if builder.avoid != 0 {
            self.settle(builder.avoid, builder.taint);
        }
        builder.pass
    }
}

fn extent(shape: &Shape, how: &Use) -> Extent {
    let mip = how.ranges.mips.map_or(0, |[first, _]| first);
    let layers = how.ranges.layers.map_or(shape.layers, |[first, end]| end - first);
    let layers = if shape.volume { 1 } else { layers };
    let side = |texels: u32| (texels >> mip).max(1);
    (side(shape.size[0]), side(shape.size[1]), layers, shape.samples)
}

/// Whether a write throws away anything that was in its range.
fn loses(how: &Use) -> bool {
    [how.load, how.stencil_load].iter().any(|load| matches!(load, Some(Load::Clear | Load::Discard)))
}

/// Whether a usage is a copy, or reads an image as storage.
fn is_copy(usage: Usage) -> bool {
    matches!(usage, Usage::TransferSrc | Usage::TransferDst | Usage::StorageRead)
}
