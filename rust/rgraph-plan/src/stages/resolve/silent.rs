//! Declarations that are right and still suspicious: an image is read over mips or layers that nothing writes, a result
//! that a later pass replaces whole before any read, a load or a root that finds nothing while a flag is off, and what
//! nobody has after the frame is to be left in a state. Each becomes a note of the plan, never an error.
use super::{Facts, Origin, declared_of};
use crate::access::{Aspects, Load, Usage};
use crate::graph::{FlagId, Graph};
use crate::id::IdVec;
use crate::plan::PlanKind;
use crate::resource::{Life, ResourceId};
use crate::stages::cull::Live;
use crate::stages::ids::{ResolvedPassId, SubresourceId};
use crate::stages::size::Shape;

/// Findings of the walk over all accesses, apart from mistakes.
#[derive(Default, Debug)]
pub struct Silent {
    /// `(reader, resource, subresource)`: nothing has written the subresource, though something of the range is
    /// written.
    unwritten: Vec<(ResolvedPassId, ResourceId, SubresourceId)>,
    /// `(writer, resource, subresource, replacer)`: nothing reads the subresource in between.
    replaced: Vec<(ResolvedPassId, ResourceId, SubresourceId, ResolvedPassId)>,
    /// `(pass, resource, flag)`: an attachment is loaded that only passes under the flag wrote.
    empty: Vec<(ResolvedPassId, ResourceId, FlagId)>,
}

/// Mips and layers of an image, half-open.
pub(crate) type Area = [[u32; 2]; 2];

impl Silent {
    pub(super) fn clear(&mut self) {
        self.unwritten.clear();
        self.replaced.clear();
        self.empty.clear();
    }

    pub(super) fn loads_nothing(&mut self, pass: ResolvedPassId, resource: ResourceId, flag: FlagId) {
        self.empty.push((pass, resource, flag));
    }

    pub(super) fn read_unwritten(&mut self, reader: ResolvedPassId, resource: ResourceId, subresource: SubresourceId) {
        self.unwritten.push((reader, resource, subresource));
    }

    pub(super) fn replaced(
        &mut self,
        writer: ResolvedPassId,
        by: ResolvedPassId,
        resource: ResourceId,
        at: SubresourceId,
    ) {
        if writer != by {
            self.replaced.push((writer, resource, at, by));
        }
    }

    /// Notes about passes that run, in the order of passes; one per image that is read, and one per result.
    pub fn notes(
        &self,
        (graph, facts): (&Graph, &Facts),
        live: &Live,
        shapes: &IdVec<ResourceId, Shape>,
        notes: &mut Vec<String>,
    ) {
        let mut seen: Vec<ResourceId> = Vec::new();
        for read in self.unwritten.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (reader, resource, _) = read[0];
            let Some(pass) = facts.declared_pass(reader).filter(|_| live.needed[reader]) else { continue };
            let PlanKind::Image { mips, layers, .. } = shapes[resource].kind else { continue };
            let of_image = |subresource: &SubresourceId| {
                let part = facts.subresources.get(*subresource);
                part.aspects.intersects(Aspects::COLOR | Aspects::DEPTH).then_some([part.mips, part.layers])
            };
            let mut areas: Vec<Area> = read.iter().filter_map(|(.., subresource)| of_image(subresource)).collect();
            if areas.is_empty() || seen.contains(&resource) {
                continue;
            }
            seen.push(resource);
            join(&mut areas);
            let [pass, resource] = [graph.pass_name(pass), graph.resource_name(resource)];
            let areas = words(&areas, [[0, mips], [0, layers]]);
            notes.push(format!(
                "pass \"{pass}\" reads {areas} of \"{resource}\", which nothing writes: write them, or read only what is \
                 written, such as .mip(0)"
            ));
        }
        let mut replaced: Vec<_> = self.replaced.iter().filter(|(.., by)| live.needed[*by]).copied().collect();
        replaced.sort_unstable_by_key(|&(writer, resource, at, _)| (writer, resource, at));
        for result in replaced.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (writer, resource, _, by) = result[0];
            let Origin::Declared(first) = facts.passes[writer].origin else { continue };
            let Some(second) = facts.declared_pass(by) else { continue };
            if !is_whole_result(graph, facts, writer, resource, result.len()) {
                continue;
            }
            let [first, second] = [graph.pass_name(first), graph.pass_name(second)];
            notes.push(format!(
                "pass \"{second}\" replaces \"{}\" before anything reads what pass \"{first}\" writes to it: read it in \
                 between, write to another resource, or load it",
                graph.resource_name(resource)
            ));
        }
        self.empty_loads(graph, facts, live, notes);
        empty_outputs(graph, facts, live, notes);
        unseen(graph, facts, notes);
    }

    /// Notes attachments of passes that run, loaded although nothing wrote them while a flag is off; one per image.
    fn empty_loads(&self, graph: &Graph, facts: &Facts, live: &Live, notes: &mut Vec<String>) {
        let mut empty: Vec<_> = self.empty.iter().filter(|(pass, ..)| live.needed[*pass]).collect();
        empty.sort_by_key(|(_, resource, _)| *resource);
        empty.dedup_by_key(|(_, resource, _)| *resource);
        for &(pass, resource, flag) in empty {
            let Some(pass) = facts.declared_pass(pass) else { continue };
            let [pass, image] = [graph.pass_name(pass), graph.resource_name(resource)];
            let flag = &graph.flags()[flag];
            notes.push(format!(
                "while flag \"{flag}\" is off, pass \"{pass}\" loads \"{image}\" without contents: clear \"{image}\" in a \
                 pass that always runs, or say load: discard"
            ));
        }
    }
}

/// Notes resources that are to be left in a state although nobody has them after the frame.
fn unseen(graph: &Graph, facts: &Facts, notes: &mut Vec<String>) {
    let left = graph.resources().iter_ids().filter(|(_, resource)| resource.leave.is_some());
    for (id, _) in left.filter(|(id, _)| facts.leave[facts.memory[*id]].is_none()) {
        let name = graph.resource_name(id);
        notes.push(format!("\"{name}\" is left in no state, since nobody has it after the frame: make it a root"));
    }
}

/// Notes roots and remembered resources that only a conditional pass with a fallback writes: passes read the fallback,
/// the caller and the next frame do not.
fn empty_outputs(graph: &Graph, facts: &Facts, live: &Live, notes: &mut Vec<String>) {
    if graph.fallbacks().is_empty() {
        return;
    }
    let histories = histories_read(graph, facts, live);
    for fallback in graph.fallbacks() {
        let memory = facts.memory[fallback.output];
        let first = histories.partition_point(|(of, _)| *of < memory);
        let history = histories.get(first).filter(|(of, _)| *of == memory).map(|(_, history)| *history);
        if !graph.is_root(fallback.output) && history.is_none() {
            continue;
        }
        let Some(flag) = graph.passes()[fallback.pass].conditional else { continue };
        let writers = facts.final_writer.slice(facts.subresources.of(memory));
        let last =
            |writer: &ResolvedPassId| live.needed[*writer] && facts.declared_pass(*writer) == Some(fallback.pass);
        let apart = memory != facts.memory[fallback.input];
        if !apart || !graph.resources()[memory].life.is_of_frame() || !writers.iter().flatten().any(last) {
            continue;
        }
        let (output, flag) = (graph.resource_name(fallback.output), &graph.flags()[flag]);
        if graph.is_root(fallback.output) {
            notes.push(format!(
                "while flag \"{flag}\" is off, root \"{output}\" has no contents: its fallback is for passes; make a copy of \
                 \"{output}\" the root"
            ));
        }
        if let Some(history) = history {
            let history = graph.resource_name(history);
            notes.push(format!(
                "after a frame in which flag \"{flag}\" is off, \"{history}\" has no contents: the fallback of \"{output}\" is \
                 for passes; remember a copy of \"{output}\""
            ));
        }
    }
}

/// Histories that needed passes read, each behind the memory that it remembers; sorted. O(resources + accesses).
fn histories_read(graph: &Graph, facts: &Facts, live: &Live) -> Vec<(ResourceId, ResourceId)> {
    let mut found: Vec<_> = (graph.resources().iter_ids())
        .filter_map(|(id, resource)| match resource.life {
            Life::History(history) => Some((facts.memory[history.of], id)),
            _ => None,
        })
        .collect();
    if !found.is_empty() {
        let mut is_read = IdVec::filled(false, graph.resources().len());
        for (_, pass) in facts.passes.iter_ids().filter(|(pass, _)| live.needed[*pass]) {
            facts.accesses.slice(pass.accesses).iter().for_each(|access| is_read[access.resource] = true);
        }
        found.retain(|(_, history)| is_read[*history]);
        found.sort_unstable();
    }
    found
}

/// Whether a pass writes `subresources` subresources of a memory and no more, and only for passes behind it: it neither
/// reads nor resolves them itself, and they are not depth, whose test reads it.
fn is_whole_result(
    graph: &Graph,
    facts: &Facts,
    writer: ResolvedPassId,
    resource: ResourceId,
    subresources: usize,
) -> bool {
    let mut written = 0;
    for access in facts.accesses.slice(facts.passes[writer].accesses) {
        let Some(declared) = declared_of(graph, access) else { return false };
        if declared.usage == Usage::ResolveAttachment {
            return false;
        }
        if facts.memory[access.resource] != facts.memory[resource] {
            continue;
        }
        let for_others = match declared.usage {
            Usage::StorageWrite | Usage::TransferDst | Usage::HostWrite => true,
            Usage::ColorAttachment => declared.load != Some(Load::Load),
            _ => false,
        };
        if !for_others {
            return false;
        }
        written += access.subresources.len();
    }
    written == subresources
}

/// Joins areas that touch: mips of equal layers first, then layers of equal mips.
pub(crate) fn join(areas: &mut Vec<Area>) {
    for (along, across) in [(0, 1), (1, 0)] {
        areas.sort_unstable_by_key(|area| (area[across], area[along]));
        areas.dedup_by(|next, area| {
            let adjacent = next[across] == area[across] && next[along][0] <= area[along][1];
            if adjacent {
                area[along][1] = area[along][1].max(next[along][1]);
            }
            adjacent
        });
    }
}

/// At most three areas in words, bounds inclusive.
pub(crate) fn words(areas: &[Area], whole: Area) -> String {
    let range = |noun: &str, [first, end]: [u32; 2]| {
        if end - first == 1 { format!("{noun} {first}") } else { format!("{noun}s {first} to {}", end - 1) }
    };
    let area = |&[mips, layers]: &Area| {
        if layers == whole[1] {
            range("mip", mips)
        } else if mips == whole[0] {
            range("layer", layers)
        } else {
            format!("{} of {}", range("mip", mips), range("layer", layers))
        }
    };
    let mut text = areas.iter().take(3).map(area).collect::<Vec<_>>().join(", ");
    if areas.len() > 3 {
        text += &format!(" and {} more parts", areas.len() - 3);
    }
    text
}
