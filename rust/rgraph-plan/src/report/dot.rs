//! A drawing of a graph and its plan in the DOT language: passes in boxes by queue, resources in ovals, an arrow from
//! a pass to what it writes and from a resource to the passes that read it.

use std::collections::BTreeMap;

use super::words::{plain, queue_label};
use crate::access::Usage;
use crate::graph::Graph;
use crate::id::{Id, IdVec};
use crate::plan::{Plan, PlanPassId, QueueId};
use crate::resource::{Life, ResourceId};

/// DOT text of passes, resources and the dependencies through them. Culled passes and what only they use are dashed;
/// roots and what outlives the frame have a double line. O((passes + accesses) log).
pub fn dot(graph: &Graph, plan: &Plan) -> String {
    let mut out = format!("digraph {} {{\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n", quote(&plan.graph));
    let mut by_queue: BTreeMap<Option<QueueId>, Vec<PlanPassId>> = BTreeMap::new();
    let mut culled = Vec::new();
    for (id, pass) in plan.passes.iter_ids() {
        match pass.culled {
            None => by_queue.entry(pass.queue).or_default().push(id),
            Some(_) => culled.push(id),
        }
    }
    for (at, (queue, passes)) in by_queue.iter().enumerate() {
        let label = quote(&queue_label(plan, *queue));
        out += &format!("  subgraph cluster_{at} {{\n    label={label};\n    node [shape=box];\n");
        for pass in passes {
            out += &format!("    p{} [label={}];\n", pass.index(), quote(plan.pass_name(*pass)));
        }
        out += "  }\n";
    }
    for pass in &culled {
        let label = quote(plan.pass_name(*pass));
        out += &format!("  p{} [shape=box, style=dashed, label={label}];\n", pass.index());
    }
    let mut by_name: BTreeMap<&str, PlanPassId> = BTreeMap::new();
    for id in plan.passes.ids() {
        by_name.entry(plan.pass_name(id)).or_insert(id);
    }
    let mut arrows: Vec<(String, bool)> = Vec::new();
    let mut used: IdVec<ResourceId, bool> = IdVec::filled(false, graph.resources().len());
    for access in graph.accesses() {
        let Some(&pass) = by_name.get(graph.pass_name(access.pass)) else { continue };
        let live = plan.passes[pass].culled.is_none();
        used[access.resource] |= live;
        let (p, r) = (pass.index(), access.resource.index());
        let writes = access.usage.writes();
        if !writes || matches!(access.usage, Usage::StorageReadWrite | Usage::AccelerationUpdate) {
            arrows.push((format!("r{r} -> p{p}"), live));
        }
        if writes {
            arrows.push((format!("p{p} -> r{r}"), live));
        }
    }
    for (id, resource) in graph.resources().iter_ids() {
        let outlives = !resource.life.is_of_frame() || graph.is_root(id);
        let style = if used[id] { "" } else { ", style=dashed" };
        let label = quote(graph.resource_name(id));
        out += &format!("  r{} [peripheries={}, label={label}{style}];\n", id.index(), if outlives { 2 } else { 1 });
        if let Some(of) = resource.modifies {
            out += &format!("  r{} -> r{} [style=dotted, label=\"modifies\"];\n", of.index(), id.index());
        }
        if let Life::History(history) = resource.life {
            out += &format!(
                "  r{} -> r{} [style=dotted, label=\"{} ago\", constraint=false];\n",
                history.of.index(),
                id.index(),
                history.frames
            );
        }
    }
    for (arrow, live) in arrows {
        out += &format!("  {arrow}{};\n", if live { "" } else { " [style=dashed]" });
    }
    out + "}\n"
}

/// A string of the DOT language.
fn quote(text: &str) -> String {
    format!("\"{}\"", plain(text).replace('\\', "\\\\").replace('"', "\\\""))
}
