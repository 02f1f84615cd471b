//! The order of the accesses to one subresource within a frame.

use rgraph_ir::id::Id;

use crate::ids::DeclaredPassId;

/// Position in the chain of names of one memory: each name modifies the one before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct NamePosition(u32);

impl NamePosition {
    /// Of the name that modifies nothing.
    pub(crate) const FIRST: Self = Self(0);
    /// Behind all names.
    pub(crate) const BEHIND: Self = Self(u32::MAX);

    /// Of a name that so many others are below.
    pub(crate) fn above(names: u32) -> Self {
        Self(names)
    }
}

/// Position of a pass in the flattened declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct PassPosition(u32);

impl PassPosition {
    /// Before all passes.
    pub(crate) const BEFORE: Self = Self(0);
    /// Behind all passes.
    pub(crate) const BEHIND: Self = Self(u32::MAX);

    /// Of a pass that is named.
    pub(crate) fn of(pass: DeclaredPassId) -> Self {
        Self(pass.index() as u32 + 1)
    }
}

/// What comes when at the position of a pass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Step(u32);

impl Step {
    /// The pass itself.
    pub(crate) const PASS: Self = Self(0);
    /// Reads that come just after a writer declared later: behind all mips.
    pub(crate) const FORWARD: Self = Self(1000);
    /// Behind everything.
    pub(crate) const BEHIND: Self = Self(u32::MAX);

    /// The pass that fills a mip level, from 1, of what the pass writes.
    pub(crate) fn of_mip(level: u32) -> Self {
        Self(level)
    }
}

/// When an access to a subresource comes: sorted in this order of fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Key {
    pub name: NamePosition,
    pub pass: PassPosition,
    pub step: Step,
}

impl Key {
    /// Behind all accesses.
    pub(crate) const END: Self = Self::behind(NamePosition::BEHIND);

    /// Behind all accesses under a name and those that it modifies.
    pub(crate) const fn behind(name: NamePosition) -> Self {
        Self { name, pass: PassPosition::BEHIND, step: Step::BEHIND }
    }
}
