//! PNG files as pictures.

use std::io::Cursor;
use std::path::PathBuf;

use super::picture::Picture;
use super::sidecar::Refused;
use crate::texel::Element;

/// Most bytes of a picture, decoded.
const MOST: usize = 1 << 31;

/// Decodes a picture of 8 or 16 bits; grey is one channel, all others become four.
pub fn decode(path: PathBuf, bytes: &[u8]) -> Result<Picture, Refused> {
    let broken = |error: png::DecodingError| (format!("cannot be read as PNG: {error}"), String::new());
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MOST });
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(broken)?;
    let size = reader.output_buffer_size().filter(|size| *size <= MOST);
    let Some(size) = size else {
        return Err(("is too large a picture".to_owned(), "at most 2 GiB are read".to_owned()));
    };
    let mut texels = vec![0; size];
    let info = reader.next_frame(&mut texels).map_err(broken)?;
    texels.truncate(info.buffer_size());
    let wide = info.bit_depth == png::BitDepth::Sixteen;
    let step = if wide { 2 } else { 1 };
    if wide && cfg!(target_endian = "little") {
        texels.chunks_exact_mut(2).for_each(<[u8]>::reverse);
    }
    // No format has three channels, and the second of two is no green.
    let (channels, texels) = match info.color_type {
        png::ColorType::Grayscale => (1, texels),
        png::ColorType::Rgba => (4, texels),
        png::ColorType::Rgb => {
            let opaque = [0xff; 2];
            (4, texels.chunks_exact(3 * step).flat_map(|texel| [texel, &opaque[..step]].concat()).collect())
        }
        png::ColorType::GrayscaleAlpha => {
            let spread = |texel: &[u8]| {
                let (grey, alpha) = texel.split_at(step);
                [grey, grey, grey, alpha].concat()
            };
            (4, texels.chunks_exact(2 * step).flat_map(spread).collect())
        }
        png::ColorType::Indexed => {
            return Err(("is a PNG with a palette that is missing".to_owned(), String::new()));
        }
    };
    let shape = Some(vec![info.height as usize, info.width as usize, channels]);
    Ok(Picture { path, shape, element: Element::Uint(step as u8), normalised: true, bytes: texels })
}
