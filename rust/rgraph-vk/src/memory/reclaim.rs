//! Memory that is kept for later use: given up when an allocation finds none.

/// Keeps memory that nothing uses, for the next request of its kind.
pub(crate) trait Reclaim: Send + Sync {
    /// Counts a compilation or a run, and frees what was of no use for long.
    fn tick(&self);

    /// Frees all of it.
    fn clear(&self);
}
