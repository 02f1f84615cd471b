//! What a bake costs, stage by stage and in all, and how it grows: policy `weighted` on three queues, everything on.
//! `cargo bench -p rgraph-plan --bench bake` prints criterion's times for one whole bake; the table after it gives
//! microseconds per pass by stage, the median of several runs each, all in one process so that ratios mean something.

mod families;
#[path = "../rust/rgraph-plan/tests/common/most_live.rs"]
mod most_live;

use std::hint::black_box;
use std::time::Instant;

use criterion::Criterion;
use families::FAMILIES;
use rgraph_plan::plan::BakeTimes;
use rgraph_plan::prelude::*;

const SIZES: [usize; 6] = [16, 64, 256, 1024, 4096, 65_536];

fn now_us() -> f64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e6
}

fn options() -> Options {
    Options { policy: Policy::Weighted, effort: 0, ..Options::default() }
}

fn whole_bakes(criterion: &mut Criterion) {
    for (name, family) in FAMILIES {
        let mut group = criterion.benchmark_group(name);
        for n in SIZES {
            let graph = family(n);
            let profile = Profile::discrete();
            let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
            group.throughput(criterion::Throughput::Elements(n as u64));
            group.sample_size(if n > 10_000 { 10 } else { 30 });
            group.bench_function(n.to_string(), |bencher| {
                bencher
                    .iter(|| bake_into(&graph, &profile, &options(), &mut scratch, &mut plan).expect("a good graph"));
            });
        }
        group.finish();
    }
}

fn table() {
    println!("\nmicroseconds per pass, median; policy weighted, profile discrete");
    println!(
        "{:8} {:>6} {:>9} {:>7} {:>9} {:>7} {:>7} {:>12} {:>7} {:>10}",
        "family", "passes", "validate", "cull", "schedule", "merge", "alias", "synchronize", "all", "unchanged"
    );
    for (name, family) in FAMILIES {
        for n in SIZES {
            let graph = family(n);
            let profile = Profile::discrete();
            let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
            let timed = Options { clock: Some(now_us), ..options() };
            let rounds = (200_000 / n).clamp(5, 300);
            let mut laps: Vec<[f64; 7]> = Vec::new();
            for _ in 0..rounds {
                let start = now_us();
                bake_into(&graph, &profile, &timed, &mut scratch, &mut plan).expect("a good graph");
                let all = now_us() - start;
                let t: BakeTimes = plan.report.bake_us.expect("a clock was given");
                laps.push([t.validate, t.cull, t.schedule, t.merge, t.alias, t.synchronize, all]);
            }
            let median = |of: usize| {
                let mut times: Vec<f64> = laps.iter().map(|lap| lap[of]).collect();
                times.sort_by(f64::total_cmp);
                times[times.len() / 2] / n as f64
            };
            let start = now_us();
            for _ in 0..rounds {
                black_box(black_box(&graph).content_hash());
            }
            let unchanged = (now_us() - start) / rounds as f64 / n as f64;
            println!(
                "{name:8} {n:6} {:9.3} {:7.3} {:9.3} {:7.3} {:7.3} {:12.3} {:7.3} {unchanged:10.4}",
                median(0),
                median(1),
                median(2),
                median(3),
                median(4),
                median(5),
                median(6),
            );
        }
    }
}

fn memory_and_barriers() {
    println!("\none queue, default policy: barrier calls and bytes together");
    for n in [64, 256, 1024, 4096] {
        let graph = families::layered(n);
        let profile = Profile::single_queue();
        let bake = |policy| {
            let options = Options { policy, ..Options::default() };
            bake(&graph, &profile, &options, &mut Scratch::default()).expect("a good graph")
        };
        let plan = bake(Policy::Auto);
        let most_live = most_live::most_live(&graph, &plan);
        let levels = levels(&plan);
        println!(
            "layered-{n}: {} calls, {levels} levels, ratio {:.3}; {} bytes (bound {}), declared order's most live {}, ratio {:.3}",
            plan.report.barriers,
            f64::from(plan.report.barriers) / levels as f64,
            plan.memory.total,
            plan.memory.lower_bound,
            most_live,
            plan.memory.total as f64 / most_live as f64
        );
    }
}

/// Dependency levels: the longest path of live passes, following the latest pass that each waited for is not enough,
/// so levels are found from the accesses again.
fn levels(plan: &Plan) -> usize {
    let mut level = vec![0usize; plan.passes.len()];
    let mut deepest = 0;
    for (id, after) in plan.live().zip(rgraph_levels(plan)) {
        use rgraph_plan::id::Id;
        level[id.index()] = after.iter().map(|&p| level[p] + 1).max().unwrap_or(1);
        deepest = deepest.max(level[id.index()]);
    }
    deepest
}

/// For each live pass the earlier ones that share an image with it, by the layouts that each finds.
fn rgraph_levels(plan: &Plan) -> Vec<Vec<usize>> {
    use rgraph_plan::id::Id;
    use rgraph_plan::plan::Command;
    let mut writer = vec![usize::MAX; plan.resources.len()];
    let mut after = vec![Vec::new(); plan.live().count()];
    for command in &plan.commands {
        let Command::Pass { pass, layouts } = *command else { continue };
        for layout in &plan.layouts[layouts.range()] {
            let known = &mut writer[layout.resource.index()];
            if *known == usize::MAX {
                *known = pass.index();
            } else {
                after[pass.index()].push(*known);
            }
        }
    }
    after
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args().without_plots();
    whole_bakes(&mut criterion);
    criterion.final_summary();
    table();
    memory_and_barriers();
}
