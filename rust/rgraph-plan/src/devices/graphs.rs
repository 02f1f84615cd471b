//! The graph of each part: the same resources under the same ids, and the passes of the part in serial order. What
//! outlives a part on its device is imported there.

use super::{DevicePart, DevicePartId, DeviceStep, DevicesPlan, orders_of_live};
use crate::access::{Load, Usage};
use crate::bake::flat;
use crate::graph::{Graph, Pass, PassId, Use};
use crate::id::{Id, IdVec};
use crate::plan::PlanKind;
use crate::profile::Profile;
use crate::resource::{Axis, Buffer, Image, Imported, Kind, Life, Mips, Resource, ResourceId, Round, Size};
use crate::stages::size::{ShapeScratch, shapes};

/// The graph of one part.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartGraph {
    /// The declaration; resources have the ids of the whole graph.
    pub graph: Graph,
    /// By pass of `graph`: the pass of the whole graph, as it was declared.
    pub passes: IdVec<PassId, PassId>,
    pub imports: Vec<PartImport>,
}

/// An import by which a part gets a memory of its device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PartImport {
    /// The resource that is imported.
    pub resource: ResourceId,
    /// The first name of its memory, or the history that it is.
    pub memory: ResourceId,
}

/// The graphs of all parts, in the order of the plan's parts; of a plan with one part the graph itself. `plan` is one
/// that [`plan_devices`](super::plan_devices) made of `graph`, or that the checker has no finding for.
/// O(parts · resources + accesses).
pub fn part_graphs(graph: &Graph, plan: &DevicesPlan) -> IdVec<DevicePartId, PartGraph> {
    if plan.parts.len() == 1 {
        return IdVec::from_iter([whole(graph)]);
    }
    let flat = flat(graph);
    // By position in the flattened declaration: the pass as it was declared.
    let declared: Vec<PassId> = graph.flattened_order().unwrap_or_else(|| graph.passes().ids().collect());
    let kinds = kinds(&flat);
    let chains = Chains::new(&flat, &kinds);
    let part_of = parts_of(&flat, plan);
    let outlives = outlives(&flat, plan, &chains, &part_of);
    let mut accesses: IdVec<PassId, Vec<usize>> = IdVec::filled(Vec::new(), flat.passes().len());
    for (at, access) in flat.accesses().iter().enumerate() {
        accesses[access.pass].push(at);
    }
    let orders = orders_of_live(&flat, |pass| part_of[pass].is_some());
    let mut used: IdVec<ResourceId, Option<Option<DevicePartId>>> = IdVec::filled(None, flat.resources().len());
    let mut divided = IdVec::filled(false, flat.resources().len());
    for access in flat.accesses() {
        let (memory, part) = (chains.memory[access.resource], part_of[access.pass]);
        divided[memory] |= part.is_none() || used[memory].replace(part).is_some_and(|known| known != part);
    }
    let (declared, kinds, chains) = (&declared, &kinds, &chains);
    let maker = Maker { flat: &flat, declared, kinds, chains, outlives, divided, orders, accesses };
    let mut filled = maker.filled_first(plan);
    let mut graphs: Vec<Option<PartGraph>> = vec![None; plan.parts.len()];
    for step in &plan.steps {
        match *step {
            DeviceStep::Run(part) => {
                let device = plan.parts[part].device.index();
                graphs[part.index()] = Some(maker.make(plan, part, &mut filled[device]));
            }
            DeviceStep::Send(_) => {}
            DeviceStep::Receive(copy) => {
                if let Some(memory) = plan.copies[copy].resource {
                    filled[plan.copies[copy].to.index()][memory] = true;
                }
            }
        }
    }
    graphs.into_iter().map(|graph| graph.expect("every part is a step")).collect()
}

/// The graph itself, on no device in particular. Its imports are the caller's.
fn whole(graph: &Graph) -> PartGraph {
    let mut own = graph.clone();
    for id in graph.passes().ids() {
        own.pass_mut(id).device = None;
    }
    let imported = graph.resources().iter_ids().filter(|(_, resource)| matches!(resource.life, Life::Imported(_)));
    let imports = imported.map(|(resource, _)| PartImport { resource, memory: resource }).collect();
    PartGraph { graph: own, passes: graph.passes().ids().collect(), imports }
}

/// What each resource of a graph is, sizes resolved, by the ids of its declaration. O(resources).
pub fn resource_kinds(graph: &Graph) -> IdVec<ResourceId, PlanKind> {
    kinds(&flat(graph))
}

fn kinds(graph: &Graph) -> IdVec<ResourceId, PlanKind> {
    let (mut all, mut scratch, mut problems) = (IdVec::new(), ShapeScratch::default(), Vec::new());
    shapes(graph, &Profile::single_queue(), &mut all, &mut scratch, &mut problems);
    all.iter().map(|shape| shape.kind).collect()
}

/// Names of memories.
struct Chains {
    /// By resource: the first name of its memory; a history is one by itself.
    memory: IdVec<ResourceId, ResourceId>,
    /// By resource: its place among the names.
    place: IdVec<ResourceId, u32>,
}

impl Chains {
    fn new(graph: &Graph, kinds: &IdVec<ResourceId, PlanKind>) -> Self {
        let mut chains =
            Self { memory: graph.resources().ids().collect(), place: IdVec::filled(0, graph.resources().len()) };
        for id in graph.resources().ids() {
            while let Some(base) = graph.resources()[chains.memory[id]].modifies {
                let same = match (kinds[base], kinds[chains.memory[id]]) {
                    (PlanKind::Image { size, .. }, PlanKind::Image { size: other, .. }) => size == other,
                    (PlanKind::Buffer { size }, PlanKind::Buffer { size: other }) => size == other,
                    _ => false,
                };
                if !same {
                    break;
                }
                chains.memory[id] = base;
                chains.place[id] += 1;
            }
        }
        chains
    }
}

/// By pass: its part; `None`: it is culled.
fn parts_of(graph: &Graph, plan: &DevicesPlan) -> IdVec<PassId, Option<DevicePartId>> {
    let mut part_of = IdVec::filled(None, graph.passes().len());
    for (part, one) in plan.parts.iter_ids() {
        one.passes.iter().for_each(|pass| part_of[*pass] = Some(part));
    }
    part_of
}

/// By memory: whether something of it is there before or after a part.
fn outlives(
    graph: &Graph,
    plan: &DevicesPlan,
    chains: &Chains,
    part_of: &IdVec<PassId, Option<DevicePartId>>,
) -> IdVec<ResourceId, bool> {
    let mut outlives = IdVec::filled(false, graph.resources().len());
    for (id, resource) in graph.resources().iter_ids() {
        outlives[chains.memory[id]] |= !resource.life.is_of_frame();
    }
    for place in &plan.homes {
        outlives[place.resource] = true;
    }
    // A root that no pass names has its memory under another name.
    for root in graph.roots() {
        let named = graph.accesses().iter().any(|access| access.resource == *root);
        outlives[chains.memory[*root]] |= !named;
    }
    for memory in plan.copies.iter().filter_map(|copy| copy.resource) {
        outlives[memory] = true;
    }
    let mut used: IdVec<ResourceId, Option<DevicePartId>> = IdVec::filled(None, graph.resources().len());
    for access in graph.accesses() {
        let memory = chains.memory[access.resource];
        let Some(part) = part_of[access.pass] else {
            // A part that loads what only a culled pass wrote imports it: no contents, but a declaration of some.
            outlives[memory] |= access.usage.writes();
            continue;
        };
        outlives[memory] |= used[memory].is_some_and(|known| known != part);
        used[memory] = Some(part);
    }
    outlives
}

struct Maker<'a> {
    flat: &'a Graph,
    declared: &'a [PassId],
    kinds: &'a IdVec<ResourceId, PlanKind>,
    chains: &'a Chains,
    outlives: IdVec<ResourceId, bool>,
    /// By memory: whether passes that no part has use it, or passes of several parts.
    divided: IdVec<ResourceId, bool>,
    /// What `after` says, `(later, earlier)`.
    orders: Vec<(PassId, PassId)>,
    /// By pass: its accesses.
    accesses: IdVec<PassId, Vec<usize>>,
}

impl Maker<'_> {
    /// By device and memory: true if it has contents at the start of a frame.
    fn filled_first(&self, plan: &DevicesPlan) -> Vec<IdVec<ResourceId, bool>> {
        let mut given = IdVec::filled(false, self.flat.resources().len());
        for (id, resource) in self.flat.resources().iter_ids() {
            given[self.chains.memory[id]] |= match resource.life {
                Life::Imported(imported) => imported.defined,
                Life::Persistent | Life::History(_) => true,
                Life::Transient | Life::Fresh => false,
            };
        }
        // Elsewhere a memory that stays on one device comes by a copy.
        vec![given; plan.profiles.len()]
    }

    fn make(&self, plan: &DevicesPlan, part: DevicePartId, filled: &mut IdVec<ResourceId, bool>) -> PartGraph {
        let DevicePart { device, passes } = &plan.parts[part];
        let name = format!("{}/device {}/part {}", self.flat.name(), device.index(), part.index());
        let mut graph = Graph::new(&name, self.flat.reference_size());
        let imports = self.add_resources(&mut graph, passes, filled);
        let mut new = IdVec::filled(None, self.flat.passes().len());
        for &pass in passes {
            new[pass] = Some(self.add_pass(&mut graph, pass));
        }
        for &(later, earlier) in &self.orders {
            if let (Some(later), Some(earlier)) = (new[later], new[earlier]) {
                graph.order_after(later, earlier);
            }
        }
        for &pass in passes {
            for &at in &self.accesses[pass] {
                let access = &self.flat.accesses()[at];
                filled[self.chains.memory[access.resource]] |= access.usage.writes();
            }
        }
        for &root in self.flat.roots() {
            let used = self.uses(passes, root);
            if used && !self.outlives[self.chains.memory[root]] {
                graph.root(root);
            }
        }
        let passes = passes.iter().map(|pass| self.declared[pass.index()]).collect();
        PartGraph { graph, passes, imports }
    }

    fn uses(&self, passes: &[PassId], resource: ResourceId) -> bool {
        let mut all = passes.iter().flat_map(|pass| &self.accesses[*pass]);
        all.any(|&at| self.flat.accesses()[at].resource == resource)
    }

    /// All resources; those that the part does not use mean nothing. Returns the imports.
    fn add_resources(&self, graph: &mut Graph, passes: &[PassId], filled: &IdVec<ResourceId, bool>) -> Vec<PartImport> {
        let mut used: Vec<ResourceId> = passes
            .iter()
            .flat_map(|pass| &self.accesses[*pass])
            .flat_map(|&at| {
                let access = &self.flat.accesses()[at];
                [Some(access.resource), self.flat.details_of(access).resolves]
            })
            .flatten()
            .collect();
        // Names of one memory stand together, the first ones first.
        used.sort_unstable_by_key(|id| (self.chains.memory[*id], self.chains.place[*id]));
        used.dedup();
        let mut before: IdVec<ResourceId, Option<ResourceId>> = IdVec::filled(None, self.kinds.len());
        for pair in used.windows(2).filter(|pair| self.chains.memory[pair[0]] == self.chains.memory[pair[1]]) {
            before[pair[1]] = Some(pair[0]);
        }
        let mut imports = Vec::new();
        for (id, resource) in self.flat.resources().iter_ids() {
            let memory = self.chains.memory[id];
            let mut own = Resource { life: Life::Transient, modifies: before[id], leave: None, ..resource.clone() };
            own.kind = self.kind(id);
            if used.contains(&id) && before[id].is_none() {
                if self.outlives[memory] {
                    let defined = filled[memory] || self.is_read(passes, memory);
                    own.life = Life::Imported(Imported { defined, ..Imported::default() });
                    imports.push(PartImport { resource: id, memory });
                } else {
                    own.life = resource.life;
                }
            }
            if own.modifies.is_some() || !own.life.takes_memory_domain() {
                own.memory_domain = None;
            }
            graph.add_resource(self.flat.resource_name(id), own, self.flat.resource_place(id).cloned());
        }
        imports
    }

    /// Whether passes say that they read a memory. The whole graph has contents for them somewhere in the range of each
    /// such access; what no copy brings of it is undefined there, too.
    fn is_read(&self, passes: &[PassId], memory: ResourceId) -> bool {
        passes.iter().flat_map(|pass| &self.accesses[*pass]).any(|&at| {
            let access = &self.flat.accesses()[at];
            let loads = [access.load, access.stencil_load].contains(&Some(Load::Load));
            let adds = matches!(access.usage, Usage::StorageReadWrite | Usage::AccelerationUpdate);
            self.chains.memory[access.resource] == memory && (loads || adds || !access.usage.writes())
        })
    }

    /// What a resource is, with nothing left to work out.
    fn kind(&self, id: ResourceId) -> Kind {
        let declared = &self.flat.resources()[id];
        match self.kinds[id] {
            PlanKind::Buffer { size } => {
                let structure = declared.as_buffer().is_some_and(|buffer| buffer.acceleration_structure);
                Kind::Buffer(Buffer { size: Some(size), acceleration_structure: structure })
            }
            PlanKind::Image { format, size: [width, height, depth], mips, layers, samples, volume, cube } => {
                let size = Size {
                    x: Axis::Texels(width),
                    y: Axis::Texels(height),
                    z: volume.then_some(Axis::Texels(depth)),
                    round: Round::Down,
                };
                Kind::Image(Image {
                    format: Some(format),
                    size: Some(size),
                    layers: Some(layers),
                    mips: Some(Mips::Count(mips)),
                    samples: Some(samples),
                    cube,
                })
            }
        }
    }

    fn add_pass(&self, graph: &mut Graph, pass: PassId) -> PassId {
        let declared = &self.flat.passes()[pass];
        let conditional = declared.conditional.map(|flag| graph.flag(&self.flat.flags()[flag]));
        let unit = declared.unit.map(|unit| graph.unit(&self.flat.units()[unit]));
        let own = Pass { device: None, slot: None, conditional, unit, ..declared.clone() };
        let new = graph.add_pass(self.flat.pass_name(pass), own, self.flat.pass_place(pass).cloned());
        for &at in &self.accesses[pass] {
            let access = &self.flat.accesses()[at];
            let how = Use {
                usage: access.usage,
                stages: access.stages,
                ranges: self.flat.ranges_of(access),
                aspects: access.aspects,
                load: access.load,
                stencil_load: access.stencil_load,
                details: self.flat.details_of(access),
                transfer: access.transfer,
                generate_mips: access.generate_mips,
                // Where passes of other parts, or culled ones, stand between accesses, these commute with fewer than a
                // part would think. Its order is one of those that mean the same.
                unordered: access.unordered && !self.divided[self.chains.memory[access.resource]],
            };
            graph.access(new, access.resource, &how, self.flat.access_place(at).cloned());
        }
        new
    }
}
