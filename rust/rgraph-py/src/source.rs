//! Where a declaration was made: file and line of the first frame outside the `rgraph` package.
//!
//! A call costs three functions of the stable ABI and a look into a cache of the last code objects, so that a file's
//! name is made into text once and not once a declaration. A frame's line is found by CPython from the start of the
//! function's line table, so very long functions pay more.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use rgraph_plan::graph::Place;

static TRACKING: AtomicBool = AtomicBool::new(true);

/// Code objects remembered a thread.
const REMEMBERED: usize = 8;

thread_local! {
    static FILES: RefCell<Files> = const { RefCell::new(Files { known: Vec::new(), next: 0 }) };
}

/// The last code objects and their files. It holds the objects, so an address stands for one of them only.
struct Files {
    known: Vec<Entry>,
    next: usize,
}

/// A code object, and its file; `None`: it belongs to this package.
type Entry = (Py<PyAny>, Option<Arc<str>>);

impl Files {
    fn find(&self, code: &Bound<'_, PyAny>) -> Option<Option<Arc<str>>> {
        self.known.iter().find(|(known, _)| known.is(code)).map(|(_, file)| file.clone())
    }

    /// Remembers one; the one forgotten for it is handed back, since dropping a code object may run Python code.
    #[must_use]
    fn remember(&mut self, entry: Entry) -> Option<Entry> {
        if self.known.len() < REMEMBERED {
            self.known.push(entry);
            return None;
        }
        let forgotten = std::mem::replace(&mut self.known[self.next], entry);
        self.next = (self.next + 1) % REMEMBERED;
        Some(forgotten)
    }
}

/// The file of the frame's code. What is remembered is borrowed only where no Python code can run: code may be of a
/// namespace that looks names up with functions of its own, and its last reference may be watched.
fn known_file(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> Option<Arc<str>> {
    if let Some(file) = FILES.with_borrow(|files| files.find(code)) {
        return file;
    }
    let file = file_of(frame, code);
    let entry = (code.clone().unbind(), file.clone());
    let forgotten = FILES.with_borrow_mut(|files| files.remember(entry));
    drop(forgotten);
    file
}

/// The file as the user would type it: relative where it stands below the working directory.
fn file_of(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> Option<Arc<str>> {
    let py = code.py();
    let module = frame.getattr(intern!(py, "f_globals")).and_then(|globals| globals.get_item(intern!(py, "__name__")));
    if module.is_ok_and(|name| name.extract::<&str>().is_ok_and(|name| name.split('.').next() == Some("rgraph"))) {
        return None;
    }
    let name = code.getattr(intern!(py, "co_filename")).ok()?;
    let name: String = name.extract().unwrap_or_else(|_| "?".to_owned());
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| std::path::Path::new(&name).strip_prefix(here).ok()?.to_str().map(str::to_owned));
    Some(short.unwrap_or(name).into())
}

/// Switches the recording of source lines on or off, for the whole process.
pub fn set_tracking(on: bool) {
    TRACKING.store(on, Ordering::Relaxed);
}

/// Reads `RGRAPH_SOURCE`: `0` switches source lines off.
pub fn read_environment() {
    set_tracking(std::env::var_os("RGRAPH_SOURCE").is_none_or(|value| value != "0"));
}

/// Where the running Python code is, or `None` if nobody wants to know or nobody does.
#[inline]
pub fn place(py: Python<'_>) -> Option<Place> {
    if !TRACKING.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: the interpreter is attached (`py`); the frame is borrowed from the running thread, and may be null.
    let mut frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) }?;
    loop {
        // SAFETY: `frame` is a live frame; the code object comes back as a reference of our own, never null.
        let code = unsafe { Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(frame.as_ptr().cast()).cast()) };
        if let Some(file) = known_file(&frame, &code) {
            // SAFETY: `frame` is a live frame.
            let line = unsafe { ffi::PyFrame_GetLineNumber(frame.as_ptr().cast()) };
            return Some(Place { file, line: u32::try_from(line).unwrap_or(0) });
        }
        frame = frame.getattr(intern!(py, "f_back")).ok().filter(|outer| !outer.is_none())?;
    }
}
