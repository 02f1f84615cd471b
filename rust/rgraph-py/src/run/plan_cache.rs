//! Plans already made of a graph, so that an unchanged declaration costs no more than its hash.

use std::cell::Cell;

use pyo3::prelude::*;
use rgraph_plan::prelude::{MemoryBudget, Options, Policy, Profile, Scratch, Split, Without};

/// Plans remembered per graph: enough to switch between a few profiles or policies.
const REMEMBERED: usize = 4;

/// The inputs of a bake.
#[derive(PartialEq)]
pub struct Key {
    hash: u128,
    profile: Profile,
    policy: Policy,
    split: Split,
    effort: u32,
    timings: bool,
    memory: MemoryBudget,
    max_batches: Option<u32>,
    without: Without,
}

impl Key {
    /// The key of a declaration's hash, a device, and how it is baked.
    pub fn new(hash: u128, profile: &Profile, options: &Options) -> Self {
        let Options { policy, split, effort, clock, memory, max_batches, without } = *options;
        let (profile, timings) = (profile.clone(), clock.is_some());
        Self { hash, profile, policy, split, effort, timings, memory, max_batches, without }
    }
}

thread_local! {
    /// `None` while a bake of this thread has it, and after one that was given up.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// The memory that the last bake of this thread, of whatever graph, left behind.
pub(crate) fn take_scratch() -> Box<Scratch> {
    SCRATCH.take().unwrap_or_default()
}

/// Leaves memory behind for the next bake of this thread.
pub(crate) fn keep_scratch(scratch: Box<Scratch>) {
    SCRATCH.set(Some(scratch));
}

/// The last plans, the latest first, as Python objects: their class stands above what a graph holds.
#[derive(Default)]
pub struct Made {
    plans: Vec<(Key, Py<PyAny>)>,
}

impl Made {
    pub fn plans(&self) -> impl Iterator<Item = &Py<PyAny>> {
        self.plans.iter().map(|(_, plan)| plan)
    }

    /// The plan made of the same before.
    pub fn find(&mut self, key: &Key, py: Python<'_>) -> Option<Py<PyAny>> {
        let at = self.plans.iter().position(|(known, _)| known == key)?;
        self.plans[..=at].rotate_right(1);
        Some(self.plans[0].1.clone_ref(py))
    }

    /// Remembers a plan; the one forgotten for it is handed back, to be dropped without the lock.
    #[must_use]
    pub fn remember(&mut self, key: Key, plan: Py<PyAny>) -> Option<(Key, Py<PyAny>)> {
        let forgotten = if self.plans.len() == REMEMBERED { self.plans.pop() } else { None };
        self.plans.insert(0, (key, plan));
        forgotten
    }
}
