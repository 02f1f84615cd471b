//! Plans that a search in the background finds are plans like others: no hazard, none twice.

use rgraph_plan::bake::propose::{Problem, Proposal, Tried};
use rgraph_plan::bake::search::{Search, open_queues, same_work, search};
use rgraph_plan::prelude::*;

/// Two independent passes that fill half of the device each, and one that follows both.
fn frame(queue: PassQueue) -> Graph {
    let mut g = Graph::new("frame", [1024, 1024]);
    let left = g.image("left", Format::Rgba8unorm);
    let right = g.image("right", Format::Rgba8unorm);
    let out = g.image("out", Format::Rgba8unorm);
    g.pass("left", PassQueue::Compute).storage_write(left);
    g.pass("right", queue).storage_write(right);
    g.pass("join", PassQueue::Compute).sampled(left).sampled(right).storage_write(out);
    g.root(out);
    g
}

#[test]
fn a_search_finds_each_plan_once_the_shortest_first_and_all_are_clean() {
    for queue in [PassQueue::Any, PassQueue::AsyncCompute, PassQueue::Compute] {
        for open in [false, true] {
            let mut graph = frame(queue);
            if open {
                open_queues(&mut graph);
            }
            let mut asked = 0;
            let mut hook = |problem: &Problem, tried: &[Tried]| {
                asked += 1;
                let wrong = Proposal { order: vec![0; 3], ..problem.own.clone() };
                [Some(wrong), Some(problem.own.clone()), None][tried.len()].clone()
            };
            let of = Search {
                graph: &graph,
                profile: &Profile::discrete(),
                measure: None,
                options: Options::default(),
                hook: Some(&mut hook),
                most: 64,
            };
            let (found, tried) = search(of, &mut Scratch::default()).unwrap();
            assert_eq!((asked, tried.len()), (3, 2));
            assert!(tried[0].frame_us.is_none() && tried[1].frame_us.is_some());
            assert!(found.is_sorted_by(|a, b| a.plan.report.frame_us <= b.plan.report.frame_us));
            for (at, one) in found.iter().enumerate() {
                assert_eq!(rgraph_check::check(&graph, &one.plan), [], "{}", one.what);
                assert!(found[..at].iter().all(|other| !same_work(&other.plan, &one.plan)));
            }
            let queues = |plan: &Plan| plan.passes.iter().map(|pass| pass.queue).collect::<Vec<_>>();
            let several = found.iter().any(|one| queues(&one.plan) != queues(&found[0].plan));
            assert_eq!(several, open || queue == PassQueue::Any, "{queue:?}, {open}");
        }
    }
}
