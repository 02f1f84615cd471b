//! Poison: patterns that lie in memory wherever the declaration says that nothing is there. Results that depend on the
//! pattern depend on something that no pass wrote.

use ash::vk;
use rgraph_plan::format::{Format, Numbers};
use rgraph_plan::plan::{Plan, PlanKind};
use rgraph_plan::resource::ResourceId;

use crate::chaos::random::mix;

/// The pattern of each memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Poison {
    /// Of all memories.
    pub seed: u64,
    /// Memories, by the graph's ids of all their names, that have the pattern of another seed.
    pub other: Option<(u64, Vec<ResourceId>)>,
}

impl Poison {
    fn bits(&self, memory: ResourceId, lane: u64) -> u64 {
        let other = self.other.as_ref().filter(|(_, of)| of.contains(&memory));
        mix(mix(other.map_or(self.seed, |(seed, _)| *seed)) ^ lane)
    }

    /// A colour that is rare in pictures; of seeds other than 0 often NaN, large or negative.
    pub(crate) fn color(&self, memory: ResourceId, format: Format) -> vk::ClearColorValue {
        let numbers = format.numbers();
        // Integers beyond the format's range are undefined.
        let fits = match format.name() {
            name if name.contains("32") => u32::MAX >> 1,
            name if name.contains("16") => 0x7fff,
            _ => 0x7f,
        };
        let bits = [0, 1, 2, 3].map(|lane| self.bits(memory, lane));
        match numbers {
            Numbers::Uint => vk::ClearColorValue { uint32: bits.map(|bits| bits as u32 & fits) },
            Numbers::Sint => vk::ClearColorValue { int32: bits.map(|bits| (bits as u32 & fits) as i32) },
            _ => {
                let part = bits.map(|bits| (bits >> 40) as f32 / (1u64 << 24) as f32);
                let kind = if self.seed == 0 && self.other.is_none() { 3 } else { bits[0] % 4 };
                let float32 = match kind {
                    0 if numbers == Numbers::Float => [f32::NAN; 4],
                    1 => part.map(|part| 1000.0 * part),
                    2 => part.map(|part| -part),
                    _ => part,
                };
                vk::ClearColorValue { float32 }
            }
        }
    }

    /// Depth and stencil.
    pub(crate) fn depth(&self, memory: ResourceId) -> vk::ClearDepthStencilValue {
        let bits = self.bits(memory, 4);
        vk::ClearDepthStencilValue { depth: (bits >> 40) as f32 / (1u64 << 24) as f32, stencil: (bits & 0xff) as u32 }
    }

    /// Counts of indirect work stay small, so that deferred deletions ends soon; other words are floats near 1.
    pub(crate) fn word(&self, memory: ResourceId, counts: bool) -> u32 {
        let bits = self.bits(memory, 5);
        if counts { (bits % 4) as u32 } else { 0x3f00_0000 | (bits as u32 & 0x00ff_ffff) }
    }
}

impl Poison {
    /// What an attachment is cleared with whose old contents are discarded.
    pub(crate) fn attachment(&self, plan: &Plan, resource: ResourceId) -> Option<vk::ClearValue> {
        let PlanKind::Image { format, .. } = plan.resources[resource].kind else { return None };
        let memory = plan.memory_of(resource);
        plan.begins_empty(resource).then(|| match format.is_depth_stencil() {
            true => vk::ClearValue { depth_stencil: self.depth(memory) },
            false => vk::ClearValue { color: self.color(memory, format) },
        })
    }
}
