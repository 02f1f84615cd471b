//! The end of the process. Daemon threads run on while the interpreter ends, and then while the destructors of the
//! driver's libraries run: a driver that is in use meanwhile crashes. So from Python's `atexit` on, no thread but the
//! one that ends the process enters the runtime; those inside leave and stay, and what they submitted is waited for.
//! Where it never ends, and in a forked child, the process ends without the destructors of the driver's libraries.

use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use rgraph_vk::work::CallbackError;
use rgraph_vk::{PerProcess, give_up_preparations, prepare_exit};

/// Most time that the end of the process waits, for threads in the runtime and then for devices.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Threads {
    /// The thread that ends the process.
    ending: Option<ThreadId>,
    /// Threads in the runtime.
    inside: usize,
}

#[derive(Default)]
struct Gate {
    state: Mutex<Threads>,
    left: Condvar,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

static GATE: PerProcess<Gate> = PerProcess::new(Gate::default);

thread_local! {
    /// How often this thread entered.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// While it lives, the current thread is in the runtime, without the interpreter's lock.
pub(crate) struct Inside(());

/// Enters the runtime. Once the process ends, other threads than the one that ends it stay here for ever; calls within
/// calls enter, since their callers hold what others wait for.
pub(crate) fn enter() -> Inside {
    if DEPTH.get() == 0 {
        let mut state = GATE.get().lock();
        if is_over(&state) {
            drop(state);
            stay();
        }
        state.inside += 1;
    }
    DEPTH.set(DEPTH.get() + 1);
    Inside(())
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() > 0 {
            return;
        }
        let gate = GATE.get();
        let mut state = gate.lock();
        state.inside = state.inside.saturating_sub(1);
        let over = is_over(&state);
        drop(state);
        if over {
            gate.left.notify_all();
            stay();
        }
    }
}

/// Whether the process ends, and another thread ends it: work is given up then.
pub(crate) fn is_ending() -> bool {
    is_over(&GATE.get().lock())
}

fn is_over(state: &Threads) -> bool {
    state.ending.is_some_and(|ending| ending != std::thread::current().id())
}

/// The thread does nothing any more. It cannot end, since its caller would go on in an interpreter that ends.
pub(crate) fn stay() -> ! {
    loop {
        std::thread::park();
    }
}

/// Runs `work` with the interpreter's lock. Where the interpreter has ended no work is left to do, and the thread
/// stays.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    Python::try_attach(work).unwrap_or_else(|| stay())
}

/// Ends the use of the runtime by all threads but this one, then waits for the devices.
pub(crate) fn end(py: Python<'_>) {
    py.detach(|| {
        let (gate, begin) = (GATE.get(), Instant::now());
        gate.lock().ending = Some(std::thread::current().id());
        give_up_preparations();
        let mut state = gate.lock();
        while state.inside > 0 && begin.elapsed() < PATIENCE {
            let left = PATIENCE.saturating_sub(begin.elapsed());
            state = gate.left.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        prepare_exit(PATIENCE.saturating_sub(begin.elapsed()));
    });
}

/// Looks whether a signal (Ctrl-C) has come.
pub(crate) fn poll() -> Result<(), CallbackError> {
    if is_ending() {
        return Err("the process ends".into());
    }
    attached(|py| py.check_signals()).map_err(CallbackError::from)
}
