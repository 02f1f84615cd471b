//! Makes pipelines, their layouts and samplers, once per device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;
use rgraph_plan::access::Stages;
use rgraph_shader::{BindingKind, Interface, Module, Program, Stage};
use rgraph_work::{Address, Border, RasterState, Sampler, VertexBuffer};

use crate::compile::keys::{ProgramKey, RasterKey, Targets};
use crate::compile::pipelines::{Layouts, SamplerKey, first_pipeline, keep};
use crate::compile::spirv::{self, Variables};
use crate::compile::{primitives, raster};
use crate::device::Shared;
use crate::device::context::c_string;
use crate::error::{Called, Code, DeviceError, Error};

/// Most bytes of one variable that each invocation has for itself: what a thread has on NVIDIA's GPUs, which have most
/// (CUDA C++ Programming Guide, "Maximum amount of local memory per thread"). Vulkan has no limit to ask for.
const MOST_OWN: u64 = 512 << 10;

/// Pipelines that drivers were asked for.
pub(super) static MADE: AtomicU64 = AtomicU64::new(0);

/// How many pipelines this process made so far, on all devices: what a device has already is not counted again.
pub fn pipelines_made_so_far() -> u64 {
    MADE.load(Ordering::Relaxed)
}

/// The Vulkan type of a binding's descriptors.
pub(crate) fn descriptor_type(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
        BindingKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BindingKind::Sampled { .. } => vk::DescriptorType::SAMPLED_IMAGE,
        BindingKind::Combined { .. } => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        BindingKind::Image { .. } => vk::DescriptorType::STORAGE_IMAGE,
        BindingKind::Texels { storage: false, .. } => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        BindingKind::Texels { storage: true, .. } => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
        BindingKind::Sampler { .. } => vk::DescriptorType::SAMPLER,
        BindingKind::AccelerationStructure => vk::DescriptorType::ACCELERATION_STRUCTURE_KHR,
        BindingKind::InputAttachment { .. } => vk::DescriptorType::INPUT_ATTACHMENT,
    }
}

/// The stages of ray-tracing pipelines: plans have one for all of them.
const RAY_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::RAYGEN_KHR.as_raw()
        | vk::ShaderStageFlags::MISS_KHR.as_raw()
        | vk::ShaderStageFlags::CLOSEST_HIT_KHR.as_raw()
        | vk::ShaderStageFlags::ANY_HIT_KHR.as_raw()
        | vk::ShaderStageFlags::INTERSECTION_KHR.as_raw()
        | vk::ShaderStageFlags::CALLABLE_KHR.as_raw(),
);

fn shader_stages(stages: Stages) -> vk::ShaderStageFlags {
    let mut out = vk::ShaderStageFlags::empty();
    for (ours, theirs) in [
        (Stages::VERTEX_SHADER, vk::ShaderStageFlags::VERTEX),
        (Stages::TESSELLATION_CONTROL_SHADER, vk::ShaderStageFlags::TESSELLATION_CONTROL),
        (Stages::TESSELLATION_EVALUATION_SHADER, vk::ShaderStageFlags::TESSELLATION_EVALUATION),
        (Stages::GEOMETRY_SHADER, vk::ShaderStageFlags::GEOMETRY),
        (Stages::TASK_SHADER, vk::ShaderStageFlags::TASK_EXT),
        (Stages::MESH_SHADER, vk::ShaderStageFlags::MESH_EXT),
        (Stages::FRAGMENT_SHADER, vk::ShaderStageFlags::FRAGMENT),
        (Stages::COMPUTE_SHADER, vk::ShaderStageFlags::COMPUTE),
        (Stages::RAY_TRACING_SHADER, RAY_STAGES),
    ] {
        if stages.contains(ours) {
            out |= theirs;
        }
    }
    out
}

impl Shared {
    /// The layouts of a program.
    pub(crate) fn layouts(&self, program: &Program) -> Result<Arc<Layouts>, Error> {
        let key = ProgramKey::new(program);
        if let Some(known) = self.pipelines.lock().layouts.get(&key) {
            return Ok(known.clone());
        }
        self.check_descriptors(program)?;
        let made = Arc::new(self.make_layouts(&program.interface)?);
        self.name(made.pipeline, &program.name);
        let mut pipelines = self.pipelines.lock();
        if let Some(known) = pipelines.layouts.get(&key) {
            // Another thread was faster.
            let known = known.clone();
            drop(pipelines);
            self.destroy_layouts(&made);
            return Ok(known);
        }
        pipelines.layouts.insert(key, made.clone());
        Ok(made)
    }

    fn destroy_layouts(&self, layouts: &Layouts) {
        // SAFETY: never used.
        unsafe { self.raw.destroy_pipeline_layout(layouts.pipeline, self.raw.host()) };
        self.destroy_sets(&layouts.sets);
    }

    fn destroy_sets(&self, sets: &[vk::DescriptorSetLayout]) {
        for &set in sets {
            // SAFETY: never used.
            unsafe { self.raw.destroy_descriptor_set_layout(set, self.raw.host()) };
        }
    }

    fn make_layouts(&self, interface: &Interface) -> Result<Layouts, Error> {
        let groups = interface.bindings.iter().map(|binding| binding.group + 1).max().unwrap_or(0);
        if groups > self.limits.max_bound_descriptor_sets {
            let message = format!(
                "a shader uses binding group {}, and the device has {}",
                groups - 1,
                self.limits.max_bound_descriptor_sets
            );
            return Err(DeviceError::new(Code::Missing, message, "use lower group numbers").into());
        }
        let most = self.limits.max_push_constants_size;
        if let Some(push) = interface.push.as_ref().filter(|push| push.size > most) {
            let message = format!("a shader pushes {} bytes, and the device takes {most}", push.size);
            return Err(DeviceError::new(Code::Missing, message, "put the data into a uniform block").into());
        }
        let mut sets = Vec::new();
        for group in 0..groups {
            let bindings: Vec<_> = interface
                .bindings
                .iter()
                .filter(|binding| binding.group == group)
                .map(|binding| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(binding.binding)
                        .descriptor_type(descriptor_type(binding.kind))
                        .descriptor_count(binding.count)
                        .stage_flags(shader_stages(binding.stages))
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the bindings live until the call returns.
            let set = unsafe { self.raw.create_descriptor_set_layout(&info, self.raw.host()) };
            match set.called("vkCreateDescriptorSetLayout") {
                Ok(set) => sets.push(set),
                Err(error) => {
                    self.destroy_sets(&sets);
                    return self.noted(Err(error));
                }
            }
        }
        let push = interface.push.as_ref().map_or(vk::ShaderStageFlags::empty(), |push| shader_stages(push.stages));
        let range =
            interface.push.as_ref().map(|data| vk::PushConstantRange { stage_flags: push, offset: 0, size: data.size });
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(range.as_slice());
        // SAFETY: the sets were just made.
        match unsafe { self.raw.create_pipeline_layout(&info, self.raw.host()) }.called("vkCreatePipelineLayout") {
            Ok(pipeline) => Ok(Layouts { sets, pipeline, push }),
            Err(error) => {
                self.destroy_sets(&sets);
                self.noted(Err(error))
            }
        }
    }

    /// Whether a compute pipeline was made before.
    pub(crate) fn has_compute_pipeline(&self, key: &ProgramKey) -> bool {
        self.pipelines.lock().compute.contains_key(key)
    }

    /// Whether a raster pipeline was made before.
    pub(crate) fn has_raster_pipeline(&self, key: &RasterKey) -> bool {
        self.pipelines.lock().raster.contains_key(key)
    }

    /// The compute pipeline of a program.
    pub(crate) fn compute_pipeline(&self, program: &Program) -> Result<vk::Pipeline, Error> {
        let key = ProgramKey::new(program);
        if let Some(&known) = self.pipelines.lock().compute.get(&key) {
            return Ok(known);
        }
        self.check_capabilities(program)?;
        self.check_limits(program)?;
        self.check_sizes(program)?;
        let layouts = self.layouts(program)?;
        let stages = ShaderStages::new(self, program, &[])?;
        let infos = stages.infos();
        let info = vk::ComputePipelineCreateInfo::default().stage(infos[0]).layout(layouts.pipeline);
        // SAFETY: module and layout live; the cache is internally synchronised.
        let made = unsafe { self.raw.create_compute_pipelines(self.pipelines.cache, &[info], self.raw.host()) };
        let pipeline = self.noted(first_pipeline(made).called("vkCreateComputePipelines"))?;
        self.name(pipeline, &program.name);
        MADE.fetch_add(1, Ordering::Relaxed);
        let mut pipelines = self.pipelines.lock();
        pipelines.made += 1;
        Ok(keep(&self.raw, pipelines.compute.entry(key), pipeline))
    }

    /// The raster pipeline of a program in a state, for targets.
    pub(crate) fn raster_pipeline(
        &self,
        program: &Program,
        state: &Arc<RasterState>,
        targets: &Targets,
        buffers: &[VertexBuffer],
    ) -> Result<vk::Pipeline, Error> {
        let key = RasterKey::new(program, state, targets, buffers);
        if let Some(&known) = self.pipelines.lock().raster.get(&key) {
            return Ok(known);
        }
        self.check_capabilities(program)?;
        primitives::check(program, state)?;
        let layouts = self.layouts(program)?;
        let stages = ShaderStages::new(self, program, &targets.remap)?;
        let request = raster::Request {
            stages: &stages.infos(),
            layout: layouts.pipeline,
            state,
            targets,
            vertex: &key.vertex,
            features: &self.enabled.core,
            outputs: &written(program, &targets.remap),
        };
        let pipeline = self.noted(raster::create(&self.raw, self.pipelines.cache, request))?;
        self.name(pipeline, &program.name);
        MADE.fetch_add(1, Ordering::Relaxed);
        let mut pipelines = self.pipelines.lock();
        pipelines.made += 1;
        Ok(keep(&self.raw, pipelines.raster.entry(key), pipeline))
    }

    /// Forgets pipelines of a render pass that goes; they are destroyed with it.
    pub(crate) fn forget_pipelines(&self, pass: vk::RenderPass) -> Vec<vk::Pipeline> {
        let mut pipelines = self.pipelines.lock();
        let of_pass = |key: &RasterKey| key.targets.subpass.is_some_and(|(of, _)| of == pass);
        let mut gone = Vec::new();
        pipelines.raster.retain(|key, pipeline| {
            let stays = !of_pass(key);
            if !stays {
                gone.push(*pipeline);
            }
            stays
        });
        gone
    }

    pub(crate) fn sampler(&self, sampler: &Sampler) -> Result<vk::Sampler, Error> {
        let key: SamplerKey = (
            sampler.mag_linear,
            sampler.min_linear,
            sampler.mip_linear,
            sampler.address,
            sampler.anisotropy.to_bits(),
            sampler.compare,
            sampler.lod.map(f32::to_bits),
            sampler.border,
        );
        if let Some(&known) = self.pipelines.lock().samplers.get(&key) {
            return Ok(known);
        }
        let filter = |linear| if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
        let [u, v, w] = sampler.address.map(|address| match address {
            Address::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
            Address::Repeat => vk::SamplerAddressMode::REPEAT,
            Address::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
            Address::Border => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        });
        let anisotropic = sampler.anisotropy > 1.0 && self.enabled.core.sampler_anisotropy == vk::TRUE;
        let mip = if sampler.mip_linear { vk::SamplerMipmapMode::LINEAR } else { vk::SamplerMipmapMode::NEAREST };
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter(sampler.mag_linear))
            .min_filter(filter(sampler.min_linear))
            .mipmap_mode(mip)
            .address_mode_u(u)
            .address_mode_v(v)
            .address_mode_w(w)
            .anisotropy_enable(anisotropic)
            .max_anisotropy(sampler.anisotropy.clamp(1.0, self.limits.max_sampler_anisotropy.max(1.0)))
            .compare_enable(sampler.compare.is_some())
            .compare_op(sampler.compare.map_or(vk::CompareOp::NEVER, raster::compare))
            .min_lod(sampler.lod[0])
            .max_lod(sampler.lod[1].max(sampler.lod[0]))
            .border_color(match sampler.border {
                Border::Transparent => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
                Border::Black => vk::BorderColor::FLOAT_OPAQUE_BLACK,
                Border::White => vk::BorderColor::FLOAT_OPAQUE_WHITE,
            });
        // SAFETY: anisotropy is asked for only where the device has it.
        let made = self.noted(unsafe { self.raw.create_sampler(&info, self.raw.host()) }.called("vkCreateSampler"))?;
        let mut pipelines = self.pipelines.lock();
        match pipelines.samplers.entry(key) {
            std::collections::hash_map::Entry::Occupied(known) => {
                // SAFETY: never used.
                unsafe { self.raw.destroy_sampler(made, self.raw.host()) };
                Ok(*known.get())
            }
            std::collections::hash_map::Entry::Vacant(place) => Ok(*place.insert(made)),
        }
    }

    /// Refuses programs whose variables are larger than the device has place for: drivers end the process over them.
    fn check_sizes(&self, program: &Program) -> Result<(), Error> {
        let limit = u64::from(self.limits.max_compute_shared_memory_size);
        for module in program.modules.iter() {
            let Variables { workgroup, own } = spirv::variables(&module.spirv);
            let (bytes, what, most, help) = if workgroup > limit {
                (workgroup, "workgroup variables", limit, "share less at once, or through a buffer")
            } else if own > MOST_OWN {
                (own, "variables of its own", MOST_OWN, "use a buffer for large arrays")
            } else {
                continue;
            };
            let message = format!(
                "shader \"{}\" has {bytes} bytes of {what}, and {} allows {most}",
                program.name, self.info.name
            );
            return Err(DeviceError::new(Code::Missing, message, help).into());
        }
        Ok(())
    }

    fn check_limits(&self, program: &Program) -> Result<(), Error> {
        let size = program.interface.workgroup;
        let most = self.limits.max_compute_work_group_size;
        let all = size.iter().map(|axis| u64::from(*axis)).product::<u64>();
        let limit = u64::from(self.limits.max_compute_work_group_invocations);
        if size.iter().zip(most).any(|(axis, most)| *axis > most) || all > limit {
            let message = format!(
                "shader \"{}\" has workgroups of {size:?}, and {} allows {most:?} and {limit} in all",
                program.name, self.info.name
            );
            return Err(DeviceError::new(Code::Missing, message, "use smaller workgroups").into());
        }
        Ok(())
    }
}

/// Positions of the colour targets that a program writes.
fn written(program: &Program, remap: &[u32]) -> Vec<u32> {
    let moved = |location: u32| remap.get(location as usize).copied().unwrap_or(location);
    program.interface.outputs.iter().map(|output| moved(output.location)).collect()
}

/// Shader modules while a pipeline is made.
pub(super) struct ShaderStages<'a> {
    shared: &'a Shared,
    modules: Vec<(vk::ShaderStageFlags, std::ffi::CString, vk::ShaderModule)>,
}

impl<'a> ShaderStages<'a> {
    pub(super) fn new(shared: &'a Shared, program: &Program, remap: &[u32]) -> Result<Self, Error> {
        let mut stages = Self { shared, modules: Vec::new() };
        let foreign = crate::validate::is_foreign(program);
        for Module { stage, entry, spirv } in program.modules.iter() {
            let moved =
                (*stage == Stage::Fragment && !remap.is_empty()).then(|| spirv::moved_outputs(spirv, entry, remap));
            let code = moved.as_deref().unwrap_or(spirv);
            if foreign {
                crate::validate::validate(&program.name, code)?;
            }
            if !shared.context.printf && !shared.is_borrowed() && spirv::prints(code) {
                let help = "open the device with printf=True (Rust: DeviceOptions::printf, else RGRAPH_PRINTF=1)";
                log::warn!(target: "rgraph", "shader \"{}\" prints, and nobody listens; {help}", program.name);
            }
            let info = vk::ShaderModuleCreateInfo::default().code(code);
            // SAFETY: naga wrote the code, or the Khronos validator accepted it.
            let module = unsafe { shared.raw.create_shader_module(&info, shared.raw.host()) };
            let module = shared.noted(module.called("vkCreateShaderModule"))?;
            let stage = match stage {
                Stage::Compute => vk::ShaderStageFlags::COMPUTE,
                Stage::Vertex => vk::ShaderStageFlags::VERTEX,
                Stage::TessellationControl => vk::ShaderStageFlags::TESSELLATION_CONTROL,
                Stage::TessellationEvaluation => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
                Stage::Geometry => vk::ShaderStageFlags::GEOMETRY,
                Stage::Task => vk::ShaderStageFlags::TASK_EXT,
                Stage::Mesh => vk::ShaderStageFlags::MESH_EXT,
                Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
                Stage::RayGeneration => vk::ShaderStageFlags::RAYGEN_KHR,
                Stage::Miss => vk::ShaderStageFlags::MISS_KHR,
                Stage::ClosestHit => vk::ShaderStageFlags::CLOSEST_HIT_KHR,
                Stage::AnyHit => vk::ShaderStageFlags::ANY_HIT_KHR,
                Stage::Intersection => vk::ShaderStageFlags::INTERSECTION_KHR,
                Stage::Callable => vk::ShaderStageFlags::CALLABLE_KHR,
            };
            stages.modules.push((stage, c_string(entry), module));
        }
        Ok(stages)
    }

    pub(super) fn infos(&self) -> Vec<vk::PipelineShaderStageCreateInfo<'_>> {
        let info = |(stage, entry, module): &'_ (_, std::ffi::CString, _)| {
            // The name lives in `self`, as the result's lifetime says.
            let name: &std::ffi::CStr = entry;
            vk::PipelineShaderStageCreateInfo { p_name: name.as_ptr(), ..Default::default() }
                .stage(*stage)
                .module(*module)
        };
        self.modules.iter().map(info).collect()
    }
}

impl Drop for ShaderStages<'_> {
    fn drop(&mut self) {
        for (_, _, module) in &self.modules {
            // SAFETY: pipelines do not need their modules once they are made.
            unsafe { self.shared.raw.destroy_shader_module(*module, self.shared.raw.host()) };
        }
    }
}
