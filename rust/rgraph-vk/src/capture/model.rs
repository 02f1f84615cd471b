//! A capture as plain data.

use std::sync::Arc;

use crate::frame::target_change::TargetChange;
use rgraph_plan::access::Aspects;

/// Bytes of a section of the file.
pub(super) type Bytes = Arc<[u8]>;

/// A capture.
#[derive(Clone, Default, Debug)]
pub(super) struct Model {
    /// Device, driver and UUID that it was made on.
    pub device: String,
    pub driver: String,
    pub uuid: String,
    /// Profile file of that device.
    pub profile: Bytes,
    pub graphs: Vec<Captured>,
    pub frames: Vec<CapturedFrame>,
}

/// A compiled graph whose runs were captured.
#[derive(Clone, Default, Debug)]
pub(super) struct Captured {
    pub name: String,
    /// Graph file, with the work of passes that are no functions.
    pub graph: Bytes,
    /// Plan file; `None` where the declaration is not in the order of its file.
    pub plan: Option<Bytes>,
    /// The number of its first captured run, which says where each ring stands; `None`: it had not run before.
    pub run: Option<u64>,
    /// What persistent resources and rings held before that run.
    pub before: Vec<Content>,
    /// What they held after the last captured run.
    pub after: Vec<Content>,
}

/// One plane of a resource.
#[derive(Clone, Default, Debug)]
pub(super) struct Content {
    pub resource: String,
    /// Position in the ring.
    pub slot: u32,
    pub mip: u32,
    pub aspect: Aspects,
    pub bytes: Bytes,
}

/// A run.
#[derive(Clone, Default, Debug)]
pub(super) struct CapturedFrame {
    /// Position in [`Model::graphs`].
    pub graph: usize,
    /// True if persistent resources and histories were reset.
    pub reset: bool,
    /// Whether each flag was on.
    pub flags: Vec<(String, bool)>,
    /// What imported resources held.
    pub inputs: Vec<Content>,
    /// What persistent resources and histories were set to, if this was the first run or a reset.
    pub first: Vec<(String, Bytes)>,
    /// What they were set to before this run.
    pub states: Vec<(String, Bytes)>,
    /// Push data by pass.
    pub push: Vec<(String, Bytes)>,
    /// Uniform data by pass and binding.
    pub data: Vec<(String, u32, Bytes)>,
    /// Clear values, loads and viewports of passes.
    pub targets: Vec<(String, TargetChange)>,
    /// Bytes that host functions wrote: pass, buffer, first byte.
    pub host: Vec<(String, String, u64, Bytes)>,
    /// Graph file in which the steps that callbacks recorded are the work of their passes.
    pub steps: Option<Bytes>,
    /// Passes whose callbacks were called.
    pub recorded: Vec<String>,
    /// What was read back.
    pub results: Vec<Outcome>,
}

/// A root, or a part of one, after a run.
#[derive(Clone, Default, Debug)]
pub(super) struct Outcome {
    pub resource: String,
    pub mips: Option<[u32; 2]>,
    pub layers: Option<[u32; 2]>,
    pub range: Option<[u64; 2]>,
    pub bytes: Bytes,
}
