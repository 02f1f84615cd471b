//! Small pictures of arrays of any kind, for pages and notebooks: what there is to see, not what the numbers are.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rgraph_plan::format::Numbers;

use crate::arguments::convert::Count;
use crate::arguments::host_arrays::Host;
use crate::arguments::picture::srgb;
use crate::classes::format::FormatName;
use crate::classes::texels::{Shrunk, Texels, png};
use rgraph_work::texel::Element;

/// Numbers as bytes to look at: normalized ones as they are, floats as linear light with what is brightest near white,
/// signed ones with zero in the middle, depths and integers stretched. What is not finite is magenta.
fn encode(texels: &Texels<'_>, numbers: &[[f32; 4]]) -> Vec<u8> {
    let finite = || numbers.iter().flat_map(|texel| &texel[..3]).copied().filter(|value| value.is_finite());
    let (low, high) = finite().fold((f32::MAX, f32::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let full = texels.full();
    let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
    let stretch = |low: f32, high: f32| {
        let range = if high > low { high - low } else { 1.0 };
        move |value: f32| (value - low) / range
    };
    let show: Box<dyn Fn(f32) -> u8> = match texels.numbers() {
        Numbers::Unorm | Numbers::Block => Box::new(move |value| byte(value / full)),
        Numbers::Snorm => Box::new(move |value| byte(value / full * 0.5 + 0.5)),
        Numbers::Float if low < 0.0 => {
            let most = low.abs().max(high);
            Box::new(move |value| byte(value / most * 0.5 + 0.5))
        }
        Numbers::Float => {
            let white = bright(finite().collect()).max(1.0);
            Box::new(move |value| srgb(value / white))
        }
        Numbers::Depth => {
            // The far plane is white whatever else there is, and does not flatten the rest.
            let far = if texels.element == Element::Uint(2) { 65535.0 } else { 1.0 };
            let near = finite().filter(|depth| *depth < far).fold(f32::MIN, f32::max);
            let stretched = stretch(low, if near > low { near } else { high });
            Box::new(move |value| byte(if value >= far { 1.0 } else { stretched(value) * 0.92 }))
        }
        Numbers::Uint | Numbers::Sint => {
            let stretched = stretch(low.min(0.0), high);
            Box::new(move |value| byte(stretched(value)))
        }
    };
    let color = |&[red, green, blue, _]: &[f32; 4]| match [red, green, blue].iter().all(|value| value.is_finite()) {
        true => [red, green, blue].map(&show),
        false => [255, 0, 255],
    };
    numbers.iter().flat_map(color).collect()
}

/// The value that one texel in two hundred is above.
fn bright(mut values: Vec<f32>) -> f32 {
    if values.is_empty() {
        return 1.0;
    }
    let at = values.len() - 1 - values.len() / 200;
    *values.select_nth_unstable_by(at, f32::total_cmp).1
}

/// A small PNG picture of an array of any kind, of at most `size` texels a side.
///
/// Parameters
/// ----------
/// array
///     Any object with a buffer: (height, width), (height, width, channels) or (layers, height, width, channels).
/// format
///     The texel format of its numbers; without one, integers of 8 and 16 bits are normalised.
/// size
///     Longest side of the picture in texels.
#[pyfunction]
#[pyo3(signature = (array, format = None, size = Count(256)), text_signature = "(array, format=None, size=256)")]
pub(crate) fn preview<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    format: Option<FormatName>,
    size: Count,
) -> PyResult<Bound<'py, PyBytes>> {
    let host = Host::new(array, "a picture")?;
    let texels = Texels::of(py, &host, format)?;
    let Shrunk { width, height, layers, numbers } = texels.shrunk((size.0 as usize).max(1));
    let bytes = encode(&texels, &numbers);
    let file = png(py, [width * layers.len(), height], &bytes, png::Compression::High)?;
    Ok(PyBytes::new(py, &file))
}
