//! Staging blocks of a device: those that nobody borrows, and page-locked arrays by address.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Mutex, Weak};

use ash::vk;

use crate::device::queue::Point;
use crate::error::Error;
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::{Allocation, Domain};

/// Bytes of the blocks that large transfers go through, one after the other.
pub(crate) const CHUNK: u64 = 4 << 20;

/// Least bytes of a block.
pub(super) const LEAST: u64 = 64 << 10;

/// Bytes of blocks that queues still use, from which on a transfer waits for one instead of making another.
const MOST_PENDING: u64 = 32 << 20;

/// Loans after which a block that nobody borrowed is given back to the driver.
const IDLE_LOANS: u64 = 256;

/// What memory reports call the blocks.
pub(super) const NAME: &str = "staging";

/// A buffer, its memory, and its first byte.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) buffer: vk::Buffer,
    pub(super) memory: Allocation,
    pub(super) size: u64,
    pub(super) start: Start,
}

/// First byte of a block's memory, which stays mapped as long as the block exists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start(pub(super) NonNull<u8>);

// SAFETY: the pointer is into memory that is mapped for the process; no thread owns it.
unsafe impl Send for Start {}
// SAFETY: as above; access to the bytes is ordered by the one who borrowed the block.
unsafe impl Sync for Start {}

/// Parts that are lent, and the moments after which no queue uses them.
#[derive(Debug)]
pub(super) struct Loan {
    pub(super) parts: Parts,
    pub(super) points: Mutex<Vec<Point>>,
}

/// Blocks that nobody borrows, and page-locked arrays by address.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    pub(super) free: Vec<Free>,
    pub(super) locked: BTreeMap<usize, Weak<Loan>>,
    pub(super) loans: u64,
}

/// A block that nobody borrows.
#[derive(Debug)]
pub(super) struct Free {
    pub(super) parts: Parts,
    pub(super) points: Vec<Point>,
    /// The loan at which it was given back.
    pub(super) since: u64,
}

/// An answer to who wants a block.
pub(super) enum Found {
    Block(Parts),
    /// Enough of them are under way: one is free at these points.
    Pending(Vec<Point>),
    Nothing,
}

impl Staging {
    /// The block given back last of those that fit and that no queue uses: its bytes are the likeliest to be in a
    /// cache.
    pub(super) fn find(
        &mut self,
        bytes: u64,
        is_over: impl Fn(&[Point]) -> Result<bool, Error>,
    ) -> Result<Found, Error> {
        self.loans += 1;
        let fits = |free: &Free| free.parts.size >= bytes && free.parts.size / 2 <= bytes.max(LEAST);
        for at in (0..self.free.len()).rev() {
            if fits(&self.free[at]) && is_over(&self.free[at].points)? {
                return Ok(Found::Block(self.free.remove(at).parts));
            }
        }
        let pending = self.free.iter().filter(|free| fits(free));
        if bytes <= CHUNK && pending.clone().map(|free| free.parts.size).sum::<u64>() >= MOST_PENDING {
            return Ok(pending.clone().next().map_or(Found::Nothing, |first| Found::Pending(first.points.clone())));
        }
        Ok(Found::Nothing)
    }

    /// Bytes that nobody borrows, and the domains that reports count them in.
    pub(crate) fn idle(&self) -> impl Iterator<Item = (Domain, u64)> {
        self.free.iter().map(|free| (free.parts.memory.domain(), free.parts.memory.size))
    }

    /// Takes out blocks that nobody borrowed for a while; all of them where `all`.
    pub(super) fn retire(&mut self, all: bool) -> Vec<DeferredDeletion> {
        let loans = self.loans;
        let old = |free: &mut Free| all || free.since + IDLE_LOANS < loans;
        self.free.extract_if(.., old).flat_map(|free| free.parts.deferred()).collect()
    }
}

impl Parts {
    /// All of it, to be destroyed.
    pub(super) fn deferred(self) -> [DeferredDeletion; 2] {
        let domain = self.memory.domain();
        [DeferredDeletion::Buffer(self.buffer), DeferredDeletion::Memory(self.memory, NAME.to_owned(), domain)]
    }
}
