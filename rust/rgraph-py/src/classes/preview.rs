//! Small pictures of arrays of any kind, for pages and notebooks: what there is to see, not what the numbers are.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rgraph_plan::error::Code;
use rgraph_plan::format::{Format, Numbers};

use crate::arguments::convert::{Count, Text, word};
use crate::arguments::host_arrays::Host;
use crate::arguments::picture::{half, srgb};
use crate::run::error::bad;
use rgraph_vk::texel::Element;

/// Texels that one texel of a preview is the mean of, along each axis, at most.
const TAPS: usize = 8;

/// Layers shown beside each other, at most.
const LAYERS: usize = 6;

/// Texels in memory: what they are, and where.
struct Texels<'a> {
    bytes: &'a [u8],
    element: Element,
    format: Option<Format>,
    layers: usize,
    height: usize,
    width: usize,
    channels: usize,
}

impl Texels<'_> {
    /// The numbers of the texel at `at`, as red, green and blue; one number stands for all three.
    fn at(&self, at: usize) -> [f32; 3] {
        let step = self.element.size();
        let number = |channel: usize| {
            let start = (at * self.channels + channel) * step;
            number(self.element, &self.bytes[start..start + step])
        };
        if let Some(unpack) = self.format.and_then(packed) {
            let start = at * step;
            let word = &self.bytes[start..start + 4];
            return unpack(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        }
        match self.channels {
            1 => [number(0); 3],
            2 => [number(0), number(1), 0.0],
            _ if self.format.is_some_and(|format| format.name().starts_with("bgra")) => {
                [number(2), number(1), number(0)]
            }
            _ => [number(0), number(1), number(2)],
        }
    }

    /// The mean of the texels that one texel of the preview stands for; not finite if one of them is not.
    fn mean(&self, layer: usize, rows: [usize; 2], columns: [usize; 2]) -> [f32; 3] {
        let steps = |[from, to]: [usize; 2]| (from..to).step_by((to - from).div_ceil(TAPS).max(1));
        let (mut sum, mut count) = ([0.0; 3], 0.0);
        for y in steps(rows) {
            for x in steps(columns) {
                let texel = self.at((layer * self.height + y) * self.width + x);
                sum = [sum[0] + texel[0], sum[1] + texel[1], sum[2] + texel[2]];
                count += 1.0;
            }
        }
        sum.map(|total| total / count)
    }

    /// The preview: width, height and texels.
    fn shrunk(&self, most: usize) -> (usize, usize, Vec<[f32; 3]>) {
        let shown = self.layers.min(LAYERS);
        let whole = (self.width * shown).max(self.height);
        let axis = |length: usize| if whole <= most { length } else { (length * most / whole).max(1) };
        let (width, height) = (axis(self.width), axis(self.height));
        let mut out = Vec::with_capacity(shown * width * height);
        for y in 0..height {
            for at in 0..shown {
                let layer = at * self.layers / shown;
                for x in 0..width {
                    let range = |at: usize, small: usize, large: usize| {
                        [at * large / small, ((at + 1) * large / small).max(at * large / small + 1)]
                    };
                    out.push(self.mean(layer, range(y, height, self.height), range(x, width, self.width)));
                }
            }
        }
        (shown * width, height, out)
    }

    fn numbers(&self) -> Numbers {
        match (self.format, self.element) {
            (Some(format), _) => format.numbers(),
            (None, Element::Uint(1 | 2)) => Numbers::Unorm,
            (None, Element::Uint(_)) => Numbers::Uint,
            (None, Element::Int(_)) => Numbers::Sint,
            (None, Element::Float(_)) => Numbers::Float,
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

/// Numbers as bytes to look at: normalized ones as they are, floats as linear light with what is brightest near white,
/// signed ones with zero in the middle, depths and integers stretched. What is not finite is magenta.
fn encode(texels: &Texels<'_>, numbers: &[[f32; 3]]) -> Vec<u8> {
    let finite = || numbers.iter().flatten().copied().filter(|value| value.is_finite());
    let (low, high) = finite().fold((f32::MAX, f32::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let full = match texels.element {
        _ if texels.format.and_then(packed).is_some() => 1.0,
        Element::Uint(1) => 255.0,
        Element::Uint(_) => 65535.0,
        Element::Int(1) => 127.0,
        _ => 32767.0,
    };
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
    let color = |texel: &[f32; 3]| match texel.iter().all(|value| value.is_finite()) {
        true => texel.map(&show),
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
///     The texel format that its numbers stand for; without one, integers of 8 and 16 bits are normalised.
/// size
///     Longest side of the picture in texels.
#[pyfunction]
#[pyo3(signature = (array, format = None, size = Count(256)), text_signature = "(array, format=None, size=256)")]
pub fn preview<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    format: Option<Text<'_>>,
    size: Count,
) -> PyResult<Bound<'py, PyBytes>> {
    let host = Host::new(array, "a picture")?;
    let find = |name| word(py, "format", name, Format::from_name, Format::all().map(Format::name));
    let format = format.map(|name| find(name.0)).transpose()?;
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
    let most = (size.0 as usize).max(1);
    let texels = Texels { bytes: host.bytes(), element: host.element(), format, layers, height, width, channels };
    let (width, height, numbers) = texels.shrunk(most);
    let bytes = encode(&texels, &numbers);
    let mut file = Vec::new();
    let axis = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(&mut file, axis(width), axis(height));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&bytes)?;
        writer.finish()
    });
    written.map_err(|error| bad(py, Code::BadArray, format!("the picture cannot be encoded: {error}"), ""))?;
    Ok(PyBytes::new(py, &file))
}
