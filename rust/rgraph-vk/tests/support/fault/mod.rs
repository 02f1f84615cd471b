//! A Vulkan function table between a program and its driver: it counts fallible calls, makes one of them fail, and
//! keeps a ledger of living objects.
//!
//! Vulkan's functions carry no closure, so there is one table in a process: [`Faults`] holds it for one test at a time.
//! An error is only given where the specification lists it for that call (`vk.xml` of 1.3). A lost device stays lost:
//! each later call of it that may say so does, and the real device is left to finish before its objects go.

mod calls;
mod counted;
mod ledger;
mod notes;
mod pretend;
mod procs;
mod small;

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use ash::vk;

pub use pretend::{Asked, Pretended};
pub use small::SmallWorld;

use ledger::Ledger;

/// What the table knows.
#[derive(Default)]
struct Table {
    armed: Option<Armed>,
    fired: Option<&'static str>,
    /// Names of fallible calls, in order.
    names: Vec<&'static str>,
    /// How often commands were called that cannot fail.
    counts: BTreeMap<&'static str, usize>,
    /// How often calls that make or destroy something got no `VkAllocationCallbacks`, and how often they got some.
    without_callbacks: BTreeMap<&'static str, usize>,
    with_callbacks: BTreeMap<&'static str, usize>,
    ledger: Ledger,
    small: SmallWorld,
    pretended: Pretended,
    asked: Asked,
    /// Whether timelines stand still: no wait for one ends, and none gets another value.
    still: bool,
    /// By timeline, the value that was read last.
    reached: BTreeMap<u64, u64>,
}

/// A call that is going to fail.
struct Armed {
    /// How many calls that may give the error are still to come, the failing one included.
    left: u64,
    error: vk::Result,
    /// Only calls of this name count.
    only: Option<&'static str>,
}

fn state() -> MutexGuard<'static, Table> {
    static STATE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The system's loader, opened once.
fn loader() -> Result<&'static ash::Entry, String> {
    static LOADER: OnceLock<Result<ash::Entry, String>> = OnceLock::new();
    LOADER
        .get_or_init(|| {
            // SAFETY: the loader's own initialisation has no requirements; it is never closed.
            unsafe { ash::Entry::load() }.map_err(|error| error.to_string())
        })
        .as_ref()
        .map_err(Clone::clone)
}

/// The table, held by one test at a time. Objects that outlive it are the next holder's to see, so that nothing hides.
pub struct Faults {
    _alone: MutexGuard<'static, ()>,
}

impl Faults {
    /// Waits until nobody else holds the table, and starts with nothing counted and nothing armed.
    ///
    /// # Errors
    /// Says why there is no Vulkan loader.
    pub fn new() -> Result<Self, String> {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        loader()?;
        *state() = Table::default();
        Ok(Self { _alone: alone })
    }

    /// An entry whose functions, and those of all that is made with it, are the table's.
    pub fn entry(&self) -> ash::Entry {
        procs::entry()
    }

    /// Makes the `k`-th (from 1) of the coming calls that may give `error` give it.
    pub fn fail(&self, k: u64, error: vk::Result) {
        self.arm(Armed { left: k, error, only: None });
    }

    /// Makes the `k`-th (from 1) of the coming calls of that name give `error`, whether the specification lists it or
    /// not.
    pub fn fail_call(&self, name: &'static str, k: u64, error: vk::Result) {
        self.arm(Armed { left: k, error, only: Some(name) });
    }

    fn arm(&self, armed: Armed) {
        let mut state = state();
        state.fired = None;
        state.armed = Some(armed);
    }

    /// Lets every call through again, and forgets which failed.
    pub fn disarm(&self) {
        let mut state = state();
        state.armed = None;
        state.fired = None;
    }

    /// The call that failed since the table was last armed.
    pub fn fired(&self) -> Option<&'static str> {
        state().fired
    }

    /// Names of the fallible calls since the last time that this was asked, in order.
    pub fn take_names(&self) -> Vec<&'static str> {
        std::mem::take(&mut state().names)
    }

    /// How often each of some commands that cannot fail was called since the last time that this was asked.
    pub fn take_counts(&self) -> BTreeMap<&'static str, usize> {
        std::mem::take(&mut state().counts)
    }

    /// How often each call that makes or destroys something got no `VkAllocationCallbacks`, and how often it got some.
    pub fn callbacks(&self) -> [BTreeMap<&'static str, usize>; 2] {
        let state = state();
        [state.without_callbacks.clone(), state.with_callbacks.clone()]
    }

    /// Living objects by type, those that are none left out.
    pub fn living(&self) -> BTreeMap<String, usize> {
        state().ledger.living()
    }

    /// What was given back twice, or never was there, or could not be given back.
    pub fn misuse(&self) -> Vec<String> {
        state().ledger.misuse.clone()
    }

    /// Narrows what the driver says of itself, for devices made from now on.
    pub fn shrink(&self, small: SmallWorld) {
        state().small = small;
    }

    /// Makes the driver have other memory types and wishes, for devices made from now on.
    pub fn pretend(&self, pretended: Pretended) {
        state().pretended = pretended;
    }

    /// Stops all timelines, or lets them go on; what was submitted runs meanwhile.
    pub fn stop_timelines(&self, stop: bool) {
        state().still = stop;
    }

    /// What the driver was asked about memory since the last time that this was asked.
    pub fn take_asked(&self) -> Asked {
        std::mem::take(&mut state().asked)
    }

    /// What is wrong with the ledger once everything should be closed; `None` if nothing is.
    pub fn imbalance(&self) -> Option<String> {
        let state = state();
        let living = state.ledger.living();
        let misuse = &state.ledger.misuse;
        (!living.is_empty() || !misuse.is_empty()).then(|| format!("still alive: {living:?}; misused: {misuse:?}"))
    }
}

/// Says that a call of `of` is about to be made, and what it is to give instead of being made.
fn enter(call: &'static calls::Call, of: ledger::Name) -> Option<vk::Result> {
    let mut state = state();
    state.names.push(call.name());
    let may = |error| call.may.contains(&error);
    if may(vk::Result::ERROR_DEVICE_LOST) && state.ledger.is_lost(of) {
        return Some(vk::Result::ERROR_DEVICE_LOST);
    }
    let armed = state.armed.as_mut()?;
    let counts = match armed.only {
        Some(name) => name == call.name(),
        None => may(armed.error),
    };
    if !counts {
        return None;
    }
    armed.left -= 1;
    if armed.left > 0 {
        return None;
    }
    let error = armed.error;
    state.armed = None;
    state.fired = Some(call.name());
    if error == vk::Result::ERROR_DEVICE_LOST {
        state.ledger.lose(of);
    }
    Some(error)
}
