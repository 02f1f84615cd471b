//! Semaphores and fences of rgraph's that a run was given: they live until it is submitted, and are as before if it
//! fails.

use std::sync::Arc;

use ash::vk::Handle;

use crate::device::Shared;
use crate::device::handles::Known;
use crate::device::promise::{Made, Promise, Promised};
use crate::error::{Code, DeviceError, Error};
use crate::frame::inputs::Inputs;

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
        if !made.is_by(self.shared.address()) {
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
        Err(Error::input("?", message, "get the handle of the semaphore or fence again for each run"))
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
    pub(crate) fn withdraw(self) {
        let taken = self.claimed.iter().filter_map(|promise| Some((*promise, self.shared.promises.take(*promise)?)));
        for (promise, of) in taken.collect::<Vec<_>>() {
            if let Some(of) = of.upgrade() {
                of.withdraw(promise);
            }
        }
    }
}

/// What a run was given, by objects of a device of rgraph's or by handle.
fn all<'a>(inputs: &'a Inputs<'_>, device: &Shared) -> impl Iterator<Item = Promise> + 'a {
    let device = device.address();
    let here = move |made: Option<Made>| made.is_none_or(|made| made.is_by(device));
    let waits = inputs.waits.iter().filter(move |wait| wait.value.is_none() && here(wait.made));
    let signals = inputs.signals.iter().filter(move |signal| here(signal.made));
    let fence = inputs.fence.filter(|fence| here(fence.made));
    let waits = waits.map(|wait| Promise::Wait(wait.semaphore));
    let signals = signals.map(|signal| Promise::Signal(signal.semaphore, signal.value));
    waits.chain(signals).chain(fence.map(|fence| Promise::Fence(fence.fence)))
}

impl Shared {
    /// What a run is given of rgraph's, for that run alone.
    ///
    /// # Errors
    /// If another run has it, it is gone, or another device's; then all of it is as before the promise.
    pub(crate) fn hold(&self, inputs: &Inputs<'_>) -> Result<Held<'_>, Error> {
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
    pub(crate) fn withdraw_promises(&self, inputs: &Inputs<'_>) {
        all(inputs, self).for_each(|promise| self.withdraw(promise));
    }
}
