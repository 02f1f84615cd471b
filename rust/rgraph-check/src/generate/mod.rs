//! Well-formed graphs and devices out of bytes, aimed at the edges: every usage and queue, sub-ranges, histories,
//! conditions, forward reads, modifies, unordered accesses, mips, resolves, merged passes, modules.
//!
//! One generator for all: the fuzzer mutates the bytes, hypothesis shrinks them, a seed stands for random ones. The
//! first [`CHUNK`] bytes are the device and the graph as a whole, each further chunk is one step: one to four passes of
//! one idea. Missing bytes count as zeros, and zero is the simplest choice. Decisions that came into the generator
//! later are read from the end of a step's bytes, so that cases from before keep their graphs.
//!
//! Graphs are well-formed by construction: for every subresource of every resource the generator knows under which flag
//! it holds something, and a pass that comes late in the declaration but early in the order (a *debt*) uses nothing
//! that depends on the passes that wait for it.
//!
//! [`Construct`] names features that a caller can exclude; [`UNSETTLED`] are the constructs on which planner, checker
//! and interpreter disagree (none now). `Limits::devices` makes graphs for several devices. A test compares the graphs
//! with and without each construct, and tests list what a thousand graphs and their plans must have
//! (`tests/reach.rs`, `tests/reach_plans.rs`).

mod conditions;
mod construct;
mod debts;
mod known;
mod pass_builder;
mod profile;
mod raster;
mod resources;
mod slots;
mod source;
mod stencil;
mod steps;
mod time;
mod usages;

use rgraph_ir::access::{PassQueue, Usage};
use rgraph_ir::graph::{Graph, PassId, Use};
use rgraph_ir::id::IdVec;
use rgraph_ir::profile::Profile;
use rgraph_ir::resource::ResourceId;

use crate::random::Random;
use debts::Debt;
use known::{Known, KnownId, Left, MOST_FLAGS};
use resources::REFERENCE;
use source::{Feed, Source};
use usages::Work;

pub use construct::{Construct, Constructs, UNSETTLED};
pub use source::CHUNK;

/// How large generated graphs are, and what they leave out.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Fewest declared passes of a seed's graph, about.
    pub fewest_passes: u32,
    /// Most declared passes, about.
    pub most_passes: u32,
    pub most_flags: u32,
    /// Devices that passes may name; of one, only the first.
    pub devices: u32,
    /// What must not occur.
    pub without: Constructs,
}

impl Default for Limits {
    fn default() -> Self {
        Self { fewest_passes: 5, most_passes: 40, most_flags: 3, devices: 1, without: UNSETTLED }
    }
}

/// The graph and the device that bytes stand for. No bytes at all are the smallest of both.
pub fn from_bytes(bytes: &[u8], limits: Limits) -> (Graph, Profile) {
    make("generated", &mut Feed::Bytes(bytes), limits)
}

/// A graph and a device of a seed: the same on every machine.
pub fn generate(seed: u64, limits: Limits) -> (Graph, Profile) {
    make(&format!("generated {seed}"), &mut Feed::Seed(Random::new(seed ^ 0x5eed_0f9a), Vec::new()), limits)
}

/// The bytes that a seed stands for: [`from_bytes`] makes the same graph of them, but for its name.
pub fn bytes_of(seed: u64, limits: Limits) -> Vec<u8> {
    let mut feed = Feed::Seed(Random::new(seed ^ 0x5eed_0f9a), Vec::new());
    make("", &mut feed, limits);
    match feed {
        Feed::Bytes(bytes) => bytes.to_vec(),
        Feed::Seed(_, taken) => taken,
    }
}

fn make(name: &str, feed: &mut Feed<'_>, limits: Limits) -> (Graph, Profile) {
    let mut header = feed.next().unwrap_or(Source::new([0; CHUNK]));
    let drawn = u64::from(header.short());
    let spread = u64::from(limits.most_passes.saturating_sub(limits.fewest_passes)) + 1;
    let wanted = match feed {
        Feed::Bytes(_) => limits.most_passes,
        Feed::Seed(..) => limits.fewest_passes + ((drawn * spread) >> 16) as u32,
    };
    let mut late = header.reversed();
    let profile = profile::profile(&mut header, &mut late, limits);
    let (mut maker, header) = Maker::new(name, header, &mut late, limits);
    while maker.passes < wanted {
        let Some(step) = feed.next() else { break };
        maker.source = step;
        maker.late = step.reversed();
        maker.step();
    }
    maker.source = Source::new([0; CHUNK]);
    maker.late = maker.source;
    maker.finish();
    let graph = slots::into_slots(maker.graph, header, late, limits);
    (graph, profile)
}

struct Maker {
    source: Source,
    /// The step's bytes from the end.
    late: Source,
    graph: Graph,
    known: IdVec<KnownId, Known>,
    limits: Limits,
    passes: u32,
    names: u32,
    /// Flags that conditional passes may name.
    flags: usize,
    /// Whether most passes say that their draws commute.
    commuting: bool,
    /// Passes that others may be ordered after, with the debts that they come after.
    ordinary: Vec<(PassId, u16)>,
    debts: Vec<Debt>,
}

impl Maker {
    fn new(name: &str, mut header: Source, late: &mut Source, limits: Limits) -> (Self, Source) {
        let flags = header.below((limits.most_flags as usize).min(MOST_FLAGS) + 1);
        let maker = Self {
            source: Source::new([0; CHUNK]),
            late: Source::new([0; CHUNK]),
            graph: Graph::new(name, [REFERENCE; 2]),
            known: IdVec::new(),
            limits,
            passes: 0,
            names: 0,
            flags,
            commuting: late.chance(1, 4) && !limits.without.contains(Construct::CommutingDraws),
            ordinary: Vec::new(),
            debts: Vec::new(),
        };
        (maker, header)
    }

    /// Writers that are still owed, and roots: of what may be one some, and one at least.
    fn finish(&mut self) {
        while !self.debts.is_empty() {
            self.pay();
        }
        let used: Vec<ResourceId> =
            self.graph.accesses().iter().filter(|a| a.usage.writes()).map(|a| a.resource).collect();
        let may = |known: &&Known| {
            known.left != Left::Nothing
                && used.contains(&known.id)
                && known.defined != 0
                && (known.defined == known.shape.whole() || self.allows(Construct::Undefined))
                && known.blocked(None) == 0
        };
        let list: Vec<(ResourceId, bool)> = self.known.iter().filter(may).map(|known| (known.id, known.root)).collect();
        for (id, _) in list.iter().filter(|(_, root)| *root) {
            self.graph.root(*id);
        }
        if self.graph.roots().is_empty() {
            let last = used.iter().rev().copied().find(|id| list.iter().any(|(other, _)| other == id));
            let last = last.unwrap_or_else(|| {
                let shape = self.drawn_target();
                let at = self.declare(shape);
                let mut builder = self.begin("final", Work::Draw, PassQueue::Graphics);
                self.put(&mut builder, at, &Use::new(Usage::ColorAttachment));
                self.finish_pass(builder);
                self.known[at].id
            });
            self.graph.root(last);
        }
    }
}
