//! Compilations in the background: how many pipelines each makes, and whether it was given up.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rgraph_plan::cancel::{Cancelled, cancellable};

use crate::error::{Code, DeviceError, Error};

/// What one compilation has done so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub pipelines: AtomicUsize,
    pub made: AtomicUsize,
    given_up: AtomicBool,
}

thread_local! {
    /// The compilation that this thread works at.
    static FOLLOWED: RefCell<Option<Arc<Progress>>> = const { RefCell::new(None) };
}

/// Restores the compilation that the thread worked at before, whatever happens.
struct Following(Option<Arc<Progress>>);

impl Drop for Following {
    fn drop(&mut self) {
        FOLLOWED.set(self.0.take());
    }
}

impl Progress {
    /// Runs `work` on this thread, which reports here.
    ///
    /// # Errors
    /// [`Cancelled`] if it was given up within a stage of the bake. Elsewhere `work` asks itself.
    pub(crate) fn follow<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> Result<T, Cancelled> {
        let _following = Following(FOLLOWED.replace(Some(Arc::clone(self))));
        cancellable(|| FOLLOWED.with_borrow(|one| one.as_ref().is_some_and(|one| one.is_given_up())), work)
    }

    /// That of the compilation which this thread works at, if somebody follows it.
    pub(crate) fn followed() -> Option<Arc<Self>> {
        FOLLOWED.with_borrow(Clone::clone)
    }

    /// Whether the device is about to be closed, so that no further pipeline should be started.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }
}

/// The error of a compilation whose device is closed meanwhile.
pub(crate) fn given_up() -> Error {
    let message = "the device was closed while a graph was compiled for it";
    DeviceError::new(Code::Closed, message, "open another one").into()
}

/// The compilations of a device that are under way in the background.
#[derive(Debug, Default)]
pub(crate) struct Preparing {
    list: Mutex<Vec<Arc<Progress>>>,
    left: Condvar,
}

impl Preparing {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Progress>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more is under way until the result is dropped.
    pub(crate) fn enter(self: &Arc<Self>) -> Entered {
        let progress = Arc::new(Progress::default());
        self.lock().push(Arc::clone(&progress));
        Entered { preparing: Arc::clone(self), progress }
    }

    /// Gives up those that are under way: each ends behind the pipelines that it is just making.
    pub(crate) fn give_up(&self) {
        self.lock().iter().for_each(|one| one.given_up.store(true, Ordering::Relaxed));
    }

    /// Whether none is under way any more, after waiting for that for at most `timeout`; `None`: for as long as it
    /// takes.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> bool {
        let under_way = |list: &mut Vec<_>| !list.is_empty();
        let list = self.lock();
        let Some(timeout) = timeout else {
            drop(self.left.wait_while(list, under_way).unwrap_or_else(PoisonError::into_inner));
            return true;
        };
        let (_list, over) =
            self.left.wait_timeout_while(list, timeout, under_way).unwrap_or_else(PoisonError::into_inner);
        !over.timed_out()
    }
}

/// A compilation that is under way.
#[derive(Debug)]
pub(crate) struct Entered {
    preparing: Arc<Preparing>,
    pub progress: Arc<Progress>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.preparing.lock().retain(|one| !Arc::ptr_eq(one, &self.progress));
        self.preparing.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_under_way_are_given_up_and_waited_for() {
        let preparing = Arc::new(Preparing::default());
        assert!(preparing.wait(Some(Duration::ZERO)) && preparing.wait(None));
        let entered = preparing.enter();
        assert!(!preparing.wait(Some(Duration::from_millis(1))));
        preparing.give_up();
        let given_up = entered.progress.follow(|| {
            assert!(Progress::followed().is_some_and(|one| one.is_given_up()));
            rgraph_plan::cancel::poll_now();
        });
        assert_eq!(given_up, Err(Cancelled));
        assert!(Progress::followed().is_none());
        let thread = std::thread::spawn(move || drop(entered));
        assert!(preparing.wait(None));
        thread.join().unwrap();
        assert!(!preparing.enter().progress.is_given_up());
    }
}
