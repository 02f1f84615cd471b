//! When two plans are equal: if they say the same, however their flat arrays are laid out.

use crate::id::Span;
use crate::plan::{Barriers, Batch, Command, Memory, PassSet, Plan, PlanPass, PlanResource, Report, Subgraph};

impl PartialEq for Plan {
    /// Equal decisions for equal graphs and profiles; how long the bake took does not count. O(plan).
    fn eq(&self, other: &Self) -> bool {
        // Taken apart, so that a new field does not compile until it is compared. What spans point into is compared
        // with what holds the spans.
        let Self {
            graph,
            graph_hash,
            profile,
            features,
            queues,
            pass_names: _,
            resource_names,
            flag_names,
            passes,
            pass_accesses: _,
            resources,
            aliases: _,
            batches,
            waits: _,
            commands: _,
            memory_barriers: _,
            buffer_barriers: _,
            image_barriers: _,
            attachments: _,
            layouts: _,
            memory: Memory { heaps, placements, total, without_aliasing, lower_bound },
            edges,
            foreign,
            subgraphs,
            subgraph_passes: _,
            subgraph_roots: _,
            unmerged,
            sets,
            set_passes: _,
            packets,
            packet_passes: _,
            copies,
            fallbacks,
            report,
        } = self;
        let bytes = [*total, *without_aliasing, *lower_bound];
        *graph == other.graph
            && *graph_hash == other.graph_hash
            && *profile == other.profile
            && *features == other.features
            && queues.as_slice() == other.queues.as_slice()
            && *resource_names == other.resource_names
            && *flag_names == other.flag_names
            && both(passes, &other.passes, |a, b| self.same_pass(a, other, b))
            && both(resources, &other.resources, |a, b| self.same_resource(a, other, b))
            && both(batches, &other.batches, |a, b| self.same_batch(a, other, b))
            && heaps.as_slice() == other.memory.heaps.as_slice()
            && *placements == other.memory.placements
            && bytes == [other.memory.total, other.memory.without_aliasing, other.memory.lower_bound]
            && *edges == other.edges
            && *foreign == other.foreign
            && both(subgraphs, &other.subgraphs, |a, b| self.same_subgraph(a, other, b))
            && *unmerged == other.unmerged
            && both(sets, &other.sets, |a, b| self.same_set(a, other, b))
            && both(packets, &other.packets, |a, b| same(&self.packet_passes, *a, &other.packet_passes, *b))
            && *copies == other.copies
            && *fallbacks == other.fallbacks
            && same_report(report, &other.report)
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
    let Report {
        bake_us: _,
        barriers,
        submits,
        frame_us,
        one_queue_us,
        bound,
        critical_path,
        policy,
        optimal,
        memory,
        notes,
    } = a;
    (*barriers, *submits, *frame_us, *policy, *optimal) == (b.barriers, b.submits, b.frame_us, b.policy, b.optimal)
        && (*one_queue_us, *memory, notes) == (b.one_queue_us, b.memory, &b.notes)
        && (*bound, critical_path) == (b.bound, &b.critical_path)
}

impl Plan {
    /// Whether two passes of two plans say the same.
    fn same_pass(&self, a: &PlanPass, other: &Self, b: &PlanPass) -> bool {
        let (name, accesses) = (b.name, b.accesses);
        self.pass_names.get(a.name as usize) == other.pass_names.get(b.name as usize)
            && PlanPass { name, accesses, ..*a } == *b
            && same(&self.pass_accesses, a.accesses, &other.pass_accesses, b.accesses)
    }

    fn same_resource(&self, a: &PlanResource, other: &Self, b: &PlanResource) -> bool {
        PlanResource { aliases: b.aliases, ..*a } == *b && same(&self.aliases, a.aliases, &other.aliases, b.aliases)
    }

    fn same_set(&self, PassSet { cpu, passes }: &PassSet, other: &Self, b: &PassSet) -> bool {
        *cpu == b.cpu && same(&self.set_passes, *passes, &other.set_passes, b.passes)
    }

    fn same_subgraph(&self, Subgraph { key, passes, roots }: &Subgraph, other: &Self, b: &Subgraph) -> bool {
        *key == b.key
            && same(&self.subgraph_passes, *passes, &other.subgraph_passes, b.passes)
            && same(&self.subgraph_roots, *roots, &other.subgraph_roots, b.roots)
    }

    fn same_batch(&self, a: &Batch, other: &Self, b: &Batch) -> bool {
        let Batch { queue, waits, commands, signal } = *a;
        (queue, signal) == (b.queue, b.signal)
            && same(&self.waits, waits, &other.waits, b.waits)
            && both(&self.commands[commands.range()], &other.commands[b.commands.range()], |a, b| {
                self.same_command(a, other, b)
            })
    }

    /// Whether two commands of two plans say the same.
    fn same_command(&self, a: &Command, other: &Self, b: &Command) -> bool {
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
            (
                C::Barriers(_)
                | C::SetEvent(..)
                | C::WaitEvents(..)
                | C::BeginRendering { .. }
                | C::Pass { .. }
                | C::EndRendering,
                _,
            ) => false,
        }
    }

    fn same_barriers(&self, a: &Barriers, other: &Self, b: &Barriers) -> bool {
        let Barriers { memory, buffers, images, by_region } = *a;
        by_region == b.by_region
            && same(&self.memory_barriers, memory, &other.memory_barriers, b.memory)
            && same(&self.buffer_barriers, buffers, &other.buffer_barriers, b.buffers)
            && same(&self.image_barriers, images, &other.image_barriers, b.images)
    }
}
