//! Measures a bake of a graph that differs a little from the graph baked before, compared with a bake that knows
//! neither either. `cargo bench -p rgraph-plan --bench rebake` prints microseconds of both and their ratio, medians
//! over edits that neither scratch has seen, all in one process. `RGRAPH_BENCH_TABLE=layered-256,fan` leaves only those
//! rows.

mod clock;
mod edits;
mod families;

use clock::thread_us;
use edits::{EDITS, VARIANTS, deferred};
use families::{FAMILIES, Family};
use rgraph_plan::plan::BakeTimes;
use rgraph_plan::prelude::*;

const SIZES: [usize; 3] = [256, 1024, 4096];
const ROUNDS: usize = 3;

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A scratch, a plan, and what bakes with them cost.
#[derive(Default)]
struct Baker {
    scratch: Scratch,
    plan: Plan,
    us: Vec<f64>,
    stages: [Vec<f64>; 6],
}

impl Baker {
    fn bake(&mut self, graph: &Graph, profile: &Profile) -> f64 {
        let options = Options { clock: Some(thread_us), ..Options::default() };
        let start = thread_us();
        bake_into(graph, profile, &options, &mut self.scratch, &mut self.plan).expect("a good graph");
        thread_us() - start
    }

    fn note(&mut self, us: f64) {
        self.us.push(us);
        let t: BakeTimes = self.plan.report.bake_us.expect("a clock was given");
        let laps = [t.validate, t.cull, t.schedule, t.merge, t.alias, t.synchronize];
        self.stages.iter_mut().zip(laps).for_each(|(stage, us)| stage.push(us));
    }
}

/// One line of the table: a graph that changes, for one profile.
fn row(name: &str, edit: &str, [before, after]: [&[Graph]; 2], profile: &Profile) {
    let tiny = families::chain(2);
    let (mut again, mut anew) = (Baker::default(), Baker::default());
    let mut other = profile.clone();
    for round in 0..ROUNDS {
        for (at, after) in after.iter().enumerate() {
            again.bake(&before[at % before.len()], profile);
            let us = again.bake(after, profile);
            // Another limit than ever before, too large to matter, behind another graph: nothing is known of it.
            other.memory[0].heap_size = Some((1 << 50) + (round * VARIANTS + at) as u64);
            anew.bake(&tiny, profile);
            let whole = anew.bake(after, &other);
            if round > 0 {
                again.note(us);
                anew.note(whole);
            }
        }
    }
    let passes = after[0].passes().len() as f64;
    let [us, whole] = [&mut again, &mut anew].map(|baker| median(&mut baker.us) / passes);
    let stages = again.stages.each_mut().map(|stage| median(stage) / passes);
    let stages: Vec<String> = stages.iter().map(|us| format!("{us:6.3}")).collect();
    println!(
        "{name:8} {passes:6} {:6} {edit:8} {us:7.3} {whole:7.3} {:6.2}   {}",
        again.plan.queues.len(),
        us / whole,
        stages.join(" ")
    );
}

fn main() {
    println!("microseconds of the thread per pass, medians, default options; stages are those of the bake again");
    println!(
        "{:8} {:>6} {:>6} {:8} {:>7} {:>7} {:>6}   validate cull schedule merge alias synchronize",
        "family", "passes", "queues", "edit", "again", "anew", "ratio"
    );
    let chosen = std::env::var("RGRAPH_BENCH_TABLE").unwrap_or_default();
    let chosen: Vec<&str> = chosen.split(',').filter(|name| !name.is_empty()).collect();
    let families: [Family; 4] = [FAMILIES[0], FAMILIES[1], FAMILIES[2], ("deferred", deferred)];
    for (name, family) in families {
        for n in SIZES {
            if !chosen.is_empty() && !chosen.iter().any(|&chosen| chosen == name || chosen == format!("{name}-{n}")) {
                continue;
            }
            let graph = family(n);
            for (edit, variants) in EDITS {
                let [before, after] = variants(&graph);
                for profile in [Profile::single_queue(), Profile::discrete()] {
                    row(name, edit, [&before, &after], &profile);
                }
            }
        }
    }
}
