//! What occurs in a declaration and its device, by name.

use std::collections::{BTreeMap, BTreeSet};

use rgraph_plan::access::{Accesses, Aspects, Layout, PassQueue, STAGE_NAMES, Sharing, Usage};
use rgraph_plan::graph::{Access, Clear, Graph, PassId, Ranges};
use rgraph_plan::id::Id;
use rgraph_plan::profile::{Capabilities, LAZY_MEMORY, Profile};
use rgraph_plan::resource::{Kind, Life, Mips, ResourceId};

/// The features of one declaration.
pub struct Features(BTreeSet<String>);

/// Usages that may follow each other on one resource of a kind, in any order.
const KINDS: [(&str, &[Usage]); 4] = [
    (
        "color",
        &[
            Usage::ColorAttachment,
            Usage::InputAttachment,
            Usage::Sampled,
            Usage::StorageRead,
            Usage::StorageWrite,
            Usage::StorageReadWrite,
            Usage::TransferSrc,
            Usage::TransferDst,
        ],
    ),
    (
        "depth",
        &[
            Usage::DepthStencilAttachment,
            Usage::DepthStencilRead,
            Usage::InputAttachment,
            Usage::Sampled,
            Usage::TransferSrc,
            Usage::TransferDst,
        ],
    ),
    (
        "buffer",
        &[
            Usage::Uniform,
            Usage::Vertex,
            Usage::Index,
            Usage::Indirect,
            Usage::Sampled,
            Usage::StorageRead,
            Usage::StorageWrite,
            Usage::StorageReadWrite,
            Usage::TransferSrc,
            Usage::TransferDst,
            Usage::HostRead,
            Usage::HostWrite,
            Usage::AccelerationInput,
        ],
    ),
    ("structure", &[Usage::AccelerationBuild, Usage::AccelerationUpdate, Usage::AccelerationRead, Usage::TransferSrc]),
];

/// Every pair of usages that may follow each other, by kind of resource.
pub fn pairs_wanted() -> Vec<String> {
    let mut pairs = Vec::new();
    for (kind, usages) in KINDS {
        for first in usages {
            pairs.extend(usages.iter().map(|then| format!("{kind}: {first}, then {then}")));
        }
    }
    pairs
}

impl Features {
    /// Those of a graph and a device.
    pub fn of(graph: &Graph, profile: &Profile) -> impl Iterator<Item = String> {
        let mut found = Self(BTreeSet::new());
        found.slots(graph);
        let flat = graph.flattened();
        let graph = flat.as_ref().unwrap_or(graph);
        found.profile(profile);
        found.passes(graph);
        found.resources(graph);
        found.accesses(graph);
        found.orders(graph);
        found.names(graph);
        found.0.into_iter()
    }

    fn add(&mut self, name: &str) {
        if !self.0.contains(name) {
            self.0.insert(name.to_owned());
        }
    }

    fn when(&mut self, is: bool, name: &str) {
        if is {
            self.add(name);
        }
    }

    fn slots(&mut self, graph: &Graph) {
        let slots = graph.passes().iter().filter(|pass| pass.slot.is_some()).count();
        self.when(slots > 0, "slots");
        let order = graph.flattened_order();
        self.when(order.is_some_and(|order| !order.is_sorted()), "slots that change the order");
        let places: Vec<_> = (0..graph.slots()).map(|slot| graph.slot_place(Id::new(slot))).collect();
        let numbered = |at: usize| {
            let (layer, number) = places[at];
            layer.is_some() && places[..at].iter().any(|place| place.0 == layer && place.1 > number)
        };
        self.when((0..places.len()).any(numbered), "places of a layer declared out of their order");
        let inside = |place: &(Option<_>, u32)| place.0.is_some_and(|at| numbered(Id::index(at)));
        self.when(places.iter().any(inside), "module at a place of a layer");
    }

    fn profile(&mut self, profile: &Profile) {
        let queues = &profile.queues;
        self.add(&format!("kinds of queue {}", queues.len()));
        self.when(queues.iter().any(|queue| queue.count > 1), "several queues of a kind");
        let graphics = |capabilities: Capabilities| capabilities.contains(Capabilities::GRAPHICS);
        self.when(queues.iter().any(|q| q.count > 1 && graphics(q.capabilities)), "several graphics queues");
        self.when(!graphics(queues[0].capabilities), "graphics queue not first");
        let families: BTreeSet<u32> = queues.iter().map(|queue| queue.family).collect();
        self.when(families.len() < queues.len(), "queues of one family");
        self.when(profile.buffer_image_granularity > 1024, "coarse granularity");
        self.when(profile.image_alignment == 1, "no alignment");
        self.when(profile.memory[0].heap_size.is_some(), "heap size");
        self.when(profile.memory.len() > 1, "several memories");
        self.when(profile.memory.iter().any(|memory| memory.name == LAZY_MEMORY), "lazy memory");
        self.when(profile.limits.max_color_attachments == 4, "least limits");
        self.when(profile.cross_queue_us == 0.0, "free hops");
    }

    fn passes(&mut self, graph: &Graph) {
        let mut used = vec![0; graph.passes().len()];
        for access in graph.accesses() {
            used[access.pass.index()] += 1;
        }
        for (id, pass) in graph.passes().iter_ids() {
            self.add(&format!("queue {}", pass.queue));
            self.when(pass.weight_us.is_some(), "weight");
            self.when(pass.unit.is_some(), "unit");
            self.when(pass.device.is_some(), "device");
            self.when(pass.side_effects, "side effects");
            self.when(pass.unordered, "draws that commute");
            self.when(pass.side_effects && pass.conditional.is_some(), "conditional side effects");
            self.when(pass.conditional.is_some(), "conditional");
            self.when(pass.conditional.is_some() && pass.queue == PassQueue::Cpu, "conditional on the host");
            let empty = used[id.index()] == 0;
            self.when(empty, "empty pass");
            self.when(empty && pass.setup, "setup that opts out");
            self.when(!empty && pass.setup, "setup");
        }
        self.add(&format!("flags {}", graph.flags().len()));
    }

    fn resources(&mut self, graph: &Graph) {
        for (id, resource) in graph.resources().iter_ids() {
            let outlives = match resource.life {
                Life::Transient => None,
                Life::Fresh => {
                    self.add("fresh");
                    self.when(graph.is_root(id), "fresh root");
                    None
                }
                Life::Persistent => Some("persistent"),
                Life::History(history) => {
                    self.add(&format!("history of {} frames", history.frames));
                    self.add(if history.zero_first { "history from zeros" } else { "history from garbage" });
                    None
                }
                Life::Imported(imported) => {
                    self.when(imported.layout.is_some(), "imported in a layout");
                    self.when(imported.queue.is_some(), "imported from a queue");
                    self.when(imported.access != Accesses::empty(), "imported with a scope");
                    self.when(imported.wait, "waited for");
                    self.when(imported.signal, "signalled");
                    self.when(imported.wait && imported.signal, "waited for and signalled");
                    Some(if imported.defined { "imported" } else { "imported undefined" })
                }
            };
            if let Some(outlives) = outlives {
                self.add(outlives);
                self.when(graph.is_root(id), &format!("{outlives} root"));
            }
            if let Some(leave) = resource.leave {
                self.when(leave.layout.is_some(), "left in a layout");
                self.when(leave.layout == Some(Layout::PresentSrc), "left to be presented");
                self.when(leave.queue.is_some(), "left to a queue");
            }
            self.when(resource.sharing == Some(Sharing::Exclusive), "exclusive");
            self.when(resource.sharing == Some(Sharing::Concurrent), "concurrent");
            if let Some(domain) = resource.memory_domain {
                self.add(&format!(
                    "{} in {domain} memory",
                    if resource.as_image().is_some() { "image" } else { "buffer" }
                ));
            }
            self.shape(&resource.kind);
        }
        self.when(graph.roots().len() > 1, "several roots");
    }

    fn shape(&mut self, kind: &Kind) {
        match kind {
            Kind::Buffer(buffer) => {
                self.when(buffer.acceleration_structure, "acceleration structure");
                self.when(buffer.size.is_some_and(|size| size != 4096), "odd buffer size");
            }
            Kind::Image(image) => {
                self.when(image.cube, "cube");
                self.when(image.layers.is_some_and(|layers| layers > 1), "array");
                self.when(image.mips == Some(Mips::Full), "full mips");
                self.when(matches!(image.mips, Some(Mips::Count(_))), "mips");
                if let Some(samples) = image.samples {
                    self.add(&format!("samples {samples}"));
                }
                if let Some(size) = image.size {
                    self.when(size.z.is_some(), "volume");
                    use rgraph_plan::resource::Axis;
                    self.when(matches!(size.x, Axis::Scaled(None, _)), "relative to the reference");
                    self.when(matches!(size.x, Axis::Scaled(Some(_), _)), "relative to an image");
                    self.when(size.x != size.y, "not square");
                }
                if let Some(format) = image.format {
                    self.add(&format!("format {}", format.name()));
                }
            }
        }
    }

    fn accesses(&mut self, graph: &Graph) {
        for access in graph.accesses() {
            let usage = access.usage;
            self.add(&format!("usage {usage}"));
            for (bit, name) in STAGE_NAMES.iter().enumerate() {
                self.when(access.stages.bits() & 1 << bit != 0, &format!("stage {name}"));
            }
            let Ranges { mips, layers, bytes } = graph.ranges_of(access);
            self.when(mips.is_some(), "range of mips");
            self.when(layers.is_some(), "range of layers");
            self.when(bytes.is_some(), "range of bytes");
            self.when(access.aspects == Aspects::DEPTH, "depth alone");
            self.when(access.aspects == Aspects::STENCIL, "stencil alone");
            self.when(access.generate_mips, "generated mips");
            self.when(access.unordered, &format!("unordered {usage}"));
            if let Some(load) = access.load {
                self.add(&format!("load {load}"));
            }
            if let Some(load) = access.stencil_load {
                self.add(&format!("stencil load {load}"));
            }
            if let Some(transfer) = access.transfer {
                self.add(&format!("transfer {transfer}"));
            }
            let details = graph.details_of(access);
            self.when(matches!(details.clear, Some(Clear::Color(_))), "clear colour");
            self.when(matches!(details.clear, Some(Clear::Depth(..))), "clear depth");
            self.when(matches!(details.clear, Some(Clear::Depth(_, Some(_)))), "clear stencil");
            if let (Some(depth), Some(stencil)) = (access.load, access.stencil_load) {
                self.when(depth != stencil, &format!("{depth} of depth, {stencil} of stencil"));
            }
            if let Some(mode) = details.resolve_mode {
                self.add(&format!("resolve {mode}"));
            }
            let partial = bytes.is_some();
            self.when(usage == Usage::HostRead && partial, "partial host read");
            self.when(
                usage == Usage::HostRead && bytes.is_none() && is_image(graph, access.resource),
                "image on the host",
            );
            self.when(usage == Usage::HostWrite && partial, "partial host write");
        }
    }

    /// Orders between passes, and what follows what on one resource.
    fn orders(&mut self, graph: &Graph) {
        self.when(!graph.orderings().is_empty(), "after");
        let mut last: BTreeMap<ResourceId, Vec<&Access>> = BTreeMap::new();
        let mut sorted: Vec<&Access> = graph.accesses().iter().collect();
        sorted.sort_by_key(|access| access.pass);
        let gpu_write = |access: &&Access| writes(access.usage) && access.usage != Usage::HostWrite;
        for access in &sorted {
            let before = last.entry(access.resource).or_default();
            if let Some(first) = before.last() {
                if first.pass != access.pass {
                    self.add(&format!("{}: {}, then {}", kind(graph, access.resource), first.usage, access.usage));
                }
                let partial = graph.ranges_of(access).bytes.is_some();
                let host = access.usage == Usage::HostWrite && partial;
                self.when(host && before.iter().any(gpu_write), "partial host write after a write of the GPU");
                let on = |access: &Access| graph.passes()[access.pass].queue;
                self.when(
                    on(first) != on(access) && !writes(first.usage) && !writes(access.usage),
                    "reads on two queues",
                );
                self.when(first.unordered && access.unordered && first.usage != access.usage, "unordered, mixed");
            }
            before.push(access);
        }
        self.forward(graph, &last);
        self.merged(graph, &sorted);
    }

    fn forward(&mut self, graph: &Graph, uses: &BTreeMap<ResourceId, Vec<&Access>>) {
        for (id, uses) in uses {
            let resource = &graph.resources()[*id];
            if resource.life != Life::Transient || resource.modifies.is_some() {
                continue;
            }
            let Some(writer) = uses.iter().find(|access| writes(access.usage)) else { continue };
            if writer.pass <= uses[0].pass {
                continue;
            }
            self.add("forward read");
            self.when(is_image(graph, *id), "forward read of an image");
            self.when(!is_image(graph, *id), "forward read of a buffer");
            self.when(writer.generate_mips, "forward read of generated mips");
            self.when(graph.passes()[writer.pass].conditional.is_some(), "forward read of a conditional output");
        }
    }

    /// Neighbouring passes that could be one render pass.
    fn merged(&mut self, graph: &Graph, sorted: &[&Access]) {
        let attached = |access: &Access| matches!(access.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment);
        for (at, access) in sorted.iter().enumerate().filter(|(_, access)| access.usage == Usage::InputAttachment) {
            let before = sorted[..at].iter().rev().find(|one| one.resource == access.resource);
            let next = before.is_some_and(|one| attached(one) && one.pass.index() + 1 == access.pass.index());
            self.when(next, "input attachment of the pass before");
            let own =
                sorted.iter().any(|one| one.pass == access.pass && one.resource == access.resource && attached(one));
            self.when(own, "input attachment that its pass draws to");
            let third = PassId::new((access.pass.index() + 1).min(graph.passes().len() - 1));
            let more = sorted.iter().any(|one| one.pass == third && attached(one));
            self.when(next && more, "three passes on the same targets");
        }
        for (at, access) in sorted.iter().enumerate() {
            let apart = |one: &&Access| {
                one.pass == access.pass && one.resource == access.resource && one.aspects != access.aspects
            };
            self.when(
                !access.aspects.is_empty() && sorted[..at].iter().copied().any(|one| apart(&one)),
                "aspects apart",
            );
            for one in sorted[..at].iter().copied().filter(|one| !access.aspects.is_empty() && apart(one)) {
                let (depth, stencil) = if one.aspects == Aspects::DEPTH { (one, *access) } else { (*access, one) };
                self.when(
                    stencil.aspects == Aspects::STENCIL,
                    &format!("depth as {}, stencil as {}", depth.usage, stencil.usage),
                );
            }
        }
    }

    /// Several names of one memory, and fallbacks.
    fn names(&mut self, graph: &Graph) {
        let (mut names, mut frames) = (BTreeMap::<ResourceId, Vec<ResourceId>>::new(), BTreeSet::new());
        let size = |id: ResourceId| graph.resources()[id].as_image().and_then(|image| image.size);
        for (id, resource) in graph.resources().iter_ids() {
            if let Some(base) = resource.modifies {
                let scaled = size(id).is_some() && size(id) != size(base);
                self.add(if scaled { "modifies, scaled" } else { "modifies" });
                self.when(graph.resources()[base].modifies.is_some(), "chain of modifies");
                self.when(!is_image(graph, id), "modifies a buffer");
                let uses = |id: ResourceId| graph.accesses().iter().filter(move |access| access.resource == id);
                let early = uses(id).map(|access| access.pass).min() < uses(base).map(|access| access.pass).max();
                self.when(!scaled && early, "modifies, used early");
            }
            if let Life::History(history) = resource.life {
                names.entry(history.of).or_default().push(id);
                self.when(!frames.insert((history.of, history.frames)), "two histories of one frame");
                let now = &graph.resources()[history.of];
                self.when(now.as_image().is_none(), "history of a buffer");
            }
        }
        for pasts in names.values().filter(|pasts| pasts.len() > 1) {
            self.add("several histories of one resource");
            let read: Vec<&Access> =
                graph.accesses().iter().filter(|access| pasts.contains(&access.resource)).collect();
            let image = is_image(graph, pasts[0]);
            let stages = read.iter().any(|access| (access.stages, access.usage) != (read[0].stages, read[0].usage));
            self.when(image && stages, "histories of an image read at different stages");
            let queue = |access: &Access| graph.passes()[access.pass].queue;
            let queues = read.iter().any(|access| queue(access) != queue(read[0]));
            self.when(!image && queues, "histories of a buffer read on two queues");
        }
        for one in graph.fallbacks() {
            self.add("fallback");
            self.when(graph.fallbacks().iter().any(|other| other.output == one.input), "chain of fallbacks");
            self.when(!is_image(graph, one.output), "fallback of a buffer");
            self.when(graph.resources()[one.output].modifies.is_some(), "fallback of what modifies");
        }
    }
}

fn writes(usage: Usage) -> bool {
    use Usage::{
        AccelerationBuild, AccelerationScratch, AccelerationUpdate, ColorAttachment, DepthStencilAttachment, HostWrite,
        ResolveAttachment, StorageReadWrite, StorageWrite, TransferDst,
    };
    matches!(usage, ColorAttachment | DepthStencilAttachment | ResolveAttachment | StorageWrite | StorageReadWrite)
        || matches!(usage, TransferDst | HostWrite | AccelerationBuild | AccelerationUpdate | AccelerationScratch)
}

fn is_image(graph: &Graph, id: ResourceId) -> bool {
    graph.resources()[id].as_image().is_some()
}

fn kind(graph: &Graph, id: ResourceId) -> &'static str {
    let resource = &graph.resources()[id];
    let base = resource.modifies.or(match resource.life {
        Life::History(history) => Some(history.of),
        _ => None,
    });
    match (&resource.kind, base) {
        (Kind::Buffer(buffer), _) if buffer.acceleration_structure => "structure",
        (Kind::Buffer(_), _) => "buffer",
        (Kind::Image(image), base) => match (image.format, base) {
            (Some(format), _) if format.is_depth_stencil() => "depth",
            (None, Some(base)) => kind(graph, base),
            _ => "color",
        },
    }
}

/// What must occur.
pub const WANTED: &[&str] = &[
    "usage color_attachment",
    "usage depth_stencil_attachment",
    "usage depth_stencil_read",
    "usage input_attachment",
    "usage resolve_attachment",
    "usage sampled",
    "usage storage_read",
    "usage storage_write",
    "usage storage_read_write",
    "usage uniform",
    "usage vertex",
    "usage index",
    "usage indirect",
    "usage transfer_src",
    "usage transfer_dst",
    "usage host_read",
    "usage host_write",
    "usage present",
    "usage acceleration_input",
    "usage acceleration_build",
    "usage acceleration_update",
    "usage acceleration_scratch",
    "usage acceleration_read",
    "stage draw_indirect",
    "stage vertex_shader",
    "stage tessellation_control_shader",
    "stage tessellation_evaluation_shader",
    "stage geometry_shader",
    "stage task_shader",
    "stage mesh_shader",
    "stage fragment_shader",
    "stage early_fragment_tests",
    "stage late_fragment_tests",
    "stage compute_shader",
    "stage ray_tracing_shader",
    "stage acceleration_structure_build",
    "queue graphics",
    "queue compute",
    "queue async_compute",
    "queue transfer",
    "queue cpu",
    "queue any",
    "slots",
    "slots that change the order",
    "places of a layer declared out of their order",
    "module at a place of a layer",
    "kinds of queue 1",
    "kinds of queue 2",
    "kinds of queue 3",
    "kinds of queue 4",
    "several queues of a kind",
    "several graphics queues",
    "graphics queue not first",
    "queues of one family",
    "coarse granularity",
    "no alignment",
    "heap size",
    "several memories",
    "lazy memory",
    "least limits",
    "free hops",
    "weight",
    "unit",
    "device",
    "side effects",
    "draws that commute",
    "conditional side effects",
    "conditional",
    "conditional on the host",
    "empty pass",
    "setup that opts out",
    "setup",
    "flags 0",
    "flags 1",
    "flags 2",
    "flags 3",
    "persistent",
    "persistent root",
    "imported",
    "imported root",
    "imported undefined",
    "imported in a layout",
    "imported from a queue",
    "imported with a scope",
    "left in a layout",
    "left to be presented",
    "left to a queue",
    "exclusive",
    "concurrent",
    "buffer in device memory",
    "buffer in host memory",
    "buffer in cached_host memory",
    "buffer in device_local_host memory",
    "image in device memory",
    "image in host memory",
    "image in cached_host memory",
    "image in device_local_host memory",
    "several roots",
    "fresh",
    "fresh root",
    "history of 1 frames",
    "history of 2 frames",
    "history of 3 frames",
    "history from zeros",
    "history from garbage",
    "several histories of one resource",
    "two histories of one frame",
    "histories of an image read at different stages",
    "histories of a buffer read on two queues",
    "history of a buffer",
    "acceleration structure",
    "odd buffer size",
    "waited for",
    "signalled",
    "waited for and signalled",
    "cube",
    "array",
    "full mips",
    "mips",
    "samples 2",
    "samples 4",
    "volume",
    "relative to the reference",
    "relative to an image",
    "not square",
    "format rgba8unorm",
    "format rgba16float",
    "format r32float",
    "format r32uint",
    "format rgba8sint",
    "format rgba8unorm-srgb",
    "format rgb10a2unorm",
    "format rg32float",
    "format r8unorm",
    "format bgra8unorm",
    "format bc1-rgba-unorm",
    "format depth32float",
    "format depth24plus-stencil8",
    "format depth32float-stencil8",
    "format depth16unorm",
    "format stencil8",
    "range of mips",
    "range of layers",
    "range of bytes",
    "depth alone",
    "stencil alone",
    "aspects apart",
    "generated mips",
    "unordered storage_read",
    "unordered storage_write",
    "unordered storage_read_write",
    "unordered, mixed",
    "load clear",
    "load load",
    "load discard",
    "stencil load clear",
    "stencil load load",
    "stencil load discard",
    "transfer blit",
    "transfer clear",
    "transfer fill",
    "transfer resolve",
    "clear colour",
    "clear depth",
    "clear stencil",
    "load of depth, clear of stencil",
    "discard of depth, load of stencil",
    "depth as depth_stencil_read, stencil as depth_stencil_attachment",
    "depth as depth_stencil_attachment, stencil as depth_stencil_read",
    "depth as depth_stencil_read, stencil as sampled",
    "depth as depth_stencil_attachment, stencil as sampled",
    "resolve average",
    "resolve sample_zero",
    "resolve min",
    "resolve max",
    "partial host read",
    "image on the host",
    "partial host write",
    "partial host write after a write of the GPU",
    "after",
    "reads on two queues",
    "forward read",
    "forward read of an image",
    "forward read of a buffer",
    "forward read of generated mips",
    "forward read of a conditional output",
    "input attachment of the pass before",
    "input attachment that its pass draws to",
    "three passes on the same targets",
    "modifies",
    "modifies, scaled",
    "chain of modifies",
    "modifies a buffer",
    "modifies, used early",
    "fallback",
    "chain of fallbacks",
    "fallback of a buffer",
    "fallback of what modifies",
];
