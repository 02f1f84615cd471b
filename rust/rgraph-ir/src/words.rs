//! What the planner's reasons are called: one word each for files, one sentence each for people.

pub use crate::plain::plain;

use crate::access::{Accesses, Layout, Stages};
use crate::id::{Id, IdVec};
use crate::plan::{Culled, Hazard, Plan, PlanLife, PlanPassId, QueueId, QueueWhy, UnmergedWhy, Why};
use crate::resource::ResourceId;

/// Scheduling policies, as [`Report::policy`](crate::plan::Report::policy) names them.
pub const POLICIES: [&str; 7] = ["auto", "declared", "overlap", "weighted", "exact", "box_tree", "proposed"];

/// Every hazard, its word, and what a barrier against it is for: `{from}` and `{to}` stand for the passes, `{what}` for
/// the resource, `{of}` for the resource in parentheses where the barrier does not name it itself.
const HAZARDS: [(Hazard, &str, &str); 11] = [
    (Hazard::ReadAfterWrite, "read_after_write", "{to} reads what {from} wrote{of}"),
    (Hazard::WriteAfterRead, "write_after_read", "{to} writes what {from} read{of}"),
    (Hazard::WriteAfterWrite, "write_after_write", "{to} writes what {from} wrote{of}"),
    (Hazard::FirstUse, "first_use", "{to} is the first to use it"),
    (Hazard::Alias, "alias", "{to} reuses the memory that {from} used for {what}"),
    (Hazard::Layout, "layout", "{to} needs another layout than {from}"),
    (Hazard::Release, "release", "{from} releases it to the queue of {to}"),
    (Hazard::Acquire, "acquire", "{to} acquires it from the queue of {from}"),
    (Hazard::Host, "host", "{to} sees on the host what {from} wrote{of}"),
    (Hazard::Leave, "leave", "left after {from} as declared"),
    (Hazard::Ordered, "ordered", "{to} runs after {from} as declared"),
];

/// Its word in plan files.
pub fn hazard_word(hazard: Hazard) -> &'static str {
    HAZARDS.iter().find(|(known, ..)| *known == hazard).map_or("", |(_, word, _)| word)
}

/// The hazard that a word of a plan file names.
pub fn hazard_from_word(word: &str) -> Option<Hazard> {
    HAZARDS.iter().find(|(_, known, _)| *known == word).map(|(hazard, ..)| *hazard)
}

/// All hazard words.
pub fn hazard_words() -> Vec<&'static str> {
    HAZARDS.iter().map(|(_, word, _)| *word).collect()
}

/// Word and sentence of every hazard, with `{from}`, `{to}`, `{what}` and `{of}` to be filled in.
pub fn hazard_templates() -> impl Iterator<Item = (&'static str, &'static str)> {
    HAZARDS.iter().map(|(_, word, template)| (*word, *template))
}

/// What a barrier is for: who does what after whom. `own` is the resource that the barrier names itself, if it does.
pub fn hazard_sentence(plan: &Plan, why: &Why, own: Option<ResourceId>) -> String {
    let mut rest = HAZARDS.iter().find(|(known, ..)| *known == why.hazard).map_or("", |(.., template)| template);
    let mut sentence = String::new();
    while let Some((text, (blank, after))) = rest.split_once('{').and_then(|(a, b)| Some((a, b.split_once('}')?))) {
        sentence.push_str(text);
        let resource = || quoted(plan.resource_name(why.resource));
        match blank {
            "from" => match why.from {
                Some(pass) => sentence.push_str(&quoted(plan.pass_name(pass))),
                None => sentence.push_str("the run before"),
            },
            "to" => match why.to {
                Some(pass) => sentence.push_str(&quoted(plan.pass_name(pass))),
                None => sentence.push_str("what comes after"),
            },
            "what" => sentence.push_str(&resource()),
            _ if own == Some(why.resource) => {}
            _ => sentence.push_str(&format!(" ({})", resource())),
        }
        rest = after;
    }
    sentence + rest
}

/// A name in quotes, on one line whatever it holds.
pub fn quoted(name: &str) -> String {
    format!("'{}'", plain(name))
}

/// Stages as short as people say them: `color_output + depth_tests`; `nothing` for none.
pub fn stages_phrase(stages: Stages) -> String {
    const TESTS: Stages = Stages::EARLY_FRAGMENT_TESTS.union(Stages::LATE_FRAGMENT_TESTS);
    let (rest, tests) = if stages.contains(TESTS) { (stages - TESTS, Some("depth_tests")) } else { (stages, None) };
    let words = rest.names().map(|name| match name {
        "color_attachment_output" => "color_output",
        "early_fragment_tests" => "early_tests",
        "late_fragment_tests" => "late_tests",
        "vertex_attribute_input" => "vertex_input",
        "acceleration_structure_build" => "build",
        other => other.strip_suffix("_shader").unwrap_or(other),
    });
    phrase(words.chain(tests))
}

/// Kinds of access; `nothing` for none.
pub fn access_phrase(access: Accesses) -> String {
    phrase(access.names())
}

fn phrase<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<&str> = words.collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(" + ") }
}

/// A layout without the word `optimal`.
pub fn layout_phrase(layout: Layout) -> &'static str {
    let name = layout.name();
    name.strip_suffix("_optimal").unwrap_or(name)
}

/// Bytes as people read them: `512 B`, `64.0 KiB`, `21.1 MiB`.
pub fn bytes_phrase(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.iter().find(|(_, shift)| bytes >> shift > 0) {
        // Halves round up, as they do in the page.
        Some((unit, shift)) => format!("{:.1} {unit}", (bytes as f64 / (1u64 << shift) as f64 * 10.0).round() / 10.0),
        None => format!("{bytes} B"),
    }
}

/// Microseconds as people read them: `69.4 µs`, `7.29 ms`, `104.2 ms`.
pub fn time_phrase(us: f64) -> String {
    match us {
        us if us >= 1e5 => format!("{:.1} ms", us / 1e3),
        us if us >= 1e3 => format!("{:.2} ms", us / 1e3),
        us => format!("{us:.1} µs"),
    }
}

/// Every way in which a queue is chosen, its word and its sentence.
const QUEUE_WHYS: [(QueueWhy, &str, &str); 6] = [
    (QueueWhy::Named, "named", "the declaration names it"),
    (QueueWhy::NoOther, "no_other", "the profile has no other queue of the kind that the declaration names"),
    (QueueWhy::EarliestFinish, "earliest_finish", "the declaration leaves it open, and here it finishes first"),
    (QueueWhy::OnlyCapable, "only_capable", "only this queue can do what the pass asks"),
    (QueueWhy::NoGain, "no_gain", "the declaration leaves it open, and no other queue promises a sure gain"),
    (QueueWhy::FewBatches, "few_batches", "the declaration leaves it open, and `max_batches` allows no more batches"),
];

/// Its word in plan files.
pub fn queue_word(why: QueueWhy) -> &'static str {
    QUEUE_WHYS.iter().find(|(known, ..)| *known == why).map_or("", |(_, word, _)| word)
}

/// The choice that a word names.
pub fn queue_from_word(word: &str) -> Option<QueueWhy> {
    QUEUE_WHYS.iter().find(|(_, known, _)| *known == word).map(|(why, ..)| *why)
}

/// All words for how a queue is chosen.
pub fn queue_words() -> Vec<&'static str> {
    QUEUE_WHYS.iter().map(|(_, word, _)| *word).collect()
}

/// Why a pass is on its queue.
pub fn queue_sentence(why: QueueWhy) -> &'static str {
    QUEUE_WHYS.iter().find(|(known, ..)| *known == why).map_or("", |(.., sentence)| sentence)
}

/// Every life of a planned resource and its word.
const LIVES: [(PlanLife, &str); 6] = [
    (PlanLife::Transient, "transient"),
    (PlanLife::Root, "root"),
    (PlanLife::Fresh, "fresh"),
    (PlanLife::Persistent, "persistent"),
    (PlanLife::History, "history"),
    (PlanLife::Imported, "imported"),
];

/// Its word in plan files.
pub fn life_word(life: PlanLife) -> &'static str {
    LIVES.iter().find(|(known, _)| *known == life).map_or("", |(_, word)| word)
}

/// The life that a word names.
pub fn life_from_word(word: &str) -> Option<PlanLife> {
    LIVES.iter().find(|(_, known)| *known == word).map(|(life, _)| *life)
}

/// All words for lives.
pub fn life_words() -> Vec<&'static str> {
    LIVES.iter().map(|(_, word)| *word).collect()
}

/// Why a placed resource shares its bytes with nobody; `None` for those that do, and for those without a place. The
/// sentences name the reason: lives that overlap, or no gain. O(resources log resources).
pub fn unaliased_sentences(plan: &Plan) -> IdVec<ResourceId, Option<String>> {
    let mut why = IdVec::filled(None, plan.resources.len());
    let lives = |id: ResourceId| plan.resources[id].lifetime;
    let mut starts: Vec<PlanPassId> = Vec::new();
    let mut ends: Vec<PlanPassId> = Vec::new();
    for [first, last] in plan.memory.placements.iter().filter_map(|place| lives(place.resource)) {
        starts.push(first);
        ends.push(last);
    }
    starts.sort_unstable();
    ends.sort_unstable();
    let mut placed = IdVec::filled(false, plan.resources.len());
    for place in &plan.memory.placements {
        placed[place.resource] = true;
        let resource = &plan.resources[place.resource];
        if !resource.aliases.is_empty() {
            continue;
        }
        let Some([first, last]) = resource.lifetime else { continue };
        let kept = resource.life == PlanLife::Root;
        let before = ends.partition_point(|end| *end < first);
        let after = if kept { 0 } else { starts.len() - starts.partition_point(|start| *start <= last) };
        why[place.resource] = Some(match (before + after, plan.memory.total == plan.memory.lower_bound) {
            (0, _) if kept => "it is kept to the end of the frame, and everything else is alive beside it".to_owned(),
            (0, _) => "everything else is alive while it is".to_owned(),
            (1, true) => "one other could share its bytes, but the memory is as small as it can be without".to_owned(),
            (n, true) => format!("{n} others could share its bytes, but the memory is as small as it can be without"),
            (n, false) => format!("of {n} that are not alive with it, none was placed on its bytes"),
        });
    }
    for (id, resource) in plan.resources.iter_ids().filter(|(id, _)| !placed[*id]) {
        why[id] = Some(match resource.life {
            _ if resource.lifetime.is_none() => "no pass that runs uses it: it has no memory".to_owned(),
            PlanLife::Imported => "it is the caller's".to_owned(),
            PlanLife::Persistent | PlanLife::History => {
                "its contents outlive the frame: it has memory of its own".to_owned()
            }
            PlanLife::Fresh => "it is fresh: each frame under way has memory of its own for it".to_owned(),
            PlanLife::Transient | PlanLife::Root => "it has the memory of what it modifies".to_owned(),
        });
    }
    why
}

/// Words for why a pass is culled.
pub const CULLED_WORDS: [&str; 5] = ["writes_nothing", "opted_out", "unread", "overwritten", "only_culled_readers"];

/// Its word in plan files.
pub fn culled_word(culled: Culled) -> &'static str {
    CULLED_WORDS[match culled {
        Culled::WritesNothing => 0,
        Culled::OptedOut => 1,
        Culled::Unread(_) => 2,
        Culled::Overwritten(_) => 3,
        Culled::OnlyCulledReaders(..) => 4,
    }]
}

/// Words for the two kinds of foreign points.
pub const FOREIGN_WORDS: [&str; 2] = ["wait", "signal"];

/// Words for the side on which the passes of a set run.
pub const SET_WORDS: [&str; 2] = ["cpu", "gpu"];

/// Words for why two neighbours are not one render pass.
pub const UNMERGED_WORDS: [&str; 11] = [
    "area",
    "depth",
    "not_local",
    "other_queue",
    "nothing_shared",
    "conditional",
    "too_many",
    "reloaded",
    "ordered",
    "one_aspect",
    "other_part",
];

/// Its word in plan files.
pub fn unmerged_word(why: UnmergedWhy) -> &'static str {
    UNMERGED_WORDS[match why {
        UnmergedWhy::Area => 0,
        UnmergedWhy::Depth => 1,
        UnmergedWhy::NotLocal(_) => 2,
        UnmergedWhy::OtherQueue => 3,
        UnmergedWhy::NothingShared => 4,
        UnmergedWhy::Conditional => 5,
        UnmergedWhy::TooMany => 6,
        UnmergedWhy::Reloaded(_) => 7,
        UnmergedWhy::Ordered => 8,
        UnmergedWhy::OneAspect(_) => 9,
        UnmergedWhy::OtherPart(_) => 10,
    }]
}

/// Why two neighbouring raster passes of a plan are not one render pass.
pub fn unmerged_sentence(plan: &Plan, why: UnmergedWhy) -> String {
    match why {
        UnmergedWhy::Area => "their areas, samples or layers differ".to_owned(),
        UnmergedWhy::Depth => "their depth attachments differ".to_owned(),
        UnmergedWhy::NotLocal(resource) => {
            format!("the later one reads {} in another way than texel by texel", quoted(plan.resource_name(resource)))
        }
        UnmergedWhy::OtherQueue => "the later one waits for another queue".to_owned(),
        UnmergedWhy::NothingShared => "they share no attachment".to_owned(),
        UnmergedWhy::Conditional => "one of them may be switched off".to_owned(),
        UnmergedWhy::TooMany => "together they have more attachments than the profile allows".to_owned(),
        UnmergedWhy::Reloaded(resource) => {
            format!("{} is cleared or discarded between them", quoted(plan.resource_name(resource)))
        }
        UnmergedWhy::Ordered => "the declaration orders them".to_owned(),
        UnmergedWhy::OneAspect(resource) => {
            let name = quoted(plan.resource_name(resource));
            format!("with subpasses they would take depth and stencil of {name}, of which they use one")
        }
        UnmergedWhy::OtherPart(resource) => {
            format!("they draw to layers of {} that overlap", quoted(plan.resource_name(resource)))
        }
    }
}

/// The passes of a plan by their declared position.
pub struct Positions(Vec<(u32, PlanPassId)>);

impl Positions {
    /// Of all declared passes. O(passes log passes).
    pub fn new(plan: &Plan) -> Self {
        let mut list: Vec<_> = plan.passes.iter_ids().filter_map(|(id, pass)| Some((pass.declared?, id))).collect();
        list.sort_unstable();
        Self(list)
    }

    /// The pass declared there. O(log passes).
    pub fn get(&self, position: u32) -> Option<PlanPassId> {
        let at = self.0.binary_search_by_key(&position, |(declared, _)| *declared).ok()?;
        Some(self.0[at].1)
    }
}

/// Why a pass is culled.
pub fn culled_sentence(plan: &Plan, positions: &Positions, culled: Culled) -> String {
    match culled {
        Culled::WritesNothing => "it writes nothing and has no side effects".to_owned(),
        Culled::OptedOut => "its setup declared no access".to_owned(),
        Culled::Unread(resource) => {
            format!("its output {} is never read and is not a root", quoted(plan.resource_name(resource)))
        }
        Culled::Overwritten(resource) => {
            format!("its output {} is overwritten before any pass reads it", quoted(plan.resource_name(resource)))
        }
        Culled::OnlyCulledReaders(resource, position) => {
            let reader = positions.get(position).map(|pass| format!(" ({})", quoted(plan.pass_name(pass))));
            let resource = quoted(plan.resource_name(resource));
            format!("its output {resource} is read by culled passes only{}", reader.unwrap_or_default())
        }
    }
}

/// The name of a queue, or `host`.
pub fn queue_name(plan: &Plan, queue: Option<QueueId>) -> &str {
    queue.map_or("host", |queue| plan.queues.get(queue).map_or("?", |queue| queue.name.as_str()))
}

/// `queue 0 graphics`-like labels would repeat the name of queues that stand several times: those get their number.
pub fn queue_label(plan: &Plan, queue: Option<QueueId>) -> String {
    let name = queue_name(plan, queue);
    match queue {
        Some(id) if plan.queues.iter().filter(|other| other.name == name).count() > 1 => {
            format!("{name} {}", id.index())
        }
        _ => name.to_owned(),
    }
}
