//! What a run is given: imports that are bound, arrays that are copied into staging memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rgraph_plan::access::Aspects;
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::{PlanKind, PlanLife};
use rgraph_plan::resource::{Life, ResourceId};

use crate::bulk;
use crate::compile::compiled_graph::Imports;
use crate::compile::compiled_graph::{CompiledGraph, Import, Place};
use crate::compile::inherit::Begin;
use crate::device::Shared;
use crate::device::poll::Poll;
use crate::device::queue::DeviceQueueId;
use crate::error::{Code, DeviceError, Error};
use crate::frame::copy::{described, packed_bytes, packed_help};
use crate::frame::inputs::{Inputs, Upload};
use crate::frame::state::RunState;
use crate::memory::left;
use crate::memory::left::ResourceLeft;
use crate::memory::physical_resource::{PhysicalResource, Raw};
use crate::memory::resource::DeviceResource;
use crate::memory::staged;
use crate::memory::staging::Block;
use crate::memory::state::ResourceState;

/// What comes before the plan's batches.
#[derive(Debug, Default)]
pub(crate) struct Prologue {
    /// Contents that begin with zeros; in chaos runs also memories that begin with poison.
    pub clears: Vec<(Arc<PhysicalResource>, Option<ResourceId>)>,
    /// Contents that come from another memory of the same kind: from, to.
    pub copies: Vec<(Arc<PhysicalResource>, Arc<PhysicalResource>)>,
    /// Contents that come from staging memory: block and offset there.
    pub uploads: Vec<(Arc<PhysicalResource>, Arc<Block>, u64)>,
    /// The block that small uploads share, and where it is free from.
    open: Option<(Arc<Block>, u64)>,
}

/// Least bytes of a block that uploads share.
const SHARED_BLOCK: u64 = 1 << 20;

impl Prologue {
    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.clears.is_empty() && self.copies.is_empty() && self.uploads.is_empty()
    }

    /// Copies bytes into staging memory, from where the run copies them into a resource.
    pub(crate) fn stage(
        &mut self,
        shared: &Arc<Shared>,
        physical: Arc<PhysicalResource>,
        bytes: &[u8],
        poll: Option<Poll<'_>>,
    ) -> Result<(), Error> {
        let length = bytes.len() as u64;
        let (block, offset) = match self.open.take() {
            Some((block, free)) if free + length <= block.size() => (block, free),
            _ => (shared.lend(length.max(SHARED_BLOCK), poll)?, 0),
        };
        // SAFETY: the range lies in the block, which nobody else borrows, behind what was staged before.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.start().as_ptr().add(offset as usize), bytes.len());
        }
        block.flush([offset, offset + length])?;
        self.open = Some((block.clone(), (offset + length).next_multiple_of(256)));
        self.uploads.push((physical, block, offset));
        Ok(())
    }
}

impl RunState {
    /// Refuses a run that would not wait for the other user of an import: memory of the caller's own for which it has
    /// no semaphore.
    pub(super) fn check_awaited(&self, compiled: &CompiledGraph, inputs: &Inputs<'_>) -> Result<(), Error> {
        let plan = &compiled.plan;
        for point in plan.foreign.iter().filter(|point| point.wait.is_some()) {
            let memory = plan.memory_of(point.resource);
            let known = |of: Option<ResourceId>| of.is_none_or(|of| plan.memory_of(of) == memory);
            let given = inputs.waits.iter().any(|wait| known(wait.resource));
            let ring = compiled.ring_of(point.resource).0;
            let Some(physical) = self.imports[ring].as_ref().filter(|_| !given) else { continue };
            if physical.is_borrowed() {
                let name = plan.resource_name(memory);
                let message =
                    format!("\"{name}\" is declared to wait for its other user, and the run has no semaphore");
                let help = format!("give wait=(semaphore, value, \"{name}\"), or import it without wait");
                return Err(Error::input(name, message, help));
            }
        }
        Ok(())
    }

    /// Binds imports and copies what is uploaded into staging memory.
    pub(super) fn prologue(&mut self, compiled: &CompiledGraph, inputs: &Inputs<'_>) -> Result<Prologue, Error> {
        let mut prologue = Prologue::default();
        self.initialised &= !inputs.reset;
        self.begin(compiled, &mut prologue);
        let begins = |declared: ResourceId| {
            let anew = |memory| self.begins.iter().any(|(of, begin)| *of == memory && matches!(begin, Begin::Anew));
            !self.initialised || compiled.known(declared).is_none_or(|resource| anew(compiled.ring_of(resource).0))
        };
        let first = inputs.first.iter().filter(|(declared, _)| begins(*declared));
        for (declared, bytes) in first.chain(&inputs.states) {
            fill(compiled, *declared, bytes, inputs.poll, &mut prologue)?;
        }
        let mut uploaded = Vec::with_capacity(inputs.uploads.len());
        for (declared, upload) in &inputs.uploads {
            let Some(resource) = compiled.known(*declared) else {
                return Err(Error::input("?", "an input is a resource of another graph", "use this graph's handles"));
            };
            uploaded.push(compiled.ring_of(resource).0);
            self.upload(compiled, resource, upload, inputs.poll, &mut prologue)?;
        }
        for &Import { memory, bound, defined } in &compiled.imports {
            let known = !inputs.anew || uploaded.contains(&memory);
            if defined && !(known && (!bound || self.imports[memory].is_some())) {
                let name = compiled.plan.resource_name(memory);
                let message = format!("imported \"{name}\" has nothing bound to it in this run");
                return Err(Error::input(name, message, format!("give it: inputs={{\"{name}\": …}}")));
            }
            if bound && self.imports[memory].is_none() {
                let physical = self.own_physical(compiled, memory, false)?;
                if compiled.chaos.is_some() {
                    prologue.clears.push((physical.clone(), Some(memory)));
                }
                self.imports[memory] = Some(physical);
                self.rebound += 1;
            }
        }
        for physical in compiled.imports.iter().filter_map(|import| self.imports[import.memory].as_ref()) {
            physical.available()?;
        }
        if self.distinct != self.rebound {
            self.check_distinct(compiled)?;
            self.distinct = self.rebound;
        }
        Ok(prologue)
    }

    /// What lasting memories begin with in this run: zeros, or what the graph before had.
    fn begin(&self, compiled: &CompiledGraph, prologue: &mut Prologue) {
        if self.initialised && self.begins.is_empty() {
            return;
        }
        let graph = &compiled.workload.graph;
        let mut zero: IdVec<ResourceId, bool> = IdVec::filled(false, compiled.places.len());
        for resource in graph.resources() {
            if let Life::History(history) = resource.life {
                zero[compiled.plan.memory_of(history.of)] |= history.zero_first;
            }
        }
        let mut anew = |memory: ResourceId| match &compiled.places[memory] {
            Place::Fixed(physical) if compiled.plan.resources[memory].life == PlanLife::Persistent => {
                prologue.clears.push((physical.clone(), None));
            }
            Place::Ring(ring) if zero[memory] || compiled.chaos.is_some() => {
                let poisoned = (!zero[memory]).then_some(memory);
                prologue.clears.extend(ring.iter().map(|physical| (physical.clone(), poisoned)));
            }
            _ => {}
        };
        if !self.initialised {
            compiled.places.ids().for_each(anew);
            return;
        }
        for (memory, begin) in &self.begins {
            match begin {
                Begin::Anew => anew(*memory),
                Begin::Copied(from) => {
                    let pairs = from.iter().cloned().zip(compiled.places[*memory].lasting().iter().cloned());
                    prologue.copies.extend(pairs);
                }
            }
        }
    }

    /// Puts imports into the states that foreign code left them in.
    pub(super) fn take_left(&self, compiled: &CompiledGraph, inputs: &Inputs<'_>) -> Result<(), Error> {
        if inputs.left.is_empty() {
            return Ok(());
        }
        let all = left_of_run(compiled, &self.imports, &inputs.left)?;
        let apart = |physical: &PhysicalResource, queue| is_apart(compiled, &self.imports, physical, queue);
        left::take(&compiled.shared, all, apart)
    }

    /// Refuses one resource under two names: neither knows of the other's uses.
    fn check_distinct(&mut self, compiled: &CompiledGraph) -> Result<(), Error> {
        let mut known: HashMap<Raw, ResourceId> = HashMap::new();
        let bound = self.imports.iter_ids().filter_map(|(memory, physical)| Some((memory, physical.as_ref()?.raw)));
        let twice = bound.into_iter().find_map(|(memory, raw)| Some((known.insert(raw, memory)?, memory)));
        let Some((one, two)) = twice else { return Ok(()) };
        let (one, name) = (compiled.plan.resource_name(one), compiled.plan.resource_name(two));
        self.imports[two] = None;
        self.rebound += 1;
        let message = format!("imports \"{one}\" and \"{name}\" are bound to one resource");
        let help = "give each one of its own; or declare one import, and let all passes use that";
        Err(Error::input(name, message, help))
    }

    /// An image or buffer for the caller's array. Where all of it is written each frame in flight has one of its own,
    /// so that what the next frame reads is uploaded during the work of this one; else it is the one that is bound.
    fn own_physical(
        &mut self,
        compiled: &CompiledGraph,
        memory: ResourceId,
        replaced: bool,
    ) -> Result<Arc<PhysicalResource>, Error> {
        let Place::Import(usages, domain) = compiled.places[memory] else {
            return Err(DeviceError::new(Code::Foreign, "not an imported resource", "").into());
        };
        let kind = compiled.plan.resources[memory].kind;
        let turn = self.context_of(self.run).index();
        let own = &mut self.own[memory];
        let bound = |physical: &Arc<PhysicalResource>| {
            self.imports[memory].as_ref().is_some_and(|bound| Arc::ptr_eq(bound, physical))
        };
        let last = own.iter().position(bound).or((!own.is_empty()).then_some(0));
        let (at, other) = match last {
            Some(last) if replaced && is_covered(kind) => (turn.min(own.len()), Some(last)),
            Some(last) => (last, None),
            None => (0, None),
        };
        if at == own.len() {
            let name = compiled.plan.resource_name(memory);
            match (PhysicalResource::new(&compiled.shared, name, kind, usages, domain, true), other) {
                (Ok(physical), _) => own.push(physical),
                // It goes with fewer, too.
                (Err(Error::Device(error)), Some(other)) if error.call == Some("vkAllocateMemory") => {
                    return Ok(own[other].clone());
                }
                (Err(error), _) => return Err(error),
            }
        }
        Ok(own[at].clone())
    }

    fn upload(
        &mut self,
        compiled: &CompiledGraph,
        resource: ResourceId,
        upload: &Upload<'_>,
        poll: Option<Poll<'_>>,
        prologue: &mut Prologue,
    ) -> Result<(), Error> {
        let name = compiled.plan.resource_name(resource);
        let (memory, _) = compiled.ring_of(resource);
        let kind = compiled.plan.resources[resource].kind;
        let imported = compiled.plan.resources[compiled.plan.memory_of(resource)].life == PlanLife::Imported
            || matches!(compiled.workload.graph.resources()[memory].life, Life::Imported(_));
        if !imported {
            let message = format!("\"{name}\" is not imported, so it takes no input");
            return Err(Error::input(name, message, "import it: import_array, import_image or import_buffer"));
        }
        match upload {
            Upload::Resource(given) => {
                let physical = given.checked(&compiled.shared)?;
                if physical.kind != kind {
                    let message =
                        format!("\"{name}\" is {}, and what is given is {}", described(kind), described(physical.kind));
                    return Err(Error::input(name, message, "give a resource of the same kind, format and size"));
                }
                if !matches!(compiled.places[memory], Place::Import(..)) {
                    if matches!(compiled.places[memory], Place::Unused) {
                        return Ok(());
                    }
                    let message = format!("\"{name}\" is remembered from frame to frame, so it takes arrays only");
                    return Err(Error::input(name, message, "give an array"));
                }
                let same = self.imports[memory].as_ref().is_some_and(|known| Arc::ptr_eq(known, physical));
                if !same {
                    self.imports[memory] = Some(physical.clone());
                    self.rebound += 1;
                }
                Ok(())
            }
            Upload::Bytes(bytes) => {
                let wanted = packed_bytes(kind);
                if bytes.len() as u64 != wanted {
                    let message = format!("\"{name}\" takes {wanted} bytes, and {} are given", bytes.len());
                    return Err(Error::input(name, message, packed_help(kind)));
                }
                let physical = match &compiled.places[memory] {
                    Place::Unused => return Ok(()),
                    Place::Import(..) => {
                        let physical = self.own_physical(compiled, memory, true)?;
                        let same = self.imports[memory].as_ref().is_some_and(|known| Arc::ptr_eq(known, &physical));
                        if !same {
                            self.imports[memory] = Some(physical.clone());
                            self.rebound += 1;
                        }
                        physical
                    }
                    _ => match compiled.physical(memory, self.run, &self.imports) {
                        Some(physical) => physical.clone(),
                        None => return Ok(()),
                    },
                };
                if write_directly(&compiled.shared, &physical, bytes)? {
                    return Ok(());
                }
                // What is remembered may be cleared first, in the run's own submit.
                let bound = matches!(compiled.places[memory], Place::Import(..));
                if bound && (wanted >= ALONE || staged::locked(&compiled.shared, bytes).is_some()) {
                    return staged::write(&physical, bytes, poll);
                }
                prologue.stage(&compiled.shared, physical, bytes, poll)
            }
        }
    }
}

/// Stages what a persistent resource or every remembered frame of a history holds.
fn fill(
    compiled: &CompiledGraph,
    declared: ResourceId,
    bytes: &[u8],
    poll: Option<Poll<'_>>,
    prologue: &mut Prologue,
) -> Result<(), Error> {
    let Some(resource) = compiled.known(declared) else {
        return Err(Error::input("?", "a state is a resource of another graph", "use this graph's handles"));
    };
    let name = compiled.plan.resource_name(resource);
    let (memory, _) = compiled.ring_of(resource);
    let kind = compiled.plan.resources[resource].kind;
    let wanted = packed_bytes(kind);
    if bytes.len() as u64 != wanted {
        let message = format!("\"{name}\" takes {wanted} bytes, and {} are given", bytes.len());
        return Err(Error::input(name, message, packed_help(kind)));
    }
    let physicals = match &compiled.places[memory] {
        Place::Unused => return Ok(()),
        Place::Fixed(physical) if compiled.plan.resources[memory].life == PlanLife::Persistent => {
            std::slice::from_ref(physical)
        }
        Place::Ring(ring) => ring,
        Place::Fixed(_) | Place::PerContext(_) | Place::Import(..) => {
            let message = format!("\"{name}\" does not live from frame to frame, so it has no state");
            return Err(Error::input(name, message, "declare it persistent, or remember it with previous()"));
        }
    };
    for physical in physicals {
        // Two copies into one physical resource in one submit would race: the later one counts.
        prologue.uploads.retain(|(known, ..)| !Arc::ptr_eq(known, physical));
        prologue.stage(&compiled.shared, physical.clone(), bytes, poll)?;
    }
    Ok(())
}

/// Whether an upload replaces everything that a resource holds.
fn is_covered(kind: PlanKind) -> bool {
    match kind {
        PlanKind::Buffer { .. } => true,
        PlanKind::Image { format, mips, .. } => mips == 1 && !format.aspects().contains(Aspects::STENCIL),
    }
}

/// Bytes from which on an upload is a submit of its own: the device copies the first part while the CPU stages the
/// next.
const ALONE: u64 = 1 << 20;

/// Writes into a buffer that the host can see and nobody uses; `false`: it has to be staged.
fn write_directly(shared: &Shared, physical: &PhysicalResource, bytes: &[u8]) -> Result<bool, Error> {
    let (PlanKind::Buffer { .. }, Some(mapped)) = (physical.kind, physical.mapped()) else { return Ok(false) };
    let idle = shared.wait(&staged::points(physical), Some(Duration::ZERO))?;
    if idle {
        // SAFETY: the buffer is that large and no queue uses it; submits make host writes visible.
        bulk::copy(unsafe { std::slice::from_raw_parts_mut(mapped.as_ptr(), bytes.len()) }, bytes);
        let everything = physical.tracked().whole();
        physical.tracked().set(everything, &ResourceState::default());
    }
    Ok(idle)
}

/// DeviceResource states that a run gets for its imports, checked.
fn left_of_run(
    compiled: &CompiledGraph,
    imports: &Imports,
    left: &[(ResourceId, ResourceLeft)],
) -> Result<Vec<(Arc<PhysicalResource>, ResourceState)>, Error> {
    let one = |(declared, left): &(ResourceId, ResourceLeft)| {
        let Some(resource) = compiled.known(*declared) else {
            return Err(Error::input("?", "a state is of a resource of another graph", "use this graph's handles"));
        };
        let (memory, _) = compiled.ring_of(resource);
        let Some(physical) = &imports[memory] else {
            let name = compiled.plan.resource_name(resource);
            let message = format!("\"{name}\" has nothing bound to it, so no state fits");
            return Err(Error::input(name, message, "give the resource with the run, as Upload::Resource"));
        };
        DeviceResource::of_physical(physical.clone()).refuse(&left.0)?;
        Ok((physical.clone(), left.0.clone()))
    };
    left.iter().map(one).collect()
}

/// Whether a run uses a resource on another queue than that one, as far as its entries tell.
fn is_apart(compiled: &CompiledGraph, imports: &Imports, physical: &PhysicalResource, queue: DeviceQueueId) -> bool {
    compiled.plan.edges.iter().any(|edge| {
        let bound = imports[compiled.ring_of(edge.resource).0].as_ref();
        let here = bound.is_some_and(|bound| std::ptr::eq(&raw const **bound, physical));
        here && edge.entry.queue.map(|at| compiled.queues[at]) != Some(queue)
    })
}
