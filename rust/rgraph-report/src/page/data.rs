//! What a page carries of a plan: columns of numbers, and texts that are written once and named by their position.
//! Everything refers to everything else by position; -1 stands for nothing.

use std::collections::HashMap;

use serde::Serialize;

/// Texts, each once.
#[derive(Serialize, Default)]
#[serde(transparent)]
pub(crate) struct Texts {
    list: Vec<String>,
    #[serde(skip)]
    known: HashMap<String, i32>,
}

impl Texts {
    /// The text at a position; empty for -1.
    pub(crate) fn get(&self, at: i32) -> &str {
        usize::try_from(at).ok().and_then(|at| self.list.get(at)).map_or("", String::as_str)
    }

    /// The position of a text.
    pub(crate) fn add(&mut self, text: &str) -> i32 {
        if let Some(&at) = self.known.get(text) {
            return at;
        }
        let at = self.list.len() as i32;
        self.list.push(text.to_owned());
        self.known.insert(text.to_owned(), at);
        at
    }
}

/// A plan as the page reads it.
#[derive(Serialize, Default)]
pub(crate) struct PlanData {
    /// Figures and names of the whole.
    pub meta: Meta,
    /// The queues planned for; position -1 is the host.
    pub queues: Vec<QueueData>,
    /// The passes: live ones in plan order, then culled ones.
    pub passes: PassColumns,
    /// All passes with the culled ones at their declared place.
    pub shown: Vec<u32>,
    pub resources: ResourceColumns,
    /// Pairs of resources that share bytes.
    pub aliases: Vec<[u32; 2]>,
    /// Who does what with what.
    pub accesses: AccessColumns,
    /// Data that flows from pass to pass.
    pub flows: FlowColumns,
    /// Barrier calls.
    pub calls: CallColumns,
    /// Dependencies of barrier calls.
    pub barriers: BarrierColumns,
    pub batches: BatchColumns,
    /// Waits of batches.
    pub waits: WaitColumns,
    /// Render passes: their number, and what happens to each attachment.
    pub rendering: Vec<(u32, Vec<String>)>,
    /// Memory.
    pub heaps: Vec<(String, u64)>,
    /// How resources enter and leave the frame: resource, entry, exit.
    pub edges: Vec<(u32, String, String)>,
    /// Keys of the independent parts.
    pub parts: Vec<String>,
    /// Neighbours that are not one render pass, and why: a sentence, its word, and the resource that it is about.
    pub unmerged: Vec<(u32, u32, String, &'static str, i32)>,
    /// What could not be done as asked.
    pub notes: Vec<String>,
    /// Texts, by position.
    pub texts: Texts,
}

/// Figures and names of a plan.
#[derive(Serialize, Default)]
pub(crate) struct Meta {
    /// Name of the graph.
    pub graph: String,
    pub graph_hash: String,
    /// The plan's own hash.
    pub hash: String,
    /// Name of the profile.
    pub profile: String,
    /// How it was scheduled.
    pub policy: String,
    /// Whether the order is proven best.
    pub optimal: bool,
    /// Modelled microseconds of the frame.
    pub frame_us: f64,
    /// What no plan beats, in modelled microseconds; 0: unknown.
    pub bound_us: f64,
    pub barrier_calls: u32,
    pub submits: u32,
    /// Bytes that the placements need.
    pub memory: u64,
    /// Bytes that no placement could do without.
    pub memory_bound: u64,
    /// Bytes without aliasing.
    pub memory_plain: u64,
    /// Whether the declaration was at hand: else accesses are what the plan alone tells.
    pub declared: bool,
    /// Microseconds of each stage of the bake, if they were measured.
    pub bake_us: Vec<(&'static str, f64)>,
}

/// A queue of the plan, as a row of the timeline.
#[derive(Serialize)]
pub(crate) struct QueueData {
    /// Its name, made different from the others'.
    pub name: String,
    pub family: u32,
    /// What it can do.
    pub capabilities: Vec<&'static str>,
}

/// Passes.
#[derive(Serialize, Default)]
pub(crate) struct PassColumns {
    pub name: Vec<String>,
    pub declared: Vec<i32>,
    pub queue: Vec<i32>,
    pub batch: Vec<i32>,
    pub physical: Vec<i32>,
    pub start: Vec<f32>,
    pub us: Vec<f32>,
    pub after: Vec<i32>,
    pub part: Vec<i32>,
    /// Texts: why it is on its queue, why it is culled, where it was declared, its condition.
    pub why_queue: Vec<i32>,
    pub culled: Vec<i32>,
    pub place: Vec<i32>,
    pub flag: Vec<i32>,
}

/// The plan's resources, one column per property.
#[derive(Serialize, Default)]
pub(crate) struct ResourceColumns {
    pub name: Vec<String>,
    pub image: Vec<u8>,
    pub bytes: Vec<u64>,
    pub first: Vec<i32>,
    pub last: Vec<i32>,
    pub heap: Vec<i32>,
    pub offset: Vec<i64>,
    pub placed: Vec<i64>,
    pub root: Vec<u8>,
    pub inserted: Vec<u8>,
    /// Texts.
    pub life: Vec<i32>,
    pub format: Vec<i32>,
    pub shape: Vec<i32>,
    pub sharing: Vec<i32>,
    pub place: Vec<i32>,
    pub relation: Vec<i32>,
    pub why_alone: Vec<i32>,
}

/// Accesses. `mode`: 1 reads, 2 writes, 3 both. The rest are texts.
#[derive(Serialize, Default)]
pub(crate) struct AccessColumns {
    pub pass: Vec<u32>,
    pub resource: Vec<u32>,
    pub mode: Vec<u8>,
    pub usage: Vec<i32>,
    pub stages: Vec<i32>,
    pub layout: Vec<i32>,
    pub part: Vec<i32>,
}

/// From the pass that wrote to the pass that reads; resource -1: ordered without one.
#[derive(Serialize, Default)]
pub(crate) struct FlowColumns {
    pub from: Vec<u32>,
    pub to: Vec<u32>,
    pub resource: Vec<i32>,
}

/// Barrier calls. `kind`: 0 a call, 1 the first half of a split one, 2 its second half.
#[derive(Serialize, Default)]
pub(crate) struct CallColumns {
    pub batch: Vec<u32>,
    pub kind: Vec<u8>,
    pub event: Vec<i32>,
    pub region: Vec<u8>,
    pub after: Vec<i32>,
    pub before: Vec<i32>,
    pub first: Vec<u32>,
    pub count: Vec<u32>,
}

/// Dependencies. `resource` -1: all memory. `of` is the resource whose earlier use is waited for.
#[derive(Serialize, Default)]
pub(crate) struct BarrierColumns {
    pub resource: Vec<i32>,
    pub from: Vec<i32>,
    pub to: Vec<i32>,
    pub of: Vec<u32>,
    /// Texts.
    pub hazard: Vec<i32>,
    pub part: Vec<i32>,
    pub old: Vec<i32>,
    pub new: Vec<i32>,
    pub families: Vec<i32>,
    pub src_stages: Vec<i32>,
    pub src_access: Vec<i32>,
    pub dst_stages: Vec<i32>,
    pub dst_access: Vec<i32>,
}

/// Batches; `signal` is 0 where nobody waits.
#[derive(Serialize, Default)]
pub(crate) struct BatchColumns {
    pub queue: Vec<i32>,
    pub signal: Vec<u32>,
    pub first: Vec<i32>,
    pub last: Vec<i32>,
}

/// Waits; `source` is the batch that signals, -1 if that is one of the run before.
#[derive(Serialize, Default)]
pub(crate) struct WaitColumns {
    pub batch: Vec<u32>,
    pub queue: Vec<i32>,
    pub value: Vec<u32>,
    pub previous: Vec<u8>,
    pub source: Vec<i32>,
    /// Text.
    pub stages: Vec<i32>,
}
