//! Who has a resource of a shared block, and until when.

use rgraph_plan::access::Layout;

use crate::device::poll::{Poll, wait_polling};
use crate::device::promise::Promise;
use crate::device::semaphore::Semaphore;
use crate::error::Error;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::resource::DeviceResource;
use crate::memory::share::lent::{Holder, Lent};
use crate::memory::staged;
use ash::vk;

impl PhysicalResource {
    /// Whether any part belongs to a user outside of the device.
    fn is_elsewhere(&self) -> bool {
        let (tracked, mut found) = (self.tracked(), false);
        tracked.visit(tracked.whole(), |_, state| found |= state.family == Some(vk::QUEUE_FAMILY_EXTERNAL));
        found
    }

    /// The user outside of the device who has it.
    pub(crate) fn holder(&self) -> Option<Lent> {
        let lent = self.lent().clone()?;
        self.is_elsewhere().then_some(lent)
    }

    /// Refuses what another user has for a time that nobody knows.
    pub(crate) fn available(&self) -> Result<(), Error> {
        if self.block().is_none() {
            return Ok(());
        }
        match self.holder() {
            Some(Lent { holder: Holder { name, until: None }, acquired: false }) => {
                let message = format!("\"{}\" is held by {name}", self.name);
                let help = "acquire it when its holder is done, or release it with until=(semaphore, value)";
                Err(Error::input(&self.name, message, help))
            }
            _ => Ok(()),
        }
    }
}

impl DeviceResource {
    /// First byte in its block; `None` if it lies in no shared block.
    pub fn offset(&self) -> Option<u64> {
        self.physical().block().map(|(_, offset)| *offset)
    }

    /// The user outside of this device who has it; `None`: it is this device's.
    pub fn holder(&self) -> Option<Holder> {
        self.physical().holder().filter(|lent| !lent.acquired).map(|lent| lent.holder)
    }

    /// Leaves it to another user, `to`, behind all uses so far; images in layout `general`. With `signal` the call
    /// returns when that is submitted, and the timeline gets the value when it is done; without, it waits. With `until`
    /// the next use waits for that value of a timeline that the other user signals; without, uses are refused until
    /// [`DeviceResource::acquire`].
    ///
    /// # Errors
    /// If it lies in no shared block, another user has it, a semaphore is of another device, or the driver fails.
    pub fn release(
        &self,
        to: &str,
        signal: Option<(&Semaphore, u64)>,
        until: Option<(&Semaphore, u64)>,
    ) -> Result<(), Error> {
        self.release_polling(to, signal, until, None)
    }

    /// [`DeviceResource::release`], which calls `poll` every 50 ms while it waits.
    ///
    /// # Errors
    /// As [`DeviceResource::release`]; that of `poll`, behind which the other user has the resource.
    pub fn release_polling(
        &self,
        to: &str,
        signal: Option<(&Semaphore, u64)>,
        until: Option<(&Semaphore, u64)>,
        poll: Option<Poll<'_>>,
    ) -> Result<(), Error> {
        let physical = self.physical();
        let shared = &physical.shared;
        shared.check()?;
        shared.outside()?;
        let name = &physical.name;
        if physical.block().is_none() {
            let message = format!("\"{name}\" lies in no shared memory");
            return Err(Error::input(name, message, "make it with SharedMemory"));
        }
        physical.available()?;
        for (semaphore, _) in signal.iter().chain(&until) {
            semaphore.check_of(shared)?;
        }
        let signals: Vec<_> =
            signal.map(|(semaphore, value)| semaphore.promised(value)).transpose()?.into_iter().collect();
        let promise = signal.map(|(semaphore, value)| Promise::Signal(semaphore.handle(), value));
        // Nothing fails behind the submit that signals it.
        let released = staged::release(physical, &signals, poll);
        match (promise, &released) {
            (Some(promise), Ok(_)) => {
                shared.promises.forget(promise);
            }
            (Some(promise), Err(_)) => shared.withdraw(promise),
            (None, _) => {}
        }
        let point = released?;
        let until = until.map(|(semaphore, value)| (semaphore.clone(), value));
        *physical.lent() = Some(Lent { holder: Holder { name: to.to_owned(), until }, acquired: false });
        if signal.is_none() {
            wait_polling(poll, |slice| shared.wait(&[point], slice))?;
        }
        shared.sweep()
    }

    /// Takes it back from its holder, who left images in layout `general`. With `after` the next use waits until the
    /// semaphore has the value; without, the holder is done already. `discard` drops the contents: nobody wrote any
    /// yet.
    ///
    /// # Errors
    /// If no other user has it, or the semaphore is of another device.
    pub fn acquire(&self, after: Option<(&Semaphore, u64)>, discard: bool) -> Result<(), Error> {
        let physical = self.physical();
        physical.shared.check()?;
        let Some(Lent { holder, acquired: false }) = physical.holder() else {
            let message = format!("\"{}\" is not held by another user", physical.name);
            return Err(Error::input(
                &physical.name,
                message,
                "release it first; what this device has needs no acquire",
            ));
        };
        if let Some((semaphore, _)) = after {
            semaphore.check_of(&physical.shared)?;
        }
        let until = after.map(|(semaphore, value)| (semaphore.clone(), value));
        *physical.lent() = Some(Lent { holder: Holder { until, ..holder }, acquired: true });
        if discard {
            physical.tracked().each(|state| state.layout = Layout::Undefined);
        }
        Ok(())
    }
}
