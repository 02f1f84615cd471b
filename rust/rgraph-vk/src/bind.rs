//! Steps of passes become packets: pipelines looked up, descriptors listed, everything that a step touches compared
//! with what its pass declares. What is refused here would be a missing barrier later.

use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::{Aspects, Layout, Stages, Transfer as TransferKind, Usage};
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::graph::Graph;
use rgraph_plan::id::{IdVec, Span};
use rgraph_plan::plan::{Plan, PlanKind, PlanPassId};
use rgraph_plan::resource::ResourceId;
use rgraph_plan::stages::resolve::meaning::default_shader_stage;
use rgraph_plan::stages::size::mip_size;
use rgraph_shader::{Binding, BindingKind, Dimension, Program, SampleKind, Scalar};

use crate::device::Shared;
use crate::error::Error;
use crate::pipeline::descriptor_type;
use crate::rendering::Renderings;
use crate::scene::{PassAccess, Scene};
use crate::store::{ViewKey, view_type};
use crate::transfer;
use crate::work::{
    Bound, Dispatch, Draw, DrawCount, Groups, IndexBuffer, Sampler, Step, Transfer, VertexBuffer, View, What,
};

/// A step, ready to be recorded.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub pipeline: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    pub push_stages: vk::ShaderStageFlags,
    /// In [`Packets::sets`].
    pub sets: Span,
    /// In [`Packets::push`].
    pub push: Span,
    pub what: Action,
}

/// What a packet does once everything is bound.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Dispatch([u32; 3]),
    DispatchIndirect(ResourceId, u64),
    Draw {
        count: DrawCount,
        /// In [`Packets::vertex`].
        vertex: Span,
        index: Option<IndexBuffer>,
        viewport: Option<[f32; 4]>,
    },
    /// In [`Packets::transfers`].
    Transfer(u32),
}

/// A descriptor set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set {
    pub layout: vk::DescriptorSetLayout,
    /// In [`Packets::writes`].
    pub writes: Span,
}

/// A descriptor.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub pass: PlanPassId,
    pub binding: u32,
    pub element: u32,
    pub kind: vk::DescriptorType,
    pub what: Descriptor,
}

/// What a descriptor holds.
#[derive(Clone, Debug)]
pub(crate) enum Descriptor {
    Buffer(ResourceId, [u64; 2]),
    Image(ResourceId, ViewKey, Layout),
    Combined(ResourceId, ViewKey, Layout, vk::Sampler),
    Sampler(vk::Sampler),
    /// Bytes in [`Packets::data`].
    Data([u64; 2]),
}

/// All packets of a graph.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    pub packets: Vec<Packet>,
    /// Packets of each pass.
    pub of_pass: IdVec<PlanPassId, Span>,
    pub sets: Vec<Set>,
    pub writes: Vec<Write>,
    pub push: Vec<u8>,
    /// Contents of uniform blocks that have no buffer of the graph.
    pub data: Vec<u8>,
    /// Pass, binding and bytes of each uniform block.
    pub blocks: Vec<(PlanPassId, u32, [u64; 2])>,
    pub vertex: Vec<VertexBuffer>,
    pub transfers: Vec<transfer::Ready>,
}

/// Turns steps into packets.
pub(crate) struct Binder<'a> {
    pub shared: &'a Arc<Shared>,
    pub graph: &'a Graph,
    pub plan: &'a Plan,
    pub scene: &'a Scene,
    pub renderings: &'a Renderings,
}

impl Binder<'_> {
    /// Adds the steps of a pass; draws sorted by their keys, dispatches and transfers in their places.
    pub fn add(&self, pass: PlanPassId, steps: &[Step], out: &mut Packets) -> Result<(), Error> {
        let start = out.packets.len();
        let mut sorted: Vec<&Step> = steps.iter().collect();
        // Runs of draws are sorted, stably; nothing moves across a dispatch or a transfer.
        for run in sorted.chunk_by_mut(|a, b| matches!((a, b), (Step::Draw(_), Step::Draw(_)))) {
            run.sort_by_key(|step| if let Step::Draw(draw) = step { draw.key } else { 0 });
        }
        for step in sorted {
            let added = match step {
                Step::Dispatch(dispatch) => self.dispatch(pass, dispatch, out),
                Step::Draw(draw) => self.draw(pass, draw, out),
                Step::Transfer(transfer) => self.transfer(pass, transfer, out),
            };
            added.map_err(|error| self.in_pass(pass, error))?;
        }
        out.of_pass[pass] = Span::new(start, out.packets.len());
        Ok(())
    }

    fn in_pass(&self, pass: PlanPassId, error: Error) -> Error {
        match error {
            Error::Device(device) => device.in_pass(self.plan.pass_name(pass)).into(),
            other => other,
        }
    }

    fn refuse<T>(&self, pass: PlanPassId, message: impl AsRef<str>, help: &str) -> Result<T, Error> {
        let name = self.plan.pass_name(pass);
        Err(Error::work(name, format!("pass \"{name}\" {}", message.as_ref()), help))
    }

    fn planned(&self, pass: PlanPassId, resource: ResourceId) -> Result<ResourceId, Error> {
        match self.scene.resource_of.get(resource) {
            Some(planned) => Ok(*planned),
            None => self.refuse(pass, "touches a resource of another graph", "use this graph's handles"),
        }
    }

    /// The pass's access of that resource which allows a use; else says what is missing.
    fn access(
        &self,
        pass: PlanPassId,
        resource: ResourceId,
        wanted: &[Usage],
        how: &str,
    ) -> Result<&PassAccess, Error> {
        let accesses = self.scene.of(pass);
        let found = accesses.iter().find(|access| access.resource == resource && wanted.contains(&access.usage));
        match found {
            Some(access) => Ok(access),
            None => {
                let name = self.plan.resource_name(resource);
                let declared: Vec<_> = accesses
                    .iter()
                    .filter(|access| access.resource == resource)
                    .map(|access| access.usage.name())
                    .collect();
                let says = if declared.is_empty() {
                    format!("{how} \"{name}\", which it does not declare")
                } else {
                    format!("{how} \"{name}\", which it declares as {} only", declared.join(", "))
                };
                self.refuse(pass, says, &format!("declare the access: {}", wanted[0].name()))
            }
        }
    }

    fn stages(&self, pass: PlanPassId, access: &PassAccess) -> Stages {
        let declared = access.declared.map(|at| &self.graph.accesses()[at as usize]);
        let said = declared.map_or(Stages::empty(), |access| access.stages);
        if !said.is_empty() {
            return said;
        }
        let queue = self.scene.pass_of[pass].map(|of| self.graph.passes()[of].queue);
        let raster = self.renderings.of_pass[pass].is_some();
        queue.map_or(Stages::empty(), |queue| default_shader_stage(queue, raster))
    }

    fn dispatch(&self, pass: PlanPassId, dispatch: &Dispatch, out: &mut Packets) -> Result<(), Error> {
        let Dispatch { program, bound, push, groups } = dispatch;
        if self.renderings.of_pass[pass].is_some() {
            return self.refuse(pass, "dispatches, but has attachments", "dispatch in a pass without attachments");
        }
        let pipeline = self.shared.compute_pipeline(program)?;
        let what = match *groups {
            Groups::Fixed(groups) => Action::Dispatch(groups),
            Groups::Cover(resource, mip) => {
                let resource = self.planned(pass, resource)?;
                let size = match self.plan.resources[resource].kind {
                    PlanKind::Image { size, layers, .. } => {
                        let [x, y, z] = mip_size(size, mip);
                        [x, y, z.max(layers)]
                    }
                    PlanKind::Buffer { size } => [u32::try_from(size.div_ceil(4)).unwrap_or(u32::MAX), 1, 1],
                };
                let workgroup = program.interface.workgroup;
                Action::Dispatch(std::array::from_fn(|axis| size[axis].div_ceil(workgroup[axis].max(1))))
            }
            Groups::Indirect { buffer, offset } => {
                let buffer = self.planned(pass, buffer)?;
                self.in_buffer(pass, buffer, Usage::Indirect, offset, 12, "dispatches indirectly from")?;
                Action::DispatchIndirect(buffer, offset)
            }
        };
        if let Action::Dispatch(groups) = what {
            let most = self.shared.limits.max_compute_work_group_count;
            if groups.iter().zip(most).any(|(groups, most)| *groups > most) {
                let says = format!("dispatches {groups:?} workgroups, and the device allows {most:?}");
                return self.refuse(pass, says, "dispatch fewer, larger workgroups");
            }
        }
        self.packet(pass, program, bound, push, pipeline, what, out)
    }

    fn draw(&self, pass: PlanPassId, draw: &Draw, out: &mut Packets) -> Result<(), Error> {
        let Draw { program, state, bound, push, vertex_buffers, index, count, viewport, .. } = draw;
        let Some(targets) = self.renderings.targets(self.plan, self.scene, pass) else {
            return self.refuse(pass, "draws, but has no attachment", "declare a colour or depth attachment");
        };
        self.check_outputs(pass, program)?;
        let mut buffers = Vec::new();
        for buffer in vertex_buffers {
            let planned = self.planned(pass, buffer.buffer)?;
            self.in_buffer(pass, planned, Usage::Vertex, buffer.offset, 0, "reads vertices from")?;
            buffers.push(VertexBuffer { buffer: planned, ..buffer.clone() });
        }
        self.check_inputs(pass, program, &buffers)?;
        let index = match index {
            Some(index) => {
                let planned = self.planned(pass, index.buffer)?;
                self.in_buffer(pass, planned, Usage::Index, index.offset, 0, "reads indices from")?;
                Some(IndexBuffer { buffer: planned, ..*index })
            }
            None => None,
        };
        let mut count = *count;
        if let DrawCount::Indirect { buffer, offset, draws, stride } = &mut count {
            *buffer = self.planned(pass, *buffer)?;
            let one = if index.is_some() { 20 } else { 16 };
            if *draws > 1 && (*stride < one || *stride % 4 != 0) {
                let says = format!("draws indirectly with a stride of {stride} bytes");
                return self.refuse(pass, says, &format!("use a multiple of 4, at least {one}"));
            }
            if *draws > 1 && self.shared.enabled.core.multi_draw_indirect != vk::TRUE {
                return self.refuse(pass, "draws several times indirectly, which the device cannot", "draw one by one");
            }
            let length = u64::from(draws.saturating_sub(1)) * u64::from(*stride) + u64::from(one);
            self.in_buffer(pass, *buffer, Usage::Indirect, *offset, length, "draws indirectly from")?;
        }
        let pipeline = self.shared.raster_pipeline(program, state, &targets, &buffers)?;
        let start = out.vertex.len();
        out.vertex.extend(buffers);
        let vertex = Span::new(start, out.vertex.len());
        let what = Action::Draw { count, vertex, index, viewport: *viewport };
        self.packet(pass, program, bound, push, pipeline, what, out)
    }

    /// Every colour output has a target of its kind.
    fn check_outputs(&self, pass: PlanPassId, program: &Program) -> Result<(), Error> {
        let colors: Vec<_> =
            self.scene.of(pass).iter().filter(|access| access.usage == Usage::ColorAttachment).collect();
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
                Numbers::Uint => output.scalar == Scalar::U32,
                Numbers::Sint => output.scalar == Scalar::I32,
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
    fn check_inputs(&self, pass: PlanPassId, program: &Program, buffers: &[VertexBuffer]) -> Result<(), Error> {
        for input in &program.interface.vertex_inputs {
            let mut attributes = buffers.iter().flat_map(|buffer| &buffer.attributes);
            let Some((_, format, _)) = attributes.find(|(location, ..)| *location == input.location) else {
                let says = format!(
                    "has no vertex attribute for input {} (\"{}\") of shader \"{}\"",
                    input.location, input.name, program.name
                );
                return self.refuse(pass, says, "give a vertex buffer with an attribute at that location");
            };
            let fits = match format.numbers() {
                Numbers::Uint => input.scalar == Scalar::U32,
                Numbers::Sint => input.scalar == Scalar::I32,
                Numbers::Depth | Numbers::Block => false,
                _ => matches!(input.scalar, Scalar::F32 | Scalar::F16),
            };
            if !fits {
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
    fn in_buffer(
        &self,
        pass: PlanPassId,
        buffer: ResourceId,
        usage: Usage,
        offset: u64,
        length: u64,
        how: &str,
    ) -> Result<(), Error> {
        let access = self.access(pass, buffer, &[usage], how)?;
        let [first, end] = access.region.range;
        let past = offset.checked_add(length);
        if !offset.is_multiple_of(4) || offset < first || past.is_none_or(|past| past > end) {
            let name = self.plan.resource_name(buffer);
            let says = format!("{how} bytes {offset}..{} of \"{name}\", and declares {first}..{end}", offset + length);
            return self.refuse(pass, says, "stay within the declared range, at a multiple of 4");
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "everything that a packet is made of")]
    fn packet(
        &self,
        pass: PlanPassId,
        program: &Program,
        bound: &[Bound],
        push: &[u8],
        pipeline: vk::Pipeline,
        what: Action,
        out: &mut Packets,
    ) -> Result<(), Error> {
        let layouts = self.shared.layouts(program)?;
        let wanted = program.interface.push.as_ref().map_or(0, |push| push.size as usize);
        if push.len() != wanted {
            let says = format!("pushes {} bytes, and shader \"{}\" reads {wanted}", push.len(), program.name);
            return self.refuse(pass, says, "push data of the block's layout");
        }
        if wanted > self.shared.limits.max_push_constants_size as usize {
            let says =
                format!("pushes {wanted} bytes, and the device takes {}", self.shared.limits.max_push_constants_size);
            return self.refuse(pass, says, "put the data into a uniform block");
        }
        let sets = out.sets.len();
        for (group, &layout) in (0u32..).zip(&layouts.sets) {
            let writes = out.writes.len();
            for (at, binding) in program.interface.bindings.iter().enumerate().filter(|(_, one)| one.group == group) {
                for element in 0..binding.count {
                    let mut given = bound.iter().filter(|one| one.binding as usize == at && one.element == element);
                    let (Some(one), None) = (given.next(), given.next()) else {
                        let says =
                            format!("does not bind \"{}\" of shader \"{}\" exactly once", binding.name, program.name);
                        return self.refuse(pass, says, "bind every variable of the shader");
                    };
                    let what = self.descriptor(pass, program, binding, &one.what, out)?;
                    let kind = descriptor_type(binding.kind);
                    out.writes.push(Write { pass, binding: binding.binding, element, kind, what });
                }
            }
            out.sets.push(Set { layout, writes: Span::new(writes, out.writes.len()) });
        }
        let start = out.push.len();
        out.push.extend_from_slice(push);
        out.packets.push(Packet {
            pipeline,
            layout: layouts.pipeline,
            push_stages: layouts.push,
            sets: Span::new(sets, out.sets.len()),
            push: Span::new(start, out.push.len()),
            what,
        });
        Ok(())
    }

    fn descriptor(
        &self,
        pass: PlanPassId,
        program: &Program,
        binding: &Binding,
        what: &What,
        out: &mut Packets,
    ) -> Result<Descriptor, Error> {
        let mismatch = |given: &str| {
            let says = format!("binds {given} to \"{}\" of shader \"{}\"", binding.name, program.name);
            self.refuse(pass, says, &format!("the shader wants {}", wanted(binding.kind)))
        };
        match (what, binding.kind) {
            (What::Sampler(sampler), BindingKind::Sampler { comparison }) => {
                if comparison != sampler.compare.is_some() {
                    return mismatch(if comparison {
                        "a sampler that does not compare"
                    } else {
                        "a comparing sampler"
                    });
                }
                Ok(Descriptor::Sampler(self.shared.sampler(sampler)?))
            }
            (What::Data(bytes), BindingKind::Uniform) => {
                let size = binding.ty.as_ref().map_or(0, |ty| ty.size() as usize);
                if bytes.len() != size {
                    return mismatch(&format!("{} bytes", bytes.len()));
                }
                let align = self.shared.limits.min_uniform_buffer_offset_alignment.max(16) as usize;
                let start = out.data.len().next_multiple_of(align);
                out.data.resize(start, 0);
                out.data.extend_from_slice(bytes);
                let range = [start as u64, out.data.len() as u64];
                out.blocks.push((pass, binding.binding | binding.group << 16, range));
                Ok(Descriptor::Data(range))
            }
            (What::Resource(view), BindingKind::Uniform | BindingKind::Storage) => {
                self.buffer_descriptor(pass, program, binding, view)
            }
            (
                What::Resource(view),
                BindingKind::Sampled { .. } | BindingKind::Image { .. } | BindingKind::InputAttachment { .. },
            ) => {
                let (resource, key, layout) = self.image_view(pass, program, binding, view)?;
                Ok(Descriptor::Image(resource, key, layout))
            }
            (What::Combined(view, sampler), BindingKind::Combined { .. }) => {
                let (resource, key, layout) = self.image_view(pass, program, binding, view)?;
                Ok(Descriptor::Combined(resource, key, layout, self.shared.sampler(sampler)?))
            }
            (What::Resource(view), BindingKind::Combined { .. }) => {
                let (resource, key, layout) = self.image_view(pass, program, binding, view)?;
                Ok(Descriptor::Combined(resource, key, layout, self.shared.sampler(&Sampler::default())?))
            }
            (What::Sampler(_), _) => mismatch("a sampler"),
            (What::Data(_), _) => mismatch("plain data"),
            (What::Resource(_) | What::Combined(..), _) => mismatch("a resource"),
        }
    }

    /// The access behind a binding, with stages that cover the shader's.
    fn bound_access(
        &self,
        pass: PlanPassId,
        program: &Program,
        binding: &Binding,
        resource: ResourceId,
    ) -> Result<&PassAccess, Error> {
        let usage = binding.usage().unwrap_or(Usage::Sampled);
        let allowed: &[Usage] = match usage {
            Usage::StorageRead => &[Usage::StorageRead, Usage::StorageReadWrite],
            Usage::StorageWrite => &[Usage::StorageWrite, Usage::StorageReadWrite],
            Usage::StorageReadWrite => &[Usage::StorageReadWrite],
            Usage::Uniform => &[Usage::Uniform],
            Usage::InputAttachment => &[Usage::InputAttachment],
            _ => &[Usage::Sampled],
        };
        let how =
            format!("binds to \"{}\" of shader \"{}\" as {} the resource", binding.name, program.name, usage.name());
        let access = self.access(pass, resource, allowed, &how)?;
        let declared = self.stages(pass, access);
        if !declared.contains(binding.stages) && binding.kind != (BindingKind::InputAttachment { index: 0 }) {
            let names = |stages: Stages| stages.names().collect::<Vec<_>>().join(", ");
            let says = format!(
                "uses \"{}\" in stages {}, and declares {}",
                self.plan.resource_name(resource),
                names(binding.stages),
                names(declared)
            );
            return self.refuse(pass, says, "declare the stages in which the shader uses it");
        }
        Ok(access)
    }

    fn buffer_descriptor(
        &self,
        pass: PlanPassId,
        program: &Program,
        binding: &Binding,
        view: &View,
    ) -> Result<Descriptor, Error> {
        let resource = self.planned(pass, view.resource)?;
        let name = self.plan.resource_name(resource);
        let PlanKind::Buffer { .. } = self.plan.resources[resource].kind else {
            let says = format!("binds image \"{name}\" to \"{}\" of shader \"{}\"", binding.name, program.name);
            return self.refuse(pass, says, &format!("the shader wants {}", wanted(binding.kind)));
        };
        let access = self.bound_access(pass, program, binding, resource)?;
        let declared = access.region.range;
        let [first, end] = view.range.unwrap_or(declared);
        let limits = &self.shared.limits;
        let (align, most) = match binding.kind {
            BindingKind::Uniform => (limits.min_uniform_buffer_offset_alignment, limits.max_uniform_buffer_range),
            _ => (limits.min_storage_buffer_offset_alignment, limits.max_storage_buffer_range),
        };
        let least = binding.ty.as_ref().map_or(0, |ty| u64::from(ty.size()));
        if first < declared[0] || end > declared[1] || first >= end {
            let says =
                format!("binds bytes {first}..{end} of \"{name}\", and declares {}..{}", declared[0], declared[1]);
            return self.refuse(pass, says, "stay within the declared range");
        }
        if first % align.max(1) != 0 {
            let says = format!("binds \"{name}\" from byte {first} on, and the device wants multiples of {align}");
            return self.refuse(pass, says, "move the data");
        }
        if end - first > u64::from(most) {
            let says = format!("binds {} bytes of \"{name}\", and the device allows {most}", end - first);
            return self.refuse(pass, says, "bind a smaller range");
        }
        if end - first < least {
            let says = format!(
                "binds {} bytes of \"{name}\" to \"{}\" of shader \"{}\", which wants {least}",
                end - first,
                binding.name,
                program.name
            );
            return self.refuse(pass, says, "use a larger buffer");
        }
        Ok(Descriptor::Buffer(resource, [first, end]))
    }

    fn image_view(
        &self,
        pass: PlanPassId,
        program: &Program,
        binding: &Binding,
        view: &View,
    ) -> Result<(ResourceId, ViewKey, Layout), Error> {
        let resource = self.planned(pass, view.resource)?;
        let name = self.plan.resource_name(resource);
        let refuse = |says: String, help: &str| self.refuse(pass, says, help);
        let PlanKind::Image { format, layers: all_layers, samples, volume, cube, .. } =
            self.plan.resources[resource].kind
        else {
            let says = format!("binds buffer \"{name}\" to \"{}\" of shader \"{}\"", binding.name, program.name);
            return refuse(says, &format!("the shader wants {}", wanted(binding.kind)));
        };
        let access = self.bound_access(pass, program, binding, resource)?;
        let (dimension, arrayed, multisampled, sample, storage) = match binding.kind {
            BindingKind::Sampled { dimension, arrayed, multisampled, sample }
            | BindingKind::Combined { dimension, arrayed, multisampled, sample } => {
                (dimension, arrayed, multisampled, sample, false)
            }
            BindingKind::Image { dimension, arrayed, sample, format: named } => {
                if let Some(named) = named.filter(|named| *named != format) {
                    let says = format!(
                        "binds \"{name}\" ({format}) to \"{}\" of shader \"{}\", which is {named}",
                        binding.name, program.name
                    );
                    return refuse(says, "use one format in both places");
                }
                (dimension, arrayed, false, sample, true)
            }
            _ => (Dimension::D2, false, samples > 1, kind_of(format), false),
        };
        let mut mips = view.mips.unwrap_or(access.region.mips);
        if storage && view.mips.is_none() {
            mips[1] = mips[0] + 1;
        }
        let mut layers = view.layers.unwrap_or(access.region.layers);
        if !arrayed && dimension != Dimension::Cube && view.layers.is_none() {
            layers[1] = layers[0] + 1;
        }
        let within = |part: [u32; 2], whole: [u32; 2]| part[0] >= whole[0] && part[1] <= whole[1] && part[0] < part[1];
        if !within(mips, access.region.mips) || !within(layers, access.region.layers) {
            let (m, l) = (access.region.mips, access.region.layers);
            let says = format!("binds mips {mips:?} and layers {layers:?} of \"{name}\", and declares {m:?} and {l:?}");
            return refuse(says, "stay within the declared range");
        }
        if storage && mips[1] - mips[0] != 1 {
            let says = format!("binds {} mips of \"{name}\" as a storage image", mips[1] - mips[0]);
            return refuse(says, "bind one mip level");
        }
        let is_3d = dimension == Dimension::D3;
        let fits = is_3d == volume
            && (dimension != Dimension::Cube || cube && (layers[1] - layers[0]).is_multiple_of(6))
            && dimension != Dimension::D1
            && multisampled == (samples > 1)
            && (arrayed || dimension == Dimension::Cube || layers[1] - layers[0] == 1);
        if !fits {
            let shape = if volume { "3D image".to_owned() } else { format!("2D image of {all_layers} layers") };
            let says = format!(
                "binds \"{name}\", a {shape}{} with {samples} samples, to \"{}\" of shader \"{}\"",
                if cube { ", a cube," } else { "" },
                binding.name,
                program.name
            );
            return refuse(says, &format!("the shader wants {}", wanted(binding.kind)));
        }
        let kind = kind_of(format);
        let reads_as = sample == kind || sample == SampleKind::Float && kind == SampleKind::Depth;
        if !reads_as {
            let says = format!(
                "binds \"{name}\" ({format}) to \"{}\" of shader \"{}\", which reads another kind of number",
                binding.name, program.name
            );
            return refuse(says, &format!("the shader wants {}", wanted(binding.kind)));
        }
        let mut aspects = if view.aspects.is_empty() { access.region.aspects } else { view.aspects };
        if aspects == Aspects::DEPTH | Aspects::STENCIL {
            // A sampled view has one aspect; integers read stencil.
            aspects = if sample == SampleKind::Uint { Aspects::STENCIL } else { Aspects::DEPTH };
        }
        let layout = self.layout(pass, resource, mips, layers);
        let key = ViewKey { kind: view_type(dimension, arrayed), format, aspects, mips, layers };
        Ok((resource, key, layout))
    }

    /// The layout in which a pass finds part of an image.
    fn layout(&self, pass: PlanPassId, resource: ResourceId, mips: [u32; 2], layers: [u32; 2]) -> Layout {
        let of = |one: &&rgraph_plan::plan::PassLayout| {
            self.scene.same(one.resource, resource)
                && one.mips[0] <= mips[0]
                && mips[0] < one.mips[1]
                && one.layers[0] <= layers[0]
                && layers[0] < one.layers[1]
        };
        let layouts = &self.plan.layouts[self.scene.layouts[pass].range()];
        layouts.iter().find(of).map_or(Layout::General, |one| one.layout)
    }

    fn transfer(&self, pass: PlanPassId, transfer: &Transfer, out: &mut Packets) -> Result<(), Error> {
        push_transfer(transfer::checked(self, pass, transfer)?, out);
        Ok(())
    }

    /// Adds what an inserted pass does.
    pub fn add_inserted(&self, pass: PlanPassId, out: &mut Packets) {
        let start = out.packets.len();
        if let Some(blit) = transfer::inserted(self, pass) {
            push_transfer(blit, out);
        }
        out.of_pass[pass] = Span::new(start, out.packets.len());
    }

    /// The resource of the plan, declared as source or destination of that kind of transfer.
    pub(crate) fn transfer_access(
        &self,
        pass: PlanPassId,
        resource: ResourceId,
        usage: Usage,
        kind: TransferKind,
    ) -> Result<&PassAccess, Error> {
        let planned = self.planned(pass, resource)?;
        let how = if usage == Usage::TransferSrc { "copies from" } else { "copies to" };
        let access = self.access(pass, planned, &[usage], how)?;
        let Some(declared) = access.declared.map(|at| &self.graph.accesses()[at as usize]) else { return Ok(access) };
        let said = declared.transfer.unwrap_or(TransferKind::Copy);
        let stages = if declared.stages.is_empty() { transfer_stages(said) } else { declared.stages };
        if !stages.contains(transfer_stages(kind)) {
            let says = format!(
                "has a {} of \"{}\", which it declares as a {}",
                kind.name(),
                self.plan.resource_name(planned),
                said.name()
            );
            return self.refuse(pass, says, &format!("declare transfer \"{}\" with the access", kind.name()));
        }
        Ok(access)
    }

    /// The layout in which a pass finds one level of an image.
    pub(crate) fn layout_of(&self, pass: PlanPassId, access: &PassAccess, mip: u32, layer: u32) -> Layout {
        self.layout(pass, access.resource, [mip, mip + 1], [layer, layer + 1])
    }

    /// An error of a pass.
    pub(crate) fn wrong<T>(&self, pass: PlanPassId, says: &str, help: &str) -> Result<T, Error> {
        self.refuse(pass, says, help)
    }
}

/// The stages of a kind of transfer; drivers and layers disagree on those of clears and fills, so all of them.
fn transfer_stages(kind: TransferKind) -> Stages {
    match kind {
        TransferKind::Copy => Stages::COPY,
        TransferKind::Blit => Stages::BLIT,
        TransferKind::Resolve => Stages::RESOLVE,
        TransferKind::Clear | TransferKind::Fill => Stages::ALL_TRANSFER,
    }
}

fn push_transfer(transfer: transfer::Ready, out: &mut Packets) {
    out.transfers.push(transfer);
    out.packets.push(Packet {
        pipeline: vk::Pipeline::null(),
        layout: vk::PipelineLayout::null(),
        push_stages: vk::ShaderStageFlags::empty(),
        sets: Span::default(),
        push: Span::default(),
        what: Action::Transfer(out.transfers.len() as u32 - 1),
    });
}

/// What a texel of a format reads as.
pub(crate) fn kind_of(format: Format) -> SampleKind {
    match format.numbers() {
        Numbers::Uint => SampleKind::Uint,
        Numbers::Sint => SampleKind::Int,
        Numbers::Depth if format == Format::Stencil8 => SampleKind::Uint,
        Numbers::Depth => SampleKind::Depth,
        _ => SampleKind::Float,
    }
}

fn wanted(kind: BindingKind) -> String {
    let shape = |dimension, arrayed, multisampled| {
        let name = match dimension {
            Dimension::D1 => "1d",
            Dimension::D2 => "2d",
            Dimension::D3 => "3d",
            Dimension::Cube => "cube",
        };
        let (many, array) = (if multisampled { "multisampled_" } else { "" }, if arrayed { "_array" } else { "" });
        format!("{many}{name}{array}")
    };
    let number = |sample| match sample {
        SampleKind::Float => "f32",
        SampleKind::Int => "i32",
        SampleKind::Uint => "u32",
        SampleKind::Depth => "depth",
    };
    match kind {
        BindingKind::Uniform => "a uniform buffer or plain data".to_owned(),
        BindingKind::Storage => "a buffer".to_owned(),
        BindingKind::Sampled { dimension, arrayed, multisampled, sample }
        | BindingKind::Combined { dimension, arrayed, multisampled, sample } => {
            format!("an image: texture_{}<{}>", shape(dimension, arrayed, multisampled), number(sample))
        }
        BindingKind::Image { dimension, arrayed, format, .. } => {
            let format = format.map_or("any", Format::name);
            format!("an image: texture_storage_{}<{format}>", shape(dimension, arrayed, false))
        }
        BindingKind::Sampler { comparison: true } => "a comparing sampler".to_owned(),
        BindingKind::Sampler { comparison: false } => "a sampler".to_owned(),
        BindingKind::InputAttachment { .. } => "an input attachment".to_owned(),
    }
}
