//! Which queue a pass runs on, what its accesses ask of it, and the queues that a plan has.
//!
//! Source: Vulkan 1.3 specification, "Supported pipeline stage flags" (stages by queue capability) and the
//! "Supported Queue Types" of copy, clear, blit and resolve commands.

use bitflags::bitflags;

use crate::access::{PassQueue, Stages, Transfer, Usage};
use crate::graph::Access;
use crate::plan::{PlanKind, PlanQueue};
use crate::profile::{Capabilities, Profile, Queue};
use crate::stages::size::Shape;

/// Most queues that a plan has. A profile may not list more; further ones of a queue whose `count` is above 1 are
/// left out, the last ones of each first.
pub(crate) const MAX_QUEUES: usize = 16;

bitflags! {
    /// What accesses ask of a queue. Those of a pass are the union.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Needs: u8 {
        /// Draws, attachments, blits, resolves, clears of depth.
        const GRAPHICS = 1;
        /// Dispatches, ray tracing, acceleration structure builds.
        const COMPUTE = 2;
        /// Copies and fills.
        const TRANSFER = 4;
        /// Shaders or clears of colour: either of graphics and compute.
        const EITHER = 8;
        /// The CPU: no queue at all.
        const HOST = 16;
    }
}

impl Needs {
    /// Whether a queue of these capabilities can do it.
    pub(crate) fn met_by(self, capabilities: Capabilities) -> bool {
        Self::offered(capabilities).contains(self)
    }

    /// All that a queue of these capabilities can do.
    pub(crate) fn offered(capabilities: Capabilities) -> Self {
        let has = effective(capabilities);
        let mut met = Self::empty();
        met.set(Self::GRAPHICS, has.contains(Capabilities::GRAPHICS));
        met.set(Self::COMPUTE, has.contains(Capabilities::COMPUTE));
        met.set(Self::TRANSFER, has.contains(Capabilities::TRANSFER));
        met.set(Self::EITHER, has.intersects(Capabilities::GRAPHICS | Capabilities::COMPUTE));
        met
    }

    /// In words: `graphics`, `graphics or compute`.
    pub(super) fn words(self) -> String {
        let all = [
            (Self::GRAPHICS, "graphics"),
            (Self::COMPUTE, "compute"),
            (Self::TRANSFER, "transfer"),
            (Self::EITHER, "graphics or compute"),
            (Self::HOST, "the CPU"),
        ];
        let implied = self.intersects(Self::GRAPHICS | Self::COMPUTE);
        let shown = all.into_iter().filter(|(bit, _)| self.contains(*bit) && !(implied && *bit == Self::EITHER));
        super::words::listed(shown.map(|(_, name)| name), "and")
    }
}

/// Every graphics or compute queue can copy, whether it says so or not.
pub(crate) fn effective(capabilities: Capabilities) -> Capabilities {
    if capabilities.intersects(Capabilities::GRAPHICS | Capabilities::COMPUTE) {
        capabilities | Capabilities::TRANSFER
    } else {
        capabilities
    }
}

/// Position in [`expanded_queues`] of the queue that a pass on `queue` runs on; `None` for `cpu` and `any`, and where
/// the profile has none that fits.
pub(crate) fn resolve_queue(profile: &Profile, queue: PassQueue) -> Option<usize> {
    let with =
        |wanted: Capabilities| profile.queues.iter().position(|queue| effective(queue.capabilities).contains(wanted));
    let graphics = with(Capabilities::GRAPHICS);
    let apart = |wanted: Capabilities| {
        let others = profile
            .queues
            .iter()
            .enumerate()
            .filter(|(at, queue)| Some(*at) != graphics && effective(queue.capabilities).contains(wanted));
        // `min_by_key` keeps the first of equals: ties go to the queue listed first.
        let other = others.min_by_key(|(_, queue)| effective(queue.capabilities).bits().count_ones());
        other.map(|(at, _)| at).or_else(|| second(profile, graphics?)).or(graphics)
    };
    match queue {
        PassQueue::Graphics => graphics,
        PassQueue::Compute => graphics.or_else(|| with(Capabilities::COMPUTE)),
        PassQueue::AsyncCompute => apart(Capabilities::COMPUTE),
        PassQueue::Transfer => apart(Capabilities::TRANSFER),
        PassQueue::Cpu | PassQueue::Any => None,
    }
}

fn listed(profile: &Profile) -> &[Queue] {
    &profile.queues[..profile.queues.len().min(MAX_QUEUES)]
}

/// How many queues of each kind a plan has.
fn copies(profile: &Profile) -> [u32; MAX_QUEUES] {
    let queues = listed(profile);
    let mut copies = [0; MAX_QUEUES];
    copies[..queues.len()].fill(1);
    let mut left = MAX_QUEUES - queues.len();
    let mut given = true;
    while given && left > 0 {
        given = false;
        for (copies, queue) in copies.iter_mut().zip(queues) {
            if left > 0 && *copies < queue.count {
                *copies += 1;
                left -= 1;
                given = true;
            }
        }
    }
    copies
}

/// Position in [`expanded_queues`] of the second queue of a kind, if the plan has one.
fn second(profile: &Profile, kind: usize) -> Option<usize> {
    let copies = copies(profile);
    let further = copies.iter().take(kind).map(|copies| copies.saturating_sub(1) as usize).sum::<usize>();
    copies.get(kind).is_some_and(|copies| *copies > 1).then_some(listed(profile).len() + further)
}

/// Position in the profile of a queue of [`expanded_queues`].
pub(crate) fn kind_of(profile: &Profile, queue: usize) -> usize {
    let queues = listed(profile).len();
    let Some(mut further) = queue.checked_sub(queues) else { return queue };
    let copies = copies(profile);
    let kinds = copies[..queues].iter().position(|copies| {
        let here = *copies as usize - 1;
        let found = further < here;
        further -= here.min(further);
        found
    });
    kinds.unwrap_or(0)
}

/// The queues of a plan: the profile's in order, then the further ones of those whose count is above 1, named
/// `name 2`, `name 3`, …; at most 16, shared out in turns where counts ask for more.
pub fn expanded_queues(profile: &Profile) -> Vec<PlanQueue> {
    let queues = listed(profile);
    let copies = copies(profile);
    let planned = |name: String, queue: &Queue| PlanQueue {
        name,
        family: queue.family,
        capabilities: effective(queue.capabilities),
    };
    let firsts = queues.iter().map(|queue| planned(queue.name.clone(), queue));
    let further = queues.iter().zip(&copies).flat_map(|(queue, copies)| {
        (2..=*copies).map(move |number| planned(format!("{} {number}", queue.name), queue))
    });
    firsts.chain(further).collect()
}

/// What one access asks of the queue of its pass.
#[inline]
pub(crate) fn access_needs(access: &Access, shape: &Shape) -> Needs {
    let needs = match access.usage {
        Usage::ColorAttachment
        | Usage::DepthStencilAttachment
        | Usage::DepthStencilRead
        | Usage::InputAttachment
        | Usage::ResolveAttachment
        | Usage::Vertex
        | Usage::Index => Needs::GRAPHICS,
        Usage::Sampled
        | Usage::StorageRead
        | Usage::StorageWrite
        | Usage::StorageReadWrite
        | Usage::Uniform
        | Usage::Indirect
        | Usage::AccelerationRead => Needs::EITHER,
        Usage::TransferSrc | Usage::TransferDst => transfer_needs(access, shape),
        Usage::HostRead | Usage::HostWrite => Needs::HOST,
        Usage::Present => Needs::empty(),
        Usage::AccelerationInput
        | Usage::AccelerationBuild
        | Usage::AccelerationUpdate
        | Usage::AccelerationScratch => Needs::COMPUTE,
    };
    if access.stages.is_empty() { needs } else { needs | stage_needs(access.stages) }
}

fn transfer_needs(access: &Access, shape: &Shape) -> Needs {
    match access.transfer.unwrap_or(Transfer::Copy) {
        Transfer::Copy | Transfer::Fill => Needs::TRANSFER,
        Transfer::Blit | Transfer::Resolve => Needs::GRAPHICS,
        Transfer::Clear => match shape.kind {
            PlanKind::Image { format, .. } if format.is_depth_stencil() => Needs::GRAPHICS,
            _ => Needs::EITHER,
        },
    }
}

/// What stages ask of a queue. Transfer stages ask for no more than `transfer` here: which command it is decides.
pub(crate) fn stage_needs(stages: Stages) -> Needs {
    const RASTER: Stages = Stages::INDEX_INPUT
        .union(Stages::VERTEX_ATTRIBUTE_INPUT)
        .union(Stages::VERTEX_SHADER)
        .union(Stages::TESSELLATION_CONTROL_SHADER)
        .union(Stages::TESSELLATION_EVALUATION_SHADER)
        .union(Stages::GEOMETRY_SHADER)
        .union(Stages::TASK_SHADER)
        .union(Stages::MESH_SHADER)
        .union(Stages::FRAGMENT_SHADER)
        .union(Stages::EARLY_FRAGMENT_TESTS)
        .union(Stages::LATE_FRAGMENT_TESTS)
        .union(Stages::COLOR_ATTACHMENT_OUTPUT);
    const COMPUTE: Stages =
        Stages::COMPUTE_SHADER.union(Stages::RAY_TRACING_SHADER).union(Stages::ACCELERATION_STRUCTURE_BUILD);
    let mut needs = Needs::empty();
    needs.set(Needs::GRAPHICS, stages.intersects(RASTER));
    needs.set(Needs::COMPUTE, stages.intersects(COMPUTE));
    needs.set(Needs::EITHER, stages.intersects(Stages::DRAW_INDIRECT));
    needs.set(Needs::TRANSFER, stages.intersects(Stages::ALL_TRANSFER));
    needs.set(Needs::HOST, stages.intersects(Stages::HOST));
    needs
}

/// The stages at which a pass that names no access may do its work on a queue: all that every device has.
pub fn common_stages(capabilities: Capabilities) -> Stages {
    let raster = Stages::DRAW_INDIRECT
        | Stages::INDEX_INPUT
        | Stages::VERTEX_ATTRIBUTE_INPUT
        | Stages::VERTEX_SHADER
        | Stages::FRAGMENT_SHADER
        | Stages::EARLY_FRAGMENT_TESTS
        | Stages::LATE_FRAGMENT_TESTS
        | Stages::COLOR_ATTACHMENT_OUTPUT;
    let common = raster | Stages::COMPUTE_SHADER | Stages::ALL_TRANSFER;
    common.iter().filter(|stage| stage_needs(*stage).met_by(capabilities)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(queues: &[(Capabilities, u32)]) -> Profile {
        let queue = |(at, (capabilities, count)): (usize, &(Capabilities, u32))| Queue {
            name: format!("q{at}"),
            family: at as u32,
            count: *count,
            capabilities: *capabilities,
        };
        Profile::new("p", queues.iter().enumerate().map(queue).collect())
    }

    const G: Capabilities = Capabilities::GRAPHICS;
    const C: Capabilities = Capabilities::COMPUTE;
    const T: Capabilities = Capabilities::TRANSFER;

    #[test]
    fn async_passes_take_the_least_capable_queue_apart_from_graphics() {
        let all = Capabilities::all();
        let several = profile(&[(all, 1), (all, 1), (C | T, 1), (C, 1), (T, 1)]);
        let found = |p: &Profile| {
            [PassQueue::Graphics, PassQueue::Compute, PassQueue::AsyncCompute, PassQueue::Transfer]
                .map(|queue| resolve_queue(p, queue))
        };
        assert_eq!(found(&several), [Some(0), Some(0), Some(2), Some(4)]);
        assert_eq!(found(&profile(&[(all, 1)])), [Some(0); 4]);
        assert_eq!(found(&profile(&[(T, 1), (C, 1)])), [None, Some(1), Some(1), Some(0)]);
        assert_eq!(found(&profile(&[(T, 1), (G, 1)])), [Some(1), Some(1), Some(1), Some(0)]);
        assert_eq!(found(&profile(&[])), [None; 4]);
        // The second of the graphics queues is another queue too.
        assert_eq!(found(&profile(&[(all, 3)])), [Some(0), Some(0), Some(1), Some(1)]);
        let pairs = profile(&[(T, 2), (all, 2)]);
        assert_eq!(found(&pairs), [Some(1), Some(1), Some(3), Some(0)]);
        assert_eq!([0, 1, 2, 3].map(|queue| kind_of(&pairs, queue)), [0, 1, 0, 1]);
        assert_eq!(found(&profile(&[(G, 2); 40])), [Some(0), Some(0), Some(0), Some(1)]);
        assert_eq!(resolve_queue(&several, PassQueue::Any), None);
        assert_eq!(resolve_queue(&several, PassQueue::Cpu), None);
    }

    #[test]
    fn further_queues_stand_after_the_first_of_each_and_never_pass_the_cap() {
        let names = |p: &Profile| expanded_queues(p).into_iter().map(|q| q.name).collect::<Vec<_>>();
        assert_eq!(names(&profile(&[(G, 1), (C, 3), (T, 2)])), ["q0", "q1", "q2", "q1 2", "q1 3", "q2 2"]);
        let many = names(&profile(&[(G, u32::MAX), (C, 3), (T, u32::MAX)]));
        assert_eq!(many.len(), MAX_QUEUES);
        assert_eq!(many.iter().filter(|n| n.starts_with("q1")).count(), 3);
        assert_eq!(many.iter().filter(|n| n.starts_with("q2")).count(), 6);
        assert_eq!(names(&profile(&[(G, 0); 40])).len(), MAX_QUEUES);
    }

    #[test]
    fn a_pass_without_accesses_may_work_at_all_stages_of_its_queue() {
        assert_eq!(common_stages(T), Stages::ALL_TRANSFER);
        assert_eq!(common_stages(C), Stages::ALL_TRANSFER | Stages::COMPUTE_SHADER | Stages::DRAW_INDIRECT);
        assert!(common_stages(Capabilities::all()).contains(Stages::FRAGMENT_SHADER | Stages::COMPUTE_SHADER));
    }

    #[test]
    fn needs_are_met_by_queues_that_have_them() {
        assert!(Needs::TRANSFER.met_by(G), "every graphics queue can copy");
        assert!(Needs::EITHER.met_by(C) && Needs::EITHER.met_by(G) && !Needs::EITHER.met_by(T));
        assert!(!(Needs::GRAPHICS | Needs::COMPUTE).met_by(G));
        assert!(!Needs::HOST.met_by(Capabilities::all()));
        assert_eq!((Needs::GRAPHICS | Needs::EITHER).words(), "graphics");
        assert_eq!(stage_needs(Stages::FRAGMENT_SHADER | Stages::COMPUTE_SHADER), Needs::GRAPHICS | Needs::COMPUTE);
    }
}
