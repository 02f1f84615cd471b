//! Submissions of a compiled graph: as often as wanted, several frames at a time.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use rgraph_plan::resource::ResourceId;

use crate::device::poll::wait_polling;
use crate::error::Error;
use crate::frame::inputs::Inputs;
use crate::run::compiled::Compiled;
use crate::run::frame::{Frame, FrameShared};

impl Compiled {
    /// Runs it once: uploads, records what changed, submits. Returns when everything is submitted and host passes are
    /// done; the GPU may still be at work.
    ///
    /// # Errors
    /// If an input does not fit, the driver fails, or a function of the caller's does. The next run works, unless the
    /// device is lost. `RG-E402` inside of a function of a pass that the device runs: it would wait for itself.
    pub fn run(&self, inputs: &Inputs<'_>) -> Result<Frame, Error> {
        self.holding(inputs, || self.run_once(inputs))
    }

    fn run_once(&self, inputs: &Inputs<'_>) -> Result<Frame, Error> {
        let made = self.graph();
        made.shared.check()?;
        made.shared.outside()?;
        if let Some(spares) = made.shared.spares.upgrade() {
            spares.tick();
        }
        self.inherit();
        let captures = made.shared.captures.of(made.id);
        if captures.is_empty() {
            return self.run_plainly(inputs);
        }
        self.lock().check_begun(made)?;
        self.run_captured(&captures, inputs)
    }

    /// Runs it once, captured by nobody.
    pub(crate) fn run_plainly(&self, inputs: &Inputs<'_>) -> Result<Frame, Error> {
        self.run_lending(inputs, None)
    }

    /// The same with an import that is lent for this run alone: the next one has to be given it again.
    pub(crate) fn run_lending(&self, inputs: &Inputs<'_>, lent: Option<ResourceId>) -> Result<Frame, Error> {
        let made = self.graph();
        let submitted = {
            let mut state = self.lock();
            state.check_heir(made)?;
            let _inside = made.shared.enter();
            let submitted = state.run_once(made, inputs).map_err(|error| state.blamed(made, error));
            if let Some(lent) = lent {
                state.release(lent);
            }
            submitted
        };
        let submitted = submitted?;
        let frame = Frame(Arc::new(FrameShared { compiled: self.clone(), submitted, waits: Mutex::default() }));
        if let Some(host) = &frame.0.submitted.host {
            let begin = Instant::now();
            wait_polling(inputs.poll, |slice| Ok(host.wait(slice)))?;
            frame.0.note_wait(begin, false);
            if let Some(error) = host.take_error() {
                return Err(error);
            }
        }
        Ok(frame)
    }
}
