//! Which memories a plan says that resources are in, and what they are made for. An executor makes images and buffers
//! from this and looks at no declaration, so it must be what the declaration means. A plan file of an earlier version
//! says nothing of it, for any resource; an executor then finds it itself.

use std::collections::{BTreeMap, BTreeSet};

use rgraph_ir::access::{Aspects, Layout, Usage, UsageSet};
use rgraph_ir::graph::Fallback;
use rgraph_ir::id::IdVec;
use rgraph_ir::plan::{Plan, PlanResource, Remembers};
use rgraph_ir::resource::{Life, ResourceId};

use crate::facts::{Facts, writes};
use crate::finding::{Findings, Rule};
use crate::ids::MemoryId;

/// Memories, rings and usages. O(accesses + resources + fallbacks).
pub(crate) fn memories(facts: &Facts, plan: &Plan, findings: &mut Findings) {
    if plan.resources.iter().all(|resource| resource.usages.is_none()) {
        return;
    }
    let usages = usages(facts);
    let first_history = first_histories(facts);
    for (id, planned) in plan.resources.iter_ids() {
        let what = facts.name(id);
        let mut differs = |message: String| findings.add(Rule::Resource, None, Some(what), message);
        let memory = facts.memory[id];
        let frames = facts.frames_ago[id];
        let first = if frames > 0 { first_history[&(memory, frames)] } else { memory.first_name() };
        let PlanResource { memory: owner, ring, remembers, usages: made_for, .. } = *planned;
        if owner != first {
            let [first, owner] = [first, owner].map(|id| facts.name(id));
            differs(format!("\"{what}\" is in the memory of \"{first}\", and the plan names that of \"{owner}\""));
        }
        let turns = if frames > 0 { 1 } else { facts.ring[memory] };
        if ring != turns {
            differs(format!("{turns} memories of \"{what}\" take turns, and {ring} in the plan"));
        }
        if remembers != (frames > 0).then(|| Remembers { of: memory.first_name(), frames }) {
            differs(format!("the plan gives \"{what}\" another ring of histories, or another place in it"));
        }
        let wanted = usages[memory];
        match made_for {
            None => differs(format!("the plan has no usages of \"{what}\"")),
            Some(made) if made != wanted => differs(format!(
                "the memory of \"{what}\" is made for {}, and the declaration needs {}",
                listed(made),
                listed(wanted)
            )),
            Some(_) => {}
        }
    }
}

fn listed(usages: UsageSet) -> String {
    let names: Vec<_> = usages.names().collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// The first of the histories that look back as far at one ring: they are one memory.
fn first_histories(facts: &Facts) -> BTreeMap<(MemoryId, u32), ResourceId> {
    let mut first = BTreeMap::new();
    for (id, &frames) in facts.frames_ago.iter_ids().filter(|(_, frames)| **frames > 0) {
        first.entry((facts.memory[id], frames)).or_insert(id);
    }
    first
}

/// By memory, of a ring together: the usages of all accesses, whether their passes run or not, of inserted passes, of
/// layouts in which another user hands over or takes it, of what a caller copies, and of readers that get it as a
/// fallback.
fn usages(facts: &Facts) -> IdVec<MemoryId, UsageSet> {
    let mut out = IdVec::filled(UsageSet::EMPTY, facts.memory.len());
    let mut add = |resource: ResourceId, usage: Usage| out[facts.memory[resource]] |= UsageSet::of(usage);
    for at in facts.declared_passes.iter().flat_map(|declared| &declared.uses) {
        add(at.resource, at.usage);
    }
    for access in facts.graph.accesses().iter().filter(|access| access.generate_mips) {
        add(access.resource, Usage::TransferSrc);
        add(access.resource, Usage::TransferDst);
    }
    for (id, resource) in facts.graph.resources().iter_ids() {
        if facts.graph.is_root(id) || !resource.life.is_of_frame() {
            add(id, Usage::TransferSrc);
        }
        if !resource.life.is_of_frame() {
            add(id, Usage::TransferDst);
        }
        let handed = match resource.life {
            Life::Imported(imported) => imported.layout,
            _ => None,
        };
        let left = resource.leave.and_then(|leave| leave.layout);
        let is_depth = facts.shapes[id].aspects.intersects(Aspects::DEPTH | Aspects::STENCIL);
        handed
            .into_iter()
            .chain(left)
            .filter_map(|layout| of_layout(layout, is_depth))
            .for_each(|usage| add(id, usage));
    }
    read_as_fallbacks(facts, &mut out);
    out
}

/// Hands what reads an output on to what is read in its place.
fn read_as_fallbacks(facts: &Facts, usages: &mut IdVec<MemoryId, UsageSet>) {
    let mut inputs: BTreeMap<MemoryId, Vec<MemoryId>> = BTreeMap::new();
    for &Fallback { output, input, .. } in facts.graph.fallbacks() {
        inputs.entry(facts.memory[output]).or_default().push(facts.memory[input]);
    }
    let mut open: BTreeSet<MemoryId> = inputs.keys().copied().collect();
    while let Some(output) = open.pop_first() {
        let reads: UsageSet = usages[output].iter().filter(|usage| !writes(*usage)).collect();
        for &input in inputs.get(&output).into_iter().flatten() {
            let before = usages[input];
            usages[input] |= reads;
            if usages[input] != before {
                open.insert(input);
            }
        }
    }
}

/// The usage without which an image may not be in a layout.
///
/// Source: Vulkan 1.3 specification, `VkImageMemoryBarrier2`, valid usage 01208 to 01213, 03938, 03939.
fn of_layout(layout: Layout, is_depth: bool) -> Option<Usage> {
    match (layout, is_depth) {
        (Layout::ColorAttachment, _) | (Layout::Attachment, false) => Some(Usage::ColorAttachment),
        (Layout::DepthStencilAttachment, _) | (Layout::Attachment, true) => Some(Usage::DepthStencilAttachment),
        (Layout::DepthStencilReadOnly, _) | (Layout::ReadOnly, true) => Some(Usage::DepthStencilRead),
        (Layout::ShaderReadOnly, _) | (Layout::ReadOnly, false) => Some(Usage::Sampled),
        (Layout::TransferSrc, _) => Some(Usage::TransferSrc),
        (Layout::TransferDst, _) => Some(Usage::TransferDst),
        (Layout::PresentSrc, _) => Some(Usage::Present),
        (Layout::General | Layout::Undefined, _) => None,
    }
}
