//! Read groups: the uses of a subresource that are not ordered among themselves. One write, a group of unordered ones,
//! or the reads between two writes.
//!
//! All uses of a read group that may run at once need the subresource in one layout. If a read group spans queues, the
//! layout transition is either on the queue of the write before it, or at its first use, which the others then follow:
//! such orderings, and those that an ownership transfer needs, are added here. They all point forward in the linear
//! order, so they cannot make a cycle. O(subresources accessed).

use super::schedule::LaneId;
use crate::access::{Layout, Sharing};
use crate::id::{IdSpan, IdVec};
use crate::plan::PlanPassId;
use crate::resource::{Life, ResourceId};
use crate::stages::context::Context;
use crate::stages::ids::{ReadGroupId, SubresourceId, UnorderedGroupId, ViewId, VisitId};
use crate::stages::resolve::meaning::Effect;
use crate::stages::resolve::{ResolvedAccess, declared_of};

crate::id! {
    /// The uses of a read group by one queue.
    struct MemberId;
}

/// Uses of one subresource that are not ordered among themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadGroup {
    /// Queues of its uses, one bit each; the host has one too.
    pub queues: u32,
    /// Their layout; of several where they differ, [`Layout::General`] if they may run at once.
    pub layout: Layout,
    /// Whether its uses have different layouts, one after the other on one queue.
    pub serial_layouts: bool,
    /// Whether it reads only.
    pub reads: bool,
    /// The queue of the single write before it, if it reads and there is one on a GPU queue.
    pub producer: Option<LaneId>,
    /// The first of its uses on that queue, by position in the linear order.
    pub first_producer: Option<PlanPassId>,
    /// Whether it is a group of unordered uses, or follows one that spans queues: on several queues itself, it
    /// stays in [`Layout::General`], since no queue could change the layout for all.
    pub multi_queue: bool,
    /// Whether it begins with an ownership transfer.
    pub moved: bool,
    /// Whether it is the first of its subresource in the frame.
    pub opens: bool,
    /// Whether only the host reads an image without contents and layout. The host records no barriers, so the layout
    /// stays `UNDEFINED`.
    pub empty: bool,
    members: MemberId,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    queue: LaneId,
    first: PlanPassId,
    last: PlanPassId,
    next: Option<MemberId>,
}

#[derive(Clone, Copy, Debug)]
struct OpenGroup {
    read_group: Option<ReadGroupId>,
    family: Option<u32>,
    unordered: Option<UnorderedGroupId>,
}

impl ReadGroup {
    /// Whether its first use makes the layout transition or acquire for all: if one is needed (`needed`), or if it
    /// begins with an ownership transfer or opens the frame, and the queue of the write before does not make it.
    pub(crate) fn first_prepares(&self, needed: bool) -> bool {
        (needed || self.moved || self.opens) && self.producer.is_none()
    }

    /// Whether all its uses are on one queue, or on the host.
    pub(crate) fn is_on_one_queue(&self) -> bool {
        self.queues.is_power_of_two()
    }

    /// The layout of all its uses, if they share one; else each use has its own in turn.
    pub(crate) fn layout_of(&self, own: Layout) -> Layout {
        match self.empty {
            true => Layout::Undefined,
            false if self.serial_layouts && self.is_on_one_queue() => own,
            false => self.layout,
        }
    }
}

/// Read groups of a schedule.
#[derive(Default, Debug)]
pub(crate) struct ReadGroups {
    /// All of them.
    pub read_groups: IdVec<ReadGroupId, ReadGroup>,
    /// The read group of each subresource of each access, in the order of the schedule.
    pub of: IdVec<VisitId, ReadGroupId>,
    /// Orderings that the read groups need beyond the graph's: positions in the linear order, `(later, earlier)`,
    /// sorted.
    pub extra: Vec<(PlanPassId, PlanPassId)>,
    /// Of these, the ones that let a last use leave a subresource for uses on other queues, sorted.
    pub gathered: Vec<(PlanPassId, PlanPassId, SubresourceId)>,
    /// How each memory is shared among queue families.
    pub sharing: IdVec<ResourceId, Sharing>,
    members: IdVec<MemberId, Member>,
    states: IdVec<SubresourceId, OpenGroup>,
    use_of: IdVec<ResourceId, MemoryUse>,
    views: Vec<(ViewId, ReadGroupId)>,
}

#[derive(Clone, Copy, Debug)]
struct MemoryUse {
    last: Option<u32>,
    switches: u32,
    attachment: bool,
    host: bool,
    host_writes: bool,
    /// Its declared sharing, under any of its names.
    declared: Option<Sharing>,
    /// The family that read it since the last write, if one did.
    reader: Option<u32>,
    /// Whether two families read it between two writes.
    together: bool,
}

impl ReadGroups {
    /// Finds the read groups of `frame`; notes what cannot be as declared.
    pub(crate) fn find(&mut self, context: Context<'_>, notes: &mut Vec<String>) {
        self.choose_sharing(context, notes);
        self.read_groups.clear();
        self.of.clear();
        self.extra.clear();
        self.gathered.clear();
        self.members.clear();
        let blank = OpenGroup { read_group: None, family: None, unordered: None };
        self.states.refill(blank, context.facts.subresources.count());
        for at in context.schedule.passes.ids() {
            crate::cancel::poll();
            for access in context.accesses(at) {
                let memory = context.facts.memory[access.resource];
                let exclusive = self.sharing[memory] == Sharing::Exclusive;
                for subresource in access.subresources.ids() {
                    self.use_subresource(context, at, access, subresource, memory, exclusive);
                }
            }
        }
        self.join_layouts(context);
        self.close_edges(context);
        self.extra.sort_unstable();
        self.extra.dedup();
        self.gathered.sort_unstable();
        self.gathered.dedup();
    }

    /// Exclusive where one family uses it, or an attachment passes once from one family to another; concurrent
    /// where transfers of ownership would cost more than the compression that they keep, or where two families read at
    /// once what a transfer would make them read in turn.
    fn choose_sharing(&mut self, context: Context<'_>, notes: &mut Vec<String>) {
        let blank = MemoryUse {
            last: None,
            switches: 0,
            attachment: false,
            host: false,
            host_writes: false,
            declared: None,
            reader: None,
            together: false,
        };
        self.use_of.refill(blank, context.shapes.len());
        for (id, resource) in context.graph.resources().iter_ids() {
            let declared = &mut self.use_of[context.facts.memory[id]].declared;
            *declared = declared.or(resource.sharing);
        }
        for (at, scheduled) in context.schedule.passes.iter_ids() {
            crate::cancel::poll();
            if scheduled.queue == context.schedule.host() {
                for access in context.accesses(at) {
                    let used = &mut self.use_of[context.facts.memory[access.resource]];
                    used.host = true;
                    used.host_writes |= access.effect.writes();
                }
                continue;
            }
            let family = Some(context.families[scheduled.queue]);
            for access in context.accesses(at) {
                let used = &mut self.use_of[context.facts.memory[access.resource]];
                if used.last != family {
                    used.switches += u32::from(used.last.is_some());
                    used.last = family;
                }
                if access.effect == Effect::Read {
                    used.together |= used.reader.is_some() && used.reader != family;
                    used.reader = family;
                } else {
                    used.reader = None;
                }
                let declared = declared_of(context.graph, access);
                used.attachment |= declared.is_some_and(|declared_access| declared_access.usage.is_attachment());
            }
        }
        self.sharing.refill(Sharing::Exclusive, context.shapes.len());
        for (id, resource) in context.graph.resources().iter_ids() {
            if context.facts.memory[id] != id {
                continue;
            }
            let used = self.use_of[id];
            let host_gives = used.host && used.switches > 0;
            // The host takes no ownership. A buffer that it only reads is released before and acquired after it; from
            // whom a family must take what the host was the first to write depends on the run before, which a first
            // run does not have. An image would change its layout, from release to acquire, while the host reads.
            let outlives = context.has_edges(id);
            let nobody_gives =
                used.switches > 0 && (used.host_writes || used.host && (outlives || context.is_image(id)));
            let obeyed = used.declared.filter(|_| !nobody_gives);
            self.sharing[id] = obeyed.unwrap_or_else(|| match resource.life {
                Life::Imported(_) if !host_gives => Sharing::Exclusive,
                _ if used.switches == 0 => Sharing::Exclusive,
                _ if outlives || nobody_gives => Sharing::Concurrent,
                _ if context.is_image(id) && used.attachment && used.switches == 1 && !used.together => {
                    Sharing::Exclusive
                }
                _ => Sharing::Concurrent,
            });
        }
        self.share_rings(context);
        for (id, resource) in context.graph.resources().iter_ids() {
            let concurrent = self.sharing[context.facts.memory[id]] == Sharing::Concurrent;
            if concurrent && resource.sharing == Some(Sharing::Exclusive) {
                let name = context.graph.resource_name(id);
                notes
                    .push(format!("\"{name}\" is used by the host and by several queue families, so it is concurrent"));
            }
        }
    }

    /// The images of a ring are used by all who use what is remembered or any of its histories. Where the host is one
    /// of them, nobody gives them from one family to another.
    fn share_rings(&mut self, context: Context<'_>) {
        for (id, &ring_base) in context.facts.ring_base.iter_ids() {
            if ring_base == id || context.facts.memory[id] != id {
                continue;
            }
            let (own, ring) = (self.use_of[id], self.use_of[ring_base]);
            let moves = own.switches > 0 || ![own.last, None].contains(&ring.last) && own.last.is_some();
            if ring.declared.is_none() && ring.last.is_none() {
                self.sharing[ring_base] = self.sharing[id];
            } else if ring.declared.is_none() && moves {
                self.sharing[ring_base] = Sharing::Concurrent;
            }
            self.use_of[ring_base] = MemoryUse {
                last: ring.last.or(own.last),
                switches: ring.switches + own.switches.max(u32::from(moves)),
                host: ring.host || own.host,
                ..ring
            };
        }
        for (id, &ring_base) in context.facts.ring_base.iter_ids() {
            if ring_base != id && context.facts.memory[id] == id {
                if self.use_of[ring_base].host && self.use_of[ring_base].switches > 0 {
                    self.sharing[ring_base] = Sharing::Concurrent;
                }
                self.sharing[id] = self.sharing[ring_base];
            }
        }
    }

    fn use_subresource(
        &mut self,
        context: Context<'_>,
        at: PlanPassId,
        access: &ResolvedAccess,
        subresource: SubresourceId,
        memory: ResourceId,
        exclusive: bool,
    ) {
        let scheduled = context.schedule.passes[at];
        let queue = scheduled.queue;
        let on_gpu = queue != context.schedule.host();
        let state = self.states[subresource];
        let reads = access.effect == Effect::Read;
        let family = if on_gpu { Some(context.families[queue]) } else { state.family };
        let before = state.read_group.map(|read_group| self.read_groups[read_group]);
        let image = context.is_image(memory);
        let empty = !on_gpu && image && before.map_or(!context.has_edges(memory), |before| before.empty);
        let takes = access.effect == Effect::Replace
            && takes_anew(image, context.facts.passes[scheduled.pass].conditional.is_some());
        // A release names one new owner (Vulkan 1.3, "Queue Family Ownership Transfer"), so families read an exclusive
        // resource one after the other: a transfer ends the read group.
        let moves = exclusive && state.family.is_some() && family != state.family && !takes;
        let joins = before.is_some_and(|before| before.empty == empty)
            && !moves
            && if access.group.is_some() {
                state.unordered == access.group
            } else {
                reads && before.is_some_and(|before| before.reads)
            };
        let read_group = if let Some(read_group) = state.read_group.filter(|_| joins) {
            self.join(at, access, read_group, queue);
            read_group
        } else {
            // The last use releases, so it follows the uses of all queues. Where only the host read an image without a
            // layout, the next use changes the layout: a write, which comes after those reads, although the graph does
            // not order reads.
            if let Some(read_group) = state.read_group
                && (moves || before.is_some_and(|before| before.empty))
            {
                self.follow_all(read_group, subresource, at);
            }
            // One queue can change the layout for all only if all of the write is on it, and not the host, which
            // records no barriers.
            let producer =
                before.filter(|group| reads && !group.reads && !moves && group.is_on_one_queue()).and_then(|group| {
                    let queue = LaneId::lowest_of(group.queues);
                    (queue != context.schedule.host()).then_some(queue)
                });
            let members = self.members.push(Member { queue, first: at, last: at, next: None });
            let multi_queue = access.group.is_some()
                || before.is_some_and(|group| reads && !group.reads && !moves && !group.is_on_one_queue());
            self.read_groups.push(ReadGroup {
                queues: queue.bit(),
                layout: access.layout,
                serial_layouts: false,
                reads,
                producer,
                first_producer: (producer == Some(queue)).then_some(at),
                multi_queue,
                moved: moves,
                opens: before.is_none(),
                empty,
                members,
            })
        };
        // A use on another queue than the first follows it wherever the first one prepares the subresource for both.
        if joins {
            let prepared = self.prepared_by_first(context, read_group, memory, access.group.is_some());
            if prepared {
                self.follow_first(read_group, at, queue);
            }
        }
        self.of.push(read_group);
        self.states[subresource] = OpenGroup {
            read_group: Some(read_group),
            family: if on_gpu { family } else { state.family },
            unordered: access.group,
        };
    }

    /// Whether the first use of a read group prepares the subresource for the others.
    fn prepared_by_first(
        &self,
        context: Context<'_>,
        read_group: ReadGroupId,
        memory: ResourceId,
        unordered: bool,
    ) -> bool {
        let group = &self.read_groups[read_group];
        group.first_prepares(unordered || context.is_image(memory) || context.has_edges(memory))
    }

    fn join(&mut self, at: PlanPassId, access: &ResolvedAccess, read_group: ReadGroupId, queue: LaneId) {
        let group = &mut self.read_groups[read_group];
        if group.layout != access.layout {
            group.serial_layouts = true;
        }
        group.queues |= queue.bit();
        // Uses of several queues may run at once, so none may change the layout under another one. `GENERAL` permits
        // every access (Vulkan 1.3, "Image Layouts").
        if (group.serial_layouts || group.multi_queue) && !group.is_on_one_queue() {
            group.layout = Layout::General;
        }
        if group.producer == Some(queue) && group.first_producer.is_none() {
            group.first_producer = Some(at);
        }
        let mut member = group.members;
        let next = self.members.next_id();
        loop {
            let m = &mut self.members[member];
            if m.queue == queue {
                m.last = at;
                return;
            }
            match m.next {
                Some(behind) => member = behind,
                None => {
                    m.next = Some(next);
                    break;
                }
            }
        }
        self.members.push(Member { queue, first: at, last: at, next: None });
    }

    /// The use at `at`, the first on its queue, follows the first use of the read group.
    fn follow_first(&mut self, read_group: ReadGroupId, at: PlanPassId, queue: LaneId) {
        let first = self.members[self.read_groups[read_group].members];
        if first.queue != queue {
            let mut member = first.next;
            while let Some(id) = member {
                let m = self.members[id];
                if m.queue == queue && m.first == at {
                    self.extra.push((at, first.first));
                }
                member = m.next;
            }
        }
    }

    /// The use at `at` follows the last use of the read group, which follows the last ones on the other queues.
    fn follow_all(&mut self, read_group: ReadGroupId, subresource: SubresourceId, at: PlanPassId) {
        let last = self.gather(read_group, subresource);
        if last != at {
            self.extra.push((at, last));
        }
    }

    /// Makes the last use of a read group follow the last ones on other queues; returns it.
    fn gather(&mut self, read_group: ReadGroupId, subresource: SubresourceId) -> PlanPassId {
        let first = self.read_groups[read_group].members;
        let mut last = self.members[first].last;
        let mut member = self.members[first].next;
        while let Some(id) = member {
            last = last.max(self.members[id].last);
            member = self.members[id].next;
        }
        let mut member = Some(first);
        while let Some(id) = member {
            let m = self.members[id];
            if m.last != last {
                self.extra.push((last, m.last));
                self.gathered.push((last, m.last, subresource));
            }
            member = m.next;
        }
        last
    }

    /// A view has one layout: where queues share some subresources of it in [`Layout::General`], all of its
    /// subresources have it, and so all that other views see together with them. O(subresources accessed · log), as
    /// often as something changes.
    fn join_layouts(&mut self, context: Context<'_>) {
        let general =
            |group: &ReadGroup| group.layout == Layout::General && !(group.serial_layouts && group.is_on_one_queue());
        // Only groups on several queues are made `GENERAL` against the layouts of their uses.
        if self.read_groups.iter().all(|group| group.is_on_one_queue()) {
            return;
        }
        let mut views = std::mem::take(&mut self.views);
        let mut more = true;
        while std::mem::take(&mut more) {
            let mut next = 0;
            for at in context.schedule.passes.ids() {
                crate::cancel::poll();
                views.clear();
                for access in context.accesses(at) {
                    let visits = IdSpan::new(next, next + access.subresources.len());
                    views.extend(self.of.slice(visits).iter().map(|&read_group| (access.view, read_group)));
                    next += access.subresources.len();
                }
                views.sort_unstable();
                for view in views.chunk_by(|a, b| a.0 == b.0) {
                    let count = view.iter().filter(|(_, read_group)| general(&self.read_groups[*read_group])).count();
                    if 0 < count && count < view.len() {
                        for &(_, read_group) in view {
                            let group = &mut self.read_groups[read_group];
                            (group.layout, group.serial_layouts) = (Layout::General, false);
                        }
                        // A group that is `GENERAL` stays so, so rounds end.
                        more = true;
                    }
                }
            }
        }
        self.views = views;
    }

    /// What outlives the frame is left by one use, which all others precede.
    fn close_edges(&mut self, context: Context<'_>) {
        for (id, &memory) in context.facts.memory.iter_ids() {
            if id != memory || !context.has_edges(memory) && context.facts.leave[id].is_none() {
                continue;
            }
            for subresource in context.facts.subresources.of(memory).ids() {
                if let Some(read_group) = self.states[subresource].read_group {
                    self.gather(read_group, subresource);
                }
            }
        }
    }
}

/// Whether what replaces the contents of an exclusive resource may take it from another family without a transfer. A
/// first use does (Vulkan 1.3, "Resource Sharing Mode"), and a change of layout is one, but a pass that is off uses no
/// buffer, and its family must own what it releases later.
pub(crate) fn takes_anew(image: bool, conditional: bool) -> bool {
    image || !conditional
}
