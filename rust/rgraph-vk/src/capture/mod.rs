//! Captures: graph, plan, inputs, flags, parameters, carried contents and results of some runs in one file, which runs
//! again anywhere. Steps that callbacks recorded and bytes that host functions wrote stand for those functions.
//!
//! While a run is captured, the contents that it finds are copied before it and its results after it: it waits for the
//! device twice. Runs that nobody captures pay for one look at an empty list.

mod file;
mod function;
mod model;
mod read;
mod replay;
mod tape;
pub(crate) mod under_way;

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub use read::CaptureFile;
pub use replay::{Difference, Replay, ReplayOptions, ReplayedFrame};
use rgraph_plan::error::{Code, GraphError, Mistake};
pub use under_way::Capture;

use crate::device::Device;
use crate::error::Error;
use crate::frame::inputs::Inputs;
use crate::run::compiled::Compiled;
use crate::run::frame::Frame;
use crate::work::Work;
pub(crate) use function::Sink;
use rgraph_files::disk;
use under_way::{CaptureShared, CaptureState, Taken, Tape};

/// Most frames of one capture.
pub const MOST_FRAMES: usize = 4096;

/// What is wrong with a capture file.
pub(super) fn bad(message: impl Into<String>, help: impl Into<String>) -> Error {
    Error::Graph(GraphError::one(Mistake::new(Code::BadFile, message, help)))
}

impl Device {
    /// Captures the next `frames` runs of this device, of all graphs, into one file. It is written with the last of
    /// them, or by [`Capture::finish`]. A run goes into every capture that is under way.
    ///
    /// # Errors
    /// `RG-E222` if the file has no folder; `RG-E213` if `frames` is 0 or more than [`MOST_FRAMES`].
    pub fn capture(&self, path: &Path, frames: usize) -> Result<Capture, Error> {
        self.0.check()?;
        let capture = Capture::new(path, frames, None)?;
        self.0.captures.lock().push(capture.clone());
        Ok(capture)
    }
}

impl Compiled {
    /// Captures the next `frames` runs of this graph into one file. It is written with the last of them, or by
    /// [`Capture::finish`]. A run goes into every capture that is under way.
    ///
    /// # Errors
    /// As [`Device::capture`]; `RG-E225` if a pass records Vulkan commands itself, or an image with several samples
    /// lives from run to run: neither can be captured.
    pub fn capture(&self, path: &Path, frames: usize) -> Result<Capture, Error> {
        let made = self.graph();
        made.shared.check()?;
        tape::check(made)?;
        let capture = Capture::new(path, frames, Some(made.id))?;
        made.shared.captures.lock().push(capture.clone());
        Ok(capture)
    }

    /// Runs once for captures. A run that another thread captures ends first.
    pub(crate) fn run_captured(&self, captures: &[Capture], inputs: &Inputs<'_>) -> Result<Frame, Error> {
        let mut taken = Vec::new();
        for capture in captures {
            taken.extend(Taken::of(capture, inputs.poll)?);
        }
        if taken.is_empty() {
            return self.run_plainly(inputs);
        }
        let ran = tape::run(self, inputs, &mut taken);
        drop(taken);
        let written: Vec<_> = captures.iter().map(|capture| capture.write_if_over(self)).collect();
        let frame = ran?;
        written.into_iter().collect::<Result<(), _>>().map(|()| frame)
    }
}

impl Capture {
    fn new(path: &Path, frames: usize, only: Option<u64>) -> Result<Self, Error> {
        if !(1..=MOST_FRAMES).contains(&frames) {
            let message = format!("a capture of {frames} frames");
            let help = format!("capture 1 to {MOST_FRAMES} frames");
            return Err(GraphError::one(Mistake::new(Code::BadNumber, message, help)).into());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() {
            let message = format!("{} is a folder, and a capture is one file", path.display());
            let file = path.join("frames.rcapture");
            return Err(bad(message, format!("name a file in it, such as {}", file.display())));
        }
        if path.file_name().is_none() || folder.is_some_and(|folder| !folder.is_dir()) {
            let message = format!("{}: there is no folder for it", path.display());
            return Err(bad(message, "name a file in a folder that exists"));
        }
        let state = Mutex::new(CaptureState { tape: Some(Tape::default()), ..CaptureState::default() });
        Ok(Self(Arc::new(CaptureShared { path: path.to_owned(), frames, only, state, back: Condvar::default() })))
    }

    fn lock(&self) -> MutexGuard<'_, CaptureState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Number of runs that were captured so far.
    pub fn frames(&self) -> usize {
        self.lock().captured
    }

    /// Whether the file is written.
    pub fn is_done(&self) -> bool {
        self.lock().written
    }

    /// Ends it: writes the runs so far, or with the run that is being captured on another thread. Nothing is written
    /// if nothing ran. A second call does nothing.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(&self, device: &Device) -> Result<(), Error> {
        device.0.captures.remove(self);
        let mut state = self.lock();
        state.ending = true;
        match &state.tape {
            Some(_) => self.write(&mut state, None),
            None => Ok(()),
        }
    }

    /// Writes the file if the run that ended was the last one.
    fn write_if_over(&self, of: &Compiled) -> Result<(), Error> {
        let mut state = self.lock();
        let over = !state.busy && (state.captured == self.0.frames || state.ending);
        if over { self.write(&mut state, Some(of)) } else { Ok(()) }
    }

    /// Writes the file and ends.
    fn write(&self, state: &mut CaptureState, of: Option<&Compiled>) -> Result<(), Error> {
        if let Some(compiled) = of {
            compiled.graph().shared.captures.remove(self);
        }
        let Some(tape) = state.tape.take().filter(|tape| tape.len() > 0) else { return Ok(()) };
        let bytes = file::write(&tape.into_model());
        let refused = |fault: disk::Fault| bad(format!("{}: {fault}", self.0.path.display()), fault.help());
        if bytes.len() as u64 > disk::max_file_bytes().map_err(refused)? {
            let message = format!("{}: the capture has {} bytes", self.0.path.display(), bytes.len());
            return Err(bad(message, "capture fewer frames, or set RGRAPH_MAX_FILE_BYTES to a larger limit"));
        }
        disk::write(&self.0.path, &bytes).map_err(refused)?;
        state.written = true;
        Ok(())
    }
}

/// Whether a pass's work is a function that data stand for in a capture.
pub(super) fn is_function(work: &Work) -> bool {
    matches!(work, Work::Host(_) | Work::Record(_))
}
