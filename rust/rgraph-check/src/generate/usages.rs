//! What usages are, as far as a well-formed pass has to know.

use rgraph_ir::access::{Load, PassQueue, Stages, Usage};
use rgraph_ir::graph::Use;

use super::known::{Shape, What};

/// What a pass is made of; the queue must be able to do it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    Draw,
    Dispatch,
    Copy,
    Host,
}

/// What may meet what within one pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Attachment,
    Input,
    Read,
    Alone,
}

impl Class {
    pub(super) fn of(usage: Usage) -> Self {
        match usage {
            Usage::ColorAttachment | Usage::DepthStencilAttachment => Self::Attachment,
            Usage::InputAttachment => Self::Input,
            Usage::Present => Self::Alone,
            usage if usage.writes() => Self::Alone,
            _ => Self::Read,
        }
    }

    pub(super) fn may_meet(self, other: Self) -> bool {
        let reads = |class| matches!(class, Self::Read | Self::Input);
        reads(self) && reads(other)
            || (self == Self::Attachment && other == Self::Input)
            || (self == Self::Input && other == Self::Attachment)
    }
}

pub(super) fn is_attachment(usage: Usage) -> bool {
    matches!(
        usage,
        Usage::ColorAttachment
            | Usage::DepthStencilAttachment
            | Usage::DepthStencilRead
            | Usage::InputAttachment
            | Usage::ResolveAttachment
    )
}

/// Whether no range means mip 0 rather than all.
pub(super) fn first_mip_only(usage: Usage) -> bool {
    is_attachment(usage) || matches!(usage, Usage::StorageWrite | Usage::StorageReadWrite | Usage::TransferDst)
}

/// Whether a use asks for contents that are there.
pub(super) fn reads(how: &Use) -> bool {
    match how.usage {
        Usage::StorageReadWrite | Usage::AccelerationUpdate => true,
        Usage::ColorAttachment | Usage::DepthStencilAttachment => {
            how.load == Some(Load::Load) || how.stencil_load == Some(Load::Load)
        }
        usage => !usage.writes(),
    }
}

/// Whether a write throws away all that was in its range.
pub(super) fn replaces(how: &Use) -> bool {
    matches!(how.usage, Usage::ResolveAttachment | Usage::AccelerationBuild | Usage::AccelerationScratch)
        || matches!(how.load, Some(Load::Clear | Load::Discard)) && !matches!(how.stencil_load, Some(Load::Load))
}

/// Usages that read a resource of that shape in such a pass.
pub(super) fn reading(shape: &Shape, work: Work) -> Vec<Usage> {
    let mut list = Vec::new();
    match (work, shape.what) {
        (Work::Host, _) => list.push(Usage::HostRead),
        (Work::Copy, _) => list.push(Usage::TransferSrc),
        (_, What::Image) => {
            list.extend([Usage::Sampled, Usage::Sampled]);
            if shape.stores() {
                list.push(Usage::StorageRead);
            }
            if work == Work::Draw && shape.is_depth() {
                list.push(Usage::DepthStencilRead);
            }
            if work == Work::Draw && !shape.is_block() {
                list.push(Usage::InputAttachment);
            }
            list.push(Usage::TransferSrc);
        }
        (_, What::Structure) => {
            list.extend([Usage::AccelerationRead, Usage::AccelerationRead, Usage::StorageRead, Usage::TransferSrc]);
        }
        (_, What::Buffer) => {
            list.extend([Usage::StorageRead, Usage::Uniform]);
            if work == Work::Draw {
                list.extend([Usage::Vertex, Usage::Index]);
            }
            list.extend([Usage::Indirect, Usage::Sampled, Usage::TransferSrc]);
            if work == Work::Dispatch {
                list.push(Usage::AccelerationInput);
            }
        }
    }
    list
}

/// Usages that write a resource of that shape in such a pass; those of `readable` contents may read them too.
pub(super) fn writing(shape: &Shape, work: Work, readable: bool) -> Vec<Usage> {
    let mut list = Vec::new();
    match work {
        Work::Host if shape.is_image() => {}
        Work::Host => list.push(Usage::HostWrite),
        Work::Copy => list.push(Usage::TransferDst),
        _ => {
            if work == Work::Draw && shape.is_color() {
                list.extend([Usage::ColorAttachment; 2]);
            }
            if work == Work::Draw && shape.is_depth() {
                list.push(Usage::DepthStencilAttachment);
            }
            if shape.stores() && !shape.is_depth() {
                list.push(Usage::StorageWrite);
                if readable {
                    list.push(Usage::StorageReadWrite);
                }
            }
            if work == Work::Dispatch && shape.what == What::Structure {
                list.push(Usage::AccelerationBuild);
                if readable {
                    list.push(Usage::AccelerationUpdate);
                }
            }
            if !shape.is_depth() || work == Work::Draw {
                list.push(Usage::TransferDst);
            }
        }
    }
    list
}

/// Stages that a use in such a pass on such a queue may name; the first is none, what usage and queue imply.
pub(super) fn stages(usage: Usage, work: Work, queue: PassQueue, image: bool, odd: bool) -> &'static [Stages] {
    const DRAWN: &[Stages] = &[
        Stages::empty(),
        Stages::VERTEX_SHADER,
        Stages::FRAGMENT_SHADER,
        Stages::VERTEX_SHADER.union(Stages::FRAGMENT_SHADER),
        Stages::TESSELLATION_EVALUATION_SHADER,
        Stages::GEOMETRY_SHADER.union(Stages::TESSELLATION_CONTROL_SHADER),
        Stages::TASK_SHADER.union(Stages::MESH_SHADER),
        Stages::COMPUTE_SHADER,
    ];
    const DISPATCHED: &[Stages] = &[
        Stages::empty(),
        Stages::COMPUTE_SHADER,
        Stages::RAY_TRACING_SHADER,
        Stages::COMPUTE_SHADER.union(Stages::RAY_TRACING_SHADER),
    ];
    const BUILT: &[Stages] =
        &[Stages::empty(), Stages::COMPUTE_SHADER, Stages::RAY_TRACING_SHADER, Stages::ACCELERATION_STRUCTURE_BUILD];
    const TESTED: &[Stages] = &[Stages::empty(), Stages::EARLY_FRAGMENT_TESTS, Stages::LATE_FRAGMENT_TESTS];
    const IMPLIED: &[Stages] = &[Stages::empty()];
    const INDIRECT: &[Stages] = &[Stages::empty(), Stages::DRAW_INDIRECT];
    let storage = matches!(usage, Usage::StorageRead | Usage::StorageWrite | Usage::StorageReadWrite);
    let list = match (usage, work) {
        _ if queue == PassQueue::Any => IMPLIED,
        (Usage::Sampled | Usage::Uniform, Work::Draw) => DRAWN,
        _ if storage && work == Work::Draw => DRAWN,
        (Usage::AccelerationRead, Work::Dispatch) => BUILT,
        _ if storage && work == Work::Dispatch && !image => BUILT,
        _ if storage && work == Work::Dispatch => DISPATCHED,
        (Usage::Sampled | Usage::Uniform, Work::Dispatch) => DISPATCHED,
        (Usage::DepthStencilRead, _) => TESTED,
        (Usage::Indirect, _) => INDIRECT,
        _ => IMPLIED,
    };
    // The first ones are the usual ones.
    if odd { list } else { &list[..list.len().min(if work == Work::Draw { 4 } else { 2 })] }
}
