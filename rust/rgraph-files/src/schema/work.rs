//! The schema of what passes of graph files do. Its readers are those of `rgraph_vk::file`: a test there looks for each
//! of their keys and words in it, and `tests/test_graph_files_page.py` gives them each of its own.

use serde_json::{Value, json};

use super::graph::clear as clear_value;
use super::rays;
use super::*;
use rgraph_ir::access::{Aspects, Load, ResolveMode};
use rgraph_ir::format::Format;

const FILTERS: [&str; 2] = ["linear", "nearest"];
const COMPARES: [&str; 8] = ["never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always"];
const ADDRESSES: [&str; 4] = ["clamp", "repeat", "mirror", "border"];
const FACTORS: [&str; 10] = [
    "zero",
    "one",
    "source_color",
    "one_minus_source_color",
    "destination_color",
    "one_minus_destination_color",
    "source_alpha",
    "one_minus_source_alpha",
    "destination_alpha",
    "one_minus_destination_alpha",
];

/// Formats of vertex attributes: a reader takes the texel format of the same layout too.
const VERTEX_FORMATS: [&str; 41] = [
    "uint8",
    "uint8x2",
    "uint8x4",
    "sint8",
    "sint8x2",
    "sint8x4",
    "unorm8",
    "unorm8x2",
    "unorm8x4",
    "snorm8",
    "snorm8x2",
    "snorm8x4",
    "uint16",
    "uint16x2",
    "uint16x4",
    "sint16",
    "sint16x2",
    "sint16x4",
    "unorm16",
    "unorm16x2",
    "unorm16x4",
    "snorm16",
    "snorm16x2",
    "snorm16x4",
    "float16",
    "float16x2",
    "float16x4",
    "float32",
    "float32x2",
    "float32x3",
    "float32x4",
    "uint32",
    "uint32x2",
    "uint32x3",
    "uint32x4",
    "sint32",
    "sint32x2",
    "sint32x3",
    "sint32x4",
    "unorm10-10-10-2",
    "unorm8x4-bgra",
];

pub(super) fn line() -> Value {
    json!({"type": "string"})
}

/// A shader: a file, text or lines, SPIR-V in base 64.
pub(super) fn source() -> Value {
    let lines = || any_of([line(), list(line())]);
    let own = object(&[], [("file", name()), ("wgsl", lines()), ("glsl", lines()), ("spirv", lines())]);
    any_of([line(), own])
}

pub(super) fn sampler() -> Value {
    let filter = || words_of(&FILTERS);
    let address = || words_of(&ADDRESSES);
    let each = json!({"type": "array", "items": address(), "minItems": 2, "maxItems": 3});
    object(
        &[],
        [
            ("filter", filter()),
            ("mag", filter()),
            ("min", filter()),
            ("mip", filter()),
            ("address", any_of([address(), each])),
            ("anisotropy", json!({"type": "number", "minimum": 1})),
            ("compare", words_of(&COMPARES)),
            ("lod", tuple(number(), 2)),
            ("border", words_of(&["transparent", "black", "white"])),
        ],
    )
}

/// The name of a resource, or part of one.
pub(super) fn part() -> Value {
    let own = object(
        &["resource"],
        [
            ("resource", name()),
            ("mip", u32()),
            ("mips", range32()),
            ("layer", u32()),
            ("layers", range32()),
            ("aspects", list(word::<Aspects>(&[]))),
            ("range", range64()),
            ("offset", tuple(u32(), 3)),
            ("size", tuple(u32(), 3)),
            ("sampler", any_of([line(), sampler()])),
            ("format", word::<Format>(&[])),
        ],
    );
    any_of([name(), own])
}

/// What is bound to a variable, which is data of any shape too.
pub(super) fn bound() -> Value {
    json!({})
}

/// Values of constants by name.
pub(super) fn constants() -> Value {
    json!({"type": "object", "additionalProperties": {"type": ["number", "boolean"]}})
}

/// Numbers along up to three axes, or as many as cover a resource.
fn counted() -> [Value; 3] {
    let cover = object(&["cover"], [("cover", name()), ("mip", u32())]);
    let list = json!({"type": "array", "items": u32(), "minItems": 1, "maxItems": 3});
    [u32(), list, cover]
}

fn groups() -> Value {
    let [number, list, cover] = counted();
    any_of([number, list, part(), cover])
}

pub(super) fn rays() -> Value {
    any_of(counted())
}

pub(super) fn compute() -> Value {
    object(
        &["shader"],
        [
            ("shader", source()),
            ("entry", line()),
            ("constants", constants()),
            ("groups", groups()),
            ("bindings", json!({"type": "object", "additionalProperties": bound()})),
            ("push", json!({})),
            ("key", u64()),
        ],
    )
}

pub(super) fn copy() -> Value {
    object(&["from", "to"], [("from", part()), ("to", part())])
}

pub(super) fn blit() -> Value {
    object(&["from", "to"], [("from", part()), ("to", part()), ("filter", words_of(&FILTERS))])
}

pub(super) fn clear() -> Value {
    object(&["image", "value"], [("image", part()), ("value", clear_value())])
}

pub(super) fn fill() -> Value {
    let word = json!({"type": "integer", "minimum": i32::MIN, "maximum": u32::MAX});
    object(&["buffer"], [("buffer", part()), ("word", word)])
}

fn target() -> Value {
    let own = object(
        &["resource"],
        [
            ("resource", name()),
            ("mip", u32()),
            ("mips", range32()),
            ("layer", u32()),
            ("layers", range32()),
            ("aspects", list(word::<Aspects>(&[]))),
            ("load", word::<Load>(&["dont_care"])),
            ("stencil_load", word::<Load>(&["dont_care"])),
            ("clear", clear_value()),
            ("resolve", part()),
            ("resolve_mode", word::<ResolveMode>(&[])),
        ],
    );
    any_of([name(), own])
}

fn blend() -> Value {
    let factor = || words_of(&FACTORS);
    let op = words_of(&["add", "subtract", "reverse_subtract", "min", "max"]);
    let equation = json!({"type": "array", "prefixItems": [factor(), factor(), op], "minItems": 3, "maxItems": 3});
    let own = object(&["color"], [("color", equation.clone()), ("alpha", equation)]);
    any_of([words_of(&["premultiplied", "alpha", "add", "multiply"]), own])
}

fn stencil() -> Value {
    let op = || words_of(&["keep", "zero", "replace", "increment", "decrement", "invert"]);
    let face = object(
        &[],
        [
            ("compare", words_of(&COMPARES)),
            ("fail", op()),
            ("depth_fail", op()),
            ("pass", op()),
            ("reference", u32()),
            ("read_mask", u32()),
            ("write_mask", u32()),
        ],
    );
    any_of([face.clone(), tuple(face, 2)])
}

/// One value for all targets, or a list of one for each.
fn each(value: Value) -> Value {
    any_of([value.clone(), list(nullable(value))])
}

fn vertices() -> Value {
    let format = word::<Format>(&VERTEX_FORMATS);
    let stored = json!({"type": "array", "prefixItems": [line(), format, u32()], "minItems": 3, "maxItems": 3});
    let own = object(
        &["buffer"],
        [
            ("buffer", part()),
            ("attributes", list(any_of([line(), stored]))),
            ("stride", u32()),
            ("offset", u64()),
            ("per_instance", boolean()),
        ],
    );
    any_of([name(), own])
}

pub(super) fn raster() -> Value {
    let several = any_of([vertices(), list(vertices())]);
    object(
        &["shader"],
        [
            ("shader", any_of([source(), json!({"type": "array", "items": source(), "minItems": 1, "maxItems": 5})])),
            ("entry", line()),
            ("constants", constants()),
            ("color", any_of([target(), list(nullable(target()))])),
            ("depth", target()),
            ("bindings", json!({"type": "object", "additionalProperties": bound()})),
            ("push", json!({})),
            ("vertices", u32()),
            ("instances", u32()),
            ("first_vertex", u32()),
            ("first_instance", u32()),
            ("vertex_offset", json!({"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX})),
            ("vertex_buffers", several),
            ("index", part()),
            ("index_format", words_of(&["uint32", "uint16"])),
            ("indirect", part()),
            ("draws", u32()),
            ("stride", u32()),
            ("groups", any_of([u32(), json!({"type": "array", "items": u32(), "minItems": 1, "maxItems": 3})])),
            ("key", u64()),
            ("viewport", tuple(number(), 4)),
            ("topology", words_of(&["points", "lines", "line_strip", "triangles", "triangle_strip"])),
            ("patch_vertices", json!({"type": "integer", "minimum": 1, "maximum": 32})),
            ("cull", words_of(&["none", "front", "back"])),
            ("front", words_of(&["ccw", "cw"])),
            ("wireframe", boolean()),
            ("depth_test", words_of(&COMPARES)),
            ("depth_write", boolean()),
            ("depth_bias", tuple(number(), 2)),
            ("stencil", stencil()),
            ("blend", each(blend())),
            ("write_mask", each(json!({"type": "string", "pattern": "^[rgba]*$"}))),
            ("alpha_to_coverage", boolean()),
            ("resolve_mode", word::<ResolveMode>(&[])),
        ],
    )
}

/// One thing of several that a pass does in a row.
pub(super) fn step() -> Value {
    let one = |key: &'static str, value: Value| object(&[key], [(key, value)]);
    any_of([
        one("compute", compute()),
        one("raster", raster()),
        one("copy", copy()),
        one("blit", blit()),
        one("clear", clear()),
        one("fill", fill()),
        one("resolve", copy()),
        one("build", rays::build()),
        one("instances", rays::instances()),
        one("trace", rays::trace()),
    ])
}
