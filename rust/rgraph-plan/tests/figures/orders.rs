//! Orders and queues of random cases under each policy and effort, and lower bounds of their frames.

use std::fmt::Write as _;

use rgraph_plan::budget::MemoryBudget;
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::inside::bound::{self, Orders, bound};
use rgraph_plan::inside::schedule::{
    Csr, HOST, Instance, LiveId, Order, Policy, Scratch, Topology, model, schedule, topological,
};
use rgraph_plan::resource::ResourceId;

use super::mix;
use crate::common::kept::assert_kept;
use crate::schedule::laws::any_instance;
use crate::schedule::support::{Owned, Random, layered};

const POLICIES: [Policy; 8] = [
    Policy::Auto,
    Policy::Declared,
    Policy::Overlap,
    Policy::Weighted,
    Policy::Exact { nodes: 400 },
    Policy::BoxTree,
    Policy::Random { seed: 7, swaps: u32::MAX },
    Policy::Random { seed: 1 << 63 | 8, swaps: 5 },
];

/// An instance with its graphics queue and the size of its heap.
struct Case {
    owned: Owned,
    graphics: u8,
    heap: Option<u64>,
}

impl Case {
    fn instance(&self) -> Instance<'_> {
        Instance { graphics: self.graphics, heap: self.heap, queue_count: 3, ..self.owned.instance() }
    }
}

/// Gives an instance what a frame has besides: known durations, parts of the device, draws, budgets, heaps, costs.
fn framed(mut owned: Owned, random: &mut Random) -> Case {
    owned.measured = random.percent(50);
    owned.certain = owned.measured && random.percent(50);
    let parts = random.percent(60);
    owned.size = owned.deps.passes().map(|_| if parts { (1 + random.below(64)) as f32 / 64.0 } else { 1.0 }).collect();
    if random.percent(40) {
        owned.draws = owned.deps.passes().map(|_| random.percent(50)).collect();
    }
    if random.percent(50) && owned.bytes.iter().all(|&bytes| bytes < 1 << 20) {
        owned.bytes = owned.bytes.iter().map(|bytes| bytes << 18).collect();
    }
    let sum: u64 = owned.bytes.iter().sum();
    owned.memory = match random.below(5) {
        0 => MemoryBudget::Least,
        1 | 2 => MemoryBudget::Balanced,
        3 => MemoryBudget::Fast,
        _ => MemoryBudget::Bytes(sum / (1 + random.below(8)) as u64),
    };
    owned.costs.cross_queue_us = [10.0, 0.0, 3.0, 60.0][random.below(4)];
    owned.costs.barrier_us = [2.0, 0.0, 9.0][random.below(3)];
    owned.costs.submit_us = [7.0, 0.0, 30.0][random.below(3)];
    let heap = random.percent(40).then(|| sum / (1 + random.below(4)) as u64);
    Case { owned, graphics: if random.percent(20) { 1 } else { 0 }, heap }
}

/// Random cases by kind.
fn cases() -> [(&'static str, Vec<Case>); 6] {
    let mut random = Random(11);
    let mut some = |count: usize, make: &dyn Fn(&mut Random) -> Owned| -> Vec<Case> {
        (0..count)
            .map(|_| {
                let owned = make(&mut random);
                framed(owned, &mut random)
            })
            .collect()
    };
    let on = |mut owned: Owned, queues: u32| {
        owned.run_all_on(queues);
        owned
    };
    [
        ("small", some(150, &|random| any_instance(random, 9))),
        ("any", some(60, &|random| any_instance(random, 48))),
        ("one queue", some(60, &|random| on(any_instance(random, 60), 1))),
        ("open", some(24, &|random| on(any_instance(random, 60), 0b111))),
        ("layered", some(8, &|random| layered([40, 90, 200][random.below(3)], random.next()))),
        // More than the searches try every decoder for.
        ("large", some(4, &|random| on(layered([60, 450][random.below(2)], random.next()), 0b11))),
    ]
}

/// What the orders of some cases come to.
#[derive(Default)]
struct Sums {
    frame_us: f64,
    one_queue_us: f64,
    overhead_us: f64,
    intervals: u64,
    peak: u64,
    away: usize,
    optimal: usize,
    explored: u64,
    made: u64,
    hash: u64,
}

impl Sums {
    fn add(&mut self, instance: &Instance<'_>, order: &Order, made: u32) {
        self.frame_us += order.frame_us;
        self.one_queue_us += order.one_queue_us.unwrap_or(0.0);
        self.overhead_us += model::overhead_us(instance, &order.passes, &order.queue, &mut IdVec::new());
        self.intervals += u64::from(model::intervals(instance, &order.passes, &order.queue, &mut IdVec::new()));
        self.peak = self.peak.wrapping_add(model::peak_bytes(instance, &order.passes, &mut IdVec::new()));
        self.away += order.queue.iter().filter(|&&queue| queue != instance.graphics && queue != HOST).count();
        self.optimal += usize::from(order.optimal);
        self.explored += u64::from(order.nodes_explored);
        self.made += u64::from(made);
        mix(&mut self.hash, &format!("{order:?}"));
    }

    fn row(&self, name: &str) -> String {
        let Self { frame_us, one_queue_us, overhead_us, intervals, peak, away, optimal, explored, made, hash } = self;
        format!(
            "\n{name:<34}{frame_us:>12.2}{one_queue_us:>14.2}{overhead_us:>13.2}{intervals:>10}{peak:>15}{away:>7}\
             {optimal:>9}{explored:>10}{made:>7}  {hash:016x}"
        )
    }
}

#[test]
fn orders_and_their_costs_are_those_that_are_kept() {
    let cases = cases();
    let mut scratch = Scratch::default();
    let mut table = format!(
        "{:<34}{:>12}{:>14}{:>13}{:>10}{:>15}{:>7}{:>9}{:>10}{:>7}  orders",
        "", "frame us", "one queue us", "overhead us", "intervals", "live bytes", "away", "optimal", "explored", "made"
    );
    for (kind, cases) in &cases {
        for (at, policy) in POLICIES.into_iter().enumerate() {
            for effort in 0..4 {
                let searches = !matches!(policy, Policy::Declared | Policy::BoxTree | Policy::Random { .. });
                if !searches && effort > 0 {
                    continue;
                }
                // Searches of much effort take most of the time.
                let most = if effort < 2 { cases.len() } else { cases.len().div_ceil(4) };
                let mut sums = Sums::default();
                for case in &cases[..most] {
                    let (instance, mut order) = (case.instance(), Order::default());
                    schedule(&instance, policy, effort, &mut scratch, &mut order).expect("no cycle");
                    sums.add(&instance, &order, scratch.orders_made());
                }
                table.push_str(&sums.row(&format!("{kind}, {} {at}, effort {effort}", policy.name())));
            }
        }
    }
    table.push('\n');
    assert_kept("tests/figures/orders.txt", &table);
}

#[test]
fn lower_bounds_of_frames_are_those_that_are_kept() {
    let mut random = Random(12);
    let (mut scratch, mut topology) = (bound::Scratch::default(), Topology::default());
    let mut table = format!("{:<14}{:>16}{:>14}{:>10}  bounds", "", "critical us", "load us", "on path");
    for (kind, cases) in cases() {
        let (mut path_us, mut load_us, mut on_path, mut hash) = (0.0, 0.0, 0, 0);
        for case in &cases {
            topological(case.owned.instance().deps, &mut topology).expect("no cycle");
            let mut attached = Csr::<LiveId, ResourceId>::default();
            for _ in case.owned.deps.passes() {
                (0..random.below(3)).for_each(|_| attached.push(ResourceId::new(random.below(4))));
                attached.end_row_sorted();
            }
            let bare: Vec<bool> = case.owned.deps.passes().map(|_| random.percent(20)).collect();
            let orders = Orders { attached: &attached, bare: &|pass: LiveId| bare[pass.index()] };
            let found = bound(&case.instance(), &topology.order, orders, &mut scratch);
            path_us += found.critical_path_us;
            load_us += found.load_us;
            on_path += scratch.path.len();
            mix(&mut hash, &format!("{found:?} {:?}", scratch.path));
        }
        let _ = write!(table, "\n{kind:<14}{path_us:>16.2}{load_us:>14.2}{on_path:>10}  {hash:016x}");
    }
    table.push('\n');
    assert_kept("tests/figures/bounds.txt", &table);
}
