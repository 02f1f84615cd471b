//! Words for the mistakes that later stages find: reads of what nobody writes, cycles, conditional passes whose
//! output holds nothing, roots whose memory is reused, and too little memory.

use crate::stages::ids::AccessId;
use std::collections::HashMap;

use super::words::{counted, part_words};
use crate::access::Usage;
use crate::error::{Code, Mistake};
use crate::graph::{Access, FlagId, Graph, PassId, Place};
use crate::id::{Id, IdVec};
use crate::nearest::nearest;
use crate::resource::{Life, Resource, ResourceId};
use crate::stages::resolve::subresource::SubresourceRange;
use crate::stages::resolve::{Problem, Reads, Via, declared as declared_access};
use crate::stages::size::Shape;

/// Passes of a cycle that its message spells out.
const SHOWN_PASSES: usize = 12;

/// Mistakes that look for the nearest known name; the rest of a flood goes without.
const NAMED: usize = 8;

/// The mistakes that `problems` are, in their order. O(accesses log accesses + problems log accesses), and once for
/// each of the first 8 a look at all names.
pub fn of_problems(graph: &Graph, shapes: &IdVec<ResourceId, Shape>, problems: &[Problem]) -> Vec<Mistake> {
    if problems.is_empty() {
        return Vec::new();
    }
    let uses = Uses::of(graph);
    let words =
        |part: &SubresourceRange, resource: ResourceId| part_words(part, &SubresourceRange::whole(&shapes[resource]));
    let mistake = |(at, problem): (usize, &Problem)| match problem {
        Problem::NeverWritten { by: Reads::Root, resource, part } => {
            uses.unwritten_root(*resource, &words(part, *resource), at < NAMED)
        }
        Problem::NeverWritten { by: Reads::Access(access), resource, part } => {
            uses.never_written(*access, *resource, &words(part, *resource), at < NAMED)
        }
        Problem::NeverWritten { by: Reads::Inserted, resource, part } => {
            uses.unwritten_source(*resource, &words(part, *resource), at < NAMED)
        }
        Problem::HoldsNothing { flag, pass, resource, reader } => uses.holds_nothing(*flag, *pass, *resource, *reader),
        Problem::RootModified { root, by } => root_modified(graph, *root, *by),
        Problem::TwoNames { pass, first, second } => two_names(graph, *pass, [*first, *second]),
        Problem::OverwrittenFallback { pass, read, write } => overwritten_fallback(graph, *pass, [*read, *write]),
        Problem::Cycle(passes) => uses.cycle(passes),
    };
    together(problems).iter().enumerate().map(mistake).collect()
}

/// What one message is about: the access, or the flag with the reader, and the resource.
type Subject = (Option<AccessId>, Option<FlagId>, ResourceId, Option<PassId>);

/// Problems of several subresources that one access or one reader has, as one of all those subresources.
fn together(problems: &[Problem]) -> Vec<Problem> {
    let mut merged: Vec<Problem> = Vec::new();
    let mut places: HashMap<Subject, usize> = HashMap::new();
    for problem in problems {
        let key = match problem {
            Problem::NeverWritten { by: Reads::Access(access), resource, .. } => (Some(*access), None, *resource, None),
            Problem::NeverWritten { by: Reads::Inserted | Reads::Root, resource, .. } => (None, None, *resource, None),
            Problem::HoldsNothing { flag, resource, reader, .. } => (None, Some(*flag), *resource, *reader),
            Problem::RootModified { .. }
            | Problem::TwoNames { .. }
            | Problem::OverwrittenFallback { .. }
            | Problem::Cycle(_) => {
                merged.push(problem.clone());
                continue;
            }
        };
        let at = *places.entry(key).or_insert(merged.len());
        match (merged.get_mut(at), problem) {
            (None, _) => merged.push(problem.clone()),
            (Some(Problem::NeverWritten { part, .. }), Problem::NeverWritten { part: more, .. }) => {
                *part = around(part, more);
            }
            _ => {}
        }
    }
    merged
}

/// The least part that holds both.
fn around(a: &SubresourceRange, b: &SubresourceRange) -> SubresourceRange {
    SubresourceRange {
        mips: [a.mips[0].min(b.mips[0]), a.mips[1].max(b.mips[1])],
        layers: [a.layers[0].min(b.layers[0]), a.layers[1].max(b.layers[1])],
        aspects: a.aspects | b.aspects,
        bytes: [a.bytes[0].min(b.bytes[0]), a.bytes[1].max(b.bytes[1])],
    }
}

/// Who uses what, to be asked often.
struct Uses<'a> {
    graph: &'a Graph,
    /// Positions of accesses by pass and resource.
    sorted: Vec<(PassId, ResourceId, AccessId)>,
    /// The first access that writes each resource.
    writer: IdVec<ResourceId, Option<AccessId>>,
}

impl<'a> Uses<'a> {
    fn of(graph: &'a Graph) -> Self {
        let mut writer = IdVec::filled(None, graph.resources().len());
        let mut sorted = Vec::with_capacity(graph.accesses().len());
        for (index, access) in graph.accesses().iter().enumerate() {
            let id = AccessId::new(index);
            sorted.push((access.pass, access.resource, id));
            if access.usage.writes() {
                writer[access.resource].get_or_insert(id);
            }
        }
        sorted.sort_unstable();
        Self { graph, sorted, writer }
    }

    /// The accesses that `pass` makes of `resource`, with their positions.
    fn between(&self, pass: PassId, resource: ResourceId) -> impl Iterator<Item = (AccessId, &'a Access)> {
        let from = self.sorted.partition_point(|&(p, r, _)| (p, r) < (pass, resource));
        let these = self.sorted[from..].iter().take_while(move |&&(p, r, _)| (p, r) == (pass, resource));
        these.map(|&(_, _, id)| (id, declared_access(self.graph, id)))
    }

    fn resource_place(&self, resource: ResourceId) -> Option<Place> {
        self.graph.resource_place(resource).cloned()
    }

    /// A read of `resource` by the access at that position, where nothing before it writes `part` (words, or empty).
    /// `resource` may be another than the access names: its fallback while a flag is off.
    fn never_written(&self, access: AccessId, resource: ResourceId, part: &str, named: bool) -> Mistake {
        let graph = self.graph;
        let read = declared_access(graph, access);
        let (pass, name) = (graph.pass_name(read.pass), graph.resource_name(resource));
        let through = if read.resource == resource {
            String::new()
        } else {
            format!(", which stands in for \"{}\",", graph.resource_name(read.resource))
        };
        let message = format!("pass \"{pass}\" reads \"{name}\"{part}{through} but nothing before it writes it");
        let mut mistake = Mistake::new(Code::NeverWritten, message, self.help_to_write(resource, " before it", named))
            .pass(pass)
            .resource(name)
            .side(pass, read.usage.name(), access_place(graph, access))
            .side(name, declared(&graph.resources()[resource]), self.resource_place(resource));
        if let Some(id) = self.writer[resource]
            && id != access
        {
            let writer = graph.pass_name(declared_access(graph, id).pass);
            mistake = mistake.side(writer, "writes it, but not so that this read finds it", access_place(graph, id));
        }
        mistake
    }

    /// What inserted work reads, and nothing before it writes: the start of a scaled copy, or of a chain of mips.
    fn unwritten_source(&self, resource: ResourceId, part: &str, named: bool) -> Mistake {
        let graph = self.graph;
        let name = graph.resource_name(resource);
        let above = graph.resources().iter_ids().find(|(_, other)| other.modifies == Some(resource));
        let message = match above {
            Some((above, _)) => {
                let above = graph.resource_name(above);
                format!("\"{above}\" starts as a scaled copy of \"{name}\"{part}, but nothing before it writes it")
            }
            None => format!("mips of \"{name}\"{part} are made from what nothing writes"),
        };
        let mistake = Mistake::new(Code::NeverWritten, message, self.help_to_write(resource, " before it", named))
            .resource(name)
            .side(name, declared(&graph.resources()[resource]), self.resource_place(resource));
        match above {
            Some((above, _)) => {
                mistake.side(graph.resource_name(above), format!("modifies \"{name}\""), self.resource_place(above))
            }
            None => mistake,
        }
    }

    /// A root that nothing writes.
    fn unwritten_root(&self, root: ResourceId, part: &str, named: bool) -> Mistake {
        let name = self.graph.resource_name(root);
        let message = format!("root \"{name}\"{part} is written by no pass");
        let help = self.help_to_write(root, "", named);
        Mistake::new(Code::NeverWritten, message, help).resource(name).side(
            name,
            declared(&self.graph.resources()[root]),
            self.resource_place(root),
        )
    }

    /// Offers the nearest name of something of its kind that holds contents.
    fn help_to_write(&self, resource: ResourceId, when: &str, named: bool) -> String {
        let graph = self.graph;
        let name = graph.resource_name(resource);
        let image = graph.resources()[resource].as_image().is_some();
        let holds = |(id, other): &(ResourceId, &Resource)| {
            *id != resource
                && other.as_image().is_some() == image
                && (self.writer[*id].is_some() || !other.life.is_of_frame())
        };
        let names = || graph.resources().iter_ids().filter(holds).map(|(id, _)| graph.resource_name(id));
        let meant = if named { nearest(name, names()) } else { None };
        let meant = meant.map(|meant| format!("import \"{name}\", or did you mean \"{meant}\"?"));
        let meant = meant.unwrap_or_else(|| format!("or import \"{name}\""));
        format!("add a pass that writes \"{name}\"{when}, {meant}")
    }

    /// Passes that must run before each other: each one before the next for the reason next to it, the last
    /// before the first.
    fn cycle(&self, passes: &[(PassId, Via)]) -> Mistake {
        let graph = self.graph;
        let shown = &passes[..passes.len().min(SHOWN_PASSES)];
        let mut names: Vec<&str> = shown.iter().map(|(pass, _)| graph.pass_name(*pass)).collect();
        let more = format!("({} more)", passes.len() - shown.len());
        if shown.len() < passes.len() {
            names.push(&more);
        }
        names.extend(shown.first().map(|(pass, _)| graph.pass_name(*pass)));
        let mut mistake =
            Mistake::new(Code::Cycle, format!("cycle: {}", names.join(" → ")), self.help_to_break(passes));
        if let Some((pass, _)) = shown.first() {
            mistake = mistake.pass(graph.pass_name(*pass));
        }
        for (at, (pass, via)) in shown.iter().enumerate() {
            let next = passes[(at + 1) % passes.len()].0;
            mistake = self.edge(mistake, *pass, next, *via);
        }
        mistake
    }

    /// Adds why `pass` must run before `next`.
    fn edge(&self, mistake: Mistake, pass: PassId, next: PassId, via: Via) -> Mistake {
        let graph = self.graph;
        match via {
            Via::Resource(resource) => {
                let says = format!("{}, then {}", self.does(pass, resource, ""), self.does(next, resource, ""));
                mistake.side(graph.resource_name(resource), says, None)
            }
            Via::Forward(resource) => {
                let [writer, reader] = [pass, next].map(|pass| self.does(pass, resource, ""));
                let says = format!("{writer}, {reader} and waits for the first writer");
                mistake.side(graph.resource_name(resource), says, None)
            }
            Via::Modifies(below, above) => {
                let [old, new] = [below, above].map(|resource| format!(" \"{}\"", graph.resource_name(resource)));
                let [first, second] = [self.does(pass, below, &old), self.does(next, above, &new)];
                let says = format!("modifies{old}: {first}, then {second}");
                mistake.side(graph.resource_name(above), says, self.resource_place(above))
            }
            Via::After => {
                let says = format!("is ordered after {}", graph.pass_name(pass));
                mistake.side(graph.pass_name(next), says, graph.pass_place(next).cloned())
            }
        }
    }

    fn help_to_break(&self, passes: &[(PassId, Via)]) -> String {
        let graph = self.graph;
        let next = |at: usize| passes[(at + 1) % passes.len()].0;
        let mut edges = passes.iter().enumerate();
        if let Some((reader, of)) = edges.clone().find_map(|(at, (_, via))| match via {
            Via::Forward(of) => Some((next(at), *of)),
            _ => None,
        }) {
            let (reader, name) = (graph.pass_name(reader), graph.resource_name(of));
            return format!(
                "let \"{reader}\" read last frame's contents (a history of \"{name}\"), or declare a writer of \"{name}\" before it"
            );
        }
        for (_, via) in passes {
            if let Via::Modifies(below, above) = via {
                let [old, new] = [below, above].map(|resource| graph.resource_name(*resource));
                return format!(
                    "finish with \"{old}\" before \"{new}\" is used, or copy \"{old}\" instead of modifying it"
                );
            }
        }
        match edges.find(|(_, (_, via))| *via == Via::After) {
            Some((at, (earlier, _))) => {
                let [earlier, later] = [*earlier, next(at)].map(|pass| graph.pass_name(pass));
                format!("do not order \"{later}\" after \"{earlier}\"")
            }
            None => "declare the passes in the order in which they use what they share".to_owned(),
        }
    }

    /// `blur writes (film.py:31)`.
    fn does(&self, pass: PassId, resource: ResourceId, name: &str) -> String {
        let usages = || self.between(pass, resource).map(|(_, access)| access.usage);
        let verb = match (usages().any(reads), usages().any(Usage::writes)) {
            (true, true) => "reads and writes",
            (false, true) => "writes",
            _ => "reads",
        };
        let place = self.between(pass, resource).next().and_then(|(id, _)| access_place(self.graph, id));
        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
        format!("{} {verb}{name}{place}", self.graph.pass_name(pass))
    }

    /// A reader (`None`: the caller, as a root) of what conditional `pass` writes, which holds nothing while `flag`
    /// is off.
    fn holds_nothing(&self, flag: FlagId, pass: PassId, resource: ResourceId, reader: Option<PassId>) -> Mistake {
        let graph = self.graph;
        let (writer, name, flag) = (graph.pass_name(pass), graph.resource_name(resource), &graph.flags()[flag]);
        let place = |pass: PassId, wanted: fn(Usage) -> bool| {
            let used = self.between(pass, resource).find(|(_, access)| wanted(access.usage));
            used.and_then(|(id, _)| access_place(graph, id)).or_else(|| graph.pass_place(pass).cloned())
        };
        let own = format!("give \"{writer}\" a fallback for \"{name}\"");
        let (message, help) = match reader {
            Some(reader) => {
                let reader = graph.pass_name(reader);
                let message =
                    format!("while flag \"{flag}\" is off, pass \"{reader}\" reads \"{name}\", which holds nothing");
                (message, format!("{own}, or write \"{name}\" before it, or put the reader under the same flag"))
            }
            None => (
                format!("while flag \"{flag}\" is off, root \"{name}\" holds nothing"),
                format!("write \"{name}\" before \"{writer}\", or {own} and make a copy of \"{name}\" the root"),
            ),
        };
        let says = format!("writes it only while \"{flag}\" is on");
        let mistake = Mistake::new(Code::BadCondition, message, help).pass(writer).resource(name).side(
            writer,
            says,
            place(pass, Usage::writes),
        );
        match reader {
            Some(reader) => mistake.side(graph.pass_name(reader), "reads it", place(reader, reads)),
            None => mistake,
        }
    }
}

fn declared(resource: &Resource) -> &'static str {
    match resource.life {
        Life::Transient => "declared here, transient",
        Life::Fresh => "declared here, fresh",
        Life::Persistent => "declared here, persistent",
        Life::History(_) => "declared here, a history",
        Life::Imported(_) => "declared here, imported",
    }
}

fn reads(usage: Usage) -> bool {
    !usage.writes() || matches!(usage, Usage::StorageReadWrite | Usage::AccelerationUpdate)
}

/// A root in whose memory another resource ends up.
pub fn root_modified(graph: &Graph, root: ResourceId, by: ResourceId) -> Mistake {
    let (name, taker) = (graph.resource_name(root), graph.resource_name(by));
    let message = format!("root \"{name}\" is lost: \"{taker}\" modifies it in its memory");
    let help = format!("make \"{taker}\" the root, or copy \"{name}\" instead of modifying it");
    Mistake::new(Code::BadModifies, message, help)
        .resource(name)
        .side(name, "a root", graph.resource_place(root).cloned())
        .side(taker, format!("modifies \"{name}\""), graph.resource_place(by).cloned())
}

/// One pass uses a memory by two names of which one modifies the other.
fn two_names(graph: &Graph, pass: PassId, accesses: [AccessId; 2]) -> Mistake {
    let of = |access: AccessId| declared_access(graph, access);
    let [first, second] = accesses.map(|at| graph.resource_name(of(at).resource));
    let name = graph.pass_name(pass);
    let [one, other] = accesses.map(|at| of(at).usage.name());
    let message = format!(
        "pass \"{name}\" uses \"{first}\" as {one} and \"{second}\" as {other}, but both are names of one memory"
    );
    let help = "use one name, or a copy: all uses of a modified resource come before those of the one that modifies it";
    with_both(Mistake::new(Code::BadAccess, message, help).pass(name).resource(second), graph, accesses)
}

fn overwritten_fallback(graph: &Graph, pass: PassId, accesses: [AccessId; 2]) -> Mistake {
    let of = |access: AccessId| declared_access(graph, access);
    let [output, input] = accesses.map(|at| graph.resource_name(of(at).resource));
    let name = graph.pass_name(pass);
    let message = format!(
        "pass \"{name}\" reads \"{output}\" and writes \"{input}\", the fallback of \"{output}\" while a pass is off"
    );
    let help =
        format!("read \"{output}\" in a pass of its own, or write a resource that starts as a copy of \"{input}\"");
    with_both(Mistake::new(Code::BadAccess, message, help).pass(name).resource(input), graph, accesses)
}

/// A mistake of two accesses, with the place of each.
fn with_both(mistake: Mistake, graph: &Graph, accesses: [AccessId; 2]) -> Mistake {
    accesses.iter().fold(mistake, |mistake, &at| {
        let access = declared_access(graph, at);
        let resource = graph.resource_name(access.resource);
        mistake.side(resource, access.usage.name(), graph.access_place(at.index()).cloned())
    })
}

/// The moment of a frame at which most bytes are alive.
#[derive(Clone, Default, Debug)]
pub struct Worst {
    /// The declared pass that runs then.
    pub pass: Option<PassId>,
    /// Bytes alive then.
    pub bytes: u64,
    /// The largest resources alive then: names and bytes.
    pub largest: Vec<(String, u64)>,
    /// Further resources alive then.
    pub others: usize,
}

/// What every permitted order of a frame needs of a class of memory.
#[derive(Clone, Default, Debug)]
pub struct Floor {
    /// The pass that runs at that moment.
    pub pass: String,
    /// Bytes alive then, whatever the order.
    pub bytes: u64,
    /// Resources alive then, the largest first: names, bytes, and why no order avoids it.
    pub alive: Vec<(String, u64, String)>,
}

/// Most resources that a proof names.
const PROVED: usize = 12;

/// A class of memory that is too small: it has `has` bytes, and the best order and placement found need `needs`.
/// Where every order needs more than there is, the message is the proof: what is alive, and why.
pub fn out_of_memory(
    graph: &Graph,
    memory_type: &str,
    [needs, has]: [u64; 2],
    worst: &Worst,
    floor: Option<&Floor>,
) -> Mistake {
    let mut message = format!("memory \"{memory_type}\" has {}, ", counted(has, "byte"));
    let help = "make the largest of them smaller, keep fewer roots, or plan for a device with more memory";
    if let Some(floor) = floor.filter(|floor| floor.bytes > has) {
        let Floor { pass, bytes, alive } = floor;
        message.push_str(&format!("and every permitted order of the frame needs {bytes}, alive while \"{pass}\" runs"));
        let mut mistake = Mistake::new(Code::OutOfMemory, message, help).pass(pass);
        for (name, bytes, why) in alive.iter().take(PROVED) {
            let place = graph.find_resource(name).and_then(|id| graph.resource_place(id).cloned());
            mistake = mistake.side(name, format!("{}: {why}", counted(*bytes, "byte")), place);
        }
        let others = alive.len().saturating_sub(PROVED);
        return further(mistake, others);
    }
    message.push_str(&format!("the best order found needs {needs}"));
    if let Some(pass) = worst.pass {
        let name = graph.pass_name(pass);
        message.push_str(&format!(" ({} alive while \"{name}\" runs)", counted(worst.bytes, "byte")));
    }
    if let Some(floor) = floor {
        message.push_str(&format!("; it is not proved that none fits, but none needs less than {}", floor.bytes));
    }
    let mut mistake = Mistake::new(Code::OutOfMemory, message, help);
    if let Some(pass) = worst.pass {
        mistake = mistake.pass(graph.pass_name(pass));
    }
    for (name, bytes) in &worst.largest {
        let place = graph.find_resource(name).and_then(|id| graph.resource_place(id).cloned());
        mistake = mistake.side(name, counted(*bytes, "byte"), place);
    }
    further(mistake, worst.others)
}

fn further(mistake: Mistake, others: usize) -> Mistake {
    match others {
        0 => mistake,
        _ => mistake.side("others", counted(others as u64, "further resource"), None),
    }
}

/// Where an access is declared; its pass where the access has no line of its own.
pub(super) fn access_place(graph: &Graph, id: AccessId) -> Option<Place> {
    graph.access_place(id.index()).or_else(|| graph.pass_place(declared_access(graph, id).pass)).cloned()
}
