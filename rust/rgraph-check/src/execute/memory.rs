//! Memory as a plan's barriers show it: each subresource holds a value and who wrote it; a reader gets the value only
//! if every write of it was made available and visible to the reader's queue, stage and access by what a barrier, wait
//! or entry names. Everything else reads as [`UNDEFINED`].
//!
//! Time is the number of nodes that ran. Global barriers, signals and waits are kept as events with their times and
//! looked up when somebody reads, so that they cost nothing where nobody does.
//!
//! Source: Vulkan 1.3 specification, "Memory Dependencies" (availability, visibility), "Semaphores", "Layout
//! Transitions", "Queue Family Ownership Transfer".

use rgraph_ir::access::{Accesses, Layout, Stages};
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{QueueId, Scope};

use super::ids::{
    Actor, AvailabilityId, PlaceId, Position, RenderingInstance, RunId, Time, UNDEFINED, ValueId, WriterId,
};
use crate::ids::{BufferBarrierId, ImageBarrierId, Subpass, UnorderedGroupId};
use crate::tables::{leaf, leaves};

/// Who wrote a subresource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    pub queue: QueueId,
    pub position: Position,
    pub stage: u8,
    pub access: Accesses,
    pub rendering: Option<RenderingInstance>,
    pub subpass: Subpass,
    pub attachment: bool,
    /// `None` for transitions, entries and transfers.
    pub actor: Option<Actor>,
    /// The time at which it became available.
    pub available: Time,
    /// The first event of its queue that was not yet looked at for that.
    pub looked: AvailabilityId,
    /// A transition, entry or transfer: available from the time on at which it happens, and not before.
    pub transition: bool,
}

/// A barrier on a subresource that made one of its writers visible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub writer: WriterId,
    pub queue: QueueId,
    pub position: Position,
    /// The render pass that it is limited to.
    pub rendering: Option<RenderingInstance>,
    pub stages: Stages,
    pub access: Accesses,
}

/// A writer that a barrier on another subresource in the same bytes took in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lent {
    pub writer: WriterId,
    /// The subresource that the barrier named.
    pub to: PlaceId,
    pub time: Time,
}

/// Who uses a subresource, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agent {
    pub queue: QueueId,
    pub position: Position,
    pub stage: u8,
    pub access: Accesses,
    pub rendering: Option<RenderingInstance>,
    pub subpass: Subpass,
    pub attachment: bool,
    pub actor: Actor,
}

/// Who saw all of some contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    Nobody,
    One(Actor),
    Many,
}

/// Until when an older write may still land on a subresource. Later states are worse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Torn {
    No,
    /// In this run.
    In(RunId),
    /// A transition from a layout that it was not in left the image in no layout at all, until its contents are
    /// discarded.
    Always,
}

/// A release that waits for its acquire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Release {
    Image(ImageBarrierId),
    Buffer(BufferBarrierId),
}

/// What became of the writers of a value.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub value: ValueId,
    /// The run that wrote it; `None` for what was there before the first.
    pub run: Option<RunId>,
    pub writers: IdVec<WriterId, Writer>,
    pub grants: Vec<Grant>,
    pub lent: Vec<Lent>,
    pub seen: Seen,
    /// Whether the host saw all of it.
    host_saw: bool,
}

impl Content {
    fn new() -> Self {
        Self {
            value: UNDEFINED,
            run: None,
            writers: IdVec::new(),
            grants: Vec::new(),
            lent: Vec::new(),
            seen: Seen::Nobody,
            host_saw: false,
        }
    }

    /// One writer in place of all others.
    pub(crate) fn replace(&mut self, writer: Writer) {
        self.forget_writers();
        self.writers.push(writer);
    }

    /// Nobody wrote it, so nobody saw it.
    pub(crate) fn forget_writers(&mut self) {
        self.writers.clear();
        self.grants.clear();
        self.lent.clear();
        (self.seen, self.host_saw) = (Seen::Nobody, false);
    }

    fn clear(&mut self) {
        self.value = UNDEFINED;
        self.forget_writers();
    }
}

/// A subresource of an allocation.
#[derive(Clone, Debug)]
pub(crate) struct SubresourceContents {
    pub now: Content,
    /// What an unordered group found.
    pub before: Content,
    /// The unordered group that wrote it last, and in which run.
    pub group: Option<(UnorderedGroupId, RunId)>,
    /// Who wrote it last.
    pub actor: Option<Actor>,
    pub torn: Torn,
    pub layout: Layout,
    pub owner: Option<u32>,
    pub release: Option<Release>,
}

impl SubresourceContents {
    pub(crate) fn new() -> Self {
        Self {
            now: Content::new(),
            before: Content::new(),
            group: None,
            actor: None,
            torn: Torn::No,
            layout: Layout::Undefined,
            owner: None,
            release: None,
        }
    }

    /// As it was before the first run.
    pub(crate) fn reset(&mut self, value: ValueId) {
        self.now.clear();
        self.before.clear();
        (self.now.value, self.now.run) = (value, None);
        (self.group, self.actor, self.torn) = (None, None, Torn::No);
        (self.layout, self.owner, self.release) = (Layout::Undefined, None, None);
    }

    /// Forgets what the subresource held: other bytes took its place.
    pub(crate) fn destroy(&mut self) {
        self.now.clear();
        (self.group, self.actor) = (None, None);
    }
}

/// Something on a queue that made all writes of some stages available.
#[derive(Clone, Copy, Debug)]
struct Availability {
    time: Time,
    position: Position,
    stages: Stages,
    access: Accesses,
    rendering: Option<RenderingInstance>,
}

/// Something on a queue that made everything available up to a time visible.
#[derive(Clone, Copy, Debug)]
struct Visibility {
    until: Time,
    position: Position,
    stages: Stages,
    access: Accesses,
    rendering: Option<RenderingInstance>,
}

/// Whether a value may be relied on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sight {
    No,
    /// Within one subpass, or by the pass itself.
    Local,
    Yes,
}

/// What global barriers, signals and waits did, by queue.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    available: IdVec<QueueId, IdVec<AvailabilityId, Availability>>,
    visible: IdVec<QueueId, Vec<Visibility>>,
    host: QueueId,
}

impl Events {
    /// Of some queues and the host behind them.
    pub(crate) fn new(host: QueueId) -> Self {
        let queues = host.index() + 1;
        Self { available: IdVec::filled(IdVec::new(), queues), visible: IdVec::filled(Vec::new(), queues), host }
    }

    /// The first event of a queue that a new writer has to look at.
    pub(crate) fn looked(&self, queue: QueueId) -> AvailabilityId {
        self.available[queue].next_id()
    }

    /// Whether all writers of some contents were available at a time.
    pub(crate) fn all_available(&self, content: &mut Content, until: Time) -> bool {
        content.writers.iter_mut().all(|writer| self.available(writer) <= until)
    }

    /// The same where barriers on others in the same bytes may have taken the writers in: `counts` says on which.
    pub(crate) fn all_available_by(
        &self,
        content: &mut Content,
        until: Time,
        counts: impl Fn(PlaceId) -> bool,
    ) -> bool {
        let Content { writers, lent, .. } = content;
        writers.ids().all(|id| {
            let took = |lent: &Lent| lent.writer == id && lent.time <= until && counts(lent.to);
            self.available(&mut writers[id]) <= until || lent.iter().any(took)
        })
    }

    /// A global barrier's first scope.
    pub(crate) fn make_available(
        &mut self,
        (queue, position): (QueueId, Position),
        time: Time,
        scope: &Scope,
        rendering: Option<RenderingInstance>,
    ) {
        let (stages, access) = (scope.src_stages, scope.src_access);
        self.available[queue].push(Availability { time, position, stages, access, rendering });
    }

    pub(crate) fn signal(&mut self, queue: QueueId, position: Position, time: Time) {
        let (stages, access) = (Stages::all(), Accesses::all());
        self.available[queue].push(Availability { time, position, stages, access, rendering: None });
    }

    /// A global barrier's second scope; what became available by `until` is visible.
    pub(crate) fn make_visible(
        &mut self,
        (queue, position): (QueueId, Position),
        until: Time,
        scope: &Scope,
        rendering: Option<RenderingInstance>,
    ) {
        let (stages, access) = (scope.dst_stages, scope.dst_access);
        self.visible[queue].push(Visibility { until, position, stages, access, rendering });
        if to_host(scope) {
            let access = shown_to_host(scope);
            let all = Visibility { until, position: Position(0), stages: Stages::all(), access, rendering: None };
            self.visible[self.host].push(all);
        }
    }

    /// A wait for a signal that was given at `until`.
    pub(crate) fn wait(&mut self, queue: QueueId, position: Position, until: Time, stages: Stages) {
        // What a wait shows the host was made visible to it by a barrier.
        if queue != self.host {
            let access = Accesses::all();
            self.visible[queue].push(Visibility { until, position, stages, access, rendering: None });
        }
    }

    /// When a writer became available.
    pub(crate) fn available(&self, writer: &mut Writer) -> Time {
        if writer.available != Time::NEVER {
            return writer.available;
        }
        let list = &self.available[writer.queue];
        while let Some(event) = list.get(writer.looked) {
            writer.looked = AvailabilityId::new(writer.looked.index() + 1);
            let takes = event.position > writer.position
                && has(event.stages, writer.stage)
                && event.access.intersects(writer.access)
                && (event.rendering.is_none() || event.rendering == writer.rendering);
            if takes {
                writer.available = event.time;
                break;
            }
        }
        writer.available
    }

    /// Makes the writers in a named barrier's first scope available, unless something before it did. `alias`: the
    /// barrier names that subresource in the same bytes, and they are available to it.
    pub(crate) fn take(
        &self,
        content: &mut Content,
        (queue, position): (QueueId, Position),
        time: Time,
        scope: &Scope,
        rendering: Option<RenderingInstance>,
        alias: Option<PlaceId>,
    ) {
        for id in content.writers.ids() {
            let writer = &mut content.writers[id];
            self.available(writer);
            let takes = writer.queue == queue
                && writer.position < position
                && has(scope.src_stages, writer.stage)
                && scope.src_access.intersects(writer.access)
                && (rendering.is_none() || writer.rendering == rendering);
            match alias.filter(|_| takes) {
                Some(to) => content.lent.push(Lent { writer: id, to, time }),
                None if takes && !writer.transition => writer.available = writer.available.min(time),
                None => {}
            }
        }
    }

    /// Makes the available writers of a subresource visible to a named barrier's second scope.
    pub(crate) fn show(
        &self,
        content: &mut Content,
        (queue, position): (QueueId, Position),
        until: Time,
        scope: &Scope,
        rendering: Option<RenderingInstance>,
    ) {
        for writer in content.writers.ids() {
            if self.available(&mut content.writers[writer]) > until {
                continue;
            }
            let (stages, access) = (scope.dst_stages, scope.dst_access);
            content.grants.push(Grant { writer, queue, position, rendering, stages, access });
            if to_host(scope) {
                let (queue, position, stages) = (self.host, Position(0), Stages::all());
                let access = shown_to_host(scope);
                content.grants.push(Grant { writer, queue, position, rendering: None, stages, access });
            }
        }
    }

    /// Notes that an agent saw all of some contents.
    pub(crate) fn see(&self, content: &mut Content, agent: &Agent) {
        let first = content.seen == Seen::Nobody || content.seen == Seen::One(agent.actor);
        content.seen = if first { Seen::One(agent.actor) } else { Seen::Many };
        content.host_saw |= agent.queue == self.host;
    }

    /// Whether somebody else saw all of some contents: a write after that read need not see it again. What a device
    /// saw, the host has not seen.
    pub(crate) fn was_seen(&self, content: &Content, agent: &Agent) -> bool {
        match agent.queue == self.host {
            true => content.host_saw,
            false => content.seen != Seen::Nobody && content.seen != Seen::One(agent.actor),
        }
    }

    /// Whether all writers of some contents are visible to an agent.
    pub(crate) fn sees(&self, content: &mut Content, agent: &Agent) -> Sight {
        let mut all = Sight::Yes;
        for id in content.writers.ids() {
            let mut writer = content.writers[id];
            let own = writer.actor == Some(agent.actor) && !writer.transition
                || writer.queue == self.host && agent.queue == self.host;
            let local = writer.rendering.is_some()
                && writer.rendering == agent.rendering
                && writer.subpass == agent.subpass
                && writer.attachment
                && agent.attachment;
            let granted = |grant: &Grant| {
                grant.writer == id
                    && grant.queue == agent.queue
                    && (grant.position < agent.position || grant.queue == self.host)
                    && has(grant.stages, agent.stage)
                    && grant.access.intersects(agent.access)
                    && (grant.rendering.is_none() || grant.rendering == agent.rendering)
            };
            let shown = content.grants.iter().any(granted) || self.shown(&mut writer, agent);
            content.writers[id] = writer;
            if shown {
                continue;
            }
            if own || local {
                all = Sight::Local;
            } else {
                return Sight::No;
            }
        }
        all
    }

    fn shown(&self, writer: &mut Writer, agent: &Agent) -> bool {
        let available = self.available(writer);
        if available == Time::NEVER {
            return false;
        }
        self.visible[agent.queue].iter().rev().any(|event| {
            event.until >= available
                && (event.position < agent.position || agent.queue == self.host)
                && has(event.stages, agent.stage)
                && event.access.intersects(agent.access)
                && (event.rendering.is_none() || event.rendering == agent.rendering)
        })
    }
}

/// Whether a scope has a leaf stage; none has what presents.
fn has(stages: Stages, stage: u8) -> bool {
    stages.bits().checked_shr(u32::from(stage)).is_some_and(|bits| bits & 1 == 1)
}

/// The accesses of the host that a barrier to it shows contents to. Writes need them in the host's domain only, where
/// either access brings them (Vulkan 1.3, Appendix B, "Location-Ordered").
fn shown_to_host(scope: &Scope) -> Accesses {
    scope.dst_access | Accesses::HOST_WRITE
}

/// Whether a barrier's second scope has the host.
fn to_host(scope: &Scope) -> bool {
    leaves(scope.dst_stages).any(|stage| leaf(stage) == Stages::HOST)
        && scope.dst_access.intersects(Accesses::HOST_READ | Accesses::HOST_WRITE)
}
