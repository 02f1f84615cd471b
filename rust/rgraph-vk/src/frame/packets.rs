//! Packets into a command buffer: those of one pass, and those of neighbours that the plan lets a run sort by key, then
//! by what they bind, so that each pipeline is bound once per key.

use std::collections::HashMap;

use ash::vk;
use rgraph_plan::id::{Id, Span};
use rgraph_plan::plan::{Command, PlanPassId};

use crate::compile::chunk::Chunk;
use crate::compile::packet::{Action, Drawn, Packet, Packets};
use crate::compile::rendering::{CommandId, Rendering};
use crate::compile::transfer;
use crate::frame::record::{Bound, Recorder};
use crate::frame::sets::Reads;

/// A packet and where it belongs.
struct Sorted<'a> {
    pass: PlanPassId,
    packets: &'a Packets,
    packet: &'a Packet,
    /// Whether a callback recorded it for this run.
    recorded: bool,
    /// Of its pipeline, in the order of first use: handles have another order in each process.
    pipeline: usize,
}

impl Recorder<'_> {
    /// Records the packets of a pass.
    pub(super) fn packets(
        &self,
        commands: vk::CommandBuffer,
        packets: &Packets,
        (pass, span): (PlanPassId, Span),
        recorded: bool,
        area: Option<[u32; 2]>,
        bound: &mut Bound,
    ) {
        for packet in &packets.packets[span.range()] {
            self.packet(commands, pass, (packets, packet, recorded), area, bound);
        }
    }

    fn packet(
        &self,
        commands: vk::CommandBuffer,
        pass: PlanPassId,
        (packets, packet, recorded): (&Packets, &Packet, bool),
        area: Option<[u32; 2]>,
        bound: &mut Bound,
    ) {
        let reads = Reads { compiled: self.compiled, recording: self.recording, pass };
        match &packet.what {
            Action::Transfer(at) => {
                let transfer = &packets.transfers[*at as usize];
                transfer::record(&self.compiled.shared.raw, commands, transfer, &reads);
            }
            Action::Dispatch(_) | Action::DispatchIndirect(..) => {
                self.bind(commands, packets, packet, recorded, vk::PipelineBindPoint::COMPUTE, bound);
                self.dispatch(commands, &packet.what, &reads);
            }
            Action::Build(at) => self.build(commands, &packets.builds[*at as usize], &reads),
            Action::Instances(at) => self.instances(commands, &packets.instances[*at as usize], &reads),
            Action::Trace(at) => {
                self.bind(commands, packets, packet, recorded, vk::PipelineBindPoint::RAY_TRACING_KHR, bound);
                self.trace(commands, &packets.traces[*at as usize]);
            }
            Action::Draw(at) => {
                let Drawn { viewport, .. } = &packets.draws[*at as usize];
                self.bind(commands, packets, packet, recorded, vk::PipelineBindPoint::GRAPHICS, bound);
                let own = viewport.zip(area);
                if let Some((viewport, area)) = own {
                    self.set_viewport(commands, viewport, area);
                }
                self.draw(commands, packets, &packets.draws[*at as usize], &reads);
                if let Some((_, area @ [width, height])) = own {
                    self.set_viewport(commands, [0.0, 0.0, width as f32, height as f32], area);
                }
            }
        }
    }

    /// Records the passes from `at` on that are sorted together, and returns their number; 0: record the pass alone.
    ///
    /// Passes with transfers, with commands of the caller's functions, or with clears and viewports of this run keep
    /// their places. So do all in runs whose passes are measured one by one, and in chaos runs, which look for passes
    /// that do not commute.
    pub(super) fn sorted(
        &self,
        commands: vk::CommandBuffer,
        chunk: &Chunk,
        (pass, at): (PlanPassId, CommandId),
        rendering: Option<&Rendering>,
        bound: &mut Bound,
    ) -> usize {
        let (compiled, recording) = (self.compiled, self.recording);
        let group = compiled.sorted[pass];
        let is_stamped = recording.times.as_ref().is_some_and(|times| times.stamps.around(at).is_some());
        let one_by_one = is_stamped || recording.statistics.is_some() || compiled.chaos.is_some();
        if group == 0 || one_by_one || rendering.is_some_and(|rendering| rendering.subpasses.is_some()) {
            return 0;
        }
        let next = compiled.plan.commands[at.index()..chunk.commands.end as usize].iter();
        let passes = next.map_while(|command| match command {
            Command::Pass { pass, .. } if compiled.sorted[*pass] == group && self.is_sortable(*pass) => Some(*pass),
            _ => None,
        });
        let (mut all, mut pipelines, mut count) = (Vec::new(), HashMap::new(), 0);
        for pass in passes {
            count += 1;
            if !recording.on[pass] {
                continue;
            }
            for (packets, recorded) in [(&compiled.packets, false), (&recording.recorded, true)] {
                let Some(span) = packets.of_pass.get(pass) else { continue };
                for packet in &packets.packets[span.range()] {
                    let new = pipelines.len();
                    let pipeline = *pipelines.entry(packet.pipeline).or_insert(new);
                    all.push(Sorted { pass, packets, packet, recorded, pipeline });
                }
            }
        }
        if count < 2 {
            return 0;
        }
        all.sort_by_key(|one| (one.packet.key, one.pipeline));
        let (labels, area) = (compiled.shared.labels.as_ref(), rendering.map(|open| open.area));
        for same in all.chunk_by(|a, b| a.pass == b.pass) {
            if let Some(labels) = labels {
                let label = vk::DebugUtilsLabelEXT::default().label_name(&compiled.labels[same[0].pass]);
                // SAFETY: the name lives as long as the graph.
                unsafe { labels.cmd_begin_debug_utils_label(commands, &label) };
            }
            for Sorted { pass, packets, packet, recorded, .. } in same {
                self.packet(commands, *pass, (packets, packet, *recorded), area, bound);
            }
            if let Some(labels) = labels {
                // SAFETY: begun above.
                unsafe { labels.cmd_end_debug_utils_label(commands) };
            }
        }
        count
    }

    /// Whether a pass has nothing but draws and dispatches, in the state that all share.
    fn is_sortable(&self, pass: PlanPassId) -> bool {
        let moves = |packets: &Packets| {
            let span = packets.of_pass.get(pass).copied().unwrap_or_default();
            let apart = |packet: &Packet| {
                !matches!(packet.what, Action::Dispatch(_) | Action::DispatchIndirect(..) | Action::Draw(_))
            };
            packets.packets[span.range()].iter().any(apart)
        };
        let is_raw = matches!(self.compiled.raw.get(pass), Some(Some(_)));
        let targets = self.what.targets;
        let is_own = targets.viewport(pass).is_some() || !targets.inside(pass).is_empty();
        !is_raw && !is_own && !moves(&self.compiled.packets) && !moves(&self.recording.recorded)
    }
}
