//! Whether every id, span and range of a plan points somewhere.

use rgraph_ir::access::Aspects;
use rgraph_ir::id::{Id, Span};
use rgraph_ir::plan::{Barriers, Command, Plan, QueueId};
use rgraph_ir::resource::ResourceId;

use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::shape::Shape;

/// Most subresources and commands that are checked.
const MOST_WORK: usize = 50_000_000;

/// Whether every id, span and range points somewhere; nothing else may look at a plan for which this is false.
pub(crate) fn is_well_formed(facts: &Facts, plan: &Plan, findings: &mut Findings) -> bool {
    let mut form = Form { of: Of { facts, plan }, findings, good: true };
    form.check_lists();
    form.check_commands();
    form.check_barriers();
    form.check_attachments();
    form.check_memory();
    form.check_sets();
    form.check_edges();
    let good = form.good;
    is_small(facts, plan, findings) && good
}

/// Refuses plans that would take too long.
fn is_small(facts: &Facts, plan: &Plan, findings: &mut Findings) -> bool {
    let mut subresources = 0usize;
    for grid in &facts.grids {
        subresources = subresources.saturating_add(grid.len());
    }
    let small = subresources.saturating_add(plan.commands.len()) <= MOST_WORK;
    if !small {
        findings.add(Rule::TooLarge, None, None, format!("{subresources} pieces of resources are too many to check"));
    }
    small
}

fn inside(span: Span, len: usize) -> bool {
    span.start <= span.end && span.end as usize <= len
}

/// What ids and ranges are compared with.
#[derive(Clone, Copy)]
struct Of<'a> {
    facts: &'a Facts<'a>,
    plan: &'a Plan,
}

impl Of<'_> {
    fn queue(self, queue: Option<QueueId>) -> bool {
        queue.is_none_or(|queue| queue.index() < self.plan.queues.len())
    }

    fn known(self, resource: ResourceId) -> bool {
        resource.index() < self.plan.resources.len()
    }

    fn image(self, resource: ResourceId) -> bool {
        self.facts.shapes.get(resource).is_none_or(|shape| shape.is_image())
    }

    fn fits(self, resource: ResourceId, mips: [u32; 2], layers: [u32; 2]) -> bool {
        self.facts.shapes.get(resource).is_none_or(|shape| {
            mips[0] < mips[1] && mips[1] <= shape.mips && layers[0] < layers[1] && layers[1] <= shape.layers
        })
    }

    fn aspects(self, resource: ResourceId, aspects: Aspects) -> bool {
        let has = |shape: &Shape| !aspects.is_empty() && shape.aspects.contains(aspects);
        self.facts.shapes.get(resource).is_none_or(has)
    }

    fn owners(self, families: Option<[u32; 2]>) -> bool {
        let family = |family: &u32| self.plan.queues.iter().any(|queue| queue.family == *family);
        families.is_none_or(|both| both.iter().all(family))
    }

    fn name(self, resource: ResourceId) -> String {
        if self.known(resource) && resource.index() < self.plan.resource_names.len() {
            format!("\"{}\"", self.plan.resource_name(resource))
        } else {
            format!("resource {}", resource.index())
        }
    }
}

/// A plan under examination.
struct Form<'a> {
    of: Of<'a>,
    findings: &'a mut Findings,
    good: bool,
}

impl Form<'_> {
    fn demand(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.good = false;
            self.findings.add(Rule::Malformed, None, None, what());
        }
    }

    /// Resources, passes, batches and waits.
    fn check_lists(&mut self) {
        let of = self.of;
        let Of { facts, plan } = of;
        let resources = plan.resources.len();
        self.demand(resources == facts.memory.len(), || {
            format!("the plan has {resources} resources, the graph {}", facts.memory.len())
        });
        self.demand(plan.resource_names.len() >= resources, || "resources without names".to_owned());
        for (id, pass) in plan.passes.iter_ids() {
            let holds = (pass.name as usize) < plan.pass_names.len()
                && of.queue(pass.queue)
                && pass.flag.is_none_or(|flag| flag.index() < plan.flag_names.len())
                && inside(pass.accesses, plan.pass_accesses.len());
            self.demand(holds, || format!("pass {} points outside the plan", id.index()));
        }
        for (id, resource) in plan.resources.iter_ids() {
            let holds = of.known(resource.memory) && resource.remembers.is_none_or(|remembers| of.known(remembers.of));
            self.demand(holds, || format!("the memory of resource {} points outside the plan", id.index()));
        }
        for one in &plan.fallbacks {
            let holds = one.pass.index() < plan.passes.len() && of.known(one.output) && of.known(one.input);
            self.demand(holds, || "a fallback points outside the plan".to_owned());
        }
        let mut next = 0;
        for (id, batch) in plan.batches.iter_ids() {
            let holds = of.queue(batch.queue)
                && inside(batch.waits, plan.waits.len())
                && inside(batch.commands, plan.commands.len());
            self.demand(holds, || format!("batch {} points outside the plan", id.index()));
            self.demand(batch.commands.start == next, || {
                format!("the commands of batch {} do not follow on", id.index())
            });
            next = batch.commands.end;
        }
        self.demand(next as usize == plan.commands.len(), || "a command stands in no batch".to_owned());
        for wait in &plan.waits {
            self.demand(of.queue(wait.queue), || "a wait names a queue that the plan does not have".to_owned());
        }
    }

    /// Commands and the lists that they name.
    fn check_commands(&mut self) {
        let plan = self.of.plan;
        for (at, command) in plan.commands.iter().enumerate() {
            let lists = |b: &Barriers| {
                inside(b.memory, plan.memory_barriers.len())
                    && inside(b.buffers, plan.buffer_barriers.len())
                    && inside(b.images, plan.image_barriers.len())
            };
            let holds = match command {
                Command::Barriers(b) => lists(b),
                // Events are dense, and each is set by a command of its own.
                Command::SetEvent(event, b) | Command::WaitEvents(event, b) => {
                    event.index() < plan.commands.len() && lists(b)
                }
                Command::BeginRendering { attachments, .. } => inside(*attachments, plan.attachments.len()),
                Command::Pass { pass, layouts } => {
                    pass.index() < plan.passes.len() && inside(*layouts, plan.layouts.len())
                }
                Command::EndRendering => true,
            };
            self.demand(holds, || format!("command {at} points outside the plan"));
        }
    }

    /// Barriers: their parts of resources, and the families that they name.
    fn check_barriers(&mut self) {
        let of = self.of;
        let Of { facts, plan } = of;
        for b in &plan.image_barriers {
            let holds = of.known(b.resource)
                && of.image(b.resource)
                && of.fits(b.resource, b.mips, b.layers)
                && of.aspects(b.resource, b.aspects);
            self.demand(holds, || format!("an image barrier on {} lies outside it", of.name(b.resource)));
            self.demand(of.owners(b.families), || {
                format!("a barrier on {} names a family without a queue", of.name(b.resource))
            });
        }
        for b in &plan.buffer_barriers {
            let shape = facts.shapes.get(b.resource);
            let holds = of.known(b.resource)
                && shape.is_none_or(|shape| !shape.is_image() && b.range[0] < b.range[1] && b.range[1] <= shape.bytes);
            self.demand(holds, || format!("a buffer barrier on {} lies outside it", of.name(b.resource)));
            self.demand(of.owners(b.families), || {
                format!("a barrier on {} names a family without a queue", of.name(b.resource))
            });
        }
    }

    /// Attachments and layouts.
    fn check_attachments(&mut self) {
        let of = self.of;
        let plan = of.plan;
        for a in &plan.attachments {
            let holds = of.known(a.resource)
                && of.image(a.resource)
                && of.fits(a.resource, [a.mip, a.mip.saturating_add(1)], a.layers)
                && of.aspects(a.resource, a.aspects);
            self.demand(holds, || format!("an attachment {} lies outside the image", of.name(a.resource)));
            let resolves = a.resolve_to.is_none_or(|to| of.known(to) && of.image(to));
            self.demand(resolves, || format!("attachment {} resolves to no image", of.name(a.resource)));
        }
        for l in &plan.layouts {
            let holds = of.known(l.resource)
                && of.image(l.resource)
                && of.fits(l.resource, l.mips, l.layers)
                && of.aspects(l.resource, l.aspects);
            self.demand(holds, || format!("a layout of {} lies outside the image", of.name(l.resource)));
        }
    }

    /// Accesses and placements.
    fn check_memory(&mut self) {
        let of = self.of;
        let plan = of.plan;
        for access in &plan.pass_accesses {
            self.demand(of.known(access.resource), || {
                "an access names a resource that the plan does not have".to_owned()
            });
        }
        for placement in &plan.memory.placements {
            let holds = of.known(placement.resource) && placement.heap.index() < plan.memory.heaps.len();
            self.demand(holds, || format!("the placement of {} points outside the plan", of.name(placement.resource)));
        }
    }

    /// Sets, groups of packets and copies.
    fn check_sets(&mut self) {
        let of = self.of;
        let plan = of.plan;
        for set in &plan.sets {
            self.demand(inside(set.passes, plan.set_passes.len()), || "a set points outside the plan".to_owned());
        }
        for group in &plan.packets {
            self.demand(inside(*group, plan.packet_passes.len()), || {
                "a group of packets points outside the plan".to_owned()
            });
        }
        for pass in &plan.packet_passes {
            self.demand(pass.index() < plan.passes.len(), || {
                "a group of packets names a pass that there is not".to_owned()
            });
        }
        for pass in plan.set_passes.iter().chain(plan.copies.iter().map(|copy| &copy.pass)) {
            self.demand(pass.index() < plan.passes.len(), || "a set or copy names a pass that there is not".to_owned());
        }
        for resource in plan.copies.iter().flat_map(|copy| [copy.from, copy.to]) {
            self.demand(of.known(resource), || "a copy names a resource that the plan does not have".to_owned());
        }
    }

    /// Edges and foreign points.
    fn check_edges(&mut self) {
        let of = self.of;
        let Of { facts, plan } = of;
        for edge in &plan.edges {
            let part = facts.shapes.get(edge.resource).is_none_or(|shape| match shape.is_image() {
                true => of.fits(edge.resource, edge.mips, edge.layers) && of.aspects(edge.resource, edge.aspects),
                false => edge.range[0] < edge.range[1] && edge.range[1] <= shape.bytes,
            });
            self.demand(
                of.known(edge.resource) && part && of.queue(edge.entry.queue) && of.queue(edge.exit.queue),
                || format!("the edge of {} points outside the plan", of.name(edge.resource)),
            );
        }
        for point in &plan.foreign {
            self.demand(of.known(point.resource) && point.batch.index() < plan.batches.len(), || {
                format!("a foreign point of {} points outside the plan", of.name(point.resource))
            });
        }
    }
}
