//! A graph made ready for a device: its plan, its images and buffers at their places, its packets. Made once; runs only
//! read it.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;
use rgraph_plan::bake::{Measured, Options, Scratch, bake_measured};
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::id::{Id, IdVec, Span};
use rgraph_plan::plan::{BatchId, Command, HeapId, Plan, PlanKind, PlanLife, PlanPassId, PlanQueue};
use rgraph_plan::profile::{Capabilities, Profile};
use rgraph_plan::resource::{Life, ResourceId};
use rgraph_plan::stages::size::{ShapeScratch, shapes};

use crate::bind::{Binder, Packets};
use crate::chaos::poison::{allow_clears, fills};
use crate::chaos::{Chaos, ChaosSpec};
use crate::chunk::{Again, BatchInfo, Chunk, split};
use crate::context::c_string;
use crate::device::Shared;
use crate::error::{Code, Error};
use crate::memory::{Domain, Want};
use crate::raw::RawWork;
use crate::rendering::Renderings;
use crate::scene::{Scene, final_states, memories, usages, used_by_batches};
use crate::state::Tracked;
use crate::store::{Arena, Store, Usages};
use crate::subpass;
use crate::work::{Work, Workload};

/// Where a memory of the plan is.
#[derive(Debug)]
pub(crate) enum Place {
    /// Nothing uses it.
    Unused,
    /// One image or buffer.
    Fixed(Arc<Store>),
    /// One for each remembered frame, in turn.
    Ring(Vec<Arc<Store>>),
    /// One for each frame context, which nothing uses when the context's next run begins.
    PerContext(Vec<Arc<Store>>),
    /// The caller's, bound when it runs; an image or buffer for its arrays is made so.
    Import(Usages, Domain),
}

/// A resource that the caller gives, and that something uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Import {
    /// Its place.
    pub home: ResourceId,
    /// Whether it is bound, not copied into what is remembered.
    pub bound: bool,
    /// Whether the graph reads what it holds.
    pub defined: bool,
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
pub(crate) struct Prepared {
    pub shared: Arc<Shared>,
    /// Tells compiled graphs of this process apart; from 1 on.
    pub id: u64,
    pub workload: Workload,
    pub plan: Arc<Plan>,
    pub scene: Scene,
    pub renderings: Renderings,
    pub packets: Packets,
    /// Passes whose steps a function says each time.
    pub recorded: Vec<PlanPassId>,
    /// Functions that record commands of passes themselves; empty without any.
    pub raw: IdVec<PlanPassId, Option<Arc<dyn RawWork>>>,
    /// Sets of the CPU's passes; a set each where the plan names none.
    pub host_sets: IdVec<PlanPassId, u32>,
    /// Whether some chunks are recorded in each run.
    pub records_again: bool,
    /// Where the plan's passes stand, by declaration.
    pub planned: HashMap<PassId, PlanPassId>,
    pub places: IdVec<ResourceId, Place>,
    /// What the caller gives.
    pub imports: Vec<Import>,
    pub batches: IdVec<BatchId, BatchInfo>,
    pub chunks: Vec<Chunk>,
    pub roots: Vec<Root>,
    /// Device queue of each queue of the plan.
    pub queues: Vec<usize>,
    /// Runs after which rings are where they were.
    pub phases: u64,
    /// Names of passes for debuggers.
    pub labels: IdVec<PlanPassId, CString>,
    /// The batch that signals a value of a queue of the plan (the host after the last).
    pub signals: HashMap<(usize, u32), BatchId>,
    pub events: u32,
    pub notes: Vec<String>,
    pub bake_us: f64,
    /// What a chaos run does otherwise.
    pub chaos: Option<Box<Chaos>>,
    #[allow(dead_code, reason = "keeps the memory of placed images and buffers")]
    arenas: Vec<Arc<Arena>>,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("graph", &self.plan.graph).finish_non_exhaustive()
    }
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Prepared {
    /// Bakes a graph with the driver's sizes and makes it ready.
    pub fn bake(shared: &Arc<Shared>, workload: Workload, options: &Options) -> Result<Self, Error> {
        Self::bake_for(shared, workload, (&shared.profile, options), None)
    }

    /// Bakes a graph with the driver's sizes for queues that may be others than the device's, and makes it ready.
    pub fn bake_for(
        shared: &Arc<Shared>,
        workload: Workload,
        (profile, options): (&Profile, &Options),
        chaos: Option<ChaosSpec>,
    ) -> Result<Self, Error> {
        let begin = std::time::Instant::now();
        let graph = &workload.graph;
        let (mut kinds, mut sized, mut problems) = (IdVec::new(), ShapeScratch::default(), Vec::new());
        shapes(graph, profile, &mut kinds, &mut sized, &mut problems);
        let used = if problems.is_empty() && graph.ids_fit() {
            let kind = |id: ResourceId| kinds[id].kind;
            let memory = memories(graph, kind);
            let mut used = usages(graph, &memory, kind);
            if chaos.is_some() {
                used.iter_mut().zip(kinds.iter()).for_each(|(used, of)| allow_clears(shared, of.kind, used));
            }
            memory.iter().map(|memory| used[*memory]).collect::<IdVec<ResourceId, _>>()
        } else {
            // The bake says what is wrong.
            IdVec::filled(Usages::default(), graph.resources().len())
        };
        let refused = std::cell::RefCell::new(None);
        let measure =
            |id: ResourceId, kind: &PlanKind| match shared.measure(graph.resource_name(id), *kind, used[id], true) {
                Ok(needs) => Some(Measured { bytes: needs.size, align: needs.alignment }),
                Err(error) => {
                    refused.borrow_mut().get_or_insert(error);
                    None
                }
            };
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let plan = bake_measured(graph, profile, options, &measure, &mut scratch);
        SCRATCH.set(Some(scratch));
        if let Some(error) = refused.into_inner() {
            return Err(error);
        }
        let plan = Arc::new(plan?);
        let bake_us = begin.elapsed().as_secs_f64() * 1e6;
        Self::with(shared, workload, plan, bake_us, chaos)
    }

    /// Makes a graph and a plan of it ready, which may have been baked for another device.
    pub fn new(shared: &Arc<Shared>, workload: Workload, plan: Arc<Plan>, bake_us: f64) -> Result<Self, Error> {
        Self::with(shared, workload, plan, bake_us, None)
    }

    /// Makes a graph and a plan of it ready, maybe for a chaos run.
    pub fn with(
        shared: &Arc<Shared>,
        workload: Workload,
        plan: Arc<Plan>,
        bake_us: f64,
        chaos: Option<ChaosSpec>,
    ) -> Result<Self, Error> {
        if workload.works.keys().any(|pass| workload.graph.passes().get(*pass).is_none()) {
            let message = "work is given for a pass of another graph";
            return Err(Error::work("?", message, "use the handles of the workload's own graph"));
        }
        let scene = Scene::new(&workload.graph, &plan)?;
        let mut notes = Vec::new();
        let queues = map_queues(shared, &plan.queues, &mut notes)?;
        let mut renderings = Renderings::new(&workload.graph, &plan, &scene);
        renderings.check(&plan, shared.limits.max_color_attachments)?;
        subpass::create(shared, &plan, &scene, &mut renderings)?;
        let mut placer = Placer::new(shared, &workload, &plan, &scene, &mut notes);
        placer.clears = chaos.is_some();
        let (places, arenas) = placer.place()?;
        let binder = Binder { shared, graph: &workload.graph, plan: &plan, scene: &scene, renderings: &renderings };
        let mut packets = Packets { of_pass: IdVec::filled(Span::default(), plan.passes.len()), ..Packets::default() };
        let mut recorded = Vec::new();
        let mut raw: IdVec<PlanPassId, Option<Arc<dyn RawWork>>> = IdVec::new();
        for pass in plan.live() {
            let Some(declared) = scene.pass_of[pass] else {
                binder.add_inserted(pass, &mut packets);
                continue;
            };
            match workload.works.get(&declared) {
                None => {}
                Some(Work::Steps(steps)) => binder.add(pass, steps, &mut packets)?,
                Some(Work::Record(_)) => recorded.push(pass),
                Some(Work::Raw(_)) if plan.passes[pass].queue.is_none() => {
                    return binder.wrong(
                        pass,
                        "records Vulkan commands, and its queue is the CPU's",
                        "use another queue",
                    );
                }
                Some(Work::Raw(work)) => {
                    if raw.is_empty() {
                        raw = IdVec::filled(None, plan.passes.len());
                    }
                    raw[pass] = Some(work.clone());
                }
                Some(Work::Host(_)) if plan.passes[pass].queue.is_some() => {
                    return binder.wrong(
                        pass,
                        "has a host function, and its queue is not the CPU's",
                        "use queue \"cpu\"",
                    );
                }
                Some(Work::Host(_)) => {}
            }
        }
        let planned = scene.pass_of.iter_ids().filter_map(|(id, declared)| Some(((*declared)?, id))).collect();
        let changing = raw.iter_ids().filter(|(_, work)| work.as_ref().is_some_and(|work| !work.is_static()));
        let again: Vec<PlanPassId> = recorded.iter().copied().chain(changing.map(|(pass, _)| pass)).collect();
        let (batches, chunks) =
            split(&plan, &scene, &queues, Again { passes: &again, apart: again.len() > recorded.len() });
        let host_sets = plan.set_of(true).iter_ids().map(|(pass, set)| set.unwrap_or(pass.index() as u32)).collect();
        let roots = workload.graph.roots().iter().map(|&declared| {
            let resource = scene.resource_of[declared];
            let states = scene.begins_empty(&plan, resource).then(|| final_states(&plan, &scene, resource));
            Root { resource, declared, states }
        });
        let roots = roots.collect();
        let phases = scene.remembered.iter().filter(|frames| **frames > 0).fold(1, |all, frames| {
            let length = u64::from(*frames) + 1;
            all / gcd(all, length) * length
        });
        let labels = plan.passes.ids().map(|pass| c_string(plan.pass_name(pass))).collect();
        let mut signals = HashMap::new();
        for (id, batch) in plan.batches.iter_ids() {
            if let Some(value) = batch.signal {
                signals.insert((batch.queue.map_or(plan.queues.len(), Id::index), value), id);
            }
        }
        let events = plan.commands.iter().filter_map(|command| match command {
            Command::SetEvent(event, _) => Some(event.index() as u32 + 1),
            _ => None,
        });
        let events = events.max().unwrap_or(0);
        let import = |(home, place): (ResourceId, &Place)| {
            let life = scene.declared[home].map(|declared| workload.graph.resources()[declared].life);
            let defined = matches!(life, Some(Life::Imported(imported)) if imported.defined);
            let bound = matches!(place, Place::Import(..));
            (bound || defined && !matches!(place, Place::Unused)).then_some(Import { home, bound, defined })
        };
        let imports = places.iter_ids().filter_map(import).collect();
        let chaos = chaos.map(|spec| Box::new(Chaos { spec, fills: fills(&workload.graph, &plan, &scene) }));
        Ok(Self {
            shared: shared.clone(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            plan,
            scene,
            renderings,
            packets,
            recorded,
            raw,
            host_sets,
            records_again: !again.is_empty(),
            planned,
            imports,
            places,
            batches,
            chunks,
            roots,
            queues,
            phases,
            labels,
            signals,
            events,
            chaos,
            notes,
            bake_us,
            arenas,
            workload,
        })
    }

    /// What steps are turned into packets with.
    pub fn binder(&self) -> Binder<'_> {
        Binder {
            shared: &self.shared,
            graph: &self.workload.graph,
            plan: &self.plan,
            scene: &self.scene,
            renderings: &self.renderings,
        }
    }

    /// The memory whose place a resource has: its own, or that of what it remembers; and how many runs ago.
    pub fn home(&self, resource: ResourceId) -> (ResourceId, u64) {
        let memory = self.scene.memory[resource];
        let life = self.scene.declared[memory].map(|declared| self.workload.graph.resources()[declared].life);
        match life {
            Some(Life::History(history)) => {
                (self.scene.memory[self.scene.resource_of[history.of]], u64::from(history.frames))
            }
            _ => (memory, 0),
        }
    }

    /// The image or buffer that a resource is in a run.
    pub fn store<'a>(&'a self, resource: ResourceId, run: u64, imports: &'a Imports) -> Option<&'a Arc<Store>> {
        let (home, back) = self.home(resource);
        match &self.places[home] {
            Place::Unused => None,
            Place::Fixed(store) => Some(store),
            Place::Ring(ring) => {
                let length = ring.len() as u64;
                ring.get(((run % length + length - back % length) % length) as usize)
            }
            Place::PerContext(stores) => stores.get((run % stores.len() as u64) as usize),
            Place::Import(..) => imports[home].as_ref(),
        }
    }
}

/// What is bound to imported resources, by the plan's memories.
pub(crate) type Imports = IdVec<ResourceId, Option<Arc<Store>>>;

impl Drop for Prepared {
    fn drop(&mut self) {
        subpass::destroy(&self.shared, &mut self.renderings);
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The device's queue for each queue of a plan: the one that was planned for, else one that can do as much.
fn map_queues(
    shared: &Shared,
    planned: &IdVec<rgraph_plan::plan::QueueId, PlanQueue>,
    notes: &mut Vec<String>,
) -> Result<Vec<usize>, Error> {
    let mut out = Vec::new();
    for (at, queue) in planned.iter().enumerate() {
        let can = |one: &crate::queue::Queue| one.capabilities.contains(queue.capabilities - Capabilities::TRANSFER);
        let same = |one: &crate::queue::Queue| one.name == queue.name && one.family == queue.family && can(one);
        let free = |index: usize| !out.contains(&index);
        let queues = || shared.queues.iter().enumerate();
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

/// Makes images and buffers.
struct Placer<'a> {
    shared: &'a Arc<Shared>,
    workload: &'a Workload,
    plan: &'a Plan,
    scene: &'a Scene,
    notes: &'a mut Vec<String>,
    /// Memories that a pass or barrier uses under any of their names.
    used: IdVec<ResourceId, bool>,
    /// Memories that are roots under any of their names.
    rooted: IdVec<ResourceId, bool>,
    /// Whether images are made such that they can be cleared.
    clears: bool,
}

type Placed = (IdVec<ResourceId, Place>, Vec<Arc<Arena>>);

impl<'a> Placer<'a> {
    fn new(
        shared: &'a Arc<Shared>,
        workload: &'a Workload,
        plan: &'a Plan,
        scene: &'a Scene,
        notes: &'a mut Vec<String>,
    ) -> Self {
        let mut used = IdVec::filled(false, plan.resources.len());
        let mut rooted = used.clone();
        for memory in used_by_batches(plan, scene).into_iter().flatten() {
            used[memory] = true;
        }
        for &root in workload.graph.roots() {
            rooted[scene.memory[scene.resource_of[root]]] = true;
        }
        Self { shared, workload, plan, scene, notes, used, rooted, clears: false }
    }

    fn place(&mut self) -> Result<Placed, Error> {
        let (plan, scene, graph) = (self.plan, self.scene, &self.workload.graph);
        let used = self.usages(graph);
        let mut places: IdVec<ResourceId, Place> = plan.resources.ids().map(|_| Place::Unused).collect();
        let mut memories: Vec<(ResourceId, u32, u64, u64)> = Vec::new();
        // A memory may be placed under any of its names, all of one size.
        let mut placed: IdVec<ResourceId, bool> = IdVec::filled(false, plan.resources.len());
        for placement in &plan.memory.placements {
            let memory = scene.memory[placement.resource];
            if self.used[memory] && !std::mem::replace(&mut placed[memory], true) {
                memories.push((memory, placement.heap.index() as u32, placement.offset, placement.size));
            }
        }
        let mut seen: IdVec<ResourceId, bool> = IdVec::filled(false, plan.resources.len());
        for pass in plan.live().filter(|pass| plan.passes[*pass].queue.is_none()) {
            scene.of(pass).iter().for_each(|access| seen[scene.memory[access.resource]] = true);
        }
        // What remembers lies in the ring of what it remembers.
        for (id, resource) in graph.resources().iter_ids() {
            if let Life::History(history) = resource.life {
                let home = scene.memory[scene.resource_of[history.of]];
                seen[home] |= seen[scene.memory[scene.resource_of[id]]];
            }
        }
        let host = |memory: ResourceId| seen[memory];
        // Where the host cannot see the device's memory, only a heap of the host's holds what both use.
        let apart = |memory: ResourceId, heap: HeapId| {
            host(memory) && !self.shared.unified && !plan.memory.heaps[heap].memory_type.contains("host")
        };
        let mut arenas: Vec<Option<Arc<Arena>>> = Vec::new();
        for heap in plan.memory.heaps.ids() {
            let here = |one: &&(ResourceId, u32, u64, u64)| one.1 as usize == heap.index() && !apart(one.0, heap);
            let here: Vec<_> = memories.iter().filter(here).copied().collect();
            let arena = self.arena(heap, &here, &used, here.iter().any(|one| host(one.0)))?;
            arenas.push(arena);
        }
        for &(memory, heap, offset, size) in &memories {
            let name = plan.resource_name(memory);
            let kind = plan.resources[memory].kind;
            let concurrent = self.concurrent(memory);
            let needs = self.shared.measure(name, kind, used[memory], concurrent)?;
            let fits = needs.size <= size
                && offset % needs.alignment.max(1) == 0
                && !apart(memory, HeapId::new(heap as usize));
            let arena = arenas[heap as usize].as_ref().filter(|arena| fits && arena.allows(needs.memory_type_bits));
            let store = match arena {
                Some(arena) => Store::placed(self.shared, name, kind, used[memory], concurrent, arena, offset)?,
                None => {
                    self.notes
                        .push(format!("\"{name}\" has memory of its own: the plan's place does not suit the device"));
                    let domain = if host(memory) { Domain::Cached } else { Domain::Device };
                    Store::new(self.shared, name, kind, used[memory], domain, concurrent)?
                }
            };
            places[memory] = Place::Fixed(store);
        }
        for (memory, life) in plan.resources.iter_ids().map(|(id, resource)| (id, resource.life)) {
            if scene.memory[memory] != memory || !self.used[memory] && scene.remembered[memory] == 0 {
                continue;
            }
            let history = scene.declared[memory].and_then(|declared| match graph.resources()[declared].life {
                Life::History(history) => Some(history),
                _ => None,
            });
            // Those that remember lie in the ring of what they remember.
            if history.is_some() || matches!(life, PlanLife::Transient | PlanLife::Root) {
                continue;
            }
            let domain = if host(memory) { Domain::Cached } else { Domain::Device };
            let concurrent = life != PlanLife::Fresh || self.concurrent(memory);
            let make = |suffix: &str| {
                let name = format!("{}{suffix}", plan.resource_name(memory));
                Store::new(self.shared, &name, plan.resources[memory].kind, used[memory], domain, concurrent)
            };
            places[memory] = match scene.remembered[memory] {
                0 if life == PlanLife::Fresh => {
                    let contexts = 0..self.shared.frames_in_flight;
                    Place::PerContext(contexts.map(|at| make(&format!("[{at}]"))).collect::<Result<_, _>>()?)
                }
                0 if life == PlanLife::Imported => Place::Import(used[memory], domain),
                0 => Place::Fixed(make("")?),
                frames => {
                    let ring = (0..=frames).map(|at| make(&format!("[{at}]"))).collect::<Result<_, _>>()?;
                    Place::Ring(ring)
                }
            };
        }
        Ok((places, arenas.into_iter().flatten().collect()))
    }

    /// Usages by the plan's memories.
    fn usages(&self, graph: &Graph) -> IdVec<ResourceId, Usages> {
        let kind = |id: ResourceId| self.plan.resources[self.scene.resource_of[id]].kind;
        let memory = memories(graph, kind);
        let used = usages(graph, &memory, kind);
        let mut out = IdVec::filled(Usages::default(), self.plan.resources.len());
        for (id, memory) in memory.iter_ids() {
            out[self.scene.resource_of[id]] = used[*memory];
        }
        if self.clears {
            let kinds = self.plan.resources.iter();
            out.iter_mut().zip(kinds).for_each(|(used, of)| allow_clears(self.shared, of.kind, used));
        }
        out
    }

    /// Whether queue families share it: as planned, and what outlives the frame always, since it has no next owner yet.
    fn concurrent(&self, memory: ResourceId) -> bool {
        use rgraph_plan::access::Sharing;
        let resource = &self.plan.resources[memory];
        resource.sharing == Sharing::Concurrent
            || !matches!(resource.life, PlanLife::Transient | PlanLife::Fresh)
            || self.rooted[memory]
    }

    /// Memory for all that is placed in a heap of the plan, of a type that suits all; `None` if there is no such type.
    fn arena(
        &mut self,
        heap: HeapId,
        here: &[(ResourceId, u32, u64, u64)],
        used: &IdVec<ResourceId, Usages>,
        host: bool,
    ) -> Result<Option<Arc<Arena>>, Error> {
        let mut types = u32::MAX;
        let mut alignment = self.shared.limits.buffer_image_granularity.max(256);
        let mut end = 0;
        for &(memory, _, offset, size) in here {
            let name = self.plan.resource_name(memory);
            let needs =
                self.shared.measure(name, self.plan.resources[memory].kind, used[memory], self.concurrent(memory))?;
            if needs.size <= size && types & needs.memory_type_bits != 0 {
                types &= needs.memory_type_bits;
                alignment = alignment.max(needs.alignment);
                end = end.max(offset + size);
            }
        }
        if end == 0 {
            return Ok(None);
        }
        let granularity = self.shared.limits.buffer_image_granularity.max(1);
        let size = end.next_multiple_of(granularity);
        let requirements = vk::MemoryRequirements { size, alignment, memory_type_bits: types };
        let name = format!("{} transients ({})", self.plan.graph, self.plan.memory.heaps[heap].memory_type);
        let domain = if host { Domain::Cached } else { Domain::Device };
        let want = Want { name: &name, requirements, domain, linear: false, dedicated: None };
        Arena::new(self.shared, want, types).map(Some)
    }
}
