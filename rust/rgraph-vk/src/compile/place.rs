//! Makes the images and buffers of a plan: in arenas where it places them, alone where the driver or their lives want
//! it.

use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::Usage;
use rgraph_plan::graph::Graph;
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::{HeapId, Placement, Plan, PlanKind, PlanLife};
use rgraph_plan::profile::LAZY_MEMORY;
use rgraph_plan::resource::ResourceId;

use crate::compile::compiled_graph::Place;
use crate::compile::granularity::{self, Bytes};
use crate::compile::inherit::{Begin, Found, Heritage, Wanted};
use crate::compile::pass_table::{PassTable, add_fallbacks, used_by_batches};
use crate::device::Shared;
use crate::error::{Code, DeviceError, Error};
use crate::memory::arena::Arena;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::requirements::allow_clears;
use crate::memory::usages::Usages;
use crate::memory::{Domain, Want};

/// What an image can be used for whose memory exists in tiles only.
///
/// Source: Vulkan 1.3 specification, valid usage of `VkImageCreateInfo` (`VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT`).
const TILE_USAGES: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::INPUT_ATTACHMENT.as_raw(),
);

/// Makes images and buffers.
pub(crate) struct Placer<'a> {
    shared: &'a Arc<Shared>,
    plan: &'a Plan,
    table: &'a PassTable,
    notes: &'a mut Vec<String>,
    /// Memories that a pass or barrier uses under any of their names.
    used: IdVec<ResourceId, bool>,
    /// Memories that are roots under any of their names.
    rooted: IdVec<ResourceId, bool>,
    /// Whether images are made such that they can be cleared.
    pub clears: bool,
    /// Has what lives from run to run.
    pub contents: Option<Heritage<'a>>,
    /// Those of its lasting memories that begin in another way.
    pub begins: Vec<(ResourceId, Begin)>,
}

/// A memory at its place in a heap of the plan.
#[derive(Clone, Copy)]
struct Planned {
    memory: ResourceId,
    heap: HeapId,
    offset: u64,
    size: u64,
}

pub(crate) type Placed = (IdVec<ResourceId, Place>, Vec<Arc<Arena>>);

impl<'a> Placer<'a> {
    pub(crate) fn new(
        shared: &'a Arc<Shared>,
        graph: &Graph,
        plan: &'a Plan,
        table: &'a PassTable,
        notes: &'a mut Vec<String>,
    ) -> Self {
        let mut used = IdVec::filled(false, plan.resources.len());
        let mut rooted = used.clone();
        for memory in used_by_batches(plan, table).into_iter().flatten() {
            used[memory] = true;
        }
        for &root in graph.roots() {
            rooted[plan.memory_of(root)] = true;
        }
        Self { shared, plan, table, notes, used, rooted, clears: false, contents: None, begins: Vec::new() }
    }

    pub(crate) fn place(&mut self) -> Result<Placed, Error> {
        let used = self.usages();
        let hosts = self.seen_by_host();
        let mut places: IdVec<ResourceId, Place> = self.plan.resources.ids().map(|_| Place::Unused).collect();
        let arenas = self.place_in_heaps(&used, &hosts, &mut places)?;
        self.place_alone(&used, &hosts, &mut places)?;
        Ok((places, arenas))
    }

    /// Memories that passes of the host use.
    fn seen_by_host(&self) -> IdVec<ResourceId, bool> {
        let (plan, table) = (self.plan, self.table);
        let mut seen: IdVec<ResourceId, bool> = IdVec::filled(false, plan.resources.len());
        for pass in plan.live().filter(|pass| plan.passes[*pass].queue.is_none()) {
            let accesses = table.of(pass).iter();
            let reads = accesses.clone().filter(|access| access.usage != Usage::HostWrite);
            let mut read: Vec<ResourceId> = reads.map(|access| access.resource).collect();
            add_fallbacks(plan, pass, &mut read);
            let all = accesses.map(|access| access.resource).chain(read);
            all.for_each(|resource| seen[plan.memory_of(resource)] = true);
        }
        // What remembers lies in the ring of what it remembers.
        for resource in plan.resources.iter() {
            if let Some(remembers) = resource.remembers {
                seen[remembers.of] |= seen[resource.memory];
            }
        }
        seen
    }

    /// Memories that the plan places, once each: a memory may be placed under any of its names, all of one size.
    fn planned(&self) -> Vec<Planned> {
        let mut placed: IdVec<ResourceId, bool> = IdVec::filled(false, self.plan.resources.len());
        let mut out = Vec::new();
        for &Placement { resource, heap, offset, size } in &self.plan.memory.placements {
            let memory = self.plan.memory_of(resource);
            if self.used[memory] && !std::mem::replace(&mut placed[memory], true) {
                out.push(Planned { memory, heap, offset, size });
            }
        }
        out
    }

    /// Buffers that a plan puts into the page of an image, on a device with larger pages than it was made for.
    fn strays(&self, memories: &[Planned]) -> IdVec<ResourceId, bool> {
        let bytes = |one: &Planned| Bytes {
            heap: one.heap.index(),
            begin: one.offset,
            end: one.offset.saturating_add(one.size),
            is_image: matches!(self.plan.resources[one.memory].kind, PlanKind::Image { .. }),
        };
        let placed: Vec<Bytes> = memories.iter().map(bytes).collect();
        let mut found = IdVec::filled(false, self.plan.resources.len());
        let strays = granularity::strays(&placed, self.shared.limits.buffer_image_granularity.max(1));
        memories.iter().zip(strays).for_each(|(one, is_stray)| found[one.memory] = is_stray);
        found
    }

    /// Makes what the plan places in heaps: in one arena per heap, or alone where the driver or the host wants it so.
    fn place_in_heaps(
        &mut self,
        used: &IdVec<ResourceId, Usages>,
        hosts: &IdVec<ResourceId, bool>,
        places: &mut IdVec<ResourceId, Place>,
    ) -> Result<Vec<Arc<Arena>>, Error> {
        let plan = self.plan;
        let memories = self.planned();
        let unified = self.shared.unified;
        // Where the host cannot see the device's memory, only a heap of the host's holds what both use.
        let apart =
            |one: &Planned| hosts[one.memory] && !unified && !plan.memory.heaps[one.heap].memory_type.contains("host");
        let strays = self.strays(&memories);
        let mut alone: IdVec<ResourceId, bool> = IdVec::filled(false, plan.resources.len());
        for &Planned { memory, .. } in &memories {
            alone[memory] = self.is_dedicated(memory, used[memory])?;
        }
        let mut arenas: Vec<Option<Arc<Arena>>> = Vec::new();
        for heap in plan.memory.heaps.ids() {
            let here = |one: &&Planned| one.heap == heap && !apart(one) && !alone[one.memory] && !strays[one.memory];
            let here: Vec<_> = memories.iter().filter(here).copied().collect();
            let arena = self.arena(heap, &here, used, here.iter().any(|one| hosts[one.memory]))?;
            arenas.push(arena);
        }
        for one in &memories {
            let &Planned { memory, heap, offset, size } = one;
            let name = plan.resource_name(memory);
            let kind = plan.resources[memory].kind;
            let concurrent = self.concurrent(memory);
            let needs = self.shared.measure(name, kind, used[memory], concurrent)?;
            let fits = needs.size <= size && offset % needs.alignment.max(1) == 0 && !apart(one) && !strays[memory];
            let shares = |arena: &&Arc<Arena>| fits && !alone[memory] && arena.allows(needs.memory_type_bits);
            let arena = arenas[heap.index()].as_ref().filter(shares);
            let physical = match arena {
                Some(arena) => {
                    PhysicalResource::placed(self.shared, name, kind, used[memory], concurrent, arena, offset)?
                }
                None => {
                    if !alone[memory] {
                        let why = "the plan's place does not suit the device";
                        self.notes.push(format!("\"{name}\" has memory of its own: {why}"));
                    }
                    let domain = match hosts[memory] {
                        true => Domain::Cached,
                        false if plan.resources[memory].transient_attachment => Domain::Lazy,
                        false => Domain::Device,
                    };
                    PhysicalResource::new(self.shared, name, kind, used[memory], domain, concurrent)?
                }
            };
            places[memory] = Place::Fixed(physical);
        }
        Ok(arenas.into_iter().flatten().collect())
    }

    /// Makes what has memory of its own: fresh, lasting and remembered resources, and places of imports.
    fn place_alone(
        &mut self,
        used: &IdVec<ResourceId, Usages>,
        hosts: &IdVec<ResourceId, bool>,
        places: &mut IdVec<ResourceId, Place>,
    ) -> Result<(), Error> {
        let plan = self.plan;
        for (memory, resource) in plan.resources.iter_ids() {
            let life = resource.life;
            if resource.memory != memory || !self.used[memory] && resource.ring == 1 {
                continue;
            }
            // Those that remember lie in the ring of what they remember.
            if resource.remembers.is_some() || matches!(life, PlanLife::Transient | PlanLife::Root) {
                continue;
            }
            let domain = match resource.memory_domain {
                Some(chosen) => Domain::Chosen(chosen),
                None if hosts[memory] => Domain::Cached,
                None => Domain::Device,
            };
            let concurrent = life != PlanLife::Fresh || self.concurrent(memory);
            let make = |suffix: &str| {
                let name = format!("{}{suffix}", plan.resource_name(memory));
                let physical =
                    PhysicalResource::new(self.shared, &name, resource.kind, used[memory], domain, concurrent)?;
                if hosts[memory] && physical.mapped().is_none() {
                    return Err(unseen(&name, domain));
                }
                Ok(physical)
            };
            if let Some(place) = self.inherited(memory, used[memory], hosts[memory]) {
                places[memory] = place;
                continue;
            }
            places[memory] = match resource.ring {
                1 if life == PlanLife::Fresh => {
                    let contexts = 0..self.shared.frames_in_flight;
                    Place::PerContext(contexts.map(|at| make(&format!("[{at}]"))).collect::<Result<_, _>>()?)
                }
                1 if life == PlanLife::Imported => Place::Import(used[memory], domain),
                1 => Place::Fixed(make("")?),
                ring => {
                    let ring = (0..ring).map(|at| make(&format!("[{at}]"))).collect::<Result<_, _>>()?;
                    Place::Ring(ring)
                }
            };
        }
        Ok(())
    }

    /// The place that another compiled graph has for a memory that lasts, if it suits.
    fn inherited(&mut self, memory: ResourceId, usages: Usages, host: bool) -> Option<Place> {
        let contents = self.contents.as_ref()?;
        let resource = &self.plan.resources[memory];
        let found = contents.find(&Wanted {
            name: self.plan.resource_name(memory),
            memory,
            kind: resource.kind,
            life: resource.life,
            ring: if resource.ring > 1 { resource.ring as usize } else { 0 },
            usages,
            host,
            chosen: resource.memory_domain,
        });
        match found {
            Found::Taken(place) => Some(place),
            Found::Nothing => None,
            Found::Begins(begin, note) => {
                self.begins.push((memory, begin));
                self.notes.extend(note);
                None
            }
        }
    }

    /// Usages by the plan's memories.
    fn usages(&self) -> IdVec<ResourceId, Usages> {
        let mut out: IdVec<ResourceId, Usages> = self.plan.resources.iter().map(Usages::planned).collect();
        for (id, resource) in self.plan.resources.iter_ids().filter(|(_, one)| one.transient_attachment) {
            // No pass that runs uses it in another way.
            let used = &mut out[self.plan.memory_of(id)].image;
            if matches!(resource.kind, PlanKind::Image { .. }) && !self.clears {
                *used = (*used & TILE_USAGES) | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
            }
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

    /// Whether a placed memory is allocated alone: if the driver requires that, or prefers it and no other resource has
    /// bytes of it.
    fn is_dedicated(&self, memory: ResourceId, used: Usages) -> Result<bool, Error> {
        let resource = &self.plan.resources[memory];
        if !matches!(resource.kind, PlanKind::Image { .. }) {
            return Ok(false);
        }
        let name = self.plan.resource_name(memory);
        let needs = self.shared.needs(name, resource.kind, used, self.concurrent(memory))?;
        Ok(needs.requires_dedicated || needs.prefers_dedicated && resource.aliases.is_empty())
    }

    /// Memory for all that is placed in a heap of the plan, of a type that suits all; `None` if there is no such type.
    fn arena(
        &mut self,
        heap: HeapId,
        here: &[Planned],
        used: &IdVec<ResourceId, Usages>,
        host: bool,
    ) -> Result<Option<Arc<Arena>>, Error> {
        let mut types = u32::MAX;
        let mut alignment = self.shared.limits.buffer_image_granularity.max(256);
        let mut end = 0;
        for &Planned { memory, offset, size, .. } in here {
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
        let lazy = self.plan.memory.heaps[heap].memory_type == LAZY_MEMORY;
        let domain = match host {
            true => Domain::Cached,
            false if lazy => Domain::Lazy,
            false => Domain::Device,
        };
        let want = Want { name: &name, requirements, domain, linear: false, dedicated: None };
        Arena::new(self.shared, want, types).map(Some)
    }
}

/// Passes on the CPU see slices of a buffer, and nobody knows which bytes they access: they need coherent memory.
fn unseen(name: &str, domain: Domain) -> Error {
    let message =
        format!("passes on the CPU use \"{name}\", and do not see its {} memory on this device", domain.name());
    let help = "use \"host\", or leave memory_domain out";
    DeviceError::new(Code::Missing, message, help).of(name).into()
}
