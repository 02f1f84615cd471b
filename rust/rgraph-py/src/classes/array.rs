//! `rgraph.Array`: what a frame left in an image or a buffer, as an array without a further copy.

use std::ffi::{CString, c_int, c_void};
use std::sync::Arc;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyMemoryView, PyTuple};
use rgraph_plan::error::Code;
use rgraph_plan::format::Format;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::words::plain;
use rgraph_vk::Readback;

use crate::arguments::convert::Count;
use crate::arguments::dtype::Dtype;
use crate::arguments::dtype::numpy;
use crate::arguments::file_path::FilePath;
use crate::arguments::files;
use crate::arguments::keywords;
use crate::arguments::picture::{self, half};
use crate::classes::array_layout::ArrayLayout;
use crate::run::detached::Detached;
use crate::run::error::{bad, guarded};
use rgraph_work::texel::Element;

/// The contents of an image or a buffer after a frame: read it with `numpy.asarray(array)` or `memoryview(array)`,
/// which copy nothing. It is read-only.
///
/// An image is (height, width, channels), with (layers, …) or (depth, …) in front where it has several; one that was
/// imported from (height, width), a batch of one, or (height, width, 3) has that shape again, and so has an image
/// `like` it. A buffer has the shape and dtype that it was declared with, or imported from; else the type that shaders
/// have for it (`array<vec3<f32>>`: (n, 3) of `float32`; structs are records); else it is bytes. Numbers of images are
/// those of the format: `rgba8unorm` and `rgba8unorm-srgb` are `uint8` as they are stored, `rgba16float` is `float16`,
/// `depth32float` is `float32`, integers are integers. Packed formats (`rgb10a2unorm`, `rg11b10ufloat`, `rgb9e5ufloat`)
/// are one `uint32` per texel; formats with depth and stencil give the depth (`depth24plus`: 24 bits in `uint32`);
/// compressed formats give one texel per block, with the block's bytes as channels.
///
/// The memory lives as long as the array or a view of it, after the device was closed too.
///
/// Arithmetic and comparisons are those of numpy and return numpy arrays; pickling or copying it gives a numpy array,
/// too.
#[pyclass(name = "Array", module = "rgraph", frozen, weakref)]
pub struct PyArray {
    memory: Memory,
    layout: ArrayLayout,
    /// `None`: a buffer, or an image seen as something else.
    format: Option<Format>,
}

/// Where its bytes are.
#[derive(Clone)]
enum Memory {
    /// Read back by a frame.
    Read(Detached<Readback>),
    /// Out of a file.
    Stored { name: String, bytes: Arc<[u8]> },
}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Read(readback) => readback.bytes(),
            Self::Stored { bytes, .. } => bytes,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Read(readback) => readback.name(),
            Self::Stored { name, .. } => name,
        }
    }
}

/// What a view keeps.
struct View {
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
    letters: CString,
}

fn format_of(kind: &PlanKind) -> Option<Format> {
    match *kind {
        PlanKind::Image { format, .. } => Some(format),
        PlanKind::Buffer { .. } => None,
    }
}

impl PyArray {
    /// The array of a read-back.
    pub fn new(bytes: Detached<Readback>, layout: ArrayLayout) -> Self {
        assert_eq!(layout.bytes(), bytes.bytes().len(), "as many bytes as the resource has");
        let format = format_of(&bytes.kind());
        Self { memory: Memory::Read(bytes), layout, format }
    }

    /// The array of bytes out of a file, whose resource had that kind; `None` if they are not as many as it has.
    pub fn stored(name: &str, kind: &PlanKind, bytes: Arc<[u8]>) -> Option<Self> {
        let layout = ArrayLayout::natural(kind);
        let memory = Memory::Stored { name: name.to_owned(), bytes };
        (layout.bytes() == memory.bytes().len()).then(|| Self { memory, layout, format: format_of(kind) })
    }

    /// The resource's bytes as they lie in memory.
    pub fn bytes(&self) -> &[u8] {
        self.memory.bytes()
    }

    fn png(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let Some(format) = self.format else {
            return Err(bad(py, Code::BadArray, "a buffer is no picture", "save it as .npy"));
        };
        let Some([height, width, channels]) = self.layout.plane() else {
            let message = format!("an array of shape {} is several pictures", self.layout.shown());
            return Err(bad(
                py,
                Code::BadArray,
                message,
                "save one layer: make a picture of array[layer]; or save .npy",
            ));
        };
        let bytes = self.layout.tight(self.bytes());
        let (size, element) = ([width, height], self.layout.element());
        let encoded = guarded(py, || picture::png(format, element, channels, size, &bytes))?;
        encoded.map_err(|(message, help)| bad(py, Code::BadArray, message, help))
    }

    /// The array as a numpy array on the same memory.
    pub fn asarray<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let what = format!("this use of array \"{}\"", slf.get().memory.name());
        let without = "memoryview(array), array.tolist(), array.tobytes() and array.save(path) do not need it";
        numpy(slf.py(), &what, without)?.call_method1("asarray", (slf,))
    }
}

#[pymethods]
impl PyArray {
    /// Its shape, the slowest axis first.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.layout.shape)
    }

    /// Element type, for `numpy.dtype`: a name such as `"uint8"`, or a dict of fields for records.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.layout.dtype.python(py)
    }

    /// The image's texel format, or None.
    #[getter]
    fn format(&self) -> Option<&'static str> {
        self.format.map(Format::name)
    }

    /// Name of the resource.
    #[getter]
    pub(crate) fn name(&self) -> &str {
        self.memory.name()
    }

    /// Number of bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.layout.len()
    }

    /// The same bytes as elements of another type; the length of the last axis changes with the element size.
    ///
    /// Parameters
    /// ----------
    /// dtype
    ///     `"float32"`, `numpy.float32`, `numpy.dtype("f4")`, …
    ///
    /// Returns
    /// -------
    /// Array
    ///     An array on the same memory.
    fn view(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        let dtype = Dtype::read(dtype)?;
        let name = dtype.name();
        let same = dtype == self.layout.dtype;
        let Some(layout) = self.layout.view(dtype) else {
            let message =
                format!("an array of shape {} is no whole number of {name} along its last axis", self.layout.shown());
            return Err(bad(
                py,
                Code::BadArray,
                message,
                "choose a kind with as many bytes, or view numpy.array(…) of it",
            ));
        };
        let format = self.format.filter(|_| same);
        Ok(Self { memory: self.memory.clone(), layout, format })
    }

    /// A copy of its bytes, in C order.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.layout.tight(self.bytes()))
    }

    /// Its numbers as nested lists.
    pub(crate) fn tolist<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, layout) = (slf.py(), &slf.get().layout);
        match layout.dtype.number() {
            // Memoryviews do not read half floats.
            Some(Element::Float(2)) => {
                let halves = layout.tight(slf.get().bytes());
                let wide =
                    halves.chunks_exact(2).flat_map(|two| half(u16::from_ne_bytes([two[0], two[1]])).to_ne_bytes());
                let bytes = PyBytes::new(py, &wide.collect::<Vec<u8>>());
                let shape = PyTuple::new(py, &layout.shape)?;
                PyMemoryView::from(bytes.as_any())?.call_method1("cast", ("f", shape))?.call_method0("tolist")
            }
            Some(_) => PyMemoryView::from(slf.as_any())?.call_method0("tolist"),
            None => Self::asarray(slf)?.call_method0("tolist"),
        }
    }

    /// Part of it as a numpy array, without a copy: `array[0]`, `array[:, ::2]`, `array["position"]`.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::asarray(slf)?.get_item(key)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        Self::asarray(slf)?.try_iter()
    }

    /// The array as a numpy array; numpy is imported only here.
    ///
    /// Parameters
    /// ----------
    /// copy
    ///     If true, return a copy, which is writable and does not keep the read-back memory.
    /// channels
    ///     How many channels of an image; 3 leaves out alpha. Default: all.
    #[pyo3(signature = (*, copy = false, channels = None, **unknown), text_signature = "($self, *, copy=False, channels=None)")]
    fn numpy<'py>(
        slf: &Bound<'py, Self>,
        copy: bool,
        channels: Option<Count>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_of::<Self>("numpy", unknown)?;
        let py = slf.py();
        let mut array = Self::asarray(slf)?;
        if let Some(Count(channels)) = channels {
            let shape = &slf.get().layout.shape;
            let has = shape.last().copied().filter(|_| slf.get().format.is_some() && shape.len() > 2).unwrap_or(0);
            if channels == 0 || channels as usize > has {
                let message = format!("an array of shape {} has no {channels} channels", slf.get().layout.shown());
                return Err(bad(py, Code::BadArray, message, &format!("it has {has}")));
            }
            let few = pyo3::types::PySlice::new(py, 0, channels as isize, 1);
            array = array.get_item((py.Ellipsis(), few))?;
        }
        if copy { array.call_method0("copy") } else { Ok(array) }
    }

    /// Write it to a file; the suffix selects the format.
    ///
    /// `.npy` holds every array. `.png` holds images: 8-bit ones are written as they are, 16-bit integers with 16 bits.
    /// Floats are clamped to 0 to 1, taken for linear light, and written as 8-bit sRGB (alpha stays linear); depth is
    /// written as it is, as 16-bit grey. Two channels become red and green. `.exr` (package OpenEXR) holds floats and
    /// 32-bit integers, and 8-bit images as linear light. `.jpg`, `.tif`, `.bmp` and `.webp` (package pillow) hold what
    /// an 8-bit PNG holds; `.jpg` and `.bmp` without alpha.
    ///
    /// Parameters
    /// ----------
    /// path
    ///     Where to write.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If the suffix is unknown, the format cannot hold the array, or the package is not installed.
    /// OSError
    ///     If the file cannot be written.
    fn save(slf: &Bound<'_, Self>, path: FilePath) -> PyResult<()> {
        let py = slf.py();
        let suffix = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or("").to_ascii_lowercase();
        if suffix == "png" {
            return files::write(py, &path, slf.get().png(py)?);
        }
        py.import("rgraph._save")?.call_method1("save", (slf, path.to_string_lossy()))?;
        Ok(())
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
        let array = Self::asarray(slf)?;
        array.call_method("__dlpack__", (), options)
    }

    /// DLPack's device: the host's memory.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }

    fn __len__(&self) -> usize {
        self.layout.shape.first().copied().unwrap_or(0)
    }

    fn __repr__(&self) -> String {
        let format = self.format.map(|format| format!(", {format}")).unwrap_or_default();
        format!("<Array \"{}\" {}{format}>", plain(self.memory.name()), self.layout.shown())
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
        let (layout, bytes) = (&slf.get().layout, slf.get().bytes());
        let size = |number: usize| number as ffi::Py_ssize_t;
        let strides = layout.strides().into_iter().map(size).collect();
        let shape = layout.shape.iter().copied().map(size).collect();
        let asked = |flag: c_int| flags & flag == flag;
        let rows = [ffi::PyBUF_C_CONTIGUOUS, ffi::PyBUF_F_CONTIGUOUS, ffi::PyBUF_ANY_CONTIGUOUS];
        if !layout.is_packed() && (!asked(ffi::PyBUF_STRIDES) || rows.into_iter().any(asked)) {
            // SAFETY: not null; a refused view has no object.
            unsafe { (*view).obj = std::ptr::null_mut() };
            return Err(PyBufferError::new_err("the array is not contiguous; use numpy.asarray of it"));
        }
        let mut kept = Box::new(View { shape, strides, letters: layout.dtype.letters() });
        let filled = ffi::Py_buffer {
            buf: bytes.as_ptr().cast_mut().cast::<c_void>(),
            obj: slf.clone().into_ptr(),
            len: size(layout.len()),
            itemsize: size(layout.dtype.size()),
            readonly: 1,
            ndim: layout.shape.len() as c_int,
            format: if asked(ffi::PyBUF_FORMAT) { kept.letters.as_ptr().cast_mut() } else { std::ptr::null_mut() },
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
