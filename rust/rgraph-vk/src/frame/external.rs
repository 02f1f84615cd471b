//! What a run waits for and signals outside of its graph, compared with the graph.

use std::sync::Arc;

use rgraph_plan::graph::Place;
use rgraph_plan::plan::ForeignPoint;
use rgraph_plan::resource::{Life, ResourceId};

use crate::compile::compiled_graph::CompiledGraph;
use crate::device::external::{RunFence, SemaphoreSignal, SemaphoreWait};
use crate::error::Error;
use crate::memory::physical_resource::PhysicalResource;

/// Where the plan waits for the other user of a memory, or signals it.
pub(crate) fn points<'a>(
    compiled: &'a CompiledGraph,
    memory: ResourceId,
    signals: bool,
) -> impl Iterator<Item = &'a ForeignPoint> + 'a {
    let of = move |point: &&ForeignPoint| {
        compiled.plan.memory_of(point.resource) == memory && point.wait.is_none() == signals
    };
    compiled.plan.foreign.iter().filter(of)
}

fn waits_for_itself(value: u64, signal: u64) -> Error {
    let message =
        format!("a run waits until a timeline has {value} and signals it with {signal}, so it would never end");
    Error::input("?", message, format!("wait for a value below {signal}, or signal one above {value}"))
}

/// What a run waits for and signals outside of its graph.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct External<'a> {
    pub waits: &'a [SemaphoreWait],
    pub signals: &'a [SemaphoreSignal],
    pub fence: Option<RunFence>,
    /// Where the program asks for the run.
    pub place: Option<&'a Place>,
}

impl External<'_> {
    /// Refuses a timeline whose signal of the run comes behind a wait of the run for that value or a later one: the run
    /// would wait for itself, or the value would go back. A signal behind one import may come before a wait for another
    /// one.
    fn check_order(&self) -> Result<(), Error> {
        for wait in self.waits {
            let Some(value) = wait.value else { continue };
            let behind = |signal: &&SemaphoreSignal| {
                let apart = wait.resource.is_some() && signal.resource.is_some();
                signal.semaphore == wait.semaphore
                    && (signal.value == value || signal.value != 0 && signal.value < value && !apart)
            };
            if let Some(signal) = self.signals.iter().find(behind) {
                return Err(waits_for_itself(value, signal.value));
            }
        }
        Ok(())
    }

    /// The same where the run waits for the user outside of the device who has an import.
    pub(crate) fn check_held<'p>(&self, imports: impl Iterator<Item = &'p Arc<PhysicalResource>>) -> Result<(), Error> {
        if self.signals.is_empty() {
            return Ok(());
        }
        for (until, value) in imports.filter_map(|physical| physical.holder()?.holder.until) {
            let behind = |signal: &&SemaphoreSignal| {
                signal.semaphore == until.handle() && signal.value != 0 && signal.value <= value
            };
            if let Some(signal) = self.signals.iter().find(behind) {
                return Err(waits_for_itself(value, signal.value));
            }
        }
        Ok(())
    }

    /// Refuses resources that a run is not given, and waits for the run itself.
    pub(crate) fn check(&self, compiled: &CompiledGraph) -> Result<(), Error> {
        self.check_order()?;
        let resources = compiled.workload.graph.resources();
        let signalled = self.signals.iter().filter_map(|signal| signal.resource);
        for (resource, signals) in
            signalled.map(|of| (of, true)).chain(self.waits.iter().filter_map(|wait| Some((wait.resource?, false))))
        {
            let Some(declared) = resources.get(resource) else {
                let help = "use this graph's handles";
                return Err(Error::input("?", "a semaphore is given for a resource of another graph", help));
            };
            let name = compiled.workload.graph.resource_name(resource);
            let Life::Imported(imported) = declared.life else {
                let message = format!("a semaphore is given for \"{name}\", which is not imported");
                return Err(Error::input(name, message, "wait without a resource, or before an imported one"));
            };
            if signals && !imported.signal {
                let message = format!("a signal is given for \"{name}\", which is not declared to be signalled");
                return Err(Error::input(name, message, "import it with signal=True, or signal without a resource"));
            }
        }
        Ok(())
    }
}
