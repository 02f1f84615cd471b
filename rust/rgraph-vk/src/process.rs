//! The process that made something. A forked child has a copy of everything but the threads: handles, locks that a thread
//! of the parent holds for ever, queues of threads that do not exist. It must neither use nor destroy any of it.

use std::sync::atomic::{AtomicPtr, Ordering};

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

/// A value of the whole process. A forked child gets one of its own: a lock in the parent's may be held by a thread that
/// the child does not have.
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
