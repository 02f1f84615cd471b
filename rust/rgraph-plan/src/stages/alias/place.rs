//! Byte offsets: items that may be alive together never share a byte.
//!
//! The problem is dynamic storage allocation (NP-hard; Garey and Johnson, SR2). What is spent on it is counted in nodes
//! (items put somewhere), never in time, so the same input gives the same offsets on every machine.

use std::fmt;

use super::online::{self, Direction, Online};
use super::timeline::Timeline;

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

/// Memory that [`place`] works in. A second call of the same size allocates nothing.
#[derive(Default)]
pub struct PlaceScratch {
    timeline: Timeline,
    online: Online,
    other: Vec<u64>,
}

/// Gives every item an offset.
///
/// Two items may share bytes only if one ends before the other begins (`last < first`) and, where `before` is given,
/// `before(earlier, later)` holds: every use of the first happens before every use of the second, on all queues.
/// `before` is asked only about such pairs and must be transitive; `None` means one queue.
///
/// # Errors
/// [`Overflow`] if the offsets do not fit in 64 bits.
pub fn place<B: Fn(u32, u32) -> bool>(
    items: &[Item],
    before: Option<B>,
    effort: u32,
    scratch: &mut PlaceScratch,
    offsets: &mut Vec<u64>,
) -> Result<Peak, Overflow> {
    let _ = effort;
    let before = before.as_ref();
    let PlaceScratch { timeline, online, other } = scratch;
    timeline.build(items)?;
    let bound = timeline.bound;
    let mut peak = Peak { total: 0, lower_bound: bound, nodes: items.len() as u64 };
    let forward = online::sweep(items, timeline, before, Direction::Forward, online, offsets);
    peak.total = forward.unwrap_or(u64::MAX);
    if forward != Ok(bound) {
        peak.nodes += items.len() as u64;
        let backward = online::sweep(items, timeline, before, Direction::Backward, online, other);
        if backward.is_ok_and(|total| forward.is_err() || total < peak.total) {
            std::mem::swap(offsets, other);
            peak.total = backward?;
        } else {
            forward?;
        }
    }
    Ok(peak)
}
