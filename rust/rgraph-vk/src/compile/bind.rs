//! Steps of passes become packets: pipelines looked up, descriptors listed, everything that a step accesses compared
//! with what its pass declares. What is refused here would be a missing barrier later.

use std::fmt;
use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::{Aspects, Layout, Stages, Transfer as TransferKind, Usage};
use rgraph_plan::declared::{default_shader_stage, mip_size};
use rgraph_plan::graph::Graph;
use rgraph_plan::id::Span;
use rgraph_plan::plan::{Plan, PlanKind, PlanPassId};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::Program;

use crate::compile::keys::Targets;
use crate::compile::packet::{Action, Drawn, Packet, Packets, Set, Write};
use crate::compile::pass_table::{PassAccess, PassTable};
use crate::compile::pipeline::descriptor_type;
use crate::compile::pipelines::Layouts;
use crate::compile::rendering::Renderings;
use crate::compile::transfer;
use crate::device::Shared;
use crate::error::Error;
use crate::memory::state::Region;
use rgraph_work::infer::{has_mesh, indirect_bytes, writes_stencil};
use rgraph_work::{Bound, Dispatch, Draw, DrawCount, Groups, IndexBuffer, Step, Transfer, VertexBuffer};

/// What was found for the step before, which the next one of the pass mostly has too.
#[derive(Default)]
pub(super) struct Before<'a> {
    /// What the pass draws to.
    targets: Option<Targets>,
    /// The last draw and its pipeline.
    drawn: Option<(&'a Draw, vk::Pipeline)>,
    /// The key of the last draw or dispatch.
    key: u64,
    /// What was bound last.
    bound: Option<SetsOf<'a>>,
}

/// The sets of what is bound for a program.
struct SetsOf<'a> {
    program: &'a Arc<Program>,
    bound: &'a Arc<[Bound]>,
    layout: vk::PipelineLayout,
    push_stages: vk::ShaderStageFlags,
    sets: Span,
}

impl Before<'_> {
    /// The pipeline of the draw before, if this one has it too; then inputs and outputs fit as they did.
    fn pipeline(&self, draw: &Draw) -> Option<vk::Pipeline> {
        let (before, pipeline) = self.drawn?;
        let layout = |buffer: &VertexBuffer| (buffer.stride, buffer.per_instance);
        let pairs = || before.vertex_buffers.iter().zip(&draw.vertex_buffers);
        let same = Arc::ptr_eq(&before.program, &draw.program)
            && (Arc::ptr_eq(&before.state, &draw.state) || before.state == draw.state)
            && before.vertex_buffers.len() == draw.vertex_buffers.len()
            && pairs().all(|(one, two)| layout(one) == layout(two) && one.attributes == two.attributes);
        same.then_some(pipeline)
    }

    /// The sets of the step before, if this one binds the same.
    fn sets(&self, program: &Arc<Program>, bound: &Arc<[Bound]>) -> Option<&SetsOf<'_>> {
        let same = |before: &&SetsOf<'_>| {
            Arc::ptr_eq(before.program, program) && (Arc::ptr_eq(before.bound, bound) || before.bound == bound)
        };
        self.bound.as_ref().filter(same)
    }
}

/// Turns steps into packets.
pub(crate) struct Binder<'a> {
    pub shared: &'a Arc<Shared>,
    pub graph: &'a Graph,
    pub plan: &'a Plan,
    pub table: &'a PassTable,
    pub renderings: &'a Renderings,
}

impl Binder<'_> {
    /// Adds the steps of a pass: draws and dispatches sorted by their keys, transfers in their places.
    pub(crate) fn add(&self, pass: PlanPassId, steps: &[Step], out: &mut Packets) -> Result<(), Error> {
        let alike = |a: &Step, b: &Step| {
            matches!((a, b), (Step::Draw(_), Step::Draw(_)) | (Step::Dispatch(_), Step::Dispatch(_)))
        };
        let key = |step: &Step| match step {
            Step::Draw(draw) => draw.key,
            Step::Dispatch(dispatch) => dispatch.key,
            Step::Transfer(_) | Step::Build(_) | Step::Instances(_) | Step::Trace(_) => 0,
        };
        if steps.is_sorted_by(|a, b| !alike(a, b) || key(a) <= key(b)) {
            return self.add_in_order(pass, steps.iter(), out);
        }
        // Runs of draws and runs of dispatches are sorted, stably; nothing moves across a transfer. No barrier stands
        // between the dispatches of a pass, so none of them depends on another.
        let mut sorted: Vec<&Step> = steps.iter().collect();
        for run in sorted.chunk_by_mut(|a, b| alike(a, b)) {
            run.sort_by_key(|step| key(step));
        }
        self.add_in_order(pass, sorted.into_iter(), out)
    }

    fn add_in_order<'a>(
        &self,
        pass: PlanPassId,
        steps: impl Iterator<Item = &'a Step>,
        out: &mut Packets,
    ) -> Result<(), Error> {
        let start = out.packets.len();
        let mut before = Before::default();
        let mut steps = steps.peekable();
        while let Some(step) = steps.next() {
            let added = match step {
                Step::Dispatch(dispatch) => self.dispatch(pass, dispatch, &mut before, out),
                Step::Draw(draw) => {
                    // Neighbours that only go on with the next instances are one draw.
                    let mut count = draw.count;
                    while let Some(Step::Draw(next)) = steps.peek()
                        && let Some(both) = joined(draw, count, next)
                    {
                        count = both;
                        steps.next();
                    }
                    self.draw(pass, draw, count, &mut before, out)
                }
                Step::Transfer(transfer) => self.transfer(pass, transfer, out),
                Step::Build(build) => self.build(pass, build, out),
                Step::Instances(instances) => self.instances(pass, instances, out),
                Step::Trace(trace) => self.trace(pass, trace, &mut before, out),
            };
            added.map_err(|error| self.in_pass(pass, error))?;
        }
        out.of_pass[pass] = Span::new(start, out.packets.len());
        Ok(())
    }

    /// An error with its pass, and where that is declared.
    pub(super) fn in_pass(&self, pass: PlanPassId, error: Error) -> Error {
        let Error::Device(device) = error else { return error };
        let name = self.plan.pass_name(pass);
        let device = device.in_pass(name);
        match self.table.pass_of[pass].and_then(|declared| self.graph.pass_place(declared)) {
            Some(place) => device.note(format!("pass \"{name}\"  {place}")).into(),
            None => device.into(),
        }
    }

    pub(crate) fn refuse<T>(&self, pass: PlanPassId, message: impl AsRef<str>, help: &str) -> Result<T, Error> {
        let name = self.plan.pass_name(pass);
        Err(Error::work(name, format!("pass \"{name}\" {}", message.as_ref()), help))
    }

    pub(crate) fn planned(&self, pass: PlanPassId, resource: ResourceId) -> Result<ResourceId, Error> {
        match self.graph.resources().get(resource) {
            Some(_) => Ok(resource),
            None => self.refuse(pass, "uses a resource of another graph", "use this graph's handles"),
        }
    }

    /// The pass's access of that resource which allows a use, of several the one that `holds` what is used; else says
    /// what is missing.
    pub(crate) fn access(
        &self,
        pass: PlanPassId,
        resource: ResourceId,
        wanted: &[Usage],
        holds: impl Fn(&Region) -> bool,
        how: fmt::Arguments<'_>,
    ) -> Result<&PassAccess, Error> {
        let accesses = self.table.of(pass);
        let fits = |access: &&PassAccess| access.resource == resource && wanted.contains(&access.usage);
        let whole = accesses.iter().find(|access| fits(access) && holds(&access.region));
        match whole.or_else(|| accesses.iter().find(fits)) {
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

    pub(crate) fn stages(&self, pass: PlanPassId, access: &PassAccess) -> Stages {
        let declared = access.declared.map(|at| &self.graph.accesses()[at as usize]);
        let explicit = declared.map_or(Stages::empty(), |access| access.stages);
        if !explicit.is_empty() {
            return explicit;
        }
        let queue = self.table.pass_of[pass].map(|of| self.graph.passes()[of].queue);
        let raster = self.renderings.of_pass[pass].is_some();
        queue.map_or(Stages::empty(), |queue| default_shader_stage(queue, raster))
    }

    fn dispatch<'a>(
        &self,
        pass: PlanPassId,
        dispatch: &'a Dispatch,
        before: &mut Before<'a>,
        out: &mut Packets,
    ) -> Result<(), Error> {
        let Dispatch { program, bound, push, groups, key } = dispatch;
        if self.renderings.of_pass[pass].is_some() {
            return self.refuse(pass, "dispatches, but has attachments", "dispatch in a pass without attachments");
        }
        self.check_push(pass, program)?;
        let pipeline = self.shared.compute_pipeline(program)?;
        let what = match *groups {
            Groups::Fixed(groups) => Action::Dispatch(groups),
            Groups::Cover(resource, mip) => {
                let size = self.covered_texels(pass, resource, mip)?;
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
        before.key = *key;
        self.packet(pass, (program, bound, push), pipeline, what, before, out)
    }

    /// The texels of a mip of an image, layers in z, or the 32-bit words of a buffer.
    pub(super) fn covered_texels(&self, pass: PlanPassId, resource: ResourceId, mip: u32) -> Result<[u32; 3], Error> {
        Ok(match self.plan.resources[self.planned(pass, resource)?].kind {
            PlanKind::Image { size, layers, .. } => {
                let [x, y, z] = mip_size(size, mip);
                [x, y, z.max(layers)]
            }
            PlanKind::Buffer { size } => [u32::try_from(size.div_ceil(4)).unwrap_or(u32::MAX), 1, 1],
        })
    }

    fn draw<'a>(
        &self,
        pass: PlanPassId,
        draw: &'a Draw,
        count: DrawCount,
        before: &mut Before<'a>,
        out: &mut Packets,
    ) -> Result<(), Error> {
        let Draw { program, state, bound, push, vertex_buffers, index, viewport, .. } = draw;
        if before.targets.is_none() {
            before.targets = self.renderings.targets(self.plan, self.table, pass);
        }
        let Some(targets) = &before.targets else {
            return self.refuse(pass, "draws, but has no attachment", "declare a colour or depth attachment");
        };
        self.check_viewport(pass, *viewport)?;
        self.check_groups(pass, program, &count)?;
        let known = before.pipeline(draw);
        if known.is_none() {
            self.check_outputs(pass, program)?;
            self.check_inputs(pass, program, vertex_buffers)?;
        }
        let start = out.vertex.len();
        for buffer in vertex_buffers {
            let planned = self.planned(pass, buffer.buffer)?;
            let length = buffer.bytes_read(&count, index.is_some());
            self.in_buffer(pass, planned, Usage::Vertex, buffer.offset, length, "reads vertices from")?;
            out.vertex.push((planned, buffer.offset));
        }
        let vertex = Span::new(start, out.vertex.len());
        let index = match index {
            Some(index) => {
                let planned = self.planned(pass, index.buffer)?;
                // Robust access covers vertices, and not the indices themselves.
                let indices = match count {
                    DrawCount::Direct { vertices, first_vertex, .. } => u64::from(vertices) + u64::from(first_vertex),
                    DrawCount::Indirect { .. } | DrawCount::Mesh { .. } => 0,
                };
                let length = indices * if index.wide { 4 } else { 2 };
                self.in_buffer(pass, planned, Usage::Index, index.offset, length, "reads indices from")?;
                Some(IndexBuffer { buffer: planned, ..*index })
            }
            None => None,
        };
        let mut count = count;
        if let DrawCount::Indirect { buffer, offset, draws, stride } = &mut count {
            *buffer = self.planned(pass, *buffer)?;
            let one = indirect_bytes(program, index.is_some());
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
        if writes_stencil(state) && (targets.depth_tests - targets.depth_writes).contains(Aspects::STENCIL) {
            let says = "draws with a stencil test that writes, but it only tests stencil";
            return self.refuse(pass, says, "declare it with depth_write=True, or with that stencil test");
        }
        let pipeline = match known {
            Some(pipeline) => pipeline,
            None => {
                self.check_push(pass, program)?;
                self.shared.raster_pipeline(program, state, targets, vertex_buffers)?
            }
        };
        (before.drawn, before.key) = (Some((draw, pipeline)), draw.key);
        out.draws.push(Drawn { count, vertex, index, viewport: *viewport, is_mesh: has_mesh(program) });
        let what = Action::Draw(out.draws.len() as u32 - 1);
        self.packet(pass, (program, bound, push), pipeline, what, before, out)
    }

    /// Refuses more push data than the device takes, before its pipeline is made.
    pub(super) fn check_push(&self, pass: PlanPassId, program: &Program) -> Result<(), Error> {
        let wanted = program.interface.push.as_ref().map_or(0, |push| push.size);
        let most = self.shared.limits.max_push_constants_size;
        if wanted > most {
            let says = format!("pushes {wanted} bytes, and the device takes {most}");
            return self.refuse(pass, says, "put the data into a uniform block");
        }
        Ok(())
    }

    pub(super) fn packet<'a>(
        &self,
        pass: PlanPassId,
        (program, bound, push): (&'a Arc<Program>, &'a Arc<[Bound]>, &[u8]),
        pipeline: vk::Pipeline,
        what: Action,
        before: &mut Before<'a>,
        out: &mut Packets,
    ) -> Result<(), Error> {
        let wanted = program.interface.push.as_ref().map_or(0, |push| push.size as usize);
        if push.len() != wanted {
            let says = format!("pushes {} bytes, and shader \"{}\" reads {wanted}", push.len(), program.name);
            return self.refuse(pass, says, "push data of the block's layout");
        }
        let (layout, push_stages, sets) = match before.sets(program, bound) {
            Some(&SetsOf { layout, push_stages, sets, .. }) => (layout, push_stages, sets),
            None => {
                let layouts = self.shared.layouts(program)?;
                let sets = self.bind_sets(pass, program, bound, &layouts, out)?;
                let (layout, push_stages) = (layouts.pipeline, layouts.push);
                before.bound = Some(SetsOf { program, bound, layout, push_stages, sets });
                (layout, push_stages, sets)
            }
        };
        let start = out.push.len();
        out.push.extend_from_slice(push);
        let push = Span::new(start, out.push.len());
        out.packets.push(Packet { pipeline, layout, push_stages, sets, push, key: before.key, what });
        Ok(())
    }

    /// The descriptor sets of a program, each variable bound once.
    fn bind_sets(
        &self,
        pass: PlanPassId,
        program: &Program,
        bound: &[Bound],
        layouts: &Layouts,
        out: &mut Packets,
    ) -> Result<Span, Error> {
        let sets = out.sets.len();
        let place = |one: &&Bound| (one.binding, one.element);
        // Mostly they are in this order.
        let mut places: Vec<&Bound> = bound.iter().collect();
        places.sort_by_key(place);
        let once = |wanted: (u32, u32)| match &places[places.partition_point(|one| place(one) < wanted)..] {
            [one, rest @ ..] if place(one) == wanted && rest.first().is_none_or(|two| place(two) != wanted) => {
                Some(*one)
            }
            _ => None,
        };
        for (group, &layout) in (0u32..).zip(&layouts.sets) {
            let writes = out.writes.len();
            for (at, binding) in program.interface.bindings.iter().enumerate().filter(|(_, one)| one.group == group) {
                for element in 0..binding.count {
                    let Some(one) = once((at as u32, element)) else {
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
        Ok(Span::new(sets, out.sets.len()))
    }

    fn transfer(&self, pass: PlanPassId, transfer: &Transfer, out: &mut Packets) -> Result<(), Error> {
        push_transfer(transfer::checked(self, pass, transfer)?, out);
        Ok(())
    }

    /// Adds what an inserted pass does.
    pub(crate) fn add_inserted(&self, pass: PlanPassId, out: &mut Packets) {
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
        (usage, kind): (Usage, TransferKind),
        holds: impl Fn(&Region) -> bool,
    ) -> Result<&PassAccess, Error> {
        let planned = self.planned(pass, resource)?;
        let how = if usage == Usage::TransferSrc { "copies from" } else { "copies to" };
        let access = self.access(pass, planned, &[usage], holds, format_args!("{how}"))?;
        let Some(declared) = access.declared.map(|at| &self.graph.accesses()[at as usize]) else { return Ok(access) };
        let declared_kind = declared.transfer.unwrap_or(TransferKind::Copy);
        let stages = if declared.stages.is_empty() { transfer_stages(declared_kind) } else { declared.stages };
        if !stages.contains(transfer_stages(kind)) {
            let says = format!(
                "has a {} of \"{}\", which it declares as a {}",
                kind.name(),
                self.plan.resource_name(planned),
                declared_kind.name()
            );
            return self.refuse(pass, says, &format!("declare transfer \"{}\" with the access", kind.name()));
        }
        Ok(access)
    }

    /// The layout in which a pass finds one level of an image.
    pub(crate) fn layout_of(&self, pass: PlanPassId, access: &PassAccess, mip: u32, layer: u32) -> Layout {
        self.layout(pass, access.resource, [mip, mip + 1], [layer, layer + 1], access.region.aspects)
    }

    /// An error of a pass.
    pub(crate) fn wrong<T>(&self, pass: PlanPassId, says: &str, help: &str) -> Result<T, Error> {
        self.refuse(pass, says, help)
    }
}

/// The count of a draw and its neighbour together, where the neighbour is the same but for the instances that follow.
fn joined(draw: &Draw, count: DrawCount, next: &Draw) -> Option<DrawCount> {
    let DrawCount::Direct { vertices, instances, first_vertex, first_instance, vertex_offset } = count else {
        return None;
    };
    let DrawCount::Direct { instances: more, first_instance: from, .. } = next.count else { return None };
    let on = DrawCount::Direct { vertices, instances: more, first_vertex, first_instance: from, vertex_offset };
    // What differs most often comes first.
    if next.count != on || first_instance.checked_add(instances) != Some(from) || draw.push != next.push {
        return None;
    }
    let same = Arc::ptr_eq(&draw.program, &next.program)
        && draw.state == next.state
        && draw.bound == next.bound
        && draw.vertex_buffers == next.vertex_buffers
        && draw.index == next.index
        && draw.viewport == next.viewport;
    let instances = instances.checked_add(more)?;
    same.then_some(DrawCount::Direct { vertices, instances, first_vertex, first_instance, vertex_offset })
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
    out.plain(Action::Transfer(out.transfers.len() as u32 - 1));
}
