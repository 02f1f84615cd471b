//! Passes that record Vulkan commands themselves: own pipelines and descriptor sets, renderers of others, extensions
//! that rgraph does not know. The plan culls, orders, aliases and synchronizes them as it does all others.

use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::{Aspects, Layout, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::plan::{PlanKind, PlanPassId};
use rgraph_plan::resource::ResourceId;
use rgraph_work::{CallbackError, View};

use crate::compile::bind::Binder;
use crate::compile::pass_table::PassAccess;
use crate::compile::rendering::Rendering;
use crate::convert;
use crate::convert::attachment_layout;
use crate::error::Error;
use crate::memory::physical_resource::{PhysicalResource, Raw, ViewKey};
use crate::memory::state::within;

/// A function that records a pass's Vulkan commands.
///
/// # Safety
/// [`record`](RawWork::record) keeps to what its pass declares, since barriers, layouts and memory follow the
/// declaration:
///
/// - Commands access declared resources only, in the declared ranges, stages and usages, and in the layouts that
///   [`RawContext::view`] and [`RawContext::layout`] return. Other objects are the caller's, with their own
///   synchronization.
/// - Commands are valid where they are recorded: inside of the render pass that [`RawContext::rendering`] describes, or
///   outside of any where that is `None`. The function neither begins nor ends that render pass; queries, labels and
///   render passes that it begins it also ends.
/// - The function neither begins, ends, resets nor submits the command buffer, and lets go of it when it returns.
/// - Objects that commands use live until the frame is done: until a later run gets the same
///   [`RawContext::context_index`], or [`Device::wait_idle`](crate::Device::wait_idle) returns.
pub unsafe trait RawWork: Send + Sync {
    /// Records the pass. Called with the pipeline, descriptor sets and push data unspecified, viewport and scissor set
    /// to the render area; rgraph assumes nothing of them afterwards. May be called on any thread, for several passes
    /// at once. Whatever waits for a run of the same device is refused inside with `RG-E402`.
    ///
    /// # Errors
    /// Any: the frame is abandoned, and [`Compiled::run`](crate::Compiled::run) returns the error.
    fn record(&self, context: &RawContext<'_>) -> Result<(), CallbackError>;

    /// Whether the recorded commands stay right while the graph, its flags and its imports stay the same. rgraph then
    /// submits them again without calling [`record`](RawWork::record); by default it is called in every run.
    ///
    /// Commands are recorded once for each combination of imports and flags and each frame context, and all of these
    /// stay. So a descriptor set that [`record`](RawWork::record) writes is a new one in each call: writing to a set
    /// ends the use of commands that bind it. The sets go when the graph's frames are done.
    fn is_static(&self) -> bool {
        false
    }
}

/// Where and with what a [`RawWork`] records.
pub struct RawContext<'a> {
    pub(crate) binder: Binder<'a>,
    pub(crate) uses: Vec<RawUse<'a>>,
    pub(crate) run: u64,
    pub(crate) pass: PlanPassId,
    pub(crate) commands: vk::CommandBuffer,
    pub(crate) family: u32,
    pub(crate) rendering: Option<&'a Rendering>,
}

/// A resource of a pass as it is in one run.
pub(crate) struct RawUse<'a> {
    /// What the pass declares, in the plan.
    pub declared: ResourceId,
    /// The resource that readers get for it: itself, unless the pass that writes it is switched off.
    pub resource: ResourceId,
    pub physical: Option<&'a Arc<PhysicalResource>>,
}

impl std::fmt::Debug for RawContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawContext").field("pass", &self.pass_name()).field("run", &self.run).finish_non_exhaustive()
    }
}

/// An image of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RawImage {
    /// Its handle.
    pub image: vk::Image,
    pub format: vk::Format,
    /// Texels of mip 0.
    pub extent: vk::Extent3D,
    /// Number of mip levels.
    pub mips: u32,
    /// Number of array layers.
    pub layers: u32,
    /// Samples per texel.
    pub samples: vk::SampleCountFlags,
}

/// A view of part of an image, and the layout that the part is in while the pass runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RawView {
    /// Its handle; it lives as long as the image.
    pub view: vk::ImageView,
    pub layout: vk::ImageLayout,
}

/// The part of a buffer that a pass accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RawBuffer {
    /// Its handle.
    pub buffer: vk::Buffer,
    /// First byte.
    pub offset: vk::DeviceSize,
    /// Bytes.
    pub size: vk::DeviceSize,
}

/// The render pass that commands are recorded in: what a pipeline for it has to be made with.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RawRendering {
    /// Formats of the colour attachments by shader location; `UNDEFINED` where the pass writes none. Passes that were
    /// merged share attachments, so these may be more than the pass declares.
    pub colors: Vec<vk::Format>,
    /// Format of the depth attachment; `UNDEFINED` without.
    pub depth: vk::Format,
    /// Format of the stencil attachment; `UNDEFINED` without.
    pub stencil: vk::Format,
    /// Samples per texel.
    pub samples: vk::SampleCountFlags,
    /// Render area; it begins at 0, 0.
    pub area: vk::Extent2D,
    /// Layers rendered to.
    pub layers: u32,
    /// Render pass and subpass that pipelines are made for; `None`: rendering is dynamic (`vkCmdBeginRendering`).
    pub subpass: Option<(vk::RenderPass, u32)>,
    /// Position among `colors` of each colour attachment that the pass declares, in the order of declaration.
    pub locations: Vec<u32>,
}

impl RawContext<'_> {
    /// The command buffer, recording.
    pub fn commands(&self) -> vk::CommandBuffer {
        self.commands
    }

    /// The device's functions.
    pub fn device(&self) -> &ash::Device {
        &self.binder.shared.raw
    }

    /// The instance's functions.
    pub fn instance(&self) -> &ash::Instance {
        self.binder.shared.context.raw()
    }

    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.binder.shared.physical
    }

    /// Family of the queue that the commands go to.
    pub fn queue_family(&self) -> u32 {
        self.family
    }

    /// Number of the run, from 0 on. Static commands keep that of the run that recorded them.
    pub fn run(&self) -> u64 {
        self.run
    }

    /// Index of the frame context, below [`Device::frames_in_flight`](crate::Device::frames_in_flight): the GPU is done
    /// with all that an earlier run of this compiled graph recorded with the same index, so buffers kept one per index
    /// can be written. Each compiled graph counts for itself: what is shared with a graph before it
    /// ([`Device::compile_next`](crate::Device::compile_next)) may still be in use by a frame of that one.
    pub fn context_index(&self) -> usize {
        (self.run % self.binder.shared.frames_in_flight as u64) as usize
    }

    pub fn pass_name(&self) -> &str {
        self.binder.plan.pass_name(self.pass)
    }

    /// An image that the pass declares.
    ///
    /// # Errors
    /// `RG-E224` if the pass does not declare it, or it is a buffer.
    pub fn image(&self, image: ResourceId) -> Result<RawImage, Error> {
        let (access, _) = self.access(image, &View::whole(image), "records commands on")?;
        let resource = self.used(access.resource).resource;
        let PlanKind::Image { format, size, mips, layers, samples, .. } = self.kind(resource) else {
            return self.refuse(resource, "a buffer", "an image", "use `buffer`");
        };
        let [width, height, depth] = size;
        let image = match self.raw(self.used(access.resource))? {
            Raw::Image(image) => image,
            Raw::Buffer(_) => vk::Image::null(),
        };
        let (format, samples) = (convert::format(format), convert::samples(samples));
        Ok(RawImage { image, format, extent: vk::Extent3D { width, height, depth }, mips, layers, samples })
    }

    /// A view of an image that the pass declares, in the image's format: 3D, 2D of one layer, or a 2D array.
    ///
    /// # Errors
    /// As [`RawContext::view_as`].
    pub fn view(&self, view: View) -> Result<RawView, Error> {
        self.view_as(view, None, None)
    }

    /// A view of an image that the pass declares, of a given type or format. What `view` leaves open is that of the
    /// pass's access; of depth-stencil images that are not attachments it is depth.
    ///
    /// # Errors
    /// `RG-E224` if the pass does not declare it, or it is a buffer; `RG-E1xx` if the driver cannot make the view.
    pub fn view_as(
        &self,
        view: View,
        kind: Option<vk::ImageViewType>,
        format: Option<Format>,
    ) -> Result<RawView, Error> {
        let (access, layout) = self.access(view.resource, &view, "views")?;
        let resource = self.used(access.resource).resource;
        let PlanKind::Image { format: own, volume, .. } = self.kind(resource) else {
            return self.refuse(resource, "a buffer", "an image", "use `buffer`");
        };
        let (mips, layers) = (view.mips.unwrap_or(access.region.mips), view.layers.unwrap_or(access.region.layers));
        let mut aspects = if view.aspects.is_empty() { access.region.aspects } else { view.aspects };
        if aspects == Aspects::DEPTH | Aspects::STENCIL && !access.usage.is_attachment() {
            aspects = Aspects::DEPTH;
        }
        let kind = kind.unwrap_or(match (volume, layers[1] - layers[0]) {
            (true, _) => vk::ImageViewType::TYPE_3D,
            (false, 1) => vk::ImageViewType::TYPE_2D,
            (false, _) => vk::ImageViewType::TYPE_2D_ARRAY,
        });
        let key = ViewKey { kind, format: format.unwrap_or(own), aspects, mips, layers };
        let view =
            self.used(access.resource).physical.map_or(Ok(vk::ImageView::null()), |physical| physical.view(key))?;
        Ok(RawView { view, layout: attachment_layout(layout, self.kind(resource)) })
    }

    /// The layout of part of an image while the pass runs. What `view` leaves open is that of the pass's access.
    ///
    /// # Errors
    /// `RG-E224` if the pass does not declare it.
    pub fn layout(&self, view: View) -> Result<vk::ImageLayout, Error> {
        let (access, layout) = self.access(view.resource, &view, "records commands on")?;
        Ok(attachment_layout(layout, self.kind(access.resource)))
    }

    /// A buffer that the pass declares, and the bytes of its first access.
    ///
    /// # Errors
    /// `RG-E224` if the pass does not declare it, or it is an image.
    pub fn buffer(&self, buffer: ResourceId) -> Result<RawBuffer, Error> {
        let (access, _) = self.access(buffer, &View::whole(buffer), "records commands on")?;
        let resource = self.used(access.resource).resource;
        let [offset, end] = access.region.range;
        match self.raw(self.used(access.resource))? {
            Raw::Buffer(buffer) => Ok(RawBuffer { buffer, offset, size: end - offset }),
            Raw::Image(_) => self.refuse(resource, "an image", "a buffer", "use `image`"),
        }
    }

    /// The render pass that the commands are in; `None`: the pass has no attachments.
    pub fn rendering(&self) -> Option<RawRendering> {
        let rendering = self.rendering?;
        let (plan, table) = (self.binder.plan, self.binder.table);
        let targets = self.binder.renderings.targets(plan, table, self.pass)?;
        let format = |format: Option<Format>| format.map_or(vk::Format::UNDEFINED, convert::format);
        let depth = |aspect| targets.depth.filter(|_| targets.depth_aspects.contains(aspect));
        let [width, height] = rendering.area;
        let locations = match targets.remap.is_empty() {
            true => (0..table.of(self.pass).iter().filter(|one| one.usage == Usage::ColorAttachment).count()).collect(),
            false => targets.remap.iter().map(|at| *at as usize).collect::<Vec<_>>(),
        };
        Some(RawRendering {
            colors: targets.colors.iter().map(|color| format(*color)).collect(),
            depth: format(depth(Aspects::DEPTH)),
            stencil: format(depth(Aspects::STENCIL)),
            samples: convert::samples(targets.samples),
            area: vk::Extent2D { width, height },
            layers: rendering.layers,
            subpass: targets.subpass,
            locations: locations.into_iter().map(|at| at as u32).collect(),
        })
    }

    /// The access that holds a view, and the layout of the view's first part.
    fn access(&self, declared: ResourceId, view: &View, how: &str) -> Result<(&PassAccess, Layout), Error> {
        let binder = &self.binder;
        let resource = binder.planned(self.pass, declared)?;
        let (plan, table) = (binder.plan, binder.table);
        let mut of = table.of(self.pass).iter().filter(|access| access.resource == resource);
        let holds = |access: &&PassAccess| {
            view.mips.is_none_or(|mips| within(mips, access.region.mips))
                && view.layers.is_none_or(|layers| within(layers, access.region.layers))
        };
        let Some(access) = of.clone().find(holds) else {
            let name = plan.resource_name(resource);
            let says = match of.next() {
                None => format!("{how} \"{name}\", which it does not declare"),
                Some(access) => format!("{how} more of \"{name}\" than it declares: {}", access.region.text()),
            };
            return binder.refuse(self.pass, says, "declare the access");
        };
        let (mips, layers) = (view.mips.unwrap_or(access.region.mips), view.layers.unwrap_or(access.region.layers));
        let aspects = if view.aspects.is_empty() { access.region.aspects } else { view.aspects };
        let resource = self.used(resource).resource;
        let layout = table.layout(plan, self.pass, resource, [mips[0], layers[0]], aspects);
        Ok((access, layout.unwrap_or(Layout::General)))
    }

    fn kind(&self, resource: ResourceId) -> PlanKind {
        self.binder.plan.resources[resource].kind
    }

    /// A resource of an access of the pass, as it is in this run.
    fn used(&self, declared: ResourceId) -> &RawUse<'_> {
        let found = self.uses.iter().find(|one| one.declared == declared);
        found.expect("the context has a use for each access of its pass")
    }

    fn raw(&self, RawUse { resource, physical, .. }: &RawUse<'_>) -> Result<Raw, Error> {
        let resource = *resource;
        physical.map(|physical| physical.raw).ok_or_else(|| {
            let name = self.binder.plan.resource_name(resource);
            Error::input(name, format!("\"{name}\" is not bound"), "give it to the run")
        })
    }

    fn refuse<T>(&self, resource: ResourceId, is: &str, wanted: &str, help: &str) -> Result<T, Error> {
        let name = self.binder.plan.resource_name(resource);
        self.binder.refuse(self.pass, format!("takes \"{name}\", {is}, for {wanted}"), help)
    }
}
