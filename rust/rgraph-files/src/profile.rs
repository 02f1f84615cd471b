//! Profile files (`*.rprofile.json`): a device as plain data.

use super::json::table::{Key, Kind, Object, U32, U64, VERSION, list, may, must, or_null, positive, words};
use super::json::{Fields, Node, Source};
use super::write::Sheet;
use rgraph_ir::error::{Code, GraphError};
use rgraph_ir::feature::Features;
use rgraph_ir::profile::{Capabilities, Limits, MemoryType, Profile, Queue};

/// A profile file.
pub(super) static PROFILE: Object<[Key; 19]> = Object::new(
    "a profile",
    [
        must("rprofile", VERSION),
        may("name", Kind::Title),
        must("queues", Kind::List(&Kind::Object(&QUEUE), 1, None)),
        may("buffer_image_granularity", U64),
        may("image_alignment", U64),
        may("buffer_alignment", U64),
        may("memory", list(&Kind::Object(&MEMORY))),
        may("limits", Kind::Object(&LIMITS)),
        may("cross_queue_us", COST),
        may("barrier_us", COST),
        may("submit_us", COST),
        may("pass_us", COST),
        may("copy_gb_s", COST),
        may("copy_us", COST),
        may("foreign_us", COST),
        may("foreign_transfer_us", COST),
        may("width", positive(u64::MAX)),
        may("draws_overlap_dispatches", Kind::Boolean),
        or_null("features", list(&Kind::WordsOf(words::<Features>))),
    ],
);

const COST: Kind = Kind::AtLeast(0);

static QUEUE: Object<[Key; 4]> = Object::new(
    "a queue",
    [
        must("name", Kind::Name),
        must("family", U32),
        // Each is a queue of the plan.
        may("count", positive(256)),
        must("capabilities", list(&Kind::WordsOf(words::<Capabilities>))),
    ],
);

static MEMORY: Object<[Key; 2]> =
    Object::new("a class of memory", [must("type", Kind::Name), or_null("heap_size", U64)]);

static LIMITS: Object<[Key; 8]> = Object::new(
    "limits",
    [
        may("max_image_2d", U32),
        may("max_image_3d", U32),
        may("max_image_cube", U32),
        may("max_image_layers", U32),
        may("max_color_attachments", U32),
        may("max_samples", U32),
        may("max_buffer", U64),
        may("max_uniform_range", U64),
    ],
);

/// Reads a profile file; what it does not say is as in [`Profile::new`].
///
/// # Errors
/// Everything that is wrong with the file at once, with file, line and path of the key; only the first mistake where
/// the text is not JSON, not UTF-8, or of another version. A profile that cannot be used (no graphics queue, an
/// alignment that is no power of two) is refused when a graph is baked for it.
pub fn read_profile(text: &[u8], file_name: &str) -> Result<Profile, GraphError> {
    let source = Source::open(text, file_name)?;
    let profile = source.root().version("rprofile", "a profile").and_then(|()| profile(source.root()));
    source.finish(profile)
}

fn profile(root: Node<'_, '_>) -> Option<Profile> {
    let fields = root.fields(&PROFILE)?;
    let queues = fields.get("queues").and_then(|queues| {
        let list = queues.list(" of queues", queue)?;
        if list.is_empty() {
            queues.mistake(Code::BadProfile, "is empty", "name at least one queue");
        }
        Some(list)
    });
    let name = fields.get("name").and_then(|name| name.title());
    let mut profile = Profile::new(name.as_deref().unwrap_or("unnamed"), queues.unwrap_or_default());
    let integer = |key, to: &mut u64| {
        if let Some(value) = fields.get(key).and_then(|value| value.u64()) {
            *to = value;
        }
    };
    integer("buffer_image_granularity", &mut profile.buffer_image_granularity);
    integer("image_alignment", &mut profile.image_alignment);
    integer("buffer_alignment", &mut profile.buffer_alignment);
    let cost = |key, to: &mut f64| {
        if let Some(node) = fields.get(key)
            && let Some(value) = node.number()
        {
            if value < 0.0 {
                node.mistake(Code::BadNumber, format_args!("is {value}, but must be 0 or more"), "");
            }
            *to = value;
        }
    };
    cost("cross_queue_us", &mut profile.cross_queue_us);
    cost("barrier_us", &mut profile.barrier_us);
    cost("submit_us", &mut profile.submit_us);
    cost("pass_us", &mut profile.pass_us);
    cost("copy_gb_s", &mut profile.copy_gb_s);
    cost("copy_us", &mut profile.copy_us);
    cost("foreign_us", &mut profile.foreign_us);
    cost("foreign_transfer_us", &mut profile.foreign_transfer_us);
    integer("width", &mut profile.width);
    if let Some(overlap) = fields.get("draws_overlap_dispatches").and_then(|value| value.boolean()) {
        profile.draws_overlap_dispatches = overlap;
    }
    profile.features = fields.get("features").and_then(|features| features.joined());
    if let Some(memory) = fields.get("memory").and_then(|memory| memory.list(" of classes of memory", memory_type)) {
        profile.memory = memory;
    }
    if let Some(limits) = fields.get("limits") {
        profile.limits = read_limits(limits).unwrap_or_default();
    }
    Some(profile)
}

fn queue(node: Node<'_, '_>) -> Option<Queue> {
    let fields = node.fields(&QUEUE)?;
    let name = fields.get("name").and_then(|name| name.name());
    let family = fields.get("family").and_then(|family| family.u32());
    let count = fields.get("count").map_or(Some(1), |count| {
        let most = count.integer(fields.most("count"))?;
        if most == 0 {
            count.mistake(Code::BadProfile, "is 0", "leave the queue out where there is none");
        }
        Some(most as u32)
    });
    let capabilities = fields.get("capabilities").and_then(|words| words.joined());
    Some(Queue { name: name?.into_owned(), family: family?, count: count?, capabilities: capabilities? })
}

fn memory_type(node: Node<'_, '_>) -> Option<MemoryType> {
    let fields = node.fields(&MEMORY)?;
    let name = fields.get("type").and_then(|name| name.name());
    let heap_size = fields.get("heap_size").map_or(Some(None), |size| size.u64().map(Some));
    Some(MemoryType { name: name?.into_owned(), heap_size: heap_size? })
}

fn read_limits(node: Node<'_, '_>) -> Option<Limits> {
    let fields = node.fields(&LIMITS)?;
    let mut limits = Limits::default();
    let small = |fields: &Fields<'_, '_, 8>, key, to: &mut u32| {
        if let Some(value) = fields.get(key).and_then(|value| value.u32()) {
            *to = value;
        }
    };
    small(&fields, "max_image_2d", &mut limits.max_image_2d);
    small(&fields, "max_image_3d", &mut limits.max_image_3d);
    small(&fields, "max_image_cube", &mut limits.max_image_cube);
    small(&fields, "max_image_layers", &mut limits.max_image_layers);
    small(&fields, "max_color_attachments", &mut limits.max_color_attachments);
    small(&fields, "max_samples", &mut limits.max_samples);
    for (key, to) in [("max_buffer", &mut limits.max_buffer), ("max_uniform_range", &mut limits.max_uniform_range)] {
        if let Some(value) = fields.get(key).and_then(|value| value.u64()) {
            *to = value;
        }
    }
    Some(limits)
}

/// Writes a profile file with every key, defaults too. Reading it gives an equal profile.
pub fn write_profile(profile: &Profile) -> String {
    let mut sheet = Sheet::default();
    sheet.text("{\n  \"rprofile\": 1");
    sheet.line("  ", "name", &profile.name);
    sheet.key("  ", "queues");
    sheet.list("  ", &profile.queues, |sheet, queue| {
        let mut row = sheet.row();
        row.put("name", &queue.name).put("family", queue.family).put("count", queue.count);
        row.put("capabilities", queue.capabilities.names()).end();
    });
    sheet.line("  ", "buffer_image_granularity", &profile.buffer_image_granularity);
    sheet.line("  ", "image_alignment", &profile.image_alignment);
    sheet.line("  ", "buffer_alignment", &profile.buffer_alignment);
    sheet.key("  ", "memory");
    sheet.list("  ", &profile.memory, |sheet, memory| {
        sheet.row().put("type", &memory.name).some("heap_size", memory.heap_size).end();
    });
    let limits = &profile.limits;
    sheet.key("  ", "limits");
    let mut row = sheet.row();
    row.put("max_image_2d", limits.max_image_2d).put("max_image_3d", limits.max_image_3d);
    row.put("max_image_cube", limits.max_image_cube).put("max_image_layers", limits.max_image_layers);
    row.put("max_color_attachments", limits.max_color_attachments).put("max_samples", limits.max_samples);
    row.put("max_buffer", limits.max_buffer).put("max_uniform_range", limits.max_uniform_range).end();
    sheet.line("  ", "cross_queue_us", &profile.cross_queue_us);
    sheet.line("  ", "barrier_us", &profile.barrier_us);
    sheet.line("  ", "submit_us", &profile.submit_us);
    sheet.line("  ", "pass_us", &profile.pass_us);
    sheet.line("  ", "copy_gb_s", &profile.copy_gb_s);
    sheet.line("  ", "copy_us", &profile.copy_us);
    sheet.line("  ", "foreign_us", &profile.foreign_us);
    sheet.line("  ", "foreign_transfer_us", &profile.foreign_transfer_us);
    sheet.line("  ", "width", &profile.width);
    sheet.line("  ", "draws_overlap_dispatches", &profile.draws_overlap_dispatches);
    if let Some(features) = profile.features {
        sheet.line("  ", "features", &features.names().collect::<Vec<_>>());
    }
    sheet.text("\n}\n");
    sheet.finish()
}
