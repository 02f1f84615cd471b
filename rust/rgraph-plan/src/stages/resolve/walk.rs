//! The walk over all touches in serial order: what each attachment loads, who contributes to whom, and what is
//! read although nobody wrote it.

use super::meaning::Effect;
use super::piece::Part;
use super::{Facts, NodeAttachment, NodeId, Origin, Problem, Source, Touch, is_attachment, part_of};
use crate::access::{Accesses, Load, Usage};
use crate::graph::{FlagId, PassId};
use crate::id::{Id, Span};
use crate::resource::Life;

/// What the walk knows of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    written: Written,
    writer: Option<NodeId>,
    read_since: bool,
    /// Whether it has contents from before the frame that some writer of the frame makes.
    entry: bool,
    pub(super) level: u32,
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
    fn entry_states(&mut self, Source { graph, .. }: Source<'_>) {
        let blank = State { written: Written::No, writer: None, read_since: false, entry: false, level: 0 };
        self.states.clear();
        self.states.resize(self.pieces.len(), blank);
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
                self.touches[node.touches.range()].iter().all(|touch| {
                    let modifies = self.depth[touch.resource] > 0;
                    let level = level(self, id, touch);
                    let writes = touch.effect.writes();
                    states[touch.pieces()].iter_mut().all(|state| {
                        let late = level < state.level && (writes || level + 1 != state.level || level % 2 == 1);
                        let forward = touch.effect == Effect::Read && state.written == Written::No && !modifies;
                        state.level = state.level.max(level);
                        if writes {
                            state.written = Written::Yes;
                        }
                        !late && !forward
                    })
                })
            });
        self.states = states;
        fine
    }

    /// Walks all nodes in serial order.
    pub(super) fn walk(&mut self, source: Source<'_>, problems: &mut Vec<Problem>) {
        self.entry_states(source);
        self.sources.clear();
        self.entry_reads.clear();
        self.replaced.refill(None, self.nodes.len());
        for at in 0..self.nodes.len() {
            let id = NodeId::new(at);
            let node = self.nodes[id];
            self.decide_loads(source, node.attachments);
            let (sources, entry_reads) = (self.sources.len(), self.entry_reads.len());
            for touch_at in node.touches.range() {
                self.walk_touch(source, id, touch_at, problems);
            }
            let node = &mut self.nodes[id];
            node.sources = Span::new(sources, self.sources.len());
            node.entry_reads = Span::new(entry_reads, self.entry_reads.len());
        }
        self.final_writer.clear();
        self.final_writer.extend(self.states.iter().map(|state| state.writer));
        self.check_roots(source, problems);
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
            attachment.stencil_load = access.stencil_load.or(access.load).unwrap_or(default);
        }
    }

    fn walk_touch(&mut self, source: Source<'_>, id: NodeId, touch_at: usize, problems: &mut Vec<Problem>) {
        let node = self.nodes[id];
        let mut touch = self.touches[touch_at];
        let modifies = self.depth[touch.resource] > 0;
        let states = &mut self.states[touch.pieces()];
        let any_written = modifies || states.iter().any(|state| state.written != Written::No);
        let has_fallback = node.conditional.is_some() && self.fallback_of[touch.resource];
        match touch.effect {
            Effect::KeepIfWritten if any_written => touch.effect = Effect::Keep,
            Effect::KeepIfWritten => {
                touch.effect = Effect::Replace;
                touch.access -= Accesses::COLOR_ATTACHMENT_READ;
            }
            _ => {}
        }
        if touch.effect == Effect::Replace && node.conditional.is_some() && !has_fallback && any_written {
            touch.effect = Effect::Keep;
        }
        self.touches[touch_at] = touch;
        let must_be_written = match touch.effect {
            Effect::Read | Effect::Present => true,
            Effect::Keep => reads_explicitly(source, &touch),
            _ => false,
        };
        let access = source.graph.accesses().get(touch.declared as usize);
        let loads = touch.effect == Effect::Keep && access.is_some_and(|access| is_attachment(access.usage));
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
                    // An attachment loads whatever is there as long as some of it means something.
                    Written::No if loads && any_written => {}
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
                        if self.sources[sources_start..].last() != Some(&writer) {
                            self.sources.push(writer);
                        }
                    }
                    None if state.entry => self.entry_reads.push(piece as u32),
                    _ => {}
                }
            }
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
