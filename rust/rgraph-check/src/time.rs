//! Modelled times, for plans that hold a bound of their frame: passes start after the passes that they follow, nothing
//! ends after the frame, and the bound lies between the longest path that the declaration names and the frame.
//!
//! The checker knows neither the costs of a device nor guessed durations. Its own path has the declared durations
//! alone, and counts nothing for a pass that may share a render pass with the next one.

use rgraph_ir::access::Usage;
use rgraph_ir::id::IdVec;
use rgraph_ir::plan::{Plan, PlanPassId};

use crate::facts::{Facts, SubresourceUse};
use crate::finding::{Findings, Rule};
use crate::ids::{DeclaredOf, DeclaredPassId, UnorderedGroupId};
use crate::tables::is_attachment;

/// Part of a time by which sums in single precision may be off.
const ROUNDING: f64 = 1e-5;

/// Pairs between two neighbouring groups of accesses that are looked at; of larger groups only those with a single
/// neighbouring access are.
const PAIRS: usize = 4096;

/// By declared pass: the pass of the plan that it is.
type PassOf = IdVec<DeclaredPassId, Option<PlanPassId>>;

/// Checks the times of a plan.
pub(crate) fn check(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    let Some(bound) = plan.report.bound else { return };
    let frame = plan.report.frame_us;
    let slack = ROUNDING * frame.abs().max(1.0);
    for (what, us) in [("bound", bound.us), ("longest path", bound.critical_path_us), ("load", bound.load_us)] {
        if !us.is_finite() || us < 0.0 || us > frame + slack {
            let message = format!("the {what} is {us} µs, and the modelled frame {frame} µs");
            findings.add(Rule::Time, None, None, message);
        }
    }
    let mut pass_of = PassOf::filled(None, facts.declared_passes.len());
    for id in plan.passes.ids().filter(|&id| plan.passes[id].culled.is_none()) {
        if let Some(known) = declared_of[id].and_then(|declared| pass_of.get_mut(declared)) {
            *known = Some(id);
        }
        let why = plan.passes[id].why;
        let end = f64::from(why.start_us) + f64::from(why.duration_us);
        if !end.is_finite() || why.start_us < 0.0 || why.duration_us < 0.0 || end > frame + slack {
            let name = plan.pass_name(id);
            let message = format!("pass \"{name}\" ends at {end} µs of a modelled frame of {frame} µs");
            findings.add(Rule::Time, Some(name), None, message);
        }
    }
    let mut edges = edges(facts, &pass_of);
    edges.sort_unstable_by_key(|edge| (edge.later, edge.earlier));
    for edge in &edges {
        let [earlier, later] = [plan.passes[edge.earlier].why, plan.passes[edge.later].why];
        let end = f64::from(earlier.start_us) + f64::from(earlier.duration_us);
        if f64::from(later.start_us) + slack < end {
            let [before, name] = [edge.earlier, edge.later].map(|id| plan.pass_name(id));
            let message =
                format!("pass \"{name}\" starts at {} µs, before \"{before}\" ends at {end} µs", later.start_us);
            findings.add(Rule::Time, Some(name), None, message);
        }
    }
    let longest = longest(facts, plan, &pass_of, &edges);
    if longest > bound.us + slack {
        let message = format!("declared durations make a path of {longest} µs, and the bound is {} µs", bound.us);
        findings.add(Rule::Time, None, None, message);
    }
}

/// Whether two passes use some memory as attachments, so that one render pass may have both.
fn may_merge(facts: &Facts, a: DeclaredPassId, b: DeclaredPassId) -> bool {
    let attached = |pass: DeclaredPassId| {
        let uses = facts.declared_passes[pass].uses.iter();
        let uses = uses.filter(|at| is_attachment(at.usage) || at.usage == Usage::InputAttachment);
        uses.map(|at| facts.memory[at.resource])
    };
    attached(a).any(|one| attached(b).any(|other| other == one))
}

/// One pass follows another.
struct Edge {
    earlier: PlanPassId,
    later: PlanPassId,
    /// Whether one render pass may have both.
    merges: bool,
}

/// What one pass does to one subresource.
#[derive(Clone, Copy)]
struct PassUse {
    declared: DeclaredPassId,
    writes: bool,
    group: Option<UnorderedGroupId>,
}

/// The accesses of a subresource in their order, those of one pass as one.
fn by_pass(facts: &Facts, uses: &[SubresourceUse], all: &mut Vec<PassUse>) {
    all.clear();
    for own in uses.chunk_by(|a, b| a.declared == b.declared) {
        let writes = own.iter().any(|of| facts.declared_passes[of.declared].uses[of.at].writes);
        all.push(PassUse { declared: own[0].declared, writes, group: own[0].group });
    }
}

/// Which pass follows which, subresource by subresource: readers the writer before them, writers the accesses before
/// them.
fn edges(facts: &Facts, pass_of: &PassOf) -> Vec<Edge> {
    let (mut edges, mut all) = (Vec::new(), Vec::new());
    for uses in facts.order.iter().flatten() {
        by_pass(facts, uses, &mut all);
        // Accesses that are not ordered among themselves: reads in a row, or a group of unordered ones.
        let together = |a: &PassUse, b: &PassUse| a.group == b.group && (a.group.is_some() || !a.writes && !b.writes);
        let mut before: &[PassUse] = &[];
        for now in all.chunk_by(together) {
            let few = before.len().saturating_mul(now.len()) <= PAIRS.max(before.len() + now.len());
            for (a, b) in before.iter().filter(|_| few).flat_map(|a| now.iter().map(move |b| (a, b))) {
                let (Some(earlier), Some(later)) = (pass_of[a.declared], pass_of[b.declared]) else { continue };
                if earlier != later && (a.writes || b.writes) {
                    edges.push(Edge { earlier, later, merges: may_merge(facts, a.declared, b.declared) });
                }
            }
            before = now;
        }
    }
    edges
}

/// The longest path of declared durations in microseconds. `edges` are sorted by their later pass; those that the
/// plan's order does not keep are findings of others.
fn longest(facts: &Facts, plan: &Plan, pass_of: &PassOf, edges: &[Edge]) -> f64 {
    let mut declared = IdVec::<PlanPassId, f64>::filled(0.0, plan.passes.len());
    for (id, pass) in facts.graph.passes().iter_ids() {
        let of = facts.place(id).and_then(|declared| *pass_of.get(declared)?);
        if let (Some(of), Some(us)) = (of, pass.weight_us) {
            declared[of] = us;
        }
    }
    let mut start = IdVec::<PlanPassId, f64>::filled(0.0, plan.passes.len());
    // All edges into a pass come before those out of it.
    for edge in edges.iter().filter(|edge| edge.earlier < edge.later) {
        let us = if edge.merges { 0.0 } else { declared[edge.earlier] };
        start[edge.later] = (start[edge.earlier] + us).max(start[edge.later]);
    }
    start.ids().map(|id| start[id] + declared[id]).fold(0.0, f64::max)
}
