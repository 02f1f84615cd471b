//! Who waits for whom: runs for what a run with host passes has reserved, and devices for the current thread. While a
//! run calls a function of the caller's, anything that waits for a run of the same device would wait for itself: it is
//! refused instead. A function that starts another thread and joins it is not seen through.

use std::cell::RefCell;
use std::sync::{Arc, MutexGuard};

use crate::device::Shared;
use crate::device::poll::{Poll, wait_polling};
use crate::error::{BusyError, Code, Error};
use crate::memory::physical_resource::PhysicalResource;

thread_local! {
    static DEVICES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Devices whose runs wait for a thread; runs hand it on to the threads that work for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain(Vec<usize>);

/// While it lives, devices wait for the current thread.
#[derive(Debug)]
pub(crate) struct Inside {
    before: usize,
}

impl Chain {
    /// The devices that wait for the current thread.
    pub(crate) fn here() -> Self {
        Self(DEVICES.with_borrow(Clone::clone))
    }

    /// Lets them wait for the current thread, which need not be the one that they waited for.
    pub(crate) fn enter(&self) -> Inside {
        DEVICES.with_borrow_mut(|devices| {
            let before = devices.len();
            devices.extend(&self.0);
            Inside { before }
        })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEVICES.with_borrow_mut(|devices| devices.truncate(self.before));
    }
}

impl Shared {
    /// A run of the device begins on the current thread.
    pub(crate) fn enter(&self) -> Inside {
        Chain(vec![self.address()]).enter()
    }

    /// Whether a run of the device waits for the current thread.
    pub(crate) fn is_inside(&self) -> bool {
        DEVICES.with_borrow(|devices| devices.contains(&self.address()))
    }

    /// Refuses to wait for the device inside of a function that a run of the device waits for.
    pub(crate) fn outside(&self) -> Result<(), Error> {
        if !self.is_inside() {
            return Ok(());
        }
        Err(Error::Busy(BusyError {
            code: Code::WaitsForItself,
            message: "a function of a pass waits for the device that waits for it".to_owned(),
            help: "run other graphs before or after, or on another device".to_owned(),
        }))
    }

    /// The turn, once no run with host passes has any of these resources.
    pub(crate) fn turn_with(
        &self,
        physicals: &[Arc<PhysicalResource>],
        poll: Option<Poll<'_>>,
    ) -> Result<MutexGuard<'_, ()>, Error> {
        loop {
            let turn = self.turn();
            let Some(run) = physicals.iter().find_map(|physical| physical.reserved()) else { return Ok(turn) };
            drop(turn);
            wait_polling(poll, |slice| Ok(run.wait_until_over(slice)))?;
        }
    }
}
