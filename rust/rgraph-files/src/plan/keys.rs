//! The objects of a plan file, for the reader and for the schema.

use serde_json::{Value, json};

use crate::graph::CLEAR;
use crate::json::Word;
use crate::json::table::{Key, Kind, Object, RANGE32, RANGE64, U32, U64, VERSION};
use crate::json::table::{list, may, must, or_null, positive, spellings, tuple, words};
use rgraph_ir::access::{Accesses, Aspects, Layout, Load, MemoryDomain, Sharing, Stages, Store, Usage};
use rgraph_ir::budget::MemoryBudget;
use rgraph_ir::feature::Features;
use rgraph_ir::format::Format;
use rgraph_ir::plan::{Hazard, PlanLife, QueueWhy};
use rgraph_ir::profile::Capabilities;
use rgraph_ir::words::{
    CULLED_WORDS, FOREIGN_WORDS, POLICIES, SET_WORDS, UNMERGED_WORDS, hazard_from_word, hazard_words, life_from_word,
    life_words, queue_from_word, queue_words,
};

/// Ids are less than 2³² − 1.
pub(crate) const MOST_ID: u64 = u32::MAX as u64 - 1;
/// An id: a position in another list.
pub(crate) const ID: Kind = Kind::Whole(0, MOST_ID);
const IDS: Kind = list(&ID);
const STAGES: Kind = list(&Kind::WordsOf(spellings::<Stages>));
const ACCESSES: Kind = list(&Kind::WordsOf(words::<Accesses>));
const ASPECT: Kind = Kind::WordsOf(words::<Aspects>);
const ASPECTS: Kind = Kind::List(&ASPECT, 1, None);
const LAYOUT_WORD: Kind = Kind::WordsOf(words::<Layout>);
const LOAD: Kind = Kind::WordsOf(spellings::<Load>);
const STORE: Kind = Kind::WordsOf(words::<Store>);

/// A plan file.
pub(crate) static PLAN: Object<[Key; 18]> = Object::new(
    "a plan",
    [
        must("rplan", VERSION),
        may("graph", Kind::Title),
        may("graph_hash", Kind::Hexadecimal(32)),
        must("device_profile", Kind::Object(&PROFILE)),
        must("passes", list(&Kind::Object(&PASS))),
        must("resources", list(&Kind::Object(&RESOURCE))),
        must("batches", list(&Kind::Object(&BATCH))),
        may("memory", Kind::Object(&MEMORY)),
        may("edges", list(&Kind::Object(&EDGE))),
        may("foreign", list(&Kind::Object(&FOREIGN))),
        may("subgraphs", list(&Kind::Object(&SUBGRAPH))),
        may("unmerged", list(&Kind::Object(&UNMERGED))),
        may("sets", list(&Kind::Object(&SET))),
        may("packets", list(&IDS)),
        may("copies", list(&Kind::Object(&COPY))),
        may("flags", list(&Kind::Name)),
        may("fallbacks", list(&Kind::Object(&FALLBACK))),
        may("report", Kind::Object(&REPORT)),
    ],
);

pub(super) static PROFILE: Object<[Key; 3]> = Object::new(
    "a device profile",
    [
        may("name", Kind::Title),
        or_null("features", list(&Kind::WordsOf(words::<Features>))),
        must("queues", list(&Kind::Object(&QUEUE))),
    ],
);

pub(super) static QUEUE: Object<[Key; 3]> = Object::new(
    "a queue",
    [must("name", Kind::Name), must("family", U32), may("capabilities", list(&Kind::WordsOf(words::<Capabilities>)))],
);

pub(super) static PASS: Object<[Key; 13]> = Object::new(
    "a pass",
    [
        may("id", ID),
        must("name", Kind::Name),
        or_null("declared", U32),
        or_null("owner", U32),
        or_null("queue", ID),
        may("culled", Kind::Boolean),
        or_null("reason", Kind::Line),
        or_null("physical_pass", ID),
        or_null("subpass", U32),
        or_null("flag", ID),
        or_null("culled_why", Kind::Object(&CULLED)),
        or_null("why", Kind::Object(&PASS_WHY)),
        or_null("accesses", list(&Kind::Object(&ACCESS))),
    ],
);

pub(super) static CULLED: Object<[Key; 3]> = Object::new(
    "a reason for culling",
    [must("rule", Kind::Words(&CULLED_WORDS)), may("resource", ID), may("reader", U32)],
);

pub(super) static PASS_WHY: Object<[Key; 4]> = Object::new(
    "why a pass stands where it does",
    [
        may("queue", Kind::WordsOf(words::<QueueWhy>)),
        or_null("after", ID),
        or_null("start_us", Kind::Number),
        or_null("duration_us", Kind::Number),
    ],
);

pub(super) static ACCESS: Object<[Key; 6]> = Object::new(
    "an access",
    [
        must("resource", ID),
        must("stages", STAGES),
        must("access", ACCESSES),
        may("layout", LAYOUT_WORD),
        may("mips", RANGE32),
        may("layers", RANGE32),
    ],
);

pub(super) static RESOURCE: Object<[Key; 21]> = Object::new(
    "a resource",
    [
        may("id", ID),
        must("name", Kind::Name),
        must("kind", Kind::WordsOf(words::<Shape>)),
        must("bytes", U64),
        or_null("lifetime", Kind::Object(&LIFETIME)),
        may("aliases", list(&Kind::Name)),
        may("sharing", Kind::WordsOf(words::<Sharing>)),
        may("life", Kind::WordsOf(words::<PlanLife>)),
        may("format", Kind::WordsOf(words::<Format>)),
        may("size", Kind::Either(&[U64, tuple(&U32, 2), tuple(&U32, 3)])),
        may("mips", positive(32)),
        may("layers", positive(1 << 16)),
        may("samples", positive(64)),
        may("cube", Kind::Boolean),
        may("inserted", Kind::Boolean),
        may("transient_attachment", Kind::Boolean),
        may("memory_domain", Kind::WordsOf(words::<MemoryDomain>)),
        may("memory", ID),
        may("ring", positive(u32::MAX as u64)),
        or_null("remembers", Kind::Object(&REMEMBERS)),
        may("usages", list(&Kind::WordsOf(words::<Usage>))),
    ],
)
.with(keys_of_images);

/// An image must have a format, and its size is a list; that of a buffer is a number.
fn keys_of_images(schema: &mut Value) {
    schema["if"] = json!({"properties": {"kind": {"const": "image"}}});
    schema["then"] = json!({"required": ["format", "size"], "properties": {"size": {"type": "array"}}});
    schema["else"] = json!({"properties": {"size": {"type": "integer"}}});
}

pub(super) static REMEMBERS: Object<[Key; 2]> =
    Object::new("which memory of a ring a history is in", [must("of", ID), must("frames", positive(u32::MAX as u64))]);

pub(super) static FALLBACK: Object<[Key; 3]> =
    Object::new("a fallback", [must("pass", ID), must("output", ID), must("input", ID)]);

pub(super) static LIFETIME: Object<[Key; 2]> = Object::new("a lifetime", [must("first", ID), must("last", ID)]);

pub(super) static BATCH: Object<[Key; 5]> = Object::new(
    "a batch",
    [
        may("id", ID),
        or_null("queue", ID),
        may("waits", list(&Kind::Object(&WAIT))),
        may("commands", list(&COMMAND)),
        may("signals", Kind::List(&Kind::Object(&SIGNAL), 0, Some(1))),
    ],
);

pub(super) static WAIT: Object<[Key; 4]> = Object::new(
    "a wait",
    [or_null("queue", ID), must("value", U32), must("stages", STAGES), may("frame", Kind::Integers(&[-1, 0]))],
);

pub(super) static SIGNAL: Object<[Key; 2]> = Object::new("a signal", [or_null("queue", ID), must("value", U32)]);

/// A command: its `op` tells which.
const COMMAND: Kind = Kind::Either(&[
    Kind::Object(&BARRIERS),
    Kind::Object(&BEGIN),
    Kind::Object(&PASS_COMMAND),
    Kind::Object(&END),
    Kind::Object(&SET_EVENT),
    Kind::Object(&WAIT_EVENTS),
]);

static MEMORY_BARRIERS: Key = may("memory", list(&Kind::Object(&MEMORY_BARRIER)));
static BUFFER_BARRIERS: Key = may("buffers", list(&Kind::Object(&BUFFER_BARRIER)));
static IMAGE_BARRIERS: Key = may("images", list(&Kind::Object(&IMAGE_BARRIER)));

pub(super) static BARRIERS: Object<[Key; 5]> = Object::new(
    "a barrier call",
    [
        must("op", Kind::Only("barriers")),
        may("by_region", Kind::Boolean),
        MEMORY_BARRIERS,
        BUFFER_BARRIERS,
        IMAGE_BARRIERS,
    ],
);

pub(super) static SET_EVENT: Object<[Key; 5]> = Object::new(
    "an event",
    [must("op", Kind::Only("set_event")), must("event", ID), MEMORY_BARRIERS, BUFFER_BARRIERS, IMAGE_BARRIERS],
);

pub(super) static WAIT_EVENTS: Object<[Key; 5]> = Object::new(
    "a wait for an event",
    [must("op", Kind::Only("wait_events")), must("event", ID), MEMORY_BARRIERS, BUFFER_BARRIERS, IMAGE_BARRIERS],
);

pub(super) static BEGIN: Object<[Key; 3]> = Object::new(
    "a render pass",
    [
        must("op", Kind::Only("begin_rendering")),
        must("physical_pass", ID),
        may("attachments", list(&Kind::Object(&ATTACHMENT))),
    ],
);

pub(super) static PASS_COMMAND: Object<[Key; 3]> = Object::new(
    "a pass command",
    [must("op", Kind::Only("pass")), must("pass", ID), may("layouts", list(&Kind::Object(&LAYOUT)))],
);

pub(super) static END: Object<[Key; 1]> =
    Object::new("an end of a render pass", [must("op", Kind::Only("end_rendering"))]);

const SRC_STAGES: Key = must("src_stages", STAGES);
const SRC_ACCESS: Key = must("src_access", ACCESSES);
const DST_STAGES: Key = must("dst_stages", STAGES);
const DST_ACCESS: Key = must("dst_access", ACCESSES);
const BARRIER_WHY: Key = or_null("why", Kind::Object(&WHY));

pub(super) static MEMORY_BARRIER: Object<[Key; 5]> =
    Object::new("a memory barrier", [SRC_STAGES, SRC_ACCESS, DST_STAGES, DST_ACCESS, BARRIER_WHY]);

pub(super) static BUFFER_BARRIER: Object<[Key; 9]> = Object::new(
    "a buffer barrier",
    [
        must("resource", ID),
        may("range", RANGE64),
        SRC_STAGES,
        SRC_ACCESS,
        DST_STAGES,
        DST_ACCESS,
        or_null("src_queue", U32),
        or_null("dst_queue", U32),
        BARRIER_WHY,
    ],
);

pub(super) static IMAGE_BARRIER: Object<[Key; 13]> = Object::new(
    "an image barrier",
    [
        must("resource", ID),
        may("mips", RANGE32),
        may("layers", RANGE32),
        may("aspects", ASPECTS),
        SRC_STAGES,
        SRC_ACCESS,
        DST_STAGES,
        DST_ACCESS,
        must("old_layout", LAYOUT_WORD),
        must("new_layout", LAYOUT_WORD),
        or_null("src_queue", U32),
        or_null("dst_queue", U32),
        BARRIER_WHY,
    ],
);

pub(super) static WHY: Object<[Key; 4]> = Object::new(
    "why a barrier is there",
    [may("hazard", Kind::WordsOf(words::<Hazard>)), or_null("from", ID), or_null("to", ID), may("resource", ID)],
);

pub(super) static ATTACHMENT: Object<[Key; 11]> = Object::new(
    "an attachment",
    [
        must("resource", ID),
        may("mip", U32),
        may("layers", RANGE32),
        may("aspects", ASPECTS),
        must("load", LOAD),
        must("store", STORE),
        or_null("stencil_load", LOAD),
        or_null("stencil_store", STORE),
        or_null("clear", CLEAR),
        or_null("resolve_to", ID),
        may("input", Kind::Boolean),
    ],
);

pub(super) static LAYOUT: Object<[Key; 5]> = Object::new(
    "a layout",
    [
        must("resource", ID),
        may("mips", RANGE32),
        may("layers", RANGE32),
        may("aspects", ASPECTS),
        must("layout", LAYOUT_WORD),
    ],
);

pub(super) static MEMORY: Object<[Key; 5]> = Object::new(
    "memory",
    [
        may("heaps", list(&Kind::Object(&HEAP))),
        may("placements", list(&Kind::Object(&PLACEMENT))),
        may("total", U64),
        may("without_aliasing", U64),
        may("lower_bound", U64),
    ],
);

pub(super) static HEAP: Object<[Key; 3]> =
    Object::new("a heap", [may("id", ID), must("type", Kind::Name), must("size", U64)]);

pub(super) static PLACEMENT: Object<[Key; 4]> =
    Object::new("a placement", [must("resource", ID), must("heap", ID), must("offset", U64), must("size", U64)]);

pub(super) static EDGE: Object<[Key; 7]> = Object::new(
    "an edge",
    [
        must("resource", ID),
        or_null("mips", RANGE32),
        or_null("layers", RANGE32),
        or_null("aspects", list(&ASPECT)),
        or_null("range", RANGE64),
        must("entry", Kind::Object(&STATE)),
        must("exit", Kind::Object(&STATE)),
    ],
);

pub(super) static FOREIGN: Object<[Key; 4]> = Object::new(
    "a foreign point",
    [must("resource", ID), must("op", Kind::Words(&FOREIGN_WORDS)), must("batch", ID), may("stages", STAGES)],
);

pub(super) static STATE: Object<[Key; 4]> = Object::new(
    "a state",
    [or_null("queue", ID), must("stages", STAGES), must("access", ACCESSES), or_null("layout", LAYOUT_WORD)],
);

pub(super) static SUBGRAPH: Object<[Key; 3]> =
    Object::new("a subgraph", [must("key", Kind::Hexadecimal(16)), must("passes", IDS), must("roots", IDS)]);

pub(super) static UNMERGED: Object<[Key; 5]> = Object::new(
    "a pair of passes",
    [
        must("first", ID),
        must("second", ID),
        must("why", Kind::Words(&UNMERGED_WORDS)),
        may("resource", ID),
        may("reason", Kind::Line),
    ],
);

pub(super) static SET: Object<[Key; 2]> =
    Object::new("a set of passes", [must("on", Kind::Words(&SET_WORDS)), must("passes", IDS)]);

pub(super) static COPY: Object<[Key; 3]> = Object::new("a copy", [must("pass", ID), must("from", ID), must("to", ID)]);

pub(super) static REPORT: Object<[Key; 13]> = Object::new(
    "a report",
    [
        or_null("bake_us", Kind::Object(&TIMES)),
        may("barriers", U32),
        may("submits", U32),
        or_null("frame_us", Kind::Number),
        or_null("one_queue_us", Kind::Number),
        or_null("bound_us", Kind::Number),
        or_null("critical_path_us", Kind::Number),
        or_null("load_us", Kind::Number),
        or_null("critical_path", list(&U32)),
        or_null("policy", Kind::Words(&POLICIES)),
        may("optimal", Kind::Boolean),
        or_null("memory", Kind::Either(&[Kind::Words(&MemoryBudget::NAMES), U64])),
        may("notes", list(&Kind::Line)),
    ],
);

pub(super) static TIMES: Object<[Key; 6]> = Object::new(
    "times of stages",
    [
        may("validate", Kind::Number),
        may("cull", Kind::Number),
        may("schedule", Kind::Number),
        may("merge", Kind::Number),
        may("alias", Kind::Number),
        may("synchronize", Kind::Number),
    ],
);

/// Whether a resource of a plan is an image.
#[derive(Clone, Copy)]
pub(super) struct Shape(pub(super) bool);

impl Word for Shape {
    const WHAT: &'static str = "a kind of resource";
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "image" => Some(Self(true)),
            "buffer" => Some(Self(false)),
            _ => None,
        }
    }
    fn words() -> Vec<&'static str> {
        vec!["image", "buffer"]
    }
}

impl Word for PlanLife {
    const WHAT: &'static str = "how long a resource lives";
    fn from_text(text: &str) -> Option<Self> {
        life_from_word(text)
    }
    fn words() -> Vec<&'static str> {
        life_words()
    }
}

impl Word for QueueWhy {
    const WHAT: &'static str = "why a pass is on its queue";
    fn from_text(text: &str) -> Option<Self> {
        queue_from_word(text)
    }
    fn words() -> Vec<&'static str> {
        queue_words()
    }
}

impl Word for Hazard {
    const WHAT: &'static str = "a hazard";
    fn from_text(text: &str) -> Option<Self> {
        hazard_from_word(text)
    }
    fn words() -> Vec<&'static str> {
        hazard_words()
    }
}
