//! Blocks of device memory that can be exported, and places in them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;

use super::Origin;
use crate::device::Shared;
use crate::error::Error;
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::share::spans::Spans;

/// What an importer must know of a block besides its descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedMemoryInfo {
    /// Who made it.
    pub origin: Origin,
    /// Bytes.
    pub size: u64,
    /// Index of its memory type.
    pub memory_type: u32,
}

/// Where a resource lies in a block, and who has it at first.
#[derive(Clone, Copy, Debug, Default)]
pub struct SharedPlace<'a> {
    /// First byte; `None`: the first free bytes.
    pub offset: Option<u64>,
    /// Whether it may share bytes with other resources. The caller keeps their uses apart in time.
    pub overlap: bool,
    /// The user outside of this device who has it; `None`: this device, or the exporter of an imported block.
    pub holder: Option<&'a str>,
}

/// See [`SharedMemory`].
pub(crate) struct SharedBlock {
    pub shared: Arc<Shared>,
    pub name: String,
    pub raw: vk::DeviceMemory,
    pub info: SharedMemoryInfo,
    pub imported: bool,
    pub spans: Arc<Mutex<Spans>>,
}

impl std::fmt::Debug for SharedBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedBlock").field("name", &self.name).field("size", &self.info.size).finish_non_exhaustive()
    }
}

impl Drop for SharedBlock {
    fn drop(&mut self) {
        let counted = if self.imported { 0 } else { self.info.size };
        self.shared.defer_deletion([DeferredDeletion::Shared(self.raw, std::mem::take(&mut self.name), counted)]);
    }
}

impl SharedBlock {
    /// Bytes for a resource.
    pub(crate) fn place(
        &self,
        name: &str,
        needs: vk::MemoryRequirements,
        place: SharedPlace<'_>,
    ) -> Result<u64, Error> {
        let SharedPlace { offset: at, overlap, .. } = place;
        let Self { shared, name: block, info, .. } = self;
        let refuse = |message: String, help: String| Err(Error::input(name, message, help));
        if needs.memory_type_bits & 1 << info.memory_type == 0 {
            let message = format!("\"{name}\" cannot lie in memory type {} of \"{block}\"", info.memory_type);
            return refuse(message, "share a buffer, and copy to and from it".to_owned());
        }
        // Images and buffers may share a page of this size only if the driver knows both.
        let granularity = if overlap { 1 } else { shared.limits.buffer_image_granularity };
        let alignment = needs.alignment.max(granularity);
        if let Some(offset) = at.filter(|offset| !offset.is_multiple_of(alignment)) {
            let message = format!("\"{name}\" at byte {offset} of \"{block}\" is not aligned to {alignment} bytes");
            return refuse(message, format!("give a multiple of {alignment}"));
        }
        let taken = match at {
            Some(at) if overlap => at.checked_add(needs.size).is_some_and(|end| end <= info.size).then_some(at),
            at => self.spans().take(needs.size, alignment, at, info.size),
        };
        taken.map_or_else(
            || {
                let place = at.map_or_else(String::new, |at| format!(" at byte {at}"));
                let (needed, has) = (needs.size, info.size);
                let message = format!("\"{name}\" needs {needed} bytes{place} of \"{block}\", which has {has}");
                refuse(message, "use a larger block, other bytes, or drop what lies there".to_owned())
            },
            Ok,
        )
    }

    fn spans(&self) -> MutexGuard<'_, Spans> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
