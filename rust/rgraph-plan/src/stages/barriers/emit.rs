//! Writes the commands of every batch: barriers where the walk placed them, render passes with load and store
//! operations, passes with the layouts that they use, waits and signals.

use super::call::{About, Barrier};
use super::hazard::{HazardInputs, Hazards};
use super::layouts::Layouts;
use super::repeat::Repeats;
use crate::access::{Aspects, Load, Stages, Store, Usage};
use crate::graph::Clear;
use crate::id::{Id, IdSpan, IdVec, Span};
use crate::plan::{
    Attachment, Barriers, Batch, BatchId, BufferBarrier, Command, EventId, ImageBarrier, MemoryBarrier, PhysicalPassId,
    Plan, PlanKind, PlanPassId, QueueId, Wait,
};
use crate::profile::Capabilities;
use crate::resource::ResourceId;
use crate::stages::ids::{BarrierId, CallId, PhysicalId, VisitId, WaitId};
use crate::stages::order::batch::Batches;
use crate::stages::order::schedule::LaneId;
use crate::stages::resolve::{ResolvedAttachment, declared};
use crate::stages::sort::sort_by_id;

/// When a barrier is split into the setting of an event and a wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Split {
    #[default]
    Never,
    /// If the work between takes at least twice the cost of a barrier.
    Distance,
    /// If there is any work between.
    Always,
}

impl Split {
    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "never" => Self::Never,
            "distance" => Self::Distance,
            "always" => Self::Always,
            _ => return None,
        })
    }

    /// Names of all policies.
    pub const NAMES: [&str; 3] = ["never", "distance", "always"];
}

/// Memory that emission reuses.
#[derive(Default, Debug)]
pub(crate) struct Scratch {
    /// Barriers by call.
    of_call: IdVec<CallId, Span>,
    sorted: Vec<BarrierId>,
    /// Barriers that are split, by event.
    events: IdVec<EventId, Event>,
    /// For the current call: physical passes at which dependencies begin; true if an event pays there.
    worth: Vec<(PhysicalId, bool)>,
    /// By call: its events.
    events_of: IdVec<CallId, IdSpan<EventId>>,
    /// By physical pass: the first event that is set after it.
    set_after: IdVec<PhysicalId, Option<EventId>>,
    /// By position in the linear order: its first use.
    visits: IdVec<PlanPassId, IdSpan<VisitId>>,
    /// By batch: the value that it signals.
    value: IdVec<BatchId, Option<u32>>,
    /// By physical pass: its physical pass.
    physical: IdVec<PhysicalId, Option<PhysicalPassId>>,
    /// By attachment of the render pass: the aspects that its passes use.
    attached: Vec<Aspects>,
    layouts: Layouts,
}

/// Barriers of a call whose dependencies begin after one physical pass.
#[derive(Clone, Copy, Debug)]
struct Event {
    /// Range of the sorted barriers.
    barriers: Span,
    /// Another event that is set after the same physical pass.
    next: Option<EventId>,
}

/// The input of [`emit`].
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    /// Declaration, facts, schedule, read groups, clocks, batches.
    pub inputs: HazardInputs<'a>,
    /// The barriers and calls of the walk.
    pub hazards: &'a Hazards,
    /// Waits for the run before.
    pub repeats: &'a Repeats,
    /// Stages of the clocks' waits.
    pub wait_stages: &'a IdVec<WaitId, Stages>,
    /// When barriers become events.
    pub split: Split,
    /// Cost of a barrier call in µs.
    pub barrier_us: f64,
}

/// Writes batches, commands and barriers into `plan`, whose passes are there already. O(everything written).
pub(crate) fn emit(input: Input<'_>, scratch: &mut Scratch, plan: &mut Plan) {
    plan.batches.clear();
    plan.waits.clear();
    plan.commands.clear();
    plan.memory_barriers.clear();
    plan.buffer_barriers.clear();
    plan.image_barriers.clear();
    plan.attachments.clear();
    plan.layouts.clear();
    scratch.layouts.start(input.inputs.context);
    scratch.sort_barriers(input);
    scratch.number(input, plan);
    scratch.split_calls(input, plan);
    let batches = input.inputs.batches;
    for batch in batches.cuts.ids() {
        crate::cancel::poll();
        let (waits, commands) = (plan.waits.len(), plan.commands.len());
        scratch.write_waits(input, batch, plan);
        for &physical in &batches.physical_passes[batches.cuts[batch].physical_passes.range()] {
            scratch.write_physical(input, physical, plan);
        }
        for call in [input.hazards.at_end[batch], input.hazards.behind_end[batch]] {
            if let Some(call) = call
                && let Some(barriers) = scratch.barriers(input, scratch.of_call[call], plan)
            {
                plan.commands.push(Command::Barriers(barriers));
            }
        }
        let lane = batches.cuts[batch].queue;
        plan.batches.push(Batch {
            queue: queue(input, lane),
            waits: Span::new(waits, plan.waits.len()),
            commands: Span::new(commands, plan.commands.len()),
            signal: scratch.value[batch],
        });
    }
    let calls = |command: &&Command| matches!(command, Command::Barriers(_) | Command::SetEvent(..));
    plan.report.barriers = plan.commands.iter().filter(calls).count() as u32;
    plan.report.submits = plan.batches.iter().filter(|batch| batch.queue.is_some()).count() as u32;
}

fn queue(input: Input<'_>, lane: LaneId) -> Option<QueueId> {
    (lane != input.inputs.context.schedule.host()).then(|| QueueId::new(lane.index()))
}

/// True if there is as much work between two physical passes of a queue as the policy requires.
fn is_worth_an_event(input: Input<'_>, plan: &Plan, source: PhysicalId, physical: PhysicalId) -> bool {
    let schedule = input.inputs.context.schedule;
    let lane = schedule.physical_passes[physical].queue;
    let between = IdSpan::new(source.index() + 1, physical.index());
    let mut between = schedule.physical_passes.slice(between).iter().filter(|one| one.queue == lane);
    if input.split == Split::Always {
        return between.next().is_some();
    }
    let us = |at: PlanPassId| f64::from(plan.passes[at].why.duration_us);
    let mut left = 2.0 * input.barrier_us;
    between.any(|one| {
        left -= one.passes.ids().map(us).sum::<f64>();
        left <= 0.0
    })
}

impl Scratch {
    /// Sorts barriers by call, without those that wait for nothing.
    fn sort_barriers(&mut self, input: Input<'_>) {
        let calls = &input.hazards.calls;
        // Image and buffer barriers without a source still change a layout or an owner.
        let real = |at: &BarrierId| {
            let barrier = &calls.barriers[*at];
            barrier.about != About::Memory || !barrier.scope.src_stages.is_empty()
        };
        let barriers = calls.barriers.ids().filter(real).map(|at| (calls.barriers[at].call, at));
        sort_by_id(calls.calls.len(), barriers, &mut self.of_call, &mut self.sorted);
    }

    /// Numbers the first uses of scheduled passes, the values of signals and the render passes.
    fn number(&mut self, input: Input<'_>, plan: &mut Plan) {
        let context = input.inputs.context;
        self.visits.clear();
        let mut visit = 0;
        for at in context.schedule.passes.ids() {
            let end = visit + context.accesses(at).iter().map(|access| access.subresources.len()).sum::<usize>();
            self.visits.push(IdSpan::new(visit, end));
            visit = end;
        }
        let batches: &Batches = input.inputs.batches;
        self.value.refill(None, batches.cuts.len());
        for (value, cut) in self.value.iter_mut().zip(&batches.cuts) {
            *value = cut.signals.then_some(0);
        }
        // The next run waits for the first signal of the queue at or after the use; if there is none, for a signal of
        // the queue's last batch, by which all of the queue is done.
        for wait in &input.repeats.waits {
            let from = batches.batch_of(context.schedule.passes[wait.last].physical);
            let on_queue = |batch: &BatchId| batches.cuts[*batch].queue == wait.queue;
            let mut later = IdSpan::new(from.index(), batches.cuts.len()).ids().filter(on_queue);
            let signalled = later.clone().find(|&batch| self.value[batch].is_some());
            let batch = signalled.or_else(|| later.next_back()).expect("the batch of the use itself is one");
            self.value[batch] = Some(0);
        }
        let mut counts = [0u32; 33];
        for (value, cut) in self.value.iter_mut().zip(&batches.cuts) {
            if let Some(value) = value {
                counts[cut.queue.index()] += 1;
                *value = counts[cut.queue.index()];
            }
        }
        self.physical.clear();
        let mut next = 0;
        for physical in &context.schedule.physical_passes {
            crate::cancel::poll();
            let id = physical.raster.then(|| PhysicalPassId::new(next));
            next += usize::from(physical.raster);
            self.physical.push(id);
            for (subpass, at) in (0..).zip(physical.passes.ids()) {
                let pass = &mut plan.passes[at];
                pass.physical_pass = id;
                pass.subpass = if physical.subpasses { subpass } else { 0 };
            }
        }
    }

    /// Chooses the barriers that become events: those of a call whose dependencies begin after one physical pass, with
    /// work between. The other barriers of the call stay in `of_call`.
    fn split_calls(&mut self, input: Input<'_>, plan: &Plan) {
        let schedule = input.inputs.context.schedule;
        let calls = &input.hazards.calls;
        self.events.clear();
        self.events_of.refill(IdSpan::default(), calls.calls.len());
        self.set_after.refill(None, schedule.physical_passes.len());
        if input.split == Split::Never {
            return;
        }
        for (physical, &call) in input.hazards.before_physical.iter_ids() {
            crate::cancel::poll();
            let Some(call) = call else { continue };
            // Queues that only transfer have no events (Vulkan 1.3, `vkCmdSetEvent2`, "Supported Queue Types").
            let lane = queue(input, schedule.physical_passes[physical].queue);
            let capabilities = lane.map_or(Capabilities::empty(), |lane| plan.queues[lane].capabilities);
            if !capabilities.intersects(Capabilities::GRAPHICS | Capabilities::COMPUTE) {
                continue;
            }
            let all = self.of_call[call];
            let begins = |at: BarrierId| {
                let Barrier { source, scope, .. } = &calls.barriers[at];
                // The stages of an event must not include the host (Vulkan 1.3, `vkCmdSetEvent2`).
                let host = (scope.src_stages | scope.dst_stages).contains(Stages::HOST);
                source.physical.filter(|_| source.splits && !host)
            };
            self.worth.clear();
            for &at in &self.sorted[all.range()] {
                if let Some(source) = begins(at)
                    && self.worth.iter().all(|(known, _)| *known != source)
                {
                    self.worth.push((source, is_worth_an_event(input, plan, source, physical)));
                }
            }
            let worth = &self.worth;
            let group = |at: BarrierId| begins(at).filter(|source| worth.contains(&(*source, true)));
            // Barriers of events come first.
            self.sorted[all.range()].sort_unstable_by_key(|&at| (group(at).is_none(), group(at), at));
            let first = self.events.len();
            let mut start = all.start;
            while start < all.end
                && let Some(source) = group(self.sorted[start as usize])
            {
                let rest = &self.sorted[start as usize..all.end as usize];
                let end = start + rest.iter().take_while(|at| group(**at) == Some(source)).count() as u32;
                let next = self.set_after[source];
                self.set_after[source] = Some(self.events.push(Event { barriers: Span { start, end }, next }));
                start = end;
            }
            self.events_of[call] = IdSpan::new(first, self.events.len());
            self.of_call[call].start = start;
        }
    }

    fn write_waits(&mut self, input: Input<'_>, batch: BatchId, plan: &mut Plan) {
        let HazardInputs { context, clocks, batches, .. } = input.inputs;
        let start = plan.waits.len();
        let mut push = |wait: Wait| match plan.waits[start..]
            .iter_mut()
            .find(|known| known.queue == wait.queue && known.previous_run == wait.previous_run)
        {
            Some(known) => {
                known.value = known.value.max(wait.value);
                known.stages |= wait.stages;
            }
            None => plan.waits.push(wait),
        };
        let first = &context.schedule.physical_passes[batches.first_physical(batch)];
        for scheduled in first.passes.ids() {
            for at in clocks.of_scheduled[scheduled].ids() {
                let wait = clocks.waits[at];
                let source = clocks.scheduled_at(wait.queue, wait.position);
                let from = batches.batch_of(context.schedule.passes[source].physical);
                push(Wait {
                    queue: queue(input, wait.queue),
                    value: self.value[from].expect("a batch that is waited for signals"),
                    stages: input.wait_stages[at],
                    previous_run: false,
                });
            }
        }
        for wait in input.repeats.waits.iter().filter(|wait| wait.batch == batch) {
            let from = batches.batch_of(context.schedule.passes[wait.last].physical);
            let value = IdSpan::<BatchId>::new(from.index(), batches.cuts.len())
                .ids()
                .filter(|&b| batches.cuts[b].queue == wait.queue)
                .find_map(|b| self.value[b])
                .expect("a signal was provided for every wait");
            push(Wait { queue: queue(input, wait.queue), value, stages: wait.stages, previous_run: true });
        }
    }

    fn write_physical(&mut self, input: Input<'_>, physical: PhysicalId, plan: &mut Plan) {
        let context = input.inputs.context;
        let call = input.hazards.before_physical[physical];
        for event in call.map_or(IdSpan::default(), |call| self.events_of[call]).ids() {
            if let Some(barriers) = self.barriers(input, self.events[event].barriers, plan) {
                plan.commands.push(Command::WaitEvents(event, barriers));
            }
        }
        if let Some(call) = call
            && let Some(barriers) = self.barriers(input, self.of_call[call], plan)
        {
            plan.commands.push(Command::Barriers(barriers));
        }
        if let Some(physical_pass) = self.physical[physical] {
            let attachments = self.write_attachments(input, physical, plan);
            plan.commands.push(Command::BeginRendering { physical_pass, attachments });
        }
        for at in context.schedule.physical_passes[physical].passes.ids() {
            if let Some(call) = input.hazards.within[at]
                && let Some(barriers) = self.barriers(input, self.of_call[call], plan)
            {
                plan.commands.push(Command::Barriers(Barriers { by_region: true, ..barriers }));
            }
            let layouts = self.layouts.write(input.inputs, at, self.visits[at], plan);
            plan.commands.push(Command::Pass { pass: at, layouts });
        }
        if self.physical[physical].is_some() {
            plan.commands.push(Command::EndRendering);
        }
        let mut at = self.set_after[physical];
        while let Some(id) = at {
            let event = self.events[id];
            if let Some(barriers) = self.barriers(input, event.barriers, plan) {
                plan.commands.push(Command::SetEvent(id, barriers));
            }
            at = event.next;
        }
    }

    /// Writes some of the sorted barriers; `None` if there are none.
    fn barriers(&self, input: Input<'_>, barriers: Span, plan: &mut Plan) -> Option<Barriers> {
        let (memory, buffers, images) =
            (plan.memory_barriers.len(), plan.buffer_barriers.len(), plan.image_barriers.len());
        for &at in &self.sorted[barriers.range()] {
            let barrier = &input.hazards.calls.barriers[at];
            let (scope, families, why) = (barrier.scope, barrier.families, barrier.why);
            match barrier.about {
                About::Memory => plan.memory_barriers.push(MemoryBarrier { scope, why }),
                About::Buffer(resource, part) => {
                    plan.buffer_barriers.push(BufferBarrier { resource, range: part.bytes, scope, families, why });
                }
                About::Image(resource, part, old_layout, new_layout) => plan.image_barriers.push(ImageBarrier {
                    resource,
                    mips: part.mips,
                    layers: part.layers,
                    aspects: part.aspects,
                    scope,
                    old_layout,
                    new_layout,
                    families,
                    why,
                }),
            }
        }
        let barriers = Barriers {
            memory: Span::new(memory, plan.memory_barriers.len()),
            buffers: Span::new(buffers, plan.buffer_barriers.len()),
            images: Span::new(images, plan.image_barriers.len()),
            by_region: false,
        };
        let none = barriers.memory.is_empty() && barriers.buffers.is_empty() && barriers.images.is_empty();
        (!none).then_some(barriers)
    }

    /// Attachments of a render pass: loaded as its first pass declares, stored if a later pass needs the contents.
    fn write_attachments(&mut self, input: Input<'_>, physical: PhysicalId, plan: &mut Plan) -> Span {
        let context = input.inputs.context;
        let start = plan.attachments.len();
        self.attached.clear();
        for at in context.schedule.physical_passes[physical].passes.ids() {
            let pass = &context.facts.passes[context.schedule.passes[at].pass];
            let attachments = &context.facts.attachments[pass.attachments.range()];
            let resolve = |one: &&ResolvedAttachment| one.usage == Usage::ResolveAttachment;
            for attachment in attachments.iter().filter(|one| !resolve(one)) {
                self.write_attachment(input, at, *attachment, start, plan);
            }
            for one in attachments.iter().filter(resolve) {
                let Some(of) = resolved(input, attachments, one) else { continue };
                let of = |a: &&mut Attachment| context.facts.memory[a.resource] == of;
                if let Some(attachment) = plan.attachments[start..].iter_mut().find(of) {
                    attachment.resolve_to = Some(one.resource);
                }
            }
        }
        // A render pass with subpasses takes whole images (Vulkan 1.3, `VkSubpassDescription2`).
        let physical_passes = &context.schedule.physical_passes[physical];
        let reads_in_place = |at: PlanPassId| {
            let pass = &context.facts.passes[context.schedule.passes[at].pass];
            context.facts.attachments[pass.attachments.range()].iter().any(|one| one.usage == Usage::InputAttachment)
        };
        let subpasses = physical_passes.subpasses || physical_passes.passes.ids().any(reads_in_place);
        for attachment in plan.attachments[start..].iter_mut().filter(|_| subpasses) {
            attachment.aspects = context.shapes[attachment.resource].aspects;
        }
        Span::new(start, plan.attachments.len())
    }

    fn write_attachment(
        &mut self,
        input: Input<'_>,
        at: PlanPassId,
        one: ResolvedAttachment,
        start: usize,
        plan: &mut Plan,
    ) {
        let context = input.inputs.context;
        let details = context.graph.details_of(declared(context.graph, one.declared));
        let memory = context.facts.memory[one.resource];
        let input_only = one.usage == Usage::InputAttachment;
        let read_only = input_only || one.usage == Usage::DepthStencilRead;
        let aspects = context.shapes[one.resource].aspects;
        let stencil = aspects.contains(Aspects::STENCIL);
        let main = if aspects == Aspects::STENCIL { aspects } else { aspects - Aspects::STENCIL };
        // A pass may write one of depth and stencil and sample the other: that one is neither loaded nor stored.
        let explicit = declared(context.graph, one.declared).aspects;
        let attached = if explicit.is_empty() { aspects } else { explicit & aspects };
        let written = |of: Aspects| !read_only && (explicit.is_empty() || explicit.intersects(of));
        let store = |of: Aspects| match (written(of), self.is_kept(input, at, memory, &one, of)) {
            (false, _) => Store::Nothing,
            (true, true) => Store::Store,
            (true, false) => Store::Discard,
        };
        let stores = [store(main), if stencil { store(Aspects::STENCIL) } else { Store::Nothing }];
        let load = if written(main) { one.load } else { Load::Load };
        let stencil_load = if written(Aspects::STENCIL) { one.stencil_load } else { Load::Load };
        let default = if aspects.contains(Aspects::COLOR) { Clear::Color([0.0; 4]) } else { Clear::Depth(1.0, None) };
        let clears = load == Load::Clear || stencil && stencil_load == Load::Clear;
        let same =
            |a: &Attachment| context.facts.memory[a.resource] == memory && a.mip == one.mip && a.layers == one.layers;
        if let Some(position) = plan.attachments[start..].iter().position(same) {
            // Another pass of the same render pass has the attachment. The last pass that writes it determines the
            // store operation; the first pass that uses an aspect, its load operation.
            let known = &mut plan.attachments[start + position];
            let used = self.attached[position];
            let begins = |of: Aspects| written(of) && !used.intersects(of);
            if written(main) {
                known.store = stores[0];
            }
            if begins(main) {
                known.load = load;
            }
            if let Some((begin, end)) = known.stencil.as_mut().filter(|_| written(Aspects::STENCIL)) {
                *end = stores[1];
                if begins(Aspects::STENCIL) {
                    *begin = stencil_load;
                }
            }
            if begins(main) && load == Load::Clear || begins(Aspects::STENCIL) && stencil_load == Load::Clear {
                known.clear = details.clear.or(Some(default));
            }
            known.input &= input_only;
            self.attached[position] |= attached;
            known.aspects |= attached;
            return;
        }
        self.attached.push(attached);
        plan.attachments.push(Attachment {
            resource: one.resource,
            mip: one.mip,
            layers: one.layers,
            aspects: attached,
            load,
            store: stores[0],
            stencil: stencil.then_some((stencil_load, stores[1])),
            clear: clears.then(|| details.clear.unwrap_or(default)),
            resolve_to: None,
            input: input_only,
        });
    }

    /// True if the contents of an aspect of an attachment are needed after the render pass of the pass at `at`.
    fn is_kept(
        &self,
        input: Input<'_>,
        at: PlanPassId,
        memory: ResourceId,
        one: &ResolvedAttachment,
        aspects: Aspects,
    ) -> bool {
        let context = input.inputs.context;
        let physical = context.schedule.passes[at].physical;
        // `kept` is set at the last pass of the render pass that uses the subresource, so all of its passes are asked.
        context.schedule.physical_passes[physical].passes.ids().any(|scheduled| {
            let accesses = context.accesses(scheduled).iter();
            let used = accesses.flat_map(|access| access.subresources.ids().map(|one| (access.resource, one)));
            used.zip(input.hazards.kept.slice(self.visits[scheduled])).any(|((resource, subresource), &kept)| {
                let part = context.facts.subresources.get(subresource);
                let mip = part.mips[0] <= one.mip && one.mip < part.mips[1] && part.aspects.intersects(aspects);
                kept && context.facts.memory[resource] == memory && mip && part.layers[0] < one.layers[1]
            })
        })
    }
}

/// The memory of the attachment that `resolve` resolves: the one it names, or the only one of its pass that is
/// multisampled and of its format.
fn resolved(input: Input<'_>, of_pass: &[ResolvedAttachment], resolve: &ResolvedAttachment) -> Option<ResourceId> {
    let context = input.inputs.context;
    let named = context.graph.details_of(declared(context.graph, resolve.declared)).resolves;
    let format = |of: ResourceId| match context.shapes[of].kind {
        PlanKind::Image { format, samples, .. } => Some((format, samples > 1)),
        PlanKind::Buffer { .. } => None,
    };
    let wanted = (format(resolve.resource)?.0, true);
    let fits = |one: &&ResolvedAttachment| {
        !matches!(one.usage, Usage::ResolveAttachment | Usage::InputAttachment) && format(one.resource) == Some(wanted)
    };
    let source = named.or_else(|| of_pass.iter().find(fits).map(|one| one.resource))?;
    Some(context.facts.memory[source])
}
