//! `rgraph.Sampler`: how an image is sampled.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::error::Code;
use rgraph_vk::work::{Address, Border, Compare, Sampler};

use crate::arguments::convert::{Number, Text, items, word};
use crate::arguments::keywords;
use crate::arguments::words::{ADDRESSES, BORDERS, COMPARES, FILTERS, name_of, named};
use crate::run::error::bad;

/// How an image is sampled: bind it by the name of the shader's sampler.
///
/// A sampler that a pass does not bind is linear and clamps to the edge; a comparison sampler compares less or equal.
///
/// Parameters
/// ----------
/// filter
///     Between texels and mips: `"linear"` or `"nearest"`.
/// mag, min, mip
///     Filter for magnification, for minification and between mips; default: `filter`.
/// address
///     Address mode outside the image: `"clamp"`, `"repeat"`, `"mirror"` or `"border"`, one for all axes or one for
///     each.
/// anisotropy
///     Maximum anisotropy; 1: none.
/// compare
///     The comparison of a shadow sampler: `"less"`, `"less_equal"`, …
/// lod
///     (minimum, maximum) level of detail.
/// border
///     Colour outside the image for address mode `"border"`: `"transparent"`, `"black"` or `"white"`.
#[pyclass(name = "Sampler", module = "rgraph", frozen)]
pub struct PySampler(pub Sampler);

fn linear(py: Python<'_>, name: &str) -> PyResult<bool> {
    let known = |name: &str| match name {
        "linear" => Some(true),
        "nearest" => Some(false),
        _ => None,
    };
    word(py, "filter", name, known, ["linear", "nearest"].into_iter())
}

/// The comparison of that name.
pub(crate) fn compare(py: Python<'_>, name: &str) -> PyResult<Compare> {
    named(py, "comparison", name, COMPARES)
}

#[pymethods]
impl PySampler {
    #[new]
    #[pyo3(signature = (filter = Text("linear"), *, mag = None, min = None, mip = None, address = None,
                        anisotropy = Number(1.0), compare = None, lod = (Number(0.0), Number(1000.0)),
                        border = Text("transparent"), **unknown),
           text_signature = "(filter='linear', *, mag=None, min=None, mip=None, address='clamp', anisotropy=1.0, \
                             compare=None, lod=(0.0, 1000.0), border='transparent')")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn new(
        py: Python<'_>,
        filter: Text<'_>,
        mag: Option<Text<'_>>,
        min: Option<Text<'_>>,
        mip: Option<Text<'_>>,
        address: Option<&Bound<'_, PyAny>>,
        anisotropy: Number,
        compare: Option<Text<'_>>,
        lod: (Number, Number),
        border: Text<'_>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        keywords::refuse(py.get_type::<Self>().as_any(), "Sampler", unknown)?;
        let filter = linear(py, filter.0)?;
        let or = |name: Option<Text<'_>>| name.map_or(Ok(filter), |Text(name)| linear(py, name));
        let axis = |value: &Bound<'_, PyAny>| named(py, "address mode", value.extract::<Text>()?.0, ADDRESSES);
        let address = match address.map(|value| (items(value), value)) {
            None => [Address::Clamp; 3],
            Some((None, value)) => [axis(value)?; 3],
            Some((Some(items), _)) => match items?.as_slice() {
                [u, v] => [axis(u)?, axis(v)?, Address::Clamp],
                [u, v, w] => [axis(u)?, axis(v)?, axis(w)?],
                _ => return Err(PyTypeError::new_err("address is one word, or one for each of two or three axes")),
            },
        };
        let (Number(least), Number(most)) = lod;
        let legal = anisotropy.0 >= 1.0 && anisotropy.0.is_finite() && least.is_finite() && least <= most;
        if !legal {
            let message = format!("a sampler with anisotropy {} and lod from {least} to {most}", anisotropy.0);
            return Err(bad(
                py,
                Code::BadNumber,
                message,
                "anisotropy is at least 1, and the least lod below the most",
            ));
        }
        Ok(Self(Sampler {
            mag_linear: or(mag)?,
            min_linear: or(min)?,
            mip_linear: or(mip)?,
            address,
            anisotropy: anisotropy.0 as f32,
            compare: compare.map(|Text(name)| self::compare(py, name)).transpose()?,
            lod: [least as f32, most as f32],
            border: named(py, "border", border.0, BORDERS)?,
        }))
    }

    fn __repr__(&self) -> String {
        let Sampler { mag_linear, min_linear, mip_linear, address, compare, border, .. } = self.0;
        let filter = |linear| if linear { "linear" } else { "nearest" };
        let mut text = format!("<Sampler {}", filter(mag_linear));
        if mag_linear != min_linear || mag_linear != mip_linear {
            text += &format!(", {}, {} mips", filter(min_linear), filter(mip_linear));
        }
        let [u, v, w] = address.map(|address| name_of(address, ADDRESSES));
        text += &if u == v && v == w { format!(", {u}") } else { format!(", {u} {v} {w}") };
        if address.contains(&Address::Border) && border != Border::Transparent {
            text += &format!(" {}", name_of(border, BORDERS));
        }
        if let Some(compare) = compare {
            text += &format!(", {}", name_of(compare, COMPARES));
        }
        text + ">"
    }

    /// For pickle and copy: the arguments that make it.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let Sampler { mag_linear, min_linear, mip_linear, address, anisotropy, compare, lod, border } = self.0;
        let all = PyDict::new(py);
        for (name, linear) in [("mag", mag_linear), ("min", min_linear), ("mip", mip_linear)] {
            all.set_item(name, name_of(linear, FILTERS))?;
        }
        all.set_item("address", address.map(|address| name_of(address, ADDRESSES)))?;
        all.set_item("anisotropy", anisotropy)?;
        all.set_item("compare", compare.map(|compare| name_of(compare, COMPARES)))?;
        all.set_item("lod", (lod[0], lod[1]))?;
        all.set_item("border", name_of(border, BORDERS))?;
        Ok((PyTuple::empty(py), all))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        let Sampler { mag_linear, min_linear, mip_linear, address, compare, border, .. } = self.0;
        let flags = u64::from(mag_linear) | u64::from(min_linear) << 1 | u64::from(mip_linear) << 2;
        let address = address.iter().fold(0, |all, one| all << 2 | *one as u64);
        let compare = compare.map_or(0, |compare| compare as u64 + 1);
        (flags | address << 3 | compare << 16 | (border as u64) << 24).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
