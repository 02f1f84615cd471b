//! Runs that go on behind the runs of an earlier graph.

use rgraph_plan::resource::ResourceId;

use crate::compile::compiled_graph::CompiledGraph;
use crate::compile::inherit::{Begin, are_same};
use crate::error::{BusyError, Code, Error};
use crate::frame::state::RunState;

impl RunState {
    /// Comes after a graph, whose lasting memories it has; these begin in another way.
    pub(crate) fn follow(&mut self, begins: Vec<(ResourceId, Begin)>) {
        self.begins = begins;
    }

    /// Takes over from the graph before. What was to begin in its first run, which did not come, begins here.
    pub(crate) fn inherit(&mut self, compiled: &CompiledGraph, before: &mut Self, of: &CompiledGraph) {
        self.go_on(before);
        before.has_heir = true;
        for (memory, begin) in before.begins.drain(..) {
            let old = of.places[memory].lasting();
            let taken = compiled.places.iter_ids().filter(|(_, place)| are_same(place.lasting(), old));
            self.begins.extend(taken.map(|(memory, _)| (memory, begin.clone())));
            for (_, own) in &mut self.begins {
                if matches!(own, Begin::Copied(from) if are_same(from, old)) {
                    *own = begin.clone();
                }
            }
        }
    }

    /// Refuses to capture the run in which memories of an earlier graph are copied or replaced: they are not that
    /// graph's contents before the run, and not this one's.
    pub(crate) fn check_begun(&self, compiled: &CompiledGraph) -> Result<(), Error> {
        if self.begins.is_empty() || !self.is_initialised() {
            return Ok(());
        }
        let name = &compiled.plan.graph;
        let message =
            format!("the first run of \"{name}\" takes contents of an earlier graph, which no capture can hold");
        Err(Error::input(name, message, "run it once, then capture"))
    }

    /// Refuses a graph whose lasting memories a later one has.
    pub(crate) fn check_heir(&self, compiled: &CompiledGraph) -> Result<(), Error> {
        if !self.has_heir {
            return Ok(());
        }
        Err(BusyError {
            code: Code::HandedOver,
            message: format!("\"{}\" was replaced: a graph compiled after it has its contents", compiled.plan.graph),
            help: "run that one, or compile this graph after it".to_owned(),
        }
        .into())
    }
}
