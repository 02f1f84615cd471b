//! When two plans are equal: if they say the same, however their flat arrays are laid out.

use crate::id::Span;
use crate::plan::{Barriers, Batch, Command, Plan, PlanPass, PlanResource, Report};

impl PartialEq for Plan {
    /// Equal decisions for equal graphs and profiles; how long the bake took does not count. O(plan).
    fn eq(&self, other: &Self) -> bool {
        self.graph == other.graph
            && self.graph_hash == other.graph_hash
            && self.profile == other.profile
            && self.queues.as_slice() == other.queues.as_slice()
            && self.resource_names == other.resource_names
            && both(&self.passes, &other.passes, |a, b| self.same_pass(a, other, b))
            && both(&self.resources, &other.resources, |a, b| self.same_resource(a, other, b))
            && both(&self.batches, &other.batches, |a, b| self.same_batch(a, other, b))
            && self.memory.heaps.as_slice() == other.memory.heaps.as_slice()
            && self.memory.placements == other.memory.placements
            && [self.memory.total, self.memory.without_aliasing, self.memory.lower_bound]
                == [other.memory.total, other.memory.without_aliasing, other.memory.lower_bound]
            && self.edges == other.edges
            && both(&self.subgraphs, &other.subgraphs, |a, b| {
                a.key == b.key
                    && same(&self.subgraph_passes, a.passes, &other.subgraph_passes, b.passes)
                    && same(&self.subgraph_roots, a.roots, &other.subgraph_roots, b.roots)
            })
            && self.unmerged == other.unmerged
            && same_report(&self.report, &other.report)
    }
}

/// Whether two sequences are equal element by element.
fn both<'a, T: 'a>(
    a: impl IntoIterator<Item = &'a T, IntoIter: ExactSizeIterator>,
    b: impl IntoIterator<Item = &'a T, IntoIter: ExactSizeIterator>,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    let (a, b) = (a.into_iter(), b.into_iter());
    a.len() == b.len() && a.zip(b).all(|(a, b)| same(a, b))
}

fn same<T: PartialEq>(a: &[T], at: Span, b: &[T], bt: Span) -> bool {
    a[at.range()] == b[bt.range()]
}

fn same_report(a: &Report, b: &Report) -> bool {
    (a.barriers, a.submits, a.frame_us, a.policy, a.optimal) == (b.barriers, b.submits, b.frame_us, b.policy, b.optimal)
        && a.notes == b.notes
}

impl Plan {
    /// Whether two passes of two plans say the same.
    pub fn same_pass(&self, a: &PlanPass, other: &Self, b: &PlanPass) -> bool {
        let (name, accesses) = (b.name, b.accesses);
        self.pass_names.get(a.name as usize) == other.pass_names.get(b.name as usize)
            && PlanPass { name, accesses, ..*a } == *b
            && same(&self.pass_accesses, a.accesses, &other.pass_accesses, b.accesses)
    }

    fn same_resource(&self, a: &PlanResource, other: &Self, b: &PlanResource) -> bool {
        PlanResource { aliases: b.aliases, ..*a } == *b && same(&self.aliases, a.aliases, &other.aliases, b.aliases)
    }

    fn same_batch(&self, a: &Batch, other: &Self, b: &Batch) -> bool {
        (a.queue, a.signal) == (b.queue, b.signal)
            && same(&self.waits, a.waits, &other.waits, b.waits)
            && both(&self.commands[a.commands.range()], &other.commands[b.commands.range()], |a, b| {
                self.same_command(a, other, b)
            })
    }

    /// Whether two commands of two plans say the same.
    pub fn same_command(&self, a: &Command, other: &Self, b: &Command) -> bool {
        use Command as C;
        match (a, b) {
            (C::Barriers(a), C::Barriers(b)) => self.same_barriers(a, other, b),
            (C::SetEvent(e, a), C::SetEvent(f, b)) | (C::WaitEvents(e, a), C::WaitEvents(f, b)) => {
                e == f && self.same_barriers(a, other, b)
            }
            (
                C::BeginRendering { physical_pass: p, attachments: a },
                C::BeginRendering { physical_pass: q, attachments: b },
            ) => p == q && same(&self.attachments, *a, &other.attachments, *b),
            (C::Pass { pass: p, layouts: a }, C::Pass { pass: q, layouts: b }) => {
                p == q && same(&self.layouts, *a, &other.layouts, *b)
            }
            (C::EndRendering, C::EndRendering) => true,
            _ => false,
        }
    }

    fn same_barriers(&self, a: &Barriers, other: &Self, b: &Barriers) -> bool {
        a.by_region == b.by_region
            && same(&self.memory_barriers, a.memory, &other.memory_barriers, b.memory)
            && same(&self.buffer_barriers, a.buffers, &other.buffer_barriers, b.buffers)
            && same(&self.image_barriers, a.images, &other.image_barriers, b.images)
    }
}
