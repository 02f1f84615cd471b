//! Timeline semaphores of a device that runs wait for and signal, in safe code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ash::vk::{self, Handle};

use crate::device::Shared;
use crate::device::external::{SemaphoreSignal, SemaphoreWait};
use crate::device::handles::{OwnedTimeline, Sharing, Values};
use crate::device::promise::{Made, Promise, Promised};
use crate::error::{Called, Code, DeviceError, Error};

/// A timeline semaphore: a number that only grows. Clones are the same one. It is destroyed when nothing submitted uses
/// it.
#[derive(Clone, Debug)]
pub struct Semaphore(pub(crate) Arc<OwnedTimeline>);

impl Shared {
    /// Makes a timeline semaphore, which is the caller's to delete later.
    pub(crate) fn create_timeline(&self, value: u64) -> Result<vk::Semaphore, Error> {
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE).initial_value(value);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: timeline semaphores are enabled.
        self.noted(unsafe { self.raw.create_semaphore(&info, self.raw.host()) }.called("vkCreateSemaphore"))
    }
}

impl Semaphore {
    /// Owns a timeline that has a value.
    pub(crate) fn own(shared: &Arc<Shared>, raw: vk::Semaphore, value: u64, sharing: Sharing) -> Self {
        let known = Mutex::new(Values { has: value, ..Values::default() });
        let owned = Arc::new(OwnedTimeline {
            shared: shared.clone(),
            raw,
            made: Made::by(shared.address()),
            sharing,
            lent: AtomicBool::new(false),
            known,
        });
        shared.handles.timelines.add(raw, &owned);
        Self(owned)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    pub(crate) fn sharing(&self) -> Sharing {
        self.0.sharing
    }

    /// Refuses a semaphore of another device.
    pub(crate) fn check_of(&self, shared: &Arc<Shared>) -> Result<(), Error> {
        if Arc::ptr_eq(&self.0.shared, shared) {
            return Ok(());
        }
        let message = "a semaphore of another device is given";
        Err(DeviceError::new(Code::Foreign, message, "export it, and import it on this device").into())
    }

    /// Its handle, for foreign code, which may signal it from then on.
    pub fn raw(&self) -> vk::Semaphore {
        self.0.lent.store(true, Ordering::Relaxed);
        self.0.raw
    }

    /// Its handle, which foreign code does not get.
    pub(crate) fn handle(&self) -> vk::Semaphore {
        self.0.raw
    }

    /// Its handle's number, for messages.
    pub fn shown(&self) -> u64 {
        self.0.raw.as_raw()
    }

    /// The value that it has now.
    ///
    /// # Errors
    /// If the device is closed or lost.
    pub fn value(&self) -> Result<u64, Error> {
        let shared = &self.0.shared;
        shared.check()?;
        // SAFETY: the semaphore lives.
        let value = unsafe { shared.raw.get_semaphore_counter_value(self.0.raw) };
        shared.noted(value.called("vkGetSemaphoreCounterValue"))
    }

    /// Sets the value from the host.
    ///
    /// # Errors
    /// `RG-E225` if the value is not above that which it has, or not below those that runs under way will signal; else
    /// as [`Semaphore::value`].
    pub fn signal(&self, value: u64) -> Result<(), Error> {
        let shared = &self.0.shared;
        self.check_writer()?;
        let mut known = self.known()?;
        let Values { has, promised, .. } = &mut *known;
        let next = promised.first().copied().unwrap_or(u64::MAX);
        if value <= *has || value >= next {
            let below = if promised.is_empty() { String::new() } else { format!(", and a run signals {next}") };
            let message = format!("a semaphore cannot be signalled with {value}: it has {has}{below}");
            let help = "values only grow: signal one above that which it has, and below those that runs signal";
            return Err(Error::input("?", message, help));
        }
        *has = value;
        let info = vk::SemaphoreSignalInfo::default().semaphore(self.0.raw).value(value);
        // SAFETY: the value is above that which it has and below those to come, and the lock keeps other threads out.
        shared.noted(unsafe { shared.raw.signal_semaphore(&info) }.called("vkSignalSemaphore"))
    }

    /// Waits on the host until it has a value; `false`: the time was over first.
    ///
    /// # Errors
    /// As [`Semaphore::value`].
    pub fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<bool, Error> {
        self.0.shared.check()?;
        self.0.shared.wait_semaphores(&[self.0.raw], &[value], timeout)
    }

    /// Has a run wait until it has a value. Nothing else ends that wait: a value that nobody signals leaves the frame
    /// under way. The semaphore is kept until the run is submitted.
    pub fn reaches(&self, value: u64) -> SemaphoreWait {
        SemaphoreWait::of(self.0.raw, Some(value), self.0.made)
    }

    /// Has a run set the value when it is done. A run that fails before it submits that signal gives the value back.
    ///
    /// # Errors
    /// `RG-E225` if the value is not above that which it has and those that runs signal, or the device has one queue
    /// and a run under way waits for that value or a higher one; else as [`Semaphore::value`].
    pub fn promised(&self, value: u64) -> Result<SemaphoreSignal, Error> {
        self.check_writer()?;
        let mut known = self.known()?;
        let highest = known.promised.last().copied().unwrap_or(known.has);
        if value <= highest {
            let message = format!("a run cannot signal a semaphore with {value}: it has or will have {highest}");
            return Err(Error::input("?", message, format!("signal a value above {highest}")));
        }
        // Behind a run that waits for it, a queue never comes to the signal, and until then no other signal may take
        // its place.
        if known.awaited >= value && self.0.shared.queues.len() == 1 {
            let awaited = known.awaited;
            let message = format!(
                "a run cannot signal a semaphore with {value}: a run before it on the same queue waits until it has {awaited}"
            );
            let help = format!("submit the signal before the wait, or let the host signal {awaited}");
            return Err(Error::input("?", message, help));
        }
        known.promised.push(value);
        let of: Weak<dyn Promised> = Arc::downgrade(&self.0) as _;
        self.0.shared.promises.add(Promise::Signal(self.0.raw, value), of);
        Ok(SemaphoreSignal::of(self.0.raw, Some(value), self.0.made))
    }

    /// Refuses signals by anybody but the maker: values only grow, so one timeline has one writer.
    fn check_writer(&self) -> Result<(), Error> {
        if self.0.sharing != Sharing::Imported {
            return Ok(());
        }
        let help = "signal a semaphore of your own, and export that to the other side";
        Err(Error::input("?", "an imported semaphore cannot be signalled: its maker signals it", help))
    }

    /// What it has, as the device says, and what is still promised.
    fn known(&self) -> Result<MutexGuard<'_, Values>, Error> {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let has = self.value()?;
        known.has = has;
        known.promised.retain(|promised| *promised > has);
        Ok(known)
    }
}
