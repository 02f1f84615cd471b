//! Images and buffers as they are declared.

use crate::access::{Accesses, Layout, MemoryDomain, PassQueue, Sharing, Stages};
use crate::format::Format;

crate::id! {
    /// A resource of one graph: dense, in declaration order, meaningless in another graph.
    pub struct ResourceId;
}

/// A declared resource.
#[derive(Clone, PartialEq, Debug)]
pub struct Resource {
    /// Image or buffer.
    pub kind: Kind,
    /// How long its contents live.
    pub life: Life,
    /// Starts with that resource's contents, in that resource's memory.
    pub modifies: Option<ResourceId>,
    /// The state it must be left in at the end of the frame.
    pub leave: Option<Leave>,
    /// Who may use it without a transfer of ownership; `None`: the planner's choice.
    pub sharing: Option<Sharing>,
    /// The memory that it lies in, if it is persistent or imported; `None`: the runtime's choice.
    pub memory_domain: Option<MemoryDomain>,
}

/// Image or buffer.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// An image. A history or a modifying image inherits the fields that are `None` here.
    Image(Image),
    Buffer(Buffer),
}

/// An image as declared; `None` means the default, or what the image that it modifies or remembers has.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Image {
    /// Texel format.
    pub format: Option<Format>,
    /// Size in texels; `None`: the reference size.
    pub size: Option<Size>,
    /// Array layers; `None`: 1, or 6 for a cube.
    pub layers: Option<u32>,
    /// Mip levels; `None`: 1.
    pub mips: Option<Mips>,
    /// Samples per texel; `None`: 1.
    pub samples: Option<u32>,
    /// Whether it is viewed as a cube: layers are a multiple of six, width equals height.
    pub cube: bool,
}

/// A buffer as declared.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Buffer {
    /// Size in bytes; `None` only where it modifies or remembers another buffer.
    pub size: Option<u64>,
    /// Whether it holds an acceleration structure.
    pub acceleration_structure: bool,
}

/// Number of mip levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mips {
    /// That many.
    Count(u32),
    /// Down to one texel.
    Full,
}

/// A size in texels, axis by axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Size {
    /// Width.
    pub x: Axis,
    /// Height.
    pub y: Axis,
    /// Depth; `Some` makes the image three-dimensional.
    pub z: Option<Axis>,
    /// How products with a scale are rounded; never below 1.
    pub round: Round,
}

/// One axis of a size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Axis {
    /// So many texels.
    Texels(u32),
    /// A multiple of the same axis of the reference size (`None`) or of another image.
    Scaled(Option<ResourceId>, f64),
}

/// Rounding of relative sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Round {
    /// Towards zero.
    #[default]
    Down,
    /// Away from zero.
    Up,
}

impl Size {
    /// `width × height` texels.
    pub const fn absolute(width: u32, height: u32) -> Self {
        Self { x: Axis::Texels(width), y: Axis::Texels(height), z: None, round: Round::Down }
    }

    /// `width × height × depth` texels: a 3D image.
    pub const fn volume(width: u32, height: u32, depth: u32) -> Self {
        Self { x: Axis::Texels(width), y: Axis::Texels(height), z: Some(Axis::Texels(depth)), round: Round::Down }
    }

    /// A multiple of the reference size (`None`) or of an image's.
    pub const fn scaled(of: Option<ResourceId>, x: f64, y: f64) -> Self {
        Self { x: Axis::Scaled(of, x), y: Axis::Scaled(of, y), z: None, round: Round::Down }
    }
}

/// How long contents live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Life {
    /// Within one frame; memory is shared with others.
    Transient,
    /// Within one frame, in memory that no other resource and no other frame under way has: nothing orders its first
    /// use after the frame before.
    Fresh,
    /// From frame to frame, in memory of its own.
    Persistent,
    /// The contents of another resource some frames ago.
    History(History),
    /// The caller's.
    Imported(Imported),
}

impl Life {
    /// Whether contents begin and end with the frame.
    pub const fn is_of_frame(self) -> bool {
        matches!(self, Self::Transient | Self::Fresh)
    }

    /// Whether the caller may choose its memory.
    pub const fn takes_memory_domain(&self) -> bool {
        matches!(self, Self::Persistent | Self::Imported(_))
    }
}

/// Whose past a history resource shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct History {
    /// The resource remembered.
    pub of: ResourceId,
    /// How many frames ago, at least 1.
    pub frames: u32,
    /// True if the first frames read zeros; else their contents are undefined.
    pub zero_first: bool,
}

/// The state in which the caller hands a resource over; `None` means unknown until submit.
///
/// ```
/// use rgraph_ir::access::{Accesses, Layout, PassQueue, Stages};
/// use rgraph_ir::resource::Imported;
///
/// let state = Imported::default()
///     .layout(Layout::General)
///     .last_use(PassQueue::AsyncCompute, Stages::COMPUTE_SHADER, Accesses::SHADER_STORAGE_WRITE)
///     .waited();
/// assert!(state.defined && state.wait && !state.signal);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Imported {
    pub layout: Option<Layout>,
    /// The queue that used it last.
    pub queue: Option<PassQueue>,
    /// The stages that used it last.
    pub stages: Stages,
    /// How they used it.
    pub access: Accesses,
    /// Whether its contents mean anything.
    pub defined: bool,
    /// Each run waits for a semaphore of its other user before the first use.
    pub wait: bool,
    /// Each run signals its other user behind the last use.
    pub signal: bool,
}

impl Default for Imported {
    fn default() -> Self {
        let (stages, access) = (Stages::empty(), Accesses::empty());
        Self { layout: None, queue: None, stages, access, defined: true, wait: false, signal: false }
    }
}

impl Imported {
    /// The layout in which the caller supplies it.
    #[must_use]
    pub const fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// The queue and stages that used it last, and how.
    #[must_use]
    pub const fn last_use(mut self, queue: PassQueue, stages: Stages, access: Accesses) -> Self {
        (self.queue, self.stages, self.access) = (Some(queue), stages, access);
        self
    }

    /// Its contents mean nothing, so that the plan may discard them.
    #[must_use]
    pub const fn undefined(mut self) -> Self {
        self.defined = false;
        self
    }

    /// Each run waits for a semaphore of its other user before the first use.
    #[must_use]
    pub const fn waited(mut self) -> Self {
        self.wait = true;
        self
    }

    /// Each run signals its other user behind the last use.
    #[must_use]
    pub const fn signalled(mut self) -> Self {
        self.signal = true;
        self
    }
}

/// The state in which a resource must be left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Leave {
    pub layout: Option<Layout>,
    /// The queue that uses it next.
    pub queue: Option<PassQueue>,
}

impl Leave {
    /// The layout in which the plan leaves it.
    #[must_use]
    pub const fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// The queue that uses it next.
    #[must_use]
    pub const fn queue(mut self, queue: PassQueue) -> Self {
        self.queue = Some(queue);
        self
    }
}

impl Resource {
    /// A resource of which only its kind and life are declared.
    pub const fn new(kind: Kind, life: Life) -> Self {
        Self { kind, life, modifies: None, leave: None, sharing: None, memory_domain: None }
    }

    /// A transient image.
    pub const fn image(image: Image) -> Self {
        Self::new(Kind::Image(image), Life::Transient)
    }

    /// A transient buffer of `size` bytes.
    pub const fn buffer(size: u64) -> Self {
        Self::new(Kind::Buffer(Buffer { size: Some(size), acceleration_structure: false }), Life::Transient)
    }

    /// A transient resource of the kind of this one, whose format and size follow from what it modifies or remembers.
    pub(crate) fn alike(&self) -> Self {
        let kind = match &self.kind {
            Kind::Image(_) => Kind::Image(Image::default()),
            Kind::Buffer(_) => Kind::Buffer(Buffer::default()),
        };
        Self::new(kind, Life::Transient)
    }

    /// The image, if it is one.
    pub fn as_image(&self) -> Option<&Image> {
        match &self.kind {
            Kind::Image(image) => Some(image),
            Kind::Buffer(_) => None,
        }
    }

    /// The buffer, if it is one.
    pub fn as_buffer(&self) -> Option<&Buffer> {
        match &self.kind {
            Kind::Image(_) => None,
            Kind::Buffer(buffer) => Some(buffer),
        }
    }
}
