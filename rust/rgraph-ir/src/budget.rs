//! Bytes against overlap: how many bytes of transients a bake may keep alive to save barrier calls.

use std::fmt;

/// What bytes of transients are worth. Each barrier call between dependent passes lets the queue drain; passes that
/// could run at the same time and share bytes instead need one more call.
///
/// On one queue the budget caps the bytes; the order has the fewest barrier calls that fit below the cap. On several
/// queues it decides if batches begin with a barrier call to reuse bytes of the batch before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MemoryBudget {
    /// As many bytes as the declared order keeps alive at once.
    Least,
    /// [`SLACK_PART`](Self::SLACK_PART) more than `Least`, or [`SLACK_BYTES`](Self::SLACK_BYTES) where that is more.
    #[default]
    Balanced,
    /// All bytes of the heap.
    Fast,
    /// So many bytes, if an order that the bake tries fits; otherwise as few as it finds, with a note.
    Bytes(u64),
}

impl MemoryBudget {
    /// `Balanced` pays one part in so many of the declared order's bytes: 6 %, which is about what a quick placement
    /// wastes over its bound, and less than most drivers round sizes up by.
    pub const SLACK_PART: u64 = 16;
    /// `Balanced` pays so many bytes in any case: a target of 1920×1080 texels of 8 bytes, a quarter of the 64 MiB that
    /// the runtime takes from a driver at once.
    pub const SLACK_BYTES: u64 = 16 << 20;

    /// Budgets that have a name.
    pub const NAMED: [Self; 3] = [Self::Least, Self::Balanced, Self::Fast];
    /// Their names.
    pub const NAMES: [&str; 3] = ["least", "balanced", "fast"];

    /// The budget of that name; `Bytes` has a number, so no name stands for it.
    pub fn from_name(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|known| *known == name)?;
        Some(Self::NAMED[at])
    }

    /// Its name; none for `Bytes`.
    pub fn name(self) -> Option<&'static str> {
        let at = Self::NAMED.iter().position(|known| *known == self)?;
        Some(Self::NAMES[at])
    }

    /// Most bytes that may be alive at once, where the declared order keeps `declared` alive and the heap has `heap`
    /// bytes (`None`: no limit).
    pub fn cap(self, declared: u64, heap: Option<u64>) -> u64 {
        let cap = match self {
            Self::Least => declared,
            Self::Balanced => declared.saturating_add((declared / Self::SLACK_PART).max(Self::SLACK_BYTES)),
            Self::Fast => u64::MAX,
            Self::Bytes(bytes) => return bytes,
        };
        cap.min(heap.unwrap_or(u64::MAX)).max(declared)
    }

    /// Fewest bytes, of those placed on several queues, that are worth barrier calls at the start of batches, where the
    /// queue waits for another anyway; `None`: none are.
    pub fn worth_cutting(self, placed: u64) -> Option<u64> {
        match self {
            Self::Least | Self::Balanced => Some(placed / 10),
            Self::Fast => None,
            Self::Bytes(bytes) => (placed > bytes).then_some(placed / 10),
        }
    }
}

/// The name, or the number of bytes.
impl fmt::Display for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.name()) {
            (Self::Bytes(bytes), _) => write!(f, "{bytes}"),
            (_, name) => f.write_str(name.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_pays_a_part_or_an_amount_whichever_is_more_but_never_beyond_the_heap() {
        let cap = |declared, heap| MemoryBudget::Balanced.cap(declared, heap);
        assert_eq!(cap(1 << 20, None), 17 << 20);
        assert_eq!(cap(1 << 30, None), (1 << 30) + (64 << 20));
        assert_eq!(cap(1 << 20, Some(4 << 20)), 4 << 20);
        assert_eq!(cap(8 << 20, Some(4 << 20)), 8 << 20, "the heap limit refuses or reorders, not the budget");
    }

    #[test]
    fn every_name_is_a_budget() {
        for name in MemoryBudget::NAMES {
            assert_eq!(MemoryBudget::from_name(name).and_then(MemoryBudget::name), Some(name));
        }
        assert_eq!((MemoryBudget::from_name("much"), MemoryBudget::Bytes(7).name()), (None, None));
    }
}
