//! What a declared usage means on Vulkan: stages, access kinds, layout, and what becomes of the old contents.
//!
//! Source: Vulkan 1.3 specification, "Access Types" (table of access flags and the stages that perform them) and
//! "Image Layouts".

use crate::access::{Accesses, Aspects, Layout, Load, PassQueue, Stages, Transfer, Usage};
use crate::graph::Access;

/// What a pass does to one subresource of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    /// Leaf stages.
    pub stages: Stages,
    /// Access kinds.
    pub kinds: Accesses,
    /// Layout, for images.
    pub layout: Layout,
    /// What becomes of the old contents.
    pub effect: Effect,
}

/// What an access does to contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    Read,
    /// Reads and writes, or writes over part: old contents matter if there are any.
    Keep,
    /// Writes; old contents do not matter.
    Replace,
    /// An attachment without a declared load: keeps what was written before, if anything was.
    KeepIfWritten,
    /// Reads, and nothing else may be at work on it: presentation.
    Present,
}

impl Effect {
    /// The effect on both of two aspects.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Replace, b @ Self::KeepIfWritten) | (b @ Self::KeepIfWritten, Self::Replace) => b,
            _ => Self::Keep,
        }
    }

    /// Whether contents change.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::Present)
    }
}

/// The stage of shader accesses that name none.
pub fn default_shader_stage(queue: PassQueue, raster: bool) -> Stages {
    match queue {
        PassQueue::Graphics => Stages::FRAGMENT_SHADER,
        PassQueue::Any if raster => Stages::FRAGMENT_SHADER,
        _ => Stages::COMPUTE_SHADER,
    }
}

/// The meaning of `access`, made by a pass on `queue` (`raster`: it has attachments or draws) to a resource that has
/// these aspects: none for a buffer.
pub fn meaning(access: &Access, queue: PassQueue, raster: bool, aspects: Aspects) -> Meaning {
    let depth = !aspects.contains(Aspects::COLOR) && !aspects.is_empty();
    let explicit = access.stages;
    let or = |default: Stages| if explicit.is_empty() { default } else { explicit };
    let shader = || or(default_shader_stage(queue, raster));
    let tests = Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS;
    let over_part = match access.load {
        Some(Load::Clear | Load::Discard) => Effect::Replace,
        _ => Effect::Keep,
    };
    let read_only = if depth { Layout::DepthStencilReadOnly } else { Layout::ShaderReadOnly };
    let read = |stages, kinds, layout| Meaning { stages, kinds, layout, effect: Effect::Read };
    let build = Stages::ACCELERATION_STRUCTURE_BUILD;
    let structure = Accesses::ACCELERATION_STRUCTURE_READ | Accesses::ACCELERATION_STRUCTURE_WRITE;
    let built = |kinds, effect| Meaning { stages: or(build), kinds, layout: Layout::Undefined, effect };
    match access.usage {
        Usage::ColorAttachment => color_attachment(kept(access.load)),
        Usage::DepthStencilAttachment => {
            let accessed = if access.aspects.is_empty() { aspects } else { access.aspects & aspects };
            Meaning {
                stages: tests,
                kinds: Accesses::DEPTH_STENCIL_ATTACHMENT_READ | Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE,
                layout: Layout::DepthStencilAttachment,
                effect: effect_on(access, aspects, accessed),
            }
        }
        Usage::DepthStencilRead => read(tests, Accesses::DEPTH_STENCIL_ATTACHMENT_READ, Layout::DepthStencilReadOnly),
        // What no earlier pass of the render pass made is loaded first.
        Usage::InputAttachment => {
            let (load, loads) = match depth {
                true => (Stages::EARLY_FRAGMENT_TESTS, Accesses::DEPTH_STENCIL_ATTACHMENT_READ),
                false => (Stages::COLOR_ATTACHMENT_OUTPUT, Accesses::COLOR_ATTACHMENT_READ),
            };
            read(Stages::FRAGMENT_SHADER | load, Accesses::INPUT_ATTACHMENT_READ | loads, read_only)
        }
        Usage::ResolveAttachment => Meaning {
            stages: Stages::COLOR_ATTACHMENT_OUTPUT,
            kinds: Accesses::COLOR_ATTACHMENT_WRITE,
            layout: if depth { Layout::DepthStencilAttachment } else { Layout::ColorAttachment },
            effect: Effect::Replace,
        },
        Usage::Sampled => read(shader(), Accesses::SHADER_SAMPLED_READ, read_only),
        Usage::StorageRead => read(shader(), Accesses::SHADER_STORAGE_READ, Layout::General),
        // No shader runs in a build: what is stored there is scratch memory.
        Usage::StorageWrite if explicit == build => built(structure, over_part),
        Usage::StorageReadWrite if explicit == build => built(structure, Effect::Keep),
        Usage::StorageWrite => Meaning {
            stages: shader(),
            kinds: Accesses::SHADER_STORAGE_WRITE,
            layout: Layout::General,
            effect: over_part,
        },
        Usage::StorageReadWrite => Meaning {
            stages: shader(),
            kinds: Accesses::SHADER_STORAGE_READ | Accesses::SHADER_STORAGE_WRITE,
            layout: Layout::General,
            effect: Effect::Keep,
        },
        Usage::Uniform => read(shader(), Accesses::UNIFORM_READ, Layout::Undefined),
        Usage::Vertex => read(or(Stages::VERTEX_ATTRIBUTE_INPUT), Accesses::VERTEX_ATTRIBUTE_READ, Layout::Undefined),
        Usage::Index => read(or(Stages::INDEX_INPUT), Accesses::INDEX_READ, Layout::Undefined),
        Usage::Indirect => read(or(Stages::DRAW_INDIRECT), Accesses::INDIRECT_COMMAND_READ, Layout::Undefined),
        Usage::TransferSrc => read(transfer_stages(access, explicit), Accesses::TRANSFER_READ, Layout::TransferSrc),
        Usage::TransferDst => Meaning {
            stages: transfer_stages(access, explicit),
            kinds: Accesses::TRANSFER_WRITE,
            layout: Layout::TransferDst,
            effect: over_part,
        },
        Usage::HostRead => read(Stages::HOST, Accesses::HOST_READ, Layout::General),
        Usage::HostWrite => host_write(over_part),
        // Presentation is no pipeline stage; one that every queue has stands for it where a wait must name one.
        Usage::Present => Meaning {
            stages: Stages::COPY,
            kinds: Accesses::empty(),
            layout: Layout::PresentSrc,
            effect: Effect::Present,
        },
        // Vulkan reads build inputs as shader reads at the build stage, acceleration structures as their own kind.
        Usage::AccelerationInput => read(or(build), Accesses::SHADER_STORAGE_READ, Layout::Undefined),
        Usage::AccelerationBuild => built(Accesses::ACCELERATION_STRUCTURE_WRITE, Effect::Replace),
        Usage::AccelerationUpdate => built(structure, Effect::Keep),
        Usage::AccelerationScratch => built(structure, Effect::Replace),
        Usage::AccelerationRead => {
            let default = match default_shader_stage(queue, raster) {
                Stages::FRAGMENT_SHADER => Stages::FRAGMENT_SHADER,
                _ => Stages::RAY_TRACING_SHADER,
            };
            read(or(default), Accesses::ACCELERATION_STRUCTURE_READ, Layout::Undefined)
        }
    }
}

/// A colour attachment with that effect.
fn color_attachment(effect: Effect) -> Meaning {
    let loads = if effect == Effect::Replace { Accesses::empty() } else { Accesses::COLOR_ATTACHMENT_READ };
    Meaning {
        stages: Stages::COLOR_ATTACHMENT_OUTPUT,
        kinds: Accesses::COLOR_ATTACHMENT_WRITE | loads,
        layout: Layout::ColorAttachment,
        effect,
    }
}

/// A write of the host. If it keeps old contents, they must be visible to the host before: a later read by the host has
/// no other barrier.
fn host_write(effect: Effect) -> Meaning {
    let sees = if effect == Effect::Keep { Accesses::HOST_READ } else { Accesses::empty() };
    Meaning { stages: Stages::HOST, kinds: Accesses::HOST_WRITE | sees, layout: Layout::General, effect }
}

/// What an attachment does to old contents.
fn kept(load: Option<Load>) -> Effect {
    match load {
        Some(Load::Clear | Load::Discard) => Effect::Replace,
        Some(Load::Load) => Effect::Keep,
        None => Effect::KeepIfWritten,
    }
}

/// The effect of a depth and stencil attachment on aspects that are one subresource, of an image that has `all`: what
/// either keeps is kept.
pub(super) fn effect_on(access: &Access, all: Aspects, aspects: Aspects) -> Effect {
    let stencil = kept(said_of_stencil(access, all));
    match aspects {
        Aspects::DEPTH => kept(access.load),
        Aspects::STENCIL => stencil,
        _ => kept(access.load).with(stencil),
    }
}

/// What an access says of the stencil aspect's old contents; where there is nothing but stencil, `load` is about it.
pub(super) fn said_of_stencil(access: &Access, all: Aspects) -> Option<Load> {
    access.stencil_load.or(access.load.filter(|_| all == Aspects::STENCIL))
}

/// `fill` and `clear` count as all transfer stages, since drivers and layers disagree on theirs.
fn transfer_stages(access: &Access, explicit: Stages) -> Stages {
    match access.transfer.unwrap_or(Transfer::Copy) {
        _ if !explicit.is_empty() => explicit,
        Transfer::Copy => Stages::COPY,
        Transfer::Blit => Stages::BLIT,
        Transfer::Resolve => Stages::RESOLVE,
        Transfer::Clear | Transfer::Fill => Stages::ALL_TRANSFER,
    }
}
