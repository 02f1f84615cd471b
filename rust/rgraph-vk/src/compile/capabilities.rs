//! Programs against the features that a device was made with: drivers crash on what is not switched on.
//!
//! Source: Vulkan specification, "Capabilities" (appendix "Vulkan Environment for SPIR-V").

use std::borrow::Cow;

use ash::vk;
use rgraph_plan::access::{Aspects, ResolveMode, Stages};
use rgraph_plan::feature::Features;
use rgraph_plan::format::Format;
use rgraph_plan::plan::{Plan, PlanKind};
use rgraph_shader::{Binding, BindingKind, Program};

use crate::compile::pass_table::PassTable;
use crate::compile::rendering::Renderings;
use crate::compile::spirv;
use crate::convert;
use crate::device::Shared;
use crate::device::capability::{ALWAYS, NEVER};
use crate::error::{Code, DeviceError, Error};

/// Kinds of descriptors as limits count them (Vulkan 1.3, "Limits": `maxPerStageDescriptor*`).
#[derive(Clone, Copy)]
enum Descriptors {
    Uniforms,
    Storage,
    Sampled,
    Images,
    Samplers,
    Attachments,
}

impl Descriptors {
    /// Those that `maxPerStageResources` counts.
    const RESOURCES: [Self; 5] = [Self::Uniforms, Self::Storage, Self::Sampled, Self::Images, Self::Attachments];

    fn has(self, kind: &BindingKind) -> bool {
        use BindingKind as B;
        match self {
            Self::Uniforms => matches!(kind, B::Uniform),
            Self::Storage => matches!(kind, B::Storage),
            Self::Sampled => {
                matches!(kind, B::Sampled { .. } | B::Combined { .. } | B::Texels { storage: false, .. })
            }
            Self::Images => matches!(kind, B::Image { .. } | B::Texels { storage: true, .. }),
            Self::Samplers => matches!(kind, B::Sampler { .. } | B::Combined { .. }),
            Self::Attachments => matches!(kind, B::InputAttachment { .. }),
        }
    }
}

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

    /// Refuses attachments that are 3D images: a view of one would show a slice, and the plan takes it for all of them.
    pub(super) fn check_attachments(&self, plan: &Plan) -> Result<(), Error> {
        let kind = |resource| plan.resources[resource].kind;
        let volume = |resource| matches!(kind(resource), PlanKind::Image { volume: true, .. });
        let Some(one) = plan.attachments.iter().find(|one| volume(one.resource)) else { return Ok(()) };
        let name = plan.resource_name(one.resource);
        let message = format!("\"{name}\" is a 3D image and an attachment, which no pass can draw to");
        Err(Error::input(name, message, "draw to an image with layers, or write it in a compute pass"))
    }

    /// Refuses modes in which the device resolves no depth or no stencil; all devices take the first sample (Vulkan
    /// 1.3, `VkPhysicalDeviceDepthStencilResolveProperties`).
    pub(super) fn check_resolves(&self, plan: &Plan, table: &PassTable, renderings: &Renderings) -> Result<(), Error> {
        let mut known = None;
        for rendering in &renderings.passes {
            let attachments = &plan.attachments[rendering.attachments.range()];
            // Render passes with subpasses attach whole images.
            let whole = rendering.needs_subpasses(plan, table);
            for (attachment, resolve) in attachments.iter().zip(&rendering.resolves) {
                let Some(resolve) = resolve else { continue };
                let resource = resolve.access.resource;
                let all = plan.resources[resource].kind.aspects() & (Aspects::DEPTH | Aspects::STENCIL);
                let aspects = if whole { all } else { attachment.aspects & all };
                if aspects.is_empty() || resolve.mode == vk::ResolveModeFlags::SAMPLE_ZERO {
                    continue;
                }
                for (aspect, modes) in *known.get_or_insert_with(|| self.resolves()) {
                    if aspects.contains(aspect) && !modes.contains(resolve.mode) {
                        return self.lacks_resolve(plan.resource_name(resource), aspect, (resolve.mode, modes));
                    }
                }
            }
        }
        Ok(())
    }

    /// Modes in which the device resolves depth and stencil.
    fn resolves(&self) -> [(Aspects, vk::ResolveModeFlags); 2] {
        let mut known = vk::PhysicalDeviceDepthStencilResolveProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut known);
        // SAFETY: it is a device of the instance, of version 1.3, so it knows the struct.
        unsafe { self.context.raw().get_physical_device_properties2(self.physical, &mut all) };
        [
            (Aspects::DEPTH, known.supported_depth_resolve_modes),
            (Aspects::STENCIL, known.supported_stencil_resolve_modes),
        ]
    }

    fn lacks_resolve(
        &self,
        name: &str,
        aspect: Aspects,
        (mode, modes): (vk::ResolveModeFlags, vk::ResolveModeFlags),
    ) -> Result<(), Error> {
        let words = |modes: vk::ResolveModeFlags| {
            let all = ResolveMode::ALL.iter().filter(|mode| modes.contains(convert::resolve_mode(**mode)));
            all.map(|mode| mode.name()).collect::<Vec<_>>().join(" or ")
        };
        let aspect = aspect.names().collect::<String>();
        let message =
            format!("\"{name}\" is resolved by {}, in which {} resolves no {aspect}", words(mode), self.info.name);
        let help = format!("use {}", words(modes | vk::ResolveModeFlags::SAMPLE_ZERO));
        Err(DeviceError::new(Code::Missing, message, help).of(name).into())
    }

    /// Whether texels of a format can be the source or the target of a blit, as `feature` says.
    pub(super) fn blits(&self, format: Format, feature: vk::FormatFeatureFlags) -> bool {
        let raw = convert::format(format);
        // SAFETY: it is a device of the instance.
        let known = unsafe { self.context.raw().get_physical_device_format_properties(self.physical, raw) };
        known.optimal_tiling_features.contains(feature)
    }

    /// Refuses programs that want more of the device than it was made with.
    pub(super) fn check_capabilities(&self, program: &Program) -> Result<(), Error> {
        if let Some(open) = program.interface.bindings.iter().find(|binding| binding.count == 0) {
            let message = format!("\"{}\" of shader \"{}\" is an array of open length", open.name, program.name);
            let help = "give it a length (Program::with_lengths), or one in the shader";
            return Err(DeviceError::new(Code::Missing, message, help).into());
        }
        let missing = program.needs - self.enabled.features;
        if !missing.is_empty() {
            return self.lacks(program, &missing.to_string());
        }
        let mut capabilities = program.modules.iter().flat_map(|module| spirv::capabilities(&module.spirv));
        match capabilities.find_map(|wanted| self.missing(wanted)) {
            Some(name) => self.lacks(program, &name),
            None => Ok(()),
        }
    }

    /// Refuses programs with more descriptors in a stage, or in all, than the device has room for.
    pub(super) fn check_descriptors(&self, program: &Program) -> Result<(), Error> {
        let limits = &self.limits;
        use Descriptors as D;
        let rows: [(&[D], &str, u32, u32); 6] = [
            (
                &[D::Uniforms],
                "uniform buffers",
                limits.max_per_stage_descriptor_uniform_buffers,
                limits.max_descriptor_set_uniform_buffers,
            ),
            (
                &[D::Storage],
                "storage buffers",
                limits.max_per_stage_descriptor_storage_buffers,
                limits.max_descriptor_set_storage_buffers,
            ),
            (
                &[D::Sampled],
                "sampled images",
                limits.max_per_stage_descriptor_sampled_images,
                limits.max_descriptor_set_sampled_images,
            ),
            (
                &[D::Images],
                "storage images",
                limits.max_per_stage_descriptor_storage_images,
                limits.max_descriptor_set_storage_images,
            ),
            (&[D::Samplers], "samplers", limits.max_per_stage_descriptor_samplers, limits.max_descriptor_set_samplers),
            (&D::RESOURCES, "resources", limits.max_per_stage_resources, u32::MAX),
        ];
        for (names, what, of_stage, of_all) in rows {
            let counted = |stage: Stages| -> u64 {
                let all = program.interface.bindings.iter().filter(|one| one.stages.intersects(stage));
                all.filter(|one| names.iter().any(|name| name.has(&one.kind))).map(|one| u64::from(one.count)).sum()
            };
            let most = program.modules.iter().map(|module| counted(module.stage.stages())).max().unwrap_or(0);
            let all = counted(Stages::all());
            let (found, limit, place) = match (most > u64::from(of_stage), all > u64::from(of_all)) {
                (true, _) => (most, of_stage, "in a stage"),
                (false, true) => (all, of_all, "in all"),
                (false, false) => continue,
            };
            let message = format!(
                "shader \"{}\" has {found} {what} {place}, and {} allows {limit}",
                program.name, self.info.name
            );
            let help = "bind fewer at once: layers of one image, or parts of one buffer, are one";
            return Err(DeviceError::new(Code::Missing, message, help).into());
        }
        Ok(())
    }

    /// Refuses formats that texel buffers of the device do not have.
    pub(super) fn check_texels(&self, format: Format, binding: &Binding) -> Result<(), Error> {
        // SAFETY: the physical device is of this instance.
        let has = unsafe {
            let raw = convert::format(format);
            self.context.raw().get_physical_device_format_properties(self.physical, raw).buffer_features
        };
        let (feature, what) = match binding.kind {
            BindingKind::Texels { storage: true, .. } => {
                (vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER, "storage texel buffers")
            }
            _ => (vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER, "texel buffers"),
        };
        if has.contains(feature) {
            return Ok(());
        }
        let message = format!("{} has no {what} of {format}, which \"{}\" is bound as", self.info.name, binding.name);
        let help = "use another format: r32uint, r32sint, r32float and the 8-bit rgba ones are everywhere";
        Err(DeviceError::new(Code::Missing, message, help).into())
    }

    fn lacks(&self, program: &Program, name: &str) -> Result<(), Error> {
        let message = format!("{} has no {name}, which shader \"{}\" needs", self.info.name, program.name);
        let help = match self.is_borrowed() {
            true => "make the device with it (EnabledFeatures tells rgraph), or write the shader without it",
            false => "write the shader without it, or run on another device",
        };
        Err(DeviceError::new(Code::Missing, message, help).note(format!("needs {name} ✗")).into())
    }

    /// What a capability of no known feature needs and this device does not have.
    fn missing(&self, wanted: u32) -> Option<Cow<'static, str>> {
        if !Features::of_capability(wanted).is_empty() || ALWAYS.contains(&wanted) {
            return None;
        }
        match NEVER.iter().position(|(known, _)| *known == wanted) {
            Some(at) => (self.enabled.others >> at & 1 == 0).then_some(NEVER[at].1.into()),
            // A borrowed device may have features enabled that rgraph does not know.
            None if self.is_borrowed() => None,
            None => Some(format!("capability {wanted} of SPIR-V").into()),
        }
    }
}
