//! What occurs in a declaration and its device, by name.

use std::collections::{BTreeMap, BTreeSet};

use rgraph_plan::access::{Accesses, Aspects, Layout, PassQueue, STAGE_NAMES, Sharing, Usage};
use rgraph_plan::graph::{Access, Clear, Graph, PassId, Ranges};
use rgraph_plan::id::Id;
use rgraph_plan::profile::{Capabilities, LAZY_MEMORY, Profile};
use rgraph_plan::resource::{Kind, Life, Mips, ResourceId};

/// The features of one declaration.
pub struct Features(BTreeSet<String>);

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
