//! Render passes with subpasses, for physical passes whose passes read what others of them drew. Dynamic rendering of
//! Vulkan 1.3 has no input attachments; render passes have them on every device.
//!
//! Source: Vulkan 1.3 specification, "Render Pass Creation" and "Subpass Dependencies".

use ash::vk;
use rgraph_plan::access::{Accesses, Aspects, Layout, Usage};
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Attachment, Plan, PlanKind, PlanPassId, Scope};

use crate::compile::pass_table::{PassAccess, PassTable};
use crate::compile::rendering::{AttachmentId, Rendering, Renderings};
use crate::convert;
use crate::convert::attachment_layout;
use crate::device::Shared;
use crate::error::{Called, Error};
use crate::memory::deferred_deletion::DeferredDeletion;

/// Makes the render passes that need subpasses.
pub(crate) fn create(
    shared: &Shared,
    plan: &Plan,
    table: &PassTable,
    renderings: &mut Renderings,
) -> Result<(), Error> {
    for at in renderings.passes.ids() {
        if renderings.passes[at].needs_subpasses(plan, table) {
            match (Maker { plan, table, rendering: &renderings.passes[at] }).make(shared) {
                Ok(made) => renderings.passes[at].subpasses = Some(made),
                Err(error) => {
                    destroy(shared, renderings);
                    return shared.noted(Err(error));
                }
            }
        }
    }
    Ok(())
}

/// Gives them up, with the pipelines that were made for them.
pub(crate) fn destroy(shared: &Shared, renderings: &mut Renderings) {
    for rendering in renderings.passes.iter_mut() {
        if let Some(pass) = rendering.subpasses.take() {
            let pipelines = shared.forget_pipelines(pass).into_iter().map(DeferredDeletion::Pipeline);
            shared.defer_deletion(pipelines.chain([DeferredDeletion::RenderPass(pass)]));
        }
    }
}

/// One attachment of a subpass.
#[derive(Clone, Copy)]
struct Reference {
    /// Vulkan's number: attachments of the render pass, then resolve targets.
    at: u32,
    aspects: Aspects,
    layouts: Layouts,
}

/// Layouts of an attachment: of all its aspects, or of depth and of stencil apart.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layouts {
    main: vk::ImageLayout,
    stencil: Option<vk::ImageLayout>,
}

impl Layouts {
    /// Of colour or depth, and of stencil.
    fn new([main, stencil]: [vk::ImageLayout; 2]) -> Self {
        if main == stencil {
            return Self { main, stencil: None };
        }
        let [main, stencil] = Self { main, stencil: Some(stencil) }.apart();
        Self { main, stencil: Some(stencil) }
    }

    /// Of depth and of stencil, each by the name of its aspect alone, as `VkAttachmentReferenceStencilLayout` wants it.
    fn apart(self) -> [vk::ImageLayout; 2] {
        use vk::ImageLayout as L;
        let alone = |layout, attachment, read_only| match layout {
            L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL => attachment,
            L::DEPTH_STENCIL_READ_ONLY_OPTIMAL => read_only,
            other => other,
        };
        let stencil = self.stencil.unwrap_or(self.main);
        [
            alone(self.main, L::DEPTH_ATTACHMENT_OPTIMAL, L::DEPTH_READ_ONLY_OPTIMAL),
            alone(stencil, L::STENCIL_ATTACHMENT_OPTIMAL, L::STENCIL_READ_ONLY_OPTIMAL),
        ]
    }
}

/// References of one subpass.
#[derive(Default)]
struct References {
    colors: Vec<Reference>,
    resolves: Vec<Option<Reference>>,
    inputs: Vec<Reference>,
    depth: Option<Reference>,
    depth_resolve: Option<(Reference, vk::ResolveModeFlags)>,
    preserve: Vec<u32>,
}

impl References {
    fn uses(&self, at: u32) -> bool {
        let mut all = self.colors.iter().chain(self.resolves.iter().flatten()).chain(&self.inputs).chain(&self.depth);
        all.any(|one| one.at == at) || self.depth_resolve.is_some_and(|(one, _)| one.at == at)
    }
}

/// A subpass in Vulkan's words. Its parts are made from the inside out, since each points to the ones before.
struct Subpass<'a> {
    colors: Vec<vk::AttachmentReference2<'a>>,
    resolves: Vec<vk::AttachmentReference2<'a>>,
    inputs: Vec<vk::AttachmentReference2<'a>>,
    depth: Option<vk::AttachmentReference2<'a>>,
    depth_resolve: Option<(vk::AttachmentReference2<'a>, vk::ResolveModeFlags)>,
    preserve: &'a [u32],
}

impl<'a> Subpass<'a> {
    /// `room` is for what references point to.
    fn new(of: &'a References, room: &'a mut Vec<vk::AttachmentReferenceStencilLayout<'static>>) -> Self {
        room.clear();
        room.resize(of.inputs.len() + 1, vk::AttachmentReferenceStencilLayout::default());
        let unused = vk::AttachmentReference2::default().attachment(vk::ATTACHMENT_UNUSED);
        let alone = |one: &Reference| {
            vk::AttachmentReference2::default()
                .attachment(one.at)
                .layout(one.layouts.main)
                .aspect_mask(convert::aspects(one.aspects))
        };
        let mut rooms = room.iter_mut();
        let mut apart = |one: &Reference| match (one.layouts.stencil, rooms.next()) {
            (Some(layout), Some(room)) => alone(one).push_next({
                room.stencil_layout = layout;
                room
            }),
            _ => alone(one),
        };
        Self {
            colors: of.colors.iter().map(alone).collect(),
            resolves: of.resolves.iter().map(|one| one.as_ref().map_or(unused, alone)).collect(),
            depth: of.depth.as_ref().map(&mut apart),
            inputs: of.inputs.iter().map(apart).collect(),
            depth_resolve: of.depth_resolve.as_ref().map(|(one, mode)| (alone(one), *mode)),
            preserve: &of.preserve,
        }
    }

    fn resolve(&self) -> vk::SubpassDescriptionDepthStencilResolve<'_> {
        let resolve = vk::SubpassDescriptionDepthStencilResolve::default();
        match &self.depth_resolve {
            // One mode for both: devices need not have two at once (`independentResolve`).
            Some((reference, mode)) => resolve
                .depth_resolve_mode(*mode)
                .stencil_resolve_mode(*mode)
                .depth_stencil_resolve_attachment(reference),
            None => resolve,
        }
    }

    fn describe<'b>(
        &'b self,
        resolve: &'b mut vk::SubpassDescriptionDepthStencilResolve<'_>,
    ) -> vk::SubpassDescription2<'b> {
        let mut out = vk::SubpassDescription2::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&self.colors)
            .input_attachments(&self.inputs)
            .preserve_attachments(self.preserve);
        if self.resolves.iter().any(|one| one.attachment != vk::ATTACHMENT_UNUSED) {
            out = out.resolve_attachments(&self.resolves);
        }
        if let Some(depth) = &self.depth {
            out = out.depth_stencil_attachment(depth);
        }
        match self.depth_resolve {
            Some(_) => out.push_next(resolve),
            None => out,
        }
    }
}

struct Maker<'a> {
    plan: &'a Plan,
    table: &'a PassTable,
    rendering: &'a Rendering,
}

impl Maker<'_> {
    fn attachments(&self) -> &[Attachment] {
        &self.plan.attachments[self.rendering.attachments.range()]
    }

    fn layouts(&self, pass: PlanPassId, access: &PassAccess) -> Layouts {
        let (region, kind) = (access.region, self.plan.resources[access.resource].kind);
        let at = [region.mips[0], region.layers[0]];
        let find = |aspects| self.table.layout(self.plan, pass, access.resource, at, aspects);
        let (main, stencil) = (find(Aspects::COLOR | Aspects::DEPTH), find(Aspects::STENCIL));
        let both = [main.or(stencil), stencil.or(main)];
        Layouts::new(both.map(|layout| layout.map_or(vk::ImageLayout::GENERAL, |one| attachment_layout(one, kind))))
    }

    /// Vulkan's number of the resolve target of an attachment: after all attachments, in their order.
    fn resolve_number(&self, from: AttachmentId) -> u32 {
        let before = self.rendering.resolves.iter().take(from.index()).flatten().count();
        (self.attachments().len() + before) as u32
    }

    fn references(&self, pass: PlanPassId) -> References {
        let mut out = References::default();
        for access in self.table.of(pass) {
            let Some(at) = self.rendering.attachment_of(self.plan, access) else { continue };
            let aspects = self.plan.resources[access.resource].kind.aspects();
            let reference = Reference { at: at.index() as u32, aspects, layouts: self.layouts(pass, access) };
            match access.usage {
                Usage::ColorAttachment => {
                    out.colors.push(reference);
                    out.resolves.push(self.resolve_of(at).map(|(reference, _)| reference));
                }
                Usage::DepthStencilAttachment | Usage::DepthStencilRead => {
                    out.depth = Some(reference);
                    out.depth_resolve = self.resolve_of(at);
                }
                Usage::InputAttachment => out.inputs.push(reference),
                _ => {}
            }
        }
        out
    }

    fn resolve_of(&self, at: AttachmentId) -> Option<(Reference, vk::ResolveModeFlags)> {
        let resolve = self.rendering.resolves[at].as_ref()?;
        let aspects = self.plan.resources[resolve.access.resource].kind.aspects();
        let layouts = Layouts { main: convert::layout(resolve.layout), stencil: None };
        Some((Reference { at: self.resolve_number(at), aspects, layouts }, resolve.mode))
    }

    /// First and last layouts of an attachment over the subpasses.
    fn ends(&self, at: u32, references: &[References]) -> (Layouts, Layouts) {
        let of = |one: &References| {
            let mut all = one.colors.iter().chain(&one.inputs).chain(&one.depth);
            all.find(|one| one.at == at).map(|one| one.layouts)
        };
        let mut layouts = references.iter().filter_map(of);
        let first = layouts.next().unwrap_or(Layouts { main: convert::layout(Layout::General), stencil: None });
        (first, layouts.next_back().unwrap_or(first))
    }

    fn make(&self, shared: &Shared) -> Result<vk::RenderPass, Error> {
        let mut references: Vec<References> = self.rendering.passes.iter().map(|pass| self.references(*pass)).collect();
        let count = self.attachments().len() as u32;
        for at in 0..count {
            let first = references.iter().position(|one| one.uses(at));
            let last = references.iter().rposition(|one| one.uses(at));
            let (Some(first), Some(last)) = (first, last) else { continue };
            for between in &mut references[first..=last] {
                if !between.uses(at) {
                    between.preserve.push(at);
                }
            }
        }
        let mut rooms = vec![Vec::new(); references.len()];
        let parts: Vec<_> = references.iter().zip(&mut rooms).map(|(of, room)| Subpass::new(of, room)).collect();
        let mut resolves: Vec<_> = parts.iter().map(Subpass::resolve).collect();
        let subpasses: Vec<_> = parts.iter().zip(&mut resolves).map(|(part, resolve)| part.describe(resolve)).collect();
        let mut stencils = vec![vk::AttachmentDescriptionStencilLayout::default(); count as usize];
        let descriptions = self.descriptions(&references, &mut stencils);
        let (pairs, mut barriers): (Vec<_>, Vec<_>) = self.dependencies(&references).0.into_iter().unzip();
        let dependencies: Vec<_> = pairs
            .iter()
            .zip(&mut barriers)
            .map(|(&(from, to), barrier)| {
                vk::SubpassDependency2::default()
                    .src_subpass(from)
                    .dst_subpass(to)
                    .dependency_flags(vk::DependencyFlags::BY_REGION)
                    .push_next(barrier)
            })
            .collect();
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&descriptions)
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        // SAFETY: all that the info points to lives until the call returns.
        unsafe { shared.raw.create_render_pass2(&info, shared.raw.host()) }.called("vkCreateRenderPass2")
    }

    fn descriptions<'b>(
        &self,
        references: &[References],
        stencils: &'b mut [vk::AttachmentDescriptionStencilLayout<'static>],
    ) -> Vec<vk::AttachmentDescription2<'b>> {
        let mut out = Vec::new();
        for ((attachment, at), room) in self.attachments().iter().zip(0..).zip(stencils) {
            let PlanKind::Image { format, samples, .. } = self.plan.resources[attachment.resource].kind else {
                continue;
            };
            let (initial, last) = self.ends(at, references);
            let (stencil_load, stencil_store) = attachment.stencil.unwrap_or((attachment.load, attachment.store));
            let mut description = vk::AttachmentDescription2::default()
                .format(convert::format(format))
                .samples(convert::samples(samples))
                .load_op(convert::load(attachment.load))
                .store_op(convert::store(attachment.store))
                .stencil_load_op(convert::load(stencil_load))
                .stencil_store_op(convert::store(stencil_store))
                .initial_layout(initial.main)
                .final_layout(last.main);
            if initial.stencil.is_some() || last.stencil.is_some() {
                // One of the ends may have both aspects in one layout, which then stands for each of them.
                let [first, end] = [initial, last].map(|one| one.apart());
                *room = room.stencil_initial_layout(first[1]).stencil_final_layout(end[1]);
                description = description.initial_layout(first[0]).final_layout(end[0]).push_next(room);
            }
            out.push(description);
        }
        for resolve in self.rendering.resolves.iter().flatten() {
            let PlanKind::Image { format, .. } = self.plan.resources[resolve.access.resource].kind else { continue };
            let layout = convert::layout(resolve.layout);
            out.push(
                vk::AttachmentDescription2::default()
                    .format(convert::format(format))
                    .samples(vk::SampleCountFlags::TYPE_1)
                    .load_op(vk::AttachmentLoadOp::DONT_CARE)
                    .store_op(vk::AttachmentStoreOp::STORE)
                    .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
                    .stencil_store_op(vk::AttachmentStoreOp::STORE)
                    .initial_layout(layout)
                    .final_layout(layout),
            );
        }
        out
    }

    /// The plan's barriers within the render pass: like any barrier command, each orders all subpasses before it and
    /// all after it. A dependency of Vulkan is about one pair. A change of layout is made by the first subpass behind
    /// it that uses the attachment, and those that use it later have to follow that one (Vulkan 1.3, "Automatic layout
    /// transitions").
    fn dependencies(&self, references: &[References]) -> Dependencies {
        let mut out = Dependencies::default();
        let count = self.rendering.passes.len() as u32;
        for (before, memory, images) in &self.rendering.within {
            let scopes = self.plan.memory_barriers[memory.range()].iter().map(|one| one.scope);
            let scopes = scopes.chain(self.plan.image_barriers[images.range()].iter().map(|one| one.scope));
            let scope = scopes.fold(Scope::default(), |all, one| Scope {
                src_stages: all.src_stages | one.src_stages,
                src_access: all.src_access | one.src_access,
                dst_stages: all.dst_stages | one.dst_stages,
                dst_access: all.dst_access | one.dst_access,
            });
            let first = *before as u32;
            for pair in (0..first).flat_map(|from| (first..count).map(move |to| (from, to))) {
                out.add(pair, scope);
            }
            let changes =
                self.plan.image_barriers[images.range()].iter().filter(|one| one.old_layout != one.new_layout);
            for barrier in changes {
                let followed =
                    Scope { src_stages: barrier.scope.dst_stages, src_access: Accesses::empty(), ..barrier.scope };
                let attachments = self.attachments().iter().zip(0..);
                for (_, at) in attachments.filter(|(one, _)| one.resource == barrier.resource) {
                    let mut users = (first..count).filter(|subpass| references[*subpass as usize].uses(at));
                    let Some(changing) = users.next() else { continue };
                    users.for_each(|later| out.add((changing, later), followed));
                }
            }
        }
        out
    }
}

/// Dependencies between pairs of subpasses, one a pair.
#[derive(Default)]
struct Dependencies(Vec<((u32, u32), vk::MemoryBarrier2<'static>)>);

impl Dependencies {
    fn add(&mut self, pair: (u32, u32), scope: Scope) {
        let barrier = vk::MemoryBarrier2::default()
            .src_stage_mask(convert::stages(scope.src_stages))
            .src_access_mask(convert::accesses(scope.src_stages, scope.src_access))
            .dst_stage_mask(convert::stages(scope.dst_stages))
            .dst_access_mask(convert::accesses(scope.dst_stages, scope.dst_access));
        match self.0.iter_mut().find(|(known, _)| *known == pair) {
            Some((_, known)) => {
                known.src_stage_mask |= barrier.src_stage_mask;
                known.src_access_mask |= barrier.src_access_mask;
                known.dst_stage_mask |= barrier.dst_stage_mask;
                known.dst_access_mask |= barrier.dst_access_mask;
            }
            None => self.0.push((pair, barrier)),
        }
    }
}

/// Views and handles of an attachment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AttachmentViews {
    pub view: vk::ImageView,
    pub resolve: vk::ImageView,
}

/// A framebuffer for a render pass.
pub(crate) fn framebuffer(
    shared: &Shared,
    pass: vk::RenderPass,
    rendering: &Rendering,
    attachments: &[AttachmentViews],
) -> Result<vk::Framebuffer, Error> {
    let own = &attachments[rendering.attachments.range()];
    let resolves = own.iter().zip(&rendering.resolves).filter(|(_, resolve)| resolve.is_some());
    let views: Vec<_> = own.iter().map(|one| one.view).chain(resolves.map(|(one, _)| one.resolve)).collect();
    let [width, height] = rendering.area;
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(pass)
        .attachments(&views)
        .width(width)
        .height(height)
        .layers(rendering.layers);
    // SAFETY: the views are of the render pass's formats and live as long as the framebuffer.
    shared.noted(unsafe { shared.raw.create_framebuffer(&info, shared.raw.host()) }.called("vkCreateFramebuffer"))
}

/// Begins a render pass with its first subpass.
pub(crate) fn begin(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    area: vk::Rect2D,
    clears: &[vk::ClearValue],
) {
    let info = vk::RenderPassBeginInfo::default()
        .render_pass(pass)
        .framebuffer(framebuffer)
        .render_area(area)
        .clear_values(clears);
    let contents = vk::SubpassBeginInfo::default().contents(vk::SubpassContents::INLINE);
    // SAFETY: the framebuffer was made for the render pass; the plan's barriers have brought its images into the
    // layouts.
    unsafe { device.cmd_begin_render_pass2(commands, &info, &contents) };
}

/// Goes on to the next subpass.
pub(crate) fn next(device: &ash::Device, commands: vk::CommandBuffer) {
    let contents = vk::SubpassBeginInfo::default().contents(vk::SubpassContents::INLINE);
    // SAFETY: the render pass has as many subpasses as it has passes.
    unsafe { device.cmd_next_subpass2(commands, &contents, &vk::SubpassEndInfo::default()) };
}

/// Ends a render pass.
pub(crate) fn end(device: &ash::Device, commands: vk::CommandBuffer) {
    // SAFETY: begun in this command buffer.
    unsafe { device.cmd_end_render_pass2(commands, &vk::SubpassEndInfo::default()) };
}
