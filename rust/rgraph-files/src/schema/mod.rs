//! JSON Schemas (draft 2020-12) of the four files, made from the tables of their readers: unknown keys are refused and
//! words are listed. What a schema cannot say (names that must be declared, ids that must exist, ranges that must not
//! be empty) is the reader's to check.

mod option;

use std::collections::BTreeMap;
use std::ptr;

use serde_json::{Map, Value, json};

use crate::json::table::{Key, Kind, Object};
use rgraph_ir::graph::MAX_NAME;

/// Kinds of file that have a schema.
pub const KINDS: [&str; 4] = ["graph", "profile", "plan", "devices"];

/// The schema of `graph`, `profile`, `plan` or `devices` files as JSON text that ends in a line break; `None` for other
/// kinds.
pub fn schema(kind: &str) -> Option<String> {
    let table: &Object = match kind {
        "graph" => &crate::graph::GRAPH,
        "profile" => &crate::profile::PROFILE,
        "plan" => &crate::plan::PLAN,
        "devices" => &crate::devices::DEVICES,
        _ => return None,
    };
    let mut shared = Definitions::default();
    let mut schema = object(table, &mut shared);
    if !shared.by_name.is_empty() {
        schema["$defs"] = shared.by_name.into_iter().collect();
    }
    if kind == "graph" {
        option::allow(&mut schema);
    }
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(format!("rgraph {kind} file, version 1"));
    Some(serde_json::to_string_pretty(&schema).expect("a value serializes") + "\n")
}

/// What a schema has once, under `$defs`: objects, and kinds that contain themselves.
#[derive(Default)]
struct Definitions {
    by_name: BTreeMap<String, Value>,
    /// Of each its address, which only it has, and its name.
    names: Vec<(*const (), String)>,
}

impl Definitions {
    /// A reference to what is at an address, which is defined at its first use.
    fn once(&mut self, at: *const (), what: &str, define: impl FnOnce(&mut Self) -> Value) -> Value {
        let known = self.names.iter().find(|(known, _)| *known == at).map(|(_, name)| name.clone());
        let name = known.unwrap_or_else(|| {
            let name = self.free_name(what);
            self.names.push((at, name.clone()));
            // What it contains may refer to it.
            self.by_name.insert(name.clone(), Value::Null);
            let schema = define(self);
            self.by_name.insert(name.clone(), schema);
            name
        });
        json!({"$ref": format!("#/$defs/{name}")})
    }

    /// What something is, without the article, and with a number where something else has that name.
    fn free_name(&self, what: &str) -> String {
        let bare = ["a ", "an ", "the "].iter().find_map(|article| what.strip_prefix(article)).unwrap_or(what);
        let plain: String = bare.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        names.find(|name| !self.by_name.contains_key(name)).expect("there is no end of numbers")
    }
}

/// An object with the keys of its table and no other.
fn object(table: &Object, shared: &mut Definitions) -> Value {
    let mut properties = Map::new();
    for key in &table.keys {
        let mut value = value(key.kind, shared);
        if key.nullable {
            value = json!({"anyOf": [value, {"type": "null"}]});
        }
        properties.insert(key.name.to_owned(), value);
    }
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let required: Vec<&str> = table.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if let Some(rule) = table.rule {
        rule(&mut schema);
    }
    schema
}

fn one_key_of(keys: &[Key], shared: &mut Definitions) -> Vec<Value> {
    let alone = |key: &Key| object(&Object::new("", [Key { required: true, ..*key }]), shared);
    keys.iter().map(alone).collect()
}

fn value(kind: Kind, shared: &mut Definitions) -> Value {
    match kind {
        Kind::Any => json!({}),
        Kind::Null => json!({"type": "null"}),
        Kind::Boolean => json!({"type": "boolean"}),
        Kind::Number => json!({"type": "number"}),
        Kind::AtLeast(least) => json!({"type": "number", "minimum": least}),
        Kind::Whole(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Integers([one]) => json!({"const": one}),
        Kind::Integers(all) => json!({"enum": all}),
        Kind::Line => json!({"type": "string"}),
        Kind::Title => json!({"type": "string", "maxLength": MAX_NAME}),
        Kind::Name => json!({"type": "string", "minLength": 1, "maxLength": MAX_NAME}),
        Kind::Like(pattern) => json!({"type": "string", "pattern": pattern}),
        Kind::Hexadecimal(most) => json!({"type": "string", "pattern": format!("^[0-9a-fA-F]{{1,{most}}}$")}),
        Kind::Words(words) => json!({"enum": words}),
        Kind::WordsOf(words) => json!({"enum": words()}),
        Kind::Only(word) => json!({"const": word}),
        Kind::List(items, least, most) => {
            let mut list = json!({"type": "array", "items": value(*items, shared)});
            if least > 0 {
                list["minItems"] = json!(least);
            }
            if let Some(most) = most {
                list["maxItems"] = json!(most);
            }
            list
        }
        Kind::Row(items) => {
            let row: Vec<Value> = items.iter().map(|item| value(*item, shared)).collect();
            json!({"type": "array", "prefixItems": row, "minItems": items.len(), "maxItems": items.len()})
        }
        Kind::Named(values) => {
            let names = json!({"minLength": 1, "maxLength": MAX_NAME});
            json!({"type": "object", "propertyNames": names, "additionalProperties": value(*values, shared)})
        }
        Kind::Map(values) => json!({"type": "object", "additionalProperties": value(*values, shared)}),
        Kind::Object(table) => shared.once(ptr::from_ref(table).cast(), table.what, |all| object(table, all)),
        Kind::OneKeyOf(keys) => json!({"anyOf": one_key_of(keys, shared)}),
        Kind::Either(kinds) => {
            let mut choices = Vec::new();
            for kind in kinds {
                match kind {
                    Kind::OneKeyOf(keys) => choices.extend(one_key_of(keys, shared)),
                    kind => choices.push(value(*kind, shared)),
                }
            }
            json!({"anyOf": choices})
        }
        Kind::Shared(one) => shared.once(ptr::from_ref(one).cast(), one.name, |all| value(one.kind, all)),
    }
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
