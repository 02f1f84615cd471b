//! `rgraph.Commands`: records the steps of a pass, and refuses what the pass did not declare.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::error::{Code, Mistake};
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;
use rgraph_plan::words::plain;
use rgraph_shader::Kind;
use rgraph_vk::work::{CallbackError, Commands, RecordWork, Step};
use rgraph_work::infer::Who;
use rgraph_work::infer::transfer::Side;

use crate::arguments::bind::by_position;
use crate::arguments::convert::Text;
use crate::arguments::declare::given;
use crate::arguments::keywords;
use crate::arguments::raster_state;
use crate::arguments::shader;
use crate::classes::compute;
use crate::classes::draw;
use crate::classes::graph::PyGraph;
use crate::classes::passes::{Arguments, Work, all};
use crate::classes::transfer;
use crate::classes::view::{AccessRange, PyView};
use crate::run::ending::attached;
use crate::run::error::bad;
use crate::run::functions::Recorded;
use crate::run::inside::Inside;
use crate::run::pending_work::renamed;
use crate::run::unresolved::Given;

/// Records the commands of one pass while its function runs.
///
/// The pass must declare the resources that a call uses, with the same usage.
#[pyclass(name = "Commands", module = "rgraph", frozen)]
pub struct PyCommands {
    graph: Py<PyGraph>,
    whole: Arc<Graph>,
    pass: PassId,
    prefix: Arc<str>,
    /// `None`: the function is over.
    steps: Mutex<Option<Vec<Step>>>,
}

impl PyCommands {
    /// A recorder for a pass.
    pub fn object<'py>(py: Python<'py>, of: &Recorded, graph: Py<PyGraph>) -> PyResult<Bound<'py, Self>> {
        let Some(pass) = of.whole.find_pass(&of.pass) else {
            let message = format!("pass \"{}\" is not part of the frame", of.pass);
            return Err(bad(py, Code::BadWork, message, "compile the graph again"));
        };
        let steps = Mutex::new(Some(Vec::new()));
        let (whole, prefix) = (Arc::clone(&of.whole), of.prefix.clone());
        Bound::new(py, Self { graph, whole, pass, prefix, steps })
    }

    /// The steps; later calls are refused.
    pub fn finish(&self) -> Vec<Step> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.whole.pass_name(self.pass)
    }

    fn place(&self) -> Option<&rgraph_plan::graph::Place> {
        self.whole.pass_place(self.pass)
    }

    fn who(&self) -> Who<'_> {
        Who { pass: self.name(), place: self.place() }
    }

    /// The resource in the graph that runs.
    fn find(&self, given: &Given<'_>) -> Option<ResourceId> {
        match given {
            Given::Handle(identity, id) => {
                let graph = self.graph.get();
                let name = graph.read(|state| {
                    let known = state.graph.as_ref().filter(|_| state.has_resource(graph.identity, *identity, *id));
                    // A setup function's handles are those of a bake that is over.
                    let known = known.filter(|known| id.index() < known.resources().len());
                    known.map(|known| known.resource_name(*id).to_owned())
                });
                self.whole.find_resource(&name?)
            }
            Given::Name(name) => {
                crate::run::unresolved::find_outwards(&self.prefix, name, |full| self.whole.find_resource(full))
            }
        }
    }

    /// Keeps a step whose resources the pass declares.
    fn keep(&self, py: Python<'_>, work: &Work, step: &Step) -> PyResult<()> {
        let mut mistakes = Vec::new();
        let found: Vec<_> = work.table.given.iter().map(|given| self.find(given)).collect();
        let known = |at: ResourceId| found[at.index()];
        for used in &work.needs.uses {
            match known(used.at) {
                Some(id) if self.declares(id, used.how.usage) => {}
                Some(id) => mistakes.push(self.stranger(self.whole.resource_name(id), used.how.usage)),
                None => {
                    let name = match &work.table.given[used.at.index()] {
                        Given::Name(name) => name.to_string(),
                        Given::Handle(..) => "a resource of another graph".to_owned(),
                    };
                    mistakes.push(self.stranger(&name, used.how.usage));
                }
            }
        }
        let who = (self.name(), self.place());
        mistakes.extend(work.needs.checks.iter().filter_map(|check| check.mistake(&self.whole, who, known)));
        match renamed(step, self.name(), &known) {
            Some(step) if mistakes.is_empty() => {
                let kept = {
                    let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
                    steps.as_mut().map(|steps| steps.push(step))
                };
                kept.ok_or_else(|| {
                    let message = format!("the function of pass \"{}\" has returned", self.name());
                    bad(py, Code::BadWork, message, "record inside of it")
                })
            }
            _ => Err(all(py, mistakes)),
        }
    }

    fn declares(&self, id: ResourceId, usage: Usage) -> bool {
        let fits = |declared: Usage| {
            declared == usage
                || (declared == Usage::StorageReadWrite && matches!(usage, Usage::StorageRead | Usage::StorageWrite))
        };
        let mut accesses = self.whole.accesses().iter().filter(|access| access.pass == self.pass);
        accesses.any(|access| access.resource == id && fits(access.usage))
    }

    fn stranger(&self, resource: &str, usage: Usage) -> Mistake {
        let pass = self.name();
        let message = format!("pass \"{pass}\" records \"{resource}\" as {usage}, which it did not declare");
        let help = format!("declare it: reads={{…: \"{usage}\"}} or writes=, or .uses(…, \"{usage}\") of the pass");
        let mistake = self.who().mistake(Code::BadAccess, message, format!("does not declare \"{resource}\""), help);
        mistake.resource(resource)
    }

    /// One side of a transfer, in the graph that runs: what a setup function declared is part of it, and names are
    /// those of the pass's module.
    fn side(&self, value: &Bound<'_, PyAny>, work: &mut Work) -> PyResult<Side> {
        let (resource, part) = match PyView::of(value) {
            Some((resource, part)) => (resource.into_any(), part),
            None => (value.clone(), AccessRange::default()),
        };
        let given = given(&resource)?.owned();
        let at = work.table.add(given.clone());
        if let Some(id) = self.find(&given) {
            return Ok(Side::of(&self.whole, id, at, part));
        }
        let (what, help) = match &given {
            Given::Name(name) => {
                (format!("\"{name}\", which nothing declares"), "use a name of an image or buffer of the graph")
            }
            Given::Handle(..) => {
                let help = "use handles of this graph; what a setup function declared has a name here: commands.fill(\"name\")";
                ("a resource of another graph, or of a setup function that has returned".to_owned(), help)
            }
        };
        let message = format!("pass \"{}\" records a transfer of {what}", self.name());
        Err(bad(value.py(), Code::UnknownName, message, help))
    }

    fn targets(&self) -> usize {
        let colors = self.whole.accesses().iter().filter(|access| access.pass == self.pass);
        colors.filter(|access| access.usage == Usage::ColorAttachment).count()
    }
}

#[pymethods]
impl PyCommands {
    /// The pass's name.
    #[getter]
    fn pass_name(&self) -> &str {
        self.name()
    }

    /// Run a compute shader.
    ///
    /// Parameters
    /// ----------
    /// shader, groups, push, entry, constants, key, bindings, **variables
    ///     As in `Module.compute`.
    #[pyo3(signature = (shader, *given, **arguments),
           text_signature = "($self, shader, *, groups=None, push=None, entry=None, \
                             constants=None, key=0, bindings=None, **variables)")]
    fn dispatch<'py>(
        &self,
        shader: &Bound<'py, PyAny>,
        given: &Bound<'py, PyTuple>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        let (mut work, arguments) = (Work::default(), Arguments::new(arguments)?);
        if !given.is_empty() {
            return Err(by_position(("dispatch", "shader"), shader, (Kind::Compute, arguments), self.who(), given));
        }
        let step = compute::dispatch(self.who(), shader, arguments, &mut work)?;
        self.keep(shader.py(), &work, &step)
    }

    /// Draw into the pass's attachments.
    ///
    /// Parameters
    /// ----------
    /// shader, vertices, instances, push, entry, constants, vertex_buffers, index, indirect, bindings, **variables
    ///     As in `Module.raster`, with the same further keyword arguments for blending, culling and tests; and
    ///     `first_vertex`, `first_instance`, `vertex_offset`, and `key`: draws of a pass are sorted by it.
    #[pyo3(signature = (shader, *given, **arguments),
           text_signature = "($self, shader, *, vertices=3, instances=1, push=None, entry=None, constants=None, \
                             vertex_buffers=None, index=None, indirect=None, bindings=None, **variables)")]
    fn draw<'py>(
        &self,
        shader: &Bound<'py, PyAny>,
        given: &Bound<'py, PyTuple>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        let py = shader.py();
        if self.whole.passes()[self.pass].queue != PassQueue::Graphics {
            return Err(PyTypeError::new_err("only passes on the graphics queue draw"));
        }
        let (mut work, arguments) = (Work::default(), Arguments::new(arguments)?);
        if !given.is_empty() {
            return Err(by_position(("draw", "shader"), shader, (Kind::Raster, arguments), self.who(), given));
        }
        let program = shader::program(shader, Kind::Raster, &arguments, self.who())?;
        let state = raster_state::state(&arguments, self.targets())?;
        let draw = draw::draw(py, self.who(), program, state, arguments, &mut work)?;
        self.keep(py, &work, &Step::Draw(draw))
    }

    /// Copy an image or a buffer to another one.
    ///
    /// Parameters
    /// ----------
    /// source, target
    ///     As in `Module.copy`.
    fn copy(&self, source: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut work = Work::default();
        let (from, to) = (self.side(source, &mut work)?, self.side(target, &mut work)?);
        let step = transfer::copy(source.py(), self.who(), &from, &to, &mut work)?;
        self.keep(source.py(), &work, &step)
    }

    /// Blit an image to another one, scaled and converted.
    ///
    /// Parameters
    /// ----------
    /// source, target, filter
    ///     As in `Module.blit`.
    #[pyo3(signature = (source, target, *, filter = None, **unknown), text_signature = "($self, source, target, *, filter='linear')")]
    fn blit(
        &self,
        source: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        filter: Option<Text<'_>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        keywords::refuse_of::<Self>("blit", unknown)?;
        let mut work = Work::default();
        let (from, to) = (self.side(source, &mut work)?, self.side(target, &mut work)?);
        let step = transfer::blit(source.py(), self.who(), &from, &to, filter, &mut work)?;
        self.keep(source.py(), &work, &step)
    }

    /// Clear an image to one value.
    ///
    /// Parameters
    /// ----------
    /// image, value
    ///     As in `Module.clear`.
    fn clear(&self, image: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut work = Work::default();
        let side = self.side(image, &mut work)?;
        let step = transfer::clear_image(image.py(), self.who(), &side, value, &mut work)?;
        self.keep(image.py(), &work, &step)
    }

    /// Fill a buffer with a 32-bit word.
    ///
    /// Parameters
    /// ----------
    /// buffer, word
    ///     As in `Module.fill`.
    #[pyo3(signature = (buffer, word = None, **unknown), text_signature = "($self, buffer, word=0)")]
    fn fill(
        &self,
        buffer: &Bound<'_, PyAny>,
        word: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        keywords::refuse_of::<Self>("fill", unknown)?;
        let mut work = Work::default();
        let side = self.side(buffer, &mut work)?;
        let step = transfer::fill_buffer(buffer.py(), self.who(), &side, transfer::filler(word)?, &mut work)?;
        self.keep(buffer.py(), &work, &step)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)
    }

    fn __repr__(&self) -> String {
        format!("<Commands of pass \"{}\">", plain(self.name()))
    }
}

impl RecordWork for Recorded {
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError> {
        let _inside = Inside::enter(&self.devices);
        let steps = attached(|py| {
            let mut recorder = None;
            let done = self.function.call(py, |graph| {
                let graph =
                    graph.ok_or_else(|| PyRuntimeError::new_err("a function that records belongs to a graph"))?;
                let made = recorder.insert(PyCommands::object(py, self, graph)?);
                Ok(made.clone().into_any().unbind())
            });
            let steps = recorder.map(|recorder| recorder.get().finish()).unwrap_or_default();
            done.map(|()| steps)
        });
        commands.steps.extend(steps.map_err(CallbackError::from)?);
        Ok(())
    }
}
