//! Bytes that were read back.

use std::sync::{Arc, Mutex, PoisonError};

use rgraph_plan::format::Format;
use rgraph_plan::plan::PlanKind;

use crate::error::Error;
use crate::frame::copy::packed_bytes;
use crate::memory::staging::Block;

/// Bytes that were read back: tightly packed texels of mip 0, layer by layer, or a buffer's bytes. They stay as they
/// are while this lives.
#[derive(Clone, Debug)]
pub struct Readback(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    block: Arc<Block>,
    kind: PlanKind,
    name: String,
    /// Whether the host has what the device wrote.
    is_settled: Mutex<bool>,
}

/// Sets bits to 0 that belong to no texel: a copy leaves the upper byte of a word of 24 bits of depth undefined (Vulkan
/// 1.3, `VkBufferImageCopy`).
pub(crate) fn clear_padding(kind: PlanKind, bytes: &mut [u8]) {
    if let PlanKind::Image { format: Format::Depth24plus | Format::Depth24plusStencil8, .. } = kind {
        bytes.iter_mut().skip(3).step_by(4).for_each(|byte| *byte = 0);
    }
}

impl Readback {
    /// Of a block into which mip 0 of an image, tightly packed, or a buffer is being copied: [`Self::settle`] comes
    /// before [`Self::bytes`].
    pub(crate) fn under_way(block: Arc<Block>, kind: PlanKind, name: String) -> Self {
        Self(Arc::new(Shared { block, kind, name, is_settled: Mutex::new(false) }))
    }

    /// As [`Self::under_way`], once the copy is done.
    pub(crate) fn done(block: Arc<Block>, kind: PlanKind, name: String) -> Result<Self, Error> {
        let readback = Self::under_way(block, kind, name);
        readback.settle()?;
        Ok(readback)
    }

    /// Gives the host what the device wrote, when the device is done; a second call does nothing.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        let mut is_settled = self.0.is_settled.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_settled {
            let len = packed_bytes(self.0.kind);
            self.0.block.invalidate([0, len])?;
            // SAFETY: the block is mapped and that large, the device is done with it, and nobody else has a reference
            // to its bytes before this is done.
            let bytes = unsafe { std::slice::from_raw_parts_mut(self.0.block.start().as_ptr(), len as usize) };
            clear_padding(self.0.kind, bytes);
            *is_settled = true;
        }
        Ok(())
    }

    /// The bytes; of a depth format of 24 bits, words whose upper byte is 0.
    pub fn bytes(&self) -> &[u8] {
        let len = packed_bytes(self.0.kind) as usize;
        // SAFETY: the block stays mapped while it is borrowed, is that large, and the frame that wrote it is done: a
        // readback is handed out after waiting and settling, and its block is not lent again while it lives.
        unsafe { std::slice::from_raw_parts(self.0.block.start().as_ptr(), len) }
    }

    /// What was read back.
    pub fn kind(&self) -> PlanKind {
        self.0.kind
    }

    /// Its name in the graph.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_of_24_bits_of_depth_is_cleared_and_nothing_else() {
        let image = |format| PlanKind::Image {
            format,
            size: [2, 1, 1],
            mips: 1,
            layers: 1,
            samples: 1,
            volume: false,
            cube: false,
        };
        for (kind, padded) in [
            (image(Format::Depth24plus), true),
            (image(Format::Depth24plusStencil8), true),
            (image(Format::Depth32float), false),
            (PlanKind::Buffer { size: 8 }, false),
        ] {
            let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8];
            clear_padding(kind, &mut bytes);
            assert_eq!(bytes, if padded { [1, 2, 3, 0, 5, 6, 7, 0] } else { [1, 2, 3, 4, 5, 6, 7, 8] });
        }
    }
}
