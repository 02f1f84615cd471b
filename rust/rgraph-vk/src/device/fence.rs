//! Fences of a device that runs signal, in safe code: what waits for a `VkFence` can wait for a run.

use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use ash::vk;

use crate::device::Device;
use crate::device::external::RunFence;
use crate::device::handles::OwnedFence;
use crate::device::promise::{Promise, Promised};
use crate::error::{Called, Error};

/// A fence: a run signals it when all of it is done, read-backs included. Clones are the same one. It is destroyed when
/// nothing submitted uses it.
#[derive(Clone, Debug)]
pub struct Fence(pub(crate) Arc<OwnedFence>);

impl Fence {
    /// Its handle, for foreign code.
    pub fn raw(&self) -> vk::Fence {
        self.0.raw
    }

    /// Whether it is of that device.
    pub fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.0.shared, &device.0)
    }

    /// Whether a run has it.
    pub fn is_given(&self) -> bool {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).given
    }

    /// Whether the run that has it is done.
    ///
    /// # Errors
    /// If the device is closed or lost.
    pub fn is_signalled(&self) -> Result<bool, Error> {
        let shared = &self.0.shared;
        shared.check()?;
        // SAFETY: the fence lives.
        shared.noted(unsafe { shared.raw.get_fence_status(self.0.raw) }.called("vkGetFenceStatus"))
    }

    /// Waits on the host until the run that has it is done; `false`: the time was over first, or no run has it.
    ///
    /// # Errors
    /// As [`Fence::is_signalled`].
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool, Error> {
        let shared = &self.0.shared;
        shared.check()?;
        if !self.is_given() {
            return Ok(false);
        }
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            let left = end.map_or(Duration::from_secs(1), |end| end.saturating_duration_since(Instant::now()));
            let slice = left.min(Duration::from_secs(1)).as_nanos() as u64;
            // SAFETY: the fence lives.
            match unsafe { shared.raw.wait_for_fences(&[self.0.raw], true, slice) } {
                Ok(()) => return Ok(true),
                Err(vk::Result::TIMEOUT) => {
                    if end.is_some_and(|end| Instant::now() >= end) {
                        return Ok(false);
                    }
                }
                Err(result) => return shared.noted(Err(result).called("vkWaitForFences")),
            }
        }
    }

    /// Has a run signal it; what an earlier run signalled is forgotten when that is submitted. A run that fails gives
    /// it back as it was, or without a signal if the submit that signals it is the one that failed.
    ///
    /// # Errors
    /// `RG-E225` if a run has it that is not done; if the device is closed or lost.
    pub fn promised(&self) -> Result<RunFence, Error> {
        let shared = &self.0.shared;
        shared.check()?;
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.given {
            if state.stale || !self.is_signalled()? {
                let help = "wait for it first, or give each run under way a fence of its own";
                return Err(Error::input("?", "the fence belongs to a run that is not done", help));
            }
            state.stale = true;
        }
        state.given = true;
        let of: Weak<dyn Promised> = Arc::downgrade(&self.0) as _;
        shared.promises.add(Promise::Fence(self.0.raw), of);
        Ok(RunFence::of(self.0.raw, self.0.made))
    }
}
