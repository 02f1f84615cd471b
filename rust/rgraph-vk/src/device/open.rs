//! Devices of this process that are open.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::device::Shared;
use crate::device::process::{PerProcess, Process};

static OPEN: PerProcess<Mutex<Vec<Weak<Shared>>>> = PerProcess::new(Mutex::default);

/// Devices that are not destroyed yet: the open ones, and those that some thread destroys.
static UNDESTROYED: PerProcess<(Mutex<usize>, Condvar)> = PerProcess::new(Default::default);

/// Counts a device until it is destroyed, and its instance with it: the last of its fields.
#[derive(Debug)]
pub(crate) struct Undestroyed(Process);

impl Undestroyed {
    /// Counts one more.
    pub(crate) fn count() -> Self {
        *UNDESTROYED.get().0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self(Process::current())
    }
}

impl Drop for Undestroyed {
    fn drop(&mut self) {
        // A fork's copy counts what is the parent's.
        if self.0.is_current() {
            let (count, fewer) = UNDESTROYED.get();
            *count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
            fewer.notify_all();
        }
    }
}

/// Remembers a device as long as it is open.
pub(crate) fn remember(device: &Arc<Shared>) {
    let mut open = OPEN.get().lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|one| one.strong_count() > 0);
    open.push(Arc::downgrade(device));
}

fn devices() -> Vec<Arc<Shared>> {
    let open = OPEN.get().lock().unwrap_or_else(PoisonError::into_inner);
    open.iter().filter_map(Weak::upgrade).collect()
}

/// Gives up what is compiled in the background for the devices of this process, and waits for nothing. For the end of a
/// process: each compilation then ends behind the pipelines that it is just making.
pub fn give_up_preparations() {
    for device in devices() {
        device.preparing.give_up();
        // Its last owner may have gone meanwhile: what is left is the end of the process.
        std::mem::forget(device);
    }
}

/// Waits until the devices of this process have done all that was submitted, and until those that other threads destroy
/// are destroyed, but no longer than `timeout`; whether they have and are. For the end of a process whose threads still
/// have devices: a driver whose libraries are destroyed while it works crashes. Lost devices are left to those who use
/// them.
pub(crate) fn wait_for_open_devices(timeout: Duration) -> bool {
    let begin = Instant::now();
    let mut are_idle = true;
    let open = devices();
    let number = open.len();
    for device in open {
        if !device.is_lost() {
            let done = device.wait(&device.submitted(), Some(timeout.saturating_sub(begin.elapsed())));
            are_idle &= !matches!(done, Ok(false));
        }
        // Its last owner may have gone meanwhile: what is left is the end of the process.
        std::mem::forget(device);
    }
    let (count, fewer) = UNDESTROYED.get();
    let count = count.lock().unwrap_or_else(PoisonError::into_inner);
    let left = timeout.saturating_sub(begin.elapsed());
    let waited = fewer.wait_timeout_while(count, left, |count| *count > number);
    are_idle && !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
}
