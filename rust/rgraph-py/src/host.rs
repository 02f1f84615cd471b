//! Arrays of the caller's, through the buffer protocol: what they hold, and whether that fits.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rgraph_plan::error::Code;

use crate::error::bad;
use crate::texel::Element;

/// An array of numbers in one piece of memory, row by row.
pub struct Host {
    buffer: PyUntypedBuffer,
    /// Kind of number.
    pub element: Element,
}

/// Shape and kind as messages show them.
pub fn shown(shape: &[usize], element: Element) -> String {
    let axes: Vec<_> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    format!("({}{comma}) of {}", axes.join(", "), element.name())
}

impl Host {
    /// Reads an argument; `what` names it in messages.
    ///
    /// # Errors
    /// `TypeError` for what is no array, `GraphError` for one whose numbers or strides cannot be used.
    pub fn new(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let py = value.py();
        let Ok(buffer) = PyUntypedBuffer::get(value) else {
            let kind = value.get_type().name()?.to_string();
            let message = format!("{what} is an array or another object with a buffer, not {kind}");
            return Err(PyTypeError::new_err(message));
        };
        let format = buffer.format().to_string_lossy();
        let Some(element) = Element::from_buffer(&format, buffer.item_size()) else {
            let message = format!("{what} has elements of format \"{format}\" and {} bytes", buffer.item_size());
            let known: Vec<_> = Element::names().collect();
            let help = format!("convert it to one of {} in this machine's byte order", known.join(", "));
            return Err(bad(py, Code::BadArray, message, &help));
        };
        if !buffer.is_c_contiguous() {
            let message = format!(
                "{what} of shape {} is not contiguous: its strides are {:?} bytes",
                shown(buffer.shape(), element),
                buffer.strides()
            );
            return Err(bad(py, Code::BadArray, message, "give numpy.ascontiguousarray(…) of it"));
        }
        Ok(Self { buffer, element })
    }

    /// Its shape, the slowest axis first.
    pub fn shape(&self) -> &[usize] {
        self.buffer.shape()
    }

    /// Its shape and kind as messages show them.
    pub fn shown(&self) -> String {
        shown(self.shape(), self.element)
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.buffer.len_bytes()
    }
}
