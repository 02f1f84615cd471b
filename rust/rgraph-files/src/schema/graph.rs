//! The schema of graph files.

use serde_json::{Value, json};

use super::*;
use crate::graph::Dtype;
use crate::word::DeclaredStages;
use rgraph_ir::access::{
    Accesses, Aspects, Layout, Load, MemoryDomain, PassQueue, ResolveMode, STAGE_NAMES, Sharing, Stages, Transfer,
    Usage,
};
use rgraph_ir::feature::Features;
use rgraph_ir::format::Format;

pub(super) fn schema() -> Value {
    let mut schema = object(
        &["rgraph"],
        [
            ("rgraph", json!({"const": 1})),
            ("name", text()),
            ("reference_size", tuple(u32(), 2)),
            ("options", map(any_of([boolean(), number(), json!({"type": "string"})]))),
            ("shaders", map(work::source())),
            ("samplers", map(work::sampler())),
            ("modules", map(reference("module"))),
            ("images", map(image())),
            ("buffers", map(buffer())),
            ("passes", list(reference("entry"))),
            ("roots", list(root())),
        ],
    );
    let entry = any_of([pass(), module(), extension(), extension_point(), include(), instance(), layer()]);
    let mut inline = schema.clone();
    inline["required"] = json!([]);
    schema["$defs"] = json!({"entry": entry, "condition": condition(), "module": inline});
    or_option(&mut schema);
    schema
}

/// Something under `$defs`.
fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// Numbers, texts and truths may be those of an option, anywhere in lists and objects.
fn or_option(schema: &mut Value) {
    let option = || {
        json!({"type": "object", "properties": {"option": {"type": "string"}}, "required": ["option"],
        "additionalProperties": false})
    };
    let plain = |schema: &Value| {
        let kind =
            schema["type"].as_str().is_some_and(|kind| matches!(kind, "boolean" | "number" | "integer" | "string"));
        kind || schema.get("enum").is_some()
    };
    for (key, value) in schema.as_object_mut().into_iter().flatten() {
        match key.as_str() {
            "options" | "propertyNames" | "condition" | "with" | "rgraph" => {}
            "properties" | "$defs" => {
                for (name, value) in value.as_object_mut().into_iter().flatten() {
                    if !matches!(name.as_str(), "options" | "if" | "with" | "condition" | "rgraph") {
                        replace(value, &plain, &option);
                    }
                }
            }
            "items" | "additionalProperties" => replace(value, &plain, &option),
            "anyOf" | "prefixItems" => {
                value.as_array_mut().into_iter().flatten().for_each(|one| replace(one, &plain, &option));
            }
            _ => {}
        }
    }
}

fn replace(schema: &mut Value, plain: &impl Fn(&Value) -> bool, option: &impl Fn() -> Value) {
    if plain(schema) {
        *schema = any_of([schema.take(), option()]);
    } else {
        or_option(schema);
    }
}

/// An object with any names as keys.
fn map(values: Value) -> Value {
    let names = json!({"minLength": 1, "maxLength": rgraph_ir::graph::MAX_NAME});
    json!({"type": "object", "propertyNames": names, "additionalProperties": values})
}

fn root() -> Value {
    any_of([name(), object(&["resource"], [("resource", name()), ("if", reference("condition"))])])
}

/// The name of an option that is on, or what is asked of options.
fn condition() -> Value {
    let setting = || any_of([boolean(), number(), json!({"type": "string"})]);
    let compared = object(
        &["option"],
        [("option", json!({"type": "string"})), ("is", setting()), ("at_least", number()), ("at_most", number())],
    );
    any_of([
        json!({"type": "string"}),
        boolean(),
        compared,
        object(&["not"], [("not", reference("condition"))]),
        object(&["all"], [("all", list(reference("condition")))]),
        object(&["any"], [("any", list(reference("condition")))]),
    ])
}

fn module() -> Value {
    object(
        &["module"],
        [
            ("module", name()),
            ("images", map(image())),
            ("buffers", map(buffer())),
            ("passes", list(reference("entry"))),
            ("roots", list(root())),
            ("if", reference("condition")),
        ],
    )
}

fn extension() -> Value {
    object(
        &["extend"],
        [
            ("extend", name()),
            ("key", json!({"type": "integer", "minimum": 0, "maximum": u64::MAX})),
            ("behind", list(reference("entry"))),
            ("images", map(image())),
            ("buffers", map(buffer())),
            ("passes", list(reference("entry"))),
            ("roots", list(root())),
            ("if", reference("condition")),
        ],
    )
}

fn instance() -> Value {
    let setting = any_of([boolean(), number(), json!({"type": "string"})]);
    object(
        &["use"],
        [
            ("use", name()),
            ("as", name()),
            ("with", map(setting)),
            ("resources", map(name())),
            ("if", reference("condition")),
        ],
    )
}

fn layer() -> Value {
    object(
        &["layer", "accesses"],
        [("layer", name()), ("order", u32()), ("accesses", list(access())), ("if", reference("condition"))],
    )
}

fn extension_point() -> Value {
    object(&["extension_point"], [("extension_point", name()), ("if", reference("condition"))])
}

fn include() -> Value {
    let setting = any_of([boolean(), number(), json!({"type": "string"})]);
    object(
        &["include"],
        [
            ("include", name()),
            ("as", name()),
            ("with", map(setting)),
            ("resources", map(name())),
            ("if", reference("condition")),
        ],
    )
}

/// Layouts, with the shorter spellings that a reader takes.
fn layout() -> Value {
    const SHORT: [&str; 7] = [
        "color_attachment",
        "depth_stencil_attachment",
        "depth_stencil_read_only",
        "shader_read_only",
        "transfer_src",
        "transfer_dst",
        "present_src_khr",
    ];
    word::<Layout>(&SHORT)
}

fn load() -> Value {
    word::<Load>(&["dont_care"])
}

fn format() -> Value {
    let long: Vec<String> = Format::all().map(|format| format!("VK_FORMAT_{}", format.vulkan_name())).collect();
    word::<Format>(&long.iter().map(String::as_str).collect::<Vec<_>>())
}

fn image() -> Value {
    object(
        &[],
        [
            ("format", format()),
            ("size", size()),
            ("layers", u32()),
            ("mips", any_of([u32(), json!({"const": "full"})])),
            ("samples", u32()),
            ("cube", boolean()),
            ("modifies", name()),
            ("history_of", name()),
            ("frames", u32()),
            ("first_frame", words_of(&["zeros", "zero", "undefined"])),
            ("imported", any_of([boolean(), imported()])),
            ("leave", leave()),
            ("persistent", boolean()),
            ("fresh", boolean()),
            ("sharing", word::<Sharing>(&[])),
            ("memory_domain", word::<MemoryDomain>(&[])),
            ("file", name()),
            ("if", reference("condition")),
        ],
    )
}

fn buffer() -> Value {
    let mut schema = object(
        &[],
        [
            ("size", u64()),
            ("shape", any_of([u64(), list(u64())])),
            ("dtype", word::<Dtype>(&[])),
            ("acceleration_structure", boolean()),
            ("modifies", name()),
            ("history_of", name()),
            ("frames", u32()),
            ("first_frame", words_of(&["zeros", "zero", "undefined"])),
            ("imported", any_of([boolean(), imported()])),
            ("leave", leave()),
            ("persistent", boolean()),
            ("fresh", boolean()),
            ("sharing", word::<Sharing>(&[])),
            ("memory_domain", word::<MemoryDomain>(&[])),
            ("file", name()),
            ("if", reference("condition")),
        ],
    );
    let has = |key: &str| json!({"required": [key]});
    schema["anyOf"] = json!([has("size"), has("shape"), has("modifies"), has("history_of"), has("file")]);
    schema
}

fn imported() -> Value {
    object(
        &[],
        [
            ("layout", layout()),
            ("queue", word::<PassQueue>(&[])),
            ("stages", list(word::<DeclaredStages>(&STAGE_NAMES))),
            ("access", list(word::<Accesses>(&[]))),
            ("contents", words_of(&["defined", "undefined"])),
            ("wait", boolean()),
            ("signal", boolean()),
        ],
    )
}

fn leave() -> Value {
    object(&[], [("layout", layout()), ("queue", word::<PassQueue>(&[]))])
}

fn size() -> Value {
    let round = || words_of(&["down", "up"]);
    let factors = any_of([tuple(number(), 2), tuple(number(), 3)]);
    let relative = object(&[], [("relative_to", name()), ("scale", factors), ("round", round())]);
    let axis = || {
        let relative = object(&[], [("relative_to", name()), ("scale", number()), ("round", round())]);
        any_of([u32(), relative])
    };
    let axes = object(&["x", "y"], [("x", axis()), ("y", axis()), ("z", axis()), ("round", round())]);
    any_of([tuple(u32(), 2), tuple(u32(), 3), relative, axes])
}

fn pass() -> Value {
    object(
        &["name"],
        [
            ("name", name()),
            ("queue", word::<PassQueue>(&[])),
            ("accesses", list(access())),
            ("weight_us", number()),
            ("unit", name()),
            ("device", any_of([u32(), json!({"const": "any"})])),
            ("side_effects", boolean()),
            ("unordered", boolean()),
            ("after", list(name())),
            ("conditional", name()),
            ("fallback", json!({"type": "object", "additionalProperties": name()})),
            ("setup", boolean()),
            ("needs", list(word::<Features>(&[]))),
            ("if", reference("condition")),
            ("compute", work::compute()),
            ("raster", work::raster()),
            ("copy", work::copy()),
            ("blit", work::blit()),
            ("clear", work::clear()),
            ("fill", work::fill()),
            ("resolve", work::copy()),
            ("build", rays::build()),
            ("instances", rays::instances()),
            ("trace", rays::trace()),
            ("steps", list(work::step())),
        ],
    )
}

fn access() -> Value {
    object(
        &["resource", "usage"],
        [
            ("resource", name()),
            ("usage", word::<Usage>(&[])),
            ("stages", list(word::<DeclaredStages>(&Stages::words()))),
            ("mips", range32()),
            ("layers", range32()),
            ("aspects", list(word::<Aspects>(&[]))),
            ("range", range64()),
            ("load", load()),
            ("stencil_load", load()),
            ("clear", clear()),
            ("generate_mips", boolean()),
            ("resolves", name()),
            ("resolve_mode", word::<ResolveMode>(&[])),
            ("transfer", word::<Transfer>(&[])),
            ("unordered", boolean()),
            ("if", reference("condition")),
        ],
    )
}

/// Four numbers of a colour, `[depth, stencil]`, or a depth; within a list a number may be a text that holds one.
pub(super) fn clear() -> Value {
    let written = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$";
    let component = any_of([number(), json!({"type": "string", "pattern": written})]);
    let depth_stencil = json!({"type": "array", "prefixItems": [component, u32()], "minItems": 2, "maxItems": 2});
    any_of([number(), depth_stencil, tuple(component, 4)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{ACCESS_KEYS, BUFFER_KEYS, GRAPH_KEYS, IMAGE_KEYS, IMPORTED_KEYS, PASS_KEYS};

    #[test]
    fn the_schema_has_the_keys_that_the_reader_knows() {
        let whole = schema();
        let without_definitions = json!({"properties": whole["properties"]});
        assert_keys(&without_definitions, &GRAPH_KEYS);
        assert_keys(&pass(), &PASS_KEYS);
        assert_keys(&access(), &ACCESS_KEYS);
        assert_keys(&image(), &IMAGE_KEYS);
        assert_keys(&buffer(), &BUFFER_KEYS);
        assert_keys(&imported(), &IMPORTED_KEYS);
    }

    #[test]
    fn every_spelling_of_a_layout_in_the_schema_is_read() {
        for name in layout()["enum"].as_array().unwrap() {
            assert!(Layout::from_name(name.as_str().unwrap()).is_some(), "{name}");
        }
    }
}
