//! Barriers as events: with `always`, a barrier with work in between is split, whatever else is in its call.

use rgraph_check::check;
use rgraph_check::generate::{Limits, generate};
use rgraph_check::interpret::disagreement;
use rgraph_plan::access::Usage;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::plan::{Barriers, Command, Plan, PlanPassId, QueueId, Why};
use rgraph_plan::prelude::*;
use rgraph_plan::profile::Capabilities;
use rgraph_plan::resource::ResourceId;

/// Dependencies between passes of one queue with a pass of a third physical pass in between, and how many are events.
#[derive(Default, Debug)]
struct Count {
    apart: u32,
    events: u32,
}

fn whys<'a>(plan: &'a Plan, of: &Barriers) -> Vec<&'a Why> {
    let memory = plan.memory_barriers[of.memory.range()].iter().map(|barrier| &barrier.why);
    let buffers = plan.buffer_barriers[of.buffers.range()].iter().filter(|barrier| barrier.families.is_none());
    let images = plan.image_barriers[of.images.range()].iter().filter(|barrier| barrier.families.is_none());
    memory.chain(buffers.map(|barrier| &barrier.why)).chain(images.map(|barrier| &barrier.why)).collect()
}

/// Queues for transfers alone have none (Vulkan 1.3, `vkCmdSetEvent2`, "Supported Queue Types").
fn has_events(plan: &Plan, queue: QueueId) -> bool {
    plan.queues[queue].capabilities.intersects(Capabilities::GRAPHICS | Capabilities::COMPUTE)
}

impl Count {
    fn add(&mut self, plan: &Plan) {
        for queue in plan.queues.ids().filter(|queue| has_events(plan, *queue)) {
            let ours = plan.batches.iter().filter(|batch| batch.queue == Some(queue));
            let commands: Vec<&Command> = ours.flat_map(|batch| &plan.commands[batch.commands.range()]).collect();
            let is_pass = |command: &&Command| matches!(command, Command::Pass { .. });
            // Where render passes and lone passes end: each is work that may be in between.
            let works = |from: usize, to: usize| {
                let mut open = false;
                let mut count = 0;
                for command in &commands[from..to] {
                    match command {
                        Command::BeginRendering { .. } => (open, count) = (true, count + 1),
                        Command::EndRendering => open = false,
                        Command::Pass { .. } if !open => count += 1,
                        _ => {}
                    }
                }
                count
            };
            let place = |pass: PlanPassId| {
                commands.iter().position(|command| matches!(command, Command::Pass { pass: at, .. } if *at == pass))
            };
            for (at, command) in commands.iter().enumerate() {
                let (split, barriers) = match command {
                    Command::WaitEvents(_, barriers) => (true, barriers),
                    Command::Barriers(barriers) if !barriers.by_region => (false, barriers),
                    _ => continue,
                };
                // A call at the end of a batch is for others than its own queue.
                if !commands[at..].iter().any(is_pass) {
                    continue;
                }
                for why in whys(plan, barriers) {
                    let Some(from) = why.from.and_then(place).filter(|from| *from < at) else { continue };
                    if why.to.and_then(place).is_none_or(|to| to < at) {
                        continue;
                    }
                    // Behind the render pass that the earlier pass is in.
                    let physical = plan.passes[why.from.expect("it has a place")].physical_pass;
                    let behind = match physical {
                        Some(_) => {
                            from + commands[from..at]
                                .iter()
                                .position(|c| matches!(c, Command::EndRendering))
                                .unwrap_or(0)
                        }
                        None => from,
                    };
                    if works(behind + 1, at) > 0 {
                        self.apart += 1;
                        self.events += u32::from(split);
                    }
                }
            }
        }
    }
}

#[test]
fn nine_in_ten_dependencies_with_work_in_between_are_events() {
    let (mut scratch, mut count, mut wrong) = (Scratch::default(), Count::default(), Vec::new());
    let options = Options { split: Split::Always, ..Options::default() };
    for seed in 0..1500 {
        let (graph, profile) = generate(seed, Limits::default());
        let plan = bake(&graph, &profile, &options, &mut scratch).expect("generated graphs are right");
        count.add(&plan);
        wrong.extend(check(&graph, &plan).first().map(|first| format!("{seed}: {first}")));
        if seed % 10 == 0 {
            wrong.extend(disagreement(&graph, &plan, 8).map(|what| format!("{seed} computes something else: {what}")));
        }
    }
    println!("{count:?}");
    assert!(wrong.is_empty(), "{} plans are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    assert!(count.apart > 1000, "{count:?}");
    assert!(f64::from(count.events) >= 0.9 * f64::from(count.apart), "{count:?}");
}

/// Three copies on one queue, the third of what the first wrote: with `always` an event is set behind the first.
fn copies(queue: PassQueue) -> Plan {
    let mut graph = Graph::new("copies", [1, 1]);
    let [from, one, other, last] = ["from", "one", "other", "last"].map(|name| graph.buffer(name, 256));
    let passes: [(&str, &[(ResourceId, Usage)]); 4] = [
        ("fill", &[(from, Usage::TransferDst)]),
        ("first", &[(from, Usage::TransferSrc), (one, Usage::TransferDst)]),
        ("between", &[(other, Usage::TransferDst)]),
        ("third", &[(one, Usage::TransferSrc), (last, Usage::TransferDst)]),
    ];
    for (name, accesses) in passes {
        let pass = graph.pass(name, queue).id();
        for &(resource, usage) in accesses {
            graph.access(pass, resource, &Use::new(usage), None);
        }
    }
    graph.root(other);
    graph.root(last);
    let options = Options { split: Split::Always, policy: Policy::Declared, ..Options::default() };
    let plan = bake(&graph, &Profile::discrete(), &options, &mut Scratch::default()).unwrap();
    assert_eq!(check(&graph, &plan), []);
    let mut moved = plan.clone();
    for queue in moved.queues.as_vec_mut() {
        queue.capabilities = Capabilities::TRANSFER;
    }
    let refused =
        check(&graph, &moved).iter().any(|finding| finding.to_string().contains("neither graphics nor compute"));
    assert_eq!(refused, plan.commands.iter().any(|command| matches!(command, Command::SetEvent(..))));
    plan
}

#[test]
fn queues_for_transfers_alone_set_no_events() {
    let sets = |plan: Plan| plan.commands.iter().filter(|command| matches!(command, Command::SetEvent(..))).count();
    assert_eq!(sets(copies(PassQueue::Graphics)), 1);
    assert_eq!(sets(copies(PassQueue::Transfer)), 0);
}
