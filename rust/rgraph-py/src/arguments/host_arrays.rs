//! Arrays of the caller's, through the buffer protocol: what they hold, and whether that fits.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rgraph_plan::error::Code;

use crate::arguments::dtype::Dtype;
use crate::classes::array_layout::{Form, Kept};
use crate::run::error::bad;
use rgraph_vk::texel::Element;

/// An array in one piece of memory, row by row.
pub struct Host {
    buffer: PyUntypedBuffer,
    /// Its shape and kind.
    pub form: Form,
}

impl Host {
    /// Reads an argument; `what` names it in messages.
    ///
    /// # Errors
    /// `TypeError` for what is no array, `GraphError` for one whose elements or strides cannot be used.
    pub fn new(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let py = value.py();
        let Ok(buffer) = PyUntypedBuffer::get(value) else {
            let kind = value.get_type().name()?.to_string();
            let message = format!(
                "{what} is an array or another object with a buffer, not {kind}; numpy.asarray(…) makes an array"
            );
            return Err(PyTypeError::new_err(message));
        };
        let format = buffer.format().to_string_lossy();
        let record = format.starts_with("T{") && value.hasattr("dtype")?;
        let dtype = match Element::from_buffer(&format, buffer.item_size()) {
            Some(element) => Dtype::Number(element),
            None if record => Dtype::read(&value.getattr("dtype")?)?,
            None => {
                let message = format!("{what} has elements of format \"{format}\" and {} bytes", buffer.item_size());
                let known: Vec<_> = Element::names().collect();
                let help = format!("convert it to one of {} in this machine's byte order", known.join(", "));
                return Err(bad(py, Code::BadArray, message, &help));
            }
        };
        let form = Form {
            shape: buffer.shape().to_vec(),
            dtype,
            boolean: format.trim_start_matches(['@', '=', '<', '|']) == "?",
        };
        if !buffer.is_c_contiguous() {
            let message = format!(
                "{what} of shape {} is not contiguous: its strides are {:?} bytes",
                form.shown(),
                buffer.strides()
            );
            return Err(bad(py, Code::BadArray, message, "give numpy.ascontiguousarray(…) of it"));
        }
        Ok(Self { buffer, form })
    }

    /// The kind of its numbers; bytes for records.
    pub fn element(&self) -> Element {
        self.form.dtype.number().unwrap_or(Element::Uint(1))
    }

    /// A copy of it as it is now.
    pub fn kept(&self) -> Kept {
        Kept { form: self.form.clone(), bytes: self.bytes().into(), file: None }
    }

    /// Its shape, the slowest axis first.
    pub fn shape(&self) -> &[usize] {
        &self.form.shape
    }

    /// Its shape and kind as messages show them.
    pub fn shown(&self) -> String {
        self.form.shown()
    }

    /// Whether it may not be written.
    pub fn readonly(&self) -> bool {
        self.buffer.readonly()
    }

    /// Refuses an array of bools to be filled: a byte of a result may be anything.
    pub fn written(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        match self.form.boolean {
            true => {
                Err(bad(py, Code::BadArray, format!("{what} is of bool"), "give one of uint8 and compare it with 0"))
            }
            false => Ok(()),
        }
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
}
