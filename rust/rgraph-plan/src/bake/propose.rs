//! Orders and queues that come from outside: a hook sees the passes as the scheduler does, proposes, and is checked by
//! the modelled frame of the plan that its proposal makes.

use super::{Measure, Options, Scratch, bake, bake_with, flat};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::id::{Id, IdVec};
use crate::plan::Plan;
use crate::profile::Profile;
use crate::stages::describe::name_of;
use crate::stages::ids::{LiveId, ResolvedPassId};
use crate::stages::schedule::{HOST, Policy};

/// The passes to be ordered, as the scheduler sees them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Problem {
    /// The passes that run, inserted ones too. Positions in this list stand for passes everywhere else.
    pub passes: Vec<ProblemPass>,
    /// The queues, by name.
    pub queues: Vec<String>,
    /// The planner's own proposal.
    pub own: Proposal,
    /// The modelled frame of the plan that the planner makes, in microseconds.
    pub frame_us: f64,
    /// A lower bound of it.
    pub bound_us: f64,
}

/// A pass to be ordered.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ProblemPass {
    /// Its name in the plan.
    pub name: String,
    /// Its duration in microseconds: measured, declared or guessed.
    pub weight_us: f64,
    /// The part of the device that it fills, above 0 and up to 1.
    pub size: f64,
    /// Positions of the queues that may run it; none: the host.
    pub queues: Vec<usize>,
    /// The passes that it depends on.
    pub after: Vec<usize>,
}

/// An order of all passes, and their queues.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proposal {
    /// Positions of passes, each once, each after what it depends on.
    pub order: Vec<usize>,
    /// By pass: the position of its queue; `None`: the host.
    pub queues: Vec<Option<usize>>,
}

/// Proposes orders and queues. The planner checks each proposal against the declaration, so a wrong one does no harm.
pub trait Propose {
    /// The next proposal, or `None` if there is no other one. `tried` has the verdicts of all earlier proposals.
    fn propose(&mut self, problem: &Problem, tried: &[Tried]) -> Option<Proposal>;
}

impl<F: FnMut(&Problem, &[Tried]) -> Option<Proposal>> Propose for F {
    fn propose(&mut self, problem: &Problem, tried: &[Tried]) -> Option<Proposal> {
        self(problem, tried)
    }
}

/// What became of a proposal.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Tried {
    /// The modelled frame of its plan in microseconds; `None`: it is not permitted.
    pub frame_us: Option<f64>,
    /// Whether its plan was the best so far.
    pub kept: bool,
    /// Why it is not permitted; empty if it is.
    pub refused: String,
}

/// Bakes, then bakes each proposal of a hook, at most `most` of them; returns the plan with the shortest modelled
/// frame, the planner's own on a tie, and the verdicts.
///
/// # Errors
/// As [`bake`]; never because of a proposal.
pub fn bake_proposals(
    graph: &Graph,
    profile: &Profile,
    options: &Options,
    hook: &mut dyn Propose,
    most: usize,
    scratch: &mut Scratch,
) -> Result<(Plan, Vec<Tried>), GraphError> {
    scratch.proposal = None;
    let mut best = bake(graph, profile, options, scratch)?;
    let problem = problem(graph, profile, scratch, &best);
    let mut tried = Vec::new();
    while tried.len() < most {
        let Some(proposal) = hook.propose(&problem, &tried) else { break };
        tried.push(match bake_proposal(graph, profile, options, None, (&problem, &proposal), scratch) {
            Err(refused) => Tried { frame_us: None, kept: false, refused },
            Ok(plan) => {
                let frame_us = plan.report.frame_us;
                let kept = frame_us < best.report.frame_us;
                if kept {
                    best = plan;
                }
                Tried { frame_us: Some(frame_us), kept, refused: String::new() }
            }
        });
    }
    Ok((best, tried))
}

/// Bakes one proposal.
///
/// # Errors
/// Why it is not permitted, in one sentence, or what is wrong with its plan.
pub(super) fn bake_proposal(
    graph: &Graph,
    profile: &Profile,
    options: &Options,
    measure: Option<Measure<'_>>,
    (problem, proposal): (&Problem, &Proposal),
    scratch: &mut Scratch,
) -> Result<Plan, String> {
    scratch.proposal = Some(scratch.accept(problem, proposal)?);
    let mut plan = Plan::default();
    let options = Options { policy: Policy::Proposed, ..*options };
    let baked = bake_with(graph, profile, &options, measure, scratch, &mut plan);
    scratch.proposal = None;
    baked.map(|()| plan).map_err(|error| error.to_string())
}

/// What the last bake had to order.
pub(super) fn problem(graph: &Graph, profile: &Profile, scratch: &Scratch, plan: &Plan) -> Problem {
    let flat = flat(graph);
    let (_, instance) = scratch.instance_of(&flat, profile, crate::budget::MemoryBudget::default());
    let pass = |(at, &id): (LiveId, &ResolvedPassId)| ProblemPass {
        name: name_of(&flat, scratch.facts.passes[id].origin),
        weight_us: f64::from(instance.weight_us[at]),
        size: f64::from(instance.size[at]),
        queues: (0..scratch.queues.len()).filter(|queue| instance.queues[at] >> queue & 1 == 1).collect(),
        after: instance.deps.preds.row(at).iter().map(|pred| pred.index()).collect(),
    };
    let queue = |&queue: &u8| (queue != HOST).then_some(usize::from(queue));
    Problem {
        passes: scratch.live.passes.iter_ids().map(pass).collect(),
        queues: scratch.queues.iter().map(|queue| queue.name.clone()).collect(),
        own: Proposal {
            order: scratch.order.passes.iter().map(|pass| pass.index()).collect(),
            queues: scratch.order.queue.iter().map(queue).collect(),
        },
        frame_us: plan.report.frame_us,
        bound_us: plan.report.bound.map_or(0.0, |bound| bound.us),
    }
}

/// An order by pass and queues by pass, as the scheduler keeps them.
pub(super) type Given = (Vec<LiveId>, IdVec<LiveId, u8>);

impl Scratch {
    /// Turns a proposal into what the scheduler takes.
    ///
    /// # Errors
    /// What is not permitted, in one sentence.
    fn accept(&self, problem: &Problem, proposal: &Proposal) -> Result<Given, String> {
        let count = problem.passes.len();
        let Proposal { order, queues } = proposal;
        if order.len() != count || queues.len() != count {
            return Err(format!("{} passes in order and {} queues, of {count} passes", order.len(), queues.len()));
        }
        let mut position = vec![usize::MAX; count];
        for (at, &pass) in order.iter().enumerate() {
            match position.get_mut(pass) {
                Some(known @ &mut usize::MAX) => *known = at,
                Some(_) => return Err(format!("pass \"{}\" twice in the order", problem.passes[pass].name)),
                None => return Err(format!("no pass {pass} of {count}")),
            }
        }
        for (at, pass) in problem.passes.iter().enumerate() {
            if let Some(&earlier) = pass.after.iter().find(|&&earlier| position[earlier] > position[at]) {
                let earlier = &problem.passes[earlier].name;
                return Err(format!("pass \"{}\" before \"{earlier}\", on which it depends", pass.name));
            }
            match queues[at] {
                None if pass.queues.is_empty() => {}
                Some(queue) if pass.queues.contains(&queue) => {}
                None => return Err(format!("pass \"{}\" on the host", pass.name)),
                Some(queue) => {
                    let name = problem.queues.get(queue).map_or("?", String::as_str);
                    return Err(format!("pass \"{}\" on queue \"{name}\", which may not run it", pass.name));
                }
            }
        }
        let passes = order.iter().map(|&pass| LiveId::new(pass)).collect();
        Ok((passes, queues.iter().map(|queue| queue.map_or(HOST, |queue| queue as u8)).collect()))
    }
}
