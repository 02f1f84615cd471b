//! Resources cut into cells, the pieces that hold one word each: mip, layer, aspect and half of an image, 512 bytes of
//! a buffer. Halves show what writes that cover only a part keep.

use rgraph_plan::access::Aspects;
use rgraph_plan::format::Format;
use rgraph_plan::graph::Graph;
use rgraph_plan::resource::{Axis, Kind, Life, Mips, ResourceId};

use super::words::Class;

/// Bytes of a cell of a buffer.
pub const CELL: u64 = 512;

/// A resource's extent and cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// `None` of buffers.
    pub format: Option<Format>,
    pub size: [u32; 3],
    pub mips: u32,
    pub layers: u32,
    pub samples: u32,
    pub volume: bool,
    pub aspects: Vec<Aspects>,
    /// Of buffers.
    pub bytes: u64,
}

/// A box of texels of one level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Texels {
    pub offset: [u32; 3],
    pub size: [u32; 3],
}

impl Texels {
    /// How many.
    pub fn count(&self) -> u32 {
        self.size.iter().product()
    }
}

/// Where a cell of an image is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    pub mip: u32,
    pub layer: u32,
    pub aspect: usize,
    pub half: u32,
}

impl Shape {
    /// The shapes of all resources of a graph whose sizes are in texels or relative to the reference size.
    pub fn all(graph: &Graph) -> Vec<Self> {
        let mut shapes: Vec<Self> = Vec::new();
        for resource in graph.resources() {
            let base = resource.modifies.or(match resource.life {
                Life::History(history) => Some(history.of),
                _ => None,
            });
            let base: Option<Self> = base.map(|base| shapes[rgraph_plan::id::Id::index(base)].clone());
            shapes.push(match &resource.kind {
                Kind::Buffer(buffer) => {
                    let bytes = buffer.size.or(base.map(|base| base.bytes)).unwrap_or(0);
                    let aspects = Vec::new();
                    Self { format: None, size: [1; 3], mips: 1, layers: 1, samples: 1, volume: false, aspects, bytes }
                }
                Kind::Image(image) => {
                    let reference = [graph.reference_size()[0], graph.reference_size()[1], 1];
                    let axis = |axis: Axis, at: usize| match axis {
                        Axis::Texels(texels) => texels,
                        Axis::Scaled(_, scale) => (f64::from(reference[at]) * scale) as u32,
                    };
                    let size = match (image.size, &base) {
                        (Some(size), _) => [axis(size.x, 0), axis(size.y, 1), size.z.map_or(1, |z| axis(z, 2))],
                        (None, Some(base)) => base.size,
                        (None, None) => reference,
                    };
                    let format = image.format.or(base.as_ref().and_then(|base| base.format));
                    let full = 32 - size.iter().max().map_or(0, |most| most.leading_zeros());
                    let all = [Aspects::COLOR, Aspects::DEPTH, Aspects::STENCIL];
                    let has = format.map_or(Aspects::COLOR, Format::aspects);
                    Self {
                        format,
                        size,
                        mips: match image.mips {
                            None => base.as_ref().map_or(1, |base| base.mips.min(full)),
                            Some(Mips::Full) => full,
                            Some(Mips::Count(count)) => count,
                        },
                        layers: image.layers.or(base.as_ref().map(|base| base.layers)).unwrap_or(if image.cube {
                            6
                        } else {
                            1
                        }),
                        samples: image.samples.or(base.as_ref().map(|base| base.samples)).unwrap_or(1),
                        volume: image.size.map_or(base.is_some_and(|base| base.volume), |size| size.z.is_some()),
                        aspects: all.into_iter().filter(|aspect| has.contains(*aspect)).collect(),
                        bytes: 0,
                    }
                }
            });
        }
        shapes
    }

    /// Whether it is an image.
    pub fn is_image(&self) -> bool {
        self.format.is_some()
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        if self.is_image() {
            (self.mips * self.layers) as usize * self.aspects.len() * 2
        } else {
            self.bytes.div_ceil(CELL) as usize
        }
    }

    /// The cell at a spot.
    pub fn cell(&self, spot: Spot) -> usize {
        (((spot.mip * self.layers + spot.layer) as usize * self.aspects.len()) + spot.aspect) * 2 + spot.half as usize
    }

    /// The spot of a cell.
    pub fn spot(&self, cell: usize) -> Spot {
        let (half, rest) = (cell as u32 % 2, cell / 2);
        let (aspect, rest) = (rest % self.aspects.len(), (rest / self.aspects.len()) as u32);
        Spot { mip: rest / self.layers, layer: rest % self.layers, aspect, half }
    }

    /// What a cell can hold.
    pub fn class(&self, cell: usize) -> Class {
        self.format.map_or(Class::Uint, |format| Class::of(format, self.aspects[self.spot(cell).aspect]))
    }

    /// Texels of a mip level.
    pub fn level(&self, mip: u32) -> [u32; 3] {
        self.size.map(|axis| (axis >> mip).max(1))
    }

    /// The texels of a half of a level: the left one may be empty.
    pub fn texels(&self, mip: u32, half: u32) -> Texels {
        let [width, height, depth] = self.level(mip);
        let middle = width / 2;
        match half {
            0 => Texels { offset: [0; 3], size: [middle, height, depth] },
            _ => Texels { offset: [middle, 0, 0], size: [width - middle, height, depth] },
        }
    }

    /// Whether a cell has any texel.
    pub fn is_there(&self, cell: usize) -> bool {
        let there = |spot: Spot| self.texels(spot.mip, spot.half).count() > 0;
        !self.is_image() || there(self.spot(cell))
    }
}

/// The position of an id.
pub fn index(id: ResourceId) -> usize {
    rgraph_plan::id::Id::index(id)
}
