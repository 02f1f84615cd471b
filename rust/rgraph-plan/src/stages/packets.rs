//! Passes whose packets a run may sort together, so that equal pipelines and descriptors are bound once.
//!
//! Between two barrier calls, events or waits of a queue nothing orders dispatches, so they may run in any order. Draws
//! of one subpass are in rasterisation order; only passes that promise that their draws commute give it up. Source: The
//! Machinery, "Render Graphs" (packets of all passes, merged and sorted by key).

use super::describe::Input;
use crate::id::Span;
use crate::plan::{Command, Plan, PlanPassId};
use crate::stages::resolve::Origin;

/// Finds the groups of a plan whose commands are there: two or more passes that are neighbours in a batch. O(commands).
pub(crate) fn packets(input: Input<'_>, plan: &mut Plan) {
    plan.packets.clear();
    plan.packet_passes.clear();
    let context = input.context;
    let declared = |pass: PlanPassId| {
        let scheduled = context.schedule.passes.get(pass)?;
        match context.facts.passes[scheduled.pass].origin {
            Origin::Declared(pass) => Some(&context.graph.passes()[pass]),
            Origin::Mip { .. } | Origin::Blit { .. } => None,
        }
    };
    let Plan { batches, commands, passes, packets, packet_passes, .. } = plan;
    for batch in batches.iter().filter(|batch| batch.queue.is_some()) {
        crate::cancel::poll();
        let (mut start, mut rendering) = (packet_passes.len(), false);
        for command in &commands[batch.commands.range()] {
            let pass = match command {
                Command::Pass { pass, .. } => *pass,
                Command::BeginRendering { .. } | Command::EndRendering => {
                    rendering = matches!(command, Command::BeginRendering { .. });
                    close(&mut start, packets, packet_passes);
                    continue;
                }
                Command::Barriers(_) | Command::SetEvent(..) | Command::WaitEvents(..) => {
                    close(&mut start, packets, packet_passes);
                    continue;
                }
            };
            let commutes = declared(pass).is_some_and(|declared| !rendering || declared.unordered);
            let before = packet_passes[start..].last();
            let apart = before.is_some_and(|before| passes[*before].subpass != passes[pass].subpass);
            if !commutes || apart {
                close(&mut start, packets, packet_passes);
            }
            if commutes {
                packet_passes.push(pass);
            }
        }
        close(&mut start, packets, packet_passes);
    }
}

/// Ends the group that begins at `start`; a single pass is none.
fn close(start: &mut usize, packets: &mut Vec<Span>, passes: &mut Vec<PlanPassId>) {
    if passes.len() - *start < 2 {
        passes.truncate(*start);
    } else {
        packets.push(Span::new(*start, passes.len()));
    }
    *start = passes.len();
}
