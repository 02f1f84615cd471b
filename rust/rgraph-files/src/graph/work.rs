//! The objects that say what passes of graph files do, for the schema and for the readers in `rgraph_work::file`.

use super::keys::CLEAR as CLEAR_VALUE;
use crate::json::table::{Key, Kind, Object, RANGE32, RANGE64, U32, U64};
use crate::json::table::{joined, list, may, must, spellings, tuple, words};
use rgraph_ir::access::{Aspects, Load, ResolveMode};
use rgraph_ir::format::Format;

const FILTERS: Kind = Kind::Words(&["linear", "nearest"]);
const COMPARES: Kind =
    Kind::Words(&["never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always"]);
const ADDRESSES: Kind = Kind::Words(&["clamp", "repeat", "mirror", "border"]);
const INDICES: Kind = Kind::Words(&["uint32", "uint16"]);
const FACTORS: Kind = Kind::Words(&[
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
]);
const BLEND_OPS: Kind = Kind::Words(&["add", "subtract", "reverse_subtract", "min", "max"]);
const BLENDS: Kind = Kind::Words(&["premultiplied", "alpha", "add", "multiply"]);
const STENCIL_OPS: Kind = Kind::Words(&["keep", "zero", "replace", "increment", "decrement", "invert"]);
const ASPECTS: Kind = list(&Kind::WordsOf(words::<Aspects>));
const LOAD: Kind = Kind::WordsOf(spellings::<Load>);

/// Formats of vertex attributes, of which a reader takes the texel format of the same layout too, and all formats.
const VERTEX_FORMATS: Kind = Kind::WordsOf(vertex_formats);

fn vertex_formats() -> Vec<String> {
    const OWN: [&str; 41] = [
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
    words::<Format>().into_iter().chain(OWN.map(str::to_owned)).collect()
}

/// Text, or its lines.
const LINES: Kind = Kind::Either(&[Kind::Line, list(&Kind::Line)]);
/// A shader: a name, or its source.
pub(super) const SHADER: Kind = Kind::Either(&[Kind::Line, Kind::Object(&SOURCE)]);
const SHADERS: Kind = list(&SHADER);

/// The source of a shader: it has one of these.
pub static SOURCE: Object<[Key; 4]> =
    Object::new("a shader", [may("file", Kind::Name), may("wgsl", LINES), may("glsl", LINES), may("spirv", LINES)]);

pub static SAMPLER: Object<[Key; 9]> = Object::new(
    "a sampler",
    [
        may("filter", FILTERS),
        may("mag", FILTERS),
        may("min", FILTERS),
        may("mip", FILTERS),
        may("address", Kind::Either(&[ADDRESSES, Kind::List(&ADDRESSES, 2, Some(3))])),
        may("anisotropy", Kind::AtLeast(1)),
        may("compare", COMPARES),
        may("lod", tuple(&Kind::Number, 2)),
        may("border", Kind::Words(&["transparent", "black", "white"])),
    ],
);

/// A mip or a layer: one more is the end of its range.
const ONE: Kind = Kind::Whole(0, u32::MAX as u64 - 1);
/// A resource, or part of one.
const PART_KIND: Kind = Kind::Either(&[Kind::Name, Kind::Object(&PART)]);

/// A resource, and which of its mips, layers and aspects.
const SUBRESOURCES: [Key; 6] = [
    must("resource", Kind::Name),
    may("mip", ONE),
    may("mips", RANGE32),
    may("layer", ONE),
    may("layers", RANGE32),
    may("aspects", ASPECTS),
];

/// Part of a resource.
pub static PART: Object<[Key; 11]> = Object::new(
    "part of a resource",
    joined(&[
        &SUBRESOURCES,
        &[
            may("range", RANGE64),
            may("offset", tuple(&U32, 3)),
            may("size", tuple(&U32, 3)),
            may("sampler", Kind::Either(&[Kind::Line, Kind::Object(&SAMPLER)])),
            may("format", Kind::WordsOf(spellings::<Format>)),
        ],
    ]),
);

// What is bound to variables, and push data, are data of any shape too.
const ENTRY: Key = may("entry", Kind::Line);
const CONSTANTS: Key = may("constants", Kind::Map(&Kind::Either(&[Kind::Number, Kind::Boolean])));
const BINDINGS: Key = may("bindings", Kind::Map(&Kind::Any));
const PUSH: Key = may("push", Kind::Any);

/// Numbers along up to three axes.
const AXES: Kind = Kind::List(&U32, 1, Some(3));

/// A dispatch.
pub static COMPUTE: Object<[Key; 7]> = Object::new(
    "a dispatch",
    [
        must("shader", SHADER),
        ENTRY,
        CONSTANTS,
        may("groups", Kind::Either(&[U32, AXES, PART_KIND, Kind::Object(&COVER)])),
        BINDINGS,
        PUSH,
        may("key", U64),
    ],
);

/// As many as cover a resource.
pub static COVER: Object<[Key; 2]> = Object::new("what is covered", [must("cover", Kind::Name), may("mip", U32)]);

const SIDES: [Key; 2] = [must("from", PART_KIND), must("to", PART_KIND)];

pub static COPY: Object<[Key; 2]> = Object::new("a copy", SIDES);

pub static RESOLVE: Object<[Key; 2]> = Object::new("a resolve", SIDES);

pub static BLIT: Object<[Key; 3]> = Object::new("a blit", [SIDES[0], SIDES[1], may("filter", FILTERS)]);

pub static CLEAR: Object<[Key; 2]> = Object::new("a clear", [must("image", PART_KIND), must("value", CLEAR_VALUE)]);

pub static FILL: Object<[Key; 2]> =
    Object::new("a fill", [must("buffer", PART_KIND), may("word", Kind::Whole(i32::MIN as i64, u32::MAX as u64))]);

const TARGET: [Key; 11] = joined(&[
    &SUBRESOURCES,
    &[
        may("load", LOAD),
        may("stencil_load", LOAD),
        may("clear", CLEAR_VALUE),
        may("resolve", PART_KIND),
        may("resolve_mode", Kind::WordsOf(words::<ResolveMode>)),
    ],
]);

/// A colour target.
pub static COLOR_TARGET: Object<[Key; 11]> = Object::new("a colour target", TARGET);

pub static DEPTH_TARGET: Object<[Key; 11]> = Object::new("a depth target", TARGET);

const COLOR: Kind = Kind::Either(&[Kind::Name, Kind::Object(&COLOR_TARGET)]);
const EQUATION: Kind = Kind::Row(&[FACTORS, FACTORS, BLEND_OPS]);
const BLENDING: Kind = Kind::Either(&[BLENDS, Kind::Object(&BLEND)]);

/// Blending.
pub static BLEND: Object<[Key; 2]> = Object::new("blending", [must("color", EQUATION), may("alpha", EQUATION)]);

/// A stencil test.
pub static STENCIL: Object<[Key; 7]> = Object::new(
    "a stencil test",
    [
        may("compare", COMPARES),
        may("fail", STENCIL_OPS),
        may("depth_fail", STENCIL_OPS),
        may("pass", STENCIL_OPS),
        may("reference", U32),
        may("read_mask", U32),
        may("write_mask", U32),
    ],
);

/// Channels that are written.
const CHANNELS: Kind = Kind::Like("^[rgba]*$");
const VERTEX_BUFFER: Kind = Kind::Either(&[Kind::Name, Kind::Object(&VERTICES)]);

/// A vertex buffer.
pub static VERTICES: Object<[Key; 5]> = Object::new(
    "a vertex buffer",
    [
        must("buffer", PART_KIND),
        may("attributes", list(&Kind::Either(&[Kind::Line, Kind::Row(&[Kind::Line, VERTEX_FORMATS, U32])]))),
        may("stride", U32),
        may("offset", U64),
        may("per_instance", Kind::Boolean),
    ],
);

/// A draw.
pub static RASTER: Object<[Key; 34]> = Object::new(
    "a draw",
    [
        must("shader", Kind::Either(&[SHADER, Kind::List(&SHADER, 2, Some(5))])),
        ENTRY,
        CONSTANTS,
        may("color", Kind::Either(&[COLOR, list(&Kind::Either(&[COLOR, Kind::Null]))])),
        may("depth", Kind::Either(&[Kind::Name, Kind::Object(&DEPTH_TARGET)])),
        BINDINGS,
        PUSH,
        may("vertices", U32),
        may("instances", U32),
        may("first_vertex", U32),
        may("first_instance", U32),
        may("vertex_offset", Kind::Whole(i32::MIN as i64, i32::MAX as u64)),
        may("vertex_buffers", Kind::Either(&[VERTEX_BUFFER, list(&VERTEX_BUFFER)])),
        may("index", PART_KIND),
        may("index_format", INDICES),
        may("indirect", PART_KIND),
        may("draws", U32),
        may("stride", U32),
        may("groups", Kind::Either(&[U32, AXES])),
        may("key", U64),
        may("viewport", tuple(&Kind::Number, 4)),
        may("topology", Kind::Words(&["points", "lines", "line_strip", "triangles", "triangle_strip"])),
        may("patch_vertices", Kind::Whole(1, 32)),
        may("cull", Kind::Words(&["none", "front", "back"])),
        may("front", Kind::Words(&["ccw", "cw"])),
        may("wireframe", Kind::Boolean),
        may("depth_test", COMPARES),
        may("depth_write", Kind::Boolean),
        may("depth_bias", tuple(&Kind::Number, 2)),
        may("stencil", Kind::Either(&[Kind::Object(&STENCIL), tuple(&Kind::Object(&STENCIL), 2)])),
        // One for all targets, or one for each.
        may("blend", Kind::Either(&[BLENDING, list(&Kind::Either(&[BLENDING, Kind::Null]))])),
        may("write_mask", Kind::Either(&[CHANNELS, list(&Kind::Either(&[CHANNELS, Kind::Null]))])),
        may("alpha_to_coverage", Kind::Boolean),
        may("resolve_mode", Kind::WordsOf(words::<ResolveMode>)),
    ],
);

/// A build of an acceleration structure, of one of three kinds of geometry.
pub static BUILD: Object<[Key; 8]> = Object::new(
    "a build",
    [
        must("structure", Kind::Name),
        must("scratch", Kind::Name),
        may("triangles", Kind::Object(&TRIANGLES)),
        may("boxes", Kind::Object(&BOXES)),
        may("instances", Kind::Object(&BUILD_INSTANCES)),
        may("opaque", Kind::Boolean),
        may("refit", Kind::Boolean),
        may("updatable", Kind::Boolean),
    ],
);

/// Triangles of a build.
pub static TRIANGLES: Object<[Key; 6]> = Object::new(
    "triangles of a build",
    [
        must("buffer", PART_KIND),
        may("stride", U32),
        must("vertices", U32),
        may("index", PART_KIND),
        may("index_format", INDICES),
        must("triangles", U32),
    ],
);

/// Boxes of a build.
pub static BOXES: Object<[Key; 3]> =
    Object::new("boxes of a build", [must("buffer", PART_KIND), may("stride", U32), must("boxes", U32)]);

pub static BUILD_INSTANCES: Object<[Key; 3]> = Object::new(
    "instances of a build",
    [must("buffer", PART_KIND), must("instances", U32), must("structures", list(&Kind::Name))],
);

/// Records of instances.
pub static INSTANCES: Object<[Key; 3]> = Object::new(
    "records of instances",
    [must("to", PART_KIND), must("all", list(&Kind::Object(&INSTANCE))), may("transforms", PART_KIND)],
);

pub static INSTANCE: Object<[Key; 5]> = Object::new(
    "an instance",
    [
        must("structure", Kind::Name),
        may("transform", tuple(&Kind::Number, 12)),
        may("index", Kind::Whole(0, 0xff_ffff)),
        may("mask", Kind::Whole(0, 0xff)),
        may("hit", Kind::Whole(0, 0xff_ffff)),
    ],
);

/// A trace of rays.
pub static TRACE: Object<[Key; 11]> = Object::new(
    "a trace",
    [
        must("raygen", SHADER),
        may("miss", SHADERS),
        may("hit", list(&Kind::Object(&HIT))),
        may("callable", SHADERS),
        may("records", list(&Kind::Line)),
        ENTRY,
        CONSTANTS,
        BINDINGS,
        PUSH,
        may("size", Kind::Either(&[U32, AXES, Kind::Object(&COVER)])),
        may("depth", U32),
    ],
);

/// A hit group.
pub static HIT: Object<[Key; 3]> =
    Object::new("a hit group", [may("closest", SHADER), may("any", SHADER), may("intersection", SHADER)]);

/// A step of a pass: it has one of these.
pub static STEP: Object<[Key; 10]> = Object::new("a step", WORK);

/// What a pass does, or one step of it.
pub(super) const WORK: [Key; 10] = [
    may("compute", Kind::Object(&COMPUTE)),
    may("raster", Kind::Object(&RASTER)),
    may("copy", Kind::Object(&COPY)),
    may("blit", Kind::Object(&BLIT)),
    may("clear", Kind::Object(&CLEAR)),
    may("fill", Kind::Object(&FILL)),
    may("resolve", Kind::Object(&RESOLVE)),
    may("build", Kind::Object(&BUILD)),
    may("instances", Kind::Object(&INSTANCES)),
    may("trace", Kind::Object(&TRACE)),
];
