//! What passes and resources say of each other: fallbacks, pure orderings, roots.

use super::words::describe;
use super::{Check, ValidateScratch};
use crate::access::{Load, Usage};
use crate::error::{Code, Mistake};
use crate::format::{Format, Numbers};
use crate::graph::{Access, Fallback, Graph};
use crate::id::{Id, IdVec};
use crate::plan::PlanKind;
use crate::resource::{Life, ResourceId};
use crate::stages::ids::AccessId;
use crate::stages::resolve::declared;

/// Memory that the checks reuse.
#[derive(Default, Debug)]
pub(super) struct Scratch {
    /// Empty until something modifies.
    pub(super) modified_by: IdVec<ResourceId, Option<ResourceId>>,
    /// Fallbacks by output.
    sorted: Vec<Fallback>,
    waiting: Vec<u32>,
    ready: Vec<u32>,
}

impl Check<'_> {
    pub(super) fn check_links(&mut self, scratch: &mut ValidateScratch) {
        let graph = self.graph;
        if !graph.fallbacks().is_empty() {
            self.check_fallbacks(scratch);
        }
        for &(later, earlier) in graph.orderings() {
            let passes = graph.passes().len();
            if later.index() >= passes || earlier.index() >= passes {
                let message = "a pass is ordered after a pass of another graph";
                self.block(Mistake::new(Code::UnknownName, message, "order passes of this graph"));
            } else if later == earlier {
                let help = "leave it out of its own after";
                self.add(self.of_pass(Code::Cycle, later, "is ordered after itself", help));
            }
        }
        let missing = self.found.mistakes.iter().any(|mistake| mistake.code == Code::UnknownName);
        if !missing && !self.has_root(scratch) {
            let message = format!("graph \"{}\" has no root: nothing would run", graph.name());
            let last =
                graph.accesses().iter().rev().find(|access| access.usage.writes() && self.known(access.resource));
            let help = match last {
                Some(access) => {
                    let name = self.resource_name(access.resource);
                    format!("name what the frame is for, such as root \"{name}\", or give a pass side effects")
                }
                None => "name a resource as root, or give a pass side effects".to_owned(),
            };
            self.add(Mistake::new(Code::NoRoot, message, help));
        }
    }

    fn check_fallbacks(&mut self, scratch: &mut ValidateScratch) {
        let graph = self.graph;
        let before = self.found.mistakes.len();
        let sorted = &mut scratch.links.sorted;
        sorted.clear();
        sorted.extend_from_slice(graph.fallbacks());
        sorted.sort_unstable_by_key(|fallback| (fallback.output, fallback.pass, fallback.input));
        for fallback in graph.fallbacks() {
            self.check_fallback(fallback, scratch);
        }
        if self.found.mistakes.len() == before {
            self.check_fallback_writers(&scratch.links.sorted);
            self.check_fallback_attachments(&scratch.links.sorted);
            self.check_fallback_cycles(&mut scratch.links);
        }
    }

    fn check_fallback(&mut self, fallback: &Fallback, scratch: &ValidateScratch) {
        let graph = self.graph;
        let sorted = &scratch.links.sorted;
        let Fallback { pass, output, input } = *fallback;
        if pass.index() >= graph.passes().len() || !self.known(output) || !self.known(input) {
            let message = "a fallback names a pass or a resource of another graph";
            self.block(Mistake::new(Code::UnknownName, message, "name those of this graph"));
            return;
        }
        let [out, inp] = [output, input].map(|resource| self.resource_name(resource));
        let at = sorted.partition_point(|other| (other.output, other.pass) < (output, pass));
        let again = sorted[at..].iter().take_while(|other| (other.output, other.pass) == (output, pass)).count() > 1;
        let written = || {
            scratch.by_pass[scratch.of_pass[pass].range()].iter().any(|&id| {
                let access = declared(graph, id);
                access.resource == output && access.usage.writes()
            })
        };
        let placeholder = scratch.facts[output].placeholder || scratch.facts[input].placeholder;
        // Placeholders need not have one shape.
        self.found.resolvable &= !placeholder;
        let wrong = if graph.passes()[pass].conditional.is_none() {
            Some((
                "but no flag switches the pass".to_owned(),
                "make the pass conditional, or leave the fallback out".to_owned(),
            ))
        } else if output == input {
            Some(("which is the same".to_owned(), "name another resource".to_owned()))
        } else if again {
            Some((format!("and another fallback of \"{out}\" too"), "keep one of them".to_owned()))
        } else if !written() {
            Some((
                format!("but does not write \"{out}\""),
                format!("write \"{out}\" in the pass, or leave the fallback out"),
            ))
        } else if !placeholder && !replaces(&self.shapes[output].kind, &self.shapes[input].kind) {
            let what = [output, input].map(|resource| describe(&self.shapes[resource]));
            Some((format!("but one is {} and the other {}", what[0], what[1]), "give both one shape".to_owned()))
        } else if let Some(&Some(by)) = scratch.links.modified_by.get(output) {
            let says = match (&self.shapes[output].kind, &self.shapes[by].kind) {
                (PlanKind::Image { size: one, .. }, PlanKind::Image { size: other, .. }) if one != other => {
                    "is scaled from"
                }
                _ => "modifies",
            };
            let by = self.resource_name(by);
            Some((
                format!("but \"{by}\" {says} \"{out}\" whatever the flags are"),
                format!("copy \"{out}\" in a pass of its own instead"),
            ))
        } else {
            None
        };
        if let Some((why, help)) = wrong {
            let says = format!("falls back from \"{out}\" to \"{inp}\", {why}");
            let place = |resource| graph.resource_place(resource).cloned();
            let mistake = self
                .of_pass(Code::BadCondition, pass, &says, &help)
                .resource(out)
                .side(out, describe(&self.shapes[output]), place(output))
                .side(inp, describe(&self.shapes[input]), place(input));
            self.block(mistake);
        }
    }

    /// While the flag is off the output is another resource: nothing may write over part of it afterwards.
    fn check_fallback_writers(&mut self, sorted: &[Fallback]) {
        for (index, access) in self.graph.accesses().iter().enumerate() {
            if !keeps(access) || !self.known(access.resource) {
                continue;
            }
            let at = sorted.partition_point(|fallback| fallback.output < access.resource);
            let Some(fallback) = sorted.get(at).filter(|f| f.output == access.resource && f.pass < access.pass) else {
                continue;
            };
            let (pass, name) = (self.graph.pass_name(access.pass), self.resource_name(access.resource));
            let first = self.graph.pass_name(fallback.pass);
            let message =
                format!("pass \"{pass}\" writes over part of \"{name}\", which falls back while \"{first}\" is off");
            let help = format!(
                "write a resource that starts as a copy of \"{name}\", or replace it wholly with load: clear or discard"
            );
            self.block_fallback(AccessId::new(index), fallback, message, help);
        }
    }

    /// An access of an output and the fallback of that output contradict each other.
    fn block_fallback(&mut self, id: AccessId, fallback: &Fallback, message: String, help: String) {
        let access = self.access(id);
        let (pass, by) = (self.graph.pass_name(access.pass), fallback.pass);
        let falls_back = format!("falls back to \"{}\"", self.resource_name(fallback.input));
        let mistake = Mistake::new(Code::BadCondition, message, help)
            .pass(pass)
            .resource(self.resource_name(access.resource))
            .side(pass, access.usage.name(), self.access_place(id))
            .side(self.graph.pass_name(by), falls_back, self.graph.pass_place(by).cloned());
        self.block(mistake);
    }

    /// The attachments of a render pass are the same whatever the flags are, so none of them can have a fallback; and a
    /// surface shows its own image.
    fn check_fallback_attachments(&mut self, sorted: &[Fallback]) {
        let accesses = self.graph.accesses();
        for (index, access) in accesses.iter().enumerate() {
            let in_place = matches!(access.usage, Usage::InputAttachment | Usage::DepthStencilRead | Usage::Present);
            if !in_place || !self.known(access.resource) {
                continue;
            }
            let resources = self.graph.resources();
            let elsewhere = |one: &&Fallback| {
                // Images that modify each other in a circle are a mistake of their own, which is found, too.
                let below = |at: &ResourceId| resources.get(*at)?.modifies;
                let mut names = std::iter::successors(Some(one.output), below).take(resources.len());
                one.output == access.resource && one.pass != access.pass && !names.any(|name| name == one.input)
            };
            let Some(fallback) = sorted.iter().find(elsewhere) else { continue };
            // What reads before the conditional pass reads the output, unless it looks forward to that pass.
            let finds =
                |other: &Access| other.resource == access.resource && other.usage.writes() && other.pass < access.pass;
            let resource = &resources[access.resource];
            let holds = !resource.life.is_of_frame() || resource.modifies.is_some();
            if access.pass < fallback.pass && (holds || accesses.iter().any(finds)) {
                continue;
            }
            let (pass, name) = (self.graph.pass_name(access.pass), self.resource_name(access.resource));
            let first = self.graph.pass_name(fallback.pass);
            let message = format!(
                "pass \"{pass}\" has \"{name}\" as {}, which falls back while \"{first}\" is off",
                access.usage.name()
            );
            let help = match access.usage {
                Usage::Present => format!("present a copy of \"{name}\", or leave out its fallback"),
                _ => format!("read \"{name}\" as sampled, or leave out its fallback"),
            };
            self.block_fallback(AccessId::new(index), fallback, message, help);
        }
    }

    /// A fallback may fall back further, but never to where it began. Kahn's algorithm over outputs.
    fn check_fallback_cycles(&mut self, Scratch { sorted, waiting, ready, .. }: &mut Scratch) {
        let of_output = |sorted: &[Fallback], output: ResourceId| {
            let first = sorted.partition_point(|fallback| fallback.output < output);
            let count = sorted[first..].iter().take_while(|fallback| fallback.output == output).count();
            first..first + count
        };
        // How many fallbacks lead to the output of each fallback; one that none leads to is no part of a cycle.
        waiting.clear();
        waiting.resize(sorted.len(), 0);
        for at in 0..sorted.len() {
            let onward = of_output(sorted, sorted[at].input);
            if let Some(first) = waiting.get_mut(onward.start)
                && !onward.is_empty()
            {
                *first += 1;
            }
        }
        ready.clear();
        let mut left = sorted.len();
        let begins = |at: usize| at == 0 || sorted[at].output != sorted[at - 1].output;
        ready.extend((0..sorted.len()).filter(|&at| begins(at) && waiting[at] == 0).map(|at| at as u32));
        while let Some(at) = ready.pop() {
            for from in of_output(sorted, sorted[at as usize].output) {
                left -= 1;
                let onward = of_output(sorted, sorted[from].input);
                if !onward.is_empty() {
                    waiting[onward.start] -= 1;
                    if waiting[onward.start] == 0 {
                        ready.push(onward.start as u32);
                    }
                }
            }
        }
        if left == 0 {
            return;
        }
        let Some(first) = (0..sorted.len()).find(|&at| begins(at) && waiting[at] > 0) else { return };
        let Fallback { pass, output, .. } = sorted[first];
        let out = self.resource_name(output);
        let says = format!("falls back from \"{out}\" in a circle");
        let place = self.graph.resource_place(output).cloned();
        let mistake = self
            .of_pass(Code::BadCondition, pass, &says, "fall back to a resource that falls back no further")
            .resource(out)
            .side(out, describe(&self.shapes[output]), place);
        self.block(mistake);
    }
}

/// Whether an access writes and leaves part of the old contents.
fn keeps(access: &Access) -> bool {
    let replaces =
        matches!(access.usage, Usage::ResolveAttachment | Usage::AccelerationBuild | Usage::AccelerationScratch);
    access.usage.writes() && !replaces && !matches!(access.load, Some(Load::Clear | Load::Discard))
}

/// Whether a pass writes an imported resource, or what modifies one in its memory. At most one resource modifies
/// each, so no chain is followed twice.
pub(super) fn imports_written(graph: &Graph, scratch: &ValidateScratch) -> bool {
    let resources = graph.resources();
    resources.iter_ids().filter(|(_, resource)| matches!(resource.life, Life::Imported(_))).any(|(id, _)| {
        let above = |below: &ResourceId| *scratch.links.modified_by.get(*below)?;
        // Imported resources modify nothing, or are a mistake; the bound holds where they do.
        std::iter::successors(Some(id), above).take(resources.len()).any(|id| scratch.facts[id].written)
    })
}

/// Whether readers of one can be given the other: the same size, and numbers that a shader declares alike.
fn replaces(output: &PlanKind, input: &PlanKind) -> bool {
    match (*output, *input) {
        (PlanKind::Image { format: a, .. }, PlanKind::Image { format: b, .. }) => {
            let class = |format: Format| match format.numbers() {
                Numbers::Float | Numbers::Unorm | Numbers::Snorm | Numbers::Block => 0,
                Numbers::Uint => 1,
                Numbers::Sint => 2,
                Numbers::Depth => 3,
            };
            let shape = |kind: &PlanKind| match *kind {
                PlanKind::Image { size, mips, layers, samples, volume, cube, .. } => {
                    Some((size, mips, layers, samples, volume, cube))
                }
                PlanKind::Buffer { .. } => None,
            };
            class(a) == class(b) && shape(output) == shape(input)
        }
        (a, b) => a == b,
    }
}
