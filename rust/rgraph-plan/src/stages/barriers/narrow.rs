//! Stages that others of the same scope imply. For execution, a first scope includes logically earlier stages, a second
//! one logically later stages. The access scopes include only stages that the mask names, so a stage that accesses
//! memory in a scope stays in the mask.
//!
//! Source: Vulkan 1.3, "Pipeline Stages" (logical order), "Execution and Memory Dependencies" (scopes).

use crate::access::{Accesses, Stages};
use crate::plan::Scope;

/// Pipelines in logical order.
const PIPELINES: [&[Stages]; 4] = [
    &[
        Stages::DRAW_INDIRECT,
        Stages::INDEX_INPUT,
        Stages::VERTEX_ATTRIBUTE_INPUT,
        Stages::VERTEX_SHADER,
        Stages::TESSELLATION_CONTROL_SHADER,
        Stages::TESSELLATION_EVALUATION_SHADER,
        Stages::GEOMETRY_SHADER,
        Stages::EARLY_FRAGMENT_TESTS,
        Stages::FRAGMENT_SHADER,
        Stages::LATE_FRAGMENT_TESTS,
        Stages::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[
        Stages::DRAW_INDIRECT,
        Stages::TASK_SHADER,
        Stages::MESH_SHADER,
        Stages::EARLY_FRAGMENT_TESTS,
        Stages::FRAGMENT_SHADER,
        Stages::LATE_FRAGMENT_TESTS,
        Stages::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[Stages::DRAW_INDIRECT, Stages::COMPUTE_SHADER],
    &[Stages::DRAW_INDIRECT, Stages::RAY_TRACING_SHADER],
];

const DEPTH: Accesses = Accesses::DEPTH_STENCIL_ATTACHMENT_READ.union(Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE);

/// Access kinds of a fixed-function stage; all kinds for a shader.
fn accesses_of(stage: Stages) -> Accesses {
    match stage {
        Stages::DRAW_INDIRECT => Accesses::INDIRECT_COMMAND_READ,
        Stages::INDEX_INPUT => Accesses::INDEX_READ,
        Stages::VERTEX_ATTRIBUTE_INPUT => Accesses::VERTEX_ATTRIBUTE_READ,
        Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS => DEPTH,
        Stages::COLOR_ATTACHMENT_OUTPUT => Accesses::COLOR_ATTACHMENT_READ | Accesses::COLOR_ATTACHMENT_WRITE,
        _ => Accesses::all(),
    }
}

/// Writes of stages.
pub(crate) fn writes_of(stages: Stages) -> Accesses {
    bits(stages).fold(Accesses::empty(), |all, stage| all | writes_of_one(stage))
}

/// The stages at which access kinds write.
pub(crate) fn writing(stages: Stages, kinds: Accesses) -> Stages {
    bits(stages).filter(|stage| kinds.intersects(writes_of_one(*stage))).fold(Stages::empty(), |all, stage| all | stage)
}

fn writes_of_one(stage: Stages) -> Accesses {
    match stage {
        Stages::DRAW_INDIRECT | Stages::INDEX_INPUT | Stages::VERTEX_ATTRIBUTE_INPUT => Accesses::empty(),
        Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS => Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE,
        Stages::COLOR_ATTACHMENT_OUTPUT => Accesses::COLOR_ATTACHMENT_WRITE,
        Stages::COPY | Stages::BLIT | Stages::RESOLVE | Stages::CLEAR => Accesses::TRANSFER_WRITE,
        Stages::ACCELERATION_STRUCTURE_BUILD => Accesses::ACCELERATION_STRUCTURE_WRITE,
        Stages::HOST => Accesses::HOST_WRITE,
        _ => Accesses::SHADER_STORAGE_WRITE,
    }
}

/// By bit of a stage: itself and the stages of its pipelines that are logically earlier, or later.
const EARLIER: [Stages; 32] = related(false);
const LATER: [Stages; 32] = related(true);

const fn related(later: bool) -> [Stages; 32] {
    let mut related = [Stages::empty(); 32];
    let mut pipeline = 0;
    while pipeline < PIPELINES.len() {
        let stages = PIPELINES[pipeline];
        let mut before = Stages::empty();
        let mut at = 0;
        while at < stages.len() {
            let stage = stages[if later { stages.len() - 1 - at } else { at }];
            before = before.union(stage);
            let bit = stage.bits().trailing_zeros() as usize;
            related[bit] = related[bit].union(before);
            at += 1;
        }
        pipeline += 1;
    }
    related
}

/// Stages, and the related ones of each. O(stages).
fn with(stages: Stages, related: &[Stages; 32]) -> Stages {
    bits(stages).fold(stages, |all, stage| all | related[stage.bits().trailing_zeros() as usize])
}

/// The stages of a set, one by one.
pub(crate) fn bits(stages: Stages) -> impl Iterator<Item = Stages> {
    let mut left = stages.bits();
    std::iter::from_fn(move || {
        let lowest = left & left.wrapping_neg();
        left &= left.wrapping_sub(1);
        (lowest != 0).then(|| Stages::from_bits_retain(lowest))
    })
}

/// Some stages and all that are logically earlier than one of them.
pub(crate) fn with_earlier(stages: Stages) -> Stages {
    with(stages, &EARLIER)
}

/// Some stages and all that are logically later than one of them.
pub(crate) fn with_later(stages: Stages) -> Stages {
    with(stages, &LATER)
}

/// True if another stage of `stages` implies `stage`; `related` has the stages that imply each one.
fn is_implied(stage: Stages, stages: Stages, related: &[Stages; 32]) -> bool {
    related[stage.bits().trailing_zeros() as usize].intersects(stages - stage)
}

/// A scope without the stages that others of it imply, except those that its access kinds need.
pub(crate) fn narrowed(scope: Scope) -> Scope {
    let Scope { mut src_stages, src_access, mut dst_stages, dst_access } = scope;
    // A first access scope makes writes available, and of the pipelines' stages only shaders and attachments write.
    let shaders = Accesses::SHADER_STORAGE_WRITE | Accesses::ACCELERATION_STRUCTURE_WRITE;
    let several = |stages: Stages| stages.bits() & stages.bits().wrapping_sub(1) != 0;
    if several(src_stages) {
        for stage in bits(src_stages) {
            let writes = match stage {
                Stages::LATE_FRAGMENT_TESTS | Stages::EARLY_FRAGMENT_TESTS | Stages::COLOR_ATTACHMENT_OUTPUT => {
                    accesses_of(stage)
                }
                _ => shaders,
            };
            if is_implied(stage, src_stages, &LATER) && !src_access.intersects(writes) {
                src_stages -= stage;
            }
        }
    }
    if several(dst_stages) {
        for stage in bits(dst_stages) {
            if is_implied(stage, dst_stages, &EARLIER) && !dst_access.intersects(accesses_of(stage)) {
                dst_stages -= stage;
            }
        }
    }
    Scope { src_stages, src_access, dst_stages, dst_access }
}

/// Chains a barrier that begins at the stages `source` to a wait that holds up the stages `held`: the second scope of
/// the wait and the first one of the barrier share a stage (Vulkan 1.3, "Execution and Memory Dependencies"). If they
/// have none, the barrier or both get one of `own`, the stages of the use behind them.
pub(crate) fn chain(held: &mut Stages, source: &mut Stages, own: Stages) {
    let (reached, taken) = (with_later(*held), with_earlier(*source));
    if reached.intersects(taken) {
        return;
    }
    let preferred = [own & reached, own & taken, own].into_iter().find(|stages| !stages.is_empty()).unwrap_or(own);
    // The logically latest one holds up the least.
    let last = bits(preferred).find(|&one| with_later(one) & preferred == one).unwrap_or(preferred);
    if !reached.intersects(last) {
        *held |= last;
    }
    if !taken.intersects(last) {
        *source |= last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_hold_what_comes_before_and_after_in_each_pipeline() {
        for pipeline in PIPELINES {
            for (at, &stage) in pipeline.iter().enumerate() {
                let all = |stages: &[Stages]| stages.iter().fold(Stages::empty(), |all, stage| all | *stage);
                assert!(with_earlier(stage).contains(all(&pipeline[..=at])));
                assert!(with_later(stage).contains(all(&pipeline[at..])));
            }
        }
        assert_eq!(with_earlier(Stages::COMPUTE_SHADER), Stages::DRAW_INDIRECT | Stages::COMPUTE_SHADER);
        assert_eq!(with_later(Stages::MESH_SHADER) & with_earlier(Stages::MESH_SHADER), Stages::MESH_SHADER);
        assert!(
            !with_earlier(Stages::FRAGMENT_SHADER).intersects(Stages::COMPUTE_SHADER | Stages::LATE_FRAGMENT_TESTS)
        );
        for alone in [Stages::COPY, Stages::HOST, Stages::empty()] {
            assert_eq!((with_earlier(alone), with_later(alone)), (alone, alone));
        }
    }

    #[test]
    fn stages_that_others_imply_go_and_those_that_access_memory_stay() {
        let fragment_and_color = Stages::FRAGMENT_SHADER | Stages::COLOR_ATTACHMENT_OUTPUT;
        let scope = Scope {
            src_stages: fragment_and_color | Stages::COPY,
            src_access: Accesses::COLOR_ATTACHMENT_WRITE,
            dst_stages: fragment_and_color,
            dst_access: Accesses::SHADER_SAMPLED_READ,
        };
        let left = narrowed(scope);
        assert_eq!(left.src_stages, Stages::COLOR_ATTACHMENT_OUTPUT | Stages::COPY);
        assert_eq!(left.dst_stages, Stages::FRAGMENT_SHADER);
        assert_eq!((left.src_access, left.dst_access), (scope.src_access, scope.dst_access));
        let both = Scope {
            src_access: Accesses::WRITES,
            dst_access: Accesses::SHADER_SAMPLED_READ | Accesses::COLOR_ATTACHMENT_READ,
            ..scope
        };
        assert_eq!(narrowed(both), both);
    }

    #[test]
    fn a_barrier_and_a_wait_share_a_stage_at_the_least_cost() {
        let chained = |held: Stages, source: Stages, own: Stages| {
            let (mut held, mut source) = (held, source);
            chain(&mut held, &mut source, own);
            assert!(with_later(held).intersects(with_earlier(source)), "{held:?} does not lead to {source:?}");
            (held, source)
        };
        let (compute, vertex, fragment) = (Stages::COMPUTE_SHADER, Stages::VERTEX_SHADER, Stages::FRAGMENT_SHADER);
        let color = Stages::COLOR_ATTACHMENT_OUTPUT;
        // They share one already: the wait holds up what is logically later, too.
        assert_eq!(chained(compute, compute, Stages::COPY), (compute, compute));
        assert_eq!(chained(vertex, color, compute), (vertex, color));
        // The use has a stage that the wait holds up: the barrier begins there.
        assert_eq!(chained(compute, Stages::COPY, compute | fragment), (compute, Stages::COPY | compute));
        // The use has a stage at which the barrier begins: the wait holds that up.
        assert_eq!(chained(Stages::COPY, compute, compute), (Stages::COPY | compute, compute));
        // Neither has: both get the logically latest stage of the use.
        let both = (Stages::COPY | color, compute | color);
        assert_eq!(chained(Stages::COPY, compute, fragment | color), both);
        // A wait at no stage holds up the stage of the use, and so does a barrier without a first scope.
        assert_eq!(chained(Stages::empty(), Stages::empty(), compute), (compute, compute));
    }
}
