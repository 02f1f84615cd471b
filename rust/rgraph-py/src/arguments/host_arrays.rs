//! Arrays of the caller's: what they hold, and whether that fits. The buffer protocol comes first; numpy reads what has
//! none, but numpy's or DLPack's protocol: pictures of Pillow, tensors.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyMemoryView, PyString};
use rgraph_plan::error::Code;

use crate::arguments::convert::{Text, word};
use crate::arguments::dtype::{Dtype, NATIVE, numpy};
use crate::classes::array_layout::{Form, Kept};
use crate::run::error::bad;
use rgraph_work::texel::Element;

/// An array in one piece of memory, row by row.
pub struct Host {
    buffer: PyUntypedBuffer,
    /// Its shape and kind.
    pub form: Form,
    /// Whether numpy converted an object to this array: writes to it may not reach the caller.
    made: bool,
}

/// numpy for what is written in Python.
#[pyfunction]
pub(crate) fn _numpy<'py>(py: Python<'py>, what: &str, without: &str) -> PyResult<Bound<'py, PyModule>> {
    numpy(py, what, without)
}

/// A numpy array with an object's contents; `None` if the object has no interface that numpy reads.
///
/// # Errors
/// The error that the object raises, such as a tensor on another device; `ImportError` without numpy.
fn through_numpy<'py>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    const NUMPYS: [&str; 3] = ["__array_interface__", "__array_struct__", "__array__"];
    let has = |names: &[&str]| names.iter().any(|name| value.hasattr(*name).unwrap_or(false));
    let call = if has(&NUMPYS) {
        "asarray"
    } else if has(&["__dlpack__"]) {
        "from_dlpack"
    } else {
        return Ok(None);
    };
    let what = format!("{what}, whose type {} has no buffer,", value.get_type().name()?);
    let without = "an array.array, a bytearray or a memoryview of it does not need it";
    numpy(value.py(), &what, without)?.call_method1(call, (value,)).map(Some)
}

/// Refuses a picture of Pillow whose numbers are no grey or colours: numpy reads indices of a palette as if they were.
fn refuse_palette(value: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    const PLAIN: [&str; 12] = ["1", "L", "LA", "RGB", "RGBA", "RGBX", "I", "F", "I;16", "I;16L", "I;16B", "I;16N"];
    let Ok(mode) = value.getattr("mode").and_then(|mode| mode.extract::<String>()) else { return Ok(()) };
    if !value.hasattr("getbands")? || PLAIN.contains(&&*mode) {
        return Ok(());
    }
    let message = format!("{what} is a picture of mode \"{mode}\"");
    Err(bad(value.py(), Code::BadArray, message, "give picture.convert(\"RGBA\")"))
}

/// Refuses an array of numpy.ma that hides some of its elements: its buffer has what is hidden.
fn refuse_masked(value: &Bound<'_, PyAny>, what: &str, help: &str) -> PyResult<()> {
    if !value.hasattr("filled")? {
        return Ok(());
    }
    match value.getattr("mask").and_then(|mask| mask.call_method0("any")) {
        Ok(some) if some.is_truthy()? => {
            let message = format!("{what} has masked elements, which images and buffers cannot have");
            Err(bad(value.py(), Code::BadArray, message, help))
        }
        _ => Ok(()),
    }
}

/// The error of an array whose elements no buffer and no image has.
fn other_elements(py: Python<'_>, message: &str) -> PyErr {
    let known: Vec<_> = Element::names().collect();
    let help = format!("convert it to one of {} in this machine's byte order", known.join(", "));
    bad(py, Code::BadArray, message.to_owned(), &help)
}

/// The error of elements with a format of the buffer protocol that no buffer and no image has.
fn refused_elements(value: &Bound<'_, PyAny>, what: &str, format: &str, size: usize) -> PyErr {
    let py = value.py();
    let named = |dtype: Bound<'_, PyAny>| format!("{what} has elements of {dtype}");
    let message = match value.getattr("dtype") {
        Ok(dtype) => named(dtype),
        Err(_) => format!("{what} has elements of format \"{format}\" and {size} bytes"),
    };
    let parts = |float| format!("give real and imaginary parts as two numbers: array[..., None].view(\"{float}\")");
    match format {
        "Zf" => bad(py, Code::BadArray, message, &parts("float32")),
        "Zd" => bad(py, Code::BadArray, message, &parts("float64")),
        _ if Element::from_buffer(format.get(1..).unwrap_or_default(), size).is_some() => {
            let message = message + ", which is another byte order than this machine's";
            bad(py, Code::BadArray, message, NATIVE)
        }
        _ => other_elements(py, &message),
    }
}

impl Host {
    /// Reads an argument; `what` names it in messages.
    ///
    /// # Errors
    /// `TypeError` for what is no array, `GraphError` for one whose elements or strides cannot be used.
    pub fn new(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let unmasked = "give array.filled(0), or another number in their place";
        Self::contiguous(value, what, ["give numpy.ascontiguousarray(…) of it", unmasked])
    }

    /// As [`Host::new`] for an array that results are written to: a contiguous copy of it would not reach the caller.
    pub fn target(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let unmasked = "give array.data: results would stay hidden";
        Self::contiguous(
            value,
            what,
            ["read into a contiguous array, as numpy.empty(…), and assign that to it", unmasked],
        )
    }

    fn contiguous(value: &Bound<'_, PyAny>, what: &str, [otherwise, unmasked]: [&str; 2]) -> PyResult<Self> {
        let py = value.py();
        refuse_masked(value, what, unmasked)?;
        let mut made = false;
        let mut buffer = PyUntypedBuffer::get(value).ok();
        if buffer.is_none() {
            // Arrays of ctypes have no strides; a memoryview of one has.
            buffer = PyMemoryView::from(value).and_then(|view| PyUntypedBuffer::get(&view)).ok();
        }
        if buffer.is_none()
            && let Some(array) = through_numpy(value, what)?
        {
            refuse_palette(value, what)?;
            made = true;
            buffer = PyUntypedBuffer::get(&array).ok();
        }
        let Some(buffer) = buffer else {
            if value.getattr("shape").is_ok_and(|shape| shape.len().is_ok_and(|axes| axes == 0)) {
                let message = format!("{what} has no axes: it is one number");
                return Err(bad(py, Code::BadArray, message, "give numpy.reshape(…, 1) of it"));
            }
            if let Ok(dtype) = value.getattr("dtype") {
                // The buffer protocol has no records whose fields overlap or are out of order.
                if dtype.getattr("names").is_ok_and(|names| !names.is_none()) {
                    Dtype::read(&dtype)?;
                }
                return Err(other_elements(py, &format!("{what} has elements of {dtype}")));
            }
            let kind = value.get_type().name()?;
            let message = format!("{what} is of type {kind}, which has no buffer; numpy.asarray(…) makes an array");
            return Err(PyTypeError::new_err(message));
        };
        let format = buffer.format().to_string_lossy();
        let record = format.starts_with("T{") && value.hasattr("dtype")?;
        let dtype = match Element::from_buffer(&format, buffer.item_size()) {
            Some(element) => Dtype::Number(element),
            None if record => Dtype::read(&value.getattr("dtype")?)?,
            None => return Err(refused_elements(value, what, &format, buffer.item_size())),
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
            return Err(bad(py, Code::BadArray, message, otherwise));
        }
        Ok(Self { buffer, form, made })
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

    /// Whether it may not be written, or what is written may not be what the caller has.
    pub fn readonly(&self) -> bool {
        self.made || self.buffer.readonly()
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
    /// If another thread writes to the array meanwhile, old and new bytes mix, as everywhere with arrays.
    pub fn bytes(&self) -> &[u8] {
        if self.len() == 0 {
            return &[];
        }
        // SAFETY: the buffer is held for as long as `self`, is contiguous and has that many bytes.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast(), self.len()) }
    }

    /// Whether two arrays have bytes in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (one, two) = (self.bytes().as_ptr_range(), other.bytes().as_ptr_range());
        one.start < two.end && two.start < one.end
    }

    /// Its bytes, to be overwritten.
    ///
    /// # Panics
    /// If it may not be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        assert!(!self.readonly(), "callers check readonly() before they write");
        if self.len() == 0 {
            return &mut [];
        }
        // SAFETY: the buffer is held for as long as `self`, is writable, contiguous and has that many bytes; what other
        // threads of Python do to the array meanwhile ends in a mixture, as everywhere with arrays.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.len()) }
    }
}

/// `first_frame=`: whether a history begins with zeros, or the array that it begins with.
pub(crate) fn first_frame(value: Option<&Bound<'_, PyAny>>) -> PyResult<(bool, Option<Kept>)> {
    let Some(value) = value else { return Ok((true, None)) };
    if !value.is_instance_of::<PyString>() {
        return Ok((true, Some(Host::new(value, "first_frame= (\"zero\", \"undefined\" or an array)")?.kept())));
    }
    let known = |name: &str| match name {
        "zero" | "zeros" => Some(true),
        "undefined" => Some(false),
        _ => None,
    };
    let Text(name) = value.extract()?;
    let zero = word(value.py(), "first frame", name, known, ["zero", "undefined"].into_iter())?;
    Ok((zero, None))
}
