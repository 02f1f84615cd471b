//! Page-locked arrays: numpy's arrays on memory that the device reads and writes by itself.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::error::Code;
use rgraph_vk::Locked;

use crate::arguments::convert::{Bytes, items};
use crate::arguments::dtype::numpy;
use crate::arguments::keywords;
use crate::classes::device::PyDevice;
use crate::run::detached::Detached;
use crate::run::error::bad;

/// The memory of an array of `Device.array`: what numpy calls its base.
#[pyclass(name = "LockedMemory", module = "rgraph", frozen)]
struct PyLocked(Detached<Locked>);

#[pymethods]
impl PyDevice {
    /// Make a page-locked array for transfers: the device copies from it and into it at the rate of the link, without
    /// the CPU's help.
    ///
    /// It is an ordinary numpy array whose initial values are undefined. Give it, or a view of it in one piece, to
    /// `DeviceResource.write`, `DeviceResource.read`, or to a run as an input: these return when the array may be
    /// changed. Its memory lives as long as the array or a view of it, after the device was closed too, and cannot be
    /// paged out meanwhile: make a few and keep them.
    ///
    /// Parameters
    /// ----------
    /// shape
    ///     Number of elements, or a sequence of them, the slowest axis first.
    /// dtype
    ///     `"float32"`, `numpy.float32`, `numpy.dtype("f4")`, …
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     C-contiguous and aligned to 64 bytes.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If elements are Python objects, or there are more bytes than a machine has.
    /// DeviceError
    ///     If the device is closed, or the host has no memory for it.
    #[pyo3(signature = (shape, dtype = None, **unknown), text_signature = "($self, shape, dtype='float32')")]
    fn array<'py>(
        &self,
        py: Python<'py>,
        shape: &Bound<'py, PyAny>,
        dtype: Option<&Bound<'py, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_of::<Self>("array", unknown)?;
        let without = "an array.array or a bytearray can be written and read as well, at the rate of a copy";
        let numpy = numpy(py, "a page-locked array", without)?;
        let dtype = match dtype {
            Some(dtype) => numpy.call_method1("dtype", (dtype,))?,
            None => numpy.call_method1("dtype", ("float32",))?,
        };
        if dtype.getattr("hasobject")?.extract()? {
            let message = format!("elements of {dtype} are Python objects");
            return Err(bad(py, Code::BadArray, message, "choose a kind of number"));
        }
        let axes = axes(shape)?;
        let item: u64 = dtype.getattr("itemsize")?.extract()?;
        let bytes = axes.iter().try_fold(item, |bytes, axis| bytes.checked_mul(*axis));
        let Some(bytes) = bytes.and_then(|bytes| usize::try_from(bytes).ok()).filter(|bytes| *bytes < 1 << 46) else {
            let message = format!("an array of shape {axes:?} and {item} bytes an element");
            return Err(bad(py, Code::BadNumber, message, "no machine has that much memory"));
        };
        let memory = self.device.make(py, |device, _| device.locked(bytes))?;
        let options = PyDict::new(py);
        options.set_item("buffer", Bound::new(py, PyLocked(memory))?)?;
        numpy.call_method("ndarray", (PyTuple::new(py, axes)?, dtype), Some(&options))
    }
}

/// Reads `shape=`.
fn axes(shape: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    if let Ok(Bytes(length)) = shape.extract() {
        return Ok(vec![length]);
    }
    // A shape may be an array of one axis; contents are no shape.
    let axes = items(shape).transpose()?.map(|axes| {
        axes.iter().map(|axis| axis.extract::<Bytes>().map(|Bytes(axis)| axis)).collect::<PyResult<Vec<_>>>()
    });
    match axes {
        Some(Ok(axes)) => Ok(axes),
        Some(Err(_)) if shape.hasattr("__array_interface__")? || shape.hasattr("__buffer__")? => {
            let help = "fill it afterwards: page = device.array(data.shape, data.dtype); page[...] = data";
            Err(PyTypeError::new_err(format!("device.array takes a shape, not the contents\n  help: {help}")))
        }
        Some(Err(error)) => Err(error),
        None => Err(PyTypeError::new_err("a shape is a number of elements, or a sequence of them")),
    }
}

#[pymethods]
impl PyLocked {
    /// # Safety
    /// Python hands over a view to be filled.
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view to be filled"));
        }
        let (start, bytes) = slf.get().0.memory();
        let (start, bytes) = (start.cast::<c_void>(), bytes as ffi::Py_ssize_t);
        // SAFETY: the memory is that large, may be written, and is held by the object, which the view holds.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, bytes, 0, flags) };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
