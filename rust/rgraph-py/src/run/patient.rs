//! Work that cannot be stopped, for a caller who can: it runs on a thread of its own while signals are looked at.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;
use rgraph_plan::cancel::{Cancelled, cancellable};

use crate::run::error::internal;

thread_local! {
    /// Whether nobody waits any more for what this thread works at.
    static GIVEN_UP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

fn is_given_up() -> bool {
    GIVEN_UP.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)))
}

/// How long the caller waits before it looks at signals again.
const SLICE: Duration = Duration::from_millis(50);

/// Runs `work` on another thread, without the interpreter lock. A signal whose handler raises (Ctrl-C) ends the wait
/// within 50 ms; `work` then ends in the background, at its next poll if it polls, and its result is dropped there.
pub(crate) fn patiently<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (send, mut receive) = channel();
    let given_up = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&given_up);
    let run = move || {
        GIVEN_UP.set(Some(theirs));
        // Nobody receives once the caller was interrupted, and only then work is given up.
        let _ = send.send(catch_unwind(AssertUnwindSafe(|| cancellable(is_given_up, work))));
    };
    std::thread::Builder::new().name("rgraph work".to_owned()).spawn(run)?;
    loop {
        let (done, again) = py.detach(move || (receive.recv_timeout(SLICE), receive));
        receive = again;
        match done {
            Ok(Ok(Ok(value))) => return Ok(value),
            Ok(Ok(Err(Cancelled))) => return Err(internal(py, &"work was given up while it was waited for")),
            Ok(Err(panic)) => return Err(internal(py, &*panic)),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| given_up.store(true, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(internal(py, &"a thread ended without a result")),
        }
    }
}
