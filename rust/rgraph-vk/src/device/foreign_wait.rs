//! Waits for semaphores of others that were submitted: which of them keep a device from ending, and of whose runs they
//! are.

use std::fmt::Write;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use ash::vk::{self, Handle};
use rgraph_plan::graph::Place;

use crate::device::Shared;
use crate::device::external::SemaphoreWait;
use crate::device::open_wait::{End, ForeignWait};
use crate::device::queue::{DeviceQueueId, Point, Submit};
use crate::error::{BusyError, Called, Code, Error};
use crate::frame::outcome::Outcome;

/// The slice in which a wait looks at semaphores of others.
const SLICE: Duration = Duration::from_millis(50);

/// Open waits that a message lists.
const LISTED: usize = 4;

/// Who waits, and the program's line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter<'a> {
    /// Its kind, as a message has it before the name.
    pub of: &'static str,
    pub name: &'a str,
    pub place: Option<&'a Place>,
}

impl Shared {
    /// Remembers those waits of submits that are for semaphores of others: those of the caller's, and rgraph's, which
    /// other devices, processes and the host signal. `last` is the value that the last submit signals.
    pub(crate) fn note_waits(
        &self,
        (queue, last): (DeviceQueueId, u64),
        submits: &[Submit],
        given: &[SemaphoreWait],
        waiter: Waiter<'_>,
    ) {
        if given.is_empty() && self.handles.timelines.is_empty() {
            return;
        }
        let first = last + 1 - submits.len() as u64;
        for (submit, value) in submits.iter().zip(first..) {
            for wait in &submit.waits {
                if let Some(timeline) = self.handles.timelines.find(wait.semaphore) {
                    timeline.await_value(wait.value);
                }
            }
            let theirs = submit.waits.iter().filter(|wait| self.is_foreign((wait.semaphore, wait.value), given));
            let waits: Vec<_> = theirs.map(|wait| (wait.semaphore, wait.value)).collect();
            self.note_foreign(&waits, waiter, &End::Queue(Point { queue, value }));
        }
    }

    /// The same for waits of the host before functions of passes; whether there are any.
    pub(crate) fn note_host_waits(
        &self,
        waits: &[(vk::Semaphore, u64)],
        given: &[SemaphoreWait],
        waiter: Waiter<'_>,
        outcome: &Arc<Outcome>,
    ) -> bool {
        if given.is_empty() {
            return false;
        }
        let waits: Vec<_> = waits.iter().copied().filter(|wait| self.is_foreign(*wait, given)).collect();
        self.note_foreign(&waits, waiter, &End::Host(outcome.clone()));
        !waits.is_empty()
    }

    fn is_foreign(&self, (semaphore, value): (vk::Semaphore, u64), given: &[SemaphoreWait]) -> bool {
        given.iter().any(|wait| (wait.semaphore, wait.value) == (semaphore, Some(value)))
            || self.handles.timelines.find(semaphore).is_some()
    }

    fn note_foreign(&self, waits: &[(vk::Semaphore, u64)], waiter: Waiter<'_>, end: &End) {
        if waits.is_empty() {
            return;
        }
        let mut all = self.foreign_waits.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Before the list grows only, so that many runs cost no sweep each.
        if all.len() == all.capacity() {
            all.retain(|wait| !self.is_past(wait));
        }
        let of: Arc<str> = format!("{} \"{}\"", waiter.of, waiter.name).into();
        all.extend(waits.iter().map(|&(semaphore, value)| ForeignWait {
            semaphore,
            value,
            of: of.clone(),
            place: waiter.place.cloned(),
            end: end.clone(),
        }));
    }

    /// Whether what waited is over. Its semaphore may be gone since.
    fn is_past(&self, wait: &ForeignWait) -> bool {
        match &wait.end {
            End::Queue(point) => self.is_over([point]).unwrap_or(true),
            End::Host(outcome) => outcome.wait(Some(Duration::ZERO)),
        }
    }

    /// Waits that are open, with the values that their semaphores have.
    fn open_foreign_waits(&self) -> Vec<(ForeignWait, u64)> {
        let mut all = self.foreign_waits.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|wait| !self.is_past(wait));
        let open = |wait: &ForeignWait| {
            // SAFETY: who gave the semaphore keeps it until what waits for it is over, and it is not.
            let value = unsafe { self.raw.get_semaphore_counter_value(wait.semaphore) };
            let value = self.noted(value.called("vkGetSemaphoreCounterValue")).ok()?;
            (value < wait.value).then(|| (wait.clone(), value))
        };
        all.iter().filter_map(open).collect()
    }

    /// Waits until all that was submitted is done.
    ///
    /// # Errors
    /// `RG-E404` if only semaphores of others keep it from that for `patience`.
    pub(crate) fn wait_with_patience(&self, patience: Option<Duration>) -> Result<(), Error> {
        let mut patience = Patience::new(patience);
        while !self.wait(&self.submitted(), Some(SLICE))? {
            patience.check(self)?;
        }
        Ok(())
    }
}

/// How long a wait for the end of a device goes on while only semaphores of others keep it from that: work of the GPU
/// is waited for as long as it takes.
#[derive(Debug)]
pub struct Patience {
    limit: Option<Duration>,
    since: Instant,
    /// What was open then.
    open: Vec<(vk::Semaphore, u64, u64)>,
}

impl Patience {
    /// `None`: for ever.
    pub fn new(limit: Option<Duration>) -> Self {
        Self { limit, since: Instant::now(), open: Vec::new() }
    }

    /// The time counts from the last change of what is open.
    pub(super) fn check(&mut self, shared: &Shared) -> Result<(), Error> {
        let Some(limit) = self.limit else { return Ok(()) };
        let found = shared.open_foreign_waits();
        let open: Vec<_> = found.iter().map(|(wait, has)| (wait.semaphore, wait.value, *has)).collect();
        if open != self.open {
            (self.since, self.open) = (Instant::now(), open);
        }
        if self.open.is_empty() || self.since.elapsed() < limit {
            return Ok(());
        }
        Err(never_ends(&found).into())
    }
}

fn never_ends(found: &[(ForeignWait, u64)]) -> BusyError {
    let (wait, _) = &found[0];
    let shown = |wait: &ForeignWait, has: u64| {
        format!("{} waits until semaphore {:#x} has {}, and it has {has}", wait.of, wait.semaphore.as_raw(), wait.value)
    };
    let mut message = format!("the device cannot be closed: {}", shown(wait, found[0].1));
    let listed = |message: &mut String, wait: &ForeignWait, text: &str| {
        let place = wait.place.as_ref().map(|place| format!("{place}  ")).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(message, "\n  {place}{text}");
    };
    if wait.place.is_some() {
        listed(&mut message, wait, "it was run here");
    }
    for (wait, has) in found[1..].iter().take(LISTED - 1) {
        listed(&mut message, wait, &shown(wait, *has));
    }
    if found.len() > LISTED {
        let _ = write!(message, "\n  and {} further waits", found.len() - LISTED);
    }
    let help = format!(
        "have its other user signal {}, and close the device again, which is still open; timeout=None waits for ever",
        wait.value
    );
    BusyError { code: Code::NeverSignalled, message, help }
}
