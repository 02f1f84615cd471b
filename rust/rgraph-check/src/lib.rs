//! rgraph-check: the judge of plans. It shares the nouns of `rgraph-ir` and nothing else: what a declaration means,
//! what a usage does, which stages contain which, how many bytes a texel takes are worked out anew here.
//!
//! [`check`] walks a plan on an abstract machine of queues, stages, caches, layouts, owners and aliased bytes.
#![forbid(unsafe_code)]

mod agree;
mod attachment;
mod barrier;
mod bytes;
pub mod certificate;
mod clock;
mod contents;
mod devices;
mod edges;
#[cfg(test)]
mod exact;
mod execute;
mod facts;
mod finding;
mod foreign;
pub mod generate;
mod ids;
pub mod interpret;
mod machine;
mod meaning;
mod minimal;
mod outcome;
mod packets;
pub mod random;
mod region;
mod render;
pub mod serial;
mod sets;
mod shape;
pub mod shrink;
mod structure;
mod subresource;
mod tables;
mod time;

pub use devices::{check_devices, is_well_formed_for_devices};
pub use finding::{Finding, Rule};
pub use ids::{BufferBarrierId, CommandId, ImageBarrierId, MemoryBarrierId, WaitId};
pub use minimal::{Entry, Examined, Part, minimal};

use rgraph_ir::graph::Graph;
use rgraph_ir::plan::Plan;

/// Judges a plan of a graph: every violation found, in plan order; empty if there is none.
///
/// Linear in the plan (times queues and stages), for as many runs as its conditions ask for. Any plan may be given,
/// also one that a file or a fault made up: what cannot be walked is a finding, never a panic.
pub fn check(graph: &Graph, plan: &Plan) -> Vec<Finding> {
    let mut findings = finding::Findings::default();
    if plan.graph_hash != graph.content_hash() {
        let message = format!("the plan is of graph \"{}\" with another content", plan.graph);
        findings.add(Rule::WrongGraph, None, None, message);
    }
    let facts = facts::Facts::new(graph, Some(plan));
    for torn in facts.torn() {
        let pass = &facts.declared_passes[torn.declared].name;
        let (a, b) = (facts.name(torn.earlier), facts.name(torn.later));
        let message =
            format!("pass \"{pass}\" uses \"{a}\" and \"{b}\", two names of one piece of memory: no order keeps both");
        findings.add(Rule::Order, Some(pass), Some(b), message);
    }
    if structure::is_well_formed(&facts, plan, &mut findings) {
        let declared_of = structure::passes(&facts, plan, &mut findings);
        attachment::transient(&facts, plan, &declared_of, &mut findings);
        structure::scopes(plan, &mut findings);
        structure::places(&facts, plan, &declared_of, &mut findings);
        agree::resources(&facts, plan, &declared_of, &mut findings);
        agree::render_passes(&facts, plan, &declared_of, &mut findings);
        sets::sets(&facts, plan, &declared_of, &mut findings);
        foreign::foreign(&facts, plan, &declared_of, &mut findings);
        packets::packets(&facts, plan, &declared_of, &mut findings);
        time::judge(&facts, plan, &declared_of, &mut findings);
        if !plan.queues.is_empty() || plan.batches.is_empty() {
            machine::Machine::new(&facts, plan, &declared_of, &mut findings).walk();
        }
    }
    findings.into_vec()
}
