//! Instances to schedule, and a random source to make them from.

use rgraph_plan::budget::MemoryBudget;
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::inside::schedule::{
    Bytes, Costs, CountedId, Csr, Deps, Instance, LiveId, Order, Policy, Scratch, model, schedule,
};

/// A small deterministic random source.
///
/// # Source
/// Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True that often in a hundred.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// An instance that owns its arrays.
#[derive(Default, Clone)]
pub struct Owned {
    pub deps: Deps,
    pub weight_us: IdVec<LiveId, f32>,
    pub queues: IdVec<LiveId, u32>,
    pub class: IdVec<LiveId, u16>,
    pub merges: Vec<(LiveId, LiveId)>,
    pub bytes: IdVec<CountedId, u64>,
    pub kept: IdVec<CountedId, bool>,
    pub users: Csr<CountedId, LiveId>,
    pub uses: Csr<LiveId, CountedId>,
    pub costs: Costs,
    pub memory: MemoryBudget,
    pub measured: bool,
    pub certain: bool,
    pub size: IdVec<LiveId, f32>,
    pub draws: IdVec<LiveId, bool>,
}

/// Passes by number.
pub fn ids<const N: usize>(numbers: [usize; N]) -> [LiveId; N] {
    numbers.map(LiveId::new)
}

/// Dependencies between passes by number, `(earlier, later)`.
pub fn deps(passes: usize, edges: &[(usize, usize)]) -> Deps {
    let mut deps = Deps::default();
    deps.refill(passes, edges.iter().map(|&(earlier, later)| (LiveId::new(earlier), LiveId::new(later))));
    deps
}

impl Owned {
    pub fn new(passes: usize, edges: &[(usize, usize)]) -> Self {
        let mut owned = Self {
            deps: deps(passes, edges),
            weight_us: IdVec::filled(1.0, passes),
            size: IdVec::filled(1.0, passes),
            queues: IdVec::filled(1, passes),
            class: IdVec::filled(0, passes),
            costs: Costs { cross_queue_us: 10.0, barrier_us: 2.0, submit_us: 7.0, pass_us: 0.5 },
            memory: MemoryBudget::Least,
            ..Self::default()
        };
        owned.set_uses(&[]);
        owned
    }

    /// Lets each pass run on those queues, as bits.
    pub fn run_all_on(&mut self, queues: u32) {
        self.queues.refill(queues, self.deps.len());
    }

    /// Gives the instance resources: bytes, whether kept, and users.
    pub fn set_uses(&mut self, resources: &[(u64, bool, Vec<usize>)]) {
        self.bytes = resources.iter().map(|resource| resource.0).collect();
        self.kept = resources.iter().map(|resource| resource.1).collect();
        self.users.clear();
        for (_, _, users) in resources {
            users.iter().for_each(|&user| self.users.push(LiveId::new(user)));
            self.users.end_row_sorted();
        }
        self.uses.refill_transposed(self.weight_us.len(), &self.users);
    }

    pub fn instance(&self) -> Instance<'_> {
        Instance {
            deps: &self.deps,
            weight_us: &self.weight_us,
            measured: self.measured,
            certain: self.certain,
            size: &self.size,
            draws: &self.draws,
            graphics: 0,
            queues: &self.queues,
            queue_count: 31,
            class: &self.class,
            merges: &self.merges,
            bytes: Bytes { bytes: &self.bytes, kept: &self.kept, users: &self.users, uses: &self.uses },
            memory: self.memory,
            heap: None,
            costs: self.costs,
        }
    }

    pub fn schedule(&self, policy: Policy, effort: u32) -> Order {
        let mut order = Order::default();
        schedule(&self.instance(), policy, effort, &mut Scratch::default(), &mut order).expect("no cycle");
        order
    }

    /// Most bytes alive at once.
    pub fn peak_bytes(&self, order: &Order) -> u64 {
        model::peak_bytes(&self.instance(), &order.passes, &mut IdVec::new())
    }

    /// Intervals between barrier calls.
    pub fn intervals(&self, order: &Order) -> u32 {
        model::intervals(&self.instance(), &order.passes, &order.queue, &mut IdVec::new())
    }
}

/// The layered family: each pass reads 1 to 4 of the 24 most recent targets; targets of five sizes; a fifth of the
/// passes may run on async compute; three in ten have a depth target of their own; a tenth is read by nobody and is
/// taken away here, with all that only feeds it.
pub fn layered(passes: usize, seed: u64) -> Owned {
    const MIB: u64 = 1 << 20;
    let mut random = Random(seed);
    let mut reads: Vec<Vec<usize>> = Vec::new();
    let mut bytes = Vec::new();
    let mut depth = Vec::new();
    let mut compute = Vec::new();
    let mut recent: Vec<usize> = Vec::new();
    for pass in 0..passes {
        let mut read = Vec::new();
        for _ in 0..1 + random.below(4) {
            if !recent.is_empty() {
                let window = recent.len().min(24);
                read.push(recent[recent.len() - 1 - random.below(window)]);
            }
        }
        read.sort_unstable();
        read.dedup();
        reads.push(read);
        bytes.push([MIB / 4, MIB, 4 * MIB, 8 * MIB, 16 * MIB][random.below(5)]);
        compute.push(random.percent(20));
        depth.push(!compute[pass] && random.percent(30));
        if pass + 1 == passes || !random.percent(10) {
            recent.push(pass);
        }
    }
    let mut live = vec![false; passes];
    live[passes - 1] = true;
    for pass in (0..passes).rev() {
        if live[pass] {
            reads[pass].iter().for_each(|&read| live[read] = true);
        }
    }
    let mut id = vec![usize::MAX; passes];
    let mut kept = 0;
    for pass in (0..passes).filter(|&pass| live[pass]) {
        id[pass] = kept;
        kept += 1;
    }
    let mut edges = Vec::new();
    let mut resources: Vec<(u64, bool, Vec<usize>)> = Vec::new();
    for pass in (0..passes).filter(|&pass| live[pass]) {
        edges.extend(reads[pass].iter().map(|&read| (id[read], id[pass])));
        let readers = (0..passes).filter(|&other| live[other] && reads[other].contains(&pass)).map(|other| id[other]);
        let users = std::iter::once(id[pass]).chain(readers).collect();
        resources.push((bytes[pass], pass + 1 == passes, users));
        if depth[pass] {
            resources.push((8 * MIB, false, vec![id[pass]]));
        }
    }
    let mut owned = Owned::new(kept, &edges);
    owned.set_uses(&resources);
    for pass in (0..passes).filter(|&pass| live[pass] && compute[pass]) {
        owned.queues[LiveId::new(id[pass])] = 2;
    }
    owned
}
