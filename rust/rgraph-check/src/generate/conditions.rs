//! Passes that a flag switches: over earlier contents, with a fallback, or with readers under the same flag.

use rgraph_ir::access::Usage;
use rgraph_ir::graph::Use;

use super::known::{Known, KnownId, Left, MOST_FLAGS, Shape};
use super::pass_builder::PassBuilder;
use super::usages::Work;
use super::{Construct, Maker};

impl Maker {
    /// Puts the pass under a flag, where the graph has any.
    pub(super) fn drawn_flag(&mut self, builder: &mut PassBuilder) {
        if self.flags > 0 {
            let flag = self.source.below(self.flags);
            self.under(builder, Some(flag));
        }
    }

    /// Puts the pass under the flag, before it uses anything.
    pub(super) fn under(&mut self, builder: &mut PassBuilder, flag: Option<usize>) {
        if let Some(flag) = flag {
            debug_assert!(flag < MOST_FLAGS);
            builder.flag = Some(flag);
            let id = self.graph.flag(&format!("flag{flag}"));
            self.graph.pass_mut(builder.pass).conditional = Some(id);
        }
    }

    /// A pass that may be off: writes over earlier contents, or writes what only passes under its flag read.
    pub(super) fn conditional(&mut self) {
        let work = self.source.pick(&[Work::Draw, Work::Dispatch, Work::Copy]);
        let queue = self.queue(work);
        let mut builder = self.begin("maybe", work, queue);
        self.drawn_flag(&mut builder);
        let flag = builder.flag;
        let over = self.find(&builder, |known| known.defined != 0 && known.left == Left::Everything);
        let over = over.filter(|_| !self.source.chance(1, 3));
        if let Some(at) = over
            && let Some(how) = self.drawn_write(&builder, at)
        {
            self.try_put(&mut builder, at, how);
        } else {
            self.some_writes(&mut builder, 1);
        }
        self.some_reads(&mut builder, 1);
        self.finish_pass(builder);
        for _ in 0..self.source.below(3) {
            let queue = self.queue(Work::Dispatch);
            let mut builder = self.begin("also", Work::Dispatch, queue);
            if self.source.chance(2, 3) {
                self.under(&mut builder, flag);
            }
            self.some_reads(&mut builder, 2);
            self.some_writes(&mut builder, 1);
            self.finish_pass(builder);
        }
    }

    /// A pass whose output's readers get something else while it is off; that may fall back itself.
    pub(super) fn replaceable(&mut self) {
        let odd = self.allows(Construct::OddFallbacks);
        let usable = |known: &Known| {
            (odd || known.shape.is_color())
                && known.defined == known.shape.whole()
                && known.owed.is_none()
                && known.shape.samples == 1
                && !known.shape.is_block()
        };
        let work = self.source.pick(&[Work::Draw, Work::Dispatch]);
        let queue = self.queue(work);
        let mut builder = self.begin("better", work, queue);
        self.drawn_flag(&mut builder);
        let found = match builder.flag {
            // Half of them fall back to what falls back itself, where there is something.
            Some(_) if self.source.chance(1, 2) => self
                .find(&builder, |known| usable(known) && known.falls.is_some())
                .or_else(|| self.find(&builder, usable)),
            Some(_) => self.find(&builder, usable),
            None => None,
        };
        let Some(input) = found else {
            self.some_writes(&mut builder, 1);
            self.finish_pass(builder);
            return;
        };
        let shape = self.known[input].shape;
        let output = match self.source.below(4) {
            3 if self.allows(Construct::ModifyingFallback) => self.modifying_output(input, &shape),
            _ => self.declare(shape),
        };
        let reads = self.source.chance(1, 2);
        let Some(how) = self.drawn_write(&builder, output) else {
            self.finish_pass(builder);
            return;
        };
        let written = self.try_put(&mut builder, output, how);
        if reads {
            let usage = if shape.is_image() { Usage::Sampled } else { Usage::StorageRead };
            self.try_put(&mut builder, input, Use::new(usage));
        }
        let whole = builder.writes_all(output, shape.whole()) || self.allows(Construct::PartialFallback);
        let falls = written && whole;
        if falls {
            self.falls_back(&mut builder, output, input);
        }
        self.finish_pass(builder);
        if !falls {
            return;
        }
        self.fallen(output, input);
        for _ in 0..self.source.below(3) {
            let work = self.source.pick(&[Work::Dispatch, Work::Draw, Work::Copy]);
            let queue = self.queue(work);
            let mut builder = self.begin("either", work, queue);
            let usages = super::usages::reading(&shape, work);
            let how = Use::new(self.source.pick(&usages));
            self.try_put(&mut builder, output, how);
            self.some_writes(&mut builder, 1);
            self.finish_pass(builder);
        }
    }

    /// An output in the memory of another resource of that shape, if there is one that is not the input.
    fn modifying_output(&mut self, input: KnownId, shape: &Shape) -> KnownId {
        let base = self
            .known
            .ids()
            .rev()
            .find(|at| *at != input && self.known[*at].shape == *shape && self.may_be_modified(*at));
        match base {
            Some(base) => self.modify_base(base),
            None => self.declare(*shape),
        }
    }

    fn falls_back(&mut self, builder: &mut PassBuilder, output: KnownId, input: KnownId) {
        self.graph.fallback(builder.pass, self.known[output].id, self.known[input].id);
        builder.taint |= self.tainted(input);
    }

    /// Readers of the output may get the input from now on.
    fn fallen(&mut self, output: KnownId, input: KnownId) {
        let out = &mut self.known[output];
        out.write(out.written, None);
        out.falls = Some(input);
        out.left = out.left.max(Left::Replacing);
        let known = &mut self.known[input];
        known.left = known.left.max(Left::Reads);
    }

    /// The pass that early readers wait for is conditional, and they read something else while it is off.
    pub(super) fn conditional_payment(&mut self, builder: &mut PassBuilder, at: KnownId) -> Option<KnownId> {
        let shape = self.known[at].shape;
        let fits = |known: &Known| {
            known.shape == shape && known.defined == shape.whole() && known.owed.is_none() && known.falls.is_none()
        };
        let input = if self.flags > 0 { self.find(builder, fits) } else { None }?;
        self.drawn_flag(builder);
        self.falls_back(builder, at, input);
        Some(input)
    }

    /// Notes the fallback of a conditional payment.
    pub(super) fn paid_conditionally(&mut self, at: KnownId, input: KnownId) {
        self.fallen(at, input);
    }
}
