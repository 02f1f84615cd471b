//! How the host passes of a run go: who waits for the run waits for its outcome, and so do later users of its
//! resources.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::frame::span::Span;

/// How the host passes of a run go. What outlives the run is nobody else's until it is over.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    state: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    pending: usize,
    /// The last value that was signalled.
    reached: u64,
    /// Whether the run has submitted all that it will.
    submitted: bool,
    error: Option<Error>,
    failed: bool,
    times: Vec<Span>,
}

impl Outcome {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all jobs are done; `false`: the time was over first.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> bool {
        self.wait_while(timeout, |state| state.pending > 0)
    }

    /// Waits until the host's semaphore has a value; `false`: the time was over first.
    pub(crate) fn wait_for(&self, value: u64, timeout: Option<Duration>) -> bool {
        self.wait_while(timeout, |state| state.pending > 0 && state.reached < value)
    }

    /// Waits until the run has submitted everything and all jobs are done; `false`: the time was over first.
    pub(crate) fn wait_until_over(&self, timeout: Option<Duration>) -> bool {
        self.wait_while(timeout, |state| state.pending > 0 || !state.submitted)
    }

    /// One more job is to come.
    pub(crate) fn begin(&self) {
        self.lock().pending += 1;
    }

    /// Remembers when a pass ran.
    pub(crate) fn ran(&self, span: Span) {
        self.lock().times.push(span);
    }

    /// The run submits nothing more.
    pub(crate) fn submitted(&self) {
        self.lock().submitted = true;
        self.changed.notify_all();
    }

    fn wait_while(&self, timeout: Option<Duration>, busy: impl Fn(&Progress) -> bool) -> bool {
        // A time that no clock reaches is none.
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.lock();
        while busy(&state) {
            let left = end.map_or(Duration::from_secs(3600), |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return false;
            }
            (state, _) = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    /// The first error, once.
    pub(crate) fn take_error(&self) -> Option<Error> {
        self.lock().error.take()
    }

    /// Whether a function failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.lock().failed
    }

    /// When each pass ran.
    pub(crate) fn times(&self) -> Vec<Span> {
        self.lock().times.clone()
    }

    /// A function failed.
    pub(crate) fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.failed = true;
        state.error.get_or_insert(error);
    }

    /// A job ended; the value that was signalled with it.
    pub(crate) fn end(&self, signalled: Option<u64>) {
        let mut state = self.lock();
        state.pending -= 1;
        state.reached = state.reached.max(signalled.unwrap_or(0));
        drop(state);
        self.changed.notify_all();
    }
}
