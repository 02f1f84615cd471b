//! A plan whose resources or render passes differ from its graph's is refused: an executor would allocate too little,
//! or render outside of an image.

use rgraph_check::{Finding, Rule, check};
use rgraph_ir::id::{Id, Span};
use rgraph_ir::plan::{Attachment, BatchId, Command, EventId, PhysicalPassId, PlanKind, PlanLife, PlanPassId};
use rgraph_ir::resource::ResourceId;
use rgraph_plan::prelude::*;

/// Two render passes of different extents, a copy of the first image, a storage image.
fn case() -> (Graph, Plan) {
    let mut g = Graph::new("frame", [64, 64]);
    let large = g.image("large", Format::Rgba8unorm);
    let small = g.sized_image("small", Format::Rgba8unorm, Size::absolute(8, 8));
    let copy = g.image("copy", Format::Rgba8unorm);
    let words = g.sized_image("words", Format::R32uint, Size::absolute(16, 16));
    g.pass("draw", PassQueue::Graphics).color(large);
    g.pass("dot", PassQueue::Graphics).color(small);
    g.pass("move", PassQueue::Graphics).copy_from(large).copy_to(copy);
    g.pass("fill", PassQueue::Compute).storage_write(words);
    g.root(copy);
    g.root(small);
    g.root(words);
    let plan = bake(&g, &Profile::minimal(), &Options::default(), &mut Scratch::default()).expect("the graph is right");
    assert_eq!(check(&g, &plan), []);
    (g, plan)
}

fn found(change: impl FnOnce(&mut Plan)) -> Vec<Finding> {
    let (graph, mut plan) = case();
    change(&mut plan);
    check(&graph, &plan)
}

fn id(plan: &Plan, name: &str) -> ResourceId {
    plan.resources.ids().find(|id| plan.resource_name(*id) == name).expect("a resource of the graph")
}

#[track_caller]
fn refused(rule: Rule, words: &str, change: impl FnOnce(&mut Plan)) {
    let findings = found(change);
    let fits = |finding: &Finding| finding.rule == rule && finding.message.contains(words);
    assert!(findings.iter().any(fits), "no {rule} with {words:?} in {findings:#?}");
}

#[test]
fn images_of_another_size_format_or_shape_are_found() {
    type Change = fn(&mut PlanKind);
    let changes: [Change; 6] = [
        |kind| *kind = PlanKind::Buffer { size: 16384 },
        |kind| {
            if let PlanKind::Image { size, .. } = kind {
                *size = [1, 1, 1]
            }
        },
        |kind| {
            if let PlanKind::Image { format, .. } = kind {
                *format = Format::R8unorm
            }
        },
        |kind| {
            if let PlanKind::Image { mips, .. } = kind {
                *mips = 2
            }
        },
        |kind| {
            if let PlanKind::Image { layers, .. } = kind {
                *layers = 2
            }
        },
        |kind| {
            if let PlanKind::Image { cube, .. } = kind {
                *cube = true
            }
        },
    ];
    for change in changes {
        refused(Rule::Resource, "\"copy\" is an image of 64x64 rgba8unorm", |plan| {
            let copy = id(plan, "copy");
            change(&mut plan.resources[copy].kind);
        });
    }
}

#[test]
fn exchanged_names_are_found() {
    refused(Rule::Resource, "is \"large\" in the graph and \"small\" in the plan", |plan| {
        let mut names: Vec<String> = plan.resource_names.iter().map(str::to_owned).collect();
        names.swap(0, 1);
        plan.resource_names = Default::default();
        names.iter().for_each(|name| _ = plan.resource_names.push(name));
    });
}

#[test]
fn another_life_and_a_wrong_lifetime_are_found() {
    refused(Rule::Resource, "cannot be imported", |plan| {
        let copy = id(plan, "copy");
        plan.resources[copy].life = PlanLife::Imported;
    });
    refused(Rule::Resource, "the lifetime of \"large\"", |plan| {
        let large = id(plan, "large");
        plan.resources[large].lifetime = Some([PlanPassId::new(0); 2]);
    });
}

#[test]
fn a_barrier_for_a_resource_without_a_place_is_found() {
    refused(Rule::Placement, "which has no place", |plan| plan.memory.placements.clear());
}

#[test]
fn attachments_of_different_extents_in_one_render_pass_are_found() {
    refused(Rule::Attachment, "attachments of one render pass have one extent", |plan| {
        let small = id(plan, "small");
        let add = Attachment { resource: small, ..plan.attachments[0] };
        plan.attachments.insert(1, add);
        let mut first = true;
        for command in &mut plan.commands {
            if let Command::BeginRendering { attachments, .. } = command {
                let Span { start, end } = *attachments;
                *attachments =
                    if first { Span { start, end: end + 1 } } else { Span { start: start + 1, end: end + 1 } };
                first = false;
            }
        }
    });
}

#[test]
fn an_attachment_twice_is_found() {
    refused(Rule::Attachment, "stands twice among the attachments", |plan| {
        let add = plan.attachments[0];
        plan.attachments.push(add);
        let end = plan.attachments.len() as u32;
        let begins = plan.commands.iter_mut().filter_map(|command| match command {
            Command::BeginRendering { attachments, .. } => Some(attachments),
            _ => None,
        });
        let [first, ..] = &mut begins.collect::<Vec<_>>()[..] else { panic!("a render pass") };
        // The list of the first render pass reaches over the second's to its own again.
        first.end = end;
    });
}

#[test]
fn a_render_pass_that_holds_nothing_or_a_copy_is_found() {
    refused(Rule::Attachment, "\"move\" has no attachments but stands within a render pass", |plan| {
        let (begin, end) = (
            Command::BeginRendering { physical_pass: PhysicalPassId::new(0), attachments: Span::default() },
            Command::EndRendering,
        );
        wrap(plan, "move", [begin, end]);
    });
    refused(Rule::Malformed, "holds no pass", |plan| {
        let begin = Command::BeginRendering { physical_pass: PhysicalPassId::new(0), attachments: Span::default() };
        let at = plan.commands.len();
        plan.commands.splice(at.., [begin, Command::EndRendering]);
        let last = BatchId::new(plan.batches.len() - 1);
        plan.batches[last].commands.end += 2;
    });
    refused(Rule::Malformed, "does not end in it", |plan| {
        let end = plan.commands.iter().rposition(|one| *one == Command::EndRendering).expect("a render pass");
        plan.commands.truncate(end);
        let last = BatchId::new(plan.batches.len() - 1);
        plan.batches[last].commands.end = end as u32;
    });
}

/// Puts commands around a pass of the only batch.
fn wrap(plan: &mut Plan, name: &str, [before, after]: [Command; 2]) {
    let is = |command: &Command| matches!(command, Command::Pass { pass, .. } if plan.pass_name(*pass) == name);
    let at = plan.commands.iter().position(is).expect("the pass runs");
    let pass = plan.commands[at];
    plan.commands.splice(at..=at, [before, pass, after]);
    let last = BatchId::new(plan.batches.len() - 1);
    plan.batches[last].commands.end += 2;
}

#[test]
fn events_families_and_commands_that_point_nowhere_are_found() {
    refused(Rule::Malformed, "points outside the plan", |plan| {
        let Some(Command::Barriers(barriers)) = plan.commands.iter().find(|one| matches!(one, Command::Barriers(_)))
        else {
            panic!("a barrier")
        };
        let set = Command::SetEvent(EventId::new(4_000_000_000), *barriers);
        plan.commands[0] = set;
    });
    refused(Rule::Malformed, "names a family without a queue", |plan| {
        plan.image_barriers[0].families = Some([0, 77]);
    });
    refused(Rule::Malformed, "a command stands in no batch", |plan| {
        let last = BatchId::new(plan.batches.len() - 1);
        plan.batches[last].commands.end -= 1;
    });
}
