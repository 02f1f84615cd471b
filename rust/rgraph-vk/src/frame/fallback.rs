//! Fallbacks for the outputs of passes that are switched off.
//!
//! Each subresource of what a pass reads comes from the last writer before it that runs or names a fallback. While one
//! of those is off, the pass reads the fallback of the last one that is, and the whole of it.
//!
//! A pass that writes records of instances reads no structure, but holds the addresses of those that a pass at its
//! place would read. Nothing orders it after their builds, so the declaration decides which of them come before it.

use rgraph_plan::access::Aspects;
use rgraph_plan::declared;
use rgraph_plan::id::IdVec;
use rgraph_plan::plan::PlanPassId;
use rgraph_plan::resource::ResourceId;

use crate::compile::compiled_graph::CompiledGraph;
use crate::memory::state::Region;

/// A write before the reader: its place in the declaration, and what readers get while its pass is off.
struct Write {
    /// Position of the pass, or of the one that it was inserted for.
    position: u32,
    pass: PlanPassId,
    region: Region,
    input: Option<ResourceId>,
}

/// What a pass reads instead of the outputs of passes that are switched off, where `on` says which passes run.
pub(crate) fn resource_read(
    compiled: &CompiledGraph,
    on: &IdVec<PlanPassId, bool>,
    pass: PlanPassId,
    resource: ResourceId,
) -> ResourceId {
    let (table, fallbacks) = (&compiled.table, &compiled.plan.fallbacks);
    let is_output = |of: ResourceId| fallbacks.iter().any(|one| one.output == of);
    // A pass that is off reads nothing, and its fallback need not exist.
    if !on[pass] || !is_output(resource) {
        return resource;
    }
    let reads = table.of(pass).iter().filter(|access| access.resource == resource && !access.usage.writes());
    let mut reads: Vec<Region> = reads.map(|access| access.region).collect();
    let is_ordered = !reads.is_empty();
    if !is_ordered {
        reads.push(Region::of(declared::whole(compiled.plan.resources[resource].kind)));
    }
    let mut found = resource;
    // No chain of fallbacks is a circle, so none is longer than their number.
    for _ in fallbacks {
        let writes = writes_before(compiled, (pass, is_ordered), found);
        let off = reads.iter().flat_map(|read| decisive(read, &writes, on)).max_by_key(|write| write.position);
        let Some(input) = off.and_then(|write| write.input) else { break };
        found = input;
    }
    found
}

/// The writes of a resource before a pass, in declared order: before it in the plan if that orders it after them, else
/// in the declaration.
fn writes_before(
    compiled: &CompiledGraph,
    (reader, is_ordered): (PlanPassId, bool),
    resource: ResourceId,
) -> Vec<Write> {
    let (plan, table) = (&compiled.plan, &compiled.table);
    let position_of = |pass: PlanPassId| plan.passes[pass].declared.or(plan.passes[pass].owner).unwrap_or(0);
    let is_before = |pass: &PlanPassId| match is_ordered {
        true => *pass < reader,
        false => position_of(*pass) < position_of(reader),
    };
    let mut writes = Vec::new();
    for pass in plan.live().filter(is_before) {
        let position = position_of(pass);
        let apart = |input: ResourceId| !plan.is_same_memory(input, resource);
        let owner = table.owner_of[pass];
        let is_owner = |writer: PlanPassId| table.pass_of[writer] == owner;
        let named = plan.fallbacks.iter().find(|one| one.output == resource && is_owner(one.pass));
        let input = named.map(|one| one.input).filter(|input| apart(*input));
        for access in table.of(pass).iter().filter(|access| access.resource == resource && access.usage.writes()) {
            writes.push(Write { position, pass, region: access.region, input });
        }
    }
    writes.sort_by_key(|write| write.position);
    writes
}

/// By subresource of a read: the last write whose pass runs or names a fallback, if that pass is off.
fn decisive<'w>(read: &Region, writes: &'w [Write], on: &IdVec<PlanPassId, bool>) -> Vec<&'w Write> {
    let ends = |of: fn(&Region) -> [u64; 2]| {
        let [first, last] = of(read);
        let mut ends: Vec<u64> = writes.iter().flat_map(|write| of(&write.region)).collect();
        ends.extend([first, last]);
        ends.retain(|end| (first..=last).contains(end));
        ends.sort_unstable();
        ends.dedup();
        // What an image has no bytes of, and a buffer no levels of, is one subresource.
        let pairs: Vec<[u64; 2]> = ends.windows(2).map(|pair| [pair[0], pair[1]]).collect();
        if pairs.is_empty() { vec![[first, last]] } else { pairs }
    };
    let [mips, layers] = [ends(|region| region.mips.map(u64::from)), ends(|region| region.layers.map(u64::from))];
    let wide = |of: [u32; 2]| of.map(u64::from);
    let within = |inner: [u64; 2], outer: [u64; 2]| outer[0] <= inner[0] && inner[1] <= outer[1];
    let aspects: Vec<Aspects> = read.aspects.iter().collect();
    let aspects = if aspects.is_empty() { vec![Aspects::empty()] } else { aspects };
    let boxes = mips.iter().flat_map(|mip| layers.iter().map(move |layer| (*mip, *layer)));
    let parts =
        ends(|region| region.range).into_iter().flat_map(|bytes| aspects.iter().map(move |aspect| (bytes, *aspect)));
    let parts: Vec<_> = parts.collect();
    let mut found = Vec::new();
    for ((mip, layer), (bytes, aspect)) in boxes.flat_map(|one| parts.iter().map(move |part| (one, *part))) {
        let holds = |write: &&Write| {
            let region = &write.region;
            within(mip, wide(region.mips))
                && within(layer, wide(region.layers))
                && within(bytes, region.range)
                && region.aspects.contains(aspect)
        };
        let last = writes.iter().rev().filter(holds).find(|write| on[write.pass] || write.input.is_some());
        found.extend(last.filter(|write| !on[write.pass]));
    }
    found
}

#[cfg(test)]
mod tests;
