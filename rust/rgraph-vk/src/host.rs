//! Passes on the host: functions that run in the plan's order on a thread beside the GPU, behind timeline waits, and
//! signal when they are done.

use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::resource::ResourceId;

use crate::device::Shared;
use crate::error::{Called, Code, DeviceError, Error};
use crate::garbage::Garbage;
use crate::inside::Chain;
use crate::prepared::Prepared;
use crate::report::Span;
use crate::store::Store;
use crate::work::{HostBytes, HostView, HostViews, HostWork};

/// An access of a host pass to a buffer.
pub(crate) struct Seen {
    /// Keeps the memory mapped.
    _store: Arc<Store>,
    /// In the graph.
    pub resource: ResourceId,
    pub name: String,
    pub writable: bool,
    pub range: [u64; 2],
    /// First byte of the range.
    start: NonNull<u8>,
}

// SAFETY: the pointer is into memory that the store keeps mapped; no thread owns it.
unsafe impl Send for Seen {}

impl Seen {
    /// Part of a mapped buffer; `None` where the host cannot see it, or the range does not lie in it.
    pub fn new(store: &Arc<Store>, resource: ResourceId, name: &str, writable: bool, range: [u64; 2]) -> Option<Self> {
        let PlanKind::Buffer { size } = store.kind else { return None };
        let mapped = store.mapped().filter(|_| range[0] <= range[1] && range[1] <= size)?;
        // SAFETY: the range lies in the buffer, which stays mapped while the store lives.
        let start = unsafe { mapped.add(range[0] as usize) };
        Some(Self { _store: store.clone(), resource, name: name.to_owned(), writable, range, start })
    }

    fn bytes(&self) -> usize {
        (self.range[1] - self.range[0]) as usize
    }

    /// Whether both may be viewed at once: they share no byte, or both are only read. Buffers of one arena share
    /// bytes where a plan places them so, which only a plan that was not judged does for buffers of one pass.
    fn may_be_seen_with(&self, other: &Self) -> bool {
        let [one, two] = [self, other].map(|seen| [seen.start.addr().get(), seen.start.addr().get() + seen.bytes()]);
        !(self.writable || other.writable) || one[1] <= two[0] || two[1] <= one[0]
    }
}

/// Two accesses of one host pass whose views would show the same bytes, one of them writable.
pub(crate) fn overlapping(seen: &[Seen]) -> Option<(&Seen, &Seen)> {
    let pairs = seen.iter().enumerate().flat_map(|(at, one)| seen[at + 1..].iter().map(move |two| (one, two)));
    pairs.into_iter().find(|(one, two)| !one.may_be_seen_with(two))
}

/// A function and what it sees.
pub(crate) struct Call {
    pub pass: String,
    pub work: Arc<dyn HostWork>,
    pub seen: Vec<Seen>,
}

/// A batch of the host.
pub(crate) struct Job {
    /// What owns the memory that the calls see: a job may outlive the graph that it is of.
    pub of: Arc<Prepared>,
    pub waits: Vec<(vk::Semaphore, u64)>,
    pub calls: Vec<Call>,
    /// The value that the host's semaphore then has.
    pub signal: Option<u64>,
    pub outcome: Arc<Outcome>,
    /// The devices that wait for the functions.
    pub chain: Chain,
}

/// How the host passes of a run go. What outlives the run is nobody else's until it is over.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    pending: usize,
    /// Whether the run has submitted all that it will.
    submitted: bool,
    error: Option<Error>,
    failed: bool,
    times: Vec<Span>,
}

impl Outcome {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all jobs are done; `false`: the time was over first.
    pub fn wait(&self, timeout: Option<Duration>) -> bool {
        self.wait_while(timeout, |state| state.pending > 0)
    }

    /// Waits until the run has submitted everything and all jobs are done; `false`: the time was over first.
    pub fn wait_until_over(&self, timeout: Option<Duration>) -> bool {
        self.wait_while(timeout, |state| state.pending > 0 || !state.submitted)
    }

    /// The run submits nothing more.
    pub fn submitted(&self) {
        self.lock().submitted = true;
        self.changed.notify_all();
    }

    fn wait_while(&self, timeout: Option<Duration>, busy: impl Fn(&State) -> bool) -> bool {
        // A time that no clock reaches is none.
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.lock();
        while busy(&state) {
            let left = end.map_or(Duration::from_secs(3600), |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return false;
            }
            (state, _) = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    /// The first error, once.
    pub fn take_error(&self) -> Option<Error> {
        self.lock().error.take()
    }

    /// Whether a function failed.
    pub fn has_failed(&self) -> bool {
        self.lock().failed
    }

    /// When each pass ran.
    pub fn times(&self) -> Vec<Span> {
        self.lock().times.clone()
    }

    fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.failed = true;
        state.error.get_or_insert(error);
    }

    fn end(&self) {
        self.lock().pending -= 1;
        self.changed.notify_all();
    }
}

/// While it lives, what it was made of is nobody else's: no other run gets its turn with it.
pub(crate) struct Reservation(Arc<Outcome>);

impl Reservation {
    /// Reserves images and buffers, in the turn of the one who does.
    pub fn of(stores: &[Arc<Store>]) -> Self {
        let outcome = Arc::new(Outcome::default());
        stores.iter().for_each(|store| store.reserve(&outcome));
        Self(outcome)
    }

    /// How the host passes of the run go that it is for.
    pub fn outcome(&self) -> Arc<Outcome> {
        self.0.clone()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.0.submitted();
    }
}

/// The semaphore that a graph's host passes signal.
struct Timeline {
    shared: Arc<Shared>,
    raw: vk::Semaphore,
}

impl Drop for Timeline {
    fn drop(&mut self) {
        self.shared.bury([Garbage::Semaphore(self.raw)]);
    }
}

/// The thread that runs a graph's host passes, run after run, and the semaphore that it signals.
///
/// No thread joins it. It may be in a function that waits for the very thread that drops the graph (a Python function waits
/// for the interpreter's lock), or in one that never returns. A job holds what it uses; between jobs the thread holds nothing.
pub(crate) struct HostLane {
    pub semaphore: vk::Semaphore,
    /// The value signalled last, or to be.
    pub last: u64,
    timeline: Arc<Timeline>,
    jobs: ManuallyDrop<Sender<(Arc<Timeline>, Job)>>,
}

impl HostLane {
    /// Starts the thread.
    pub fn new(shared: &Arc<Shared>, name: &str) -> Result<Self, Error> {
        let semaphore = shared.create_timeline(0)?;
        let timeline = Arc::new(Timeline { shared: shared.clone(), raw: semaphore });
        shared.name(semaphore, &format!("{name} host timeline"));
        let (sender, jobs) = channel::<(Arc<Timeline>, Job)>();
        let run = move || jobs.into_iter().for_each(|(timeline, job)| run_job(timeline, job));
        std::thread::Builder::new().name(format!("rgraph host {name}")).spawn(run).map_err(|error| {
            DeviceError::new(Code::Failed, format!("no thread for host passes: {error}"), "end other threads")
        })?;
        Ok(Self { semaphore, last: 0, timeline, jobs: ManuallyDrop::new(sender) })
    }

    /// Hands over a job.
    pub fn push(&mut self, job: Job) {
        job.outcome.lock().pending += 1;
        if let Some(signal) = job.signal {
            self.last = signal;
        }
        if let Err(unsent) = self.jobs.send((self.timeline.clone(), job)) {
            let (_, job) = unsent.0;
            job.outcome.fail(DeviceError::new(Code::Failed, "the thread for host passes has ended", "").into());
            job.outcome.end();
        }
    }
}

impl Drop for HostLane {
    fn drop(&mut self) {
        // A fork has no such thread, and a lock of the channel may be held for ever.
        if self.timeline.shared.is_ours() {
            // SAFETY: dropped here only.
            unsafe { ManuallyDrop::drop(&mut self.jobs) };
        }
    }
}

fn run_job(timeline: Arc<Timeline>, job: Job) {
    let Job { of, waits, calls, signal, outcome, chain } = job;
    let _inside = chain.enter();
    let shared = &timeline.shared;
    if !waits.is_empty() {
        let (semaphores, values): (Vec<_>, Vec<_>) = waits.into_iter().unzip();
        if let Err(error) = shared.wait_semaphores(&semaphores, &values, None) {
            outcome.fail(error);
        }
    }
    for call in calls {
        if outcome.has_failed() {
            break;
        }
        let begin = Instant::now();
        let views = call.seen.iter().map(view).collect();
        let ran = catch_unwind(AssertUnwindSafe(|| call.work.run(HostViews { views })));
        match ran {
            Ok(Ok(())) => {}
            Ok(Err(error)) => outcome.fail(Error::Callback(error)),
            Err(_) => {
                let message = format!("the function of pass \"{}\" panicked", call.pass);
                outcome.fail(DeviceError::new(Code::Failed, message, "").in_pass(&call.pass).into());
            }
        }
        outcome.lock().times.push(Span::since(call.pass, begin));
    }
    if let Some(value) = signal {
        let info = vk::SemaphoreSignalInfo::default().semaphore(timeline.raw).value(value);
        // Signalled whatever happened: batches of the GPU wait for it, and what they compute is thrown away.
        // SAFETY: values grow; the job holds the semaphore.
        if let Err(error) = shared.noted(unsafe { shared.raw.signal_semaphore(&info) }.called("vkSignalSemaphore")) {
            outcome.fail(error);
        }
    }
    // Before anyone hears that the job is over: what waits for it may be the last to use the device.
    drop((of, timeline));
    outcome.end();
}

/// A view of part of a mapped buffer. The plan keeps the GPU away meanwhile, and the run every other run.
fn view(seen: &Seen) -> HostView<'_> {
    let (start, len) = (seen.start.as_ptr(), seen.bytes());
    let bytes = if seen.writable {
        // SAFETY: the range lies in the buffer, which stays mapped while the store lives. Nobody else has a slice of
        // it: no other view of the pass shares a byte, functions of a graph run one after the other, and whoever else
        // uses the buffer waits until the run is over.
        HostBytes::Write(unsafe { std::slice::from_raw_parts_mut(start, len) })
    } else {
        // SAFETY: as above; other slices of these bytes are shared ones.
        HostBytes::Read(unsafe { std::slice::from_raw_parts(start, len) })
    };
    HostView { resource: seen.resource, name: &seen.name, range: seen.range, bytes }
}
