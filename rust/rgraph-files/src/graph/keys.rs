//! The objects of a graph file, for the reader and for the schema; those of the work of passes are in `work`.

use serde_json::{Value, json};

use super::typed::Dtype;
use super::work::{self, WORK};
use crate::json::Fields;
use crate::json::table::{Key, Kind, Object, RANGE32, RANGE64, Shared, U32, U64, VERSION};
use crate::json::table::{joined, list, may, must, spellings, tuple, words};
use crate::word::{Contents, DeclaredStages, FirstFrame};
use rgraph_ir::access::{
    Accesses, Aspects, Layout, Load, MemoryDomain, PassQueue, ResolveMode, Sharing, Transfer, Usage,
};
use rgraph_ir::feature::Features;
use rgraph_ir::format::Format;
use rgraph_ir::resource::Round;

/// `true`, `false`, a number or a text: the value of an option.
const SETTING: Kind = Kind::Either(&[Kind::Boolean, Kind::Number, Kind::Line]);
static IMAGES: Key = may("images", Kind::Named(&Kind::Object(&IMAGE)));
static BUFFERS: Key = may("buffers", Kind::Named(&Kind::Object(&BUFFER)));
static ENTRIES: Kind = list(&Kind::Shared(&ENTRY));
static PASSES: Key = may("passes", ENTRIES);
static ROOTS: Key = may("roots", list(&Kind::Either(&[Kind::Name, Kind::Object(&ROOT)])));
static ACCESSES: Kind = list(&Kind::Object(&ACCESS));
/// The condition under which something is declared.
pub(super) const IF: Key = may("if", Kind::Shared(&CONDITION_KIND));

/// Of a graph file, and of a module of one.
static PARTS: [Key; 10] = [
    may("name", Kind::Title),
    may("reference_size", tuple(&U32, 2)),
    may("options", Kind::Named(&SETTING)),
    may("shaders", Kind::Named(&work::SHADER)),
    may("samplers", Kind::Named(&Kind::Object(&work::SAMPLER))),
    may("modules", Kind::Named(&Kind::Object(&DECLARED))),
    IMAGES,
    BUFFERS,
    PASSES,
    ROOTS,
];

/// A graph file.
pub static GRAPH: Object<[Key; 11]> = Object::new("a graph", joined(&[&[must("rgraph", VERSION)], &PARTS]));

/// A module of `modules`: a graph file without a version.
pub(super) static DECLARED: Object<[Key; 11]> = Object::new("a module", joined(&[&[may("rgraph", VERSION)], &PARTS]));

static ENTRY: Shared = Shared {
    name: "entry",
    kind: Kind::Either(&[
        Kind::Object(&PASS),
        Kind::Object(&MODULE),
        Kind::Object(&EXTENSION),
        Kind::Object(&POINT),
        Kind::Object(&INCLUDE),
        Kind::Object(&USE),
        Kind::Object(&LAYER),
    ]),
};

pub(super) static PASS: Object<[Key; 25]> = Object::new(
    "a pass",
    joined(&[
        &[
            must("name", Kind::Name),
            may("queue", Kind::WordsOf(words::<PassQueue>)),
            may("accesses", ACCESSES),
            may("weight_us", Kind::Number),
            may("unit", Kind::Name),
            may("device", Kind::Either(&[U32, Kind::Only("any")])),
            may("side_effects", Kind::Boolean),
            may("unordered", Kind::Boolean),
            may("after", list(&Kind::Name)),
            may("conditional", Kind::Name),
            may("fallback", Kind::Map(&Kind::Name)),
            may("setup", Kind::Boolean),
            may("needs", list(&Kind::WordsOf(words::<Features>))),
            IF,
        ],
        &WORK,
        &[may("steps", list(&Kind::OneKeyOf(&WORK)))],
    ]),
);

/// Those of a pass's keys that say what it does.
pub const WORK_KEYS: [&str; 11] = {
    let mut keys = ["steps"; 11];
    let mut at = 0;
    while at < WORK.len() {
        keys[at] = WORK[at].name;
        at += 1;
    }
    keys
};

const LOAD: Kind = Kind::WordsOf(spellings::<Load>);

pub(super) static ACCESS: Object<[Key; 16]> = Object::new(
    "an access",
    [
        must("resource", Kind::Name),
        must("usage", Kind::WordsOf(words::<Usage>)),
        may("stages", STAGES),
        may("mips", RANGE32),
        may("layers", RANGE32),
        may("aspects", list(&Kind::WordsOf(words::<Aspects>))),
        may("range", RANGE64),
        may("load", LOAD),
        may("stencil_load", LOAD),
        may("clear", CLEAR),
        may("generate_mips", Kind::Boolean),
        may("resolves", Kind::Name),
        may("resolve_mode", Kind::WordsOf(words::<ResolveMode>)),
        may("transfer", Kind::WordsOf(words::<Transfer>)),
        may("unordered", Kind::Boolean),
        IF,
    ],
);

/// A number, or a text that holds one.
const COMPONENT: Kind =
    Kind::Either(&[Kind::Number, Kind::Like(r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$")]);

/// Four numbers of a colour, `[depth, stencil]`, or a depth; within a list a number may be a text that holds one.
pub(crate) const CLEAR: Kind = Kind::Either(&[Kind::Number, Kind::Row(&[COMPONENT, U32]), tuple(&COMPONENT, 4)]);

/// Those of the keys of images and buffers that both have.
static LIVES: [Key; 9] = [
    may("modifies", Kind::Name),
    may("history_of", Kind::Name),
    may("frames", U32),
    may("first_frame", Kind::WordsOf(spellings::<FirstFrame>)),
    may("imported", Kind::Either(&[Kind::Boolean, Kind::Object(&IMPORTED)])),
    may("leave", Kind::Object(&LEAVE)),
    may("persistent", Kind::Boolean),
    may("fresh", Kind::Boolean),
    may("sharing", Kind::WordsOf(words::<Sharing>)),
];
const DOMAIN: Key = may("memory_domain", Kind::WordsOf(words::<MemoryDomain>));
const FILE: Key = may("file", Kind::Name);

pub(super) static IMAGE: Object<[Key; 18]> = Object::new(
    "an image",
    joined(&[
        &[
            may("format", Kind::WordsOf(spellings::<Format>)),
            may("size", SIZE),
            may("layers", U32),
            may("mips", Kind::Either(&[U32, Kind::Only("full")])),
            may("samples", U32),
            may("cube", Kind::Boolean),
        ],
        &LIVES,
        &[DOMAIN, FILE, IF],
    ]),
);

pub(super) static BUFFER: Object<[Key; 16]> = Object::new(
    "a buffer",
    joined(&[
        &[
            may("size", U64),
            may("shape", Kind::Either(&[U64, list(&U64)])),
            may("dtype", Kind::WordsOf(words::<Dtype>)),
            may("acceleration_structure", Kind::Boolean),
        ],
        &LIVES,
        &[DOMAIN, FILE, IF],
    ]),
)
.with(a_size);

/// A buffer has a size, or something that gives it one.
fn a_size(schema: &mut Value) {
    let has = |key: &str| json!({"required": [key]});
    schema["anyOf"] = json!([has("size"), has("shape"), has("modifies"), has("history_of"), has("file")]);
}

pub(super) static IMPORTED: Object<[Key; 7]> = Object::new(
    "an import",
    [
        may("layout", LAYOUT),
        may("queue", Kind::WordsOf(words::<PassQueue>)),
        may("stages", STAGES),
        may("access", list(&Kind::WordsOf(words::<Accesses>))),
        may("contents", Kind::WordsOf(words::<Contents>)),
        may("wait", Kind::Boolean),
        may("signal", Kind::Boolean),
    ],
);

const LAYOUT: Kind = Kind::WordsOf(spellings::<Layout>);
const STAGES: Kind = list(&Kind::WordsOf(spellings::<DeclaredStages>));

pub(super) static LEAVE: Object<[Key; 2]> =
    Object::new("a state to leave it in", [may("layout", LAYOUT), may("queue", Kind::WordsOf(words::<PassQueue>))]);

const SIZE: Kind =
    Kind::Either(&[tuple(&U32, 2), tuple(&U32, 3), Kind::Object(&RELATIVE_SIZE), Kind::Object(&SIZE_BY_AXES)]);
const RELATIVE_TO: Key = may("relative_to", Kind::Name);
const ROUND: Key = may("round", Kind::WordsOf(words::<Round>));

pub(super) static RELATIVE_SIZE: Object<[Key; 3]> = Object::new(
    "a relative size",
    [RELATIVE_TO, may("scale", Kind::Either(&[tuple(&Kind::Number, 2), tuple(&Kind::Number, 3)])), ROUND],
);

const AXIS: Kind = Kind::Either(&[U32, Kind::Object(&RELATIVE_AXIS)]);

pub(super) static RELATIVE_AXIS: Object<[Key; 3]> =
    Object::new("a relative axis", [RELATIVE_TO, may("scale", Kind::Number), ROUND]);

pub(super) static SIZE_BY_AXES: Object<[Key; 4]> =
    Object::new("a size by axes", [must("x", AXIS), must("y", AXIS), may("z", AXIS), ROUND]);

pub(super) static ROOT: Object<[Key; 2]> = Object::new("a root", [must("resource", Kind::Name), IF]);

pub(super) static MODULE: Object<[Key; 6]> =
    Object::new("a module", [must("module", Kind::Name), IMAGES, BUFFERS, PASSES, ROOTS, IF]);

pub(super) static EXTENSION: Object<[Key; 8]> = Object::new(
    "an extension",
    [must("extend", Kind::Name), may("key", U64), may("behind", ENTRIES), IMAGES, BUFFERS, PASSES, ROOTS, IF],
);

pub(super) static POINT: Object<[Key; 2]> =
    Object::new("an extension point", [must("extension_point", Kind::Name), IF]);

const AS: Key = may("as", Kind::Name);
const WITH: Key = may("with", Kind::Named(&SETTING));
const RESOURCES: Key = may("resources", Kind::Named(&Kind::Name));

pub(super) static INCLUDE: Object<[Key; 5]> =
    Object::new("an include", [must("include", Kind::Name), AS, WITH, RESOURCES, IF]);

pub(super) static USE: Object<[Key; 5]> =
    Object::new("an instance", [must("use", Kind::Name), AS, WITH, RESOURCES, IF]);

pub(super) static LAYER: Object<[Key; 4]> =
    Object::new("a layer", [must("layer", Kind::Name), may("order", U32), must("accesses", ACCESSES), IF]);

/// How an option is compared.
const COMPARISONS: [Key; 3] = [may("is", SETTING), may("at_least", Kind::Number), may("at_most", Kind::Number)];
static CONDITIONS: Kind = list(&Kind::Shared(&CONDITION_KIND));
/// Conditions of conditions.
static JOINS: [Key; 3] = [may("not", Kind::Shared(&CONDITION_KIND)), may("all", CONDITIONS), may("any", CONDITIONS)];

static COMPARED: Object<[Key; 4]> = Object::new("a condition", joined(&[&[must("option", Kind::Line)], &COMPARISONS]));

/// All keys of a condition, which a reader needs to know before it knows which condition it is.
pub(super) static CONDITION: Object<[Key; 7]> =
    Object::new("a condition", joined(&[&[may("option", Kind::Line)], &COMPARISONS, &JOINS]));

/// The name of an option that is on, `true` or `false`, or what is asked of options.
static CONDITION_KIND: Shared = Shared {
    name: "condition",
    kind: Kind::Either(&[Kind::Line, Kind::Boolean, Kind::Object(&COMPARED), Kind::OneKeyOf(&JOINS)]),
};

pub type GraphFields<'a, 'p> = Fields<'a, 'p, { GRAPH.keys.len() }>;
pub type PassFields<'a, 'p> = Fields<'a, 'p, { PASS.keys.len() }>;
pub(super) type ImageFields<'a, 'p> = Fields<'a, 'p, { IMAGE.keys.len() }>;
pub(super) type BufferFields<'a, 'p> = Fields<'a, 'p, { BUFFER.keys.len() }>;
