//! Sizes resolved, memory under several names found, and resources cut into subresources: the smallest subresources
//! that any use or barrier names apart.

use rgraph_ir::access::Aspects;
use rgraph_ir::format::Format;
use rgraph_ir::graph::Graph;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::resource::{Axis, Image, Kind, Life, Mips, ResourceId, Round};

use crate::ids::SubresourceId;

/// A resource's extent, resolved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Shape {
    pub format: Option<Format>,
    pub size: [u32; 3],
    pub mips: u32,
    pub layers: u32,
    pub samples: u32,
    pub aspects: Aspects,
    /// Bytes of the texels, or of the buffer.
    pub bytes: u64,
    pub volume: bool,
}

impl Shape {
    pub(crate) fn is_image(&self) -> bool {
        self.format.is_some()
    }
}

/// The shapes of all resources. Relative sizes that go round in circles end at the reference size: validation has
/// refused them, and a checker must not hang on them.
pub(crate) fn shapes(graph: &Graph) -> IdVec<ResourceId, Shape> {
    let mut shapes = IdVec::filled(None, graph.resources().len());
    for id in graph.resources().ids() {
        shape(graph, id, &mut shapes, 0);
    }
    shapes.iter().map(|shape| shape.unwrap_or_else(|| empty(graph))).collect()
}

fn empty(graph: &Graph) -> Shape {
    let [width, height] = graph.reference_size();
    Shape {
        format: Some(Format::Rgba8unorm),
        size: [width, height, 1],
        mips: 1,
        layers: 1,
        samples: 1,
        aspects: Aspects::COLOR,
        bytes: 0,
        volume: false,
    }
}

/// Chains of sizes longer than this are refused by nobody, but recursion must end.
const DEEPEST: usize = 2000;

fn shape(graph: &Graph, id: ResourceId, shapes: &mut IdVec<ResourceId, Option<Shape>>, depth: usize) -> Shape {
    let Some(known) = shapes.get(id) else { return empty(graph) };
    if let Some(shape) = known {
        return *shape;
    }
    if depth > DEEPEST {
        return empty(graph);
    }
    let resource = &graph.resources()[id];
    let base = match (resource.modifies, resource.life) {
        (Some(base), _) => Some(base),
        (None, Life::History(history)) => Some(history.of),
        _ => None,
    };
    let base = base.map(|base| shape(graph, base, shapes, depth + 1));
    let shape = match &resource.kind {
        Kind::Buffer(buffer) => {
            let size = buffer.size.or(base.map(|base| base.bytes)).unwrap_or(0);
            Shape { format: None, aspects: Aspects::empty(), bytes: size, size: [1, 1, 1], ..empty(graph) }
        }
        Kind::Image(image) => image_shape(graph, image, base, shapes, depth),
    };
    shapes[id] = Some(shape);
    shape
}

fn image_shape(
    graph: &Graph,
    image: &Image,
    base: Option<Shape>,
    shapes: &mut IdVec<ResourceId, Option<Shape>>,
    depth: usize,
) -> Shape {
    let format = image.format.or(base.and_then(|base| base.format)).unwrap_or(Format::Rgba8unorm);
    let [width, height] = graph.reference_size();
    let mut volume = base.is_some_and(|base| base.volume);
    let mut size = base.map_or([width, height, 1], |base| base.size);
    if let Some(size_of) = image.size {
        let mut axis = |axis: Axis, at: usize| match axis {
            Axis::Texels(n) => n.max(1),
            Axis::Scaled(of, scale) => {
                let whole = match of {
                    None => [width, height, 1][at],
                    Some(of) => shape(graph, of, shapes, depth + 1).size[at],
                };
                let scaled = f64::from(whole) * scale;
                let rounded = if size_of.round == Round::Up { scaled.ceil() } else { scaled.floor() };
                (rounded as u32).max(1)
            }
        };
        size = [axis(size_of.x, 0), axis(size_of.y, 1), size_of.z.map_or(1, |z| axis(z, 2))];
        volume = size_of.z.is_some();
    }
    let samples = image.samples.or(base.map(|base| base.samples)).unwrap_or(1);
    let layers = image.layers.or(base.map(|base| base.layers)).unwrap_or(if image.cube { 6 } else { 1 });
    let full = 32 - size[0].max(size[1]).max(size[2]).leading_zeros();
    let mips = match image.mips {
        None => base.map_or(1, |base| base.mips.min(full)),
        Some(Mips::Full) => full,
        Some(Mips::Count(n)) => n.clamp(1, 32),
    };
    let bytes = crate::tables::texel_bytes(format, size, mips, layers, samples).unwrap_or(u64::MAX);
    let aspects = match format.name() {
        "stencil8" => Aspects::STENCIL,
        name if name.starts_with("depth") && name.ends_with("stencil8") => Aspects::DEPTH | Aspects::STENCIL,
        name if name.starts_with("depth") => Aspects::DEPTH,
        _ => Aspects::COLOR,
    };
    Shape { format: Some(format), size, mips, layers, samples, aspects, bytes, volume }
}

/// A part of a resource: a box of an image, or bytes of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SubresourceRange {
    pub mips: [u32; 2],
    pub layers: [u32; 2],
    pub aspects: Aspects,
    pub bytes: [u64; 2],
}

impl SubresourceRange {
    /// Everything.
    pub(crate) const ALL: Self =
        Self { mips: [0, u32::MAX], layers: [0, u32::MAX], aspects: Aspects::all(), bytes: [0, u64::MAX] };

    /// Part of an image.
    pub(crate) fn image(mips: [u32; 2], layers: [u32; 2], aspects: Aspects) -> Self {
        Self { mips, layers, aspects, ..Self::ALL }
    }

    /// Part of a buffer.
    pub(crate) fn buffer(bytes: [u64; 2]) -> Self {
        Self { bytes, ..Self::ALL }
    }
}

/// A memory cut into subresources, numbered mip by mip, layer by layer, aspect by aspect, or byte interval by interval.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    image: bool,
    mips: Vec<u64>,
    layers: Vec<u64>,
    aspects: Vec<Aspects>,
    bytes: Vec<u64>,
}

impl Grid {
    /// An uncut grid.
    pub(crate) fn new(shape: &Shape) -> Self {
        let aspects = [Aspects::COLOR, Aspects::DEPTH, Aspects::STENCIL];
        Self {
            image: shape.is_image(),
            mips: vec![0, u64::from(shape.mips)],
            layers: vec![0, u64::from(shape.layers)],
            aspects: aspects.into_iter().filter(|aspect| shape.aspects.contains(*aspect)).collect(),
            bytes: vec![0, shape.bytes.max(1)],
        }
    }

    /// Notes the ends of a part; [`Grid::finish`] must follow.
    pub(crate) fn cut(&mut self, part: &SubresourceRange) {
        let note = |cuts: &mut Vec<u64>, ends: [u64; 2]| {
            let last = cuts[1];
            cuts.extend(ends.into_iter().filter(|end| *end < last));
        };
        if self.image {
            note(&mut self.mips, part.mips.map(u64::from));
            note(&mut self.layers, part.layers.map(u64::from));
        } else {
            note(&mut self.bytes, part.bytes);
        }
    }

    /// Sorts the cuts.
    pub(crate) fn finish(&mut self) {
        for cuts in [&mut self.mips, &mut self.layers, &mut self.bytes] {
            cuts.sort_unstable();
            cuts.dedup();
        }
    }

    /// Number of subresources.
    pub(crate) fn len(&self) -> usize {
        if self.image {
            (self.mips.len() - 1) * (self.layers.len() - 1) * self.aspects.len()
        } else {
            self.bytes.len() - 1
        }
    }

    /// All subresources, ascending.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = SubresourceId> + ExactSizeIterator + use<> {
        (0..self.len()).map(SubresourceId::new)
    }

    /// The subresources of a part, ascending.
    pub(crate) fn subresources(&self, part: &SubresourceRange) -> Vec<SubresourceId> {
        let span = |cuts: &[u64], [first, end]: [u64; 2]| {
            let from = cuts.partition_point(|cut| *cut <= first).saturating_sub(1);
            let to = cuts.partition_point(|cut| *cut < end).min(cuts.len() - 1);
            if first < end { from..to } else { 0..0 }
        };
        if !self.image {
            return span(&self.bytes, part.bytes).map(SubresourceId::new).collect();
        }
        let mut subresources = Vec::new();
        for mip in span(&self.mips, part.mips.map(u64::from)) {
            for layer in span(&self.layers, part.layers.map(u64::from)) {
                for (at, aspect) in self.aspects.iter().enumerate() {
                    if part.aspects.contains(*aspect) {
                        let index = (mip * (self.layers.len() - 1) + layer) * self.aspects.len() + at;
                        subresources.push(SubresourceId::new(index));
                    }
                }
            }
        }
        subresources
    }

    /// The part that a subresource is.
    pub(crate) fn part(&self, subresource: SubresourceId) -> SubresourceRange {
        let subresource = subresource.index();
        if !self.image {
            return SubresourceRange::buffer([self.bytes[subresource], self.bytes[subresource + 1]]);
        }
        let layer = subresource / self.aspects.len() % (self.layers.len() - 1);
        let mip = subresource / self.aspects.len() / (self.layers.len() - 1);
        let ends = |cuts: &[u64], at: usize| [cuts[at] as u32, cuts[at + 1] as u32];
        SubresourceRange::image(ends(&self.mips, mip), ends(&self.layers, layer), self.aspect_at(subresource))
    }

    fn aspect_at(&self, index: usize) -> Aspects {
        if self.image { self.aspects[index % self.aspects.len()] } else { Aspects::empty() }
    }

    /// Which aspect a subresource is of; empty for buffers.
    pub(crate) fn aspect(&self, subresource: SubresourceId) -> Aspects {
        self.aspect_at(subresource.index())
    }

    /// A subresource in words: `mips 0..1 layers 0..6 depth`, or `bytes 0..256`; empty for a whole resource.
    pub(crate) fn describe(&self, subresource: SubresourceId) -> String {
        if self.len() == 1 {
            return String::new();
        }
        let subresource = subresource.index();
        if !self.image {
            return format!("bytes {}..{}", self.bytes[subresource], self.bytes[subresource + 1]);
        }
        let aspect = subresource % self.aspects.len();
        let layer = subresource / self.aspects.len() % (self.layers.len() - 1);
        let mip = subresource / self.aspects.len() / (self.layers.len() - 1);
        let mut words = Vec::new();
        if self.mips.len() > 2 {
            words.push(format!("mips {}..{}", self.mips[mip], self.mips[mip + 1]));
        }
        if self.layers.len() > 2 {
            words.push(format!("layers {}..{}", self.layers[layer], self.layers[layer + 1]));
        }
        if self.aspects.len() > 1 {
            words.extend(self.aspects[aspect].names().map(str::to_owned));
        }
        words.join(" ")
    }
}
