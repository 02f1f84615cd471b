//! Keys of graph files, of passes and of accesses.

use crate::json::Fields;

/// Keys of a graph file.
pub const GRAPH_KEYS: [&str; 11] = [
    "rgraph",
    "name",
    "reference_size",
    "options",
    "shaders",
    "samplers",
    "modules",
    "images",
    "buffers",
    "passes",
    "roots",
];
/// Keys of a pass.
pub const PASS_KEYS: [&str; 25] = [
    "name",
    "queue",
    "accesses",
    "weight_us",
    "unit",
    "device",
    "side_effects",
    "unordered",
    "after",
    "conditional",
    "fallback",
    "setup",
    "needs",
    "if",
    "compute",
    "raster",
    "copy",
    "blit",
    "clear",
    "fill",
    "resolve",
    "build",
    "instances",
    "trace",
    "steps",
];
/// Those of a pass's keys that say what it does.
pub const WORK_KEYS: [&str; 11] =
    ["compute", "raster", "copy", "blit", "clear", "fill", "resolve", "build", "instances", "trace", "steps"];
/// Keys of an access.
pub(crate) const ACCESS_KEYS: [&str; 16] = [
    "resource",
    "usage",
    "stages",
    "mips",
    "layers",
    "aspects",
    "range",
    "load",
    "stencil_load",
    "clear",
    "generate_mips",
    "resolves",
    "resolve_mode",
    "transfer",
    "unordered",
    "if",
];

/// The fields of a graph.
pub type GraphFields<'a, 'p> = Fields<'a, 'p, { GRAPH_KEYS.len() }>;
/// The fields of a pass.
pub type PassFields<'a, 'p> = Fields<'a, 'p, { PASS_KEYS.len() }>;
