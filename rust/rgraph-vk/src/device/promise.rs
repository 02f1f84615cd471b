//! Waits, signals and fences that a run was given, until each is submitted: a run that fails gives back the others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use ash::vk;

/// What a run was given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Promise {
    /// A signal; of a timeline its value, of a binary semaphore 0.
    Signal(vk::Semaphore, u64),
    /// The wait for a binary semaphore.
    Wait(vk::Semaphore),
    Fence(vk::Fence),
}

/// One semaphore or fence that rgraph made: a later one may have its handle, none its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Made {
    number: u64,
    /// The address of the device's.
    device: usize,
}

impl Made {
    /// The next one of the device of that address.
    pub(crate) fn by(device: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), device }
    }

    /// Whether it is of the device of that address.
    pub(crate) fn is_by(self, device: usize) -> bool {
        self.device == device
    }
}

/// Whose promise it is.
pub(crate) trait Promised: Send + Sync {
    /// Which one it is.
    fn made(&self) -> Made;

    /// The run did not happen: as before the promise.
    fn withdraw(&self, promise: Promise);
}

struct Given {
    of: Weak<dyn Promised>,
    /// Whether a run that was called is about to submit it.
    claimed: bool,
}

/// Those of runs that were not submitted yet.
#[derive(Default)]
pub(crate) struct Promises(Mutex<HashMap<Promise, Given>>);

impl Promises {
    fn all(&self) -> MutexGuard<'_, HashMap<Promise, Given>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run is given it.
    pub(crate) fn add(&self, promise: Promise, of: Weak<dyn Promised>) {
        let mut all = self.all();
        all.retain(|_, given| given.of.strong_count() > 0);
        all.insert(promise, Given { of, claimed: false });
    }

    /// A run that has it was called; `false`: another one was, or it was withdrawn.
    pub(crate) fn claim(&self, promise: Promise) -> bool {
        let mut all = self.all();
        let given = all.get_mut(&promise).filter(|given| !given.claimed);
        given.map(|given| given.claimed = true).is_some()
    }

    /// Takes back what a run has; its object.
    pub(crate) fn take(&self, promise: Promise) -> Option<Weak<dyn Promised>> {
        self.all().remove(&promise).map(|given| given.of)
    }

    /// Takes it back unless a run that was called has it; its object.
    pub(crate) fn take_free(&self, promise: Promise) -> Option<Weak<dyn Promised>> {
        let mut all = self.all();
        let free = all.get(&promise).is_some_and(|given| !given.claimed);
        let given = if free { all.remove(&promise) } else { None };
        given.map(|given| given.of)
    }

    /// It is submitted, or its object goes; whether it was still to come.
    pub(crate) fn forget(&self, promise: Promise) -> bool {
        self.all().remove(&promise).is_some()
    }
}
