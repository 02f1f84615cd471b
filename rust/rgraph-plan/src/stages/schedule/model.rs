//! The cost model of an order and its queues, shared by all policies, the search and the tests.

use super::instance::{HOST, Instance};
use crate::id::{Id, IdVec};
use crate::stages::ids::{CountedId, LiveId, PlaceId};

/// Number of queues that a schedule can name, the host being the last.
pub(super) const QUEUES: usize = HOST as usize + 1;

/// Start and end of each pass in microseconds, by pass.
#[derive(Clone, Default, Debug)]
pub struct Times {
    pub start: IdVec<LiveId, f64>,
    /// Ends.
    pub finish: IdVec<LiveId, f64>,
    placed: IdVec<LiveId, bool>,
    queue_next: IdVec<PlaceId, Option<PlaceId>>,
}

/// State of each queue while passes are placed one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queues {
    /// By queue: end of its last pass in microseconds.
    pub free: [f64; QUEUES],
    last_start: [f64; QUEUES],
    last_class: [u16; QUEUES],
    classed: u32,
}

impl Queues {
    pub(super) fn new() -> Self {
        Self { free: [0.0; QUEUES], last_start: [0.0; QUEUES], last_class: [0; QUEUES], classed: 0 }
    }

    /// Microseconds by which a pass takes longer if it starts at `start` on that queue: it has half its speed while
    /// another queue is in the middle of a pass of the same occupancy class.
    #[inline]
    pub(super) fn slow_down(&self, queue: usize, start: f64, weight: f64, class: u16) -> f64 {
        if class == 0 || self.classed & !(1 << queue) == 0 {
            return 0.0;
        }
        let mut slow = 0.0f64;
        let mut others = self.classed & !(1 << queue);
        while others != 0 {
            let other = others.trailing_zeros() as usize;
            others &= others - 1;
            if self.last_class[other] == class && self.last_start[other] <= start && self.free[other] > start {
                slow = slow.max(((self.free[other] - start) * 0.5).min(weight));
            }
        }
        slow
    }

    /// Records a pass as the last one of a queue.
    #[inline]
    pub(super) fn place(&mut self, queue: usize, start: f64, finish: f64, class: u16) {
        self.free[queue] = finish;
        self.last_start[queue] = start;
        self.last_class[queue] = class;
        self.classed = if class == 0 { self.classed & !(1 << queue) } else { self.classed | 1 << queue };
    }
}

/// Earliest start of a pass on a queue in microseconds: its dependencies have ended, those on other queues a hop ago.
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

/// The modelled length in microseconds of a frame that runs `order` on `queue` (by pass); `times` gets the start and
/// end of each pass.
///
/// A queue runs its passes one after the other in the given order. A pass starts once its queue is free and its
/// dependencies have ended, those on another queue [`cross_queue_us`](super::Costs::cross_queue_us) ago. A pass that
/// starts while another queue is in the middle of one of the same occupancy class has half its speed until that one
/// ends. Barrier calls and submits cost no time here; they only break ties.
///
/// O(passes · queues + edges); O(passes + edges) without occupancy classes. Only each queue's own order matters, but
/// that order is followed among passes that start together.
///
/// # Panics
/// If `order` does not put each pass after its dependencies.
pub fn evaluate(instance: &Instance<'_>, order: &[LiveId], queue: &IdVec<LiveId, u8>, times: &mut Times) -> f64 {
    let n = instance.len();
    times.start.refill(0.0, n);
    times.finish.refill(0.0, n);
    if instance.class.iter().any(|&class| class != 0) {
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

/// [`evaluate`] in the order of starts, because a pass is slowed down by passes that start before it.
/// O(passes · queues + edges).
fn evaluate_in_time(instance: &Instance<'_>, order: &[LiveId], queue: &IdVec<LiveId, u8>, times: &mut Times) -> f64 {
    let n = instance.len();
    let Times { start, finish, placed, queue_next } = times;
    placed.refill(false, n);
    // Each queue's passes as a linked list of places in the order, built from the last place on.
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
        let (at, place) = best.expect("an order puts each pass after what it depends on");
        let pass = order[place.index()];
        let on = queue[pass] as usize;
        let weight = f64::from(instance.weight_us[pass]);
        let end = at + weight + queues.slow_down(on, at, weight, instance.class[pass]);
        queues.place(on, at, end, instance.class[pass]);
        start[pass] = at;
        finish[pass] = end;
        placed[pass] = true;
        queue_first[on] = queue_next[place];
        frame = frame.max(end);
    }
    frame
}

/// Number of intervals of an order on its queues. A pass that depends on one of the current interval of its queue
/// begins the next, which costs a barrier call. On one queue no order has fewer intervals than the longest chain of
/// dependencies. Neighbours that may merge into one render pass count as one pass.
///
/// `places` is scratch. O(passes log merges + edges).
pub fn intervals(
    instance: &Instance<'_>,
    order: &[LiveId],
    queue: &IdVec<LiveId, u8>,
    places: &mut IdVec<LiveId, PlaceId>,
) -> u32 {
    let mut intervals = 0;
    walk_intervals(instance, order, queue, places, |_| intervals += 1);
    intervals
}

/// State of a queue in [`walk_intervals`]: its last pass, and the places where its interval begins and where the run of
/// passes that may merge begins.
#[derive(Clone, Copy)]
struct Lane {
    last: LiveId,
    interval: PlaceId,
    run: PlaceId,
}

/// Calls `begin` with the place of each pass that begins an interval of its queue; see [`intervals`].
pub(super) fn walk_intervals(
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
        let goes_on = lane.and_then(|Lane { last, interval, run }| {
            let run = if instance.may_merge(last, pass) { run } else { at };
            // Passes of one render pass need no barrier call between them.
            let waits = |&pred: &LiveId| queue[pred] == on && (interval..run).contains(&places[pred]);
            (!instance.deps.preds.row(pass).iter().any(waits)).then_some(Lane { last: pass, interval, run })
        });
        *lane = Some(goes_on.unwrap_or_else(|| {
            begin(at);
            Lane { last: pass, interval: at, run: at }
        }));
        places[pass] = at;
    }
}

/// Number of passes of an order that directly follow one that they may merge with. O(passes log merges).
pub(super) fn merged(instance: &Instance<'_>, order: &[LiveId]) -> u32 {
    if instance.merges.is_empty() {
        return 0;
    }
    order.windows(2).filter(|pair| instance.may_merge(pair[0], pair[1])).count() as u32
}

/// Most live bytes that a placement is expected to fit into `bytes`: it may waste 2 %.
pub fn placeable(bytes: u64) -> u64 {
    bytes - bytes / 256 * 5
}

/// Number of intervals of an order of one queue if none may need more than `cap` bytes and only later intervals reuse
/// the bytes that die in one: if the next pass would exceed the cap, and the interval has dead bytes, it ends early.
///
/// The vectors are scratch. O(passes log merges + edges + uses).
pub fn intervals_within(
    instance: &Instance<'_>,
    order: &[LiveId],
    cap: u64,
    (places, left): (&mut IdVec<LiveId, PlaceId>, &mut IdVec<CountedId, u32>),
) -> u32 {
    let bytes = &instance.bytes;
    places.refill(PlaceId::new(0), instance.len());
    left.clear();
    left.extend(bytes.users.ids().map(|resource| bytes.users.row(resource).len() as u32));
    let (mut intervals, mut interval, mut run, mut before) = (0u32, PlaceId::new(0), PlaceId::new(0), None);
    let (mut live, mut dead) = (0u64, 0u64);
    for (at, &pass) in order.iter().enumerate() {
        crate::cancel::poll();
        let at = PlaceId::new(at);
        let uses = bytes.uses.row(pass);
        let begin = |&&one: &&CountedId| left[one] as usize == bytes.users.row(one).len();
        let begins: u64 = uses.iter().filter(begin).map(|&one| bytes.bytes[one]).sum();
        let merges = before.is_some_and(|before| instance.may_merge(before, pass));
        run = if merges { run } else { at };
        let waits = |&pred: &LiveId| (interval..run).contains(&places[pred]);
        let over = !merges && dead > 0 && live + begins > cap;
        if intervals == 0 || over || instance.deps.preds.row(pass).iter().any(waits) {
            intervals += 1;
            (interval, run) = (at, at);
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
    intervals
}

/// Cost of an order's barrier calls and submits in microseconds, without waiting. A submit begins with a pass that
/// waits for another queue and ends with one that another queue waits for. `places` is scratch. O(passes + edges).
pub fn overhead_us(
    instance: &Instance<'_>,
    order: &[LiveId],
    queue: &IdVec<LiveId, u8>,
    places: &mut IdVec<LiveId, PlaceId>,
) -> f64 {
    let calls = intervals(instance, order, queue, places);
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

/// Most bytes alive at once in an order. A resource is alive from its first to its last user, or to the end if kept.
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
