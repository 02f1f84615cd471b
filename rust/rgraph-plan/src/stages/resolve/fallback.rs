//! Fallbacks for the output of a conditional pass while its flag is off: readers of the output are readers of the
//! fallback too, at the place in the order where they read the output.

use super::meaning::Effect;
use super::meaning::Meaning;
use super::subresource::SubresourceRange;
use super::{Facts, ResolvedAccess, Source, declared, declared_of, part_of};
use crate::access::Accesses;
use crate::graph::{Fallback, Graph, PassId};
use crate::id::Id;
use crate::resource::ResourceId;
use crate::stages::ids::{AccessId, ResolvedPassId, SubresourceId};

/// The fallbacks of a graph, ready to be looked up.
#[derive(Default, Debug)]
pub(super) struct Fallbacks {
    /// By output, then pass.
    sorted: Vec<Fallback>,
    /// Declared writes of outputs: output, pass, position of the access; sorted.
    writers: Vec<(ResourceId, PassId, AccessId)>,
    outputs: Vec<ResourceId>,
    /// What each read may get in the place of its resource, as another name of one memory too.
    fallbacks_read: Vec<(AccessId, ResourceId)>,
}

impl Fallbacks {
    /// Forgets the last graph's and takes those of `graph`. O(1) without fallbacks, else O(f log f + accesses).
    pub(super) fn find(&mut self, graph: &Graph) {
        self.sorted.clear();
        self.writers.clear();
        self.fallbacks_read.clear();
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
        part: &SubresourceRange,
    ) -> Option<PassId> {
        let mut writers = self.writers_of(source, output, part);
        writers.next().map(|(pass, _)| pass).filter(|pass| *pass > reader)
    }

    /// The passes that write any of `part` of an output, and what they write of it, in declared order.
    fn writers_of<'s>(
        &'s self,
        source: Source<'s>,
        output: ResourceId,
        part: &'s SubresourceRange,
    ) -> impl DoubleEndedIterator<Item = (PassId, SubresourceRange)> + 's {
        let from = self.writers.partition_point(|writer| writer.0 < output);
        let to = self.writers.partition_point(|writer| writer.0 <= output);
        let shape = &source.shapes[output];
        let written = |&(_, pass, access): &(ResourceId, PassId, AccessId)| {
            let access = declared(source.graph, access);
            let mut written = part_of(source.graph, access, shape);
            if access.generate_mips {
                written.mips[1] = SubresourceRange::whole(shape).mips[1];
            }
            (pass, written)
        };
        let apart = |a: [u32; 2], b: [u32; 2]| a[1] <= b[0] || b[1] <= a[0];
        let meets = move |(_, other): &(PassId, SubresourceRange)| {
            if !shape.aspects.is_empty() {
                !apart(part.mips, other.mips)
                    && !apart(part.layers, other.layers)
                    && part.aspects.intersects(other.aspects)
            } else {
                part.bytes[0] < other.bytes[1] && other.bytes[0] < part.bytes[1]
            }
        };
        self.writers[from..to].iter().map(written).filter(meets)
    }
}

impl Facts {
    /// Whether a conditional pass need not keep what `resource` held: while it is off, readers get other memory.
    pub(super) fn falls_back_elsewhere(&self, pass: PassId, resource: ResourceId) -> bool {
        let elsewhere = |fallback: &Fallback| self.memory[fallback.input] != self.memory[resource];
        self.fallbacks.find_one(pass, resource).is_some_and(elsewhere)
    }

    /// True if a use may leave its subresources alone while its pass runs: it reads an output with a fallback, or a
    /// fallback, and the flag decides which.
    pub fn reads_either(&self, graph: &Graph, access: &ResolvedAccess) -> bool {
        if self.fallbacks.sorted.is_empty() || access.effect != Effect::Read {
            return false;
        }
        let Some(declared_access) = declared_of(graph, access) else { return false };
        let elsewhere = |fallback: &Fallback| self.memory[fallback.input] != self.memory[access.resource];
        declared_access.resource != access.resource || self.fallbacks.of(declared_access.resource).iter().any(elsewhere)
    }

    /// What reads may get in the place of their resources; another name of the same memory counts too.
    pub fn fallbacks_read(&self) -> &[(AccessId, ResourceId)] {
        &self.fallbacks.fallbacks_read
    }

    /// A fallback is cut where the readers of the output are, because they read that part of it.
    /// O(1) without fallbacks, else O(accesses + fallbacks that they read).
    pub(super) fn cut_fallbacks(&mut self, source: Source<'_>) {
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
                let whole = SubresourceRange::whole(&source.shapes[input]);
                let ring_base = self.ring_base[self.memory[input]];
                self.subresources.cut(ring_base, &whole, &fallback_part(&source, input, &part));
            }
        }
        self.fallbacks.outputs = outputs;
    }

    /// A reader of a conditional pass's output also reads its fallback. Returns true if the pass accessed one of
    /// those memories before.
    pub(super) fn access_fallbacks(
        &mut self,
        source: Source<'_>,
        pass: ResolvedPassId,
        reader: PassId,
        access: AccessId,
        part: &SubresourceRange,
        means: Meaning,
    ) -> bool {
        let output = declared(source.graph, access).resource;
        let mut outputs = std::mem::take(&mut self.fallbacks.outputs);
        outputs.clear();
        outputs.push(output);
        let mut twice = false;
        let mut next = 0;
        // A fallback may itself be the output of a pass that is switched off.
        while let Some(&from) = outputs.get(next) {
            next += 1;
            let passes = self.decisive_passes(source, reader, output, from);
            for at in 0..self.fallbacks.of(from).len() {
                let fallback = self.fallbacks.of(from)[at];
                if !passes.contains(&fallback.pass) || outputs.contains(&fallback.input) {
                    continue;
                }
                outputs.push(fallback.input);
                self.fallbacks.fallbacks_read.push((access, fallback.input));
                // One memory under two names: while the pass is off, it holds the contents of the name below.
                if self.memory[fallback.input] != self.memory[output] {
                    let same = fallback_part(&source, fallback.input, part);
                    twice |= self.access(pass, fallback.input, Some(access), &same, means, false);
                }
            }
        }
        self.fallbacks.outputs = outputs;
        twice
    }

    /// The passes whose fallbacks a pass may get in the place of `from`, which it reads, or which may be a fallback of
    /// the `output` that it reads: for some subresource no later pass runs always, or has a fallback too.
    fn decisive_passes(&self, source: Source<'_>, reader: PassId, output: ResourceId, from: ResourceId) -> Vec<PassId> {
        let mut found = Vec::new();
        if self.fallbacks.of(from).is_empty() {
            return found;
        }
        let flag_of = |pass: PassId| source.graph.passes()[pass].conditional;
        let mut left: Vec<SubresourceId> = Vec::new();
        for &read in &self.by_pass[self.declared[reader].range()] {
            let read = declared(source.graph, read);
            if read.resource != output || read.usage.writes() {
                continue;
            }
            let whole = part_of(source.graph, read, &source.shapes[output]);
            let part = if from == output { whole } else { fallback_part(&source, from, &whole) };
            let last = self.last_before(source, reader, [output, from], [&whole, &part]);
            left.clear();
            self.subresources.runs(self.memory[from], &part, |run| left.extend(run.ids()));
            // Who is under the same flag never reads while it is off.
            for (writer, written) in self.fallbacks.writers_of(source, from, &part).rev() {
                let after = writer > last || writer == reader;
                let mut meets = false;
                let switched = flag_of(writer).is_some_and(|flag| flag_of(reader) != Some(flag));
                let ends = !switched || self.falls_back_elsewhere(writer, from);
                self.subresources.runs(self.memory[from], &written, |run| {
                    meets |= left.iter().any(|one| run.ids().any(|other| other == *one));
                    if !after && ends {
                        left.retain(|one| run.ids().all(|other| other != *one));
                    }
                });
                if !after && meets && switched {
                    found.push(writer);
                }
            }
        }
        found
    }

    /// The last pass that may write what a pass reads of `from`, an output that it reads or its fallback:
    /// the pass that the read looks forward to, or the one before the reader.
    fn last_before(
        &self,
        source: Source<'_>,
        reader: PassId,
        [output, from]: [ResourceId; 2],
        [whole, part]: [&SubresourceRange; 2],
    ) -> PassId {
        let behind = |last: PassId, resource: ResourceId, part: &SubresourceRange| {
            let first = self.fallbacks.first_writer_behind(source, last, resource, part);
            first.filter(|_| self.is_plain_transient(source, resource)).unwrap_or(last)
        };
        let last = behind(reader, output, whole);
        if from == output { last } else { behind(last, from, part) }
    }

    /// An access of a pass that reads the fallback of an output, and one that writes it in the same pass: the write
    /// leaves nothing to read, or is at another stage, or not a shader's, or the read looks forward, so that its place
    /// in the order is behind passes that the write comes before.
    pub(super) fn overwritten_fallback(
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
            // Nothing orders two stages of one pass.
            let apart = |write: &ResolvedAccess| write.stages != read.stages;
            // Source and destination of a copy must not overlap (Vulkan 1.3, `vkCmdCopyBuffer`), and a function of the
            // host has one array for what it reads and another one for what it writes.
            let by_shader = |write: &ResolvedAccess| write.kinds.contains(Accesses::SHADER_STORAGE_WRITE);
            let meets = |write: &&ResolvedAccess| write.subresources.meets(read.subresources);
            let mut writes = accesses.iter().filter(|write| write.effect.writes()).filter(meets);
            let write = writes
                .find(|write| looks_forward || write.effect == Effect::Replace || apart(write) || !by_shader(write))?;
            read.declared.zip(write.declared)
        };
        accesses.iter().filter(|read| reads_fallback(source, read)).find_map(overwrites)
    }
}

/// True if an access reads a fallback of the resource that its access names.
pub(super) fn reads_fallback(Source { graph, .. }: Source<'_>, access: &ResolvedAccess) -> bool {
    declared_of(graph, access).is_some_and(|declared| declared.resource != access.resource)
}

/// The part of a fallback that is read for `part` of the output.
fn fallback_part(source: &Source<'_>, input: ResourceId, part: &SubresourceRange) -> SubresourceRange {
    let whole = SubresourceRange::whole(&source.shapes[input]);
    let fits = part.mips[1] <= whole.mips[1] && part.layers[1] <= whole.layers[1] && part.bytes[1] <= whole.bytes[1];
    if fits { SubresourceRange { aspects: part.aspects & whole.aspects, ..*part } } else { whole }
}
