//! Waits, signals and fences that a run was given, until each is submitted: a run that fails gives back the others.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, Weak};

use ash::vk;

use crate::compile::compiled::Inputs;
use crate::device::queue::Submit;
use crate::device::{Device, Shared};
use crate::error::Error;

/// What a run was given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Promise {
    /// A signal; of a timeline its value, of a binary semaphore 0.
    Signal(vk::Semaphore, u64),
    /// The wait for a binary semaphore.
    Wait(vk::Semaphore),
    /// A fence.
    Fence(vk::Fence),
}

/// Whose promise it is.
pub(crate) trait Promised: Send + Sync {
    /// The run did not happen: as before the promise.
    fn withdraw(&self, promise: Promise);
}

/// Those of runs that were not submitted yet.
#[derive(Default)]
pub(crate) struct Promises(Mutex<HashMap<Promise, Weak<dyn Promised>>>);

impl Promises {
    /// A run is given it.
    pub fn add(&self, promise: Promise, of: Weak<dyn Promised>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, of| of.strong_count() > 0);
        all.insert(promise, of);
    }

    fn take(&self, promise: Promise) -> Option<Weak<dyn Promised>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&promise)
    }

    /// It is submitted.
    pub fn keep(&self, promise: Promise) {
        self.take(promise);
    }
}

/// What a run was given, by objects of rgraph's or of others.
fn all<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = Promise> + 'a {
    let waits = inputs.waits.iter().filter(|wait| wait.value.is_none()).map(|wait| Promise::Wait(wait.semaphore));
    let signals = inputs.signals.iter().map(|signal| Promise::Signal(signal.semaphore, signal.value));
    waits.chain(signals).chain(inputs.fence.map(|fence| Promise::Fence(fence.0)))
}

impl Shared {
    /// These are about to be submitted: their fences have no signal of an earlier run any more.
    pub fn renew_fences(&self, submits: &[Submit]) -> Result<(), Error> {
        let fences = submits.iter().map(|submit| submit.fence).filter(|fence| *fence != vk::Fence::null());
        fences.filter_map(|fence| self.handles.fences.find(fence)).try_for_each(|fence| fence.renew())
    }

    /// These are submitted: whatever else of their run fails, they happen.
    pub fn keep_promises(&self, submits: &[Submit]) {
        for submit in submits {
            let waits = submit.waits.iter().map(|wait| Promise::Wait(wait.semaphore));
            let signals = submit.signals.iter().map(|&(semaphore, value)| Promise::Signal(semaphore, value));
            waits.chain(signals).chain([Promise::Fence(submit.fence)]).for_each(|promise| self.promises.keep(promise));
            for (semaphore, _) in &submit.signals {
                if let Some(binary) = self.handles.binary.find(*semaphore) {
                    binary.signal_behind(self.open_waits());
                }
            }
        }
    }

    /// The run that was given these failed: what of them it did not submit is as before.
    pub fn withdraw_promises(&self, inputs: &Inputs<'_>) {
        all(inputs).for_each(|promise| self.withdraw(promise));
    }

    /// It is as before, unless it was submitted.
    pub fn withdraw(&self, promise: Promise) {
        if let Some(of) = self.promises.take(promise).and_then(|of| of.upgrade()) {
            of.withdraw(promise);
        }
    }
}

impl Device {
    /// Says that a run with these inputs will not happen: its fence can be given to another run, values of timelines can be
    /// signalled again, and binary semaphores are as before. [`Compiled::run`](crate::Compiled::run) does so itself, with
    /// those that it did not submit, if it fails. Semaphores and fences of others are not touched.
    pub fn withdraw(&self, inputs: &Inputs<'_>) {
        self.0.withdraw_promises(inputs);
    }
}
