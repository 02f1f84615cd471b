//! Arguments of a run.

use crate::arguments::convert::Text;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// See `Device.run`.
#[derive(Default)]
pub(crate) struct Arguments<'a, 'py> {
    /// Arrays of imported resources.
    pub inputs: Option<&'a Bound<'py, PyDict>>,
    /// Arrays that roots are read back into.
    pub into: Option<&'a Bound<'py, PyDict>>,
    /// Flags of conditional passes.
    pub flags: Option<&'a Bound<'py, PyDict>>,
    /// Push data and uniform data.
    pub params: Option<&'a Bound<'py, PyDict>>,
    /// Roots that are read back.
    pub read: Option<&'a Bound<'py, PyAny>>,
    /// Whether invocations are counted.
    pub statistics: bool,
    /// Which GPU times are measured.
    pub measure: Option<Text<'a>>,
    /// Seed of a chaos run before the frame.
    pub chaos: Option<u64>,
    /// Semaphores that the run waits for.
    pub wait: Option<&'a Bound<'py, PyAny>>,
    /// Semaphores that it signals.
    pub signal: Option<&'a Bound<'py, PyAny>>,
    /// A fence that it signals.
    pub fence: Option<&'a Bound<'py, PyAny>>,
    /// Whether faster plans are looked for.
    pub adapt: Option<&'a Bound<'py, PyAny>>,
}
