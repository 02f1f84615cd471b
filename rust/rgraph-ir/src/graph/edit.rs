//! Declarations taken back or made again, in place: ids of everything else keep their meaning.

use std::collections::BTreeSet;

use super::{Access, Graph, Pass, PassId, Place, Use};
use crate::access::PassQueue;
use crate::error::{Code, Mistake};
use crate::id::{Id, IdVec, Names};
use crate::names::NameIndex;
use crate::resource::{Axis, Kind, Life, Resource, ResourceId};

impl Graph {
    /// Makes it as [`Graph::new`] does, but keeps its memory: for a graph that is declared anew for each frame.
    /// O(declaration).
    ///
    /// ```
    /// use rgraph_ir::access::PassQueue;
    /// use rgraph_ir::graph::Graph;
    ///
    /// let mut graph = Graph::new("frame", [1920, 1080]);
    /// for _frame in 0..3 {
    ///     graph.reset("frame", [1920, 1080]);
    ///     let out = graph.buffer("out", 1024);
    ///     graph.pass("fill", PassQueue::Compute).storage_write(out);
    ///     graph.root(out);
    /// }
    /// assert_eq!(graph.passes().len(), 1);
    /// ```
    pub fn reset(&mut self, name: &str, reference_size: [u32; 2]) {
        let Self {
            name: own_name,
            reference_size: own_size,
            passes,
            pass_names,
            pass_sequence,
            pass_hash,
            pass_places,
            pass_index,
            resources,
            resource_names,
            resource_places,
            resource_index,
            accesses,
            access_places,
            ranges,
            details,
            after,
            fallbacks,
            roots,
            is_root,
            units,
            flags,
            slots,
            slot_names,
            mistakes,
            sequence,
            stray,
        } = self;
        name.clone_into(own_name);
        *own_size = reference_size;
        [pass_names, resource_names, slot_names].into_iter().for_each(Names::clear);
        [pass_index, resource_index].into_iter().for_each(NameIndex::clear);
        [pass_places, resource_places, access_places].into_iter().for_each(Vec::clear);
        passes.clear();
        pass_sequence.clear();
        pass_hash.clear();
        resources.clear();
        accesses.clear();
        ranges.clear();
        details.clear();
        after.clear();
        fallbacks.clear();
        roots.clear();
        is_root.clear();
        units.clear();
        flags.clear();
        slots.clear();
        mistakes.clear();
        *sequence = 0;
        *stray = (Pass::new(PassQueue::Any), Resource::buffer(0));
    }

    /// Forgets what a pass was declared to use, to come after and to fall back to. O(declaration).
    pub fn clear_pass(&mut self, pass: PassId) {
        let mut kept = self.accesses.iter().map(|access| access.pass != pass);
        self.access_places.retain(|_| kept.next().unwrap_or(true));
        self.accesses.retain(|access| access.pass != pass);
        // Parallel to the accesses, up to the last access with a place.
        self.access_places.truncate(self.accesses.len());
        self.after.retain(|(later, _)| *later != pass);
        self.fallbacks.retain(|fallback| fallback.pass != pass);
        if let Some(hash) = self.pass_hash.get_mut(pass) {
            *hash = 0;
        }
    }

    /// What is wrong with a second pass under the name of `first`.
    pub fn twice_pass(&self, first: PassId, again: Option<&Place>) -> Mistake {
        let name = self.pass_name(first);
        self.duplicate("passes", name, self.pass_place(first), again).pass(name)
    }

    /// What is wrong with a second resource under the name of `first`.
    pub fn twice_resource(&self, first: ResourceId, again: Option<&Place>) -> Mistake {
        let name = self.resource_name(first);
        self.duplicate("resources", name, self.resource_place(first), again).resource(name)
    }

    /// Declares a pass again: its name and its place in the order stay, its accesses do not. O(declaration).
    pub fn redeclare_pass(&mut self, id: PassId, pass: Pass, place: Option<Place>) {
        self.clear_pass(id);
        let slot = self.pass_mut(id).slot;
        *self.pass_mut(id) = Pass { slot: pass.slot.or(slot), ..pass };
        self.pass_places[id.index()] = place;
    }

    /// Declares a resource again: its name and what passes do with it stay.
    pub fn redeclare_resource(&mut self, id: ResourceId, resource: Resource, place: Option<Place>) {
        *self.resource_mut(id) = resource;
        self.resource_places[id.index()] = place;
    }

    /// The same graph without some passes and resources. What still names one of them is a mistake of the new graph.
    /// O(declaration).
    #[must_use]
    pub fn without(&self, passes: &BTreeSet<PassId>, resources: &BTreeSet<ResourceId>) -> Self {
        let mut left = Self { slots: self.slots.clone(), ..Self::new(&self.name, self.reference_size) };
        (left.slot_names, left.sequence) = (self.slot_names.clone(), self.sequence);
        (left.units, left.flags, left.mistakes) = (self.units.clone(), self.flags.clone(), self.mistakes.clone());
        let mut new_pass: IdVec<PassId, Option<PassId>> = IdVec::filled(None, self.passes.len());
        let mut new_resource: IdVec<ResourceId, Option<ResourceId>> = IdVec::filled(None, self.resources.len());
        for (at, id) in self.resources.ids().filter(|id| !resources.contains(id)).enumerate() {
            new_resource[id] = Some(ResourceId::new(at));
        }
        for id in self.resources.ids().filter(|id| new_resource[*id].is_some()) {
            let name = self.resource_name(id);
            let (resource, lost) = kept(&self.resources[id], &new_resource);
            left.add_resource(name, resource, self.resource_place(id).cloned());
            if let Some(lost) = lost {
                let message = format!("\"{name}\" refers to \"{}\", which was removed", self.resource_name(lost));
                let mistake =
                    Mistake::new(Code::UnknownName, message, "remove it too, or declare it again").resource(name);
                left.add_mistake(mistake.side(name, "declared here", self.resource_place(id).cloned()));
            }
        }
        for id in self.passes.ids().filter(|id| !passes.contains(id)) {
            let new = left.add_pass(self.pass_name(id), self.passes[id].clone(), self.pass_place(id).cloned());
            left.pass_sequence[new.index()] = self.pass_sequence[id.index()];
            new_pass[id] = Some(new);
        }
        left.sequence = self.sequence;
        for (index, access) in self.accesses.iter().enumerate() {
            let Some(pass) = new_pass.get(access.pass).copied().flatten() else { continue };
            let place = self.access_place(index).cloned();
            let mut details = self.details_of(access);
            let resolved = details.resolves;
            details.resolves = resolved.and_then(|of| new_resource.get(of).copied().flatten());
            let known = new_resource.get(access.resource).copied().flatten();
            let lost = [(known.is_none()).then_some(access.resource), resolved.filter(|_| details.resolves.is_none())];
            for lost in lost.into_iter().flatten().filter(|lost| resources.contains(lost)) {
                let (pass, name) = (self.pass_name(access.pass), self.resource_name(lost));
                let message = format!("pass \"{pass}\" uses \"{name}\", which was removed");
                let mistake = Mistake::new(Code::UnknownName, message, "remove the pass too, or declare it again");
                left.add_mistake(mistake.pass(pass).resource(name).side(pass, "used here", place.clone()));
            }
            let Some(resource) = known else { continue };
            // Taken apart, so that a new field does not compile until it is kept.
            let Access {
                pass: _,
                resource: _,
                stages,
                ranges: _,
                details: _,
                usage,
                load,
                stencil_load,
                transfer,
                aspects,
                generate_mips,
                unordered,
            } = *access;
            let ranges = self.ranges_of(access);
            let how =
                Use { usage, stages, ranges, aspects, load, stencil_load, details, transfer, generate_mips, unordered };
            left.access(pass, resource, &how, place);
        }
        let of_pass = |id: PassId| new_pass.get(id).copied().flatten();
        let of_resource = |id: ResourceId| new_resource.get(id).copied().flatten();
        for (later, earlier) in &self.after {
            if let (Some(later), Some(earlier)) = (of_pass(*later), of_pass(*earlier)) {
                left.order_after(later, earlier);
            }
        }
        for fallback in &self.fallbacks {
            let of = (of_pass(fallback.pass), of_resource(fallback.output), of_resource(fallback.input));
            if let (Some(pass), Some(output), Some(input)) = of {
                left.fallback(pass, output, input);
            }
        }
        for root in &self.roots {
            if let Some(root) = of_resource(*root) {
                left.root(root);
            }
        }
        left
    }
}

/// A resource with what it refers to under its new ids, and the first of these that is gone.
fn kept(resource: &Resource, new: &IdVec<ResourceId, Option<ResourceId>>) -> (Resource, Option<ResourceId>) {
    let (mut resource, mut lost) = (resource.clone(), None);
    let mut of = |id: ResourceId| {
        let known = new.get(id).copied().flatten();
        if known.is_none() {
            lost = lost.or(Some(id));
        }
        known
    };
    resource.modifies = resource.modifies.and_then(&mut of);
    if let Life::History(mut history) = resource.life {
        resource.life = match of(history.of) {
            Some(id) => {
                history.of = id;
                Life::History(history)
            }
            None => Life::Transient,
        };
    }
    if let Kind::Image(image) = &mut resource.kind
        && let Some(size) = &mut image.size
    {
        for axis in [Some(&mut size.x), Some(&mut size.y), size.z.as_mut()].into_iter().flatten() {
            if let Axis::Scaled(base @ Some(_), _) = axis {
                *base = base.and_then(&mut of);
            }
        }
    }
    (resource, lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{PassQueue, Usage};
    use crate::resource::Resource;

    fn graph() -> (Graph, [ResourceId; 2], [PassId; 2]) {
        let mut graph = Graph::new("g", [8, 8]);
        let resources = ["a", "b"].map(|name| graph.add_resource(name, Resource::buffer(16), None));
        let passes = ["p", "q"].map(|name| graph.add_pass(name, Pass::new(PassQueue::Any), None));
        graph.access(passes[0], resources[0], &Use::new(Usage::StorageWrite), None);
        graph.access(passes[1], resources[0], &Use::new(Usage::StorageRead), None);
        graph.access(passes[1], resources[1], &Use::new(Usage::StorageWrite), None);
        graph.order_after(passes[1], passes[0]);
        graph.root(resources[1]);
        (graph, resources, passes)
    }

    #[test]
    fn a_pass_declared_anew_as_it_was_is_the_same_declaration() {
        let (mut graph, [a, _], [p, _]) = graph();
        let before = graph.content_hash();
        graph.redeclare_pass(p, Pass::new(PassQueue::Any), None);
        assert_ne!(graph.content_hash(), before);
        graph.access(p, a, &Use::new(Usage::StorageWrite), None);
        let whole = graph.without(&BTreeSet::new(), &BTreeSet::new());
        let again = whole.without(&BTreeSet::new(), &BTreeSet::new());
        assert_eq!(whole.content_hash(), again.content_hash());
        assert_eq!(graph.accesses().len(), 3);
    }

    #[test]
    fn what_is_left_out_is_gone_and_what_still_names_it_is_a_mistake() {
        let (graph, [a, b], [p, q]) = graph();
        let left = graph.without(&[q].into(), &[b].into());
        assert_eq!((left.passes().len(), left.resources().len(), left.accesses().len()), (1, 1, 1));
        assert!(left.mistakes().is_empty() && left.roots().is_empty() && left.orderings().is_empty());
        assert_eq!(left.find_pass("q"), None);
        let left = graph.without(&[p].into(), &[a].into());
        assert_eq!(left.mistakes().len(), 1);
        assert!(left.mistakes()[0].message.contains("pass \"q\" uses \"a\", which was removed"));
    }
}
