//! One-time command buffers of a frame context, from one linear pool a queue family: taken in order, all given back at
//! once when the frame is done.

use ash::vk;

use crate::device::Shared;
use crate::error::{Called, Error};
use crate::memory::command_pools::{OneTime, Pool};

impl Shared {
    /// Records a command buffer that is new, or whose pool was reset.
    pub(crate) fn recorded(
        &self,
        commands: vk::CommandBuffer,
        usage: vk::CommandBufferUsageFlags,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<(), Error> {
        let info = vk::CommandBufferBeginInfo::default().flags(usage);
        // SAFETY: the caller's; nothing was recorded into it since.
        let begun = unsafe { self.raw.begin_command_buffer(commands, &info) };
        self.noted(begun.called("vkBeginCommandBuffer"))?;
        self.edge(commands);
        record(commands);
        self.edge(commands);
        // SAFETY: begun above.
        self.noted(unsafe { self.raw.end_command_buffer(commands) }.called("vkEndCommandBuffer"))
    }
}

/// A pool with one command buffer.
pub(crate) fn command_pool(shared: &Shared, family: u32) -> Result<(vk::CommandPool, vk::CommandBuffer), Error> {
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
    // SAFETY: the family is one of the device's.
    let pool = unsafe { shared.raw.create_command_pool(&info, shared.raw.host()) };
    let pool = shared.noted(pool.called("vkCreateCommandPool"))?;
    let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
    // SAFETY: the pool was just made.
    match unsafe { shared.raw.allocate_command_buffers(&info) }.called("vkAllocateCommandBuffers") {
        Ok(made) => Ok((pool, made[0])),
        Err(error) => {
            // SAFETY: never used.
            unsafe { shared.raw.destroy_command_pool(pool, shared.raw.host()) };
            shared.noted(Err(error))
        }
    }
}

impl OneTime {
    /// Starts from the front again; the frame that used them is done.
    pub(crate) fn reset(&mut self, shared: &Shared) -> Result<(), Error> {
        for pool in self.0.iter_mut().filter(|pool| pool.used > 0) {
            // SAFETY: the context is idle.
            let reset = unsafe { shared.raw.reset_command_pool(pool.raw, vk::CommandPoolResetFlags::empty()) };
            shared.noted(reset.called("vkResetCommandPool"))?;
            pool.used = 0;
        }
        Ok(())
    }

    /// Records a command buffer for a family.
    pub(crate) fn record(
        &mut self,
        shared: &Shared,
        family: u32,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<vk::CommandBuffer, Error> {
        let commands = self.next(shared, family)?;
        shared.recorded(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, record)?;
        Ok(commands)
    }

    fn next(&mut self, shared: &Shared, family: u32) -> Result<vk::CommandBuffer, Error> {
        let at = match self.0.iter().position(|pool| pool.family == family) {
            Some(at) => at,
            None => {
                let info = vk::CommandPoolCreateInfo::default()
                    .flags(vk::CommandPoolCreateFlags::TRANSIENT)
                    .queue_family_index(family);
                // SAFETY: the family is one of the device's.
                let raw = unsafe { shared.raw.create_command_pool(&info, shared.raw.host()) };
                let raw = shared.noted(raw.called("vkCreateCommandPool"))?;
                self.0.push(Pool { family, raw, buffers: Vec::new(), used: 0 });
                self.0.len() - 1
            }
        };
        let pool = &mut self.0[at];
        if pool.used == pool.buffers.len() {
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool.raw).command_buffer_count(1);
            // SAFETY: the pool is this context's.
            let made = unsafe { shared.raw.allocate_command_buffers(&info) };
            pool.buffers.extend(shared.noted(made.called("vkAllocateCommandBuffers"))?);
        }
        pool.used += 1;
        Ok(pool.buffers[pool.used - 1])
    }
}
