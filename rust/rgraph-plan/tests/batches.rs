//! Frames keep within the batches that their caller allows.

use std::collections::HashMap;

use rgraph_files::write_plan;
use rgraph_plan::graph::PassId;
use rgraph_plan::id::Id;
use rgraph_plan::plan::{QueueId, QueueWhy};
use rgraph_plan::prelude::*;
use rgraph_plan::resource::ResourceId;

use crate::families;

fn baked(graph: &Graph, max_batches: Option<u32>) -> Plan {
    let options = Options { max_batches, ..Options::default() };
    bake(graph, &Profile::discrete(), &options, &mut Scratch::default()).expect("it is right")
}

/// The layered family, with the choice of queues left open where it names one if `open`.
fn layered(passes: usize, open: bool) -> Graph {
    let mut graph = families::layered(passes);
    for pass in graph.passes().ids().collect::<Vec<_>>() {
        let pass = graph.pass_mut(pass);
        if open && pass.queue == PassQueue::AsyncCompute {
            pass.queue = PassQueue::Any;
        }
    }
    graph
}

/// Passes that may run on several queues, and an order that uses them.
fn spread(graph: &Graph, max_batches: Option<u32>) -> Plan {
    let options = Options { max_batches, policy: Policy::Weighted, ..Options::default() };
    bake(graph, &Profile::discrete(), &options, &mut Scratch::default()).expect("it is right")
}

fn queues(plan: &Plan) -> Vec<(String, Option<QueueId>)> {
    let mut all: Vec<_> = plan.live().map(|pass| (plan.pass_name(pass).to_owned(), plan.passes[pass].queue)).collect();
    all.sort();
    all
}

/// The fewest batches of any order in which each pass stays on its queue: a row of passes that follow each other has as
/// many as it changes queues, and one more.
fn fewest(graph: &Graph, plan: &Plan) -> usize {
    let queue: HashMap<String, Option<QueueId>> = queues(plan).into_iter().collect();
    let mut level = vec![0_usize; graph.passes().len()];
    let mut writer: HashMap<ResourceId, PassId> = HashMap::new();
    let mut most = 0;
    // In the declared order every image is written before it is read, and once.
    for pass in graph.passes().ids().filter(|&pass| queue.contains_key(graph.pass_name(pass))) {
        for access in graph.accesses().iter().filter(|access| access.pass == pass) {
            match writer.get(&access.resource) {
                Some(&earlier) => {
                    let changes = queue[graph.pass_name(earlier)] != queue[graph.pass_name(pass)];
                    level[pass.index()] = level[pass.index()].max(level[earlier.index()] + usize::from(changes));
                }
                None => drop(writer.insert(access.resource, pass)),
            }
        }
        most = most.max(level[pass.index()]);
    }
    most + 1
}

#[test]
fn passes_with_a_choice_keep_every_bound() {
    for n in [64, 256] {
        let graph = layered(n, true);
        let free = spread(&graph, None);
        assert!(free.batches.len() > 10, "{n}: the order uses several queues: {}", free.batches.len());
        for most in [10, 5, 2, 1] {
            let plan = spread(&graph, Some(most));
            assert!(plan.batches.len() <= most as usize, "{n}: {} of {most}", plan.batches.len());
            let home = plan.passes.iter().filter(|pass| pass.why.queue == QueueWhy::FewBatches).count();
            assert!(most > 1 || home > 0);
            let note = plan.report.notes.iter().find(|note| note.contains("max_batches"));
            let note = note.expect("the report says what the bound costs");
            assert!(note.starts_with(&format!("{} batches in place of {}", plan.batches.len(), free.batches.len())));
            assert_eq!(note.contains("on the graphics queue"), home > 0, "{note}");
            assert!(!note.contains("no fewer"), "{note}");
        }
    }
}

#[test]
fn named_queues_are_kept_and_waits_fall_together() {
    for n in [256, 1024] {
        let graph = layered(n, false);
        let free = baked(&graph, None);
        let plan = baked(&graph, Some(n as u32 / 8));
        assert!(plan.batches.len() <= n / 8, "{n}: {}", plan.batches.len());
        assert!(free.batches.len() > 2 * n / 8);
        assert_eq!(queues(&plan), queues(&free));
        assert!(
            plan.report.frame_us < 1.1 * free.report.frame_us,
            "{} of {}",
            plan.report.frame_us,
            free.report.frame_us
        );
        let least = baked(&graph, Some(1));
        assert_eq!(queues(&least), queues(&free));
        let fewest = fewest(&graph, &free);
        assert!((fewest..=2 * fewest).contains(&least.batches.len()), "{n}: {} of {fewest}", least.batches.len());
        assert!(least.report.notes.iter().any(|note| note.contains("the queues that passes name take no fewer")));
    }
}

#[test]
fn frames_within_the_bound_are_left_as_they_are() {
    let graph = layered(256, false);
    let free = baked(&graph, None);
    let bounded = baked(&graph, Some(free.batches.len() as u32));
    assert_eq!(write_plan(&free), write_plan(&bounded));
    assert!(free.batches.len() <= Options::MAX_BATCHES as usize);
    assert!(
        baked(&layered(1024, false), Options::default().max_batches).batches.len() <= Options::MAX_BATCHES as usize
    );
}
