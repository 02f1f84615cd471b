//! What stands in for the output of a conditional pass while its flag is off: readers of the output are readers of the
//! stand-in too, at the place in the order where they read the output.

use super::meaning::Effect;
use super::meaning::Meaning;
use super::subresource::Part;
use super::{AccessId, Facts, ResolvedAccess, ResolvedPassId, Source, declared, declared_of, part_of};
use crate::graph::{Fallback, Graph, PassId};
use crate::id::Id;
use crate::resource::ResourceId;

/// The fallbacks of a graph, ready to be looked up.
#[derive(Default, Debug)]
pub(super) struct Fallbacks {
    /// By output, then pass.
    sorted: Vec<Fallback>,
    /// Declared writes of outputs: output, pass, position of the access; sorted.
    writers: Vec<(ResourceId, PassId, AccessId)>,
    outputs: Vec<ResourceId>,
}

impl Fallbacks {
    /// Forgets the last graph's and takes those of `graph`. O(1) without fallbacks, else O(f log f + accesses).
    pub(super) fn find(&mut self, graph: &Graph) {
        self.sorted.clear();
        self.writers.clear();
        if graph.fallbacks().is_empty() {
            return;
        }
        self.sorted.extend_from_slice(graph.fallbacks());
        self.sorted.sort_unstable_by_key(|fallback| (fallback.output, fallback.pass, fallback.input));
        for (at, access) in graph.accesses().iter().enumerate() {
            if access.usage.writes() && !self.of(access.resource).is_empty() {
                self.writers.push((access.resource, access.pass, AccessId::new(at)));
            }
        }
        self.writers.sort_unstable();
    }

    /// The fallbacks of an output, by pass.
    pub(super) fn of(&self, output: ResourceId) -> &[Fallback] {
        if self.sorted.is_empty() {
            return &[];
        }
        let from = self.sorted.partition_point(|fallback| fallback.output < output);
        let to = self.sorted.partition_point(|fallback| fallback.output <= output);
        &self.sorted[from..to]
    }

    /// The fallback of `pass` for `output`.
    pub(super) fn find_one(&self, pass: PassId, output: ResourceId) -> Option<&Fallback> {
        self.of(output).iter().find(|fallback| fallback.pass == pass)
    }

    /// The pass that a read by `reader` looks forward to: the first one to write any of `part`, if that is a later one.
    fn first_writer_behind(
        &self,
        source: Source<'_>,
        reader: PassId,
        output: ResourceId,
        part: &Part,
    ) -> Option<PassId> {
        let mut writers = self.writers_of(source, output, part);
        writers.next().filter(|pass| *pass > reader)
    }

    /// The passes that write any of `part` of an output, in declared order.
    fn writers_of<'s>(
        &'s self,
        source: Source<'s>,
        output: ResourceId,
        part: &'s Part,
    ) -> impl Iterator<Item = PassId> + 's {
        let from = self.writers.partition_point(|writer| writer.0 < output);
        let shape = &source.shapes[output];
        let meets = move |access: AccessId| {
            let access = declared(source.graph, access);
            let mut other = part_of(source.graph, access, shape);
            if access.generate_mips {
                other.mips[1] = Part::whole(shape).mips[1];
            }
            let apart = |a: [u32; 2], b: [u32; 2]| a[1] <= b[0] || b[1] <= a[0];
            if !shape.aspects.is_empty() {
                !apart(part.mips, other.mips)
                    && !apart(part.layers, other.layers)
                    && part.aspects.intersects(other.aspects)
            } else {
                part.bytes[0] < other.bytes[1] && other.bytes[0] < part.bytes[1]
            }
        };
        let of_output = self.writers[from..].iter().take_while(move |writer| writer.0 == output);
        of_output.filter(move |writer| meets(writer.2)).map(|writer| writer.1)
    }
}

impl Facts {
    /// Whether a conditional pass need not keep what `resource` held: while it is off, readers get other memory.
    pub(super) fn falls_back_elsewhere(&self, pass: PassId, resource: ResourceId) -> bool {
        let elsewhere = |fallback: &Fallback| self.memory[fallback.input] != self.memory[resource];
        self.fallbacks.find_one(pass, resource).is_some_and(elsewhere)
    }

    /// Whether a use may leave its subresources alone while its pass runs: it reads an output with a fallback, or what
    /// stands in for one, and the flag says which.
    pub fn reads_either(&self, graph: &Graph, access: &ResolvedAccess) -> bool {
        if self.fallbacks.sorted.is_empty() || access.effect != Effect::Read {
            return false;
        }
        let Some(declared_access) = declared_of(graph, access) else { return false };
        let elsewhere = |fallback: &Fallback| self.memory[fallback.input] != self.memory[access.resource];
        declared_access.resource != access.resource || self.fallbacks.of(declared_access.resource).iter().any(elsewhere)
    }

    /// The fallbacks of an output, by pass.
    pub fn fallbacks_of(&self, output: ResourceId) -> &[Fallback] {
        self.fallbacks.of(output)
    }

    /// What stands in for an output is cut where the readers of the output are, because they read that part of it.
    /// O(1) without fallbacks, else O(accesses + stand-ins of what they read).
    pub(super) fn cut_stand_ins(&mut self, source: Source<'_>) {
        if self.fallbacks.sorted.is_empty() {
            return;
        }
        let mut outputs = std::mem::take(&mut self.fallbacks.outputs);
        for access in source.graph.accesses() {
            if access.usage.writes() {
                continue;
            }
            let part = part_of(source.graph, access, &source.shapes[access.resource]);
            outputs.clear();
            outputs.push(access.resource);
            let mut next = 0;
            while let Some(&output) = outputs.get(next) {
                next += 1;
                for fallback in self.fallbacks.of(output) {
                    if !outputs.contains(&fallback.input) {
                        outputs.push(fallback.input);
                    }
                }
            }
            for &input in &outputs[1..] {
                let whole = Part::whole(&source.shapes[input]);
                let family = self.family[self.memory[input]];
                self.subresources.cut(family, &whole, &stand_in_part(&source, input, &part));
            }
        }
        self.fallbacks.outputs = outputs;
    }

    /// A reader of a conditional pass's output also reads what stands in for it. Tells whether the pass accessed one of
    /// those memories before.
    pub(super) fn access_fallbacks(
        &mut self,
        source: Source<'_>,
        pass: ResolvedPassId,
        reader: PassId,
        access: AccessId,
        part: &Part,
        means: Meaning,
    ) -> bool {
        let output = declared(source.graph, access).resource;
        let mut outputs = std::mem::take(&mut self.fallbacks.outputs);
        outputs.clear();
        outputs.push(output);
        let looks_forward = means.effect == Effect::Read && self.is_plain_transient(source, output);
        let behind = looks_forward.then(|| self.fallbacks.first_writer_behind(source, reader, output, part)).flatten();
        let mut twice = false;
        let mut next = 0;
        // What stands in may itself be the output of a pass that is switched off.
        while let Some(&from) = outputs.get(next) {
            next += 1;
            let mut at = 0;
            while let Some(&fallback) = self.fallbacks.of(from).get(at) {
                at += 1;
                let before = fallback.pass < reader || behind.is_some_and(|first| fallback.pass <= first);
                // Who is under the same flag never reads while it is off; parts that the pass does not write
                // are the output's own.
                let flag_of = |declared_pass: PassId| source.graph.passes()[declared_pass].conditional;
                let never = flag_of(reader).is_some() && flag_of(reader) == flag_of(fallback.pass);
                let writes = || {
                    self.fallbacks.writers_of(source, from, part).any(|declared_pass| declared_pass == fallback.pass)
                };
                if !before || never || outputs.contains(&fallback.input) || from == output && !writes() {
                    continue;
                }
                outputs.push(fallback.input);
                // One memory under two names: while the pass is off, it holds the contents of the name below.
                if self.memory[fallback.input] != self.memory[output] {
                    let same = stand_in_part(&source, fallback.input, part);
                    twice |= self.access(pass, fallback.input, Some(access), &same, means, false);
                }
            }
        }
        self.fallbacks.outputs = outputs;
        twice
    }

    /// An access of a pass that reads what stands in for an output, and one that writes it in the same pass: the write
    /// leaves nothing to read, or the read looks forward, so that its place in the order is behind passes that the write
    /// comes before.
    pub(super) fn overwritten_stand_in(
        &self,
        source: Source<'_>,
        pass: PassId,
        accesses: &[ResolvedAccess],
    ) -> Option<(AccessId, AccessId)> {
        let overwrites = |read: &ResolvedAccess| {
            let output = declared_of(source.graph, read)?;
            let part = part_of(source.graph, output, &source.shapes[output.resource]);
            let looks_forward = self.is_plain_transient(source, output.resource)
                && self.fallbacks.first_writer_behind(source, pass, output.resource, &part).is_some();
            let meets = |write: &&ResolvedAccess| write.subresources.meets(read.subresources);
            let mut writes = accesses.iter().filter(|write| write.effect.writes()).filter(meets);
            let write = writes.find(|write| looks_forward || write.effect == Effect::Replace)?;
            read.declared.zip(write.declared)
        };
        accesses.iter().filter(|read| stands_in(source, read)).find_map(overwrites)
    }
}

/// Whether an access reads what stands in for the resource that its access names.
pub(super) fn stands_in(Source { graph, .. }: Source<'_>, access: &ResolvedAccess) -> bool {
    declared_of(graph, access).is_some_and(|declared| declared.resource != access.resource)
}

/// The part of a stand-in that is read for `part` of the output.
fn stand_in_part(source: &Source<'_>, input: ResourceId, part: &Part) -> Part {
    let whole = Part::whole(&source.shapes[input]);
    let fits = part.mips[1] <= whole.mips[1] && part.layers[1] <= whole.layers[1] && part.bytes[1] <= whole.bytes[1];
    if fits { Part { aspects: part.aspects & whole.aspects, ..*part } } else { whole }
}
