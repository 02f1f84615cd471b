//! vk-graph: images that live as long as the program, commands recorded for each frame.

use std::sync::Arc;

use ash::vk;
use rgraph_shader::Program;
use vk_graph::Graph;
use vk_graph::driver::compute::{ComputePipeline, ComputePipelineInfo};
use vk_graph::driver::device::{Device, DeviceInfo};
use vk_graph::driver::image::{Image, ImageInfo};
use vk_graph::driver::shader::Shader;
use vk_graph::pool::lazy::LazyPool;
use vk_sync::AccessType;

use crate::{Library, Parts, as_text, timed};

pub struct VkGraph {
    pool: LazyPool,
    pipelines: [ComputePipeline; 2],
    images: Vec<Arc<Image>>,
}

impl VkGraph {
    pub fn new(programs: [&Arc<Program>; 2], most: usize) -> Result<Self, String> {
        let device = Device::create(DeviceInfo::builder()).map_err(as_text)?;
        let pipeline = |program: &Arc<Program>| {
            let module = &program.modules[0];
            let shader = Shader::new_compute(module.spirv.as_slice()).entry_name(module.entry.clone());
            ComputePipeline::create(&device, ComputePipelineInfo::default(), shader).map_err(as_text)
        };
        let pipelines = [pipeline(programs[0])?, pipeline(programs[1])?];
        let info = ImageInfo::image_2d(16, 16, vk::Format::R32_UINT, vk::ImageUsageFlags::STORAGE);
        let images =
            (0..most).map(|_| Image::create(&device, info).map(Arc::new).map_err(as_text)).collect::<Result<_, _>>()?;
        Ok(Self { pool: LazyPool::new(&device), pipelines, images })
    }
}

impl Library for VkGraph {
    fn frame(&mut self, passes: usize, push: u32) -> Result<Parts, String> {
        let (declare, graph) = timed(|| {
            let mut graph = Graph::default();
            let mut before = None;
            for image in &self.images[..passes] {
                let node = graph.bind_resource(image);
                let command = graph.begin_cmd();
                match before {
                    None => {
                        command
                            .bind_pipeline(&self.pipelines[0])
                            .shader_resource_access(0, node, AccessType::ComputeShaderWrite)
                            .record_cmd(move |commands| {
                                commands.push_constants(0, &push.to_le_bytes()).dispatch(16, 16, 1);
                            });
                    }
                    Some(before) => {
                        command
                            .bind_pipeline(&self.pipelines[1])
                            .shader_resource_access(0, before, AccessType::ComputeShaderReadOther)
                            .shader_resource_access(1, node, AccessType::ComputeShaderWrite)
                            .record_cmd(move |commands| {
                                commands.push_constants(0, &push.to_le_bytes()).dispatch(16, 16, 1);
                            });
                    }
                }
                before = Some(node);
            }
            graph
        });
        let (run, fence) = timed(|| graph.finalize().queue_submit(&mut self.pool, 0, 0));
        let mut fence = fence.map_err(as_text)?;
        fence.wait().map_err(as_text)?;
        let (end, ()) = timed(|| drop(fence));
        Ok(Parts { declare, compile: 0.0, run, end })
    }
}
