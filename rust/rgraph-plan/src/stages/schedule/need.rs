//! Bytes that every permitted order needs: what a refusal by a heap limit proves.
//!
//! Two bounds, the larger one counts. *Dependencies*: while a pass runs, a resource is alive in every order if the pass
//! uses it, or if one of its users must come before the pass and another one after it (or it is kept to the end).
//! *Search*: the least peak over all serial orders, where the exact search of [`least`](super::least) ends. Both hold on
//! several queues: plans share bytes between two resources only if all uses of one come before all uses of the other, so
//! whatever is alive at a moment of a serial order that fits the plan has bytes of its own in the plan.

use super::deps::{Deps, Topology, topological};
use super::instance::Instance;
use super::least::exact;

/// Most passes whose dependencies are closed transitively: two tables of a bit per pair, 16 MiB in all.
const MOST_PASSES: usize = 8192;

/// Why a resource is alive while a pass runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// The pass uses it.
    Used,
    /// The first pass uses it and must come before, the second one uses it and must come after.
    Between(u32, u32),
    /// It is kept to the end of the frame, and the pass that uses it must come before.
    Kept(u32),
    /// It is so in the order with the least peak of all.
    Searched,
}

/// The moment at which every permitted order needs so many bytes.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// Bytes.
    pub bytes: u64,
    /// The pass that runs then.
    pub pass: u32,
    /// Resources alive then.
    pub alive: Vec<(u32, Why)>,
}

/// Bytes that every permitted order needs of the resources that count; `None` for no pass, or for too many.
/// O(passes² · (edges + users) / 64) and the exact search.
pub(crate) fn need(instance: &Instance<'_>, counts: &[bool]) -> Option<Need> {
    if instance.is_empty() || instance.len() > MOST_PASSES {
        return None;
    }
    let by_dependencies = of_dependencies(instance, counts)?;
    match of_search(instance, counts) {
        Some(searched) if searched.bytes > by_dependencies.bytes => Some(searched),
        _ => Some(by_dependencies),
    }
}

/// Rows of bits.
struct Table {
    words: usize,
    bits: Vec<u64>,
}

impl Table {
    fn new(passes: usize) -> Self {
        let words = passes.div_ceil(64);
        Self { words, bits: vec![0; words * passes] }
    }

    fn row(&self, pass: usize) -> &[u64] {
        &self.bits[pass * self.words..][..self.words]
    }

    /// Adds `of` and its row to the row of `to`.
    fn add(&mut self, to: usize, of: usize) {
        for word in 0..self.words {
            let more = self.bits[of * self.words + word];
            self.bits[to * self.words + word] |= more;
        }
        self.bits[to * self.words + of / 64] |= 1 << (of % 64);
    }

    fn has(&self, pass: usize, other: usize) -> bool {
        self.row(pass)[other / 64] >> (other % 64) & 1 != 0
    }
}

/// Which passes must come before each pass, and which after it.
fn closed(deps: &Deps) -> Option<[Table; 2]> {
    let mut topology = Topology::default();
    topological(deps, &mut topology).ok()?;
    let mut tables = [Table::new(deps.len()), Table::new(deps.len())];
    let [before, after] = &mut tables;
    for &pass in &topology.order {
        deps.preds.row(pass as usize).iter().for_each(|&earlier| before.add(pass as usize, earlier as usize));
    }
    for &pass in topology.order.iter().rev() {
        deps.succs.row(pass as usize).iter().for_each(|&later| after.add(pass as usize, later as usize));
    }
    Some(tables)
}

fn of_dependencies(instance: &Instance<'_>, counts: &[bool]) -> Option<Need> {
    let [before, after] = closed(instance.deps)?;
    let bytes = &instance.bytes;
    let mut live = vec![0u64; instance.len()];
    let counted = || (0..bytes.users.rows()).filter(|&at| counts[at] && bytes.bytes[at] > 0);
    for at in counted() {
        let users = bytes.users.row(at);
        let gather = |table: &Table| {
            let mut all = vec![0u64; table.words];
            users.iter().for_each(|&user| all.iter_mut().zip(table.row(user as usize)).for_each(|(a, b)| *a |= b));
            all
        };
        // Passes that come after a user, and passes that come before one.
        let (begun, needed) = (gather(&after), gather(&before));
        for (pass, live) in live.iter_mut().enumerate() {
            let is_in = |set: &[u64]| set[pass / 64] >> (pass % 64) & 1 != 0;
            if users.contains(&(pass as u32)) || is_in(&begun) && (bytes.kept[at] || is_in(&needed)) {
                *live = live.saturating_add(bytes.bytes[at]);
            }
        }
    }
    let (pass, &most) = live.iter().enumerate().max_by_key(|&(at, bytes)| (*bytes, std::cmp::Reverse(at)))?;
    let why = |at: usize| {
        let users = bytes.users.row(at);
        if users.contains(&(pass as u32)) {
            return Some(Why::Used);
        }
        let first = *users.iter().find(|&&user| before.has(pass, user as usize))?;
        match users.iter().find(|&&user| after.has(pass, user as usize)) {
            Some(&last) => Some(Why::Between(first, last)),
            None => bytes.kept[at].then_some(Why::Kept(first)),
        }
    };
    let alive = counted().filter_map(|at| Some((at as u32, why(at)?))).collect();
    Some(Need { bytes: most, pass: pass as u32, alive })
}

/// The worst moment of the order with the least peak.
fn of_search(instance: &Instance<'_>, counts: &[bool]) -> Option<Need> {
    let order = exact(instance, |at| counts[at])?;
    let mut position = vec![0; instance.len()];
    order.iter().zip(0..).for_each(|(&pass, at)| position[pass as usize] = at);
    let bytes = &instance.bytes;
    let lives: Vec<(usize, usize, usize)> = (0..bytes.users.rows())
        .filter(|&at| counts[at] && bytes.bytes[at] > 0)
        .filter_map(|at| {
            let positions = || bytes.users.row(at).iter().map(|&user| position[user as usize]);
            let last = if bytes.kept[at] { order.len() } else { positions().max()? };
            Some((at, positions().min()?, last))
        })
        .collect();
    let alive = |moment: usize| lives.iter().filter(move |(_, first, last)| (*first..=*last).contains(&moment));
    let sum = |moment| alive(moment).fold(0u64, |sum, (at, ..)| sum.saturating_add(bytes.bytes[*at]));
    let moment = (0..order.len()).max_by_key(|&moment| (sum(moment), std::cmp::Reverse(moment)))?;
    let alive = alive(moment).map(|(at, ..)| (*at as u32, Why::Searched)).collect();
    Some(Need { bytes: sum(moment), pass: order[moment], alive })
}
