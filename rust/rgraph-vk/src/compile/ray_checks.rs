//! Builds and traces compared with what their pass declares, with what the driver asks for and with the device's
//! limits.

use ash::vk;
use rgraph_plan::access::{Transfer as TransferKind, Usage};
use rgraph_plan::plan::{PlanKind, PlanPassId};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Program, Stage};
use rgraph_work::{
    Build, Geometry, Groups, INSTANCE_BYTES, IndexBuffer, Instance, Instances, RayGroups, TRANSFORM_BYTES, Trace,
};

use crate::compile::bind::{Before, Binder};
use crate::compile::packet::{Action, Packets};
use crate::compile::ray::{ReadyTrace, build_info, described};
use crate::device::rays::RayFunctions;
use crate::error::Error;
use crate::memory::state::Region;

/// Bytes by which scratch memory may have to be moved so that its address is aligned.
const SCRATCH_SLACK: u64 = 256;

impl Binder<'_> {
    /// A trace: its pipeline, its table and its bindings.
    pub(super) fn trace<'a>(
        &self,
        pass: PlanPassId,
        trace: &'a Trace,
        before: &mut Before<'a>,
        out: &mut Packets,
    ) -> Result<(), Error> {
        let Trace { program, groups, bound, push, size, depth } = trace;
        let name = self.plan.pass_name(pass);
        if self.renderings.of_pass[pass].is_some() {
            return self.refuse(pass, "traces rays, but has attachments", "trace in a pass without attachments");
        }
        let rays = self.shared.rays(name)?;
        if rays.pipelines.is_none() {
            return Err(self.shared.lacks_rays(name, "VK_KHR_ray_tracing_pipeline"));
        }
        self.check_ray_groups(pass, program, groups)?;
        if *depth > rays.most_depth {
            let says = format!("nests traces {depth} deep, and the device allows {}", rays.most_depth);
            return self.refuse(pass, says, "loop in the ray generation shader");
        }
        let size = match *size {
            Groups::Fixed(size) => size,
            Groups::Cover(resource, mip) => self.covered_texels(pass, resource, mip)?,
            Groups::Indirect { .. } => {
                return self.refuse(pass, "reads its number of rays from a buffer", "give size=(x, y, z)");
            }
        };
        let limits = &self.shared.limits;
        let most = |axis: usize| {
            let [groups, size] = [limits.max_compute_work_group_count[axis], limits.max_compute_work_group_size[axis]];
            u64::from(groups) * u64::from(size)
        };
        let all = size.iter().fold(1u64, |all, axis| all.saturating_mul(u64::from(*axis)));
        if (0..3).any(|axis| u64::from(size[axis]) > most(axis)) || all > u64::from(rays.most_rays) {
            let says = format!(
                "generates {size:?} rays, and the device allows {:?} and {} in all",
                [most(0), most(1), most(2)],
                rays.most_rays
            );
            return self.refuse(pass, says, "trace in several passes");
        }
        self.check_push(pass, program)?;
        let pipeline = self.shared.ray_pipeline(program, groups, *depth)?;
        let (table, regions) = self.shared.table(rays, name, (&pipeline, groups))?;
        out.traces.push(ReadyTrace { regions, size, table });
        let what = Action::Trace(out.traces.len() as u32 - 1);
        self.packet(pass, (program, bound, push), pipeline.raw, what, before, out)
    }

    /// Refuses groups with shaders of other stages than theirs.
    pub(super) fn check_ray_groups(
        &self,
        pass: PlanPassId,
        program: &Program,
        groups: &RayGroups,
    ) -> Result<(), Error> {
        if let Some((module, wanted, found)) = groups.misplaced(program) {
            let is = found.map_or("not there", Stage::name);
            let says = format!("has shader {module} in the place of a {} shader, and it is {is}", wanted.name());
            return self.refuse(pass, says, "give each shader in the place of its stage");
        }
        let (records, count) = (&groups.records, groups.count());
        if records.len() > count {
            let says = format!("has data for {} shader groups, and {count} groups", records.len());
            return self.refuse(pass, says, "give data for as many groups as there are");
        }
        Ok(())
    }

    /// A build, with its buffers in the plan.
    pub(super) fn build(&self, pass: PlanPassId, build: &Build, out: &mut Packets) -> Result<(), Error> {
        let rays = self.shared.rays(self.plan.pass_name(pass))?;
        let usage = if build.refit { Usage::AccelerationUpdate } else { Usage::AccelerationBuild };
        let structure = self.whole_buffer(pass, build.structure, usage, "builds")?;
        let scratch = self.whole_buffer(pass, build.scratch, Usage::AccelerationScratch, "builds with")?;
        let geometry = self.geometry(pass, rays, &build.geometry)?;
        let ready = Build { structure, scratch, geometry, ..*build };
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        let geometries = [described(&ready.geometry, |_| 0)];
        let info = build_info(&ready, &geometries);
        let kind = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        let count = [ready.geometry.primitives()];
        // SAFETY: the geometry lives until the call returns, which reads no address.
        unsafe { rays.structures.get_acceleration_structure_build_sizes(kind, &info, &count, &mut sizes) };
        let scratch_size = if build.refit { sizes.update_scratch_size } else { sizes.build_scratch_size };
        let needs = [
            (structure, sizes.acceleration_structure_size, "of structure", "size"),
            (scratch, scratch_size + SCRATCH_SLACK, "of scratch memory", "scratch"),
        ];
        for (resource, wanted, what, word) in needs {
            let PlanKind::Buffer { size } = self.plan.resources[resource].kind else { continue };
            if size < wanted {
                let name = self.plan.resource_name(resource);
                let says = format!("builds {wanted} bytes {what} in \"{name}\", which has {size}");
                return self.refuse(pass, says, &format!("declare it with {word}={wanted}"));
            }
        }
        out.builds.push(ready);
        out.plain(Action::Build(out.builds.len() as u32 - 1));
        Ok(())
    }

    /// A buffer that the pass uses whole.
    fn whole_buffer(
        &self,
        pass: PlanPassId,
        resource: ResourceId,
        usage: Usage,
        how: &str,
    ) -> Result<ResourceId, Error> {
        let planned = self.planned(pass, resource)?;
        let PlanKind::Buffer { size } = self.plan.resources[planned].kind else {
            let name = self.plan.resource_name(planned);
            return self.refuse(pass, format!("{how} image \"{name}\""), "name a buffer");
        };
        self.in_buffer(pass, planned, usage, 0, size, how)?;
        Ok(planned)
    }

    fn geometry(&self, pass: PlanPassId, rays: &RayFunctions, geometry: &Geometry) -> Result<Geometry, Error> {
        let (most, what) = match geometry {
            Geometry::Instances { .. } => (rays.most_instances, "instances"),
            _ => (rays.most_primitives, "primitives"),
        };
        if u64::from(geometry.primitives()) > most {
            let says = format!("builds of {} {what}, and the device takes {most}", geometry.primitives());
            return self.refuse(pass, says, "build several structures");
        }
        let input = |buffer: ResourceId, [offset, alignment]: [u64; 2], length: u64| {
            let planned = self.planned(pass, buffer)?;
            self.in_buffer(pass, planned, Usage::AccelerationInput, offset, length, "builds from")?;
            if !offset.is_multiple_of(alignment) {
                let name = self.plan.resource_name(planned);
                let says = format!("builds from \"{name}\" from byte {offset} on");
                return self.refuse(pass, says, &format!("move the data to a multiple of {alignment}"));
            }
            Ok(planned)
        };
        let mut ready = geometry.clone();
        match &mut ready {
            Geometry::Triangles { buffer, offset, stride, vertices, index, triangles, .. } => {
                if !stride.is_multiple_of(4) {
                    let says = format!("builds of positions {stride} bytes apart");
                    return self.refuse(pass, says, "pad them to a multiple of 4 bytes");
                }
                let last = u64::from(vertices.saturating_sub(1)) * u64::from(*stride);
                *buffer = input(*buffer, [*offset, 4], if *vertices == 0 { 0 } else { last + 12 })?;
                let corners = u64::from(*triangles) * 3;
                match index {
                    Some(index) => {
                        let bytes = if index.wide { 4 } else { 2 };
                        let planned = input(index.buffer, [index.offset, bytes], corners * bytes)?;
                        *index = IndexBuffer { buffer: planned, ..*index };
                    }
                    None if corners > u64::from(*vertices) => {
                        let says = format!("builds {triangles} triangles of {vertices} positions");
                        return self.refuse(pass, says, "give three positions per triangle, or indices");
                    }
                    None => {}
                }
            }
            Geometry::Boxes { buffer, offset, stride, boxes, .. } => {
                if !stride.is_multiple_of(8) {
                    let says = format!("builds of boxes {stride} bytes apart");
                    return self.refuse(pass, says, "pad them to a multiple of 8 bytes");
                }
                let last = u64::from(boxes.saturating_sub(1)) * u64::from(*stride);
                *buffer = input(*buffer, [*offset, 8], if *boxes == 0 { 0 } else { last + 24 })?;
            }
            Geometry::Instances { buffer, offset, instances, structures } => {
                *buffer = input(*buffer, [*offset, 16], u64::from(*instances) * INSTANCE_BYTES)?;
                for structure in structures {
                    *structure = self.whole_buffer(pass, *structure, Usage::AccelerationRead, "instances")?;
                }
            }
        }
        Ok(ready)
    }

    /// Records of instances, with their buffers in the plan.
    pub(super) fn instances(&self, pass: PlanPassId, instances: &Instances, out: &mut Packets) -> Result<(), Error> {
        self.shared.rays(self.plan.pass_name(pass))?;
        let Instances { to, offset, all, transforms } = instances;
        let range = |buffer: ResourceId, usage: Usage, kind: TransferKind, offset: u64, length: u64| {
            let within = |region: &Region| region.range[0] <= offset;
            let access = self.transfer_access(pass, buffer, (usage, kind), within)?;
            let [first, end] = access.region.range;
            if offset < first || offset.checked_add(length).is_none_or(|past| past > end) || !offset.is_multiple_of(4) {
                let name = self.plan.resource_name(access.resource);
                let says = format!("copies {length} bytes at {offset} of \"{name}\", and declares {first}..{end}");
                return self.refuse(pass, says, "stay within the declared range, at a multiple of 4");
            }
            Ok(access.resource)
        };
        let count = all.len() as u64;
        let to = range(*to, Usage::TransferDst, TransferKind::Fill, *offset, count * INSTANCE_BYTES)?;
        let transforms = match transforms {
            Some((from, at)) => {
                let from = range(*from, Usage::TransferSrc, TransferKind::Copy, *at, count * TRANSFORM_BYTES)?;
                Some((from, *at))
            }
            None => None,
        };
        let ready = all.iter().map(|one| Ok(Instance { structure: self.planned(pass, one.structure)?, ..*one }));
        let all = ready.collect::<Result<_, Error>>()?;
        out.instances.push(Instances { to, offset: *offset, all, transforms });
        out.plain(Action::Instances(out.instances.len() as u32 - 1));
        Ok(())
    }
}
