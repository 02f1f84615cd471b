//! Plans that may be faster than one's own: other policies, other queues, what a hook proposes; each checked by its
//! modelled frame. Long work for a thread in the background: some dozen bakes, each of which polls [`crate::cancel`].

use super::propose::{Problem, Proposal, Propose, Tried, bake_proposal, problem};
use super::{Measure, Options, Scratch, bake_with};
use crate::access::PassQueue;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::stages::schedule::Policy;

/// A plan that may be faster.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// How it was made, in a few words.
    pub what: String,
    /// The plan; its modelled frame is the prediction.
    pub plan: Plan,
}

/// What is searched.
pub struct Search<'a> {
    /// The declaration, with the durations of passes as far as they are known.
    pub graph: &'a Graph,
    /// The device.
    pub profile: &'a Profile,
    /// Asks the device's driver for sizes.
    pub measure: Option<Measure<'a>>,
    /// The caller's choice: what is no question of order and queues stays as it is here.
    pub options: Options,
    /// Proposes further orders and queues.
    pub hook: Option<&'a mut dyn Propose>,
    /// Most bakes.
    pub most: usize,
}

/// Policies that are tried in addition to the caller's.
const POLICIES: [Policy; 5] = [Policy::Auto, Policy::Declared, Policy::Overlap, Policy::Weighted, Policy::BoxTree];

/// Steps of search beyond the caller's effort: nobody waits for it.
const HARDER: u32 = 2;

/// Lets the planner choose the queues of passes that demand one: work of the graphics queue stays there.
pub fn open_queues(graph: &mut Graph) {
    let ids: Vec<_> = graph.passes().ids().collect();
    for id in ids {
        let pass = graph.pass_mut(id);
        if matches!(pass.queue, PassQueue::AsyncCompute | PassQueue::Transfer | PassQueue::Compute) {
            pass.queue = PassQueue::Any;
        }
    }
}

/// Whether two plans do the same, whatever they are modelled to take.
pub fn same_work(one: &Plan, other: &Plan) -> bool {
    let queues = |plan: &Plan| plan.passes.iter().map(|pass| pass.queue).collect::<Vec<_>>();
    let layout = |plan: &Plan| plan.memory.placements.clone();
    one.commands == other.commands
        && one.waits == other.waits
        && one.batches == other.batches
        && queues(one) == queues(other)
        && one.memory_barriers == other.memory_barriers
        && one.buffer_barriers == other.buffer_barriers
        && one.image_barriers == other.image_barriers
        && layout(one) == layout(other)
}

/// The bakes of a search.
struct Bakes<'a> {
    graph: &'a Graph,
    profile: &'a Profile,
    measure: Option<Measure<'a>>,
    options: Options,
    left: usize,
    found: Vec<Candidate>,
}

impl Bakes<'_> {
    fn keep(&mut self, what: String, plan: Plan) {
        if !self.found.iter().any(|known| same_work(&known.plan, &plan)) {
            self.found.push(Candidate { what, plan });
        }
    }

    fn policy(&mut self, what: String, options: &Options, scratch: &mut Scratch) -> Result<(), GraphError> {
        let mut plan = Plan::default();
        bake_with(self.graph, self.profile, options, self.measure, scratch, &mut plan)?;
        self.left = self.left.saturating_sub(1);
        self.keep(what, plan);
        Ok(())
    }

    /// The modelled frame of a proposal, whose plan is kept.
    fn proposal(
        &mut self,
        what: String,
        problem: &Problem,
        proposal: &Proposal,
        scratch: &mut Scratch,
    ) -> Result<f64, String> {
        self.left = self.left.saturating_sub(1);
        let (graph, profile) = (self.graph, self.profile);
        let plan = bake_proposal(graph, profile, &self.options, self.measure, (problem, proposal), scratch)?;
        let frame_us = plan.report.frame_us;
        self.keep(what, plan);
        Ok(frame_us)
    }

    /// All passes that may run on a queue there; then passes one by one, the longest first, each where the modelled
    /// frame is shortest.
    fn queues(&mut self, problem: &Problem, scratch: &mut Scratch) {
        let mut open: Vec<usize> =
            (0..problem.passes.len()).filter(|&at| problem.passes[at].queues.len() > 1).collect();
        if open.is_empty() {
            return;
        }
        let mut best = (problem.frame_us, problem.own.clone());
        for queue in 0..problem.queues.len() {
            let mut all = problem.own.clone();
            for &at in open.iter().filter(|&&at| problem.passes[at].queues.contains(&queue)) {
                all.queues[at] = Some(queue);
            }
            let what = format!("all that may on queue {queue} ({})", problem.queues[queue]);
            if let Ok(us) = self.proposal(what, problem, &all, scratch)
                && us < best.0
            {
                best = (us, all);
            }
        }
        open.sort_by(|&a, &b| problem.passes[b].weight_us.total_cmp(&problem.passes[a].weight_us).then(a.cmp(&b)));
        for at in open {
            for &queue in &problem.passes[at].queues {
                if self.left == 0 {
                    return;
                }
                if best.1.queues[at] == Some(queue) {
                    continue;
                }
                let mut moved = best.1.clone();
                moved.queues[at] = Some(queue);
                let what = format!("\"{}\" on queue {queue} ({})", problem.passes[at].name, problem.queues[queue]);
                if let Ok(us) = self.proposal(what, problem, &moved, scratch)
                    && us < best.0
                {
                    best = (us, moved);
                }
            }
        }
    }
}

/// Searches plans, the one of the shortest modelled frame first; the first bake is the caller's own way. With them come
/// the verdicts on what the hook proposed.
///
/// # Errors
/// What is wrong with the declaration.
pub fn search(of: Search<'_>, scratch: &mut Scratch) -> Result<(Vec<Candidate>, Vec<Tried>), GraphError> {
    let Search { graph, profile, measure, options, hook, most } = of;
    let mut bakes = Bakes { graph, profile, measure, options, left: most.max(1), found: Vec::new() };
    scratch.proposal = None;
    bakes.policy(format!("policy {}", options.policy.name()), &options, scratch)?;
    let problem = problem(graph, profile, scratch, &bakes.found[0].plan);
    let mut tried = Vec::new();
    if let Some(hook) = hook {
        while bakes.left > 0
            && let Some(proposal) = hook.propose(&problem, &tried)
        {
            let shortest = bakes.found.iter().map(|known| known.plan.report.frame_us).fold(f64::INFINITY, f64::min);
            let what = format!("proposal {}", tried.len() + 1);
            tried.push(match bakes.proposal(what, &problem, &proposal, scratch) {
                Ok(us) => Tried { frame_us: Some(us), kept: us < shortest, refused: String::new() },
                Err(refused) => Tried { frame_us: None, kept: false, refused },
            });
        }
    }
    for policy in POLICIES.into_iter().filter(|policy| *policy != options.policy) {
        bakes.policy(format!("policy {}", policy.name()), &Options { policy, ..options }, scratch)?;
    }
    let effort = options.effort + HARDER;
    bakes.policy(format!("effort {effort}"), &Options { effort, ..options }, scratch)?;
    bakes.queues(&problem, scratch);
    let mut found = bakes.found;
    found.sort_by(|a, b| a.plan.report.frame_us.total_cmp(&b.plan.report.frame_us));
    Ok((found, tried))
}
