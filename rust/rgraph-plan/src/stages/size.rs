//! Formats, sizes, counts and bytes of every resource: what the declaration leaves open is filled in, relative
//! sizes become texels, and what cannot be is noted. Each shape is then legal by itself and within the profile's
//! limits, whatever was declared, so that no later stage has to look again.
//!
//! Sizes refer to each other in any order of declaration, so resources are resolved depth first with a stack of
//! our own: a chain of any length is fine, and every resource is resolved once. O(resources).

use crate::access::Aspects;
use crate::format::Format;
use crate::graph::Graph;
use crate::id::IdVec;
use crate::plan::PlanKind;
use crate::profile::Profile;
use crate::resource::{Axis, Buffer, Image, Kind, Life, Mips, Resource, ResourceId, Round, Size};

/// A resource with everything resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Image or buffer, sizes resolved; at least 1 everywhere.
    pub kind: PlanKind,
    /// Bytes in memory: texels over all mips, layers and samples, rounded up to `align`.
    pub bytes: u64,
    /// Alignment in memory in bytes, a power of two.
    pub align: u64,
    /// The aspects of an image; empty for buffers.
    pub aspects: Aspects,
}

impl Shape {
    /// Mips and layers; 1 and 1 for buffers.
    pub fn levels(&self) -> [u32; 2] {
        match self.kind {
            PlanKind::Image { mips, layers, .. } => [mips, layers],
            PlanKind::Buffer { .. } => [1, 1],
        }
    }
}

/// Bytes that all resources of one graph may have together: 256 TiB. Sums of bytes never overflow below it.
pub const MAX_BYTES: u64 = 1 << 48;
/// Most array layers that any image may have, whatever the profile allows.
pub(crate) const MAX_LAYERS: u32 = 1 << 16;
/// Most samples per texel that any image may have, whatever the profile allows.
pub(crate) const MAX_SAMPLES: u32 = 64;
/// Largest alignment of a profile that is believed: 1 GiB.
pub(crate) const MAX_ALIGN: u64 = 1 << 30;
/// Resources of a cycle that are kept for its message.
pub(crate) const SHOWN_CYCLE: usize = 16;

/// Something measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// In texels.
    Width,
    /// In texels.
    Height,
    /// In texels.
    Depth,
    /// Array layers.
    Layers,
    /// Mip levels.
    Mips,
    /// Samples per texel.
    Samples,
    /// Bytes of a buffer.
    Bytes,
}

/// What is wrong with a resource's shape.
#[derive(Clone, PartialEq, Debug)]
pub enum ShapeIssue {
    /// An image without a format and without another to inherit it from.
    NoFormat,
    /// A buffer without a size and without another to inherit it from.
    NoSize,
    /// Nothing of something.
    Zero(Measure),
    /// Relative to a reference size that is zero; noted once.
    ZeroReference,
    /// A scale that is not a positive number.
    BadScale(Measure, f64),
    /// A product with a scale that does not fit in 32 bits.
    Overflow(Measure),
    /// A size relative to a buffer, or to a resource of another graph.
    NotAnImage(Option<ResourceId>),
    /// More mips than halvings down to one texel.
    TooManyMips {
        /// What is declared.
        declared: u32,
        /// What the size has.
        most: u32,
    },
    /// More than a limit of the profile.
    OverLimit {
        /// What there is too much of.
        what: Measure,
        /// What is declared, or follows from it.
        declared: u64,
        /// The limit.
        most: u64,
    },
    /// A number of samples that is no power of two.
    OddSamples(u32),
    /// The graph's bytes overflow with this resource.
    TooManyBytes,
    /// It needs its own shape to know its shape.
    Cycle {
        /// The first [`SHOWN_CYCLE`] resources of the cycle, each inheriting from the next.
        path: Vec<ResourceId>,
        /// How many there are.
        len: usize,
    },
}

/// What is wrong with a resource's shape.
#[derive(Clone, PartialEq, Debug)]
pub struct ShapeProblem {
    pub resource: ResourceId,
    /// What is wrong.
    pub issue: ShapeIssue,
}

/// Memory that [`shapes`] reuses.
#[derive(Clone, Default, Debug)]
pub struct ShapeScratch {
    state: IdVec<ResourceId, Visit>,
    stack: Vec<(ResourceId, u8)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Visit {
    Unseen,
    Open,
    /// Open, and known to be part of a cycle.
    Cyclic,
    Done,
    /// Done, with a placeholder for a mistake of it or of a resource that it derives from.
    Placeholder,
}

impl ShapeScratch {
    /// Whether the last shape resolved for `resource` is, or is derived from, a placeholder for a noted mistake.
    pub fn is_placeholder(&self, resource: ResourceId) -> bool {
        self.state.get(resource) == Some(&Visit::Placeholder)
    }
}

/// Resolves the shape of every resource into `out` and notes what is wrong, in the order of resources resolved.
///
/// A history has the shape of what it remembers; what a modifying resource does not say, it has from what it
/// modifies. Each axis of a relative size is the `floor` (or `ceil`) of the 64-bit product, at least 1; the
/// reference has a depth of 1. O(resources), no recursion, no allocation once `out` and `scratch` are large enough.
pub fn shapes(
    graph: &Graph,
    profile: &Profile,
    out: &mut IdVec<ResourceId, Shape>,
    scratch: &mut ShapeScratch,
    problems: &mut Vec<ShapeProblem>,
) {
    let count = graph.resources().len();
    scratch.state.refill(Visit::Unseen, count);
    scratch.stack.clear();
    out.refill(STAND_IN, count);
    let mut resolver = Resolver { graph, profile, out, problems, reference_noted: false, total: 0 };
    for start in graph.resources().ids() {
        crate::cancel::poll();
        if scratch.state[start] != Visit::Unseen {
            continue;
        }
        scratch.state[start] = Visit::Open;
        if next_need(&graph.resources()[start], &mut 0).is_none() {
            resolver.finish(start, &mut scratch.state);
            continue;
        }
        scratch.stack.push((start, 0));
        while let Some((resource, next)) = scratch.stack.last_mut() {
            let resource = *resource;
            let Some(needed) = next_need(&graph.resources()[resource], next) else {
                resolver.finish(resource, &mut scratch.state);
                scratch.stack.pop();
                continue;
            };
            match scratch.state.get(needed).copied() {
                Some(Visit::Unseen) => {
                    scratch.state[needed] = Visit::Open;
                    scratch.stack.push((needed, 0));
                }
                Some(Visit::Open) => {
                    scratch.state[needed] = Visit::Cyclic;
                    resolver.note_cycle(needed, &scratch.stack);
                }
                // Of another graph, reported already, or known.
                None | Some(Visit::Cyclic | Visit::Done | Visit::Placeholder) => {}
            }
        }
    }
}

/// True if a resource just resolved is in no cycle and depends on no placeholder.
#[cold]
fn inherits_sound(graph: &Graph, resource: ResourceId, state: &IdVec<ResourceId, Visit>) -> bool {
    let mut next = 0;
    let mut needs = std::iter::from_fn(|| next_need(&graph.resources()[resource], &mut next));
    state[resource] == Visit::Open && needs.all(|needed| state.get(needed) == Some(&Visit::Done))
}

const STAND_IN: Shape = Shape { kind: PlanKind::Buffer { size: 1 }, bytes: 256, align: 256, aspects: Aspects::empty() };

/// The next resource whose shape `resource` needs, counting `next` up; `None` after the last.
fn next_need(resource: &Resource, next: &mut u8) -> Option<ResourceId> {
    loop {
        let at = *next;
        *next += 1;
        let need = match at {
            0 => resource.modifies,
            1 => match resource.life {
                Life::History(history) => Some(history.of),
                _ => None,
            },
            2..=4 => match &resource.kind {
                Kind::Image(Image { size: Some(size), .. }) => {
                    match [Some(size.x), Some(size.y), size.z][usize::from(at) - 2] {
                        Some(Axis::Scaled(of, _)) => of,
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => {
                *next = at;
                return None;
            }
        };
        if need.is_some() {
            return need;
        }
    }
}

struct Resolver<'a> {
    graph: &'a Graph,
    profile: &'a Profile,
    out: &'a mut IdVec<ResourceId, Shape>,
    problems: &'a mut Vec<ShapeProblem>,
    reference_noted: bool,
    total: u64,
}

impl Resolver<'_> {
    #[cold]
    fn note(&mut self, resource: ResourceId, issue: ShapeIssue) {
        self.problems.push(ShapeProblem { resource, issue });
    }

    #[cold]
    fn note_cycle(&mut self, first: ResourceId, stack: &[(ResourceId, u8)]) {
        let from = stack.iter().rposition(|(resource, _)| *resource == first).unwrap_or(0);
        let path = stack[from..].iter().take(SHOWN_CYCLE).map(|(resource, _)| *resource).collect();
        self.note(first, ShapeIssue::Cycle { path, len: stack.len() - from });
    }

    /// Resolves a resource whose needs are known.
    fn finish(&mut self, id: ResourceId, state: &mut IdVec<ResourceId, Visit>) {
        let noted = self.problems.len();
        self.resolve(id);
        let sound = self.problems.is_empty() || (self.problems.len() == noted && inherits_sound(self.graph, id, state));
        state[id] = if sound { Visit::Done } else { Visit::Placeholder };
    }

    fn resolve(&mut self, id: ResourceId) {
        let graph = self.graph;
        let resource = &graph.resources()[id];
        let history = match resource.life {
            Life::History(history) => Some(history.of),
            _ => None,
        };
        let base = history.or(resource.modifies);
        // What is inherited from; where its kind is another, validation says so and nothing is inherited.
        let inherited = base.and_then(|base| {
            let known = self.out.get(base)?.kind;
            match (&graph.resources()[base].kind, &resource.kind, known) {
                (Kind::Image(_), Kind::Image(_), PlanKind::Image { .. })
                | (Kind::Buffer(_), Kind::Buffer(_), PlanKind::Buffer { .. }) => Some(known),
                _ => None,
            }
        });
        let kind = match (&resource.kind, inherited) {
            (_, Some(kind)) if history.is_some() => kind,
            (Kind::Image(image), inherited) => self.image(id, image, inherited, base.is_some()),
            (Kind::Buffer(buffer), inherited) => self.buffer(id, buffer, inherited, base.is_some()),
        };
        self.out[id] = self.placed(id, kind);
    }

    fn buffer(&mut self, id: ResourceId, buffer: &Buffer, from: Option<PlanKind>, inherits: bool) -> PlanKind {
        let inherited = match from {
            Some(PlanKind::Buffer { size }) => Some(size),
            _ => None,
        };
        let size = match buffer.size.or(inherited) {
            Some(0) => {
                self.note(id, ShapeIssue::Zero(Measure::Bytes));
                1
            }
            Some(size) => self.limited(id, Measure::Bytes, size, self.profile.limits.max_buffer.min(MAX_BYTES)),
            None => {
                if !inherits {
                    self.note(id, ShapeIssue::NoSize);
                }
                1
            }
        };
        PlanKind::Buffer { size }
    }

    fn image(&mut self, id: ResourceId, image: &Image, from: Option<PlanKind>, inherits: bool) -> PlanKind {
        struct Base {
            format: Format,
            size: [u32; 3],
            mips: u32,
            layers: u32,
            samples: u32,
            volume: bool,
            cube: bool,
        }
        let base = match from {
            Some(PlanKind::Image { format, size, mips, layers, samples, volume, cube }) => {
                Some(Base { format, size, mips, layers, samples, volume, cube })
            }
            _ => None,
        };
        let base = base.as_ref();
        let limits = &self.profile.limits;
        let format = image.format.or(base.map(|b| b.format)).unwrap_or_else(|| {
            if !inherits {
                self.problems.push(ShapeProblem { resource: id, issue: ShapeIssue::NoFormat });
            }
            Format::Rgba8unorm
        });
        let cube = image.cube || base.is_some_and(|b| b.cube);
        let (size, volume) = match (image.size, base) {
            (Some(size), _) => (self.texels(id, &size), size.z.is_some()),
            (None, Some(base)) => (base.size, base.volume),
            (None, None) => ([self.reference(id, 0), self.reference(id, 1), 1], false),
        };
        let most = match (volume, cube) {
            (true, _) => limits.max_image_3d,
            (false, true) => limits.max_image_cube,
            (false, false) => limits.max_image_2d,
        };
        let mut limited = size;
        for (axis, what) in limited.iter_mut().zip(AXES) {
            *axis = self.limited(id, what, u64::from(*axis), u64::from(most)) as u32;
        }
        let size = limited;

        let full = full_mips(size);
        let mips = match image.mips {
            Some(Mips::Full) => full,
            Some(Mips::Count(0)) => {
                self.note(id, ShapeIssue::Zero(Measure::Mips));
                1
            }
            Some(Mips::Count(declared)) if declared > full => {
                self.note(id, ShapeIssue::TooManyMips { declared, most: full });
                full
            }
            Some(Mips::Count(declared)) => declared,
            None => base.map_or(1, |b| b.mips.min(full)),
        };
        let layers = match image.layers {
            Some(0) => {
                self.note(id, ShapeIssue::Zero(Measure::Layers));
                1
            }
            Some(declared) => {
                let most = u64::from(limits.max_image_layers.min(MAX_LAYERS));
                self.limited(id, Measure::Layers, u64::from(declared), most) as u32
            }
            None => base.map_or(if cube { 6 } else { 1 }, |b| b.layers),
        };
        let samples = match image.samples {
            Some(0) => {
                self.note(id, ShapeIssue::Zero(Measure::Samples));
                1
            }
            Some(declared) if !declared.is_power_of_two() => {
                self.note(id, ShapeIssue::OddSamples(declared));
                1
            }
            Some(declared) => {
                let most = limits.max_samples.min(MAX_SAMPLES);
                let within = self.limited(id, Measure::Samples, u64::from(declared), u64::from(most)) as u32;
                // A limit that is no power of two is the profile's fault, and reported for the profile.
                1 << within.max(1).ilog2()
            }
            None => base.map_or(1, |b| b.samples),
        };
        PlanKind::Image { format, size, mips, layers, samples, volume, cube }
    }

    /// `declared`, or the limit (at least 1) where that is less.
    fn limited(&mut self, id: ResourceId, what: Measure, declared: u64, most: u64) -> u64 {
        if declared > most {
            self.note(id, ShapeIssue::OverLimit { what, declared, most });
        }
        declared.min(most).max(1)
    }

    fn reference(&mut self, id: ResourceId, axis: usize) -> u32 {
        let declared = if axis < 2 { self.graph.reference_size()[axis] } else { 1 };
        if declared == 0 && !self.reference_noted {
            self.reference_noted = true;
            self.note(id, ShapeIssue::ZeroReference);
        }
        declared.max(1)
    }

    fn texels(&mut self, id: ResourceId, size: &Size) -> [u32; 3] {
        let mut texels = [1; 3];
        for (at, axis) in [Some(size.x), Some(size.y), size.z].into_iter().enumerate() {
            if let Some(axis) = axis {
                texels[at] = self.axis(id, axis, at, size.round);
            }
        }
        texels
    }

    fn axis(&mut self, id: ResourceId, axis: Axis, at: usize, round: Round) -> u32 {
        let (of, scale) = match axis {
            Axis::Texels(0) => {
                self.note(id, ShapeIssue::Zero(AXES[at]));
                return 1;
            }
            Axis::Texels(texels) => return texels,
            Axis::Scaled(of, scale) => (of, scale),
        };
        let whole = match of {
            None => self.reference(id, at),
            Some(of) => match self.out.get(of).map(|shape| shape.kind) {
                Some(PlanKind::Image { size, .. }) => size[at],
                // A placeholder while a cycle is open: the cycle is noted.
                Some(PlanKind::Buffer { .. }) if self.graph.resources()[of].as_image().is_some() => 1,
                Some(PlanKind::Buffer { .. }) => {
                    self.note(id, ShapeIssue::NotAnImage(Some(of)));
                    1
                }
                None => {
                    self.note(id, ShapeIssue::NotAnImage(None));
                    1
                }
            },
        };
        if !(scale.is_finite() && scale > 0.0) {
            self.note(id, ShapeIssue::BadScale(AXES[at], scale));
            return 1;
        }
        let product = f64::from(whole) * scale;
        let rounded = match round {
            Round::Down => product.floor(),
            Round::Up => product.ceil(),
        };
        if rounded > f64::from(u32::MAX) {
            self.note(id, ShapeIssue::Overflow(AXES[at]));
            return 1;
        }
        (rounded as u32).max(1)
    }

    /// Adds bytes and alignment; a placeholder of one texel if the bytes overflow.
    fn placed(&mut self, id: ResourceId, kind: PlanKind) -> Shape {
        let (align, aspects) = match kind {
            PlanKind::Image { format, .. } => (self.profile.image_alignment, format.aspects()),
            PlanKind::Buffer { .. } => (self.profile.buffer_alignment, Aspects::empty()),
        };
        let align = if align.is_power_of_two() && align <= MAX_ALIGN { align } else { 1 };
        let bytes = bytes_of(kind).and_then(|bytes| bytes.checked_next_multiple_of(align));
        let total = bytes.and_then(|bytes| bytes.checked_add(self.total)).filter(|total| *total <= MAX_BYTES);
        let (Some(bytes), Some(total)) = (bytes, total) else {
            self.note(id, ShapeIssue::TooManyBytes);
            let small = match kind {
                PlanKind::Image { format, volume, cube, samples, .. } => {
                    let layers = if cube { 6 } else { 1 };
                    PlanKind::Image { format, size: [1; 3], mips: 1, layers, samples, volume, cube }
                }
                PlanKind::Buffer { .. } => PlanKind::Buffer { size: 1 },
            };
            let bytes = bytes_of(small).unwrap_or(1).next_multiple_of(align);
            return Shape { kind: small, bytes, align, aspects };
        };
        self.total = total;
        Shape { kind, bytes, align, aspects }
    }
}

const AXES: [Measure; 3] = [Measure::Width, Measure::Height, Measure::Depth];

/// Mip levels from `size` down to one texel.
pub fn full_mips(size: [u32; 3]) -> u32 {
    let [width, height, depth] = size;
    width.max(height).max(depth).max(1).ilog2() + 1
}

/// Width, height and depth in texels of a mip level.
pub fn mip_size(size: [u32; 3], mip: u32) -> [u32; 3] {
    size.map(|axis| axis.checked_shr(mip).unwrap_or(0).max(1))
}

/// Bytes before rounding; `None` if they overflow.
fn bytes_of(kind: PlanKind) -> Option<u64> {
    let (format, size, mips, layers, samples) = match kind {
        PlanKind::Buffer { size } => return Some(size),
        PlanKind::Image { format, size, mips, layers, samples, .. } => (format, size, mips, layers, samples),
    };
    let [block_width, block_height] = format.block();
    let mut blocks = 0u64;
    for mip in 0..mips {
        let [width, height, depth] = mip_size(size, mip);
        let across = u64::from(width.div_ceil(block_width));
        let down = u64::from(height.div_ceil(block_height));
        blocks = blocks.checked_add(across.checked_mul(down)?.checked_mul(u64::from(depth))?)?;
    }
    let texels = blocks.checked_mul(u64::from(layers))?.checked_mul(u64::from(samples))?;
    texels.checked_mul(format.block_bytes())
}

/// Whether `top`, which modifies `below`, is the same memory: it is unless their sizes differ.
pub(crate) fn shares_memory(shapes: &IdVec<ResourceId, Shape>, top: ResourceId, below: ResourceId) -> bool {
    match (shapes[top].kind, shapes[below].kind) {
        (PlanKind::Image { size: a, .. }, PlanKind::Image { size: b, .. }) => a == b,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
