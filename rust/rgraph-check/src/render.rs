//! Render passes: attachments listed, load and store operations right.

use rgraph_ir::access::{Accesses, Aspects, Load, Stages, Store as StoreOp, Usage};
use rgraph_ir::id::{Id, Span};
use rgraph_ir::plan::{Attachment, Command, PlanPassId};
use rgraph_ir::resource::ResourceId;

use crate::facts::DeclaredUse;
use crate::finding::Rule;
use crate::ids::{CommandId, RenderingId, Subpass, SubresourceId};
use crate::machine::Extra;
use crate::machine::{Machine, Rendering};
use crate::shape::SubresourceRange;
use crate::subresource::{AllocationPlace, Done, Gone, Local};
use crate::tables::{Op, is_attachment};

/// A use of an attachment by a pass of a render pass, in the resource that it is of in this run.
struct Attached<'a> {
    pass: PlanPassId,
    at: &'a DeclaredUse,
    resource: ResourceId,
    subresources: Vec<SubresourceId>,
}

impl Machine<'_> {
    /// Opens a render pass and checks its load and store operations against its passes.
    pub(crate) fn begin_rendering(&mut self, command: CommandId, attachments: Span) {
        let facts = self.facts;
        let plan = self.plan;
        if self.rendering.is_some() {
            self.findings.add(Rule::Malformed, None, None, "a render pass begins within another".to_owned());
        }
        let mut uses: Vec<Attached> = Vec::new();
        // What passes of it say a layout of, whether they are switched on or not.
        let mut found_in: Vec<&DeclaredUse> = Vec::new();
        for next in &plan.commands[command.index() + 1..] {
            match next {
                Command::EndRendering => break,
                Command::Pass { pass, .. } => {
                    let Some(declared) = self.declared_of[*pass] else { continue };
                    let found = |at: &&DeclaredUse| {
                        is_attachment(at.usage) || matches!(at.usage, Usage::InputAttachment | Usage::Sampled)
                    };
                    found_in.extend(facts.declared_passes[declared].uses.iter().filter(found));
                    if !facts.runs(declared, &self.flags) {
                        continue;
                    }
                    for at in &facts.declared_passes[declared].uses {
                        if is_attachment(at.usage) || at.usage == Usage::InputAttachment {
                            let (resource, subresources) = facts.effective_subresources(at, &self.flags);
                            uses.push(Attached { pass: *pass, at, resource, subresources });
                        }
                    }
                }
                _ => {}
            }
        }
        let id = self.next_rendering;
        self.next_rendering = RenderingId::new(id.index() + 1);
        let mut extra = Vec::new();
        let list = &plan.attachments[attachments.range()];
        for Attached { pass, at, resource, subresources } in &uses {
            let listed = subresources.iter().all(|subresource| {
                list.iter().any(|entry| {
                    // Nothing cuts a subresource where an attachment ends.
                    entry.layers[0] <= at.part.layers[0]
                        && at.part.layers[1] <= entry.layers[1]
                        && self
                            .covers(entry, *resource, at.part.aspects & entry.aspects)
                            .binary_search(subresource)
                            .is_ok()
                })
            });
            let memory = |of: ResourceId| facts.memory.get(of).copied();
            let resolves = |entry: &Attachment| {
                entry.resolve_to.is_some_and(|to| memory(to) == memory(*resource))
                    && at.resolves.is_none_or(|from| memory(entry.resource) == memory(from))
            };
            let found = if at.usage == Usage::ResolveAttachment { list.iter().any(resolves) } else { listed };
            if !found {
                let (name, what) = (self.pass_name(Some(*pass)), facts.name(*resource));
                let message = format!(
                    "\"{what}\" is {} of pass \"{}\" but no attachment of its render pass",
                    at.usage,
                    name.unwrap_or_default()
                );
                self.findings.add(Rule::Attachment, name, Some(what), message);
            }
        }
        for entry in list {
            let resource = entry.resource;
            if facts.memory.get(resource).is_none() || uses.is_empty() {
                continue;
            }
            let allocation = self.allocation(resource);
            for subresource in self.covers(entry, resource, entry.aspects) {
                let aspect = facts.grids[facts.memory[resource]].aspect(subresource);
                let same = |u: &&Attached| {
                    self.allocation(u.resource) == allocation && u.subresources.binary_search(&subresource).is_ok()
                };
                let here: Vec<_> = uses.iter().filter(same).map(|u| (u.pass, u.at)).collect();
                let found = |at: &&DeclaredUse| {
                    facts.memory[at.resource] == facts.memory[resource]
                        && at.subresources.binary_search(&subresource).is_ok()
                };
                if !entry.input && !found_in.iter().any(found) {
                    self.nobody_finds(entry, aspect);
                }
                self.check_attachment(entry, AllocationPlace { allocation, subresource }, aspect, &here, &mut extra);
            }
        }
        let runs = !uses.is_empty();
        let range = attachments.range();
        self.rendering = Some(Rendering { id, attachments: range, extra, regions: Vec::new(), runs });
    }

    /// A render pass with subpasses attaches whole images: each aspect of them is in a layout that some pass names.
    fn nobody_finds(&mut self, entry: &Attachment, aspect: Aspects) {
        let what = self.facts.name(entry.resource);
        let aspect = aspect.names().collect::<Vec<_>>().join(" and ");
        let message =
            format!("{aspect} of \"{what}\" is an attachment, in a layout that no pass of its render pass names");
        self.findings.add(Rule::Attachment, None, Some(what), message);
    }

    fn covers(&self, entry: &Attachment, resource: ResourceId, aspects: Aspects) -> Vec<SubresourceId> {
        let of = entry.resource;
        let Some(&memory) = self.facts.memory.get(of) else { return Vec::new() };
        if memory != self.facts.memory[resource] || !self.same_copy(of, resource) {
            return Vec::new();
        }
        let part = SubresourceRange::image([entry.mip, entry.mip.saturating_add(1)], entry.layers, aspects);
        self.facts.grids[memory].subresources(&part)
    }

    fn check_attachment(
        &mut self,
        entry: &Attachment,
        place: AllocationPlace,
        aspect: Aspects,
        here: &[(PlanPassId, &DeclaredUse)],
        extra: &mut Vec<Extra>,
    ) {
        let what = self.facts.name(entry.resource);
        let (load, kept) = operations(entry, aspect);
        let depth = aspect != Aspects::COLOR;
        let Some((pass, first)) = here.first() else {
            // Loading a depth and stencil attachment loads both aspects (Vulkan 1.3, "Render Pass Load Operations").
            if load == Load::Load && depth && !entry.input {
                extra.push(Extra { place, pass: None, op: loading(depth) });
            }
            if !entry.input && (load != Load::Load || kept != StoreOp::Nothing) {
                let message = format!(
                    "{} of \"{what}\" is an attachment that no pass of its render pass uses, but it is loaded as {load} \
                     and stored as {kept}",
                    aspect.names().collect::<Vec<_>>().join(" and ")
                );
                self.findings.add(Rule::Attachment, None, Some(what), message);
            }
            return;
        };
        let name = self.pass_name(Some(*pass));
        let wanted = if first.must_read {
            Load::Load
        } else if first.usage == Usage::ResolveAttachment {
            Load::Discard
        } else {
            first.load_of(aspect)
        };
        let defined = self.allocations[place.allocation].subresources[place.subresource].gone.is_none();
        let wrong = match wanted {
            Load::Load => load != Load::Load && defined && !(entry.input && first.usage == Usage::InputAttachment),
            Load::Clear => load != Load::Clear || entry.clear != first.clear && first.clear.is_some(),
            Load::Discard => false,
        };
        if wrong {
            let message = format!(
                "pass \"{}\" begins on \"{what}\" with {wanted}, but its render pass has {load}",
                name.unwrap_or_default()
            );
            self.findings.add(Rule::Attachment, name, Some(what), message);
        }
        for (pass, later) in &here[1..] {
            if is_attachment(later.usage) && !later.must_read && later.load_of(aspect) == Load::Clear {
                let name = self.pass_name(Some(*pass));
                let message = format!(
                    "pass \"{}\" clears \"{what}\", but stands within a render pass that has it already",
                    name.unwrap_or_default()
                );
                self.findings.add(Rule::Attachment, name, Some(what), message);
            }
        }
        if load == Load::Load && wanted != Load::Load && !entry.input {
            // It loads at the beginning of the first subpass that uses it (Vulkan 1.3, "Render Pass Load Operations").
            let subpass = Subpass::of(self.plan, *pass);
            let early = here.iter().filter(|(pass, _)| Subpass::of(self.plan, *pass) == subpass);
            extra.extend(early.map(|(pass, _)| Extra { place, pass: Some(*pass), op: loading(depth) }));
        }
        // What a pass reads as input attachment and none before it in the render pass made is loaded before.
        if first.usage == Usage::InputAttachment && load == Load::Load {
            extra.push(Extra { place, pass: Some(*pass), op: loading(depth) });
        }
        let (_, store_op) = operations(entry, aspect);
        if store_op != StoreOp::Nothing && !entry.input && here.iter().all(|(_, at)| !at.writes) && depth {
            extra.push(Extra { place, pass: None, op: storing(depth) });
        }
    }

    /// A store operation follows a change of layout within its render pass: it is a write of its own stage (Vulkan 1.3,
    /// "Render Pass Store Operations"), which nothing but that barrier orders, and which those who come behind the
    /// render pass must follow.
    fn check_storing(&mut self, entry: &Attachment, place: AllocationPlace, depth: bool, rendering: RenderingId) {
        let AllocationPlace { allocation, subresource } = place;
        let op = storing(depth);
        let change = self.allocations[allocation].subresources[subresource]
            .writes
            .iter()
            .find_map(|write| self.done[write.done].node);
        let Some(node) = change.filter(|&node| self.nodes[node].rendering == Some(rendering)) else { return };
        let scope = self.nodes[node].scope;
        if !scope.dst_stages.contains(crate::tables::leaf(usize::from(op.stage)))
            || !scope.dst_access.intersects(op.access)
        {
            let what = self.facts.name(entry.resource);
            let message =
                format!("\"{what}\" changes its layout within a render pass, whose store operation does not wait");
            self.findings.add(Rule::WriteAfterWrite, None, Some(what), message);
        }
        let queue = self.nodes[node].queue;
        self.begin_instance();
        let done = Done {
            queue,
            position: self.now[queue],
            op,
            node: None,
            pass: self.nodes[node].pass,
            instance: self.instance,
            rendering: Some(rendering),
            subpass: Subpass::FIRST,
            local: Local::Store,
            inner: false,
            run: self.run,
            place,
            group: None,
            sequence: self.done.len() as u64 + 1,
        };
        self.record(place, vec![done]);
    }

    /// Closes a render pass: what is not stored is gone.
    pub(crate) fn end_rendering(&mut self) {
        let Some(rendering) = self.rendering.take() else {
            self.findings.add(Rule::Malformed, None, None, "a render pass ends that did not begin".to_owned());
            return;
        };
        if !rendering.runs {
            return;
        }
        for entry in self.plan.attachments[rendering.attachments].iter().copied() {
            let resource = entry.resource;
            if entry.input || self.facts.memory.get(resource).is_none() {
                continue;
            }
            let allocation = self.allocation(resource);
            for subresource in self.covers(&entry, resource, entry.aspects) {
                let aspect = self.facts.grids[self.facts.memory[resource]].aspect(subresource);
                let (_, store_op) = operations(&entry, aspect);
                if store_op != StoreOp::Nothing {
                    self.check_storing(
                        &entry,
                        AllocationPlace { allocation, subresource },
                        aspect != Aspects::COLOR,
                        rendering.id,
                    );
                }
                let run = Some(self.run);
                let state = &mut self.allocations[allocation].subresources[subresource];
                let written = state.written == run
                    && store_op == StoreOp::Nothing
                    && state.writes.iter().any(|write| self.done[write.done].rendering == Some(rendering.id));
                if (store_op == StoreOp::Discard || written) && state.gone.is_none() {
                    state.gone = Some(Gone::NotStored);
                }
            }
        }
    }
}

/// The read of a load operation.
fn loading(depth: bool) -> Op {
    let (stage, access) = if depth {
        (Stages::EARLY_FRAGMENT_TESTS, Accesses::DEPTH_STENCIL_ATTACHMENT_READ)
    } else {
        (Stages::COLOR_ATTACHMENT_OUTPUT, Accesses::COLOR_ATTACHMENT_READ)
    };
    Op { stage: stage.bits().trailing_zeros() as u8, access, write: false }
}

/// The write of a store operation, be it to allocation or to discard.
fn storing(depth: bool) -> Op {
    let (stage, access) = if depth {
        (Stages::LATE_FRAGMENT_TESTS, Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE)
    } else {
        (Stages::COLOR_ATTACHMENT_OUTPUT, Accesses::COLOR_ATTACHMENT_WRITE)
    };
    Op { stage: stage.bits().trailing_zeros() as u8, access, write: true }
}

fn operations(entry: &Attachment, aspect: Aspects) -> (Load, StoreOp) {
    match entry.stencil {
        Some(stencil) if aspect == Aspects::STENCIL => stencil,
        _ => (entry.load, entry.store),
    }
}
