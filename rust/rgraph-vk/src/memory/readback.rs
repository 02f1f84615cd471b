//! Bytes that were read back.

use std::sync::Arc;

use rgraph_plan::plan::PlanKind;

use crate::memory::staging::Block;

/// Bytes that were read back: tightly packed texels of mip 0, layer by layer, or a buffer's bytes. They stay as they
/// are while this lives.
#[derive(Clone, Debug)]
pub struct Readback(pub(crate) Arc<ReadbackShared>);

/// See [`Readback`].
#[derive(Debug)]
pub(crate) struct ReadbackShared {
    pub block: Arc<Block>,
    pub bytes: u64,
    pub kind: PlanKind,
    pub name: String,
}

impl Readback {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the block stays mapped while it is borrowed, is that large, and the frame that wrote it is done: a
        // readback is handed out after waiting, and its block is not lent again while it lives.
        unsafe { std::slice::from_raw_parts(self.0.block.start().as_ptr(), self.0.bytes as usize) }
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
