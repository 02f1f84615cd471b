//! What a graph's passes do, fitted to a graph that is run: ids found by names.

use std::sync::Arc;

use pyo3::prelude::*;
use rgraph_plan::access::PassQueue;
use rgraph_plan::graph::Graph;
use rgraph_vk::work::{Work, Workload};

use crate::draft::{Todo, renamed};
use crate::graph::PyGraph;
use crate::hosted::{Hosted, Recorded};

impl PyGraph {
    /// The work of the passes of `whole`, which is this graph as it was once baked. Passes that were declared later are
    /// not in it, so they are left out; what was declared then never changes. `device` is the number of the device that
    /// runs it.
    pub fn workload(slf: &Bound<'_, Self>, whole: Arc<Graph>, device: u64) -> Workload {
        let py = slf.py();
        let mut load = Workload::new((*whole).clone());
        let recorded = |function, pass: &str, prefix| {
            let graph = slf.clone().unbind();
            Work::Record(Arc::new(Recorded {
                function,
                graph,
                whole: Arc::clone(&whole),
                pass: pass.to_owned(),
                prefix,
                device,
            }))
        };
        slf.get().read(|state| {
            let Some(graph) = &state.graph else { return };
            for draft in &state.drafts {
                let name = graph.pass_name(draft.pass);
                let Some(pass) = whole.find_pass(name) else { continue };
                let find = |at| draft.find_in(graph, &whole, at);
                let work = match &draft.todo {
                    Todo::Steps(steps) => {
                        let Some(steps) = steps.iter().map(|step| renamed(step, &find)).collect() else { continue };
                        Work::Steps(steps)
                    }
                    Todo::Host(function) => Work::Host(Arc::new(Hosted { function: Arc::clone(function), device })),
                    Todo::Record(function) => recorded(Arc::clone(function), name, draft.prefix.clone()),
                };
                load.works.insert(pass, work);
            }
            for (id, function) in &state.executes {
                let name = graph.pass_name(*id);
                let Some(pass) = whole.find_pass(name) else { continue };
                let function = Arc::new(function.clone_ref(py));
                let work = match graph.passes()[*id].queue {
                    PassQueue::Cpu => Work::Host(Arc::new(Hosted { function, device })),
                    _ => recorded(function, name, name.rfind('/').map_or("", |end| &name[..=end]).into()),
                };
                load.works.insert(pass, work);
            }
        });
        load
    }
}
