//! Arrays of the caller's, through the buffer protocol: what they hold, and whether that fits.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rgraph_plan::error::Code;

use crate::error::bad;
use rgraph_vk::texel::Element;

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

    /// Whether it may not be written.
    pub fn readonly(&self) -> bool {
        self.buffer.readonly()
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.buffer.len_bytes()
    }

    /// Its bytes as they lie in memory.
    ///
    /// Whoever writes to the array from another thread meanwhile gets a mixture, as everywhere with arrays.
    pub fn bytes(&self) -> &[u8] {
        if self.len() == 0 {
            return &[];
        }
        // SAFETY: the buffer is held for as long as `self`, is contiguous and has that many bytes.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast(), self.len()) }
    }

    /// Its bytes, to be overwritten.
    ///
    /// # Panics
    /// If it may not be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        assert!(!self.readonly(), "whoever writes has looked");
        if self.len() == 0 {
            return &mut [];
        }
        // SAFETY: the buffer is held for as long as `self`, is writable, contiguous and has that many bytes; what other
        // threads of Python do to the array meanwhile ends in a mixture, as everywhere with arrays.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.len()) }
    }

    /// Refuses another shape or kind than `shape` of `element`; a last axis of 1 may be left out.
    pub fn expect(&self, py: Python<'_>, what: &str, shape: &[usize], element: Element) -> PyResult<()> {
        let short = match shape {
            [rest @ .., 1] => rest,
            whole => whole,
        };
        if self.element == element && (self.shape() == shape || self.shape() == short) {
            return Ok(());
        }
        let message = format!("{what} has shape {}", self.shown());
        let help = format!("it is {} here", shown(shape, element));
        Err(bad(py, Code::BadArray, message, &help))
    }
}
