//! What differs between two plans: passes and resources are matched by name, so that ids may change freely.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::Serialize;

use super::text::{all_barriers, attachment_text, edge_text, wait_text};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Command, Plan, PlanKind, PlanPassId};
use rgraph_ir::resource::ResourceId;
use rgraph_ir::words::{
    Positions, bytes_phrase, culled_sentence, layout_phrase, life_word, plain, queue_label, quoted, time_phrase,
    unmerged_sentence,
};

/// How something changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Only the second plan has it.
    Added,
    /// Only the first plan has it.
    Removed,
    /// It stands elsewhere in the order.
    Moved,
    /// It says something else.
    Changed,
}

/// One difference.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// How it changed.
    pub kind: Kind,
    /// What it is: `plan`, `pass`, `resource`, `queue`.
    pub what: &'static str,
    /// Its name; empty for the plan itself.
    pub name: String,
    /// What of it changed; empty where it was added or removed as a whole.
    pub aspect: &'static str,
    /// What the first plan says.
    pub before: Option<String>,
    /// What the second plan says.
    pub after: Option<String>,
    /// How much it matters: microseconds of a duration, MiB of a size, 1 for what has neither.
    pub weight: f64,
}

/// One figure of both plans.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Figure {
    /// What is counted.
    pub what: &'static str,
    /// In the first plan.
    pub before: f64,
    /// In the second plan.
    pub after: f64,
}

/// What differs between two plans.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Diff {
    /// Figures of both, whether they differ or not: passes, barriers, batches, waits, bytes, microseconds.
    pub figures: Vec<Figure>,
    /// Differences: of passes, of resources, and of the plan around them, each in the order of the plans.
    pub changes: Vec<Change>,
}

/// Relative difference up to which modelled times are equal: sums of durations round in their last digits.
const NOISE: f64 = 1e-3;

/// What differs between two plans. Timings of the bake do not count, nor do modelled times that differ by less than one
/// part in a thousand. O(n log n) in the size of both.
pub fn diff(a: &Plan, b: &Plan) -> Diff {
    let mut diff = Diff { figures: figures(a, b), changes: Vec::new() };
    if a == b || *a == timed_as(a, b) {
        return diff;
    }
    whole(&mut diff, a, b);
    passes(&mut diff, a, b);
    resources(&mut diff, a, b);
    rest(&mut diff, a, b);
    if diff.changes.is_empty() {
        let hash = |plan: &Plan| Some(format!("{:032x}", rgraph_files::plan_hash(plan)));
        diff.change("plan", "", "content hash", hash(a), hash(b));
    }
    diff
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= NOISE * a.abs().max(b.abs())
}

/// The second plan with the modelled times of the first one, where all of them are the same but for noise.
fn timed_as(a: &Plan, b: &Plan) -> Plan {
    let mut b = b.clone();
    let close = |a: &Plan, b: &Plan| {
        let frame = a.report.frame_us.max(b.report.frame_us);
        let pairs = a.passes.iter().zip(b.passes.iter());
        let passes = pairs.map(|(a, b)| (a.why, b.why)).all(|(a, b)| {
            let starts = (f64::from(a.start_us) - f64::from(b.start_us)).abs() <= NOISE * frame;
            starts && same(f64::from(a.duration_us), f64::from(b.duration_us))
        });
        let bounds = match (a.report.bound, b.report.bound) {
            (Some(a), Some(b)) => same(a.us, b.us),
            (a, b) => a.is_none() && b.is_none(),
        };
        let alone = match (a.report.one_queue_us, b.report.one_queue_us) {
            (Some(a), Some(b)) => same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        passes && bounds && alone && same(a.report.frame_us, b.report.frame_us) && a.passes.len() == b.passes.len()
    };
    if close(a, &b) {
        for (own, other) in b.passes.iter_mut().zip(a.passes.iter()) {
            (own.why.start_us, own.why.duration_us) = (other.why.start_us, other.why.duration_us);
        }
        b.report.frame_us = a.report.frame_us;
        b.report.one_queue_us = a.report.one_queue_us;
        b.report.bound = a.report.bound;
    }
    b
}

impl Diff {
    /// Whether the plans are equal, timings aside.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The same as JSON on one line: `{"equal", "figures": […], "changes": […]}`.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Shown<'d> {
            equal: bool,
            #[serde(flatten)]
            diff: &'d Diff,
        }
        serde_json::to_string(&Shown { equal: self.is_empty(), diff: self }).expect("plain data serializes")
    }

    /// Notes a change, if there is one.
    fn change(
        &mut self,
        what: &'static str,
        name: &str,
        aspect: &'static str,
        before: Option<String>,
        after: Option<String>,
    ) {
        if before != after {
            let name = name.to_owned();
            self.changes.push(Change { kind: Kind::Changed, what, name, aspect, before, after, weight: 1.0 });
        }
    }

    /// Notes what only one of the plans has.
    fn whole(&mut self, what: &'static str, name: &str, kind: Kind, text: Option<String>, weight: f64) {
        let (before, after) = if kind == Kind::Added { (None, text) } else { (text, None) };
        let name = name.to_owned();
        self.changes.push(Change { kind, what, name, aspect: "", before, after, weight: weight.max(1.0) });
    }

    /// Notes what one list has and the other has not; equal entries count as often as they stand there.
    fn lists(&mut self, what: &'static str, name: &str, aspect: &'static str, before: &[String], after: &[String]) {
        if before == after {
            return;
        }
        let mut surplus: BTreeMap<&str, i64> = BTreeMap::new();
        before.iter().for_each(|entry| *surplus.entry(entry).or_default() -= 1);
        after.iter().for_each(|entry| *surplus.entry(entry).or_default() += 1);
        let entry = |kind, text: &str| Change {
            kind,
            what,
            name: name.to_owned(),
            aspect,
            before: (kind == Kind::Removed).then(|| text.to_owned()),
            after: (kind == Kind::Added).then(|| text.to_owned()),
            weight: 1.0,
        };
        let mut any = false;
        for (kind, list, sign) in [(Kind::Removed, before, -1), (Kind::Added, after, 1)] {
            for text in list {
                let left = surplus.get_mut(text.as_str()).expect("every entry was counted");
                if *left * sign > 0 {
                    *left -= sign;
                    self.changes.push(entry(kind, text));
                    any = true;
                }
            }
        }
        if !any {
            let order = |list: &[String]| Some(list.join("; "));
            let change = Change { before: order(before), after: order(after), ..entry(Kind::Moved, "") };
            self.changes.push(change);
        }
    }
}

fn figures(a: &Plan, b: &Plan) -> Vec<Figure> {
    let figure = |what, of: fn(&Plan) -> f64| Figure { what, before: of(a), after: of(b) };
    vec![
        figure("passes", |plan| plan.live().count() as f64),
        figure("culled", |plan| plan.culled().count() as f64),
        figure("barrier calls", |plan| f64::from(plan.report.barriers)),
        figure("barriers", |plan| {
            (plan.memory_barriers.len() + plan.buffer_barriers.len() + plan.image_barriers.len()) as f64
        }),
        figure("batches", |plan| plan.batches.len() as f64),
        figure("waits", |plan| plan.waits.len() as f64),
        figure("memory", |plan| plan.memory.total as f64),
        figure("memory bound", |plan| plan.memory.lower_bound as f64),
        figure("memory without aliasing", |plan| plan.memory.without_aliasing as f64),
        figure("frame", |plan| plan.report.frame_us),
        figure("frame bound", |plan| plan.report.bound.map_or(0.0, |bound| bound.us)),
    ]
}

fn whole(diff: &mut Diff, a: &Plan, b: &Plan) {
    let mut both = |aspect, of: &dyn Fn(&Plan) -> String| diff.change("plan", "", aspect, Some(of(a)), Some(of(b)));
    both("graph", &|plan| plan.graph.clone());
    both("profile", &|plan| plan.profile.clone());
    both("policy", &|plan| plan.report.policy.to_owned());
    both("proven optimal", &|plan| plan.report.optimal.to_string());
    both("memory budget", &|plan| plan.report.memory.map_or_else(String::new, |memory| memory.to_string()));
    both("graph hash", &|plan| format!("{:032x}", plan.graph_hash));
    let queues = |plan: &Plan| -> Vec<String> {
        plan.queues.iter().map(|q| format!("{} (family {})", plain(&q.name), q.family)).collect()
    };
    diff.lists("plan", "", "queues", &queues(a), &queues(b));
}

/// Lines about the whole plan that follow from its passes and resources.
fn rest(diff: &mut Diff, a: &Plan, b: &Plan) {
    let heaps = |plan: &Plan| -> Vec<String> {
        plan.memory
            .heaps
            .iter()
            .map(|heap| format!("{} of {}", plain(&heap.memory_type), bytes_phrase(heap.size)))
            .collect()
    };
    diff.lists("plan", "", "heaps", &heaps(a), &heaps(b));
    let unmerged = |plan: &Plan| -> Vec<String> {
        let pair = |first, second| format!("{} and {}", quoted(plan.pass_name(first)), quoted(plan.pass_name(second)));
        let pairs = plan.unmerged.iter();
        pairs.map(|p| format!("{}: {}", pair(p.first, p.second), unmerged_sentence(plan, p.reason))).collect()
    };
    diff.lists("plan", "", "not merged", &unmerged(a), &unmerged(b));
    let parts = |plan: &Plan| -> Vec<String> {
        plan.subgraphs.iter().map(|part| format!("{:016x} of {} passes", part.key, part.passes.len())).collect()
    };
    diff.lists("plan", "", "independent parts", &parts(a), &parts(b));
    diff.lists("plan", "", "notes", &a.report.notes, &b.report.notes);
}

/// Everything that a plan says of each pass, by its id.
struct PassTexts {
    waits: IdVec<PlanPassId, Vec<String>>,
    barriers: IdVec<PlanPassId, Vec<String>>,
    rendering: IdVec<PlanPassId, Option<String>>,
    layouts: IdVec<PlanPassId, Vec<String>>,
    /// Barriers that lead to no pass.
    last: Vec<String>,
}

fn pass_texts(plan: &Plan) -> PassTexts {
    let count = plan.passes.len();
    let mut texts = PassTexts {
        waits: IdVec::filled(Vec::new(), count),
        barriers: IdVec::filled(Vec::new(), count),
        rendering: IdVec::filled(None, count),
        layouts: IdVec::filled(Vec::new(), count),
        last: Vec::new(),
    };
    for barrier in all_barriers(plan) {
        let text = format!("{}, {}", barrier.text, barrier.why);
        match barrier.to {
            Some(pass) => texts.barriers[pass].push(text),
            None => texts.last.push(text),
        }
    }
    for batch in &plan.batches {
        let mut waits: Vec<String> = plan.waits[batch.waits.range()].iter().map(|wait| wait_text(plan, wait)).collect();
        let mut rendering = None;
        for command in &plan.commands[batch.commands.range()] {
            match command {
                Command::BeginRendering { attachments, .. } => {
                    let list = plan.attachments[attachments.range()].iter().map(|one| attachment_text(plan, one));
                    rendering = Some(list.collect::<Vec<_>>().join("; "));
                }
                Command::EndRendering => rendering = None,
                Command::Pass { pass, layouts } => {
                    texts.waits[*pass].append(&mut waits);
                    texts.rendering[*pass].clone_from(&rendering);
                    let layout = |of: &rgraph_ir::plan::PassLayout| {
                        let ([first, end], [low, high]) = (of.mips, of.layers);
                        let name = plain(plan.resource_name(of.resource));
                        let aspects = match of.aspects == plan.resources[of.resource].kind.aspects() {
                            true => String::new(),
                            false => format!(", {}", of.aspects.names().collect::<Vec<_>>().join(" and ")),
                        };
                        format!(
                            "{name}[mips {first}..{end}, layers {low}..{high}{aspects}] {}",
                            layout_phrase(of.layout)
                        )
                    };
                    texts.layouts[*pass] = plan.layouts[layouts.range()].iter().map(layout).collect();
                }
                _ => {}
            }
        }
    }
    texts
}

fn passes(diff: &mut Diff, a: &Plan, b: &Plan) {
    let index = |plan: &Plan| -> HashMap<String, PlanPassId> {
        plan.passes.ids().rev().map(|id| (plan.pass_name(id).to_owned(), id)).collect()
    };
    let (in_a, in_b) = (index(a), index(b));
    let queue = |plan: &Plan, id: PlanPassId| {
        let pass = &plan.passes[id];
        pass.culled.is_none().then(|| queue_label(plan, pass.queue))
    };
    for id in a.passes.ids().filter(|id| !in_b.contains_key(a.pass_name(*id))) {
        diff.whole("pass", a.pass_name(id), Kind::Removed, queue(a, id), micros(a, id));
    }
    for id in b.passes.ids().filter(|id| !in_a.contains_key(b.pass_name(*id))) {
        diff.whole("pass", b.pass_name(id), Kind::Added, queue(b, id), micros(b, id));
    }
    moves(diff, a, b, &in_b);
    let (texts_a, texts_b) = (pass_texts(a), pass_texts(b));
    let (positions_a, positions_b) = (Positions::new(a), Positions::new(b));
    for one in a.passes.ids() {
        let Some(&two) = in_b.get(a.pass_name(one)) else { continue };
        let name = a.pass_name(one);
        let owner = |plan: &Plan, positions: &Positions, id: PlanPassId| {
            let owner = positions.get(plan.passes[id].owner?);
            Some(owner.map_or_else(|| "unknown".to_owned(), |owner| plan.pass_name(owner).to_owned()))
        };
        let culled = |plan: &Plan, positions, id: PlanPassId| {
            plan.passes[id].culled.map(|why| culled_sentence(plan, positions, why))
        };
        diff.change("pass", name, "culled", culled(a, &positions_a, one), culled(b, &positions_b, two));
        diff.change("pass", name, "owner", owner(a, &positions_a, one), owner(b, &positions_b, two));
        diff.change("pass", name, "queue", queue(a, one), queue(b, two));
        // Starts are left out: one longer pass shifts all after it.
        duration(diff, name, micros(a, one), micros(b, two));
        diff.lists("pass", name, "waits", &texts_a.waits[one], &texts_b.waits[two]);
        diff.lists("pass", name, "barriers", &texts_a.barriers[one], &texts_b.barriers[two]);
        diff.change("pass", name, "render pass", texts_a.rendering[one].clone(), texts_b.rendering[two].clone());
        diff.lists("pass", name, "layouts", &texts_a.layouts[one], &texts_b.layouts[two]);
    }
    diff.lists("plan", "", "barriers at the end", &texts_a.last, &texts_b.last);
}

/// Modelled microseconds of a pass.
fn micros(plan: &Plan, id: PlanPassId) -> f64 {
    f64::from(plan.passes[id].why.duration_us)
}

fn duration(diff: &mut Diff, name: &str, before: f64, after: f64) {
    if same(before, after) {
        return;
    }
    let mut texts = [before, after].map(time_phrase);
    if texts[0] == texts[1] {
        texts = [before, after].map(|us| format!("{us} µs"));
    }
    let [first, second] = texts;
    let (name, kind, weight) = (name.to_owned(), Kind::Changed, (after - before).abs());
    let (before, after) = (Some(first), Some(second));
    diff.changes.push(Change { kind, what: "pass", name, aspect: "duration", before, after, weight });
}

/// Of the passes that live in both plans, those outside a longest common order moved; each is named with the pass of
/// that order that it comes after.
fn moves(diff: &mut Diff, a: &Plan, b: &Plan, in_b: &HashMap<String, PlanPassId>) {
    let live = |plan: &Plan, id: PlanPassId| plan.passes[id].culled.is_none();
    let common: Vec<(PlanPassId, PlanPassId)> = a
        .passes
        .ids()
        .filter_map(|id| Some((id, *in_b.get(a.pass_name(id))?)))
        .filter(|(one, two)| live(a, *one) && live(b, *two))
        .collect();
    let stays = longest_increasing(&common.iter().map(|(_, two)| two.index()).collect::<Vec<_>>());
    let staying: Vec<(PlanPassId, PlanPassId)> =
        common.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(pair, _)| *pair).collect();
    let after = |at: usize| match at.checked_sub(1) {
        Some(at) => format!("after {}", quoted(a.pass_name(staying[at].0))),
        None => "first".to_owned(),
    };
    for ((one, two), _) in common.iter().zip(&stays).filter(|(_, stays)| !**stays) {
        let name = a.pass_name(*one).to_owned();
        // Were both places the same, the common order could be longer by this pass.
        let before = Some(after(staying.partition_point(|(other, _)| other < one)));
        let after = Some(after(staying.partition_point(|(_, other)| other < two)));
        let kind = Kind::Moved;
        diff.changes.push(Change { kind, what: "pass", name, aspect: "position", before, after, weight: 1.0 });
    }
}

/// Which numbers belong to a longest increasing subsequence. O(n log n).
///
/// # Source
/// Patience sorting; Fredman, "On computing the length of longest increasing subsequences", 1975.
fn longest_increasing(numbers: &[usize]) -> Vec<bool> {
    let mut tops: Vec<usize> = Vec::new();
    let mut before = vec![None; numbers.len()];
    for (at, number) in numbers.iter().enumerate() {
        let pile = tops.partition_point(|top| numbers[*top] < *number);
        before[at] = pile.checked_sub(1).map(|under| tops[under]);
        match tops.get_mut(pile) {
            Some(top) => *top = at,
            None => tops.push(at),
        }
    }
    let mut inside = vec![false; numbers.len()];
    let mut at = tops.last().copied();
    while let Some(here) = at {
        inside[here] = true;
        at = before[here];
    }
    inside
}

fn resources(diff: &mut Diff, a: &Plan, b: &Plan) {
    let index = |plan: &Plan| -> HashMap<String, ResourceId> {
        plan.resources.ids().rev().map(|id| (plan.resource_name(id).to_owned(), id)).collect()
    };
    let (in_a, in_b) = (index(a), index(b));
    let (places_a, places_b) = (places(a), places(b));
    for id in a.resources.ids().filter(|id| !in_b.contains_key(a.resource_name(*id))) {
        diff.whole("resource", a.resource_name(id), Kind::Removed, Some(what_it_is(a, id)), mebibytes(&places_a, id));
    }
    for id in b.resources.ids().filter(|id| !in_a.contains_key(b.resource_name(*id))) {
        diff.whole("resource", b.resource_name(id), Kind::Added, Some(what_it_is(b, id)), mebibytes(&places_b, id));
    }
    let (edges_a, edges_b) = (edges(a), edges(b));
    for one in a.resources.ids() {
        let Some(&two) = in_b.get(a.resource_name(one)) else { continue };
        let name = a.resource_name(one);
        diff.change("resource", name, "declaration", Some(what_it_is(a, one)), Some(what_it_is(b, two)));
        let sharing = |plan: &Plan, id: ResourceId| Some(plan.resources[id].sharing.name().to_owned());
        diff.change("resource", name, "sharing", sharing(a, one), sharing(b, two));
        let domain = |plan: &Plan, id: ResourceId| plan.resources[id].memory_domain.map(|one| one.name().to_owned());
        diff.change("resource", name, "memory domain", domain(a, one), domain(b, two));
        diff.change("resource", name, "lifetime", lifetime(a, one), lifetime(b, two));
        let text = |places: &Places, id| places[id].as_ref().map(|(_, text)| text.clone());
        diff.change("resource", name, "memory", text(&places_a, one), text(&places_b, two));
        if let Some(change) = diff.changes.last_mut().filter(|last| last.aspect == "memory" && last.name == name) {
            // Another place for as many bytes matters less than any difference of bytes.
            change.weight = (mebibytes(&places_a, one) - mebibytes(&places_b, two)).abs().max(1e-3);
        }
        diff.lists("resource", name, "outside", &edges_a[one], &edges_b[two]);
    }
}

fn lifetime(plan: &Plan, id: ResourceId) -> Option<String> {
    plan.resources[id].lifetime.map(|ends| ends.map(|pass| quoted(plan.pass_name(pass))).join(" to "))
}

/// Bytes and text of each placement.
type Places = IdVec<ResourceId, Option<(u64, String)>>;

fn places(plan: &Plan) -> Places {
    let mut places = IdVec::filled(None, plan.resources.len());
    for place in &plan.memory.placements {
        let text = format!("{} at {:#x} of heap {}", bytes_phrase(place.size), place.offset, place.heap.index());
        places[place.resource] = Some((place.size, text));
    }
    places
}

fn mebibytes(places: &Places, id: ResourceId) -> f64 {
    places[id].as_ref().map_or(0.0, |(bytes, _)| *bytes as f64 / f64::from(1 << 20))
}

fn edges(plan: &Plan) -> IdVec<ResourceId, Vec<String>> {
    let mut edges = IdVec::filled(Vec::new(), plan.resources.len());
    for edge in &plan.edges {
        edges[edge.resource].push(edge_text(plan, edge).join(", "));
    }
    edges
}

/// Kind, format and sizes of a resource.
fn what_it_is(plan: &Plan, id: ResourceId) -> String {
    let resource = &plan.resources[id];
    let life = life_word(resource.life);
    match resource.kind {
        PlanKind::Image { format, size, mips, layers, samples, volume, cube } => {
            let size: Vec<String> = size[..if volume { 3 } else { 2 }].iter().map(u32::to_string).collect();
            let cube = if cube { " cube" } else { "" };
            let size = size.join("×");
            format!("{life}{cube} image {format} {size}, {mips} mips, {layers} layers, {samples} samples")
        }
        PlanKind::Buffer { size } => format!("{life} buffer of {size} bytes"),
    }
}

impl fmt::Display for Diff {
    /// A line of figures that differ, then one line for each change: `+` added, `-` removed, `>` moved, `~` changed.
    /// Nothing but `equal` where nothing differs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("equal\n");
        }
        let changed = self.figures.iter().filter(|figure| !figure.is_same());
        let figures: Vec<String> = changed.map(Figure::to_string).collect();
        if !figures.is_empty() {
            writeln!(f, "{}", figures.join(" · "))?;
        }
        self.changes.iter().try_for_each(|change| writeln!(f, "{change}"))
    }
}

impl Figure {
    /// Whether the plans have the same, noise of modelled times aside.
    pub fn is_same(&self) -> bool {
        self.before == self.after || (self.what.starts_with("frame") && same(self.before, self.after))
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: f64| match self.what {
            "frame" | "frame bound" => time_phrase(value),
            what if what.starts_with("memory") => bytes_phrase(value as u64),
            _ => value.to_string(),
        };
        let (before, after) = (show(self.before), show(self.after));
        write!(f, "{} {before} → {after}", self.what)?;
        // Numbers that are equal when rounded are shown in full.
        if before == after && self.before != self.after && self.what.starts_with("memory") {
            write!(f, " ({:+} B)", self.after - self.before)?;
        }
        Ok(())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            Kind::Added => '+',
            Kind::Removed => '-',
            Kind::Moved => '>',
            Kind::Changed => '~',
        };
        write!(f, "{sign} {}", self.what)?;
        if !self.name.is_empty() {
            write!(f, " {}", quoted(&self.name))?;
        }
        if !self.aspect.is_empty() {
            write!(f, " {}", self.aspect)?;
        }
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, ": {} → {}", plain(before), plain(after)),
            (Some(one), None) if self.kind == Kind::Changed => write!(f, ": {} → nothing", plain(one)),
            (None, Some(one)) if self.kind == Kind::Changed => write!(f, ": nothing → {}", plain(one)),
            (Some(one), None) | (None, Some(one)) => write!(f, ": {}", plain(one)),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::longest_increasing;

    #[test]
    fn a_longest_common_order_leaves_out_as_few_as_possible() {
        assert!(longest_increasing(&[]).is_empty());
        assert_eq!(longest_increasing(&[0, 1, 2]), [true, true, true]);
        assert_eq!(longest_increasing(&[2, 0, 1]), [false, true, true]);
        let long = longest_increasing(&[5, 1, 2, 0, 3, 4]);
        assert_eq!(long, [false, true, true, false, true, true]);
    }
}
