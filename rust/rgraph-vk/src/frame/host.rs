//! Passes on the host: functions that run concurrently with the GPU, after timeline waits, and signal when they are
//! done. Those of one set of the plan run at once, on the graph's own thread and on helpers of the job pool.

use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::resource::ResourceId;
use rgraph_work::{HostBytes, HostView, HostViews, HostWork};

use crate::compile::compiled_graph::CompiledGraph;
use crate::device::Shared;
use crate::device::inside::Chain;
use crate::device::lend::Threads;
use crate::error::{Called, Code, DeviceError, Error};
use crate::frame::jobs::help;
use crate::frame::outcome::Outcome;
use crate::frame::span::Span;
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::physical_resource::PhysicalResource;

/// An access of a host pass to a buffer.
pub(crate) struct Seen {
    /// Keeps the memory mapped.
    _physical: Arc<PhysicalResource>,
    /// In the graph.
    pub resource: ResourceId,
    pub name: String,
    pub writable: bool,
    pub range: [u64; 2],
    /// First byte of the range.
    start: NonNull<u8>,
}

// SAFETY: the pointer is into memory that the physical resource keeps mapped; no thread owns it.
unsafe impl Send for Seen {}
// SAFETY: nothing goes through the pointer but `view`, which is called once per run, by the thread that makes the call.
unsafe impl Sync for Seen {}

impl Seen {
    /// Part of a mapped buffer; `None` where the host cannot see it, or the range does not lie in it.
    pub(crate) fn new(
        physical: &Arc<PhysicalResource>,
        resource: ResourceId,
        name: &str,
        writable: bool,
        range: [u64; 2],
    ) -> Option<Self> {
        let PlanKind::Buffer { size } = physical.kind else { return None };
        let mapped = physical.mapped().filter(|_| range[0] <= range[1] && range[1] <= size)?;
        // SAFETY: the range lies in the buffer, which stays mapped while the physical resource lives.
        let start = unsafe { mapped.add(range[0] as usize) };
        Some(Self { _physical: physical.clone(), resource, name: name.to_owned(), writable, range, start })
    }

    fn bytes(&self) -> usize {
        (self.range[1] - self.range[0]) as usize
    }

    /// Whether both may be viewed at once: they share no byte, or both are only read. Buffers of one arena share
    /// bytes where a plan places them so, which only a plan that was not checked does for buffers of one pass.
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
    /// Its set: calls of one set may run at once, and those pushed earlier with a lower one are done before.
    pub set: u32,
}

/// Calls of CPU passes that begin after the same waits.
pub(crate) struct HostBatch {
    /// What owns the memory that the calls see: a job may outlive the graph that it is of.
    pub _of: Arc<CompiledGraph>,
    /// What this batch and those before it in its run wait for.
    pub waits: Vec<(vk::Semaphore, u64)>,
    /// Whether some of them are semaphores of others, which nobody may signal any more once the device is closed.
    pub foreign: bool,
    pub calls: Vec<Call>,
    /// The value that the host's semaphore then has: all jobs so far are done.
    pub signal: Option<u64>,
    pub outcome: Arc<Outcome>,
    /// The devices that wait for the functions.
    pub chain: Chain,
}

/// While it lives, what it was made of is nobody else's: no other run gets its turn with it.
pub(crate) struct Reservation(Arc<Outcome>);

impl Reservation {
    /// Reserves images and buffers, in the turn of the one who does.
    pub(crate) fn of(physicals: &[Arc<PhysicalResource>]) -> Self {
        let outcome = Arc::new(Outcome::default());
        physicals.iter().for_each(|physical| physical.reserve(&outcome));
        Self(outcome)
    }

    /// How the host passes of the run go that it is for.
    pub(crate) fn outcome(&self) -> Arc<Outcome> {
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
        self.shared.defer_deletion([DeferredDeletion::Semaphore(self.raw)]);
    }
}

/// The thread that runs a graph's host passes, run after run, the helpers that it asks for, and the semaphore that they
/// signal.
///
/// No thread joins it. It may be in a function that waits for the very thread that drops the graph (a Python function
/// waits for the interpreter's lock), or in one that never returns. A job holds what it uses; between jobs the thread
/// holds nothing.
pub(crate) struct HostLane {
    pub semaphore: vk::Semaphore,
    /// The value signalled last, or to be.
    last: AtomicU64,
    timeline: Arc<Timeline>,
    queue: ManuallyDrop<Arc<JobQueue>>,
}

/// HostBatches of a graph's host passes, in order.
#[derive(Default)]
struct JobQueue {
    /// Threads that help.
    threads: Threads,
    state: Mutex<HostBatches>,
    changed: Condvar,
}

#[derive(Default)]
struct HostBatches {
    jobs: VecDeque<Open>,
    /// The graph is gone: its thread ends when everything is done.
    closed: bool,
    /// Number of the first of `jobs`, counted from the beginning.
    first: usize,
    /// Whether a thread signals for jobs that are done: it alone does, so that values grow.
    ending: bool,
}

/// A job that is not over.
struct Open {
    timeline: Arc<Timeline>,
    job: Arc<HostBatch>,
    /// By call: its set, and how far it is. A job without calls has one that only waits, of no set.
    calls: Vec<(Option<u32>, Progress)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Waiting,
    Running,
    Done,
}

/// A call to be made: the number of its job, its position there.
struct Ready {
    number: usize,
    at: usize,
    job: Arc<HostBatch>,
    timeline: Arc<Timeline>,
}

impl HostBatches {
    /// The first call that may begin, which it then does; and whether there is another one.
    fn begin(&mut self) -> Option<(Ready, bool)> {
        let mut ready = None;
        let mut least = u32::MAX;
        for (number, open) in self.jobs.iter_mut().enumerate() {
            for (at, (set, progress)) in open.calls.iter_mut().enumerate() {
                let may = *progress == Progress::Waiting && set.is_none_or(|set| set <= least);
                if may && ready.is_some() {
                    return ready.map(|ready| (ready, true));
                }
                if may {
                    *progress = Progress::Running;
                    let (job, timeline) = (open.job.clone(), open.timeline.clone());
                    ready = Some(Ready { number: self.first + number, at, job, timeline });
                }
                if *progress != Progress::Done {
                    least = least.min(set.unwrap_or(u32::MAX));
                }
            }
        }
        ready.map(|ready| (ready, false))
    }

    /// The first job, where all of it is done.
    fn end(&mut self) -> Option<Open> {
        let done = self.jobs.front()?.calls.iter().all(|(_, progress)| *progress == Progress::Done);
        self.first += usize::from(done);
        if done { self.jobs.pop_front() } else { None }
    }
}

impl JobQueue {
    fn lock(&self) -> MutexGuard<'_, HostBatches> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes calls until none is left, or for the graph's own thread until the graph is gone.
    fn work(self: &Arc<Self>, own: bool) {
        let mut state = self.lock();
        loop {
            if let Some((ready, more)) = state.begin() {
                drop(state);
                if more {
                    let queue = self.clone();
                    help(&self.threads, move || queue.work(false));
                }
                state = self.make(ready);
            } else if !own || (state.closed && state.jobs.is_empty()) {
                return;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Makes a call, and signals for the jobs that it was the last one of.
    fn make(&self, ready: Ready) -> MutexGuard<'_, HostBatches> {
        let Ready { number, at, job, timeline } = ready;
        make_call(&timeline.shared, &job, at);
        drop((job, timeline));
        let mut state = self.lock();
        let first = state.first;
        state.jobs[number - first].calls[at].1 = Progress::Done;
        if state.ending {
            self.changed.notify_all();
            return state;
        }
        while let Some(open) = state.end() {
            state.ending = true;
            drop(state);
            end_job(open);
            state = self.lock();
            state.ending = false;
        }
        // Calls of later sets may begin.
        self.changed.notify_all();
        state
    }
}

impl HostLane {
    /// Starts the thread.
    pub(crate) fn new(shared: &Arc<Shared>, name: &str) -> Result<Self, Error> {
        let semaphore = shared.create_timeline(0)?;
        let timeline = Arc::new(Timeline { shared: shared.clone(), raw: semaphore });
        shared.name(semaphore, &format!("{name} host timeline"));
        let queue = Arc::new(JobQueue { threads: shared.threads.clone(), ..JobQueue::default() });
        let jobs = queue.clone();
        let run = move || jobs.work(true);
        std::thread::Builder::new().name(format!("rgraph host {name}")).spawn(run).map_err(|error| {
            DeviceError::new(Code::Failed, format!("no thread for host passes: {error}"), "end other threads")
        })?;
        Ok(Self { semaphore, last: AtomicU64::new(0), timeline, queue: ManuallyDrop::new(queue) })
    }

    /// The value signalled last, or to be.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Hands over a job.
    pub(crate) fn push(&self, job: HostBatch) {
        job.outcome.begin();
        if let Some(signal) = job.signal {
            self.last.store(signal, Ordering::Relaxed);
        }
        let sets = job.calls.iter().map(|call| (Some(call.set), Progress::Waiting));
        let mut calls: Vec<_> = sets.collect();
        if calls.is_empty() {
            calls.push((None, Progress::Waiting));
        }
        let mut state = self.queue.lock();
        let busy = state.jobs.iter().flat_map(|open| &open.calls).any(|(_, progress)| *progress == Progress::Running);
        state.jobs.push_back(Open { timeline: self.timeline.clone(), job: Arc::new(job), calls });
        drop(state);
        self.queue.changed.notify_all();
        if busy {
            let queue = Arc::clone(&self.queue);
            help(&self.queue.threads, move || queue.work(false));
        }
    }
}

impl Drop for HostLane {
    fn drop(&mut self) {
        // A fork has no such thread, and the lock may be held for ever.
        if self.timeline.shared.is_ours() {
            self.queue.lock().closed = true;
            self.queue.changed.notify_all();
            // SAFETY: dropped here only.
            unsafe { ManuallyDrop::drop(&mut self.queue) };
        }
    }
}

/// Waits for what a job waits for, and makes one of its calls.
fn make_call(shared: &Shared, job: &HostBatch, at: usize) {
    let HostBatch { waits, foreign, calls, outcome, chain, .. } = job;
    let _inside = chain.enter();
    if !waits.is_empty() {
        let (semaphores, values): (Vec<_>, Vec<_>) = waits.iter().copied().unzip();
        let slice = foreign.then_some(Duration::from_millis(50));
        let waited = loop {
            match shared.wait_semaphores(&semaphores, &values, slice) {
                Ok(false) => match shared.check() {
                    Ok(()) => {}
                    Err(error) => break Err(error),
                },
                done => break done,
            }
        };
        if let Err(error) = waited {
            outcome.fail(error);
        }
    }
    let Some(call) = calls.get(at) else { return };
    if outcome.has_failed() {
        return;
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
    outcome.ran(Span::since(call.pass.clone(), begin));
}

/// Signals for a job whose calls and predecessors are done.
fn end_job(open: Open) {
    let Open { timeline, job, .. } = open;
    let (signal, outcome) = (job.signal, job.outcome.clone());
    if let Some(value) = signal {
        let shared = &timeline.shared;
        let info = vk::SemaphoreSignalInfo::default().semaphore(timeline.raw).value(value);
        // Signalled whatever happened: batches of the GPU wait for it, and what they compute is thrown away.
        // SAFETY: values grow, since one thread at a time ends jobs, in their order; the job holds the semaphore.
        if let Err(error) = shared.noted(unsafe { shared.raw.signal_semaphore(&info) }.called("vkSignalSemaphore")) {
            outcome.fail(error);
        }
    }
    // Before anyone hears that the job is over: what waits for it may be the last to use the device.
    drop((job, timeline));
    outcome.end(signal);
}

/// A view of part of a mapped buffer. The plan keeps the GPU away meanwhile, and the run every other run.
fn view(seen: &Seen) -> HostView<'_> {
    let (start, len) = (seen.start.as_ptr(), seen.bytes());
    let bytes = if seen.writable {
        // SAFETY: the range lies in the buffer, which stays mapped while the physical resource lives. Nobody else has a
        // slice of it: no other view of the pass shares a byte, functions of one set share none that any of them writes
        // (the checker proves it for plans that were not baked here), others run one after the other, and every other
        // user of the buffer waits until the run is over.
        HostBytes::Write(unsafe { std::slice::from_raw_parts_mut(start, len) })
    } else {
        // SAFETY: as above; other slices of these bytes are shared ones.
        HostBytes::Read(unsafe { std::slice::from_raw_parts(start, len) })
    };
    HostView { resource: seen.resource, name: &seen.name, range: seen.range, bytes }
}
