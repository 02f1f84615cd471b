//! Load and store operations of render passes, and resolves.

use rgraph_ir::access::{Accesses, Aspects, Load, Stages, Store};
use rgraph_ir::id::Id;
use rgraph_ir::resource::ResourceId;

use super::memory::{Agent, POISON, Sight, UNDEFINED};
use super::order::{Kind, Node};
use super::value::Value;
use super::{FOREIGN, Machine, RENDERING};
use crate::facts::DeclaredUse;
use crate::ids::SubresourceId;
use crate::outcome::{cleared, is_loaded};
use crate::tables::leaves;

impl<'e> Machine<'_, 'e> {
    /// The first declared pass of a rendering that runs and has a subresource as attachment; whether its access is
    /// unordered.
    fn user(&self, rendering: u32, run: u32, entry: usize, fine: u32) -> Option<&'e DeclaredUse> {
        let scene = self.scene;
        let facts = scene.facts;
        let resource = scene.plan.attachments[entry].resource;
        let memory = facts.memory[resource];
        let coarse = scene.coarse[memory][SubresourceId::new(fine as usize)];
        let declared_passes =
            scene.renderings[rendering as usize].declared_passes.iter().filter(|declared| self.runs(**declared, run));
        declared_passes.flat_map(|declared| &facts.declared_passes[*declared].uses).find(|at| {
            facts.memory[at.resource] == memory && is_loaded(at) && at.subresources.binary_search(&coarse).is_ok()
        })
    }

    pub(super) fn is_rendered(&self, rendering: u32, run: u32) -> bool {
        self.scene.renderings[rendering as usize].declared_passes.iter().any(|declared| self.runs(*declared, run))
    }

    fn operation(&self, node: &Node, depth: bool, stage: Stages, write: bool) -> Agent {
        let access = match (depth, write) {
            (true, true) => Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE,
            (true, false) => Accesses::DEPTH_STENCIL_ATTACHMENT_READ,
            (false, true) => Accesses::COLOR_ATTACHMENT_WRITE,
            (false, false) => Accesses::COLOR_ATTACHMENT_READ,
        };
        let target = &self.scene.renderings[node.a as usize].targets[node.b as usize];
        let rendering = self.rendering(node.a, node.run);
        Agent {
            queue: node.queue,
            position: node.position,
            stage: leaves(stage).next().unwrap_or(0) as u8,
            access: access.bits(),
            rendering,
            subpass: if node.kind == Kind::Load { target.first_subpass } else { target.last_subpass },
            attachment: true,
            instance: RENDERING | rendering,
        }
    }

    /// A load operation: a clear fills, a discard destroys, a load must find its contents.
    pub(super) fn load(&mut self, node: &Node) {
        if !self.is_rendered(node.a, node.run) {
            return;
        }
        let scene = self.scene;
        let target = &scene.renderings[node.a as usize].targets[node.b as usize];
        let entry = &scene.plan.attachments[target.entry];
        let memory = scene.facts.memory[entry.resource];
        let start = scene.start(entry.resource, node.run);
        let stage = if target.depth { Stages::EARLY_FRAGMENT_TESTS } else { Stages::COLOR_ATTACHMENT_OUTPUT };
        for &fine in &target.subresources {
            let stencil = scene.fine[memory].aspect(SubresourceId::new(fine as usize)) == Aspects::STENCIL;
            let (load, kept) = entry.stencil.filter(|_| stencil).unwrap_or((entry.load, entry.store));
            let user = self.user(node.a, node.run, target.entry, fine);
            if user.is_some_and(|at| at.unordered) {
                continue;
            }
            let agent = self.operation(node, target.depth, stage, load != Load::Load);
            let place = start + fine;
            let [_, foreign] = self.is_amiss(node, place, entry.resource, u16::MAX);
            let subresource = &mut self.subresources[place as usize];
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
                subresource.torn = subresource.torn.max(node.run + 1);
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

    /// A store operation: what is not stored is gone, what nobody wrote is written again.
    pub(super) fn store(&mut self, node: &Node) {
        if !self.is_rendered(node.a, node.run) {
            return;
        }
        let scene = self.scene;
        let target = &scene.renderings[node.a as usize].targets[node.b as usize];
        let entry = &scene.plan.attachments[target.entry];
        let memory = scene.facts.memory[entry.resource];
        let start = scene.start(entry.resource, node.run);
        let stage = if target.depth { Stages::LATE_FRAGMENT_TESTS } else { Stages::COLOR_ATTACHMENT_OUTPUT };
        let agent = self.operation(node, target.depth, stage, true);
        for &fine in &target.subresources {
            let stencil = scene.fine[memory].aspect(SubresourceId::new(fine as usize)) == Aspects::STENCIL;
            let kept = entry.stencil.filter(|_| stencil).map_or(entry.store, |(_, store)| store);
            let subresource = &mut self.subresources[(start + fine) as usize];
            let own = || subresource.now.writers.iter().filter(|writer| writer.rendering == agent.rendering);
            let (written, moved) = (own().next().is_some(), own().any(|writer| writer.transition));
            match kept {
                Store::Nothing if !written => {}
                Store::Nothing | Store::Discard => subresource.now.value = UNDEFINED,
                // Behind a change of layout within the render pass it is a write of its own, whoever saw the change.
                Store::Store if written && !moved => {}
                Store::Store => {
                    let sight = self.events.sees(&mut subresource.now, &agent);
                    let good = sight != Sight::No || !moved && self.events.was_seen(&subresource.now, &agent);
                    let (value, run) = (subresource.now.value, subresource.now.run);
                    if !subresource.now.writers.is_empty() {
                        self.put(start + fine, node.run, &agent, if good { value } else { POISON });
                        self.subresources[(start + fine) as usize].now.run = run;
                    }
                }
            }
        }
    }

    /// The resolves of a pass, at the end of its subpass: of what the samples are then.
    pub(super) fn resolve(&mut self, node: &Node) {
        let scene = self.scene;
        let exec = &scene.execs[node.a as usize];
        if !self.runs(exec.declared, node.run) {
            return;
        }
        let instance = node.run * scene.execs.len() as u32 + node.a;
        self.values.ran(instance);
        for &number in &exec.resolves {
            let access = &exec.accesses[number as usize];
            let at = &scene.facts.declared_passes[exec.declared].uses[access.number];
            let agent = Agent {
                queue: node.queue,
                position: node.position,
                stage: leaves(Stages::COLOR_ATTACHMENT_OUTPUT).next().unwrap_or(0) as u8,
                access: Accesses::COLOR_ATTACHMENT_WRITE.bits(),
                rendering: self.rendering(exec.rendering, node.run),
                subpass: exec.subpass,
                attachment: true,
                instance,
            };
            let samples = self.samples(node, at.resolves);
            let start = scene.start(access.resource, node.run);
            for target in &access.targets {
                let place = start + target.fine;
                let [amiss, _] = self.is_amiss(node, place, access.resource, target.layouts);
                let subresource = &mut self.subresources[place as usize];
                let good = (self.events.sees(&mut subresource.now, &agent) != Sight::No
                    || self.events.was_seen(&subresource.now, &agent))
                    && !amiss;
                let (number, samples) = (access.number.index() as u32, samples.clone());
                let value = self.values.add(Value::Resolved { instance, number, subresource: target.coarse, samples });
                self.put(place, node.run, &agent, if good { value } else { POISON });
            }
        }
    }

    /// What a pass's samples are.
    fn samples(&self, node: &Node, resolves: Option<ResourceId>) -> Vec<u32> {
        let exec = &self.scene.execs[node.a as usize];
        let mut samples = Vec::new();
        for access in exec.accesses.iter().filter(|access| Some(access.resource) == resolves && access.attachment) {
            let start = self.scene.start(access.resource, node.run);
            let mut targets: Vec<_> = access.targets.iter().map(|target| (target.coarse, target.fine)).collect();
            targets.dedup_by_key(|target| target.0);
            let held = targets.iter().map(|(_, fine)| &self.subresources[(start + fine) as usize].now);
            samples.extend(held.map(|held| self.value(held, access.resource, node.run)));
        }
        samples
    }
}
