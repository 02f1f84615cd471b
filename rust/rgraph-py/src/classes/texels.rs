//! Texels of arrays as numbers: what small pictures are made of, and the values that the viewer shows.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rgraph_plan::error::Code;
use rgraph_plan::format::{Format, Numbers};

use crate::arguments::convert::Count;
use crate::arguments::host_arrays::Host;
use crate::arguments::picture::half;
use crate::classes::format::FormatName;
use crate::run::error::bad;
use rgraph_work::texel::Element;

/// Texels that one texel of a smaller picture is the mean of, along each axis, at most.
const TAPS: usize = 8;

/// Most layers shown side by side.
const LAYERS: usize = 6;

/// Texels in memory: what they are, and where.
pub(crate) struct Texels<'a> {
    bytes: &'a [u8],
    pub element: Element,
    pub format: Option<Format>,
    pub layers: usize,
    pub height: usize,
    pub width: usize,
    channels: usize,
}

/// A smaller picture of texels: layers side by side.
pub(crate) struct Shrunk {
    /// Width of one layer, in texels.
    pub width: usize,
    pub height: usize,
    pub layers: Vec<usize>,
    /// Red, green, blue and alpha of each texel, row by row through all layers.
    pub numbers: Vec<[f32; 4]>,
}

impl<'a> Texels<'a> {
    /// Those of an array: (height, width), (height, width, channels), or layers of either.
    pub(crate) fn of(py: Python<'_>, host: &'a Host, format: Option<FormatName>) -> PyResult<Self> {
        let format = format.map(|FormatName(format)| format);
        let (layers, height, width, channels) = match *host.shape() {
            [height, width] => (1, height, width, 1),
            [height, width, channels] if channels <= 4 => (1, height, width, channels),
            [layers, height, width] => (layers, height, width, 1),
            [layers, height, width, channels] if channels <= 4 => (layers, height, width, channels),
            _ => (0, 0, 0, 0),
        };
        let block = format.is_some_and(|format| format.numbers() == Numbers::Block);
        if layers * height * width * channels == 0 || block {
            let message = format!("an array of shape {} is no picture", host.shown());
            return Err(bad(py, Code::BadArray, message, "give (height, width) or (height, width, channels)"));
        }
        Ok(Self { bytes: host.bytes(), element: host.element(), format, layers, height, width, channels })
    }

    /// How many numbers a texel has.
    fn components(&self) -> usize {
        match self.format {
            Some(Format::Depth24plus | Format::Depth24plusStencil8) => 1,
            Some(format) if packed(format).is_some() => 3,
            _ => self.channels,
        }
    }

    /// The numbers of the texel at `at`; one number stands for red, green and blue, and what is missing is 0.
    fn at(&self, at: usize) -> [f32; 4] {
        let step = self.element.size();
        let number = |channel: usize| {
            let start = (at * self.channels + channel) * step;
            number(self.element, &self.bytes[start..start + step])
        };
        if let Some(unpack) = self.format.and_then(packed) {
            let start = at * step;
            let word = &self.bytes[start..start + 4];
            let [red, green, blue] = unpack(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
            return [red, green, blue, 0.0];
        }
        let alpha = if self.channels == 4 { number(3) } else { 0.0 };
        match self.channels {
            1 => [number(0), number(0), number(0), alpha],
            2 => [number(0), number(1), 0.0, alpha],
            _ if self.format.is_some_and(|format| format.name().starts_with("bgra")) => {
                [number(2), number(1), number(0), alpha]
            }
            _ => [number(0), number(1), number(2), alpha],
        }
    }

    /// The mean of the texels that one texel of a smaller picture stands for; not finite if one of them is not.
    fn mean(&self, layer: usize, rows: [usize; 2], columns: [usize; 2]) -> [f32; 4] {
        let steps = |[from, to]: [usize; 2]| (from..to).step_by((to - from).div_ceil(TAPS).max(1));
        let (mut sum, mut count) = ([0.0; 4], 0.0);
        for y in steps(rows) {
            for x in steps(columns) {
                let texel = self.at((layer * self.height + y) * self.width + x);
                for (total, one) in sum.iter_mut().zip(texel) {
                    *total += one;
                }
                count += 1.0;
            }
        }
        sum.map(|total| total / count)
    }

    /// Smaller texels, at most `most` along the longest side of all layers side by side.
    pub(crate) fn shrunk(&self, most: usize) -> Shrunk {
        let shown = self.layers.min(LAYERS);
        let whole = (self.width * shown).max(self.height);
        let axis = |length: usize| if whole <= most { length } else { (length * most / whole).max(1) };
        let (width, height) = (axis(self.width), axis(self.height));
        let layers: Vec<usize> = (0..shown).map(|at| at * self.layers / shown).collect();
        let mut numbers = Vec::with_capacity(shown * width * height);
        for y in 0..height {
            for &layer in &layers {
                for x in 0..width {
                    let range = |at: usize, small: usize, large: usize| {
                        [at * large / small, ((at + 1) * large / small).max(at * large / small + 1)]
                    };
                    numbers.push(self.mean(layer, range(y, height, self.height), range(x, width, self.width)));
                }
            }
        }
        Shrunk { width, height, layers, numbers }
    }

    /// What its numbers mean; without a format, integers of 8 and 16 bits are normalized.
    pub(crate) fn numbers(&self) -> Numbers {
        match (self.format, self.element) {
            (Some(format), _) => format.numbers(),
            (None, Element::Uint(1 | 2)) => Numbers::Unorm,
            (None, Element::Uint(_)) => Numbers::Uint,
            (None, Element::Int(_)) => Numbers::Sint,
            (None, Element::Float(_)) => Numbers::Float,
        }
    }

    /// The number that stands for 1 where numbers are normalized.
    pub(crate) fn full(&self) -> f32 {
        match self.element {
            _ if self.format.and_then(packed).is_some() => 1.0,
            Element::Uint(1) => 255.0,
            Element::Uint(_) => 65535.0,
            Element::Int(1) => 127.0,
            _ => 32767.0,
        }
    }
}

/// One number; normalized and depth formats are scaled later.
fn number(element: Element, bytes: &[u8]) -> f32 {
    match (element, bytes) {
        (Element::Uint(_), [a]) => f32::from(*a),
        (Element::Int(_), [a]) => f32::from(*a as i8),
        (Element::Uint(_), [a, b]) => f32::from(u16::from_ne_bytes([*a, *b])),
        (Element::Int(_), [a, b]) => f32::from(i16::from_ne_bytes([*a, *b])),
        (Element::Float(_), [a, b]) => half(u16::from_ne_bytes([*a, *b])),
        (Element::Uint(_), [a, b, c, d]) => u32::from_ne_bytes([*a, *b, *c, *d]) as f32,
        (Element::Int(_), [a, b, c, d]) => i32::from_ne_bytes([*a, *b, *c, *d]) as f32,
        (Element::Float(_), [a, b, c, d]) => f32::from_ne_bytes([*a, *b, *c, *d]),
        (element, bytes) => {
            let eight: [u8; 8] = bytes.try_into().unwrap_or_default();
            match element {
                Element::Uint(_) => u64::from_ne_bytes(eight) as f32,
                Element::Int(_) => i64::from_ne_bytes(eight) as f32,
                Element::Float(_) => f64::from_ne_bytes(eight) as f32,
            }
        }
    }
}

/// How texels of several numbers in one word are taken apart. Source: Vulkan specification, "Packed formats" and
/// "Unsigned 11-bit, 10-bit and shared-exponent floats"; half floats extended by zero bits have the same exponent.
fn packed(format: Format) -> Option<fn(u32) -> [f32; 3]> {
    fn ten(word: u32) -> [f32; 3] {
        [0, 10, 20].map(|shift| (word >> shift & 1023) as f32)
    }
    match format {
        Format::Rgb10a2unorm => Some(|word| ten(word).map(|value| value / 1023.0)),
        Format::Rgb10a2uint => Some(ten),
        Format::Rg11b10ufloat => Some(|word| {
            let channel = |bits: u32, left: u32| half((bits << left) as u16);
            [channel(word & 2047, 4), channel(word >> 11 & 2047, 4), channel(word >> 22, 5)]
        }),
        Format::Rgb9e5ufloat => Some(|word| {
            let scale = 2f32.powi((word >> 27) as i32 - 15 - 9);
            [0, 9, 18].map(|shift| (word >> shift & 511) as f32 * scale)
        }),
        Format::Depth24plus | Format::Depth24plusStencil8 => Some(|word| [(word & 0xff_ffff) as f32 / 16_777_215.0; 3]),
        _ => None,
    }
}

/// A PNG of red, green and blue bytes.
pub(crate) fn png(
    py: Python<'_>,
    [width, height]: [usize; 2],
    bytes: &[u8],
    effort: png::Compression,
) -> PyResult<Vec<u8>> {
    let axis = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    // Other threads run Python meanwhile: a view of a running program makes pictures all the time.
    let written = py.detach(|| -> Result<_, png::EncodingError> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, axis(width), axis(height));
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(effort);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(bytes)?;
        writer.finish()?;
        Ok(file)
    });
    written.map_err(|error| bad(py, Code::BadArray, format!("the picture cannot be encoded: {error}"), ""))
}

/// The upper three bytes of a single, rounded: 16 bits of precision, or 12 where `coarse`, which are a quarter shorter.
fn upper(value: f32, coarse: bool) -> [u8; 3] {
    let low: u32 = if coarse { 12 } else { 8 };
    let bits = value.to_bits();
    // The carry of a rounded mantissa is the next exponent; what is not finite must stay so.
    let kept = if value.is_finite() { bits.saturating_add(1 << (low - 1)) } else { bits } >> low << low;
    let [high, middle, last, _] = kept.to_be_bytes();
    [high, middle, last]
}

/// What [`_texels`] gives: a PNG, the size of one layer in it, width, height and layers of the array, the layers shown,
/// numbers per texel, their kind, and the number that stands for 1.
type Given<'py> = (Bound<'py, PyBytes>, (usize, usize), (usize, usize, usize), Vec<usize>, usize, &'static str, f32);

/// The numbers of an array for the viewer, exact where it is small, else means, of at most `size` texels a side.
///
/// A PNG of three colors has the layers side by side, and below each other the first, second and third byte of
/// their singles (IEEE 754); alpha, if there is one, has its three bytes as red, green and blue of a fourth part.
///
/// Parameters
/// ----------
/// array
///     Any object with a buffer: (height, width), (height, width, channels) or (layers, height, width, channels).
/// format
///     The texel format of its numbers; without one, integers of 8 and 16 bits are normalised.
/// size
///     Longest side in texels.
#[pyfunction]
#[pyo3(signature = (array, format = None, size = Count(256)), text_signature = "(array, format=None, size=256)")]
pub(crate) fn _texels<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    format: Option<FormatName>,
    size: Count,
) -> PyResult<Given<'py>> {
    let host = Host::new(array, "a picture")?;
    let texels = Texels::of(py, &host, format)?;
    let Shrunk { width, height, layers, numbers } = texels.shrunk((size.0 as usize).max(1));
    let kind = match texels.numbers() {
        Numbers::Unorm | Numbers::Block => "unorm",
        Numbers::Snorm => "snorm",
        Numbers::Float => "float",
        Numbers::Depth => "depth",
        Numbers::Uint | Numbers::Sint => "integer",
    };
    let coarse = !matches!(kind, "depth" | "integer");
    let components = texels.components();
    let mut bytes = Vec::with_capacity(numbers.len() * 3 * 4);
    for byte in 0..3 {
        bytes.extend(numbers.iter().flat_map(|texel| [0, 1, 2].map(|at| upper(texel[at], coarse)[byte])));
    }
    if components == 4 {
        bytes.extend(numbers.iter().flat_map(|texel| upper(texel[3], coarse)));
    }
    let parts = if components == 4 { 4 } else { 3 };
    let file = png(py, [width * layers.len(), height * parts], &bytes, png::Compression::Balanced)?;
    let whole = (texels.width, texels.height, texels.layers);
    Ok((PyBytes::new(py, &file), (width, height), whole, layers, components, kind, texels.full()))
}
