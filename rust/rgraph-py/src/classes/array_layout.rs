//! How the bytes of an image or a buffer are seen as an array: shape, kind of elements, rows in memory.
//!
//! One description serves uploads, results, first states and typed buffers. What a declaration (or a shader) says of a
//! resource's array is [`Seen`]; with the resource's kind it becomes a [`ArrayLayout`]. Arrays of the caller's are
//! packed into a resource's bytes by it, or filled from them. The planner knows nothing of it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use rgraph_plan::error::Code;
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::plan::PlanKind;
use rgraph_shader::Type;
use rgraph_work::texel::{Element, Texel};

use crate::arguments::dtype::{Dtype, Item};
use crate::run::error::{Refusal, refusal};

/// Facts about a resource's array, other than its kind.
#[derive(Clone, PartialEq, Debug)]
pub enum Seen {
    /// An image: whether it has an axis of layers although there is one layer, and how many channels are shown (`None`:
    /// no axis of channels).
    Texels(bool, Option<usize>),
    /// A buffer: its shape and the kind of its elements.
    Items(Vec<usize>, Dtype),
    /// A buffer that shaders declare so.
    Shader(Type),
}

/// An array in memory: rows of `run` bytes, `step` bytes from row to row.
#[derive(Clone, PartialEq, Debug)]
pub struct ArrayLayout {
    /// The slowest axis first.
    pub shape: Vec<usize>,
    /// Kind of elements.
    pub dtype: Dtype,
    run: usize,
    step: usize,
    /// Padding between rows when they are written, `step - run` bytes; empty: zeros.
    gap: Vec<u8>,
    /// The byte for true in an array of bools, if not 1.
    truth: Option<u8>,
}

/// Axes and channels of an image.
fn image(kind: &PlanKind) -> Option<([usize; 3], usize, bool, Texel, Format)> {
    let PlanKind::Image { format, size: [width, height, depth], layers, volume, .. } = *kind else { return None };
    let [across, down] = format.block();
    let (width, height) = (width.div_ceil(across) as usize, height.div_ceil(down) as usize);
    let outer = if volume { depth } else { layers } as usize;
    let texel = Texel::of(format);
    Some(([outer, height, width], texel.channels, volume, texel, format))
}

/// The default value of a fourth channel: opaque.
fn opaque(format: Format, element: Element) -> Vec<u8> {
    let size = element.size();
    match (format.numbers(), element) {
        (Numbers::Float, Element::Float(2)) => 0x3c00_u16.to_ne_bytes().to_vec(),
        (Numbers::Float, Element::Float(4)) => 1.0_f32.to_ne_bytes().to_vec(),
        (Numbers::Unorm, _) => vec![0xff; size],
        (Numbers::Snorm, Element::Int(1)) => vec![0x7f],
        (Numbers::Snorm, Element::Int(2)) => i16::MAX.to_ne_bytes().to_vec(),
        _ => {
            let mut one = vec![0; size];
            one[if cfg!(target_endian = "little") { 0 } else { size - 1 }] = 1;
            one
        }
    }
}

/// Whether bytes of some numbers mean nothing as others: floats as integers, numbers of another width. Numbers of one
/// byte are bytes of anything.
fn misreads(own: Element, given: Element) -> bool {
    let float = |element| matches!(element, Element::Float(_));
    let bytes = own.size() == 1 || given.size() == 1;
    !bytes && (own.size() != given.size() || float(own) != float(given))
}

impl ArrayLayout {
    /// Elements one behind the other.
    pub fn packed(shape: Vec<usize>, dtype: Dtype) -> Self {
        let row = dtype.size().max(1);
        Self { shape, dtype, run: row, step: row, gap: Vec::new(), truth: None }
    }

    /// A resource of which nothing else is known: an image is (height, width, channels), with an axis of layers or
    /// depth in front where it has several; a buffer is bytes.
    pub fn natural(kind: &PlanKind) -> Self {
        match *kind {
            PlanKind::Buffer { size } => Self::packed(vec![size as usize], Dtype::BYTE),
            PlanKind::Image { volume, layers, .. } => {
                Self::texels(kind, volume || layers > 1, None).unwrap_or_else(|| Self::packed(Vec::new(), Dtype::BYTE))
            }
        }
    }

    /// An image with or without an axis in front, and with so many channels (0: without an axis of them).
    fn texels(kind: &PlanKind, front: bool, channels: Option<usize>) -> Option<Self> {
        let ([outer, height, width], all, _, texel, format) = image(kind)?;
        let shown = match channels {
            None => all,
            Some(0) if all == 1 => 0,
            Some(few) if (1..=all).contains(&few) && format.block() == [1, 1] => few,
            Some(_) => return None,
        };
        let mut shape = if front { vec![outer, height, width] } else { vec![height, width] };
        if shown > 0 {
            shape.push(shown);
        }
        let size = texel.element.size();
        let (run, step) = (shown.max(1) * size, all * size);
        let gap = if step == run + size { opaque(format, texel.element) } else { Vec::new() };
        let truth = (format.numbers() == Numbers::Unorm && texel.element == Element::Uint(1)).then_some(255);
        Some(Self { shape, dtype: Dtype::Number(texel.element), run, step, gap, truth })
    }

    /// A resource's array. A declared layout that does not fit the resource's kind is ignored, such as other channels
    /// or another size.
    pub fn of(kind: &PlanKind, seen: Option<&Seen>) -> Self {
        let natural = Self::natural(kind);
        match (seen, *kind) {
            (Some(Seen::Texels(batch, channels)), PlanKind::Image { volume, layers, .. }) => {
                let front = volume || layers > 1 || *batch;
                let channels = Some(channels.unwrap_or(0));
                Self::texels(kind, front, channels).or_else(|| Self::texels(kind, front, None)).unwrap_or(natural)
            }
            (Some(Seen::Items(shape, dtype)), PlanKind::Buffer { size }) => {
                let declared = Self::packed(shape.clone(), dtype.clone());
                if declared.bytes() as u64 == size { declared } else { natural }
            }
            (Some(Seen::Shader(ty)), PlanKind::Buffer { size }) => Self::items(ty, size as usize).unwrap_or(natural),
            _ => natural,
        }
    }

    /// The array of part of a resource: of a buffer, as many of its elements as it has, else bytes.
    pub fn of_part(whole: &PlanKind, seen: Option<&Seen>, part: &PlanKind) -> Self {
        if whole == part {
            return Self::of(whole, seen);
        }
        let PlanKind::Buffer { size } = *part else { return Self::of(part, seen) };
        let Self { mut shape, dtype, run, step, gap, truth } = Self::of(whole, seen);
        let (Some(first), Some(below)) = (shape.first().copied(), whole_bytes(whole)) else {
            return Self::natural(part);
        };
        let each = below.checked_div(first as u64).unwrap_or(0);
        if each == 0 || !size.is_multiple_of(each) {
            return Self::natural(part);
        }
        shape[0] = (size / each) as usize;
        Self { shape, dtype, run, step, gap, truth }
    }

    /// The elements that a shader reads in a buffer; `None` where they do not fill it.
    fn items(ty: &Type, size: usize) -> Option<Self> {
        let Item { shape, dtype, rows: [run, step], stride } = Item::of(ty)?;
        if !size.is_multiple_of(stride) {
            return None;
        }
        let shape = std::iter::once(size / stride).chain(shape).collect();
        Some(Self { shape, dtype, run, step, gap: Vec::new(), truth: None })
    }

    /// Bytes of the array itself, without what stands between its rows.
    pub fn len(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }

    /// Bytes of the resource.
    pub fn bytes(&self) -> usize {
        if self.run == self.step { self.len() } else { self.len() / self.run * self.step }
    }

    /// Whether it has all of the resource's bytes, in their order.
    pub fn is_packed(&self) -> bool {
        self.run == self.step
    }

    /// Bytes from element to element along each axis.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![0; self.shape.len()];
        // Bytes of the array below an axis, and the bytes of memory that these take.
        let mut below = self.dtype.size();
        for (axis, stride) in self.shape.iter().zip(&mut strides).rev() {
            *stride = if below < self.run { below } else { below / self.run * self.step };
            below *= axis;
        }
        strides
    }

    /// Shape and kind as messages show them.
    pub fn shown(&self) -> String {
        shown(&self.shape, &self.dtype.name())
    }

    /// The kind of the numbers of an image.
    pub fn element(&self) -> Element {
        self.dtype.number().unwrap_or(Element::Uint(1))
    }

    /// A resource's bytes from those of an array that fits. Only bools and what has gaps are copied.
    pub fn pack<'a>(&self, form: &Form, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let bytes: Cow<'a, [u8]> = match self.truth.filter(|_| form.boolean) {
            Some(truth) => bytes.iter().map(|byte| if *byte == 0 { 0 } else { truth }).collect::<Vec<_>>().into(),
            None => bytes.into(),
        };
        if self.is_packed() {
            return bytes;
        }
        let mut out = vec![0; self.bytes()];
        for (to, from) in out.chunks_exact_mut(self.step).zip(bytes.chunks_exact(self.run)) {
            to[..self.run].copy_from_slice(from);
            to[self.run..][..self.gap.len()].copy_from_slice(&self.gap);
        }
        out.into()
    }

    /// An array's bytes from those of a resource.
    pub fn unpack(&self, bytes: &[u8], to: &mut [u8]) {
        for (to, from) in to.chunks_exact_mut(self.run).zip(bytes.chunks_exact(self.step)) {
            to.copy_from_slice(&from[..self.run]);
        }
    }

    /// The same bytes as an array of its own.
    pub fn tight<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.is_packed() {
            return bytes.into();
        }
        let mut out = vec![0; self.len()];
        self.unpack(bytes, &mut out);
        out.into()
    }

    /// The same bytes with elements of another kind along the last axis; `None`: they do not fit.
    pub fn view(&self, dtype: Dtype) -> Option<Self> {
        if dtype.size() == self.dtype.size() {
            return Some(Self { dtype, ..self.clone() });
        }
        let mut shape = self.shape.clone();
        let last = shape.last_mut()?;
        let bytes = *last * self.dtype.size();
        if !self.is_packed() || !bytes.is_multiple_of(dtype.size()) {
            return None;
        }
        *last = bytes / dtype.size();
        Some(Self::packed(shape, dtype))
    }

    /// Height, width and channels of what is one picture.
    pub fn plane(&self) -> Option<[usize; 3]> {
        match *self.shape.as_slice() {
            [height, width] => Some([height, width, 1]),
            [height, width, channels] if channels <= 4 => Some([height, width, channels]),
            _ => None,
        }
    }

    /// Names of the axes of an image's array, and which of them is the height.
    fn axes(&self, kind: &PlanKind, seen: Option<&Seen>) -> Option<(Vec<&'static str>, usize)> {
        let PlanKind::Image { volume, layers, .. } = *kind else { return None };
        let front = volume || layers > 1 || matches!(seen, Some(Seen::Texels(true, _)));
        let mut names = vec!["height", "width"];
        if front {
            names.insert(0, if volume { "depth" } else { "layers" });
        }
        if self.shape.len() > names.len() {
            names.push("channels");
        }
        (names.len() == self.shape.len()).then_some((names, front.into()))
    }

    /// Whether an array has this shape and kind; an axis of one may be left out or added in front or behind.
    fn fits(&self, form: &Form) -> bool {
        fn bare(mut shape: &[usize]) -> &[usize] {
            while let [1, rest @ ..] | [rest @ .., 1] = shape {
                shape = rest;
            }
            shape
        }
        form.dtype == self.dtype && bare(&form.shape) == bare(&self.shape)
    }

    /// The layout that an array of the caller's has for a resource: as declared, as it is in memory, or of a picture of
    /// red, green and blue.
    ///
    /// # Errors
    /// RG-E320 with both shapes and the call that converts one.
    pub fn for_array((kind, seen): (&PlanKind, Option<&Seen>), form: &Form, what: &str) -> Result<Self, Refusal> {
        let (own, natural) = (Self::of(kind, seen), Self::natural(kind));
        if own.fits(form) {
            return Ok(own);
        }
        if let PlanKind::Buffer { size } = *kind {
            // Bytes are bytes, but floats are no integers, and doubles no pairs of numbers.
            if form.len() as u64 == size {
                if let (Dtype::Number(own), Dtype::Number(given)) = (&own.dtype, &form.dtype)
                    && misreads(*own, *given)
                {
                    let message = format!("{what} is of {}, and the buffer of {}", given.name(), own.name());
                    let help = format!(
                        "convert the numbers: array.astype(\"{0}\"); or reuse the bytes: array.view(\"{0}\")",
                        own.name()
                    );
                    return Err(refusal(Code::BadArray, message, &help));
                }
                return Ok(natural);
            }
            let message = format!("{what} has {} bytes: shape {}", form.len(), form.shown());
            let is = if own == natural { String::new() } else { format!(": {}", own.shown()) };
            return Err(refusal(Code::BadArray, message, &format!("the buffer has {size} bytes{is}")));
        }
        let rgb = Self::texels(kind, natural.shape.len() > 3, Some(3)).filter(|rgb| !rgb.is_packed());
        if let Some(fitting) = [Some(natural.clone()), rgb].into_iter().flatten().find(|layout| layout.fits(form)) {
            return Ok(fitting);
        }
        // The same bytes as other numbers: unsigned integers for whatever the format makes of them.
        let axes = natural.shape.len() - 1;
        let unsigned = matches!(form.dtype, Dtype::Number(Element::Uint(_))) && !form.boolean;
        if unsigned && form.len() == natural.bytes() && form.shape.get(..axes) == natural.shape.get(..axes) {
            return Ok(natural);
        }
        let message = format!("{what} has shape {}", form.shown());
        let mut help = format!("it is {} here", own.shown());
        if form.shape == own.shape && form.dtype != own.dtype {
            help += &format!(": array.astype(\"{}\")", own.dtype.name());
        } else if let Some((names, height)) = own.axes(kind, seen) {
            help += &format!(", that is ({})", names.join(", "));
            let mut turned = form.shape.clone();
            if turned.len() == own.shape.len() {
                turned.swap(height, height + 1);
            }
            // As sizes of images are written: (width, height).
            if turned == own.shape && form.shape != own.shape {
                let order =
                    if own.shape.len() == 2 { ".T".to_owned() } else { format!(".swapaxes({height}, {})", height + 1) };
                help += &format!(": numpy.ascontiguousarray(array{order})");
            }
        }
        Err(refusal(Code::BadArray, message, &help))
    }
}

fn whole_bytes(kind: &PlanKind) -> Option<u64> {
    match *kind {
        PlanKind::Buffer { size } => Some(size),
        PlanKind::Image { .. } => None,
    }
}

/// Shape and kind as messages show them.
pub(crate) fn shown(shape: &[usize], dtype: &str) -> String {
    let axes: Vec<_> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    format!("({}{comma}) of {dtype}", axes.join(", "))
}

/// Shape and kind of an array of the caller's.
#[derive(Clone, PartialEq, Debug)]
pub struct Form {
    /// The slowest axis first.
    pub shape: Vec<usize>,
    /// Kind of elements; bytes for bools.
    pub dtype: Dtype,
    /// Whether they are bools.
    pub boolean: bool,
}

impl Form {
    /// Bytes.
    pub fn len(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }

    /// As messages show it.
    pub fn shown(&self) -> String {
        let name = if self.boolean { "bool".to_owned() } else { self.dtype.name() };
        shown(&self.shape, &name)
    }
}

/// An array of the caller's as it was when it was given.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its shape and kind.
    pub form: Form,
    pub bytes: Arc<[u8]>,
    /// The file that it was read from.
    pub file: Option<Arc<Path>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(format: Format, layers: u32) -> PlanKind {
        PlanKind::Image { format, size: [2, 1, 1], mips: 1, layers, samples: 1, volume: false, cube: false }
    }

    fn form(shape: &[usize], element: Element) -> Form {
        Form { shape: shape.to_vec(), dtype: Dtype::Number(element), boolean: false }
    }

    #[test]
    fn three_channels_are_filled_up_and_cut_off() {
        let kind = picture(Format::Rgba8unorm, 1);
        let rgb = ArrayLayout::of(&kind, Some(&Seen::Texels(false, Some(3))));
        assert_eq!((rgb.shape.as_slice(), rgb.strides()), (&[1, 2, 3][..], vec![8, 4, 1]));
        let given = form(&[1, 2, 3], Element::Uint(1));
        let packed = rgb.pack(&given, &[1, 2, 3, 4, 5, 6]).into_owned();
        assert_eq!(packed, [1, 2, 3, 255, 4, 5, 6, 255]);
        assert_eq!(*rgb.tight(&packed), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn axes_of_one_are_kept_where_they_were_declared() {
        let kind = picture(Format::R32float, 1);
        let shape = |seen| ArrayLayout::of(&kind, seen).shape;
        assert_eq!(shape(None), [1, 2, 1]);
        assert_eq!(shape(Some(&Seen::Texels(false, None))), [1, 2]);
        assert_eq!(shape(Some(&Seen::Texels(true, Some(1)))), [1, 1, 2, 1]);
        // Declared for a format with one channel, but the image has four: the axis is back.
        assert_eq!(ArrayLayout::of(&picture(Format::Rgba8unorm, 1), Some(&Seen::Texels(false, None))).shape, [1, 2, 4]);
    }

    #[test]
    fn rows_of_three_floats_have_the_strides_of_the_shader() {
        let ty = Type::Array { of: Box::new(Type::Vector(rgraph_shader::Scalar::F32, 3)), len: None, stride: 16 };
        let layout = ArrayLayout::of(&PlanKind::Buffer { size: 64 }, Some(&Seen::Shader(ty.clone())));
        assert_eq!((layout.shape.as_slice(), layout.strides(), layout.bytes()), (&[4, 3][..], vec![16, 4], 64));
        // What does not fill the buffer is bytes.
        assert_eq!(ArrayLayout::of(&PlanKind::Buffer { size: 60 }, Some(&Seen::Shader(ty))).shape, [60]);
    }
}
