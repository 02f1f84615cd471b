//! The model of a frame that every policy, the search and the tests share: what an order and its queues cost.

use super::instance::{CountedId, HOST, Instance, PlaceId};
use crate::id::{Id, IdVec};
use crate::stages::cull::LiveId;

/// Number of queues that a schedule can name, the host being the last.
pub(super) const QUEUES: usize = HOST as usize + 1;

/// Start and end of each pass in microseconds, by pass.
#[derive(Clone, Default, Debug)]
pub struct Times {
    /// Starts.
    pub start: IdVec<LiveId, f64>,
    /// Ends.
    pub finish: IdVec<LiveId, f64>,
    placed: IdVec<LiveId, bool>,
    queue_next: IdVec<PlaceId, Option<PlaceId>>,
}

/// What runs on each queue while passes are placed one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queues {
    /// When each queue has done all that was given to it.
    pub free: [f64; QUEUES],
    last_start: [f64; QUEUES],
    last_unit: [u16; QUEUES],
    units: u32,
}

impl Queues {
    pub(super) fn new() -> Self {
        Self { free: [0.0; QUEUES], last_start: [0.0; QUEUES], last_unit: [0; QUEUES], units: 0 }
    }

    /// How much longer a pass of that weight and occupancy class takes if it starts then on that queue: a pass of the
    /// same class that another queue is in the middle of leaves it half its speed.
    #[inline]
    pub(super) fn slow_down(&self, queue: usize, start: f64, weight: f64, unit: u16) -> f64 {
        if unit == 0 || self.units & !(1 << queue) == 0 {
            return 0.0;
        }
        let mut slow = 0.0f64;
        let mut others = self.units & !(1 << queue);
        while others != 0 {
            let other = others.trailing_zeros() as usize;
            others &= others - 1;
            if self.last_unit[other] == unit && self.last_start[other] <= start && self.free[other] > start {
                slow = slow.max(((self.free[other] - start) * 0.5).min(weight));
            }
        }
        slow
    }

    /// Gives a pass to a queue.
    #[inline]
    pub(super) fn place(&mut self, queue: usize, start: f64, finish: f64, unit: u16) {
        self.free[queue] = finish;
        self.last_start[queue] = start;
        self.last_unit[queue] = unit;
        self.units = if unit == 0 { self.units & !(1 << queue) } else { self.units | 1 << queue };
    }
}

/// When the last of what a pass depends on has ended, as that queue sees it.
#[inline]
pub(super) fn available(
    instance: &Instance<'_>,
    pass: LiveId,
    on: u8,
    queue: &IdVec<LiveId, u8>,
    finish: &IdVec<LiveId, f64>,
) -> f64 {
    let cross = f64::from(instance.costs.cross_queue_us);
    let mut at = 0.0f64;
    for &pred in instance.deps.preds.row(pass) {
        let hop = if queue[pred] == on { 0.0 } else { cross };
        at = at.max(finish[pred] + hop);
    }
    at
}

/// The modelled length in microseconds of a frame that runs `order` with those queues (by pass), and in `times` when
/// each pass runs.
///
/// A queue runs its passes one after the other in the order given. A pass starts once its queue is free and all that it
/// depends on has ended, [`cross_queue_us`](super::Costs::cross_queue_us) later where that ran on another queue. A pass
/// that starts while another queue is in the middle of one of the same occupancy class goes at half speed until that
/// one ends. Barrier calls and submits cost no time here: they break ties.
///
/// O(passes · queues + edges); O(passes + edges) without occupancy classes. Only each queue's own order matters, but
/// that order is followed among passes that start together.
///
/// # Panics
/// If `order` does not put each pass after what it depends on.
pub fn evaluate(instance: &Instance<'_>, order: &[LiveId], queue: &IdVec<LiveId, u8>, times: &mut Times) -> f64 {
    let n = instance.len();
    times.start.refill(0.0, n);
    times.finish.refill(0.0, n);
    if instance.unit.iter().any(|&unit| unit != 0) {
        return evaluate_in_time(instance, order, queue, times);
    }
    let mut free = [0.0f64; QUEUES];
    let mut frame = 0.0f64;
    for &pass in order {
        crate::cancel::poll();
        let on = queue[pass];
        let start = available(instance, pass, on, queue, &times.finish).max(free[on as usize]);
        let end = start + f64::from(instance.weight_us[pass]);
        times.start[pass] = start;
        times.finish[pass] = end;
        free[on as usize] = end;
        frame = frame.max(end);
    }
    frame
}

/// [`evaluate`] in the order of starts, which is what occupancy depends on: O(passes · queues + edges).
fn evaluate_in_time(instance: &Instance<'_>, order: &[LiveId], queue: &IdVec<LiveId, u8>, times: &mut Times) -> f64 {
    let n = instance.len();
    let Times { start, finish, placed, queue_next } = times;
    placed.refill(false, n);
    // Each queue's passes as a list of places in the order, the next of each found from behind.
    let mut queue_first: [Option<PlaceId>; QUEUES] = [None; QUEUES];
    queue_next.refill(None, n);
    for (place, &pass) in order.iter().enumerate().rev() {
        let (on, place) = (queue[pass] as usize, PlaceId::new(place));
        queue_next[place] = queue_first[on].replace(place);
    }
    let mut queues = Queues::new();
    let mut frame = 0.0f64;
    for _ in 0..n {
        let mut best: Option<(f64, PlaceId)> = None;
        for (on, &first) in queue_first.iter().enumerate() {
            let Some(place) = first else { continue };
            let pass = order[place.index()];
            if instance.deps.preds.row(pass).iter().all(|&pred| placed[pred]) {
                let at = available(instance, pass, on as u8, queue, finish).max(queues.free[on]);
                if best.is_none_or(|best| (at, place) < best) {
                    best = Some((at, place));
                }
            }
        }
        let (at, place) = best.expect("an order puts each node after what it depends on");
        let pass = order[place.index()];
        let on = queue[pass] as usize;
        let weight = f64::from(instance.weight_us[pass]);
        let end = at + weight + queues.slow_down(on, at, weight, instance.unit[pass]);
        queues.place(on, at, end, instance.unit[pass]);
        start[pass] = at;
        finish[pass] = end;
        placed[pass] = true;
        queue_first[on] = queue_next[place];
        frame = frame.max(end);
    }
    frame
}

/// How many groups an order falls into on its queues: a new one begins on a queue where a pass depends on one of the
/// current group there. Each beginning after the first is a barrier call; no order of one queue has fewer groups than
/// the longest chain of dependencies. Neighbours that may merge into one render pass count as one pass.
///
/// `places` is scratch. O(passes log merges + edges).
pub fn groups(
    instance: &Instance<'_>,
    order: &[LiveId],
    queue: &IdVec<LiveId, u8>,
    places: &mut IdVec<LiveId, PlaceId>,
) -> u32 {
    let mut groups = 0;
    walk_groups(instance, order, queue, places, |_| groups += 1);
    groups
}

/// What [`walk_groups`] knows of a queue: its last pass, and where its group and the run of passes that may merge begin.
#[derive(Clone, Copy)]
struct Lane {
    last: LiveId,
    group: PlaceId,
    run: PlaceId,
}

/// Calls `begin` with the place of each pass of an order that begins a group of its queue; see [`groups`].
pub(super) fn walk_groups(
    instance: &Instance<'_>,
    order: &[LiveId],
    queue: &IdVec<LiveId, u8>,
    places: &mut IdVec<LiveId, PlaceId>,
    mut begin: impl FnMut(PlaceId),
) {
    places.refill(PlaceId::new(0), instance.len());
    let mut lanes = [None; QUEUES];
    for (at, &pass) in order.iter().enumerate() {
        crate::cancel::poll();
        let (at, on) = (PlaceId::new(at), queue[pass]);
        let lane: &mut Option<Lane> = &mut lanes[usize::from(on)];
        let goes_on = lane.and_then(|Lane { last, group, run }| {
            let run = if instance.may_merge(last, pass) { run } else { at };
            // A merged pass is one pass: its parts do not wait for each other.
            let waits = |&pred: &LiveId| queue[pred] == on && (group..run).contains(&places[pred]);
            (!instance.deps.preds.row(pass).iter().any(waits)).then_some(Lane { last: pass, group, run })
        });
        *lane = Some(goes_on.unwrap_or_else(|| {
            begin(at);
            Lane { last: pass, group: at, run: at }
        }));
        places[pass] = at;
    }
}

/// How many passes of an order stand behind one that they may merge with. O(passes log merges).
pub(super) fn merged(instance: &Instance<'_>, order: &[LiveId]) -> u32 {
    if instance.merges.is_empty() {
        return 0;
    }
    order.windows(2).filter(|pair| instance.may_merge(pair[0], pair[1])).count() as u32
}

/// Live bytes that can be expected to be placed within so many: 2 % are room for what a placement wastes.
pub fn placeable(bytes: u64) -> u64 {
    bytes - bytes / 256 * 5
}

/// Number of groups of an order of one queue if none may need more than `cap` bytes, and bytes that die in a group are
/// reused by later groups only: a group ends early where the next pass would exceed the cap and bytes are dead.
///
/// The vectors are scratch. O(passes log merges + edges + uses).
pub(super) fn groups_within(
    instance: &Instance<'_>,
    order: &[LiveId],
    cap: u64,
    (places, left): (&mut IdVec<LiveId, PlaceId>, &mut IdVec<CountedId, u32>),
) -> u32 {
    let bytes = &instance.bytes;
    places.refill(PlaceId::new(0), instance.len());
    left.clear();
    left.extend(bytes.users.ids().map(|resource| bytes.users.row(resource).len() as u32));
    let (mut groups, mut group, mut run, mut before) = (0u32, PlaceId::new(0), PlaceId::new(0), None);
    let (mut live, mut dead) = (0u64, 0u64);
    for (at, &pass) in order.iter().enumerate() {
        crate::cancel::poll();
        let at = PlaceId::new(at);
        let uses = bytes.uses.row(pass);
        let begin = |&&one: &&CountedId| left[one] as usize == bytes.users.row(one).len();
        let begins: u64 = uses.iter().filter(begin).map(|&one| bytes.bytes[one]).sum();
        let merges = before.is_some_and(|before| instance.may_merge(before, pass));
        run = if merges { run } else { at };
        let waits = |&pred: &LiveId| (group..run).contains(&places[pred]);
        let over = !merges && dead > 0 && live + begins > cap;
        if groups == 0 || over || instance.deps.preds.row(pass).iter().any(waits) {
            groups += 1;
            (group, run) = (at, at);
            live -= std::mem::take(&mut dead);
        }
        live += begins;
        for &one in uses {
            left[one] -= 1;
            dead += if left[one] == 0 && !bytes.kept[one] { bytes.bytes[one] } else { 0 };
        }
        places[pass] = at;
        before = Some(pass);
    }
    groups
}

/// What an order's synchronisation costs apart from waiting: barrier calls and submits, in microseconds. A submit ends
/// where another queue waits for it and begins where it waits for another. `places` is scratch.
/// O(passes + edges).
pub fn overhead_us(
    instance: &Instance<'_>,
    order: &[LiveId],
    queue: &IdVec<LiveId, u8>,
    places: &mut IdVec<LiveId, PlaceId>,
) -> f64 {
    let calls = groups(instance, order, queue, places);
    let mut submits = 0u32;
    let mut open = 0u32;
    for &pass in order {
        let on = queue[pass];
        let foreign = |&other: &LiveId| queue[other] != on;
        if open & (1 << on) == 0 || instance.deps.preds.row(pass).iter().any(foreign) {
            submits += 1;
            open |= 1 << on;
        }
        if instance.deps.succs.row(pass).iter().any(foreign) {
            open &= !(1 << on);
        }
    }
    f64::from(calls) * f64::from(instance.costs.barrier_us) + f64::from(submits) * f64::from(instance.costs.submit_us)
}

/// Most bytes alive at once in an order: each resource from its first to its last user, or to the end if it is kept.
///
/// `left` is scratch. O(passes + uses).
pub fn peak_bytes(instance: &Instance<'_>, order: &[LiveId], left: &mut IdVec<CountedId, u32>) -> u64 {
    let bytes = &instance.bytes;
    left.clear();
    left.extend(bytes.users.ids().map(|resource| bytes.users.row(resource).len() as u32));
    let mut live = 0u64;
    let mut peak = 0u64;
    for &pass in order {
        crate::cancel::poll();
        for &resource in bytes.uses.row(pass) {
            if left[resource] as usize == bytes.users.row(resource).len() {
                live = live.saturating_add(bytes.bytes[resource]);
            }
            left[resource] -= 1;
        }
        peak = peak.max(live);
        for &resource in bytes.uses.row(pass) {
            if left[resource] == 0 && !bytes.kept[resource] {
                live = live.saturating_sub(bytes.bytes[resource]);
            }
        }
    }
    peak
}
