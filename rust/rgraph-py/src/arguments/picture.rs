//! Images as PNG files, and arrays in PNG and NPY files.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rgraph_plan::format::{Format, Numbers};
use rgraph_work::file::{Samples, npy, png_samples};
use rgraph_work::texel::Element;

use crate::run::error::guarded;

/// Why an image cannot be a picture, and the hint.
pub(crate) type Refused = (String, &'static str);

/// Width, height, channels, bytes per sample and samples of a PNG file; `ValueError` if it is damaged.
#[pyfunction]
pub(crate) fn _png_samples<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyBytes>,
) -> PyResult<(u32, u32, usize, usize, Bound<'py, PyBytes>)> {
    let file = data.as_bytes();
    let Samples { size: [width, height], channels, bytes_per_sample, bytes } =
        guarded(py, || png_samples(file))?.map_err(PyValueError::new_err)?;
    Ok((width, height, channels, bytes_per_sample, PyBytes::new(py, &bytes)))
}

/// Shape, letter of the buffer protocol, and position of the numbers of an NPY file; `ValueError` if it is none.
#[pyfunction]
pub(crate) fn _npy_header(data: &Bound<'_, PyBytes>) -> PyResult<(Vec<usize>, &'static str, usize)> {
    let head = npy::header(data.as_bytes()).map_err(PyValueError::new_err)?;
    let letter = if head.is_bool { "?" } else { head.element.letter().to_str().unwrap_or("B") };
    Ok((head.shape, letter, head.start))
}

/// A number of IEEE 754's half precision.
pub(crate) fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 31, u32::from(bits & 1023));
    let size = match exponent {
        0 => fraction as f32 * 2f32.powi(-24),
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1.0 + fraction as f32 / 1024.0) * 2f32.powi(i32::from(exponent) - 15),
    };
    if sign == 1 { -size } else { size }
}

/// IEC 61966-2-1: linear light from 0 to 1 to an sRGB byte.
pub(crate) fn srgb(linear: f32) -> u8 {
    let linear = if linear.is_nan() { 0.0 } else { linear.clamp(0.0, 1.0) };
    let encoded = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (encoded * 255.0).round() as u8
}

fn unit(value: f32, most: f32) -> f32 {
    if value.is_nan() { 0.0 } else { (value.clamp(0.0, 1.0) * most).round() }
}

/// Encodes an image of `size` (width, height) texels, tightly packed.
///
/// # Errors
/// If PNG has nothing like its format, or it is too large.
pub(crate) fn png(
    format: Format,
    element: Element,
    channels: usize,
    [width, height]: [usize; 2],
    bytes: &[u8],
) -> Result<Vec<u8>, Refused> {
    let refused = || {
        let help = "convert numpy.asarray(…) of it to uint8, uint16 or floats and write that";
        Err((format!("PNG has nothing like {format}"), help))
    };
    let numbers = format.numbers();
    let texels = match (numbers, element) {
        (Numbers::Unorm | Numbers::Uint, Element::Uint(1)) if channels <= 4 => {
            let mut bytes = bytes.to_vec();
            if format.name().starts_with("bgra") {
                bytes.chunks_exact_mut(4).for_each(|texel| texel.swap(0, 2));
            }
            bytes
        }
        (Numbers::Unorm | Numbers::Uint, Element::Uint(2)) | (Numbers::Depth, Element::Uint(2)) => {
            let swap = |pair: &[u8]| u16::from_ne_bytes([pair[0], pair[1]]).to_be_bytes();
            bytes.chunks_exact(2).flat_map(swap).collect()
        }
        (Numbers::Depth, Element::Float(4)) => {
            let depth = |word: &[u8]| f32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
            let grey = |word: &[u8]| (unit(depth(word), 65535.0) as u16).to_be_bytes();
            bytes.chunks_exact(4).flat_map(grey).collect()
        }
        (Numbers::Float, Element::Float(2 | 4)) => {
            let step = element.size();
            let number = |word: &[u8]| match *word {
                [a, b] => half(u16::from_ne_bytes([a, b])),
                [a, b, c, d] => f32::from_ne_bytes([a, b, c, d]),
                _ => 0.0,
            };
            let alpha = |at: usize| channels == 4 && at % 4 == 3;
            let encode = |(at, word): (usize, &[u8])| match alpha(at) {
                true => unit(number(word), 255.0) as u8,
                false => srgb(number(word)),
            };
            bytes.chunks_exact(step).enumerate().map(encode).collect()
        }
        _ => return refused(),
    };
    let wide = matches!((numbers, element), (_, Element::Uint(2)) | (Numbers::Depth, Element::Float(4)));
    let (color, texels) = match channels {
        1 => (png::ColorType::Grayscale, texels),
        // Red and green, without blue.
        2 => {
            let pair = if wide { 4 } else { 2 };
            let padded =
                texels.chunks_exact(pair).flat_map(|t| t.iter().copied().chain(std::iter::repeat_n(0, pair / 2)));
            (png::ColorType::Rgb, padded.collect())
        }
        3 => (png::ColorType::Rgb, texels),
        4 => (png::ColorType::Rgba, texels),
        _ => return refused(),
    };
    let axis = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, axis(width), axis(height));
    encoder.set_color(color);
    encoder.set_depth(if wide { png::BitDepth::Sixteen } else { png::BitDepth::Eight });
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&texels)?;
        writer.finish()
    });
    match written {
        Ok(()) => Ok(file),
        Err(error) => Err((format!("the picture cannot be encoded: {error}"), "PNG goes up to 2^31 - 1 texels")),
    }
}
