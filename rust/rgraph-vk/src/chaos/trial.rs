//! Trials: a graph compiled in one permitted way, run from the beginning, and all that it leaves.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

use rgraph_plan::access::Usage;
use rgraph_plan::bake::{Options, Without};
use rgraph_plan::error::Code;
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::plan::{Plan, PlanKind};
use rgraph_plan::prelude::Policy;
use rgraph_plan::profile::{Capabilities, Profile};
use rgraph_plan::resource::{Life, ResourceId};

use crate::chaos::ChaosOptions;
use crate::chaos::poison::Poison;
use crate::chaos::report::{ChaosReport, Difference};
use crate::chaos::spec::ChaosSpec;
use crate::compile::compiled_graph::CompiledGraph;
use crate::device::Device;
use crate::error::Error;
use crate::frame::inputs::{Inputs, Upload};
use crate::memory::readback::Readback;
use crate::run::compiled::Compiled;
use crate::work::{Work, Workload};

/// The queues that a trial is planned for. What the device has not is folded onto what it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Queues {
    /// One that does everything.
    One,
    /// Graphics, compute and transfer, of three families.
    Three,
    /// The device's own.
    Own,
}

/// One permitted way to run a graph.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub queues: Queues,
    pub options: Options,
    /// Seed of the order of batches.
    pub batches: Option<u64>,
    pub poison: Poison,
    /// A pass that runs whether a root needs it or not.
    pub kept: Option<PassId>,
    /// Passes that do nothing.
    pub idle: Vec<PassId>,
    /// Whether all intermediate results are roots too.
    pub exposed: bool,
}

/// What a trial left.
pub(crate) struct Outcome {
    pub plan: Arc<Plan>,
    /// By frame: resources of the graph.
    pub frames: Vec<Vec<(ResourceId, Readback)>>,
}

/// A trial that ran, or the reason why it could not.
pub(crate) enum Tried {
    Ran(Outcome),
    Cannot(String),
}

/// What is run: a graph and its inputs, which are the same in each trial.
pub(crate) struct Subject<'a> {
    device: &'a Device,
    workload: &'a Workload,
    inputs: &'a Inputs<'a>,
    /// Contents of inputs that are resources of the device, as they were before.
    copies: Vec<(ResourceId, Vec<u8>)>,
    frames: usize,
    plan: Option<Arc<Plan>>,
    /// Resources that cannot be roots: a pass that may be off writes them.
    hidden: RefCell<HashSet<ResourceId>>,
    /// Frames that ran.
    pub runs: Cell<u64>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(
        device: &'a Device,
        workload: &'a Workload,
        inputs: &'a Inputs<'a>,
        options: &ChaosOptions,
    ) -> Result<Self, Error> {
        let mut copies = Vec::new();
        for (id, upload) in &inputs.uploads {
            let Upload::Resource(resource) = upload else { continue };
            if let PlanKind::Image { format, mips, samples, .. } = resource.kind() {
                let planes = format.aspects().bits().count_ones();
                if mips > 1 || samples > 1 || planes > 1 {
                    let message = format!(
                        "\"{}\" has mips, samples or stencil, which cannot be copied for each trial of a chaos run",
                        resource.name()
                    );
                    return Err(Error::input(resource.name(), message, "give an array, or an image of one mip"));
                }
            }
            copies.push((*id, resource.read()?.bytes().to_vec()));
        }
        let resources = workload.graph.resources();
        let deepest = resources.iter().map(|resource| match resource.life {
            Life::History(history) => history.frames as usize + 1,
            Life::Persistent => 2,
            _ => 1,
        });
        let frames = options.frames.unwrap_or_else(|| deepest.max().unwrap_or(1)).max(1);
        Ok(Self {
            device,
            workload,
            inputs,
            copies,
            frames,
            plan: options.plan.clone(),
            hidden: RefCell::default(),
            runs: Cell::new(0),
        })
    }

    /// The graph as it was declared.
    pub(super) fn graph(&self) -> &Graph {
        &self.workload.graph
    }

    /// The trial that others are compared with, and what it leaves.
    pub(super) fn reference(&self, report: &mut ChaosReport) -> Result<(Trial, Outcome), Error> {
        let options = Options { policy: Policy::Declared, effort: 0, without: Without::ALL, ..Options::default() };
        let trial = |without: Without| Trial {
            queues: Queues::One,
            options: Options { without, ..options },
            batches: None,
            poison: Poison::default(),
            kept: None,
            idle: Vec::new(),
            exposed: false,
        };
        // What no root needs may lack inputs or work, and without aliasing there may be too little memory.
        let without = [(true, true), (false, true), (true, false), (false, false)];
        let mut refused = None;
        for (culling, aliasing) in without {
            let trial = trial(Without { culling, merging: true, aliasing });
            match self.run(&trial) {
                Ok(outcome) => {
                    let why = |error: Error| format!("the reference leaves fewer stages out: {}", first_line(&error));
                    report.notes.extend(refused.map(why));
                    return Ok((trial, outcome));
                }
                Err(error @ Error::Callback(_)) => return Err(error),
                Err(error) if error.is_lost() => return Err(error),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.expect("each of the four was refused"))
    }

    /// Runs a trial; `None` as reference: it is one that ran before. Functions of the caller's may keep state that
    /// outlives a run, so the reference runs again first: each trial finds the state that it leaves.
    pub(super) fn tried(&self, trial: &Trial, reference: Option<&Trial>) -> Result<Tried, Error> {
        let functions = self.workload.works.values().any(|work| !matches!(work, Work::Steps(_)));
        if let Some(reference) = reference.filter(|_| functions) {
            self.run(reference)?;
        }
        match self.run(trial) {
            Ok(outcome) => Ok(Tried::Ran(outcome)),
            Err(error) => match code(&error) {
                Some(Code::OutOfMemory | Code::NoMemory) if reference.is_some() => {
                    Ok(Tried::Cannot(first_line(&error)))
                }
                _ => Err(error),
            },
        }
    }

    fn profile(&self, queues: Queues) -> Profile {
        let own = self.device.profile();
        match queues {
            Queues::Own => own.clone(),
            Queues::Three => Profile { queues: Profile::discrete().queues, ..own.clone() },
            Queues::One => {
                let graphics = own.queues.iter().find(|queue| queue.capabilities.contains(Capabilities::GRAPHICS));
                let first = graphics.or(own.queues.first()).cloned();
                let queues = first.map(|queue| rgraph_plan::profile::Queue { count: 1, ..queue }).into_iter().collect();
                Profile { queues, ..own.clone() }
            }
        }
    }

    /// The graph of a trial. What it writes for others is a root: those resources outlive the frame anyway.
    /// Acceleration structures and their scratch memory are none: only a driver knows what their bytes mean, and it may
    /// vary.
    fn graph_of(&self, trial: &Trial) -> Graph {
        let mut graph = self.workload.graph.clone();
        let written: HashSet<ResourceId> =
            graph.accesses().iter().filter(|access| has_bytes(access.usage)).map(|access| access.resource).collect();
        let modified: HashSet<ResourceId> = graph.resources().iter().filter_map(|one| one.modifies).collect();
        let hidden = self.hidden.borrow();
        let shown = |id: ResourceId| {
            let resource = &self.workload.graph.resources()[id];
            let kept = match resource.life {
                Life::Imported(_) => true,
                Life::Transient | Life::Fresh => trial.exposed && !modified.contains(&id),
                _ => false,
            };
            kept && written.contains(&id) && !hidden.contains(&id) && !self.workload.graph.is_root(id)
        };
        let more: Vec<_> = graph.resources().ids().filter(|id| shown(*id)).collect();
        more.into_iter().for_each(|id| graph.root(id));
        if let Some(kept) = trial.kept {
            graph.pass_mut(kept).side_effects = true;
        }
        graph
    }

    /// Compiles a trial without the roots that it cannot have.
    fn compile(&self, trial: &Trial) -> Result<Compiled, Error> {
        loop {
            let error = match self.compile_once(trial) {
                Err(Error::Graph(error)) => error,
                other => return other,
            };
            let named = error.mistakes().iter().map(|mistake| self.graph().find_resource(mistake.resource.as_deref()?));
            let added = |id: ResourceId| !self.graph().is_root(id) && !self.hidden.borrow().contains(&id);
            let Some(all) = named.map(|id| id.filter(|id| added(*id))).collect::<Option<Vec<_>>>() else {
                return Err(error.into());
            };
            self.hidden.borrow_mut().extend(all);
        }
    }

    fn compile_once(&self, trial: &Trial) -> Result<Compiled, Error> {
        let workload = Workload { graph: self.graph_of(trial), works: self.workload.works.clone() };
        // What races with itself is found as an order that matters, or where a plan lets it overlap.
        let serial = trial.queues == Queues::One;
        let (poison, idle) = (trial.poison.clone(), trial.idle.clone());
        let spec = ChaosSpec { poison, batches: trial.batches, idle, serial };
        let shared = &self.device.0;
        let planned = self.plan.as_ref().filter(|_| trial.queues == Queues::Own && !trial.exposed);
        Compiled::of_trial(match planned {
            Some(plan) => CompiledGraph::with(shared, workload, plan.clone(), 0.0, Some(spec))?,
            None => {
                let profile = self.profile(trial.queues);
                CompiledGraph::bake_for(shared, workload, (&profile, &trial.options), Some(spec))?
            }
        })
    }

    /// Runs a trial from the beginning.
    pub(super) fn run(&self, trial: &Trial) -> Result<Outcome, Error> {
        let compiled = self.compile(trial)?;
        let given = |(id, upload): &(ResourceId, Upload<'a>)| {
            let copy = self.copies.iter().find(|(of, _)| of == id);
            (*id, copy.map_or(*upload, |(_, bytes)| Upload::Bytes(bytes)))
        };
        let inputs = Inputs {
            uploads: self.inputs.uploads.iter().map(given).collect(),
            anew: self.inputs.anew,
            first: self.inputs.first.clone(),
            data: self.inputs.data.clone(),
            push: self.inputs.push.clone(),
            targets: self.inputs.targets.clone(),
            flags: self.inputs.flags.clone(),
            poll: self.inputs.poll,
            ..Inputs::default()
        };
        let mut frames = Vec::with_capacity(self.frames);
        for _ in 0..self.frames {
            frames.push(compiled.run_plainly(&inputs)?);
            self.runs.set(self.runs.get() + 1);
        }
        let read = |frame: &crate::Frame| {
            let all: Vec<_> = frame.readable().collect();
            all.into_iter().map(|id| Ok((id, frame.read(id)?))).collect::<Result<Vec<_>, Error>>()
        };
        Ok(Outcome { plan: compiled.plan().clone(), frames: frames.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// The first resource, in the order of declaration, that two trials leave differently in the earliest frame.
    pub(super) fn difference(&self, wanted: &Outcome, outcome: &Outcome) -> Option<Difference> {
        self.differences(wanted, outcome).into_iter().next()
    }

    /// All resources that two trials leave differently in the earliest frame in which any does.
    pub(super) fn differences(&self, wanted: &Outcome, outcome: &Outcome) -> Vec<Difference> {
        for (number, (one, two)) in wanted.frames.iter().zip(&outcome.frames).enumerate() {
            let mut all: Vec<Difference> = Vec::new();
            for (id, bytes) in one {
                let other = two.iter().find(|(of, _)| of == id);
                let Some((_, other)) = other.filter(|(_, other)| other.bytes() != bytes.bytes()) else { continue };
                let pairs = bytes.bytes().iter().zip(other.bytes());
                all.push(Difference {
                    resource: *id,
                    name: self.graph().resource_name(*id).to_owned(),
                    frame: number,
                    bytes: pairs.filter(|(one, two)| one != two).count(),
                    of: bytes.bytes().len(),
                });
            }
            all.sort_by_key(|one| one.resource);
            if !all.is_empty() {
                return all;
            }
        }
        Vec::new()
    }
}

/// Whether a usage writes bytes that a declaration defines.
fn has_bytes(usage: Usage) -> bool {
    let opaque = matches!(usage, Usage::AccelerationBuild | Usage::AccelerationUpdate | Usage::AccelerationScratch);
    usage.writes() && !opaque
}

fn code(error: &Error) -> Option<Code> {
    match error {
        Error::Graph(error) => error.mistakes().first().map(|mistake| mistake.code),
        Error::Device(error) => Some(error.code),
        _ => None,
    }
}

fn first_line(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
