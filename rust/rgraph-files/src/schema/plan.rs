//! The schema of plan files.

use serde_json::{Value, json};

use super::graph::clear;
use super::*;
use rgraph_ir::access::{Accesses, Aspects, Layout, Load, MemoryDomain, Sharing, Stages, Store, Usage};
use rgraph_ir::budget::MemoryBudget;
use rgraph_ir::feature::Features;
use rgraph_ir::format::Format;
use rgraph_ir::plan::{Hazard, PlanLife, QueueWhy};
use rgraph_ir::profile::Capabilities;
use rgraph_ir::words::{CULLED_WORDS, FOREIGN_WORDS, POLICIES, SET_WORDS, UNMERGED_WORDS};

pub(super) fn schema() -> Value {
    object(
        &["rplan", "device_profile", "passes", "resources", "batches"],
        [
            ("rplan", json!({"const": 1})),
            ("graph", text()),
            ("graph_hash", hash(32)),
            ("device_profile", profile()),
            ("passes", list(pass())),
            ("resources", list(resource())),
            ("batches", list(batch())),
            ("memory", memory()),
            ("edges", list(edge())),
            ("foreign", list(foreign())),
            ("subgraphs", list(subgraph())),
            ("unmerged", list(unmerged())),
            ("sets", list(object(&["on", "passes"], [("on", words_of(&SET_WORDS)), ("passes", list(id()))]))),
            ("packets", list(list(id()))),
            ("copies", list(object(&["pass", "from", "to"], [("pass", id()), ("from", id()), ("to", id())]))),
            ("flags", list(name())),
            ("fallbacks", list(fallback())),
            ("report", report()),
        ],
    )
}

/// An id: a position in another list.
fn id() -> Value {
    integer(u64::from(u32::MAX) - 1)
}

fn hash(digits: usize) -> Value {
    json!({"type": "string", "pattern": format!("^[0-9a-fA-F]{{1,{digits}}}$")})
}

fn stages() -> Value {
    list(word::<Stages>(&[]))
}

fn accesses() -> Value {
    list(word::<Accesses>(&[]))
}

fn layout() -> Value {
    word::<Layout>(&[])
}

fn profile() -> Value {
    let queue = object(
        &["name", "family"],
        [("name", name()), ("family", u32()), ("capabilities", list(word::<Capabilities>(&[])))],
    );
    let features = list(word::<Features>(&[]));
    object(&["queues"], [("name", text()), ("features", features), ("queues", list(queue))])
}

fn pass() -> Value {
    let culled_why = object(&["rule"], [("rule", words_of(&CULLED_WORDS)), ("resource", id()), ("reader", u32())]);
    let why = object(
        &[],
        [
            ("queue", word::<QueueWhy>(&[])),
            ("after", nullable(id())),
            ("start_us", nullable(number())),
            ("duration_us", nullable(number())),
        ],
    );
    object(
        &["name"],
        [
            ("id", id()),
            ("name", name()),
            ("declared", nullable(u32())),
            ("owner", nullable(u32())),
            ("queue", nullable(id())),
            ("culled", boolean()),
            ("reason", nullable(json!({"type": "string"}))),
            ("physical_pass", nullable(id())),
            ("subpass", u32()),
            ("flag", nullable(id())),
            ("culled_why", nullable(culled_why)),
            ("why", nullable(why)),
            ("accesses", nullable(list(access()))),
        ],
    )
}

fn access() -> Value {
    object(
        &["resource", "stages", "access"],
        [
            ("resource", id()),
            ("stages", stages()),
            ("access", accesses()),
            ("layout", layout()),
            ("mips", range32()),
            ("layers", range32()),
        ],
    )
}

fn resource() -> Value {
    let size = any_of([u64(), tuple(u32(), 2), tuple(u32(), 3)]);
    let mut schema = object(
        &["name", "kind", "bytes"],
        [
            ("id", id()),
            ("name", name()),
            ("kind", words_of(&["image", "buffer"])),
            ("bytes", u64()),
            ("lifetime", nullable(object(&["first", "last"], [("first", id()), ("last", id())]))),
            ("aliases", list(name())),
            ("sharing", word::<Sharing>(&[])),
            ("memory_domain", word::<MemoryDomain>(&[])),
            ("life", word::<PlanLife>(&[])),
            ("format", word::<Format>(&[])),
            ("size", size),
            ("mips", positive(32)),
            ("layers", positive(1 << 16)),
            ("samples", positive(64)),
            ("cube", boolean()),
            ("inserted", boolean()),
            ("transient_attachment", boolean()),
            ("memory", id()),
            ("ring", positive(u64::from(u32::MAX))),
            ("remembers", nullable(remembers())),
            ("usages", list(word::<Usage>(&[]))),
        ],
    );
    schema["if"] = json!({"properties": {"kind": {"const": "image"}}});
    schema["then"] = json!({"required": ["format", "size"], "properties": {"size": {"type": "array"}}});
    schema["else"] = json!({"properties": {"size": {"type": "integer"}}});
    schema
}

fn remembers() -> Value {
    object(&["of", "frames"], [("of", id()), ("frames", positive(u64::from(u32::MAX)))])
}

fn fallback() -> Value {
    object(&["pass", "output", "input"], [("pass", id()), ("output", id()), ("input", id())])
}

fn batch() -> Value {
    let wait = object(
        &["value", "stages"],
        [("queue", nullable(id())), ("value", u32()), ("stages", stages()), ("frame", json!({"enum": [-1, 0]}))],
    );
    let signal = object(&["value"], [("queue", nullable(id())), ("value", u32())]);
    object(
        &[],
        [
            ("id", id()),
            ("queue", nullable(id())),
            ("waits", list(wait)),
            ("commands", list(command())),
            ("signals", json!({"type": "array", "items": signal, "maxItems": 1})),
        ],
    )
}

fn command() -> Value {
    let op = |op: &str| ("op", json!({"const": op}));
    let [memory, buffers, images] =
        [("memory", list(memory_barrier())), ("buffers", list(buffer_barrier())), ("images", list(image_barrier()))];
    let event = |name: &str| {
        let [memory, buffers, images] = [memory.clone(), buffers.clone(), images.clone()];
        object(&["op", "event"], [op(name), ("event", id()), memory, buffers, images])
    };
    let (set_event, wait_events) = (event("set_event"), event("wait_events"));
    let barriers = object(&["op"], [op("barriers"), ("by_region", boolean()), memory, buffers, images]);
    let found = object(
        &["resource", "layout"],
        [
            ("resource", id()),
            ("mips", range32()),
            ("layers", range32()),
            ("aspects", json!({"type": "array", "items": word::<Aspects>(&[]), "minItems": 1})),
            ("layout", layout()),
        ],
    );
    any_of([
        barriers,
        object(
            &["op", "physical_pass"],
            [op("begin_rendering"), ("physical_pass", id()), ("attachments", list(attachment()))],
        ),
        object(&["op", "pass"], [op("pass"), ("pass", id()), ("layouts", list(found))]),
        object(&["op"], [op("end_rendering")]),
        set_event,
        wait_events,
    ])
}

fn why() -> Value {
    object(&[], [("hazard", word::<Hazard>(&[])), ("from", nullable(id())), ("to", nullable(id())), ("resource", id())])
}

const SCOPE: [&str; 4] = ["src_stages", "src_access", "dst_stages", "dst_access"];

fn scope() -> [(&'static str, Value); 4] {
    let [src_stages, src_access, dst_stages, dst_access] = SCOPE;
    [(src_stages, stages()), (src_access, accesses()), (dst_stages, stages()), (dst_access, accesses())]
}

fn memory_barrier() -> Value {
    let [a, b, c, d] = scope();
    object(&SCOPE, [a, b, c, d, ("why", nullable(why()))])
}

fn buffer_barrier() -> Value {
    let [a, b, c, d] = scope();
    let mut schema = object(
        &["resource"],
        [
            ("resource", id()),
            ("range", range64()),
            a,
            b,
            c,
            d,
            ("src_queue", nullable(u32())),
            ("dst_queue", nullable(u32())),
            ("why", nullable(why())),
        ],
    );
    schema["allOf"] = json!([{"required": SCOPE}]);
    schema
}

fn image_barrier() -> Value {
    let [a, b, c, d] = scope();
    let mut schema = object(
        &["resource", "old_layout", "new_layout"],
        [
            ("resource", id()),
            ("mips", range32()),
            ("layers", range32()),
            ("aspects", json!({"type": "array", "items": word::<Aspects>(&[]), "minItems": 1})),
            a,
            b,
            c,
            d,
            ("old_layout", layout()),
            ("new_layout", layout()),
            ("src_queue", nullable(u32())),
            ("dst_queue", nullable(u32())),
            ("why", nullable(why())),
        ],
    );
    schema["allOf"] = json!([{"required": SCOPE}]);
    schema
}

fn attachment() -> Value {
    let (load, store) = (|| word::<Load>(&["dont_care"]), || word::<Store>(&[]));
    object(
        &["resource", "load", "store"],
        [
            ("resource", id()),
            ("mip", u32()),
            ("layers", range32()),
            ("aspects", json!({"type": "array", "items": word::<Aspects>(&[]), "minItems": 1})),
            ("load", load()),
            ("store", store()),
            ("stencil_load", nullable(load())),
            ("stencil_store", nullable(store())),
            ("clear", nullable(clear())),
            ("resolve_to", nullable(id())),
            ("input", boolean()),
        ],
    )
}

fn memory() -> Value {
    let heap = object(&["type", "size"], [("id", id()), ("type", name()), ("size", u64())]);
    let placement = object(
        &["resource", "heap", "offset", "size"],
        [("resource", id()), ("heap", id()), ("offset", u64()), ("size", u64())],
    );
    object(
        &[],
        [
            ("heaps", list(heap)),
            ("placements", list(placement)),
            ("total", u64()),
            ("without_aliasing", u64()),
            ("lower_bound", u64()),
        ],
    )
}

fn edge() -> Value {
    let state = || {
        object(
            &["stages", "access"],
            [("queue", nullable(id())), ("stages", stages()), ("access", accesses()), ("layout", nullable(layout()))],
        )
    };
    object(
        &["resource", "entry", "exit"],
        [
            ("resource", id()),
            ("mips", nullable(range32())),
            ("layers", nullable(range32())),
            ("aspects", nullable(list(word::<Aspects>(&[])))),
            ("range", nullable(range64())),
            ("entry", state()),
            ("exit", state()),
        ],
    )
}

fn foreign() -> Value {
    object(
        &["resource", "op", "batch"],
        [("resource", id()), ("op", words_of(&FOREIGN_WORDS)), ("batch", id()), ("stages", stages())],
    )
}

fn subgraph() -> Value {
    object(&["key", "passes", "roots"], [("key", hash(16)), ("passes", list(id())), ("roots", list(id()))])
}

fn unmerged() -> Value {
    object(
        &["first", "second", "why"],
        [
            ("first", id()),
            ("second", id()),
            ("why", words_of(&UNMERGED_WORDS)),
            ("resource", id()),
            ("reason", json!({"type": "string"})),
        ],
    )
}

fn report() -> Value {
    let times = object(
        &[],
        [
            ("validate", number()),
            ("cull", number()),
            ("schedule", number()),
            ("merge", number()),
            ("alias", number()),
            ("synchronize", number()),
        ],
    );
    object(
        &[],
        [
            ("bake_us", nullable(times)),
            ("barriers", u32()),
            ("submits", u32()),
            ("frame_us", nullable(number())),
            ("one_queue_us", nullable(number())),
            ("bound_us", nullable(number())),
            ("critical_path_us", nullable(number())),
            ("load_us", nullable(number())),
            ("critical_path", nullable(list(u32()))),
            ("policy", nullable(words_of(&POLICIES))),
            ("optimal", boolean()),
            ("memory", nullable(any_of([words_of(&MemoryBudget::NAMES), u64()]))),
            ("notes", list(json!({"type": "string"}))),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::keys;

    #[test]
    fn the_schema_has_the_keys_that_the_reader_knows() {
        assert_keys(&schema(), &keys::PLAN);
        assert_keys(&pass(), &keys::PASS);
        assert_keys(&access(), &keys::ACCESS);
        assert_keys(&resource(), &keys::RESOURCE);
        assert_keys(&batch(), &keys::BATCH);
        assert_keys(&memory_barrier(), &keys::MEMORY_BARRIER);
        assert_keys(&buffer_barrier(), &keys::BUFFER_BARRIER);
        assert_keys(&image_barrier(), &keys::IMAGE_BARRIER);
        assert_keys(&attachment(), &keys::ATTACHMENT);
        assert_keys(&memory(), &keys::MEMORY);
        assert_keys(&edge(), &keys::EDGE);
        assert_keys(&foreign(), &keys::FOREIGN);
        assert_keys(&remembers(), &keys::REMEMBERS);
        assert_keys(&fallback(), &keys::FALLBACK);
        assert_keys(&report(), &keys::REPORT);
    }
}
