//! Optional features: a plan runs no pass on a device that lacks what the pass needs.
//!
//! Source: Vulkan 1.3 specification, "Features", and valid usage of `VkMemoryBarrier2` (03929 to 03936 and 07316 to
//! 07318: stages exist where their feature is on); `VK_KHR_acceleration_structure`.

use rgraph_ir::access::{Stages, Usage};
use rgraph_ir::feature::Features;
use rgraph_ir::graph::{Access, PassId};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Command, Plan};

use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::ids::DeclaredOf;

/// Checks each pass that runs. O(accesses + commands); nothing where the plan's profile does not list its features.
pub(crate) fn features(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    let Some(has) = plan.features else { return };
    let graph = facts.graph;
    let mut needed: IdVec<PassId, Features> = graph.passes().iter().map(|pass| pass.needed_features()).collect();
    for access in graph.accesses() {
        needed[access.pass] |= of_access(access);
    }
    for command in &plan.commands {
        let Command::Pass { pass, .. } = command else { continue };
        let declared = declared_of[*pass].and_then(|at| facts.declared_passes[at].declared);
        let Some(needs) = declared.and_then(|at| needed.get(PassId::new(at.index()))) else { continue };
        let missing = *needs - has;
        if !missing.is_empty() {
            let name = plan.pass_name(*pass);
            let message = format!("pass \"{name}\" needs {missing}, which profile \"{}\" lacks", plan.profile);
            findings.add(Rule::Feature, Some(name), None, message);
        }
    }
}

/// Features without which a device has no such stage or usage.
fn of_access(access: &Access) -> Features {
    let mut needs = match access.usage {
        Usage::AccelerationRead
        | Usage::AccelerationInput
        | Usage::AccelerationBuild
        | Usage::AccelerationUpdate
        | Usage::AccelerationScratch => Features::ACCELERATION_STRUCTURE,
        _ => Features::empty(),
    };
    for stage in access.stages {
        needs |= match stage {
            Stages::TESSELLATION_CONTROL_SHADER | Stages::TESSELLATION_EVALUATION_SHADER => {
                Features::TESSELLATION_SHADER
            }
            Stages::GEOMETRY_SHADER => Features::GEOMETRY_SHADER,
            Stages::TASK_SHADER | Stages::MESH_SHADER => Features::MESH_SHADER,
            Stages::RAY_TRACING_SHADER => Features::RAY_TRACING_PIPELINE,
            _ => Features::empty(),
        };
    }
    needs
}
