//! Byte offsets: items that may be alive together never share a byte.
//!
//! The problem is dynamic storage allocation (NP-hard; Garey and Johnson, SR2). What is spent on it is counted in nodes
//! (items put somewhere), never in time, so the same input gives the same offsets on every machine.

use super::anytime::{self, Anytime};
use super::item::{Item, ItemId, Overflow, Peak};
use super::online::{self, Direction, Online};
use super::timeline::Timeline;

/// Work per item at effort 1, in items looked at; each further effort may take four times as much.
const WORK: u64 = 100;

/// Work besides, so that small frames are searched too: some ten microseconds at effort 1.
const AT_LEAST: u64 = 1 << 14;

/// Memory that [`place`] works in. A second call of the same size allocates nothing.
#[derive(Default)]
pub struct PlaceScratch {
    timeline: Timeline,
    online: Online,
    other: Vec<u64>,
    anytime: Anytime,
}

/// Gives every item an offset.
///
/// Two items may share bytes only if one ends before the other begins (`last < first`) and, where `before` is given,
/// `before(earlier, later)` holds: every use of the first happens before every use of the second, on all queues.
/// `before` is asked only about such pairs and must be transitive; `None` means one queue.
///
/// `effort` says how much may be spent as long as the peak is above the lower bound:
/// - 0: two sweeps in time order (forward and backward), O(n) whatever the overlaps, and O(n log n) where positions are
///   much sparser than items;
/// - 1: on one queue a skyline, O(n (log n + sections of a life)). Then, as far as the work allows, rules and searches
///   that look at conflicts; not, so that nothing is quadratic, where the pairs to look at (with `before`: all of them)
///   are more than a quarter of it;
/// - each further effort: four times the work, until the bound is reached or proven to be out of reach.
///
/// # Errors
/// [`Overflow`] if the offsets do not fit in 64 bits.
pub fn place<B: Fn(ItemId, ItemId) -> bool>(
    items: &[Item],
    before: Option<B>,
    effort: u32,
    scratch: &mut PlaceScratch,
    offsets: &mut Vec<u64>,
) -> Result<Peak, Overflow> {
    place_below(items, before, (effort, None), scratch, offsets)
}

/// As [`place`], for a caller that has so many bytes and no use for a placement above them: if the effort has not found
/// one that fits, twice as much work goes into that alone.
///
/// # Errors
/// [`Overflow`] if the offsets do not fit in 64 bits.
pub fn place_below<B: Fn(ItemId, ItemId) -> bool>(
    items: &[Item],
    before: Option<B>,
    (effort, aim): (u32, Option<u64>),
    scratch: &mut PlaceScratch,
    offsets: &mut Vec<u64>,
) -> Result<Peak, Overflow> {
    let before = before.as_ref();
    let PlaceScratch { timeline, online, other, anytime } = scratch;
    timeline.build(items)?;
    let bound = timeline.bound;
    let mut peak = Peak { lower_bound: bound, nodes: items.len() as u64, ..Peak::default() };
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
    peak.swept = peak.total;
    if effort > 0 && peak.total > bound {
        let once = (items.len() as u64).saturating_mul(WORK).saturating_add(AT_LEAST);
        let work = once.saturating_mul(4u64.saturating_pow(effort - 1));
        anytime::improve(items, timeline, before, (work, aim), anytime, offsets, &mut peak);
    }
    Ok(peak)
}
