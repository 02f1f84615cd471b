//! The job pool: threads of the process that help with functions of the caller's, in addition to the thread that waits
//! for them.
//!
//! Nothing waits for a helper: a thread that submits tasks also works on them, so work goes on while all helpers are
//! busy (with functions that never return, or that wait for runs on other devices). A helper that finds nothing to do
//! for a while ends; between tasks it holds nothing.

use std::any::Any;
use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::device::inside::Chain;
use crate::device::lend::{JobThreads, Threads};
use crate::device::poll::{Poll, wait_polling};
use crate::device::process::PerProcess;
use crate::error::Error;

/// Helpers where the machine has fewer cores: functions that wait for files or locks take no core.
const LEAST_HELPERS: usize = 8;

/// How long a helper without work stays.
const PATIENCE: Duration = Duration::from_secs(5);

type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Workers {
    tasks: VecDeque<Task>,
    threads: usize,
    idle: usize,
}

#[derive(Default)]
struct Pool {
    state: Mutex<Workers>,
    more: Condvar,
}

static POOL: PerProcess<Pool> = PerProcess::new(Pool::default);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks a helper to run a task, once one is free. The task may come late or find its work done.
pub(crate) fn help(threads: &Threads, task: impl FnOnce() + Send + 'static) {
    if let Some(threads) = threads {
        return threads.spawn(Box::new(move || {
            // Tasks catch panics of the caller's functions; another one ends this task, not the engine's thread.
            let _ = catch_unwind(AssertUnwindSafe(task));
        }));
    }
    let pool = POOL.get();
    let mut state = locked(&pool.state);
    state.tasks.push_back(Box::new(task));
    let most = std::thread::available_parallelism().map_or(1, NonZero::get).max(LEAST_HELPERS);
    if state.idle < state.tasks.len() && state.threads < most {
        // If no thread can be started, the thread that waits for the work does it.
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
    threads: &Threads,
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
        help(threads, move || calls.work(&call));
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

/// How far a call of [`scoped`] is.
#[derive(Default)]
struct Scope {
    next: AtomicUsize,
    /// Helpers at work, and whether later ones find the call over.
    state: Mutex<(usize, bool)>,
    left: Condvar,
    /// What a helper's work panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Scope {
    fn work(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            work(at);
        }
    }
}

/// Ends a call: lets no helper in any more, and waits for those that are in.
struct Closing<'a>(&'a Scope);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.next.store(usize::MAX / 2, Ordering::Relaxed);
        let mut state = locked(&self.0.state);
        state.1 = true;
        while state.0 > 0 {
            state = self.0.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Counts a helper out.
struct Leaving<'a>(&'a Scope);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        locked(&self.0.state).0 -= 1;
        self.0.left.notify_all();
    }
}

/// Calls a function with each number below `count`, on this thread and on an engine's. Returns when all calls are over.
///
/// # Panics
/// If a call does.
pub(crate) fn scoped(threads: &dyn JobThreads, count: usize, work: &(dyn Fn(usize) + Sync)) {
    let scope = Arc::new(Scope::default());
    // SAFETY: only the lifetime changes. Helpers call it while they are counted in, and `Closing` waits for them before
    // this function returns or unwinds; later ones find the scope closed.
    let lasting: &'static (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(work) };
    let closing = Closing(&scope);
    for _ in 1..count.min(threads.count().max(1) + 1) {
        let scope = scope.clone();
        threads.spawn(Box::new(move || {
            let mut state = locked(&scope.state);
            if state.1 {
                return;
            }
            state.0 += 1;
            drop(state);
            let _leaving = Leaving(&scope);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| scope.work(count, lasting))) {
                locked(&scope.panic).get_or_insert(panic);
            }
        }));
    }
    scope.work(count, work);
    drop(closing);
    if let Some(panic) = locked(&scope.panic).take() {
        resume_unwind(panic);
    }
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
        assert_eq!(each(&None, vec![1, 2, 3], None, call).unwrap(), [2, 4, 6]);
    }

    #[derive(Debug)]
    struct Spawned;

    impl JobThreads for Spawned {
        fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
            std::thread::spawn(job);
        }

        fn count(&self) -> usize {
            3
        }
    }

    #[derive(Default)]
    struct Late(Mutex<Vec<Box<dyn FnOnce() + Send>>>);

    impl std::fmt::Debug for Late {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Late")
        }
    }

    impl JobThreads for Late {
        fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
            locked(&self.0).push(job);
        }

        fn count(&self) -> usize {
            3
        }
    }

    #[test]
    fn an_engines_threads_share_the_work_and_late_ones_find_none() {
        let barrier = Barrier::new(4);
        let seen = Mutex::new(Vec::new());
        scoped(&Spawned, 4, &|at| {
            barrier.wait();
            locked(&seen).push(at);
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3]);
        let late = Late::default();
        let count = AtomicUsize::new(0);
        scoped(&late, 10, &|_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(count.load(Ordering::Relaxed), 10);
        let jobs = std::mem::take(&mut *locked(&late.0));
        assert_eq!(jobs.len(), 3);
        jobs.into_iter().for_each(|job| job());
        assert_eq!(count.load(Ordering::Relaxed), 10);
    }

    #[test]
    fn a_panic_on_an_engines_thread_arrives_here() {
        let here = std::thread::current().id();
        let barrier = Barrier::new(2);
        let result = catch_unwind(AssertUnwindSafe(|| {
            scoped(&Spawned, 2, &|_| {
                barrier.wait();
                assert!(std::thread::current().id() == here, "on another thread");
            });
        }));
        assert!(result.unwrap_err().downcast_ref::<&str>().is_some_and(|text| text.contains("on another thread")));
    }

    #[test]
    fn the_first_error_is_given_and_later_calls_do_not_begin() {
        let called = Arc::new(Mutex::new(0));
        let count = called.clone();
        let call = move |item: u32| {
            *locked(&count) += 1;
            if item == 0 { Err(Error::input("x", "no", "")) } else { Ok(item) }
        };
        let error = each(&None, (0..1000).collect(), None, call).unwrap_err();
        assert!(error.to_string().contains("no"), "{error}");
        assert!(*locked(&called) < 1000);
    }
}
