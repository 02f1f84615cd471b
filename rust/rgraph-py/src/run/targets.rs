//! The resources of pending work.

use std::sync::Arc;

use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;

use crate::run::unresolved::Target;

/// Resources that pending work counts, by position: a few that are declared in place, since most passes name no
/// more and allocate nothing for them, else a shared list.
#[derive(Clone, PartialEq)]
pub struct Targets(Kept);

#[derive(Clone, PartialEq)]
enum Kept {
    Few([Option<ResourceId>; FEW]),
    Many(Arc<[Target]>),
}

/// Declared resources that are kept in place.
const FEW: usize = 4;

impl Targets {
    /// The target at a position.
    pub fn get(&self, at: ResourceId) -> Option<Target> {
        match &self.0 {
            Kept::Few(ids) => ids.get(at.index()).copied().flatten().map(Target::Known),
            Kept::Many(all) => all.get(at.index()).cloned(),
        }
    }
}

impl From<&[Target]> for Targets {
    fn from(all: &[Target]) -> Self {
        let mut few = [None; FEW];
        let fits = all.len() <= FEW && all.iter().all(|target| target.known().is_some());
        if !fits {
            return Self(Kept::Many(all.into()));
        }
        for (place, target) in few.iter_mut().zip(all) {
            *place = target.known();
        }
        Self(Kept::Few(few))
    }
}
