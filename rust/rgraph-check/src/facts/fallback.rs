//! Fallbacks for the outputs of passes that are switched off, and their readers.
//!
//! A pass reads a resource as a whole. Each subresource of what it reads comes from the last writer before it that runs
//! or names a fallback; while one of those is off, the pass reads the fallback of the last one that is.

use std::convert::Infallible;

use rgraph_ir::graph::FlagId;
use rgraph_ir::resource::ResourceId;

use super::{DeclaredUse, Facts, Key, PassPosition, SubresourceUse};
use crate::ids::{DeclaredPassId, SubresourceId, UseId};

/// Decides by the flags whether a pass reads a resource or a fallback.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Choice {
    output: ResourceId,
    /// By subresource read: the passes whose contents it may have, the last one first.
    makers: Vec<Vec<Maker>>,
}

/// A pass that writes a subresource which another pass reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Maker {
    position: PassPosition,
    /// The flag that switches it, unless it is on whenever the reader is.
    flag: Option<FlagId>,
    /// What readers get while it is off, if that is in other memory.
    input: Option<ResourceId>,
    /// Another name of the memory that readers get while it is off.
    name: Option<ResourceId>,
}

impl Choice {
    /// The fallback under these flags; the error of `on` if it does not know a flag that matters.
    fn pick<E>(&self, on: &mut impl FnMut(FlagId) -> Result<bool, E>) -> Result<Option<ResourceId>, E> {
        let mut last: Option<Maker> = None;
        for maker in self.makers.iter().flat_map(|makers| Self::decisive(makers, on).transpose()) {
            let maker = maker?;
            last = last.filter(|last| last.position >= maker.position).or(Some(maker));
        }
        Ok(last.and_then(|maker| maker.input))
    }

    /// The pass that is off and names a fallback, unless a later one runs.
    fn decisive<E>(makers: &[Maker], on: &mut impl FnMut(FlagId) -> Result<bool, E>) -> Result<Option<Maker>, E> {
        for maker in makers {
            match maker.flag {
                Some(flag) if !on(flag)? => {}
                _ => return Ok(None),
            }
            if maker.input.is_some() {
                return Ok(Some(*maker));
            }
        }
        Ok(None)
    }
}

/// The resource that a use accesses under these flags; the error of `on` if it does not know a flag that matters.
/// A fallback may itself be the output of a pass that is off; fallbacks form no cycle.
pub(crate) fn effective<E>(
    resource: ResourceId,
    choices: &[Choice],
    mut on: impl FnMut(FlagId) -> Result<bool, E>,
) -> Result<ResourceId, E> {
    let mut resource = resource;
    for _ in choices {
        let Some(choice) = choices.iter().find(|choice| choice.output == resource) else { break };
        let Some(input) = choice.pick(&mut on)? else { break };
        resource = input;
    }
    Ok(resource)
}

/// As [`effective`], where every flag is known.
pub(crate) fn known_effective(resource: ResourceId, choices: &[Choice], on: impl Fn(FlagId) -> bool) -> ResourceId {
    let Ok(found) = effective(resource, choices, |flag| Ok::<_, Infallible>(on(flag)));
    found
}

/// Fallbacks for the subresources that a pass reads of one resource.
#[derive(Default)]
struct Found {
    choices: Vec<Choice>,
    inputs: Vec<ResourceId>,
    names: Vec<ResourceId>,
}

impl Facts<'_> {
    pub(super) fn find_fallbacks(&mut self) {
        if self.graph.fallbacks().is_empty() {
            return;
        }
        let reads = |at: &DeclaredUse| at.must_read && !at.writes;
        let mut found = Vec::new();
        for (index, declared) in self.declared_passes.iter_ids() {
            let read = || declared.uses.iter_ids().filter(|(_, at)| reads(at));
            for (number, at) in read() {
                let uses = read().filter(|(_, other)| other.resource == at.resource).map(|(number, _)| number);
                found.push((index, number, self.fallbacks_of(index, at.resource, &uses.collect::<Vec<_>>())));
            }
        }
        for (declared, number, Found { choices, inputs, names }) in found {
            for &input in inputs.iter().filter(|input| self.frames_ago[**input] == 0) {
                let memory = self.memory[input];
                let key = self.fallback_key(input, declared, number);
                for subresource in self.grids[memory].subresources(&self.declared_passes[declared].uses[number].part) {
                    let uses = &mut self.order[memory][subresource];
                    uses.push(SubresourceUse { key, declared, at: number, group: None });
                    uses.sort_by_key(|u| (u.key, u.declared, u.at));
                }
            }
            let at = &mut self.declared_passes[declared].uses[number];
            (at.choices, at.fallbacks, at.names) = (choices, inputs, names);
        }
    }

    /// Fallbacks that a pass may read for a resource in `uses`; these may have fallbacks themselves.
    fn fallbacks_of(&self, reader: DeclaredPassId, resource: ResourceId, uses: &[UseId]) -> Found {
        let mut found = Found::default();
        let mut outputs = vec![resource];
        let mut next = 0;
        while let Some(&output) = outputs.get(next) {
            next += 1;
            let makers = self.makers(reader, output, uses);
            for maker in makers.iter().flatten() {
                if let Some(name) = maker.name.filter(|name| !found.names.contains(name)) {
                    found.names.push(name);
                }
                if let Some(input) = maker.input.filter(|input| !outputs.contains(input)) {
                    outputs.push(input);
                    found.inputs.push(input);
                }
            }
            if makers.iter().flatten().any(|maker| maker.input.is_some()) {
                found.choices.push(Choice { output, makers });
            }
        }
        found
    }

    /// By subresource: the passes whose contents a pass may read of a resource.
    fn makers(&self, reader: DeclaredPassId, output: ResourceId, uses: &[UseId]) -> Vec<Vec<Maker>> {
        let mut all = Vec::new();
        if self.frames_ago[output] > 0 || self.graph.fallbacks().iter().all(|one| one.output != output) {
            return all;
        }
        for &number in uses {
            let at = &self.declared_passes[reader].uses[number];
            let own = output == at.resource;
            let grid = &self.grids[self.memory[output]];
            let subresources = if own { at.subresources.clone() } else { grid.subresources(&at.part) };
            for subresource in subresources {
                let Some((key, _)) = self.key(output, subresource, reader, number) else { continue };
                let makers = self.makers_of(reader, output, subresource, key);
                if !makers.is_empty() && !all.contains(&makers) {
                    all.push(makers);
                }
            }
        }
        all
    }

    fn makers_of(
        &self,
        reader: DeclaredPassId,
        output: ResourceId,
        subresource: SubresourceId,
        key: Key,
    ) -> Vec<Maker> {
        let writers = &self.writers[self.memory[output]][subresource];
        let before = writers[..writers.partition_point(|u| u.key < key)].iter().rev();
        let reader = &self.declared_passes[reader];
        let mut makers = Vec::new();
        for u in before.take_while(|u| self.declared_passes[u.declared].uses[u.at].resource == output) {
            let declared = &self.declared_passes[u.declared];
            // What a pass writes and the mips that it generates are off together, so these come from it.
            if declared.position == reader.position {
                break;
            }
            let mut maker = Maker { position: declared.position, flag: declared.flag, input: None, name: None };
            // Who is under the same flag never reads while it is off.
            maker.flag = maker.flag.filter(|_| declared.flag != reader.flag);
            let named = self.graph.fallbacks().iter().find(|one| {
                let position = self.place(one.pass).map(|pass| self.declared_passes[pass].position);
                maker.flag.is_some() && one.output == output && position == Some(declared.position)
            });
            if let Some(input) = named.map(|one| one.input).filter(|input| self.memory.get(*input).is_some()) {
                let same = self.memory[input] == self.memory[output] && self.frames_ago[input] == 0;
                (maker.input, maker.name) = if same { (None, Some(input)) } else { (Some(input), None) };
            }
            makers.push(maker);
            if maker.flag.is_none() || maker.input.is_some() {
                break;
            }
        }
        makers
    }
}
