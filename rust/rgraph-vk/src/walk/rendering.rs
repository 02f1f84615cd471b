//! Render passes of a walk.

use ash::vk;
use rgraph_plan::access::Aspects;
use rgraph_plan::id::Id;
use rgraph_plan::plan::PlanKind;

use super::Walk;
use crate::compile::rendering::{AttachmentId, Rendering};
use crate::convert;
use crate::convert::attachment_layout;
use crate::frame::record::clear_value;
use crate::memory::physical_resource::attachment_view_type;
use crate::walk::memory::Slot;

/// The view of an image that a render pass needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct WalkView {
    /// The image.
    pub slot: Slot,
    /// Its shape.
    pub kind: vk::ImageViewType,
    pub format: vk::Format,
    /// One mip level and some layers.
    pub range: (vk::ImageAspectFlags, u32, [u32; 2]),
}

impl WalkView {
    /// How it is made of the image.
    pub fn info(&self, image: vk::Image) -> vk::ImageViewCreateInfo<'static> {
        let (aspect_mask, base_mip_level, [first, end]) = self.range;
        let (base_array_layer, layer_count) = (first, end - first);
        let range =
            vk::ImageSubresourceRange { aspect_mask, base_mip_level, level_count: 1, base_array_layer, layer_count };
        let info = vk::ImageViewCreateInfo::default().image(image).view_type(self.kind);
        info.format(self.format).subresource_range(range)
    }
}

/// Where samples are resolved to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WalkResolve {
    pub view: WalkView,
    pub layout: vk::ImageLayout,
    pub mode: vk::ResolveModeFlags,
}

/// An attachment of a render pass.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct WalkTarget {
    pub view: WalkView,
    pub layout: vk::ImageLayout,
    /// What becomes of the old contents.
    pub load: vk::AttachmentLoadOp,
    /// What becomes of the new contents.
    pub store: vk::AttachmentStoreOp,
    pub clear: vk::ClearValue,
    /// Where its samples are resolved to.
    pub resolve: Option<WalkResolve>,
}

impl std::fmt::Debug for WalkTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WalkTarget").field("view", &self.view).field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// A render pass, maybe of several passes that the plan merged.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WalkRendering {
    /// The area, from (0, 0).
    pub area: [u32; 2],
    /// Layers rendered to.
    pub layers: u32,
    /// Colour attachments.
    pub colors: Vec<WalkTarget>,
    /// The depth attachment.
    pub depth: Option<WalkTarget>,
    /// The stencil attachment.
    pub stencil: Option<WalkTarget>,
    /// Samples of all of them.
    pub samples: vk::SampleCountFlags,
}

impl WalkRendering {
    /// Records `vkCmdBeginRendering` with the engine's views.
    ///
    /// # Safety
    /// The command buffer is being recorded, and `view` gives views that are as asked for and live until it was
    /// executed.
    pub unsafe fn begin(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        mut view: impl FnMut(&WalkView) -> vk::ImageView,
    ) {
        let mut info = |target: &WalkTarget| {
            let mut info = vk::RenderingAttachmentInfo::default()
                .image_view(view(&target.view))
                .image_layout(target.layout)
                .load_op(target.load)
                .store_op(target.store)
                .clear_value(target.clear);
            if let Some(resolve) = &target.resolve {
                info = info
                    .resolve_mode(resolve.mode)
                    .resolve_image_view(view(&resolve.view))
                    .resolve_image_layout(resolve.layout);
            }
            info
        };
        let colors: Vec<_> = self.colors.iter().map(&mut info).collect();
        let (depth, stencil) = (self.depth.as_ref().map(&mut info), self.stencil.as_ref().map(&mut info));
        let [width, height] = self.area;
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
        let mut begin =
            vk::RenderingInfo::default().render_area(area).layer_count(self.layers).color_attachments(&colors);
        if let Some(depth) = &depth {
            begin = begin.depth_attachment(depth);
        }
        if let Some(stencil) = &stencil {
            begin = begin.stencil_attachment(stencil);
        }
        // SAFETY: layouts, loads and stores are the plan's; the caller says the rest.
        unsafe { device.cmd_begin_rendering(commands, &begin) };
    }
}

impl Walk {
    /// A render pass in the run that comes.
    pub(super) fn rendering(&self, of: &Rendering) -> WalkRendering {
        let attachments = &self.plan.attachments[of.attachments.range()];
        let view = |resource, mip: u32, layers: [u32; 2]| {
            let (format, aspects) = match self.plan.resources[resource].kind {
                PlanKind::Image { format, .. } => (convert::format(format), format.aspects()),
                PlanKind::Buffer { .. } => (vk::Format::UNDEFINED, Aspects::empty()),
            };
            let range = (convert::aspects(aspects), mip, layers);
            WalkView { slot: self.slot_of(resource), kind: attachment_view_type(layers), format, range }
        };
        let target = |at: AttachmentId, stencil: bool| {
            let attachment = &attachments[at.index()];
            let (load, store) = match attachment.stencil.filter(|_| stencil) {
                Some(stencil) => stencil,
                None => (attachment.load, attachment.store),
            };
            let kind = self.plan.resources[attachment.resource].kind;
            let resolve = of.resolves[at].as_ref().map(|resolve| {
                let region = resolve.access.region;
                let view = view(resolve.access.resource, region.mips[0], region.layers);
                WalkResolve { view, layout: convert::layout(resolve.layout), mode: resolve.mode }
            });
            WalkTarget {
                view: view(attachment.resource, attachment.mip, attachment.layers),
                layout: attachment_layout(of.layouts[at][usize::from(stencil)], kind),
                load: convert::load(load),
                store: convert::store(store),
                clear: clear_value(&self.plan, attachment),
                resolve,
            }
        };
        let has = |aspect| of.depth.filter(|at| attachments[at.index()].aspects.contains(aspect));
        let samples = attachments.first().map_or(1, |first| match self.plan.resources[first.resource].kind {
            PlanKind::Image { samples, .. } => samples,
            PlanKind::Buffer { .. } => 1,
        });
        WalkRendering {
            area: of.area,
            layers: of.layers,
            colors: of.colors.iter().map(|at| target(*at, false)).collect(),
            depth: has(Aspects::DEPTH).map(|at| target(at, false)),
            stencil: has(Aspects::STENCIL).map(|at| target(at, true)),
            samples: convert::samples(samples),
        }
    }
}
