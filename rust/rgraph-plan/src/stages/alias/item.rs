//! What is placed, and what a placement needs.

use std::fmt;

rgraph_ir::id! {
    /// An item: its position in the list that is placed.
    pub struct ItemId;
    /// A moment of the shortened clock (see [`super::timeline`]).
    pub(super) struct SectionId;
}

/// Something that needs bytes for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// Bytes. Nothing is ever in the way of an item without bytes.
    pub size: u64,
    /// Its offset is a multiple of this power of two.
    pub align: u64,
    /// Position of the first use in the plan's linear order.
    pub first: u32,
    /// Position of the last use, inclusive, not less than `first`.
    pub last: u32,
}

/// What a placement needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Peak {
    /// The highest end of an item, in bytes.
    pub total: u64,
    /// Most bytes alive at one position: no placement can need less.
    pub lower_bound: u64,
    /// The highest end after the sweeps, before anything else was tried.
    pub swept: u64,
    /// Nodes spent: items put somewhere, over all attempts.
    pub nodes: u64,
}

/// The items need more than `u64::MAX` bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overflow;

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the resources alive at once need more than 2^64 bytes")
    }
}

impl std::error::Error for Overflow {}
