//! A frame over several devices: which passes run on which device, in which parts, and which contents are copied
//! between them. Plain data; `rgraph-plan` makes, prints, reads and writes it, `rgraph-check` checks it.

use crate::graph::PassId;
use crate::id::IdVec;
use crate::resource::ResourceId;

crate::id! {
    /// A device of one plan for several devices.
    pub struct DeviceId;
    /// A part of one plan for several devices: passes of one device that are compiled as one graph.
    pub struct DevicePartId;
    /// A copy of one plan for several devices.
    pub struct DeviceCopyId;
}

/// What several devices do in a frame.
///
/// The steps of one device run in the order of [`steps`](Self::steps), one after the other; those of different devices
/// run at once. A receive waits for its send and nothing else crosses devices, so every execution gives the contents
/// that the list gives when it is run from its begin to its end, and none can wait in a circle.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DevicesPlan {
    /// The graph's name.
    pub graph: String,
    /// The graph's [`content_hash`](crate::graph::Graph::content_hash).
    pub graph_hash: u128,
    /// Names of the devices' profiles, by device.
    pub profiles: Vec<String>,
    pub parts: IdVec<DevicePartId, DevicePart>,
    pub copies: IdVec<DeviceCopyId, DeviceCopy>,
    /// Parts, sends and receives in an order in which one thread could run them all.
    pub steps: Vec<DeviceStep>,
    /// Where contents stay from frame to frame: the first name of each memory that keeps them, and its device.
    pub homes: Vec<DevicePlace>,
    /// Where each explicit root is read at the end of the frame.
    pub results: Vec<DevicePlace>,
    /// Figures and sentences.
    pub report: DevicesReport,
}

/// Passes of one device without a copy between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DevicePart {
    pub device: DeviceId,
    /// Its passes, by their positions in the flattened declaration, in the order in which they run.
    pub passes: Vec<PassId>,
}

/// Contents that one device makes and another one needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceCopy {
    /// The first name of the memory, or a history; `None`: nothing is copied, the receiver only comes later.
    pub resource: Option<ResourceId>,
    /// The device that has them.
    pub from: DeviceId,
    /// The device that gets them.
    pub to: DeviceId,
    pub bytes: u64,
}

/// One step of one device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceStep {
    /// A part runs, on its device.
    Run(DevicePartId),
    /// The source of a copy gives contents away.
    Send(DeviceCopyId),
    /// The target of a copy takes them, once they are sent.
    Receive(DeviceCopyId),
}

/// A resource on a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DevicePlace {
    pub resource: ResourceId,
    pub device: DeviceId,
}

/// What was expected of a plan for several devices.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DevicesReport {
    /// Modelled frame, in microseconds.
    pub frame_us: f64,
    /// Modelled frame of the first device alone, in microseconds.
    pub one_device_us: f64,
    /// Sentences: what could not be done as asked, and why.
    pub notes: Vec<String>,
}

impl DevicesPlan {
    /// The device of a step.
    pub fn device_of(&self, step: DeviceStep) -> DeviceId {
        match step {
            DeviceStep::Run(part) => self.parts[part].device,
            DeviceStep::Send(copy) => self.copies[copy].from,
            DeviceStep::Receive(copy) => self.copies[copy].to,
        }
    }

    /// Bytes copied between devices in a frame.
    pub fn copied_bytes(&self) -> u64 {
        self.copies.iter().map(|copy| copy.bytes).sum()
    }
}
