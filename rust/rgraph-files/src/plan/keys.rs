//! The keys of a plan file: those that the reader knows, with which the schema is compared.

/// Of a plan file.
pub(crate) const PLAN: [&str; 18] = [
    "rplan",
    "graph",
    "graph_hash",
    "device_profile",
    "passes",
    "resources",
    "batches",
    "memory",
    "edges",
    "foreign",
    "subgraphs",
    "unmerged",
    "sets",
    "packets",
    "copies",
    "flags",
    "fallbacks",
    "report",
];
/// Of the device profile.
pub(crate) const PROFILE: [&str; 3] = ["name", "features", "queues"];
/// Of a queue.
pub(crate) const QUEUE: [&str; 3] = ["name", "family", "capabilities"];
/// Of a pass.
pub(crate) const PASS: [&str; 13] = [
    "id",
    "name",
    "declared",
    "owner",
    "queue",
    "culled",
    "reason",
    "physical_pass",
    "subpass",
    "flag",
    "culled_why",
    "why",
    "accesses",
];
/// Of why a pass is culled.
pub(crate) const CULLED: [&str; 3] = ["rule", "resource", "reader"];
/// Of why a pass stands where it does.
pub(crate) const PASS_WHY: [&str; 4] = ["queue", "after", "start_us", "duration_us"];
/// Of an access of an inserted pass.
pub(crate) const ACCESS: [&str; 6] = ["resource", "stages", "access", "layout", "mips", "layers"];
/// Of a resource.
pub(crate) const RESOURCE: [&str; 21] = [
    "id",
    "name",
    "kind",
    "bytes",
    "lifetime",
    "aliases",
    "sharing",
    "life",
    "format",
    "size",
    "mips",
    "layers",
    "samples",
    "cube",
    "inserted",
    "transient_attachment",
    "memory_domain",
    "memory",
    "ring",
    "remembers",
    "usages",
];
/// Of a history: which memory of which ring it is.
pub(crate) const REMEMBERS: [&str; 2] = ["of", "frames"];
/// Of a fallback.
pub(crate) const FALLBACK: [&str; 3] = ["pass", "output", "input"];
/// Of a lifetime.
pub(crate) const LIFETIME: [&str; 2] = ["first", "last"];
/// Of a batch.
pub(crate) const BATCH: [&str; 5] = ["id", "queue", "waits", "commands", "signals"];
/// Of a wait.
pub(crate) const WAIT: [&str; 4] = ["queue", "value", "stages", "frame"];
/// Of a signal.
pub(crate) const SIGNAL: [&str; 2] = ["queue", "value"];
/// Of a barrier call.
pub(crate) const BARRIERS: [&str; 5] = ["op", "by_region", "memory", "buffers", "images"];
/// Of an event.
pub(crate) const EVENT: [&str; 5] = ["op", "event", "memory", "buffers", "images"];
/// Keys of the start of a render pass.
pub(crate) const BEGIN: [&str; 3] = ["op", "physical_pass", "attachments"];
/// Of a pass command.
pub(crate) const PASS_COMMAND: [&str; 3] = ["op", "pass", "layouts"];
/// Of the end of a render pass.
pub(crate) const END: [&str; 1] = ["op"];
/// Of a memory barrier.
pub(crate) const MEMORY_BARRIER: [&str; 5] = ["src_stages", "src_access", "dst_stages", "dst_access", "why"];
/// Of a buffer barrier.
pub(crate) const BUFFER_BARRIER: [&str; 9] =
    ["resource", "range", "src_stages", "src_access", "dst_stages", "dst_access", "src_queue", "dst_queue", "why"];
/// Of an image barrier.
pub(crate) const IMAGE_BARRIER: [&str; 13] = [
    "resource",
    "mips",
    "layers",
    "aspects",
    "src_stages",
    "src_access",
    "dst_stages",
    "dst_access",
    "old_layout",
    "new_layout",
    "src_queue",
    "dst_queue",
    "why",
];
/// Of why a barrier is there.
pub(crate) const WHY: [&str; 4] = ["hazard", "from", "to", "resource"];
/// Of an attachment.
pub(crate) const ATTACHMENT: [&str; 11] = [
    "resource",
    "mip",
    "layers",
    "aspects",
    "load",
    "store",
    "stencil_load",
    "stencil_store",
    "clear",
    "resolve_to",
    "input",
];
/// Of a layout of a pass.
pub(crate) const LAYOUT: [&str; 5] = ["resource", "mips", "layers", "aspects", "layout"];
/// Of memory.
pub(crate) const MEMORY: [&str; 5] = ["heaps", "placements", "total", "without_aliasing", "lower_bound"];
/// Of a heap.
pub(crate) const HEAP: [&str; 3] = ["id", "type", "size"];
/// Of a placement.
pub(crate) const PLACEMENT: [&str; 4] = ["resource", "heap", "offset", "size"];
/// Of an edge.
pub(crate) const EDGE: [&str; 7] = ["resource", "mips", "layers", "aspects", "range", "entry", "exit"];
/// Of a foreign point.
pub(crate) const FOREIGN: [&str; 4] = ["resource", "op", "batch", "stages"];
/// Of a state.
pub(crate) const STATE: [&str; 4] = ["queue", "stages", "access", "layout"];
/// Of a subgraph.
pub(crate) const SUBGRAPH: [&str; 3] = ["key", "passes", "roots"];
/// Of a pair of passes that were not merged.
pub(crate) const UNMERGED: [&str; 5] = ["first", "second", "why", "resource", "reason"];
/// Of a set of passes.
pub(crate) const SET: [&str; 2] = ["on", "passes"];
/// Of a copy.
pub(crate) const COPY: [&str; 3] = ["pass", "from", "to"];
/// Of the report.
pub(crate) const REPORT: [&str; 13] = [
    "bake_us",
    "barriers",
    "submits",
    "frame_us",
    "one_queue_us",
    "bound_us",
    "critical_path_us",
    "load_us",
    "critical_path",
    "policy",
    "optimal",
    "memory",
    "notes",
];
/// Of times of stages.
pub(crate) const TIMES: [&str; 6] = ["validate", "cull", "schedule", "merge", "alias", "synchronize"];
