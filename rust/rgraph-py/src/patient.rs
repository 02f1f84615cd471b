//! Work that cannot be stopped, for a caller who can: it runs on a thread of its own while signals are looked at.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::internal;

/// How long the caller waits before it looks at signals again.
const SLICE: Duration = Duration::from_millis(50);

/// Runs `work` on another thread, without the interpreter lock. A signal whose handler raises (Ctrl-C) ends the wait within
/// 50 ms; `work` then ends in the background, and its result is dropped there.
pub fn patiently<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (send, mut receive) = channel();
    let run = move || {
        // Nobody receives once the caller was interrupted.
        let _ = send.send(catch_unwind(AssertUnwindSafe(work)));
    };
    std::thread::Builder::new().name("rgraph work".to_owned()).spawn(run)?;
    loop {
        let (done, again) = py.detach(move || (receive.recv_timeout(SLICE), receive));
        receive = again;
        match done {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(panic)) => return Err(internal(py, &*panic)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(internal(py, &"a thread ended without a result")),
        }
    }
}
