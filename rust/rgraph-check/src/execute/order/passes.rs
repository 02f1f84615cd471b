//! Passes and render passes in the order of their queue.

use rgraph_ir::access::Stages;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::QueueId;

use super::{Builder, Kind, Lane, Open};
use crate::execute::ids::{ExecId, ItemId, OrderNodeId, RenderingId};
use crate::execute::mapping::{PRESENTS, Target};
use crate::ids::Subpass;
use crate::tables::{leaf, leaves, with_later};

impl Builder<'_, '_> {
    pub(super) fn begin(&mut self, queue: QueueId, rendering: RenderingId) {
        let mapping = self.mapping;
        let mut open = Open {
            at: rendering,
            lane: Lane::new(),
            subpass: Subpass::FIRST,
            attachments: Vec::new(),
            resolving: Vec::new(),
            loads: IdVec::new(),
            users: Vec::new(),
        };
        for (id, target) in mapping.renderings[rendering].targets.iter_ids() {
            let node = self.node(Kind::Load(rendering, id), queue);
            let stage = if target.depth { Stages::EARLY_FRAGMENT_TESTS } else { Stages::COLOR_ATTACHMENT_OUTPUT };
            self.place(queue, stage, target, node);
            leaves(stage).for_each(|stage| open.lane.pending[stage].push(node));
            open.loads.push((target.first_subpass, node));
        }
        self.open = Some(open);
    }

    /// Puts a load or store operation on its queue.
    fn place(&mut self, queue: QueueId, stage: Stages, target: &Target, node: OrderNodeId) {
        let resource = self.mapping.plan.attachments[target.entry.index()].resource;
        let start = self.mapping.start(resource, self.run);
        target.subresources.iter().for_each(|fine| self.access(node, start.plus(*fine)));
        for stage in leaves(stage) {
            self.edge(self.lanes[queue].gates[stage], node);
            self.lanes[queue].pending[stage].push(node);
        }
        self.lanes[queue].all.push(node);
    }

    pub(super) fn pass(&mut self, queue: QueueId, id: ExecId) {
        let mapping = self.mapping;
        let exec = &mapping.execs[id];
        if self.open.as_ref().is_some_and(|open| open.subpass != exec.subpass) {
            self.end_subpass(queue);
        }
        if let Some(open) = &mut self.open {
            open.subpass = exec.subpass;
            open.resolving.extend((!exec.resolves.is_empty()).then_some(id));
        }
        let mut made: Vec<(OrderNodeId, ItemId)> = Vec::new();
        let (mut attachments, mut inputs) = (Vec::new(), Vec::new());
        for (number, item) in exec.items.iter_ids() {
            let node = self.node(Kind::Item(id, number), queue);
            self.put(queue, item.stage, item.attachment, node);
            // Within a pass, reads come before writes at the same or a later stage.
            for &(before, other) in &made {
                let other = &exec.items[other];
                let ordered = match (other.write, item.write) {
                    (false, true) => {
                        other.stage == item.stage
                            || other.attachment && item.attachment
                            || other.stage != PRESENTS
                                && item.stage != PRESENTS
                                && with_later(leaf(usize::from(other.stage))).contains(leaf(usize::from(item.stage)))
                    }
                    (true, true) => other.attachment && item.attachment,
                    _ => false,
                };
                if ordered {
                    self.edge(Some(before), node);
                }
            }
            for &(access, _) in &item.accesses {
                let access = &exec.accesses[access];
                let start = mapping.start(access.resource, self.run);
                for target in &access.targets {
                    let place = start.plus(target.fine);
                    self.access(node, place);
                    if item.stage == PRESENTS {
                        self.presented[place] = Some(node);
                    }
                }
            }
            made.push((node, number));
            if item.attachment {
                attachments.push(node);
            } else if item.accesses.iter().any(|(access, _)| exec.accesses[*access].input) {
                inputs.push(node);
            }
        }
        if let Some(open) = &mut self.open {
            open.users.extend(attachments.iter().chain(&inputs));
            open.attachments.extend(attachments);
        }
    }

    /// Puts an item on its queue; within a render pass, attachments follow those before them in the subpass.
    fn put(&mut self, queue: QueueId, stage: u8, attachment: bool, node: OrderNodeId) {
        if stage == PRESENTS {
            let before = self.lanes[queue].all.clone();
            before.into_iter().for_each(|before| self.edge(Some(before), node));
        } else {
            let stage = usize::from(stage);
            self.edge(self.lanes[queue].gates[stage], node);
            if queue == self.mapping.host {
                let before = self.items(queue, false, stage);
                self.edge(before, node);
            }
            self.lanes[queue].pending[stage].push(node);
            if let Some(open) = &mut self.open {
                let gate = open.lane.gates[stage];
                open.lane.pending[stage].push(node);
                self.edge(gate, node);
            }
        }
        self.lanes[queue].all.push(node);
        let Some(open) = self.open.as_ref().filter(|_| attachment) else { return };
        let (subpass, mut before) = (open.subpass, open.attachments.clone());
        before.extend(open.loads.iter().filter(|(first, _)| *first == subpass).map(|(_, load)| *load));
        before.into_iter().for_each(|before| self.edge(Some(before), node));
    }

    /// Resolves happen at the end of their subpass.
    pub(super) fn end_subpass(&mut self, queue: QueueId) {
        let Some(open) = &mut self.open else { return };
        let resolving = std::mem::take(&mut open.resolving);
        let stage = leaves(Stages::COLOR_ATTACHMENT_OUTPUT).next().unwrap_or(0);
        for id in resolving {
            let exec = &self.mapping.execs[id];
            let node = self.node(Kind::Resolve(id), queue);
            self.put(queue, stage as u8, true, node);
            for &access in &exec.resolves {
                let access = &exec.accesses[access];
                let start = self.mapping.start(access.resource, self.run);
                access.targets.iter().for_each(|target| self.access(node, start.plus(target.fine)));
            }
            if let Some(open) = &mut self.open {
                open.users.push(node);
            }
        }
        if let Some(open) = &mut self.open {
            open.attachments.clear();
        }
    }

    pub(super) fn end(&mut self, queue: QueueId) {
        self.end_subpass(queue);
        let Some(open) = self.open.take() else { return };
        let mapping = self.mapping;
        for (id, target) in mapping.renderings[open.at].targets.iter_ids() {
            let node = self.node(Kind::Store(open.at, id), queue);
            let stage = if target.depth { Stages::LATE_FRAGMENT_TESTS } else { Stages::COLOR_ATTACHMENT_OUTPUT };
            self.place(queue, stage, target, node);
            for stage in leaves(stage) {
                self.edge(open.lane.gates[stage], node);
            }
            open.users.iter().for_each(|user| self.edge(Some(*user), node));
            self.edge(Some(open.loads[id].1), node);
        }
    }
}
