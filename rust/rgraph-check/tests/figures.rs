//! What plans cost and what finding them costs, counted: calls, barriers, bytes, batches, modelled times and steps of
//! the searches, summed over generated graphs and over frames as real ones are shaped. The sums are kept in
//! `tests/figures.txt`; any change, for better or worse, shows there. Set `UPDATE_GOLDEN=1` to rewrite the file, and
//! look at what changed: a figure that is larger needs a reason. The last column is a hash of the plans' files: where
//! it alone changes, plans became others that cost as much.

use std::fmt::Write as _;
use std::path::Path;

use rgraph_check::generate::{Limits, generate};
use rgraph_check::random::Random;
use rgraph_files::{plan_hash, read_graph};
use rgraph_plan::bake::dump::DumpStage;
use rgraph_plan::bake::{Asked, Measured, Options, Scratch, bake, bake_measured};
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Command, PlanKind, Scope};
use rgraph_plan::prelude::{Graph, MemoryBudget, PassQueue, Plan, Policy, Profile, Split, Without};
use rgraph_plan::resource::ResourceId;
use xxhash_rust::xxh3::xxh3_128;

use crate::families;
use crate::kept::assert_kept;
use crate::small::small;
use crate::support::corner;

/// Generated graphs of a row, from this seed on, apart from those of the other tests.
const SEEDS: std::ops::Range<u64> = 7_000_000..7_000_300;

const COLUMNS: [&str; 18] = [
    "refused",
    "passes",
    "renders",
    "batches",
    "waits",
    "calls",
    "events",
    "barriers",
    "bits",
    "notes",
    "bytes",
    "least",
    "aliases",
    "frame us",
    "one queue us",
    "placing",
    "orders",
    "gathered",
];

/// The sums of a row, and a hash of its plans.
#[derive(Default)]
struct Figures([f64; COLUMNS.len()], u128);

impl Figures {
    fn refuse(&mut self, error: &str) {
        self.0[0] += 1.0;
        self.1 = self.1.rotate_left(1) ^ xxh3_128(error.as_bytes());
    }

    fn add(&mut self, plan: &Plan, scratch: &Scratch) {
        self.1 = self.1.rotate_left(1) ^ plan_hash(plan);
        let scopes = plan.memory_barriers.iter().map(|one| one.scope);
        let scopes = scopes.chain(plan.buffer_barriers.iter().map(|one| one.scope));
        let scopes: Vec<Scope> = scopes.chain(plan.image_barriers.iter().map(|one| one.scope)).collect();
        let bits = |scope: &Scope| {
            let stages = [scope.src_stages, scope.dst_stages].map(|stages| stages.bits().count_ones());
            let accesses = [scope.src_access, scope.dst_access].map(|access| access.bits().count_ones());
            stages.into_iter().chain(accesses).sum::<u32>()
        };
        let waiting = plan.waits.iter().map(|wait| wait.stages.bits().count_ones());
        let commands = |is: fn(&Command) -> bool| plan.commands.iter().filter(|command| is(command)).count() as f64;
        let figures = [
            0.0,
            plan.live().count() as f64,
            commands(|command| matches!(command, Command::BeginRendering { .. })),
            plan.batches.len() as f64,
            plan.waits.len() as f64,
            f64::from(plan.report.barriers),
            commands(|command| matches!(command, Command::SetEvent(..))),
            scopes.len() as f64,
            f64::from(scopes.iter().map(bits).chain(waiting).sum::<u32>()),
            (plan.report.notes.len() + plan.unmerged.len()) as f64,
            plan.memory.total as f64,
            plan.memory.lower_bound as f64,
            plan.aliases.len() as f64,
            plan.report.frame_us,
            plan.report.one_queue_us.unwrap_or(0.0),
            scratch.placing_steps() as f64,
            f64::from(scratch.orders_made()),
            scratch.subresources_gathered() as f64,
        ];
        self.0.iter_mut().zip(figures).for_each(|(sum, one)| *sum += one);
    }

    /// A row of the table. Times are rounded: sums of floating-point numbers are exact on each machine alike, and a
    /// reader needs no more.
    fn row(&self, name: &str) -> String {
        let mut row = format!("{name:<44}");
        for (sum, column) in self.0.iter().zip(COLUMNS) {
            let width = column.len().max(9) + 1;
            let _ =
                if column.ends_with("us") { write!(row, "{sum:>width$.3}") } else { write!(row, "{sum:>width$.0}") };
        }
        let _ = write!(row, "  {:032x}", self.1);
        row
    }
}

/// Of a column, in characters.
fn width(column: &str) -> usize {
    if matches!(column, "bytes" | "least" | "frame us" | "one queue us") { 14 } else { 10 }
}

/// The choices that a row stands for.
fn choices() -> Vec<(String, Options)> {
    let policies = [
        Policy::Auto,
        Policy::Declared,
        Policy::Overlap,
        Policy::Weighted,
        Policy::Exact { nodes: 300 },
        Policy::BoxTree,
        Policy::Random { seed: 5, swaps: u32::MAX },
        Policy::Random { seed: 6, swaps: 4 },
    ];
    let of = |name: &str, effort: u32| (format!("{name}, effort {effort}"), Options { effort, ..Options::default() });
    let mut choices = Vec::new();
    for policy in policies {
        for effort in [0, 1] {
            let (name, options) = of(policy.name(), effort);
            let name = match policy {
                Policy::Random { seed, .. } => format!("{name}, seed {seed}"),
                _ => name,
            };
            choices.push((name, Options { policy, ..options }));
        }
    }
    choices.extend([2, 3].map(|effort| of("auto", effort)));
    let budgets =
        [("least", MemoryBudget::Least), ("fast", MemoryBudget::Fast), ("1 MiB", MemoryBudget::Bytes(1 << 20))];
    for (bytes, memory) in budgets {
        let (name, options) = of(&format!("memory {bytes}"), 2);
        choices.push((name, Options { memory, ..options }));
    }
    for split in [Split::Distance, Split::Always] {
        let (name, options) = of(&format!("split {split:?}").to_lowercase(), 1);
        choices.push((name, Options { split, ..options }));
    }
    for most in [1, 2, 4] {
        let (name, options) = of(&format!("{most} batches"), 1);
        choices.push((name, Options { max_batches: Some(most), ..options }));
    }
    choices
}

/// The choices under which all other graphs are baked.
fn few_choices() -> Vec<(&'static str, Options)> {
    let of = |policy: Policy, effort: u32, memory: MemoryBudget, split: Split| Options {
        policy,
        effort,
        memory,
        split,
        ..Options::default()
    };
    let without = |without: Without| Options { without, ..Options::default() };
    vec![
        ("auto", Options::default()),
        ("auto, effort 0, split distance", of(Policy::Auto, 0, MemoryBudget::Balanced, Split::Distance)),
        ("auto, effort 2, least, split always", of(Policy::Auto, 2, MemoryBudget::Least, Split::Always)),
        ("declared", of(Policy::Declared, 1, MemoryBudget::Balanced, Split::Never)),
        ("overlap, fast, split distance", of(Policy::Overlap, 1, MemoryBudget::Fast, Split::Distance)),
        ("weighted, least", of(Policy::Weighted, 1, MemoryBudget::Least, Split::Never)),
        ("without culling", without(Without { culling: true, ..Without::default() })),
        ("without merging", without(Without { merging: true, ..Without::default() })),
        ("without aliasing", without(Without { aliasing: true, ..Without::default() })),
    ]
}

type Graphs = Vec<(Graph, Profile)>;

fn generated(seeds: std::ops::Range<u64>, limits: Limits) -> Graphs {
    seeds.map(|seed| generate(seed, limits)).collect()
}

fn shaped(size: usize, profile: &Profile) -> Graphs {
    families::FAMILIES.iter().map(|(_, make)| (make(size), profile.clone())).collect()
}

/// Gives each pass a duration, and leaves the queue of some to the planner.
fn weighed(mut graphs: Graphs, always: bool) -> Graphs {
    let mut random = Random::new(3);
    for (graph, _) in &mut graphs {
        for pass in graph.passes().ids() {
            let pass = graph.pass_mut(pass);
            if always || random.chance(1, 2) {
                pass.weight_us = Some(f64::from(*random.pick(&[0_u32, 1, 5, 20, 80, 400])));
            }
            if pass.queue == PassQueue::AsyncCompute && random.chance(2, 3) {
                pass.queue = PassQueue::Any;
            }
        }
    }
    graphs
}

/// The graphs that are accepted of those in the test of small ones, for each device of the corners.
fn small_graphs() -> Graphs {
    let graphs = (0..240).map(|seed| corner::graph(&small(seed)));
    graphs.flat_map(|graph| corner::profiles().into_iter().map(move |profile| (graph.clone(), profile))).collect()
}

/// The graphs whose plans are kept as text, for each device of the corners.
fn kept_graphs() -> Graphs {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/plans");
    let files = std::fs::read_dir(folder).expect("the folder is there").map(|file| file.expect("it is there").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    let read = |path| read_graph(&std::fs::read(path).expect("it can be read"), "kept").expect("it is right");
    let graphs = files.into_iter().map(read);
    graphs.flat_map(|graph| corner::profiles().into_iter().map(move |profile| (graph.clone(), profile))).collect()
}

/// Leaves graphs a part of the bytes that their plans take, in 16ths.
fn tight(mut graphs: Graphs, sixteenths: u64, scratch: &mut Scratch) -> Graphs {
    for (graph, profile) in &mut graphs {
        let plan = bake(graph, profile, &Options::default(), scratch).expect("it is right");
        for heap in plan.memory.heaps.iter() {
            for memory in profile.memory.iter_mut().filter(|memory| memory.name == heap.memory_type) {
                memory.heap_size = Some(heap.size / 16 * sixteenths);
            }
        }
    }
    graphs
}

/// A driver that wants other sizes than the profile says.
fn driver(resource: ResourceId, asked: &Asked) -> Option<Measured> {
    let at = resource.index() as u64;
    let bytes = match asked.kind {
        PlanKind::Buffer { size } => size + 100,
        PlanKind::Image { .. } => 70_000 * (1 + at % 5),
    };
    (at % 4 < 3).then_some(Measured { bytes, align: 3000 })
}

/// The sums of some graphs, each for its device, under one choice.
fn summed(of: &Graphs, options: &Options, measured: bool, scratch: &mut Scratch) -> Figures {
    let mut figures = Figures::default();
    for (graph, profile) in of {
        let baked = match measured {
            true => bake_measured(graph, profile, options, &driver, scratch),
            false => bake(graph, profile, options, scratch),
        };
        match baked {
            Ok(plan) => figures.add(&plan, scratch),
            Err(error) => figures.refuse(&error.to_string()),
        }
    }
    figures
}

#[test]
fn figures_of_plans_are_those_that_are_kept() {
    let mut scratch = Scratch::default();
    let mut table = format!("{:<44}", "");
    COLUMNS.iter().for_each(|column| _ = write!(table, "{column:>width$}", width = width(column)));
    table.push_str("  plans");
    let one = [24, 96].map(|size| shaped(size, &Profile::single_queue())).concat();
    let three = [24, 96].map(|size| shaped(size, &Profile::discrete())).concat();
    let first = || generated(SEEDS.start..SEEDS.start + 60, Limits::default());
    // Heaps of so many 16ths of the bytes of a plan. A refusal searches for the least bytes of all orders, which takes
    // long for many passes.
    let small = Limits { fewest_passes: 3, most_passes: 9, ..Limits::default() };
    let heap = |sixteenths, scratch: &mut Scratch| tight(generated(7_300_000..7_300_040, small), sixteenths, scratch);
    for (what, graphs) in
        [("generated", generated(SEEDS, Limits::default())), ("one queue", one), ("three queues", three)]
    {
        for (name, options) in choices() {
            let figures = summed(&graphs, &options, false, &mut scratch);
            let _ = write!(table, "\n{}", figures.row(&format!("{what}, {name}")));
        }
    }
    let large = Limits { fewest_passes: 60, most_passes: 160, most_flags: 6, ..Limits::default() };
    let sets = [
        ("large", generated(7_100_000..7_100_012, large)),
        ("some timed", weighed(first(), false)),
        ("all timed", weighed([first(), shaped(48, &Profile::discrete())].concat(), true)),
        ("measured", first()),
        ("heap 16", heap(16, &mut scratch)),
        ("heap 13", heap(13, &mut scratch)),
        ("heap 4", heap(4, &mut scratch)),
        ("fallbacks", small_graphs()),
        ("kept", kept_graphs()),
    ];
    for (what, graphs) in sets {
        for (name, options) in few_choices() {
            let figures = summed(&graphs, &options, what == "measured", &mut scratch);
            let _ = write!(table, "\n{}", figures.row(&format!("{what}, {name}")));
        }
    }
    table.push('\n');
    assert_kept("tests/figures.txt", &table);
}

#[test]
fn what_each_stage_makes_is_what_is_kept() {
    let mut scratch = Scratch::default();
    let mut table = format!("{:<28}{:>10}  text", "", "lines");
    let graphs = [("generated", generated(7_200_000..7_200_200, Limits::default())), ("fallbacks", small_graphs())];
    for (what, graphs) in graphs {
        let mut rows = DumpStage::ALL.map(|stage| (stage, 0, 0_u128));
        for (graph, profile) in &graphs {
            if bake(graph, profile, &Options::default(), &mut scratch).is_ok() {
                for (stage, lines, hash) in &mut rows {
                    let text = scratch.dump(graph, *stage);
                    *lines += text.lines().count();
                    *hash = hash.rotate_left(1) ^ xxh3_128(text.as_bytes());
                }
            }
        }
        for (stage, lines, hash) in rows {
            let _ = write!(table, "\n{:<28}{lines:>10}  {hash:032x}", format!("{what}, {}", stage.name()));
        }
    }
    table.push('\n');
    assert_kept("tests/stages.txt", &table);
}
