//! What a program sees of a graph: inputs, results, what lives from frame to frame, flags.

use std::collections::BTreeMap;

use rgraph_plan::declared;
use rgraph_plan::graph::Graph;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{Life, ResourceId};

use crate::run::runnable::Runnable;

/// Resources by name: whether each is a result, how long it lives, what it is.
type Seen<'a> = BTreeMap<&'a str, (bool, std::mem::Discriminant<Life>, PlanKind)>;

fn seen(graph: &Graph, kind: impl Fn(ResourceId) -> PlanKind) -> Seen<'_> {
    let all = graph.resources().iter_ids().filter_map(|(id, resource)| {
        let root = graph.is_root(id);
        let lives = matches!(resource.life, Life::Imported(_) | Life::Persistent | Life::History(_));
        let what = (root, std::mem::discriminant(&resource.life), kind(id));
        (root || lives).then(|| (graph.resource_name(id), what))
    });
    all.collect()
}

/// Whether runs of a graph are given and leave what those of `before` do. O(resources).
pub(crate) fn is_alike(graph: &Graph, profile: &Profile, before: &Runnable) -> bool {
    let Some(kinds) = declared::kinds(graph, profile) else { return false };
    graph.flags() == before.load.graph.flags()
        && seen(graph, |id| kinds[id]) == seen(&before.load.graph, |id| *before.kinds.of(id))
}
