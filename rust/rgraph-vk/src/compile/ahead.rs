//! Pipelines of a graph, made on all cores before its packets are: drivers compile for milliseconds each, and one after
//! the other they would take as long as all together.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use rgraph_plan::plan::PlanPassId;
use rgraph_shader::Program;

use crate::compile::bind::Binder;
use crate::compile::keys::{ProgramKey, RasterKey, RayKey, Targets};
use crate::compile::progress::{self, Progress};
use crate::error::Error;
use crate::work::{Work, Works};
use rgraph_work::cores::on_all_cores;
use rgraph_work::{Draw, Step, Trace};

/// A pipeline that steps ask for.
enum Wanted<'w> {
    Compute(&'w Arc<Program>),
    Raster(&'w Draw, Arc<Targets>),
    Ray(&'w Trace),
}

/// What a pipeline is known by.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Compute(ProgramKey),
    Raster(RasterKey),
    Ray(RayKey),
}

impl Wanted<'_> {
    fn key(&self) -> Key {
        match self {
            Self::Compute(program) => Key::Compute(ProgramKey::new(program)),
            Self::Raster(draw, targets) => {
                Key::Raster(RasterKey::new(&draw.program, &draw.state, targets, &draw.vertex_buffers))
            }
            Self::Ray(trace) => Key::Ray(RayKey::new(&trace.program, &trace.groups, trace.depth)),
        }
    }
}

impl Binder<'_> {
    /// Makes the pipelines that the steps of live passes ask for. What does not fit is left out: binding the steps asks
    /// again, and reports the error of the first pass that has one. Packets that functions record are not known yet.
    ///
    /// # Errors
    /// If a call of the driver fails: that of the first such pipeline. Or if the device is closed meanwhile, and the
    /// compilation is one in the background.
    pub(crate) fn make_ahead(&self, works: &Works) -> Result<(), Error> {
        let mut wanted = Vec::new();
        // Steps share what they hold, so the same handle is the same pipeline; equal ones behind other handles cost a
        // look-up.
        let mut seen = HashSet::new();
        for pass in self.plan.live() {
            let Some(Work::Steps(steps)) = self.table.pass_of[pass].and_then(|declared| works.get(&declared)) else {
                continue;
            };
            let mut targets = None;
            for step in steps {
                match step {
                    Step::Dispatch(dispatch) if seen.insert((None, Arc::as_ptr(&dispatch.program) as usize, 0)) => {
                        wanted.push((pass, Wanted::Compute(&dispatch.program)));
                    }
                    Step::Draw(draw) => {
                        let key = (Some(pass), Arc::as_ptr(&draw.program) as usize, Arc::as_ptr(&draw.state) as usize);
                        let find = || self.renderings.targets(self.plan, self.table, pass).map(Arc::new);
                        let Some(targets) = targets.get_or_insert_with(find).clone() else { continue };
                        if seen.insert(key) {
                            wanted.push((pass, Wanted::Raster(draw, targets)));
                        }
                    }
                    Step::Trace(trace) if self.can_trace(pass, trace) => wanted.push((pass, Wanted::Ray(trace))),
                    Step::Dispatch(_) | Step::Transfer(_) | Step::Build(_) | Step::Instances(_) | Step::Trace(_) => {}
                }
            }
        }
        // Programs behind other handles may be equal.
        let mut keys = HashSet::new();
        wanted.retain(|(_, one)| {
            let key = one.key();
            !self.is_made(&key) && keys.insert(key)
        });
        let progress = Progress::followed();
        let progress = progress.as_deref();
        if let Some(progress) = progress {
            progress.pipelines.store(wanted.len(), Ordering::Release);
        }
        let given_up = || progress.is_some_and(Progress::is_given_up);
        let jobs: Vec<_> = wanted.into_iter().map(|one| (one, OnceLock::new())).collect();
        let make = |((pass, one), failed): &((PlanPassId, Wanted<'_>), OnceLock<Error>)| {
            if given_up() {
                return;
            }
            let made = match one {
                Wanted::Compute(program) => self.shared.compute_pipeline(program),
                Wanted::Raster(draw, targets) => {
                    self.shared.raster_pipeline(&draw.program, &draw.state, targets, &draw.vertex_buffers)
                }
                Wanted::Ray(trace) => {
                    self.shared.ray_pipeline(&trace.program, &trace.groups, trace.depth).map(|made| made.raw)
                }
            };
            match made {
                Ok(_) => {
                    if let Some(progress) = progress {
                        progress.made.fetch_add(1, Ordering::AcqRel);
                    }
                }
                Err(Error::Device(error)) if error.result.is_some() => {
                    failed.get_or_init(|| self.in_pass(*pass, Error::Device(error)));
                }
                Err(_) => {}
            }
        };
        on_all_cores("rgraph pipelines", &jobs, make);
        // One alone is made by the step that needs it, unless somebody counts.
        if let ([job], Some(_)) = (&*jobs, progress) {
            make(job);
        }
        if given_up() {
            return Err(progress::given_up());
        }
        jobs.into_iter().find_map(|(_, failed)| failed.into_inner()).map_or(Ok(()), Err)
    }

    /// Whether a trace fits the device and its shaders: binding it says what does not.
    fn can_trace(&self, pass: PlanPassId, trace: &Trace) -> bool {
        let rays = self.shared.rays.as_deref().filter(|rays| rays.pipelines.is_some());
        rays.is_some_and(|rays| trace.depth <= rays.most_depth)
            && self.check_ray_groups(pass, &trace.program, &trace.groups).is_ok()
    }

    fn is_made(&self, key: &Key) -> bool {
        match key {
            Key::Compute(key) => self.shared.has_compute_pipeline(key),
            Key::Raster(key) => self.shared.has_raster_pipeline(key),
            Key::Ray(key) => self.shared.pipelines.ray(key).is_some(),
        }
    }
}
