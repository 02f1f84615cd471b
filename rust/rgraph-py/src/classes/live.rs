//! `Device.view`: the viewer of a running program.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::error::Code;
use rgraph_vk::Measure;

use crate::arguments::convert::{Count, Text};
use crate::arguments::keywords;
use crate::arguments::options::Measuring;
use crate::classes::device::PyDevice;
use crate::run::detached::call;
use crate::run::error::bad;

#[pymethods]
impl PyDevice {
    /// Show the device's frames in a browser: the page follows the program and is updated with each new frame.
    ///
    /// The address is one of this machine only. A second view takes the place of the first. `view.close()` and the end
    /// of the program end it; after `close` of the device it shows the last frames.
    ///
    /// Parameters
    /// ----------
    /// port
    ///     Its port; 0: one that is free.
    /// open
    ///     Whether a browser is opened.
    /// measure
    ///     Default of `measure` for runs while the view is open.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E213 if there is no port of that number.
    /// OSError
    ///     If the port is taken.
    #[pyo3(signature = (port = Count(0), *, open = false, measure = None, **unknown),
           text_signature = "($self, port=0, *, open=False, measure='batches')")]
    fn view<'py>(
        slf: &Bound<'py, Self>,
        port: Count,
        open: bool,
        measure: Option<Text<'_>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_of::<Self>("view", unknown)?;
        let py = slf.py();
        if port.0 > u32::from(u16::MAX) {
            return Err(bad(
                py,
                Code::BadNumber,
                format!("port: {} is out of range", port.0),
                "ports go from 0 to 65535",
            ));
        }
        let measuring = Measuring { measure: Measure::Batches, sample: 1 }.or_else(py, measure, None)?;
        let device = &slf.get().device;
        call(py, |free| device.get(free)?.check())?;
        let view = py.import("rgraph._live")?.getattr("LiveView")?.call1((port.0,))?;
        slf.get().follow.set(Some((view.clone().unbind(), measuring.measure)));
        if open {
            view.call_method0("open")?;
        }
        Ok(view)
    }
}
