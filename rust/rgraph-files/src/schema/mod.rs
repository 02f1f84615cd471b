//! JSON Schemas (draft 2020-12) of the four files, as strict as their readers where a schema can be: unknown keys are
//! refused and words are listed. What a schema cannot say (names that must be declared, ids that must exist, ranges
//! that must not be empty) is the reader's to check.

mod devices;
mod graph;
mod plan;
mod profile;
mod rays;
mod work;

use serde_json::{Value, json};

use crate::json::Word;

/// Kinds of file that have a schema.
pub const KINDS: [&str; 4] = ["graph", "profile", "plan", "devices"];

/// The schema of `graph`, `profile`, `plan` or `devices` files as JSON text that ends in a line break; `None` for other
/// kinds.
pub fn schema(kind: &str) -> Option<String> {
    let mut schema = match kind {
        "graph" => graph::schema(),
        "profile" => profile::schema(),
        "plan" => plan::schema(),
        "devices" => devices::schema(),
        _ => return None,
    };
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(format!("rgraph {kind} file, version 1"));
    Some(serde_json::to_string_pretty(&schema).expect("a value serializes") + "\n")
}

/// An object with these keys and no other; those in `required` must be there.
fn object<const N: usize>(required: &[&str], properties: [(&str, Value); N]) -> Value {
    let properties: serde_json::Map<String, Value> =
        properties.into_iter().map(|(key, schema)| (key.to_owned(), schema)).collect();
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

/// A list of exactly `count` of the same.
fn tuple(items: Value, count: usize) -> Value {
    json!({"type": "array", "items": items, "minItems": count, "maxItems": count})
}

fn nullable(schema: Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

fn any_of<const N: usize>(schemas: [Value; N]) -> Value {
    json!({"anyOf": schemas.to_vec()})
}

fn boolean() -> Value {
    json!({"type": "boolean"})
}

fn text() -> Value {
    json!({"type": "string", "maxLength": rgraph_ir::graph::MAX_NAME})
}

fn name() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": rgraph_ir::graph::MAX_NAME})
}

fn number() -> Value {
    json!({"type": "number"})
}

fn at_least(least: u64) -> Value {
    json!({"type": "number", "minimum": least})
}

fn integer(most: u64) -> Value {
    json!({"type": "integer", "minimum": 0, "maximum": most})
}

fn positive(most: u64) -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": most})
}

fn u32() -> Value {
    integer(u32::MAX.into())
}

fn u64() -> Value {
    integer(u64::MAX)
}

fn range32() -> Value {
    tuple(u32(), 2)
}

fn range64() -> Value {
    tuple(u64(), 2)
}

fn words_of(words: &[&str]) -> Value {
    json!({"enum": words})
}

/// The words of a type, as files spell them; other spellings that a reader takes are added by `also`.
fn word<W: Word>(also: &[&str]) -> Value {
    let mut words = W::words();
    words.extend(also);
    json!({"enum": words})
}

/// Properties of an object schema, compared with a reader's keys.
#[cfg(test)]
fn keys(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().expect("an object schema").keys().map(String::as_str).collect()
}

/// Fails unless an object schema has exactly the keys that its reader knows.
#[cfg(test)]
fn assert_keys(schema: &Value, known: &[&str]) {
    let mut known = known.to_vec();
    known.sort_unstable();
    assert_eq!(keys(schema), known);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_schema_and_nothing_else_has() {
        for kind in KINDS {
            let schema: Value = serde_json::from_str(&schema(kind).unwrap()).unwrap();
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["additionalProperties"], false);
        }
        assert_eq!(schema("graphs"), None);
    }
}
