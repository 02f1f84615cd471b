//! The layouts in which passes find their images, under every name that they use.

use super::hazard::HazardInputs;
use crate::access::Layout;
use crate::graph::PassId;
use crate::id::{IdSpan, Span};
use crate::plan::{PassLayout, Plan, PlanPassId};
use crate::resource::{Life, ResourceId};
use crate::stages::context::Context;
use crate::stages::ids::VisitId;
use crate::stages::resolve::subresource::{Subresource, SubresourceRange};
use crate::stages::resolve::{Origin, part_of};

/// A use of an image whose memory has several names that a pass may use at once: two histories of equal
/// depth are one memory, and the reads of a pass under both names are one access.
#[derive(Clone, Copy, Debug)]
struct Named {
    pass: PassId,
    resource: ResourceId,
    part: SubresourceRange,
}

/// What writing layouts needs.
#[derive(Default, Debug)]
pub(super) struct Layouts {
    /// By pass.
    named: Vec<Named>,
    more: Vec<PassLayout>,
}

impl Layouts {
    /// Finds the uses of memories with several histories. O(resources), and O(accesses log accesses) if there are any.
    pub(super) fn start(&mut self, context: Context<'_>) {
        let Context { graph, facts, shapes, .. } = context;
        self.named.clear();
        let resources = graph.resources();
        let second = |id: ResourceId| matches!(resources[id].life, Life::History(_)) && facts.memory[id] != id;
        if !resources.ids().any(second) {
            return;
        }
        for access in graph.accesses() {
            let resource = access.resource;
            if context.is_image(resource) && matches!(resources[resource].life, Life::History(_)) {
                let part = part_of(graph, access, &shapes[resource]);
                self.named.push(Named { pass: access.pass, resource, part });
            }
        }
        self.named.sort_by_key(|named| named.pass);
    }

    /// Writes the layouts of the pass at a position, neighbouring subresources of one layout together.
    pub(super) fn write(
        &mut self,
        inputs: HazardInputs<'_>,
        at: PlanPassId,
        visits: IdSpan<VisitId>,
        plan: &mut Plan,
    ) -> Span {
        let context = inputs.context;
        let start = plan.layouts.len();
        let named = match context.facts.passes[context.schedule.passes[at].pass].origin {
            Origin::Declared(pass) => {
                let first = self.named.partition_point(|named| named.pass < pass);
                let end = self.named.partition_point(|named| named.pass <= pass);
                &self.named[first..end]
            }
            _ => &[],
        };
        self.more.clear();
        let mut read_groups = inputs.read_groups.of.slice(visits).iter();
        for access in context.accesses(at) {
            let memory = context.facts.memory[access.resource];
            let image = context.is_image(memory);
            for (subresource, &read_group) in access.subresources.ids().zip(&mut read_groups) {
                if !image {
                    continue;
                }
                let read_group = &inputs.read_groups.read_groups[read_group];
                let part = context.facts.subresources.get(subresource);
                let layout: Layout = read_group.layout_of(access.layout);
                let under = |resource| PassLayout {
                    resource,
                    mips: part.mips,
                    layers: part.layers,
                    aspects: part.aspects,
                    layout,
                };
                add_layout(&mut plan.layouts, start, under(access.resource));
                let others = named.iter().filter(|named| {
                    named.resource != access.resource
                        && context.facts.memory[named.resource] == memory
                        && covers(&named.part, part)
                });
                self.more.extend(others.map(|named| under(named.resource)));
            }
        }
        self.more.sort_by_key(|one| one.resource);
        for &one in &self.more {
            add_layout(&mut plan.layouts, start, one);
        }
        Span::new(start, plan.layouts.len())
    }
}

/// Whether a part takes in a subresource; subresources are cut where parts end.
fn covers(part: &SubresourceRange, one: &Subresource) -> bool {
    part.mips[0] <= one.mips[0]
        && one.mips[1] <= part.mips[1]
        && part.layers[0] <= one.layers[0]
        && one.layers[1] <= part.layers[1]
        && part.aspects.intersects(one.aspects)
}

/// Adds a layout to those from `start` on, or widens the last of them.
fn add_layout(layouts: &mut Vec<PassLayout>, start: usize, mut one: PassLayout) {
    while let Some(last) = layouts[start..].last().copied().filter(|last| joins(last, &mut one)) {
        debug_assert_eq!(last.resource, one.resource);
        layouts.pop();
    }
    layouts.push(one);
}

/// Widens `one` by an entry of the list, if both are neighbours or the same in another aspect.
fn joins(last: &PassLayout, one: &mut PassLayout) -> bool {
    if last.resource != one.resource || last.layout != one.layout {
        return false;
    }
    let within = last.mips == one.mips && last.layers == one.layers;
    if within {
        one.aspects |= last.aspects;
    } else if last.aspects == one.aspects && last.mips == one.mips && last.layers[1] == one.layers[0] {
        one.layers[0] = last.layers[0];
    } else if last.aspects == one.aspects && last.layers == one.layers && last.mips[1] == one.mips[0] {
        one.mips[0] = last.mips[0];
    } else {
        return false;
    }
    true
}
