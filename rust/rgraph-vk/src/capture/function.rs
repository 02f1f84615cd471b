//! Functions of passes, recorded and replayed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rgraph_plan::graph::PassId;
use rgraph_work::{CallbackError, Commands, HostBytes, HostView, HostViews, HostWork, RecordWork, Step};

use super::model::Bytes;

/// Collects the results of the functions of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sink(Arc<Mutex<Heard>>);

#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Steps by pass.
    pub steps: HashMap<PassId, Vec<Step>>,
    /// Bytes written on the host: pass, buffer, first byte.
    pub host: Vec<(String, String, u64, Bytes)>,
}

impl Sink {
    pub(super) fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the steps that a callback recorded.
    pub(crate) fn record(&self, pass: PassId, steps: &[Step]) {
        self.lock().steps.insert(pass, steps.to_vec());
    }

    /// A host function that does the same and keeps the bytes that it writes.
    pub(crate) fn around(&self, pass: &str, work: Arc<dyn HostWork>) -> Arc<dyn HostWork> {
        Arc::new(Taped { pass: pass.to_owned(), work, sink: self.clone() })
    }
}

struct Taped {
    pass: String,
    work: Arc<dyn HostWork>,
    sink: Sink,
}

impl HostWork for Taped {
    fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
        let lent = views.views.iter_mut().map(|view| HostView {
            resource: view.resource,
            name: view.name,
            range: view.range,
            bytes: match &mut view.bytes {
                HostBytes::Read(bytes) => HostBytes::Read(bytes),
                HostBytes::Write(bytes) => HostBytes::Write(bytes),
            },
        });
        self.work.run(HostViews { views: lent.collect() })?;
        let written = views.views.iter().filter_map(|view| match &view.bytes {
            HostBytes::Read(_) => None,
            HostBytes::Write(bytes) => {
                Some((self.pass.clone(), view.name.to_owned(), view.range[0], Bytes::from(&**bytes)))
            }
        });
        self.sink.lock().host.extend(written);
        Ok(())
    }
}

/// Recorded data do not fit the pass that they are of.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unfit(String);

/// Writes the bytes that a host function wrote when it was captured.
pub(super) struct HostReplay {
    pub pass: String,
    pub frame: Arc<AtomicUsize>,
    /// By frame: buffer, first byte, bytes.
    pub frames: HashMap<usize, Vec<(String, u64, Bytes)>>,
}

impl HostWork for HostReplay {
    fn run(&self, mut views: HostViews<'_>) -> Result<(), CallbackError> {
        let written = self.frames.get(&self.frame.load(Ordering::Relaxed)).map_or(&[][..], Vec::as_slice);
        for view in &mut views.views {
            let (name, first) = (view.name, view.range[0]);
            let HostBytes::Write(to) = &mut view.bytes else { continue };
            let found = written.iter().find(|(of, at, bytes)| of == name && *at == first && bytes.len() == to.len());
            let Some((.., bytes)) = found else {
                let message = format!("the capture has no bytes of \"{name}\" that pass \"{}\" wrote", self.pass);
                return Err(Box::new(Unfit(message)));
            };
            to.copy_from_slice(bytes);
        }
        Ok(())
    }
}

/// Records the steps that a callback recorded when it was captured.
pub(super) struct RecordReplay {
    pub frame: Arc<AtomicUsize>,
    pub frames: HashMap<usize, Vec<Step>>,
}

impl RecordWork for RecordReplay {
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError> {
        let steps = self.frames.get(&self.frame.load(Ordering::Relaxed));
        commands.steps.extend(steps.into_iter().flatten().cloned());
        Ok(())
    }
}
