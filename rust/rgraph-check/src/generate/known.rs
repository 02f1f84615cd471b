//! What the generator knows of a resource that it declared: its shape, and which of its subresources hold what.
//!
//! A subresource is a mip of a layer of an aspect, or an eighth of a buffer; a set of them is a bit mask.

use rgraph_ir::access::Aspects;
use rgraph_ir::format::{Format, Numbers};
use rgraph_ir::graph::Ranges;
use rgraph_ir::resource::ResourceId;

rgraph_ir::id! {
    /// A resource that the generator declared.
    pub(super) struct KnownId;
}

/// Subresources of a buffer.
pub(super) const BLOCKS: u32 = 8;

/// Most flags of a graph.
pub(super) const MOST_FLAGS: usize = 4;

/// Image or buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Image,
    Buffer,
    /// A buffer that holds an acceleration structure.
    Structure,
}

/// The shape of a resource.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Shape {
    pub(super) what: What,
    /// Of an image; of a buffer it does not count.
    pub(super) format: Format,
    /// Texels of an image, depth 1 unless it is a volume.
    pub(super) size: [u32; 3],
    pub(super) volume: bool,
    pub(super) cube: bool,
    pub(super) mips: u32,
    pub(super) layers: u32,
    pub(super) samples: u32,
    /// Bytes of a buffer.
    pub(super) bytes: u64,
}

impl Shape {
    /// A 2D image of one mip, layer and sample.
    pub(super) fn image(format: Format, width: u32, height: u32) -> Self {
        Self {
            what: What::Image,
            format,
            size: [width, height, 1],
            volume: false,
            cube: false,
            mips: 1,
            layers: 1,
            samples: 1,
            bytes: 0,
        }
    }

    pub(super) fn buffer(bytes: u64) -> Self {
        Self { what: What::Buffer, bytes, ..Self::image(Format::R8unorm, 1, 1) }
    }

    pub(super) fn is_image(&self) -> bool {
        self.what == What::Image
    }

    pub(super) fn is_depth(&self) -> bool {
        self.is_image() && self.format.is_depth_stencil()
    }

    pub(super) fn is_color(&self) -> bool {
        self.is_image() && !self.is_depth() && !self.is_block()
    }

    pub(super) fn is_block(&self) -> bool {
        self.is_image() && self.format.numbers() == Numbers::Block
    }

    /// Whether shaders can read and write it in place, buffers included.
    pub(super) fn stores(&self) -> bool {
        !self.is_image() || self.samples == 1 && !self.is_block() && !self.format.name().ends_with("-srgb")
    }

    /// Whether a linear filter can make mips and scaled copies of it.
    pub(super) fn blends(&self) -> bool {
        self.is_image() && matches!(self.format.numbers(), Numbers::Float | Numbers::Unorm | Numbers::Snorm)
    }

    pub(super) fn aspects(&self) -> Aspects {
        if self.is_image() { self.format.aspects() } else { Aspects::empty() }
    }

    /// The bytes of an eighth of a buffer.
    pub(super) fn block(&self, at: u32) -> [u64; 2] {
        let size = self.bytes / u64::from(BLOCKS);
        [u64::from(at) * size, u64::from(at + 1) * size]
    }

    /// All subresources.
    pub(super) fn whole(&self) -> u128 {
        self.subresources(&Ranges::default(), Aspects::empty())
    }

    /// The subresources that ranges and aspects name; empty aspects are all.
    pub(super) fn subresources(&self, ranges: &Ranges, aspects: Aspects) -> u128 {
        if !self.is_image() {
            let block = self.bytes / u64::from(BLOCKS);
            let [first, end] = ranges.bytes.unwrap_or([0, self.bytes]);
            return bits((first / block) as u32, end.div_ceil(block) as u32);
        }
        let [first, end] = ranges.mips.unwrap_or([0, self.mips]);
        let [layer, layers] = ranges.layers.unwrap_or([0, self.layers]);
        let mut subresources = 0;
        for (plane, aspect) in (0..).zip(self.aspects().iter()) {
            if aspects.is_empty() || aspects.contains(aspect) {
                for layer in layer..layers {
                    let row = (plane * self.layers + layer) * self.mips;
                    subresources |= bits(row + first, row + end);
                }
            }
        }
        subresources
    }
}

fn bits(first: u32, end: u32) -> u128 {
    let below = |end: u32| 1_u128.checked_shl(end).map_or(u128::MAX, |bit| bit - 1);
    below(end) & !below(first)
}

/// What may still be done with a resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Left {
    Everything,
    /// Reads, and writes that replace all.
    Replacing,
    Reads,
    Nothing,
}

/// A declared resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) id: ResourceId,
    pub(super) shape: Shape,
    /// The resource whose memory this one is in: itself, or what it modifies.
    pub(super) memory: KnownId,
    pub(super) transient: bool,
    /// Whether it modifies another in its memory.
    pub(super) modifies: bool,
    /// Whether a history remembers it, or it is one.
    pub(super) history: bool,
    pub(super) left: Left,
    /// Subresources that hold something whatever the flags are.
    pub(super) defined: u128,
    /// Subresources that hold something only while a flag is on.
    pub(super) only: [u128; MOST_FLAGS],
    /// Subresources that some pass wrote, even with undefined contents.
    pub(super) written: u128,
    /// Open debts whose early passes come before something that used it.
    pub(super) taint: u16,
    /// The debt that waits for a writer of it, and subresources of which that writer must write some: those that all
    /// early readers read, none where nobody may read before the writer.
    pub(super) owed: Option<(u16, u128)>,
    /// What its readers get while the flag of its writer is off.
    pub(super) falls: Option<KnownId>,
    /// Whether a conditional pass uses it.
    pub(super) switched: bool,
    /// Whether it is to be a root, if it can be.
    pub(super) root: bool,
}

impl Known {
    /// Subresources that a pass under `flag` finds contents in.
    pub(super) fn readable(&self, flag: Option<usize>) -> u128 {
        self.defined | flag.map_or(0, |flag| self.only[flag])
    }

    /// Subresources that a pass under `flag` must not read: they hold something under other flags only.
    pub(super) fn blocked(&self, flag: Option<usize>) -> u128 {
        let others = self.only.iter().enumerate().filter(|(at, _)| Some(*at) != flag);
        others.fold(0, |subresources, (_, only)| subresources | only)
    }

    /// Notes a write of a pass under `flag`.
    pub(super) fn write(&mut self, subresources: u128, flag: Option<usize>) {
        self.written |= subresources;
        match flag {
            None => {
                self.defined |= subresources;
                self.only.iter_mut().for_each(|only| *only &= !subresources);
            }
            Some(flag) => self.only[flag] |= subresources & !self.defined & !self.blocked(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subresources_are_mips_of_layers_of_aspects_and_eighths_of_buffers() {
        let mut shape = Shape { mips: 3, layers: 2, ..Shape::image(Format::Rgba8unorm, 8, 8) };
        assert_eq!(shape.whole(), 0b111_111);
        let ranges = Ranges { mips: Some([1, 2]), layers: Some([1, 2]), bytes: None };
        assert_eq!(shape.subresources(&ranges, Aspects::empty()), 0b010_000);
        shape = Shape { layers: 2, ..Shape::image(Format::Depth24plusStencil8, 8, 8) };
        assert_eq!(shape.subresources(&Ranges::default(), Aspects::STENCIL), 0b11_00);
        let ranges = Ranges { bytes: Some([512, 1024]), ..Ranges::default() };
        assert_eq!(Shape::buffer(4096).subresources(&ranges, Aspects::empty()), 0b10);
        assert_eq!(Shape::buffer(4096).whole(), 0xff);
    }

    #[test]
    fn what_is_written_under_a_flag_is_readable_under_it_alone() {
        let shape = Shape::buffer(8);
        let mut known = Known {
            id: rgraph_ir::id::Id::new(0),
            shape,
            memory: rgraph_ir::id::Id::new(0),
            transient: true,
            modifies: false,
            history: false,
            left: Left::Everything,
            defined: 0b1,
            only: [0; MOST_FLAGS],
            written: 0b1,
            taint: 0,
            owed: None,
            falls: None,
            switched: false,
            root: false,
        };
        known.write(0b11, Some(2));
        assert_eq!((known.readable(None), known.readable(Some(2)), known.readable(Some(1))), (0b1, 0b11, 0b1));
        assert_eq!((known.blocked(None), known.blocked(Some(2)), known.blocked(Some(1))), (0b10, 0, 0b10));
        known.write(0b10, None);
        assert_eq!((known.defined, known.blocked(None)), (0b11, 0));
    }
}
