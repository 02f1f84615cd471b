//! A drawing of a graph and its plan in the DOT language, for Graphviz: passes in boxes coloured by queue, versions of
//! resources in ovals, an arrow from a pass to the version that it writes and from a version to the passes that see it.
//!
//! Every write makes a version, so that the drawing has no cycle however often passes write one resource: layered
//! layouts turn cycles round and lose the order. Live passes of equal depth stand on one rank.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use super::page::data::PlanData;
use super::page::gather::gather;
use super::svg::{QUEUES, queue_kind};
use rgraph_ir::graph::Graph;
use rgraph_ir::id::Id;
use rgraph_ir::plan::Plan;
use rgraph_ir::resource::{Life, ResourceId};
use rgraph_ir::words::{bytes_phrase, plain, time_phrase};

const READS: u8 = 1;
const WRITES: u8 = 2;

/// Room that a pass takes along and across the ranks, in points: names are wider than boxes are high.
const ALONG: f64 = 290.0;
const ACROSS: f64 = 54.0;

/// DOT text of passes, resources and the data that flows between them. Culled passes and what only they use are dashed;
/// roots and what outlives the frame have a double line. O((passes + accesses) log).
pub fn dot(graph: &Graph, plan: &Plan) -> String {
    let data = gather(plan, Some(graph));
    let versions = Versions::new(&data, graph, plan);
    let depths = depths(&data);
    let mut out = format!(
        "digraph {} {{\n  rankdir={}; newrank=true; nodesep=0.15; ranksep=0.4;\n  \
         node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, height=0.3, margin=\"0.08,0.04\"];\n  \
         edge [arrowsize=0.6, color=\"#566070\", fontname=\"Helvetica,Arial,sans-serif\", fontsize=9];\n",
        quote(&plan.graph),
        direction(&data, &depths)
    );
    queues(&mut out, &data);
    passes(&mut out, &data);
    ranks(&mut out, &data, &depths);
    versions.nodes(&mut out, &data, graph, plan);
    versions.arrows(&mut out, &data, graph, plan);
    out + "}\n"
}

/// Node of a version: of a resource, made by the pass at a position; by none: what the frame found there.
type Version = (u32, Option<u32>);

/// Writes of each resource in the order of the passes, and the arrows between passes and versions.
struct Versions {
    /// Passes that write a resource, in their order.
    writers: BTreeMap<u32, Vec<u32>>,
    /// Versions that a pass sees.
    seen: BTreeSet<(Version, u32)>,
    /// Pairs of passes that are ordered without a resource.
    ordered: BTreeSet<(u32, u32)>,
}

impl Versions {
    fn new(data: &PlanData, graph: &Graph, plan: &Plan) -> Self {
        let mut of = Self { writers: BTreeMap::new(), seen: BTreeSet::new(), ordered: BTreeSet::new() };
        let columns = &data.accesses;
        for access in (0..columns.pass.len()).filter(|access| columns.mode[*access] & WRITES > 0) {
            let writers = of.writers.entry(columns.resource[access]).or_default();
            if writers.last() != Some(&columns.pass[access]) {
                writers.push(columns.pass[access]);
            }
        }
        let mut fed = BTreeSet::new();
        let flows = &data.flows;
        for flow in 0..flows.from.len() {
            let (from, to) = (flows.from[flow], flows.to[flow]);
            match u32::try_from(flows.resource[flow]) {
                Ok(resource) => {
                    fed.insert((to, resource));
                    of.seen.insert(((of.written_as(from, resource, graph, plan), Some(from)), to));
                }
                Err(_) => _ = of.ordered.insert((from, to)),
            }
        }
        for access in (0..columns.pass.len()).filter(|access| columns.mode[*access] & READS > 0) {
            let (pass, resource) = (columns.pass[access], columns.resource[access]);
            if !fed.contains(&(pass, resource)) {
                of.seen.insert(((resource, None), pass));
            }
        }
        of
    }

    /// The resource under whose name a pass wrote the contents that a later pass sees: a resource that modifies another
    /// one begins with its contents.
    fn written_as(&self, writer: u32, resource: u32, graph: &Graph, plan: &Plan) -> u32 {
        let writes = |resource| self.writers.get(&resource).is_some_and(|writers| writers.contains(&writer));
        let mut named = resource;
        while !writes(named) {
            match modified(named, graph, plan) {
                Some(of) => named = of,
                None => return resource,
            }
        }
        named
    }

    /// All versions of a resource, the one that the frame finds first where a pass sees it or nothing else is there.
    fn of(&self, resource: u32) -> Vec<Version> {
        let writers = self.writers.get(&resource).map_or(&[][..], Vec::as_slice);
        let found = (resource, None);
        let sees = self.seen.range((found, 0)..=(found, u32::MAX)).next().is_some();
        let first = (sees || writers.is_empty()).then_some(found);
        first.into_iter().chain(writers.iter().map(|writer| (resource, Some(*writer)))).collect()
    }

    fn nodes(&self, out: &mut String, data: &PlanData, graph: &Graph, plan: &Plan) {
        for (resource, planned) in plan.resources.iter_ids() {
            let at = resource.index() as u32;
            let versions = self.of(at);
            let declared = graph.find_resource(plan.resource_name(resource));
            let outlives = declared.is_some_and(|id| !graph.resources()[id].life.is_of_frame())
                || data.resources.root[resource.index()] > 0;
            for version in &versions {
                let number = version.1.map_or(0, |writer| 1 + position(&self.writers[&at], writer));
                let name = match versions.len() {
                    1 => plan.resource_name(resource).to_owned(),
                    _ => format!("{}@{number}", plan.resource_name(resource)),
                };
                let dashed = if self.is_used(*version, data) { "" } else { ", style=dashed" };
                let lines = if outlives { 2 } else { 1 };
                add(
                    out,
                    format_args!(
                        "  {} [label={}, tooltip=\"{}\", peripheries={lines}{dashed}];\n",
                        node(*version),
                        quote(&name),
                        bytes_phrase(planned.bytes)
                    ),
                );
            }
        }
    }

    /// Whether a live pass writes or sees it.
    fn is_used(&self, version: Version, data: &PlanData) -> bool {
        let live = |pass: u32| data.passes.culled[pass as usize] < 0;
        version.1.is_some_and(live) || self.seen.range((version, 0)..=(version, u32::MAX)).any(|(_, pass)| live(*pass))
    }

    fn arrows(&self, out: &mut String, data: &PlanData, graph: &Graph, plan: &Plan) {
        let style = |pass: u32| if data.passes.culled[pass as usize] < 0 { "" } else { " [style=dashed]" };
        for (&resource, writers) in &self.writers {
            for &writer in writers {
                add(out, format_args!("  p{writer} -> {}{};\n", node((resource, Some(writer))), style(writer)));
            }
        }
        for &(version, pass) in &self.seen {
            add(out, format_args!("  {} -> p{pass}{};\n", node(version), style(pass)));
        }
        for (from, to) in &self.ordered {
            add(out, format_args!("  p{from} -> p{to} [style=dotted, label=\"ordered\"];\n"));
        }
        for resource in plan.resources.ids() {
            let Some(declared) = graph.find_resource(plan.resource_name(resource)) else { continue };
            let of = match graph.resources()[declared].life {
                Life::History(history) => Some((history.of, format!("{} ago", history.frames))),
                _ => None,
            };
            let remembered = of.and_then(|(of, label)| Some((planned(of, graph, plan)?, label)));
            let modifies = modified(resource.index() as u32, graph, plan).map(|of| (of, "modifies".to_owned()));
            for (of, label) in remembered.into_iter().chain(modifies) {
                let last = *self.of(of).last().expect("a resource has a version");
                let first = self.of(resource.index() as u32)[0];
                // Contents of earlier frames would turn the order of this one round.
                add(
                    out,
                    format_args!(
                        "  {} -> {} [style=dotted, label=\"{label}\", constraint=false];\n",
                        node(last),
                        node(first)
                    ),
                );
            }
        }
    }
}

/// The resource of the plan that a resource modifies.
fn modified(resource: u32, graph: &Graph, plan: &Plan) -> Option<u32> {
    let name = plan.resource_name(ResourceId::new(resource as usize));
    planned(graph.resources()[graph.find_resource(name)?].modifies?, graph, plan)
}

/// The position in the plan of a resource of the graph.
fn planned(resource: ResourceId, graph: &Graph, plan: &Plan) -> Option<u32> {
    let name = graph.resource_name(resource);
    plan.resource_names.iter().position(|other| other == name).map(|at| at as u32)
}

fn position(list: &[u32], wanted: u32) -> usize {
    list.iter().position(|one| *one == wanted).expect("it is one of the list")
}

fn node((resource, writer): Version) -> String {
    writer.map_or_else(|| format!("r{resource}"), |writer| format!("r{resource}_{writer}"))
}

/// The longest way to each pass through the flows, in passes.
fn depths(data: &PlanData) -> Vec<u32> {
    let mut before: HashMap<u32, Vec<u32>> = HashMap::new();
    for (&from, &to) in data.flows.from.iter().zip(&data.flows.to) {
        before.entry(to).or_default().push(from);
    }
    let mut depths: Vec<Option<u32>> = vec![None; data.passes.name.len()];
    for &pass in &data.shown {
        let known = before.get(&pass).into_iter().flatten().filter_map(|from| depths[*from as usize]);
        depths[pass as usize] = Some(known.max().map_or(0, |most| most + 1));
    }
    depths.into_iter().map(Option::unwrap_or_default).collect()
}

/// Positions of live passes by depth.
fn levels(data: &PlanData, depths: &[u32]) -> BTreeMap<u32, Vec<usize>> {
    let mut levels: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for pass in (0..depths.len()).filter(|pass| data.passes.culled[*pass] < 0) {
        levels.entry(depths[pass]).or_default().push(pass);
    }
    levels
}

/// From left to right, unless the drawing would be more than twice as long as it is high.
fn direction(data: &PlanData, depths: &[u32]) -> &'static str {
    let levels = levels(data, depths);
    let widest = levels.values().map(Vec::len).max().unwrap_or(1);
    if levels.len() as f64 * ALONG > 2.0 * widest as f64 * ACROSS * 2.0 { "TB" } else { "LR" }
}

/// A legend of the queues that passes run on.
fn queues(out: &mut String, data: &PlanData) {
    let live = (0..data.passes.name.len()).filter(|pass| data.passes.culled[*pass] < 0);
    let used: BTreeSet<i32> = live.map(|pass| data.passes.queue[pass]).collect();
    if used.len() < 2 {
        return;
    }
    *out += "  subgraph cluster_queues {\n    label=\"queues\"; fontname=\"Helvetica,Arial,sans-serif\"; color=\"#d7dce3\";\n";
    for queue in used {
        let name = usize::try_from(queue).map_or("host", |queue| &data.queues[queue].name);
        add(out, format_args!("    q{} [label={}, {}];\n", queue + 1, quote(name), colours(data, queue)));
    }
    *out += "  }\n";
}

fn colours(data: &PlanData, queue: i32) -> String {
    let [fill, edge, ink] = QUEUES[queue_kind(data, queue)];
    format!("shape=box, style=filled, fillcolor=\"{fill}\", color=\"{edge}\", fontcolor=\"{ink}\"")
}

/// Boxes of passes; merged ones in a frame for their render pass.
fn passes(out: &mut String, data: &PlanData) {
    let mut merged: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for pass in 0..data.passes.name.len() {
        if data.passes.culled[pass] < 0 && data.passes.physical[pass] >= 0 {
            merged.entry(data.passes.physical[pass]).or_default().push(pass);
        }
    }
    merged.retain(|_, passes| passes.len() > 1);
    let mut framed = BTreeSet::new();
    for (physical, passes) in &merged {
        add(
            out,
            format_args!(
                "  subgraph cluster_{physical} {{\n    label=\"render pass {physical}\"; fontname=\"Helvetica,Arial,sans-serif\"; \
             fontsize=9; color=\"#8a94a3\"; style=dashed;\n"
            ),
        );
        for &pass in passes {
            framed.insert(pass);
            *out += "  ";
            pass_node(out, data, pass);
        }
        *out += "  }\n";
    }
    for pass in (0..data.passes.name.len()).filter(|pass| !framed.contains(pass)) {
        pass_node(out, data, pass);
    }
}

fn pass_node(out: &mut String, data: &PlanData, pass: usize) {
    let label = quote(&data.passes.name[pass]);
    if data.passes.culled[pass] >= 0 {
        let why = quote(data.texts.get(data.passes.culled[pass]));
        add(out, format_args!("  p{pass} [label={label}, tooltip={why}, shape=box, style=dashed];\n"));
        return;
    }
    let queue = data.passes.queue[pass];
    let time = if data.passes.us[pass] > 0.0 { time_phrase(f64::from(data.passes.us[pass])) } else { String::new() };
    add(out, format_args!("  p{pass} [label={label}, tooltip={}, {}];\n", quote(&time), colours(data, queue)));
}

/// Live passes of equal depth on one rank.
fn ranks(out: &mut String, data: &PlanData, depths: &[u32]) {
    for passes in levels(data, depths).values().filter(|passes| passes.len() > 1) {
        let names: Vec<String> = passes.iter().map(|pass| format!("p{pass}")).collect();
        add(out, format_args!("  {{ rank=same; {}; }}\n", names.join("; ")));
    }
}

fn add(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing into memory does not fail");
}

/// A string of the DOT language.
fn quote(text: &str) -> String {
    format!("\"{}\"", plain(text).replace('\\', "\\\\").replace('"', "\\\""))
}
