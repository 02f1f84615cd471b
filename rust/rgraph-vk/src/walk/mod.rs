//! A plan that drives the recorder of an engine: its images, its command buffers, its submits, and no device of
//! rgraph's.
//!
//! A [`Walk`] says which images and buffers to make, and then goes through a frame: for each batch the waits, barriers,
//! render passes and passes in order, as Vulkan's own structs, and what is signalled. A [`Recorder`] of the engine's
//! does each of them.

mod barrier;
mod changes;
mod memory;
mod recorder;
mod rendering;

pub use memory::{Slot, WalkHeap, WalkMemory};
pub use recorder::{Recorder, WalkBatch, WalkBlit, WalkPass, WalkState, WalkWait};
pub use rendering::{WalkRendering, WalkResolve, WalkTarget, WalkView};

use std::collections::HashMap;
use std::sync::Arc;

use ash::vk;
use rgraph_plan::bake::{Asked, Measured, Options, Scratch, bake_measured};
use rgraph_plan::graph::Graph;
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::{BatchId, Command, Plan, PlanPassId, QueueId};
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::ResourceId;

use crate::compile::chunk::{Again, split};
use crate::compile::foreign;
use crate::compile::pass_table::{PassTable, side_by_side};
use crate::compile::rendering::{CommandId, Renderings};
use crate::device::queue::DeviceQueueId;
use crate::error::{Code, DeviceError, Error};
use crate::memory::state::{EdgeId, Tracked, released_edges};
use crate::memory::usages::Usages;
use crate::walk::changes::Changes;

/// What a driver requires of an image or buffer.
pub type Requirements<'a> = &'a dyn Fn(&WalkMemory) -> vk::MemoryRequirements;

/// A plan, ready to be followed frame by frame. See the module.
///
/// What lives from run to run is carried here: the state of each image and buffer, and which of a ring is whose.
#[derive(Debug)]
pub struct Walk {
    graph: Graph,
    plan: Arc<Plan>,
    table: PassTable,
    renderings: Renderings,
    memories: Vec<WalkMemory>,
    /// By the plan's memories.
    at: IdVec<ResourceId, Option<usize>>,
    /// Edges of the plan that are entered before a batch.
    entries: IdVec<BatchId, Vec<EdgeId>>,
    /// Values of a run: more than any batch signals.
    stride: u64,
    /// Changes of owner that shared resources do not need.
    changes: Changes,
    /// By edge of the plan: whether a barrier releases it to another queue family.
    released: IdVec<EdgeId, bool>,
    run: u64,
    states: HashMap<Slot, Tracked>,
}

/// The queue of the engine's device: a walk counts queues as its plan does.
fn device_queue(planned: QueueId) -> DeviceQueueId {
    DeviceQueueId::new(planned.index())
}

impl Walk {
    /// Bakes a graph for the queues of a profile, with what the engine's driver requires of each image and buffer
    /// (`vkGetDeviceImageMemoryRequirements`); `frames` may be under way at once.
    ///
    /// # Errors
    /// What is wrong with the declaration; and as [`Walk::new`].
    pub fn bake(
        graph: &Graph,
        profile: &Profile,
        options: &Options,
        frames: usize,
        requirements: Requirements<'_>,
    ) -> Result<Self, Error> {
        let measure = |id: ResourceId, asked: &Asked| {
            let usages = Usages::of(asked.kind, asked.usages);
            let needs = requirements(&WalkMemory::wanted(graph.resource_name(id), asked.kind, usages));
            Some(Measured { bytes: needs.size, align: needs.alignment })
        };
        let plan = bake_measured(graph, profile, options, &measure, &mut Scratch::default())?;
        Self::checked(graph, Arc::new(plan), frames)
    }

    /// Walks a plan from any source, after the checker accepts it. Up to `frames` may be in flight.
    ///
    /// # Errors
    /// `RG-E504` with the checker's findings; RG-E102 for what only rgraph's own runtime records: fallbacks of
    /// conditional passes, input attachments, passes of the CPU that are the first to use what outlives a run.
    pub fn new(graph: &Graph, plan: Arc<Plan>, frames: usize) -> Result<Self, Error> {
        foreign::check(graph, &plan)?;
        Self::checked(graph, plan, frames)
    }

    fn checked(graph: &Graph, plan: Arc<Plan>, frames: usize) -> Result<Self, Error> {
        let refused = |what: &str, pass: &str| {
            let message = format!("{what} are recorded by rgraph's own runtime alone");
            let help = "run the graph with Device::compile, or declare it without them";
            let error = DeviceError::new(Code::Missing, message, help);
            Err(if pass.is_empty() { error } else { error.in_pass(pass) }.into())
        };
        let (plan, table) = side_by_side(graph, plan)?;
        if let Some(fallback) = graph.fallbacks().first() {
            return refused("fallbacks of conditional passes", graph.pass_name(fallback.pass));
        }
        let renderings = Renderings::new(graph, &plan, &table);
        if let Some(one) = renderings.passes.iter().find(|one| one.needs_subpasses(&plan, &table)) {
            return refused("input attachments", one.passes.first().map_or("", |pass| plan.pass_name(*pass)));
        }
        if let Some(edge) = plan.edges.iter().find(|edge| edge.entry.queue.is_none()) {
            let message = format!("passes of the CPU that begin with \"{}\"", plan.resource_name(edge.resource));
            return refused(&message, "");
        }
        let queues = plan.queues.ids().map(device_queue).collect();
        let (batches, _) = split(&plan, &table, &queues, Again { passes: &[], apart: false });
        let entries = batches.iter().map(|batch| batch.entries.clone()).collect();
        let memories = memory::of(graph, &plan, &table, frames.max(1));
        let mut at = IdVec::filled(None, plan.resources.len());
        memories.iter().enumerate().for_each(|(index, memory)| at[memory.memory] = Some(index));
        let stride = plan.batches.iter().filter_map(|batch| batch.signal).max().map_or(0, u64::from);
        let concurrent = |memory: ResourceId| at[memory].is_some_and(|at: usize| memories[at].concurrent);
        let changes = Changes::new(&plan, |resource| concurrent(plan.memory_of(resource)));
        let released = released_edges(&plan);
        Ok(Self {
            graph: graph.clone(),
            plan,
            table,
            renderings,
            at,
            memories,
            entries,
            stride,
            changes,
            released,
            run: 0,
            states: HashMap::new(),
        })
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Images and buffers that the engine makes, and those that it imports. All names of a memory are one of them.
    pub fn memories(&self) -> &[WalkMemory] {
        &self.memories
    }

    /// Arenas of memory that places of [`Walk::memories`] are in.
    pub fn heaps(&self) -> Vec<WalkHeap> {
        memory::heaps(&self.plan)
    }

    /// Runs that were recorded so far.
    pub fn run(&self) -> u64 {
        self.run
    }

    /// The image or buffer that a resource of the graph is in the run that comes.
    pub fn slot(&self, resource: ResourceId) -> Slot {
        self.slot_of(resource)
    }

    /// The same of a resource of the plan.
    pub(super) fn slot_of(&self, resource: ResourceId) -> Slot {
        let resource = &self.plan.resources[resource];
        let (memory, back) =
            resource.remembers.map_or((resource.memory, 0), |remembers| (remembers.of, u64::from(remembers.frames)));
        let count = self.at[memory].map_or(1, |at| self.memories[at].count) as u64;
        let index = ((self.run % count + count - back % count) % count) as usize;
        Slot { memory, index }
    }

    /// Passes that are off, and those that a recorder has to do.
    fn passes_on(&self, off: &[&str]) -> Result<IdVec<PlanPassId, bool>, Error> {
        let flags = self.graph.flags();
        if let Some(unknown) = off.iter().find(|name| !flags.iter().any(|flag| flag == *name)) {
            let message = format!("no pass is switched by the flag \"{unknown}\"");
            return Err(Error::input(unknown, message, "name a flag of the graph"));
        }
        let on = |flag: &Option<rgraph_plan::graph::FlagId>| flag.is_none_or(|flag| !off.contains(&&*flags[flag]));
        Ok(self.plan.passes.iter().map(|pass| on(&pass.flag)).collect())
    }

    /// Goes through the next run: the recorder does each step in this order. Flags in `off` switch conditional passes.
    ///
    /// Frames may be recorded one after the other without waiting: the batches of a run wait for those of the run
    /// before where they must. Only what is [fresh](rgraph_plan::plan::PlanLife::Fresh) needs that no more runs are
    /// under way than `frames` of [`Walk::bake`].
    ///
    /// # Errors
    /// What the recorder returns, and RG-E225 for unknown flags. The run then counts as not recorded: what was recorded
    /// of it must not be submitted.
    pub fn record<R: Recorder>(&mut self, off: &[&str], recorder: &mut R) -> Result<(), R::Error>
    where
        R::Error: From<Error>,
    {
        let on = self.passes_on(off)?;
        let plan = self.plan.clone();
        for (id, batch) in plan.batches.iter_ids() {
            let view = self.batch(id);
            recorder.begin_batch(&view)?;
            if batch.queue.is_some() {
                self.enter(id, recorder)?;
            }
            self.commands(id, &on, recorder)?;
            recorder.end_batch(&view)?;
        }
        self.leave();
        self.run += 1;
        Ok(())
    }

    fn commands<R: Recorder>(
        &self,
        batch: BatchId,
        on: &IdVec<PlanPassId, bool>,
        recorder: &mut R,
    ) -> Result<(), R::Error> {
        let plan = &self.plan;
        let span = plan.batches[batch].commands;
        let family = plan.batches[batch].queue.map(|queue| plan.queues[queue].family);
        let mut skipped = false;
        for (command, at) in plan.commands[span.range()].iter().zip(span.range().map(CommandId::new)) {
            match command {
                Command::Barriers(barriers) => {
                    self.dependency(barriers, family, recorder, |recorder, info| recorder.barriers(info))?;
                }
                Command::SetEvent(event, barriers) => {
                    self.dependency(barriers, family, recorder, |recorder, info| recorder.set_event(*event, info))?;
                }
                Command::WaitEvents(event, barriers) => {
                    self.dependency(barriers, family, recorder, |recorder, info| recorder.wait_event(*event, info))?;
                }
                Command::BeginRendering { .. } => {
                    let Some(position) = self.renderings.begun_at(at) else { continue };
                    let rendering = &self.renderings.passes[position];
                    skipped = rendering.passes.iter().all(|pass| !on[*pass]);
                    if !skipped {
                        recorder.begin_rendering(&self.rendering(rendering))?;
                    }
                }
                Command::EndRendering if std::mem::take(&mut skipped) => {}
                Command::EndRendering => recorder.end_rendering()?,
                Command::Pass { pass, .. } if !on[*pass] => {}
                Command::Pass { pass, .. } => match self.table.pass_of[*pass] {
                    Some(declared) => recorder.pass(&WalkPass { walk: self, planned: *pass, pass: declared })?,
                    None => {
                        if let Some(blit) = self.blit(*pass) {
                            recorder.blit(&blit)?;
                        }
                    }
                },
            }
        }
        Ok(())
    }
}
