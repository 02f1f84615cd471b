//! rgraph-check: the checker of plans. It shares the nouns of `rgraph-ir` and nothing else: what a declaration means,
//! what a usage does, which stages contain which, how many bytes a texel takes are defined independently here.
//!
//! # What is checked
//!
//! A plan is right if every execution that Vulkan permits for it gives each pass the values that a serial run of the
//! declaration gives it, and leaves the roots with the values of that run. [`check`] proves the part of this that does
//! not depend on what shaders compute: each access finds the contents that the declaration names, in a layout and
//! family in which it may find them, and it is ordered against every access that it conflicts with.
//!
//! 1. `facts` flattens the declaration into *declared passes*, each with the subresources that it reads, keeps and
//!    writes, the order of the accesses per subresource, and the set of passes that are needed.
//! 2. `structure`, `agree`, `sets`, `foreign`, `packets`, `time` check properties that need no execution: ids and
//!    ranges, facts that the plan repeats, sets of passes that may run at once, modelled times.
//! 3. `machine` walks the batches in listed order and checks each access where it happens.
//!
//! # The machine
//!
//! Its state has two halves: what is ordered (clocks, per queue and stage), and what memory holds (per subresource).
//!
//! **Positions.** Every queue has a counter that grows with each batch, command and signal. An operation is one leaf
//! stage and access kind of a pass, or a layout transition; it has a queue, a position and a stage.
//!
//! **Clocks.** A clock has one number per queue and leaf stage: every operation there before this position is ordered
//! before the clock's point. It has one more per queue and kind of write: every such write before this position is
//! available. One number is exact, because both sets are closed towards earlier positions: a first scope takes in what
//! its stages did since the start of the queue (Vulkan 1.3, "Execution and Memory Dependencies"). Clocks form a lattice
//! under the maximum per entry. A synchronization command reads the clocks of its first scope and joins the result into
//! those of its second scope. Clocks only grow, so one walk in submission order reaches the fixed point.
//!
//! | command | first scope | second scope |
//! | --- | --- | --- |
//! | barrier | earlier operations of its queue at its source stages and logically earlier ones, with what their clocks hold | later operations at its destination stages and logically later ones |
//! | event | as a barrier, where it is set | as a barrier, where it is waited for |
//! | signal | everything before it on its queue; every write is available | – |
//! | wait | the clock of the signal | its stages and logically later ones; memory is visible at its stages |
//!
//! **Availability and visibility.** A global barrier moves writes by kind, so it is in the clocks. A barrier that names
//! a resource moves the writes of that resource alone: each last write keeps the barriers (*nodes*) that made it
//! available by name. A read sees a write if a node, wait or global barrier shows it at the read's stage and access,
//! and that one is reached from a node that took the write in. A barrier on another name of the same bytes takes a
//! write in for what it names, and for nothing else.
//!
//! **Memory.** Each subresource has its last writes (several, if they commute), the reads since, layout, owner, a
//! pending release, and the reason why its contents are gone, if they are: not written in this run, a transition from
//! `undefined`, another owner of its bytes, a store operation that does not store, another family, undefined. An access
//! is compared with the last writes and the reads since, under its own name and under all names that share its bytes.
//! Earlier accesses need no comparison: each of those was ordered after them when it was checked. For the same reason a
//! resource that checked writes have replaced whole supersedes what had its bytes before (`residents`).
//!
//! **Render passes.** Within one, `region` decides instead: rasterisation order between attachment accesses of one
//! subpass, by-region barriers between two subpasses, and nothing else.
//!
//! # Runs
//!
//! One walk covers many runs, because each run is checked against what the runs before left. The first three have every
//! flag on, as frames in flight do. Then every combination of flags runs twice in a row, in Gray order, so that it
//! meets itself and its neighbours: all combinations of up to six flags, 64 at random beyond. Histories add runs until
//! each ring has turned.
//!
//! # Who checks the checker
//!
//! An exact checker in the tests keeps every operation and the whole happens-before relation, without clocks, and must
//! agree. [`interpret`] runs plans on symbols, in orders that the plan permits, and compares values. [`certificate`]
//! writes the chain behind each hazard, which a verifier of three files follows. The tests remove parts of good plans,
//! and each removal that matters must be found.
#![cfg_attr(not(test), warn(unreachable_pub))]
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
mod feature;
mod finding;
mod flags;
mod foreign;
mod form;
pub mod generate;
mod ids;
pub mod interpret;
mod machine;
mod meaning;
mod memory;
mod minimal;
mod outcome;
mod packets;
pub mod random;
mod region;
mod render;
mod residents;
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
pub use minimal::{Entry, EntryPart, Examined, minimal};

use rgraph_ir::graph::Graph;
use rgraph_ir::plan::Plan;

/// Checks a plan of a graph: every violation found, in plan order; empty if there is none.
///
/// Walks the plan once (times queues and stages), for as many runs as its conditions ask for. Any plan may be given,
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
    if form::is_well_formed(&facts, plan, &mut findings) {
        let declared_of = structure::passes(&facts, plan, &mut findings);
        attachment::transient(&facts, plan, &declared_of, &mut findings);
        structure::scopes(plan, &mut findings);
        structure::places(&facts, plan, &declared_of, &mut findings);
        agree::resources(&facts, plan, &declared_of, &mut findings);
        memory::memories(&facts, plan, &mut findings);
        flags::flags(&facts, plan, &declared_of, &mut findings);
        agree::render_passes(&facts, plan, &declared_of, &mut findings);
        feature::features(&facts, plan, &declared_of, &mut findings);
        sets::sets(&facts, plan, &declared_of, &mut findings);
        foreign::foreign(&facts, plan, &declared_of, &mut findings);
        packets::packets(&facts, plan, &declared_of, &mut findings);
        time::check(&facts, plan, &declared_of, &mut findings);
        if !plan.queues.is_empty() || plan.batches.is_empty() {
            machine::Machine::new(&facts, plan, &declared_of, &mut findings).walk();
        }
    }
    findings.into_vec()
}
