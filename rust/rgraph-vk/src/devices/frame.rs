//! The result of a run on several devices: its roots, read back, and the frames of its parts.

use std::sync::Arc;

use rgraph_plan::devices::DeviceId;
use rgraph_plan::id::Id;
use rgraph_plan::resource::ResourceId;

use super::compiled::{DevicesRunState, Shared};
use crate::bridge::SLICE;
use crate::error::Error;
use crate::frame::inputs::Inputs;
use crate::frame::report::FrameReport;
use crate::memory::readback::Readback;
use crate::memory::staged;
use crate::run::frame::Frame;

/// What a run on several devices left. Everything of it is done. Clones are the same frame.
#[derive(Clone, Debug)]
pub struct DevicesFrame {
    reads: Arc<[(ResourceId, Readback)]>,
    parts: Arc<[(DeviceId, Frame)]>,
    graph: Arc<str>,
    run: u64,
    /// Of its copies.
    notes: Arc<[String]>,
}

impl DevicesFrame {
    /// Of a graph that runs on one device.
    pub(super) fn of_one(shared: &Shared, frame: Frame, inputs: &Inputs<'_>) -> Result<Self, Error> {
        while !frame.wait(Some(SLICE))? {
            if let Some(poll) = inputs.poll {
                poll().map_err(Error::Callback)?;
            }
        }
        let reads = frame.readable().collect::<Vec<_>>();
        let reads = reads.into_iter().map(|root| Ok((root, frame.read(root)?))).collect::<Result<_, Error>>()?;
        let device = shared.plan.parts.iter().next().map_or(DeviceId::new(0), |part| part.device);
        let run = frame.report()?.run;
        let graph = shared.graph.name().into();
        Ok(Self { reads, parts: Arc::new([(device, frame)]), graph, run, notes: Arc::default() })
    }

    /// Of a graph in parts, which are done.
    pub(super) fn of_parts(
        shared: &Shared,
        state: &DevicesRunState,
        parts: Vec<Frame>,
        inputs: &Inputs<'_>,
        notes: Vec<String>,
    ) -> Result<Self, Error> {
        let mut reads = Vec::new();
        for place in &shared.plan.results {
            let root = place.resource;
            let wanted = inputs.read.as_ref().map_or(!inputs.unread.contains(&root), |read| read.contains(&root));
            if !wanted {
                continue;
            }
            let of_part = parts.iter().find(|frame| frame.readable().any(|one| one == root));
            if let Some(frame) = of_part {
                reads.push((root, frame.read(root)?));
            } else if let Some(physical) = shared.physical(state, place.device, shared.memory[root]) {
                let block = staged::read(physical, None)?;
                let name = shared.graph.resource_name(root).to_owned();
                reads.push((root, Readback::done(block, physical.kind, name)?));
            }
        }
        let devices = shared.plan.parts.iter().map(|part| part.device);
        let parts = devices.zip(parts).collect();
        let (graph, notes) = (shared.graph.name().into(), notes.into());
        Ok(Self { reads: reads.into(), parts, graph, run: state.run, notes })
    }

    /// What a root holds at the end of the frame.
    ///
    /// # Errors
    /// If it was not read back in this run.
    pub fn read(&self, resource: ResourceId) -> Result<Readback, Error> {
        let found = self.reads.iter().find(|(root, _)| *root == resource);
        found.map(|(_, read)| read.clone()).ok_or_else(|| {
            let known: Vec<_> = self.reads.iter().map(|(_, read)| format!("\"{}\"", read.name())).collect();
            let message =
                format!("resource {} of \"{}\" was not read back in this frame", resource.index(), self.graph);
            Error::input(
                &self.graph,
                message,
                format!("make it a root of the graph; this frame has {}", known.join(", ")),
            )
        })
    }

    /// What can be read: resources of the graph.
    pub fn readable(&self) -> impl ExactSizeIterator<Item = ResourceId> + '_ {
        self.reads.iter().map(|(root, _)| *root)
    }

    /// The device and the frame of each part, in the order of the plan's parts.
    pub fn parts(&self) -> &[(DeviceId, Frame)] {
        &self.parts
    }

    /// What the frame took, all parts together. Queues are named with their device: `1 compute`. Devices have no common
    /// clock, so passes have no start, and the GPU time is that of the device that was at work longest.
    ///
    /// # Errors
    /// As [`Frame::report`].
    pub fn report(&self) -> Result<FrameReport, Error> {
        let parts = self.parts.iter().map(|(device, frame)| Ok((*device, frame.report()?)));
        let parts: Vec<_> = parts.collect::<Result<_, Error>>()?;
        let mut report = FrameReport::of_devices(&self.graph, self.run, parts).expect("a frame has a part");
        report.notes.extend(self.notes.iter().cloned());
        report.notes.sort();
        report.notes.dedup();
        Ok(report)
    }
}
