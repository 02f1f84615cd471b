//! Accesses that follow from work, in addition to those that a file lists.

use std::collections::HashSet;

use rgraph_ir::graph::{Graph, PassId, Place};
use rgraph_ir::resource::ResourceId;

use crate::infer::{self, Needs};

/// Declares the optional features that work needs, and its accesses of resources that the pass's own `accesses` do not
/// name.
pub(super) fn declare(graph: &mut Graph, pass: PassId, place: Option<&Place>, needs: &Needs) {
    let listed: HashSet<ResourceId> =
        graph.accesses().iter().rev().take_while(|access| access.pass == pass).map(|access| access.resource).collect();
    for (shader, features) in &needs.features {
        graph.pass_mut(pass).need(shader, *features);
    }
    for used in needs.uses.iter().filter(|used| !listed.contains(&used.at)) {
        let mut how = used.how;
        how.details.resolves = used.resolves.or(how.details.resolves);
        infer::access(graph, pass, used.at, how, used.tested, place.cloned());
    }
}
