//! A lower bound of the bytes that every permitted order needs: the proof in the error about a heap limit.
//!
//! It is the larger of two bounds. *Dependencies*: while a pass runs, a resource is alive in every order if the pass
//! uses it, or if one of its users must come before the pass and another one after it (or it is kept to the end).
//! *Search*: the lowest peak over all serial orders, if the exact search of [`least`](super::least) ends. Both hold on
//! several queues: plans share bytes between two resources only if all uses of one come before all uses of the other.
//! So resources that are alive at one moment of a serial order that is consistent with the plan have different bytes.

use super::deps::{Deps, Topology, topological};
use super::instance::Instance;
use super::least::exact;
use crate::id::{Id, IdVec};
use crate::stages::ids::{CountedId, LiveId};

/// Most passes for the transitive closure of the dependencies: two tables of one bit per pair, 16 MiB in all.
const MOST_PASSES: usize = 8192;

/// Why a resource is alive while a pass runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// The pass uses it.
    Used,
    /// The first pass uses it and must come before, the second one uses it and must come after.
    Between(LiveId, LiveId),
    /// It is kept to the end of the frame, and the pass that uses it must come before.
    Kept(LiveId),
    /// It is alive in the order with the lowest peak of all.
    Searched,
}

/// A lower bound of the peak, and the moment that proves it.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// Bytes that every permitted order needs at once.
    pub bytes: u64,
    /// The pass that runs at that moment.
    pub pass: LiveId,
    /// The resources that are alive at that moment, with reasons.
    pub alive: Vec<(CountedId, Why)>,
}

/// The lower bound over the resources for which `counts` is true; `None` without passes and beyond [`MOST_PASSES`].
/// O(passes² · (edges + users) / 64) and the exact search.
pub(crate) fn need(instance: &Instance<'_>, counts: &IdVec<CountedId, bool>) -> Option<Need> {
    if instance.is_empty() || instance.len() > MOST_PASSES {
        return None;
    }
    let by_dependencies = of_dependencies(instance, counts)?;
    match of_search(instance, counts) {
        Some(searched) if searched.bytes > by_dependencies.bytes => Some(searched),
        _ => Some(by_dependencies),
    }
}

/// One row of bits per pass.
struct Table {
    words: usize,
    bits: Vec<u64>,
}

impl Table {
    fn new(passes: usize) -> Self {
        let words = passes.div_ceil(64);
        Self { words, bits: vec![0; words * passes] }
    }

    fn row(&self, pass: LiveId) -> &[u64] {
        &self.bits[pass.index() * self.words..][..self.words]
    }

    /// Adds `of` and its row to the row of `to`.
    fn add(&mut self, to: LiveId, of: LiveId) {
        let (to, of) = (to.index(), of.index());
        for word in 0..self.words {
            let more = self.bits[of * self.words + word];
            self.bits[to * self.words + word] |= more;
        }
        self.bits[to * self.words + of / 64] |= 1 << (of % 64);
    }

    fn has(&self, pass: LiveId, other: LiveId) -> bool {
        is_in(self.row(pass), other)
    }
}

fn is_in(row: &[u64], pass: LiveId) -> bool {
    row[pass.index() / 64] >> (pass.index() % 64) & 1 != 0
}

/// The transitive closure: by pass, the passes that must come before it, and those after it. `None` on a cycle.
fn closed(deps: &Deps) -> Option<[Table; 2]> {
    let mut topology = Topology::default();
    topological(deps, &mut topology).ok()?;
    let mut tables = [Table::new(deps.len()), Table::new(deps.len())];
    let [before, after] = &mut tables;
    for &pass in &topology.order {
        deps.preds.row(pass).iter().for_each(|&earlier| before.add(pass, earlier));
    }
    for &pass in topology.order.iter().rev() {
        deps.succs.row(pass).iter().for_each(|&later| after.add(pass, later));
    }
    Some(tables)
}

fn of_dependencies(instance: &Instance<'_>, counts: &IdVec<CountedId, bool>) -> Option<Need> {
    let [before, after] = closed(instance.deps)?;
    let bytes = &instance.bytes;
    let mut live: IdVec<LiveId, u64> = IdVec::filled(0, instance.len());
    let counted = || bytes.users.ids().filter(|&at| counts[at] && bytes.bytes[at] > 0);
    for at in counted() {
        let users = bytes.users.row(at);
        let gather = |table: &Table| {
            let mut all = vec![0u64; table.words];
            users.iter().for_each(|&user| all.iter_mut().zip(table.row(user)).for_each(|(a, b)| *a |= b));
            all
        };
        // Passes that come after a user, and passes that come before one.
        let (begun, needed) = (gather(&after), gather(&before));
        for pass in instance.passes() {
            if users.contains(&pass) || is_in(&begun, pass) && (bytes.kept[at] || is_in(&needed, pass)) {
                live[pass] = live[pass].saturating_add(bytes.bytes[at]);
            }
        }
    }
    let (pass, &most) = live.iter_ids().max_by_key(|&(at, bytes)| (*bytes, std::cmp::Reverse(at)))?;
    let why = |at: CountedId| {
        let users = bytes.users.row(at);
        if users.contains(&pass) {
            return Some(Why::Used);
        }
        let first = *users.iter().find(|&&user| before.has(pass, user))?;
        match users.iter().find(|&&user| after.has(pass, user)) {
            Some(&last) => Some(Why::Between(first, last)),
            None => bytes.kept[at].then_some(Why::Kept(first)),
        }
    };
    let alive = counted().filter_map(|at| Some((at, why(at)?))).collect();
    Some(Need { bytes: most, pass, alive })
}

/// The moment of most live bytes in the order with the lowest peak.
fn of_search(instance: &Instance<'_>, counts: &IdVec<CountedId, bool>) -> Option<Need> {
    let order = exact(instance, |at| counts[at])?;
    let mut position: IdVec<LiveId, usize> = IdVec::filled(0, instance.len());
    order.iter().zip(0..).for_each(|(&pass, at)| position[pass] = at);
    let bytes = &instance.bytes;
    let lives: Vec<(CountedId, usize, usize)> = bytes
        .users
        .ids()
        .filter(|&at| counts[at] && bytes.bytes[at] > 0)
        .filter_map(|at| {
            let positions = || bytes.users.row(at).iter().map(|&user| position[user]);
            let last = if bytes.kept[at] { order.len() } else { positions().max()? };
            Some((at, positions().min()?, last))
        })
        .collect();
    let alive = |moment: usize| lives.iter().filter(move |(_, first, last)| (*first..=*last).contains(&moment));
    let sum = |moment| alive(moment).fold(0u64, |sum, (at, ..)| sum.saturating_add(bytes.bytes[*at]));
    let moment = (0..order.len()).max_by_key(|&moment| (sum(moment), std::cmp::Reverse(moment)))?;
    let alive = alive(moment).map(|(at, ..)| (*at, Why::Searched)).collect();
    Some(Need { bytes: sum(moment), pass: order[moment], alive })
}
