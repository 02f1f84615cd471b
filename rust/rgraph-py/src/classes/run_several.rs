//! Runs of a graph on several devices: `CompiledDevices.run`, `Devices.run`.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::convert::Text;
use crate::arguments::keywords;
use crate::arguments::mapped::Mapped;
use crate::arguments::options::Budget;
use crate::arguments::reads;
use crate::classes::devices::PyDevices;
use crate::classes::devices_compiled::PyCompiledDevices;
use crate::classes::frame::PyFrame;
use crate::run::call::Arguments;
use crate::run::inputs;

#[pymethods]
impl PyCompiledDevices {
    /// Run a frame, and wait until all devices are done.
    ///
    /// Parameters
    /// ----------
    /// inputs, into, flags, params, read, statistics, measure
    ///     See `Device.run`.
    ///
    /// Returns
    /// -------
    /// Frame
    ///     With the roots' contents by name, and a report.
    #[pyo3(signature = (*, inputs = None, into = None, flags = None, params = None, read = None, statistics = false,
                        measure = None, **unknown),
           text_signature = "($self, *, inputs=None, into=None, flags=None, params=None, read=None, statistics=False, \
                             measure=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        inputs: Option<Mapped<'py>>,
        into: Option<Mapped<'py>>,
        flags: Option<Mapped<'py>>,
        params: Option<Mapped<'py>>,
        read: Option<&Bound<'py, PyAny>>,
        statistics: bool,
        measure: Option<Text<'_>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyFrame>> {
        keywords::refuse_in(slf.as_any(), "run", unknown)?;
        let (inputs, into, flags, params) = (inputs.as_deref(), into.as_deref(), flags.as_deref(), params.as_deref());
        let origin = slf.get().origin.as_ref().map(|origin| origin.bind(slf.py()));
        let arguments = Arguments { inputs, into, flags, params, read, statistics, measure, ..Arguments::default() };
        inputs::run_devices(slf, origin, &arguments)
    }
}

#[pymethods]
impl PyDevices {
    /// Run a frame, and wait until all devices are done.
    ///
    /// What did not change since the last run is not compiled again. If a device is lost, a function fails or Ctrl-C
    /// comes, all devices stop at their next step, and the call raises that one error.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     A `Graph`, a `DevicesPlan`, or what `compile` gave.
    /// inputs, into, flags, params, read, statistics, measure, memory
    ///     See `Device.run`. Parts of roots cannot be read.
    ///
    /// Returns
    /// -------
    /// Frame
    ///     With the roots' contents by name, and a report.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the declaration is wrong, or an array does not fit: the message has the expected shape.
    /// DeviceError
    ///     If a device fails.
    #[pyo3(signature = (graph, *, inputs = None, into = None, flags = None, params = None, read = None,
                        statistics = false, measure = None, memory = None, **unknown),
           text_signature = "($self, graph, *, inputs=None, into=None, flags=None, params=None, read=None, \
                             statistics=False, measure=None, memory=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        graph: &Bound<'py, PyAny>,
        inputs: Option<Mapped<'py>>,
        into: Option<Mapped<'py>>,
        flags: Option<Mapped<'py>>,
        params: Option<Mapped<'py>>,
        read: Option<&Bound<'py, PyAny>>,
        statistics: bool,
        measure: Option<Text<'_>>,
        memory: Option<Budget>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyFrame>> {
        keywords::refuse_in(slf.as_any(), "run", unknown)?;
        let (inputs, into, flags, params) = (inputs.as_deref(), into.as_deref(), flags.as_deref(), params.as_deref());
        slf.get().check(slf.py())?;
        let seen = read.map(|read| reads::with_roots(graph, read)).transpose()?.flatten();
        let (compiled, origin) = Self::remembered(slf, seen.as_ref().map_or(graph, |seen| seen.as_any()), memory)?;
        let arguments = Arguments { inputs, into, flags, params, read, statistics, measure, ..Arguments::default() };
        inputs::run_devices(&compiled, origin.as_ref(), &arguments)
    }
}
