//! Acceleration structures that outlive a run: whether they were built before something uses them.

use rgraph_plan::resource::ResourceId;

use crate::compile::compiled_graph::{CompiledGraph, StructureUse};
use crate::error::Error;
use crate::frame::fallback::resource_read;
use crate::frame::state::RunState;

impl RunState {
    /// Refuses a run that traces, refits or instances a structure that no run built: its memory holds zeros, on which
    /// drivers hang. A fallback for the output of a pass that is off counts as used.
    pub(super) fn check_built(&self, compiled: &CompiledGraph) -> Result<(), Error> {
        let mut built = Vec::new();
        for &StructureUse { pass, resource, builds } in &compiled.structure_uses {
            if !self.on[pass] {
                continue;
            }
            let resource = if builds { resource } else { resource_read(compiled, &self.on, pass, resource) };
            let memory = compiled.plan.memory_of(resource);
            if compiled.plan.begins_empty(resource) || built.contains(&memory) {
                continue;
            }
            if compiled.physical(memory, self.run, &self.imports).is_none_or(|physical| physical.is_built()) {
                continue;
            }
            if builds {
                built.push(memory);
                continue;
            }
            let (name, user) = (compiled.plan.resource_name(resource), compiled.plan.pass_name(pass));
            let message = format!("pass \"{user}\" uses acceleration structure \"{name}\", which no run built");
            return Err(Error::input(name, message, build_help(compiled, memory)));
        }
        Ok(())
    }

    /// Notes what the run that was submitted built.
    pub(super) fn note_built(&self, compiled: &CompiledGraph) {
        for &StructureUse { pass, resource, builds } in &compiled.structure_uses {
            if builds
                && self.on[pass]
                && !compiled.plan.begins_empty(resource)
                && let Some(physical) = compiled.physical(compiled.plan.memory_of(resource), self.run, &self.imports)
            {
                physical.set_built(true);
            }
        }
    }
}

/// What builds a structure.
fn build_help(compiled: &CompiledGraph, memory: ResourceId) -> String {
    let builds = |one: &&StructureUse| one.builds && compiled.plan.memory_of(one.resource) == memory;
    match compiled.structure_uses.iter().find(builds).and_then(|one| compiled.plan.passes[one.pass].flag) {
        Some(flag) => {
            let name = &compiled.workload.graph.flags()[flag];
            format!("switch its build on in this run: flags={{\"{name}\": True}}")
        }
        None => "build it in the graph before it is used".to_owned(),
    }
}
