//! Versions of subresources, device by device.

use rgraph_ir::devices::{DeviceCopyId, DeviceId, DevicePartId, DeviceStep, DevicesPlan};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::resource::{Life, ResourceId};

use crate::facts::{Facts, Inserted, SubresourceUse};
use crate::finding::{Findings, Rule};
use crate::ids::{DeclaredPassId, MemoryId, SubresourceId, UnorderedGroupId};
use crate::random::Random;

rgraph_ir::id! {
    /// A memory, or a history by itself; it has the number of that resource.
    pub struct SlotId;
}

impl SlotId {
    /// The slot that has a resource's number.
    pub(super) fn of(resource: ResourceId) -> Self {
        Self::new(resource.index())
    }

    /// The resource whose number a slot has.
    pub(super) fn resource(self) -> ResourceId {
        ResourceId::new(self.index())
    }
}

/// Where the contents of a resource are.
pub(super) fn slot(facts: &Facts, resource: ResourceId) -> SlotId {
    SlotId::of(if facts.frames_ago[resource] > 0 { resource } else { facts.memory[resource].first_name() })
}

/// The writes that contents have; `None`: undefined contents.
type Version = Option<Writes>;

/// By subresource.
type Versions = IdVec<SubresourceId, Version>;

rgraph_ir::id! {
    /// A place in the order of a subresource's accesses.
    struct RankId;
}

/// The last ordered write (`None`: the contents at the start of the frame), and the exclusive or of the hashes of the
/// unordered ones since.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Writes {
    last: Option<RankId>,
    unordered: u64,
}

/// By part: which memories hold something on its device when it begins.
pub(super) type Starts = IdVec<DevicePartId, IdVec<SlotId, bool>>;

/// The walk over the steps of a frame.
pub(super) struct Walk<'a> {
    facts: &'a Facts<'a>,
    plan: &'a DevicesPlan,
    /// By declared pass: whether it is in the plan.
    planned: IdVec<DeclaredPassId, bool>,
    /// By declared pass: what it inserts, in order.
    inserted: IdVec<DeclaredPassId, Vec<DeclaredPassId>>,
    /// By memory, and history: the device that has it at the start of a frame; `None`: all.
    home: IdVec<SlotId, Option<DeviceId>>,
    /// By device, memory (or history) and subresource.
    held: IdVec<DeviceId, IdVec<SlotId, Versions>>,
    /// By declared pass: whether it ran.
    ran: IdVec<DeclaredPassId, bool>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, plan: &'a DevicesPlan) -> Self {
        let mut planned = IdVec::filled(false, facts.declared_passes.len());
        for pass in plan.parts.iter().flat_map(|part| &part.passes) {
            planned[facts.place(*pass).unwrap_or(DeclaredPassId::new(pass.index()))] = true;
        }
        let mut inserted = IdVec::filled(Vec::new(), facts.declared_passes.len());
        for (at, declared) in facts.declared_passes.iter_ids() {
            if let Some(Inserted::Mips { owner, .. }) = declared.inserted {
                planned[at] = planned[owner];
                inserted[owner].push(at);
            }
        }
        for list in inserted.iter_mut() {
            list.sort_by_key(|at: &DeclaredPassId| facts.declared_passes[*at].step);
        }
        let mut walk =
            Self { facts, plan, planned, inserted, home: IdVec::new(), held: IdVec::new(), ran: IdVec::new() };
        walk.ran = IdVec::filled(false, facts.declared_passes.len());
        walk.home = facts.memory.ids().map(|slot| walk.home_of(SlotId::of(slot))).collect();
        walk
    }

    /// A memory, or a history by itself.
    fn slot(&self, resource: ResourceId) -> SlotId {
        slot(self.facts, resource)
    }

    fn is_written(&self, memory: MemoryId) -> bool {
        self.facts.writers[memory].iter().flatten().any(|writer| self.planned[writer.declared])
    }

    /// True of a memory that the caller supplies to every device.
    fn is_given(&self, memory: MemoryId) -> bool {
        let imported = |name: ResourceId| matches!(self.facts.graph.resources()[name].life, Life::Imported(_));
        self.facts.names(memory).any(imported) && !self.is_written(memory) && self.facts.ring[memory] == 1
    }

    fn home_of(&self, slot: SlotId) -> Option<DeviceId> {
        let memory = self.facts.memory[slot.resource()].first_name();
        let found = self.plan.homes.iter().find(|place| place.resource == memory);
        found.map(|place| place.device)
    }

    /// Whether a memory keeps its contents from frame to frame.
    fn is_carried(&self, memory: MemoryId) -> bool {
        self.facts.memory[memory.first_name()] == memory && self.facts.edged[memory] && !self.is_given(memory)
    }

    fn begin(&mut self) {
        let facts = self.facts;
        let held = |device: DeviceId| {
            let of = |resource: ResourceId| {
                let slot = SlotId::of(resource);
                let memory = facts.memory[resource];
                let past = facts.frames_ago[resource] > 0;
                let there = past || facts.filled[memory];
                let here = match self.home[slot] {
                    Some(home) => home == device,
                    None => self.is_given(memory) && !past,
                };
                Versions::filled((there && here).then(Writes::default), facts.grids[memory].len())
            };
            facts.memory.ids().map(of).collect()
        };
        self.held = (0..self.plan.profiles.len()).map(DeviceId::new).map(held).collect();
    }

    pub(super) fn walk(mut self, findings: &mut Findings) -> Starts {
        self.begin();
        let mut sent = IdVec::<DeviceCopyId, _>::filled(Versions::new(), self.plan.copies.len());
        let mut starts = Starts::filled(IdVec::new(), self.plan.parts.len());
        let plan = self.plan;
        for step in &plan.steps {
            match *step {
                DeviceStep::Run(part) => {
                    let device = plan.parts[part].device;
                    let any = |slot: &Versions| slot.iter().any(Option::is_some);
                    starts[part] = self.held[device].iter().map(any).collect();
                    for pass in &plan.parts[part].passes {
                        let declared = self.facts.place(*pass).unwrap_or(DeclaredPassId::new(pass.index()));
                        self.run(device, declared, findings);
                        for inserted in self.inserted[declared].clone() {
                            self.run(device, inserted, findings);
                        }
                    }
                }
                DeviceStep::Send(copy) => {
                    let one = plan.copies[copy];
                    if let Some(resource) = one.resource {
                        let slot = self.slot(resource);
                        sent[copy].clone_from(&self.held[one.from][slot]);
                    }
                }
                DeviceStep::Receive(copy) => {
                    let one = plan.copies[copy];
                    if let Some(resource) = one.resource {
                        let slot = self.slot(resource);
                        self.held[one.to][slot].clone_from(&sent[copy]);
                    }
                }
            }
        }
        self.end(findings);
        starts
    }

    /// The version that comes before a place in the order of a subresource's accesses, without members of `group`.
    fn before(
        &self,
        order: &[SubresourceUse],
        rank: RankId,
        own: Option<DeclaredPassId>,
        group: Option<UnorderedGroupId>,
    ) -> Writes {
        let mut writes = Writes::default();
        for (at, other) in order[..rank.index()].iter().enumerate().rev() {
            let one = &self.facts.declared_passes[other.declared].uses[other.at];
            if !one.writes || !self.planned[other.declared] || Some(other.declared) == own {
                continue;
            }
            if other.group.is_none() {
                writes.last = Some(RankId::new(at));
                break;
            }
            if other.group != group || self.ran[other.declared] {
                writes.unordered ^= hash(at);
            }
        }
        // Members of the own group that stand behind, and ran before.
        if group.is_some() {
            for (at, other) in order.iter().enumerate().skip(rank.index()).take_while(|(_, other)| other.group == group)
            {
                let one = &self.facts.declared_passes[other.declared].uses[other.at];
                if one.writes && Some(other.declared) != own && self.ran[other.declared] {
                    writes.unordered ^= hash(at);
                }
            }
        }
        writes
    }

    fn run(&mut self, device: DeviceId, declared: DeclaredPassId, findings: &mut Findings) {
        let facts = self.facts;
        let pass = &facts.declared_passes[declared];
        let mut made = Vec::new();
        for (number, at) in pass.uses.iter_ids() {
            let (slot, memory) = (self.slot(at.resource), facts.memory[at.resource]);
            for (index, &subresource) in at.subresources.iter().enumerate() {
                let held = self.held[device][slot][subresource];
                if facts.frames_ago[at.resource] > 0 {
                    if held.is_none() {
                        self.misses(device, declared, at.resource, subresource, "what an earlier frame left", findings);
                    }
                    continue;
                }
                let order = &facts.order[memory][subresource];
                let (key, group) = at.keys.get(index).copied().unwrap_or_default();
                let rank = order.partition_point(|one| (one.key, one.declared, one.at) < (key, declared, number));
                let rank = RankId::new(rank);
                let wanted = self.before(order, rank, Some(declared), group);
                let kept = at.keeps_aspect(facts.grids[memory].aspect(subresource)) || pass.flag.is_some();
                let needs = at.must_read || at.writes && kept;
                let there = wanted != Writes::default() || facts.filled[memory];
                if needs && there && held != Some(wanted) {
                    let what = self.sentence(order, held, wanted);
                    self.misses(device, declared, at.resource, subresource, &what, findings);
                }
                if at.writes {
                    let new = match group {
                        None => Writes { last: Some(rank), unordered: 0 },
                        Some(_) => Writes { unordered: wanted.unordered ^ hash(rank.index()), ..wanted },
                    };
                    made.push((slot, subresource, new));
                }
            }
        }
        // A pass reads before it writes.
        for (slot, subresource, new) in made {
            self.held[device][slot][subresource] = Some(new);
        }
        self.ran[declared] = true;
    }

    /// What is held, and what was wanted.
    fn sentence(&self, order: &[SubresourceUse], held: Version, wanted: Writes) -> String {
        let name = |writes: Writes| match writes.last.and_then(|last| order.get(last.index())) {
            Some(one) => format!("what \"{}\" wrote", self.facts.declared_passes[one.declared].name),
            None if writes.unordered != 0 => "what unordered passes wrote".to_owned(),
            None => "what the frame began with".to_owned(),
        };
        match held {
            Some(held) => format!("{}, but holds {}", name(wanted), name(held)),
            None => name(wanted),
        }
    }

    fn misses(
        &self,
        device: DeviceId,
        declared: DeclaredPassId,
        resource: ResourceId,
        subresource: SubresourceId,
        what: &str,
        findings: &mut Findings,
    ) {
        let (pass, name) = (&self.facts.declared_passes[declared].name, self.facts.name(resource));
        let part = self.facts.grids[self.facts.memory[resource]].describe(subresource);
        let part = if part.is_empty() { part } else { format!(" ({part})") };
        let message =
            format!("pass \"{pass}\" on device {} needs of \"{name}\"{part} {what}: a copy is missing", device.index());
        findings.add(Rule::Device, Some(pass), Some(name), message);
    }

    /// Results, and what the next frame begins with.
    fn end(&self, findings: &mut Findings) {
        let facts = self.facts;
        for memory in facts.grids.ids() {
            if self.is_carried(memory) {
                match self.home[SlotId::of(memory.first_name())] {
                    Some(home) => self.latest(home, memory, memory.first_name(), "the next frame", findings),
                    None if facts.needs_place(memory, &self.planned) => {
                        let name = facts.memory_name(memory);
                        let message = format!("\"{name}\" stays from frame to frame, and no device is its home");
                        findings.add(Rule::Device, None, Some(name), message);
                    }
                    None => {}
                }
            }
        }
        for root in facts.graph.roots() {
            let name = facts.name(*root);
            match self.plan.results.iter().find(|place| place.resource == *root) {
                Some(place) => {
                    let memory = facts.memory[*root];
                    self.latest(place.device, memory, *root, "the result", findings);
                }
                None => {
                    let message = format!("root \"{name}\" is read on no device");
                    findings.add(Rule::Device, None, Some(name), message);
                }
            }
        }
    }

    /// A device has the contents that a memory has at the end of the frame.
    fn latest(&self, device: DeviceId, memory: MemoryId, resource: ResourceId, whom: &str, findings: &mut Findings) {
        let slot = SlotId::of(memory.first_name());
        for (subresource, order) in self.facts.order[memory].iter_ids() {
            let wanted = self.before(order, RankId::new(order.len()), None, None);
            let there = wanted != Writes::default() || self.facts.filled[memory];
            if there && self.held[device][slot][subresource] != Some(wanted) {
                let name = self.facts.name(resource);
                let what = self.sentence(order, self.held[device][slot][subresource], wanted);
                let message = format!("{whom} needs of \"{name}\" on device {} {what}", device.index());
                findings.add(Rule::Device, None, Some(name), message);
            }
        }
    }
}

impl Facts<'_> {
    /// Whether a planned pass uses a memory or one of its histories.
    fn needs_place(&self, memory: MemoryId, planned: &IdVec<DeclaredPassId, bool>) -> bool {
        let mut passes = self.declared_passes.iter().zip(planned).filter(|(_, planned)| **planned);
        passes.any(|(pass, _)| pass.uses.iter().any(|at| self.memory[at.resource] == memory))
    }
}

/// A number for a place, such that sums of different places differ.
fn hash(at: usize) -> u64 {
    Random::new(at as u64).bits()
}
