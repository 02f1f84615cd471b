//! The schema of what passes of graph files do with rays; see `rgraph_vk::file::rays`.

use serde_json::{Value, json};

use super::work::{bound, constants, line, part, rays, source};
use super::*;

fn triangles() -> Value {
    object(
        &["buffer", "vertices", "triangles"],
        [
            ("buffer", part()),
            ("stride", u32()),
            ("vertices", u32()),
            ("index", part()),
            ("index_format", words_of(&["uint32", "uint16"])),
            ("triangles", u32()),
        ],
    )
}

pub(super) fn build() -> Value {
    let boxes = object(&["buffer", "boxes"], [("buffer", part()), ("stride", u32()), ("boxes", u32())]);
    let instances = object(
        &["buffer", "instances", "structures"],
        [("buffer", part()), ("instances", u32()), ("structures", list(name()))],
    );
    object(
        &["structure", "scratch"],
        [
            ("structure", name()),
            ("scratch", name()),
            ("triangles", triangles()),
            ("boxes", boxes),
            ("instances", instances),
            ("opaque", boolean()),
            ("refit", boolean()),
            ("updatable", boolean()),
        ],
    )
}

pub(super) fn instances() -> Value {
    let most = |most: u32| json!({"type": "integer", "minimum": 0, "maximum": most});
    let instance = object(
        &["structure"],
        [
            ("structure", name()),
            ("transform", tuple(number(), 12)),
            ("index", most(0xff_ffff)),
            ("mask", most(0xff)),
            ("hit", most(0xff_ffff)),
        ],
    );
    object(&["to", "all"], [("to", part()), ("all", list(instance)), ("transforms", part())])
}

pub(super) fn trace() -> Value {
    let hit = object(&[], [("closest", source()), ("any", source()), ("intersection", source())]);
    object(
        &["raygen"],
        [
            ("raygen", source()),
            ("miss", list(source())),
            ("hit", list(hit)),
            ("callable", list(source())),
            ("records", list(line())),
            ("entry", line()),
            ("constants", constants()),
            ("bindings", json!({"type": "object", "additionalProperties": bound()})),
            ("push", json!({})),
            ("size", rays()),
            ("depth", u32()),
        ],
    )
}
