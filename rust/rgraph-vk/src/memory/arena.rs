//! Memory that several images and buffers lie in.

use std::sync::Arc;

use crate::device::Shared;
use crate::error::Error;
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::{Allocation, Domain, Want};

/// Memory that several images and buffers lie in.
#[derive(Debug)]
pub(crate) struct Arena {
    shared: Arc<Shared>,
    name: String,
    domain: Domain,
    types: u32,
    allocation: Option<Allocation>,
}

impl Arena {
    /// Memory of one of the types `types`.
    pub(crate) fn new(shared: &Arc<Shared>, want: Want<'_>, types: u32) -> Result<Arc<Self>, Error> {
        let allocation = Some(shared.allocate(want)?);
        let domain = allocation.as_ref().map_or(want.domain, Allocation::domain);
        let name = want.name.to_owned();
        Ok(Arc::new(Self { shared: shared.clone(), name, domain, types, allocation }))
    }

    /// Whether what needs one of `types` may lie in it: every type that it may have been made of is one.
    pub(crate) fn allows(&self, types: u32) -> bool {
        self.types & !types == 0
    }

    /// Its memory.
    pub(crate) fn allocation(&self) -> &Allocation {
        self.allocation.as_ref().expect("taken only when dropped")
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let deferred = self
            .allocation
            .take()
            .map(|memory| DeferredDeletion::Memory(memory, std::mem::take(&mut self.name), self.domain));
        self.shared.defer_deletion(deferred);
    }
}
