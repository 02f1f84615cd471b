//! Commands of a plan into command buffers: one walk over flat arrays, nothing looked up by name, nothing allocated.
//! Chunks are recorded by as many threads as there are, each into a pool of its own, where there are many commands or
//! functions of the caller's record some.

use std::sync::{Mutex, PoisonError};

use ash::vk;
#[cfg(feature = "parallel")]
use rayon::prelude::*;
use rgraph_plan::access::{Aspects, Layout, Load, Store};
use rgraph_plan::graph::Clear;
use rgraph_plan::id::{Id, IdVec, Span};
use rgraph_plan::plan::{Attachment, Barriers, Command, Plan, PlanKind, PlanPassId};
use rgraph_work::DrawCount;

use crate::chaos::poisoner::Poisoner;
use crate::chaos::spec::Chaos;
use crate::compile::chunk::{Chunk, ChunkId};
use crate::compile::compiled_graph::{CompiledGraph, Imports};
use crate::compile::packet::{Action, Drawn, Packet, Packets};
use crate::compile::rendering::{AttachmentId, CommandId, Rendering, RenderingId};
use crate::compile::subpass;
use crate::convert;
use crate::convert::attachment_layout;
use crate::device::inside::Chain;
use crate::device::queue::{DeviceQueueId, Queue};
use crate::error::{Called, Error};
use crate::frame::jobs;
use crate::frame::raw::{RawContext, RawUse, RawWork};
use crate::frame::recording::Recording;
use crate::frame::sets::Reads;
use crate::frame::targets::{Inside, RunTargets, clear_inside};
use crate::memory::onetime::command_pool;
use crate::memory::physical_resource::clear_color;

/// Commands from which on several threads record faster than one.
const PARALLEL_COMMANDS: usize = 4096;

/// What is recorded, of which run.
#[derive(Clone, Copy)]
pub(crate) struct RecordInputs<'a> {
    pub run: u64,
    pub imports: &'a Imports,
    pub targets: &'a RunTargets,
    /// All chunks, or those with passes whose steps or commands a function makes each time.
    pub all: bool,
}

/// Records chunks of a recording, whose old command buffers are not in use.
pub(crate) fn record(
    compiled: &CompiledGraph,
    recording: &mut Recording,
    push: &[u8],
    what: RecordInputs<'_>,
) -> Result<(), Error> {
    let shared = &compiled.shared;
    while recording.chunks.len() < compiled.chunks.len() {
        let chunk = &compiled.chunks[recording.chunks.next_id()];
        let queue = compiled.batches[chunk.batch].queue.unwrap_or(DeviceQueueId::FIRST);
        let made = command_pool(shared, shared.queues[queue].family)?;
        recording.chunks.push(made);
    }
    let chain = Chain::here();
    let recorder = Recorder { compiled, recording, push, what };
    let one = |(chunk, &(pool, commands)): (&Chunk, &(vk::CommandPool, vk::CommandBuffer))| {
        if !what.all && !chunk.recorded {
            return Ok(());
        }
        let _inside = chain.enter();
        // SAFETY: the context is idle, so none of the pool's buffers is in use; each thread has pools of its own.
        let reset = unsafe { shared.raw.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) };
        reset.called("vkResetCommandPool")?;
        recorder.chunk(chunk, commands)
    };
    let many = compiled.plan.commands.len() >= PARALLEL_COMMANDS || !compiled.raw.is_empty();
    let several = compiled.chunks.len() > 1 && many;
    let done = if let (true, Some(threads)) = (several, &shared.threads) {
        let failed: Mutex<Option<Error>> = Mutex::new(None);
        jobs::scoped(&**threads, compiled.chunks.len(), &|at| {
            let at = ChunkId::new(at);
            if let Err(error) = one((&compiled.chunks[at], &recording.chunks[at])) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    } else {
        let chunks = (compiled.chunks.as_slice(), recording.chunks.as_slice());
        if several { on_several_threads(chunks, one) } else { one_by_one(chunks, one) }
    };
    shared.noted(done)
}

/// Chunks, and where each is recorded.
type Chunks<'a> = (&'a [Chunk], &'a [(vk::CommandPool, vk::CommandBuffer)]);
/// One of them.
type ChunkAt<'a> = (&'a Chunk, &'a (vk::CommandPool, vk::CommandBuffer));

fn one_by_one((chunks, made): Chunks<'_>, one: impl Fn(ChunkAt<'_>) -> Result<(), Error>) -> Result<(), Error> {
    chunks.iter().zip(made).try_for_each(one)
}

#[cfg(feature = "parallel")]
fn on_several_threads(
    (chunks, made): Chunks<'_>,
    one: impl Fn(ChunkAt<'_>) -> Result<(), Error> + Send + Sync,
) -> Result<(), Error> {
    chunks.par_iter().zip(made).map(one).collect()
}

// Without rayon the caller's own thread records all.
#[cfg(not(feature = "parallel"))]
use one_by_one as on_several_threads;

pub(super) struct Recorder<'a> {
    pub(super) compiled: &'a CompiledGraph,
    pub(super) recording: &'a Recording,
    push: &'a [u8],
    pub(super) what: RecordInputs<'a>,
}

/// What is bound, so that equal packets in a row bind nothing twice.
#[derive(Default)]
pub(super) struct Bound {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    sets: Option<(bool, Span)>,
}

impl Recorder<'_> {
    fn chunk(&self, chunk: &Chunk, commands: vk::CommandBuffer) -> Result<(), Error> {
        let device = &self.compiled.shared.raw;
        let info = vk::CommandBufferBeginInfo::default();
        // SAFETY: the pool was just reset.
        unsafe { device.begin_command_buffer(commands, &info) }.called("vkBeginCommandBuffer")?;
        self.compiled.shared.edge(commands);
        let queue = self.compiled.batches[chunk.batch].queue.unwrap_or(DeviceQueueId::FIRST);
        let queue = &self.compiled.shared.queues[queue];
        let plan = &self.compiled.plan;
        let stamps = self.recording.times.as_ref().map(|times| &times.stamps);
        if chunk.commands.start == plan.batches[chunk.batch].commands.start {
            let begin = stamps.and_then(|stamps| stamps.begin_of(chunk.batch));
            self.stamp(commands, vk::PipelineStageFlags2::TOP_OF_PIPE, begin);
        }
        let mut bound = Bound::default();
        let mut rendering: Option<(&Rendering, usize)> = None;
        let mut skipped = false;
        // Passes that were recorded with the one before.
        let mut done = 0;
        for (command, at) in
            plan.commands[chunk.commands.range()].iter().zip(chunk.commands.range().map(CommandId::new))
        {
            if let Command::Barriers(_) | Command::WaitEvents(..) = command {
                let before = stamps.and_then(|stamps| stamps.before(at));
                self.stamp(commands, vk::PipelineStageFlags2::ALL_COMMANDS, before);
            }
            match command {
                Command::Barriers(_) if rendering.is_some_and(|(rendering, _)| rendering.subpasses.is_some()) => {
                    // The dependency is part of the render pass.
                }
                Command::Barriers(barriers) => match self.poisoner(queue, commands) {
                    None => self.barriers(commands, barriers),
                    Some((poisoner, _)) => poisoner.barriers(self.recording, barriers),
                },
                Command::BeginRendering { .. } => {
                    let Some(begun) = self.compiled.renderings.begun_at(at) else { continue };
                    let next = &self.compiled.renderings.passes[begun];
                    if let Some((poisoner, chaos)) = self.poisoner(queue, commands) {
                        poisoner.fill(self.recording, chaos, next.passes.iter());
                    }
                    skipped = next.passes.iter().all(|pass| !self.recording.on[*pass]);
                    if !skipped {
                        self.begin_rendering(commands, next, begun);
                        rendering = Some((next, 0));
                    }
                }
                Command::Pass { .. } if done > 0 => done -= 1,
                Command::Pass { pass, .. } => {
                    let open = rendering.map(|(open, _)| open);
                    done = if skipped { 0 } else { self.sorted(commands, chunk, (*pass, at), open, &mut bound) };
                    if done > 0 {
                        done -= 1;
                        continue;
                    }
                    if let Some((open, position)) = &mut rendering {
                        if open.subpasses.is_some() && *position > 0 {
                            subpass::next(device, commands);
                        }
                        *position += 1;
                    } else if let Some((poisoner, chaos)) = self.poisoner(queue, commands) {
                        poisoner.fill(self.recording, chaos, [pass].into_iter());
                    }
                    if !skipped && self.recording.on[*pass] {
                        self.pass(commands, (*pass, at), queue, rendering.map(|(open, _)| open), &mut bound)?;
                    }
                }
                Command::EndRendering => {
                    skipped = false;
                    match rendering.take() {
                        Some((open, _)) if open.subpasses.is_some() => subpass::end(device, commands),
                        // SAFETY: dynamic rendering was begun in this command buffer.
                        Some(_) => unsafe { device.cmd_end_rendering(commands) },
                        None => {}
                    }
                }
                Command::SetEvent(event, barriers) => {
                    let info = self.dependency(barriers);
                    // SAFETY: the event is the recording's, reset before each submit.
                    unsafe { device.cmd_set_event2(commands, self.recording.events[event.index()], &info) };
                }
                Command::WaitEvents(event, barriers) => {
                    let info = self.dependency(barriers);
                    // SAFETY: set earlier on the same queue, with the same dependency.
                    unsafe { device.cmd_wait_events2(commands, &[self.recording.events[event.index()]], &[info]) };
                }
            }
        }
        if chunk.commands.end == plan.batches[chunk.batch].commands.end {
            let end = stamps.and_then(|stamps| stamps.end_of(chunk.batch));
            self.stamp(commands, vk::PipelineStageFlags2::ALL_COMMANDS, end);
        }
        self.compiled.shared.edge(commands);
        // SAFETY: recording was begun above.
        unsafe { device.end_command_buffer(commands) }.called("vkEndCommandBuffer")
    }

    /// Writes a timestamp, if there is a query for it.
    fn stamp(&self, commands: vk::CommandBuffer, stage: vk::PipelineStageFlags2, query: Option<u32>) {
        if let (Some(times), Some(query)) = (&self.recording.times, query) {
            // SAFETY: the queue has timestamps; the queries were reset by the host before the submit.
            unsafe { self.compiled.shared.raw.cmd_write_timestamp2(commands, stage, times.pool, query) };
        }
    }

    /// What a chaos run clears an attachment with whose old contents are discarded.
    fn poison_of(
        &self,
        attachment: &Attachment,
        (load, store): (Load, Store),
        layout: Layout,
    ) -> Option<vk::ClearValue> {
        let chaos = self.compiled.chaos.as_deref()?;
        let written = matches!(layout, Layout::ColorAttachment | Layout::DepthStencilAttachment | Layout::General);
        let wanted = load == Load::Discard && store == Store::Store && written;
        wanted.then(|| chaos.spec.poison.attachment(&self.compiled.plan, attachment.resource)).flatten()
    }

    /// Records poison, in chaos runs.
    fn poisoner<'a>(&'a self, queue: &'a Queue, commands: vk::CommandBuffer) -> Option<(Poisoner<'a>, &'a Chaos)> {
        let chaos = self.compiled.chaos.as_deref()?;
        let (compiled, poison) = (self.compiled, &chaos.spec.poison);
        Some((Poisoner { compiled, poison, queue, commands }, chaos))
    }

    fn dependency(&self, barriers: &Barriers) -> vk::DependencyInfo<'_> {
        vk::DependencyInfo::default()
            .memory_barriers(&self.recording.memory[barriers.memory.range()])
            .buffer_memory_barriers(&self.recording.buffers[barriers.buffers.range()])
            .image_memory_barriers(&self.recording.images[barriers.images.range()])
    }

    fn barriers(&self, commands: vk::CommandBuffer, barriers: &Barriers) {
        let info = self.dependency(barriers);
        // SAFETY: outside of a render pass; the barriers are the plan's: baked here, or checked by `foreign`.
        unsafe { self.compiled.shared.raw.cmd_pipeline_barrier2(commands, &info) };
    }

    fn begin_rendering(&self, commands: vk::CommandBuffer, rendering: &Rendering, id: RenderingId) {
        let (device, plan) = (&self.compiled.shared.raw, &self.compiled.plan);
        let attachments = &plan.attachments[rendering.attachments.range()];
        let views = self.recording.views(rendering);
        let [width, height] = rendering.area;
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
        if let Some(pass) = rendering.subpasses {
            let clear = |(attachment, at)| match self.what.targets.begun(rendering.in_plan(at)) {
                Some(begun) => value_of(plan, attachment, Some(begun.value)),
                None => clear_value(plan, attachment),
            };
            let clears: Vec<_> = attachments.iter().zip(rendering.layouts.ids()).map(clear).collect();
            subpass::begin(device, commands, pass, self.recording.framebuffers[id], area, &clears);
        } else {
            let info = |at: AttachmentId, stencil: bool| {
                let (attachment, view) = (&attachments[at.index()], views[at.index()]);
                let (load, store) = match attachment.stencil.filter(|_| stencil) {
                    Some(stencil) => stencil,
                    None => (attachment.load, attachment.store),
                };
                let kind = plan.resources[attachment.resource].kind;
                let poison = self.poison_of(attachment, (load, store), rendering.layouts[at][usize::from(stencil)]);
                let begun = self.what.targets.begun(rendering.in_plan(at));
                let aspect = if stencil { Aspects::STENCIL } else { Aspects::COLOR | Aspects::DEPTH };
                let clears = begun.is_some_and(|begun| begun.clears.intersects(aspect));
                let value = begun.map(|begun| value_of(plan, attachment, Some(begun.value)));
                let clear = poison.is_some() && !clears;
                let mut info = vk::RenderingAttachmentInfo::default()
                    .image_view(view.view)
                    .image_layout(attachment_layout(rendering.layouts[at][usize::from(stencil)], kind))
                    .load_op(if clear || clears { vk::AttachmentLoadOp::CLEAR } else { convert::load(load) })
                    .store_op(convert::store(store))
                    .clear_value(poison.filter(|_| clear).or(value).unwrap_or_else(|| clear_value(plan, attachment)));
                if let Some(resolve) = &rendering.resolves[at] {
                    info = info
                        .resolve_mode(resolve.mode)
                        .resolve_image_view(view.resolve)
                        .resolve_image_layout(convert::layout(resolve.layout));
                }
                info
            };
            // Eight targets at most, so these live on the stack.
            let mut colors = [vk::RenderingAttachmentInfo::default(); 8];
            let count = rendering.colors.len().min(colors.len());
            for (color, &at) in colors.iter_mut().zip(&rendering.colors) {
                *color = info(at, false);
            }
            let mut begin = vk::RenderingInfo::default()
                .render_area(area)
                .layer_count(rendering.layers)
                .color_attachments(&colors[..count]);
            let (mut depth, mut stencil) =
                (vk::RenderingAttachmentInfo::default(), vk::RenderingAttachmentInfo::default());
            if let Some(at) = rendering.depth {
                let attached = attachments[at.index()].aspects;
                if attached.contains(Aspects::DEPTH) {
                    depth = info(at, false);
                    begin = begin.depth_attachment(&depth);
                }
                if attached.contains(Aspects::STENCIL) {
                    stencil = info(at, true);
                    begin = begin.stencil_attachment(&stencil);
                }
            }
            // SAFETY: views and layouts are the plan's; the formats fit the pipelines made for these targets.
            unsafe { device.cmd_begin_rendering(commands, &begin) };
            let _ = (&depth, &stencil);
        }
        self.set_viewport(commands, [0.0, 0.0, width as f32, height as f32], [width, height]);
    }

    /// Sets a viewport, and the scissor to what of it lies in the area that is rendered.
    pub(super) fn set_viewport(&self, commands: vk::CommandBuffer, [x, y, width, height]: [f32; 4], area: [u32; 2]) {
        let device = &self.compiled.shared.raw;
        let viewport = vk::Viewport { x, y, width, height, min_depth: 0.0, max_depth: 1.0 };
        let [left, right] = clipped([x, x + width], area[0]);
        let [top, bottom] = clipped([y, y + height], area[1]);
        let offset = vk::Offset2D { x: left as i32, y: top as i32 };
        let extent = vk::Extent2D { width: right - left, height: bottom - top };
        // SAFETY: the size was checked when the step was bound, or is an attachment's.
        unsafe { device.cmd_set_viewport(commands, 0, &[viewport]) };
        // SAFETY: as above.
        unsafe { device.cmd_set_scissor(commands, 0, &[vk::Rect2D { offset, extent }]) };
    }

    fn pass(
        &self,
        commands: vk::CommandBuffer,
        (pass, at): (PlanPassId, CommandId),
        queue: &Queue,
        rendering: Option<&Rendering>,
        bound: &mut Bound,
    ) -> Result<(), Error> {
        let shared = &self.compiled.shared;
        if let Some(labels) = &shared.labels {
            let label = vk::DebugUtilsLabelEXT::default().label_name(&self.compiled.labels[pass]);
            // SAFETY: the name lives as long as the graph.
            unsafe { labels.cmd_begin_debug_utils_label(commands, &label) };
        }
        let around = self.recording.times.as_ref().and_then(|times| times.stamps.around(at));
        self.stamp(commands, vk::PipelineStageFlags2::TOP_OF_PIPE, around.map(|[begin, _]| begin));
        let counts = self
            .recording
            .statistics
            .filter(|_| queue.capabilities.contains(rgraph_plan::profile::Capabilities::GRAPHICS));
        if let Some(pool) = counts {
            // SAFETY: the host reset the queries; begun and ended on one side of a render pass.
            unsafe { shared.raw.cmd_begin_query(commands, pool, pass.index() as u32, vk::QueryControlFlags::empty()) };
        }
        let viewport = self.what.targets.viewport(pass);
        if let Some(open) = rendering {
            let clear = |inside: &Inside| self.clear_attachment(inside);
            clear_inside(&shared.raw, commands, open, self.what.targets.inside(pass).iter().map(clear));
            if let Some(viewport) = viewport {
                self.set_viewport(commands, viewport, open.area);
            }
        }
        let own = &self.compiled.packets;
        // The viewport of the run is set, and draws leave it alone.
        let area = rendering.map(|open| open.area).filter(|_| viewport.is_none());
        self.packets(commands, own, (pass, own.of_pass[pass]), false, area, bound);
        if let Some(span) = self.recording.recorded.of_pass.get(pass) {
            self.packets(commands, &self.recording.recorded, (pass, *span), true, area, bound);
        }
        if let Some(Some(work)) = self.compiled.raw.get(pass) {
            self.raw(work.as_ref(), (pass, commands), queue, rendering)?;
            *bound = Bound::default();
        }
        if let (Some(_), Some(Rendering { area: area @ [width, height], .. })) = (viewport, rendering) {
            self.set_viewport(commands, [0.0, 0.0, *width as f32, *height as f32], *area);
        }
        if let Some(pool) = counts {
            // SAFETY: begun above.
            unsafe { shared.raw.cmd_end_query(commands, pool, pass.index() as u32) };
        }
        self.stamp(commands, vk::PipelineStageFlags2::ALL_COMMANDS, around.map(|[_, end]| end));
        if let Some(labels) = &shared.labels {
            // SAFETY: begun above.
            unsafe { labels.cmd_end_debug_utils_label(commands) };
        }
        Ok(())
    }

    /// The clear of an attachment before the draws of a pass.
    fn clear_attachment(&self, inside: &Inside) -> vk::ClearAttachment {
        let Inside { attachment, aspects, color, value } = *inside;
        let attachment = &self.compiled.plan.attachments[attachment.index()];
        vk::ClearAttachment {
            aspect_mask: convert::aspects(aspects),
            color_attachment: color,
            clear_value: value_of(&self.compiled.plan, attachment, Some(value)),
        }
    }

    /// Lets a function record a pass, in the device's name: it cannot wait for a run of the device.
    fn raw(
        &self,
        work: &dyn RawWork,
        (pass, commands): (PlanPassId, vk::CommandBuffer),
        queue: &Queue,
        rendering: Option<&Rendering>,
    ) -> Result<(), Error> {
        let (compiled, recording) = (self.compiled, self.recording);
        let RecordInputs { run, imports, .. } = self.what;
        let _inside = compiled.shared.enter();
        let mut uses: Vec<RawUse<'_>> = Vec::new();
        for access in compiled.table.of(pass) {
            let declared = access.resource;
            if !uses.iter().any(|one| one.declared == declared) {
                let resource = recording.resource_read(compiled, pass, declared);
                uses.push(RawUse { declared, resource, physical: compiled.physical(resource, run, imports) });
            }
        }
        let (binder, family) = (compiled.binder(), queue.family);
        let context = RawContext { binder, uses, run, pass, commands, family, rendering };
        work.record(&context).map_err(|error| match error.downcast::<Error>() {
            Ok(own) => *own,
            Err(error) => Error::Callback(error),
        })?;
        if let Some(Rendering { area: area @ [width, height], .. }) = rendering {
            self.set_viewport(commands, [0.0, 0.0, *width as f32, *height as f32], *area);
        }
        Ok(())
    }

    pub(super) fn bind(
        &self,
        commands: vk::CommandBuffer,
        packets: &Packets,
        packet: &Packet,
        recorded: bool,
        point: vk::PipelineBindPoint,
        bound: &mut Bound,
    ) {
        let device = &self.compiled.shared.raw;
        if bound.pipeline != packet.pipeline {
            // SAFETY: pipelines live as long as the device.
            unsafe { device.cmd_bind_pipeline(commands, point, packet.pipeline) };
            bound.pipeline = packet.pipeline;
        }
        if !packet.sets.is_empty() && (bound.layout != packet.layout || bound.sets != Some((recorded, packet.sets))) {
            let sets = self.recording.sets(recorded, packet.sets);
            // SAFETY: the sets are the recording's, of the layout's set layouts.
            unsafe { device.cmd_bind_descriptor_sets(commands, point, packet.layout, 0, sets, &[]) };
            (bound.layout, bound.sets) = (packet.layout, Some((recorded, packet.sets)));
        }
        if !packet.push.is_empty() {
            let data = if recorded { &packets.push[packet.push.range()] } else { &self.push[packet.push.range()] };
            // SAFETY: the length is the layout's range.
            unsafe { device.cmd_push_constants(commands, packet.layout, packet.push_stages, 0, data) };
        }
    }

    pub(super) fn dispatch(&self, commands: vk::CommandBuffer, what: &Action, reads: &Reads<'_>) {
        let device = &self.compiled.shared.raw;
        match *what {
            // SAFETY: a compute pipeline and its sets are bound; the counts are within the limits.
            Action::Dispatch([x, y, z]) => unsafe { device.cmd_dispatch(commands, x, y, z) },
            // SAFETY: as above; the buffer holds three counts there.
            Action::DispatchIndirect(buffer, offset) => unsafe {
                device.cmd_dispatch_indirect(commands, reads.of_buffer(buffer), offset);
            },
            _ => {}
        }
    }

    pub(super) fn draw(
        &self,
        commands: vk::CommandBuffer,
        packets: &Packets,
        Drawn { count, vertex, index, is_mesh, .. }: &Drawn,
        reads: &Reads<'_>,
    ) {
        let device = &self.compiled.shared.raw;
        for (&(buffer, offset), at) in packets.vertex[vertex.range()].iter().zip(0..) {
            let raw = [reads.of_buffer(buffer)];
            // SAFETY: the buffer has the usage, the offset lies in it.
            unsafe { device.cmd_bind_vertex_buffers(commands, at, &raw, &[offset]) };
        }
        if let Some(index) = index {
            let kind = if index.wide { vk::IndexType::UINT32 } else { vk::IndexType::UINT16 };
            // SAFETY: as above.
            unsafe { device.cmd_bind_index_buffer(commands, reads.of_buffer(index.buffer), index.offset, kind) };
        }
        match (*count, index.is_some()) {
            (DrawCount::Indirect { buffer, offset, draws, stride }, _) if *is_mesh => {
                if let Some(meshes) = &self.compiled.shared.meshes {
                    let buffer = reads.of_buffer(buffer);
                    // SAFETY: a pipeline with a mesh stage and all that it needs is bound; the counts lie in the
                    // buffer.
                    unsafe { meshes.cmd_draw_mesh_tasks_indirect(commands, buffer, offset, draws, stride) };
                }
            }
            (DrawCount::Mesh { groups: [x, y, z] }, _) => {
                if let Some(meshes) = &self.compiled.shared.meshes {
                    // SAFETY: a pipeline with a mesh stage and all that it needs is bound; there are few enough groups.
                    unsafe { meshes.cmd_draw_mesh_tasks(commands, x, y, z) };
                }
            }
            (DrawCount::Direct { vertices, instances, first_vertex, first_instance, .. }, false) => {
                // SAFETY: a raster pipeline and all that it needs is bound; robust access guards the buffers.
                unsafe { device.cmd_draw(commands, vertices, instances, first_vertex, first_instance) };
            }
            (DrawCount::Direct { vertices, instances, first_vertex, first_instance, vertex_offset }, true) => {
                // SAFETY: as above.
                unsafe {
                    device.cmd_draw_indexed(commands, vertices, instances, first_vertex, vertex_offset, first_instance);
                }
            }
            (DrawCount::Indirect { buffer, offset, draws, stride }, false) => {
                // SAFETY: as above; the parameters lie in the buffer.
                unsafe { device.cmd_draw_indirect(commands, reads.of_buffer(buffer), offset, draws, stride) };
            }
            (DrawCount::Indirect { buffer, offset, draws, stride }, true) => {
                // SAFETY: as above.
                unsafe { device.cmd_draw_indexed_indirect(commands, reads.of_buffer(buffer), offset, draws, stride) };
            }
        }
    }
}

/// The texels of one axis that a range meets, within the image.
fn clipped([first, end]: [f32; 2], most: u32) -> [u32; 2] {
    let first = (first.max(0.0).floor() as u32).min(most);
    [first, (end.max(0.0).ceil() as u32).clamp(first, most)]
}

/// The clear value of an attachment in the numbers of its format.
pub(crate) fn clear_value(plan: &Plan, attachment: &Attachment) -> vk::ClearValue {
    value_of(plan, attachment, attachment.clear)
}

fn value_of(plan: &Plan, attachment: &Attachment, clear: Option<Clear>) -> vk::ClearValue {
    let PlanKind::Image { format, .. } = plan.resources[attachment.resource].kind else {
        return vk::ClearValue::default();
    };
    match clear {
        Some(Clear::Depth(depth, stencil)) => vk::ClearValue {
            depth_stencil: vk::ClearDepthStencilValue { depth: depth as f32, stencil: stencil.unwrap_or(0) },
        },
        Some(Clear::Color(color)) => vk::ClearValue { color: clear_color(format, color) },
        None => vk::ClearValue::default(),
    }
}

/// The passes that run with the flags that are off.
pub(crate) fn passes_on(compiled: &CompiledGraph, off: &[bool]) -> IdVec<PlanPassId, bool> {
    let on = |flag: Option<rgraph_plan::graph::FlagId>| flag.is_none_or(|flag| !off[flag.index()]);
    let runs = |pass: PlanPassId| match compiled.chaos.as_deref() {
        None => true,
        Some(chaos) => compiled.table.pass_of[pass].is_none_or(|declared| !chaos.spec.idle.contains(&declared)),
    };
    compiled.plan.passes.iter_ids().map(|(pass, planned)| on(planned.flag) && runs(pass)).collect()
}
