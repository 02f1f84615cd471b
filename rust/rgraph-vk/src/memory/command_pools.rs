//! Command pools that are kept for further transfers and uploads.

use ash::vk;

use crate::device::queue::Point;
use crate::memory::deferred_deletion::DeferredDeletion;

/// Command buffers of one family.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) family: u32,
    pub(super) raw: vk::CommandPool,
    pub(super) buffers: Vec<vk::CommandBuffer>,
    pub(super) used: usize,
}

/// One-time command buffers: taken in order, all given back at once.
#[derive(Debug, Default)]
pub(crate) struct OneTime(pub(super) Vec<Pool>);

impl OneTime {
    /// Everything, to be destroyed.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = DeferredDeletion> {
        std::mem::take(&mut self.0).into_iter().map(|pool| DeferredDeletion::CommandPool(pool.raw))
    }
}

/// Command buffers of transfers outside of runs, each used again once the queue is done with it.
#[derive(Debug, Default)]
pub(crate) struct Transfers(pub(super) Vec<(OneTime, Option<Point>)>);

impl Transfers {
    /// Everything, to be destroyed.
    pub(crate) fn take_all(&mut self) -> Vec<DeferredDeletion> {
        std::mem::take(&mut self.0).into_iter().flat_map(|(mut once, _)| once.take().collect::<Vec<_>>()).collect()
    }
}
