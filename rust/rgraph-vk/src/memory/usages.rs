//! Uses that an image or buffer is made for.

use ash::vk;

/// How an image or buffer will be used: what its creation must say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Usages {
    pub image: vk::ImageUsageFlags,
    pub buffer: vk::BufferUsageFlags,
    /// Whether views of other formats are made.
    pub mutable: bool,
    /// Whether its memory is shared with other devices, processes or APIs.
    pub external: bool,
}
