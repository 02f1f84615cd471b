//! A naive planner for tests: one queue, every pass alone, a full barrier before each, layouts tracked piece by
//! piece, no aliasing. It shares no code with the planner or the judge; both are held against it.

use std::collections::{BTreeMap, BTreeSet};

use rgraph_plan::access::{Accesses, Aspects, Layout, Load, PassQueue, Sharing, Stages, Store, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Access, Graph, PassId};
use rgraph_plan::id::{Id, IdVec, Names, Span};
use rgraph_plan::plan::*;
use rgraph_plan::profile::Capabilities;
use rgraph_plan::resource::{Axis, Kind, Life, Mips, ResourceId};

/// Width, mips, layers, samples, format of an image.
#[derive(Clone, Copy)]
struct Picture {
    size: [u32; 3],
    mips: u32,
    layers: u32,
    samples: u32,
    format: Format,
    volume: bool,
    cube: bool,
}

fn picture(graph: &Graph, id: ResourceId) -> Option<Picture> {
    let resource = &graph.resources()[id];
    let image = resource.as_image()?;
    let base = resource.modifies.or(match resource.life {
        Life::History(history) => Some(history.of),
        _ => None,
    });
    let base = base.and_then(|base| picture(graph, base));
    let [width, height] = graph.reference_size();
    let axis = |axis: Axis, at: usize| match axis {
        Axis::Texels(n) => n,
        Axis::Scaled(None, scale) => (f64::from([width, height, 1][at]) * scale) as u32,
        Axis::Scaled(Some(of), scale) => (f64::from(picture(graph, of).unwrap().size[at]) * scale) as u32,
    };
    let size = match (image.size, base) {
        (Some(size), _) => [axis(size.x, 0), axis(size.y, 1), size.z.map_or(1, |z| axis(z, 2))],
        (None, Some(base)) => base.size,
        (None, None) => [width, height, 1],
    };
    let full = size.iter().max().unwrap().ilog2() + 1;
    Some(Picture {
        size,
        mips: match image.mips {
            None => base.map_or(1, |base| base.mips),
            Some(Mips::Full) => full,
            Some(Mips::Count(n)) => n,
        },
        layers: image.layers.or(base.map(|base| base.layers)).unwrap_or(if image.cube { 6 } else { 1 }),
        samples: image.samples.or(base.map(|base| base.samples)).unwrap_or(1),
        format: image.format.or(base.map(|base| base.format)).unwrap(),
        volume: image.size.map_or(base.is_some_and(|base| base.volume), |size| size.z.is_some()),
        cube: image.cube || base.is_some_and(|base| base.cube),
    })
}

fn bytes(graph: &Graph, id: ResourceId) -> u64 {
    match (&graph.resources()[id].kind, picture(graph, id)) {
        (Kind::Buffer(buffer), _) => buffer.size.unwrap_or_else(|| match graph.resources()[id].life {
            Life::History(history) => bytes(graph, history.of),
            _ => bytes(graph, graph.resources()[id].modifies.unwrap()),
        }),
        (_, Some(p)) => {
            let [width, height] = p.format.block();
            let blocks = |n: u32, m: u32, of: u32| u64::from((n >> m).max(1).div_ceil(of));
            let level = |m: u32| blocks(p.size[0], m, width) * blocks(p.size[1], m, height) * blocks(p.size[2], m, 1);
            let texels: u64 = (0..p.mips).map(level).sum();
            texels * p.format.block_bytes() * u64::from(p.layers) * u64::from(p.samples)
        }
        _ => 0,
    }
}

/// The first name of the memory that a resource lies in; histories of one age are one copy.
fn memory(graph: &Graph, id: ResourceId) -> ResourceId {
    if let Life::History(history) = graph.resources()[id].life {
        let same = |other: &ResourceId| graph.resources()[*other].life == Life::History(history);
        return graph.resources().ids().find(same).unwrap_or(id);
    }
    match graph.resources()[id].modifies {
        Some(base) if picture(graph, base).map(|p| p.size) == picture(graph, id).map(|p| p.size) => memory(graph, base),
        _ => id,
    }
}

fn chain(graph: &Graph, id: ResourceId) -> u32 {
    if memory(graph, id) == id { 0 } else { 1 + chain(graph, graph.resources()[id].modifies.unwrap()) }
}

/// A step of the serial frame.
#[derive(Clone)]
enum Step {
    Pass(PassId),
    Mip { pass: PassId, resource: ResourceId, level: u32, layers: [u32; 2] },
    Scale { from: ResourceId, to: ResourceId },
}

fn writes(usage: Usage) -> bool {
    matches!(
        usage,
        Usage::ColorAttachment
            | Usage::DepthStencilAttachment
            | Usage::ResolveAttachment
            | Usage::StorageWrite
            | Usage::StorageReadWrite
            | Usage::TransferDst
            | Usage::HostWrite
            | Usage::AccelerationBuild
            | Usage::AccelerationUpdate
            | Usage::AccelerationScratch
    )
}

/// A serial order that means what the declaration means.
fn serial(graph: &Graph) -> Vec<Step> {
    let count = graph.passes().len();
    let mut before = vec![BTreeSet::new(); count];
    let accesses = graph.accesses();
    let key = |access: &Access| {
        let position = access.pass.index();
        let own = |a: &&Access| a.resource == access.resource && writes(a.usage);
        let first = accesses.iter().filter(own).map(|a| a.pass.index()).min();
        let resource = &graph.resources()[access.resource];
        let transient = resource.life.is_of_frame() && resource.modifies.is_none();
        let chain = chain(graph, access.resource);
        match first {
            Some(first) if transient && !writes(access.usage) && first > position => (chain, first, 1),
            _ => (chain, position, 0),
        }
    };
    let edge = |before: &mut Vec<BTreeSet<usize>>, a: &Access, b: &Access| {
        if a.pass != b.pass && (writes(a.usage) || writes(b.usage)) {
            if key(a) < key(b) {
                before[b.pass.index()].insert(a.pass.index());
            } else {
                before[a.pass.index()].insert(b.pass.index());
            }
        }
    };
    for (at, a) in accesses.iter().enumerate() {
        for b in &accesses[at + 1..] {
            let scaled = |x: ResourceId, y: ResourceId| graph.resources()[y].modifies == Some(x);
            if memory(graph, a.resource) == memory(graph, b.resource) {
                edge(&mut before, a, b);
            } else if scaled(a.resource, b.resource) && writes(a.usage) {
                before[b.pass.index()].insert(a.pass.index());
            } else if scaled(b.resource, a.resource) && writes(b.usage) {
                before[a.pass.index()].insert(b.pass.index());
            }
        }
    }
    for fallback in graph.fallbacks() {
        for reader in accesses.iter().filter(|a| a.resource == fallback.output && a.pass != fallback.pass) {
            for access in accesses.iter().filter(|a| memory(graph, a.resource) == memory(graph, fallback.input)) {
                if writes(access.usage) && access.pass < reader.pass {
                    before[reader.pass.index()].insert(access.pass.index());
                }
            }
        }
    }
    for (later, earlier) in graph.orderings() {
        before[later.index()].insert(earlier.index());
    }
    let mut steps = Vec::new();
    let mut done = vec![false; count];
    let mut scaled = BTreeSet::new();
    while let Some(next) = (0..count).find(|&p| !done[p] && before[p].iter().all(|b| done[*b])) {
        done[next] = true;
        let pass = PassId::new(next);
        for access in accesses.iter().filter(|a| a.pass == pass) {
            let to = memory(graph, access.resource);
            if let Some(from) = graph.resources()[to].modifies
                && scaled.insert(to)
            {
                steps.push(Step::Scale { from, to });
            }
        }
        steps.push(Step::Pass(pass));
        for access in accesses.iter().filter(|a| a.pass == pass && a.generate_mips) {
            let p = picture(graph, access.resource).unwrap();
            let ranges = graph.ranges_of(access);
            for level in ranges.mips.map_or(1, |[_, end]| end)..p.mips {
                let layers = ranges.layers.unwrap_or([0, p.layers]);
                steps.push(Step::Mip { pass, resource: access.resource, level, layers });
            }
        }
    }
    assert!(done.iter().all(|d| *d), "the generated graph {} has a cycle", graph.name());
    steps
}

/// One use of one step.
#[derive(Clone)]
struct Used {
    resource: ResourceId,
    usage: Usage,
    mips: [u32; 2],
    layers: [u32; 2],
    aspects: Aspects,
    access: Option<Access>,
}

const GPU: Stages = Stages::all().difference(Stages::HOST);

fn everything() -> Scope {
    let write = Accesses::WRITES.difference(Accesses::HOST_WRITE);
    Scope { src_stages: GPU, src_access: write, dst_stages: Stages::all(), dst_access: Accesses::all() }
}

fn why(resource: ResourceId) -> Why {
    Why { hazard: Hazard::ReadAfterWrite, from: None, to: None, resource }
}

struct Naive<'g> {
    graph: &'g Graph,
    plan: Plan,
    layout: BTreeMap<(ResourceId, u32, u32), Layout>,
    written: BTreeSet<(ResourceId, u32, u32)>,
    open: usize,
    waits: usize,
    value: u32,
    host: u32,
    patches: Vec<(usize, bool)>,
}

/// Whether the naive planner can plan a graph: it names images by mips and layers only, and knows one use of each in
/// a pass.
pub fn can_plan(graph: &Graph) -> bool {
    let accesses = graph.accesses();
    let plain = |access: &Access| access.aspects.is_empty() || access.usage == Usage::Sampled;
    let named = |access: &Access| {
        let color = picture(graph, access.resource).is_some_and(|p| !p.format.is_depth_stencil());
        access.usage != Usage::ResolveAttachment || color && graph.details_of(access).resolves.is_some()
    };
    // A reader of an output with a fallback uses the fallback's input too.
    let falls_to = |to: ResourceId, access: &&Access| {
        graph.fallbacks().iter().any(|one| one.output == access.resource && one.input == to)
    };
    // It reads what stands in for an output, and not what stands in for that.
    let chain = graph.fallbacks().iter().any(|one| graph.fallbacks().iter().any(|next| next.output == one.input));
    let twice = |a: &Access| {
        let own = accesses.iter().filter(|b| b.pass == a.pass);
        own.filter(|b| b.resource == a.resource || falls_to(a.resource, b)).count() > 1
    };
    !chain && accesses.iter().all(|access| plain(access) && named(access) && !twice(access))
}

/// A plan that is right and slow.
pub fn naive(graph: &Graph) -> Plan {
    let mut naive = Naive {
        graph,
        plan: Plan { graph: graph.name().to_owned(), graph_hash: graph.content_hash(), ..Plan::default() },
        layout: BTreeMap::new(),
        written: BTreeSet::new(),
        open: 0,
        waits: 0,
        value: 0,
        host: 0,
        patches: Vec::new(),
    };
    naive.run();
    naive.plan
}

impl Naive<'_> {
    fn run(&mut self) {
        let graph = self.graph;
        self.plan.profile = "naive".to_owned();
        self.plan.queues.push(PlanQueue { name: "graphics".to_owned(), family: 0, capabilities: Capabilities::all() });
        self.plan.pass_names = Names::default();
        self.plan.resource_names.copy_from(graph.resource_names());
        self.memory();
        let steps = serial(graph);
        for step in &steps {
            self.step(step);
        }
        self.leave();
        self.close(None);
        self.foreign();
        let (value, host) = (self.value, self.host);
        for (wait, of_host) in std::mem::take(&mut self.patches) {
            self.plan.waits[wait].value = if of_host { host } else { value };
        }
    }

    /// Each queue waits for the other users of imports with its first batch, and signals them with its last one.
    fn foreign(&mut self) {
        for queue in [Some(QueueId::new(0)), None] {
            let batches = self.plan.batches.iter_ids().filter(|(_, batch)| batch.queue == queue);
            let batches: Vec<_> = batches.map(|(id, _)| id).collect();
            let (Some(&first), Some(&last)) = (batches.first(), batches.last()) else { continue };
            for (resource, declared) in self.graph.resources().iter_ids() {
                let Life::Imported(imported) = declared.life else { continue };
                if imported.wait {
                    self.plan.foreign.push(ForeignPoint { resource, batch: first, wait: Some(Stages::all()) });
                }
                if imported.signal {
                    self.plan.foreign.push(ForeignPoint { resource, batch: last, wait: None });
                }
            }
        }
    }

    fn memory(&mut self) {
        let graph = self.graph;
        let mut end = 0;
        let remembered: BTreeSet<ResourceId> = graph
            .resources()
            .iter()
            .filter_map(|resource| match resource.life {
                Life::History(history) => Some(history.of),
                _ => None,
            })
            .collect();
        let mut offsets = BTreeMap::new();
        for (id, resource) in graph.resources().iter_ids() {
            let size = bytes(graph, id);
            let kind = match picture(graph, id) {
                Some(p) => PlanKind::Image {
                    format: p.format,
                    size: p.size,
                    mips: p.mips,
                    layers: p.layers,
                    samples: p.samples,
                    volume: p.volume,
                    cube: p.cube,
                },
                None => PlanKind::Buffer { size },
            };
            let life = match graph.resources()[memory(graph, id)].life {
                _ if remembered.contains(&id) => PlanLife::History,
                Life::Transient => PlanLife::Transient,
                Life::Fresh => PlanLife::Fresh,
                Life::Persistent => PlanLife::Persistent,
                Life::History(_) => PlanLife::History,
                Life::Imported(_) => PlanLife::Imported,
            };
            self.plan.resources.push(PlanResource {
                kind,
                bytes: size,
                lifetime: None,
                aliases: Span::default(),
                sharing: resource.sharing.unwrap_or(Sharing::Exclusive),
                memory_domain: graph.resources()[memory(graph, id)].memory_domain,
                life,
                inserted: false,
                transient_attachment: false,
            });
            if life == PlanLife::Transient {
                let first = memory(graph, id);
                let offset = *offsets.entry(first).or_insert(end);
                let placement = Placement { resource: id, heap: HeapId::new(0), offset, size };
                self.plan.memory.placements.push(placement);
                end = end.max(offset + size.next_multiple_of(65536));
            } else if life != PlanLife::Fresh {
                self.edge(id);
            }
        }
        self.plan.memory.heaps = IdVec::filled(Heap { memory_type: "device".to_owned(), size: end }, 1);
        self.plan.memory.total = end;
        self.plan.memory.without_aliasing = end;
    }

    /// Edges in layout general, for every use; images are brought there again at the end of the frame.
    fn edge(&mut self, id: ResourceId) {
        let image = picture(self.graph, id);
        let layout = if image.is_some() { Layout::General } else { Layout::Undefined };
        let host = self.on_host(id);
        let state =
            State { queue: (!host).then(|| QueueId::new(0)), stages: Stages::all(), access: Accesses::all(), layout };
        let (mips, layers) = image.map_or(([0, 1], [0, 1]), |p| ([0, p.mips], [0, p.layers]));
        let aspects = image.map_or(Aspects::empty(), |p| p.format.aspects());
        let range = if image.is_some() { [0, 0] } else { [0, bytes(self.graph, id)] };
        self.plan.edges.push(Edge { resource: id, mips, layers, aspects, range, entry: state, exit: state });
    }

    /// Whether the first use is the host's: the naive planner brings everything back to the graphics queue.
    fn on_host(&self, id: ResourceId) -> bool {
        serial(self.graph)
            .iter()
            .find_map(|step| match step {
                Step::Pass(pass) => {
                    let used = self.graph.accesses().iter().any(|a| a.pass == *pass && a.resource == id);
                    used.then(|| self.graph.passes()[*pass].queue == PassQueue::Cpu)
                }
                _ => None,
            })
            .unwrap_or(false)
    }

    fn name(&mut self, name: &str, [declared, owner]: [Option<u32>; 2], queue: Option<QueueId>) -> PlanPassId {
        let name = self.plan.pass_names.push(name) as u32;
        self.plan.passes.push(PlanPass {
            name,
            declared,
            owner,
            queue,
            culled: None,
            physical_pass: None,
            subpass: 0,
            accesses: Span::default(),
            why: PassWhy::default(),
        })
    }

    fn uses(&self, step: &Step) -> Vec<Used> {
        let graph = self.graph;
        let blit = |resource: ResourceId, mip: u32, layers: [u32; 2], usage: Usage| Used {
            resource,
            usage,
            mips: [mip, mip + 1],
            layers,
            aspects: Aspects::COLOR,
            access: None,
        };
        match step {
            Step::Mip { resource, level, layers, .. } => vec![
                blit(*resource, level - 1, *layers, Usage::TransferSrc),
                blit(*resource, *level, *layers, Usage::TransferDst),
            ],
            Step::Scale { from, to } => {
                let layers = |id| [0, picture(graph, id).unwrap().layers];
                vec![blit(*from, 0, layers(*from), Usage::TransferSrc), blit(*to, 0, layers(*to), Usage::TransferDst)]
            }
            Step::Pass(pass) => {
                let mut uses = Vec::new();
                for access in graph.accesses().iter().filter(|a| a.pass == *pass) {
                    let said = graph.ranges_of(access);
                    let one = writes(access.usage)
                        || matches!(access.usage, Usage::DepthStencilRead | Usage::InputAttachment);
                    let p = picture(graph, access.resource);
                    let used = Used {
                        resource: access.resource,
                        usage: access.usage,
                        mips: said.mips.unwrap_or(if one { [0, 1] } else { [0, p.map_or(1, |p| p.mips)] }),
                        layers: said.layers.unwrap_or([0, p.map_or(1, |p| p.layers)]),
                        aspects: p.map_or(Aspects::empty(), |p| p.format.aspects()),
                        access: Some(*access),
                    };
                    for fallback in graph.fallbacks() {
                        if fallback.output == access.resource && fallback.pass != *pass && !writes(access.usage) {
                            uses.push(Used { resource: fallback.input, ..used.clone() });
                        }
                    }
                    uses.push(used);
                }
                uses
            }
        }
    }

    fn step(&mut self, step: &Step) {
        let graph = self.graph;
        let uses = self.uses(step);
        let (pass, cpu) = match step {
            Step::Pass(pass) => {
                let cpu = graph.passes()[*pass].queue == PassQueue::Cpu;
                let queue = (!cpu).then(|| QueueId::new(0));
                (self.name(graph.pass_name(*pass), [Some(pass.index() as u32), None], queue), cpu)
            }
            Step::Mip { pass, resource, level, .. } => {
                let name = format!("{}/mips/{}.{level}", graph.pass_name(*pass), graph.resource_name(*resource));
                (self.name(&name, [None, Some(pass.index() as u32)], Some(QueueId::new(0))), false)
            }
            Step::Scale { from, to } => {
                let name = format!("{} scaled to {}", graph.resource_name(*from), graph.resource_name(*to));
                (self.name(&name, [None; 2], Some(QueueId::new(0))), false)
            }
        };
        if cpu {
            self.close(Some(pass));
            return;
        }
        if !matches!(step, Step::Pass(_)) {
            let start = self.plan.pass_accesses.len();
            for used in &uses {
                let write = used.usage == Usage::TransferDst;
                self.plan.pass_accesses.push(PlanAccess {
                    resource: used.resource,
                    stages: Stages::BLIT,
                    access: if write { Accesses::TRANSFER_WRITE } else { Accesses::TRANSFER_READ },
                    layout: if write { Layout::TransferDst } else { Layout::TransferSrc },
                    mips: used.mips,
                    layers: used.layers,
                });
            }
            self.plan.passes[pass].accesses = Span::new(start, self.plan.pass_accesses.len());
        }
        let layouts = self.barrier(&uses);
        let attachments = self.attachments(&uses);
        if let Some(attachments) = attachments {
            self.plan
                .commands
                .push(Command::BeginRendering { physical_pass: PhysicalPassId::new(pass.index()), attachments });
        }
        self.plan.commands.push(Command::Pass { pass, layouts });
        if attachments.is_some() {
            self.plan.commands.push(Command::EndRendering);
        }
        for used in uses.iter().filter(|used| writes(used.usage)) {
            for mip in used.mips[0]..used.mips[1] {
                for layer in used.layers[0]..used.layers[1] {
                    self.written.insert((memory(graph, used.resource), mip, layer));
                }
            }
        }
    }

    fn wanted(&self, uses: &[Used], used: &Used) -> Layout {
        let same = uses.iter().filter(|u| u.resource == used.resource);
        let depth = used.aspects.intersects(Aspects::DEPTH | Aspects::STENCIL);
        let read_only = same.clone().any(|u| u.usage == Usage::DepthStencilRead);
        match used.usage {
            Usage::ColorAttachment | Usage::ResolveAttachment => Layout::ColorAttachment,
            Usage::DepthStencilAttachment => Layout::DepthStencilAttachment,
            Usage::DepthStencilRead => Layout::DepthStencilReadOnly,
            Usage::Sampled | Usage::InputAttachment if depth || read_only => Layout::DepthStencilReadOnly,
            Usage::Sampled | Usage::InputAttachment => {
                // A fallback may be read in two ways by one pass.
                if same.clone().any(|u| u.usage == Usage::StorageRead) {
                    Layout::General
                } else {
                    Layout::ShaderReadOnly
                }
            }
            Usage::TransferSrc => Layout::TransferSrc,
            Usage::TransferDst => Layout::TransferDst,
            Usage::Present => Layout::PresentSrc,
            _ => Layout::General,
        }
    }

    /// One call: everything before everything, and the layouts that the pass wants.
    fn barrier(&mut self, uses: &[Used]) -> Span {
        let graph = self.graph;
        let first_memory = self.plan.memory_barriers.len();
        let first_image = self.plan.image_barriers.len();
        let first_layout = self.plan.layouts.len();
        let nothing = ResourceId::new(0);
        self.plan.memory_barriers.push(MemoryBarrier { scope: everything(), why: why(nothing) });
        for used in uses {
            let Some(p) = picture(graph, used.resource) else { continue };
            let wanted = self.wanted(uses, used);
            let edged = self.plan.edges.iter().any(|edge| edge.resource == used.resource);
            for mip in used.mips[0]..used.mips[1].min(p.mips) {
                for layer in used.layers[0]..used.layers[1].min(p.layers) {
                    let key = (memory(graph, used.resource), mip, layer);
                    let start = if edged { Layout::General } else { Layout::Undefined };
                    let old = self.layout.insert(key, wanted).unwrap_or(start);
                    if old != wanted {
                        self.transition(used.resource, mip, layer, p.format.aspects(), [old, wanted]);
                    }
                    self.plan.layouts.push(PassLayout {
                        resource: used.resource,
                        mips: [mip, mip + 1],
                        layers: [layer, layer + 1],
                        aspects: p.format.aspects(),
                        layout: wanted,
                    });
                }
            }
        }
        self.plan.commands.push(Command::Barriers(Barriers {
            memory: Span::new(first_memory, self.plan.memory_barriers.len()),
            buffers: Span::default(),
            images: Span::new(first_image, self.plan.image_barriers.len()),
            by_region: false,
        }));
        Span::new(first_layout, self.plan.layouts.len())
    }

    fn transition(&mut self, resource: ResourceId, mip: u32, layer: u32, aspects: Aspects, layouts: [Layout; 2]) {
        self.plan.image_barriers.push(ImageBarrier {
            resource,
            mips: [mip, mip + 1],
            layers: [layer, layer + 1],
            aspects,
            scope: everything(),
            old_layout: layouts[0],
            new_layout: layouts[1],
            families: None,
            why: why(resource),
        });
    }

    fn attachments(&mut self, uses: &[Used]) -> Option<Span> {
        let graph = self.graph;
        let start = self.plan.attachments.len();
        let mut any = false;
        for used in uses {
            let reads = used.usage == Usage::DepthStencilRead;
            let input = used.usage == Usage::InputAttachment;
            any |= input;
            if !reads && !matches!(used.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment) {
                continue;
            }
            let Some(access) = used.access else { continue };
            let resource = &graph.resources()[used.resource];
            let there = resource.modifies.is_some()
                || !resource.life.is_of_frame()
                    && !matches!(resource.life, Life::Imported(imported) if !imported.defined)
                || (used.layers[0]..used.layers[1])
                    .any(|layer| self.written.contains(&(memory(graph, used.resource), used.mips[0], layer)));
            let default = if there || reads { Load::Load } else { Load::Discard };
            let load = access.load.unwrap_or(default);
            let to = uses.iter().find(|u| {
                u.usage == Usage::ResolveAttachment
                    && u.access.is_some_and(|a| graph.details_of(&a).resolves == Some(used.resource))
            });
            let store = if reads { Store::Nothing } else { Store::Store };
            let stencil = used.aspects.contains(Aspects::STENCIL);
            let stencil_load = access.stencil_load.unwrap_or(default);
            self.plan.attachments.push(Attachment {
                resource: used.resource,
                mip: used.mips[0],
                layers: used.layers,
                aspects: used.aspects,
                load,
                store,
                stencil: stencil.then_some((stencil_load, store)),
                clear: graph.details_of(&access).clear,
                resolve_to: to.map(|u| u.resource),
                input: false,
            });
        }
        (any || self.plan.attachments.len() > start).then(|| Span::new(start, self.plan.attachments.len()))
    }

    /// Ends the open batch; `cpu`: a host batch follows it.
    fn close(&mut self, cpu: Option<PlanPassId>) {
        let all = Barriers { ..Barriers::default() };
        let first = self.plan.memory_barriers.len();
        self.plan.memory_barriers.push(MemoryBarrier { scope: everything(), why: why(ResourceId::new(0)) });
        self.plan.commands.push(Command::Barriers(Barriers { memory: Span::new(first, first + 1), ..all }));
        self.value += 1;
        let start = self.waits;
        if self.value == 1 && self.graph.passes().iter().any(|pass| pass.queue == PassQueue::Cpu) {
            self.patches.push((self.plan.waits.len(), true));
            self.plan.waits.push(Wait { queue: None, value: 0, stages: GPU, previous_run: true });
        }
        if self.host > 0 {
            self.plan.waits.push(Wait { queue: None, value: self.host, stages: GPU, previous_run: false });
        }
        self.plan.batches.push(Batch {
            queue: Some(QueueId::new(0)),
            waits: Span::new(start, self.plan.waits.len()),
            commands: Span::new(self.open, self.plan.commands.len()),
            signal: Some(self.value),
        });
        self.open = self.plan.commands.len();
        self.waits = self.plan.waits.len();
        let Some(pass) = cpu else { return };
        self.host += 1;
        self.patches.push((self.waits, false));
        self.plan.waits.push(Wait { queue: Some(QueueId::new(0)), value: 0, stages: Stages::HOST, previous_run: true });
        self.plan.waits.push(Wait {
            queue: Some(QueueId::new(0)),
            value: self.value,
            stages: Stages::HOST,
            previous_run: false,
        });
        self.plan.commands.push(Command::Pass { pass, layouts: Span::default() });
        self.plan.batches.push(Batch {
            queue: None,
            waits: Span::new(self.waits, self.plan.waits.len()),
            commands: Span::new(self.open, self.plan.commands.len()),
            signal: Some(self.host),
        });
        self.open = self.plan.commands.len();
        self.waits = self.plan.waits.len();
    }

    /// Brings images that outlive the frame to where their edges say, and declared states with them.
    fn leave(&mut self) {
        let graph = self.graph;
        let first = self.plan.image_barriers.len();
        for at in 0..self.plan.edges.len() {
            let edge = self.plan.edges[at];
            let Some(p) = picture(graph, edge.resource) else { continue };
            let leave = graph.resources()[edge.resource].leave.and_then(|leave| leave.layout);
            let to = leave.unwrap_or(Layout::General);
            self.plan.edges[at].exit.layout = to;
            for mip in 0..p.mips {
                for layer in 0..p.layers {
                    let key = (memory(graph, edge.resource), mip, layer);
                    let old = self.layout.insert(key, to).unwrap_or(Layout::General);
                    if old != to {
                        self.transition(edge.resource, mip, layer, p.format.aspects(), [old, to]);
                    }
                }
            }
        }
        for edge in &mut self.plan.edges {
            edge.exit.queue = Some(QueueId::new(0));
        }
        self.plan.commands.push(Command::Barriers(Barriers {
            images: Span::new(first, self.plan.image_barriers.len()),
            ..Barriers::default()
        }));
    }
}
