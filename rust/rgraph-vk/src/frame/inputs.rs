//! What the caller gives to a run.

use rgraph_plan::graph::{PassId, Place, Ranges};
use rgraph_plan::resource::ResourceId;

use crate::device::external::{RunFence, SemaphoreSignal, SemaphoreWait};
use crate::device::poll::Poll;
use crate::frame::measure::Measure;
use crate::frame::target_change::TargetChange;
use crate::memory::left::ResourceLeft;
use crate::memory::resource::DeviceResource;

/// What an imported resource is in a run.
#[derive(Clone, Copy, Debug)]
pub enum Upload<'a> {
    /// Tightly packed texels of mip 0, layer by layer, or a buffer's bytes; copied before `run` returns.
    Bytes(&'a [u8]),
    Resource(&'a DeviceResource),
}

/// What a run gets.
#[derive(Default)]
pub struct Inputs<'a> {
    /// Imported resources of the graph. What is not given again keeps what it has.
    pub uploads: Vec<(ResourceId, Upload<'a>)>,
    /// Whether each of them must be given: what an earlier run was given then does not count.
    pub anew: bool,
    /// How foreign code left imported resources that are bound: in place of
    /// [`DeviceResource::set_state`](crate::DeviceResource), and without a submit where the run uses them first on the
    /// queue that they were left on. After a run that failed, give them again.
    pub left: Vec<(ResourceId, ResourceLeft)>,
    /// What persistent resources and histories hold before the first run, and before one with `reset`: packed bytes of
    /// mip 0, layer by layer, or a buffer's. What is not named begins as it is declared.
    pub first: Vec<(ResourceId, &'a [u8])>,
    /// What they hold before this run; all remembered frames of a history.
    pub states: Vec<(ResourceId, &'a [u8])>,
    /// True to reset persistent resources and histories before this run.
    pub reset: bool,
    /// New contents of plain-data uniform blocks: pass, position in the program's bindings, bytes.
    pub data: Vec<(PassId, u32, Vec<u8>)>,
    /// New push data of all steps of a pass.
    pub push: Vec<(PassId, Vec<u8>)>,
    /// Clear values, loads and viewports of passes, for this run only.
    pub targets: Vec<(PassId, TargetChange)>,
    /// Flags of conditional passes; what is not given again stays, at first on. A run that fails leaves them as they
    /// were.
    pub flags: Vec<(String, bool)>,
    /// Roots to be read back; `None`: all of them.
    pub read: Option<Vec<ResourceId>>,
    /// Roots that are not read back by default.
    pub unread: Vec<ResourceId>,
    /// Further parts of roots to read back: one mip, some layers, some bytes.
    pub parts: Vec<(ResourceId, Ranges)>,
    /// Which GPU times are measured.
    pub measure: Measure,
    /// Measures one run in so many, counted from the graph's first; 0 and 1: each.
    pub sample: u32,
    /// Whether vertices, fragments and invocations are counted.
    pub statistics: bool,
    /// Semaphores that the run waits for.
    pub waits: Vec<SemaphoreWait>,
    /// Semaphores that the run signals.
    pub signals: Vec<SemaphoreSignal>,
    /// A fence that the run signals.
    pub fence: Option<RunFence>,
    /// Where the program asks for the run, for the message of a wait that never ends.
    pub place: Option<Place>,
    /// Called every 50 ms while waiting.
    pub poll: Option<Poll<'a>>,
}

impl std::fmt::Debug for Inputs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs").field("uploads", &self.uploads.len()).finish_non_exhaustive()
    }
}
