//! Reading a plan file: counts first, so that every id can be checked against them, then the rest in order. Nothing
//! that a plan says can point outside it, so what works on plans needs no checks.

use std::collections::HashMap;

use super::command::batch;
use super::keys::{self, Shape};
use super::outcome::{read_memory, read_report, read_rest};
use crate::json::{Fields, Node, Source, Word, shown};
use rgraph_ir::access::{Accesses, Layout, Sharing, Stages, UsageSet};
use rgraph_ir::error::{Code, GraphError};
use rgraph_ir::format::Format;
use rgraph_ir::id::{Id, Span};
use rgraph_ir::plan::{
    Culled, PassWhy, Plan, PlanAccess, PlanKind, PlanLife, PlanPass, PlanPassId, PlanQueue, PlanResource, QueueWhy,
    Remembers,
};
use rgraph_ir::profile::Capabilities;
use rgraph_ir::resource::ResourceId;
use rgraph_ir::words::CULLED_WORDS;

/// Position of a word in a list of words.
macro_rules! position_word {
    ($name:ident, $list:expr, $what:literal) => {
        struct $name(usize);
        impl Word for $name {
            const WHAT: &'static str = $what;
            fn from_text(text: &str) -> Option<Self> {
                $list.iter().position(|word| *word == text).map(Self)
            }
            fn words() -> Vec<&'static str> {
                $list.to_vec()
            }
        }
    };
}
pub(super) use position_word;

position_word!(CulledRule, CULLED_WORDS, "a reason for culling");

/// How many of everything there are that ids point to.
pub(super) struct Counts {
    pub(super) passes: usize,
    pub(super) resources: usize,
    pub(super) queues: usize,
    /// Commands in all batches: events are dense, and each is set by a command of its own.
    pub(super) commands: usize,
}

/// Reads a plan file. Required keys and defaults are those of `docs/reference/formats.md`.
///
/// Every id, range of mips and layers, and pair of things that must go together is checked, so a plan that was read
/// can be walked without checks; whether it is *right* is the checker's to say. O(bytes).
///
/// # Errors
/// Everything that is wrong with the file at once, with file, line and path of the key; only the first mistake where
/// the text is not JSON, not UTF-8, or of another version.
pub fn read_plan(text: &[u8], file_name: &str) -> Result<Plan, GraphError> {
    let source = Source::open(text, file_name)?;
    let plan = source.root().version("rplan", "a plan").and_then(|()| plan(source.root()));
    source.finish(plan)
}

fn plan(root: Node<'_, '_>) -> Option<Plan> {
    let fields = root.fields(&keys::PLAN)?;
    let mut plan = Plan {
        graph: fields.get("graph").and_then(|name| name.title()).unwrap_or_default().into_owned(),
        graph_hash: fields
            .get("graph_hash")
            .and_then(|hash| hexadecimal(&hash, fields.most("graph_hash")))
            .unwrap_or_default(),
        ..Plan::default()
    };
    if let Some(profile) = fields.get("device_profile") {
        read_profile(profile, &mut plan);
    }
    let counts = Counts {
        passes: fields.get("passes").map_or(0, |list| list.count()),
        resources: fields.get("resources").map_or(0, |list| list.count()),
        queues: plan.queues.len(),
        commands: fields.peek("batches").map_or(0, |list| count_commands(&list)),
    };
    if let Some(list) = fields.get("flags") {
        list.elements(" of flags", |_, node| {
            if let Some(name) = node.name() {
                plan.flag_names.push(&name);
            }
        });
    }
    if let Some(list) = fields.peek("resources") {
        read_resources(&list, &counts, &mut plan);
    }
    if let Some(list) = fields.peek("passes") {
        list.elements(" of passes", |index, node| {
            let read = pass(node, index, &counts, &mut plan);
            if let Some(pass) = read {
                plan.passes.push(pass);
            }
        });
    }
    // Walking what is half read would only repeat its mistakes.
    if plan.resources.len() == counts.resources && plan.passes.len() == counts.passes {
        if let Some(list) = fields.get("batches") {
            list.elements(" of batches", |index, node| {
                if let Some(batch) = batch(node, index, &counts, &mut plan) {
                    plan.batches.push(batch);
                }
            });
        }
        if let Some(memory) = fields.get("memory") {
            read_memory(memory, &counts, &mut plan);
        }
        read_rest(&fields, &counts, &mut plan);
    }
    if let Some(report) = fields.get("report").and_then(|report| read_report(report, &counts)) {
        plan.report = report;
    }
    Some(plan)
}

fn count_commands(batches: &Node<'_, '_>) -> usize {
    let mut count = 0;
    if batches.is_list() {
        batches.elements("", |_, batch| {
            if batch.is_object() {
                batch.entries("", |key, value| count += if key == "commands" { value.count() } else { 0 });
            }
        });
    }
    count
}

impl Node<'_, '_> {
    /// An id of one of `count` things.
    pub(super) fn id<I: Id>(&self, count: usize, what: &str) -> Option<I> {
        let id = self.integer(u64::MAX)?;
        if id >= count as u64 {
            let problem = format!("is {id}, but must be below {count}, the number of {what}");
            self.mistake(Code::BadFile, problem, "");
            return None;
        }
        Some(I::new(id as usize))
    }

    /// A whole number from 1 to `most`.
    fn positive(&self, most: u64) -> Option<u32> {
        let count = self.integer(most)?;
        if count == 0 {
            self.wrong("1 or more");
            return None;
        }
        u32::try_from(count).ok()
    }

    /// A half-open range that is not empty and ends at most at `end`.
    pub(super) fn within(&self, end: u32, what: &str) -> Option<[u32; 2]> {
        let range = self.range32()?;
        if range[0] >= range[1] || range[1] > end {
            let problem = format!("is [{}, {}], but must be a range in [0, {end}] of {what}", range[0], range[1]);
            self.mistake(Code::BadRange, problem, "");
            return None;
        }
        Some(range)
    }
}

pub(crate) fn hexadecimal(node: &Node<'_, '_>, digits: u64) -> Option<u128> {
    let text = node.text()?;
    let number =
        Some(&text).filter(|text| text.len() as u64 <= digits).and_then(|text| u128::from_str_radix(text, 16).ok());
    if number.is_none() {
        node.wrong(format_args!("up to {digits} hexadecimal digits"));
    }
    number
}

/// Its position in its list, which its id must be.
pub(super) fn own_id<const N: usize>(fields: &Fields<'_, '_, N>, index: usize) {
    if let Some(node) = fields.get("id")
        && let Some(id) = node.u64()
        && id != index as u64
    {
        node.mistake(Code::BadFile, format_args!("is {id}, but it stands at {index}"), "ids count from 0, in order");
    }
}

fn read_profile(node: Node<'_, '_>, plan: &mut Plan) -> Option<()> {
    let fields = node.fields(&keys::PROFILE)?;
    plan.profile = fields.get("name").and_then(|name| name.title()).unwrap_or_default().into_owned();
    plan.features = fields.get("features").and_then(|features| features.joined());
    fields.get("queues")?.elements(" of queues", |_, node| {
        if let Some(queue) = queue(node) {
            plan.queues.push(queue);
        }
    })
}

fn queue(node: Node<'_, '_>) -> Option<PlanQueue> {
    let fields = node.fields(&keys::QUEUE)?;
    let name = fields.get("name").and_then(|name| name.name());
    let family = fields.get("family").and_then(|family| family.u32());
    let capabilities = fields.get("capabilities").map_or(Some(Capabilities::all()), |words| words.joined());
    Some(PlanQueue { name: name?.into_owned(), family: family?, capabilities: capabilities? })
}

fn read_resources(list: &Node<'_, '_>, counts: &Counts, plan: &mut Plan) -> Option<()> {
    // Names come first: aliases name resources that may stand later.
    list.elements(" of resources", |_, node| {
        let mut name = None;
        if node.is_object() {
            node.entries("", |key, value| {
                if key == "name" && name.is_none() {
                    name = value.name();
                }
            });
        }
        plan.resource_names.push(name.as_deref().unwrap_or(""));
    })?;
    let mut by_name: HashMap<String, ResourceId> = HashMap::new();
    for (at, name) in plan.resource_names.iter().enumerate() {
        by_name.entry(name.to_owned()).or_insert_with(|| ResourceId::new(at));
    }
    list.elements("", |index, node| {
        let read = resource(node, index, counts, &by_name, plan);
        if let Some(resource) = read {
            plan.resources.push(resource);
        }
    })
}

fn resource(
    node: Node<'_, '_>,
    index: usize,
    counts: &Counts,
    by_name: &HashMap<String, ResourceId>,
    plan: &mut Plan,
) -> Option<PlanResource> {
    let fields = node.fields(&keys::RESOURCE)?;
    own_id(&fields, index);
    fields.get("name")?;
    let bytes = fields.get("bytes").and_then(|bytes| bytes.u64());
    let shape = fields.get("kind").and_then(|kind| kind.word::<Shape>())?;
    let kind = if shape.0 { image(&fields) } else { buffer(&fields, bytes?) };
    let lifetime = fields.get("lifetime").map_or(Some(None), |node| lifetime(node, counts).map(Some));
    let start = plan.aliases.len();
    if let Some(aliases) = fields.get("aliases") {
        let names = &plan.resource_names;
        aliases.elements(" of resource names", |_, node| {
            let Some(name) = node.text() else { return };
            match by_name.get(name.as_ref()) {
                Some(id) => plan.aliases.push(*id),
                None => node.unknown_name("resource", &name, names),
            }
        });
    }
    Some(PlanResource {
        kind: kind?,
        bytes: bytes?,
        lifetime: lifetime?,
        aliases: Span::new(start, plan.aliases.len()),
        sharing: fields.get("sharing").map_or(Some(Sharing::Exclusive), |sharing| sharing.word())?,
        life: fields.get("life").map_or(Some(PlanLife::Transient), |life| life.word())?,
        inserted: fields.flag("inserted"),
        transient_attachment: fields.flag("transient_attachment"),
        memory_domain: match fields.get("memory_domain") {
            Some(domain) => Some(domain.word()?),
            None => None,
        },
        memory: fields
            .get("memory")
            .map_or(Some(ResourceId::new(index)), |memory| memory.id(counts.resources, "resources"))?,
        ring: count(&fields, "ring")?,
        remembers: fields.get("remembers").map_or(Some(None), |node| remembers(node, counts).map(Some))?,
        usages: fields.get("usages").map_or(Some(None), |usages| usages.joined::<UsageSet>().map(Some))?,
    })
}

fn remembers(node: Node<'_, '_>, counts: &Counts) -> Option<Remembers> {
    let fields = node.fields(&keys::REMEMBERS)?;
    let of = fields.get("of").and_then(|of| of.id(counts.resources, "resources"));
    let frames = fields.get("frames").and_then(|frames| frames.positive(fields.most("frames")));
    Some(Remembers { of: of?, frames: frames? })
}

type ResourceFields<'a, 'p> = Fields<'a, 'p, { keys::RESOURCE.keys.len() }>;

/// A number of things that there is one of by default.
fn count(fields: &ResourceFields<'_, '_>, key: &'static str) -> Option<u32> {
    fields.get(key).map_or(Some(1), |node| node.positive(fields.most(key)))
}

fn image(fields: &ResourceFields<'_, '_>) -> Option<PlanKind> {
    let format = fields.need("format").and_then(|format| format.word::<Format>());
    let size = fields.need("size").and_then(|node| {
        match node.short_list(&[2, 3], "[width, height] or [width, height, depth]", |axis| axis.u32())?[..] {
            [width, height] => Some(([width, height, 1], false)),
            [width, height, depth] => Some(([width, height, depth], true)),
            _ => None,
        }
    });
    let (mips, layers, samples) = (count(fields, "mips"), count(fields, "layers"), count(fields, "samples"));
    let (size, volume) = size?;
    let cube = fields.flag("cube");
    Some(PlanKind::Image { format: format?, size, mips: mips?, layers: layers?, samples: samples?, volume, cube })
}

fn buffer(fields: &ResourceFields<'_, '_>, bytes: u64) -> Option<PlanKind> {
    Some(PlanKind::Buffer { size: fields.get("size").map_or(Some(bytes), |size| size.u64())? })
}

fn lifetime(node: Node<'_, '_>, counts: &Counts) -> Option<[PlanPassId; 2]> {
    let fields = node.fields(&keys::LIFETIME)?;
    let first = fields.get("first").and_then(|pass| pass.id(counts.passes, "passes"));
    let last = fields.get("last").and_then(|pass| pass.id(counts.passes, "passes"));
    Some([first?, last?])
}

fn pass(node: Node<'_, '_>, index: usize, counts: &Counts, plan: &mut Plan) -> Option<PlanPass> {
    let fields = node.fields(&keys::PASS)?;
    own_id(&fields, index);
    let name = fields.get("name").and_then(|name| name.name())?;
    let declared = fields.get("declared").map_or(Some(None), |declared| declared.u32().map(Some));
    let owner = fields.get("owner").map_or(Some(None), |owner| owner.u32().map(Some));
    let queue = fields.get("queue").map_or(Some(None), |queue| queue.id(counts.queues, "queues").map(Some));
    let physical_pass = fields.get("physical_pass").map_or(Some(None), |id| id.id(counts.passes, "passes").map(Some));
    let subpass = fields.get("subpass").map_or(Some(0), |subpass| subpass.u32());
    let flag = fields.get("flag").map_or(Some(None), |flag| flag.id(plan.flag_names.len(), "flags").map(Some));
    let culled = if fields.flag("culled") {
        let why = fields.get("culled_why");
        Some(why.map_or(Some(Culled::WritesNothing), |why| read_culled(why, counts))?)
    } else {
        if let Some(stray) = fields.get("culled_why") {
            stray.mistake(Code::BadFile, "is on a pass that is not culled", "");
        }
        None
    };
    let start = plan.pass_accesses.len();
    if let Some(list) = fields.get("accesses").filter(|_| plan.resources.len() == counts.resources) {
        list.elements(" of accesses", |_, node| {
            let access = access(node, counts, plan);
            plan.pass_accesses.extend(access);
        });
    }
    Some(PlanPass {
        name: plan.pass_names.push(&name) as u32,
        declared: declared?,
        owner: owner?,
        queue: queue?,
        culled,
        physical_pass: physical_pass?,
        subpass: subpass?,
        flag: flag?,
        accesses: Span::new(start, plan.pass_accesses.len()),
        why: fields.get("why").map_or(Some(PassWhy::default()), |why| pass_why(why, counts))?,
    })
}

fn read_culled(node: Node<'_, '_>, counts: &Counts) -> Option<Culled> {
    let fields = node.fields(&keys::CULLED)?;
    let rule = fields.get("rule").and_then(|rule| rule.word::<CulledRule>())?;
    let resource = || fields.need("resource").and_then(|id| id.id(counts.resources, "resources"));
    Some(match rule.0 {
        0 => Culled::WritesNothing,
        1 => Culled::OptedOut,
        2 => Culled::Unread(resource()?),
        3 => Culled::Overwritten(resource()?),
        _ => Culled::OnlyCulledReaders(resource()?, fields.need("reader").and_then(|reader| reader.u32())?),
    })
}

fn pass_why(node: Node<'_, '_>, counts: &Counts) -> Option<PassWhy> {
    let fields = node.fields(&keys::PASS_WHY)?;
    let time = |key| fields.get(key).map_or(Some(0.0), |time| time.number32());
    Some(PassWhy {
        queue: fields.get("queue").map_or(Some(QueueWhy::Named), |why| why.word())?,
        after: fields.get("after").map_or(Some(None), |pass| pass.id(counts.passes, "passes").map(Some))?,
        start_us: time("start_us")?,
        duration_us: time("duration_us")?,
    })
}

/// Mips and layers of a resource, which must be an image that has them.
pub(super) fn subresource<const N: usize>(
    fields: &Fields<'_, '_, N>,
    resource: ResourceId,
    plan: &Plan,
) -> Option<[[u32; 2]; 2]> {
    let PlanKind::Image { mips, layers, .. } = plan.resources[resource].kind else {
        let problem = format!("speaks of mips of '{}', a buffer", shown(plan.resource_name(resource)));
        fields.node().mistake(Code::BadFile, problem, "");
        return None;
    };
    // Edges of buffers may say `null`, which images may not.
    let mips = fields.peek("mips").map_or(Some([0, mips]), |range| range.within(mips, "mips"));
    let layers = fields.peek("layers").map_or(Some([0, layers]), |range| range.within(layers, "layers"));
    Some([mips?, layers?])
}

fn access(node: Node<'_, '_>, counts: &Counts, plan: &Plan) -> Option<PlanAccess> {
    let fields = node.fields(&keys::ACCESS)?;
    let resource: ResourceId = fields.get("resource").and_then(|id| id.id(counts.resources, "resources"))?;
    let stages = fields.get("stages").and_then(|stages| stages.joined::<Stages>());
    let access = fields.get("access").and_then(|access| access.joined::<Accesses>());
    let layout = fields.get("layout").map_or(Some(Layout::Undefined), |layout| layout.word());
    let is_image = plan.resources.get(resource).is_some_and(|r| matches!(r.kind, PlanKind::Image { .. }));
    let [mips, layers] = if is_image {
        subresource(&fields, resource, plan)?
    } else {
        let range = |key| fields.get(key).map_or(Some([0, 1]), |range| range.range32());
        [range("mips")?, range("layers")?]
    };
    Some(PlanAccess { resource, stages: stages?, access: access?, layout: layout?, mips, layers })
}
