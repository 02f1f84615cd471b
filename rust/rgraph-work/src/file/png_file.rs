//! PNG files as pictures.

use std::io::Cursor;
use std::path::PathBuf;

use super::picture::Picture;
use super::sidecar::Refused;
use crate::texel::Element;

/// Most bytes of a picture, decoded.
const MOST: usize = 1 << 31;

/// A PNG file's samples, row by row from the top.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Samples {
    /// Width and height in texels.
    pub size: [u32; 2],
    /// 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha.
    pub channels: usize,
    /// Bytes per sample: 1, or 2 in the machine's own order.
    pub bytes_per_sample: usize,
    /// The samples.
    pub bytes: Vec<u8>,
}

/// Reads a PNG file: palettes become colours, marked colours become alpha, grey below 8 bits becomes 8 bits. Colour
/// profiles and gamma are not applied.
///
/// # Errors
/// What is wrong, as it follows the file's name.
pub fn samples(bytes: &[u8]) -> Result<Samples, String> {
    let broken = |error: png::DecodingError| format!("cannot be read as PNG: {error}");
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MOST });
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(broken)?;
    let size = reader.output_buffer_size().filter(|size| *size <= MOST);
    let size = size.ok_or_else(|| "is too large a picture: at most 2 GiB are read".to_owned())?;
    let mut bytes = vec![0; size];
    let info = reader.next_frame(&mut bytes).map_err(broken)?;
    bytes.truncate(info.buffer_size());
    let wide = info.bit_depth == png::BitDepth::Sixteen;
    if wide && cfg!(target_endian = "little") {
        bytes.chunks_exact_mut(2).for_each(<[u8]>::reverse);
    }
    let channels = match info.color_type {
        png::ColorType::Grayscale => 1,
        png::ColorType::GrayscaleAlpha => 2,
        png::ColorType::Rgb => 3,
        png::ColorType::Rgba => 4,
        png::ColorType::Indexed => return Err("is a PNG with a palette that is missing".to_owned()),
    };
    Ok(Samples { size: [info.width, info.height], channels, bytes_per_sample: if wide { 2 } else { 1 }, bytes })
}

/// Decodes a picture of 8 or 16 bits; grey is one channel, all others become four.
pub(super) fn decode(path: PathBuf, bytes: &[u8]) -> Result<Picture, Refused> {
    let Samples { size, channels, bytes_per_sample: step, bytes } =
        samples(bytes).map_err(|problem| (problem, String::new()))?;
    // No format has three channels, and the second of two is no green.
    let (channels, bytes) = match channels {
        2 => {
            let spread = |texel: &[u8]| {
                let (grey, alpha) = texel.split_at(step);
                [grey, grey, grey, alpha].concat()
            };
            (4, bytes.chunks_exact(2 * step).flat_map(spread).collect())
        }
        3 => {
            let opaque = [0xff; 2];
            (4, bytes.chunks_exact(3 * step).flat_map(|texel| [texel, &opaque[..step]].concat()).collect())
        }
        _ => (channels, bytes),
    };
    let shape = Some(vec![size[1] as usize, size[0] as usize, channels]);
    Ok(Picture { path, shape, element: Element::Uint(step as u8), normalised: true, bytes })
}
