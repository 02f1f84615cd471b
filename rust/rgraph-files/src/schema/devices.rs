//! The schema of files of plans for several devices.

use serde_json::{Value, json};

use super::*;
use crate::devices::{MOST_ID, StepKind};

pub(super) fn schema() -> Value {
    let id = || integer(MOST_ID);
    let place = || list(object(&["resource", "device"], [("resource", id()), ("device", u32())]));
    let copy = [("resource", nullable(id())), ("from", u32()), ("to", u32()), ("bytes", u64())];
    let report = [("frame_us", number()), ("one_device_us", number()), ("notes", list(json!({"type": "string"})))];
    object(
        &["rdevices", "graph_hash", "devices", "parts", "copies", "steps"],
        [
            ("rdevices", json!({"const": 1})),
            ("graph", text()),
            ("graph_hash", json!({"type": "string", "pattern": "^[0-9A-Fa-f]{1,32}$"})),
            ("devices", list(object(&["profile"], [("profile", text())]))),
            ("parts", list(object(&["device", "passes"], [("device", u32()), ("passes", list(id()))]))),
            ("copies", list(object(&["from", "to"], copy))),
            ("steps", list(object(&["do", "of"], [("do", word::<StepKind>(&[])), ("of", id())]))),
            ("homes", place()),
            ("results", place()),
            ("report", object(&[], report)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::{COPY_KEYS, DEVICE_KEYS, KEYS, PART_KEYS, PLACE_KEYS, REPORT_KEYS, STEP_KEYS};

    #[test]
    fn the_schema_has_the_keys_that_the_reader_knows() {
        let schema = schema();
        assert_keys(&schema, &KEYS);
        let of = |key: &str| &schema["properties"][key]["items"];
        assert_keys(of("devices"), &DEVICE_KEYS);
        assert_keys(of("parts"), &PART_KEYS);
        assert_keys(of("copies"), &COPY_KEYS);
        assert_keys(of("steps"), &STEP_KEYS);
        assert_keys(of("homes"), &PLACE_KEYS);
        assert_keys(&schema["properties"]["report"], &REPORT_KEYS);
    }
}
