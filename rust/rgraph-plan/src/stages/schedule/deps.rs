//! What must come before what: adjacency as flat arrays, an order that keeps it, and the cycle where there is none.
//!
//! Passes are live passes, dense from 0 in declared order. A pass may depend on a later one (forward reads), so no
//! code here assumes that ids are a topological order; [`topological`] finds one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Lists of numbers, one a row, in one flat array. Refilling keeps its memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Csr {
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Default for Csr {
    fn default() -> Self {
        Self { offsets: vec![0], items: Vec::new() }
    }
}

impl Csr {
    /// Forgets all rows, keeping the memory.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.items.clear();
    }

    /// Takes over the rows of another one, keeping the memory.
    pub fn copy(&mut self, other: &Self) {
        self.offsets.clone_from(&other.offsets);
        self.items.clone_from(&other.items);
    }

    /// Appends an item to the row that [`end_row`](Self::end_row) will close.
    #[inline]
    pub fn push(&mut self, item: u32) {
        self.items.push(item);
    }

    /// Closes the current row; the next one begins.
    #[inline]
    pub fn end_row(&mut self) {
        self.offsets.push(self.items.len() as u32);
    }

    /// Closes the current row after sorting it and dropping what it holds twice. O(k log k) for k items.
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
    pub fn start(&self, row: usize) -> usize {
        self.offsets[row] as usize
    }

    /// The items of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, row: usize) -> &[u32] {
        &self.items[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// Refills the rows from `(row, item)` pairs, which may come in any order; each row keeps theirs. O(rows + pairs).
    ///
    /// # Panics
    /// If a pair names a row that is not below `rows`.
    pub fn refill(&mut self, rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) {
        self.offsets.clear();
        self.offsets.resize(rows + 1, 0);
        for (row, _) in pairs.clone() {
            self.offsets[row as usize + 1] += 1;
        }
        for row in 0..rows {
            self.offsets[row + 1] += self.offsets[row];
        }
        self.items.clear();
        self.items.resize(self.offsets[rows] as usize, 0);
        // Each offset serves as its row's write position and ends at the next row's start; then they move up by one.
        for (row, item) in pairs {
            let position = &mut self.offsets[row as usize];
            self.items[*position as usize] = item;
            *position += 1;
        }
        self.offsets.copy_within(0..rows, 1);
        self.offsets[0] = 0;
    }

    /// Refills with the other's pairs turned round: row i lists, ascending, the rows of `other` that hold i.
    /// O(rows + items).
    ///
    /// # Panics
    /// If the other holds an item that is not below `rows`.
    pub fn refill_transposed(&mut self, rows: usize, other: &Self) {
        self.refill(rows, (0..other.rows()).flat_map(|row| other.row(row).iter().map(move |&item| (item, row as u32))));
    }
}

/// Dependencies between passes, both ways. An edge given twice counts once or twice in both lists alike.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Deps {
    /// What each pass depends on.
    pub preds: Csr,
    /// What depends on each pass.
    pub succs: Csr,
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

    /// Refills from edges `(earlier, later)`. O(passes + edges).
    pub fn refill(&mut self, passes: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) {
        self.preds.refill(passes, edges.clone().map(|(earlier, later)| (later, earlier)));
        self.succs.refill(passes, edges);
    }

    /// Makes `succs` from `preds`, for callers that fill `preds` row by row. O(passes + edges).
    pub fn complete(&mut self) {
        let Self { preds, succs } = self;
        succs.refill_transposed(preds.rows(), preds);
    }
}

/// Passes that wait for each other in a ring: each depends on the one before it, the first on the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle(pub Vec<u32>);

/// What [`topological`] and [`Topology::chains`] find, and what they need to find it.
#[derive(Clone, Default, Debug)]
pub struct Topology {
    /// All passes, each after what it depends on, otherwise by id.
    pub order: Vec<u32>,
    /// Longest chain of passes that ends in each pass, counting it: 1 for a pass without dependencies.
    pub level: Vec<u32>,
    /// Longest chain of passes that begins in each pass, counting it.
    pub tail: Vec<u32>,
    /// The longest chain of all: no order has fewer groups between barriers.
    pub depth: u32,
    pending: Vec<u32>,
    ready: BinaryHeap<Reverse<u32>>,
}

impl Topology {
    /// Finds the longest chains through each pass; [`topological`] comes first. O(passes + edges).
    pub fn chains(&mut self, deps: &Deps) {
        let Self { order, level, tail, depth, .. } = self;
        level.clear();
        level.resize(deps.len(), 1);
        tail.clear();
        tail.resize(deps.len(), 1);
        *depth = 0;
        for &pass in order.iter() {
            let longest = deps.preds.row(pass as usize).iter().map(|&pred| level[pred as usize]).max().unwrap_or(0) + 1;
            level[pass as usize] = longest;
            *depth = longest.max(*depth);
        }
        for &pass in order.iter().rev() {
            let longest = deps.succs.row(pass as usize).iter().map(|&succ| tail[succ as usize]).max().unwrap_or(0) + 1;
            tail[pass as usize] = longest;
        }
    }
}

/// Finds the first topological order in the order of ids.
///
/// O(passes + edges) where every pass depends on earlier ids only, else O(edges + passes log passes).
///
/// # Errors
/// A cycle, as short as a breadth-first search from up to 32 of its passes finds. O(32 · edges).
///
/// # Source
/// Kahn, "Topological sorting of large networks", CACM 5 (1962).
pub fn topological(deps: &Deps, topology: &mut Topology) -> Result<(), Cycle> {
    let n = deps.len();
    let Topology { order, pending, ready, .. } = topology;
    order.clear();
    if (0..n).all(|pass| deps.preds.row(pass).iter().all(|&pred| (pred as usize) < pass)) {
        order.extend(0..n as u32);
    } else {
        pending.clear();
        pending.extend((0..n).map(|pass| deps.preds.row(pass).len() as u32));
        ready.clear();
        ready.extend((0..n as u32).filter(|&pass| pending[pass as usize] == 0).map(Reverse));
        while let Some(Reverse(pass)) = ready.pop() {
            order.push(pass);
            for &succ in deps.succs.row(pass as usize) {
                pending[succ as usize] -= 1;
                if pending[succ as usize] == 0 {
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

/// The shortest cycle through one of the first 32 passes that can be on one; `pending` is above 0 for every pass
/// that a cycle keeps waiting.
fn find_cycle(deps: &Deps, pending: &[u32]) -> Cycle {
    let n = deps.len();
    let mut stuck: Vec<bool> = pending.iter().map(|&count| count > 0).collect();
    // What only waits for a cycle is not on one: take away, from the far end, whatever no stuck pass waits for.
    let mut waiting: Vec<u32> =
        (0..n).map(|pass| deps.succs.row(pass).iter().filter(|&&succ| stuck[succ as usize]).count() as u32).collect();
    let mut free: Vec<usize> = (0..n).filter(|&pass| stuck[pass] && waiting[pass] == 0).collect();
    while let Some(pass) = free.pop() {
        stuck[pass] = false;
        for &pred in deps.preds.row(pass) {
            waiting[pred as usize] -= 1;
            if stuck[pred as usize] && waiting[pred as usize] == 0 {
                free.push(pred as usize);
            }
        }
    }
    let mut shortest: Vec<u32> = Vec::new();
    let mut from = vec![u32::MAX; n];
    for start in (0..n).filter(|&pass| stuck[pass]).take(32) {
        from.fill(u32::MAX);
        let mut queue = VecDeque::from([start as u32]);
        'search: while let Some(pass) = queue.pop_front() {
            for &succ in deps.succs.row(pass as usize) {
                if succ as usize == start {
                    let mut ring = vec![pass];
                    while ring[ring.len() - 1] as usize != start {
                        ring.push(from[ring[ring.len() - 1] as usize]);
                    }
                    ring.reverse();
                    if shortest.is_empty() || ring.len() < shortest.len() {
                        shortest = ring;
                    }
                    break 'search;
                }
                if stuck[succ as usize] && from[succ as usize] == u32::MAX {
                    from[succ as usize] = pass;
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

    fn deps(passes: usize, edges: &[(u32, u32)]) -> Deps {
        let mut deps = Deps::default();
        deps.refill(passes, edges.iter().copied());
        deps
    }

    #[test]
    fn rows_keep_the_order_of_their_pairs() {
        let mut csr = Csr::default();
        csr.refill(4, [(2, 9), (0, 5), (2, 1), (3, 7)].into_iter());
        assert_eq!((0..4).map(|row| csr.row(row).to_vec()).collect::<Vec<_>>(), [vec![5], vec![], vec![9, 1], vec![7]]);
        csr.refill(1, std::iter::empty());
        assert_eq!((csr.rows(), csr.items(), csr.row(0)), (1, 0, &[][..]));
    }

    #[test]
    fn successors_made_from_predecessors_are_their_transpose() {
        let mut made = Deps::default();
        for row in [&[][..], &[0, 0], &[1, 0]] {
            row.iter().for_each(|&pred| made.preds.push(pred));
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
        assert_eq!(topology.order, [1, 2, 3, 0, 4]);
        assert_eq!(topology.level, [2, 1, 2, 1, 3]);
        assert_eq!(topology.tail, [2, 2, 1, 3, 1]);
        assert_eq!(topology.depth, 3);
    }

    #[test]
    fn a_cycle_is_named_in_the_order_of_its_dependencies() {
        let ring = deps(7, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (5, 6), (6, 5), (4, 5)]);
        assert_eq!(topological(&ring, &mut Topology::default()), Err(Cycle(vec![5, 6])));
        let alone = deps(2, &[(1, 1)]);
        assert_eq!(topological(&alone, &mut Topology::default()), Err(Cycle(vec![1])));
        let long = deps(5, &[(0, 2), (2, 1), (1, 0), (4, 0), (0, 3)]);
        assert_eq!(topological(&long, &mut Topology::default()), Err(Cycle(vec![0, 2, 1])));
    }
}
