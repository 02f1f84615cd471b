//! Graphs compiled while frames run: on a thread of their own, or on one of the caller's.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rgraph_plan::bake::Options;

use crate::compile::progress::{Entered, Progress, given_up};
use crate::device::Device;
use crate::error::{Code, DeviceError, Error};
use crate::run::compiled::Compiled;
use crate::work::Workload;

/// A graph that is compiled in the background. Clones are the same one. Dropping all of them ends nothing: pipelines
/// that were made stay with the device.
#[derive(Clone, Debug)]
pub struct Preparation(Arc<PreparationShared>);

#[derive(Debug)]
struct PreparationShared {
    progress: Arc<Progress>,
    state: Mutex<PreparationState>,
    ended: Condvar,
}

#[derive(Debug)]
enum PreparationState {
    UnderWay,
    Ended(Box<Result<Compiled, Error>>),
    Taken,
}

impl PreparationShared {
    fn lock(&self) -> MutexGuard<'_, PreparationState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Preparation {
    /// Whether it is over, with a compiled graph or with an error.
    pub fn is_done(&self) -> bool {
        !matches!(*self.0.lock(), PreparationState::UnderWay)
    }

    /// Waits until it is over, for at most `timeout`; `None`: for as long as it takes. `false`: the time was over
    /// before.
    pub fn wait(&self, timeout: Option<Duration>) -> bool {
        let under_way = |state: &mut PreparationState| matches!(state, PreparationState::UnderWay);
        let state = self.0.lock();
        let Some(timeout) = timeout else {
            drop(self.0.ended.wait_while(state, under_way).unwrap_or_else(PoisonError::into_inner));
            return true;
        };
        let (_state, over) =
            self.0.ended.wait_timeout_while(state, timeout, under_way).unwrap_or_else(PoisonError::into_inner);
        !over.timed_out()
    }

    /// How many pipelines the graph needs that the device did not have when they were listed; 0 until the graph is
    /// planned. Pipelines that callbacks record are not known before they do.
    pub fn pipelines(&self) -> usize {
        self.0.progress.pipelines.load(Ordering::Acquire)
    }

    /// How many of them were made so far.
    pub fn pipelines_made(&self) -> usize {
        self.0.progress.made.load(Ordering::Acquire)
    }

    /// The compiled graph, or the error of the first pass that has one; `None` while it is under way, and once it was
    /// taken.
    pub fn take(&self) -> Option<Result<Compiled, Error>> {
        let mut state = self.0.lock();
        if matches!(*state, PreparationState::UnderWay) {
            return None;
        }
        match std::mem::replace(&mut *state, PreparationState::Taken) {
            PreparationState::Ended(ended) => Some(*ended),
            PreparationState::UnderWay | PreparationState::Taken => None,
        }
    }
}

/// The work of a [`Preparation`]: [`run`](PreparationTask::run) does it on any thread. Dropping it gives it up.
#[must_use = "nothing is compiled until it runs"]
pub struct PreparationTask {
    // Dropped in this order: nothing here has the device any more when its close stops to wait.
    job: Option<Compilation>,
    shared: Arc<PreparationShared>,
    _entered: Entered,
}

type Compile = Box<dyn FnOnce(&Device) -> Result<Compiled, Error> + Send>;

/// What compiles, and for which device.
struct Compilation {
    device: Device,
    compile: Compile,
}

impl std::fmt::Debug for PreparationTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparationTask").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl PreparationTask {
    /// Compiles. It takes as long as [`Device::compile`], and helps itself to all cores for the pipelines.
    pub fn run(mut self) {
        let Some(Compilation { device, compile }) = self.job.take() else { return };
        let progress = Arc::clone(&self.shared.progress);
        let compiled = progress.follow(|| device.check().and_then(|()| compile(&device)));
        self.end(compiled.unwrap_or_else(|_| Err(given_up())));
    }

    fn end(&self, ended: Result<Compiled, Error>) {
        let mut state = self.shared.lock();
        if matches!(*state, PreparationState::UnderWay) {
            *state = PreparationState::Ended(Box::new(ended));
            drop(state);
            self.shared.ended.notify_all();
        }
    }
}

impl Drop for PreparationTask {
    fn drop(&mut self) {
        // It never ran, or its work panicked.
        let message = "a graph was not compiled: its task was dropped, or panicked";
        self.end(Err(DeviceError::new(Code::Failed, message, "prepare the graph again").into()));
    }
}

impl Device {
    /// Compiles a graph on a thread of its own, its pipelines on all cores: frames go on meanwhile. Once the result [is
    /// done](Preparation::is_done), [taking](Preparation::take) it waits for nothing. An equal graph that is compiled
    /// later finds its pipelines.
    ///
    /// [Closing](Device::close) the device gives it up, and waits for the pipelines that are just being made.
    ///
    /// # Errors
    /// If the device is lost or closed, or there is no thread. What is wrong with the graph is the error of the result.
    pub fn prepare(&self, workload: Workload, options: &Options) -> Result<Preparation, Error> {
        let options = *options;
        let (preparation, task) = self.preparation(move |device| device.compile(workload, &options))?;
        let thread = std::thread::Builder::new().name("rgraph prepare".to_owned()).spawn(move || task.run());
        thread.map_err(|error| DeviceError::new(Code::Failed, format!("no thread: {error}"), "compile it at once"))?;
        Ok(preparation)
    }

    /// [`Device::prepare`] for other ways to compile (`|device| device.compile_next(…)`) and for threads of the
    /// caller's: the task is to be run by one of them.
    ///
    /// # Errors
    /// If the device is lost, closed, or of another process.
    pub fn preparation(
        &self,
        compile: impl FnOnce(&Self) -> Result<Compiled, Error> + Send + 'static,
    ) -> Result<(Preparation, PreparationTask), Error> {
        let entered = self.0.preparing.enter();
        // A close that did not see it here is seen now.
        self.check()?;
        let progress = Arc::clone(&entered.progress);
        let shared = Arc::new(PreparationShared {
            progress,
            state: Mutex::new(PreparationState::UnderWay),
            ended: Condvar::new(),
        });
        let job = Some(Compilation { device: self.clone(), compile: Box::new(compile) });
        let task = PreparationTask { job, shared: Arc::clone(&shared), _entered: entered };
        Ok((Preparation(shared), task))
    }

    /// Gives up the preparations that are under way, and waits for at most `timeout` until they have left the device;
    /// `None`: for as long as it takes. `false`: the time was over before.
    pub fn give_up_preparations(&self, timeout: Option<Duration>) -> bool {
        if !self.0.is_ours() {
            return true;
        }
        self.0.preparing.give_up();
        self.0.preparing.wait(timeout)
    }
}
