//! Any plan may be checked: of another graph, cut short, with ids and numbers that point nowhere. It is refused in
//! words, at once, and never with a panic.

use rgraph_check::generate::{Limits, generate};
use rgraph_check::interpret::interpret_plan;
use rgraph_check::random::Random;
use rgraph_check::{Rule, check};
use rgraph_plan::access::{Accesses, Stages, Usage, UsageSet};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::graph::FlagId;
use rgraph_plan::id::{Id, Span};
use rgraph_plan::plan::{
    Command, EventId, HeapId, PhysicalPassId, Plan, PlanFallback, PlanPassId, QueueId, Remembers, Wait,
};
use rgraph_plan::resource::ResourceId;

fn number(random: &mut Random) -> usize {
    match random.below(4) {
        0 => random.below(4) as usize,
        1 => random.below(64) as usize,
        2 => (u32::MAX - 1) as usize,
        _ => random.below(1 << 31) as usize,
    }
}

fn span(random: &mut Random, len: usize) -> Span {
    let (a, b) = (random.below(len as u64 + 2) as u32, random.below(len as u64 + 2) as u32);
    if random.chance(1, 8) { Span { start: b, end: u32::MAX } } else { Span { start: a, end: b } }
}

fn pick<T>(random: &mut Random, list: &mut [T], change: impl FnOnce(&mut Random, &mut T)) {
    if !list.is_empty() {
        let at = random.below(list.len() as u64) as usize;
        change(random, &mut list[at]);
    }
}

/// One random fault of any kind, sensible or not.
fn corrupt(plan: &mut Plan, random: &mut Random) {
    let resource = |random: &mut Random| ResourceId::new(number(random));
    match random.below(31) {
        0 => pick(random, plan.image_barriers.as_mut_slice(), |r, b| b.resource = resource(r)),
        1 => pick(random, plan.image_barriers.as_mut_slice(), |r, b| b.mips = [number(r) as u32, number(r) as u32]),
        2 => pick(random, plan.image_barriers.as_mut_slice(), |r, b| b.layers = [number(r) as u32, number(r) as u32]),
        3 => pick(random, plan.image_barriers.as_mut_slice(), |r, b| {
            b.scope.src_stages = Stages::from_bits_retain(r.bits() as u32);
            b.scope.dst_access = Accesses::from_bits_retain(r.bits() as u32);
        }),
        4 => pick(random, plan.image_barriers.as_mut_slice(), |r, b| b.families = Some([number(r) as u32, 0])),
        5 => pick(random, plan.buffer_barriers.as_mut_slice(), |r, b| b.range = [number(r) as u64, r.bits()]),
        6 => {
            let len = plan.image_barriers.len();
            let (a, b) = (span(random, len), span(random, plan.memory_barriers.len()));
            pick(random, plan.commands.as_mut_slice(), |_, command| {
                if let Command::Barriers(barriers) = command {
                    (barriers.images, barriers.memory) = (a, b);
                }
            });
        }
        7 => {
            let pass = PlanPassId::new(random.below(plan.passes.len() as u64 + 2) as usize);
            let layouts = span(random, plan.layouts.len());
            pick(random, plan.commands.as_mut_slice(), |_, command| *command = Command::Pass { pass, layouts });
        }
        8 => pick(random, plan.commands.as_mut_slice(), |_, command| *command = Command::EndRendering),
        9 => {
            let attachments = span(random, plan.attachments.len());
            pick(random, plan.commands.as_mut_slice(), |r, command| {
                *command = Command::BeginRendering { physical_pass: PhysicalPassId::new(number(r)), attachments };
            });
        }
        10 => pick(random, plan.commands.as_mut_slice(), |r, command| {
            if let Command::Barriers(barriers) = *command {
                let event = EventId::new(number(r));
                *command = if r.chance(1, 2) {
                    Command::SetEvent(event, barriers)
                } else {
                    Command::WaitEvents(event, barriers)
                };
            }
        }),
        11 => {
            let commands = span(random, plan.commands.len());
            pick(random, plan.batches.as_vec_mut().as_mut_slice(), |_, batch| batch.commands = commands);
        }
        12 => {
            let waits = span(random, plan.waits.len());
            pick(random, plan.batches.as_vec_mut().as_mut_slice(), |_, batch| batch.waits = waits);
        }
        13 => pick(random, plan.batches.as_vec_mut().as_mut_slice(), |r, batch| {
            batch.queue = r.chance(1, 3).then(|| QueueId::new(number(r) % 5));
        }),
        14 => pick(random, plan.batches.as_vec_mut().as_mut_slice(), |r, batch| batch.signal = Some(number(r) as u32)),
        15 => pick(random, plan.waits.as_mut_slice(), |r, wait| {
            *wait = Wait {
                queue: Some(QueueId::new(number(r) % 5)),
                value: number(r) as u32,
                stages: Stages::from_bits_retain(r.bits() as u32),
                previous_run: r.chance(1, 2),
            };
        }),
        16 => plan.batches.as_vec_mut().reverse(),
        17 => {
            let count = random.below(plan.batches.len() as u64 + 1) as usize;
            plan.batches.as_vec_mut().truncate(count);
        }
        18 => pick(random, plan.memory.placements.as_mut_slice(), |r, place| {
            (place.offset, place.size) = (r.bits(), r.bits());
        }),
        19 => pick(random, plan.memory.placements.as_mut_slice(), |r, place| place.heap = HeapId::new(number(r))),
        20 => pick(random, plan.edges.as_mut_slice(), |r, edge| {
            edge.resource = resource(r);
            edge.entry.queue = Some(QueueId::new(number(r)));
        }),
        21 => pick(random, plan.edges.as_mut_slice(), |r, edge| {
            edge.mips = [number(r) as u32, number(r) as u32];
            edge.range = [r.bits(), r.bits()];
        }),
        22 => pick(random, plan.passes.as_vec_mut().as_mut_slice(), |r, pass| pass.declared = Some(number(r) as u32)),
        23 => pick(random, plan.passes.as_vec_mut().as_mut_slice(), |r, pass| {
            (pass.declared, pass.name) = (None, number(r) as u32);
        }),
        24 => pick(random, plan.attachments.as_mut_slice(), |r, attachment| {
            (attachment.resource, attachment.mip) = (resource(r), number(r) as u32);
        }),
        25 => pick(random, plan.resources.as_vec_mut().as_mut_slice(), |r, one| one.memory = resource(r)),
        26 => pick(random, plan.resources.as_vec_mut().as_mut_slice(), |r, one| {
            (one.ring, one.remembers) =
                (number(r) as u32, Some(Remembers { of: resource(r), frames: number(r) as u32 }));
        }),
        27 => pick(random, plan.resources.as_vec_mut().as_mut_slice(), |r, one| {
            one.usages = r.chance(1, 2).then(|| UsageSet::of(Usage::ALL[r.below(23) as usize]));
        }),
        28 => pick(random, plan.passes.as_vec_mut().as_mut_slice(), |r, pass| pass.flag = Some(FlagId::new(number(r)))),
        29 => plan.fallbacks.push(PlanFallback {
            pass: PlanPassId::new(number(random)),
            output: resource(random),
            input: resource(random),
        }),
        _ => {
            let count = random.below(plan.resources.len() as u64 + 1) as usize;
            plan.resources.as_vec_mut().truncate(count);
        }
    }
}

#[test]
fn corrupted_plans_are_checked_and_run_without_a_panic() {
    let mut scratch = Scratch::default();
    let mut random = Random::new(1);
    let mut refused = 0;
    for seed in 0..150 {
        let (graph, profile) = generate(seed, Limits { most_passes: 14, ..Limits::default() });
        let plan = bake(&graph, &profile, &Options::default(), &mut scratch).expect("generated graphs are right");
        for _ in 0..40 {
            let mut bad = plan.clone();
            for _ in 0..1 + random.below(3) {
                corrupt(&mut bad, &mut random);
            }
            let findings = check(&graph, &bad);
            refused += usize::from(!findings.is_empty());
            assert!(findings.iter().all(|finding| !finding.message.is_empty()));
            // Whatever it computes, it comes to an end.
            let _ = interpret_plan(&graph, &bad, 2);
        }
    }
    assert!(refused > 4000, "only {refused} of 6000 corrupted plans are refused");
}

#[test]
fn a_plan_of_another_graph_is_refused() {
    let mut scratch = Scratch::default();
    let mut before = None;
    for seed in 0..200 {
        let (graph, profile) = generate(seed, Limits { most_passes: 12, ..Limits::default() });
        let plan = bake(&graph, &profile, &Options::default(), &mut scratch).expect("generated graphs are right");
        if let Some(foreign) = before.replace(plan) {
            let findings = check(&graph, &foreign);
            assert!(findings.iter().any(|finding| finding.rule == Rule::WrongGraph), "seed {seed}: {findings:?}");
        }
    }
}

#[test]
fn an_empty_plan_is_refused() {
    let (graph, _) = generate(3, Limits::default());
    let plan = Plan { graph_hash: graph.content_hash(), ..Plan::default() };
    let findings = check(&graph, &plan);
    assert_eq!(findings[0].rule, Rule::Malformed, "{findings:?}");
}
