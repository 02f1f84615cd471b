//! Names for one memory: what a resource held some frames ago, and what goes on with its contents.

use rgraph_ir::access::{PassQueue, Usage};
use rgraph_ir::graph::Use;
use rgraph_ir::resource::{Buffer, History, Image, Kind, Life, Mips, Resource};

use super::known::{Known, KnownId, Left, Shape, What};
use super::usages::{Work, reading};
use super::{Construct, Maker};

impl Maker {
    /// What an image or buffer held some frames ago, under one name or several, and passes that read it.
    pub(super) fn history(&mut self) {
        let old = |known: &Known| {
            known.transient
                && !known.modifies
                && !known.history
                && known.left == Left::Everything
                && known.falls.is_none()
                && known.owed.is_none()
                && known.shape.samples == 1
                && known.shape.what != What::Structure
        };
        let fresh = |known: &Known| self.graph.resources()[known.id].life == Life::Fresh;
        let known = |at: &KnownId| old(&self.known[*at]) && !fresh(&self.known[*at]);
        let list: Vec<KnownId> = self.known.ids().rev().filter(known).collect();
        let base = if self.source.chance(1, 3) && !list.is_empty() {
            self.source.pick(&list)
        } else {
            let shape = if self.source.chance(1, 3) { self.drawn_buffer() } else { self.drawn_image() };
            let at = self.declare(shape);
            self.graph.resource_mut(self.known[at].id).life = Life::Transient;
            at
        };
        let mut names = Vec::new();
        let mut frames = 0;
        for _ in 0..1 + self.source.below(3) {
            let choice = self.source.below(4) as u32;
            let twin = self.allows(Construct::TwinHistories) && frames > 0;
            if !twin && frames == 3 {
                break;
            }
            frames = (frames + if twin { choice } else { choice.max(1) }).min(3);
            let zero_first = self.source.chance(1, 2);
            names.push(self.declare_history(base, frames, zero_first));
        }
        self.known[base].history = true;
        let first = self.source.chance(1, 2);
        if first {
            self.write_now(base);
        }
        for past in names {
            let work = self.source.pick(&[Work::Dispatch, Work::Draw, Work::Copy]);
            let queue = self.queue(work);
            let mut builder = self.begin("before", work, queue);
            let usages = reading(&self.known[past].shape, work);
            let mut how = Use::new(self.source.pick(&usages));
            self.drawn_stages(&builder, past, &mut how);
            self.try_put(&mut builder, past, how);
            self.some_writes(&mut builder, 1);
            self.finish_pass(builder);
        }
        if !first {
            self.write_now(base);
        }
    }

    fn write_now(&mut self, base: KnownId) {
        let work = self.source.pick(&[Work::Draw, Work::Dispatch, Work::Copy, Work::Host]);
        let work = if work == Work::Host && self.known[base].shape.is_image() { Work::Draw } else { work };
        let queue = self.queue(work);
        let mut builder = self.begin("now", work, queue);
        if let Some(how) = self.drawn_write(&builder, base)
            && !self.try_put(&mut builder, base, how)
        {
            self.some_writes(&mut builder, 1);
        }
        self.finish_pass(builder);
    }

    fn declare_history(&mut self, base: KnownId, frames: u32, zero_first: bool) -> KnownId {
        let of = self.known[base];
        let kind = match of.shape.what {
            What::Image => Kind::Image(Image::default()),
            _ => Kind::Buffer(Buffer::default()),
        };
        let life = Life::History(History { of: of.id, frames, zero_first });
        let name = self.name("past");
        let resource = Resource::new(kind, life);
        let id = self.graph.add_resource(&name, resource, None);
        let at = self.known.next_id();
        let defined = of.shape.whole();
        self.known.push(Known {
            id,
            memory: at,
            transient: false,
            history: true,
            left: Left::Reads,
            defined,
            only: [0; super::known::MOST_FLAGS],
            written: defined,
            taint: 0,
            owed: None,
            root: false,
            ..of
        });
        at
    }

    /// Whether another name may go on with the contents in the same memory.
    pub(super) fn may_be_modified(&self, at: KnownId) -> bool {
        let known = &self.known[at];
        let whole = self.allows(Construct::Undefined) || known.defined == known.shape.whole();
        let imported = matches!(self.graph.resources()[known.id].life, Life::Imported(_));
        known.left == Left::Everything
            && (!imported || self.allows(Construct::ModifiedImport))
            && known.defined != 0
            && whole
            && !known.history
            && known.falls.is_none()
            && known.owed.is_none()
            && known.only.iter().all(|only| *only == 0)
    }

    /// A further name for the memory; the first one is not used any more.
    pub(super) fn modify_base(&mut self, base: KnownId) -> KnownId {
        let above = self.declare_modifying(base);
        self.known[base].left = Left::Nothing;
        self.known[base].root = false;
        above
    }

    /// A pass that goes on with another resource's contents under a new name, once or in a chain.
    pub(super) fn modify(&mut self) {
        let list: Vec<KnownId> = self.known.ids().rev().filter(|at| self.may_be_modified(*at)).collect();
        let mut base = if list.is_empty() || self.source.chance(1, 3) {
            let shape = if self.source.chance(1, 4) { self.drawn_buffer() } else { self.drawn_image() };
            let at = self.declare(shape);
            let mut builder = self.begin("full", Work::Draw, PassQueue::Graphics);
            if let Some(how) = self.drawn_write(&builder, at) {
                self.try_put(&mut builder, at, how);
            }
            self.finish_pass(builder);
            at
        } else {
            self.source.pick(&list)
        };
        for _ in 0..=self.source.below(2) {
            if !self.may_be_modified(base) {
                return;
            }
            base = self.modify_base(base);
            let shape = self.known[base].shape;
            let usual = if shape.samples > 1 || shape.is_depth() { Work::Draw } else { Work::Dispatch };
            let work = if self.source.chance(1, 2) { Work::Draw } else { usual };
            let queue = self.queue(work);
            let mut builder = self.begin("modify", work, queue);
            if let Some(how) = self.drawn_write(&builder, base) {
                self.try_put(&mut builder, base, how);
            }
            self.some_reads(&mut builder, 1);
            self.finish_pass(builder);
        }
    }

    /// A `modifies` of another size: a scaled blit.
    pub(super) fn scaled(&mut self) {
        let mut shape = self.drawn_target();
        if !shape.blends() {
            shape.format = rgraph_ir::format::Format::Rgba8unorm;
        }
        shape.mips = self.source.pick(&[1, 1, 3]);
        shape.layers = self.source.pick(&[1, 1, 2]);
        let base = self.declare(shape);
        let work = self.source.pick(&[Work::Draw, Work::Copy]);
        let queue = self.queue(work);
        let mut builder = self.begin("full", work, queue);
        let usage = if work == Work::Draw { Usage::ColorAttachment } else { Usage::TransferDst };
        self.put(&mut builder, base, &Use::new(usage));
        self.finish_pass(builder);
        let odd = self.allows(Construct::OddScales);
        let side = if odd { self.source.pick(&[32, 512, 96]) } else { shape.size[0] / 4 };
        let more = if self.allows(Construct::ScaledMips) { shape.mips.min(3) } else { 1 };
        let mips = self.source.pick(&[1, more]);
        let own = Shape { size: [side, side, 1], mips, ..shape };
        let below = self.known[base].id;
        let at = self.declare(own);
        let resource = self.graph.resource_mut(self.known[at].id);
        (resource.modifies, resource.life) = (Some(below), Life::Transient);
        if let Kind::Image(image) = &mut resource.kind {
            // Without a cap the number is the one below.
            image.mips = Some(Mips::Count(own.mips));
        }
        let taint = self.known[base].taint;
        let known = &mut self.known[at];
        (known.transient, known.modifies) = (false, true);
        let first = rgraph_ir::graph::Ranges { mips: Some([0, 1]), ..Default::default() };
        known.defined = own.subresources(&first, rgraph_ir::access::Aspects::empty());
        known.written = known.defined;
        known.taint = taint;
        self.known[base].left = Left::Reads;
        let work = self.source.pick(&[Work::Dispatch, Work::Draw]);
        let queue = self.queue(work);
        let mut builder = self.begin("small", work, queue);
        if let Some(how) = self.drawn_write(&builder, at) {
            self.try_put(&mut builder, at, how);
        }
        self.some_reads(&mut builder, 1);
        self.finish_pass(builder);
    }
}
