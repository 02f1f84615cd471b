//! What plans cost and what finding them costs, counted: calls, barriers, bytes, batches, modelled times and steps of
//! the searches, summed over generated graphs and over frames as real ones are shaped. The sums are kept in
//! `tests/figures.txt`; any change, for better or worse, shows there. Set `UPDATE_GOLDEN=1` to rewrite the file, and
//! look at what changed: a figure that is larger needs a reason. The last column is a hash of the plans' files: where
//! it alone changes, plans became others that cost as much.

use std::fmt::Write as _;
use std::path::Path;

use rgraph_check::generate::{Limits, generate};
use rgraph_files::plan_hash;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::plan::{Command, Scope};
use rgraph_plan::prelude::{Graph, MemoryBudget, Plan, Policy, Profile, Split};

use crate::families;

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

/// The sums of some graphs, each for its device, under one choice.
fn summed<'a>(of: impl Iterator<Item = &'a (Graph, Profile)>, options: &Options, scratch: &mut Scratch) -> Figures {
    let mut figures = Figures::default();
    for (graph, profile) in of {
        match bake(graph, profile, options, scratch) {
            Ok(plan) => figures.add(&plan, scratch),
            Err(_) => figures.0[0] += 1.0,
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
    let generated: Vec<_> = SEEDS.map(|seed| generate(seed, Limits::default())).collect();
    let shaped = |size: usize, profile: &Profile| {
        families::FAMILIES.iter().map(|(_, make)| (make(size), profile.clone())).collect::<Vec<_>>()
    };
    let one = [24, 96].map(|size| shaped(size, &Profile::single_queue())).concat();
    let three = [24, 96].map(|size| shaped(size, &Profile::discrete())).concat();
    for (what, graphs) in [("generated", &generated), ("one queue", &one), ("three queues", &three)] {
        for (name, options) in choices() {
            let figures = summed(graphs.iter(), &options, &mut scratch);
            let _ = write!(table, "\n{}", figures.row(&format!("{what}, {name}")));
        }
    }
    table.push('\n');
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/figures.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &table).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<String> = table
        .lines()
        .filter(|line| !kept.lines().any(|other| other == *line))
        .map(|line| {
            let name = &line[..44];
            let before = kept.lines().find(|other| other.starts_with(name)).unwrap_or("none");
            format!("- {before}\n+ {line}")
        })
        .collect();
    assert!(
        changed.is_empty() && kept.lines().count() == table.lines().count(),
        "look at these figures, and set UPDATE_GOLDEN=1 if they are right:\n  {}\n{}",
        table.lines().next().unwrap_or_default(),
        changed.join("\n")
    );
}
