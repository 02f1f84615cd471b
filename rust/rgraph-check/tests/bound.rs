//! No plan of any policy, effort or budget has a modelled frame below the bound that every plan of its graph holds.

use rgraph_check::generate::{Limits, generate};
use rgraph_check::{Rule, check};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::plan::Plan;
use rgraph_plan::prelude::{Graph, MemoryBudget, PassQueue, Policy, Profile, Split, Without};

#[test]
fn no_plan_beats_the_bound() {
    let policies = [
        Policy::Auto,
        Policy::Declared,
        Policy::Overlap,
        Policy::Weighted,
        Policy::BoxTree,
        Policy::Exact { nodes: 300 },
        Policy::Random { seed: 7, swaps: u32::MAX },
    ];
    let (mut scratch, mut reached, mut plans) = (Scratch::default(), 0, 0);
    // In the last two the times of passes, in single precision, add up to less than the bound.
    for seed in (0..600u64).chain([1073, 1145]) {
        let (graph, profile) = generate(seed, Limits::default());
        let mut known = None;
        for (turn, policy) in policies.into_iter().enumerate() {
            let options = Options {
                policy,
                effort: (seed % 3) as u32,
                split: if seed % 2 == 0 { Split::Never } else { Split::Always },
                memory: if turn % 2 == 0 { MemoryBudget::Fast } else { MemoryBudget::Least },
                without: Without { merging: seed % 5 == 0, ..Without::default() },
                ..Options::default()
            };
            let Ok(plan) = bake(&graph, &profile, &options, &mut scratch) else { continue };
            let bound = plan.report.bound.expect("a baked plan has a bound");
            let frame_us = plan.report.frame_us;
            let name = policy.name();
            assert!(bound.us <= frame_us, "seed {seed}, {name}: {frame_us} is below {bound:?}");
            assert!(bound.us >= bound.critical_path_us && bound.us >= bound.load_us);
            assert!(*known.get_or_insert(bound) == bound, "seed {seed}, {name}: another bound of the same graph");
            plans += 1;
            reached += usize::from(bound.us >= 0.8 * frame_us);
        }
    }
    // A bound of nothing would pass everything above.
    assert!(plans > 3000 && reached * 4 > plans, "the bound is near the frame in {reached} of {plans} plans");
}

/// A chain and an independent pass, with declared durations.
fn chain() -> (Graph, Plan) {
    let mut g = Graph::new("chain", [64, 64]);
    let names = ["a", "b", "c"].map(|name| g.buffer(name, 256));
    g.pass("first", PassQueue::Compute).storage_write(names[0]).weight_us(100.0);
    g.pass("second", PassQueue::Compute).storage_read(names[0]).storage_write(names[1]).weight_us(50.0);
    g.pass("beside", PassQueue::AsyncCompute).storage_write(names[2]).weight_us(20.0);
    g.root(names[1]);
    g.root(names[2]);
    let plan = bake(&g, &Profile::discrete(), &Options::default(), &mut Scratch::default()).expect("a good graph");
    (g, plan)
}

#[test]
fn the_checker_finds_a_wrong_bound_by_its_own_computation() {
    let (graph, plan) = chain();
    assert_eq!(check(&graph, &plan), []);
    let bound = plan.report.bound.expect("a baked plan has a bound");
    assert!(bound.us >= 150.0 && bound.critical_path_us >= 150.0, "{bound:?}");
    let path: Vec<_> = plan.report.critical_path.iter().map(|&pass| plan.pass_name(pass)).collect();
    assert_eq!(path, ["first", "second"]);
    type Change = (&'static str, fn(&mut Plan));
    let wrong: [Change; 5] = [
        ("above the frame", |plan| plan.report.bound.as_mut().unwrap().us = plan.report.frame_us + 1.0),
        ("below the declared path", |plan| plan.report.bound.as_mut().unwrap().us = 149.0),
        ("a frame below the path", |plan| plan.report.frame_us = 149.0),
        ("a pass before what it follows", |plan| {
            let second = plan.find_pass("second").unwrap();
            plan.passes[second].why.start_us = 10.0;
        }),
        ("no number", |plan| plan.report.bound.as_mut().unwrap().load_us = f64::NAN),
    ];
    for (what, change) in wrong {
        let mut plan = plan.clone();
        change(&mut plan);
        let findings = check(&graph, &plan);
        assert!(!findings.is_empty() && findings.iter().all(|one| one.rule == Rule::Time), "{what}: {findings:?}");
    }
}
