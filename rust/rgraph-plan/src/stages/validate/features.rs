//! Optional features that passes need, against those that a profile has.

use super::Check;
use crate::access::{Stages, Usage};
use crate::error::{Code, Mistake};
use crate::feature::Features;
use crate::graph::{Access, Graph, PassId};

/// What an access needs whatever its shader does (Vulkan 1.3, "Features": pipeline stages and acceleration structures
/// exist where the feature is on).
pub(crate) fn implied(access: &Access) -> Features {
    const TESSELLATION: Stages = Stages::TESSELLATION_CONTROL_SHADER.union(Stages::TESSELLATION_EVALUATION_SHADER);
    let by_stage = [
        (Stages::TASK_SHADER.union(Stages::MESH_SHADER), Features::MESH_SHADER),
        (Stages::RAY_TRACING_SHADER, Features::RAY_TRACING_PIPELINE),
        (Stages::GEOMETRY_SHADER, Features::GEOMETRY_SHADER),
        (TESSELLATION, Features::TESSELLATION_SHADER),
    ];
    let structure = matches!(
        access.usage,
        Usage::AccelerationInput
            | Usage::AccelerationBuild
            | Usage::AccelerationUpdate
            | Usage::AccelerationScratch
            | Usage::AccelerationRead
    );
    let stages = by_stage.into_iter().filter(|(stages, _)| access.stages.intersects(*stages)).map(|(_, needs)| needs);
    stages.chain(structure.then_some(Features::ACCELERATION_STRUCTURE)).collect()
}

/// What is wrong with a pass on a device of that profile, which lacks `missing`.
pub(crate) fn lacking(graph: &Graph, pass: PassId, profile: &str, missing: Features) -> Mistake {
    let name = graph.pass_name(pass);
    let place = graph.pass_place(pass).cloned();
    let message = format!("pass \"{name}\" needs {missing}, which profile \"{profile}\" lacks");
    let help = "plan for a device with them, write the pass without, or declare another one where they are missing";
    let mut mistake = Mistake::new(Code::MissingFeature, message, help).pass(name);
    let mut explained = false;
    for need in &graph.passes()[pass].needs {
        let of_shader = need.features - (need.features - missing);
        if of_shader.is_empty() {
            continue;
        }
        let shader = if need.shader.is_empty() { name } else { &need.shader };
        mistake = mistake.side(name, format!("shader \"{shader}\" needs {of_shader}"), place.clone());
        explained = true;
    }
    if !explained {
        mistake = mistake.side(name, format!("its accesses need {missing}"), place);
    }
    mistake.side(profile, format!("has no {missing}"), None)
}

impl Check<'_> {
    /// Refuses a pass of which the profile lacks features; `implied` are those of its accesses.
    pub(super) fn check_features(&mut self, id: PassId, implied: Features) {
        let Some(has) = self.profile.features else { return };
        let missing = (self.graph.passes()[id].needed_features() | implied) - has;
        if !missing.is_empty() {
            self.add(lacking(self.graph, id, &self.profile.name, missing));
        }
    }
}
