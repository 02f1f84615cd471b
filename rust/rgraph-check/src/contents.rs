//! Layouts, owners and contents that a pass finds, and the message of a hazard.

use rgraph_ir::access::{Accesses, Layout, Usage};
use rgraph_ir::id::Id;
use rgraph_ir::plan::{PlanPassId, QueueId};
use rgraph_ir::resource::ResourceId;

use crate::facts::DeclaredUse;
use crate::finding::Rule;
use crate::ids::{DeclaredPassId, DoneId, MemoryId, SubresourceId};
use crate::machine::{Accessed, Machine, UseOf};
use crate::subresource::{AllocationPlace, Done, Gone, Later, Missing};
use crate::tables::{layout_fits, leaf};

/// The layout of buffers.
pub(crate) const NO_LAYOUT: Layout = Layout::Undefined;

impl Machine<'_> {
    /// ` (mips 0..1 layers 2..3)`, or nothing for the whole.
    pub(crate) fn part(&self, memory: MemoryId, subresource: SubresourceId) -> String {
        let words = self.facts.grids[memory].describe(subresource);
        if words.is_empty() { words } else { format!(" ({words})") }
    }

    /// The use meets the layout that the plan names for it, and one that it can have.
    pub(crate) fn check_layout(
        &mut self,
        pass: PlanPassId,
        at: &DeclaredUse,
        resource: ResourceId,
        AllocationPlace { allocation, subresource }: AllocationPlace,
        layouts: std::ops::Range<usize>,
    ) {
        let facts = self.facts;
        if !facts.shapes[resource].is_image() {
            return;
        }
        let memory = facts.memory[resource];
        let name = self.plan.pass_name(pass);
        let what = facts.name(resource);
        let mut named = self.plan.layouts[layouts]
            .iter()
            .filter(|entry| facts.memory.get(entry.resource) == Some(&memory))
            .filter(|entry| self.same_copy(entry.resource, resource))
            .filter(|entry| {
                let part = crate::shape::SubresourceRange::image(entry.mips, entry.layers, entry.aspects);
                facts.grids[memory].subresources(&part).binary_search(&subresource).is_ok()
            })
            .map(|entry| entry.layout)
            .collect::<Vec<_>>();
        if named.is_empty() {
            let plan = self.plan;
            let accesses = plan.passes[pass].accesses.range();
            let of_inserted = plan.pass_accesses.get(accesses).unwrap_or_default().iter();
            named.extend(
                of_inserted
                    .filter(|access| access.resource == resource && crate::tables::writes(access.access) == at.writes)
                    .map(|access| access.layout),
            );
        }
        let state = &self.allocations[allocation].subresources[subresource];
        let current = state.layout;
        // The host may read undefined contents in any layout: it cannot transition one.
        let host_reads_undefined =
            at.usage == Usage::HostRead && state.gone.is_some() && named.contains(&Layout::Undefined);
        let part = self.part(memory, subresource);
        if named.is_empty() {
            let message = format!("pass \"{name}\" names no layout for its {} of \"{what}\"{part}", at.usage);
            self.findings.add(Rule::Layout, Some(name), Some(what), message);
        } else if !named.contains(&current) && !host_reads_undefined {
            let message = format!(
                "pass \"{name}\" uses \"{what}\"{part} as {} in layout {}, but it is in {current}: a transition is missing",
                at.usage, named[0]
            );
            self.findings.add(Rule::Layout, Some(name), Some(what), message);
        } else if !layout_fits(at.usage, current) && !host_reads_undefined {
            let message = format!("pass \"{name}\" uses \"{what}\"{part} as {} in layout {current}", at.usage);
            self.findings.add(Rule::Layout, Some(name), Some(what), message);
        }
    }

    /// Each use sees what it names through one view, and a view has one layout an aspect (Vulkan 1.3,
    /// `VkDescriptorImageInfo`, `VkRenderingAttachmentInfo`). `accessed` comes use by use.
    pub(crate) fn check_views(&mut self, pass: PlanPassId, declared: DeclaredPassId, accessed: &[Accessed]) {
        let facts = self.facts;
        for subresources in accessed.chunk_by(|a, b| a.number == b.number) {
            let Accessed { place: AllocationPlace { allocation, .. }, number, resource } = subresources[0];
            let at = &facts.declared_passes[declared].uses[number];
            // The host looks at bytes, without a view.
            if !facts.shapes[resource].is_image() || at.usage == Usage::HostRead {
                continue;
            }
            let grid = &facts.grids[facts.memory[resource]];
            let layout = |subresource: SubresourceId| self.allocations[allocation].subresources[subresource].layout;
            let differing = subresources.iter().find_map(|one| {
                let subresource = one.place.subresource;
                let first = subresources
                    .iter()
                    .map(|first| first.place.subresource)
                    .find(|&one| grid.aspect(one) == grid.aspect(subresource));
                first.filter(|&first| layout(first) != layout(subresource)).map(|first| [first, subresource])
            });
            let Some([first, other]) = differing else { continue };
            let (name, what) = (self.plan.pass_name(pass), facts.name(resource));
            let message = format!(
                "pass \"{name}\" sees \"{what}\" as {} in {}{} and in {}{}: a view has one layout",
                at.usage,
                layout(first),
                self.part(facts.memory[resource], first),
                layout(other),
                self.part(facts.memory[resource], other)
            );
            self.findings.add(Rule::Layout, Some(name), Some(what), message);
        }
    }

    /// Whether two resources of one memory are the same copy in this run.
    pub(crate) fn same_copy(&self, a: ResourceId, b: ResourceId) -> bool {
        self.allocation(a) == self.allocation(b)
    }

    /// Contents that the use needs are there, and its queue's family owns them.
    pub(crate) fn check_contents(
        &mut self,
        queue: QueueId,
        pass: PlanPassId,
        UseOf { declared, number }: UseOf,
        resource: ResourceId,
        AllocationPlace { allocation, subresource }: AllocationPlace,
    ) {
        let facts = self.facts;
        let at = &facts.declared_passes[declared].uses[number];
        let memory = facts.memory[resource];
        let aspect = facts.grids[memory].aspect(subresource);
        let needs = at.must_read || at.keeps_aspect(aspect);
        let name = self.plan.pass_name(pass);
        let what = facts.name(resource);
        let part = self.part(memory, subresource);
        if let Some(family) = self.family(queue).filter(|_| !self.concurrent[memory]) {
            let state = &mut self.allocations[allocation].subresources[subresource];
            if let Some(release) = state.release.take() {
                let message = format!(
                    "pass \"{name}\" uses \"{what}\"{part} between its release to family {} and the acquire",
                    release.families[1]
                );
                self.findings.add(Rule::Ownership, Some(name), Some(what), message);
            } else if state.owner.is_some_and(|owner| owner != family) {
                let owner = state.owner.unwrap_or(0);
                // It finds an image as if that were new (Vulkan 1.3, "Queue Family Ownership Transfer"): a layout is
                // what a transition from `UNDEFINED` gives it.
                if !needs && facts.shapes[resource].is_image() {
                    let message = format!(
                        "pass \"{name}\" on family {family} takes \"{what}\"{part} from family {owner} without a transition from layout undefined"
                    );
                    self.findings.add(Rule::Ownership, Some(name), Some(what), message);
                }
                if state.gone.is_none() {
                    state.gone = Some(Gone::Family);
                    if needs {
                        let message = format!(
                            "pass \"{name}\" on family {family} uses \"{what}\"{part}, which family {owner} owns: no release and acquire"
                        );
                        self.findings.add(Rule::Ownership, Some(name), Some(what), message);
                        state.gone = None;
                    }
                }
            }
            state.owner = Some(family);
        }
        let Some(gone) = self.allocations[allocation].subresources[subresource].gone else { return };
        // A declaration that writes nothing declares undefined contents.
        if !needs
            || !facts.finds(resource, subresource, facts.key(resource, subresource, declared, number), &self.flags)
        {
            return;
        }
        let why = self.why_gone(gone);
        let message = format!("pass \"{name}\" reads \"{what}\"{part} ({}), but {why}", at.usage);
        self.findings.add(Rule::Undefined, Some(name), Some(what), message);
    }

    /// The reason why contents are undefined, for a message.
    pub(crate) fn why_gone(&self, gone: Gone) -> String {
        match gone {
            Gone::Unwritten => "nothing wrote it in this run".to_owned(),
            Gone::Transition => "a barrier from layout undefined discarded it".to_owned(),
            Gone::Alias(by) => format!("\"{}\" overwrote it in the same bytes", self.facts.memory_name(by)),
            Gone::NotStored => "a render pass did not allocation it".to_owned(),
            Gone::Family => "another queue family used it without a transfer of ownership".to_owned(),
            Gone::Undefined => "its writer leaves garbage".to_owned(),
        }
    }

    /// What a pass leaves in a subresource.
    pub(crate) fn note_contents(
        &mut self,
        at: &DeclaredUse,
        AllocationPlace { allocation, subresource }: AllocationPlace,
    ) {
        if !at.writes {
            return;
        }
        self.destroy_aliases(allocation);
        let run = self.run;
        self.allocations[allocation].filled = true;
        let state = &mut self.allocations[allocation].subresources[subresource];
        state.written = Some(run);
        state.gone = at.undefined.then_some(Gone::Undefined);
    }

    /// Tells a hazard in words.
    pub(crate) fn report(
        &mut self,
        x: DoneId,
        y: &Later,
        missing: Missing,
        aliased: bool,
        AllocationPlace { allocation, subresource }: AllocationPlace,
        resource: ResourceId,
    ) {
        let facts = self.facts;
        let memory = self.allocations[allocation].memory;
        let what = facts.name(resource);
        let part = self.part(memory, subresource);
        let x = self.done[x];
        let (y_queue, y_pass, y_write, y_run) = match y {
            Later::Op(y) => (y.queue, y.pass, y.op.write, y.run),
            Later::Node(node) => (self.nodes[*node].queue, self.nodes[*node].pass, true, self.run),
        };
        let rule = match (aliased, missing == Missing::Order && x.queue != y_queue, x.op.write, y_write) {
            (true, ..) => Rule::Alias,
            (_, true, ..) => Rule::Race,
            (_, _, true, true) => Rule::WriteAfterWrite,
            (_, _, true, false) => Rule::ReadAfterWrite,
            (_, _, false, _) => Rule::WriteAfterRead,
        };
        let earlier = self.side(&x);
        let run = match y_run.index() - x.run.index() {
            0 => "",
            1 => " of the run before",
            _ => " of an earlier run",
        };
        let later = match y {
            Later::Op(y) => self.side(y),
            Later::Node(_) => match self.pass_name(y_pass) {
                Some(pass) => format!("the transition for pass \"{pass}\""),
                None => "a transition".to_owned(),
            },
        };
        let wants = match y {
            Later::Op(y) => Self::words(leaf(usize::from(y.op.stage)), y.op.access),
            Later::Node(_) => "the transition".to_owned(),
        };
        let of_x = if x.node.is_some() {
            "a transition".to_owned()
        } else {
            Self::words(leaf(usize::from(x.op.stage)), if x.op.write { x.op.access } else { Accesses::empty() })
        };
        let lacks = match missing {
            Missing::Order if x.queue != y_queue => format!(
                "no wait on {} orders it after {} ({of_x} to {wants})",
                self.queue_name(y_queue),
                self.queue_name(x.queue)
            ),
            Missing::Order => format!("no barrier orders {of_x} before {wants}"),
            Missing::Availability => format!("no barrier with source {of_x} makes the write available"),
            Missing::Visibility => format!("no barrier with destination {wants} makes the write visible"),
            Missing::Subpass => {
                format!("nothing orders {of_x} before {wants} within one subpass, so it must stand in a later one")
            }
            Missing::Host => "no barrier to host / host_read makes the write visible to the host".to_owned(),
        };
        let also = if aliased { " (in the same bytes)" } else { "" };
        let message = format!("{later} of \"{what}\"{part} after {earlier}{run}{also}: {lacks}");
        self.findings.add(rule, self.pass_name(y_pass), Some(what), message);
    }

    fn side(&self, x: &Done) -> String {
        match (self.pass_name(x.pass), x.node) {
            (Some(pass), Some(_)) => format!("the transition for pass \"{pass}\""),
            (Some(pass), None) => format!("pass \"{pass}\" {}", if x.op.write { "writes" } else { "reads" }),
            (None, Some(_)) => "a transition or entry".to_owned(),
            (None, None) => "the caller".to_owned(),
        }
    }
}
