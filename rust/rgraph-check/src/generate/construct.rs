//! What can be left out of generated graphs.

/// Constructs of declarations that a caller can leave out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Construct {
    /// Modules and extension points.
    Slots,
    /// Accesses that commute although one of them only reads.
    UnorderedReads,
    /// Accesses that commute of which the first finds nothing written.
    UnorderedFirst,
    /// Reads that reach over subresources that nothing wrote.
    Undefined,
    /// Two histories of one resource that reach back equally far.
    TwinHistories,
    /// Input attachments that name no mip of an image of several.
    InputMips,
    /// Writes that discard what a history remembers.
    DiscardRemembered,
    /// Resources to be left to a queue that a pass on the host uses.
    LeaveAfterHost,
    /// An unordered access together with others of the same resource in one pass.
    UnorderedBeside,
    /// Depth read in place: with a test by the same pass, or by one of the same render pass.
    DepthInPlace,
    /// Reads before the first writer, which has mips generated.
    ForwardMips,
    /// Reads before the first writer, which is conditional.
    ForwardConditional,
    /// Fallbacks of outputs that are written or read in parts.
    PartialFallback,
    /// Shader writes of scratch memory at the stage of builds.
    StorageScratch,
    /// Mips of a scaled copy that nothing fills, written as if something was there.
    ScaledMips,
    /// Names for the memory of an imported resource.
    ModifiedImport,
    /// Passes without any access that are ordered after others.
    OrderedEmpty,
    /// Fallbacks of buffers and of depth.
    OddFallbacks,
    /// Fallbacks of outputs that are replaced afterwards.
    FallbackReplaced,
    /// Writes of the host to what a conditional pass used.
    HostAfterConditional,
    /// Uses of a name before those of the resource that it modifies.
    EarlyModifies,
    /// A fallback of an output whose memory modifies another.
    ModifyingFallback,
    /// `concurrent` asked for.
    Concurrent,
    /// `exclusive` asked for.
    Exclusive,
    /// Block-compressed, 64-bit and sRGB colours, and integers that no filter takes.
    OddFormats,
    /// Stencil without depth.
    StencilAlone,
    /// Shaders that read several samples, and attachments of several samples that keep them.
    SampledSamples,
    /// Images that a pass on the host reads.
    HostImages,
    /// Histories that a pass on the host reads.
    HostHistories,
    VolumeAttachments,
    /// Sizes that are not square.
    OddSizes,
    /// Images whose size is relative to another image.
    RelativeSizes,
    /// Persistent and imported images of several mips or layers.
    ExternalArrays,
    /// Buffers of other sizes than 4096 bytes.
    BufferSizes,
    /// Passes that draw to attachments and also copy, or write from shaders.
    MixedWork,
    /// Scaled copies that are larger, or smaller by other factors than four.
    OddScales,
    /// Several uses of one buffer in one pass, and several reads of one part of an image.
    SeveralUses,
    /// Input attachments that their own pass draws to.
    Feedback,
    /// Copies of depth, and depth that shaders read as storage.
    DepthCopies,
    /// Two samples per texel, several samples of depth, resolves that do not name what they resolve.
    OddSamples,
    /// Images that are used in any order.
    UnorderedImages,
    /// Depth and stencil of one image used apart in one pass.
    AspectsApart,
    /// An attachment of depth or of stencil alone, in a pass that does not name the other.
    AspectAlone,
    /// Passes without any access.
    EmptyPasses,
    /// Stages other than those of vertices, fragments and dispatches.
    OddStages,
    /// A graphics queue of which the device has several.
    SeveralGraphics,
    /// Resources that are new in each frame.
    Fresh,
    /// Images that the graph itself makes and presents.
    PresentedTransients,
    /// Passes whose draws commute.
    CommutingDraws,
    /// Layers: places in the order that stand by numbers, and modules inside of them.
    Layers,
    /// Memory that the caller chooses for what outlives the frame.
    MemoryDomains,
    /// Memory that need not be there, for attachments of one render pass.
    LazyMemory,
    /// Stencil as a mask: written, tested and cleared by itself, sampled in a pass that tests depth.
    StencilMasks,
}

impl Construct {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; Self::StencilMasks as usize + 1] = [
        Self::Slots,
        Self::UnorderedReads,
        Self::UnorderedFirst,
        Self::Undefined,
        Self::TwinHistories,
        Self::InputMips,
        Self::DiscardRemembered,
        Self::LeaveAfterHost,
        Self::UnorderedBeside,
        Self::DepthInPlace,
        Self::ForwardMips,
        Self::ForwardConditional,
        Self::PartialFallback,
        Self::StorageScratch,
        Self::ScaledMips,
        Self::ModifiedImport,
        Self::OrderedEmpty,
        Self::OddFallbacks,
        Self::FallbackReplaced,
        Self::HostAfterConditional,
        Self::EarlyModifies,
        Self::ModifyingFallback,
        Self::Concurrent,
        Self::Exclusive,
        Self::OddFormats,
        Self::StencilAlone,
        Self::SampledSamples,
        Self::HostImages,
        Self::HostHistories,
        Self::VolumeAttachments,
        Self::OddSizes,
        Self::RelativeSizes,
        Self::ExternalArrays,
        Self::BufferSizes,
        Self::MixedWork,
        Self::OddScales,
        Self::SeveralUses,
        Self::Feedback,
        Self::DepthCopies,
        Self::OddSamples,
        Self::UnorderedImages,
        Self::AspectsApart,
        Self::AspectAlone,
        Self::EmptyPasses,
        Self::OddStages,
        Self::SeveralGraphics,
        Self::Fresh,
        Self::PresentedTransients,
        Self::CommutingDraws,
        Self::Layers,
        Self::MemoryDomains,
        Self::LazyMemory,
        Self::StencilMasks,
    ];
}

/// Some constructs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Constructs(u64);

impl Constructs {
    /// Those of a list.
    pub const fn of(list: &[Construct]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < list.len() {
            bits |= 1 << list[at] as u64;
            at += 1;
        }
        Self(bits)
    }

    /// Those of both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those but one.
    pub const fn but(self, construct: Construct) -> Self {
        Self(self.0 & !(1 << construct as u64))
    }

    /// Whether a construct is one of them.
    pub const fn contains(self, construct: Construct) -> bool {
        self.0 & 1 << construct as u64 != 0
    }
}

/// What the default limits leave out: constructs on which planner, checker and interpreter do not agree yet. None.
pub const UNSETTLED: Constructs = Constructs::of(&[]);
