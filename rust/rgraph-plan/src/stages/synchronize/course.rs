//! The course of a frame: live nodes in one linear order, with their queues, grouped into steps (one render pass,
//! or one other node) between which barriers can stand.

use crate::id::Span;
use crate::stages::resolve::NodeId;

/// One node on its queue.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// The node.
    pub node: NodeId,
    /// Its queue; the host's is [`Course::host`].
    pub queue: u8,
    /// Its position on the queue, from 1.
    pub position: u32,
    /// The step that it is part of.
    pub step: u32,
}

/// Nodes between which no barrier can stand but those within a render pass.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// In [`Course::stops`].
    pub stops: Span,
    /// Its queue.
    pub queue: u8,
    /// Whether it is a render pass.
    pub raster: bool,
}

/// Live nodes in linear order.
#[derive(Default, Debug)]
pub struct Course {
    /// GPU queues; the host is the next number.
    pub queues: usize,
    /// Nodes.
    pub stops: Vec<Stop>,
    /// Steps, in the order of their first nodes.
    pub steps: Vec<Step>,
}

impl Course {
    /// The number that stands for the host among queues.
    pub fn host(&self) -> u8 {
        self.queues as u8
    }
}
