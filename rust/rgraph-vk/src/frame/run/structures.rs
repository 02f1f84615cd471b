//! Acceleration structures that outlive a run: whether they were built before something uses them.

use rgraph_plan::resource::ResourceId;

use crate::compile::prepared::Prepared;
use crate::error::Error;
use crate::frame::run::RunState;

impl RunState {
    /// Refuses a run that traces, refits or instances a structure that no run built: its memory holds zeros, on which
    /// drivers hang.
    pub(super) fn check_built(&self, prepared: &Prepared) -> Result<(), Error> {
        let mut built = Vec::new();
        for &(pass, memory, builds) in &prepared.structure_uses {
            let physical = prepared.physical(memory, self.run, &self.imports);
            if !self.on[pass] || built.contains(&memory) || physical.is_none_or(|physical| physical.is_built()) {
                continue;
            }
            if builds {
                built.push(memory);
                continue;
            }
            let (name, user) = (prepared.plan.resource_name(memory), prepared.plan.pass_name(pass));
            let message = format!("pass \"{user}\" uses acceleration structure \"{name}\", which no run built");
            return Err(Error::input(name, message, build_help(prepared, memory)));
        }
        Ok(())
    }

    /// Notes what the run that was submitted built.
    pub(super) fn note_built(&self, prepared: &Prepared) {
        for &(pass, memory, builds) in &prepared.structure_uses {
            if builds
                && self.on[pass]
                && let Some(physical) = prepared.physical(memory, self.run, &self.imports)
            {
                physical.set_built(true);
            }
        }
    }
}

/// What builds a structure.
fn build_help(prepared: &Prepared, memory: ResourceId) -> String {
    let builder = prepared.structure_uses.iter().find(|(_, of, builds)| *of == memory && *builds);
    match builder.and_then(|(pass, ..)| prepared.scene.flag_of[*pass]) {
        Some(flag) => {
            let name = &prepared.workload.graph.flags()[flag];
            format!("switch its build on in this run: flags={{\"{name}\": True}}")
        }
        None => "build it in the graph before it is used".to_owned(),
    }
}
