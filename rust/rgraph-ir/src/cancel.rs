//! Long pure work that can be given up. Loops that may run long call [`poll`]; a caller that wants to be able to give
//! up runs the work in [`cancellable`] with a function to be asked now and then. Without one, polling changes nothing,
//! and work that is not given up is the same work: nothing else looks at the answer.
//!
//! Work that is given up unwinds, with [`Cancelled`] in place of a message and past the panic hook; what it had in hand
//! is dropped. So no stage returns a further error, and no caller can see half of a plan.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Polls between two questions: microseconds of work in most loops.
const POLLS: u32 = 256;

thread_local! {
    static ASK: Cell<Option<fn() -> bool>> = const { Cell::new(None) };
    static LEFT: Cell<u32> = const { Cell::new(POLLS) };
}

/// The work was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

/// Asks in `work` on this thread; what was asked before is asked again afterwards, whatever happens.
struct Asking(Option<fn() -> bool>);

impl Drop for Asking {
    fn drop(&mut self) {
        ASK.set(self.0);
    }
}

/// Runs `work`, on this thread, until `ask` says `true`. `ask` is called every few microseconds to milliseconds, so it
/// should look at a clock before it does anything that costs.
///
/// # Errors
/// [`Cancelled`] if `ask` returned true.
///
/// # Panics
/// As `work` does.
pub fn cancellable<T>(ask: fn() -> bool, work: impl FnOnce() -> T) -> Result<T, Cancelled> {
    let _asking = Asking(ASK.replace(Some(ask)));
    // What `work` had in hand is dropped with it: nothing half-changed can be seen afterwards.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<Cancelled>() {
        Ok(cancelled) => *cancelled,
        Err(panic) => resume_unwind(panic),
    })
}

/// A moment at which long work may be given up. A nanosecond, most times.
///
/// # Panics
/// Unwinds with [`Cancelled`], within [`cancellable`] only.
#[inline]
pub fn poll() {
    let left = LEFT.get();
    if left > 0 {
        LEFT.set(left - 1);
    } else {
        poll_now();
    }
}

/// As [`poll`], where a step of the work takes long: asks at once.
///
/// # Panics
/// As [`poll`].
#[cold]
pub fn poll_now() {
    LEFT.set(POLLS);
    if ASK.get().is_some_and(|ask| ask()) {
        resume_unwind(Box::new(Cancelled));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_without_end_is_given_up() {
        let endless = || -> u32 {
            loop {
                poll();
            }
        };
        assert_eq!(cancellable(|| true, endless), Err(Cancelled));
        assert_eq!(cancellable(|| cancellable(|| true, poll_now).is_err(), poll_now), Err(Cancelled));
    }

    #[test]
    fn work_that_nobody_gives_up_is_done() {
        poll_now();
        let sum = || (0..10_000_u64).inspect(|_| poll()).sum();
        assert_eq!(cancellable(|| false, sum), Ok(49_995_000));
        assert_eq!(cancellable(|| true, || 7), Ok(7), "what is over cannot be given up");
    }

    #[test]
    fn a_panic_stays_one() {
        let panicked = catch_unwind(|| cancellable(|| true, || resume_unwind(Box::new("as asked"))));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"as asked"));
        assert!(ASK.get().is_none());
    }
}
