//! Resources, declared with what the bytes say of their shape, life and sharing.

use rgraph_ir::access::{Accesses, Layout, MemoryDomain, PassQueue, Sharing, Stages};
use rgraph_ir::format::Format;
use rgraph_ir::resource::{Axis, Buffer, Image, Imported, Kind, Leave, Life, Mips, Resource, Round, Size};

use super::known::{Known, KnownId, Left, MOST_FLAGS, Shape, What};
use super::{Construct, Maker};

/// Width and height that relative sizes are relative to.
pub(super) const REFERENCE: u32 = 256;

const SIDES: [u32; 3] = [256, 128, 64];
const COLORS: [Format; 4] = [Format::Rgba8unorm, Format::Rgba16float, Format::R32float, Format::Rg11b10ufloat];
const ODD_COLORS: [Format; 9] = [
    Format::Rgba8unorm,
    Format::Rgba16float,
    Format::R32float,
    Format::R32uint,
    Format::Rgba8sint,
    Format::Rgba8unormSrgb,
    Format::Rgb10a2unorm,
    Format::Rg32float,
    Format::R8unorm,
];
const DEPTHS: [Format; 5] = [
    Format::Depth32float,
    Format::Depth24plusStencil8,
    Format::Depth32floatStencil8,
    Format::Depth16unorm,
    Format::Stencil8,
];

impl Maker {
    /// Whether a construct may occur.
    pub(super) fn allows(&self, construct: Construct) -> bool {
        !self.limits.without.contains(construct)
    }

    pub(super) fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub(super) fn drawn_color(&mut self) -> Format {
        if self.allows(Construct::OddFormats) { self.source.pick(&ODD_COLORS) } else { self.source.pick(&COLORS) }
    }

    pub(super) fn drawn_depth(&mut self) -> Format {
        let count = if self.allows(Construct::StencilAlone) { DEPTHS.len() } else { DEPTHS.len() - 1 };
        self.source.pick(&DEPTHS[..count])
    }

    fn drawn_sides(&mut self) -> (u32, u32) {
        let choice = self.source.below(15);
        let width = SIDES[choice % 3];
        let height = if choice >= 12 && self.allows(Construct::OddSizes) { SIDES[(choice + 1) % 3] } else { width };
        (width, height)
    }

    /// A 2D colour image of one mip, layer and sample.
    pub(super) fn drawn_target(&mut self) -> Shape {
        let format = self.drawn_color();
        let (width, height) = self.drawn_sides();
        Shape::image(format, width, height)
    }

    /// Any colour image of one sample.
    pub(super) fn drawn_image(&mut self) -> Shape {
        let mut shape = self.drawn_target();
        let choice = self.source.below(16);
        if matches!(choice, 8..=11) {
            shape.mips = self.source.pick(&[2, 3, 4]);
        }
        match choice {
            10..=13 => shape.layers = self.source.pick(&[2, 3, 4]),
            7 => shape.mips = 32 - shape.size[0].max(shape.size[1]).leading_zeros(),
            14 => (shape.size[1], shape.layers, shape.cube) = (shape.size[0], 6, true),
            15 => (shape.size, shape.volume) = ([16, 16, 16], true),
            6 if self.allows(Construct::OddFormats) => shape.format = Format::Bc1RgbaUnorm,
            _ => {}
        }
        shape
    }

    pub(super) fn drawn_buffer(&mut self) -> Shape {
        let sizes = if self.allows(Construct::BufferSizes) { &[4096, 4096, 1024, 256, 65536][..] } else { &[4096] };
        let bytes = self.source.pick(sizes);
        Shape::buffer(bytes)
    }

    /// Declares a transient.
    pub(super) fn declare(&mut self, shape: Shape) -> KnownId {
        self.declare_of(shape, Life::Transient)
    }

    pub(super) fn declare_of(&mut self, shape: Shape, life: Life) -> KnownId {
        let odd = self.source.below(256);
        let life = match (life, odd) {
            (Life::Transient, 216..240) if self.allows(Construct::Fresh) => Life::Fresh,
            _ => life,
        };
        let kind = match shape.what {
            What::Image => Kind::Image(self.image(&shape, odd)),
            What::Buffer | What::Structure => {
                Kind::Buffer(Buffer { size: Some(shape.bytes), acceleration_structure: shape.what == What::Structure })
            }
        };
        let mut resource = Resource::new(kind, life);
        resource.sharing = match odd {
            240.. if odd & 1 == 0 && self.allows(Construct::Concurrent) => Some(Sharing::Concurrent),
            240.. if odd & 1 == 1 && self.allows(Construct::Exclusive) => Some(Sharing::Exclusive),
            _ => None,
        };
        let domain = self.late.below(2 * MemoryDomain::ALL.len()).checked_sub(MemoryDomain::ALL.len());
        if life.takes_memory_domain() && self.allows(Construct::MemoryDomains) {
            resource.memory_domain = domain.map(|at| MemoryDomain::ALL[at]);
        }
        let prefix = match shape.what {
            What::Buffer => "buffer",
            What::Structure => "scene",
            What::Image if shape.is_depth() => "depth",
            What::Image if shape.volume => "volume",
            What::Image => "image",
        };
        let name = self.name(prefix);
        let id = self.graph.add_resource(&name, resource, None);
        let defined = match life {
            Life::Transient | Life::Fresh => 0,
            Life::Imported(imported) if !imported.defined => 0,
            _ => shape.whole(),
        };
        let at = self.known.next_id();
        self.known.push(Known {
            id,
            shape,
            memory: at,
            transient: life.is_of_frame(),
            modifies: false,
            history: false,
            left: Left::Everything,
            defined,
            only: [0; MOST_FLAGS],
            written: defined,
            taint: 0,
            owed: None,
            falls: None,
            switched: false,
            root: odd % 3 == 2,
        });
        at
    }

    /// The image as it is declared: sizes relative to the reference or to another image now and then.
    fn image(&mut self, shape: &Shape, odd: usize) -> Image {
        let [width, height, depth] = shape.size;
        let size = if shape.volume {
            Some(Size::volume(width, height, depth))
        } else if odd & 3 != 3 {
            Some(Size::absolute(width, height))
        } else if width == REFERENCE && height == REFERENCE && odd & 4 != 0 {
            None
        } else {
            let other = self.known.iter().rev().find(|known| known.shape.is_image() && !known.shape.volume);
            let other = other
                .filter(|_| odd & 8 != 0 && self.allows(Construct::RelativeSizes))
                .map(|known| (known.id, known.shape.size));
            let [x, y, _] = other.map_or([REFERENCE; 3], |(_, size)| size);
            let scale = |own: u32, of: u32| Axis::Scaled(other.map(|(id, _)| id), f64::from(own) / f64::from(of));
            let round = if odd & 16 == 0 { Round::Down } else { Round::Up };
            Some(Size { x: scale(width, x), y: scale(height, y), z: None, round })
        };
        let full = 32 - width.max(height).leading_zeros();
        Image {
            format: Some(shape.format),
            size,
            layers: (shape.layers > 1 && !shape.cube).then_some(shape.layers),
            mips: match shape.mips {
                1 => None,
                mips if mips == full => Some(Mips::Full),
                mips => Some(Mips::Count(mips)),
            },
            samples: (shape.samples > 1).then_some(shape.samples),
            cube: shape.cube,
        }
    }

    /// Declares what holds something from the start, or belongs to the caller.
    pub(super) fn external(&mut self) -> KnownId {
        let choice = self.source.below(8);
        let shape = match choice % 4 {
            0 => self.drawn_buffer(),
            3 if self.allows(Construct::ExternalArrays) => self.drawn_image(),
            _ => self.drawn_target(),
        };
        if choice < 4 {
            return self.declare_of(shape, Life::Persistent);
        }
        let imported = self.drawn_import(&shape);
        let at = self.declare_of(shape, Life::Imported(imported));
        if self.source.chance(1, 3) {
            self.known[at].left = Left::Reads;
        }
        if self.source.chance(1, 2) {
            let layouts = [Layout::ShaderReadOnly, Layout::General, Layout::TransferSrc, Layout::ReadOnly];
            let layout = shape.is_image().then(|| self.source.pick(&layouts));
            let queue = self.source.pick(&[None, Some(PassQueue::Graphics), Some(PassQueue::AsyncCompute)]);
            self.graph.resource_mut(self.known[at].id).leave = Some(Leave { layout, queue });
        }
        at
    }

    fn drawn_import(&mut self, shape: &Shape) -> Imported {
        let layouts = [
            None,
            Some(Layout::ShaderReadOnly),
            Some(Layout::General),
            Some(Layout::TransferDst),
            Some(Layout::Undefined),
        ];
        let scopes = [
            (Stages::empty(), Accesses::empty()),
            (Stages::COPY, Accesses::TRANSFER_WRITE),
            (Stages::COMPUTE_SHADER, Accesses::SHADER_STORAGE_WRITE),
            (Stages::FRAGMENT_SHADER, Accesses::SHADER_SAMPLED_READ),
        ];
        let (stages, access) = self.source.pick(&scopes);
        let queues = [None, Some(PassQueue::Graphics), Some(PassQueue::AsyncCompute), Some(PassQueue::Transfer)];
        let layout = if shape.is_image() { self.source.pick(&layouts) } else { None };
        Imported {
            layout,
            queue: self.source.pick(&queues),
            stages,
            access,
            defined: layout != Some(Layout::Undefined) && !self.source.chance(1, 4),
            wait: self.source.chance(1, 4),
            signal: self.source.chance(1, 4),
        }
    }
}
