//! Graphs that differ a little from each other: `deferred` frames, the other families, and edits of any graph.

use std::ops::Range;

use rgraph_plan::access::Usage;
use rgraph_plan::graph::{Access, PassId};
use rgraph_plan::id::Id;
use rgraph_plan::prelude::*;

/// How many graphs an edit makes: more than the placements that a scratch keeps.
pub const VARIANTS: usize = 9;

/// A change: the graphs before it, taken in turn, and those after it.
pub type Edit = (&'static str, fn(&Graph) -> [Vec<Graph>; 2]);

/// All changes.
pub const EDITS: [Edit; 5] = [
    ("weight", |graph| {
        let measured = weighted(graph, 0, 5.0);
        [vec![measured.clone()], variants(|at| weighted(&measured, at, 11.0))]
    }),
    ("usage", |graph| {
        let changed = |at| place(graph, at).index()..place(graph, at).index() + 1;
        [vec![graph.clone()], variants(|at| used(graph, changed(at), false))]
    }),
    ("added", |graph| [vec![graph.clone()], variants(|at| probed(graph, |one| one == at))]),
    ("removed", |graph| [vec![probed(graph, |_| true)], variants(|at| probed(graph, |one| one != at))]),
    ("module", |graph| {
        let module = |at: usize| place(graph, at).index() / module_len(graph) * module_len(graph);
        let changed = |at| module(at)..module(at) + module_len(graph);
        [vec![used(graph, 0..0, true)], variants(|at| used(graph, changed(at), true))]
    }),
];

fn variants(of: impl Fn(usize) -> Graph) -> Vec<Graph> {
    (0..VARIANTS).map(of).collect()
}

/// Modules of a graph that has them.
const MODULES: usize = 100;

/// The pass at the middle of one of so many equal parts of a graph.
fn place(graph: &Graph, at: usize) -> PassId {
    PassId::new((2 * at + 1) * graph.passes().len() / (2 * VARIANTS))
}

/// One pass takes so many microseconds.
fn weighted(graph: &Graph, at: usize, us: f64) -> Graph {
    let mut graph = graph.clone();
    graph.pass_mut(place(&graph, at)).weight_us = Some(us);
    graph
}

/// Passes read as storage images what they sampled before.
fn used(graph: &Graph, changed: Range<usize>, in_modules: bool) -> Graph {
    let how = |access: &Access| match access.usage {
        Usage::Sampled if changed.contains(&access.pass.index()) => Usage::StorageRead,
        usage => usage,
    };
    declared(graph, in_modules, how, |_, _| {})
}

/// Passes that sample what others drew, before some passes of a graph.
fn probed(graph: &Graph, chosen: impl Fn(usize) -> bool) -> Graph {
    let probe = |new: &mut Graph, before: PassId| {
        let Some(at) = (0..VARIANTS).find(|&at| place(graph, at) == before && chosen(at)) else { return };
        let mut drawn = graph.accesses().iter().filter(|access| access.usage == Usage::ColorAttachment);
        let seen = drawn.rfind(|access| access.pass < before).expect("a pass before it draws").resource;
        let out = new.buffer(&format!("probe buffer {at}"), 4096);
        let pass = new.pass(&format!("probe {at}"), PassQueue::Graphics);
        pass.sampled(seen).storage_write(out).side_effects();
    };
    declared(graph, false, |access| access.usage, probe)
}

/// Declares a graph again, with other usages and with passes before some of its own.
fn declared(
    of: &Graph,
    in_modules: bool,
    usage: impl Fn(&Access) -> Usage,
    before: impl Fn(&mut Graph, PassId),
) -> Graph {
    let mut graph = Graph::new(of.name(), of.reference_size());
    for (id, resource) in of.resources().iter_ids() {
        graph.add_resource(of.resource_name(id), resource.clone(), None);
    }
    let mut accesses = of.accesses().iter().peekable();
    let mut slot = None;
    for (id, pass) in of.passes().iter_ids() {
        before(&mut graph, id);
        if in_modules && id.index() % module_len(of) == 0 {
            slot = Some(graph.add_slot(&format!("module {}", id.index()), None));
        }
        let new = graph.add_pass(of.pass_name(id), Pass { slot, ..pass.clone() }, None);
        while let Some(access) = accesses.next_if(|access| access.pass == id) {
            let details = of.details_of(access);
            let how = Use { load: access.load, details, ..Use::new(usage(access)) };
            graph.access(new, access.resource, &how, None);
        }
    }
    of.roots().iter().for_each(|&root| graph.root(root));
    graph
}

fn module_len(graph: &Graph) -> usize {
    graph.passes().len().div_ceil(MODULES)
}

/// Views of sixteen passes each, drawn one after the other: g-buffer, shadows, occlusion, light, bloom; a last pass
/// takes all views together.
pub fn deferred(n: usize) -> Graph {
    let mut g = Graph::new("deferred", [1920, 1080]);
    let mut shown = Vec::new();
    for view in 0..n.div_ceil(16) {
        let scaled = |scale| Size::scaled(None, scale, scale);
        let image =
            |g: &mut Graph, name: &str, format, scale| g.sized_image(&format!("{name} {view}"), format, scaled(scale));
        let name = |pass: &str| format!("{pass} {view}");
        let depth = image(&mut g, "depth", Format::Depth32float, 1.0);
        let [albedo, normal] = ["albedo", "normal"].map(|name| image(&mut g, name, Format::Rgba8unorm, 1.0));
        g.pass(&name("prepass"), PassQueue::Graphics).depth_cleared(depth, 0.0);
        g.pass(&name("g-buffer"), PassQueue::Graphics).color(albedo).color(normal).depth(depth);
        let shadows = [0, 1, 2, 3].map(|at| {
            let shadow = image(&mut g, &format!("shadow {at} of"), Format::Depth32float, 0.5);
            g.pass(&name(&format!("shadow {at} of")), PassQueue::Graphics).depth_cleared(shadow, 1.0);
            shadow
        });
        let [occlusion, across, blurred] =
            ["occlusion", "across", "blurred"].map(|name| image(&mut g, name, Format::R8unorm, 0.5));
        g.pass(&name("occlude"), PassQueue::AsyncCompute).sampled(depth).sampled(normal).storage_write(occlusion);
        g.pass(&name("blur across"), PassQueue::AsyncCompute).sampled(occlusion).storage_write(across);
        g.pass(&name("blur down"), PassQueue::AsyncCompute).sampled(across).storage_write(blurred);
        let lit = image(&mut g, "lit", Format::Rgba16float, 1.0);
        let light = g.pass(&name("light"), PassQueue::Graphics).sampled(albedo).sampled(normal).sampled(blurred);
        shadows.iter().fold(light, |light, &shadow| light.sampled(shadow)).sampled(depth).color(lit);
        g.pass(&name("transparent"), PassQueue::Graphics).color(lit).depth_read(depth);
        let mut bloom = lit;
        for (at, scale) in [0.5, 0.25, 0.125].into_iter().enumerate() {
            let smaller = image(&mut g, &format!("bloom {at} of"), Format::Rgba16float, scale);
            g.pass(&name(&format!("bloom {at} of")), PassQueue::Graphics).sampled(bloom).color(smaller);
            bloom = smaller;
        }
        let mapped = image(&mut g, "mapped", Format::Rgba8unorm, 1.0);
        g.pass(&name("tonemap"), PassQueue::Graphics).sampled(lit).sampled(bloom).color(mapped);
        shown.push(mapped);
    }
    let out = g.image("out", Format::Rgba8unorm);
    let all = g.pass("all views", PassQueue::Graphics);
    shown.into_iter().fold(all, |all, view| all.sampled(view)).color(out);
    g.root(out);
    g
}
