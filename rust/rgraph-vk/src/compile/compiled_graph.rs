//! A graph made ready for a device: its plan, its images and buffers at their places, its packets. Made once; runs only
//! read it.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rgraph_plan::access::Usage;
use rgraph_plan::bake::{Asked, Measure as DriverSizes, Measured, Options, Scratch, bake_measured};
use rgraph_plan::error::GraphError;
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::id::{Id, IdVec, Span};
use rgraph_plan::plan::{BatchId, Command, Plan, PlanKind, PlanPassId, PlanQueue, QueueId};
use rgraph_plan::profile::{Capabilities, Profile};
use rgraph_plan::resource::{Life, ResourceId};

use crate::chaos::fills::fills;
use crate::chaos::spec::{Chaos, ChaosSpec};
use crate::compile::bind::Binder;
use crate::compile::chunk::{Again, BatchInfo, Chunk, ChunkId, split};
use crate::compile::inherit::{Begin, Heritage};
use crate::compile::known_plans::PlanKey;
use crate::compile::packet::Packets;
use crate::compile::pass_table::{PassTable, add_fallbacks, final_states, side_by_side};
use crate::compile::place::Placer;
use crate::compile::rendering::Renderings;
use crate::compile::subpass;
use crate::device::Shared;
use crate::device::context::c_string;
use crate::device::queue::{DeviceQueueId, Queue};
use crate::error::{Code, Error};
use crate::frame::raw::RawWork;
use crate::memory::Domain;
use crate::memory::arena::Arena;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::requirements::allow_clears;
use crate::memory::state::{EdgeId, Tracked, released_edges};
use crate::memory::usages::Usages;
use crate::work::{Work, Workload};

/// Where a memory of the plan is.
#[derive(Debug)]
pub(crate) enum Place {
    /// Nothing uses it.
    Unused,
    /// One image or buffer.
    Fixed(Arc<PhysicalResource>),
    /// One for each remembered frame, in turn.
    Ring(Vec<Arc<PhysicalResource>>),
    /// One for each frame context, which nothing uses when the context's next run begins.
    PerContext(Vec<Arc<PhysicalResource>>),
    /// The caller's, bound when it runs; an image or buffer for its arrays is made so.
    Import(Usages, Domain),
}

/// A resource that the caller gives, and that something uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Import {
    /// Its place.
    pub memory: ResourceId,
    /// Whether it is bound, not copied into what is remembered.
    pub bound: bool,
    /// Whether the graph reads what it holds.
    pub defined: bool,
}

rgraph_plan::id! {
    /// A root, in the order of the graph's.
    pub(crate) struct RootId;
}

/// A root that can be read back.
#[derive(Debug)]
pub(crate) struct Root {
    /// In the plan.
    pub resource: ResourceId,
    /// In the graph.
    pub declared: ResourceId,
    /// The layouts that the plan leaves it in, if it lives within the frame.
    pub states: Option<Tracked>,
}

thread_local! {
    /// What the last bake of this thread left behind; `None` while a bake has it, and after one that was given up.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// See the module.
pub(crate) struct CompiledGraph {
    pub shared: Arc<Shared>,
    /// Tells compiled graphs of this process apart; from 1 on.
    pub id: u64,
    pub workload: Workload,
    pub plan: Arc<Plan>,
    pub table: PassTable,
    pub renderings: Renderings,
    pub packets: Packets,
    /// Passes whose steps a function says each time.
    pub recorded: Vec<PlanPassId>,
    /// Functions that record commands of passes themselves; empty without any.
    pub raw: IdVec<PlanPassId, Option<Arc<dyn RawWork>>>,
    /// Sets of the CPU's passes; a set each where the plan names none.
    pub host_sets: IdVec<PlanPassId, u32>,
    /// Passes whose packets are sorted together have one number, from 1 on; 0: alone.
    pub sorted: IdVec<PlanPassId, u32>,
    /// Whether some chunks are recorded in each run.
    pub records_again: bool,
    /// Buffers that live passes use as acceleration structures, or as fallbacks of one, if the device has them.
    pub structures: Vec<ResourceId>,
    /// Uses of those that outlive a run, or that may have a fallback which does, in the order of the plan.
    pub structure_uses: Vec<StructureUse>,
    /// Where the plan's passes stand, by declaration.
    pub planned: HashMap<PassId, PlanPassId>,
    pub places: IdVec<ResourceId, Place>,
    /// How lasting memories begin that a graph before had, and that are not simply its own.
    pub begins: Vec<(ResourceId, Begin)>,
    /// What the caller gives.
    pub imports: Vec<Import>,
    pub batches: IdVec<BatchId, BatchInfo>,
    pub chunks: IdVec<ChunkId, Chunk>,
    pub roots: IdVec<RootId, Root>,
    /// Device queue of each queue of the plan.
    pub queues: IdVec<QueueId, DeviceQueueId>,
    /// Runs after which rings are where they were.
    pub phases: u64,
    /// Names of passes for debuggers; empty where the device has no labels.
    pub labels: IdVec<PlanPassId, CString>,
    /// The batch that signals a value of a queue of the plan; `None`: of the host.
    pub signals: HashMap<(Option<QueueId>, u32), BatchId>,
    pub events: u32,
    /// By edge of the plan: whether it is left released to another queue family.
    pub released: IdVec<EdgeId, bool>,
    pub notes: Vec<String>,
    pub bake_us: f64,
    /// What a chaos run does otherwise.
    pub chaos: Option<Box<Chaos>>,
    #[allow(dead_code, reason = "keeps the memory of placed images and buffers")]
    arenas: Vec<Arc<Arena>>,
}

impl std::fmt::Debug for CompiledGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledGraph").field("graph", &self.plan.graph).finish_non_exhaustive()
    }
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl CompiledGraph {
    /// Whether it is an image of several samples per texel.
    pub(crate) fn multisampled(&self, resource: ResourceId) -> bool {
        let kind = self.plan.resources.get(resource).map(|one| one.kind);
        matches!(kind, Some(PlanKind::Image { samples, .. }) if samples > 1)
    }

    /// Bakes a graph with the driver's sizes and makes it ready.
    pub(crate) fn bake(
        shared: &Arc<Shared>,
        workload: Workload,
        options: &Options,
        key: PlanKey,
    ) -> Result<Self, Error> {
        let (plan, bake_us) = Self::known_or_planned(shared, &workload.graph, options, key)?;
        Self::with(shared, workload, plan, bake_us, None)
    }

    /// The plan of a graph for the device as it is, and the microseconds that it took: remembered, or baked.
    fn known_or_planned(
        shared: &Shared,
        graph: &Graph,
        options: &Options,
        key: PlanKey,
    ) -> Result<(Arc<Plan>, f64), Error> {
        let begin = std::time::Instant::now();
        let plan = match shared.plans.find(&key) {
            Some(plan) => plan,
            None => {
                let profile = &shared.profile;
                let plan = Self::planned(shared, graph, false, |measure, scratch| {
                    bake_measured(graph, profile, options, measure, scratch)
                })?;
                let plan = Arc::new(plan);
                shared.plans.remember(key, &plan);
                plan
            }
        };
        Ok((plan, begin.elapsed().as_secs_f64() * 1e6))
    }

    /// Bakes a graph and makes it ready with what lives from run to run in an earlier one.
    pub(crate) fn bake_after(
        shared: &Arc<Shared>,
        workload: Workload,
        options: &Options,
        earlier: &Self,
    ) -> Result<Self, Error> {
        let key = PlanKey::new(&workload.graph, options);
        let (plan, bake_us) = Self::known_or_planned(shared, &workload.graph, options, key)?;
        let heritage = Some(Heritage::of_earlier(earlier));
        Self::with_contents(shared, workload, plan, (bake_us, None), heritage)
    }

    /// Bakes a graph with the driver's sizes for queues that may be others than the device's, and makes it ready.
    pub(crate) fn bake_for(
        shared: &Arc<Shared>,
        workload: Workload,
        (profile, options): (&Profile, &Options),
        chaos: Option<ChaosSpec>,
    ) -> Result<Self, Error> {
        let begin = std::time::Instant::now();
        let plan = Self::planned(shared, &workload.graph, chaos.is_some(), |measure, scratch| {
            bake_measured(&workload.graph, profile, options, measure, scratch)
        })?;
        let bake_us = begin.elapsed().as_secs_f64() * 1e6;
        Self::with(shared, workload, Arc::new(plan), bake_us, chaos)
    }

    /// Plans a graph with the driver's sizes; `clears`: its images can be cleared, whatever passes do with them.
    pub(crate) fn planned<T>(
        shared: &Shared,
        graph: &Graph,
        clears: bool,
        bake: impl FnOnce(DriverSizes<'_>, &mut Scratch) -> Result<T, GraphError>,
    ) -> Result<T, Error> {
        let refused = std::cell::RefCell::new(None);
        let measure = |id: ResourceId, asked: &Asked| {
            let mut used = Usages::of(asked.kind, asked.usages);
            if clears {
                allow_clears(shared, asked.kind, &mut used);
            }
            match shared.measure(graph.resource_name(id), asked.kind, used, true) {
                Ok(needs) => Some(Measured { bytes: needs.size, align: needs.alignment }),
                Err(error) => {
                    refused.borrow_mut().get_or_insert(error);
                    None
                }
            }
        };
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let plan = bake(&measure, &mut scratch);
        SCRATCH.set(Some(scratch));
        if let Some(error) = refused.into_inner() {
            return Err(error);
        }
        Ok(plan?)
    }

    /// Makes a graph and a plan of it ready, which may have been baked for another device.
    pub(crate) fn new(shared: &Arc<Shared>, workload: Workload, plan: Arc<Plan>, bake_us: f64) -> Result<Self, Error> {
        Self::with(shared, workload, plan, bake_us, None)
    }

    /// Makes a graph and a plan of it ready, maybe for a chaos run.
    pub(crate) fn with(
        shared: &Arc<Shared>,
        workload: Workload,
        plan: Arc<Plan>,
        bake_us: f64,
        chaos: Option<ChaosSpec>,
    ) -> Result<Self, Error> {
        Self::with_contents(shared, workload, plan, (bake_us, chaos), None)
    }

    /// The same; what lives from run to run is that of another compiled graph.
    pub(crate) fn with_contents(
        shared: &Arc<Shared>,
        workload: Workload,
        plan: Arc<Plan>,
        (bake_us, chaos): (f64, Option<ChaosSpec>),
        contents: Option<Heritage<'_>>,
    ) -> Result<Self, Error> {
        if workload.works.keys().any(|pass| workload.graph.passes().get(*pass).is_none()) {
            let message = "work is given for a pass of another graph";
            return Err(Error::work("?", message, "use the handles of the workload's own graph"));
        }
        shared.check_layouts(&plan)?;
        shared.check_attachments(&plan)?;
        let (plan, table) = side_by_side(&workload.graph, plan)?;
        let mut notes = Vec::new();
        let queues = map_queues(shared, &plan.queues, &mut notes)?;
        let mut renderings = Renderings::new(&workload.graph, &plan, &table);
        renderings.check(&plan, shared.limits.max_color_attachments)?;
        shared.check_resolves(&plan, &table, &renderings)?;
        subpass::create(shared, &plan, &table, &mut renderings)?;
        let mut placer = Placer::new(shared, &workload.graph, &plan, &table, &mut notes);
        (placer.clears, placer.contents) = (chaos.is_some(), contents);
        let (places, arenas) = placer.place()?;
        let begins = std::mem::take(&mut placer.begins);
        let binder = Binder { shared, graph: &workload.graph, plan: &plan, table: &table, renderings: &renderings };
        let Works { packets, recorded, raw } = bind_works(&binder, &workload.works)?;
        let planned = table.pass_of.iter_ids().filter_map(|(id, declared)| Some(((*declared)?, id))).collect();
        let changing = raw.iter_ids().filter(|(_, work)| work.as_ref().is_some_and(|work| !work.is_static()));
        let again: Vec<PlanPassId> = recorded.iter().copied().chain(changing.map(|(pass, _)| pass)).collect();
        let (batches, chunks) =
            split(&plan, &table, &queues, Again { passes: &again, apart: again.len() > recorded.len() });
        let mut sorted = IdVec::filled(0, plan.passes.len());
        for (group, number) in plan.packets.iter().zip(1..) {
            plan.packet_passes[group.range()].iter().for_each(|pass| sorted[*pass] = number);
        }
        let host_sets = plan.set_of(true).iter_ids().map(|(pass, set)| set.unwrap_or(pass.index() as u32)).collect();
        let roots = workload.graph.roots().iter().map(|&declared| {
            let resource = declared;
            let states = plan.begins_empty(resource).then(|| final_states(&plan, resource));
            Root { resource, declared, states }
        });
        let roots = roots.collect();
        let (structures, structure_uses) = structures(shared, &plan, &table);
        let phases = plan
            .resources
            .iter()
            .map(|resource| u64::from(resource.ring))
            .fold(1, |all, length| all / gcd(all, length) * length);
        let named = shared.labels.is_some().then(|| plan.passes.ids()).into_iter().flatten();
        let labels = named.map(|pass| c_string(plan.pass_name(pass))).collect();
        let signals = signals(&plan);
        let events = plan.commands.iter().filter_map(|command| match command {
            Command::SetEvent(event, _) => Some(event.index() as u32 + 1),
            _ => None,
        });
        let events = events.max().unwrap_or(0);
        let released = released_edges(&plan);
        let imports = imports(&workload, &places);
        let chaos = chaos.map(|spec| Box::new(Chaos { spec, fills: fills(&workload.graph, &plan, &table) }));
        Ok(Self {
            shared: shared.clone(),
            id: Self::next_id(),
            plan,
            table,
            renderings,
            packets,
            recorded,
            raw,
            host_sets,
            sorted,
            records_again: !again.is_empty(),
            structures,
            structure_uses,
            planned,
            imports,
            places,
            begins,
            batches,
            chunks,
            roots,
            queues,
            phases,
            labels,
            signals,
            events,
            released,
            chaos,
            notes,
            bake_us,
            arenas,
            workload,
        })
    }

    /// The next [`CompiledGraph::id`].
    pub(crate) fn next_id() -> u64 {
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// What steps are turned into packets with.
    pub(crate) fn binder(&self) -> Binder<'_> {
        Binder {
            shared: &self.shared,
            graph: &self.workload.graph,
            plan: &self.plan,
            table: &self.table,
            renderings: &self.renderings,
        }
    }

    /// The memory whose place a resource has: its own, or that of what it remembers; and how many runs ago.
    pub(crate) fn ring_of(&self, resource: ResourceId) -> (ResourceId, u64) {
        let resource = &self.plan.resources[resource];
        resource.remembers.map_or((resource.memory, 0), |remembers| (remembers.of, u64::from(remembers.frames)))
    }

    /// A resource of the graph, if there is one with that id: plans have the same ids.
    pub(crate) fn known(&self, declared: ResourceId) -> Option<ResourceId> {
        self.workload.graph.resources().get(declared).map(|_| declared)
    }

    /// The image or buffer that a resource is in a run.
    pub(crate) fn physical<'a>(
        &'a self,
        resource: ResourceId,
        run: u64,
        imports: &'a Imports,
    ) -> Option<&'a Arc<PhysicalResource>> {
        let (memory, back) = self.ring_of(resource);
        match &self.places[memory] {
            Place::Unused => None,
            Place::Fixed(physical) => Some(physical),
            Place::Ring(ring) => {
                let length = ring.len() as u64;
                ring.get(((run % length + length - back % length) % length) as usize)
            }
            Place::PerContext(physicals) => physicals.get((run % physicals.len() as u64) as usize),
            Place::Import(..) => imports[memory].as_ref(),
        }
    }
}

/// What is bound to imported resources, by the plan's memories.
pub(crate) type Imports = IdVec<ResourceId, Option<Arc<PhysicalResource>>>;

impl Drop for CompiledGraph {
    fn drop(&mut self) {
        subpass::destroy(&self.shared, &mut self.renderings);
    }
}

/// A use of an acceleration structure.
#[derive(Clone, Copy)]
pub(crate) struct StructureUse {
    pub pass: PlanPassId,
    pub resource: ResourceId,
    /// True if the pass builds it from scratch.
    pub builds: bool,
}

/// See [`CompiledGraph::structures`] and [`CompiledGraph::structure_uses`].
fn structures(shared: &Shared, plan: &Plan, table: &PassTable) -> (Vec<ResourceId>, Vec<StructureUse>) {
    let (mut all, mut uses) = (Vec::new(), Vec::new());
    if shared.rays.is_none() {
        return (all, uses);
    }
    let order = plan.commands.iter().filter_map(|command| match command {
        Command::Pass { pass, .. } => Some(*pass),
        _ => None,
    });
    let mut read = Vec::new();
    for pass in order {
        for access in table.of(pass) {
            if let Usage::AccelerationBuild | Usage::AccelerationUpdate | Usage::AccelerationRead = access.usage {
                read.clear();
                read.push(access.resource);
                add_fallbacks(plan, pass, &mut read);
                for &one in &read {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                }
                if !read.iter().all(|one| plan.begins_empty(*one)) {
                    let builds = access.usage == Usage::AccelerationBuild;
                    uses.push(StructureUse { pass, resource: access.resource, builds });
                }
            }
        }
    }
    (all, uses)
}

/// What is recorded for the passes of a plan.
struct Works {
    packets: Packets,
    recorded: Vec<PlanPassId>,
    raw: IdVec<PlanPassId, Option<Arc<dyn RawWork>>>,
}

/// Makes pipelines and turns the steps of passes into packets; refuses work on a queue that cannot do it.
fn bind_works(binder: &Binder<'_>, works: &crate::work::Works) -> Result<Works, Error> {
    let mut packets =
        Packets { of_pass: IdVec::filled(Span::default(), binder.plan.passes.len()), ..Packets::default() };
    binder.make_ahead(works)?;
    let mut recorded = Vec::new();
    let mut raw: IdVec<PlanPassId, Option<Arc<dyn RawWork>>> = IdVec::new();
    for pass in binder.plan.live() {
        let Some(declared) = binder.table.pass_of[pass] else {
            binder.add_inserted(pass, &mut packets);
            continue;
        };
        match works.get(&declared) {
            None => {}
            Some(Work::Steps(steps)) => binder.add(pass, steps, &mut packets)?,
            Some(Work::Record(_)) => recorded.push(pass),
            Some(Work::Raw(_)) if binder.plan.passes[pass].queue.is_none() => {
                return binder.wrong(pass, "records Vulkan commands, and its queue is the CPU's", "use another queue");
            }
            Some(Work::Raw(work)) => {
                if raw.is_empty() {
                    raw = IdVec::filled(None, binder.plan.passes.len());
                }
                raw[pass] = Some(work.clone());
            }
            Some(Work::Host(_)) if binder.plan.passes[pass].queue.is_some() => {
                return binder.wrong(pass, "has a host function, and its queue is not the CPU's", "use queue \"cpu\"");
            }
            Some(Work::Host(_)) => {}
        }
    }
    Ok(Works { packets, recorded, raw })
}

/// The batch that signals a value of a queue; `None`: of the host.
fn signals(plan: &Plan) -> HashMap<(Option<QueueId>, u32), BatchId> {
    let mut signals = HashMap::new();
    for (id, batch) in plan.batches.iter_ids() {
        if let Some(value) = batch.signal {
            signals.insert((batch.queue, value), id);
        }
    }
    signals
}

/// What the caller gives.
fn imports(workload: &Workload, places: &IdVec<ResourceId, Place>) -> Vec<Import> {
    let import = |(memory, place): (ResourceId, &Place)| {
        let life = workload.graph.resources().get(memory).map(|resource| resource.life);
        let defined = matches!(life, Some(Life::Imported(imported)) if imported.defined);
        let bound = matches!(place, Place::Import(..));
        (bound || defined && !matches!(place, Place::Unused)).then_some(Import { memory, bound, defined })
    };
    places.iter_ids().filter_map(import).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The device's queue for each queue of a plan: the one that was planned for, else one that can do as much.
fn map_queues(
    shared: &Shared,
    planned: &IdVec<QueueId, PlanQueue>,
    notes: &mut Vec<String>,
) -> Result<IdVec<QueueId, DeviceQueueId>, Error> {
    let mut out: IdVec<QueueId, DeviceQueueId> = IdVec::new();
    for (planned, queue) in planned.iter_ids() {
        let can = |one: &Queue| one.capabilities.contains(queue.capabilities - Capabilities::TRANSFER);
        let same = |one: &Queue| one.name == queue.name && one.family == queue.family && can(one);
        let free = |id: DeviceQueueId| !out.as_slice().contains(&id);
        let queues = || shared.queues.iter_ids();
        let at = DeviceQueueId::new(planned.index());
        let found = (shared.queues.get(at).is_some_and(same) && free(at))
            .then_some(at)
            .or_else(|| queues().find(|(index, one)| same(one) && free(*index)).map(|(index, _)| index))
            .or_else(|| {
                queues().find(|(index, one)| can(one) && free(*index) && one.name == queue.name).map(|(index, _)| index)
            })
            .or_else(|| queues().find(|(_, one)| can(one)).map(|(index, _)| index));
        let Some(index) = found else {
            let message = format!("{} has no queue for \"{}\" of the plan", shared.info.name, queue.name);
            return Err(crate::error::DeviceError::new(Code::Missing, message, "run the graph itself").into());
        };
        if shared.queues[index].name != queue.name {
            notes
                .push(format!("queue \"{}\" of the plan is folded onto \"{}\"", queue.name, shared.queues[index].name));
        }
        out.push(index);
    }
    Ok(out)
}
