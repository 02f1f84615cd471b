//! Devices of this process that are open.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::device::Shared;
use crate::device::process::PerProcess;

static OPEN: PerProcess<Mutex<Vec<Weak<Shared>>>> = PerProcess::new(Mutex::default);

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

/// Waits until the devices of this process have done all that was submitted, but no longer than `timeout`; whether they
/// have. For the end of a process whose threads still have devices: a driver whose libraries are destroyed while it
/// works crashes. Lost devices are left to those who use them.
pub(crate) fn wait_for_open_devices(timeout: Duration) -> bool {
    let begin = Instant::now();
    let mut are_idle = true;
    for device in devices() {
        if !device.is_lost() {
            let done = device.wait(&device.submitted(), Some(timeout.saturating_sub(begin.elapsed())));
            are_idle &= !matches!(done, Ok(false));
        }
        // Its last owner may have gone meanwhile: what is left is the end of the process.
        std::mem::forget(device);
    }
    are_idle
}
