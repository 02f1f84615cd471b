//! Dependencies as adjacency lists in flat arrays, their topological order, and a cycle if they have none.
//!
//! Live passes are numbered from 0 in declared order. A pass may depend on a later one (forward reads), so ids are not
//! always a topological order; [`topological`] finds one.

use crate::stages::ids::LiveId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::marker::PhantomData;

use crate::id::{Id, IdSpan, IdVec};

/// Lists of ids, one per row, in one flat array (compressed sparse rows); rows have ids too. Refilling allocates only
/// to grow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Csr<R, I> {
    offsets: Vec<u32>,
    items: Vec<I>,
    row: PhantomData<fn(R)>,
}

impl<R, I> Default for Csr<R, I> {
    fn default() -> Self {
        Self { offsets: vec![0], items: Vec::new(), row: PhantomData }
    }
}

impl<R: Id, I: Id> Csr<R, I> {
    /// Forgets all rows, keeping the memory.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.items.clear();
    }

    /// Copies the rows of another one, keeping the memory.
    pub fn copy(&mut self, other: &Self) {
        self.offsets.clone_from(&other.offsets);
        self.items.clone_from(&other.items);
    }

    /// Appends an item to the row that [`end_row`](Self::end_row) will close.
    #[inline]
    pub fn push(&mut self, item: I) {
        self.items.push(item);
    }

    /// Closes the current row; the next one begins.
    #[inline]
    pub fn end_row(&mut self) {
        self.offsets.push(self.items.len() as u32);
    }

    /// Sorts the current row, removes duplicates and closes it. O(k log k) for k items.
    pub fn end_row_sorted(&mut self) {
        let start = self.offsets[self.offsets.len() - 1] as usize;
        self.items[start..].sort_unstable();
        let mut kept = start;
        for i in start..self.items.len() {
            if kept == start || self.items[kept - 1] != self.items[i] {
                self.items[kept] = self.items[i];
                kept += 1;
            }
        }
        self.items.truncate(kept);
        self.end_row();
    }

    /// Number of closed rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// All rows, ascending.
    #[inline]
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = R> + ExactSizeIterator + Clone + use<R, I> {
        IdSpan::new(0, self.rows()).ids()
    }

    /// Number of items in all rows.
    #[inline]
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// Position of a row's first item among those of all rows.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn start(&self, row: R) -> usize {
        self.offsets[row.index()] as usize
    }

    /// The items of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, row: R) -> &[I] {
        &self.items[self.offsets[row.index()] as usize..self.offsets[row.index() + 1] as usize]
    }

    /// Refills the rows from `(row, item)` pairs in any order; the items of a row keep their order. O(rows + pairs).
    ///
    /// # Panics
    /// If a pair names a row that is not below `rows`.
    pub fn refill(&mut self, rows: usize, pairs: impl Iterator<Item = (R, I)> + Clone) {
        self.offsets.clear();
        self.offsets.resize(rows + 1, 0);
        pairs.clone().for_each(|(row, _)| self.offsets[row.index() + 1] += 1);
        for row in 0..rows {
            self.offsets[row + 1] += self.offsets[row];
        }
        self.items.clear();
        self.items.resize(self.offsets[rows] as usize, I::new(0));
        // Each offset is its row's write position and so ends at the start of the next row; then all move up by one.
        pairs.for_each(|(row, item)| {
            let position = &mut self.offsets[row.index()];
            self.items[*position as usize] = item;
            *position += 1;
        });
        self.offsets.copy_within(0..rows, 1);
        self.offsets[0] = 0;
    }

    /// Refills with the transpose: row i lists, ascending, the rows of `other` that contain i.
    /// O(rows + items).
    ///
    /// # Panics
    /// If the other contains an item that is not below `rows`.
    pub fn refill_transposed(&mut self, rows: usize, other: &Csr<I, R>) {
        self.refill(rows, other.ids().flat_map(|row| other.row(row).iter().map(move |&item| (item, row))));
    }
}

/// Dependencies between passes, in both directions. An edge that is given twice is in both lists equally often.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Deps {
    /// By pass: the passes that it depends on.
    pub preds: Csr<LiveId, LiveId>,
    /// By pass: the passes that depend on it.
    pub succs: Csr<LiveId, LiveId>,
}

impl Deps {
    /// Number of passes.
    #[inline]
    pub fn len(&self) -> usize {
        self.preds.rows()
    }

    /// Whether there is no pass.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All passes, ascending.
    #[inline]
    pub fn passes(&self) -> impl DoubleEndedIterator<Item = LiveId> + ExactSizeIterator + Clone + use<> {
        self.preds.ids()
    }

    /// Refills from edges `(earlier, later)`. O(passes + edges).
    pub fn refill(&mut self, passes: usize, edges: impl Iterator<Item = (LiveId, LiveId)> + Clone) {
        self.preds.refill(passes, edges.clone().map(|(earlier, later)| (later, earlier)));
        self.succs.refill(passes, edges);
    }

    /// Computes `succs` from `preds`, for callers that fill `preds` row by row. O(passes + edges).
    pub fn complete(&mut self) {
        let Self { preds, succs } = self;
        succs.refill_transposed(preds.rows(), preds);
    }
}

/// A cycle: each pass depends on the one before it, the first on the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle(pub Vec<LiveId>);

/// Results and working memory of [`topological`] and [`Topology::chains`].
#[derive(Clone, Default, Debug)]
pub struct Topology {
    /// All passes, each after its dependencies, otherwise by id.
    pub order: Vec<LiveId>,
    /// By pass: number of passes in the longest chain that ends in it; 1 for a pass without dependencies.
    pub level: IdVec<LiveId, u32>,
    /// By pass: number of passes in the longest chain that begins in it.
    pub tail: IdVec<LiveId, u32>,
    /// Number of passes in the longest chain: no order of one queue has fewer intervals.
    pub depth: u32,
    pending: IdVec<LiveId, u32>,
    ready: BinaryHeap<Reverse<LiveId>>,
}

impl Topology {
    /// Finds the longest chains through each pass; [`topological`] comes first. O(passes + edges).
    pub fn chains(&mut self, deps: &Deps) {
        let Self { order, level, tail, depth, .. } = self;
        level.refill(1, deps.len());
        tail.refill(1, deps.len());
        *depth = 0;
        for &pass in order.iter() {
            let longest = deps.preds.row(pass).iter().map(|&pred| level[pred]).max().unwrap_or(0) + 1;
            level[pass] = longest;
            *depth = longest.max(*depth);
        }
        for &pass in order.iter().rev() {
            tail[pass] = deps.succs.row(pass).iter().map(|&succ| tail[succ]).max().unwrap_or(0) + 1;
        }
    }
}

/// Finds the lexicographically first topological order.
///
/// O(passes + edges) where every pass depends on earlier ids only, else O(edges + passes log passes).
///
/// # Errors
/// The shortest [`Cycle`] that breadth-first searches from up to 32 passes find. O(32 · edges).
///
/// # Source
/// Kahn, "Topological sorting of large networks", CACM 5 (1962).
pub fn topological(deps: &Deps, topology: &mut Topology) -> Result<(), Cycle> {
    let n = deps.len();
    let Topology { order, pending, ready, .. } = topology;
    order.clear();
    if deps.passes().all(|pass| deps.preds.row(pass).iter().all(|&pred| pred < pass)) {
        order.extend(deps.passes());
    } else {
        pending.clear();
        pending.extend(deps.passes().map(|pass| deps.preds.row(pass).len() as u32));
        ready.clear();
        ready.extend(deps.passes().filter(|&pass| pending[pass] == 0).map(Reverse));
        while let Some(Reverse(pass)) = ready.pop() {
            order.push(pass);
            for &succ in deps.succs.row(pass) {
                pending[succ] -= 1;
                if pending[succ] == 0 {
                    ready.push(Reverse(succ));
                }
            }
        }
        if order.len() < n {
            return Err(find_cycle(deps, pending));
        }
    }
    Ok(())
}

/// The shortest cycle through one of the first 32 passes that may be on one. `pending` is above 0 for every pass on a
/// cycle or after one.
fn find_cycle(deps: &Deps, pending: &IdVec<LiveId, u32>) -> Cycle {
    let mut stuck: IdVec<LiveId, bool> = pending.iter().map(|&count| count > 0).collect();
    // A pass that no stuck pass waits for is after a cycle, not on one: remove such passes from the end on.
    let mut waiting: IdVec<LiveId, usize> =
        deps.passes().map(|pass| deps.succs.row(pass).iter().filter(|&&succ| stuck[succ]).count()).collect();
    let mut free: Vec<LiveId> = deps.passes().filter(|&pass| stuck[pass] && waiting[pass] == 0).collect();
    while let Some(pass) = free.pop() {
        stuck[pass] = false;
        for &pred in deps.preds.row(pass) {
            waiting[pred] -= 1;
            if stuck[pred] && waiting[pred] == 0 {
                free.push(pred);
            }
        }
    }
    let mut shortest: Vec<LiveId> = Vec::new();
    let mut from: IdVec<LiveId, Option<LiveId>> = IdVec::new();
    for start in deps.passes().filter(|&pass| stuck[pass]).take(32) {
        from.refill(None, deps.len());
        let mut queue = VecDeque::from([start]);
        'search: while let Some(pass) = queue.pop_front() {
            for &succ in deps.succs.row(pass) {
                if succ == start {
                    let mut ring: Vec<LiveId> = std::iter::successors(Some(pass), |&last| from[last]).collect();
                    ring.reverse();
                    if shortest.is_empty() || ring.len() < shortest.len() {
                        shortest = ring;
                    }
                    break 'search;
                }
                if stuck[succ] && from[succ].is_none() {
                    from[succ] = Some(pass);
                    queue.push_back(succ);
                }
            }
        }
    }
    Cycle(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<const N: usize>(numbers: [usize; N]) -> [LiveId; N] {
        numbers.map(LiveId::new)
    }

    fn deps(passes: usize, edges: &[(usize, usize)]) -> Deps {
        let mut deps = Deps::default();
        deps.refill(passes, edges.iter().map(|&(earlier, later)| (LiveId::new(earlier), LiveId::new(later))));
        deps
    }

    #[test]
    fn rows_keep_the_order_of_their_pairs() {
        let mut csr = Csr::default();
        csr.refill(
            4,
            [(2, 9), (0, 5), (2, 1), (3, 7)].map(|(row, item)| (LiveId::new(row), LiveId::new(item))).into_iter(),
        );
        let rows: Vec<Vec<usize>> =
            csr.ids().map(|row| csr.row(row).iter().map(|item| item.index()).collect()).collect();
        assert_eq!(rows, [vec![5], vec![], vec![9, 1], vec![7]]);
        csr.refill(1, std::iter::empty());
        assert_eq!((csr.rows(), csr.items(), csr.row(LiveId::new(0))), (1, 0, &[][..]));
    }

    #[test]
    fn successors_made_from_predecessors_are_their_transpose() {
        let mut made = Deps::default();
        for row in [&[][..], &[0, 0], &[1, 0]] {
            row.iter().for_each(|&pred| made.preds.push(LiveId::new(pred)));
            made.preds.end_row_sorted();
        }
        made.complete();
        assert_eq!(made, deps(3, &[(0, 1), (0, 2), (1, 2)]));
    }

    #[test]
    fn a_forward_read_comes_right_after_its_writer() {
        let mut topology = Topology::default();
        let deps = deps(5, &[(3, 0), (0, 4), (1, 2)]);
        topological(&deps, &mut topology).unwrap();
        topology.chains(&deps);
        assert_eq!(topology.order, ids([1, 2, 3, 0, 4]));
        assert_eq!(topology.level.as_slice(), [2, 1, 2, 1, 3]);
        assert_eq!(topology.tail.as_slice(), [2, 2, 1, 3, 1]);
        assert_eq!(topology.depth, 3);
    }

    #[test]
    fn a_cycle_is_named_in_the_order_of_its_dependencies() {
        let ring = deps(7, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (5, 6), (6, 5), (4, 5)]);
        assert_eq!(topological(&ring, &mut Topology::default()), Err(Cycle(ids([5, 6]).to_vec())));
        let alone = deps(2, &[(1, 1)]);
        assert_eq!(topological(&alone, &mut Topology::default()), Err(Cycle(ids([1]).to_vec())));
        let long = deps(5, &[(0, 2), (2, 1), (1, 0), (4, 0), (0, 3)]);
        assert_eq!(topological(&long, &mut Topology::default()), Err(Cycle(ids([0, 2, 1]).to_vec())));
    }
}
