//! The schema of profile files.

use serde_json::{Value, json};

use super::*;
use rgraph_ir::feature::Features;
use rgraph_ir::profile::Capabilities;

pub(super) fn schema() -> Value {
    object(
        &["rprofile", "queues"],
        [
            ("rprofile", json!({"const": 1})),
            ("name", text()),
            ("queues", json!({"type": "array", "items": queue(), "minItems": 1})),
            ("buffer_image_granularity", u64()),
            ("image_alignment", u64()),
            ("buffer_alignment", u64()),
            ("memory", list(object(&["type"], [("type", name()), ("heap_size", nullable(u64()))]))),
            ("limits", limits()),
            ("cross_queue_us", at_least(0)),
            ("barrier_us", at_least(0)),
            ("submit_us", at_least(0)),
            ("pass_us", at_least(0)),
            ("copy_gb_s", at_least(0)),
            ("copy_us", at_least(0)),
            ("foreign_us", at_least(0)),
            ("foreign_transfer_us", at_least(0)),
            ("width", positive(u64::MAX)),
            ("draws_overlap_dispatches", boolean()),
            ("features", nullable(list(word::<Features>(&[])))),
        ],
    )
}

fn queue() -> Value {
    object(
        &["name", "family", "capabilities"],
        [
            ("name", name()),
            ("family", u32()),
            ("count", positive(crate::profile::MOST_QUEUES)),
            ("capabilities", list(word::<Capabilities>(&[]))),
        ],
    )
}

fn limits() -> Value {
    object(
        &[],
        [
            ("max_image_2d", u32()),
            ("max_image_3d", u32()),
            ("max_image_cube", u32()),
            ("max_image_layers", u32()),
            ("max_color_attachments", u32()),
            ("max_samples", u32()),
            ("max_buffer", u64()),
            ("max_uniform_range", u64()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{LIMIT_KEYS, PROFILE_KEYS, QUEUE_KEYS};

    #[test]
    fn the_schema_has_the_keys_that_the_reader_knows() {
        assert_keys(&schema(), &PROFILE_KEYS);
        assert_keys(&queue(), &QUEUE_KEYS);
        assert_keys(&limits(), &LIMIT_KEYS);
    }
}
