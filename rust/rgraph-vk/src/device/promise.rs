//! Waits, signals and fences that a run was given, until each is submitted: a run that fails gives back the others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ash::vk::{self, Handle};

use crate::compile::compiled::Inputs;
use crate::device::handles::Known;
use crate::device::queue::Submit;
use crate::device::{Device, Shared};
use crate::error::{Code, DeviceError, Error};

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

/// One semaphore or fence that rgraph made: a later one may have its handle, none its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Made {
    number: u64,
    /// The address of the device's.
    device: usize,
}

impl Made {
    /// The next one of a device.
    pub fn by(device: &Arc<Shared>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), device: Arc::as_ptr(device).addr() }
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
    pub fn add(&self, promise: Promise, of: Weak<dyn Promised>) {
        let mut all = self.all();
        all.retain(|_, given| given.of.strong_count() > 0);
        all.insert(promise, Given { of, claimed: false });
    }

    /// A run that has it was called; `false`: another one was, or it was withdrawn.
    fn claim(&self, promise: Promise) -> bool {
        let mut all = self.all();
        let given = all.get_mut(&promise).filter(|given| !given.claimed);
        given.map(|given| given.claimed = true).is_some()
    }

    /// It is submitted, or its object goes; whether it was still to come.
    pub fn forget(&self, promise: Promise) -> bool {
        self.all().remove(&promise).is_some()
    }
}

/// What a run has of rgraph's: it lives until the run is submitted.
#[must_use]
pub(crate) struct Held<'a> {
    shared: &'a Shared,
    objects: Vec<Arc<dyn Promised>>,
    claimed: Vec<Promise>,
}

impl Held<'_> {
    fn object<T: Promised + 'static>(
        &mut self,
        known: &Known<T>,
        handle: impl Handle,
        made: Made,
        what: &str,
    ) -> Result<(), Error> {
        if made.device != std::ptr::from_ref(self.shared).addr() {
            let message = format!("a run is given a {what} of another device");
            let help = "give what the device of the run made or imported".to_owned();
            return Err(DeviceError::new(Code::Foreign, message, help).into());
        }
        let Some(object) = known.find(handle).filter(|object| object.made() == made) else {
            let help = format!("keep the {what} until the run is submitted");
            return Err(Error::input("?", format!("a run is given a {what} that is gone"), help));
        };
        self.objects.push(object);
        Ok(())
    }

    fn claim(&mut self, promise: Promise, what: &str) -> Result<(), Error> {
        if self.shared.promises.claim(promise) {
            self.claimed.push(promise);
            return Ok(());
        }
        let message = format!("a run is given a {what} that another run was given, or that was withdrawn");
        Err(Error::input("?", message, "ask the semaphore or fence anew for each run"))
    }

    fn all(&mut self, inputs: &Inputs<'_>) -> Result<(), Error> {
        let handles = &self.shared.handles;
        for wait in &inputs.waits {
            match (wait.made, wait.value) {
                (Some(made), Some(_)) => self.object(&handles.timelines, wait.semaphore, made, "semaphore")?,
                (Some(made), None) => {
                    self.object(&handles.binary, wait.semaphore, made, "semaphore")?;
                    self.claim(Promise::Wait(wait.semaphore), "wait")?;
                }
                (None, _) => {}
            }
        }
        for signal in &inputs.signals {
            let Some(made) = signal.made else { continue };
            match signal.value {
                0 => self.object(&handles.binary, signal.semaphore, made, "semaphore")?,
                _ => self.object(&handles.timelines, signal.semaphore, made, "semaphore")?,
            }
            self.claim(Promise::Signal(signal.semaphore, signal.value), "signal")?;
        }
        if let Some((fence, made)) = inputs.fence.and_then(|fence| Some((fence.fence, fence.made?))) {
            self.object(&handles.fences, fence, made, "fence")?;
            self.claim(Promise::Fence(fence), "fence")?;
        }
        Ok(())
    }

    /// The run failed: what of it was not submitted is as before.
    pub fn withdraw(self) {
        let taken =
            self.claimed.iter().filter_map(|promise| Some((*promise, self.shared.promises.all().remove(promise)?)));
        for (promise, given) in taken.collect::<Vec<_>>() {
            if let Some(of) = given.of.upgrade() {
                of.withdraw(promise);
            }
        }
    }
}

/// What a run was given, by objects of a device of rgraph's or by handle.
fn all<'a>(inputs: &'a Inputs<'_>, device: &Shared) -> impl Iterator<Item = Promise> + 'a {
    let device = std::ptr::from_ref(device).addr();
    let here = move |made: Option<Made>| made.is_none_or(|made| made.device == device);
    let waits = inputs.waits.iter().filter(move |wait| wait.value.is_none() && here(wait.made));
    let signals = inputs.signals.iter().filter(move |signal| here(signal.made));
    let fence = inputs.fence.filter(|fence| here(fence.made));
    let waits = waits.map(|wait| Promise::Wait(wait.semaphore));
    let signals = signals.map(|signal| Promise::Signal(signal.semaphore, signal.value));
    waits.chain(signals).chain(fence.map(|fence| Promise::Fence(fence.fence)))
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
            waits.chain(signals).chain([Promise::Fence(submit.fence)]).for_each(|promise| {
                self.promises.forget(promise);
            });
            for (semaphore, _) in &submit.signals {
                if let Some(binary) = self.handles.binary.find(*semaphore) {
                    binary.signal_behind(self.open_waits());
                }
            }
        }
    }

    /// What a run is given of rgraph's, for that run alone.
    ///
    /// # Errors
    /// If another run has it, it is gone, or another device's; then all of it is as before the promise.
    pub fn hold(&self, inputs: &Inputs<'_>) -> Result<Held<'_>, Error> {
        let mut held = Held { shared: self, objects: Vec::new(), claimed: Vec::new() };
        match held.all(inputs) {
            Ok(()) => Ok(held),
            Err(error) => {
                held.withdraw();
                self.withdraw_promises(inputs);
                Err(error)
            }
        }
    }

    /// No run will have these: they are as before, but for those of a run that was called.
    pub fn withdraw_promises(&self, inputs: &Inputs<'_>) {
        all(inputs, self).for_each(|promise| self.withdraw(promise));
    }

    /// It is as before, unless a run that was called has it.
    pub fn withdraw(&self, promise: Promise) {
        let mut all = self.promises.all();
        let free = all.get(&promise).is_some_and(|given| !given.claimed);
        let given = if free { all.remove(&promise) } else { None };
        drop(all);
        if let Some(of) = given.and_then(|given| given.of.upgrade()) {
            of.withdraw(promise);
        }
    }
}

impl Device {
    /// Says that a run with these inputs will not happen: its fence can be given to another run, values of timelines can be
    /// signalled again, and binary semaphores are as before. [`Compiled::run`](crate::Compiled::run) does so itself, with
    /// those that it did not submit, if it fails. Semaphores and fences of others, and those of a run that was called, are not
    /// touched.
    pub fn withdraw(&self, inputs: &Inputs<'_>) {
        self.0.withdraw_promises(inputs);
    }
}
