//! `rgraph.Array`: what a frame left in an image or a buffer, as an array without a further copy.

use std::ffi::{CStr, c_int, c_void};
use std::path::PathBuf;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use rgraph_plan::error::Code;
use rgraph_plan::format::Format;
use rgraph_plan::plan::PlanKind;
use rgraph_vk::Readback;

use crate::convert::{Text, word};
use crate::detached::Detached;
use crate::error::{bad, guarded};
use crate::files;
use crate::host::shown;
use crate::picture;
use rgraph_vk::texel::{Element, Texel};

/// Shape of a resource's array, the slowest axis first, and the kind of its numbers.
pub fn layout(kind: &PlanKind) -> (Vec<usize>, Element) {
    match *kind {
        PlanKind::Buffer { size } => (vec![size as usize], Element::Uint(1)),
        PlanKind::Image { format, size: [width, height, depth], layers, volume, .. } => {
            let Texel { element, channels } = Texel::of(format);
            let [across, down] = format.block();
            let (width, height) = (width.div_ceil(across) as usize, height.div_ceil(down) as usize);
            let mut shape = vec![height, width, channels];
            if volume {
                shape.insert(0, depth as usize);
            } else if layers > 1 {
                shape.insert(0, layers as usize);
            }
            (shape, element)
        }
    }
}

/// What a frame left in an image or a buffer: read it with `numpy.asarray(array)` or `memoryview(array)`, without a
/// copy beyond the read-back. It cannot be written.
///
/// An image is (height, width, channels), with (layers, …) or (depth, …) in front where it has several; a buffer is
/// bytes. Numbers are those of the format: `rgba8unorm` and `rgba8unorm-srgb` are `uint8` as they are stored,
/// `rgba16float` is `float16`, `depth32float` is `float32`, integers are integers. Packed formats (`rgb10a2unorm`,
/// `rg11b10ufloat`, `rgb9e5ufloat`) are one `uint32` a texel; of depth and stencil it is the depth (`depth24plus`: 24
/// bits in `uint32`); compressed formats are one texel for each block, with the block's bytes as channels.
///
/// The memory lives as long as the array or a view of it, after the device was closed too.
#[pyclass(name = "Array", module = "rgraph", frozen, weakref)]
pub struct PyArray {
    bytes: Detached<Readback>,
    shape: Vec<usize>,
    element: Element,
    /// `None`: a buffer, or an image seen as something else.
    format: Option<Format>,
}

/// What a view keeps.
struct View {
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

impl PyArray {
    /// The array of a read-back.
    pub fn new(bytes: Detached<Readback>) -> Self {
        let kind = bytes.kind();
        let (shape, element) = layout(&kind);
        let format = match kind {
            PlanKind::Image { format, .. } => Some(format),
            PlanKind::Buffer { .. } => None,
        };
        let len = bytes.bytes().len();
        assert_eq!(shape.iter().product::<usize>() * element.size(), len, "as many bytes as the format says");
        Self { bytes, shape, element, format }
    }

    /// Its bytes as they lie in memory.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }

    fn len_bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.element.size()
    }

    fn png(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let Some(format) = self.format else {
            return Err(bad(py, Code::BadArray, "a buffer is no picture", "save() is for images"));
        };
        let &[height, width, channels] = self.shape.as_slice() else {
            let message = format!("an array of shape {} is several pictures", shown(&self.shape, self.element));
            return Err(bad(py, Code::BadArray, message, "save one layer: make a picture of numpy.asarray(…)[layer]"));
        };
        let bytes = self.bytes();
        let size = [width, height];
        let encoded = guarded(py, || picture::png(format, self.element, channels, size, bytes))?;
        encoded.map_err(|(message, help)| bad(py, Code::BadArray, message, help))
    }
}

/// The kind of number that an argument names: `"float32"`, `numpy.float32`, or a dtype.
fn element(value: &Bound<'_, PyAny>) -> PyResult<Element> {
    let py = value.py();
    let name = if value.is_instance_of::<PyType>() {
        value.getattr("__name__")?
    } else if value.hasattr("name")? {
        value.getattr("name")?
    } else {
        value.clone()
    };
    let Ok(Text(name)) = name.extract() else {
        return Err(PyTypeError::new_err("a dtype is its name, as \"float32\", or numpy's"));
    };
    // "f4" and "<f4" say the kind and the bytes.
    let bare = name.trim_start_matches(['<', '=', '|']);
    let short = match (bare.chars().next(), bare.get(1..).and_then(|size| size.parse().ok())) {
        (Some('u'), Some(size)) => Some(Element::Uint(size)),
        (Some('i'), Some(size)) => Some(Element::Int(size)),
        (Some('f'), Some(size)) => Some(Element::Float(size)),
        _ => None,
    };
    match short.filter(|short| !short.name().is_empty()) {
        Some(short) => Ok(short),
        None => word(py, "dtype", name, Element::from_name, Element::names()),
    }
}

#[pymethods]
impl PyArray {
    /// Its shape, as numpy has it.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// Name of the kind of its numbers, as numpy has it: `"uint8"`.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.element.name()
    }

    /// The image's texel format, or None.
    #[getter]
    fn format(&self) -> Option<&'static str> {
        self.format.map(Format::name)
    }

    /// Name of the resource.
    #[getter]
    fn name(&self) -> &str {
        self.bytes.name()
    }

    /// Number of bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.len_bytes()
    }

    /// The same bytes as numbers of another kind; the last axis becomes longer or shorter.
    ///
    /// Parameters
    /// ----------
    /// dtype
    ///     `"float32"`, `numpy.float32`, `numpy.dtype("f4")`, …
    ///
    /// Returns
    /// -------
    /// Array
    ///     On the same memory.
    fn view(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        let element = element(dtype)?;
        let mut shape = self.shape.clone();
        let last = shape.last_mut().map_or(0, |last| std::mem::take(last) * self.element.size());
        if !last.is_multiple_of(element.size()) {
            let message = format!("{last} bytes along the last axis are no whole number of {}", element.name());
            return Err(bad(py, Code::BadArray, message, "choose a kind with as many bytes or fewer"));
        }
        if let Some(axis) = shape.last_mut() {
            *axis = last / element.size();
        }
        let format = self.format.filter(|_| element == self.element);
        Ok(Self { bytes: self.bytes.clone(), shape, element, format })
    }

    /// Its bytes, copied.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.bytes())
    }

    /// Its numbers as nested lists.
    fn tolist<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().element == Element::Float(2) {
            return slf.py().import("numpy")?.call_method1("asarray", (slf,))?.call_method0("tolist");
        }
        pyo3::types::PyMemoryView::from(slf.as_any())?.call_method0("tolist")
    }

    /// The array as numpy's; numpy is imported only here.
    ///
    /// Parameters
    /// ----------
    /// copy
    ///     Whether to copy: a copy may be written, and keeps no memory of the device.
    #[pyo3(signature = (*, copy = false))]
    fn numpy<'py>(slf: &Bound<'py, Self>, copy: bool) -> PyResult<Bound<'py, PyAny>> {
        let array = slf.py().import("numpy")?.call_method1("asarray", (slf,))?;
        if copy { array.call_method0("copy") } else { Ok(array) }
    }

    /// Write the image as a PNG file.
    ///
    /// 8-bit images are written as they are, 16-bit integers with 16 bits. Floats are clamped to 0 to 1, taken for
    /// linear light, and written as 8-bit sRGB (alpha stays linear); depth is written as it is, as 16-bit grey. Two
    /// channels become red and green. Other formats are refused.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     Where to write; ends in `.png`.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If it is no picture that PNG can hold.
    /// OSError
    ///     If the file cannot be written.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let suffix = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or("").to_ascii_lowercase();
        let known = ["png"];
        word(py, "suffix of pictures", &suffix, |name| (name == "png").then_some(()), known.into_iter())?;
        files::write(py, &path, self.png(py)?)
    }

    /// The picture for notebooks; None for what is no picture.
    fn _repr_png_<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.png(py).ok().map(|bytes| PyBytes::new(py, &bytes))
    }

    /// A DLPack capsule of the memory, made by numpy.
    ///
    /// Parameters
    /// ----------
    /// **options
    ///     `stream`, `max_version`, `dl_device` and `copy`, as DLPack says.
    #[pyo3(signature = (**options), text_signature = "($self, **options)")]
    fn __dlpack__<'py>(slf: &Bound<'py, Self>, options: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let array = slf.py().import("numpy")?.call_method1("asarray", (slf,))?;
        array.call_method("__dlpack__", (), options)
    }

    /// DLPack's device: the host's memory.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }

    fn __len__(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    fn __repr__(&self) -> String {
        let format = self.format.map(|format| format!(", {format}")).unwrap_or_default();
        format!("<Array \"{}\" {}{format}>", self.bytes.name(), shown(&self.shape, self.element))
    }

    /// # Safety
    /// Python hands over a view to be filled.
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view to be filled"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            // SAFETY: not null; a refused view has no object.
            unsafe { (*view).obj = std::ptr::null_mut() };
            return Err(PyBufferError::new_err("results of a frame cannot be written; copy them"));
        }
        let this = slf.get();
        let bytes = this.bytes();
        let size = |number: usize| number as ffi::Py_ssize_t;
        let mut step = this.element.size();
        let mut strides = Vec::with_capacity(this.shape.len());
        for axis in this.shape.iter().rev() {
            strides.push(size(step));
            step *= axis;
        }
        strides.reverse();
        let shape = this.shape.iter().map(|axis| size(*axis)).collect();
        let mut kept = Box::new(View { shape, strides });
        let asked = |flag: c_int| flags & flag == flag;
        let letter: &'static CStr = this.element.letter();
        let filled = ffi::Py_buffer {
            buf: bytes.as_ptr().cast_mut().cast::<c_void>(),
            obj: slf.clone().into_ptr(),
            len: size(bytes.len()),
            itemsize: size(this.element.size()),
            readonly: 1,
            ndim: this.shape.len() as c_int,
            format: if asked(ffi::PyBUF_FORMAT) { letter.as_ptr().cast_mut() } else { std::ptr::null_mut() },
            shape: if asked(ffi::PyBUF_ND) { kept.shape.as_mut_ptr() } else { std::ptr::null_mut() },
            strides: if asked(ffi::PyBUF_STRIDES) { kept.strides.as_mut_ptr() } else { std::ptr::null_mut() },
            suboffsets: std::ptr::null_mut(),
            internal: Box::into_raw(kept).cast::<c_void>(),
        };
        // SAFETY: Python hands over memory for one view. The view holds the array, which holds the bytes, and the
        // shape and strides are held by `internal` until the view is released.
        unsafe { view.write(filled) };
        Ok(())
    }

    /// # Safety
    /// Python hands back a view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` is the box of `__getbuffer__`, and is released once.
        drop(unsafe { Box::from_raw((*view).internal.cast::<View>()) });
    }
}
