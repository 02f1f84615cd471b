//! What a frame would be under other choices: queues, durations, fewer passes, less memory, another policy. The changed
//! declaration is baked; nothing needs a device. With it comes an upper bound of what other queues could gain.

use std::fmt;

use crate::access::{PassQueue, Usage};
use crate::bake::{Options, Scratch, bake, flat};
use crate::budget::MemoryBudget;
use crate::error::{Code, GraphError, Mistake};
use crate::graph::{Graph, PassId};
use crate::id::Id;
use crate::nearest::nearest;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::resource::{Imported, Life, ResourceId};
use crate::stages::schedule::Policy;
use crate::stages::validate::MAX_WEIGHT_US;
use crate::words::{bytes_phrase, quoted};

/// What is to be different. Passes are named as in plans.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// Queues of passes.
    pub queues: Vec<(String, PassQueue)>,
    /// Durations of passes in microseconds.
    pub weights: Vec<(String, f64)>,
    /// Whether names in `weights` that the graph lacks are ignored, as in a report of an earlier version of it.
    pub lenient: bool,
    /// Passes that are left out.
    pub drop: Vec<String>,
    /// Bytes of the profile's first class of memory.
    pub heap_limit: Option<u64>,
    /// How the order is made.
    pub policy: Option<Policy>,
    /// What bytes are worth.
    pub memory: Option<MemoryBudget>,
}

/// The answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WhatIf {
    /// The changed declaration.
    pub graph: Graph,
    /// The changed profile.
    pub profile: Profile,
    /// The changed options.
    pub options: Options,
    /// The plan of these.
    pub plan: Plan,
    /// The changes as sentences, and what follows from them.
    pub notes: Vec<String>,
    /// What other queues could gain.
    pub queues: QueueGain,
}

/// An upper bound of what queues other than the graphics queue could gain.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct QueueGain {
    /// The modelled frame with all work of the device on the graphics queue, in microseconds; `None`: that queue cannot
    /// do all of it.
    pub one_queue_us: Option<f64>,
    /// A lower bound of the modelled frame with every pass on any queue that can do its work, in microseconds.
    pub bound_us: f64,
}

impl QueueGain {
    /// No choice of queues saves more of the frame on one queue, in microseconds.
    pub fn at_most_us(self) -> Option<f64> {
        self.one_queue_us.map(|us| (us - self.bound_us).max(0.0))
    }
}

/// Bakes a graph with some changes. Milliseconds: two bakes and a bound.
///
/// A pass that is left out takes its accesses with it. A resource that only such passes write counts as imported, so
/// that its readers stay as they are, and is no root.
///
/// # Errors
/// [`Code::UnknownName`] for passes that the graph lacks, [`Code::BadNumber`] for durations that are none; and as
/// [`bake`] for the changed declaration.
pub fn what_if(
    graph: &Graph,
    profile: &Profile,
    options: &Options,
    changes: &Changes,
    scratch: &mut Scratch,
) -> Result<WhatIf, GraphError> {
    let (mut graph, mut profile, mut options) = (graph.clone(), profile.clone(), *options);
    let mut notes = Vec::new();
    weigh(&mut graph, &changes.weights, changes.lenient, &mut notes)?;
    for (name, queue) in &changes.queues {
        let pass = find(&graph, name)?;
        graph.pass_mut(pass).queue = *queue;
        notes.push(format!("{} on {}", quoted(name), queue.name()));
    }
    drop_passes(&mut graph, &changes.drop, &mut notes)?;
    if let (Some(limit), Some(memory)) = (changes.heap_limit, profile.memory.first_mut()) {
        memory.heap_size = Some(limit);
        notes.push(format!("heap limit {}", bytes_phrase(limit)));
    }
    if let Some(policy) = changes.policy {
        options.policy = policy;
        notes.push(format!("policy {}", policy.name()));
    }
    if let Some(memory) = changes.memory {
        options.memory = memory;
        notes.push(format!("memory budget {memory}"));
    }
    let plan = bake(&graph, &profile, &options, scratch)?;
    let bound_us = scratch.free_bound_us(&flat(&graph), &profile);
    let one_queue_us = bake(&on_one_queue(&graph), &profile, &options, scratch).ok().map(|plan| plan.report.frame_us);
    Ok(WhatIf { graph, profile, options, plan, notes, queues: QueueGain { one_queue_us, bound_us } })
}

/// Makes durations those of passes, in microseconds.
///
/// # Errors
/// [`Code::UnknownName`] unless `lenient`, or if no pass has any of the names; [`Code::BadNumber`] if one is not from
/// 0 to 10^12.
pub fn weigh(
    graph: &mut Graph,
    weights: &[(String, f64)],
    lenient: bool,
    notes: &mut Vec<String>,
) -> Result<(), GraphError> {
    let mut known = 0;
    for (name, us) in weights {
        if !(0.0..=MAX_WEIGHT_US).contains(us) {
            let message = format!("duration of pass {} is {us:?} µs", quoted(name));
            let mistake = Mistake::new(Code::BadNumber, message, "give microseconds, 0 to 10^12").pass(name);
            return Err(GraphError::one(mistake));
        }
        match find(graph, name) {
            Ok(pass) => {
                graph.pass_mut(pass).weight_us = Some(*us);
                known += 1;
            }
            // Inserted mips have a time in reports, and no declaration.
            Err(_) if lenient => {}
            Err(error) => return Err(error),
        }
    }
    match weights.first() {
        Some((name, _)) if known == 0 => Err(find(graph, name).err().unwrap_or_else(|| unknown(graph, name))),
        Some(_) => {
            notes.push(format!("durations of {known} {}", if known == 1 { "pass" } else { "passes" }));
            Ok(())
        }
        None => Ok(()),
    }
}

fn find(graph: &Graph, name: &str) -> Result<PassId, GraphError> {
    graph.find_pass(name).ok_or_else(|| unknown(graph, name))
}

fn unknown(graph: &Graph, name: &str) -> GraphError {
    let near = nearest(name, graph.passes().ids().map(|id| graph.pass_name(id)));
    let some = || {
        let names: Vec<_> = graph.passes().ids().take(6).map(|id| quoted(graph.pass_name(id))).collect();
        let more = if graph.passes().len() > names.len() { ", ..." } else { "" };
        format!("its passes are {}{more}", names.join(", "))
    };
    let help = near.map_or_else(some, |near| format!("did you mean {}?", quoted(near)));
    let message = format!("the graph {} has no pass {}", quoted(graph.name()), quoted(name));
    GraphError::one(Mistake::new(Code::UnknownName, message, help).pass(name))
}

/// Leaves out passes, and imports what nobody else writes.
fn drop_passes(graph: &mut Graph, names: &[String], notes: &mut Vec<String>) -> Result<(), GraphError> {
    if names.is_empty() {
        return Ok(());
    }
    let mut written_before = vec![false; graph.resources().len()];
    let writes = Usage::writes;
    graph.accesses().iter().filter(|access| writes(access.usage)).for_each(|access| {
        written_before[access.resource.index()] = true;
    });
    for name in names {
        let pass = find(graph, name)?;
        graph.clear_pass(pass);
        let pass = graph.pass_mut(pass);
        (pass.side_effects, pass.conditional) = (false, None);
        notes.push(format!("without {}", quoted(name)));
    }
    let mut written = vec![false; graph.resources().len()];
    let mut used = written.clone();
    for access in graph.accesses() {
        written[access.resource.index()] |= writes(access.usage);
        used[access.resource.index()] = true;
    }
    let shown = |graph: &Graph, at: ResourceId| {
        let resource = &graph.resources()[at];
        graph.is_root(at) && resource.life == Life::Transient && resource.modifies.is_none()
    };
    for id in graph.resources().ids().collect::<Vec<_>>() {
        if written_before[id.index()] && !written[id.index()] && shown(graph, id) {
            graph.unroot(id);
            notes.push(format!("{} is no root: no other pass writes it", quoted(graph.resource_name(id))));
        }
    }
    let lost: Vec<ResourceId> = graph
        .resources()
        .iter_ids()
        .filter_map(|(id, resource)| {
            let at = id.index();
            let orphaned = written_before[at] && !written[at] && used[at];
            (orphaned && resource.life == Life::Transient && resource.modifies.is_none()).then_some(id)
        })
        .collect();
    for id in lost {
        graph.resource_mut(id).life = Life::Imported(Imported::default());
        notes.push(format!("{} comes from outside: no other pass writes it", quoted(graph.resource_name(id))));
    }
    Ok(())
}

/// The graph with all work of the device on the graphics queue.
fn on_one_queue(graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    for id in graph.passes().ids().collect::<Vec<_>>() {
        let pass = graph.pass_mut(id);
        if matches!(pass.queue, PassQueue::AsyncCompute | PassQueue::Transfer | PassQueue::Any) {
            pass.queue = PassQueue::Graphics;
        }
    }
    graph
}

impl fmt::Display for QueueGain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(one), Some(gain)) = (self.one_queue_us, self.at_most_us()) else {
            return write!(f, "no choice of queues is below {:.1} µs", self.bound_us);
        };
        let part = if one > 0.0 { 100.0 * gain / one } else { 0.0 };
        write!(
            f,
            "{one:.1} µs on one; no choice of queues is below {:.1} µs: at most {gain:.1} µs ({part:.0} %) to gain",
            self.bound_us
        )
    }
}
