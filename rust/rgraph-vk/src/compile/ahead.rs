//! Pipelines of a graph, made on all cores before its packets are: drivers compile for milliseconds each, and one after
//! the other they would take as long as all together.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{available_parallelism, scope};

use rgraph_plan::graph::PassId;
use rgraph_shader::Program;

use crate::compile::bind::Binder;
use crate::compile::keys::{ProgramKey, RasterKey};
use crate::compile::pipeline::Targets;
use crate::error::Error;
use crate::work::{Draw, Step, Work};

/// A pipeline that steps ask for.
enum Wanted<'w> {
    Compute(&'w Arc<Program>),
    Raster(&'w Draw, Arc<Targets>),
}

/// What a pipeline is known by.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Compute(ProgramKey),
    Raster(RasterKey),
}

impl Wanted<'_> {
    fn key(&self) -> Key {
        match self {
            Self::Compute(program) => Key::Compute(ProgramKey::new(program)),
            Self::Raster(draw, targets) => {
                Key::Raster(RasterKey::new(&draw.program, &draw.state, targets, &draw.vertex_buffers))
            }
        }
    }
}

impl Binder<'_> {
    /// Makes the pipelines that the steps of live passes ask for. What does not fit is left out: binding the steps asks
    /// again, and reports the error of the first pass that has one. Packets that functions record are not known yet.
    ///
    /// # Errors
    /// If a call of the driver fails: that of the first such pipeline.
    pub fn make_ahead(&self, works: &HashMap<PassId, Work>) -> Result<(), Error> {
        let mut wanted = Vec::new();
        // Steps share what they hold, so the same handle is the same pipeline; equal ones behind other handles cost a look-up.
        let mut seen = HashSet::new();
        for pass in self.plan.live() {
            let Some(Work::Steps(steps)) = self.scene.pass_of[pass].and_then(|declared| works.get(&declared)) else {
                continue;
            };
            let mut targets = None;
            for step in steps {
                match step {
                    Step::Dispatch(dispatch) if seen.insert((None, Arc::as_ptr(&dispatch.program) as usize, 0)) => {
                        wanted.push(Wanted::Compute(&dispatch.program));
                    }
                    Step::Draw(draw) => {
                        let key = (Some(pass), Arc::as_ptr(&draw.program) as usize, Arc::as_ptr(&draw.state) as usize);
                        let find = || self.renderings.targets(self.plan, self.scene, pass).map(Arc::new);
                        let Some(targets) = targets.get_or_insert_with(find).clone() else { continue };
                        if seen.insert(key) {
                            wanted.push(Wanted::Raster(draw, targets));
                        }
                    }
                    Step::Dispatch(_) | Step::Transfer(_) | Step::Build(_) | Step::Instances(_) | Step::Trace(_) => {}
                }
            }
        }
        // Programs behind other handles may be equal.
        let mut keys = HashSet::new();
        wanted.retain(|one| {
            let key = one.key();
            !self.is_made(&key) && keys.insert(key)
        });
        let jobs: Vec<_> = wanted.into_iter().map(|one| (one, OnceLock::new())).collect();
        on_all_cores(&jobs, |(one, failed)| {
            let made = match one {
                Wanted::Compute(program) => self.shared.compute_pipeline(program),
                Wanted::Raster(draw, targets) => {
                    self.shared.raster_pipeline(&draw.program, &draw.state, targets, &draw.vertex_buffers)
                }
            };
            if let Err(Error::Device(error)) = made
                && error.result.is_some()
            {
                failed.get_or_init(|| error);
            }
        });
        match jobs.into_iter().find_map(|(_, failed)| failed.into_inner()) {
            Some(error) => Err(Error::Device(error)),
            None => Ok(()),
        }
    }

    fn is_made(&self, key: &Key) -> bool {
        match key {
            Key::Compute(key) => self.shared.has_compute_pipeline(key),
            Key::Raster(key) => self.shared.has_raster_pipeline(key),
        }
    }
}

/// Does the work of each job, on as many threads as there are cores; one job alone is left to the caller, who needs it at
/// once. Threads take the next job when they are done with one, since some take much longer than others.
fn on_all_cores<T: Sync>(jobs: &[T], work: impl Fn(&T) + Sync) {
    if jobs.len() < 2 {
        return;
    }
    let threads = available_parallelism().map_or(1, std::num::NonZero::get).max(2).min(jobs.len());
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(job);
        }
    };
    scope(|scope| {
        for _ in 1..threads {
            // Without a thread more, those that there are do its work.
            let _ = std::thread::Builder::new().name("rgraph pipelines".to_owned()).spawn_scoped(scope, run);
        }
        run();
    });
}

#[cfg(test)]
mod tests {
    use super::on_all_cores;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn every_job_is_done_once() {
        for count in [0, 2, 3, 100] {
            let jobs: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            on_all_cores(&jobs, |job| {
                job.fetch_add(1, Ordering::Relaxed);
            });
            assert!(jobs.iter().all(|job| job.load(Ordering::Relaxed) == 1), "{count} jobs");
        }
    }

    #[test]
    fn jobs_run_at_the_same_time() {
        // Each of two jobs waits until the other one has begun.
        let (to_second, from_first) = channel();
        let (to_first, from_second) = channel();
        let jobs = [(to_second, std::sync::Mutex::new(from_second)), (to_first, std::sync::Mutex::new(from_first))];
        let met = AtomicUsize::new(0);
        on_all_cores(&jobs, |(send, receive)| {
            send.send(()).unwrap();
            let other = receive.lock().unwrap().recv_timeout(Duration::from_secs(60));
            met.fetch_add(usize::from(other.is_ok()), Ordering::Relaxed);
        });
        assert_eq!(met.load(Ordering::Relaxed), 2);
    }
}
