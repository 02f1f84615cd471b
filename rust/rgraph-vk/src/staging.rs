//! Staging memory of a frame context: buffers that are filled from the front and used again once the frame is done.

use std::sync::Arc;

use ash::vk;
use rgraph_plan::plan::PlanKind;

use crate::device::Shared;
use crate::error::Error;
use crate::memory::Domain;
use crate::store::{Store, Usages};

/// Least bytes of a staging buffer.
const LEAST: u64 = 1 << 20;
/// Runs after which a buffer that nobody needed is given back.
const IDLE_RUNS: u32 = 64;

#[derive(Debug)]
struct Block {
    store: Arc<Store>,
    used: u64,
    idle: u32,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Staging(Vec<Block>);

impl Staging {
    /// Starts from the front again; the frame that used it is done.
    pub fn reset(&mut self) {
        self.0.retain_mut(|block| {
            block.idle = if block.used == 0 { block.idle + 1 } else { 0 };
            block.used = 0;
            block.idle < IDLE_RUNS
        });
    }

    /// Copies bytes in; returns the buffer and where they are in it.
    pub fn put(&mut self, shared: &Arc<Shared>, bytes: &[u8]) -> Result<(vk::Buffer, u64), Error> {
        let length = bytes.len() as u64;
        let at = |block: &Block| block.used.next_multiple_of(256);
        let size = |block: &Block| match block.store.kind {
            PlanKind::Buffer { size } => size,
            PlanKind::Image { .. } => 0,
        };
        let found = self.0.iter().position(|block| at(block) + length <= size(block));
        let index = match found {
            Some(index) => index,
            None => {
                let kind = PlanKind::Buffer { size: length.max(LEAST) };
                let usages = Usages { buffer: vk::BufferUsageFlags::TRANSFER_SRC, ..Usages::default() };
                let store = Store::new(shared, "staging", kind, usages, Domain::Host, true)?;
                self.0.push(Block { store, used: 0, idle: 0 });
                self.0.len() - 1
            }
        };
        let block = &mut self.0[index];
        let offset = at(block);
        if let Some(mapped) = block.store.mapped() {
            // SAFETY: the range lies in the buffer, which no frame under way uses.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped.as_ptr().add(offset as usize), bytes.len());
            }
        }
        block.used = offset + length;
        Ok((block.store.buffer(), offset))
    }
}
