//! What cannot be pickled, with what can in its place.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::classes::box_tree::PyBoxTree;
use crate::classes::capture::PyCapture;
use crate::classes::compiled::PyCompiled;
use crate::classes::device::PyDevice;
use crate::classes::device_resource::PyDeviceResource;
use crate::classes::devices::PyDevices;
use crate::classes::devices_compiled::PyCompiledDevices;
use crate::classes::frame::PyFrame;
use crate::classes::pass::PyPass;
use crate::classes::preparation::PyPreparation;
use crate::classes::report::PyReport;
use crate::classes::resource::PyResource;
use crate::classes::semaphore::PySemaphore;
use crate::classes::series::PySeries;
use crate::classes::share::PySharedMemory;
use crate::classes::view::PyView;
use crate::classes::window::PyWindow;

/// Refuses to pickle or copy objects of classes, each with its help.
macro_rules! refused {
    ($($class:ident: $help:literal,)*) => {$(
        #[pymethods]
        impl $class {
            /// Not for pickle, nor for copies.
            fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<()> {
                let class = slf.get_type().name()?;
                let message = format!("cannot pickle or copy 'rgraph.{class}' object\n  help: {}", $help);
                Err(PyTypeError::new_err(message))
            }
        }
    )*};
}

refused! {
    PyDevice: "open a device in each process: rgraph.Device()",
    PyDevices: "open the devices in each process: rgraph.Devices(…)",
    PyCompiled: "pickle the graph and compiled.plan, and call device.compile(plan, of=graph) there",
    PyCompiledDevices: "pickle the graph, and call devices.compile(graph) there",
    PyFrame: "pickle dict(frame.items()): results are pickled as numpy's arrays",
    PyReport: "pickle report.to_dict(), which weights= takes as well",
    PySeries: "pickle the reports' to_dict()",
    PyDeviceResource: "pickle numpy.array(resource.read())",
    PyPass: "pickle the graph: pass.name is the name there",
    PyResource: "pickle the graph: resource.name is the name there",
    PyView: "pickle the graph: view.resource.name is the name there",
    PyBoxTree: "pickle the graph, and call graph.box_tree() there",
    PyPreparation: "pickle the graph, and call device.prepare(graph) there",
    PyCapture: "copy the capture's file",
    PySemaphore: "share it between processes by its handle: semaphore.export()",
    PySharedMemory: "share it between processes by its handle: memory.export()",
    PyWindow: "open the window in the process that shows it",
}
