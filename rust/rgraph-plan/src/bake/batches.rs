//! Keeps a frame within the batches that its caller allows: each is a submit.
//!
//! Passes are put on levels: a pass is one level behind those of other queues that it follows. Ordered by levels, a
//! queue has one batch a level at most, and waits for whole levels of others. That no pass is on a lower level than it
//! must makes the fewest levels, and moves passes far from where the search for a short frame has put them. So the
//! order is cut into windows, whose passes are on no lower level than the highest one of the window before: the
//! smallest windows are taken that keep the bound. If even one window has too many batches, passes that may run
//! elsewhere go back to the graphics queue, those of the shortest batches first, as many at once as half of the excess.
//! O((passes + dependencies) · log² passes).

use crate::stages::ids::{LiveId, PlaceId};
use std::fmt::Write;

use super::{Options, Scratch};
use crate::graph::Graph;
use crate::id::{Id, IdVec};
use crate::plan::{Plan, QueueWhy};
use crate::profile::Profile;
use crate::stages::schedule::{self, HOST, Instance, Order};
use crate::stages::weigh;

/// How often an order is made again because merged passes make more batches than there are levels.
const ATTEMPTS: usize = 3;

/// Memory that is reused.
#[derive(Default, Debug)]
pub(super) struct FewBatches {
    /// Level of each live pass.
    levels: IdVec<LiveId, u32>,
    /// The queues of each level, as bits.
    used: Vec<u32>,
    /// Level and place before of the live passes, in their new order.
    order: Vec<(u32, PlaceId, LiveId)>,
    passes: Vec<LiveId>,
    queue: IdVec<LiveId, u8>,
    why: IdVec<LiveId, QueueWhy>,
    /// By level and queue: microseconds; infinite where a pass has to stay.
    us: Vec<f64>,
    away: Vec<(f64, u32)>,
    /// A note of an earlier plan, for its memory.
    note: String,
}

impl Scratch {
    /// Makes the batches of an order as few as the options want, if that can be.
    pub(super) fn bound_batches(&mut self, graph: &Graph, profile: &Profile, options: &Options, plan: &mut Plan) {
        let Some(most) = options.max_batches.map(|most| most.max(1) as usize) else { return };
        let first = self.batches.cuts.len();
        if first <= most {
            return;
        }
        let (mut moved, mut wanted) = (0, most);
        for _ in 0..ATTEMPTS {
            moved += self.order_by_levels(graph, profile, options, wanted);
            self.merge(graph, profile, !options.without.merging, plan);
            plan.report.notes.clear();
            self.order_queues(graph, profile, options, true, &mut plan.report.notes);
            let now = self.batches.cuts.len();
            if now <= most {
                break;
            }
            wanted = (wanted * most / now).min(wanted - 1);
            if wanted == 0 {
                break;
            }
        }
        let now = self.batches.cuts.len();
        let mut note = std::mem::take(&mut self.few.note);
        note.clear();
        // A string takes whatever is written.
        let _ = write!(note, "{now} batches in place of {first}, for max_batches is {most}: passes wait for more");
        let _ = match moved {
            0 => Ok(()),
            1 => write!(note, ", and 1 pass runs on the graphics queue"),
            many => write!(note, ", and {many} passes run on the graphics queue"),
        };
        if now > most {
            note.push_str("; the queues that passes name take no fewer");
        }
        plan.report.notes.push(note);
    }

    /// Orders passes by levels, so that there are no more batches than wanted, if that can be. How many passes went to
    /// the queue where passes stay that may run on several.
    fn order_by_levels(&mut self, graph: &Graph, profile: &Profile, options: &Options, wanted: usize) -> usize {
        let Self { few, order, ordering, deps, .. } = self;
        let instance = self.weights.view(weigh::Input {
            graph,
            profile,
            plan_queues: &self.queues,
            shapes: &self.shapes,
            facts: &self.facts,
            live: &self.live,
            deps,
            memory: options.memory,
        });
        few.queue.clone_from(&order.queue);
        few.why.clone_from(&order.why_queue);
        let mut moved = 0;
        loop {
            let batches = few.find_levels(&instance, order, wanted);
            if batches <= wanted {
                break;
            }
            let passes = few.go_home(&instance, (batches - wanted).div_ceil(2));
            if passes == 0 {
                break;
            }
            moved += passes;
        }
        few.order.clear();
        let places = order.passes.iter().enumerate();
        few.order.extend(places.map(|(at, &pass)| (few.levels[pass], PlaceId::new(at), pass)));
        few.order.sort_unstable();
        few.passes.clear();
        few.passes.extend(few.order.iter().map(|&(.., pass)| pass));
        let policy = order.policy;
        schedule::given(&instance, &few.passes, &few.queue, ordering, order);
        order.policy = policy;
        order.why_queue.clone_from(&few.why);
        self.take_lanes();
        moved
    }
}

impl FewBatches {
    /// Takes the notes of an earlier plan away, and keeps the memory of one.
    pub(super) fn reuse(&mut self, notes: &mut Vec<String>) {
        if let Some(note) = notes.pop() {
            self.note = note;
        }
        notes.clear();
    }

    /// The level of a live pass.
    pub(super) fn level_of(&self, pass: LiveId) -> u32 {
        self.levels[pass]
    }

    /// Levels with the smallest windows whose batches are no more than wanted, else with one window. How many batches
    /// they have.
    fn find_levels(&mut self, instance: &Instance<'_>, order: &Order, wanted: usize) -> usize {
        let mut window = 1;
        loop {
            let batches = self.put_on_levels(instance, order, window);
            if batches <= wanted || window >= order.passes.len() {
                return batches;
            }
            window *= 2;
        }
    }

    /// Puts each pass on a level, in windows of so many passes. How many batches that makes, of all queues.
    fn put_on_levels(&mut self, instance: &Instance<'_>, order: &Order, window: usize) -> usize {
        self.levels.refill(0, instance.len());
        self.used.clear();
        let (mut lowest, mut highest) = (0, 0);
        for (at, &pass) in order.passes.iter().enumerate() {
            if at % window == 0 {
                lowest = highest;
            }
            let (levels, queue) = (&self.levels, &self.queue);
            let behind = |&earlier: &LiveId| levels[earlier] + u32::from(queue[earlier] != queue[pass]);
            let level = instance.deps.preds.row(pass).iter().map(behind).fold(lowest, u32::max);
            highest = highest.max(level);
            self.levels[pass] = level;
            self.used.resize(self.used.len().max(level as usize + 1), 0);
            self.used[level as usize] |= 1 << self.queue[pass];
        }
        self.used.iter().map(|queues| queues.count_ones() as usize).sum()
    }

    /// Moves the passes of so many batches to the graphics queue, the shortest first. How many passes moved.
    fn go_home(&mut self, instance: &Instance<'_>, batches: usize) -> usize {
        let lanes = usize::from(HOST) + 1;
        let batch = |levels: &IdVec<LiveId, u32>, queue: &IdVec<LiveId, u8>, pass: LiveId| {
            levels[pass] as usize * lanes + usize::from(queue[pass])
        };
        self.us.clear();
        self.us.resize(self.used.len() * lanes, 0.0);
        for pass in instance.passes() {
            let queue = self.queue[pass];
            let may_go =
                queue != instance.graphics && queue != HOST && instance.queues[pass] & (1 << instance.graphics) != 0;
            let us = if may_go { f64::from(instance.weight_us[pass]) } else { f64::INFINITY };
            self.us[batch(&self.levels, &self.queue, pass)] += us;
        }
        let graphics = usize::from(instance.graphics);
        let exists = |at: usize| at % lanes != graphics && self.used[at / lanes] & (1 << (at % lanes)) != 0;
        let there = (0..self.us.len()).filter(|&at| exists(at) && self.us[at].is_finite());
        self.away.clear();
        self.away.extend(there.map(|at| (self.us[at], at as u32)));
        self.away.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.us.fill(0.0);
        self.away.iter().take(batches).for_each(|&(_, at)| self.us[at as usize] = 1.0);
        let mut moved = 0;
        for pass in instance.passes() {
            if self.us[batch(&self.levels, &self.queue, pass)] > 0.0 {
                (self.queue[pass], self.why[pass]) = (instance.graphics, QueueWhy::FewBatches);
                moved += 1;
            }
        }
        moved
    }
}
