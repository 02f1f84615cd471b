//! Runs the modules of the test programs once for each mutant, until one of them notices it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::build::{Built, Mutant, Program};

/// How a mutant ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Caught,
    TimedOut,
    /// No program comes by it.
    Unreached,
    Missed,
    /// The time was over while a program ran it.
    Cut,
}

impl Outcome {
    /// Whether a test noticed.
    pub fn killed(self) -> bool {
        matches!(self, Outcome::Caught | Outcome::TimedOut)
    }

    /// The mutant and how it ended, in a line.
    pub fn line(self, mutant: &Mutant) -> String {
        let word = match self {
            Outcome::Caught => "CAUGHT",
            Outcome::TimedOut => "TIMEOUT",
            Outcome::Unreached => "UNREACHED",
            Outcome::Missed => "MISSED",
            Outcome::Cut => "CUT",
        };
        format!("{word} {} {}:{}: {}: {}", mutant.id, mutant.file, mutant.line, mutant.function, mutant.what)
    }
}

/// The file of the home with the times of the modules.
pub const BASELINE: &str = "baseline.json";

/// How many mutants run, for how long.
pub struct Limits<'a> {
    pub jobs: usize,
    pub until: Instant,
    /// One mutant in so many.
    pub one_in: usize,
    /// Of their order.
    pub seed: u64,
    /// What path, line or function of each have in them.
    pub only: &'a str,
}

/// A program that passes without a mutant: how long it takes, and which mutants it comes by.
#[derive(Serialize, Deserialize)]
struct Known {
    program: Program,
    takes: Duration,
    reaches: BTreeSet<u32>,
}

/// The programs as they are with some variables of the environment.
#[derive(Serialize, Deserialize)]
struct Baseline {
    variables: BTreeMap<String, String>,
    known: Vec<Known>,
}

/// Try mutants until all are done or the time is over; those that were tried, and how each ended.
pub fn run(built: &Built, home: &Path, limits: &Limits) -> Vec<(Mutant, Outcome)> {
    let known = kept(built, home, limits.jobs);
    let wanted = |each: &&Mutant| format!("{}:{}: {}", each.file, each.line, each.function).contains(limits.only);
    let all = spread(&built.mutants, limits.seed).into_iter().filter(wanted);
    let chosen: Vec<&Mutant> = all.step_by(limits.one_in).collect();
    let file = File::create(home.join("outcomes.txt")).expect("the home can be written");
    let (next, ended) = (AtomicUsize::new(0), Mutex::new((Vec::new(), file)));
    thread::scope(|scope| {
        for _ in 0..limits.jobs {
            scope.spawn(|| {
                while let Some(mutant) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(outcome) = tried(mutant, &known, home, limits.until) else { break };
                    let (list, file) = &mut *ended.lock().expect("no thread panicked");
                    writeln!(file, "{}", outcome.line(mutant)).expect("the home can be written");
                    list.push(((*mutant).clone(), outcome));
                }
            });
        }
    });
    let (mut ended, _) = ended.into_inner().expect("no thread panicked");
    ended.sort_by_key(|(mutant, _)| mutant.id);
    ended
}

/// The mutants in an order in which each part of them is a sample of the whole, another one for each seed.
fn spread(mutants: &[Mutant], seed: u64) -> Vec<&Mutant> {
    // The mixing function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    let mixed = |id: u32| {
        let key = (seed << 32 | u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        key ^ key >> 31
    };
    let mut all: Vec<&Mutant> = mutants.iter().collect();
    all.sort_by_key(|mutant| mixed(mutant.id));
    all
}

/// What an earlier run with the same variables knows of the programs, else what they show now.
fn kept(built: &Built, home: &Path, jobs: usize) -> Vec<Known> {
    let variables = std::env::vars().filter(|(name, _)| name.starts_with("RGRAPH_")).collect();
    let path = home.join(BASELINE);
    let earlier = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<Baseline>(&text).ok());
    if let Some(earlier) = earlier.filter(|earlier| earlier.variables == variables) {
        return earlier.known;
    }
    let now = Baseline { variables, known: baseline(built, home, jobs) };
    fs::write(path, serde_json::to_string(&now).expect("it is plain data")).expect("the home can be written");
    now.known
}

/// Run each program without a mutant. One that fails cannot test mutants.
fn baseline(built: &Built, home: &Path, jobs: usize) -> Vec<Known> {
    let (next, known) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..jobs.min(built.programs.len()) {
            scope.spawn(|| {
                while let Some(program) = built.programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let log = home.join(format!("{}.reached", program.name));
                    let _ = fs::remove_file(&log);
                    let reach = command(program, home, u32::MAX).env("RGRAPH_MUTANTS_REACHED", &log).status();
                    let start = Instant::now();
                    let plain = command(program, home, 0).status();
                    let takes = start.elapsed();
                    if !reach.is_ok_and(|status| status.success()) || !plain.is_ok_and(|status| status.success()) {
                        println!("{} fails without a mutant: left out", program.name);
                        continue;
                    }
                    let text = fs::read_to_string(&log).unwrap_or_default();
                    let _ = fs::remove_file(&log);
                    let reaches = text.lines().filter_map(|line| line.parse().ok()).collect();
                    let each = Known { program: program.clone(), takes, reaches };
                    known.lock().expect("no thread panicked").push(each);
                }
            });
        }
    });
    let mut known = known.into_inner().expect("no thread panicked");
    known.sort_by_key(|each| each.takes);
    for each in &known {
        println!("{:>8.2} s  {:>5} reached  {}", each.takes.as_secs_f64(), each.reaches.len(), each.program.name);
    }
    known
}

fn command(program: &Program, home: &Path, mutant: u32) -> Command {
    let mut command = Command::new(home.join(&program.path));
    let folder = home.join(&program.folder);
    command.arg("--exact").args(&program.tests).current_dir(&folder).env("CARGO_MANIFEST_DIR", &folder);
    command.env("RGRAPH_MUTANT", mutant.to_string()).env("RUST_TEST_THREADS", "1").env("RUST_BACKTRACE", "0");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// How a mutant ends; nothing if the time is over before a program runs it.
fn tried(mutant: &Mutant, known: &[Known], home: &Path, until: Instant) -> Option<Outcome> {
    let mut reached = false;
    for each in known.iter().filter(|each| each.reaches.contains(&mutant.id)) {
        reached = true;
        if Instant::now() > until {
            return None;
        }
        let most = each.takes * 4 + Duration::from_secs(5);
        match watched(command(&each.program, home, mutant.id), most, until) {
            Ended::Passed => {}
            Ended::Over => return Some(Outcome::Cut),
            Ended::Failed => return Some(Outcome::Caught),
            Ended::TooLong => return Some(Outcome::TimedOut),
        }
    }
    Some(if reached { Outcome::Missed } else { Outcome::Unreached })
}

enum Ended {
    Passed,
    Failed,
    TooLong,
    /// The time of the whole run is over.
    Over,
}

/// Run a program until it ends, a test of it fails, or its time is over.
fn watched(mut command: Command, most: Duration, until: Instant) -> Ended {
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else { return Ended::Failed };
    let output = child.stdout.take().expect("it is piped");
    let failed = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = failed.clone();
    let reader = thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if line.ends_with("FAILED") {
                told.store(true, Ordering::Relaxed);
            }
        }
    });
    let start = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break if status.success() { Ended::Passed } else { Ended::Failed },
            Ok(None) if failed.load(Ordering::Relaxed) => break Ended::Failed,
            Ok(None) if start.elapsed() > most => break Ended::TooLong,
            Ok(None) if Instant::now() > until => break Ended::Over,
            Ok(None) => thread::sleep(Duration::from_millis(10)),
            Err(_) => break Ended::Failed,
        }
    };
    end(&mut child);
    let _ = reader.join();
    ended
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
