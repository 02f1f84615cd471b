//! The last plan of a graph that is declared again and again: an equal declaration is recognised by its hash.

use super::{Options, Policy, Scratch, Split, Without, bake_into};
use crate::budget::MemoryBudget;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::plan::Plan;
use crate::profile::Profile;

/// A plan and the memory that it was made in, kept from frame to frame. Nobody else can change the plan, so an equal
/// declaration for an equal profile and equal options has it already.
///
/// ```
/// use rgraph_plan::bake::LastPlan;
/// use rgraph_plan::prelude::*;
///
/// let frame = || {
///     let mut g = Graph::new("frame", [64, 64]);
///     let out = g.image("out", Format::Rgba8unorm);
///     g.pass("draw", PassQueue::Graphics).color(out);
///     g.root(out);
///     g
/// };
/// let (mut last, profile, options) = (LastPlan::default(), Profile::discrete(), Options::default());
/// last.bake(&frame(), &profile, &options)?;
/// last.bake(&frame(), &profile, &options)?;
/// assert_eq!(last.bakes(), 1);
/// # Ok::<(), GraphError>(())
/// ```
#[derive(Debug, Default)]
pub struct LastPlan {
    scratch: Scratch,
    plan: Plan,
    /// What it is the plan of; `None`: of nothing.
    of: Option<(u128, Asked, Profile)>,
    bakes: u64,
}

/// The options that count: a clock changes no plan.
type Asked = (Policy, Split, u32, MemoryBudget, Option<u32>, Without);

fn asked(options: &Options) -> Asked {
    let &Options { policy, split, effort, clock: _, memory, max_batches, without } = options;
    (policy, split, effort, memory, max_batches, without)
}

impl LastPlan {
    /// The plan of a graph: the last one, if that was made of an equal declaration, profile and options, else baked
    /// into its memory. A plan that is not made again keeps the `bake_us` of its bake. O(passes + resources) for an
    /// equal declaration, and allocates nothing then.
    ///
    /// # Errors
    /// As [`bake`](super::bake); there is then no last plan.
    pub fn bake(&mut self, graph: &Graph, profile: &Profile, options: &Options) -> Result<&Plan, GraphError> {
        let (hash, asked) = (graph.content_hash(), asked(options));
        let is_same = |(of, by, on): &(u128, Asked, Profile)| (*of, by, on) == (hash, &asked, profile);
        if !self.of.as_ref().is_some_and(is_same) {
            self.of = None;
            bake_into(graph, profile, options, &mut self.scratch, &mut self.plan)?;
            self.bakes += 1;
            self.of = Some((hash, asked, profile.clone()));
        }
        Ok(&self.plan)
    }

    /// How many plans it made.
    pub fn bakes(&self) -> u64 {
        self.bakes
    }
}
