//! Plans under other choices, orders from outside, and the tree of all orders.

use rgraph_plan::bake::Orders;
use rgraph_plan::bake::propose::{Problem, Proposal, Tried, bake_proposals};
use rgraph_plan::error::Code;
use rgraph_plan::prelude::*;
use rgraph_plan::what_if::{Changes, what_if};
use rgraph_report::what_if_text;

/// A shadow map and ambient occlusion independent of each other, then lighting.
fn frame() -> Graph {
    let mut g = Graph::new("frame", [1024, 1024]);
    let depth = g.image("depth", Format::Depth32float);
    let shadow = g.image("shadow", Format::Depth32float);
    let [ao, lit] = [g.image("ao", Format::R8unorm), g.image("lit", Format::Rgba16float)];
    g.pass("depth", PassQueue::Graphics).depth(depth).weight_us(300.0);
    g.pass("ssao", PassQueue::Graphics).sampled(depth).storage_write(ao).weight_us(500.0);
    g.pass("shadows", PassQueue::Graphics).depth(shadow).weight_us(600.0);
    g.pass("lighting", PassQueue::Graphics).sampled(depth).sampled(shadow).sampled(ao).color(lit).weight_us(200.0);
    g.root(lit);
    g
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn what_if_bakes_the_changed_graph_and_bounds_what_queues_could_gain() {
    let (graph, profile, mut scratch) = (frame(), Profile::discrete(), Scratch::default());
    let before = bake(&graph, &profile, &Options::default(), &mut scratch).expect("a good graph");
    let changes = Changes {
        weights: vec![("ssao".into(), 400.0)],
        drop: named(&["shadows"]),
        memory: Some(MemoryBudget::Fast),
        policy: Some(Policy::Weighted),
        ..Changes::default()
    };
    let answer = what_if(&graph, &profile, &Options::default(), &changes, &mut scratch).expect("a good change");
    let names: Vec<_> = answer.plan.live().map(|pass| answer.plan.pass_name(pass)).collect();
    assert_eq!(names, ["depth", "ssao", "lighting"]);
    assert_eq!(answer.plan.report.policy, "weighted");
    let bound = answer.plan.report.bound.expect("a baked plan has a bound");
    assert!(bound.critical_path_us >= 900.0 && bound.us <= answer.plan.report.frame_us);
    assert!(answer.notes.iter().any(|note| note.contains("'shadow' comes from outside")), "{:?}", answer.notes);
    assert!(what_if_text(&answer, &before).contains("- pass 'shadows'"), "{}", what_if_text(&answer, &before));
    // The bound of other queues is one of every plan that uses them.
    let queues = [("ssao".to_owned(), PassQueue::AsyncCompute)];
    let other = Changes { queues: queues.to_vec(), ..Changes::default() };
    let other = what_if(&graph, &profile, &Options::default(), &other, &mut scratch).expect("a good change");
    let gain = other.queues.at_most_us().expect("one queue can do all of it");
    let one = other.queues.one_queue_us.unwrap();
    assert_eq!(one, before.report.frame_us);
    assert!(other.queues.bound_us <= other.plan.report.frame_us && gain >= one - other.plan.report.frame_us);
}

#[test]
fn what_if_names_what_it_does_not_know_and_refuses_what_does_not_fit() {
    let (graph, profile, mut scratch) = (frame(), Profile::discrete(), Scratch::default());
    let mut code = |changes: Changes| {
        let error = what_if(&graph, &profile, &Options::default(), &changes, &mut scratch).unwrap_err();
        (error.mistakes()[0].code, error.to_string())
    };
    let (unknown, text) = code(Changes { drop: named(&["sssao"]), ..Changes::default() });
    assert!(unknown == Code::UnknownName && text.contains("did you mean 'ssao'?"), "{text}");
    let raster = ("lighting".to_owned(), PassQueue::AsyncCompute);
    assert_eq!(code(Changes { queues: vec![raster], ..Changes::default() }).0, Code::BadQueue);
    assert_eq!(code(Changes { heap_limit: Some(1 << 20), ..Changes::default() }).0, Code::OutOfMemory);
    assert_eq!(code(Changes { weights: vec![("ssao".into(), f64::NAN)], ..Changes::default() }).0, Code::BadNumber);
    let strange = vec![("strange".to_owned(), 1.0)];
    assert_eq!(code(Changes { weights: strange, lenient: true, ..Changes::default() }).0, Code::UnknownName);
}

#[test]
fn proposals_are_checked_priced_and_kept_only_if_the_frame_is_shorter() {
    let (mut graph, profile) = (frame(), Profile::discrete());
    let ssao = graph.find_pass("ssao").unwrap();
    graph.pass_mut(ssao).queue = PassQueue::Any;
    let declared = Options { policy: Policy::Declared, ..Options::default() };
    let mut turn = 0;
    let mut hook = |problem: &Problem, tried: &[Tried]| {
        assert_eq!(tried.len(), turn);
        turn += 1;
        let at = |name: &str| problem.passes.iter().position(|pass| pass.name == name).unwrap();
        let order = |names: [&str; 4]| names.map(at).to_vec();
        let home = vec![Some(0); 4];
        let mut beside = home.clone();
        beside[at("ssao")] = Some(1);
        Some(match turn {
            1 => Proposal { order: order(["ssao", "depth", "shadows", "lighting"]), queues: home },
            2 => Proposal { order: order(["depth", "depth", "shadows", "lighting"]), queues: home },
            3 => Proposal { order: vec![0], queues: home },
            4 => Proposal { queues: vec![Some(1); 4], ..problem.own.clone() },
            5 => problem.own.clone(),
            6 => Proposal { order: order(["depth", "ssao", "shadows", "lighting"]), queues: beside },
            _ => return None,
        })
    };
    let mut scratch = Scratch::default();
    let own = bake(&graph, &profile, &declared, &mut scratch).expect("a good graph");
    let (plan, tried) = bake_proposals(&graph, &profile, &declared, &mut hook, 10, &mut scratch).expect("a good graph");
    let refused: Vec<_> = tried.iter().map(|one| one.frame_us.is_none()).collect();
    assert_eq!(refused, [true, true, true, true, false, false], "{tried:?}");
    assert!(tried[0].refused.contains("before 'depth'") || tried[0].refused.contains("\"depth\""), "{tried:?}");
    assert!(!tried[4].kept && tried[5].kept == (tried[5].frame_us < Some(own.report.frame_us)));
    assert!(plan.report.frame_us <= own.report.frame_us);
    assert!(tried.iter().all(|one| one.frame_us.is_none_or(|us| plan.report.frame_us <= us)));
    // A later bake knows nothing of proposals.
    assert!(bake(&graph, &profile, &declared, &mut scratch).expect("a good graph") == own);
}

#[test]
fn the_box_tree_of_a_graph_is_counted_sampled_printed_and_a_policy() {
    let (graph, profile, mut scratch) = (frame(), Profile::single_queue(), Scratch::default());
    let orders = Orders::new(&graph, &profile, &mut scratch).expect("a good graph");
    assert_eq!(orders.count(), Some(3));
    let seen: std::collections::BTreeSet<_> = (0..64).map(|seed| orders.sample(seed).join(" ")).collect();
    assert_eq!(seen.len(), 3);
    assert_eq!(orders.flatten(), ["depth", "ssao", "shadows", "lighting"]);
    let text = orders.to_string();
    assert!(text.contains("parallel, 3 passes") && text.contains("ssao  500.0 µs  ← depth (depth)"), "{text}");
    let options = Options { policy: Policy::BoxTree, ..Options::default() };
    let plan = bake(&graph, &profile, &options, &mut scratch).expect("a good graph");
    let names: Vec<_> = plan.live().map(|pass| plan.pass_name(pass)).collect();
    assert_eq!((plan.report.policy, names), ("box_tree", orders.flatten()));
}

#[test]
fn policies_and_splits_have_the_names_by_which_they_are_found() {
    assert_eq!(Policy::NAMES.map(|name| Policy::from_name(name).map(Policy::name)), Policy::NAMES.map(Some));
    assert_eq!(Split::NAMES.map(Split::from_name), [Split::Never, Split::Distance, Split::Always].map(Some));
    assert_eq!((Policy::from_name("random"), Split::from_name("sometimes")), (None, None));
}
