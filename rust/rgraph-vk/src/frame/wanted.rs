//! Roots that a run reads back.

use rgraph_plan::graph::Ranges;
use rgraph_plan::resource::ResourceId;

use crate::compile::compiled_graph::{CompiledGraph, RootId};
use crate::error::Error;
use crate::frame::inputs::Inputs;
use crate::frame::state::RunState;

/// The hint for an image of several samples per texel, which no copy reads.
pub(crate) const UNRESOLVED: &str = "resolve it: resolve= of the pass that draws it, or passes.resolve(…)";

/// A root that is read back, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub root: RootId,
    /// One mip, some layers, some bytes; what is not named is mip 0, all layers, all bytes.
    pub ranges: Ranges,
}

impl RunState {
    /// The roots that are read back.
    pub(super) fn wanted(&self, compiled: &CompiledGraph, inputs: &Inputs<'_>) -> Result<Vec<Wanted>, Error> {
        let whole = |root| Wanted { root, ranges: Ranges::default() };
        let (mut all, given): (Vec<Wanted>, &[ResourceId]) = match &inputs.read {
            // A capture has all roots; of those that are read in parts, these parts.
            _ if self.sink.is_some() => {
                let parted = |root: &RootId| inputs.parts.iter().any(|(id, _)| compiled.roots[*root].declared == *id);
                (compiled.roots.ids().filter(|root| !parted(root)).map(whole).collect(), &[])
            }
            None => {
                let roots = compiled.roots.iter_ids().filter(|(_, root)| !inputs.unread.contains(&root.declared));
                (roots.map(|(root, _)| whole(root)).collect(), &[])
            }
            Some(read) => (Vec::new(), read),
        };
        let parts = inputs.parts.iter().map(|(declared, ranges)| (declared, *ranges));
        let found = given
            .iter()
            .map(|declared| (declared, Ranges::default()))
            .chain(parts)
            .map(|(declared, ranges)| {
                if compiled.multisampled(*declared) {
                    let name = compiled.workload.graph.resource_name(*declared);
                    let message = format!("\"{name}\" is multisampled, so it cannot be read back");
                    return Err(Error::input(name, message, UNRESOLVED));
                }
                let root = compiled.roots.iter_ids().find(|(_, root)| root.declared == *declared);
                root.map(|(root, _)| Wanted { root, ranges }).ok_or_else(|| {
                    let graph = &compiled.workload.graph;
                    let exists = graph.resources().get(*declared).is_some();
                    let name = if exists { graph.resource_name(*declared) } else { "?" };
                    Error::input(name, format!("\"{name}\" is not a root, so it cannot be read back"), "make it a root")
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        all.extend(found);
        Ok(all)
    }
}
