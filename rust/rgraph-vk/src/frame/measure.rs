//! Which GPU times a run measures, and where its timestamps stand.
//!
//! A timestamp waits for the commands before it, so passes that could overlap do not where each has its own. Between
//! two barrier calls of a queue nothing waits for anything: such a group is timed as a whole, with a timestamp where
//! the device drains anyway, and its time is shared out over its passes by their modelled durations.

use rgraph_plan::id::{Id, Span};
use rgraph_plan::plan::{BatchId, Command, PlanPassId};

use crate::compile::compiled_graph::CompiledGraph;
use crate::compile::rendering::{CommandId, Rendering};

/// Which GPU times a run measures. Measuring costs GPU time, so nothing is measured unless it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Measure {
    /// None: no query exists, and no command of one is recorded.
    #[default]
    Off,
    /// One timestamp at the start and the end of each batch: the frame runs as it does unmeasured. The time of a batch
    /// is shared out over its passes.
    Frame,
    /// One timestamp at the start and the end of each batch, and one at each barrier call. Passes between two of them
    /// go on overlapping; their common time is shared out over them.
    Batches,
    /// Two timestamps around each pass. They keep passes from overlapping, so the frame may take several times as long.
    Passes,
}

impl Measure {
    /// All of them, in the order of their cost.
    pub const ALL: [Self; 4] = [Self::Off, Self::Frame, Self::Batches, Self::Passes];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Frame => "frame",
            Self::Batches => "batches",
            Self::Passes => "passes",
        }
    }

    /// Whether batches have a timestamp at their start and their end.
    fn is_of_batches(self) -> bool {
        matches!(self, Self::Frame | Self::Batches)
    }

    /// The one with that word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }
}

/// Passes of one queue between two timestamps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    /// Their batch.
    pub batch: BatchId,
    /// Query of the timestamp before them.
    pub begin: u32,
    /// Query of the timestamp behind them.
    pub end: u32,
    /// The plan's commands among which they are.
    pub commands: Span,
}

impl Timed {
    /// The passes, whether their flags are on or off.
    pub(crate) fn passes<'a>(&self, compiled: &'a CompiledGraph) -> impl Iterator<Item = PlanPassId> + use<'a> {
        compiled.plan.commands[self.commands.range()].iter().filter_map(|command| match command {
            Command::Pass { pass, .. } => Some(*pass),
            _ => None,
        })
    }
}

/// Where the timestamps of a frame stand.
#[derive(Debug)]
pub(crate) struct Stamps {
    /// How many queries there are.
    pub queries: u32,
    /// What is timed.
    pub timed: Vec<Timed>,
    /// Barrier calls that have a timestamp before them, ascending by command, and its query.
    calls: Vec<(CommandId, u32)>,
    measure: Measure,
}

impl Stamps {
    /// Finds the places. O(commands).
    pub(crate) fn new(compiled: &CompiledGraph, measure: Measure) -> Self {
        let mut stamps = Self { queries: 0, timed: Vec::new(), calls: Vec::new(), measure };
        for (id, info) in compiled.batches.iter_ids() {
            let has_clock = info.queue.is_some_and(|queue| compiled.shared.queues[queue].timestamp_bits > 0);
            match measure {
                Measure::Passes if has_clock => stamps.around_passes(compiled, id),
                Measure::Batches if has_clock => stamps.at_calls(compiled, id),
                Measure::Frame if has_clock => stamps.around_batch(compiled, id),
                _ => {}
            }
        }
        // Plans of others may list their batches in another order than their commands.
        stamps.calls.sort_unstable();
        if measure == Measure::Passes {
            stamps.timed.sort_unstable_by_key(|timed| timed.commands.start);
        }
        stamps
    }

    fn query(&mut self) -> u32 {
        self.queries += 1;
        self.queries - 1
    }

    fn around_passes(&mut self, compiled: &CompiledGraph, batch: BatchId) {
        let commands = compiled.plan.batches[batch].commands;
        for at in commands.start..commands.end {
            if let Command::Pass { .. } = compiled.plan.commands[at as usize] {
                let (begin, end) = (self.query(), self.query());
                self.timed.push(Timed { batch, begin, end, commands: Span { start: at, end: at + 1 } });
            }
        }
    }

    fn around_batch(&mut self, compiled: &CompiledGraph, batch: BatchId) {
        let (begin, end) = (self.query(), self.query());
        self.timed.push(Timed { batch, begin, end, commands: compiled.plan.batches[batch].commands });
    }

    fn at_calls(&mut self, compiled: &CompiledGraph, batch: BatchId) {
        let commands = compiled.plan.batches[batch].commands;
        let mut open = Timed { batch, begin: self.query(), end: 0, commands: Span { start: commands.start, end: 0 } };
        let mut rendering: Option<&Rendering> = None;
        let mut passes = 0;
        for at in commands.start..commands.end {
            match &compiled.plan.commands[at as usize] {
                Command::Pass { .. } => passes += 1,
                Command::BeginRendering { .. } => {
                    rendering = compiled
                        .renderings
                        .begun_at(CommandId::new(at as usize))
                        .map(|at| &compiled.renderings.passes[at]);
                }
                Command::EndRendering => rendering = None,
                // Between subpasses a dependency of the render pass stands for the call.
                Command::Barriers(_) | Command::WaitEvents(..) if rendering.is_none() && passes > 0 => {
                    let query = self.query();
                    self.calls.push((CommandId::new(at as usize), query));
                    self.timed.push(Timed { end: query, commands: Span { end: at, ..open.commands }, ..open });
                    open = Timed { begin: query, commands: Span { start: at, end: 0 }, ..open };
                    passes = 0;
                }
                _ => {}
            }
        }
        let end = self.query();
        self.timed.push(Timed { end, commands: Span { end: commands.end, ..open.commands }, ..open });
    }

    /// The query at the first command of a batch.
    pub(crate) fn begin_of(&self, batch: BatchId) -> Option<u32> {
        let at = self.timed.partition_point(|timed| timed.batch.index() < batch.index());
        let first = self.timed.get(at).filter(|timed| timed.batch == batch && self.measure.is_of_batches());
        first.map(|timed| timed.begin)
    }

    /// The query behind the last command of a batch.
    pub(crate) fn end_of(&self, batch: BatchId) -> Option<u32> {
        let end = self.timed.partition_point(|timed| timed.batch.index() <= batch.index());
        let last = self.timed.get(end.checked_sub(1)?);
        last.filter(|timed| timed.batch == batch && self.measure.is_of_batches()).map(|timed| timed.end)
    }

    /// The query before a barrier call.
    pub(crate) fn before(&self, command: CommandId) -> Option<u32> {
        let at = self.calls.binary_search_by_key(&command, |(command, _)| *command).ok()?;
        Some(self.calls[at].1)
    }

    /// The queries around a pass, which is that command.
    pub(crate) fn around(&self, command: CommandId) -> Option<[u32; 2]> {
        if self.measure != Measure::Passes {
            return None;
        }
        let at = self.timed.binary_search_by_key(&command.index(), |timed| timed.commands.start as usize).ok()?;
        Some([self.timed[at].begin, self.timed[at].end])
    }
}
