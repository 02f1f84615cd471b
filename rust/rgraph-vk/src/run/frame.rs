//! A frame that was submitted: whether it is done, what it made, how long it took.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rgraph_plan::graph::Ranges;
use rgraph_plan::resource::ResourceId;

use crate::compile::compiled_graph::CompiledGraph;
use crate::device::Shared;
use crate::device::queue::Point;
use crate::error::{Code, DeviceError, Error};
use crate::frame::report::FrameReport;
use crate::frame::span::Span;
use crate::frame::submitted::Submitted;
use crate::frame::wanted::UNRESOLVED;
use crate::memory::MemoryReport;
use crate::memory::readback::Readback;
use crate::run::compiled::Compiled;

/// A frame under way, or done. Clones are the same frame; whatever it uses lives at least as long as it runs.
#[derive(Clone, Debug)]
pub struct Frame(pub(crate) Arc<FrameShared>);

/// See [`Frame`].
pub(crate) struct FrameShared {
    pub compiled: Compiled,
    pub submitted: Submitted,
    pub waits: Mutex<Waits>,
}

/// Waits for a frame.
#[derive(Default)]
pub(crate) struct Waits {
    spans: Vec<Span>,
    /// Set once a wait has observed completion; later waits return at once.
    over: bool,
}

impl std::fmt::Debug for FrameShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame").field("run", &self.submitted.figures.run).finish_non_exhaustive()
    }
}

/// Waits that follow each other within this are one.
const ONE_WAIT: Duration = Duration::from_millis(1);

impl FrameShared {
    /// Remembers a wait that ends now, and whether the frame is done.
    pub(crate) fn note_wait(&self, begin: Instant, done: bool) {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        if waits.over {
            return;
        }
        waits.over = done;
        let wait = Span::since("wait", begin);
        match waits.spans.last_mut() {
            Some(last) if wait.begin.saturating_duration_since(last.end) < ONE_WAIT => last.end = wait.end,
            _ => waits.spans.push(wait),
        }
    }
}

impl Frame {
    /// Where it ends on each queue that it uses: when the queue's [timeline](crate::Device::timeline) has reached the
    /// value of its point, all of the frame on that queue is done.
    pub fn points(&self) -> &[Point] {
        &self.0.submitted.points
    }

    /// Whether the GPU and the host are done with it.
    ///
    /// # Errors
    /// As [`Frame::wait`].
    pub fn is_done(&self) -> Result<bool, Error> {
        self.wait(Some(Duration::ZERO))
    }

    /// Waits until it is done; `false`: the time was over first.
    ///
    /// # Errors
    /// If the device is lost, or a host function failed: its error, once.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool, Error> {
        let begin = Instant::now();
        let done = self.wait_until_done(timeout, begin);
        if timeout != Some(Duration::ZERO) {
            self.0.note_wait(begin, matches!(done, Ok(true)));
        }
        done
    }

    fn wait_until_done(&self, timeout: Option<Duration>, begin: Instant) -> Result<bool, Error> {
        self.shared().context.process.check()?;
        if let Some(host) = &self.0.submitted.host {
            if !host.wait(timeout) {
                return Ok(false);
            }
            if let Some(error) = host.take_error() {
                return Err(error);
            }
        }
        let left = timeout.map(|timeout| timeout.saturating_sub(begin.elapsed()));
        self.shared().wait(&self.0.submitted.points, left).map_err(|error| self.0.compiled.blamed(error))
    }

    /// What a root holds at the end of the frame, or the one part of it that was read back; waits for it.
    ///
    /// # Errors
    /// If nothing of that name was read back in this run, or the frame failed.
    pub fn read(&self, resource: ResourceId) -> Result<Readback, Error> {
        let all = || self.0.submitted.reads.iter().filter(|(of, ..)| *of == resource);
        let whole = all().find(|(_, ranges, _)| *ranges == Ranges::default());
        self.found(resource, whole.or_else(|| all().next().filter(|_| all().count() == 1)))
    }

    /// What part of a root holds at the end of the frame; waits for it.
    ///
    /// # Errors
    /// As [`Frame::read`].
    pub fn read_part(&self, resource: ResourceId, ranges: Ranges) -> Result<Readback, Error> {
        self.found(resource, self.0.submitted.reads.iter().find(|(of, part, _)| *of == resource && *part == ranges))
    }

    fn found(&self, resource: ResourceId, found: Option<&(ResourceId, Ranges, Readback)>) -> Result<Readback, Error> {
        let Some((.., readback)) = found else {
            let graph = &self.graph().workload.graph;
            let name = if resource_exists(graph, resource) { graph.resource_name(resource) } else { "?" };
            let known: Vec<_> =
                self.0.submitted.reads.iter().map(|(of, ..)| format!("\"{}\"", graph.resource_name(*of))).collect();
            let message = format!("\"{name}\" was not read back in this frame");
            let idle = self.graph().plan.resources.get(resource).is_some_and(|one| one.lifetime.is_none());
            let help = if idle && graph.is_root(resource) {
                "let a pass of this frame use it: it is a root, and nothing that runs reads or writes it".to_owned()
            } else if self.graph().multisampled(resource) {
                UNRESOLVED.to_owned()
            } else if known.is_empty() {
                "make it a root of the graph".to_owned()
            } else if self.parts().any(|(of, _)| of == resource) {
                "ask for one of the parts that were read back, or read this one, too".to_owned()
            } else {
                format!("make it a root of the graph; this frame has {}", known.join(", "))
            };
            return Err(Error::input(name, message, help));
        };
        self.wait(None)?;
        if self.0.submitted.host.as_ref().is_some_and(|host| host.has_failed()) {
            let message = "the frame was abandoned: a host function failed in it";
            return Err(DeviceError::new(Code::Failed, message, "run it again").into());
        }
        readback.settle()?;
        Ok(readback.clone())
    }

    /// What can be read: resources of the graph.
    pub fn readable(&self) -> impl Iterator<Item = ResourceId> {
        let reads = &self.0.submitted.reads;
        let first = |at: &usize| !reads[..*at].iter().any(|(of, ..)| *of == reads[*at].0);
        (0..reads.len()).filter(first).map(|at| reads[at].0)
    }

    /// What can be read, part by part: several parts of a resource are several.
    pub fn parts(&self) -> impl Iterator<Item = (ResourceId, Ranges)> {
        self.0.submitted.reads.iter().map(|(of, ranges, _)| (*of, *ranges))
    }

    /// How long it took and what it needed; waits for it.
    ///
    /// # Errors
    /// As [`Frame::wait`].
    pub fn report(&self) -> Result<FrameReport, Error> {
        self.wait(None)?;
        self.0.compiled.harvest(self.0.submitted.figures.run)?;
        let times = self.0.submitted.times.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
        let waits = self.0.waits.lock().unwrap_or_else(PoisonError::into_inner).spans.clone();
        let memory: MemoryReport = self.shared().memory_report();
        let (figures, host) = (&self.0.submitted.figures, self.0.submitted.host.as_deref());
        Ok(FrameReport::new(self.graph(), figures, times, (host, waits), memory))
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.graph().shared
    }

    pub(crate) fn graph(&self) -> &Arc<CompiledGraph> {
        self.0.compiled.graph()
    }
}

fn resource_exists(graph: &rgraph_plan::graph::Graph, resource: ResourceId) -> bool {
    graph.resources().get(resource).is_some()
}
