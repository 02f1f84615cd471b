//! Mutants of plan files of graphs that run: keys removed, numbers changed, elements exchanged, bytes flipped. Each is
//! refused in words, or computes what its graph says; nothing else may happen.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use rgraph_check::generate::Limits;
use rgraph_check::random::Random;
use rgraph_files::{read_plan, write_plan};
use rgraph_plan::bake::{Scratch, bake};
use rgraph_plan::plan::Plan;
use rgraph_plan::profile::Profile;
use rgraph_vk::{Device, DeviceOptions, Error};
use serde_json::{Number, Value};

use super::case::Case;
use super::shader::Library;
use super::{Report, compare, limits, work};

/// Ends of mutants, and those that must not be.
#[derive(Default, Debug)]
pub struct Tally {
    pub ends: BTreeMap<&'static str, u64>,
    pub failures: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (end, count) in &self.ends {
            writeln!(f, "{count:>8} {end}")?;
        }
        write!(f, "{:>8} failures", self.failures.len())?;
        self.failures.iter().take(20).try_for_each(|failure| write!(f, "\n{failure}"))
    }
}

/// A graph and the text of its plan.
struct Subject {
    case: Case,
    text: String,
    plan: Plan,
    value: Value,
    /// Every scalar of the file, for exchanges.
    scalars: Vec<Value>,
}

/// Graphs that are mutated.
const SUBJECTS: u64 = 24;

/// Tries `count` mutants from `seed` on. The seed of each is written to the file `at` before it runs, in case the
/// process ends.
///
/// # Errors
/// If there is no device.
pub fn run(seed: u64, count: u64, at: &Path) -> Result<Tally, Error> {
    let open = || Device::new(&DeviceOptions::default());
    let mut device = open()?;
    let library = Library::default();
    let subjects: Vec<_> = (0..SUBJECTS).map(|of| Subject::new(of, &device)).collect();
    let mut tally = Tally::default();
    for seed in seed..seed + count {
        let mut random = Random::new(seed);
        let subject = random.pick(&subjects);
        let text = subject.mutant(&mut random);
        std::fs::write(at, format!("{seed}\n")).expect("the folder of the tests can be written");
        let end = catch_unwind(AssertUnwindSafe(|| subject.end(&device, &library, &text, seed)));
        let end = end.unwrap_or_else(|_| {
            // What a panic left of the device is not to be trusted.
            device = open().expect("a device that could be opened before");
            Err("panic".to_owned())
        });
        match end {
            Ok(end) => *tally.ends.entry(end).or_default() += 1,
            Err(what) => {
                let failure = format!("mutant {seed} of graph {}: {what}", subject.case.seed);
                eprintln!("{failure}");
                tally.failures.push(failure);
            }
        }
    }
    Ok(tally)
}

impl Subject {
    fn new(seed: u64, device: &Device) -> Self {
        let case = Case::new(seed, Limits { most_passes: 12, ..limits(false) }, 2, false);
        let profile = if seed.is_multiple_of(2) { device.profile().clone() } else { Profile::discrete() };
        let plan = bake(&case.adapted.graph, &profile, &case.options, &mut Scratch::default());
        let plan = plan.expect("generated graphs are right");
        let text = write_plan(&plan);
        let value: Value = serde_json::from_str(&text).expect("a plan file is JSON");
        let mut scalars = Vec::new();
        gather(&value, &mut scalars);
        Self { case, text, plan, value, scalars }
    }

    /// The text of a mutant.
    fn mutant(&self, random: &mut Random) -> Vec<u8> {
        if random.chance(1, 10) {
            let mut text = self.text.clone().into_bytes();
            for _ in 0..=random.below(3) {
                flip(&mut text, random);
            }
            return text;
        }
        let mut value = self.value.clone();
        for _ in 0..=random.below(3) {
            self.change(&mut value, random);
        }
        value.to_string().into_bytes()
    }

    /// Changes one place of the file.
    fn change(&self, value: &mut Value, random: &mut Random) {
        // Deeper and deeper, until chance says stop or there is nothing below.
        let mut here = value;
        loop {
            let below = match &*here {
                Value::Array(list) => list.len(),
                Value::Object(map) => map.len(),
                _ => 0,
            };
            if below == 0 {
                return self.change_scalar(here, random);
            }
            if random.chance(1, 8) {
                return change_list(here, random);
            }
            let at = random.below(below as u64) as usize;
            here = match here {
                Value::Array(list) => &mut list[at],
                Value::Object(map) => map.values_mut().nth(at).expect("a position in the map"),
                _ => return,
            };
        }
    }

    fn change_scalar(&self, value: &mut Value, random: &mut Random) {
        let number = value.as_u64().unwrap_or(0);
        // Mostly what the file has elsewhere of the same type, which a reader does not refuse at sight.
        if random.chance(3, 4) {
            let alike = |other: &&Value| std::mem::discriminant(*other) == std::mem::discriminant(value);
            let alike: Vec<_> = self.scalars.iter().filter(alike).collect();
            if !alike.is_empty() {
                *value = (*random.pick(&alike)).clone();
            }
            return;
        }
        *value = match random.below(10) {
            0 => Value::from(number.wrapping_add(1)),
            1 => Value::from(number.wrapping_sub(1)),
            2 => Value::from(random.below(8)),
            3 => Value::from(u64::from(u32::MAX) - random.below(2)),
            4 => Value::from(random.bits() >> random.below(64)),
            5 => Number::from_f64(-1.5).map_or(Value::Null, Value::Number),
            6 => Value::Null,
            7 => Value::Bool(*value != Value::Bool(true)),
            _ => random.pick(&self.scalars).clone(),
        };
    }

    /// The end of a mutant: refused by whom, or run.
    fn end(&self, device: &Device, library: &Library, text: &[u8], seed: u64) -> Result<&'static str, String> {
        let Ok(plan) = read_plan(text, "mutant") else { return Ok("refused by the reader") };
        let graph = &self.case.adapted.graph;
        let mut written = write_plan(&plan).len() + rgraph_report::listing(&plan).len();
        if seed.is_multiple_of(8) {
            written += rgraph_report::dot(graph, &plan).len() + rgraph_report::svg(&plan, Some(graph)).len();
            written +=
                rgraph_report::trace(&plan, None).len() + rgraph_report::diff(&self.plan, &plan).to_string().len();
            _ = rgraph_check::interpret::interpret_plan(graph, &plan, 1);
        }
        assert!(written > 0, "reports say something");
        let same = plan == self.plan;
        // Functions of host passes count their calls: each mutant has its own.
        match device.compile_plan(Arc::new(plan), work::workload(&self.case, library)) {
            Err(Error::Plan(_)) if same => Err("its own plan is refused".to_owned()),
            Err(Error::Plan(_)) => Ok("refused by the checker"),
            Err(Error::Graph(_) | Error::Device(_)) => Ok("refused by the device"),
            Err(other) => Err(format!("{other}")),
            Ok(compiled) => compare(device, &self.case, &compiled, &mut Report::default())
                .map(|()| if same { "the plan itself, runs right" } else { "runs right" }),
        }
    }
}

fn gather(value: &Value, scalars: &mut Vec<Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|one| gather(one, scalars)),
        Value::Object(map) => map.values().for_each(|one| gather(one, scalars)),
        scalar => scalars.push(scalar.clone()),
    }
}

/// Removes, doubles, exchanges, empties or reverses the contents of a list or object.
fn change_list(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(list) => {
            let (a, b) = (random.below(list.len() as u64) as usize, random.below(list.len() as u64) as usize);
            match random.below(6) {
                0 | 1 => drop(list.remove(a)),
                2 => list.insert(b, list[a].clone()),
                3 | 4 => list.swap(a, b),
                _ => list.clear(),
            }
        }
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = random.pick(&keys);
            match random.below(4) {
                0 => drop(map.insert("stray".to_owned(), Value::Null)),
                1 => {
                    let other = map[random.pick(&keys)].clone();
                    drop(map.insert(key.clone(), other));
                }
                _ => drop(map.remove(key)),
            }
        }
        _ => {}
    }
}

fn flip(text: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(text.len() as u64) as usize;
    match random.below(4) {
        0 => text[at] ^= 1 << random.below(8),
        1 => drop(text.remove(at)),
        2 => text.insert(at, b'0' + random.below(10) as u8),
        _ => text[at] = b'0' + random.below(10) as u8,
    }
}
