//! What a trial does otherwise than an ordinary run.

use std::collections::HashMap;

use rgraph_plan::graph::PassId;
use rgraph_plan::plan::{BatchId, Plan, QueueId};

use crate::chaos::fills::Fills;
use crate::chaos::order;
use crate::chaos::poison::Poison;
use crate::chaos::random::mix;

/// What a trial does otherwise than an ordinary run.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChaosSpec {
    pub poison: Poison,
    /// Seed of the order in which batches are submitted; `None`: the plan's order.
    pub batches: Option<u64>,
    /// Passes that do nothing.
    pub idle: Vec<PassId>,
    /// Whether each pass, or render pass, of a queue begins when all before it there is done.
    pub serial: bool,
}

/// A spec, and what follows from it for one plan.
#[derive(Debug)]
pub(crate) struct Chaos {
    pub spec: ChaosSpec,
    pub fills: Fills,
}

impl Chaos {
    /// The order in which a run submits the batches of its plan; `None`: the plan's.
    pub(crate) fn order(
        &self,
        plan: &Plan,
        signals: &HashMap<(Option<QueueId>, u32), BatchId>,
        run: u64,
    ) -> Option<Vec<BatchId>> {
        self.spec.batches.map(|seed| order::batches(plan, signals, mix(seed) ^ run))
    }
}
