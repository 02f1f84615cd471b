//! Where a declaration was made: file and line of the first frame outside the `rgraph` package.
//!
//! A call costs a few functions of the stable ABI and a look into a cache of the last code objects, so that a file's
//! name is made into text once and not once per declaration. CPython finds a frame's line from the start of the
//! function's line table, so a long script would pay more for each line: code that declares often has its table read
//! once, and each line is then found in it by bisection.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use rgraph_plan::graph::Place;

static TRACKING: AtomicBool = AtomicBool::new(true);

/// Code objects remembered per thread.
const REMEMBERED: usize = 32;

/// Declarations of one code object from which on its line table is read: reading it costs as much as some of them.
const OFTEN: u32 = 16;

thread_local! {
    static CODES: RefCell<Codes> = const { RefCell::new(Codes { known: Vec::new(), next: 0 }) };
}

/// The last code objects. They are held here, so an address stands for one of them only.
struct Codes {
    known: Vec<Known>,
    next: usize,
}

/// A code object.
struct Known {
    code: Py<PyAny>,
    /// Its file; `None`: it belongs to this package.
    file: Option<Arc<str>>,
    /// How many places in it were asked for.
    asked: u32,
    /// First byte of each stretch of instructions and its line, ascending, once they were read.
    lines: Option<Arc<[(u32, u32)]>>,
}

/// What is known of the code of a frame.
enum Found {
    /// It belongs to this package.
    Inside,
    /// Its file and its lines, if they were read.
    Outside(Arc<str>, Option<Arc<[(u32, u32)]>>),
    /// Its file; its lines are worth reading now.
    Often(Arc<str>),
}

impl Codes {
    fn find(&mut self, code: &Bound<'_, PyAny>) -> Option<Found> {
        let known = self.known.iter_mut().find(|known| known.code.is(code))?;
        let Some(file) = &known.file else { return Some(Found::Inside) };
        known.asked = known.asked.saturating_add(1);
        Some(match known.asked == OFTEN {
            true => Found::Often(Arc::clone(file)),
            false => Found::Outside(Arc::clone(file), known.lines.clone()),
        })
    }

    /// Remembers one; the one forgotten for it is handed back, since dropping a code object may run Python code.
    #[must_use]
    fn remember(&mut self, known: Known) -> Option<Known> {
        if self.known.len() < REMEMBERED {
            self.known.push(known);
            return None;
        }
        let forgotten = std::mem::replace(&mut self.known[self.next], known);
        self.next = (self.next + 1) % REMEMBERED;
        Some(forgotten)
    }
}

/// What is known of a frame's code. What is remembered is borrowed only where no Python code can run: code may be of a
/// namespace that looks names up with functions of its own, and its last reference may be watched.
fn known_code(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> Found {
    match CODES.with_borrow_mut(|codes| codes.find(code)) {
        Some(Found::Often(file)) => {
            let lines = lines_of(code).ok();
            CODES.with_borrow_mut(|codes| {
                if let Some(known) = codes.known.iter_mut().find(|known| known.code.is(code)) {
                    known.lines.clone_from(&lines);
                }
            });
            Found::Outside(file, lines)
        }
        Some(found) => found,
        None => {
            let file = file_of(frame, code);
            let known = Known { code: code.clone().unbind(), file: file.clone(), asked: 0, lines: None };
            let forgotten = CODES.with_borrow_mut(|codes| codes.remember(known));
            drop(forgotten);
            file.map_or(Found::Inside, |file| Found::Outside(file, None))
        }
    }
}

/// The line table of a code object, read once.
fn lines_of(code: &Bound<'_, PyAny>) -> PyResult<Arc<[(u32, u32)]>> {
    let stretches = code.call_method0(intern!(code.py(), "co_lines"))?;
    let one = |stretch: PyResult<Bound<'_, PyAny>>| {
        let (first, _, line): (u32, u32, Option<u32>) = stretch?.extract()?;
        Ok((first, line.unwrap_or(0)))
    };
    stretches.try_iter()?.map(one).collect::<PyResult<Vec<_>>>().map(Into::into)
}

/// The line of a frame, by its code's table.
fn line_in(frame: &Bound<'_, PyAny>, lines: &[(u32, u32)]) -> Option<u32> {
    let at: u32 = frame.getattr(intern!(frame.py(), "f_lasti")).ok()?.extract().ok()?;
    let behind = lines.partition_point(|(first, _)| *first <= at);
    lines.get(behind.checked_sub(1)?).map(|(_, line)| *line).filter(|line| *line > 0)
}

/// Whether a module is part of the library. The demos are users of it: their declarations are the ones to show.
fn is_library(module: &str) -> bool {
    let mut parts = module.split('.');
    parts.next() == Some("rgraph") && parts.next() != Some("demo")
}

/// The cell of a notebook (or of IPython) for the file name that the kernel made up: `In [14]`.
fn cell_of(py: Python<'_>, file: &str) -> Option<String> {
    let modules = py.import(intern!(py, "sys")).and_then(|sys| sys.getattr(intern!(py, "modules"))).ok()?;
    let ipython = modules.get_item(intern!(py, "IPython")).ok()?;
    let shell = ipython.call_method0(intern!(py, "get_ipython")).ok().filter(|shell| !shell.is_none())?;
    let compile = shell.getattr(intern!(py, "compile")).ok()?;
    let named = compile.call_method1(intern!(py, "format_code_name"), (file,)).ok().filter(|named| !named.is_none())?;
    let (_, name): (String, String) = named.extract().ok()?;
    // IPython writes `In[14]`, and shows `In [14]:` next to the cell.
    let number = name.strip_prefix("In[").and_then(|rest| rest.strip_suffix(']'));
    Some(number.map_or(name.clone(), |number| format!("In [{number}]")))
}

/// The file as the user would type it: relative if it is below the working directory.
fn file_of(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> Option<Arc<str>> {
    let py = code.py();
    let module = frame.getattr(intern!(py, "f_globals")).and_then(|globals| globals.get_item(intern!(py, "__name__")));
    if module.is_ok_and(|name| name.extract::<&str>().is_ok_and(is_library)) {
        return None;
    }
    let name = code.getattr(intern!(py, "co_filename")).ok()?;
    let name: String = name.extract().unwrap_or_else(|_| "?".to_owned());
    if let Some(cell) = cell_of(py, &name) {
        return Some(cell.into());
    }
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| std::path::Path::new(&name).strip_prefix(here).ok()?.to_str().map(str::to_owned));
    Some(short.unwrap_or(name).into())
}

/// Switches the recording of source lines on or off, for the whole process.
pub(crate) fn set_tracking(on: bool) {
    TRACKING.store(on, Ordering::Relaxed);
}

/// Reads `RGRAPH_SOURCE`: `0` switches source lines off.
pub(crate) fn read_environment() {
    set_tracking(std::env::var_os("RGRAPH_SOURCE").is_none_or(|value| value != "0"));
}

/// The place of the running Python code; `None` if places are not recorded or it is unknown.
#[inline]
pub(crate) fn place(py: Python<'_>) -> Option<Place> {
    if !TRACKING.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: the interpreter is attached (`py`); the frame is borrowed from the running thread, and may be null.
    let mut frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) }?;
    loop {
        // SAFETY: `frame` is a live frame; the code object comes back as a reference of our own, never null.
        let code = unsafe { Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(frame.as_ptr().cast()).cast()) };
        if let Found::Outside(file, lines) = known_code(&frame, &code) {
            let line = lines.and_then(|lines| line_in(&frame, &lines)).unwrap_or_else(|| {
                // SAFETY: `frame` is a live frame.
                let line = unsafe { ffi::PyFrame_GetLineNumber(frame.as_ptr().cast()) };
                u32::try_from(line).unwrap_or(0)
            });
            return Some(Place { file, line });
        }
        frame = frame.getattr(intern!(py, "f_back")).ok().filter(|outer| !outer.is_none())?;
    }
}
