//! Pictures and arrays in files: what images and buffers of a graph are filled with.

use std::path::{Path, PathBuf};

use rgraph_ir::format::{Format, Numbers};
use rgraph_ir::resource::{Axis, Image, Size};

use super::sidecar::Refused;
use super::{npy, png_file};
use crate::texel::{Element, Texel};

/// A picture or an array.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// The file that it was read from.
    pub path: PathBuf,
    /// Its shape, the slowest axis first: (height, width, channels) of pictures. `None`: bytes of no known shape.
    pub shape: Option<Vec<usize>>,
    /// Kind of its numbers.
    pub element: Element,
    /// Whether its integers stand for numbers from 0 to 1.
    pub normalised: bool,
    /// Its numbers as they lie in memory.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// Reads a file by its suffix: `.png` (8 or 16 bits; grey is one channel, all others become four), `.npy`, or
    /// bytes as they are.
    ///
    /// # Errors
    /// The message, which follows the file's name, and the hint.
    pub fn read(path: &Path, bytes: Vec<u8>) -> Result<Self, Refused> {
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or("").to_ascii_lowercase();
        let path = path.to_owned();
        match suffix.as_str() {
            "png" => png_file::decode(path, &bytes),
            "npy" => {
                let head = npy::header(&bytes).map_err(|problem| (problem, String::new()))?;
                let mut bytes = bytes[head.start..].to_vec();
                if head.is_bool {
                    // As of arrays that Python imports: true is the whole of a `unorm`, not 1/255.
                    bytes.iter_mut().for_each(|byte| *byte = if *byte == 0 { 0 } else { 255 });
                }
                let normalised = head.element == Element::Uint(1);
                Ok(Self { path, shape: Some(head.shape), element: head.element, normalised, bytes })
            }
            _ => Ok(Self { path, shape: None, element: Element::Uint(1), normalised: false, bytes }),
        }
    }

    /// Completes the declaration of the image whose contents it is.
    ///
    /// # Errors
    /// If it does not fit the declaration, as [`Picture::read`].
    pub fn complete(&self, image: &mut Image) -> Result<(), Refused> {
        let Some(shape) = &self.shape else { return Ok(()) };
        let shown = || format!("is an array of shape {shape:?} of {}", self.element.name());
        let volume = image.size.is_some_and(|size| size.z.is_some());
        let [outer, height, width, channels] = match (shape.as_slice(), volume) {
            ([height, width], false) => [1, *height, *width, 1],
            ([height, width, channels], false) => [1, *height, *width, *channels],
            ([outer, height, width, channels], _) => [*outer, *height, *width, *channels],
            ([depth, height, width], true) => [*depth, *height, *width, 1],
            _ => {
                let help =
                    "an image is (height, width), (height, width, channels) or (layers, height, width, channels)";
                return Err((shown(), help.to_owned()));
            }
        };
        let texel = Texel { element: self.element, channels };
        let format = match image.format {
            Some(format) => format,
            None => self.format(texel).ok_or_else(|| {
                (shown(), "images have 1, 2 or 4 channels of 8, 16 or 32 bits; make a buffer of others".to_owned())
            })?,
        };
        let wants = Texel::of(format);
        let bytes = |texel: Texel| texel.element.size() * texel.channels;
        let fits = wants == texel || (bytes(wants) == bytes(texel) && matches!(self.element, Element::Uint(_)));
        if !fits || format.numbers() == Numbers::Block {
            let help = format!("{format} is (height, width, {}) of {}", wants.channels, wants.element.name());
            return Err((format!("{}, which cannot be {format}", shown()), help));
        }
        let axis = |length: usize| u32::try_from(length).ok().filter(|length| *length != 0);
        let (Some(outer), Some(height), Some(width)) = (axis(outer), axis(height), axis(width)) else {
            return Err((shown(), "every axis is at least 1".to_owned()));
        };
        let size = if volume { Size::volume(width, height, outer) } else { Size::absolute(width, height) };
        let layers = if volume { 1 } else { outer };
        let absolute = |size: Size| {
            [Some(size.x), Some(size.y), size.z].iter().flatten().all(|axis| matches!(axis, Axis::Texels(_)))
        };
        let other = image.size.is_some_and(|declared| {
            absolute(declared) && (declared.x, declared.y, declared.z) != (size.x, size.y, size.z)
        });
        if other || image.layers.unwrap_or(if image.cube { 6 } else { 1 }) != layers && image.layers.is_some() {
            return Err((shown(), "leave its size and layers out, or declare those of the file".to_owned()));
        }
        image.format = Some(format);
        image.size = image.size.or(Some(size));
        image.layers = image.layers.or((layers != 1).then_some(layers));
        Ok(())
    }

    fn format(&self, texel: Texel) -> Option<Format> {
        if self.normalised && texel.element == Element::Uint(2) {
            let name = ["r16unorm", "rg16unorm", "", "rgba16unorm"].get(texel.channels.checked_sub(1)?)?;
            return Format::from_name(name);
        }
        texel.format(false)
    }
}

#[cfg(all(test, feature = "png"))]
mod tests {
    use super::*;

    fn encoded(color: png::ColorType, depth: png::BitDepth, texels: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 2, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.write_header().unwrap().write_image_data(texels).unwrap();
        file
    }

    #[test]
    fn every_kind_of_png_becomes_one_or_four_channels() {
        let read =
            |color, depth, texels: &[u8]| Picture::read(Path::new("a.PNG"), encoded(color, depth, texels)).unwrap();
        let eight = png::BitDepth::Eight;
        let picture = read(png::ColorType::Rgb, eight, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(picture.bytes, [1, 2, 3, 255, 4, 5, 6, 255]);
        assert_eq!(picture.shape, Some(vec![1, 2, 4]));
        assert_eq!(read(png::ColorType::GrayscaleAlpha, eight, &[1, 2, 3, 4]).bytes, [1, 1, 1, 2, 3, 3, 3, 4]);
        assert_eq!(read(png::ColorType::Grayscale, eight, &[1, 2]).shape, Some(vec![1, 2, 1]));
        assert_eq!(read(png::ColorType::Grayscale, png::BitDepth::One, &[0b0100_0000]).bytes, [0, 255]);
        let wide = read(png::ColorType::Grayscale, png::BitDepth::Sixteen, &[1, 2, 3, 4]);
        assert_eq!(wide.bytes, [0x0102_u16.to_ne_bytes(), 0x0304_u16.to_ne_bytes()].concat());
        let mut image = Image::default();
        wide.complete(&mut image).unwrap();
        assert_eq!(image.format.map(Format::name), Some("r16unorm"));
        assert_eq!(image.size, Some(Size::absolute(2, 1)));
    }

    #[test]
    fn truth_is_the_whole_of_a_number_from_0_to_1() {
        let head = "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2), }";
        let length = u16::try_from(head.len()).unwrap().to_le_bytes();
        let file = [b"\x93NUMPY\x01\x00".as_slice(), &length, head.as_bytes(), &[1, 0]].concat();
        let picture = Picture::read(Path::new("mask.npy"), file).unwrap();
        assert_eq!((picture.normalised, picture.bytes), (true, vec![255, 0]));
    }

    #[test]
    fn broken_pictures_are_refused() {
        let file = encoded(png::ColorType::Rgba, png::BitDepth::Eight, &[7; 8]);
        for end in 0..file.len() - 12 {
            assert!(Picture::read(Path::new("a.png"), file[..end].to_vec()).is_err(), "cut at {end}");
        }
        let picture = Picture::read(Path::new("a.png"), file).unwrap();
        let mut other = Image { format: Format::from_name("rgba16float"), ..Image::default() };
        assert!(picture.complete(&mut other).unwrap_err().0.contains("cannot be rgba16float"));
        let mut other = Image { size: Some(Size::absolute(3, 1)), ..Image::default() };
        assert!(picture.complete(&mut other).is_err());
    }
}
