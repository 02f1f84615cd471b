//! A declaration: passes, resources, how each pass uses each resource, roots. Append-only and flat; what is
//! wrong with it is reported by validation, all at once, never here.

mod access;
mod edit;
mod file_order;
mod hash;
mod keyed;
mod pass;

pub use access::{Access, Clear, Details, Ranges, Use};
pub use pass::{Pass, ShaderNeed};

use std::fmt;
use std::sync::Arc;

use crate::access::PassQueue;
use crate::error::{Code, Mistake};
use crate::id::{Id, IdVec, Names};
use crate::names::NameIndex;
use crate::resource::{Life, Resource, ResourceId};

crate::id! {
    /// A pass of one graph: dense, in declaration order, meaningless in another graph.
    pub struct PassId;
    /// A module or extension point of one graph.
    pub struct SlotId;
    /// A flag that switches conditional passes.
    pub struct FlagId;
    /// An occupancy class.
    pub struct UnitId;
    /// The ranges of an access that says some.
    pub struct RangesId;
    /// The rarer details of an access that says some.
    pub struct DetailsId;
}

/// File and line of a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// File name as the user would type it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// While a conditional pass is off, readers of `output` get `input`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fallback {
    /// The conditional pass.
    pub pass: PassId,
    /// What it would have written.
    pub output: ResourceId,
    /// What its readers get instead.
    pub input: ResourceId,
}

/// A place in the order of passes where others append: a nested module, or a named extension point.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Slot {
    parent: Option<SlotId>,
    sequence: u32,
}

/// A render graph as declared.
#[derive(Clone, Debug)]
pub struct Graph {
    name: String,
    reference_size: [u32; 2],
    passes: IdVec<PassId, Pass>,
    pass_names: Names,
    pass_sequence: Vec<u32>,
    pass_hash: IdVec<PassId, u128>,
    pass_places: Vec<Option<Place>>,
    pass_index: NameIndex,
    resources: IdVec<ResourceId, Resource>,
    resource_names: Names,
    resource_places: Vec<Option<Place>>,
    resource_index: NameIndex,
    accesses: Vec<Access>,
    access_places: Vec<Option<Place>>,
    ranges: IdVec<RangesId, Ranges>,
    details: IdVec<DetailsId, Details>,
    after: Vec<(PassId, PassId)>,
    fallbacks: Vec<Fallback>,
    roots: Vec<ResourceId>,
    is_root: IdVec<ResourceId, bool>,
    units: IdVec<UnitId, String>,
    flags: IdVec<FlagId, String>,
    slots: IdVec<SlotId, Slot>,
    slot_names: Names,
    mistakes: Vec<Mistake>,
    sequence: u32,
    /// Where changes of passes and resources of other graphs go; bake reports those.
    stray: (Pass, Resource),
}

/// Longest name in bytes.
pub const MAX_NAME: usize = 1024;

impl Graph {
    /// An empty graph; `reference_size` in texels is what relative sizes are relative to.
    pub fn new(name: &str, reference_size: [u32; 2]) -> Self {
        Self {
            name: name.to_owned(),
            reference_size,
            passes: IdVec::new(),
            pass_names: Names::default(),
            pass_sequence: Vec::new(),
            pass_hash: IdVec::new(),
            pass_places: Vec::new(),
            pass_index: NameIndex::default(),
            resources: IdVec::new(),
            resource_names: Names::default(),
            resource_places: Vec::new(),
            resource_index: NameIndex::default(),
            accesses: Vec::new(),
            access_places: Vec::new(),
            ranges: IdVec::new(),
            details: IdVec::new(),
            after: Vec::new(),
            fallbacks: Vec::new(),
            roots: Vec::new(),
            is_root: IdVec::new(),
            units: IdVec::new(),
            flags: IdVec::new(),
            slots: IdVec::new(),
            slot_names: Names::default(),
            mistakes: Vec::new(),
            sequence: 0,
            stray: (Pass::new(PassQueue::Any), Resource::buffer(0)),
        }
    }

    /// Declares a resource. Names are checked when the graph is baked.
    pub fn add_resource(&mut self, name: &str, resource: Resource, place: Option<Place>) -> ResourceId {
        let id = self.resources.push(resource);
        self.is_root.push(false);
        self.resource_names.push(clipped(name));
        self.resource_places.push(place);
        self.note_name("resource", name);
        if let Err(first) = self.resource_index.insert(&self.resource_names, name, id.index()) {
            let first = self.resource_place(ResourceId::new(first));
            let mistake = self.duplicate("resources", name, first, self.resource_place(id));
            self.mistakes.push(mistake.resource(name));
        }
        id
    }

    /// Declares a pass. Its accesses are added with [`Graph::access`].
    pub fn add_pass(&mut self, name: &str, pass: Pass, place: Option<Place>) -> PassId {
        let id = self.passes.push(pass);
        self.pass_names.push(clipped(name));
        self.pass_hash.push(0);
        self.pass_places.push(place);
        self.sequence += 1;
        self.pass_sequence.push(self.sequence);
        self.note_name("pass", name);
        if let Err(first) = self.pass_index.insert(&self.pass_names, name, id.index()) {
            let mistake = self.duplicate("passes", name, self.pass_place(PassId::new(first)), self.pass_place(id));
            self.mistakes.push(mistake.pass(name));
        }
        id
    }

    /// Declares that `pass` uses `resource`.
    pub fn access(&mut self, pass: PassId, resource: ResourceId, how: &Use, place: Option<Place>) {
        let how = &how.with_implied_clears();
        if self.pass_hash.get(pass).is_none() {
            self.foreign("an access is added to a pass", "declare the pass in this graph");
            return;
        }
        let ranges = (how.ranges != Ranges::default()).then(|| self.ranges.push(how.ranges));
        let details = (how.details != Details::default()).then(|| self.details.push(how.details));
        let access = Access {
            pass,
            resource,
            stages: how.stages,
            ranges,
            details,
            usage: how.usage,
            load: how.load,
            stencil_load: how.stencil_load,
            transfer: how.transfer,
            aspects: how.aspects,
            generate_mips: how.generate_mips,
            unordered: how.unordered,
        };
        self.pass_hash[pass] = hash::hash_access(self.pass_hash[pass], &access, how);
        self.accesses.push(access);
        if place.is_some() || !self.access_places.is_empty() {
            self.access_places.resize(self.accesses.len() - 1, None);
            self.access_places.push(place);
        }
    }

    /// Keeps a resource for the caller: what contributes to it is run.
    pub fn root(&mut self, resource: ResourceId) {
        match self.is_root.get_mut(resource) {
            Some(true) => {}
            Some(root) => {
                *root = true;
                self.roots.push(resource);
            }
            None => self.foreign("a root is a resource", "declare the resource in this graph"),
        }
    }

    /// Keeps a resource for the caller no more.
    pub fn unroot(&mut self, resource: ResourceId) {
        if let Some(root) = self.is_root.get_mut(resource) {
            *root = false;
            self.roots.retain(|one| *one != resource);
        }
    }

    /// Orders `pass` after `earlier` without any resource between them.
    pub fn order_after(&mut self, pass: PassId, earlier: PassId) {
        self.after.push((pass, earlier));
    }

    /// While conditional `pass` is off, readers of `output` get `input`.
    pub fn fallback(&mut self, pass: PassId, output: ResourceId, input: ResourceId) {
        self.fallbacks.push(Fallback { pass, output, input });
    }

    /// The flag of that name, declared by its first use.
    pub fn flag(&mut self, name: &str) -> FlagId {
        match self.flags.iter().position(|known| known == name) {
            Some(at) => FlagId::new(at),
            None => {
                self.note_name("flag", name);
                self.flags.push(name.to_owned())
            }
        }
    }

    /// The occupancy class of that name, declared by its first use.
    pub fn unit(&mut self, name: &str) -> UnitId {
        match self.units.iter().position(|known| known == name) {
            Some(at) => UnitId::new(at),
            None => {
                self.note_name("unit", name);
                self.units.push(name.to_owned())
            }
        }
    }

    /// Declares a module or an extension point here; passes put into it later stand at this place in the order.
    pub fn add_slot(&mut self, name: &str, parent: Option<SlotId>) -> SlotId {
        self.note_name("module or extension point", name);
        self.new_slot(name, parent)
    }

    /// Declares a place without a name: those within it stand here.
    pub fn add_group(&mut self, parent: Option<SlotId>) -> SlotId {
        self.new_slot("", parent)
    }

    fn new_slot(&mut self, name: &str, parent: Option<SlotId>) -> SlotId {
        if parent.is_some_and(|parent| self.slots.get(parent).is_none()) {
            self.foreign("a module is in a module", "declare both in this graph");
        }
        self.sequence += 1;
        self.slot_names.push(name);
        self.slots.push(Slot { parent, sequence: self.sequence })
    }

    /// Moves an extension point that was extended before it was declared to this place in the order. Says whether it
    /// could: not if `parent` stands inside of it.
    pub fn place_slot(&mut self, slot: SlotId, parent: Option<SlotId>) -> bool {
        if parent.is_some_and(|parent| self.slots.get(parent).is_none()) {
            self.foreign("an extension point is in a module", "declare both in this graph");
        }
        let mut at = parent;
        while let Some(outer) = at {
            if outer == slot {
                return false;
            }
            at = self.slots.get(outer).and_then(|slot| slot.parent);
        }
        let Some(place) = self.slots.get_mut(slot) else {
            self.foreign("a place in the order is given to an extension point", "declare it in this graph");
            return false;
        };
        self.sequence += 1;
        *place = Slot { parent, sequence: self.sequence };
        true
    }

    /// Number of modules and extension points.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The module or extension point around a module or extension point, and its number in the sequence of passes,
    /// modules and extension points as they were declared.
    pub fn slot_place(&self, slot: SlotId) -> (Option<SlotId>, u32) {
        (self.slots[slot].parent, self.slots[slot].sequence)
    }

    /// A pass's number in that sequence.
    pub fn pass_sequence(&self, pass: PassId) -> u32 {
        self.pass_sequence[pass.index()]
    }

    /// The module or extension point of that full name.
    pub fn find_slot(&self, name: &str) -> Option<SlotId> {
        self.slot_names.iter().position(|known| known == name).map(SlotId::new)
    }

    /// Keeps a mistake made while declaring, to be reported with the others when the graph is baked.
    pub fn add_mistake(&mut self, mistake: Mistake) {
        self.mistakes.push(mistake);
    }

    /// Reports an id of another graph when the graph is baked.
    fn foreign(&mut self, what: &str, help: &str) {
        self.mistakes.push(Mistake::new(Code::UnknownName, format!("{what} of another graph"), help));
    }

    /// Changes what a pass says of itself. Changes to a pass of another graph are lost, and bake reports them.
    pub fn pass_mut(&mut self, pass: PassId) -> &mut Pass {
        if self.passes.get(pass).is_none() {
            self.foreign("a change is made to a pass", "change the pass in the graph that declares it");
        }
        self.passes.get_mut(pass).unwrap_or(&mut self.stray.0)
    }

    /// Changes a declared resource. Changes to a resource of another graph are lost, and bake reports them.
    pub fn resource_mut(&mut self, resource: ResourceId) -> &mut Resource {
        if self.resources.get(resource).is_none() {
            self.foreign("a change is made to a resource", "change the resource in the graph that declares it");
        }
        self.resources.get_mut(resource).unwrap_or(&mut self.stray.1)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The reference size in texels.
    pub fn reference_size(&self) -> [u32; 2] {
        self.reference_size
    }

    /// The passes, in declaration order.
    pub fn passes(&self) -> &IdVec<PassId, Pass> {
        &self.passes
    }

    /// A pass's name; `?` for a pass of another graph.
    pub fn pass_name(&self, pass: PassId) -> &str {
        if self.passes.get(pass).is_some() { self.pass_names.get(pass.index()) } else { "?" }
    }

    /// All pass names.
    pub fn pass_names(&self) -> &Names {
        &self.pass_names
    }

    /// The pass of that name.
    pub fn find_pass(&self, name: &str) -> Option<PassId> {
        self.pass_index.find(&self.pass_names, name).map(PassId::new)
    }

    /// Where a pass was declared.
    pub fn pass_place(&self, pass: PassId) -> Option<&Place> {
        self.pass_places.get(pass.index()).and_then(Option::as_ref)
    }

    /// The resources, in declaration order.
    pub fn resources(&self) -> &IdVec<ResourceId, Resource> {
        &self.resources
    }

    /// A resource's name; `?` for a resource of another graph.
    pub fn resource_name(&self, resource: ResourceId) -> &str {
        if self.resources.get(resource).is_some() { self.resource_names.get(resource.index()) } else { "?" }
    }

    /// All resource names.
    pub fn resource_names(&self) -> &Names {
        &self.resource_names
    }

    /// The resource of that name.
    pub fn find_resource(&self, name: &str) -> Option<ResourceId> {
        self.resource_index.find(&self.resource_names, name).map(ResourceId::new)
    }

    /// Where a resource was declared.
    pub fn resource_place(&self, resource: ResourceId) -> Option<&Place> {
        self.resource_places.get(resource.index()).and_then(Option::as_ref)
    }

    /// All accesses, in the order of their declaration; those of one pass need not stand together.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// Where an access was declared.
    pub fn access_place(&self, access: usize) -> Option<&Place> {
        self.access_places.get(access).and_then(Option::as_ref)
    }

    /// The ranges that an access says.
    pub fn ranges_of(&self, access: &Access) -> Ranges {
        access.ranges.and_then(|id| self.ranges.get(id)).copied().unwrap_or_default()
    }

    /// The rarer details that an access says.
    pub fn details_of(&self, access: &Access) -> Details {
        access.details.and_then(|id| self.details.get(id)).copied().unwrap_or_default()
    }

    /// Pure orderings: `(later, earlier)`.
    pub fn orderings(&self) -> &[(PassId, PassId)] {
        &self.after
    }

    /// Fallbacks of conditional passes.
    pub fn fallbacks(&self) -> &[Fallback] {
        &self.fallbacks
    }

    /// Explicit roots, in the order they were named.
    pub fn roots(&self) -> &[ResourceId] {
        &self.roots
    }

    /// Whether a resource is an explicit root.
    pub fn is_root(&self, resource: ResourceId) -> bool {
        self.is_root.get(resource).copied().unwrap_or(false)
    }

    /// Names of the occupancy classes.
    pub fn units(&self) -> &IdVec<UnitId, String> {
        &self.units
    }

    /// Names of the flags.
    pub fn flags(&self) -> &IdVec<FlagId, String> {
        &self.flags
    }

    /// Mistakes made while declaring.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// Whether every id of a resource or pass in it can be one of its own; bake reports those that cannot.
    pub fn ids_fit(&self) -> bool {
        let resource = |id: ResourceId| self.resources.get(id).is_some();
        let pass = |id: PassId| self.passes.get(id).is_some();
        let details = |access: &Access| self.details_of(access).resolves.is_none_or(resource);
        let declared = |one: &Resource| {
            one.modifies.is_none_or(resource)
                && match one.life {
                    Life::History(history) => resource(history.of),
                    Life::Transient | Life::Fresh | Life::Persistent | Life::Imported(_) => true,
                }
        };
        self.accesses.iter().all(|access| pass(access.pass) && resource(access.resource) && details(access))
            && self.fallbacks.iter().all(|one| pass(one.pass) && resource(one.output) && resource(one.input))
            && self.after.iter().all(|(later, earlier)| pass(*later) && pass(*earlier))
            && self.resources.iter().all(declared)
    }

    /// The order of passes once modules and extension points are flattened, or `None` where there are none and
    /// declaration order is the order. O(passes log passes).
    pub fn flattened_order(&self) -> Option<Vec<PassId>> {
        if self.slots.is_empty() {
            return None;
        }
        // A pass's key is the path of sequence numbers from the outermost slot down to itself.
        let path_of = |slot: Option<SlotId>, own: u32| {
            let mut path = vec![own];
            let mut at = slot;
            while let Some(slot) = at.and_then(|id| self.slots.get(id)) {
                path.push(slot.sequence);
                at = slot.parent;
            }
            path.reverse();
            path
        };
        let mut order: Vec<_> =
            self.passes.iter_ids().map(|(id, pass)| (path_of(pass.slot, self.pass_sequence[id.index()]), id)).collect();
        order.sort();
        Some(order.into_iter().map(|(_, id)| id).collect())
    }

    /// The same graph with its modules and extension points flattened: passes renumbered in their final order.
    pub fn flattened(&self) -> Option<Self> {
        let order = self.flattened_order()?;
        let mut flat = self.clone();
        let mut new_id = IdVec::<PassId, PassId>::filled(PassId::new(0), order.len());
        flat.pass_names.clear();
        flat.slots.clear();
        flat.slot_names.clear();
        for (at, &old) in order.iter().enumerate() {
            let id = PassId::new(at);
            new_id[old] = id;
            // A slot of another graph stays, for validation to refuse.
            let slot = self.passes[old].slot.filter(|slot| self.slots.get(*slot).is_none());
            flat.passes[id] = Pass { slot, ..self.passes[old].clone() };
            flat.pass_names.push(self.pass_name(old));
            flat.pass_hash[id] = self.pass_hash[old];
            flat.pass_places[at] = self.pass_places[old.index()].clone();
            flat.pass_sequence[at] = at as u32;
        }
        flat.pass_index.renumber(|old| new_id[PassId::new(old)].index());
        for access in &mut flat.accesses {
            access.pass = new_id[access.pass];
        }
        for (later, earlier) in &mut flat.after {
            (*later, *earlier) = (new_id.renumbered(*later), new_id.renumbered(*earlier));
        }
        for fallback in &mut flat.fallbacks {
            fallback.pass = new_id.renumbered(fallback.pass);
        }
        Some(flat)
    }

    fn note_name(&mut self, kind: &str, name: &str) {
        let problem = if name.is_empty() {
            format!("a {kind} has an empty name")
        } else if name.ends_with('/') {
            format!("a {kind} has an empty name within \"{}\"", clipped(name.trim_end_matches('/')))
        } else if name.len() > MAX_NAME {
            format!("the name of {kind} \"{}…\" has {} bytes", clipped(name), name.len())
        } else {
            return;
        };
        let help = format!("give it a name of 1 to {MAX_NAME} bytes");
        self.mistakes.push(Mistake::new(Code::BadName, problem, help));
    }

    fn duplicate(&self, kind: &str, name: &str, first: Option<&Place>, again: Option<&Place>) -> Mistake {
        let shown = clipped(name);
        Mistake::new(Code::DuplicateName, format!("two {kind} are called \"{shown}\""), "rename one of them")
            .side(shown, "declared here", first.cloned())
            .side(shown, "and again here", again.cloned())
    }
}

/// At most [`MAX_NAME`] bytes of a name, cut between characters.
pub(crate) fn clipped(name: &str) -> &str {
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}
