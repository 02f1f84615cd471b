//! A lower bound of the modelled frame, whatever order and queues a plan chooses: the longest path through the
//! dependencies, and the load of queues. Both follow the model of [`play`](super::play): a pass that depends on another
//! one begins after a barrier call, a submit or a hop, unless both may be in one render pass; a queue starts a
//! pass when the one before leaves it room.
//!
//! # Source
//! Path and load are the two classic bounds of list scheduling: Graham, "Bounds on Multiprocessing Timing Anomalies",
//! SIAM J. Appl. Math. 17 (1969). Heads and tails around the load: Carlier, "The one-machine sequencing problem",
//! EJOR 11 (1982).

use crate::id::IdVec;
use crate::resource::ResourceId;
use crate::stages::ids::LiveId;
use crate::stages::schedule::deps::Csr;
use crate::stages::schedule::{HOST, Instance};

/// Different sets of queues up to which every union of them is a bound of its own.
const SETS: usize = 6;

/// Memory that [`bound`] reuses, and the path that it finds.
#[derive(Default, Debug)]
pub struct Scratch {
    /// By pass: earliest start, in microseconds.
    head: IdVec<LiveId, f64>,
    /// By pass: least time from its start to the end of the frame, in microseconds.
    tail: IdVec<LiveId, f64>,
    /// By pass: the next one of the longest path that begins there.
    next: IdVec<LiveId, Option<LiveId>>,
    /// By dependency, as in the rows of what passes depend on: the least time between the starts of the two passes.
    steps: Vec<f64>,
    /// By set of queues, ascending.
    loads: Vec<Load>,
    /// Passes of the longest path, in order.
    pub path: Vec<LiveId>,
}

/// A lower bound in its parts, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bound {
    /// The longest path through the dependencies.
    pub critical_path_us: f64,
    /// The greatest load of a set of queues, with the time before and after it.
    pub load_us: f64,
}

impl Bound {
    /// No plan's frame is shorter.
    pub fn us(self) -> f64 {
        self.critical_path_us.max(self.load_us)
    }
}

/// The least time that a pass keeps its queue from starting the next one.
fn hold_us(instance: &Instance<'_>, pass: LiveId) -> f64 {
    let us = f64::from(instance.weight_us[pass]);
    if instance.queues[pass] == 1 << HOST {
        return us;
    }
    (us * f64::from(instance.size[pass])).max(us.min(f64::from(instance.costs.pass_us)))
}

/// The least time between the end of `earlier` and the start of `later`, which depends on it.
fn gap_us(instance: &Instance<'_>, earlier: LiveId, later: LiveId) -> f64 {
    let (from, to) = (instance.queues[earlier], instance.queues[later]);
    let submit = if to == 1 << HOST { 0.0 } else { f64::from(instance.costs.submit_us) };
    let hop = f64::from(instance.costs.cross_queue_us) + submit;
    match from & to {
        0 => hop,
        common if common & (1 << HOST) != 0 => 0.0,
        // A barrier call, or the submit of another batch.
        _ => hop.min(submit).min(f64::from(instance.costs.barrier_us)),
    }
}

/// Whether two ascending rows have a resource in common.
fn meet(a: &[ResourceId], b: &[ResourceId]) -> bool {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(a.next()),
            std::cmp::Ordering::Greater => drop(b.next()),
            std::cmp::Ordering::Equal => return true,
        }
    }
    false
}

/// What orders passes besides hazards.
#[derive(Clone, Copy)]
pub struct Orders<'a> {
    /// By pass: the memories that it uses as attachments, ascending.
    pub attached: &'a Csr<LiveId, ResourceId>,
    /// Whether a pass accesses nothing, so that `after` alone orders it.
    pub bare: &'a dyn Fn(LiveId) -> bool,
}

/// The least time between the starts of two passes of which the later one depends on the earlier one. Passes of one
/// render pass are ordered through attachments, and overlap. What `after` alone orders needs no barrier call on one
/// queue.
fn step_us(instance: &Instance<'_>, orders: Orders<'_>, earlier: LiveId, later: LiveId) -> f64 {
    let one_queue = instance.queues[earlier] & instance.queues[later] != 0;
    let no_call = one_queue && ((orders.bare)(earlier) || (orders.bare)(later));
    if no_call || meet(orders.attached.row(earlier), orders.attached.row(later)) {
        return hold_us(instance, earlier);
    }
    f64::from(instance.weight_us[earlier]) + gap_us(instance, earlier, later)
}

/// Bounds the frame of every plan of an instance from below. `order` is any order that keeps the
/// dependencies. O(passes + edges · attachments), times the sets of queues.
pub fn bound(instance: &Instance<'_>, order: &[LiveId], orders: Orders<'_>, scratch: &mut Scratch) -> Bound {
    let Scratch { head, tail, next, steps, path, .. } = scratch;
    let preds = &instance.deps.preds;
    head.refill(0.0, instance.len());
    tail.clear();
    tail.extend(instance.weight_us.iter().map(|&us| f64::from(us)));
    steps.clear();
    steps.resize(preds.items(), 0.0);
    next.refill(None, instance.len());
    for &pass in order {
        crate::cancel::poll();
        let begin = if instance.queues[pass] == 1 << HOST { 0.0 } else { f64::from(instance.costs.submit_us) };
        let steps = &mut steps[preds.start(pass)..];
        head[pass] = preds.row(pass).iter().zip(steps).fold(begin, |latest, (&pred, step)| {
            *step = step_us(instance, orders, pred, pass);
            latest.max(head[pred] + *step)
        });
    }
    let mut longest = 0.0f64;
    for &pass in order.iter().rev() {
        crate::cancel::poll();
        for (&pred, step) in preds.row(pass).iter().zip(&steps[preds.start(pass)..]) {
            let through = step + tail[pass];
            let (known, follows) = (&mut tail[pred], &mut next[pred]);
            // Of equals the first one counts.
            if through > *known || through == *known && follows.is_some_and(|follows| pass < follows) {
                (*known, *follows) = (through, Some(pass));
            }
        }
        longest = longest.max(head[pass] + tail[pass]);
    }
    path.clear();
    // Each pass of the path has the same sum, up to rounding: it begins with one that depends on nothing.
    let begins = order.iter().copied().filter(|&pass| instance.deps.preds.row(pass).is_empty());
    let sum = |pass: LiveId| head[pass] + tail[pass];
    let first = begins.reduce(|best, pass| if sum(pass) > sum(best) { pass } else { best });
    path.extend(std::iter::successors(first, |&pass| next[pass]));
    Bound { critical_path_us: longest, load_us: load_us(instance, scratch) }
}

/// Passes that may run on the same queues.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// The queues, as bits.
    queues: u32,
    /// Microseconds for which they keep queues busy.
    work: f64,
    /// The earliest start and the shortest tail of any of them.
    before: f64,
    after: f64,
}

/// The greatest load of a set of queues: the work of the passes that may run on no other queue, shared out evenly,
/// between the earliest start and the shortest tail of such a pass.
fn load_us(instance: &Instance<'_>, scratch: &mut Scratch) -> f64 {
    let Scratch { head, tail, loads, .. } = scratch;
    loads.clear();
    let mut device = 0.0;
    for pass in instance.passes() {
        let queues = instance.queues[pass];
        let at = loads.binary_search_by_key(&queues, |load| load.queues).unwrap_or_else(|at| {
            loads.insert(at, Load { queues, work: 0.0, before: f64::INFINITY, after: f64::INFINITY });
            at
        });
        let (hold, load) = (hold_us(instance, pass), &mut loads[at]);
        load.work += hold;
        load.before = head[pass].min(load.before);
        load.after = (tail[pass] - hold).min(load.after);
        // Queues share the device.
        device += if queues == 1 << HOST {
            0.0
        } else {
            f64::from(instance.weight_us[pass]) * f64::from(instance.size[pass])
        };
    }
    let several = loads.len() <= SETS;
    let unions = if several { 1usize << loads.len() } else { loads.len() + 2 };
    let union = |number: usize| match several {
        true => {
            loads.iter().enumerate().filter(|(at, _)| number >> at & 1 == 1).fold(0, |all, (_, of)| all | of.queues)
        }
        false => loads.get(number - 1).map_or(u32::MAX, |of| of.queues),
    };
    (1..unions).map(union).fold(device, |most, set| {
        let within = || loads.iter().filter(|load| load.queues & !set == 0);
        let work: f64 = within().map(|load| load.work).sum();
        let least = |of: fn(&Load) -> f64| within().map(of).fold(f64::INFINITY, f64::min);
        let queues = (set & loads.iter().fold(0, |all, of| all | of.queues)).count_ones();
        let about = least(|load| load.before) + least(|load| load.after);
        if work > 0.0 { most.max(work / f64::from(queues) + about) } else { most }
    })
}
