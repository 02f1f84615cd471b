//! A graph compiled for several devices, and the memory of each device that outlives its parts.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rgraph_plan::devices::{DeviceCopy, DeviceCopyId, DeviceId, DevicesPlan, PartGraph};
use rgraph_plan::graph::Graph;
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::PlanKind;
use rgraph_plan::resource::{Life, ResourceId};

use super::{Devices, DevicesFrame};
use crate::bridge::{Bridge, CopyWay};
use crate::compile::compiled_graph::Place;
use crate::device::Device;
use crate::error::{Code, DeviceError, Error};
use crate::frame::copy::{Plane, packed_bytes, packed_help};
use crate::frame::inputs::{Inputs, Upload};
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::resource::DeviceResource;
use crate::memory::usages::Usages;
use crate::memory::{Domain, staged};
use crate::run::compiled::Compiled;
use ash::vk;

/// A graph ready to run on several devices. Clones are the same one; runs of it take turns.
#[derive(Clone, Debug)]
pub struct CompiledDevices(pub(super) Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    pub devices: Devices,
    pub plan: DevicesPlan,
    pub graph: Graph,
    pub parts: Vec<(PartGraph, Compiled)>,
    /// By resource: the first name of its memory; a history is one by itself.
    pub memory: IdVec<ResourceId, ResourceId>,
    pub state: Mutex<DevicesRunState>,
    ways: RwLock<Ways>,
}

/// How contents go from device to device.
#[derive(Debug, Default)]
struct Ways {
    /// By copy: slots between its devices, which copies of one pair share; `None`: staging memory of each.
    bridges: IdVec<DeviceCopyId, Option<Arc<Bridge>>>,
    /// Why CUDA copies less than it was to, per pair of devices.
    notes: Vec<String>,
}

/// By device and memory: images or buffers that take turns frame by frame; one, unless a history remembers it.
type Held = HashMap<(DeviceId, ResourceId), Vec<Arc<PhysicalResource>>>;

/// What runs change.
#[derive(Debug, Default)]
pub(super) struct DevicesRunState {
    /// Runs so far.
    pub run: u64,
    /// Whether what stays from frame to frame has contents.
    initialised: bool,
    /// What outlives parts.
    held: Held,
    /// Imports that were given.
    given: Vec<ResourceId>,
}

impl CompiledDevices {
    pub(super) fn new(
        devices: Devices,
        plan: DevicesPlan,
        graph: Graph,
        parts: Vec<(PartGraph, Compiled)>,
    ) -> Result<Self, Error> {
        let mut memory: IdVec<ResourceId, ResourceId> = graph.resources().ids().collect();
        for id in graph.resources().ids().filter(|_| parts.len() > 1) {
            // Names of equal size are one memory: others are refused where there are several parts.
            let mut at = id;
            while let Some(base) = graph.resources()[at].modifies {
                at = base;
            }
            memory[id] = at;
        }
        let (state, ways) = (Mutex::default(), RwLock::default());
        let mut shared = Shared { devices, plan, graph, parts, memory, state, ways };
        if shared.parts.len() > 1 {
            let held = shared.make_memories()?;
            shared.state = Mutex::new(DevicesRunState { held, ..DevicesRunState::default() });
            shared.ways = RwLock::new(shared.make_ways()?);
        }
        Ok(Self(Arc::new(shared)))
    }

    pub fn plan(&self) -> &DevicesPlan {
        &self.0.plan
    }

    /// The declaration that it was made of.
    pub fn graph(&self) -> &Graph {
        &self.0.graph
    }

    /// The graph and the compiled form of each part, in the order of the plan's parts.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&PartGraph, &Compiled)> {
        self.0.parts.iter().map(|(part, compiled)| (part, compiled))
    }

    /// Copies of a frame that no CPU makes; the others go through staging memory of each device, and a CPU copies
    /// between.
    pub fn direct_copies(&self) -> usize {
        self.copy_ways().into_iter().filter(|way| *way != CopyWay::Staged).count()
    }

    /// The way that each copy of the plan takes. After a run in which CUDA failed, its copies go through memory of the
    /// host.
    pub fn copy_ways(&self) -> Vec<CopyWay> {
        let ways = self.0.ways.read().unwrap_or_else(PoisonError::into_inner);
        ways.bridges.iter().map(|bridge| bridge.as_ref().map_or(CopyWay::Staged, |bridge| bridge.way())).collect()
    }

    /// Which ways the copies of a frame take, and why CUDA makes fewer than it was to, for people.
    pub fn copy_notes(&self) -> Vec<String> {
        let ways = self.copy_ways();
        let mut counts = Vec::new();
        for (way, how) in [
            (CopyWay::Cuda, "by CUDA"),
            (CopyWay::Host, "through memory of the host"),
            (CopyWay::Staged, "by a CPU between staging memories"),
        ] {
            let count = ways.iter().filter(|other| **other == way).count();
            if count > 0 {
                counts.push(format!("{count} {how}"));
            }
        }
        if counts.is_empty() {
            return counts;
        }
        let notes = self.0.ways.read().unwrap_or_else(PoisonError::into_inner).notes.clone();
        [format!("copies between devices: {}", counts.join(", "))].into_iter().chain(notes).collect()
    }

    /// Runs it once, and waits until all devices are done and its roots are read.
    ///
    /// # Errors
    /// The first error of a device, a part or a function of the caller's: the other devices stop at their next step,
    /// and what stays from frame to frame starts again with the next run. An input that does not fit changes nothing.
    pub fn run(&self, inputs: &Inputs<'_>) -> Result<DevicesFrame, Error> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let [(_, compiled)] = &self.0.parts[..] {
            return DevicesFrame::of_one(&self.0, compiled.run(inputs)?, inputs);
        }
        self.0.check(inputs)?;
        self.0.begin(&mut state, inputs)?;
        let frames = super::steps::run(&self.0, &state, inputs).inspect_err(|_| {
            state.initialised = false;
            self.0.settle_ways(&state);
        })?;
        let frame = DevicesFrame::of_parts(&self.0, &state, frames, inputs, self.copy_notes());
        state.run += 1;
        frame
    }
}

impl Shared {
    /// Makes the memories that outlive a part, with the usages of all parts of their device, and those that contents
    /// are copied from, although no part of their device uses them: it remembers a history that others read.
    fn make_memories(&self) -> Result<Held, Error> {
        // Parts have the resources of the whole graph, under its ids.
        let kinds = &self.parts[0].1.graph().plan.resources;
        let of = |device, resource| self.ring_of(device, resource).map_or(resource, |(memory, _)| memory);
        let mut wanted: HashMap<(DeviceId, ResourceId), (ResourceId, Usages, Domain)> = HashMap::new();
        let mut want = |at, resource, usages: Usages, domain| {
            let known = wanted.entry(at).or_insert((resource, usages, domain));
            known.1.image |= usages.image | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
            known.1.buffer |= usages.buffer | vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
            if domain == Domain::Cached && known.2 == Domain::Device {
                known.2 = domain;
            }
        };
        for ((part, compiled), place) in self.parts.iter().zip(self.plan.parts.iter()) {
            let made = compiled.graph();
            for import in &part.imports {
                let Place::Import(usages, domain) = made.places[made.ring_of(import.resource).0] else { continue };
                want((place.device, of(place.device, import.memory)), import.resource, usages, domain);
            }
        }
        for copy in &self.plan.copies {
            let Some(resource) = copy.resource else { continue };
            want((copy.from, of(copy.from, resource)), resource, Usages::default(), Domain::Device);
        }
        let mut held = HashMap::new();
        for ((device, memory), (resource, usages, domain)) in wanted {
            let shared = &self.devices.list()[device.index()].0;
            let kind = kinds[resource].kind;
            let name = self.graph.resource_name(memory);
            let peers = self.peers(device, memory);
            let make = |_| {
                if let (PlanKind::Buffer { size }, Domain::Device, false) = (kind, domain, peers.is_empty()) {
                    let device = &self.devices.list()[device.index()];
                    if let Some(made) = self.devices.peer_buffer(device, &peers, name, (size, usages))? {
                        return Ok(made);
                    }
                }
                PhysicalResource::new(shared, name, kind, usages, domain, true)
            };
            let ring = (0..self.copies(device, memory)).map(make).collect::<Result<Vec<_>, _>>()?;
            held.insert((device, memory), ring);
        }
        Ok(held)
    }

    /// The devices that a memory of a device is copied to or comes from.
    fn peers(&self, device: DeviceId, memory: ResourceId) -> Vec<&Device> {
        let own =
            |at: DeviceId, of: ResourceId| at == device && self.ring_of(device, of).map_or(of, |(of, _)| of) == memory;
        let other = |copy: &DeviceCopy| {
            let of = copy.resource?;
            if own(copy.from, of) { Some(copy.to) } else { own(copy.to, of).then_some(copy.from) }
        };
        self.plan.copies.iter().filter_map(other).map(|at| &self.devices.list()[at.index()]).collect()
    }

    /// The slots that a copy goes through.
    pub(super) fn bridge(&self, copy: DeviceCopyId) -> Option<Arc<Bridge>> {
        self.ways.read().unwrap_or_else(PoisonError::into_inner).bridges[copy].clone()
    }

    /// By copy: what it copies, if that has one plane.
    fn copied_kinds(&self, state: &DevicesRunState) -> IdVec<DeviceCopyId, Option<PlanKind>> {
        let kind = |copy: &DeviceCopy| {
            let physical = copy.resource.and_then(|memory| self.physical(state, copy.from, memory))?;
            (Plane::all(physical.kind).len() == 1).then_some(physical.kind)
        };
        self.plan.copies.iter().map(kind).collect()
    }

    /// Slots between devices. The copies of a pair share them, except those that must not wait for their receiver.
    fn make_ways(&self) -> Result<Ways, Error> {
        let kinds = self.copied_kinds(&self.state.lock().unwrap_or_else(PoisonError::into_inner));
        let meets = super::meet::meeting(&self.plan, kinds.iter().map(Option::is_some).collect());
        let mut ways = Ways { bridges: IdVec::filled(None, self.plan.copies.len()), notes: Vec::new() };
        let mut shared: BTreeMap<(bool, (DeviceId, DeviceId)), Vec<DeviceCopyId>> = BTreeMap::new();
        for (id, copy) in self.plan.copies.iter_ids() {
            let (Some(kind), ends) = (kinds[id], (copy.from, copy.to)) else { continue };
            if meets[id] {
                shared.entry((self.is_direct(copy), ends)).or_default().push(id);
            } else {
                let [from, to] = self.ends(ends);
                ways.bridges[id] = Bridge::by_host(from, to, &[kind], true)?.map(Arc::new);
            }
        }
        for ((direct, ends), copies) in shared {
            let [from, to] = self.ends(ends);
            let kinds: Vec<_> = copies.iter().filter_map(|copy| kinds[*copy]).collect();
            let without_slots = if direct { self.devices.direct_bridge(from, to)? } else { None };
            let (bridge, note) = match without_slots {
                Some(bridge) => (Some(bridge), None),
                None => self.devices.bridge(from, to, &kinds)?,
            };
            ways.notes.extend(note.map(|why| no_cuda(ends, &why)));
            let bridge = bridge.map(Arc::new);
            for copy in copies {
                ways.bridges[copy].clone_from(&bridge);
            }
        }
        Ok(ways)
    }

    /// Whether CUDA reaches both ends of a copy without a slot.
    fn is_direct(&self, copy: &DeviceCopy) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reached = |device| {
            let physical = copy.resource.and_then(|memory| self.physical(&state, device, memory));
            physical.is_some_and(|physical| physical.peer_address().is_some())
        };
        reached(copy.from) && reached(copy.to)
    }

    fn ends(&self, (from, to): (DeviceId, DeviceId)) -> [&Device; 2] {
        [from, to].map(|device| &self.devices.list()[device.index()])
    }

    /// Behind a run that failed: slots are empty, and where CUDA failed the host's take their place.
    fn settle_ways(&self, state: &DevicesRunState) {
        let kinds = self.copied_kinds(state);
        let mut ways = self.ways.write().unwrap_or_else(PoisonError::into_inner);
        let mut seen: Vec<(*const Bridge, bool)> = Vec::new();
        for (id, copy) in self.plan.copies.iter_ids() {
            let Some(bridge) = ways.bridges[id].clone() else { continue };
            let known = seen.iter().find(|(other, _)| std::ptr::eq(*other, &raw const *bridge)).map(|(_, good)| *good);
            let good = known.unwrap_or_else(|| {
                let good = bridge.settle();
                seen.push((&raw const *bridge, good));
                if !good {
                    ways.notes.push(no_cuda((copy.from, copy.to), "it failed in a run"));
                }
                good
            });
            if !good {
                let [from, to] = self.ends((copy.from, copy.to));
                let kind: Vec<_> = kinds[id].into_iter().collect();
                // A device that is lost says so in the next run.
                ways.bridges[id] = Bridge::by_host(from, to, &kind, true).ok().flatten().map(Arc::new);
            }
        }
    }

    /// A part of a device that imports a resource.
    fn part_on(&self, device: DeviceId, resource: ResourceId) -> Option<&(PartGraph, Compiled)> {
        let parts = self.parts.iter().zip(self.plan.parts.iter());
        let mut on = parts.filter(|(_, place)| place.device == device).map(|(part, _)| part);
        on.find(|(part, _)| part.imports.iter().any(|import| import.resource == resource))
    }

    fn home(&self, memory: ResourceId) -> Option<DeviceId> {
        self.plan.homes.iter().find(|place| place.resource == memory).map(|place| place.device)
    }

    /// Of a history on the device that remembers it: the memory that it is a part of, and how many frames ago.
    fn ring_of(&self, device: DeviceId, memory: ResourceId) -> Option<(ResourceId, u32)> {
        let Life::History(history) = self.graph.resources()[memory].life else { return None };
        let of = self.memory[history.of];
        (self.home(of) == Some(device)).then_some((of, history.frames))
    }

    /// How many images or buffers of a memory take turns on a device.
    fn copies(&self, device: DeviceId, memory: ResourceId) -> u32 {
        if self.home(memory) != Some(device) {
            return 1;
        }
        let frames = self.graph.resources().iter().filter_map(|resource| match resource.life {
            Life::History(history) if self.memory[history.of] == memory => Some(history.frames),
            _ => None,
        });
        1 + frames.max().unwrap_or(0)
    }

    /// The image or buffer that a memory is on a device in this run.
    pub(super) fn physical<'a>(
        &self,
        state: &'a DevicesRunState,
        device: DeviceId,
        memory: ResourceId,
    ) -> Option<&'a Arc<PhysicalResource>> {
        let (memory, back) = self.ring_of(device, memory).unwrap_or((memory, 0));
        let ring = state.held.get(&(device, memory))?;
        let length = ring.len() as u64;
        ring.get(((state.run + length - u64::from(back) % length) % length) as usize)
    }

    /// Refuses what several devices do not do yet.
    fn check(&self, inputs: &Inputs<'_>) -> Result<(), Error> {
        let refuse = |what: &str| {
            let message = format!("{what}, which is not supported over several devices");
            Err(Error::input(self.graph.name(), message, "run the graph on one device"))
        };
        if !inputs.waits.is_empty() || !inputs.signals.is_empty() || inputs.fence.is_some() {
            return refuse("the run has semaphores or a fence of the caller's");
        }
        if !inputs.parts.is_empty() {
            return refuse("the run reads parts of roots");
        }
        for (name, _) in &inputs.flags {
            if !self.graph.flags().iter().any(|flag| flag == name) {
                let message = format!("the graph has no flag \"{name}\"");
                return Err(Error::input(name, message, "name a flag of a conditional pass"));
            }
        }
        for root in inputs.read.iter().flatten() {
            if !self.graph.is_root(*root) {
                let message = format!("\"{}\" is no root of the graph", self.graph.resource_name(*root));
                return Err(Error::input(self.graph.resource_name(*root), message, "make it a root"));
            }
        }
        Ok(())
    }

    /// Fills what stays from frame to frame, and what is given.
    fn begin(&self, state: &mut DevicesRunState, inputs: &Inputs<'_>) -> Result<(), Error> {
        for (resource, upload) in &inputs.uploads {
            self.check_upload(*resource, upload)?;
        }
        let given: Vec<ResourceId> = inputs.uploads.iter().map(|(resource, _)| *resource).collect();
        for (id, resource) in self.graph.resources().iter_ids() {
            let Life::Imported(imported) = resource.life else { continue };
            let known = given.contains(&id) || !inputs.anew && state.given.contains(&id);
            let used = state.held.keys().any(|(_, memory)| *memory == id);
            if imported.defined && used && !known {
                let name = self.graph.resource_name(id);
                let message = format!("imported \"{name}\" has nothing bound to it in this run");
                return Err(Error::input(name, message, format!("give it: inputs={{\"{name}\": …}}")));
            }
        }
        if !state.initialised || inputs.reset {
            self.clear_kept(state)?;
            for (resource, bytes) in &inputs.first {
                self.fill(state, *resource, bytes)?;
            }
            state.initialised = true;
        }
        for (resource, bytes) in &inputs.states {
            self.fill(state, *resource, bytes)?;
        }
        for (resource, upload) in &inputs.uploads {
            self.upload(state, *resource, upload, inputs)?;
            if !state.given.contains(resource) {
                state.given.push(*resource);
            }
        }
        Ok(())
    }

    /// Zeros in all that stays, imports aside.
    fn clear_kept(&self, state: &DevicesRunState) -> Result<(), Error> {
        for place in &self.plan.homes {
            if matches!(self.graph.resources()[place.resource].life, Life::Imported(_)) {
                continue;
            }
            for physical in state.held.get(&(place.device, place.resource)).into_iter().flatten() {
                for plane in Plane::all(physical.kind) {
                    let bytes = vec![0; plane.piece(physical.kind).bytes.end as usize];
                    staged::write_plane(physical, plane, &bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Gives all remembered frames of a memory the same contents.
    fn fill(&self, state: &DevicesRunState, resource: ResourceId, bytes: &[u8]) -> Result<(), Error> {
        let name = self.graph.resource_name(resource);
        let memory = match self.graph.resources()[resource].life {
            Life::History(history) => self.memory[history.of],
            _ => self.memory[resource],
        };
        let imported = matches!(self.graph.resources()[memory].life, Life::Imported(_));
        let home = self.home(memory).filter(|_| !imported);
        let Some(ring) = home.and_then(|home| state.held.get(&(home, memory))) else {
            let message = format!("\"{name}\" does not live from frame to frame, so it has no state");
            return Err(Error::input(name, message, "declare it persistent, or remember it with previous()"));
        };
        for physical in ring {
            check_bytes(name, physical, bytes)?;
            staged::write(physical, bytes, None)?;
        }
        Ok(())
    }

    fn check_upload(&self, resource: ResourceId, upload: &Upload<'_>) -> Result<(), Error> {
        let Some(declared) = self.graph.resources().get(resource) else {
            return Err(Error::input("?", "an input is a resource of another graph", "use this graph's handles"));
        };
        let name = self.graph.resource_name(resource);
        if !matches!(declared.life, Life::Imported(_)) {
            let message = format!("\"{name}\" is not imported, so it takes no input");
            return Err(Error::input(name, message, "import it: import_array, import_image or import_buffer"));
        }
        let Upload::Resource(given) = upload else { return Ok(()) };
        let owner = self.devices.list().iter().position(|device| Arc::ptr_eq(&device.0, &given.physical().shared));
        let Some(owner) = owner else {
            let message = format!("\"{name}\" is given \"{}\", which belongs to another device", given.name());
            return Err(DeviceError::new(Code::Foreign, message, "make it on one of the devices").into());
        };
        let users: Vec<DeviceId> = (0..self.devices.list().len())
            .map(DeviceId::new)
            .filter(|device| self.part_on(*device, resource).is_some())
            .collect();
        if let Some(other) = users.iter().find(|device| device.index() != owner) {
            let message = format!(
                "\"{name}\" is given memory of device {owner}, but passes on device {} use it too",
                other.index()
            );
            let message = if users.contains(&DeviceId::new(owner)) { message } else { message.replace(" too", "") };
            let help = format!("give an array, or run the passes that use \"{name}\" with device={owner}");
            return Err(Error::input(name, message, help));
        }
        Ok(())
    }

    /// Gives an import to each device that begins the frame with it.
    fn upload(
        &self,
        state: &mut DevicesRunState,
        resource: ResourceId,
        upload: &Upload<'_>,
        inputs: &Inputs<'_>,
    ) -> Result<(), Error> {
        let (name, memory) = (self.graph.resource_name(resource), self.memory[resource]);
        let home = self.home(memory);
        for device in (0..self.devices.list().len()).map(DeviceId::new) {
            let Some(ring) = state.held.get_mut(&(device, memory)) else { continue };
            if home.is_some_and(|home| home != device) {
                continue;
            }
            match upload {
                Upload::Bytes(bytes) => {
                    check_bytes(name, &ring[0], bytes)?;
                    staged::write(&ring[0], bytes, inputs.poll)?;
                }
                Upload::Resource(given) => {
                    if given.kind() != ring[0].kind {
                        let message = format!("\"{name}\" is given a resource of another kind, format or size");
                        return Err(Error::input(name, message, "give a resource of the same shape"));
                    }
                    ring[0] = given.physical().clone();
                }
            }
        }
        Ok(())
    }

    /// The imports of a part, as its run gets them.
    pub(super) fn imports(
        &self,
        state: &DevicesRunState,
        part: usize,
        device: DeviceId,
    ) -> Vec<(ResourceId, DeviceResource)> {
        let imports = &self.parts[part].0.imports;
        let bound = |memory| self.physical(state, device, memory).map(|physical| DeviceResource::of(physical.clone()));
        imports.iter().filter_map(|import| Some((import.resource, bound(import.memory)?))).collect()
    }
}

fn no_cuda((from, to): (DeviceId, DeviceId), why: &str) -> String {
    format!("CUDA does not copy from device {} to {}: {why}", from.index(), to.index())
}

fn check_bytes(name: &str, physical: &PhysicalResource, bytes: &[u8]) -> Result<(), Error> {
    let wanted = packed_bytes(physical.kind);
    if bytes.len() as u64 == wanted {
        return Ok(());
    }
    let message = format!("\"{name}\" takes {wanted} bytes, and {} are given", bytes.len());
    Err(Error::input(name, message, packed_help(physical.kind)))
}
