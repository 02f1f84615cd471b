//! Arrays as resources: `Module.import_array`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::error::Code;
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::resource::{Axis, Buffer, Image, Imported, Kind, Life, Resource, Round, Size};

use crate::arguments::convert::Text;
use crate::arguments::declare::Links;
use crate::arguments::host_arrays::Host;
use crate::arguments::keywords;
use crate::classes::array_layout::Seen;
use crate::classes::format::FormatName;
use crate::classes::module::PyGraphModule;
use crate::classes::resource::PyResource;
use crate::run::error::bad;
use rgraph_work::texel::{Element, Texel};

/// What an array is taken for.
struct Taken {
    size: [u32; 3],
    layers: u32,
    texel: Texel,
    volume: bool,
    seen: Seen,
}

fn taken(py: Python<'_>, array: &Host, format: Option<Format>, volume: bool) -> PyResult<Taken> {
    let refuse = |message: String, help: &str| Err(bad(py, Code::BadArray, message, help));
    let (shape, seen) = match (array.shape(), volume) {
        ([height, width], false) => ([1, *height, *width, 1], Seen::Texels(false, None)),
        ([height, width, channels], false) => ([1, *height, *width, *channels], Seen::Texels(false, Some(*channels))),
        ([outer, height, width, channels], _) => {
            ([*outer, *height, *width, *channels], Seen::Texels(true, Some(*channels)))
        }
        ([depth, height, width], true) => ([*depth, *height, *width, 1], Seen::Texels(true, None)),
        _ => {
            let help = "an image is (height, width), (height, width, channels) or (layers, height, width, channels); \
                        use as_buffer=True for a buffer";
            return refuse(format!("an array of shape {} is no image", array.shown()), help);
        }
    };
    // The bytes of a block are its channels; of red, green and blue alpha is filled up.
    let blocks = format.is_some_and(|format| format.numbers() == Numbers::Block);
    let texel = Texel { element: array.element(), channels: if shape[3] == 3 && !blocks { 4 } else { shape[3] } };
    if array.form.dtype.number().is_none() || !blocks && texel.format(false).is_none() {
        let help = match array.form.dtype.number() {
            Some(Element::Float(8)) => "images have floats of 16 or 32 bits: array.astype(\"float32\")",
            Some(Element::Int(8)) => "images have integers of 8, 16 or 32 bits: array.astype(\"int32\")",
            Some(Element::Uint(8)) => "images have integers of 8, 16 or 32 bits: array.astype(\"uint32\")",
            Some(_) if array.shape().len() == 3 => {
                "an image has 1 to 4 channels; for layers of one channel add an axis: array[..., None]"
            }
            _ => "images have 1 to 4 channels of 8, 16 or 32 bits; use as_buffer=True for a buffer",
        };
        return refuse(format!("no format has texels like those of an array of shape {}", array.shown()), help);
    }
    let axis = |length: usize| u32::try_from(length).ok().filter(|length| *length != 0);
    let [Some(outer), Some(height), Some(width)] = [axis(shape[0]), axis(shape[1]), axis(shape[2])] else {
        return refuse(format!("an array of shape {} is no image", array.shown()), "every axis is at least 1");
    };
    let (depth, layers) = if volume { (outer, 1) } else { (1, outer) };
    Ok(Taken { size: [width, height, depth], layers, texel, volume, seen })
}

/// The image that an array is, and how it is seen.
pub(crate) fn image(
    py: Python<'_>,
    array: &Host,
    format: Option<Format>,
    srgb: bool,
    volume: bool,
) -> PyResult<(Image, Seen)> {
    let Taken { size: [width, height, depth], layers, texel, volume, seen } = taken(py, array, format, volume)?;
    let format = self::format(py, array, texel, format, (srgb, volume))?;
    let [x, y] = format.block();
    let (width, height) = (width.saturating_mul(x), height.saturating_mul(y));
    let axes = (Axis::Texels(width), Axis::Texels(height), volume.then_some(Axis::Texels(depth)));
    let size = Some(Size { x: axes.0, y: axes.1, z: axes.2, round: Round::Down });
    let layers = (layers != 1).then_some(layers);
    Ok((Image { format: Some(format), size, layers, ..Image::default() }, seen))
}

/// The buffer that an array is, and how it is seen.
pub(crate) fn buffer(py: Python<'_>, array: &Host, name: &str) -> PyResult<(Buffer, Seen)> {
    if array.len() == 0 {
        let message = format!("the array of \"{name}\" is empty");
        return Err(bad(py, Code::BadArray, message, "a buffer has at least one byte"));
    }
    let buffer = Buffer { size: Some(array.len() as u64), acceleration_structure: false };
    Ok((buffer, Seen::Items(array.shape().to_vec(), array.form.dtype.clone())))
}

/// The explicit format, compared with the array.
fn format(
    py: Python<'_>,
    array: &Host,
    texel: Texel,
    explicit: Option<Format>,
    (srgb, volume): (bool, bool),
) -> PyResult<Format> {
    let Some(format) = explicit else {
        return texel.format(srgb).ok_or_else(|| {
            let message = format!("an array of shape {} has no sRGB format", array.shown());
            bad(py, Code::BadArray, message, "sRGB images are (height, width, 3 or 4) of uint8")
        });
    };
    let wants = Texel::of(format);
    let bytes = |texel: Texel| texel.element.size() * texel.channels;
    // The same bytes with other numbers are the user's wish: packed formats, integers as normalised numbers.
    let fits = match format.numbers() {
        Numbers::Block => wants == texel && !volume,
        _ => wants == texel || (bytes(wants) == bytes(texel) && matches!(texel.element, Element::Uint(_))),
    };
    if !fits {
        let message = format!("an array of shape {} cannot be an image of {format}", array.shown());
        let channels = if wants.channels == 1 { String::new() } else { format!(", {}", wants.channels) };
        let help = match format.numbers() {
            Numbers::Block => format!("{format} is (rows, columns, {}) of uint8, block by block", wants.channels),
            _ => format!("{format} is (height, width{channels}) of {}", wants.element.name()),
        };
        return Err(bad(py, Code::BadArray, message, &help));
    }
    Ok(format)
}

#[pymethods]
impl PyGraphModule {
    /// Declare an image (or a buffer) with the contents of an array.
    ///
    /// The graph keeps a reference and reads the array at each run, so later changes are seen; import a copy to keep a
    /// snapshot. `Device.run` takes another array of the same shape as `inputs={name: array}`.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among resources.
    /// array
    ///     Any contiguous object with the buffer protocol, of shape (height, width), (height, width, channels) with 1
    ///     to 4 channels, or (layers, height, width, channels). `uint8` gives `rgba8unorm` (`rg8unorm`, `r8unorm`),
    ///     `int8` `rgba8snorm`, wider integers integers (`rgba16uint`), `float16` and `float32` floats. Three channels
    ///     become four, the fourth opaque (its largest normalised value, or 1); `bool` becomes 0 and 255 of `uint8`, so
    ///     that a shader reads 0.0 and 1.0. Results have the array's shape again: (height, width) without an axis of
    ///     channels, three channels without alpha.
    /// format
    ///     Texel format, if not the default for the array; its texels must have as many bytes. Compressed formats take
    ///     blocks, (rows, columns, bytes) of `uint8`: (2, 3, 8) is 12 × 8 texels of `bc1-rgba-unorm`. If an image ends
    ///     within a block, declare it with `import_image` and give the blocks as `inputs=`.
    /// srgb
    ///     If true, `uint8` colours are sRGB encoded: `rgba8unorm-srgb`.
    /// as_buffer
    ///     If true, declare a buffer with the array's bytes instead of an image. Shape and dtype are arbitrary, records
    ///     included, and results have them again. A `bool` is a byte, 0 or 1.
    /// volume
    ///     If true, an array of shape (depth, height, width, channels) is a 3D image instead of one with layers.
    /// sharing
    ///     `"concurrent"` (no ownership transfers between queue families) or `"exclusive"`; see `image`.
    /// memory_domain
    ///     Memory domain of the copy on the device; see `image`.
    ///
    /// Returns
    /// -------
    /// Image or Buffer
    ///     A handle to be used in passes of this graph.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If no image can have such contents. The graph is left unchanged.
    #[pyo3(signature = (name, array, *, format = None, srgb = false, as_buffer = false, volume = false, sharing = None,
                        memory_domain = None, **unknown),
           text_signature = "($self, name, array, *, format=None, srgb=False, as_buffer=False, volume=False, \
                             sharing=None, memory_domain=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn import_array<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        array: &Bound<'py, PyAny>,
        format: Option<FormatName>,
        srgb: bool,
        as_buffer: bool,
        volume: bool,
        sharing: Option<Text<'_>>,
        memory_domain: Option<Text<'_>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        keywords::refuse_in(slf.as_any(), "import_array", unknown)?;
        let sharing = crate::arguments::declare::sharing(py, sharing)?;
        let memory_domain = crate::arguments::declare::memory_domain(py, memory_domain)?;
        let host = Host::new(array, &format!("the array of \"{}\"", name.0))?;
        let (kind, seen) = match as_buffer {
            true => buffer(py, &host, name.0).map(|(buffer, seen)| (Kind::Buffer(buffer), seen))?,
            false => image(py, &host, format.map(|FormatName(format)| format), srgb, volume)
                .map(|(image, seen)| (Kind::Image(image), seen))?,
        };
        let life = Life::Imported(Imported::default());
        let resource = Resource { sharing, memory_domain, ..Resource::new(kind.clone(), life) };
        let (graph, id) = Self::add_resource(slf, name, resource, Links::default())?;
        let array = array.clone().unbind();
        let replaced = graph.get().change(|state| {
            state.seen.insert(id, seen);
            Ok(state.arrays.insert(id, array))
        });
        drop(replaced);
        PyResource::of_kind(&graph, id, &kind)
    }
}
