//! `rgraph.Format`: what is known of a texel format, and the list of all.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rgraph_plan::access::Aspects;
use rgraph_plan::format::{Format, Numbers};
use rgraph_work::texel::Texel;

use crate::arguments::convert::{Text, word};

/// A texel format: the contents of its texels, their types in arrays and shaders, and the uses of its images.
///
/// It equals its name, and is accepted wherever a format name is: `g.image("a", (4, 4), rgraph.Format("rgba8unorm"))`.
///
/// Parameters
/// ----------
/// name
///     WebGPU's name (`"rgba8unorm"`), or Vulkan's (`"R8G8B8A8_UNORM"`, with or without `VK_FORMAT_`); or a `Format`.
///
/// Raises
/// ------
/// GraphError
///     RG-E202 if there is no such format.
///
/// Examples
/// --------
/// >>> import rgraph
/// >>> format = rgraph.Format("R16G16B16A16_SFLOAT")
/// >>> (format.name, format.dtype, format.channels, format.bytes, format.shader)
/// ('rgba16float', 'float16', 4, 8, ('f32',))
#[pyclass(name = "Format", module = "rgraph", frozen)]
pub struct PyFormat(pub Format);

impl PyFormat {
    fn texel(&self) -> Texel {
        Texel::of(self.0)
    }

    fn has(&self, aspect: Aspects) -> bool {
        self.0.aspects().contains(aspect)
    }
}

#[pymethods]
impl PyFormat {
    #[new]
    #[pyo3(signature = (name))]
    fn new(name: FormatName) -> Self {
        Self(name.0)
    }

    /// WebGPU's name.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Vulkan's name, without `VK_FORMAT_`.
    #[getter]
    fn vulkan(&self) -> &'static str {
        self.0.vulkan_name()
    }

    /// Type of its components: `"unorm"`, `"snorm"`, `"float"`, `"uint"`, `"sint"`, `"depth"` (with or without
    /// stencil), `"stencil"`, or `"block"` (compressed).
    #[getter]
    fn numbers(&self) -> &'static str {
        match self.0.numbers() {
            Numbers::Unorm => "unorm",
            Numbers::Snorm => "snorm",
            Numbers::Float => "float",
            Numbers::Uint => "uint",
            Numbers::Sint => "sint",
            Numbers::Depth if self.has(Aspects::DEPTH) => "depth",
            Numbers::Depth => "stencil",
            Numbers::Block => "block",
        }
    }

    /// Components of a texel as a shader reads them: 3 of `rg11b10ufloat`, 1 of depth or stencil.
    #[getter]
    fn components(&self) -> u32 {
        self.0.components()
    }

    /// Bits of each component; 0 if components have different sizes or are compressed. For depth formats, bits of the
    /// depth.
    #[getter]
    fn bits(&self) -> u32 {
        self.0.component_bits()
    }

    /// Element type of its arrays; packed texels are one `uint32`, compressed blocks are bytes.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.texel().element.name()
    }

    /// Length of the last axis of its arrays: numbers per texel; of a compressed format, bytes per block.
    #[getter]
    fn channels(&self) -> usize {
        self.texel().channels
    }

    /// Bytes per texel in arrays and buffers (of depth and stencil together those of the depth); of a compressed
    /// format, bytes per block.
    #[getter]
    fn bytes(&self) -> usize {
        let texel = self.texel();
        texel.channels * texel.element.size()
    }

    /// (width, height) of a compressed block in texels, else (1, 1).
    #[getter]
    fn block(&self) -> (u32, u32) {
        self.0.block().into()
    }

    /// Whether texels are stored in compressed blocks.
    #[getter]
    fn compressed(&self) -> bool {
        self.0.numbers() == Numbers::Block
    }

    /// Whether it holds depth.
    #[getter]
    fn depth(&self) -> bool {
        self.has(Aspects::DEPTH)
    }

    /// Whether it holds stencil.
    #[getter]
    fn stencil(&self) -> bool {
        self.has(Aspects::STENCIL)
    }

    /// Whether stored colours are sRGB encoded; shaders see linear ones.
    #[getter]
    fn srgb(&self) -> bool {
        self.0.is_srgb()
    }

    /// Types that a shader can read: `f32`, `i32`, `u32`, `depth`. For formats with depth and stencil, those of the
    /// depth.
    #[getter]
    fn shader<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let kinds: &[&str] = match self.0.numbers() {
            Numbers::Uint => &["u32"],
            Numbers::Sint => &["i32"],
            Numbers::Depth if self.has(Aspects::DEPTH) => &["f32", "depth"],
            Numbers::Depth => &["u32"],
            Numbers::Float | Numbers::Unorm | Numbers::Snorm | Numbers::Block => &["f32"],
        };
        PyTuple::new(py, kinds)
    }

    /// Whether WGSL has it as a storage texture format; a device may lack support.
    #[getter]
    fn storage(&self) -> bool {
        let plain = !matches!(self.0.numbers(), Numbers::Depth | Numbers::Block);
        plain && !self.0.is_srgb() && self.0 != Format::Rgb9e5ufloat
    }

    /// `"color"` or `"depth"` (stencil too), if passes can draw into it; else None.
    #[getter]
    fn attachment(&self) -> Option<&'static str> {
        match self.0.numbers() {
            Numbers::Block => None,
            Numbers::Depth => Some("depth"),
            _ => Some("color"),
        }
    }

    /// Whether the graph can generate its mips.
    #[getter]
    fn mips(&self) -> bool {
        matches!(self.0.numbers(), Numbers::Float | Numbers::Unorm | Numbers::Snorm)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        match other.cast::<Self>() {
            Ok(other) => other.get().0 == self.0,
            Err(_) => other.extract::<&str>().is_ok_and(|name| name == self.0.name()),
        }
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        // That of the name, which it equals.
        slf.getattr("name")?.hash()
    }

    fn __str__(&self) -> &'static str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        format!("Format(\"{}\")", self.0.name())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (&'static str,))> {
        Ok((slf.get_type().into_any(), (slf.get().0.name(),)))
    }
}

/// All texel formats with their arrays, shader types and abilities; a device may lack some of them.
///
/// Returns
/// -------
/// list of Format
///     Compressed ones last.
///
/// Examples
/// --------
/// >>> import rgraph
/// >>> [one.name for one in rgraph.formats() if one.dtype == "float16" and one.storage]
/// ['r16float', 'rg16float', 'rgba16float']
#[pyfunction]
pub(crate) fn formats(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(py, Format::all().map(|format| Bound::new(py, PyFormat(format))).collect::<PyResult<Vec<_>>>()?)
}

/// A texel format: its name, or an `rgraph.Format`.
#[derive(Clone, Copy)]
pub(crate) struct FormatName(pub Format);

impl<'a, 'py> FromPyObject<'a, 'py> for FormatName {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(format) = value.cast::<PyFormat>() {
            return Ok(Self(format.get().0));
        }
        let Text(name) = Text::of(value, "the name of a format or a Format")?;
        word(value.py(), "format", name, Format::from_name, Format::all().map(Format::name)).map(Self)
    }
}
