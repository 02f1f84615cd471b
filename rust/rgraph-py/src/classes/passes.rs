//! Passes with work: what every kind of them says, and how one is declared as a whole or not at all.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;
use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::error::{Code, GraphError, Mistake};
use rgraph_plan::graph::{Pass, PassId, Place, Use};
use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;
use rgraph_work::infer::{self, Elements, Needs, Used, Who};

use crate::arguments::convert::{Number, Text, during, one_or_many};
use crate::arguments::declare;
use crate::arguments::keywords;
use crate::arguments::pass_links::{self, Earlier, Fallbacks, Link};
use crate::arguments::setup;
use crate::arguments::source;
use crate::classes::module::PyGraphModule;
use crate::classes::pass::PyPass;
use crate::classes::view::AccessRange;
use crate::run::error::{Refusal, graph_error, one, refusal};
use crate::run::pending_work::{PendingWork, Table, Todo};
use crate::run::state::GraphState;
use crate::run::unresolved::{Reference, Target, Unresolved};

/// Keyword arguments that are taken one by one; the rest is for another function. Names are read once, so that asking
/// for one that was not given makes no Python text.
pub(crate) struct Arguments<'py> {
    all: RefCell<Vec<Argument<'py>>>,
    /// The bits of their names, see [`bit`]: a call asks for a dozen names and gives two or three.
    bits: u32,
}

/// A bit of a name by its length and first byte; names without this bit in common are not the same.
#[inline]
fn bit(name: &str) -> u32 {
    let first = name.bytes().next().unwrap_or_default();
    1 << ((name.len() as u32 ^ u32::from(first)) & 31)
}

/// A name and its value.
pub(crate) type Argument<'py> = (PyBackedStr, Bound<'py, PyAny>);

impl<'py> Arguments<'py> {
    /// The arguments of a call.
    pub(crate) fn new(given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let Some(given) = given else { return Ok(Self { all: RefCell::default(), bits: 0 }) };
        let mut all = Vec::with_capacity(given.len());
        for (name, value) in given.iter() {
            all.push((text(&name)?, value));
        }
        Ok(Self::of(all))
    }

    fn of(all: Vec<Argument<'py>>) -> Self {
        let bits = all.iter().fold(0, |bits, (name, _)| bits | bit(name));
        Self { all: RefCell::new(all), bits }
    }

    /// The position of one.
    #[inline]
    fn find(&self, name: &str) -> Option<usize> {
        if self.bits & bit(name) == 0 {
            return None;
        }
        self.all.borrow().iter().position(|(known, _)| **known == *name)
    }

    /// These, and those of `common` that are not among them.
    pub(crate) fn over(self, py: Python<'py>, common: &Self) -> Self {
        let mut all = self.all.into_inner();
        for (name, value) in common.all.borrow().iter() {
            if !all.iter().any(|(known, _)| **known == **name) {
                all.push((name.clone_ref(py), value.clone()));
            }
        }
        Self::of(all)
    }

    /// Takes one; `None` if it was not given, or given as None.
    #[inline]
    pub(crate) fn take(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(at) = self.find(name) else { return Ok(None) };
        let (_, value) = self.all.borrow_mut().remove(at);
        Ok((!value.is_none()).then_some(value))
    }

    /// Takes one if it is a function.
    pub(crate) fn take_function(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        let at = self.find(name)?;
        let mut all = self.all.borrow_mut();
        all[at].1.is_callable().then(|| all.remove(at).1)
    }

    /// Takes one of a type.
    pub(crate) fn read<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
    {
        self.take(name)?.map(|value| value.extract().map_err(|error| during(value.py(), error, name))).transpose()
    }

    /// Takes a word.
    pub(crate) fn word(&self, name: &str) -> PyResult<Option<String>> {
        let Some(value) = self.take(name)? else { return Ok(None) };
        let text = value.extract::<Text>().map_err(|error| during(value.py(), error, name))?;
        Ok(Some(text.0.to_owned()))
    }

    /// Takes what is left, by name.
    pub(crate) fn rest(self) -> Vec<Argument<'py>> {
        self.all.into_inner()
    }

    /// Refuses what is left of the arguments of a method of modules.
    pub(crate) fn end(self, py: Python<'_>, function: &str) -> PyResult<()> {
        let rest = self.rest();
        let Some((name, _)) = rest.first() else { return Ok(()) };
        let method = py.get_type::<PyGraphModule>().getattr(function)?;
        let mut known = keywords::parameters(&method);
        known.extend(keywords::OF_PASSES.map(str::to_owned));
        known.retain(|name| name != "options");
        Err(keywords::unexpected(function, name, &known))
    }
}

/// The text of a name among keyword arguments.
///
/// # Errors
/// RG-E219 if it cannot be written as UTF-8.
pub(crate) fn text(name: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    name.extract::<PyBackedStr>().map_err(|error| name.extract::<Text>().err().unwrap_or(error))
}

/// A pass that is being declared: its full name, and where.
pub(crate) struct Named<'a> {
    /// With the names of the modules around it.
    pub full: Cow<'a, str>,
    /// The line that declares it.
    pub place: Option<Place>,
}

impl<'a> Named<'a> {
    /// A pass of a module, declared by the running Python code.
    pub(crate) fn here(module: &Bound<'_, PyGraphModule>, name: Text<'a>) -> Self {
        Self::at(module, name, source::place(module.py()))
    }

    /// A pass of a module, declared at a place.
    pub(crate) fn at(module: &Bound<'_, PyGraphModule>, name: Text<'a>, place: Option<Place>) -> Self {
        let prefix = module.get().prefix();
        let full = if prefix.is_empty() { name.0.into() } else { format!("{prefix}{}", name.0).into() };
        Self { full, place }
    }

    /// The pass in messages.
    pub(crate) fn who(&self) -> Who<'_> {
        Who { pass: &self.full, place: self.place.as_ref() }
    }
}

/// Arguments of every pass: properties and references to others.
pub(crate) struct PassArguments {
    /// Queue, duration, side effects.
    pub pass: Pass,
    /// Its occupancy class.
    pub unit: Option<String>,
    /// The flag that switches it.
    pub conditional: Option<String>,
    /// Fallbacks of its outputs.
    pub fallbacks: Fallbacks,
    /// Passes that come before it.
    pub after: Vec<Earlier>,
}

impl PassArguments {
    /// Takes the arguments of every pass; `queue` is the default queue.
    pub(crate) fn take(arguments: &Arguments<'_>, queue: PassQueue) -> PyResult<Self> {
        let queue = arguments.take("queue")?.map_or(Ok(queue), |queue| declare::queue(&queue))?;
        let mut pass = Pass::new(queue);
        pass.weight_us = arguments.read::<Number>("weight_us")?.map(|Number(weight)| weight);
        let device = arguments.take("device")?;
        let device_index = |value: &Bound<'_, PyAny>| {
            pass_links::device_index(value).map_err(|error| during(value.py(), error, "device"))
        };
        pass.device = device.as_ref().map(device_index).transpose()?.flatten();
        pass.side_effects = arguments.read("side_effects")?.unwrap_or(false);
        pass.unordered = arguments.read("unordered")?.unwrap_or(false);
        let fallback = arguments.take("fallback")?;
        let fallbacks = fallback.as_ref().map(pass_links::fallbacks).transpose()?.unwrap_or_default();
        let after = arguments.take("after")?;
        let after = after.map(|after| one_or_many(&after)?.iter().map(pass_links::earlier).collect()).transpose()?;
        let (unit, conditional) = (arguments.word("unit")?, arguments.word("conditional")?);
        Ok(Self { pass, unit, conditional, fallbacks, after: after.unwrap_or_default() })
    }

    /// The pass with the references that it makes by name.
    pub(crate) fn add(
        mut self,
        state: &mut GraphState,
        (identity, module): (u64, &PyGraphModule),
        Named { full, place, .. }: &Named<'_>,
    ) -> Result<PassId, Refusal> {
        if setup::is_under_way(identity) {
            // The graph has it from then on, and the bake under way has not; the next bake would declare it again.
            let message = format!("pass \"{full}\" is declared in a setup function");
            let help = "declare it before bake(), with a setup function of its own; without accesses it is culled";
            return Err(refusal(Code::BadAccess, message, help));
        }
        for (keyword, word) in [("unit", &self.unit), ("conditional", &self.conditional)] {
            if word.as_deref() == Some("") {
                let message = format!("{keyword}= of pass \"{full}\" is empty");
                return Err(refusal(Code::BadName, message, &format!("give a name, or leave {keyword}= out")));
            }
        }
        let prefix = module.prefix();
        let links = pass_links::pass_links(state, identity, prefix, &self.after, &self.fallbacks)?;
        let declaration = state.open()?;
        self.pass.slot = module.slot();
        self.pass.unit = self.unit.map(|unit| declaration.unit(&unit));
        let flag = self.conditional.as_deref().or(module.flag().map(|flag| &**flag));
        self.pass.conditional = flag.map(|flag| declaration.flag(flag));
        let id = state.add_pass(full, self.pass, place.clone())?;
        if !links.is_empty() {
            let unresolved =
                |link: Link| Unresolved { prefix: prefix.clone(), place: place.clone(), reference: link.of(id) };
            state.unresolved.extend(links.into_iter().map(unresolved));
            state.resolve_names();
        }
        Ok(id)
    }
}

/// A pass with work that is being declared.
#[derive(Default)]
pub(crate) struct Work {
    /// The resources that it names.
    pub table: Table,
    /// How it uses them, by their positions in the table.
    pub needs: Needs,
    /// Values of bindings in the making.
    pub values: Vec<Option<Elements>>,
    /// The resources of the table, found in the graph.
    found: Vec<Target>,
}

thread_local! {
    /// A cleared one, whose memory serves the thread's next declaration.
    static SPARE: Cell<Work> = Cell::default();
}

impl Work {
    /// An empty one.
    pub(crate) fn new() -> Self {
        SPARE.take()
    }

    fn spare(mut self) {
        let Self { table, needs, values, found } = &mut self;
        table.given.clear();
        needs.clear();
        values.clear();
        found.clear();
        SPARE.set(self);
    }

    /// Notes a use of part of a resource; uses of the same part are one if they can be.
    pub(crate) fn uses(&mut self, at: ResourceId, usage: Usage, part: AccessRange, change: impl FnOnce(&mut Use)) {
        self.needs.uses(at, usage, part, change);
    }

    /// Declares the pass with its accesses and work, all or nothing.
    pub(crate) fn declare<'py>(
        mut self,
        module: &Bound<'py, PyGraphModule>,
        named: Named<'_>,
        pass: PassArguments,
        todo: Todo,
    ) -> PyResult<Bound<'py, PyPass>> {
        let py = module.py();
        let graph = PyGraphModule::graph(module)?;
        let identity = graph.get().identity;
        let prefix = module.get().prefix().clone();
        let declared = graph.get().change(|state| {
            for given in &self.table.given {
                self.found.push(state.target(identity, &prefix, given)?);
            }
            let known = |at: ResourceId| self.found[at.index()].known();
            let graph = state.open()?;
            let who = (&*named.full, named.place.as_ref());
            let mistakes: Vec<Mistake> =
                self.needs.checks.iter().filter_map(|check| check.mistake(graph, who, known)).collect();
            if !mistakes.is_empty() {
                return Ok(Err(mistakes));
            }
            let id = pass.add(state, (identity, module.get()), &named)?;
            for (shader, features) in &self.needs.features {
                state.open()?.pass_mut(id).need(shader, *features);
            }
            for used in &self.needs.uses {
                access(state, id, (&prefix, &named.place), &self.found, used)?;
            }
            let open = self.needs.checks.iter().any(|check| known(check.at).is_none());
            // What was checked is not checked again.
            let checks = if open { std::mem::take(&mut self.needs.checks) } else { Vec::new() };
            let (prefix, table) = (prefix.clone(), self.found.as_slice().into());
            let pending = PendingWork { pass: id, prefix, place: named.place, table, todo, checks, open };
            state.open |= open;
            state.pending.push(pending);
            Ok(Ok(id))
        });
        let id = declared.map_err(|mistake| one(py, mistake))?.map_err(|mistakes| all(py, mistakes))?;
        self.spare();
        PyPass::handle(&graph, id, prefix)
    }
}

/// The Python exception of several mistakes.
pub(crate) fn all(py: Python<'_>, mistakes: Vec<Mistake>) -> PyErr {
    match GraphError::check(mistakes) {
        Err(error) => graph_error(py, &error),
        Ok(()) => pyo3::exceptions::PyRuntimeError::new_err("no mistake was made"),
    }
}

/// Declares an access of pending work, now or when its names are known.
pub(crate) fn access(
    state: &mut GraphState,
    pass: PassId,
    (prefix, place): (&Arc<str>, &Option<Place>),
    table: &[Target],
    used: &Used,
) -> Result<(), Refusal> {
    let mut how = used.how;
    let (resource, resolves) = (&table[used.at.index()], used.resolves.map(|at| &table[at.index()]));
    how.details.resolves = resolves.and_then(Target::known);
    if let (Target::Known(id), None | Some(Target::Known(_))) = (resource, resolves) {
        infer::access(state.open()?, pass, *id, how, used.tested, place.clone());
        return Ok(());
    }
    let reference = Reference::Access(pass, resource.clone(), Box::new(how), resolves.cloned(), Some(used.tested));
    state.unresolved.push(Unresolved { prefix: prefix.clone(), place: place.clone(), reference });
    Ok(())
}
