//! Heap limits, and budgets in numbers of bytes: the placement that the options ask for is kept if it fits. If not, the
//! bake gives up barrier calls first, then overlap: it cuts a barrier-free interval before every physical pass,
//! searches placements longer, and tries orders that keep fewer bytes alive. A heap limit refuses the graph if none of
//! them fits, and then proves it (`schedule/need`) or says that it found none; a budget takes the one of fewest bytes.

use crate::stages::ids::{LiveId, MemoryClassId, PhysicalId};
use std::cmp::Reverse;

use super::{Options, Scratch};
use crate::budget::MemoryBudget;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::id::{Id, IdVec};
use crate::plan::Plan;
use crate::profile::{LAZY_MEMORY, Profile};
use crate::resource::ResourceId;
use crate::stages::resolve::declared_of;
use crate::stages::schedule::{Why, least_bytes, need};
use crate::stages::transient::Placement;
use crate::stages::validate::mistakes::{Floor, Worst, out_of_memory};

/// Least effort of the placements that are tried once a limit is exceeded.
const EFFORT: u32 = 7;

/// Most resources that a refusal names.
const NAMED: usize = 5;

impl Scratch {
    /// Makes the frame fit the heaps of `profile`, if it does not yet.
    ///
    /// # Errors
    /// [`Code::OutOfMemory`](crate::error::Code::OutOfMemory) if no order and placement tried fits.
    pub(super) fn fit(
        &mut self,
        graph: &Graph,
        profile: &Profile,
        options: &Options,
        plan: &mut Plan,
    ) -> Result<(), GraphError> {
        let Some(mut least) = self.excess(graph, profile) else {
            return self.keep_budget(graph, profile, options, plan);
        };
        let effort = options.effort.max(EFFORT);
        for attempt in Attempt::ALL {
            if !self.attempt(attempt, graph, profile, &Options { effort, ..*options }, plan)? {
                continue;
            }
            match self.excess(graph, profile) {
                None => {
                    plan.report.notes.push(format!("the heap limit {}", attempt.price()));
                    return Ok(());
                }
                Some(excess) if excess.needs < least.needs => least = excess,
                Some(_) => {}
            }
        }
        // The sizes of the heaps steer the search, which may miss what it finds without limits.
        let mut free = profile.clone();
        free.memory.iter_mut().for_each(|memory| memory.heap_size = None);
        self.start_over(graph, &free, options, plan)?;
        if self.excess(graph, profile).is_none() {
            return Ok(());
        }
        let Excess { class, memory_type, needs, has, worst } = least;
        let floor = self.floor(graph, profile, class);
        Err(GraphError::one(out_of_memory(graph, &memory_type, [needs, has], &worst, floor.as_ref())))
    }

    /// Orders, merges and places again, as the bake did first.
    fn start_over(
        &mut self,
        graph: &Graph,
        profile: &Profile,
        options: &Options,
        plan: &mut Plan,
    ) -> Result<(), GraphError> {
        self.schedule(graph, profile, options);
        self.merge(graph, profile, !options.without.merging, plan);
        plan.report.notes.clear();
        self.order_queues(graph, profile, options, false, &mut plan.report.notes);
        self.bound_batches(graph, profile, options, plan);
        self.alias(graph, profile, options)
    }

    /// Makes the frame take no more bytes than a budget says in numbers; as few as any attempt takes if none fits.
    fn keep_budget(
        &mut self,
        graph: &Graph,
        profile: &Profile,
        options: &Options,
        plan: &mut Plan,
    ) -> Result<(), GraphError> {
        let MemoryBudget::Bytes(budget) = options.memory else { return Ok(()) };
        if options.without.aliasing || self.take_named(budget, graph, profile, options, plan)? {
            return Ok(());
        }
        let first = self.sum(|peak| peak.total);
        if first <= budget {
            return Ok(());
        }
        let (mut best, mut least) = (None, first);
        for attempt in Attempt::ALL {
            if !self.attempt(attempt, graph, profile, options, plan)? {
                continue;
            }
            let total = self.sum(|peak| peak.total);
            if total <= budget {
                plan.report.notes.push(format!("the memory budget {}", attempt.price()));
                return Ok(());
            }
            if total < least {
                (best, least) = (Some(attempt), total);
            }
        }
        self.start_over(graph, profile, options, plan)?;
        if let Some(best) = best {
            self.attempt(best, graph, profile, options, plan)?;
        }
        plan.report.notes.push(format!("the memory budget is {budget} bytes; no order tried takes less than {least}"));
        Ok(())
    }

    /// Takes the frame of a named budget in place of the one that was made for so many bytes, if it keeps to them with
    /// fewer intervals; else leaves that. Orders for a number of bytes leave room for a placement that wastes some. One
    /// that wastes nothing is found without a number: a named budget's frame is had for exactly the bytes that it
    /// takes.
    fn take_named(
        &mut self,
        budget: u64,
        graph: &Graph,
        profile: &Profile,
        options: &Options,
        plan: &mut Plan,
    ) -> Result<bool, GraphError> {
        let own = (self.sum(|peak| peak.total) > budget, self.intervals());
        // No order has fewer intervals than the longest chain has passes, but for those that merge.
        if own < (false, self.ordering.topology.depth) {
            return Ok(false);
        }
        for memory in [MemoryBudget::Fast, MemoryBudget::Balanced] {
            self.start_over(graph, profile, &Options { memory, ..*options }, plan)?;
            let fits = self.sum(|peak| peak.total) <= budget && self.excess(graph, profile).is_none();
            if fits && (false, self.intervals()) < own {
                return Ok(true);
            }
        }
        self.start_over(graph, profile, options, plan)?;
        Ok(false)
    }

    /// Intervals of all queues together.
    fn intervals(&self) -> u32 {
        let mut last: [u32; 256] = [0; 256];
        for physical in self.schedule.physical_passes.iter() {
            last[physical.queue.index()] = physical.interval.index() as u32 + 1;
        }
        last.iter().sum()
    }

    /// Makes an attempt; false if there is nothing to try.
    fn attempt(
        &mut self,
        attempt: Attempt,
        graph: &Graph,
        profile: &Profile,
        options: &Options,
        plan: &mut Plan,
    ) -> Result<bool, GraphError> {
        if let Attempt::LeastBytes { one_queue } = attempt {
            if !self.reorder(graph, profile, one_queue) {
                return Ok(false);
            }
            self.merge(graph, profile, !options.without.merging, plan);
            plan.report.notes.clear();
            self.order_queues(graph, profile, options, false, &mut plan.report.notes);
            self.bound_batches(graph, profile, options, plan);
        }
        self.cut_everywhere();
        self.place(graph, profile, options.effort)?;
        Ok(true)
    }

    /// The first heap that is too small for what is placed in it.
    fn excess(&self, graph: &Graph, profile: &Profile) -> Option<Excess> {
        let mut classes = profile.memory.iter().zip(self.transients.peaks.iter_ids());
        let (memory, (class, peak)) =
            classes.find(|(memory, (_, peak))| memory.heap_size.is_some_and(|has| peak.total > has))?;
        Some(Excess {
            class,
            memory_type: memory.name.clone(),
            needs: peak.total,
            has: memory.heap_size.unwrap_or(u64::MAX),
            worst: self.worst_moment(graph, class),
        })
    }

    /// The physical pass at which most bytes of a class are alive, and the largest of them.
    fn worst_moment(&self, graph: &Graph, class: MemoryClassId) -> Worst {
        let placed = || self.transients.placements.iter().filter(move |placement| placement.class == class);
        let mut changes: Vec<(PhysicalId, bool, u64)> = placed()
            .flat_map(|p| {
                let [first, last] = p.physical_passes;
                [(first, true, p.size), (PhysicalId::new(last.index() + 1), false, p.size)]
            })
            .collect();
        // What ends before a physical pass gives its bytes back before what begins there takes some.
        changes.sort_unstable_by_key(|&(physical, begins, _)| (physical, begins));
        let (mut live, mut most, mut at) = (0u64, 0, PhysicalId::new(0));
        for (physical, begins, size) in changes {
            live = if begins { live.saturating_add(size) } else { live.saturating_sub(size) };
            if live > most {
                (most, at) = (live, physical);
            }
        }
        let mut alive: Vec<&Placement> =
            placed().filter(|p| p.physical_passes[0] <= at && at <= p.physical_passes[1]).collect();
        alive.sort_by_key(|placement| (Reverse(placement.size), placement.memory));
        let count = alive.len();
        let physical = self.schedule.physical_passes.get(at);
        let scheduled = physical.and_then(|physical| self.schedule.passes.get(physical.passes.first()));
        Worst {
            pass: scheduled.and_then(|scheduled| self.facts.declared_pass(scheduled.pass)),
            bytes: most,
            largest: alive[..count.min(NAMED)]
                .iter()
                .map(|p| (graph.resource_name(p.memory).to_owned(), p.size))
                .collect(),
            others: count.saturating_sub(NAMED),
        }
    }

    /// What every permitted order needs of a class of memory.
    fn floor(&mut self, graph: &Graph, profile: &Profile, class: MemoryClassId) -> Option<Floor> {
        let input = crate::stages::weigh::Input {
            graph,
            profile,
            plan_queues: &self.queues,
            shapes: &self.shapes,
            facts: &self.facts,
            live: &self.live,
            deps: &self.deps,
            memory: MemoryBudget::Least,
        };
        self.weights.instance(input);
        let memories = self.weights.memories();
        let lazy = profile.memory.iter().position(|memory| memory.name == LAZY_MEMORY);
        if lazy == Some(class.index()) {
            // Which attachments are lazily allocated depends on the order.
            return None;
        }
        let mut drawn = IdVec::filled(lazy.is_some(), self.shapes.len());
        for access in &self.facts.accesses {
            let usage = declared_of(graph, access).map(|declared| declared.usage);
            drawn[self.facts.memory[access.resource]] &= usage.is_some_and(|usage| usage.is_attachment());
        }
        let placed = |memory: &ResourceId| {
            let place = self.transients.placements.iter().find(|place| place.memory == *memory);
            !drawn[*memory] && place.is_some_and(|place| place.class == class)
        };
        let counts: IdVec<_, bool> = memories.iter().map(placed).collect();
        let need = need(&self.weights.view(input), &counts)?;
        let name = |pass: LiveId| {
            let id = self.live.passes[pass];
            self.facts.declared_pass(id).map_or("an inserted pass", |pass| graph.pass_name(pass))
        };
        let mut alive: Vec<(String, u64, String)> = need
            .alive
            .iter()
            .map(|&(at, why)| {
                let memory = memories[at];
                let why = match why {
                    Why::Used => "it is used there".to_owned(),
                    Why::Between(first, last) => {
                        format!(
                            "\"{}\" uses it and comes before, \"{}\" uses it and comes after",
                            name(first),
                            name(last)
                        )
                    }
                    Why::Kept(first) => format!("\"{}\" uses it and comes before, and it is a root", name(first)),
                    Why::Searched => "alive then in the best of all orders, which were searched".to_owned(),
                };
                (graph.resource_name(memory).to_owned(), self.shapes[memory].bytes, why)
            })
            .collect();
        alive.sort_by_key(|(name, bytes, _)| (Reverse(*bytes), name.clone()));
        Some(Floor { pass: name(need.pass).to_owned(), bytes: need.bytes, alive })
    }

    /// Orders the passes again so that few bytes are alive at once; false if there is no such order to try.
    fn reorder(&mut self, graph: &Graph, profile: &Profile, one_queue: bool) -> bool {
        let instance = self.weights.instance(crate::stages::weigh::Input {
            graph,
            profile,
            plan_queues: &self.queues,
            shapes: &self.shapes,
            facts: &self.facts,
            live: &self.live,
            deps: &self.deps,
            memory: MemoryBudget::Least,
        });
        let made = least_bytes(&instance, one_queue, &mut self.ordering, &mut self.order);
        if made {
            self.take_lanes();
        }
        made
    }

    /// Lets each physical pass reuse bytes that the one before it on its queue frees, for a barrier call between.
    fn cut_everywhere(&mut self) {
        let all = IdVec::filled(true, self.schedule.physical_passes.len());
        self.schedule.cut_intervals_before(&all);
    }
}

/// What is tried to make a frame fit.
#[derive(Clone, Copy)]
enum Attempt {
    /// A barrier call before every physical pass.
    Cut,
    /// An order that keeps few bytes alive at once; on one queue where the declaration leaves the choice.
    LeastBytes { one_queue: bool },
}

impl Attempt {
    /// All of them, in the order in which they are tried.
    const ALL: [Self; 3] = [Self::Cut, Self::LeastBytes { one_queue: false }, Self::LeastBytes { one_queue: true }];

    /// What the attempt gives up for bytes.
    fn price(self) -> &'static str {
        match self {
            Self::Cut => "costs barrier calls: bytes are reused by every next step",
            Self::LeastBytes { .. } => "costs overlap: the passes are ordered for few live bytes",
        }
    }
}

/// A heap that is too small.
struct Excess {
    class: MemoryClassId,
    memory_type: String,
    needs: u64,
    has: u64,
    worst: Worst,
}
