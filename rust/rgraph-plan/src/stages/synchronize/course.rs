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
    /// Whether each of its stops is a subpass of its own: where one reads an input attachment, or uses an image of the
    /// render pass in another layout than the others.
    pub subpasses: bool,
    /// Steps of one group and queue need no barrier between them: no step follows another of its group.
    pub group: u32,
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
    /// Groups the steps of each queue: a new group begins where a step follows one of the present group.
    /// `earlier(node, follow)` calls `follow` with each stop that `node` must follow. O(dependencies).
    pub fn find_groups(&mut self, groups: &mut Vec<u32>, mut earlier: impl FnMut(NodeId, &mut dyn FnMut(u32))) {
        groups.clear();
        groups.resize(self.queues + 1, 0);
        for at in 0..self.steps.len() {
            let step = self.steps[at];
            let now = groups[usize::from(step.queue)];
            let mut follows = false;
            for stop in step.stops.range() {
                earlier(self.stops[stop].node, &mut |from| {
                    let source = &self.steps[self.stops[from as usize].step as usize];
                    let own = self.stops[from as usize].step as usize == at;
                    follows |= !own && source.queue == step.queue && source.group == now;
                });
            }
            groups[usize::from(step.queue)] += u32::from(follows);
            self.steps[at].group = groups[usize::from(step.queue)];
        }
    }

    /// Begins a new group before each of these steps, which are ascending and on one queue.
    pub fn cut_groups(&mut self, cuts: &[u32]) {
        let mut next = cuts.iter().peekable();
        let mut more = 0;
        for (at, step) in self.steps.iter_mut().enumerate() {
            more += u32::from(next.next_if_eq(&&(at as u32)).is_some());
            step.group += more;
        }
    }

    /// Begins a new group of its queue before each step that is marked.
    pub fn cut_groups_before(&mut self, marked: &[bool], more: &mut Vec<u32>) {
        more.clear();
        more.resize(self.queues + 1, 0);
        for (step, marked) in self.steps.iter_mut().zip(marked) {
            let more = &mut more[usize::from(step.queue)];
            *more += u32::from(*marked);
            step.group += *more;
        }
    }

    /// The number that stands for the host among queues.
    pub fn host(&self) -> u8 {
        self.queues as u8
    }
}
