//! `rgraph.View`: part of an image or a buffer, to be bound.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::{PySlice, PyTuple};
use rgraph_plan::error::Code;
use rgraph_plan::graph::Ranges;

pub(crate) use rgraph_work::infer::AccessRange;

use crate::arguments::convert::{Bytes, Count, aspects, during};
use crate::classes::resource::{PyBuffer, PyImage, PyResource};
use crate::run::error::bad;

/// Part of an image or a buffer, from `Image.mip`, `Image.layer` and similar methods. It can be bound in place of the
/// whole resource. Mips and layers are counted in the resource, also where a part of a view is taken; what the view
/// does not have is refused (RG-E209).
#[pyclass(name = "View", module = "rgraph", frozen)]
pub struct PyView {
    /// An image or a buffer.
    pub of: Py<PyResource>,
    pub part: AccessRange,
}

fn range<T: PartialOrd + std::fmt::Display>(py: Python<'_>, what: &str, first: T, end: T) -> PyResult<[T; 2]> {
    if first < end {
        return Ok([first, end]);
    }
    let message = format!("{what} {first} to {end} are none: the end does not count");
    Err(bad(py, Code::BadRange, message, "give the first one and the one behind the last"))
}

/// Refuses what a view does not have: `has` is its range, `None` for all.
fn within(py: Python<'_>, what: &str, has: Option<[u32; 2]>, [first, end]: [u32; 2]) -> PyResult<()> {
    match has {
        Some([from, to]) if first < from || end > to => {
            let message = format!("{what} {first} to {end} are not in the view, which has {what} {from} to {to}");
            Err(bad(
                py,
                Code::BadRange,
                message,
                "count from the first one of the resource, or begin with the resource",
            ))
        }
        _ => Ok(()),
    }
}

impl PyView {
    /// The part of a resource or of a view that an argument means, with the resource.
    pub fn of<'py>(value: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyResource>, AccessRange)> {
        if let Ok(resource) = value.cast::<PyResource>() {
            return Some((resource.clone(), AccessRange::default()));
        }
        let view = value.cast::<Self>().ok()?.get();
        Some((view.of.bind(value.py()).clone(), view.part))
    }

    fn narrowed(value: &Bound<'_, PyAny>, change: impl FnOnce(&mut AccessRange) -> PyResult<()>) -> PyResult<Self> {
        let (of, mut part) = Self::of(value).ok_or_else(|| PyTypeError::new_err("expected an image or a buffer"))?;
        change(&mut part)?;
        Ok(Self { of: of.unbind(), part })
    }

    /// The mips from `first` up to `end`.
    pub fn with_mips(value: &Bound<'_, PyAny>, first: Count, end: Count) -> PyResult<Self> {
        let mips = range(value.py(), "mips", first.0, end.0)?;
        Self::narrowed(value, |part| within(value.py(), "mips", part.ranges.mips.replace(mips), mips))
    }

    /// The layers from `first` up to `end`.
    pub fn with_layers(value: &Bound<'_, PyAny>, first: Count, end: Count) -> PyResult<Self> {
        let layers = range(value.py(), "layers", first.0, end.0)?;
        Self::narrowed(value, |part| within(value.py(), "layers", part.ranges.layers.replace(layers), layers))
    }

    /// Some aspects.
    pub fn with_aspects(value: &Bound<'_, PyAny>, names: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let aspects = aspects(names.as_any())?;
        Self::narrowed(value, |part| {
            let has = std::mem::replace(&mut part.aspects, aspects);
            if has.is_empty() || has.contains(aspects) {
                return Ok(());
            }
            let [has, wanted] = [has, aspects].map(|aspects| aspects.names().collect::<Vec<_>>().join(" and "));
            let message = format!("the view has {has} alone, not {wanted}");
            Err(bad(value.py(), Code::BadRange, message, "begin with the image"))
        })
    }

    /// The bytes of a slice; without an end up to that of the buffer.
    pub fn with_bytes(value: &Bound<'_, PyBuffer>, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let end = |name| slice.getattr(name).map(|value| (!value.is_none()).then_some(value));
        if end("step")?.is_some() {
            return Err(PyTypeError::new_err("a slice of a buffer has no step"));
        }
        let offset = |end: &Bound<'_, PyAny>, name| match end.extract::<Bytes>() {
            Ok(Bytes(offset)) => Ok(offset),
            Err(error) => Err(during(end.py(), error, name)),
        };
        let first = end("start")?.map_or(Ok(0), |first| offset(&first, "start"))?;
        let last = match end("stop")? {
            Some(last) => offset(&last, "stop")?,
            None => PyBuffer::size(value)?,
        };
        let bytes = range(value.py(), "bytes", first, last)?;
        // Views have no bytes of their own to take a part of.
        Self::narrowed(value.as_any(), |part| {
            part.ranges.bytes = Some(bytes);
            Ok(())
        })
    }
}

#[pymethods]
impl PyView {
    /// The image or buffer that it is part of.
    #[getter]
    fn resource(&self, py: Python<'_>) -> Py<PyResource> {
        self.of.clone_ref(py)
    }

    /// One mip level of it.
    ///
    /// Parameters
    /// ----------
    /// level
    ///     Which, from 0.
    fn mip(slf: &Bound<'_, Self>, level: Count) -> PyResult<Self> {
        Self::with_mips(slf.as_any(), level, Count(level.0 + 1))
    }

    /// Some mip levels of it.
    ///
    /// Parameters
    /// ----------
    /// first, end
    ///     Half-open.
    fn mips(slf: &Bound<'_, Self>, first: Count, end: Count) -> PyResult<Self> {
        Self::with_mips(slf.as_any(), first, end)
    }

    /// One array layer of it.
    ///
    /// Parameters
    /// ----------
    /// layer
    ///     Which, from 0.
    fn layer(slf: &Bound<'_, Self>, layer: Count) -> PyResult<Self> {
        Self::with_layers(slf.as_any(), layer, Count(layer.0 + 1))
    }

    /// Some array layers of it.
    ///
    /// Parameters
    /// ----------
    /// first, end
    ///     Half-open.
    fn layers(slf: &Bound<'_, Self>, first: Count, end: Count) -> PyResult<Self> {
        Self::with_layers(slf.as_any(), first, end)
    }

    /// Some aspects of it.
    ///
    /// Parameters
    /// ----------
    /// *names
    ///     `"color"`, `"depth"`, `"stencil"`.
    #[pyo3(signature = (*names), text_signature = "($self, *names)")]
    fn aspects(slf: &Bound<'_, Self>, names: &Bound<'_, PyTuple>) -> PyResult<Self> {
        Self::with_aspects(slf.as_any(), names)
    }

    /// What it is and which passes use a part of it, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let aspects: Vec<_> = slf.get().part.aspects.names().collect();
        slf.py().import("rgraph._reprs")?.call_method1("view", (slf, aspects))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Ranges { mips, layers, bytes } = self.part.ranges;
        let mut text = format!("<View of {}", PyResource::described(self.of.bind(py))?);
        for (word, pair) in [("mips", mips), ("layers", layers)] {
            match pair {
                Some([first, end]) if end == first + 1 => text += &format!(", {} {first}", word.trim_end_matches('s')),
                Some([first, end]) => text += &format!(", {word} {first} to {end}"),
                None => {}
            }
        }
        if let Some([first, end]) = bytes {
            text += &format!(", bytes {first} to {end}");
        }
        for name in self.part.aspects.names() {
            text += &format!(", {name}");
        }
        Ok(text + ">")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let (one, two) = (self.of.get(), other.get().of.get());
            one.identity == two.identity && one.id == two.id && self.part == other.get().part
        })
    }

    fn __hash__(&self) -> u64 {
        use rgraph_plan::id::Id;
        let Ranges { mips, layers, bytes } = self.part.ranges;
        let all = [
            mips.map(|[a, b]| [a.into(), b.into()]),
            layers.map(|[a, b]| [a.into(), b.into()]),
            bytes,
            Some([self.part.aspects.bits().into(), self.of.get().id.index() as u64]),
        ];
        all.iter().flatten().flatten().fold(self.of.get().identity, |hash, word| {
            (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.of)
    }
}

#[pymethods]
impl PyImage {
    /// One mip level, to be bound in the image's place.
    ///
    /// Parameters
    /// ----------
    /// level
    ///     Which, from 0.
    fn mip(slf: &Bound<'_, Self>, level: Count) -> PyResult<PyView> {
        PyView::with_mips(slf.as_any(), level, Count(level.0 + 1))
    }

    /// Some mip levels, to be bound in the image's place.
    ///
    /// Parameters
    /// ----------
    /// first, end
    ///     Half-open: `mips(0, 3)` are the first three.
    fn mips(slf: &Bound<'_, Self>, first: Count, end: Count) -> PyResult<PyView> {
        PyView::with_mips(slf.as_any(), first, end)
    }

    /// One array layer, to be bound in the image's place.
    ///
    /// Parameters
    /// ----------
    /// layer
    ///     Which, from 0.
    fn layer(slf: &Bound<'_, Self>, layer: Count) -> PyResult<PyView> {
        PyView::with_layers(slf.as_any(), layer, Count(layer.0 + 1))
    }

    /// Some array layers, to be bound in the image's place.
    ///
    /// Parameters
    /// ----------
    /// first, end
    ///     Half-open.
    fn layers(slf: &Bound<'_, Self>, first: Count, end: Count) -> PyResult<PyView> {
        PyView::with_layers(slf.as_any(), first, end)
    }

    /// Some aspects, to be bound in the image's place.
    ///
    /// Parameters
    /// ----------
    /// *names
    ///     `"color"`, `"depth"`, `"stencil"`.
    #[pyo3(signature = (*names), text_signature = "($self, *names)")]
    fn aspects(slf: &Bound<'_, Self>, names: &Bound<'_, PyTuple>) -> PyResult<PyView> {
        PyView::with_aspects(slf.as_any(), names)
    }
}

#[pymethods]
impl PyBuffer {
    /// Some bytes, to be bound in the buffer's place: `buffer[256:512]`, `buffer[256:]`.
    fn __getitem__(slf: &Bound<'_, Self>, slice: &Bound<'_, PySlice>) -> PyResult<PyView> {
        PyView::with_bytes(slf, slice)
    }
}
