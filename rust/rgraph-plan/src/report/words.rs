//! What the planner's reasons are called: one word each for files, one sentence each for people.

use crate::id::Id;
use crate::plan::{Culled, Hazard, Plan, PlanLife, PlanPassId, QueueWhy, UnmergedWhy};

/// Scheduling policies, as [`Report::policy`](crate::plan::Report::policy) names them.
pub const POLICIES: [&str; 4] = ["declared", "overlap", "weighted", "exact"];

/// Every hazard, its word, and what it says of the later pass and the resource.
const HAZARDS: [(Hazard, &str, &str); 10] = [
    (Hazard::ReadAfterWrite, "read_after_write", "reads what was written"),
    (Hazard::WriteAfterRead, "write_after_read", "writes what was read"),
    (Hazard::WriteAfterWrite, "write_after_write", "writes what was written"),
    (Hazard::FirstUse, "first_use", "first use"),
    (Hazard::Alias, "alias", "takes over the memory"),
    (Hazard::Layout, "layout", "needs another layout"),
    (Hazard::Release, "release", "given to another queue"),
    (Hazard::Acquire, "acquire", "taken from another queue"),
    (Hazard::Host, "host", "made visible to the host"),
    (Hazard::Leave, "leave", "left as declared"),
];

/// Its word in plan files.
pub fn hazard_word(hazard: Hazard) -> &'static str {
    HAZARDS.iter().find(|(known, ..)| *known == hazard).map_or("", |(_, word, _)| word)
}

/// The hazard of a word.
pub fn hazard_from_word(word: &str) -> Option<Hazard> {
    HAZARDS.iter().find(|(_, known, _)| *known == word).map(|(hazard, ..)| *hazard)
}

/// All hazard words.
pub fn hazard_words() -> Vec<&'static str> {
    HAZARDS.iter().map(|(_, word, _)| *word).collect()
}

/// A few words for a listing.
pub fn hazard_phrase(hazard: Hazard) -> &'static str {
    HAZARDS.iter().find(|(known, ..)| *known == hazard).map_or("", |(.., phrase)| phrase)
}

/// Every way in which a queue is chosen, its word and its sentence.
const QUEUE_WHYS: [(QueueWhy, &str, &str); 4] = [
    (QueueWhy::Named, "named", "the declaration names it"),
    (QueueWhy::NoOther, "no_other", "the profile has no other queue of the kind that the declaration names"),
    (QueueWhy::EarliestFinish, "earliest_finish", "the declaration leaves it open, and here it finishes first"),
    (QueueWhy::OnlyCapable, "only_capable", "only this queue can do what the pass asks"),
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
const LIVES: [(PlanLife, &str); 5] = [
    (PlanLife::Transient, "transient"),
    (PlanLife::Root, "root"),
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

/// Words for why two neighbours are not one render pass.
pub const UNMERGED_WORDS: [&str; 9] =
    ["area", "depth", "not_local", "other_queue", "nothing_shared", "conditional", "too_many", "reloaded", "inserted"];

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
        UnmergedWhy::Inserted => 8,
    }]
}

/// Why two neighbouring raster passes of a plan are not one render pass.
pub fn unmerged_sentence(plan: &Plan, why: UnmergedWhy) -> String {
    match why {
        UnmergedWhy::Area => "their areas, samples or layers differ".to_owned(),
        UnmergedWhy::Depth => "their depth attachments differ".to_owned(),
        UnmergedWhy::NotLocal(resource) => {
            format!("the later one reads '{}' in another way than texel by texel", plan.resource_name(resource))
        }
        UnmergedWhy::OtherQueue => "the later one waits for another queue".to_owned(),
        UnmergedWhy::NothingShared => "they share no attachment".to_owned(),
        UnmergedWhy::Conditional => "one of them may be switched off".to_owned(),
        UnmergedWhy::TooMany => "together they have more attachments than the profile allows".to_owned(),
        UnmergedWhy::Reloaded(resource) => {
            format!("'{}' is cleared or discarded between them", plan.resource_name(resource))
        }
        UnmergedWhy::Inserted => "work was inserted between them".to_owned(),
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
            format!("it writes '{}', which nobody reads and which is no root", plan.resource_name(resource))
        }
        Culled::Overwritten(resource) => {
            format!("what it writes to '{}' is replaced before anybody reads it", plan.resource_name(resource))
        }
        Culled::OnlyCulledReaders(resource, position) => {
            let reader = positions.get(position).map(|pass| format!(" ('{}')", plan.pass_name(pass)));
            let resource = plan.resource_name(resource);
            format!("it writes '{resource}', which only culled passes read{}", reader.unwrap_or_default())
        }
    }
}

/// The name of a queue, or `host`.
pub fn queue_name(plan: &Plan, queue: Option<crate::plan::QueueId>) -> &str {
    queue.map_or("host", |queue| plan.queues.get(queue).map_or("?", |queue| queue.name.as_str()))
}

/// `queue 0 graphics`-like labels would repeat the name of queues that stand several times: those get their number.
pub fn queue_label(plan: &Plan, queue: Option<crate::plan::QueueId>) -> String {
    let name = queue_name(plan, queue);
    match queue {
        Some(id) if plan.queues.iter().filter(|other| other.name == name).count() > 1 => {
            format!("{name} {}", id.index())
        }
        _ => name.to_owned(),
    }
}
