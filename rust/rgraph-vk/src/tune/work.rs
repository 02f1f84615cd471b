//! What a tuner has done in the background: plans searched, and made ready. Neither holds a lock of the tuner.

use std::sync::{Arc, Mutex, PoisonError};

use rgraph_plan::bake::Options;
use rgraph_plan::bake::propose::Propose;
use rgraph_plan::bake::search::{Candidate, Search, open_queues, search};
use rgraph_plan::plan::Plan;
use rgraph_plan::what_if::weigh;

use crate::compile::compiled_graph::CompiledGraph;
use crate::compile::inherit::Heritage;
use crate::error::Error;
use crate::run::compiled::Compiled;
use crate::work::Workload;

/// What came of an errand.
pub(super) enum Answer {
    /// The declaration with measured durations, and plans of it.
    Found(Box<Workload>, Vec<Candidate>),
    /// A plan that can be run.
    Ready(Compiled),
    /// Why there is none.
    Refused(String),
}

/// A search for plans, for the tuner's thread.
pub(super) struct SearchJob {
    pub base: Compiled,
    pub weights: Vec<(String, f64)>,
    pub options: Options,
    pub queues: bool,
    pub hook: Arc<Mutex<Option<Box<dyn Propose + Send>>>>,
    pub bakes: usize,
}

impl SearchJob {
    /// Searches.
    pub(super) fn run(self) -> Answer {
        self.found().unwrap_or_else(|error| Answer::Refused(error.to_string()))
    }

    fn found(self) -> Result<Answer, Error> {
        let shared = &self.base.graph().shared;
        shared.check()?;
        let mut workload = self.base.workload().clone();
        weigh(&mut workload.graph, &self.weights, true, &mut Vec::new())?;
        if self.queues {
            open_queues(&mut workload.graph);
        }
        let mut hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner);
        let (graph, profile) = (&workload.graph, &shared.profile);
        let (candidates, _) = CompiledGraph::planned(shared, graph, false, |measure, scratch| {
            let hook = hook.as_deref_mut().map(|hook| hook as &mut dyn Propose);
            let options = self.options;
            search(Search { graph, profile, measure: Some(measure), options, hook, most: self.bakes }, scratch)
        })?;
        drop(hook);
        Ok(Answer::Found(Box::new(workload), candidates))
    }
}

/// Makes a plan ready, with the contents that the base has.
pub(super) fn prepare(base: &Compiled, workload: Workload, plan: Arc<Plan>) -> Answer {
    let shared = &base.graph().shared;
    let made = shared.check().and_then(|()| {
        let compiled =
            CompiledGraph::with_contents(shared, workload, plan, (0.0, None), Some(Heritage::of_same(base.graph())))?;
        Compiled::of_trial(compiled)
    });
    made.map_or_else(|error| Answer::Refused(error.to_string()), Answer::Ready)
}
