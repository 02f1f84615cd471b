//! Passes that are functions: `Module.cpu` and `Module.callback`, and how the runtime calls them.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PyByteArray, PyDict, PyMemoryView, PyTuple};
use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::graph::Graph;
use rgraph_vk::Code;
use rgraph_vk::work::{CallbackError, HostViews, HostWork, RasterState, Workload};
use rgraph_work::infer::Used;

use crate::arguments::convert::{Text, one_or_many, word_of};
use crate::classes::graph::PyGraph;
use crate::classes::module::PyGraphModule;
use crate::classes::pass::PyPass;
use crate::classes::passes::{Arguments, Named, PassArguments, Work};
use crate::classes::raster::targets;
use crate::classes::resource::PyImage;
use crate::classes::view::{AccessRange, PyView};
use crate::run::ending::attached;
use crate::run::ending::stay;
use crate::run::error::bad;
use crate::run::inside::Inside;
use crate::run::pending_work::Todo;

/// A function of the user's as a compiled graph holds it, and the graph whose handles it uses. It may hold the compiled
/// graph in turn: Python's garbage collector sees it here, and takes it if nothing else needs it.
pub struct Function(Mutex<Option<Held>>);

/// The declaration with the work of its passes, and the functions in it.
pub(crate) type Load = (Workload, Vec<Arc<Function>>);

/// The function and the graph.
type Held = (Py<PyAny>, Option<Py<PyGraph>>);

impl Function {
    /// Holds a function once more.
    pub fn new(py: Python<'_>, function: &Py<PyAny>, graph: Option<Py<PyGraph>>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some((function.clone_ref(py), graph)))))
    }

    /// Calls the function, by the graph whose handles it uses.
    pub fn call(
        &self,
        py: Python<'_>,
        argument: impl FnOnce(Option<Py<PyGraph>>) -> PyResult<Py<PyAny>>,
    ) -> PyResult<()> {
        let (function, graph) = self.get(py)?;
        let arguments = PyTuple::new(py, [argument(graph)?])?;
        let result = last_call(function.bind(py), &arguments)?;
        let (kind, how) = match &*result.get_type().name()?.to_string_lossy() {
            "generator" => ("a generator", "without yield"),
            "async_generator" => ("an asynchronous generator", "with def and without yield"),
            "coroutine" => {
                // Python warns of a coroutine that nobody awaited.
                result.call_method0("close")?;
                ("a coroutine", "with def, not async def")
            }
            _ => return Ok(()),
        };
        let message = format!("the function of a pass returned {kind}, so none of its lines ran; write it {how}");
        Err(PyTypeError::new_err(message))
    }

    /// The function itself.
    pub fn function(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.get(py).map(|(function, _)| function)
    }

    fn get(&self, py: Python<'_>) -> PyResult<Held> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = held
            .as_ref()
            .map(|(function, graph)| (function.clone_ref(py), graph.as_ref().map(|graph| graph.clone_ref(py))));
        copy.ok_or_else(|| PyRuntimeError::new_err("the compiled graph was taken by the garbage collector"))
    }

    /// Shows what it holds to the garbage collector. A held lock means that it is in use.
    pub fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(held) = self.0.try_lock() else { return Ok(()) };
        let Some((function, graph)) = &*held else { return Ok(()) };
        visit.call(function)?;
        visit.call(graph)
    }

    /// Lets go.
    pub fn clear(&self) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(held);
    }
}

unsafe extern "C-unwind" {
    /// The stable ABI's, which may unwind: CPython before 3.14 ends a thread that asks for the lock of an interpreter
    /// that is ending by `pthread_exit`, which unwinds it.
    fn PyObject_Call(
        function: *mut ffi::PyObject,
        arguments: *mut ffi::PyObject,
        named: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
}

/// Keeps a thread that Python ends from unwinding through Rust, which would abort the process: it stays where it is
/// until the process ends, as threads of CPython 3.14 do.
struct Stay;

impl Drop for Stay {
    fn drop(&mut self) {
        stay();
    }
}

/// Calls a function of the user's in which the interpreter may end.
fn last_call<'py>(function: &Bound<'py, PyAny>, arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let stay = Stay;
    // SAFETY: live objects, and the interpreter is attached; no named arguments are allowed to be null.
    let result = unsafe { PyObject_Call(function.as_ptr(), arguments.as_ptr(), std::ptr::null_mut()) };
    std::mem::forget(stay);
    // SAFETY: a reference of our own, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(function.py(), result) }
}

/// A function that runs on the host.
pub(crate) struct Hosted {
    /// Called with the views.
    pub function: Arc<Function>,
    /// Numbers of the devices that wait for it.
    pub devices: Arc<[u64]>,
}

impl HostWork for Hosted {
    fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
        let _inside = Inside::enter(&self.devices);
        attached(|py| self.call(py, &mut views)).map_err(CallbackError::from)
    }
}

impl Hosted {
    /// The function works on memory of Python's own, so that a view that it keeps stays harmless.
    fn call(&self, py: Python<'_>, views: &mut HostViews<'_>) -> PyResult<()> {
        let mut by_name: Vec<(&str, Vec<Bound<'_, PyAny>>)> = Vec::new();
        let mut copies = Vec::with_capacity(views.views.len());
        for view in &mut views.views {
            let copy = PyByteArray::new(py, &view.bytes);
            let memory = PyMemoryView::from(copy.as_any())?;
            let writable = view.bytes.writable().is_some();
            let memory = if writable { memory.into_any() } else { memory.call_method0("toreadonly")? };
            match by_name.iter_mut().find(|(name, _)| *name == view.name) {
                Some((_, known)) => known.push(memory),
                None => by_name.push((view.name, vec![memory])),
            }
            copies.push(copy);
        }
        let given = PyDict::new(py);
        for (name, mut parts) in by_name {
            match parts.len() {
                1 => given.set_item(name, parts.remove(0))?,
                _ => given.set_item(name, PyTuple::new(py, parts)?)?,
            }
        }
        self.function.call(py, |_| Ok(given.into_any().unbind()))?;
        for (view, copy) in views.views.iter_mut().zip(copies) {
            let Some(target) = view.bytes.writable() else { continue };
            if copy.len() != target.len() {
                return Err(PyTypeError::new_err("a function on the CPU changed the length of a view's memory"));
            }
            // SAFETY: `copy` is held by this function, and no Python code runs while the bytes are read.
            target.copy_from_slice(unsafe { copy.as_bytes() });
        }
        Ok(())
    }
}

/// Resources with a usage each: a list, or a dict of resource and usage.
fn listed<'py>(value: Option<Bound<'py, PyAny>>) -> PyResult<Vec<(Bound<'py, PyAny>, Option<Usage>)>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let Ok(dict) = value.cast::<PyDict>() else {
        let all = if PyView::of(&value).is_some() { vec![value] } else { one_or_many(&value)? };
        return Ok(all.into_iter().map(|resource| (resource, None)).collect());
    };
    let known = || Usage::ALL.iter().map(|usage| usage.name());
    let one = |(resource, usage): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
        let usage = word_of(&usage, "usage", Usage::from_name, known())?;
        Ok((resource, Some(usage)))
    };
    dict.iter().map(one).collect()
}

fn declare(
    value: Option<Bound<'_, PyAny>>,
    work: &mut Work,
    usage: impl Fn(&Bound<'_, PyAny>) -> PyResult<Usage>,
) -> PyResult<()> {
    for (value, explicit) in listed(value)? {
        let (resource, part) = match PyView::of(&value) {
            Some((resource, part)) => (resource.into_any(), part),
            None => (value, AccessRange::default()),
        };
        let usage = explicit.map_or_else(|| usage(&resource), Ok)?;
        let at = work.table.add(crate::arguments::declare::given(&resource)?.owned());
        work.uses(at, usage, part, |_| {});
    }
    Ok(())
}

fn function(value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if !value.is_callable() {
        return Err(PyTypeError::new_err("expected a function"));
    }
    Ok(value.clone().unbind())
}

#[pymethods]
impl PyGraphModule {
    /// Declare a pass that is a function on the CPU, which runs while the GPU works.
    ///
    /// The function is called with a dict of views by the buffers' names: memoryviews of bytes (`view.cast("f")`,
    /// `numpy.frombuffer(view, "f4")`), writable for buffers that it writes; a tuple of views, access by access, of a
    /// buffer that the pass accesses in several ranges. It runs on a thread of the device once the buffers that it
    /// reads are written. Waiting for the frame raises its exceptions unchanged. The views are the function's own
    /// copies: keeping one is harmless, and writing to it later does nothing.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// function
    ///     Called once per frame.
    /// reads, writes
    ///     Buffers, or names; bytes that the function does not write keep their contents. Copy images to a buffer
    ///     first.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, function, **options),
           text_signature = "($self, name, function, *, reads=(), writes=(), **options)")]
    fn cpu<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        function: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let (arguments, mut work) = (Arguments::new(options)?, Work::default());
        let function = self::function(function)?;
        let (reads, writes) = (arguments.take("reads")?, arguments.take("writes")?);
        let buffers = |usage| {
            move |resource: &Bound<'_, PyAny>| match resource.is_instance_of::<PyImage>() {
                false => Ok(usage),
                true => {
                    let message = format!("pass \"{}\" uses an image on the CPU", name.0);
                    let help = "copy it into a buffer first: g.copy(…, image, buffer)";
                    Err(bad(resource.py(), Code::BadUsage, message, help))
                }
            }
        };
        declare(writes, &mut work, buffers(Usage::HostWrite))?;
        let mut read = Work::default();
        std::mem::swap(&mut read.table, &mut work.table);
        declare(reads, &mut read, buffers(Usage::HostRead))?;
        // What is written too is read with it; other bytes of the buffer are an access of their own.
        let apart = |one: &Used, two: &Used| match (one.how.ranges.bytes, two.how.ranges.bytes) {
            (Some([first, end]), Some([low, high])) => end <= low || high <= first,
            _ => false,
        };
        let meets = |used: &Used| work.needs.uses.iter().any(|other| other.at == used.at && !apart(other, used));
        read.needs.uses.retain(|used| !meets(used));
        work.table = read.table;
        work.needs.uses.extend(read.needs.uses);
        let pass = PassArguments::take(&arguments, PassQueue::Cpu)?;
        arguments.end(slf.py(), "cpu")?;
        work.declare(slf, Named::here(slf, name), pass, Todo::Host(function))
    }

    /// Declare a pass whose commands a function records.
    ///
    /// The function is called with a `Commands` each time that the frame is recorded; it may use only resources that
    /// the pass declares. `Device.run` raises its exceptions unchanged.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// function
    ///     Called with a `Commands`.
    /// reads, writes
    ///     Resources: images are sampled or written as storage images, buffers are storage buffers. A dict of resource
    ///     and usage, such as {buffer: "index"}, or the methods of the returned pass name other usages.
    /// color, clear, load, depth, clear_depth, load_depth, depth_write, resolve, resolve_mode
    ///     Attachments, as in `raster`.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, function, **options),
           text_signature = "($self, name, function, *, reads=(), writes=(), color=None, clear=None, load=None, \
                             depth=None, clear_depth=None, load_depth=None, depth_write=True, resolve=None, \
                             resolve_mode=None, **options)")]
    fn callback<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        function: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let (arguments, mut work) = (Arguments::new(options)?, Work::default());
        let function = self::function(function)?;
        let pass = PassArguments::take(&arguments, PassQueue::Graphics)?;
        let depth_write = arguments.read("depth_write")?.unwrap_or(true);
        let state = |_| Ok(RasterState { depth_write, ..RasterState::default() });
        let (targets, _) = targets(&arguments, &mut work, state)?;
        let (reads, writes) = (arguments.take("reads")?, arguments.take("writes")?);
        let read = |resource: &Bound<'_, PyAny>| {
            Ok(if resource.is_instance_of::<PyImage>() { Usage::Sampled } else { Usage::StorageRead })
        };
        declare(reads, &mut work, read)?;
        declare(writes, &mut work, |_| Ok(Usage::StorageWrite))?;
        arguments.end(slf.py(), "callback")?;
        targets.per_run.keep(work.declare(slf, Named::here(slf, name), pass, Todo::Record(function))?)
    }
}

/// A function that records a pass's steps.
pub struct Recorded {
    /// Called with a `Commands`.
    pub function: Arc<Function>,
    /// The graph as it is run, and the pass's name in it.
    pub whole: Arc<Graph>,
    /// See `whole`.
    pub pass: String,
    /// Names are looked for in this module first.
    pub prefix: Arc<str>,
    /// Numbers of the devices that wait for it.
    pub devices: Arc<[u64]>,
}
