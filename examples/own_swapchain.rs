//! An engine's own frame loop: its swapchain, pipelines and set of all textures; rgraph plans and runs the frame
//! between them.
//!
//! A deferred renderer in two passes of own commands. The first one draws colours, the second one reads them through an
//! indexed set and lights them into an image of the swapchain. The graph is declared again for each size of the window.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ash::{khr, vk};
use rgraph_plan::access::Layout;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Imported, Leave, ResourceId};
use rgraph_shader::{Included, Kind, Program, Source, Stage};
use rgraph_vk::work::{CallbackError, View, Work, Workload};
use rgraph_vk::{
    BorrowedHandle, Compiled, Device, DeviceQueueId, DeviceResource, Frame, Inputs, RawContext, RawRendering, RawWork,
    SemaphoreSignal, SemaphoreWait, Upload,
};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const TRIANGLE: &str = "#version 450
void main() { gl_Position = vec4(gl_VertexIndex % 2 * 4 - 1, gl_VertexIndex / 2 * 4 - 1, 0, 1); }";

const COLORS: &str = "#version 450
layout(location = 0) out vec4 color;
void main() { color = gl_FragCoord.x < 16 ? vec4(1, 0, 0, 1) : vec4(0, 1, 0, 1); }";

const LIGHT: &str = "#version 450
layout(set = 0, binding = 0) uniform texture2D textures[16];
layout(set = 0, binding = 1) uniform sampler nearest;
layout(location = 0) out vec4 color;
void main() { color = texelFetch(sampler2D(textures[5], nearest), ivec2(gl_FragCoord.xy), 0) * 0.5; }";

/// Images that the set has place for. The index is a constant of the shader, since not every driver has
/// `shaderSampledImageArrayDynamicIndexing`; with `descriptorBindingPartiallyBound` not all places need an image.
const TEXTURES: u32 = 16;
/// Frames that may be under way: as of the device.
const FRAMES: usize = 2;

/// What both passes of the engine share: pipelines by the formats that they draw to, and the sets of all textures.
struct Renderer {
    device: Device,
    pipelines: Mutex<HashMap<(bool, vk::Format), vk::Pipeline>>,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pool: vk::DescriptorPool,
    /// One for each frame under way, so that none changes while the device reads it.
    sets: Vec<vk::DescriptorSet>,
    sampler: vk::Sampler,
}

impl Renderer {
    fn new(device: &Device) -> Outcome<Self> {
        let raw = device.raw();
        let fragment = vk::ShaderStageFlags::FRAGMENT;
        let textures = vk::DescriptorSetLayoutBinding::default().binding(0).stage_flags(fragment);
        let textures = textures.descriptor_type(vk::DescriptorType::SAMPLED_IMAGE).descriptor_count(TEXTURES);
        let nearest = vk::DescriptorSetLayoutBinding::default().binding(1).stage_flags(fragment);
        let nearest = nearest.descriptor_type(vk::DescriptorType::SAMPLER).descriptor_count(1);
        let bindings = [textures, nearest];
        let of_set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let size = |ty, count| vk::DescriptorPoolSize { ty, descriptor_count: count * FRAMES as u32 };
        let sizes = [size(vk::DescriptorType::SAMPLED_IMAGE, TEXTURES), size(vk::DescriptorType::SAMPLER, 1)];
        let of_pool = vk::DescriptorPoolCreateInfo::default().max_sets(FRAMES as u32).pool_sizes(&sizes);
        // SAFETY: all is of this device, and destroyed in `drop`.
        unsafe {
            let set_layout = raw.create_descriptor_set_layout(&of_set, None)?;
            let layouts = [set_layout; FRAMES];
            let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts[..1]);
            let layout = raw.create_pipeline_layout(&layout, None)?;
            let pool = raw.create_descriptor_pool(&of_pool, None)?;
            let of_sets = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let sets = raw.allocate_descriptor_sets(&of_sets)?;
            let sampler = raw.create_sampler(&vk::SamplerCreateInfo::default(), None)?;
            let pipelines = Mutex::default();
            Ok(Self { device: device.clone(), pipelines, set_layout, layout, pool, sets, sampler })
        }
    }

    /// The pipeline of one of the passes for what it draws to; made once for each format.
    fn pipeline(&self, lights: bool, rendering: &RawRendering) -> Outcome<vk::Pipeline> {
        let format = rendering.colors.first().copied().unwrap_or(vk::Format::UNDEFINED);
        let mut known = self.pipelines.lock().map_err(|_| "a thread failed")?;
        if let Some(known) = known.get(&(lights, format)) {
            return Ok(*known);
        }
        let made = self.make_pipeline(if lights { LIGHT } else { COLORS }, rendering)?;
        known.insert((lights, format), made);
        Ok(made)
    }

    fn make_pipeline(&self, fragment: &str, rendering: &RawRendering) -> Outcome<vk::Pipeline> {
        let device = self.device.raw();
        let none = Included::default();
        let source = |text, stage| Source::Glsl { text, stage: Some(stage), included: &none };
        let sources = [source(TRIANGLE, Stage::Vertex), source(fragment, Stage::Fragment)];
        let program = Program::new("own", Kind::Raster, &sources, None).map_err(|error| error.to_string())?;
        let entries =
            program.modules.iter().map(|module| CString::new(&*module.entry)).collect::<Result<Vec<_>, _>>()?;
        let topology = vk::PrimitiveTopology::TRIANGLE_LIST;
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(rendering.samples);
        let all = vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA);
        let blends = vec![all; rendering.colors.len()];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let mut formats = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&rendering.colors);
        // SAFETY: all objects are of this device; what is pointed to lives until the calls return.
        unsafe {
            let mut stages = Vec::new();
            for (module, entry) in program.modules.iter().zip(&entries) {
                let raw =
                    device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&module.spirv), None)?;
                let stage = match module.stage {
                    Stage::Vertex => vk::ShaderStageFlags::VERTEX,
                    _ => vk::ShaderStageFlags::FRAGMENT,
                };
                stages.push(vk::PipelineShaderStageCreateInfo::default().stage(stage).module(raw).name(entry));
            }
            let info = vk::GraphicsPipelineCreateInfo::default()
                .stages(&stages)
                .vertex_input_state(&input)
                .input_assembly_state(&assembly)
                .viewport_state(&viewport)
                .rasterization_state(&raster)
                .multisample_state(&samples)
                .color_blend_state(&blend)
                .dynamic_state(&dynamic)
                .layout(self.layout)
                .push_next(&mut formats);
            let made = device.create_graphics_pipelines(self.device.pipeline_cache(), &[info], None);
            stages.iter().for_each(|stage| device.destroy_shader_module(stage.module, None));
            Ok(made.map_err(|(_, error)| error)?[0])
        }
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        if self.device.wait_idle().is_err() {
            return;
        }
        let raw = self.device.raw();
        // SAFETY: the device is idle, and the passes that use these are gone.
        unsafe {
            for pipeline in self.pipelines.get_mut().map(std::mem::take).unwrap_or_default().into_values() {
                raw.destroy_pipeline(pipeline, None);
            }
            raw.destroy_sampler(self.sampler, None);
            raw.destroy_descriptor_pool(self.pool, None);
            raw.destroy_pipeline_layout(self.layout, None);
            raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// Draws the colours.
struct Colors(Arc<Renderer>);

// SAFETY: it draws to the attachment that its pass declares, with a pipeline for its formats.
unsafe impl RawWork for Colors {
    fn record(&self, context: &RawContext<'_>) -> Result<(), CallbackError> {
        let pipeline = self.0.pipeline(false, &context.rendering().ok_or("the pass has an attachment")?)?;
        let (device, commands) = (context.device(), context.commands());
        // SAFETY: inside of the render pass; viewport and scissor are its area.
        unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_draw(commands, 3, 1, 0, 0);
        }
        Ok(())
    }

    fn is_static(&self) -> bool {
        true
    }
}

/// Lights them, read through the set of all textures.
struct Light(Arc<Renderer>, ResourceId);

// SAFETY: it samples what its pass declares as sampled, in the layout that the context says, and draws to its
// attachment.
unsafe impl RawWork for Light {
    fn record(&self, context: &RawContext<'_>) -> Result<(), CallbackError> {
        let renderer = &self.0;
        let pipeline = renderer.pipeline(true, &context.rendering().ok_or("the pass has an attachment")?)?;
        let colors = context.view(View::whole(self.1))?;
        let set = renderer.sets[context.context_index()];
        let image = vk::DescriptorImageInfo::default().image_view(colors.view).image_layout(colors.layout);
        let images = [image; TEXTURES as usize];
        let sampler = [vk::DescriptorImageInfo::default().sampler(renderer.sampler)];
        let write =
            |binding, kind| vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(kind);
        let writes = [
            write(0, vk::DescriptorType::SAMPLED_IMAGE).image_info(&images),
            write(1, vk::DescriptorType::SAMPLER).image_info(&sampler),
        ];
        let (device, commands, graphics) = (context.device(), context.commands(), vk::PipelineBindPoint::GRAPHICS);
        // SAFETY: the frame that used this set is done, since its context records again; inside of the render pass.
        unsafe {
            device.update_descriptor_sets(&writes, &[]);
            device.cmd_bind_pipeline(commands, graphics, pipeline);
            device.cmd_bind_descriptor_sets(commands, graphics, renderer.layout, 0, &[set], &[]);
            device.cmd_draw(commands, 3, 1, 0, 0);
        }
        Ok(())
    }
}

/// The frame for one size of the window: what the swapchain's images are bound to, and the declaration.
fn declare(renderer: &Arc<Renderer>, size: [u32; 2]) -> (Workload, ResourceId) {
    let mut g = Graph::new("frame", size);
    let back = g.import_image("back", Format::Bgra8unorm, Size::absolute(size[0], size[1]));
    // What it held does not matter, and presenting comes next.
    g.change(back).imported(Imported::default().undefined()).leave(Leave::default().layout(Layout::PresentSrc));
    let colors = g.image("colors", Format::Rgba8unorm);
    let draw = g.pass("colors", PassQueue::Graphics).color(colors).id();
    let light = g.pass("light", PassQueue::Graphics).sampled(colors).color(back).id();
    g.root(back);
    let mut workload = Workload::new(g);
    workload.works.insert(draw, Work::Raw(Arc::new(Colors(renderer.clone()))));
    workload.works.insert(light, Work::Raw(Arc::new(Light(renderer.clone(), colors))));
    (workload, back)
}

/// The engine's window: its surface and swapchain, and the graph of its size.
pub struct Loop {
    device: Device,
    renderer: Arc<Renderer>,
    surfaces: khr::surface::Instance,
    swapchains: khr::swapchain::Device,
    surface: vk::SurfaceKHR,
    swapchain: vk::SwapchainKHR,
    images: Vec<DeviceResource>,
    /// Signalled by acquiring, one for each frame under way; and waited for by presenting, one for each image.
    acquired: Vec<vk::Semaphore>,
    rendered: Vec<vk::Semaphore>,
    frames: Vec<Option<Frame>>,
    at: usize,
    graph: Option<(Compiled, ResourceId)>,
}

impl Loop {
    /// A loop for a surface.
    ///
    /// # Safety
    /// The surface is of the device's instance and lives until the loop is dropped; the device has `VK_KHR_swapchain`,
    /// and two frames under way.
    pub unsafe fn new(device: &Device, entry: &ash::Entry, surface: vk::SurfaceKHR) -> Outcome<Self> {
        let semaphore = || {
            // SAFETY: of this device, destroyed in `drop`.
            unsafe { device.raw().create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }
        };
        Ok(Self {
            renderer: Arc::new(Renderer::new(device)?),
            surfaces: khr::surface::Instance::new(entry, device.raw_instance()),
            swapchains: khr::swapchain::Device::new(device.raw_instance(), device.raw()),
            acquired: (0..FRAMES).map(|_| semaphore()).collect::<Result<_, _>>()?,
            swapchain: vk::SwapchainKHR::null(),
            images: Vec::new(),
            rendered: Vec::new(),
            frames: vec![None; FRAMES],
            at: 0,
            graph: None,
            device: device.clone(),
            surface,
        })
    }

    /// Draws and presents a frame; `false`: the window is minimised, or changed its size meanwhile.
    pub fn frame(&mut self) -> Outcome<bool> {
        if self.swapchain == vk::SwapchainKHR::null() && !self.rebuild()? {
            return Ok(false);
        }
        // The frame before the last is done, and with it its wait for this semaphore.
        if let Some(frame) = self.frames[self.at].take() {
            frame.wait(None)?;
        }
        let acquired = self.acquired[self.at];
        // SAFETY: nothing waits for the semaphore any more.
        let image = unsafe {
            let second = Duration::from_secs(1).as_nanos() as u64;
            self.swapchains.acquire_next_image(self.swapchain, second, acquired, vk::Fence::null())
        };
        let (index, mut changed) = match image {
            Ok((index, suboptimal)) => (index as usize, suboptimal),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => return self.retire().map(|()| false),
            Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let (compiled, back) = self.graph.as_ref().ok_or("rebuilding makes one")?;
        let (images, rendered, backbuffer) = (&self.images, self.rendered[index], *back);
        let inputs = Inputs {
            uploads: vec![(backbuffer, Upload::Resource(&images[index]))],
            // SAFETY: vkAcquireNextImageKHR signals it, and nothing else waits for it.
            waits: vec![unsafe { SemaphoreWait::new(acquired, None) }.before(backbuffer)],
            // SAFETY: vkQueuePresentKHR waited for it the last time.
            signals: vec![unsafe { SemaphoreSignal::new(rendered, None) }],
            read: Some(Vec::new()),
            ..Inputs::default()
        };
        self.frames[self.at] = Some(compiled.run(&inputs)?);
        self.at = (self.at + 1) % FRAMES;
        let (waits, swapchains, indices) = ([rendered], [self.swapchain], [index as u32]);
        let info = vk::PresentInfoKHR::default().wait_semaphores(&waits).swapchains(&swapchains);
        let info = info.image_indices(&indices);
        // SAFETY: the image was acquired, and the run leaves it to be presented.
        let present = |queue, _| unsafe { self.swapchains.queue_present(queue, &info) };
        match self.device.with_queue(DeviceQueueId::FIRST, present).ok_or("the graphics queue")? {
            Ok(suboptimal) => changed |= suboptimal,
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => changed = true,
            Err(error) => return Err(error.into()),
        }
        if changed {
            self.retire()?;
        }
        Ok(!changed)
    }

    /// Lets go of a swapchain that fits the window no more: nothing uses its images when it is destroyed.
    fn retire(&mut self) -> Outcome<()> {
        self.device.wait_idle()?;
        // Presentations are the engine's, and rgraph waits for its own frames.
        // SAFETY: nobody else uses the queue meanwhile.
        self.device
            .with_queue(DeviceQueueId::FIRST, |queue, _| unsafe { self.device.raw().queue_wait_idle(queue) })
            .ok_or("the queue")??;
        self.frames.fill(None);
        self.images.clear();
        let raw = self.device.raw();
        // SAFETY: the queue is idle: frames and presentations are over.
        unsafe {
            self.swapchains.destroy_swapchain(std::mem::take(&mut self.swapchain), None);
            self.rendered.drain(..).chain(self.acquired.drain(..)).for_each(|one| raw.destroy_semaphore(one, None));
            for _ in 0..FRAMES {
                self.acquired.push(raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?);
            }
        }
        Ok(())
    }

    /// A swapchain of the window's size, and the graph for it; `false`: the window has no size.
    fn rebuild(&mut self) -> Outcome<bool> {
        let (device, raw) = (&self.device, self.device.raw());
        // SAFETY: surface and device belong together, as the caller of `new` says.
        let able = unsafe {
            self.surfaces.get_physical_device_surface_capabilities(device.raw_physical_device(), self.surface)?
        };
        let vk::Extent2D { width, height } = able.current_extent;
        if width == 0 || height == 0 {
            return Ok(false);
        }
        let most = if able.max_image_count == 0 { u32::MAX } else { able.max_image_count };
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(self.surface)
            .min_image_count((able.min_image_count + 1).min(most))
            .image_format(vk::Format::B8G8R8A8_UNORM)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(able.current_extent)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC)
            .pre_transform(able.current_transform)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true);
        let (workload, back) = declare(&self.renderer, [width, height]);
        // What lives from frame to frame would go along.
        let compiled = match &self.graph {
            Some((before, _)) => device.compile_next(before, workload, &Options::default())?,
            None => device.compile(workload, &Options::default())?,
        };
        // SAFETY: the surface has no other swapchain; images live as long as it does.
        unsafe {
            self.swapchain = self.swapchains.create_swapchain(&info, None)?;
            let kind = compiled.plan().resources[back].kind;
            for (image, at) in self.swapchains.get_swapchain_images(self.swapchain)?.into_iter().zip(0..) {
                let handle = BorrowedHandle::Image(image);
                self.images.push(device.borrow_resource(&format!("back {at}"), kind, handle, false));
                self.rendered.push(raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?);
            }
        }
        self.graph = Some((compiled, back));
        Ok(true)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if self.retire().is_ok() {
            // SAFETY: nothing uses them.
            self.acquired.iter().for_each(|one| unsafe { self.device.raw().destroy_semaphore(*one, None) });
        }
    }
}

/// Windows are the business of a library as winit; the tests of rgraph open one and call [`Loop::frame`].
fn main() {
    println!("give Loop::new the surface of a window, and call Loop::frame");
}
