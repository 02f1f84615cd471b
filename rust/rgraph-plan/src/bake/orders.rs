//! All permitted orders of a graph's passes, as a tree of boxes with names: counted, sampled, flattened, printed.

use crate::stages::ids::{LiveId, ResolvedPassId};
use std::fmt;

use super::{Scratch, flat};
use crate::budget::MemoryBudget;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::id::{Id, IdVec};
use crate::profile::Profile;
use crate::stages::cull::cull;
use crate::stages::depend::depend;
use crate::stages::describe::name_of;
use crate::stages::resolve::hazards::Hazards;
use crate::stages::resolve::meaning::Effect;
use crate::stages::schedule::{BoxId, BoxKind, BoxTree};
use crate::stages::weigh;

/// The permitted orders of the passes that run.
#[derive(Clone, Debug)]
pub struct Orders {
    pub tree: BoxTree,
    /// Names of the passes, inserted ones too, in an order in which they may run alone.
    pub passes: IdVec<LiveId, String>,
    /// Their durations in microseconds: measured, declared or guessed.
    pub weight_us: IdVec<LiveId, f32>,
    /// By pass: the passes that it depends on, each with the resources through which it does; none: `after` says so.
    pub after: IdVec<LiveId, Vec<(LiveId, Vec<String>)>>,
}

impl Orders {
    /// Sets of passes that counting may look at in each prime box.
    pub const BUDGET: usize = 100_000;

    /// Takes a graph apart. See [`BoxTree::new`] for the cost.
    ///
    /// # Errors
    /// What is wrong with the declaration.
    pub fn new(graph: &Graph, profile: &Profile, scratch: &mut Scratch) -> Result<Self, GraphError> {
        let graph = &*flat(graph);
        scratch.validate(graph, profile)?;
        cull(graph, &scratch.facts, true, &mut scratch.live);
        scratch.find_queues(profile);
        depend(&scratch.facts, &scratch.live, &mut scratch.deps);
        let Scratch { facts, live, deps, weights, .. } = scratch;
        let instance = weights.instance(weigh::Input {
            graph,
            profile,
            plan_queues: &scratch.queues,
            shapes: &scratch.shapes,
            facts,
            live,
            deps,
            memory: MemoryBudget::default(),
        });
        let memories = |pass: LiveId| {
            let accesses = facts.accesses.slice(facts.passes[live.passes[pass]].accesses).iter();
            accesses.map(|access| facts.memory[access.resource])
        };
        let through = |pass: LiveId, earlier: LiveId| {
            let mut shared: Vec<_> =
                memories(pass).filter(|&one| memories(earlier).any(|other| other == one)).collect();
            shared.sort_unstable_by_key(|id| id.index());
            shared.dedup();
            shared.into_iter().map(|id| graph.resource_name(id).to_owned()).collect()
        };
        let after = |pass: LiveId| {
            let preds = instance.deps.preds.row(pass).iter();
            preds.map(|&pred| (pred, through(pass, pred))).collect()
        };
        Ok(Self {
            tree: BoxTree::new(instance.deps).expect("dependencies follow the serial order, so they have no cycle"),
            passes: live.passes.iter().map(|&id| name_of(graph, facts.passes[id].origin)).collect(),
            weight_us: instance.weight_us.clone(),
            after: instance.passes().map(after).collect(),
        })
    }

    /// How many orders there are; `None` if they are too many to be counted.
    pub fn count(&self) -> Option<u128> {
        self.tree.count_orders(Self::BUDGET)
    }

    /// A random order, by names: the same for the same seed.
    pub fn sample(&self, seed: u64) -> Vec<&str> {
        self.named(self.tree.sample(seed, Self::BUDGET))
    }

    /// The order that keeps boxes together, the heaviest first: the policy `box_tree` on one queue.
    pub fn flatten(&self) -> Vec<&str> {
        self.named(self.tree.flatten(&self.weight_us))
    }

    fn named(&self, order: Vec<LiveId>) -> Vec<&str> {
        order.into_iter().map(|pass| self.passes[pass].as_str()).collect()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, at: BoxId) -> fmt::Result {
        let tree = &self.tree;
        let BoxKind::Pass(pass) = tree.kind(at) else {
            let kind = match tree.kind(at) {
                BoxKind::Sequence => "sequence",
                BoxKind::Parallel => "parallel",
                BoxKind::Pass(_) | BoxKind::Prime => "prime",
            };
            return writeln!(f, "{kind}, {} passes", tree.passes(at));
        };
        write!(f, "{}  {:.1} µs", self.passes[pass], self.weight_us[pass])?;
        for (number, (earlier, through)) in self.after[pass].iter().enumerate() {
            let through = if through.is_empty() { "after".to_owned() } else { through.join(", ") };
            let lead = if number == 0 { "  ← " } else { "; " };
            write!(f, "{lead}{} ({through})", self.passes[*earlier])?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Orders {
    /// The tree, a box per line; a pass with its duration, the passes that it depends on, and the resources between
    /// them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not recursive: a box may be as deep as there are passes.
        let mut stack =
            if self.tree.is_empty() { Vec::new() } else { vec![(BoxTree::ROOT, String::new(), String::new())] };
        while let Some((at, lead, indent)) = stack.pop() {
            f.write_str(&lead)?;
            self.line(f, at)?;
            for (number, &child) in self.tree.children(at).iter().rev().enumerate() {
                let [branch, more] = if number == 0 { ['└', ' '] } else { ['├', '│'] };
                stack.push((child, format!("{indent}{branch} "), format!("{indent}{more} ")));
            }
        }
        Ok(())
    }
}

impl Scratch {
    /// What the last bake orders, `(earlier, later)`, with all mips that a pass generates as part of it, culled ones
    /// too. A declared pass is its number, any other one has a number of its own from `declared` on.
    pub(crate) fn orders_of_whole_passes(&self, declared: usize) -> Vec<(usize, usize)> {
        let Self { facts, live, deps, .. } = self;
        let whole = |pass: ResolvedPassId| {
            facts.declared_pass(pass).map_or(declared + pass.index(), |declared_pass| declared_pass.index())
        };
        let runs = |pass: ResolvedPassId| {
            live.needed[pass] || facts.declared_pass(pass).is_some_and(|owner| live.needed[facts.pass_of[owner]])
        };
        let mut orders = Vec::new();
        let mut hazards = Hazards::default();
        hazards.clear(facts.subresources.count());
        for (id, pass) in facts.passes.iter_ids().filter(|(id, _)| runs(*id)) {
            for access in facts.accesses.slice(pass.accesses) {
                for subresource in access.subresources.ids() {
                    hazards.access(subresource, id, access.effect != Effect::Read, access.group, |from| {
                        orders.push((whole(from), whole(id)));
                    });
                }
            }
        }
        let after = deps.after.iter();
        orders.extend(after.map(|&(later, earlier)| (whole(live.passes[earlier]), whole(live.passes[later]))));
        orders.retain(|(earlier, later)| earlier != later);
        orders
    }
}
