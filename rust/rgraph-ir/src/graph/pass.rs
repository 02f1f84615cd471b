//! What a pass says of itself.

use std::sync::Arc;

use super::{FlagId, SlotId, UnitId};
use crate::access::PassQueue;
use crate::feature::Features;

/// Optional features that a shader of a pass needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShaderNeed {
    /// The shader's name; empty: the declaration names none.
    pub shader: Arc<str>,
    pub features: Features,
}

/// A declared pass, without its name and accesses.
#[derive(Clone, PartialEq, Debug)]
pub struct Pass {
    /// Where it runs.
    pub queue: PassQueue,
    /// Its duration in microseconds, measured or guessed; `None`: a static estimate.
    pub weight_us: Option<f64>,
    /// Its occupancy class: passes of one class are better not run at once.
    pub unit: Option<UnitId>,
    /// The GPU that it must run on; `None`: any.
    pub device: Option<u32>,
    /// Whether it is needed although nobody reads what it writes.
    pub side_effects: bool,
    /// Whether its draws commute with those of other passes that say so: the picture is the same in every order.
    pub unordered: bool,
    /// The flag that switches it.
    pub conditional: Option<FlagId>,
    /// Whether its accesses came from a setup function, which may opt out by declaring none.
    pub setup: bool,
    /// The module or extension point that contains it.
    pub slot: Option<SlotId>,
    /// Optional features that its shaders need; only a device that has them can run it.
    pub needs: Vec<ShaderNeed>,
}

impl Pass {
    /// A pass on a queue, with defaults for the rest.
    pub const fn new(queue: PassQueue) -> Self {
        Self {
            queue,
            weight_us: None,
            unit: None,
            device: None,
            side_effects: false,
            unordered: false,
            conditional: None,
            setup: false,
            slot: None,
            needs: Vec::new(),
        }
    }

    /// Notes the features that one of its shaders needs.
    pub fn need(&mut self, shader: &Arc<str>, features: Features) {
        match self.needs.iter_mut().find(|need| need.shader == *shader) {
            Some(need) => need.features |= features,
            None if features.is_empty() => {}
            None => self.needs.push(ShaderNeed { shader: Arc::clone(shader), features }),
        }
    }

    /// All features that its shaders need.
    pub fn needed_features(&self) -> Features {
        self.needs.iter().map(|need| need.features).collect()
    }
}
