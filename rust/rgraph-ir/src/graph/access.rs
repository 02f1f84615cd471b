//! How a pass uses a resource: what a caller declares ([`Use`]), and what a graph keeps of it ([`Access`]).

use super::{DetailsId, PassId, RangesId};
use crate::access::{Aspects, Load, ResolveMode, Stages, Transfer, Usage};
use crate::resource::ResourceId;

/// How a pass uses a resource: 28 bytes, the rarer parts aside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The pass.
    pub pass: PassId,
    /// The resource.
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
}

impl Use {
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
