//! A pass that records Vulkan commands itself: an engine's own pipeline inside of a render pass that rgraph planned.
//!
//! The engine makes its pipeline with its own code. rgraph culls and orders the pass, merges it with its neighbour into
//! one render pass, and puts barriers around it.

use std::sync::{Arc, Mutex};

use ash::vk;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{CallbackError, View, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, Inputs, RawContext, RawRendering, RawWork};

const SHADERS: &str = "
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fragment() -> @location(0) vec4<f32> { return vec4<f32>(1.0, 0.5, 0.0, 1.0); }";

/// The engine's renderer: it draws one triangle over the whole target.
struct Particles {
    device: Device,
    target: ResourceId,
    pipeline: Mutex<Option<(vk::Pipeline, vk::PipelineLayout)>>,
}

// SAFETY: it draws to the attachment that its pass declares, inside of the render pass, with a pipeline that lives as
// long.
unsafe impl RawWork for Particles {
    fn record(&self, context: &RawContext<'_>) -> Result<(), CallbackError> {
        let rendering = context.rendering().ok_or("the pass has an attachment")?;
        let mut known = self.pipeline.lock().map_err(|_| "a thread failed")?;
        let (pipeline, _) = match *known {
            Some(known) => known,
            None => *known.insert(make_pipeline(context.device(), &rendering)?),
        };
        let attachment = context.view(View::whole(self.target))?;
        assert_eq!(attachment.layout, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL);
        let (device, commands) = (context.device(), context.commands());
        // SAFETY: the pipeline was made for this render pass.
        unsafe { device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline) };
        // SAFETY: the pipeline is bound and reads nothing; viewport and scissor are the render area.
        unsafe { device.cmd_draw(commands, 3, 1, 0, 0) };
        Ok(())
    }

    /// The same commands in each run.
    fn is_static(&self) -> bool {
        true
    }
}

impl Drop for Particles {
    fn drop(&mut self) {
        if let Ok(known) = self.pipeline.get_mut()
            && let Some((pipeline, layout)) = known.take()
            && self.device.wait_idle().is_ok()
        {
            // SAFETY: the device is idle, and nothing submits these commands again.
            unsafe { self.device.raw().destroy_pipeline(pipeline, None) };
            // SAFETY: as above.
            unsafe { self.device.raw().destroy_pipeline_layout(layout, None) };
        }
    }
}

/// A pipeline of the engine's for the render pass that rgraph planned.
fn make_pipeline(
    device: &ash::Device,
    rendering: &RawRendering,
) -> Result<(vk::Pipeline, vk::PipelineLayout), Box<dyn std::error::Error + Send + Sync>> {
    let program = Program::new("particles", Kind::Raster, &[Source::Text(Language::Wgsl, SHADERS)], None)
        .map_err(|error| error.to_string())?;
    let entries: Vec<_> =
        program.modules.iter().map(|module| std::ffi::CString::new(&*module.entry)).collect::<Result<_, _>>()?;
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(rendering.samples);
    let blends = vec![
        vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA);
        rendering.colors.len()
    ];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let mut formats = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&rendering.colors)
        .depth_attachment_format(rendering.depth)
        .stencil_attachment_format(rendering.stencil);
    // SAFETY: all objects are of this device; what is pointed to lives until the calls return.
    unsafe {
        let layout = device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
        let mut stages = Vec::new();
        for (module, entry) in program.modules.iter().zip(&entries) {
            let info = vk::ShaderModuleCreateInfo::default().code(&module.spirv);
            let stage = match module.stage {
                rgraph_shader::Stage::Vertex => vk::ShaderStageFlags::VERTEX,
                _ => vk::ShaderStageFlags::FRAGMENT,
            };
            let raw = device.create_shader_module(&info, None)?;
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
            .layout(layout)
            .push_next(&mut formats);
        let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
        stages.iter().for_each(|stage| device.destroy_shader_module(stage.module, None));
        Ok((made.map_err(|(_, error)| error)?[0], layout))
    }
}

/// The whole program.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(&DeviceOptions::default())?;
    let mut g = Graph::new("engine", [64, 64]);
    let target = g.image("target", Format::Rgba8unorm);
    let pass = g.pass("particles", PassQueue::Graphics).color(target).id();
    g.root(target);

    let mut workload = Workload::new(g);
    let particles = Particles { device: device.clone(), target, pipeline: Mutex::default() };
    workload.works.insert(pass, Work::Raw(Arc::new(particles)));
    let compiled = device.compile(workload, &Options::default())?;
    for _ in 0..3 {
        let frame = compiled.run(&Inputs::default())?;
        assert_eq!(frame.read(target)?.bytes()[..4], [255, 128, 0, 255]);
    }
    print!("{}", rgraph_report::listing(compiled.plan()));
    Ok(())
}
