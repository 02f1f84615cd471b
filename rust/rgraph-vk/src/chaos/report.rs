//! What a chaos run found, in words.

use std::fmt;

use rgraph_plan::error::{GraphError, Mistake};
use rgraph_plan::resource::ResourceId;

/// What a trial changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Switch {
    /// Nothing: the reference once more.
    Again,
    /// The deferred deletions where nothing was written.
    Poison,
    /// Passes that no root needs do not run.
    Culling,
    /// The order of passes.
    Order,
    /// Passes share render passes.
    Merging,
    /// Three queues, and the order of their batches.
    Queues,
    /// Transients share memory.
    Aliasing,
    /// The plan of an ordinary run, its batches in another order.
    Plan,
    /// A plan of all stages for three queues, its batches in another order.
    PlanOnThree,
}

impl Switch {
    pub fn name(self) -> &'static str {
        match self {
            Self::Again => "again",
            Self::Poison => "poison",
            Self::Culling => "culling",
            Self::Order => "order",
            Self::Merging => "merging",
            Self::Queues => "queues",
            Self::Aliasing => "aliasing",
            Self::Plan => "plan",
            Self::PlanOnThree => "plan on three queues",
        }
    }

    /// What is then different from the reference.
    pub fn means(self) -> &'static str {
        match self {
            Self::Again => "when the same is run again",
            Self::Poison => "when memory that nothing wrote holds other garbage",
            Self::Culling => "when passes that no root needs do not run",
            Self::Order => "in another permitted order of passes",
            Self::Merging => "when raster passes share render passes",
            Self::Queues => "when passes run on three queues",
            Self::Aliasing => "when transients share memory",
            Self::Plan => "in the plan that is run otherwise",
            Self::PlanOnThree => "in a plan for three queues",
        }
    }

    /// Whether it changes several things at once.
    pub(crate) fn is_several(self) -> bool {
        matches!(self, Self::Queues | Self::Aliasing | Self::Plan | Self::PlanOnThree)
    }
}

/// Something that a result depends on and nothing declares.
#[derive(Clone, PartialEq, Debug)]
pub struct ChaosFinding {
    /// The change that shows it.
    pub switch: Switch,
    /// The seed of the trial.
    pub seed: u64,
    /// The pass that computes something else.
    pub pass: Option<String>,
    /// The pass that it depends on without saying so, where there is one.
    pub other: Option<String>,
    /// The resource through which it shows.
    pub resource: Option<String>,
    /// All of it in words, with places and a repair.
    pub mistake: Mistake,
}

/// A trial.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ChaosRow {
    pub seed: u64,
    /// What it changed.
    pub switch: Switch,
    /// The first resource that came out otherwise.
    pub differs: Option<String>,
    /// Why it could not run on this device.
    pub skipped: Option<String>,
}

/// What a chaos run tried and found.
#[derive(Clone, PartialEq, Default, Debug)]
#[non_exhaustive]
pub struct ChaosReport {
    /// The trials in their order; they end with the first seed that finds something.
    pub rows: Vec<ChaosRow>,
    /// What the graph does not declare.
    pub findings: Vec<ChaosFinding>,
    /// Frames that ran in all.
    pub runs: u64,
    /// What could not be tried.
    pub notes: Vec<String>,
}

impl ChaosReport {
    /// The findings as an error.
    ///
    /// # Errors
    /// If there are findings.
    pub fn check(&self) -> Result<(), GraphError> {
        GraphError::check(self.findings.iter().map(|finding| finding.mistake.clone()).collect())
    }
}

impl fmt::Display for ChaosReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equal = self.rows.iter().filter(|row| row.differs.is_none() && row.skipped.is_none()).count();
        write!(f, "{} frames, {equal} of {} trials equal to the reference", self.runs, self.rows.len())?;
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        for finding in &self.findings {
            write!(f, "\n{}", finding.mistake)?;
        }
        Ok(())
    }
}

/// A resource that two trials leave differently.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// In the graph.
    pub resource: ResourceId,
    pub name: String,
    pub frame: usize,
    /// Bytes that differ, and bytes in all.
    pub bytes: usize,
    pub of: usize,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes differ in frame {}", self.bytes, self.of, self.frame)
    }
}
