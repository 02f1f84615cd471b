//! What no table says: in graph files `{"option": NAME}` stands for a number, a text or a truth.

use serde_json::{Value, json};

/// Numbers, texts and truths may be those of an option, anywhere in lists and objects.
pub(super) fn allow(schema: &mut Value) {
    for (key, value) in schema.as_object_mut().into_iter().flatten() {
        match key.as_str() {
            "properties" | "$defs" => {
                for (name, value) in value.as_object_mut().into_iter().flatten() {
                    if !matches!(name.as_str(), "options" | "if" | "with" | "condition" | "rgraph") {
                        replace(value);
                    }
                }
            }
            "items" | "additionalProperties" => replace(value),
            "anyOf" | "prefixItems" => value.as_array_mut().into_iter().flatten().for_each(replace),
            _ => {}
        }
    }
}

fn replace(schema: &mut Value) {
    let kind = schema["type"].as_str().unwrap_or("");
    if matches!(kind, "boolean" | "number" | "integer" | "string") || schema.get("enum").is_some() {
        let option = json!({"type": "object", "properties": {"option": {"type": "string"}}, "required": ["option"],
            "additionalProperties": false});
        *schema = json!({"anyOf": [schema.take(), option]});
    } else {
        allow(schema);
    }
}
