//! What a bake costs, stage by stage and in all, and how it grows. `cargo bench -p rgraph-plan --bench bake` prints
//! criterion's times for one whole bake (policy `weighted` on three queues, effort 0); the table after it gives
//! microseconds per pass by stage for efforts 0 to 2 on one queue and on three, all in one process so that ratios mean
//! something. `RGRAPH_BENCH_TABLE=layered-256,fan` leaves only those rows.

mod clock;
mod families;
#[path = "../rust/rgraph-plan/tests/common/most_live.rs"]
mod most_live;

use std::hint::black_box;

use clock::thread_us;
use criterion::Criterion;
use families::FAMILIES;
use rgraph_plan::plan::BakeTimes;
use rgraph_plan::prelude::*;

const SIZES: [usize; 6] = [16, 64, 256, 1024, 4096, 65_536];

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

/// Microseconds of this thread that a row may take, and the least number of its bakes.
const ROW_US: f64 = 60_000.0;
const ROUNDS: usize = 3;

fn table() {
    println!("\nmicroseconds of the thread per pass, least of several bakes; policy auto");
    println!(
        "{:8} {:>6} {:>6} {:>6} {:>9} {:>6} {:>9} {:>6} {:>7} {:>12} {:>7} {:>7} {:>10} {:>7} {:>7}",
        "family",
        "passes",
        "queues",
        "effort",
        "validate",
        "cull",
        "schedule",
        "merge",
        "alias",
        "synchronize",
        "all",
        "again",
        "unchanged",
        "bytes",
        "calls"
    );
    let chosen = std::env::var("RGRAPH_BENCH_TABLE").unwrap_or_default();
    let chosen: Vec<&str> = chosen.split(',').filter(|name| !name.is_empty()).collect();
    for (name, family) in FAMILIES {
        for n in SIZES {
            if !chosen.is_empty() && !chosen.iter().any(|&chosen| chosen == name || chosen == format!("{name}-{n}")) {
                continue;
            }
            let graph = family(n);
            for profile in [Profile::single_queue(), Profile::discrete()] {
                for effort in 0..3 {
                    row(name, &graph, &profile, effort);
                }
            }
        }
    }
}

/// One line of the table: times per stage; bytes over the most that live at once, and barrier calls.
fn row(name: &str, graph: &Graph, profile: &Profile, effort: u32) {
    let (mut scratch, mut plan) = (Scratch::default(), Plan::default());
    let timed = Options { effort, clock: Some(thread_us), ..Options::default() };
    let n = graph.passes().len() as f64;
    let mut least = [f64::INFINITY; 8];
    let mut profile = profile.clone();
    let begin = thread_us();
    let mut rounds = 0;
    while rounds < ROUNDS || thread_us() - begin < ROW_US {
        // Another limit than before, too large to matter: orders and offsets of the bakes before are no answer.
        profile.memory[0].heap_size = Some((1 << 50) + rounds as u64);
        let start = thread_us();
        bake_into(graph, &profile, &timed, &mut scratch, &mut plan).expect("a good graph");
        let all = thread_us() - start;
        let t: BakeTimes = plan.report.bake_us.expect("a clock was given");
        let start = thread_us();
        bake_into(graph, &profile, &timed, &mut scratch, &mut plan).expect("a good graph");
        let again = thread_us() - start;
        let laps = [t.validate, t.cull, t.schedule, t.merge, t.alias, t.synchronize, all, again];
        least.iter_mut().zip(laps).for_each(|(least, lap)| *least = least.min(lap));
        rounds += 1;
    }
    let start = thread_us();
    for _ in 0..rounds {
        black_box(black_box(graph).content_hash());
    }
    let unchanged = (thread_us() - start) / rounds as f64 / n;
    let [validate, cull, schedule, merge, alias, synchronize, all, again] = least.map(|us| us / n);
    println!(
        "{name:8} {n:6} {:6} {effort:6} {validate:9.3} {cull:6.3} {schedule:9.3} {merge:6.3} {alias:7.3} {synchronize:12.3} \
         {all:7.3} {again:7.3} {unchanged:10.4} {:7.3} {:7}",
        plan.queues.len(),
        plan.memory.total as f64 / plan.memory.lower_bound as f64,
        plan.report.barriers,
    );
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
