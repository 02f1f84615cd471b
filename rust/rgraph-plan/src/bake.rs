//! The pipeline, one line per stage: validate → resolve → cull → schedule → merge → alias → synchronize → Plan.
//!
//! ```
//! use rgraph_plan::prelude::*;
//!
//! let mut g = Graph::new("frame", [1920, 1080]);
//! let albedo = g.image("albedo", Format::Rgba8unorm);
//! let hdr = g.image("hdr", Format::Rgba16float);
//! let out = g.image("out", Format::Rgba8unorm);
//! g.pass("gbuffer", PassQueue::Graphics).color(albedo);
//! g.pass("lighting", PassQueue::AsyncCompute).sampled(albedo).storage_write(hdr);
//! g.pass("tonemap", PassQueue::Graphics).sampled(hdr).color(out);
//! g.root(out);
//!
//! let plan = bake(&g, &Profile::discrete(), &Options::default(), &mut Scratch::default())?;
//! assert_eq!(plan.batches.len(), 3);
//! # Ok::<(), GraphError>(())
//! ```

mod batches;
mod bounds;
pub mod dump;
mod fit;
mod last_plan;
mod measure;
mod options;
mod orders;
pub mod propose;
pub mod search;

use crate::stages::context::Context;
use crate::stages::ids::{IntervalId, LiveId, PhysicalId, WaitId};
pub use last_plan::LastPlan;
pub use measure::{Asked, Measure, Measured};
pub use options::{Options, Without};
pub use orders::Orders;

use std::borrow::Cow;

use batches::FewBatches;

use crate::access::Stages;
use crate::budget::MemoryBudget;
use crate::cancel::poll_now;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::id::{Id, IdVec};
use crate::plan::{BakeTimes, Plan, PlanPassId, PlanQueue};
use crate::profile::Profile;
use crate::resource::ResourceId;
use crate::stages::alias::item::{Overflow, Peak};
use crate::stages::barriers::edge::edges;
use crate::stages::barriers::emit::{self, emit};
use crate::stages::barriers::hazard::{HazardInputs, Hazards};
use crate::stages::barriers::repeat::Repeats;
use crate::stages::barriers::sources::Sources;
use crate::stages::bound;
use crate::stages::cull::{Live, cull};
use crate::stages::depend::{Dependencies, depend};
use crate::stages::interval_cuts::IntervalCuts;
use crate::stages::merge::merge;
use crate::stages::order::batch::Batches;
use crate::stages::order::clock::Clocks;
use crate::stages::order::foreign::ForeignUses;
use crate::stages::order::read_group::ReadGroups;
use crate::stages::order::schedule::{LaneId, Schedule};
use crate::stages::packets::packets;
use crate::stages::play::play;
use crate::stages::resolve::{Facts, Problem, Source, resolve};
use crate::stages::schedule::{self, schedule};
use crate::stages::schedule::{HOST, Order};
use crate::stages::size::{Shape, ShapeProblem, ShapeScratch, shapes};
use crate::stages::transient::Transients;
use crate::stages::usages::Memories;
use crate::stages::validate::queues::{common_stages, expanded_queues};
use crate::stages::validate::{ValidateScratch, mistakes, validate};
use crate::stages::weigh::{self, Weights};
use crate::stages::{describe, merge, parallel, play};

pub use crate::stages::barriers::emit::Split;
pub use crate::stages::schedule::Policy;

/// Everything that baking needs besides its input: kept from bake to bake, so that a steady frame allocates nothing.
#[derive(Default)]
pub struct Scratch {
    profile: Option<Profile>,
    queues: Vec<PlanQueue>,
    families: IdVec<LaneId, u32>,
    stages: IdVec<LaneId, Stages>,
    shapes: IdVec<ResourceId, Shape>,
    sized: ShapeScratch,
    shape_problems: Vec<ShapeProblem>,
    validate: ValidateScratch,
    problems: Vec<Problem>,
    facts: Facts,
    memories: Memories,
    live: Live,
    deps: Dependencies,
    weights: Weights,
    ordering: schedule::Scratch,
    order: Order,
    bound: bound::Scratch,
    /// An order from outside, that takes the place of a search.
    proposal: Option<propose::Given>,
    lanes: IdVec<LiveId, LaneId>,
    merge: merge::Scratch,
    schedule: Schedule,
    read_groups: ReadGroups,
    clocks: Clocks,
    kept_intervals: IdVec<PhysicalId, IntervalId>,
    interval_cuts: IntervalCuts,
    foreign: ForeignUses,
    batches: Batches,
    few: FewBatches,
    transients: Transients,
    hazards: Hazards,
    repeats: Repeats,
    sources: Sources,
    wait_stages: IdVec<WaitId, Stages>,
    after: Vec<(PlanPassId, PlanPassId)>,
    emit: emit::Scratch,
    describe: describe::Scratch,
    play: play::Scratch,
    parallel: parallel::Scratch,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

/// Placements beyond the first that are tried for bytes above the declared order's.
const RECUTS: u32 = 2;

/// Bakes a graph for a device.
///
/// Deterministic: equal graphs, profiles and options give equal plans on every machine. Long searches can be given up:
/// see [`crate::cancel`].
///
/// # Errors
/// Everything that is wrong with the declaration, at once; or that it needs more memory than the profile has.
pub fn bake(graph: &Graph, profile: &Profile, options: &Options, scratch: &mut Scratch) -> Result<Plan, GraphError> {
    let mut plan = Plan::default();
    bake_into(graph, profile, options, scratch, &mut plan)?;
    Ok(plan)
}

/// Bakes with the sizes and alignments of a real driver instead of the profile's estimates.
///
/// # Errors
/// As [`bake`].
pub fn bake_measured(
    graph: &Graph,
    profile: &Profile,
    options: &Options,
    measure: Measure<'_>,
    scratch: &mut Scratch,
) -> Result<Plan, GraphError> {
    let mut plan = Plan::default();
    bake_with(graph, profile, options, Some(measure), scratch, &mut plan)?;
    Ok(plan)
}

/// Bakes into a plan whose memory is reused.
///
/// # Errors
/// As [`bake`]; `plan` is then of no use.
pub fn bake_into(
    graph: &Graph,
    profile: &Profile,
    options: &Options,
    scratch: &mut Scratch,
    plan: &mut Plan,
) -> Result<(), GraphError> {
    bake_with(graph, profile, options, None, scratch, plan)
}

/// A graph without modules and extension points.
pub(crate) fn flat(graph: &Graph) -> Cow<'_, Graph> {
    graph.flattened().map_or(Cow::Borrowed(graph), Cow::Owned)
}

fn bake_with(
    graph: &Graph,
    profile: &Profile,
    options: &Options,
    measure: Option<Measure<'_>>,
    scratch: &mut Scratch,
    plan: &mut Plan,
) -> Result<(), GraphError> {
    let flat = flat(graph);
    let mut watch = Watch::new(options.clock);
    let mut times = BakeTimes::default();
    scratch.validate(&flat, profile)?;
    if let Some(measure) = measure {
        scratch.measure(measure);
    }
    times.validate = watch.lap();
    poll_now();
    cull(&flat, &scratch.facts, !options.without.culling, &mut scratch.live);
    times.cull = watch.lap();
    poll_now();
    scratch.schedule(&flat, profile, options);
    times.schedule = watch.lap();
    poll_now();
    scratch.merge(&flat, profile, !options.without.merging, plan);
    times.merge = watch.lap();
    poll_now();
    scratch.few.reuse(&mut plan.report.notes);
    scratch.order_queues(&flat, profile, options, false, &mut plan.report.notes);
    scratch.bound_batches(&flat, profile, options, plan);
    times.synchronize = watch.lap();
    poll_now();
    scratch.alias(&flat, profile, options)?;
    scratch.fit(&flat, profile, options, plan)?;
    scratch.hand_over(&flat);
    times.alias = watch.lap();
    poll_now();
    scratch.synchronize(&flat, profile, options, plan);
    times.synchronize += watch.lap();
    poll_now();
    plan.graph_hash = graph.content_hash();
    plan.report.bake_us = options.clock.map(|_| times);
    Ok(())
}

impl Scratch {
    /// How often the last bake put a memory somewhere, over all attempts: what placing cost, whatever a clock says.
    pub fn placing_steps(&self) -> u64 {
        self.transients.nodes
    }

    /// How many subresources the last bake looked at for their uses in the run before, whatever a clock says.
    pub fn subresources_gathered(&self) -> u64 {
        self.repeats.subresources_gathered
    }

    /// How many orders below the memory budget the last bake made: what ordering cost, whatever a clock says.
    pub fn orders_made(&self) -> u32 {
        self.ordering.orders_made()
    }

    fn validate(&mut self, graph: &Graph, profile: &Profile) -> Result<(), GraphError> {
        self.shape_problems.clear();
        self.problems.clear();
        shapes(graph, profile, &mut self.shapes, &mut self.sized, &mut self.shape_problems);
        poll_now();
        let found = validate(graph, profile, &self.shapes, &self.sized, &self.shape_problems, &mut self.validate);
        GraphError::check(found.mistakes)?;
        poll_now();
        resolve(Source { graph, shapes: &self.shapes }, &mut self.facts, &mut self.problems);
        if self.problems.is_empty() {
            self.memories.find(graph, &self.shapes, &self.facts);
            return Ok(());
        }
        GraphError::check(mistakes::of_problems(graph, &self.shapes, &self.problems))
    }

    fn measure(&mut self, measure: Measure<'_>) {
        for id in self.shapes.ids() {
            let shape = &mut self.shapes[id];
            let asked = Asked { kind: shape.kind, usages: self.memories.usages(id) };
            if let Some(measured) = measure(id, &asked) {
                let align = measured.align.max(1).next_power_of_two();
                shape.align = align;
                shape.bytes = measured.bytes.next_multiple_of(align);
            }
        }
    }

    fn find_queues(&mut self, profile: &Profile) {
        if self.profile.as_ref() != Some(profile) {
            self.profile = Some(profile.clone());
            self.queues = expanded_queues(profile);
            self.families = self.queues.iter().map(|queue| queue.family).collect();
            self.stages = self.queues.iter().map(|queue| common_stages(queue.capabilities)).collect();
        }
    }

    fn schedule(&mut self, graph: &Graph, profile: &Profile, options: &Options) {
        self.find_queues(profile);
        depend(&self.facts, &self.live, &mut self.deps);
        poll_now();
        let instance = self.weights.instance(weigh::Input {
            graph,
            profile,
            plan_queues: &self.queues,
            shapes: &self.shapes,
            facts: &self.facts,
            live: &self.live,
            deps: &self.deps,
            memory: options.memory,
        });
        let made = schedule(&instance, options.policy, options.effort, &mut self.ordering, &mut self.order);
        assert!(made.is_ok(), "dependencies follow the serial order, so they have no cycle");
        if let Some((passes, queue)) = &self.proposal {
            schedule::given(&instance, passes, queue, &mut self.ordering, &mut self.order);
        }
        self.take_lanes();
    }

    /// The schedule's queues, with the host's number after them.
    fn take_lanes(&mut self) {
        let host = LaneId::new(self.queues.len());
        let lane = |&queue: &u8| if queue == HOST { host } else { LaneId::new(usize::from(queue)) };
        self.lanes.clear();
        self.lanes.extend(self.order.queue.iter().map(lane));
    }

    fn merge(&mut self, graph: &Graph, profile: &Profile, merges: bool, plan: &mut Plan) {
        let input = merge::Input {
            graph,
            profile,
            shapes: &self.shapes,
            facts: &self.facts,
            live: &self.live.passes,
            deps: &self.deps,
            order: &self.order.passes,
            queue: &self.lanes,
            queues: self.queues.len(),
            merges,
        };
        merge(input, &mut self.merge, &mut self.schedule, &mut plan.unmerged);
    }

    /// Read groups, clocks and batches: what the queues know of each other decides who may follow whom in memory.
    fn order_queues(
        &mut self,
        graph: &Graph,
        profile: &Profile,
        options: &Options,
        by_levels: bool,
        notes: &mut Vec<String>,
    ) {
        let (facts, schedule) = (&self.facts, &self.schedule);
        let context =
            Context { graph, shapes: &self.shapes, facts, schedule, families: &self.families, stages: &self.stages };
        self.read_groups.find(context, notes);
        let Self { clocks, read_groups, merge, deps, few, .. } = self;
        let level = |at: PlanPassId| few.level_of(deps.live(schedule.passes[at].pass));
        clocks.find(schedule, &read_groups.extra, by_levels.then_some(&level), |at, follow| {
            let before = deps.before(deps.live(schedule.passes[at].pass));
            before.for_each(|earlier| follow(merge.final_position(earlier)));
        });
        let us = |at: PlanPassId| f64::from(self.weights.weight_us[deps.live(schedule.passes[at].pass)]);
        self.foreign.find(context, &self.queues, profile, us);
        self.batches.cut(schedule, clocks, &self.foreign);
        poll_now();
        self.find_intervals(
            graph,
            Cuts::Few(options.memory, profile.memory.first().and_then(|memory| memory.heap_size)),
        );
    }

    /// Finds the intervals of the physical passes of the schedule, and cuts intervals for bytes.
    fn find_intervals(&mut self, graph: &Graph, cuts: Cuts) {
        self.schedule.find_intervals(|pass, follow| {
            let before = self.deps.before(self.deps.live(pass));
            before.for_each(|earlier| follow(self.merge.final_position(earlier)));
        });
        let (facts, schedule) = (&self.facts, &self.schedule);
        let context =
            Context { graph, shapes: &self.shapes, facts, schedule, families: &self.families, stages: &self.stages };
        let cuts = match cuts {
            Cuts::Few(memory, heap) => self.interval_cuts.cuts(context, &self.live.passes, memory, heap),
            Cuts::Below(cap) => self.interval_cuts.cuts_for(context, cap),
        };
        self.schedule.cut_intervals(cuts);
    }

    /// Places transients. Where they need more bytes than the budget allows, more intervals are cut.
    fn alias(&mut self, graph: &Graph, profile: &Profile, options: &Options) -> Result<(), GraphError> {
        let effort = options.effort;
        self.transients.aliases = !options.without.aliasing;
        self.transients.nodes = 0;
        if options.without.aliasing || effort == 0 {
            return self.place(graph, profile, effort);
        }
        self.place(graph, profile, effort)?;
        if self.schedule.passes.iter().any(|scheduled| scheduled.queue != LaneId::FIRST) {
            self.cut_at_batches(graph, profile, options)
        } else {
            self.cut_for_bytes(graph, profile, options)
        }
    }

    /// Puts intervals and placements aside, before others are tried.
    fn put_aside(&mut self) {
        self.kept_intervals.clear();
        self.kept_intervals.extend(self.schedule.physical_passes.iter().map(|physical| physical.interval));
        self.transients.put_aside();
    }

    /// Takes back intervals and placements that were put aside.
    fn take_back(&mut self) {
        self.schedule
            .physical_passes
            .iter_mut()
            .zip(&self.kept_intervals)
            .for_each(|(physical, &interval)| physical.interval = interval);
        self.transients.take_back();
    }

    fn sum(&self, of: fn(&Peak) -> u64) -> u64 {
        self.transients.peaks.iter().map(of).sum()
    }

    /// On one queue: intervals cut until the placement needs no more bytes than the budget allows; as they were if that
    /// takes more bytes still.
    fn cut_for_bytes(&mut self, graph: &Graph, profile: &Profile, options: &Options) -> Result<(), GraphError> {
        let budget = self.interval_cuts.budget;
        let mut effort = options.effort;
        let mut first = self.sum(|peak| peak.total);
        // With a budget of few bytes, a longer search for a placement is better than more barrier calls.
        let few = matches!(options.memory, MemoryBudget::Least | MemoryBudget::Bytes(_));
        if few && first > budget && self.sum(|peak| peak.lower_bound) <= budget {
            effort += 1;
            self.place(graph, profile, effort)?;
            first = self.sum(|peak| peak.total);
        }
        if first <= budget {
            return Ok(());
        }
        self.put_aside();
        let mut total = first;
        for _ in 0..RECUTS.min(options.effort) {
            // What the placement before wasted, the next one is expected to waste again.
            let least = self.sum(|peak| peak.lower_bound);
            let cap = (u128::from(budget) * u128::from(least) / u128::from(total)) as u64;
            self.find_intervals(graph, Cuts::Below(cap));
            if self.interval_cuts.reached >= least {
                break;
            }
            self.place(graph, profile, effort)?;
            total = self.sum(|peak| peak.total);
            if total <= budget {
                return Ok(());
            }
        }
        if total >= first {
            self.take_back();
        }
        Ok(())
    }

    /// On several queues: ends intervals where a queue waits for another, if that saves as many bytes as the budget
    /// asks for. A batch can then reuse bytes of an earlier batch of its queue, at the cost of a barrier call at its
    /// begin.
    fn cut_at_batches(&mut self, graph: &Graph, profile: &Profile, options: &Options) -> Result<(), GraphError> {
        let (swept, least) = (self.sum(|peak| peak.swept), self.sum(|peak| peak.lower_bound));
        let Some(enough) = options.memory.worth_cutting(swept).and_then(|worth| swept.checked_sub(worth)) else {
            return Ok(());
        };
        if enough <= least {
            return Ok(());
        }
        self.put_aside();
        self.schedule.cut_intervals_before(&self.batches.before);
        self.place(graph, profile, 0)?;
        if self.sum(|peak| peak.total) <= enough {
            return self.place(graph, profile, options.effort);
        }
        self.take_back();
        Ok(())
    }

    fn hand_over(&mut self, graph: &Graph) {
        let (facts, schedule) = (&self.facts, &self.schedule);
        let context =
            Context { graph, shapes: &self.shapes, facts, schedule, families: &self.families, stages: &self.stages };
        self.transients.hand_over(context);
    }

    fn place(&mut self, graph: &Graph, profile: &Profile, effort: u32) -> Result<(), GraphError> {
        let (facts, schedule) = (&self.facts, &self.schedule);
        let context =
            Context { graph, shapes: &self.shapes, facts, schedule, families: &self.families, stages: &self.stages };
        self.transients.place(context, &self.clocks, profile, effort).map_err(|Overflow| {
            let name = profile.memory.first().map_or("", |class| &class.name);
            GraphError::one(mistakes::out_of_memory(graph, name, [u64::MAX; 2], &Default::default(), None))
        })
    }

    fn synchronize(&mut self, graph: &Graph, profile: &Profile, options: &Options, plan: &mut Plan) {
        let Self {
            facts,
            schedule,
            read_groups,
            clocks,
            batches,
            transients,
            hazards,
            repeats,
            sources,
            wait_stages,
            ..
        } = self;
        let context =
            Context { graph, shapes: &self.shapes, facts, schedule, families: &self.families, stages: &self.stages };
        let at = |live: LiveId| self.merge.final_position(live);
        self.after.clear();
        self.after.extend(self.deps.after.iter().map(|&(later, earlier)| (at(later), at(earlier))));
        self.after.sort_unstable();
        let foreign = &self.foreign;
        let inputs = HazardInputs { context, read_groups, clocks, batches, foreign, transients, after: &self.after };
        wait_stages.refill(Stages::empty(), clocks.waits.len());
        hazards.calls.apart = options.split != Split::Never;
        hazards.walk(inputs, wait_stages);
        poll_now();
        repeats.complete(inputs, hazards, wait_stages);
        poll_now();
        edges(inputs, profile, hazards, &mut plan.edges, &mut plan.report.notes);
        self.foreign.write(batches, &mut plan.foreign, &mut plan.report.notes);
        sources.complete(inputs, hazards, &repeats.waits, wait_stages, options.effort == 0);
        hazards.calls.narrow();
        plan.graph.clear();
        plan.graph.push_str(graph.name());
        plan.profile.clone_from(&profile.name);
        plan.features = profile.features;
        if plan.queues.as_slice() != self.queues {
            plan.queues.as_vec_mut().clone_from(&self.queues);
        }
        let tables = describe::Input {
            context,
            profile,
            deps: &self.deps,
            order: &self.order,
            weight_us: &self.weights.weight_us,
            merged: &self.merge,
            read_groups,
            transients,
            memories: &self.memories,
        };
        describe::passes(tables, &mut self.live, plan);
        poll_now();
        describe::resources(tables, &mut self.describe, plan);
        describe::memory(tables, &mut self.describe, plan);
        describe::flags(graph, &mut self.describe.planned, plan);
        poll_now();
        describe::subgraphs(tables, &self.live, &mut self.describe, plan);
        poll_now();
        let input =
            emit::Input { inputs, hazards, repeats, wait_stages, split: options.split, barrier_us: profile.barrier_us };
        emit(input, &mut self.emit, plan);
        parallel::parallel(tables, &mut self.parallel, plan);
        packets(tables, plan);
        let asked: u64 = profile.queues.iter().map(|queue| u64::from(queue.count)).sum();
        if asked > self.queues.len() as u64 {
            let used = self.queues.len();
            plan.report.notes.push(format!("the profile has {asked} queues; the plan uses at most {used} of them"));
        }
        self.facts.silent.notes((graph, &self.facts), &self.live, &self.shapes, &mut plan.report.notes);
        let size = |pass: PlanPassId| self.weights.size[self.deps.live(self.schedule.passes[pass].pass)];
        let [frame_us, serial_us] = play(plan, profile, size, &mut self.play);
        plan.report.frame_us = frame_us;
        plan.report.one_queue_us = self.order.one_queue_us;
        self.describe_bound(graph, profile, plan);
        plan.report.policy = self.order.policy.name();
        plan.report.memory = Some(options.memory);
        plan.report.optimal = self.order.optimal && serial_us <= self.order.frame_us;
    }
}

/// How intervals of physical passes are cut for bytes.
#[derive(Clone, Copy)]
enum Cuts {
    /// As few cuts as a budget and a heap of so many bytes allow.
    Few(MemoryBudget, Option<u64>),
    /// As many as it takes to stay below so many bytes.
    Below(u64),
}

/// Laps of the caller's clock.
struct Watch {
    clock: Option<fn() -> f64>,
    last: f64,
}

impl Watch {
    fn new(clock: Option<fn() -> f64>) -> Self {
        Self { clock, last: clock.map_or(0.0, |now| now()) }
    }

    fn lap(&mut self) -> f64 {
        let now = self.clock.map_or(0.0, |now| now());
        now - std::mem::replace(&mut self.last, now)
    }
}
