//! Kinds of file descriptors of binary semaphores.

use ash::vk;

/// A kind of file descriptor of a binary semaphore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SemaphoreFd {
    /// `opaque_fd`: the semaphore itself.
    Opaque,
    /// `sync_fd`: one signal of it.
    Sync,
}

impl SemaphoreFd {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opaque => "opaque_fd",
            Self::Sync => "sync_fd",
        }
    }

    /// The kind of that word.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Opaque, Self::Sync].into_iter().find(|kind| kind.name() == name)
    }

    /// Vulkan's.
    pub(crate) const fn handle(self) -> vk::ExternalSemaphoreHandleTypeFlags {
        match self {
            Self::Opaque => vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD,
            Self::Sync => vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD,
        }
    }
}
