//! All mutants of the planner's stages in one build (mutant schemata: Untch, Offutt and Harrold, "Mutation Analysis
//! Using Mutant Schemata", ISSTA 1993): cargo-mutants' operators, without a build for each.
//!
//! ```text
//! rgraph-mutants build [--root .] [--home target/mutants]
//! rgraph-mutants run [--home target/mutants] [--jobs N] [--seconds S] [--one-in N] [--seed N] [--only TEXT]
//! rgraph-mutants all    # both
//! ```
//!
//! `build` copies the workspace, puts every mutant of `rust/rgraph-plan/src/stages` behind a question to the
//! environment, and builds the tests of planner and checker. `run` runs them for each mutant that they reach, module by
//! module, the shortest first, until one fails. What the tests read (`RGRAPH_GRAPHS` and so on) they read here too.
//! `--seed` takes another order of them, thus another sample; `--only` tries those with a text in path, line or
//! function, as `merge.rs:120:`.
//!
//! `run` needs of the home `mutants.json`, `programs` and `tree` alone, at the path where they were built, since tests
//! have the paths of their files compiled in. It keeps there how long each module takes without a mutant
//! (`baseline.json`, for the next run with the same variables) and how each mutant ended (`outcomes.txt`, written as
//! they end).

mod build;
mod find;
mod results;
mod run;
mod write;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use build::Built;
use run::{Limits, Outcome};

const STAGES: &str = "rust/rgraph-plan/src/stages";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.iter().position(|each| each == name).and_then(|at| arguments.get(at + 1));
    let number = |name: &str, other: usize| option(name).map_or(other, |text| text.parse().expect("a number"));
    let root = fs::canonicalize(option("--root").map_or(".", String::as_str)).expect("the root is there");
    let home = option("--home").map_or(root.join("target/mutants"), PathBuf::from);
    fs::create_dir_all(&home).expect("the home can be made");
    let home = fs::canonicalize(home).expect("the home is there");
    let list = home.join("mutants.json");
    match arguments.first().map(String::as_str) {
        Some(verb @ ("build" | "run" | "all")) => {
            if verb != "run" {
                // A build that ends early leaves no list that its programs do not fit.
                let _ = fs::remove_file(&list);
                let _ = fs::remove_file(home.join(run::BASELINE));
                let built = build::build(&root, &home, STAGES);
                let text = serde_json::to_string(&built).expect("it is plain data");
                fs::write(&list, text).expect("the list can be written");
                println!("{} mutants, {} more that do not compile", built.mutants.len(), built.unviable);
            }
            if verb == "build" {
                return ExitCode::SUCCESS;
            }
            let text = fs::read_to_string(&list).expect("run `build` first");
            let built: Built = serde_json::from_str(&text).expect("the list is as `build` wrote it");
            let jobs = number("--jobs", std::thread::available_parallelism().map_or(1, usize::from));
            let until = Instant::now() + Duration::from_secs(number("--seconds", usize::MAX >> 16) as u64);
            let only = option("--only").map_or("", String::as_str);
            let (one_in, seed) = (number("--one-in", 1).max(1), number("--seed", 0) as u64);
            report(&built, &home, &Limits { jobs, until, one_in, seed, only })
        }
        _ => {
            eprintln!(
                "rgraph-mutants build | run | all, with --root, --home, --jobs, --seconds, --one-in, --seed, --only"
            );
            ExitCode::from(2)
        }
    }
}

/// Run the mutants, and print those that no test noticed, the sum of each file, and that of all in the words of
/// cargo-mutants.
fn report(built: &Built, home: &Path, limits: &Limits) -> ExitCode {
    let start = Instant::now();
    let ended = run::run(built, home, limits);
    let (cut, ended): (Vec<_>, Vec<_>) = ended.into_iter().partition(|(_, outcome)| *outcome == Outcome::Cut);
    let mut files = BTreeMap::<&str, (usize, usize)>::new();
    for (mutant, outcome) in &ended {
        let (killed, tried) = files.entry(&mutant.file).or_default();
        *killed += usize::from(outcome.killed());
        *tried += 1;
        if !outcome.killed() {
            println!("{}", outcome.line(mutant));
        }
    }
    for (file, (killed, tried)) in files {
        println!("{killed:>5} of {tried:>5} killed  {file}");
    }
    let count = |outcome| ended.iter().filter(|(_, each)| *each == outcome).count();
    let missed = count(Outcome::Missed) + count(Outcome::Unreached);
    let (caught, timeouts) = (count(Outcome::Caught), count(Outcome::TimedOut));
    let (unreached, unviable, cut) = (count(Outcome::Unreached), built.unviable, cut.len());
    let (tried, all) = (ended.len(), built.mutants.len());
    println!(
        "{tried} mutants tested in {} s: {missed} missed ({unreached} unreached), {caught} caught, {timeouts} timeouts, \
         {unviable} unviable; {cut} cut short, {} of {all} not tried",
        start.elapsed().as_secs(),
        all - tried - cut,
    );
    ExitCode::from(u8::from(missed > 0))
}
