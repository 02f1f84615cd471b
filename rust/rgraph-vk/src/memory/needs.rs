//! Requirements of drivers that a device remembers, by kind of image or buffer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ash::vk;
use rgraph_plan::format::Format;
use rgraph_plan::plan::PlanKind;

use crate::memory::usages::Usages;

/// What a driver requires of an image or buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Size, alignment and memory types.
    pub memory: vk::MemoryRequirements,
    /// Memory for it alone is faster.
    pub prefers_dedicated: bool,
    /// It can have no other.
    pub requires_dedicated: bool,
}

/// Answers that a device remembers: frames have a few kinds of images and buffers, again and again.
const MOST_KNOWN: usize = 4096;

/// A kind of image or buffer, its usages, and whether queue families share it.
pub(crate) type NeedsKey = ((Option<Format>, [u64; 3], [u32; 3], [bool; 2]), Usages, bool);

/// What the driver required before.
#[derive(Debug, Default)]
pub(crate) struct KnownNeeds(Mutex<HashMap<NeedsKey, Needs>>);

impl KnownNeeds {
    /// The answer, if it was asked before.
    pub(crate) fn find(&self, key: &NeedsKey) -> Option<Needs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// Keeps an answer.
    pub(crate) fn remember(&self, key: NeedsKey, needs: Needs) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, needs);
    }
}

/// What an image or buffer is known by.
pub(crate) fn needs_key(kind: PlanKind, usages: Usages, concurrent: bool) -> NeedsKey {
    let shape = match kind {
        PlanKind::Image { format, size, mips, layers, samples, volume, cube } => {
            (Some(format), size.map(u64::from), [mips, layers, samples], [volume, cube])
        }
        PlanKind::Buffer { size } => (None, [size, 0, 0], [0; 3], [false; 2]),
    };
    (shape, usages, concurrent)
}
