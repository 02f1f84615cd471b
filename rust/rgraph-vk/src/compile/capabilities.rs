//! Programs against the features that a device was made with: drivers crash on what is not switched on.
//!
//! Source: Vulkan specification, "Capabilities" (appendix "Vulkan Environment for SPIR-V").

use ash::vk;
use rgraph_plan::access::{Aspects, Stages};
use rgraph_plan::plan::{Plan, PlanKind};
use rgraph_shader::Program;

use crate::compile::spirv;
use crate::device::Shared;
use crate::device::capability::{NEVER, OPTIONAL};
use crate::error::{Code, DeviceError, Error};

/// Stages whose stores need `vertexPipelineStoresAndAtomics`.
const BEFORE_FRAGMENTS: Stages = Stages::VERTEX_SHADER
    .union(Stages::TESSELLATION_CONTROL_SHADER)
    .union(Stages::TESSELLATION_EVALUATION_SHADER)
    .union(Stages::GEOMETRY_SHADER);

impl Shared {
    /// Refuses a plan that puts depth and stencil of an image into different layouts, where the device cannot.
    pub(super) fn check_layouts(&self, plan: &Plan) -> Result<(), Error> {
        if self.enabled.separate_layouts {
            return Ok(());
        }
        let both = Aspects::DEPTH | Aspects::STENCIL;
        let apart = plan.image_barriers.iter().find(|barrier| match plan.resources[barrier.resource].kind {
            PlanKind::Image { format, .. } => format.aspects() == both && barrier.aspects != both,
            PlanKind::Buffer { .. } => false,
        });
        let Some(barrier) = apart else { return Ok(()) };
        let name = plan.resource_name(barrier.resource);
        let message =
            format!("depth and stencil of \"{name}\" are in different layouts, which {} cannot", self.info.name);
        let help = "enable separateDepthStencilLayouts, or give depth and stencil images of their own";
        Err(DeviceError::new(Code::Missing, message, help).of(name).into())
    }

    /// Refuses programs that want more of the device than it was made with.
    pub(super) fn check_capabilities(&self, program: &Program) -> Result<(), Error> {
        if let Some(open) = program.interface.bindings.iter().find(|binding| binding.count == 0) {
            let message = format!("\"{}\" of shader \"{}\" is an array of open length", open.name, program.name);
            return Err(DeviceError::new(Code::Missing, message, "give the array a length in the shader").into());
        }
        let core = &self.enabled.core;
        let stores = |stages| {
            program.interface.bindings.iter().any(|binding| binding.writes && binding.stages.intersects(stages))
        };
        if stores(Stages::FRAGMENT_SHADER) && core.fragment_stores_and_atomics != vk::TRUE {
            return self.lacks(program, "fragmentStoresAndAtomics");
        }
        if stores(BEFORE_FRAGMENTS) && core.vertex_pipeline_stores_and_atomics != vk::TRUE {
            return self.lacks(program, "vertexPipelineStoresAndAtomics");
        }
        let capabilities = program.modules.iter().flat_map(|module| spirv::capabilities(&module.spirv));
        match capabilities.into_iter().find_map(|wanted| self.missing(wanted)) {
            Some(name) => self.lacks(program, name),
            None => Ok(()),
        }
    }

    fn lacks(&self, program: &Program, name: &str) -> Result<(), Error> {
        let message = format!("{} has no {name}, which shader \"{}\" needs", self.info.name, program.name);
        let help = match self.is_borrowed() {
            true => "make the device with it (EnabledFeatures tells rgraph), or write the shader without it",
            false => "write the shader without it, or run on another device",
        };
        Err(DeviceError::new(Code::Missing, message, help).note(format!("needs {name} ✗")).into())
    }

    /// The feature that a capability needs and this device does not have.
    fn missing(&self, wanted: u32) -> Option<&'static str> {
        let core = &self.enabled.core;
        let on = |feature: vk::Bool32| feature == vk::TRUE;
        let (name, has) = match wanted {
            2 => ("geometryShader", on(core.geometry_shader)),
            3 => ("tessellationShader", on(core.tessellation_shader)),
            9 => ("shaderFloat16", self.enabled.float16),
            10 => ("shaderFloat64", on(core.shader_float64)),
            11 => ("shaderInt64", on(core.shader_int64)),
            22 => ("shaderInt16", on(core.shader_int16)),
            23 | 24 => ("shaderTessellationAndGeometryPointSize", on(core.shader_tessellation_and_geometry_point_size)),
            25 => ("shaderImageGatherExtended", on(core.shader_image_gather_extended)),
            27 => ("shaderStorageImageMultisample", on(core.shader_storage_image_multisample)),
            28 => ("shaderUniformBufferArrayDynamicIndexing", on(core.shader_uniform_buffer_array_dynamic_indexing)),
            29 => ("shaderSampledImageArrayDynamicIndexing", on(core.shader_sampled_image_array_dynamic_indexing)),
            30 => ("shaderStorageBufferArrayDynamicIndexing", on(core.shader_storage_buffer_array_dynamic_indexing)),
            31 => ("shaderStorageImageArrayDynamicIndexing", on(core.shader_storage_image_array_dynamic_indexing)),
            32 => ("shaderClipDistance", on(core.shader_clip_distance)),
            33 => ("shaderCullDistance", on(core.shader_cull_distance)),
            34 | 45 => ("imageCubeArray", on(core.image_cube_array)),
            35 => ("sampleRateShading", on(core.sample_rate_shading)),
            42 => ("shaderResourceMinLod", on(core.shader_resource_min_lod)),
            49 => ("shaderStorageImageExtendedFormats", on(core.shader_storage_image_extended_formats)),
            55 => ("shaderStorageImageReadWithoutFormat", on(core.shader_storage_image_read_without_format)),
            56 => ("shaderStorageImageWriteWithoutFormat", on(core.shader_storage_image_write_without_format)),
            57 => ("multiViewport", on(core.multi_viewport)),
            5283 => ("meshShader (VK_EXT_mesh_shader)", self.enabled.mesh),
            other => {
                let find = |all: &[(u32, &'static str)]| all.iter().position(|(known, _)| *known == other);
                return match find(&OPTIONAL) {
                    Some(at) => self.enabled.lacks[at].then_some(OPTIONAL[at].1),
                    None => find(&NEVER).map(|at| NEVER[at].1),
                };
            }
        };
        (!has).then_some(name)
    }
}
