//! Pipelines of a graph, made on all cores before its packets are: drivers compile for milliseconds each, and one after
//! the other they would take as long as all together.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use rgraph_shader::Program;

use crate::compile::bind::Binder;
use crate::compile::keys::{ProgramKey, RasterKey, Targets};
use crate::error::Error;
use crate::work::{Work, Works};
use rgraph_work::cores::on_all_cores;
use rgraph_work::{Draw, Step};

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
    pub fn make_ahead(&self, works: &Works) -> Result<(), Error> {
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
        on_all_cores("rgraph pipelines", &jobs, |(one, failed)| {
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
