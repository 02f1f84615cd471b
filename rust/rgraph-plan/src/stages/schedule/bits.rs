//! Sets of passes as bits, and the transitive closure of the dependencies.

use super::Csr;
use super::deps::Deps;
use crate::id::{Id, IdVec};
use crate::stages::ids::LiveId;

/// A set of passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// The set of all passes below `passes`.
    pub(super) fn full(passes: usize) -> Self {
        let mut bits = Self(vec![u64::MAX; passes.div_ceil(64)]);
        if let (Some(last), 1..) = (bits.0.last_mut(), passes % 64) {
            *last = (1 << (passes % 64)) - 1;
        }
        bits
    }

    /// The empty set, with room for the passes of `other`.
    pub(super) fn empty_like(other: &Self) -> Self {
        Self(vec![0; other.0.len()])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// How many passes are in both.
    pub(super) fn count_common(&self, other: &Self) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones()).sum()
    }

    /// The smallest pass.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn first(&self) -> LiveId {
        self.iter().next().expect("a box has a pass")
    }

    pub(super) fn contains(&self, pass: LiveId) -> bool {
        self.0[pass.index() / 64] >> (pass.index() % 64) & 1 != 0
    }

    pub(super) fn insert(&mut self, pass: LiveId) {
        self.0[pass.index() / 64] |= 1 << (pass.index() % 64);
    }

    pub(super) fn remove(&mut self, pass: LiveId) {
        self.0[pass.index() / 64] &= !(1 << (pass.index() % 64));
    }

    pub(super) fn insert_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    pub(super) fn remove_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
    }

    /// Removes the passes that are not in the other set.
    pub(super) fn keep(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }

    /// Passes, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = LiveId> + '_ {
        self.iter_common(self)
    }

    /// Passes that are in both, ascending.
    pub(super) fn iter_common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = LiveId> + 'a {
        self.0.iter().zip(&other.0).enumerate().flat_map(|(i, (&a, &b))| {
            let mut left = a & b;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 64).then(|| LiveId::new(i * 64 + bit as usize))
            })
        })
    }
}

/// The transitive closure of the dependencies, both ways: two bits per pair of passes.
pub(super) struct Reach {
    after: IdVec<LiveId, Bits>,
    before: IdVec<LiveId, Bits>,
}

impl Reach {
    /// O(edges · passes / 64).
    pub(super) fn new(deps: &Deps, order: &[LiveId]) -> Self {
        let none = Bits(vec![0; deps.len().div_ceil(64)]);
        let gather = |order: &mut dyn Iterator<Item = &LiveId>, rows: &Csr<LiveId, LiveId>| {
            let mut reach = IdVec::filled(none.clone(), deps.len());
            for &pass in order {
                let mut bits = none.clone();
                for &next in rows.row(pass) {
                    bits.insert(next);
                    bits.insert_all(&reach[next]);
                }
                reach[pass] = bits;
            }
            reach
        };
        Self { after: gather(&mut order.iter().rev(), &deps.succs), before: gather(&mut order.iter(), &deps.preds) }
    }

    /// Passes that come after a pass.
    pub(super) fn after(&self, pass: LiveId) -> &Bits {
        &self.after[pass]
    }

    /// Passes that come before a pass.
    pub(super) fn before(&self, pass: LiveId) -> &Bits {
        &self.before[pass]
    }

    /// Overwrites bits with the passes that come before or after a pass.
    pub(super) fn related(&self, pass: LiveId, into: &mut Bits) {
        into.0.copy_from_slice(&self.after(pass).0);
        into.insert_all(self.before(pass));
    }

    /// Overwrites bits with the passes that come neither before nor after a pass, and itself.
    pub(super) fn unrelated(&self, pass: LiveId, into: &mut Bits) {
        self.related(pass, into);
        into.0.iter_mut().for_each(|word| *word = !*word);
    }

    /// Overwrites bits with the passes that come before or after just one of two passes (perhaps with the two
    /// themselves).
    pub(super) fn distinguishing(&self, a: LiveId, b: LiveId, into: &mut Bits) {
        let (after, before) = ([self.after(a), self.after(b)], [self.before(a), self.before(b)]);
        for (i, word) in into.0.iter_mut().enumerate() {
            *word = (after[0].0[i] ^ after[1].0[i]) | (before[0].0[i] ^ before[1].0[i]);
        }
    }
}
