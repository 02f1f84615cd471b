//! The job pool: threads of the process that help with functions of the caller's, beside the thread that waits for
//! them.
//!
//! Nothing waits for a helper: whoever has work also does it, so work goes on where all helpers are taken (by functions
//! that never return, or that wait for runs on other devices). A helper that finds nothing to do for a while ends;
//! between tasks it holds nothing.

use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::compile::compiled::Poll;
use crate::device::inside::Chain;
use crate::device::process::PerProcess;
use crate::error::Error;
use crate::frame::run::wait_polling;

/// Helpers where the machine has fewer cores: functions that wait for files or locks take no core.
const LEAST_HELPERS: usize = 8;

/// How long a helper without work stays.
const PATIENCE: Duration = Duration::from_secs(5);

type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    threads: usize,
    idle: usize,
}

#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    more: Condvar,
}

static POOL: PerProcess<Pool> = PerProcess::new(Pool::default);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks a helper to run a task, once one is free. The task may come late or find its work done.
pub(crate) fn help(task: impl FnOnce() + Send + 'static) {
    let pool = POOL.get();
    let mut state = locked(&pool.state);
    state.tasks.push_back(Box::new(task));
    let most = std::thread::available_parallelism().map_or(1, NonZero::get).max(LEAST_HELPERS);
    if state.idle < state.tasks.len() && state.threads < most {
        // Without a thread the work is done by whoever waits for it.
        let started = std::thread::Builder::new().name("rgraph job".to_owned()).spawn(|| serve(POOL.get()));
        state.threads += usize::from(started.is_ok());
    }
    drop(state);
    pool.more.notify_one();
}

fn serve(pool: &Pool) {
    let mut state = locked(&pool.state);
    loop {
        if let Some(task) = state.tasks.pop_front() {
            drop(state);
            // Tasks catch panics of the caller's functions; another one ends this task, not the pool.
            let _ = catch_unwind(AssertUnwindSafe(task));
            state = locked(&pool.state);
            continue;
        }
        state.idle += 1;
        let (again, waited) = pool.more.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner);
        state = again;
        state.idle -= 1;
        if waited.timed_out() && state.tasks.is_empty() {
            state.threads -= 1;
            return;
        }
    }
}

/// Functions that are called once each.
struct Calls<T, R> {
    state: Mutex<CallsState<T, R>>,
    changed: Condvar,
    chain: Chain,
}

struct CallsState<T, R> {
    /// What is left to call, the first one last.
    left: Vec<(usize, T)>,
    running: usize,
    done: Vec<Option<std::thread::Result<Result<R, Error>>>>,
    failed: bool,
}

impl<T, R> Calls<T, R> {
    /// Calls until nothing is left, or one has failed.
    fn work(&self, call: &impl Fn(T) -> Result<R, Error>) {
        let _inside = self.chain.enter();
        loop {
            let mut state = locked(&self.state);
            if state.failed {
                return;
            }
            let Some((at, item)) = state.left.pop() else { return };
            state.running += 1;
            drop(state);
            let result = catch_unwind(AssertUnwindSafe(|| call(item)));
            let mut state = locked(&self.state);
            state.failed |= !matches!(result, Ok(Ok(_)));
            state.done[at] = Some(result);
            state.running -= 1;
            drop(state);
            self.changed.notify_all();
        }
    }
}

/// Calls a function for each item, on this thread and on helpers. Once a call has failed no further one begins.
///
/// # Errors
/// Of the first item whose call failed, once those under way are over; of `poll` at once, and they go on by themselves.
///
/// # Panics
/// If the function does.
pub(crate) fn each<T: Send + 'static, R: Send + 'static>(
    items: Vec<T>,
    poll: Option<Poll<'_>>,
    call: impl Fn(T) -> Result<R, Error> + Send + Sync + Clone + 'static,
) -> Result<Vec<R>, Error> {
    if items.len() < 2 {
        return items.into_iter().map(call).collect();
    }
    let count = items.len();
    let left = items.into_iter().enumerate().rev().collect();
    let done = (0..count).map(|_| None).collect();
    let state = Mutex::new(CallsState { left, running: 0, done, failed: false });
    let calls = Arc::new(Calls { state, changed: Condvar::new(), chain: Chain::here() });
    for _ in 1..count {
        let (calls, call) = (calls.clone(), call.clone());
        help(move || calls.work(&call));
    }
    calls.work(&call);
    wait_polling(poll, |slice| {
        let end = slice.map(|slice| Instant::now() + slice);
        let mut state = locked(&calls.state);
        while state.running > 0 {
            let left = end.map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(false);
            }
            (state, _) = calls.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(true)
    })?;
    let done = std::mem::take(&mut locked(&calls.state).done);
    let results = done.into_iter().flatten().map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)));
    results.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn calls_meet_at_a_barrier_and_results_keep_their_order() {
        let barrier = Arc::new(Barrier::new(3));
        let call = move |item: u32| {
            barrier.wait();
            Ok(item * 2)
        };
        assert_eq!(each(vec![1, 2, 3], None, call).unwrap(), [2, 4, 6]);
    }

    #[test]
    fn the_first_error_is_given_and_later_calls_do_not_begin() {
        let called = Arc::new(Mutex::new(0));
        let count = called.clone();
        let call = move |item: u32| {
            *locked(&count) += 1;
            if item == 0 { Err(Error::input("x", "no", "")) } else { Ok(item) }
        };
        let error = each((0..1000).collect(), None, call).unwrap_err();
        assert!(error.to_string().contains("no"), "{error}");
        assert!(*locked(&called) < 1000);
    }
}
