//! The walk over all touches in serial order: what each attachment loads, who contributes to whom, and what is
//! read although nobody wrote it.

use super::meaning::Effect;
use super::piece::Part;
use super::{Facts, NodeAttachment, NodeId, Origin, Problem, Source, Touch, part_of};
use crate::access::{Accesses, Load, Usage};
use crate::graph::{FlagId, PassId};
use crate::id::{Id, Span};
use crate::resource::{Life, ResourceId};

/// What the walk knows of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    written: Written,
    writer: Option<NodeId>,
    read_since: bool,
    /// Whether it has contents from before the frame that some writer of the frame makes.
    entry: bool,
    /// Groups of uses that commute which came so far; any other use ends one.
    group: u32,
    /// The group of the last use, 0 for none.
    in_group: u32,
    /// Whether it was written before that group.
    before_group: bool,
    pub(super) level: u32,
}

impl State {
    /// Notes a use before it counts as a write: `group` is the group of uses that it commutes with, 0 for none.
    fn enter(&mut self, group: u32) {
        if group != self.in_group {
            self.before_group = self.written != Written::No;
        }
        self.in_group = group;
        self.group = if group != 0 { group } else { self.group + 1 };
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Written {
    No,
    /// Only while the flag is on; the pass that it switches.
    Under(FlagId, PassId),
    Yes,
}

/// Order among the names of one memory: all uses of a name, then the blit that reads it, then the names above it.
pub(super) fn level(facts: &Facts, node: NodeId, touch: &Touch) -> u32 {
    let blit = matches!(facts.nodes[node].origin, Origin::Blit { .. }) && !touch.effect.writes();
    facts.depth[touch.resource] * 2 + u32::from(blit)
}

impl Facts {
    pub(super) fn entry_states(&mut self, Source { graph, .. }: Source<'_>) {
        let blank = State {
            written: Written::No,
            writer: None,
            read_since: false,
            entry: false,
            group: 1,
            in_group: 0,
            before_group: false,
            level: 0,
        };
        self.states.clear();
        self.states.resize(self.pieces.count(), blank);
        for (id, resource) in graph.resources().iter_ids() {
            let (written, entry) = match resource.life {
                Life::Transient => continue,
                Life::Persistent | Life::History(_) => (Written::Yes, true),
                Life::Imported(imported) if imported.defined => (Written::Yes, false),
                Life::Imported(_) => continue,
            };
            if self.memory[id] == id {
                for state in &mut self.states[self.pieces.of(id).range()] {
                    (state.written, state.entry) = (written, entry);
                }
            }
        }
    }

    /// Whether the order of nodes is already a serial order: no read looks forward, and names of one memory do not
    /// interleave. Cheap, so that only graphs that need it are sorted.
    pub(super) fn in_order(&mut self, source: Source<'_>) -> bool {
        self.entry_states(source);
        let mut states = std::mem::take(&mut self.states);
        let inverted = self.after.iter().any(|(later, earlier)| later < earlier);
        let fine = !inverted
            && self.nodes.iter_ids().all(|(id, node)| {
                let accesses = self.touches[node.touches.range()].chunk_by(Touch::of_one_use);
                accesses.into_iter().all(|access| self.access_in_order(source, id, access, &mut states))
            });
        self.states = states;
        fine
    }

    fn access_in_order(&self, source: Source<'_>, id: NodeId, access: &[Touch], states: &mut [State]) -> bool {
        let mut found = !self.may_look_forward(source, &access[0]);
        let mut late = false;
        for touch in access {
            let level = level(self, id, touch);
            let writes = touch.effect.writes();
            for state in &mut states[touch.pieces()] {
                late |= level < state.level && (writes || level + 1 != state.level || level % 2 == 1);
                found |= state.written != Written::No;
                state.level = state.level.max(level);
                if writes {
                    state.written = Written::Yes;
                }
            }
        }
        (found || self.any_in_range(source, &access[0], |piece| states[piece].written != Written::No)) && !late
    }

    /// Whether an access is a pure read of a transient: if nothing of it is written yet, it waits for a later writer.
    pub(super) fn may_look_forward(&self, source: Source<'_>, touch: &Touch) -> bool {
        touch.effect == Effect::Read && self.is_plain_transient(source, touch.resource)
    }

    /// Whether a resource holds nothing until a pass writes it under this name.
    pub(super) fn is_plain_transient(&self, Source { graph, .. }: Source<'_>, resource: ResourceId) -> bool {
        self.depth[resource] == 0 && graph.resources()[self.memory[resource]].life == Life::Transient
    }

    /// Whether the memory of a resource is there before the frame or after it.
    fn outlives(&self, Source { graph, .. }: Source<'_>, resource: ResourceId) -> bool {
        let memory = self.memory[resource];
        graph.resources()[memory].life != Life::Transient || self.remembered[memory]
    }

    /// Walks all nodes in serial order.
    pub(super) fn walk(&mut self, source: Source<'_>, problems: &mut Vec<Problem>) {
        self.entry_states(source);
        self.sources.clear();
        self.entry_reads.clear();
        self.mutual.clear();
        self.replaced.refill(None, self.nodes.len());
        for at in 0..self.nodes.len() {
            crate::cancel::poll();
            let id = NodeId::new(at);
            self.cut_at_groups(id);
            let node = self.nodes[id];
            self.decide_loads(source, node.attachments);
            let (sources, entry_reads) = (self.sources.len(), self.entry_reads.len());
            let mut touch_at = node.touches.start as usize;
            while touch_at < node.touches.end as usize {
                let first = self.touches[touch_at];
                let rest = self.touches[touch_at..node.touches.end as usize].iter();
                let end = touch_at + rest.take_while(|touch| first.of_one_use(touch)).count();
                let found = self.finds_contents(source, touch_at..end);
                for at in touch_at..end {
                    self.walk_touch(source, id, at, found, problems);
                }
                touch_at = end;
            }
            let node = &mut self.nodes[id];
            node.sources = Span::new(sources, self.sources.len());
            node.entry_reads = Span::new(entry_reads, self.entry_reads.len());
        }
        self.mutual.sort_unstable();
        self.final_writer.clear();
        self.final_writer.extend(self.states.iter().map(|state| state.writer));
        self.check_roots(source, problems);
    }

    /// Cuts the touches of a node where their pieces are in different groups of uses that commute. Other uses of some
    /// pieces may have ended the group there, and it goes on in the others.
    fn cut_at_groups(&mut self, id: NodeId) {
        let touches = self.nodes[id].touches;
        let states = &self.states;
        let run = |touch: &Touch, first: usize| {
            let rest = states[first..touch.pieces().end].iter();
            rest.take_while(|state| !touch.unordered || state.group == states[first].group).count()
        };
        if self.touches[touches.range()].iter().all(|touch| run(touch, touch.first as usize) == touch.count as usize) {
            return;
        }
        let start = self.touches.len();
        for at in touches.range() {
            let touch = self.touches[at];
            let mut first = touch.first as usize;
            while first < touch.pieces().end {
                let count = run(&touch, first);
                self.touches.push(Touch { first: first as u32, count: count as u32, ..touch });
                first += count;
            }
        }
        self.nodes[id].touches = Span::new(start, self.touches.len());
    }

    /// Attachments that say nothing keep what was written before, if anything was.
    fn decide_loads(&mut self, Source { graph, shapes }: Source<'_>, attachments: Span) {
        for at in attachments.range() {
            let NodeAttachment { declared, resource, usage, .. } = self.attachments[at];
            if !matches!(usage, Usage::ColorAttachment | Usage::DepthStencilAttachment) {
                continue;
            }
            let access = &graph.accesses()[declared as usize];
            if access.load.is_some() && (access.stencil_load.is_some() || usage == Usage::ColorAttachment) {
                continue;
            }
            let mut written = self.depth[resource] > 0;
            let part = part_of(graph, access, &shapes[resource]);
            self.pieces.runs(self.memory[resource], &part, |first, count| {
                let states = &self.states[first as usize..(first + count) as usize];
                written |= states.iter().any(|state| state.written != Written::No);
            });
            let default = if written { Load::Load } else { Load::Discard };
            let attachment = &mut self.attachments[at];
            attachment.load = access.load.unwrap_or(default);
            attachment.stencil_load = super::said_of_stencil(access, &shapes[resource]).unwrap_or(default);
        }
    }

    /// Whether anything in the range of one use is written before it. A use that must find contents which only the
    /// group that it commutes with makes commutes with nothing: it follows those before it.
    fn finds_contents(&mut self, source: Source<'_>, uses: std::ops::Range<usize>) -> bool {
        let found = self.ends_lone_group(source, uses.clone());
        found || self.any_in_range(source, &self.touches[uses.start], |piece| self.states[piece].written != Written::No)
    }

    /// Makes a use ordinary that must find contents which only its own group makes. Tells whether any piece that it
    /// touches was written before it.
    fn ends_lone_group(&mut self, source: Source<'_>, uses: std::ops::Range<usize>) -> bool {
        let written = |state: &State| state.written != Written::No;
        let before_group = |state: &State| if state.in_group != 0 { state.before_group } else { written(state) };
        let touches = &mut self.touches[uses];
        let any = |touches: &[Touch], of: &dyn Fn(&State) -> bool| {
            touches.iter().flat_map(Touch::pieces).any(|piece| of(&self.states[piece]))
        };
        let first = touches[0];
        let found = any(touches, &written);
        let needs = first.unordered && self.depth[first.resource] == 0 && reads_explicitly(source, &first);
        if needs && found && !any(touches, &before_group) {
            for touch in touches {
                touch.unordered = false;
            }
        }
        found
    }

    /// Takes note of a use in the meant order, for [`Facts::ends_lone_group`] of those behind it.
    pub(super) fn place_in_group(&mut self, source: Source<'_>, uses: std::ops::Range<usize>) {
        self.ends_lone_group(source, uses.clone());
        for touch in &self.touches[uses] {
            for state in &mut self.states[touch.pieces()] {
                state.enter(if touch.unordered { state.group } else { 0 });
                if touch.effect.writes() {
                    state.written = Written::Yes;
                }
            }
        }
    }

    /// Whether something holds for any piece in the range of the access that a touch is part of: where several accesses
    /// of a node meet, a touch may have lost pieces to another access.
    pub(super) fn any_in_range(&self, source: Source<'_>, touch: &Touch, holds: impl Fn(usize) -> bool) -> bool {
        let Some(access) = source.graph.accesses().get(touch.declared as usize) else { return false };
        if access.resource != touch.resource {
            return false;
        }
        let part = part_of(source.graph, access, &source.shapes[access.resource]);
        let mut any = false;
        self.pieces.runs(self.memory[access.resource], &part, |first, count| {
            any |= (first..first + count).any(|piece| holds(piece as usize));
        });
        any
    }

    fn walk_touch(
        &mut self,
        source: Source<'_>,
        id: NodeId,
        touch_at: usize,
        found: bool,
        problems: &mut Vec<Problem>,
    ) {
        let node = self.nodes[id];
        let mut touch = self.touches[touch_at];
        let modifies = self.depth[touch.resource] > 0;
        let any_written = modifies || found;
        let has_fallback = node.conditional.is_some()
            && pass_of(node.origin).is_some_and(|pass| self.falls_back_elsewhere(pass, touch.resource));
        match touch.effect {
            Effect::KeepIfWritten if any_written => touch.effect = Effect::Keep,
            Effect::KeepIfWritten => {
                touch.effect = Effect::Replace;
                touch.access -= Accesses::COLOR_ATTACHMENT_READ;
            }
            _ => {}
        }
        // While the pass is off, what outlives the frame keeps what it held, whatever readers get meanwhile.
        let replaces = node.conditional.is_none() || has_fallback && !self.outlives(source, touch.resource);
        if touch.effect == Effect::Replace && !replaces && any_written {
            touch.effect = Effect::Keep;
        }
        if touch.unordered {
            touch.group = self.states[touch.first as usize].group;
        }
        self.touches[touch_at] = touch;
        let must_be_written = match touch.effect {
            Effect::Read | Effect::Present => true,
            Effect::Keep => reads_explicitly(source, &touch),
            _ => false,
        };
        let sources_start = self.sources.len();
        for piece in touch.pieces() {
            let state = &mut self.states[piece];
            if must_be_written && !modifies {
                match state.written {
                    Written::Yes => {}
                    Written::Under(flag, _) if node.conditional == Some(flag) => {}
                    Written::Under(flag, pass) => {
                        let reader = pass_of(node.origin);
                        problems.push(Problem::HoldsNothing { flag, pass, resource: touch.resource, reader });
                    }
                    // A read of mips, layers or bytes that mean something may reach over some that do not.
                    Written::No if found => {}
                    Written::No => {
                        let p = self.pieces.get(piece as u32);
                        let part = Part { mips: p.mips, layers: p.layers, aspects: p.aspects, bytes: p.bytes };
                        let access = Some(touch.declared);
                        problems.push(Problem::NeverWritten { access, resource: touch.resource, part });
                    }
                }
            }
            if touch.effect == Effect::Replace {
                if let Some(writer) = state.writer
                    && !state.read_since
                {
                    self.replaced[writer].get_or_insert(touch.resource);
                }
            } else {
                match state.writer {
                    Some(writer) if writer != id => {
                        if touch.group != 0 && state.in_group == touch.group {
                            self.mutual.push((writer, id));
                        }
                        if self.sources[sources_start..].last() != Some(&writer) {
                            self.sources.push(writer);
                        }
                    }
                    None if state.entry => self.entry_reads.push(piece as u32),
                    _ => {}
                }
            }
            state.enter(touch.group);
            if touch.effect.writes() {
                state.writer = Some(id);
                state.read_since = false;
                state.written = match (state.written, node.conditional, pass_of(node.origin)) {
                    (Written::No, Some(flag), Some(pass)) if !has_fallback && !modifies => Written::Under(flag, pass),
                    (Written::Under(known, pass), Some(_), _) if !has_fallback => Written::Under(known, pass),
                    _ => Written::Yes,
                };
            } else {
                state.read_since = true;
            }
        }
    }

    /// Roots must have been written, by somebody who always runs, and still be theirs at the end.
    fn check_roots(&mut self, Source { graph, .. }: Source<'_>, problems: &mut Vec<Problem>) {
        for (by, resource) in graph.resources().iter_ids() {
            if let Some(below) = resource.modifies
                && self.memory[by] == self.memory[below]
                && graph.is_root(below)
            {
                problems.push(Problem::RootModified { root: below, by });
            }
        }
        for &root in graph.roots() {
            let span = self.pieces.of(self.memory[root]);
            let states = &self.states[span.range()];
            if states.iter().all(|state| state.written == Written::No) && self.depth[root] == 0 {
                let p = self.pieces.get(span.start);
                let part = Part { mips: p.mips, layers: p.layers, aspects: p.aspects, bytes: p.bytes };
                problems.push(Problem::NeverWritten { access: None, resource: root, part });
            }
            for state in states {
                if let Written::Under(flag, pass) = state.written {
                    problems.push(Problem::HoldsNothing { flag, pass, resource: root, reader: None });
                    break;
                }
            }
        }
    }
}

/// The declared pass that a node is part of.
fn pass_of(origin: Origin) -> Option<PassId> {
    match origin {
        Origin::Declared(pass) | Origin::Mip { pass, .. } => Some(pass),
        Origin::Blit { .. } => None,
    }
}

/// Whether a use that keeps old contents says that it reads them, rather than leaving alone what it does not cover.
fn reads_explicitly(Source { graph, .. }: Source<'_>, touch: &Touch) -> bool {
    let Some(access) = graph.accesses().get(touch.declared as usize) else { return true };
    match access.usage {
        Usage::StorageReadWrite | Usage::AccelerationUpdate => true,
        Usage::ColorAttachment | Usage::DepthStencilAttachment => access.load == Some(Load::Load),
        Usage::StorageWrite | Usage::TransferDst | Usage::HostWrite => false,
        _ => true,
    }
}
