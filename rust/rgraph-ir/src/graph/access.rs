//! How a pass uses a resource: what a caller declares ([`Use`]), and what a graph keeps of it ([`Access`]).

use super::{DetailsId, PassId, RangesId};
use crate::access::{Aspects, Load, ResolveMode, Stages, Transfer, Usage};
use crate::resource::ResourceId;

/// How a pass uses a resource: 28 bytes, the rarer parts aside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub pass: PassId,
    pub resource: ResourceId,
    /// Explicit stages; empty: those that usage and queue imply.
    pub stages: Stages,
    /// Explicit ranges.
    pub ranges: Option<RangesId>,
    /// Rarer details, if explicit.
    pub details: Option<DetailsId>,
    /// What the pass does with it.
    pub usage: Usage,
    /// Load operation, if explicit.
    pub load: Option<Load>,
    /// The same for the stencil aspect.
    pub stencil_load: Option<Load>,
    /// Transfer command, if explicit.
    pub transfer: Option<Transfer>,
    /// Explicit aspects; empty: all.
    pub aspects: Aspects,
    /// Whether the mips below what is written are filled at the end of the pass.
    pub generate_mips: bool,
    /// Whether it commutes with the other accesses of this resource that say so.
    pub unordered: bool,
}

/// Ranges that an access says, half-open; `None`: the default of the usage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ranges {
    /// Mip levels.
    pub mips: Option<[u32; 2]>,
    /// Array layers.
    pub layers: Option<[u32; 2]>,
    /// Bytes of a buffer.
    pub bytes: Option<[u64; 2]>,
}

/// The rarer details of an access.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Details {
    /// The clear value.
    pub clear: Option<Clear>,
    /// The colour or depth attachment that a resolve attachment resolves.
    pub resolves: Option<ResourceId>,
    /// How samples become one.
    pub resolve_mode: Option<ResolveMode>,
}

/// A clear value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Clear {
    /// Red, green, blue, alpha.
    Color([f64; 4]),
    /// Depth and, if given, stencil.
    Depth(f64, Option<u32>),
}

/// Everything that a user can say of an access; defaults are those of `docs/reference/formats.md`.
///
/// ```
/// use rgraph_ir::access::{Load, Usage};
/// use rgraph_ir::graph::{Clear, Use};
///
/// let lowest = Use::new(Usage::ColorAttachment).mips([4, 5]).load(Load::Discard);
/// assert_eq!(lowest.ranges.mips, Some([4, 5]));
/// let shadow = Use::new(Usage::DepthStencilAttachment).layers([2, 3]).clear(Clear::Depth(1.0, None));
/// assert_eq!(shadow.load, None, "a clear value implies that the attachment is cleared");
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Use {
    /// What the pass does with it.
    pub usage: Usage,
    /// Stages; empty: what usage and queue imply.
    pub stages: Stages,
    /// Ranges; default: what the usage implies.
    pub ranges: Ranges,
    /// Aspects; empty: all.
    pub aspects: Aspects,
    /// What becomes of the old contents.
    pub load: Option<Load>,
    /// The same for the stencil aspect.
    pub stencil_load: Option<Load>,
    /// The rarer details.
    pub details: Details,
    /// Which transfer command it is.
    pub transfer: Option<Transfer>,
    /// Whether the mips below what is written are filled at the end of the pass.
    pub generate_mips: bool,
    /// Whether it commutes with the other accesses of this resource that say so.
    pub unordered: bool,
}

impl Use {
    /// A use with its usage only, and defaults for the rest.
    pub fn new(usage: Usage) -> Self {
        Self {
            usage,
            stages: Stages::empty(),
            ranges: Ranges::default(),
            aspects: Aspects::empty(),
            load: None,
            stencil_load: None,
            details: Details::default(),
            transfer: None,
            generate_mips: false,
            unordered: false,
        }
    }

    /// Explicit stages.
    #[must_use]
    pub const fn stages(mut self, stages: Stages) -> Self {
        self.stages = stages;
        self
    }

    /// Mip levels, half-open.
    #[must_use]
    pub const fn mips(mut self, mips: [u32; 2]) -> Self {
        self.ranges.mips = Some(mips);
        self
    }

    /// Array layers, half-open.
    #[must_use]
    pub const fn layers(mut self, layers: [u32; 2]) -> Self {
        self.ranges.layers = Some(layers);
        self
    }

    /// Bytes of a buffer, half-open.
    #[must_use]
    pub const fn bytes(mut self, bytes: [u64; 2]) -> Self {
        self.ranges.bytes = Some(bytes);
        self
    }

    /// Explicit aspects.
    #[must_use]
    pub const fn aspects(mut self, aspects: Aspects) -> Self {
        self.aspects = aspects;
        self
    }

    /// What becomes of the old contents.
    #[must_use]
    pub const fn load(mut self, load: Load) -> Self {
        self.load = Some(load);
        self
    }

    /// What becomes of the old contents of the stencil aspect.
    #[must_use]
    pub const fn stencil_load(mut self, load: Load) -> Self {
        self.stencil_load = Some(load);
        self
    }

    /// The clear value of an attachment, which is then cleared unless [`load`](Self::load) says otherwise.
    #[must_use]
    pub const fn clear(mut self, clear: Clear) -> Self {
        self.details.clear = Some(clear);
        self
    }

    /// The attachment of the same pass whose samples a resolve attachment gets.
    #[must_use]
    pub const fn resolves(mut self, attachment: ResourceId) -> Self {
        self.details.resolves = Some(attachment);
        self
    }

    /// How samples become one.
    #[must_use]
    pub const fn resolve_mode(mut self, mode: ResolveMode) -> Self {
        self.details.resolve_mode = Some(mode);
        self
    }

    /// Which transfer command it is.
    #[must_use]
    pub const fn transfer(mut self, transfer: Transfer) -> Self {
        self.transfer = Some(transfer);
        self
    }

    /// Fills the mips below what is written at the end of the pass.
    #[must_use]
    pub const fn generate_mips(mut self) -> Self {
        self.generate_mips = true;
        self
    }

    /// Promises that it commutes with the other accesses of this resource that promise it.
    #[must_use]
    pub const fn unordered(mut self) -> Self {
        self.unordered = true;
        self
    }

    /// A clear value says that the attachment is cleared.
    pub(super) fn with_implied_clears(&self) -> Self {
        let mut how = *self;
        let attachment = matches!(how.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment);
        if attachment && how.details.clear.is_some() {
            how.load = how.load.or(Some(Load::Clear));
        }
        how
    }
}
