//! What the load and store operations of render passes do besides the passes within.
//!
//! Source: Vulkan 1.3 specification, "Render Pass Load Operations", "Render Pass Store Operations".

use rgraph_ir::access::{Accesses, Aspects, Load, Stages, Store, Usage};
use rgraph_ir::graph::FlagId;
use rgraph_ir::id::{Id, Span};
use rgraph_ir::plan::{Attachment, Command, PlanPassId, QueueId};
use rgraph_ir::resource::ResourceId;

use super::listing::Lister;
use super::{Access, Link, LinkKind, Refused, RenderPassId, Subpass, Within};
use crate::facts::DeclaredUse;
use crate::ids::{CommandId, DeclaredPassId, SubresourceId};
use crate::shape::SubresourceRange;
use crate::tables::{Op, is_attachment, leaf};

/// A render pass that is open.
pub(super) struct RenderPass {
    pub id: RenderPassId,
    /// The flag that all of its passes have.
    pub flag: Option<FlagId>,
    pub extra: Vec<Extra>,
    attachments: Span,
}

/// An operation that a load or store operation adds to the passes that use a subresource.
pub(super) struct Extra {
    pub resource: ResourceId,
    pub subresource: SubresourceId,
    /// The only pass with which it happens; `None`: with each.
    pub pass: Option<PlanPassId>,
    pub op: Op,
}

impl Lister<'_> {
    /// Opens a render pass.
    pub(super) fn begin_render_pass(&mut self, queue: QueueId, command: CommandId, attachments: Span) {
        let (facts, plan) = (self.facts, self.plan);
        let passes =
            plan.commands[command.index() + 1..].iter().take_while(|next| !matches!(next, Command::EndRendering));
        let declared_passes = passes.filter_map(|next| match next {
            Command::Pass { pass, .. } => self.declared_of[*pass].map(|declared| (*pass, declared)),
            _ => None,
        });
        let declared_passes: Vec<(PlanPassId, DeclaredPassId)> = declared_passes.collect();
        let flags: Vec<_> = declared_passes.iter().map(|(_, declared)| facts.declared_passes[*declared].flag).collect();
        let flag = flags.first().copied().flatten().filter(|first| flags.iter().all(|flag| *flag == Some(*first)));
        let mut extra = Vec::new();
        for entry in &plan.attachments[attachments.range()] {
            let resource = entry.resource;
            if facts.memory.get(resource).is_none() {
                continue;
            }
            self.enter(queue, resource);
            for subresource in self.attached(entry) {
                let uses = declared_passes
                    .iter()
                    .flat_map(|(pass, declared)| facts.declared_passes[*declared].uses.iter().map(|at| (*pass, at)));
                let here = uses.filter(|(_, at)| {
                    let same = (facts.memory[at.resource], facts.frames_ago[at.resource]);
                    same == (facts.memory[resource], facts.frames_ago[resource])
                        && (is_attachment(at.usage) || at.usage == Usage::InputAttachment)
                        && at.subresources.contains(&subresource)
                });
                let aspect = facts.grids[facts.memory[resource]].aspect(subresource);
                let added = added(entry, aspect, &here.collect::<Vec<_>>(), |pass| Subpass::of(plan, pass));
                extra.extend(added.into_iter().map(|(pass, op)| Extra { resource, subresource, pass, op }));
            }
        }
        let id = self.next_render_pass;
        self.next_render_pass = RenderPassId::new(id.index() + 1);
        self.render_pass = Some(RenderPass { id, flag, extra, attachments });
    }

    fn attached(&self, entry: &Attachment) -> Vec<SubresourceId> {
        let part = SubresourceRange::image([entry.mip, entry.mip.saturating_add(1)], entry.layers, entry.aspects);
        self.subresources(entry.resource, &part)
    }

    /// Closes a render pass: behind a change of layout within, a store operation is a write of its own.
    pub(super) fn end_render_pass(&mut self) -> Result<(), Refused> {
        let Some(open) = self.render_pass.take() else {
            return Err(Refused::one("a render pass ends that did not begin".to_owned()));
        };
        for entry in &self.plan.attachments[open.attachments.range()] {
            let resource = entry.resource;
            if entry.input || self.facts.memory.get(resource).is_none() {
                continue;
            }
            for subresource in self.attached(entry) {
                let aspect = self.facts.grids[self.facts.memory[resource]].aspect(subresource);
                let region = self.region(resource, &[subresource]);
                let writes =
                    |access: &&Access| access.write && super::pairs::names(&access.region, &region, subresource);
                let Some(last) = self.listing.accesses.iter().rev().find(writes) else { continue };
                let change = last.link.map(|link| &self.listing.links[link]);
                let moved = |link: &&Link| link.kind == LinkKind::Subpass && link.render_pass == Some(open.id);
                if change.filter(moved).is_none() || operations(entry, aspect).1 == Store::Nothing {
                    continue;
                }
                let op = storing(aspect != Aspects::COLOR);
                let store = Access {
                    resource: self.facts.name(resource).to_owned(),
                    link: None,
                    step: self.step,
                    stages: leaf(usize::from(op.stage)),
                    access: op.access,
                    within: Within::Store,
                    region,
                    before: last.after.clone(),
                    ..last.clone()
                };
                self.listing.accesses.push(store);
            }
        }
        Ok(())
    }
}

fn operations(entry: &Attachment, aspect: Aspects) -> (Load, Store) {
    match entry.stencil {
        Some(stencil) if aspect == Aspects::STENCIL => stencil,
        _ => (entry.load, entry.store),
    }
}

fn op(stage: Stages, access: Accesses, write: bool) -> Op {
    Op { stage: stage.bits().trailing_zeros() as u8, access, write }
}

fn storing(depth: bool) -> Op {
    if depth {
        op(Stages::LATE_FRAGMENT_TESTS, Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE, true)
    } else {
        op(Stages::COLOR_ATTACHMENT_OUTPUT, Accesses::COLOR_ATTACHMENT_WRITE, true)
    }
}

/// What the load and store operations of an attachment do that no pass declares. `here`: its uses in the render pass.
fn added(
    entry: &Attachment,
    aspect: Aspects,
    here: &[(PlanPassId, &DeclaredUse)],
    subpass: impl Fn(PlanPassId) -> Subpass,
) -> Vec<(Option<PlanPassId>, Op)> {
    let (load, store) = operations(entry, aspect);
    let depth = aspect != Aspects::COLOR;
    let loading = if depth {
        op(Stages::EARLY_FRAGMENT_TESTS, Accesses::DEPTH_STENCIL_ATTACHMENT_READ, false)
    } else {
        op(Stages::COLOR_ATTACHMENT_OUTPUT, Accesses::COLOR_ATTACHMENT_READ, false)
    };
    let mut all = Vec::new();
    match here.first() {
        _ if load != Load::Load => {}
        // Loading a depth and stencil attachment loads both aspects.
        None => all.extend((depth && !entry.input).then_some((None, loading))),
        // What a pass reads as input attachment and none before it in the render pass made is loaded before.
        Some((pass, first)) if first.usage == Usage::InputAttachment => all.push((Some(*pass), loading)),
        Some((pass, first)) => {
            let kept =
                first.must_read || first.usage != Usage::ResolveAttachment && first.load_of(aspect) == Load::Load;
            // It loads at the beginning of the first subpass that uses it.
            if !kept && !entry.input {
                let early = here.iter().filter(|(other, _)| subpass(*other) == subpass(*pass));
                all.extend(early.map(|(other, _)| (Some(*other), loading)));
            }
        }
    }
    let reads = !here.is_empty() && here.iter().all(|(_, at)| !at.writes);
    let stores = store != Store::Nothing && !entry.input && depth && reads;
    all.extend(stores.then_some((None, storing(depth))));
    all
}
