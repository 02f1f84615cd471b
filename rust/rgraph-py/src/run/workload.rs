//! What a graph's passes do, fitted to a graph that is run: ids found by names.

use std::sync::Arc;

use pyo3::prelude::*;
use rgraph_plan::access::PassQueue;
use rgraph_plan::graph::Graph;
use rgraph_vk::work::{Work, Workload};

use crate::classes::graph::PyGraph;
use crate::run::functions::{Function, Hosted, Load, Recorded};
use crate::run::pending_work::{Todo, renamed};

impl PyGraph {
    /// The work of the passes of `whole`, which is this graph as it was once baked. Passes that were declared later are
    /// not in it, so they are left out; what was declared then never changes. `devices` are the numbers of the
    /// devices that run it.
    pub fn workload(slf: &Bound<'_, Self>, whole: Arc<Graph>, devices: &Arc<[u64]>) -> Load {
        let py = slf.py();
        let mut load = Workload::new((*whole).clone());
        let mut held = Vec::new();
        let hosted = |function: &Py<PyAny>, held: &mut Vec<Arc<Function>>| {
            let function = Function::new(py, function, None);
            held.push(Arc::clone(&function));
            Work::Host(Arc::new(Hosted { function, devices: Arc::clone(devices) }))
        };
        let recorded = |function: &Py<PyAny>, pass: &str, prefix, held: &mut Vec<Arc<Function>>| {
            let function = Function::new(py, function, Some(slf.clone().unbind()));
            held.push(Arc::clone(&function));
            let whole = Arc::clone(&whole);
            let (pass, devices) = (pass.to_owned(), Arc::clone(devices));
            Work::Record(Arc::new(Recorded { function, whole, pass, prefix, devices }))
        };
        slf.get().read(|state| {
            let Some(graph) = &state.graph else { return };
            for pending in &state.pending {
                let name = graph.pass_name(pending.pass);
                let Some(pass) = whole.find_pass(name) else { continue };
                let find = |at| pending.find_in(graph, &whole, at);
                let work = match &pending.todo {
                    Todo::Steps(steps) => {
                        let Some(mut steps) =
                            steps.iter().map(|step| renamed(step, name, &find)).collect::<Option<Vec<_>>>()
                        else {
                            continue;
                        };
                        // Further draws of the pass come behind those before.
                        if let Some(Work::Steps(before)) = load.works.get_mut(&pass) {
                            before.append(&mut steps);
                            continue;
                        }
                        Work::Steps(steps)
                    }
                    Todo::Host(function) => hosted(function, &mut held),
                    Todo::Record(function) => recorded(function, name, pending.prefix.clone(), &mut held),
                };
                load.works.insert(pass, work);
            }
            for (id, function) in &state.executes {
                let name = graph.pass_name(*id);
                let Some(pass) = whole.find_pass(name) else { continue };
                let work = match graph.passes()[*id].queue {
                    PassQueue::Cpu => hosted(function, &mut held),
                    _ => recorded(function, name, name.rfind('/').map_or("", |end| &name[..=end]).into(), &mut held),
                };
                load.works.insert(pass, work);
            }
        });
        (load, held)
    }
}
