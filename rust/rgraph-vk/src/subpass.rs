//! Render passes with subpasses, for physical passes whose passes read what others of them drew. Dynamic rendering of
//! Vulkan 1.3 has no input attachments; render passes have them on every device.
//!
//! Source: Vulkan 1.3 specification, "Render Pass Creation" and "Subpass Dependencies".

use ash::vk;
use rgraph_plan::access::{Layout, Usage};
use rgraph_plan::plan::{Attachment, Plan, PlanKind, PlanPassId, Scope};

use crate::convert;
use crate::device::Shared;
use crate::error::{Called, Error};
use crate::garbage::Garbage;
use crate::record::attachment_layout;
use crate::rendering::{Rendering, Renderings};
use crate::scene::{PassAccess, Scene};
use crate::variant::AttachmentViews;

/// Makes the render passes that need subpasses.
pub(crate) fn create(shared: &Shared, plan: &Plan, scene: &Scene, renderings: &mut Renderings) -> Result<(), Error> {
    for at in 0..renderings.passes.len() {
        if renderings.passes[at].needs_subpasses(scene) {
            match (Maker { plan, scene, rendering: &renderings.passes[at] }).make(shared) {
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
    for rendering in &mut renderings.passes {
        if let Some(pass) = rendering.subpasses.take() {
            let pipelines = shared.forget_pipelines(pass).into_iter().map(Garbage::Pipeline);
            shared.bury(pipelines.chain([Garbage::RenderPass(pass)]));
        }
    }
}

/// References of one subpass.
#[derive(Default)]
struct References {
    colors: Vec<vk::AttachmentReference2<'static>>,
    resolves: Vec<vk::AttachmentReference2<'static>>,
    inputs: Vec<vk::AttachmentReference2<'static>>,
    depth: Option<vk::AttachmentReference2<'static>>,
    depth_resolve: Option<(vk::AttachmentReference2<'static>, vk::ResolveModeFlags)>,
    preserve: Vec<u32>,
}

impl References {
    fn uses(&self, at: u32) -> bool {
        let mut all = self.colors.iter().chain(&self.resolves).chain(&self.inputs).chain(&self.depth);
        all.any(|one| one.attachment == at) || self.depth_resolve.is_some_and(|(one, _)| one.attachment == at)
    }
}

struct Maker<'a> {
    plan: &'a Plan,
    scene: &'a Scene,
    rendering: &'a Rendering,
}

impl Maker<'_> {
    fn attachments(&self) -> &[Attachment] {
        &self.plan.attachments[self.rendering.attachments.range()]
    }

    fn layout(&self, pass: PlanPassId, access: &PassAccess) -> Option<vk::ImageLayout> {
        let region = access.region;
        let found = self.scene.layout(self.plan, pass, access.resource, [region.mips[0], region.layers[0]])?;
        Some(attachment_layout(found, self.plan.resources[access.resource].kind))
    }

    /// Position of the resolve target of the attachment at `from`: after all attachments, in their order.
    fn resolve_position(&self, from: usize) -> u32 {
        let before = self.rendering.resolves[..from].iter().flatten().count();
        (self.attachments().len() + before) as u32
    }

    fn references(&self, pass: PlanPassId) -> References {
        let mut out = References::default();
        for access in self.scene.of(pass) {
            let Some(at) = self.rendering.attachment_of(self.plan, self.scene, access) else { continue };
            let layout = self.layout(pass, access).unwrap_or(vk::ImageLayout::GENERAL);
            let PlanKind::Image { format, .. } = self.plan.resources[access.resource].kind else { continue };
            let reference = vk::AttachmentReference2::default()
                .attachment(at)
                .layout(layout)
                .aspect_mask(convert::aspects(format.aspects()));
            match access.usage {
                Usage::ColorAttachment => {
                    let unused = vk::AttachmentReference2::default().attachment(vk::ATTACHMENT_UNUSED);
                    out.colors.push(reference);
                    out.resolves.push(self.resolve_of(at).map_or(unused, |(reference, _)| reference));
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

    fn resolve_of(&self, at: u32) -> Option<(vk::AttachmentReference2<'static>, vk::ResolveModeFlags)> {
        let resolve = self.rendering.resolves[at as usize].as_ref()?;
        let PlanKind::Image { format, .. } = self.plan.resources[resolve.access.resource].kind else { return None };
        let reference = vk::AttachmentReference2::default()
            .attachment(self.resolve_position(at as usize))
            .layout(convert::layout(resolve.layout))
            .aspect_mask(convert::aspects(format.aspects()));
        Some((reference, resolve.mode))
    }

    /// First and last layout of an attachment over the subpasses.
    fn ends(&self, at: u32, references: &[References]) -> (vk::ImageLayout, vk::ImageLayout) {
        let of = |one: &References| {
            let all = one.colors.iter().chain(&one.inputs).chain(&one.depth);
            all.filter(|one| one.attachment == at).map(|one| one.layout).next()
        };
        let mut layouts = references.iter().filter_map(of);
        let first = layouts.next().unwrap_or(convert::layout(Layout::General));
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
        let descriptions = self.descriptions(&references);
        let mut depth_resolves: Vec<_> = references
            .iter()
            .map(|one| {
                let resolve = vk::SubpassDescriptionDepthStencilResolve::default();
                match &one.depth_resolve {
                    Some((reference, mode)) => resolve
                        .depth_resolve_mode(*mode)
                        .stencil_resolve_mode(vk::ResolveModeFlags::SAMPLE_ZERO)
                        .depth_stencil_resolve_attachment(reference),
                    None => resolve,
                }
            })
            .collect();
        let subpasses: Vec<_> = references
            .iter()
            .zip(&mut depth_resolves)
            .map(|(one, resolve)| {
                let mut out = vk::SubpassDescription2::default()
                    .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
                    .color_attachments(&one.colors)
                    .input_attachments(&one.inputs)
                    .preserve_attachments(&one.preserve);
                if one.resolves.iter().any(|one| one.attachment != vk::ATTACHMENT_UNUSED) {
                    out = out.resolve_attachments(&one.resolves);
                }
                if let Some(depth) = &one.depth {
                    out = out.depth_stencil_attachment(depth);
                }
                if one.depth_resolve.is_some() {
                    out = out.push_next(resolve);
                }
                out
            })
            .collect();
        let (pairs, mut barriers): (Vec<_>, Vec<_>) = self.dependencies().into_iter().unzip();
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
        unsafe { shared.raw.create_render_pass2(&info, None) }.called("vkCreateRenderPass2")
    }

    fn descriptions(&self, references: &[References]) -> Vec<vk::AttachmentDescription2<'static>> {
        let mut out = Vec::new();
        for (attachment, at) in self.attachments().iter().zip(0..) {
            let PlanKind::Image { format, samples, .. } = self.plan.resources[attachment.resource].kind else {
                continue;
            };
            let (initial, last) = self.ends(at, references);
            let (stencil_load, stencil_store) = attachment.stencil.unwrap_or((attachment.load, attachment.store));
            out.push(
                vk::AttachmentDescription2::default()
                    .format(convert::format(format))
                    .samples(convert::samples(samples))
                    .load_op(convert::load(attachment.load))
                    .store_op(convert::store(attachment.store))
                    .stencil_load_op(convert::load(stencil_load))
                    .stencil_store_op(convert::store(stencil_store))
                    .initial_layout(initial)
                    .final_layout(last),
            );
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

    /// The plan's barriers within the render pass, each between the subpass that follows it and all before it.
    fn dependencies(&self) -> Vec<((u32, u32), vk::MemoryBarrier2<'static>)> {
        let mut out: Vec<((u32, u32), vk::MemoryBarrier2<'static>)> = Vec::new();
        for (before, memory, images) in &self.rendering.within {
            let scopes = self.plan.memory_barriers[memory.range()].iter().map(|one| one.scope);
            let scopes = scopes.chain(self.plan.image_barriers[images.range()].iter().map(|one| one.scope));
            let Scope { src_stages, src_access, dst_stages, dst_access } =
                scopes.fold(Scope::default(), |all, one| Scope {
                    src_stages: all.src_stages | one.src_stages,
                    src_access: all.src_access | one.src_access,
                    dst_stages: all.dst_stages | one.dst_stages,
                    dst_access: all.dst_access | one.dst_access,
                });
            let barrier = vk::MemoryBarrier2::default()
                .src_stage_mask(convert::stages(src_stages))
                .src_access_mask(convert::accesses(src_access))
                .dst_stage_mask(convert::stages(dst_stages))
                .dst_access_mask(convert::accesses(dst_access));
            let to = *before as u32;
            for from in 0..to {
                match out.iter_mut().find(|(pair, _)| *pair == (from, to)) {
                    Some((_, known)) => {
                        known.src_stage_mask |= barrier.src_stage_mask;
                        known.src_access_mask |= barrier.src_access_mask;
                        known.dst_stage_mask |= barrier.dst_stage_mask;
                        known.dst_access_mask |= barrier.dst_access_mask;
                    }
                    None => out.push(((from, to), barrier)),
                }
            }
        }
        out
    }
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
    shared.noted(unsafe { shared.raw.create_framebuffer(&info, None) }.called("vkCreateFramebuffer"))
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
    // SAFETY: the framebuffer was made for the render pass; the plan's barriers have brought its images into the layouts.
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
