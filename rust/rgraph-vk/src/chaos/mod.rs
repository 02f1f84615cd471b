//! Chaos runs: one frame many times, each time with something else that the declaration leaves open: another permitted
//! order, other queues, other deferred deletions in memory, stages of the planner left out. All must compute the same,
//! bit for bit. What differs was not declared; the finding names the pass, the resource, and the change that shows it.

mod diagnose;
pub(crate) mod fills;
mod order;
pub(crate) mod poison;
pub(crate) mod poisoner;
pub(crate) mod random;
mod report;
pub(crate) mod spec;
mod trial;

use std::sync::Arc;

use rgraph_plan::bake::{Options, Without};
use rgraph_plan::error::{Code, GraphError, Mistake};
use rgraph_plan::plan::Plan;
use rgraph_plan::prelude::Policy;

use crate::chaos::random::mix;
use crate::device::Device;
use crate::error::Error;
use crate::frame::inputs::Inputs;
use crate::work::Workload;
use poison::Poison;
pub use report::{ChaosFinding, ChaosReport, ChaosRow, Switch};
use trial::{Queues, Subject, Trial, Tried};

/// What a chaos run tries.
#[derive(Clone, Debug)]
pub struct ChaosOptions {
    /// The first seed: equal seeds try the same.
    pub seed: u64,
    /// How many seeds, from 1.
    pub seeds: u64,
    /// Frames of each trial, from 1; `None`: one, or enough to see what frames pass on to each other.
    pub frames: Option<usize>,
    /// How the graph is baked otherwise.
    pub options: Options,
    /// The plan that is run otherwise, in place of one baked with `options`.
    pub plan: Option<Arc<Plan>>,
}

impl Default for ChaosOptions {
    fn default() -> Self {
        Self { seed: 1, seeds: 1, frames: None, options: Options::default(), plan: None }
    }
}

impl Device {
    /// Runs a graph in many permitted ways and compares all that it leaves: roots and imported resources that it
    /// writes, mip 0 of each.
    ///
    /// The reference is the declared order on one queue, nothing culled, merged or aliased. Each trial begins from the
    /// same state: persistent resources and histories are those of a first run, and resources of the device that are
    /// inputs are copied. Functions of passes are called in each trial.
    ///
    /// # Errors
    /// As [`Device::compile`] and [`Compiled::run`](crate::Compiled::run), and for 0 seeds or frames. What the trials
    /// find is no error here.
    pub fn chaos(
        &self,
        workload: &Workload,
        inputs: &Inputs<'_>,
        options: &ChaosOptions,
    ) -> Result<ChaosReport, Error> {
        self.check()?;
        for (what, empty) in [("seeds", options.seeds == 0), ("frames", options.frames == Some(0))] {
            if empty {
                let message = format!("a chaos run of 0 {what} would find nothing in any graph");
                let help = format!("give 1 or more {what}");
                return Err(GraphError::one(Mistake::new(Code::BadNumber, message, help)).into());
            }
        }
        let subject = Subject::new(self, workload, inputs, options)?;
        let mut report = ChaosReport::default();
        let (reference, wanted) = subject.reference(&mut report)?;
        let mut examined = Examined { subject: &subject, reference: &reference, report };
        let again = subject.tried(&reference, None)?;
        examined.compare((Switch::Again, options.seed), &reference, &wanted, again)?;
        for seed in options.seed..options.seed.saturating_add(options.seeds) {
            if !examined.report.findings.is_empty() {
                break;
            }
            for (switch, trial) in trials(&reference, options, seed) {
                // Those that change several things tell nothing new once one of the things was found.
                if switch.is_several() && !examined.report.findings.is_empty() {
                    break;
                }
                let tried = subject.tried(&trial, Some(&reference))?;
                examined.compare((switch, seed), &trial, &wanted, tried)?;
            }
        }
        let mut report = examined.report;
        report.runs = subject.runs.get();
        Ok(report)
    }
}

/// Reverses the priorities of a random order.
const REVERSED: u64 = 1 << 63;

/// The trials of a seed: one thing changed each, then several.
fn trials(reference: &Trial, options: &ChaosOptions, seed: u64) -> Vec<(Switch, Trial)> {
    let bake = reference.options;
    let with = |without: Without| Trial { options: Options { without, ..bake }, ..reference.clone() };
    let random = |seed| Options { policy: Policy::Random { seed, swaps: u32::MAX }, ..bake };
    // The reference's pattern is that of seed 0.
    let poison = Poison { seed: mix(seed) | 1, other: None };
    let whole = Options { clock: None, ..options.options };
    let batches = Some(seed);
    vec![
        (Switch::Poison, Trial { poison, ..reference.clone() }),
        (Switch::Culling, with(Without { culling: false, ..bake.without })),
        (Switch::Order, Trial { options: random(seed), ..reference.clone() }),
        (Switch::Order, Trial { options: random(seed ^ REVERSED), ..reference.clone() }),
        (Switch::Merging, with(Without { merging: false, ..bake.without })),
        (Switch::Queues, Trial { queues: Queues::Three, options: random(seed), batches, ..reference.clone() }),
        (Switch::Aliasing, with(Without { aliasing: false, ..bake.without })),
        (Switch::Plan, Trial { queues: Queues::Own, options: whole, batches, ..reference.clone() }),
        (Switch::PlanOnThree, Trial { queues: Queues::Three, options: whole, batches, ..reference.clone() }),
    ]
}

/// A report under construction.
struct Examined<'a> {
    subject: &'a Subject<'a>,
    reference: &'a Trial,
    report: ChaosReport,
}

impl Examined<'_> {
    /// Compares a trial with what the reference left, and looks for the reason if it differs.
    fn compare(
        &mut self,
        (switch, seed): (Switch, u64),
        trial: &Trial,
        wanted: &trial::Outcome,
        tried: Tried,
    ) -> Result<(), Error> {
        let outcome = match tried {
            Tried::Ran(outcome) => outcome,
            Tried::Cannot(why) => {
                self.report.rows.push(ChaosRow { seed, switch, differs: None, skipped: Some(why) });
                return Ok(());
            }
        };
        let difference = self.subject.difference(wanted, &outcome);
        let differs = difference.as_ref().map(|difference| difference.name.clone());
        self.report.rows.push(ChaosRow { seed, switch, differs, skipped: None });
        let Some(difference) = difference else { return Ok(()) };
        let finding = diagnose::Diagnosis {
            subject: self.subject,
            reference: self.reference,
            trial,
            wanted,
            outcome: &outcome,
            difference,
        }
        .finding(switch, seed)?;
        let same = |known: &ChaosFinding| (&known.pass, &known.resource) == (&finding.pass, &finding.resource);
        if !self.report.findings.iter().any(same) {
            self.report.findings.push(finding);
        }
        Ok(())
    }
}
