//! Sets of usages.

use super::Usage;

/// What an image or buffer is made for: a set of usages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct UsageSet(u32);

const _: () = assert!(Usage::ALL.len() <= 32, "a usage is one bit");

impl UsageSet {
    /// No usage.
    pub const EMPTY: Self = Self(0);

    /// One usage.
    pub const fn of(usage: Usage) -> Self {
        Self(1 << usage as u32)
    }

    /// Whether it has none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it has a usage.
    pub const fn contains(self, usage: Usage) -> bool {
        self.0 & Self::of(usage).0 != 0
    }

    /// Whether it has all usages of another set.
    pub const fn contains_all(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// The usages of both sets.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Its usages, in the order of [`Usage::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Usage> {
        Usage::ALL.iter().copied().filter(move |usage| self.contains(*usage))
    }

    /// Those of its usages that change no contents.
    pub fn reading(self) -> Self {
        self.iter().filter(|usage| !usage.writes()).collect()
    }

    /// The names of its usages in files.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.iter().map(Usage::name)
    }
}

impl std::ops::BitOr for UsageSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl std::ops::BitOrAssign for UsageSet {
    fn bitor_assign(&mut self, other: Self) {
        *self = self.union(other);
    }
}

impl FromIterator<Usage> for UsageSet {
    fn from_iter<I: IntoIterator<Item = Usage>>(usages: I) -> Self {
        usages.into_iter().fold(Self::EMPTY, |all, usage| all | Self::of(usage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_into_it() {
        let all: UsageSet = Usage::ALL.iter().copied().collect();
        assert!(all.iter().eq(Usage::ALL.iter().copied()));
        let two = UsageSet::of(Usage::Sampled) | UsageSet::of(Usage::StorageWrite);
        assert_eq!(two.names().collect::<Vec<_>>(), ["sampled", "storage_write"]);
        assert!(all.contains_all(two) && !two.contains_all(all) && !two.contains(Usage::Present));
        assert_eq!(two.reading(), UsageSet::of(Usage::Sampled));
    }
}
