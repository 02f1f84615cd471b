//! Facts that a plan repeats: names, kinds, lives and lifetimes of the graph's resources, and render passes, which
//! need attachments of one extent. An executor allocates and records by these, so each must equal the graph's.

use rgraph_ir::access::{Aspects, Usage};
use rgraph_ir::graph::Graph;
use rgraph_ir::id::{Id, IdVec, Span};
use rgraph_ir::plan::{Attachment, BatchId, Command, Plan, PlanKind, PlanLife, PlanPassId};
use rgraph_ir::resource::{Kind, Life, ResourceId};

use crate::facts::{DeclaredUse, Facts};
use crate::finding::{Findings, Rule};
use crate::ids::{DeclaredOf, MemoryId, SubresourceId};
use crate::shape::{Shape, SubresourceRange};
use crate::tables::is_attachment;

/// Names, kinds, lives and lifetimes of resources. O(resources + accesses).
pub(crate) fn resources(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    let cubes = cubes(facts.graph);
    let lifetimes = lifetimes(facts, plan, declared_of);
    for id in facts.graph.resources().ids() {
        let what = facts.name(id);
        let planned = &plan.resources[id];
        let mut differs = |message: String| findings.add(Rule::Resource, None, Some(what), message);
        if plan.resource_name(id) != what {
            differs(format!(
                "resource {} is \"{what}\" in the graph and \"{}\" in the plan",
                id.index(),
                plan.resource_name(id)
            ));
        }
        let declared = kind(&facts.shapes[id], cubes[id]);
        if planned.kind != declared {
            differs(format!("\"{what}\" is {} in the graph and {} in the plan", words(declared), words(planned.kind)));
        }
        if facts.memory[id] == MemoryId::of_first(id) && !may_live(facts, id, planned.life) {
            let life = life_word(planned.life);
            differs(format!(
                "\"{what}\" cannot be {life}: the plan and the graph differ in how long its contents live"
            ));
        }
        // A planner may let a resource live longer than its uses, never shorter.
        let covers =
            |[first, last]: [PlanPassId; 2]| lifetimes[id].is_none_or(|[begin, end]| first <= begin && end <= last);
        if planned.lifetime.is_some_and(|lifetime| !covers(lifetime)) {
            let passes = |ends: Option<[PlanPassId; 2]>| match ends {
                Some([first, last]) => format!("passes {} to {}", first.index(), last.index()),
                None => "no pass that runs".to_owned(),
            };
            let (says, uses) = (passes(planned.lifetime), passes(lifetimes[id]));
            differs(format!("the lifetime of \"{what}\" is {says}, but {uses} use it"));
        }
    }
}

/// First and last pass of the plan that runs and uses each resource.
fn lifetimes(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf) -> IdVec<ResourceId, Option<[PlanPassId; 2]>> {
    let mut ends: IdVec<ResourceId, Option<[PlanPassId; 2]>> = IdVec::filled(None, facts.memory.len());
    for command in &plan.commands {
        let Command::Pass { pass, .. } = command else { continue };
        let Some(declared) = declared_of[*pass] else { continue };
        for at_use in &facts.declared_passes[declared].uses {
            let fallbacks = at_use.fallbacks.iter().chain(&at_use.names).copied();
            for resource in std::iter::once(at_use.resource).chain(fallbacks) {
                let [first, last] = ends[resource].unwrap_or([*pass; 2]);
                ends[resource] = Some([first.min(*pass), last.max(*pass)]);
            }
        }
    }
    ends
}

/// Whether each image is a cube: declared so, or inherited from the resource that it modifies or remembers.
fn cubes(graph: &Graph) -> IdVec<ResourceId, bool> {
    let resources = graph.resources();
    let cube = |mut id: ResourceId| {
        for _ in 0..=resources.len() {
            let Some(resource) = resources.get(id) else { return false };
            if matches!(&resource.kind, Kind::Image(image) if image.cube) {
                return true;
            }
            match (resource.modifies, resource.life) {
                (Some(base), _) => id = base,
                (None, Life::History(history)) => id = history.of,
                _ => return false,
            }
        }
        false
    };
    resources.ids().map(cube).collect()
}

fn kind(shape: &Shape, cube: bool) -> PlanKind {
    let Shape { format, size, mips, layers, samples, volume, bytes, aspects: _ } = *shape;
    match format {
        Some(format) => PlanKind::Image { format, size, mips, layers, samples, volume, cube },
        None => PlanKind::Buffer { size: bytes },
    }
}

fn words(kind: PlanKind) -> String {
    match kind {
        PlanKind::Buffer { size } => format!("a buffer of {size} bytes"),
        PlanKind::Image { format, size: [width, height, depth], mips, layers, samples, volume, cube } => {
            let of = if cube { "a cube" } else { "an image" };
            let depth = if volume { format!("x{depth}") } else { String::new() };
            format!("{of} of {width}x{height}{depth} {format}, {mips} mips, {layers} layers, {samples} samples")
        }
    }
}

fn life_word(life: PlanLife) -> &'static str {
    match life {
        PlanLife::Transient => "transient",
        PlanLife::Root => "a root",
        PlanLife::Fresh => "fresh",
        PlanLife::Persistent => "persistent",
        PlanLife::History => "in a ring of histories",
        PlanLife::Imported => "imported",
    }
}

/// Whether a plan may give a memory that life.
fn may_live(facts: &Facts, memory: ResourceId, life: PlanLife) -> bool {
    let remembered = facts.ring[MemoryId::of_first(memory)] > 1;
    match facts.graph.resources()[memory].life {
        Life::Transient if remembered => life == PlanLife::History,
        Life::Transient => matches!(life, PlanLife::Transient | PlanLife::Root),
        Life::Fresh => life == PlanLife::Fresh && !remembered,
        Life::Persistent => life == PlanLife::Persistent || remembered && life == PlanLife::History,
        Life::Imported(_) => life == PlanLife::Imported || remembered && life == PlanLife::History,
        Life::History(_) => life == PlanLife::History,
    }
}

/// Render passes: each ends in its batch, holds passes with attachments and nothing else, and all its attachments have
/// one extent. O(commands + attachments · accesses of the passes).
///
/// Source: Vulkan 1.3 specification, valid usage of `VkRenderingInfo` and `VkFramebufferCreateInfo`.
pub(crate) fn render_passes(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    for (id, batch) in plan.batches.iter_ids() {
        let mut open: Option<Open> = None;
        for command in &plan.commands[batch.commands.range()] {
            match command {
                Command::BeginRendering { attachments, .. } => {
                    open = Some(Open { attachments: *attachments, passes: Vec::new(), barriers: false });
                }
                Command::Pass { pass, .. } => {
                    stands_right(facts, plan, declared_of, *pass, open.is_some(), findings);
                    open.iter_mut().for_each(|open| open.passes.push(*pass));
                }
                Command::EndRendering => {
                    if let Some(open) = open.take() {
                        let reads = reads_in_place(facts, declared_of, &open);
                        subpasses(plan, &open, reads, findings);
                        let extents = Extents { facts, plan, batch: id };
                        extents.check(&open, declared_of, findings);
                        if reads || open.passes.iter().any(|pass| plan.passes[*pass].subpass > 0) {
                            extents.check_whole(&open, declared_of, findings);
                        }
                    }
                }
                Command::SetEvent(..) | Command::WaitEvents(..) if open.is_some() => {
                    let message = format!("an event of batch {} stands within a render pass", id.index());
                    findings.add(Rule::Malformed, None, None, message);
                }
                Command::Barriers(_) => open.iter_mut().for_each(|open| open.barriers = true),
                Command::SetEvent(..) | Command::WaitEvents(..) => {}
            }
        }
        if open.is_some() {
            let message = format!("a render pass of batch {} does not end in it", id.index());
            findings.add(Rule::Malformed, None, None, message);
        }
    }
}

/// A render pass of a plan.
struct Open {
    attachments: Span,
    passes: Vec<PlanPassId>,
    /// Whether a barrier stands within it.
    barriers: bool,
}

/// Whether a pass of a render pass reads an attachment in place: dynamic rendering has no such thing, subpasses have.
fn reads_in_place(facts: &Facts, declared_of: &DeclaredOf, open: &Open) -> bool {
    let declared = open.passes.iter().filter_map(|pass| declared_of[*pass]);
    let mut uses = declared.flat_map(|declared| &facts.declared_passes[declared].uses);
    uses.any(|at| at.usage == Usage::InputAttachment)
}

/// Subpasses count from 0, pass by pass, or there is one; a barrier within a render pass is a dependency between two.
/// Where passes read in place, each is a subpass of its own: rasterisation order between two of them would hold in one
/// that no executor makes.
///
/// Source: Vulkan 1.3 specification, `VkSubpassDependency2`; `vkCmdPipelineBarrier2`, valid usage 06191.
fn subpasses(plan: &Plan, open: &Open, reads: bool, findings: &mut Findings) {
    let number = |pass: &PlanPassId| plan.passes[*pass].subpass;
    let counted = open.passes.iter().zip(0..).all(|(pass, at)| number(pass) == at);
    let one = open.passes.iter().all(|pass| number(pass) == 0);
    let Some(&first) = open.passes.first() else { return };
    let name = plan.pass_name(first);
    if !counted && !one {
        let message = format!("the subpasses of the render pass that \"{name}\" begins do not count from 0");
        findings.add(Rule::Malformed, Some(name), None, message);
    }
    if one && !counted && reads {
        let message = format!(
            "passes of the render pass that \"{name}\" begins read in place, and stand in one subpass with others"
        );
        findings.add(Rule::Malformed, Some(name), None, message);
    }
    if one && open.barriers {
        let message = format!("a barrier stands within the render pass that \"{name}\" begins, which has no subpasses");
        findings.add(Rule::Malformed, Some(name), None, message);
    }
}

/// Passes with attachments stand within a render pass, and no others.
fn stands_right(
    facts: &Facts,
    plan: &Plan,
    declared_of: &DeclaredOf,
    pass: PlanPassId,
    within: bool,
    findings: &mut Findings,
) {
    let Some(declared) = declared_of[pass] else { return };
    let uses = &facts.declared_passes[declared].uses;
    let attached = uses.iter().any(|at| is_attachment(at.usage));
    let input = uses.iter().any(|at| at.usage == Usage::InputAttachment);
    if within == attached || input {
        return;
    }
    let name = plan.pass_name(pass);
    let message = if within {
        format!("pass \"{name}\" has no attachments but stands within a render pass")
    } else {
        format!("pass \"{name}\" has attachments but stands outside of a render pass")
    };
    findings.add(Rule::Attachment, Some(name), None, message);
}

/// Checks the attachments of one render pass together.
struct Extents<'a, 'g> {
    facts: &'a Facts<'g>,
    plan: &'a Plan,
    batch: BatchId,
}

impl Extents<'_, '_> {
    fn check(&self, open: &Open, declared_of: &DeclaredOf, findings: &mut Findings) {
        let Self { facts, plan, batch } = *self;
        let Open { attachments, passes, .. } = open;
        if passes.is_empty() {
            let message = format!("a render pass of batch {} holds no pass", batch.index());
            findings.add(Rule::Malformed, None, None, message);
        }
        let list = &plan.attachments[attachments.range()];
        let uses: Vec<&DeclaredUse> = passes
            .iter()
            .filter_map(|pass| declared_of[*pass])
            .flat_map(|declared| &facts.declared_passes[declared].uses)
            .collect();
        let mut first: Option<(&Attachment, [u32; 4])> = None;
        let mut depth = None;
        for (at, entry) in list.iter().enumerate() {
            let what = facts.name(entry.resource);
            let mut wrong = |message: String| findings.add(Rule::Attachment, None, Some(what), message);
            let extent = self.extent(entry);
            match first {
                Some((other, expected)) if extent != expected => {
                    let name = facts.name(other.resource);
                    let [width, height, layers, samples] = extent;
                    wrong(format!(
                        "attachments of one render pass have one extent, but \"{what}\" has {width}x{height}, {layers} \
                         layers and {samples} samples, and \"{name}\" has {}x{}, {} layers and {} samples",
                        expected[0], expected[1], expected[2], expected[3]
                    ));
                }
                Some(_) => {}
                None => first = Some((entry, extent)),
            }
            if list[..at].iter().any(|other| self.meet(other, entry)) {
                wrong(format!("\"{what}\" stands twice among the attachments of one render pass"));
            }
            let is_depth = !facts.shapes[entry.resource].aspects.contains(Aspects::COLOR);
            if is_depth && !entry.input && depth.replace(entry.resource).is_some() {
                wrong("one render pass has two attachments for depth or stencil".to_owned());
            }
            let mine = |at_use: &&&DeclaredUse| self.is_of(at_use, entry);
            if let Some(to) = entry.resolve_to
                && !uses.iter().any(|at_use| self.resolves(at_use, entry.resource, to))
            {
                let to = facts.name(to);
                wrong(format!("\"{what}\" is resolved to \"{to}\", which no pass of its render pass declares"));
            }
            let drawn = uses.iter().filter(mine).any(|at_use| is_attachment(at_use.usage));
            let read = uses.iter().filter(mine).any(|at_use| at_use.usage == Usage::InputAttachment);
            if drawn && entry.input {
                wrong(format!("\"{what}\" is drawn to by a pass of a render pass that has it as input only"));
            } else if !(drawn || read && entry.input) {
                wrong(format!("no pass of the render pass uses its attachment \"{what}\" as one"));
            }
        }
    }

    /// A subpass attaches images whole, each aspect in a layout (Vulkan 1.3, `VkSubpassDescription2` and
    /// `VkAttachmentReferenceStencilLayout`): each pass that attaches one aspect finds the others too.
    fn check_whole(&self, open: &Open, declared_of: &DeclaredOf, findings: &mut Findings) {
        let Self { facts, plan, .. } = *self;
        for entry in &plan.attachments[open.attachments.range()] {
            let memory = facts.memory[entry.resource];
            let part = SubresourceRange::image([entry.mip, entry.mip.saturating_add(1)], entry.layers, Aspects::all());
            let whole = facts.grids[memory].subresources(&part);
            for &pass in &open.passes {
                let Some(declared) = declared_of[pass] else { continue };
                let uses = &facts.declared_passes[declared].uses;
                let mine = |at: &&DeclaredUse| self.is_of(at, entry);
                let attaches = |at: &DeclaredUse| is_attachment(at.usage) || at.usage == Usage::InputAttachment;
                if !uses.iter().filter(mine).any(attaches) {
                    continue;
                }
                // A fallback is checked with the image that it replaces.
                let finds = |at: &DeclaredUse, subresource: &SubresourceId| {
                    facts.memory[at.resource] != memory || at.subresources.binary_search(subresource).is_ok()
                };
                let silent = whole.iter().find(|one| !uses.iter().filter(mine).any(|at| finds(at, one)));
                if let Some(&silent) = silent {
                    let (name, what) = (plan.pass_name(pass), facts.name(entry.resource));
                    let aspect = facts.grids[memory].aspect(silent).names().collect::<Vec<_>>().join(" and ");
                    let message = format!(
                        "pass \"{name}\" attaches \"{what}\" in a subpass, which takes {aspect} too, in a layout that the \
                         pass does not name"
                    );
                    findings.add(Rule::Attachment, Some(name), Some(what), message);
                }
            }
        }
    }

    /// Width, height, layers and samples.
    fn extent(&self, entry: &Attachment) -> [u32; 4] {
        let shape = &self.facts.shapes[entry.resource];
        let [width, height] =
            [shape.size[0], shape.size[1]].map(|size| size.checked_shr(entry.mip).unwrap_or(0).max(1));
        [width, height, entry.layers[1] - entry.layers[0], shape.samples]
    }

    fn meet(&self, a: &Attachment, b: &Attachment) -> bool {
        let memory = |of: &Attachment| self.facts.memory[of.resource];
        let frames = |of: &Attachment| self.facts.frames_ago[of.resource];
        memory(a) == memory(b)
            && frames(a) == frames(b)
            && a.mip == b.mip
            && a.layers[0] < b.layers[1]
            && b.layers[0] < a.layers[1]
    }

    /// Whether a use is a resolve of one image to another.
    fn resolves(&self, at_use: &DeclaredUse, from: ResourceId, to: ResourceId) -> bool {
        let memory = |of: ResourceId| self.facts.memory[of];
        at_use.usage == Usage::ResolveAttachment
            && memory(at_use.resource) == memory(to)
            && at_use.resolves.is_none_or(|of| memory(of) == memory(from))
    }

    /// Whether a use is of an attachment, whatever flags are on.
    fn is_of(&self, at_use: &DeclaredUse, entry: &Attachment) -> bool {
        // A history and what it remembers are different images of one ring.
        let image = |resource: ResourceId| (self.facts.memory[resource], self.facts.frames_ago[resource]);
        let own = image(entry.resource);
        let named = std::iter::once(at_use.resource).chain(at_use.fallbacks.iter().copied());
        named.into_iter().any(|resource| image(resource) == own)
            && at_use.part.mips[0] <= entry.mip
            && entry.mip < at_use.part.mips[1]
            && at_use.part.layers[0] < entry.layers[1]
            && entry.layers[0] < at_use.part.layers[1]
    }
}
