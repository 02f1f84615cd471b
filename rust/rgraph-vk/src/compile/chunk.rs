//! Command buffers of a plan: which commands each of them holds.

use rgraph_plan::id::{Id, IdSpan, IdVec, Span};
use rgraph_plan::plan::{BatchId, Command, Plan, PlanPassId, QueueId};

use crate::compile::pass_table::{PassTable, used_by_batches};
use crate::device::queue::DeviceQueueId;
use crate::memory::state::EdgeId;

rgraph_plan::id! {
    /// A chunk of a compiled graph.
    pub(crate) struct ChunkId;
}

/// What the runtime adds to a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchInfo {
    /// Device queue; `None`: the host.
    pub queue: Option<DeviceQueueId>,
    /// Edges of the plan that are entered before it.
    pub entries: Vec<EdgeId>,
    /// Chunks that it is recorded in.
    pub chunks: IdSpan<ChunkId>,
}

/// Commands that are recorded in one command buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub batch: BatchId,
    pub commands: Span,
    /// Whether a function says steps or records commands of its passes each time.
    pub recorded: bool,
}

/// Passes from which on a chunk ends at the next place where it may: fewer are recorded sooner than threads wake up.
const CHUNK_PASSES: usize = 2048;

/// Passes that are recorded in each run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again<'a> {
    pub passes: &'a [PlanPassId],
    /// Whether each has a chunk of its own, since functions that record commands do so on several threads.
    pub apart: bool,
}

/// Batches with the edges that are entered before them, and the chunks that they are recorded in. Passes whose steps or
/// commands a function makes each time have chunks without others, so that the others stay recorded.
pub(crate) fn split(
    plan: &Plan,
    table: &PassTable,
    queues: &IdVec<QueueId, DeviceQueueId>,
    again: Again<'_>,
) -> (IdVec<BatchId, BatchInfo>, IdVec<ChunkId, Chunk>) {
    let mut is_recorded = IdVec::filled(false, plan.passes.len());
    again.passes.iter().for_each(|pass| is_recorded[*pass] = true);
    let mut batches: IdVec<BatchId, BatchInfo> = IdVec::new();
    let mut chunks: Vec<Chunk> = Vec::new();
    for (id, batch) in plan.batches.iter_ids() {
        let first = chunks.len();
        let queue = batch.queue.map(|queue| queues[queue]);
        if queue.is_some() {
            let mut start = batch.commands.start;
            // Passes of the open chunk; where the pass or render pass that is looked at begins, and whether it is
            // recorded.
            let (mut passes, mut begin, mut recorded) = (0, None, false);
            for (command, at) in plan.commands[batch.commands.range()].iter().zip(start..) {
                match command {
                    Command::BeginRendering { .. } => begin = Some(at),
                    Command::Pass { pass, .. } => {
                        (passes, recorded) = (passes + 1, recorded | is_recorded[*pass]);
                        if begin.is_some() {
                            continue;
                        }
                    }
                    Command::EndRendering => {}
                    _ => continue,
                }
                if matches!(command, Command::BeginRendering { .. }) {
                    continue;
                }
                let (segment, end) = (begin.take().unwrap_or(at), at + 1);
                if std::mem::take(&mut recorded) {
                    let alone = |span: &Span| {
                        !plan.commands[span.range()].iter().any(|command| matches!(command, Command::Pass { .. }))
                    };
                    let before = Span { start, end: segment };
                    match chunks[first..].last_mut() {
                        // Only barriers between two that are recorded.
                        Some(last) if last.recorded && alone(&before) && !again.apart => last.commands.end = end,
                        _ => {
                            if start < segment {
                                chunks.push(Chunk { batch: id, commands: before, recorded: false });
                            }
                            chunks.push(Chunk { batch: id, commands: Span { start: segment, end }, recorded: true });
                        }
                    }
                    (start, passes) = (end, 0);
                } else if passes >= CHUNK_PASSES {
                    chunks.push(Chunk { batch: id, commands: Span { start, end }, recorded: false });
                    (start, passes) = (end, 0);
                }
            }
            if start < batch.commands.end {
                chunks.push(Chunk { batch: id, commands: Span { start, end: batch.commands.end }, recorded: false });
            }
        }
        batches.push(BatchInfo { queue, entries: Vec::new(), chunks: IdSpan::new(first, chunks.len()) });
    }
    let used = used_by_batches(plan, table);
    for (edge, at) in plan.edges.iter().zip((0..).map(EdgeId::new)) {
        let memory = plan.memory_of(edge.resource);
        let first = plan
            .batches
            .iter_ids()
            .find(|(id, batch)| batch.queue == edge.entry.queue && used[id.index()].contains(&memory));
        if let Some((batch, _)) = first {
            batches[batch].entries.push(at);
        }
    }
    (batches, chunks.into_iter().collect())
}
