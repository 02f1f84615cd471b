//! Load and store operations of render passes, and resolves.

use rgraph_ir::access::{Accesses, Aspects, Load, Stages, Store};
use rgraph_ir::id::Id;
use rgraph_ir::resource::ResourceId;

use super::ids::{
    Actor, ExecId, FineId, Instance, POISON, RenderingId, RenderingInstance, RunId, TargetId, UNDEFINED, ValueId,
};
use super::mapping::Target;
use super::memory::{Agent, Sight, Torn};
use super::order::OrderNode;
use super::value::Value;
use super::{FOREIGN, Machine};
use crate::facts::DeclaredUse;
use crate::ids::Subpass;
use crate::outcome::{cleared, is_loaded};
use crate::tables::leaves;

impl<'e> Machine<'_, 'e> {
    /// The first declared pass of a rendering that runs and has a subresource as attachment; whether its access is
    /// unordered.
    fn user(&self, rendering: RenderingId, run: RunId, target: &Target, fine: FineId) -> Option<&'e DeclaredUse> {
        let mapping = self.mapping;
        let facts = mapping.facts;
        let resource = mapping.plan.attachments[target.entry.index()].resource;
        let memory = facts.memory[resource];
        let coarse = mapping.coarse[memory][fine];
        let declared_passes =
            mapping.renderings[rendering].declared_passes.iter().filter(|declared| self.runs(**declared, run));
        declared_passes.flat_map(|declared| &facts.declared_passes[*declared].uses).find(|at| {
            facts.memory[at.resource] == memory && is_loaded(at) && at.subresources.binary_search(&coarse).is_ok()
        })
    }

    pub(super) fn is_rendered(&self, rendering: RenderingId, run: RunId) -> bool {
        self.mapping.renderings[rendering].declared_passes.iter().any(|declared| self.runs(*declared, run))
    }

    /// A load or store operation in a subpass.
    fn operation(
        &self,
        node: &OrderNode,
        rendering: RenderingId,
        target: &Target,
        (stage, subpass): (Stages, Subpass),
        write: bool,
    ) -> Agent {
        let access = match (target.depth, write) {
            (true, true) => Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE,
            (true, false) => Accesses::DEPTH_STENCIL_ATTACHMENT_READ,
            (false, true) => Accesses::COLOR_ATTACHMENT_WRITE,
            (false, false) => Accesses::COLOR_ATTACHMENT_READ,
        };
        let instance = RenderingInstance { run: node.run, rendering };
        Agent {
            queue: node.queue,
            position: node.position,
            stage: leaves(stage).next().unwrap_or(0) as u8,
            access,
            rendering: Some(instance),
            subpass,
            attachment: true,
            actor: Actor::Rendering(instance),
        }
    }

    /// A load operation: a clear fills, a discard destroys, a load must find its contents.
    pub(super) fn load(&mut self, node: &OrderNode, rendering: RenderingId, target: TargetId) {
        if !self.is_rendered(rendering, node.run) {
            return;
        }
        let mapping = self.mapping;
        let target = &mapping.renderings[rendering].targets[target];
        let entry = &mapping.plan.attachments[target.entry.index()];
        let memory = mapping.facts.memory[entry.resource];
        let start = mapping.start(entry.resource, node.run);
        let stage = if target.depth { Stages::EARLY_FRAGMENT_TESTS } else { Stages::COLOR_ATTACHMENT_OUTPUT };
        for &fine in &target.subresources {
            let stencil = mapping.aspect(memory, fine) == Aspects::STENCIL;
            let (load, kept) = entry.stencil.filter(|_| stencil).unwrap_or((entry.load, entry.store));
            let user = self.user(rendering, node.run, target, fine);
            if user.is_some_and(|at| at.unordered) {
                continue;
            }
            let at = (stage, target.first_subpass);
            let agent = self.operation(node, rendering, target, at, load != Load::Load);
            let place = start.plus(fine);
            let [_, foreign] = self.is_amiss(node, place, entry.resource, u16::MAX);
            let subresource = &mut self.subresources[place];
            let sight = self.events.sees(&mut subresource.now, &agent);
            if load == Load::Load && foreign {
                subresource.now.value = POISON;
                self.blame(node, place, FOREIGN);
                continue;
            }
            if load == Load::Load {
                if sight == Sight::Yes {
                    self.events.see(&mut subresource.now, &agent);
                }
                if sight == Sight::No && kept == Store::Store {
                    subresource.now.value = POISON;
                    self.blame(node, place, "does not see what was written");
                }
                continue;
            }
            let good = sight != Sight::No || self.events.was_seen(&subresource.now, &agent);
            if !good {
                subresource.torn = subresource.torn.max(Torn::In(node.run));
            }
            let value = match load {
                // What is cleared to nothing in particular may be cleared to anything.
                Load::Clear if user.is_some_and(|at| at.clear.is_none()) => Value::Known(cleared(None)),
                Load::Clear => Value::Known(cleared(entry.clear)),
                _ => Value::Undefined,
            };
            if !good {
                self.blame(node, place, "writes over what it does not see");
            }
            let value = if good { self.values.add(value) } else { POISON };
            self.put(place, node.run, &agent, value);
        }
    }

    /// A store operation: contents that are not stored are lost, contents that nobody wrote are written again.
    pub(super) fn store(&mut self, node: &OrderNode, rendering: RenderingId, target: TargetId) {
        if !self.is_rendered(rendering, node.run) {
            return;
        }
        let mapping = self.mapping;
        let target = &mapping.renderings[rendering].targets[target];
        let entry = &mapping.plan.attachments[target.entry.index()];
        let memory = mapping.facts.memory[entry.resource];
        let start = mapping.start(entry.resource, node.run);
        let stage = if target.depth { Stages::LATE_FRAGMENT_TESTS } else { Stages::COLOR_ATTACHMENT_OUTPUT };
        let agent = self.operation(node, rendering, target, (stage, target.last_subpass), true);
        for &fine in &target.subresources {
            let stencil = mapping.aspect(memory, fine) == Aspects::STENCIL;
            let kept = entry.stencil.filter(|_| stencil).map_or(entry.store, |(_, store)| store);
            let place = start.plus(fine);
            let subresource = &mut self.subresources[place];
            let own = || subresource.now.writers.iter().filter(|writer| writer.rendering == agent.rendering);
            let (written, moved) = (own().next().is_some(), own().any(|writer| writer.transition));
            match kept {
                Store::Nothing if !written => {}
                Store::Nothing | Store::Discard => subresource.now.value = UNDEFINED,
                // After a layout transition within the render pass the store is a write of its own, even if another
                // pass saw the transition.
                Store::Store if written && !moved => {}
                Store::Store => {
                    let sight = self.events.sees(&mut subresource.now, &agent);
                    let good = sight != Sight::No || !moved && self.events.was_seen(&subresource.now, &agent);
                    let (value, run) = (subresource.now.value, subresource.now.run);
                    if !subresource.now.writers.is_empty() {
                        self.put(place, node.run, &agent, if good { value } else { POISON });
                        self.subresources[place].now.run = run;
                    }
                }
            }
        }
    }

    /// The resolves of a pass, at the end of its subpass: of what the samples are then.
    pub(super) fn resolve(&mut self, node: &OrderNode, id: ExecId) {
        let mapping = self.mapping;
        let exec = &mapping.execs[id];
        if !self.runs(exec.declared, node.run) {
            return;
        }
        let instance = Instance { run: node.run, exec: id };
        self.values.ran(instance);
        for &number in &exec.resolves {
            let access = &exec.accesses[number];
            let at = &mapping.facts.declared_passes[exec.declared].uses[access.number];
            let agent = Agent {
                queue: node.queue,
                position: node.position,
                stage: leaves(Stages::COLOR_ATTACHMENT_OUTPUT).next().unwrap_or(0) as u8,
                access: Accesses::COLOR_ATTACHMENT_WRITE,
                rendering: self.rendering(exec.rendering, node.run),
                subpass: exec.subpass,
                attachment: true,
                actor: Actor::Pass(instance),
            };
            let samples = self.samples(instance, at.resolves);
            let start = mapping.start(access.resource, node.run);
            for target in &access.targets {
                let place = start.plus(target.fine);
                let [amiss, _] = self.is_amiss(node, place, access.resource, target.layouts);
                let subresource = &mut self.subresources[place];
                let good = (self.events.sees(&mut subresource.now, &agent) != Sight::No
                    || self.events.was_seen(&subresource.now, &agent))
                    && !amiss;
                let (number, samples) = (access.number, samples.clone());
                let value = self.values.add(Value::Resolved { instance, number, subresource: target.coarse, samples });
                self.put(place, node.run, &agent, if good { value } else { POISON });
            }
        }
    }

    /// What a pass's samples are.
    fn samples(&self, Instance { run, exec }: Instance, resolves: Option<ResourceId>) -> Vec<ValueId> {
        let exec = &self.mapping.execs[exec];
        let mut samples = Vec::new();
        for access in exec.accesses.iter().filter(|access| Some(access.resource) == resolves && access.attachment) {
            let start = self.mapping.start(access.resource, run);
            let mut targets: Vec<_> = access.targets.iter().map(|target| (target.coarse, target.fine)).collect();
            targets.dedup_by_key(|target| target.0);
            let held = targets.iter().map(|(_, fine)| &self.subresources[start.plus(*fine)].now);
            samples.extend(held.map(|held| self.value(held, access.resource, run)));
        }
        samples
    }
}
