//! Memory as a plan's barriers show it: each subresource holds a value and who wrote it; a reader gets the value only
//! if every write of it was made available and visible to the reader's queue, stage and access by what a barrier, wait
//! or entry names. Everything else reads as [`UNDEFINED`].
//!
//! Time is the number of nodes that ran. Global barriers, signals and waits are kept as events with their times and
//! looked up when somebody reads, so that they cost nothing where nobody does.
//!
//! Source: Vulkan 1.3 specification, "Memory Dependencies" (availability, visibility), "Semaphores", "Layout
//! Transitions", "Queue Family Ownership Transfer".

use rgraph_ir::access::{Accesses, Stages};
use rgraph_ir::plan::Scope;

use super::scene::NONE;
use crate::tables::{leaf, leaves};

/// No value, or one that cannot be relied on.
pub(crate) const UNDEFINED: u32 = 0;
/// What a fault left: it spoils all that is computed from it.
pub(crate) const POISON: u32 = 1;
/// Not yet.
pub(crate) const NEVER: u32 = u32::MAX;
/// The run of contents that were there before the first.
pub(crate) const BEFORE: i32 = -1;

/// Who wrote a subresource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    pub queue: u32,
    pub position: u32,
    pub stage: u8,
    pub access: u32,
    pub rendering: u32,
    pub subpass: u32,
    pub attachment: bool,
    pub instance: u32,
    /// The time at which it became available.
    pub available: u32,
    /// Up to which event of its queue that was looked for.
    pub looked: u32,
    /// A transition, entry or transfer: available from the time on at which it happens, and not before.
    pub transition: bool,
}

/// A barrier on a subresource that made one of its writers visible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub writer: u32,
    pub queue: u32,
    pub position: u32,
    pub rendering: u32,
    pub stages: u32,
    pub access: u32,
}

/// Who uses a subresource, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agent {
    pub queue: u32,
    pub position: u32,
    pub stage: u8,
    pub access: u32,
    pub rendering: u32,
    pub subpass: u32,
    pub attachment: bool,
    pub instance: u32,
}

/// What became of the writers of a value.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub value: u32,
    /// The run that wrote it, or [`BEFORE`].
    pub run: i32,
    pub writers: Vec<Writer>,
    pub grants: Vec<Grant>,
    /// Writers that barriers on others in the same bytes took in: writer, the subresource that the barrier named, time.
    pub lent: Vec<[u32; 3]>,
    /// Who saw all of it: [`NONE`], one instance, or [`MANY`].
    pub seen: u32,
    /// Whether the host saw all of it.
    host_saw: bool,
}

/// More than one instance.
pub(crate) const MANY: u32 = u32::MAX - 1;

impl Content {
    fn new() -> Self {
        Self {
            value: UNDEFINED,
            run: BEFORE,
            writers: Vec::new(),
            grants: Vec::new(),
            lent: Vec::new(),
            seen: NONE,
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
        (self.seen, self.host_saw) = (NONE, false);
    }

    fn clear(&mut self) {
        self.value = UNDEFINED;
        self.forget_writers();
    }
}

/// A subresource of a store.
#[derive(Clone, Debug)]
pub(crate) struct SubresourceState {
    pub now: Content,
    /// What an unordered group found.
    pub before: Content,
    pub group: u32,
    pub group_run: u32,
    pub instance: u32,
    /// The run (from 1) in which an older write may still land here; [`NEVER`]: a transition from a layout that it
    /// was not in left the image in no layout at all, until its contents are discarded.
    pub torn: u32,
    pub layout: u8,
    pub owner: Option<u32>,
    /// The list (0 images, 1 buffers) and position of a release that waits for its acquire.
    pub release: Option<(u8, u32)>,
}

impl SubresourceState {
    pub(crate) fn new() -> Self {
        Self {
            now: Content::new(),
            before: Content::new(),
            group: 0,
            group_run: 0,
            instance: NONE,
            torn: 0,
            layout: 0,
            owner: None,
            release: None,
        }
    }

    /// As it was before the first run.
    pub(crate) fn reset(&mut self, value: u32) {
        self.now.clear();
        self.before.clear();
        (self.now.value, self.now.run) = (value, BEFORE);
        (self.group, self.group_run, self.instance, self.torn) = (0, 0, NONE, 0);
        (self.layout, self.owner, self.release) = (0, None, None);
    }

    /// Forgets what the subresource held: other bytes took its place.
    pub(crate) fn destroy(&mut self) {
        self.now.clear();
        (self.group, self.instance) = (0, NONE);
    }
}

/// Something on a queue that made all writes of some stages available.
#[derive(Clone, Copy, Debug)]
struct Availability {
    time: u32,
    position: u32,
    stages: u32,
    access: u32,
    rendering: u32,
}

/// Something on a queue that made everything available up to a time visible.
#[derive(Clone, Copy, Debug)]
struct Visibility {
    until: u32,
    position: u32,
    stages: u32,
    access: u32,
    rendering: u32,
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
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    available: Vec<Vec<Availability>>,
    visible: Vec<Vec<Visibility>>,
    host: u32,
}

impl Events {
    pub(crate) fn new(host: usize) -> Self {
        let queues = host + 1;
        Self { available: vec![Vec::new(); queues], visible: vec![Vec::new(); queues], host: host as u32 }
    }

    /// How many events of a queue a new writer need not look at.
    pub(crate) fn looked(&self, queue: u32) -> u32 {
        self.available[queue as usize].len() as u32
    }

    /// Whether all writers of some contents were available at a time.
    pub(crate) fn all_available(&self, content: &mut Content, until: u32) -> bool {
        content.writers.iter_mut().all(|writer| self.available(writer) <= until)
    }

    /// The same where barriers on others in the same bytes may have taken the writers in: `counts` says on which.
    pub(crate) fn all_available_by(&self, content: &mut Content, until: u32, counts: impl Fn(u32) -> bool) -> bool {
        let Content { writers, lent, .. } = content;
        writers.iter_mut().enumerate().all(|(at, writer)| {
            let took = |[writer, to, time]: &[u32; 3]| *writer == at as u32 && *time <= until && counts(*to);
            self.available(writer) <= until || lent.iter().any(took)
        })
    }

    /// A global barrier's first scope.
    pub(crate) fn make_available(&mut self, queue: u32, position: u32, time: u32, scope: &Scope, rendering: u32) {
        let (stages, access) = (scope.src_stages.bits(), scope.src_access.bits());
        self.available[queue as usize].push(Availability { time, position, stages, access, rendering });
    }

    /// A signal.
    pub(crate) fn signal(&mut self, queue: u32, position: u32, time: u32) {
        let all = Availability { time, position, stages: u32::MAX, access: u32::MAX, rendering: NONE };
        self.available[queue as usize].push(all);
    }

    /// A global barrier's second scope; what became available by `until` is visible.
    pub(crate) fn make_visible(&mut self, queue: u32, position: u32, until: u32, scope: &Scope, rendering: u32) {
        let (stages, access) = (scope.dst_stages.bits(), scope.dst_access.bits());
        self.visible[queue as usize].push(Visibility { until, position, stages, access, rendering });
        if to_host(scope) {
            let all = Visibility { until, position: 0, stages: u32::MAX, access, rendering: NONE };
            self.visible[self.host as usize].push(all);
        }
    }

    /// A wait for a signal that was given at `until`.
    pub(crate) fn wait(&mut self, queue: u32, position: u32, until: u32, stages: Stages) {
        // What a wait shows the host was made visible to it by a barrier.
        if queue != self.host {
            let all = Visibility { until, position, stages: stages.bits(), access: u32::MAX, rendering: NONE };
            self.visible[queue as usize].push(all);
        }
    }

    /// When a writer became available.
    pub(crate) fn available(&self, writer: &mut Writer) -> u32 {
        if writer.available != NEVER {
            return writer.available;
        }
        let list = &self.available[writer.queue as usize];
        while let Some(event) = list.get(writer.looked as usize) {
            writer.looked += 1;
            let takes = event.position > writer.position
                && event.stages >> writer.stage & 1 == 1
                && event.access & writer.access != 0
                && (event.rendering == NONE || event.rendering == writer.rendering);
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
        (queue, position): (u32, u32),
        time: u32,
        scope: &Scope,
        rendering: u32,
        alias: Option<u32>,
    ) {
        for (at, writer) in content.writers.iter_mut().enumerate() {
            self.available(writer);
            let takes = writer.queue == queue
                && writer.position < position
                && scope.src_stages.bits() >> writer.stage & 1 == 1
                && scope.src_access.bits() & writer.access != 0
                && (rendering == NONE || writer.rendering == rendering);
            match alias.filter(|_| takes) {
                Some(place) => content.lent.push([at as u32, place, time]),
                None if takes && !writer.transition => writer.available = writer.available.min(time),
                None => {}
            }
        }
    }

    /// Makes the available writers of a subresource visible to a named barrier's second scope.
    pub(crate) fn show(
        &self,
        content: &mut Content,
        queue: u32,
        position: u32,
        until: u32,
        scope: &Scope,
        rendering: u32,
    ) {
        for at in 0..content.writers.len() {
            if self.available(&mut content.writers[at]) > until {
                continue;
            }
            let (stages, access) = (scope.dst_stages.bits(), scope.dst_access.bits());
            content.grants.push(Grant { writer: at as u32, queue, position, rendering, stages, access });
            if to_host(scope) {
                let (queue, stages) = (self.host, u32::MAX);
                let position = 0;
                content.grants.push(Grant { writer: at as u32, queue, position, rendering: NONE, stages, access });
            }
        }
    }

    /// Notes that an agent saw all of some contents.
    pub(crate) fn see(&self, content: &mut Content, agent: &Agent) {
        let first = content.seen == NONE || content.seen == agent.instance;
        content.seen = if first { agent.instance } else { MANY };
        content.host_saw |= agent.queue == self.host;
    }

    /// Whether somebody else saw all of some contents: a write after that read need not see it again. What a device
    /// saw, the host has not seen.
    pub(crate) fn was_seen(&self, content: &Content, agent: &Agent) -> bool {
        match agent.queue == self.host {
            true => content.host_saw,
            false => content.seen != NONE && content.seen != agent.instance,
        }
    }

    /// Whether all writers of some contents are visible to an agent.
    pub(crate) fn sees(&self, content: &mut Content, agent: &Agent) -> Sight {
        let mut all = Sight::Yes;
        for at in 0..content.writers.len() {
            let mut writer = content.writers[at];
            let own = writer.instance == agent.instance && !writer.transition
                || writer.queue == self.host && agent.queue == self.host;
            let local = writer.rendering != NONE
                && writer.rendering == agent.rendering
                && writer.subpass == agent.subpass
                && writer.attachment
                && agent.attachment;
            let granted = |grant: &Grant| {
                grant.writer == at as u32
                    && grant.queue == agent.queue
                    && (grant.position < agent.position || grant.queue == self.host)
                    && grant.stages >> agent.stage & 1 == 1
                    && grant.access & agent.access != 0
                    && (grant.rendering == NONE || grant.rendering == agent.rendering)
            };
            if content.grants.iter().any(granted) || self.shown(&mut writer, agent) {
                content.writers[at] = writer;
                continue;
            }
            content.writers[at] = writer;
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
        if available == NEVER {
            return false;
        }
        self.visible[agent.queue as usize].iter().rev().any(|event| {
            event.until >= available
                && (event.position < agent.position || agent.queue == self.host)
                && event.stages >> agent.stage & 1 == 1
                && event.access & agent.access != 0
                && (event.rendering == NONE || event.rendering == agent.rendering)
        })
    }
}

/// Whether a barrier's second scope has the host.
fn to_host(scope: &Scope) -> bool {
    leaves(scope.dst_stages).any(|stage| leaf(stage) == Stages::HOST)
        && scope.dst_access.intersects(Accesses::HOST_READ | Accesses::HOST_WRITE)
}
