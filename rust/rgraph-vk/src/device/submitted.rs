//! Promises of submits: kept once they are submitted, withdrawn if they are not.

use ash::vk;

use crate::device::Shared;
use crate::device::promise::Promise;
use crate::device::queue::Submit;
use crate::error::Error;

impl Shared {
    /// These are about to be submitted: their fences have no signal of an earlier run any more.
    pub(crate) fn renew_fences(&self, submits: &[Submit]) -> Result<(), Error> {
        let fences = submits.iter().map(|submit| submit.fence).filter(|fence| *fence != vk::Fence::null());
        fences.filter_map(|fence| self.handles.fences.find(fence)).try_for_each(|fence| fence.renew())
    }

    /// These are submitted: whatever else of their run fails, they happen.
    pub(crate) fn keep_promises(&self, submits: &[Submit]) {
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

    /// It is as before, unless a run that was called has it.
    pub(crate) fn withdraw(&self, promise: Promise) {
        if let Some(of) = self.promises.take_free(promise).and_then(|of| of.upgrade()) {
            of.withdraw(promise);
        }
    }
}
