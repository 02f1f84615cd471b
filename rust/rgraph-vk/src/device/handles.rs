//! Semaphores and fences of a device by their Vulkan handles: a handle that comes back from foreign code is the object
//! that it is of, with all that is known of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ash::vk::{self, Handle};

use crate::device::Shared;
use crate::device::promise::{Made, Promise, Promised};
use crate::error::{Called, Error};
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::share::semaphore_fd::SemaphoreFd;

/// Objects of one kind by handle, while something has them.
#[derive(Debug)]
pub(crate) struct Known<T>(Mutex<HashMap<u64, Weak<T>>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Known<T> {
    /// An object that was made. Its handle may be one that a destroyed object had.
    pub(crate) fn add(&self, handle: impl Handle, of: &Arc<T>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Before the table grows only, so that many objects cost no sweep each.
        if all.len() == all.capacity() {
            all.retain(|_, of| of.strong_count() > 0);
        }
        all.insert(handle.as_raw(), Arc::downgrade(of));
    }

    /// Those that something has.
    fn all(&self) -> Vec<Arc<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().filter_map(Weak::upgrade).collect()
    }

    /// Whether none was made, or all made so far were found to be gone.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(crate) fn find(&self, handle: impl Handle) -> Option<Arc<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&handle.as_raw())?.upgrade()
    }
}

/// All of a device.
#[derive(Default)]
pub(crate) struct Handles {
    pub timelines: Known<OwnedTimeline>,
    pub binary: Known<OwnedBinary>,
    pub fences: Known<OwnedFence>,
}

impl Shared {
    /// Values that submitted runs wait for and that nobody signalled or submitted a signal for, with their timelines.
    pub(crate) fn open_waits(&self) -> Vec<(Arc<OwnedTimeline>, u64)> {
        let waits = |timeline: Arc<OwnedTimeline>| timeline.open_wait().map(|value| (timeline, value));
        self.handles.timelines.all().into_iter().filter_map(waits).collect()
    }
}

/// Who else may have a semaphore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sharing {
    Private,
    /// It can be exported; its maker signals it.
    Exportable,
    /// Another device, process or API signals it.
    Imported,
}

/// A timeline semaphore and what is known of its values.
pub(crate) struct OwnedTimeline {
    pub(crate) shared: Arc<Shared>,
    pub(crate) raw: vk::Semaphore,
    pub(crate) made: Made,
    pub(crate) sharing: Sharing,
    /// Whether foreign code has the handle, and may signal it.
    pub(crate) lent: AtomicBool,
    pub(crate) known: Mutex<Values>,
}

/// Values of a timeline, as far as they are known.
#[derive(Default)]
pub(crate) struct Values {
    /// The highest that it has.
    pub(crate) has: u64,
    /// Those that runs were asked to signal, ascending; some that it has may be among them.
    pub(crate) promised: Vec<u64>,
    /// The highest that a submitted run waits for.
    pub(crate) awaited: u64,
}

impl std::fmt::Debug for OwnedTimeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Semaphore").field(&self.raw).finish()
    }
}

impl Promised for OwnedTimeline {
    fn made(&self) -> Made {
        self.made
    }

    fn withdraw(&self, promise: Promise) {
        if let Promise::Signal(_, value) = promise {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).promised.retain(|promised| *promised != value);
        }
    }
}

impl OwnedTimeline {
    /// A run that waits for a value was submitted.
    pub(crate) fn await_value(&self, value: u64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.awaited = known.awaited.max(value);
    }

    /// The highest value that a submitted run waits for, where nothing can have signalled it.
    pub(crate) fn open_wait(&self) -> Option<u64> {
        let awaited = self.known.lock().unwrap_or_else(PoisonError::into_inner).awaited;
        self.is_open(awaited).then_some(awaited)
    }

    /// Whether nothing can have signalled a value or submitted a signal for it.
    pub(crate) fn is_open(&self, value: u64) -> bool {
        let foreign = self.sharing == Sharing::Imported || self.lent.load(Ordering::Relaxed);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        !foreign && value > known.promised.last().copied().unwrap_or(0).max(known.has)
    }
}

impl Drop for OwnedTimeline {
    fn drop(&mut self) {
        if self.shared.is_ours() {
            self.shared.defer_deletion([DeferredDeletion::Semaphore(self.raw)]);
        }
    }
}

/// A binary semaphore, and whether something signals it.
pub(crate) struct OwnedBinary {
    pub(crate) shared: Arc<Shared>,
    pub(crate) raw: vk::Semaphore,
    pub(crate) made: Made,
    pub(crate) kind: Option<SemaphoreFd>,
    /// Whether a signal was submitted that nothing waits for yet; `None`: another user of an `opaque_fd` knows.
    pub(crate) signalled: Mutex<Option<bool>>,
    /// What the run waits for that signals it, where nothing signalled that yet.
    pub(crate) behind: Mutex<Vec<(Arc<OwnedTimeline>, u64)>>,
}

impl OwnedBinary {
    /// Its signal was submitted; these waits were open then.
    pub(crate) fn signal_behind(&self, open: Vec<(Arc<OwnedTimeline>, u64)>) {
        *self.behind.lock().unwrap_or_else(PoisonError::into_inner) = open;
    }
}

impl std::fmt::Debug for OwnedBinary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BinarySemaphore").field(&self.raw).finish()
    }
}

impl Promised for OwnedBinary {
    fn made(&self) -> Made {
        self.made
    }

    fn withdraw(&self, promise: Promise) {
        let mut signalled = self.signalled.lock().unwrap_or_else(PoisonError::into_inner);
        *signalled = signalled.map(|_| matches!(promise, Promise::Wait(_)));
    }
}

impl Drop for OwnedBinary {
    fn drop(&mut self) {
        if self.shared.is_ours() {
            self.shared.defer_deletion([DeferredDeletion::Semaphore(self.raw)]);
        }
    }
}

/// A fence, and whether a run has it.
pub(crate) struct OwnedFence {
    pub(crate) shared: Arc<Shared>,
    pub(crate) raw: vk::Fence,
    pub(crate) made: Made,
    pub(crate) state: Mutex<FenceState>,
}

#[derive(Default)]
pub(crate) struct FenceState {
    /// Whether a run has it.
    pub(crate) given: bool,
    /// Whether its signal is that of the run before, until the run that has it is submitted.
    pub(crate) stale: bool,
}

impl OwnedFence {
    /// The run that has it is about to be submitted: what an earlier run signalled is forgotten.
    pub(crate) fn renew(&self) -> Result<(), Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stale {
            // SAFETY: the run that signalled the fence is done, and the one that has it was not submitted.
            self.shared.noted(unsafe { self.shared.raw.reset_fences(&[self.raw]) }.called("vkResetFences"))?;
            state.stale = false;
        }
        Ok(())
    }
}

impl std::fmt::Debug for OwnedFence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fence").field(&self.raw).finish()
    }
}

impl Promised for OwnedFence {
    fn made(&self) -> Made {
        self.made
    }

    fn withdraw(&self, _: Promise) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.given = std::mem::take(&mut state.stale);
    }
}

impl Drop for OwnedFence {
    fn drop(&mut self) {
        if self.shared.is_ours() {
            let given = self.state.get_mut().unwrap_or_else(PoisonError::into_inner).given;
            // A run that was never submitted, or not yet, has no use for it any more.
            let submitted = given && !self.shared.promises.forget(Promise::Fence(self.raw));
            self.shared.defer_deletion([DeferredDeletion::Fence { raw: self.raw, submitted }]);
        }
    }
}
