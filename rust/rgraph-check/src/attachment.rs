//! Transient attachments: an executor may give them memory that exists only while a render pass draws in tiles, so
//! nothing may be expected of it before or after.
//!
//! Source: Vulkan 1.3 specification, "Render Pass Load Operations", "Render Pass Store Operations", and
//! `VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT`.

use rgraph_ir::access::{Aspects, Load, Store, Usage};
use rgraph_ir::id::IdVec;
use rgraph_ir::plan::{Attachment, Command, Plan};
use rgraph_ir::profile::LAZY_MEMORY;

use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::ids::{DeclaredOf, MemoryId};

/// What the plan says of one memory.
#[derive(Clone, Copy, Default)]
struct Tile {
    claimed: bool,
    /// The render pass that draws to it, counted from 1.
    drawn_in: Option<u32>,
}

/// Checks memories that the plan calls transient attachments, and what lies in lazily allocated heaps. O(plan).
pub(crate) fn transient(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    let mut tiles = IdVec::filled(Tile::default(), facts.memory.len());
    for (id, resource) in plan.resources.iter_ids().take(facts.memory.len()) {
        tiles[facts.memory[id]].claimed |= resource.transient_attachment;
    }
    for place in &plan.memory.placements {
        let lazy = plan.memory.heaps[place.heap].memory_type == LAZY_MEMORY;
        if lazy && !tiles[facts.memory[place.resource]].claimed {
            let what = facts.name(place.resource);
            let message = format!("\"{what}\" lies in a lazily allocated heap and is no transient attachment");
            findings.add(Rule::Placement, None, Some(what), message);
        }
    }
    if !tiles.iter().any(|tile| tile.claimed) {
        return;
    }
    for root in facts.graph.roots() {
        if tiles[facts.memory[*root]].claimed {
            let what = facts.name(*root);
            let message = format!("\"{what}\" is a transient attachment, but the caller looks at it");
            findings.add(Rule::Attachment, None, Some(what), message);
        }
    }
    walk(facts, plan, declared_of, &mut tiles, findings);
}

fn walk(
    facts: &Facts,
    plan: &Plan,
    declared_of: &DeclaredOf,
    tiles: &mut IdVec<MemoryId, Tile>,
    findings: &mut Findings,
) {
    let (mut renderings, mut open) = (0, None);
    for command in &plan.commands {
        match *command {
            Command::BeginRendering { attachments, .. } => {
                renderings += 1;
                open = Some(renderings);
                for attachment in &plan.attachments[attachments.range()] {
                    let tile = &mut tiles[facts.memory[attachment.resource]];
                    if tile.claimed {
                        let again = tile.drawn_in.replace(renderings).is_some_and(|before| before != renderings);
                        check(facts, attachment, again, findings);
                    }
                }
            }
            Command::EndRendering => open = None,
            Command::Pass { pass, .. } => {
                let Some(declared) = declared_of[pass] else { continue };
                for used in &facts.declared_passes[declared].uses {
                    let tile = tiles[facts.memory[used.resource]];
                    let drawn = matches!(
                        used.usage,
                        Usage::ColorAttachment
                            | Usage::DepthStencilAttachment
                            | Usage::DepthStencilRead
                            | Usage::InputAttachment
                    );
                    if tile.claimed && !(drawn && open.is_some() && tile.drawn_in == open) {
                        let (what, name) = (facts.name(used.resource), &facts.declared_passes[declared].name);
                        let message = format!(
                            "\"{what}\" is a transient attachment, but pass \"{name}\" uses it as {} outside of its \
                             render pass",
                            used.usage
                        );
                        findings.add(Rule::Attachment, Some(name), Some(what), message);
                    }
                }
            }
            _ => {}
        }
    }
}

/// An attachment whose memory may exist in tiles only.
fn check(facts: &Facts, attachment: &Attachment, again: bool, findings: &mut Findings) {
    let what = facts.name(attachment.resource);
    let first = attachment.aspects.intersects(Aspects::COLOR | Aspects::DEPTH);
    let second = attachment.stencil.filter(|_| attachment.aspects.contains(Aspects::STENCIL));
    let operations = [first.then_some((attachment.load, attachment.store)), second];
    let operations = operations.into_iter().flatten();
    let mut wrong = |why: &str| {
        let message = format!("\"{what}\" is a transient attachment, but {why}");
        findings.add(Rule::Attachment, None, Some(what), message);
    };
    if again {
        wrong("two render passes draw to it");
    }
    for (load, store) in operations.filter(|_| !attachment.input) {
        if load == Load::Load {
            wrong("its render pass loads it");
        }
        if store == Store::Store {
            wrong("its render pass stores it");
        }
    }
}
