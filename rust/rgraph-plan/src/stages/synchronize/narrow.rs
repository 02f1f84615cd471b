//! Stages that others of the same scope imply: a first scope takes in what is logically earlier, a second one what is
//! logically later, as far as execution goes. What accesses memory in a scope is named all the same.
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

/// What a stage does to memory.
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

/// Some stages and all that are logically earlier than one of them.
pub fn with_earlier(stages: Stages) -> Stages {
    PIPELINES.iter().fold(stages, |all, pipeline| {
        let end = pipeline.iter().rposition(|stage| stages.contains(*stage)).map_or(0, |at| at + 1);
        pipeline[..end].iter().fold(all, |all, stage| all | *stage)
    })
}

/// Some stages and all that are logically later than one of them.
pub fn with_later(stages: Stages) -> Stages {
    PIPELINES.iter().fold(stages, |all, pipeline| {
        let start = pipeline.iter().position(|stage| stages.contains(*stage)).unwrap_or(pipeline.len());
        pipeline[start..].iter().fold(all, |all, stage| all | *stage)
    })
}

/// A scope without the stages that its others imply, unless it is about memory that they access.
pub fn narrowed(scope: Scope) -> Scope {
    let Scope { mut src_stages, src_access, mut dst_stages, dst_access } = scope;
    let shaders = Accesses::SHADER_STORAGE_WRITE | Accesses::ACCELERATION_STRUCTURE_WRITE;
    for stage in src_stages.iter() {
        let writes = match stage {
            Stages::LATE_FRAGMENT_TESTS | Stages::EARLY_FRAGMENT_TESTS | Stages::COLOR_ATTACHMENT_OUTPUT => {
                accesses_of(stage)
            }
            _ => shaders,
        };
        if with_earlier(src_stages - stage).contains(stage) && !src_access.intersects(writes) {
            src_stages -= stage;
        }
    }
    for stage in dst_stages.iter() {
        if with_later(dst_stages - stage).contains(stage) && !dst_access.intersects(accesses_of(stage)) {
            dst_stages -= stage;
        }
    }
    Scope { src_stages, src_access, dst_stages, dst_access }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
