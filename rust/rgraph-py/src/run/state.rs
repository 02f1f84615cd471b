//! What a Python graph holds: the planner's graph, and what Python adds to it — names that nothing had declared yet
//! when they were used, functions, plans already made.
//!
//! The lock around a [`GraphState`] is held only while no Python code can run, so nobody ever waits for it with the
//! interpreter in hand: arguments are read before, exceptions are made after.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use crate::classes::array_layout::{Kept, Seen};
use crate::classes::places::Places;
use crate::run::anew::Anew;
use crate::run::error::{Refusal, refusal};
use crate::run::pending_work::{PendingWork, Setup};
use crate::run::per_run::PerRun;
use crate::run::plan_cache::Made;
use crate::run::spare;
use crate::run::unresolved::{AxisOf, Given, Reference, Target, Unresolved, find_outwards, offer, size_of};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::error::{Code, Mistake};
use rgraph_plan::graph::{Graph, PassId, SlotId};
use rgraph_plan::id::Id;
use rgraph_plan::resource::{Axis, History, Kind, Life, ResourceId};
use rgraph_vk::file::Picture;
use rgraph_work::infer::{self, MOST_LINKS, like_of};

/// Most passes or resources of one graph.
const MOST: usize = 4_000_000;

/// The graph that another one is a copy of: handles of what it had then mean the same in the copy.
#[derive(Clone, Copy)]
pub struct CopiedGraph {
    identity: u64,
    passes: usize,
    resources: usize,
}

/// A graph and what Python adds to it.
#[derive(Default)]
pub struct GraphState {
    /// The declaration; `None` once a setup function's working copy was baked.
    pub graph: Option<Graph>,
    /// Declarations that wait for names.
    pub unresolved: Vec<Unresolved>,
    /// Setup functions, in the order of their passes.
    pub setups: Vec<Setup>,
    /// Execute functions.
    pub executes: HashMap<PassId, Py<PyAny>>,
    /// Clear values, loads and viewports that are asked for at each run.
    pub per_run: Vec<PerRun>,
    /// Pending work of passes, in the order of declaration; only ever added to.
    pub pending: Vec<PendingWork>,
    /// Arrays that imported resources are uploaded from.
    pub arrays: HashMap<ResourceId, Py<PyAny>>,
    /// How arrays of resources are seen, where something is declared of that.
    pub seen: HashMap<ResourceId, Seen>,
    /// Contents of persistent resources and histories before the first frame.
    pub first: HashMap<ResourceId, Kept>,
    /// Pictures that imported resources were read from, if they have no array.
    pub pictures: Vec<(ResourceId, Arc<Picture>)>,
    /// The files that it was read from.
    pub files: Vec<PathBuf>,
    /// Extension points by full name, and whether they were declared or only extended so far.
    pub points: BTreeMap<Box<str>, (SlotId, bool)>,
    /// Places of layers.
    pub places: Places,
    /// Layers by full name, as `rgraph/_layers.py` keeps them.
    pub layers: Option<Py<PyDict>>,
    /// The last plans.
    pub made: Made,
    /// The declaration's hash, until something is declared.
    pub hash: Option<u128>,
    /// Whether checks of pending work wait for names.
    pub open: bool,
    /// The graph that it is a copy of, and the graphs that that one is a copy of.
    pub copied_from: Vec<CopiedGraph>,
    /// Removed declarations, and whether declarations replace earlier ones of the same name.
    pub anew: Anew,
    /// True if no reference size was given.
    pub unsized_graph: bool,
}

impl GraphState {
    /// A state around a declaration.
    pub fn new(graph: Graph) -> Self {
        Self { graph: Some(graph), ..Self::default() }
    }

    /// The state of a graph in which nothing is declared yet.
    pub fn empty(name: &str, reference_size: [u32; 2]) -> Self {
        let (graph, pending) = spare::take(name, reference_size);
        Self { graph: Some(graph), pending, ..Self::default() }
    }

    /// The same declaration and work, for a graph of its own; `identity` is this graph's. Functions and arrays are
    /// shared, plans are not.
    ///
    /// # Errors
    /// If this was a working copy whose bake is over.
    pub fn copy(&mut self, py: Python<'_>, identity: u64) -> Result<Self, Refusal> {
        let graph = self.open()?.clone();
        let here = CopiedGraph { identity, passes: graph.passes().len(), resources: graph.resources().len() };
        Ok(Self {
            pictures: self.pictures.clone(),
            files: self.files.clone(),
            graph: Some(graph),
            unresolved: self.unresolved.clone(),
            setups: self.setups.iter().map(|setup| setup.copy(py)).collect(),
            executes: self.executes.iter().map(|(pass, function)| (*pass, function.clone_ref(py))).collect(),
            per_run: self.per_run.iter().map(|one| one.copy(py)).collect(),
            pending: self.pending.iter().map(|pending| pending.copy(py)).collect(),
            arrays: self.arrays.iter().map(|(resource, array)| (*resource, array.clone_ref(py))).collect(),
            seen: self.seen.clone(),
            first: self.first.clone(),
            points: self.points.clone(),
            places: self.places.clone(),
            layers: None,
            made: Made::default(),
            hash: self.hash,
            open: self.open,
            anew: self.anew.copy(),
            unsized_graph: self.unsized_graph,
            copied_from: self.copied_from.iter().copied().chain([here]).collect(),
        })
    }

    /// Whether a resource of the graph `of` is one here too, `identity` being this graph's.
    pub fn has_resource(&self, identity: u64, of: u64, id: ResourceId) -> bool {
        of == identity || self.copied_from.iter().any(|one| one.identity == of && id.index() < one.resources)
    }

    /// The same of a pass.
    pub fn has_pass(&self, identity: u64, of: u64, id: PassId) -> bool {
        of == identity || self.copied_from.iter().any(|one| one.identity == of && id.index() < one.passes)
    }

    /// Whether it has work of passes, or contents of imported resources.
    pub fn works(&self) -> bool {
        !(self.pending.is_empty() && self.executes.is_empty() && self.arrays.is_empty() && self.pictures.is_empty())
    }

    /// The declaration.
    ///
    /// # Errors
    /// If this was a working copy whose bake is over.
    pub fn open(&mut self) -> Result<&mut Graph, Refusal> {
        match &mut self.graph {
            Some(graph) if graph.passes().len() < MOST && graph.resources().len() < MOST => Ok(graph),
            Some(_) => {
                let message = format!("a graph has at most {MOST} passes and as many resources");
                Err(refusal(Code::TooLarge, message, "split it into several graphs"))
            }
            None => Err(refusal(
                Code::BadAccess,
                "a pass was changed after its setup function had returned",
                "declare everything before returning; the next bake calls the function again",
            )),
        }
    }

    /// The resource that an argument means, seen from the module `prefix`.
    ///
    /// # Errors
    /// If it is another graph's, or not part of the copy that is being baked.
    pub fn target(&self, identity: u64, prefix: &str, given: &Given<'_>) -> Result<Target, Refusal> {
        match *given {
            Given::Handle(of, id) if self.has_resource(identity, of, id) => {
                if self.anew.resources.contains(&id) {
                    let name = self.graph.as_ref().map_or("", |graph| graph.resource_name(id));
                    return Err(refusal(Code::UnknownName, format!("\"{name}\" was removed"), "declare it again"));
                }
                let known = self.graph.as_ref().is_some_and(|graph| id.index() < graph.resources().len());
                known.then_some(Target::Known(id)).ok_or_else(|| {
                    let help = "declare resources before bake(), or on this graph in the setup function itself";
                    refusal(Code::UnknownName, "a resource was declared after this bake had begun", help)
                })
            }
            Given::Handle(..) => Err(refusal(
                Code::UnknownName,
                "a resource belongs to another graph",
                "use the handles that this graph's image() and buffer() returned, or names",
            )),
            Given::Name(ref name) => Ok(match self.find_here(prefix, name) {
                Some(id) => Target::Known(id),
                None => Target::Later((&**name).into()),
            }),
        }
    }

    /// The resource of that name in the module itself.
    fn find_here(&self, prefix: &str, name: &str) -> Option<ResourceId> {
        let graph = self.graph.as_ref()?;
        let found =
            if prefix.is_empty() { graph.find_resource(name) } else { graph.find_resource(&format!("{prefix}{name}")) };
        found.filter(|id| !self.anew.resources.contains(id))
    }

    /// Declares what now has its names; the rest stays. O(unresolved · depth of modules), and again for every link of
    /// a chain of images that have each other's format.
    pub fn resolve_names(&mut self) {
        if self.unresolved.is_empty() {
            return;
        }
        self.hash = None;
        loop {
            let before = self.unresolved.len();
            let unlike: Vec<_> = self.unresolved.iter().filter_map(Unresolved::unlike).collect();
            for mut unresolved in std::mem::take(&mut self.unresolved) {
                if self.apply(&mut unresolved, &unlike).is_none() {
                    self.unresolved.push(unresolved);
                }
            }
            let chained = self
                .unresolved
                .iter()
                .any(|unresolved| matches!(unresolved.reference, Reference::Like(_, Target::Known(_), _)));
            if !chained || self.unresolved.len() == before {
                return;
            }
        }
    }

    /// Declares one; `None`: it has to wait. `unlike` are images that wait to be like others themselves.
    fn apply(&mut self, unresolved: &mut Unresolved, unlike: &[ResourceId]) -> Option<()> {
        let graph = self.graph.as_mut()?;
        let prefix = &*unresolved.prefix;
        let find = |graph: &Graph, target: &mut Target| {
            if let Target::Later(name) = target {
                *target = Target::Known(find_outwards(prefix, name, |full| graph.find_resource(full))?);
            }
            target.known()
        };
        match &mut unresolved.reference {
            Reference::Access(pass, resource, how, resolves, work) => {
                // Both names are tried before either may end this: a mistake lists all that are missing.
                let resource = find(graph, resource);
                let resolved = resolves.as_mut().map(|resolves| find(graph, resolves));
                how.details.resolves = resolved.flatten().or(how.details.resolves);
                if resolved != Some(None) {
                    let (resource, place) = (resource?, unresolved.place.take());
                    match *work {
                        Some(tested) => infer::access(graph, *pass, resource, **how, tested, place),
                        None => graph.access(*pass, resource, how, place),
                    };
                    return Some(());
                }
                return None;
            }
            Reference::Size(resource, size) => {
                let mut whole = true;
                for axis in size.axes.iter_mut().flatten() {
                    if let AxisOf::Scaled(Some(of), _) = axis {
                        whole &= find(graph, of).is_some();
                    }
                }
                let size = whole.then(|| size_of(size)).flatten()?;
                if let Kind::Image(image) = &mut graph.resource_mut(*resource).kind {
                    image.size = Some(size);
                }
            }
            Reference::Modifies(resource, of) => {
                let of = find(graph, of)?;
                graph.resource_mut(*resource).modifies = Some(of);
            }
            Reference::History(resource, of, frames, zero_first) => {
                let history = History { of: find(graph, of)?, frames: *frames, zero_first: *zero_first };
                graph.resource_mut(*resource).life = Life::History(history);
            }
            Reference::Root(of) => {
                let of = find(graph, of)?;
                graph.root(of);
            }
            Reference::After(pass, earlier) => {
                let earlier = match earlier {
                    Target::Known(id) => *id,
                    Target::Later(name) => find_outwards(prefix, name, |full| graph.find_pass(full))?,
                };
                graph.order_after(*pass, earlier);
            }
            Reference::Fallback(pass, output, input) => {
                let (output, input) = (find(graph, output), find(graph, input));
                graph.fallback(*pass, output?, input?);
            }
            Reference::Like(resource, of, depth) => {
                let of = find(graph, of).filter(|of| !unlike.contains(of))?;
                let (format, volume, layers) = like_of(graph, of);
                let Kind::Image(image) = &mut graph.resource_mut(*resource).kind else { return Some(()) };
                if image.format.is_none() {
                    image.format = Some(format?);
                }
                image.layers = image.layers.or((layers != 1).then_some(layers));
                if let (true, Some(scale), Some(size)) = (volume, *depth, &mut image.size) {
                    size.z = size.z.or(Some(Axis::Scaled(Some(of), scale)));
                }
                if let Some(seen) = self.seen.get(&of).cloned() {
                    self.seen.entry(*resource).or_insert(seen);
                }
            }
        }
        Some(())
    }

    /// A copy of the declaration with its names found, those that are missing noted as mistakes; and the setup
    /// functions.
    ///
    /// # Errors
    /// If this was a working copy whose bake is over.
    pub fn resolved(&mut self, py: Python<'_>) -> Result<(Graph, Vec<Setup>), Refusal> {
        self.resolve_names();
        let mut copy = self.open()?.clone();
        for mistake in self.missing().into_iter().chain(self.check_pending()) {
            copy.add_mistake(mistake);
        }
        Ok((copy, self.setups.iter().map(|setup| setup.copy(py)).collect()))
    }

    /// How a resource's array is seen: as declared, or as that of what it modifies or remembers.
    pub fn seen_of(&self, mut id: ResourceId) -> Option<&Seen> {
        let graph = self.graph.as_ref()?;
        for _ in 0..MOST_LINKS {
            if let Some(seen) = self.seen.get(&id) {
                return Some(seen);
            }
            let resource = graph.resources().get(id)?;
            id = match resource.life {
                Life::History(history) => history.of,
                _ => resource.modifies?,
            };
        }
        None
    }

    /// Mistakes of pending work whose checks waited for names that are declared now.
    pub fn check_pending(&self) -> Vec<Mistake> {
        let Some(graph) = &self.graph else { return Vec::new() };
        let open = self.pending.iter().filter(|pending| pending.open);
        let found = open.flat_map(|pending| {
            let find = |at| pending.find(graph, at);
            let pass = (graph.pass_name(pending.pass), pending.place.as_ref());
            pending.checks.iter().filter_map(move |check| check.mistake(graph, pass, find))
        });
        found.collect()
    }

    /// Names that are still missing, as mistakes that offer the nearest declared name.
    pub fn missing(&self) -> Vec<Mistake> {
        let Some(graph) = &self.graph else { return Vec::new() };
        let mut mistakes: Vec<_> = self.unresolved.iter().flat_map(|unresolved| unresolved.mistakes(graph)).collect();
        for (name, _) in self.points.iter().filter(|(_, (_, declared))| !declared) {
            let declared = self.points.iter().filter(|(_, (_, declared))| *declared).map(|(name, _)| &**name);
            let message = format!("extension point \"{name}\" is extended, but nothing declares it");
            let help = offer(name, declared, "declare it with extension_point()");
            mistakes.push(Mistake::new(Code::UnknownName, message, help));
        }
        mistakes
    }
}
