//! Errors on their way to Python. The exception classes are written in Python (`rgraph/_errors.py`), where their
//! attributes can be typed and documented; here a [`GraphError`] becomes one of them, and a panic of ours becomes
//! an `InternalError` instead of pyo3's `PanicException`, which `except Exception` would not catch.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};
use rgraph_check::certificate::Refused;
use rgraph_check::interpret::Fault;
use rgraph_plan::cancel::{Cancelled, cancellable};
use rgraph_plan::error::{Code, GraphError, Mistake};
use rgraph_plan::graph::Place;
use rgraph_shader::ShaderError;
use rgraph_work::infer::Who;

use crate::arguments::source::place;
use crate::run::ending;
use crate::run::ending::attached;

const MODULE: &str = "rgraph._errors";

/// A class of `rgraph/_errors.py`, looked up once.
pub(crate) fn class<'py>(py: Python<'py>, cell: &PyOnceLock<Py<PyType>>, name: &str) -> PyResult<Bound<'py, PyType>> {
    cell.import(py, MODULE, name).cloned()
}

/// The Python exception of all mistakes in a declaration.
pub(crate) fn graph_error(py: Python<'_>, error: &GraphError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let exception = || -> PyResult<Bound<'_, PyAny>> {
        let mistakes = error.mistakes().iter().map(|m| mistake(py, m)).collect::<PyResult<Vec<_>>>()?;
        class(py, &CLASS, "GraphError")?.call1((error.to_string(), PyList::new(py, mistakes)?))
    };
    exception().map_or_else(|failure| failure, PyErr::from_value)
}

/// A side of a mistake: a name, what it declares, and its place.
pub(crate) type SideOf = (String, String, Option<(String, u32)>);

/// The exception of one mistake that Python code finds, by its code, message and help. A ready-made pass that is
/// `called` is its first side.
///
/// # Errors
/// `ValueError` if there is no such code.
pub(crate) fn mistake_of(
    py: Python<'_>,
    [code, message, help]: [&str; 3],
    resource: Option<&str>,
    called: Option<&str>,
    sides: Vec<SideOf>,
) -> PyResult<Py<PyAny>> {
    let known = Code::ALL.iter().find(|known| known.text() == code);
    let code = *known.ok_or_else(|| PyValueError::new_err(format!("there is no code {code}")))?;
    let mut mistake = match called {
        Some(pass) => Mistake::new(code, format!("pass \"{pass}\": {message}"), help).pass(pass).side(
            pass,
            "called here",
            place(py),
        ),
        None => Mistake::new(code, message, help),
    };
    mistake.resource = resource.map(str::to_owned);
    for (name, says, at) in sides {
        mistake = mistake.side(&name, says, at.map(|(file, line)| Place { file: file.into(), line }));
    }
    Ok(graph_error(py, &GraphError::one(mistake)).into_value(py).into_any())
}

fn mistake<'py>(py: Python<'py>, mistake: &Mistake) -> PyResult<Bound<'py, PyAny>> {
    static MISTAKE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static SIDE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let side = class(py, &SIDE, "Side")?;
    let sides = mistake.sides.iter().map(|s| {
        let (file, line) = s.place.as_ref().map(|place| (&*place.file, place.line)).unzip();
        side.call1((&s.name, &s.says, file, line))
    });
    let sides = PyTuple::new(py, sides.collect::<PyResult<Vec<_>>>()?)?;
    class(py, &MISTAKE, "Mistake")?.call1((
        mistake.code.text(),
        &mistake.message,
        mistake.pass.as_deref(),
        mistake.resource.as_deref(),
        sides,
        &mistake.help,
    ))
}

/// The Python exception of a shader that cannot be used, and of the pass that has it.
pub(crate) fn shader_error(py: Python<'_>, error: &ShaderError, who: Option<Who<'_>>) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let mut message = error.to_string();
    let mut notes = Vec::new();
    if let Some(Who { pass, place: Some(place) }) = who {
        notes.push(format!("pass \"{pass}\"  {place}"));
        message += &format!("\n  {}", notes[0]);
    }
    let (line, column) = error.at.unzip();
    let pass = who.map(|who| who.pass);
    let fields = (message, error.code.text(), pass, None::<&str>, &error.help, notes, &error.shader, line, column);
    let exception = class(py, &CLASS, "ShaderError").and_then(|class| class.call1(fields));
    exception.map_or_else(|failure| failure, PyErr::from_value)
}

/// The Python exception of a plan that cannot be run.
pub(crate) fn plan_error(py: Python<'_>, fault: &Fault) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (code, hint) = match fault {
        Fault::Malformed(_) => (Code::Malformed, "bake the graph again, or see what plan.check() finds"),
        Fault::Deadlock { .. } => (Code::Deadlock, "see which wait plan.check() finds that no signal satisfies"),
        _ => (Code::Diverges, "see which hazard plan.check() finds"),
    };
    let (pass, resource) = match fault {
        Fault::Malformed(findings) => {
            findings.first().map_or((None, None), |first| (first.pass.as_deref(), first.resource.as_deref()))
        }
        _ => (None, None),
    };
    let message = format!("{code} {fault}\n  help: {hint}");
    let exception =
        class(py, &CLASS, "PlanError").and_then(|class| class.call1((message, code.text(), pass, resource, hint)));
    exception.map_or_else(|failure| failure, PyErr::from_value)
}

/// The Python exception of a plan without a certificate, or of a certificate that does not prove its plan.
pub(crate) fn unproven(py: Python<'_>, title: &str, refused: &Refused) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (code, hint) = (Code::Unproven, "see which hazard plan.check() finds, or make the certificate again");
    let reasons: Vec<_> = refused.reasons.iter().take(5).map(|reason| format!("\n  {reason}")).collect();
    let message = format!("{code} {title}{}\n  help: {hint}", reasons.concat());
    let none: Option<&str> = None;
    let exception =
        class(py, &CLASS, "PlanError").and_then(|class| class.call1((message, code.text(), none, none, hint)));
    exception.map_or_else(|failure| failure, PyErr::from_value)
}

/// A mistake found where no exception may be made yet.
pub(crate) type Refusal = Box<Mistake>;

/// Why a declaration is refused at once.
pub(crate) fn refusal(code: Code, message: impl Into<String>, help: &str) -> Refusal {
    Box::new(Mistake::new(code, message, help))
}

/// The Python exception of one mistake.
#[allow(clippy::boxed_local, reason = "the type that refusals come in")]
pub(crate) fn one(py: Python<'_>, mistake: Refusal) -> PyErr {
    graph_error(py, &GraphError::one(*mistake))
}

/// The Python exception of a mistake that needs no names.
pub(crate) fn bad(py: Python<'_>, code: Code, message: impl Into<String>, help: &str) -> PyErr {
    one(py, refusal(code, message, help))
}

/// How long work goes on before signals are looked at.
const SLICE: Duration = Duration::from_millis(50);

thread_local! {
    /// When signals were looked at last.
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
    /// What the handler of a signal raised.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Whether a signal's handler raises: then work is given up. A nested call of a handler's own has a slice of its own.
fn interrupted() -> bool {
    let now = Instant::now();
    if LOOKED.get().is_some_and(|looked| now.duration_since(looked) < SLICE) {
        return false;
    }
    LOOKED.set(Some(now));
    if ending::is_ending() {
        return true;
    }
    match attached(|py| py.check_signals()) {
        Ok(()) => false,
        Err(error) => {
            RAISED.set(Some(error));
            true
        }
    }
}

/// Runs `work` without the interpreter lock. Ctrl-C ends work that polls; a panic in it becomes `rgraph.InternalError`.
pub(crate) fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    LOOKED.set(Some(Instant::now()));
    // What `work` had in hand is dropped with it: nothing half-changed can be seen afterwards.
    let work = || {
        let _inside = ending::enter();
        catch_unwind(AssertUnwindSafe(|| cancellable(interrupted, work)))
    };
    match py.detach(work) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Cancelled)) => Err(RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))),
        Err(panic) => Err(internal(py, &*panic)),
    }
}

/// The Python exception of a panic.
pub(crate) fn internal(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let cause = panic.downcast_ref::<String>().map(String::as_str);
    let cause = cause.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let hint = "report it with the graph that shows it";
    let message = format!("{} a fault of rgraph's, not of the graph: {cause}\n  help: {hint}", Code::Internal);
    let fields = (message, Code::Internal.text(), None::<&str>, None::<&str>, hint);
    let exception = class(py, &CLASS, "InternalError").and_then(|class| class.call1(fields));
    exception.map_or_else(|failure| failure, PyErr::from_value)
}
