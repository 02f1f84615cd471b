//! A graph in the order that a graph file gives it, so that a graph and its file have one hash and one plan.

use super::hash::hash_access;
use crate::graph::{Graph, PassId, Use};
use crate::id::{Id, IdVec};
use crate::resource::{Axis, Kind, Life, Resource, ResourceId};

impl Graph {
    /// Brings the declaration into the order that its graph file has: modules and extension points flattened, images
    /// before buffers, what passes say of each other pass by pass, flags and occupancy classes by their first use.
    /// Means the same; ids may change. O(declaration), O(passes log passes) where there are modules.
    pub fn to_file_order(&mut self) {
        if let Some(flat) = self.flattened() {
            *self = flat;
        }
        self.images_first();
        self.after.sort_by_key(|(later, _)| *later);
        self.fallbacks.sort_by_key(|fallback| fallback.pass);
        let (mut units, mut flags) = (IdVec::new(), IdVec::new());
        renumber(&self.units, &mut units, self.passes.as_vec_mut().iter_mut().map(|pass| &mut pass.unit));
        renumber(&self.flags, &mut flags, self.passes.as_vec_mut().iter_mut().map(|pass| &mut pass.conditional));
        (self.units, self.flags) = (units, flags);
    }

    fn images_first(&mut self) {
        let image = |resource: &Resource| resource.as_image().is_some();
        if self.resources.as_slice().is_sorted_by_key(|resource| !image(resource)) {
            return;
        }
        let mut order: Vec<ResourceId> = self.resources.ids().collect();
        order.sort_by_key(|id| !image(&self.resources[*id]));
        let mut new_id = IdVec::<ResourceId, ResourceId>::filled(ResourceId::new(0), order.len());
        let (names, places) = (self.resource_names.clone(), self.resource_places.clone());
        self.resource_names.clear();
        for (at, &old) in order.iter().enumerate() {
            new_id[old] = ResourceId::new(at);
            self.resource_names.push(names.get(old.index()));
            self.resource_places[at] = places[old.index()].clone();
        }
        self.resources = order.iter().map(|old| renamed(&self.resources[*old], &new_id)).collect();
        self.resource_index.renumber(|old| new_id[ResourceId::new(old)].index());
        for id in &mut self.roots {
            *id = new_id[*id];
        }
        self.is_root.refill(false, order.len());
        for root in &self.roots {
            self.is_root[*root] = true;
        }
        for details in self.details.iter_mut() {
            details.resolves = details.resolves.map(|of| new_id.renumbered(of));
        }
        for fallback in &mut self.fallbacks {
            (fallback.output, fallback.input) = (new_id.renumbered(fallback.output), new_id.renumbered(fallback.input));
        }
        let mut hashes = IdVec::<PassId, u128>::filled(0, self.passes.len());
        for at in 0..self.accesses.len() {
            self.accesses[at].resource = new_id.renumbered(self.accesses[at].resource);
            let access = self.accesses[at];
            let (ranges, details) = (self.ranges_of(&access), self.details_of(&access));
            let how = Use { ranges, details, ..Use::new(access.usage) };
            hashes[access.pass] = hash_access(hashes[access.pass], &access, &how);
        }
        self.pass_hash = hashes;
    }
}

/// The resource with what it refers to under its new ids.
fn renamed(resource: &Resource, new_id: &IdVec<ResourceId, ResourceId>) -> Resource {
    let mut resource = resource.clone();
    resource.modifies = resource.modifies.map(|of| new_id.renumbered(of));
    if let Life::History(history) = &mut resource.life {
        history.of = new_id.renumbered(history.of);
    }
    if let Kind::Image(image) = &mut resource.kind
        && let Some(size) = &mut image.size
    {
        for axis in [Some(&mut size.x), Some(&mut size.y), size.z.as_mut()].into_iter().flatten() {
            if let Axis::Scaled(Some(of), _) = axis {
                *of = new_id.renumbered(*of);
            }
        }
    }
    resource
}

/// Numbers names by their first use; what nobody uses is left out.
fn renumber<'a, I: Id + 'a>(
    old: &IdVec<I, String>,
    new: &mut IdVec<I, String>,
    uses: impl Iterator<Item = &'a mut Option<I>>,
) {
    let mut new_id: IdVec<I, Option<I>> = IdVec::filled(None, old.len());
    for used in uses.filter_map(Option::as_mut) {
        // What stays as it is belongs to another graph; validation refuses it.
        let (Some(name), Some(id)) = (old.get(*used), new_id.get_mut(*used)) else { continue };
        *used = *id.get_or_insert_with(|| new.push(name.clone()));
    }
}
