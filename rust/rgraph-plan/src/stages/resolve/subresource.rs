//! Subresources: the smallest parts of a resource that all accesses name alike. An image is cut where ranges of mips,
//! layers or aspects begin and end, a buffer where byte ranges do; most resources are one subresource.

use crate::access::Aspects;
use crate::graph::Ranges;
use crate::id::{Id, IdSpan, IdVec, Span};
use crate::plan::PlanKind;
use crate::resource::ResourceId;
use crate::stages::ids::SubresourceId;
use crate::stages::size::Shape;

/// What part of a resource a subresource is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subresource {
    /// The resource whose memory it is part of.
    pub memory: ResourceId,
    /// Mip levels, half-open.
    pub mips: [u32; 2],
    /// Array layers, half-open.
    pub layers: [u32; 2],
    /// Aspects; empty for buffers.
    pub aspects: Aspects,
    /// Bytes of a buffer, half-open.
    pub bytes: [u64; 2],
}

/// Part of a resource, as wide as an access says or implies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubresourceRange {
    /// Mip levels, half-open.
    pub mips: [u32; 2],
    /// Array layers, half-open.
    pub layers: [u32; 2],
    /// Aspects; empty for buffers.
    pub aspects: Aspects,
    /// Bytes of a buffer, half-open.
    pub bytes: [u64; 2],
}

impl Subresource {
    /// Which part of its memory it is.
    pub fn part(&self) -> SubresourceRange {
        let Self { memory: _, mips, layers, aspects, bytes } = *self;
        SubresourceRange { mips, layers, aspects, bytes }
    }
}

impl SubresourceRange {
    /// All of a resource.
    pub fn whole(shape: &Shape) -> Self {
        match shape.kind {
            PlanKind::Image { mips, layers, .. } => {
                Self { mips: [0, mips], layers: [0, layers], aspects: shape.aspects, bytes: [0, 0] }
            }
            PlanKind::Buffer { size } => {
                Self { mips: [0, 0], layers: [0, 0], aspects: Aspects::empty(), bytes: [0, size] }
            }
        }
    }

    /// The subresources that `ranges` select; `first_mip_only`: the default of attachments and writes.
    pub fn of(shape: &Shape, ranges: &Ranges, aspects: Aspects, first_mip_only: bool) -> Self {
        let mut part = Self::whole(shape);
        match shape.kind {
            PlanKind::Image { .. } => {
                part.mips = ranges.mips.unwrap_or(if first_mip_only { [0, 1] } else { part.mips });
                part.layers = ranges.layers.unwrap_or(part.layers);
                if !aspects.is_empty() {
                    part.aspects = aspects & shape.aspects;
                }
            }
            PlanKind::Buffer { .. } => part.bytes = ranges.bytes.unwrap_or(part.bytes),
        }
        part
    }
}

/// Where the resources of one ring (a memory under all its names, and its histories) are cut.
#[derive(Clone, Copy, Default, Debug)]
struct Grid {
    mips: Span,
    layers: Span,
    bytes: Span,
    aspects: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Axis {
    Mips,
    Layers,
    Bytes,
    Aspects,
}

/// All subresources of a graph, and how ranges fall into them.
#[derive(Default, Debug)]
pub struct Subresources {
    subresources: IdVec<SubresourceId, Subresource>,
    /// By memory.
    spans: IdVec<ResourceId, IdSpan<SubresourceId>>,
    grids: IdVec<ResourceId, Option<u32>>,
    cut: Vec<Grid>,
    bounds: Vec<u64>,
    wanted: Vec<(ResourceId, Axis, u64)>,
}

impl Subresources {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self, resources: usize) {
        self.subresources.clear();
        self.spans.refill(IdSpan::default(), resources);
        self.grids.refill(None, resources);
        self.cut.clear();
        self.bounds.clear();
        self.wanted.clear();
    }

    /// Asks for cuts around `part` of a resource of the ring of `ring_base`, whose whole is `whole`.
    pub fn cut(&mut self, ring_base: ResourceId, whole: &SubresourceRange, part: &SubresourceRange) {
        if part == whole {
            return;
        }
        for (axis, all, some) in [(Axis::Mips, whole.mips, part.mips), (Axis::Layers, whole.layers, part.layers)] {
            for (edge, outer) in some.into_iter().zip(all) {
                if edge != outer {
                    self.wanted.push((ring_base, axis, u64::from(edge)));
                }
            }
        }
        for (edge, outer) in part.bytes.into_iter().zip(whole.bytes) {
            if edge != outer {
                self.wanted.push((ring_base, Axis::Bytes, edge));
            }
        }
        if part.aspects != whole.aspects {
            self.wanted.push((ring_base, Axis::Aspects, 0));
        }
    }

    /// Makes the grids of all cuts asked for. O(c log c) in the number of cuts.
    pub fn make_grids(&mut self, shapes: &IdVec<ResourceId, Shape>) {
        if self.wanted.is_empty() {
            return;
        }
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.sort_unstable();
        wanted.dedup();
        for of_ring in wanted.chunk_by(|a, b| a.0 == b.0) {
            let ring_base = of_ring[0].0;
            let whole = SubresourceRange::whole(&shapes[ring_base]);
            let mut axis = |axis: Axis, first: u64, end: u64| {
                let start = self.bounds.len();
                self.bounds.push(first);
                self.bounds.extend(of_ring.iter().filter(|c| c.1 == axis).map(|c| c.2));
                self.bounds.push(end);
                Span::new(start, self.bounds.len())
            };
            let grid = Grid {
                mips: axis(Axis::Mips, whole.mips[0].into(), whole.mips[1].into()),
                layers: axis(Axis::Layers, whole.layers[0].into(), whole.layers[1].into()),
                bytes: axis(Axis::Bytes, whole.bytes[0], whole.bytes[1]),
                aspects: of_ring.iter().any(|c| c.1 == Axis::Aspects),
            };
            self.grids[ring_base] = Some(self.cut.len() as u32);
            self.cut.push(grid);
        }
        self.wanted = wanted;
    }

    /// Makes the subresources of a memory that is cut like all of its ring.
    pub fn make_subresources(&mut self, memory: ResourceId, ring_base: ResourceId, shape: &Shape) {
        let start = self.subresources.len();
        let whole = SubresourceRange::whole(shape);
        match self.grids[ring_base] {
            None => {
                let SubresourceRange { mips, layers, aspects, bytes } = whole;
                self.subresources.push(Subresource { memory, mips, layers, aspects, bytes });
            }
            Some(at) => {
                let grid = self.cut[at as usize];
                let split = grid.aspects && whole.aspects.bits().count_ones() > 1;
                let halves = if split { [Aspects::DEPTH, Aspects::STENCIL] } else { [whole.aspects; 2] };
                for &aspects in &halves[..if split { 2 } else { 1 }] {
                    for m in self.bounds[grid.mips.range()].windows(2) {
                        for l in self.bounds[grid.layers.range()].windows(2) {
                            for b in self.bounds[grid.bytes.range()].windows(2) {
                                self.subresources.push(Subresource {
                                    memory,
                                    mips: [m[0] as u32, m[1] as u32],
                                    layers: [l[0] as u32, l[1] as u32],
                                    aspects,
                                    bytes: [b[0], b[1]],
                                });
                            }
                        }
                    }
                }
                self.grids[memory] = Some(at);
            }
        }
        self.spans[memory] = IdSpan::new(start, self.subresources.len());
    }

    /// Calls `run(first, count)` for every run of consecutive subresources of `memory` that `part` covers.
    #[inline]
    pub fn runs(&self, memory: ResourceId, part: &SubresourceRange, mut run: impl FnMut(IdSpan<SubresourceId>)) {
        let span = self.spans[memory];
        let Some(at) = self.grids[memory] else {
            run(span);
            return;
        };
        let grid = self.cut[at as usize];
        let find = |bounds: Span, first: u64, end: u64| {
            let bounds = &self.bounds[bounds.range()];
            let from = bounds.partition_point(|&b| b < first);
            let to = bounds.partition_point(|&b| b < end);
            (from as u32, to.max(from) as u32, bounds.len() as u32 - 1)
        };
        let (m0, m1, mips) = find(grid.mips, part.mips[0].into(), part.mips[1].into());
        let (l0, l1, layers) = find(grid.layers, part.layers[0].into(), part.layers[1].into());
        let (b0, b1, bytes) = find(grid.bytes, part.bytes[0], part.bytes[1]);
        let whole_aspects = self.subresources[span.first()].aspects;
        let planes = span.len() as u32 / (mips * layers * bytes).max(1);
        for plane in 0..planes {
            if planes > 1 {
                let aspect = if plane == 0 { Aspects::DEPTH } else { Aspects::STENCIL };
                if !part.aspects.contains(aspect) {
                    continue;
                }
            }
            debug_assert!(planes > 1 || whole_aspects == part.aspects || part.bytes[1] > 0);
            let base = span.first().index() + (plane * mips * layers * bytes) as usize;
            let mut run = |from: u32, to: u32| run(IdSpan::new(base + from as usize, base + to as usize));
            if bytes > 1 {
                run(b0, b1);
            } else if l0 == 0 && l1 == layers {
                run(m0 * layers, m1 * layers);
            } else {
                for m in m0..m1 {
                    run(m * layers + l0, m * layers + l1);
                }
            }
        }
    }

    /// The subresource that is all of a memory, if no range cuts it.
    #[inline]
    pub fn whole(&self, memory: ResourceId) -> Option<SubresourceId> {
        self.grids[memory].is_none().then_some(self.spans[memory].first())
    }

    /// The subresources of a memory.
    pub fn of(&self, memory: ResourceId) -> IdSpan<SubresourceId> {
        self.spans[memory]
    }

    /// What a subresource is.
    #[inline]
    pub fn get(&self, subresource: SubresourceId) -> &Subresource {
        &self.subresources[subresource]
    }

    /// Number of subresources.
    pub fn count(&self) -> usize {
        self.subresources.len()
    }
}
