//! A naive planner for tests: one queue, every pass alone, a full barrier before each, layouts tracked piece by
//! piece, no aliasing. It shares no code with the planner or the checker; both are compared with it.

pub mod corner;
mod declared;
pub mod mutate;

use std::collections::{BTreeMap, BTreeSet};

use rgraph_plan::access::{Accesses, Aspects, Layout, Load, PassQueue, Sharing, Stages, Store, Usage};
use rgraph_plan::graph::{Access, Graph};
use rgraph_plan::id::{Id, IdVec, Names, Span};
use rgraph_plan::plan::*;
use rgraph_plan::profile::Capabilities;
use rgraph_plan::resource::{Life, ResourceId};

use declared::{Operation, bytes, memory, picture, serial, writes};

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
    // It reads the fallback of an output, and not the fallback of that one.
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
                memory: id,
                ring: 1,
                remembers: None,
                usages: None,
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
        let state = EdgeState {
            queue: (!host).then(|| QueueId::new(0)),
            stages: Stages::all(),
            access: Accesses::all(),
            layout,
        };
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
                Operation::Pass(pass) => {
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
            flag: None,
            accesses: Span::default(),
            why: PassWhy::default(),
        })
    }

    fn uses(&self, step: &Operation) -> Vec<Used> {
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
            Operation::Mip { resource, level, layers, .. } => vec![
                blit(*resource, level - 1, *layers, Usage::TransferSrc),
                blit(*resource, *level, *layers, Usage::TransferDst),
            ],
            Operation::Scale { from, to } => {
                let layers = |id| [0, picture(graph, id).unwrap().layers];
                vec![blit(*from, 0, layers(*from), Usage::TransferSrc), blit(*to, 0, layers(*to), Usage::TransferDst)]
            }
            Operation::Pass(pass) => {
                let mut uses = Vec::new();
                for access in graph.accesses().iter().filter(|a| a.pass == *pass) {
                    let ranges = graph.ranges_of(access);
                    let one = writes(access.usage)
                        || matches!(access.usage, Usage::DepthStencilRead | Usage::InputAttachment);
                    let p = picture(graph, access.resource);
                    let used = Used {
                        resource: access.resource,
                        usage: access.usage,
                        mips: ranges.mips.unwrap_or(if one { [0, 1] } else { [0, p.map_or(1, |p| p.mips)] }),
                        layers: ranges.layers.unwrap_or([0, p.map_or(1, |p| p.layers)]),
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

    fn step(&mut self, step: &Operation) {
        let graph = self.graph;
        let uses = self.uses(step);
        let (pass, cpu) = match step {
            Operation::Pass(pass) => {
                let cpu = graph.passes()[*pass].queue == PassQueue::Cpu;
                let queue = (!cpu).then(|| QueueId::new(0));
                (self.name(graph.pass_name(*pass), [Some(pass.index() as u32), None], queue), cpu)
            }
            Operation::Mip { pass, resource, level, .. } => {
                let name = format!("{}/mips/{}.{level}", graph.pass_name(*pass), graph.resource_name(*resource));
                (self.name(&name, [None, Some(pass.index() as u32)], Some(QueueId::new(0))), false)
            }
            Operation::Scale { from, to } => {
                let name = format!("{} scaled to {}", graph.resource_name(*from), graph.resource_name(*to));
                (self.name(&name, [None; 2], Some(QueueId::new(0))), false)
            }
        };
        if cpu {
            self.close(Some(pass));
            return;
        }
        if !matches!(step, Operation::Pass(_)) {
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
        for used in uses {
            let reads = used.usage == Usage::DepthStencilRead;
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
        for used in uses.iter().filter(|used| used.usage == Usage::InputAttachment) {
            let attached = self.plan.attachments[start..].iter().any(|one| {
                (memory(graph, one.resource), one.mip, one.layers)
                    == (memory(graph, used.resource), used.mips[0], used.layers)
            });
            if !attached {
                let stencil = used.aspects.contains(Aspects::STENCIL);
                self.plan.attachments.push(Attachment {
                    resource: used.resource,
                    mip: used.mips[0],
                    layers: used.layers,
                    aspects: used.aspects,
                    load: Load::Load,
                    store: Store::Nothing,
                    stencil: stencil.then_some((Load::Load, Store::Nothing)),
                    clear: None,
                    resolve_to: None,
                    input: true,
                });
            }
        }
        let end = self.plan.attachments.len();
        (end > start).then(|| Span::new(start, end))
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
