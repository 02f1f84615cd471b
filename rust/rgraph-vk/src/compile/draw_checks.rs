//! What a draw needs of its pass: an area to draw in, a target for each output, an attribute for each input, and
//! buffers that the pass declares.

use ash::vk;
use rgraph_plan::access::Usage;
use rgraph_plan::format::Numbers;
use rgraph_plan::plan::{PlanKind, PlanPassId};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Program, Scalar};

use crate::compile::bind::Binder;
use crate::error::Error;
use crate::memory::state::Region;
use rgraph_work::infer::has_mesh;
use rgraph_work::{DrawCount, VertexBuffer};

/// What is wrong with a viewport, and how to fix it.
pub(crate) fn misplaced(
    limits: &vk::PhysicalDeviceLimits,
    [x, y, width, height]: [f32; 4],
) -> Option<(String, String)> {
    let [wide, high] = limits.max_viewport_dimensions.map(|most| most as f32);
    let [least, most] = limits.viewport_bounds_range;
    let fits = |from: f32, size: f32, limit: f32| size > 0.0 && size <= limit && from >= least && from + size <= most;
    if fits(x, width, wide) && fits(y, height, high) {
        return None;
    }
    let says = format!("draws in a viewport at ({x}, {y}) of {width}x{height}");
    Some((says, format!("give it an area, at most {wide}x{high}, between {least} and {most}")))
}

impl Binder<'_> {
    /// A viewport has an area, and lies where the device can draw.
    pub(crate) fn check_viewport(&self, pass: PlanPassId, viewport: Option<[f32; 4]>) -> Result<(), Error> {
        match viewport.and_then(|viewport| misplaced(&self.shared.limits, viewport)) {
            None => Ok(()),
            Some((says, help)) => self.refuse(pass, says, &help),
        }
    }

    /// Programs with a mesh stage are drawn by workgroups, and only they; no more than every device with mesh stages
    /// takes (Vulkan 1.3, "Required Limits": `maxMeshWorkGroupCount`, `maxMeshWorkGroupTotalCount`).
    pub(crate) fn check_groups(&self, pass: PlanPassId, program: &Program, count: &DrawCount) -> Result<(), Error> {
        match (has_mesh(program), count) {
            // The counts of indirect draws are the caller's to keep within these limits.
            (true, DrawCount::Indirect { .. }) => Ok(()),
            (true, DrawCount::Mesh { groups }) => {
                let all: u64 = groups.iter().map(|axis| u64::from(*axis)).product();
                if groups.iter().all(|axis| *axis <= 0xffff) && all <= 1 << 22 {
                    return Ok(());
                }
                let says = format!("draws {groups:?} workgroups of a mesh stage");
                self.refuse(pass, says, "draw at most 65535 on an axis and 4194304 in all; use several draws")
            }
            (true, _) => {
                let says = format!("draws vertices, and shader \"{}\" has a mesh stage", program.name);
                self.refuse(pass, says, "give the workgroups with groups=(x, y, z), or indirect=")
            }
            (false, DrawCount::Mesh { .. }) => {
                let says = format!("draws workgroups, and shader \"{}\" has no mesh stage", program.name);
                self.refuse(pass, says, "give the number of vertices to draw")
            }
            (false, _) => Ok(()),
        }
    }

    /// Every colour output has a target of its kind.
    pub(crate) fn check_outputs(&self, pass: PlanPassId, program: &Program) -> Result<(), Error> {
        let colors: Vec<_> =
            self.table.of(pass).iter().filter(|access| access.usage == Usage::ColorAttachment).collect();
        for output in &program.interface.outputs {
            let Some(access) = colors.get(output.location as usize) else {
                let says = format!(
                    "has {} colour targets, and shader \"{}\" writes output {} (\"{}\")",
                    colors.len(),
                    program.name,
                    output.location,
                    output.name
                );
                return self.refuse(pass, says, "declare a colour attachment for each output, in order");
            };
            let PlanKind::Image { format, .. } = self.plan.resources[access.resource].kind else { continue };
            let fits = match format.numbers() {
                Numbers::Uint => output.scalar.is_unsigned(),
                Numbers::Sint => output.scalar.is_signed(),
                _ => matches!(output.scalar, Scalar::F32 | Scalar::F16),
            };
            if !fits {
                let says = format!(
                    "draws to \"{}\" ({format}), and output {} of shader \"{}\" is of another kind of number",
                    self.plan.resource_name(access.resource),
                    output.location,
                    program.name
                );
                return self.refuse(pass, says, "let the shader write what the format holds");
            }
        }
        Ok(())
    }

    /// Every vertex input has an attribute.
    pub(crate) fn check_inputs(
        &self,
        pass: PlanPassId,
        program: &Program,
        buffers: &[VertexBuffer],
    ) -> Result<(), Error> {
        for input in &program.interface.vertex_inputs {
            let mut attributes = buffers.iter().flat_map(|buffer| &buffer.attributes);
            let Some((_, format, _)) = attributes.find(|(location, ..)| *location == input.location) else {
                let says = format!(
                    "has no vertex attribute for input {} (\"{}\") of shader \"{}\"",
                    input.location, input.name, program.name
                );
                return self.refuse(pass, says, "give a vertex buffer with an attribute at that location");
            };
            if attributes.any(|(location, ..)| *location == input.location) {
                let says = format!(
                    "has two vertex attributes for input {} (\"{}\") of shader \"{}\"",
                    input.location, input.name, program.name
                );
                return self.refuse(pass, says, "give one attribute per location");
            }
            if !format.fits(input.scalar) {
                let says = format!(
                    "gives {format} to input {} (\"{}\") of shader \"{}\", which is of another kind of number",
                    input.location, input.name, program.name
                );
                return self.refuse(pass, says, "use an attribute format of the input's kind");
            }
        }
        Ok(())
    }

    /// A range of a buffer that the pass declares for a use.
    pub(crate) fn in_buffer(
        &self,
        pass: PlanPassId,
        buffer: ResourceId,
        usage: Usage,
        offset: u64,
        length: u64,
        how: &str,
    ) -> Result<(), Error> {
        let within = |region: &Region| region.range[0] <= offset && offset.saturating_add(length) <= region.range[1];
        let access = self.access(pass, buffer, &[usage], within, format_args!("{how}"))?;
        let [first, end] = access.region.range;
        let past = offset.checked_add(length);
        if !offset.is_multiple_of(4) || offset < first || past.is_none_or(|past| past > end) {
            let name = self.plan.resource_name(buffer);
            let says = format!(
                "{how} bytes {offset}..{} of \"{name}\", and declares {first}..{end}",
                offset.saturating_add(length)
            );
            return self.refuse(pass, says, "stay within the declared range, at a multiple of 4");
        }
        Ok(())
    }
}
