//! How arrays of a compiled graph are seen, and the first contents of what lives in it from run to run.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use rgraph_plan::access::{Load, Usage};
use rgraph_plan::error::Mistake;
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::plan::{Plan, PlanKind};
use rgraph_plan::resource::{Life, ResourceId};
use rgraph_shader::Type;
use rgraph_vk::work::{Step, View, What, Work, Workload};

use crate::classes::array_layout::{ArrayLayout, Kept, Seen};
use crate::classes::graph::PyGraph;
use crate::run::error::{Refusal, one};

/// Kinds of a graph's resources, sizes resolved.
pub enum Kinds {
    /// As in a plan of the whole graph.
    Plan(Arc<Plan>),
    /// By resource.
    All(IdVec<ResourceId, PlanKind>),
}

impl Kinds {
    /// What a resource is.
    pub fn of(&self, id: ResourceId) -> &PlanKind {
        match self {
            Self::Plan(plan) => &plan.resources[id].kind,
            Self::All(kinds) => &kinds[id],
        }
    }
}

/// Packed bytes of a resource.
pub(crate) type Packed = (ResourceId, Arc<[u8]>);

/// Changes of resources that live from run to run, for the next run.
#[derive(Default)]
pub struct Pending {
    /// Whether it is reset.
    pub reset: bool,
    /// New contents.
    pub states: Vec<Packed>,
}

/// What passes do in commands.
pub(super) fn steps(load: &Workload) -> impl Iterator<Item = (PassId, &Step)> {
    let steps = load.works.iter().filter_map(|(pass, work)| match work {
        Work::Steps(steps) => Some(steps.iter().map(|step| (*pass, step))),
        _ => None,
    });
    steps.flatten()
}

/// Buffers that shaders read or write, with their types there.
pub(super) fn bound(load: &Workload) -> impl Iterator<Item = (PassId, View, &Type)> {
    steps(load).flat_map(|(pass, step)| {
        let (program, bound) = match step {
            Step::Dispatch(dispatch) => (Some(&dispatch.program), Some(&dispatch.bound)),
            Step::Draw(draw) => (Some(&draw.program), Some(&draw.bound)),
            Step::Trace(trace) => (Some(&trace.program), Some(&trace.bound)),
            Step::Transfer(_) | Step::Build(_) | Step::Instances(_) => (None, None),
        };
        bound.into_iter().flat_map(|bound| bound.iter()).filter_map(move |one| {
            let What::Resource(view) = &one.what else { return None };
            Some((pass, *view, program?.interface.bindings[one.binding as usize].ty.as_ref()?))
        })
    })
}

/// How the resources of a workload are seen: as its Python graph declares, else as its shaders read buffers, where all
/// read one alike.
pub(crate) fn seen(load: &Workload, origin: Option<&Bound<'_, PyGraph>>) -> HashMap<ResourceId, Seen> {
    let mut all: HashMap<ResourceId, Option<Seen>> = HashMap::new();
    for (_, view, ty) in bound(load) {
        let seen = Some(Seen::Shader(ty.clone()));
        let known = all.entry(view.resource).or_insert_with(|| seen.clone());
        if *known != seen {
            *known = None;
        }
    }
    let mut all: HashMap<_, _> = all.into_iter().filter_map(|(id, seen)| Some((id, seen?))).collect();
    if let Some(origin) = origin {
        origin.get().read(|state| {
            let Some(graph) = state.graph.as_ref().filter(|_| !state.seen.is_empty()) else { return };
            let declared = graph.resources().ids().filter_map(|id| Some((id, state.seen_of(id)?)));
            all.extend(
                declared
                    .filter_map(|(id, seen)| Some((load.graph.find_resource(graph.resource_name(id))?, seen.clone()))),
            );
        });
    }
    all
}

/// Notes about passes of a plan that have neither shader nor function, and clear nothing either.
pub(crate) fn idle(load: &Workload, plan: &Plan) -> Vec<String> {
    let graph = &load.graph;
    let clears = |access: &rgraph_plan::graph::Access| {
        access.load == Some(Load::Clear) || matches!(access.usage, Usage::ResolveAttachment | Usage::Present)
    };
    let mut works = vec![false; graph.passes().len()];
    for access in graph.accesses().iter().filter(|access| clears(access) || access.generate_mips) {
        works[access.pass.index()] = true;
    }
    for pass in load.works.keys() {
        works[pass.index()] = true;
    }
    let idle = plan.passes.iter_ids().filter_map(|(id, _)| graph.find_pass(plan.pass_name(id)));
    let idle = idle.filter(|pass| !works[pass.index()]);
    idle.map(|pass| {
        let name = graph.pass_name(pass);
        format!("pass \"{name}\" has neither shader nor function: it does nothing; declare it with compute(), raster() or execute=")
    })
    .collect()
}

/// A note about images for which neither they nor the graph give a size; culled ones do not count.
pub(crate) fn without_size(load: &Workload, plan: &Plan, origin: &Bound<'_, PyGraph>) -> Option<String> {
    if !origin.get().read(|state| state.unsized_graph) {
        return None;
    }
    let graph = &load.graph;
    let unsaid = plan.resources.iter_ids().filter_map(|(id, _)| {
        let name = plan.resource_name(id);
        let resource = &graph.resources()[graph.find_resource(name)?];
        let own = resource.modifies.is_none() && !matches!(resource.life, Life::History(_));
        (own && resource.as_image()?.size.is_none()).then(|| format!("\"{name}\""))
    });
    let unsaid: Vec<_> = unsaid.collect();
    let (first, rest) = unsaid.split_first()?;
    let others = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let [width, height] = graph.reference_size();
    Some(format!(
        "{first}{others} is {width}x{height} only because no size is declared: give image() or Graph() a size"
    ))
}

/// A mistake about the array of a resource, with the line that declares it.
pub(crate) fn declared(graph: &Graph, id: ResourceId, kind: &PlanKind, mistake: Mistake) -> Refusal {
    let (name, place) = (graph.resource_name(id), graph.resource_place(id).cloned());
    let what = match kind {
        PlanKind::Image { size: [width, height, _], format, .. } => format!("size ({width}, {height}) of {format}"),
        PlanKind::Buffer { size } => format!("{size} bytes"),
    };
    Box::new(mistake.resource(name).side(name, format!("declared here, {what}"), place))
}

/// Contents of resources before the first run.
///
/// # Errors
/// If an array does not fit.
pub(crate) fn first(
    (load, kinds): (&Workload, &Kinds),
    origin: Option<&Bound<'_, PyGraph>>,
    seen: &HashMap<ResourceId, Seen>,
) -> PyResult<Vec<Packed>> {
    let Some(origin) = origin else { return Ok(Vec::new()) };
    let given: Vec<(ResourceId, Kept)> = origin.get().read(|state| {
        let Some(graph) = &state.graph else { return Vec::new() };
        let here = |id| load.graph.find_resource(graph.resource_name(id));
        let mut given: Vec<_> = state.first.iter().filter_map(|(id, kept)| Some((here(*id)?, kept.clone()))).collect();
        given.sort_by_key(|(id, _)| *id);
        given
    });
    let pack = |(id, kept): (ResourceId, Kept)| {
        let what = format!("the first array of \"{}\"", load.graph.resource_name(id));
        let kind = kinds.of(id);
        let layout = ArrayLayout::for_array((kind, seen.get(&id)), &kept.form, &what)
            .map_err(|mistake| one(origin.py(), declared(&load.graph, id, kind, *mistake)))?;
        Ok((id, layout.pack(&kept.form, &kept.bytes).into()))
    };
    given.into_iter().map(pack).collect()
}
