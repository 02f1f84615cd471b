//! Epochs: the uses of a piece that are not ordered among themselves. One write, a group of unordered ones, or the
//! reads between two writes.
//!
//! All uses of an epoch that may run at once find the piece in one layout. Where an epoch spans queues, its layout
//! change happens either on the queue of the write before it, or with its first use, which the others then follow:
//! such orderings, and those that a change of owner needs, are added here. They all point forward in the linear
//! order, so they cannot make a cycle. O(pieces touched).

use super::course::Course;
use crate::access::{Layout, Sharing, Stages};
use crate::graph::Graph;
use crate::id::IdVec;
use crate::plan::PlanKind;
use crate::resource::{Life, ResourceId};
use crate::stages::resolve::meaning::Effect;
use crate::stages::resolve::{Facts, Touch, is_attachment};
use crate::stages::size::Shape;

/// No such thing.
pub const NONE: u32 = u32::MAX;

/// Uses of one piece that are not ordered among themselves.
#[derive(Clone, Copy, Debug)]
pub struct Epoch {
    /// Queues of its uses, one bit each; the host has one too.
    pub queues: u32,
    /// Their layout; of several where they differ, [`Layout::General`] if they may run at once.
    pub layout: Layout,
    /// Whether uses of different layouts take turns on one queue.
    pub turns: bool,
    /// Whether it reads only.
    pub reads: bool,
    /// The queue of the single write before it, if it reads and there is one on a GPU queue.
    pub home: Option<u8>,
    /// The first of its uses on that queue, by position in the linear order.
    pub first_home: u32,
    /// Whether it is a group of unordered uses, or follows one that spans queues: spread over queues itself, it
    /// stays in [`Layout::General`], since no queue could change the layout for all.
    pub spread: bool,
    /// Whether it begins with a change of owner.
    pub moved: bool,
    members: u32,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    queue: u8,
    first: u32,
    last: u32,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct State {
    epoch: u32,
    family: u32,
    group: u32,
}

impl Epoch {
    /// Whether its first use prepares the piece for all: `prepared`, it must be by somebody, and no single write
    /// before it does so on its own queue.
    pub fn is_led(&self, prepared: bool) -> bool {
        (prepared || self.moved) && self.home.is_none()
    }

    /// The layout of all its uses, if they share one; else each use has its own in turn.
    pub fn layout_of(&self, own: Layout) -> Layout {
        if self.turns && self.queues.is_power_of_two() { own } else { self.layout }
    }
}

/// Epochs of a course.
#[derive(Default, Debug)]
pub struct Epochs {
    /// All of them.
    pub epochs: Vec<Epoch>,
    /// The epoch of each piece of each touch, in the order of the course.
    pub of: Vec<u32>,
    /// Orderings that the epochs need beyond the graph's: positions in the linear order, `(later, earlier)`, sorted.
    pub extra: Vec<(u32, u32)>,
    /// How each memory is shared among queue families.
    pub sharing: IdVec<ResourceId, Sharing>,
    members: Vec<Member>,
    states: Vec<State>,
    use_of: IdVec<ResourceId, MemoryUse>,
    views: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct MemoryUse {
    last: u32,
    switches: u32,
    attachment: bool,
    host: bool,
    host_writes: bool,
    /// What is said of its sharing, under any of its names.
    declared: Option<Sharing>,
    /// The family that read it since the last write, if one did.
    reader: u32,
    /// Whether two families read it between two writes.
    together: bool,
}

/// Context shared by the stages after merge.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The declaration.
    pub graph: &'a Graph,
    /// Its shapes.
    pub shapes: &'a IdVec<ResourceId, Shape>,
    /// Its facts.
    pub facts: &'a Facts,
    /// The linear order.
    pub course: &'a Course,
    /// Family of each queue.
    pub families: &'a [u32],
    /// Stages of each queue at which passes without accesses may do their work.
    pub stages: &'a [Stages],
}

impl Frame<'_> {
    /// Touches of the stop at a position.
    pub fn touches(&self, at: usize) -> &[Touch] {
        let node = self.course.stops[at].node;
        &self.facts.touches[self.facts.nodes[node].touches.range()]
    }

    /// Whether the contents of a memory outlive the frame, or are there before it.
    pub fn has_edges(&self, memory: ResourceId) -> bool {
        self.graph.resources()[memory].life != Life::Transient || self.facts.remembered[memory]
    }

    /// Whether it is an image.
    pub fn is_image(&self, memory: ResourceId) -> bool {
        matches!(self.shapes[memory].kind, PlanKind::Image { .. })
    }
}

impl Epochs {
    /// Finds the epochs of `frame`; notes what cannot be as declared.
    pub fn find(&mut self, frame: Frame<'_>, notes: &mut Vec<String>) {
        self.choose_sharing(frame, notes);
        self.epochs.clear();
        self.of.clear();
        self.extra.clear();
        self.members.clear();
        self.states.clear();
        self.states.resize(frame.facts.pieces.count(), State { epoch: NONE, family: NONE, group: 0 });
        for at in 0..frame.course.stops.len() {
            crate::cancel::poll();
            for touch in frame.touches(at) {
                let memory = frame.facts.memory[touch.resource];
                let exclusive = self.sharing[memory] == Sharing::Exclusive;
                for piece in touch.pieces() {
                    self.use_piece(frame, at as u32, touch, piece, memory, exclusive);
                }
            }
        }
        self.join_layouts(frame);
        self.close_edges(frame);
        self.extra.sort_unstable();
        self.extra.dedup();
    }

    /// Exclusive where one family uses it, or an attachment passes once from one family to another; concurrent
    /// where transfers of ownership would cost more than the compression that they keep, or where two families read at
    /// once what a transfer would make them read in turn.
    fn choose_sharing(&mut self, frame: Frame<'_>, notes: &mut Vec<String>) {
        let blank = MemoryUse {
            last: NONE,
            switches: 0,
            attachment: false,
            host: false,
            host_writes: false,
            declared: None,
            reader: NONE,
            together: false,
        };
        self.use_of.refill(blank, frame.shapes.len());
        for (id, resource) in frame.graph.resources().iter_ids() {
            let declared = &mut self.use_of[frame.facts.memory[id]].declared;
            *declared = declared.or(resource.sharing);
        }
        for (at, stop) in frame.course.stops.iter().enumerate() {
            crate::cancel::poll();
            if stop.queue == frame.course.host() {
                for touch in frame.touches(at) {
                    let used = &mut self.use_of[frame.facts.memory[touch.resource]];
                    used.host = true;
                    used.host_writes |= touch.effect.writes();
                }
                continue;
            }
            let family = frame.families[usize::from(stop.queue)];
            for touch in frame.touches(at) {
                let used = &mut self.use_of[frame.facts.memory[touch.resource]];
                if used.last != family {
                    used.switches += u32::from(used.last != NONE);
                    used.last = family;
                }
                if touch.effect == Effect::Read {
                    used.together |= used.reader != NONE && used.reader != family;
                    used.reader = family;
                } else {
                    used.reader = NONE;
                }
                let declared = frame.graph.accesses().get(touch.declared as usize);
                used.attachment |= declared.is_some_and(|access| is_attachment(access.usage));
            }
        }
        self.sharing.refill(Sharing::Exclusive, frame.shapes.len());
        for (id, resource) in frame.graph.resources().iter_ids() {
            if frame.facts.memory[id] != id {
                continue;
            }
            let used = self.use_of[id];
            let host_gives = used.host && used.switches > 0;
            // The host takes no ownership. What it only reads is released and acquired around it; from whom a family must take
            // what the host was the first to write depends on the run before, which a first run does not have.
            let outlives = frame.has_edges(id);
            let nobody_gives = used.switches > 0 && (used.host_writes || used.host && outlives);
            let said = used.declared.filter(|_| !nobody_gives);
            self.sharing[id] = said.unwrap_or_else(|| match resource.life {
                Life::Imported(_) if !host_gives => Sharing::Exclusive,
                _ if used.switches == 0 => Sharing::Exclusive,
                _ if outlives => Sharing::Concurrent,
                _ if frame.is_image(id) && used.attachment && used.switches == 1 && !used.together => {
                    Sharing::Exclusive
                }
                _ => Sharing::Concurrent,
            });
        }
        self.share_rings(frame);
        for (id, resource) in frame.graph.resources().iter_ids() {
            let concurrent = self.sharing[frame.facts.memory[id]] == Sharing::Concurrent;
            if concurrent && resource.sharing == Some(Sharing::Exclusive) {
                let name = frame.graph.resource_name(id);
                notes
                    .push(format!("\"{name}\" is used by the host and by several queue families, so it is concurrent"));
            }
        }
    }

    /// The images of a ring are used by all who use what is remembered or any of its histories.
    fn share_rings(&mut self, frame: Frame<'_>) {
        for (id, &family) in frame.facts.family.iter_ids() {
            if family != id && frame.facts.memory[id] == id {
                let (own, ring) = (self.use_of[id], self.use_of[family]);
                if ring.last == NONE {
                    self.use_of[family] = MemoryUse { declared: ring.declared, ..own };
                    if ring.declared.is_none() {
                        self.sharing[family] = self.sharing[id];
                    }
                } else if own.last != NONE && (own.last != ring.last || own.switches > 0) && ring.declared.is_none() {
                    self.sharing[family] = Sharing::Concurrent;
                }
            }
        }
        for (id, &family) in frame.facts.family.iter_ids() {
            if family != id && frame.facts.memory[id] == id {
                self.sharing[id] = self.sharing[family];
            }
        }
    }

    fn use_piece(
        &mut self,
        frame: Frame<'_>,
        at: u32,
        touch: &Touch,
        piece: usize,
        memory: ResourceId,
        exclusive: bool,
    ) {
        let stop = frame.course.stops[at as usize];
        let queue = stop.queue;
        let on_gpu = queue != frame.course.host();
        let state = self.states[piece];
        let reads = touch.effect == Effect::Read;
        let family = if on_gpu { frame.families[usize::from(queue)] } else { state.family };
        let moves = exclusive && state.family != NONE && family != state.family && touch.effect != Effect::Replace;
        let joins = state.epoch != NONE
            && !moves
            && if touch.group != 0 {
                state.group == touch.group
            } else {
                reads && self.epochs[state.epoch as usize].reads
            };
        let epoch = if joins {
            self.join(at, touch, state.epoch, queue);
            state.epoch
        } else {
            if moves {
                self.follow_all(state.epoch, at);
            }
            let before = (state.epoch != NONE).then(|| self.epochs[state.epoch as usize]);
            let home = before.filter(|e| reads && !e.reads && !moves && e.queues.is_power_of_two()).and_then(|e| {
                let queue = e.queues.trailing_zeros() as u8;
                (queue != frame.course.host()).then_some(queue)
            });
            self.members.push(Member { queue, first: at, last: at, next: NONE });
            let spread =
                touch.group != 0 || before.is_some_and(|e| reads && !e.reads && !moves && !e.queues.is_power_of_two());
            self.epochs.push(Epoch {
                queues: 1 << queue,
                layout: touch.layout,
                turns: false,
                reads,
                home,
                first_home: if home == Some(queue) { at } else { NONE },
                spread,
                moved: moves,
                members: self.members.len() as u32 - 1,
            });
            self.epochs.len() as u32 - 1
        };
        // A use on another queue than the first follows it wherever the first one prepares the piece for both.
        if joins {
            let led = self.led_by_first(frame, epoch, memory, touch.group != 0);
            if led {
                self.follow_first(epoch, at, queue);
            }
        }
        self.of.push(epoch);
        self.states[piece] = State { epoch, family: if on_gpu { family } else { state.family }, group: touch.group };
    }

    /// Whether the first use of an epoch prepares the piece for the others.
    fn led_by_first(&self, frame: Frame<'_>, epoch: u32, memory: ResourceId, unordered: bool) -> bool {
        let e = &self.epochs[epoch as usize];
        e.is_led(unordered || frame.is_image(memory) || frame.has_edges(memory))
    }

    fn join(&mut self, at: u32, touch: &Touch, epoch: u32, queue: u8) {
        let e = &mut self.epochs[epoch as usize];
        if e.layout != touch.layout {
            e.turns = true;
        }
        e.queues |= 1 << queue;
        if (e.turns || e.spread) && !e.queues.is_power_of_two() {
            e.layout = Layout::General;
        }
        if e.home == Some(queue) && e.first_home == NONE {
            e.first_home = at;
        }
        let mut member = e.members;
        let next = self.members.len() as u32;
        loop {
            let m = &mut self.members[member as usize];
            if m.queue == queue {
                m.last = at;
                return;
            }
            if m.next == NONE {
                m.next = next;
                break;
            }
            member = m.next;
        }
        self.members.push(Member { queue, first: at, last: at, next: NONE });
    }

    /// The use at `at`, the first on its queue, follows the first use of the epoch.
    fn follow_first(&mut self, epoch: u32, at: u32, queue: u8) {
        let first = self.members[self.epochs[epoch as usize].members as usize];
        if first.queue != queue {
            let mut member = first.next;
            while member != NONE {
                let m = self.members[member as usize];
                if m.queue == queue && m.first == at {
                    self.extra.push((at, first.first));
                }
                member = m.next;
            }
        }
    }

    /// The use at `at` follows the last use of the epoch, which follows the last ones on the other queues.
    fn follow_all(&mut self, epoch: u32, at: u32) {
        let last = self.gather(epoch);
        if last != NONE && last != at {
            self.extra.push((at, last));
        }
    }

    /// Makes the last use of an epoch follow the last ones on other queues; returns it.
    fn gather(&mut self, epoch: u32) -> u32 {
        let mut member = self.epochs[epoch as usize].members;
        let mut last = NONE;
        while member != NONE {
            let m = self.members[member as usize];
            last = if last == NONE { m.last } else { last.max(m.last) };
            member = m.next;
        }
        let mut member = self.epochs[epoch as usize].members;
        while member != NONE {
            let m = self.members[member as usize];
            if m.last != last {
                self.extra.push((last, m.last));
            }
            member = m.next;
        }
        last
    }

    /// A view has one layout: where queues share some pieces of it in [`Layout::General`], all of its pieces have it, and
    /// so all that other views see together with them. O(pieces touched · log), as often as something changes.
    fn join_layouts(&mut self, frame: Frame<'_>) {
        let general = |e: &Epoch| e.layout == Layout::General && !(e.turns && e.queues.is_power_of_two());
        if self.epochs.iter().all(|e| e.queues.is_power_of_two()) {
            return;
        }
        let mut views = std::mem::take(&mut self.views);
        let mut more = true;
        while std::mem::take(&mut more) {
            let mut next = 0;
            for at in 0..frame.course.stops.len() {
                crate::cancel::poll();
                views.clear();
                for touch in frame.touches(at) {
                    let count = touch.pieces().count();
                    views.extend(self.of[next..next + count].iter().map(|&epoch| (touch.view, epoch)));
                    next += count;
                }
                views.sort_unstable();
                for view in views.chunk_by(|a, b| a.0 == b.0) {
                    let count = view.iter().filter(|(_, epoch)| general(&self.epochs[*epoch as usize])).count();
                    if 0 < count && count < view.len() {
                        for &(_, epoch) in view {
                            let e = &mut self.epochs[epoch as usize];
                            (e.layout, e.turns) = (Layout::General, false);
                        }
                        more = true;
                    }
                }
            }
        }
        self.views = views;
    }

    /// What outlives the frame is left by one use, which all others precede.
    fn close_edges(&mut self, frame: Frame<'_>) {
        for (id, &memory) in frame.facts.memory.iter_ids() {
            if id != memory || !frame.has_edges(memory) && frame.graph.resources()[id].leave.is_none() {
                continue;
            }
            for piece in frame.facts.pieces.of(memory).range() {
                let epoch = self.states[piece].epoch;
                if epoch != NONE {
                    self.gather(epoch);
                }
            }
        }
    }
}
