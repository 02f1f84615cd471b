//! Synchronization that a plan could do without: barrier entries, waits, stages and accesses are removed one after the
//! other, and what the verdict needs is put back. What stays is minimal: of two parts that can replace each other, the
//! first counts as redundant and the second as needed.

use rgraph_ir::access::{Accesses, Stages};
use rgraph_ir::graph::Graph;
use rgraph_ir::id::{Id, Span};
use rgraph_ir::plan::{Barriers, BatchId, Command, Plan, PlanPassId, Scope, Why};
use rgraph_ir::resource::ResourceId;

use crate::facts::Facts;
use crate::finding::Findings;
use crate::ids::{BufferBarrierId, CommandId, DeclaredOf, ImageBarrierId, MemoryBarrierId, WaitId};
use crate::machine::Machine;
use crate::structure;
use crate::subresource::meant;

/// A wait, or an entry of a barrier call or event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// A wait of a batch.
    Wait(WaitId),
    /// A global memory barrier.
    Memory(MemoryBarrierId),
    Buffer(BufferBarrierId),
    Image(ImageBarrierId),
}

impl Entry {
    /// Its kind: `wait`, `memory`, `buffer` or `image`.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Wait(_) => "wait",
            Self::Memory(_) => "memory",
            Self::Buffer(_) => "buffer",
            Self::Image(_) => "image",
        }
    }
}

/// The part of an entry that is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EntryPart {
    /// All of it. Layout changes and transfers of ownership are never examined as a whole.
    Whole,
    /// One stage waited for.
    SourceStage(Stages),
    /// One kind of write made available.
    SourceAccess(Accesses),
    /// One stage that waits.
    DestinationStage(Stages),
    /// One kind of access that writes are made visible to.
    DestinationAccess(Accesses),
}

impl EntryPart {
    /// Its kind: `entry`, `source_stage`, `source_access`, `destination_stage` or `destination_access`.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Whole => "entry",
            Self::SourceStage(_) => "source_stage",
            Self::SourceAccess(_) => "source_access",
            Self::DestinationStage(_) => "destination_stage",
            Self::DestinationAccess(_) => "destination_access",
        }
    }

    /// The stage or access, in the words of plan files; empty for the whole.
    pub fn word(self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::SourceStage(stages) | Self::DestinationStage(stages) => stages.names().collect::<Vec<_>>().join("|"),
            Self::SourceAccess(access) | Self::DestinationAccess(access) => {
                access.names().collect::<Vec<_>>().join("|")
            }
        }
    }

    fn removed_from(self, scope: Scope) -> Scope {
        match self {
            Self::Whole => Scope::default(),
            Self::SourceStage(stage) => Scope { src_stages: scope.src_stages - stage, ..scope },
            Self::SourceAccess(access) => Scope { src_access: scope.src_access - access, ..scope },
            Self::DestinationStage(stage) => Scope { dst_stages: scope.dst_stages - stage, ..scope },
            Self::DestinationAccess(access) => Scope { dst_access: scope.dst_access - access, ..scope },
        }
    }

    /// The single stages and accesses of a scope; accesses first, since a stage that they alone need is not needed
    /// without them.
    fn all(scope: Scope) -> impl Iterator<Item = Self> {
        let writes = scope.src_access.iter().map(Self::SourceAccess);
        let sources = scope.src_stages.iter().map(Self::SourceStage);
        let reads = scope.dst_access.iter().map(Self::DestinationAccess);
        let destinations = scope.dst_stages.iter().map(Self::DestinationStage);
        writes.chain(sources).chain(reads).chain(destinations)
    }
}

/// One part of a plan's synchronization.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Examined {
    /// The batch that contains it.
    pub batch: BatchId,
    /// The command; `None` for waits.
    pub command: Option<CommandId>,
    pub entry: Entry,
    pub part: EntryPart,
    /// The pass that the entry is for.
    pub pass: Option<PlanPassId>,
    /// The resource that the entry names, or is for.
    pub resource: Option<ResourceId>,
    /// Whether the plan is as right without it and all redundant parts listed before it.
    pub redundant: bool,
}

impl Examined {
    /// Position of the command among those of its batch, and of the entry among those of its kind there.
    pub fn position(&self, plan: &Plan) -> (Option<usize>, usize) {
        let batch = &plan.batches[self.batch];
        let command = self.command.map(|command| command.index() - batch.commands.range().start);
        let barriers = self.command.and_then(|command| match plan.commands[command.index()] {
            Command::Barriers(b) | Command::SetEvent(_, b) | Command::WaitEvents(_, b) => Some(b),
            _ => None,
        });
        let barriers = barriers.unwrap_or_default();
        let at = match self.entry {
            Entry::Wait(id) => id.index() - batch.waits.range().start,
            Entry::Memory(id) => id.index() - barriers.memory.range().start,
            Entry::Buffer(id) => id.index() - barriers.buffers.range().start,
            Entry::Image(id) => id.index() - barriers.images.range().start,
        };
        (command, at)
    }

    /// One sentence with its place.
    pub fn describe(&self, plan: &Plan) -> String {
        let what = match (self.entry, self.part) {
            (Entry::Wait(_), EntryPart::Whole) => "the wait".to_owned(),
            (Entry::Wait(_), part) => format!("{} of the wait", part.word()),
            (entry, EntryPart::Whole) => format!("the {} barrier", entry.kind()),
            (entry, part) => {
                format!("{} {} of the {} barrier", part.kind().replace('_', " "), part.word(), entry.kind())
            }
        };
        let of = match self.entry {
            Entry::Wait(id) => {
                let wait = plan.waits[id.index()];
                let queue = wait.queue.map_or("the host".to_owned(), |queue| format!("queue {}", queue.index()));
                let run = if wait.previous_run { " in the run before" } else { "" };
                format!(" for value {} of {queue}{run}", wait.value)
            }
            _ => self.resource.map_or(String::new(), |id| format!(" on \"{}\"", plan.resource_name(id))),
        };
        let before = self.pass.map_or(String::new(), |pass| format!(" for pass \"{}\"", plan.pass_name(pass)));
        let (command, _) = self.position(plan);
        let command = command.map_or(String::new(), |command| format!(", command {command}"));
        format!("{what}{of}{before} in batch {}{command} is redundant", self.batch.index())
    }
}

/// Examines every barrier entry, wait, stage and access of a plan: would it be as right without it and without the
/// redundant ones before it?
///
/// Batches in order; in a batch waits, then commands; of an entry all of it, then accesses and stages. Empty if the
/// plan is not right. Parts of a redundant entry are not examined one by one. Quadratic: one verdict per part.
pub fn minimal(graph: &Graph, plan: &Plan) -> Vec<Examined> {
    if !crate::check(graph, plan).is_empty() {
        return Vec::new();
    }
    let facts = Facts::new(graph, Some(plan));
    let mut examiner = Examiner {
        facts: &facts,
        declared_of: structure::passes(&facts, plan, &mut Findings::default()),
        plan: plan.clone(),
        found: Vec::new(),
    };
    examiner.examine();
    examiner.found
}

/// Tries parts out on a copy of the plan.
struct Examiner<'f> {
    facts: &'f Facts<'f>,
    declared_of: DeclaredOf,
    plan: Plan,
    found: Vec<Examined>,
}

impl Examiner<'_> {
    fn examine(&mut self) {
        for batch in self.plan.batches.ids() {
            let [waits, commands] = [self.plan.batches[batch].waits, self.plan.batches[batch].commands];
            for at in waits.range() {
                self.wait(batch, WaitId::new(at));
            }
            for at in commands.range() {
                match self.plan.commands[at] {
                    Command::Barriers(barriers) => self.call(batch, CommandId::new(at), barriers, None),
                    Command::SetEvent(event, barriers) => {
                        let twin = self.plan.commands.iter().find_map(|other| match other {
                            Command::WaitEvents(known, twin) if *known == event => Some(*twin),
                            _ => None,
                        });
                        self.call(batch, CommandId::new(at), barriers, twin);
                    }
                    _ => {}
                }
            }
        }
    }

    fn wait(&mut self, batch: BatchId, id: WaitId) {
        let scope = Scope { dst_stages: self.plan.waits[id.index()].stages, ..Scope::default() };
        self.entry(
            Subject { batch, command: None, entry: Entry::Wait(id), twin: None, why: None, resource: None },
            scope,
            true,
        );
    }

    fn call(&mut self, batch: BatchId, command: CommandId, barriers: Barriers, twin: Option<Barriers>) {
        let paired =
            |own: Span, other: Option<Span>, at: usize| other.map(|other| other.range().start + at - own.range().start);
        for at in barriers.memory.range() {
            let twin = paired(barriers.memory, twin.map(|twin| twin.memory), at).map(|at| Entry::Memory(Id::new(at)));
            let one = self.plan.memory_barriers[at];
            let entry = Entry::Memory(Id::new(at));
            self.entry(
                Subject {
                    batch,
                    command: Some(command),
                    entry,
                    twin,
                    why: Some(one.why),
                    resource: Some(one.why.resource),
                },
                one.scope,
                true,
            );
        }
        for at in barriers.buffers.range() {
            let twin = paired(barriers.buffers, twin.map(|twin| twin.buffers), at).map(|at| Entry::Buffer(Id::new(at)));
            let one = self.plan.buffer_barriers[at];
            let entry = Entry::Buffer(Id::new(at));
            let subject = Subject {
                batch,
                command: Some(command),
                entry,
                twin,
                why: Some(one.why),
                resource: Some(one.resource),
            };
            self.entry(subject, one.scope, one.families.is_none());
        }
        for at in barriers.images.range() {
            let twin = paired(barriers.images, twin.map(|twin| twin.images), at).map(|at| Entry::Image(Id::new(at)));
            let one = self.plan.image_barriers[at];
            let entry = Entry::Image(Id::new(at));
            let subject = Subject {
                batch,
                command: Some(command),
                entry,
                twin,
                why: Some(one.why),
                resource: Some(one.resource),
            };
            self.entry(subject, one.scope, one.families.is_none() && one.old_layout == one.new_layout);
        }
    }

    /// The whole of an entry, where it is nothing but a dependency, then its parts.
    fn entry(&mut self, subject: Subject, scope: Scope, dependency: bool) {
        if dependency && self.part(&subject, scope, EntryPart::Whole) {
            return;
        }
        let mut left = scope;
        for part in EntryPart::all(scope) {
            if self.part(&subject, left, part) {
                left = part.removed_from(left);
            }
        }
    }

    /// Removes a part from the rest of its entry, and puts it back if the verdict needs it.
    fn part(&mut self, subject: &Subject, scope: Scope, part: EntryPart) -> bool {
        let entries = [Some(subject.entry), subject.twin];
        for entry in entries.into_iter().flatten() {
            self.put(entry, part.removed_from(scope));
        }
        let redundant = self.is_right();
        if !redundant {
            for entry in entries.into_iter().flatten() {
                self.put(entry, scope);
            }
        }
        let pass = subject.why.as_ref().and_then(meant).filter(|pass| self.plan.passes.get(*pass).is_some());
        self.found.push(Examined {
            batch: subject.batch,
            command: subject.command,
            entry: subject.entry,
            part,
            pass,
            resource: subject.resource.filter(|id| id.index() < self.plan.resources.len()),
            redundant,
        });
        redundant
    }

    fn put(&mut self, entry: Entry, scope: Scope) {
        match entry {
            Entry::Wait(id) => self.plan.waits[id.index()].stages = scope.dst_stages,
            Entry::Memory(id) => self.plan.memory_barriers[id.index()].scope = scope,
            Entry::Buffer(id) => self.plan.buffer_barriers[id.index()].scope = scope,
            Entry::Image(id) => self.plan.image_barriers[id.index()].scope = scope,
        }
    }

    /// The verdict on what depends on synchronization; the first finding is enough.
    fn is_right(&self) -> bool {
        let mut findings = Findings::first();
        structure::scopes(&self.plan, &mut findings);
        if findings.is_empty() {
            Machine::new(self.facts, &self.plan, &self.declared_of, &mut findings).walk();
        }
        findings.is_empty()
    }
}

/// An entry to examine: where it stands, its other half if it is an event's, and why it is there.
struct Subject {
    batch: BatchId,
    command: Option<CommandId>,
    entry: Entry,
    twin: Option<Entry>,
    why: Option<Why>,
    resource: Option<ResourceId>,
}
