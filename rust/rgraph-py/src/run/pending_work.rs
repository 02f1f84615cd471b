//! What passes do, as declared: the work of `rgraph-vk`, with resources that may still be names.
//!
//! Ids in pending work count in its own table, so that it means the same whatever happens to the graph
//! meanwhile: passes and resources are found by their names when a workload is made.

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::prelude::*;
use rgraph_plan::graph::{Graph, PassId, Place};
use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Given, Program};
use rgraph_vk::work::{
    Bound as BoundTo, Build, Dispatch, Draw, DrawCount, Geometry, Groups, Level, Step, Trace, Transfer, What, Work,
    Workload,
};
use rgraph_work::infer::Check;

use crate::run::targets::Targets;
use crate::run::unresolved::{self, Target, find_outwards};

/// Pending work of a pass.
pub struct PendingWork {
    pub pass: PassId,
    /// Names are looked for in this module first, then outwards.
    pub prefix: Arc<str>,
    /// Where it was declared.
    pub place: Option<Place>,
    /// The resources that `todo` counts.
    pub table: Targets,
    /// The work.
    pub todo: Todo,
    /// Requirements of the shaders on the resources.
    pub checks: Vec<Check>,
    /// Whether the checks wait for names to be declared.
    pub open: bool,
}

/// See [`PendingWork`].
pub enum Todo {
    /// Dispatches, draws, transfers.
    Steps(Arc<[Step]>),
    /// A function that runs on the host.
    Host(Py<PyAny>),
    /// A function that records the steps.
    Record(Py<PyAny>),
}

impl Todo {
    /// The same, held once more.
    pub fn copy(&self, py: Python<'_>) -> Self {
        match self {
            Self::Steps(steps) => Self::Steps(Arc::clone(steps)),
            Self::Host(function) => Self::Host(function.clone_ref(py)),
            Self::Record(function) => Self::Record(function.clone_ref(py)),
        }
    }

    /// The function, if it is one.
    pub fn function(&self) -> Option<&Py<PyAny>> {
        match self {
            Self::Steps(_) => None,
            Self::Host(function) | Self::Record(function) => Some(function),
        }
    }
}

impl PendingWork {
    /// The work of the passes of a graph that was read.
    pub fn of_work(load: Workload) -> Vec<Self> {
        let Workload { graph, works } = load;
        let mut works: Vec<_> = works.into_iter().collect();
        works.sort_by_key(|(pass, _)| *pass);
        let pending = |(pass, work)| {
            let Work::Steps(steps) = work else { return None };
            let table = RefCell::new(Vec::<Target>::new());
            let find = |id| {
                let mut table = table.borrow_mut();
                let known = table.iter().position(|known| known.known() == Some(id));
                Some(ResourceId::new(known.unwrap_or_else(|| {
                    table.push(Target::Known(id));
                    table.len() - 1
                })))
            };
            let name = graph.pass_name(pass);
            let steps = steps.iter().map(|step| renamed(step, name, &find)).collect::<Option<_>>()?;
            let table = table.into_inner().as_slice().into();
            let place = graph.pass_place(pass).cloned();
            let todo = Todo::Steps(steps);
            Some(Self { pass, prefix: "".into(), place, table, todo, checks: Vec::new(), open: false })
        };
        works.into_iter().filter_map(pending).collect()
    }

    /// The sources of its shaders.
    pub fn sources(&self) -> impl Iterator<Item = &Given> {
        let steps = if let Todo::Steps(steps) = &self.todo { &**steps } else { &[] };
        fn program(step: &Step) -> Option<&Arc<Program>> {
            match step {
                Step::Dispatch(dispatch) => Some(&dispatch.program),
                Step::Draw(draw) => Some(&draw.program),
                Step::Trace(trace) => Some(&trace.program),
                Step::Transfer(_) | Step::Build(_) | Step::Instances(_) => None,
            }
        }
        steps.iter().filter_map(program).flat_map(|program| &program.sources)
    }

    /// The same, for a copy of the graph.
    pub fn copy(&self, py: Python<'_>) -> Self {
        Self {
            pass: self.pass,
            prefix: self.prefix.clone(),
            place: self.place.clone(),
            table: self.table.clone(),
            todo: self.todo.copy(py),
            checks: self.checks.clone(),
            open: self.open,
        }
    }

    /// The resource that a position in the table means, in `graph`, of which its names are part.
    pub fn find(&self, graph: &Graph, at: ResourceId) -> Option<ResourceId> {
        match self.table.get(at)? {
            Target::Known(id) => Some(id),
            Target::Later(name) => find_outwards(&self.prefix, &name, |full| graph.find_resource(full)),
        }
    }

    /// The same by name in another copy of the graph.
    pub fn find_in(&self, graph: &Graph, copy: &Graph, at: ResourceId) -> Option<ResourceId> {
        copy.find_resource(graph.resource_name(self.find(graph, at)?))
    }
}

/// Resources of pending work that is being made, each once.
#[derive(Default)]
pub(crate) struct Table {
    /// The resources.
    pub given: Vec<unresolved::Given<'static>>,
}

impl Table {
    /// The position of a resource, as an id.
    pub(crate) fn add(&mut self, given: unresolved::Given<'static>) -> ResourceId {
        let same = |known: &unresolved::Given<'_>| match (known, &given) {
            (unresolved::Given::Handle(_, a), unresolved::Given::Handle(_, b)) => a == b,
            (unresolved::Given::Name(a), unresolved::Given::Name(b)) => a == b,
            _ => false,
        };
        let at = self.given.iter().position(same).unwrap_or_else(|| {
            self.given.push(given.clone());
            self.given.len() - 1
        });
        ResourceId::new(at)
    }
}

/// The step with other resources, and with its shader called by its pass if it has no name; `None` where a resource is
/// not found.
pub(crate) fn renamed(step: &Step, pass: &str, find: &impl Fn(ResourceId) -> Option<ResourceId>) -> Option<Step> {
    let named = |program: &Arc<Program>| match program.name.is_empty() {
        true => Arc::new(program.renamed(pass)),
        false => Arc::clone(program),
    };
    Some(match step {
        Step::Dispatch(dispatch) => Step::Dispatch(Dispatch {
            program: named(&dispatch.program),
            bound: bound(&dispatch.bound, find)?,
            groups: grouped(dispatch.groups, find)?,
            push: dispatch.push.clone(),
            key: dispatch.key,
        }),
        Step::Draw(draw) => {
            let program = named(&draw.program);
            let mut draw = Draw { program, bound: bound(&draw.bound, find)?, ..draw.clone() };
            for buffer in &mut draw.vertex_buffers {
                buffer.buffer = find(buffer.buffer)?;
            }
            if let Some(index) = &mut draw.index {
                index.buffer = find(index.buffer)?;
            }
            if let DrawCount::Indirect { buffer, .. } = &mut draw.count {
                *buffer = find(*buffer)?;
            }
            Step::Draw(draw)
        }
        Step::Transfer(transfer) => Step::Transfer(transferred(transfer, find)?),
        Step::Build(build) => Step::Build(built(build, find)?),
        Step::Instances(instances) => {
            let mut instances = instances.clone();
            instances.to = find(instances.to)?;
            if let Some((from, _)) = &mut instances.transforms {
                *from = find(*from)?;
            }
            for one in &mut instances.all {
                one.structure = find(one.structure)?;
            }
            Step::Instances(instances)
        }
        Step::Trace(trace) => Step::Trace(Trace {
            program: named(&trace.program),
            bound: bound(&trace.bound, find)?,
            size: grouped(trace.size, find)?,
            ..trace.clone()
        }),
    })
}

fn grouped(groups: Groups, find: &impl Fn(ResourceId) -> Option<ResourceId>) -> Option<Groups> {
    Some(match groups {
        Groups::Fixed(groups) => Groups::Fixed(groups),
        Groups::Cover(resource, mip) => Groups::Cover(find(resource)?, mip),
        Groups::Indirect { buffer, offset } => Groups::Indirect { buffer: find(buffer)?, offset },
    })
}

fn built(build: &Build, find: &impl Fn(ResourceId) -> Option<ResourceId>) -> Option<Build> {
    let mut build = build.clone();
    (build.structure, build.scratch) = (find(build.structure)?, find(build.scratch)?);
    match &mut build.geometry {
        Geometry::Triangles { buffer, index, .. } => {
            *buffer = find(*buffer)?;
            if let Some(index) = index {
                index.buffer = find(index.buffer)?;
            }
        }
        Geometry::Boxes { buffer, .. } => *buffer = find(*buffer)?,
        Geometry::Instances { buffer, structures, .. } => {
            *buffer = find(*buffer)?;
            for structure in structures {
                *structure = find(*structure)?;
            }
        }
    }
    Some(build)
}

fn bound(all: &[BoundTo], find: &impl Fn(ResourceId) -> Option<ResourceId>) -> Option<Arc<[BoundTo]>> {
    let one = |bound: &BoundTo| {
        let mut bound = bound.clone();
        if let What::Resource(view) | What::Combined(view, _) | What::Texels(view, _) = &mut bound.what {
            view.resource = find(view.resource)?;
        }
        Some(bound)
    };
    all.iter().map(one).collect()
}

fn transferred(transfer: &Transfer, find: &impl Fn(ResourceId) -> Option<ResourceId>) -> Option<Transfer> {
    let mut transfer = transfer.clone();
    let level = |level: &mut Level| {
        level.image = find(level.image)?;
        Some(())
    };
    match &mut transfer {
        Transfer::CopyBuffer { from, to, .. } => (*from, *to) = (find(*from)?, find(*to)?),
        Transfer::CopyImage { from, to } | Transfer::Blit { from, to, .. } | Transfer::Resolve { from, to } => {
            level(from)?;
            level(to)?;
        }
        Transfer::BufferToImage { from, to, .. } => {
            *from = find(*from)?;
            level(to)?;
        }
        Transfer::ImageToBuffer { from, to, .. } => {
            level(from)?;
            *to = find(*to)?;
        }
        Transfer::Clear { image, .. } => image.resource = find(image.resource)?,
        Transfer::Fill { buffer, .. } => *buffer = find(*buffer)?,
    }
    Some(transfer)
}

/// A function that declares a pass's accesses when the graph is baked.
pub struct Setup {
    pub pass: PassId,
    /// Names are looked for in this module first.
    pub prefix: Arc<str>,
    /// Called with the pass.
    pub function: Py<PyAny>,
}

impl Setup {
    /// The same, held once more.
    pub fn copy(&self, py: Python<'_>) -> Self {
        Self { pass: self.pass, prefix: self.prefix.clone(), function: self.function.clone_ref(py) }
    }
}
