//! Command buffers with the initial barriers of a recording's batches, kept from run to run: a run whose resources come
//! in the states in which they came before records nothing.

use ash::vk;
use rgraph_plan::plan::BatchId;

use crate::device::Shared;
use crate::error::{Called, Error};
use crate::frame::initial_barriers::InitialBarriers;
use crate::memory::onetime::command_pool;

/// The barriers of a batch, and the command buffer that has them.
#[derive(Debug)]
struct Entry {
    batch: BatchId,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    /// What was recorded; `None`: nothing that can be submitted.
    recorded: Option<InitialBarriers>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Entries(Vec<Entry>);

impl Entries {
    /// Commands of a batch's barriers, recorded if they differ from those of its run before. The batch's queue has the
    /// family; nothing of the recording is under way.
    pub(crate) fn commands(
        &mut self,
        shared: &Shared,
        family: u32,
        batch: BatchId,
        barriers: &mut InitialBarriers,
    ) -> Result<vk::CommandBuffer, Error> {
        let at = match self.0.iter().position(|entry| entry.batch == batch) {
            Some(at) => at,
            None => {
                let (pool, commands) = command_pool(shared, family)?;
                self.0.push(Entry { batch, pool, commands, recorded: None });
                self.0.len() - 1
            }
        };
        let entry = &mut self.0[at];
        if entry.recorded.as_ref().is_none_or(|recorded| !recorded.records_as(barriers)) {
            entry.recorded = None;
            // SAFETY: the recording is idle, so its pools are.
            let reset = unsafe { shared.raw.reset_command_pool(entry.pool, vk::CommandPoolResetFlags::empty()) };
            shared.noted(reset.called("vkResetCommandPool"))?;
            shared.recorded(entry.commands, vk::CommandBufferUsageFlags::empty(), |commands| {
                barriers.record(&shared.raw, commands);
            })?;
            entry.recorded = Some(barriers.take_barriers());
        }
        Ok(entry.commands)
    }

    /// The pools alone: the resources that the barriers name may be gone, and others have their handles.
    pub(crate) fn forgotten(mut self) -> Self {
        self.0.iter_mut().for_each(|entry| entry.recorded = None);
        self
    }

    /// What has to be destroyed.
    pub(crate) fn pools(&self) -> impl Iterator<Item = vk::CommandPool> {
        self.0.iter().map(|entry| entry.pool)
    }
}
