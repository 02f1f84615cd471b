//! The process that made something. A forked child has a copy of everything but the threads: handles, locks that a
//! thread of the parent holds for ever, queues of threads that do not exist. It must neither use nor destroy any of it.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use crate::error::{Code, DeviceError, Error};

/// A process, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process(u32);

impl Process {
    /// The process that runs this.
    pub fn current() -> Self {
        Self(std::process::id())
    }

    /// Whether this runs in it, and not in a fork of it.
    pub fn is_current(self) -> bool {
        self == Self::current()
    }

    /// Refuses a forked child.
    ///
    /// # Errors
    /// RG-E105.
    pub fn check(self) -> Result<(), Error> {
        let here = Self::current();
        if self == here {
            return Ok(());
        }
        let message = format!("device was opened in process {} and used in its fork {}", self.0, here.0);
        let help = "open the device inside the worker, or start workers with \"spawn\"";
        Err(DeviceError::new(Code::Forked, message, help).into())
    }
}

/// The process that has instances of Vulkan, and how many: its number in the upper half.
static INSTANCES: AtomicU64 = AtomicU64::new(0);

/// Whether the last process that made an instance of Vulkan is not this one, but one that it was forked from.
pub(crate) fn is_fork_of_user() -> bool {
    let user = INSTANCES.load(Ordering::Acquire) >> 32;
    user != 0 && user != u64::from(std::process::id())
}

/// Whether a device was left at work, since that work did not end in time.
static LEFT_AT_WORK: AtomicBool = AtomicBool::new(false);

/// Remembers that a device was left at work.
pub(crate) fn leave_at_work() {
    LEFT_AT_WORK.store(true, Ordering::Release);
}

/// Whether a device was left at work.
pub(crate) fn is_left_at_work() -> bool {
    LEFT_AT_WORK.load(Ordering::Acquire)
}

/// Counts an instance of Vulkan as long as it lives.
#[derive(Debug)]
pub(crate) struct Alive(());

impl Alive {
    /// Counts one more, about to be made.
    ///
    /// # Errors
    /// RG-E105 in the fork of a process that had one: the loader and the driver have locks that a thread of the parent
    /// may have held at that moment, and threads that the fork does not have (POSIX, `fork`).
    pub(crate) fn count() -> Result<Self, Error> {
        let own = u64::from(std::process::id()) << 32;
        let counted = INSTANCES.fetch_update(Ordering::AcqRel, Ordering::Acquire, |known| match known as u32 {
            0 => Some(own + 1),
            _ if known >> 32 == own >> 32 => Some(known + 1),
            _ => None,
        });
        counted.map(|_| Self(())).map_err(|known| {
            let message = format!("process {} had opened a device when it forked {}", known >> 32, own >> 32);
            let help = "open devices in the workers only, or start workers with \"spawn\"";
            DeviceError::new(Code::Forked, message, help).into()
        })
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        let own = u64::from(std::process::id());
        // A fork's copy counts what is the parent's; that nothing changes there is no failure.
        let _ = INSTANCES.fetch_update(Ordering::AcqRel, Ordering::Acquire, |known| {
            (known >> 32 == own).then(|| known.saturating_sub(1))
        });
    }
}

/// A value of the whole process. A forked child gets one of its own: a lock in the parent's may be held by a thread
/// that the child does not have.
pub struct PerProcess<T: 'static> {
    known: AtomicPtr<(Process, T)>,
    make: fn() -> T,
}

impl<T: Sync> PerProcess<T> {
    /// A value that `make` makes when it is first asked for.
    pub const fn new(make: fn() -> T) -> Self {
        Self { known: AtomicPtr::new(std::ptr::null_mut()), make }
    }

    /// The value of this process. Lives for ever; the one of the parent is left alone.
    pub fn get(&self) -> &'static T {
        let known = self.known.load(Ordering::Acquire);
        // SAFETY: null, or a box that was leaked below and is never freed.
        if let Some((process, value)) = unsafe { known.as_ref::<'static>() }
            && process.is_current()
        {
            return value;
        }
        let made = Box::into_raw(Box::new((Process::current(), (self.make)())));
        match self.known.compare_exchange(known, made, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: just leaked.
            Ok(_) => unsafe { &(*made).1 },
            Err(first) => {
                // SAFETY: made above, seen by nobody else.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: another thread of this process was first; its box is never freed.
                unsafe { &(*first).1 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_value_of_the_process_is_made_once() {
        static VALUE: PerProcess<Mutex<u32>> = PerProcess::new(|| Mutex::new(1));
        let all: Vec<_> = (0..8).map(|_| std::thread::spawn(|| std::ptr::from_ref(VALUE.get()).addr())).collect();
        let first = std::ptr::from_ref(VALUE.get()).addr();
        for thread in all {
            assert_eq!(thread.join().unwrap(), first);
        }
    }

    #[test]
    fn another_process_is_refused() {
        assert!(Process::current().check().is_ok());
        let error = Process(0).check().unwrap_err().to_string();
        assert!(error.starts_with("RG-E105 device was opened in process 0"), "{error}");
    }
}
